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

bool qg_uses(const qg_ir *ir, qg_op op) {
    for (uint32_t i = 0; i < ir->n_nodes; ++i)
        if (ir->nodes[i]->used && ir->nodes[i]->op == op) return true;
    return false;
}

const char *qg_load_name(const qg_layout *layout, uint32_t ref) {
    return ref < layout->n_buffers ? layout->buffers[ref].name : layout->tables[ref - layout->n_buffers].name;
}
