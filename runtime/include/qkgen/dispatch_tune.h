/* qkgen/dispatch_tune.h: the entry of a tuning for a call, and a launch with its constants in place of the chosen ones. Part of
 * qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_TUNE_H
#define QKGEN_DISPATCH_TUNE_H

#include "dispatch_choose.h"

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

/* Constants are chosen for powers of two of right-hand sides. */
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
 *   gemv_id, gemm_id  tokens * slots * rows x cols, batch 1
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
        uint32_t schedule = launch->constants == NULL
                                ? (uint32_t)QK_SCHEDULE_NONE
                                : qk_constant_(&tuned->kernel, launch->constants, QK_CONSTANT_SCHEDULE, 0);
        for (uint32_t i = 0; i < tuned->kernel.spec_constant_count; i++) {
            uint32_t id = tuned->constants[i].id;
            int follows = launch->kernel->operand_tile != 0 || qk_follows_(schedule, id);
            int keep = launch->constants == NULL || ((tuned->set >> i & 1u) != 0 && !follows);
            values[i] = keep ? tuned->constants[i].value : launch->constants[i];
        }
        own.kernel = tuned->original;
        own.constants = values;
        /* The shape fits what was chosen; its constants may not. */
        uint64_t rows = qk_max_(2, own.kernel->block_rows);
        uint64_t cols = qk_max_(own.kernel->block_cols, qk_max_(own.kernel->wide_block, own.kernel->teams_block));
        qk_fit_schedule_(own.kernel, &tuned->outer->limits, rows, cols, values);
        if (qk_schedules_(own.kernel) != 0 && own.kernel->operand_tile == 0 &&
            !qk_may_take_(own.kernel, &tuned->outer->limits, qk_constant_(own.kernel, values, QK_CONSTANT_SCHEDULE, 0)))
            return qk_fail(error, QK_ERROR_ARGUMENT,
                           "%s: no schedule that the device can take fits the tuning's constants; measure again with "
                           "qkgen tune",
                           own.kernel->name);
        const uint32_t views = qk_constant_(own.kernel, values, QK_CONSTANT_VIEWS, 0);
        const int pairs = views == 2;
        if ((views > 1 || qk_constant_(own.kernel, values, QK_CONSTANT_NORM, 0) != 0) &&
            !qk_walks_own_(own.kernel, &tuned->outer->limits, rows, cols, pairs, values))
            return qk_fail(
                error, QK_ERROR_UNSUPPORTED,
                "%s: no schedule for %s fits the tuning's constants; measure again with qkgen tune", own.kernel->name,
                pairs ? "rows of two matrices in turn" : views > 1 ? "slots that are added up" : "x that is normed");
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

#endif
