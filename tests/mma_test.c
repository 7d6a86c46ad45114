/* gemv on matrix units, on a device that has none: the kernel of every format, with one template in the place of what the unit
 * does, against the kernel that sums in f32. What it decodes, which values of x it pairs with which elements, scales, shapes
 * and bounds are as on the unit. Where glslang is too old to compile the kernels themselves, this still runs. Kernels of Metal
 * run unchanged, on the processor.
 *
 * With QKGEN_UNITS set, the device must have matrix units, and the kernels are those that ship: tests/units.sh. */
#include "cli/run.h"
#include "emit/modules.h"
#include "emit/spirv.h"
#include "spec/library.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <qkgen/dispatch.h>
#include <qkgen/vulkan.h>

static const double bound = 2e-3; /* QK_NUMERIC_HALF_SUM */

static qk_vulkan *vk;
static qk_error error;
static qg_arena *arena;
static qg_library *library;
static qg_templates templates, emulated;

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        if ((call) != QK_OK) fail_msg("%s: %s", #call, error.text);                                                    \
    } while (0)

/* Whether the executor of Metal text is there. */
#ifdef QKGEN_MSL_LIBRARY
static const bool has_metal = true;
#else
static const bool has_metal = false;
#endif

static uint32_t random_state = 1;

static uint32_t random_word(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

typedef struct shape {
    uint64_t rows, cols, batch;
    qg_scalar type; /* of x */
    uint32_t busy;  /* workgroups of 128 threads that keep the device busy, so it says */
} shape;

static bool has_mma(const qg_layout *layout) {
    return qg_has_class(arena, layout, qg_family_named("gemv"), qg_sum_class_named("mma"));
}

static double worst, worst_metal;

static bool with_units(void) { return getenv("QKGEN_UNITS") != NULL; }

/* QKGEN_API=metal leaves the emulated unit of Vulkan out, which takes most of the time. */
static bool without_vulkan(void) {
    const char *api = getenv("QKGEN_API");
    return has_metal && api && strcmp(api, "metal") == 0;
}

/* ---- Metal ---- */

/* What run_msl.c takes of the command. */
double qg_seconds_now(void) { return 0; }

/* The text has kernels for one type of x alone: it is compiled in half the time. */
static qg_metal *open_metal(const qg_layout *layout, qg_scalar type, const qk_kernel **described) {
    const char *why = NULL;
    qg_metal *metal;
    qg_family *family = QG_NEW(arena, qg_family);
    *family = *qg_family_named("gemv");
    family->n_types = 1;
    family->types[0] = type;
    const qg_family *only = family;
    const qg_sum_class *sum = qg_sum_class_named("mma");
    const qg_request request = {.layout = layout,
                                .n_families = 1,
                                .families = &only,
                                .classes = UINT32_C(1) << (sum - qg_sum_classes),
                                .metal = true,
                                .command = "t"};
    const char *text = qg_msl(arena, &templates, &request, &why);
    if (!text) fail_msg("%s", why);
    const qg_kernel kernel = qg_kernel_new(arena, layout, family, type, sum);
    *described = qg_describe(arena, &kernel, QK_API_METAL, NULL);
    why = qg_metal_open(arena, text, layout->name, *described, &metal);
    if (why) fail_msg("%s", why);
    return metal;
}

/* With 33 rows and the like, results are added to this, which is taken off again; sums are as small. So is a bias of rows. */
static const float *biases(const shape *s) {
    float *all = malloc(4 * s->rows);
    for (uint64_t n = 0; n < s->rows; n++) all[n] = (float)(n % 8) * 0x1p-26f;
    return all;
}

static float residual(const shape *s, uint64_t i) { return s->rows % 4 == 1 ? (float)(i % 16) * 0x1p-26f : 0; }

static void fill(const shape *s, float *y) {
    for (uint64_t i = 0; i < s->rows * s->batch; i++) y[i] = s->rows % 4 == 1 ? residual(s, i) : NAN;
}

static void take_off(const shape *s, float *y) {
    for (uint64_t i = 0; i < s->rows * s->batch; i++)
        y[i] -= residual(s, i) + (s->rows % 4 == 1 ? (float)(i % s->rows % 8) * 0x1p-26f : 0);
}

/* As on Vulkan; ranges are of this process's memory. */
static void run_metal(const qg_layout *layout, const qk_range *weights, qk_range x, const shape *s, float *y) {
    const qk_kernel *kernel;
    qg_metal *metal = open_metal(layout, s->type, &kernel);
    qk_backend backend = qg_metal_backend(metal);
    backend.limits.busy_workgroups = s->busy;
    const qk_range to = {y, 0, 4 * s->rows * s->batch}, bias = {(void *)(uintptr_t)biases(s), 0, 4 * s->rows};
    const qk_epilogue epilogue = {.adds = s->rows % 4 == 1, .bias = s->rows % 4 == 1 ? &bias : NULL};
    fill(s, y);
    if (qk_dispatch_gemv_with(&backend, kernel, weights, x, to, s->rows, s->cols, s->batch, &epilogue, &error) != QK_OK)
        fail_msg("%s: %s", kernel->name, qg_metal_failure(metal, &error));
    take_off(s, y);
    free(bias.buffer);
    qg_metal_close(metal);
}

/* ---- Vulkan ---- */

static const qk_kernel *compile(const qg_layout *layout, const char *sum, const qg_templates *with, qg_scalar type) {
    const char *why = NULL;
    const qg_family *family = qg_family_named("gemv");
    const qg_request request = {.layout = layout, .n_families = 1, .families = &family, .vulkan = true, .command = "t"};
    const qg_kernel kernel = qg_kernel_new(arena, layout, family, type, qg_sum_class_named(sum));
    const qk_kernel *described = qg_compile_kernel(arena, with, &request, &kernel, 0, &why);
    if (!described) fail_msg("%s", why);
    return described;
}

static qk_range upload(const void *data, uint64_t bytes) {
    qk_vulkan_buffer *buffer;
    OK(qk_vulkan_buffer_create(vk, bytes, &buffer, &error));
    if (data) OK(qk_vulkan_upload(vk, buffer, 0, data, bytes, &error));
    return qk_vulkan_range(buffer);
}

static void run(const qk_kernel *kernel, const qk_range *weights, qk_range x, const shape *s, float *y) {
    const uint64_t bytes = 4 * s->rows * s->batch;
    fill(s, y);
    const float *own = biases(s);
    const qk_range to = upload(y, bytes), bias = upload(own, 4 * s->rows);
    const qk_epilogue epilogue = {.adds = s->rows % 4 == 1, .bias = s->rows % 4 == 1 ? &bias : NULL};
    qk_backend backend = qk_vulkan_backend(vk);
    backend.limits.busy_workgroups = s->busy;
    if (!with_units()) {
        backend.limits.features |= QK_FEATURE_COOPERATIVE_MATRIX;
        backend.limits.shared_bytes = 16384; /* the rest is for what stands for the units */
    }
    OK(qk_vulkan_begin(vk, &error));
    OK(qk_dispatch_gemv_with(&backend, kernel, weights, x, to, s->rows, s->cols, s->batch, &epilogue, &error));
    OK(qk_vulkan_submit(vk, &error));
    OK(qk_vulkan_download(vk, to.buffer, 0, y, bytes, &error));
    take_off(s, y);
    free((void *)(uintptr_t)own);
    qk_vulkan_forget(vk, kernel);
    qk_vulkan_buffer_destroy(vk, to.buffer);
    qk_vulkan_buffer_destroy(vk, bias.buffer);
}

static uint32_t half_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits >> 16 & 0x8000) | (((bits >> 13) - (112u << 10)) & 0x7FFF); /* of an exact normal half */
}

/* Values of all sizes, exact as halves. The right-hand sides differ in size by far more than halves do. */
static void *random_x(const shape *s, uint64_t *bytes) {
    const uint64_t count = s->cols * s->batch;
    float *x = malloc(count * sizeof *x);
    uint16_t *halves = malloc(count * sizeof *halves);
    for (uint64_t i = 0; i < count; ++i) {
        x[i] = (float)((int)(random_word() % 2001) - 1000) / 512.0f;
        if (x[i] == 0) x[i] = 1;
        halves[i] = (uint16_t)half_bits(x[i]);
        if (s->type == QG_F32) x[i] = ldexpf(x[i], (int)(i / s->cols) * 9 - 30);
    }
    const bool wide = s->type == QG_F32;
    *bytes = count * (wide ? 4 : 2);
    free(wide ? (void *)halves : (void *)x);
    return wide ? (void *)x : (void *)halves;
}

/* The largest relative error of a right-hand side. */
static double error_of(const qg_layout *layout, const shape *s, const float *wanted, const float *got, const char *on) {
    double largest = 0;
    for (uint64_t m = 0; m < s->batch; ++m) {
        double difference = 0, norm = 0;
        for (uint64_t n = 0; n < s->rows; ++n) {
            const double w = wanted[m * s->rows + n], d = (double)got[m * s->rows + n] - w;
            difference += d * d;
            norm += w * w;
        }
        if (!(difference <= bound * bound * norm) || !(norm > 0))
            fail_msg("%s on %s, %d x %d, right-hand side %d of %d: relative error %g of %g", layout->name, on,
                     (int)s->rows, (int)s->cols, (int)m, (int)s->batch, sqrt(difference / norm), sqrt(norm));
        largest = fmax(largest, sqrt(difference / norm));
    }
    return largest;
}

static void compare(const qg_layout *layout, const shape *s) {
    const qk_kernel *exact = compile(layout, "exact", &templates, s->type);
    qk_range weights[QK_MAX_BINDINGS], own[QK_MAX_BINDINGS], own_x = {NULL, 0, 0};
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const uint64_t bytes = qk_weight_bytes(exact, i, s->rows, s->cols);
        unsigned char *data = malloc(bytes);
        for (uint64_t b = 0; b < bytes; ++b) data[b] = (unsigned char)random_word() & 0xBF; /* no infinity, no NaN */
        weights[i] = upload(data, bytes);
        own[i] = (qk_range){data, 0, bytes};
    }
    own_x.buffer = random_x(s, &own_x.size);
    const qk_range x = upload(own_x.buffer, own_x.size);
    float *wanted = malloc(4 * s->rows * s->batch), *got = malloc(4 * s->rows * s->batch);
    run(exact, weights, x, s, wanted);
    if (!without_vulkan()) {
        run(compile(layout, "mma", &emulated, s->type), weights, x, s, got);
        worst = fmax(worst, error_of(layout, s, wanted, got, "Vulkan"));
    }
    if (has_metal && !with_units()) {
        for (uint64_t i = 0; i < s->rows * s->batch; ++i) got[i] = NAN;
        run_metal(layout, own, own_x, s, got);
        worst_metal = fmax(worst_metal, error_of(layout, s, wanted, got, "Metal"));
    }
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        qk_vulkan_buffer_destroy(vk, weights[i].buffer);
        free(own[i].buffer);
    }
    qk_vulkan_buffer_destroy(vk, x.buffer);
    free(own_x.buffer);
    free(wanted);
    free(got);
}

/* Some formats, or those of QKGEN_ONLY=" FORMAT FORMAT ", "*" for all. Rows are whole wide tiles, not always of four threads. */
static void every_format(void **state) {
    (void)state;
    static const char *const some = " q8_0 q2_K iq2_xxs iq4_nl mxfp4 affine_b3_g64_bf16 ";
    const char *only = getenv("QKGEN_ONLY");
    uint32_t count = 0, kernels = 0, odd = 0;
    for (uint32_t i = 0; i < library->layouts.count; ++i) {
        const qg_layout *layout = library->layouts.items[i];
        if (!has_mma(layout)) continue;
        kernels += 1;
        if (!strstr(only ? only : some, qg_format(arena, " %s ", layout->name)) && !(only && *only == '*')) continue;
        compare(layout, &(shape){50, 1536, 3, QG_F32, 8});
        if (1088 % (2 * layout->elements) == 0 && (only || !odd++)) /* 17 tiles */
            compare(layout, &(shape){34, 1088, 2, QG_F32, 8});
        count += 1;
    }
    assert_true(count > 0);
    print_message(
        "%u formats have kernels with matrix units; the largest relative error of the %u here: %.2g, Metal %.2g\n",
        kernels, count, worst, worst_metal);
}

/* Kernels of Metal find out which lane holds which elements. */
static void other_lanes(void **state) {
    (void)state;
    if (!has_metal || with_units()) skip();
    setenv("QKGEN_MSL_DEFINE", "QKM_OTHER_LANES", 1);
    compare(qg_library_find(library, "q4_0"), &(shape){33, 1024, 8, QG_F32, 1});
    unsetenv("QKGEN_MSL_DEFINE");
}

/* Few rows and many, one slice of x and several, several passes over x, rows that are no whole wide tiles, and a single block. */
static void every_shape(void **state) {
    (void)state;
    static const char *const names[] = {"q4_0", "affine_b3_g64_bf16"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const qg_layout *layout = qg_library_find(library, names[i]);
        const uint64_t block = layout->elements;
        compare(layout, &(shape){1, block, 2, QG_F16, 8});
        compare(layout, &(shape){21, 2 * block, 1, QG_F16, 8});
        compare(layout, &(shape){40, 3 * block, 5, QG_F32, 8});
        compare(layout, &(shape){33, 1024, 8, QG_F32, 1});
        compare(layout, &(shape){300, 2048, 7, QG_F16, 1});
        compare(layout, &(shape){35, 12288, 8, QG_F32, 20});
    }
    /* Two groups of vectors in a launch: their x, and their results. */
    compare(qg_library_find(library, "q4_0"), &(shape){37, 1024, 13, QG_F32, 20});
    compare(qg_library_find(library, "iq4_xs"), &(shape){16, 2048, 16, QG_F16, 20});
}

/* What is not finite in a right-hand side reaches its results, and no others. */
static void not_finite(void **state) {
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    const qg_layout *layout = qg_library_find(library, "q4_K");
    const shape s = {19, 512, 2, QG_F32, 8};
    const qk_kernel *mma = compile(layout, "mma", &emulated, QG_F32);
    float x[2 * 512], y[2 * 19];
    unsigned char *blocks = malloc(19 * 2 * layout->block_bytes);
    for (uint32_t i = 0; i < 19 * 2 * layout->block_bytes; ++i) blocks[i] = (unsigned char)random_word() & 0xBF;
    const qk_range weights = upload(blocks, 19 * 2 * layout->block_bytes), own = {blocks, 0, weights.size};
    for (size_t b = 0; b < sizeof bad / sizeof *bad; ++b) {
        for (uint32_t i = 0; i < 2 * 512; ++i) x[i] = (float)(int)(i % 7) - 3;
        x[300] = bad[b];
        const qk_range in = upload(x, sizeof x);
        run(mma, &weights, in, &s, y);
        qk_vulkan_buffer_destroy(vk, in.buffer);
        for (int pass = 0; pass < (has_metal && !with_units() ? 2 : 1); ++pass) {
            if (pass) run_metal(layout, &own, (qk_range){x, 0, sizeof x}, &s, y);
            for (uint32_t n = 0; n < 19; ++n) {
                assert_false(isfinite(y[n]));
                assert_true(isfinite(y[19 + n]));
            }
        }
    }
    free(blocks);
    qk_vulkan_buffer_destroy(vk, weights.buffer);
}

typedef struct seen {
    uint32_t constants[QK_MAX_CONSTANTS], workgroups, launches;
} seen;

static qk_status see(void *context, const qk_launch *launch, qk_error *unused) {
    seen *s = context;
    (void)unused;
    memcpy(s->constants, launch->constants, launch->kernel->spec_constant_count * sizeof *s->constants);
    s->workgroups = launch->workgroups;
    s->launches += 1;
    return QK_OK;
}

/* Of a large device with matrix units. */
static qk_backend backend_that_sees(seen *s) {
    qk_backend backend = {.context = s, .launch = see, .limits = qk_vulkan_backend(vk).limits};
    backend.limits.features = ~UINT32_C(0);
    backend.limits.storage_range = UINT32_MAX;
    backend.limits.workgroup_size = 1024;
    backend.limits.busy_workgroups = 660;
    backend.limits.loop_steps = 0;
    backend.limits.shared_bytes = 49152;
    backend.limits.matrix_order_a = 7;
    return backend;
}

static const qk_kernel *describe(qk_api api) {
    const qg_kernel kernel = qg_kernel_new(arena, qg_library_find(library, "q4_0"), qg_family_named("gemv"), QG_F32,
                                           qg_sum_class_named("mma"));
    return qg_describe(arena, &kernel, api, NULL);
}

/* Ranges that stand for buffers: nothing is there. */
static void launch_on(const qk_backend *backend, const qk_kernel *kernel, uint64_t rows, uint64_t cols,
                      uint64_t batch) {
    static char places[3];
    const uint64_t bytes = UINT64_C(1) << 30;
    const qk_range weights = {places, 0, bytes}, x = {places + 1, 0, bytes}, y = {places + 2, 0, bytes};
    OK(qk_dispatch_gemv(backend, kernel, &weights, x, y, rows, cols, batch, &error));
}

/* What launches are of shapes and memories: threads, tiles kept, rows at once; workgroups. Orders are passed on. */
static void shared_out(void **state) {
    (void)state;
    static const struct {
        uint64_t rows, cols;
        uint32_t shared, constants[3], workgroups;
    } cases[] = {{57344, 8192, 49152, {512, 2, 2}, 132}, {57344, 8192, 16384, {512, 2, 1}, 132},
                 {57344, 8192, 8192, {256, 2, 1}, 264},  {2112, 8192, 49152, {512, 2, 1}, 132},
                 {2112, 2048, 49152, {256, 1, 1}, 132},  {16, 8192, 49152, {512, 2, 2}, 1}};
    const qk_kernel *described = describe(QK_API_VULKAN);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        seen s = {{0}, 0, 0};
        qk_backend backend = backend_that_sees(&s);
        backend.limits.shared_bytes = cases[i].shared;
        backend.limits.matrix_order_bc = 9;
        launch_on(&backend, described, cases[i].rows, cases[i].cols, 8);
        for (uint32_t c = 0; c < 3; ++c)
            if (s.constants[c] != cases[i].constants[c] || s.workgroups != cases[i].workgroups)
                fail_msg("case %d: %u threads, %u tiles, %u at once, %u workgroups", (int)i, s.constants[0],
                         s.constants[1], s.constants[2], s.workgroups);
        assert_int_equal(s.constants[3], 7);
        assert_int_equal(s.constants[4], 9);
    }
}

/* Sixteen vectors are one launch where rows are few and short, and twice eight elsewhere; nine as sixteen, and the last
 * of more as few as they are. A launch of sixteen takes twice the memory for its sums. */
static void sixteen_at_once(void **state) {
    (void)state;
    static const struct {
        uint64_t rows, cols, batch;
        uint32_t launches, vectors, at_once;
    } cases[] = {{8448, 4096, 16, 1, 16, 1}, {8449, 4096, 16, 2, 8, 2}, {4096, 4128, 16, 2, 8, 1},
                 {1024, 4096, 9, 1, 16, 1},  {1024, 4096, 8, 1, 8, 1},  {1024, 4096, 17, 2, 8, 1}};
    const qk_kernel *described = describe(QK_API_VULKAN);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        seen s = {{0}, 0, 0};
        qk_backend backend = backend_that_sees(&s);
        launch_on(&backend, described, cases[i].rows, cases[i].cols, cases[i].batch);
        const uint32_t vectors = qk_constant_(described, s.constants, QK_CONSTANT_VECTORS, 0),
                       at_once = qk_constant_(described, s.constants, QK_CONSTANT_AT_ONCE, 0);
        if (s.launches != cases[i].launches || vectors != cases[i].vectors || at_once != cases[i].at_once)
            fail_msg("case %d: %u launches, %u vectors, %u at once", (int)i, s.launches, vectors, at_once);
        assert_true(qk_shared_bytes_(described, s.constants) <= backend.limits.shared_bytes);
    }
}

/* Launches of Metal have threadgroups of one size, and tiles kept. Few rows are shared out by smaller parts of x. */
static void shared_out_on_metal(void **state) {
    (void)state;
    static const struct {
        uint64_t rows, cols;
        uint32_t kept, workgroups;
    } cases[] = {{57344, 8192, 2, 264}, {2112, 8192, 2, 132}, {2112, 2048, 1, 132}, {16, 8192, 2, 1}};
    const qk_kernel *described = describe(QK_API_METAL);
    assert_int_equal(described->spec_constant_count, 3); /* kept, views, y_type */
    assert_int_equal(described->workgroup_size, 32 * QG_MMA_SIMDGROUPS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        seen s = {{0}, 0, 0};
        const uint64_t bytes = UINT64_C(1) << 30;
        const qk_range weights = {&s, 0, bytes}, x = {&vk, 0, bytes}, y = {&error, 0, bytes};
        qk_backend backend = {.context = &s, .launch = see, .api = QK_API_METAL};
        backend.limits = (qk_limits){.storage_range = UINT32_MAX,
                                     .offset_alignment = 16,
                                     .workgroup_count = 65535,
                                     .workgroup_size = 1024,
                                     .push_bytes = 256,
                                     .busy_workgroups = 660};
        assert_int_equal(qk_dispatch_gemv(&backend, described, &weights, x, y, cases[i].rows, cases[i].cols, 8, &error),
                         QK_ERROR_UNSUPPORTED);
        backend.limits.features = QK_FEATURE_COOPERATIVE_MATRIX;
        OK(qk_dispatch_gemv(&backend, described, &weights, x, y, cases[i].rows, cases[i].cols, 8, &error));
        if (s.constants[0] != cases[i].kept || s.workgroups != cases[i].workgroups)
            fail_msg("case %d: %u tiles, %u workgroups", (int)i, s.constants[0], s.workgroups);
    }
}

/* A device without matrix units says so, and nothing is launched. */
static void refused(void **state) {
    (void)state;
    qk_backend backend = qk_vulkan_backend(vk);
    backend.limits.features &= ~(uint32_t)QK_FEATURE_COOPERATIVE_MATRIX;
    const qk_kernel *described = describe(QK_API_VULKAN);
    const qk_range none = {&backend, 0, 1 << 20};
    assert_int_equal(qk_dispatch_gemv(&backend, described, &none, none, none, 16, 32, 2, &error), QK_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "cooperative matrices"));
    assert_int_equal(described->numeric, QK_NUMERIC_HALF_SUM);
}

static const char *text_of(const char *path) {
    const char *why = NULL;
    size_t length;
    const char *text = qg_read_file(arena, path, 1 << 20, &length, &why);
    if (!text) fail_msg("%s: %s", path, why);
    return text;
}

static uint32_t messages;

/* The layer counts shared memory with what constants are when none are set, and the dispatch sets them all. */
static void on_message(void *user, const char *text) {
    (void)user;
    if (strstr(text, "VUID-RuntimeSpirv-Workgroup-06530")) return;
    fprintf(stderr, "%s\n", text);
    messages += 1;
}

static int open_all(void **state) {
    (void)state;
    const char *source = getenv("SOURCE"), *why = NULL;
    if (!source) source = ".";
    arena = qg_arena_new();
    library = qg_library_new(arena, false);
    if (!qg_library_add_folder(library, qg_format(arena, "%s/formats", source))) return -1;
    if (!qg_templates_load(arena, qg_format(arena, "%s/templates", source), &templates, &why)) return -1;
    qg_template *items = QG_NEW_ARRAY(arena, qg_template, templates.count);
    memcpy(items, templates.items, templates.count * sizeof *items);
    for (uint32_t i = 0; i < templates.count; ++i) {
        if (strcmp(items[i].name, "mma_units.ext") == 0) items[i].text = "";
        if (strcmp(items[i].name, "mma_units.glsl") == 0)
            items[i].text = text_of(qg_format(arena, "%s/tests/mma_units.glsl", source));
    }
    emulated = with_units() ? templates : (qg_templates){templates.count, items};
    const qk_vulkan_options options = {.cache_path = "", .validate = !with_units(), .message = on_message};
    if (!qg_spirv_open()) return -1;
    if (qk_vulkan_create(&options, &vk, &error) != QK_OK) {
        fprintf(stderr, "%s\n", error.text);
        return -1;
    }
    const qk_limits limits = qk_vulkan_backend(vk).limits;
    if (!with_units() || limits.features & QK_FEATURE_COOPERATIVE_MATRIX) return 0;
    fprintf(stderr, "%s has no matrix units that kernels can take\n", qk_vulkan_info(vk)->name);
    return -1;
}

static int close_all(void **state) {
    (void)state;
    qk_vulkan_destroy(vk);
    qg_spirv_close();
    qg_arena_free(arena);
    return messages ? -1 : 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(refused),         cmocka_unit_test(not_finite),
                                       cmocka_unit_test(shared_out),      cmocka_unit_test(shared_out_on_metal),
                                       cmocka_unit_test(sixteen_at_once), cmocka_unit_test(every_shape),
                                       cmocka_unit_test(every_format),    cmocka_unit_test(other_lanes)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
