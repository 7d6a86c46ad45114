/* Dispatch of experts times many tokens, over a backend of our own: what it refuses, which launches it makes, and that
 * there is a barrier between those of which one reads what the other writes. */
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
enum { N_CONSTANTS = sizeof constants / sizeof *constants, LARGE_AT = N_CONSTANTS, LARGEST_AT, N_SIZED };

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
    /* How many tiles of each size; 513 begins; 5 blocks of 513; 1200 pairs; 75 + 513 tiles. */
    const uint64_t sorted = 4 * (3 + 513 + 5 * 513 + 1200 + 3 * (75 + 513));
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
    /* Each expert may have a tile for one pair, and so may pairs without an expert; others fill tiles. */
    const uint64_t most = (64 * 132 + rows - 1) / rows * (129 + (8000 - 129) / cols);
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
    assert_int_equal(c.scratch.size, 16 * (4 + 64 * WORDS * 4) + 4 * (3 + 3 + 3 + 16 + 3 * (1 + 3)) +
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

/* A kernel that can have tiles of several sizes, `tuned` to so many columns or not, and its sizes. */
typedef struct sized {
    uint32_t tuned, large, largest;
    bool units; /* matrix units whose operands threads hold */
    qk_spec_constant list[N_SIZED];
    qk_kernel kernel;
} sized;

static void describe(sized *z) {
    memcpy(z->list, constants, sizeof constants);
    z->list[LARGE_AT] = (qk_spec_constant){QK_CONSTANT_LARGE_COLS, "large_cols", z->large, 0, NULL};
    z->list[LARGEST_AT] = (qk_spec_constant){QK_CONSTANT_LARGEST_COLS, "largest_cols", z->largest, 0, NULL};
    for (uint32_t i = ROWS_AT; i <= COLS_AT + 2 && z->tuned != 0; i++) z->list[i].value = i <= COLS_AT ? z->tuned : 16;
    z->kernel = kernel;
    z->kernel.spec_constants = z->list;
    z->kernel.spec_constant_count = N_SIZED;
}

/* Launches of tiles. */
static log tiles_of(sized z, uint64_t experts, uint64_t cols, uint64_t tokens, uint64_t slots) {
    describe(&z);
    call c = call_of(experts, 512, cols, tokens, slots, 1);
    c.kernel = &z.kernel;
    c.backend.limits.features |= z.units ? QK_FEATURE_COOPERATIVE_MATRIX : 0;
    c.backend.limits.matrix_order_a = z.units ? 1 : 0;
    c.scratch.size = scratch_of(&c);
    qk_error error = {""};
    if (make_call(&c, &error) != QK_OK) fail_msg("%s", error.text);
    return c.log;
}

/* Where experts have many pairs in the mean, those with more have larger tiles, in a launch of their own, the first. */
static void test_two_sizes(void **state) {
    (void)state;
    const sized any = {0}, to_32 = {.tuned = 32};
    const log many = tiles_of(any, 128, 2048, 1100, 8); /* 68 */
    assert_int_equal(many.count, 9);
    for (uint32_t i = 0; i < many.count; i++) {
        if (many.steps[i] == 0) continue;
        assert_int_equal(many.values[i][LARGE_AT], 64);
        assert_int_equal(many.values[i][LARGEST_AT], 0);
    }
    assert_int_equal(many.steps[7], QK_SCHEDULE_PLAIN_TILES);
    assert_int_equal(many.steps[8], QK_SCHEDULE_PLAIN_TILES);
    assert_int_equal(many.values[7][COLS_AT], 64);
    assert_int_equal(many.values[8][COLS_AT], 32);
    assert_int_equal(many.values[3][COLS_AT], 32); /* offsets */
    assert_int_equal(many.workgroups[7], 512 / many.values[7][ROWS_AT] * (129 + (8800 - 129 * 33) / 64));
    assert_int_equal(many.workgroups[8], 512 / many.values[8][ROWS_AT] * 129);
    const log some = tiles_of(any, 128, 2048, 512, 8); /* 32 */
    assert_int_equal(some.values[7][COLS_AT], 64);
    assert_int_equal(some.values[8][COLS_AT], 32);
    const log few = tiles_of(any, 128, 2048, 511, 8), tuned = tiles_of(to_32, 128, 2048, 1100, 8);
    const log parts = tiles_of(any, 1, 4096, 256, 1);
    assert_int_equal(few.count, 8);
    assert_int_equal(few.values[7][LARGE_AT], 0);
    assert_int_equal(tuned.count, 8);
    assert_int_equal(tuned.values[7][COLS_AT], 32);
    assert_true(parts.values[7][PARTS_AT] > 1);
    assert_int_equal(parts.values[7][LARGE_AT], 0);
}

/* Three launches of tiles, of so many columns and workgroups. */
static void has_three(const log *l, const uint32_t cols[3], const uint32_t across[3]) {
    assert_int_equal(l->count, 10);
    for (uint32_t i = 0; i < l->count; i++) {
        if (l->steps[i] == 0) continue;
        assert_int_equal(l->values[i][LARGEST_AT], cols[0]);
        assert_int_equal(l->values[i][LARGE_AT], cols[1]);
        assert_int_equal(l->values[i][COLS_AT], cols[i < 7 ? 2 : i - 7]);
        if (i >= 7) assert_int_equal(l->workgroups[i], 512 / l->values[i][ROWS_AT] * across[i - 7]);
    }
}

/* Where an expert that most tokens name would fill still larger tiles, it has them, too. */
static void test_three_sizes(void **state) {
    (void)state;
    const sized units = {.units = true}, said = {.large = 32, .largest = 64}, larger = {.units = true, .largest = 256},
                no_larger = {.units = true, .largest = 64}, wide = {.units = true, .largest = 192};
    const log some = tiles_of(units, 128, 2048, 512, 8); /* 32 */
    /* Of 4096 pairs, 65 in a tile, then 33, then 1. */
    has_three(&some, (const uint32_t[]){128, 64, 32}, (const uint32_t[]){63, 124, 129});
    /* Rows that are shorter; and tiles of more columns, which gain nothing. */
    const log shorter = tiles_of(units, 128, 1792, 512, 8), more = tiles_of(units, 128, 2048, 1024, 8);
    assert_int_equal(shorter.values[7][COLS_AT], 64);
    assert_int_equal(shorter.values[7][LARGEST_AT], 0);
    assert_int_equal(more.values[7][COLS_AT], 96);
    assert_int_equal(more.values[7][LARGEST_AT], 0);
    const log said_more = tiles_of(wide, 128, 2048, 1024, 8); /* 64 */
    has_three(&said_more, (const uint32_t[]){192, 96, 64}, (const uint32_t[]){84 + 44 / 192, 126, 129});
    const log own = tiles_of(larger, 128, 2048, 512, 8);
    has_three(&own, (const uint32_t[]){256, 64, 32}, (const uint32_t[]){63, 124, 129});
    const log none = tiles_of(no_larger, 128, 2048, 512, 8);
    assert_int_equal(none.count, 9);
    assert_int_equal(none.values[7][COLS_AT], 64);
    assert_int_equal(none.values[7][LARGEST_AT], 0);
    /* Whatever the mean, where it is said. */
    const log few = tiles_of(said, 16, 2048, 100, 8);
    has_three(&few, (const uint32_t[]){64, 32, 16}, (const uint32_t[]){17 + (800 - 17 * 33) / 64, 17, 17});
    /* Tiles of no more columns; and no expert has two of them, of so few tokens. */
    const log many = tiles_of(units, 128, 2048, 2048, 8), once = tiles_of(units, 64, 2048, 255, 9);
    assert_int_equal(many.values[8][COLS_AT], 128);
    assert_int_equal(many.values[7][LARGEST_AT], 0);
    assert_int_equal(once.values[7][COLS_AT], 64);
    assert_int_equal(once.values[7][LARGEST_AT], 0);
    const log enough = tiles_of(units, 64, 2048, 256, 9);
    assert_int_equal(enough.values[7][COLS_AT], 128);
}

/* The largest size that there is. */
static uint32_t full_of(const uint32_t cols[3]) { return cols[0] != 0 ? 0 : cols[1] != 0 ? 1 : 2; }

/* As the device cuts an expert's pairs. */
static void count_tiles(const uint32_t cols[3], uint64_t pairs, uint64_t tiles[3]) {
    const uint32_t full = full_of(cols);
    uint32_t size = 2;
    tiles[full] += pairs / cols[full];
    while (cols[size] < pairs % cols[full]) size--;
    tiles[size] += pairs % cols[full] != 0;
}

/* Tiles of each size, where most experts have `each` pairs, and one has the rest: no more than are launched. */
static void cut_into(const qk_gemm_id_ *g, uint64_t each, uint64_t tiles[3]) {
    const uint32_t cols[3] = {g->sizes[0].cols, g->sizes[1].cols, g->sizes[2].cols};
    uint64_t left = g->shape.tokens * g->shape.slots, all = 0;
    memset(tiles, 0, 3 * sizeof *tiles);
    for (uint64_t e = 0; e <= g->shape.experts; e++) {
        const uint64_t own = e < g->shape.experts && left >= 2 * each ? each : left;
        count_tiles(cols, own, tiles);
        left -= own;
    }
    assert_int_equal(left, 0);
    for (uint32_t i = 0; i < 3; i++) {
        all += tiles[i];
        if (cols[i] != 0) assert_true(tiles[i] <= qk_most_tiles_across_(g, i));
    }
    assert_true(all <= qk_most_column_tiles_(g, 16)); /* for which scratch memory has room */
}

static void test_most_tiles(void **state) {
    (void)state;
    static const uint32_t columns[][3] = {{0, 0, 16}, {0, 48, 32}, {128, 64, 32}, {64, 32, 16}, {256, 0, 32}};
    uint64_t tiles[3], most[3];
    for (uint32_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        qk_gemm_id_ g = {.shape = {.experts = 31, .tokens = 0, .slots = 1}};
        for (uint32_t i = 0; i < 3; i++) g.sizes[i].cols = columns[c][i];
        for (g.shape.tokens = 1; g.shape.tokens < 2500; g.shape.tokens += g.shape.tokens < 300 ? 1 : 61) {
            memset(most, 0, sizeof most);
            /* From one for each expert to all of one, with all that full tiles may leave. */
            for (uint64_t each = 1; each <= g.shape.tokens + 1; each++) {
                cut_into(&g, each, tiles);
                for (uint32_t i = 0; i < 3; i++) most[i] = tiles[i] > most[i] ? tiles[i] : most[i];
            }
            /* Of the largest, some ids have as many. */
            const uint32_t full = full_of(columns[c]);
            assert_int_equal(most[full], qk_most_tiles_across_(&g, full));
        }
        /* And of each other: all have just too many pairs for the next smaller. */
        for (uint32_t i = full_of(columns[c]); i < 3; i++) {
            const uint64_t least = i == 2 ? 1 : columns[c][i + 1] != 0 ? columns[c][i + 1] + 1 : columns[c][2] + 1;
            if (columns[c][i] == 0) continue;
            g.shape.tokens = 32 * least;
            cut_into(&g, least, tiles);
            assert_int_equal(tiles[i], 32);
            assert_int_equal(qk_most_tiles_across_(&g, i), 32);
        }
    }
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused),     cmocka_unit_test(test_scratch),
                                       cmocka_unit_test(test_launches),    cmocka_unit_test(test_blocks),
                                       cmocka_unit_test(test_parts),       cmocka_unit_test(test_across),
                                       cmocka_unit_test(test_cut),         cmocka_unit_test(test_two_sizes),
                                       cmocka_unit_test(test_three_sizes), cmocka_unit_test(test_most_tiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
