/* Which values a half can hold: from what is known of codes, tables and constants. */
#include "matrix.h"

#include <math.h>

static const double HALF_STEPS = 2048; /* integers up to here are exact as halves */

/* A value is a multiple of 2^quantum, and not larger than `most`; or it is a half. */
typedef struct known {
    bool good, half;
    int quantum;
    double most;
} known;

static known known_of(const qg_ir *ir, const qg_node *node);

static known integer_up_to(double most) { return (known){.good = true, .most = most}; }

static known either(known a, known b) {
    return (known){a.good && b.good, a.half && b.half, a.quantum < b.quantum ? a.quantum : b.quantum,
                   a.most > b.most ? a.most : b.most};
}

static known known_number(double value) {
    known k = {.good = true, .most = fabs(value)};
    if (value == 0) return k;
    k.quantum = 30;
    while (k.quantum > -60 && fmod(value, ldexp(1, k.quantum)) != 0) --k.quantum;
    return k;
}

static known known_table(const qg_table *table) {
    known k = known_number(table->values[0]);
    for (uint32_t i = 1; i < table->rows * table->columns; ++i) k = either(k, known_number(table->values[i]));
    return k;
}

static bool of_stored_table(const qg_ir *ir, const qg_node *node, const qg_table **table) {
    if ((node->op == QG_LOAD || node->op == QG_LOAD_WIDE) && node->ref >= ir->layout->n_buffers) {
        *table = &ir->layout->tables[node->ref - ir->layout->n_buffers];
        return true;
    }
    for (uint32_t i = 0; i < node->n_args; ++i)
        if (of_stored_table(ir, node->arg[i], table)) return true;
    return false;
}

static known known_operation(const qg_ir *ir, const qg_node *node) {
    const known a = known_of(ir, node->arg[0]);
    const known b = node->n_args > 1 ? known_of(ir, node->arg[1]) : (known){.good = false};
    switch (node->op) {
    case QG_ADD:
    case QG_SUB:
        return (known){a.good && b.good && !a.half && !b.half, false, a.quantum < b.quantum ? a.quantum : b.quantum,
                       a.most + b.most};
    case QG_MUL: return (known){a.good && b.good && !a.half && !b.half, false, a.quantum + b.quantum, a.most * b.most};
    default: return a;
    }
}

static known known_of(const qg_ir *ir, const qg_node *node) {
    const qg_table *table = NULL;
    switch (node->op) {
    case QG_CONST: return known_number(node->kind == QG_K_FLOAT ? (double)node->real : (double)node->integer);
    case QG_F16_BITS: return (known){.good = true, .half = true};
    case QG_F32_BITS:
    case QG_BF16_BITS: return of_stored_table(ir, node, &table) ? known_table(table) : (known){.good = false};
    case QG_SEXT: return integer_up_to(ldexp(1, (int)node->integer - 1));
    case QG_TABLE: return known_table(&ir->layout->tables[node->ref]);
    case QG_SELECT: return either(known_of(ir, node->arg[1]), known_of(ir, node->arg[2]));
    case QG_VECTOR: {
        known k = known_of(ir, node->arg[0]);
        for (uint32_t i = 1; i < node->n_args; ++i) k = either(k, known_of(ir, node->arg[i]));
        return k;
    }
    case QG_TO_FLOAT:
    case QG_TO_INT:
    case QG_NEG:
    case QG_SPLAT:
    case QG_LANE: return known_of(ir, node->arg[0]);
    case QG_ADD:
    case QG_SUB:
    case QG_MUL:
        if (node->kind == QG_K_UINT) break;
        return known_operation(ir, node);
    default: break;
    }
    if (node->kind == QG_K_UINT) return integer_up_to((double)node->max);
    return (known){.good = false};
}

bool qg_is_half(const qg_ir *ir, const qg_node *node) {
    const known k = known_of(ir, node);
    if (!k.good || k.half) return k.good;
    return k.most < 65504 && k.quantum >= -24 && k.most <= ldexp(HALF_STEPS, k.quantum);
}
