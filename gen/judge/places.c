/* Places: what lies around a tensor changes nothing and stays as it is, and all results are written. */
#include "judge/trial.h"

#include <string.h>

typedef struct place_run {
    qg_trial *t;
    qg_call *call;
    qg_room rooms[QG_MAX_ARGUMENTS];
    qg_launch_data data;
} place_run;

enum { MOST_ELEMENTS = 1 << 18 }; /* of patches */

static const char *const use_names[QG_USE_COUNT] = {
    [QG_USE_WEIGHTS] = "the weights", [QG_USE_X] = "x",           [QG_USE_Y] = "the results",
    [QG_USE_INDICES] = "the indices", [QG_USE_IDS] = "the ids",   [QG_USE_ZEROS] = "scratch",
    [QG_USE_STRUCT] = "arguments",    [QG_USE_TABLE] = "a table", [QG_USE_VALUE] = "",
};

/* Bytes of a margin behind a tensor: to the end of its page and one more. */
static uint64_t behind(uint64_t bytes) { return (bytes + QG_MARGIN - 1) / QG_MARGIN * QG_MARGIN - bytes + QG_MARGIN; }

static unsigned char poison(uint64_t i, uint32_t salt) {
    return (unsigned char)(((i + salt) * 2654435761u >> 13 | 1) ^ salt);
}

static void surround(place_run *p, uint32_t salt) {
    for (uint32_t i = 0; i < p->call->n_passed; ++i) {
        const qg_room *r = &p->rooms[i];
        if (p->call->passed[i].use == QG_USE_VALUE) continue;
        for (uint64_t k = 0; k < QG_MARGIN; ++k) r->data[k - QG_MARGIN] = poison(k, salt);
        for (uint64_t k = 0; k < behind(r->bytes); ++k) r->data[r->bytes + k] = poison(k, salt);
        if (p->call->passed[i].use == QG_USE_Y)
            for (uint64_t k = 0; k < r->bytes; ++k) r->data[k] = poison(k, salt + 7);
    }
}

/* The offset from the tensor's start of a byte of the margin that changed, or 0. */
static int64_t changed(const qg_room *r, uint32_t salt) {
    for (uint64_t k = QG_MARGIN; k-- > 0;)
        if (r->data[k - QG_MARGIN] != poison(k, salt)) return (int64_t)k - QG_MARGIN;
    for (uint64_t k = 0; k < behind(r->bytes); ++k)
        if (r->data[r->bytes + k] != poison(k, salt)) return (int64_t)(r->bytes + k);
    return 0;
}

static void check_margins(place_run *p, uint32_t salt, const unsigned char *const *before) {
    qg_trial *t = p->t;
    for (uint32_t i = 0; i < p->call->n_passed; ++i) {
        const qg_room *r = &p->rooms[i];
        const qg_use use = p->call->passed[i].use;
        if (use == QG_USE_VALUE) continue;
        const int64_t at = changed(r, salt);
        if (at && !qg_found(t, "write-outside"))
            qg_find(t, QG_WRONG, "write-outside",
                    qg_format(t->arena, "with %s, it writes %s %s: byte %lld, of %llu", qg_say_shape(t, p->call->shape),
                              at < 0 ? "before the start of" : "behind the end of", use_names[use], (long long)at,
                              (unsigned long long)r->bytes));
        if (before[i] && memcmp(before[i], r->data, r->bytes) && !qg_found(t, "write-to-input"))
            qg_find(t, QG_WRONG, "write-to-input",
                    qg_format(t->arena, "with %s, it writes to %s", qg_say_shape(t, p->call->shape), use_names[use]));
    }
}

/* One launch among poison; y's bytes. */
static const unsigned char *launch(place_run *p, uint32_t salt, bool open) {
    const unsigned char *before[QG_MAX_ARGUMENTS] = {0}, *y = NULL;
    if (!qg_fill_rooms(p->t, p->call, &p->data, p->rooms)) return NULL;
    surround(p, salt);
    for (uint32_t i = 0; i < p->call->n_passed; ++i) {
        const qg_use use = p->call->passed[i].use;
        if (use == QG_USE_WEIGHTS || use == QG_USE_X || use == QG_USE_INDICES || use == QG_USE_IDS ||
            use == QG_USE_TABLE)
            before[i] = memcpy(qg_alloc(p->t->arena, p->rooms[i].bytes + 1), p->rooms[i].data, p->rooms[i].bytes);
    }
    if (!qg_launch(p->t, p->call, (qg_launch_mode){.open = open, .low = salt & 1})) return NULL;
    check_margins(p, salt, before);
    for (uint32_t i = 0; i < p->call->n_passed; ++i)
        if (p->call->passed[i].use == QG_USE_Y)
            y = memcpy(qg_alloc(p->t->arena, p->rooms[i].bytes + 1), p->rooms[i].data, p->rooms[i].bytes);
    return y;
}

static void compare_places(place_run *p, const unsigned char *a, const unsigned char *b, uint32_t salt_a,
                           uint32_t salt_b) {
    qg_trial *t = p->t;
    const uint64_t size = qg_scalars[t->y_type].bits / 8, n = qg_results(t->harness, p->call->shape);
    uint64_t unwritten = 0, first_unwritten = 0, differ = 0, first = 0;
    for (uint64_t i = 0; i < n; ++i) {
        bool same = true, kept = true;
        for (uint64_t k = i * size; k < (i + 1) * size; ++k) {
            same &= a[k] == b[k];
            kept &= a[k] == poison(k, salt_a + 7) && b[k] == poison(k, salt_b + 7);
        }
        if (kept && unwritten++ == 0) first_unwritten = i;
        if (!same && !kept && differ++ == 0) first = i;
    }
    if (unwritten && !qg_found(t, "unwritten"))
        qg_find(t, QG_WRONG, "unwritten",
                qg_format(t->arena, "with %s, %llu of %llu results are never written; the first is number %llu",
                          qg_say_shape(t, p->call->shape), (unsigned long long)unwritten, (unsigned long long)n,
                          (unsigned long long)first_unwritten));
    if (differ && !qg_found(t, "read-outside"))
        qg_find(t, QG_WRONG, "read-outside",
                qg_format(
                    t->arena,
                    "with %s, %llu of %llu results depend on what lies outside of the tensors, or was in y before; the "
                    "first is number %llu",
                    qg_say_shape(t, p->call->shape), (unsigned long long)differ, (unsigned long long)n,
                    (unsigned long long)first));
}

static void see_shape(qg_trial *t, qg_call_shape shape) {
    place_run p = {.t = t, .call = QG_NEW(t->arena, qg_call)};
    shape = qg_with_experts(t, shape, 1 + shape.rows / 2, 1 + shape.rows / 3);
    if (t->layout->view != QG_VIEW_BLOCKS && shape.rows * shape.cols > MOST_ELEMENTS) return;
    if (t->unable || qg_call_of(t, shape, p.call)) return;
    const uint64_t pairs = shape.batch * qg_slots(shape), n_x = pairs * shape.cols;
    qg_blocks blocks = qg_blocks_new(t->arena, t->layout, qg_count_blocks(t, shape));
    float *x = QG_NEW_ARRAY(t->arena, float, n_x);
    uint32_t *indices = QG_NEW_ARRAY(t->arena, uint32_t, shape.batch), *ids = QG_NEW_ARRAY(t->arena, uint32_t, pairs);
    for (uint64_t i = 0; i < blocks.count; ++i) qg_block_draw(t, &blocks, i, 20000, &t->random);
    for (uint64_t i = 0; i < n_x; ++i) x[i] = (float)((int)(qg_random(&t->random) % 255) - 127) / 64;
    for (uint64_t i = 0; i < shape.batch; ++i) indices[i] = (uint32_t)(shape.rows - 1 - i % shape.rows);
    for (uint64_t i = 0; i < pairs; ++i) ids[i] = (uint32_t)(qg_experts(shape) - 1 - i % qg_experts(shape));
    p.data = (qg_launch_data){.blocks = &blocks, .x = x, .indices = indices, .ids = ids};
    const unsigned char *a = launch(&p, 0x15, true), *b = a ? launch(&p, 0x6a, true) : NULL;
    if (b) compare_places(&p, a, b, 0x15, 0x6a);
    t->judgement->runs[t->evidence].compared += 2 * qg_results(t->harness, shape);
}

/* Last blocks that are cut off. */
static void see_cuts(qg_trial *t, bool sums) {
    const uint64_t high = t->layout->view == QG_VIEW_MATRIX ? t->layout->block_rows : 4, wide = t->layout->block_cols;
    const uint64_t rows[] = {1, high + 1, 2 * high + 3}, cols[] = {wide / 2, wide + 8, 2 * wide - 4, wide - 1};
    for (int i = 0; i < 12 && t->layout->ragged; ++i)
        if (cols[i % 4]) see_shape(t, qg_shape(rows[i / 4], cols[i % 4], sums ? 2 : 1));
}

/* Indices that are no row, ids that are no expert, where the harness says what becomes of them. */
static void see_outside(qg_trial *t) {
    static const uint64_t rows[] = {1, 5, 37}, batches[] = {1, 2, 9};
    qg_call *call = QG_NEW(t->arena, qg_call);
    if (t->harness->outside == QG_OUTSIDE_UNSAID) return;
    for (int i = 0; i < 9 && !qg_found(t, "outside"); ++i) {
        const qg_call_shape shape =
            qg_with_experts(t, qg_shape_of(t->layout, rows[i % 3], (uint64_t)(1 + i % 2), batches[i / 3]), 3, 4);
        if (t->unable || t->stopped || qg_call_of(t, shape, call)) continue;
        const qg_comparison c = qg_compare(t, shape, qg_random(&t->random), (qg_wish){.outside = true});
        if (c.wrong == UINT64_MAX || c.wrong == 0) continue;
        qg_find(t, QG_WRONG, "outside",
                qg_format(t->arena, "with %s, where some %s, %llu of %llu results are wrong: %s",
                          qg_say_shape(t, shape),
                          t->harness->computes == QG_COMPUTES_ROWS ? "indices are no row" : "ids are no expert",
                          (unsigned long long)c.wrong, (unsigned long long)c.all, c.sentence));
    }
}

/* A module as Metal text, in the executor, which looks at each access, also at those that change nothing. */
static void see_each_access(qg_trial *t, bool sums) {
    qg_home home = {0};
    const char *why = qg_leave_for_executor(t, QG_TURNS_FORWARD, 0, &home);
    for (uint64_t blocks = 1; blocks <= 5 && !why; blocks += 2)
        for (uint64_t rows = 1; rows <= 5; rows += 2)
            see_shape(t, qg_shape_of(t->layout, rows, blocks, sums ? 1 + rows / 3 : 1));
    if (!why) {
        see_shape(t, qg_shape_of(t->layout, 17, 16, 1));
        see_cuts(t, sums);
        see_outside(t);
        qg_return(t, &home);
        why = t->unable; /* what the executor lacks is no fault of the kernel */
        t->unable = NULL;
    }
    if (why) t->judgement->runs[t->evidence].left_out = qg_format(t->arena, "a check of each access: %s", why);
}

void qg_see_places(qg_trial *t) {
    const bool sums = t->harness->computes != QG_COMPUTES_VALUES;
    for (uint64_t blocks = 1; blocks <= 9; blocks += blocks < 3 ? 1 : 2)
        for (uint64_t rows = 1; rows <= 7; rows += 2)
            see_shape(t, qg_shape_of(t->layout, rows, blocks, sums ? 1 + rows / 3 : 1));
    see_shape(t, qg_shape_of(t->layout, t->threads + 1, 1, 1));
    see_shape(t, qg_shape_of(t->layout, 33, 16, 1));
    see_cuts(t, sums);
    see_outside(t);
    if (t->harness->target == QG_FOREIGN_VULKAN && !t->unable && !t->stopped) see_each_access(t, sums);
}
