/* qkgen/dispatch_gemm_id.h: matrices that are chosen by number, times many vectors. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_GEMM_ID_H
#define QKGEN_DISPATCH_GEMM_ID_H

#include "dispatch_gemm.h"
#include "dispatch_gemv_id.h"

/* Most experts; a workgroup has a few numbers for each in the memory that it shares. */
#define QK_GEMM_ID_EXPERTS 512u
/* Pairs of a token and a slot are counted in at most so many blocks, of at least so many pairs. */
#define QK_PAIR_BLOCKS 64u
#define QK_BLOCK_PAIRS 256u

/* Tiles have so many sizes at most: as many as there are lists of them on the device. */
#define QK_TILE_SIZES 3u

/* A product with experts: its shape, and how it is cut. Of sizes, those with more columns come first, each a launch of its own for experts
 * with many pairs; they have no columns where there are none. The last is always there, and sorting counts by it. */
typedef struct qk_gemm_id_ {
    qk_gemv_id_ shape;
    qk_tiles_ sizes[QK_TILE_SIZES];
} qk_gemm_id_;

static inline const qk_tiles_ *qk_smallest_tiles_(const qk_gemm_id_ *g) {
    return &g->sizes[QK_TILE_SIZES - 1];
}

static inline uint64_t qk_pairs_(const qk_gemm_id_ *g) {
    return g->shape.tokens * g->shape.slots;
}

/* Tiles side by side, at most, of all sizes, where the largest have so many columns: full ones, and one of each expert. There is an expert
 * more, whose pairs have none. */
static inline uint64_t qk_most_column_tiles_(const qk_gemm_id_ *g, uint64_t columns) {
    return qk_pairs_(g) / columns + qk_min_(g->shape.experts + 1, qk_pairs_(g));
}

/* The same of one size. An expert has full tiles of the largest, and for what these leave one tile, of the smallest size that takes it: one
 * of this size has more pairs than the next smaller has columns. So of a size that is not the largest, each expert has one or none, and
 * there are no more than pairs for so many of them. Of the largest, that many experts may have one that is just large enough, and all
 * other pairs fill tiles. */
static inline uint64_t qk_most_tiles_across_(const qk_gemm_id_ *g, uint32_t size) {
    uint64_t pairs = qk_pairs_(g), more = 0, least = 1, last;
    for (uint32_t i = 0; i < QK_TILE_SIZES; i++) {
        more = i < size ? qk_max_(more, g->sizes[i].cols) : more;
        least = i > size ? qk_max_(least, (uint64_t)g->sizes[i].cols + 1) : least;
    }
    last = qk_min_(g->shape.experts + 1, pairs / least);
    return more != 0 ? last : last + (pairs - last * least) / g->sizes[size].cols;
}

static inline uint64_t qk_pair_blocks_(uint64_t pairs) {
    return qk_ceil_(pairs, qk_max_(QK_BLOCK_PAIRS, qk_ceil_(pairs, QK_PAIR_BLOCKS)));
}

/* Words for the pairs in the order of their experts: gemm_sorted.glsl says which. */
static inline uint64_t qk_sorted_words_(const qk_gemm_id_ *g) {
    uint64_t pairs = qk_pairs_(g), buckets = g->shape.experts + 1;
    return QK_TILE_SIZES + buckets + qk_pair_blocks_(pairs) * buckets + pairs + 3 * qk_most_column_tiles_(g, 16);
}

/* UINT64_MAX where it is 2^64 or more, or the shape is none. */
static inline uint64_t qk_gemm_id_bytes_(const qk_kernel *kernel, const qk_gemm_id_ *g) {
    uint64_t operands, sums = 0, parts = qk_smallest_tiles_(g)->parts;
    if (g->shape.experts > QK_GEMM_ID_EXPERTS || qk_product_(g->shape.tokens, g->shape.slots) > UINT32_MAX ||
        qk_product_(g->shape.tokens, g->shape.x_slots) > UINT32_MAX || g->shape.rows > UINT32_MAX)
        return UINT64_MAX;
    operands = qk_operand_bytes_(kernel, g->shape.cols, g->shape.tokens * g->shape.x_slots);
    if (parts > 1 && !qk_multiply_(qk_pairs_(g) * g->shape.rows, (uint64_t)4 * parts, &sums))
        return UINT64_MAX;
    sums = sums > UINT64_MAX - 4 * qk_sorted_words_(g) ? UINT64_MAX : sums + 4 * qk_sorted_words_(g);
    return operands > UINT64_MAX - sums ? UINT64_MAX : operands + sums;
}

/* The tiles of so many columns; of none where there are no such tiles. */
static inline qk_tiles_ qk_tiles_of_columns_(const qk_kernel *kernel, const qk_limits *limits, const qk_gemm_id_ *g,
                                             uint64_t cols) {
    qk_tiles_ t =
        qk_tiles_with_(kernel, limits, g->shape.rows, g->shape.cols, qk_pairs_(g), g->shape.experts, cols);
    t.cols = t.cols == cols ? t.cols : 0;
    return t;
}

/* Of those with `from` to `to` columns: the narrowest that has `enough`, else the widest. */
static inline qk_tiles_ qk_tiles_between_(const qk_kernel *kernel, const qk_limits *limits, const qk_gemm_id_ *g,
                                          uint64_t from, uint64_t enough, uint64_t to) {
    qk_tiles_ best = *qk_smallest_tiles_(g), t;
    best.cols = 0;
    for (uint64_t c = from; best.cols < enough && c <= to; c += QK_GEMM_COLUMNS) {
        t = qk_tiles_of_columns_(kernel, limits, g, c);
        best = t.cols != 0 ? t : best;
    }
    return best;
}

/* Experts have different numbers of pairs, which the device alone knows. So those with many have larger tiles, of columns for half as many
 * again as there are in the mean, or as many as tiles have. What these leave, and all others, have smaller ones, of at most two thirds of
 * that, and of the mean. Where tokens are enough for an expert that most of them name, and rows are long, there are tiles for it, too, of
 * at least QK_LARGEST_TIMES the columns. A tuning may say how many columns larger tiles have, whatever the mean. */
static inline void qk_plan_sizes_(const qk_kernel *kernel, const qk_limits *limits, qk_gemm_id_ *g) {
    uint64_t mean = qk_pairs_(g) / qk_max_(1, g->shape.experts), most = g->shape.tokens / QK_LARGEST_FILLED;
    uint64_t cols = qk_constant_(kernel, NULL, QK_CONSTANT_LARGE_COLS, UINT32_MAX);
    uint64_t more = qk_constant_(kernel, NULL, QK_CONSTANT_LARGEST_COLS, 0);
    qk_tiles_ large, small, largest;
    if (qk_smallest_tiles_(g)->parts > 1 || cols == UINT32_MAX || (cols == 0 && mean < QK_TWO_SIZES_PAIRS))
        return;
    large = cols != 0 ? qk_tiles_between_(kernel, limits, g, cols, cols, cols)
                      : qk_tiles_between_(kernel, limits, g, QK_GEMM_COLUMNS, (3 * mean + 1) / 2, QK_TILE_MOST_COLS);
    cols = qk_min_(cols != 0 ? UINT64_MAX : mean, 2 * (uint64_t)large.cols / 3);
    small = qk_tiles_between_(kernel, limits, g, QK_GEMM_COLUMNS, UINT64_MAX, cols);
    if (small.cols == 0)
        return;
    g->sizes[QK_TILE_SIZES - 1] = small;
    g->sizes[QK_TILE_SIZES - 2] = large;
    cols = more != 0 ? more : QK_LARGEST_TIMES * (uint64_t)large.cols;
    most = more != 0                              ? more
           : g->shape.cols >= QK_LARGEST_ROW_COLS ? qk_min_(most, QK_LARGEST_MOST_COLS)
                                                  : 0;
    largest = qk_tiles_between_(kernel, limits, g, cols, cols, most);
    if (largest.cols > large.cols)
        g->sizes[0] = largest;
}

static inline void qk_plan_gemm_id_(const qk_kernel *kernel, const qk_limits *limits, qk_gemm_id_ *g) {
    memset(g->sizes, 0, sizeof g->sizes);
    g->sizes[QK_TILE_SIZES - 1] =
        qk_tiles_plan_(kernel, limits, g->shape.rows, g->shape.cols, qk_product_(g->shape.tokens, g->shape.slots),
                       g->shape.experts != 0 ? g->shape.experts : 1);
    qk_plan_sizes_(kernel, limits, g);
}

static inline void qk_set_sizes_(const qk_kernel *kernel, const qk_gemm_id_ *g, uint32_t *constants) {
    static const uint32_t ids[QK_TILE_SIZES - 1] = {QK_CONSTANT_LARGEST_COLS, QK_CONSTANT_LARGE_COLS};
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++)
        for (uint32_t size = 0; size < QK_TILE_SIZES - 1; size++)
            constants[i] = kernel->spec_constants[i].id == ids[size] ? g->sizes[size].cols : constants[i];
}

/* With the experts from `first` to `first` + `count`, where the launch reads weights; with tiles of that size. */
static inline qk_status qk_launch_gemm_id_(const qk_call_ *call, const qk_gemm_id_ *g, uint32_t size,
                                           qk_schedule schedule, uint64_t first, uint64_t count, qk_error *error) {
    const qk_tiles_ *tiles = &g->sizes[size];
    const qk_kernel *kernel = call->kernel;
    const qk_limits *limits = &call->backend->limits;
    uint32_t weights = call->count - 4 - QK_RESULT_BINDINGS_, constants[QK_MAX_CONSTANTS];
    uint64_t vectors = g->shape.tokens * g->shape.x_slots, groups;
    const qk_gemv_id_ *a = &g->shape;
    uint32_t push[QK_GEMV_ID_MATRIX_PUSH_BYTES / 4], *more = qk_push_experts_(kernel, a, first, count, push);
    const qk_sets_ one = {0, 1, 0};
    qk_range ranges[QK_MAX_BINDINGS];
    qk_launch launch;
    for (uint32_t i = 0; i < call->count; i++) {
        ranges[i] =
            i < weights ? qk_part_of_experts_(&call->arguments[i], first, count) : qk_part_(&call->arguments[i], 0, 1);
        if (i >= weights)
            ranges[i].size = call->arguments[i].need;
    }
    qk_bind_experts_(call, &a->planes, weights, weights + 1, weights + 4, &one, ranges, more);
    qk_tiles_constants_(kernel, limits, tiles, schedule, constants);
    qk_set_sizes_(kernel, g, constants);
    qk_set_epilogue_(kernel, a->epilogue, constants);
    qk_set_views_(kernel, a->planes.on, 0, a->planes.y_type, constants);
    switch (schedule) {
    case QK_SCHEDULE_PACK:
        groups = qk_ceil_(vectors, QK_GEMM_COLUMNS) * QK_GEMM_COLUMNS;
        break;
    case QK_SCHEDULE_COUNT_PAIRS:
    case QK_SCHEDULE_SCATTER:
        groups = qk_pair_blocks_(qk_pairs_(g));
        break;
    case QK_SCHEDULE_OFFSETS:
        groups = 1;
        break;
    case QK_SCHEDULE_ADD_PARTS:
        groups = qk_ceil_(g->shape.rows * qk_pairs_(g), QK_PACK_THREADS);
        break;
    default: /* There are as many tiles as that, or fewer: the device alone knows. Workgroups may be fewer, and go on. */
        groups = qk_ceil_(g->shape.rows, tiles->rows) * qk_most_tiles_across_(g, size) * tiles->parts;
    }
    launch.kernel = kernel;
    launch.ranges = ranges;
    launch.push = push;
    launch.constants = constants;
    launch.workgroups = (uint32_t)qk_min_(groups, qk_min_(limits->workgroup_count, QK_MAX_WORKGROUPS));
    return call->backend->launch(call->backend->context, &launch, error);
}

/* The launches of a call: x becomes operands, and pairs are sorted; then tiles, of as many experts as a binding takes. Between two of
 * them is a barrier of `outer`, but where they have nothing to do with each other. */
static inline qk_status qk_run_gemm_id_(const qk_backend *outer, const qk_call_ *call, const qk_gemm_id_ *g,
                                        uint64_t chunk, qk_error *error) {
    static const qk_schedule sorting[] = {QK_SCHEDULE_COUNT_PAIRS, QK_SCHEDULE_OFFSETS, QK_SCHEDULE_SCATTER};
    const qk_tiles_ *smallest = qk_smallest_tiles_(g);
    const uint32_t last = QK_TILE_SIZES - 1;
    uint64_t experts = qk_min_(chunk, g->shape.experts);
    qk_status status = qk_launch_gemm_id_(call, g, last, QK_SCHEDULE_PACK, 0, experts, error);
    for (uint32_t i = 0; status == QK_OK && i < 3; i++) {
        status = qk_launch_gemm_id_(call, g, last, sorting[i], 0, experts, error);
        if (status == QK_OK)
            status = outer->barrier(outer->context, error);
    }
    for (uint64_t first = 0, n; status == QK_OK && first < g->shape.experts; first += n) {
        n = qk_min_(chunk, g->shape.experts - first);
        for (uint32_t size = 0; status == QK_OK && size < QK_TILE_SIZES; size++) /* larger tiles take longer: first */
            if (g->sizes[size].cols != 0)
                status = qk_launch_gemm_id_(call, g, size, smallest->schedule, first, n, error);
        if (smallest->parts == 1)
            continue;
        if (status == QK_OK)
            status = outer->barrier(outer->context, error);
        if (status == QK_OK)
            status = qk_launch_gemm_id_(call, g, last, QK_SCHEDULE_ADD_PARTS, first, n, error);
    }
    return status;
}

static inline qk_status qk_check_gemm_id_(const qk_backend *backend, const qk_kernel *kernel, qk_gemm_id_ *g,
                                          qk_error *error) {
    qk_status status = qk_check_tiles_(backend, kernel, "gemm_id", error);
    if (status == QK_OK && g->shape.experts > QK_GEMM_ID_EXPERTS)
        return qk_fail(error, QK_ERROR_LIMIT, "%s: experts is %" PRIu64 ", must be at most %u; gemv_id takes more",
                       kernel->name, g->shape.experts, QK_GEMM_ID_EXPERTS);
    if (status == QK_OK)
        status = qk_check_experts_(kernel, g->shape.experts, g->shape.rows, g->shape.cols, g->shape.tokens,
                                   g->shape.slots, g->shape.x_slots, &g->shape.matrix, error);
    return status == QK_OK ? qk_check_wide_(kernel, g->shape.cols, "gemv_id", error) : status;
}

/* Tiles are of one set: what several could share, operands and sorted pairs, takes little of the time of many tokens. */
static inline qk_status qk_check_one_set_(const qk_kernel *kernel, const qk_expert_views *views, qk_error *error) {
    if (views == NULL || views->sets < 2)
        return QK_OK;
    return qk_fail(error, QK_ERROR_UNSUPPORTED,
                   "%s: views->sets is %" PRIu64 ", must be 1 for many tokens; gemv_id takes more", kernel->name,
                   views->sets);
}

/* Bytes of scratch memory that qk_dispatch_gemm_id needs on that device; UINT64_MAX where it is 2^64 or more, or the call would be
 * refused for its size. */
static inline uint64_t qk_gemm_id_scratch(const qk_backend *backend, const qk_kernel *kernel, uint64_t experts,
                                          uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots,
                                          uint64_t x_slots) {
    qk_tuned_ tuned;
    qk_gemm_id_ g;
    memset(&g, 0, sizeof g);
    g.shape.experts = experts;
    g.shape.rows = rows;
    g.shape.cols = cols;
    g.shape.tokens = tokens;
    g.shape.slots = slots;
    g.shape.x_slots = x_slots;
    if (qk_tune_(&tuned, &backend, &kernel, qk_product_(qk_product_(tokens, slots), rows), cols, 1, NULL) != QK_OK)
        return UINT64_MAX;
    qk_plan_gemm_id_(kernel, &backend->limits, &g);
    return qk_gemm_id_bytes_(kernel, &g);
}

/* Multiplies matrices that are chosen by number with many vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k].
 * As qk_dispatch_gemv_id, which is faster for a few tokens; but
 *
 * kernel      of family gemm_id
 * scratch     at least qk_gemm_id_scratch bytes, which the call writes and reads
 * experts     at most QK_GEMM_ID_EXPERTS
 * cols        also a multiple of kernel->wide_block
 * backend     has a `barrier`; calls of it are between launches of this call
 * views       of one set of experts: more are refused, with QK_ERROR_UNSUPPORTED
 *
 * Tokens are sorted by expert on the device, in the same order each time. Nothing is read back: what is launched does not depend on
 * `ids`. Matrix units multiply where the device has them, else floats, with the same bound. */
static inline qk_status qk_dispatch_gemm_id_views(const qk_backend *backend, const qk_kernel *kernel,
                                                  const qk_range *weights, qk_range x, qk_range ids, qk_range scratch,
                                                  qk_range y, qk_range status_word, uint64_t experts, uint64_t rows,
                                                  uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots,
                                                  const qk_expert_views *views, const qk_epilogue *epilogue,
                                                  qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_INPUT, QK_ROLE_INDICES, QK_ROLE_STATUS, QK_ROLE_SCRATCH, QK_RESULT_ROLES_};
    const qk_backend *outer = backend;
    uint64_t chunk = 0;
    qk_tuned_ tuned;
    if (kernel == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "kernel is NULL, must be a descriptor");
    qk_status status =
        qk_tune_(&tuned, &backend, &kernel, qk_product_(qk_product_(tokens, slots), rows), cols, 1, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, kernel->view == QK_VIEW_BLOCKS, tail, 4 + QK_RESULT_BINDINGS_,
                                qk_experts_push_bytes_(kernel), error);
    if (status == QK_OK)
        status = qk_check_one_set_(kernel, views, error);
    if (status != QK_OK || rows == 0 || cols == 0 || tokens == 0 || slots == 0)
        return status;
    qk_gemm_id_ g;
    memset(&g, 0, sizeof g);
    g.shape.experts = experts;
    g.shape.rows = rows;
    g.shape.cols = cols;
    g.shape.tokens = tokens;
    g.shape.slots = slots;
    g.shape.x_slots = x_slots;
    g.shape.epilogue = qk_epilogue_bits_(epilogue);
    if ((status = qk_check_gemm_id_(outer, kernel, &g, error)) != QK_OK)
        return status;
    g.shape.row_tiles = cols / kernel->tile_elements;
    qk_plan_gemm_id_(kernel, &backend->limits, &g);
    status = qk_plan_experts_(kernel, views, experts, rows, cols, tokens, slots, x_slots, &g.shape.planes, error);
    uint32_t count = kernel->binding_count - 4 - QK_RESULT_BINDINGS_;
    qk_call_ call = qk_call_new_(backend, kernel);
    if (status == QK_OK)
        status = qk_add_expert_factors_(&call, weights, x, ids, status_word, &g.shape, error);
    if (status == QK_OK)
        status = qk_add_(&call, "scratch", scratch, 1, qk_gemm_id_bytes_(kernel, &g), error);
    if (status == QK_OK)
        status = qk_add_expert_results_(&call, y, &g.shape, epilogue, error);
    if (status == QK_OK)
        status = qk_check_whole_(&call, count, error);
    if (status == QK_OK)
        status = qk_chunk_(&call, 0, count, experts,
                           UINT32_MAX / (qk_max_(g.shape.planes.weights, rows) * g.shape.row_tiles), "expert", &chunk,
                           error);
    return status == QK_OK ? qk_run_gemm_id_(outer, &call, &g, chunk, error) : status;
}

/* The same of experts, tokens and slots that lie one after the other. */
static inline qk_status qk_dispatch_gemm_id_with(const qk_backend *backend, const qk_kernel *kernel,
                                                 const qk_range *weights, qk_range x, qk_range ids, qk_range scratch,
                                                 qk_range y, qk_range status_word, uint64_t experts, uint64_t rows,
                                                 uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots,
                                                 const qk_epilogue *epilogue, qk_error *error) {
    return qk_dispatch_gemm_id_views(backend, kernel, weights, x, ids, scratch, y, status_word, experts, rows, cols,
                                     tokens, slots, x_slots, NULL, epilogue, error);
}

/* The same without an epilogue. */
static inline qk_status qk_dispatch_gemm_id(const qk_backend *backend, const qk_kernel *kernel, const qk_range *weights,
                                            qk_range x, qk_range ids, qk_range scratch, qk_range y,
                                            qk_range status_word, uint64_t experts, uint64_t rows, uint64_t cols,
                                            uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    return qk_dispatch_gemm_id_with(backend, kernel, weights, x, ids, scratch, y, status_word, experts, rows, cols,
                                    tokens, slots, x_slots, NULL, error);
}

#endif
