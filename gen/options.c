/* Reading the command line. */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
            fprintf(stderr, "qkgen: error: %s must be a whole number, not '%s'\n", option->name, value);
            return false;
        }
        *(uint64_t *)option->target = number;
    }
    return true;
}

bool qg_options_read(qg_arena *arena, int argc, char **argv, const qg_option *options, uint32_t count, qg_texts *rest) {
    for (int i = 0; i < argc; ++i) {
        if (strncmp(argv[i], "--", 2) != 0) {
            QG_PUSH(arena, rest->items, rest->count, rest->capacity, argv[i]);
            continue;
        }
        const size_t length = strcspn(argv[i], "=");
        const qg_option *option = find(options, count, argv[i], length);
        const char *value = argv[i][length] ? argv[i] + length + 1 : NULL;
        if (!option) {
            fprintf(stderr, "qkgen: error: unknown option %s; `qkgen --help` lists them\n", argv[i]);
            return false;
        }
        if (option->kind == QG_FLAG) {
            if (value) {
                fprintf(stderr, "qkgen: error: %s takes no value\n", option->name);
                return false;
            }
            *(bool *)option->target = true;
            continue;
        }
        if (!value && i + 1 < argc) value = argv[++i];
        if (!value) {
            fprintf(stderr, "qkgen: error: %s needs a value\n", option->name);
            return false;
        }
        if (!set(arena, option, value)) return false;
    }
    return true;
}

void qg_split(qg_arena *arena, const char *list, qg_texts *words) {
    for (const char *at = list; *at;) {
        const size_t length = strcspn(at, ",");
        const char *word = qg_strndup(arena, at, length);
        if (length) QG_PUSH(arena, words->items, words->count, words->capacity, word);
        at += length + (at[length] == ',');
    }
}
