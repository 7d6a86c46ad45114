/* gemm and gemm_id on Metal: the text as it is emitted, run by the executor, each sum against the values of the specification, within
 * the bound of docs/error-bounds.md. Some formats, or those of QKGEN_ONLY=" FORMAT FORMAT ", "*" for all. */
#include "cli/run.h"
#include "cli/run_bound.h"
#include "spec/library.h"
#include "spec/value.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <qkgen/dispatch.h>

/* Whether the executor of Metal text is there. */
#ifdef QKGEN_MSL_LIBRARY
static const bool has_metal = true;
#else
static const bool has_metal = false;
#endif

static qg_arena *arena;
static qg_library *library;
static qg_templates templates;
static qk_error error;

static uint32_t random_state = 1;

static uint32_t random_word(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

/* What run_msl.c takes of the command. */
double qg_seconds_now(void) { return 0; }

/* A product: of one matrix with `batch` vectors, or, with `slots`, of experts with so many tokens. */
typedef struct shape {
    uint64_t rows, cols, batch, experts, slots;
    qg_scalar type; /* of x */
    uint32_t busy;  /* workgroups that keep the device busy, so it says: where they are many, rows are cut in parts */
    bool views;     /* two products with one matrix, vectors and results further apart */
} shape;

typedef struct product {
    shape s;
    const qg_layout *layout;
    const qk_kernel *kernel;
    qg_metal *metal;
    qk_range weights[QK_MAX_BINDINGS];
    uint64_t vectors, results; /* of y: vectors, in order; floats */
    double *x;                 /* of each vector of y */
    uint64_t *y_at;
    uint32_t *ids; /* of each vector of y */
    float *y, *before, *bias;
    void *x_stored;
    uint64_t x_bytes;
    double worst; /* the largest difference, in limits */
} product;

static void *room(uint64_t bytes) {
    void *p = calloc(bytes + 1, 1);
    assert_non_null(p);
    return p;
}

static void open_metal(product *p) {
    const char *why = NULL;
    qg_family *family = QG_NEW(arena, qg_family);
    *family = *qg_family_named(p->s.slots ? "gemm_id" : "gemm");
    family->n_types = 1;
    family->types[0] = p->s.type;
    const qg_family *only = family;
    const qg_request request = {.layout = p->layout, .n_families = 1, .families = &only, .metal = true, .command = "t"};
    const char *text = qg_msl(arena, &templates, &request, &why);
    if (!text) fail_msg("%s", why);
    const qg_kernel kernel = qg_kernel_new(arena, p->layout, family, p->s.type, qg_sum_class_named("mma"));
    p->kernel = qg_describe(arena, &kernel, QK_API_METAL, NULL);
    why = qg_metal_open(arena, text, p->layout->name, p->kernel, &p->metal);
    if (why) fail_msg("%s", why);
}

static void make_weights(product *p) {
    const uint64_t matrices = p->s.slots ? p->s.experts : 1;
    for (uint32_t i = 0; i < p->layout->n_buffers; ++i) {
        const uint64_t bytes = matrices * qk_weight_bytes(p->kernel, i, p->s.rows, p->s.cols);
        unsigned char *data = room(bytes);
        for (uint64_t b = 0; b < bytes; ++b) data[b] = (unsigned char)random_word() & 0xBF; /* no infinity, no NaN */
        p->weights[i] = (qk_range){data, 0, bytes};
    }
}

/* Exact as a half; of floats, vectors differ in size by far more than halves do. */
static double draw(const product *p, uint64_t vector) {
    const double x = ((int)(random_word() % 2001) - 1000) / 512.0;
    return p->s.type == QG_F16 ? x : ldexp(x, (int)(vector % 5) * 9 - 20);
}

static uint32_t bits_of(const product *p, double x) { return qg_bits_of(p->s.type, (float)x); }

/* x of `places` vectors that are `apart`, of which each has p->s.cols elements; then p->x of each vector of y. */
static void make_x(product *p, uint64_t places, uint64_t apart, uint64_t each) {
    const uint64_t cols = p->s.cols, size = p->s.type == QG_F16 ? 2 : 4;
    p->x_bytes = ((places - 1) * apart + cols) * size;
    p->x_stored = room(p->x_bytes);
    p->x = room(p->vectors * cols * sizeof *p->x);
    for (uint64_t v = 0; v < places; ++v) {
        for (uint64_t k = 0; k < cols; ++k) {
            const double x = draw(p, v);
            const uint32_t bits = bits_of(p, x);
            memcpy((char *)p->x_stored + (v * apart + k) * size, &bits, size);
            for (uint64_t y = v * each; y < (v + 1) * each; ++y) p->x[y * cols + k] = x;
        }
    }
}

/* Where vectors of y lie, what is there, and a bias of each row. */
static void make_y(product *p, uint64_t apart) {
    p->y_at = room(p->vectors * sizeof *p->y_at);
    for (uint64_t v = 0; v < p->vectors; ++v) p->y_at[v] = v * apart;
    p->results = (p->vectors - 1) * apart + p->s.rows;
    p->y = room(p->results * sizeof *p->y);
    p->before = room(p->results * sizeof *p->before);
    for (uint64_t i = 0; i < p->results; ++i)
        p->y[i] = p->before[i] = p->s.views ? (float)(i % 16) * 0x1p-26f : (float)NAN;
    p->bias = room(p->s.rows * (p->s.slots ? p->s.experts : 1) * sizeof *p->bias);
    for (uint64_t n = 0; n < p->s.rows * (p->s.slots ? p->s.experts : 1); ++n) p->bias[n] = (float)(n % 8) * 0x1p-26f;
}

static qk_range own_range(void *memory, uint64_t bytes) { return (qk_range){memory, 0, bytes}; }

static void multiply(product *p) {
    const shape *s = &p->s;
    qk_backend backend = qg_metal_backend(p->metal);
    backend.limits.busy_workgroups = s->busy;
    const qk_views views = {.batches = {2, 1},
                            .weights_batches = {1, 1},
                            .x_stride = s->cols + 8,
                            .x_strides = {s->batch * (s->cols + 8), 0},
                            .y_stride = s->rows + 3,
                            .y_strides = {s->batch * (s->rows + 3), 0}};
    const uint64_t bytes =
        qk_gemm_views_scratch(&backend, p->kernel, s->rows, s->cols, s->batch, s->views ? &views : NULL);
    void *scratch = room(bytes);
    memset(scratch, 0xFF, bytes);
    const qk_range bias = own_range(p->bias, s->rows * sizeof *p->bias);
    const qk_epilogue epilogue = {.adds = s->views, .bias = s->views ? &bias : NULL};
    if (qk_dispatch_gemm_views(&backend, p->kernel, p->weights, own_range(p->x_stored, p->x_bytes),
                               own_range(scratch, bytes), own_range(p->y, p->results * sizeof *p->y), s->rows, s->cols,
                               s->batch, s->views ? &views : NULL, &epilogue, &error) != QK_OK)
        fail_msg("%s: %s", p->kernel->name, qg_metal_failure(p->metal, &error));
    free(scratch);
}

static void multiply_experts(product *p) {
    const shape *s = &p->s;
    qk_backend backend = qg_metal_backend(p->metal);
    backend.limits.busy_workgroups = s->busy;
    const uint64_t x_slots = s->views ? s->slots : 1;
    const uint64_t bytes =
        qk_gemm_id_scratch(&backend, p->kernel, s->experts, s->rows, s->cols, s->batch, s->slots, x_slots);
    const qk_expert_views views = {.x_slot_stride = s->cols + 8, .y_slot_stride = s->rows + 3};
    void *scratch = room(bytes);
    memset(scratch, 0xFF, bytes);
    uint32_t missed = 0, wanted = 0;
    for (uint64_t v = 0; v < p->vectors; ++v) wanted += p->ids[v] >= s->experts;
    const qk_range bias = own_range(p->bias, s->experts * s->rows * sizeof *p->bias);
    const qk_epilogue epilogue = {.adds = s->views, .bias = s->views ? &bias : NULL};
    if (qk_dispatch_gemm_id_views(&backend, p->kernel, p->weights, own_range(p->x_stored, p->x_bytes),
                                  own_range(p->ids, p->vectors * sizeof *p->ids), own_range(scratch, bytes),
                                  own_range(p->y, p->results * sizeof *p->y), own_range(&missed, sizeof missed),
                                  s->experts, s->rows, s->cols, s->batch, s->slots, x_slots, s->views ? &views : NULL,
                                  &epilogue, &error) != QK_OK)
        fail_msg("%s: %s", p->kernel->name, qg_metal_failure(p->metal, &error));
    assert_int_equal(missed, wanted);
    free(scratch);
}

/* Row `n` of the result of each vector that multiplies row `row` of the weights. */
static void judge_row(product *p, const qg_tensor *tensor, uint64_t row, const double *largest, float *values) {
    const shape *s = &p->s;
    const uint64_t n = row % s->rows, expert = row / s->rows;
    const qg_bound bound = qg_bound_of(p->kernel, 32, s->cols);
    float *magnitudes = values + s->cols;
    double *other = room(4 * s->cols * sizeof *other), sum, limit;
    qg_values_of_row(arena, tensor, row, 0, s->cols, values);
    qg_magnitudes_of_row(arena, tensor, row, 0, s->cols, bound.least, magnitudes);
    qg_bound_magnitudes(&bound, magnitudes, s->cols, other);
    for (uint64_t v = 0; v < p->vectors; ++v) {
        const uint64_t at = p->y_at[v] + n;
        if (p->ids && p->ids[v] != expert) continue;
        qg_bound_sum(&bound, values, magnitudes, p->x + v * s->cols, largest + v * 3 * s->cols, s->cols, &sum, &limit);
        if (s->views) sum += (double)p->before[at] + (double)p->bias[row];
        if (s->views) limit += fabs(sum) * 0x1p-22 + 0x1p-45;
        const double off = fabs((double)p->y[at] - sum);
        if (!(off <= limit))
            fail_msg("%s, %d x %d: row %d, vector %d: %.9g is not %.9g, within %g", p->kernel->name, (int)s->rows,
                     (int)s->cols, (int)row, (int)v, (double)p->y[at], sum, limit);
        if (limit > 0) p->worst = fmax(p->worst, off / limit);
    }
    free(other);
}

static void judge(product *p) {
    const uint64_t cols = p->s.cols, matrices = p->s.slots ? p->s.experts : 1;
    const qg_bound bound = qg_bound_of(p->kernel, 32, cols);
    const unsigned char *data[QK_MAX_BINDINGS];
    uint64_t periods[QK_MAX_BINDINGS];
    for (uint32_t i = 0; i < p->layout->n_buffers; ++i) {
        data[i] = p->weights[i].buffer;
        periods[i] = p->weights[i].size;
    }
    const qg_tensor tensor = {.layout = p->layout,
                              .rows = matrices * p->s.rows,
                              .cols = cols,
                              .data = data,
                              .periods = periods,
                              .experts = p->s.slots ? matrices : 0};
    double *largest = room(p->vectors * 3 * cols * sizeof *largest);
    float *values = room(2 * cols * sizeof *values);
    for (uint64_t v = 0; v < p->vectors; ++v) qg_bound_largest(&bound, p->x + v * cols, cols, largest + v * 3 * cols);
    for (uint64_t row = 0; row < tensor.rows; ++row) judge_row(p, &tensor, row, largest, values);
    for (uint64_t v = 0; v < p->vectors && p->ids; ++v) /* of no expert */
        for (uint64_t n = 0; n < p->s.rows && p->ids[v] >= p->s.experts; ++n)
            assert_true(p->y[p->y_at[v] + n] == (p->s.views ? p->before[p->y_at[v] + n] : 0));
    free(largest);
    free(values);
}

static void destroy(product *p) {
    qg_metal_close(p->metal);
    for (uint32_t i = 0; i < p->layout->n_buffers; ++i) free(p->weights[i].buffer);
    free(p->x);
    free(p->x_stored);
    free(p->y_at);
    free(p->ids);
    free(p->y);
    free(p->before);
    free(p->bias);
}

static double compare(const qg_layout *layout, const shape *s) {
    product p = {.s = *s, .layout = layout};
    const uint64_t apart = s->views ? 8 : 0;
    open_metal(&p);
    make_weights(&p);
    p.vectors = s->batch * (s->slots ? s->slots : s->views ? 2 : 1);
    if (s->slots && !s->views)
        make_x(&p, s->batch, s->cols, s->slots);
    else
        make_x(&p, p.vectors, s->cols + apart, 1);
    make_y(&p, s->rows + (s->views ? 3 : 0));
    if (s->slots) {
        p.ids = room(p.vectors * sizeof *p.ids);
        for (uint64_t v = 0; v < p.vectors; ++v)
            p.ids[v] = v % 11 == 5 ? UINT32_MAX : random_word() % (uint32_t)s->experts;
    }
    (s->slots ? multiply_experts : multiply)(&p);
    judge(&p);
    destroy(&p);
    return p.worst;
}

/* Whole blocks, where these have several rows. */
static uint64_t rows_of(const qg_layout *layout, uint64_t rows) {
    const uint64_t each = layout->view == QG_VIEW_MATRIX ? layout->block_rows : 1;
    return (rows + each - 1) / each * each;
}

/* Five wide tiles, where blocks allow that. */
static uint64_t cols_of(const qg_layout *layout, const qg_family *family) {
    const qg_kernel kernel = qg_kernel_new(arena, layout, family, QG_F32, qg_sum_class_named("mma"));
    const qk_kernel *described = qg_describe(arena, &kernel, QK_API_METAL, NULL);
    uint64_t step = described->wide_block, cols;
    while (layout->view != QG_VIEW_BLOCKS && (step % layout->block_cols || step % described->operand_tile))
        step += described->wide_block;
    for (cols = step; cols < 5 * (uint64_t)described->operand_tile;) cols += step;
    return cols;
}

static bool is_wanted(const qg_layout *layout) {
    static const char *const some = " q4_K q8_0 iq2_xxs mxfp4 affine_b3_g64_bf16 hqq_b4_g64 ct_b4_channel ";
    const char *only = getenv("QKGEN_ONLY");
    return (only && *only == '*') || strstr(only ? only : some, qg_format(arena, " %s ", layout->name)) != NULL;
}

static void every_format(void **state) {
    (void)state;
    uint32_t kernels = 0, count = 0, experts = 0;
    double worst = 0;
    for (uint32_t i = 0; i < library->layouts.count; ++i) {
        const qg_layout *layout = library->layouts.items[i];
        const qg_family *dense = qg_family_named("gemm"), *chosen = qg_family_named("gemm_id");
        const qg_sum_class *sum = qg_sum_class_named("mma");
        if (!qg_has_class(arena, layout, dense, sum)) continue;
        kernels += 1;
        if (!is_wanted(layout)) continue;
        count += 1;
        worst = fmax(worst, compare(layout, &(shape){.rows = rows_of(layout, 70),
                                                     .cols = cols_of(layout, dense),
                                                     .batch = 19,
                                                     .type = QG_F32}));
        if (!qg_takes(chosen, layout) || !qg_has_class(arena, layout, chosen, sum)) continue;
        experts += 1;
        worst = fmax(worst, compare(layout, &(shape){.rows = rows_of(layout, 33),
                                                     .cols = cols_of(layout, chosen),
                                                     .batch = 9,
                                                     .experts = 3,
                                                     .slots = 2,
                                                     .type = QG_F32}));
    }
    assert_true(count > 0);
    print_message(
        "%u formats have gemm on Metal; of the %u here, %u with experts, the largest difference is %.2g limits\n",
        kernels, count, experts, worst);
}

/* One row and vector; tiles of 64 columns; rows in parts; views with an epilogue; x of halves; many blocks of pairs. */
static void every_shape(void **state) {
    (void)state;
    const qg_layout *layout = qg_library_find(library, "q4_0");
    compare(layout, &(shape){.rows = 1, .cols = 64, .batch = 1, .type = QG_F16});
    compare(layout, &(shape){.rows = 65, .cols = 1280, .batch = 33, .type = QG_F32, .busy = 660});
    compare(layout, &(shape){.rows = 130, .cols = 320, .batch = 70, .type = QG_F32, .busy = 5});
    compare(layout, &(shape){.rows = 70, .cols = 320, .batch = 20, .type = QG_F32, .views = true});
    compare(layout, &(shape){.rows = 70, .cols = 1280, .batch = 20, .type = QG_F32, .views = true, .busy = 660});
    compare(layout,
            &(shape){.rows = 33, .cols = 320, .batch = 20, .experts = 4, .slots = 3, .type = QG_F16, .views = true});
    compare(layout,
            &(shape){.rows = 3, .cols = 640, .batch = 6, .experts = 300, .slots = 1, .type = QG_F32, .busy = 660});
    compare(layout, &(shape){.rows = 2, .cols = 64, .batch = 300, .experts = 5, .slots = 2, .type = QG_F32, .busy = 5});
}

/* Which lane holds which elements is found out. */
static void other_lanes(void **state) {
    (void)state;
    setenv("QKGEN_MSL_DEFINE", "QKM_OTHER_LANES", 1);
    compare(qg_library_find(library, "q4_0"), &(shape){.rows = 70, .cols = 320, .batch = 33, .type = QG_F32});
    unsetenv("QKGEN_MSL_DEFINE");
}

static int open_all(void **state) {
    (void)state;
    const char *source = getenv("SOURCE"), *why = NULL;
    if (!source) source = ".";
    arena = qg_arena_new();
    library = qg_library_new(arena, false);
    return qg_library_add_folder(library, qg_format(arena, "%s/formats", source)) &&
                   qg_templates_load(arena, qg_format(arena, "%s/templates", source), &templates, &why)
               ? 0
               : -1;
}

static int close_all(void **state) {
    (void)state;
    qg_arena_free(arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape), cmocka_unit_test(every_format),
                                       cmocka_unit_test(other_lanes)};
    if (!has_metal) return 77;
    return cmocka_run_group_tests(tests, open_all, close_all);
}
