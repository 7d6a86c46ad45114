/* Epilogues in the host's memory. */
#include "cli/run_epilogue.h"

#include <math.h>

static qk_many many_of(const qg_epilogue *epilogue, qg_epilogue_id id) {
    const qk_range none = {0};
    const qk_epilogue e = qg_epilogue_ranges(epilogue, &none);
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
    return (many_of(e, id) == QK_PER_RESULT ? e->vectors : e->experts ? e->experts : 1) * e->rows;
}

const char *qg_epilogue_shape(qg_arena *arena, const qg_epilogue *e, qg_epilogue_id id) {
    const unsigned long long rows = e->rows, vectors = e->vectors, experts = e->experts;
    if (many_of(e, id) == QK_PER_RESULT)
        return qg_format(arena, "%llu %s of --rows %llu", vectors, e->experts ? "slots" : "vectors", rows);
    return e->experts ? qg_format(arena, "--experts %llu of --rows %llu", experts, rows)
                      : qg_format(arena, "--rows %llu", rows);
}

qk_epilogue qg_epilogue_ranges(const qg_epilogue *e, const qk_range *ranges) {
    return (qk_epilogue){.adds = e->before != NULL,
#define EPILOGUE_FIELD(bit, NAME, field, ...)                                                                          \
    .field = e->values[QG_EPILOGUE_##NAME] ? &ranges[QG_EPILOGUE_##NAME] : NULL,
                         QK_EPILOGUES(EPILOGUE_FIELD)
#undef EPILOGUE_FIELD
    };
}

/* The value of row `id` that result `at` meets. */
static double value_of(const qg_epilogue *e, qg_epilogue_id id, uint64_t at) {
    const uint64_t row = at % e->rows, matrix = e->experts ? e->ids[at / e->rows] : 0;
    return (double)e->values[id][many_of(e, id) == QK_PER_RESULT ? at : matrix * e->rows + row];
}

static double add(double sum, double value, double *limit) {
    *limit += ldexp(fabs(sum) + fabs(value) + *limit, -24);
    return sum + value;
}

double qg_epilogue_result(const qg_epilogue *e, double sum, uint64_t at, double *limit) {
    const bool found = !e->experts || e->ids[at / e->rows] < e->experts;
    if (found && e->values[QG_EPILOGUE_BIAS]) sum = add(sum, value_of(e, QG_EPILOGUE_BIAS, at), limit);
    if (e->before) sum = add(sum, (double)e->before[at], limit);
    return sum;
}
