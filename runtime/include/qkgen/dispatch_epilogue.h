/* qkgen/dispatch_epilogue.h: what a sum passes through on its way to y. All families that sum have it: one list of bindings behind what
 * they read, and one word of push constants. In kernels it is finish.glsl and finish.metal. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_EPILOGUE_H
#define QKGEN_DISPATCH_EPILOGUE_H

#include "dispatch_views.h"

/* How many values of an epilogue there are. A vector is a right-hand side; with experts, of each token a slot. */
typedef enum qk_many {
    QK_PER_TENSOR, /* one; with experts, one for each */
    QK_PER_ROW,    /* one for each row of the matrix; with experts, of each expert, one after the other */
    QK_PER_VECTOR, /* one for each vector */
    QK_PER_RESULT  /* one for each row and vector, as y has them */
} qk_many;

/* All zeros: results are stored as they are. */
typedef struct qk_epilogue {
    uint32_t adds;     /* 1: they are added to what y holds, such as a residual; 0: they take its place */
    qk_many scale_per; /* what has a scale of its own: a tensor, a row or a vector */
/* NULL: none. */
#define QK_EPILOGUE_FIELD_(bit, NAME, field, binding, many, meaning) const qk_range *field;
    QK_EPILOGUES(QK_EPILOGUE_FIELD_)
#undef QK_EPILOGUE_FIELD_
} qk_epilogue;

/* The last bindings of a family that sums. */
#define QK_EPILOGUE_ROLE_(bit, NAME, field, binding, many, meaning) , QK_ROLE_##NAME
#define QK_RESULT_ROLES_ QK_ROLE_OUTPUT QK_EPILOGUES(QK_EPILOGUE_ROLE_)
enum {
#define QK_EPILOGUE_ONE_(bit, NAME, field, binding, many, meaning) +1
    QK_RESULT_BINDINGS_ = 1 QK_EPILOGUES(QK_EPILOGUE_ONE_)
#undef QK_EPILOGUE_ONE_
};

/* Bits of the push constant `epilogue`, beside those of epilogue.def. */
enum { QK_ADDS_TO_Y_ = 1, QK_SCALES_ROWS_ = 256, QK_SCALES_VECTORS_ = 512 };

static inline uint32_t qk_epilogue_bits_(const qk_epilogue *epilogue) {
    uint32_t bits = 0;
    if (epilogue == NULL)
        return 0;
#define QK_EPILOGUE_BIT_(bit, NAME, field, binding, many, meaning) bits |= epilogue->field != NULL ? (bit) : 0;
    QK_EPILOGUES(QK_EPILOGUE_BIT_)
#undef QK_EPILOGUE_BIT_
    bits |= epilogue->scale == NULL                ? 0
            : epilogue->scale_per == QK_PER_ROW    ? QK_SCALES_ROWS_
            : epilogue->scale_per == QK_PER_VECTOR ? QK_SCALES_VECTORS_
                                                   : 0;
    return bits | (epilogue->adds != 0 ? QK_ADDS_TO_Y_ : 0);
}

/* Of a launch's constants, lets a pipeline have no more of an epilogue than the call asks for. */
static inline void qk_set_epilogue_(const qk_kernel *kernel, uint32_t bits, uint32_t *constants) {
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++)
        if (kernel->spec_constants[i].id == QK_CONSTANT_EPILOGUE)
            constants[i] = bits;
}

/* The results of a call. */
typedef struct qk_results_ {
    uint64_t vectors, experts, rows;
    uint64_t extent; /* of y, in elements */
    uint32_t bytes, alignment;
    const qk_planes_ *parts; /* where they lie in parts; else NULL */
    const qk_range *norm;    /* of x, in the place of scales; NULL: none */
    uint64_t cols;           /* how many f32 that has */
} qk_results_;

static inline qk_results_ qk_results_of_(const qk_gemv_ *g, const qk_limits *limits) {
    qk_results_ r = {
        g->batch * qk_product_count_(&g->planes), 1, g->rows, g->planes.y_extent, qk_y_bytes_(g->planes.y_type), 0, NULL, NULL, g->cols};
    r.parts = g->planes.in_parts ? &g->planes : NULL;
    r.alignment = qk_alignment_(limits, g->planes.views, r.bytes);
    return r;
}

/* Appends what the epilogue reads as `name`; without a range, nothing of y in its place. */
static inline qk_status qk_add_epilogue_(qk_call_ *call, const qk_argument_ *y, const char *name, const qk_range *range,
                                         qk_many many, const qk_results_ *r, qk_error *error) {
    if (range != NULL && range == r->norm)
        return qk_add_(call, "norm", *range, r->cols, 4, error);
    if (range != NULL && many == QK_PER_RESULT)
        return qk_add_(call, name, *range, r->extent, 4, error);
    if (range != NULL)
        return qk_add_(call, name, *range, many == QK_PER_VECTOR ? r->vectors : r->experts,
                       many == QK_PER_ROW ? r->rows * 4 : 4, error);
    qk_argument_ *none = &call->arguments[call->count++];
    *none = *y;
    none->written = 0;
    none->range.offset -= none->range.offset % qk_window_alignment_(&call->backend->limits);
    none->unit = none->need = 0;
    return QK_OK;
}

/* As qk_check_overlap_, of results in parts: another argument may lie between them. */
static inline qk_status qk_check_parts_overlap_(qk_call_ *call, qk_argument_ *y, const qk_results_ *r,
                                                qk_error *error) {
    const qk_planes_ *p = r->parts;
    const qk_argument_ whole = *y;
    const uint64_t first[] = {0, p->part_at[0], p->part_at[1]}, each = qk_extent_(p->batch, p->y, r->rows);
    qk_status status = QK_OK;
    for (int i = 0; status == QK_OK && i < 3 && (i == 0 || first[i] != 0); i++) {
        const uint64_t end = i < 2 && first[i + 1] != 0 ? first[i + 1] : p->counts[0];
        y->range.offset += qk_y_of_(p, first[i]) * r->bytes;
        y->need = qk_extent_(end - first[i], p->y_at[0], each) * r->bytes;
        status = qk_check_overlap_(call, error);
        *y = whole;
    }
    return status;
}

/* Appends y and what the epilogue reads, as the last arguments of a call. */
static inline qk_status qk_add_results_(qk_call_ *call, qk_range y, const qk_results_ *r, const qk_epilogue *epilogue,
                                        qk_error *error) {
    qk_epilogue e;
    qk_argument_ *to = &call->arguments[call->count];
    memset(&e, 0, sizeof e);
    if (epilogue != NULL)
        e = *epilogue;
    if (e.gate != NULL && e.adds != 0)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: epilogue->adds is %" PRIu32
                       ", must be 0 with a gate; a residual of its own is added behind it",
                       call->kernel->name, e.adds);
    if (r->parts != NULL && (qk_epilogue_bits_(epilogue) & ~(uint32_t)QK_ADDS_TO_Y_) != 0)
        return qk_fail(error, QK_ERROR_UNSUPPORTED,
                       "%s: views->parts with an epilogue, must have none, or one with `adds` alone", call->kernel->name);
    if (e.scale != NULL && r->norm != NULL)
        return qk_fail(error, QK_ERROR_UNSUPPORTED, "%s: epilogue->scale with views->epsilon, must be NULL",
                       call->kernel->name);
    if (e.scale != NULL && (uint32_t)e.scale_per > QK_PER_VECTOR)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: epilogue->scale_per is %d, must be QK_PER_TENSOR, QK_PER_ROW or QK_PER_VECTOR",
                       call->kernel->name, (int)e.scale_per);
    uint32_t unit = qk_y_unit_(call->kernel, r->bytes == 4 ? QK_Y_F32 : QK_Y_F16), before = (uint32_t)(y.offset % unit);
    qk_status status =
        unit == r->bytes || r->extent > UINT64_MAX / 4
            ? qk_add_aligned_(call, "y", y, r->extent, r->bytes, r->alignment, error)
            : qk_add_aligned_(call, "y", y, qk_ceil_(r->extent * r->bytes + before, unit) * unit - before, 1,
                              r->alignment, error);
#define QK_EPILOGUE_ADD_(bit, NAME, field, binding, many, meaning)                                                     \
    if (status == QK_OK)                                                                                               \
        status = qk_add_epilogue_(call, to, #field, e.field, (many), r, error);
    if (r->norm != NULL)
        e.scale = r->norm;
    QK_EPILOGUES(QK_EPILOGUE_ADD_)
#undef QK_EPILOGUE_ADD_
    if (status == QK_OK)
        status = r->parts != NULL ? qk_check_parts_overlap_(call, to, r, error) : qk_check_overlap_(call, error);
    /* Something must be bound, which is not read. */
    for (uint32_t i = 0; status == QK_OK && i < call->count; i++)
        if (call->arguments[i].need == 0)
            call->arguments[i].unit = call->arguments[i].need = 4;
    return status;
}

#endif
