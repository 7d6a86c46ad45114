/* What every program keeps to, checked on each before it is printed: types, shifts below the width, what is kept of x,
 * tables within their rows, and loads within the buffers. */
#include "build/program.h"

#include <string.h>

typedef enum rule { LEAF, SAME, INT, SHIFT, COMPARE, CHOOSE, DOT, LOAD, TABLE, FLOAT, SEXT, VECTOR } rule;

static const rule rules[] = {
#define O(id, name, arity, rule, strength, glsl, msl, c) rule,
#include "spec/ops.def"
#undef O
};

typedef struct verifier {
    qg_arena *arena;
    const qg_step *step;
    const qg_ir *code;
    qg_load_proof *proofs; /* one for each buffer */
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
    case QG_MUL: return natural && b.low >= 0 ? within_kind(node, a.low * b.low, a.high * b.high) : UNKNOWN;
    case QG_DIV: return constant && b.low && natural ? (range){true, a.low / b.low, a.high / b.low} : UNKNOWN;
    case QG_SHR: return natural && b.low >= 0 && b.high < 32 ? (range){true, 0, a.high >> b.low} : UNKNOWN;
    case QG_SHL:
        return natural && constant && b.low < 32 ? within_kind(node, a.low << b.low, a.high << b.low) : UNKNOWN;
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

static range range_of_node(const qg_node *node, int64_t tile) {
    switch (node->op) {
    case QG_CONST: return (range){true, node->integer, node->integer};
    case QG_ARG:
        if (tile >= 0 && strcmp(node->name, "tile") == 0) return (range){true, tile, tile};
        return (range){node->max < UINT32_MAX, 0, (int64_t)node->max};
    case QG_LOAD: return (range){true, 0, (INT64_C(1) << node->integer) - 1};
    case QG_TO_INT:
    case QG_TO_UINT: {
        const range a = range_of(node->arg[0], tile);
        return a.known ? within_kind(node, a.low, a.high) : UNKNOWN;
    }
    case QG_SEXT: return (range){true, -(INT64_C(1) << (node->integer - 1)), (INT64_C(1) << (node->integer - 1)) - 1};
    case QG_SELECT: return join(range_of(node->arg[1], tile), range_of(node->arg[2], tile));
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

static bool is_between(const qg_node *node, int64_t low, int64_t high) {
    const range r = range_of(node, ANY_TILE);
    return r.known && r.low >= low && r.high <= high;
}

static bool shifts_below_width(const qg_node *node) {
    return rules[node->op] != SHIFT || is_between(node->arg[1], 0, 31);
}

/* What is kept of x: run, quad or sum of that number. */
static bool has_x(const verifier *v, const qg_node *node) {
    const qg_ir *code = v->code;
    const uint64_t number = (uint64_t)node->integer;
    switch (node->op) {
    case QG_DOT: return number < v->step->plan->n_runs && node->arg[0]->kind == QG_K_FLOAT;
    case QG_DOT4: return number < code->n_x_quads && is_integer(node->arg[0]);
    case QG_X_SUM: return number < code->n_x_sums;
    case QG_X_DIGITS: return number < code->n_x_digits;
    default: return true;
    }
}

static bool is_in_table(const verifier *v, const qg_node *node) {
    const qg_layout *layout = v->code->layout;
    if (node->op == QG_TABLE) {
        const qg_table *table = &layout->tables[node->ref];
        return is_between(node->arg[0], 0, table->rows - 1) &&
               (node->n_args < 2 || is_between(node->arg[1], 0, table->columns - 1));
    }
    if (node->op != QG_LOAD || node->ref < layout->n_buffers) return true;
    return is_between(node->arg[0], 0, qg_table_size(&layout->tables[node->ref - layout->n_buffers]) - 1);
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
    const uint64_t unit = four ? 32 : (uint64_t)node->integer, words = (uint64_t)buffer->bytes * 8 / unit;
    const uint64_t at_once = four ? 4 : wide ? 32 / unit : 1;
    const reach r = reach_of(node->arg[0], tile);
    if (!r.known || words * unit != (uint64_t)buffer->bytes * 8) return false;
    const uint64_t scale = four ? 4 : 1; /* words that an index counts */
    /* The last word is at most (of_block * block + rest) * scale / by + at_once - 1. */
    const uint64_t of_block = r.of_block * scale, rest = r.rest * scale,
                   last = words + words_beyond(v->code, node->ref, unit);
    return of_block == words * r.by && rest / r.by + at_once <= last;
}

/* Of all tiles at once, or else of each of them, where ranges are narrower. */
static bool is_proven(const verifier *v, const qg_node *node) {
    if (v->code->layout->view != QG_VIEW_BLOCKS) return false;
    if (stays_in_block(v, node, ANY_TILE)) return true;
    bool proven = true;
    for (uint32_t tile = 0; tile < v->step->plan->tiles && proven; ++tile) proven = stays_in_block(v, node, tile);
    return proven;
}

/* Where blocks are patches of a matrix, an index depends on the tensor's shape; dispatch checks that. */
static const char *check_load(verifier *v, const qg_node *node) {
    const bool load = node->op == QG_LOAD || node->op == QG_LOAD_FOUR || node->op == QG_LOAD_WIDE;
    if (!load || node->ref >= v->code->layout->n_buffers) return NULL;
    qg_load_proof *proof = &v->proofs[node->ref];
    const bool proven = is_proven(v, node);
    proof->proven += proven;
    proof->guarded += !proven;
    return proven || v->code->layout->view != QG_VIEW_BLOCKS ? NULL : "it may load what is not of its block";
}

/* ---- all of it ---- */

static const char *check_node(const verifier *v, const qg_node *node) {
    if (!is_typed(node)) return "its operands are not of its type";
    if (!shifts_below_width(node)) return "it may shift by 32 bits or more";
    if (!has_x(v, node)) return "it takes what is not kept of x";
    if (!is_in_table(v, node)) return "its index may be beyond the table";
    return NULL;
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
    const uint32_t outputs = values ? v->step->plan->n_runs : 1;
    if (!v->step->of_unit && code->n_outputs != outputs)
        return qg_format(v->arena, "it has %u results, must have %u", code->n_outputs, outputs);
    for (uint32_t i = 0; i < code->n_nodes; ++i) {
        const qg_node *node = code->nodes[i];
        if (!node->used) continue;
        const char *why = check_node(v, node);
        if (!why) why = check_load(v, node);
        if (why) return qg_format(v->arena, "%%%u: %s", i, why);
    }
    return check_statements(code);
}

const char *qg_verify(qg_arena *arena, const qg_program *program, qg_load_proof *proofs) {
    for (uint32_t s = 0; s < program->n_steps; ++s) {
        const qg_step *step = &program->steps[s];
        const uint32_t n = step->code->layout->n_buffers;
        qg_load_proof *of_step = QG_NEW_ARRAY(arena, qg_load_proof, n);
        verifier v = {arena, step, step->code, of_step};
        const char *why = check_step(&v, program);
        if (why) return qg_format(arena, "step %s: %s", step->name, why);
        for (uint32_t b = 0; proofs && b < n; ++b) proofs[s * n + b] = of_step[b];
    }
    return NULL;
}
