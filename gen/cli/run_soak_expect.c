/* What must come of a case of `qkgen soak`: its data, and its results, computed on the host, in double precision,
 * straight from the layout. Rows of weights repeat after some, so that every result of a large matrix can be judged. */
#include "cli/run_bound.h"
#include "cli/run_soak.h"

#include "spec/value.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 61 }; /* a prime, so that no tile of rows repeats */

/* ---- x ---- */

static double uniform(uint64_t *state) { return (double)(qg_soak_random(state) >> 11) / 9007199254740992.0; }

static double gaussian(uint64_t *state) {
    const double a = uniform(state), b = uniform(state);
    return sqrt(-2 * log(a + 1e-300)) * cos(6.283185307179586 * b);
}

static double draw_x(qg_soak_x kind, qg_scalar type, uint64_t *state, bool chosen) {
    const bool half = type == QG_F16;
    const double x = gaussian(state), u = uniform(state);
    switch (kind) {
    case QG_SOAK_OUTLIERS: return u * 64 < 1 ? x * 1e4 : x;
    case QG_SOAK_MIXED: return x * pow(10, half ? 8 * u - 4.5 : 12 * u - 6);
    case QG_SOAK_SPARSE: return u * 64 < 1 ? x : 0;
    case QG_SOAK_ONE: return chosen ? x : 0;
    case QG_SOAK_ZEROS: return 0;
    case QG_SOAK_SUBNORMAL: return ldexp(x, half ? -18 : -130);
    case QG_SOAK_INFINITE:
        return chosen || u * 4096 < 1 ? (x > 1 ? (double)NAN : x > 0 ? (double)INFINITY : -(double)INFINITY) : x;
    default: return x;
    }
}

/* `places` says where each vector begins; NULL: one after the other. */
static void fill_x(const qg_soak_case *c, qg_scalar type, uint64_t vectors, uint64_t cols, const uint64_t *places,
                   void *to) {
    const uint32_t bytes = qg_scalars[type].bits / 8;
    uint64_t state = c->seed + 1;
    for (uint64_t v = 0; v < vectors; ++v) {
        const uint64_t chosen = cols ? qg_soak_random(&state) % cols : 0;
        for (uint64_t k = 0; k < cols; ++k) {
            double x = draw_x(c->x, type, &state, k == chosen);
            if (c->x == QG_SOAK_BITS) {
                const uint32_t any = (uint32_t)(qg_soak_random(&state) >> 8);
                memcpy((char *)to + (v * cols + k) * bytes, &any, bytes);
                continue;
            }
            if (type == QG_F16 && isfinite(x)) x = fmax(-60000, fmin(60000, x));
            const uint32_t bits = qg_bits_of(type, (float)x);
            memcpy((char *)to + ((places ? places[v] : v * cols) + k) * bytes, &bits, bytes);
        }
    }
}

/* The number that bits of f32, f16 or bf16 are. */
static double number(qg_scalar type, uint32_t bits) {
    float value;
    if (type == QG_F16) {
        const uint32_t exponent = bits >> 10 & 31, mantissa = bits & 0x3FF;
        const double sign = bits >> 15 ? -1 : 1;
        if (exponent == 31) return mantissa ? (double)NAN : sign * (double)INFINITY;
        return sign * ldexp(exponent ? 1024 + mantissa : mantissa, (int)(exponent ? exponent : 1) - 25);
    }
    if (type == QG_BF16) bits <<= 16;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* ---- making the data ---- */

static uint64_t all_rows(const qg_soak_data *data) {
    return data->of->family->sums ? data->places.weight_rows : data->of->rows;
}

/* Rows after which those of the weights repeat. */
static uint64_t rows_of_period(const qg_soak_data *data) {
    const qg_soak_case *c = data->of;
    const uint64_t most = data->most;
    uint64_t rows = c->cols ? most / c->cols : MOST_ROWS;
    rows = rows < 1 ? 1 : rows > MOST_ROWS ? MOST_ROWS : rows;
    if (rows > 3) rows -= 1 - rows % 2;
    return all_rows(data) < rows ? all_rows(data) : rows;
}

static bool make_weights(const qg_soak_case *c, qg_soak_data *data) {
    const qg_layout *layout = c->layout;
    data->weights.seed = c->seed << 20;
    data->weights.bytes = c->weights;
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const uint64_t repeated =
            layout->view == QG_VIEW_BLOCKS ? rows_of_period(data) * (c->cols / layout->elements) : 0;
        const uint64_t bytes = layout->view == QG_VIEW_BLOCKS
                                   ? repeated * layout->buffers[i].bytes
                                   : all_rows(data) / c->rows * qk_weight_bytes(data->kernel, i, c->rows, c->cols);
        data->weights.periods[i] = bytes > UINT64_C(1) << 22 && !repeated ? UINT64_C(8) * 131071 : bytes;
        if (!data->weights.periods[i]) data->weights.periods[i] = 8;
    }
    return qg_stock_fill_periods(&data->weights, layout, c->cols);
}

/* Floats of a few bits, some larger than others. */
static float *some_floats(uint64_t count, uint64_t seed) {
    float *floats = calloc(count + 1, sizeof *floats);
    uint64_t state = seed + 3;
    for (uint64_t i = 0; floats && i < count; ++i) {
        const uint64_t random = qg_soak_random(&state);
        floats[i] = ldexpf((float)(random >> 40 & 255) - 127.5f, (int)(random >> 60) - 10);
    }
    return floats;
}

/* The expert of each vector of results, among those of all sets. */
static uint32_t *ids_of_vectors(const qg_soak_data *data) {
    uint32_t *ids = calloc(data->places.vectors + 1, sizeof *ids);
    if (ids) qg_matrices_of(&data->places, data->ids, ids);
    return ids;
}

/* What y holds, rounded as it is stored. */
static bool make_before(const qg_soak_case *c, qg_soak_data *data) {
    float *floats = some_floats(data->results, c->seed + 1);
    data->epilogue.before = floats;
    data->before = calloc(data->results + 1, 4);
    for (uint64_t i = 0; floats && data->before && i < data->results; ++i) {
        qg_result_store(data->before, data->y_type, i, floats[i]);
        floats[i] = qg_result_at(data->before, data->y_type, i);
    }
    return floats && data->before;
}

static bool make_epilogue(const qg_soak_case *c, qg_soak_data *data) {
    static const uint32_t bits[] = {
#define EPILOGUE_BIT(bit, ...) bit,
        QK_EPILOGUES(EPILOGUE_BIT)
#undef EPILOGUE_BIT
    };
    qg_epilogue *e = &data->epilogue;
    const qg_places *p = &data->places;
    e->rows = c->rows;
    e->vectors = p->vectors;
    e->y_of = p->y_of;
    e->y_elements = p->y_elements;
    e->experts = c->family->experts ? p->matrices : 0;
    if (data->ids && !(e->ids = ids_of_vectors(data))) return false;
    e->scale_per = c->epilogue & QK_SCALES_ROWS_      ? QK_PER_ROW
                   : c->epilogue & QK_SCALES_VECTORS_ ? QK_PER_VECTOR
                                                      : QK_PER_TENSOR;
    if (c->epilogue & QK_ADDS_TO_Y_ && !make_before(c, data)) return false;
    for (uint32_t i = 0; i < QG_N_EPILOGUES; ++i)
        if (c->epilogue & bits[i] &&
            !(e->values[i] = some_floats(qg_epilogue_count(e, (qg_epilogue_id)i), c->seed + 8 * i)))
            return false;
    return true;
}

/* Weights of either sign, around 1. */
static bool make_norm(const qg_soak_case *c, qg_soak_data *data) {
    uint64_t state = c->seed + 4;
    if (!(data->views.dense.epsilon > 0)) return true;
    data->norm = calloc(c->cols + 1, sizeof *data->norm);
    for (uint64_t k = 0; data->norm && k < c->cols; ++k) data->norm[k] = (float)(1 + gaussian(&state) / 2);
    return data->norm != NULL;
}

/* Rows that are set are different ones; some are out of range, and of these some such that the number of their first
 * block, of 32 bits, is that of a block that there is. */
static void fill_rows(const qg_soak_case *c, qg_soak_data *data) {
    const uint64_t row_blocks = c->cols / c->layout->elements, first = c->seed % c->rows;
    uint64_t state = c->seed + 2;
    for (uint64_t i = 0; i < data->ids_count; ++i) {
        const uint64_t random = qg_soak_random(&state);
        uint64_t id = i < c->rows ? (first + i) % c->rows : c->rows + i;
        if (random >> 60 == 0) id = random >> 32 & 1 ? UINT32_MAX - i : c->rows + (random >> 33 & 3);
        if (random >> 60 == 1 && row_blocks > 1) id = (UINT64_C(1) << 32) / row_blocks + id % c->rows;
        data->ids[i] = (uint32_t)id;
        data->out_of_range += id >= c->rows;
    }
}

/* Vectors of results. */
static uint64_t results_of(const qg_places *p) { return p->gated ? p->vectors / 2 : p->vectors; }

/* Numbers of rows or experts, some of them out of range. */
static void fill_ids(const qg_soak_case *c, qg_soak_data *data) {
    const uint64_t range = c->family->experts ? c->experts : c->rows;
    uint64_t state = c->seed + 2;
    if (c->family->encodes) {
        fill_rows(c, data);
        return;
    }
    for (uint64_t i = 0; i < data->ids_count; ++i) {
        const uint64_t random = qg_soak_random(&state);
        uint64_t id = random % range;
        if (random >> 60 == 0) id = random >> 32 & 1 ? UINT32_MAX - (random >> 33 & 7) : range + (random >> 33 & 3);
        data->ids[i] = (uint32_t)id;
        data->out_of_range += id >= range;
    }
    if (!c->family->experts) return;
    data->out_of_range = 0; /* others lie between those that count */
    for (uint64_t v = 0; v < results_of(&data->places); ++v)
        data->out_of_range += data->ids[data->places.ids_of[v]] >= range;
}

static bool make_plain(const qg_soak_case *c, qg_soak_data *data) {
    for (uint32_t i = 0; i < c->plain->n_bindings; ++i) {
        const qg_plain_binding *b = &c->plain->bindings[i];
        const uint64_t count = b->per_group ? c->rows : c->rows * c->cols;
        if (b->role != QK_ROLE_INPUT) continue;
        data->inputs[i] = calloc(count + 1, 4);
        if (!data->inputs[i]) return false;
        uint64_t state = c->seed + i;
        for (uint64_t k = 0; k < count && b->type == QK_TYPE_U8; ++k)
            ((uint8_t *)data->inputs[i])[k] = (uint8_t)(qg_soak_random(&state) % c->batch);
        if (b->type == QK_TYPE_F32)
            fill_x(c, QG_F32, b->per_group ? 1 : c->rows, b->per_group ? c->rows : c->cols, NULL, data->inputs[i]);
    }
    return true;
}

bool qg_soak_data_make(qg_arena *arena, const qg_soak_case *c, const qk_kernel *kernel, qg_soak_data *data) {
    data->of = c;
    data->kernel = kernel;
    if (c->plain) return make_plain(c, data);
    const qg_family *family = c->family;
    if (family->sums && qg_soak_places(arena, c, &data->views, &data->places)) return false;
    data->y_type = qg_views_type(&data->views, family->experts);
    data->results = family->encodes ? 0
                    : family->sums  ? data->places.y_elements
                                    : qg_result_count(family, c->rows * c->cols, c->rows, c->cols, c->batch);
    if (c->rows && c->cols && !make_weights(c, data)) return false;
    if (family->sums) {
        data->x_count = data->places.x_elements;
        data->x = calloc(data->x_count + 4, 4);
        if (!data->x) return false;
        memset(data->x, 0xFF, data->x_count * 4); /* NaN between vectors */
        fill_x(c, c->type, data->places.x_vectors, c->cols, data->places.x_of, data->x);
    } else if (family->encodes) {
        const uint64_t vectors = qg_at_indices(family) ? c->batch : c->rows;
        data->x_count = vectors * c->cols;
        data->x = calloc(data->x_count + 4, 4);
        if (!data->x) return false;
        fill_x(c, c->type, vectors, c->cols, NULL, data->x);
    }
    if (qg_has_role(family, QK_ROLE_INDICES)) {
        data->ids_count = family->experts ? data->places.ids : c->batch;
        data->ids = calloc(data->ids_count + 4, 4);
        if (!data->ids) return false;
        if (c->rows) fill_ids(c, data);
    }
    return !family->sums || (make_epilogue(c, data) && make_norm(c, data));
}

void qg_soak_data_drop(qg_soak_data *data) {
    qg_stock_drop(&data->weights);
    for (uint32_t i = 0; i < QG_MAX_PLAIN_BINDINGS; ++i) free(data->inputs[i]);
    free(data->x);
    free(data->ids);
    free((void *)(uintptr_t)data->epilogue.before);
    free((void *)(uintptr_t)data->epilogue.ids);
    free(data->before);
    free(data->norm);
    for (uint32_t i = 0; i < QG_N_EPILOGUES; ++i) free((void *)(uintptr_t)data->epilogue.values[i]);
}

/* ---- encoders ---- */

const char *qg_soak_encode(qg_arena *arena, const qg_templates *templates, const qg_soak_data *data,
                           void *const *weights) {
    const qg_soak_case *c = data->of;
    void *object = NULL, *function = NULL;
    if (!c->rows || !c->cols) return NULL;
    const char *why = qg_reference_open(arena, templates, c->layout, c->family, c->type, &object, &function);
    if (why) return why;
    if (qg_at_indices(c->family))
        qg_reference_set_rows(function, weights, data->ids, c->rows, c->cols, c->batch, data->x);
    else if (c->layout->encode->rows || c->layout->view == QG_VIEW_GROUPS)
        qg_reference_encode_rows(function, weights, c->rows, c->cols, data->x);
    else
        qg_reference_encode(function, weights, c->rows * c->cols, data->x);
    dlclose(object);
    return NULL;
}

/* ---- judging ---- */

typedef struct judge {
    qg_arena *arena;
    const qg_soak_data *data;
    const qg_soak_case *c;
    qg_soak_result *result;
    qg_tensor tensor;
    uint64_t period;             /* rows after which weights repeat; 0: they do not */
    float *weights, *magnitudes; /* of a row */
    double *x, *largest;         /* of each right-hand side */
    double *sums, *limits;       /* of a row with each right-hand side */
    double *factors;             /* of a norm, of each right-hand side */
    double *room;                /* for 4 * cols numbers */
} judge;

static bool wrong(judge *j, const char *format, ...) QG_PRINTF(2, 3);
static bool wrong(judge *j, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(j->result->text, sizeof j->result->text, format, args);
    va_end(args);
    j->result->outcome = QG_SOAK_WRONG;
    return false;
}

static bool judge_sum(judge *j, uint64_t row, uint64_t vector, double got, double sum, double limit) {
    if (!isfinite(sum))
        return !isfinite(got) || wrong(j, "row %llu, vector %llu: %.9g, must not be finite, for x is not",
                                       (unsigned long long)row, (unsigned long long)vector, got);
    const double difference = fabs(got - sum);
    if (!(difference <= limit))
        return wrong(j, "row %llu, vector %llu: %.9g, must be within %.3g of %.9g", (unsigned long long)row,
                     (unsigned long long)vector, got, limit, sum);
    if (limit > 0 && difference / limit > j->result->ratio) j->result->ratio = difference / limit;
    return true;
}

static void load_weights(judge *j, uint64_t row, const qg_bound *bound) {
    const uint64_t cols = j->c->cols;
    qg_values_of_row(j->arena, &j->tensor, row, 0, cols, j->weights);
    qg_magnitudes_of_row(j->arena, &j->tensor, row, 0, cols, bound->least, j->magnitudes);
    qg_bound_magnitudes(bound, j->magnitudes, cols, j->room);
}

/* Their sum with a vector of x, and its limit. */
static double sum_with(const judge *j, const qg_bound *bound, uint64_t x, double *limit) {
    const uint64_t cols = j->c->cols;
    double sum;
    qg_bound_sum(bound, j->weights, j->magnitudes, j->x + x * cols, j->largest + x * 3 * cols, cols, &sum, limit);
    return j->data->norm ? qg_normed_result(sum, j->factors[x], cols, j->data->lanes, limit) : sum;
}

/* Values, magnitudes, and the sums of a row of the weights with all right-hand sides. */
static void load_row(judge *j, uint64_t row) {
    const qg_soak_case *c = j->c;
    const qg_bound bound = qg_bound_of(j->data->kernel, j->data->lanes, c->cols);
    load_weights(j, row, &bound);
    for (uint64_t v = 0; v < j->data->places.x_vectors; ++v) j->sums[v] = sum_with(j, &bound, v, &j->limits[v]);
}

/* What storing a result of 16 bits adds to its limit. */
static double stored_limit(qg_scalar type, double sum, double limit) {
    const double size = fabs(sum) + limit;
    if (type == QG_F16) return limit + ldexp(size, -11) + 0x1p-25;
    return type == QG_BF16 ? limit + ldexp(size, -8) + 0x1p-126 : limit;
}

static double result_of(const judge *j, const void *y, uint64_t vector, uint64_t n) {
    return (double)qg_result_at(y, j->data->y_type, j->data->places.y_of[vector] + n);
}

/* Of what a type cannot hold, an infinity is right. */
static bool overflows(qg_scalar type, double sum, double limit) {
    return fabs(sum) + limit >= (type == QG_F16 ? 65520 : 0x1.FFp127);
}

/* Row `n` of vector `v` of the results, which has the sum with vector `x`, and what the epilogue adds, each with a
 * rounding. `row` is one of all the weights' rows. */
static bool judge_result(judge *j, const void *y, uint64_t v, uint64_t n, uint64_t row, uint64_t x) {
    double limit = j->limits[x];
    const double sum = qg_epilogue_result(&j->data->epilogue, j->sums[x], v * j->c->rows + n, &limit);
    const double got = result_of(j, y, v, n);
    if (isinf(got) && j->data->y_type != QG_F32 && overflows(j->data->y_type, sum, limit)) return true;
    return judge_sum(j, row, v, got, sum, stored_limit(j->data->y_type, sum, limit));
}

/* Results with row `row` of all the weights' rows: those of one matrix, or of each token and slot
 * that names its expert. */
static bool judge_row(judge *j, const void *y, uint64_t row) {
    const qg_places *p = &j->data->places;
    const uint32_t *ids = j->data->epilogue.ids;
    for (uint64_t v = 0; v < p->vectors; ++v) {
        const uint64_t matrix = ids ? ids[v] : p->matrix_of[v];
        if (matrix >= p->matrices || row < p->weights_of[matrix]) continue;
        const uint64_t n = row - p->weights_of[matrix];
        if (n < j->c->rows && !judge_result(j, y, v, n, row, p->vector_of[v])) return false;
    }
    return true;
}

/* The sum of a row with a vector of x, and its limit. */
static double sum_of(judge *j, uint64_t row, uint64_t x, double *limit) {
    const qg_soak_case *c = j->c;
    const qg_bound bound = qg_bound_of(j->data->kernel, j->data->lanes, c->cols);
    load_weights(j, row, &bound);
    return sum_with(j, &bound, x, limit);
}

/* Row `n` of vector `v` of the results, with a sum of each of two matrices. */
static bool judge_gated(judge *j, const void *y, uint64_t v, uint64_t n) {
    const qg_places *p = &j->data->places;
    const uint32_t *ids = j->data->epilogue.ids;
    const uint64_t half = p->vectors / 2, first = p->gated == 1 ? v : v + half, second = p->gated == 1 ? v + half : v;
    const uint64_t gate = ids ? ids[first] : p->matrix_of[first], other = ids ? ids[second] : p->matrix_of[second];
    if (gate >= p->matrices || other >= p->matrices) return true;
    double gate_limit, limit;
    const double by = sum_of(j, p->weights_of[gate] + n, p->vector_of[first], &gate_limit);
    double sum = sum_of(j, p->weights_of[other] + n, p->vector_of[second], &limit);
    sum = qg_gated_result(sum, by, gate_limit, &limit);
    const double got = result_of(j, y, v, n);
    if (isinf(got) && overflows(j->data->y_type, sum, limit)) return true;
    return judge_sum(j, n, v, got, sum, stored_limit(j->data->y_type, sum, limit));
}

/* Row `n` of the results that are sums over a token's slots, of which `v` is the first: each rounds once more, as it
 * is scaled, and once for each slot that is added. */
static bool judge_added(judge *j, const void *y, uint64_t v, uint64_t n) {
    const qg_places *p = &j->data->places;
    const qg_epilogue *e = &j->data->epilogue;
    qg_bound bound = qg_bound_of(j->data->kernel, j->data->lanes, j->c->cols);
    double sum = 0, limit = 0;
    bound.eps += ldexp((double)p->added + 1, -24);
    for (uint64_t slot = v; slot < v + p->added; ++slot) {
        if (e->ids[slot] >= p->matrices) continue;
        double one_limit;
        load_weights(j, p->weights_of[e->ids[slot]] + n, &bound);
        const double one = sum_with(j, &bound, p->vector_of[slot], &one_limit);
        sum += qg_epilogue_scaled(e, one, slot * j->c->rows + n, &one_limit);
        limit += one_limit;
    }
    sum = qg_epilogue_rest(e, sum, v * j->c->rows + n, &limit);
    const double got = result_of(j, y, v, n);
    if (isinf(got) && overflows(j->data->y_type, sum, limit)) return true;
    return judge_sum(j, n, v / p->added, got, sum, stored_limit(j->data->y_type, sum, limit));
}

static uint64_t sampled(const judge *j, uint64_t i, uint64_t count, uint64_t all);

static bool judge_all_joint(judge *j, const void *y) {
    const qg_places *p = &j->data->places;
    const uint64_t vectors = results_of(p), all = j->c->rows, cols = j->c->cols * (p->gated ? 2 : 1) * (vectors + 1);
    const uint64_t fit = j->data->most / cols, count = fit < 2 ? 2 : fit < all ? fit : all;
    for (uint64_t v = 0; v < vectors; v += p->added)
        for (uint64_t i = 0; i < count && i < all; ++i)
            if (!(p->gated ? judge_gated : judge_added)(j, y, v, sampled(j, i, count, all))) return false;
    return true;
}

static bool judge_zeros(judge *j, const void *y) {
    const qg_soak_case *c = j->c;
    const uint32_t *ids = j->data->epilogue.ids;
    for (uint64_t p = 0; p < results_of(&j->data->places) && !j->data->places.adds_slots; ++p)
        for (uint64_t n = 0; n < c->rows && ids[p] >= j->data->places.matrices; ++n) {
            double limit = 0;
            const double must = qg_epilogue_result(&j->data->epilogue, 0, p * c->rows + n, &limit);
            const double got = result_of(j, y, p, n);
            if (isinf(got) && j->data->y_type != QG_F32 && overflows(j->data->y_type, must, limit)) continue;
            if (!(fabs(got - must) <= stored_limit(j->data->y_type, must, limit)))
                return wrong(j, "slot %llu, row %llu: %.9g, must be %.9g, for its expert is out of range",
                             (unsigned long long)p, (unsigned long long)n, got, must);
        }
    return true;
}

/* Row number `i` of those that are looked at, where not all are: the first, the last, and others. */
static uint64_t sampled(const judge *j, uint64_t i, uint64_t count, uint64_t all) {
    if (count == all || i == 0) return i;
    if (i + 1 == count) return all - 1;
    const uint64_t first = i * all / count, end = (i + 1) * all / count;
    uint64_t state = j->c->seed + i;
    return first + qg_soak_random(&state) % (end - first);
}

static uint64_t rows_to_judge(const judge *j) {
    const uint64_t all = all_rows(j->data), fit = j->data->most / (j->c->cols ? j->c->cols : 1);
    if (j->period) return j->period;
    return all * j->c->cols <= j->data->most ? all : fit < 2 ? 2 : fit;
}

static bool judge_sums(judge *j, const void *y) {
    const qg_soak_case *c = j->c;
    const qg_places *p = &j->data->places;
    const uint64_t count = rows_to_judge(j), all = all_rows(j->data), bytes = qg_scalars[c->type].bits / 8;
    const qg_bound bound = qg_bound_of(j->data->kernel, j->data->lanes, c->cols);
    for (uint64_t i = 0; i < p->x_vectors * c->cols; ++i) {
        uint32_t bits = 0;
        memcpy(&bits, (const char *)j->data->x + (p->x_of[i / c->cols] + i % c->cols) * bytes, bytes);
        j->x[i] = number(c->type, bits);
    }
    for (uint64_t v = 0; v < p->x_vectors && j->data->norm; ++v)
        j->factors[v] = qg_norm_x(j->x + v * c->cols, j->data->norm, c->cols, j->data->views.dense.epsilon);
    for (uint64_t v = 0; v < p->x_vectors; ++v)
        qg_bound_largest(&bound, j->x + v * c->cols, c->cols, j->largest + v * 3 * c->cols);
    const bool joint = p->gated || p->adds_slots; /* a result is of several sums */
    if (joint && !judge_all_joint(j, y)) return false;
    for (uint64_t i = 0; i < count && i < all && !joint; ++i) {
        const uint64_t row = j->period ? i : sampled(j, i, count, all);
        load_row(j, row);
        for (uint64_t n = row; n < all; n += j->period ? j->period : all)
            if (!judge_row(j, y, n)) return false;
    }
    return !c->family->experts || judge_zeros(j, y);
}

/* ---- decoders ---- */

/* Whether a result is the value. Of NaNs, the payload is free; a device may take subnormal numbers
 * for zero: a value, or a scale of at most 2^-126 that is multiplied with a code, of which the
 * largest are floats of eight bits, below 2^16. */
static bool is_value(const judge *j, uint32_t got, float value) {
    const qg_scalar type = j->c->type;
    if (got == qg_bits_of(type, value)) return true;
    const double is = number(type, got), must = number(type, qg_bits_of(type, value));
    if (isnan(is) && isnan(must)) return true;
    if (!j->data->flushes) return false;
    return fabs(is - must) <= ldexp(1, -110) ||
           (isinf(must) && isnan(is)); /* of a scale that was taken for zero, and an infinite code */
}

/* `count` results, number `row` of so many. */
static bool judge_values(judge *j, const void *out, uint64_t row, uint64_t from, uint64_t count) {
    const qg_soak_case *c = j->c;
    const uint32_t bytes = qg_scalars[c->type].bits / 8;
    for (uint64_t k = 0; k < count; ++k) {
        uint32_t bits = 0;
        memcpy(&bits, (const char *)out + (row * count + k) * bytes, bytes);
        if (!is_value(j, bits, j->weights[k]))
            return wrong(j, "row %llu (%llu of the weights), column %llu: %.9g (0x%x), must be %.9g",
                         (unsigned long long)row, (unsigned long long)from, (unsigned long long)k,
                         number(c->type, bits), bits, (double)j->weights[k]);
    }
    return true;
}

static bool judge_dequant(judge *j, const void *out) {
    const uint64_t count = rows_to_judge(j), all = j->c->rows;
    for (uint64_t i = 0; i < count && i < all; ++i) {
        const uint64_t row = j->period ? i : sampled(j, i, count, all);
        qg_values_of_row(j->arena, &j->tensor, row, 0, j->c->cols, j->weights);
        const uint64_t results = qg_results_of_row(j->c->family, j->weights, j->c->cols);
        for (uint64_t n = row; n < all; n += j->period ? j->period : all)
            if (!judge_values(j, out, n, n, results)) return false;
    }
    return true;
}

static bool judge_gather(judge *j, const void *out) {
    for (uint64_t t = 0; t < j->data->ids_count; ++t) {
        const uint64_t row = j->data->ids[t], cols = j->c->cols, results = j->data->results / j->data->ids_count;
        memset(j->weights, 0, cols * sizeof *j->weights);
        if (row < j->c->rows) qg_values_of_row(j->arena, &j->tensor, row, 0, cols, j->weights);
        if (row < j->c->rows) qg_results_of_row(j->c->family, j->weights, cols);
        if (!judge_values(j, out, t, row, results)) return false;
    }
    return true;
}

/* ---- families without a format ---- */

static bool same(judge *j, const char *what, uint64_t at, double got, double must) {
    if (got == must || (isnan(got) && isnan(must))) return true;
    return wrong(j, "%s[%llu]: %.9g, must be %.9g", what, (unsigned long long)at, got, must);
}

static bool judge_init(judge *j, void *const *outputs, uint64_t g) {
    const uint64_t cols = j->c->cols;
    const float *w = (const float *)j->data->inputs[0] + g * cols;
    float least = w[0], largest = w[0];
    for (uint64_t i = 1; i < cols; ++i) {
        least = fminf(least, w[i]);
        largest = fmaxf(largest, w[i]);
    }
    const volatile float range = largest - least;
    float scale = range / (float)(j->c->batch - 1);
    if (!(scale > 0)) scale = 1;
    if (!same(j, "scales", g, (double)((const float *)outputs[0])[g], (double)scale)) return false;
    if (!same(j, "biases", g, (double)((const float *)outputs[1])[g], (double)least)) return false;
    for (uint64_t i = 0; i < cols; ++i) {
        const volatile float difference = w[i] - least, z = difference / scale, up = z + 0.5f;
        const float code = isnan(up) ? 0 : fminf(floorf(up), (float)(j->c->batch - 1));
        if (!same(j, "q", g * cols + i, ((const uint8_t *)outputs[2])[g * cols + i], (double)code)) return false;
    }
    return true;
}

static bool judge_forward(judge *j, void *const *outputs, uint64_t g) {
    const uint64_t cols = j->c->cols;
    const uint8_t *q = (const uint8_t *)j->data->inputs[0] + g * cols;
    const float scale = ((const float *)j->data->inputs[1])[g], bias = ((const float *)j->data->inputs[2])[g];
    for (uint64_t i = 0; i < cols; ++i) {
        const volatile float product = (float)q[i] * scale, y = product + bias;
        if (!same(j, "y", g * cols + i, (double)((const float *)outputs[0])[g * cols + i], (double)y)) return false;
    }
    return true;
}

/* Sums of f32 over a group: each term is rounded at most as often as there are terms. */
static bool judge_backward(judge *j, void *const *outputs, uint64_t g, const uint8_t *q, const float *dy) {
    const uint64_t cols = j->c->cols;
    double sum = 0, size = 0;
    for (uint64_t i = 0; i < cols; ++i) {
        const double term = (q ? (double)q[g * cols + i] : 1.0) * (double)dy[g * cols + i];
        sum += term;
        size += fabs(term);
    }
    const double got = (double)((const float *)outputs[0])[g],
                 limit = ldexp(size * (double)(cols / 4 + 16), -24) + 1e-37;
    return judge_sum(j, g, 0, got, sum, limit);
}

static bool judge_group(judge *j, void *const *outputs, uint64_t g) {
    void *const *in = j->data->inputs;
    if (j->c->plain->has_bins) return judge_init(j, outputs, g);
    if (j->c->plain->n_bindings == 4) return judge_forward(j, outputs, g);
    if (j->c->plain->n_bindings == 3) return judge_backward(j, outputs, g, in[0], in[1]);
    return judge_backward(j, outputs, g, NULL, in[0]);
}

bool qg_soak_judge(qg_arena *arena, const qg_soak_data *data, void *const *outputs, qg_soak_result *result) {
    const qg_soak_case *c = data->of;
    judge j = {.arena = arena, .data = data, .c = c, .result = result};
    if (c->plain) {
        for (uint64_t g = 0; g < c->rows; ++g)
            if (!judge_group(&j, outputs, g)) return false;
        return true;
    }
    if (!data->results || !c->rows || !c->cols) return true;
    j.tensor = (qg_tensor){c->layout,
                           all_rows(data),
                           c->cols,
                           (const unsigned char *const *)data->weights.patterns,
                           data->weights.periods,
                           c->family->experts ? all_rows(data) / c->rows : 0,
                           NULL};
    j.tensor.patches = qg_patches_new(arena, &j.tensor);
    if (c->layout->view == QG_VIEW_BLOCKS) j.period = rows_of_period(data);
    j.weights = malloc(2 * c->cols * sizeof *j.weights);
    j.magnitudes = j.weights ? j.weights + c->cols : NULL;
    const uint64_t vectors = data->places.x_vectors;
    j.x = malloc((4 * c->cols + 3) * (vectors + 1) * sizeof *j.x);
    bool good = j.weights && j.x;
    if (!good) wrong(&j, "out of memory");
    if (good) {
        j.largest = j.x + vectors * c->cols;
        j.sums = j.largest + 3 * vectors * c->cols;
        j.limits = j.sums + vectors;
        j.factors = j.limits + vectors;
        j.room = j.factors + vectors;
        good = c->family->sums            ? judge_sums(&j, outputs[0])
               : qg_at_indices(c->family) ? judge_gather(&j, outputs[0])
                                          : judge_dequant(&j, outputs[0]);
    }
    free(j.weights);
    free(j.x);
    return good;
}
