/* qkgen/dispatch_pick.h: which kernel of a format, when several are exact enough. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_PICK_H
#define QKGEN_DISPATCH_PICK_H

#include "choice.def"
#include "dispatch_choose.h"

/* How products are made. Of three bytes of each x, and halves without matrix units, are the last: the former are for devices where
 * floats are slow, the latter where nothing else is fast. */
typedef enum qk_products_ { QK_FLOATS_, QK_ONE_, QK_TWO_, QK_THREE_, QK_UNITS_, QK_HALVES_ } qk_products_;

static inline qk_products_ qk_products_of_(const qk_kernel *kernel) {
    if ((kernel->features & QK_FEATURE_COOPERATIVE_MATRIX) != 0)
        return QK_UNITS_;
    uint32_t digits = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0);
    if (digits != 0)
        return digits == 1 ? QK_ONE_ : digits == 2 ? QK_TWO_ : QK_THREE_;
    return kernel->numeric == QK_NUMERIC_HALF_SUM ? QK_HALVES_ : QK_FLOATS_;
}

/* The largest error of a sum over rows of `cols` elements, as a part of the sum over k of W[n][k] * largest[m][k] (qk_sum_eps has
 * both), on a device of `lanes` lanes in a subgroup: the bound of the kernel for any x. */
static inline double qk_sum_error(const qk_kernel *kernel, uint32_t lanes, uint64_t cols) {
    return qk_sum_eps(kernel, lanes, cols) + (kernel->x_levels != 0 ? 0.5 / kernel->x_levels : 0);
}

/* How many rows a matrix has, for the processors that there are. */
typedef enum qk_rows_class_ { QK_FEW_, QK_MEDIUM_, QK_MANY_ } qk_rows_class_;

static inline qk_rows_class_ qk_rows_class_of_(const qk_limits *limits, uint64_t rows) {
    uint64_t processors = qk_processors_(limits);
    return rows <= QK_CHOICE_FEW * processors ? QK_FEW_ : rows <= QK_CHOICE_MEDIUM * processors ? QK_MEDIUM_ : QK_MANY_;
}

/* Where the kind of products stands in the order for that call, from 0. */
static inline uint32_t qk_rank_(const qk_kernel *kernel, uint64_t batch, qk_rows_class_ rows, int looks_up) {
    uint64_t kept = batch > 4 ? 8 : batch > 2 ? 4 : batch;
    qk_products_ products = qk_products_of_(kernel);
    uint32_t rank = products == QK_HALVES_ ? 5 : 4;
#define QK_CHOICE_(kept_, rows_, looks_up_, first, second, third, fourth)                                              \
    if (kept == (kept_) && rows == QK_##rows_##_ && looks_up == (looks_up_))                                           \
        rank = products == QK_##first##_    ? 0                                                                        \
               : products == QK_##second##_ ? 1                                                                        \
               : products == QK_##third##_  ? 2                                                                        \
               : products == QK_##fourth##_ ? 3                                                                        \
                                            : rank;
    QK_CHOICES(QK_CHOICE_)
#undef QK_CHOICE_
    return rank;
}

/* How a kernel says that the format's wait for lookups, as choice.def has it: of floats, by a table of pairs; of bytes, by one of
 * pairs, or of a grid: not with experts, of which a grid gains nothing so. */
static inline uint64_t qk_lookups_of_(const qk_kernel *kernel) {
    if (kernel == NULL || !qk_makes_tables_(kernel))
        return 0;
    if (qk_products_of_(kernel) == QK_FLOATS_ && qk_constant_(kernel, NULL, QK_CONSTANT_COPIES, 0) != 0)
        return 2;
    if (qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 0)
        return 0;
    return qk_constant_(kernel, NULL, QK_CONSTANT_TABLE_COPIES, 0) != 0 && !qk_takes_experts_(kernel) ? 3 : 1;
}

/* Of `count` kernels of one format and family, sums over rows of the same x, the one that should be the fastest for a matrix of
 * rows x cols and `batch` right-hand sides, among those that the device can launch and whose error is at most `allowed` (qk_sum_error;
 * INFINITY: any). NULL where there is none. Dispatch then chooses its constants and workgroups (qk_dispatch_gemv). A kernel that is
 * NULL is passed over. The order is that of choice.def; experts have that of one right-hand side and many rows, however many tokens
 * there are. */
static inline const qk_kernel *qk_choose(const qk_kernel *const *kernels, uint32_t count, const qk_limits *limits,
                                         uint64_t rows, uint64_t cols, uint64_t batch, double allowed) {
    const qk_kernel *best = NULL;
    uint32_t best_rank = 0;
    qk_rows_class_ rows_class = qk_rows_class_of_(limits, rows);
    int looks_up = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (kernels[i] != NULL && qk_takes_experts_(kernels[i])) {
            batch = 1;
            rows_class = QK_MANY_;
        }
        looks_up = (int)qk_max_((uint64_t)looks_up, qk_lookups_of_(kernels[i]));
        /* Of short rows, several of which a subgroup has at once, bytes that look pairs up are ahead of floats. */
        if (kernels[i] != NULL && qk_takes_experts_(kernels[i]) && qk_lookups_of_(kernels[i]) == 1 &&
            qk_constant_(kernels[i], NULL, QK_CONSTANT_COPIES, 0) != 0 &&
            2 * cols <= qk_lanes_(limits) * QK_KEPT_VALUES)
            looks_up = 2;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (kernels[i] == NULL || qk_missing_features_(kernels[i], limits) != 0 ||
            !qk_can_multiply_(kernels[i], limits, rows, cols, 0) ||
            !(qk_sum_error(kernels[i], qk_lanes_(limits), cols) <= allowed))
            continue;
        uint32_t rank = 1 + qk_rank_(kernels[i], batch, rows_class, looks_up);
        /* Matrix units whose tiles do not fit walk down plain rows, each by a workgroup. */
        if (qk_products_of_(kernels[i]) == QK_UNITS_ && !qk_fits_wide_(kernels[i], rows, cols))
            rank += QK_CHOICE_UNFIT;
        /* Bytes that teams share are faster than what each thread makes for itself. */
        if (batch == 1 && qk_constant_(kernels[i], NULL, QK_CONSTANT_DIGITS, 0) == 1 &&
            qk_shares_one_(kernels[i], limits, rows, cols))
            rank = 0;
        if (best == NULL || rank < best_rank) {
            best = kernels[i];
            best_rank = rank;
        }
    }
    return best;
}

#endif
