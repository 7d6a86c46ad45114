/* gallery.h: the page of all formats, and their pictures. */
#ifndef QKGEN_GALLERY_H
#define QKGEN_GALLERY_H

#include "spec/library.h"

typedef struct qg_gallery_report {
    uint32_t files, changed, hashed;
} qg_gallery_report;

/* Writes formats.md, a page of all formats of the library, and formats/NAME.svg, its pictures, below
 * the folder `out`; or compares them. Where `shown` is not NULL, it says of each layout whether its picture is
 * written, formats/pictures.txt has a hash of each that would be, and the page has links to the specifications in
 * ../formats in place of their text. False after an error, whose text it appends
 * to `*log`. */
bool qg_gallery(qg_arena *arena, const qg_library *library, const bool *shown, const char *out, bool check,
                qg_gallery_report *report, qg_text *log);

#endif
