/* What every program keeps to, checked on each before it is printed: types, shifts below the width, what is kept of x,
 * tables within their rows, and loads within the buffers. */
#include "build/program.h"

#include <string.h>

typedef enum rule { LEAF, SAME, INT, SHIFT, COMPARE, CHOOSE, DOT, LOAD, BYTES, TABLE, FLOAT, SEXT, VECTOR } rule;

static const rule rules[] = {
#define O(id, name, arity, rule, strength, glsl, msl, c) rule,
#include "spec/ops.def"
#undef O
};

typedef struct verifier {
    qg_arena *arena;
    const qg_step *step;
    const qg_ir *code;
    qg_load_proof *loads; /* one for each buffer */
    qg_proofs *proofs;
} verifier;

/* ---- types ---- */

static bool is_integer(const qg_node *node) { return node->kind == QG_K_UINT || node->kind == QG_K_INT; }

/* Operands from `first` on have the kind of `like`, and its lanes or one. */
static bool are_alike(const qg_node *node, uint32_t first, const qg_node *like, uint32_t lanes) {
    for (uint32_t i = first; i < node->n_args; ++i)
        if (node->arg[i]->kind != like->kind || (node->arg[i]->lanes != lanes && node->arg[i]->lanes != 1))
            return false;
    return true;
}

/* A vector of floats converts integers. */
static bool is_vector(const qg_node *node) {
    const qg_node *a = node->arg[0];
    if (node->op == QG_LANE)
        return node->lanes == 1 && node->integer >= 0 && node->integer < a->lanes && a->kind == node->kind;
    if (node->op == QG_SPLAT) return a->lanes == 1 && a->kind == node->kind;
    for (uint32_t i = 0; i < node->n_args; ++i)
        if (node->arg[i]->lanes != 1 || (node->arg[i]->kind != node->kind && node->kind != QG_K_FLOAT)) return false;
    return node->n_args == node->lanes;
}

static bool is_typed(const qg_node *node) {
    const bool converts = node->op == QG_TO_INT || node->op == QG_TO_UINT;
    switch (rules[node->op]) {
    case SAME: return are_alike(node, 0, node, node->lanes);
    case INT: return is_integer(node) && (converts || are_alike(node, 0, node, node->lanes));
    case SHIFT:
        return is_integer(node) && node->arg[0]->kind == node->kind && is_integer(node->arg[1]) &&
               (node->arg[0]->lanes == node->lanes || node->arg[0]->lanes == 1);
    case COMPARE: return node->kind == QG_K_BOOL && are_alike(node, 0, node->arg[0], node->lanes);
    case CHOOSE: return node->arg[0]->kind == QG_K_BOOL && are_alike(node, 1, node, node->lanes);
    case LOAD: return node->kind == QG_K_UINT && node->arg[0]->kind == QG_K_UINT && node->arg[0]->lanes == 1;
    case BYTES: return is_integer(node) && node->arg[0]->kind == QG_K_UINT && node->arg[0]->lanes == 1;
    case FLOAT: return node->kind == QG_K_FLOAT;
    case SEXT: return node->kind == QG_K_INT && node->integer > 0 && node->integer <= 32;
    case TABLE: return node->n_args >= 1 && is_integer(node->arg[0]) && is_integer(node->arg[node->n_args - 1]);
    case VECTOR: return is_vector(node);
    case DOT:
    case LEAF: return true;
    }
    return false;
}

/* ---- ranges ---- */

typedef struct range {
    bool known;
    int64_t low, high;
} range;

static const range UNKNOWN = {false, 0, 0};

enum { ANY_TILE = -1 };

/* What a node of the kind can hold, or UNKNOWN where it might wrap. */
static range within_kind(const qg_node *node, int64_t low, int64_t high) {
    const int64_t least = node->kind == QG_K_UINT ? 0 : INT32_MIN,
                  most = node->kind == QG_K_UINT ? UINT32_MAX : INT32_MAX;
    return low >= least && high <= most ? (range){true, low, high} : UNKNOWN;
}

static int64_t mask_over(int64_t value) {
    int64_t mask = 1;
    while (mask <= value) mask *= 2;
    return mask - 1;
}

static range range_of_two(const qg_node *node, range a, range b) {
    const bool natural = a.known && a.low >= 0, constant = b.known && b.low == b.high && b.low >= 0;
    switch (node->op) {
    case QG_AND:
        if (b.known && b.low >= 0) return (range){true, 0, natural && a.high < b.high ? a.high : b.high};
        return natural ? (range){true, 0, a.high} : UNKNOWN;
    case QG_MOD: return constant && b.low > 0 && natural ? (range){true, 0, b.low - 1} : UNKNOWN;
    case QG_MIN:
        return natural && b.known && b.low >= 0 ? (range){true, 0, a.high < b.high ? a.high : b.high} : UNKNOWN;
    default: break;
    }
    if (!a.known || !b.known) return UNKNOWN;
    switch (node->op) {
    case QG_ADD: return within_kind(node, a.low + b.low, a.high + b.high);
    case QG_SUB: return within_kind(node, a.low - b.high, a.high - b.low);
    case QG_MUL:
        if (!natural || b.low < 0 || (b.high > 0 && a.high > UINT32_MAX / b.high)) return UNKNOWN;
        return within_kind(node, a.low * b.low, a.high * b.high);
    case QG_DIV: return constant && b.low && natural ? (range){true, a.low / b.low, a.high / b.low} : UNKNOWN;
    case QG_SHR: return natural && b.low >= 0 && b.high < 32 ? (range){true, 0, a.high >> b.low} : UNKNOWN;
    case QG_SHL:
        if (!natural || !constant || b.low > 31 || a.high > UINT32_MAX >> b.low) return UNKNOWN;
        return within_kind(node, a.low << b.low, a.high << b.low);
    case QG_OR:
    case QG_XOR:
        return natural && b.low >= 0 ? (range){true, 0, mask_over(a.high > b.high ? a.high : b.high)} : UNKNOWN;
    default: return UNKNOWN;
    }
}

static range join(range a, range b) {
    return (range){a.known && b.known, a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

/* `tile` is the value of the argument of that name, or ANY_TILE. */
static range range_of(const qg_node *node, int64_t tile);

/* 1 or 0 where a condition is so, and UNDECIDED. */
enum { UNDECIDED = -1 };

static int decide(const qg_node *condition, int64_t tile) {
    if (condition->n_args != 2) return UNDECIDED;
    const range a = range_of(condition->arg[0], tile), b = range_of(condition->arg[1], tile);
    const bool below = a.high < b.low, up_to = a.high <= b.low;
    const bool above = a.low > b.high, from = a.low >= b.high;
    if (!a.known || !b.known) return UNDECIDED;
    switch (condition->op) {
    case QG_LT: return below ? 1 : from ? 0 : UNDECIDED;
    case QG_LE: return up_to ? 1 : above ? 0 : UNDECIDED;
    case QG_GT: return above ? 1 : up_to ? 0 : UNDECIDED;
    case QG_GE: return from ? 1 : below ? 0 : UNDECIDED;
    case QG_EQ: return below || above ? 0 : a.low == a.high && up_to && from ? 1 : UNDECIDED;
    case QG_NE: return below || above ? 1 : a.low == a.high && up_to && from ? 0 : UNDECIDED;
    default: return UNDECIDED;
    }
}

static range range_of_choice(const qg_node *node, int64_t tile) {
    const int taken = decide(node->arg[0], tile);
    if (taken != UNDECIDED) return range_of(node->arg[taken ? 1 : 2], tile);
    return join(range_of(node->arg[1], tile), range_of(node->arg[2], tile));
}

static range range_of_node(const qg_node *node, int64_t tile) {
    switch (node->op) {
    case QG_CONST: return (range){true, node->integer, node->integer};
    case QG_ARG:
        if (tile >= 0 && strcmp(node->name, "tile") == 0) return (range){true, tile, tile};
        return (range){node->max < UINT32_MAX, 0, (int64_t)node->max};
    case QG_LOAD: return (range){true, 0, (INT64_C(1) << node->integer) - 1};
    case QG_LOAD_U8: return (range){true, 0, 255};
    case QG_LOAD_I8: return (range){true, -128, 127};
    case QG_TO_INT:
    case QG_TO_UINT: {
        const range a = range_of(node->arg[0], tile);
        return a.known ? within_kind(node, a.low, a.high) : UNKNOWN;
    }
    case QG_SEXT: return (range){true, -(INT64_C(1) << (node->integer - 1)), (INT64_C(1) << (node->integer - 1)) - 1};
    case QG_SELECT: return range_of_choice(node, tile);
    case QG_SPLAT:
    case QG_LANE: return range_of(node->arg[0], tile);
    case QG_VECTOR: {
        range all = range_of(node->arg[0], tile);
        for (uint32_t i = 1; i < node->n_args; ++i) all = join(all, range_of(node->arg[i], tile));
        return all;
    }
    default:
        return node->n_args == 2 ? range_of_two(node, range_of(node->arg[0], tile), range_of(node->arg[1], tile))
                                 : UNKNOWN;
    }
}

/* Of an integer, in each lane; without regard to the bounds that building noted. What wraps is any number. */
static range range_of(const qg_node *node, int64_t tile) {
    if (!is_integer(node)) return UNKNOWN;
    const range r = range_of_node(node, tile);
    return r.known || node->kind != QG_K_UINT ? r : (range){true, 0, UINT32_MAX};
}

static bool is_between(const qg_node *node, int64_t low, int64_t high, int64_t tile) {
    const range r = range_of(node, tile);
    return r.known && r.low >= low && r.high <= high;
}

static bool shifts_below_width(const verifier *v, const qg_node *node, int64_t tile) {
    (void)v;
    return rules[node->op] != SHIFT || is_between(node->arg[1], 0, 31, tile);
}

/* What is kept of x: run, quad or sum of that number. */
static bool has_x(const verifier *v, const qg_node *node) {
    const qg_ir *code = v->code;
    const uint64_t number = (uint64_t)node->integer;
    switch (node->op) {
    case QG_DOT: return number < qg_x_runs(v->step->plan) && node->arg[0]->kind == QG_K_FLOAT;
    case QG_DOT4: return number < code->n_x_quads && is_integer(node->arg[0]);
    case QG_X_SUM: return number < code->n_x_sums;
    case QG_X_DIGITS: return number < code->n_x_digits;
    default: return true;
    }
}

static bool is_in_table(const verifier *v, const qg_node *node, int64_t tile) {
    const qg_layout *layout = v->code->layout;
    if (node->op == QG_TABLE) {
        const qg_table *table = &layout->tables[node->ref];
        return is_between(node->arg[0], 0, table->rows - 1, tile) &&
               (node->n_args < 2 || is_between(node->arg[1], 0, table->columns - 1, tile));
    }
    if (node->op == QG_TWO) return layout->tables[node->ref].rows == 16 && is_between(node->arg[0], 0, 255, tile);
    if (node->op != QG_LOAD || node->ref < layout->n_buffers) return true;
    return is_between(node->arg[0], 0, qg_table_size(&layout->tables[node->ref - layout->n_buffers]) - 1, tile);
}

/* ---- loads ---- */

/* An index is at most (of_block * block + rest) / by. */
typedef struct reach {
    bool known;
    uint64_t of_block, rest, by;
} reach;

static reach reach_of(const qg_node *node, int64_t tile);

static reach sum_of(reach a, reach b) {
    if (a.by < b.by) return sum_of(b, a);
    if (a.by != b.by && b.by != 1) return (reach){.known = false};
    const uint64_t times = a.by / b.by;
    return (reach){a.known && b.known, a.of_block + times * b.of_block, a.rest + times * b.rest, a.by};
}

static reach reach_of(const qg_node *node, int64_t tile) {
    if (node->op == QG_CONST) return (reach){node->kind == QG_K_UINT, 0, (uint64_t)node->integer, 1};
    if (node->op == QG_ARG && strcmp(node->name, "block") == 0) return (reach){true, 1, 0, 1};
    if (node->op == QG_ADD) return sum_of(reach_of(node->arg[0], tile), reach_of(node->arg[1], tile));
    const qg_node *by = node->n_args == 2 && node->arg[1]->op == QG_CONST ? node->arg[1] : NULL;
    const bool scales = by && (node->op == QG_MUL || node->op == QG_DIV) && by->integer > 0;
    const reach r = scales ? reach_of(node->arg[0], tile) : (reach){.known = false};
    if (r.of_block) {
        const uint64_t factor = (uint64_t)by->integer;
        if (node->op == QG_DIV) return (reach){r.known, r.of_block, r.rest, r.by * factor};
        return (reach){r.known && r.by == 1, r.of_block * factor, r.rest * factor, 1};
    }
    const range all = range_of(node, tile);
    return (reach){all.known && all.low >= 0, 0, all.known ? (uint64_t)all.high : 0, 1};
}

/* Words beyond a block that loads of 16 bytes may take where the step says so: those of QK_PADDING, or of the next
 * block, for of the last block they are not made. */
static uint64_t words_beyond(const qg_ir *code, uint32_t buffer, uint64_t unit) {
    const uint64_t words = (uint64_t)code->layout->buffers[buffer].bytes * 8 / unit, padding = QK_PADDING * 8 / unit;
    if (!(code->overruns >> buffer & 1)) return 0;
    return words < padding ? words : padding;
}

/* Whether a load stays in its block, or as near behind it. */
static bool stays_in_block(const verifier *v, const qg_node *node, int64_t tile) {
    const qg_buffer *buffer = &v->code->layout->buffers[node->ref];
    const bool four = node->op == QG_LOAD_FOUR, wide = node->op == QG_LOAD_WIDE;
    const uint64_t unit = four || rules[node->op] == BYTES ? 32 : (uint64_t)node->integer,
                   bits = (uint64_t)buffer->bytes * 8;
    const uint64_t at_once = four ? 4 : wide ? 32 / unit : 1;
    const reach r = reach_of(node->arg[0], tile);
    if (!r.known) return false;
    const uint64_t counts = four ? 4 * unit : unit; /* bits that an index counts */
    /* The last bit is before ((of_block * block + rest) * counts) / by + at_once * unit. Of a block that begins in the
     * middle of a word, the first word has the end of the block before, too, which is there. */
    const uint64_t of_block = r.of_block * counts, rest = r.rest * counts / r.by,
                   last = bits + words_beyond(v->code, node->ref, unit) * unit;
    return of_block == (buffer->shared ? 0 : bits * r.by) && rest + at_once * unit <= last;
}

/* ---- all of it ---- */

enum { MOST_TILES = 1024 }; /* that are looked at one by one */

typedef bool property(const verifier *v, const qg_node *node, int64_t tile);

/* Of all tiles at once, or else of each of them, where ranges are narrower. */
static bool is_proven(const verifier *v, const qg_node *node, property *holds) {
    const uint32_t tiles = v->step->plan->tiles;
    bool proven = holds(v, node, ANY_TILE);
    if (proven || tiles > MOST_TILES) return proven;
    proven = tiles > 0;
    for (uint32_t tile = 0; tile < tiles && proven; ++tile) proven = holds(v, node, tile);
    return proven;
}

/* Where blocks are patches of a matrix, an index depends on the tensor's shape; dispatch checks that. */
static const char *look_at_load(verifier *v, const qg_node *node) {
    const bool load =
        node->op == QG_LOAD || node->op == QG_LOAD_FOUR || node->op == QG_LOAD_WIDE || rules[node->op] == BYTES;
    if (!load || node->ref >= v->code->layout->n_buffers) return NULL;
    const bool blocks = v->code->layout->view == QG_VIEW_BLOCKS, proven = blocks && is_proven(v, node, stays_in_block);
    v->loads[node->ref].proven += proven;
    v->loads[node->ref].guarded += !blocks;
    return proven || !blocks ? NULL : "it may load what is not of its block";
}

/* What holds, but might not be proven. */
static const char *look_at_ranges(verifier *v, const qg_node *node) {
    if (!is_proven(v, node, shifts_below_width)) return "it may shift by 32 bits or more";
    if (!is_proven(v, node, is_in_table)) return "its index may be beyond the table";
    return look_at_load(v, node);
}

static const char *check_statements(const qg_ir *code) {
    for (uint32_t i = 0; i < code->n_statements; ++i)
        for (uint32_t k = 0; k < i; ++k)
            if (strcmp(code->statements[i]->name, code->statements[k]->name) == 0)
                return qg_format(code->arena, "two statements are called %s", code->statements[i]->name);
    return NULL;
}

static const char *check_step(verifier *v, const qg_program *program) {
    const qg_ir *code = v->code;
    const bool values = v->step == program->values;
    const uint32_t outputs = values ? v->step->plan->n_runs : v->step->plan->tile_rows;
    if (!v->step->of_unit && code->n_outputs != outputs)
        return qg_format(v->arena, "it has %u results, must have %u", code->n_outputs, outputs);
    for (uint32_t i = 0; i < code->n_nodes; ++i) {
        const qg_node *node = code->nodes[i];
        if (!node->used) continue;
        if (!is_typed(node)) return qg_format(v->arena, "%%%u: its operands are not of its type", i);
        if (!has_x(v, node)) return qg_format(v->arena, "%%%u: it takes what is not kept of x", i);
        const char *unproven = look_at_ranges(v, node);
        if (unproven && v->proofs->unproven++ == 0)
            v->proofs->first = qg_format(v->arena, "step %s: %%%u: %s", v->step->name, i, unproven);
    }
    return check_statements(code);
}

const char *qg_verify(qg_arena *arena, const qg_program *program, qg_proofs *proofs) {
    qg_proofs own, *all = proofs ? proofs : &own;
    uint32_t at = 0;
    *all = (qg_proofs){.unproven = 0};
    for (uint32_t s = 0; s < program->n_steps; ++s) at += program->steps[s].code->layout->n_buffers;
    all->loads = QG_NEW_ARRAY(arena, qg_load_proof, at);
    at = 0;
    for (uint32_t s = 0; s < program->n_steps; ++s) {
        const qg_step *step = &program->steps[s];
        verifier v = {arena, step, step->code, all->loads + at, all};
        const char *why = check_step(&v, program);
        if (why) return qg_format(arena, "step %s: %s", step->name, why);
        at += step->code->layout->n_buffers;
    }
    return NULL;
}
