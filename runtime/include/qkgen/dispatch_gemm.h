/* qkgen/dispatch_gemm.h: a matrix times many vectors. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_GEMM_H
#define QKGEN_DISPATCH_GEMM_H

#include "choice.def"
#include "dispatch_sums.h"

/* Right-hand sides become operands of matrix units in groups of so many. */
#define QK_GEMM_COLUMNS UINT64_C(16)
/* Threads of the launch in which they do. */
#define QK_PACK_THREADS 128u

/* How a product is cut into tiles, a workgroup's and a subgroup's. */
typedef struct qk_tiles_ {
    uint32_t rows, cols, own_rows, own_cols;
    uint32_t parts;  /* of a row, each a workgroup's */
    uint32_t slices; /* of such a part, each other subgroups' */
    qk_schedule schedule;
    uint32_t lanes;  /* of a subgroup */
    uint32_t result; /* floats of a matrix unit's results that go through memory, a subgroup's */
    uint32_t held;   /* words of a row of weights that go through memory, eight rows of 32 threads at a time */
    uint32_t copies; /* of a table of pairs */
    uint32_t step;   /* elements of a row that a subgroup decodes at a time */
} qk_tiles_;

static inline uint32_t qk_tile_subgroups_(const qk_tiles_ *t) {
    return t->rows / t->own_rows * (t->cols / t->own_cols);
}

static inline uint32_t qk_tile_threads_(const qk_tiles_ *t) {
    return qk_tile_subgroups_(t) * t->lanes * t->slices;
}

/* Where threads hold operands of matrix units as they were decoded: weights of two parts, of 64 bytes for each row, in the end sums
 * of eight columns of each subgroup. Else operands of a part, and results of a unit. */
static inline uint32_t qk_tile_operand_bytes_(const qk_tiles_ *t) {
    if (t->schedule == QK_SCHEDULE_TILES && t->result == 0)
        return t->rows * 32 * (uint32_t)qk_max_(4, t->cols / t->own_cols);
    return (t->rows + t->cols) * 64 + qk_tile_subgroups_(t) * t->result * 4;
}

/* Beside operands, a factor for each row, and words of weights; and of each column a unit, and with experts what it is. */
static inline uint32_t qk_tile_bytes_(const qk_tiles_ *t) {
    return t->slices * (qk_tile_operand_bytes_(t) + t->rows * 4 + 4) + qk_tile_threads_(t) * t->held + t->cols * 12 +
           t->copies * QK_PAIRS_;
}

static inline int qk_tiles_fit_(const qk_kernel *kernel, const qk_limits *limits, const qk_tiles_ *t) {
    uint32_t shared = limits->shared_bytes != 0 ? limits->shared_bytes : 16384;
    /* 32 threads decode together; of sums, each has some in registers, beside what becomes operands. */
    uint32_t sums = t->result == 0                             ? QK_TILE_SUMS
                    : kernel->wide_loads >= QK_TILE_MANY_LOADS ? QK_TILE_SUMS_BESIDE_LOADS
                                                               : QK_TILE_SUMS_THROUGH_MEMORY;
    return t->own_rows * t->own_cols <= sums * t->lanes && t->rows % t->own_rows == 0 && t->cols % t->own_cols == 0 &&
           qk_tile_threads_(t) / t->slices % 32 == 0 && qk_tile_threads_(t) <= limits->workgroup_size &&
           qk_tile_bytes_(t) <= shared;
}

/* Tiles side by side. With experts, about so many: of one with more pairs than a tile has columns, the last is half full; of one with
 * fewer, another is the less likely the fewer there are. `batch` are columns of the result. */
static inline uint64_t qk_tiles_across_(uint64_t cols, uint64_t batch, uint64_t experts) {
    uint64_t used = qk_min_(experts, batch), full = used != 0 ? 64 * batch / (cols * used) : 0;
    if (experts == 0)
        return qk_ceil_(batch, cols);
    return full >= 64 ? batch / cols + used / 2 : used + used * full * full * full * full / (2 * 64 * 64 * 64 * 64);
}

/* How long tiles take: microseconds for rows of QK_TILE_COLUMNS, of choice.def. */
typedef struct qk_tile_times_ {
    uint32_t alone, time, at_once;
} qk_tile_times_;

/* Of the processor that makes the most. */
static inline uint64_t qk_tiles_most_(const qk_limits *limits, const qk_tiles_ *t, uint64_t rows, uint64_t batch,
                                      uint64_t experts) {
    uint64_t tiles = qk_ceil_(rows, t->rows) * qk_tiles_across_(t->cols, batch, experts);
    return qk_ceil_(tiles * t->parts, qk_processors_(limits));
}

/* Thousandths of the microseconds that all takes: of the busiest processor's tiles, as many at once as it can, then
 * the rest. Parts and slices of a row are whole steps, so that those of a short row may have none. */
static inline uint64_t qk_tiles_time_(const qk_limits *limits, const qk_tiles_ *t, const qk_tile_times_ *times,
                                      uint64_t rows, uint64_t cols, uint64_t batch, uint64_t experts) {
    uint64_t most = qk_tiles_most_(limits, t, rows, batch, experts), rest = most % times->at_once;
    uint64_t steps = (uint64_t)t->step * t->parts * t->slices, whole = qk_ceil_(cols, steps) * steps;
    uint64_t of_rows = (most - rest) * times->time + (rest != 0 ? qk_max_(times->alone, rest * times->time) : 0);
    uint64_t made = qk_ceil_((uint64_t)1000 * of_rows * whole, (uint64_t)QK_TILE_COLUMNS * t->parts);
    return made + (t->parts > 1 ? (uint64_t)1000 * QK_ADD_PARTS_TIME +
                                      rows * batch * t->parts * 1000 * QK_ADD_PARTS_TIME / QK_ADD_PARTS_VALUES
                                : 0);
}

/* With the number of parts that is the fastest, or `parts` of them. */
static inline uint64_t qk_tiles_parts_(const qk_limits *limits, qk_tiles_ *t, const qk_tile_times_ *times,
                                       uint64_t rows, uint64_t cols, uint64_t batch, uint64_t experts, uint32_t parts) {
    uint64_t least = UINT64_MAX;
    uint32_t best = 1;
    for (uint32_t p = parts != 0 ? parts : 1; p <= (parts != 0 ? parts : 16); p *= 2) {
        t->parts = p;
        uint64_t all = qk_tiles_time_(limits, t, times, rows, cols, batch, experts);
        if (all < least) {
            least = all;
            best = p;
        }
    }
    t->parts = best;
    return least;
}

/* Lets threads load words for each other where a processor makes `few` of these tiles at most, and has memory for it. */
static inline void qk_hold_few_(const qk_kernel *kernel, const qk_limits *limits, qk_tiles_ *t, uint32_t span,
                                uint32_t few, uint64_t rows, uint64_t batch, uint64_t experts) {
    qk_tiles_ held = *t;
    held.held = span;
    if (qk_tiles_most_(limits, t, rows, batch, experts) <= few && qk_tiles_fit_(kernel, limits, &held))
        *t = held;
}

static inline int qk_has_units_(const qk_kernel *kernel, const qk_limits *limits) {
    return (limits->features & QK_FEATURE_COOPERATIVE_MATRIX) != 0 &&
           qk_constant_(kernel, NULL, QK_CONSTANT_SCHEDULE, 0) != QK_SCHEDULE_PLAIN_TILES;
}

/* The tiles of a tuning, where it has some that fit, or those of choice.def: of so many `columns`, with whole rows; 0: any. */
static inline qk_tiles_ qk_tiles_with_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows, uint64_t cols,
                                       uint64_t batch, uint64_t experts, uint64_t columns) {
    int metal = kernel->api == QK_API_METAL, units = !metal && qk_has_units_(kernel, limits);
    qk_schedule schedule = units || metal ? QK_SCHEDULE_TILES : QK_SCHEDULE_PLAIN_TILES;
    uint32_t parts = columns != 0 ? 1 : qk_constant_(kernel, NULL, QK_CONSTANT_K_PARTS, 0);
    uint32_t lanes = units ? qk_unit_constant_(limits, QK_CONSTANT_LANES, 0) : 32, least_side = lanes < 32 ? 32 : 16;
    uint32_t result = units && limits->matrix_order_a == 0 ? qk_unit_constant_(limits, QK_CONSTANT_UNIT_ROWS, 0) *
                                                                 qk_unit_constant_(limits, QK_CONSTANT_UNIT_COLS, 0)
                                                           : 0;
    uint32_t slices = units ? qk_constant_(kernel, NULL, QK_CONSTANT_K_SLICES, 0) : 1;
    uint32_t span = units ? kernel->span_words : 0;
    uint32_t together = qk_constant_(kernel, NULL, QK_CONSTANT_TOGETHER, 0), copies = qk_unit_copies_(kernel);
    uint32_t step = kernel->operand_tile != 0 ? 4 * kernel->operand_tile : 1;
    qk_tiles_ best = {least_side, least_side, 16, 16, 1, 1, schedule, lanes, result, 0, copies, step};
    qk_tiles_ own = {qk_constant_(kernel, NULL, QK_CONSTANT_TILE_ROWS, 0),
                     qk_constant_(kernel, NULL, QK_CONSTANT_TILE_COLS, 0),
                     qk_constant_(kernel, NULL, QK_CONSTANT_OWN_ROWS, 0),
                     qk_constant_(kernel, NULL, QK_CONSTANT_OWN_COLS, 0),
                     parts != 0 ? parts : 1,
                     slices != 0 ? slices : 1,
                     schedule,
                     lanes,
                     result,
                     together != 0 ? span : 0,
                     copies,
                     step};
    uint64_t least = UINT64_MAX;
    int kind = metal ? 3 : units ? (result != 0 ? 2 : 1) : 0;
    if (own.rows != 0 && own.cols != 0 && own.own_rows != 0 && own.own_cols != 0 && qk_tiles_fit_(kernel, limits, &own))
        return own;
#define QK_TILE_(kind_, rows_, cols_, own_rows_, own_cols_, slices_, together_, alone, time, at_once)                  \
    {                                                                                                                  \
        qk_tiles_ t = {(rows_), (cols_), (own_rows_), (own_cols_), 1, 1, schedule, lanes, result, 0, copies, step};    \
        qk_tile_times_ times = {(alone), (time), (at_once)};                                                           \
        t.slices = slices != 0 ? slices : (slices_);                                                                   \
        t.held = together != 0 || (together_) == 1 || ((together_) == 2 && span <= QK_TILE_FEW_WORDS) ? span : 0;      \
        if (kind == (kind_) && (columns == 0 || columns == (cols_))) {                                                 \
            uint64_t all = qk_tiles_parts_(limits, &t, &times, rows, cols, batch, experts, parts);                     \
            if ((together_) > 1)                                                                                       \
                qk_hold_few_(kernel, limits, &t, span, (together_) == 3 ? QK_TILE_FEW : 1, rows, batch, experts);      \
            if (qk_tiles_fit_(kernel, limits, &t) && all < least) {                                                    \
                best = t;                                                                                              \
                least = all;                                                                                           \
            }                                                                                                          \
        }                                                                                                              \
    }
    QK_TILES(QK_TILE_)
#undef QK_TILE_
    return best;
}

/* The same, with any columns. */
static inline qk_tiles_ qk_tiles_plan_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows, uint64_t cols,
                                       uint64_t batch, uint64_t experts) {
    return qk_tiles_with_(kernel, limits, rows, cols, batch, experts, 0);
}

/* Workgroups of a launch, at most. */
static inline uint64_t qk_gemm_workgroups_(const qk_limits *limits) {
    return qk_min_(limits->workgroup_count, QK_MAX_WORKGROUPS);
}

/* Bytes of x as operands: of each column a factor, and of four tiles all words. UINT64_MAX where they are 2^64 or more. */
static inline uint64_t qk_operand_bytes_(const qk_kernel *kernel, uint64_t cols, uint64_t batch) {
    uint64_t columns = qk_ceil_(batch, QK_GEMM_COLUMNS) * QK_GEMM_COLUMNS, words, bytes;
    uint64_t tile = kernel->operand_tile != 0 ? kernel->operand_tile : 1, fours = qk_ceil_(qk_ceil_(cols, tile), 4);
    if (!qk_multiply_(fours, (uint64_t)16 * kernel->operand_words, &words) || words > UINT64_MAX - 4 ||
        !qk_multiply_(columns, words + 4, &bytes))
        return UINT64_MAX;
    return bytes;
}

/* Bytes of scratch memory that a plan needs beside these: sums over parts of rows. */
static inline uint64_t qk_scratch_of_(const qk_kernel *kernel, const qk_tiles_ *t, uint64_t rows, uint64_t cols,
                                      uint64_t batch) {
    uint64_t operands = qk_operand_bytes_(kernel, cols, batch), sums = 0;
    if (t->parts > 1 && !qk_multiply_(qk_product_(rows, batch), (uint64_t)4 * t->parts, &sums))
        return UINT64_MAX;
    return operands > UINT64_MAX - sums ? UINT64_MAX : operands + sums;
}

static inline void qk_tiles_constants_(const qk_kernel *kernel, const qk_limits *limits, const qk_tiles_ *t,
                                       qk_schedule schedule, uint32_t *constants) {
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++) {
        switch (kernel->spec_constants[i].id) {
        case QK_CONSTANT_LOCAL_SIZE_X:
            constants[i] = schedule == t->schedule ? qk_tile_threads_(t) : QK_PACK_THREADS;
            break;
        case QK_CONSTANT_K_PARTS:
            constants[i] = t->parts;
            break;
        case QK_CONSTANT_K_SLICES:
            constants[i] = t->slices;
            break;
        case QK_CONSTANT_TOGETHER:
            constants[i] = t->held != 0;
            break;
        case QK_CONSTANT_TILE_ROWS:
            constants[i] = t->rows;
            break;
        case QK_CONSTANT_TILE_COLS:
            constants[i] = t->cols;
            break;
        case QK_CONSTANT_OWN_ROWS:
            constants[i] = t->own_rows;
            break;
        case QK_CONSTANT_OWN_COLS:
            constants[i] = t->own_cols;
            break;
        case QK_CONSTANT_SCHEDULE:
            constants[i] = (uint32_t)schedule;
            break;
        case QK_CONSTANT_COPIES:
            constants[i] = t->copies;
            break;
        default:
            constants[i] = qk_unit_constant_(limits, kernel->spec_constants[i].id, kernel->spec_constants[i].value);
        }
    }
}

/* What share says; with QK_SCHEDULE_PACK, x alone. */
static inline qk_status qk_launch_tiles_(const qk_call_ *call, const qk_gemv_ *g, const qk_tiles_ *tiles,
                                         qk_schedule schedule, const qk_share_of_ *s, qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    const qk_limits *limits = &call->backend->limits;
    uint32_t weights = call->count - 2 - QK_RESULT_BINDINGS_, constants[QK_MAX_CONSTANTS];
    uint32_t push[QK_GEMV_MATRIX_PUSH_BYTES / 4];
    qk_range ranges[QK_MAX_BINDINGS];
    qk_tiles_constants_(kernel, limits, tiles, schedule, constants);
    qk_set_epilogue_(kernel, g->epilogue, constants);
    qk_set_views_(kernel, g->planes.on, 0, g->planes.y_type, constants);
    uint64_t groups = schedule == QK_SCHEDULE_PACK ? qk_ceil_(g->batch, QK_GEMM_COLUMNS) * QK_GEMM_COLUMNS
                      : schedule == QK_SCHEDULE_ADD_PARTS
                          ? qk_ceil_(s->count * g->batch, QK_PACK_THREADS)
                          : qk_ceil_(s->count, tiles->rows) * qk_ceil_(g->batch, tiles->cols) * tiles->parts;
    groups = qk_min_(groups, qk_gemm_workgroups_(limits) / s->products);
    qk_bind_(call, g, s, weights, groups, ranges, push);
    qk_launch launch;
    launch.kernel = kernel;
    launch.ranges = ranges;
    launch.push = push;
    launch.constants = constants;
    launch.workgroups = (uint32_t)(groups * s->products);
    return call->backend->launch(call->backend->context, &launch, error);
}

static inline qk_status qk_add_gemm_(qk_call_ *call, const qk_range *weights, qk_range x, qk_range scratch, qk_range y,
                                     qk_gemv_ *g, uint64_t scratch_bytes, const qk_epilogue *epilogue,
                                     qk_error *error) {
    uint32_t count = call->kernel->binding_count - 2 - QK_RESULT_BINDINGS_;
    qk_status status = qk_add_factors_(call, weights, count, x, g, error);
    if (status == QK_OK)
        status = qk_add_(call, "scratch", scratch, 1, scratch_bytes, error);
    const qk_results_ results = qk_results_of_(g, &call->backend->limits);
    return status == QK_OK ? qk_add_results_(call, y, &results, epilogue, error) : status;
}

/* What a kernel of tiles needs beside what others of its shape do. */
static inline qk_status qk_check_tiles_(const qk_backend *backend, const qk_kernel *kernel, const char *family,
                                        qk_error *error) {
    if (kernel->operand_tile == 0)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: it makes no tiles, must be a kernel of family %s", kernel->name,
                       family);
    if (backend->barrier == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: backend->barrier is NULL, must order a launch behind one that writes what it reads",
                       kernel->name);
    return QK_OK;
}

static inline qk_status qk_check_wide_(const qk_kernel *kernel, uint64_t cols, const char *other, qk_error *error) {
    if (kernel->wide_block != 0 && cols % kernel->wide_block != 0)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: cols is %" PRIu64 ", must be a multiple of %" PRIu32 "; %s takes others", kernel->name,
                       cols, kernel->wide_block, other);
    return QK_OK;
}

static inline qk_status qk_check_gemm_(const qk_backend *backend, const qk_kernel *kernel, const qk_gemv_ *g,
                                       qk_error *error) {
    qk_status status = qk_check_tiles_(backend, kernel, "gemm", error);
    if (status == QK_OK)
        status = qk_check_gemv_(kernel, g, error);
    return status == QK_OK ? qk_check_wide_(kernel, g->cols, "gemv", error) : status;
}

/* Tiles of a call, of which each of its products has a part of the device. */
static inline qk_tiles_ qk_tiles_of_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows, uint64_t cols,
                                     const qk_planes_ *p) {
    const qk_limits part = p->on ? qk_limits_of_(limits, qk_product_count_(p)) : *limits;
    return qk_tiles_plan_(kernel, &part, rows, cols, p->batch, 0);
}

/* Bytes of scratch memory that qk_dispatch_gemm_views needs on that device, for `batch` vectors of each product;
 * UINT64_MAX where it is 2^64 or more, or the views are wrong. */
static inline uint64_t qk_gemm_views_scratch(const qk_backend *backend, const qk_kernel *kernel, uint64_t rows,
                                             uint64_t cols, uint64_t batch, const qk_views *views) {
    qk_tuned_ tuned;
    qk_planes_ p;
    if (rows == 0 || cols == 0 || batch == 0)
        return 0;
    if (qk_plan_views_(kernel, views, rows, cols, batch, &p, NULL) != QK_OK ||
        qk_tune_(&tuned, &backend, &kernel, rows, cols, p.batch, NULL) != QK_OK)
        return UINT64_MAX;
    qk_tiles_ tiles = qk_tiles_of_(kernel, &backend->limits, rows, cols, &p);
    return qk_product_(qk_product_count_(&p), qk_scratch_of_(kernel, &tiles, rows, cols, p.batch));
}

/* The same without views. */
static inline uint64_t qk_gemm_scratch(const qk_backend *backend, const qk_kernel *kernel, uint64_t rows, uint64_t cols,
                                       uint64_t batch) {
    qk_tuned_ tuned;
    if (qk_tune_(&tuned, &backend, &kernel, rows, cols, batch, NULL) != QK_OK)
        return UINT64_MAX;
    qk_tiles_ tiles = qk_tiles_plan_(kernel, &backend->limits, rows, cols, batch, 0);
    return qk_scratch_of_(kernel, &tiles, rows, cols, batch);
}

/* All launches of a call, with barriers of `outer` between those that make what others read. */
static inline qk_status qk_run_gemm_(const qk_backend *outer, const qk_call_ *call, const qk_gemv_ *g,
                                     const qk_tiles_ *tiles, qk_error *error) {
    qk_status status = QK_OK;
    uint64_t products = qk_product_count_(&g->planes), most = qk_gemm_workgroups_(&call->backend->limits);
    qk_share_of_ s = {0, 0, 0, g->batch, 0, 0};
    for (; status == QK_OK && s.product < products; s.product += s.products) {
        s.products = g->planes.apart ? 1 : qk_min_(products - s.product, most);
        s.first = 0;
        s.count = qk_min_(g->row_chunk, g->rows);
        if (s.product > 0) /* others' operands take the place of those before */
            status = outer->barrier(outer->context, error);
        if (status == QK_OK)
            status = qk_launch_tiles_(call, g, tiles, QK_SCHEDULE_PACK, &s, error);
        for (; status == QK_OK && s.first < g->rows; s.first += s.count) {
            s.count = qk_min_(g->row_chunk, g->rows - s.first);
            /* The second time, parts of other rows take the place of those before. */
            if (s.first == 0 || tiles->parts > 1)
                status = outer->barrier(outer->context, error);
            if (status == QK_OK)
                status = qk_launch_tiles_(call, g, tiles, tiles->schedule, &s, error);
            if (status == QK_OK && tiles->parts > 1)
                status = outer->barrier(outer->context, error);
            if (status == QK_OK && tiles->parts > 1)
                status = qk_launch_tiles_(call, g, tiles, QK_SCHEDULE_ADD_PARTS, &s, error);
        }
    }
    return status;
}

/* Multiplies a matrix with many vectors: y[m][n] = sum over k of value(n, k) * x[m][k]. As qk_dispatch_gemv_views, which is faster for a
 * few of them; but
 *
 * kernel      of family gemm
 * scratch     at least qk_gemm_views_scratch bytes, which the call writes and reads
 * cols        also a multiple of kernel->wide_block
 * backend     has a `barrier`; calls of it are between launches of this call
 *
 * Matrix units multiply where the device has them, else floats, with the same bound. */
static inline qk_status qk_dispatch_gemm_views(const qk_backend *backend, const qk_kernel *kernel,
                                               const qk_range *weights, qk_range x, qk_range scratch, qk_range y,
                                               uint64_t rows, uint64_t cols, uint64_t batch, const qk_views *views,
                                               const qk_epilogue *epilogue, qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_INPUT, QK_ROLE_SCRATCH, QK_RESULT_ROLES_};
    if (kernel == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "kernel is NULL, must be a descriptor");
    int blocks = kernel->view == QK_VIEW_BLOCKS, empty = rows == 0 || cols == 0 || batch == 0;
    const qk_backend *outer = backend;
    qk_gemv_ g;
    memset(&g, 0, sizeof g);
    qk_status status = qk_check_presence_(backend, kernel, error);
    if (status == QK_OK && !empty)
        status = qk_plan_views_(kernel, views, rows, cols, batch, &g.planes, error);
    batch = empty ? batch : g.planes.batch;
    qk_tuned_ tuned;
    if (status == QK_OK)
        status = qk_tune_(&tuned, &backend, &kernel, rows, cols, batch, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, blocks, tail, 2 + QK_RESULT_BINDINGS_,
                                blocks ? QK_GEMV_PUSH_BYTES : QK_GEMV_MATRIX_PUSH_BYTES, error);
    if (status != QK_OK || empty)
        return status;
    g.rows = rows;
    g.cols = cols;
    g.batch = batch;
    g.row_tiles = qk_row_tiles_(kernel, cols);
    g.epilogue = qk_epilogue_bits_(epilogue);
    qk_call_ call = qk_call_new_(backend, kernel);
    if ((status = qk_check_gemm_(outer, kernel, &g, error)) != QK_OK)
        return status;
    qk_tiles_ tiles = qk_tiles_of_(kernel, &backend->limits, rows, cols, &g.planes);
    uint64_t scratch_bytes =
        qk_product_(qk_product_count_(&g.planes), qk_scratch_of_(kernel, &tiles, rows, cols, batch));
    uint32_t count = kernel->binding_count - 2 - QK_RESULT_BINDINGS_;
    qk_plan_offsets_(backend, &g.planes, x, qk_type_bytes(kernel->bindings[count].element), y);
    if ((status = qk_add_gemm_(&call, weights, x, scratch, y, &g, scratch_bytes, epilogue, error)) != QK_OK)
        return status;
    if ((status = qk_chunk_rows_(&call, &g, count, UINT32_MAX, error)) != QK_OK)
        return status;
    return qk_run_gemm_(outer, &call, &g, &tiles, error);
}

/* The same of one matrix, with vectors one after the other, and qk_gemm_scratch bytes. */
static inline qk_status qk_dispatch_gemm_with(const qk_backend *backend, const qk_kernel *kernel,
                                              const qk_range *weights, qk_range x, qk_range scratch, qk_range y,
                                              uint64_t rows, uint64_t cols, uint64_t batch, const qk_epilogue *epilogue,
                                              qk_error *error) {
    return qk_dispatch_gemm_views(backend, kernel, weights, x, scratch, y, rows, cols, batch, NULL, epilogue, error);
}

/* The same without an epilogue. */
static inline qk_status qk_dispatch_gemm(const qk_backend *backend, const qk_kernel *kernel, const qk_range *weights,
                                         qk_range x, qk_range scratch, qk_range y, uint64_t rows, uint64_t cols,
                                         uint64_t batch, qk_error *error) {
    return qk_dispatch_gemm_with(backend, kernel, weights, x, scratch, y, rows, cols, batch, NULL, error);
}

#endif
