/* Reading the command line, and the help of a command. */
#include "cli/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- help ---- */

enum { HELP_COLUMN = 28, HELP_WIDTH = 110 };

/* Prints words from column `at`, which is reached already, with line breaks before `HELP_WIDTH`. */
static void print_words(const char *text, int at) {
    int column = at;
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (column > at && column + 1 + length > HELP_WIDTH) {
            printf("\n%*s", at, "");
            column = at;
        }
        column += printf("%s%.*s", column > at ? " " : "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_option(qg_arena *arena, const qg_option *option) {
    const char *value = option->value ? option->value : "";
    const int length = printf("  %s%s%s", option->name, *value ? " " : "", value);
    if (length + 2 > HELP_COLUMN)
        printf("\n%*s", HELP_COLUMN, "");
    else
        printf("%*s", HELP_COLUMN - length, "");
    const char *again = option->kind == QG_TEXTS ? "; may be repeated" : "";
    print_words(qg_format(arena, "%s%s", option->help, again), HELP_COLUMN);
}

/* The lines of a text, each behind the same words. */
static void print_lines(const char *before, const char *text) {
    while (*text) {
        const int length = (int)strcspn(text, "\n");
        printf("%s%.*s\n", before, length, text);
        text += length;
        text += *text == '\n';
    }
}

static void print_help(qg_arena *arena, const qg_about *about, const qg_option *options, uint32_t count) {
    static const qg_option own = {"--help", QG_FLAG, NULL, NULL, "shows this, and does nothing else; also -h"};
    printf("qkgen %s: %s\n\nUsage:\n", about->name, about->summary);
    print_lines(qg_format(arena, "  qkgen %s", about->name), about->usage);
    if (about->more) putchar('\n');
    if (about->more) print_words(about->more, 0);
    puts("\nOptions:");
    for (uint32_t i = 0; i < count; ++i) print_option(arena, &options[i]);
    print_option(arena, &own);
    puts("\nExample:");
    print_lines("  ", about->examples);
}

static bool asks_help(const char *argument) { return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0; }

/* ---- reading ---- */

static const qg_option *find(const qg_option *options, uint32_t count, const char *text, size_t length) {
    for (uint32_t i = 0; i < count; ++i)
        if (strlen(options[i].name) == length && memcmp(options[i].name, text, length) == 0) return &options[i];
    return NULL;
}

static bool set(qg_arena *arena, const qg_option *option, const char *value) {
    if (option->kind == QG_TEXT) {
        *(const char **)option->target = value;
    } else if (option->kind == QG_TEXTS) {
        qg_texts *texts = option->target;
        QG_PUSH(arena, texts->items, texts->count, texts->capacity, value);
    } else {
        char *end;
        errno = 0;
        const unsigned long long number = strtoull(value, &end, 10);
        if (*value < '0' || *value > '9' || *end || errno) {
            return qg_complain("%s must be a whole number, not '%s'", option->name, value) == 0;
        }
        *(uint64_t *)option->target = number;
    }
    return true;
}

static bool unknown(qg_arena *arena, const qg_about *about, const qg_option *options, uint32_t count,
                    const char *text) {
    const char *name = qg_strndup(arena, text, strcspn(text, "=")), *nearest = NULL;
    uint32_t least = qg_name_tolerance(name + 2);
    for (uint32_t i = 0; i < count; ++i) qg_name_nearest(name, options[i].name, &nearest, &least);
    qg_name_nearest(name, "--help", &nearest, &least);
    return qg_complain("unknown option %s; %s%s%s`qkgen %s --help` lists them", text, nearest ? "did you mean " : "",
                       nearest ? nearest : "", nearest ? "? " : "", about->name) == 0;
}

/* Reads the option at argv[*i], and its value, which may be the next argument. */
static bool read_option(qg_arena *arena, const qg_about *about, const qg_option *option, int argc, char **argv,
                        int *i) {
    const size_t length = strcspn(argv[*i], "=");
    const char *value = argv[*i][length] ? argv[*i] + length + 1 : NULL;
    if (option->kind == QG_FLAG) {
        if (value) qg_complain("%s takes no value", option->name);
        if (!value) *(bool *)option->target = true;
        return !value;
    }
    if (!value && *i + 1 < argc) value = argv[++*i];
    if (value) return set(arena, option, value);
    return qg_complain("%s needs a value: %s %s; `qkgen %s --help` says which", option->name, option->name,
                       option->value, about->name) == 0;
}

bool qg_options_parse(qg_arena *arena, const qg_about *about, int argc, char **argv, const qg_option *options,
                      uint32_t count, qg_texts *rest, bool *helped) {
    for (int i = 0; i < argc; ++i) {
        const qg_option *option = find(options, count, argv[i], strcspn(argv[i], "="));
        const bool has_value = option && option->kind != QG_FLAG && !strchr(argv[i], '=');
        if (asks_help(argv[i]) || (has_value && i + 1 < argc && asks_help(argv[i + 1]))) {
            print_help(arena, about, options, count);
            *helped = true;
            return false;
        }
        if (option) {
            if (!read_option(arena, about, option, argc, argv, &i)) return false;
        } else if (strncmp(argv[i], "--", 2) == 0) {
            return unknown(arena, about, options, count, argv[i]);
        } else {
            QG_PUSH(arena, rest->items, rest->count, rest->capacity, argv[i]);
        }
    }
    return true;
}
