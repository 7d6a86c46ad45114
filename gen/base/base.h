/* base.h: what every room uses: arena, text, files, names that are alike, diagnostics.
 *
 * The rooms of the generator. Each includes itself and those before it in this list, and never one
 * after it (tests/rooms.sh):
 *
 *   base   arena, text, files, diagnostics
 *   spec   a format: lexer to qg_layout, its proofs, its pictures
 *   ir     expressions and statements, and what rewrites them
 *   build  plans, lowering, families, kernels, their cost and bounds
 *   text   templates, and the printers of GLSL, MSL and C
 *   emit   words of SPIR-V, and the files of a run
 *   files  model files; of the others it knows base and spec alone
 *   judge  what a kernel of somebody else does with each bit, and the reports; it knows nothing of files
 *   cli    the commands */
#ifndef QKGEN_BASE_H
#define QKGEN_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define QG_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define QG_PRINTF(fmt, args)
#endif

#define QG_VERSION "0.1.0"

/* ---- base.c: arena, text, files, names ------------------------------------------------------------------------ */

typedef struct qg_arena qg_arena;

qg_arena *qg_arena_new(void);
void qg_arena_free(qg_arena *arena);
/* Zeroed memory that lives as long as the arena. Ends the process with a message when memory is exhausted. */
void *qg_alloc(qg_arena *arena, size_t bytes);
char *qg_strndup(qg_arena *arena, const char *text, size_t length);
char *qg_format(qg_arena *arena, const char *format, ...) QG_PRINTF(2, 3);

#define QG_NEW(arena, type) ((type *)qg_alloc((arena), sizeof(type)))
#define QG_NEW_ARRAY(arena, type, count) ((type *)qg_alloc((arena), sizeof(type) * (size_t)(count)))

/* A growing text; always NUL-terminated once something was written. */
typedef struct qg_text {
    qg_arena *arena;
    char *data;
    size_t length;
    size_t capacity;
} qg_text;

qg_text qg_text_new(qg_arena *arena);
void qg_text_add(qg_text *text, const char *bytes, size_t length);
void qg_text_puts(qg_text *text, const char *string);
void qg_text_printf(qg_text *text, const char *format, ...) QG_PRINTF(2, 3);

/* Appends `item` to an arena-backed array `(items, count, capacity)`. */
#define QG_PUSH(arena, items, count, capacity, item)                                                                   \
    do {                                                                                                               \
        (items) = qg_grow((arena), (items), (count), &(capacity), sizeof *(items));                                    \
        (items)[(count)++] = (item);                                                                                   \
    } while (0)
void *qg_grow(qg_arena *arena, void *items, uint32_t count, uint32_t *capacity, size_t item_size);

/* Reads a whole file of at most `limit` bytes. On failure returns NULL and sets `*why` to a sentence. */
char *qg_read_file(qg_arena *arena, const char *path, size_t limit, size_t *length, const char **why);
/* Writes through a temporary file and a rename, and only when the content differs, so that an interrupted or failed
 * write leaves the old file. Creates missing folders. Returns NULL or a sentence saying why not. */
const char *qg_write_file(qg_arena *arena, const char *path, const void *data, size_t length);

/* Makes `known` the `*nearest` when it is more like `name` than `*least`, half edits, says, and lowers that. */
void qg_name_nearest(const char *name, const char *known, const char **nearest, uint32_t *least);
/* The `least` to begin with where names are short: what differs in half of its letters is no misspelling. */
uint32_t qg_name_tolerance(const char *name);

/* A list of words: the values of an option that may be given several times, say. */
typedef struct qg_texts {
    uint32_t count, capacity;
    const char **items;
} qg_texts;

/* Appends the words that stand between commas. */
void qg_split(qg_arena *arena, const char *list, qg_texts *words);

/* ---- diag.c: diagnostics -------------------------------------------------------------------------------------- */

/* A specification text. `text` is NUL-terminated after `length` bytes, and may hold NUL bytes before. */
typedef struct qg_source {
    const char *path;
    const char *text;
    size_t length;
} qg_source;

/* A place in a source: line and column count from 1, columns in bytes; `length` bytes are underlined. */
typedef struct qg_loc {
    const qg_source *source;
    uint32_t line;
    uint32_t column;
    uint32_t length;
} qg_loc;

/* Collects the diagnostics of one run. `text` is what is shown to the user. */
typedef struct qg_diag {
    qg_arena *arena;
    qg_text text;
    uint32_t errors;
    size_t shown; /* length of the text before the line that counts the errors not shown */
    bool color;
} qg_diag;

qg_diag qg_diag_new(qg_arena *arena, bool color);
/* file:line:column: error: MESSAGE, the source line, a caret line. Messages say place, cause and remedy. A run keeps
 * the first 20 errors in full and counts the rest. */
void qg_error(qg_diag *diag, qg_loc loc, const char *format, ...) QG_PRINTF(3, 4);
/* Belongs to the error before it: points to the other place of a conflict. */
void qg_note(qg_diag *diag, qg_loc loc, const char *format, ...) QG_PRINTF(3, 4);

#endif
