/* qkgen/dispatch_gemm_id.h: matrices that are chosen by number, times many vectors. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_GEMM_ID_H
#define QKGEN_DISPATCH_GEMM_ID_H

#include "dispatch_gemm.h"

/* Most experts; a workgroup has a few numbers for each in the memory that it shares. */
#define QK_GEMM_ID_EXPERTS 512u
/* Pairs of a token and a slot are counted in at most so many blocks, of at least so many pairs. */
#define QK_PAIR_BLOCKS 64u
#define QK_BLOCK_PAIRS 256u

/* A product with experts: its shape, and how it is cut. */
typedef struct qk_gemm_id_ {
    uint64_t experts, rows, cols, tokens, slots, x_slots, row_tiles;
    uint32_t epilogue;
    qk_tiles_ tiles;
} qk_gemm_id_;

static inline uint64_t qk_pairs_(const qk_gemm_id_ *g) {
    return g->tokens * g->slots;
}

/* An expert more, whose pairs have none. */
static inline uint64_t qk_most_column_tiles_(const qk_gemm_id_ *g, uint64_t columns) {
    return qk_pairs_(g) / columns + qk_min_(g->experts + 1, qk_pairs_(g));
}

static inline uint64_t qk_pair_blocks_(uint64_t pairs) {
    return qk_ceil_(pairs, qk_max_(QK_BLOCK_PAIRS, qk_ceil_(pairs, QK_PAIR_BLOCKS)));
}

/* Words for the pairs in the order of their experts: gemm_sorted.glsl says which. */
static inline uint64_t qk_sorted_words_(const qk_gemm_id_ *g) {
    uint64_t pairs = qk_pairs_(g), buckets = g->experts + 1;
    return 1 + buckets + qk_pair_blocks_(pairs) * buckets + pairs + 3 * qk_most_column_tiles_(g, 16);
}

/* UINT64_MAX where it is 2^64 or more, or the shape is none. */
static inline uint64_t qk_gemm_id_bytes_(const qk_kernel *kernel, const qk_gemm_id_ *g) {
    uint64_t operands, sums = 0;
    if (g->experts > QK_GEMM_ID_EXPERTS || qk_product_(g->tokens, g->slots) > UINT32_MAX ||
        qk_product_(g->tokens, g->x_slots) > UINT32_MAX || g->rows > UINT32_MAX)
        return UINT64_MAX;
    operands = qk_operand_bytes_(kernel, g->cols, g->tokens * g->x_slots);
    if (g->tiles.parts > 1 && !qk_multiply_(qk_pairs_(g) * g->rows, (uint64_t)4 * g->tiles.parts, &sums))
        return UINT64_MAX;
    sums = sums > UINT64_MAX - 4 * qk_sorted_words_(g) ? UINT64_MAX : sums + 4 * qk_sorted_words_(g);
    return operands > UINT64_MAX - sums ? UINT64_MAX : operands + sums;
}

static inline void qk_plan_gemm_id_(const qk_kernel *kernel, const qk_limits *limits, qk_gemm_id_ *g) {
    g->tiles = qk_tiles_plan_(kernel, limits, g->rows, g->cols, qk_product_(g->tokens, g->slots),
                              g->experts != 0 ? g->experts : 1);
}

/* With the experts from `first` to `first` + `count`, where the launch reads weights. */
static inline qk_status qk_launch_gemm_id_(const qk_call_ *call, const qk_gemm_id_ *g, qk_schedule schedule,
                                           uint64_t first, uint64_t count, qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    const qk_limits *limits = &call->backend->limits;
    uint32_t weights = call->count - 4 - QK_RESULT_BINDINGS_, constants[QK_MAX_CONSTANTS];
    uint64_t vectors = g->tokens * g->x_slots, groups;
    const uint32_t push[QK_GEMV_ID_PUSH_BYTES / 4] = {
        (uint32_t)g->rows,  (uint32_t)g->row_tiles,    (uint32_t)g->tokens,
        (uint32_t)g->slots, (uint32_t)g->x_slots,      (uint32_t)g->experts,
        (uint32_t)first,    (uint32_t)(first + count), g->epilogue};
    qk_range ranges[QK_MAX_BINDINGS];
    qk_launch launch;
    for (uint32_t i = 0; i < call->count; i++) {
        ranges[i] = qk_part_(&call->arguments[i], i < weights ? first : 0, i < weights ? count : 1);
        if (i >= weights)
            ranges[i].size = call->arguments[i].need;
    }
    qk_tiles_constants_(kernel, limits, &g->tiles, schedule, constants);
    qk_set_epilogue_(kernel, g->epilogue, constants);
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
        groups = qk_ceil_(g->rows * qk_pairs_(g), QK_PACK_THREADS);
        break;
    default: /* There are as many tiles as that, or fewer: the device alone knows. */
        groups = qk_ceil_(g->rows, g->tiles.rows) * qk_most_column_tiles_(g, g->tiles.cols) * g->tiles.parts;
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
    uint64_t experts = qk_min_(chunk, g->experts);
    qk_status status = qk_launch_gemm_id_(call, g, QK_SCHEDULE_PACK, 0, experts, error);
    for (uint32_t i = 0; status == QK_OK && i < 3; i++) {
        status = qk_launch_gemm_id_(call, g, sorting[i], 0, experts, error);
        if (status == QK_OK)
            status = outer->barrier(outer->context, error);
    }
    for (uint64_t first = 0, n; status == QK_OK && first < g->experts; first += n) {
        n = qk_min_(chunk, g->experts - first);
        status = qk_launch_gemm_id_(call, g, g->tiles.schedule, first, n, error);
        if (g->tiles.parts == 1)
            continue;
        if (status == QK_OK)
            status = outer->barrier(outer->context, error);
        if (status == QK_OK)
            status = qk_launch_gemm_id_(call, g, QK_SCHEDULE_ADD_PARTS, first, n, error);
    }
    return status;
}

static inline qk_status qk_check_gemm_id_(const qk_backend *backend, const qk_kernel *kernel, const qk_gemm_id_ *g,
                                          qk_error *error) {
    qk_status status = qk_check_tiles_(backend, kernel, "gemm_id", error);
    if (status == QK_OK && g->experts > QK_GEMM_ID_EXPERTS)
        return qk_fail(error, QK_ERROR_LIMIT, "%s: experts is %" PRIu64 ", must be at most %u; gemv_id takes more",
                       kernel->name, g->experts, QK_GEMM_ID_EXPERTS);
    if (status == QK_OK)
        status = qk_check_experts_(kernel, g->experts, g->rows, g->cols, g->tokens, g->slots, g->x_slots, error);
    return status == QK_OK ? qk_check_wide_(kernel, g->cols, "gemv_id", error) : status;
}

/* Bytes of scratch memory that qk_dispatch_gemm_id needs on that device; UINT64_MAX where it is 2^64 or more, or the call would be
 * refused for its size. */
static inline uint64_t qk_gemm_id_scratch(const qk_backend *backend, const qk_kernel *kernel, uint64_t experts,
                                          uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots,
                                          uint64_t x_slots) {
    qk_tuned_ tuned;
    qk_gemm_id_ g;
    memset(&g, 0, sizeof g);
    g.experts = experts;
    g.rows = rows;
    g.cols = cols;
    g.tokens = tokens;
    g.slots = slots;
    g.x_slots = x_slots;
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
 *
 * Tokens are sorted by expert on the device, in the same order each time. Nothing is read back: what is launched does not depend on
 * `ids`. Matrix units multiply where the device has them, else floats, with the same bound. */
static inline qk_status qk_dispatch_gemm_id_with(const qk_backend *backend, const qk_kernel *kernel,
                                                 const qk_range *weights, qk_range x, qk_range ids, qk_range scratch,
                                                 qk_range y, qk_range status_word, uint64_t experts, uint64_t rows,
                                                 uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots,
                                                 const qk_epilogue *epilogue, qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_INPUT, QK_ROLE_INDICES, QK_ROLE_STATUS, QK_ROLE_SCRATCH, QK_RESULT_ROLES_};
    const qk_backend *outer = backend;
    uint64_t expert_blocks, chunk = 0;
    qk_tuned_ tuned;
    if (kernel == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "kernel is NULL, must be a descriptor");
    qk_status status =
        qk_tune_(&tuned, &backend, &kernel, qk_product_(qk_product_(tokens, slots), rows), cols, 1, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, 1, tail, 4 + QK_RESULT_BINDINGS_, QK_GEMV_ID_PUSH_BYTES, error);
    if (status != QK_OK || rows == 0 || cols == 0 || tokens == 0 || slots == 0)
        return status;
    qk_gemm_id_ g = {experts,
                     rows,
                     cols,
                     tokens,
                     slots,
                     x_slots,
                     0,
                     qk_epilogue_bits_(epilogue),
                     {0, 0, 0, 0, 0, QK_SCHEDULE_NONE, 0, 0}};
    if ((status = qk_check_gemm_id_(outer, kernel, &g, error)) != QK_OK)
        return status;
    g.row_tiles = cols / kernel->tile_elements;
    qk_plan_gemm_id_(kernel, &backend->limits, &g);
    uint32_t count = kernel->binding_count - 4 - QK_RESULT_BINDINGS_;
    uint64_t limit = qk_min_(backend->limits.storage_range, UINT32_MAX);
    qk_call_ call = qk_call_new_(backend, kernel);
    if (!qk_multiply_(rows, cols / kernel->block_elements, &expert_blocks))
        return qk_fail(error, QK_ERROR_LIMIT, "%s: rows times cols must be below 2^64", kernel->name);
    status = qk_add_weights_(&call, weights, count, experts, expert_blocks, error);
    if (status == QK_OK)
        status = qk_add_(&call, "x", x, tokens * x_slots, cols * qk_type_bytes(kernel->bindings[count].element), error);
    if (status == QK_OK)
        status = qk_add_(&call, "ids", ids, qk_pairs_(&g), 4, error);
    if (status == QK_OK)
        status = qk_add_(&call, "status", status_word, 1, 4, error);
    if (status == QK_OK)
        status = qk_add_(&call, "scratch", scratch, 1, qk_gemm_id_bytes_(kernel, &g), error);
    if (status == QK_OK)
        status = qk_add_results_(&call, y, qk_pairs_(&g), experts, rows, epilogue, error);
    for (uint32_t i = count; status == QK_OK && i < call.count; i++)
        if (call.arguments[i].need > limit)
            status = qk_fail(error, QK_ERROR_LIMIT,
                             "%s: %s takes %" PRIu64 " bytes, must be at most %" PRIu64 ", the device's storage range",
                             kernel->name, call.arguments[i].name, call.arguments[i].need, limit);
    if (status == QK_OK)
        status = qk_chunk_(&call, 0, count, experts, UINT32_MAX / (rows * g.row_tiles), "expert", &chunk, error);
    return status == QK_OK ? qk_run_gemm_id_(outer, &call, &g, chunk, error) : status;
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
