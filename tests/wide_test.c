/* Loads of 16 bytes: blocks joined into whole words, tiles that cover them, and which words are loaded together. */
#include "spec/library.h"
#include "text/text.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    qg_arena *arena;
    qg_library *known;
} fixture;

static int open_all(void **state) {
    static fixture f;
    const char *source = getenv("SOURCE");
    f.arena = qg_arena_new();
    f.known = qg_library_new(f.arena, false);
    qg_library_add_folder(f.known, qg_format(f.arena, "%s/formats", source ? source : "."));
    *state = &f;
    return 0;
}

static int close_all(void **state) {
    qg_arena_free(((fixture *)*state)->arena);
    return 0;
}

/* An instance of a joined code lies where that of its own block does, so many blocks further on. */
static void check_code(const qg_layout *layout, const qg_code *code, const qg_code *joined, uint32_t count) {
    assert_int_equal(joined->count, count * code->count);
    if (qg_has_segments(code)) { /* segments stay as they are: lowering adds the block */
        assert_ptr_equal(joined->slices, code->slices);
        return;
    }
    for (uint32_t s = 0; s < code->n_slices; ++s) {
        const uint32_t bits = 8 * layout->buffers[code->slices[s].buffer].bytes;
        for (uint32_t b = 0; b < count; ++b)
            for (uint32_t j = 0; j < code->count; ++j)
                assert_int_equal(qg_slice_address(&joined->slices[s], b * code->count + j),
                                 b * bits + qg_slice_address(&code->slices[s], j));
    }
}

static void test_joined(void **state) {
    const fixture *f = *state;
    uint32_t joined_formats = 0;
    for (uint32_t l = 0; l < f->known->layouts.count; ++l) {
        const qg_layout *layout = f->known->layouts.items[l];
        for (uint32_t count = 2; count <= 4; count *= 2) {
            const qg_layout *joined = qg_layout_joined(f->arena, layout, count);
            if (layout->view != QG_VIEW_BLOCKS) assert_null(joined);
            if (!joined) continue;
            joined_formats += 1;
            assert_int_equal(joined->elements, count * layout->elements);
            for (uint32_t b = 0; b < layout->n_buffers; ++b)
                assert_int_equal(joined->buffers[b].bytes, count * layout->buffers[b].bytes);
            for (uint32_t c = 0; c < layout->n_codes; ++c)
                check_code(layout, &layout->codes[c], &joined->codes[c], count);
        }
        assert_ptr_equal(qg_layout_joined(f->arena, layout, 1), layout);
    }
    assert_true(joined_formats > 100);
}

/* The tiles of a block have each element once. */
static void check_cover(const fixture *f, const qg_plan *plan) {
    const uint32_t elements = plan->layout->elements;
    uint8_t *seen = QG_NEW_ARRAY(f->arena, uint8_t, elements);
    for (uint32_t t = 0; t < plan->tiles; ++t) {
        uint32_t first = 0, rest = t;
        for (uint32_t d = 0; d < plan->n_digits; ++d) {
            const bool last = d + 1 == plan->n_digits;
            first += (last ? rest : rest % plan->digits[d].extent) * (uint32_t)plan->digits[d].stride;
            rest /= plan->digits[d].extent;
        }
        for (uint32_t r = 0; r < plan->n_runs; ++r)
            for (uint32_t i = 0; i < plan->lanes; ++i) {
                assert_true(first + plan->runs[r] + i < elements);
                seen[first + plan->runs[r] + i] += 1;
            }
    }
    for (uint32_t i = 0; i < elements; ++i) assert_int_equal(seen[i], 1);
}

static void test_tiles(void **state) {
    const fixture *f = *state;
    uint32_t plans = 0, midway = 0;
    for (uint32_t l = 0; l < f->known->layouts.count; ++l)
        for (int which = 0; which < 4; ++which) {
            const qg_layout *layout = f->known->layouts.items[l];
            const qg_plan *rows = qg_plan_rows(f->arena, layout);
            const qg_plan *plan = qg_plan_wide(f->arena, layout, rows, which % 2, which / 2);
            if (!plan) continue;
            plans += 1;
            midway += qg_is_midway(plan);
            assert_true(which / 2 || !qg_is_midway(plan));
            assert_int_equal(plan->tile_elements % rows->tile_elements, 0);
            assert_true(plan->tile_elements <= 128);
            for (uint32_t b = 0; b < layout->n_buffers && layout->view == QG_VIEW_BLOCKS; ++b) {
                assert_int_equal(plan->units[b], plan->midway[b] ? 16 : 32);
                assert_int_equal(plan->layout->buffers[b].bytes % 4, plan->midway[b] ? 2 : 0);
            }
            if (layout->view == QG_VIEW_BLOCKS) check_cover(f, plan);
        }
    assert_true(plans > 200);
    assert_true(midway > 20);
}

/* Blocks that begin in the middle of a word are not joined for that, but only where they are too short for a tile. */
static void test_midway(void **state) {
    const fixture *f = *state;
    static const struct {
        const char *format;
        uint32_t joined, elements, tiles;
        bool midway;
    } cases[] = {
        {"q6_K", 0, 256, 4, true}, {"mxfp4", 2, 64, 1, true}, {"q8_0", 2, 64, 1, false}, {"q4_K", 0, 256, 4, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const qg_layout *layout = qg_library_find(f->known, cases[i].format);
        const qg_plan *plan = qg_plan_wide(f->arena, layout, qg_plan_rows(f->arena, layout), false, true);
        assert_int_equal(plan->layout->joined, cases[i].joined);
        assert_int_equal(plan->layout->elements, cases[i].elements);
        assert_int_equal(plan->tiles, cases[i].tiles);
        assert_int_equal(qg_is_midway(plan), cases[i].midway);
    }
}

static void expect(const fixture *f, const char *format, qg_products products, uint32_t fours, uint32_t words,
                   bool overruns) {
    const qg_layout *layout = qg_library_find(f->known, format);
    const qg_plan *plan =
        qg_plan_wide(f->arena, layout, qg_plan_rows(f->arena, layout), products == QG_PRODUCTS_INT8, false);
    assert_non_null(plan);
    const qg_ir *ir = qg_lower_dot(plan, products);
    const qg_fetches *all = qg_fetches_of(f->arena, ir);
    assert_int_equal(all->n_fours, fours);
    assert_int_equal(all->n_words, words);
    assert_int_equal(ir->overruns != 0, overruns);
}

static void test_loads(void **state) {
    const fixture *f = *state;
    /* 9 words that begin anywhere: a window of three fours. */
    expect(f, "q4_0", QG_PRODUCTS_F32, 3, 0, true);
    expect(f, "q4_0", QG_PRODUCTS_INT8, 3, 0, true);
    /* 17 words: at most three before them, so five fours. */
    expect(f, "q8_0", QG_PRODUCTS_F32, 5, 0, true);
    /* Blocks of 9 fours: one has the head, two the codes; two words of the head are found by the tile's number. */
    expect(f, "q4_K", QG_PRODUCTS_F32, 3, 2, false);
    /* Codes by themselves, two fours; words of scales and of biases. */
    expect(f, "affine_b4_g64_f16", QG_PRODUCTS_F32, 2, 2, false);
    /* A column of four bytes of each segment, with all of its digits, in one of two blocks: words in pairs, which shifts join. */
    expect(f, "tq1_0", QG_PRODUCTS_F32, 0, 8, false);
    expect(f, "tq1_0", QG_PRODUCTS_INT8, 4, 2, true); /* two columns, side by side */
    /* Groups of 6 words begin at even ones: a window of two fours. */
    expect(f, "affine_b3_g64_f32", QG_PRODUCTS_F32, 2, 2, true);
}

/* Who takes such blocks as they are: not those of many bytes in teams of bytes and on matrix units, nor what is looked
 * up on these, nor short ones, but of experts. */
static void test_takes_midway(void **state) {
    const fixture *f = *state;
    static const struct {
        const char *format, *family, *class;
        bool wide, teams;
    } cases[] = {
        {"q6_K", "gemv", "exact", true, true},   {"q6_K", "gemv", "int8", true, false},
        {"q3_K", "gemv", "int8", true, true},    {"q6_K", "gemv", "mma", false, false},
        {"q3_K", "gemv", "mma", true, false},    {"iq1_s", "gemv", "mma", false, false},
        {"mxfp4", "gemv", "int8", false, false}, {"mxfp4", "gemv_id", "int8", true, false},
        {"mxfp4", "gemm", "mma", false, false},  {"mxfp4", "gemm_id", "mma", true, false},
        {"q6_K", "gemm", "mma", true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const qg_kernel kernel =
            qg_kernel_new(f->arena, qg_library_find(f->known, cases[i].format), qg_family_named(cases[i].family),
                          QG_F32, qg_sum_class_named(cases[i].class));
        assert_int_equal(qg_is_midway(kernel.wide), cases[i].wide);
        assert_int_equal(kernel.teams && qg_is_midway(kernel.teams), cases[i].teams);
    }
}

/* None where rows are cut anywhere, and where values are decoded as they are written. */
static void test_none(void **state) {
    const fixture *f = *state;
    static const char *const formats[] = {"nf4_b64", "fp8_tensor"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
        const qg_layout *layout = qg_library_find(f->known, formats[i]);
        assert_null(qg_plan_wide(f->arena, layout, qg_plan_rows(f->arena, layout), false, false));
    }
    qg_layout written = *qg_library_find(f->known, "q4_0");
    written.math = QG_F16;
    assert_null(qg_plan_wide(f->arena, &written, qg_plan_rows(f->arena, &written), false, false));
}

static const qg_plan *wide_of(const fixture *f, const char *format, qg_products products) {
    const qg_sum_class *sum = qg_sum_classes;
    while (sum->products != products) ++sum;
    const qg_layout *layout = qg_library_find(f->known, format);
    return qg_kernel_new(f->arena, layout, qg_family_named("gemv"), QG_F32, sum).wide;
}

/* What a kernel makes of the plan: tables nearby, or no plan at all beside floats where they are too large for copies; and words one
 * by one, where registers hold x as floats, and fours would bring half again of what is wanted. */
static void test_kernels(void **state) {
    const fixture *f = *state;
    assert_true(wide_of(f, "iq2_s", QG_PRODUCTS_F32)->copied); /* 2048 words */
    assert_true(wide_of(f, "iq1_s", QG_PRODUCTS_F32)->copied); /* as many, of values of four bits */
    qg_layout large = *qg_library_find(f->known, "iq1_s");
    qg_table table = large.tables[0];
    double *values = QG_NEW_ARRAY(f->arena, double, table.rows *table.columns);
    memcpy(values, table.values, table.rows * table.columns * sizeof *values);
    values[0] = 15; /* from -1 on: 17 values, bytes, 4096 words */
    table.values = values;
    large.tables = &table;
    const qg_family *gemv = qg_family_named("gemv");
    assert_null(qg_kernel_new(f->arena, &large, gemv, QG_F32, qg_sum_class_named("exact")).wide);
    assert_true(qg_kernel_new(f->arena, &large, gemv, QG_F32, qg_sum_class_named("int8")).wide->copied);
    assert_true(wide_of(f, "iq4_nl", QG_PRODUCTS_F32)->pairs);
    assert_true(wide_of(f, "iq4_nl", QG_PRODUCTS_INT8)->pairs);
    assert_false(wide_of(f, "mxfp4", QG_PRODUCTS_F32)->pairs); /* floats of few bits are taken for halves */
    static const struct {
        const char *format;
        bool by_words;
    } cases[] = {{"q6_K", true},  {"q3_K", true},  {"q2_K", true},  {"q1_0", true}, {"iq4_xs", true},
                 {"q4_0", false}, {"q8_0", false}, {"q4_K", false}, {"q5_0", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const qg_plan *integers = wide_of(f, cases[i].format, QG_PRODUCTS_INT8);
        assert_int_equal(wide_of(f, cases[i].format, QG_PRODUCTS_F32)->by_words, cases[i].by_words);
        assert_int_equal(integers->by_words, qg_is_midway(integers));
    }
    assert_null(wide_of(f, "awq_b4_g64", QG_PRODUCTS_F32)); /* patches of a matrix, whose words lie apart */
}

/* Of Metal: the neighbours of a tile's first run, and how far apart they are. */
static void expect_metal(const fixture *f, const char *format, uint32_t second, uint32_t third) {
    const qg_kernel kernel = qg_kernel_new(f->arena, qg_library_find(f->known, format), qg_family_named("gemv"), QG_F32,
                                           qg_sum_class_named("exact"));
    assert_int_equal(kernel.metal_wide->runs[1], second);
    assert_int_equal(kernel.metal_wide->runs[2], third);
}

/* Neighbours in the place of planes that only some bits of a code have, where there is less to do then. */
static void test_neighbours(void **state) {
    const fixture *f = *state;
    uint32_t plans = 0, others = 0;
    for (uint32_t l = 0; l < f->known->layouts.count; ++l) {
        const qg_layout *layout = f->known->layouts.items[l];
        const qg_plan *rows = qg_plan_rows(f->arena, layout), *plan = qg_plan_neighbours(f->arena, layout, rows);
        if (!plan || layout->view != QG_VIEW_BLOCKS) continue;
        const qg_plan *wide = qg_plan_wide(f->arena, layout, rows, false, false);
        check_cover(f, plan);
        plans += 1;
        others += memcmp(plan->runs, wide->runs, sizeof plan->runs) != 0;
    }
    assert_true(plans > 50 && others >= 3);
    expect_metal(f, "q3_K", 4, 32);
    expect_metal(f, "q5_K", 4, 8);
    expect_metal(f, "q6_K", 4, 8);
}

/* Of Metal, both blocks of a tile: the second begins at a half of a word; its scales of two pieces go two at a time. */
static void test_pieces(void **state) {
    const fixture *f = *state;
    const qg_kernel kernel = qg_kernel_new(f->arena, qg_library_find(f->known, "q3_K"), qg_family_named("gemv"), QG_F32,
                                           qg_sum_class_named("exact"));
    const qg_ir *ir = qg_lower_dot(kernel.metal_wide, QG_PRODUCTS_F32);
    uint32_t pairs = 0;
    for (uint32_t i = 0; i < ir->n_nodes; ++i) pairs += ir->nodes[i]->used && ir->nodes[i]->op == QG_HALVES;
    assert_int_equal(pairs, 64 / 2 + 8 / 2); /* codes and scales */
}

static const qk_kernel *describe(const fixture *f, const char *format, const char *family, const char *class) {
    const qg_layout *layout = qg_library_find(f->known, format);
    qg_kernel *kernel = QG_NEW(f->arena, qg_kernel);
    *kernel = qg_kernel_new(f->arena, layout, qg_family_named(family), QG_F32, qg_sum_class_named(class));
    return qg_describe(f->arena, kernel, QK_API_VULKAN, NULL);
}

static uint32_t checked(const fixture *f, const char *format, const char *family, const char *class) {
    const qk_kernel *described = describe(f, format, family, class);
    for (uint32_t i = 0; i < described->spec_constant_count; ++i)
        if (described->spec_constants[i].id == QK_CONSTANT_CHECKED) return described->spec_constants[i].value;
    return 2;
}

/* Integers whose loads a compiler would put off keep the checks of bounds; floats are compiled without. */
static void test_checked(void **state) {
    const fixture *f = *state;
    assert_int_equal(checked(f, "q4_0", "gemv", "int8"), 1);
    assert_int_equal(checked(f, "q4_0", "gemv", "split"), 0);
    assert_int_equal(checked(f, "q4_K", "gemv", "split"), 1); /* no windows */
    assert_int_equal(checked(f, "affine_b4_g64_f16", "gemv", "split"), 0);
    assert_int_equal(checked(f, "q4_K", "gemv_id", "int8"), 0);
    assert_int_equal(checked(f, "q4_K", "gemv", "exact"), 0);
    assert_int_equal(checked(f, "nf4_b64", "gemv", "exact"), 0);
    assert_int_equal(checked(f, "gptq_v1_b4_g128", "gemv", "exact"), 2); /* has no wide tiles */
}

/* Rows at a time, and elements whose x a thread keeps: what there are registers for. */
static void test_rows_at_once(void **state) {
    const fixture *f = *state;
    static const struct {
        const char *format, *family, *class;
        uint32_t rows, kept;
    } cases[] = {
        {"q4_0", "gemv", "split", 0, 64},     {"q5_1", "gemv", "split", 0, 64},
        {"q6_K", "gemv", "split", 4, 64},     {"q6_K", "gemv", "int8", 0, 64},
        {"q8_0", "gemv", "split", 4, 64},     {"q8_0", "gemv", "int8", 4, 64},
        {"q8_0", "gemv", "exact", 0, 64},     {"q8_0", "gemv_id", "split", 0, 64},
        {"q5_K", "gemv", "split", 4, 128},    {"tq1_0", "gemv", "exact", 0, 64},
        {"tq1_0", "gemv", "split", 0, 128},   {"tq1_0", "gemv_id", "split", 0, 64},
        {"iq1_s", "gemv_id", "split", 0, 64}, {"q1_0", "gemv_id", "split", 0, 64},
        {"iq1_m", "gemv_id", "int8", 0, 128}, /* nothing to load at once in smaller ones */
        {"nf4_b64", "gemv", "exact", 0, 64},  {"gptq_v1_b4_g128", "gemv", "exact", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const qk_kernel *described = describe(f, cases[i].format, cases[i].family, cases[i].class);
        assert_int_equal(described->rows_at_once, cases[i].rows);
        assert_int_equal(described->kept_elements, cases[i].kept);
    }
}

/* What is loaded ahead: scattered weights, in one buffer of blocks, and not where lookups take the memory. */
static void test_ahead(void **state) {
    const fixture *f = *state;
    static const struct {
        const char *format, *family, *class;
        uint32_t rows, kept, block; /* 0: nothing */
    } cases[] = {
        {"q6_K", "gemv", "split", 2, 64, 512},
        {"q6_K", "gemv", "int8", 1, 64, 512},
        {"q6_K", "gemv", "exact", 2, 64, 512},
        {"q2_K", "gemv", "split", 4, 64, 256},
        {"q4_K", "gemv", "split", 2, 64, 256},
        {"q4_K", "gemv", "int8", 4, 64, 256},
        {"q5_K", "gemv", "split", 4, 64, 256},
        {"q3_K", "gemv", "split", 2, 128, 512}, /* larger tiles, of 55 bytes, not of 88 */
        {"q3_K", "gemv", "int8", 2, 128, 512},
        {"q1_0", "gemv", "split", 4, 128, 256},
        {"q5_0", "gemv", "split", 4, 64, 64},
        {"q4_0", "gemv", "split", 0, 0, 0}, /* windows of 12 words for 9 */
        {"q4_0", "gemv", "exact", 4, 64, 64},
        {"q8_0", "gemv", "exact", 2, 64, 64},
        {"mxfp4", "gemv", "exact", 4, 64, 128},
        {"q5_1", "gemv", "exact", 0, 0, 0},
        {"q2_K", "gemv", "exact", 4, 64, 256},
        {"q1_0", "gemv", "exact", 0, 0, 0},
        {"iq3_s", "gemv", "split", 2, 64, 512},
        {"iq3_xxs", "gemv", "split", 0, 0, 0},
        {"iq1_s", "gemv", "split", 0, 0, 0},
        {"iq4_nl", "gemv", "exact", 0, 0, 0},
        {"iq1_s", "gemv", "exact", 2, 64, 512},
        {"iq2_xs", "gemv", "split", 0, 0, 0},
        {"q6_K", "gemv", "mma", 0, 0, 0},
        {"q6_K", "gemv_id", "split", 0, 0, 0},
        {"affine_b3_g64_f16", "gemv", "split", 0, 0, 0},
        {"tq1_0", "gemv", "exact", 0, 0, 0},
        {"tq1_0", "gemv", "split", 4, 128, 512},
        {"nf4_b64", "gemv", "exact", 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const qk_kernel *described = describe(f, cases[i].format, cases[i].family, cases[i].class);
        const char *name = described->name;
        if (described->rows_ahead != cases[i].rows || described->ahead_kept != cases[i].kept ||
            described->ahead_block != cases[i].block)
            fail_msg("%s: %u rows of %u elements, of %u", name, described->rows_ahead, described->ahead_kept,
                     described->ahead_block);
        uint32_t constants = 0;
        for (uint32_t c = 0; c < described->spec_constant_count; ++c)
            constants += described->spec_constants[c].id == QK_CONSTANT_LANES;
        /* Matrix units have it as well. */
        assert_int_equal(constants, cases[i].rows || strcmp(cases[i].class, "mma") == 0 ? 1 : 0);
    }
}

static void check_words(const fixture *f, const qg_table *table) {
    const uint32_t width = qg_table_bits(table), in_word = 32 / width;
    uint32_t bytes;
    const uint32_t *words = qg_table_words(f->arena, table, &bytes);
    assert_int_equal(bytes, 4 * qg_table_size(table));
    for (uint32_t i = 0; i < table->rows * table->columns; ++i) {
        const uint32_t bits = words[i / in_word] >> i % in_word * width & ((UINT32_C(1) << width) - 1);
        assert_int_equal((int32_t)bits + qg_table_offset(table), (int32_t)table->values[i]);
    }
}

/* Tables whose values are few are stored in half of the bits, and tiles have whole words of them. */
static void test_narrow(void **state) {
    const fixture *f = *state;
    static const struct {
        qg_scalar type;
        uint32_t columns;
        double other, last;
        uint32_t bits;
        int32_t offset;
        const char *packing;
    } cases[] = {
        {QG_U8, 8, 100, 115, 4, 100, "u8 from 100 on, in 4 bits each"},
        {QG_I8, 8, -1, 14, 4, -1, "i8 from -1 on, in 4 bits each"},
        {QG_U8, 16, 15, 0, 4, 0, "u8 from 0 on, in 4 bits each"},
        {QG_U8, 8, 100, 116, 8, 0, "u8, packed"},
        {QG_U8, 4, 100, 115, 8, 0, "u8, packed"},
        {QG_U16, 8, 100, 115, 16, 0, "u16, packed"},
        {QG_F16, 8, 1, 2, 32, 0, "f16, packed"},
        {QG_U8, 1, 3, 4, 32, 0, "u8, packed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        double values[32];
        for (uint32_t v = 0; v < 32; ++v) values[v] = v < 31 ? cases[i].other : cases[i].last;
        const qg_table table = {
            .type = cases[i].type, .rows = 32 / cases[i].columns, .columns = cases[i].columns, .values = values};
        assert_int_equal(qg_table_bits(&table), cases[i].bits);
        assert_int_equal(qg_table_offset(&table), cases[i].offset);
        assert_string_equal(qg_table_packing(f->arena, &table), cases[i].packing);
        if (cases[i].bits < 16) check_words(f, &table);
    }
    static const char *const ternary[] = {"iq1_s", "iq1_m"};
    for (size_t i = 0; i < sizeof ternary / sizeof *ternary; ++i) {
        const qg_layout *layout = qg_library_find(f->known, ternary[i]);
        assert_int_equal(qg_table_bits(&layout->tables[0]), 4);
        check_words(f, &layout->tables[0]);
        const qg_plan *plan = qg_plan_wide(f->arena, layout, qg_plan_rows(f->arena, layout), false, false);
        assert_non_null(plan);
        assert_int_equal(plan->tile_elements, 64);
        check_cover(f, plan);
        for (uint32_t r = 0; r < plan->n_runs; r += 2) {
            assert_int_equal(plan->runs[r] % 8, 0);
            assert_int_equal(plan->runs[r + 1], plan->runs[r] + 4);
        }
    }
    assert_int_equal(qg_table_bits(&qg_library_find(f->known, "iq2_xxs")->tables[0]), 8);
}

/* What is left of a division by a power of two has the powers that all strides have: a byte does not cross its word. */
static void test_remainders(void **state) {
    const fixture *f = *state;
    qg_ir *ir = qg_ir_new(f->arena, qg_library_find(f->known, "iq1_s"));
    static const struct {
        int64_t stride, constant;
        uint32_t divisor;
        int64_t most;
    } cases[] = {{8, 16, 32, 24}, {24, 8, 32, 24}, {8, 4, 32, 28}, {7, 16, 32, 31}, {8, 16, 24, 16}, {10, 2, 12, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        qg_index at = qg_index_scale(qg_index_digit(qg_arg(ir, "i", 7), 7), cases[i].stride);
        at = qg_index_add(ir, at, qg_index_constant(cases[i].constant));
        assert_int_equal(qg_index_max(qg_index_mod(ir, at, cases[i].divisor)), cases[i].most);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joined),       cmocka_unit_test(test_tiles),   cmocka_unit_test(test_midway),
        cmocka_unit_test(test_takes_midway), cmocka_unit_test(test_loads),   cmocka_unit_test(test_none),
        cmocka_unit_test(test_kernels),      cmocka_unit_test(test_checked), cmocka_unit_test(test_rows_at_once),
        cmocka_unit_test(test_ahead),        cmocka_unit_test(test_narrow),  cmocka_unit_test(test_remainders),
        cmocka_unit_test(test_neighbours),   cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
