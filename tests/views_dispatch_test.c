/* Dispatch of sums whose x, y, ids and weights are views of larger tensors, over a backend of our own: what is refused; and that the
 * addresses which kernels make of ranges and push constants, as views.glsl says, are those that the views mean, each result once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "qkgen/dispatch.h"

enum { BLOCK = 32, BYTES = 18, WIDE = 64, MOST = 512, ALIGNMENT = 64 };

#define EPILOGUE_BOUND(bit, NAME, field, name, many, meaning)                                                          \
    , { 0, #name, QK_ROLE_##NAME, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0 }
#define BOUND(name, role, access, type)                                                                                \
    { 0, name, role, access, type, 0, 0, 0, 0, 0 }
#define WEIGHTS                                                                                                        \
    { 0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, BYTES, 0, 0, 0, 0 }
#define X BOUND("x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32)
#define SCRATCH BOUND("scratch", QK_ROLE_SCRATCH, QK_READ_WRITE, QK_TYPE_U32)
#define IDS                                                                                                            \
    BOUND("ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32), BOUND("status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32)
#define RESULTS BOUND("y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32) QK_EPILOGUES(EPILOGUE_BOUND)
static const qk_binding gemv_bindings[] = {WEIGHTS, X, RESULTS}, gemm_bindings[] = {WEIGHTS, X, SCRATCH, RESULTS},
                        gemv_id_bindings[] = {WEIGHTS, X, IDS, RESULTS},
                        gemm_id_bindings[] = {WEIGHTS, X, IDS, SCRATCH, RESULTS};

static const uint32_t schedules[] = {0, QK_SCHEDULE_ROWS, QK_SCHEDULE_WIDE, QK_SCHEDULE_SHARED, QK_SCHEDULE_TEAMS};
static const uint32_t fours[] = {512, 1024};
static const qk_spec_constant constants[] = {{QK_CONSTANT_LOCAL_SIZE_X, "local_size_x", 64, 0, NULL},
                                             {QK_CONSTANT_BATCH, "batch", 1, 0, NULL},
                                             {QK_CONSTANT_SCHEDULE, "schedule", 0, 5, schedules},
                                             {QK_CONSTANT_VIEWS, "views", 0, 0, NULL},
                                             {QK_CONSTANT_Y_TYPE, "y_type", 0, 0, NULL},
                                             {QK_CONSTANT_K_PARTS, "k_parts", 0, 0, NULL},
                                             {QK_CONSTANT_ROWS, "rows", 4, 0, NULL},
                                             {QK_CONSTANT_SPLIT, "split", 1, 0, NULL},
                                             {QK_CONSTANT_SHARED_FOURS, "shared_fours", 512, 2, fours},
                                             {QK_CONSTANT_PADDED, "padded", 0, 0, NULL}};
enum { SCHEDULE = 2, VIEWS = 3, Y_TYPE = 4, N_CONSTANTS = sizeof constants / sizeof *constants };

typedef enum family { GEMV, GEMM, GEMV_ID, GEMM_ID } family;

static qk_kernel kernel_of(family f) {
    static const qk_binding *const bindings[] = {gemv_bindings, gemm_bindings, gemv_id_bindings, gemm_id_bindings};
    static const uint32_t count[] = {2, 3, 4, 5};
    return (qk_kernel){.abi = QK_ABI_VERSION,
                       .name = "toy",
                       .binding_count = count[f] + QK_RESULT_BINDINGS_,
                       .bindings = bindings[f],
                       .push_bytes = f < GEMV_ID ? QK_GEMV_PUSH_BYTES : QK_GEMV_ID_PUSH_BYTES,
                       .spec_constant_count = N_CONSTANTS,
                       .spec_constants = constants,
                       .workgroup_size = 64,
                       .features = QK_FEATURE_FLOAT16,
                       .output = QK_TYPE_F32,
                       .block_elements = BLOCK,
                       .tile_elements = 16,
                       .wide_block = WIDE,
                       .shared_tile = 8,
                       .teams_tile = 8,
                       .teams_kept = 32,
                       .teams_block = WIDE,
                       .operand_tile = f == GEMM || f == GEMM_ID ? WIDE : 0,
                       .operand_words = 32};
}

/* What was launched. */
typedef struct record {
    uint32_t push[64], values[N_CONSTANTS], workgroups;
    qk_range ranges[QK_MAX_BINDINGS];
} record;

typedef struct log {
    uint32_t count, barriers;
    record launches[MOST];
} log;

static log noted;

static qk_status note_launch(void *context, const qk_launch *launch, qk_error *error) {
    (void)context;
    (void)error;
    assert_true(noted.count < MOST);
    record *r = &noted.launches[noted.count++];
    memcpy(r->values, launch->constants, sizeof r->values);
    memcpy(r->push, launch->push, launch->kernel->push_bytes);
    memcpy(r->ranges, launch->ranges, launch->kernel->binding_count * sizeof *r->ranges);
    r->workgroups = launch->workgroups;
    for (uint32_t i = 0; i < launch->kernel->binding_count; i++) {
        assert_int_equal(launch->ranges[i].offset % ALIGNMENT, 0);
    }
    return QK_OK;
}

static qk_status note_barrier(void *context, qk_error *error) {
    (void)context;
    (void)error;
    noted.barriers++;
    return QK_OK;
}

static char memory[8]; /* addresses that stand for buffers */

typedef struct call {
    qk_kernel kernel;
    qk_backend backend;
    qk_range weights, x, ids, scratch, y, status, residual;
    uint64_t rows, cols, batch, experts, slots, x_slots;
    qk_views views;
    qk_expert_views expert_views;
    qk_epilogue epilogue;
    family family;
    int without; /* views */
} call;

static call call_of(family f, uint64_t rows, uint64_t cols, uint64_t batch) {
    call c = {.family = f, .rows = rows, .cols = cols, .batch = batch, .experts = 3, .slots = 2, .x_slots = 1};
    c.kernel = kernel_of(f);
    c.backend.launch = note_launch;
    c.backend.barrier = note_barrier;
    c.backend.limits.storage_range = UINT32_MAX;
    c.backend.limits.offset_alignment = ALIGNMENT;
    c.backend.limits.workgroup_count = 65535;
    c.backend.limits.workgroup_size = 1024;
    c.backend.limits.push_bytes = 128;
    c.backend.limits.features = QK_FEATURE_FLOAT16;
    c.backend.limits.busy_workgroups = 660;
    c.backend.limits.subgroup_size = 32;
    c.backend.limits.shared_bytes = 49152;
    qk_range *const all[] = {&c.weights, &c.x, &c.ids, &c.scratch, &c.y, &c.status, &c.residual};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++) *all[i] = (qk_range){memory + i, 0, UINT64_C(1) << 36};
    return c;
}

static qk_status make_call(call *c, qk_error *error) {
    const qk_views *views = c->without ? NULL : &c->views;
    const qk_expert_views *expert_views = c->without ? NULL : &c->expert_views;
    memset(&noted, 0, sizeof noted);
    switch (c->family) {
    case GEMV:
        return qk_dispatch_gemv_views(&c->backend, &c->kernel, &c->weights, c->x, c->y, c->rows, c->cols, c->batch,
                                      views, &c->epilogue, error);
    case GEMM:
        return qk_dispatch_gemm_views(&c->backend, &c->kernel, &c->weights, c->x, c->scratch, c->y, c->rows, c->cols,
                                      c->batch, views, &c->epilogue, error);
    case GEMV_ID:
        return qk_dispatch_gemv_id_views(&c->backend, &c->kernel, &c->weights, c->x, c->ids, c->y, c->status,
                                         c->experts, c->rows, c->cols, c->batch, c->slots, c->x_slots, expert_views,
                                         &c->epilogue, error);
    case GEMM_ID:
        return qk_dispatch_gemm_id_views(&c->backend, &c->kernel, &c->weights, c->x, c->ids, c->scratch, c->y,
                                         c->status, c->experts, c->rows, c->cols, c->batch, c->slots, c->x_slots,
                                         expert_views, &c->epilogue, error);
    }
    return QK_ERROR_ARGUMENT;
}

static void refuses(call *c, qk_status status, const char *text) {
    qk_error error = {""};
    assert_int_equal(make_call(c, &error), status);
    if (strstr(error.text, text) == NULL) fail_msg("'%s' has no '%s'", error.text, text);
    assert_int_equal(noted.count, 0);
}

static void takes(call *c) {
    qk_error error = {""};
    if (make_call(c, &error) != QK_OK) fail_msg("%s", error.text);
}

#define CHANGED(f, change, status, text)                                                                               \
    do {                                                                                                               \
        call c = call_of(f, 128, 256, 3);                                                                              \
        change;                                                                                                        \
        refuses(&c, QK_ERROR_##status, text);                                                                          \
    } while (0)

static void test_refused_sets(void) {
    const family f = GEMV_ID;
    CHANGED(f, c.expert_views.sets = 2; c.expert_views.y_set_stride = 767, ARGUMENT,
                                        "views->y_set_stride is 767, must be at least 768, so that results do not");
    CHANGED(f, c.expert_views.sets = 3; c.expert_views.y_set_stride = 128;
            c.expert_views.y_slot_stride = 383, ARGUMENT, "views->y_slot_stride is 383, must be at least 384");
    CHANGED(f, c.expert_views.sets = 2; c.expert_views.weights_set_stride = 127, ARGUMENT,
                                        "views->weights_set_stride is 127, must be at least 128");
    CHANGED(f, c.expert_views.sets = UINT64_C(1) << 40, LIMIT, "views->sets is 1099511627776, must be at most 2796202");
    CHANGED(f, c.expert_views.sets = 2;
            c.y.size = 2 * 768 * 4 - 1, SIZE, "y.size is 6143 bytes, must be at least 6144");
    CHANGED(f, c.expert_views.sets = 2; c.weights.size = 2 * 3 * 128 * 8 * BYTES - 1, SIZE, "weights[0].size is");
    CHANGED(f, c.expert_views.sets = 2; c.expert_views.weights_set_stride = 500;
            c.weights.size = (500 + 384) * 8 * BYTES - 1, SIZE, "weights[0].size is");
    CHANGED(f, c.expert_views.sets = 2; c.expert_views.y_set_stride = 1000; c.residual.size = 1768 * 4 - 1;
            c.epilogue.residual = &c.residual, SIZE, "residual.size is 7071 bytes, must be at least 7072");
    /* There is a scale for each expert and for each pair of both sets. */
    CHANGED(f, c.expert_views.sets = 2; c.residual.size = 6 * 4 - 1;
            c.epilogue.scale = &c.residual, SIZE, "scale.size is 23 bytes, must be at least 24");
    CHANGED(f, c.expert_views.sets = 2; c.residual.size = 12 * 4 - 1; c.epilogue.scale = &c.residual;
            c.epilogue.scale_per = QK_PER_VECTOR, SIZE, "scale.size is 47 bytes, must be at least 48");
    CHANGED(f, c.expert_views.sets = 2; c.backend.limits.storage_range = 6143, LIMIT, "y takes 6144 bytes");
}

static void set_part(call *c, uint32_t part, uint64_t products, uint64_t weights, uint64_t y) {
    c->views.parts[part] = (qk_part){products, weights, y};
}

static void test_refused(void **state) {
    (void)state;
    for (family f = GEMV; f <= GEMM; f++) {
        CHANGED(f, c.views.batches[0] = 4; c.views.weights_batches[0] = 3, ARGUMENT,
                                           "views->weights_batches[0] is 3, must divide views->batches[0], 4");
        CHANGED(f, c.views.batches[1] = 4; c.views.weights_batches[1] = 5, ARGUMENT,
                                           "views->weights_batches[1] is 5, must divide views->batches[1], 4");
        CHANGED(f, c.views.batches[0] = UINT64_C(1) << 31, LIMIT, "all vectors must be below 2^32");
        CHANGED(f, c.views.y_stride = 127, ARGUMENT, "views->y_stride is 127, must be at least 128");
        CHANGED(f, c.views.batches[0] = 2;
                c.views.y_strides[0] = 383, ARGUMENT, "views->y_strides[0] is 383, must be at least 384");
        CHANGED(f, c.views.batches[1] = 2; c.views.y_strides[1] = 8, ARGUMENT, "views->y_strides[1] is 8, must be");
        /* Between vectors of a product lie those of the next, but not enough room for two of them. */
        CHANGED(f, c.views.batches[0] = 3; c.views.y_strides[0] = 128;
                c.views.y_stride = 383, ARGUMENT, "views->y_stride is 383, must be at least 384");
        CHANGED(f, c.views.batches[0] = c.views.weights_batches[0] = 3; set_part(&c, 0, 2, 0, 0);
                set_part(&c, 1, 1, 256, 767), ARGUMENT,
                "views->parts[0].y and views->parts[1].y are 767 apart, must be at least 768");
        CHANGED(f, c.views.batches[0] = c.views.weights_batches[0] = 2; set_part(&c, 0, 1, 0, 0);
                set_part(&c, 2, 1, 256, 768), ARGUMENT, "views->parts have 1 products, must have all of one");
        CHANGED(f, c.kernel.view = QK_VIEW_GROUPS;
                set_part(&c, 0, 1, 5, 0), UNSUPPORTED, "views->parts must be none where products are gated, or blocks");
        CHANGED(f, c.views.batches[0] = c.views.weights_batches[0] = 3; set_part(&c, 0, 1, 0, 768);
                set_part(&c, 1, 1, 256, 0), ARGUMENT,
                "views->parts have 2 products, must have all of one dimension, 3, with a matrix each");
        CHANGED(f, c.views.batches[0] = 4; c.views.weights_batches[0] = 2;
                c.views.parts[0].products = 4, ARGUMENT,
                "views->parts have 4 products, must have all of one dimension, 4, with a");
        CHANGED(f, c.views.batches[0] = c.views.weights_batches[0] = 2; c.views.parts[0].products = 2;
                c.epilogue.residual = &c.residual, UNSUPPORTED, "views->parts with an epilogue, must have none");
        CHANGED(f, c.views.batches[0] = c.views.weights_batches[0] = 2; set_part(&c, 0, 1, 0, 500);
                set_part(&c, 1, 1, 200, 0); c.weights.size = 328 * 8 * BYTES - 1, SIZE, "weights[0].size is");
        CHANGED(f, c.views.batches[0] = c.views.weights_batches[0] = 2; set_part(&c, 0, 1, 0, 500);
                set_part(&c, 1, 1, 200, 0);
                c.y.size = 884 * 4 - 1, SIZE, "y.size is 3535 bytes, must be at least 3536");
        CHANGED(f, c.views.x_stride = 258, ARGUMENT, "views->x_stride is 258, must be a multiple of 4");
        CHANGED(f, c.views.batches[0] = 2; c.views.weights_batches[0] = 2;
                c.views.x_strides[0] = 769, ARGUMENT, "views->x_strides[0] is 769, must be a multiple of 4");
        CHANGED(f, c.views.batches[1] = 2; c.views.weights_batches[1] = 2;
                c.views.x_strides[1] = 770, ARGUMENT, "views->x_strides[1] is 770, must be a multiple of 4");
        CHANGED(f, c.views.y_type = (qk_y_type)3, ARGUMENT, "views->y_type is 3, must be QK_Y_F32");
        CHANGED(f, c.x.offset = 8, ALIGNMENT, "x.offset is 8, must be a multiple of 16");
        CHANGED(f, c.y.offset = 2, ALIGNMENT, "y.offset is 2, must be a multiple of 4");
        CHANGED(f, c.y.offset = 1; c.views.y_type = QK_Y_F16, ALIGNMENT, "y.offset is 1, must be a multiple of 2");
        CHANGED(f, c.views.x_stride = 300;
                c.x.size = (2 * 300 + 256) * 4 - 1, SIZE, "x.size is 3423 bytes, must be at least 3424");
        CHANGED(f, c.views.y_stride = 200;
                c.y.size = (2 * 200 + 128) * 4 - 1, SIZE, "y.size is 2111 bytes, must be at least 2112");
        CHANGED(f, c.views.batches[0] = c.views.weights_batches[0] = 2; c.views.weights_strides[0] = 130;
                c.weights.size = 258 * 8 * BYTES - 1, SIZE, "weights[0].size is 37151 bytes, must be at least 37152");
        /* Without views as before. */
        CHANGED(f, c.without = 1; c.x.offset = 16, ALIGNMENT, "x.offset is 16, must be a multiple of 64");
        CHANGED(f, c.without = 1; c.y.offset = 4, ALIGNMENT, "y.offset is 4, must be a multiple of 64");
        /* The residual has its place where y has. */
        CHANGED(f, c.views.y_stride = 200; c.residual.size = (2 * 200 + 128) * 4 - 1;
                c.epilogue.residual = &c.residual, SIZE, "residual.size is 2111 bytes, must be at least 2112");
    }
    /* A word has two halves, and all of it is written. */
    CHANGED(GEMV, c.views.y_type = QK_Y_F16; c.rows = 3;
            c.y.size = 18, SIZE, "y.size is 18 bytes, must be at least 20");
    CHANGED(GEMV, c.views.y_type = QK_Y_F16; c.rows = 3; c.y.offset = 2; c.batch = 2;
            c.y.size = 13, SIZE, "y.size is 13 bytes, must be at least 14");
    CHANGED(GEMV, c.kernel.view = QK_VIEW_GROUPS; c.kernel.block_rows = 1; c.kernel.block_cols = 32;
            c.kernel.push_bytes = QK_GEMV_MATRIX_PUSH_BYTES;
            c.views.batches[0] = c.views.weights_batches[0] = 2, UNSUPPORTED,
            "views->weights_batches[0] is 2, must be 1 where blocks are patches of a matrix");
    for (family f = GEMV_ID; f <= GEMM_ID; f++) {
        CHANGED(f, c.expert_views.y_slot_stride = 100, ARGUMENT, "views->y_slot_stride is 100, must be at least 128");
        CHANGED(f, c.expert_views.y_stride = 255, ARGUMENT, "views->y_stride is 255, must be at least 256");
        CHANGED(f, c.expert_views.weights_stride = 127, ARGUMENT, "views->weights_stride is 127, must be at least 128");
        CHANGED(f, c.expert_views.x_stride = 257, ARGUMENT, "views->x_stride is 257, must be a multiple of 4");
        CHANGED(f, c.x_slots = 2; c.expert_views.x_slot_stride = 258;
                c.expert_views.x_stride = 516, ARGUMENT, "views->x_slot_stride is 258, must be a multiple of 4");
        CHANGED(f, c.expert_views.y_type = (qk_y_type)9, ARGUMENT, "views->y_type is 9, must be");
        CHANGED(f, c.ids.offset = 2, ALIGNMENT, "ids.offset is 2, must be a multiple of 4");
        CHANGED(f, c.expert_views.ids_stride = 5; c.ids.size = 47, SIZE, "ids.size is 47 bytes, must be at least 48");
        CHANGED(f, c.expert_views.weights_stride = 130;
                c.weights.size = 388 * 8 * BYTES - 1, SIZE, "weights[0].size is");
        CHANGED(f, c.without = 1; c.ids.offset = 4, ALIGNMENT, "ids.offset is 4, must be a multiple of 64");
    }
    CHANGED(GEMM_ID, c.expert_views.sets = 2, UNSUPPORTED, "views->sets is 2, must be 1 for many tokens; gemv_id");
    test_refused_sets();
}

/* ---- addresses ---- */

static uint64_t or_else(uint64_t stride, uint64_t otherwise) { return stride ? stride : otherwise; }

static uint64_t random_state = 1;

static uint64_t below(uint64_t count) {
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (random_state >> 33) % count;
}

/* From the vectors of a product to those of the next. */
static uint64_t x_step(uint64_t stride) { return stride == QK_SAME_X ? 0 : stride; }

/* Where what views mean begins, in bytes of the buffers, for product `a`, `b`, vector `m`. */
typedef struct place {
    uint64_t weights, x, y;
} place;

static place means(const call *c, uint64_t a, uint64_t b, uint64_t m) {
    const qk_views *v = &c->views;
    const uint64_t n0 = or_else(v->batches[0], 1), n1 = or_else(v->batches[1], 1);
    const uint64_t w0 = or_else(v->weights_batches[0], 1), w1 = or_else(v->weights_batches[1], 1);
    const uint64_t x = or_else(v->x_stride, c->cols), y = or_else(v->y_stride, c->rows);
    const uint64_t x0 = or_else(v->x_strides[0], c->batch * x), y0 = or_else(v->y_strides[0], c->batch * y);
    const uint64_t x_inner = n0 > 1 && x_step(x0) ? n0 * x0 : c->batch * x;
    const uint64_t x1 = or_else(v->x_strides[1], x_inner);
    const uint64_t y1 = or_else(v->y_strides[1], n0 > 1 ? n0 * y0 : c->batch * y);
    const uint64_t s0 = or_else(v->weights_strides[0], c->rows);
    const uint64_t s1 = or_else(v->weights_strides[1], w0 > 1 ? w0 * s0 : c->rows);
    uint64_t part = 0, in_part = a;
    for (; v->parts[part].products && in_part >= v->parts[part].products; part++) in_part -= v->parts[part].products;
    const qk_part *p = &v->parts[part];
    const uint64_t row = p->weights + in_part / (n0 / w0) * s0 + b / (n1 / w1) * s1;
    return (place){c->weights.offset + row * (c->cols / BLOCK) * BYTES,
                   c->x.offset + (m * x + a * x_step(x0) + b * x_step(x1)) * 4,
                   c->y.offset + (p->y + m * y + in_part * y0 + b * y1) * (v->y_type ? 2 : 4)};
}

/* All results that a call makes, each once, and what they are made of. */
static void check_addresses(const call *c) {
    const uint64_t n0 = or_else(c->views.batches[0], 1), n1 = or_else(c->views.batches[1], 1);
    const uint64_t vectors = n0 * n1 * c->batch;
    const uint32_t y_bytes = c->views.y_type ? 2 : 4, out = c->family == GEMM ? 3 : 2;
    uint8_t *done = calloc(vectors * c->rows, 1);
    for (uint32_t l = 0; l < noted.count; l++) {
        const record *r = &noted.launches[l];
        const uint32_t *push = r->push, *v = push + 6;
        const int on = r->values[VIEWS] != 0;
        const uint32_t groups = on ? v[0] : r->workgroups;
        if (r->values[SCHEDULE] == QK_SCHEDULE_PACK || r->values[SCHEDULE] == QK_SCHEDULE_ADD_PARTS) continue;
        assert_int_equal(r->values[Y_TYPE], c->views.y_type);
        assert_int_equal(r->workgroups % groups, 0);
        assert_true(r->workgroups <= c->backend.limits.workgroup_count);
        for (uint32_t i = 0; i < c->kernel.binding_count; i++)
            assert_true(r->ranges[i].size <= c->backend.limits.storage_range);
        for (uint32_t group = 0; group < r->workgroups / groups; group++)
            for (uint32_t m = 0; m < push[2]; m++)
                for (uint32_t n = 0; n < push[0]; n++) {
                    /* As views.glsl and finish.glsl have it. */
                    const uint32_t number = on ? v[1] + group : 0, inner = on ? number % v[2] : 0,
                                   outer = on ? number / v[2] : 0;
                    const uint32_t row = push[3] % push[4] + n, vector = m + push[3] / push[4];
                    const uint32_t second = on && inner >= v[17], third = on && inner >= v[18];
                    const uint32_t further = second * v[19] + third * v[20], y_further = second * v[21] + third * v[22];
                    const uint32_t weights = on ? v[6] + inner / v[4] * v[7] + outer / v[5] * v[8] + further + n : n;
                    const uint32_t x = on ? v[9] + inner * v[11] + outer * v[12] + m * v[10] : m * (uint32_t)c->cols;
                    const uint32_t at = on ? inner * v[15] + outer * v[16] + y_further + vector * v[14] + row
                                           : m * push[4] + push[3] + n;
                    const uint32_t y = on ? at + v[13] : at;
                    const uint64_t all = (uint64_t)number * (on ? v[3] : c->batch * n0 * n1) + vector;
                    assert_true(all < vectors);
                    const place p = means(c, all / c->batch % n0, all / c->batch / n0, all % c->batch);
                    const uint64_t row_bytes = c->cols / BLOCK * BYTES;
                    assert_int_equal(r->ranges[0].offset + weights * row_bytes, p.weights + row * row_bytes);
                    assert_int_equal(r->ranges[1].offset + (uint64_t)x * 4, p.x);
                    assert_int_equal(r->ranges[out].offset + (uint64_t)y * y_bytes, p.y + row * y_bytes);
                    assert_true((weights + 1) * row_bytes <= r->ranges[0].size);
                    assert_true((x + c->cols) * 4 <= r->ranges[1].size);
                    assert_true((uint64_t)(y + 1) * y_bytes <= r->ranges[out].size);
                    assert_true(r->ranges[1].offset + r->ranges[1].size <= c->x.offset + c->x.size);
                    assert_int_equal(done[all * c->rows + row]++, 0);
                    if (n == 0 && push[0] > 2) n = push[0] - 2; /* the first and the last */
                    for (uint32_t k = 1; k + 1 < push[0] && n + 1 == push[0]; k++)
                        done[all * c->rows + push[3] % push[4] + k]++;
                }
    }
    for (uint64_t i = 0; i < vectors * c->rows; i++)
        if (done[i] != 1) fail_msg("result %lu was made %u times", (unsigned long)i, done[i]);
    free(done);
}

/* Products in parts, of which weights and results have an order each. */
static void draw_parts(call *c) {
    static const uint32_t orders[][3] = {{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}};
    qk_views *v = &c->views;
    const uint64_t n = 1 + below(3), rows = or_else(v->weights_strides[0], c->rows);
    const uint64_t y = or_else(v->y_strides[0], c->batch * or_else(v->y_stride, c->rows));
    const uint32_t *of_weights = orders[below(6)], *of_y = orders[below(6)];
    uint64_t weights_end = below(3), y_end = below(3), all = 0;
    for (uint64_t i = 0; i < n; i++) all += v->parts[i].products = 1 + below(3);
    for (uint64_t i = 0; i < 3; i++) {
        qk_part *a = &v->parts[of_weights[i]], *b = &v->parts[of_y[i]];
        a->weights = a->products ? weights_end : 0;
        b->y = b->products ? y_end : 0;
        weights_end += a->products ? a->products * rows + below(3) : 0;
        y_end += b->products ? b->products * y + below(3) : 0;
    }
    v->batches[0] = v->weights_batches[0] = all;
    v->batches[1] = v->weights_batches[1] = 1;
}

/* A random call, whose x and y may be permuted. */
static call draw(family f) {
    call c = call_of(f, 1 + below(40), 64 * (1 + below(4)), 1 + below(f == GEMM ? 40 : 11));
    qk_views *v = &c.views;
    for (int d = 0; d < 2; d++) {
        v->weights_batches[d] = 1 + below(3);
        v->batches[d] = v->weights_batches[d] * (1 + below(3));
    }
    if (below(2)) v->x_stride = c.cols + 4 * below(9);
    if (below(2)) v->y_stride = c.rows + below(9);
    const uint64_t x = c.batch * or_else(v->x_stride, c.cols), y = c.batch * or_else(v->y_stride, c.rows);
    const int first = (int)below(2);
    if (below(2)) {
        v->x_strides[first] = x + 4 * below(9);
        v->x_strides[1 - first] = v->batches[first] * v->x_strides[first] + 4 * below(9);
        v->y_strides[first] = y + below(9);
        v->y_strides[1 - first] = v->batches[first] * v->y_strides[first] + below(9);
    }
    if (below(4) == 0) v->x_strides[below(2)] = QK_SAME_X;
    if (below(2)) v->weights_strides[0] = c.rows + below(3);
    if (below(2)) v->weights_strides[1] = v->weights_batches[0] * or_else(v->weights_strides[0], c.rows) + below(3);
    if (below(4) == 0) {
        v->y_stride = v->y_strides[0] = 0;
        draw_parts(&c);
    }
    v->y_type = (qk_y_type)below(3);
    if (below(2)) c.x.offset = 16 * below(9);
    if (below(2)) c.y.offset = (v->y_type ? 2 : 4) * below(9);
    if (below(2)) c.weights.offset = ALIGNMENT * below(9);
    return c;
}

static void test_addresses(void **state) {
    (void)state;
    uint32_t launches[3] = {0};
    for (uint32_t i = 0; i < 4000; i++) {
        call c = draw(i % 2 ? GEMM : GEMV);
        takes(&c);
        check_addresses(&c);
        launches[noted.count > 1]++;
        /* On a device that binds as much as one product takes. */
        const uint64_t weights = c.rows * c.cols / BLOCK * BYTES, x = c.batch * or_else(c.views.x_stride, c.cols) * 4;
        const uint64_t y = c.batch * or_else(c.views.y_stride, c.rows) * 4, steps = 32 * c.cols / BLOCK * BYTES;
        const uint64_t scratch = qk_gemm_views_scratch(&c.backend, &c.kernel, c.rows, c.cols, c.batch, &c.views);
        uint64_t most = weights + steps > x ? weights + steps : x;
        most = most > y ? most : y;
        if (i % 2 && scratch > most) most = scratch;
        /* The vectors of products with the same weights may have become one's. */
        c.backend.limits.storage_range = 9 * most + 2 * ALIGNMENT;
        takes(&c);
        check_addresses(&c);
        launches[2] += noted.count;
    }
    assert_true(launches[0] > 500 && launches[2] > 4000);
}

/* So many workgroups that a launch does not take all products. */
static void test_many_products(void **state) {
    (void)state;
    for (family f = GEMV; f <= GEMM; f++) {
        call c = call_of(f, 64, 256, 2);
        c.views.batches[0] = c.views.weights_batches[0] = 40;
        c.backend.limits.workgroup_count = 7;
        takes(&c);
        check_addresses(&c);
        assert_int_equal(noted.count, f == GEMM ? 12 : 6);
        assert_int_equal(noted.barriers, f == GEMM ? 11 : 0);
        c.backend.limits.workgroup_count = 65535;
        takes(&c);
        assert_int_equal(noted.count, f == GEMM ? 2 : 1);
    }
}

/* What costs nothing: where all lies one after the other, kernels are as without views. */
static void test_off(void **state) {
    (void)state;
    for (family f = GEMV; f <= GEMM_ID; f++) {
        call c = call_of(f, 128, 256, 3);
        c.views.x_stride = 256;
        c.views.y_stride = 128;
        takes(&c);
        for (uint32_t i = 0; i < noted.count; i++) assert_int_equal(noted.launches[i].values[VIEWS], 0);
        c.x.offset = 16;
        takes(&c);
        for (uint32_t i = 0; i < noted.count; i++) assert_int_equal(noted.launches[i].values[VIEWS], 1);
    }
    /* Products with the same weights, one after the other, are one of more vectors; as are those of single vectors with any stride. */
    call c = call_of(GEMV, 128, 256, 2);
    c.views.batches[0] = 2;
    c.views.batches[1] = 2;
    takes(&c);
    check_addresses(&c);
    assert_int_equal(noted.count, 1);
    assert_int_equal(noted.launches[0].values[VIEWS], 0);
    assert_int_equal(noted.launches[0].push[2], 8);
    c = call_of(GEMV, 128, 256, 1);
    c.views.batches[0] = 8;
    c.views.weights_batches[0] = 2;
    c.views.x_strides[0] = 300;
    takes(&c);
    check_addresses(&c);
    assert_int_equal(noted.launches[0].push[2], 4);
    assert_int_equal(noted.launches[0].workgroups, 2 * noted.launches[0].push[6]);
}

/* No sum in parts is in y where that would round it. */
static void test_halves(void **state) {
    (void)state;
    call c = call_of(GEMV, 100000, 4096, 2);
    takes(&c);
    assert_int_equal(noted.launches[0].values[SCHEDULE], QK_SCHEDULE_SHARED);
    c.views.y_type = QK_Y_BF16;
    takes(&c);
    assert_int_equal(noted.launches[0].values[SCHEDULE], QK_SCHEDULE_TEAMS);
    assert_int_equal(noted.launches[0].ranges[2].size, 2 * 100000 * 2);
    c.cols = 4096 + 32; /* no larger tiles */
    takes(&c);
    assert_int_equal(noted.launches[0].values[SCHEDULE], QK_SCHEDULE_ROWS);
}

/* Ragged rows are taken from any element on, by plain rows. */
static void test_uneven(void **state) {
    (void)state;
    call c = call_of(GEMV, 128, 256, 3);
    qk_binding bindings[sizeof gemv_bindings / sizeof *gemv_bindings];
    memcpy(bindings, gemv_bindings, sizeof bindings);
    bindings[0].item_bytes = BYTES;
    bindings[0].tile_cols = 1;
    c.kernel.bindings = bindings;
    c.kernel.view = QK_VIEW_SEQUENCE;
    c.kernel.ragged = 1;
    c.kernel.block_rows = 1;
    c.kernel.block_cols = BLOCK;
    c.kernel.push_bytes = QK_GEMV_MATRIX_PUSH_BYTES;
    c.views.x_stride = 257;
    takes(&c);
    assert_int_equal(noted.launches[0].values[SCHEDULE], QK_SCHEDULE_ROWS);
    c.views.x_stride = 260;
    takes(&c);
    assert_int_not_equal(noted.launches[0].values[SCHEDULE], QK_SCHEDULE_ROWS);
    c.x.offset = 4;
    takes(&c);
    assert_int_equal(noted.launches[0].values[SCHEDULE], QK_SCHEDULE_ROWS);
    assert_int_equal(noted.launches[0].push[9 + 9], 1); /* x_first */
}

/* ---- experts ---- */

static void test_experts(void **state) {
    (void)state;
    uint32_t cut = 0, apart = 0, together = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        call c = call_of(i % 2 ? GEMM_ID : GEMV_ID, 1 + below(40), 64 * (1 + below(4)), 1 + below(20));
        qk_expert_views *v = &c.expert_views;
        c.experts = 1 + below(i % 3 ? 6 : 60);
        c.slots = 1 + below(3);
        c.x_slots = below(2) ? c.slots : 1;
        if (below(2)) v->x_slot_stride = c.cols + 4 * below(9);
        const uint64_t x_slot = or_else(v->x_slot_stride, c.cols);
        if (below(2)) v->x_stride = c.x_slots * x_slot + 4 * below(9);
        if (below(2)) v->y_slot_stride = c.rows + below(9);
        const uint64_t y_slot = or_else(v->y_slot_stride, c.rows);
        if (below(2)) v->y_stride = c.slots * y_slot + below(9);
        if (below(2)) v->ids_stride = c.slots + below(5);
        if (below(2)) v->weights_stride = c.rows + below(5);
        if (i % 2 == 0 && below(2)) v->sets = 1 + below(4);
        const uint64_t sets = or_else(v->sets, 1);
        v->y_type = (qk_y_type)below(3);
        if (below(2)) c.x.offset = 16 * below(9);
        if (below(2)) c.ids.offset = 4 * below(9);
        if (below(2)) c.y.offset = (v->y_type ? 2 : 4) * below(9);
        const uint64_t x = or_else(v->x_stride, c.x_slots * x_slot), y = or_else(v->y_stride, c.slots * y_slot);
        const uint64_t ids = or_else(v->ids_stride, c.slots), expert = or_else(v->weights_stride, c.rows);
        if (sets > 1 && below(2)) v->y_set_stride = c.batch * y + below(30);
        if (sets > 1 && below(2)) v->weights_set_stride = c.rows + below(2 * c.experts * expert);
        const uint64_t y_set = or_else(v->y_set_stride, c.batch * y);
        const uint64_t set_rows = or_else(v->weights_set_stride, c.experts * expert);
        const uint64_t row_bytes = c.cols / BLOCK * BYTES;
        uint64_t done[8] = {0};
        const int parts = i % 3 == 0 && i % 2 == 0;
        uint64_t largest = c.batch * x > sets * y_set + y ? c.batch * x : sets * y_set + y; /* x and y fit */
        if (largest < 4 * expert * row_bytes)
            largest = 4 * expert * row_bytes; /* as many begin where they can be bound */
        if (parts) c.backend.limits.storage_range = 4 * largest + 64 * row_bytes + 256;
        takes(&c);
        cut += i % 2 == 0 && noted.count > sets;
        apart += sets > 1 && noted.count > 1;
        together += sets > 1 && noted.count == 1;
        const uint32_t out = i % 2 ? 5 : 4;
        for (uint32_t l = 0; l < noted.count; l++) {
            const record *r = &noted.launches[l];
            const uint32_t *push = r->push, *w = push + 9, pairs = (uint32_t)(c.batch * c.slots);
            const int on = r->values[VIEWS] != 0;
            const uint32_t of_launch = on ? w[9] : 1, set_first = on ? w[10] : 0;
            for (uint32_t of_all = 0; of_all < of_launch * pairs; of_all++) {
                const uint32_t slots = push[3], pair = of_all % pairs, token = pair / slots, slot = pair % slots;
                const uint32_t set = set_first + of_all / pairs, vector = push[4] == 1 ? token : pair;
                const uint32_t x_at =
                    on ? w[1] + vector / push[4] * w[3] + vector % push[4] * w[2] : vector * (uint32_t)c.cols;
                const uint32_t y_at = on ? set * w[13] + token * w[6] + slot * w[5] + w[4] : pair * (uint32_t)c.rows;
                const uint32_t id_at = on ? w[7] + token * w[8] + slot : pair;
                assert_int_equal(r->ranges[1].offset + (uint64_t)x_at * 4,
                                 c.x.offset + (token * x + (c.x_slots > 1 ? slot : 0) * x_slot) * 4);
                assert_int_equal(r->ranges[2].offset + (uint64_t)id_at * 4, c.ids.offset + (token * ids + slot) * 4);
                assert_int_equal(r->ranges[out].offset + (uint64_t)y_at * (v->y_type ? 2 : 4),
                                 c.y.offset + (set * y_set + token * y + slot * y_slot) * (v->y_type ? 2 : 4));
                assert_true((x_at + c.cols) * 4 <= r->ranges[1].size && (id_at + 1) * 4 <= r->ranges[2].size);
                assert_true((y_at + c.rows) * (v->y_type ? 2 : 4) <= r->ranges[out].size);
            }
            assert_int_equal(r->ranges[0].offset % ALIGNMENT, 0);
            assert_true(r->ranges[0].size <= c.backend.limits.storage_range);
            for (uint32_t of_all = 0; of_all < of_launch * (push[7] - push[6]) * c.rows; of_all++) {
                const uint32_t rows = push[0], n = of_all % rows, of = push[7] - push[6], e = of_all / rows % of;
                const uint32_t set = of_all / rows / of, row = e * rows + n;
                const uint32_t at = on ? w[11] + set * w[12] + row / rows * w[0] + row % rows : row;
                const uint64_t from = (set_first + set) * set_rows + (push[6] + e) * expert + n;
                assert_int_equal(r->ranges[0].offset + at * row_bytes, c.weights.offset + from * row_bytes);
                assert_true((at + 1) * row_bytes <= r->ranges[0].size);
                done[set_first + set] += i % 2 == 0;
            }
        }
        for (uint64_t set = 0; set < sets && i % 2 == 0; set++) assert_int_equal(done[set], c.experts * c.rows);
    }
    if (cut < 20 || apart < 20 || together < 20) fail_msg("%u, %u, %u", cut, apart, together);
}

/* ---- gated ---- */

static const uint32_t legal_views[] = {0, 1, 2, 3};

/* A call whose kernel takes rows of two matrices in turn. */
static call gated_call(family f, uint64_t rows, uint64_t cols, qk_spec_constant *list) {
    call c = call_of(f, rows, cols, f == GEMV ? 1 : 3);
    memcpy(list, constants, sizeof constants);
    list[VIEWS].legal_count = 3;
    list[VIEWS].legal = legal_views;
    c.kernel.spec_constants = list;
    c.views.batches[0] = c.views.weights_batches[0] = 2;
    c.views.x_strides[0] = QK_SAME_X;
    c.expert_views.sets = 2;
    c.views.gated = c.expert_views.gated = 1;
    return c;
}

/* A call whose kernel adds up the two slots of each of three tokens. */
static call added_call(uint64_t rows, uint64_t cols, qk_spec_constant *list) {
    call c = gated_call(GEMV_ID, rows, cols, list);
    list[VIEWS].legal_count = 4;
    c.expert_views.sets = 0;
    c.expert_views.gated = 0;
    c.expert_views.adds_slots = 1;
    return c;
}

#define GATED(f, change, status, text)                                                                                 \
    do {                                                                                                               \
        qk_spec_constant list[N_CONSTANTS];                                                                            \
        call c = gated_call(f, 128, 256, list);                                                                        \
        change;                                                                                                        \
        refuses(&c, QK_ERROR_##status, text);                                                                          \
    } while (0)

static void test_refused_gates(void **state) {
    (void)state;
    const char *two = "views->gated is 1, must be 0, or there must be two products, of two matrices, with one vector";
    const char *wide = "views->gated is 1, must be 0 for this shape on this device";
    GATED(GEMV, list[VIEWS].legal_count = 2, UNSUPPORTED,
          "views->gated is 1, must be 0: the kernel does not take rows");
    GATED(GEMV_ID, list[VIEWS].legal_count = 2, UNSUPPORTED, "views->gated is 1, must be 0: the kernel does not take");
    GATED(GEMV, c.views.gated = 3, ARGUMENT, "views->gated is 3, must be 0, 1 or 2");
    GATED(GEMV, c.batch = 2, ARGUMENT, two);
    GATED(GEMV, c.views.batches[0] = c.views.weights_batches[0] = 3, ARGUMENT, two);
    GATED(GEMV, c.views.batches[1] = c.views.weights_batches[1] = 2, ARGUMENT, two);
    GATED(GEMV, c.views.weights_batches[0] = 1, ARGUMENT, two);
    GATED(GEMV, c.views.x_strides[0] = 256, ARGUMENT, two);
    GATED(GEMV_ID, c.expert_views.sets = 3, ARGUMENT, "views->sets is 3, must be 2 where they are gated");
    GATED(GEMV_ID, c.expert_views.sets = 0, ARGUMENT, "views->sets is 1, must be 2 where they are gated");
    for (family f = GEMV; f <= GEMV_ID; f += GEMV_ID - GEMV) {
        GATED(f, c.epilogue.residual = &c.residual, ARGUMENT, "views->gated is 1, must be 0 with an epilogue");
        GATED(f, c.epilogue.adds = 1, ARGUMENT, "views->gated is 1, must be 0 with an epilogue");
        GATED(f, list[6].value = 1, UNSUPPORTED, wide); /* rows at a time */
        GATED(f, c.cols = 256 + 32, UNSUPPORTED, wide); /* no larger tiles */
        GATED(f, c.backend.limits.storage_range = 128 * 8 * BYTES * (f == GEMV ? 2 : 6) - 1, LIMIT,
              "views->gated is 1, must be 0 where both matrices do not fit into a binding");
    }
    GATED(GEMV, c.y.size = 128 * 4 - 1, SIZE, "y.size is 511 bytes, must be at least 512");
    GATED(GEMV, c.weights.size = 256 * 8 * BYTES - 1, SIZE, "weights[0].size is");
    GATED(GEMV_ID, c.y.size = 768 * 4 - 1, SIZE, "y.size is 3071 bytes, must be at least 3072");
    GATED(GEMV_ID, c.weights.size = 768 * 8 * BYTES - 1, SIZE, "weights[0].size is");
}

#define ADDED(change, status, text)                                                                                    \
    do {                                                                                                               \
        qk_spec_constant list[N_CONSTANTS];                                                                            \
        call c = added_call(128, 256, list);                                                                           \
        change;                                                                                                        \
        refuses(&c, QK_ERROR_##status, text);                                                                          \
    } while (0)

static void test_refused_slots(void **state) {
    (void)state;
    const char *sets = "views->adds_slots is 1, must be 0 where there are several sets";
    const char *epilogue = "views->adds_slots must be 0 for an epilogue with a bias, a gate or scales of rows";
    const char *wide = "views->adds_slots must be 0 for this shape on this device";
    ADDED(list[VIEWS].legal_count = 3, UNSUPPORTED,
          "views->adds_slots is 1, must be 0: the kernel has a result for each slot");
    ADDED(c.expert_views.sets = 2, ARGUMENT, sets);
    ADDED(c.expert_views.sets = 2; c.expert_views.gated = 1, ARGUMENT, sets);
    ADDED(c.epilogue.bias = &c.residual, UNSUPPORTED, epilogue);
    ADDED(c.epilogue.gate = &c.residual, UNSUPPORTED, epilogue);
    ADDED(c.epilogue.scale = &c.residual; c.epilogue.scale_per = QK_PER_ROW, UNSUPPORTED, epilogue);
    ADDED(c.cols = 256 + 32, UNSUPPORTED, wide); /* no larger tiles */
    ADDED(c.backend.limits.storage_range = 128 * 8 * BYTES * 3 - 1, UNSUPPORTED,
          "views->adds_slots must be 0 for experts that do not fit into a binding together");
    ADDED(c.y.size = 3 * 128 * 4 - 1, SIZE, "y.size is 1535 bytes, must be at least 1536");
    ADDED(c.epilogue.residual = &c.residual; c.residual.size = 3 * 128 * 4 - 1, SIZE, "residual.size is 1535 bytes");
    ADDED(c.epilogue.scale = &c.residual; c.epilogue.scale_per = QK_PER_VECTOR;
          c.residual.size = 6 * 4 - 1, SIZE, "scale.size is 23 bytes");
    ADDED(c.expert_views.y_stride = 127, ARGUMENT, "views->y_stride is 127, must be at least 128");
}

/* There is a result for each token, and a workgroup for each of their parts: subgroups take slots in the place of rows. */
static void test_slots(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        qk_spec_constant list[N_CONSTANTS];
        call c = added_call(1 + below(400), 64 * (1 + below(4)), list);
        c.expert_views.y_stride = c.rows + below(9);
        c.y.offset = 4 * below(9);
        takes(&c);
        assert_int_equal(noted.count, 1);
        const record *r = &noted.launches[0];
        const uint32_t *v = r->push + 9;
        assert_int_equal(r->values[VIEWS], 3);
        assert_int_equal(r->values[SCHEDULE], QK_SCHEDULE_WIDE);
        assert_int_equal(r->push[0], c.rows);
        assert_int_equal(v[5], 0); /* slots of y */
        assert_int_equal(v[6], c.expert_views.y_stride);
        assert_int_equal(v[9], 1);
        assert_int_equal(r->ranges[4].offset + v[4] * 4, c.y.offset);
        assert_true(r->workgroups <= 3 * c.rows);
    }
}

/* What is staged for slots that are added up: x of all that a workgroup has at once, where each has its own, or none, where there is no
 * room for that; and no more threads than slots want, where there are few workgroups. */
static void test_staged_slots(void **state) {
    (void)state;
    static const uint32_t runs[] = {1, 512, 1024, 2048};
    static const struct {
        uint32_t tokens, cols, slots, x_slots, shared_bytes, threads, staged;
    } shapes[] = {{1, 768, 8, 8, 49152, 256, 2048}, {1, 768, 8, 1, 49152, 256, 512}, {1, 768, 4, 4, 49152, 128, 1024},
                  {1, 256, 8, 8, 49152, 256, 512},  {1, 2048, 8, 8, 49152, 256, 1},  {1, 768, 8, 8, 36864, 256, 1},
                  {1, 512, 8, 8, 24576, 256, 1024}, {2, 768, 8, 8, 49152, 256, 1},   {8, 256, 8, 8, 49152, 512, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        qk_spec_constant list[N_CONSTANTS];
        call c = added_call(2048, shapes[i].cols, list);
        list[N_CONSTANTS - 1] = (qk_spec_constant){QK_CONSTANT_STAGED, "staged", 1, 4, runs};
        c.kernel.wide_block = BLOCK;
        c.batch = shapes[i].tokens;
        c.slots = shapes[i].slots;
        c.x_slots = shapes[i].x_slots;
        c.backend.limits.shared_bytes = shapes[i].shared_bytes;
        takes(&c);
        assert_int_equal(noted.launches[0].values[0], shapes[i].threads);
        assert_int_equal(noted.launches[0].values[N_CONSTANTS - 1], shapes[i].staged);
    }
}

/* Where rows of a launch begin, as views.glsl and finish.glsl have it. */
static void test_gates(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        qk_spec_constant list[N_CONSTANTS];
        const family f = i % 2 ? GEMV_ID : GEMV;
        call c = gated_call(f, 1 + below(40), 64 * (1 + below(4)), list);
        const uint64_t row_bytes = c.cols / BLOCK * BYTES, apart = c.rows * (f == GEMV ? 1 : c.experts) + below(9);
        const uint32_t gate = (uint32_t)below(2), d = (uint32_t)below(2);
        if (d == 1) {
            c.views.batches[1] = c.views.weights_batches[1] = 2;
            c.views.batches[0] = c.views.weights_batches[0] = 1;
            c.views.x_strides[1] = QK_SAME_X;
        }
        c.views.weights_strides[d] = c.expert_views.weights_set_stride = apart;
        c.views.gated = c.expert_views.gated = 1 + gate;
        c.y.offset = 4 * below(9);
        if (below(2)) c.weights.offset = ALIGNMENT * below(9);
        takes(&c);
        assert_int_equal(noted.count, 1);
        const record *r = &noted.launches[0];
        const uint32_t *push = r->push, *v = push + (f == GEMV ? 6 : 9);
        const uint32_t out = f == GEMV ? 2 : 4, sets = f == GEMV ? v[2] : v[9];
        assert_int_equal(r->values[VIEWS], 2);
        assert_int_equal(r->values[SCHEDULE], QK_SCHEDULE_WIDE);
        assert_int_equal(r->values[6] % 2, 0);
        assert_int_equal(push[0], 2 * c.rows);
        assert_int_equal(sets, 1);
        assert_int_equal(f == GEMV ? v[16] : v[13], gate);
        assert_int_equal(r->ranges[out].offset + (f == GEMV ? v[13] : v[4]) * 4, c.y.offset);
        for (uint32_t n = 0; n < push[0]; n++) {
            const uint64_t at = (f == GEMV ? v[6] : v[11]) + n / 2 + n % 2 * (f == GEMV ? v[8] : v[12]);
            assert_int_equal(r->ranges[0].offset + at * row_bytes,
                             c.weights.offset + (n / 2 + n % 2 * apart) * row_bytes);
            assert_true((at + 1) * row_bytes <= r->ranges[0].size);
        }
    }
    /* Of several schedules, one whose neighbours have both. */
    qk_spec_constant list[N_CONSTANTS];
    call c = gated_call(GEMV, 100000, 4096, list);
    list[SCHEDULE].value = QK_SCHEDULE_TEAMS;
    takes(&c);
    assert_int_equal(noted.launches[0].values[SCHEDULE], QK_SCHEDULE_WIDE);
    /* What a tuning has for other products is not for these. */
    const qk_tuning_entry entry = {.kernel = "toy",
                                   .rows = 256,
                                   .cols = 256,
                                   .batch = 1,
                                   .line = 1,
                                   .count = 1,
                                   .values = {{QK_CONSTANT_SPLIT, 32}}};
    const qk_tuning tuning = {.entries = (qk_tuning_entry *)(uintptr_t)&entry, .count = 1};
    c = gated_call(GEMV, 128, 256, list);
    c.backend.tuning = &tuning;
    refuses(&c, QK_ERROR_UNSUPPORTED, "no schedule for rows of two matrices in turn fits the tuning's constants");
}

/* ---- normed ---- */

static const float epsilon = 0x1p-20f;
enum { NORM = 5, EPSILON_BITS = 0x35800000 };

/* A call whose kernel norms x, with weights in the place of the residual of others. */
static call normed_call(uint64_t cols, uint64_t batch, qk_spec_constant *list) {
    call c = call_of(GEMV, 128, cols, batch);
    memcpy(list, constants, sizeof constants);
    list[NORM] = (qk_spec_constant){QK_CONSTANT_NORM, "norm", 0, 0, NULL};
    c.kernel.spec_constants = list;
    c.views.epsilon = epsilon;
    c.views.norm = c.residual;
    return c;
}

#define NORMED(change, status, text)                                                                                   \
    do {                                                                                                               \
        qk_spec_constant list[N_CONSTANTS];                                                                            \
        call c = normed_call(256, 1, list);                                                                            \
        change;                                                                                                        \
        refuses(&c, QK_ERROR_##status, text);                                                                          \
    } while (0)

static void test_refused_norms(void **state) {
    (void)state;
    const char *none = "views->epsilon is 9.53674e-07, must be 0: the kernel does not norm x";
    const char *wide = "views->epsilon is 9.53674e-07, must be 0 for this shape on this device: a workgroup must";
    CHANGED(GEMV, c.views.epsilon = epsilon, UNSUPPORTED, none);
    CHANGED(GEMM, c.views.epsilon = epsilon, UNSUPPORTED, none);
    NORMED(c.views.epsilon = -epsilon, ARGUMENT, "views->epsilon is -9.53674e-07, must be finite and positive, or 0");
    NORMED(c.views.epsilon = -0.0f, ARGUMENT, "must be finite and positive");
    NORMED(c.views.epsilon = strtof("nan", NULL), ARGUMENT, "must be finite and positive");
    NORMED(c.views.epsilon = strtof("inf", NULL), ARGUMENT, "must be finite and positive");
    NORMED(c.epilogue.scale = &c.residual, UNSUPPORTED, "epilogue->scale with views->epsilon, must be NULL");
    NORMED(c.views.norm.size = 1023, SIZE, "norm.size is 1023 bytes, must be at least 1024");
    NORMED(c.views.norm.buffer = NULL, ARGUMENT, "norm.buffer is NULL");
    NORMED(c.views.norm.offset = 32, ALIGNMENT, "norm.offset is 32");
    NORMED(c.views.norm = c.y, ARGUMENT, "y is bytes 0 to 512 of a buffer, must be apart from norm, bytes 0 to 1024");
    NORMED(c.cols = 256 + 32, UNSUPPORTED, wide); /* no larger tiles */
    NORMED(c.backend.limits.subgroup_size = 0, UNSUPPORTED, wide);
    NORMED(c.backend.limits.shared_bytes = 700, UNSUPPORTED, wide);
    const qk_tuning_entry entry = {.kernel = "toy",
                                   .rows = 128,
                                   .cols = 256,
                                   .batch = 1,
                                   .line = 1,
                                   .count = 1,
                                   .values = {{QK_CONSTANT_SPLIT, 32}}};
    const qk_tuning tuning = {.entries = (qk_tuning_entry *)(uintptr_t)&entry, .count = 1};
    NORMED(c.backend.tuning = &tuning, UNSUPPORTED, "no schedule for x that is normed fits the tuning's constants");
}

/* Of one vector all else is as without a norm. Of several, each thread has its part of all of them. */
static void test_norms(void **state) {
    (void)state;
    for (uint64_t batch = 1; batch <= 8; batch++) {
        qk_spec_constant list[N_CONSTANTS];
        call c = normed_call(64 * (1 + below(40)), batch, list);
        c.residual.offset = ALIGNMENT * below(9);
        c.views.norm = c.residual;
        takes(&c);
        assert_int_equal(noted.count, 1);
        const record with = noted.launches[0];
        assert_int_equal(with.values[NORM], EPSILON_BITS);
        assert_int_equal(with.values[SCHEDULE], QK_SCHEDULE_WIDE);
        assert_true(with.values[1] >= batch && with.values[1] * with.values[6] <= 32);
        assert_ptr_equal(with.ranges[3].buffer, c.residual.buffer);
        assert_int_equal(with.ranges[3].offset, c.residual.offset);
        assert_int_equal(with.ranges[3].size, 4 * c.cols);
        c.views.epsilon = 0;
        takes(&c);
        const record *without = &noted.launches[0];
        assert_int_equal(without->values[NORM], 0);
        assert_memory_equal(with.push, without->push, c.kernel.push_bytes);
        for (uint32_t i = 0; i < N_CONSTANTS && batch == 1; i++)
            if (i != NORM) assert_int_equal(with.values[i], without->values[i]);
    }
    qk_spec_constant list[N_CONSTANTS];
    call c = normed_call(4096, 1, list);
    list[SCHEDULE].value = QK_SCHEDULE_TEAMS;
    c.epilogue.residual = &c.ids;
    takes(&c);
    assert_int_equal(noted.launches[0].values[SCHEDULE], QK_SCHEDULE_WIDE);
    assert_int_equal(noted.launches[0].push[5], 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused),       cmocka_unit_test(test_addresses),
                                       cmocka_unit_test(test_many_products), cmocka_unit_test(test_off),
                                       cmocka_unit_test(test_halves),        cmocka_unit_test(test_uneven),
                                       cmocka_unit_test(test_experts),       cmocka_unit_test(test_refused_slots),
                                       cmocka_unit_test(test_slots),         cmocka_unit_test(test_staged_slots),
                                       cmocka_unit_test(test_refused_gates), cmocka_unit_test(test_gates),
                                       cmocka_unit_test(test_refused_norms), cmocka_unit_test(test_norms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
