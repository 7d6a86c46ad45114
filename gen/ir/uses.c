/* What an IR uses. */
#include "ir/ir.h"

#include <string.h>

bool qg_uses_argument(const qg_ir *ir, const char *name) {
    for (uint32_t i = 0; i < ir->n_nodes; ++i)
        if (ir->nodes[i]->used && ir->nodes[i]->op == QG_ARG && strcmp(ir->nodes[i]->name, name) == 0) return true;
    return false;
}

bool qg_reads_table(const qg_ir *ir, uint32_t table) {
    if (qg_loads(ir, QG_LOAD, ir->layout->n_buffers + table)) return true;
    for (uint32_t i = 0; i < ir->n_nodes; ++i)
        if (ir->nodes[i]->used && ir->nodes[i]->op == QG_TABLE && ir->nodes[i]->ref == table) return true;
    return false;
}

uint32_t qg_wide_unit(const qg_ir *ir, uint32_t buffer) {
    for (uint32_t i = 0; i < ir->n_nodes; ++i)
        if (ir->nodes[i]->used && ir->nodes[i]->op == QG_LOAD_WIDE && ir->nodes[i]->ref == buffer)
            return (uint32_t)ir->nodes[i]->integer;
    return 0;
}

bool qg_loads(const qg_ir *ir, qg_op op, uint32_t buffer) {
    for (uint32_t i = 0; i < ir->n_nodes; ++i)
        if (ir->nodes[i]->used && ir->nodes[i]->op == op && ir->nodes[i]->ref == buffer) return true;
    return false;
}

bool qg_loads_units(const qg_ir *ir, uint32_t buffer, uint32_t unit) {
    for (uint32_t i = 0; i < ir->n_nodes; ++i)
        if (ir->nodes[i]->used && ir->nodes[i]->op == QG_LOAD && ir->nodes[i]->ref == buffer &&
            ir->nodes[i]->integer == unit)
            return true;
    return false;
}

const char *qg_alias(const qg_ir *ir, uint32_t buffer, uint32_t unit) {
    if (!ir->own_units || buffer >= ir->layout->n_buffers || ir->own_units[buffer] == unit) return "";
    return unit == 32 ? "_word" : "_half";
}

bool qg_uses(const qg_ir *ir, qg_op op) {
    for (uint32_t i = 0; i < ir->n_nodes; ++i)
        if (ir->nodes[i]->used && ir->nodes[i]->op == op) return true;
    return false;
}

const char *qg_load_name(const qg_layout *layout, uint32_t ref) {
    return ref < layout->n_buffers ? layout->buffers[ref].name : layout->tables[ref - layout->n_buffers].name;
}

/* Whether all users of a node, or of the vectors that it is in, make floats of it. */
static bool only_as_float(const qg_ir *ir, const qg_node *node) {
    for (uint32_t i = 0; i < ir->n_nodes; ++i) {
        const qg_node *user = ir->nodes[i];
        for (uint32_t k = 0; user->used && k < user->n_args; ++k) {
            if (user->arg[k] != node || user->op == QG_TO_FLOAT) continue;
            if (user->op == QG_VECTOR && user->kind == QG_K_FLOAT) continue; /* its constructor converts */
            if (user->op != QG_VECTOR || !only_as_float(ir, user)) return false;
        }
    }
    return true;
}

bool qg_looks_up_floats(const qg_ir *ir, uint32_t table) {
    const qg_table *looked = &ir->layout->tables[table];
    bool any = false;
    if (!ir->masked || looked->rows > QG_FEW_ROWS || looked->columns > 1 || qg_table_kind(looked) == QG_K_FLOAT)
        return false;
    for (uint32_t i = 0; i < ir->n_nodes; ++i) {
        const qg_node *node = ir->nodes[i];
        if (!node->used || node->op != QG_TABLE || node->ref != table) continue;
        if (!only_as_float(ir, node)) return false;
        any = true;
    }
    return any;
}
