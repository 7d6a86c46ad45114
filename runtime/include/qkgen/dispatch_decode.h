/* qkgen/dispatch_decode.h: tensors and rows of tables, out of blocks and into them: dequant, gather, encode, set_rows,
 * transcode. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_DECODE_H
#define QKGEN_DISPATCH_DECODE_H

#include "dispatch_launch.h"

#define QK_DEQUANT_PUSH_BYTES 4u
#define QK_DEQUANT_MATRIX_PUSH_BYTES 20u
#define QK_ENCODE_MATRIX_PUSH_BYTES 8u
#define QK_SET_ROWS_MATRIX_PUSH_BYTES 12u
#define QK_GATHER_PUSH_BYTES 88u
#define QK_GATHER_MATRIX_PUSH_BYTES 32u
/* Tiles that a thread of gather takes at most, where there are many, and elements: the first tile costs a division. */
#define QK_GATHER_TILES 8u
#define QK_GATHER_ELEMENTS 32u

static inline qk_status qk_run_dequant_(const qk_call_ *call, uint64_t blocks, qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    uint64_t block_tiles = kernel->block_elements / kernel->tile_elements, chunk, done, n;
    uint64_t most = qk_min_(qk_max_tiles_(call) / block_tiles, UINT32_MAX / kernel->block_elements);
    qk_status status = qk_chunk_(call, 0, call->count, blocks, most, "block", &chunk, error);
    for (done = 0; status == QK_OK && done < blocks; done += n) {
        qk_range ranges[QK_MAX_BINDINGS];
        n = qk_min_(chunk, blocks - done);
        uint32_t tiles = (uint32_t)(n * block_tiles);
        for (uint32_t i = 0; i < call->count; i++)
            ranges[i] = qk_part_(&call->arguments[i], done, n);
        status = qk_launch_(call, ranges, &tiles, tiles, 1, error);
    }
    return status;
}

/* The launches of a gather: parts of the tokens, and for each of them all parts of the table. */
typedef struct qk_gather_ {
    uint64_t rows, row_chunk;
    uint64_t tokens, token_chunk;
    uint64_t row_tiles;
} qk_gather_;

static inline qk_status qk_plan_gather_(const qk_call_ *call, uint64_t rows, uint64_t cols, uint64_t tokens,
                                        qk_gather_ *plan, qk_error *error) {
    uint32_t weights = call->count - 3;
    uint64_t elements = UINT32_MAX / cols; /* rows, or tokens, whose elements count below 2^32 */
    plan->rows = rows;
    plan->tokens = tokens;
    plan->row_tiles = cols / call->kernel->tile_elements;
    qk_status status = qk_chunk_(call, 0, weights, rows, elements, "row", &plan->row_chunk, error);
    if (status != QK_OK)
        return status;
    return qk_chunk_(call, weights, 2, tokens, qk_min_(elements, qk_max_tiles_(call) / plan->row_tiles), "token",
                     &plan->token_chunk, error);
}

/* All parts of the table, for the tokens [first, first + count). */
static inline qk_status qk_run_tokens_(const qk_call_ *call, const qk_gather_ *plan, uint64_t first, uint64_t count,
                                       qk_error *error) {
    qk_status status = QK_OK;
    uint32_t weights = call->count - 3, each = 1;
    uint64_t row, n;
    while (each < QK_GATHER_TILES && 2 * each * call->kernel->tile_elements <= QK_GATHER_ELEMENTS)
        each *= 2;
    for (row = 0; status == QK_OK && row < plan->rows; row += n) {
        qk_range ranges[QK_MAX_BINDINGS];
        uint32_t push[QK_GATHER_PUSH_BYTES / 4] = {0}; /* no view */
        n = qk_min_(plan->row_chunk, plan->rows - row);
        for (uint32_t i = 0; i < weights; i++)
            ranges[i] = qk_part_(&call->arguments[i], row, n);
        ranges[weights] = qk_part_(&call->arguments[weights], first, count);
        ranges[weights + 1] = qk_part_(&call->arguments[weights + 1], first, count);
        ranges[weights + 2] = qk_part_(&call->arguments[weights + 2], 0, 1);
        push[0] = (uint32_t)plan->rows;
        push[1] = (uint32_t)row;
        push[2] = (uint32_t)(row + n);
        push[3] = (uint32_t)plan->row_tiles;
        push[4] = (uint32_t)count;
        status = qk_launch_(call, ranges, push, count * plan->row_tiles, each, error);
    }
    return status;
}

static inline uint32_t qk_tile_rows_(const qk_kernel *kernel) {
    return kernel->tile_rows > 1 ? kernel->tile_rows : 1;
}

/* Such a call is one launch: its buffers cannot be cut, for their parts are not neighbours. */
static inline qk_status qk_bind_whole_(const qk_call_ *call, qk_range *ranges, qk_error *error) {
    uint64_t limit = qk_min_(call->backend->limits.storage_range, UINT32_MAX);
    for (uint32_t i = 0; i < call->count; i++) {
        const qk_argument_ *a = &call->arguments[i];
        if (a->need > limit)
            return qk_fail(error, QK_ERROR_LIMIT,
                           "%s: %s takes %" PRIu64 " bytes, must be at most %" PRIu64 ", the device's storage range",
                           call->kernel->name, a->name, a->need, limit);
        ranges[i] = a->range;
        ranges[i].size = a->need;
    }
    return QK_OK;
}

static inline qk_status qk_launch_matrix_(const qk_call_ *call, const uint32_t *push, uint64_t tiles, qk_error *error) {
    qk_range ranges[QK_MAX_BINDINGS];
    qk_status status = qk_bind_whole_(call, ranges, error);
    if (status != QK_OK)
        return status;
    if (tiles > qk_max_tiles_(call))
        return qk_fail(error, QK_ERROR_LIMIT, "%s: the call decodes %" PRIu64 " tiles, must be at most %" PRIu64,
                       call->kernel->name, tiles, qk_max_tiles_(call));
    return qk_launch_(call, ranges, push, tiles, 1, error);
}

/* Rows that a workgroup each makes, whose threads take a tile of it each, or several: of a short row there are fewer threads. */
static inline qk_status qk_launch_made_rows_(const qk_call_ *call, const uint32_t *push, uint64_t rows, uint64_t cols,
                                             qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    const uint64_t row_tiles = cols / kernel->tile_elements;
    uint32_t constants[QK_MAX_CONSTANTS], found = 0;
    for (uint32_t i = 0; i < kernel->spec_constant_count; i++) {
        const qk_spec_constant *c = &kernel->spec_constants[i];
        constants[i] = c->value;
        if (c->id != QK_CONSTANT_LOCAL_SIZE_X)
            continue;
        found = 1;
        for (uint32_t k = 0; k < c->legal_count; k++)
            if (c->legal[k] >= row_tiles && c->legal[k] < constants[i])
                constants[i] = c->legal[k];
    }
    if (!found)
        return qk_launch_matrix_(call, push, rows * row_tiles, error);
    qk_range ranges[QK_MAX_BINDINGS];
    qk_launch launch = {kernel, ranges, push, (uint32_t)qk_min_(rows, qk_max_workgroups_(call)), constants};
    qk_status status = qk_bind_whole_(call, ranges, error);
    return status == QK_OK ? call->backend->launch(call->backend->context, &launch, error) : status;
}

/* A whole tensor of blocks, and its values, which are read or written. */
static inline qk_status qk_dispatch_elements_(const qk_backend *backend, const qk_kernel *kernel, qk_role role,
                                              const qk_range *weights, const char *name, qk_range values,
                                              uint64_t elements, qk_error *error) {
    qk_tuned_ tuned;
    qk_status status = qk_tune_(&tuned, &backend, &kernel, 1, elements, 1, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, 1, &role, 1, QK_DEQUANT_PUSH_BYTES, error);
    if (status != QK_OK || elements == 0)
        return status;
    if ((status = qk_check_multiple_(kernel, "elements", elements, error)) != QK_OK)
        return status;
    qk_call_ call = qk_call_new_(backend, kernel);
    const uint32_t count = kernel->binding_count - 1;
    const uint64_t blocks = elements / kernel->block_elements;
    status = qk_add_weights_(&call, weights, count, blocks, 1, error);
    if (status == QK_OK)
        status = qk_add_(&call, name, values, blocks,
                         (uint64_t)kernel->block_elements * qk_type_bytes(kernel->bindings[count].element), error);
    if (status == QK_OK)
        status = qk_check_overlap_(&call, error);
    return status == QK_OK ? qk_run_dequant_(&call, blocks, error) : status;
}

/* Decodes a whole tensor: out[i] = value(i) for i below `elements`.
 *
 * weights   the format's buffers in the order of the kernel's bindings, each elements / block_elements blocks
 * out       `elements` values of the kernel's output type
 * elements  a multiple of the format's block; 0 launches nothing, and no range is looked at
 *
 * Ranges may be larger than needed; the rest is not touched. Returns QK_OK, or with `error` (may be NULL) filled in:
 * QK_ERROR_ARGUMENT, _SIZE, _ALIGNMENT, _LIMIT or _UNSUPPORTED, before anything was launched; or what `launch`
 * returned. */
static inline qk_status qk_dispatch_dequant(const qk_backend *backend, const qk_kernel *kernel, const qk_range *weights,
                                            qk_range out, uint64_t elements, qk_error *error) {
    return qk_dispatch_elements_(backend, kernel, QK_ROLE_OUTPUT, weights, "out", out, elements, error);
}

/* Makes blocks of floats, as the format's specification says: what the kernel's reference in C does, bit for bit.
 *
 * weights   the format's buffers in the order of the kernel's bindings, each elements / block_elements blocks; written
 * src       `elements` floats of the kernel's type
 * elements  a multiple of the format's block; 0 launches nothing, and no range is looked at
 *
 * Ranges may be larger than needed; the rest is not touched. Returns as qk_dispatch_dequant does. */
static inline qk_status qk_dispatch_encode(const qk_backend *backend, const qk_kernel *kernel, const qk_range *weights,
                                           qk_range src, uint64_t elements, qk_error *error) {
    return qk_dispatch_elements_(backend, kernel, QK_ROLE_INPUT, weights, "src", src, elements, error);
}

/* Makes blocks of another format of the values of blocks: what the kernel's reference in C does, bit for bit, which is what decoding to
 * f32 and encoding that gives.
 *
 * weights   the buffers of the format that is read, in the order of the kernel's bindings
 * to        those of the other, which follow them there; written
 * elements  a multiple of the larger one of both formats' blocks; 0 launches nothing, and no range is looked at
 *
 * Ranges may be larger than needed; the rest is not touched. Returns as qk_dispatch_dequant does. */
static inline qk_status qk_dispatch_transcode(const qk_backend *backend, const qk_kernel *kernel,
                                              const qk_range *weights, const qk_range *to, uint64_t elements,
                                              qk_error *error) {
    qk_tuned_ tuned;
    qk_status status = qk_tune_(&tuned, &backend, &kernel, 1, elements, 1, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, 1, NULL, 0, QK_DEQUANT_PUSH_BYTES, error);
    if (status != QK_OK || elements == 0)
        return status;
    if ((status = qk_check_multiple_(kernel, "elements", elements, error)) != QK_OK)
        return status;
    if (weights == NULL || to == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: %s is NULL, must be ranges", kernel->name,
                       weights == NULL ? "weights" : "to");
    qk_call_ call = qk_call_new_(backend, kernel);
    uint64_t blocks = elements / kernel->block_elements;
    uint32_t read = 0;
    while (read < kernel->binding_count && kernel->bindings[read].access == QK_READ)
        read++;
    if (read == 0 || read == kernel->binding_count)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: the kernel reads %" PRIu32 " of %" PRIu32
                       " bindings, must read those of one format and write those of another",
                       kernel->name, read, kernel->binding_count);
    for (uint32_t i = 0; i < kernel->binding_count && status == QK_OK; i++) {
        char name[24];
        snprintf(name, sizeof name, i < read ? "weights[%" PRIu32 "]" : "to[%" PRIu32 "]", i < read ? i : i - read);
        status =
            qk_add_(&call, name, i < read ? weights[i] : to[i - read], blocks, kernel->bindings[i].block_bytes, error);
    }
    if (status == QK_OK)
        status = qk_check_overlap_(&call, error);
    return status == QK_OK ? qk_run_dequant_(&call, blocks, error) : status;
}

/* Rows of a table at indices: `values` are read or written, as `tail` has them, which a status word ends. */
static inline qk_status qk_dispatch_rows_(const qk_backend *backend, const qk_kernel *kernel, const qk_role *tail,
                                          const qk_range *weights, qk_range indices, const char *name, qk_range values,
                                          uint64_t value_bytes, qk_range status_word, uint64_t rows, uint64_t cols,
                                          uint64_t tokens, qk_error *error) {
    qk_tuned_ tuned;
    qk_status status = qk_tune_(&tuned, &backend, &kernel, 1, qk_product_(tokens, cols), 1, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, 1, tail, 3, QK_GATHER_PUSH_BYTES, error);
    if (status != QK_OK || tokens == 0)
        return status;
    if ((status = qk_check_multiple_(kernel, "cols", cols, error)) != QK_OK)
        return status;
    if (rows == 0 || rows > UINT32_MAX)
        return qk_fail(error, rows == 0 ? QK_ERROR_ARGUMENT : QK_ERROR_LIMIT,
                       "%s: rows is %" PRIu64 ", must be from 1 to 4294967295", kernel->name, rows);
    qk_call_ call = qk_call_new_(backend, kernel);
    if (cols > UINT32_MAX)
        return qk_fail(error, QK_ERROR_LIMIT, "%s: cols is %" PRIu64 ", must be at most 4294967295", kernel->name,
                       cols);
    status = qk_add_weights_(&call, weights, kernel->binding_count - 3, rows, cols / kernel->block_elements, error);
    if (status == QK_OK)
        status = qk_add_(&call, "indices", indices, tokens, 4, error);
    if (status == QK_OK)
        status = qk_add_(&call, name, values, tokens, cols * value_bytes, error);
    if (status == QK_OK)
        status = qk_add_(&call, "status", status_word, 1, 4, error);
    if (status == QK_OK)
        status = qk_check_overlap_(&call, error);
    qk_gather_ plan = {0, 0, 0, 0, 0};
    uint64_t token;
    if (status == QK_OK)
        status = qk_plan_gather_(&call, rows, cols, tokens, &plan, error);
    for (token = 0; status == QK_OK && token < tokens; token += plan.token_chunk)
        status = qk_run_tokens_(&call, &plan, token, qk_min_(plan.token_chunk, tokens - token), error);
    return status;
}

/* Decodes rows of a table: out[t][c] = value of row indices[t], column c, for t below `tokens` and c below `cols`.
 *
 * weights   the format's buffers, one range each: rows * cols / block_elements blocks
 * indices   `tokens` u32. An index that is not below `rows` gives a row of zeros and adds one to the status word
 * out       tokens * cols values of the kernel's output type
 * status_word  one u32, which the caller clears
 * rows      from 1 to 2^32 - 1; an empty table has nothing to bind, and is an error
 * cols      a positive multiple of the format's block; one row must fit into one binding
 * tokens    0 launches nothing, and no range or shape is looked at
 *
 * Ranges may be larger than needed; the rest is not touched. Returns as qk_dispatch_dequant does. */
static inline qk_status qk_dispatch_gather(const qk_backend *backend, const qk_kernel *kernel, const qk_range *weights,
                                           qk_range indices, qk_range out, qk_range status_word, uint64_t rows,
                                           uint64_t cols, uint64_t tokens, qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_INDICES, QK_ROLE_OUTPUT, QK_ROLE_STATUS};
    return qk_dispatch_rows_(backend, kernel, tail, weights, indices, "out", out,
                             kernel != NULL ? qk_type_bytes(kernel->output) : 0, status_word, rows, cols, tokens,
                             error);
}

/* Makes rows of blocks: row indices[t] = blocks of src[t][c], for t below `tokens` and c below `cols`.
 *
 * weights   the format's buffers, one range each: rows * cols / block_elements blocks; other rows keep what they have
 * indices   `tokens` u32, all different: of two that are the same, blocks of both may stay. One that is not below `rows`
 *           writes nothing and adds one to the status word
 * src       tokens * cols floats of the kernel's type
 * status_word  one u32, which the caller clears
 * rows      from 1 to 2^32 - 1
 * cols      a positive multiple of the format's block; one row must fit into one binding
 * tokens    0 launches nothing, and no range or shape is looked at
 *
 * Ranges may be larger than needed; the rest is not touched. Returns as qk_dispatch_dequant does. */
static inline qk_status qk_dispatch_set_rows(const qk_backend *backend, const qk_kernel *kernel,
                                             const qk_range *weights, qk_range indices, qk_range src,
                                             qk_range status_word, uint64_t rows, uint64_t cols, uint64_t tokens,
                                             qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_INDICES, QK_ROLE_INPUT, QK_ROLE_STATUS};
    return qk_dispatch_rows_(backend, kernel, tail, weights, indices, "src", src,
                             kernel != NULL && kernel->binding_count > 1
                                 ? qk_type_bytes(kernel->bindings[kernel->binding_count - 2].element)
                                 : 0,
                             status_word, rows, cols, tokens, error);
}

/* Decodes a whole tensor of a format whose blocks are patches of a matrix (kernel->view is not QK_VIEW_BLOCKS):
 * out[r * cols + c] = value(r, c).
 *
 * weights      the format's buffers in the order of the kernel's bindings; qk_weight_bytes says how large each is
 * out          rows * cols values of the kernel's output type
 * rows, cols   of the tensor; where kernel->ragged is 0, multiples of the block; their product is below 2^32. With
 *              rows or cols 0 nothing is launched
 *
 * One launch: every buffer must fit into one binding. Returns as qk_dispatch_dequant does. */
static inline qk_status qk_dispatch_dequant_matrix(const qk_backend *backend, const qk_kernel *kernel,
                                                   const qk_range *weights, qk_range out, uint64_t rows, uint64_t cols,
                                                   qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_OUTPUT};
    qk_matrix_ matrix;
    uint32_t push[QK_DEQUANT_MATRIX_PUSH_BYTES / 4];
    qk_tuned_ tuned;
    qk_status status = qk_tune_(&tuned, &backend, &kernel, 1, qk_product_(rows, cols), 1, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, 0, tail, 1, QK_DEQUANT_MATRIX_PUSH_BYTES, error);
    if (status != QK_OK || rows == 0 || cols == 0)
        return status;
    if ((status = qk_check_shape_(kernel, rows, cols, error)) != QK_OK)
        return status;
    if ((status = qk_plan_matrix_(kernel, rows, cols, &matrix, error)) != QK_OK)
        return status;
    qk_call_ call = qk_call_new_(backend, kernel);
    if ((status = qk_add_matrices_(&call, weights, kernel->binding_count - 1, 1, &matrix, error)) != QK_OK)
        return status;
    if ((status = qk_add_(&call, "out", out, rows * cols, qk_type_bytes(kernel->output), error)) != QK_OK)
        return status;
    if ((status = qk_check_overlap_(&call, error)) != QK_OK)
        return status;
    push[0] = (uint32_t)matrix.rows;
    push[1] = (uint32_t)matrix.cols;
    push[2] = (uint32_t)matrix.grid_rows;
    push[3] = (uint32_t)matrix.grid_cols;
    push[4] = (uint32_t)qk_ceil_(matrix.cols, kernel->tile_elements);
    return qk_launch_matrix_(&call, push, qk_ceil_(matrix.rows, qk_tile_rows_(kernel)) * push[4], error);
}

/* Rows that indices name: so many that their elements are numbers of 32 bits. */
static inline qk_status qk_check_tokens_(const qk_kernel *kernel, uint64_t tokens, uint64_t cols, qk_error *error) {
    if (tokens > UINT32_MAX / cols)
        return qk_fail(error, QK_ERROR_LIMIT,
                       "%s: tokens is %" PRIu64 " and cols is %" PRIu64 ", their product must be below 2^32",
                       kernel->name, tokens, cols);
    return QK_OK;
}

/* What is bound behind the weights where indices name rows: these, the rows' values, the status word; then whether any overlap. */
static inline qk_status qk_add_indexed_(qk_call_ *call, qk_range indices, const char *name, qk_range values,
                                        qk_type type, qk_range status_word, uint64_t tokens, uint64_t cols,
                                        qk_error *error) {
    qk_status status = qk_add_(call, "indices", indices, tokens, 4, error);
    if (status == QK_OK)
        status = qk_add_(call, name, values, tokens * cols, qk_type_bytes(type), error);
    if (status == QK_OK)
        status = qk_add_(call, "status", status_word, 1, 4, error);
    return status == QK_OK ? qk_check_overlap_(call, error) : status;
}

/* Decodes rows of a table of such a format: out[t][c] = value(indices[t], c).
 *
 * weights     the format's buffers, as for qk_dispatch_dequant_matrix
 * indices     `tokens` u32. An index that is not below `rows` gives a row of zeros and adds one to the status word
 * out         tokens * cols values of the kernel's output type; their number is below 2^32
 * status_word one u32, which the caller clears; without a buffer, backend->spare
 * rows, cols  of the table, both positive
 * tokens      0 launches nothing, and no range or shape is looked at */
static inline qk_status qk_dispatch_gather_matrix(const qk_backend *backend, const qk_kernel *kernel,
                                                  const qk_range *weights, qk_range indices, qk_range out,
                                                  qk_range status_word, uint64_t rows, uint64_t cols, uint64_t tokens,
                                                  qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_INDICES, QK_ROLE_OUTPUT, QK_ROLE_STATUS};
    qk_matrix_ matrix;
    uint32_t push[QK_GATHER_MATRIX_PUSH_BYTES / 4];
    qk_tuned_ tuned;
    qk_status status = qk_tune_(&tuned, &backend, &kernel, 1, qk_product_(tokens, cols), 1, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, 0, tail, 3, QK_GATHER_MATRIX_PUSH_BYTES, error);
    if (status != QK_OK || tokens == 0)
        return status;
    if ((status = qk_check_shape_(kernel, rows, cols, error)) != QK_OK)
        return status;
    if ((status = qk_check_tokens_(kernel, tokens, cols, error)) != QK_OK)
        return status;
    if (kernel->view == QK_VIEW_GROUPS && cols % kernel->block_cols != 0)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: cols is %" PRIu64 ", must be a multiple of %" PRIu32 ", so that a row has whole groups",
                       kernel->name, cols, kernel->block_cols);
    if ((status = qk_plan_matrix_(kernel, rows, cols, &matrix, error)) != QK_OK)
        return status;
    qk_call_ call = qk_call_new_(backend, kernel);
    status = qk_add_matrices_(&call, weights, kernel->binding_count - 3, 1, &matrix, error);
    if (status == QK_OK)
        status = qk_add_indexed_(&call, indices, "out", out, kernel->output, status_word, tokens, cols, error);
    if (status != QK_OK)
        return status;
    uint64_t tile = kernel->tile_elements;
    push[0] = (uint32_t)matrix.rows;
    push[1] = (uint32_t)matrix.cols;
    push[2] = (uint32_t)matrix.grid_rows;
    push[3] = (uint32_t)matrix.grid_cols;
    /* In a sequence a row may begin and end within tiles. */
    push[4] = (uint32_t)(kernel->view == QK_VIEW_SEQUENCE ? qk_ceil_(cols + tile - 1, tile) : qk_ceil_(cols, tile));
    push[5] = (uint32_t)rows;
    push[6] = (uint32_t)cols;
    push[7] = (uint32_t)tokens;
    return qk_launch_matrix_(&call, push, tokens * push[4], error);
}

/* Rows of a matrix have whole blocks where they are made: a ragged format is no exception. Groups of planes are cut
 * without regard to rows. */
static inline qk_status qk_check_made_(const qk_kernel *kernel, uint64_t rows, uint64_t cols, qk_matrix_ *matrix,
                                       qk_error *error) {
    qk_status status = qk_check_shape_(kernel, rows, cols, error);
    if (status == QK_OK && kernel->view != QK_VIEW_GROUPS && cols % kernel->block_elements != 0)
        status = qk_fail(error, QK_ERROR_ARGUMENT,
                         "%s: cols is %" PRIu64 ", must be a multiple of %" PRIu32 ", the elements of a block",
                         kernel->name, cols, kernel->block_elements);
    return status == QK_OK ? qk_plan_matrix_(kernel, rows, cols, matrix, error) : status;
}

/* Makes blocks of floats, of a format whose rows have something of their own, beside or before their blocks, or whose blocks
 * are groups of planes.
 *
 * weights      the format's buffers, as for qk_dispatch_dequant_matrix; written
 * src          rows * cols floats of the kernel's type
 * rows, cols   of the matrix; cols is a multiple of the block, or, in planes, their product one of the group; it is below
 *              2^32. With rows or cols 0 nothing is launched
 *
 * One launch: every buffer must fit into one binding. Returns as qk_dispatch_dequant does. */
static inline qk_status qk_dispatch_encode_matrix(const qk_backend *backend, const qk_kernel *kernel,
                                                  const qk_range *weights, qk_range src, uint64_t rows, uint64_t cols,
                                                  qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_INPUT};
    qk_matrix_ matrix;
    qk_tuned_ tuned;
    qk_status status = qk_tune_(&tuned, &backend, &kernel, 1, qk_product_(rows, cols), 1, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, 0, tail, 1, QK_ENCODE_MATRIX_PUSH_BYTES, error);
    if (status != QK_OK || rows == 0 || cols == 0)
        return status;
    if ((status = qk_check_made_(kernel, rows, cols, &matrix, error)) != QK_OK)
        return status;
    qk_call_ call = qk_call_new_(backend, kernel);
    const uint32_t count = kernel->binding_count - 1;
    status = qk_add_matrices_(&call, weights, count, 1, &matrix, error);
    if (status == QK_OK)
        status = qk_add_(&call, "src", src, rows * cols, qk_type_bytes(kernel->bindings[count].element), error);
    if (status == QK_OK)
        status = qk_check_overlap_(&call, error);
    if (status != QK_OK)
        return status;
    const int apart = kernel->view == QK_VIEW_GROUPS;
    const uint64_t each = apart ? matrix.grid_rows : cols / kernel->block_elements; /* all blocks, or those of a row */
    const uint32_t push[QK_ENCODE_MATRIX_PUSH_BYTES / 4] = {(uint32_t)matrix.rows, (uint32_t)each};
    if (!apart)
        return qk_launch_made_rows_(&call, push, rows, cols, error);
    return qk_launch_matrix_(&call, push, each * (kernel->block_cols / kernel->tile_elements), error); /* of each a team */
}

/* The same for rows at indices: row indices[t] of the matrix becomes that of src[t]; other rows keep what they have.
 *
 * indices      `tokens` u32, all different, as for qk_dispatch_set_rows
 * src          tokens * cols floats of the kernel's type; their number is below 2^32
 * status_word  one u32, which the caller clears
 * tokens       0 launches nothing, and no range or shape is looked at */
static inline qk_status qk_dispatch_set_rows_matrix(const qk_backend *backend, const qk_kernel *kernel,
                                                    const qk_range *weights, qk_range indices, qk_range src,
                                                    qk_range status_word, uint64_t rows, uint64_t cols, uint64_t tokens,
                                                    qk_error *error) {
    static const qk_role tail[] = {QK_ROLE_INDICES, QK_ROLE_INPUT, QK_ROLE_STATUS};
    qk_matrix_ matrix;
    qk_tuned_ tuned;
    qk_status status = qk_tune_(&tuned, &backend, &kernel, 1, qk_product_(tokens, cols), 1, error);
    if (status == QK_OK)
        status = qk_check_call_(backend, kernel, 0, tail, 3, QK_SET_ROWS_MATRIX_PUSH_BYTES, error);
    if (status != QK_OK || tokens == 0)
        return status;
    if ((status = qk_check_made_(kernel, rows, cols, &matrix, error)) != QK_OK)
        return status;
    if ((status = qk_check_tokens_(kernel, tokens, cols, error)) != QK_OK)
        return status;
    qk_call_ call = qk_call_new_(backend, kernel);
    const uint32_t count = kernel->binding_count - 3;
    const qk_type type = kernel->bindings[count + 1].element;
    status = qk_add_matrices_(&call, weights, count, 1, &matrix, error);
    if (status == QK_OK)
        status = qk_add_indexed_(&call, indices, "src", src, type, status_word, tokens, cols, error);
    if (status != QK_OK)
        return status;
    const uint64_t row_blocks = cols / kernel->block_elements;
    const uint32_t push[QK_SET_ROWS_MATRIX_PUSH_BYTES / 4] = {(uint32_t)rows, (uint32_t)row_blocks, (uint32_t)tokens};
    return qk_launch_made_rows_(&call, push, tokens, cols, error);
}

#endif
