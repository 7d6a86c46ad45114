/* qkgen/dispatch_epilogue.h: what a sum passes through on its way to y. All families that sum have it: one list of bindings behind what
 * they read, and one word of push constants. In kernels it is finish.glsl and finish.metal. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_EPILOGUE_H
#define QKGEN_DISPATCH_EPILOGUE_H

#include "dispatch_check.h"

/* All zeros: results are stored as they are. */
typedef struct qk_epilogue {
    uint32_t adds; /* 1: they are added to what y holds, such as a residual; 0: they take its place */
    const qk_range
        *bias; /* f32, for each row (with experts: of each expert, one after the other) what is added to its results;
                             NULL: none */
} qk_epilogue;

/* The last bindings of a family that sums. */
#define QK_RESULT_ROLES_ QK_ROLE_OUTPUT, QK_ROLE_BIAS
enum { QK_RESULT_BINDINGS_ = 2 };

/* Bits of the push constant `epilogue`. */
enum { QK_ADDS_TO_Y_ = 1, QK_ADDS_BIAS_ = 2 };

static inline uint32_t qk_epilogue_bits_(const qk_epilogue *epilogue) {
    if (epilogue == NULL)
        return 0;
    return (epilogue->adds != 0 ? QK_ADDS_TO_Y_ : 0) | (epilogue->bias != NULL ? QK_ADDS_BIAS_ : 0);
}

/* Appends y, `vectors` times `rows` f32, and what the epilogue reads, as the last arguments of a call. */
static inline qk_status qk_add_results_(qk_call_ *call, qk_range y, uint64_t vectors, uint64_t experts, uint64_t rows,
                                        const qk_epilogue *epilogue, qk_error *error) {
    const qk_range *bias = epilogue != NULL ? epilogue->bias : NULL;
    qk_status status = qk_add_(call, "y", y, vectors, rows * 4, error);
    if (status == QK_OK && bias != NULL)
        status = qk_add_(call, "bias", *bias, experts, rows * 4, error);
    if (status == QK_OK)
        status = qk_check_overlap_(call, error);
    if (status != QK_OK || bias != NULL)
        return status;
    /* Something must be bound, which is not read. */
    qk_argument_ *none = &call->arguments[call->count++];
    *none = none[-1];
    none->written = 0;
    none->unit = none->need = 4;
    return QK_OK;
}

#endif
