/* qkgen/dispatch_expert_views.h: where x, y, ids and weights of a call with experts lie, and what is asked of that. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_EXPERT_VIEWS_H
#define QKGEN_DISPATCH_EXPERT_VIEWS_H

#include "dispatch_views.h"

/* Views where experts are chosen by number: of tokens, and of a token's slots.
 *
 * There may be several sets of experts, such as "gate" and "up" of a feed-forward network, that are multiplied with the same x by the same
 * ids: results of a set are followed by those of the next. Their experts may lie between one another. Two of them may be gated. */
typedef struct qk_expert_views {
    uint64_t x_stride;       /* from a token's vectors to those of the next; 0: x_slots times x_slot_stride */
    uint64_t x_slot_stride;  /* from a slot's vector to the next; 0: cols */
    uint64_t y_stride;       /* 0: slots times y_slot_stride */
    uint64_t y_slot_stride;  /* 0: rows */
    uint64_t ids_stride;     /* from a token's ids to the next; 0: slots */
    uint64_t weights_stride; /* rows, from an expert to the next; 0: rows */
    qk_y_type y_type;
    uint64_t sets;               /* 0: 1 */
    uint64_t weights_set_stride; /* rows, from the experts of a set to those of the next; 0: experts times weights_stride */
    uint64_t y_set_stride;       /* from the results of a set to those of the next; 0: tokens times y_stride */
    uint32_t gated;              /* of two sets, as of products */
    /* Not 0: y has one result for each token: the sum of those of its slots, each times its scale; y_slot_stride is not read. For one set,
     * kernels whose constant VIEWS may be 3, experts that fit into a binding together, and an epilogue without bias, gate, and scales of
     * rows; what `adds` or a residual adds comes behind the sum. */
    uint32_t adds_slots;
} qk_expert_views;

/* The plan of a call with experts. */
typedef struct qk_expert_planes_ {
    int on, views;
    qk_y_type y_type;
    uint64_t sets;  /* each has the same pairs of a token and a slot */
    uint32_t gated; /* `sets` is 1, and y_set is the number of the gate */
    int adds_slots; /* y_slot is 0 */
    uint64_t x, x_slot, y, y_slot, y_set, ids, weights, weights_set;
    uint64_t x_extent, y_extent, ids_extent, weights_extent; /* elements, and rows */
} qk_expert_planes_;

/* Sets that a launch takes. */
typedef struct qk_sets_ {
    uint64_t first, count;
    uint64_t weights_first; /* rows that are bound before them */
} qk_sets_;

/* Sets of weights for each of `sets`. */
static inline uint64_t qk_weights_sets_(const qk_expert_planes_ *p, uint64_t sets) {
    return p->gated != 0 ? 2 : sets;
}

/* What is asked of sets; there are several. */
static inline qk_status qk_check_sets_(const qk_kernel *kernel, const qk_expert_planes_ *p, uint64_t rows,
                                       uint64_t pairs, qk_error *error) {
    if (p->sets > UINT32_MAX / 2 / rows / pairs)
        return qk_fail(error, QK_ERROR_LIMIT,
                       "%s: views->sets is %" PRIu64 ", must be at most %" PRIu64
                       ", so that there are less than 2^31 results",
                       kernel->name, p->sets, UINT32_MAX / 2 / rows / pairs);
    if (p->weights_set < rows)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: views->weights_set_stride is %" PRIu64 ", must be at least %" PRIu64
                       ", the rows of an expert",
                       kernel->name, p->weights_set, rows);
    if (kernel->view != QK_VIEW_BLOCKS && p->weights_set % rows != 0)
        return qk_fail(error, QK_ERROR_UNSUPPORTED,
                       "%s: views->weights_set_stride is %" PRIu64 ", must be a multiple of %" PRIu64
                       ", the rows of an expert, where blocks are patches of a matrix",
                       kernel->name, p->weights_set, rows);
    return QK_OK;
}

/* Makes one set of two that are gated. */
static inline qk_status qk_gate_sets_(const qk_kernel *kernel, qk_expert_planes_ *p, qk_error *error) {
    qk_status status = qk_check_gated_(kernel, p->gated, error);
    if (status == QK_OK && p->sets != 2)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: views->sets is %" PRIu64 ", must be 2 where they are gated",
                       kernel->name, p->sets);
    p->sets = 1;
    p->y_set = p->gated - 1;
    return status;
}

/* Lets a token have one result, of all its slots. */
static inline qk_status qk_add_slots_(const qk_kernel *kernel, const qk_expert_views *v, uint64_t rows,
                                      qk_expert_planes_ *p, qk_error *error) {
    p->adds_slots = 1;
    p->y_slot = 0;
    p->y = v->y_stride != 0 ? v->y_stride : rows;
    if (p->sets != 1 || p->gated != 0)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: views->adds_slots is %" PRIu32 ", must be 0 where there are several sets of experts",
                       kernel->name, v->adds_slots);
    if (qk_kinds_of_views_(kernel) > 3)
        return QK_OK;
    return qk_fail(error, QK_ERROR_UNSUPPORTED,
                   "%s: views->adds_slots is %" PRIu32 ", must be 0: the kernel has a result for each slot", kernel->name,
                   v->adds_slots);
}

/* Of a shape that was checked. */
static inline qk_status qk_plan_experts_(const qk_kernel *kernel, const qk_expert_views *views, uint64_t experts,
                                         uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots,
                                         uint64_t x_slots, qk_expert_planes_ *p, qk_error *error) {
    static const qk_expert_views none = {0, 0, 0, 0, 0, 0, QK_Y_F32, 0, 0, 0, 0, 0};
    const qk_expert_views *v = views != NULL ? views : &none;
    qk_status status = qk_check_y_type_(kernel, v->y_type, error);
    int uneven = 0;
    memset(p, 0, sizeof *p);
    p->views = views != NULL;
    p->y_type = v->y_type;
    p->x_slot = v->x_slot_stride != 0 ? v->x_slot_stride : cols;
    p->x = v->x_stride != 0 ? v->x_stride : qk_product_(x_slots, p->x_slot);
    p->y_slot = v->y_slot_stride != 0 ? v->y_slot_stride : rows;
    p->y = v->y_stride != 0 ? v->y_stride : qk_product_(slots, p->y_slot);
    p->ids = v->ids_stride != 0 ? v->ids_stride : slots;
    p->weights = v->weights_stride != 0 ? v->weights_stride : rows;
    p->sets = v->sets != 0 ? v->sets : 1;
    p->gated = v->gated;
    if (status == QK_OK && v->adds_slots != 0)
        status = qk_add_slots_(kernel, v, rows, p, error);
    p->y_set = qk_stride_of_(p->gated != 0 ? 1 : p->sets, v->y_set_stride, qk_product_(tokens, p->y));
    p->weights_set = qk_stride_of_(p->sets, v->weights_set_stride, qk_product_(experts, p->weights));
    p->x_extent = qk_extent_(tokens, p->x, qk_extent_(x_slots, p->x_slot, cols));
    p->y_extent = qk_extent_(p->sets, p->y_set, qk_extent_(tokens, p->y, qk_extent_(slots, p->y_slot, rows)));
    p->ids_extent = qk_extent_(tokens, p->ids, slots);
    p->weights_extent = qk_extent_(p->sets, p->weights_set, qk_extent_(experts, p->weights, rows));
    const qk_dimension_ results[] = {{"y_stride", tokens, p->y},
                                     {"y_slot_stride", p->adds_slots ? 1 : slots, p->y_slot},
                                     {"y_set_stride", p->gated != 0 ? 1 : p->sets, p->y_set}};
    if (status == QK_OK)
        status = qk_check_y_(kernel, results, 3, rows, error);
    if (status == QK_OK && p->weights < rows)
        status =
            qk_fail(error, QK_ERROR_ARGUMENT,
                    "%s: views->weights_stride is %" PRIu64 ", must be at least %" PRIu64 ", the rows of an expert",
                    kernel->name, p->weights, rows);
    if (status == QK_OK && p->weights != rows && kernel->view != QK_VIEW_BLOCKS)
        status = qk_fail(error, QK_ERROR_UNSUPPORTED,
                         "%s: views->weights_stride is %" PRIu64 ", must be %" PRIu64
                         ", the rows of an expert, where blocks are patches of a matrix",
                         kernel->name, p->weights, rows);
    if (status == QK_OK && p->sets > 1)
        status = qk_check_sets_(kernel, p, rows, tokens * slots, error);
    if (status == QK_OK && p->gated != 0)
        status = qk_gate_sets_(kernel, p, error);
    p->on = p->sets > 1 || p->gated != 0 || p->adds_slots || p->x_slot != cols || p->x != qk_product_(x_slots, cols) ||
            p->y_slot != rows || p->y != qk_product_(slots, rows) || p->ids != slots || p->weights != rows;
    if (status == QK_OK && p->on && x_slots > 1)
        status = qk_check_x_stride_(kernel, "x_slot_stride", p->x_slot, &uneven, error);
    if (status == QK_OK && p->on && tokens > 1)
        status = qk_check_x_stride_(kernel, "x_stride", p->x, &uneven, error);
    return status;
}

/* Appends the experts of all sets, whose unit is one of them with what lies up to the next. */
static inline qk_status qk_add_experts_(qk_call_ *call, const qk_range *weights, uint32_t count, uint64_t experts,
                                        uint64_t rows, uint64_t cols, const qk_expert_planes_ *p, qk_error *error) {
    uint64_t row = cols / call->kernel->block_elements, blocks;
    if (!qk_multiply_(p->weights, row, &blocks))
        return qk_fail(error, QK_ERROR_LIMIT, "%s: rows times cols must be below 2^64", call->kernel->name);
    if (p->weights == rows && qk_weights_sets_(p, p->sets) == 1)
        return qk_add_weights_(call, weights, count, experts, blocks, error);
    qk_status status = qk_add_weights_(call, weights, count, p->weights_extent, row, error);
    for (uint32_t i = 0; status == QK_OK && i < count; i++)
        if (!qk_multiply_(call->arguments[i].unit, p->weights, &call->arguments[i].unit))
            return qk_fail(error, QK_ERROR_LIMIT, "%s: weights_stride times cols must be below 2^64",
                           call->kernel->name);
    return status;
}

/* Ranges of x, ids and y, at those numbers, of a call with views; and what the kernel needs to know. */
static inline void qk_bind_experts_(const qk_call_ *call, const qk_expert_planes_ *p, uint32_t x, uint32_t ids,
                                    uint32_t y, const qk_sets_ *sets, qk_range *ranges, uint32_t *push) {
    const qk_limits *limits = &call->backend->limits;
    uint64_t x_first = 0, ids_skip = 0, y_skip = 0;
    if (p->on) {
        uint32_t bytes = qk_type_bytes(call->kernel->bindings[x].element);
        ranges[x] = qk_window_(limits, call->arguments[x].range, 0, p->x_extent, bytes, bytes, &x_first);
        ranges[ids] = qk_window_(limits, call->arguments[ids].range, 0, p->ids_extent, 4, 4, &ids_skip);
        ranges[y] = qk_window_(limits, call->arguments[y].range, 0, p->y_extent, qk_y_bytes_(p->y_type),
                               qk_y_unit_(call->kernel, p->y_type), &y_skip);
    }
    const uint64_t words[QK_EXPERT_VIEWS_PUSH_] = {
        p->weights, x_first,     p->x_slot,   p->x,                y_skip,         p->y_slot, p->y, ids_skip,
        p->ids,     sets->count, sets->first, sets->weights_first, p->weights_set, p->y_set};
    for (uint32_t i = 0; i < QK_EXPERT_VIEWS_PUSH_; i++)
        push[i] = p->on ? (uint32_t)words[i] : 0;
}

/* The part of argument `i` that has the experts from `first` to `first` + `count`, of one set. */
static inline qk_range qk_part_of_experts_(const qk_argument_ *a, uint64_t first, uint64_t count) {
    qk_range range = {a->range.buffer, a->range.offset + first * a->unit,
                      qk_min_(count * a->unit, a->need - first * a->unit)};
    return range;
}

#endif
