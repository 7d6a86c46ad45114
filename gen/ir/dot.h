/* The products that a sum over a tile is taken apart into; between dot.c and dot_bytes.c. */
#ifndef QKGEN_GEN_DOT_H
#define QKGEN_GEN_DOT_H

#include "ir/ir.h"

/* coefficient * scale * whole * (x_run . vector); without a vector, x_run summed up. */
typedef struct product {
    float coefficient;
    const qg_node *scale; /* one lane; NULL: 1 */
    const qg_node *whole; /* an integer of few bits; NULL: 1 */
    const qg_node *vector;
    uint32_t run;
} product;

typedef struct products {
    qg_ir *ir;
    uint32_t lanes;
    bool integers; /* factors that are integers stay apart, in `whole` */
    uint32_t run;  /* in hand */
    product *items;
    uint32_t count, capacity;
    const qg_node *nans; /* as qg_halves has it, of all vectors */
} products;

/* Fills in the products of all runs: the rules distribute, factor and choice. */
void qg_dot_expand(products *p, uint32_t n_runs, const qg_node *const *values);
/* The rule collect: total + the sum of all products; `total` may be NULL. */
const qg_node *qg_dot_collect(products *p, const qg_node *total);

#endif
