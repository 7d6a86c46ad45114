/* Static counts: of kernels that were counted by hand, and of every kernel of every format against its SPIR-V. */
#include "emit/cost_spirv.h"
#include "emit/spirv.h"
#include "spec/library.h"
#include "text/text.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    qg_arena *arena;
    qg_library *known;
    qg_templates templates;
} fixture;

static int open_all(void **state) {
    static fixture f;
    const char *source = getenv("SOURCE"), *why = NULL;
    f.arena = qg_arena_new();
    f.known = qg_library_new(f.arena, false);
    qg_library_add_folder(f.known, qg_format(f.arena, "%s/formats", source ? source : "."));
    *state = &f;
    if (!qg_spirv_open()) return -1;
    return qg_templates_load(f.arena, qg_format(f.arena, "%s/templates", source ? source : "."), &f.templates, &why)
               ? 0
               : -1;
}

static int close_all(void **state) {
    qg_spirv_close();
    qg_arena_free(((fixture *)*state)->arena);
    return 0;
}

static qg_kernel kernel_of(const fixture *f, const char *format, const char *family) {
    const qg_layout *layout = qg_library_find(f->known, format);
    assert_non_null(layout);
    return qg_kernel_new(f->arena, layout, qg_family_named(family), QG_F32, &qg_sum_classes[QG_CLASS_EXACT]);
}

/* ---- by hand ---- */

static void expect(const fixture *f, const char *format, const char *family, const qg_cost *expected) {
    const qg_kernel kernel = kernel_of(f, format, family);
    const qg_cost cost = qg_cost_of_program(qg_program_of(f->arena, &kernel, QK_API_VULKAN, qg_main_schedule(&kernel)));
    assert_int_equal(cost.weights, expected->weights);
    for (uint32_t i = 0; i < QG_COST_CLASSES; ++i)
        if (cost.counts[i] != expected->counts[i])
            fail_msg("%s: %u %s, and not %u", kernel.name, cost.counts[i], qg_cost_names[i], expected->counts[i]);
    assert_int_equal(cost.loaded, expected->loaded);
    assert_true(cost.stored == expected->stored);
    assert_true(cost.written == expected->written);
}

/* d * (q - 8), 18 bytes for 32 weights, in words of 16 bits.
 *
 * A tile of dequant is 4 low nibbles and 4 high ones, of one word of 32 bits.
 *   loads     d; two of 16 bits, 3 x 2 bytes
 *   bits      a shift and an or of the second word; 8 shifts; 8 masks
 *   integer   base = block * 9; tile * 2, + base, + 1; the index of the second word; 8 x - 8
 *   float     8 products with d
 *   convert   d; 8 codes
 *
 * A tile of gemv is two blocks, 9 words that begin anywhere in a window of 16 bytes, three times. A word with two masked
 * nibbles, 16 bits apart, is two halves.
 *   loads     3 x 16 bytes
 *   bits      2 of the place in the window; 4 words of two halves, two shifts and an or each; 8 words with a shift and 4
 *             masks; a shift of the second d
 *   integer   base = block * 9; / 4; + 1, + 2; 2 comparisons; 10 words chosen of two, and 9 of these
 *   float     16 dot products of 4 products and 3 sums; 14 sums of them; two times the sum of x, with which they
 *            begin; * d;
 *             +; + the row's sum
 *   convert   2 d; 32 pairs */
static void test_nibbles(void **state) {
    expect(*state, "q4_0", "dequant", &(qg_cost){8, {3, 2 + 16, 4 + 1 + 8, 8, 1 + 8, 0}, 6, 18.0 / 32, 4});
    expect(*state, "q4_0", "gather", &(qg_cost){8, {3, 2 + 16, 4 + 1 + 8, 8, 1 + 8, 0}, 6, 18.0 / 32, 4});
    const qg_cost sums = {
        64, {3, 2 + 12 + 40 + 1, 4 + 2 + 19, 16 * 7 + 14 + 2 + 2 + 1 + 1, 2 + 32, 0}, 48, 18.0 / 32, 0};
    expect(*state, "q4_0", "gemv", &sums);
    expect(*state, "q4_0", "gemv_id", &sums);
}

/* q * s + b, three buffers; a tile of gemv is a group, and two groups are joined, so that s and b lie in words.
 *   loads     the words of s and b; 4 x 16 bytes
 *   bits      s and b are shifted; 32 masks; 16 shifts
 *   integer   block * 8, tile * 4, +; + 1, + 2, + 3; tile * 16
 *   float     16 dot products; 15 sums of them; * s; b * the sum of x; +; + the row's sum
 *   convert   s, b; 32 pairs */
static void test_affine(void **state) {
    expect(*state, "affine_b8_g64_f16", "gemv",
           &(qg_cost){64, {6, 2 + 32 + 16, 3 + 3 + 1, 16 * 7 + 15 + 4, 2 + 32, 0}, 72, 68.0 / 64, 0});
}

/* N[q] * absmax, in a sequence whose last bytes may be missing: each index has a bound.
 *   loads     absmax; 2 bytes
 *   bits      a shift, an or; 4 shifts; 4 masks
 *   integer   block_col * 32, t * 2, +; + 1; the bound: cols - 1, / 2; 2 min
 *   float     4 products
 *   lookups   4 */
static void test_lookups(void **state) {
    expect(*state, "nf4_b64", "dequant", &(qg_cost){4, {3, 2 + 8, 4 + 2 + 2, 4, 0, 4}, 6, 36.0 / 64, 4});
}

/* Results in f16 are rounded, one conversion each, and half as long. */
static void test_results(void **state) {
    const fixture *f = *state;
    qg_kernel kernel = kernel_of(f, "q4_0", "dequant");
    kernel.type = QG_F16;
    const qg_cost cost = qg_cost_of_program(qg_program_of(f->arena, &kernel, QK_API_VULKAN, qg_main_schedule(&kernel)));
    assert_int_equal(cost.counts[QG_COST_CONVERSION], 1 + 8 + 8);
    assert_true(cost.written == 2);
}

/* ---- against SPIR-V ---- */

/* Integer operations of the schedule, which are in the loop of the SPIR-V and not in the IR. All of it is at most `most` a
 * tile, whatever the format.
 *
 *   dequant   2 of the loop; 2 of block and tile; the address of the first result, at most 8, and of each run 1; where tiles are
 *             cut off, 8 for a result; in a matrix at most 8 of the block's place, and, where its last blocks are cut off or
 *             tiles go down its columns first, 25; 17 for each further row of a tile, its place and whether it is there
 *   gather    the same, and 17 of the row: its number, whether it is there, the place of the tile in it, and of the thread's next;
 *             and of the place in views of larger tensors, which calls without one jump over, VIEWS where a thread takes one
 *             token at a time, and not two; 3 of where values, indices and the table begin
 *   gemv      2 of the loop over rows; 5 of the row's number; 2 of the loop over right-hand sides; 5 of block and tile, in a
 *             matrix at most 8
 *   gemv_id   the same, and 3 of the expert's first row
 *
 * Where 16 bytes are loaded at once, loading and summing are a loop each, and both compute the place: at most WIDE_SCHEDULE. Where
 * tables have copies, the place in one is at most COPY for a lookup.
 *
 * A few are less, where the optimiser finds equals that the text does not show. */
typedef struct schedule {
    const char *family;
    bool runs; /* and one for each run */
    int least, most;
} schedule;

enum { WIDE_SCHEDULE = 54, COPY = 8, VIEWS = 35, TURNS = 4 };

static const schedule schedules[] = {
    {"dequant", true, 0, 20}, {"gather", true, 11, 40}, {"gemv", false, 8, 20}, {"gemv_id", false, 11, 23}};

/* Sums of these load 16 bits twice, alone and as half of a word. The optimiser of a glslang from 13 on makes one load of the two. */
static bool loads_twice(const qg_kernel *kernel) {
    const char *name = kernel->layout->name;
    return kernel->family->sums && (strcmp(name, "iq2_xxs") == 0 || strcmp(name, "iq3_xxs") == 0);
}

/* A choice for each turn, of whether to add, and where sums of x are made again, these. */
static uint32_t floats_of_turns(const qg_kernel *kernel) {
    if (!kernel->in_turns) return 0;
    const qg_ir *ir = qg_lower_dot(kernel->wide, QG_PRODUCTS_F32);
    const qg_node *node = ir->outputs[0].node;
    uint32_t terms = 1;
    for (; (node->op == QG_ADD || node->op == QG_SUB) && !node->name; node = node->arg[0]) ++terms;
    const uint32_t each = (terms + TURNS - 1) / TURNS;
    return (terms + each - 1) / each;
}

/* NULL, or in what the two differ. Loads, their bytes, bits, floats and conversions are the same number. A lookup that is used twice
 * stands twice in the text, and not every optimiser of SPIR-V makes one of them: of four, one may be such. */
static const char *difference(const qg_kernel *kernel, const qg_cost *ir, const qg_cost *spirv) {
    const uint32_t *a = ir->counts, *b = spirv->counts;
    const schedule *s = schedules;
    while (strcmp(s->family, kernel->family->name) != 0)
        if (++s == schedules + sizeof schedules / sizeof *schedules) return "a family without a row in `schedules`";
    const int more = (int)b[QG_COST_INTEGER] - (int)a[QG_COST_INTEGER] - (s->runs ? (int)kernel->plan->n_runs : 0);
    const qg_layout *layout = kernel->layout;
    const int rows = s->runs ? 17 * ((int)kernel->plan->tile_rows - 1) : 0;
    const int patches = !s->runs || layout->view == QG_VIEW_BLOCKS ? 0 : layout->ragged ? 25 : 8;
    const int walk =
        s->runs && layout->view == QG_VIEW_MATRIX && qg_is_turned(layout) ? 6 : 0; /* along the rows first */
    const uint32_t shared = loads_twice(kernel) && a[QG_COST_LOAD] == b[QG_COST_LOAD] + 1;
    if (a[QG_COST_LOAD] != b[QG_COST_LOAD] + shared) return "loads";
    if (ir->loaded != spirv->loaded + 2 * shared) return "bytes loaded";
    if (a[QG_COST_BITS] != b[QG_COST_BITS]) return "bits";
    if (a[QG_COST_FLOAT] + floats_of_turns(kernel) != b[QG_COST_FLOAT]) return "float";
    if (a[QG_COST_CONVERSION] != b[QG_COST_CONVERSION]) return "conversions";
    if (b[QG_COST_LOOKUP] < a[QG_COST_LOOKUP] || 3 * b[QG_COST_LOOKUP] > 4 * a[QG_COST_LOOKUP]) return "lookups";
    const int copies = kernel->wide && kernel->wide->copied ? COPY * (int)a[QG_COST_LOOKUP] : 0;
    const bool gathers = kernel->family->id == QG_FAMILY_GATHER && layout->view == QG_VIEW_BLOCKS;
    const int views = gathers && kernel->plan->tile_elements > 4 ? VIEWS : 0;
    /* Where a tile is a word, the word's number is the tile's, which the place in x has computed. */
    const int word = !s->runs && layout->view == QG_VIEW_MATRIX && layout->buffers[0].bytes == 4 * kernel->plan->tiles;
    const int most = (kernel->wide ? WIDE_SCHEDULE : s->most) + rows + patches + walk + copies + views;
    return more < (kernel->wide ? 0 : s->least - word + views) || more > most ? "integer" : NULL;
}

/* What a family makes of decoded values is not counted. */
static bool is_counted(const qg_family *family) {
    float values[] = {-1, 2};
    if (family->in_tiles || family->encodes) return false; /* nor are operands and encoders, which banners leave out */
    return family->sums || (qg_results_of_row(family, values, 2) == 2 && values[0] == -1 && values[1] == 2);
}

static bool compile(const fixture *f, const qg_kernel *kernel, qg_cost *cost, const char **why) {
    const qg_request request = {
        .layout = kernel->layout, .n_families = 1, .families = &kernel->family, .vulkan = true, .command = "test"};
    size_t bytes;
    qg_arena *scratch = qg_arena_new();
    const qg_program *program = qg_program_of(scratch, kernel, QK_API_VULKAN, qg_main_schedule(kernel));
    const char *glsl = qg_glsl(scratch, &f->templates, &request, program, why);
    const uint32_t *words = glsl ? qg_spirv_compile(scratch, kernel->name, glsl, &bytes, why) : NULL;
    const bool good = words && qg_cost_of_spirv(scratch, program, words, bytes, cost, why);
    if (!good) *why = qg_format(f->arena, "%s", *why);
    qg_arena_free(scratch);
    return good;
}

/* Without SPIRV-Tools' optimiser, functions and equal expressions stay, and the counts are those of the text. */
static bool optimises(const fixture *f) {
    const char *why, *glsl = "#version 450\nlayout(binding = 0) buffer B { uint b[]; };\n"
                             "uint f(uint x) { return x * 3u; }\nvoid main() { b[0] = f(b[1]); }\n";
    size_t bytes;
    uint32_t count = 0, bound, calls = 0;
    const uint32_t *words = qg_spirv_compile(f->arena, "calls", glsl, &bytes, &why);
    const qg_spirv_instruction *items = words ? qg_spirv_read(f->arena, words, bytes, &count, &bound, &why) : NULL;
    for (uint32_t i = 0; i < count; ++i) calls += items[i].opcode == 57;
    return calls == 0;
}

static void test_against_spirv(void **state) {
    const fixture *f = *state;
    uint32_t kernels = 0, differ = 0;
    if (!optimises(f)) skip();
    for (uint32_t l = 0; l < f->known->layouts.count; ++l)
        for (uint32_t i = 0; i < qg_n_families; ++i) {
            const qg_layout *layout = f->known->layouts.items[l];
            if (!qg_takes(&qg_families[i], layout) || !is_counted(&qg_families[i])) continue;
            /* What is cut off is summed up in another way, whose loads stand in the same loop. */
            if (layout->ragged && qg_families[i].sums) continue;
            const qg_kernel kernel =
                qg_kernel_new(f->arena, layout, &qg_families[i], QG_F32, &qg_sum_classes[QG_CLASS_EXACT]);
            if (kernel.columns) continue; /* x is loaded in that loop, too */
            const qg_cost ir =
                qg_cost_of_program(qg_program_of(f->arena, &kernel, QK_API_VULKAN, qg_main_schedule(&kernel)));
            qg_cost spirv;
            const char *why = NULL;
            kernels += 1;
            const char *differs = compile(f, &kernel, &spirv, &why) ? difference(&kernel, &ir, &spirv) : why;
            if (!differs) continue;
            differ += 1;
            print_error("%s: %s\n", kernel.name, differs);
        }
    if (differ) fail_msg("%u of %u kernels differ", differ, kernels);
    assert_true(kernels > 0);
}

/* What a wrong counter would give is noticed: each class, one too many and one too few; of integers, two
 * for each weight. */
static void test_comparison(void **state) {
    const fixture *f = *state;
    if (!optimises(f)) skip();
    for (uint32_t i = 0; i < qg_n_families; ++i) {
        if (!is_counted(&qg_families[i])) continue;
        const qg_kernel kernel = kernel_of(f, "iq4_nl", qg_families[i].name);
        const qg_cost ir =
            qg_cost_of_program(qg_program_of(f->arena, &kernel, QK_API_VULKAN, qg_main_schedule(&kernel)));
        const char *why = NULL;
        qg_cost spirv;
        assert_true(compile(f, &kernel, &spirv, &why));
        assert_null(difference(&kernel, &ir, &spirv));
        for (uint32_t class = 0; class < QG_COST_CLASSES; ++class) {
            const uint32_t by = class == QG_COST_INTEGER ? 3 * ir.weights : class == QG_COST_LOOKUP ? ir.weights : 1;
            qg_cost wrong = ir;
            wrong.counts[class] += by;
            assert_non_null(difference(&kernel, &wrong, &spirv));
            wrong.counts[class] -= 2 * by;
            assert_non_null(difference(&kernel, &wrong, &spirv));
        }
    }
}

static void test_errors(void **state) {
    const fixture *f = *state;
    const qg_kernel kernel = kernel_of(f, "q4_0", "dequant");
    const char *why = NULL;
    qg_cost cost;
    const uint32_t nonsense[8] = {1, 2, 3};
    assert_false(qg_cost_of_spirv(f->arena, qg_program_of(f->arena, &kernel, QK_API_VULKAN, qg_main_schedule(&kernel)),
                                  nonsense, sizeof nonsense, &cost, &why));
    assert_non_null(strstr(why, "not a SPIR-V module"));
    size_t bytes;
    const char *glsl = "#version 450\nlayout(binding = 0) buffer B { uint b[]; };\nvoid main() { b[0] = b[1]; }\n";
    const uint32_t *words = qg_spirv_compile(f->arena, "no loop", glsl, &bytes, &why);
    assert_non_null(words);
    assert_false(qg_cost_of_spirv(f->arena, qg_program_of(f->arena, &kernel, QK_API_VULKAN, qg_main_schedule(&kernel)),
                                  words, bytes, &cost, &why));
    assert_non_null(strstr(why, "no loop of the SPIR-V holds all loads of weights"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nibbles), cmocka_unit_test(test_affine),        cmocka_unit_test(test_lookups),
        cmocka_unit_test(test_results), cmocka_unit_test(test_against_spirv), cmocka_unit_test(test_comparison),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
