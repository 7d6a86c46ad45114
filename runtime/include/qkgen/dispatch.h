/* qkgen/dispatch.h: checked dispatch of generated kernels over any device layer. Header only; needs qkgen/kernel.h and
 * libc; allocates nothing, keeps no state; C11 and C++11.
 *
 * A call checks all its arguments before the first launch, and then cuts the shape into launches that the device and
 * the kernel's 32-bit indices can do:
 *
 *   each binding of a launch   at most min(limits.storage_range, 2^32 - 1) bytes, so that byte indices fit 32 bits
 *   each offset of a launch    a multiple of limits.offset_alignment, since parts are whole groups of units
 *   elements of a launch       below 2^32, and tiles + threads below 2^32, so that a grid-stride loop does not wrap; sums
 *                              over rows count tiles alone, and may have more elements than that
 *
 * The launches of one call write disjoint parts of `out` and only add to `status`, so they need no barrier in between.
 * An engine with its own Vulkan or Metal layer fills in a qk_backend; qkgen/vulkan.h offers a finished one. When
 * `launch` itself fails, the call stops and returns what it returned; launches before it may have been recorded. */
#ifndef QKGEN_DISPATCH_H
#define QKGEN_DISPATCH_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernel.h"

#define QK_MAX_BINDINGS 16u
/* More workgroups than this gain nothing on any device: threads loop instead. */
#define QK_MAX_WORKGROUPS 65535u

#define QK_DEQUANT_PUSH_BYTES 4u
#define QK_GATHER_PUSH_BYTES 20u
#define QK_DEQUANT_MATRIX_PUSH_BYTES 20u
#define QK_GATHER_MATRIX_PUSH_BYTES 32u
#define QK_GEMV_PUSH_BYTES 20u
#define QK_GEMV_MATRIX_PUSH_BYTES 32u
#define QK_GEMV_ID_PUSH_BYTES 28u
/* Right-hand sides that a launch of gemv takes at most. */
#define QK_GEMV_MAX_BATCH 8u
#define QK_MAX_CONSTANTS 14u
/* Tiles that a thread of gather takes at most, where there are many, and elements: the first tile costs a division. */
#define QK_GATHER_TILES 8u
#define QK_GATHER_ELEMENTS 32u
/* Rows that a subgroup takes at a time where matrix units multiply. */
#define QK_MMA_ROWS 16u
/* Elements of each right-hand side that it keeps, unless told otherwise. */
#define QK_MMA_COLS UINT64_C(512)
/* With fewer rows than this, each of them is shared out. */
#define QK_BUSY_ROWS 4096u
/* What descriptors of such kernels say, unless somebody knows better. */
#define QK_USUAL_ROWS 4u
#define QK_USUAL_THREADS 64u
/* Where a workgroup keeps all of x: values for each thread, and workgroups that keep a device busy that does not say. */
#define QK_KEPT_VALUES UINT64_C(64)
#define QK_BUSY_WORKGROUPS 660u
/* Subgroups of one row, at most. */
#define QK_MOST_SUBGROUPS 32u
/* Bytes of tables of which a workgroup has two copies or none. */
#define QK_LARGE_TABLES 8192u

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
    switch (bit) {
    case QK_FEATURE_STORAGE_8BIT:
        return "storageBuffer8BitAccess";
    case QK_FEATURE_STORAGE_16BIT:
        return "storageBuffer16BitAccess";
    case QK_FEATURE_SUBGROUP_ARITHMETIC:
        return "subgroup arithmetic in compute shaders";
    case QK_FEATURE_INTEGER_DOT_PRODUCT:
        return "shaderIntegerDotProduct";
    case QK_FEATURE_FLOAT16:
        return "shaderFloat16";
    case QK_FEATURE_SUBGROUP_SHUFFLE:
        return "subgroup shuffles in compute shaders";
    case QK_FEATURE_COOPERATIVE_MATRIX:
        return "cooperative matrices of 16 x 16 x 8 halves, or simdgroup matrices";
    default:
        return "a feature that this runtime does not know";
    }
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

/* ---- What follows serves the dispatch functions. ---------------------------------------------------------------- */

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

/* ---- Tuning ------------------------------------------------------------------------------------------------------ */

/* Sixteen times the logarithm to base 2, rounded down; that of 0 is 0. */
static inline uint32_t qk_log2_(uint64_t value) {
    uint32_t whole = 0;
    while (value >> whole > 1)
        whole++;
    uint64_t mantissa = whole > 31 ? value >> (whole - 31) : value << (31 - whole); /* 1 is 2^31 */
    for (int i = 0; i < 4; i++) {
        mantissa = mantissa * mantissa >> 31;
        whole = 2 * whole + (uint32_t)(mantissa >> 32);
        mantissa >>= mantissa >> 32;
    }
    return whole;
}

static inline uint32_t qk_distance_(uint64_t a, uint64_t b) {
    uint32_t x = qk_log2_(a), y = qk_log2_(b);
    return x < y ? y - x : x - y;
}

/* Right-hand sides are kept in powers of two. */
static inline uint32_t qk_batch_class_(uint64_t batch) {
    uint32_t kept = 1;
    while (kept < batch && kept < UINT32_C(1) << 31)
        kept *= 2;
    return kept;
}

/* The entry of a kernel for the shape that is nearest, in the logarithms of rows and columns; the batch, rounded up to a power
 * of two, must be the same. NULL where there is none, and the descriptor's constants apply. The shape is
 *
 *   gemv             rows x cols of the matrix, batch
 *   gemv_id          tokens * slots * rows x cols, batch 1
 *   dequant, gather  1 x elements of the result, batch 1 */
static inline const qk_tuning_entry *qk_tuning_find(const qk_tuning *tuning, const char *kernel, uint64_t rows,
                                                    uint64_t cols, uint64_t batch) {
    const qk_tuning_entry *best = NULL;
    uint32_t least = 0;
    for (uint32_t i = 0; tuning != NULL && i < tuning->count; i++) {
        const qk_tuning_entry *e = &tuning->entries[i];
        if (strcmp(e->kernel, kernel) != 0 || qk_batch_class_(e->batch) != qk_batch_class_(batch))
            continue;
        uint32_t distance = qk_distance_(e->rows, rows) + qk_distance_(e->cols, cols);
        if (best != NULL && distance >= least)
            continue;
        best = e;
        least = distance;
    }
    return best;
}

/* The kernel's constant of that id in a launch, or `otherwise`. `constants` are the launch's, or NULL for the descriptor's. */
static inline uint32_t qk_constant_(const qk_kernel *kernel, const uint32_t *constants, uint32_t id,
                                    uint32_t otherwise) {
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++)
        if (kernel->spec_constants[i].id == id)
            return constants != NULL ? constants[i] : kernel->spec_constants[i].value;
    return otherwise;
}

static inline uint32_t qk_table_bytes_(const qk_kernel *kernel) {
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < kernel->table_count; i++)
        bytes += kernel->tables[i].bytes;
    return bytes;
}

static inline uint64_t qk_block_bytes_(const qk_kernel *kernel) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < kernel->binding_count; i++)
        bytes += kernel->bindings[i].role == QK_ROLE_WEIGHTS ? kernel->bindings[i].block_bytes : 0;
    return bytes;
}

/* Bytes of the rows that a workgroup of so many threads has ahead: of each slice, with what lies around it in fours of words. */
static inline uint64_t qk_ahead_bytes_(const qk_kernel *kernel, uint64_t threads, uint64_t rows, uint64_t lanes) {
    uint64_t bytes = lanes * kernel->ahead_kept / kernel->block_elements * qk_block_bytes_(kernel);
    uint64_t fours = (bytes + 15) / 16 + (bytes % 16 != 0 ? 1 : 0);
    return threads * ((rows * fours + lanes - 1) / lanes) * 16;
}

/* Arrays that a launch does not use have one element each, of at most 16 bytes; a kernel has at most six of them. */
#define QK_UNUSED_SHARED_BYTES 96u

/* Bytes of memory that a workgroup shares: of x in runs of 16 bytes and their part of a gap; of a table of 256 words. */
enum { QK_EACH_FOUR_ = 16, QK_EACH_RUN_ = 18, QK_PAIRS_ = 1024 };

/* The memory that a workgroup takes with these constants, at most: for sums, for x, and for copies of tables. */
static inline uint64_t qk_shared_bytes_(const qk_kernel *kernel, const uint32_t *constants) {
    uint64_t threads = qk_constant_(kernel, constants, QK_CONSTANT_LOCAL_SIZE_X, kernel->workgroup_size), bytes;
    uint64_t rows = qk_constant_(kernel, constants, QK_CONSTANT_ROWS, 0),
             kept = qk_constant_(kernel, constants, QK_CONSTANT_BATCH, 1);
    uint64_t fours = qk_constant_(kernel, constants, QK_CONSTANT_SHARED_FOURS, 0),
             staged = qk_constant_(kernel, constants, QK_CONSTANT_STAGED, 1);
    uint64_t tables = qk_constant_(kernel, constants, QK_CONSTANT_TABLE_COPIES, 1);
    if ((kernel->features & QK_FEATURE_COOPERATIVE_MATRIX) != 0)
        return 32 * threads * qk_constant_(kernel, constants, QK_CONSTANT_AT_ONCE, 1);
    bytes = threads * rows * (fours != 0 || kept < 2 ? 2 : kept) + QK_UNUSED_SHARED_BYTES;
    bytes += kept > 1 ? fours * QK_EACH_FOUR_ : 0;
    bytes += staged > 1 ? staged * QK_EACH_RUN_ : 0;
    bytes += tables > 1 ? tables * qk_table_bytes_(kernel) : 0;
    if (qk_constant_(kernel, constants, QK_CONSTANT_AHEAD, 0) != 0)
        bytes += qk_ahead_bytes_(kernel, threads, rows, qk_constant_(kernel, constants, QK_CONSTANT_LANES, 32));
    return bytes + (uint64_t)qk_constant_(kernel, constants, QK_CONSTANT_COPIES, 0) * QK_PAIRS_;
}

/* A call with tuned constants: a descriptor that has them, and a backend that launches the original with them. */
typedef struct qk_tuned_ {
    qk_backend backend;
    qk_kernel kernel;
    qk_spec_constant constants[QK_MAX_CONSTANTS];
    uint32_t set; /* which of them the entry has, as bits */
    const qk_backend *outer;
    const qk_kernel *original;
} qk_tuned_;

static inline qk_status qk_launch_tuned_(void *context, const qk_launch *launch, qk_error *error) {
    const qk_tuned_ *tuned = (const qk_tuned_ *)context;
    uint32_t values[QK_MAX_CONSTANTS];
    qk_launch own = *launch;
    if (launch->kernel == &tuned->kernel) {
        /* Whether rows can be loaded ahead follows from the shape, whatever was measured; and then, how many subgroups share one, and that
         * each thread loads its own part of x. */
        int ahead =
            launch->constants != NULL && qk_constant_(&tuned->kernel, launch->constants, QK_CONSTANT_AHEAD, 0) == 1;
        for (uint32_t i = 0; i < tuned->kernel.spec_constant_count; i++) {
            uint32_t id = tuned->constants[i].id;
            int follows = id == QK_CONSTANT_AHEAD || (ahead && (id == QK_CONSTANT_SPLIT || id == QK_CONSTANT_STAGED));
            int keep = launch->constants == NULL || ((tuned->set >> i & 1u) != 0 && !follows);
            values[i] = keep ? tuned->constants[i].value : launch->constants[i];
        }
        own.kernel = tuned->original;
        own.constants = values;
        /* A driver need not refuse it. */
        uint64_t bytes = qk_shared_bytes_(own.kernel, values), most = tuned->outer->limits.shared_bytes;
        if (most != 0 && bytes > most)
            return qk_fail(error, QK_ERROR_ARGUMENT,
                           "%s: a workgroup takes %" PRIu64
                           " bytes of shared memory with the tuning's constants, the device has %" PRIu64
                           "; measure again with qkgen tune",
                           own.kernel->name, bytes, most);
    }
    return tuned->outer->launch(tuned->outer->context, &own, error);
}

/* The name of a constant, as files of tuning have it. */
static inline const char *qk_constant_name(uint32_t id) {
    switch (id) {
#define QK_NAME_(id, NAME, name, setter, otherwise, legal, meaning)                                                    \
    case QK_CONSTANT_##NAME:                                                                                           \
        return name;
        QK_CONSTANTS(QK_NAME_)
#undef QK_NAME_
    default:
        return "a constant that this runtime does not know";
    }
}

enum { QK_BY_CALL_ = 1, QK_BY_PLANNER_ = 0, QK_BY_TUNING_ = 0, QK_BY_HOST_ = 0 };

/* Whether a constant follows from the call, so that there is nothing to tune: how many right-hand sides are kept, what lies behind
 * the weights, and the lanes of the device's subgroups. */
static inline int qk_follows_call(uint32_t id) {
    switch (id) {
#define QK_FOLLOWS_(id, NAME, name, setter, otherwise, legal, meaning)                                                 \
    case QK_CONSTANT_##NAME:                                                                                           \
        return QK_BY_##setter##_;
        QK_CONSTANTS(QK_FOLLOWS_)
#undef QK_FOLLOWS_
    default:
        return 0;
    }
}

static inline qk_status qk_set_tuned_(qk_tuned_ *tuned, const qk_tuning_entry *entry, const qk_tuned_value *value,
                                      qk_error *error) {
    const char *kernel = tuned->kernel.name, *again = "measure again with qkgen tune";
    if (value->id == QK_CONSTANT_WORKGROUPS) {
        if (value->value != 0 && value->value < tuned->backend.limits.workgroup_count)
            tuned->backend.limits.workgroup_count = value->value;
        return QK_OK;
    }
    for (uint32_t i = 0; i < tuned->kernel.spec_constant_count; i++) {
        qk_spec_constant *c = &tuned->constants[i];
        uint32_t legal = 0;
        if (c->id != value->id || qk_follows_call(c->id))
            continue;
        while (legal < c->legal_count && c->legal[legal] != value->value)
            legal++;
        if (c->legal_count > 0 && legal == c->legal_count)
            return qk_fail(error, QK_ERROR_ARGUMENT,
                           "%s: line %" PRIu32 " of the tuning sets %s to %" PRIu32
                           ", which is none of its legal values; %s",
                           kernel, entry->line, c->name, value->value, again);
        c->value = value->value;
        tuned->set |= 1u << i;
        if (c->id == QK_CONSTANT_LOCAL_SIZE_X)
            tuned->kernel.workgroup_size = value->value;
        return QK_OK;
    }
    return qk_fail(error, QK_ERROR_ARGUMENT,
                   "%s: line %" PRIu32 " of the tuning sets %s, which the kernel does not have; %s", kernel,
                   entry->line, qk_constant_name(value->id), again);
}

/* Puts the tuned call in the place of backend and kernel, where the backend's tuning has an entry for it. */
static inline qk_status qk_tune_(qk_tuned_ *tuned, const qk_backend **backend, const qk_kernel **kernel, uint64_t rows,
                                 uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_tuning_entry *entry;
    if (*backend == NULL || *kernel == NULL || (*backend)->tuning == NULL || (*backend)->launch == NULL ||
        (*kernel)->api != (*backend)->api || (*kernel)->spec_constant_count > QK_MAX_CONSTANTS)
        return QK_OK;
    entry = qk_tuning_find((*backend)->tuning, (*kernel)->name, rows, cols, batch);
    if (entry == NULL)
        return QK_OK;
    tuned->outer = *backend;
    tuned->original = *kernel;
    tuned->backend = **backend;
    tuned->backend.context = tuned;
    tuned->backend.launch = qk_launch_tuned_;
    tuned->backend.tuning = NULL;
    tuned->kernel = **kernel;
    tuned->kernel.spec_constants = tuned->constants;
    tuned->set = 0;
    for (uint32_t i = 0; i < (*kernel)->spec_constant_count; i++)
        tuned->constants[i] = (*kernel)->spec_constants[i];
    for (uint32_t i = 0; i < entry->count && i < QK_MAX_TUNED; i++) {
        qk_status status = qk_set_tuned_(tuned, entry, &entry->values[i], error);
        if (status != QK_OK)
            return status;
    }
    *backend = &tuned->backend;
    *kernel = &tuned->kernel;
    return QK_OK;
}

static inline uint64_t qk_product_(uint64_t a, uint64_t b) {
    uint64_t product;
    return qk_multiply_(a, b, &product) ? product : UINT64_MAX;
}

static inline qk_status qk_check_features_(const qk_backend *backend, const qk_kernel *kernel, qk_error *error) {
    uint32_t missing = kernel->features & ~backend->limits.features;
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

static inline qk_status qk_check_call_(const qk_backend *backend, const qk_kernel *kernel, int blocks,
                                       const qk_role *tail, uint32_t tail_count, uint32_t push_bytes, qk_error *error) {
    if (kernel == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "kernel is NULL, must be a descriptor");
    if (backend == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: backend is NULL, must be a backend", kernel->name);
    if (backend->launch == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: backend->launch is NULL, must be a function", kernel->name);
    if (blocks != (kernel->view == QK_VIEW_BLOCKS))
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: kernel->view is %d, must be %s for this function", kernel->name,
                       (int)kernel->view, blocks ? "QK_VIEW_BLOCKS" : "another than QK_VIEW_BLOCKS");
    qk_status status = qk_check_bindings_(kernel, tail, tail_count, push_bytes, error);
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

/* Appends the argument of the next binding, and checks it. It holds `units` times `unit` bytes. */
static inline qk_status qk_add_(qk_call_ *call, const char *name, qk_range range, uint64_t units, uint64_t unit,
                                qk_error *error) {
    const char *kernel = call->kernel->name;
    qk_argument_ *a = &call->arguments[call->count];
    const qk_binding *binding = &call->kernel->bindings[call->count++];
    uint32_t element = qk_type_bytes(binding->element);
    snprintf(a->name, sizeof a->name, "%s", name);
    a->range = range;
    a->unit = unit;
    a->alignment = call->backend->limits.offset_alignment;
    if (a->alignment < element)
        a->alignment = element;
    a->written = binding->role == QK_ROLE_OUTPUT || binding->role == QK_ROLE_STATUS;
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
        snprintf(name, sizeof name, "weights[%" PRIu32 "]", i);
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

/* Workgroups of a launch at most; few enough that all threads count below 2^31. */
static inline uint64_t qk_max_workgroups_(const qk_call_ *call) {
    uint64_t groups = qk_min_(call->backend->limits.workgroup_count, QK_MAX_WORKGROUPS);
    uint64_t fit = (UINT32_MAX / 2) / call->kernel->workgroup_size;
    return fit == 0 ? 1 : qk_min_(groups, fit);
}

/* Tiles of a launch at most: the loop index may pass the end by as many as there are threads. */
static inline uint64_t qk_max_tiles_(const qk_call_ *call) {
    return UINT32_MAX - qk_max_workgroups_(call) * call->kernel->workgroup_size;
}

/* How many of `total` units one launch takes, for the arguments [first, first + count): at most `most`, within the
 * range of a binding, and, when there is more than one launch, a multiple that keeps every offset aligned. */
static inline qk_status qk_chunk_(const qk_call_ *call, uint32_t first, uint32_t count, uint64_t total, uint64_t most,
                                  const char *unit_name, uint64_t *chunk, qk_error *error) {
    const qk_argument_ *widest = &call->arguments[first];
    uint64_t limit = qk_min_(call->backend->limits.storage_range, UINT32_MAX), step = 1, units = most;
    for (uint32_t i = first; i < first + count; i++) {
        const qk_argument_ *a = &call->arguments[i];
        uint64_t power = a->unit & (~a->unit + 1); /* the largest power of two that divides it */
        units = qk_min_(units, limit / a->unit);
        if (power < a->alignment && a->alignment / power > step)
            step = a->alignment / power;
        if (a->unit > widest->unit)
            widest = a;
    }
    *chunk = total;
    if (total <= units)
        return QK_OK;
    *chunk = units - units % step;
    if (*chunk > 0)
        return QK_OK;
    if (widest->unit > limit)
        return qk_fail(error, QK_ERROR_LIMIT,
                       "%s: %s takes %" PRIu64 " bytes for one %s, must be at most %" PRIu64
                       ", the device's storage range",
                       call->kernel->name, widest->name, widest->unit, unit_name, limit);
    return qk_fail(error, QK_ERROR_LIMIT,
                   "%s: %s takes %" PRIu64 " bytes for one %s, must be at most %" PRIu64 ", so that %" PRIu64
                   " fit, which offset alignment asks",
                   call->kernel->name, widest->name, widest->unit, unit_name,
                   qk_min_(limit, widest->unit * units) / step, step);
}

/* The part of an argument that holds units [first, first + count). */
static inline qk_range qk_part_(const qk_argument_ *argument, uint64_t first, uint64_t count) {
    qk_range range;
    range.buffer = argument->range.buffer;
    range.offset = argument->range.offset + first * argument->unit;
    range.size = count * argument->unit;
    return range;
}

/* Lets the ranges of a launch's weights, which end with unit `end`, go on for QK_PADDING bytes, so that loads of 16 bytes may go
 * beyond the last block, and says so in the constants. Where the caller's ranges or a binding have no room for that, both stay. */
static inline void qk_pad_(const qk_call_ *call, uint32_t weights, uint64_t end, qk_range *ranges,
                           uint32_t *constants) {
    const qk_kernel *kernel = call->kernel;
    for (uint32_t i = 0; i < weights; i++)
        if (call->arguments[i].range.size - end * call->arguments[i].unit < QK_PADDING ||
            ranges[i].size + QK_PADDING > call->backend->limits.storage_range)
            return;
    for (uint32_t c = 0; c < kernel->spec_constant_count && c < QK_MAX_CONSTANTS; c++) {
        if (kernel->spec_constants[c].id != QK_CONSTANT_PADDED)
            continue;
        constants[c] = 1;
        for (uint32_t i = 0; i < weights; i++)
            ranges[i].size += QK_PADDING;
    }
}

/* Threads go on to further tiles, `each` of them where the device is busy all the same. */
static inline qk_status qk_launch_(const qk_call_ *call, const qk_range *ranges, const uint32_t *push, uint64_t tiles,
                                   uint32_t each, qk_error *error) {
    uint64_t size = call->kernel->workgroup_size, groups = (tiles + size - 1) / size;
    uint64_t busy =
        call->backend->limits.busy_workgroups != 0 ? call->backend->limits.busy_workgroups : QK_BUSY_WORKGROUPS;
    qk_launch launch;
    launch.kernel = call->kernel;
    launch.ranges = ranges;
    launch.push = push;
    if (groups > 4 * busy)
        groups = groups / each > 4 * busy ? groups / each : 4 * busy;
    launch.workgroups = (uint32_t)qk_min_(groups, qk_max_workgroups_(call));
    launch.constants = NULL;
    return call->backend->launch(call->backend->context, &launch, error);
}

static inline qk_status qk_run_dequant_(const qk_call_ *call, uint64_t blocks, qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    uint64_t block_tiles = kernel->block_elements / kernel->tile_elements, chunk, done, n;
    uint64_t most = qk_min_(qk_max_tiles_(call) / block_tiles, UINT32_MAX / kernel->block_elements);
    qk_status status = qk_chunk_(call, 0, call->count, blocks, most, "block", &chunk, error);
    for (done = 0; status == QK_OK && done < blocks; done += n) {
        qk_range ranges[QK_MAX_BINDINGS];
        n = qk_min_(chunk, blocks - done);
        uint32_t tiles = (uint32_t)(n * block_tiles);
        for (uint32_t i = 0; i < call->count; i++)
            ranges[i] = qk_part_(&call->arguments[i], done, n);
        status = qk_launch_(call, ranges, &tiles, tiles, 1, error);
    }
    return status;
}

/* The launches of a gather: parts of the tokens, and for each of them all parts of the table. */
typedef struct qk_gather_ {
    uint64_t rows, row_chunk;
    uint64_t tokens, token_chunk;
    uint64_t row_tiles;
} qk_gather_;

static inline qk_status qk_plan_gather_(const qk_call_ *call, uint64_t rows, uint64_t cols, uint64_t tokens,
                                        qk_gather_ *plan, qk_error *error) {
    uint32_t weights = call->count - 3;
    uint64_t elements = UINT32_MAX / cols; /* rows, or tokens, whose elements count below 2^32 */
    plan->rows = rows;
    plan->tokens = tokens;
    plan->row_tiles = cols / call->kernel->tile_elements;
    qk_status status = qk_chunk_(call, 0, weights, rows, elements, "row", &plan->row_chunk, error);
    if (status != QK_OK)
        return status;
    return qk_chunk_(call, weights, 2, tokens, qk_min_(elements, qk_max_tiles_(call) / plan->row_tiles), "token",
                     &plan->token_chunk, error);
}

/* All parts of the table, for the tokens [first, first + count). */
static inline qk_status qk_run_tokens_(const qk_call_ *call, const qk_gather_ *plan, uint64_t first, uint64_t count,
                                       qk_error *error) {
    qk_status status = QK_OK;
    uint32_t weights = call->count - 3, each = 1;
    uint64_t row, n;
    while (each < QK_GATHER_TILES && 2 * each * call->kernel->tile_elements <= QK_GATHER_ELEMENTS)
        each *= 2;
    for (row = 0; status == QK_OK && row < plan->rows; row += n) {
        qk_range ranges[QK_MAX_BINDINGS];
        uint32_t push[QK_GATHER_PUSH_BYTES / 4];
        n = qk_min_(plan->row_chunk, plan->rows - row);
        for (uint32_t i = 0; i < weights; i++)
            ranges[i] = qk_part_(&call->arguments[i], row, n);
        ranges[weights] = qk_part_(&call->arguments[weights], first, count);
        ranges[weights + 1] = qk_part_(&call->arguments[weights + 1], first, count);
        ranges[weights + 2] = qk_part_(&call->arguments[weights + 2], 0, 1);
        push[0] = (uint32_t)plan->rows;
        push[1] = (uint32_t)row;
        push[2] = (uint32_t)(row + n);
        push[3] = (uint32_t)plan->row_tiles;
        push[4] = (uint32_t)count;
        status = qk_launch_(call, ranges, push, count * plan->row_tiles, each, error);
    }
    return status;
}

/* ---- Formats whose blocks are patches of a matrix. --------------------------------------------------------------- */

/* The matrix that the blocks of a view are patches of, for a tensor of rows x cols. */
typedef struct qk_matrix_ {
    uint64_t rows, cols;
    uint64_t grid_rows, grid_cols; /* blocks */
} qk_matrix_;

static inline uint64_t qk_ceil_(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

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
    return rows * cols * binding->item_bytes;
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

/* Appends the format's buffers, whole. */
static inline qk_status qk_add_matrix_(qk_call_ *call, const qk_range *weights, uint32_t count,
                                       const qk_matrix_ *matrix, qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    if (weights == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: weights is NULL, must be %" PRIu32 " ranges", kernel->name,
                       count);
    for (uint32_t i = 0; i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, "weights[%" PRIu32 "]", i);
        qk_status status =
            qk_add_(call, name, weights[i], 1, qk_matrix_bytes_(kernel, &kernel->bindings[i], matrix), error);
        if (status != QK_OK)
            return status;
    }
    return QK_OK;
}

static inline uint32_t qk_tile_rows_(const qk_kernel *kernel) {
    return kernel->tile_rows > 1 ? kernel->tile_rows : 1;
}

/* Such a call is one launch: its buffers cannot be cut, for their parts are not neighbours. */
static inline qk_status qk_launch_matrix_(const qk_call_ *call, const uint32_t *push, uint64_t tiles, qk_error *error) {
    qk_range ranges[QK_MAX_BINDINGS];
    uint64_t limit = qk_min_(call->backend->limits.storage_range, UINT32_MAX);
    for (uint32_t i = 0; i < call->count; i++) {
        const qk_argument_ *a = &call->arguments[i];
        if (a->need > limit)
            return qk_fail(error, QK_ERROR_LIMIT,
                           "%s: %s takes %" PRIu64 " bytes, must be at most %" PRIu64 ", the device's storage range",
                           call->kernel->name, a->name, a->need, limit);
        ranges[i] = a->range;
        ranges[i].size = a->need;
    }
    if (tiles > qk_max_tiles_(call))
        return qk_fail(error, QK_ERROR_LIMIT, "%s: the call decodes %" PRIu64 " tiles, must be at most %" PRIu64,
                       call->kernel->name, tiles, qk_max_tiles_(call));
    return qk_launch_(call, ranges, push, tiles, 1, error);
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

/* ---- The dispatch functions. ------------------------------------------------------------------------------------- */

/* Decodes a whole tensor: out[i] = value(i) for i below `elements`.
 *
 * weights   the format's buffers in the order of the kernel's bindings, each elements / block_elements blocks
 * out       `elements` values of the kernel's output type
 * elements  a multiple of the format's block; 0 launches nothing, and no range is looked at
 *
 * Ranges may be larger than needed; the rest is not touched. Returns QK_OK, or with `error` (may be NULL) filled in:
 * QK_ERROR_ARGUMENT, _SIZE, _ALIGNMENT, _LIMIT or _UNSUPPORTED, before anything was launched; or what `launch`
 * returned. */
static inline qk_status qk_dispatch_dequant(const qk_backend *backend, const qk_kernel *kernel, const qk_range *weights,
                                            qk_range out, uint64_t elements, qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_OUTPUT};
    qk_tuned_ tuned;
    qk_status status = qk_tune_(&tuned, &backend, &kernel, 1, elements, 1, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, 1, tail, 1, QK_DEQUANT_PUSH_BYTES, error);
    if (status != QK_OK || elements == 0)
        return status;
    if ((status = qk_check_multiple_(kernel, "elements", elements, error)) != QK_OK)
        return status;
    qk_call_ call = qk_call_new_(backend, kernel);
    uint64_t blocks = elements / kernel->block_elements;
    uint64_t block_out = (uint64_t)kernel->block_elements * qk_type_bytes(kernel->output);
    if ((status = qk_add_weights_(&call, weights, kernel->binding_count - 1, blocks, 1, error)) != QK_OK)
        return status;
    if ((status = qk_add_(&call, "out", out, blocks, block_out, error)) != QK_OK)
        return status;
    if ((status = qk_check_overlap_(&call, error)) != QK_OK)
        return status;
    return qk_run_dequant_(&call, blocks, error);
}

/* Decodes rows of a table: out[t][c] = value of row indices[t], column c, for t below `tokens` and c below `cols`.
 *
 * weights   the format's buffers, one range each: rows * cols / block_elements blocks
 * indices   `tokens` u32. An index that is not below `rows` gives a row of zeros and adds one to the status word
 * out       tokens * cols values of the kernel's output type
 * status_word  one u32, which the caller clears
 * rows      from 1 to 2^32 - 1; an empty table has nothing to bind, and is an error
 * cols      a positive multiple of the format's block; one row must fit into one binding
 * tokens    0 launches nothing, and no range or shape is looked at
 *
 * Ranges may be larger than needed; the rest is not touched. Returns as qk_dispatch_dequant does. */
static inline qk_status qk_dispatch_gather(const qk_backend *backend, const qk_kernel *kernel, const qk_range *weights,
                                           qk_range indices, qk_range out, qk_range status_word, uint64_t rows,
                                           uint64_t cols, uint64_t tokens, qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_INDICES, QK_ROLE_OUTPUT, QK_ROLE_STATUS};
    qk_tuned_ tuned;
    qk_status status = qk_tune_(&tuned, &backend, &kernel, 1, qk_product_(tokens, cols), 1, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, 1, tail, 3, QK_GATHER_PUSH_BYTES, error);
    if (status != QK_OK || tokens == 0)
        return status;
    if ((status = qk_check_multiple_(kernel, "cols", cols, error)) != QK_OK)
        return status;
    if (rows == 0 || rows > UINT32_MAX)
        return qk_fail(error, rows == 0 ? QK_ERROR_ARGUMENT : QK_ERROR_LIMIT,
                       "%s: rows is %" PRIu64 ", must be from 1 to 4294967295", kernel->name, rows);
    qk_call_ call = qk_call_new_(backend, kernel);
    if (cols > UINT32_MAX)
        return qk_fail(error, QK_ERROR_LIMIT, "%s: cols is %" PRIu64 ", must be at most 4294967295", kernel->name,
                       cols);
    uint64_t row_blocks = cols / kernel->block_elements, row_out = cols * qk_type_bytes(kernel->output);
    status = qk_add_weights_(&call, weights, kernel->binding_count - 3, rows, row_blocks, error);
    if (status == QK_OK)
        status = qk_add_(&call, "indices", indices, tokens, 4, error);
    if (status == QK_OK)
        status = qk_add_(&call, "out", out, tokens, row_out, error);
    if (status == QK_OK)
        status = qk_add_(&call, "status", status_word, 1, 4, error);
    if (status == QK_OK)
        status = qk_check_overlap_(&call, error);
    qk_gather_ plan;
    uint64_t token;
    if (status == QK_OK)
        status = qk_plan_gather_(&call, rows, cols, tokens, &plan, error);
    for (token = 0; status == QK_OK && token < tokens; token += plan.token_chunk)
        status = qk_run_tokens_(&call, &plan, token, qk_min_(plan.token_chunk, tokens - token), error);
    return status;
}

/* Decodes a whole tensor of a format whose blocks are patches of a matrix (kernel->view is not QK_VIEW_BLOCKS):
 * out[r * cols + c] = value(r, c).
 *
 * weights      the format's buffers in the order of the kernel's bindings; qk_weight_bytes says how large each is
 * out          rows * cols values of the kernel's output type
 * rows, cols   of the tensor; where kernel->ragged is 0, multiples of the block; their product is below 2^32. With
 *              rows or cols 0 nothing is launched
 *
 * One launch: every buffer must fit into one binding. Returns as qk_dispatch_dequant does. */
static inline qk_status qk_dispatch_dequant_matrix(const qk_backend *backend, const qk_kernel *kernel,
                                                   const qk_range *weights, qk_range out, uint64_t rows, uint64_t cols,
                                                   qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_OUTPUT};
    qk_matrix_ matrix;
    uint32_t push[QK_DEQUANT_MATRIX_PUSH_BYTES / 4];
    qk_tuned_ tuned;
    qk_status status = qk_tune_(&tuned, &backend, &kernel, 1, qk_product_(rows, cols), 1, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, 0, tail, 1, QK_DEQUANT_MATRIX_PUSH_BYTES, error);
    if (status != QK_OK || rows == 0 || cols == 0)
        return status;
    if ((status = qk_check_shape_(kernel, rows, cols, error)) != QK_OK)
        return status;
    if ((status = qk_plan_matrix_(kernel, rows, cols, &matrix, error)) != QK_OK)
        return status;
    qk_call_ call = qk_call_new_(backend, kernel);
    if ((status = qk_add_matrix_(&call, weights, kernel->binding_count - 1, &matrix, error)) != QK_OK)
        return status;
    if ((status = qk_add_(&call, "out", out, rows * cols, qk_type_bytes(kernel->output), error)) != QK_OK)
        return status;
    if ((status = qk_check_overlap_(&call, error)) != QK_OK)
        return status;
    push[0] = (uint32_t)matrix.rows;
    push[1] = (uint32_t)matrix.cols;
    push[2] = (uint32_t)matrix.grid_rows;
    push[3] = (uint32_t)matrix.grid_cols;
    push[4] = (uint32_t)qk_ceil_(matrix.cols, kernel->tile_elements);
    return qk_launch_matrix_(&call, push, qk_ceil_(matrix.rows, qk_tile_rows_(kernel)) * push[4], error);
}

/* Decodes rows of a table of such a format: out[t][c] = value(indices[t], c).
 *
 * weights     the format's buffers, as for qk_dispatch_dequant_matrix
 * indices     `tokens` u32. An index that is not below `rows` gives a row of zeros and adds one to the status word
 * out         tokens * cols values of the kernel's output type; their number is below 2^32
 * status_word one u32, which the caller clears
 * rows, cols  of the table, both positive
 * tokens      0 launches nothing, and no range or shape is looked at */
static inline qk_status qk_dispatch_gather_matrix(const qk_backend *backend, const qk_kernel *kernel,
                                                  const qk_range *weights, qk_range indices, qk_range out,
                                                  qk_range status_word, uint64_t rows, uint64_t cols, uint64_t tokens,
                                                  qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_INDICES, QK_ROLE_OUTPUT, QK_ROLE_STATUS};
    qk_matrix_ matrix;
    uint32_t push[QK_GATHER_MATRIX_PUSH_BYTES / 4];
    qk_tuned_ tuned;
    qk_status status = qk_tune_(&tuned, &backend, &kernel, 1, qk_product_(tokens, cols), 1, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, 0, tail, 3, QK_GATHER_MATRIX_PUSH_BYTES, error);
    if (status != QK_OK || tokens == 0)
        return status;
    if ((status = qk_check_shape_(kernel, rows, cols, error)) != QK_OK)
        return status;
    if (tokens > UINT32_MAX / cols)
        return qk_fail(error, QK_ERROR_LIMIT,
                       "%s: tokens is %" PRIu64 " and cols is %" PRIu64 ", their product must be below 2^32",
                       kernel->name, tokens, cols);
    if (kernel->view == QK_VIEW_GROUPS && cols % kernel->block_cols != 0)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: cols is %" PRIu64 ", must be a multiple of %" PRIu32 ", so that a row has whole groups",
                       kernel->name, cols, kernel->block_cols);
    if ((status = qk_plan_matrix_(kernel, rows, cols, &matrix, error)) != QK_OK)
        return status;
    qk_call_ call = qk_call_new_(backend, kernel);
    status = qk_add_matrix_(&call, weights, kernel->binding_count - 3, &matrix, error);
    if (status == QK_OK)
        status = qk_add_(&call, "indices", indices, tokens, 4, error);
    if (status == QK_OK)
        status = qk_add_(&call, "out", out, tokens * cols, qk_type_bytes(kernel->output), error);
    if (status == QK_OK)
        status = qk_add_(&call, "status", status_word, 1, 4, error);
    if (status == QK_OK)
        status = qk_check_overlap_(&call, error);
    if (status != QK_OK)
        return status;
    uint64_t tile = kernel->tile_elements;
    push[0] = (uint32_t)matrix.rows;
    push[1] = (uint32_t)matrix.cols;
    push[2] = (uint32_t)matrix.grid_rows;
    push[3] = (uint32_t)matrix.grid_cols;
    /* In a sequence a row may begin and end within tiles. */
    push[4] = (uint32_t)(kernel->view == QK_VIEW_SEQUENCE ? qk_ceil_(cols + tile - 1, tile) : qk_ceil_(cols, tile));
    push[5] = (uint32_t)rows;
    push[6] = (uint32_t)cols;
    push[7] = (uint32_t)tokens;
    return qk_launch_matrix_(&call, push, tokens * push[4], error);
}

/* ---- Sums over rows. --------------------------------------------------------------------------------------------- */

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

static inline uint64_t qk_busy_workgroups_(const qk_limits *limits) {
    return limits->busy_workgroups != 0 ? limits->busy_workgroups : QK_BUSY_WORKGROUPS;
}

/* Whether a workgroup makes tables for itself: of pairs, or copies. */
static inline int qk_makes_tables_(const qk_kernel *kernel) {
    return qk_constant_(kernel, NULL, QK_CONSTANT_COPIES, 0) != 0 ||
           qk_constant_(kernel, NULL, QK_CONSTANT_TABLE_COPIES, 0) != 0;
}

/* Workgroups that run at the same time, each of which keeps x for the rows that it walks down. A thread takes few registers for x
 * of one byte, unless there are tables of pairs; all others a fourth more, so that there is room for fewer. */
static inline uint64_t qk_walking_workgroups_(const qk_kernel *kernel, const qk_limits *limits, uint32_t kept,
                                              uint32_t threads) {
    uint64_t count = qk_busy_workgroups_(limits) * 128;
    if (kept > 1 || qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) != 1 || qk_makes_tables_(kernel))
        count = count * 4 / 5;
    count /= threads > 128 ? threads : 128;
    return count != 0 ? count : 1;
}

/* Whether a workgroup keeps all of x for the rows that it walks down: of one right-hand side in registers, of several in
 * memory that it shares. */
static inline int qk_keeps_x_(const qk_kernel *kernel, const uint32_t *constants, uint32_t kept) {
    return qk_constant_(kernel, constants, kept > 1 ? QK_CONSTANT_SHARED_FOURS : QK_CONSTANT_LOAD_WORDS, 1) > 1;
}

/* Of a subgroup; 32 where the device does not say. */
static inline uint32_t qk_lanes_(const qk_limits *limits) {
    return limits->subgroup_size != 0 ? limits->subgroup_size : 32;
}

static inline uint32_t qk_subgroups_(const qk_limits *limits, uint32_t threads) {
    return threads > qk_lanes_(limits) ? threads / qk_lanes_(limits) : 1;
}

/* Subgroups that share a row, with one right-hand side, where a workgroup keeps all of x: as many as have slices of it, or `least`. */
static inline uint32_t qk_subgroups_of_row_(const qk_kernel *kernel, const qk_limits *limits, const uint32_t *constants,
                                            uint32_t threads, uint64_t cols, uint32_t least) {
    uint64_t kept = kernel->kept_elements != 0 ? kernel->kept_elements : QK_KEPT_VALUES;
    if (qk_constant_(kernel, constants, QK_CONSTANT_AHEAD, 0) != 0)
        kept = kernel->ahead_kept;
    uint64_t slices = qk_ceil_(cols, qk_lanes_(limits) * kept), split = 1;
    while (split < QK_MOST_SUBGROUPS && split < (slices > least ? slices : least) &&
           qk_subgroups_(limits, threads) % (2 * split) == 0)
        split *= 2;
    return (uint32_t)split;
}

/* Rows that such a workgroup takes at a time. */
static inline uint64_t qk_rows_of_workgroup_(const qk_kernel *kernel, const qk_limits *limits,
                                             const uint32_t *constants, uint64_t cols) {
    uint32_t threads = qk_constant_(kernel, constants, QK_CONSTANT_LOCAL_SIZE_X, 64);
    uint32_t split = qk_subgroups_of_row_(kernel, limits, constants, threads, cols,
                                          qk_constant_(kernel, constants, QK_CONSTANT_SPLIT, 1));
    return (uint64_t)qk_constant_(kernel, constants, QK_CONSTANT_ROWS, 4) * (qk_subgroups_(limits, threads) / split);
}

/* Rows at a time. Sums of all rows and right-hand sides are in registers, and beside them what a tile of each row holds. */
static inline uint32_t qk_rows_at_once_(const qk_kernel *kernel, uint32_t kept) {
    uint32_t rows = kept > 2 ? 2 : kept == 2 ? 4 : kernel->rows_at_once != 0 ? kernel->rows_at_once : 8;
    if (kept > 1 && qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 0 && kernel->tile_elements <= 16)
        rows = kept == 2 ? 8 : 4;
    return rows;
}

/* The most of a constant's legal values that take `each` bytes and fit into `room`, or its own value. */
static inline uint32_t qk_most_within_(const qk_spec_constant *constant, uint32_t each, uint32_t room) {
    uint32_t most = constant->value;
    for (uint32_t i = 0; i < constant->legal_count; i++)
        if (constant->legal[i] > most && constant->legal[i] <= room / each)
            most = constant->legal[i];
    return most;
}

/* How a launch with matrix units is shared out. */
typedef struct qk_mma_ {
    uint32_t threads, kept, at_once;
    uint64_t workgroups;
} qk_mma_;

/* A subgroup multiplies 16 rows with the x that its threads keep, `at_once` times before sums are added; as many subgroups share
 * rows as there are slices of x. */
static inline uint64_t qk_mma_groups_(const qk_mma_ *m, const qk_kernel *kernel, uint64_t rows, uint64_t cols) {
    uint64_t usual = qk_constant_(kernel, NULL, QK_CONSTANT_KEPT, 1), subgroups = m->threads / 32, split = 1;
    uint64_t slices = qk_ceil_(cols * usual, QK_MMA_COLS * m->kept);
    while (split < slices && subgroups % (2 * split) == 0)
        split *= 2;
    return qk_ceil_(rows, QK_MMA_ROWS * m->at_once * (subgroups / split));
}

/* Few rows are shared out among more workgroups: with smaller parts of x in each subgroup, then in smaller workgroups. */
static inline qk_mma_ qk_mma_plan_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows, uint64_t cols) {
    qk_mma_ m = {512 <= limits->workgroup_size ? 512u : 128u, qk_constant_(kernel, NULL, QK_CONSTANT_KEPT, 1),
                 qk_constant_(kernel, NULL, QK_CONSTANT_AT_ONCE, 1), 1};
    /* Metal texts are for workgroups of one size. */
    int fixed = qk_constant_(kernel, NULL, QK_CONSTANT_LOCAL_SIZE_X, 0) == 0;
    if (fixed)
        m.threads = kernel->workgroup_size;
    /* Sums have 32 bytes for each thread, and as often as there are several at once. */
    while (!fixed && m.threads > 32 &&
           m.threads * m.at_once * 32 > (limits->shared_bytes != 0 ? limits->shared_bytes : 16384u)) {
        uint32_t *less = m.at_once > 1 ? &m.at_once : &m.threads;
        *less /= 2;
    }
    for (int step = 0; step < (fixed ? 2 : 3); step++) {
        uint32_t *part = step == 0 ? &m.at_once : step == 1 ? &m.kept : &m.threads, least = step == 2 ? 64 : 1;
        while (*part > least) {
            uint64_t busy = qk_walking_workgroups_(kernel, limits, 8, m.threads),
                     before = qk_mma_groups_(&m, kernel, rows, cols);
            if (before >= busy)
                break;
            *part /= 2;
            if (qk_mma_groups_(&m, kernel, rows, cols) > before)
                continue;
            *part *= 2;
            break;
        }
    }
    m.workgroups = qk_walking_workgroups_(kernel, limits, 8, m.threads);
    return m;
}

static inline void qk_mma_constants_(const qk_kernel *kernel, const qk_limits *limits, const qk_mma_ *m,
                                     uint32_t *constants) {
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++) {
        const qk_spec_constant *c = &kernel->spec_constants[i];
        constants[i] = c->value;
        if (c->id == QK_CONSTANT_LOCAL_SIZE_X && c->value == QK_USUAL_THREADS)
            constants[i] = m->threads;
        if (c->id == QK_CONSTANT_KEPT)
            constants[i] = m->kept;
        if (c->id == QK_CONSTANT_AT_ONCE)
            constants[i] = m->at_once;
        if (c->id == QK_CONSTANT_ORDER_A)
            constants[i] = limits->matrix_order_a;
        if (c->id == QK_CONSTANT_ORDER_BC)
            constants[i] = limits->matrix_order_bc;
    }
}

/* Whether matrices are chosen by number, for each token others. */
static inline int qk_takes_experts_(const qk_kernel *kernel) {
    for (uint32_t i = 0; i < kernel->binding_count; i++)
        if (kernel->bindings[i].role == QK_ROLE_INDICES)
            return 1;
    return 0;
}

/* Whether weights have fewer than two bits: tiles of 16 bytes and less have twice the elements then. */
static inline int qk_has_few_bits_(const qk_kernel *kernel) {
    return 4 * qk_block_bytes_(kernel) < kernel->block_elements;
}

/* Whether a workgroup has two rows and more ahead, of more than five and a half bits a weight, beside x of two bytes: only three run
 * where else there are four, and one that waits for another to end costs more than one that is not there. */
static inline int qk_leaves_less_room_(const qk_kernel *kernel, const uint32_t *constants) {
    return qk_constant_(kernel, constants, QK_CONSTANT_AHEAD, 0) == 1 &&
           qk_constant_(kernel, constants, QK_CONSTANT_ROWS, 1) > 1 &&
           qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 2 &&
           16 * qk_block_bytes_(kernel) > 11 * (uint64_t)kernel->block_elements;
}

/* Whether weights have at most five bits, and are loaded with some of their neighbours: registers hold both. */
static inline int qk_has_neighbours_(const qk_kernel *kernel) {
    return qk_constant_(kernel, NULL, QK_CONSTANT_PADDED, 2) != 2 &&
           8 * qk_block_bytes_(kernel) <= 5 * (uint64_t)kernel->block_elements;
}

/* How a launch with one right-hand side or a few is shared out. */
typedef struct qk_share_ {
    uint32_t kept, rows, split, threads;
    int staged; /* x is loaded by the whole workgroup */
    int ahead;  /* rows are loaded ahead */
} qk_share_;

/* A subgroup keeps a slice of x for the rows that it takes at a time, which are fewer where subgroups would be too few. */
static inline qk_share_ qk_share_out_(const qk_kernel *kernel, const qk_limits *limits, uint64_t batch, uint64_t rows,
                                      uint64_t cols, int ahead) {
    qk_share_ s = {1, 0, 1, 128, 0, ahead};
    uint64_t busy = qk_busy_workgroups_(limits), slices = qk_ceil_(cols, 32 * QK_KEPT_VALUES), subgroups;
    uint32_t digits = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0), most = 512;
    int tables = qk_makes_tables_(kernel), few_bits = digits > 1 && qk_has_few_bits_(kernel), large, many;
    int neighbours = digits > 1 && !tables && qk_has_neighbours_(kernel);
    while (s.kept < batch)
        s.kept *= 2;
    while (s.split < 8 && rows * s.split < QK_BUSY_ROWS)
        s.split *= 2;
    s.rows = ahead ? kernel->rows_ahead : qk_rows_at_once_(kernel, s.kept);
    while (s.rows > 2 &&
           (s.kept > 1 ? rows < s.rows * busy : qk_ceil_(rows, s.rows) * qk_min_(slices, 4) < busy * 3 / 4))
        s.rows /= 2;
    subgroups = qk_ceil_(rows, s.rows) * slices;
    /* Where subgroups take few rows, most of what they load is x: a workgroup does so together, if it keeps all of it. The fewer
     * subgroups, the smaller are workgroups, for all of the device to have some. With experts each token's x is for few rows, however
     * many there are of all tokens; but floats and copies of tables want large workgroups. */
    many = subgroups >= 8 * busy;
    s.staged = !ahead && s.kept == 1 && busy >= 64 && cols <= 512 * QK_KEPT_VALUES &&
               (!many || (digits && !tables && qk_takes_experts_(kernel)));
    if (s.staged) {
        s.split = 1;
        s.rows = many && digits == 1 && s.rows > 4 ? 4 : s.rows;
        most = many || subgroups * 5 <= busy * 8 ? 128 : digits ? 256 : 512;
        while (most < slices * 32)
            most *= 2;
    } else if (s.kept == 1 && digits && cols > 512 * QK_KEPT_VALUES)
        most = 256;
    else if (s.kept == 1 && qk_constant_(kernel, NULL, QK_CONSTANT_TABLE_COPIES, 0) != 0 &&
             (qk_table_bytes_(kernel) > QK_LARGE_TABLES || kernel->kept_elements > QK_KEPT_VALUES))
        most = 256;
    else if (s.kept == 1 && neighbours && !few_bits)
        most = 256;
    /* Large workgroups where x takes many registers, as floats or of large tiles, or where each has tables to make; not where only a
     * few run at once. */
    large = s.kept > 1 || s.staged || (((!ahead && (digits == 0 || few_bits || neighbours)) || tables) && busy >= 64);
    /* Subgroups of a few lanes are a processor's, which takes those of a workgroup one after the other. */
    if (limits->subgroup_size != 0 && limits->subgroup_size < 32) {
        s.rows = (uint32_t)qk_min_(s.rows, 4);
        s.threads = most = 32;
    }
    while (s.threads < most && (large || s.threads * QK_KEPT_VALUES < cols) && 2 * s.threads <= limits->workgroup_size)
        s.threads *= 2;
    return s;
}

/* Memory that a workgroup shares: x, or runs of it on their way to threads, beside what the kernel needs for its sums; then
 * copies of tables. */
static inline void qk_share_memory_(const qk_kernel *kernel, const qk_limits *limits, const qk_share_ *s, uint64_t cols,
                                    uint32_t *constants) {
    enum { COPIES = 16 };
    uint32_t tables = qk_table_bytes_(kernel), pairs = qk_constant_(kernel, NULL, QK_CONSTANT_COPIES, 0);
    uint32_t copied = (pairs != 1 ? pairs : s->staged ? 1 : COPIES) * QK_PAIRS_;
    uint32_t used = s->threads * s->rows * 2 + (s->kept == 1 ? 512 : 0) + QK_UNUSED_SHARED_BYTES;
    if (s->ahead)
        used += (uint32_t)qk_ahead_bytes_(kernel, s->threads, s->rows, qk_lanes_(limits));
    uint32_t room = limits->shared_bytes != 0 ? limits->shared_bytes : 16384u, runs = 512;
    /* Of four values each: what a workgroup keeps, for more would keep other workgroups out. */
    while (4 * runs < qk_min_(cols, s->threads * QK_KEPT_VALUES))
        runs *= 2;
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++) {
        const qk_spec_constant *c = &kernel->spec_constants[i];
        uint32_t kept = pairs > 1 || copied < room / 2 ? copied : 0, left = room > used + kept ? room - used - kept : 0;
        if (c->id == QK_CONSTANT_SHARED_FOURS) {
            constants[i] = qk_most_within_(c, QK_EACH_FOUR_, left);
            used += s->kept > 1 ? constants[i] * QK_EACH_FOUR_ : 0;
        }
        if (c->id == QK_CONSTANT_STAGED) {
            if (s->ahead)
                constants[i] = 1;
            if (c->value == 1 && s->staged)
                constants[i] =
                    qk_most_within_(c, QK_EACH_RUN_, left < runs * QK_EACH_RUN_ ? left : runs * QK_EACH_RUN_);
            used += constants[i] > 1 ? constants[i] * QK_EACH_RUN_ : 0;
        }
        /* Few rows are not worth the time that copies take. */
        if (s->staged || qk_busy_workgroups_(limits) < 64)
            continue;
        if (c->id == QK_CONSTANT_COPIES && (s->kept == 1 || qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) != 0))
            constants[i] = qk_most_within_(c, QK_PAIRS_, room > used ? room - used : 0);
        if (c->id == QK_CONSTANT_TABLE_COPIES && s->kept == 1 && tables != 0)
            constants[i] = qk_most_within_(c, tables, room > used ? room - used : 0);
    }
}

/* Whether rows of that many columns can be loaded ahead: by subgroups of lanes that are known, in loads of 16 bytes, from where
 * blocks begin. */
static inline int qk_can_go_ahead_(const qk_kernel *kernel, const qk_limits *limits, uint64_t cols) {
    uint32_t lanes = limits->subgroup_size;
    if (qk_constant_(kernel, NULL, QK_CONSTANT_LOAD_WORDS, 4) != 4)
        return 0;
    if ((lanes != 8 && lanes != 16 && lanes != 32 && lanes != 64) || cols % kernel->ahead_block != 0)
        return 0;
    return cols / kernel->block_elements * qk_block_bytes_(kernel) % 16 == 0;
}

static inline void qk_set_gemv_constants_(const qk_kernel *kernel, const qk_limits *limits, uint64_t cols, qk_share_ s,
                                          uint32_t *constants) {
    int keeps = qk_keeps_x_(kernel, NULL, s.kept);
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++) {
        const qk_spec_constant *c = &kernel->spec_constants[i];
        constants[i] = c->value;
        if (c->id == QK_CONSTANT_BATCH)
            constants[i] = s.kept;
        if (c->id == QK_CONSTANT_SPLIT && c->value == 1)
            constants[i] = s.split;
        if (c->id == QK_CONSTANT_ROWS && keeps && c->value == QK_USUAL_ROWS)
            constants[i] = s.rows;
        if (c->id == QK_CONSTANT_LOCAL_SIZE_X && keeps && c->value == QK_USUAL_THREADS)
            constants[i] = s.threads;
        if (c->id == QK_CONSTANT_ROWS && !keeps && s.kept == 8 && c->value > 2)
            constants[i] = 2;
        /* Else a compiler may put a load off into the loop over right-hand sides, and do it for each. */
        if (c->id == QK_CONSTANT_CHECKED && s.kept > 1)
            constants[i] = 1;
        if (c->id == QK_CONSTANT_AHEAD)
            constants[i] = s.ahead ? 1 : 0;
        if (c->id == QK_CONSTANT_LANES)
            constants[i] = qk_lanes_(limits);
    }
    s.threads = qk_constant_(kernel, constants, QK_CONSTANT_LOCAL_SIZE_X, s.threads);
    s.rows = qk_constant_(kernel, constants, QK_CONSTANT_ROWS, s.rows);
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++)
        if (kernel->spec_constants[i].id == QK_CONSTANT_SPLIT && keeps && s.kept == 1)
            constants[i] = qk_subgroups_of_row_(kernel, limits, constants, s.threads, cols, constants[i]);
    s.staged = s.staged && keeps;
    qk_share_memory_(kernel, limits, &s, cols, constants);
}

/* The constants of a launch: the descriptor's, but for as many right-hand sides as there are, and for few rows, of which
 * subgroups take parts, so that a device is busy. Of many rows, the next are loaded ahead, where a workgroup keeps all of x and has
 * memory for them. */
static inline void qk_gemv_constants_(const qk_kernel *kernel, const qk_limits *limits, uint64_t batch, uint64_t rows,
                                      uint64_t cols, uint32_t *constants) {
    qk_share_ s = qk_share_out_(kernel, limits, batch, rows, cols, 0);
    /* As the planner has it, not with few lanes, which are a processor's. */
    uint32_t wanted = qk_constant_(kernel, NULL, QK_CONSTANT_AHEAD, QK_AHEAD_NEVER);
    int pays = !s.staged && limits->subgroup_size >= 32;
    if (batch == 1 && (wanted == QK_AHEAD_ALWAYS || (wanted == QK_AHEAD_PLANNED && pays)) &&
        qk_can_go_ahead_(kernel, limits, cols)) {
        uint64_t room = limits->shared_bytes != 0 ? limits->shared_bytes : 16384u;
        uint64_t slice = (uint64_t)limits->subgroup_size * kernel->ahead_kept;
        qk_set_gemv_constants_(kernel, limits, cols, qk_share_out_(kernel, limits, 1, rows, cols, 1), constants);
        if (qk_constant_(kernel, constants, QK_CONSTANT_SPLIT, 1) * slice >= cols &&
            qk_shared_bytes_(kernel, constants) <= room)
            return;
    }
    qk_set_gemv_constants_(kernel, limits, cols, s, constants);
}

typedef struct qk_gemv_ {
    uint64_t rows, cols, batch;
    uint64_t row_tiles;
    uint64_t row_chunk; /* rows of one launch */
    qk_matrix_ matrix;  /* not of QK_VIEW_BLOCKS */
} qk_gemv_;

/* Tiles that a row can touch. In a sequence it begins and ends within tiles, unless all rows are whole ones. */
static inline uint64_t qk_row_tiles_(const qk_kernel *kernel, uint64_t cols) {
    uint64_t tile = kernel->tile_elements;
    if (kernel->view == QK_VIEW_SEQUENCE && cols % tile != 0)
        return qk_ceil_(cols - 1, tile) + 1;
    return qk_ceil_(cols, tile);
}

static inline qk_status qk_check_gemv_(const qk_kernel *kernel, const qk_gemv_ *g, qk_error *error) {
    if (g->batch > QK_GEMV_MAX_BATCH)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: batch is %" PRIu64 ", must be at most %u", kernel->name, g->batch,
                       QK_GEMV_MAX_BATCH);
    if (g->rows > UINT32_MAX || g->cols > UINT32_MAX)
        return qk_fail(error, QK_ERROR_LIMIT, "%s: %s is %" PRIu64 ", must be below 2^32", kernel->name,
                       g->rows > UINT32_MAX ? "rows" : "cols", g->rows > UINT32_MAX ? g->rows : g->cols);
    qk_status status = qk_check_constants_(kernel, error);
    if (status != QK_OK)
        return status;
    if (kernel->view == QK_VIEW_BLOCKS)
        return qk_check_multiple_(kernel, "cols", g->cols, error);
    status = qk_check_shape_(kernel, g->rows, g->cols, error);
    if (status != QK_OK)
        return status;
    if (kernel->view == QK_VIEW_GROUPS && g->cols % kernel->block_cols != 0)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: cols is %" PRIu64 ", must be a multiple of %" PRIu32 ", so that a row has whole groups",
                       kernel->name, g->cols, kernel->block_cols);
    return QK_OK;
}

/* The arguments in the order of the bindings: the weights, x, y. */
static inline qk_status qk_add_gemv_(qk_call_ *call, const qk_range *weights, qk_range x, qk_range y, qk_gemv_ *g,
                                     qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    uint32_t count = kernel->binding_count - 2;
    qk_status status;
    if (kernel->view == QK_VIEW_BLOCKS) {
        status = qk_add_weights_(call, weights, count, g->rows, g->cols / kernel->block_elements, error);
    } else {
        status = qk_plan_matrix_(kernel, g->rows, g->cols, &g->matrix, error);
        if (status == QK_OK)
            status = qk_add_matrix_(call, weights, count, &g->matrix, error);
    }
    if (status == QK_OK)
        status = qk_add_(call, "x", x, g->batch, g->cols * qk_type_bytes(kernel->bindings[count].element), error);
    if (status == QK_OK)
        status = qk_add_(call, "y", y, g->batch, g->rows * 4, error);
    if (status == QK_OK)
        status = qk_check_overlap_(call, error);
    return status;
}

/* Rows that one launch takes: all, but where blocks lie one after the other and the weights are larger than a binding. */
static inline qk_status qk_chunk_gemv_(const qk_call_ *call, qk_gemv_ *g, qk_error *error) {
    uint32_t weights = call->count - 2;
    uint64_t limit = qk_min_(call->backend->limits.storage_range, UINT32_MAX);
    int cut = call->kernel->view == QK_VIEW_BLOCKS;
    for (uint32_t i = cut ? weights : 0; i < call->count; i++)
        if (call->arguments[i].need > limit)
            return qk_fail(error, QK_ERROR_LIMIT,
                           "%s: %s takes %" PRIu64 " bytes, must be at most %" PRIu64 ", the device's storage range",
                           call->kernel->name, call->arguments[i].name, call->arguments[i].need, limit);
    g->row_chunk = g->rows;
    if (!cut)
        return QK_OK;
    return qk_chunk_(call, 0, weights, g->rows, qk_max_tiles_(call) / g->row_tiles, "row", &g->row_chunk, error);
}

static inline qk_status qk_launch_gemv_(const qk_call_ *call, const qk_gemv_ *g, uint64_t first, uint64_t count,
                                        qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    uint32_t weights = call->count - 2, constants[QK_MAX_CONSTANTS], push[QK_GEMV_MATRIX_PUSH_BYTES / 4];
    qk_range ranges[QK_MAX_BINDINGS];
    qk_launch launch;
    for (uint32_t i = 0; i < call->count; i++)
        ranges[i] = i < weights && kernel->view == QK_VIEW_BLOCKS ? qk_part_(&call->arguments[i], first, count)
                                                                  : qk_part_(&call->arguments[i], 0, 1);
    for (uint32_t i = kernel->view == QK_VIEW_BLOCKS ? weights : 0; i < call->count; i++)
        ranges[i].size = call->arguments[i].need;
    push[0] = (uint32_t)count;
    push[1] = (uint32_t)g->row_tiles;
    push[2] = (uint32_t)g->batch;
    push[3] = (uint32_t)first;
    push[4] = (uint32_t)g->rows;
    push[5] = (uint32_t)g->matrix.cols;
    push[6] = (uint32_t)g->matrix.grid_rows;
    push[7] = (uint32_t)g->matrix.grid_cols;
    int mma = (kernel->features & QK_FEATURE_COOPERATIVE_MATRIX) != 0;
    qk_mma_ plan = {0, 0, 0, 0};
    if (mma) {
        plan = qk_mma_plan_(kernel, &call->backend->limits, count, g->cols);
        qk_mma_constants_(kernel, &call->backend->limits, &plan, constants);
    } else
        qk_gemv_constants_(kernel, &call->backend->limits, g->batch, count, g->cols, constants);
    if (kernel->view == QK_VIEW_BLOCKS)
        qk_pad_(call, weights, first + count, ranges, constants);
    launch.kernel = kernel;
    launch.ranges = ranges;
    launch.push = push;
    launch.constants = constants;
    /* Metal texts have no such constant. With eight right-hand sides they, too, take two rows at a time. */
    uint32_t rows = qk_constant_(kernel, constants, QK_CONSTANT_ROWS, g->batch > 4 ? 2 : 4);
    uint32_t kept = qk_constant_(kernel, constants, QK_CONSTANT_BATCH, 8),
             threads = qk_constant_(kernel, constants, QK_CONSTANT_LOCAL_SIZE_X, 64);
    uint64_t groups =
        mma ? qk_min_(qk_mma_groups_(&plan, kernel, count, g->cols), plan.workgroups) : qk_ceil_(count, rows);
    /* What a workgroup keeps of x, it keeps for many rows. */
    if (qk_keeps_x_(kernel, constants, kept)) {
        uint64_t walking = qk_walking_workgroups_(kernel, &call->backend->limits, kept, threads);
        if (qk_leaves_less_room_(kernel, constants))
            walking = qk_ceil_(walking * 3, 4);
        groups = qk_min_(qk_ceil_(count, kept == 1
                                             ? qk_rows_of_workgroup_(kernel, &call->backend->limits, constants, g->cols)
                                             : rows * (threads > 32 ? threads / 32 : 1)),
                         walking);
    }
    launch.workgroups = (uint32_t)qk_min_(groups, qk_max_workgroups_(call));
    return call->backend->launch(call->backend->context, &launch, error);
}

/* Multiplies a matrix with vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
 *
 * weights     the format's buffers in the order of the kernel's bindings: rows * cols elements. Where each range is QK_PADDING
 *             bytes longer than that, or more, what follows may be read, which is faster
 * x           batch * cols values of the type of the kernel's binding
 * y           batch * rows f32
 * rows, cols  of the matrix; cols a multiple of the block; where blocks are patches of a matrix and kernel->ragged is not 0,
 *             any number
 * batch       from 1 to 8
 *
 * With rows, cols or batch 0 nothing is launched. The error is bounded by kernel->numeric; on one device, the result has the
 * same bits each time. Returns as qk_dispatch_dequant does. */
static inline qk_status qk_dispatch_gemv(const qk_backend *backend, const qk_kernel *kernel, const qk_range *weights,
                                         qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch,
                                         qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_INPUT, QK_ROLE_OUTPUT};
    if (kernel == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "kernel is NULL, must be a descriptor");
    int blocks = kernel->view == QK_VIEW_BLOCKS;
    qk_tuned_ tuned;
    qk_status status = qk_tune_(&tuned, &backend, &kernel, rows, cols, batch, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, blocks, tail, 2,
                                blocks ? QK_GEMV_PUSH_BYTES : QK_GEMV_MATRIX_PUSH_BYTES, error);
    if (status != QK_OK || rows == 0 || cols == 0 || batch == 0)
        return status;
    qk_gemv_ g = {rows, cols, batch, qk_row_tiles_(kernel, cols), 0, {0, 0, 0, 0}};
    if ((status = qk_check_gemv_(kernel, &g, error)) != QK_OK)
        return status;
    qk_call_ call = qk_call_new_(backend, kernel);
    if ((status = qk_add_gemv_(&call, weights, x, y, &g, error)) != QK_OK)
        return status;
    status = qk_chunk_gemv_(&call, &g, error);
    for (uint64_t first = 0, n; status == QK_OK && first < rows; first += n) {
        n = qk_min_(g.row_chunk, rows - first);
        status = qk_launch_gemv_(&call, &g, first, n, error);
    }
    return status;
}

/* The part of the experts that a launch takes; x, ids, y and the status are bound whole. */
static inline qk_status qk_launch_experts_(const qk_call_ *call, const uint32_t *push, uint64_t first, uint64_t count,
                                           uint64_t pairs, uint64_t rows, uint64_t cols, qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    uint32_t weights = call->count - 4;
    uint32_t constants[QK_MAX_CONSTANTS];
    qk_range ranges[QK_MAX_BINDINGS];
    qk_launch launch;
    for (uint32_t i = 0; i < call->count; i++) {
        ranges[i] = qk_part_(&call->arguments[i], i < weights ? first : 0, i < weights ? count : 1);
        if (i >= weights)
            ranges[i].size = call->arguments[i].need;
    }
    launch.kernel = kernel;
    launch.ranges = ranges;
    launch.push = push;
    /* As of a matrix with a row for each result. */
    qk_gemv_constants_(kernel, &call->backend->limits, 1, pairs * rows, cols, constants);
    qk_pad_(call, weights, first + count, ranges, constants);
    launch.constants = constants;
    uint64_t groups = pairs * qk_ceil_(rows, qk_constant_(kernel, constants, QK_CONSTANT_ROWS, 4));
    if (qk_keeps_x_(kernel, constants, 1))
        groups = qk_min_(pairs * qk_ceil_(rows, qk_rows_of_workgroup_(kernel, &call->backend->limits, constants, cols)),
                         qk_walking_workgroups_(kernel, &call->backend->limits, 1,
                                                qk_constant_(kernel, constants, QK_CONSTANT_LOCAL_SIZE_X, 64)));
    launch.workgroups = (uint32_t)qk_min_(groups, qk_max_workgroups_(call));
    return call->backend->launch(call->backend->context, &launch, error);
}

static inline qk_status qk_check_experts_(const qk_kernel *kernel, uint64_t experts, uint64_t rows, uint64_t cols,
                                          uint64_t tokens, uint64_t slots, qk_error *error) {
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
    return status == QK_OK ? qk_check_multiple_(kernel, "cols", cols, error) : status;
}

/* Multiplies matrices that are chosen by number with vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k].
 *
 * weights     the format's buffers: experts * rows * cols elements, expert after expert; longer ranges as in qk_dispatch_gemv
 * x           tokens * cols values of the type of the kernel's binding
 * ids         tokens * slots u32. An id that is not below `experts` gives zeros and adds one to the status word
 * y           tokens * slots * rows f32
 * status_word one u32, which the caller clears
 * rows, cols  of one expert; cols a multiple of the block. One expert must fit into a binding
 *
 * With rows, cols, tokens or slots 0 nothing is launched. Returns as qk_dispatch_gemv does. */
static inline qk_status qk_dispatch_gemv_id(const qk_backend *backend, const qk_kernel *kernel, const qk_range *weights,
                                            qk_range x, qk_range ids, qk_range y, qk_range status_word,
                                            uint64_t experts, uint64_t rows, uint64_t cols, uint64_t tokens,
                                            uint64_t slots, qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_INPUT, QK_ROLE_INDICES, QK_ROLE_OUTPUT, QK_ROLE_STATUS};
    qk_tuned_ tuned;
    uint64_t results = qk_product_(qk_product_(tokens, slots), rows);
    qk_status status = qk_tune_(&tuned, &backend, &kernel, results, cols, 1, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, 1, tail, 4, QK_GEMV_ID_PUSH_BYTES, error);
    if (status != QK_OK || rows == 0 || cols == 0 || tokens == 0 || slots == 0)
        return status;
    if ((status = qk_check_experts_(kernel, experts, rows, cols, tokens, slots, error)) != QK_OK)
        return status;
    uint64_t row_tiles = cols / kernel->tile_elements, pairs = tokens * slots, expert_blocks, chunk = 0;
    uint64_t limit = qk_min_(backend->limits.storage_range, UINT32_MAX);
    uint32_t count = kernel->binding_count - 4;
    qk_call_ call = qk_call_new_(backend, kernel);
    if (!qk_multiply_(rows, cols / kernel->block_elements, &expert_blocks))
        return qk_fail(error, QK_ERROR_LIMIT, "%s: rows times cols must be below 2^64", kernel->name);
    status = qk_add_weights_(&call, weights, count, experts, expert_blocks, error);
    if (status == QK_OK)
        status = qk_add_(&call, "x", x, tokens, cols * qk_type_bytes(kernel->bindings[count].element), error);
    if (status == QK_OK)
        status = qk_add_(&call, "ids", ids, pairs, 4, error);
    if (status == QK_OK)
        status = qk_add_(&call, "y", y, pairs, rows * 4, error);
    if (status == QK_OK)
        status = qk_add_(&call, "status", status_word, 1, 4, error);
    if (status == QK_OK)
        status = qk_check_overlap_(&call, error);
    for (uint32_t i = count; status == QK_OK && i < call.count; i++)
        if (call.arguments[i].need > limit)
            status = qk_fail(error, QK_ERROR_LIMIT,
                             "%s: %s takes %" PRIu64 " bytes, must be at most %" PRIu64 ", the device's storage range",
                             kernel->name, call.arguments[i].name, call.arguments[i].need, limit);
    if (status == QK_OK)
        status = qk_chunk_(&call, 0, count, experts, UINT32_MAX / (rows * row_tiles), "expert", &chunk, error);
    for (uint64_t first = 0, n; status == QK_OK && first < experts; first += n) {
        n = qk_min_(chunk, experts - first);
        const uint32_t push[QK_GEMV_ID_PUSH_BYTES / 4] = {(uint32_t)rows,       (uint32_t)row_tiles, (uint32_t)tokens,
                                                          (uint32_t)slots,      (uint32_t)experts,   (uint32_t)first,
                                                          (uint32_t)(first + n)};
        status = qk_launch_experts_(&call, push, first, n, pairs, rows, cols, error);
    }
    return status;
}

#endif
