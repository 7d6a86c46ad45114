/* `qkgen run --cases FILE`: many runs in one process, which open the device once. A line of the file is the options of
 * a run; what else stands on the command line is put before each. */
#include "cli/run.h"
#include "emit/spirv.h"

#include <string.h>

static const char option[] = "--cases", blanks[] = " \t\r";

static bool asks_help(const char *argument) { return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0; }

const char *qg_cases_list(int argc, char **argv) {
    const size_t length = sizeof option - 1;
    const char *list = NULL;
    for (int i = 0; i < argc; ++i) {
        if (asks_help(argv[i])) return NULL;
        if (list || strncmp(argv[i], option, length) != 0) continue;
        if (argv[i][length] == '=') list = argv[i] + length + 1;
        if (!argv[i][length] && i + 1 < argc) list = argv[i + 1];
    }
    return list;
}

/* All arguments but --cases and its value. */
static void add_others(qg_arena *arena, int argc, char **argv, qg_texts *words) {
    const size_t length = sizeof option - 1;
    for (int i = 0; i < argc; ++i) {
        if (strncmp(argv[i], option, length) == 0 && argv[i][length] == '=') continue;
        if (strcmp(argv[i], option) == 0)
            ++i;
        else
            QG_PUSH(arena, words->items, words->count, words->capacity, argv[i]);
    }
}

static void add_words(qg_arena *arena, const char *line, size_t length, qg_texts *words) {
    for (size_t at = 0; at < length;) {
        const size_t word = strcspn(line + at, blanks), all = word < length - at ? word : length - at;
        if (all) QG_PUSH(arena, words->items, words->count, words->capacity, qg_strndup(arena, line + at, all));
        at += all + 1;
    }
}

/* Whether line `number` is good, with memory of its own. A device that a case failed on may be lost. */
static bool run_case(const qg_session *session, const char *place, int argc, char **argv, const char *line,
                     size_t length) {
    qg_session own = *session;
    qg_texts words = {0};
    own.arena = qg_arena_new();
    add_others(own.arena, argc, argv, &words);
    add_words(own.arena, line, length, &words);
    qg_case_place_set(place);
    const int status = qg_command_run(&own, (int)words.count, (char **)(uintptr_t)words.items);
    const bool good = status == 0 || own.helped;
    qg_case_place_set(NULL);
    if (!good) qg_device_share(true);
    qg_inputs_close();
    qg_arena_free(own.arena);
    return good;
}

int qg_run_cases(qg_session *session, const char *list, int argc, char **argv) {
    enum { MOST = 1 << 28 };
    const char *why = NULL;
    size_t length = 0;
    if (*qg_case_place("")) return qg_complain("a line of --cases has no --cases");
    const char *text = qg_read_file(session->arena, list, MOST, &length, &why);
    if (!text) return qg_complain("%s", why);
    if (strlen(text) != length) return qg_complain("%s is no text: it has a zero byte", list);
    const bool compiler = qg_spirv_open(); /* once for all */
    uint32_t number = 0;
    int status = 0;
    qg_device_share(true);
    for (const char *line = text; *line;) {
        const size_t all = strcspn(line, "\n"), first = strspn(line, blanks);
        const char *place = qg_format(session->arena, "%s:%u: ", list, ++number);
        if (first < all && line[first] != '#' && !run_case(session, place, argc, argv, line, all)) status = 1;
        line += all + (line[all] == '\n');
    }
    qg_device_share(false);
    if (compiler) qg_spirv_close();
    return status;
}
