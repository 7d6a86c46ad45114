/* `qkgen check`, which proves a layout, and `qkgen import`, which makes one of a C struct. */
#include "cli/command.h"
#include "spec/import.h"

#include <string.h>

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
    qg_print_errors(&diag);
    if (good)
        printf("%s: %s of %s has the same %u bytes, and its %u fields\n", layout->name, c->name, header, c->bytes,
               layout->n_fields - layout->spec->n_header);
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

int qg_command_check(qg_session *session, int argc, char **argv) {
    qg_texts files = {0};
    struct_options c = {.arguments = cut_arguments(session->arena, &argc, argv)};
    const qg_option options[] = {
        {"--struct", QG_TEXT, &c.place, "HEADER:STRUCT",
         "also proves that this C struct has the block's size, offsets and types"},
        {"--format", QG_TEXT, &c.format, "F", "which format the struct is, where SPEC has several"},
        {"--rename", QG_TEXTS, &c.renames, "FIELD=MEMBER", "a field whose member in the struct has another name"}};
    if (!qg_options_read(session, argc, argv, options, QG_LENGTH(options), &files)) return 1;
    if (files.count == 0) return qg_complain("check needs a specification: qkgen check SPEC...");
    if (!c.place && (c.format || c.renames.count || c.arguments.count))
        return qg_complain("--format, --rename and arguments after -- belong to --struct HEADER:STRUCT");
    session->library = qg_library_new(session->arena, session->color);
    bool good = true;
    for (uint32_t i = 0; i < files.count; ++i) good &= check_file(session->library, files.items[i]);
    qg_print_errors(&session->library->diag);
    return !good ? 1 : c.place ? check_struct(session, &c) : 0;
}

int qg_command_import(qg_session *session, int argc, char **argv) {
    qg_texts rest = {0};
    const qg_texts arguments = cut_arguments(session->arena, &argc, argv);
    if (!qg_options_read(session, argc, argv, NULL, 0, &rest)) return 1;
    if (rest.count != 2)
        return qg_complain("import needs a header and a struct: qkgen import HEADER STRUCT [-- ARG...]");
    qg_diag diag = qg_diag_new(session->arena, session->color);
    const qg_struct *c = qg_struct_read(session->arena, &diag, rest.items[0], rest.items[1], &arguments);
    qg_print_errors(&diag);
    if (!c) return 1;
    fputs(qg_struct_block(session->arena, c), stdout);
    return 0;
}
