/* `qkgen bench --model NAME --layer`: the products of one layer, as an engine launches them for a token: each after the
 * other; those with the same x side by side; and with what is added or multiplied as epilogues. */
#include "cli/run_bench.h"

#include <string.h>

enum { Q, K, V, O, GATE, UP, DOWN, N_PRODUCTS };

static const char *const products[N_PRODUCTS] = {"q", "k", "v", "o", "gate", "up", "down"};

/* How launches follow each other. Of APART and TOGETHER, what is added to results, and the gate, are launches of their
 * own, for each of which a copy of as many values stands. */
typedef enum way { APART, TOGETHER, FUSED, N_WAYS } way;

typedef struct layer {
    qg_subject subjects[N_PRODUCTS];
    qg_values_copy copy;
    way way;
} layer;

static const qg_matrix *matrix_named(const qg_model *model, const char *name) {
    const size_t length = strlen(name);
    for (uint32_t i = 0; i < model->count; ++i)
        for (const char *at = model->items[i].name; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
            if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0') && !model->items[i].experts)
                return &model->items[i];
    return NULL;
}

static void order(qg_bench *b) { qk_vulkan_barrier(b->vk); }

static bool product(qg_bench *b, const layer *l, uint32_t number, const qk_epilogue *epilogue) {
    return qg_subject_record(b, &l->subjects[number], epilogue);
}

static uint32_t own(const qg_subject *s, uint32_t behind_weights) { return s->n_weights + behind_weights; }

/* x of a product, and what it makes. */
static qk_range range_of(const layer *l, uint32_t number, uint32_t behind_weights) {
    const qg_subject *s = &l->subjects[number];
    return qk_vulkan_range(s->buffers[own(s, behind_weights)]);
}

/* A product, and behind it a residual of as many values, or its launch. */
static bool with_residual(qg_bench *b, const layer *l, uint32_t number) {
    const qk_range residual = range_of(l, Q, 0);
    const qk_epilogue epilogue = {.residual = &residual};
    if (!product(b, l, number, l->way == FUSED ? &epilogue : NULL)) return false;
    if (l->way == FUSED) return true;
    order(b);
    return qg_values_copy_record(b, &l->copy, l->subjects[number].of.rows * l->subjects[number].of.batch);
}

static bool gated(qg_bench *b, const layer *l) {
    const qk_range gate = range_of(l, GATE, 1);
    const qk_epilogue epilogue = {.gate = &gate};
    if (!product(b, l, GATE, NULL)) return false;
    if (l->way != TOGETHER) order(b);
    if (!product(b, l, UP, l->way == FUSED ? &epilogue : NULL)) return false;
    if (l->way == FUSED) return true;
    order(b);
    return qg_values_copy_record(b, &l->copy, l->subjects[UP].of.rows * l->subjects[UP].of.batch);
}

static bool record_layer(qg_bench *b, void *what) {
    const layer *l = what;
    for (uint32_t i = Q; i <= V; ++i) {
        if (i != Q && l->way == APART) order(b);
        if (!product(b, l, i, NULL)) return false;
    }
    order(b);
    if (!with_residual(b, l, O)) return false;
    order(b);
    if (!gated(b, l)) return false;
    order(b);
    return with_residual(b, l, DOWN);
}

static bool measure_layer(qg_bench *b, layer *l, const qg_model *model, double seconds[N_WAYS]) {
    const qg_case *c = &l->subjects[Q].of;
    /* All pipelines are made before anything is measured: a device that waits for a compiler lowers its clocks. */
    for (uint32_t w = 0; w < N_WAYS; ++w) {
        l->way = (way)w;
        if (!qg_bench_once(b, record_layer, l)) return false;
    }
    for (uint32_t w = 0; w < N_WAYS; ++w) {
        qg_timing t;
        l->way = (way)w;
        if (!qg_bench_measure(b, record_layer, l, &t)) return false;
        seconds[w] = t.median;
    }
    const double layers = (double)matrix_named(model, products[Q])->count;
    printf("%-14s %-10s %-8s %5llu %9.1f %9.1f %9.1f %9.1f%% %12.3f %9.3f\n", model->name, c->layout->name,
           c->sum->name, (unsigned long long)c->batch, 1e6 * seconds[APART], 1e6 * seconds[TOGETHER],
           1e6 * seconds[FUSED], 100 * (1 - seconds[FUSED] / seconds[APART]), 1e3 * layers * seconds[APART],
           1e3 * layers * seconds[FUSED]);
    return true;
}

/* The cases of a layer; false where the model or the format has no such layer, after a message. */
static bool list_products(qg_bench *b, const qg_layout *layout, const qg_model *model, const qg_sum_class *sum,
                          uint64_t batch, qg_case *cases) {
    for (uint32_t i = 0; i < N_PRODUCTS; ++i) {
        const qg_matrix *m = matrix_named(model, products[i]);
        if (!m)
            return qg_complain(
                       "%s has no matrix %s without experts; --layer takes models with q, k, v, o, gate, up and "
                       "down",
                       model->name, products[i]) == 0;
        cases[i] = (qg_case){.layout = layout,
                             .family = &qg_families[QG_FAMILY_GEMV],
                             .type = QG_F32,
                             .sum = sum,
                             .rows = m->rows,
                             .cols = m->cols,
                             .batch = batch,
                             .slots = 1};
        if (!qg_case_fits(b, &cases[i]))
            return qg_complain("%s has no gemv of class %s for %s, %llu x %llu", layout->name, sum->name, products[i],
                               (unsigned long long)m->rows, (unsigned long long)m->cols) == 0;
    }
    if (cases[O].rows == cases[Q].cols && cases[DOWN].rows == cases[Q].cols) return true;
    return qg_complain("%s: o and down must have as many rows as q has columns, for the residual", model->name) == 0;
}

bool qg_bench_layer(qg_bench *b, const qg_layout *layout, const qg_model *model, const qg_sum_class *sum,
                    uint64_t batch) {
    qg_case cases[N_PRODUCTS];
    double seconds[N_WAYS];
    layer l = {.way = APART};
    uint32_t opened = 0;
    if (!list_products(b, layout, model, sum, batch, cases) || !qg_stock_open(b, layout, cases, N_PRODUCTS))
        return false;
    bool good = qg_values_copy_open(b, &l.copy, cases[UP].rows * batch);
    while (good && opened < N_PRODUCTS) {
        good = qg_subject_open_like(b, &cases[opened], opened ? &l.subjects[0] : NULL, &l.subjects[opened]);
        opened += 1;
    }
    good = good && measure_layer(b, &l, model, seconds);
    while (opened) qg_subject_close(b, &l.subjects[--opened]);
    qg_values_copy_close(b, &l.copy);
    return good;
}

void qg_bench_layer_heading(const qg_bench *b) {
    const qk_vulkan_device *info = qk_vulkan_info(b->vk);
    printf("%s%s, driver %s; launches of a product take turns over %llu MiB of weights\n", info->name,
           b->cpu ? ", a CPU device, whose figures say nothing of GPUs" : "", info->driver,
           (unsigned long long)(b->cold >> 20));
    printf("%-14s %-10s %-8s %5s %9s %9s %9s %10s %12s %9s\n", "model", "format", "class", "batch", "apart", "together",
           "fused", "saved", "token apart", "fused");
    printf("%-14s %-10s %-8s %5s %9s %9s %9s %10s %12s %9s\n", "", "", "", "", "us", "us", "us", "", "ms", "ms");
}
