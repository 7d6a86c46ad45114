/* command.h: what the commands of the `qkgen` program share. */
#ifndef QKGEN_COMMAND_H
#define QKGEN_COMMAND_H

#include "cli/options.h"
#include "spec/library.h"
#include "text/plain.h"

/* Options that every command takes, and what follows from them. */
typedef struct qg_session {
    qg_arena *arena;
    const char *data;    /* folder with formats/ and templates/ */
    const char *formats; /* folder of specifications, when not data/formats */
    qg_texts specs;      /* further specification files */
    bool color;
    qg_library *library;
    const qg_about *about; /* the command that runs */
    bool helped;           /* its help was asked for, and has been printed */
} qg_session;

/* Of an array, for tables of options. */
#define QG_LENGTH(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

/* Rows of a table of options. */
#define QG_DATA_OPTION(session)                                                                                        \
    {                                                                                                                  \
        "--data", QG_TEXT, &(session)->data, "DIR",                                                                    \
            "the folder of formats/ and templates/ (default: what was installed)"                                      \
    }
#define QG_SESSION_OPTIONS(session)                                                                                    \
    QG_DATA_OPTION(session),                                                                                           \
        {"--formats", QG_TEXT, &(session)->formats, "DIR",                                                             \
         "the specifications of that folder, instead of those of formats/"},                                           \
    {                                                                                                                  \
        "--spec", QG_TEXTS, &(session)->specs, "FILE", "one more specification"                                        \
    }

/* Reads the arguments of the command that runs, and everything that is no option into `rest`; false
 * after an error, and after its help. The command then returns 1, of which help makes 0. */
bool qg_options_read(qg_session *session, int argc, char **argv, const qg_option *options, uint32_t count,
                     qg_texts *rest);

/* Loads all specifications of the session and prints their errors; false when there were any. */
bool qg_session_load(qg_session *session);
/* The same for a command that needs the format of that name alone, or of two names: others are loaded where it is not
 * found without them. */
bool qg_session_load_named(qg_session *session, const char *name, const char *other);
/* The format of that name; prints an error that suggests a name when there is none. */
const qg_layout *qg_session_format(const qg_session *session, const char *name);
/* The argument of --decode-math, which may be NULL; prints an error when it is no type that values are computed in. */
bool qg_math_named(const char *name, qg_scalar *math);
/* The folder of formats/ and templates/ when none is named. */
const char *qg_session_data(const qg_session *session);
const char *qg_session_templates(const qg_session *session);

/* Prints `qkgen: error: ...` and returns exit status 1. */
int qg_complain(const char *format, ...) QG_PRINTF(1, 2);
/* What messages begin with, in the place of `otherwise`: the line of a list that is run, "FILE:LINE: "; NULL: none. */
const char *qg_case_place(const char *otherwise);
void qg_case_place_set(const char *place);
/* Prints the errors and warnings that were collected, which may be none. */
void qg_print_errors(const qg_diag *diag);
bool qg_is_folder(const char *path);

/* The commands, one for each; they return the exit status. */
int qg_command_check(qg_session *session, int argc, char **argv);
int qg_command_import(qg_session *session, int argc, char **argv);
int qg_command_show(qg_session *session, int argc, char **argv);
int qg_command_list(qg_session *session, int argc, char **argv);
int qg_command_emit(qg_session *session, int argc, char **argv);
int qg_command_gallery(qg_session *session, int argc, char **argv);
int qg_command_dump(qg_session *session, int argc, char **argv);
int qg_command_run(qg_session *session, int argc, char **argv);
int qg_command_convert(qg_session *session, int argc, char **argv);
int qg_command_verify(qg_session *session, int argc, char **argv);
int qg_command_bench(qg_session *session, int argc, char **argv);
int qg_command_tune(qg_session *session, int argc, char **argv);
int qg_command_soak(qg_session *session, int argc, char **argv);
int qg_command_judge(qg_session *session, int argc, char **argv);
int qg_command_audit(qg_session *session, int argc, char **argv);
int qg_command_devices(qg_session *session, int argc, char **argv);

/* The names of all classes of sums, for messages. */
const char *qg_class_list(qg_arena *arena);
/* The class of sums of that name, NULL being the first; false after a message where there is none,
 * or the format, unless that is NULL, has none. */
bool qg_session_class(qg_session *session, const qg_family *family, const qg_layout *layout, const char *name,
                      const qg_sum_class **sum);

#endif
