/* The dispatch functions over a backend of our own: what they refuse, and that their parts cover the whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "qkgen/dispatch.h"

/* ---- A format of two buffers ------------------------------------------------------------------------------------- */

enum { BLOCK = 32, TILE = 8, CODES = 16, SCALES = 2 }; /* elements, elements, bytes, bytes */

static const qk_binding dequant_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, CODES, 0, 0, 0, 0},
    {1, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_F16, SCALES, 0, 0, 0, 0},
    {2, "out", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0, 0},
};

static const qk_binding gather_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, CODES, 0, 0, 0, 0},
    {1, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_F16, SCALES, 0, 0, 0, 0},
    {2, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {3, "out", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

static qk_kernel kernel_of(int gather) {
    qk_kernel kernel = {.abi = QK_ABI_VERSION};
    kernel.name = gather ? "toy_gather_f16" : "toy_dequant_f16";
    kernel.bindings = gather ? gather_bindings : dequant_bindings;
    kernel.binding_count = gather ? 5 : 3;
    kernel.push_bytes = gather ? QK_GATHER_PUSH_BYTES : 4;
    kernel.workgroup_size = 64;
    kernel.features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT;
    kernel.output = QK_TYPE_F16;
    kernel.block_elements = BLOCK;
    kernel.tile_elements = TILE;
    return kernel;
}

/* ---- Wrong calls ------------------------------------------------------------------------------------------------- */

static char memory[8]; /* addresses that stand for buffers */

typedef struct wrong_call {
    qk_backend backend;
    qk_kernel kernel;
    qk_binding bindings[5];
    qk_range weights[2], indices, out, status;
    uint64_t elements, rows, cols, tokens;
    int no_backend, no_kernel, no_weights;
} wrong_call;

static qk_status count_launch(void *context, const qk_launch *launch, qk_error *error) {
    (void)launch;
    (void)error;
    ++*(uint32_t *)context;
    return QK_OK;
}

static wrong_call right_call(int gather, uint32_t *launches) {
    wrong_call c = {0};
    c.backend.context = launches;
    c.backend.launch = count_launch;
    c.backend.limits = (qk_limits){
        4096, 16, 1000, 128, 128, QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    c.kernel = kernel_of(gather);
    memcpy(c.bindings, c.kernel.bindings, c.kernel.binding_count * sizeof *c.bindings);
    c.elements = 10 * BLOCK;
    c.rows = 5;
    c.cols = 2 * BLOCK;
    c.tokens = 3;
    c.weights[0] = (qk_range){memory, 0, 10 * CODES};
    c.weights[1] = (qk_range){memory + 1, 0, 10 * SCALES};
    c.indices = (qk_range){memory + 2, 0, 12};
    c.out = (qk_range){memory + 3, 0, gather ? 3 * 2 * BLOCK * 2 : 10 * BLOCK * 2};
    c.status = (qk_range){memory + 4, 0, 4};
    return c;
}

static qk_status make_call(wrong_call *c, int gather, qk_error *error) {
    const qk_backend *backend = c->no_backend ? NULL : &c->backend;
    const qk_kernel *kernel = c->no_kernel ? NULL : &c->kernel;
    const qk_range *weights = c->no_weights ? NULL : c->weights;
    if (c->kernel.bindings != NULL) c->kernel.bindings = c->bindings;
    if (gather)
        return qk_dispatch_gather(backend, kernel, weights, c->indices, c->out, c->status, c->rows, c->cols, c->tokens,
                                  error);
    return qk_dispatch_dequant(backend, kernel, weights, c->out, c->elements, error);
}

/* Each row: a name, what is wrong, the status, and the text after "toy_dequant_f16: ". */
/* clang-format off */
#define DEQUANT_CASES(X)                                                                                               \
    X(no_launch, c->backend.launch = NULL, ARGUMENT, "backend->launch is NULL, must be a function")                    \
    X(no_backend, c->no_backend = 1, ARGUMENT, "backend is NULL, must be a backend")                                   \
    X(no_bindings, c->kernel.bindings = NULL, ARGUMENT, "kernel->binding_count is 0, must be from 2 to 16")            \
    X(few_bindings, c->kernel.binding_count = 1, ARGUMENT, "kernel->binding_count is 1, must be from 2 to 16")         \
    X(many_bindings, c->kernel.binding_count = 17, ARGUMENT, "kernel->binding_count is 17, must be from 2 to 16")      \
    X(role, c->bindings[1].role = QK_ROLE_INDICES, ARGUMENT,                                                           \
      "kernel->bindings[1].role is 1, must be 0, as this family has it")                                  \
    X(push, c->kernel.push_bytes = 20, ARGUMENT,                                                                       \
      "kernel->push_bytes is 20, must be 4, as this family has it")                                       \
    X(api, c->backend.api = QK_API_METAL, ARGUMENT,                                                                    \
      "kernel->api is QK_API_VULKAN, must be QK_API_METAL, as the backend's")                                          \
    X(tile, c->kernel.tile_elements = 5, ARGUMENT, "kernel->tile_elements is 5, must divide block_elements 32")        \
    X(tile_zero, c->kernel.tile_elements = 0, ARGUMENT, "kernel->tile_elements is 0, must divide block_elements 32")   \
    X(no_8bit, c->backend.limits.features = QK_FEATURE_STORAGE_16BIT, UNSUPPORTED,                                     \
      "the device lacks storageBuffer8BitAccess, which the kernel requires")                                           \
    X(no_features, c->backend.limits.features = 0, UNSUPPORTED,                                                        \
      "the device lacks storageBuffer8BitAccess, storageBuffer16BitAccess, which the kernel requires")                 \
    X(new_feature, c->kernel.features |= 1u << 31, UNSUPPORTED,                                                        \
      "the device lacks a feature that this runtime does not know, which the kernel requires")                         \
    X(device_alignment, c->backend.limits.offset_alignment = 12, ARGUMENT,                                             \
      "limits.offset_alignment is 12, must be a power of two")                                                         \
    X(no_alignment, c->backend.limits.offset_alignment = 0, ARGUMENT,                                                  \
      "limits.offset_alignment is 0, must be a power of two")                                                          \
    X(no_workgroups, c->backend.limits.workgroup_count = 0, ARGUMENT,                                                  \
      "limits.workgroup_count is 0, must be at least 1")                                                               \
    X(workgroup, c->backend.limits.workgroup_size = 32, LIMIT,                                                         \
      "kernel->workgroup_size is 64, must be from 1 to 32 on this device")                                             \
    X(workgroup_zero, c->kernel.workgroup_size = 0, LIMIT,                                                             \
      "kernel->workgroup_size is 0, must be from 1 to 128 on this device")                                             \
    X(push_limit, c->backend.limits.push_bytes = 0, LIMIT, "kernel->push_bytes is 4, must be at most 0 on this device")\
    X(elements, c->elements = 33, ARGUMENT,                                                                            \
      "elements is 33, must be a positive multiple of 32, the elements of a block")                                    \
    X(no_weights, c->no_weights = 1, ARGUMENT, "weights is NULL, must be 2 ranges")                                    \
    X(weights_buffer, c->weights[1].buffer = NULL, ARGUMENT, "weights[1].buffer is NULL, must be a buffer")            \
    X(out_buffer, c->out.buffer = NULL, ARGUMENT, "out.buffer is NULL, must be a buffer")                              \
    X(weights_offset, c->weights[0].offset = 8, ALIGNMENT, "weights[0].offset is 8, must be a multiple of 16")         \
    X(element_offset, (c->backend.limits.offset_alignment = 1, c->out.offset = 1), ALIGNMENT,                          \
      "out.offset is 1, must be a multiple of 2")                                                                      \
    X(weights_size, c->weights[0].size--, SIZE, "weights[0].size is 159 bytes, must be at least 160")                  \
    X(scales_size, c->weights[1].size = 0, SIZE, "weights[1].size is 0 bytes, must be at least 20")                    \
    X(out_size, c->out.size -= 2, SIZE, "out.size is 638 bytes, must be at least 640")                                 \
    X(range_end, c->out.offset = UINT64_MAX - 15, SIZE,                                                                \
      "out.size is 640 bytes from offset 18446744073709551600, must end below 2^64")                                   \
    X(overflow, c->elements = UINT64_MAX / BLOCK * BLOCK, SIZE,                                                        \
      "weights[0].size is 160 bytes, must be at least 9223372036854775792")                                            \
    X(overflow_out, (c->elements = UINT64_MAX / BLOCK * BLOCK, c->weights[0].size = c->weights[1].size = INT64_MAX),   \
      LIMIT, "out needs 576460752303423487 times 64 bytes, must be below 2^64")                                        \
    X(no_block, c->bindings[0].block_bytes = 0, ARGUMENT, "weights[0] has blocks of 0 bytes, must be at least 1")      \
    X(overlap, (c->out.buffer = memory, c->out.offset = 144), ARGUMENT,                                                \
      "out is bytes 144 to 784 of a buffer, must be apart from weights[0], bytes 0 to 160")                            \
    X(block_range, c->backend.limits.storage_range = 60, LIMIT,                                                        \
      "out takes 64 bytes for one block, must be at most 60, the device's storage range")                              \
    X(aligned_range, c->backend.limits.storage_range = 300, LIMIT,                                                     \
      "out takes 64 bytes for one block, must be at most 32, so that 8 fit, which offset alignment asks")

#define GATHER_CASES(X)                                                                                                \
    X(g_push, c->kernel.push_bytes = 4, ARGUMENT,                                                                      \
      "kernel->push_bytes is 4, must be 88, as this family has it")                                       \
    X(g_few_bindings, c->kernel.binding_count = 3, ARGUMENT, "kernel->binding_count is 3, must be from 4 to 16")       \
    X(g_cols, c->cols = 48, ARGUMENT, "cols is 48, must be a positive multiple of 32, the elements of a block")        \
    X(g_no_cols, c->cols = 0, ARGUMENT, "cols is 0, must be a positive multiple of 32, the elements of a block")       \
    X(g_wide, c->cols = UINT64_C(1) << 32, LIMIT, "cols is 4294967296, must be at most 4294967295")                    \
    X(g_no_rows, c->rows = 0, ARGUMENT, "rows is 0, must be from 1 to 4294967295")                                     \
    X(g_rows, c->rows = UINT64_C(1) << 32, LIMIT, "rows is 4294967296, must be from 1 to 4294967295")                  \
    X(g_weights_size, c->rows = 6, SIZE, "weights[0].size is 160 bytes, must be at least 192")                         \
    X(g_indices_buffer, c->indices.buffer = NULL, ARGUMENT, "indices.buffer is NULL, must be a buffer")                \
    X(g_indices_size, c->indices.size = 11, SIZE, "indices.size is 11 bytes, must be at least 12")                     \
    X(g_out_size, c->out.size = 383, SIZE, "out.size is 383 bytes, must be at least 384")                              \
    X(g_status_size, c->status.size = 3, SIZE, "status.size is 3 bytes, must be at least 4")                           \
    X(g_status_offset, c->status.offset = 4, ALIGNMENT, "status.offset is 4, must be a multiple of 16")                \
    X(g_tokens, c->tokens = UINT64_MAX, LIMIT, "indices needs 18446744073709551615 times 4 bytes, must be below 2^64") \
    X(g_status_in_out, (c->status.buffer = c->out.buffer, c->status.offset = 64), ARGUMENT,                            \
      "out is bytes 0 to 384 of a buffer, must be apart from status, bytes 64 to 68")                                  \
    X(g_status_in_indices, c->status.buffer = c->indices.buffer, ARGUMENT,                                             \
      "status is bytes 0 to 4 of a buffer, must be apart from indices, bytes 0 to 12")                                 \
    X(g_row_range, (c->backend.limits.storage_range = 100, c->backend.limits.offset_alignment = 4), LIMIT,             \
      "out takes 128 bytes for one token, must be at most 100, the device's storage range")

/* clang-format on */
#define EDIT(name, edit, status, text)                                                                                 \
    static void edit_##name(wrong_call *c) { edit; }
DEQUANT_CASES(EDIT)
GATHER_CASES(EDIT)

typedef struct wrong_case {
    const char *name;
    void (*edit)(wrong_call *c);
    qk_status status;
    const char *text;
} wrong_case;

#define ROW(name, edit, status, text) {#name, edit_##name, QK_ERROR_##status, text},
static const wrong_case dequant_cases[] = {DEQUANT_CASES(ROW)};
static const wrong_case gather_cases[] = {GATHER_CASES(ROW)};

static void check_cases(const wrong_case *cases, size_t count, int gather) {
    for (size_t i = 0; i < count; i++) {
        uint32_t launches = 0;
        qk_error error = {""};
        wrong_call c = right_call(gather, &launches);
        const char *prefix = gather ? "toy_gather_f16: " : "toy_dequant_f16: ";
        cases[i].edit(&c);
        qk_status status = make_call(&c, gather, &error);
        if (status != cases[i].status || strncmp(error.text, prefix, strlen(prefix)) != 0 ||
            strcmp(error.text + strlen(prefix), cases[i].text) != 0)
            fail_msg("%s: status %d, \"%s\"", cases[i].name, (int)status, error.text);
        if (launches != 0) fail_msg("%s: launched", cases[i].name);
        assert_int_equal(make_call(&c, gather, NULL), cases[i].status);
    }
}

static void test_wrong_dequant(void **state) {
    (void)state;
    check_cases(dequant_cases, sizeof dequant_cases / sizeof *dequant_cases, 0);
}

static void test_wrong_gather(void **state) {
    (void)state;
    check_cases(gather_cases, sizeof gather_cases / sizeof *gather_cases, 1);
}

static void test_no_kernel(void **state) {
    (void)state;
    uint32_t launches = 0;
    qk_error error;
    wrong_call c = right_call(0, &launches);
    c.no_kernel = 1;
    assert_int_equal(make_call(&c, 0, &error), QK_ERROR_ARGUMENT);
    assert_string_equal(error.text, "kernel is NULL, must be a descriptor");
}

/* Of another version, nothing is where it was: not even the name may be read. */
static void test_other_version(void **state) {
    (void)state;
    for (int gather = 0; gather < 2; gather++) {
        uint32_t launches = 0;
        qk_error error;
        wrong_call c = right_call(gather, &launches);
        c.kernel.abi = 1;
        c.kernel.name = NULL;
        assert_int_equal(make_call(&c, gather, &error), QK_ERROR_ARGUMENT);
        char must[128];
        snprintf(must, sizeof must, "kernel->abi is 1, must be %d, as in these headers; generate the kernel again",
                 QK_ABI_VERSION);
        assert_string_equal(error.text, must);
        assert_int_equal(launches, 0);
    }
}

static void test_right_calls(void **state) {
    (void)state;
    for (int gather = 0; gather < 2; gather++) {
        uint32_t launches = 0;
        wrong_call c = right_call(gather, &launches);
        assert_int_equal(make_call(&c, gather, NULL), QK_OK);
        assert_int_equal(launches, 1);
        c.weights[0].buffer = c.weights[1].buffer = c.out.buffer; /* in one buffer, each behind the other */
        c.weights[0].offset = c.out.size;
        c.weights[1].offset = c.out.size + c.weights[0].size;
        assert_int_equal(make_call(&c, gather, NULL), QK_OK);
        assert_int_equal(launches, 2);
        c.no_weights = 1; /* nothing to do: no argument is looked at */
        c.out.buffer = NULL;
        c.elements = c.tokens = c.rows = 0;
        assert_int_equal(make_call(&c, gather, NULL), QK_OK);
        assert_int_equal(launches, 2);
    }
}

static qk_status fail_second(void *context, const qk_launch *launch, qk_error *error) {
    (void)launch;
    if (++*(uint32_t *)context < 2) return QK_OK;
    return qk_fail(error, QK_ERROR_DEVICE, "broken");
}

static void test_launch_fails(void **state) {
    (void)state;
    for (int gather = 0; gather < 2; gather++) {
        uint32_t launches = 0;
        qk_error error = {""};
        wrong_call c = right_call(gather, &launches);
        c.backend.launch = fail_second;
        c.backend.limits.storage_range = gather ? 256 : 512;
        c.backend.limits.offset_alignment = gather ? 4 : 16;
        assert_int_equal(make_call(&c, gather, &error), QK_ERROR_DEVICE);
        assert_string_equal(error.text, "broken");
        assert_int_equal(launches, 2);
    }
}

/* ---- Parts of shapes that no memory holds: arithmetic alone ------------------------------------------------------ */

typedef struct shape {
    qk_limits limits;
    uint64_t blocks;                   /* dequant */
    uint64_t rows, row_blocks, tokens; /* gather */
    uint64_t token, row;               /* up to where the launches came */
    uint64_t launches;
} shape;

static void check_range(const shape *s, const qk_range *range, uint64_t base, uint64_t first, uint64_t count,
                        uint64_t unit) {
    assert_int_equal(range->offset, base + first * unit);
    assert_int_equal(range->size, count * unit);
    assert_int_equal(range->offset % s->limits.offset_alignment, 0);
    assert_true(range->size > 0 && range->size <= s->limits.storage_range && range->size <= UINT32_MAX);
}

static void check_threads(const shape *s, const qk_launch *launch, uint64_t tiles) {
    uint64_t threads = (uint64_t)launch->workgroups * launch->kernel->workgroup_size;
    assert_true(launch->workgroups > 0 && launch->workgroups <= s->limits.workgroup_count);
    assert_true(threads < UINT64_C(1) << 31 && tiles + threads <= UINT32_MAX);
    assert_true(tiles * launch->kernel->tile_elements <= UINT32_MAX);
    /* the device has 65535; a thread of gather takes eight tiles where there are many */
    assert_true(QK_GATHER_TILES * threads >= tiles || launch->workgroups >= 32767);
}

static qk_status check_dequant(void *context, const qk_launch *launch, qk_error *error) {
    shape *s = context;
    uint64_t tiles = *(const uint32_t *)launch->push;
    uint64_t block_tiles = BLOCK / launch->kernel->tile_elements, blocks = tiles / block_tiles, first = s->row;
    (void)error;
    assert_int_equal(tiles % block_tiles, 0);
    check_threads(s, launch, tiles);
    check_range(s, &launch->ranges[0], 256, first, blocks, CODES);
    check_range(s, &launch->ranges[1], 0, first, blocks, SCALES);
    check_range(s, &launch->ranges[2], 512, first, blocks, BLOCK * qk_type_bytes(launch->kernel->output));
    s->row += blocks;
    s->launches++;
    return QK_OK;
}

static void dequant_with(const qk_kernel *kernel, uint64_t blocks, uint64_t range, uint32_t alignment,
                         uint64_t launches) {
    shape s = {{range, alignment, 65535, 1u << 16, 128, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, blocks, 0, 0, 0, 0, 0, 0};
    qk_backend backend = {.context = &s, .limits = s.limits, .launch = check_dequant};
    qk_range weights[] = {{memory, 256, blocks * CODES}, {memory + 1, 0, blocks * SCALES}};
    qk_range out = {memory + 2, 512, blocks * BLOCK * qk_type_bytes(kernel->output)};
    qk_error error = {""};
    if (qk_dispatch_dequant(&backend, kernel, weights, out, blocks * BLOCK, &error) != QK_OK)
        fail_msg("%s", error.text);
    assert_int_equal(s.row, blocks);
    assert_int_equal(s.launches, launches);
}

static void dequant_shape(uint64_t blocks, uint64_t range, uint32_t alignment, uint64_t launches) {
    qk_kernel kernel = kernel_of(0);
    dequant_with(&kernel, blocks, range, alignment, launches);
}

/* Bytes out, one to a tile: the 32-bit counts end before the memory does. */
static void test_counts(void **state) {
    (void)state;
    qk_kernel kernel = kernel_of(0);
    qk_binding bindings[3];
    memcpy(bindings, dequant_bindings, sizeof bindings);
    bindings[2].element = kernel.output = QK_TYPE_U8;
    kernel.bindings = bindings;
    kernel.tile_elements = 1;
    dequant_with(&kernel, UINT64_C(1) << 27, UINT32_MAX, 16, 2);
    dequant_with(&kernel, UINT64_C(1) << 33, UINT64_MAX, 256, 65);
    kernel.workgroup_size = 1u << 16; /* with all workgroups, 2^32 threads */
    dequant_with(&kernel, UINT64_C(1) << 27, UINT32_MAX, 16, 2);
}

static void test_dequant_parts(void **state) {
    (void)state;
    dequant_shape(1, 64, 1, 1);
    dequant_shape(1, UINT32_MAX, 256, 1);
    dequant_shape(2097152, 134217728, 16, 1); /* 128 MiB of output, to the byte */
    dequant_shape(2097153, 134217728, 16, 2);
    dequant_shape(2097152, 134217727, 16, 2);
    dequant_shape(UINT64_C(1) << 27, UINT32_MAX, 64, 3);          /* 2^32 elements */
    dequant_shape((UINT64_C(1) << 33) + 1, UINT32_MAX, 256, 129); /* 2^38 elements; a part is a bit below 2^26 blocks */
    dequant_shape((UINT64_C(1) << 33) + 7, UINT64_MAX, 256, 129);
    dequant_shape(UINT64_C(1) << 32, 134217728, 16, 2048);
}

static qk_status check_gather(void *context, const qk_launch *launch, qk_error *error) {
    shape *s = context;
    const uint32_t *push = launch->push; /* rows, row_first, row_end, row_tiles, tokens */
    uint64_t count = (uint64_t)push[2] - push[1];
    (void)error;
    assert_int_equal(push[0], s->rows);
    assert_int_equal(push[1], s->row);
    assert_int_equal(push[3], s->row_blocks * (BLOCK / TILE));
    assert_true(push[4] > 0 && push[2] > push[1] && push[2] <= s->rows);
    check_threads(s, launch, (uint64_t)push[3] * push[4]);
    check_range(s, &launch->ranges[0], 256, s->row, count, CODES * s->row_blocks);
    check_range(s, &launch->ranges[1], 0, s->row, count, SCALES * s->row_blocks);
    check_range(s, &launch->ranges[2], 0, s->token, push[4], 4);
    check_range(s, &launch->ranges[3], 512, s->token, push[4], s->row_blocks * BLOCK * 2);
    check_range(s, &launch->ranges[4], 256, 0, 1, 4);
    assert_true(count * s->row_blocks * BLOCK <= UINT32_MAX);
    s->launches++;
    s->row += count;
    if (s->row == s->rows) {
        s->row = 0;
        s->token += push[4];
    }
    return QK_OK;
}

static void gather_shape(uint64_t rows, uint64_t row_blocks, uint64_t tokens, uint64_t range, uint32_t alignment,
                         uint64_t launches) {
    shape s = {
        {range, alignment, 65535, 128, 128, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0, rows, row_blocks, tokens, 0, 0, 0};
    qk_kernel kernel = kernel_of(1);
    qk_backend backend = {.context = &s, .limits = s.limits, .launch = check_gather};
    uint64_t blocks = rows * row_blocks;
    qk_range weights[] = {{memory, 256, blocks * CODES}, {memory + 1, 0, blocks * SCALES}};
    qk_range indices = {memory + 2, 0, tokens * 4}, out = {memory + 3, 512, tokens * row_blocks * BLOCK * 2};
    qk_range status = {memory + 4, 256, 4};
    qk_error error = {""};
    if (qk_dispatch_gather(&backend, &kernel, weights, indices, out, status, rows, row_blocks * BLOCK, tokens,
                           &error) != QK_OK)
        fail_msg("%s", error.text);
    assert_int_equal(s.row, 0);
    assert_int_equal(s.token, tokens);
    assert_int_equal(s.launches, launches);
}

static void test_gather_parts(void **state) {
    (void)state;
    gather_shape(1, 1, 1, 64, 1, 1);
    gather_shape(151936, 128, 1, 134217728, 16, 3);          /* 297 MiB of codes */
    gather_shape(151936, 128, 100000, 134217728, 64, 3 * 7); /* and 781 MiB of output */
    gather_shape(UINT32_MAX, 1, 1, UINT32_MAX, 256, 33);     /* 2^37 elements, 64 GiB */
    gather_shape(3, 1, UINT64_C(1) << 33, UINT32_MAX, 256, 129);
    gather_shape(UINT64_C(1) << 24, 256, 1 << 20, UINT32_MAX, 256, 33 * 5);
}

/* ---- From one format to another ---------------------------------------------------------------------------------- */

enum { UNIT = 2 * BLOCK, WRITTEN = 40 };

static const qk_binding transcode_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 2 * CODES, 0, 0, 0, 0},
    {1, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_F16, 2 * SCALES, 0, 0, 0, 0},
    {2, "qk_to_blocks", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, WRITTEN, 0, 0, 0, 0},
};

static qk_kernel transcode_kernel(void) {
    qk_kernel kernel = kernel_of(0);
    kernel.name = "toy_transcode_other";
    kernel.bindings = transcode_bindings;
    kernel.block_elements = kernel.tile_elements = UNIT;
    return kernel;
}

static qk_status check_transcode(void *context, const qk_launch *launch, qk_error *error) {
    shape *s = context;
    uint64_t units = *(const uint32_t *)launch->push;
    (void)error;
    check_threads(s, launch, units);
    check_range(s, &launch->ranges[0], 256, s->row, units, 2 * CODES);
    check_range(s, &launch->ranges[1], 0, s->row, units, 2 * SCALES);
    check_range(s, &launch->ranges[2], 512, s->row, units, WRITTEN);
    s->row += units;
    s->launches++;
    return QK_OK;
}

static void transcode_shape(uint64_t units, uint64_t range, uint32_t alignment, uint64_t launches) {
    shape s = {{range, alignment, 65535, 1u << 16, 128, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, units, 0, 0, 0, 0, 0, 0};
    qk_kernel kernel = transcode_kernel();
    qk_backend backend = {.context = &s, .limits = s.limits, .launch = check_transcode};
    qk_range weights[] = {{memory, 256, units * 2 * CODES}, {memory + 1, 0, units * 2 * SCALES}};
    qk_range to = {memory + 2, 512, units * WRITTEN};
    qk_error error = {""};
    if (qk_dispatch_transcode(&backend, &kernel, weights, &to, units * UNIT, &error) != QK_OK)
        fail_msg("%s", error.text);
    assert_int_equal(s.row, units);
    assert_int_equal(s.launches, launches);
}

static void test_transcode_parts(void **state) {
    (void)state;
    transcode_shape(1, 64, 1, 1);
    transcode_shape(100, 4000, 4, 1); /* to the byte */
    transcode_shape(101, 4000, 4, 2);
    transcode_shape(UINT64_C(1) << 30, UINT32_MAX, 256, 17); /* 2^36 elements; a part is a bit below 2^26 units */
}

static void refuse_transcode(const qk_backend *backend, const qk_kernel *kernel, const qk_range *weights,
                             const qk_range *to, uint64_t elements, qk_status status, const char *text) {
    qk_error error = {""};
    assert_int_equal(qk_dispatch_transcode(backend, kernel, weights, to, elements, &error), status);
    assert_string_equal(error.text, text);
}

static void test_wrong_transcode(void **state) {
    (void)state;
    uint32_t launches = 0;
    const wrong_call c = right_call(0, &launches);
    qk_kernel kernel = transcode_kernel(), decoder = kernel_of(0);
    qk_binding all_read[3];
    const qk_range weights[] = {{memory, 0, 5 * 2 * CODES}, {memory + 1, 0, 5 * 2 * SCALES}};
    const qk_range to = {memory + 2, 0, 5 * WRITTEN}, short_of = {memory + 2, 0, 5 * WRITTEN - 1},
                   same = {memory, 0, 5 * WRITTEN};
    refuse_transcode(&c.backend, &kernel, weights, NULL, 5 * UNIT, QK_ERROR_ARGUMENT,
                     "toy_transcode_other: to is NULL, must be ranges");
    refuse_transcode(&c.backend, &kernel, NULL, &to, 5 * UNIT, QK_ERROR_ARGUMENT,
                     "toy_transcode_other: weights is NULL, must be ranges");
    refuse_transcode(&c.backend, &kernel, weights, &to, BLOCK, QK_ERROR_ARGUMENT,
                     "toy_transcode_other: elements is 32, must be a positive multiple of 64, the elements of a block");
    refuse_transcode(&c.backend, &kernel, weights, &short_of, 5 * UNIT, QK_ERROR_SIZE,
                     "toy_transcode_other: to[0].size is 199 bytes, must be at least 200");
    refuse_transcode(
        &c.backend, &kernel, weights, &same, 5 * UNIT, QK_ERROR_ARGUMENT,
        "toy_transcode_other: to[0] is bytes 0 to 200 of a buffer, must be apart from weights[0], bytes 0 to 160");
    refuse_transcode(&c.backend, &decoder, weights, &to, 5 * UNIT, QK_ERROR_ARGUMENT,
                     "toy_dequant_f16: kernel->bindings[2].role is 3, must be 0, as this family has it");
    memcpy(all_read, transcode_bindings, sizeof all_read);
    all_read[2].access = QK_READ;
    kernel.bindings = all_read;
    refuse_transcode(&c.backend, &kernel, weights, &to, 5 * UNIT, QK_ERROR_ARGUMENT,
                     "toy_transcode_other: the kernel reads 3 of 3 bindings, must read those of one format and write "
                     "those of another");
    assert_int_equal(launches, 0);
    assert_int_equal(qk_dispatch_transcode(&c.backend, &kernel, NULL, NULL, 0, NULL), QK_OK);
    assert_int_equal(launches, 0);
}

/* Every pair of small numbers, with limits that force parts: nothing is left out, nothing comes twice. */
static void test_small_parts(void **state) {
    (void)state;
    for (uint32_t alignment = 1; alignment <= 16; alignment *= 2)
        for (uint64_t blocks = 1; blocks < 70; blocks++) {
            uint64_t step = alignment <= 2 ? 1 : alignment / 2, part = 700 / 64 - 700 / 64 % step;
            dequant_shape(blocks, 700, alignment, 700 / 64 >= blocks ? 1 : (blocks + part - 1) / part);
        }
    for (uint64_t rows = 1; rows < 40; rows++)
        for (uint64_t tokens = 1; tokens < 20; tokens++)
            gather_shape(rows, 3, tokens, 192 * 5, 4, (rows <= 20 ? 1 : (rows + 19) / 20) * ((tokens + 4) / 5));
}

/* ---- Rows that are made ------------------------------------------------------------------------------------------ */

typedef struct made_rows {
    uint32_t threads, x_type, workgroups, push[2];
} made_rows;

static qk_status note_made(void *context, const qk_launch *launch, qk_error *error) {
    (void)error;
    made_rows *made = context;
    assert_non_null(launch->constants);
    *made = (made_rows){launch->constants[1], launch->constants[0], launch->workgroups, {0}};
    memcpy(made->push, launch->push, sizeof made->push);
    return QK_OK;
}

/* A workgroup makes a row: of a short one it has fewer threads, as many as there are tiles, or as few as it can. */
static void test_made_rows(void **state) {
    (void)state;
    static const qk_binding bindings[] = {
        {0, "codes", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, CODES, 1, 1, CODES, 0},
        {1, "scales", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 4, 4, 1, 0, 0},
        {2, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    };
    static const uint32_t legal[] = {32, 64, 128, 256, 512}, types[] = {0};
    static const qk_spec_constant constants[] = {{QK_CONSTANT_X_TYPE, "x_type", 2, 1, types},
                                                 {QK_CONSTANT_LOCAL_SIZE_X, "local_size_x", 256, 5, legal}};
    static const uint32_t cases[][2] = {{32, 32},    {512, 32},   {544, 64},  {1024, 64},
                                        {1056, 128}, {4096, 256}, {8192, 256}};
    qk_kernel kernel = kernel_of(0);
    kernel.bindings = bindings;
    kernel.push_bytes = QK_ENCODE_MATRIX_PUSH_BYTES;
    kernel.spec_constants = constants;
    kernel.spec_constant_count = 2;
    kernel.tile_elements = BLOCK / 2;
    kernel.view = QK_VIEW_MATRIX;
    kernel.block_rows = 1;
    kernel.block_cols = BLOCK;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        enum { ROWS = 5 };
        made_rows made = {0};
        qk_error error;
        const uint64_t cols = cases[i][0];
        const qk_range weights[2] = {{memory, 0, ROWS * cols / BLOCK * CODES}, {memory + 1, 0, ROWS * 4}};
        qk_backend backend = {.launch = note_made, .context = &made, .api = QK_API_VULKAN};
        backend.limits = (qk_limits){.storage_range = 1 << 20,
                                     .offset_alignment = 16,
                                     .workgroup_count = 1000,
                                     .workgroup_size = 256,
                                     .push_bytes = 128,
                                     .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT};
        assert_int_equal(qk_dispatch_encode_matrix(&backend, &kernel, weights,
                                                   (qk_range){memory + 2, 0, ROWS * cols * 4}, ROWS, cols, &error),
                         QK_OK);
        assert_int_equal(made.threads, cases[i][1]);
        assert_int_equal(made.x_type, 2);
        assert_int_equal(made.workgroups, ROWS);
        assert_int_equal(made.push[1], cols / BLOCK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_dequant),   cmocka_unit_test(test_wrong_gather),
        cmocka_unit_test(test_no_kernel),       cmocka_unit_test(test_other_version),
        cmocka_unit_test(test_right_calls),     cmocka_unit_test(test_launch_fails),
        cmocka_unit_test(test_dequant_parts),   cmocka_unit_test(test_counts),
        cmocka_unit_test(test_gather_parts),    cmocka_unit_test(test_small_parts),
        cmocka_unit_test(test_transcode_parts), cmocka_unit_test(test_wrong_transcode),
        cmocka_unit_test(test_made_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
