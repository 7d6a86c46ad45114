/* library.h: the specifications of a run and their proven layouts. */
#ifndef QKGEN_LIBRARY_H
#define QKGEN_LIBRARY_H

#include "spec/spec.h"

typedef struct qg_library {
    qg_arena *arena;
    qg_diag diag;
    qg_layouts layouts; /* of all specifications, in the order of their files, each in the order of its parameters */
    const char **paths; /* of the specifications, for each layout */
    uint32_t capacity, paths_count, paths_capacity;
} qg_library;

qg_library *qg_library_new(qg_arena *arena, bool color);
/* Parses and proves one specification file and adds its formats. Errors go to the library's diagnostics; a file that
 * cannot be read is such an error. Returns true when there was none. */
bool qg_library_add_file(qg_library *library, const char *path);
/* The same for every *.quant in a folder, in alphabetical order. */
bool qg_library_add_folder(qg_library *library, const char *folder);
/* Of a folder, files alone whose name the format's name begins with, as that of a family does: checking all of them takes
 * longer than most of what is done with one. False where that is not enough: there were errors, or no such format. */
bool qg_library_add_named(qg_library *library, const char *folder, const char *name);
/* The format of that name, or NULL. */
const qg_layout *qg_library_find(const qg_library *library, const char *name);
/* The known name that is most like a wrong one, or NULL. */
const char *qg_library_nearest(const qg_library *library, const char *name);

/* ---- shown.c ---- */

/* Reads a list of formats: a name on each line, `#` and what follows being a comment. Returns for
 * each layout of the library whether it is named. A name that is not known or stands there twice,
 * or a list without any, is an error, which goes to `diag`; NULL then. */
const bool *qg_shown_read(qg_arena *arena, qg_diag *diag, const qg_library *library, const char *path);

#endif
