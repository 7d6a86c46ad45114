/* Generated kernels that sum over rows, on a device: against the C reference, with arguments in the middle of buffers, in
 * parts that the device's limits force, and with the same bits each time. */
#include "mxfp4.h"
#include "q4_0.h"
#include "q6_K.h"
#include "triples.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <qkgen/dispatch.h>
#include <qkgen/vulkan.h>

static const double bound = 2e-6; /* QK_NUMERIC_EXACT_SUM */

/* Beyond each array, on both sides, bytes that nothing may change; as numbers they are NaN, so that nothing may count them. */
enum { GUARD = 0xFF, GUARD_BYTES = 64 };

static qk_vulkan *vk;
static qk_error error;

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        if ((call) != QK_OK) fail_msg("%s: %s", #call, error.text);                                                    \
    } while (0)

static uint32_t random_state;

static uint32_t random_word(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

typedef struct array {
    uint8_t *data;
    uint64_t bytes, offset;
    qk_vulkan_buffer *buffer;
    qk_range range;
} array;

/* An array that begins at the first multiple of the device's alignment that leaves room for the guard. */
static array array_new(uint64_t bytes) {
    const uint64_t alignment = qk_vulkan_backend(vk).limits.offset_alignment;
    array a = {malloc(bytes), bytes, (GUARD_BYTES / alignment + 1) * alignment, NULL, {NULL, 0, 0}};
    OK(qk_vulkan_buffer_create(vk, a.offset + bytes + GUARD_BYTES, &a.buffer, &error));
    a.range = qk_vulkan_range(a.buffer);
    a.range.offset = a.offset;
    a.range.size = bytes;
    memset(a.data, GUARD, bytes);
    return a;
}

static void upload(const array *a) {
    uint8_t *all = malloc(a->offset + a->bytes + GUARD_BYTES);
    memset(all, GUARD, a->offset + a->bytes + GUARD_BYTES);
    memcpy(all + a->offset, a->data, a->bytes);
    OK(qk_vulkan_upload(vk, a->buffer, 0, all, a->offset + a->bytes + GUARD_BYTES, &error));
    free(all);
}

static void download(array *a) {
    const uint64_t all_bytes = a->offset + a->bytes + GUARD_BYTES;
    uint8_t *all = malloc(all_bytes);
    OK(qk_vulkan_download(vk, a->buffer, 0, all, all_bytes, &error));
    for (uint64_t i = 0; i < all_bytes; i++)
        if ((i < a->offset || i >= a->offset + a->bytes) && all[i] != GUARD)
            fail_msg("byte %ld of an array of %lu was written", (long)(i - a->offset), (unsigned long)a->bytes);
    memcpy(a->data, all + a->offset, a->bytes);
    free(all);
}

static void array_free(array *a) {
    qk_vulkan_buffer_destroy(vk, a->buffer);
    free(a->data);
}

static array floats_of(uint64_t count) {
    array a = array_new(count * 4);
    for (uint64_t i = 0; i < count; i++) {
        const float value = (float)random_word() * 0x1p-23f - 1.0f;
        memcpy(a.data + 4 * i, &value, 4);
    }
    upload(&a);
    return a;
}

/* `least` is a lower bound of the square of what the error is relative to. */
static void check_near(const array *y, const float *expected, double least, const char *what) {
    double error_sum = 0, sum = 0;
    for (uint64_t i = 0; i < y->bytes / 4; i++) {
        float got;
        memcpy(&got, y->data + 4 * i, 4);
        error_sum += ((double)got - (double)expected[i]) * ((double)got - (double)expected[i]);
        sum += (double)expected[i] * (double)expected[i];
    }
    if (sum < least) sum = least;
    if (!(error_sum <= bound * bound * sum)) fail_msg("%s: the relative error is %g", what, sqrt(error_sum / sum));
}

/* ---- Counting launches ------------------------------------------------------------------------------------------- */

typedef struct counter {
    qk_backend inner;
    uint32_t launches;
} counter;

static qk_status count_launch(void *context, const qk_launch *launch, qk_error *why) {
    counter *c = context;
    c->launches++;
    return c->inner.launch(c->inner.context, launch, why);
}

static qk_backend counted(counter *c, uint64_t range) {
    c->inner = qk_vulkan_backend(vk);
    c->launches = 0;
    qk_backend backend = c->inner;
    backend.context = c;
    backend.launch = count_launch;
    backend.limits.storage_range = qk_min_(range, backend.limits.storage_range);
    return backend;
}

/* ---- gemv -------------------------------------------------------------------------------------------------------- */

typedef void reference(const void *const weights[1], const float *x, uint64_t rows, uint64_t cols, uint64_t batch,
                       float *y);

typedef struct format {
    const qk_kernel *kernel;
    reference *expected;
    uint32_t scales_at, n_scales; /* halves in a block; none: the first byte is an exponent */
} format;

enum { Q4_0, Q6_K, MXFP4, TRIPLES, FORMATS };

static const format formats[FORMATS] = {{&qk_q4_0_gemv_f32_vulkan, qk_q4_0_gemv_f32_ref, 0, 1},
                                        {&qk_q6_K_gemv_f32_vulkan, qk_q6_K_gemv_f32_ref, 208, 1},
                                        {&qk_mxfp4_gemv_f32_vulkan, qk_mxfp4_gemv_f32_ref, 0, 0},
                                        {&qk_triples_gemv_f32_vulkan, qk_triples_gemv_f32_ref, 0, 2}};

/* Random codes; scales are near one, of either sign where they have one. */
static array weights_of(const format *f, uint64_t blocks) {
    const uint32_t bytes = f->kernel->bindings[0].block_bytes;
    array a = array_new(blocks * bytes);
    for (uint64_t i = 0; i < a.bytes; i++) a.data[i] = (uint8_t)random_word();
    for (uint64_t i = 0; i < blocks; i++) {
        if (f->n_scales == 0) a.data[i * bytes] = (uint8_t)(124 + a.data[i * bytes] % 8);
        for (uint32_t s = 0; s < f->n_scales; s++) {
            uint8_t *high = &a.data[i * bytes + f->scales_at + 2 * s + 1];
            *high = (uint8_t)((*high & 0x83) | 0x38);
        }
    }
    return a;
}

/* Makes the scales of a block such that no value of it is finite. */
static void spoil(const format *f, array *weights, uint64_t block) {
    uint8_t *data = weights->data + block * f->kernel->bindings[0].block_bytes + f->scales_at;
    memset(data, 0xFF, f->n_scales ? 2 * f->n_scales : 1);
}

/* The squares of the products that a single row sums up: they may cancel each other, and then the sum says nothing. */
static double squares_of_products(const format *f, const void *const *data, const float *x, uint64_t cols) {
    float *one = calloc(cols, sizeof *one);
    double sum = 0;
    for (uint64_t k = 0; k < cols; k++) {
        float product;
        one[k] = x[k];
        f->expected(data, one, 1, cols, 1, &product);
        sum += (double)product * (double)product;
        one[k] = 0;
    }
    free(one);
    return sum;
}

/* Twice with the same bits, in so many launches. */
static void run_gemv(const format *f, uint64_t rows, uint64_t cols, uint64_t batch, uint64_t range, uint32_t launches) {
    const uint64_t blocks = rows * (cols / f->kernel->block_elements);
    array weights = weights_of(f, blocks), x = floats_of(batch * cols);
    array y = array_new(batch * rows * 4);
    upload(&weights);
    float *expected = malloc(y.bytes);
    uint8_t *before = malloc(y.bytes);
    const void *const data[] = {weights.data};
    f->expected(data, (const float *)(const void *)x.data, rows, cols, batch, expected);
    const double least =
        rows == 1 && cols <= 4096 ? squares_of_products(f, data, (const float *)(const void *)x.data, cols) : 0;
    for (int again = 0; again < 3; again++) {
        counter c;
        const qk_backend backend = counted(&c, range);
        memset(y.data, GUARD, y.bytes);
        upload(&y);
        OK(qk_vulkan_begin(vk, &error));
        OK(qk_dispatch_gemv(&backend, f->kernel, &weights.range, x.range, y.range, rows, cols, batch, &error));
        OK(qk_vulkan_submit(vk, &error));
        download(&y);
        check_near(&y, expected, least, f->kernel->name);
        assert_int_equal(c.launches, launches);
        if (again > 0) assert_memory_equal(before, y.data, y.bytes);
        memcpy(before, y.data, y.bytes);
    }
    array_free(&weights);
    array_free(&x);
    array_free(&y);
    free(expected);
    free(before);
}

static void test_batches(void **state) {
    (void)state;
    for (uint32_t f = 0; f < FORMATS; f++)
        for (uint64_t batch = 1; batch <= 8; batch++) run_gemv(&formats[f], 3 * batch + 2, 768, batch, UINT64_MAX, 1);
}

static void test_shapes(void **state) {
    (void)state;
    for (uint32_t f = 0; f < FORMATS; f++) {
        run_gemv(&formats[f], 1, formats[f].kernel->block_elements, 1, UINT64_MAX, 1);
        run_gemv(&formats[f], 257, formats[f].kernel->block_elements, 3, UINT64_MAX, 1);
        run_gemv(&formats[f], 3, f == TRIPLES ? 65535 : 65536, 1, UINT64_MAX, 1);
        run_gemv(&formats[f], 67, 9 * 768, 2, UINT64_MAX, 1);
    }
}

/* Rows that begin anywhere in a word or in 16 bytes, and end there. */
static void test_alignments(void **state) {
    (void)state;
    for (uint32_t f = 0; f < FORMATS; f++)
        for (uint64_t blocks = 1; blocks <= 9; blocks++)
            for (uint64_t rows = 1; rows <= 17; rows += 4)
                run_gemv(&formats[f], rows, blocks * formats[f].kernel->block_elements, 1, UINT64_MAX, 1);
}

/* Slices of x that are fewer than subgroups, and more; the last is short. */
static void test_slices(void **state) {
    static const uint64_t cols[] = {3 * 256, 3840, 11008, 28672 + 256};
    (void)state;
    for (uint32_t f = 0; f < FORMATS; f++)
        for (size_t i = 0; i < sizeof cols / sizeof *cols && f != TRIPLES; i++)
            run_gemv(&formats[f], 1100, cols[i], 1, UINT64_MAX, 1);
}

/* A row that is not finite does not spread to those beside it. */
static void test_neighbours(void **state) {
    enum { ROWS = 13 };
    (void)state;
    for (uint32_t i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        for (uint64_t blocks = 1; blocks <= 7; blocks++) {
            const uint64_t cols = blocks * f->kernel->block_elements;
            array weights = weights_of(f, ROWS * blocks), x = floats_of(cols), y = array_new(ROWS * 4);
            for (uint64_t row = 1; row < ROWS; row += 2) {
                spoil(f, &weights, row * blocks);
                spoil(f, &weights, row * blocks + blocks - 1);
            }
            upload(&weights);
            upload(&y);
            const qk_backend backend = qk_vulkan_backend(vk);
            OK(qk_vulkan_begin(vk, &error));
            OK(qk_dispatch_gemv(&backend, f->kernel, &weights.range, x.range, y.range, ROWS, cols, 1, &error));
            OK(qk_vulkan_submit(vk, &error));
            download(&y);
            for (uint64_t row = 0; row < ROWS; row++) {
                float got;
                memcpy(&got, y.data + 4 * row, 4);
                if ((row % 2 == 1) == (isfinite(got) != 0))
                    fail_msg("%s: row %lu of %lu blocks is %g", f->kernel->name, (unsigned long)row,
                             (unsigned long)blocks, (double)got);
            }
            array_free(&weights);
            array_free(&x);
            array_free(&y);
        }
    }
}

/* Rows of q4_0 take 576 bytes, of q6_K 840. */
static void test_parts(void **state) {
    (void)state;
    run_gemv(&formats[Q4_0], 300, 1024, 2, 16384, 11);
    run_gemv(&formats[Q4_0], 29, 1024, 1, 16128, 2);
    run_gemv(&formats[Q6_K], 100, 1024, 1, 8192, 13);
}

/* ---- gemv_id ----------------------------------------------------------------------------------------------------- */

static void run_experts(uint64_t range, uint32_t launches) {
    enum { EXPERTS = 6, ROWS = 10, COLS = 512, TOKENS = 3, SLOTS = 4 };
    const qk_kernel *kernel = &qk_q4_0_gemv_id_f32_vulkan;
    static const uint32_t chosen[TOKENS * SLOTS] = {5, 0, 3, 3, 6, 1, UINT32_MAX, 2, 4, 5, 0, 7};
    array weights = weights_of(&formats[Q4_0], EXPERTS * ROWS * COLS / 32), x = floats_of(TOKENS * COLS);
    upload(&weights);
    array ids = array_new(sizeof chosen), y = array_new(TOKENS * SLOTS * ROWS * 4), status = array_new(4);
    float expected[TOKENS * SLOTS * ROWS];
    uint8_t before[sizeof expected];
    uint32_t missed;
    memcpy(ids.data, chosen, sizeof chosen);
    upload(&ids);
    const void *const data[] = {weights.data};
    assert_int_equal(qk_q4_0_gemv_id_f32_ref(data, (const float *)(const void *)x.data, chosen, EXPERTS, ROWS, COLS,
                                             TOKENS, SLOTS, expected),
                     3);
    for (int again = 0; again < 3; again++) {
        counter c;
        const qk_backend backend = counted(&c, range);
        memset(y.data, GUARD, y.bytes);
        upload(&y);
        memset(status.data, 0, 4);
        upload(&status);
        OK(qk_vulkan_begin(vk, &error));
        OK(qk_dispatch_gemv_id(&backend, kernel, &weights.range, x.range, ids.range, y.range, status.range, EXPERTS,
                               ROWS, COLS, TOKENS, SLOTS, &error));
        OK(qk_vulkan_submit(vk, &error));
        download(&y);
        download(&status);
        check_near(&y, expected, 0, kernel->name);
        memcpy(&missed, status.data, 4);
        assert_int_equal(missed, 3);
        assert_int_equal(c.launches, launches);
        if (again > 0) assert_memory_equal(before, y.data, y.bytes);
        memcpy(before, y.data, y.bytes);
    }
    array_free(&weights);
    array_free(&x);
    array_free(&ids);
    array_free(&y);
    array_free(&status);
}

/* An expert takes 2880 bytes, x 6144. */
static void test_experts(void **state) {
    (void)state;
    run_experts(UINT64_MAX, 1);
    run_experts(6144, 3);
}

static int open_device(void **state) {
    qk_vulkan_options options = {0};
    (void)state;
    options.cache_path = "";
    return qk_vulkan_create(&options, &vk, &error) == QK_OK ? 0 : -1;
}

static int close_device(void **state) {
    (void)state;
    qk_vulkan_destroy(vk);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches), cmocka_unit_test(test_shapes),     cmocka_unit_test(test_alignments),
        cmocka_unit_test(test_slices),  cmocka_unit_test(test_neighbours), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_experts),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
