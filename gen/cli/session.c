/* What every command shares: where the data lies, the formats that are loaded, and messages. */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *current_place;

const char *qg_case_place(const char *otherwise) { return current_place ? current_place : otherwise; }

void qg_case_place_set(const char *place) { current_place = place; }

int qg_complain(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%serror: ", qg_case_place("qkgen: "));
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return 1;
}

bool qg_is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* --data, then the environment, then the folder installed beside the program, then the sources it was built from. */
static const char *find_data(qg_arena *arena) {
    const char *named = getenv("QKGEN_DATA_DIR");
    if (named && *named) return named;
    char program[4096];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
        program[length] = '\0';
        char *slash = strrchr(program, '/');
        if (slash) *slash = '\0';
        const char *installed = qg_format(arena, "%s/%s", program, QKGEN_DATA_RELATIVE);
        char *real = qg_is_folder(qg_format(arena, "%s/formats", installed)) ? realpath(installed, NULL) : NULL;
        if (real) {
            installed = qg_strndup(arena, real, strlen(real));
            free(real);
            return installed;
        }
    }
    return QKGEN_DATA_DIR;
}

const char *qg_session_templates(const qg_session *session) {
    return qg_format(session->arena, "%s/templates", session->data);
}

const char *qg_session_data(const qg_session *session) { return find_data(session->arena); }

static const char *formats_folder(qg_session *session) {
    if (!session->data) session->data = qg_session_data(session);
    return session->formats ? session->formats : qg_format(session->arena, "%s/formats", session->data);
}

bool qg_session_load(qg_session *session) {
    const char *folder = formats_folder(session);
    session->library = qg_library_new(session->arena, session->color);
    bool good = qg_library_add_folder(session->library, folder);
    for (uint32_t i = 0; i < session->specs.count; ++i)
        good &= qg_library_add_file(session->library, session->specs.items[i]);
    qg_print_errors(&session->library->diag);
    return good;
}

/* A specification of the session's may have a name that exists already: then all are loaded. */
bool qg_session_load_named(qg_session *session, const char *name, const char *other) {
    const char *folder = formats_folder(session), *names[] = {name, other};
    session->library = qg_library_new(session->arena, session->color);
    bool found = session->specs.count == 0;
    for (uint32_t i = 0; i < QG_LENGTH(names) && found; ++i)
        found = !names[i] || qg_library_find(session->library, names[i]) ||
                qg_library_add_named(session->library, folder, names[i]);
    return (found && session->library->diag.errors == 0) || qg_session_load(session);
}

const qg_layout *qg_session_format(const qg_session *session, const char *name) {
    const qg_layout *layout = qg_library_find(session->library, name);
    if (layout) return layout;
    const char *nearest = qg_library_nearest(session->library, name);
    if (nearest)
        qg_complain("no format is named %s; did you mean %s?", name, nearest);
    else
        qg_complain("no format is named %s; `qkgen list` shows those that are known", name);
    return NULL;
}

bool qg_options_read(qg_session *session, int argc, char **argv, const qg_option *options, uint32_t count,
                     qg_texts *rest) {
    return qg_options_parse(session->arena, session->about, argc, argv, options, count, rest, &session->helped);
}

bool qg_math_named(const char *name, qg_scalar *math) {
    static const qg_scalar types[] = {QG_F32, QG_BF16, QG_F16};
    *math = QG_F32;
    for (uint32_t i = 0; name && i < QG_LENGTH(types); ++i) {
        *math = types[i];
        if (strcmp(name, qg_scalars[types[i]].name) == 0) return true;
    }
    return !name || qg_complain("--decode-math must be f32, bf16 or f16, not '%s'", name) == 0;
}

void qg_print_errors(const qg_diag *diag) {
    if (diag->text.data) fprintf(stderr, "%s%s", qg_case_place(""), diag->text.data);
}

const char *qg_class_list(qg_arena *arena) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < qg_n_sum_classes; ++i)
        qg_text_printf(&text, "%s%s", i == 0 ? "" : i + 1 == qg_n_sum_classes ? " or " : ", ", qg_sum_classes[i].name);
    return text.data;
}

bool qg_session_class(qg_session *session, const qg_family *family, const qg_layout *layout, const char *name,
                      const qg_sum_class **sum) {
    const qg_sum_class *usual = &qg_sum_classes[family->in_tiles ? QG_CLASS_MMA : QG_CLASS_EXACT];
    *sum = name ? qg_sum_class_named(name) : usual;
    if (family->encodes)
        return qg_complain("%s is not tuned or dumped yet; `qkgen run %s` runs it, and --dump=layout shows "
                           "the equations",
                           family->name, family->name) == 0;
    if (!*sum) return qg_complain("--class must be %s, not '%s'", qg_class_list(session->arena), name) == 0;
    if (family->in_tiles && *sum != usual)
        return qg_complain("%s has one class, mma: operands of matrix units; not %s", family->name, (*sum)->name) == 0;
    if (name && !family->sums)
        return qg_complain("--class is for families that sum over rows, and %s does not", family->name) == 0;
    if (!layout || !family->sums || (*sum == &qg_sum_classes[QG_CLASS_EXACT] && !family->in_tiles) ||
        qg_has_class(session->arena, layout, family, *sum))
        return true;
    if (family->in_tiles)
        return qg_complain("there is no %s for %s: its blocks are ragged, or its values no operands of matrix units; "
                           "gemv takes any number of vectors",
                           family->name, layout->name) == 0;
    if (qg_walks_columns(layout))
        return qg_complain(
                   "there is no class %s for %s: neighbours in its memory are of different rows, which are multiplied "
                   "as floats; take --class exact",
                   (*sum)->name, layout->name) == 0;
    return qg_complain("there is no class %s for %s: its values are no integers of 8 bits times what a run of elements "
                       "shares%s; take --class exact",
                       (*sum)->name, layout->name,
                       layout->math == QG_F32 ? "" : ", or are rounded in the midst by --decode-math") == 0;
}
