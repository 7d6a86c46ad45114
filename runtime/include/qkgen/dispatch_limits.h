/* qkgen/dispatch_limits.h: what a launch takes of the device with given constants: memory that a workgroup shares, workgroups, and
 * tiles. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_LIMITS_H
#define QKGEN_DISPATCH_LIMITS_H

#include "dispatch_check.h"

/* More workgroups than this gain nothing on any device: threads loop instead. */
#define QK_MAX_WORKGROUPS 65535u

/* The kernel's constant of that id in a launch, or `otherwise`. `constants` are the launch's, or NULL for the descriptor's. */
static inline uint32_t qk_constant_(const qk_kernel *kernel, const uint32_t *constants, uint32_t id,
                                    uint32_t otherwise) {
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++)
        if (kernel->spec_constants[i].id == id)
            return constants != NULL ? constants[i] : kernel->spec_constants[i].value;
    return otherwise;
}

static inline void qk_set_constant_(const qk_kernel *kernel, uint32_t id, uint32_t value, uint32_t *constants) {
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++)
        if (kernel->spec_constants[i].id == id)
            constants[i] = value;
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

/* And of operands and results of matrix units, for each thread, where they go through memory: of 16 x 16, a float; and halves. */
enum { QK_UNIT_BYTES_ = 4 + 16 + 16 + 32 };

/* The constant of that id that says what matrix units a device has; `otherwise` where it is none of these. */
static inline uint32_t qk_unit_constant_(const qk_limits *limits, uint32_t id, uint32_t otherwise) {
    switch (id) {
    case QK_CONSTANT_ORDER_A:
        return limits->matrix_order_a;
    case QK_CONSTANT_ORDER_BC:
        return limits->matrix_order_bc;
    case QK_CONSTANT_UNIT_ROWS:
        return limits->matrix_rows != 0 ? limits->matrix_rows : 16;
    case QK_CONSTANT_UNIT_COLS:
        return limits->matrix_cols != 0 ? limits->matrix_cols : 8;
    case QK_CONSTANT_UNIT_DEPTH:
        return limits->matrix_depth != 0 ? limits->matrix_depth : 16;
    case QK_CONSTANT_LANES:
        return limits->matrix_lanes != 0 ? limits->matrix_lanes : 32;
    default:
        return otherwise;
    }
}

/* Whether each thread keeps its part of x for itself, in a launch with these constants: of all right-hand sides. */
static inline int qk_keeps_own_(const qk_kernel *kernel, const uint32_t *constants) {
    int vectors = qk_schedule_of_(qk_constant_(kernel, constants, QK_CONSTANT_SCHEDULE, 0))->vectors;
    return vectors == QK_VECTORS_FEW_ ||
           (vectors != QK_VECTORS_SEVERAL_ && qk_constant_(kernel, constants, QK_CONSTANT_BATCH, 1) < 2);
}

/* Copies of a table of pairs beside matrix units: a tuning's, or enough for lookups that seldom meet in a bank. */
static inline uint32_t qk_unit_copies_(const qk_kernel *kernel) {
    uint32_t own = qk_constant_(kernel, NULL, QK_CONSTANT_COPIES, 0);
    return own == 1 ? QK_UNIT_COPIES : own;
}

/* Of the memory that a workgroup takes, what its schedule does beside x and copies of tables. */
static inline uint64_t qk_schedule_bytes_(const qk_kernel *kernel, uint32_t schedule, uint64_t threads, uint64_t lanes,
                                          uint64_t rows, uint64_t kept, uint64_t split, uint64_t fours) {
    switch (schedule) {
#define QK_BYTES_(number, NAME, name, vectors, tile, subgroups, results, bytes, meaning)                               \
    case QK_SCHEDULE_##NAME:                                                                                           \
        return bytes;
        QK_SCHEDULES(QK_BYTES_)
#undef QK_BYTES_
    default: /* texts of Metal */
        return threads * rows * (kept > 1 && fours == 0 ? kept : 2);
    }
}

/* The memory that a workgroup takes with these constants, at most: for sums, for x, and for copies of tables. */
static inline uint64_t qk_shared_bytes_(const qk_kernel *kernel, const uint32_t *constants) {
    uint64_t threads = qk_constant_(kernel, constants, QK_CONSTANT_LOCAL_SIZE_X, kernel->workgroup_size), bytes;
    uint64_t rows = qk_constant_(kernel, constants, QK_CONSTANT_ROWS, 0),
             kept = qk_constant_(kernel, constants, QK_CONSTANT_BATCH, 1);
    uint64_t fours = qk_constant_(kernel, constants, QK_CONSTANT_SHARED_FOURS, 0),
             staged = qk_constant_(kernel, constants, QK_CONSTANT_STAGED, 1);
    uint64_t tables = qk_constant_(kernel, constants, QK_CONSTANT_TABLE_COPIES, 1);
    if ((kernel->features & QK_FEATURE_COOPERATIVE_MATRIX) != 0)
        return threads * (4 * qk_constant_(kernel, constants, QK_CONSTANT_AT_ONCE, 1) *
                              (uint64_t)qk_constant_(kernel, constants, QK_CONSTANT_VECTORS, 8) +
                          (qk_constant_(kernel, constants, QK_CONSTANT_ORDER_A, 1) != 0 ? 0 : QK_UNIT_BYTES_)) +
               (uint64_t)qk_constant_(kernel, constants, QK_CONSTANT_COPIES, 0) * QK_PAIRS_;
    bytes = qk_schedule_bytes_(kernel, qk_constant_(kernel, constants, QK_CONSTANT_SCHEDULE, 0), threads,
                               qk_constant_(kernel, constants, QK_CONSTANT_LANES, 32), rows, kept,
                               qk_constant_(kernel, constants, QK_CONSTANT_SPLIT, 1), fours);
    bytes += qk_constant_(kernel, constants, QK_CONSTANT_NORM, 0) != 0 ? threads * kept : 0;
    bytes += QK_UNUSED_SHARED_BYTES + (qk_keeps_own_(kernel, constants) ? 0 : fours * QK_EACH_FOUR_);
    bytes += staged > 1 ? staged * QK_EACH_RUN_ : 0;
    bytes += tables > 1 ? tables * qk_table_bytes_(kernel) : 0;
    return bytes + (uint64_t)qk_constant_(kernel, constants, QK_CONSTANT_COPIES, 0) * QK_PAIRS_;
}

/* Workgroups of a launch at most; few enough that all threads count below 2^31. */
static inline uint64_t qk_max_workgroups_(const qk_call_ *call) {
    uint64_t groups = qk_min_(call->backend->limits.workgroup_count, QK_MAX_WORKGROUPS);
    uint64_t fit = (UINT32_MAX / 2) / call->kernel->workgroup_size;
    return fit == 0 ? 1 : qk_min_(groups, fit);
}

/* Workgroups that a launch of so many rows, with so many products each, must have for no thread to take more steps than the
 * driver lets it. A product takes two or three steps at most; a row that is too short for all threads, as many as a long one. */
static inline uint64_t qk_least_workgroups_(const qk_limits *limits, uint64_t rows, uint64_t products,
                                            uint64_t threads) {
    uint64_t each = ((uint64_t)limits->loop_steps + 3) / 4;
    if (limits->loop_steps == 0)
        return 1;
    return qk_ceil_(rows * (products > threads ? products : threads), each * threads);
}

/* Tiles of a launch at most: the loop index may pass the end by as many as there are threads. */
static inline uint64_t qk_max_tiles_(const qk_call_ *call) {
    return UINT32_MAX - qk_max_workgroups_(call) * call->kernel->workgroup_size;
}

#endif
