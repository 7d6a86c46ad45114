/* The bound of sums (docs/error-bounds.md): its parts against plain computations; and kernels of each class on the device with x that is
 * made to be hard, each result of which must be within its bound. Relative errors in the L2 norm are no bound: such x exceeds them. */
#include "cli/run_bound.h"
#include "emit/modules.h"
#include "emit/spirv.h"
#include "spec/library.h"
#include "spec/value.h"
#include "text/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <qkgen/dispatch.h>
#include <qkgen/vulkan.h>

enum { ROWS = 6, COLS = 1024, MOST_VECTORS = 5, CLASSES = 6 };

static qk_vulkan *vk;
static qk_error error;
static qg_arena *arena;
static qg_library *library;
static qg_templates templates;

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        if ((call) != QK_OK) fail_msg("%s: %s", #call, error.text);                                                    \
    } while (0)

static uint32_t random_state = 1;

static uint32_t random_word(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

static double uniform(void) { return (double)random_word() / 16777216.0; }

/* About normally distributed. */
static double normal(void) {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum - 6;
}

static const qg_layout *format_named(const char *name) {
    const qg_layout *layout = qg_library_find(library, name);
    if (!layout) fail_msg("no format is named %s", name);
    return layout;
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

static void largest_nearby(void **state) {
    (void)state;
    static const uint32_t reaches[] = {0, 1, 2, 3, 7, 32, 40, 200};
    double x[120], largest[3 * 120];
    for (uint32_t i = 0; i < sizeof reaches / sizeof *reaches; ++i)
        for (uint64_t cols = 0; cols <= 120; ++cols) {
            const qg_bound bound = {.reach = reaches[i]};
            const uint64_t reach = reaches[i] ? reaches[i] : 1;
            for (uint64_t k = 0; k < cols; ++k) x[k] = normal();
            qg_bound_largest(&bound, x, cols, largest);
            for (uint64_t k = 0; k < cols; ++k) {
                double most = 0;
                for (uint64_t n = 0; n < cols; ++n)
                    if ((n > k ? n - k : k - n) < reach) most = fmax(most, fabs(x[n]));
                if (most != largest[k])
                    fail_msg("reach %u, %d columns: at %d %g, must be %g", reaches[i], (int)cols, (int)k, largest[k],
                             most);
            }
        }
}

static void relative_part(void **state) {
    (void)state;
    const qk_kernel kernel = {.tile_elements = 32, .sum_roundings = 100};
    const double unit = 1.0 / 16777216.0;
    /* Tiles of a lane, three times; a fourth of the subgroup shares a row, but 2 to 8. */
    assert_true(qk_sum_eps(&kernel, 32, 4096) == (100 + 3 * 16) * unit);
    assert_true(qk_sum_eps(&kernel, 16, 4096) == (100 + 3 * 32) * unit);
    assert_true(qk_sum_eps(&kernel, 64, 4096) == (100 + 3 * 16) * unit);
    assert_true(qk_sum_eps(&kernel, 8, 4096) == (100 + 3 * 64) * unit);
    assert_true(qk_sum_eps(&kernel, 0, 4096) == (100 + 3 * 64) * unit);
    assert_true(qk_sum_eps(&kernel, 32, 32) == 100 * unit);
}

/* A sum by hand: of two weights, one of which a kernel computes as the difference of larger numbers. */
static void limit_of_a_sum(void **state) {
    (void)state;
    const float weights[] = {2, 0.5f}, magnitudes[] = {3, 4};
    const double x[] = {-8, 1}, largest[] = {8, 8};
    double sum, limit;
    const qg_bound bound = {.eps = 0.001, .levels = 100, .reach = 2};
    qg_bound_sum(&bound, weights, magnitudes, x, largest, 2, &sum, &limit);
    assert_true(sum == -15.5);
    assert_true(fabs(limit - (0.001 * 28 + 20.0 / 200)) < 1e-15);
    const qg_bound halves = {.eps = 0.001, .levels = 100, .reach = 2, .of_halves = true};
    qg_bound_sum(&halves, weights, magnitudes, x, largest, 2, &sum, &limit);
    assert_true(fabs(limit - (0.001 * 28 + 56.0 / 200)) < 1e-15);
    float others[] = {64, 1, 1, 1};
    double room[4 * 4];
    const qg_bound units = {.reach = 3, .of_others = 0.125};
    qg_bound_magnitudes(&units, others, 4, room);
    assert_true(others[0] == 64 && others[1] == 8 && others[2] == 8 && others[3] == 1);
}

/* Magnitude and value of element `at` of a block. */
static void check_magnitude(const char *name, const unsigned char *block, uint64_t at, double least, double value,
                            double magnitude) {
    const qg_layout *layout = format_named(name);
    const uint64_t period = layout->block_bytes;
    const qg_tensor tensor = {layout, 1, layout->elements, &block, &period, 0, NULL};
    float is, most;
    qg_values_of_row(arena, &tensor, 0, at, 1, &is);
    qg_magnitudes_of_row(arena, &tensor, 0, at, 1, least, &most);
    if ((double)is != value || (double)most != magnitude)
        fail_msg("%s: %g of magnitude %g, must be %g of %g", name, (double)is, (double)most, value, magnitude);
}

static void magnitudes_by_hand(void **state) {
    (void)state;
    unsigned char block[256] = {0x00, 0x38, 0x83}; /* d is 0.5; codes 3 and 8 */
    check_magnitude("q4_0", block, 0, 0, -2.5, 0.5 * (3 + 8));
    check_magnitude("q4_0", block, 16, 0, 0, 0.5 * (8 + 8));
    block[2] = 0xFB; /* -5, of signed bytes, which may have a bias of 128 */
    check_magnitude("q8_0", block, 0, 0, -2.5, 0.5 * (5 + 256));
    check_magnitude("q8_0", block, 1, 0, 0, 0.5 * 256);
    check_magnitude("q8_0", block, 1, 1, 0, 0.5 * 257);
    block[2] = 0x0F; /* 113, and -127 */
    check_magnitude("iq4_nl", block, 0, 0, 56.5, 0.5 * (113 + 2 * 127));
    check_magnitude("iq4_nl", block, 16, 0, -63.5, 0.5 * (127 + 2 * 127));
    memset(block, 0, sizeof block); /* d is 1, least 0.5; its scale 3, its minimum 2; code 5 */
    block[1] = 0x3C;
    block[3] = 0x38;
    block[4] = 3;
    block[8] = 2;
    block[16] = 5;
    check_magnitude("q4_K", block, 0, 0, 14, 16);
    block[0] = 128; /* 2; code 15 is -6, in halves -12 */
    block[1] = 0x0F;
    check_magnitude("mxfp4", block, 0, 0, -12, 12 + 2 * 12 * 1.0);
    memset(block, 0, sizeof block); /* d or -d, which may be taken for d * (2 * bit - 1) */
    block[1] = 0x38;
    block[2] = 1;
    check_magnitude("q1_0", block, 0, 0, 0.5, 1.5);
    check_magnitude("q1_0", block, 1, 0, -0.5, 0.5);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

/* What x is. Of vectors that are to be hard for one class, the step is that class's. */
typedef enum hard_x {
    OUTLIERS, /* one in 64 is 10^4 times larger */
    ORDERS,   /* of twelve orders of magnitude */
    ONE,      /* that is not zero */
    BORDERS,  /* of groups of 32: 10^6, 10^-6 and so on */
    CANCEL,   /* with the first row, nothing is left */
    SUBNORMAL,
    LOST,       /* each but the first of 64 is a bit too small to change a sum */
    HALF_STEP,  /* each but the first of 16 is a bit more than half of its step */
    HALF_DIGIT, /* each but the first of 16 loses nearly half of the last digit of a half */
    KINDS
} hard_x;

typedef enum hard_w { RANDOM, CENTRE, EQUAL, WEIGHTS } hard_w;

static void fill_x(hard_x kind, double levels, const float *row, float *x) {
    const uint32_t chosen = random_word() % COLS;
    double sum = 0;
    for (uint32_t k = 0; k < COLS; ++k) {
        const double g = normal();
        double v = g;
        if (kind == OUTLIERS && random_word() % 64 == 0) v = g * 1e4;
        if (kind == ORDERS) v = g * pow(10, 12 * uniform() - 6);
        if (kind == ONE) v = k == chosen ? g : 0;
        if (kind == BORDERS) v = k / 32 % 2 ? g * 1e6 : g * 1e-6;
        if (kind == SUBNORMAL) v = ldexp(g, -130);
        if (kind == LOST) v = k % 64 ? 0.49 / 16777216 : 1;
        if (kind == HALF_STEP) v = k % 16 ? 0.5001 / levels : 1;
        if (kind == HALF_DIGIT) v = k % 16 ? 0.5 + 0.49 / 2048 : 1;
        x[k] = (float)v;
        if (k + 1 < COLS) sum += (double)row[k] * (double)x[k];
    }
    if (kind == CANCEL && row[COLS - 1] != 0) x[COLS - 1] = (float)(-sum / (double)row[COLS - 1]);
}

/* Weights of a format, in buffers of the device and of this process. */
typedef struct matrix {
    qg_tensor tensor;
    unsigned char *data[QK_MAX_BINDINGS];
    uint64_t bytes[QK_MAX_BINDINGS];
    qk_range ranges[QK_MAX_BINDINGS];
} matrix;

static void put_float(unsigned char *to, qg_scalar type, double value) {
    const uint32_t bits = qg_bits_of(type, (float)value);
    for (uint32_t i = 0; i < qg_scalars[type].bits / 8; ++i) to[i] = (unsigned char)(bits >> 8 * i);
}

/* The field in every block, or in all of a buffer that has no other: scales near 1, of either sign; exponents near those of 1. */
static void put_scales(matrix *m, const qg_field *field, hard_w kind) {
    const qg_layout *layout = m->tensor.layout;
    const uint32_t size = qg_scalars[field->type].bits / 8;
    const bool blocks = layout->view == QG_VIEW_BLOCKS, floating = qg_scalars[field->type].kind == QG_FLOATING;
    const uint64_t step = blocks ? layout->buffers[field->buffer].bytes : size;
    for (uint64_t at = blocks ? field->offset : 0; at + size <= m->bytes[field->buffer]; at += step) {
        unsigned char *to = m->data[field->buffer] + at;
        if (floating && !blocks && kind != RANDOM)
            put_float(to, field->type, strcmp(field->name, "biases") == 0 ? (kind == CENTRE ? -4 : 0) : 0.5);
        else if (floating)
            put_float(to, field->type,
                      ldexp(kind == EQUAL ? 1 : 1 + uniform(), kind == EQUAL ? 0 : -(int)(random_word() % 4)));
        else if (!field->is_array && size == 1)
            *to = (unsigned char)(kind == EQUAL ? 126 : 120 + random_word() % 8);
    }
}

/* The byte of codes that are all alike: of the weight 0, where the format has one, or of another. */
static unsigned char same_codes(const matrix *m, hard_w kind, uint64_t at) {
    const char *name = m->tensor.layout->name;
    if (kind == EQUAL) return 0x11;
    if (strcmp(name, "q6_K") == 0) return at % 210 < 128 ? 0 : at % 210 < 192 ? 0xAA : (unsigned char)random_word();
    if (strcmp(name, "q4_0") == 0 || strncmp(name, "affine_b4", 9) == 0) return 0x88;
    return 0;
}

static void fill_weights(matrix *m, hard_w kind) {
    const qg_layout *layout = m->tensor.layout;
    for (uint32_t b = 0; b < layout->n_buffers; ++b)
        for (uint64_t i = 0; i < m->bytes[b]; ++i)
            m->data[b][i] = kind == RANDOM ? (unsigned char)random_word() : same_codes(m, kind, i);
    for (uint32_t f = 0; f < layout->n_fields; ++f) put_scales(m, &layout->fields[f], kind);
    for (uint32_t b = 0; b < layout->n_buffers; ++b)
        OK(qk_vulkan_upload(vk, m->ranges[b].buffer, 0, m->data[b], m->bytes[b], &error));
}

static qk_range buffer_of(uint64_t bytes) {
    qk_vulkan_buffer *buffer;
    OK(qk_vulkan_buffer_create(vk, bytes, &buffer, &error));
    return qk_vulkan_range(buffer);
}

static matrix matrix_new(const qg_layout *layout, const qk_kernel *kernel) {
    matrix m = {.tensor = {layout, ROWS, COLS, NULL, NULL}};
    for (uint32_t b = 0; b < layout->n_buffers; ++b) {
        m.bytes[b] = qk_weight_bytes(kernel, b, ROWS, COLS);
        m.data[b] = qg_alloc(arena, m.bytes[b] + 8);
        m.ranges[b] = buffer_of(m.bytes[b]);
    }
    return m;
}

static void compile(const qg_layout *layout, const qg_sum_class *sum, qg_modules *modules, qk_kernel *kernel) {
    const char *why = NULL;
    const qg_family *family = qg_family_named("gemv");
    const qg_request request = {.layout = layout, .n_families = 1, .families = &family, .vulkan = true, .command = "t"};
    const qg_kernel of = qg_kernel_new(arena, layout, family, QG_F32, sum);
    /* Classes of integers share them, but for rows that are loaded ahead. */
    if (!qg_compile_modules(arena, &templates, &request, &of, qg_schedules_for(&of, 0), modules, &why))
        fail_msg("%s: %s", of.name, why);
    *kernel = *qg_describe_modules(arena, &of, modules);
}

/* What was seen of a class: the largest error as a part of the bound; and in the L2 norm of a right-hand side's results, with weights and
 * x that do not cancel. */
static const uint32_t norms = 1 << OUTLIERS | 1 << ORDERS | 1 << BORDERS | 1 << HALF_STEP;
static double worst[CLASSES], relative[CLASSES];
static char worst_case[CLASSES][64];

typedef struct judged {
    float values[ROWS][COLS], magnitudes[ROWS][COLS];
    double x[COLS], largest[3 * COLS], room[4 * COLS];
} judged;

static void judge_vector(judged *j, const qk_kernel *kernel, uint32_t class, const float *x, const float *y, bool usual,
                         const char *what) {
    const qg_bound bound = qg_bound_of(kernel, qk_vulkan_info(vk)->subgroup_size, COLS);
    double of_errors = 0, of_sums = 0;
    for (uint32_t k = 0; k < COLS; ++k) j->x[k] = (double)x[k];
    qg_bound_largest(&bound, j->x, COLS, j->largest);
    for (uint32_t n = 0; n < ROWS; ++n) {
        double sum, limit;
        qg_bound_sum(&bound, j->values[n], j->magnitudes[n], j->x, j->largest, COLS, &sum, &limit);
        const double off = fabs((double)y[n] - sum);
        if (!(off <= limit))
            fail_msg("%s, %s, row %u: %.9g, must be within %.3g of %.9g, and is %.3g bounds away", kernel->name, what,
                     n, (double)y[n], limit, sum, off / limit);
        if (off > worst[class] * limit) {
            worst[class] = off / limit;
            snprintf(worst_case[class], sizeof worst_case[class], "%s, %s", kernel->format, what);
        }
        of_errors += off * off;
        of_sums += sum * sum;
    }
    if (usual && of_sums > 0) relative[class] = fmax(relative[class], sqrt(of_errors / of_sums));
}

static void load_rows(judged *j, const matrix *m, const qk_kernel *kernel) {
    const qg_bound bound = qg_bound_of(kernel, qk_vulkan_info(vk)->subgroup_size, COLS);
    for (uint32_t n = 0; n < ROWS; ++n) {
        qg_values_of_row(arena, &m->tensor, n, 0, COLS, j->values[n]);
        qg_magnitudes_of_row(arena, &m->tensor, n, 0, COLS, bound.least, j->magnitudes[n]);
        qg_bound_magnitudes(&bound, j->magnitudes[n], COLS, j->room);
    }
}

static void run(const matrix *m, const qk_kernel *kernel, qk_range in, qk_range out, uint32_t vectors, const float *x,
                float *y) {
    /* One row at a time, which the device compiles in a fraction of the time. What several vectors share is not staged, whatever is said. */
    qk_tuning_entry entry = {
        .rows = ROWS, .cols = COLS, .batch = vectors, .count = 1, .values = {{QK_CONSTANT_ROWS, 1}}};
    if (vectors > 1 && kernel->x_levels) entry.values[entry.count++] = (qk_tuned_value){QK_CONSTANT_STAGED, 512};
    const qk_tuning tuning = {.count = 1, .entries = &entry};
    qk_backend backend = qk_vulkan_backend(vk);
    snprintf(entry.kernel, sizeof entry.kernel, "%s", kernel->name);
    backend.tuning = &tuning;
    OK(qk_vulkan_upload(vk, in.buffer, 0, x, (uint64_t)4 * vectors * COLS, &error));
    OK(qk_vulkan_begin(vk, &error));
    OK(qk_dispatch_gemv(&backend, kernel, m->ranges, in, out, ROWS, COLS, vectors, &error));
    OK(qk_vulkan_submit(vk, &error));
    OK(qk_vulkan_download(vk, out.buffer, 0, y, (uint64_t)4 * vectors * ROWS, &error));
}

/* Every x with every matrix, so many vectors at a time. */
static void try_kernel(matrix *m, const qk_kernel *kernel, uint32_t class, uint32_t vectors) {
    static const char *const xs[] = {"outliers",  "twelve orders", "one",         "borders",     "cancel",
                                     "subnormal", "lost",          "half a step", "half a digit"};
    static const char *const ws[] = {"random", "centre", "equal"};
    static judged j;
    static float x[MOST_VECTORS * COLS], y[MOST_VECTORS * ROWS];
    qk_range in = buffer_of(sizeof x), out = buffer_of(sizeof y);
    for (int w = 0; w < WEIGHTS; ++w) {
        fill_weights(m, (hard_w)w);
        const unsigned char *data[QK_MAX_BINDINGS];
        for (uint32_t b = 0; b < QK_MAX_BINDINGS; ++b) data[b] = m->data[b];
        m->tensor.data = data;
        m->tensor.periods = m->bytes;
        load_rows(&j, m, kernel);
        for (uint32_t first = 0; first < KINDS; first += vectors) {
            for (uint32_t v = 0; v < vectors; ++v)
                fill_x((hard_x)((first + v) % KINDS), kernel->x_levels ? kernel->x_levels : 127, j.values[0],
                       x + v * COLS);
            run(m, kernel, in, out, vectors, x, y);
            for (uint32_t v = 0; v < vectors; ++v)
                judge_vector(&j, kernel, class, x + v * COLS, y + v * ROWS,
                             w == RANDOM && (norms >> (first + v) % KINDS & 1),
                             qg_format(arena, "x %s, weights %s, %u vectors", xs[(first + v) % KINDS], ws[w], vectors));
        }
    }
    qk_vulkan_buffer_destroy(vk, in.buffer);
    qk_vulkan_buffer_destroy(vk, out.buffer);
}

/* A format with the kernels to try: of each class, numbers of vectors. Each takes the device's compiler its time: QKGEN_ONLY="*" tries all. */
typedef struct choice {
    const char *format;
    uint32_t vectors[CLASSES][3]; /* exact, int8, split, int24, half */
} choice;

static void try_format(const choice *of, bool all) {
    static const uint32_t every[3] = {1, 2, 5};
    const qg_layout *layout = format_named(of->format);
    qg_modules modules[CLASSES] = {{.main = NULL}};
    matrix m = {.bytes = {0}};
    for (uint32_t c = 0; c < qg_n_sum_classes; ++c) {
        const qg_sum_class *sum = &qg_sum_classes[c];
        const uint32_t *vectors = all ? every : of->vectors[c];
        qk_kernel kernel;
        if (!vectors[0] || sum->products == QG_PRODUCTS_MMA) continue;
        if (!qg_has_class(arena, layout, qg_family_named("gemv"), sum)) continue;
        compile(layout, sum, &modules[sum->products], &kernel);
        if (!m.bytes[0]) m = matrix_new(layout, &kernel);
        for (uint32_t i = 0; i < 3 && vectors[i]; ++i) try_kernel(&m, &kernel, c, vectors[i]);
        qk_vulkan_forget(vk, &kernel);
    }
    for (uint32_t b = 0; b < layout->n_buffers; ++b) qk_vulkan_buffer_destroy(vk, m.ranges[b].buffer);
}

static void within_bounds(void **state) {
    (void)state;
    static const choice choices[] = {
        {"q4_0", {{1, 5}, {1}, {2}, {1}, {1}}}, {"q4_K", {{1}, {1}, {0}, {0}, {0}}},
        {"q8_0", {{0}, {0}, {1}, {0}, {0}}},    {"q6_K", {{0}, {2}, {0}, {0}, {0}}},
        {"tq1_0", {{0}, {1}, {0}, {0}, {0}}},   {"iq4_nl", {{1}, {0}, {0}, {0}, {0}}},
        {"mxfp4", {{0}, {0}, {5}, {0}, {0}}},   {"affine_b4_g64_bf16", {{1}, {0}, {1}, {0}, {0}}},
    };
    const char *only = getenv("QKGEN_ONLY");
    assert_int_equal(qg_n_sum_classes, CLASSES);
    for (uint32_t f = 0; f < sizeof choices / sizeof *choices; ++f) try_format(&choices[f], only && *only == '*');
    for (uint32_t c = 0; c < CLASSES; ++c) {
        if (qg_sum_classes[c].products == QG_PRODUCTS_MMA) continue;
        print_message("%-6s at most %.3f of the bound (%s); relative L2 %.2g\n", qg_sum_classes[c].name, worst[c],
                      worst_case[c], relative[c]);
        /* Not so loose that a mistake of that size would be missed. */
        assert_true(worst[c] > 0.02);
    }
}

static uint32_t class_of(const char *name) { return (uint32_t)(qg_sum_class_named(name) - qg_sum_classes); }

/* What the classes once promised, of x near to normally distributed, is no bound. */
static void norms_are_no_bound(void **state) {
    (void)state;
    assert_true(relative[class_of("split")] > 1e-4);
    assert_true(relative[class_of("int8")] > 1e-2);
}

static int open_all(void **state) {
    (void)state;
    const char *why = NULL, *source = getenv("SOURCE");
    if (!source) source = ".";
    arena = qg_arena_new();
    library = qg_library_new(arena, false);
    if (!qg_library_add_folder(library, qg_format(arena, "%s/formats", source))) return -1;
    if (!qg_templates_load(arena, qg_format(arena, "%s/templates", source), &templates, &why)) return -1;
    if (!qg_spirv_open()) return -1;
    if (qk_vulkan_create(&(qk_vulkan_options){.cache_path = ""}, &vk, &error) == QK_OK) return 0;
    fprintf(stderr, "%s\n", error.text);
    return -1;
}

static int close_all(void **state) {
    (void)state;
    qk_vulkan_destroy(vk);
    qg_spirv_close();
    qg_arena_free(arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(largest_nearby), cmocka_unit_test(relative_part),
                                       cmocka_unit_test(limit_of_a_sum), cmocka_unit_test(magnitudes_by_hand),
                                       cmocka_unit_test(within_bounds),  cmocka_unit_test(norms_are_no_bound)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
