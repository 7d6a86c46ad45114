/* qk_choose: which kernel of a format is launched, and that the table that it reads has an answer for every call. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "qkgen/dispatch.h"

enum { FLOATS, BYTE, SPLIT, HALVES, UNITS, N_KERNELS };

static const qk_spec_constant one_digit[] = {{QK_CONSTANT_DIGITS, "digits", 1, 0, NULL}},
                              two_digits[] = {{QK_CONSTANT_DIGITS, "digits", 2, 0, NULL}},
                              lookups[] = {{QK_CONSTANT_DIGITS, "digits", 2, 0, NULL},
                                           {QK_CONSTANT_COPIES, "copies", 1, 0, NULL}};

static const qk_limits device = {
    .features = QK_FEATURE_COOPERATIVE_MATRIX, .busy_workgroups = 500, .subgroup_size = 32};

/* What a kernel is known by: the constant of its digits, its feature, its class; and the numbers of its bound. */
static const qk_kernel all[N_KERNELS] = {
    [FLOATS] = {.numeric = QK_NUMERIC_EXACT_SUM, .sum_roundings = 100},
    [BYTE] = {.numeric = QK_NUMERIC_INT8_SUM,
              .sum_roundings = 100,
              .x_levels = 127,
              .spec_constant_count = 1,
              .spec_constants = one_digit},
    [SPLIT] = {.numeric = QK_NUMERIC_SPLIT_SUM,
               .sum_roundings = 100,
               .x_levels = 32639,
               .spec_constant_count = 1,
               .spec_constants = two_digits},
    [HALVES] = {.numeric = QK_NUMERIC_HALF_SUM, .sum_roundings = 20000},
    [UNITS] = {.numeric = QK_NUMERIC_HALF_SUM, .sum_roundings = 20000, .features = QK_FEATURE_COOPERATIVE_MATRIX},
};

/* The number of the kernel that is chosen among those whose bits are in `of`; N_KERNELS: none. */
static int chosen(unsigned of, uint64_t rows, uint64_t batch, double allowed, const qk_limits *limits) {
    const qk_kernel *kernels[N_KERNELS];
    for (int i = 0; i < N_KERNELS; i++) kernels[i] = of >> i & 1 ? &all[i] : NULL;
    const qk_kernel *kernel = qk_choose(kernels, N_KERNELS, limits, rows, 4096, batch, allowed);
    return kernel != NULL ? (int)(kernel - all) : N_KERNELS;
}

static int any(unsigned of, uint64_t rows, uint64_t batch) { return chosen(of, rows, batch, INFINITY, &device); }

enum { ALL = (1 << N_KERNELS) - 1, NO_BYTE = ALL & ~(1 << BYTE) };

static void test_by_shape(void **state) {
    (void)state;
    assert_int_equal(any(NO_BYTE, 100000, 1), SPLIT);
    assert_int_equal(any(NO_BYTE, 1000, 1), SPLIT);
    assert_int_equal(any(ALL, 1000, 1), BYTE);
    assert_int_equal(any(NO_BYTE, 1000, 2), FLOATS);
    assert_int_equal(any(NO_BYTE, 100000, 2), SPLIT);
    assert_int_equal(any(NO_BYTE, 100000, 3), UNITS);
    assert_int_equal(any(NO_BYTE, 1600, 4), SPLIT);
    assert_int_equal(any(NO_BYTE, 1601, 4), UNITS); /* 16 rows for each of 100 processors are few */
    for (uint64_t batch = 5; batch < 20; batch++) assert_int_equal(any(NO_BYTE, 1000, batch), UNITS);
}

static void test_by_error(void **state) {
    (void)state;
    assert_int_equal(any(ALL, 100000, 2), BYTE);
    assert_int_equal(any(ALL, 1000, 4), BYTE); /* few rows */
    assert_int_equal(any(ALL, 1000, 8), UNITS);
    assert_int_equal(any(ALL, 10000, 8), UNITS);
    assert_int_equal(any(ALL, 100000, 1), SPLIT); /* as fast, and more exact */
    const double bytes = qk_sum_error(&all[BYTE], 32, 4096), split = qk_sum_error(&all[SPLIT], 32, 4096),
                 floats = qk_sum_error(&all[FLOATS], 32, 4096);
    assert_true(floats < split && split < bytes);
    assert_int_equal(chosen(ALL, 100000, 2, bytes, &device), BYTE);
    assert_int_equal(chosen(ALL, 100000, 2, 0.99 * bytes, &device), SPLIT);
    assert_int_equal(chosen(ALL, 100000, 8, 0.99 * bytes, &device), UNITS);
    assert_int_equal(chosen(ALL, 100000, 8, split, &device), SPLIT);
    assert_int_equal(chosen(ALL, 100000, 8, floats, &device), FLOATS);
    assert_int_equal(chosen(ALL, 100000, 8, 0.99 * floats, &device), N_KERNELS);
    assert_int_equal(chosen(ALL, 100000, 8, NAN, &device), N_KERNELS);
}

static void test_by_device(void **state) {
    (void)state;
    const qk_limits plain = {.busy_workgroups = 500, .subgroup_size = 32};
    assert_int_equal(chosen(NO_BYTE, 100000, 8, INFINITY, &plain), SPLIT);
    assert_int_equal(chosen(1 << HALVES | 1 << UNITS, 100000, 8, INFINITY, &plain), HALVES);
    assert_int_equal(chosen(1 << UNITS, 100000, 8, INFINITY, &plain), N_KERNELS);
    const qk_limits unknown = {0};
    assert_int_equal(chosen(NO_BYTE, 100000, 1, INFINITY, &unknown), SPLIT);
    /* A larger device has few rows for longer. */
    const qk_limits large = {.features = QK_FEATURE_COOPERATIVE_MATRIX, .busy_workgroups = 5000, .subgroup_size = 32};
    assert_int_equal(chosen(NO_BYTE, 10000, 4, INFINITY, &device), UNITS);
    assert_int_equal(chosen(NO_BYTE, 10000, 4, INFINITY, &large), SPLIT);
}

/* Tiles of matrix units that do not fit leave plain rows: then others are the first, where they are exact enough. */
static void test_by_columns(void **state) {
    (void)state;
    qk_kernel joined = all[UNITS];
    const qk_kernel *kernels[] = {&all[FLOATS], &all[BYTE], &joined};
    joined.wide_block = 512;
    assert_ptr_equal(qk_choose(kernels, 3, &device, 10000, 4096, 8, INFINITY), &joined);
    assert_ptr_equal(qk_choose(kernels, 3, &device, 10000, 3840, 8, INFINITY), &all[BYTE]);
    assert_ptr_equal(qk_choose(kernels + 2, 1, &device, 10000, 3840, 8, INFINITY), &joined);
}

static void test_by_what_there_is(void **state) {
    (void)state;
    for (int i = 0; i < N_KERNELS; i++) assert_int_equal(any(1u << i, 1000, 2), i);
    assert_int_equal(any(0, 1000, 2), N_KERNELS);
    assert_null(qk_choose(NULL, 0, &device, 1000, 4096, 2, INFINITY));
    assert_int_equal(any(1 << HALVES | 1 << FLOATS, 100000, 8), FLOATS); /* halves without matrix units are the last */
}

static void test_lookups(void **state) {
    (void)state;
    qk_kernel bytes = all[SPLIT];
    bytes.spec_constants = lookups;
    bytes.spec_constant_count = 2;
    const qk_kernel *const kernels[] = {&all[FLOATS], &bytes};
    assert_ptr_equal(qk_choose(kernels, 2, &device, 10000, 4096, 2, INFINITY), &all[FLOATS]);
    assert_ptr_equal(qk_choose(kernels, 2, &device, 100000, 4096, 2, INFINITY), &bytes);
    /* Of few rows and two vectors, floats are faster, whether they look up or not; of four, bytes. */
    const qk_spec_constant pairs[] = {{QK_CONSTANT_COPIES, "copies", 1, 0, NULL},
                                      {QK_CONSTANT_DIGITS, "digits", 1, 0, NULL}};
    qk_kernel floats = all[FLOATS], one = all[BYTE];
    one.spec_constants = pairs;
    one.spec_constant_count = 2;
    const qk_kernel *const both[] = {&floats, &one};
    assert_ptr_equal(qk_choose(both, 2, &device, 1000, 4096, 2, INFINITY), &floats);
    assert_ptr_equal(qk_choose(both, 2, &device, 1000, 4096, 4, INFINITY), &one);
    floats.spec_constants = pairs;
    floats.spec_constant_count = 1;
    assert_ptr_equal(qk_choose(both, 2, &device, 1000, 4096, 4, INFINITY), &one);
    /* Of very many rows, bytes are for one, too. */
    assert_ptr_equal(qk_choose(both, 2, &device, 1000, 4096, 2, INFINITY), &floats);
    assert_ptr_equal(qk_choose(both, 2, &device, 10000, 4096, 1, INFINITY), &floats);
    assert_ptr_equal(qk_choose(both, 2, &device, 100000, 4096, 1, INFINITY), &one);
    /* Beside matrix units: bytes that look pairs up are behind, unless floats do so, too; bytes with a grid are ahead. */
    const qk_spec_constant grid[] = {{QK_CONSTANT_TABLE_COPIES, "table_copies", 1, 0, NULL},
                                     {QK_CONSTANT_DIGITS, "digits", 1, 0, NULL}};
    const qk_kernel *const three[] = {&floats, &one, &all[UNITS]};
    assert_ptr_equal(qk_choose(three, 3, &device, 10000, 4096, 4, INFINITY), &one);
    floats.spec_constant_count = 0;
    assert_ptr_equal(qk_choose(three, 3, &device, 10000, 4096, 4, INFINITY), &all[UNITS]);
    assert_ptr_equal(qk_choose(three, 3, &device, 100000, 4096, 1, INFINITY), &floats);
    one.spec_constants = grid;
    assert_ptr_equal(qk_choose(three, 3, &device, 10000, 4096, 4, INFINITY), &one);
    assert_ptr_equal(qk_choose(three, 3, &device, 100000, 4096, 1, INFINITY), &one);
}

/* Of one vector, bytes are ahead of what is more exact where teams share them: of long rows, neither few nor many. */
static void test_teams(void **state) {
    (void)state;
    static const uint32_t schedules[] = {QK_SCHEDULE_ROWS, QK_SCHEDULE_TEAMS}, fours[] = {512, 2560};
    const qk_spec_constant constants[] = {{QK_CONSTANT_DIGITS, "digits", 1, 0, NULL},
                                          {QK_CONSTANT_SCHEDULE, "schedule", 0, 2, schedules},
                                          {QK_CONSTANT_SHARED_FOURS, "shared_fours", 512, 2, fours}};
    qk_kernel one = all[BYTE];
    one.teams_tile = 5;
    one.teams_kept = 64;
    one.spec_constants = constants;
    one.spec_constant_count = 3;
    const qk_kernel *const kernels[] = {&all[SPLIT], &one};
    qk_limits large = device;
    large.shared_bytes = 49152;
    assert_ptr_equal(qk_choose(kernels, 2, &large, 3000, 14336, 1, INFINITY), &one);
    assert_ptr_equal(qk_choose(kernels, 2, &large, 3000, 4096, 1, INFINITY), &all[SPLIT]);
    assert_ptr_equal(qk_choose(kernels, 2, &large, 30000, 14336, 1, INFINITY), &all[SPLIT]);
    large.subgroup_size = 16; /* there are no teams of fewer than 32 lanes */
    assert_ptr_equal(qk_choose(kernels, 2, &large, 3000, 14336, 1, INFINITY), &all[SPLIT]);
    large.subgroup_size = 32;
    one.spec_constant_count = 1;
    assert_ptr_equal(qk_choose(kernels, 2, &large, 3000, 14336, 1, INFINITY), &all[SPLIT]);
}

static void test_experts(void **state) {
    (void)state;
    const qk_binding ids[] = {{0, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0}};
    qk_kernel floats = all[FLOATS], split = all[SPLIT];
    floats.bindings = split.bindings = ids;
    floats.binding_count = split.binding_count = 1;
    const qk_kernel *const kernels[] = {&floats, &split};
    assert_ptr_equal(qk_choose(kernels, 2, &device, 700, 4096, 1, INFINITY), &split);
    assert_ptr_equal(qk_choose(kernels, 2, &device, 700, 4096, 16, INFINITY), &split);
    const qk_spec_constant grid[] = {{QK_CONSTANT_TABLE_COPIES, "table_copies", 1, 0, NULL},
                                     {QK_CONSTANT_DIGITS, "digits", 2, 0, NULL}};
    split.spec_constants = grid;
    assert_ptr_equal(qk_choose(kernels, 2, &device, 700, 4096, 1, INFINITY), &floats);
    /* Bytes that look pairs up are ahead where a subgroup has several rows at once. */
    qk_kernel one = all[BYTE];
    const qk_spec_constant pairs[] = {{QK_CONSTANT_COPIES, "copies", 1, 0, NULL},
                                      {QK_CONSTANT_DIGITS, "digits", 1, 0, NULL}};
    one.bindings = ids;
    one.binding_count = 1;
    one.spec_constants = pairs;
    one.spec_constant_count = 2;
    const qk_kernel *const others[] = {&floats, &one};
    assert_ptr_equal(qk_choose(others, 2, &device, 700, 1024, 1, INFINITY), &one);
    assert_ptr_equal(qk_choose(others, 2, &device, 700, 1025, 1, INFINITY), &floats);
    one.spec_constants = grid;
    assert_ptr_equal(qk_choose(others, 2, &device, 700, 1024, 1, INFINITY), &floats);
}

/* Each kind of products has a place of its own, whatever the call. */
static void test_table(void **state) {
    (void)state;
    static const uint64_t batches[] = {1, 2, 4, 8};
    for (int b = 0; b < 4; b++)
        for (int rows = QK_FEW_; rows <= QK_MANY_; rows++)
            for (int looks_up = 0; looks_up < 4; looks_up++) {
                unsigned places = 0;
                for (int i = 0; i < N_KERNELS; i++)
                    places |= 1u << qk_rank_(&all[i], batches[b], (qk_rows_class_)rows, looks_up);
                assert_int_equal(places, 0x2f); /* one of three bytes would have the place that is left */
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_shape),   cmocka_unit_test(test_by_error),         cmocka_unit_test(test_by_device),
        cmocka_unit_test(test_by_columns), cmocka_unit_test(test_by_what_there_is), cmocka_unit_test(test_lookups),
        cmocka_unit_test(test_teams),      cmocka_unit_test(test_experts),          cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
