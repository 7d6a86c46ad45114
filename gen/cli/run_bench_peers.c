/* Figures of other libraries, to set ours beside: bench/peers/README.md has the format of their files. */
#include "cli/run_bench.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 8 };

uint32_t qg_line_words(qg_arena *arena, const char *line, size_t length, const char **words, uint32_t most) {
    uint32_t count = 0;
    for (size_t i = 0; i < length && line[i] != '#';) {
        size_t n = 0;
        while (i + n < length && !strchr(" \t\r#", line[i + n])) ++n;
        if (n && count < most) words[count] = qg_strndup(arena, line + i, n);
        count += n > 0 && count < most;
        i += n;
        while (i < length && strchr(" \t\r", line[i])) ++i;
    }
    return count;
}

bool qg_whole_number(const char *word, uint64_t *number) {
    char *end;
    *number = strtoull(word, &end, 10);
    return *word >= '0' && *word <= '9' && !*end && *number;
}

static const char *read_peer(const char *const *words, uint32_t count, qg_peer *peer) {
    char *end;
    if (count != 8) return "a line is PEER FAMILY FORMAT ROWS COLS BATCH NUMBER us|GB/s";
    *peer = (qg_peer){.name = words[0], .family = words[1], .format = words[2]};
    if (!qg_family_named(words[1])) return "the second word must be a kernel family; `qkgen list families` shows them";
    if (!qg_whole_number(words[3], &peer->rows) || !qg_whole_number(words[4], &peer->cols) ||
        !qg_whole_number(words[5], &peer->batch))
        return "rows, columns and batch must be whole numbers from 1";
    const double number = strtod(words[6], &end);
    if (*end || !(number > 0) || number > 1e12) return "the figure must be a number above 0";
    if (strcmp(words[7], "us") == 0)
        peer->seconds = 1e-6 * number;
    else if (strcmp(words[7], "GB/s") == 0)
        peer->rate = 1e9 * number;
    else
        return "the unit must be us or GB/s";
    return NULL;
}

static const char *add_name(qg_peers *peers, const char *name) {
    for (uint32_t i = 0; i < peers->n_names; ++i)
        if (strcmp(peers->names[i], name) == 0) return NULL;
    if (peers->n_names == sizeof peers->names / sizeof *peers->names)
        return "there are more than four peers; remove some";
    peers->names[peers->n_names++] = name;
    return NULL;
}

bool qg_peers_read(qg_arena *arena, const char *path, qg_peers *peers) {
    const char *why = NULL;
    size_t length = 0;
    const char *text = qg_read_file(arena, path, 1 << 24, &length, &why);
    if (!text) return qg_complain("cannot read %s: %s", path, why) == 0;
    uint32_t line = 1;
    for (const char *at = text; *at; ++line) {
        const size_t size = strcspn(at, "\n");
        const char *words[WORDS + 1] = {0};
        qg_peer peer;
        const uint32_t count = qg_line_words(arena, at, size, words, WORDS + 1);
        if (count) {
            why = read_peer(words, count, &peer);
            if (!why) why = add_name(peers, peer.name);
            if (why) return qg_complain("%s:%u: %s", path, line, why) == 0;
            QG_PUSH(arena, peers->items, peers->count, peers->capacity, peer);
        }
        at += size + (at[size] == '\n');
    }
    return true;
}

double qg_peers_rate(const qg_peers *peers, uint32_t name, const qg_figure *f) {
    for (uint32_t i = 0; i < peers->count; ++i) {
        const qg_peer *p = &peers->items[i];
        if (strcmp(p->name, peers->names[name]) != 0 || strcmp(p->family, f->family) != 0 ||
            strcmp(p->format, f->format) != 0 || p->rows != f->rows || p->cols != f->cols || p->batch != f->batch)
            continue;
        return p->seconds > 0 ? f->bytes / p->seconds : p->rate;
    }
    return 0;
}
