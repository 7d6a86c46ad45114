/* library.h: what one run of the generator works with: specifications, their proven layouts, templates. */
#ifndef QKGEN_LIBRARY_H
#define QKGEN_LIBRARY_H

#include "plain.h"

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
/* The format of that name, or NULL. */
const qg_layout *qg_library_find(const qg_library *library, const char *name);
/* The known name that is most like a wrong one, or NULL. */
const char *qg_library_nearest(const qg_library *library, const char *name);

/* ---- emit.c ---- */

typedef struct qg_emit_options {
    const char *out;
    const char *templates; /* folder */
    bool check;            /* compare with what is there and write nothing */
    bool embed;            /* drop-in pairs in `out` itself instead of the reviewed tree */
    bool vulkan, metal;
    bool every_format; /* `out` is the whole tree: files that belong to nothing are orphans */
    uint32_t n_families;
    const qg_family *const *families;
    uint32_t n_layouts;
    const qg_layout *const *layouts;
    uint32_t classes;  /* of sums, as bits */
    uint32_t n_plains; /* families without a format; their sets are emitted with these */
    const qg_plain *const *plains;
    const char *shown_list; /* the file of `shown`, for messages */
    const bool
        *shown; /* of each layout, whether its text is written; NULL: of all. Others are hashes in the manifest */
    const char *runtime_headers; /* folder of qkgen/kernel.h and qkgen/dispatch.h, for `embed` */
    const char *depfile;
    uint32_t n_inputs; /* files named in the depfile beside the templates */
    const char *const *inputs;
} qg_emit_options;

typedef struct qg_emit_report {
    uint32_t files, changed, modules;
    uint32_t hashed; /* files of which only the hash is written or compared */
    size_t module_bytes;
    uint32_t left_out; /* kernels that the GLSL compiler is too old for */
} qg_emit_report;

/* Generates everything in memory, compiles and validates every GLSL kernel, then writes (or compares). Returns false after
 * an error, whose text it appends to `*log`; nothing has been written then. */
bool qg_emit(qg_arena *arena, const qg_emit_options *options, qg_emit_report *report, qg_text *log);
/* Writes a generated file if it would change, and counts it then; with `check` only compares. False after an error, whose
 * text names `command`, the remedy. */
bool qg_settle(qg_arena *arena, const char *path, const char *text, const char *command, bool check, uint32_t *changed,
               qg_text *log);

/* ---- shown.c ---- */

/* Reads a list of formats: a name on each line, `#` and what follows being a comment. Returns for each layout of the library
 * whether it is named. A name that is not known or stands there twice, or a list without any, is an error, which goes to
 * `diag`; NULL then. */
const bool *qg_shown_read(qg_arena *arena, qg_diag *diag, const qg_library *library, const char *path);

/* ---- gallery.c ---- */

/* Writes formats.md, a page of all formats of the library, and formats/NAME.svg, its pictures, below the folder `out`; or
 * compares them. False after an error, whose text it appends to `*log`. */
bool qg_gallery(qg_arena *arena, const qg_library *library, const char *out, bool check, uint32_t *files,
                uint32_t *changed, qg_text *log);

#endif
