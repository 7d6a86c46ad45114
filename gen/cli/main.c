/* The `qkgen` program: its commands, each a list of stages. */
#include "cli/command.h"
#include "cli/cost_list.h"
#include "cli/gallery.h"
#include "emit/emit.h"
#include "emit/spirv.h"
#include "spec/import.h"
#include "spec/show.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int qg_complain(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("qkgen: error: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return 1;
}

/* ---- session ---- */

static bool is_folder(const char *path) {
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
        char *real = is_folder(qg_format(arena, "%s/formats", installed)) ? realpath(installed, NULL) : NULL;
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

bool qg_session_load(qg_session *session) {
    if (!session->data) session->data = qg_session_data(session);
    const char *folder = session->formats ? session->formats : qg_format(session->arena, "%s/formats", session->data);
    session->library = qg_library_new(session->arena, session->color);
    bool good = qg_library_add_folder(session->library, folder);
    for (uint32_t i = 0; i < session->specs.count; ++i)
        good &= qg_library_add_file(session->library, session->specs.items[i]);
    if (session->library->diag.text.data) fputs(session->library->diag.text.data, stderr);
    return good;
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

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

bool qg_options_read(qg_session *session, int argc, char **argv, const qg_option *options, uint32_t count,
                     qg_texts *rest) {
    return qg_options_parse(session->arena, session->about, argc, argv, options, count, rest, &session->helped);
}

bool qg_math_named(const char *name, qg_scalar *math) {
    static const qg_scalar types[] = {QG_F32, QG_BF16, QG_F16};
    *math = QG_F32;
    for (uint32_t i = 0; name && i < COUNT(types); ++i) {
        *math = types[i];
        if (strcmp(name, qg_scalars[types[i]].name) == 0) return true;
    }
    return !name || qg_complain("--decode-math must be f32, bf16 or f16, not '%s'", name) == 0;
}

/* ---- check, import ---- */

/* Cuts off what follows `--`: arguments of the C compiler. */
static qg_texts cut_arguments(qg_arena *arena, int *argc, char **argv) {
    qg_texts after = {0};
    int i = 0;
    while (i < *argc && strcmp(argv[i], "--") != 0) ++i;
    for (int j = i + 1; j < *argc; ++j) {
        const char *argument = argv[j];
        QG_PUSH(arena, after.items, after.count, after.capacity, argument);
    }
    *argc = i;
    return after;
}

static void print_errors(const qg_diag *diag) {
    if (diag->text.data) fputs(diag->text.data, stderr);
}

/* What `check --struct` compares with. */
typedef struct struct_options {
    const char *place; /* HEADER:STRUCT */
    const char *format;
    qg_texts renames, arguments;
} struct_options;

/* The colon of HEADER:STRUCT; those of a C++ name are double. */
static const char *find_colon(const char *text) {
    for (const char *at = text + strlen(text); at > text; --at) {
        if (at[-1] != ':') continue;
        if (at - 1 > text && at[-2] == ':')
            --at;
        else
            return at - 1;
    }
    return NULL;
}

static const qg_layout *choose_layout(const qg_session *session, const struct_options *options) {
    const qg_layouts layouts = session->library->layouts;
    if (options->format) return qg_session_format(session, options->format);
    if (layouts.count == 1) return layouts.items[0];
    qg_complain("a struct is one format, and %u are given: choose with --format F", layouts.count);
    return NULL;
}

static int check_struct(qg_session *session, const struct_options *options) {
    qg_arena *arena = session->arena;
    const char *colon = find_colon(options->place);
    if (!colon || colon == options->place || !colon[1])
        return qg_complain("--struct takes HEADER:STRUCT, not '%s'", options->place);
    const qg_layout *layout = choose_layout(session, options);
    if (!layout) return 1;
    qg_diag diag = qg_diag_new(arena, session->color);
    const char *header = qg_strndup(arena, options->place, (size_t)(colon - options->place));
    const qg_struct *c = qg_struct_read(arena, &diag, header, colon + 1, &options->arguments);
    const bool good = c && qg_struct_agrees(&diag, layout, c, &options->renames);
    print_errors(&diag);
    if (good)
        printf("%s: %s of %s has the same %u bytes, and its %u fields\n", layout->name, c->name, header, c->bytes,
               layout->n_fields);
    return good ? 0 : 1;
}

static bool check_file(qg_library *library, const char *path) {
    const uint32_t before = library->layouts.count;
    if (!qg_library_add_file(library, path)) return false;
    for (uint32_t j = before; j < library->layouts.count; ++j) {
        const qg_layout *l = library->layouts.items[j];
        printf("%s: %u elements in %u bytes, %.4g bits each: every bit has one owner\n", l->name, l->elements,
               l->block_bytes, qg_bits_per_element(l));
    }
    return true;
}

static int command_check(qg_session *session, int argc, char **argv) {
    qg_texts files = {0};
    struct_options c = {.arguments = cut_arguments(session->arena, &argc, argv)};
    const qg_option options[] = {
        {"--struct", QG_TEXT, &c.place, "HEADER:STRUCT",
         "also proves that this C struct has the block's size, offsets and types"},
        {"--format", QG_TEXT, &c.format, "F", "which format the struct is, where SPEC has several"},
        {"--rename", QG_TEXTS, &c.renames, "FIELD=MEMBER", "a field whose member in the struct has another name"}};
    if (!qg_options_read(session, argc, argv, options, COUNT(options), &files)) return 1;
    if (files.count == 0) return qg_complain("check needs a specification: qkgen check SPEC...");
    if (!c.place && (c.format || c.renames.count || c.arguments.count))
        return qg_complain("--format, --rename and arguments after -- belong to --struct HEADER:STRUCT");
    session->library = qg_library_new(session->arena, session->color);
    bool good = true;
    for (uint32_t i = 0; i < files.count; ++i) good &= check_file(session->library, files.items[i]);
    print_errors(&session->library->diag);
    return !good ? 1 : c.place ? check_struct(session, &c) : 0;
}

static int command_import(qg_session *session, int argc, char **argv) {
    qg_texts rest = {0};
    const qg_texts arguments = cut_arguments(session->arena, &argc, argv);
    if (!qg_options_read(session, argc, argv, NULL, 0, &rest)) return 1;
    if (rest.count != 2)
        return qg_complain("import needs a header and a struct: qkgen import HEADER STRUCT [-- ARG...]");
    qg_diag diag = qg_diag_new(session->arena, session->color);
    const qg_struct *c = qg_struct_read(session->arena, &diag, rest.items[0], rest.items[1], &arguments);
    print_errors(&diag);
    if (!c) return 1;
    fputs(qg_struct_block(session->arena, c), stdout);
    return 0;
}

/* ---- show, dump ---- */

static uint32_t terminal_columns(void) {
    const char *columns = getenv("COLUMNS");
    const int number = columns ? atoi(columns) : 0;
    return number >= 40 && number <= 1000 ? (uint32_t)number : 100;
}

static int command_show(qg_session *session, int argc, char **argv) {
    qg_texts rest = {0};
    const char *svg = NULL;
    const qg_option options[] = {{"--svg", QG_TEXT, &svg, "FILE", "draws the map into a file instead"},
                                 QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, COUNT(options), &rest)) return 1;
    if (rest.count != 1) return qg_complain("show needs one format: qkgen show FORMAT [--svg FILE]");
    if (!qg_session_load(session)) return 1;
    const qg_layout *layout = qg_session_format(session, rest.items[0]);
    if (!layout) return 1;
    if (svg) {
        const char *text = qg_show_svg(session->arena, layout);
        const char *why = qg_write_file(session->arena, svg, text, strlen(text));
        return why ? qg_complain("cannot write %s: %s", svg, why) : 0;
    }
    qg_text text = qg_text_new(session->arena);
    qg_show_terminal(&text, layout, session->color && isatty(STDOUT_FILENO), terminal_columns());
    fputs(text.data, stdout);
    return 0;
}

/* The names of all classes, for messages. */
static const char *class_list(qg_arena *arena) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < qg_n_sum_classes; ++i)
        qg_text_printf(&text, "%s%s", i == 0 ? "" : i + 1 == qg_n_sum_classes ? " or " : ", ", qg_sum_classes[i].name);
    return text.data;
}

bool qg_session_class(qg_session *session, const qg_family *family, const qg_layout *layout, const char *name,
                      const qg_sum_class **sum) {
    *sum = name ? qg_sum_class_named(name) : &qg_sum_classes[QG_CLASS_EXACT];
    if (!*sum) return qg_complain("--class must be %s, not '%s'", class_list(session->arena), name) == 0;
    if (name && !family->sums)
        return qg_complain("--class is for families that sum over rows, and %s does not", family->name) == 0;
    if (!layout || !family->sums || *sum == &qg_sum_classes[QG_CLASS_EXACT] ||
        qg_has_class(session->arena, layout, family, *sum))
        return true;
    return qg_complain("there is no class %s for %s: its values are no integers of 8 bits times what a run of elements "
                       "shares%s; take --class exact",
                       (*sum)->name, layout->name,
                       layout->math == QG_F32 ? "" : ", or are rounded in the midst by --decode-math") == 0;
}

static int dump_dot(qg_session *session, const qg_layout *layout, const char *name) {
    const qg_sum_class *sum;
    if (!qg_session_class(session, &qg_families[QG_FAMILY_GEMV], layout, name, &sum)) return 1;
    const qg_plan *plan = qg_plan_rows(session->arena, layout);
    fputs(qg_dump_ir(session->arena, qg_lower_dot(plan, sum->products)), stdout);
    return 0;
}

static int command_dump(qg_session *session, int argc, char **argv) {
    qg_texts rest = {0};
    const char *stage = NULL, *name = NULL, *sum_name = NULL;
    const qg_option options[] = {

        {"--dump", QG_TEXT, &stage, "STAGE",
         "spec, layout, plan, ir, or dot, which is the sum of gemv after its rules"},
        {"--format", QG_TEXT, &name, "F", "the format"},
        {"--class", QG_TEXT, &sum_name, "C", "of dot: the class of the sum, as in emit (default: exact)"},
        QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, COUNT(options), &rest)) return 1;
    if (!name) return qg_complain("--dump needs --format F");
    if (!qg_session_load(session)) return 1;
    const qg_layout *layout = qg_session_format(session, name);
    if (!layout) return 1;
    const qg_plan *plan = qg_plan_tiles(session->arena, layout);
    if (strcmp(stage, "spec") == 0)
        fputs(qg_dump_spec(session->arena, layout->spec), stdout);
    else if (strcmp(stage, "layout") == 0)
        fputs(qg_dump_layout(session->arena, layout), stdout);
    else if (strcmp(stage, "plan") == 0)
        fputs(qg_dump_plan(session->arena, plan), stdout);
    else if (strcmp(stage, "ir") == 0)
        fputs(qg_dump_ir(session->arena, qg_lower_decode(plan)), stdout);
    else if (strcmp(stage, "dot") == 0)
        return dump_dot(session, layout, sum_name);
    else
        return qg_complain("--dump takes spec, layout, plan, ir or dot, not '%s'", stage);
    return 0;
}

/* ---- emit ---- */

/* Families without a format, named alone or by their set. They come along when neither formats nor
 * families are named. */
static bool choose_plains(qg_session *session, const qg_texts *names, const qg_texts *formats, qg_emit_options *emit) {
    const qg_plain **plains = NULL;
    uint32_t capacity = 0;
    for (uint32_t s = 0; s < qg_n_plain_sets; ++s)
        for (uint32_t f = 0; f < qg_plain_sets[s].n_families; ++f) {
            const qg_plain *family = &qg_plain_sets[s].families[f];
            bool chosen = names->count == 0 && formats->count == 0;
            for (uint32_t n = 0; n < names->count; ++n)
                chosen |= qg_plain_named(names->items[n], NULL) == family ||
                          qg_plain_set_named(names->items[n]) == &qg_plain_sets[s];
            if (chosen) QG_PUSH(session->arena, plains, emit->n_plains, capacity, family);
        }
    emit->plains = plains;
    if (!emit->n_plains || !formats->count) return true;
    return qg_complain("%s takes no format: emit it without --format", plains[0]->name) == 0;
}

static bool choose_families(qg_session *session, const qg_texts *names, qg_emit_options *emit) {
    const qg_family **families = QG_NEW_ARRAY(session->arena, const qg_family *, qg_n_families + names->count);
    for (uint32_t i = 0; i < qg_n_families; ++i) {
        bool chosen = names->count == 0;
        for (uint32_t n = 0; n < names->count; ++n) chosen |= qg_family_named(names->items[n]) == &qg_families[i];
        if (chosen) families[emit->n_families++] = &qg_families[i];
    }
    for (uint32_t n = 0; n < names->count; ++n)
        if (!qg_family_named(names->items[n]) && !qg_plain_named(names->items[n], NULL) &&
            !qg_plain_set_named(names->items[n]))
            return qg_complain("no kernel family is named %s", names->items[n]) == 0;
    emit->families = families;
    return true;
}

/* All classes that a format has, but those that want to be asked for, unless some are named. */
static bool choose_classes(qg_session *session, const qg_texts *names, qg_emit_options *emit) {
    for (uint32_t i = 0; i < qg_n_sum_classes && !names->count; ++i)
        if (!qg_sum_classes[i].on_request) emit->classes |= UINT32_C(1) << i;
    for (uint32_t n = 0; n < names->count; ++n) {
        const qg_sum_class *sum = qg_sum_class_named(names->items[n]);
        if (!sum) return qg_complain("--class takes %s, not '%s'", class_list(session->arena), names->items[n]) == 0;
        emit->classes |= UINT32_C(1) << (sum - qg_sum_classes);
    }
    return true;
}

static bool choose_apis(const qg_texts *names, qg_emit_options *emit) {
    emit->vulkan = emit->metal = names->count == 0;
    for (uint32_t n = 0; n < names->count; ++n) {
        if (strcmp(names->items[n], "vulkan") == 0)
            emit->vulkan = true;
        else if (strcmp(names->items[n], "metal") == 0)
            emit->metal = true;
        else
            return qg_complain("--api takes vulkan or metal, not '%s'", names->items[n]) == 0;
    }
    return true;
}

static bool choose_layouts(qg_session *session, const qg_texts *names, qg_scalar math, qg_emit_options *emit) {
    const qg_library *library = session->library;
    if (names->count == 0 && emit->n_families == 0) return true; /* all families that are named take no format */
    const bool all = names->count == 0;
    emit->every_format = all && math == QG_F32;
    emit->n_layouts = all ? library->layouts.count : names->count;
    const qg_layout **chosen = QG_NEW_ARRAY(session->arena, const qg_layout *, emit->n_layouts);
    for (uint32_t i = 0; i < emit->n_layouts; ++i) {
        chosen[i] = all ? library->layouts.items[i] : qg_session_format(session, names->items[i]);
        if (!chosen[i]) return false;
        chosen[i] = qg_layout_in(session->arena, chosen[i], math);
    }
    emit->layouts = chosen;
    return true;
}

/* The files that the chosen formats are made from: specifications and the tables beside them. */
static void find_inputs(qg_session *session, qg_emit_options *emit) {
    qg_texts inputs = {0};
    for (uint32_t i = 0; i < emit->n_layouts; ++i) {
        const qg_spec *spec = emit->layouts[i]->spec;
        const char *path = spec->source->path, *slash = strrchr(path, '/');
        QG_PUSH(session->arena, inputs.items, inputs.count, inputs.capacity, path);
        for (uint32_t t = 0; t < spec->n_tables; ++t) {
            if (!spec->tables[t].file) continue;
            const char *table =
                qg_format(session->arena, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, spec->tables[t].file);
            QG_PUSH(session->arena, inputs.items, inputs.count, inputs.capacity, table);
        }
    }
    if (emit->shown_list) QG_PUSH(session->arena, inputs.items, inputs.count, inputs.capacity, emit->shown_list);
    emit->n_inputs = inputs.count;
    emit->inputs = inputs.items;
}

/* Which formats are shown, where --shown lists them. */
static bool choose_shown(qg_session *session, const char *path, qg_emit_options *emit) {
    if (!path) return true;
    if (!emit->every_format || emit->embed)
        return qg_complain("--shown is for the tree of all formats: leave out --format, --decode-math and --embed, and "
                           "families that take no format") == 0;
    qg_diag diag = qg_diag_new(session->arena, session->color);
    emit->shown_list = path;
    emit->shown = qg_shown_read(session->arena, &diag, session->library, path);
    print_errors(&diag);
    return emit->shown != NULL;
}

/* In the sources, runtime/include; installed, the include folder. */
static const char *find_headers(const qg_session *session) {
    const char *sources = qg_format(session->arena, "%s/runtime/include", session->data);
    return is_folder(sources) ? sources : qg_format(session->arena, "%s/../../include", session->data);
}

static void print_report(qg_arena *arena, const qg_emit_options *emit, const qg_emit_report *report) {
    const char *more = report->hashed ? qg_format(arena, ", and the hashes of %u more", report->hashed) : "";
    if (emit->check)
        printf("%u files%s are what the specifications generate; %u modules validated\n", report->files, more,
               report->modules);
    else
        printf("%u formats, %u files%s, %u changed; %u SPIR-V modules validated, %zu KiB\n", emit->n_layouts,
               report->files, more, report->changed, report->modules, report->module_bytes / 1024);
}

static int command_emit(qg_session *session, int argc, char **argv) {
    qg_texts formats = {0}, families = {0}, apis = {0}, classes = {0}, rest = {0};
    const char *math_name = NULL, *shown = NULL;
    qg_scalar math;
    qg_emit_options emit = {.out = "out"};
    const qg_option options[] = {
        {"--format", QG_TEXTS, &formats, "F", "a format (default: all)"},
        {"--family", QG_TEXTS, &families, "FAMILY", "a kernel family (default: all)"},
        {"--api", QG_TEXTS, &apis, "vulkan|metal", "an API (default: both)"},
        {"--class", QG_TEXTS, &classes, qg_class_words(),
         "how sums over rows multiply (default: all but half and mma)"},
        {"--decode-math", QG_TEXT, &math_name, "f32|bf16|f16",
         "rounds each operation of a value to that type (default: f32)"},
        {"--out", QG_TEXT, &emit.out, "DIR", "the folder that is written to (default: out)"},
        {"--check", QG_FLAG, &emit.check, NULL, "compares with what is there, and writes nothing"},
        {"--shown", QG_TEXT, &shown, "FILE",
         "of all formats, writes those alone that FILE lists; of the others, hashes in manifest.json"},
        {"--embed", QG_FLAG, &emit.embed, NULL,
         "writes one header and one source for each format, which need nothing else"},
        {"--depfile", QG_TEXT, &emit.depfile, "FILE", "also writes what the files are made from, for make or ninja"},
        QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, COUNT(options), &rest)) return 1;
    for (uint32_t i = 0; i < rest.count; ++i)
        QG_PUSH(session->arena, session->specs.items, session->specs.count, session->specs.capacity, rest.items[i]);
    if (!qg_math_named(math_name, &math) || !qg_session_load(session)) return 1;
    if (!choose_classes(session, &classes, &emit) || !choose_families(session, &families, &emit) ||
        !choose_apis(&apis, &emit) || !choose_plains(session, &families, &formats, &emit) ||
        !choose_layouts(session, &formats, math, &emit) || !choose_shown(session, shown, &emit))
        return 1;
    emit.templates = qg_session_templates(session);
    emit.runtime_headers = find_headers(session);
    find_inputs(session, &emit);

    qg_emit_report report = {0};
    qg_text log = qg_text_new(session->arena);
    const bool good = qg_emit(session->arena, &emit, &report, &log);
    if (log.data) fputs(log.data, stderr);
    if (!good) return 1;
    print_report(session->arena, &emit, &report);
    if (report.left_out)
        fprintf(stderr, "qkgen: warning: %u kernels for Vulkan are left out: " QG_SPIRV_LACKS_MATRICES "\n",
                report.left_out);
    return 0;
}

/* ---- list ---- */

static int list_families(void) {
    for (uint32_t i = 0; i < qg_n_families; ++i)
        printf("%-22s of each format  %s\n", qg_families[i].name, qg_families[i].summary);
    for (uint32_t s = 0; s < qg_n_plain_sets; ++s)
        for (uint32_t i = 0; i < qg_plain_sets[s].n_families; ++i)
            printf("%-22s without format  %s\n", qg_plain_sets[s].families[i].name,
                   qg_plain_sets[s].families[i].summary);
    return 0;
}

static int list_formats(const qg_session *session) {
    for (uint32_t i = 0; i < session->library->layouts.count; ++i) {
        const qg_layout *l = session->library->layouts.items[i];
        printf("%-22s %5.4g bits  %4u elements in %4u bytes  %s\n", l->name, qg_bits_per_element(l), l->elements,
               l->block_bytes, l->summary);
    }
    return 0;
}

/* What follows `list --cost`. */
typedef struct cost_options {
    qg_texts formats, families;
    const char *sum;
    bool cost, spirv, json;
} cost_options;

static int list_costs(qg_session *session, const cost_options *o) {
    qg_emit_options chosen = {0};
    for (uint32_t i = 0; i < o->families.count; ++i)
        if (qg_plain_named(o->families.items[i], NULL) || qg_plain_set_named(o->families.items[i]))
            return qg_complain("%s takes no format, and has no cost for each weight", o->families.items[i]);
    if (!choose_families(session, &o->families, &chosen) || !choose_layouts(session, &o->formats, QG_F32, &chosen))
        return 1;
    const qg_sum_class *sum;
    if (!qg_session_class(session, &qg_families[QG_FAMILY_GEMV], NULL, o->sum, &sum)) return 1;
    if (o->spirv && sum->digits)
        return qg_complain("--spirv counts no digits of x: take --class exact or half, or leave --spirv out");
    const qg_cost_options options = {.n_layouts = chosen.n_layouts,
                                     .sum = sum,
                                     .layouts = chosen.layouts,
                                     .n_families = chosen.n_families,
                                     .families = chosen.families,
                                     .templates = o->spirv ? qg_session_templates(session) : NULL,
                                     .json = o->json};
    const char *why = NULL, *text = qg_cost_list(session->arena, &options, &why);
    if (!text) return qg_complain("%s", why);
    fputs(text, stdout);
    return 0;
}

static int command_list(qg_session *session, int argc, char **argv) {
    qg_texts rest = {0};
    cost_options o = {0};
    const qg_option options[] = {
        {"--cost", QG_FLAG, &o.cost, NULL, "the operations and bytes of each kernel for a weight, counted"},
        {"--format", QG_TEXTS, &o.formats, "F", "of --cost: a format (default: all)"},
        {"--family", QG_TEXTS, &o.families, "FAMILY", "of --cost: a kernel family (default: all)"},
        {"--class", QG_TEXT, &o.sum, "C", "of --cost: the class of sums, as in emit (default: exact)"},
        {"--spirv", QG_FLAG, &o.spirv, NULL, "of --cost: beside it, the count in the compiled SPIR-V"},
        {"--json", QG_FLAG, &o.json, NULL, "of --cost: writes JSON"},
        QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, COUNT(options), &rest)) return 1;
    if (!o.cost && (o.formats.count || o.families.count || o.sum || o.spirv || o.json))
        return qg_complain("--format, --family, --class, --spirv and --json belong to list --cost");
    if (rest.count == 1 && strcmp(rest.items[0], "families") == 0 && !o.cost) return list_families();
    if (rest.count) return qg_complain("list takes nothing, --cost, or `families`, not '%s'", rest.items[0]);
    if (!qg_session_load(session)) return 1;
    return o.cost ? list_costs(session, &o) : list_formats(session);
}

/* ---- gallery ---- */

static int command_gallery(qg_session *session, int argc, char **argv) {
    qg_texts rest = {0};
    const char *out = "docs";
    bool check = false;
    const qg_option options[] = {{"--out", QG_TEXT, &out, "DIR", "the folder that is written to (default: docs)"},
                                 {"--check", QG_FLAG, &check, NULL, "compares with what is there, and writes nothing"},
                                 QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, COUNT(options), &rest)) return 1;
    if (rest.count) return qg_complain("gallery takes no '%s': it shows all formats", rest.items[0]);
    if (!qg_session_load(session)) return 1;
    uint32_t files = 0, changed = 0;
    qg_text log = qg_text_new(session->arena);
    const bool good = qg_gallery(session->arena, session->library, out, check, &files, &changed, &log);
    if (log.data) fputs(log.data, stderr);
    if (!good) return 1;
    if (check)
        printf("%u files are what the specifications generate\n", files);
    else
        printf("%u files, %u changed\n", files, changed);
    return 0;
}

/* ---- */

#ifndef QKGEN_HAVE_RUNTIME
int qg_command_run(qg_session *session, int argc, char **argv) {
    (void)session, (void)argc, (void)argv;
    return qg_complain("this qkgen was built without the runtime; configure with -DQKGEN_RUNTIME=ON");
}

int qg_command_verify(qg_session *session, int argc, char **argv) { return qg_command_run(session, argc, argv); }

int qg_command_bench(qg_session *session, int argc, char **argv) { return qg_command_run(session, argc, argv); }

int qg_command_tune(qg_session *session, int argc, char **argv) { return qg_command_run(session, argc, argv); }

int qg_command_soak(qg_session *session, int argc, char **argv) { return qg_command_run(session, argc, argv); }

int qg_command_devices(qg_session *session, int argc, char **argv) { return qg_command_run(session, argc, argv); }
#endif

/* The format of examples, which the build names, because no format is known by name here. */
#define F QKGEN_EXAMPLE_FORMAT

static const struct command {
    qg_about about;
    int (*run)(qg_session *, int, char **);
} commands[] = {
    {{"check", " SPEC... [--struct HEADER:STRUCT [--format F] [--rename FIELD=MEMBER]... [-- ARG...]]\n",
      "proves the layout of a specification, or says where it is wrong",
      "What follows -- are arguments of the C compiler, which reads the header.",
      "qkgen --dump=spec --format " F " >my.quant\n"
      "qkgen check my.quant\n"},
     command_check},
    {{"import", " HEADER STRUCT [-- ARG...]\n", "prints the block of a specification, from a C struct",
      "What follows -- are arguments of the C compiler, which reads the header.",
      "echo 'typedef struct { unsigned short d; unsigned char qs[16]; } my_block;' >my.h\n"
      "qkgen import my.h my_block\n"},
     command_import},
    {{"show", " FORMAT [--svg FILE]\n", "draws the map of a block: which bits belong to which code", NULL,
      "qkgen show " F "\n"
      "qkgen show " F " --svg map.svg\n"},
     command_show},
    {{"list", "\n families\n --cost [--format F]... [--family FAMILY]... [--class C] [--spirv] [--json]\n",
      "names the known formats, or the kernel families, or what kernels cost", NULL,
      "qkgen list families\n"
      "qkgen list --cost --format " F " --family gemv\n"},
     command_list},
    {{"emit", " [--format F]... [--family FAMILY]... [--out DIR] [--check] [OPTION]...\n",
      "writes the kernels of formats, or checks that those that are there are up to date",
      "Further arguments are specifications, as with --spec.",
      "qkgen emit --embed --format " F " --family dequant --out kernels\n"
      "qkgen emit --embed --format " F " --family dequant --out kernels --check\n"},
     command_emit},
    {{"gallery", " [--out DIR] [--check]\n", "writes a page of all formats with their maps", NULL,
      "qkgen gallery --out gallery\n"},
     command_gallery},
    {{"run",
      " dequant --format F --target T --type f32|f16|bf16 --in FILE --out FILE\n"
      " gather --format F --target T --type f32|f16|bf16 --rows V --cols H --in FILE --indices FILE --out FILE\n"
      " gemv --format F --target T --type f32|f16 --rows N --cols K [--batch M] --in FILE --x FILE --out FILE\n"
      " gemv_id --format F --target T --type f32|f16 --experts E --rows N --cols K --tokens M --slots S --in FILE "
      "--ids FILE --x FILE --out FILE\n"
      " qdq_init --target T --group G --bins B --in FILE --out scales=FILE --out biases=FILE --out q=FILE\n"
      " qdq_forward --target T --group G --in q=FILE --in scales=FILE --in biases=FILE --out FILE\n"
      " qdq_backward_scales --target T --group G --in q=FILE --in dy=FILE --out FILE\n"
      " qdq_backward_biases --target T --group G --in dy=FILE --out FILE\n",
      "runs a kernel on files",
      "Files are raw little-endian arrays. `qkgen run qdq_init --help` has the options of "
      "families without a format.",
      "head -c 1800 /dev/urandom >blocks.bin\n"
      "qkgen run dequant --format " F " --target c --type f32 --in blocks.bin --out values.f32\n"},
     qg_command_run},
    {{"verify", " FILE.gguf|FILE.safetensors [--target T]... [--tensor NAME [--out FILE]] [OPTION]...\n",
      "decodes the tensors of a model on several targets, and compares them", NULL,
      "qkgen verify model.gguf --target c\n"},
     qg_command_verify},
    {{"bench",
      " FAMILY,... --format F,...|--from ORIGIN|--all [OPTION]...\n"
      " --model NAME|FILE,... --format F,...|--from ORIGIN|--all [OPTION]...\n"
      " qdq_init|qdq_forward|qdq_backward_scales|qdq_backward_biases,... [--group N] [--bins N] [--rows N] [--cols K]\n"
      " --read FILE,... [--svg FILE] [--markdown FILE] [--peers FILE]\n",
      "measures kernels on a Vulkan device, and checks their results",
      "Figures are times, bytes a second, and their share of what the device's memory copies: docs/performance.md.\n"
      "--model measures every matrix of a model, and adds up what a token takes: docs/models.md.",
      "qkgen bench gemv --format " F " --rows 512 --cols 1024\n"},
     qg_command_bench},
    {{"tune", " FAMILY,... --format F,... --shape NxK[xM],... --out FILE [OPTION]...\n",
      "finds the constants with which kernels are fastest on a Vulkan device",
      "That takes a second or more for each value of each constant: docs/tuning.md.",
      "qkgen tune gather --format " F " --shape 64x256 --out my_gpu.txt\n"},
     qg_command_tune},
    {{"soak", " [--minutes N | --seconds N | --cases N] [--seed N] [OPTION]...\n --case CASE\n",
      "tries kernels with random shapes, constants and data on a Vulkan device, and checks every result",
      "A result must be within the bound of docs/error-bounds.md, nothing else may be written, and a\n"
      "second launch gives the same bits. Cases run in processes of their own. Of a case that fails, the command\n"
      "that repeats it is shown.",
      "qkgen soak --format " F " --cases 8\n"},
     qg_command_soak},
    {{"devices", "\n", "lists the Vulkan devices, and what they have that matters", NULL, "qkgen devices\n"},
     qg_command_devices},
    {{"--dump", "=spec|layout|plan|ir|dot --format F [--class C]\n", "prints what a stage made of a format", NULL,
      "qkgen --dump=plan --format " F "\n"},
     command_dump},
};

static void print_commands(FILE *file) {
    fputs("qkgen: kernels from the specification of a quantised format\n\n", file);
    for (uint32_t i = 0; i < COUNT(commands); ++i)
        fprintf(file, "  qkgen %-9s%s\n", commands[i].about.name, commands[i].about.summary);
    fputs("\n`qkgen COMMAND --help` shows how a command is called, its options, and an example.\n"
          "`qkgen --version` prints the version.\n",
          file);
}

static const struct command *find_command(const char *name) {
    const size_t length = strncmp(name, "--", 2) == 0 ? strcspn(name, "=") : strlen(name);
    for (uint32_t i = 0; i < COUNT(commands); ++i)
        if (strlen(commands[i].about.name) == length && memcmp(name, commands[i].about.name, length) == 0)
            return &commands[i];
    return NULL;
}

static int unknown_command(const char *name) {
    const char *nearest = NULL;
    uint32_t least = qg_name_tolerance(name + strspn(name, "-"));
    for (uint32_t i = 0; i < COUNT(commands); ++i) qg_name_nearest(name, commands[i].about.name, &nearest, &least);
    qg_name_nearest(name, "--help", &nearest, &least);
    qg_name_nearest(name, "--version", &nearest, &least);
    if (!nearest) return qg_complain("unknown command '%s'; `qkgen --help` lists them", name);
    return qg_complain("unknown command '%s'; did you mean %s? `qkgen --help` lists them", name, nearest);
}

static int run_command(qg_session *session, const struct command *c, int argc, char **argv) {
    session->about = &c->about;
    const int status = c->run(session, argc, argv);
    return session->helped ? 0 : status;
}

static int command(qg_session *session, int argc, char **argv) {
    static char *help[] = {"--help"};
    const char *name = argc < 2 ? "" : argv[1];
    const bool helps = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0;
    if (argc < 2 || (helps && argc == 2)) {
        print_commands(helps ? stdout : stderr);
        return helps ? 0 : 1;
    }
    if (strcmp(name, "--version") == 0) {
        puts("qkgen " QG_VERSION);
        return 0;
    }
    if (helps) name = argv[2];
    const struct command *c = find_command(name);
    if (!c) return unknown_command(name);
    if (helps) return run_command(session, c, 1, help);
    const int read = c->run == command_dump ? 1 : 2; /* it is an option, too */
    return run_command(session, c, argc - read, argv + read);
}

int main(int argc, char **argv) {
    qg_session session = {.arena = qg_arena_new()};
    session.color = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
    int status = command(&session, argc, argv);
    if (fflush(stdout) != 0) status = qg_complain("cannot write to standard output");
    qg_arena_free(session.arena);
    return status;
}
