/* qkgen/dispatch_packed.h: gemv of several vectors whose x was made integers by a launch before, once for all matrices that are
 * multiplied with it. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_PACKED_H
#define QKGEN_DISPATCH_PACKED_H

#include "dispatch_sums.h"

/* Threads of the launch that makes integers of x: few, for all of the device to have some. */
#define QK_PACK_X_THREADS 64u

/* Whether a launch takes x that was made integers: where teams share it. */
static inline int qk_takes_packed_(const qk_kernel *kernel, const uint32_t *constants) {
    return qk_constant_(kernel, constants, QK_CONSTANT_X_PACKED, 2) < 2 &&
           qk_constant_(kernel, constants, QK_CONSTANT_SCHEDULE, 0) == QK_SCHEDULE_OF_WHOLE_SUMS_;
}

/* Bytes of scratch memory with which qk_dispatch_gemv_packed makes integers of x once; 0: it has no use of any. That is of one product of
 * 2 to 8 vectors, which teams share. It pays where other matrices are multiplied with the same x, or QK_PACK_X_VALUES are there. */
static inline uint64_t qk_gemv_scratch(const qk_backend *backend, const qk_kernel *kernel, uint64_t rows, uint64_t cols,
                                       uint64_t batch, const qk_views *views) {
    qk_tuned_ tuned;
    qk_planes_ p;
    uint32_t constants[QK_MAX_CONSTANTS];
    if (backend->barrier == NULL || rows == 0 || cols == 0 || batch == 0 ||
        qk_constant_(kernel, NULL, QK_CONSTANT_X_PACKED, 2) != 0 ||
        qk_plan_views_(kernel, views, rows, cols, batch, &p, NULL) != QK_OK || qk_product_count_(&p) != 1 ||
        p.epsilon > 0 || p.batch < 2 || p.batch > QK_GEMV_MAX_BATCH ||
        qk_tune_(&tuned, &backend, &kernel, rows, cols, p.batch, NULL) != QK_OK)
        return 0;
    qk_gemv_constants_(kernel, &backend->limits, p.batch, rows, cols, constants);
    return !qk_takes_packed_(kernel, constants)
               ? 0
               : qk_product_(qk_ceil_(cols, kernel->teams_kept),
                             UINT64_C(16) * kernel->teams_tile * qk_constant_(kernel, constants, QK_CONSTANT_BATCH, 8));
}

/* A backend that launches what makes integers of x first, into scratch, unless they are there. */
typedef struct qk_packs_ {
    const qk_backend *outer;
    qk_range scratch;
    int packed;
} qk_packs_;

/* The launch with another X_PACKED, and a range in the place of that of `role`. Turns are those of the device, whatever was measured for
 * one matrix or the next: in turns, each step of x is by itself, where else a tile may have one. */
static inline qk_launch qk_packed_launch_(const qk_limits *limits, const qk_launch *launch, uint32_t value,
                                          qk_role role, qk_range range, uint32_t *constants, qk_range *ranges) {
    const qk_kernel *kernel = launch->kernel;
    qk_launch other = *launch;
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++)
        constants[i] = launch->constants[i];
    for (uint32_t i = 0; i < kernel->binding_count && i < QK_MAX_BINDINGS; i++)
        ranges[i] = kernel->bindings[i].role == role ? range : launch->ranges[i];
    qk_set_constant_(kernel, QK_CONSTANT_X_PACKED, value, constants);
    qk_set_constant_(kernel, QK_CONSTANT_TURNS, qk_has_large_subgroups_(limits) ? QK_LARGE_SUBGROUP_TURNS : 1,
                     constants);
    other.constants = constants;
    other.ranges = ranges;
    return other;
}

static inline qk_status qk_launch_packs_(void *context, const qk_launch *launch, qk_error *error) {
    qk_packs_ *p = (qk_packs_ *)context;
    const qk_backend *outer = p->outer;
    const qk_kernel *kernel = launch->kernel;
    uint32_t constants[QK_MAX_CONSTANTS];
    qk_range ranges[QK_MAX_BINDINGS];
    qk_status status = QK_OK;
    if (!qk_takes_packed_(kernel, launch->constants))
        return outer->launch(outer->context, launch, error);
    if (!p->packed) {
        qk_launch first = qk_packed_launch_(&outer->limits, launch, 2, QK_ROLE_OUTPUT, p->scratch, constants, ranges);
        const uint64_t tiles = p->scratch.size / (UINT64_C(16) * kernel->teams_tile);
        qk_set_constant_(kernel, QK_CONSTANT_LOCAL_SIZE_X, QK_PACK_X_THREADS, constants);
        first.workgroups = (uint32_t)qk_min_(qk_ceil_(tiles, QK_PACK_X_THREADS), launch->workgroups);
        status = outer->launch(outer->context, &first, error);
        if (status == QK_OK)
            status = outer->barrier(outer->context, error);
        p->packed = 1;
    }
    const qk_launch then =
        qk_packed_launch_(&outer->limits, launch, 1, QK_ROLE_INPUT, p->scratch, constants, ranges);
    return status == QK_OK ? outer->launch(outer->context, &then, error) : status;
}

/* As qk_dispatch_gemv_views, with the same bits, unless a tuning has other turns than the device; but
 *
 * scratch     qk_gemv_scratch bytes or more, which the call writes and reads
 * packed      1: they hold what a call before made of the same x, with this kernel and as many vectors
 * views       of one product
 * backend     has a `barrier` */
static inline qk_status qk_dispatch_gemv_packed(const qk_backend *backend, const qk_kernel *kernel,
                                                const qk_range *weights, qk_range x, qk_range scratch, int packed,
                                                qk_range y, uint64_t rows, uint64_t cols, uint64_t batch,
                                                const qk_views *views, const qk_epilogue *epilogue, qk_error *error) {
    qk_packs_ context = {backend, scratch, packed};
    const uint64_t bytes =
        backend != NULL && kernel != NULL ? qk_gemv_scratch(backend, kernel, rows, cols, batch, views) : 0;
    if (bytes == 0)
        return qk_dispatch_gemv_views(backend, kernel, weights, x, y, rows, cols, batch, views, epilogue, error);
    if (scratch.size < bytes)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: scratch has %" PRIu64 " bytes, must have at least %" PRIu64,
                       kernel->name, scratch.size, bytes);
    context.scratch.size = bytes;
    qk_backend packs = *backend;
    packs.context = &context;
    packs.launch = qk_launch_packs_;
    return qk_dispatch_gemv_views(&packs, kernel, weights, x, y, rows, cols, batch, views, epilogue, error);
}

#endif
