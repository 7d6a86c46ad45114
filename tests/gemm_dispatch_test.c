/* Dispatch of a product with many columns, over a backend of our own: what it refuses, which launches it makes, and that there is a
 * barrier between those of which one reads what the other writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "qkgen/dispatch.h"

enum { BLOCK = 32, BYTES = 18, WIDE = 64, WORDS = 32, MOST = 64 };

#define EPILOGUE_BOUND(bit, NAME, field, name, many, meaning)                                                          \
    , { 0, #name, QK_ROLE_##NAME, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0 }
static const qk_binding bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, BYTES, 0, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {2, "scratch", QK_ROLE_SCRATCH, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0} QK_EPILOGUES(EPILOGUE_BOUND)};

static const qk_spec_constant constants[] = {{QK_CONSTANT_LOCAL_SIZE_X, "local_size_x", 64, 0, NULL},
                                             {QK_CONSTANT_TILE_ROWS, "tile_rows", 0, 0, NULL},
                                             {QK_CONSTANT_TILE_COLS, "tile_cols", 0, 0, NULL},
                                             {QK_CONSTANT_OWN_ROWS, "own_rows", 0, 0, NULL},
                                             {QK_CONSTANT_OWN_COLS, "own_cols", 0, 0, NULL},
                                             {QK_CONSTANT_SCHEDULE, "schedule", 0, 0, NULL},
                                             {QK_CONSTANT_K_PARTS, "k_parts", 0, 0, NULL},
                                             {QK_CONSTANT_UNIT_ROWS, "unit_rows", 16, 0, NULL},
                                             {QK_CONSTANT_UNIT_DEPTH, "unit_depth", 16, 0, NULL},
                                             {QK_CONSTANT_LANES, "lanes", 32, 0, NULL},
                                             {QK_CONSTANT_K_SLICES, "k_slices", 0, 0, NULL},
                                             {QK_CONSTANT_TOGETHER, "together", 0, 0, NULL}};
enum { N_CONSTANTS = sizeof constants / sizeof *constants };

static const qk_kernel kernel = {.abi = QK_ABI_VERSION,
                                 .name = "toy_gemm",
                                 .binding_count = 3 + QK_RESULT_BINDINGS_,
                                 .bindings = bindings,
                                 .push_bytes = QK_GEMV_PUSH_BYTES,
                                 .spec_constant_count = N_CONSTANTS,
                                 .spec_constants = constants,
                                 .workgroup_size = 64,
                                 .features = QK_FEATURE_FLOAT16,
                                 .output = QK_TYPE_F32,
                                 .block_elements = BLOCK,
                                 .tile_elements = 16,
                                 .wide_block = WIDE,
                                 .operand_tile = WIDE,
                                 .operand_words = WORDS};

/* Launches of a call, by their schedules; a barrier is 0. */
typedef struct log {
    uint32_t count, steps[MOST], workgroups[MOST], rows[MOST], first[MOST], values[MOST][N_CONSTANTS];
} log;

static qk_status note_launch(void *context, const qk_launch *launch, qk_error *error) {
    log *l = context;
    (void)error;
    assert_true(l->count < MOST);
    memcpy(l->values[l->count], launch->constants, sizeof l->values[0]);
    l->steps[l->count] = launch->constants[5];
    l->rows[l->count] = ((const uint32_t *)launch->push)[0];
    l->first[l->count] = ((const uint32_t *)launch->push)[3];
    l->workgroups[l->count++] = launch->workgroups;
    return QK_OK;
}

static qk_status note_barrier(void *context, qk_error *error) {
    log *l = context;
    (void)error;
    assert_true(l->count < MOST);
    l->steps[l->count++] = 0;
    return QK_OK;
}

static char memory[4]; /* addresses that stand for buffers */

typedef struct call {
    log log;
    qk_backend backend;
    qk_range weights, x, scratch, y;
    uint64_t rows, cols, batch;
} call;

static call call_of(uint64_t rows, uint64_t cols, uint64_t batch, int units) {
    call c = {.rows = rows, .cols = cols, .batch = batch};
    c.backend.launch = note_launch;
    c.backend.barrier = note_barrier;
    c.backend.limits.storage_range = UINT32_MAX;
    c.backend.limits.offset_alignment = 16;
    c.backend.limits.workgroup_count = 65535;
    c.backend.limits.workgroup_size = 1024;
    c.backend.limits.push_bytes = 128;
    c.backend.limits.features = QK_FEATURE_FLOAT16 | (units ? QK_FEATURE_COOPERATIVE_MATRIX : 0);
    c.backend.limits.busy_workgroups = 660; /* 132 processors */
    c.backend.limits.shared_bytes = 49152;
    c.backend.limits.matrix_order_a = units ? 1 : 0; /* of 16 x 16 times 16 x 8, that threads know */
    c.weights = (qk_range){memory, 0, rows * cols / BLOCK * BYTES};
    c.x = (qk_range){memory + 1, 0, batch * cols * 4};
    c.scratch = (qk_range){memory + 2, 0, qk_gemm_scratch(&c.backend, &kernel, rows, cols, batch)};
    c.y = (qk_range){memory + 3, 0, batch * rows * 4};
    return c;
}

static qk_status make_call_of(call *c, const qk_kernel *of, qk_error *error) {
    c->backend.context = &c->log;
    return qk_dispatch_gemm(&c->backend, of, &c->weights, c->x, c->scratch, c->y, c->rows, c->cols, c->batch, error);
}

static qk_status make_call(call *c, qk_error *error) { return make_call_of(c, &kernel, error); }

static void refuses(call *c, qk_status status, const char *text) {
    qk_error error = {""};
    assert_int_equal(make_call(c, &error), status);
    if (strstr(error.text, text) == NULL) fail_msg("'%s' has no '%s'", error.text, text);
    assert_int_equal(c->log.count, 0);
}

static void test_refused(void **state) {
    (void)state;
    call c = call_of(256, 256, 40, 0);
    c.backend.barrier = NULL;
    refuses(&c, QK_ERROR_ARGUMENT, "backend->barrier is NULL");
    c = call_of(256, 256, 40, 0);
    c.scratch.size -= 1;
    refuses(&c, QK_ERROR_SIZE, "scratch.size is");
    c = call_of(256, 256, 40, 0);
    c.scratch.buffer = c.y.buffer;
    refuses(&c, QK_ERROR_ARGUMENT, "must be apart from y");
    c = call_of(256, 256, 40, 0);
    c.y.size -= 4;
    refuses(&c, QK_ERROR_SIZE, "y.size is");
    c = call_of(256, 96, 40, 0);
    refuses(&c, QK_ERROR_ARGUMENT, "cols is 96, must be a multiple of 64; gemv takes others");
    c = call_of(256, 256, 40, 0);
    c.backend.limits.features = 0;
    refuses(&c, QK_ERROR_UNSUPPORTED, "shaderFloat16");
}

static void test_no_tiles(void **state) {
    (void)state;
    call c = call_of(256, 256, 40, 0);
    qk_kernel other = kernel;
    qk_error error = {""};
    other.operand_tile = 0;
    c.backend.context = &c.log;
    assert_int_equal(qk_dispatch_gemm(&c.backend, &other, &c.weights, c.x, c.scratch, c.y, 256, 256, 40, &error),
                     QK_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "must be a kernel of family gemm"));
    c.rows = 0;
    assert_int_equal(make_call(&c, &error), QK_OK); /* nothing */
    assert_int_equal(c.log.count, 0);
}

/* What x takes: for each column, rounded up to 16, a factor, and the words of each tile, rounded up to four. */
static void test_scratch(void **state) {
    (void)state;
    const call plain = call_of(64 * 132 * 4, 64, 17, 1);
    assert_int_equal(plain.scratch.size, 32 * (4 + 4 * WORDS * 4));
    assert_int_equal(qk_gemm_scratch(&plain.backend, &kernel, 1, UINT64_MAX / 2, UINT32_MAX), UINT64_MAX);
}

static uint32_t value(const log *l, uint32_t i, uint32_t constant) { return l->values[i][constant]; }

/* With many tiles: x, a barrier, the tiles. */
static void test_launches(void **state) {
    (void)state;
    for (int units = 0; units < 2; units++) {
        call c = call_of(16384, 4096, 512, units);
        qk_error error = {""};
        if (make_call(&c, &error) != QK_OK) fail_msg("%s", error.text);
        const uint32_t tiles = units ? QK_SCHEDULE_TILES : QK_SCHEDULE_PLAIN_TILES;
        const log *l = &c.log;
        assert_int_equal(l->count, 3);
        assert_int_equal(l->steps[0], QK_SCHEDULE_PACK);
        assert_int_equal(l->workgroups[0], 512);
        assert_int_equal(l->steps[1], 0);
        assert_int_equal(l->steps[2], tiles);
        const uint32_t rows = value(l, 2, 1), cols = value(l, 2, 2);
        assert_int_equal(l->workgroups[2], (16384 + rows - 1) / rows * ((512 + cols - 1) / cols));
        assert_int_equal(value(l, 2, 0), rows / value(l, 2, 3) * (cols / value(l, 2, 4)) * 32);
        assert_int_equal(value(l, 2, 6), 1);
    }
}

/* With few: several workgroups for each, whose sums are added behind another barrier. */
static void test_parts(void **state) {
    (void)state;
    call c = call_of(256, 16384, 16, 1);
    qk_error error = {""};
    if (make_call(&c, &error) != QK_OK) fail_msg("%s", error.text);
    const log *l = &c.log;
    const uint32_t expected[] = {QK_SCHEDULE_PACK, 0, QK_SCHEDULE_TILES, 0, QK_SCHEDULE_ADD_PARTS};
    assert_int_equal(l->count, 5);
    assert_memory_equal(l->steps, expected, sizeof expected);
    const uint32_t parts = value(l, 2, 6);
    assert_true(parts > 1);
    assert_int_equal(value(l, 4, 6), parts);
    assert_int_equal(l->workgroups[2], (256 + value(l, 2, 1) - 1) / value(l, 2, 1) * parts);
    assert_int_equal(c.scratch.size, 16 * (4 + 256 * WORDS * 4) + 256 * 16 * 4 * parts);
}

/* With few rows and some columns: slices of rows in a workgroup, so that nothing is left to be added. */
static void test_slices(void **state) {
    (void)state;
    call c = call_of(1024, 4096, 64, 1);
    qk_error error = {""};
    if (make_call(&c, &error) != QK_OK) fail_msg("%s", error.text);
    const log *l = &c.log;
    const uint32_t slices = value(l, 2, 10);
    assert_int_equal(l->count, 3);
    assert_true(slices > 1);
    assert_int_equal(value(l, 2, 6), 1);
    assert_int_equal(value(l, 2, 0), value(l, 2, 1) / value(l, 2, 3) * (value(l, 2, 2) / value(l, 2, 4)) * 32 * slices);
    assert_int_equal(l->workgroups[2], 1024 / value(l, 2, 1) * (64 / value(l, 2, 2)));

    c = call_of(1024, 4096, 64, 1);
    c.backend.limits.workgroup_size = 64; /* there is no room for them */
    c.scratch.size = qk_gemm_scratch(&c.backend, &kernel, c.rows, c.cols, c.batch);
    if (make_call(&c, &error) != QK_OK) fail_msg("%s", error.text);
    assert_int_equal(value(&c.log, 2, 10), 1);

    c = call_of(1024, 4096, 64, 0); /* no units, no slices */
    if (make_call(&c, &error) != QK_OK) fail_msg("%s", error.text);
    assert_int_equal(value(&c.log, 2, 10), 1);
}

/* Slices of a tuning are of units, and each has memory of its own. */
static void test_tuned_slices(void **state) {
    (void)state;
    qk_tuning_entry entry = {.kernel = "toy_gemm", .rows = 256, .cols = 4096, .batch = 64, .count = 5};
    const uint32_t ids[] = {QK_CONSTANT_TILE_ROWS, QK_CONSTANT_TILE_COLS, QK_CONSTANT_OWN_ROWS, QK_CONSTANT_OWN_COLS,
                            QK_CONSTANT_K_SLICES};
    const uint32_t values[] = {32, 32, 32, 16, 4};
    for (int i = 0; i < 5; i++) entry.values[i] = (qk_tuned_value){ids[i], values[i]};
    const qk_tuning tuning = {.count = 1, .entries = &entry};
    for (int i = 0; i < 3; i++) {
        call c = call_of(256, 4096, 64, i < 2);
        c.backend.tuning = &tuning;
        c.backend.limits.shared_bytes = i == 0 ? 4 * (32 * 128 + 32 * 4 + 4) + 32 * 12 : 4 * (32 * 128 + 32 * 4 + 4);
        c.scratch.size = qk_gemm_scratch(&c.backend, &kernel, c.rows, c.cols, c.batch);
        qk_error error = {""};
        if (make_call(&c, &error) != QK_OK) fail_msg("%s", error.text);
        const bool taken = value(&c.log, 2, 10) == 4 && value(&c.log, 2, 1) == 32 && value(&c.log, 2, 0) == 256;
        assert_int_equal(taken, i == 0);
        if (i == 2) assert_int_equal(value(&c.log, 2, 10), 1);
    }
}

/* Threads load for each other where choice.def says that it pays, in formats that can; that memory counts, too. */
static void test_together(void **state) {
    (void)state;
    enum { SPAN_WORDS = 68, NEEDED = 64 * 128 + 64 * 4 + 4 + 128 * SPAN_WORDS + 128 * 12 };
    qk_kernel other = kernel;
    other.span_words = SPAN_WORDS;
    for (int i = 0; i < 5; i++) {
        call c = call_of(4096, 4096, i == 2 ? 4096 : 512, i != 3);
        c.backend.limits.shared_bytes = i == 4 ? NEEDED - 1 : NEEDED;
        c.scratch.size = qk_gemm_scratch(&c.backend, &other, c.rows, c.cols, c.batch);
        qk_error error = {""};
        if (make_call_of(&c, i == 1 ? &kernel : &other, &error) != QK_OK) fail_msg("%s", error.text);
        const bool of_128 = value(&c.log, 2, 1) == 64 && value(&c.log, 2, 2) == 128;
        if (i < 2) assert_true(of_128);
        if (i == 4) assert_false(of_128);
        assert_int_equal(value(&c.log, 2, 11), i == 0);
    }
}

/* Tiles of 32 columns are so where rows have few words, those of 16 whatever they have. */
static void test_few_words(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        qk_kernel other = kernel;
        other.span_words = i % 2 ? 68 : 36;
        call c = call_of(4096, 4096, i < 2 ? 32 : 16, 1);
        qk_error error = {""};
        if (make_call_of(&c, &other, &error) != QK_OK) fail_msg("%s", error.text);
        assert_int_equal(value(&c.log, 2, 1), 16);
        assert_int_equal(value(&c.log, 2, 2), i < 2 ? 32 : 16);
        assert_int_equal(value(&c.log, 2, 11), i != 1);
    }
}

/* Some tiles are so where a processor makes two of them at most, and there is memory: 224 for 132 processors, 384,
 * 256. Those of 32 columns where it makes one, 128 of them, or 256. */
static void test_few_tiles(void **state) {
    (void)state;
    static const struct {
        uint64_t rows, batch;
        uint32_t span, shared, tile_rows, tile_cols, slices, together;
    } cases[] = {{14336, 64, 68, 49152, 64, 64, 1, 1}, {6144, 64, 68, 49152, 16, 64, 4, 0},
                 {14336, 64, 68, 16384, 64, 64, 1, 0}, {14336, 64, 0, 49152, 64, 64, 1, 0},
                 {4096, 64, 68, 49152, 16, 64, 4, 1},  {4096, 64, 0, 49152, 16, 64, 4, 0},
                 {1024, 64, 68, 49152, 16, 32, 8, 1},  {1024, 128, 68, 49152, 16, 32, 8, 0},
                 {1024, 64, 0, 49152, 16, 32, 8, 0},   {1024, 128, 36, 49152, 16, 32, 8, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qk_kernel other = kernel;
        other.span_words = cases[i].span;
        call c = call_of(cases[i].rows, 4096, cases[i].batch, 1);
        c.backend.limits.shared_bytes = cases[i].shared;
        c.scratch.size = qk_gemm_scratch(&c.backend, &other, c.rows, c.cols, c.batch);
        qk_error error = {""};
        if (make_call_of(&c, &other, &error) != QK_OK) fail_msg("%s", error.text);
        assert_int_equal(value(&c.log, 2, 1), cases[i].tile_rows);
        assert_int_equal(value(&c.log, 2, 2), cases[i].tile_cols);
        assert_int_equal(value(&c.log, 2, 10), cases[i].slices);
        assert_int_equal(value(&c.log, 2, 11), cases[i].together);
    }
}

/* A tuning may say it of any tiles. */
static void test_tuned_together(void **state) {
    (void)state;
    const uint32_t ids[] = {QK_CONSTANT_TILE_ROWS, QK_CONSTANT_TILE_COLS, QK_CONSTANT_OWN_ROWS, QK_CONSTANT_OWN_COLS,
                            QK_CONSTANT_TOGETHER};
    const uint32_t values[] = {32, 32, 32, 16, 1};
    qk_tuning_entry entry = {.kernel = "toy_gemm", .rows = 256, .cols = 4096, .batch = 64, .count = 5};
    for (int i = 0; i < 5; i++) entry.values[i] = (qk_tuned_value){ids[i], values[i]};
    const qk_tuning tuning = {.count = 1, .entries = &entry};
    for (uint32_t span = 0; span <= 36; span += 36) {
        qk_kernel other = kernel;
        other.span_words = span;
        call c = call_of(256, 4096, 64, 1);
        c.backend.tuning = &tuning;
        c.scratch.size = qk_gemm_scratch(&c.backend, &other, c.rows, c.cols, c.batch);
        qk_error error = {""};
        if (make_call_of(&c, &other, &error) != QK_OK) fail_msg("%s", error.text);
        assert_int_equal(value(&c.log, 2, 1), 32);
        assert_int_equal(value(&c.log, 2, 11), span != 0);
    }
}

/* Units of other shapes: constants are the device's; 32 threads decode together, whatever a subgroup has; and no thread has more
 * sums than fit beside its operands. Memory is for these, too. */
static void test_shapes(void **state) {
    (void)state;
    static const uint32_t shapes[][4] = {{16, 16, 16, 32}, {8, 8, 8, 8}, {8, 16, 16, 16}};
    static const uint64_t batches[] = {1, 16, 70, 512};
    for (size_t i = 0; i < 12; i++) {
        const uint32_t *shape = shapes[i / 4];
        call c = call_of(4096, 4096, batches[i % 4], 1);
        qk_limits *limits = &c.backend.limits;
        limits->matrix_order_a = 0;
        limits->matrix_rows = shape[0];
        limits->matrix_cols = shape[1];
        limits->matrix_depth = shape[2];
        limits->matrix_lanes = shape[3];
        limits->shared_bytes = 8192;
        c.scratch.size = qk_gemm_scratch(&c.backend, &kernel, c.rows, c.cols, c.batch);
        qk_error error = {""};
        if (make_call(&c, &error) != QK_OK) fail_msg("%s", error.text);
        const log *l = &c.log;
        assert_int_equal(l->steps[2], QK_SCHEDULE_TILES);
        const uint32_t rows = value(l, 2, 1), cols = value(l, 2, 2), own = value(l, 2, 3) * value(l, 2, 4);
        assert_int_equal(value(l, 2, 0), rows * cols / own * shape[3]);
        assert_int_equal(value(l, 2, 0) % 32, 0);
        assert_true(own <= 64 * shape[3]);
        assert_true((rows + cols) * 64 + rows * 4 + 4 + rows * cols / own * shape[0] * shape[1] * 4 <= 8192);
        assert_int_equal(value(l, 2, 7), shape[0]);
        assert_int_equal(value(l, 2, 8), shape[2]);
        assert_int_equal(value(l, 2, 9), shape[3]);
    }
}

/* Where units load operands, fewer sums beside many words of rows. */
static void test_many_loads(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        qk_kernel other = kernel;
        other.wide_loads = QK_TILE_MANY_LOADS - 1 + i;
        call c = call_of(4096, 4096, 512, 1);
        c.backend.limits.matrix_order_a = 0;
        c.scratch.size = qk_gemm_scratch(&c.backend, &other, c.rows, c.cols, c.batch);
        qk_error error = {""};
        if (make_call_of(&c, &other, &error) != QK_OK) fail_msg("%s", error.text);
        assert_int_equal(value(&c.log, 2, 3) * value(&c.log, 2, 4), (i ? 48 : 64) * 32);
        assert_int_equal(value(&c.log, 2, 1), 128);
    }
}

/* A tuning whose tiles are too few threads to decode is of another device: they are not taken. */
static void test_few_threads(void **state) {
    (void)state;
    const uint32_t ids[] = {QK_CONSTANT_TILE_ROWS, QK_CONSTANT_TILE_COLS, QK_CONSTANT_OWN_ROWS, QK_CONSTANT_OWN_COLS};
    qk_tuning_entry entry = {.kernel = "toy_gemm", .rows = 256, .cols = 256, .batch = 16, .count = 5};
    for (int i = 0; i < 4; i++) entry.values[i] = (qk_tuned_value){ids[i], 16};
    entry.values[4] = (qk_tuned_value){QK_CONSTANT_K_SLICES, 4}; /* 32 threads of four slices do not decode together */
    const qk_tuning tuning = {.count = 1, .entries = &entry};
    for (uint32_t lanes = 8; lanes <= 32; lanes *= 4) {
        call c = call_of(256, 256, 16, 1);
        c.backend.limits.matrix_order_a = 0;
        c.backend.limits.matrix_lanes = lanes;
        c.backend.tuning = &tuning;
        c.scratch.size = 1 << 24;
        qk_error error = {""};
        if (make_call(&c, &error) != QK_OK) fail_msg("%s", error.text);
        assert_int_equal(value(&c.log, 2, 0) % 32, 0);
        assert_int_equal(value(&c.log, 2, 10), 4);
        if (lanes == 32) assert_int_equal(value(&c.log, 2, 1), 16);
        const uint32_t own = value(&c.log, 2, 1) * value(&c.log, 2, 2) / value(&c.log, 2, 3) / value(&c.log, 2, 4);
        assert_int_equal(value(&c.log, 2, 0), own * lanes * 4);
        assert_int_equal(own * lanes % 32, 0);
    }
}

/* Weights that are larger than a binding: parts of the rows, each where it belongs in y. */
static void test_cut(void **state) {
    (void)state;
    call c = call_of(512, 16384, 16, 1);
    c.backend.limits.storage_range = 1500000;
    c.scratch.size = qk_gemm_scratch(&c.backend, &kernel, 512, 16384, 16);
    qk_error error = {""};
    if (make_call(&c, &error) != QK_OK) fail_msg("%s", error.text);
    uint32_t done = 0, before = UINT32_MAX;
    for (uint32_t i = 1; i < c.log.count; i++) {
        if (c.log.steps[i] == 0) continue;
        assert_int_equal(c.log.steps[i - 1], 0); /* behind a barrier, for sums of parts have one place */
        if (c.log.steps[i] != QK_SCHEDULE_TILES) continue;
        assert_int_equal(c.log.first[i], done);
        assert_true(before == UINT32_MAX || c.log.rows[i] <= before);
        before = c.log.rows[i];
        done += c.log.rows[i];
    }
    assert_int_equal(done, 512);
}

/* A short row has as many steps as three slices: eight of them would count as long as eight steps. */
static void test_short_rows(void **state) {
    (void)state;
    const qk_limits limits = {.features = QK_FEATURE_COOPERATIVE_MATRIX, .busy_workgroups = 660, .matrix_order_a = 1};
    qk_tiles_ t = {16, 16, 16, 16, 1, 8, QK_SCHEDULE_TILES, 32, 0, 0, 0, 256};
    const qk_tile_times_ times = {10, 6, 4};
    const uint64_t of_eight = qk_tiles_time_(&limits, &t, &times, 4096, 2048, 16, 0);
    assert_int_equal(qk_tiles_time_(&limits, &t, &times, 4096, 768, 16, 0), of_eight);
    assert_true(qk_tiles_time_(&limits, &t, &times, 4096, 2049, 16, 0) > of_eight);
    t.slices = 1;
    assert_true(qk_tiles_time_(&limits, &t, &times, 4096, 768, 16, 0) < of_eight);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_no_tiles),    cmocka_unit_test(test_scratch),
        cmocka_unit_test(test_launches),   cmocka_unit_test(test_parts),       cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_many_loads), cmocka_unit_test(test_few_threads), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_slices),     cmocka_unit_test(test_short_rows),  cmocka_unit_test(test_tuned_slices),
        cmocka_unit_test(test_together),   cmocka_unit_test(test_few_words),   cmocka_unit_test(test_tuned_together),
        cmocka_unit_test(test_few_tiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
