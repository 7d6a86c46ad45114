/* Epilogues in the host's memory. */
#include "cli/run_epilogue.h"

#include <math.h>

static qk_many many_of(const qg_epilogue *epilogue, qg_epilogue_id id) {
    static const qk_range none[QG_N_EPILOGUES];
    const qk_epilogue e = qg_epilogue_ranges(epilogue, none);
    (void)e;
    switch (id) {
#define EPILOGUE_MANY(bit, NAME, field, binding, many, meaning)                                                        \
    case QG_EPILOGUE_##NAME: return many;
        QK_EPILOGUES(EPILOGUE_MANY)
#undef EPILOGUE_MANY
    }
    return QK_PER_RESULT;
}

const char *qg_epilogue_name(qg_epilogue_id id) {
#define EPILOGUE_NAME(bit, NAME, field, ...) #field,
    static const char *const names[] = {QK_EPILOGUES(EPILOGUE_NAME)};
#undef EPILOGUE_NAME
    return names[id];
}

uint64_t qg_epilogue_count(const qg_epilogue *e, qg_epilogue_id id) {
    const qk_many many = many_of(e, id);
    if (many == QK_PER_RESULT && e->y_of) return e->y_elements;
    return (many == QK_PER_VECTOR || many == QK_PER_RESULT ? e->vectors
            : e->experts                                   ? e->experts
                                                           : 1) *
           (many == QK_PER_ROW || many == QK_PER_RESULT ? e->rows : 1);
}

const char *qg_epilogue_shape(qg_arena *arena, const qg_epilogue *e, qg_epilogue_id id) {
    const unsigned long long rows = e->rows, vectors = e->vectors, experts = e->experts;
    const char *several = e->experts ? "slots" : "vectors";
    switch (many_of(e, id)) {
    case QK_PER_RESULT: return qg_format(arena, "%llu %s of --rows %llu", vectors, several, rows);
    case QK_PER_VECTOR: return qg_format(arena, "one for each of %llu %s", vectors, several);
    case QK_PER_TENSOR: return e->experts ? qg_format(arena, "--experts %llu", experts) : "one";
    case QK_PER_ROW: break;
    }
    return e->experts ? qg_format(arena, "--experts %llu of --rows %llu", experts, rows)
                      : qg_format(arena, "--rows %llu", rows);
}

bool qg_epilogue_clashes(uint64_t bits) {
    const qk_range some = {0};
    const qk_epilogue gated = {.gate = &some};
    return bits & QK_ADDS_TO_Y_ && bits & qk_epilogue_bits_(&gated);
}

const char *qg_epilogue_without_add(const char *const *files) {
    return files[QG_EPILOGUE_GATE] ? "--add is not for --gate: --residual is added behind it" : NULL;
}

qk_epilogue qg_epilogue_ranges(const qg_epilogue *e, const qk_range *ranges) {
    return (qk_epilogue){.adds = e->before != NULL,
                         .scale_per = e->scale_per,
#define EPILOGUE_FIELD(bit, NAME, field, ...)                                                                          \
    .field = e->values[QG_EPILOGUE_##NAME] ? &ranges[QG_EPILOGUE_##NAME] : NULL,
                         QK_EPILOGUES(EPILOGUE_FIELD)
#undef EPILOGUE_FIELD
    };
}

static uint64_t place_of(const qg_epilogue *e, uint64_t at) {
    return e->y_of ? e->y_of[at / e->rows] + at % e->rows : at;
}

/* The value of row `id` that result `at` meets. */
static double value_of(const qg_epilogue *e, qg_epilogue_id id, uint64_t at) {
    const uint64_t row = at % e->rows, vector = at / e->rows, matrix = e->experts ? e->ids[vector] : 0;
    switch (many_of(e, id)) {
    case QK_PER_RESULT: return (double)e->values[id][place_of(e, at)];
    case QK_PER_VECTOR: return (double)e->values[id][vector];
    case QK_PER_TENSOR: return (double)e->values[id][matrix];
    case QK_PER_ROW: break;
    }
    return (double)e->values[id][matrix * e->rows + row];
}

static double add(double sum, double value, double *limit) {
    *limit += ldexp(fabs(sum) + fabs(value) + *limit, -24);
    return sum + value;
}

/* A device may take what is below 2^-126 for zero. */
static double multiply(double sum, double value, double *limit) {
    *limit = *limit * fabs(value) + ldexp((fabs(sum) + *limit) * fabs(value), -24) + 0x1p-126;
    return sum * value;
}

double qg_norm_x(double *x, const float *norm, uint64_t cols, float epsilon) {
    double squares = 0;
    for (uint64_t k = 0; k < cols; ++k) {
        squares += x[k] * x[k];
        x[k] = (double)(float)(x[k] * (double)norm[k]);
    }
    return 1 / sqrt(squares / (double)cols + (double)epsilon);
}

/* Squares are of one sign: half of each rounding of their sum, by 32 threads or more in runs of four, then of
 * subgroups of at most 1024 threads, and of the quotient; and what a device may make of the root. */
double qg_normed_result(double sum, double factor, uint64_t cols, uint32_t lanes, double *limit) {
    const double roundings = (double)cols / 256 + 512.0 / lanes + 14;
    const double wrong = (fabs(sum) + *limit) * factor * ldexp(roundings, -24);
    sum = multiply(sum, factor, limit);
    *limit += wrong;
    return sum;
}

/* With what single precision makes of silu: a device's exp may be wrong by 3 + 2 |v| units in the last place; and what
 * it divides by may be so large that it takes the result for zero. */
double qg_gated_result(double sum, double value, double value_limit, double *limit) {
    const double silu = value / (1 + exp(-value)), moved = 1.1 * value_limit; /* it is nowhere steeper */
    const double wrong = ldexp((fabs(silu) + moved) * (8 + 2 * (fabs(value) + value_limit)), -23) + 2e-36 + moved;
    const double more = (fabs(sum) + *limit) * wrong;
    sum = multiply(sum, silu, limit);
    *limit += more;
    return sum;
}

static bool is_found(const qg_epilogue *e, uint64_t at) { return !e->experts || e->ids[at / e->rows] < e->experts; }

double qg_epilogue_scaled(const qg_epilogue *e, double sum, uint64_t at, double *limit) {
    if (!is_found(e, at) || !e->values[QG_EPILOGUE_SCALE]) return sum;
    return multiply(sum, value_of(e, QG_EPILOGUE_SCALE, at), limit);
}

double qg_epilogue_result(const qg_epilogue *e, double sum, uint64_t at, double *limit) {
    return qg_epilogue_rest(e, qg_epilogue_scaled(e, sum, at, limit), at, limit);
}

double qg_epilogue_rest(const qg_epilogue *e, double sum, uint64_t at, double *limit) {
    const bool found = is_found(e, at);
    if (found && e->values[QG_EPILOGUE_BIAS]) sum = add(sum, value_of(e, QG_EPILOGUE_BIAS, at), limit);
    if (e->before) sum = add(sum, (double)e->before[place_of(e, at)], limit);
    if (found && e->values[QG_EPILOGUE_GATE]) sum = qg_gated_result(sum, value_of(e, QG_EPILOGUE_GATE, at), 0, limit);
    if (e->values[QG_EPILOGUE_RESIDUAL]) sum = add(sum, value_of(e, QG_EPILOGUE_RESIDUAL, at), limit);
    return sum;
}
