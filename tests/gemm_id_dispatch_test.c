/* Dispatch of experts times many tokens, over a backend of our own: what it refuses, which launches it makes, and that
 * there is a barrier between those of which one reads what the other writes. */
#include <setjmp.h>
#include <stdarg.h>
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
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {4, "scratch", QK_ROLE_SCRATCH, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {5, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0} QK_EPILOGUES(EPILOGUE_BOUND)};

enum { ROWS_AT = 1, COLS_AT = 2, SCHEDULE_AT = 5, PARTS_AT = 6 };
static const qk_spec_constant constants[] = {{QK_CONSTANT_LOCAL_SIZE_X, "local_size_x", 64, 0, NULL},
                                             {QK_CONSTANT_TILE_ROWS, "tile_rows", 0, 0, NULL},
                                             {QK_CONSTANT_TILE_COLS, "tile_cols", 0, 0, NULL},
                                             {QK_CONSTANT_OWN_ROWS, "own_rows", 0, 0, NULL},
                                             {QK_CONSTANT_OWN_COLS, "own_cols", 0, 0, NULL},
                                             {QK_CONSTANT_SCHEDULE, "schedule", 0, 0, NULL},
                                             {QK_CONSTANT_K_PARTS, "k_parts", 0, 0, NULL}};
enum { N_CONSTANTS = sizeof constants / sizeof *constants, LARGE_AT = N_CONSTANTS, N_SIZED };

static const qk_kernel kernel = {.abi = QK_ABI_VERSION,
                                 .name = "toy_gemm_id",
                                 .binding_count = 5 + QK_RESULT_BINDINGS_,
                                 .bindings = bindings,
                                 .push_bytes = QK_GEMV_ID_PUSH_BYTES,
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
    uint32_t count, steps[MOST], workgroups[MOST], first[MOST], end[MOST], values[MOST][N_SIZED];
} log;

static qk_status note_launch(void *context, const qk_launch *launch, qk_error *error) {
    log *l = context;
    const uint32_t *push = launch->push;
    (void)error;
    assert_true(l->count < MOST);
    memcpy(l->values[l->count], launch->constants, launch->kernel->spec_constant_count * 4);
    l->steps[l->count] = launch->constants[SCHEDULE_AT];
    l->first[l->count] = push[6];
    l->end[l->count] = push[7];
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

static char memory[6]; /* addresses that stand for buffers */

typedef struct call {
    log log;
    const qk_kernel *kernel;
    qk_backend backend;
    qk_range weights, x, ids, status, scratch, y;
    uint64_t experts, rows, cols, tokens, slots, x_slots;
} call;

static uint64_t scratch_of(const call *c) {
    return qk_gemm_id_scratch(&c->backend, c->kernel, c->experts, c->rows, c->cols, c->tokens, c->slots, c->x_slots);
}

static call call_of(uint64_t experts, uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots) {
    call c = {.kernel = &kernel,
              .experts = experts,
              .rows = rows,
              .cols = cols,
              .tokens = tokens,
              .slots = slots,
              .x_slots = x_slots};
    c.backend.launch = note_launch;
    c.backend.barrier = note_barrier;
    c.backend.limits.storage_range = UINT32_MAX;
    c.backend.limits.offset_alignment = 16;
    c.backend.limits.workgroup_count = 65535;
    c.backend.limits.workgroup_size = 1024;
    c.backend.limits.push_bytes = 128;
    c.backend.limits.features = QK_FEATURE_FLOAT16;
    c.backend.limits.busy_workgroups = 660; /* 132 processors */
    c.backend.limits.shared_bytes = 49152;
    c.weights = (qk_range){memory, 0, experts * rows * cols / BLOCK * BYTES};
    c.x = (qk_range){memory + 1, 0, tokens * x_slots * cols * 4};
    c.ids = (qk_range){memory + 2, 0, tokens * slots * 4};
    c.status = (qk_range){memory + 3, 0, 4};
    c.scratch = (qk_range){memory + 4, 0, scratch_of(&c)};
    c.y = (qk_range){memory + 5, 0, tokens * slots * rows * 4};
    return c;
}

static qk_status make_call(call *c, qk_error *error) {
    c->backend.context = &c->log;
    return qk_dispatch_gemm_id(&c->backend, c->kernel, &c->weights, c->x, c->ids, c->scratch, c->y, c->status,
                               c->experts, c->rows, c->cols, c->tokens, c->slots, c->x_slots, error);
}

static void refuses(call *c, qk_status status, const char *text) {
    qk_error error = {""};
    assert_int_equal(make_call(c, &error), status);
    if (strstr(error.text, text) == NULL) fail_msg("'%s' has no '%s'", error.text, text);
    assert_int_equal(c->log.count, 0);
}

static void test_refused(void **state) {
    (void)state;
    call c = call_of(8, 256, 256, 40, 2, 1);
    c.backend.barrier = NULL;
    refuses(&c, QK_ERROR_ARGUMENT, "backend->barrier is NULL");
    c = call_of(8, 256, 256, 40, 2, 1);
    c.scratch.size -= 1;
    refuses(&c, QK_ERROR_SIZE, "scratch.size is");
    c = call_of(8, 256, 256, 40, 2, 1);
    c.x_slots = 2;
    c.scratch.size = scratch_of(&c);
    refuses(&c, QK_ERROR_SIZE, "x.size is 40960 bytes, must be at least 81920");
    c = call_of(8, 256, 256, 40, 4, 1);
    c.x_slots = 2;
    refuses(&c, QK_ERROR_ARGUMENT, "x_slots is 2, must be 1 or 4, as many as slots");
    c = call_of(8, 256, 256, 40, 2, 1);
    c.ids.size -= 1;
    refuses(&c, QK_ERROR_SIZE, "ids.size is 319 bytes, must be at least 320");
    c = call_of(8, 256, 256, 40, 2, 1);
    c.y.size -= 4;
    refuses(&c, QK_ERROR_SIZE, "y.size is");
    c = call_of(8, 256, 256, 40, 2, 1);
    c.status.buffer = c.scratch.buffer;
    refuses(&c, QK_ERROR_ARGUMENT, "must be apart from");
    c = call_of(513, 256, 256, 40, 2, 1);
    refuses(&c, QK_ERROR_LIMIT, "experts is 513, must be at most 512; gemv_id takes more");
    c = call_of(8, 256, 96, 40, 2, 1);
    refuses(&c, QK_ERROR_ARGUMENT, "cols is 96, must be a multiple of 64; gemv_id takes others");
    c = call_of(8, 256, 256, 40, 2, 1);
    c.tokens = UINT64_C(1) << 63;
    refuses(&c, QK_ERROR_LIMIT, "their product must be below 2^31");
    c = call_of(8, 256, 256, 40, 2, 1);
    c.tokens = 0;
    qk_error error = {""};
    assert_int_equal(make_call(&c, &error), QK_OK); /* nothing */
    assert_int_equal(c.log.count, 0);
}

/* x of each vector, rounded up to 16; then what is known of the pairs. */
static void test_scratch(void **state) {
    (void)state;
    const uint64_t vector = 4 + 64 * WORDS * 4; /* 64 tiles */
    const call once = call_of(512, 64 * 132, 4096, 600, 2, 1), each = call_of(512, 64 * 132, 4096, 600, 2, 2);
    /* How many tiles, and larger ones; 513 begins; 5 blocks of 513; 1200 pairs; 75 + 513 tiles. */
    const uint64_t sorted = 4 * (2 + 513 + 5 * 513 + 1200 + 3 * (75 + 513));
    assert_int_equal(once.scratch.size, 608 * vector + sorted);
    assert_int_equal(each.scratch.size, 1200 * vector + sorted);
    assert_int_equal(qk_gemm_id_scratch(&once.backend, &kernel, 513, 64, 64, 1, 1, 1), UINT64_MAX);
    assert_int_equal(qk_gemm_id_scratch(&once.backend, &kernel, 4, 64, 64, UINT64_MAX, 8, 1), UINT64_MAX);
}

static void test_launches(void **state) {
    (void)state;
    call c = call_of(128, 64 * 132, 4096, 1000, 8, 1);
    qk_error error = {""};
    if (make_call(&c, &error) != QK_OK) fail_msg("%s", error.text);
    const log *l = &c.log;
    const uint32_t expected[] = {
        QK_SCHEDULE_PACK,       QK_SCHEDULE_COUNT_PAIRS, 0, QK_SCHEDULE_OFFSETS, 0, QK_SCHEDULE_SCATTER, 0,
        QK_SCHEDULE_PLAIN_TILES};
    assert_int_equal(l->count, 8);
    assert_memory_equal(l->steps, expected, sizeof expected);
    assert_int_equal(l->workgroups[0], 1008); /* vectors: of each token one */
    assert_int_equal(l->workgroups[1], 32);   /* blocks of 256 pairs */
    assert_int_equal(l->workgroups[3], 1);
    assert_int_equal(l->workgroups[5], 32);
    const uint32_t rows = l->values[7][ROWS_AT], cols = l->values[7][COLS_AT];
    /* As many tiles as there may be, and those of pairs without an expert. */
    const uint64_t most = (64 * 132 + rows - 1) / rows * (8000 / cols + 129);
    assert_int_equal(l->workgroups[7], most < 65535 ? most : 65535);
    for (uint32_t i = 0; i < l->count; i++)
        if (l->steps[i] != 0) assert_int_equal(l->values[i][COLS_AT], cols); /* offsets count the same tiles */
}

/* With many pairs, there are no more blocks than 64. */
static void test_blocks(void **state) {
    (void)state;
    call c = call_of(4, 16, 64, 16384, 16, 1);
    qk_error error = {""};
    if (make_call(&c, &error) != QK_OK) fail_msg("%s", error.text);
    assert_int_equal(c.log.workgroups[1], 64);
}

/* With few: parts of rows, which are added behind another barrier. */
static void test_parts(void **state) {
    (void)state;
    call c = call_of(2, 256, 4096, 8, 2, 2);
    qk_error error = {""};
    if (make_call(&c, &error) != QK_OK) fail_msg("%s", error.text);
    const log *l = &c.log;
    assert_int_equal(l->count, 10);
    assert_true(l->values[7][PARTS_AT] > 1);
    assert_int_equal(l->steps[8], 0);
    assert_int_equal(l->steps[9], QK_SCHEDULE_ADD_PARTS);
    assert_int_equal(c.scratch.size, 16 * (4 + 64 * WORDS * 4) + 4 * (2 + 3 + 3 + 16 + 3 * (1 + 3)) +
                                         256 * 16 * 4 * (uint64_t)l->values[7][PARTS_AT]);
}

/* Tiles of all experts: the nearer an expert's pairs are to the columns of a tile, the more likely it has a second one. */
static void test_across(void **state) {
    (void)state;
    assert_int_equal(qk_tiles_across_(64, 1000, 0), 16);
    assert_int_equal(qk_tiles_across_(64, 8, 128), 8);
    assert_int_equal(qk_tiles_across_(256, 16384, 128), 132);
    assert_int_equal(qk_tiles_across_(192, 16384, 128), 139);
    assert_int_equal(qk_tiles_across_(128, 16384, 128), 192);
    assert_int_equal(qk_tiles_across_(64, 16384, 128), 320);
}

/* Of a kernel that can have tiles of two sizes, `tuned` to so many columns or not: launches of tiles. */
static log tiles_of(uint64_t experts, uint64_t cols, uint64_t tokens, uint64_t slots, uint32_t tuned) {
    qk_spec_constant sized[N_SIZED];
    qk_kernel two_sizes = kernel;
    memcpy(sized, constants, sizeof constants);
    sized[LARGE_AT] = (qk_spec_constant){QK_CONSTANT_LARGE_COLS, "large_cols", 0, 0, NULL};
    for (uint32_t i = ROWS_AT; i <= COLS_AT + 2 && tuned != 0; i++) sized[i].value = i <= COLS_AT ? tuned : 16;
    two_sizes.spec_constants = sized;
    two_sizes.spec_constant_count = N_SIZED;
    call c = call_of(experts, 512, cols, tokens, slots, 1);
    c.kernel = &two_sizes;
    c.scratch.size = scratch_of(&c);
    qk_error error = {""};
    if (make_call(&c, &error) != QK_OK) fail_msg("%s", error.text);
    return c.log;
}

/* Where experts have many pairs in the mean, those with more have larger tiles, in a launch of their own, the first. */
static void test_two_sizes(void **state) {
    (void)state;
    const log many = tiles_of(128, 2048, 1100, 8, 0); /* 68 */
    assert_int_equal(many.count, 9);
    for (uint32_t i = 0; i < many.count; i++)
        if (many.steps[i] != 0) assert_int_equal(many.values[i][LARGE_AT], 64);
    assert_int_equal(many.steps[7], QK_SCHEDULE_PLAIN_TILES);
    assert_int_equal(many.steps[8], QK_SCHEDULE_PLAIN_TILES);
    assert_int_equal(many.values[7][COLS_AT], 64);
    assert_int_equal(many.values[8][COLS_AT], 32);
    assert_int_equal(many.values[3][COLS_AT], 32); /* offsets */
    assert_int_equal(many.workgroups[7], 512 / many.values[7][ROWS_AT] * (8800 / 64 + 129));
    assert_int_equal(many.workgroups[8], 512 / many.values[8][ROWS_AT] * 129);
    const log some = tiles_of(128, 2048, 512, 8, 0); /* 32 */
    assert_int_equal(some.values[7][COLS_AT], 64);
    assert_int_equal(some.values[8][COLS_AT], 32);
    const log few = tiles_of(128, 2048, 511, 8, 0), tuned = tiles_of(128, 2048, 1100, 8, 32);
    const log parts = tiles_of(1, 4096, 256, 1, 0);
    assert_int_equal(few.count, 8);
    assert_int_equal(few.values[7][LARGE_AT], 0);
    assert_int_equal(tuned.count, 8);
    assert_int_equal(tuned.values[7][COLS_AT], 32);
    assert_true(parts.values[7][PARTS_AT] > 1);
    assert_int_equal(parts.values[7][LARGE_AT], 0);
}

/* Weights that are larger than a binding: parts of the experts, one after the other. Pairs are sorted once. */
static void test_cut(void **state) {
    (void)state;
    call c = call_of(10, 512, 4096, 16, 2, 1);
    c.backend.limits.storage_range = 4000000;
    c.scratch.size = scratch_of(&c);
    qk_error error = {""};
    if (make_call(&c, &error) != QK_OK) fail_msg("%s", error.text);
    uint32_t done = 0, sorts = 0;
    for (uint32_t i = 0; i < c.log.count; i++) {
        sorts += c.log.steps[i] == QK_SCHEDULE_SCATTER;
        if (c.log.steps[i] != QK_SCHEDULE_PLAIN_TILES) continue;
        assert_int_equal(c.log.first[i], done);
        assert_true(c.log.end[i] > done);
        done = c.log.end[i];
    }
    assert_int_equal(done, 10);
    assert_int_equal(sorts, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused),  cmocka_unit_test(test_scratch),
                                       cmocka_unit_test(test_launches), cmocka_unit_test(test_blocks),
                                       cmocka_unit_test(test_parts),    cmocka_unit_test(test_across),
                                       cmocka_unit_test(test_cut),      cmocka_unit_test(test_two_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
