/* qkgen/dispatch_rows.h: gather and set_rows where values, indices and the table are views of larger tensors. Part of
 * qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_ROWS_H
#define QKGEN_DISPATCH_ROWS_H

#include "dispatch_decode.h"

/* How they lie. Tokens come in batches, which count in two dimensions: an inner one and an outer one. The second and
 * third number of each three are from one inner batch, and one outer batch, to the next.
 *
 * tokens      of a batch, at least 1
 * batches     inner batches of an outer one, at least 1
 * value_step  elements from one token's values to the next; multiples of the format's block
 * index_bytes of an index, 4 or 8, little-endian; 0: there are no indices, and token t of a batch is of row t
 * index_step  indices
 * index_batches  inner and outer batches that have indices of their own; further ones have the same again. At least 1
 * row_step    rows of the table: index i is of row i * row_step[0] and so on. Tables of batches may lie in one another
 *             where caches are interleaved; of two tokens that set the same row, blocks of both may stay
 *
 * With a view, an argument may begin where the device cannot bind it: indices at any word, values whole tiles of the
 * kernel behind a place that it can bind, the table whole blocks behind one. Then memory of the same buffer is bound,
 * and left alone, that lies before. */
typedef struct qk_rows_view {
    uint64_t tokens, batches;
    uint64_t value_step[3];
    uint32_t index_bytes;
    uint64_t index_step[3];
    uint64_t index_batches[2];
    uint64_t row_step[3];
} qk_rows_view;

/* Of a call with a view: how often each of its three dimensions counts, and its push constants but for the rows that
 * are bound. */
typedef struct qk_view_ {
    uint64_t count[3];
    uint64_t value_elements, indices, table_rows; /* from the first to the last that is touched */
    uint64_t blocks_before;                       /* that are bound before those of the table */
    uint32_t push[QK_GATHER_PUSH_BYTES / 4];
} qk_view_;

/* `last` + the largest sum of multiples below count[i] of each step; UINT64_MAX where that is 2^64 or more. */
static inline uint64_t qk_span_(const uint64_t *count, const uint64_t *step, uint64_t last) {
    uint64_t span = last;
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t more = qk_product_(count[i] - 1, step[i]);
        span = more > UINT64_MAX - span ? UINT64_MAX : span + more;
    }
    return span;
}

/* Values that are written must be apart: in the order of their steps, each is beyond all that those before it span. */
static inline qk_status qk_check_apart_(const qk_kernel *kernel, const uint64_t *count, const uint64_t *step,
                                        uint64_t cols, qk_error *error) {
    uint32_t done = 0;
    uint64_t span = cols;
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t least = 3;
        for (uint32_t i = 0; i < 3; i++)
            if ((done >> i & 1u) == 0 && (least == 3 || step[i] < step[least]))
                least = i;
        done |= 1u << least;
        if (count[least] == 1)
            continue;
        if (step[least] < span)
            return qk_fail(error, QK_ERROR_ARGUMENT,
                           "%s: view->value_step[%" PRIu32 "] is %" PRIu64 ", must be at least %" PRIu64
                           ", so that no values of out overlap",
                           kernel->name, least, step[least], span);
        span += (count[least] - 1) * step[least];
    }
    return QK_OK;
}

static inline qk_status qk_check_view_(const qk_kernel *kernel, const qk_rows_view *view, uint64_t tokens,
                                       qk_error *error) {
    const uint64_t batch = qk_product_(view->tokens, view->batches);
    if (batch == 0 || tokens % batch != 0)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: view->tokens is %" PRIu64 " and view->batches is %" PRIu64
                       ", must be at least 1, and their product must divide tokens, %" PRIu64,
                       kernel->name, view->tokens, view->batches, tokens);
    if (view->index_bytes != 0 && view->index_bytes != 4 && view->index_bytes != 8)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: view->index_bytes is %" PRIu32 ", must be 0, 4 or 8",
                       kernel->name, view->index_bytes);
    for (uint32_t i = 0; i < 3; i++)
        if (view->value_step[i] % kernel->block_elements != 0)
            return qk_fail(error, QK_ERROR_ARGUMENT,
                           "%s: view->value_step[%" PRIu32 "] is %" PRIu64 ", must be a multiple of %" PRIu32
                           ", the elements of a block",
                           kernel->name, i, view->value_step[i], kernel->block_elements);
    for (uint32_t i = 0; i < 2; i++)
        if (view->index_bytes != 0 && (view->index_batches[i] == 0 || view->index_batches[i] > UINT32_MAX))
            return qk_fail(error, QK_ERROR_ARGUMENT,
                           "%s: view->index_batches[%" PRIu32 "] is %" PRIu64 ", must be from 1 to 4294967295",
                           kernel->name, i, view->index_batches[i]);
    return QK_OK;
}

/* `written`: values are. */
static inline qk_status qk_plan_view_(const qk_kernel *kernel, const qk_rows_view *view, int written, uint64_t rows,
                                      uint64_t cols, uint64_t tokens, qk_view_ *plan, qk_error *error) {
    const uint64_t tile = kernel->tile_elements, words = view->index_bytes / 4;
    qk_status status = qk_check_view_(kernel, view, tokens, error);
    if (status != QK_OK)
        return status;
    plan->count[0] = view->tokens;
    plan->count[1] = view->batches;
    plan->count[2] = tokens / (view->tokens * view->batches);
    uint64_t index_count[3] = {plan->count[0], plan->count[1], plan->count[2]}, row_count[3] = {rows, 1, 1};
    for (uint32_t i = 1; i < 3; i++) {
        index_count[i] = qk_min_(index_count[i], words != 0 ? view->index_batches[i - 1] : 1);
        row_count[i] = plan->count[i];
    }
    plan->value_elements = qk_span_(plan->count, view->value_step, cols);
    plan->indices = words != 0 ? qk_span_(index_count, view->index_step, 1) : 0;
    plan->table_rows = qk_span_(row_count, view->row_step, 1);
    if (plan->value_elements > UINT32_MAX || plan->table_rows > UINT32_MAX ||
        qk_product_(plan->indices, 2) > UINT32_MAX || tokens > UINT32_MAX / (cols / tile))
        return qk_fail(error, QK_ERROR_LIMIT,
                       "%s: the view spans %" PRIu64 " elements of values, %" PRIu64 " indices and %" PRIu64
                       " rows of the table, must be below 2^32, 2^31 and 2^32",
                       kernel->name, plan->value_elements, plan->indices, plan->table_rows);
    const uint64_t push[QK_GATHER_PUSH_BYTES / 4] = {rows,
                                                     0,
                                                     0,
                                                     cols / tile,
                                                     tokens,
                                                     view->tokens,
                                                     view->batches,
                                                     view->value_step[0] / tile,
                                                     view->value_step[1] / tile,
                                                     view->value_step[2] / tile,
                                                     words,
                                                     view->index_step[0] * words,
                                                     view->index_step[1] * words,
                                                     view->index_step[2] * words,
                                                     words != 0 ? view->index_batches[0] : 1,
                                                     words != 0 ? view->index_batches[1] : 1,
                                                     view->row_step[0],
                                                     view->row_step[1],
                                                     view->row_step[2],
                                                     0,
                                                     0,
                                                     0};
    for (uint32_t i = 0; i < QK_GATHER_PUSH_BYTES / 4; i++)
        plan->push[i] = (uint32_t)push[i]; /* a step of 2^32 or more is of a dimension that counts 1 */
    return written ? qk_check_apart_(kernel, plan->count, view->value_step, cols, error) : QK_OK;
}

static inline qk_status qk_fail_begin_(const qk_call_ *call, uint32_t i, uint64_t unit, qk_error *error) {
    return qk_fail(error, QK_ERROR_ALIGNMENT,
                   "%s: %s.offset is %" PRIu64 ", must be a multiple of %" PRIu32 ", or any number of %" PRIu64
                   " bytes behind one",
                   call->kernel->name, call->arguments[i].name, call->arguments[i].range.offset,
                   call->backend->limits.offset_alignment, unit);
}

/* Lets argument `i`, which is bound whole, begin where the device can bind it. Kernels skip `units`. */
static inline qk_status qk_bind_before_(qk_call_ *call, uint32_t i, uint64_t unit, uint32_t *units, qk_error *error) {
    qk_argument_ *a = &call->arguments[i];
    const uint64_t extra = a->range.offset % call->backend->limits.offset_alignment;
    if (extra % unit != 0)
        return qk_fail_begin_(call, i, unit, error);
    a->range.offset -= extra;
    a->need += extra;
    a->unit += extra;
    *units = (uint32_t)(extra / unit);
    return QK_OK;
}

/* The same of the table, as few blocks of each of its buffers as it takes. */
static inline qk_status qk_bind_blocks_before_(qk_call_ *call, uint32_t weights, uint64_t *blocks, qk_error *error) {
    const uint32_t alignment = call->backend->limits.offset_alignment;
    const qk_binding *bindings = call->kernel->bindings;
    for (uint64_t n = 0; n < alignment; n++) {
        uint32_t bound = 0;
        for (uint32_t i = 0; i < weights; i++) {
            const uint64_t bytes = n * bindings[i].block_bytes, offset = call->arguments[i].range.offset;
            bound += bytes <= offset && (offset - bytes) % alignment == 0;
        }
        for (uint32_t i = 0; bound == weights && i < weights; i++) {
            call->arguments[i].range.offset -= n * bindings[i].block_bytes;
            if (call->arguments[i].alignment < alignment)
                call->arguments[i].alignment = alignment;
        }
        *blocks = n;
        if (bound == weights)
            return QK_OK;
    }
    uint32_t first = 0;
    while (first + 1 < weights && call->arguments[first].range.offset % alignment == 0)
        first++;
    return qk_fail_begin_(call, first, bindings[first].block_bytes, error);
}

/* Where launches bind what they do, and how many rows of the table each. */
static inline qk_status qk_place_view_(qk_call_ *call, qk_view_ *plan, uint64_t cols, uint64_t *chunk,
                                       qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    const uint32_t weights = call->count - 3, words = plan->push[10];
    const uint64_t limit = qk_min_(call->backend->limits.storage_range, UINT32_MAX);
    const uint64_t tile = (uint64_t)kernel->tile_elements * qk_type_bytes(kernel->bindings[weights + 1].element);
    qk_status status = qk_bind_blocks_before_(call, weights, &plan->blocks_before, error);
    if (status == QK_OK && words != 0)
        status = qk_bind_before_(call, weights, 4, &plan->push[20], error);
    if (status == QK_OK)
        status = qk_bind_before_(call, weights + 1, tile, &plan->push[19], error);
    for (uint32_t i = weights; status == QK_OK && i < call->count; i++)
        if (call->arguments[i].need > limit)
            status = qk_fail(error, QK_ERROR_LIMIT,
                             "%s: %s takes %" PRIu64 " bytes, must be at most %" PRIu64 ", the device's storage range",
                             kernel->name, call->arguments[i].name, call->arguments[i].need, limit);
    plan->push[21] = (uint32_t)(plan->blocks_before * (kernel->block_elements / kernel->tile_elements));
    uint64_t most = UINT32_MAX / cols, before = qk_ceil_(plan->blocks_before, cols / kernel->block_elements);
    for (uint32_t i = 0; before != 0 && i < weights; i++)
        most = qk_min_(most, limit / call->arguments[i].unit);
    most = most > before ? most - before : 0;
    return status == QK_OK ? qk_chunk_(call, 0, weights, plan->table_rows, most, "row", chunk, error) : status;
}

/* All parts of the table; values and indices are bound whole. */
static inline qk_status qk_run_view_(const qk_call_ *call, const qk_view_ *plan, uint64_t chunk, qk_error *error) {
    const uint32_t weights = call->kernel->binding_count - 3;
    qk_status status = QK_OK;
    for (uint64_t row = 0, n; status == QK_OK && row < plan->table_rows; row += n) {
        qk_range ranges[QK_MAX_BINDINGS];
        uint32_t push[QK_GATHER_PUSH_BYTES / 4];
        n = qk_min_(chunk, plan->table_rows - row);
        for (uint32_t i = 0; i < call->count; i++)
            ranges[i] = i < weights ? qk_part_(&call->arguments[i], row, n) : qk_part_(&call->arguments[i], 0, 1);
        for (uint32_t i = 0; i < weights; i++)
            ranges[i].size += plan->blocks_before * call->kernel->bindings[i].block_bytes;
        memcpy(push, plan->push, sizeof push);
        push[1] = (uint32_t)row;
        push[2] = (uint32_t)(row + n);
        status = qk_launch_(call, ranges, push, (uint64_t)push[4] * push[3], 1, error);
    }
    return status;
}

/* `values` are read or written, as `tail` has them. */
static inline qk_status qk_dispatch_rows_view_(const qk_backend *backend, const qk_kernel *kernel, const qk_role *tail,
                                               const qk_range *weights, qk_range indices, const char *name,
                                               qk_range values, qk_range status_word, uint64_t rows, uint64_t cols,
                                               uint64_t tokens, const qk_rows_view *view, qk_error *error) {
    qk_tuned_ tuned;
    qk_view_ plan;
    uint64_t chunk = 0;
    qk_status status = qk_tune_(&tuned, &backend, &kernel, 1, qk_product_(tokens, cols), 1, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, 1, tail, 3, QK_GATHER_PUSH_BYTES, error);
    if (status != QK_OK || tokens == 0)
        return status;
    if ((status = qk_check_multiple_(kernel, "cols", cols, error)) != QK_OK)
        return status;
    if ((status = qk_check_shape_(kernel, rows, cols, error)) != QK_OK)
        return status;
    memset(&plan, 0, sizeof plan);
    const uint32_t count = kernel->binding_count - 3;
    const qk_binding *value = &kernel->bindings[count + 1];
    status = qk_plan_view_(kernel, view, value->access != QK_READ, rows, cols, tokens, &plan, error);
    qk_backend anywhere = *backend; /* where arguments begin is looked at when all are known */
    anywhere.limits.offset_alignment = 1;
    qk_call_ call = qk_call_new_(&anywhere, kernel);
    if (status == QK_OK)
        status = qk_add_weights_(&call, weights, count, plan.table_rows, cols / kernel->block_elements, error);
    if (status == QK_OK) /* something is bound where there are no indices */
        status = qk_add_(&call, "indices", view->index_bytes != 0 ? indices : qk_status_word_(backend, status_word), 1,
                         view->index_bytes != 0 ? plan.indices * view->index_bytes : 4, error);
    if (status == QK_OK)
        status = qk_add_(&call, name, values, 1, plan.value_elements * qk_type_bytes(value->element), error);
    call.backend = backend;
    if (status == QK_OK)
        status = qk_add_(&call, "status", status_word, 1, 4, error);
    if (view->index_bytes == 0)
        call.arguments[count].need = 0; /* the status word, a second time */
    if (status == QK_OK)
        status = qk_check_overlap_(&call, error);
    if (status == QK_OK)
        status = qk_place_view_(&call, &plan, cols, &chunk, error);
    return status == QK_OK ? qk_run_view_(&call, &plan, chunk, error) : status;
}

/* As qk_dispatch_gather, of views: values of token t of a batch are those of the row that its index says, in the table
 * of the batch.
 *
 * indices  where view->index_bytes is 0, not looked at
 * rows     that an index may name, in the table of each batch
 * tokens   of all batches
 * view     how they lie; must not be NULL. Values and indices span at most a binding each */
static inline qk_status qk_dispatch_gather_view(const qk_backend *backend, const qk_kernel *kernel,
                                                const qk_range *weights, qk_range indices, qk_range out,
                                                qk_range status_word, uint64_t rows, uint64_t cols, uint64_t tokens,
                                                const qk_rows_view *view, qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_INDICES, QK_ROLE_OUTPUT, QK_ROLE_STATUS};
    return qk_dispatch_rows_view_(backend, kernel, tail, weights, indices, "out", out, status_word, rows, cols, tokens,
                                  view, error);
}

/* As qk_dispatch_set_rows, of views; as above. */
static inline qk_status qk_dispatch_set_rows_view(const qk_backend *backend, const qk_kernel *kernel,
                                                  const qk_range *weights, qk_range indices, qk_range src,
                                                  qk_range status_word, uint64_t rows, uint64_t cols, uint64_t tokens,
                                                  const qk_rows_view *view, qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_INDICES, QK_ROLE_INPUT, QK_ROLE_STATUS};
    return qk_dispatch_rows_view_(backend, kernel, tail, weights, indices, "src", src, status_word, rows, cols, tokens,
                                  view, error);
}

#endif
