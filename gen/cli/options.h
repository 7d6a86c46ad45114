/* options.h: the options of a command, as a table that is read and from which its help is printed. */
#ifndef QKGEN_OPTIONS_H
#define QKGEN_OPTIONS_H

#include "base/base.h"

typedef enum qg_option_kind { QG_FLAG, QG_TEXT, QG_TEXTS, QG_COUNT } qg_option_kind;

/* `target` points to a bool, a const char *, a qg_texts or a uint64_t, as `kind` says. */
typedef struct qg_option {
    const char *name; /* with its dashes */
    qg_option_kind kind;
    void *target;
    const char *value; /* what help calls its value; NULL for a flag */
    const char *help;  /* what it does, and its default */
} qg_option;

/* What `qkgen COMMAND --help` says beside the options. */
typedef struct qg_about {
    const char *name;
    const char *usage;    /* what follows the name, a line for each way to call it */
    const char *summary;  /* what it does, as the end of a sentence */
    const char *more;     /* what else one must know, or NULL */
    const char *examples; /* commands for an empty folder, a line each */
} qg_about;

/* Reads arguments (`--name value` or `--name=value`) into the options' targets, and everything that
 * is no option into `rest`. On a wrong argument prints an error to stderr and returns false. At
 * `--help` or `-h` prints the help to stdout, sets `*helped`, and returns false. */
bool qg_options_parse(qg_arena *arena, const qg_about *about, int argc, char **argv, const qg_option *options,
                      uint32_t count, qg_texts *rest, bool *helped);

#endif
