/* Values with a memory of what neighbours share are those without, of every format, in one block after the other.
 * Floats are what the bits of each type say. Layouts of whole blocks have the memory of those that they are made of.
 * Blocks that are kept from one row to the next are those that are read. */
#include "spec/library.h"
#include "spec/value.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 4, MOST_BUFFERS = 8 };

static qg_arena *arena;
static qg_library *library;
static uint32_t random_state = 1;

static unsigned char random_byte(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return (unsigned char)(random_state >> 24);
}

static void draw(const qg_layout *layout, unsigned char **blocks) {
    for (uint32_t b = 0; b < layout->n_buffers; ++b)
        for (uint32_t i = 0; i < layout->buffers[b].bytes; ++i) blocks[b][i] = random_byte();
}

static bool same(float a, float b) { return memcmp(&a, &b, sizeof a) == 0; }

static void compare(const qg_layout *layout, const unsigned char *const *blocks, qg_memory *memory, uint32_t at) {
    const qg_element with = {layout, blocks, at, memory}, without = {layout, blocks, at, NULL};
    if (!same(qg_value_of(&with), qg_value_of(&without)))
        fail_msg("%s: element %u is %g, must be %g", layout->name, at, (double)qg_value_of(&with),
                 (double)qg_value_of(&without));
    for (int least = 0; least < 2; ++least)
        if (!same(qg_magnitude_of(&with, least), qg_magnitude_of(&without, least)))
            fail_msg("%s: the magnitude of element %u is %g, must be %g", layout->name, at,
                     (double)qg_magnitude_of(&with, least), (double)qg_magnitude_of(&without, least));
}

/* Elements in order, and from both ends. */
static void test_memory(void **state) {
    (void)state;
    for (uint32_t f = 0; f < library->layouts.count; ++f) {
        const qg_layout *layout = library->layouts.items[f];
        qg_memory *memory = qg_memory_new(arena, layout);
        unsigned char *blocks[MOST_BUFFERS];
        assert_true(layout->n_buffers <= MOST_BUFFERS);
        for (uint32_t b = 0; b < layout->n_buffers; ++b) blocks[b] = qg_alloc(arena, layout->buffers[b].bytes + 4);
        for (uint32_t n = 0; n < BLOCKS; ++n) {
            const uint32_t count = layout->elements, step = count > 4096 ? count / 4096 : 1;
            draw(layout, blocks);
            qg_memory_clear(memory);
            for (uint32_t i = 0; i < count; i += step)
                compare(layout, (const unsigned char *const *)blocks, memory, n % 2 && i % 2 ? count - 1 - i : i);
        }
    }
}

/* Of a row of blocks, too. */
static void test_row(void **state) {
    (void)state;
    uint32_t tried = 0;
    for (uint32_t f = 0; f < library->layouts.count; ++f) {
        const qg_layout *layout = library->layouts.items[f];
        if (layout->view != QG_VIEW_BLOCKS || layout->n_buffers != 1) continue;
        const uint32_t bytes = layout->buffers[0].bytes, count = BLOCKS * layout->elements;
        const uint64_t period = (uint64_t)BLOCKS * bytes;
        unsigned char *data = qg_alloc(arena, period + 4);
        float *values = QG_NEW_ARRAY(arena, float, count);
        for (uint64_t i = 0; i < period; ++i) data[i] = random_byte();
        const unsigned char *const whole[] = {data};
        const qg_tensor tensor = {layout, 1, count, whole, &period, 0, NULL};
        qg_values_of_row(arena, &tensor, 0, 0, count, values);
        for (uint32_t i = 0; i < count; ++i) {
            const unsigned char *const block[] = {data + (uint64_t)(i / layout->elements) * bytes};
            const qg_element element = {layout, block, i % layout->elements, NULL};
            if (!same(values[i], qg_value_of(&element))) fail_msg("%s: element %u of a row", layout->name, i);
        }
        tried += 1;
    }
    assert_true(tried > 20);
}

/* Rows of two experts of 2 x 2 patches, which begin anew and go back, with patches that are kept are those without. */
static bool keeps_patches(const qg_layout *layout) {
    const uint64_t rows = 2 * layout->block_rows, cols = 2 * layout->block_cols;
    const unsigned char *data[MOST_BUFFERS];
    uint64_t periods[MOST_BUFFERS];
    for (uint32_t b = 0; b < layout->n_buffers; ++b) {
        periods[b] = 2 * qg_buffer_bytes(layout, b, rows, cols);
        unsigned char *bytes = qg_alloc(arena, periods[b] + 4);
        for (uint64_t i = 0; i < periods[b]; ++i) bytes[i] = random_byte();
        data[b] = bytes;
    }
    qg_tensor kept = {layout, 2 * rows, cols, data, periods, 2, NULL};
    const qg_tensor plain = kept;
    kept.patches = qg_patches_new(arena, &plain);
    float *values = QG_NEW_ARRAY(arena, float, cols), *must = QG_NEW_ARRAY(arena, float, cols);
    const uint64_t some[] = {0, rows, rows - 1, rows, 2 * rows - 1, 0, layout->block_rows, 0, 3 * layout->block_rows};
    for (size_t i = 0; i < sizeof some / sizeof *some; ++i) {
        qg_values_of_row(arena, &kept, some[i], 0, cols, values);
        qg_values_of_row(arena, &plain, some[i], 0, cols, must);
        if (memcmp(values, must, cols * sizeof *values) != 0)
            fail_msg("%s: row %llu", layout->name, (unsigned long long)some[i]);
    }
    return kept.patches;
}

static void test_patches(void **state) {
    (void)state;
    uint32_t keep = 0, others = 0;
    for (uint32_t f = 0; f < library->layouts.count; ++f) {
        const qg_layout *layout = library->layouts.items[f];
        if (layout->view == QG_VIEW_MATRIX && layout->elements <= 1 << 16)
            *(keeps_patches(layout) ? &keep : &others) += 1;
    }
    assert_true(keep > 10 && others > 10);
}

/* A finite number of sign, exponent and fraction, as IEEE 754 and OCP define it. */
static double as_defined(const qg_scalar_info *info, uint32_t bits) {
    const uint32_t fractions = 1u << info->mantissa_bits, fraction = bits % fractions;
    const uint32_t exponent = bits / fractions % (1u << info->exponent_bits);
    const bool negative = info->bits > info->exponent_bits + info->mantissa_bits && bits >> (info->bits - 1);
    double size = (double)fraction / fractions;
    if (info->mantissa_bits == 0 || exponent > 0) size += 1;
    size = ldexp(size, (int)(exponent || info->mantissa_bits == 0 ? exponent : 1) - info->bias);
    return negative ? -size : size;
}

static void same_bytes(const qg_layout *layout, const qg_layout *other) {
    const uint64_t rows = 3 * (uint64_t)layout->block_rows, cols = 2 * (uint64_t)layout->block_cols;
    assert_int_equal(layout->n_buffers, other->n_buffers);
    for (uint32_t b = 0; b < layout->n_buffers; ++b) {
        const uint64_t bytes = qg_buffer_bytes(other, b, rows, cols), must = qg_buffer_bytes(layout, b, rows, cols);
        if (bytes != must)
            fail_msg("%s: of 3 x 2 blocks, %s has %llu bytes, must have %llu", layout->name, layout->buffers[b].name,
                     (unsigned long long)bytes, (unsigned long long)must);
    }
}

/* Where all blocks are whole, layouts that say so have the same memory. */
static void test_whole_layouts(void **state) {
    (void)state;
    for (uint32_t f = 0; f < library->layouts.count; ++f) {
        const qg_layout *layout = library->layouts.items[f];
        same_bytes(layout, qg_layout_whole(arena, layout));
        same_bytes(layout, qg_layout_to_encode(arena, layout));
    }
}

static void test_floats(void **state) {
    (void)state;
    uint32_t finite = 0;
    for (qg_scalar type = QG_F16; type <= QG_E8M0; type = (qg_scalar)(type + 1)) {
        const qg_scalar_info *info = &qg_scalars[type];
        const uint32_t count = info->bits < 32 ? 1u << info->bits : 1u << 16;
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t bits =
                info->bits < 32 ? i : i * 65537u; /* of f32 some, all signs and exponents among them */
            const float value = qg_float_of(type, bits);
            if (!isfinite(value)) continue;
            assert_true(same(value, (float)as_defined(info, bits)));
            finite += 1;
        }
    }
    assert_int_equal(finite, 63488 + 65280 + 65280 + 16 + 64 + 64 + 254 + 248 + 255);
    assert_true(isnan(qg_float_of(QG_E4M3, 0xff)) && isnan(qg_float_of(QG_F16, 0x7c01)));
    assert_true(qg_float_of(QG_F16, 0xfc00) == -INFINITY && qg_float_of(QG_BF16, 0x7f80) == INFINITY);
}

static int open_library(void **state) {
    const char *source = getenv("SOURCE");
    (void)state;
    arena = qg_arena_new();
    library = qg_library_new(arena, false);
    return qg_library_add_folder(library, qg_format(arena, "%s/formats", source ? source : ".")) ? 0 : -1;
}

static int close_library(void **state) {
    (void)state;
    qg_arena_free(arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory), cmocka_unit_test(test_row),
                                       cmocka_unit_test(test_patches), cmocka_unit_test(test_floats),
                                       cmocka_unit_test(test_whole_layouts)};
    return cmocka_run_group_tests(tests, open_library, close_library);
}
