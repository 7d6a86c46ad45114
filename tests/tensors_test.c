/* qkgen/tensors.h: tensors by counts and steps become the calls with views that they mean; what no kernel reads is refused. The launches
 * of both are compared. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <qkgen/registry.h>
#include <qkgen/tensors.h>

#include "q4_0.h"

enum { ALIGNMENT = 64, MOST = 16, ROW = 256 / 32 * 18 };

/* What was launched, in words: kernel, ranges, push constants, constants; 1 is a barrier. */
typedef struct notes {
    uint32_t launches, packs, barriers, size;
    uint64_t words[4096];
} notes;

static void note(notes *n, uint64_t word) {
    assert_true(n->size < 4096);
    n->words[n->size++] = word;
}

static qk_status launch(void *context, const qk_launch *l, qk_error *error) {
    (void)error;
    notes *n = context;
    note(n, (uintptr_t)l->kernel->code);
    note(n, l->workgroups);
    for (uint32_t i = 0; i < l->kernel->binding_count; i++) {
        note(n, (uintptr_t)l->ranges[i].buffer);
        note(n, l->ranges[i].offset);
        note(n, l->ranges[i].size);
    }
    for (uint32_t i = 0; i < l->kernel->push_bytes / 4; i++) note(n, ((const uint32_t *)l->push)[i]);
    for (uint32_t i = 0; l->constants != NULL && i < l->kernel->spec_constant_count; i++) note(n, l->constants[i]);
    n->launches++;
    n->packs += qk_constant_(l->kernel, l->constants, QK_CONSTANT_SCHEDULE, 0) == QK_SCHEDULE_PACK;
    return QK_OK;
}

static qk_status barrier(void *context, qk_error *error) {
    (void)error;
    note(context, 1);
    ((notes *)context)->barriers++;
    return QK_OK;
}

static qk_backend backend_for(notes *n) {
    memset(n, 0, sizeof *n);
    return (qk_backend){.context = n,
                        .api = QK_API_VULKAN,
                        .limits = {.storage_range = 1u << 30,
                                   .offset_alignment = ALIGNMENT,
                                   .workgroup_count = 65535,
                                   .workgroup_size = 1024,
                                   .push_bytes = 256,
                                   .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT |
                                               QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE |
                                               QK_FEATURE_FLOAT16,
                                   .busy_workgroups = 660,
                                   .shared_bytes = 49152,
                                   .subgroup_size = 32},
                        .launch = launch,
                        .barrier = barrier};
}

static void assert_same(const notes *a, const notes *b) {
    assert_true(a->launches > 0 && a->launches == b->launches && a->size == b->size);
    assert_memory_equal(a->words, b->words, a->size * sizeof a->words[0]);
}

/* A tensor with elements one after the other, in a buffer of its own. */
static qk_tensor tensor_of(uintptr_t buffer, uint32_t bytes, uint32_t block, uint64_t a, uint64_t b, uint64_t c,
                           uint64_t d) {
    qk_tensor t = {{(void *)buffer, 0, 1u << 28}, {a, b, c, d}, {bytes, a / block * bytes}, bytes};
    t.steps[2] = t.steps[1] * b;
    t.steps[3] = t.steps[2] * c;
    return t;
}

static qk_product product_of(uint64_t rows, uint64_t vectors, uint64_t matrices, uint64_t products) {
    return (qk_product){.weights = tensor_of(1, 18, 32, 256, rows, matrices, 1),
                        .x = tensor_of(2, 4, 1, 256, vectors, products, 1),
                        .y = tensor_of(3, 4, 1, rows, vectors, products, 1),
                        .scratch = {(void *)5, 0, 1u << 28},
                        .status = {(void *)6, 0, 4}};
}

static qk_product experts_of(uint64_t experts, uint64_t slots, uint64_t tokens, uint64_t each) {
    qk_product p = product_of(64, slots, experts, tokens);
    p.x = tensor_of(2, 4, 1, 256, each, tokens, 1);
    p.ids = tensor_of(4, 4, 1, slots, tokens, 1, 1);
    return p;
}

static uint32_t kernels_of(const char *one, const char *two, const qk_kernel **found) {
    static const qk_kernel_set *const sets[] = {&qk_q4_0_kernels};
    size_t n = qk_find_classes(sets, 1, QK_API_VULKAN, "q4_0", one, "f32", found, MOST);
    if (two != NULL) n += qk_find_classes(sets, 1, QK_API_VULKAN, "q4_0", two, "f32", found + n, MOST - n);
    assert_true(n > 0);
    return (uint32_t)n;
}

static qk_status plan(const qk_backend *backend, qk_product *p) {
    const qk_kernel *kernels[MOST];
    const int by_id = p->ids.bytes != 0;
    uint32_t n = kernels_of(by_id ? "gemv_id" : "gemv", by_id ? "gemm_id" : "gemm", kernels);
    return qk_plan_product(backend, kernels, n, INFINITY, p, NULL);
}

static void test_products(void **state) {
    (void)state;
    static notes a, b;
    qk_backend backend = backend_for(&a), other = backend_for(&b);
    qk_product p = product_of(64, 3, 2, 4);
    p.x.steps[1] = 2048; /* every other vector, from a place where nothing can be bound */
    p.x.steps[2] = 3 * 2048 + 512;
    p.x.range.offset = 16;
    p.weights.steps[2] = 70 * ROW;
    p.y.range.offset = 4;
    assert_true(qk_tensor_is_loaded(&p.x));
    assert_int_equal(plan(&backend, &p), QK_OK);
    assert_string_equal(p.kernel->family, "gemv");
    assert_int_equal(p.scratch_bytes, 0);
    assert_int_equal(qk_dispatch_product(&backend, &p, NULL), QK_OK);
    const qk_views views = {.batches = {4, 1},
                            .weights_batches = {2, 1},
                            .x_stride = 512,
                            .x_strides = {3 * 512 + 128, 0},
                            .weights_strides = {70, 0}};
    assert_int_equal(qk_dispatch_gemv_views(&other, p.kernel, &p.weights.range, p.x.range, p.y.range, 64, 256, 3,
                                            &views, NULL, NULL),
                     QK_OK);
    assert_same(&a, &b);
}

/* Dimensions in which all products have the same x; and two matrices that become one product. */
static void test_same_x(void **state) {
    (void)state;
    static notes a, b;
    qk_backend backend = backend_for(&a), other = backend_for(&b);
    qk_product p = product_of(64, 1, 2, 2);
    p.x.steps[2] = 0;
    p.x.range.size = 1024;
    assert_int_equal(plan(&backend, &p), QK_OK);
    assert_int_equal(qk_dispatch_product(&backend, &p, NULL), QK_OK);
    qk_views views = {.batches = {2, 1}, .weights_batches = {2, 1}, .x_strides = {QK_SAME_X, 0}};
    assert_int_equal(qk_dispatch_gemv_views(&other, p.kernel, &p.weights.range, p.x.range, p.y.range, 64, 256, 1,
                                            &views, NULL, NULL),
                     QK_OK);
    assert_same(&a, &b);
    assert_int_equal(a.launches, 1);
    qk_product one = product_of(64, 1, 1, 1), next = one;
    next.weights.range.offset += 70 * ROW;
    next.y.range.offset += 4096;
    assert_true(qk_product_joins(&one, &next));
    assert_int_equal(plan(&backend, &one), QK_OK);
    assert_int_equal(qk_dispatch_product(&backend, &one, NULL), QK_OK);
    views.parts[0] = (qk_part){1, 0, 0};
    views.parts[1] = (qk_part){1, 70, 1024};
    assert_int_equal(qk_dispatch_gemv_views(&other, one.kernel, &one.weights.range, one.x.range, one.y.range, 64, 256,
                                            1, &views, NULL, NULL),
                     QK_OK);
    assert_same(&a, &b);
    const qk_range range = next.y.range;
    const qk_epilogue epilogue = {.bias = &range};
    one = product_of(64, 1, 1, 1);
    next.epilogue = &epilogue;
    assert_false(qk_product_joins(&one, &next));
    next.epilogue = NULL;
    next.types += 1;
    assert_false(qk_product_joins(&one, &next));
}

/* A matrix of the same x: where its weights begin, in rows, and its results, in elements. */
static qk_product joinable(uint64_t rows, uint64_t weights, uint64_t y) {
    qk_product p = product_of(rows, 1, 1, 1);
    p.weights.range.offset = weights * ROW;
    p.weights.range.size = rows * ROW;
    p.y.range.offset = y * 4;
    p.y.range.size = rows * 4;
    return p;
}

/* q, k and v: of other numbers of rows, weights in another order than results, and x between these. */
/* x is normed in the launch of what is multiplied with it: of one matrix, of joined ones, and where one gates the other. */
static void test_norms(void **state) {
    (void)state;
    static notes a, b;
    const qk_tensor norm = tensor_of(8, 4, 1, 256, 1, 1, 1), y = tensor_of(7, 4, 1, 64, 1, 1, 1);
    for (int joined = 0; joined < 3; joined++) {
        qk_backend one = backend_for(&a), two = backend_for(&b);
        qk_product p = product_of(64, joined == 0 ? 3 : 1, 1, 1), next = p;
        next.weights.range.offset += 70 * ROW;
        next.y.range.offset += 300;
        if (joined == 1) assert_true(qk_product_joins(&p, &next));
        if (joined == 2) assert_true(qk_product_gates(&p, &next, &y));
        assert_true(qk_product_norms(&p, &norm, 1e-5f));
        assert_false(qk_product_norms(&p, &norm, 1e-5f) || qk_product_joins(&p, &next));
        assert_int_equal(plan(&one, &p), QK_OK);
        assert_true(qk_takes_norm_(p.kernel));
        assert_int_equal(qk_dispatch_product(&one, &p, NULL), QK_OK);
        qk_views views = p.views;
        views.epsilon = 1e-5f;
        views.norm = norm.range;
        assert_int_equal(qk_dispatch_gemv_views(&two, p.kernel, &p.weights.range, p.x.range, p.y.range, 64, 256,
                                                p.y.counts[1], &views, NULL, NULL),
                         QK_OK);
        assert_same(&a, &b);
        assert_int_equal(a.launches, 1);
    }
}

static void test_not_normed(void **state) {
    (void)state;
    static notes a;
    qk_backend backend = backend_for(&a);
    const qk_tensor norm = tensor_of(8, 4, 1, 256, 1, 1, 1);
    const qk_product one = product_of(64, 1, 1, 1);
    const qk_epilogue scales = {.scale = &one.status};
    qk_product p = experts_of(8, 2, 3, 1);
    assert_false(qk_product_norms(&p, &norm, 1e-5f));
    for (uint32_t i = 0; i < 8; i++) {
        qk_tensor other = norm;
        p = one;
        if (i == 0) other.counts[0] = 128;
        if (i == 1) other.counts[1] = 2;
        if (i == 2) other.bytes = 2;
        if (i == 3) other.steps[0] = 8;
        if (i == 4) p.x.bytes = 2;
        if (i == 5) p.x.steps[0] = 8;
        if (i == 6) p.epilogue = &scales;
        assert_false(qk_product_norms(&p, &other, i == 7 ? 0 : 1e-5f));
        assert_true(qk_bits_of_(p.epsilon) == 0);
    }
    qk_product next = one;
    next.weights.range.offset += 64 * ROW;
    next.y.range.offset += 4096;
    p = one;
    assert_true(qk_product_norms(&p, &norm, 1e-5f));
    assert_false(qk_product_joins(&p, &next));
    /* No integers of x for others, and no tiles of many vectors. */
    const qk_kernel *kernels[MOST];
    const qk_views normed = {.epsilon = 1, .norm = norm.range};
    uint32_t packs = 0;
    backend.limits.features |= QK_FEATURE_INTEGER_DOT_PRODUCT;
    for (uint32_t i = 0, n = kernels_of("gemv", NULL, kernels); i < n; i++) {
        packs += qk_gemv_scratch(&backend, kernels[i], 4096, 4096, 8, NULL) != 0;
        assert_int_equal(qk_gemv_scratch(&backend, kernels[i], 4096, 4096, 8, &normed), 0);
    }
    assert_true(packs > 0);
    p = product_of(4096, 100, 1, 1);
    assert_true(qk_product_norms(&p, &norm, 1e-5f));
    assert_int_equal(plan(&backend, &p), QK_OK);
    assert_int_equal(p.kernel->operand_tile, 0);
    backend.limits.features &= ~QK_FEATURE_SUBGROUP_SHUFFLE;
    assert_int_equal(plan(&backend, &p), QK_ERROR_UNSUPPORTED);
}

static void test_three_joined(void **state) {
    (void)state;
    static notes a, b;
    qk_backend backend = backend_for(&a), other = backend_for(&b);
    qk_product p = joinable(192, 100, 1024);
    const qk_product k = joinable(64, 20, 256), v = joinable(128, 300, 0);
    p.x.range = (qk_range){(void *)3, 2048, 1024};
    qk_product next = v;
    next.x.range = p.x.range;
    assert_true(qk_product_joins(&p, &next));
    assert_int_equal(p.weights.counts[1], 64);
    next = k;
    next.x.range = p.x.range;
    assert_true(qk_product_joins(&p, &next));
    assert_int_equal(p.y.counts[2], 6);
    assert_int_equal(p.weights.range.offset, 20 * ROW);
    assert_int_equal(p.weights.range.size, (428 - 20) * ROW);
    assert_int_equal(p.y.range.size, (1024 + 192) * 4);
    assert_int_equal(plan(&backend, &p), QK_OK);
    assert_int_equal(qk_dispatch_product(&backend, &p, NULL), QK_OK);
    const qk_views views = {.batches = {6},
                            .weights_batches = {6},
                            .x_strides = {QK_SAME_X},
                            .parts = {{3, 80, 1024}, {2, 280, 0}, {1, 0, 256}}};
    assert_int_equal(qk_dispatch_gemv_views(&other, p.kernel, &p.weights.range, p.x.range, p.y.range, 64, 256, 1,
                                            &views, NULL, NULL),
                     QK_OK);
    assert_same(&a, &b);
    assert_int_equal(a.launches, 1);
    /* A fourth is none of three parts. */
    next = joinable(64, 600, 4096);
    next.x.range = p.x.range;
    assert_false(qk_product_joins(&p, &next));
    /* x may lie between results, not in them. */
    p.x.range.offset = 1024 * 4 + 64;
    assert_int_equal(plan(&backend, &p), QK_OK);
    assert_int_equal(qk_dispatch_product(&backend, &p, NULL), QK_ERROR_ARGUMENT);
}

/* Constants of the last launch but that of views. */
static void constants_of(const notes *n, const qk_kernel *kernel, uint64_t *values) {
    for (uint32_t i = 0; i < kernel->spec_constant_count; i++)
        values[i] =
            kernel->spec_constants[i].id == QK_CONSTANT_VIEWS ? 0 : n->words[n->size - kernel->spec_constant_count + i];
}

/* Joined matrices have the kernel and the constants of one that has all of their rows. */
static void test_joined_as_one(void **state) {
    (void)state;
    static notes a, b;
    for (uint64_t rows = 64; rows <= 32768; rows *= 2) {
        qk_backend backend = backend_for(&a), other = backend_for(&b);
        uint64_t joined[QK_MAX_CONSTANTS], one[QK_MAX_CONSTANTS];
        backend.limits.features |= QK_FEATURE_INTEGER_DOT_PRODUCT;
        other.limits.features |= QK_FEATURE_INTEGER_DOT_PRODUCT;
        qk_product p = joinable(2 * rows, 0, 0), whole = joinable(4 * rows, 0, 0);
        const qk_product k = joinable(rows, 2 * rows, 2 * rows), v = joinable(rows, 3 * rows, 3 * rows);
        assert_true(qk_product_joins(&p, &k) && qk_product_joins(&p, &v));
        p.weights.range.size = whole.weights.range.size = 4 * rows * ROW + QK_PADDING;
        assert_int_equal(plan(&backend, &p), QK_OK);
        assert_int_equal(plan(&other, &whole), QK_OK);
        assert_ptr_equal(p.kernel, whole.kernel);
        assert_int_equal(qk_dispatch_product(&backend, &p, NULL), QK_OK);
        assert_int_equal(qk_dispatch_product(&other, &whole, NULL), QK_OK);
        constants_of(&a, p.kernel, joined);
        constants_of(&b, p.kernel, one);
        assert_memory_equal(joined, one, p.kernel->spec_constant_count * sizeof *one);
    }
}

/* What is no part of one product stays as it was. */
static void test_not_joined(void **state) {
    (void)state;
    const qk_product one = joinable(192, 100, 1024);
    const qk_product others[] = {joinable(64, 20, 961),  /* its last result is the first of one */
                                 joinable(64, 20, 1215), /* and here one's last */
                                 joinable(1, 20, 256)};  /* 193 products */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        qk_product p = one;
        assert_false(qk_product_joins(&p, &others[i]));
        assert_memory_equal(&p, &one, sizeof p);
    }
    qk_product p = one, next = joinable(64, 20, 960);
    next.weights.range.offset += 2;
    assert_false(qk_product_joins(&p, &next));
    next.weights.range.offset -= 2;
    next.weights.range.buffer = (void *)9;
    assert_false(qk_product_joins(&p, &next));
    next.weights.range.buffer = one.weights.range.buffer;
    next.x.range.offset += 1024;
    assert_false(qk_product_joins(&p, &next));
    next.x.range.offset -= 1024;
    assert_true(qk_product_joins(&p, &next));
    p = one;
    next = joinable(64, 20, 1216);
    assert_true(qk_product_joins(&p, &next));
    next = joinable(192, 20, 5000);
    next.weights = tensor_of(1, 18, 32, 512, 192, 1, 1); /* other columns */
    p = one;
    assert_false(qk_product_joins(&p, &next));
    p = product_of(64, 2, 1, 1);
    next = p;
    next.weights.range.offset += 64 * ROW;
    next.y.range.offset += 4096;
    assert_false(qk_product_joins(&p, &next)); /* two vectors */
}

static void test_sets(void **state) {
    (void)state;
    static notes a, b;
    qk_backend backend = backend_for(&a), other = backend_for(&b);
    qk_product p = experts_of(8, 2, 3, 1), next = p;
    next.weights.range.offset += 16 * 64 * ROW;
    next.y.range.offset += 8192;
    assert_true(qk_product_joins(&p, &next));
    assert_int_equal(plan(&backend, &p), QK_OK);
    assert_int_equal(qk_dispatch_product(&backend, &p, NULL), QK_OK);
    const qk_expert_views v = {.sets = 2, .weights_set_stride = 16 * 64, .y_set_stride = 2048};
    assert_int_equal(qk_dispatch_gemv_id_views(&other, p.kernel, &p.weights.range, p.x.range, p.ids.range, p.y.range,
                                               p.status, 8, 64, 256, 3, 2, 1, &v, NULL, NULL),
                     QK_OK);
    assert_same(&a, &b);
    assert_int_equal(a.launches, 1);
}

/* Gate and up, whichever lies before the other, make one result. */
static void test_gates(void **state) {
    (void)state;
    static notes a, b;
    qk_backend backend = backend_for(&a), other = backend_for(&b);
    const qk_product gate = product_of(64, 1, 1, 1);
    const qk_tensor y = tensor_of(7, 4, 1, 64, 1, 1, 1), larger = tensor_of(7, 4, 1, 65, 1, 1, 1);
    qk_product up = gate, p;
    up.weights.range.offset += 70 * ROW;
    for (uint32_t gated = 1; gated <= 2; gated++) {
        qk_backend one = backend_for(&a), two = backend_for(&b);
        p = gated == 1 ? gate : up;
        assert_true(qk_product_gates(&p, gated == 1 ? &up : &gate, &y));
        assert_int_equal(plan(&one, &p), QK_OK);
        assert_int_equal(qk_dispatch_product(&one, &p, NULL), QK_OK);
        const qk_views views = {.batches = {2, 1},
                                .weights_batches = {2, 1},
                                .x_strides = {QK_SAME_X, 0},
                                .weights_strides = {70, 0},
                                .gated = gated};
        assert_int_equal(qk_dispatch_gemv_views(&two, p.kernel, &gate.weights.range, p.x.range, y.range, 64, 256, 1,
                                                &views, NULL, NULL),
                         QK_OK);
        assert_same(&a, &b);
        assert_int_equal(a.launches, 1);
    }
    p = gate;
    assert_false(qk_product_gates(&p, &up, &larger));
    assert_false(qk_product_gates(&p, &gate, &y)); /* it is the same matrix */
    up.types += 1;
    assert_false(qk_product_gates(&p, &up, &y));
    assert_int_equal(p.gated, 0);
    qk_product experts = experts_of(8, 2, 3, 1), next = experts;
    next.weights.range.offset += 16 * 64 * ROW;
    a.launches = a.size = b.launches = b.size = 0;
    assert_true(qk_product_gates(&experts, &next, &experts.y));
    assert_int_equal(plan(&backend, &experts), QK_OK);
    assert_int_equal(qk_dispatch_product(&backend, &experts, NULL), QK_OK);
    const qk_expert_views v = {.sets = 2, .weights_set_stride = 16 * 64, .gated = 1};
    assert_int_equal(qk_dispatch_gemv_id_views(&other, experts.kernel, &experts.weights.range, experts.x.range,
                                               experts.ids.range, experts.y.range, experts.status, 8, 64, 256, 3, 2, 1,
                                               &v, NULL, NULL),
                     QK_OK);
    assert_same(&a, &b);
    assert_int_equal(a.launches, 1);
}

/* Slots of a token are added up, with or without factors and a residual, of few tokens. */
static void test_adds_slots(void **state) {
    (void)state;
    const qk_product plain = experts_of(8, 2, 3, 2);
    const qk_tensor y = tensor_of(7, 4, 1, 64, 3, 1, 1), residual = tensor_of(9, 4, 1, 64, 3, 1, 1);
    const qk_tensor factors = tensor_of(8, 4, 1, 1, 2, 3, 1);
    for (uint32_t with = 0; with < 6; with++) {
        static notes a, b;
        qk_backend one = backend_for(&a), two = backend_for(&b);
        qk_epilogue epilogue, expected = {.scale_per = QK_PER_VECTOR};
        qk_product p = plain;
        if (with % 2) assert_true(qk_product_fuses(&p, &epilogue, &factors, 1, &plain.y));
        if (with % 2) expected.scale = &factors.range;
        const qk_tensor *added = with / 2 == 0 ? NULL : with / 2 == 1 ? &residual : &y;
        assert_true(qk_product_adds_slots(&p, &epilogue, added, &y));
        if (with / 2 == 1) expected.residual = &residual.range;
        expected.adds = with / 2 == 2;
        assert_int_equal(plan(&one, &p), QK_OK);
        assert_int_equal(qk_dispatch_product(&one, &p, NULL), QK_OK);
        const qk_expert_views v = {.adds_slots = 1};
        assert_int_equal(qk_dispatch_gemv_id_views(&two, p.kernel, &p.weights.range, p.x.range, p.ids.range, y.range,
                                                   p.status, 8, 64, 256, 3, 2, 2, &v, with ? &expected : NULL, NULL),
                         QK_OK);
        assert_same(&a, &b);
        assert_int_equal(a.launches, 1);
        assert_false(qk_product_adds_slots(&p, &epilogue, NULL, &y)); /* they are */
    }
    qk_epilogue epilogue;
    qk_product p = plain, dense = product_of(64, 1, 1, 3), many = experts_of(8, 2, 9, 2), sets = plain, biased = plain;
    const qk_tensor rows = tensor_of(7, 4, 1, 65, 3, 1, 1), tokens = tensor_of(7, 4, 1, 64, 4, 1, 1);
    const qk_tensor halves = tensor_of(7, 2, 1, 64, 3, 1, 1), nine = tensor_of(7, 4, 1, 64, 9, 1, 1);
    const qk_tensor bias = tensor_of(8, 4, 1, 64, 8, 1, 1);
    assert_false(qk_product_adds_slots(&p, &epilogue, NULL, &rows));
    assert_false(qk_product_adds_slots(&p, &epilogue, NULL, &tokens));
    assert_false(qk_product_adds_slots(&p, &epilogue, NULL, &halves));
    assert_false(qk_product_adds_slots(&p, &epilogue, &tokens, &y));
    assert_false(qk_product_adds_slots(&dense, &epilogue, NULL, &y));
    assert_false(qk_product_adds_slots(&many, &epilogue, NULL, &nine));
    sets.weights.counts[3] = 2;
    assert_false(qk_product_adds_slots(&sets, &epilogue, NULL, &y));
    assert_true(qk_product_fuses(&biased, &epilogue, &bias, 0, &plain.y));
    assert_false(qk_product_adds_slots(&biased, &epilogue, NULL, &y));
    assert_true(qk_product_adds_slots(&p, &epilogue, NULL, &y));
}

/* Products that share weights are one of more vectors: tiles, where one alone has too few for them. */
static void test_tiles(void **state) {
    (void)state;
    static notes a, b;
    qk_backend backend = backend_for(&a), other = backend_for(&b);
    qk_product p = product_of(64, 1, 1, 32);
    assert_int_equal(plan(&backend, &p), QK_OK);
    assert_string_equal(p.kernel->family, "gemm");
    assert_int_equal(p.scratch_bytes, qk_gemm_scratch(&backend, p.kernel, 64, 256, 32));
    assert_int_equal(qk_dispatch_product(&backend, &p, NULL), QK_OK);
    assert_int_equal(
        qk_dispatch_gemm(&other, p.kernel, &p.weights.range, p.x.range, p.scratch, p.y.range, 64, 256, 32, NULL),
        QK_OK);
    assert_same(&a, &b);
    assert_int_equal(a.packs, 1);
    p.packed = 1; /* another matrix of the same x */
    assert_int_equal(qk_dispatch_product(&backend, &p, NULL), QK_OK);
    assert_int_equal(a.packs, 1);
    assert_int_equal(a.launches, 2 * b.launches - 1);
    assert_int_equal(b.launches, 2);
    assert_int_equal(a.barriers, 1); /* the second waits for nothing */
    p = product_of(64, 8, 1, 1);
    assert_int_equal(plan(&backend, &p), QK_OK);
    assert_string_equal(p.kernel->family, "gemv");
    p = product_of(64, 9, 1, 1);
    assert_int_equal(plan(&backend, &p), QK_OK);
    assert_string_equal(p.kernel->family, "gemm");
    /* A shape that tiles do not take. */
    p.weights = tensor_of(1, 18, 32, 32 * 3, 64, 1, 1);
    p.x = tensor_of(2, 4, 1, 32 * 3, 9, 1, 1);
    assert_true(p.kernel->wide_block > 32);
    assert_int_equal(plan(&backend, &p), QK_OK);
    assert_string_equal(p.kernel->family, "gemv");
}

/* Where tiles are of parts of rows, sums of these take the place of those before, and the product waits. */
static void test_packed_parts(void **state) {
    (void)state;
    static notes n;
    qk_backend backend = backend_for(&n);
    qk_product p = product_of(64, 32, 1, 1);
    p.weights = tensor_of(1, 18, 32, 32768, 64, 1, 1);
    p.x = tensor_of(2, 4, 1, 32768, 32, 1, 1);
    assert_int_equal(plan(&backend, &p), QK_OK);
    p.scratch.size = p.scratch_bytes;
    qk_error error;
    if (qk_dispatch_product(&backend, &p, &error) != QK_OK) fail_msg("%s", error.text);
    assert_int_equal(n.launches, 3); /* operands, parts, their sums */
    assert_int_equal(n.barriers, 2);
    p.packed = 1;
    assert_int_equal(qk_dispatch_product(&backend, &p, NULL), QK_OK);
    assert_int_equal(n.launches, 5);
    assert_int_equal(n.barriers, 4);
}

static void test_experts(void **state) {
    (void)state;
    for (uint64_t tokens = 3; tokens <= 9; tokens += 6)
        for (uint64_t each = 1; each <= 2; each++) {
            static notes a, b;
            qk_backend backend = backend_for(&a), other = backend_for(&b);
            qk_product p = experts_of(8, 2, tokens, each);
            p.ids.steps[1] = 32;
            p.x.steps[2] = 4096;
            p.weights.steps[2] = 65 * ROW;
            assert_int_equal(plan(&backend, &p), QK_OK);
            assert_string_equal(p.kernel->family, tokens > 8 ? "gemm_id" : "gemv_id");
            assert_int_equal(qk_dispatch_product(&backend, &p, NULL), QK_OK);
            const qk_expert_views v = {.ids_stride = 8, .x_stride = 1024, .weights_stride = 65};
            if (tokens > 8) {
                assert_int_equal(p.scratch_bytes, qk_gemm_id_scratch(&backend, p.kernel, 8, 64, 256, tokens, 2, each));
                qk_dispatch_gemm_id_views(&other, p.kernel, &p.weights.range, p.x.range, p.ids.range, p.scratch,
                                          p.y.range, p.status, 8, 64, 256, tokens, 2, each, &v, NULL, NULL);
            } else {
                qk_dispatch_gemv_id_views(&other, p.kernel, &p.weights.range, p.x.range, p.ids.range, p.y.range,
                                          p.status, 8, 64, 256, tokens, 2, each, &v, NULL, NULL);
            }
            assert_same(&a, &b);
            if (tokens <= 8) continue;
            const uint32_t barriers = a.barriers;
            p.packed = 1; /* other weights for the same tokens: what was sorted is there */
            assert_int_equal(qk_dispatch_product(&backend, &p, NULL), QK_OK);
            assert_int_equal(b.launches, 5);
            assert_int_equal(a.launches, 6);
            assert_int_equal(a.barriers, barriers);
        }
    static notes n;
    qk_backend backend = backend_for(&n);
    qk_product p = experts_of(QK_GEMM_ID_EXPERTS + 1, 2, 9, 1);
    assert_int_equal(plan(&backend, &p), QK_OK);
    assert_string_equal(p.kernel->family, "gemv_id");
    /* Two pairs for each expert, and one more. */
    for (uint64_t tokens = 16; tokens <= 17; tokens++) {
        p = experts_of(16, 2, tokens, 1);
        assert_int_equal(plan(&backend, &p), QK_OK);
        assert_string_equal(p.kernel->family, tokens == 16 ? "gemv_id" : "gemm_id");
    }
}

/* Of few rows, matrix units take up to 16 vectors without tiles; where the device has none, or rows are many, tiles
 * begin at 9. */
static void test_sixteen(void **state) {
    (void)state;
    static notes n;
    qk_backend backend = backend_for(&n);
    const uint32_t without = backend.limits.features & ~(uint32_t)QK_FEATURE_COOPERATIVE_MATRIX;
    const struct {
        uint64_t rows, vectors;
        int units;
        const char *family;
    } cases[] = {{64, 12, 1, "gemv"}, {64, 16, 1, "gemv"}, {64, 17, 1, "gemm"},
                 {64, 12, 0, "gemm"}, {64, 8, 0, "gemv"},  {1 << 20, 12, 1, "gemm"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qk_product p = product_of(cases[i].rows, cases[i].vectors, 1, 1);
        backend.limits.features = without | (cases[i].units ? QK_FEATURE_COOPERATIVE_MATRIX | QK_FEATURE_FLOAT16 : 0);
        assert_int_equal(plan(&backend, &p), QK_OK);
        assert_string_equal(p.kernel->family, cases[i].family);
    }
}

static void test_refused(void **state) {
    (void)state;
    static notes n;
    qk_backend backend = backend_for(&n);
    const qk_product good = product_of(64, 3, 2, 4);
    qk_product p = good;
    assert_int_equal(plan(&backend, &p), QK_OK);
#define REFUSED(change)                                                                                                \
    do {                                                                                                               \
        p = good;                                                                                                      \
        change;                                                                                                        \
        assert_int_equal(plan(&backend, &p), QK_ERROR_ARGUMENT);                                                       \
    } while (0)
    REFUSED(p.weights.steps[1] = 2 * ROW);           /* rows apart */
    REFUSED(p.weights.steps[2] += 18);               /* a matrix begins within a row */
    REFUSED(p.weights.bytes = 20);                   /* of another format */
    REFUSED(p.weights.counts[2] = 3);                /* does not divide 4 */
    REFUSED(p.x.steps[1] = 0);                       /* the same vector three times */
    REFUSED(p.x.bytes = p.x.steps[0] = 2);           /* another type */
    REFUSED(p.y.steps[1] = 4);                       /* results overlap */
    REFUSED(p.y.counts[0] = 63);                     /* another shape */
    REFUSED(p.ids = tensor_of(4, 8, 1, 3, 4, 1, 1)); /* ids of 64 bits */
    p = good;
    backend.limits.features = 0;
    assert_int_equal(plan(&backend, &p), QK_ERROR_UNSUPPORTED);
    assert_int_equal(qk_plan_product(&backend, NULL, 0, INFINITY, &p, NULL), QK_ERROR_UNSUPPORTED);
}

static void test_copies(void **state) {
    (void)state;
    qk_tensor x = tensor_of(2, 4, 1, 256, 3, 2, 1);
    assert_true(qk_tensor_is_loaded(&x));
    x.steps[1] = 1028;
    assert_false(qk_tensor_is_loaded(&x));
    x.counts[1] = 1; /* of one vector, no step counts */
    assert_true(qk_tensor_is_loaded(&x));
    x.steps[0] = 8;
    assert_false(qk_tensor_is_loaded(&x));
    x = tensor_of(2, 4, 1, 256, 3, 2, 1);
    x.range.offset = 8;
    assert_false(qk_tensor_is_loaded(&x));
    x.steps[1] = 8192;
    const qk_tensor packed = tensor_of(7, 4, 1, 256, 3, 2, 1);
    qk_tensor_pack(&x, packed.range);
    assert_memory_equal(x.steps, packed.steps, sizeof x.steps);
    assert_ptr_equal(x.range.buffer, packed.range.buffer);
    /* A product packs x by itself, and leaves scratch behind it. */
    static notes n;
    qk_backend backend = backend_for(&n);
    qk_product p = product_of(64, 9, 1, 1);
    p.x.steps[0] = 8;
    p.x.steps[1] = 2048;
    assert_int_equal(plan(&backend, &p), QK_OK);
    assert_int_equal(p.copy_bytes, 9 * 1024);
    assert_true(p.scratch_bytes > 0);
    qk_product_place(&p, (qk_range){(void *)8, 512, 9 * 1024 + p.scratch_bytes});
    assert_true(p.x.range.buffer == (void *)8 && p.x.range.offset == 512 && p.x.range.size == 9 * 1024);
    assert_true(p.scratch.offset == 512 + 9 * 1024 && p.scratch.size == p.scratch_bytes);
    assert_int_equal(qk_dispatch_product(&backend, &p, NULL), QK_OK);
    assert_int_equal(n.packs, 1);
}

static void rows_case(const char *family, uint32_t index_bytes) {
    static notes a, b;
    qk_backend backend = backend_for(&a), other = backend_for(&b);
    const qk_kernel *kernel;
    (void)kernels_of(family, NULL, &kernel);
    qk_tensor table = tensor_of(1, 18, 32, 64, 10, 3, 1), values = tensor_of(2, 4, 1, 64, 4, 3, 1), ids;
    memset(&ids, 0, sizeof ids);
    values.steps[1] = 512;
    values.steps[2] = 4 * 512;
    qk_rows_view view = {.tokens = 4,
                         .batches = 3,
                         .value_step = {128, 512, 0},
                         .index_bytes = index_bytes,
                         .index_step = {1, 0, 0},
                         .index_batches = {1, 1},
                         .row_step = {1, 10, 0}};
    if (index_bytes != 0) {
        ids = tensor_of(4, index_bytes, 1, 4, 1, 1, 1);
    } else {
        table = tensor_of(1, 18, 32, 64, 4, 3, 1);
        view.row_step[1] = 4;
        view.index_step[0] = 0;
    }
    table.range.offset = 54; /* not where the device binds a buffer, but blocks behind */
    ids.range.offset = 8;
    const qk_range word = {(void *)6, 0, 4};
    assert_int_equal(qk_dispatch_rows(&backend, kernel, &table, &values, &ids, word, NULL), QK_OK);
    assert_int_equal((strcmp(family, "gather") == 0 ? qk_dispatch_gather_view : qk_dispatch_set_rows_view)(
                         &other, kernel, &table.range, ids.range, values.range, word, index_bytes != 0 ? 10 : 4, 64, 12,
                         &view, NULL),
                     QK_OK);
    assert_same(&a, &b);
    qk_tensor bad = values;
    bad.steps[0] = 8;
    assert_int_equal(qk_dispatch_rows(&backend, kernel, &table, &bad, &ids, word, NULL), QK_ERROR_ARGUMENT);
    bad = values;
    bad.counts[1] = 5;
    assert_int_equal(qk_dispatch_rows(&backend, kernel, &table, &bad, &ids, word, NULL), QK_ERROR_ARGUMENT);
    bad = table;
    bad.steps[2] += 18;
    assert_int_equal(qk_dispatch_rows(&backend, kernel, &bad, &values, &ids, word, NULL), QK_ERROR_ARGUMENT);
    if (index_bytes == 4) { /* every other index, which looks like one of 64 bits */
        ids.steps[0] = 8;
        assert_int_equal(qk_dispatch_rows(&backend, kernel, &table, &values, &ids, word, NULL), QK_ERROR_ARGUMENT);
    }
}

/* Where a call names no status word, what it counts goes to backend.spare; without both it is refused, unless nothing is counted. */
static void test_no_status(void **state) {
    (void)state;
    static notes a, b;
    const qk_range word = {(void *)6, 256, 4}, none = {NULL, 0, 0};
    const char *const families[] = {"gather", "set_rows", "gemv_id", "gemm_id"};
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t with_ids = i < 2 ? 0 : 1; with_ids < 2; with_ids++) {
            qk_backend backend = backend_for(&a), other = backend_for(&b);
            const qk_kernel *kernels[MOST];
            (void)kernels_of(families[i], NULL, kernels);
            qk_tensor table = tensor_of(1, 18, 32, 64, 4, 3, 1), values = tensor_of(2, 4, 1, 64, 4, 3, 1), ids = {0};
            if (with_ids) ids = tensor_of(4, 4, 1, 4, 1, 1, 1);
            for (int named = 2; named >= 0; named--) {
                qk_backend *to = named == 2 ? &other : &backend;
                backend.spare = named == 0 ? none : word;
                qk_product p = experts_of(8, 2, i == 3 ? 40 : 3, 1);
                p.status = named == 2 ? word : none;
                const qk_status expected = named == 0 ? QK_ERROR_ARGUMENT : QK_OK;
                if (i < 2) {
                    assert_int_equal(qk_dispatch_rows(to, kernels[0], &table, &values, &ids, p.status, NULL), expected);
                    continue;
                }
                p.kernel = kernels[0];
                assert_int_equal(qk_plan_product(to, kernels, 1, INFINITY, &p, NULL), QK_OK);
                qk_product_place(&p, (qk_range){(void *)7, 0, p.scratch_bytes});
                assert_int_equal(qk_dispatch_product(to, &p, NULL), expected);
            }
            assert_same(&a, &b);
        }
}

static void test_rows(void **state) {
    (void)state;
    for (uint32_t bytes = 0; bytes <= 8; bytes += 4) {
        rows_case("gather", bytes);
        rows_case("set_rows", bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),      cmocka_unit_test(test_same_x),       cmocka_unit_test(test_sets),
        cmocka_unit_test(test_norms),         cmocka_unit_test(test_not_normed),   cmocka_unit_test(test_gates),
        cmocka_unit_test(test_adds_slots),    cmocka_unit_test(test_three_joined), cmocka_unit_test(test_not_joined),
        cmocka_unit_test(test_joined_as_one), cmocka_unit_test(test_sixteen),      cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_packed_parts),  cmocka_unit_test(test_experts),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_copies),        cmocka_unit_test(test_rows),         cmocka_unit_test(test_no_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
