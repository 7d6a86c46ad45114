/* harness.h: how the arguments of a foreign kernel are laid out. docs/judge.md describes the text. */
#ifndef QKGEN_HARNESS_H
#define QKGEN_HARNESS_H

#include "spec/spec.h"

/* What a foreign kernel runs on. */
typedef enum qg_foreign { QG_FOREIGN_VULKAN, QG_FOREIGN_METAL, QG_FOREIGN_C, QG_FOREIGN_COUNT } qg_foreign;

/* What it computes. */
typedef enum qg_computes {
    QG_COMPUTES_VALUES, /* dequant: y[i] is element i */
    QG_COMPUTES_ROWS,   /* gather: y[t][c] is element c of row indices[t] */
    QG_COMPUTES_SUMS,   /* gemv, gemm: y[b][r] is the sum over c of row r's element c times x[b][c] */
    QG_COMPUTES_COUNT
} qg_computes;

typedef enum qg_role { QG_ROLE_OF_WEIGHTS, QG_ROLE_OF_X, QG_ROLE_OF_Y, QG_ROLE_OF_INDICES, QG_ROLE_OF_BYTES, QG_ROLE_OF_ZEROS } qg_role;

/* The sizes that expressions of a harness name. */
typedef struct qg_shape {
    uint64_t rows, cols; /* of the weights; cols is a multiple of the block */
    uint64_t batch;      /* right-hand sides of a sum; tokens of a gather */
} qg_shape;

typedef struct qg_harness qg_harness;

#endif
