/* qkgen/matrix_order.h: what is read from the results of the probe, which are made up here as devices hold matrices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <qkgen/matrix_order.h>

enum { EACH = 16, PRODUCT = 32 * EACH };

/* The number of a half that is a whole number. */
static float whole(uint32_t half) {
    return half == 0 ? 0.0f : (float)(0x400 | (half & 0x3FF)) * (float)(1u << (half >> 10 & 31)) / (1u << 25);
}

static uint32_t half_at(const uint32_t *from, uint32_t first_word, uint32_t element) {
    return from[first_word + element / 2] >> element % 2 * 16 & 0xFFFF;
}

/* As a device of which value a[i], b[i], c[i] of a thread is the element that kernels call the i-th. */
static void hold(float *to, const uint32_t *a, const uint32_t *b, const uint32_t *c) {
    uint32_t from[QK_MATRIX_FROM_WORDS];
    qk_matrix_number(from);
    for (uint32_t thread = 0; thread < 32; thread++) {
        const uint32_t g = thread / 4, t = thread % 4;
        const uint32_t of_a[8] = {g * 16 + 2 * t,           g * 16 + 2 * t + 1,      (g + 8) * 16 + 2 * t,
                                  (g + 8) * 16 + 2 * t + 1, g * 16 + 2 * t + 8,      g * 16 + 2 * t + 9,
                                  (g + 8) * 16 + 2 * t + 8, (g + 8) * 16 + 2 * t + 9};
        const uint32_t of_b[4] = {2 * t * 8 + g, (2 * t + 1) * 8 + g, (2 * t + 8) * 8 + g, (2 * t + 9) * 8 + g};
        const uint32_t of_c[4] = {g * 8 + 2 * t, g * 8 + 2 * t + 1, (g + 8) * 8 + 2 * t, (g + 8) * 8 + 2 * t + 1};
        float *own = to + thread * EACH;
        for (uint32_t i = 0; i < 8; i++) own[a[i]] = whole(half_at(from, 0, of_a[i]));
        for (uint32_t i = 0; i < 4; i++) {
            own[8 + b[i]] = whole(half_at(from, 128, of_b[i]));
            memcpy(&own[12 + c[i]], &from[256 + of_c[i]], 4);
        }
    }
    for (uint32_t i = 0; i < 256; i++) to[PRODUCT + i] = 16.0f / (1u << 24);
}

static const uint32_t in_order[8] = {0, 1, 2, 3, 4, 5, 6, 7}, crossed_a[8] = {0, 1, 4, 5, 2, 3, 6, 7},
                      crossed_c[4] = {0, 2, 1, 3};

static void test_order(void **state) {
    float to[QK_MATRIX_TO_FLOATS];
    qk_limits limits;
    (void)state;
    memset(&limits, 0, sizeof limits);
    limits.features = QK_FEATURE_FLOAT16;
    hold(to, in_order, in_order, in_order);
    assert_int_equal(qk_matrix_read_order(to, &limits), 1);
    assert_int_equal(limits.features, QK_FEATURE_FLOAT16 | QK_FEATURE_COOPERATIVE_MATRIX);
    assert_int_equal(limits.matrix_order_a, 0xFAC688); /* 7 6 5 4 3 2 1 0 in octal */
    assert_int_equal(limits.matrix_order_bc, 0xE4E4);
    hold(to, crossed_a, in_order, crossed_c);
    assert_int_equal(qk_matrix_read_order(to, &limits), 1);
    assert_int_equal(limits.matrix_order_a, 076325410);
    assert_int_equal(limits.matrix_order_bc, 0xD8E4);
}

/* Of threads that share rows in another way, the order is not known; of a device without subnormal halves, there are no matrices, and
 * limits are as they were. */
static void test_refusal(void **state) {
    float to[QK_MATRIX_TO_FLOATS], first[EACH];
    qk_limits limits, before;
    (void)state;
    memset(&limits, 0, sizeof limits);
    before = limits;
    for (uint32_t part = 0; part < 3; part++) {
        static const uint32_t begin[3] = {0, 8, 12}, count[3] = {8, 4, 4};
        hold(to, in_order, in_order, in_order);
        memcpy(first, to + 4 * EACH, sizeof first);
        memcpy(to + 4 * EACH + begin[part], to + 8 * EACH + begin[part], count[part] * sizeof to[0]);
        memcpy(to + 8 * EACH + begin[part], first + begin[part], count[part] * sizeof to[0]);
        assert_int_equal(qk_matrix_read_order(to, &limits), 1);
        assert_int_equal(limits.features, QK_FEATURE_COOPERATIVE_MATRIX);
        assert_int_equal(limits.matrix_order_a, 0);
        assert_int_equal(limits.matrix_order_bc, 0);
    }
    limits = before;
    hold(to, in_order, in_order, in_order);
    to[PRODUCT + 127] = 0;
    assert_int_equal(qk_matrix_read_order(to, &limits), 0);
    assert_memory_equal(&limits, &before, sizeof limits);
}

static void test_descriptor(void **state) {
    qk_kernel probe;
    qk_spec_constant constants[QK_MATRIX_CONSTANTS];
    qk_limits limits;
    (void)state;
    memset(&limits, 0, sizeof limits);
    qk_matrix_probe(&probe, constants, &limits);
    assert_int_equal(probe.abi, QK_ABI_VERSION);
    assert_int_equal(*(const uint32_t *)probe.code->data, 0x07230203);
    assert_int_equal(probe.code->bytes % 4, 0);
    assert_int_equal(probe.binding_count, 2);
    assert_int_equal(probe.workgroup_size, 32);
    assert_int_equal(probe.push_bytes, 0);
    assert_int_equal(constants[0].value, 16);
    assert_int_equal(constants[1].value, 8);
    limits.matrix_rows = limits.matrix_cols = limits.matrix_depth = limits.matrix_lanes = 8;
    qk_matrix_probe(&probe, constants, &limits);
    assert_int_equal(probe.workgroup_size, 8);
    for (uint32_t i = 0; i < QK_MATRIX_CONSTANTS; i++) assert_int_equal(probe.spec_constants[i].value, 8);
}

/* Of what a device offers, the best that kernels take; of a wanted shape, that or nothing. */
static void test_shape(void **state) {
    enum { F16, F32, SUBGROUP = 3 };
    qk_matrix_offer offers[] = {{0, NULL, 16, 8, 32, 3, 3, 5, 5, 0, SUBGROUP}, /* of integers */
                                {0, NULL, 8, 8, 16, F16, F16, F32, F32, 0, SUBGROUP},
                                {0, NULL, 16, 16, 16, F16, F16, F32, F32, 0, SUBGROUP},
                                {0, NULL, 16, 8, 16, F16, F16, F32, F32, 0, SUBGROUP}};
    qk_limits limits;
    (void)state;
    memset(&limits, 0, sizeof limits);
    assert_int_equal(qk_matrix_take_shape(offers, 4, 64, &limits), 0);
    assert_int_equal(qk_matrix_take_shape(offers, 1, 32, &limits), 0);
    assert_int_equal(limits.matrix_rows, 0);
    assert_int_equal(qk_matrix_take_shape(offers, 4, 32, &limits), 1);
    assert_true(limits.matrix_rows == 16 && limits.matrix_cols == 8 && limits.matrix_depth == 16);
    assert_int_equal(limits.matrix_lanes, 32);
    offers[3].result = F16;
    assert_int_equal(qk_matrix_take_shape(offers, 4, 32, &limits), 0); /* it is wanted by now */
    memset(&limits, 0, sizeof limits);
    assert_int_equal(qk_matrix_take_shape(offers, 4, 16, &limits), 1);
    assert_true(limits.matrix_rows == 16 && limits.matrix_cols == 16 && limits.matrix_lanes == 16);
    limits.matrix_rows = limits.matrix_cols = 8;
    assert_int_equal(qk_matrix_take_shape(offers, 4, 16, &limits), 1);
    assert_int_equal(limits.matrix_rows, 8);
    offers[1].saturating = 1;
    assert_int_equal(qk_matrix_take_shape(offers, 4, 16, &limits), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_refusal),
                                       cmocka_unit_test(test_descriptor), cmocka_unit_test(test_shape)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
