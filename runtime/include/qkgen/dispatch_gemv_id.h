/* qkgen/dispatch_gemv_id.h: calls of gemv_id, matrices that are chosen by number times vectors. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_GEMV_ID_H
#define QKGEN_DISPATCH_GEMV_ID_H

#include "dispatch_expert_views.h"
#include "dispatch_sums.h"

#define QK_GEMV_ID_PUSH_BYTES (36u + 4u * QK_EXPERT_VIEWS_PUSH_)
#define QK_GEMV_ID_MATRIX_PUSH_BYTES (48u + 4u * QK_EXPERT_VIEWS_PUSH_)

/* Threads of a workgroup that adds up slots, at most. */
#define QK_SLOTS_THREADS 256u

/* A call of gemv_id. */
typedef struct qk_gemv_id_ {
    uint64_t experts, rows, cols, tokens, slots, x_slots, row_tiles;
    uint32_t epilogue;
    qk_matrix_ matrix; /* that an expert is; not of QK_VIEW_BLOCKS */
    qk_expert_planes_ planes;
    uint64_t chunk; /* experts of one launch */
    int apart;      /* a launch takes one set: all together do not fit into bindings */
} qk_gemv_id_;

/* Experts of a launch: of each of its sets those from `first` to `first` + `count`. */
typedef struct qk_share_of_experts_ {
    uint64_t first, count;
    qk_sets_ sets;
} qk_share_of_experts_;

static inline uint32_t qk_experts_push_bytes_(const qk_kernel *kernel) {
    return kernel->view == QK_VIEW_BLOCKS ? QK_GEMV_ID_PUSH_BYTES : QK_GEMV_ID_MATRIX_PUSH_BYTES;
}

/* Push constants of a launch with the experts from `first` to `first` + `count`, up to those of views, where they go on. */
static inline uint32_t *qk_push_experts_(const qk_kernel *kernel, const qk_gemv_id_ *g, uint64_t first, uint64_t count,
                                         uint32_t *push) {
    const uint64_t words[] = {
        g->rows, g->row_tiles,  g->tokens,   g->slots,       g->x_slots,          g->experts,
        first,   first + count, g->epilogue, g->matrix.cols, g->matrix.grid_rows, g->matrix.grid_cols};
    uint32_t n = kernel->view == QK_VIEW_BLOCKS ? 9 : 12;
    for (uint32_t i = 0; i < n; i++)
        push[i] = (uint32_t)words[i];
    return push + n;
}

/* Rows that a workgroup takes at a time, where threads keep x: more where rows are so short that a subgroup has lanes for several. */
static inline uint64_t qk_rows_of_experts_(const qk_kernel *kernel, const qk_limits *limits, const uint32_t *constants,
                                           uint64_t cols, uint32_t least) {
    uint64_t kept = kernel->kept_elements != 0 ? kernel->kept_elements : QK_KEPT_VALUES;
    uint32_t width = qk_lanes_(limits), rows = qk_constant_(kernel, constants, QK_CONSTANT_ROWS, 4);
    least = rows > least ? rows : least;
    while (width / 2 >= least && width / 2 * kept >= cols)
        width /= 2;
    return qk_rows_of_workgroup_(kernel, limits, constants, cols) * (qk_lanes_(limits) / width);
}

/* Rows in a row of what is bound: matrices of patches are bound whole. */
static inline uint64_t qk_rows_bound_(const qk_kernel *kernel, const qk_gemv_id_ *g) {
    return kernel->view == QK_VIEW_BLOCKS ? 1 : g->rows;
}

/* Slots of a token that a workgroup adds up at a time, where each has subgroups that would else have rows of their own. */
static inline uint64_t qk_slots_at_once_(const qk_kernel *kernel, const qk_limits *limits, const uint32_t *constants,
                                         const qk_gemv_id_ *g) {
    uint64_t rows = qk_constant_(kernel, constants, QK_CONSTANT_ROWS, 4), at_once = 1;
    uint64_t teams = qk_rows_of_workgroup_(kernel, limits, constants, g->cols) / rows;
    while (at_once < g->slots && teams % (2 * at_once) == 0)
        at_once *= 2;
    return at_once;
}

/* Workgroups that have a part of a token's results each, of all tokens. */
static inline uint64_t qk_slots_groups_(const qk_kernel *kernel, const qk_limits *limits, const qk_gemv_id_ *g, const uint32_t *constants) {
    uint64_t at_once = qk_slots_at_once_(kernel, limits, constants, g);
    return g->tokens * qk_ceil_(g->rows * at_once, qk_rows_of_experts_(kernel, limits, constants, g->cols, 4));
}

/* Of a workgroup that adds up slots whose right-hand sides are staged: runs that it loads together, of all slots at once; or none, where
 * there is no room for them beside those of the other workgroups on the processor. */
static inline void qk_stage_slots_(const qk_kernel *kernel, const qk_limits *limits, const qk_gemv_id_ *g, uint32_t *constants) {
    if (qk_constant_(kernel, constants, QK_CONSTANT_STAGED, 1) == 1)
        return;
    uint64_t slots = g->x_slots > 1 ? qk_slots_at_once_(kernel, limits, constants, g) : 1, runs = 512;
    qk_set_constant_(kernel, QK_CONSTANT_STAGED, 1, constants);
    uint64_t beside = qk_max_(1, qk_ceil_(qk_slots_groups_(kernel, limits, g, constants), qk_processors_(limits)));
    uint64_t room = (limits->shared_bytes != 0 ? limits->shared_bytes : 16384u) / beside;
    while (4 * runs < slots * g->cols)
        runs *= 2;
    uint64_t bytes = qk_shared_bytes_(kernel, constants) + runs * QK_EACH_RUN_;
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++)
        if (kernel->spec_constants[i].id == QK_CONSTANT_STAGED && bytes <= room &&
            qk_most_within_(&kernel->spec_constants[i], 1, (uint32_t)runs) == runs)
            constants[i] = (uint32_t)runs;
}

/* The constants of a launch whose slots are added up, which is as of a matrix with a row for each pair's result. Workgroups are as large
 * as lets each slot have subgroups of its own, of those that the kernel may have, and smaller where processors would have none. Returns
 * whether the device and the shape allow it. */
static inline int qk_slots_constants_(const qk_kernel *kernel, const qk_limits *limits, const qk_gemv_id_ *g,
                                      uint64_t rows, uint32_t *constants) {
    if (!qk_own_constants_(kernel, limits, 1, rows, g->cols, 0, 0, constants))
        return 0;
    uint32_t threads = qk_constant_(kernel, constants, QK_CONSTANT_LOCAL_SIZE_X, 64);
    while (threads > QK_SLOTS_THREADS && qk_slots_groups_(kernel, limits, g, constants) < qk_processors_(limits))
        qk_set_constant_(kernel, QK_CONSTANT_LOCAL_SIZE_X, threads /= 2, constants);
    while (2 * threads <= qk_min_(limits->workgroup_size, QK_SLOTS_THREADS) && g->slots > qk_slots_at_once_(kernel, limits, constants, g))
        qk_set_constant_(kernel, QK_CONSTANT_LOCAL_SIZE_X, threads *= 2, constants);
    qk_stage_slots_(kernel, limits, g, constants);
    return qk_walks_own_(kernel, limits, rows, g->cols, 0, constants);
}

/* Binds experts of sets, from where the device can; what lies before them is what `sets` then says. */
static inline void qk_bind_sets_(const qk_call_ *call, const qk_gemv_id_ *g, qk_share_of_experts_ *s, uint32_t weights,
                                 qk_range *ranges) {
    const qk_expert_planes_ *p = &g->planes;
    uint64_t each = qk_rows_bound_(call->kernel, g), parts = p->weights / each;
    uint64_t from = (s->sets.first * p->weights_set + s->first * p->weights) / each;
    uint64_t bound = from - from % qk_row_step_(call, weights, parts);
    uint64_t rows =
        qk_extent_(qk_weights_sets_(p, s->sets.count), p->weights_set, qk_extent_(s->count, p->weights, g->rows));
    for (uint32_t i = 0; i < weights; i++) {
        const qk_argument_ *a = &call->arguments[i];
        ranges[i].offset = a->range.offset + bound * (a->unit / parts);
        ranges[i].size = (from - bound + rows / each) * (a->unit / parts);
    }
    s->sets.weights_first = (from - bound) * each;
}

static inline qk_status qk_fail_slots_(const qk_kernel *kernel, const char *where, qk_error *error) {
    return qk_fail(error, QK_ERROR_UNSUPPORTED, "%s: views->adds_slots must be 0 for %s", kernel->name, where);
}

/* What an epilogue may have where slots are added up. */
static inline qk_status qk_check_added_(const qk_kernel *kernel, const qk_expert_planes_ *p, uint32_t epilogue,
                                        qk_error *error) {
    const qk_range some = {NULL, 0, 0};
    qk_epilogue may;
    memset(&may, 0, sizeof may);
    may.adds = 1;
    may.scale = may.residual = &some;
    may.scale_per = QK_PER_VECTOR;
    return p->adds_slots && (epilogue & ~qk_epilogue_bits_(&may)) != 0
               ? qk_fail_slots_(kernel, "an epilogue with a bias, a gate or scales of rows", error)
               : QK_OK;
}

/* The part of the experts that a launch takes; x, ids, y and the status are bound whole. */
static inline qk_status qk_launch_experts_(const qk_call_ *call, const qk_gemv_id_ *g, qk_share_of_experts_ *s,
                                           qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    uint32_t weights = call->count - 3 - QK_RESULT_BINDINGS_, constants[QK_MAX_CONSTANTS];
    uint32_t push[QK_GEMV_ID_MATRIX_PUSH_BYTES / 4], *more = qk_push_experts_(kernel, g, s->first, s->count, push);
    const int gated = g->planes.gated != 0, adds = g->planes.adds_slots;
    uint64_t pairs = s->sets.count * g->tokens * g->slots, rows = gated ? 2 * g->rows : g->rows, cols = g->cols;
    qk_range ranges[QK_MAX_BINDINGS];
    qk_launch launch;
    for (uint32_t i = 0; i < call->count; i++) {
        ranges[i] = i < weights ? qk_part_of_experts_(&call->arguments[i], s->first, s->count)
                                : qk_part_(&call->arguments[i], 0, 1);
        if (i >= weights)
            ranges[i].size = call->arguments[i].need;
    }
    push[0] = (uint32_t)rows;
    if (qk_weights_sets_(&g->planes, g->planes.sets) > 1)
        qk_bind_sets_(call, g, s, weights, ranges);
    qk_bind_experts_(call, &g->planes, weights, weights + 1, weights + 3, &s->sets, ranges, more);
    launch.kernel = kernel;
    launch.ranges = ranges;
    launch.push = push;
    /* As of a matrix with a row for each result. */
    qk_gemv_constants_(kernel, &call->backend->limits, 1, pairs * rows, cols, constants);
    if (gated && !qk_own_constants_(kernel, &call->backend->limits, 1, pairs * rows, cols, 1, 0, constants))
        return qk_fail_pairs_(kernel, g->planes.gated, error);
    if (adds && !qk_slots_constants_(kernel, &call->backend->limits, g, pairs * rows, constants))
        return qk_fail_slots_(kernel, "this shape on this device: threads must keep x, which must begin where runs do", error);
    qk_set_epilogue_(kernel, g->epilogue, constants);
    qk_set_views_(kernel, g->planes.on, g->planes.gated != 0, g->planes.y_type, constants);
    if (adds)
        qk_set_constant_(kernel, QK_CONSTANT_VIEWS, 3, constants);
    if (kernel->view == QK_VIEW_BLOCKS)
        qk_pad_(call, weights, ranges, constants);
    launch.constants = constants;
    uint32_t threads = qk_constant_(kernel, constants, QK_CONSTANT_LOCAL_SIZE_X, 64);
    uint64_t groups = pairs * qk_ceil_(rows, qk_constant_(kernel, constants, QK_CONSTANT_ROWS, 4));
    if (qk_keeps_x_(kernel, &call->backend->limits, 1, qk_wanted_schedule_(kernel)))
        groups = qk_min_(adds ? qk_slots_groups_(kernel, &call->backend->limits, g, constants)
                              : pairs * qk_ceil_(rows, qk_rows_of_experts_(kernel, &call->backend->limits, constants, cols, 1)),
                         qk_walking_workgroups_(kernel, &call->backend->limits, 1, threads));
    groups = qk_max_(groups, qk_least_workgroups_(&call->backend->limits, pairs * rows, cols, threads));
    launch.workgroups = (uint32_t)qk_min_(groups, qk_max_workgroups_(call));
    qk_fit_schedule_(kernel, &call->backend->limits, s->count * rows, cols, constants);
    return call->backend->launch(call->backend->context, &launch, error);
}

/* Appends the arguments from the weights to the status, of which the first are `weights`. */
static inline qk_status qk_add_expert_factors_(qk_call_ *call, const qk_range *weights, qk_range x, qk_range ids,
                                               qk_range status_word, qk_gemv_id_ *g, qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    const qk_limits *limits = &call->backend->limits;
    uint32_t count = 0;
    while (count < kernel->binding_count && kernel->bindings[count].role == QK_ROLE_WEIGHTS)
        count++;
    uint32_t bytes = qk_type_bytes(kernel->bindings[count].element);
    qk_expert_planes_ *p = &g->planes;
    uint32_t window = qk_window_alignment_(limits);
    p->on |= p->views && (x.offset % window != 0 || ids.offset % window != 0);
    qk_status status = kernel->view == QK_VIEW_BLOCKS
                           ? qk_add_experts_(call, weights, count, g->experts, g->rows, g->cols, p, error)
                           : qk_add_matrices_(call, weights, count, p->weights_extent / g->rows, &g->matrix, error);
    if (status == QK_OK)
        status =
            qk_add_aligned_(call, "x", x, p->x_extent, bytes, qk_x_alignment_(kernel, limits, p->views, bytes), error);
    if (status == QK_OK)
        status = qk_add_aligned_(call, "ids", ids, p->ids_extent, 4, qk_alignment_(limits, p->views, 4), error);
    return status == QK_OK ? qk_add_(call, "status", status_word, 1, 4, error) : status;
}

/* Appends y, and what the epilogue reads. */
static inline qk_status qk_add_expert_results_(qk_call_ *call, qk_range y, qk_gemv_id_ *g, const qk_epilogue *epilogue,
                                               qk_error *error) {
    const qk_limits *limits = &call->backend->limits;
    uint32_t bytes = qk_y_bytes_(g->planes.y_type);
    const qk_results_ to = {g->planes.sets * g->tokens * g->slots,
                            qk_product_(g->planes.sets, g->experts),
                            g->rows,
                            g->planes.y_extent,
                            bytes,
                            qk_alignment_(limits, g->planes.views, bytes),
                            NULL,
                            NULL,
                            0};
    g->planes.on |= g->planes.views && y.offset % qk_window_alignment_(limits) != 0;
    return qk_add_results_(call, y, &to, epilogue, error);
}

/* What is bound whole fits into bindings. */
static inline qk_status qk_check_whole_(const qk_call_ *call, uint32_t weights, qk_error *error) {
    uint64_t limit = qk_min_(call->backend->limits.storage_range, UINT32_MAX);
    for (uint32_t i = weights; i < call->count; i++)
        if (!qk_fits_binding_(call, i, limit))
            return qk_fail(error, QK_ERROR_LIMIT,
                           "%s: %s takes %" PRIu64 " bytes, must be at most %" PRIu64 ", the device's storage range",
                           call->kernel->name, call->arguments[i].name, call->arguments[i].need, limit);
    return QK_OK;
}

/* How many experts a launch takes, of which there may be `most`. Of several sets it takes all experts, or one set, with some rows before
 * it. */
static inline qk_status qk_chunk_experts_(const qk_call_ *call, qk_gemv_id_ *g, uint32_t weights, qk_error *error) {
    const qk_expert_planes_ *p = &g->planes;
    uint64_t limit = qk_min_(call->backend->limits.storage_range, UINT32_MAX), before = 0, parts = 1;
    uint64_t most_rows = UINT32_MAX / g->row_tiles, most;
    const int several = qk_weights_sets_(p, p->sets) > 1;
    if (several) {
        parts = p->weights / qk_rows_bound_(call->kernel, g);
        g->apart = p->weights_extent > most_rows;
        for (uint32_t i = 0; i < weights; i++)
            g->apart |= call->arguments[i].need > limit;
        if (p->gated != 0 && (g->apart || p->weights_extent > UINT32_MAX / 2)) /* rows are counted twice */
            return qk_fail_apart_(call, p->gated, error);
        before = g->apart ? qk_row_step_(call, weights, parts) - 1 : 0;
    }
    g->chunk = g->experts;
    if (several && !g->apart)
        return QK_OK;
    most_rows -= qk_min_(most_rows, before * qk_rows_bound_(call->kernel, g));
    most = most_rows / qk_max_(p->weights, g->rows);
    for (uint32_t i = 0; i < weights && before > 0; i++) {
        uint64_t bytes = before * (call->arguments[i].unit / parts);
        most = qk_min_(most, (limit - qk_min_(limit, bytes)) / call->arguments[i].unit);
    }
    qk_status status = qk_chunk_(call, 0, weights, g->experts, most, "expert", &g->chunk, error);
    return status == QK_OK && p->adds_slots && g->chunk < g->experts
               ? qk_fail_slots_(call->kernel, "experts that do not fit into a binding together", error)
               : status;
}

/* All launches of a call. */
static inline qk_status qk_run_experts_(const qk_call_ *call, const qk_gemv_id_ *g, qk_error *error) {
    qk_status status = QK_OK;
    qk_share_of_experts_ s = {0, 0, {0, g->apart ? 1 : g->planes.sets, 0}};
    for (; status == QK_OK && s.sets.first < g->planes.sets; s.sets.first += s.sets.count)
        for (s.first = 0; status == QK_OK && s.first < g->experts; s.first += s.count) {
            s.count = qk_min_(g->chunk, g->experts - s.first);
            status = qk_launch_experts_(call, g, &s, error);
        }
    return status;
}

/* Multiplies matrices that are chosen by number with vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k].
 *
 * weights     the format's buffers: experts * rows * cols elements, expert after expert; longer ranges as in qk_dispatch_gemv
 * x           tokens * x_slots * cols values of the type of the kernel's binding
 * x_slots     1, where all slots of a token have the same x, x[t][0][k]; or `slots`
 * ids         tokens * slots u32. An id that is not below `experts` gives zeros and adds one to the status word
 * y           tokens * slots * rows f32
 * status_word one u32, which the caller clears; without a buffer, backend->spare
 * rows, cols  of one expert; cols a multiple of the block. One expert must fit into a binding. Where blocks are patches of a matrix
 *             (kernel->view is QK_VIEW_MATRIX), each of the buffers has the experts' one after the other, and views none but that
 * views       how they lie in memory, how many sets of experts there are, and the type of y (dispatch_views.h); NULL: as above
 * epilogue    as of qk_dispatch_gemv_views. Of several sets, it has what there is for each expert, or vector, set after set
 *
 * An id that is out of range is counted once for each set. Sets that do not fit into a binding together are launched one by one.
 *
 * With rows, cols, tokens or slots 0 nothing is launched. Returns as qk_dispatch_gemv does. */
static inline qk_status qk_dispatch_gemv_id_views(const qk_backend *backend, const qk_kernel *kernel,
                                                  const qk_range *weights, qk_range x, qk_range ids, qk_range y,
                                                  qk_range status_word, uint64_t experts, uint64_t rows, uint64_t cols,
                                                  uint64_t tokens, uint64_t slots, uint64_t x_slots,
                                                  const qk_expert_views *views, const qk_epilogue *epilogue,
                                                  qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_INPUT, QK_ROLE_INDICES, QK_ROLE_STATUS, QK_RESULT_ROLES_};
    qk_tuned_ tuned;
    if (kernel == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "kernel is NULL, must be a descriptor");
    uint64_t sets = views != NULL && views->sets != 0 ? views->sets : 1;
    uint64_t results = qk_product_(sets, qk_product_(qk_product_(tokens, slots), rows));
    qk_status status = qk_tune_(&tuned, &backend, &kernel, results, cols, 1, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, kernel->view == QK_VIEW_BLOCKS, tail, 3 + QK_RESULT_BINDINGS_,
                                qk_experts_push_bytes_(kernel), error);
    if (status != QK_OK || rows == 0 || cols == 0 || tokens == 0 || slots == 0)
        return status;
    qk_gemv_id_ g;
    memset(&g, 0, sizeof g);
    if ((status = qk_check_experts_(kernel, experts, rows, cols, tokens, slots, x_slots, &g.matrix, error)) != QK_OK)
        return status;
    g.experts = experts;
    g.rows = rows;
    g.cols = cols;
    g.tokens = tokens;
    g.slots = slots;
    g.x_slots = x_slots;
    g.row_tiles = cols / kernel->tile_elements;
    g.epilogue = qk_epilogue_bits_(epilogue);
    status = qk_plan_experts_(kernel, views, experts, rows, cols, tokens, slots, x_slots, &g.planes, error);
    if (status == QK_OK)
        status = qk_check_plain_(kernel, g.planes.gated, g.epilogue, error);
    if (status == QK_OK)
        status = qk_check_added_(kernel, &g.planes, g.epilogue, error);
    uint32_t count = kernel->binding_count - 3 - QK_RESULT_BINDINGS_;
    qk_call_ call = qk_call_new_(backend, kernel);
    if (status == QK_OK)
        status = qk_add_expert_factors_(&call, weights, x, ids, status_word, &g, error);
    if (status == QK_OK)
        status = qk_add_expert_results_(&call, y, &g, epilogue, error);
    if (status == QK_OK)
        status = qk_check_whole_(&call, count, error);
    if (status == QK_OK)
        status = qk_chunk_experts_(&call, &g, count, error);
    return status == QK_OK ? qk_run_experts_(&call, &g, error) : status;
}

/* The same of experts, tokens and slots that lie one after the other. */
static inline qk_status qk_dispatch_gemv_id_with(const qk_backend *backend, const qk_kernel *kernel,
                                                 const qk_range *weights, qk_range x, qk_range ids, qk_range y,
                                                 qk_range status_word, uint64_t experts, uint64_t rows, uint64_t cols,
                                                 uint64_t tokens, uint64_t slots, uint64_t x_slots,
                                                 const qk_epilogue *epilogue, qk_error *error) {
    return qk_dispatch_gemv_id_views(backend, kernel, weights, x, ids, y, status_word, experts, rows, cols, tokens,
                                     slots, x_slots, NULL, epilogue, error);
}

/* The same without an epilogue. */
static inline qk_status qk_dispatch_gemv_id(const qk_backend *backend, const qk_kernel *kernel, const qk_range *weights,
                                            qk_range x, qk_range ids, qk_range y, qk_range status_word,
                                            uint64_t experts, uint64_t rows, uint64_t cols, uint64_t tokens,
                                            uint64_t slots, uint64_t x_slots, qk_error *error) {
    return qk_dispatch_gemv_id_with(backend, kernel, weights, x, ids, y, status_word, experts, rows, cols, tokens,
                                    slots, x_slots, NULL, error);
}

#endif
