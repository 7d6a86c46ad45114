/* qkgen/dispatch_choose.h: constants and workgroups of a launch, from the shape, the device's limits and what the descriptor says
 * of the kernel. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_CHOOSE_H
#define QKGEN_DISPATCH_CHOOSE_H

#include "dispatch_share.h"

/* Of several right-hand sides that share x, the schedule that leaves no part of a sum in y. */
enum { QK_SCHEDULE_OF_WHOLE_SUMS_ = QK_SCHEDULE_TEAMS };
/* Rows that a subgroup takes at a time where matrix units multiply. */
#define QK_MMA_ROWS 16u
/* Elements of each right-hand side that it keeps, unless told otherwise. */
#define QK_MMA_COLS UINT64_C(512)
/* What descriptors of such kernels say, unless somebody knows better. */
#define QK_USUAL_ROWS 4u
#define QK_USUAL_THREADS 64u
#define QK_USUAL_WIDTH 32u
/* Subgroups of one row, at most. */
#define QK_MOST_SUBGROUPS 32u

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

/* Whether a workgroup has two such rows and more ahead: only three run where else there are four, and one that waits for another to end
 * costs more than one that is not there. */
static inline int qk_leaves_less_room_(const qk_kernel *kernel, const uint32_t *constants) {
    return qk_constant_(kernel, constants, QK_CONSTANT_SCHEDULE, 0) == QK_SCHEDULE_AHEAD &&
           qk_constant_(kernel, constants, QK_CONSTANT_ROWS, 1) > 1 && qk_has_large_rows_(kernel);
}

/* Whether threads keep x of so many right-hand sides: always of one; of several as a rule where rows are so many that x is loaded
 * seldom, and not with few lanes, which are a processor's, or many, which have no registers for it. */
static inline int qk_keeps_several_(const qk_kernel *kernel, const qk_limits *limits, uint32_t kept, uint64_t rows,
                                    uint64_t cols, int ahead) {
    uint32_t wanted = qk_wanted_schedule_(kernel);
    uint64_t parts = qk_ceil_(rows, qk_own_rows_(kernel, kept, ahead)) * qk_slices_(cols);
    int sooner = ahead && qk_has_many_loads_(kernel) && qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 0;
    int pays = limits->subgroup_size >= 32 && !qk_has_large_subgroups_(limits) &&
               parts >= (sooner ? 4 : 8) * qk_busy_workgroups_(limits) &&
               qk_fits_own_(kernel, kept, ahead ? kernel->ahead_kept : kernel->kept_elements, ahead) &&
               qk_gains_by_own_(kernel, limits, kept, rows, ahead);
    if (kept == 1)
        return 1;
    return (wanted == (ahead ? QK_SCHEDULE_AHEAD : QK_SCHEDULE_WIDE) || (wanted == QK_SCHEDULE_NONE && pays)) &&
           qk_may_take_(kernel, limits, ahead ? QK_SCHEDULE_AHEAD : QK_SCHEDULE_WIDE) &&
           qk_is_whole_(kernel, rows, cols) && qk_fits_wide_(kernel, rows, cols);
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

/* Whether teams share bytes of two to four right-hand sides though subgroups could keep them: of three, a subgroup would keep four. */
static inline int qk_shares_blocks_(const qk_kernel *kernel, const qk_limits *limits, uint64_t vectors, uint64_t rows,
                                    uint64_t cols) {
    uint64_t bytes = qk_block_bytes_(kernel);
    return vectors >= 2 && vectors <= 4 && qk_has_teams_(kernel, limits, rows, cols) &&
           qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 1 && !qk_makes_tables_(kernel) &&
           limits->subgroup_size >= 32 && !qk_has_large_subgroups_(limits) && qk_busy_workgroups_(limits) >= 64 &&
           kernel->teams_kept < kernel->block_elements && bytes % 4 == 0 &&
           (vectors == 3 || 8 * bytes <= QK_TEAMS_BITS * (uint64_t)kernel->block_elements) &&
           rows * cols <= QK_TEAMS_MOST_WEIGHTS * qk_processors_(limits);
}

/* Whether teams share x: of several right-hand sides, not a workgroup whose subgroups walk down more rows, where these would leave
 * processors without a workgroup; where tiles are smaller in teams, of floats with more than two vectors, of integers with two, of which
 * four rows of the larger tiles do not fit into registers; and of subgroups with many lanes. Of one, where that gains, or a tuning asks
 * for it. */
static inline int qk_forms_teams_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows, uint64_t cols,
                                  const qk_share_ *s) {
    uint32_t wanted = qk_wanted_schedule_(kernel);
    int integers = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) != 0;
    int smaller = qk_has_large_subgroups_(limits) ||
                  (integers ? s->kept == 2 && kernel->teams_tile < kernel->shared_tile : s->kept > 2);
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

/* Constants that were chosen for a power of two of right-hand sides, for as many as there are, where a schedule takes any number of them:
 * not where their sums are side by side in the lanes of a subgroup. */
static inline void qk_keep_as_many_(const qk_kernel *kernel, uint64_t batch, uint32_t *constants) {
    uint32_t schedule = qk_constant_(kernel, constants, QK_CONSTANT_SCHEDULE, QK_SCHEDULE_NONE);
    if (schedule != QK_SCHEDULE_NONE && qk_schedule_of_(schedule)->vectors != QK_VECTORS_FEW_ &&
        batch < qk_constant_(kernel, constants, QK_CONSTANT_BATCH, 1))
        qk_set_constant_(kernel, QK_CONSTANT_BATCH, (uint32_t)batch, constants);
}

/* The constants of a launch: the descriptor's, but for a power of two of right-hand sides, and for few rows, of which
 * subgroups take parts, so that a device is busy. Of many rows, the next are loaded ahead, where a workgroup keeps all of x and has
 * memory for them. */
static inline void qk_constants_for_kept_(const qk_kernel *kernel, const qk_limits *limits, uint64_t batch,
                                          uint64_t rows, uint64_t cols, uint32_t *constants) {
    if (qk_walks_columns_(kernel, limits, rows, cols)) {
        qk_columns_constants_(kernel, limits, batch, rows, cols, constants);
        return;
    }
    uint32_t wanted = qk_wanted_schedule_(kernel), kept = 1;
    while (kept < batch)
        kept *= 2;
    int own = qk_keeps_several_(kernel, limits, kept, rows, cols, 0);
    qk_share_ s = qk_share_out_(kernel, limits, kept, own, rows, cols, 0);
    int blocks = wanted == QK_SCHEDULE_NONE && qk_shares_blocks_(kernel, limits, batch, rows, cols);
    s.teams = blocks || qk_forms_teams_(kernel, limits, rows, cols, &s);
    if (!blocks && qk_may_take_(kernel, limits, QK_SCHEDULE_AHEAD) && qk_keeps_several_(kernel, limits, s.kept, rows, cols, 1) &&
        (wanted == QK_SCHEDULE_AHEAD ||
         (wanted == QK_SCHEDULE_NONE && qk_pays_ahead_(kernel, limits, &s, rows, cols))) &&
        qk_can_go_ahead_(kernel, limits, cols)) {
        uint64_t room = limits->shared_bytes != 0 ? limits->shared_bytes : 16384u;
        uint64_t slice = (uint64_t)limits->subgroup_size * kernel->ahead_kept;
        qk_set_gemv_constants_(kernel, limits, cols, qk_share_out_(kernel, limits, kept, 1, rows, cols, 1), constants);
        uint64_t held = qk_constant_(kernel, constants, QK_CONSTANT_SPLIT, 1) * slice;
        /* Of several right-hand sides, too few subgroups with nothing to do are worth it. */
        int idle = s.kept > 1 && wanted == QK_SCHEDULE_NONE && 4 * cols < 3 * held;
        if (held >= cols && !idle && qk_shared_bytes_(kernel, constants) <= room)
            return;
    }
    if (s.teams) {
        s.own = s.staged = 0;
        qk_form_teams_(kernel, limits, batch, rows, cols, &s);
    }
    qk_set_gemv_constants_(kernel, limits, cols, s, constants);
}

/* The same for as many right-hand sides as there are. */
static inline void qk_gemv_constants_(const qk_kernel *kernel, const qk_limits *limits, uint64_t batch, uint64_t rows,
                                      uint64_t cols, uint32_t *constants) {
    qk_constants_for_kept_(kernel, limits, batch, rows, cols, constants);
    qk_keep_as_many_(kernel, batch, constants);
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

/* Whether a workgroup sees all of x, and has the memory that norms take; and, of `pairs`, whether neighbours in a subgroup have rows of two
 * matrices, one of each. */
static inline int qk_walks_own_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows, uint64_t cols,
                                int pairs, const uint32_t *constants) {
    uint32_t schedule = qk_constant_(kernel, constants, QK_CONSTANT_SCHEDULE, 0);
    return (schedule == QK_SCHEDULE_WIDE || schedule == QK_SCHEDULE_AHEAD) &&
           (!pairs || qk_constant_(kernel, constants, QK_CONSTANT_ROWS, 1) % 2 == 0) &&
           (qk_constant_(kernel, constants, QK_CONSTANT_NORM, 0) == 0 ||
            qk_shared_bytes_(kernel, constants) <= (limits->shared_bytes != 0 ? limits->shared_bytes : 16384u)) &&
           qk_fits_(kernel, limits, schedule, constants, rows, cols);
}

/* The constants of a launch whose `rows` are of two matrices in turn, if there are `pairs`, or whose x is normed, if `norm` is not 0. Where
 * others would be faster, threads still keep x. Returns whether the device and the shape allow it. */
static inline int qk_own_constants_(const qk_kernel *kernel, const qk_limits *limits, uint64_t vectors, uint64_t rows,
                                    uint64_t cols, int pairs, uint32_t norm, uint32_t *constants) {
    qk_spec_constant list[QK_MAX_CONSTANTS];
    qk_kernel wide = *kernel;
    qk_limits less = *limits;
    qk_gemv_constants_(kernel, limits, vectors, rows, cols, constants);
    qk_set_constant_(kernel, QK_CONSTANT_NORM, norm, constants);
    if (qk_walks_own_(kernel, limits, rows, cols, pairs, constants))
        return 1;
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++) {
        list[i] = kernel->spec_constants[i];
        if (list[i].id == QK_CONSTANT_SCHEDULE)
            list[i].value = QK_SCHEDULE_WIDE;
    }
    wide.spec_constants = list;
    if (norm != 0) /* of threads as many as before */
        less.shared_bytes = (limits->shared_bytes != 0 ? limits->shared_bytes : 16384u) -
                            qk_constant_(kernel, constants, QK_CONSTANT_LOCAL_SIZE_X, 64) *
                                qk_constant_(kernel, constants, QK_CONSTANT_BATCH, 1);
    qk_gemv_constants_(&wide, &less, vectors, rows, cols, constants);
    qk_set_constant_(kernel, QK_CONSTANT_NORM, norm, constants);
    /* Sums of all vectors are in lanes of a subgroup. */
    while (norm != 0 && qk_constant_(kernel, constants, QK_CONSTANT_ROWS, 1) > 1 &&
           limits->subgroup_size < qk_constant_(kernel, constants, QK_CONSTANT_ROWS, 1) *
                                       qk_constant_(kernel, constants, QK_CONSTANT_BATCH, 1))
        qk_set_constant_(kernel, QK_CONSTANT_ROWS, qk_constant_(kernel, constants, QK_CONSTANT_ROWS, 1) / 2, constants);
    return qk_walks_own_(kernel, limits, rows, cols, pairs, constants);
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
