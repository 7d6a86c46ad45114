/* qkgen/dispatch_sums.h: matrices times a few vectors: gemv. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_SUMS_H
#define QKGEN_DISPATCH_SUMS_H

#include "dispatch_launch.h"

#define QK_GEMV_PUSH_BYTES (24u + 4u * QK_VIEWS_PUSH_)
#define QK_GEMV_MATRIX_PUSH_BYTES (36u + 4u * QK_VIEWS_PUSH_)

/* Tiles that a row can touch. In a sequence it begins and ends within tiles, unless all rows are whole ones. */
static inline uint64_t qk_row_tiles_(const qk_kernel *kernel, uint64_t cols) {
    uint64_t tile = kernel->tile_elements;
    if (kernel->view == QK_VIEW_SEQUENCE && cols % tile != 0)
        return qk_ceil_(cols - 1, tile) + 1;
    return qk_ceil_(cols, tile);
}

/* x of a second launch begins where the device can bind it, or views say where it does. */
static inline qk_status qk_check_vectors_(const qk_call_ *call, const qk_gemv_ *g, qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    uint32_t alignment = call->backend->limits.offset_alignment;
    uint64_t bytes =
        QK_GEMV_MAX_BATCH * g->cols * qk_type_bytes(kernel->bindings[call->count - 1 - QK_RESULT_BINDINGS_].element);
    if (!g->planes.on && g->batch > QK_GEMV_MAX_BATCH && alignment != 0 && bytes % alignment != 0)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: batch is %" PRIu64 ", must be at most %u where that many vectors of %" PRIu64
                       " columns take %" PRIu64 " bytes, which is no multiple of %" PRIu32
                       ", the device's alignment of offsets",
                       kernel->name, g->batch, QK_GEMV_MAX_BATCH, g->cols, bytes, alignment);
    return QK_OK;
}

/* Rows of weights that begin where the device can bind them are so many rows apart; `parts` of them are a unit. */
static inline uint64_t qk_row_step_(const qk_call_ *call, uint32_t weights, uint64_t parts) {
    uint64_t step = 1;
    for (uint32_t i = 0; i < weights; i++) {
        const qk_argument_ *a = &call->arguments[i];
        uint64_t bytes = a->unit / parts, power = bytes & (~bytes + 1);
        if (power < a->alignment && a->alignment / power > step)
            step = a->alignment / power;
    }
    return step;
}

/* Whether argument `i`, and what comes with it where it begins between two places that can be bound, fits into a binding. */
static inline int qk_fits_binding_(const qk_call_ *call, uint32_t i, uint64_t limit) {
    const qk_argument_ *a = &call->arguments[i];
    return qk_sum_(a->need, a->range.offset % qk_window_alignment_(&call->backend->limits)) <= limit;
}

/* What argument `i` takes of one product, where others are launched by themselves. */
static inline uint64_t qk_need_of_one_(const qk_call_ *call, const qk_gemv_ *g, uint32_t i, uint32_t weights) {
    const qk_argument_ *a = &call->arguments[i];
    const qk_planes_ *p = &g->planes;
    uint64_t each = qk_window_alignment_(&call->backend->limits);
    if (!p->apart || (i != weights && i != call->count - QK_RESULT_BINDINGS_))
        return qk_sum_(a->need, p->on ? a->range.offset % each : 0);
    if (i == weights)
        return qk_sum_(qk_product_(qk_extent_(g->batch, p->x, g->cols), a->unit / g->cols), each);
    return qk_sum_(qk_product_(qk_extent_(g->batch, p->y, g->rows), qk_y_bytes_(p->y_type)), each);
}

static inline qk_status qk_fail_apart_(const qk_call_ *call, uint32_t gated, qk_error *error) {
    return qk_fail(error, QK_ERROR_LIMIT,
                   "%s: views->gated is %" PRIu32 ", must be 0 where both matrices do not fit into a binding",
                   call->kernel->name, gated);
}

/* What is stored are products of sums. */
static inline qk_status qk_check_plain_(const qk_kernel *kernel, uint32_t gated, uint32_t epilogue, qk_error *error) {
    if (gated == 0 || epilogue == 0)
        return QK_OK;
    return qk_fail(error, QK_ERROR_ARGUMENT, "%s: views->gated is %" PRIu32 ", must be 0 with an epilogue",
                   kernel->name, gated);
}

/* Rows that one launch takes, of which all have at most `most_tiles`: all, but where blocks lie one after the other and the `weights`
 * buffers are larger than a binding. Then, or where x or y is, each product has launches of its own. */
static inline qk_status qk_chunk_rows_(const qk_call_ *call, qk_gemv_ *g, uint32_t weights, uint64_t most_tiles,
                                       qk_error *error) {
    uint64_t limit = qk_min_(call->backend->limits.storage_range, UINT32_MAX), most = most_tiles / g->row_tiles;
    qk_planes_ *p = &g->planes;
    int cut = call->kernel->view == QK_VIEW_BLOCKS;
    for (uint32_t i = 0; i < call->count && p->on; i++)
        p->apart |= !qk_fits_binding_(call, i, limit);
    p->apart |= p->on && p->weights_extent > most;
    for (uint32_t i = cut ? weights : 0; i < call->count; i++)
        if (qk_need_of_one_(call, g, i, weights) > limit)
            return qk_fail(error, QK_ERROR_LIMIT,
                           "%s: %s takes %" PRIu64 " bytes, must be at most %" PRIu64 ", the device's storage range",
                           call->kernel->name, call->arguments[i].name, qk_need_of_one_(call, g, i, weights), limit);
    g->row_chunk = g->rows;
    if (!cut || (p->on && !p->apart))
        return QK_OK;
    if (p->gated != 0)
        return qk_fail_apart_(call, p->gated, error);
    if (p->apart) { /* some rows before come with them */
        uint64_t before = qk_row_step_(call, weights, 1) - 1;
        for (uint32_t i = 0; i < weights; i++)
            most = qk_min_(most, limit / call->arguments[i].unit);
        most = most > before ? most - before : 0;
    }
    return qk_chunk_(call, 0, weights, g->rows, most, "row", &g->row_chunk, error);
}

/* What a launch takes: rows `first` to `first` + `count`, vectors from `vector` on, and products from `product` on. */
typedef struct qk_share_of_ {
    uint64_t first, count, vector, vectors, product, products;
} qk_share_of_;

/* The ranges of a launch with views, and where things begin in them. */
static inline qk_first_ qk_view_ranges_(const qk_call_ *call, const qk_gemv_ *g, const qk_share_of_ *s,
                                        uint32_t weights, qk_range *ranges) {
    const qk_planes_ *p = &g->planes;
    const qk_limits *limits = &call->backend->limits;
    const qk_argument_ *x = &call->arguments[weights];
    uint64_t one = p->apart ? s->product : 0, x_from = s->vector * p->x, x_count, skip;
    uint32_t bytes = qk_type_bytes(call->kernel->bindings[weights].element), y = call->count - QK_RESULT_BINDINGS_;
    qk_first_ at = {p->weights_first, 0, 0};
    if (p->apart && call->kernel->view == QK_VIEW_BLOCKS) {
        uint64_t from = qk_weights_of_(p, one) + s->first, bound = from - from % qk_row_step_(call, weights, 1);
        for (uint32_t i = 0; i < weights; i++)
            ranges[i] = qk_part_(&call->arguments[i], bound, from + s->count - bound);
        at.weights += s->first - bound;
    }
    uint64_t x_one = p->apart ? qk_begin_of_(p, p->x_at, one) : 0;
    x_count = p->apart ? qk_extent_(s->vectors, p->x, g->cols) : p->x_extent - x_from;
    ranges[weights] = qk_window_(limits, x->range, x_one + x_from, x_count, bytes, bytes, &skip);
    at.x = skip - x_one;
    uint64_t y_one = p->apart ? qk_y_of_(p, one) : 0;
    ranges[y] = qk_window_(limits, call->arguments[y].range, y_one,
                           p->apart ? qk_extent_(g->batch, p->y, g->rows) : p->y_extent, qk_y_bytes_(p->y_type),
                           qk_y_unit_(call->kernel, p->y_type), &skip);
    at.y = skip - y_one + p->y_first;
    return at;
}

/* Ranges and push constants of a launch. */
static inline void qk_bind_(const qk_call_ *call, const qk_gemv_ *g, const qk_share_of_ *s, uint32_t weights,
                            uint64_t groups, qk_range *ranges, uint32_t *push) {
    const qk_kernel *kernel = call->kernel;
    const qk_planes_ *p = &g->planes;
    int blocks = kernel->view == QK_VIEW_BLOCKS;
    uint64_t rows = p->on && !p->apart ? p->weights_extent : s->count;
    qk_first_ at = {0, 0, 0};
    uint32_t n = 6;
    for (uint32_t i = 0; i < call->count; i++)
        ranges[i] =
            i < weights && blocks ? qk_part_(&call->arguments[i], s->first, rows) : qk_part_(&call->arguments[i], 0, 1);
    for (uint32_t i = blocks ? weights : 0; i < call->count; i++)
        ranges[i].size = call->arguments[i].need;
    if (!p->on)
        ranges[weights] = qk_part_(&call->arguments[weights], s->vector, s->vectors);
    else
        at = qk_view_ranges_(call, g, s, weights, ranges);
    push[0] = (uint32_t)s->count;
    push[1] = (uint32_t)g->row_tiles;
    push[2] = (uint32_t)s->vectors;
    push[3] = (uint32_t)(s->vector * g->rows + s->first);
    push[4] = (uint32_t)g->rows;
    push[5] = g->epilogue;
    if (!blocks) {
        push[n++] = (uint32_t)g->matrix.cols;
        push[n++] = (uint32_t)g->matrix.grid_rows;
        push[n++] = (uint32_t)g->matrix.grid_cols;
    }
    qk_push_views_(p, &at, groups, s->product, push + n);
}

/* Whether sums of a launch with these constants come in parts, which y holds. */
static inline int qk_leaves_parts_(const qk_kernel *kernel, const uint32_t *constants) {
    return qk_schedule_of_(qk_constant_(kernel, constants, QK_CONSTANT_SCHEDULE, 0))->results == QK_RESULTS_IN_PARTS_;
}

/* Constants of a launch whose results have 16 bits: none of them holds a sum in parts. Teams keep sums where others leave them in y. */
static inline void qk_keep_sums_(const qk_kernel *kernel, const qk_limits *limits, uint64_t vectors, uint64_t rows,
                                 uint64_t cols, uint32_t *constants) {
    qk_spec_constant list[QK_MAX_CONSTANTS];
    qk_kernel teams = *kernel;
    if (!qk_leaves_parts_(kernel, constants))
        return;
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++) {
        list[i] = kernel->spec_constants[i];
        if (list[i].id == QK_CONSTANT_SCHEDULE)
            list[i].value = QK_SCHEDULE_OF_WHOLE_SUMS_;
    }
    teams.spec_constants = list;
    qk_gemv_constants_(&teams, limits, vectors, rows, cols, constants);
    if (qk_leaves_parts_(kernel, constants))
        qk_set_constant_(kernel, QK_CONSTANT_SCHEDULE, qk_plain_rows_(kernel, limits), constants);
}

static inline qk_status qk_fail_pairs_(const qk_kernel *kernel, uint32_t gated, qk_error *error) {
    return qk_fail(
        error, QK_ERROR_UNSUPPORTED,
        "%s: views->gated is %" PRIu32
        ", must be 0 for this shape on this device: neighbours in a subgroup must have a row of each matrix, and "
        "x must begin where runs do",
        kernel->name, gated);
}

static inline qk_status qk_fail_norm_(const qk_kernel *kernel, float epsilon, qk_error *error) {
    return qk_fail(error, QK_ERROR_UNSUPPORTED,
                   "%s: views->epsilon is %g, must be 0 for this shape on this device: a workgroup must see all of x, which "
                   "must begin where runs do",
                   kernel->name, (double)epsilon);
}

/* Launches that share, or as many of its products as a launch takes, which it then has. */
static inline qk_status qk_launch_gemv_(const qk_call_ *call, const qk_gemv_ *g, qk_share_of_ *s, qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    const qk_planes_ *p = &g->planes;
    const qk_limits limits = p->on ? qk_limits_of_(&call->backend->limits, s->products) : call->backend->limits;
    uint32_t weights = call->count - 1 - QK_RESULT_BINDINGS_, constants[QK_MAX_CONSTANTS];
    uint32_t push[QK_GEMV_MATRIX_PUSH_BYTES / 4];
    uint64_t most = qk_max_workgroups_(call), groups, least;
    const int joined = p->in_parts && s->products > 1; /* they are shared out as one matrix */
    qk_range ranges[QK_MAX_BINDINGS];
    qk_launch launch;
    int mma = (kernel->features & QK_FEATURE_COOPERATIVE_MATRIX) != 0;
    qk_mma_ plan = {0, 0, 0, 0, 0};
    const int own = p->gated != 0 || p->epsilon > 0;
    if (mma) {
        plan = qk_mma_plan_(kernel, &limits, s->vectors, s->count, g->cols);
        qk_mma_constants_(kernel, &limits, &plan, constants);
    } else if (!own)
        qk_gemv_constants_(kernel, joined ? &call->backend->limits : &limits, s->vectors,
                           joined ? s->count * s->products : s->count, g->cols, constants);
    else if (!qk_own_constants_(kernel, joined ? &call->backend->limits : &limits, s->vectors,
                                joined ? s->count * s->products : s->count, g->cols, p->gated != 0,
                                qk_bits_of_(p->epsilon), constants) ||
             p->uneven)
        return p->gated != 0 ? qk_fail_pairs_(kernel, p->gated, error) : qk_fail_norm_(kernel, p->epsilon, error);
    if (p->y_type != QK_Y_F32)
        qk_keep_sums_(kernel, &limits, s->vectors, s->count, g->cols, constants);
    /* Of one vector, but in bytes, all epilogues have one pipeline: a layer's code stays in caches (docs/models.md). */
    if (mma || s->vectors > 1 || qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 1)
        qk_set_epilogue_(kernel, g->epilogue, constants);
    qk_set_views_(kernel, p->on, p->gated != 0, p->y_type, constants);
    groups = mma ? qk_min_(qk_mma_groups_(&plan, kernel, s->count, g->cols), plan.workgroups)
                 : qk_gemv_workgroups_(kernel, &limits, s->vectors, s->count, g->cols, constants);
    least = qk_least_workgroups_(&limits, s->count,
                                 g->cols * (mma ? plan.vectors : qk_constant_(kernel, constants, QK_CONSTANT_BATCH, 8)),
                                 qk_constant_(kernel, constants, QK_CONSTANT_LOCAL_SIZE_X, 64));
    s->products = qk_max_(1, qk_min_(s->products, most / qk_min_(qk_max_(least, 1), most)));
    groups = qk_min_(qk_max_(groups, least), most / s->products);
    qk_bind_(call, g, s, weights, groups, ranges, push);
    if (kernel->view == QK_VIEW_BLOCKS)
        qk_pad_(call, weights, ranges, constants);
    launch.kernel = kernel;
    launch.ranges = ranges;
    launch.push = push;
    launch.constants = constants;
    launch.workgroups = (uint32_t)(groups * s->products);
    qk_fit_schedule_(kernel, &limits, s->count, g->cols, constants);
    if (p->on && p->uneven)
        qk_set_constant_(kernel, QK_CONSTANT_SCHEDULE, qk_plain_rows_(kernel, &limits), constants);
    return call->backend->launch(call->backend->context, &launch, error);
}

/* Right-hand sides of a launch, at most. With matrix units it takes twice as many where rows are few, and all of x fits
 * into a workgroup: else threads, with x of two groups in their registers, have too few for loads on their way. */
static inline uint64_t qk_gemv_max_batch_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows,
                                          uint64_t cols) {
    uint64_t tiles = QK_UNITS_TILES * qk_processors_(limits);
    int doubles = qk_constant_(kernel, NULL, QK_CONSTANT_VECTORS, 0) != 0 && cols <= QK_UNITS_COLS &&
                  qk_ceil_(rows, QK_MMA_ROWS) <= tiles;
    return doubles ? QK_UNITS_MAX_BATCH : QK_GEMV_MAX_BATCH;
}

/* All launches of a call. */
static inline qk_status qk_run_gemv_(const qk_call_ *call, const qk_gemv_ *g, qk_error *error) {
    qk_status status = QK_OK;
    uint64_t products = qk_product_count_(&g->planes);
    uint64_t most = qk_gemv_max_batch_(call->kernel, &call->backend->limits, qk_min_(g->rows, g->row_chunk), g->cols);
    qk_share_of_ s = {0, 0, 0, 0, 0, 1};
    for (uint64_t product = 0; status == QK_OK && product < products; product += s.products) {
        uint64_t at_once = g->planes.apart ? 1 : products - product;
        for (uint64_t first = 0; status == QK_OK && first < g->rows; first += s.count) {
            s.first = first;
            s.count = qk_min_(g->row_chunk, g->rows - first);
            for (s.vector = 0; status == QK_OK && s.vector < g->batch; s.vector += s.vectors) {
                s.vectors = qk_min_(g->batch - s.vector, most);
                s.product = product;
                s.products = at_once;
                status = qk_launch_gemv_(call, g, &s, error);
                at_once = s.products;
            }
        }
    }
    return status;
}

/* Multiplies a matrix with vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
 *
 * weights     the format's buffers in the order of the kernel's bindings: rows * cols elements. Where each range is QK_PADDING
 *             bytes longer than that, or more, what follows may be read, which is faster
 * x           batch * cols values of the type of the kernel's binding
 * y           batch * rows f32
 * rows, cols  of the matrix; cols a multiple of the block; where blocks are patches of a matrix and kernel->ragged is not 0,
 *             any number
 * batch       any number; a launch takes 8 of them, so that 9 are as slow as 16; with matrix units, of few rows, 16
 *
 * views       how they lie in memory, how many such products there are, and the type of y (dispatch_views.h); NULL: as above
 * epilogue    what else is done with each sum before it is stored; NULL: nothing. What it has for each result lies as y does, what
 *             it has for each vector, vector after vector of product after product; all else is the same for all products
 *
 * With rows, cols or batch 0 nothing is launched. The error is bounded by kernel->numeric, where results are added to y with one
 * more rounding; on one device, the result has the same bits each time. Returns as qk_dispatch_dequant does. */
static inline qk_status qk_dispatch_gemv_views(const qk_backend *backend, const qk_kernel *kernel,
                                               const qk_range *weights, qk_range x, qk_range y, uint64_t rows,
                                               uint64_t cols, uint64_t batch, const qk_views *views,
                                               const qk_epilogue *epilogue, qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_INPUT, QK_RESULT_ROLES_};
    if (kernel == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "kernel is NULL, must be a descriptor");
    int blocks = kernel->view == QK_VIEW_BLOCKS, empty = rows == 0 || cols == 0 || batch == 0;
    qk_gemv_ g;
    memset(&g, 0, sizeof g);
    qk_status status = qk_check_presence_(backend, kernel, error);
    if (status == QK_OK && !empty)
        status = qk_plan_views_(kernel, views, rows, cols, batch, &g.planes, error);
    batch = empty ? batch : g.planes.batch;
    qk_tuned_ tuned;
    if (status == QK_OK)
        status = qk_tune_(&tuned, &backend, &kernel, rows, cols, qk_min_(batch, QK_GEMV_MAX_BATCH), error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, blocks, tail, 1 + QK_RESULT_BINDINGS_,
                                blocks ? QK_GEMV_PUSH_BYTES : QK_GEMV_MATRIX_PUSH_BYTES, error);
    if (status != QK_OK || empty)
        return status;
    g.rows = g.planes.gated != 0 ? 2 * rows : rows;
    g.cols = cols;
    g.batch = batch;
    g.row_tiles = qk_row_tiles_(kernel, cols);
    g.epilogue = qk_epilogue_bits_(epilogue);
    if ((status = qk_check_gemv_(kernel, &g, error)) != QK_OK ||
        (status = qk_check_plain_(kernel, g.planes.gated, g.epilogue, error)) != QK_OK)
        return status;
    qk_call_ call = qk_call_new_(backend, kernel);
    uint32_t count = kernel->binding_count - 1 - QK_RESULT_BINDINGS_;
    qk_plan_offsets_(backend, &g.planes, x, qk_type_bytes(kernel->bindings[count].element), y);
    if ((status = qk_add_factors_(&call, weights, count, x, &g, error)) != QK_OK)
        return status;
    qk_results_ results = qk_results_of_(&g, &backend->limits);
    if (g.planes.epsilon > 0)
        results.norm = &views->norm;
    if ((status = qk_add_results_(&call, y, &results, epilogue, error)) != QK_OK)
        return status;
    status = qk_check_vectors_(&call, &g, error);
    if (status == QK_OK)
        status = qk_check_whole_blocks_(kernel, &backend->limits, rows, cols, g.planes.on && g.planes.uneven, error);
    if (status == QK_OK)
        status = qk_chunk_rows_(&call, &g, count, qk_max_tiles_(&call), error);
    return status == QK_OK ? qk_run_gemv_(&call, &g, error) : status;
}

/* The same of one matrix, with vectors one after the other. */
static inline qk_status qk_dispatch_gemv_with(const qk_backend *backend, const qk_kernel *kernel,
                                              const qk_range *weights, qk_range x, qk_range y, uint64_t rows,
                                              uint64_t cols, uint64_t batch, const qk_epilogue *epilogue,
                                              qk_error *error) {
    return qk_dispatch_gemv_views(backend, kernel, weights, x, y, rows, cols, batch, NULL, epilogue, error);
}

/* The same without an epilogue. */
static inline qk_status qk_dispatch_gemv(const qk_backend *backend, const qk_kernel *kernel, const qk_range *weights,
                                         qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch,
                                         qk_error *error) {
    return qk_dispatch_gemv_with(backend, kernel, weights, x, y, rows, cols, batch, NULL, error);
}

#endif
