/* Dispatch of the families that sum over rows, and of those whose blocks are patches of a matrix, over a backend of our own:
 * what they refuse, and that their launches cover the whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "qkgen/dispatch.h"

/* ---- A format of two buffers, in blocks and in patches of a matrix ----------------------------------------------- */

enum { BLOCK = 32, TILE = 8, CODES = 16, SCALES = 2 }; /* elements, elements, bytes, bytes */
enum { PATCH_ROWS = 4, PATCH_COLS = 16 };

typedef enum family { GEMV, GEMV_MATRIX, GEMV_ID, DEQUANT_MATRIX, GATHER_MATRIX, N_FAMILIES } family;

static const uint32_t schedules[] = {0, QK_SCHEDULE_ROWS, QK_SCHEDULE_WIDE, QK_SCHEDULE_SHARED, QK_SCHEDULE_TEAMS};
static const char *const names[] = {"toy_gemv", "patch_gemv", "toy_gemv_id", "patch_dequant", "patch_gather"};
static const uint32_t push_bytes[] = {QK_GEMV_PUSH_BYTES, QK_GEMV_MATRIX_PUSH_BYTES, QK_GEMV_ID_PUSH_BYTES, 20, 32};

#define WEIGHTS(patch)                                                                                                 \
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, (patch) ? 32 : CODES, 1, PATCH_ROWS, PATCH_COLS / 2, 0}, {      \
        1, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_F16, SCALES, 2, 1, 1, 0                                         \
    }
#define BOUND(index, name, role, access, type)                                                                         \
    { index, name, QK_ROLE_##role, QK_##access, QK_TYPE_##type, 0, 0, 0, 0, 0 }

#define EPILOGUE_BOUND(bit, NAME, field, name, many, meaning) , BOUND(0, #name, NAME, READ, F32)
#define EPILOGUES QK_EPILOGUES(EPILOGUE_BOUND)

static const qk_binding bindings[N_FAMILIES][QK_MAX_BINDINGS] = {
    {WEIGHTS(0), BOUND(2, "x", INPUT, READ, F32), BOUND(3, "y", OUTPUT, READ_WRITE, F32) EPILOGUES},
    {WEIGHTS(1), BOUND(2, "x", INPUT, READ, F32), BOUND(3, "y", OUTPUT, READ_WRITE, F32) EPILOGUES},
    {WEIGHTS(0), BOUND(2, "x", INPUT, READ, F32), BOUND(3, "ids", INDICES, READ, U32),
     BOUND(4, "status", STATUS, READ_WRITE, U32), BOUND(5, "y", OUTPUT, READ_WRITE, F32) EPILOGUES},
    {WEIGHTS(1), BOUND(2, "out", OUTPUT, WRITE, F16)},
    {WEIGHTS(1), BOUND(2, "indices", INDICES, READ, U32), BOUND(3, "out", OUTPUT, WRITE, F16),
     BOUND(4, "status", STATUS, READ_WRITE, U32)},
};
static const uint32_t binding_counts[] = {3 + QK_RESULT_BINDINGS_, 3 + QK_RESULT_BINDINGS_, 5 + QK_RESULT_BINDINGS_, 3,
                                          5};

static const uint32_t powers[] = {1, 2, 4, 8};
static const qk_spec_constant constants[] = {{QK_CONSTANT_LOCAL_SIZE_X, "local_size_x", 64, 0, NULL},
                                             {QK_CONSTANT_BATCH, "batch", 1, 4, powers},
                                             {QK_CONSTANT_ROWS, "rows", 4, 4, powers}};

static int has_patches(family f) { return f == GEMV_MATRIX || f == DEQUANT_MATRIX || f == GATHER_MATRIX; }

static qk_kernel kernel_of(family f) {
    qk_kernel kernel = {.abi = QK_ABI_VERSION};
    const int decodes = f == DEQUANT_MATRIX || f == GATHER_MATRIX;
    kernel.name = names[f];
    kernel.bindings = bindings[f];
    kernel.binding_count = binding_counts[f];
    kernel.push_bytes = push_bytes[f];
    kernel.spec_constants = constants;
    kernel.spec_constant_count = 3;
    kernel.workgroup_size = 64;
    kernel.features = QK_FEATURE_STORAGE_8BIT | (decodes ? 0 : QK_FEATURE_SUBGROUP_ARITHMETIC);
    kernel.output = decodes ? QK_TYPE_F16 : QK_TYPE_F32;
    kernel.block_elements = has_patches(f) ? PATCH_ROWS * PATCH_COLS : BLOCK;
    kernel.tile_elements = TILE;
    if (has_patches(f)) {
        kernel.view = QK_VIEW_MATRIX;
        kernel.block_rows = PATCH_ROWS;
        kernel.block_cols = PATCH_COLS;
    }
    return kernel;
}

/* ---- One call, with what was right about it ---------------------------------------------------------------------- */

static char memory[9]; /* addresses that stand for buffers */

typedef struct call {
    qk_backend backend;
    qk_kernel kernel;
    qk_binding bindings[QK_MAX_BINDINGS];
    qk_spec_constant constants[QK_MAX_CONSTANTS + 1];
    qk_range weights[2], x, ids, out, status, bias, scale, gate;
    int biased, scaled, gated;
    uint32_t adds;
    qk_many scale_per;
    uint64_t experts, rows, cols, batch, slots, x_slots; /* batch: tokens, too */
    int no_backend, no_kernel, no_weights;
} call;

static qk_status count_launch(void *context, const qk_launch *launch, qk_error *error) {
    (void)launch;
    (void)error;
    ++*(uint32_t *)context;
    return QK_OK;
}

static call right_call(family f, uint32_t *launches) {
    static const uint32_t codes[] = {160, 192, 192, 192, 192}, scales[] = {20, 12, 24, 12, 12};
    static const uint32_t x[] = {768, 384, 384, 0, 0}, out[] = {60, 64, 72, 768, 288}, ids[] = {0, 0, 24, 0, 12};
    static const uint32_t rows[] = {5, 8, 3, 8, 8}, cols[] = {64, 48, 32, 48, 48}, batch[] = {3, 2, 3, 0, 3};
    call c = {0};
    c.backend.context = launches;
    c.backend.launch = count_launch;
    c.backend.limits =
        (qk_limits){4096, 16, 1000, 128, 128, QK_FEATURE_STORAGE_8BIT | QK_FEATURE_SUBGROUP_ARITHMETIC, 0, 0, 0, 0, 0,
                    0,    0,  0,    0,   0};
    c.kernel = kernel_of(f);
    memcpy(c.bindings, bindings[f], sizeof c.bindings);
    memcpy(c.constants, constants, sizeof constants);
    c.experts = 4;
    c.rows = rows[f];
    c.cols = cols[f];
    c.batch = batch[f];
    c.slots = 2;
    c.x_slots = 1;
    c.weights[0] = (qk_range){memory, 0, codes[f]};
    c.weights[1] = (qk_range){memory + 1, 0, scales[f]};
    c.x = (qk_range){memory + 2, 0, x[f]};
    c.ids = (qk_range){memory + 3, 0, ids[f]};
    c.out = (qk_range){memory + 4, 0, out[f]};
    c.status = (qk_range){memory + 5, 0, 4};
    c.bias = (qk_range){memory + 6, 0, f == GEMV_ID ? 48 : 4 * rows[f]};
    c.scale = (qk_range){memory + 7, 0, 4};
    c.gate = (qk_range){memory + 8, 0, out[f]};
    return c;
}

static qk_status make_call(call *c, family f, qk_error *error) {
    const qk_backend *backend = c->no_backend ? NULL : &c->backend;
    const qk_kernel *kernel = c->no_kernel ? NULL : &c->kernel;
    const qk_range *weights = c->no_weights ? NULL : c->weights;
    if (c->kernel.bindings != NULL) c->kernel.bindings = c->bindings;
    c->kernel.spec_constants = c->constants;
    const qk_epilogue epilogue = {.adds = c->adds,
                                  .bias = c->biased ? &c->bias : NULL,
                                  .gate = c->gated ? &c->gate : NULL,
                                  .scale = c->scaled ? &c->scale : NULL,
                                  .scale_per = c->scale_per};
    switch (f) {
    case GEMV:
    case GEMV_MATRIX:
        return qk_dispatch_gemv_with(backend, kernel, weights, c->x, c->out, c->rows, c->cols, c->batch, &epilogue,
                                     error);
    case GEMV_ID:
        return qk_dispatch_gemv_id_with(backend, kernel, weights, c->x, c->ids, c->out, c->status, c->experts, c->rows,
                                        c->cols, c->batch, c->slots, c->x_slots, &epilogue, error);
    case DEQUANT_MATRIX: return qk_dispatch_dequant_matrix(backend, kernel, weights, c->out, c->rows, c->cols, error);
    default:
        return qk_dispatch_gather_matrix(backend, kernel, weights, c->ids, c->out, c->status, c->rows, c->cols,
                                         c->batch, error);
    }
}

/* ---- Wrong calls ------------------------------------------------------------------------------------------------- */

/* Each row: a name, the family, what is wrong, the status, and the text after the kernel's name. */
/* clang-format off */
#define CASES(X)                                                                                                       \
    X(no_launch, GEMV, c->backend.launch = NULL, ARGUMENT, "backend->launch is NULL, must be a function")              \
    X(no_backend, GEMV_ID, c->no_backend = 1, ARGUMENT, "backend is NULL, must be a backend")                          \
    X(no_bindings, GEMV, c->kernel.bindings = NULL, ARGUMENT, "kernel->binding_count is 0, must be from %u to 16")     \
    X(few_bindings, GEMV_ID, c->kernel.binding_count = 5, ARGUMENT,                                                    \
      "kernel->binding_count is 5, must be from %u to 16")                                                             \
    X(role, GEMV, c->bindings[2].role = QK_ROLE_WEIGHTS, ARGUMENT,                                                     \
      "kernel->bindings[2].role is 0, must be 2, as this family has it")                                               \
    X(role_id, GEMV_ID, c->bindings[3].role = QK_ROLE_INPUT, ARGUMENT,                                                 \
      "kernel->bindings[3].role is 2, must be 1, as this family has it")                                               \
    X(role_weights, GATHER_MATRIX, c->bindings[1].role = QK_ROLE_STATUS, ARGUMENT,                                     \
      "kernel->bindings[1].role is 4, must be 0, as this family has it")                                               \
    X(push, GEMV, c->kernel.push_bytes = 32, ARGUMENT, "kernel->push_bytes is 32, must be 116, as this family has it")  \
    X(push_matrix, GEMV_MATRIX, c->kernel.push_bytes = 20, ARGUMENT,                                                   \
      "kernel->push_bytes is 20, must be 128, as this family has it")                                                  \
    X(push_id, GEMV_ID, c->kernel.push_bytes = 20, ARGUMENT,                                                           \
      "kernel->push_bytes is 20, must be 92, as this family has it")                                                   \
    X(push_limit, GEMV_ID, c->backend.limits.push_bytes = 24, LIMIT,                                                   \
      "kernel->push_bytes is 92, must be at most 24 on this device")                                                   \
    X(view_id, GEMV_ID, c->kernel.view = QK_VIEW_MATRIX, ARGUMENT,                                                     \
      "kernel->push_bytes is 92, must be 104, as this family has it")                                                   \
    X(view_dequant, DEQUANT_MATRIX, c->kernel.view = QK_VIEW_BLOCKS, ARGUMENT,                                         \
      "kernel->view is 0, must be another than QK_VIEW_BLOCKS for this function")                                      \
    X(view_gather, GATHER_MATRIX, c->kernel.view = QK_VIEW_BLOCKS, ARGUMENT,                                           \
      "kernel->view is 0, must be another than QK_VIEW_BLOCKS for this function")                                      \
    X(patch, DEQUANT_MATRIX, c->kernel.block_rows = 0, ARGUMENT,                                                       \
      "kernel->tile_elements is 8, must divide block_elements 64")                                                     \
    X(no_subgroups, GEMV, c->backend.limits.features = QK_FEATURE_STORAGE_8BIT, UNSUPPORTED,                           \
      "the device lacks subgroup arithmetic in compute shaders, which the kernel requires")                            \
    X(no_subgroups_id, GEMV_ID, c->backend.limits.features = 0, UNSUPPORTED,                                           \
      "the device lacks storageBuffer8BitAccess, subgroup arithmetic in compute shaders, which the kernel requires")   \
    X(no_subgroups_matrix, GEMV_MATRIX, c->backend.limits.features = QK_FEATURE_STORAGE_8BIT, UNSUPPORTED,             \
      "the device lacks subgroup arithmetic in compute shaders, which the kernel requires")                            \
    X(constants, GEMV, c->kernel.spec_constant_count = 25, ARGUMENT,                                                    \
      "kernel->spec_constant_count is 25, must be at most 24")                                                           \
    X(constants_id, GEMV_ID, c->kernel.spec_constant_count = 25, ARGUMENT,                                              \
      "kernel->spec_constant_count is 25, must be at most 24")                                                           \
    X(no_rows, GEMV, c->constants[2].value = 0, ARGUMENT,                                                              \
      "kernel->spec_constants[2].value, rows, is 0, must be at least 1")                                               \
    X(no_rows_matrix, GEMV_MATRIX, c->constants[2].value = 0, ARGUMENT,                                                \
      "kernel->spec_constants[2].value, rows, is 0, must be at least 1")                                               \
    X(no_rows_id, GEMV_ID, c->constants[2].value = 0, ARGUMENT,                                                        \
      "kernel->spec_constants[2].value, rows, is 0, must be at least 1")                                               \
    X(no_split, GEMV, (c->constants[1] = (qk_spec_constant){QK_CONSTANT_SPLIT, "split", 0, 0, NULL}), ARGUMENT, \
      "kernel->spec_constants[1].value, split, is 0, must be at least 1")                                              \
    X(batch, GEMV, c->batch = UINT64_C(1) << 32, LIMIT, "batch is 4294967296, must be below 2^32")                     \
    X(batch_matrix, GEMV_MATRIX, c->batch = UINT64_MAX, LIMIT, "batch is 18446744073709551615, must be below 2^32")    \
    X(batch_part, GEMV_MATRIX, (c->batch = 9, c->backend.limits.offset_alignment = 1024, c->x.offset = c->out.offset = 4096, c->weights[0].offset = c->weights[1].offset = 4096, c->x.size = c->out.size = 1 << 20), \
      ARGUMENT, "batch is 9, must be at most 8 where that many vectors of 48 columns take 1536 bytes, which is no multiple of 1024, the device's alignment of offsets") \
    X(rows, GEMV, c->rows = UINT64_C(1) << 32, LIMIT, "rows is 4294967296, must be below 2^32")                        \
    X(cols, GEMV, c->cols = UINT64_C(1) << 32, LIMIT, "cols is 4294967296, must be below 2^32")                        \
    X(cols_block, GEMV, c->cols = 72, ARGUMENT,                                                                        \
      "cols is 72, must be a positive multiple of 32, the elements of a block")                                        \
    X(cols_group, GEMV_MATRIX, (c->kernel.view = QK_VIEW_GROUPS, c->cols = 24), ARGUMENT,                              \
      "cols is 24, must be a multiple of 16, so that a row has whole groups")                                          \
    X(cols_patch, GEMV_MATRIX, c->cols = 40, ARGUMENT, "cols is 40, must be a multiple of 16, as a block has")         \
    X(rows_patch, GEMV_MATRIX, c->rows = 6, ARGUMENT, "rows is 6, must be a multiple of 4, as a block has")            \
    X(elements, GEMV_MATRIX, (c->rows = 1 << 20, c->cols = 1 << 12), LIMIT,                                            \
      "rows is 1048576 and cols is 4096, their product must be below 2^32")                                            \
    X(no_weights, GEMV, c->no_weights = 1, ARGUMENT, "weights is NULL, must be 2 ranges")                              \
    X(no_weights_matrix, GEMV_MATRIX, c->no_weights = 1, ARGUMENT, "weights is NULL, must be 2 ranges")                \
    X(no_weights_id, GEMV_ID, c->no_weights = 1, ARGUMENT, "weights is NULL, must be 2 ranges")                        \
    X(weights_buffer, GEMV_ID, c->weights[1].buffer = NULL, ARGUMENT, "weights[1].buffer is NULL, must be a buffer")   \
    X(weights_size, GEMV, c->weights[0].size--, SIZE, "weights[0].size is 159 bytes, must be at least 160")            \
    X(weights_size_matrix, GEMV_MATRIX, c->weights[1].size--, SIZE,                                                    \
      "weights[1].size is 11 bytes, must be at least 12")                                                              \
    X(weights_size_id, GEMV_ID, c->experts = 5, SIZE, "weights[0].size is 192 bytes, must be at least 240")            \
    X(weights_offset, GEMV, c->weights[1].offset = 8, ALIGNMENT, "weights[1].offset is 8, must be a multiple of 16")   \
    X(weights_offset_matrix, GEMV_MATRIX, c->weights[0].offset = 24, ALIGNMENT,                                        \
      "weights[0].offset is 24, must be a multiple of 16")                                                             \
    X(x_buffer, GEMV, c->x.buffer = NULL, ARGUMENT, "x.buffer is NULL, must be a buffer")                              \
    X(x_size, GEMV, c->x.size -= 4, SIZE, "x.size is 764 bytes, must be at least 768")                                 \
    X(x_size_f16, GEMV, (c->bindings[2].element = QK_TYPE_F16, c->x.size = 383), SIZE,                                 \
      "x.size is 383 bytes, must be at least 384")                                                                     \
    X(x_offset, GEMV, c->x.offset = 4, ALIGNMENT, "x.offset is 4, must be a multiple of 16")                           \
    X(x_element, GEMV_ID, (c->backend.limits.offset_alignment = 1, c->x.offset = 2), ALIGNMENT,                        \
      "x.offset is 2, must be a multiple of 4")                                                                        \
    X(x_range, GEMV, c->backend.limits.storage_range = 767, LIMIT,                                                     \
      "x takes 768 bytes, must be at most 767, the device's storage range")                                            \
    X(y_size, GEMV, c->out.size--, SIZE, "y.size is 59 bytes, must be at least 60")                                    \
    X(y_offset, GEMV, c->out.offset = 8, ALIGNMENT, "y.offset is 8, must be a multiple of 16")                         \
    X(y_end, GEMV, c->out.offset = UINT64_MAX - 15, SIZE,                                                              \
      "y.size is 60 bytes from offset 18446744073709551600, must end below 2^64")                                      \
    X(y_range, GEMV, (c->rows = 1025, c->cols = 32, c->weights[0].size = c->weights[1].size = 1 << 20,                 \
      c->batch = 1, c->out.size = 8192), LIMIT,                                                                        \
      "y takes 4100 bytes, must be at most 4096, the device's storage range")                                          \
    X(y_in_weights, GEMV, (c->out.buffer = memory, c->out.offset = 144), ARGUMENT,                                     \
      "y is bytes 144 to 204 of a buffer, must be apart from weights[0], bytes 0 to 160")                              \
    X(y_in_x, GEMV, (c->out.buffer = c->x.buffer, c->out.offset = 752), ARGUMENT,                                      \
      "y is bytes 752 to 812 of a buffer, must be apart from x, bytes 0 to 768")                                       \
    X(y_in_weights_matrix, GEMV_MATRIX, c->out.buffer = memory + 1, ARGUMENT,                                          \
      "y is bytes 0 to 64 of a buffer, must be apart from weights[1], bytes 0 to 12")                                  \
    X(row_range, GEMV, (c->rows = 1, c->cols = 8224, c->batch = 1, c->weights[0].size = 1 << 20,                       \
      c->weights[1].size = 1 << 20, c->x.size = 1 << 20, c->backend.limits.storage_range = 4096), LIMIT,               \
      "x takes 32896 bytes, must be at most 4096, the device's storage range")                                         \
    X(row_alignment, GEMV, (c->backend.limits.storage_range = 768, c->backend.limits.offset_alignment = 256,           \
      c->rows = 65, c->weights[0].size = 4096, c->weights[1].size = 4096, c->out.size = 4096, c->batch = 1), LIMIT,    \
      "weights[0] takes 32 bytes for one row, must be at most 12, so that 64 fit, which offset alignment asks")        \
    X(matrix_range, GEMV_MATRIX, c->backend.limits.storage_range = 191, LIMIT,                                         \
      "weights[0] takes 192 bytes, must be at most 191, the device's storage range")                                   \
    X(no_experts, GEMV_ID, c->experts = 0, ARGUMENT, "experts is 0, must be from 1 to 4294967295")                     \
    X(experts, GEMV_ID, c->experts = UINT64_C(1) << 32, LIMIT, "experts is 4294967296, must be from 1 to 4294967295")  \
    X(rows_id, GEMV_ID, c->rows = UINT64_C(1) << 32, LIMIT, "rows is 4294967296, must be below 2^32")                  \
    X(cols_id, GEMV_ID, c->cols = UINT64_C(1) << 32, LIMIT, "cols is 4294967296, must be below 2^32")                  \
    X(block_id, GEMV_ID, c->cols = 16, ARGUMENT,                                                                       \
      "cols is 16, must be a positive multiple of 32, the elements of a block")                                        \
    X(pairs, GEMV_ID, (c->batch = 1 << 20, c->slots = 1 << 10), LIMIT,                                                 \
      "tokens is 1048576, slots is 1024 and rows is 3, their product must be below 2^31")                              \
    X(pairs_wrap, GEMV_ID, (c->batch = UINT64_C(1) << 63, c->slots = 2), LIMIT,                                               \
      "tokens is 9223372036854775808, slots is 2 and rows is 3, their product must be below 2^31")                    \
    X(slots, GEMV_ID, c->slots = UINT64_MAX, LIMIT,                                                                    \
      "tokens is 3, slots is 18446744073709551615 and rows is 3, their product must be below 2^31")                    \
    X(experts_wrap, GEMV_ID, (c->experts = UINT32_MAX, c->rows = 1 << 28, c->cols = 4294967264u, c->batch = 1,         \
      c->slots = 1), LIMIT,                                                                                            \
      "weights[0] needs 4294967295 times 576460748008456192 bytes, must be below 2^64")                                \
    X(x_slots, GEMV_ID, c->x_slots = 3, ARGUMENT, "x_slots is 3, must be 1 or 2, as many as slots")                    \
    X(x_slots_size, GEMV_ID, c->x_slots = 2, SIZE, "x.size is 384 bytes, must be at least 768")                        \
    X(ids_size, GEMV_ID, c->ids.size--, SIZE, "ids.size is 23 bytes, must be at least 24")                             \
    X(ids_buffer, GEMV_ID, c->ids.buffer = NULL, ARGUMENT, "ids.buffer is NULL, must be a buffer")                     \
    X(ids_range, GEMV_ID, (c->backend.limits.storage_range = 400, c->slots = 34, c->ids.size = 512,                    \
      c->out.size = 4096), LIMIT, "ids takes 408 bytes, must be at most 400, the device's storage range")              \
    X(y_size_id, GEMV_ID, c->slots = 3, SIZE, "ids.size is 24 bytes, must be at least 36")                             \
    X(y_short_id, GEMV_ID, c->out.size = 71, SIZE, "y.size is 71 bytes, must be at least 72")                          \
    X(status_size, GEMV_ID, c->status.size = 0, SIZE, "status.size is 0 bytes, must be at least 4")                    \
    X(status_in_ids, GEMV_ID, (c->status.buffer = c->ids.buffer, c->status.offset = 16), ARGUMENT,                     \
      "status is bytes 16 to 20 of a buffer, must be apart from ids, bytes 0 to 24")                                   \
    X(status_in_y, GEMV_ID, c->status.buffer = c->out.buffer, ARGUMENT,                                                \
      "status is bytes 0 to 4 of a buffer, must be apart from y, bytes 0 to 72")                                       \
    X(y_in_weights_id, GEMV_ID, (c->out.buffer = memory, c->out.offset = 176), ARGUMENT,                               \
      "y is bytes 176 to 248 of a buffer, must be apart from weights[0], bytes 0 to 192")                              \
    X(bias_size, GEMV, (c->biased = 1, c->bias.size = 19), SIZE, "bias.size is 19 bytes, must be at least 20")         \
    X(bias_size_id, GEMV_ID, (c->biased = 1, c->bias.size = 47), SIZE, "bias.size is 47 bytes, must be at least 48")   \
    X(scale_size, GEMV, (c->scaled = 1, c->scale.size = 3), SIZE, "scale.size is 3 bytes, must be at least 4")         \
    X(scale_rows, GEMV, (c->scaled = 1, c->scale_per = QK_PER_ROW), SIZE, "scale.size is 4 bytes, must be at least 20") \
    X(scale_vectors, GEMV, (c->scaled = 1, c->scale_per = QK_PER_VECTOR), SIZE,                                        \
      "scale.size is 4 bytes, must be at least 12")                                                                    \
    X(scale_experts, GEMV_ID, c->scaled = 1, SIZE, "scale.size is 4 bytes, must be at least 16")                       \
    X(scale_rows_of_experts, GEMV_ID, (c->scaled = 1, c->scale_per = QK_PER_ROW), SIZE,                                \
      "scale.size is 4 bytes, must be at least 48")                                                                    \
    X(scale_slots, GEMV_ID, (c->scaled = 1, c->scale_per = QK_PER_VECTOR), SIZE,                                       \
      "scale.size is 4 bytes, must be at least 24")                                                                    \
    X(scale_per, GEMV, (c->scaled = 1, c->scale_per = QK_PER_RESULT), ARGUMENT,                                        \
      "epilogue->scale_per is 3, must be QK_PER_TENSOR, QK_PER_ROW or QK_PER_VECTOR")                                  \
    X(gate_size, GEMV, (c->gated = 1, c->gate.size = 59), SIZE, "gate.size is 59 bytes, must be at least 60")          \
    X(gate_of_y, GEMV, (c->gated = 1, c->adds = 1), ARGUMENT,                                                          \
      "epilogue->adds is 1, must be 0 with a gate; a residual of its own is added behind it")                          \
    X(gate_in_y, GEMV_ID, (c->gated = 1, c->gate = c->out), ARGUMENT,                                                  \
      "y is bytes 0 to 72 of a buffer, must be apart from gate, bytes 0 to 72")                                        \
    X(bias_offset, GEMV_MATRIX, (c->biased = 1, c->bias.offset = 4), ALIGNMENT,                                        \
      "bias.offset is 4, must be a multiple of 16")                                                                    \
    X(bias_buffer, GEMV, (c->biased = 1, c->bias.buffer = NULL), ARGUMENT, "bias.buffer is NULL, must be a buffer")    \
    X(bias_in_y, GEMV_ID, (c->biased = 1, c->bias.buffer = c->out.buffer), ARGUMENT,                                   \
      "y is bytes 0 to 72 of a buffer, must be apart from bias, bytes 0 to 48")                                        \
    X(expert_range, GEMV_ID, (c->rows = 300, c->batch = c->slots = 1, c->weights[0].size = c->weights[1].size = c->out.size = 32768),\
      LIMIT, "weights[0] takes 4800 bytes for one expert, must be at most 4096, the device's storage range")           \
    X(d_rows, DEQUANT_MATRIX, c->rows = 7, ARGUMENT, "rows is 7, must be a multiple of 4, as a block has")             \
    X(d_cols, DEQUANT_MATRIX, c->cols = 56, ARGUMENT, "cols is 56, must be a multiple of 16, as a block has")          \
    X(d_elements, DEQUANT_MATRIX, c->rows = c->cols = UINT64_C(1) << 32, LIMIT,                                        \
      "rows is 4294967296 and cols is 4294967296, their product must be below 2^32")                                   \
    X(d_group, DEQUANT_MATRIX, (c->kernel.view = QK_VIEW_GROUPS, c->rows = 3, c->cols = 24), ARGUMENT,                 \
      "rows times cols is 72, must be a multiple of 16, the elements of a group")                                      \
    X(d_weights, DEQUANT_MATRIX, (c->kernel.ragged = 1, c->rows = 9), SIZE,                                            \
      "weights[0].size is 192 bytes, must be at least 216")                                                            \
    X(d_out, DEQUANT_MATRIX, c->out.size--, SIZE, "out.size is 767 bytes, must be at least 768")                       \
    X(d_overlap, DEQUANT_MATRIX, c->out.buffer = memory, ARGUMENT,                                                     \
      "out is bytes 0 to 768 of a buffer, must be apart from weights[0], bytes 0 to 192")                              \
    X(d_tiles, DEQUANT_MATRIX, (c->kernel.tile_elements = 1, c->kernel.ragged = 1, c->kernel.output = QK_TYPE_U8,       \
      c->backend.limits.storage_range = UINT32_MAX, c->rows = 65535, c->cols = 65537, c->out.size = UINT32_MAX,        \
      c->weights[0].size = c->weights[1].size = UINT32_MAX), LIMIT,                                                    \
      "the call decodes 4294967295 tiles, must be at most 4294903295")                                                 \
    X(d_range, DEQUANT_MATRIX, c->backend.limits.storage_range = 767, LIMIT,                                           \
      "out takes 768 bytes, must be at most 767, the device's storage range")                                          \
    X(g_no_rows, GATHER_MATRIX, c->rows = 0, ARGUMENT, "rows is 0, must be at least 1")                                \
    X(g_no_cols, GATHER_MATRIX, c->cols = 0, ARGUMENT, "cols is 0, must be at least 1")                                \
    X(g_tokens, GATHER_MATRIX, c->tokens = UINT32_MAX, LIMIT,                                                          \
      "tokens is 4294967295 and cols is 48, their product must be below 2^32")                                         \
    X(g_group, GATHER_MATRIX, (c->kernel.view = QK_VIEW_GROUPS, c->cols = 24), ARGUMENT,                               \
      "cols is 24, must be a multiple of 16, so that a row has whole groups")                                          \
    X(g_indices, GATHER_MATRIX, c->ids.size = 8, SIZE, "indices.size is 8 bytes, must be at least 12")                 \
    X(g_status, GATHER_MATRIX, c->status.offset = 4, ALIGNMENT, "status.offset is 4, must be a multiple of 16")        \
    X(g_overlap, GATHER_MATRIX, c->out.buffer = c->ids.buffer, ARGUMENT,                                               \
      "out is bytes 0 to 288 of a buffer, must be apart from indices, bytes 0 to 12")

#define tokens batch
#define EDIT(name, family, edit, status, text)                                                                         \
    static void edit_##name(call *c) {                                                                                 \
        edit;                                                                                                          \
    }
CASES(EDIT)
#undef tokens

typedef struct wrong_case {
    const char *name;
    family family;
    void (*edit)(call *c);
    qk_status status;
    const char *text;
} wrong_case;

#define ROW(name, family, edit, status, text) {#name, family, edit_##name, QK_ERROR_##status, text},
static const wrong_case cases[] = {CASES(ROW)};
/* clang-format on */

static void test_wrong_calls(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const family f = cases[i].family;
        uint32_t launches = 0;
        qk_error error = {""};
        call c = right_call(f, &launches);
        const size_t prefix = strlen(names[f]);
        /* How many bindings there are at least: weights and factors before those of results. */
        char text[sizeof error.text];
        snprintf(text, sizeof text, cases[i].text, (f == GEMV_ID ? 4u : 2u) + (uint32_t)QK_RESULT_BINDINGS_);
        cases[i].edit(&c);
        qk_status status = make_call(&c, f, &error);
        if (status != cases[i].status || strncmp(error.text, names[f], prefix) != 0 ||
            strncmp(error.text + prefix, ": ", 2) != 0 || strcmp(error.text + prefix + 2, text) != 0)
            fail_msg("%s: status %d, \"%s\"", cases[i].name, (int)status, error.text);
        if (launches != 0) fail_msg("%s: launched", cases[i].name);
        assert_int_equal(make_call(&c, f, NULL), cases[i].status);
    }
}

/* ---- Experts of a format whose blocks are patches: in each buffer one after the other ------------------------------- */

typedef struct patches_seen {
    uint32_t count;
    qk_range ranges[4][2];
    uint32_t push[4][QK_GEMV_ID_MATRIX_PUSH_BYTES / 4];
} patches_seen;

static qk_status see_patches(void *context, const qk_launch *launch, qk_error *error) {
    patches_seen *seen = context;
    (void)error;
    assert_true(seen->count < 4);
    memcpy(seen->ranges[seen->count], launch->ranges, sizeof seen->ranges[0]);
    memcpy(seen->push[seen->count++], launch->push, sizeof seen->push[0]);
    return QK_OK;
}

/* Three of 8 x 48, each with 192 and 12 bytes. */
static call experts_of_patches(patches_seen *seen) {
    call c = right_call(GEMV_ID, NULL);
    const call patches = right_call(GEMV_MATRIX, NULL);
    c.backend.context = seen;
    c.backend.launch = see_patches;
    c.backend.limits.offset_alignment = 4;
    memcpy(c.bindings, patches.bindings, 2 * sizeof *c.bindings);
    c.kernel.push_bytes = QK_GEMV_ID_MATRIX_PUSH_BYTES;
    c.kernel.view = QK_VIEW_MATRIX;
    c.kernel.block_elements = patches.kernel.block_elements;
    c.kernel.block_rows = patches.kernel.block_rows;
    c.kernel.block_cols = patches.kernel.block_cols;
    c.experts = 3;
    c.rows = 8;
    c.cols = 48;
    c.batch = 1;
    c.weights[0].size = 3 * 192;
    c.weights[1].size = 3 * 12;
    c.x.size = 48 * 4;
    c.out.size = 2 * 8 * 4;
    return c;
}

static void test_experts_of_patches(void **state) {
    (void)state;
    patches_seen seen = {0};
    qk_error error = {""};
    call c = experts_of_patches(&seen);
    c.backend.limits.storage_range = 400; /* two of them */
    const qk_status status = make_call(&c, GEMV_ID, &error);
    if (status != QK_OK) fail_msg("%s", error.text);
    assert_int_equal(seen.count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t n = i == 0 ? 2 : 1;
        assert_int_equal(seen.ranges[i][0].offset, i * 2 * 192);
        assert_int_equal(seen.ranges[i][0].size, n * 192);
        assert_int_equal(seen.ranges[i][1].offset, i * 2 * 12);
        assert_int_equal(seen.ranges[i][1].size, n * 12);
        const uint32_t expected[12] = {
            8, 48 / TILE, 1, 2, 1, 3, i * 2, i * 2 + n, 0, 48, 8 / PATCH_ROWS, 48 / PATCH_COLS};
        assert_memory_equal(seen.push[i], expected, sizeof expected);
    }
}

static qk_status call_with_views(call *c, const qk_expert_views *views, qk_error *error) {
    c->kernel.bindings = c->bindings;
    return qk_dispatch_gemv_id_views(&c->backend, &c->kernel, c->weights, c->x, c->ids, c->out, c->status, c->experts,
                                     c->rows, c->cols, 1, 2, 1, views, NULL, error);
}

/* Two sets of three. Where they are launched one by one, the second begins between two places that can be bound. */
static void test_sets_of_patches(void **state) {
    (void)state;
    for (uint32_t apart = 0; apart < 2; apart++) {
        patches_seen seen = {0};
        qk_error error = {""};
        call c = experts_of_patches(&seen);
        const qk_expert_views views = {.sets = 2};
        c.weights[0].size = 6 * 192;
        c.weights[1].size = 6 * 12;
        c.out.size = 2 * 2 * 8 * 4;
        c.backend.limits.offset_alignment = 8;
        if (apart) c.backend.limits.storage_range = 1000;
        if (call_with_views(&c, &views, &error) != QK_OK) fail_msg("%s", error.text);
        assert_int_equal(seen.count, 1 + apart);
        for (uint32_t i = 0; i < seen.count; i++) {
            const uint32_t first = 2 * i, count = apart ? 3 + i : 6;
            assert_int_equal(seen.ranges[i][0].offset, first * 192);
            assert_int_equal(seen.ranges[i][0].size, count * 192);
            assert_int_equal(seen.ranges[i][1].offset, first * 12);
            assert_int_equal(seen.ranges[i][1].size, count * 12);
            const uint32_t expected[5] = {2 - apart, i, 8 * i, 24, 16};
            assert_memory_equal(seen.push[i] + 12 + 9, expected, sizeof expected);
        }
    }
}

static void test_wrong_experts_of_patches(void **state) {
    (void)state;
    patches_seen seen = {0};
    qk_error error = {""};
    call c = experts_of_patches(&seen);
    c.rows = 7;
    assert_int_equal(make_call(&c, GEMV_ID, &error), QK_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "rows is 7, must be a multiple of"));
    c = experts_of_patches(&seen);
    c.kernel.ragged = 1;
    assert_int_equal(make_call(&c, GEMV_ID, &error), QK_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "QK_VIEW_MATRIX with whole patches"));
    c = experts_of_patches(&seen);
    c.weights[1].size--;
    assert_int_equal(make_call(&c, GEMV_ID, &error), QK_ERROR_SIZE);
    assert_non_null(strstr(error.text, "weights[1].size is 35 bytes, must be at least 36"));
    c = experts_of_patches(&seen);
    const qk_expert_views gap = {.weights_stride = 16};
    assert_int_equal(call_with_views(&c, &gap, &error), QK_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "views->weights_stride is 16, must be 8"));
    const qk_expert_views within = {.sets = 2, .weights_set_stride = 36};
    c.out.size = 1000;
    assert_int_equal(call_with_views(&c, &within, &error), QK_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "views->weights_set_stride is 36, must be a multiple of 8"));
    assert_int_equal(seen.count, 0);
}

static void test_no_kernel(void **state) {
    (void)state;
    for (int f = 0; f < N_FAMILIES; f++) {
        uint32_t launches = 0;
        qk_error error = {""};
        call c = right_call((family)f, &launches);
        c.no_kernel = 1;
        assert_int_equal(make_call(&c, (family)f, &error), QK_ERROR_ARGUMENT);
        assert_string_equal(error.text, "kernel is NULL, must be a descriptor");
    }
}

static void test_right_calls(void **state) {
    (void)state;
    for (int f = 0; f < N_FAMILIES; f++) {
        uint32_t launches = 0;
        qk_error error = {""};
        call c = right_call((family)f, &launches);
        if (make_call(&c, (family)f, &error) != QK_OK) fail_msg("%s", error.text);
        assert_int_equal(launches, 1);
        c.weights[0].buffer = c.weights[1].buffer = c.out.buffer; /* in one buffer, each behind the other */
        c.weights[0].offset = (c.out.size + 15) / 16 * 16;
        c.weights[1].offset = c.weights[0].offset + c.weights[0].size;
        assert_int_equal(make_call(&c, (family)f, NULL), QK_OK);
        assert_int_equal(launches, 2);
    }
}

/* Nothing to do: nothing is launched, and no argument is looked at. */
static void test_zero_sizes(void **state) {
    (void)state;
    for (int f = 0; f < N_FAMILIES; f++) {
        uint64_t *sizes[4];
        uint32_t launches = 0, count = 0;
        call c = right_call((family)f, &launches);
        if (f != GATHER_MATRIX) {
            sizes[count++] = &c.rows;
            sizes[count++] = &c.cols;
        }
        if (f != DEQUANT_MATRIX) sizes[count++] = &c.batch;
        if (f == GEMV_ID) sizes[count++] = &c.slots;
        c.no_weights = 1;
        c.out.buffer = c.x.buffer = NULL;
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t was = *sizes[i];
            *sizes[i] = 0;
            assert_int_equal(make_call(&c, (family)f, NULL), QK_OK);
            *sizes[i] = was;
        }
        assert_int_equal(launches, 0);
        assert_int_equal(make_call(&c, (family)f, NULL), QK_ERROR_ARGUMENT);
    }
}

static qk_status fail_second(void *context, const qk_launch *launch, qk_error *error) {
    (void)launch;
    if (++*(uint32_t *)context < 2) return QK_OK;
    return qk_fail(error, QK_ERROR_DEVICE, "broken");
}

static void test_launch_fails(void **state) {
    (void)state;
    for (int id = 0; id < 2; id++) {
        const family f = id ? GEMV_ID : GEMV;
        uint32_t launches = 0;
        qk_error error = {""};
        call c = right_call(f, &launches);
        c.backend.launch = fail_second;
        c.backend.limits.offset_alignment = 4;
        c.rows = 40;
        c.cols = 32;
        c.batch = c.slots = 1;
        c.backend.limits.storage_range = id ? 700 : 200;
        c.weights[0].size = c.weights[1].size = c.out.size = 4096;
        assert_int_equal(make_call(&c, f, &error), QK_ERROR_DEVICE);
        assert_string_equal(error.text, "broken");
        assert_int_equal(launches, 2);
    }
}

/* ---- Launches of shapes that no memory holds: arithmetic alone --------------------------------------------------- */

typedef struct shape {
    qk_limits limits;
    uint64_t experts, rows, row_blocks, batch, slots;
    uint64_t done; /* rows or experts, up to where the launches came */
    uint64_t launches;
    uint32_t codes_bytes; /* of a block */
    uint64_t vectors;     /* of these rows, up to where the launches came */
} shape;

/* Where the whole ranges begin, as every alignment that is tried allows, and how much larger than needed they are. */
enum { CODES_AT = 512, SCALES_AT = 256, X_AT = 768, IDS_AT = 0, Y_AT = 1024, STATUS_AT = 256, SPARE = 44 };

static void check_range(const shape *s, const qk_range *range, const void *buffer, uint64_t offset, uint64_t size) {
    assert_ptr_equal(range->buffer, buffer);
    assert_int_equal(range->offset, offset);
    assert_int_equal(range->size, size);
    assert_int_equal(range->offset % s->limits.offset_alignment, 0);
    assert_true(range->size > 0 && range->size <= s->limits.storage_range && range->size <= UINT32_MAX);
}

static uint64_t multiply(uint64_t a, uint64_t b) {
    assert_true(b == 0 || a <= UINT64_MAX / b);
    return a * b;
}

static uint32_t constant_of(const qk_launch *launch, qk_constant_id id) {
    for (uint32_t i = 0; i < launch->kernel->spec_constant_count; i++)
        if (launch->kernel->spec_constants[i].id == id)
            return launch->constants ? launch->constants[i] : launch->kernel->spec_constants[i].value;
    fail_msg("the kernel has no constant %d", (int)id);
    return 0;
}

static void check_workgroups(const shape *s, const qk_launch *launch, uint64_t tasks) {
    const uint64_t groups = launch->workgroups, threads = groups * launch->kernel->workgroup_size;
    assert_true(groups > 0 && groups <= s->limits.workgroup_count && groups <= 65535);
    assert_true(groups == tasks || (groups < tasks && (groups == s->limits.workgroup_count || groups >= 32767)));
    assert_true(threads < UINT64_C(1) << 31);
}

static qk_status check_gemv(void *context, const qk_launch *launch, qk_error *error) {
    shape *s = context;
    const uint32_t *push = launch->push; /* rows, row_tiles, batch, y_first, y_rows, epilogue */
    const uint64_t left = s->batch - s->vectors, vectors = left < 8 ? left : 8, row = s->row_blocks * BLOCK * 4;
    const uint64_t count = push[0], row_tiles = s->row_blocks * (BLOCK / launch->kernel->tile_elements);
    const uint64_t codes = s->row_blocks * s->codes_bytes, scales = s->row_blocks * SCALES;
    const uint32_t rows = constant_of(launch, QK_CONSTANT_ROWS), batch = constant_of(launch, QK_CONSTANT_BATCH);
    (void)error;
    assert_true(count > 0 && count <= s->rows - s->done);
    assert_int_equal(push[1], row_tiles);
    assert_int_equal(push[2], vectors);
    assert_int_equal(push[3], s->vectors * s->rows + s->done);
    assert_int_equal(push[4], s->rows);
    assert_int_equal(push[5], 0);
    check_range(s, &launch->ranges[0], memory, CODES_AT + s->done * codes, count * codes);
    check_range(s, &launch->ranges[1], memory + 1, SCALES_AT + s->done * scales, count * scales);
    check_range(s, &launch->ranges[2], memory + 2, X_AT + s->vectors * row, vectors * row);
    check_range(s, &launch->ranges[3], memory + 4, Y_AT, s->batch * s->rows * 4);
    for (int i = 4; i < 3 + QK_RESULT_BINDINGS_; i++) /* no epilogue: what nobody reads */
        check_range(s, &launch->ranges[i], memory + 4, Y_AT, 4);
    check_workgroups(s, launch, count / rows + (count % rows != 0));
    /* Indices of 32 bits: the tile, and the row where a loop over all workgroups of subgroups of four ends. */
    assert_true(multiply(count, row_tiles) <= UINT32_MAX);
    assert_true(count + (uint64_t)launch->workgroups * (launch->kernel->workgroup_size / 4) * rows <= UINT32_MAX);
    assert_int_equal(constant_of(launch, QK_CONSTANT_LOCAL_SIZE_X), launch->kernel->workgroup_size);
    assert_int_equal(batch, vectors <= 2 ? vectors : vectors <= 4 ? 4 : 8);
    assert_int_equal(rows, vectors <= 4 ? 4 : 2);
    s->vectors = vectors == left ? 0 : s->vectors + vectors;
    s->done += vectors == left ? count : 0;
    s->launches++;
    return QK_OK;
}

static qk_limits limits_of(uint64_t range, uint32_t alignment) {
    const qk_limits limits = {.storage_range = range,
                              .offset_alignment = alignment,
                              .workgroup_count = 65535,
                              .workgroup_size = 1u << 16,
                              .push_bytes = 128,
                              .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_SUBGROUP_ARITHMETIC};
    return limits;
}

static void gemv_with(const qk_kernel *kernel, shape s, uint64_t launches) {
    const qk_backend backend = {.context = &s, .limits = s.limits, .launch = check_gemv};
    const uint64_t blocks = s.rows * s.row_blocks;
    const qk_range weights[] = {{memory, CODES_AT, multiply(blocks, s.codes_bytes) + SPARE},
                                {memory + 1, SCALES_AT, multiply(blocks, SCALES) + SPARE}};
    const qk_range x = {memory + 2, X_AT, s.batch * s.row_blocks * BLOCK * 4 + SPARE};
    const qk_range y = {memory + 4, Y_AT, s.batch * s.rows * 4 + SPARE};
    qk_error error = {""};
    if (qk_dispatch_gemv(&backend, kernel, weights, x, y, s.rows, s.row_blocks * BLOCK, s.batch, &error) != QK_OK)
        fail_msg("%s", error.text);
    assert_int_equal(s.done, s.rows);
    assert_int_equal(s.launches, launches);
}

static void gemv_shape(uint64_t rows, uint64_t row_blocks, uint64_t batch, uint64_t range, uint32_t alignment,
                       uint64_t launches) {
    const qk_kernel kernel = kernel_of(GEMV);
    const shape s = {limits_of(range, alignment), 0, rows, row_blocks, batch, 0, 0, 0, CODES, 0};
    gemv_with(&kernel, s, launches);
}

static void test_gemv_parts(void **state) {
    (void)state;
    gemv_shape(1, 1, 1, 128, 1, 1);
    gemv_shape(65536, 128, 1, 134217728, 16, 1); /* 128 MiB of codes, to the byte */
    gemv_shape(65537, 128, 1, 134217728, 16, 2);
    gemv_shape(65536, 128, 1, 134217727, 16, 2);
    gemv_shape(151936, 128, 8, 134217728, 256, 3);      /* 297 MiB */
    gemv_shape(1 << 20, 128, 1, UINT32_MAX, 64, 1);     /* 2^32 elements, 2 GiB */
    gemv_shape(1 << 21, 128, 5, UINT32_MAX, 64, 2);     /* 2^33 elements, 4 GiB */
    gemv_shape(1 << 24, 256, 4, UINT64_MAX, 256, 17);   /* 2^37 elements, 64 GiB */
    gemv_shape(UINT32_MAX / 4, 1, 1, UINT64_MAX, 4, 5); /* y is just below 4 GiB */
    gemv_shape(9, 1 << 20, 8, UINT32_MAX, 256, 1);      /* rows of 2^25 elements, x of 1 GiB */
    gemv_shape(1000, 1 << 20, 1, UINT64_MAX, 64, 4);    /* and their codes, 15.6 GiB */
}

/* One tile to an element, and blocks of a byte: counts of 32 bits end before the memory does. */
static void test_gemv_counts(void **state) {
    (void)state;
    qk_kernel kernel = kernel_of(GEMV);
    qk_binding small[QK_MAX_BINDINGS];
    memcpy(small, bindings[GEMV], sizeof small);
    small[0].block_bytes = 4;
    kernel.bindings = small;
    kernel.tile_elements = 1;
    shape s = {limits_of(UINT32_MAX, 64), 0, 1 << 20, 128, 1, 0, 0, 0, 4, 0};
    gemv_with(&kernel, s, 2); /* 2^32 tiles in 512 MiB */
    s.rows = (1 << 20) - (1 << 12);
    gemv_with(&kernel, s, 1);
    s.rows = UINT64_C(1) << 24;
    gemv_with(&kernel, s, 17);
    kernel.workgroup_size = 1u << 16; /* with all workgroups, 2^32 threads */
    const qk_spec_constant large[] = {
        {QK_CONSTANT_LOCAL_SIZE_X, "local_size_x", 1u << 16, 0, NULL}, constants[1], constants[2]};
    kernel.spec_constants = large;
    s.rows = 1 << 20;
    gemv_with(&kernel, s, 2);
}

/* Right-hand sides by eights, of each part of the rows. */
static void test_gemv_vectors(void **state) {
    (void)state;
    for (uint64_t batch = 9; batch < 40; batch++) gemv_shape(5, 3, batch, 1 << 20, 256, (batch + 7) / 8);
    gemv_shape(4096, 128, 512, UINT32_MAX, 64, 64);
    gemv_shape(65537, 128, 16, 134217728, 16, 4);
}

/* Every pair of small numbers, with limits that force parts: nothing is left out, nothing comes twice. */
static void test_gemv_small(void **state) {
    (void)state;
    for (uint32_t alignment = 1; alignment <= 16; alignment *= 2)
        for (uint64_t rows = 1; rows < 70; rows++) {
            /* x takes 288 bytes, and codes 48 for a row, scales 6: a part is a multiple of rows that keeps both aligned */
            const uint64_t step = alignment <= 2 ? 1 : alignment / 2, part = 600 / 48 - 600 / 48 % step;
            for (uint64_t batch = 1; batch <= 1 + (rows < 36); batch++)
                gemv_shape(rows, 3, batch == 1 ? 1 : 600 / 384, 600, alignment,
                           600 / 48 >= rows ? 1 : (rows + part - 1) / part);
        }
    for (uint64_t batch = 1; batch <= 8; batch++)
        for (uint64_t rows = 1; rows < 32; rows++) gemv_shape(rows, 1, batch, 1024, 4, 1);
}

/* ---- The constants of a launch ----------------------------------------------------------------------------------- */

typedef struct seen {
    uint32_t constants[QK_MAX_CONSTANTS];
    uint32_t push[32]; /* those of patches have most: nine, and those of views */
    uint32_t workgroups, launches;
    uint64_t bytes[2]; /* of the weights that are bound */
    uint64_t first[2]; /* where x and y begin */
    int none;
} seen;

static qk_status see(void *context, const qk_launch *launch, qk_error *error) {
    seen *s = context;
    (void)error;
    s->none = launch->constants == NULL;
    for (uint32_t i = 0; i < 2; i++) s->first[i] = launch->ranges[launch->kernel->binding_count - 3 + i].offset;
    for (uint32_t i = 0; !s->none && i < launch->kernel->spec_constant_count; i++)
        s->constants[i] = launch->constants[i];
    assert_true(launch->kernel->push_bytes <= sizeof s->push);
    memcpy(s->push, launch->push, launch->kernel->push_bytes);
    s->workgroups = launch->workgroups;
    for (int i = 0; i < 2; i++) s->bytes[i] = launch->ranges[i].size;
    s->launches++;
    return QK_OK;
}

static uint32_t launches = 1; /* of a call, as a test expects them */

static seen see_call(call *c, family f) {
    seen s = {{0}, {0}, 0, 0, {0}, {0}, 0};
    qk_error error = {""};
    c->backend.context = &s;
    c->backend.launch = see;
    if (make_call(c, f, &error) != QK_OK) fail_msg("%s", error.text);
    assert_int_equal(s.launches, launches);
    return s;
}

static void test_constants(void **state) {
    (void)state;
    static const uint32_t kept[] = {1, 2, 4, 4, 8, 8, 8, 8}, rows[] = {4, 4, 4, 4, 2, 2, 2, 2};
    for (int patches = 0; patches < 2; patches++)
        for (uint64_t batch = 1; batch <= 8; batch++) {
            const family f = patches ? GEMV_MATRIX : GEMV;
            call c = right_call(f, NULL);
            c.batch = batch;
            c.x.size = c.out.size = 4096;
            seen s = see_call(&c, f);
            assert_int_equal(s.constants[0], 64);
            assert_int_equal(s.constants[1], kept[batch - 1]);
            assert_int_equal(s.constants[2], rows[batch - 1]);
            const uint32_t at_once = rows[batch - 1]; /* of 5 or 8 */
            assert_int_equal(s.workgroups, ((uint32_t)c.rows + at_once - 1) / at_once);
            c.constants[2].value = 1; /* what the descriptor says, in whatever order */
            c.constants[0] = constants[1];
            c.constants[1] = constants[0];
            c.constants[1].value = 128;
            s = see_call(&c, f);
            assert_int_equal(s.constants[0], kept[batch - 1]);
            assert_int_equal(s.constants[1], 128);
            assert_int_equal(s.constants[2], 1);
            assert_int_equal(s.workgroups, c.rows);
            c.kernel.spec_constant_count = 1; /* rows are no constant: as many as the templates take */
            s = see_call(&c, f);
            assert_int_equal(s.constants[0], kept[batch - 1]);
            assert_int_equal(s.workgroups, ((uint32_t)c.rows + at_once - 1) / at_once);
        }
    call c = right_call(GEMV_ID, NULL);
    seen s = see_call(&c, GEMV_ID);
    assert_int_equal(s.constants[2], 4); /* what the descriptor says */
    assert_int_equal(s.workgroups, 6);   /* three tokens of two slots, three rows at a time */
    c.constants[2].value = 2;
    assert_int_equal(see_call(&c, GEMV_ID).workgroups, 12);
    /* With loads of 16 bytes, as of a matrix with a row for each result; a workgroup takes rows of one expert. */
    static const uint32_t words[] = {1, 4}, runs[] = {1, 512, 1024, 2048};
    static const struct {
        uint64_t rows, cols, tokens;
        uint32_t digits, tables, threads, at_once, staged, workgroups;
    } shapes[] = {
        {768, 2048, 1, 0, 0, 128, 8, 512, 6 * 24},
        {2048, 768, 1, 0, 0, 256, 8, 512, 6 * 16}, /* of so short a row 16 lanes have a tile: two rows side by side */
        {2048, 512, 1, 0, 0, 256, 8, 512, 6 * 8},
        {768, 2048, 8, 0, 0, 256, 8, 512, 264},
        {1, 2048, 1, 0, 0, 128, 2, 512, 6},
        {768, 4096, 8, 0, 0, 256, 8, 1, 264},
        {768, 2048, 8, 2, 0, 256, 8, 512, 264},
        /* Of many rows, 5280 subgroups and more: x of integers in small workgroups, fewer rows at a time where it is one byte. */
        {704, 2048, 10, 0, 0, 256, 8, 1, 264},
        {703, 2048, 10, 2, 0, 256, 8, 512, 264},
        {704, 2048, 10, 2, 0, 128, 8, 512, 528},
        {704, 2048, 10, 1, 0, 128, 4, 512, 660},
        {704, 2048, 10, 2, 1, 256, 8, 1, 264},
        {704, 65536, 10, 2, 0, 256, 8, 1, 264},
    };
    c.constants[2].value = 4;
    c.constants[3] = (qk_spec_constant){QK_CONSTANT_SCHEDULE, "schedule", 0, 4, schedules};
    c.constants[4] = (qk_spec_constant){QK_CONSTANT_STAGED, "staged", 1, 4, runs};
    c.backend.limits.storage_range = UINT32_MAX;
    c.backend.limits.workgroup_count = 1u << 16;
    c.backend.limits.workgroup_size = 256;
    c.slots = 6;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        c.constants[5] = (qk_spec_constant){QK_CONSTANT_DIGITS, "digits", shapes[i].digits, 0, NULL};
        c.constants[6] = (qk_spec_constant){QK_CONSTANT_COPIES, "copies", 1, 1, words};
        c.kernel.spec_constant_count = shapes[i].tables ? 7 : 6;
        c.rows = shapes[i].rows;
        c.cols = shapes[i].cols;
        c.batch = shapes[i].tokens;
        for (int w = 0; w < 2; w++) c.weights[w].size = c.experts * c.rows * c.cols / BLOCK * c.bindings[w].block_bytes;
        c.x.size = c.batch * c.cols * 4;
        c.ids.size = c.batch * c.slots * 4;
        c.out.size = c.batch * c.slots * c.rows * 4;
        s = see_call(&c, GEMV_ID);
        assert_int_equal(s.constants[0], shapes[i].threads);
        assert_int_equal(s.constants[2], shapes[i].at_once);
        assert_int_equal(s.constants[4], shapes[i].staged);
        assert_int_equal(s.workgroups, shapes[i].workgroups);
    }
}

static uint32_t table_bytes;                                       /* of a table that the kernel has, or 0 */
static uint32_t lanes;                                             /* of the device's subgroups, or 0 */
static uint32_t kept;                                              /* elements whose x a thread keeps, or 0 */
static uint32_t in_registers;                                      /* rows at a time; 0: 8 */
static uint32_t wide_block, teams_block, shared_tile, shares_wide; /* of the kernel; teams_block 0: wide_block */
static uint32_t loop_steps;                                        /* that the driver lets a thread take, or 0 */
static int has_split;                                              /* the kernel has teams of lanes */
static int has_bytes;                                              /* its products are of bytes */
static uint32_t teams_tile;                                        /* of 64 elements; 0: of 32, which take 9 */
static int few_bits;                                               /* 12 bits for 8 weights, not 36 */
static int windows; /* loads may go beyond the last block; 2: of 44 bits for 8 weights */

/* A kernel that loads 16 bytes at once, where a workgroup keeps all of x: its constants for a shape. */
static seen see_shape(uint64_t rows, uint64_t cols, uint64_t batch, uint32_t busy, const qk_spec_constant *own) {
    static const uint32_t fours[] = {512, 1024, 1280, 2048, 2560}, runs[] = {1, 512, 1024, 2048}, once[] = {0, 1};
    call c = right_call(GEMV, NULL);
    c.constants[3] = (qk_spec_constant){QK_CONSTANT_SCHEDULE, "schedule", 0, 5, schedules};
    for (int i = 0; own && i < 4; i++)
        if (own->id == c.constants[i].id) c.constants[i] = *own;
    c.constants[4] = (qk_spec_constant){QK_CONSTANT_SHARED_FOURS, "shared_fours", 512, 5, fours};
    c.constants[5] = (qk_spec_constant){QK_CONSTANT_STAGED, "staged", 1, 4, runs};
    c.kernel.spec_constant_count = 6;
    const int there =
        own && (own->id == QK_CONSTANT_LOCAL_SIZE_X || own->id == QK_CONSTANT_BATCH || own->id == QK_CONSTANT_ROWS ||
                own->id == QK_CONSTANT_SCHEDULE || own->id == QK_CONSTANT_SHARED_FOURS);
    if (own && !there) c.constants[c.kernel.spec_constant_count++] = *own;
    static const uint32_t splits[] = {1, 2, 4, 8, 16, 32};
    if (has_split)
        c.constants[c.kernel.spec_constant_count++] = (qk_spec_constant){QK_CONSTANT_SPLIT, "split", 1, 6, splits};
    if (has_bytes)
        c.constants[c.kernel.spec_constant_count++] = (qk_spec_constant){QK_CONSTANT_DIGITS, "digits", 1, 0, NULL};
    const qk_table table = {.name = "G", .bytes = table_bytes};
    c.kernel.tables = &table;
    c.kernel.table_count = table_bytes != 0;
    c.kernel.kept_elements = kept;
    c.kernel.rows_at_once = in_registers;
    c.kernel.wide_block = wide_block;
    c.kernel.teams_block = teams_block ? teams_block : wide_block;
    c.kernel.shared_tile = shared_tile;
    c.kernel.shares_wide = shares_wide;
    c.kernel.teams_tile = teams_tile ? teams_tile : 9;
    c.kernel.teams_kept = teams_tile ? 64 : 32;
    c.backend.limits.storage_range = UINT32_MAX;
    c.backend.limits.workgroup_count = 1u << 16;
    c.backend.limits.workgroup_size = windows || (own && own->id == QK_CONSTANT_TABLE_COPIES) ? 1024 : 256;
    c.backend.limits.busy_workgroups = busy;
    c.backend.limits.subgroup_size = lanes;
    c.backend.limits.loop_steps = loop_steps;
    if (few_bits) c.bindings[0].block_bytes = 4;
    if (windows == 2) c.bindings[0].block_bytes += 8;
    if (windows)
        c.constants[c.kernel.spec_constant_count++] = (qk_spec_constant){QK_CONSTANT_PADDED, "padded", 0, 2, once};
    c.backend.limits.shared_bytes = own && own->id == QK_CONSTANT_SHARED_FOURS ? own->value : 49152;
    c.rows = rows;
    c.cols = cols;
    c.batch = batch;
    for (int i = 0; i < 2; i++) c.weights[i].size = rows * cols / BLOCK * c.bindings[i].block_bytes;
    c.x.size = batch * cols * 4;
    c.out.size = batch * rows * 4;
    return see_call(&c, GEMV);
}

/* A driver that ends loops gets workgroups enough, of many rows and of short ones. */
static void test_loop_steps(void **state) {
    (void)state;
    static const uint64_t shapes[][3] = {{262144, 1024, 1}, {262144, 1024, 3}, {65536, 4096, 8}, {2000000, 64, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const uint64_t rows = shapes[i][0], cols = shapes[i][1], batch = shapes[i][2];
        loop_steps = 0;
        const seen any = see_shape(rows, cols, batch, 16, NULL);
        loop_steps = 65535;
        const seen few = see_shape(rows, cols, batch, 16, NULL);
        loop_steps = 0;
        const uint64_t threads = few.constants[0], products = cols * batch;
        assert_memory_equal(any.constants, few.constants, sizeof few.constants);
        assert_true(any.workgroups < few.workgroups && few.workgroups <= 65535);
        assert_true(few.workgroups * threads * 65535 >= 3 * rows * (products > threads ? products : threads));
    }
}

static void test_kept_x(void **state) {
    (void)state;
    static const struct {
        uint64_t rows, cols, batch;
        uint32_t busy, threads, at_once, workgroups, staged;
    } shapes[] = {
        {57344, 8192, 1, 0, 256, 8, 264,
         1}, /* floats: workgroups as large as can be; more groups of rows than workgroups */
        {57344, 1024, 1, 0, 256, 8, 264, 1},
        {5280, 16384, 1, 0, 256, 8, 264, 1},
        {5272, 16384, 1, 0, 256, 8, 264, 2048}, /* fewer than 8 * 660 subgroups: each has x for few rows */
        /* 512 subgroups, at least 3 / 4 of 660, and at most 8 / 5: small workgroups for all of the device */
        {2048, 4096, 1, 0, 128, 8, 128, 1024},
        {1024, 4096, 1, 0, 128, 4, 128, 1024},
        {100, 4096, 1, 0, 128, 2, 25, 1024},
        {1024, 2048, 1, 0, 128, 2, 128, 512},  /* one subgroup keeps all of x */
        {16384, 1024, 1, 0, 256, 8, 256, 512}, /* 2048 subgroups */
        {8448, 2048, 1, 0, 128, 8, 264, 512},  /* 1056, and one row more */
        {8449, 2048, 1, 0, 256, 8, 133, 512},
        {5273, 2048, 1, 0, 128, 8, 165, 512}, /* 660 of eight rows; of one less, a workgroup would stage x for few */
        {5272, 2048, 1, 0, 256, 2, 264, 512},
        {3953, 2048, 1, 0, 256, 2, 248, 512},
        {3952, 2048, 1, 0, 128, 4, 247, 512}, /* fewer than 3 / 4 of 660 */
        {256, 65536, 1, 0, 256, 2, 128, 1},   /* a workgroup for each two rows */
        {1024, 65536, 1, 0, 256, 8, 128, 1},  /* no workgroup does */
        {1024, 4096, 1, 16, 128, 8, 12, 1},   /* a device that says what keeps it busy */
        /* Several right-hand sides are shared by a workgroup as large as can be, and by no more than run at once. */
        {57344, 8192, 2, 0, 256, 8, 264, 1},
        {57344, 8192, 3, 0, 256, 4, 264, 1},
        {57344, 8192, 8, 0, 256, 4, 264, 1},
        {1024, 4096, 8, 0, 256, 2, 64, 1},
        {57344, 8192, 8, 16, 256, 4, 6, 1},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const seen s = see_shape(shapes[i].rows, shapes[i].cols, shapes[i].batch, shapes[i].busy, NULL);
        assert_int_equal(s.constants[0], shapes[i].threads);
        assert_int_equal(s.constants[2], shapes[i].at_once);
        assert_int_equal(s.constants[3], QK_SCHEDULE_ROWS); /* of lanes that are not known */
        assert_int_equal(s.constants[5], shapes[i].staged);
        assert_int_equal(s.workgroups, shapes[i].workgroups);
    }
    /* Of fewer than two bits, tiles of two digits or three have more elements. */
    few_bits = 1;
    qk_spec_constant two = {QK_CONSTANT_DIGITS, "digits", 2, 0, NULL}, one = {QK_CONSTANT_DIGITS, "digits", 1, 0, NULL};
    assert_int_equal(see_shape(57344, 8192, 1, 0, &two).constants[0], 256);
    assert_int_equal(see_shape(57344, 8192, 1, 0, &one).constants[0], 128);
    few_bits = 0;
    /* Of up to five bits that are loaded with their neighbours, registers hold more. */
    windows = 1;
    assert_int_equal(see_shape(57344, 8192, 1, 0, &two).constants[0], 256);
    assert_int_equal(see_shape(57344, 8192, 1, 0, &one).constants[0], 128);
    windows = 2;
    assert_int_equal(see_shape(57344, 8192, 1, 0, &two).constants[0], 128);
    windows = 0;
    assert_int_equal(see_shape(57344, 8192, 1, 0, &two).constants[0], 128);
    /* A processor's subgroups have few lanes: workgroups are as small as can be, but those whose teams share x. */
    lanes = 8;
    has_split = 1;
    for (uint64_t batch = 1; batch <= 8; batch *= 2) {
        const seen s = see_shape(4096, 8192, batch, 16, NULL);
        assert_int_equal(s.constants[0], batch > 1 ? 256 : 32);
        assert_int_equal(s.constants[2], batch > 1 ? 8 : 4);
        assert_int_equal(s.constants[3], batch > 1 ? QK_SCHEDULE_TEAMS : QK_SCHEDULE_WIDE);
        assert_int_equal(s.workgroups, batch > 1 ? 16 : 12);
    }
    lanes = has_split = 0;
    /* Integers: as many threads as hold x, and no more than the device has. */
    qk_spec_constant bytes = {QK_CONSTANT_DIGITS, "digits", 1, 0, NULL};
    assert_int_equal(see_shape(57344, 8192, 1, 0, &bytes).constants[0], 128);
    assert_int_equal(see_shape(57344, 1024, 1, 0, &bytes).constants[0], 128);
    assert_int_equal(see_shape(57344, 16384, 1, 0, &bytes).constants[0], 256);
    assert_int_equal(see_shape(4096, 65536, 1, 0, &bytes).constants[0], 256);
    assert_int_equal(see_shape(3072, 4096, 1, 0, &bytes).constants[0], 128);
    assert_int_equal(see_shape(4096, 4096, 1, 0, &bytes).constants[0], 256); /* seven subgroups for each processor */
    assert_int_equal(see_shape(4096, 4096, 1, 0, &bytes).constants[5], 1024);
    assert_int_equal(see_shape(14336, 4096, 1, 0, &bytes).constants[0], 256);
    assert_int_equal(see_shape(57344, 8192, 1, 0, &bytes).workgroups, 660);
    bytes.value = 2;
    assert_int_equal(see_shape(4096, 4096, 1, 0, &bytes).constants[0], 128);
    assert_int_equal(see_shape(57344, 8192, 1, 0, &bytes).workgroups, 528);
    static const uint32_t counts[] = {1, 2, 4, 8, 16, 32};
    const qk_spec_constant single = {QK_CONSTANT_SCHEDULE, "schedule", QK_SCHEDULE_ROWS, 4, schedules},
                           rows = {QK_CONSTANT_ROWS, "rows", 2, 4, powers},
                           threads = {QK_CONSTANT_LOCAL_SIZE_X, "local_size_x", 32, 0, NULL};
    seen s = see_shape(57344, 8192, 1, 0, &single);
    assert_int_equal(s.constants[0], 64);
    assert_int_equal(s.constants[2], 4);
    assert_int_equal(s.workgroups, 14336);
    assert_int_equal(see_shape(57344, 8192, 1, 0, &rows).constants[2], 2); /* what the descriptor says */
    assert_int_equal(see_shape(57344, 8192, 1, 0, &threads).constants[0], 32);
    /* Integers take fewer rows, for a tile of them is large; memory as much as there is, beside 256 / 4 * 4 * 2 sums. */
    const qk_spec_constant digits = {QK_CONSTANT_DIGITS, "digits", 1, 0, NULL},
                           little = {QK_CONSTANT_SHARED_FOURS, "", 16384, 0, NULL},
                           some = {QK_CONSTANT_SHARED_FOURS, "", 40960 + 2047 + QK_UNUSED_SHARED_BYTES, 0, NULL},
                           enough = {QK_CONSTANT_SHARED_FOURS, "", 40960 + 2048 + QK_UNUSED_SHARED_BYTES, 0, NULL};
    assert_int_equal(see_shape(57344, 8192, 2, 0, &digits).constants[2], 4);
    assert_int_equal(see_shape(57344, 8192, 8, 0, &digits).constants[2], 2);
    assert_int_equal(see_shape(57344, 8192, 8, 0, &little).constants[4], 512); /* what Vulkan promises */
    assert_int_equal(see_shape(57344, 8192, 8, 0, &some).constants[4], 2048);
    assert_int_equal(see_shape(57344, 8192, 8, 0, &enough).constants[4], 2560);
    /* Runs of x, a gap for each tile, and sums: 18 * 1024 + 256 * 8 * 2 + 512 bytes. */
    const qk_spec_constant less = {QK_CONSTANT_SHARED_FOURS, "", 23039 + QK_UNUSED_SHARED_BYTES, 0, NULL},
                           more = {QK_CONSTANT_SHARED_FOURS, "", 23040 + QK_UNUSED_SHARED_BYTES, 0, NULL};
    assert_int_equal(see_shape(4096, 8192, 1, 0, &less).constants[5], 512);
    assert_int_equal(see_shape(4096, 8192, 1, 0, &more).constants[5], 1024);
    /* Copies of a table of 1024 bytes: as many as there is memory for. Where x is staged, sixteen of matrices that have
     * 2^18 weights for each of 132 processors, else one, unless the descriptor has more. */
    const qk_spec_constant copies = {QK_CONSTANT_COPIES, "copies", 1, 6, counts},
                           all = {QK_CONSTANT_COPIES, "copies", 32, 6, counts};
    s = see_shape(57344, 8192, 1, 0, &copies);
    assert_int_equal(s.constants[6], 32);
    assert_int_equal(see_shape(4224, 8192, 1, 0, &copies).constants[6], 16);
    assert_int_equal(see_shape(4223, 8192, 1, 0, &copies).constants[6], 1);
    assert_int_equal(see_shape(57344, 8192, 2, 0, &copies).constants[6], 8); /* of several vectors of floats */
    has_bytes = 1; /* three and more vectors of bytes: few copies where weights are few */
    assert_int_equal(see_shape(4223, 8192, 4, 0, &copies).constants[6], 8);
    assert_int_equal(see_shape(4224, 8192, 4, 0, &copies).constants[6], 16);
    assert_int_equal(see_shape(4224, 8192, 8, 0, &copies).constants[6], 8); /* of eight always */
    assert_int_equal(see_shape(4223, 8192, 2, 0, &copies).constants[6], 16);
    has_bytes = 0;
    s = see_shape(1024, 4096, 1, 0, &copies);
    assert_int_equal(s.constants[5], 1024);
    assert_int_equal(s.constants[6], 1);
    assert_int_equal(s.constants[0], 256); /* fewer workgroups make the table, each of twice as many threads */
    assert_int_equal(s.constants[2], 2);
    s = see_shape(4096, 4096, 1, 0, &copies);
    assert_int_equal(s.constants[0], 256);
    assert_int_equal(s.constants[2], 8);
    assert_int_equal(s.workgroups, 128);
    /* Large workgroups: pairs; of integers long rows, eight at a time, of which no few are. */
    windows = has_bytes = 1;
    assert_int_equal(see_shape(14336, 4096, 1, 0, &copies).constants[0], 512);
    assert_int_equal(see_shape(14336, 4096, 1, 0, NULL).constants[0], 256);
    assert_int_equal(see_shape(4096, 14336, 1, 0, NULL).constants[0], 512);
    assert_int_equal(see_shape(4096, 8192, 1, 0, NULL).constants[0], 256);
    assert_int_equal(see_shape(1024, 14336, 1, 0, NULL).constants[0], 256);
    windows = has_bytes = 0;
    s = see_shape(1024, 4096, 1, 0, &all);
    assert_int_equal(s.constants[5], 512); /* of 49152 - 32768 - 1536 bytes */
    assert_int_equal(s.constants[6], 32);
    s = see_shape(57344, 8192, 8, 0, &copies);
    assert_int_equal(s.constants[4], 2048); /* fewer copies leave memory for more of x */
    const qk_spec_constant tables = {QK_CONSTANT_TABLE_COPIES, "table_copies", 1, 6, counts};
    table_bytes = 1536; /* beside 512 * 8 * 2 + 512 bytes */
    s = see_shape(57344, 8192, 1, 0, &tables);
    assert_int_equal(s.constants[0], 512);
    assert_int_equal(s.constants[6], 16);
    table_bytes = 16384;
    s = see_shape(57344, 8192, 1, 0, &tables);
    assert_int_equal(s.constants[0], 256); /* of large tables two copies */
    assert_int_equal(s.constants[6], 2);
    table_bytes = 8192;
    assert_int_equal(see_shape(57344, 8192, 1, 0, &tables).constants[0], 512);
    kept = 128; /* whose x fills the registers that a thread of 512 has */
    assert_int_equal(see_shape(57344, 8192, 1, 0, &tables).constants[0], 256);
    kept = 0;
    table_bytes = 0;
    assert_int_equal(see_shape(57344, 8192, 1, 16, &copies).constants[6], 1); /* not where threads share no banks */
    assert_int_equal(see_shape(4096, 4096, 1, 0, &single).constants[5], 1);   /* what is not kept is not staged */
    /* Bounds are checked of several right-hand sides, and else as the descriptor says. */
    const qk_spec_constant checked = {QK_CONSTANT_CHECKED, "checked", 0, 0, NULL};
    assert_int_equal(see_shape(57344, 8192, 1, 0, &checked).constants[6], 0);
    assert_int_equal(see_shape(57344, 8192, 2, 0, &checked).constants[6], 1);
}

/* Threads load their own x of long rows, though these are few: where products of integers wait for lookups, where
 * threads keep much of x, and where large workgroups would have little to do in their last round; but not where there
 * is one for each processor. */
static void test_apart(void **state) {
    (void)state;
    static const uint32_t counts[] = {1, 2, 4, 8, 16, 32};
    static const struct {
        uint64_t rows, cols;
        uint32_t digits, pairs, kept, threads, at_once, staged, workgroups;
    } cases[] = {
        {2560, 9728, 0, 0, 0, 256, 4, 1, 264},     {2560, 9728, 2, 0, 0, 256, 4, 1, 264},
        {1536, 8960, 0, 0, 0, 256, 4, 1, 264},     {1536, 8960, 1, 0, 0, 256, 8, 2048, 192},
        {4096, 14336, 0, 0, 0, 512, 8, 2048, 132}, /* two rounds, of which the last is nearly full */
        {1024, 14336, 0, 0, 0, 256, 8, 2048, 128}, {1056, 14336, 1, 1, 0, 256, 8, 2048, 132},
        {1057, 14336, 1, 1, 0, 256, 4, 1, 264},    {4096, 14336, 1, 1, 0, 256, 8, 1, 264},
        {4096, 14336, 2, 1, 0, 256, 8, 1, 264},    {4096, 14336, 0, 1, 0, 512, 8, 1024, 132},
        {1536, 8960, 1, 0, 128, 256, 4, 1, 192},   {2560, 8192, 0, 0, 0, 512, 8, 2048, 80}, /* four slices */
        {2560, 16448, 0, 0, 0, 512, 8, 2048, 132},                                          /* nine */
    };
    lanes = 32;
    has_split = windows = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const qk_spec_constant digits = {QK_CONSTANT_DIGITS, "digits", cases[i].digits, 0, NULL},
                               copies = {QK_CONSTANT_COPIES, "copies", 1, 6, counts};
        kept = cases[i].kept;
        has_bytes = cases[i].pairs ? (int)cases[i].digits : 0;
        const seen s = see_shape(cases[i].rows, cases[i].cols, 1, 0, cases[i].pairs ? &copies : &digits);
        if (s.constants[0] != cases[i].threads || s.constants[2] != cases[i].at_once ||
            s.constants[5] != cases[i].staged || s.workgroups != cases[i].workgroups)
            fail_msg("case %zu: %u %u %u %u", i, s.constants[0], s.constants[2], s.constants[5], s.workgroups);
        assert_int_equal(s.constants[3], QK_SCHEDULE_WIDE);
        if (cases[i].pairs) assert_int_equal(s.constants[6], cases[i].rows == 4096 ? 16 : 1); /* as if it were staged */
    }
    kept = has_bytes = 0;
    lanes = 64;
    assert_int_not_equal(see_shape(2560, 9728, 1, 0, NULL).constants[5], 1); /* subgroups that were not measured */
    lanes = has_split = windows = 0;
}

/* Integers of which registers hold four rows: eight of few, and of two bytes where workgroups are small. */
static void test_rows_of_few(void **state) {
    (void)state;
    static const uint64_t cases[][4] = {
        {4096, 4096, 1, 8}, {4096, 4096, 2, 8},  {4096, 4096, 0, 4}, {6144, 4096, 1, 8}, {6144, 4096, 2, 4},
        {1024, 4096, 1, 4}, {1024, 14336, 2, 8}, {1984, 4096, 1, 8}, {1976, 4096, 1, 4}, /* 495 subgroups */
    };
    in_registers = 4;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const qk_spec_constant digits = {QK_CONSTANT_DIGITS, "digits", (uint32_t)cases[i][2], 0, NULL};
        assert_int_equal(see_shape(cases[i][0], cases[i][1], 1, 0, &digits).constants[2], cases[i][3]);
    }
    const qk_spec_constant one = {QK_CONSTANT_DIGITS, "digits", 1, 0, NULL};
    kept = 128;
    assert_int_equal(see_shape(4096, 4096, 1, 0, &one).constants[2], 4);
    kept = 0;
    in_registers = 2;
    assert_int_equal(see_shape(4096, 4096, 1, 0, &one).constants[2], 2);
    in_registers = 0;
}

static uint32_t schedule_of(uint64_t rows, uint64_t cols, uint64_t batch, const qk_spec_constant *own) {
    return see_shape(rows, cols, batch, 0, own).constants[3];
}

/* A processor's teams: eight rows for as many lanes; of few rows smaller workgroups, then fewer at a time. */
static void test_small_teams(void **state) {
    (void)state;
    static const struct {
        uint64_t rows;
        uint32_t lanes, tile, schedule, threads, at_once, split, workgroups;
    } cases[] = {
        {8192, 8, 9, QK_SCHEDULE_TEAMS, 256, 8, 4, 32}, {2048, 8, 9, QK_SCHEDULE_TEAMS, 256, 8, 4, 8},
        {1024, 8, 9, QK_SCHEDULE_TEAMS, 128, 8, 4, 8},  {512, 8, 9, QK_SCHEDULE_TEAMS, 64, 8, 4, 8},
        {256, 8, 9, QK_SCHEDULE_TEAMS, 32, 8, 4, 8},    {64, 8, 9, QK_SCHEDULE_TEAMS, 32, 2, 4, 8},
        {1, 8, 9, QK_SCHEDULE_TEAMS, 32, 2, 4, 1},      {512, 16, 9, QK_SCHEDULE_TEAMS, 64, 8, 2, 8},
        {512, 8, 80, QK_SCHEDULE_TEAMS, 64, 8, 4, 8},   {512, 8, 81, QK_SCHEDULE_SHARED, 32, 4, 0, 12},
        {512, 4, 9, QK_SCHEDULE_SHARED, 32, 4, 0, 12},
    };
    has_split = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lanes = cases[i].lanes;
        teams_tile = cases[i].tile;
        const seen s = see_shape(cases[i].rows, 8192, 8, 16, NULL);
        assert_int_equal(s.constants[3], cases[i].schedule);
        assert_int_equal(s.constants[0], cases[i].threads);
        assert_int_equal(s.constants[2], cases[i].at_once);
        if (cases[i].split) assert_int_equal(s.constants[6], cases[i].split);
        assert_int_equal(s.workgroups, cases[i].workgroups);
    }
    has_split = lanes = teams_tile = 0;
}

/* A schedule that does not fit the shape or the device is not launched: plain rows are. */
static void test_schedules(void **state) {
    (void)state;
    const qk_spec_constant rows = {QK_CONSTANT_ROWS, "rows", 8, 4, powers},
                           little = {QK_CONSTANT_SHARED_FOURS, "", 16384, 0, NULL};
    lanes = 32;
    assert_int_equal(schedule_of(4096, 8192, 1, NULL), QK_SCHEDULE_WIDE);
    assert_int_equal(schedule_of(57344, 8192, 2, NULL), QK_SCHEDULE_SHARED);
    assert_int_equal(schedule_of(57344, 8192, 8, NULL), QK_SCHEDULE_TEAMS);
    wide_block = 512;
    assert_int_equal(schedule_of(4096, 8192, 1, NULL), QK_SCHEDULE_WIDE);
    assert_int_equal(schedule_of(4096, 8448, 1, NULL), QK_SCHEDULE_ROWS); /* no whole blocks of those that are joined */
    assert_int_equal(schedule_of(57344, 8448, 8, NULL), QK_SCHEDULE_SHARED); /* whose tiles are the smaller ones */
    assert_int_equal(schedule_of(57344, 8192, 8, NULL), QK_SCHEDULE_TEAMS);
    shares_wide = 1;
    assert_int_equal(schedule_of(57344, 8448, 8, NULL), QK_SCHEDULE_ROWS);
    wide_block = 256;
    teams_block = 512;
    assert_int_equal(schedule_of(57344, 8448, 8, NULL), QK_SCHEDULE_SHARED); /* more blocks are joined in teams */
    teams_block = 0;
    assert_int_equal(schedule_of(57344, 8448, 8, NULL), QK_SCHEDULE_TEAMS);
    wide_block = 512;
    windows = 1; /* the last block of all is another path's, which begins before it */
    assert_int_equal(schedule_of(1, 1024, 1, NULL), QK_SCHEDULE_WIDE);
    assert_int_equal(schedule_of(2, 512, 2, NULL), QK_SCHEDULE_TEAMS);
    assert_int_equal(schedule_of(1, 512, 1, NULL), QK_SCHEDULE_ROWS);
    assert_int_equal(schedule_of(1, 512, 2, NULL), QK_SCHEDULE_ROWS);
    windows = wide_block = shares_wide = 0;
    shared_tile = 256; /* times 2 right-hand sides is all that is shared */
    assert_int_equal(schedule_of(57344, 8192, 2, &little), QK_SCHEDULE_SHARED);
    shared_tile = 257;
    assert_int_equal(schedule_of(57344, 8192, 2, &little), QK_SCHEDULE_ROWS);
    shared_tile = 0;
    lanes = 4;
    assert_int_equal(schedule_of(4096, 8192, 1, &rows), QK_SCHEDULE_ROWS); /* fewer lanes than rows */
    lanes = 0;
}

/* Where a workgroup for each 128 rows and more would leave processors without one, teams of lanes take fewer rows. */
static void test_teams(void **state) {
    (void)state;
    static const struct {
        uint64_t rows, cols, batch;
        uint32_t digits, schedule, threads, at_once, split, workgroups;
    } cases[] = {
        {4096, 4096, 2, 0, QK_SCHEDULE_TEAMS, 256, 4, 4, 128},
        {57344, 4096, 2, 0, QK_SCHEDULE_SHARED, 256, 8, 1, 264},
        {14336, 4096, 3, 0, QK_SCHEDULE_TEAMS, 256, 4, 1, 112},
        {12288, 4096, 2, 2, QK_SCHEDULE_TEAMS, 256, 4, 1, 96}, /* not twice as many, which are two rounds */
        {57344, 8192, 8, 0, QK_SCHEDULE_TEAMS, 256, 4, 1, 448},
        {1024, 4096, 2, 0, QK_SCHEDULE_TEAMS, 256, 4, 16, 128},
        {1024, 4096, 8, 0, QK_SCHEDULE_TEAMS, 128, 2, 4, 128},
        {1024, 512, 2, 0, QK_SCHEDULE_TEAMS, 64, 2, 2, 128},
        {4096, 4096, 8, 2, QK_SCHEDULE_TEAMS, 256, 4, 4, 128},
        {57344, 8192, 8, 2, QK_SCHEDULE_SHARED, 256, 2, 1, 264},
        {512, 14336, 4, 1, QK_SCHEDULE_TEAMS, 128, 2, 8, 128},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const qk_spec_constant digits = {QK_CONSTANT_DIGITS, "digits", cases[i].digits, 0, NULL};
        const uint64_t rows = cases[i].rows, cols = cases[i].cols, batch = cases[i].batch;
        lanes = 32;
        has_split = 1;
        const seen s = see_shape(rows, cols, batch, 0, &digits);
        const uint32_t got[] = {s.constants[3], s.constants[0], s.constants[2], s.constants[7], s.workgroups};
        const uint32_t want[] = {cases[i].schedule, cases[i].threads, cases[i].at_once, cases[i].split,
                                 cases[i].workgroups};
        assert_memory_equal(got, want, sizeof want);
        lanes = 8; /* a processor's */
        assert_int_equal(see_shape(rows, cols, batch, 0, &digits).constants[3],
                         cases[i].digits ? QK_SCHEDULE_SHARED : QK_SCHEDULE_TEAMS);
    }
    /* Of one vector of bytes, long rows, of which each processor has some; and where x is all in shared memory. */
    static const struct {
        uint64_t rows, cols;
        uint32_t digits, tile, schedule;
    } ones[] = {
        {4096, 14336, 1, 5, QK_SCHEDULE_TEAMS}, {4096, 14336, 1, 8, QK_SCHEDULE_TEAMS},
        {4096, 14336, 1, 9, QK_SCHEDULE_WIDE},  {4096, 14336, 0, 8, QK_SCHEDULE_WIDE},
        {14336, 4096, 1, 5, QK_SCHEDULE_WIDE},  {8192, 8192, 1, 5, QK_SCHEDULE_WIDE},
        {8192, 8256, 1, 5, QK_SCHEDULE_TEAMS},  {1206, 14336, 1, 5, QK_SCHEDULE_WIDE},
        {1207, 14336, 1, 5, QK_SCHEDULE_TEAMS}, {4828, 14336, 1, 5, QK_SCHEDULE_WIDE},
        {2048, 32768, 1, 5, QK_SCHEDULE_TEAMS}, {2048, 32832, 1, 5, QK_SCHEDULE_WIDE},
    };
    lanes = 32;
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++) {
        const qk_spec_constant digits = {QK_CONSTANT_DIGITS, "digits", ones[i].digits, 0, NULL};
        teams_tile = ones[i].tile;
        assert_int_equal(schedule_of(ones[i].rows, ones[i].cols, 1, &digits), ones[i].schedule);
    }
    teams_tile = 5;
    const qk_spec_constant one = {QK_CONSTANT_DIGITS, "digits", 1, 0, NULL};
    const seen s = see_shape(4096, 14336, 1, 0, &one);
    const uint32_t got[] = {s.constants[0], s.constants[2], s.constants[7], s.workgroups}, want[] = {256, 4, 4, 128};
    assert_memory_equal(got, want, sizeof want);
    assert_int_equal(see_shape(4096, 14336, 1, 16, &one).constants[3], QK_SCHEDULE_WIDE); /* a processor's */
    /* One that looks pairs up does not share x of long rows. */
    const qk_spec_constant copies = {QK_CONSTANT_COPIES, "copies", 1, 0, NULL};
    has_bytes = 1;
    assert_int_equal(schedule_of(4096, 14336, 1, &copies), QK_SCHEDULE_WIDE);
    assert_int_equal(see_shape(1024, 4096, 2, 0, &copies).constants[0], 256);
    has_bytes = 0;
    /* Two vectors of bytes: smaller workgroups come before fewer rows, if tiles are small. */
    for (teams_tile = 5; teams_tile < 7; teams_tile++) {
        const seen of = see_shape(1024, 4096, 2, 0, &one);
        assert_int_equal(of.constants[0], teams_tile == 5 ? 128 : 256);
        assert_int_equal(of.constants[2], teams_tile == 5 ? 4 : 2);
        assert_int_equal(of.constants[7], 8);
        assert_int_equal(of.workgroups, 128);
    }
    /* Registers for four rows of floats: 4 * (9 + 8) of weights and sums, and a tile of x. */
    teams_tile = 8;
    assert_int_equal(see_shape(57344, 8192, 8, 0, NULL).constants[2], 4);
    teams_tile = 9;
    assert_int_equal(see_shape(57344, 8192, 8, 0, NULL).constants[2], 2);
    teams_tile = 5;
    assert_int_equal(see_shape(1024, 4096, 4, 0, &one).constants[0], 256);
    teams_tile = 0;
    /* Larger tiles of integers, of which two vectors leave four rows no room. */
    const qk_spec_constant two = {QK_CONSTANT_DIGITS, "digits", 2, 0, NULL};
    lanes = 32;
    shared_tile = 9;
    assert_int_equal(schedule_of(57344, 4096, 2, &two), QK_SCHEDULE_SHARED);
    shared_tile = 10;
    assert_int_equal(schedule_of(57344, 4096, 2, &two), QK_SCHEDULE_TEAMS);
    assert_int_equal(schedule_of(57344, 4096, 4, &two), QK_SCHEDULE_SHARED);
    lanes = has_split = shared_tile = 0;
}

/* Threads with rows of their own: fewer of them side by side where rows are few, and smaller workgroups for several vectors. */
static void test_columns(void **state) {
    (void)state;
    static const uint32_t of_turned[] = {0, QK_SCHEDULE_ROWS, QK_SCHEDULE_COLUMNS};
    static const struct {
        uint64_t rows, cols, batch;
        uint32_t band, lanes, most, shared, schedule, threads, width, workgroups;
    } cases[] = {
        {57344, 8192, 1, 4, 32, 1024, 49152, QK_SCHEDULE_COLUMNS, 1024, 32, 448},
        {14336, 4096, 1, 4, 32, 1024, 49152, QK_SCHEDULE_COLUMNS, 1024, 32, 112},
        {14336, 4096, 1, 8, 32, 1024, 49152, QK_SCHEDULE_COLUMNS, 1024, 16, 112},
        {4096, 4096, 1, 8, 32, 1024, 49152, QK_SCHEDULE_COLUMNS, 1024, 8, 64}, /* no fewer: eight words are a sector */
        {4096, 4096, 8, 8, 32, 1024, 49152, QK_SCHEDULE_COLUMNS, 256, 8, 64},
        {4096, 256, 1, 4, 32, 1024, 49152, QK_SCHEDULE_COLUMNS, 128, 8, 128}, /* 16 tiles of a row */
        {4096, 128, 1, 4, 32, 1024, 49152, QK_SCHEDULE_COLUMNS, 64, 8, 128},  /* as many parts as the bound counts on */
        {14336, 4096, 2, 4, 32, 1024, 49152, QK_SCHEDULE_COLUMNS, 512, 32, 112},
        {57344, 8192, 8, 4, 32, 1024, 49152, QK_SCHEDULE_COLUMNS, 256, 16, 896},
        {4096, 4096, 4, 4, 32, 1024, 49152, QK_SCHEDULE_COLUMNS, 512, 8, 128},
        {57344, 8192, 1, 4, 32, 128, 49152, QK_SCHEDULE_COLUMNS, 128, 16, 896}, /* a small device */
        {57344, 8192, 1, 8, 32, 1024, 32768, QK_SCHEDULE_COLUMNS, 512, 32,
         224}, /* sums of eight rows fill its memory */
        {57344, 8192, 1, 4, 8, 1024, 49152, QK_SCHEDULE_COLUMNS, 32, 8, 1792},
        {57344, 8192, 1, 4, 0, 1024, 49152, QK_SCHEDULE_COLUMNS, 1024, 32, 448}, /* needs no subgroups */
        {57348, 8192, 1, 4, 32, 1024, 49152, QK_SCHEDULE_ROWS, 0, 0, 0},         /* no whole blocks */
        {57344, 8200, 1, 4, 32, 1024, 49152, QK_SCHEDULE_ROWS, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const qk_spec_constant constants[] = {{QK_CONSTANT_LOCAL_SIZE_X, "local_size_x", 64, 0, NULL},
                                              {QK_CONSTANT_WIDTH, "width", 32, 0, NULL},
                                              {QK_CONSTANT_BATCH, "batch", 1, 0, NULL},
                                              {QK_CONSTANT_SCHEDULE, "schedule", 0, 3, of_turned}};
        const qk_kernel kernel = {.spec_constants = constants,
                                  .spec_constant_count = 4,
                                  .view = QK_VIEW_MATRIX,
                                  .ragged = 1,
                                  .block_rows = 32,
                                  .block_cols = 128,
                                  .workgroup_size = 64,
                                  .columns_kept = 16,
                                  .columns_rows = cases[i].band};
        const qk_limits limits = {
            .workgroup_size = cases[i].most, .subgroup_size = cases[i].lanes, .shared_bytes = cases[i].shared};
        const uint64_t rows = cases[i].rows, cols = cases[i].cols, batch = cases[i].batch;
        uint32_t got[QK_MAX_CONSTANTS];
        qk_gemv_constants_(&kernel, &limits, batch, rows, cols, got);
        const uint64_t workgroups = qk_gemv_workgroups_(&kernel, &limits, batch, rows, cols, got);
        qk_fit_schedule_(&kernel, &limits, rows, cols, got);
        assert_int_equal(got[3], cases[i].schedule);
        if (cases[i].schedule == QK_SCHEDULE_ROWS) continue;
        assert_int_equal(got[0], cases[i].threads);
        assert_int_equal(got[1], cases[i].width);
        assert_int_equal(got[2], batch);
        assert_int_equal(workgroups, cases[i].workgroups);
        assert_int_equal(qk_shared_bytes_(&kernel, got), 4 * cases[i].threads * cases[i].band + QK_UNUSED_SHARED_BYTES);
        got[0] = got[1] * (cases[i].lanes == 8 ? 2 : 4); /* too few share out a row for the bound to hold */
        qk_fit_schedule_(&kernel, &limits, rows, cols, got);
        assert_int_equal(got[3], QK_SCHEDULE_ROWS);
    }
}

typedef struct taken {
    uint32_t launches, schedule;
} taken;

static qk_status take_schedule(void *context, const qk_launch *launch, qk_error *error) {
    taken *t = context;
    (void)error;
    t->launches++;
    t->schedule = qk_constant_(launch->kernel, launch->constants, QK_CONSTANT_SCHEDULE, 0);
    return QK_OK;
}

/* A device without operations of subgroups takes the schedule that has none, and is refused what needs another. */
static void test_without_subgroups(void **state) {
    (void)state;
    static const uint32_t of_turned[] = {0, QK_SCHEDULE_ROWS, QK_SCHEDULE_COLUMNS}, widths[] = {8, 16, 32, 64};
    static const struct {
        uint32_t features;
        uint64_t cols, x_from;
        qk_status status;
        uint32_t schedule;
    } cases[] = {
        {QK_FEATURE_STORAGE_8BIT, 48, 0, QK_OK, QK_SCHEDULE_COLUMNS},
        {QK_FEATURE_STORAGE_8BIT, 40, 0, QK_ERROR_UNSUPPORTED, 0}, /* patches are cut off */
        {QK_FEATURE_STORAGE_8BIT, 48, 2, QK_ERROR_UNSUPPORTED, 0}, /* x begins within a run of four */
        {0, 48, 0, QK_ERROR_UNSUPPORTED, 0},
        {QK_FEATURE_STORAGE_8BIT | QK_FEATURE_SUBGROUP_ARITHMETIC, 40, 0, QK_OK, QK_SCHEDULE_ROWS},
        {QK_FEATURE_STORAGE_8BIT | QK_FEATURE_SUBGROUP_ARITHMETIC, 48, 2, QK_OK, QK_SCHEDULE_ROWS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        taken t = {0};
        call c = right_call(GEMV_MATRIX, NULL);
        c.backend.context = &t;
        c.backend.launch = take_schedule;
        c.backend.limits.features = cases[i].features;
        c.kernel.features |= QK_FEATURE_SUBGROUP_SHUFFLE; /* of a schedule that it might have, too */
        c.kernel.ragged = 1;
        c.kernel.columns_kept = TILE;
        c.kernel.columns_rows = PATCH_ROWS;
        c.constants[3] = (qk_spec_constant){QK_CONSTANT_WIDTH, "width", 32, 4, widths};
        c.constants[4] = (qk_spec_constant){QK_CONSTANT_SCHEDULE, "schedule", 0, 3, of_turned};
        c.kernel.spec_constants = c.constants;
        c.kernel.spec_constant_count = 5;
        const qk_views views = {.x_stride = cases[i].cols + cases[i].x_from};
        qk_error error = {""};
        assert_int_equal(qk_dispatch_gemv_views(&c.backend, &c.kernel, c.weights, (qk_range){memory + 2, 0, 1000},
                                                c.out, c.rows, cases[i].cols, c.batch, cases[i].x_from ? &views : NULL,
                                                NULL, &error),
                         cases[i].status);
        assert_int_equal(t.launches, cases[i].status == QK_OK);
        assert_int_equal(t.schedule, cases[i].schedule);
        if (cases[i].status != QK_OK)
            assert_non_null(strstr(error.text, cases[i].features ? "the matrix is not whole blocks, or x does not begin"
                                                                 : "the device lacks storageBuffer8BitAccess, which"));
        const qk_kernel *kernel = &c.kernel;
        if (cases[i].x_from == 0)
            assert_ptr_equal(qk_choose(&kernel, 1, &c.backend.limits, c.rows, cases[i].cols, 1, 1e30),
                             cases[i].status == QK_OK ? kernel : NULL);
    }
}

/* As many subgroups share a row as have slices of x, of those that a workgroup has. */
static void test_split(void **state) {
    (void)state;
    static const uint32_t counts[] = {1, 2, 4, 8, 16, 32};
    qk_spec_constant split = {QK_CONSTANT_SPLIT, "split", 1, 6, counts};
    static const struct {
        uint64_t rows, cols, batch;
        uint32_t lanes, kept, least, split, workgroups;
    } cases[] = {
        {57344, 8192, 1, 0, 0, 1, 4, 264}, /* 8 subgroups, slices of 32 * 64 */
        {57344, 8192, 1, 32, 64, 1, 4, 264}, {57344, 8192, 1, 64, 64, 1, 2, 264},
        {57344, 8192, 1, 0, 128, 1, 2, 264}, {57344, 5120, 1, 0, 0, 1, 4, 264}, /* three slices */
        {57344, 2048, 1, 0, 0, 1, 1, 264},   {57344, 2048, 1, 0, 0, 2, 2, 264}, /* the descriptor asks for more, */
        {57344, 8192, 1, 0, 0, 2, 4, 264},                                      /* or for fewer */
        {1024, 65536, 1, 0, 0, 1, 8, 128},                                      /* more slices than subgroups */
        {5280, 2048, 1, 0, 0, 1, 1, 165},                                       /* 32 rows of a workgroup */
        {4096, 8192, 1, 8, 0, 1, 4, 528},  /* 4 subgroups of a workgroup of 32 threads */
        {57344, 8192, 2, 0, 0, 1, 1, 264}, /* x is in memory that is shared */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lanes = cases[i].lanes;
        kept = cases[i].kept;
        split.value = cases[i].least;
        const seen s = see_shape(cases[i].rows, cases[i].cols, cases[i].batch, 0, &split);
        assert_int_equal(s.constants[6], cases[i].split);
        assert_int_equal(s.workgroups, cases[i].workgroups);
    }
    lanes = kept = 0;
}

/* Where x is made by a launch before, turns are the device's, whatever a tuning says: else steps of x might be others. */
static void test_turns_of_packed(void **state) {
    (void)state;
    const qk_spec_constant list[] = {{QK_CONSTANT_TURNS, "turns", 1, 0, NULL},
                                     {QK_CONSTANT_X_PACKED, "x_packed", 0, 0, NULL}};
    const qk_kernel kernel = {.spec_constants = list, .spec_constant_count = 2};
    for (uint32_t lanes_of = 32; lanes_of <= 64; lanes_of += 32)
        for (uint32_t tuned = 1; tuned <= 4; tuned += 3) {
            const uint32_t before[] = {tuned, 0};
            const qk_limits limits = {.subgroup_size = lanes_of};
            const qk_launch launch = {.kernel = &kernel, .constants = before};
            const qk_range none = {NULL, 0, 0};
            uint32_t own[QK_MAX_CONSTANTS];
            qk_range ranges[QK_MAX_BINDINGS];
            const qk_launch packed = qk_packed_launch_(&limits, &launch, 2, QK_ROLE_OUTPUT, none, own, ranges);
            assert_int_equal(packed.constants[0], lanes_of == 64 ? 4 : 1);
            assert_int_equal(packed.constants[1], 2);
        }
}

/* Subgroups of 64 lanes take few rows, in workgroups that are no larger than holds x, and with no more memory than
 * registers are for. */
static void test_large_subgroups(void **state) {
    (void)state;
    static const struct {
        uint64_t rows, cols, batch;
        uint32_t digits, lanes, threads, at_once, staged, fours;
    } cases[] = {
        {6144, 4096, 1, 0, 64, 256, 1, 512, 2048},
        {6144, 4096, 1, 0, 32, 512, 8, 1024, 2048},
        {4096, 16384, 1, 0, 64, 256, 1, 512, 2048},
        {4096, 16448, 1, 0, 64, 512, 1, 1024, 2048}, /* more than 256 threads hold */
        {4096, 4096, 1, 2, 64, 128, 2, 512, 2048},
        {57344, 4096, 8, 0, 64, 512, 2, 1, 1280}, /* teams */
        {57344, 4096, 2, 0, 64, 512, 2, 1, 1280},
        {57344, 4096, 8, 0, 32, 256, 4, 1, 2560},
        {1024, 4096, 4, 0, 64, 128, 2, 1, 1280}, /* few rows */
        {1024, 4096, 4, 2, 64, 128, 2, 1, 1280},
        {6144, 4096, 8, 2, 64, 256, 2, 1, 1280},
        {57344, 4096, 8, 2, 64, 256, 2, 1, 1280}, /* of integers, too */
    };
    windows = has_split = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const qk_spec_constant digits = {QK_CONSTANT_DIGITS, "digits", cases[i].digits, 0, NULL};
        lanes = cases[i].lanes;
        const seen s = see_shape(cases[i].rows, cases[i].cols, cases[i].batch, 0, &digits);
        const uint32_t got[] = {s.constants[0], s.constants[2], s.constants[5], s.constants[4]};
        const uint32_t want[] = {cases[i].threads, cases[i].at_once, cases[i].staged, cases[i].fours};
        for (int v = 0; v < 4; v++)
            if (got[v] != want[v])
                fail_msg("case %zu: %u %u %u %u, not %u %u %u %u", i, got[0], got[1], got[2], got[3], want[0], want[1],
                         want[2], want[3]);
    }
    /* Turns are of one right-hand side, or of teams, and of kernels that have them. */
    static const uint32_t legal[] = {1, 4};
    const qk_spec_constant turns = {QK_CONSTANT_TURNS, "turns", 1, 2, legal};
    for (uint32_t lanes_of = 32; lanes_of <= 64; lanes_of += 32)
        for (uint64_t batch = 1; batch <= 2; batch++)
            for (has_bytes = 0; has_bytes <= 1; has_bytes++) {
                lanes = lanes_of;
                const seen s = see_shape(57344, 4096, batch, 0, &turns);
                assert_int_equal(s.constants[6], lanes_of == 64 ? 4 : 1);
            }
    /* Teams of integers that have them are of large workgroups, too. */
    has_bytes = 1;
    for (lanes = 32; lanes <= 64; lanes += 32) {
        const seen s = see_shape(6144, 4096, 8, 0, &turns);
        assert_int_equal(s.constants[0], lanes == 64 ? 512 : 256);
        assert_int_equal(s.constants[6], lanes == 64 ? 4 : 1);
        if (lanes == 64) assert_int_equal(see_shape(6144, 4096, 8, 0, NULL).constants[0], 256);
    }
    lanes = 64;
    has_bytes = 0;
    /* Teams whose tiles take more have memory for one of each lane; and what a descriptor says, stays. */
    const qk_spec_constant shared = {QK_CONSTANT_SHARED_FOURS, "", 16384, 0, NULL};
    assert_int_equal(see_shape(57344, 4096, 8, 0, &shared).constants[4], 512);
    teams_tile = 11;
    assert_int_equal(see_shape(57344, 4096, 8, 0, NULL).constants[4], 2048);
    teams_tile = 0;
    /* No other device has that much of them. */
    const qk_spec_constant some = {QK_CONSTANT_SHARED_FOURS, "", 30000, 0, NULL},
                           few = {QK_CONSTANT_SHARED_FOURS, "", 24000, 0, NULL};
    assert_int_equal(see_shape(57344, 4096, 8, 0, &some).constants[4], 1280);
    assert_int_equal(see_shape(57344, 4096, 8, 0, &few).constants[4], 1024);
    lanes = 32;
    assert_int_equal(see_shape(57344, 4096, 8, 0, &some).constants[4], 1024);
    windows = has_split = 0;
    lanes = 0;
}

typedef struct ahead_case {
    uint64_t rows, cols, batch;
    uint32_t lanes, wanted, block, shared;
    uint32_t ahead, at_once, split, threads, workgroups; /* of the launch */
} ahead_case;

static uint32_t wide_loads, wide_kept, ahead_kept; /* of the kernel; 0: 64 elements */

/* A launch of blocks of so many bytes, of x in digits, or floats if there are 0, that has some rows ahead. */
static void check_ahead(size_t number, const ahead_case *a, uint32_t digits, uint32_t bytes, uint32_t rows_ahead) {
    static const uint32_t choice[] = {0, QK_SCHEDULE_ROWS, QK_SCHEDULE_WIDE, QK_SCHEDULE_AHEAD},
                          counts[] = {8, 16, 32, 64}, splits[] = {1, 2, 4, 8, 16, 32};
    call c = right_call(GEMV, NULL);
    c.constants[3] = (qk_spec_constant){QK_CONSTANT_SPLIT, "split", 1, 6, splits};
    c.constants[4] = (qk_spec_constant){QK_CONSTANT_SCHEDULE, "schedule", a->wanted, 4, choice};
    c.constants[5] = (qk_spec_constant){QK_CONSTANT_CHECKED, "checked", 0, 0, NULL};
    c.constants[6] = (qk_spec_constant){QK_CONSTANT_LANES, "lanes", 32, 4, counts};
    c.constants[7] = (qk_spec_constant){QK_CONSTANT_DIGITS, "digits", digits, 0, NULL};
    c.kernel.spec_constant_count = 8;
    c.kernel.rows_ahead = rows_ahead;
    c.kernel.ahead_kept = ahead_kept ? ahead_kept : 64;
    c.kernel.ahead_block = a->block;
    c.kernel.wide_loads = wide_loads;
    c.kernel.kept_elements = wide_kept;
    c.bindings[0].block_bytes += bytes - 18;
    c.backend.limits.storage_range = UINT32_MAX;
    c.backend.limits.workgroup_count = 1u << 16;
    c.backend.limits.workgroup_size = 256;
    c.backend.limits.subgroup_size = a->lanes;
    c.backend.limits.shared_bytes = a->shared;
    c.rows = a->rows;
    c.cols = a->cols;
    c.batch = a->batch;
    for (int w = 0; w < 2; w++) c.weights[w].size = c.rows * c.cols / BLOCK * c.bindings[w].block_bytes;
    c.x.size = c.batch * c.cols * 4;
    c.out.size = c.batch * c.rows * 4;
    const seen s = see_call(&c, GEMV);
    const uint32_t got[] = {s.constants[4] == QK_SCHEDULE_AHEAD, s.constants[2], s.constants[3], s.constants[0],
                            s.workgroups};
    const uint32_t want[] = {a->ahead, a->at_once, a->split, a->threads, a->workgroups};
    for (int v = 0; v < 5; v++)
        if (got[v] != want[v])
            fail_msg("case %zu: %u %u %u %u %u, not %u %u %u %u %u", number, got[0], got[1], got[2], got[3], got[4],
                     want[0], want[1], want[2], want[3], want[4]);
    assert_int_equal(s.constants[6], a->lanes ? a->lanes : 32);
}

/* Rows are loaded ahead where they are many, and not few bytes more than fours of words, by lanes that are known; at most as long as
 * subgroups keep x of them, and with memory for them. */
static void test_ahead(void **state) {
    (void)state;
    static const ahead_case cases[] = {
        {57344, 8192, 1, 32, 0, 16, 49152, 1, 2, 4, 128, 528}, /* slices of 32 * 64 */
        {57344, 6144, 1, 32, 0, 16, 49152, 1, 2, 4, 128, 528}, /* three of them */
        {57344, 2048, 1, 32, 0, 16, 49152, 1, 2, 1, 128, 528},
        {57344, 8192, 1, 64, 0, 16, 49152, 0, 1, 2, 256, 264}, /* registers of many lanes have no room for two rows */
        {57344, 8192, 1, 64, QK_SCHEDULE_AHEAD, 16, 49152, 1, 1, 2, 128, 528},
        {57344, 8192, 1, 32, QK_SCHEDULE_AHEAD, 16, 49152, 1, 2, 4, 128, 528},
        {57344, 8192, 1, 32, QK_SCHEDULE_WIDE, 16, 49152, 0, 8, 4, 256, 264}, /* not wanted */
        {57344, 8192, 1, 0, 0, 16, 49152, 0, 8, 4, 256, 264},                 /* lanes that are not known, */
        {57344, 8192, 1, 0, QK_SCHEDULE_AHEAD, 16, 49152, 0, 8, 4, 256, 264},
        {57344, 8192, 1, 128, QK_SCHEDULE_AHEAD, 16, 49152, 0, 8, 1, 256, 264}, /* or too many */
        {57344, 2048, 1, 8, 0, 16, 49152, 0, 4, 4, 32, 528},                    /* or a processor's */
        {4096, 2048, 1, 8, QK_SCHEDULE_AHEAD, 16, 49152, 1, 2, 4, 32, 528},
        {57344, 8448, 1, 32, 0, 512, 49152, 0, 8, 8, 256, 264}, /* no whole blocks of those that are taken together */
        {57344, 8224, 1, 32, 0, 16, 49152, 0, 8, 8, 256, 264},  /* 257 blocks of 18 bytes */
        {4096, 4096, 1, 32, 0, 16, 49152, 0, 8, 2, 128, 256},   /* x is most of what few rows load */
        {4096, 4096, 1, 32, QK_SCHEDULE_AHEAD, 16, 49152, 1, 2, 2, 64, 528}, /* small workgroups, for several times */
        {57344, 32768, 1, 32, QK_SCHEDULE_AHEAD, 16, 49152, 0, 8, 8, 256, 264}, /* 16 slices, 8 subgroups */
        {57344, 8192, 2, 32, 0, 16, 49152, 1, 2, 4, 128, 528},                  /* of two vectors, too */
        {4096, 4096, 2, 32, 0, 16, 49152, 0, 4, 1, 64, 1024},                   /* if rows are many */
        {57344, 8192, 3, 32, 0, 16, 49152, 0, 4, 1, 64, 14336},                 /* of three not */
        /* A slice takes 72 loads, two of them five of each lane; and 128 threads have 512 bytes for sums, beside what is not used. */
        {57344, 8192, 1, 32, 0, 16, 128 * 5 * 16 + 512 + QK_UNUSED_SHARED_BYTES, 1, 2, 4, 128, 528},
        {57344, 8192, 1, 32, 0, 16, 128 * 5 * 16 + 511 + QK_UNUSED_SHARED_BYTES, 0, 8, 4, 256, 264},
        {57344, 8192, 1, 32, QK_SCHEDULE_ROWS, 16, 49152, 0, 4, 1, 64, 14336}, /* where no x is kept */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_ahead(i, &cases[i], 0, 18, 2);
}

/* Subgroups of many lanes load one row at a time ahead, of integers in large tiles alone; of others they take two rows, or one of two bytes
 * beside many loads. */
static void test_ahead_of_many_lanes(void **state) {
    (void)state;
    ahead_case many = {57344, 8192, 1, 64, 0, 16, 49152, 1, 1, 2, 128, 528};
    wide_kept = 128;
    check_ahead(0, &many, 2, 18, 2);
    wide_kept = 0;
    many.ahead = 0;
    many.at_once = 2;
    check_ahead(1, &many, 2, 18, 2);
    wide_loads = QK_MANY_LOADS;
    many.workgroups = 660;
    check_ahead(2, &many, 1, 18, 2);
    many.at_once = 1;
    many.workgroups = 528;
    check_ahead(3, &many, 2, 18, 2);
    wide_loads = 0;
    /* No thread keeps two of weights of a byte, as with fewer lanes. */
    many = (ahead_case){57344, 8192, 2, 32, 0, 16384, 49152, 0, 4, 4, 128, 528};
    check_ahead(4, &many, 2, 34, 0);
    many = (ahead_case){57344, 8192, 2, 64, 0, 16384, 49152, 0, 4, 1, 64, 14336};
    check_ahead(5, &many, 2, 34, 0);
}

/* Where a workgroup would stage x for few rows, rows are loaded ahead if other loads are many; or long ones, of integers. */
static void test_ahead_of_few_rows(void **state) {
    (void)state;
    const ahead_case ahead = {4096, 4096, 1, 32, 0, 16, 49152, 1, 2, 2, 64, 528};
    const ahead_case staged = {4096, 4096, 1, 32, 0, 16, 49152, 0, 8, 2, 128, 256};
    const ahead_case is_long = {4096, 16384, 1, 32, 0, 16, 49152, 1, 2, 8, 256, 264};
    check_ahead(0, &staged, 0, 18, 2);
    wide_loads = QK_MANY_LOADS - 1;
    check_ahead(1, &staged, 0, 18, 2);
    wide_loads = QK_MANY_LOADS;
    check_ahead(2, &ahead, 0, 18, 2);
    ahead_case c = ahead;
    c.batch = 2; /* half as many rows of two vectors are enough then, of floats */
    c.threads = 128;
    check_ahead(3, &c, 0, 18, 2);
    c = staged;
    c.lanes = 8;
    c.threads = 32;
    c.at_once = c.split = 4;
    c.workgroups = 528;
    check_ahead(4, &c, 0, 18, 2);
    wide_loads = 0;
    c = is_long;
    c.workgroups = 330;
    check_ahead(5, &c, 1, 18, 2);
    check_ahead(6, &is_long, 2, 18, 2);
    c = is_long;
    c.ahead = 0;
    c.at_once = 8;
    check_ahead(7, &c, 0, 18, 2); /* of floats not */
    c = is_long;
    c.cols = 8192; /* four slices */
    c.ahead = 0;
    c.at_once = 8;
    c.split = 4;
    c.workgroups = 256;
    check_ahead(8, &c, 2, 18, 2);
    c = is_long;
    c.rows = 1024;
    c.ahead = 0;
    c.at_once = 8;
    c.workgroups = 128;
    check_ahead(9, &c, 2, 18, 2);
}

/* Of one vector and few rows, fewer loads are enough, and where rows are long and one of the subgroups that share them is idle, there must
 * be more; weights of a byte and large tiles go ahead whatever they are. No more subgroups share a row than have slices of it. */
static void test_one_ahead(void **state) {
    (void)state;
    static const struct {
        ahead_case as;
        uint32_t digits, bytes, rows_ahead, loads, kept;
    } cases[] = {
        {{1024, 4096, 1, 32, 0, 16, 49152, 1, 4, 2, 128, 128}, 0, 18, 4, QK_SOME_LOADS, 0},
        {{1024, 4096, 1, 32, 0, 16, 49152, 1, 4, 2, 128, 128}, 2, 18, 2, QK_SOME_LOADS, 0}, /* more than usual */
        {{1024, 4096, 1, 32, 0, 16, 49152, 1, 2, 2, 128, 256}, 1, 26, 1, QK_SOME_LOADS, 0},
        {{256, 4096, 1, 32, 0, 16, 49152, 1, 1, 2, 128, 128}, 1, 26, 1, QK_SOME_LOADS, 0}, /* too few */
        {{1024, 4096, 1, 32, 0, 16, 49152, 0, 4, 2, 128, 128}, 0, 18, 4, QK_SOME_LOADS - 1, 0},
        {{1056, 4096, 1, 32, 0, 16, 49152, 1, 4, 2, 128, 132}, 0, 18, 4, QK_SOME_LOADS, 0}, /* 8 for each of 132 */
        {{1057, 4096, 1, 32, 0, 16, 49152, 0, 4, 2, 128, 133}, 0, 18, 4, QK_SOME_LOADS, 0},
        {{1583, 4096, 1, 32, 0, 16, 49152, 1, 4, 2, 128, 198}, 0, 18, 4, QK_MANY_LOADS, 0},
        {{1584, 4096, 1, 32, 0, 16, 49152, 1, 2, 2, 64, 528}, 0, 18, 4, QK_MANY_LOADS, 0}, /* twice */
        {{1024, 14336, 1, 32, 0, 16, 49152, 0, 8, 8, 256, 128}, 0, 18, 4, QK_MOST_LOADS - 1, 0},
        {{1024, 14336, 1, 32, 0, 16, 49152, 1, 4, 8, 256, 256}, 0, 18, 4, QK_MOST_LOADS, 0},
        {{4096, 14336, 1, 32, 0, 16, 49152, 0, 8, 8, 256, 264}, 0, 18, 4, QK_MOST_LOADS - 1, 0},
        {{4096, 16384, 1, 32, 0, 16, 49152, 1, 4, 8, 256, 264}, 0, 18, 4, QK_MANY_LOADS, 0}, /* none is idle */
        {{4223, 4096, 1, 32, 0, 16, 49152, 1, 2, 2, 64, 528}, 0, 18, 4, QK_MANY_LOADS, 0},
        {{4224, 4096, 1, 32, 0, 16, 49152, 1, 4, 2, 64, 528}, 0, 18, 4, QK_MANY_LOADS, 0},
        {{4096, 4096, 1, 32, 0, 16, 49152, 1, 2, 2, 128, 396}, 2, 26, 2, QK_MANY_LOADS, 0}, /* of three workgroups */
        {{8192, 4096, 1, 32, 0, 16, 49152, 1, 2, 2, 64, 528}, 0, 34, 2, 0, 0},
        {{8192, 4096, 1, 32, 0, 16, 49152, 0, 8, 2, 256, 256}, 0, 26, 2, 0, 0},
        {{5281, 8192, 1, 32, 0, 16, 49152, 1, 2, 4, 128, 528}, 0, 34, 2, 0, 0}, /* more than 40 for each of 132 */
        {{5280, 8192, 1, 32, 0, 16, 49152, 0, 8, 4, 256, 264}, 0, 34, 2, 0, 0},
        {{16895, 8192, 1, 32, 0, 16, 49152, 1, 4, 4, 128, 528}, 0, 18, 4, QK_MANY_LOADS - 1, 0},
        {{16896, 8192, 1, 32, 0, 16, 49152, 1, 2, 4, 128, 528}, 0, 18, 4, QK_MANY_LOADS - 1, 0}, /* 2^20 weights */
        {{16896, 8192, 1, 32, 0, 16, 49152, 1, 4, 4, 128, 528}, 0, 18, 4, QK_MANY_LOADS, 0},
        {{16896, 8192, 1, 32, 0, 16, 49152, 1, 4, 4, 128, 528}, 2, 18, 4, QK_MANY_LOADS - 1, 0},
        {{4096, 4096, 1, 32, 0, 16, 49152, 1, 2, 2, 64, 660}, 1, 22, 4, 0, 128},
        {{4096, 4096, 1, 32, 0, 16, 49152, 0, 8, 1, 128, 128}, 0, 22, 4, 0, 128}, /* of integers */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wide_loads = cases[i].loads;
        wide_kept = cases[i].kept;
        check_ahead(i, &cases[i].as, cases[i].digits, cases[i].bytes, cases[i].rows_ahead);
    }
    wide_loads = wide_kept = 0;
}

/* Of more rows than few, but not many, workgroups that load ahead are as small as can be, and go ahead, too, where
 * those that stage x would have little to do in their last round: of bytes in their second. Not of bytes that are ahead
 * for their loads or tiles. */
static void test_small_ahead(void **state) {
    (void)state;
    static const struct {
        ahead_case as;
        uint32_t digits, bytes, rows_ahead, loads, kept, ahead_kept;
    } cases[] = {
        {{6144, 4096, 1, 32, 0, 16, 49152, 1, 4, 2, 64, 528}, 0, 18, 2, 0, 0, 0},
        {{6144, 4096, 1, 32, 0, 16, 49152, 1, 2, 2, 64, 528}, 0, 26, 2, 0, 0, 0}, /* more than five bits */
        {{6144, 4096, 1, 32, 0, 16, 49152, 1, 4, 2, 64, 528}, 2, 18, 2, 0, 0, 0},
        {{6144, 4096, 1, 32, 0, 16, 49152, 0, 8, 2, 256, 192}, 2, 26, 2, 0, 0, 0}, /* room for three workgroups */
        {{8192, 4096, 1, 32, 0, 16, 49152, 0, 8, 2, 256, 256}, 2, 18, 2, 0, 0, 0}, /* nearly all have something */
        {{14336, 4096, 1, 32, 0, 16, 49152, 1, 4, 2, 64, 528}, 2, 18, 2, 0, 0, 0},
        {{8192, 4096, 1, 32, 0, 16, 49152, 0, 8, 2, 256, 256}, 1, 18, 2, 0, 0, 0},
        {{14336, 4096, 1, 32, 0, 16, 49152, 1, 4, 2, 64, 660}, 1, 18, 2, 0, 0, 0},
        {{14336, 4096, 1, 32, 0, 16, 49152, 1, 2, 2, 128, 660}, 1, 18, 2, QK_MANY_LOADS, 0, 0},
        {{14336, 4096, 1, 32, 0, 16, 49152, 1, 4, 2, 64, 528}, 2, 18, 2, QK_MANY_LOADS, 0, 0},
        {{14336, 4096, 1, 32, 0, 16, 49152, 1, 2, 2, 128, 660}, 1, 18, 2, 0, 128, 0},
        {{14336, 4096, 1, 32, 0, 16, 49152, 1, 4, 2, 64, 528}, 2, 18, 2, 0, 128, 0},
        {{14336, 4096, 1, 32, 0, 16, 49152, 1, 2, 2, 128, 396}, 2, 26, 2, QK_MANY_LOADS, 0, 0},
        {{14336, 4096, 1, 32, 0, 16, 49152, 1, 2, 1, 64, 528}, 0, 18, 2, QK_MANY_LOADS, 0, 128},
        {{14336, 8192, 1, 32, 0, 16, 49152, 1, 2, 2, 128, 528}, 0, 18, 2, QK_MANY_LOADS, 0, 128}, /* more columns */
        {{14336, 6144, 1, 32, 0, 16, 49152, 1, 2, 4, 128, 528}, 0, 18, 2, QK_MOST_LOADS, 0, 0},
        {{21120, 4096, 1, 32, 0, 16, 49152, 1, 4, 2, 64, 528}, 0, 18, 2, 0, 0, 0}, /* 160 for each processor */
        {{21121, 4096, 1, 32, 0, 16, 49152, 1, 2, 2, 128, 528}, 0, 18, 2, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wide_loads = cases[i].loads;
        wide_kept = cases[i].kept;
        ahead_kept = cases[i].ahead_kept;
        check_ahead(i, &cases[i].as, cases[i].digits, cases[i].bytes, cases[i].rows_ahead);
    }
    wide_loads = wide_kept = ahead_kept = 0;
}

/* Two rows of more than five bits and a half, beside x of two bytes, leave room for three workgroups of four. */
static void test_room(void **state) {
    (void)state;
    const ahead_case as_ever = {57344, 8192, 1, 32, 0, 16, 49152, 1, 2, 4, 128, 528};
    ahead_case c = as_ever;
    check_ahead(0, &c, 2, 22, 2);
    check_ahead(1, &c, 3, 23, 2);
    c.workgroups = 396;
    check_ahead(2, &c, 2, 23, 2);
    c.workgroups = 660;
    check_ahead(3, &c, 1, 23, 2);
    c = as_ever;
    c.at_once = 1;
    check_ahead(4, &c, 2, 23, 1);
    c = as_ever;
    c.wanted = QK_SCHEDULE_WIDE;
    c.ahead = 0;
    c.at_once = 8;
    check_ahead(5, &c, 2, 23, 2);
}

/* Of many rows, threads keep two vectors, and four of one byte where weights have more than five bits; of fewer rows, or of more vectors,
 * a workgroup shares them. Of two bytes and fewer bits, rows must be more. */
static void test_several_ahead(void **state) {
    (void)state;
    const ahead_case keeps = {57344, 8192, 2, 32, 0, 16, 49152, 1, 2, 4, 128, 528};
    const ahead_case shares = {57344, 8192, 2, 32, 0, 16, 49152, 0, 4, 1, 64, 14336};
    ahead_case c = keeps;
    check_ahead(0, &c, 2, 22, 2);
    check_ahead(1, &c, 2, 22, 4); /* as many sums as of one */
    c.batch = 4;
    check_ahead(2, &c, 1, 22, 2);
    c = shares;
    c.batch = 4;
    check_ahead(3, &c, 1, 20, 2); /* five bits */
    c = keeps;
    check_ahead(9, &c, 2, 20, 2);
    check_ahead(10, &c, 1, 20, 2);
    c.rows = 8 * 660 - 1;
    check_ahead(11, &c, 1, 20, 2);
    c = shares;
    c.rows = 8 * 660 - 1;
    c.workgroups = 1320;
    check_ahead(12, &c, 2, 20, 2);
    c = shares;
    check_ahead(4, &c, 3, 22, 2); /* x of three bytes */
    c.batch = 3;
    check_ahead(5, &c, 2, 22, 2);
    check_ahead(13, &c, 0, 22, 2); /* floats of three */
    c = shares;
    c.rows = 2048;
    c.split = 2;
    c.workgroups = 512;
    check_ahead(6, &c, 2, 22, 2);
    c = shares;
    c.cols = 10240; /* five slices: three of eight subgroups would have nothing to do */
    check_ahead(7, &c, 2, 22, 2);
    c = keeps;
    c.split = 8;
    c.threads = 256;
    c.workgroups = 264;
    c.cols = 12288;
    check_ahead(8, &c, 2, 22, 2);
    c.cols = 14336;
    check_ahead(8, &c, 2, 22, 2);
}

/* Loads may go beyond the weights where all of their ranges do, and a binding has room; what a launch has of them, it is bound. */
static void test_padding(void **state) {
    static const uint32_t choice[] = {0, 1};
    static const struct {
        uint64_t codes, scales, limit; /* bytes more than there are weights, or than they take */
        uint32_t padded;
    } cases[] = {{QK_PADDING, QK_PADDING, QK_PADDING, 1},
                 {1000, 1000, 1000, 1},
                 {QK_PADDING - 1, QK_PADDING, 1000, 0},
                 {QK_PADDING, QK_PADDING - 1, 1000, 0},
                 {QK_PADDING, QK_PADDING, QK_PADDING - 1, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (family f = GEMV; f <= GEMV_ID; f += GEMV_ID - GEMV) {
            call c = right_call(f, NULL);
            c.rows = 640; /* weights are the largest */
            c.out.size = 1 << 16;
            c.constants[c.kernel.spec_constant_count++] =
                (qk_spec_constant){QK_CONSTANT_PADDED, "padded", 0, 2, choice};
            const uint64_t blocks = (f == GEMV_ID ? c.experts : 1) * c.rows * c.cols / BLOCK;
            const uint64_t codes = blocks * c.bindings[0].block_bytes, scales = blocks * c.bindings[1].block_bytes;
            c.weights[0].size = codes + cases[i].codes;
            c.weights[1].size = scales + cases[i].scales;
            c.backend.limits.storage_range = codes + cases[i].limit;
            c.backend.limits.offset_alignment = 1;
            const seen s = see_call(&c, f);
            assert_int_equal(s.constants[c.kernel.spec_constant_count - 1], cases[i].padded);
            assert_int_equal(s.bytes[0], codes + cases[i].padded * QK_PADDING);
            assert_int_equal(s.bytes[1], scales + cases[i].padded * QK_PADDING);
        }
}

/* ---- Experts ----------------------------------------------------------------------------------------------------- */

static qk_status check_experts(void *context, const qk_launch *launch, qk_error *error) {
    shape *s = context;
    const uint32_t *push =
        launch->push; /* rows, row_tiles, tokens, slots, x_slots, experts, expert_first, expert_end */
    const uint64_t count = (uint64_t)push[7] - push[6],
                   row_tiles = s->row_blocks * (BLOCK / launch->kernel->tile_elements);
    const uint64_t codes = s->rows * s->row_blocks * s->codes_bytes, scales = s->rows * s->row_blocks * SCALES;
    const uint64_t pairs = s->batch * s->slots;
    (void)error;
    assert_int_equal(push[0], s->rows);
    assert_int_equal(push[1], row_tiles);
    assert_int_equal(push[2], s->batch);
    assert_int_equal(push[3], s->slots);
    assert_int_equal(push[4], 1);
    assert_int_equal(push[5], s->experts);
    assert_int_equal(push[6], s->done);
    assert_true(push[7] > push[6] && push[7] <= s->experts);
    check_range(s, &launch->ranges[0], memory, CODES_AT + s->done * codes, count * codes);
    check_range(s, &launch->ranges[1], memory + 1, SCALES_AT + s->done * scales, count * scales);
    check_range(s, &launch->ranges[2], memory + 2, X_AT, s->batch * s->row_blocks * BLOCK * 4);
    check_range(s, &launch->ranges[3], memory + 3, IDS_AT, pairs * 4);
    check_range(s, &launch->ranges[4], memory + 5, STATUS_AT, 4);
    check_range(s, &launch->ranges[5], memory + 4, Y_AT, pairs * s->rows * 4);
    check_workgroups(s, launch, pairs * ((s->rows + 3) / 4));
    assert_true(multiply(count, s->rows * row_tiles) <= UINT32_MAX);
    assert_true(pairs * s->rows + launch->workgroups <= UINT32_MAX);
    s->done += count;
    s->launches++;
    return QK_OK;
}

static void experts_with(const qk_kernel *kernel, shape s, uint64_t launches) {
    const uint64_t experts = s.experts, rows = s.rows, row_blocks = s.row_blocks, tokens = s.batch, slots = s.slots;
    const qk_backend backend = {.context = &s, .limits = s.limits, .launch = check_experts};
    const uint64_t blocks = multiply(experts, rows * row_blocks), pairs = tokens * slots;
    const qk_range weights[] = {{memory, CODES_AT, multiply(blocks, s.codes_bytes) + SPARE},
                                {memory + 1, SCALES_AT, multiply(blocks, SCALES) + SPARE}};
    const qk_range x = {memory + 2, X_AT, tokens * row_blocks * BLOCK * 4 + SPARE},
                   ids = {memory + 3, IDS_AT, pairs * 4 + SPARE};
    const qk_range y = {memory + 4, Y_AT, pairs * rows * 4 + SPARE}, status = {memory + 5, STATUS_AT, 4 + SPARE};
    qk_error error = {""};
    if (qk_dispatch_gemv_id(&backend, kernel, weights, x, ids, y, status, experts, rows, row_blocks * BLOCK, tokens,
                            slots, 1, &error) != QK_OK)
        fail_msg("%s", error.text);
    assert_int_equal(s.done, experts);
    assert_int_equal(s.launches, launches);
}

static void experts_shape(uint64_t experts, uint64_t rows, uint64_t row_blocks, uint64_t tokens, uint64_t slots,
                          uint64_t range, uint32_t alignment, uint64_t launches) {
    const shape s = {limits_of(range, alignment), experts, rows, row_blocks, tokens, slots, 0, 0, CODES, 0};
    const qk_kernel kernel = kernel_of(GEMV_ID);
    experts_with(&kernel, s, launches);
}

/* One tile to an element, as for gemv. */
static void test_expert_counts(void **state) {
    (void)state;
    qk_kernel kernel = kernel_of(GEMV_ID);
    qk_binding small[QK_MAX_BINDINGS];
    memcpy(small, bindings[GEMV_ID], sizeof small);
    small[0].block_bytes = 4;
    kernel.bindings = small;
    kernel.tile_elements = 1;
    const shape s = {limits_of(UINT32_MAX, 64), 32, 1 << 16, 128, 2, 2, 0, 0, 4, 0};
    experts_with(&kernel, s, 3); /* 2^33 tiles in 1 GiB */
}

static void test_expert_parts(void **state) {
    (void)state;
    experts_shape(1, 1, 1, 1, 1, 128, 4, 1);
    experts_shape(128, 768, 64, 1, 8, 134217728, 256, 1); /* 96 MiB of codes */
    experts_shape(128, 2048, 64, 5, 8, 134217728, 16, 2);
    experts_shape(256, 2048, 224, 64, 8, UINT32_MAX, 256, 1); /* 3.5 * 2^30 elements */
    experts_shape(512, 4096, 256, 1, 1, UINT32_MAX, 256, 3);  /* 2^34 elements, 8 GiB */
    experts_shape(512, 4096, 256, 1, 1, 2147483648u, 256, 4);
    experts_shape(UINT32_MAX, 1, 1, 3, 2, UINT64_MAX, 4, 17);  /* 2^37 elements */
    experts_shape(3, 1 << 20, 255, 1, 1, UINT64_MAX, 64, 3);   /* each just below 4 GiB */
    experts_shape(2, 1 << 14, 1, 65535, 1, UINT64_MAX, 64, 1); /* y is just below 4 GiB */
}

static void test_small_experts(void **state) {
    (void)state;
    for (uint32_t alignment = 4; alignment <= 16; alignment *= 2)
        for (uint64_t experts = 1; experts < 40; experts++) {
            /* codes take 80 bytes for one of them, scales 10 */
            const uint64_t step = alignment / 2, part = 800 / 80 - 800 / 80 % step;
            experts_shape(experts, 5, 1, 2, 3, 800, alignment, experts <= 10 ? 1 : (experts + part - 1) / part);
        }
}

/* ---- Patches of a matrix ----------------------------------------------------------------------------------------- */

static void check_push(family f, call *c, const uint32_t *expected, uint32_t count) {
    c->backend.limits.storage_range = UINT64_MAX;
    c->weights[0].size = c->weights[1].size = c->out.size = c->x.size = UINT64_C(1) << 40;
    const seen s = see_call(c, f);
    for (uint32_t i = 0; i < count; i++)
        if (s.push[i] != expected[i])
            fail_msg("%s: push constant %u is %u, and not %u", names[f], (unsigned)i, (unsigned)s.push[i],
                     (unsigned)expected[i]);
}

static void test_matrix_push(void **state) {
    (void)state;
    call c = right_call(GEMV_MATRIX, NULL);
    check_push(GEMV_MATRIX, &c, (uint32_t[]){8, 6, 2, 0, 8, 0, 48, 2, 3}, 9);
    c.kernel.ragged = 1;
    c.rows = 65537;
    c.cols = 65528; /* 4,294,508,536 elements */
    check_push(GEMV_MATRIX, &c, (uint32_t[]){65537, 8191, 2, 0, 65537, 0, 65528, 16385, 4096}, 9);
    c.cols = 65521; /* the last tile has one element */
    check_push(GEMV_MATRIX, &c, (uint32_t[]){65537, 8191, 2, 0, 65537, 0, 65521, 16385, 4096}, 9);
    c.cols = 65528;
    c.kernel.view = QK_VIEW_SEQUENCE; /* one row of all elements */
    c.kernel.block_rows = 1;
    c.kernel.block_cols = 64;
    check_push(GEMV_MATRIX, &c, (uint32_t[]){65537, 8191, 2, 0, 65537, 0, 4294508536u, 1, 67101696}, 9);
    c.cols = 65521; /* a row may begin and end within tiles */
    check_push(GEMV_MATRIX, &c, (uint32_t[]){65537, 8191, 2, 0, 65537, 0, 4294049777u, 1, 67094528}, 9);
    c.cols = 65523;
    check_push(GEMV_MATRIX, &c, (uint32_t[]){65537, 8192, 2, 0, 65537, 0, 4294180851u, 1, 67096576}, 9);
    c.cols = 1;
    check_push(GEMV_MATRIX, &c, (uint32_t[]){65537, 1, 2, 0, 65537, 0, 65537, 1, 1025}, 9);
    c.cols = 2;
    check_push(GEMV_MATRIX, &c, (uint32_t[]){65537, 2, 2, 0, 65537, 0, 131074, 1, 2049}, 9);
    c.cols = 65528;
    c.kernel.view = QK_VIEW_GROUPS; /* rows of a group each */
    c.kernel.block_rows = 4;
    c.kernel.block_cols = 8;
    check_push(GEMV_MATRIX, &c, (uint32_t[]){65537, 8191, 2, 0, 65537, 0, 8, 134203392, 1}, 9);
    c = right_call(DEQUANT_MATRIX, NULL);
    c.kernel.ragged = 1;
    c.rows = 65535;
    c.cols = 65537;
    c.kernel.output = QK_TYPE_U8; /* so that the output fits */
    check_push(DEQUANT_MATRIX, &c, (uint32_t[]){65535, 65537, 16384, 4097, 8193}, 5);
    c.kernel.view = QK_VIEW_SEQUENCE;
    c.kernel.block_rows = 1;
    c.kernel.block_cols = 64;
    check_push(DEQUANT_MATRIX, &c, (uint32_t[]){1, UINT32_MAX, 1, 67108864, 536870912}, 5);
    c = right_call(GATHER_MATRIX, NULL);
    c.kernel.ragged = 1;
    c.rows = 65535;
    c.cols = 65537;
    check_push(GATHER_MATRIX, &c, (uint32_t[]){65535, 65537, 16384, 4097, 8193, 65535, 65537, 3}, 8);
    c.kernel.view = QK_VIEW_SEQUENCE;
    c.kernel.block_rows = 1;
    c.kernel.block_cols = 64;
    check_push(GATHER_MATRIX, &c, (uint32_t[]){1, UINT32_MAX, 1, 67108864, 8193, 65535, 65537, 3}, 8);
    c.rows = 5; /* a row may begin and end within tiles */
    c.cols = 42;
    check_push(GATHER_MATRIX, &c, (uint32_t[]){1, 210, 1, 4, 7, 5, 42, 3}, 8);
}

static void test_weight_bytes(void **state) {
    (void)state;
    const qk_kernel blocks = kernel_of(GEMV);
    qk_kernel patches = kernel_of(GEMV_MATRIX);
    assert_int_equal(qk_weight_bytes(&blocks, 0, 5, 64), 160);
    assert_int_equal(qk_weight_bytes(&blocks, 1, UINT64_C(1) << 40, 64), UINT64_C(1) << 42);
    assert_int_equal(qk_weight_bytes(&blocks, 0, 5, 33), 0);
    assert_int_equal(qk_weight_bytes(&blocks, 0, UINT64_MAX, 64), 0);
    assert_int_equal(qk_weight_bytes(&blocks, 0, 0, 64), 0);
    assert_int_equal(qk_weight_bytes(&patches, 0, 8, 48), 192);
    assert_int_equal(qk_weight_bytes(&patches, 1, 8, 48), 12);
    assert_int_equal(qk_weight_bytes(&patches, 0, 7, 48), 0);
    assert_int_equal(qk_weight_bytes(&patches, 0, 8, 40), 0);
    assert_int_equal(qk_weight_bytes(&patches, 0, 0, 48), 0);
    assert_int_equal(qk_weight_bytes(&patches, 0, 65536, 65536), 0); /* 2^32 elements */
    patches.ragged = 1;
    assert_int_equal(qk_weight_bytes(&patches, 0, 7, 41), 7 * 21);
    assert_int_equal(qk_weight_bytes(&patches, 1, 7, 41), 2 * 3 * 2);
    assert_int_equal(qk_weight_bytes(&patches, 0, 65535, 65537), UINT64_C(65535) * 32769);
    patches.view = QK_VIEW_GROUPS;
    assert_int_equal(qk_weight_bytes(&patches, 0, 7, 41), 0);
    assert_int_equal(qk_weight_bytes(&patches, 0, 3, 32), 6 * 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_no_kernel),
        cmocka_unit_test(test_right_calls),
        cmocka_unit_test(test_zero_sizes),
        cmocka_unit_test(test_launch_fails),
        cmocka_unit_test(test_gemv_parts),
        cmocka_unit_test(test_gemv_counts),
        cmocka_unit_test(test_gemv_small),
        cmocka_unit_test(test_gemv_vectors),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_loop_steps),
        cmocka_unit_test(test_kept_x),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_rows_of_few),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_small_teams),
        cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_teams),
        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_ahead_of_few_rows),
        cmocka_unit_test(test_ahead_of_many_lanes),
        cmocka_unit_test(test_turns_of_packed),
        cmocka_unit_test(test_large_subgroups),
        cmocka_unit_test(test_one_ahead),
        cmocka_unit_test(test_small_ahead),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_several_ahead),
        cmocka_unit_test(test_expert_parts),
        cmocka_unit_test(test_expert_counts),
        cmocka_unit_test(test_small_experts),
        cmocka_unit_test(test_matrix_push),
        cmocka_unit_test(test_weight_bytes),
        cmocka_unit_test(test_experts_of_patches),
        cmocka_unit_test(test_sets_of_patches),
        cmocka_unit_test(test_wrong_experts_of_patches),
        cmocka_unit_test(test_without_subgroups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
