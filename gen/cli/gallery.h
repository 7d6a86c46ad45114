/* gallery.h: the page of all formats, and their pictures. */
#ifndef QKGEN_GALLERY_H
#define QKGEN_GALLERY_H

#include "spec/library.h"

/* Writes formats.md, a page of all formats of the library, and formats/NAME.svg, its pictures, below
 * the folder `out`; or compares them. False after an error, whose text it appends to `*log`. */
bool qg_gallery(qg_arena *arena, const qg_library *library, const char *out, bool check, uint32_t *files,
                uint32_t *changed, qg_text *log);

#endif
