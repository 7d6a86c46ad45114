/* run_epilogue.h: epilogues in the host's memory, for `qkgen run` and `qkgen soak`: data, and what becomes of a sum. */
#ifndef QKGEN_RUN_EPILOGUE_H
#define QKGEN_RUN_EPILOGUE_H

#include "build/family.h"

#include <qkgen/dispatch.h>

/* Which row of epilogue.def. */
typedef enum qg_epilogue_id {
#define EPILOGUE_ID(bit, NAME, ...) QG_EPILOGUE_##NAME,
    QK_EPILOGUES(EPILOGUE_ID)
#undef EPILOGUE_ID
} qg_epilogue_id;

/* The shape of what is computed, and what results meet. */
typedef struct qg_epilogue {
    uint64_t rows, vectors; /* of results; with experts, a vector for each token and slot */
    uint64_t experts;       /* 0: none */
    const uint32_t *ids;    /* with experts: one for each vector */
    const uint64_t
        *y_of; /* where each vector begins in y, and in what has a value for each result; NULL: one after the other */
    uint64_t y_elements; /* of all of them, where that is not NULL */
    qk_many scale_per;
    const float *before;                 /* what y holds, and results are added to; NULL: they take its place */
    const float *values[QG_N_EPILOGUES]; /* NULL: none */
} qg_epilogue;

/* How many values there are of row `id`, and in words: "--rows 3". */
uint64_t qg_epilogue_count(const qg_epilogue *e, qg_epilogue_id id);
const char *qg_epilogue_shape(qg_arena *arena, const qg_epilogue *e, qg_epilogue_id id);
const char *qg_epilogue_name(qg_epilogue_id id);

/* Whether parts of an epilogue, bits as kernels take them, cannot be together: a gate, and y that is added to. */
bool qg_epilogue_clashes(uint64_t bits);

/* Why --add is not for what has these files, by rows of epilogue.def; NULL: it is. */
const char *qg_epilogue_without_add(const char *const *files);

/* For dispatch. `ranges` are those of the values, where there are some; they must live as long. */
qk_epilogue qg_epilogue_ranges(const qg_epilogue *e, const qk_range *ranges);

/* What becomes of the sum of result `at`, which may be wrong by *limit; and by how much it may be wrong then, with the
 * roundings of the epilogue in f32. */
double qg_epilogue_result(const qg_epilogue *e, double sum, uint64_t at, double *limit);

/* What the sums of a vector of x that is normed are multiplied with; `x` becomes what they are sums of. */
double qg_norm_x(double *x, const float *norm, uint64_t cols, float epsilon);
/* What becomes of such a sum, on a device with so many lanes. */
double qg_normed_result(double sum, double factor, uint64_t cols, uint32_t lanes, double *limit);

/* The same in two steps, of sums that are added up in between: what each is multiplied with, and what comes behind. */
double qg_epilogue_scaled(const qg_epilogue *e, double sum, uint64_t at, double *limit);
double qg_epilogue_rest(const qg_epilogue *e, double sum, uint64_t at, double *limit);
/* The same of a sum that is gated by another, which may be wrong by `gate_limit`. */
double qg_gated_result(double sum, double gate, double gate_limit, double *limit);

#endif
