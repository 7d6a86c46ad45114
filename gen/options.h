/* options.h: the options of a command, as a table. */
#ifndef QKGEN_OPTIONS_H
#define QKGEN_OPTIONS_H

#include "gen.h"

typedef enum qg_option_kind { QG_FLAG, QG_TEXT, QG_TEXTS, QG_COUNT } qg_option_kind;

/* The values of an option that may be given several times. */
typedef struct qg_texts {
    uint32_t count, capacity;
    const char **items;
} qg_texts;

/* `target` points to a bool, a const char *, a qg_texts or a uint64_t, as `kind` says. */
typedef struct qg_option {
    const char *name; /* with its dashes */
    qg_option_kind kind;
    void *target;
} qg_option;

/* Reads arguments (`--name value` or `--name=value`) into the options' targets, and everything that is no option into
 * `rest`. On a wrong argument prints an error to stderr and returns false. */
bool qg_options_read(qg_arena *arena, int argc, char **argv, const qg_option *options, uint32_t count, qg_texts *rest);

/* Appends the words that stand between commas. */
void qg_split(qg_arena *arena, const char *list, qg_texts *words);

#endif
