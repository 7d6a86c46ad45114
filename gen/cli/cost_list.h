/* cost_list.h: `qkgen list --cost`. */
#ifndef QKGEN_COST_LIST_H
#define QKGEN_COST_LIST_H

#include "build/cost.h"

typedef struct qg_cost_options {
    uint32_t n_layouts;
    const qg_layout *const *layouts;
    uint32_t n_families;
    const qg_family *const *families;
    const qg_sum_class *sum; /* of families that sum; formats without it are left out */
    const char *templates;   /* folder; NULL: without SPIR-V */
    bool json;
} qg_cost_options;

/* The table of `qkgen list --cost`, a line for each format and family that takes it, in f32. With
 * `templates`, each kernel is compiled, and its SPIR-V's own count stands beside that of the IR.
 * Returns NULL and sets *why on a broken template or module. */
char *qg_cost_list(qg_arena *arena, const qg_cost_options *options, const char **why);

#endif
