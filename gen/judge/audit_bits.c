/* From the results back: of each node, which bits reach one. With the number of the tile known, shifts and indices are
 * numbers, so that each load says which bits of the block it is asked for. */
#include "judge/audit_bits.h"

#include <stdlib.h>
#include <string.h>

typedef struct wanted {
    uint32_t lane[QG_MAX_LANES];
} wanted;

typedef struct place {
    const qg_node *node;
    uint32_t index;
} place;

typedef struct tracer {
    const qg_ir *code;
    place *places; /* by address */
    wanted *wants; /* by index in code->nodes */
    int64_t tile;
    uint8_t **seen; /* by buffer and bit: tiles, 0, 1, 2 or more */
    uint8_t **now;  /* the same of this tile */
    bool lost;      /* an index that is not known */
} tracer;

static int by_address(const void *a, const void *b) {
    const uintptr_t x = (uintptr_t)((const place *)a)->node, y = (uintptr_t)((const place *)b)->node;
    return x < y ? -1 : x > y;
}

static wanted *want_of(const tracer *t, const qg_node *node) {
    const place key = {node, 0};
    const place *found = bsearch(&key, t->places, t->code->n_nodes, sizeof key, by_address);
    return found ? &t->wants[found->index] : NULL;
}

static bool is_integer(const qg_node *node) { return node->kind == QG_K_UINT || node->kind == QG_K_INT; }

static bool known(const tracer *t, const qg_node *node, int64_t *value);

static bool of_two(const qg_node *node, int64_t a, int64_t b, int64_t *value) {
    switch (node->op) {
    case QG_ADD: *value = a + b; break;
    case QG_SUB: *value = a - b; break;
    case QG_MUL: *value = a * b; break;
    case QG_DIV: *value = b ? a / b : 0; break;
    case QG_MOD: *value = b ? a % b : 0; break;
    case QG_AND: *value = a & b; break;
    case QG_OR: *value = a | b; break;
    case QG_XOR: *value = a ^ b; break;
    case QG_SHL: *value = b >= 0 && b < 32 ? a << b : 0; break;
    case QG_SHR: *value = b >= 0 && b < 32 ? a >> b : 0; break;
    case QG_MIN: *value = a < b ? a : b; break;
    case QG_EQ: *value = a == b; break;
    case QG_NE: *value = a != b; break;
    case QG_LT: *value = a < b; break;
    case QG_LE: *value = a <= b; break;
    case QG_GT: *value = a > b; break;
    case QG_GE: *value = a >= b; break;
    default: return false;
    }
    if (node->kind == QG_K_UINT) *value = (int64_t)(uint32_t)*value;
    return true;
}

/* Of one lane, in the first block. */
static bool known(const tracer *t, const qg_node *node, int64_t *value) {
    int64_t a = 0, b = 0;
    if (node->op == QG_CONST && is_integer(node)) {
        *value = node->integer;
        return true;
    }
    if (node->op == QG_ARG) {
        *value = strcmp(node->name, "tile") == 0 ? t->tile : 0;
        return strcmp(node->name, "tile") == 0 || strcmp(node->name, "block") == 0;
    }
    if (node->op == QG_TO_INT || node->op == QG_TO_UINT || node->op == QG_SPLAT)
        return is_integer(node->arg[0]) && known(t, node->arg[0], value);
    if (node->op == QG_SELECT) return known(t, node->arg[0], &a) && known(t, node->arg[a ? 1 : 2], value);
    if (node->n_args != 2 || node->arg[0]->kind == QG_K_FLOAT) return false;
    return known(t, node->arg[0], &a) && known(t, node->arg[1], &b) && of_two(node, a, b, value);
}

/* Of a lane of a vector of constants. */
static bool known_lane(const tracer *t, const qg_node *node, uint32_t lane, int64_t *value) {
    if (node->op == QG_VECTOR) return known(t, node->arg[lane], value);
    return known(t, node, value);
}

static uint32_t up_to_highest(uint32_t bits) {
    for (uint32_t s = 1; s < 32; s *= 2) bits |= bits >> s;
    return bits;
}

static void want(const tracer *t, const qg_node *node, uint32_t lane, uint32_t bits) {
    wanted *w = want_of(t, node);
    if (w) w->lane[node->lanes > 1 ? lane : 0] |= bits;
}

static void want_all(const tracer *t, const qg_node *node) {
    for (uint32_t l = 0; l < node->lanes && l < QG_MAX_LANES; ++l) want(t, node, l, UINT32_MAX);
}

/* ---- operations ---- */

static void shift_want(const tracer *t, const qg_node *node, uint32_t lane, uint32_t bits) {
    int64_t by = 0;
    if (!known_lane(t, node->arg[1], lane, &by) || by < 0 || by > 31) {
        want(t, node->arg[0], lane, UINT32_MAX);
        want(t, node->arg[1], lane, UINT32_MAX);
        return;
    }
    uint32_t of = node->op == QG_SHL ? bits >> by : bits << by;
    if (node->op == QG_SHR && node->kind == QG_K_INT && by && bits >> (32 - by)) of |= UINT32_C(1) << 31;
    want(t, node->arg[0], lane, of);
}

static void and_want(const tracer *t, const qg_node *node, uint32_t lane, uint32_t bits) {
    int64_t mask = 0;
    const bool right = known_lane(t, node->arg[1], lane, &mask),
               left = !right && known_lane(t, node->arg[0], lane, &mask);
    if (right || left) bits &= (uint32_t)mask;
    want(t, node->arg[0], lane, left ? 0 : bits);
    want(t, node->arg[1], lane, right ? 0 : bits);
}

static void divided_want(const tracer *t, const qg_node *node, uint32_t lane, uint32_t bits) {
    int64_t by = 0;
    const bool power = known_lane(t, node->arg[1], lane, &by) && by > 0 && (by & (by - 1)) == 0;
    if (!power || node->kind != QG_K_UINT) {
        want(t, node->arg[0], lane, UINT32_MAX);
        want(t, node->arg[1], lane, UINT32_MAX);
        return;
    }
    uint32_t of = bits & (uint32_t)(by - 1);
    for (uint32_t s = 0; node->op == QG_DIV && s < 32; ++s)
        if (by >> s == 1) of = bits << s;
    want(t, node->arg[0], lane, of);
}

static void lane_want(const tracer *t, const qg_node *node, uint32_t lane, uint32_t bits) {
    int64_t chosen = 0;
    switch (node->op) {
    case QG_AND: and_want(t, node, lane, bits); return;
    case QG_OR:
    case QG_XOR:
        want(t, node->arg[0], lane, bits);
        want(t, node->arg[1], lane, bits);
        return;
    case QG_SHL:
    case QG_SHR: shift_want(t, node, lane, bits); return;
    case QG_DIV:
    case QG_MOD: divided_want(t, node, lane, bits); return;
    case QG_ADD:
    case QG_SUB:
    case QG_MUL:
        want(t, node->arg[0], lane, up_to_highest(bits));
        want(t, node->arg[1], lane, up_to_highest(bits));
        return;
    case QG_TO_INT:
    case QG_TO_UINT: want(t, node->arg[0], lane, node->arg[0]->kind == QG_K_FLOAT ? UINT32_MAX : bits); return;
    case QG_SEXT: {
        const uint32_t own = node->integer < 32 ? (UINT32_C(1) << node->integer) - 1 : UINT32_MAX;
        want(t, node->arg[0], lane, (bits & own) | (bits & ~own ? (own >> 1) + 1 : 0));
        return;
    }
    case QG_F16_BITS:
    case QG_BF16_BITS: want(t, node->arg[0], lane, 0xffff); return;
    case QG_VECTOR: want(t, node->arg[lane], 0, bits); return;
    case QG_SPLAT: want(t, node->arg[0], 0, bits); return;
    case QG_LANE: want(t, node->arg[0], (uint32_t)node->integer, bits); return;
    case QG_SELECT:
        if (node->arg[0]->lanes == 1 && known(t, node->arg[0], &chosen)) {
            want(t, node->arg[chosen ? 1 : 2], lane, bits);
            return;
        }
        want(t, node->arg[0], lane, UINT32_MAX);
        want(t, node->arg[1], lane, bits);
        want(t, node->arg[2], lane, bits);
        return;
    default:
        for (uint32_t a = 0; a < node->n_args; ++a) want_all(t, node->arg[a]);
    }
}

static void load_want(tracer *t, const qg_node *node, const wanted *w) {
    const qg_layout *layout = t->code->layout;
    int64_t index = 0;
    if (node->ref >= layout->n_buffers) { /* a table: its index is a code, all of it */
        want_all(t, node->arg[0]);
        return;
    }
    if (!known(t, node->arg[0], &index) || index < 0) {
        t->lost = true;
        return;
    }
    const uint32_t unit = node->op == QG_LOAD_FOUR ? 32 : (uint32_t)node->integer;
    const uint64_t all = (uint64_t)layout->buffers[node->ref].bytes * 8;
    const uint64_t start = (uint64_t)index * (node->op == QG_LOAD_FOUR ? 128 : unit);
    const uint32_t width = node->op == QG_LOAD ? unit : 32;
    for (uint32_t l = 0; l < node->lanes && l < QG_MAX_LANES; ++l)
        for (uint32_t b = 0; b < width; ++b)
            if ((w->lane[l] >> b & 1) && start + 32 * l + b < all) t->now[node->ref][start + 32 * l + b] = 1;
}

static void trace(tracer *t) {
    memset(t->wants, 0, sizeof *t->wants * t->code->n_nodes);
    for (uint32_t o = 0; o < t->code->n_outputs; ++o) want_all(t, t->code->outputs[o].node);
    for (uint32_t n = t->code->n_nodes; n-- > 0;) {
        const qg_node *node = t->code->nodes[n];
        const wanted w = t->wants[n];
        bool any = false;
        for (uint32_t l = 0; l < QG_MAX_LANES; ++l) any |= w.lane[l] != 0;
        if (!any) continue;
        if (node->op == QG_LOAD || node->op == QG_LOAD_FOUR || node->op == QG_LOAD_WIDE)
            load_want(t, node, &w);
        else
            for (uint32_t l = 0; l < node->lanes && l < QG_MAX_LANES; ++l)
                if (w.lane[l]) lane_want(t, node, l, w.lane[l]);
    }
}

static bool trace_tiles(tracer *t, uint32_t tiles) {
    const qg_layout *layout = t->code->layout;
    for (t->tile = 0; t->tile < tiles && !t->lost; ++t->tile) {
        for (uint32_t b = 0; b < layout->n_buffers; ++b) memset(t->now[b], 0, (size_t)layout->buffers[b].bytes * 8);
        trace(t);
        for (uint32_t b = 0; b < layout->n_buffers; ++b)
            for (uint32_t i = 0; i < layout->buffers[b].bytes * 8; ++i)
                if (t->now[b][i] && t->seen[b][i] < 2) t->seen[b][i] += 1;
    }
    return !t->lost;
}

static void sum_up(qg_arena *arena, const tracer *t, qg_bits_read *read) {
    const qg_layout *layout = t->code->layout;
    *read = (qg_bits_read){.owned = 0};
    for (uint32_t b = 0; b < layout->n_buffers; ++b) {
        const qg_owner *map = qg_bit_map(arena, layout, b);
        for (uint32_t i = 0; i < layout->buffers[b].bytes * 8; ++i) {
            if (map[i].kind != QG_OWNER_CODE) continue;
            read->owned += 1;
            read->read += t->seen[b][i] > 0;
            read->once += t->seen[b][i] == 1;
            if (!t->seen[b][i] && !read->first)
                read->first =
                    qg_format(arena, "bit %u of %s (%s)", i, layout->buffers[b].name, layout->codes[map[i].code].name);
        }
    }
}

bool qg_count_bits(qg_arena *arena, const qg_program *program, qg_bits_read *read) {
    const qg_step *step = program->main ? program->main : program->values ? program->values : program->sum;
    if (!step || !step->code->n_outputs || step->code->layout->view != QG_VIEW_BLOCKS || !step->plan->tiles)
        return false;
    const qg_ir *code = step->code;
    tracer t = {.code = code};
    t.places = QG_NEW_ARRAY(arena, place, code->n_nodes);
    t.wants = QG_NEW_ARRAY(arena, wanted, code->n_nodes);
    t.seen = QG_NEW_ARRAY(arena, uint8_t *, code->layout->n_buffers);
    t.now = QG_NEW_ARRAY(arena, uint8_t *, code->layout->n_buffers);
    for (uint32_t n = 0; n < code->n_nodes; ++n) t.places[n] = (place){code->nodes[n], n};
    qsort(t.places, code->n_nodes, sizeof *t.places, by_address);
    for (uint32_t b = 0; b < code->layout->n_buffers; ++b) {
        t.seen[b] = QG_NEW_ARRAY(arena, uint8_t, (size_t)code->layout->buffers[b].bytes * 8);
        t.now[b] = QG_NEW_ARRAY(arena, uint8_t, (size_t)code->layout->buffers[b].bytes * 8);
    }
    if (!trace_tiles(&t, step->plan->tiles)) return false;
    sum_up(arena, &t, read);
    return true;
}
