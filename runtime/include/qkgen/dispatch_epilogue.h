/* qkgen/dispatch_epilogue.h: what a sum passes through on its way to y. All families that sum have it: one list of bindings behind what
 * they read, and one word of push constants. In kernels it is finish.glsl and finish.metal. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_EPILOGUE_H
#define QKGEN_DISPATCH_EPILOGUE_H

#include "dispatch_check.h"

/* All zeros: results are stored as they are. */
typedef struct qk_epilogue {
    uint32_t adds; /* 1: they are added to what y holds, such as a residual; 0: they take its place */
} qk_epilogue;

/* The last bindings of a family that sums. */
#define QK_RESULT_ROLES_ QK_ROLE_OUTPUT
enum { QK_RESULT_BINDINGS_ = 1 };

/* Bits of the push constant `epilogue`. */
enum { QK_ADDS_TO_Y_ = 1 };

static inline uint32_t qk_epilogue_bits_(const qk_epilogue *epilogue) {
    return epilogue != NULL && epilogue->adds != 0 ? QK_ADDS_TO_Y_ : 0;
}

/* Appends y, `vectors` times `rows` f32, and what the epilogue reads, as the last arguments of a call. */
static inline qk_status qk_add_results_(qk_call_ *call, qk_range y, uint64_t vectors, uint64_t rows,
                                        const qk_epilogue *epilogue, qk_error *error) {
    (void)epilogue;
    qk_status status = qk_add_(call, "y", y, vectors, rows * 4, error);
    return status == QK_OK ? qk_check_overlap_(call, error) : status;
}

#endif
