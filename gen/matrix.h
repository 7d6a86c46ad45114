/* Sums over rows on matrix units: how a format's elements become operands of matrix products. */
#ifndef QKGEN_MATRIX_H
#define QKGEN_MATRIX_H

#include "kernel.h"

/* Elements of a row for which a workgroup keeps x, when nothing else is said. */
enum { QG_MATRIX_KEPT = 1024 };

enum { QG_MATRIX_ROWS = 16, QG_MATRIX_DEPTH = 16, QG_MATRIX_TEAM = 4 };

/* Two values of x that go into one word of an operand: the lane of a run, and the power of two that makes up for a code that
 * is not in its place. A factor of 0 means that nothing is there. */
typedef struct qg_matrix_x {
    uint32_t run[2], lane[2];
    float factor[2];
} qg_matrix_x;

/* One product of a 16 x 16 with a 16 x 8 matrix. Four threads have four of the 16 elements each, in two words. */
typedef struct qg_matrix_product {
    uint32_t group; /* the accumulator */
    uint32_t x;     /* its words of x: two from there on */
} qg_matrix_product;

/* A step is the blocks that begin at a multiple of 32 bits together, or one block where such a step would be too long. */
typedef struct qg_matrix {
    const qg_plan *plan;
    uint32_t blocks;       /* of a step */
    uint32_t steps;        /* of a chunk: what is copied at once for 16 rows */
    uint32_t n_runs;       /* of a step */
    uint32_t phase_bits;   /* a step begins at a multiple of so many bits: 8, 16 or 32 */
    const qg_ir *operands; /* words of the products of one row, two for each; depends on `t`, the thread of the four */
    const qg_ir *places;   /* where each run lies in its step, in runs */
    const qg_ir *values;   /* for each block: the sum, of the accumulators c[] and the sums of x xs[] */
    float unit;            /* what the sum is to be multiplied with */
    uint32_t n_products, n_x, n_groups, n_sums;
    const qg_matrix_product *products;
    const qg_matrix_x *x;
    const uint32_t *start; /* for each accumulator: 1 + the sum of x that it begins with, or 0 */
    struct qg_matrix_sum {
        uint64_t runs;
        float coefficient;
    } * sums;
} qg_matrix;

/* How a format's rows are summed on matrix units; NULL when they cannot be, and *why says why not. */
const qg_matrix *qg_matrix_of(qg_arena *arena, const qg_layout *layout, const char **why);

/* True when every lane of a float is known to be exact as a half (exact.c). */
bool qg_is_half(const qg_ir *ir, const qg_node *node);

/* The products, and the IR of both sides. */
char *qg_dump_matrix(qg_arena *arena, const qg_matrix *m);

/* ---- glsl_matrix.c: what templates/gemv_matrix.comp leaves open ------------------------------------------------------ */

char *qg_matrix_buffers(qg_arena *arena, const qg_matrix *m);
char *qg_matrix_constants(qg_arena *arena, const qg_matrix *m);
char *qg_matrix_staging(qg_arena *arena, const qg_matrix *m);
/* `load` is a run of x at index $i, as floats. */
char *qg_matrix_functions(qg_arena *arena, const qg_matrix *m, const char *load);
/* Bytes of shared memory that x of a chunk takes. */
uint32_t qg_matrix_chunk_shared(const qg_matrix *m);
/* Whether the ends of some buffer are read in units of 8 or 16 bits. */
bool qg_matrix_has_unit(const qg_matrix *m, uint32_t bits);

#endif
