/* command.h: what the commands of the `qkgen` program share. */
#ifndef QKGEN_COMMAND_H
#define QKGEN_COMMAND_H

#include "library.h"
#include "options.h"

/* Options that every command takes, and what follows from them. */
typedef struct qg_session {
    qg_arena *arena;
    const char *data;    /* folder with formats/ and templates/ */
    const char *formats; /* folder of specifications, when not data/formats */
    qg_texts specs;      /* further specification files */
    bool color;
    qg_library *library;
} qg_session;

/* Loads all specifications of the session and prints their errors; false when there were any. */
bool qg_session_load(qg_session *session);
/* The format of that name; prints an error that suggests a name when there is none. */
const qg_layout *qg_session_format(const qg_session *session, const char *name);
/* The argument of --decode-math, which may be NULL; prints an error when it is no type that values are computed in. */
bool qg_math_named(const char *name, qg_scalar *math);
/* The folder of formats/ and templates/ when none is named. */
const char *qg_session_data(const qg_session *session);
const char *qg_session_templates(const qg_session *session);

/* Prints `qkgen: error: ...` and returns exit status 1. */
int qg_complain(const char *format, ...) QG_PRINTF(1, 2);

/* `qkgen run FAMILY ...`, `qkgen verify FILE`, `qkgen bench FAMILY ...`, `qkgen tune FAMILY ...` and
 * `qkgen devices`; return the exit status. */
int qg_command_run(qg_session *session, int argc, char **argv);
int qg_command_verify(qg_session *session, int argc, char **argv);
int qg_command_bench(qg_session *session, int argc, char **argv);
int qg_command_tune(qg_session *session, int argc, char **argv);
int qg_command_soak(qg_session *session, int argc, char **argv);
int qg_command_devices(qg_session *session, int argc, char **argv);

/* The class of sums of that name, NULL being the first; false after a message where there is none, or the format, unless that
 * is NULL, has none. */
bool qg_session_class(qg_session *session, const qg_family *family, const qg_layout *layout, const char *name,
                      const qg_sum_class **sum);

#endif
