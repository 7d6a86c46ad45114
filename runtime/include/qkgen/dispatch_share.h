/* qkgen/dispatch_share.h: how the threads of a launch with a few right-hand sides share out rows, x and memory. Part of
 * qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_SHARE_H
#define QKGEN_DISPATCH_SHARE_H

#include "choice.def"
#include "dispatch_limits.h"

/* Of several right-hand sides that share x, the schedule that leaves no part of a sum in y. */
enum { QK_SCHEDULE_OF_WHOLE_SUMS_ = QK_SCHEDULE_TEAMS };
/* With fewer rows than this, each of them is shared out. */
#define QK_BUSY_ROWS 4096u
/* Where a workgroup keeps all of x: values for each thread, and workgroups that keep a device busy that does not say. */
#define QK_KEPT_VALUES UINT64_C(64)
#define QK_BUSY_WORKGROUPS 660u
/* Registers of a thread for x of several right-hand sides: those that floats of one take. */
#define QK_OWN_REGISTERS UINT64_C(64)
/* Subgroups of one row, at most. */
#define QK_MOST_SUBGROUPS 32u
/* Loads of a thread for each row, from which on rows that are loaded ahead are faster. */
#define QK_MANY_LOADS 10u
/* Slices of x for a subgroup, from which on rows are long. */
#define QK_LONG_SLICES 5u
/* Bytes of tables of which a workgroup has two copies or none. */
#define QK_LARGE_TABLES 8192u

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

/* Whether a workgroup keeps all of x for the rows that it walks down: in registers if each thread has its own part, else in memory that
 * it shares. `wanted` is the schedule that a tuning asks for, or QK_SCHEDULE_NONE. */
static inline int qk_keeps_x_(const qk_kernel *kernel, const qk_limits *limits, int own, uint32_t wanted) {
    if (wanted != QK_SCHEDULE_NONE && qk_schedule_of_(wanted)->tile == QK_TILE_ROWS_)
        return 0;
    return qk_may_take_(kernel, limits, own ? QK_SCHEDULE_WIDE : QK_SCHEDULE_SHARED);
}

/* The schedule for whatever shape: the one that a tuning asks for, if it is such. */
static inline uint32_t qk_plain_rows_(const qk_kernel *kernel, const qk_limits *limits) {
    uint32_t wanted = qk_constant_(kernel, NULL, QK_CONSTANT_SCHEDULE, QK_SCHEDULE_NONE);
    int asked = qk_schedule_of_(wanted)->tile == QK_TILE_ROWS_ && qk_may_take_(kernel, limits, wanted);
    return asked ? wanted : qk_plain_schedule_(kernel, limits);
}

/* The schedule that a tuning asks for: the value of the descriptor's constant. */
static inline uint32_t qk_wanted_schedule_(const qk_kernel *kernel) {
    return qk_constant_(kernel, NULL, QK_CONSTANT_SCHEDULE, QK_SCHEDULE_NONE);
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
    if (qk_constant_(kernel, constants, QK_CONSTANT_SCHEDULE, 0) == QK_SCHEDULE_AHEAD)
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
    return qk_constant_(kernel, constants, QK_CONSTANT_SCHEDULE, 0) == QK_SCHEDULE_AHEAD &&
           qk_constant_(kernel, constants, QK_CONSTANT_ROWS, 1) > 1 &&
           qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 2 &&
           16 * qk_block_bytes_(kernel) > 11 * (uint64_t)kernel->block_elements;
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

/* How a launch with one right-hand side or a few is shared out. */
typedef struct qk_share_ {
    uint32_t kept, rows, split, threads;
    int own;         /* each thread keeps its part of x */
    int staged;      /* x is loaded by the whole workgroup */
    int ahead;       /* rows are loaded ahead */
    int teams;       /* of lanes share rows, and all of a workgroup x */
    uint32_t copies; /* of a table of pairs; 0: what there is memory for */
} qk_share_;

/* Whether the matrix is whole blocks, as all schedules but plain rows want it. */
static inline int qk_is_whole_(const qk_kernel *kernel, uint64_t matrix_rows, uint64_t cols) {
    if (!kernel->ragged)
        return 1;
    if (kernel->view == QK_VIEW_SEQUENCE)
        return cols % kernel->block_elements == 0;
    return matrix_rows % kernel->block_rows == 0 && cols % kernel->block_cols == 0;
}

/* Whether rows of `cols` elements can have larger tiles: whole ones; and where loads go beyond the last block, which another path
 * takes, there is one before it. `matrix_rows` are those of the launch. */
static inline int qk_fits_wide_(const qk_kernel *kernel, uint64_t matrix_rows, uint64_t cols) {
    int overruns = qk_constant_(kernel, NULL, QK_CONSTANT_PADDED, 2) != 2;
    if (kernel->wide_block == 0)
        return 1;
    return cols % kernel->wide_block == 0 && (!overruns || matrix_rows > 1 || cols / kernel->wide_block > 1);
}

/* Rows at a time, where threads keep x: as many sums as of one right-hand side. */
static inline uint32_t qk_own_rows_(const qk_kernel *kernel, uint32_t kept, int ahead) {
    return (uint32_t)qk_max_(2, (ahead ? kernel->rows_ahead : qk_rows_at_once_(kernel, 1)) / kept);
}

/* Whether threads that load their own rows have many loads for each, so that these wait for each other. */
static inline int qk_has_many_loads_(const qk_kernel *kernel) {
    return kernel->wide_loads >= QK_MANY_LOADS;
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

/* Whether threads keep x of so many right-hand sides: always of one; of several as a rule where rows are so many that x is loaded
 * seldom, and not with few lanes, which are a processor's. */
static inline int qk_keeps_several_(const qk_kernel *kernel, const qk_limits *limits, uint32_t kept, uint64_t rows,
                                    uint64_t cols, int ahead) {
    uint32_t wanted = qk_wanted_schedule_(kernel);
    uint64_t parts = qk_ceil_(rows, qk_own_rows_(kernel, kept, ahead)) * qk_ceil_(cols, 32 * QK_KEPT_VALUES);
    int sooner = ahead && qk_has_many_loads_(kernel) && qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 0;
    int pays = limits->subgroup_size >= 32 && parts >= (sooner ? 4 : 8) * qk_busy_workgroups_(limits) &&
               qk_fits_own_(kernel, kept, ahead ? kernel->ahead_kept : kernel->kept_elements, ahead) &&
               qk_gains_by_own_(kernel, limits, kept, rows, ahead);
    if (kept == 1)
        return 1;
    return (wanted == (ahead ? QK_SCHEDULE_AHEAD : QK_SCHEDULE_WIDE) || (wanted == QK_SCHEDULE_NONE && pays)) &&
           qk_may_take_(kernel, limits, ahead ? QK_SCHEDULE_AHEAD : QK_SCHEDULE_WIDE) &&
           qk_is_whole_(kernel, rows, cols) && qk_fits_wide_(kernel, rows, cols);
}

/* Copies of a table of pairs take time to make, and memory that x could have: few of them, or none, where there are few weights. */
static inline uint32_t qk_share_copies_(const qk_limits *limits, const qk_share_ *s, uint32_t digits,
                                        uint64_t weights) {
    int few = weights < QK_COPIES_WEIGHTS * qk_processors_(limits);
    if (s->kept == 1)
        return !s->staged ? 0 : few ? 1 : QK_COPIES_BESIDE_X;
    return digits == 0 || (s->kept > 2 && few) ? QK_COPIES_FOR_SEVERAL : 0;
}

/* A subgroup keeps a slice of x for the rows that it takes at a time, which are fewer where subgroups would be too few. */
static inline qk_share_ qk_share_out_(const qk_kernel *kernel, const qk_limits *limits, uint64_t batch, uint64_t rows,
                                      uint64_t cols, int ahead) {
    qk_share_ s = {1, 0, 1, 128, 0, 0, ahead, 0, 0};
    uint64_t busy = qk_busy_workgroups_(limits), slices = qk_ceil_(cols, 32 * QK_KEPT_VALUES), subgroups;
    uint32_t digits = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0), most = 512;
    int tables = qk_makes_tables_(kernel), few_bits = digits > 1 && qk_has_few_bits_(kernel), large, many;
    int neighbours = digits > 1 && !tables && qk_has_neighbours_(kernel);
    while (s.kept < batch)
        s.kept *= 2;
    s.own = qk_keeps_several_(kernel, limits, s.kept, rows, cols, ahead);
    while (s.split < 8 && rows * s.split < QK_BUSY_ROWS)
        s.split *= 2;
    s.rows = s.own && s.kept > 1 ? qk_own_rows_(kernel, s.kept, ahead)
             : ahead             ? kernel->rows_ahead
                                 : qk_rows_at_once_(kernel, s.kept);
    while (s.rows > 2 && (!s.own ? rows < s.rows * busy : qk_ceil_(rows, s.rows) * qk_min_(slices, 4) < busy * 3 / 4))
        s.rows /= 2;
    subgroups = qk_ceil_(rows, s.rows) * slices;
    /* Where subgroups take few rows, most of what they load is x: a workgroup does so together, if it keeps all of it. The fewer
     * subgroups, the smaller are workgroups, for all of the device to have some. With experts each token's x is for few rows, however
     * many there are of all tokens; but floats and copies of tables want large workgroups. */
    many = subgroups >= 8 * busy;
    s.staged = !ahead && s.own && busy >= 64 && cols <= 512 * QK_KEPT_VALUES &&
               (!many || (digits && !tables && qk_takes_experts_(kernel)));
    if (s.staged) {
        s.split = 1;
        s.rows = many && digits == 1 && s.rows > 4 ? 4 : s.rows;
        most = many || subgroups * 5 <= busy * 8 ? 128 : digits ? 256 : 512;
        while (most < slices * 32)
            most *= 2;
    } else if (s.own && digits && cols > 512 * QK_KEPT_VALUES)
        most = 256;
    else if (s.own && qk_constant_(kernel, NULL, QK_CONSTANT_TABLE_COPIES, 0) != 0 &&
             (qk_table_bytes_(kernel) > QK_LARGE_TABLES || kernel->kept_elements > QK_KEPT_VALUES))
        most = 256;
    else if (s.own && neighbours && !few_bits)
        most = 256;
    s.copies = qk_share_copies_(limits, &s, digits, rows * cols);
    /* Large workgroups where x takes many registers, as floats or of large tiles, or where each has tables to make; not where only a
     * few run at once. */
    large = !s.own || s.staged || (((!ahead && (digits == 0 || few_bits || neighbours)) || tables) && busy >= 64);
    /* Subgroups of a few lanes are a processor's, which takes those of a workgroup one after the other. */
    if (limits->subgroup_size != 0 && limits->subgroup_size < 32) {
        s.rows = (uint32_t)qk_min_(s.rows, 4);
        s.threads = most = 32;
    }
    while (s.threads < most && (large || s.threads * QK_KEPT_VALUES < cols) && 2 * s.threads <= limits->workgroup_size)
        s.threads *= 2;
    if (limits->subgroup_size == QK_LARGE_SUBGROUP)
        s.rows =
            (uint32_t)qk_min_(s.rows, s.kept == 1 && digits == 0 ? QK_LARGE_SUBGROUP_FLOATS : QK_LARGE_SUBGROUP_ROWS);
    return s;
}

/* Memory that a workgroup shares: x, or runs of it on their way to threads, beside what the kernel needs for its sums; then
 * copies of tables. */
static inline void qk_share_memory_(const qk_kernel *kernel, const qk_limits *limits, const qk_share_ *s, uint64_t cols,
                                    uint32_t *constants) {
    uint32_t tables = qk_table_bytes_(kernel), pairs = qk_constant_(kernel, NULL, QK_CONSTANT_COPIES, 0);
    uint32_t copied = (pairs != 1 ? pairs : s->copies != 0 ? s->copies : QK_COPIES_BESIDE_X) * QK_PAIRS_;
    uint32_t used = s->threads * s->rows * (s->own ? 2 * s->kept : 2) + (s->own ? 512 : 0) + QK_UNUSED_SHARED_BYTES;
    if (s->teams)
        used = s->threads * s->rows * s->kept / 2 + QK_UNUSED_SHARED_BYTES;
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
            used += !s->own ? constants[i] * QK_EACH_FOUR_ : 0;
        }
        if (c->id == QK_CONSTANT_STAGED) {
            if (s->ahead)
                constants[i] = 1;
            if (c->value == 1 && s->staged)
                constants[i] =
                    qk_most_within_(c, QK_EACH_RUN_, left < runs * QK_EACH_RUN_ ? left : runs * QK_EACH_RUN_);
            used += constants[i] > 1 ? constants[i] * QK_EACH_RUN_ : 0;
        }
        uint32_t rest = room > used ? room - used : 0;
        if (qk_busy_workgroups_(limits) < 64)
            continue;
        if (c->id == QK_CONSTANT_COPIES)
            constants[i] = qk_most_within_(c, QK_PAIRS_, s->copies != 0 && copied < rest ? copied : rest);
        /* Few rows are not worth the time that copies take. */
        if (c->id == QK_CONSTANT_TABLE_COPIES && s->own && tables != 0 && !s->staged)
            constants[i] = qk_most_within_(c, tables, rest);
    }
}

/* Whether rows of that many columns can be loaded ahead: by subgroups of lanes that are known, in loads of 16 bytes, from where
 * blocks begin. */
static inline int qk_can_go_ahead_(const qk_kernel *kernel, const qk_limits *limits, uint64_t cols) {
    uint32_t lanes = limits->subgroup_size;
    if ((lanes != 8 && lanes != 16 && lanes != 32 && lanes != 64) || cols % kernel->ahead_block != 0)
        return 0;
    return cols / kernel->block_elements * qk_block_bytes_(kernel) % 16 == 0;
}

/* Whether rows that are loaded ahead are faster where they can be: as the planner has it, unless a workgroup stages x for a few rows.
 * There, too, where other loads are many; and of integers where rows are long, so that each workgroup has much of x to stage. Not with
 * few lanes, which are a processor's. */
static inline int qk_pays_ahead_(const qk_kernel *kernel, const qk_limits *limits, const qk_share_ *s, uint64_t rows,
                                 uint64_t cols) {
    uint64_t slices = qk_ceil_(cols, 32 * QK_KEPT_VALUES);
    int integers = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) != 0;
    int is_long = integers && slices >= QK_LONG_SLICES && qk_ceil_(rows, 8) * slices >= 4 * qk_busy_workgroups_(limits);
    return limits->subgroup_size >= 32 && (!s->staged || qk_has_many_loads_(kernel) || is_long);
}

/* Workgroups that give three of four processors one. */
static inline uint64_t qk_enough_workgroups_(const qk_limits *limits) {
    return qk_busy_workgroups_(limits) * 3 / 20;
}

/* Rows that a workgroup of teams takes at a time; `split` quarters of a subgroup are one. */
static inline uint64_t qk_rows_of_teams_(const qk_limits *limits, uint32_t threads, uint32_t rows, uint32_t split) {
    return qk_max_(1, (uint64_t)rows * (4 * threads / (qk_lanes_(limits) * split)));
}

/* Registers of a thread for sums, for what is loaded of weights, and for x: with more, the workgroups of a processor are too few. */
#define QK_TEAM_REGISTERS 96u
#define QK_TEAM_THREADS 256u

/* Teams of lanes, each with rows of its own, share x. Of few rows, more lanes are a team, as long as all have a tile of what is
 * shared; then each takes fewer rows, and workgroups are smaller; until more than half of the processors have one. Were they twice as
 * many, some processors would have two, the same rows in all, and x twice. */
static inline void qk_form_teams_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows, uint64_t cols,
                                  qk_share_ *s) {
    uint32_t lanes = qk_lanes_(limits), room = limits->shared_bytes != 0 ? limits->shared_bytes : 16384u, fours = 512;
    uint64_t words = kernel->teams_kept * qk_block_bytes_(kernel) / kernel->block_elements / 4;
    uint64_t each = (uint64_t)kernel->teams_tile * s->kept, tiles = qk_ceil_(cols, kernel->teams_kept);
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++)
        if (kernel->spec_constants[i].id == QK_CONSTANT_SHARED_FOURS)
            fours = qk_most_within_(&kernel->spec_constants[i], QK_EACH_FOUR_, room * 5 / 6);
    tiles = qk_min_(tiles, each != 0 ? fours / each : tiles);
    s->rows = limits->subgroup_size == QK_LARGE_SUBGROUP ? QK_LARGE_SUBGROUP_ROWS : 4;
    while (s->rows > 1 && s->rows * (words + s->kept) + 4 * kernel->teams_tile > QK_TEAM_REGISTERS)
        s->rows /= 2;
    s->threads = (uint32_t)qk_max_(lanes, qk_min_(QK_TEAM_THREADS, limits->workgroup_size));
    s->split = lanes < 16 ? 4 : 1;
    while (qk_ceil_(rows, qk_rows_of_teams_(limits, s->threads, s->rows, s->split)) <= qk_processors_(limits) / 2) {
        uint32_t team = lanes * s->split / 4;
        if (2 * team <= s->threads && 2 * team <= tiles)
            s->split *= 2;
        else if (s->rows > 2)
            s->rows /= 2;
        else if (s->threads >= 2 * team && s->threads > 2 * lanes)
            s->threads /= 2;
        else
            break;
    }
}

/* Whether teams share x of several right-hand sides, not a workgroup whose subgroups walk down more rows: where these would leave
 * processors without a workgroup; and where tiles are smaller in teams, of floats with more than two vectors, of integers with two,
 * of which four rows of the larger tiles do not fit into registers. */
static inline int qk_forms_teams_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows, uint64_t cols,
                                  const qk_share_ *s) {
    uint32_t wanted = qk_wanted_schedule_(kernel);
    int integers = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) != 0;
    int smaller = integers ? s->kept == 2 && kernel->teams_tile < kernel->shared_tile : s->kept > 2;
    if (s->own || s->kept < 2 || !qk_may_take_(kernel, limits, QK_SCHEDULE_TEAMS) ||
        !qk_fits_wide_(kernel, rows, cols) || !qk_is_whole_(kernel, rows, cols))
        return 0;
    if (wanted != QK_SCHEDULE_NONE || limits->subgroup_size < 32)
        return wanted == QK_SCHEDULE_TEAMS;
    return smaller || qk_ceil_(rows, 4 * s->rows * qk_subgroups_(limits, s->threads)) < qk_enough_workgroups_(limits);
}

#endif
