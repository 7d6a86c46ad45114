/* The IR: unique, immutable expressions and the statements that name some of them.
 *
 * Nothing here is scheduled. An expression that was given a name becomes a statement where the name
 * was given; all others are printed at their use. So whoever builds the IR decides how it reads,
 * and building the same thing twice costs nothing. */
#include "ir/ir.h"

#include <stdlib.h>
#include <string.h>

qg_ir *qg_ir_new(qg_arena *arena, const qg_layout *layout) {
    qg_ir *ir = QG_NEW(arena, qg_ir);
    ir->arena = arena;
    ir->layout = layout;
    ir->x = "x";
    ir->hash_size = 256;
    ir->hash = QG_NEW_ARRAY(arena, uint32_t, ir->hash_size);
    return ir;
}

/* ---- unique nodes ---- */

static uint32_t hash_node(const qg_node *node) {
    uint64_t h = 0x9E3779B97F4A7C15u;
    uint32_t real_bits;
    memcpy(&real_bits, &node->real, sizeof real_bits);
    const uint64_t parts[] = {(uint64_t)node->op, (uint64_t)node->kind,    node->lanes,
                              node->ref,          (uint64_t)node->integer, real_bits};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) h = (h ^ parts[i]) * 0xFF51AFD7ED558CCDu;
    for (uint32_t i = 0; i < node->n_args; ++i) h = (h ^ (uint64_t)(uintptr_t)node->arg[i]) * 0xFF51AFD7ED558CCDu;
    return (uint32_t)(h >> 32);
}

static bool same_node(const qg_node *a, const qg_node *b) {
    if (a->op != b->op || a->kind != b->kind || a->lanes != b->lanes || a->ref != b->ref || a->integer != b->integer ||
        a->n_args != b->n_args || memcmp(&a->real, &b->real, sizeof a->real) != 0)
        return false;
    for (uint32_t i = 0; i < a->n_args; ++i)
        if (a->arg[i] != b->arg[i]) return false;
    return a->op != QG_ARG || strcmp(a->name, b->name) == 0;
}

static void rehash(qg_ir *ir) {
    ir->hash_size *= 2;
    ir->hash = QG_NEW_ARRAY(ir->arena, uint32_t, ir->hash_size);
    for (uint32_t i = 0; i < ir->n_nodes; ++i) {
        uint32_t slot = hash_node(ir->nodes[i]) % ir->hash_size;
        while (ir->hash[slot]) slot = (slot + 1) % ir->hash_size;
        ir->hash[slot] = i + 1;
    }
}

static const qg_node *unique(qg_ir *ir, const qg_node *node) {
    uint32_t slot = hash_node(node) % ir->hash_size;
    for (; ir->hash[slot]; slot = (slot + 1) % ir->hash_size) {
        const qg_node *known = ir->nodes[ir->hash[slot] - 1];
        if (same_node(known, node)) return known;
    }
    qg_node *copy = QG_NEW(ir->arena, qg_node);
    *copy = *node;
    QG_PUSH(ir->arena, ir->nodes, ir->n_nodes, ir->nodes_capacity, copy);
    ir->hash[slot] = ir->n_nodes;
    if (ir->n_nodes * 2 > ir->hash_size) rehash(ir);
    return copy;
}

/* ---- leaves ---- */

const qg_node *qg_uint(qg_ir *ir, uint32_t value) {
    return unique(ir, &(qg_node){.op = QG_CONST, .kind = QG_K_UINT, .lanes = 1, .integer = value, .max = value});
}

const qg_node *qg_int(qg_ir *ir, int64_t value) {
    return unique(ir, &(qg_node){.op = QG_CONST, .kind = QG_K_INT, .lanes = 1, .integer = value});
}

const qg_node *qg_real(qg_ir *ir, float value) {
    return unique(ir, &(qg_node){.op = QG_CONST, .kind = QG_K_FLOAT, .lanes = 1, .real = value});
}

const qg_node *qg_arg(qg_ir *ir, const char *name, uint64_t extent) {
    return unique(ir, &(qg_node){.op = QG_ARG, .kind = QG_K_UINT, .lanes = 1, .name = name, .max = extent - 1});
}

/* ---- operations ---- */

static bool is_constant(const qg_node *node, int64_t value) {
    return node->op == QG_CONST && node->kind != QG_K_FLOAT && node->integer == value;
}

static uint64_t unsigned_max(qg_op op, const qg_node *a, const qg_node *b) {
    const uint64_t full = UINT32_MAX;
    uint64_t max = full;
    switch (op) {
    case QG_ADD: max = a->max + b->max; break;
    case QG_MUL: max = b->max && a->max > full / b->max ? full : a->max * b->max; break;
    case QG_AND: max = a->max < b->max ? a->max : b->max; break;
    case QG_OR:
    case QG_XOR:
        for (max = 1; max <= a->max || max <= b->max; max *= 2) continue;
        max -= 1;
        break;
    case QG_SHL: max = b->op == QG_CONST ? a->max << b->integer : full; break;
    case QG_SHR: max = b->op == QG_CONST ? a->max >> b->integer : a->max; break;
    case QG_DIV: max = b->op == QG_CONST && b->integer ? a->max / (uint64_t)b->integer : a->max; break;
    case QG_MOD: max = b->max ? b->max - 1 : full; break;
    case QG_MIN: max = a->max < b->max ? a->max : b->max; break;
    default: break;
    }
    return max > full ? full : max;
}

static uint32_t lanes_of(const qg_node *a, const qg_node *b, const qg_node *c) {
    uint32_t lanes = a->lanes;
    if (b && b->lanes > lanes) lanes = b->lanes;
    if (c && c->lanes > lanes) lanes = c->lanes;
    return lanes;
}

static const qg_node *fold_unsigned(qg_ir *ir, qg_op op, uint32_t a, uint32_t b) {
    switch (op) {
    case QG_ADD: return qg_uint(ir, a + b);
    case QG_SUB: return qg_uint(ir, a - b);
    case QG_MUL: return qg_uint(ir, a * b);
    case QG_DIV: return b ? qg_uint(ir, a / b) : NULL;
    case QG_MOD: return b ? qg_uint(ir, a % b) : NULL;
    case QG_AND: return qg_uint(ir, a & b);
    case QG_OR: return qg_uint(ir, a | b);
    case QG_XOR: return qg_uint(ir, a ^ b);
    case QG_SHL: return b < 32 ? qg_uint(ir, a << b) : NULL;
    case QG_SHR: return b < 32 ? qg_uint(ir, a >> b) : NULL;
    case QG_MIN: return qg_uint(ir, a < b ? a : b);
    default: return NULL;
    }
}

/* Identities of unsigned arithmetic that hold without knowing the operands; NULL when none applies. */
static const qg_node *simplify_unsigned(qg_ir *ir, qg_op op, const qg_node *a, const qg_node *b) {
    if (a->op == QG_CONST && b->op == QG_CONST)
        return fold_unsigned(ir, op, (uint32_t)a->integer, (uint32_t)b->integer);
    const bool zero_right = is_constant(b, 0), one_right = is_constant(b, 1);
    switch (op) {
    case QG_ADD:
    case QG_OR:
    case QG_XOR:
        if (is_constant(a, 0)) return b;
        return zero_right ? a : NULL;
    case QG_SUB:
    case QG_SHL:
    case QG_SHR: return zero_right ? a : NULL;
    case QG_MUL:
        if (is_constant(a, 1)) return b;
        if (is_constant(a, 0)) return a;
        return one_right ? a : zero_right ? b : NULL;
    case QG_DIV: return one_right ? a : NULL;
    case QG_MOD: return one_right ? qg_uint(ir, 0) : NULL;
    case QG_MIN: return b->op == QG_CONST && a->max <= b->max ? a : NULL;
    case QG_AND: {
        const uint64_t mask = b->op == QG_CONST ? (uint64_t)b->integer : 0;
        return mask && (mask & (mask + 1)) == 0 && a->max <= mask ? a : NULL;
    }
    default: return NULL;
    }
}

static bool is_comparison(qg_op op) { return op >= QG_EQ && op <= QG_GE; }

static qg_kind result_kind(qg_op op, const qg_node *a, const qg_node *b) {
    if (is_comparison(op)) return QG_K_BOOL;
    if (op == QG_SELECT) return b->kind;
    if (op == QG_TO_FLOAT) return QG_K_FLOAT;
    if (op == QG_TO_INT) return QG_K_INT;
    if (op == QG_TO_UINT) return QG_K_UINT;
    return a->kind;
}

/* A word that is shifted by what is not known and a number: first by the former, which others want, too. */
static const qg_node *shift_in_turn(qg_ir *ir, const qg_node *word, const qg_node *by) {
    const qg_node *shifted = qg_let(ir, qg_apply(ir, QG_SHR, word, by->arg[0], NULL), "shifted", NULL);
    return qg_apply(ir, QG_SHR, shifted, by->arg[1], NULL);
}

const qg_node *qg_apply(qg_ir *ir, qg_op op, const qg_node *a, const qg_node *b, const qg_node *c) {
    if (a->kind == QG_K_UINT && b && !c && !is_comparison(op)) {
        const qg_node *simple = simplify_unsigned(ir, op, a, b);
        if (simple) return simple;
    }
    if (ir->masked && op == QG_SHR && a->op == QG_LOAD && b->op == QG_ADD && b->arg[1]->op == QG_CONST && !b->name)
        return shift_in_turn(ir, a, b);
    if (op == QG_TO_FLOAT && ir->masked) {
        const qg_node *half = qg_scalar_as_half(ir, a);
        if (half) return half;
    }
    if (op == QG_TO_INT && a->kind == QG_K_INT) return a;
    if (op == QG_TO_UINT && a->op == QG_TO_INT && a->arg[0]->kind == QG_K_UINT && !a->name) return a->arg[0];
    if (op == QG_TO_FLOAT && a->op == QG_CONST) return qg_real(ir, (float)a->integer);
    if (op == QG_TO_INT && a->op == QG_CONST) return qg_int(ir, a->integer);
    if (op == QG_TO_INT && a->op == QG_VECTOR && !a->name) {
        const qg_node *lanes[QG_MAX_LANES] = {NULL};
        for (uint32_t i = 0; i < a->n_args; ++i) lanes[i] = qg_apply(ir, QG_TO_INT, a->arg[i], NULL, NULL);
        return qg_vector(ir, lanes, a->n_args);
    }
    if (op == QG_TO_FLOAT && a->op == QG_VECTOR &&
        a->kind != QG_K_FLOAT) { /* a vector's constructor converts as well */
        qg_node vector = *a;
        vector.kind = QG_K_FLOAT;
        vector.name = vector.comment = NULL;
        return unique(ir, &vector);
    }
    qg_node node = {.op = op, .kind = result_kind(op, a, b), .lanes = lanes_of(a, b, c), .n_args = c ? 3 : b ? 2 : 1};
    node.arg[0] = a;
    node.arg[1] = b;
    node.arg[2] = c;
    node.max = node.kind == QG_K_UINT && b ? unsigned_max(op, a, b) : UINT32_MAX;
    node.precise = node.kind == QG_K_FLOAT && (op == QG_ADD || op == QG_SUB || op == QG_MUL);
    return unique(ir, &node);
}

const qg_node *qg_load(qg_ir *ir, uint32_t buffer, uint32_t unit, const qg_node *index) {
    const uint64_t max = unit == 32 ? UINT32_MAX : (UINT64_C(1) << unit) - 1;
    return unique(ir, &(qg_node){.op = QG_LOAD,
                                 .kind = QG_K_UINT,
                                 .lanes = 1,
                                 .ref = buffer,
                                 .integer = unit,
                                 .max = max,
                                 .n_args = 1,
                                 .arg = {index}});
}

const qg_node *qg_load_four(qg_ir *ir, uint32_t buffer, const qg_node *index) {
    return unique(ir, &(qg_node){.op = QG_LOAD_FOUR,
                                 .kind = QG_K_UINT,
                                 .lanes = 4,
                                 .ref = buffer,
                                 .integer = 32,
                                 .max = UINT32_MAX,
                                 .n_args = 1,
                                 .arg = {index}});
}

const qg_node *qg_load_bytes(qg_ir *ir, uint32_t buffer, const qg_node *index, bool with_sign) {
    return unique(ir, &(qg_node){.op = with_sign ? QG_LOAD_I8 : QG_LOAD_U8,
                                 .kind = with_sign ? QG_K_INT : QG_K_UINT,
                                 .lanes = 4,
                                 .ref = buffer,
                                 .integer = 8,
                                 .max = with_sign ? UINT32_MAX : 255,
                                 .n_args = 1,
                                 .arg = {index}});
}

const qg_node *qg_load_wide(qg_ir *ir, uint32_t buffer, uint32_t unit, const qg_node *index) {
    return unique(ir, &(qg_node){.op = QG_LOAD_WIDE,
                                 .kind = QG_K_UINT,
                                 .lanes = 1,
                                 .ref = buffer,
                                 .integer = unit,
                                 .max = UINT32_MAX,
                                 .n_args = 1,
                                 .arg = {index}});
}

qg_kind qg_table_kind(const qg_table *table) {
    const qg_scalar_kind stored = qg_scalars[table->type].kind;
    return stored == QG_FLOATING ? QG_K_FLOAT : stored == QG_SIGNED ? QG_K_INT : QG_K_UINT;
}

const qg_node *qg_lookup(qg_ir *ir, uint32_t table, const qg_node *row, const qg_node *column) {
    const qg_kind kind = qg_table_kind(&ir->layout->tables[table]);
    return unique(ir, &(qg_node){.op = QG_TABLE,
                                 .kind = kind,
                                 .lanes = 1,
                                 .ref = table,
                                 .max = UINT32_MAX,
                                 .n_args = column ? 2 : 1,
                                 .arg = {row, column}});
}

static const qg_node *pairs_of(qg_ir *ir, qg_op op, uint32_t table, const qg_node *codes) {
    return unique(
        ir, &(qg_node){
                .op = op, .kind = QG_K_UINT, .lanes = 1, .ref = table, .max = UINT32_MAX, .n_args = 1, .arg = {codes}});
}

const qg_node *qg_pairs(qg_ir *ir, uint32_t table, const qg_node *codes) {
    return pairs_of(ir, QG_PAIRS, table, codes);
}

const qg_node *qg_pair(qg_ir *ir, uint32_t table, const qg_node *codes) { return pairs_of(ir, QG_PAIR, table, codes); }

const qg_node *qg_two(qg_ir *ir, uint32_t table, const qg_node *codes) {
    return unique(ir,
                  &(qg_node){.op = QG_TWO, .kind = QG_K_FLOAT, .lanes = 2, .ref = table, .n_args = 1, .arg = {codes}});
}

const qg_node *qg_vector(qg_ir *ir, const qg_node *const *lanes, uint32_t count) {
    if (count == 1) return lanes[0];
    qg_node node = {.op = QG_VECTOR, .kind = lanes[0]->kind, .lanes = count, .n_args = count};
    for (uint32_t i = 0; i < count; ++i) {
        node.arg[i] = lanes[i];
        if (lanes[i]->max > node.max) node.max = lanes[i]->max;
    }
    return unique(ir, &node);
}

const qg_node *qg_lane(qg_ir *ir, const qg_node *vector, uint32_t lane) {
    if (vector->lanes == 1) return vector;
    if (vector->op == QG_VECTOR && !vector->name) return vector->arg[lane];
    return unique(ir, &(qg_node){.op = QG_LANE,
                                 .kind = vector->kind,
                                 .lanes = 1,
                                 .integer = lane,
                                 .max = vector->max,
                                 .n_args = 1,
                                 .arg = {vector}});
}

const qg_node *qg_splat(qg_ir *ir, const qg_node *scalar, uint32_t lanes) {
    if (scalar->lanes == lanes) return scalar;
    return unique(
        ir,
        &(qg_node){
            .op = QG_SPLAT, .kind = scalar->kind, .lanes = lanes, .max = scalar->max, .n_args = 1, .arg = {scalar}});
}

const qg_node *qg_sign_extend(qg_ir *ir, const qg_node *bits, uint32_t width) {
    const qg_node *as_int = qg_apply(ir, QG_TO_INT, bits, NULL, NULL);
    if (width == 32) return as_int;
    return unique(
        ir, &(qg_node){
                .op = QG_SEXT, .kind = QG_K_INT, .lanes = bits->lanes, .integer = width, .n_args = 1, .arg = {as_int}});
}

const qg_node *qg_dot(qg_ir *ir, uint32_t run, const qg_node *vector) {
    return unique(
        ir, &(qg_node){.op = QG_DOT, .kind = QG_K_FLOAT, .lanes = 1, .integer = run, .n_args = 1, .arg = {vector}});
}

bool qg_is_added_dot(const qg_ir *ir, const qg_node *node) {
    return ir->own_units && !ir->half && node->op == QG_ADD && node->arg[1]->op == QG_DOT && !node->arg[1]->name &&
           node->arg[1]->arg[0]->lanes == QG_MAX_LANES;
}

bool qg_is_of_x(const qg_node *node) {
    if (node->op == QG_DOT || node->op == QG_X_SUM) return true;
    const bool sum = node->op == QG_ADD || node->op == QG_SUB || node->op == QG_MUL || node->op == QG_NEG;
    for (uint32_t i = 0; i < node->n_args && sum && node->kind == QG_K_FLOAT; ++i)
        if (qg_is_of_x(node->arg[i])) return true;
    return false;
}

const qg_node *qg_dot4(qg_ir *ir, uint32_t quad, const qg_node *bytes, bool with_sign) {
    return unique(ir, &(qg_node){.op = QG_DOT4,
                                 .kind = QG_K_INT,
                                 .lanes = 1,
                                 .integer = quad,
                                 .ref = with_sign,
                                 .n_args = 1,
                                 .arg = {bytes}});
}

bool qg_meets_signed(const qg_node *dot4) { return dot4->ref || dot4->arg[0]->kind == QG_K_INT; }

const qg_node *qg_x_digits(qg_ir *ir, uint64_t runs) {
    uint32_t at = 0;
    while (at < ir->n_x_digits && ir->x_digits[at] != runs) ++at;
    if (at == ir->n_x_digits) QG_PUSH(ir->arena, ir->x_digits, ir->n_x_digits, ir->x_digits_capacity, runs);
    return unique(ir, &(qg_node){.op = QG_X_DIGITS, .kind = QG_K_INT, .lanes = 1, .integer = at});
}

const qg_node *qg_digits(qg_ir *ir, const qg_node *sum) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < ir->n_nodes; ++i) number += ir->nodes[i]->op == QG_DIGITS;
    return unique(
        ir, &(qg_node){.op = QG_DIGITS, .kind = QG_K_FLOAT, .lanes = 1, .integer = number, .n_args = 1, .arg = {sum}});
}

const qg_node *qg_x_step(qg_ir *ir, uint32_t step) {
    return unique(ir, &(qg_node){.op = QG_X_STEP, .kind = QG_K_FLOAT, .lanes = 1, .integer = step});
}

const qg_node *qg_halves_of(qg_ir *ir, const qg_node *word) {
    return unique(ir, &(qg_node){.op = QG_HALVES, .kind = QG_K_FLOAT, .lanes = 2, .n_args = 1, .arg = {word}});
}

const qg_node *qg_x_sum(qg_ir *ir, uint64_t runs, float factor) {
    uint32_t at = 0, known = ir->n_x_sums;
    while (at < known && (ir->x_sums[at] != runs || ir->x_sum_factors[at] != factor)) ++at;
    if (at == known) {
        QG_PUSH(ir->arena, ir->x_sum_factors, known, ir->x_sum_factors_capacity, factor);
        QG_PUSH(ir->arena, ir->x_sums, ir->n_x_sums, ir->x_sums_capacity, runs);
    }
    return unique(ir, &(qg_node){.op = QG_X_SUM, .kind = QG_K_FLOAT, .lanes = 1, .integer = at});
}

const qg_node *qg_float_bits(qg_ir *ir, qg_scalar type, const qg_node *bits) {
    const qg_op op = type == QG_F16 ? QG_F16_BITS : type == QG_BF16 ? QG_BF16_BITS : QG_F32_BITS;
    if (op != QG_F32_BITS && bits->op == QG_AND && is_constant(bits->arg[1], 0xFFFF) && !bits->name)
        bits = bits->arg[0];
    return unique(ir, &(qg_node){.op = op, .kind = QG_K_FLOAT, .lanes = bits->lanes, .n_args = 1, .arg = {bits}});
}

/* True when F16 or BF16 is known to hold each lane. */
static bool holds(qg_scalar type, const qg_node *node) {
    const uint32_t digits = qg_scalars[type].mantissa_bits + 1;
    const qg_op own = type == QG_F16 ? QG_F16_BITS : QG_BF16_BITS;
    if (node->op == own || node->op == (type == QG_F16 ? QG_ROUND_F16 : QG_ROUND_BF16)) return true;
    if (node->op == QG_TO_FLOAT) return node->arg[0]->kind == QG_K_UINT && node->arg[0]->max <= UINT64_C(1) << digits;
    if (node->op == QG_CONST) return node->real == 0 || node->real == 1;
    if (node->op != QG_VECTOR) return false;
    for (uint32_t i = 0; i < node->n_args; ++i) {
        const qg_node *lane = node->arg[i];
        const bool good = lane->kind == QG_K_FLOAT ? holds(type, lane)
                                                   : lane->kind == QG_K_UINT && lane->max <= UINT64_C(1) << digits;
        if (!good) return false;
    }
    return true;
}

const qg_node *qg_round(qg_ir *ir, qg_scalar type, const qg_node *node) {
    if (type == QG_F32 || holds(type, node)) return node;
    return unique(ir, &(qg_node){.op = type == QG_F16 ? QG_ROUND_F16 : QG_ROUND_BF16,
                                 .kind = QG_K_FLOAT,
                                 .lanes = node->lanes,
                                 .n_args = 1,
                                 .arg = {node}});
}

/* ---- statements ---- */

/* Nodes are immutable to everyone but their builder. */
static qg_node *own(qg_ir *ir, const qg_node *node) {
    for (uint32_t i = ir->n_nodes; i-- > 0;)
        if (ir->nodes[i] == node) return ir->nodes[i];
    abort();
}

const qg_node *qg_let(qg_ir *ir, const qg_node *node, const char *name, const char *comment) {
    if (node->name || node->op == QG_CONST) return node;
    qg_node *statement = own(ir, node);
    statement->name = name;
    statement->comment = comment;
    QG_PUSH(ir->arena, ir->statements, ir->n_statements, ir->statements_capacity, node);
    return node;
}

void qg_output(qg_ir *ir, const qg_node *node, const char *comment) {
    const struct qg_output output = {node, comment, 0};
    QG_PUSH(ir->arena, ir->outputs, ir->n_outputs, ir->outputs_capacity, output);
}

static bool listed(const char *const *names, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; ++i)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static void number_names(qg_ir *ir, const char *const *reserved, uint32_t count) {
    const uint32_t n = ir->n_statements;
    const char **chosen = QG_NEW_ARRAY(ir->arena, const char *, n + 1);
    for (uint32_t i = 0; i < n; ++i) {
        const char *base = ir->statements[i]->name;
        uint32_t before = 0, all = 0;
        for (uint32_t j = 0; j < n; ++j) {
            if (strcmp(ir->statements[j]->name, base) != 0) continue;
            before += j < i;
            all += 1;
        }
        const char *name = all > 1 ? qg_format(ir->arena, "%s%u", base, before) : base;
        while (listed(reserved, count, name) || listed(chosen, i, name)) name = qg_format(ir->arena, "%s_", name);
        chosen[i] = name;
    }
    for (uint32_t i = 0; i < n; ++i) own(ir, ir->statements[i])->name = chosen[i];
}

/* Appends what a node needs, operands first. The depth is that of the value's expression, which the parser bounds. */
static void order(qg_ir *ir, const qg_node *node) {
    if (node->used) return;
    own(ir, node)->used = true;
    if (node->op == QG_ARG) return;
    for (uint32_t i = 0; i < node->n_args; ++i) order(ir, node->arg[i]);
    if (node->name) QG_PUSH(ir->arena, ir->statements, ir->n_statements, ir->statements_capacity, node);
}

static void order_all(qg_ir *ir) {
    ir->statements = NULL;
    ir->n_statements = ir->statements_capacity = 0;
    for (uint32_t i = 0; i < ir->n_nodes; ++i) ir->nodes[i]->used = false;
    for (uint32_t i = 0; i < ir->n_outputs; ++i) {
        order(ir, ir->outputs[i].node);
        ir->outputs[i].after = ir->n_statements;
    }
}

void qg_finish(qg_ir *ir, const char *const *reserved, uint32_t count) {
    order_all(ir);
    if (ir->gathers) {
        qg_choose_names(ir);
        order_all(ir);
        qg_gather(ir);
    }
    number_names(ir, reserved, count);
}

/* ---- dump ---- */

static void dump_operand(qg_text *text, const qg_ir *ir, const qg_node *node) {
    if (node->op == QG_CONST && node->kind == QG_K_FLOAT) {
        qg_text_printf(text, " %a", (double)node->real);
    } else if (node->op == QG_CONST) {
        const bool mask = node->kind == QG_K_UINT && node->integer > 0xFFFF;
        qg_text_printf(text, mask ? " 0x%llX" : " %lld", (long long)node->integer);
    } else if (node->name) {
        qg_text_printf(text, " %s", node->name);
    } else {
        uint32_t number = 0;
        while (number < ir->n_nodes && ir->nodes[number] != node) ++number;
        qg_text_printf(text, " %%%u", number);
    }
}

static void dump_sets(qg_text *text, const char *what, const uint64_t *sets, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        qg_text_printf(text, "%s #%u: runs", what, i);
        for (uint32_t r = 0; r < 64; ++r)
            if (sets[i] >> r & 1) qg_text_printf(text, " %u", r);
        qg_text_puts(text, "\n");
    }
}

/* What is asked of x in a sum: factors of a run, where they are not 1, and the runs that are summed up. */
static void dump_x(qg_text *text, const qg_ir *ir) {
    for (uint32_t r = 0; r < ir->n_x_factors; ++r) {
        const float *factor = ir->x_factors[r];
        bool one = true;
        for (uint32_t i = 0; i < ir->x_lanes; ++i) one &= factor[i] == 1.0f;
        if (one) continue;
        qg_text_printf(text, "x %u times:", r);
        for (uint32_t i = 0; i < ir->x_lanes; ++i) qg_text_printf(text, " %a", (double)factor[i]);
        qg_text_puts(text, "\n");
    }
    for (uint32_t i = 0; i < ir->n_x_quads; ++i) {
        const uint16_t *e = ir->x_quads[i].element;
        qg_text_printf(text, "x quad #%u: elements %u %u %u %u\n", i, e[0], e[1], e[2], e[3]);
    }
    dump_sets(text, "x sum", ir->x_sums, ir->n_x_sums);
    dump_sets(text, "x digits", ir->x_digits, ir->n_x_digits);
}

/* One line for each node that an output needs and that is neither a constant nor an argument: number, type, operation,
 * operands, name. */
char *qg_dump_ir(qg_arena *arena, const qg_ir *ir) {
    static const char *const kinds[] = {"bool", "u32", "i32", "f32"};
    static const char *const names[] = {
#define O(id, name, arity, rule, strength, glsl, msl, c) name,
#include "spec/ops.def"
#undef O
    };
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < ir->n_nodes; ++i) {
        const qg_node *node = ir->nodes[i];
        if (!node->used || node->op == QG_CONST || node->op == QG_ARG) continue;
        qg_text_printf(&text, "%%%-4u %sx%u %s", i, kinds[node->kind], node->lanes, names[node->op]);
        if (node->op == QG_LOAD || node->op == QG_LOAD_WIDE)
            qg_text_printf(&text, " %s:%lld", qg_load_name(ir->layout, node->ref), (long long)node->integer);
        if (node->op == QG_TABLE || node->op == QG_PAIRS || node->op == QG_PAIR || node->op == QG_TWO)
            qg_text_printf(&text, " %s", ir->layout->tables[node->ref].name);
        if (node->op == QG_SEXT || node->op == QG_LANE || node->op == QG_DOT || node->op == QG_X_SUM ||
            node->op == QG_DOT4 || node->op == QG_X_DIGITS || node->op == QG_X_STEP)
            qg_text_printf(&text, " #%lld", (long long)node->integer);
        for (uint32_t a = 0; a < node->n_args; ++a) dump_operand(&text, ir, node->arg[a]);
        if (node->name) qg_text_printf(&text, "  -> %s", node->name);
        qg_text_puts(&text, "\n");
    }
    for (uint32_t i = 0; i < ir->n_outputs; ++i) {
        qg_text_printf(&text, "output %u:", i);
        dump_operand(&text, ir, ir->outputs[i].node);
        qg_text_puts(&text, "\n");
    }
    dump_x(&text, ir);
    return text.data;
}
