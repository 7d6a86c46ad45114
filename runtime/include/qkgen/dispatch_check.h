/* qkgen/dispatch_check.h: what a call must be like. Descriptor, backend and arguments are checked against each other, the shape
 * against the format, ranges against what the call needs, before anything is launched. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_CHECK_H
#define QKGEN_DISPATCH_CHECK_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernel.h"

#define QK_MAX_BINDINGS 16u
#define QK_MAX_CONSTANTS 24u
/* Right-hand sides that a launch of gemv takes at most. */
#define QK_GEMV_MAX_BATCH 8u
/* The same of one with matrix units, on Vulkan. */
#define QK_UNITS_MAX_BATCH 16u

#if defined(__GNUC__)
#define QK_PRINTF(text, args) __attribute__((format(printf, text, args)))
#else
#define QK_PRINTF(text, args)
#endif

/* Fills in `error` (which may be NULL) and returns `status`. */
static inline qk_status qk_fail(qk_error *error, qk_status status, const char *format, ...) QK_PRINTF(3, 4);
static inline qk_status qk_fail(qk_error *error, qk_status status, const char *format, ...) {
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        vsnprintf(error->text, sizeof error->text, format, args);
        va_end(args);
    }
    return status;
}

/* The name of one QK_FEATURE_ bit, as the device API spells it. */
static inline const char *qk_feature_name(uint32_t bit) {
#define QK_FEATURE_CASE(number, NAME, text)                                                                            \
    case QK_FEATURE_##NAME:                                                                                            \
        return text;
    switch (bit) {
        QK_FEATURES(QK_FEATURE_CASE)
    default:
        return "a feature that this runtime does not know";
    }
#undef QK_FEATURE_CASE
}

/* Bytes of one element. */
static inline uint32_t qk_type_bytes(qk_type type) {
    switch (type) {
    case QK_TYPE_U8:
        return 1;
    case QK_TYPE_U16:
    case QK_TYPE_F16:
    case QK_TYPE_BF16:
        return 2;
    case QK_TYPE_U32:
    case QK_TYPE_F32:
        return 4;
    }
    return 4;
}

/* One argument that is bound: the range as passed, the bytes of it that the whole call touches, and the bytes that one
 * unit of the split (block, row or token) takes. */
typedef struct qk_argument_ {
    char name[24];
    qk_range range;
    uint64_t need;
    uint64_t unit;
    uint32_t alignment;
    int written;
} qk_argument_;

typedef struct qk_call_ {
    const qk_backend *backend;
    const qk_kernel *kernel;
    uint32_t count;
    qk_argument_ arguments[QK_MAX_BINDINGS];
} qk_call_;

static inline uint64_t qk_max_(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static inline uint64_t qk_min_(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* a * b; 0 when it does not fit. */
static inline int qk_multiply_(uint64_t a, uint64_t b, uint64_t *product) {
    if (b != 0 && a > UINT64_MAX / b)
        return 0;
    *product = a * b;
    return 1;
}

static inline uint64_t qk_product_(uint64_t a, uint64_t b) {
    uint64_t product;
    return qk_multiply_(a, b, &product) ? product : UINT64_MAX;
}

static inline uint64_t qk_ceil_(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

/* What schedule.def says of a schedule: its words as numbers, and the features of subgroups that it requires. */
enum { QK_VECTORS_ANY_, QK_VECTORS_FEW_, QK_VECTORS_SEVERAL_, QK_VECTORS_MANY_, QK_VECTORS_EXPERTS_ };
enum {
    QK_TILE_ROWS_,
    QK_TILE_SHARED_,
    QK_TILE_WIDE_,
    QK_TILE_AHEAD_,
    QK_TILE_TEAMS_,
    QK_TILE_COLUMNS_,
    QK_TILE_OPERANDS_
};
enum { QK_RESULTS_WHOLE_, QK_RESULTS_IN_PARTS_ };
enum {
    QK_SUBGROUPS_NOTHING_ = 0,
    QK_SUBGROUPS_ARITHMETIC_ = QK_FEATURE_SUBGROUP_ARITHMETIC,
    QK_SUBGROUPS_SHUFFLE_ = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE
};

typedef struct qk_schedule_facts_ {
    int vectors, tile, results;
    uint32_t features;
} qk_schedule_facts_;

static inline const qk_schedule_facts_ *qk_schedule_of_(uint32_t schedule) {
#define QK_SCHEDULE_FACTS_(number, NAME, name, vectors, tile, subgroups, results, bytes, meaning)                      \
    {QK_VECTORS_##vectors##_, QK_TILE_##tile##_, QK_RESULTS_##results##_, QK_SUBGROUPS_##subgroups##_},
    static const qk_schedule_facts_ all[] = {{QK_VECTORS_ANY_, QK_TILE_ROWS_, QK_RESULTS_WHOLE_, 0},
                                             QK_SCHEDULES(QK_SCHEDULE_FACTS_)};
#undef QK_SCHEDULE_FACTS_
    return &all[schedule < QK_SCHEDULE_COUNT ? schedule : (uint32_t)QK_SCHEDULE_NONE];
}

/* The schedules that a kernel has, a bit for each number; 0: it is one module. */
static inline uint32_t qk_schedules_(const qk_kernel *kernel) {
    uint32_t all = 0;
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++)
        for (uint32_t l = 0;
             kernel->spec_constants[i].id == QK_CONSTANT_SCHEDULE && l < kernel->spec_constants[i].legal_count; l++) {
            uint32_t schedule = kernel->spec_constants[i].legal[l];
            all |= schedule != QK_SCHEDULE_NONE && schedule < QK_SCHEDULE_COUNT ? UINT32_C(1) << schedule : 0;
        }
    return all;
}

/* Whether it has that one, and the device what it requires. */
static inline int qk_may_take_(const qk_kernel *kernel, const qk_limits *limits, uint32_t schedule) {
    return (qk_schedules_(kernel) >> schedule & 1u) != 0 &&
           (qk_schedule_of_(schedule)->features & kernel->features & ~limits->features) == 0;
}

/* Its schedule for whatever shape, on a device with these limits; QK_SCHEDULE_NONE: there is none. */
static inline uint32_t qk_plain_schedule_(const qk_kernel *kernel, const qk_limits *limits) {
    for (uint32_t s = 1; s < QK_SCHEDULE_COUNT; s++)
        if (qk_schedule_of_(s)->tile == QK_TILE_ROWS_ && qk_may_take_(kernel, limits, s))
            return s;
    return QK_SCHEDULE_NONE;
}

/* Features that the device lacks and the kernel requires, whatever its schedule. */
static inline uint32_t qk_missing_features_(const qk_kernel *kernel, const qk_limits *limits) {
    uint32_t missing = kernel->features & ~limits->features, of_subgroups = QK_SUBGROUPS_SHUFFLE_;
    for (uint32_t s = 1; s < QK_SCHEDULE_COUNT && (missing & of_subgroups) != 0; s++)
        if (qk_schedule_of_(s)->tile != QK_TILE_OPERANDS_ && qk_may_take_(kernel, limits, s))
            missing &= ~of_subgroups;
    return missing;
}

static inline qk_status qk_check_features_(const qk_backend *backend, const qk_kernel *kernel, qk_error *error) {
    uint32_t missing = qk_missing_features_(kernel, &backend->limits);
    char names[160] = "";
    size_t length = 0;
    if (missing == 0)
        return QK_OK;
    for (uint32_t bit = 0; bit < 32; bit++) {
        if ((missing >> bit & 1u) == 0)
            continue;
        int n = snprintf(names + length, sizeof names - length, "%s%s", length > 0 ? ", " : "",
                         qk_feature_name(UINT32_C(1) << bit));
        if (n < 0 || (size_t)n >= sizeof names - length)
            break;
        length += (size_t)n;
    }
    return qk_fail(error, QK_ERROR_UNSUPPORTED, "%s: the device lacks %s, which the kernel requires", kernel->name,
                   names);
}

/* The bindings must be `weights...` and then the roles of `tail`. */
static inline qk_status qk_check_bindings_(const qk_kernel *kernel, const qk_role *tail, uint32_t tail_count,
                                           uint32_t push_bytes, qk_error *error) {
    uint32_t count = kernel->binding_count;
    if (kernel->bindings == NULL || count <= tail_count || count > QK_MAX_BINDINGS)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: kernel->binding_count is %" PRIu32 ", must be from %" PRIu32 " to %u", kernel->name,
                       kernel->bindings == NULL ? 0 : count, tail_count + 1, QK_MAX_BINDINGS);
    for (uint32_t i = 0; i < count; i++) {
        qk_role role = i < count - tail_count ? QK_ROLE_WEIGHTS : tail[i - (count - tail_count)];
        if (kernel->bindings[i].role != role)
            return qk_fail(error, QK_ERROR_ARGUMENT,
                           "%s: kernel->bindings[%" PRIu32 "].role is %d, must be %d, as this family has it",
                           kernel->name, i, (int)kernel->bindings[i].role, (int)role);
    }
    if (kernel->push_bytes != push_bytes)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: kernel->push_bytes is %" PRIu32 ", must be %" PRIu32 ", as this family has it",
                       kernel->name, kernel->push_bytes, push_bytes);
    if (kernel->block_elements == 0 || kernel->tile_elements == 0 ||
        kernel->block_elements % kernel->tile_elements != 0 ||
        (kernel->view != QK_VIEW_BLOCKS &&
         (kernel->block_rows == 0 || kernel->block_cols == 0 || kernel->block_cols % kernel->tile_elements != 0)))
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: kernel->tile_elements is %" PRIu32 ", must divide block_elements %" PRIu32, kernel->name,
                       kernel->tile_elements, kernel->block_elements);
    return QK_OK;
}

static inline qk_status qk_check_device_(const qk_backend *backend, const qk_kernel *kernel, qk_error *error) {
    static const char *const apis[] = {"QK_API_VULKAN", "QK_API_METAL"};
    const qk_limits *limits = &backend->limits;
    uint32_t alignment = limits->offset_alignment;
    if (kernel->api != backend->api)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: kernel->api is %s, must be %s, as the backend's", kernel->name,
                       apis[kernel->api == QK_API_METAL], apis[backend->api == QK_API_METAL]);
    qk_status status = qk_check_features_(backend, kernel, error);
    if (status != QK_OK)
        return status;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: limits.offset_alignment is %" PRIu32 ", must be a power of two",
                       kernel->name, alignment);
    if (limits->workgroup_count == 0)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: limits.workgroup_count is 0, must be at least 1", kernel->name);
    if (kernel->workgroup_size == 0 || kernel->workgroup_size > limits->workgroup_size)
        return qk_fail(error, QK_ERROR_LIMIT,
                       "%s: kernel->workgroup_size is %" PRIu32 ", must be from 1 to %" PRIu32 " on this device",
                       kernel->name, kernel->workgroup_size, limits->workgroup_size);
    if (kernel->push_bytes > limits->push_bytes)
        return qk_fail(error, QK_ERROR_LIMIT,
                       "%s: kernel->push_bytes is %" PRIu32 ", must be at most %" PRIu32 " on this device",
                       kernel->name, kernel->push_bytes, limits->push_bytes);
    return QK_OK;
}

/* What every call needs before anything else is looked at. */
static inline qk_status qk_check_presence_(const qk_backend *backend, const qk_kernel *kernel, qk_error *error) {
    if (kernel == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "kernel is NULL, must be a descriptor");
    if (kernel->abi != QK_ABI_VERSION)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "kernel->abi is %" PRIu32 ", must be %d, as in these headers; generate the kernel again",
                       kernel->abi, QK_ABI_VERSION);
    if (backend == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: backend is NULL, must be a backend", kernel->name);
    if (backend->launch == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: backend->launch is NULL, must be a function", kernel->name);
    return QK_OK;
}

static inline qk_status qk_check_call_(const qk_backend *backend, const qk_kernel *kernel, int blocks,
                                       const qk_role *tail, uint32_t tail_count, uint32_t push_bytes, qk_error *error) {
    qk_status status = qk_check_presence_(backend, kernel, error);
    if (status != QK_OK)
        return status;
    if (blocks != (kernel->view == QK_VIEW_BLOCKS))
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: kernel->view is %d, must be %s for this function", kernel->name,
                       (int)kernel->view, blocks ? "QK_VIEW_BLOCKS" : "another than QK_VIEW_BLOCKS");
    status = qk_check_bindings_(kernel, tail, tail_count, push_bytes, error);
    return status == QK_OK ? qk_check_device_(backend, kernel, error) : status;
}

static inline qk_status qk_check_multiple_(const qk_kernel *kernel, const char *name, uint64_t value, qk_error *error) {
    if (value != 0 && value % kernel->block_elements == 0)
        return QK_OK;
    return qk_fail(error, QK_ERROR_ARGUMENT,
                   "%s: %s is %" PRIu64 ", must be a positive multiple of %" PRIu32 ", the elements of a block",
                   kernel->name, name, value, kernel->block_elements);
}

static inline qk_call_ qk_call_new_(const qk_backend *backend, const qk_kernel *kernel) {
    qk_call_ call;
    call.backend = backend;
    call.kernel = kernel;
    call.count = 0;
    return call;
}

/* What printf makes slowly, for each launch: copies `name`, which has fewer than `size` characters. */
static inline char *qk_copy_name_(char *to, size_t size, const char *name) {
    size_t i = 0;
    for (; i + 1 < size && name[i] != 0; i++)
        to[i] = name[i];
    to[i] = 0;
    return to + i;
}

/* "weights[3]"; `i` is below 100. */
static inline void qk_weights_name_(char name[24], uint32_t i) {
    char *at = qk_copy_name_(name, 24, "weights[");
    if (i >= 10)
        *at++ = (char)('0' + i / 10 % 10);
    *at++ = (char)('0' + i % 10);
    at[0] = ']';
    at[1] = 0;
}

/* The status word of a call; where it has none, what the backend has in its place. */
static inline qk_range qk_status_word_(const qk_backend *backend, qk_range status_word) {
    return status_word.buffer != NULL ? status_word : backend->spare;
}

/* Appends the argument of the next binding, and checks it. It holds `units` times `unit` bytes, and begins at a multiple of `alignment`. */
static inline qk_status qk_add_aligned_(qk_call_ *call, const char *name, qk_range range, uint64_t units, uint64_t unit,
                                        uint32_t alignment, qk_error *error) {
    const char *kernel = call->kernel->name;
    qk_argument_ *a = &call->arguments[call->count];
    const qk_binding *binding = &call->kernel->bindings[call->count++];
    qk_copy_name_(a->name, sizeof a->name, name);
    if (binding->role == QK_ROLE_STATUS)
        range = qk_status_word_(call->backend, range);
    a->range = range;
    a->unit = unit;
    a->alignment = alignment;
    a->written = binding->access != QK_READ;
    if (unit == 0)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: %s has blocks of 0 bytes, must be at least 1", kernel, name);
    if (!qk_multiply_(units, unit, &a->need))
        return qk_fail(error, QK_ERROR_LIMIT, "%s: %s needs %" PRIu64 " times %" PRIu64 " bytes, must be below 2^64",
                       kernel, name, units, unit);
    if (range.buffer == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: %s.buffer is NULL, must be a buffer", kernel, name);
    if (range.offset % a->alignment != 0)
        return qk_fail(error, QK_ERROR_ALIGNMENT, "%s: %s.offset is %" PRIu64 ", must be a multiple of %" PRIu32,
                       kernel, name, range.offset, a->alignment);
    if (range.size < a->need)
        return qk_fail(error, QK_ERROR_SIZE, "%s: %s.size is %" PRIu64 " bytes, must be at least %" PRIu64, kernel,
                       name, range.size, a->need);
    if (range.size > UINT64_MAX - range.offset)
        return qk_fail(error, QK_ERROR_SIZE,
                       "%s: %s.size is %" PRIu64 " bytes from offset %" PRIu64 ", must end below 2^64", kernel, name,
                       range.size, range.offset);
    return QK_OK;
}

/* The same, aligned as the device and the elements ask. */
static inline qk_status qk_add_(qk_call_ *call, const char *name, qk_range range, uint64_t units, uint64_t unit,
                                qk_error *error) {
    uint32_t element = qk_type_bytes(call->kernel->bindings[call->count].element);
    uint32_t alignment = call->backend->limits.offset_alignment;
    return qk_add_aligned_(call, name, range, units, unit, alignment < element ? element : alignment, error);
}

/* Appends the format's buffers; one unit is `blocks` blocks. */
static inline qk_status qk_add_weights_(qk_call_ *call, const qk_range *weights, uint32_t count, uint64_t units,
                                        uint64_t blocks, qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    if (weights == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: weights is NULL, must be %" PRIu32 " ranges", kernel->name,
                       count);
    for (uint32_t i = 0; i < count; i++) {
        char name[24];
        uint64_t unit;
        qk_weights_name_(name, i);
        if (!qk_multiply_(blocks, kernel->bindings[i].block_bytes, &unit))
            return qk_fail(error, QK_ERROR_LIMIT,
                           "%s: %s needs %" PRIu64 " times %" PRIu32 " bytes, must be below 2^64", kernel->name, name,
                           blocks, kernel->bindings[i].block_bytes);
        qk_status status = qk_add_(call, name, weights[i], units, unit, error);
        if (status != QK_OK)
            return status;
    }
    return QK_OK;
}

/* Nothing that is written may share bytes with another argument. */
static inline qk_status qk_check_overlap_(const qk_call_ *call, qk_error *error) {
    for (uint32_t i = 0; i < call->count; i++) {
        for (uint32_t j = 0; j < call->count; j++) {
            const qk_argument_ *a = &call->arguments[i], *b = &call->arguments[j];
            if (i == j || !a->written || a->range.buffer != b->range.buffer)
                continue;
            uint64_t a_end = a->range.offset + a->need, b_end = b->range.offset + b->need;
            if (a->range.offset >= b_end || b->range.offset >= a_end)
                continue;
            return qk_fail(error, QK_ERROR_ARGUMENT,
                           "%s: %s is bytes %" PRIu64 " to %" PRIu64 " of a buffer, must be apart "
                           "from %s, bytes %" PRIu64 " to %" PRIu64,
                           call->kernel->name, a->name, a->range.offset, a_end, b->name, b->range.offset, b_end);
        }
    }
    return QK_OK;
}

/* The matrix that the blocks of a view are patches of, for a tensor of rows x cols. */
typedef struct qk_matrix_ {
    uint64_t rows, cols;
    uint64_t grid_rows, grid_cols; /* blocks */
} qk_matrix_;

/* The first `rows` and `cols` are positive and their product is below 2^32. */
static inline qk_status qk_plan_matrix_(const qk_kernel *kernel, uint64_t rows, uint64_t cols, qk_matrix_ *matrix,
                                        qk_error *error) {
    uint64_t elements = rows * cols;
    matrix->rows = rows;
    matrix->cols = cols;
    matrix->grid_rows = matrix->grid_cols = 0;
    if (kernel->view == QK_VIEW_SEQUENCE) {
        matrix->rows = 1;
        matrix->cols = elements;
    }
    if (kernel->view == QK_VIEW_GROUPS) {
        if (elements % kernel->block_cols != 0)
            return qk_fail(error, QK_ERROR_ARGUMENT,
                           "%s: rows times cols is %" PRIu64 ", must be a multiple of %" PRIu32
                           ", the elements of a group",
                           kernel->name, elements, kernel->block_cols);
        matrix->rows = elements / kernel->block_cols;
        matrix->cols = kernel->block_cols;
    }
    if (kernel->view == QK_VIEW_MATRIX && !kernel->ragged) {
        int by_rows = rows % kernel->block_rows != 0;
        if (by_rows || cols % kernel->block_cols != 0)
            return qk_fail(error, QK_ERROR_ARGUMENT,
                           "%s: %s is %" PRIu64 ", must be a multiple of %" PRIu32 ", as a block has", kernel->name,
                           by_rows ? "rows" : "cols", by_rows ? rows : cols,
                           by_rows ? kernel->block_rows : kernel->block_cols);
    }
    matrix->grid_rows = qk_ceil_(matrix->rows, kernel->block_rows);
    matrix->grid_cols = qk_ceil_(matrix->cols, kernel->block_cols);
    return QK_OK;
}

/* Bytes of one of the format's buffers. With rows and cols below 2^32 and blocks of at most 2^20 bytes, 64 bits hold it. */
static inline uint64_t qk_matrix_bytes_(const qk_kernel *kernel, const qk_binding *binding, const qk_matrix_ *matrix) {
    uint64_t rows = binding->tile_rows ? qk_ceil_(matrix->rows * binding->tile_rows, kernel->block_rows) : 1;
    uint64_t cols = binding->tile_cols ? qk_ceil_(matrix->cols * binding->tile_cols, kernel->block_cols) : 1;
    return rows * (cols * binding->item_bytes + binding->row_bytes);
}

/* Bytes of weight buffer `binding` of a tensor of rows x cols, or 0 where the shape is not one of the format's. */
static inline uint64_t qk_weight_bytes(const qk_kernel *kernel, uint32_t binding, uint64_t rows, uint64_t cols) {
    const qk_binding *b = &kernel->bindings[binding];
    qk_matrix_ matrix;
    if (kernel->view == QK_VIEW_BLOCKS) {
        uint64_t elements;
        if (!qk_multiply_(rows, cols, &elements) || elements % kernel->block_elements != 0)
            return 0;
        return elements / kernel->block_elements * b->block_bytes;
    }
    if (rows == 0 || cols == 0 || rows > UINT32_MAX / cols)
        return 0;
    if (qk_plan_matrix_(kernel, rows, cols, &matrix, NULL) != QK_OK)
        return 0;
    return qk_matrix_bytes_(kernel, b, &matrix);
}

/* Appends the buffers of so many matrices, which lie one after the other in each. */
static inline qk_status qk_add_matrices_(qk_call_ *call, const qk_range *weights, uint32_t count, uint64_t matrices,
                                         const qk_matrix_ *matrix, qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    if (weights == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: weights is NULL, must be %" PRIu32 " ranges", kernel->name,
                       count);
    for (uint32_t i = 0; i < count; i++) {
        char name[24];
        qk_weights_name_(name, i);
        qk_status status =
            qk_add_(call, name, weights[i], matrices, qk_matrix_bytes_(kernel, &kernel->bindings[i], matrix), error);
        if (status != QK_OK)
            return status;
    }
    return QK_OK;
}

static inline qk_status qk_check_shape_(const qk_kernel *kernel, uint64_t rows, uint64_t cols, qk_error *error) {
    if (rows == 0 || cols == 0)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: %s is 0, must be at least 1", kernel->name,
                       rows == 0 ? "rows" : "cols");
    if (rows > UINT32_MAX / cols)
        return qk_fail(error, QK_ERROR_LIMIT,
                       "%s: rows is %" PRIu64 " and cols is %" PRIu64 ", their product must be below 2^32",
                       kernel->name, rows, cols);
    return QK_OK;
}

/* Of the constants that kernels and the functions here divide by, none is 0. */
static inline qk_status qk_check_constants_(const qk_kernel *kernel, qk_error *error) {
    if (kernel->spec_constant_count > QK_MAX_CONSTANTS)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: kernel->spec_constant_count is %" PRIu32 ", must be at most %u",
                       kernel->name, kernel->spec_constant_count, QK_MAX_CONSTANTS);
    for (uint32_t i = 0; i < kernel->spec_constant_count; i++) {
        const qk_spec_constant *c = &kernel->spec_constants[i];
        if (c->value == 0 && (c->id == QK_CONSTANT_ROWS || c->id == QK_CONSTANT_SPLIT))
            return qk_fail(error, QK_ERROR_ARGUMENT,
                           "%s: kernel->spec_constants[%" PRIu32 "].value, %s, is 0, must be at least 1", kernel->name,
                           i, c->name);
    }
    return QK_OK;
}

/* Where blocks are patches of a matrix, the matrix of an expert is planned, too. */
static inline qk_status qk_check_experts_(const qk_kernel *kernel, uint64_t experts, uint64_t rows, uint64_t cols,
                                          uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_matrix_ *matrix,
                                          qk_error *error) {
    if (x_slots != 1 && x_slots != slots)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: x_slots is %" PRIu64 ", must be 1 or %" PRIu64 ", as many as slots", kernel->name, x_slots,
                       slots);
    if (experts == 0 || experts > UINT32_MAX)
        return qk_fail(error, experts == 0 ? QK_ERROR_ARGUMENT : QK_ERROR_LIMIT,
                       "%s: experts is %" PRIu64 ", must be from 1 to 4294967295", kernel->name, experts);
    if (rows > UINT32_MAX || cols > UINT32_MAX)
        return qk_fail(error, QK_ERROR_LIMIT, "%s: %s is %" PRIu64 ", must be below 2^32", kernel->name,
                       rows > UINT32_MAX ? "rows" : "cols", rows > UINT32_MAX ? rows : cols);
    if (tokens > UINT32_MAX / slots || tokens * slots > UINT32_MAX / 2 / rows)
        return qk_fail(error, QK_ERROR_LIMIT,
                       "%s: tokens is %" PRIu64 ", slots is %" PRIu64 " and rows is %" PRIu64
                       ", their product must be below 2^31",
                       kernel->name, tokens, slots, rows);
    qk_status status = qk_check_constants_(kernel, error);
    if (status != QK_OK)
        return status;
    if (kernel->view == QK_VIEW_BLOCKS)
        return qk_check_multiple_(kernel, "cols", cols, error);
    if (kernel->view != QK_VIEW_MATRIX || kernel->ragged)
        return qk_fail(
            error, QK_ERROR_UNSUPPORTED,
            "%s: kernel->view is %d and kernel->ragged %" PRIu32
            ", must be QK_VIEW_BLOCKS, or QK_VIEW_MATRIX with whole patches, so that each expert has its own",
            kernel->name, (int)kernel->view, kernel->ragged);
    status = qk_check_shape_(kernel, rows, cols, error);
    return status == QK_OK ? qk_plan_matrix_(kernel, rows, cols, matrix, error) : status;
}

#endif
