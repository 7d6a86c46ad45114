/* run_bound.h: how far a sum may be from the exact one: the bound of docs/error-bounds.md, for the
 * commands that check results. */
#ifndef QKGEN_RUN_BOUND_H
#define QKGEN_RUN_BOUND_H

#include "spec/spec.h"

#include <qkgen/kernel.h>

/* The numbers of a kernel's bound for rows of so many columns. */
typedef struct qg_bound {
    double eps;
    uint32_t levels, reach;
    double least;     /* qg_magnitudes_of_row's */
    double of_others; /* a weight counts for no less than this part of the largest within `reach` */
    bool of_halves;   /* what x loses in steps is in proportion to the weight's magnitude */
} qg_bound;

/* `lanes` are those of the device's subgroups; 0: not known. */
qg_bound qg_bound_of(const qk_kernel *kernel, uint32_t lanes, uint64_t cols);

/* largest[k]: the largest |x| less than bound->reach columns from k. `largest` has room for 3 * cols numbers. */
void qg_bound_largest(const qg_bound *bound, const double *x, uint64_t cols, double *largest);

/* The magnitudes of value.h's weights, of a row, as this bound takes them. `room` has room for 4 *
 * cols numbers; NULL where bound->of_others is 0. */
void qg_bound_magnitudes(const qg_bound *bound, float *magnitudes, uint64_t cols, double *room);

/* The sum of a row with x, in double precision, and by how much a result may differ from it.
 * `magnitudes` are those of qg_bound_magnitudes, `largest` is that of qg_bound_largest. Where x is
 * not finite, neither is the sum, and the limit has no meaning. */
void qg_bound_sum(const qg_bound *bound, const float *weights, const float *magnitudes, const double *x,
                  const double *largest, uint64_t cols, double *sum, double *limit);

#endif
