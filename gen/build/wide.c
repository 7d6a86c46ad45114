/* Words of a tile, 16 bytes at a time. Of what a tile wants of a buffer, neighbouring words are loaded
 * together: where the place of the first is known to be a multiple of four words, as they lie; where it
 * is not, as a window of aligned fours, in which a word is found by the two low bits of that place. */
#include "build/lower.h"

#include <string.h>

enum { FOUR = 4, FEWEST_AT_ONCE = 3, WIDEST_GAP = 2 };

/* Words at `start` + constants. */
typedef struct place {
    uint32_t buffer;
    const qg_node *start;
    uint32_t count, capacity;
    uint32_t *words; /* ascending */
} place;

struct qg_reads {
    qg_arena *arena;
    uint32_t count, capacity;
    place *places;
};

qg_reads *qg_reads_new(qg_arena *arena) {
    qg_reads *reads = QG_NEW(arena, qg_reads);
    reads->arena = arena;
    return reads;
}

/* An index without the constant that is added to it, which goes to *constant. */
static const qg_node *moving_part(qg_ir *ir, const qg_node *index, uint32_t *constant) {
    if (index->op == QG_CONST) {
        *constant += (uint32_t)index->integer;
        return qg_uint(ir, 0);
    }
    if (index->op != QG_ADD) return index;
    const qg_node *a = moving_part(ir, index->arg[0], constant), *b = moving_part(ir, index->arg[1], constant);
    return a == index->arg[0] && b == index->arg[1] ? index : binary(ir, QG_ADD, a, b);
}

/* A power of two, four at most, that divides a node whatever its arguments are. */
static uint32_t known_divisor(const qg_node *node) {
    uint32_t a, b;
    switch (node->op) {
    case QG_CONST: return node->integer % 4 == 0 ? 4 : node->integer % 2 == 0 ? 2 : 1;
    case QG_MUL: a = known_divisor(node->arg[0]) * known_divisor(node->arg[1]); return a < FOUR ? a : FOUR;
    case QG_ADD:
        a = known_divisor(node->arg[0]);
        b = known_divisor(node->arg[1]);
        return a < b ? a : b;
    default: return 1;
    }
}

/* Both passes build the same expressions, each in an IR of its own. */
static bool same_node(const qg_node *a, const qg_node *b) {
    if (a->op != b->op || a->kind != b->kind || a->integer != b->integer || a->ref != b->ref || a->n_args != b->n_args)
        return false;
    if (a->op == QG_ARG && a->name != b->name && strcmp(a->name, b->name) != 0) return false;
    for (uint32_t i = 0; i < a->n_args; ++i)
        if (!same_node(a->arg[i], b->arg[i])) return false;
    return true;
}

static place *find_place(const qg_reads *reads, uint32_t buffer, const qg_node *start) {
    for (uint32_t i = 0; i < reads->count; ++i)
        if (reads->places[i].buffer == buffer && same_node(reads->places[i].start, start)) return &reads->places[i];
    return NULL;
}

void qg_reads_note(qg_ir *ir, qg_reads *reads, uint32_t buffer, const qg_node *index) {
    uint32_t word = 0;
    const qg_node *start = moving_part(ir, index, &word);
    place *at = find_place(reads, buffer, start);
    if (!at) {
        const place new_place = {.buffer = buffer, .start = start};
        QG_PUSH(reads->arena, reads->places, reads->count, reads->capacity, new_place);
        at = &reads->places[reads->count - 1];
    }
    uint32_t i = 0;
    while (i < at->count && at->words[i] < word) ++i;
    if (i < at->count && at->words[i] == word) return;
    QG_PUSH(reads->arena, at->words, at->count, at->capacity, word);
    for (uint32_t k = at->count - 1; k > i; --k) at->words[k] = at->words[k - 1];
    at->words[i] = word;
}

bool qg_reads_has(qg_ir *ir, const qg_reads *reads, uint32_t buffer, const qg_node *index) {
    uint32_t word = 0;
    const place *at = find_place(reads, buffer, moving_part(ir, index, &word));
    for (uint32_t i = 0; at && i < at->count; ++i)
        if (at->words[i] == word) return true;
    return false;
}

/* The neighbours that `word` is loaded with. */
static void find_run(const place *at, uint32_t word, uint32_t *first, uint32_t *last) {
    uint32_t i = 0, k;
    while (at->words[i] != word) ++i;
    for (k = i; k > 0 && at->words[k] - at->words[k - 1] <= WIDEST_GAP; --k) continue;
    *first = at->words[k];
    for (k = i; k + 1 < at->count && at->words[k + 1] - at->words[k] <= WIDEST_GAP; ++k) continue;
    *last = at->words[k];
}

static const qg_node *four(qg_ir *ir, uint32_t buffer, const qg_node *index) {
    return qg_let(ir, qg_load_four(ir, buffer, index), "four", NULL);
}

/* A fourth of a multiple of four. */
static const qg_node *quarter(qg_ir *ir, const qg_node *node) {
    const qg_node *a = node->n_args > 0 ? node->arg[0] : NULL, *b = node->n_args > 1 ? node->arg[1] : NULL;
    if (node->op == QG_CONST) return qg_uint(ir, (uint32_t)node->integer / FOUR);
    if (node->op == QG_ADD && known_divisor(a) == FOUR && known_divisor(b) == FOUR)
        return binary(ir, QG_ADD, quarter(ir, a), quarter(ir, b));
    if (node->op == QG_MUL && known_divisor(b) == FOUR) return binary(ir, QG_MUL, a, quarter(ir, b));
    return binary(ir, QG_DIV, node, qg_uint(ir, FOUR));
}

static const qg_node *aligned(qg_ir *ir, const place *at, const qg_node *start, uint32_t word) {
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < at->count; ++i) wanted += at->words[i] / FOUR == word / FOUR;
    const qg_node *index = binary(ir, QG_ADD, start, qg_uint(ir, word));
    if (wanted < 2) return qg_load(ir, at->buffer, 32, index);
    index = binary(ir, QG_ADD, quarter(ir, start), qg_uint(ir, word / FOUR));
    return qg_lane(ir, four(ir, at->buffer, index), word % FOUR);
}

/* A bit of where a window begins in its first four. */
static const qg_node *phase_bit(qg_ir *ir, const qg_node *begin, uint32_t bit) {
    const qg_node *masked = binary(ir, QG_AND, begin, qg_uint(ir, bit));
    return qg_let(ir, binary(ir, QG_NE, masked, qg_uint(ir, 0)), bit == 1 ? "odd" : "upper", NULL);
}

static const qg_node *in_window(qg_ir *ir, const place *at, const qg_node *first_four, uint32_t word) {
    const qg_node *index = binary(ir, QG_ADD, first_four, qg_uint(ir, word / FOUR));
    return qg_lane(ir, four(ir, at->buffer, index), word % FOUR);
}

const qg_node *qg_reads_load(qg_ir *ir, const qg_reads *reads, uint32_t buffer, const qg_node *index) {
    uint32_t word = 0, first, last;
    const qg_node *start = moving_part(ir, index, &word);
    const place *at = find_place(reads, buffer, start);
    const uint32_t divisor = known_divisor(start);
    if (!at) return qg_load(ir, buffer, 32, index);
    if (divisor == FOUR) return aligned(ir, at, start, word);
    if (ir->held) return qg_load(ir, buffer, 32, index);
    find_run(at, word, &first, &last);
    if (last - first + 1 < FEWEST_AT_ONCE) return qg_load(ir, buffer, 32, index);
    first -= first % divisor;
    ir->overruns |= UINT32_C(1) << buffer;
    const qg_node *begin = qg_let(ir, binary(ir, QG_ADD, start, qg_uint(ir, first)), "begin", NULL);
    const qg_node *first_four = qg_let(ir, binary(ir, QG_DIV, begin, qg_uint(ir, FOUR)), "window", NULL);
    const qg_node *upper = phase_bit(ir, begin, 2), *odd = divisor == 1 ? phase_bit(ir, begin, 1) : NULL;
    const qg_node *found[2];
    for (uint32_t i = 0; i < (odd ? 2 : 1); ++i) {
        const uint32_t in = word - first + i;
        found[i] =
            qg_apply(ir, QG_SELECT, upper, in_window(ir, at, first_four, in + 2), in_window(ir, at, first_four, in));
        found[i] = qg_let(ir, found[i], "pick", NULL);
    }
    return odd ? qg_apply(ir, QG_SELECT, odd, found[1], found[0]) : found[0];
}

/* ---- loads that are made before the rest ---- */

qg_fetches *qg_fetches_of(qg_arena *arena, const qg_ir *ir) {
    qg_fetches *all = QG_NEW(arena, qg_fetches);
    for (uint32_t i = 0; i < ir->n_nodes; ++i) {
        const qg_node *node = ir->nodes[i];
        if (!node->used || node->n_args == 0 || node->ref >= ir->layout->n_buffers) continue;
        if (node->op == QG_LOAD_FOUR) QG_PUSH(arena, all->fours, all->n_fours, all->fours_capacity, node);
        if (node->op == QG_LOAD) QG_PUSH(arena, all->words, all->n_words, all->words_capacity, node);
    }
    return all;
}

uint32_t qg_fetched_at(const qg_fetches *fetches, const qg_node *load) {
    const bool four = load->op == QG_LOAD_FOUR;
    const uint32_t count = !fetches ? 0 : four ? fetches->n_fours : load->op == QG_LOAD ? fetches->n_words : 0;
    for (uint32_t i = 0; i < count; ++i)
        if ((four ? fetches->fours : fetches->words)[i] == load) return i;
    return UINT32_MAX;
}

/* Whether `node` is reached from `from` on ways that do not go through a load that is made elsewhere. */
static bool reaches(const qg_fetches *cut, const qg_node *from, const qg_node *node) {
    if (from == node) return true;
    if (qg_fetched_at(cut, from) != UINT32_MAX) return false;
    for (uint32_t i = 0; i < from->n_args; ++i)
        if (reaches(cut, from->arg[i], node)) return true;
    return false;
}

qg_span qg_span_of(const qg_plan *wide, const qg_fetches *all) {
    const qg_layout *layout = wide->layout;
    qg_span span = {.words = 0};
    if (layout->view != QG_VIEW_BLOCKS || layout->n_buffers != 1 || all->n_fours || wide->tiles > 2) return span;
    if (layout->buffers[0].bytes % 4) return span;
    const uint32_t block = layout->buffers[0].bytes / 4, words = 4 / wide->tiles * block;
    /* As many loads as before, at most; and memory for eight rows of each subgroup. */
    if (words > 4 * all->n_words || words > QG_SPAN_WORDS) return span;
    span.words = words;
    span.runs = words / 16 + (words % 16 > 8);
    span.left = span.runs * 16 >= words ? 0 : words - span.runs * 16 > 4 ? 8 : 4;
    /* Four threads read a row, each from another tile on. */
    const uint32_t loaded = span.runs * 16 + span.left;
    span.stride = block % 2 ? loaded + (12 - loaded % 8) % 8 : loaded | 1;
    return span;
}

bool qg_is_part(const qg_node *from, const qg_node *node) { return reaches(NULL, from, node); }

bool qg_is_needed(const qg_ir *ir, const qg_fetches *fetches, const qg_node *statement, bool loads) {
    for (uint32_t i = 0; i < ir->n_outputs && !loads; ++i)
        if (reaches(fetches, ir->outputs[i].node, statement)) return true;
    if (!loads) return false;
    for (uint32_t i = 0; i < fetches->n_fours; ++i)
        if (fetches->fours[i] != statement && reaches(NULL, fetches->fours[i], statement)) return true;
    for (uint32_t i = 0; i < fetches->n_words; ++i)
        if (fetches->words[i] != statement && reaches(NULL, fetches->words[i], statement)) return true;
    return false;
}
