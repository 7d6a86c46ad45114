/* Shapes that hide bugs: one block, odd numbers of blocks, rows around the size of a workgroup, several right-hand
 * sides. */
#include "judge/trial.h"

#include "spec/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far a sum of a row may be from the exact one. Each product and each addition of f32 rounds once, in any order;
 * a claim adds what operands lose. `x` of `cols`; groups of 32 columns share a scale in int8. */
static double bound_of(const qg_trial *t, const float *magnitudes, const float *x, uint64_t cols, double *products) {
    const double u = 0x1p-24;
    double sum = 0, of_groups = 0;
    for (uint64_t c = 0; c < cols; c += 32) {
        double largest = 0, weights = 0;
        for (uint64_t k = c; k < c + 32 && k < cols; ++k) {
            sum += fabs((double)magnitudes[k] * (double)x[k]);
            largest = fmax(largest, fabs((double)x[k]));
            weights += fabs((double)magnitudes[k]);
        }
        of_groups += weights * largest;
    }
    *products = sum;
    double part = (double)(cols + 16) * u + t->rounding;
    if (t->options.claim != QG_CLAIM_EXACT) part += t->options.claim == QG_CLAIM_BF16 ? 0x1p-7 : 0x1p-10;
    return part * sum + (t->options.claim == QG_CLAIM_INT8 ? of_groups * (0.5 / 127 + 0x1p-10) : 0);
}

static uint64_t rows_of_y(const qg_trial *t, qg_call_shape s) {
    return t->harness->computes == QG_COMPUTES_VALUES ? s.rows : s.batch;
}

struct qg_kept_data {
    qg_call_shape shape;
    uint64_t seed;
    qg_wish wish;
    qg_blocks blocks;
    float *x;
    uint32_t *indices, *ids;
    float *values, *magnitudes; /* in the order of the blocks */
};

typedef struct launched {
    qg_trial *t;
    qg_call_shape shape;
    const float *x;
    const uint32_t *indices, *ids;
    const float *values, *magnitudes; /* in the order of the blocks */
    float *y;
    float *row; /* magnitudes */
} launched;

qg_call_shape qg_with_experts(const qg_trial *t, qg_call_shape shape, uint64_t experts, uint64_t slots) {
    if (qg_harness_argument(t->harness, QG_USE_IDS)) shape.experts = experts, shape.slots = slots;
    return shape;
}

uint32_t qg_outside_of(uint64_t count, uint64_t which) {
    const uint32_t numbers[] = {(uint32_t)count, UINT32_MAX, (uint32_t)count + 1, UINT32_C(1) << 31, INT32_MAX};
    return numbers[which % 5];
}

/* "y[1][5]"; of experts, "y[1][0][5]". */
static const char *name_result(const launched *l, uint64_t at) {
    qg_trial *t = l->t;
    const uint64_t width = t->harness->computes == QG_COMPUTES_SUMS ? l->shape.rows : l->shape.cols;
    const unsigned long long row = at / width, col = at % width, slots = qg_slots(l->shape);
    return l->ids ? qg_format(t->arena, "y[%llu][%llu][%llu]", row / slots, row % slots, col)
                  : qg_format(t->arena, "y[%llu][%llu]", row, col);
}

static void say_first(launched *l, qg_comparison *c, uint64_t at, double expected) {
    c->sentence =
        qg_format(l->t->arena, "%s %s", name_result(l, at), qg_say_instead(l->t->arena, (double)l->y[at], expected));
}

static void count_squares(qg_comparison *c, float actual, double expected) {
    const double error = (double)actual - expected;
    c->error_squares += error * error;
    c->squares += expected * expected;
}

/* What a result is that no row or expert makes: zero, or nothing that was written. */
static void compare_outside(launched *l, qg_comparison *c, uint64_t at, uint64_t count) {
    qg_trial *t = l->t;
    const bool zeros = t->harness->outside == QG_OUTSIDE_ZEROS;
    for (uint64_t k = at; k < at + count; ++k) {
        if (zeros ? l->y[k] == 0 : isnan(l->y[k])) continue;
        if (c->wrong++ == 0)
            c->sentence = qg_format(t->arena, "%s, of number %u, is %s, and should %s", name_result(l, k),
                                    l->indices ? l->indices[k / count] : l->ids[k / count],
                                    qg_say_number(t->arena, (double)l->y[k]), zeros ? "be 0" : "stay as it was");
    }
}

static void compare_values(launched *l, qg_comparison *c) {
    const uint64_t cols = l->shape.cols;
    for (uint64_t r = 0; r < rows_of_y(l->t, l->shape); ++r)
        for (uint64_t k = 0; k < cols; ++k) {
            if (l->indices && l->indices[r] >= l->shape.rows) {
                compare_outside(l, c, r * cols, cols);
                break;
            }
            const uint64_t at = r * cols + k, from = qg_spot_of(l->t, l->shape, l->indices ? l->indices[r] : r, k);
            count_squares(c, l->y[at], (double)qg_stored(l->t, l->values[from]));
            if (l->t->known[from % l->t->layout->elements]) continue;
            if (qg_near(l->t, l->y[at], l->values[from], l->magnitudes[from])) continue;
            if (c->wrong++ == 0) say_first(l, c, at, (double)qg_stored(l->t, l->values[from]));
        }
}

/* The sums of one slot of one token. */
static void compare_pair(launched *l, qg_comparison *c, uint64_t pair) {
    const qg_argument *x_of = qg_harness_argument(l->t->harness, QG_USE_X);
    const uint64_t cols = l->shape.cols, rows = l->shape.rows, expert = l->ids ? l->ids[pair] : 0;
    const float *x = l->x + (x_of->per_slot ? pair : pair / qg_slots(l->shape)) * cols;
    if (expert >= qg_experts(l->shape)) {
        compare_outside(l, c, pair * rows, rows);
        return;
    }
    for (uint64_t r = 0; r < rows; ++r) {
        double sum = 0, products;
        for (uint64_t k = 0; k < cols; ++k) {
            const uint64_t from = qg_spot_of(l->t, l->shape, expert * rows + r, k);
            sum += (double)l->values[from] * (double)x[k];
            l->row[k] = l->magnitudes[from];
        }
        const double bound = bound_of(l->t, l->row, x, cols, &products);
        const uint64_t at = pair * rows + r;
        const double error = fabs((double)l->y[at] - sum);
        count_squares(c, l->y[at], sum);
        const bool overflows = l->t->y_type == QG_F16 && fabs(sum) + bound >= 65504 && isinf(l->y[at]);
        if (error <= bound || overflows) {
            if (bound > 0 && !overflows) c->worst = fmax(c->worst, error / bound);
            continue;
        }
        if (isfinite(error)) c->worst = fmax(c->worst, error / bound);
        if (c->wrong++ == 0) say_first(l, c, at, sum);
    }
}

static void compare_sums(launched *l, qg_comparison *c) {
    for (uint64_t pair = 0; pair < l->shape.batch * qg_slots(l->shape); ++pair) compare_pair(l, c, pair);
}

/* Numbers of few bits, which all types hold. */
static float draw_x(uint64_t *random, float spread) {
    const int64_t r = (int64_t)(qg_random(random) >> 40) % 255 - 127;
    const float size =
        spread > 0 ? exp2f((float)((int64_t)(qg_random(random) >> 40) % (int64_t)(2 * spread + 1)) - spread) : 1;
    return (float)r / 64 * size;
}

bool qg_sums_are_known(qg_trial *t) {
    if (t->harness->computes != QG_COMPUTES_SUMS || !t->any_known) return false;
    t->judgement->runs[t->evidence].left_out = "values are wrong, and so are all sums of them";
    t->judgement->runs[t->evidence].done = false;
    return true;
}

/* Numbers below `count`, in groups of `each` others where there are as many; where some are to be none, each second. */
static uint32_t *draw_numbers(qg_trial *t, uint64_t n, uint64_t each, uint64_t count, bool outside, uint64_t *random) {
    uint32_t *numbers = QG_NEW_ARRAY(t->arena, uint32_t, n);
    for (uint64_t i = 0; i < n; ++i) {
        bool again = true;
        for (int tries = 0; tries < 100 && again; ++tries) {
            numbers[i] = (uint32_t)(qg_random(random) % count);
            again = false;
            for (uint64_t k = i / each * each; k < i && each <= count; ++k) again |= numbers[k] == numbers[i];
        }
    }
    for (uint64_t i = 0; i < n && outside; i += 2) numbers[i] = qg_outside_of(count, i / 2);
    return numbers;
}

static const qg_kept_data *draw_data(qg_trial *t, qg_call_shape shape, uint64_t seed, qg_wish wish) {
    qg_kept_data *d = QG_NEW(t->arena, qg_kept_data);
    uint64_t random = seed;
    *d = (qg_kept_data){.shape = shape, .seed = seed, .wish = wish};
    d->blocks = qg_blocks_new(t->arena, t->layout, qg_count_blocks(t, shape));
    const uint64_t n = d->blocks.count * t->layout->elements, pairs = shape.batch * qg_slots(shape);
    for (uint64_t i = 0; i < d->blocks.count; ++i) qg_block_draw(t, &d->blocks, i, 20000, &random);
    d->values = QG_NEW_ARRAY(t->arena, float, n);
    d->magnitudes = QG_NEW_ARRAY(t->arena, float, n);
    qg_expect_values(t, &d->blocks, d->values, d->magnitudes);
    if (t->harness->computes == QG_COMPUTES_SUMS) {
        d->x = QG_NEW_ARRAY(t->arena, float, pairs *shape.cols);
        for (uint64_t i = 0; i < pairs * shape.cols; ++i) d->x[i] = draw_x(&random, wish.spread);
    }
    if (t->harness->computes == QG_COMPUTES_ROWS)
        d->indices = draw_numbers(t, shape.batch, 1, shape.rows, wish.outside, &random);
    if (qg_harness_argument(t->harness, QG_USE_IDS))
        d->ids = draw_numbers(t, pairs, qg_slots(shape), qg_experts(shape), wish.outside, &random);
    return d;
}

static bool same_shape(qg_call_shape a, qg_call_shape b) {
    return a.rows == b.rows && a.cols == b.cols && a.batch == b.batch && a.experts == b.experts && a.slots == b.slots;
}

/* Orders repeat what was launched just before. */
static const qg_kept_data *data_of(qg_trial *t, qg_call_shape shape, uint64_t seed, qg_wish wish) {
    for (uint32_t i = 0; i < QG_KEPT; ++i) {
        const qg_kept_data *d = t->kept[i];
        if (d && same_shape(d->shape, shape) && d->seed == seed && d->wish.spread == wish.spread &&
            d->wish.outside == wish.outside)
            return d;
    }
    const qg_kept_data *drawn = draw_data(t, shape, seed, wish);
    t->kept[t->next_kept++ % QG_KEPT] = drawn;
    return drawn;
}

qg_comparison qg_compare(qg_trial *t, qg_call_shape shape, uint64_t seed, qg_wish wish) {
    qg_comparison c = {.wrong = UINT64_MAX};
    qg_call *call = QG_NEW(t->arena, qg_call);
    if (qg_call_of(t, shape, call)) return c;
    const qg_kept_data *d = data_of(t, shape, seed, wish);
    c.all = qg_results(t->harness, shape);
    launched l = {.t = t,
                  .shape = shape,
                  .x = d->x,
                  .indices = d->indices,
                  .ids = d->ids,
                  .values = d->values,
                  .magnitudes = d->magnitudes,
                  .y = QG_NEW_ARRAY(t->arena, float, c.all),
                  .row = QG_NEW_ARRAY(t->arena, float, shape.cols)};
    const qg_launch_data data = {
        .blocks = &d->blocks, .x = l.x, .indices = l.indices, .ids = l.ids, .y = l.y, .n_y = c.all};
    if (!qg_try(t, call, &data)) return c;
    c.wrong = 0;
    c.y = l.y;
    if (t->harness->computes == QG_COMPUTES_SUMS)
        compare_sums(&l, &c);
    else
        compare_values(&l, &c);
    return c;
}

/* ---- which shapes ------------------------------------------------------------------------------------------------ */

enum { MOST_SHAPES = 256 };

typedef struct outcome_of_shape {
    qg_call_shape shape;
    bool wrong;
} outcome_of_shape;

typedef struct tried {
    qg_trial *t;
    uint32_t count, wrong;
    outcome_of_shape items[MOST_SHAPES];
    qg_call_shape smallest; /* that is wrong */
    const char *sentence;
    uint64_t wrong_results, results;
    uint32_t refused;
    const char *why_refused;
} tried;

static uint64_t work_of(qg_call_shape a) { return a.rows * a.cols * a.batch * qg_experts(a) * qg_slots(a); }

static bool smaller(qg_call_shape a, qg_call_shape b) { return work_of(a) < work_of(b); }

/* Large patches make large tensors. */
enum { MOST_ELEMENTS = 1 << 21 };

static void try_one(tried *s, qg_call_shape shape) {
    qg_trial *t = s->t;
    if (t->layout->view != QG_VIEW_BLOCKS && shape.rows * shape.cols > MOST_ELEMENTS) return;
    qg_call *call = QG_NEW(t->arena, qg_call);
    const char *why = t->unable ? NULL : qg_call_of(t, shape, call);
    if (t->unable || t->stopped || s->count == MOST_SHAPES) return;
    if (why) {
        s->refused += 1;
        s->why_refused = why;
        return;
    }
    const qg_comparison c = qg_compare(t, shape, qg_random(&t->random), (qg_wish){0});
    if (c.wrong == UINT64_MAX) return;
    s->items[s->count++] = (outcome_of_shape){shape, c.wrong != 0};
    if (c.wrong == 0) return;
    if (s->wrong++ == 0 || smaller(shape, s->smallest)) {
        s->smallest = shape;
        s->sentence = c.sentence;
        s->wrong_results = c.wrong, s->results = c.all;
    }
}

static void try_shape(tried *s, uint64_t rows, uint64_t blocks, uint64_t batch) {
    try_one(s, qg_with_experts(s->t, qg_shape_of(s->t->layout, rows, blocks, batch), 3, 2));
}

enum { SIZES = 5 };

static uint64_t size_of(const qg_call_shape *shape, int which) {
    const uint64_t sizes[SIZES] = {shape->cols, shape->batch, qg_slots(*shape), shape->rows, qg_experts(*shape)};
    return sizes[which];
}

/* The values of one size in shapes that are wrong, or right; each once. */
static const char *list_sizes(const tried *s, int which, bool wrong) {
    qg_text text = qg_text_new(s->t->arena);
    uint32_t said = 0;
    for (uint32_t i = 0; i < s->count; ++i) {
        bool again = s->items[i].wrong != wrong;
        for (uint32_t k = 0; k < i && !again; ++k)
            again =
                s->items[k].wrong == wrong && size_of(&s->items[k].shape, which) == size_of(&s->items[i].shape, which);
        if (again || said > 6) continue;
        if (++said > 6)
            qg_text_puts(&text, ", ...");
        else
            qg_text_printf(&text, "%s%llu", said > 1 ? ", " : "",
                           (unsigned long long)size_of(&s->items[i].shape, which));
    }
    return text.data;
}

/* Whether a size alone tells wrong shapes from right ones. */
static bool tells(const tried *s, int which) {
    for (uint32_t i = 0; i < s->count; ++i)
        for (uint32_t k = 0; k < i; ++k)
            if (s->items[i].wrong != s->items[k].wrong &&
                size_of(&s->items[i].shape, which) == size_of(&s->items[k].shape, which))
                return false;
    return true;
}

/* Which shapes are wrong, by the size that makes the difference. */
static const char *explain(const tried *s) {
    static const char *const names[SIZES] = {"cols", "batch", "slots", "rows", "experts"};
    if (s->wrong == s->count) return "no shape is right";
    for (int which = 0; which < SIZES; ++which)
        if (tells(s, which))
            return qg_format(s->t->arena, "so it is where %s is %s, and not where it is %s", names[which],
                             list_sizes(s, which, true), list_sizes(s, which, false));
    return qg_format(s->t->arena, "%u of %u shapes are wrong", s->wrong, s->count);
}

static void tell(tried *s) {
    qg_trial *t = s->t;
    if (s->refused)
        t->judgement->runs[t->evidence].left_out =
            qg_format(t->arena, "%u shapes that the harness excludes: %s", s->refused, s->why_refused);
    if (!s->wrong) return;
    qg_finding *f = qg_find(t, QG_WRONG, s->wrong < s->count ? "wrong-shape" : "wrong-results",
                            qg_format(t->arena, "with %s, %llu of %llu results are wrong: %s; %s",
                                      qg_say_shape(t, s->smallest), (unsigned long long)s->wrong_results,
                                      (unsigned long long)s->results, s->sentence, explain(s)));
    f->repeat = qg_say_shape(t, s->smallest);
    t->wrong_shapes = true;
}

/* The fewest blocks of a row that the kernel takes, of which others are multiples. */
static uint64_t unit_of(qg_trial *t, uint64_t batch) {
    qg_call *call = QG_NEW(t->arena, qg_call);
    for (uint64_t rows = 1; rows <= 64 && !t->unable; ++rows)
        for (uint64_t blocks = 1; blocks <= 64; ++blocks)
            if (!qg_call_of(t, qg_shape_of(t->layout, rows, blocks, batch), call)) return blocks;
    return 1;
}

static void try_widths(tried *s, uint64_t unit) {
    static const uint64_t widths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33};
    static const uint64_t rows[] = {1, 2, 3, 5};
    const bool short_blocks = s->t->layout->elements <= 64;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; ++i) {
        if (s->t->options.quick && i > 6 && !short_blocks) break;
        try_shape(s, rows[i % 4], unit * widths[i], 1);
        if (i < 3) try_shape(s, 1, unit * widths[i], 1);
    }
}

/* Around what a workgroup could take: its threads, and parts and multiples of them. */
static void try_heights(tried *s, uint64_t unit) {
    const uint64_t threads = s->t->threads ? s->t->threads : 64;
    uint64_t last = 0;
    for (uint64_t at = 4; at <= 2 * threads && at <= 512; at *= 2) {
        const uint64_t rows[] = {at - 1, at, at + 1};
        for (int i = 0; i < 3; ++i)
            if (rows[i] > last && (rows[i] * unit * s->t->layout->elements < 200000 || rows[i] <= 65)) {
                last = rows[i];
                try_shape(s, rows[i], unit * (uint64_t)(1 + i % 2), 1);
            }
        if (s->t->options.quick && at >= 64) break;
    }
}

/* Where the last blocks may be cut off: rows and columns that end inside of one. */
static void try_cuts(tried *s) {
    const qg_layout *l = s->t->layout;
    const uint64_t high = l->view == QG_VIEW_MATRIX ? l->block_rows : 4, wide = l->block_cols;
    const uint64_t rows[] = {1, high - 1, high, high + 1, 2 * high + 3};
    const uint64_t cols[] = {wide - 8, wide + 8, 2 * wide - 4, wide / 2, 3 * wide + 1, wide - 1};
    for (int i = 0; i < 30 && l->ragged; ++i)
        if (rows[i % 5] && cols[i / 5])
            try_one(s, qg_with_experts(s->t, qg_shape(rows[i % 5], cols[i / 5], 1 + i % 3), 3, 2));
}

static void try_experts(tried *s, uint64_t unit) {
    static const uint64_t experts[] = {1, 2, 4, 8, 3, 16, 33, 3}, slots[] = {1, 1, 2, 2, 3, 4, 8, 1};
    if (!qg_harness_argument(s->t->harness, QG_USE_IDS)) return;
    for (uint64_t i = 0; i < 16; ++i)
        try_one(s, qg_with_experts(s->t, qg_shape_of(s->t->layout, i < 8 ? 5 : 33, unit, 1 + i % 3), experts[i % 8],
                                   slots[i % 8]));
}

static void try_batches(tried *s, uint64_t unit) {
    static const uint64_t batches[] = {2, 3, 7, 8, 9, 16, 17, 33};
    if (s->t->harness->computes == QG_COMPUTES_VALUES) return;
    for (size_t i = 0; i < sizeof batches / sizeof *batches; ++i) {
        try_shape(s, 5, unit, batches[i]);
        try_shape(s, 64, 2 * unit, batches[i]);
    }
}

void qg_see_shapes(qg_trial *t) {
    tried *s = QG_NEW(t->arena, tried);
    if (qg_sums_are_known(t)) return;
    s->t = t;
    const uint64_t unit = unit_of(t, 1);
    try_widths(s, unit);
    try_heights(s, unit);
    try_batches(s, unit);
    try_experts(s, unit);
    try_cuts(s);
    tell(s);
}
