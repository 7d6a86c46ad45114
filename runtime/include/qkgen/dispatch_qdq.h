/* qkgen/dispatch_qdq.h: checked dispatch of the kernels with trainable scales and biases. Header only, as
 * qkgen/dispatch.h, whose rules hold here, too: all arguments are checked before the first launch, and a call is cut into
 * launches that the device and 32-bit indices can do. One unit of the cut is a group.
 *
 * An array is `groups` groups of `group` elements, one after the other: `group` is a multiple of 4 from 4 to 4096. Arrays
 * of elements are read and written 16 bytes of f32 and 4 codes at a time, so their offsets are multiples of 16 and of 4,
 * or of limits.offset_alignment, when that is larger.
 *
 * For an engine that launches the kernels itself, the push constants are
 *
 *   groups     in this launch
 *   quads      group / 4, the quads of a group
 *   lanes      threads that share a group: qk_qdq_lanes
 *   bins       number of codes
 *   all_quads  groups * quads (forward)
 *
 * with any number of workgroups: threads loop. quads times groups, plus four times the threads, is below 2^32. On Vulkan, a
 * workgroup of qdq_init has 8 bytes of shared memory for each thread, and 16 more, or 4 KiB when that is more: 6 KiB at the
 * 256 threads of its descriptor, more than the 16 KiB that every device has from 1024 on. */
#ifndef QKGEN_DISPATCH_QDQ_H
#define QKGEN_DISPATCH_QDQ_H

#include <string.h>

#include "dispatch.h"

#define QK_QDQ_MAX_GROUP 4096u
#define QK_QDQ_MAX_BINS 256u

/* How many threads of a workgroup share a group: a power of two that divides `workgroup_size`; each takes at most four
 * quads of the group, or 1024 / workgroup_size when that is more. */
static inline uint32_t qk_qdq_lanes(uint32_t workgroup_size, uint32_t group) {
    uint32_t quads = group / 4, lanes = quads < 2 ? 1 : 2;
    while (lanes < workgroup_size && lanes * 4 < quads)
        lanes *= 2;
    return lanes;
}

/* ---- What follows serves the dispatch functions at the end. ------------------------------------------------------ */

typedef struct qk_qdq_ {
    uint64_t groups;
    uint32_t group, bins;
    uint32_t count;
    const char *names[4];
    qk_range ranges[4];
    uint8_t per_group[4]; /* one number for each group, else one for each element */
    uint8_t written[4];
} qk_qdq_;

static inline void qk_qdq_bind_(qk_qdq_ *c, const char *name, qk_range range, uint8_t per_group, uint8_t written) {
    c->names[c->count] = name;
    c->ranges[c->count] = range;
    c->per_group[c->count] = per_group;
    c->written[c->count++] = written;
}

static inline qk_qdq_ qk_qdq_new_(uint64_t groups, uint32_t group, uint32_t bins) {
    qk_qdq_ c;
    memset(&c, 0, sizeof c);
    c.groups = groups;
    c.group = group;
    c.bins = bins;
    return c;
}

static inline qk_status qk_qdq_check_kernel_(const qk_backend *backend, const qk_kernel *kernel, const qk_qdq_ *c,
                                             uint32_t push_bytes, qk_error *error) {
    uint32_t size;
    qk_status status = qk_check_presence_(backend, kernel, error);
    if (status != QK_OK)
        return status;
    if (kernel->bindings == NULL || kernel->binding_count != c->count)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: kernel->binding_count is %" PRIu32 ", must be %" PRIu32,
                       kernel->name, kernel->bindings == NULL ? 0 : kernel->binding_count, c->count);
    for (uint32_t i = 0; i < c->count; i++) {
        qk_role role = c->written[i] ? QK_ROLE_OUTPUT : QK_ROLE_INPUT;
        if (kernel->bindings[i].role != role)
            return qk_fail(error, QK_ERROR_ARGUMENT,
                           "%s: kernel->bindings[%" PRIu32 "].role is %d, must be %d, as this family has it",
                           kernel->name, i, (int)kernel->bindings[i].role, (int)role);
    }
    if (kernel->push_bytes != push_bytes)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: kernel->push_bytes is %" PRIu32 ", must be %" PRIu32 ", as this family has it",
                       kernel->name, kernel->push_bytes, push_bytes);
    size = kernel->workgroup_size;
    if (size < 32 || size > 1024 || (size & (size - 1)) != 0)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: kernel->workgroup_size is %" PRIu32 ", must be a power of two from 32 to 1024",
                       kernel->name, size);
    return qk_check_device_(backend, kernel, error);
}

/* Appends an argument as qk_add_ does; elements are read four at a time. */
static inline qk_status qk_qdq_add_(qk_call_ *call, const qk_qdq_ *c, uint32_t i, qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    qk_argument_ *a = &call->arguments[i];
    uint64_t bytes = qk_type_bytes(kernel->bindings[i].element);
    uint32_t quad = (uint32_t)(c->per_group[i] ? bytes : 4 * bytes);
    qk_status status =
        qk_add_(call, c->names[i], c->ranges[i], c->groups, c->per_group[i] ? bytes : bytes * c->group, error);
    if (status != QK_OK || a->alignment >= quad)
        return status;
    a->alignment = quad;
    if (a->range.offset % quad == 0)
        return QK_OK;
    return qk_fail(error, QK_ERROR_ALIGNMENT, "%s: %s.offset is %" PRIu64 ", must be a multiple of %" PRIu32,
                   kernel->name, a->name, a->range.offset, quad);
}

static inline qk_status qk_qdq_launch_(const qk_call_ *call, const qk_qdq_ *c, uint64_t first, uint64_t groups,
                                       qk_error *error) {
    qk_range ranges[4];
    uint32_t push[4], quads = c->group / 4, size = call->kernel->workgroup_size;
    int forward = call->kernel->push_bytes == 8;
    qk_launch launch;
    for (uint32_t i = 0; i < call->count; i++)
        ranges[i] = qk_part_(&call->arguments[i], first, groups);
    push[0] = (uint32_t)(forward ? groups * quads : groups);
    push[1] = quads;
    push[2] = qk_qdq_lanes(size, c->group);
    push[3] = c->bins;
    uint64_t at_once = forward ? UINT64_C(4) * size : size / push[2];
    launch.kernel = call->kernel;
    launch.ranges = ranges;
    launch.push = push;
    launch.constants = NULL;
    launch.workgroups = (uint32_t)qk_min_(qk_ceil_(push[0], at_once), qk_max_workgroups_(call));
    return call->backend->launch(call->backend->context, &launch, error);
}

static inline qk_status qk_qdq_run_(const qk_backend *backend, const qk_kernel *kernel, const qk_qdq_ *c,
                                    uint32_t push_bytes, qk_error *error) {
    uint64_t chunk = 0, done, n;
    qk_status status = qk_qdq_check_kernel_(backend, kernel, c, push_bytes, error);
    if (status != QK_OK)
        return status;
    if (c->group == 0 || c->group % 4 != 0 || c->group > QK_QDQ_MAX_GROUP)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: group is %" PRIu32 ", must be a multiple of 4 from 4 to %u",
                       kernel->name, c->group, QK_QDQ_MAX_GROUP);
    if (c->bins < 2 || c->bins > QK_QDQ_MAX_BINS)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: bins is %" PRIu32 ", must be from 2 to %u", kernel->name, c->bins,
                       QK_QDQ_MAX_BINS);
    if (c->groups == 0)
        return QK_OK;
    qk_call_ call = qk_call_new_(backend, kernel);
    for (uint32_t i = 0; status == QK_OK && i < c->count; i++)
        status = qk_qdq_add_(&call, c, i, error);
    if (status == QK_OK)
        status = qk_check_overlap_(&call, error);
    if (status == QK_OK)
        status = qk_chunk_(&call, 0, call.count, c->groups, UINT32_MAX / c->group, "group", &chunk, error);
    for (done = 0; status == QK_OK && done < c->groups; done += n) {
        n = qk_min_(chunk, c->groups - done);
        status = qk_qdq_launch_(&call, c, done, n, error);
    }
    return status;
}

/* ---- The dispatch functions. ------------------------------------------------------------------------------------- */

/* Of each group of w: scales[g] = (max - min) / (bins - 1), or 1 where that is not above 0; biases[g] = min; and q[i] =
 * (w[i] - bias) / scale, rounded to the nearest integer, halves up, and clamped to 0 .. bins - 1.
 *
 * w               groups * group f32
 * scales, biases  `groups` f32 each, written
 * q               groups * group codes of a byte, written
 * groups          0 launches nothing, and no range is looked at
 * bins            from 2 to 256
 *
 * Ranges may be larger than needed; the rest is not touched. Returns QK_OK, or with `error` (may be NULL) filled in:
 * QK_ERROR_ARGUMENT, _SIZE, _ALIGNMENT, _LIMIT or _UNSUPPORTED, before anything was launched; or what `launch`
 * returned. */
static inline qk_status qk_dispatch_qdq_init(const qk_backend *backend, const qk_kernel *kernel, qk_range w,
                                             qk_range scales, qk_range biases, qk_range q, uint64_t groups,
                                             uint32_t group, uint32_t bins, qk_error *error) {
    qk_qdq_ c = qk_qdq_new_(groups, group, bins);
    qk_qdq_bind_(&c, "w", w, 0, 0);
    qk_qdq_bind_(&c, "scales", scales, 1, 1);
    qk_qdq_bind_(&c, "biases", biases, 1, 1);
    qk_qdq_bind_(&c, "q", q, 0, 1);
    return qk_qdq_run_(backend, kernel, &c, 16, error);
}

/* y[i] = q[i] * scales[g] + biases[g], rounded after the product and after the sum. Arguments and results as above; y is
 * groups * group f32, written. */
static inline qk_status qk_dispatch_qdq_forward(const qk_backend *backend, const qk_kernel *kernel, qk_range q,
                                                qk_range scales, qk_range biases, qk_range y, uint64_t groups,
                                                uint32_t group, qk_error *error) {
    qk_qdq_ c = qk_qdq_new_(groups, group, 2);
    qk_qdq_bind_(&c, "q", q, 0, 0);
    qk_qdq_bind_(&c, "scales", scales, 1, 0);
    qk_qdq_bind_(&c, "biases", biases, 1, 0);
    qk_qdq_bind_(&c, "y", y, 0, 1);
    return qk_qdq_run_(backend, kernel, &c, 8, error);
}

/* d_scales[g] = the sum of q[i] * dy[i] over group g. dy is groups * group f32, d_scales `groups` f32, written. */
static inline qk_status qk_dispatch_qdq_backward_scales(const qk_backend *backend, const qk_kernel *kernel, qk_range q,
                                                        qk_range dy, qk_range d_scales, uint64_t groups, uint32_t group,
                                                        qk_error *error) {
    qk_qdq_ c = qk_qdq_new_(groups, group, 2);
    qk_qdq_bind_(&c, "q", q, 0, 0);
    qk_qdq_bind_(&c, "dy", dy, 0, 0);
    qk_qdq_bind_(&c, "d_scales", d_scales, 1, 1);
    return qk_qdq_run_(backend, kernel, &c, 12, error);
}

/* d_biases[g] = the sum of dy[i] over group g. */
static inline qk_status qk_dispatch_qdq_backward_biases(const qk_backend *backend, const qk_kernel *kernel, qk_range dy,
                                                        qk_range d_biases, uint64_t groups, uint32_t group,
                                                        qk_error *error) {
    qk_qdq_ c = qk_qdq_new_(groups, group, 2);
    qk_qdq_bind_(&c, "dy", dy, 0, 0);
    qk_qdq_bind_(&c, "d_biases", d_biases, 1, 1);
    return qk_qdq_run_(backend, kernel, &c, 12, error);
}

#endif
