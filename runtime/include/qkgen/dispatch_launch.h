/* qkgen/dispatch_launch.h: what all dispatch functions share: a call is cut into chunks that bindings and indices of 32 bits
 * can take, and a chunk is launched. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_LAUNCH_H
#define QKGEN_DISPATCH_LAUNCH_H

#include "dispatch_choose.h"
#include "dispatch_epilogue.h"
#include "dispatch_tune.h"

/* How many of `total` units one launch takes, for the arguments [first, first + count): at most `most`, within the
 * range of a binding, and, when there is more than one launch, a multiple that keeps every offset aligned. */
static inline qk_status qk_chunk_(const qk_call_ *call, uint32_t first, uint32_t count, uint64_t total, uint64_t most,
                                  const char *unit_name, uint64_t *chunk, qk_error *error) {
    const qk_argument_ *widest = &call->arguments[first];
    uint64_t limit = qk_min_(call->backend->limits.storage_range, UINT32_MAX), step = 1, units = most;
    for (uint32_t i = first; i < first + count; i++) {
        const qk_argument_ *a = &call->arguments[i];
        uint64_t power = a->unit & (~a->unit + 1); /* the largest power of two that divides it */
        units = qk_min_(units, limit / a->unit);
        if (power < a->alignment && a->alignment / power > step)
            step = a->alignment / power;
        if (a->unit > widest->unit)
            widest = a;
    }
    *chunk = total;
    if (total <= units)
        return QK_OK;
    *chunk = units - units % step;
    if (*chunk > 0)
        return QK_OK;
    if (widest->unit > limit)
        return qk_fail(error, QK_ERROR_LIMIT,
                       "%s: %s takes %" PRIu64 " bytes for one %s, must be at most %" PRIu64
                       ", the device's storage range",
                       call->kernel->name, widest->name, widest->unit, unit_name, limit);
    return qk_fail(error, QK_ERROR_LIMIT,
                   "%s: %s takes %" PRIu64 " bytes for one %s, must be at most %" PRIu64 ", so that %" PRIu64
                   " fit, which offset alignment asks",
                   call->kernel->name, widest->name, widest->unit, unit_name,
                   qk_min_(limit, widest->unit * units) / step, step);
}

/* The part of an argument that holds units [first, first + count). */
static inline qk_range qk_part_(const qk_argument_ *argument, uint64_t first, uint64_t count) {
    qk_range range;
    range.buffer = argument->range.buffer;
    range.offset = argument->range.offset + first * argument->unit;
    range.size = count * argument->unit;
    return range;
}

/* Lets the ranges of a launch's weights go on for QK_PADDING bytes, so that loads of 16 bytes may go beyond the last block, and says
 * so in the constants. Where the caller's ranges or a binding have no room for that, both stay. */
static inline void qk_pad_(const qk_call_ *call, uint32_t weights, qk_range *ranges, uint32_t *constants) {
    const qk_kernel *kernel = call->kernel;
    for (uint32_t i = 0; i < weights; i++) {
        const qk_range *all = &call->arguments[i].range;
        if (all->offset + all->size - (ranges[i].offset + ranges[i].size) < QK_PADDING ||
            ranges[i].size + QK_PADDING > call->backend->limits.storage_range)
            return;
    }
    for (uint32_t c = 0; c < kernel->spec_constant_count && c < QK_MAX_CONSTANTS; c++) {
        if (kernel->spec_constants[c].id != QK_CONSTANT_PADDED)
            continue;
        constants[c] = 1;
        for (uint32_t i = 0; i < weights; i++)
            ranges[i].size += QK_PADDING;
    }
}

/* Values of a tile, of all its rows. */
static inline uint64_t qk_tile_values_(const qk_kernel *kernel) {
    return (uint64_t)kernel->tile_elements * (kernel->tile_rows > 1 ? kernel->tile_rows : 1);
}

/* Threads go on to further tiles, `each` of them where the device is busy all the same. */
static inline qk_status qk_launch_(const qk_call_ *call, const qk_range *ranges, const uint32_t *push, uint64_t tiles,
                                   uint32_t each, qk_error *error) {
    uint64_t size = call->kernel->workgroup_size, groups = (tiles + size - 1) / size;
    uint64_t busy =
        call->backend->limits.busy_workgroups != 0 ? call->backend->limits.busy_workgroups : QK_BUSY_WORKGROUPS;
    qk_launch launch;
    launch.kernel = call->kernel;
    launch.ranges = ranges;
    launch.push = push;
    if (groups > 4 * busy)
        groups = groups / each > 4 * busy ? groups / each : 4 * busy;
    const uint64_t of_one_thread =
        qk_least_workgroups_(&call->backend->limits, tiles, qk_tile_values_(call->kernel), 1);
    groups = qk_max_(groups, qk_ceil_(of_one_thread, size));
    launch.workgroups = (uint32_t)qk_min_(groups, qk_max_workgroups_(call));
    launch.constants = NULL;
    return call->backend->launch(call->backend->context, &launch, error);
}

#endif
