/* qkgen/pipelines.h: what is listed before any call is what calls ask for, all of it and nothing else; keys stay. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <qkgen/pipelines.h>
#include <qkgen/registry.h>

#include "qkgen_kernels.h"

enum { ROOM = 512, MOST_KERNELS = 16 };

static uint32_t below(uint32_t bound) {
    static uint64_t state = 0x853C49E6748FEA9Bu;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % bound);
}

/* Devices of 32 lanes and many multiprocessors, with matrix units and without, and of 8 on a processor. */
static qk_limits limits_of(uint32_t device) {
    const qk_limits limits = {.storage_range = 1u << 30,
                              .offset_alignment = device == 1 ? 64 : 16,
                              .workgroup_count = 65535,
                              .workgroup_size = 1024,
                              .push_bytes = 256,
                              .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT |
                                          QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE |
                                          QK_FEATURE_FLOAT16 | QK_FEATURE_INTEGER_DOT_PRODUCT |
                                          (device == 0 ? (uint32_t)QK_FEATURE_COOPERATIVE_MATRIX : 0),
                              .busy_workgroups = device == 2 ? 16 : 660,
                              .shared_bytes = device == 2 ? 32768 : 49152,
                              .matrix_order_a = device == 0 ? 0xFAC688 : 0,
                              .subgroup_size = device == 2 ? 8 : 32};
    return limits;
}

static uint32_t find(const char *format, int by_id, const qk_kernel **found) {
    size_t count = qk_find_classes(qkgen_kernels, QKGEN_KERNEL_SETS, QK_API_VULKAN, format, by_id ? "gemv_id" : "gemv",
                                   "f32", found, MOST_KERNELS);
    count += qk_find_classes(qkgen_kernels, QKGEN_KERNEL_SETS, QK_API_VULKAN, format, by_id ? "gemm_id" : "gemm", "f32",
                             found + count, MOST_KERNELS - count);
    assert_true(count > 3);
    return (uint32_t)count;
}

static qk_tensor tensor_of(uintptr_t buffer, uint32_t bytes, uint32_t block, uint64_t a, uint64_t b, uint64_t c) {
    qk_tensor t = {{(void *)buffer, 0, 0}, {a, b, c, 1}, {bytes, bytes * (a / block), 0, 0}, bytes};
    t.steps[2] = t.steps[1] * b;
    t.steps[3] = t.steps[2] * c;
    t.range.size = t.steps[3];
    return t;
}

/* A product of `n` vectors, or tokens; what `chance` has does not depend on n. */
typedef struct chance {
    uint64_t rows, cols;
    uint32_t at, shared, slots;
    int by_id, padded, adds;
    const qk_kernel *kernel;
} chance;

static qk_product product_of(const chance *c, uint64_t n, qk_epilogue *epilogue, qk_range *bias) {
    const uint64_t matrices = c->by_id ? 8 : c->shared;
    qk_product p;
    memset(&p, 0, sizeof p);
    p.weights =
        tensor_of(1, c->kernel->bindings[0].block_bytes, c->kernel->block_elements, c->cols, c->rows, c->by_id ? 8 : 1);
    p.weights.range.size += c->padded ? 64 : 0;
    p.x = c->by_id ? tensor_of(2, 4, 1, c->cols, 1, n) : tensor_of(2, 4, 1, c->cols, n, matrices);
    p.y = c->by_id ? tensor_of(3, 4, 1, c->rows, c->slots, n) : tensor_of(3, 4, 1, c->rows, n, matrices);
    p.x.range.offset = c->at;
    p.y.range.offset = c->at;
    if (c->by_id) p.ids = tensor_of(4, 4, 1, c->slots, n, 1);
    *bias = (qk_range){(void *)(uintptr_t)5, 0, matrices * c->rows * 4};
    *epilogue = (qk_epilogue){.bias = c->adds ? bias : NULL};
    p.epilogue = epilogue;
    return p;
}

/* Notes what a launch takes, each once, without what the header has for that. */
static qk_status note(void *context, const qk_launch *launch, qk_error *error) {
    (void)error;
    qk_pipeline_list *list = context;
    const qk_kernel *kernel = launch->kernel;
    qk_pipeline *one = &list->items[list->count];
    assert_true(list->count < list->room && launch->constants != NULL);
    memset(one, 0, sizeof *one);
    one->kernel = kernel;
    one->code = kernel->code;
    for (uint32_t i = 0; i < kernel->spec_constant_count; i++) {
        const uint32_t value = launch->constants[i];
        one->constants[i] = value;
        if (kernel->spec_constants[i].id == QK_CONSTANT_SCHEDULE && kernel->schedules[value] != NULL)
            one->code = kernel->schedules[value];
    }
    for (uint32_t i = 0; i < list->count; i++)
        if (memcmp(&list->items[i], one, sizeof *one) == 0) return QK_OK;
    list->count++;
    return QK_OK;
}

/* What one call asks for, with ranges as long as they are. */
static void ask(const qk_backend *backend, const qk_kernel *const *kernels, uint32_t count, const chance *c, uint64_t n,
                int shares) {
    qk_epilogue epilogue;
    qk_range bias;
    qk_error error;
    qk_product p = product_of(c, n, &epilogue, &bias);
    p.shares = shares;
    if (qk_plan_product(backend, kernels, count, INFINITY, &p, &error) != QK_OK) fail_msg("%s", error.text);
    qk_product_place(&p, (qk_range){(void *)(uintptr_t)6, 0, p.copy_bytes + p.scratch_bytes});
    if (qk_dispatch_product(backend, &p, &error) != QK_OK)
        fail_msg("%" PRIu64 " x %" PRIu64 ", %" PRIu64 " vectors: %s", c->rows, c->cols, n, error.text);
}

static chance some_chance(const qk_kernel *kernel, int by_id) {
    chance c = {.rows = 4 * (1 + below(below(2) != 0 ? 8192 : 128)),
                .cols = 256 * (1 + below(below(2) != 0 ? 64 : 12)),
                .at = 16 * below(4),
                .shared = below(4) == 0 ? 2 : 1,
                .slots = 1 + below(4),
                .by_id = by_id,
                .padded = below(2) != 0,
                .adds = below(2) != 0,
                .kernel = kernel};
    if (kernel->block_elements == 32 && below(4) == 0) c.cols = 32 * (1 + below(300));
    return c;
}

/* All that calls of a shape ask for is listed, and no other. */
static void compare(const char *format, int by_id, uint32_t device) {
    static qk_pipeline listed_items[ROOM], asked_items[ROOM];
    const qk_kernel *kernels[MOST_KERNELS];
    const uint32_t count = find(format, by_id, kernels), most = 8 + below(60);
    const qk_limits limits = limits_of(device);
    qk_pipeline_list listed = {listed_items, ROOM, 0}, asked = {asked_items, ROOM, 0};
    const qk_backend lists = qk_listing_backend(QK_API_VULKAN, &limits, &listed);
    qk_backend asks = qk_listing_backend(QK_API_VULKAN, &limits, &asked);
    const chance c = some_chance(kernels[0], by_id);
    qk_epilogue epilogue;
    qk_range bias;
    qk_error error;
    asks.launch = note;
    qk_product like = product_of(&c, 1, &epilogue, &bias);
    like.x.range.size = like.y.range.size = bias.size = 0; /* not looked at */
    if (qk_list_products(&lists, kernels, count, INFINITY, &like, most, &error) != QK_OK)
        fail_msg("%" PRIu64 " x %" PRIu64 ": %s", c.rows, c.cols, error.text);
    for (uint32_t n = most; n >= 1; n--)
        for (int shares = 0; shares < 2; shares++) ask(&asks, kernels, count, &c, n, shares);
    assert_int_equal(listed.count, asked.count);
    assert_true(listed.count >= 1 && listed.count < 40);
    for (uint32_t i = 0; i < asked.count; i++) {
        uint32_t at = 0;
        while (at < listed.count && memcmp(&listed.items[at], &asked.items[i], sizeof asked.items[i]) != 0) at++;
        if (at == listed.count)
            fail_msg("%s, %" PRIu64 " x %" PRIu64 ": it is not listed", asked.items[i].kernel->name, c.rows, c.cols);
    }
}

static void list_has_what_is_asked_for(void **state) {
    (void)state;
    for (uint32_t round = 0; round < 40; round++)
        for (uint32_t device = 0; device < 3; device++)
            for (int by_id = 0; by_id < 2; by_id++) compare(round % 2 != 0 ? "q4_K" : "q4_0", by_id, device);
}

/* What is planned of a product; without its epilogue. */
static qk_product planned(const qk_backend *backend, const qk_kernel *const *kernels, uint32_t count, uint64_t rows,
                          uint64_t cols, uint64_t vectors, int shares, double allowed) {
    const chance c = {.rows = rows, .cols = cols, .shared = 1, .kernel = kernels[0]};
    qk_epilogue epilogue;
    qk_range bias;
    qk_error error;
    qk_product p = product_of(&c, vectors, &epilogue, &bias);
    p.shares = shares;
    if (qk_plan_product(backend, kernels, count, allowed, &p, &error) != QK_OK) fail_msg("%s", error.text);
    p.epilogue = NULL;
    return p;
}

/* Pipelines that products with a bias and without one come to, of one kernel. */
static uint32_t pipelines_of(const qk_kernel *kernel, uint64_t vectors) {
    static qk_pipeline items[ROOM];
    const qk_limits limits = limits_of(0);
    qk_pipeline_list list = {items, ROOM, 0};
    qk_backend asks = qk_listing_backend(QK_API_VULKAN, &limits, &list);
    asks.launch = note;
    for (int adds = 0; adds < 2; adds++) {
        const chance c = {.rows = 4096, .cols = 4096, .shared = 1, .adds = adds, .kernel = kernel};
        ask(&asks, &kernel, 1, &c, vectors, 0);
    }
    return list.count;
}

/* Of one vector all epilogues have one pipeline, but in bytes, and on matrix units. */
static void epilogues_share_a_pipeline(void **state) {
    (void)state;
    const qk_kernel *kernels[MOST_KERNELS];
    const uint32_t count = find("q4_K", 0, kernels);
    uint32_t shared = 0, own = 0;
    for (uint32_t i = 0; i < count; i++) {
        const int units = (kernels[i]->features & QK_FEATURE_COOPERATIVE_MATRIX) != 0;
        const uint32_t bytes = qk_constant_(kernels[i], NULL, QK_CONSTANT_DIGITS, 0), one = units || bytes == 1 ? 2 : 1;
        if (kernels[i]->operand_tile != 0) continue;
        assert_int_equal(pipelines_of(kernels[i], 1), one);
        assert_int_equal(pipelines_of(kernels[i], 4), 2);
        *(one == 1 ? &shared : &own) += 1;
    }
    assert_true(shared >= 2 && own >= 1);
}

/* Integers are made of x once where another matrix has it, or where it is long; and not of few values. */
static void x_is_made_integers_once(void **state) {
    (void)state;
    const struct {
        uint64_t rows, cols, vectors;
        int shares, once;
        uint32_t tile; /* of teams, or 0: what it is */
    } cases[] = {{1024, 4096, 2, 0, 0, 0},  {1024, 4096, 2, 1, 1, 0},  {1024, 2048, 2, 1, 0, 0},
                 {1024, 2048, 4, 1, 1, 0},  {1024, 4096, 1, 1, 0, 0},  {4096, 14336, 4, 0, 1, 0},
                 {4096, 14336, 2, 0, 0, 0}, {2560, 9216, 4, 0, 1, 0},  {2560, 9184, 4, 0, 0, 0},
                 {4096, 14336, 4, 0, 1, 6}, {4096, 14336, 4, 0, 0, 7}, {1024, 4096, 2, 1, 0, 7}};
    const qk_kernel *kernels[MOST_KERNELS];
    qk_kernel copies[MOST_KERNELS];
    const uint32_t count = find("q4_0", 0, kernels);
    for (uint32_t i = 0; i < count; i++) {
        copies[i] = *kernels[i];
        kernels[i] = &copies[i];
    }
    const qk_limits limits = limits_of(1);
    qk_backend backend = qk_listing_backend(QK_API_VULKAN, &limits, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (uint32_t k = 0; k < count && cases[i].tile != 0; k++) copies[k].teams_tile = cases[i].tile;
        const qk_product p = planned(&backend, kernels, count, cases[i].rows, cases[i].cols, cases[i].vectors,
                                     cases[i].shares, INFINITY);
        if ((p.scratch_bytes != 0) != cases[i].once) fail_msg("case %zu has %" PRIu64 " bytes", i, p.scratch_bytes);
    }
}

/* Beside matrix units, of few rows and more than four vectors: a launch before makes bytes for several matrices. Where
 * weights are looked up, of few vectors alone. */
static void shared_bytes_are_ahead_of_units(void **state) {
    (void)state;
    const struct {
        uint64_t rows, cols, vectors;
        int shares, bytes;
        double allowed;
    } cases[] = {{1024, 4096, 8, 1, 1, INFINITY}, {1024, 4096, 5, 1, 1, INFINITY},  {1024, 4096, 8, 0, 0, INFINITY},
                 {4096, 4096, 8, 1, 0, INFINITY}, {1024, 4096, 16, 1, 0, INFINITY}, {1024, 512, 8, 1, 0, INFINITY},
                 {1024, 4096, 8, 1, 0, 0.003},    {1024, 8192, 8, 0, 0, INFINITY},  {1024, 4096, 6, 1, 1, INFINITY},
                 {1024, 4096, 7, 1, 0, INFINITY}};
    const qk_limits limits = limits_of(0);
    qk_backend backend = qk_listing_backend(QK_API_VULKAN, &limits, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const qk_kernel *kernels[MOST_KERNELS];
        const uint32_t count = find(i < 8 ? "q4_0" : "mxfp4", 0, kernels);
        const qk_product p = planned(&backend, kernels, count, cases[i].rows, cases[i].cols, cases[i].vectors,
                                     cases[i].shares, cases[i].allowed);
        if ((qk_products_of_(p.kernel) == QK_ONE_) != cases[i].bytes) fail_msg("case %zu takes %s", i, p.kernel->name);
        if (cases[i].bytes) assert_true(p.scratch_bytes != 0);
    }
}

/* A constant of the last launch of a product with one kernel. */
static uint32_t constant_of(const qk_kernel *kernel, uint32_t device, uint64_t rows, uint32_t vectors, uint32_t id) {
    qk_pipeline items[4];
    const qk_limits limits = limits_of(device);
    qk_pipeline_list list = {items, 4, 0};
    qk_backend asks = qk_listing_backend(QK_API_VULKAN, &limits, &list);
    const chance c = {.rows = rows, .cols = 4096, .shared = 1, .kernel = kernel};
    asks.launch = note;
    ask(&asks, &kernel, 1, &c, vectors, 0);
    assert_true(list.count >= 1);
    return qk_constant_(kernel, items[list.count - 1].constants, id, 0);
}

/* A launch keeps as many vectors as there are, where a schedule can; else a power of two. Returns whether it was the
 * former. */
static int keeps(const qk_kernel *kernel, uint32_t device, uint32_t vectors) {
    const uint32_t kept = constant_of(kernel, device, 4096, vectors, QK_CONSTANT_BATCH);
    const uint32_t schedule = constant_of(kernel, device, 4096, vectors, QK_CONSTANT_SCHEDULE);
    const int few = schedule == QK_SCHEDULE_WIDE || schedule == QK_SCHEDULE_AHEAD;
    if (kept != (few && vectors > 2 ? vectors > 4 ? 8 : 4 : vectors))
        fail_msg("%s keeps %u of %u in schedule %u", kernel->name, kept, vectors, schedule);
    return !few;
}

static void as_many_are_kept_as_there_are(void **state) {
    (void)state;
    const qk_kernel *kernels[MOST_KERNELS];
    const uint32_t count = find("q4_K", 0, kernels);
    uint32_t exactly[9] = {0};
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t vectors = 1; vectors <= 8; vectors++)
            for (uint32_t device = 0; device < 3; device++)
                if (kernels[i]->operand_tile == 0 && (kernels[i]->features & QK_FEATURE_COOPERATIVE_MATRIX) == 0)
                    exactly[vectors] += (uint32_t)keeps(kernels[i], device, vectors);
    for (uint32_t vectors = 3; vectors <= 8; vectors++) assert_int_equal(exactly[vectors], 9);
    const qk_kernel *bytes =
        qk_find_kernel(qkgen_kernels, QKGEN_KERNEL_SETS, QK_API_VULKAN, "mxfp4", "gemv", "int8", "f32");
    assert_non_null(bytes);
    assert_int_equal(constant_of(bytes, 0, 14336, 3, QK_CONSTANT_SCHEDULE), QK_SCHEDULE_WIDE);
    assert_int_equal(constant_of(bytes, 0, 14336, 3, QK_CONSTANT_BATCH), 4);
    /* More lanes are a team where fewer vectors leave memory for a tile of x for each. */
    const qk_kernel *exact =
        qk_find_kernel(qkgen_kernels, QKGEN_KERNEL_SETS, QK_API_VULKAN, "mxfp4", "gemv", "exact", "f32");
    assert_non_null(exact);
    assert_int_equal(constant_of(exact, 0, 1024, 8, QK_CONSTANT_SPLIT), 4);
    assert_int_equal(constant_of(exact, 0, 1024, 5, QK_CONSTANT_SPLIT), 8);
}

/* Of two to four vectors, bytes of large blocks are what teams share: not of many weights, nor of many bits, but of
 * three vectors. */
static void teams_share_large_blocks(void **state) {
    (void)state;
    qk_kernel kernel = *qk_find_kernel(qkgen_kernels, QKGEN_KERNEL_SETS, QK_API_VULKAN, "q4_K", "gemv", "int8", "f32");
    qk_binding bindings[QK_MAX_BINDINGS];
    const struct {
        uint64_t rows;
        uint32_t vectors, bytes;
        int teams;
    } cases[] = {{14336, 2, 144, 1}, {14336, 4, 144, 1}, {28672, 2, 144, 0}, {28672, 4, 144, 0}, {14336, 2, 176, 0},
                 {14336, 3, 176, 1}, {14336, 4, 176, 0}, {14336, 3, 146, 0}, {14336, 8, 144, 0}};
    for (uint32_t i = 0; i < kernel.binding_count; i++) bindings[i] = kernel.bindings[i];
    kernel.bindings = bindings;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bindings[0].block_bytes = cases[i].bytes;
        const uint32_t schedule = constant_of(&kernel, 0, cases[i].rows, cases[i].vectors, QK_CONSTANT_SCHEDULE);
        if ((schedule == QK_SCHEDULE_TEAMS) != cases[i].teams) fail_msg("case %zu: %u", i, schedule);
    }
}

/* Other families are listed by their own calls, and what is wrong is refused. */
static void rows_are_listed(void **state) {
    (void)state;
    qk_pipeline items[4];
    qk_pipeline_list list = {items, 4, 0};
    const qk_limits limits = limits_of(0);
    const qk_backend lists = qk_listing_backend(QK_API_VULKAN, &limits, &list);
    const qk_backend checks = qk_listing_backend(QK_API_VULKAN, &limits, NULL);
    const qk_kernel *kernel =
        qk_find_kernel(qkgen_kernels, QKGEN_KERNEL_SETS, QK_API_VULKAN, "q4_0", "gather", NULL, "f32");
    qk_tensor table = tensor_of(1, 18, 32, 256, 100, 1), values = tensor_of(2, 4, 1, 256, 5, 1);
    const qk_tensor ids = tensor_of(3, 4, 1, 5, 1, 1);
    const qk_range none = {NULL, 0, 0};
    qk_error error;
    assert_non_null(kernel);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(qk_dispatch_rows(&lists, kernel, &table, &values, &ids, none, &error), QK_OK);
        assert_int_equal(list.count, 1);
    }
    assert_ptr_equal(items[0].kernel, kernel);
    assert_ptr_equal(items[0].code, kernel->code);
    for (uint32_t i = 0; i < kernel->spec_constant_count; i++)
        assert_int_equal(items[0].constants[i], kernel->spec_constants[i].value);
    assert_int_equal(qk_dispatch_rows(&checks, kernel, &table, &values, &ids, none, &error), QK_OK);
    assert_int_equal(list.count, 1);
    values.range.size -= 1;
    assert_int_equal(qk_dispatch_rows(&checks, kernel, &table, &values, &ids, none, &error), QK_ERROR_SIZE);
}

static void list_may_be_too_short(void **state) {
    (void)state;
    const qk_kernel *kernels[MOST_KERNELS];
    const uint32_t count = find("q4_0", 0, kernels);
    const qk_limits limits = limits_of(0);
    qk_pipeline items[2];
    qk_pipeline_list list = {items, 2, 0};
    const qk_backend lists = qk_listing_backend(QK_API_VULKAN, &limits, &list);
    const chance c = {.rows = 4096, .cols = 4096, .shared = 1, .kernel = kernels[0]};
    qk_epilogue epilogue;
    qk_range bias;
    qk_error error;
    const qk_product like = product_of(&c, 1, &epilogue, &bias);
    assert_int_equal(qk_list_products(&lists, kernels, count, INFINITY, &like, 40, &error), QK_ERROR_LIMIT);
    assert_non_null(strstr(error.text, "more than 2 pipelines"));
    assert_int_equal(list.count, 2);
}

static void norms_are_listed(void **state) {
    (void)state;
    static qk_pipeline items[ROOM];
    const qk_kernel *kernels[MOST_KERNELS];
    const uint32_t count = find("q4_0", 0, kernels);
    const qk_limits limits = limits_of(0);
    qk_pipeline_list list = {items, ROOM, 0};
    const qk_backend lists = qk_listing_backend(QK_API_VULKAN, &limits, &list);
    const chance c = {.rows = 4096, .cols = 4096, .shared = 1, .kernel = kernels[0]};
    const float epsilon = 1e-5f;
    qk_epilogue epilogue;
    qk_range bias;
    qk_product like = product_of(&c, 1, &epilogue, &bias);
    like.epsilon = epsilon;
    assert_int_equal(qk_list_products(&lists, kernels, count, INFINITY, &like, 8, NULL), QK_OK);
    assert_true(list.count > 1);
    for (uint32_t i = 0; i < list.count; i++)
        assert_int_equal(qk_constant_(items[i].kernel, items[i].constants, QK_CONSTANT_NORM, 0), qk_bits_of_(epsilon));
}

/* The number is that of FNV-1a over 07 01 fe 00, "main" with its NUL, and four words of 32 bits, 0 64 3 0x01020304. */
static void keys_stay(void **state) {
    (void)state;
    const unsigned char bytes[] = {7, 1, 0xFE, 0}, others[] = {7, 1, 0xFE, 1};
    const qk_code code = {bytes, sizeof bytes}, other_code = {others, sizeof others};
    qk_spec_constant constants[] = {{.id = QK_CONSTANT_LOCAL_SIZE_X}, {.id = QK_CONSTANT_SPLIT}};
    qk_kernel kernel = {.entry = "main", .code = &code, .spec_constant_count = 2, .spec_constants = constants};
    qk_pipeline pipeline = {&kernel, &code, {64, 0x01020304}};
    const uint64_t key = qk_pipeline_key(&pipeline);
    assert_true(key == UINT64_C(0xA4AE6062E45316A5));
    pipeline.constants[1]++;
    assert_int_not_equal(qk_pipeline_key(&pipeline), key);
    pipeline.constants[1]--;
    pipeline.code = &other_code;
    assert_int_not_equal(qk_pipeline_key(&pipeline), key);
    pipeline.code = &code;
    constants[1].id = QK_CONSTANT_ROWS;
    assert_int_not_equal(qk_pipeline_key(&pipeline), key);
    constants[1].id = QK_CONSTANT_SPLIT;
    kernel.entry = "mains";
    assert_int_not_equal(qk_pipeline_key(&pipeline), key);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_has_what_is_asked_for),
        cmocka_unit_test(x_is_made_integers_once),
        cmocka_unit_test(epilogues_share_a_pipeline),
        cmocka_unit_test(shared_bytes_are_ahead_of_units),
        cmocka_unit_test(as_many_are_kept_as_there_are),
        cmocka_unit_test(teams_share_large_blocks),
        cmocka_unit_test(rows_are_listed),
        cmocka_unit_test(list_may_be_too_short),
        cmocka_unit_test(norms_are_listed),
        cmocka_unit_test(keys_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
