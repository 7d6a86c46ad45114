/* qkgen/dispatch_facts.h: what dispatch chooses by, of kernels, devices and shapes. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_FACTS_H
#define QKGEN_DISPATCH_FACTS_H

#include "choice.def"
#include "dispatch_limits.h"

/* Where a workgroup keeps all of x: values for each thread, and workgroups that keep a device busy that does not say. */
#define QK_KEPT_VALUES UINT64_C(64)
#define QK_BUSY_WORKGROUPS 660u
/* Registers of a thread for x of several right-hand sides: those that floats of one take. */
#define QK_OWN_REGISTERS UINT64_C(64)

static inline uint64_t qk_busy_workgroups_(const qk_limits *limits) {
    return limits->busy_workgroups != 0 ? limits->busy_workgroups : QK_BUSY_WORKGROUPS;
}

/* Processors of the device, each of which five workgroups keep busy. */
static inline uint64_t qk_processors_(const qk_limits *limits) {
    return qk_max_(1, qk_busy_workgroups_(limits) / 5);
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

/* The schedule that a tuning asks for: the value of the descriptor's constant. */
static inline uint32_t qk_wanted_schedule_(const qk_kernel *kernel) {
    return qk_constant_(kernel, NULL, QK_CONSTANT_SCHEDULE, QK_SCHEDULE_NONE);
}

/* Of a subgroup; 32 where the device does not say. */
static inline uint32_t qk_lanes_(const qk_limits *limits) {
    return limits->subgroup_size != 0 ? limits->subgroup_size : 32;
}

/* Whether registers, and memory that workgroups share, are chosen for as RADV gives them out. */
static inline int qk_has_large_subgroups_(const qk_limits *limits) {
    return limits->subgroup_size == QK_LARGE_SUBGROUP;
}

/* Whether subgroups have few lanes: a processor's, which takes those of a workgroup one after the other. */
static inline int qk_has_small_subgroups_(const qk_limits *limits) {
    return limits->subgroup_size != 0 && limits->subgroup_size < QK_LANES_OF_GPUS;
}

/* Bytes, of those that are left, for x of several right-hand sides that a workgroup shares. */
static inline uint32_t qk_room_for_fours_(const qk_limits *limits, uint32_t left) {
    uint32_t most = QK_LARGE_SUBGROUP_FOURS * QK_EACH_FOUR_;
    return qk_has_large_subgroups_(limits) && left > most ? most : left;
}

static inline uint32_t qk_subgroups_(const qk_limits *limits, uint32_t threads) {
    return threads > qk_lanes_(limits) ? threads / qk_lanes_(limits) : 1;
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

/* Whether weights have at most five bits, and are loaded with some of their neighbours: registers hold both. */
static inline int qk_has_neighbours_(const qk_kernel *kernel) {
    return qk_constant_(kernel, NULL, QK_CONSTANT_PADDED, 2) != 2 &&
           8 * qk_block_bytes_(kernel) <= 5 * (uint64_t)kernel->block_elements;
}

/* Whether threads have registers for their parts of x of so many right-hand sides, of that many elements each: integers of a few bytes;
 * and floats of two where rows are loaded ahead, and not into registers. */
static inline int qk_fits_own_(const qk_kernel *kernel, uint32_t kept, uint64_t elements, int ahead) {
    uint32_t digits = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0);
    if (elements == 0)
        elements = QK_KEPT_VALUES;
    if (digits == 0)
        return kept == 1 || (kept == 2 && ahead && elements <= QK_KEPT_VALUES);
    return kept == 1 || kept * digits * elements / 4 <= QK_OWN_REGISTERS;
}

/* Whether the matrix is whole blocks, as all schedules but plain rows want it. */
static inline int qk_is_whole_(const qk_kernel *kernel, uint64_t matrix_rows, uint64_t cols) {
    if (!kernel->ragged)
        return 1;
    if (kernel->view == QK_VIEW_SEQUENCE)
        return cols % kernel->block_elements == 0;
    return matrix_rows % kernel->block_rows == 0 && cols % kernel->block_cols == 0;
}

/* Whether rows of `cols` elements are whole blocks of so many; and where loads go beyond the last block, which another path takes, there
 * is one before it. `matrix_rows` are those of the launch. */
static inline int qk_fits_blocks_(const qk_kernel *kernel, uint32_t block, uint64_t matrix_rows, uint64_t cols) {
    int overruns = qk_constant_(kernel, NULL, QK_CONSTANT_PADDED, 2) != 2;
    return block == 0 || (cols % block == 0 && (!overruns || matrix_rows > 1 || cols / block > 1));
}

/* Whether rows of `cols` elements can have larger tiles. */
static inline int qk_fits_wide_(const qk_kernel *kernel, uint64_t matrix_rows, uint64_t cols) {
    return qk_fits_blocks_(kernel, kernel->wide_block, matrix_rows, cols);
}

/* The same of teams. */
static inline int qk_fits_teams_(const qk_kernel *kernel, uint64_t matrix_rows, uint64_t cols) {
    return qk_fits_blocks_(kernel, kernel->teams_block, matrix_rows, cols);
}

/* Rows at a time, where threads keep x: as many sums as of one right-hand side. */
static inline uint32_t qk_own_rows_(const qk_kernel *kernel, uint32_t kept, int ahead) {
    return (uint32_t)qk_max_(2, (ahead ? kernel->rows_ahead : qk_rows_at_once_(kernel, 1)) / kept);
}

/* Whether threads that load their own rows have many loads for each, so that these wait for each other. */
static inline int qk_has_many_loads_(const qk_kernel *kernel) {
    return kernel->wide_loads >= QK_MANY_LOADS;
}

/* Whether weights are looked up in a table of pairs, which a workgroup makes for all of its rows: of experts they are too few. */
static inline int qk_looks_up_pairs_(const qk_kernel *kernel) {
    return qk_constant_(kernel, NULL, QK_CONSTANT_COPIES, 0) != 0 && !qk_takes_experts_(kernel);
}

/* Slices of x of so many columns, for subgroups whose threads keep what they usually do. */
static inline uint64_t qk_slices_(uint64_t cols) {
    return qk_ceil_(cols, 32 * QK_KEPT_VALUES);
}

/* Whether keeping x of several right-hand sides is faster than sharing it, of many rows: where products wait for lookups; where rows
 * are loaded ahead, of more than five bits a weight, or of two right-hand sides, of two bytes only for rows that are more; and where
 * two right-hand sides are of two bytes, as weights are of one, so that shared memory has as much to give as the cache. */
static inline int qk_gains_by_own_(const qk_kernel *kernel, const qk_limits *limits, uint32_t kept, uint64_t rows,
                                   int ahead) {
    uint64_t bits = 8 * qk_block_bytes_(kernel), elements = kernel->block_elements;
    uint32_t digits = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0);
    if (qk_makes_tables_(kernel))
        return 1;
    if (ahead)
        return bits > 5 * elements || (kept == 2 && (digits != 2 || rows >= 8 * qk_busy_workgroups_(limits)));
    return bits > 8 * elements && kept == 2 && digits == 2;
}

/* Workgroups that give three of four processors one. */
static inline uint64_t qk_enough_workgroups_(const qk_limits *limits) {
    return qk_busy_workgroups_(limits) * 3 / 20;
}

/* The rounds of such workgroups, of one right-hand side, where the last leaves too many of them nothing to do; else 0. Each takes `at_once`
 * rows for as many subgroups as have slices of x. */
static inline uint64_t qk_rounds_with_idle_(const qk_kernel *kernel, const qk_limits *limits, uint32_t threads,
                                            uint32_t at_once, uint64_t rows, uint64_t cols) {
    uint64_t split = 1, walking = qk_walking_workgroups_(kernel, limits, 1, threads);
    while (split < qk_slices_(cols))
        split *= 2;
    uint64_t workgroups = qk_ceil_(rows, at_once * qk_max_(1, qk_subgroups_(limits, threads) / split));
    uint64_t rounds = qk_ceil_(workgroups, walking);
    return QK_FULL_ROUND * workgroups < (QK_FULL_ROUND - 1) * walking * rounds ? rounds : 0;
}

/* Whether threads of small workgroups had better load their own x of long rows, though these are few: where they wait for lookups, or keep
 * much of x; and of floats and two bytes, where the last round of large workgroups has little to do. More than one for each processor. */
static inline int qk_loads_apart_(const qk_kernel *kernel, const qk_limits *limits, uint32_t threads, uint32_t at_once,
                                  uint64_t rows, uint64_t cols) {
    uint32_t digits = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0);
    int pairs = qk_looks_up_pairs_(kernel);
    if (qk_slices_(cols) < QK_LONG_SLICES || qk_slices_(cols) * 32 > QK_APART_THREADS || limits->subgroup_size != 32 ||
        qk_takes_experts_(kernel) || (qk_makes_tables_(kernel) && !pairs) || !qk_fits_wide_(kernel, rows, cols) ||
        rows <= 8 * qk_processors_(limits))
        return 0;
    return (pairs && digits != 0) || kernel->kept_elements > QK_KEPT_VALUES ||
           (digits != 1 && qk_rounds_with_idle_(kernel, limits, threads, at_once, rows, cols) != 0);
}

/* Rows at a time of few, whose x is staged: of integers eight where registers hold four of many, but not of so many rows of two bytes that
 * workgroups are large. */
static inline uint32_t qk_rows_of_few_(const qk_kernel *kernel, const qk_limits *limits, uint32_t at_once,
                                       uint64_t rows, uint64_t cols) {
    uint64_t eights = qk_ceil_(rows, 8), slices = qk_slices_(cols), busy = qk_busy_workgroups_(limits);
    uint32_t digits = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0);
    int eight = digits != 0 && at_once == 4 && kernel->rows_at_once == 4 && kernel->rows_ahead == 0 &&
                kernel->kept_elements <= QK_KEPT_VALUES && !qk_takes_experts_(kernel);
    return eight && eights * qk_min_(slices, 4) >= busy * 3 / 4 && (digits == 1 || eights * slices * 5 <= busy * 8)
               ? 8
               : at_once;
}

#endif
