/* Whether what was measured was right: some rows of the result, against the values of the layout
 * (value.h), which needs no compiler on the machine. Sums are taken in double precision, and each
 * must be within the bound of its kernel (run_bound.h). */
#include "cli/run_bench.h"
#include "cli/run_bound.h"

#include "spec/value.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 16, MOST_ELEMENTS = 1 << 17, EVERY_ROW = 8 };

typedef struct comparison {
    double difference, norm; /* squares */
    double size;             /* the same of what was added up, where it cancelled to less */
    double ratio;            /* the largest difference, as a part of what it may be */
} comparison;

/* The data has neither infinities nor NaN, and so no result should be one. What may differ by 0 must be equal. */
static void compare(comparison *c, double got, double expected, double squares, double limit) {
    const double d = got - expected;
    if (isfinite(expected)) {
        c->norm += expected * expected;
        c->size += fmax(expected * expected, squares);
    }
    if (got == expected && isfinite(expected)) return;
    c->difference += isfinite(d) ? d * d : (double)INFINITY;
    c->ratio = fmax(c->ratio, isfinite(d) && limit > 0 ? fabs(d) / limit : (double)INFINITY);
}

/* Row `n` of so many that are checked, the first and the last among them. */
static uint64_t sampled(uint64_t n, uint64_t count, uint64_t all) {
    return count < 2 ? 0 : n * (all - 1) / (count - 1);
}

static uint64_t rows_to_check(const qg_case *c) {
    uint64_t rows = MOST_ELEMENTS / c->cols;
    rows = rows < 2 ? 2 : rows > MOST_ROWS ? MOST_ROWS : rows;
    return rows < c->rows ? rows : c->rows;
}

/* The float that the bits of a result are. */
static double number(qg_scalar type, uint32_t bits) {
    float value;
    if (type == QG_F16) {
        const uint32_t exponent = bits >> 10 & 31, mantissa = bits & 0x3FF;
        const double sign = bits >> 15 ? -1 : 1;
        if (exponent == 31) return mantissa ? NAN : sign * INFINITY;
        return sign * ldexp(exponent ? 1024 + mantissa : mantissa, (int)(exponent ? exponent : 1) - 25);
    }
    if (type == QG_BF16) bits <<= 16;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

typedef struct check {
    qg_bench *b;
    const qg_subject *s;
    qg_tensor tensor;
    float *values, *magnitudes; /* of a row */
    char *data;                 /* of a row of the result, or the right-hand sides */
    double *x, *largest;        /* of one right-hand side; 4 * cols in all */
    qg_bound bound;
    void *function; /* the reference, of a family that encodes */
    comparison c;
} check;

static bool download(check *k, uint32_t binding, uint64_t offset, void *data, uint64_t bytes) {
    return qk_vulkan_download(k->b->vk, k->s->buffers[binding], offset, data, bytes, &k->b->error) == QK_OK ||
           qg_bench_failed(k->b);
}

/* The sum of right-hand side `vector` with the row at hand, the sum of the squares of its products,
 * which are of random signs, and by how much a result may differ from it. */
static double sum_of(const check *k, uint64_t vector, double *squares, double *limit) {
    const qg_case *c = &k->s->of;
    const uint32_t bytes = qg_scalars[c->type].bits / 8;
    double sum;
    for (uint64_t i = 0; i < c->cols; ++i) {
        uint32_t bits = 0;
        memcpy(&bits, k->data + (vector * c->cols + i) * bytes, bytes);
        k->x[i] = number(c->type, bits);
    }
    *squares = 0;
    for (uint64_t i = 0; i < c->cols; ++i) *squares += pow((double)k->values[i] * k->x[i], 2);
    qg_bound_largest(&k->bound, k->x, c->cols, k->largest);
    qg_bound_sum(&k->bound, k->values, k->magnitudes, k->x, k->largest, c->cols, &sum, limit);
    return sum;
}

/* Whether vector `v` is looked at in row number `n` of `rows`: some are in each, all others in two of them. */
static bool looks_at(uint64_t v, uint64_t n, uint64_t rows) {
    const uint64_t step = rows < 2 ? 1 : rows / 2;
    return v < EVERY_ROW || v % step == n % step;
}

/* Row `row` of the result, number `n` of `rows` that are checked; with experts, of that which each vector's first or
 * last slot names. */
static bool check_sums(check *k, uint64_t row, uint64_t n, uint64_t rows) {
    const qg_case *c = &k->s->of;
    const uint64_t slots = c->family->experts ? c->slots : 1;
    uint32_t y = k->s->n_weights;
    while (k->s->kernel->bindings[y].role != QK_ROLE_OUTPUT) ++y;
    for (uint64_t v = 0; v < c->batch; ++v) {
        if (!looks_at(v, n, rows)) continue;
        const uint64_t pair = v * slots + (row % 2 ? slots - 1 : 0);
        const uint64_t first = c->family->experts ? qg_bench_index(c, pair) * c->rows : 0;
        float got;
        if (!download(k, y, (pair * c->rows + row) * 4, &got, 4)) return false;
        if (v == 0 || c->family->experts) {
            qg_values_of_row(k->b->session->arena, &k->tensor, first + row, 0, c->cols, k->values);
            qg_magnitudes_of_row(k->b->session->arena, &k->tensor, first + row, 0, c->cols, k->bound.least,
                                 k->magnitudes);
            qg_bound_magnitudes(&k->bound, k->magnitudes, c->cols, k->x);
        }
        double squares, limit;
        const double expected = sum_of(k, c->x_slots > 1 ? pair : v, &squares, &limit);
        compare(&k->c, (double)got, expected, squares, limit);
    }
    return true;
}

static bool check_values(check *k, uint64_t row) {
    const qg_case *c = &k->s->of;
    const bool at_indices = qg_at_indices(c->family);
    const uint32_t bytes = qg_scalars[c->type].bits / 8, dst = k->s->n_weights + at_indices;
    const uint64_t from = at_indices ? qg_bench_index(c, row) : row;
    qg_values_of_row(k->b->session->arena, &k->tensor, from, 0, c->cols, k->values);
    const uint64_t all = qg_results_of_row(c->family, k->values, c->cols);
    const uint64_t count = all < MOST_ELEMENTS ? all : MOST_ELEMENTS;
    if (!download(k, dst, row * all * bytes, k->data, count * bytes)) return false;
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t bits = 0;
        memcpy(&bits, k->data + i * bytes, bytes);
        compare(&k->c, number(c->type, bits), number(c->type, qg_bits_of(c->type, k->values[i])), 0, 0);
    }
    return true;
}

/* Blocks of row `row` of the floats, and what the row has of its own: those of the C reference. */
static bool check_blocks(check *k, uint64_t row) {
    const qg_case *c = &k->s->of;
    const uint64_t set = qg_at_indices(c->family);
    const uint64_t to = set ? qg_bench_index(c, row) : row;
    void *made[QK_MAX_BINDINGS];
    unsigned char *at = (unsigned char *)k->values, *is = (unsigned char *)k->x;
    for (uint32_t b = 0; b < c->layout->n_buffers; ++b) {
        made[b] = at;
        at += qk_weight_bytes(k->s->kernel, b, 1, c->cols);
    }
    const uint64_t row_bytes = c->cols * (qg_scalars[c->type].bits / 8);
    if (!download(k, k->s->n_weights + (set ? 1 : 0), row * row_bytes, k->data, row_bytes)) return false;
    if (c->layout->encode->rows)
        qg_reference_encode_rows(k->function, made, 1, c->cols, k->data);
    else
        qg_reference_encode(k->function, made, c->cols, k->data);
    for (uint32_t b = 0; b < c->layout->n_buffers; ++b) {
        const uint64_t bytes = qk_weight_bytes(k->s->kernel, b, 1, c->cols);
        if (!download(k, b, to * bytes, is, bytes)) return false;
        for (uint64_t i = 0; i < bytes; ++i) compare(&k->c, is[i], ((const unsigned char *)made[b])[i], 0, 0);
    }
    return true;
}

/* Of groups of planes, which are cut without regard to rows, all are made again. */
static bool check_planes(check *k) {
    const qg_case *c = &k->s->of;
    const uint64_t source = c->rows * c->cols * (qg_scalars[c->type].bits / 8);
    uint64_t bytes[QK_MAX_BINDINGS], all = source;
    for (uint32_t b = 0; b < c->layout->n_buffers; ++b)
        all += 2 * (bytes[b] = qk_weight_bytes(k->s->kernel, b, c->rows, c->cols));
    unsigned char *memory = malloc(all), *at = memory + source;
    void *made[QK_MAX_BINDINGS];
    if (!memory) return qg_complain("out of memory") == 0;
    for (uint32_t b = 0; b < c->layout->n_buffers; at += 2 * bytes[b++]) made[b] = at;
    bool good = download(k, k->s->n_weights, 0, memory, source);
    if (good) qg_reference_encode_rows(k->function, made, c->rows, c->cols, memory);
    for (uint32_t b = 0; b < c->layout->n_buffers && good; ++b) {
        const unsigned char *must = made[b], *is = must + bytes[b];
        good = download(k, b, 0, (unsigned char *)made[b] + bytes[b], bytes[b]);
        for (uint64_t i = 0; i < bytes[b] && good; ++i) compare(&k->c, is[i], must[i], 0, 0);
    }
    free(memory);
    return good;
}

static bool open_reference(check *k, void **object) {
    const qg_case *c = &k->s->of;
    const char *why = qg_reference_open(k->b->session->arena, k->b->templates, c->layout,
                                        &qg_families[QG_FAMILY_ENCODE], c->type, object, &k->function);
    return !why || qg_complain("blocks are checked with the C reference: %s", why) == 0;
}

static double relative(double difference, double norm) {
    return norm > 0 ? sqrt(difference / norm) : difference > 0 ? (double)INFINITY : 0;
}

/* Sums with x near to normally distributed, as here, are far more exact than the bound of any x: a
 * kernel whose error in the L2 norm is larger than its class is known for has a fault, too. */
static bool is_unusual(const qk_kernel *kernel, const comparison *c) {
    static const double usual[] = {[QK_NUMERIC_EXACT_SUM] = 2e-6,
                                   [QK_NUMERIC_SPLIT_SUM] = 1e-4,
                                   [QK_NUMERIC_HALF_SUM] = 2e-3,
                                   [QK_NUMERIC_INT8_SUM] = 1e-2};
    if (kernel->numeric == QK_NUMERIC_EXACT_DECODE) return false;
    return !(relative(c->difference, c->size) <= usual[kernel->numeric]);
}

bool qg_subject_check(qg_bench *b, const qg_subject *s, qg_checked *checked) {
    const qg_case *c = &s->of;
    const uint64_t *const periods = b->stock.periods;
    check k = {.b = b, .s = s};
    k.tensor = (qg_tensor){c->layout, c->family->experts ? c->rows * c->experts : c->rows,
                           c->cols,   (const unsigned char *const *)b->stock.patterns,
                           periods,   c->family->experts ? c->experts : 0,
                           NULL};
    k.bound = qg_bound_of(s->kernel, qk_vulkan_info(b->vk)->subgroup_size, c->cols);
    k.values = malloc(2 * c->cols * sizeof *k.values);
    k.magnitudes = k.values + c->cols;
    k.data = malloc(qg_bench_vectors(c) * c->cols * 4);
    k.x = malloc(4 * c->cols * sizeof *k.x);
    k.largest = k.x + c->cols;
    bool good = (k.values && k.data && k.x) || qg_complain("out of memory") == 0;
    if (good && c->family->sums) qg_fill_input(k.data, c->type, qg_bench_vectors(c) * c->cols);
    const bool planes = c->family->encodes && c->layout->view == QG_VIEW_GROUPS;
    const uint64_t rows = planes ? 1 : rows_to_check(c);
    void *object = NULL;
    if (good && c->family->encodes) good = open_reference(&k, &object);
    for (uint64_t n = 0; n < rows && good; ++n) {
        const uint64_t row = sampled(n, rows, c->rows);
        good = planes               ? check_planes(&k)
               : c->family->encodes ? check_blocks(&k, row)
               : c->family->sums    ? check_sums(&k, row, n, rows)
                                    : check_values(&k, row);
    }
    if (object) dlclose(object);
    checked->rows = (uint32_t)(planes ? c->rows : rows);
    checked->error = relative(k.c.difference, k.c.norm);
    checked->ratio = k.c.ratio;
    checked->wrong = !(k.c.ratio <= 1) || is_unusual(s->kernel, &k.c);
    free(k.x);
    free(k.values);
    free(k.data);
    return good;
}
