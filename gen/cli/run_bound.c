/* The bound of a sum: see run_bound.h. */
#include "cli/run_bound.h"

#include <math.h>

qg_bound qg_bound_of(const qk_kernel *kernel, uint32_t lanes, uint64_t cols) {
    const bool units = (kernel->features & QK_FEATURE_COOPERATIVE_MATRIX) != 0 || kernel->operand_tile != 0;
    const bool halves = kernel->numeric == QK_NUMERIC_HALF_SUM;
    return (qg_bound){.eps = qk_sum_eps(kernel, lanes, cols),
                      .levels = kernel->x_levels,
                      .reach = kernel->x_reach,
                      .least = halves ? 1 : 0,
                      .of_others = units ? 0.125 : 0,
                      .of_halves = halves};
}

void qg_bound_largest(const qg_bound *bound, const double *x, uint64_t cols, double *largest) {
    /* Of runs of `reach` columns: the largest up to a column, and from it on. Any window of so many
     * is the end of one run and the beginning of the next. */
    const uint64_t reach = bound->reach ? bound->reach : 1;
    double *up_to = largest + cols, *from = largest + 2 * cols;
    for (uint64_t k = 0; k < cols; ++k) up_to[k] = fmax(k % reach ? up_to[k - 1] : 0, fabs(x[k]));
    for (uint64_t k = cols; k-- > 0;) from[k] = fmax(k + 1 < cols && (k + 1) % reach ? from[k + 1] : 0, fabs(x[k]));
    for (uint64_t k = 0; k < cols; ++k) {
        const uint64_t first = k + 1 > reach ? k + 1 - reach : 0, last = k + reach <= cols ? k + reach - 1 : cols - 1;
        largest[k] = fmax(fmax(from[first], up_to[k]), fmax(from[k], up_to[last]));
    }
}

void qg_bound_magnitudes(const qg_bound *bound, float *magnitudes, uint64_t cols, double *room) {
    double *sizes = room + 3 * cols;
    if (bound->of_others == 0) return;
    for (uint64_t k = 0; k < cols; ++k) sizes[k] = (double)magnitudes[k];
    qg_bound_largest(bound, sizes, cols, room);
    for (uint64_t k = 0; k < cols; ++k) magnitudes[k] = (float)fmax(sizes[k], bound->of_others * room[k]);
}

void qg_bound_sum(const qg_bound *bound, const float *weights, const float *magnitudes, const double *x,
                  const double *largest, uint64_t cols, double *sum, double *limit) {
    double relative = 0, steps = 0, of_x = 0, of_w = 0;
    *sum = 0;
    for (uint64_t k = 0; k < cols; ++k) {
        const double size = (double)magnitudes[k], w = fabs((double)weights[k]);
        *sum += (double)weights[k] * x[k];
        relative += size * fabs(x[k]);
        if (bound->levels) steps += (bound->of_halves ? size : w) * largest[k];
        of_x += fabs(x[k]);
        of_w += size;
    }
    /* What is below 2^-126 may be taken for zero: of x, of a scale, of a product; and no step is below 2^-125. */
    const double tiny = ldexp(of_x, -118) + ldexp(of_w + (double)cols, -124);
    *limit = bound->eps * relative + (bound->levels ? steps / (2.0 * bound->levels) : 0) + tiny;
}
