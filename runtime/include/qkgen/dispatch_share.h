/* qkgen/dispatch_share.h: how a launch with one right-hand side or a few is shared out among threads, workgroups and their memory: of rows
 * that each thread takes, that are loaded ahead, or that teams of lanes take. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_SHARE_H
#define QKGEN_DISPATCH_SHARE_H

#include "dispatch_facts.h"

/* With fewer rows than this, each of them is shared out. */
#define QK_BUSY_ROWS 4096u
/* Bytes of tables of which a workgroup has two copies or none. */
#define QK_LARGE_TABLES 8192u
/* Runs of x that descriptors say, unless somebody knows better. */
#define QK_USUAL_FOURS 512u

/* Whether rows have more than five and a half bits a weight, beside x of two bytes. */
static inline int qk_has_large_rows_(const qk_kernel *kernel) {
    return qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 2 &&
           16 * qk_block_bytes_(kernel) > 11 * (uint64_t)kernel->block_elements;
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

/* Rows at a time that are loaded ahead: fewer of floats, where weights are so many that they come from memory, in few loads. */
static inline uint32_t qk_rows_ahead_(const qk_kernel *kernel, const qk_limits *limits, uint64_t rows, uint64_t cols) {
    int floats = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 0;
    int many = rows * cols >= QK_AHEAD_MANY_WEIGHTS * qk_processors_(limits);
    return floats && many && !qk_has_many_loads_(kernel) ? (uint32_t)qk_min_(kernel->rows_ahead, 2) : kernel->rows_ahead;
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

/* Whether there are so few rows of one slice of floats that workgroups of eight at a time would stage x for little else; not of experts,
 * for which nobody measured it. */
static inline int qk_stages_much_(const qk_kernel *kernel, const qk_limits *limits, uint32_t at_once, uint64_t rows, uint64_t cols) {
    int floats = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 0;
    return floats && at_once == 8 && qk_slices_(cols) == 1 && !qk_takes_experts_(kernel) &&
           qk_ceil_(rows, at_once) < qk_busy_workgroups_(limits);
}

/* Copies of a table of pairs take time to make, and memory that x could have: few of them, or none, where there are few weights. */
static inline uint32_t qk_share_copies_(const qk_limits *limits, const qk_share_ *s, uint32_t digits,
                                        uint64_t weights) {
    int few = weights < QK_COPIES_WEIGHTS * qk_processors_(limits);
    if (s->kept == 1)
        return !s->staged && !s->apart ? 0 : few ? 1 : QK_COPIES_BESIDE_X;
    return digits == 0 || s->kept > 4 || (s->kept > 2 && few) ? QK_COPIES_FOR_SEVERAL : 0;
}

/* Subgroups of many lanes take few rows: one of floats, of those that are loaded ahead, and of two bytes beside many loads. Workgroups
 * that still hold all of x have few threads. */
static inline void qk_share_among_large_(const qk_kernel *kernel, const qk_limits *limits, uint32_t digits, uint64_t cols,
                                         qk_share_ *s) {
    int one = s->kept == 1 && (digits == 0 || s->ahead || (digits == 2 && qk_has_many_loads_(kernel)));
    if (!qk_has_large_subgroups_(limits))
        return;
    s->rows = (uint32_t)qk_min_(s->rows, one ? QK_LARGE_SUBGROUP_FLOATS : QK_LARGE_SUBGROUP_ROWS);
    while (s->kept == 1 && s->threads > QK_LARGE_SUBGROUP_THREADS && s->threads / 2 * QK_KEPT_VALUES >= cols)
        s->threads /= 2;
}

/* A subgroup keeps a slice of x for the rows that it takes at a time, which are fewer where subgroups would be too few. `kept` is a power
 * of two, at least as many as there are; `own` is whether each thread keeps its part of x. */
static inline qk_share_ qk_share_out_(const qk_kernel *kernel, const qk_limits *limits, uint32_t kept, int own,
                                      uint64_t rows, uint64_t cols, int ahead) {
    qk_share_ s = {kept, 0, 1, 128, own, 0, 0, ahead, 0, 0};
    uint64_t busy = qk_busy_workgroups_(limits), slices = qk_slices_(cols);
    uint32_t digits = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0), most = 512;
    int tables = qk_makes_tables_(kernel), few_bits = digits > 1 && qk_has_few_bits_(kernel), large, many;
    int neighbours = digits > 1 && !tables && qk_has_neighbours_(kernel);
    /* Rows that are loaded ahead have the subgroups that their slices take, and no idle ones. */
    while (!ahead && s.split < 8 && rows * s.split < QK_BUSY_ROWS)
        s.split *= 2;
    s.rows = s.own && s.kept > 1 ? qk_own_rows_(kernel, s.kept, ahead)
             : ahead             ? qk_rows_ahead_(kernel, limits, rows, cols)
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
        if (qk_stages_much_(kernel, limits, s.rows, rows, cols)) {
            s.rows = 2;
            most = QK_STAGING_THREADS;
        }
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
    qk_share_among_large_(kernel, limits, digits, cols, &s);
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
 * processor's; and with many of large tiles of integers alone: registers have no room for two rows, and one at a time takes more
 * instructions. */
static inline int qk_pays_ahead_(const qk_kernel *kernel, const qk_limits *limits, const qk_share_ *s, uint64_t rows,
                                 uint64_t cols) {
    uint64_t slices = qk_slices_(cols);
    int integers = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) != 0;
    int is_long = integers && slices >= QK_LONG_SLICES && qk_ceil_(rows, 8) * slices >= 4 * qk_busy_workgroups_(limits);
    int is_large = s->kept == 1 && (integers ? kernel->kept_elements > QK_KEPT_VALUES
                                             : qk_block_bytes_(kernel) >= kernel->block_elements &&
                                                   rows > QK_AHEAD_BYTES_ROWS * qk_processors_(limits));
    int shared = s->teams && s->kept == 1, bytes = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 1;
    int is_idle = s->kept == 1 && qk_is_small_ahead_(kernel, limits, rows, cols) &&
                  qk_rounds_with_idle_(kernel, limits, s->threads, s->rows, rows, cols) > (bytes ? 1 : 0);
    int holds = !qk_has_large_subgroups_(limits) || (integers && is_large);
    return limits->subgroup_size >= 32 && !shared && holds &&
           ((!s->staged && !s->apart) || is_long || is_large || is_idle ||
            kernel->wide_loads >= qk_loads_before_ahead_(kernel, limits, s->kept, rows, cols));
}

/* Rows that a workgroup of teams takes at a time; `split` quarters of a subgroup are one. */
static inline uint64_t qk_rows_of_teams_(const qk_limits *limits, uint32_t threads, uint32_t rows, uint32_t split) {
    return qk_max_(1, (uint64_t)rows * (4 * threads / (qk_lanes_(limits) * split)));
}

/* Registers of a thread for sums, for what is loaded of weights, and for x: with more, the workgroups of a processor are too few. */
#define QK_TEAM_REGISTERS 100u
#define QK_TEAM_THREADS 256u

/* Threads of a workgroup of teams, at most. */
static inline uint32_t qk_team_threads_(const qk_kernel *kernel, const qk_limits *limits) {
    int floats = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 0;
    int turns = qk_constant_(kernel, NULL, QK_CONSTANT_TURNS, 0) != 0;
    return qk_has_large_subgroups_(limits) && (floats || turns) ? QK_LARGE_SUBGROUP_TEAMS : QK_TEAM_THREADS;
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
 * many, some processors would have two, the same rows in all, and x twice. Memory is for as many `vectors` as there are, and registers
 * for a power of two: with four rows of five in two bytes, a format that looks pairs up takes 1.4 times as long. */
static inline void qk_form_teams_(const qk_kernel *kernel, const qk_limits *limits, uint64_t vectors, uint64_t rows,
                                  uint64_t cols, qk_share_ *s) {
    uint32_t lanes = qk_lanes_(limits), fours = qk_team_fours_(kernel, limits);
    uint64_t words = kernel->teams_kept * qk_block_bytes_(kernel) / kernel->block_elements / 4;
    uint64_t each = kernel->teams_tile * qk_min_(vectors, s->kept), tiles = qk_ceil_(cols, kernel->teams_kept);
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

#endif
