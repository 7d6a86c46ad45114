/* qkgen/dispatch_choose.h: constants and workgroups of a launch, from the shape, the device's limits and what the descriptor says
 * of the kernel. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_CHOOSE_H
#define QKGEN_DISPATCH_CHOOSE_H

#include "dispatch_facts.h"

/* Of several right-hand sides that share x, the schedule that leaves no part of a sum in y. */
enum { QK_SCHEDULE_OF_WHOLE_SUMS_ = QK_SCHEDULE_TEAMS };
/* Rows that a subgroup takes at a time where matrix units multiply. */
#define QK_MMA_ROWS 16u
/* Elements of each right-hand side that it keeps, unless told otherwise. */
#define QK_MMA_COLS UINT64_C(512)
/* With fewer rows than this, each of them is shared out. */
#define QK_BUSY_ROWS 4096u
/* What descriptors of such kernels say, unless somebody knows better. */
#define QK_USUAL_ROWS 4u
#define QK_USUAL_THREADS 64u
#define QK_USUAL_WIDTH 32u
#define QK_USUAL_FOURS 512u
/* Subgroups of one row, at most. */
#define QK_MOST_SUBGROUPS 32u
/* Bytes of tables of which a workgroup has two copies or none. */
#define QK_LARGE_TABLES 8192u

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

/* How a launch with matrix units is shared out. */
typedef struct qk_mma_ {
    uint32_t threads, kept, at_once, vectors;
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
static inline qk_mma_ qk_mma_plan_(const qk_kernel *kernel, const qk_limits *limits, uint64_t vectors, uint64_t rows,
                                   uint64_t cols) {
    qk_mma_ m = {512 <= limits->workgroup_size ? 512u : 128u, qk_constant_(kernel, NULL, QK_CONSTANT_KEPT, 1),
                 qk_constant_(kernel, NULL, QK_CONSTANT_AT_ONCE, 1), vectors > QK_GEMV_MAX_BATCH ? 16u : 8u, 1};
    /* Metal texts are for workgroups of one size. */
    int fixed = qk_constant_(kernel, NULL, QK_CONSTANT_LOCAL_SIZE_X, 0) == 0;
    if (fixed)
        m.threads = kernel->workgroup_size;
    /* Sums have 32 bytes for each thread, and as often as there are several at once. */
    uint32_t own = kernel->api != QK_API_VULKAN || limits->matrix_order_a != 0 ? 0 : QK_UNIT_BYTES_;
    /* Registers beside those that bring operands hold one tile of x, and fewer threads have more of them. */
    if (own != 0 && !fixed) {
        m.kept = 1;
        m.threads = m.threads < 256 ? m.threads : 256;
    }
    while (!fixed && m.threads > 32 &&
           m.threads * (m.at_once * m.vectors * 4 + own) + qk_unit_copies_(kernel) * QK_PAIRS_ >
               (limits->shared_bytes != 0 ? limits->shared_bytes : 16384u)) {
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
        constants[i] = qk_unit_constant_(limits, c->id, c->value);
        if (c->id == QK_CONSTANT_LOCAL_SIZE_X && c->value == QK_USUAL_THREADS)
            constants[i] = m->threads;
        if (c->id == QK_CONSTANT_KEPT)
            constants[i] = m->kept;
        if (c->id == QK_CONSTANT_AT_ONCE)
            constants[i] = m->at_once;
        if (c->id == QK_CONSTANT_VECTORS)
            constants[i] = m->vectors;
        if (c->id == QK_CONSTANT_COPIES)
            constants[i] = qk_unit_copies_(kernel);
    }
}

/* Whether rows have more than five and a half bits a weight, beside x of two bytes. */
static inline int qk_has_large_rows_(const qk_kernel *kernel) {
    return qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 2 &&
           16 * qk_block_bytes_(kernel) > 11 * (uint64_t)kernel->block_elements;
}

/* Whether a workgroup has two such rows and more ahead: only three run where else there are four, and one that waits for another to end
 * costs more than one that is not there. */
static inline int qk_leaves_less_room_(const qk_kernel *kernel, const uint32_t *constants) {
    return qk_constant_(kernel, constants, QK_CONSTANT_SCHEDULE, 0) == QK_SCHEDULE_AHEAD &&
           qk_constant_(kernel, constants, QK_CONSTANT_ROWS, 1) > 1 && qk_has_large_rows_(kernel);
}

/* How a launch with one right-hand side or a few is shared out. */
typedef struct qk_share_ {
    uint32_t kept, rows, split, threads;
    int own;         /* each thread keeps its part of x */
    int staged;      /* x is loaded by the whole workgroup */
    int apart;       /* not that, though rows are few: by each thread of a small one */
    int ahead;       /* rows are loaded ahead */
    int teams;       /* of lanes share rows, and all of a workgroup x */
    uint32_t copies; /* of a table of pairs; 0: what there is memory for */
} qk_share_;

/* Whether threads keep x of so many right-hand sides: always of one; of several as a rule where rows are so many that x is loaded
 * seldom, and not with few lanes, which are a processor's. */
static inline int qk_keeps_several_(const qk_kernel *kernel, const qk_limits *limits, uint32_t kept, uint64_t rows,
                                    uint64_t cols, int ahead) {
    uint32_t wanted = qk_wanted_schedule_(kernel);
    uint64_t parts = qk_ceil_(rows, qk_own_rows_(kernel, kept, ahead)) * qk_slices_(cols);
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

/* Subgroups that have slices of x where rows are loaded ahead. */
static inline uint64_t qk_slices_ahead_(const qk_kernel *kernel, const qk_limits *limits, uint64_t cols) {
    return qk_ceil_(cols, (uint64_t)qk_lanes_(limits) * kernel->ahead_kept);
}

/* Whether rows of one right-hand side that are loaded ahead are of workgroups as small as can be: more of them than are few, but not many,
 * of at most so many columns. Of bytes, where it is not for their loads that they are; and not where there is room for fewer. */
static inline int qk_is_small_ahead_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows, uint64_t cols) {
    uint64_t slices = qk_slices_ahead_(kernel, limits, cols);
    int bytes = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 1;
    return limits->subgroup_size == 32 && qk_busy_workgroups_(limits) >= 64 && cols <= QK_AHEAD_COLS &&
           slices * 32 <= QK_AHEAD_THREADS && !qk_makes_tables_(kernel) && !qk_has_large_rows_(kernel) &&
           !(bytes && (kernel->kept_elements > QK_KEPT_VALUES || qk_has_many_loads_(kernel))) &&
           rows * slices >= QK_AHEAD_SLICES * qk_walking_workgroups_(kernel, limits, 1, QK_AHEAD_THREADS) &&
           rows <= QK_CHOICE_MEDIUM * qk_processors_(limits);
}

/* Of one right-hand side, so few rows that a workgroup would not load any ahead of others: two at a time and more, for as many subgroups as
 * keep the device busy; and where rows are many enough, smaller workgroups, which do. Their threads load less of x, too. */
static inline void qk_share_few_ahead_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows, uint64_t cols,
                                       qk_share_ *s) {
    uint64_t walking = qk_walking_workgroups_(kernel, limits, 1, QK_AHEAD_THREADS);
    uint64_t slices = qk_slices_ahead_(kernel, limits, cols);
    int is_light =
        kernel->ahead_kept <= QK_KEPT_VALUES && 8 * qk_block_bytes_(kernel) <= 5 * (uint64_t)kernel->block_elements;
    if (qk_has_large_rows_(kernel))
        walking = qk_ceil_(walking * 3, 4);
    if (s->kept == 1 && qk_is_small_ahead_(kernel, limits, rows, cols)) {
        s->rows = is_light ? 4 : s->rows;
        s->threads = QK_AHEAD_THREADS;
        return;
    }
    if (s->kept > 1 || qk_busy_workgroups_(limits) < 64 || rows * slices >= QK_AHEAD_SLICES * walking)
        return;
    while (s->rows < (is_light ? 4 : 2) && qk_ceil_(rows, 2 * s->rows) * slices >= qk_busy_workgroups_(limits) * 3 / 4)
        s->rows *= 2;
    if (rows * slices < QK_AHEAD_SLICES_OF_SMALL * walking || slices * qk_lanes_(limits) > QK_AHEAD_THREADS)
        return;
    s->rows = 2;
    s->threads = QK_AHEAD_THREADS;
}

/* Threads of a workgroup that stages x of one right-hand side, at most: the fewer subgroups there are, the fewer. Floats and tables of
 * pairs want large ones, and so does x of long rows, of which a workgroup loads all. */
static inline uint32_t qk_staging_threads_(const qk_kernel *kernel, const qk_limits *limits, const qk_share_ *s,
                                           uint64_t rows, uint64_t cols) {
    uint64_t busy = qk_busy_workgroups_(limits), subgroups = qk_ceil_(rows, s->rows) * qk_slices_(cols);
    uint32_t digits = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0);
    int floats = digits == 0, pairs = qk_looks_up_pairs_(kernel);
    int bytes = digits == 1 && !pairs && qk_slices_(cols) < QK_LONG_SLICES && !qk_takes_experts_(kernel);
    if (subgroups >= 8 * busy)
        return 128;
    if (subgroups * 5 <= busy * (bytes ? 7 : 8))
        return pairs ? 256 : 128;
    return floats || pairs || (qk_slices_(cols) >= QK_LONG_SLICES && s->rows == 8) ? 512 : 256;
}

/* Copies of a table of pairs take time to make, and memory that x could have: few of them, or none, where there are few weights. */
static inline uint32_t qk_share_copies_(const qk_limits *limits, const qk_share_ *s, uint32_t digits,
                                        uint64_t weights) {
    int few = weights < QK_COPIES_WEIGHTS * qk_processors_(limits);
    if (s->kept == 1)
        return !s->staged && !s->apart ? 0 : few ? 1 : QK_COPIES_BESIDE_X;
    return digits == 0 || s->kept > 4 || (s->kept > 2 && few) ? QK_COPIES_FOR_SEVERAL : 0;
}

/* Subgroups of many lanes take few rows, and workgroups that still hold all of x have few threads. */
static inline void qk_share_among_large_(const qk_limits *limits, uint32_t digits, uint64_t cols, qk_share_ *s) {
    int one = s->kept == 1 && (digits == 0 || s->ahead);
    if (!qk_has_large_subgroups_(limits))
        return;
    s->rows = (uint32_t)qk_min_(s->rows, one ? QK_LARGE_SUBGROUP_FLOATS : QK_LARGE_SUBGROUP_ROWS);
    while (s->kept == 1 && s->threads > QK_LARGE_SUBGROUP_THREADS && s->threads / 2 * QK_KEPT_VALUES >= cols)
        s->threads /= 2;
}

/* A subgroup keeps a slice of x for the rows that it takes at a time, which are fewer where subgroups would be too few. */
static inline qk_share_ qk_share_out_(const qk_kernel *kernel, const qk_limits *limits, uint64_t batch, uint64_t rows,
                                      uint64_t cols, int ahead) {
    qk_share_ s = {1, 0, 1, 128, 0, 0, 0, ahead, 0, 0};
    uint64_t busy = qk_busy_workgroups_(limits), slices = qk_slices_(cols);
    uint32_t digits = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0), most = 512;
    int tables = qk_makes_tables_(kernel), few_bits = digits > 1 && qk_has_few_bits_(kernel), large, many;
    int neighbours = digits > 1 && !tables && qk_has_neighbours_(kernel);
    while (s.kept < batch)
        s.kept *= 2;
    s.own = qk_keeps_several_(kernel, limits, s.kept, rows, cols, ahead);
    /* Rows that are loaded ahead have the subgroups that their slices take, and no idle ones. */
    while (!ahead && s.split < 8 && rows * s.split < QK_BUSY_ROWS)
        s.split *= 2;
    s.rows = s.own && s.kept > 1 ? qk_own_rows_(kernel, s.kept, ahead)
             : ahead             ? kernel->rows_ahead
                                 : qk_rows_at_once_(kernel, s.kept);
    while (s.rows > 2 && (!s.own ? rows < s.rows * busy : qk_ceil_(rows, s.rows) * qk_min_(slices, 4) < busy * 3 / 4))
        s.rows /= 2;
    /* Where subgroups take few rows, most of what they load is x: a workgroup does so together, if it keeps all of it. The fewer
     * subgroups, the smaller are workgroups, for all of the device to have some. With experts each token's x is for few rows, however
     * many there are of all tokens; but floats and copies of tables want large workgroups. */
    many = qk_ceil_(rows, s.rows) * slices >= 8 * busy;
    s.staged = !ahead && s.own && busy >= 64 && cols <= 512 * QK_KEPT_VALUES &&
               (!many || (digits && !tables && qk_takes_experts_(kernel)));
    if (s.staged) {
        s.split = 1;
        s.rows = many && digits == 1 && s.rows > 4 ? 4 : s.rows;
        s.rows = many ? s.rows : qk_rows_of_few_(kernel, limits, s.rows, rows, cols);
        most = qk_staging_threads_(kernel, limits, &s, rows, cols);
        while (most < slices * 32)
            most *= 2;
        s.apart = qk_loads_apart_(kernel, limits, most, s.rows, rows, cols);
        if (s.apart) {
            if (qk_rounds_with_idle_(kernel, limits, most, s.rows, rows, cols) != 0)
                s.rows = (uint32_t)qk_min_(s.rows, 4);
            most = QK_APART_THREADS;
        }
        while (!s.apart && qk_looks_up_pairs_(kernel) && s.rows > 2 && most == 256 &&
               rows * slices < s.rows * 8 * qk_enough_workgroups_(limits))
            s.rows /= 2;
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
    if (qk_has_small_subgroups_(limits)) {
        s.rows = (uint32_t)qk_min_(s.rows, QK_SMALL_SUBGROUP_ROWS);
        s.threads = most = QK_SMALL_SUBGROUP_THREADS;
    }
    s.staged = s.staged && !s.apart;
    while (s.threads < most && (large || s.threads * QK_KEPT_VALUES < cols) && 2 * s.threads <= limits->workgroup_size)
        s.threads *= 2;
    if (ahead && limits->subgroup_size >= 32)
        qk_share_few_ahead_(kernel, limits, rows, cols, &s);
    qk_share_among_large_(limits, digits, cols, &s);
    return s;
}

/* Runs of 16 bytes of x that fit into what is left of the memory that a workgroup shares. */
static inline uint32_t qk_fours_within_(const qk_limits *limits, const qk_spec_constant *constant, uint32_t left) {
    uint32_t room = qk_room_for_fours_(limits, left), most = constant->value;
    for (uint32_t i = 0; i < constant->legal_count; i++)
        if (constant->legal[i] > most && constant->legal[i] <= room / QK_EACH_FOUR_ &&
            constant->legal[i] != QK_LARGE_SUBGROUP_TEAM_FOURS)
            most = constant->legal[i];
    return most;
}

/* Whether teams of large subgroups share several right-hand sides, and have room for a tile for each of their lanes in as little memory
 * as leaves the rest to other workgroups. */
static inline int qk_shares_little_(const qk_kernel *kernel, const qk_limits *limits, const qk_share_ *s,
                                    uint32_t left) {
    uint32_t tiles = qk_lanes_(limits) * s->split / 4;
    return s->teams && s->kept > 1 && qk_has_large_subgroups_(limits) &&
           left >= QK_LARGE_SUBGROUP_TEAM_FOURS * QK_EACH_FOUR_ &&
           kernel->teams_tile * s->kept * tiles <= QK_LARGE_SUBGROUP_TEAM_FOURS;
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
    uint64_t most = qk_has_large_subgroups_(limits) ? QK_LARGE_SUBGROUP_STAGED * s->threads : UINT32_MAX;
    while (4 * runs < qk_min_(cols, s->threads * QK_KEPT_VALUES) && 2 * runs <= most)
        runs *= 2;
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++) {
        const qk_spec_constant *c = &kernel->spec_constants[i];
        uint32_t kept = pairs > 1 || copied < room / 2 ? copied : 0, left = room > used + kept ? room - used - kept : 0;
        if (c->id == QK_CONSTANT_SHARED_FOURS) {
            constants[i] = qk_fours_within_(limits, c, left);
            if (c->value == QK_USUAL_FOURS && qk_shares_little_(kernel, limits, s, left))
                constants[i] = QK_LARGE_SUBGROUP_TEAM_FOURS;
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

/* Loads of a thread for each row of its own, from which on rows that are loaded ahead are faster than x that is staged for a few: of one
 * right-hand side fewer where rows are few, and more where one of the subgroups that share a row has nothing to do. */
static inline uint32_t qk_loads_before_ahead_(const qk_kernel *kernel, const qk_limits *limits, uint32_t kept,
                                              uint64_t rows, uint64_t cols) {
    uint64_t slices = qk_slices_ahead_(kernel, limits, cols), split = 1;
    while (split < slices)
        split *= 2;
    if (kept > 1)
        return QK_MANY_LOADS;
    if (rows <= QK_FEWEST_ROWS * qk_processors_(limits) && qk_slices_(cols) < QK_LONG_SLICES)
        return QK_SOME_LOADS;
    return split > slices ? QK_MOST_LOADS : QK_MANY_LOADS;
}

/* Whether rows that are loaded ahead are faster where they can be: as the planner has it, unless a workgroup stages x for a few rows.
 * There, too, where other loads are many, or tiles large, or floats meet weights of a byte; of integers where rows are long, so that each
 * workgroup has much of x to stage; and where the last round of such workgroups has little to do. Not with few lanes, which are a
 * processor's, and of floats not with many, which have no registers for two rows. */
static inline int qk_pays_ahead_(const qk_kernel *kernel, const qk_limits *limits, const qk_share_ *s, uint64_t rows,
                                 uint64_t cols) {
    uint64_t slices = qk_slices_(cols);
    int integers = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) != 0;
    int is_long = integers && slices >= QK_LONG_SLICES && qk_ceil_(rows, 8) * slices >= 4 * qk_busy_workgroups_(limits);
    int is_large = s->kept == 1 && (integers ? kernel->kept_elements > QK_KEPT_VALUES
                                             : qk_block_bytes_(kernel) >= kernel->block_elements);
    int shared = s->teams && s->kept == 1, bytes = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 1;
    int is_idle = s->kept == 1 && qk_is_small_ahead_(kernel, limits, rows, cols) &&
                  qk_rounds_with_idle_(kernel, limits, s->threads, s->rows, rows, cols) > (bytes ? 1 : 0);
    return limits->subgroup_size >= 32 && !shared && (integers || !qk_has_large_subgroups_(limits)) &&
           ((!s->staged && !s->apart) || is_long || is_large || is_idle ||
            kernel->wide_loads >= qk_loads_before_ahead_(kernel, limits, s->kept, rows, cols));
}

/* Rows that a workgroup of teams takes at a time; `split` quarters of a subgroup are one. */
static inline uint64_t qk_rows_of_teams_(const qk_limits *limits, uint32_t threads, uint32_t rows, uint32_t split) {
    return qk_max_(1, (uint64_t)rows * (4 * threads / (qk_lanes_(limits) * split)));
}

/* Registers of a thread for sums, for what is loaded of weights, and for x: with more, the workgroups of a processor are too few. */
#define QK_TEAM_REGISTERS 96u
#define QK_TEAM_THREADS 256u

/* Threads of a workgroup of teams, at most. */
static inline uint32_t qk_team_threads_(const qk_kernel *kernel, const qk_limits *limits) {
    int floats = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 0;
    return qk_has_large_subgroups_(limits) && floats ? QK_LARGE_SUBGROUP_TEAMS : QK_TEAM_THREADS;
}

/* Runs of 16 bytes of x that they share, at most. */
static inline uint32_t qk_team_fours_(const qk_kernel *kernel, const qk_limits *limits) {
    uint32_t room = limits->shared_bytes != 0 ? limits->shared_bytes : 16384u, fours = 512;
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++)
        if (kernel->spec_constants[i].id == QK_CONSTANT_SHARED_FOURS)
            fours = qk_fours_within_(limits, &kernel->spec_constants[i], room * 5 / 6);
    return fours;
}

/* Teams of a processor's lanes: of many rows in large workgroups, which load x once for all of theirs; of few in smaller ones, then
 * fewer at a time, until half of the cores that there may be have one. */
static inline void qk_form_small_teams_(const qk_limits *limits, uint64_t rows, qk_share_ *s) {
    s->rows = QK_SMALL_TEAM_ROWS;
    s->split = 4 * QK_SMALL_TEAM_ROWS / qk_lanes_(limits);
    s->threads = (uint32_t)qk_min_(QK_SMALL_TEAM_THREADS, limits->workgroup_size);
    while (qk_ceil_(rows, qk_rows_of_teams_(limits, s->threads, s->rows, s->split)) < qk_busy_workgroups_(limits) / 2) {
        uint32_t *less = s->threads > QK_SMALL_SUBGROUP_THREADS ? &s->threads : &s->rows;
        if (*less <= 2)
            break;
        *less /= 2;
    }
}

/* Teams of lanes, each with rows of its own, share x. Of few rows, more lanes are a team, as long as all have a tile of what is
 * shared; then each takes fewer rows, and workgroups are smaller; until more than half of the processors have one. Were they twice as
 * many, some processors would have two, the same rows in all, and x twice. */
static inline void qk_form_teams_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows, uint64_t cols,
                                  qk_share_ *s) {
    uint32_t lanes = qk_lanes_(limits), fours = qk_team_fours_(kernel, limits);
    uint64_t words = kernel->teams_kept * qk_block_bytes_(kernel) / kernel->block_elements / 4;
    uint64_t each = (uint64_t)kernel->teams_tile * s->kept, tiles = qk_ceil_(cols, kernel->teams_kept);
    /* Of two right-hand sides in bytes, smaller workgroups come before fewer rows. */
    int two = s->kept == 2 && qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 1 && !qk_makes_tables_(kernel) &&
              kernel->teams_tile < QK_PACK_X_TILE;
    if (qk_has_small_subgroups_(limits)) {
        qk_form_small_teams_(limits, rows, s);
        return;
    }
    tiles = qk_min_(tiles, each != 0 ? fours / each : tiles);
    s->rows = qk_has_large_subgroups_(limits) ? QK_LARGE_SUBGROUP_ROWS : 4;
    while (s->rows > 1 && s->rows * (words + s->kept) + 4 * kernel->teams_tile > QK_TEAM_REGISTERS)
        s->rows /= 2;
    s->threads = (uint32_t)qk_max_(lanes, qk_min_(qk_team_threads_(kernel, limits), limits->workgroup_size));
    s->split = lanes < 16 ? 4 : 1;
    while (qk_ceil_(rows, qk_rows_of_teams_(limits, s->threads, s->rows, s->split)) <= qk_processors_(limits) / 2) {
        uint32_t team = lanes * s->split / 4;
        if (2 * team <= s->threads && 2 * team <= tiles)
            s->split *= 2;
        else if (two && s->threads == QK_TEAM_THREADS && s->threads >= 2 * team)
            s->threads /= 2;
        else if (s->rows > 2)
            s->rows /= 2;
        else if (s->threads >= 2 * team && s->threads > 2 * lanes)
            s->threads /= 2;
        else
            break;
    }
}

/* Whether there can be teams for a matrix of that shape. */
static inline int qk_has_teams_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows, uint64_t cols) {
    return qk_may_take_(kernel, limits, QK_SCHEDULE_TEAMS) && qk_fits_teams_(kernel, rows, cols) &&
           qk_is_whole_(kernel, rows, cols);
}

/* Whether teams share x of one right-hand side, as integers, which take at most two bytes of an element so, and not each thread has its
 * part: of long rows, and as many of them as give each processor some, but not many. All of x is shared at once. */
static inline int qk_shares_one_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows, uint64_t cols) {
    uint64_t weights = rows * cols, processors = qk_processors_(limits), tile = kernel->teams_tile;
    return qk_has_teams_(kernel, limits, rows, cols) && qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) != 0 &&
           !qk_looks_up_pairs_(kernel) && limits->subgroup_size >= 32 && qk_busy_workgroups_(limits) >= 64 &&
           qk_slices_(cols) >= QK_LONG_SLICES && weights >= QK_TEAMS_LEAST_WEIGHTS * processors &&
           weights <= QK_TEAMS_MOST_WEIGHTS * processors && 16 * tile <= 2 * (uint64_t)kernel->teams_kept &&
           qk_ceil_(cols, kernel->teams_kept) * tile <= qk_team_fours_(kernel, limits);
}

/* Whether teams share x: of several right-hand sides, not a workgroup whose subgroups walk down more rows, where these would leave
 * processors without a workgroup; and where tiles are smaller in teams, of floats with more than two vectors, of integers with two,
 * of which four rows of the larger tiles do not fit into registers. Of one, where that gains, or a tuning asks for it. */
static inline int qk_forms_teams_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows, uint64_t cols,
                                  const qk_share_ *s) {
    uint32_t wanted = qk_wanted_schedule_(kernel);
    int integers = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) != 0;
    int smaller = integers ? s->kept == 2 && kernel->teams_tile < kernel->shared_tile
                           : s->kept > 2 || qk_has_large_subgroups_(limits);
    if ((s->own && s->kept > 1) || !qk_has_teams_(kernel, limits, rows, cols))
        return 0;
    if (wanted != QK_SCHEDULE_NONE || limits->subgroup_size < QK_SMALL_TEAM_ROWS)
        return wanted == QK_SCHEDULE_TEAMS;
    if (qk_has_small_subgroups_(limits)) /* of floats, if most lanes of a team have a tile of what is shared */
        return s->kept > 1 && !integers &&
               2 * qk_team_fours_(kernel, limits) >= QK_SMALL_TEAM_ROWS * kernel->teams_tile * s->kept;
    if (s->kept == 1)
        return qk_shares_one_(kernel, limits, rows, cols);
    return smaller || qk_ceil_(rows, 4 * s->rows * qk_subgroups_(limits, s->threads)) < qk_enough_workgroups_(limits);
}

/* Whether threads have rows of their own: where neighbours in memory are of different rows. */
static inline int qk_walks_columns_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows, uint64_t cols) {
    uint32_t wanted = qk_wanted_schedule_(kernel);
    return (wanted == QK_SCHEDULE_NONE || wanted == QK_SCHEDULE_COLUMNS) &&
           qk_may_take_(kernel, limits, QK_SCHEDULE_COLUMNS) && qk_is_whole_(kernel, rows, cols);
}

/* Threads that share out the tiles of a row in QK_SCHEDULE_COLUMNS, at least: the bound of sums counts on them. */
static inline uint32_t qk_least_parts_(const qk_limits *limits) {
    return qk_has_small_subgroups_(limits) ? 4 : 8;
}

/* The fewer rows there are, the fewer a workgroup has, whose threads then share out more of each row, until most processors have a
 * workgroup. These are as large as can be with one right-hand side; sums and x of more of them take registers. */
static inline void qk_columns_constants_(const qk_kernel *kernel, const qk_limits *limits, uint64_t batch,
                                         uint64_t rows, uint64_t cols, uint32_t *constants) {
    uint64_t bands = qk_ceil_(rows, kernel->columns_rows), tiles = cols / kernel->columns_kept;
    uint64_t room = (limits->shared_bytes != 0 ? limits->shared_bytes : 16384u) - QK_UNUSED_SHARED_BYTES;
    uint64_t most = qk_min_(limits->workgroup_size, room / (4 * kernel->columns_rows));
    uint32_t kept = 1, width, threads, least = qk_least_parts_(limits);
    while (kept < batch)
        kept *= 2;
    width = kept > 2 ? 16 : 32;
    while (width > 8 && qk_ceil_(bands, width) < qk_enough_workgroups_(limits))
        width /= 2;
    threads = kept == 1                                                                      ? 1024
              : kept == 2 || (kept == 4 && qk_ceil_(bands, width) <= qk_processors_(limits)) ? 512
                                                                                             : 256;
    if (qk_has_small_subgroups_(limits)) {
        width = (uint32_t)qk_min_(width, qk_max_(limits->subgroup_size, 8));
        threads = width * least;
    }
    while (threads > width * least && (threads > most || threads / 2 >= tiles * width))
        threads /= 2;
    while (width > 8 && threads > most) {
        width /= 2;
        threads /= 2;
    }
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++) {
        const qk_spec_constant *c = &kernel->spec_constants[i];
        constants[i] = c->value;
        if (c->id == QK_CONSTANT_BATCH)
            constants[i] = kept;
        if (c->id == QK_CONSTANT_LOCAL_SIZE_X && c->value == QK_USUAL_THREADS)
            constants[i] = threads;
        if (c->id == QK_CONSTANT_WIDTH && c->value == QK_USUAL_WIDTH)
            constants[i] = width;
        if (c->id == QK_CONSTANT_SCHEDULE)
            constants[i] = (uint32_t)QK_SCHEDULE_COLUMNS;
    }
}

static inline void qk_set_gemv_constants_(const qk_kernel *kernel, const qk_limits *limits, uint64_t cols, qk_share_ s,
                                          uint32_t *constants) {
    int keeps = qk_keeps_x_(kernel, limits, s.own, qk_wanted_schedule_(kernel));
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
        if (c->id == QK_CONSTANT_SCHEDULE)
            constants[i] = s.ahead   ? (uint32_t)QK_SCHEDULE_AHEAD
                           : !keeps  ? qk_plain_rows_(kernel, limits)
                           : s.teams ? (uint32_t)QK_SCHEDULE_TEAMS
                           : s.own   ? (uint32_t)QK_SCHEDULE_WIDE
                                     : (uint32_t)QK_SCHEDULE_SHARED;
        if (c->id == QK_CONSTANT_LANES)
            constants[i] = qk_lanes_(limits);
        if (c->id == QK_CONSTANT_TURNS && (s.kept == 1 || s.teams) && qk_has_large_subgroups_(limits))
            constants[i] = QK_LARGE_SUBGROUP_TURNS;
    }
    s.threads = qk_constant_(kernel, constants, QK_CONSTANT_LOCAL_SIZE_X, s.threads);
    s.rows = qk_constant_(kernel, constants, QK_CONSTANT_ROWS, s.rows);
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++)
        if (kernel->spec_constants[i].id == QK_CONSTANT_SPLIT && keeps && s.own)
            constants[i] = qk_subgroups_of_row_(kernel, limits, constants, s.threads, cols, constants[i]);
    s.staged = s.staged && keeps;
    qk_share_memory_(kernel, limits, &s, cols, constants);
}

/* The constants of a launch: the descriptor's, but for as many right-hand sides as there are, and for few rows, of which
 * subgroups take parts, so that a device is busy. Of many rows, the next are loaded ahead, where a workgroup keeps all of x and has
 * memory for them. */
static inline void qk_gemv_constants_(const qk_kernel *kernel, const qk_limits *limits, uint64_t batch, uint64_t rows,
                                      uint64_t cols, uint32_t *constants) {
    if (qk_walks_columns_(kernel, limits, rows, cols)) {
        qk_columns_constants_(kernel, limits, batch, rows, cols, constants);
        return;
    }
    qk_share_ s = qk_share_out_(kernel, limits, batch, rows, cols, 0);
    uint32_t wanted = qk_wanted_schedule_(kernel);
    s.teams = qk_forms_teams_(kernel, limits, rows, cols, &s);
    if (qk_may_take_(kernel, limits, QK_SCHEDULE_AHEAD) && qk_keeps_several_(kernel, limits, s.kept, rows, cols, 1) &&
        (wanted == QK_SCHEDULE_AHEAD ||
         (wanted == QK_SCHEDULE_NONE && qk_pays_ahead_(kernel, limits, &s, rows, cols))) &&
        qk_can_go_ahead_(kernel, limits, cols)) {
        uint64_t room = limits->shared_bytes != 0 ? limits->shared_bytes : 16384u;
        uint64_t slice = (uint64_t)limits->subgroup_size * kernel->ahead_kept;
        qk_set_gemv_constants_(kernel, limits, cols, qk_share_out_(kernel, limits, batch, rows, cols, 1), constants);
        uint64_t held = qk_constant_(kernel, constants, QK_CONSTANT_SPLIT, 1) * slice;
        /* Of several right-hand sides, too few subgroups with nothing to do are worth it. */
        int idle = s.kept > 1 && wanted == QK_SCHEDULE_NONE && 4 * cols < 3 * held;
        if (held >= cols && !idle && qk_shared_bytes_(kernel, constants) <= room)
            return;
    }
    if (s.teams) {
        s.own = s.staged = 0;
        qk_form_teams_(kernel, limits, rows, cols, &s);
    }
    qk_set_gemv_constants_(kernel, limits, cols, s, constants);
}

/* Workgroups of a launch with those constants: what one keeps of x, or shares, it does for many rows. */
static inline uint64_t qk_gemv_workgroups_(const qk_kernel *kernel, const qk_limits *limits, uint64_t batch,
                                           uint64_t rows, uint64_t cols, const uint32_t *constants) {
    /* Metal texts have no such constant. With eight right-hand sides they, too, take two rows at a time. */
    uint32_t at_once = qk_constant_(kernel, constants, QK_CONSTANT_ROWS, batch > 4 ? 2 : 4);
    uint32_t kept = qk_constant_(kernel, constants, QK_CONSTANT_BATCH, 8),
             threads = qk_constant_(kernel, constants, QK_CONSTANT_LOCAL_SIZE_X, 64);
    if (qk_constant_(kernel, constants, QK_CONSTANT_SCHEDULE, 0) == QK_SCHEDULE_COLUMNS)
        return qk_ceil_(rows, (uint64_t)kernel->columns_rows * qk_constant_(kernel, constants, QK_CONSTANT_WIDTH, 32));
    if (qk_constant_(kernel, constants, QK_CONSTANT_SCHEDULE, 0) == QK_SCHEDULE_TEAMS)
        return qk_ceil_(
            rows, qk_rows_of_teams_(limits, threads, at_once, qk_constant_(kernel, constants, QK_CONSTANT_SPLIT, 1)));
    if (!qk_keeps_x_(kernel, limits, qk_keeps_own_(kernel, constants), qk_wanted_schedule_(kernel)))
        return qk_ceil_(rows, at_once);
    uint64_t walking = qk_walking_workgroups_(kernel, limits, kept, threads);
    if (qk_leaves_less_room_(kernel, constants))
        walking = qk_ceil_(walking * 3, 4);
    return qk_min_(qk_ceil_(rows, qk_keeps_own_(kernel, constants)
                                      ? qk_rows_of_workgroup_(kernel, limits, constants, cols)
                                      : at_once * (threads > 32 ? threads / 32 : 1)),
                   walking);
}

/* Whether the schedule that was chosen fits, with the constants of the launch: modules rely on it. */
static inline int qk_fits_(const qk_kernel *kernel, const qk_limits *limits, uint32_t schedule,
                           const uint32_t *constants, uint64_t matrix_rows, uint64_t cols) {
    uint32_t rows = qk_constant_(kernel, constants, QK_CONSTANT_ROWS, 4), lanes = limits->subgroup_size;
    uint32_t threads = qk_constant_(kernel, constants, QK_CONSTANT_LOCAL_SIZE_X, kernel->workgroup_size);
    uint32_t split = qk_constant_(kernel, constants, QK_CONSTANT_SPLIT, 1);
    uint32_t batch = qk_constant_(kernel, constants, QK_CONSTANT_BATCH, 1);
    uint32_t fours = qk_constant_(kernel, constants, QK_CONSTANT_SHARED_FOURS, 0);
    if (qk_schedule_of_(schedule)->tile == QK_TILE_ROWS_)
        return 1;
    if (!qk_is_whole_(kernel, matrix_rows, cols))
        return 0;
    if (schedule == QK_SCHEDULE_COLUMNS)
        return threads >= qk_constant_(kernel, constants, QK_CONSTANT_WIDTH, 32) * qk_least_parts_(limits);
    if (lanes < rows * (qk_keeps_own_(kernel, constants) ? batch : 1))
        return 0; /* also where it is not known */
    if (schedule == QK_SCHEDULE_WIDE)
        return threads / lanes >= split && qk_fits_wide_(kernel, matrix_rows, cols);
    if (schedule == QK_SCHEDULE_TEAMS && (lanes < 8 || lanes * split < 4 * rows || lanes * split > 4 * threads ||
                                          !qk_fits_teams_(kernel, matrix_rows, cols)))
        return 0;
    if (schedule == QK_SCHEDULE_TEAMS)
        return fours >= kernel->teams_tile * batch;
    if (schedule == QK_SCHEDULE_SHARED)
        return fours >= kernel->shared_tile * batch &&
               (!kernel->shares_wide || qk_fits_wide_(kernel, matrix_rows, cols));
    return threads / lanes >= split;
}

/* Whether a constant follows from the shape, whatever was measured: which schedule fits; where rows are loaded ahead, how many subgroups
 * share one, and each thread loads its own part of x. */
static inline int qk_follows_(uint32_t schedule, uint32_t id) {
    return id == QK_CONSTANT_SCHEDULE ||
           (schedule == QK_SCHEDULE_AHEAD && (id == QK_CONSTANT_SPLIT || id == QK_CONSTANT_STAGED));
}

/* Takes plain rows where the schedule that the constants have does not fit. */
static inline void qk_fit_schedule_(const qk_kernel *kernel, const qk_limits *limits, uint64_t matrix_rows,
                                    uint64_t cols, uint32_t *constants) {
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++)
        if (kernel->spec_constants[i].id == QK_CONSTANT_SCHEDULE &&
            !qk_fits_(kernel, limits, constants[i], constants, matrix_rows, cols))
            constants[i] = qk_plain_rows_(kernel, limits);
}

/* Whether the device has a schedule for a matrix of that shape: all but those for whatever shape are for whole blocks, and for x that
 * begins where runs do. */
static inline int qk_can_multiply_(const qk_kernel *kernel, const qk_limits *limits, uint64_t matrix_rows,
                                   uint64_t cols, int uneven) {
    return qk_schedules_(kernel) == 0 || kernel->operand_tile != 0 ||
           qk_plain_schedule_(kernel, limits) != QK_SCHEDULE_NONE ||
           (!uneven && qk_is_whole_(kernel, matrix_rows, cols));
}

static inline qk_status qk_check_whole_blocks_(const qk_kernel *kernel, const qk_limits *limits, uint64_t matrix_rows,
                                               uint64_t cols, int uneven, qk_error *error) {
    if (qk_can_multiply_(kernel, limits, matrix_rows, cols, uneven))
        return QK_OK;
    return qk_fail(
        error, QK_ERROR_UNSUPPORTED,
        "%s: the device lacks %s, which the kernel requires where the matrix is not whole blocks, or x does not "
        "begin where runs do",
        kernel->name, qk_feature_name(QK_FEATURE_SUBGROUP_ARITHMETIC));
}

#endif
