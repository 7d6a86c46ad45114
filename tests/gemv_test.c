/* Generated kernels that sum over rows or gather them, on a device: against the C reference, with arguments in the middle of buffers, in
 * parts that the device's limits force, and with the same bits each time. */
#include "iq2_s.h"
#include "q4_0.h"
#include "q6_K.h"
#include "q8_0.h"
#include "triples.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <qkgen/dispatch.h>
#include <qkgen/vulkan.h>

#include "cli/run_epilogue.h"

static double bound = 2e-6; /* QK_NUMERIC_EXACT_SUM */

/* Beyond each array, on both sides, bytes that nothing may change. */
enum { GUARD = 0xA5, GUARD_BYTES = 64 };

static qk_vulkan *vk;
static qk_error error;

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        if ((call) != QK_OK) fail_msg("%s: %s", #call, error.text);                                                    \
    } while (0)

static uint32_t random_state;

static uint32_t random_word(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

typedef struct array {
    uint8_t *data;
    uint64_t bytes, offset;
    qk_vulkan_buffer *buffer;
    qk_range range;
} array;

/* An array that begins at the first multiple of the device's alignment that leaves room for the guard. */
static array array_new(uint64_t bytes) {
    const uint64_t alignment = qk_vulkan_backend(vk).limits.offset_alignment;
    array a = {malloc(bytes), bytes, (GUARD_BYTES / alignment + 1) * alignment, NULL, {NULL, 0, 0}};
    OK(qk_vulkan_buffer_create(vk, a.offset + bytes + GUARD_BYTES, &a.buffer, &error));
    a.range = qk_vulkan_range(a.buffer);
    a.range.offset = a.offset;
    a.range.size = bytes;
    memset(a.data, GUARD, bytes);
    return a;
}

static void upload(const array *a) {
    uint8_t *all = malloc(a->offset + a->bytes + GUARD_BYTES);
    memset(all, GUARD, a->offset + a->bytes + GUARD_BYTES);
    memcpy(all + a->offset, a->data, a->bytes);
    OK(qk_vulkan_upload(vk, a->buffer, 0, all, a->offset + a->bytes + GUARD_BYTES, &error));
    free(all);
}

static void download(array *a) {
    const uint64_t all_bytes = a->offset + a->bytes + GUARD_BYTES;
    uint8_t *all = malloc(all_bytes);
    OK(qk_vulkan_download(vk, a->buffer, 0, all, all_bytes, &error));
    for (uint64_t i = 0; i < all_bytes; i++)
        if ((i < a->offset || i >= a->offset + a->bytes) && all[i] != GUARD)
            fail_msg("byte %ld of an array of %lu was written", (long)(i - a->offset), (unsigned long)a->bytes);
    memcpy(a->data, all + a->offset, a->bytes);
    free(all);
}

static void array_free(array *a) {
    qk_vulkan_buffer_destroy(vk, a->buffer);
    free(a->data);
}

/* Random codes; the halves that are scales are near one, of either sign. */
static array weights_of(const qk_kernel *kernel, uint64_t blocks, uint32_t first, uint32_t n_scales) {
    const uint32_t bytes = kernel->bindings[0].block_bytes;
    array a = array_new(blocks * bytes);
    for (uint64_t i = 0; i < a.bytes; i++) a.data[i] = (uint8_t)random_word();
    for (uint64_t i = 0; i < blocks; i++)
        for (uint32_t s = 0; s < n_scales; s++) {
            uint8_t *high = &a.data[i * bytes + first + 2 * s + 1];
            *high = (uint8_t)((*high & 0x83) | 0x38);
        }
    upload(&a);
    return a;
}

static array floats_of(uint64_t count) {
    array a = array_new(count * 4);
    for (uint64_t i = 0; i < count; i++) {
        const float value = (float)random_word() * 0x1p-23f - 1.0f;
        memcpy(a.data + 4 * i, &value, 4);
    }
    upload(&a);
    return a;
}

static void check_near(const array *y, const float *expected, const char *what) {
    double error_sum = 0, sum = 0;
    for (uint64_t i = 0; i < y->bytes / 4; i++) {
        float got;
        memcpy(&got, y->data + 4 * i, 4);
        error_sum += ((double)got - (double)expected[i]) * ((double)got - (double)expected[i]);
        sum += (double)expected[i] * (double)expected[i];
    }
    if (!(error_sum <= bound * bound * sum)) fail_msg("%s: the relative error is %g", what, sqrt(error_sum / sum));
}

/* ---- Counting launches ------------------------------------------------------------------------------------------- */

typedef struct counter {
    qk_backend inner;
    uint32_t launches;
    uint32_t ahead; /* of them, those that load rows ahead */
    uint32_t wide;  /* those whose threads keep x for wide tiles */
    uint32_t teams; /* and those in which teams share rows */
    uint32_t barriers;
} counter;

/* A constant that all launches have, be it one that dispatch would not choose; no name: none. */
static qk_tuned_value forced = {QK_CONSTANT_NONE, 0};

/* Results are bound together with the guard behind them: a device that drops what is written beyond a binding would hide it. */
static qk_status count_launch(void *context, const qk_launch *launch, qk_error *why) {
    counter *c = context;
    qk_launch wide = *launch;
    qk_range ranges[QK_MAX_BINDINGS];
    for (uint32_t i = 0; i < launch->kernel->binding_count; i++) {
        ranges[i] = launch->ranges[i];
        if (launch->kernel->bindings[i].role == QK_ROLE_OUTPUT) ranges[i].size += GUARD_BYTES;
    }
    wide.ranges = ranges;
    uint32_t constants[QK_MAX_CONSTANTS];
    for (uint32_t i = 0; i < launch->kernel->spec_constant_count && forced.id != QK_CONSTANT_NONE; i++) {
        const qk_spec_constant *constant = &launch->kernel->spec_constants[i];
        constants[i] = launch->constants ? launch->constants[i] : constant->value;
        if (constant->id == forced.id) constants[i] = forced.value;
        wide.constants = constants;
    }
    c->launches++;
    c->wide += qk_constant_(launch->kernel, launch->constants, QK_CONSTANT_SCHEDULE, 0) == QK_SCHEDULE_WIDE;
    c->ahead += qk_constant_(launch->kernel, launch->constants, QK_CONSTANT_SCHEDULE, 0) == QK_SCHEDULE_AHEAD;
    c->teams += qk_constant_(launch->kernel, launch->constants, QK_CONSTANT_SCHEDULE, 0) == QK_SCHEDULE_TEAMS;
    return c->inner.launch(c->inner.context, &wide, why);
}

static const qk_tuning *tuning;
#define AS_CHOSEN UINT32_MAX              /* for the device */
static uint32_t ahead, teams = AS_CHOSEN; /* launches that load rows ahead, or have teams, as a test expects */
static int keeps_several;                 /* whether threads keep all right-hand sides, in wide tiles if not ahead */

static qk_backend counted(counter *c, uint64_t range) {
    c->inner = qk_vulkan_backend(vk);
    c->launches = c->wide = c->ahead = c->teams = 0;
    qk_backend backend = c->inner;
    backend.context = c;
    backend.launch = count_launch;
    backend.tuning = tuning;
    backend.limits.storage_range = qk_min_(range, backend.limits.storage_range);
    return backend;
}

/* ---- gemv -------------------------------------------------------------------------------------------------------- */

typedef void reference(const void *const weights[1], const float *x, uint64_t rows, uint64_t cols, uint64_t batch,
                       float *y);

typedef struct format {
    const qk_kernel *kernel;
    reference *expected;
    uint32_t scales_at, n_scales; /* in a block */
} format;

enum { Q4_0, Q6_K, TRIPLES, FORMATS, IQ2_S = FORMATS };

static const format formats[FORMATS + 1] = {{&qk_q4_0_gemv_f32_vulkan, qk_q4_0_gemv_f32_ref, 0, 1},
                                            {&qk_q6_K_gemv_f32_vulkan, qk_q6_K_gemv_f32_ref, 208, 1},
                                            {&qk_triples_gemv_f32_vulkan, qk_triples_gemv_f32_ref, 0, 2},
                                            {&qk_iq2_s_gemv_f32_vulkan, qk_iq2_s_gemv_f32_ref, 0, 1}};

/* ---- Epilogues --------------------------------------------------------------------------------------------------- */

static uint32_t parts;    /* of the epilogue: bits as kernels take them */
static qk_many scale_per; /* where there is a scale */

static const uint32_t epilogue_bits[] = {
#define BIT(bit, ...) bit,
    QK_EPILOGUES(BIT)
#undef BIT
};

/* Its values on the device and here; what y holds before is of the same kind. */
typedef struct met {
    qg_epilogue all;
    array values[QG_N_EPILOGUES], before;
    qk_range ranges[QG_N_EPILOGUES];
} met;

/* Quarters from -4 to 4, none of them zero. */
static array quarters(uint64_t count, uint32_t step) {
    array all = array_new(4 * count);
    for (uint64_t i = 0; i < count; i++) {
        const int number = (int)((i * step + step) % 32) - 16;
        ((float *)(void *)all.data)[i] = (float)(number < 0 ? number : number + 1) / 4;
    }
    upload(&all);
    return all;
}

static met met_new(uint64_t rows, uint64_t vectors, uint64_t experts, const uint32_t *ids) {
    met m = {.all = {.rows = rows, .vectors = vectors, .experts = experts, .ids = ids, .scale_per = scale_per}};
    m.before = quarters(rows * vectors, 5);
    if (parts & QK_ADDS_TO_Y_) m.all.before = (const float *)(const void *)m.before.data;
    for (uint32_t i = 0; i < QG_N_EPILOGUES; i++) {
        m.values[i] = quarters(qg_epilogue_count(&m.all, (qg_epilogue_id)i), 7 + 4 * i);
        m.ranges[i] = m.values[i].range;
        if (parts & epilogue_bits[i]) m.all.values[i] = (const float *)(const void *)m.values[i].data;
    }
    return m;
}

static void met_free(met *m) {
    for (uint32_t i = 0; i < QG_N_EPILOGUES; i++) array_free(&m->values[i]);
    array_free(&m->before);
}

/* What becomes of sums. */
static void meet(const met *m, float *sums) {
    double limit = 0;
    for (uint64_t i = 0; i < m->all.rows * m->all.vectors; i++)
        sums[i] = (float)qg_epilogue_result(&m->all, (double)sums[i], i, &limit);
}

static void fill_results(const met *m, array *y) {
    memset(y->data, GUARD, y->bytes);
    if (m->all.before) memcpy(y->data, m->all.before, y->bytes);
    upload(y);
}

/* Three times with the same bits, in so many launches. */
static void run_gemv(const format *f, uint64_t rows, uint64_t cols, uint64_t batch, uint64_t range, uint32_t launches) {
    const uint64_t blocks = rows * (cols / f->kernel->block_elements);
    array weights = weights_of(f->kernel, blocks, f->scales_at, f->n_scales), x = floats_of(batch * cols);
    array y = array_new(batch * rows * 4);
    float *expected = malloc(y.bytes);
    uint8_t *before = malloc(y.bytes);
    const void *const data[] = {weights.data};
    f->expected(data, (const float *)(const void *)x.data, rows, cols, batch, expected);
    met m = met_new(rows, batch, 0, NULL);
    meet(&m, expected);
    for (int again = 0; again < 3; again++) {
        counter c;
        const qk_backend backend = counted(&c, range);
        fill_results(&m, &y);
        if (again == 2) weights.range.size += GUARD_BYTES; /* as an engine's buffers do, it goes on */
        OK(qk_vulkan_begin(vk, &error));
        const qk_epilogue epilogue = qg_epilogue_ranges(&m.all, m.ranges);
        OK(qk_dispatch_gemv_with(&backend, f->kernel, &weights.range, x.range, y.range, rows, cols, batch, &epilogue,
                                 &error));
        OK(qk_vulkan_submit(vk, &error));
        download(&y);
        check_near(&y, expected, f->kernel->name);
        assert_int_equal(c.launches, launches);
        assert_int_equal(c.ahead, ahead);
        if (teams != AS_CHOSEN) assert_int_equal(c.teams, teams);
        if (keeps_several) assert_int_equal(c.wide + c.ahead, c.launches);
        if (again > 0) assert_memory_equal(before, y.data, y.bytes);
        memcpy(before, y.data, y.bytes);
    }
    array_free(&weights);
    array_free(&x);
    array_free(&y);
    met_free(&m);
    free(expected);
    free(before);
}

static void test_batches(void **state) {
    (void)state;
    for (uint32_t f = 0; f < FORMATS; f++)
        for (uint64_t batch = 1; batch <= 8; batch++) run_gemv(&formats[f], 3 * batch + 2, 768, batch, UINT64_MAX, 1);
}

static void test_shapes(void **state) {
    (void)state;
    for (uint32_t f = 0; f < FORMATS; f++) {
        run_gemv(&formats[f], 1, formats[f].kernel->block_elements, 1, UINT64_MAX, 1);
        run_gemv(&formats[f], 257, formats[f].kernel->block_elements, 3, UINT64_MAX, 1);
        run_gemv(&formats[f], 3, f == TRIPLES ? 65535 : 65536, 1, UINT64_MAX, 1);
        run_gemv(&formats[f], 67, 9 * 768, 2, UINT64_MAX, 1);
    }
}

/* x that a workgroup loads together: less than a part of it, some parts, and more than it keeps. */
static void test_staged(void **state) {
    static const uint64_t cols[] = {256, 2304, 4096, 16384};
    (void)state;
    for (uint32_t f = 0; f < TRIPLES; f++)
        for (uint32_t threads = 64; threads <= 256; threads *= 4)
            for (uint32_t i = 0; i < sizeof cols / sizeof *cols; i++) {
                qk_tuning_entry entry = {.rows = 1, .cols = 1, .batch = 1, .count = 3};
                const qk_tuning staged = {.count = 1, .entries = &entry};
                snprintf(entry.kernel, sizeof entry.kernel, "%s", formats[f].kernel->name);
                entry.values[0] = (qk_tuned_value){QK_CONSTANT_STAGED, 512u << i % 2};
                entry.values[1] = (qk_tuned_value){QK_CONSTANT_LOCAL_SIZE_X, threads};
                entry.values[2] = (qk_tuned_value){QK_CONSTANT_ROWS, 1u << i};
                tuning = &staged;
                run_gemv(&formats[f], 37, cols[i], 1, UINT64_MAX, 1);
                tuning = NULL;
            }
}

/* Of several vectors, x is not staged, whatever the constant is. */
static void test_constants_of_one_vector(void **state) {
    (void)state;
    for (uint32_t staged = 512; staged <= 1024; staged *= 2) {
        forced = (qk_tuned_value){QK_CONSTANT_STAGED, staged};
        run_gemv(&formats[Q4_0], 19, 2048, 5, UINT64_MAX, 1);
        forced = (qk_tuned_value){QK_CONSTANT_NONE, 0};
    }
}

/* The runtime refuses what takes more shared memory than the device has. */
static void test_too_much_shared_memory(void **state) {
    const format *f = &formats[Q4_0];
    const uint64_t cols = 1024, rows = 8, batch = 2;
    array weights = weights_of(f->kernel, rows * cols / f->kernel->block_elements, f->scales_at, f->n_scales);
    array x = floats_of(batch * cols), y = array_new(batch * rows * 4);
    counter c;
    const qk_backend backend = counted(&c, UINT64_MAX);
    (void)state;
    forced = (qk_tuned_value){QK_CONSTANT_SHARED_FOURS, 65536};
    OK(qk_vulkan_begin(vk, &error));
    const qk_status status =
        qk_dispatch_gemv(&backend, f->kernel, &weights.range, x.range, y.range, rows, cols, batch, &error);
    forced = (qk_tuned_value){QK_CONSTANT_NONE, 0};
    qk_vulkan_submit(vk, NULL);
    assert_int_equal(status, QK_ERROR_LIMIT);
    assert_non_null(strstr(error.text, "bytes of shared memory with these constants, must be at most"));
    array_free(&weights);
    array_free(&x);
    array_free(&y);
}

/* Rows that are loaded ahead, of a subgroup's slice or of several, the last of which may be cut: with fewer rows than are taken at a
 * time, a few more, and many; and where rows are no whole fours of words, too long, or too many for the memory, as without. */
static void test_ahead(void **state) {
    static const uint64_t rows[] = {2, 37, 5};
    const qk_limits limits = qk_vulkan_backend(vk).limits;
    const uint64_t slice = 64 * limits.subgroup_size;
    const uint64_t cols[] = {slice,     2 * slice, 4 * slice,       4 * slice - 256,
                             3 * slice, 256,       4 * slice + 256, 128 * 64 * 32};
    (void)state;
    qk_tuning_entry entry = {.rows = 1, .cols = 1, .batch = 1, .count = 4};
    const qk_tuning tuned = {.count = 1, .entries = &entry};
    entry.values[0] = (qk_tuned_value){QK_CONSTANT_SCHEDULE, QK_SCHEDULE_AHEAD};
    entry.values[3] = (qk_tuned_value){QK_CONSTANT_WORKGROUPS, 2};
    tuning = &tuned;
    for (uint32_t f = 0; f < TRIPLES; f++)
        for (uint32_t at_once = 1; at_once <= 4; at_once *= 2)
            for (uint32_t i = 0; i < sizeof cols / sizeof *cols; i++) {
                const qk_kernel *kernel = formats[f].kernel;
                const uint64_t bytes = cols[i] / kernel->block_elements * kernel->bindings[0].block_bytes;
                snprintf(entry.kernel, sizeof entry.kernel, "%s", kernel->name);
                entry.values[1] = (qk_tuned_value){QK_CONSTANT_LOCAL_SIZE_X, 4 * limits.subgroup_size};
                entry.values[2] = (qk_tuned_value){QK_CONSTANT_ROWS, at_once};
                ahead = bytes % 16 == 0 && cols[i] <= 4 * slice;
                run_gemv(&formats[f], i == 1 && at_once == 4 ? 1 : rows[(i + at_once) % 3], cols[i], 1, UINT64_MAX, 1);
            }
    /* Of many rows, as many subgroups as there are slices share one, whatever a tuning says. */
    snprintf(entry.kernel, sizeof entry.kernel, "%s", formats[Q4_0].kernel->name);
    ahead = 1;
    run_gemv(&formats[Q4_0], 4099, slice, 1, UINT64_MAX, 1);
    entry.values[entry.count++] = (qk_tuned_value){QK_CONSTANT_SPLIT, 1};
    run_gemv(&formats[Q4_0], 4099, 4 * slice, 1, UINT64_MAX, 1);
    /* Nor is x what nobody staged. */
    entry.values[entry.count - 1] = (qk_tuned_value){QK_CONSTANT_STAGED, 512};
    run_gemv(&formats[Q4_0], 4099, 4 * slice, 1, UINT64_MAX, 1);
    entry.count -= 1;
    /* In parts, each with rows of its own. */
    entry.values[2].value = 4;
    snprintf(entry.kernel, sizeof entry.kernel, "%s", formats[Q4_0].kernel->name);
    ahead = 11;
    run_gemv(&formats[Q4_0], 300, 1024, 1, 16384, 11);
    /* With lookups, sums of several rounds of rows are added up at once, be they ahead or not: as many as there is memory for, fewer, and
     * more. */
    snprintf(entry.kernel, sizeof entry.kernel, "%s", formats[IQ2_S].kernel->name);
    for (uint32_t at_once = 1; at_once <= 4; at_once *= 2)
        for (uint64_t n = 1; n <= 38; n += 4) {
            ahead = n % 8 == 1;
            entry.values[0].value = ahead ? QK_SCHEDULE_AHEAD : QK_SCHEDULE_WIDE;
            entry.values[1] = (qk_tuned_value){QK_CONSTANT_LOCAL_SIZE_X, 8 * limits.subgroup_size};
            entry.values[2] = (qk_tuned_value){QK_CONSTANT_ROWS, at_once};
            run_gemv(&formats[IQ2_S], n, 4 * slice, 1, UINT64_MAX, 1);
        }
    ahead = 0;
    tuning = NULL;
}

/* Threads keep several right-hand sides, of which the last may be missing: in wide tiles, in turn loaded by all of a workgroup, and
 * ahead; of one slice and of several; and with lookups, whose sums are added up some rounds at once. */
static void test_several(void **state) {
    static const uint64_t rows[] = {37, 2, 133};
    static const uint32_t all[] = {Q4_0, Q6_K, IQ2_S};
    const qk_limits limits = qk_vulkan_backend(vk).limits;
    const uint64_t slice = 64 * limits.subgroup_size;
    (void)state;
    qk_tuning_entry entry = {.rows = 1, .cols = 1, .count = 6};
    const qk_tuning tuned = {.count = 1, .entries = &entry};
    tuning = &tuned;
    keeps_several = 1;
    for (uint32_t i = 0; i < 2 * 2 * 3 * 4; i++) {
        const uint32_t f = all[i / 4 % 3], first = i / 12 % 2, batch = 2 + i % 3;
        const uint32_t kept = batch > 2 ? 4 : 2, at_once = i % 4 == 3 || kept == 4 ? 1 : 8 / kept / (1 + i % 2);
        const int is_ahead = i / 24;
        const uint64_t cols = first ? slice : 4 * slice;
        const qk_kernel *kernel = formats[f].kernel;
        entry.batch = batch;
        snprintf(entry.kernel, sizeof entry.kernel, "%s", kernel->name);
        entry.values[0] = (qk_tuned_value){QK_CONSTANT_SCHEDULE, is_ahead ? QK_SCHEDULE_AHEAD : QK_SCHEDULE_WIDE};
        entry.values[1] = (qk_tuned_value){QK_CONSTANT_ROWS, at_once};
        entry.values[2] = (qk_tuned_value){QK_CONSTANT_LOCAL_SIZE_X, 4 * limits.subgroup_size};
        entry.values[3] = (qk_tuned_value){QK_CONSTANT_WORKGROUPS, 2};
        entry.values[4] = (qk_tuned_value){QK_CONSTANT_STAGED, i % 2 ? 512 : 1};
        entry.values[5] = (qk_tuned_value){QK_CONSTANT_SPLIT, i % 3 == 1 && first ? 1 : 4};
        ahead = is_ahead && cols / kernel->block_elements * kernel->bindings[0].block_bytes % 16 == 0;
        if (is_ahead && !ahead) continue;
        run_gemv(&formats[f], rows[i % 3], cols, batch, UINT64_MAX, 1);
    }
    ahead = 0;
    keeps_several = 0;
    tuning = NULL;
}

/* Teams of two lanes and more, up to all of a workgroup; of one vector, too; with all of x in its memory, and with a part; more rows than
 * a launch takes at a time; and where lanes are fewer than rows, or the workgroup has none for a team, none. */
static void test_teams(void **state) {
    static const uint64_t rows[] = {37, 5, 130}, cols[] = {1024, 512, 4096}, batch[] = {2, 3, 8};
    static const format bytes[] = {{&qk_q4_0_gemv_int8_f32_vulkan, qk_q4_0_gemv_f32_ref, 0, 1},
                                   {&qk_q6_K_gemv_int8_f32_vulkan, qk_q6_K_gemv_f32_ref, 208, 1}};
    const uint32_t size = qk_vulkan_backend(vk).limits.subgroup_size;
    const double exact = bound;
    (void)state;
    qk_tuning_entry entry = {.rows = 1, .cols = 1, .count = 5};
    const qk_tuning tuned = {.count = 1, .entries = &entry};
    entry.values[0] = (qk_tuned_value){QK_CONSTANT_SCHEDULE, QK_SCHEDULE_TEAMS};
    entry.values[1] = (qk_tuned_value){QK_CONSTANT_LOCAL_SIZE_X, 4 * size};
    entry.values[2] = (qk_tuned_value){QK_CONSTANT_WORKGROUPS, 2};
    tuning = &tuned;
    for (uint32_t f = 0; f < 3 * TRIPLES; f++)
        for (uint32_t split = 1, i = f; split <= 32; split *= 2, i++) {
            const format *of = f < 2 * TRIPLES ? &formats[f % TRIPLES] : &bytes[f % TRIPLES];
            const uint32_t at_once = 1u << i % 3;
            snprintf(entry.kernel, sizeof entry.kernel, "%s", of->kernel->name);
            entry.values[3] = (qk_tuned_value){QK_CONSTANT_ROWS, at_once};
            entry.values[4] = (qk_tuned_value){QK_CONSTANT_SPLIT, split};
            entry.batch = f < TRIPLES ? batch[i / 2 % 3] : 1;
            teams = split <= 16 && size * split >= 4 * at_once;
            bound = f < 2 * TRIPLES ? exact : 0.02; /* x is rounded to bytes */
            run_gemv(of, rows[(i + 1) % 3], cols[i % 3], entry.batch, UINT64_MAX, 1);
        }
    bound = exact;
    teams = AS_CHOSEN;
    tuning = NULL;
}

static qk_status counted_barrier(void *context, qk_error *why) {
    counter *c = context;
    c->barriers++;
    return c->inner.barrier(c->inner.context, why);
}

/* One launch makes integers of x for all matrices that are multiplied with it: results have the bits of those whose
 * launches make them themselves, x is not read again, and lies where views say. */
static void run_packed(const qk_kernel *kernel, uint64_t rows, uint64_t cols, uint64_t batch, uint64_t apart,
                       uint64_t range) {
    const uint64_t blocks = rows * (cols / kernel->block_elements);
    const format *f = &formats[kernel->block_elements == 256 ? Q6_K : Q4_0];
    array weights[2] = {weights_of(kernel, blocks, f->scales_at, 1), weights_of(kernel, blocks, f->scales_at, 1)};
    array x = floats_of(batch * (cols + apart)), none = floats_of(batch * (cols + apart)),
          y = array_new(batch * rows * 4);
    uint8_t *expected = malloc(y.bytes);
    const qk_views views = {.batches = {1, 1}, .weights_batches = {1, 1}, .x_stride = cols + apart, .y_stride = rows};
    counter c;
    qk_backend backend = counted(&c, range);
    backend.barrier = counted_barrier;
    const uint64_t bytes = qk_gemv_scratch(&backend, kernel, rows, cols, batch, &views);
    assert_true(bytes >= batch * cols);
    array scratch = array_new(bytes);
    upload(&scratch);
    for (int i = 0; i < 2; i++) {
        memset(y.data, GUARD, y.bytes);
        upload(&y);
        OK(qk_vulkan_begin(vk, &error));
        OK(qk_dispatch_gemv_views(&backend, kernel, &weights[i].range, x.range, y.range, rows, cols, batch, &views,
                                  NULL, &error));
        OK(qk_vulkan_submit(vk, &error));
        download(&y);
        memcpy(expected, y.data, y.bytes);
        memset(y.data, GUARD, y.bytes);
        upload(&y);
        const uint32_t launches = c.launches;
        c.launches = c.barriers = 0;
        OK(qk_vulkan_begin(vk, &error));
        OK(qk_dispatch_gemv_packed(&backend, kernel, &weights[i].range, i ? none.range : x.range, scratch.range, i,
                                   y.range, rows, cols, batch, &views, NULL, &error));
        OK(qk_vulkan_submit(vk, &error));
        download(&y);
        assert_int_equal(c.launches, i ? launches : launches + 1);
        assert_int_equal(c.barriers, 1 - i);
        c.launches = 0;
        assert_memory_equal(expected, y.data, y.bytes);
    }
    download(&scratch);
    scratch.range.size = bytes - 1;
    assert_int_equal(qk_dispatch_gemv_packed(&backend, kernel, &weights[0].range, x.range, scratch.range, 0, y.range,
                                             rows, cols, batch, &views, NULL, &error),
                     QK_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "scratch has"));
    backend.barrier = NULL;
    assert_int_equal(qk_gemv_scratch(&backend, kernel, rows, cols, batch, &views), 0);
    array_free(&weights[0]);
    array_free(&weights[1]);
    array_free(&x);
    array_free(&none);
    array_free(&y);
    array_free(&scratch);
    free(expected);
}

static void test_packed(void **state) {
    static const qk_kernel *const kernels[] = {&qk_q4_0_gemv_int8_f32_vulkan, &qk_q6_K_gemv_split_f32_vulkan,
                                               &qk_q6_K_gemv_int8_f32_vulkan};
    static const uint64_t rows[] = {37, 5, 130}, cols[] = {1024, 512, 4096}, batch[] = {3, 5, 8};
    (void)state;
    qk_tuning_entry entry = {.rows = 1, .cols = 1, .count = 2};
    const qk_tuning tuned = {.count = 1, .entries = &entry};
    entry.values[0] = (qk_tuned_value){QK_CONSTANT_SCHEDULE, QK_SCHEDULE_TEAMS};
    entry.values[1] = (qk_tuned_value){QK_CONSTANT_LOCAL_SIZE_X, 64};
    tuning = &tuned;
    for (uint32_t i = 0; i < 9; i++) {
        snprintf(entry.kernel, sizeof entry.kernel, "%s", kernels[i % 3]->name);
        entry.batch = batch[i / 3];
        run_packed(kernels[i % 3], rows[i % 3], cols[(i + i / 3) % 3], batch[i / 3], 4 * (i % 2), UINT64_MAX);
    }
    /* Rows in several launches, of which the first alone has another before it. */
    snprintf(entry.kernel, sizeof entry.kernel, "%s", kernels[0]->name);
    entry.batch = 2;
    run_packed(kernels[0], 300, 1024, 2, 0, 16384);
    counter c;
    const qk_backend backend = counted(&c, UINT64_MAX);
    assert_int_equal(qk_gemv_scratch(&backend, kernels[0], 37, 1024, 1, NULL), 0);
    assert_int_equal(qk_gemv_scratch(&backend, kernels[0], 37, 1024, 9, NULL), 0);
    assert_int_equal(qk_gemv_scratch(&backend, formats[Q4_0].kernel, 37, 1024, 2, NULL), 0);
    tuning = NULL;
}

/* Sets one of the ways to have an epilogue: each part alone, all of them, and scales of all kinds. */
static uint32_t set_parts(uint32_t way) {
    const uint32_t alone = 1 + QG_N_EPILOGUES, ways = alone + QK_PER_RESULT;
    parts = QK_ADDS_TO_Y_;
    for (uint32_t i = 0; i < QG_N_EPILOGUES; i++)
        if (way == 1 + i || way >= alone) parts = (way < alone ? 0 : parts) | epilogue_bits[i];
    if (qg_epilogue_clashes(parts)) parts &= ~(uint32_t)QK_ADDS_TO_Y_;
    scale_per = way >= alone ? (qk_many)(way - alone) : QK_PER_ROW;
    return ways;
}

/* In each schedule, in parts, by eights of vectors, and once where x is shared slice by slice. */
static void test_epilogue(void **state) {
    static const uint32_t schedules[] = {QK_SCHEDULE_ROWS, QK_SCHEDULE_WIDE, QK_SCHEDULE_AHEAD, QK_SCHEDULE_SHARED,
                                         QK_SCHEDULE_TEAMS};
    (void)state;
    const uint64_t slice = 64 * qk_vulkan_backend(vk).limits.subgroup_size;
    qk_tuning_entry entry = {.rows = 1, .cols = 1, .count = 2};
    const qk_tuning tuned = {.count = 1, .entries = &entry};
    tuning = &tuned;
    const uint32_t ways = set_parts(0);
    for (uint32_t i = 0; i < ways * (sizeof schedules / sizeof *schedules); i++) {
        set_parts(i % ways);
        const uint32_t schedule = schedules[i / ways];
        entry.batch = schedule >= QK_SCHEDULE_SHARED ? 2 : 1;
        snprintf(entry.kernel, sizeof entry.kernel, "%s", formats[Q4_0].kernel->name);
        entry.values[0] = (qk_tuned_value){QK_CONSTANT_SCHEDULE, schedule};
        entry.values[1] = (qk_tuned_value){QK_CONSTANT_ROWS, 2};
        ahead = schedule == QK_SCHEDULE_AHEAD;
        teams = schedule == QK_SCHEDULE_TEAMS;
        run_gemv(&formats[Q4_0], 37, 4 * slice, entry.batch, UINT64_MAX, 1);
    }
    tuning = NULL;
    teams = AS_CHOSEN;
    for (uint32_t i = 0; i < ways; i++) {
        set_parts(i);
        run_gemv(&formats[Q4_0], 300, 1024, 2, 16384, 11);
        run_gemv(&formats[Q6_K], 70, 512, 11, UINT64_MAX, 2);
    }
    parts = 0;
}

/* Rows of q4_0 take 576 bytes, of q6_K 840. */
static void test_parts(void **state) {
    (void)state;
    run_gemv(&formats[Q4_0], 300, 1024, 2, 16384, 11);
    run_gemv(&formats[Q4_0], 29, 1024, 1, 16128, 2);
    run_gemv(&formats[Q6_K], 100, 1024, 1, 8192, 13);
}

/* ---- gemv_id ----------------------------------------------------------------------------------------------------- */

enum { EXPERTS = 6, TOKENS = 3, SLOTS = 4 };

static void run_x_of_experts(uint64_t x_slots, uint64_t cols, uint64_t range, uint32_t launches) {
    enum { ROWS = 10 };
    const qk_kernel *kernel = &qk_q4_0_gemv_id_f32_vulkan;
    static const uint32_t chosen[TOKENS * SLOTS] = {5, 0, 3, 3, 6, 1, UINT32_MAX, 2, 4, 5, 0, 7};
    array weights = weights_of(kernel, EXPERTS * ROWS * cols / 32, 0, 1), x = floats_of(TOKENS * x_slots * cols);
    array ids = array_new(sizeof chosen), y = array_new(TOKENS * SLOTS * ROWS * 4), status = array_new(4);
    float expected[TOKENS * SLOTS * ROWS];
    uint8_t before[sizeof expected];
    uint32_t missed;
    memcpy(ids.data, chosen, sizeof chosen);
    upload(&ids);
    const void *const data[] = {weights.data};
    assert_int_equal(qk_q4_0_gemv_id_f32_ref(data, (const float *)(const void *)x.data, chosen, EXPERTS, ROWS, cols,
                                             TOKENS, SLOTS, x_slots, expected),
                     3);
    met m = met_new(ROWS, TOKENS * SLOTS, EXPERTS, chosen);
    meet(&m, expected);
    for (int again = 0; again < 3; again++) {
        counter c;
        const qk_backend backend = counted(&c, range);
        fill_results(&m, &y);
        if (again == 2) weights.range.size += GUARD_BYTES; /* as an engine's buffers do, it goes on */
        memset(status.data, 0, 4);
        upload(&status);
        OK(qk_vulkan_begin(vk, &error));
        const qk_epilogue epilogue = qg_epilogue_ranges(&m.all, m.ranges);
        OK(qk_dispatch_gemv_id_with(&backend, kernel, &weights.range, x.range, ids.range, y.range, status.range,
                                    EXPERTS, ROWS, cols, TOKENS, SLOTS, x_slots, &epilogue, &error));
        OK(qk_vulkan_submit(vk, &error));
        download(&y);
        download(&status);
        check_near(&y, expected, kernel->name);
        memcpy(&missed, status.data, 4);
        assert_int_equal(missed, 3);
        assert_int_equal(c.launches, launches);
        if (again > 0) assert_memory_equal(before, y.data, y.bytes);
        memcpy(before, y.data, y.bytes);
    }
    array_free(&weights);
    array_free(&x);
    array_free(&ids);
    array_free(&y);
    array_free(&status);
    met_free(&m);
}

/* Of all slots of a token the same x, and one for each. */
static void run_experts(uint64_t cols, uint64_t range, uint32_t launches) {
    run_x_of_experts(1, cols, range, launches);
    if (range == UINT64_MAX) run_x_of_experts(SLOTS, cols, range, launches);
}

/* An expert takes 2880 bytes, x 6144. */
static void test_experts(void **state) {
    (void)state;
    const uint32_t ways = set_parts(0);
    for (uint32_t i = 0; i < ways; i++) {
        set_parts(i);
        run_experts(512, i == 1 || i + 1 == ways ? 6144 : UINT64_MAX, i == 1 || i + 1 == ways ? 3 : 1);
        run_experts(32, UINT64_MAX, 1); /* plain rows */
    }
    parts = 0;
    run_experts(512, UINT64_MAX, 1);
    run_experts(512, 6144, 3);
}

/* Each workgroup passes x of one token or of several on: in one part or two, of a slice or more. */
static void test_staged_experts(void **state) {
    static const uint32_t cols[] = {256, 512, 2304, 4096}, workgroups[] = {1, 5, 1000};
    (void)state;
    for (uint32_t c = 0; c < 4; c++)
        for (uint32_t w = 0; w < 3; w++) {
            qk_tuning_entry entry = {.rows = 1, .cols = 1, .batch = 1, .count = 4};
            const qk_tuning staged = {.count = 1, .entries = &entry};
            snprintf(entry.kernel, sizeof entry.kernel, "%s", qk_q4_0_gemv_id_f32_vulkan.name);
            entry.values[0] = (qk_tuned_value){QK_CONSTANT_STAGED, 512};
            entry.values[1] = (qk_tuned_value){QK_CONSTANT_LOCAL_SIZE_X, 32u << c};
            entry.values[2] = (qk_tuned_value){QK_CONSTANT_ROWS, 1u << (c + w) % 4};
            entry.values[3] = (qk_tuned_value){QK_CONSTANT_WORKGROUPS, workgroups[w]};
            tuning = &staged;
            run_experts(cols[c], UINT64_MAX, 1);
            tuning = NULL;
        }
}

/* ---- gather ------------------------------------------------------------------------------------------------------ */

typedef uint64_t gather_reference(const void *const weights[1], const uint32_t *indices, uint64_t rows, uint64_t cols,
                                  uint64_t tokens, float *dst);

/* Rows in any order, some that are not there; of a table that is bound in parts, a launch writes those of its part alone. */
static void run_gather(const qk_kernel *kernel, gather_reference *reference, uint64_t rows, uint64_t cols,
                       uint64_t tokens, uint64_t range, uint32_t launches) {
    array weights = weights_of(kernel, rows * cols / kernel->block_elements, 0, 1), indices = array_new(tokens * 4);
    array dst = array_new(tokens * cols * 4), status = array_new(4);
    float *expected = malloc(dst.bytes);
    uint32_t missed;
    for (uint64_t t = 0; t < tokens; t++) {
        const uint32_t index = t % 5 == 3 ? (uint32_t)rows + random_word() % 2 : random_word() % (uint32_t)rows;
        memcpy(indices.data + 4 * t, &index, 4);
    }
    upload(&indices);
    upload(&dst);
    memset(status.data, 0, 4);
    upload(&status);
    const void *const data[] = {weights.data};
    const uint64_t missing =
        reference(data, (const uint32_t *)(const void *)indices.data, rows, cols, tokens, expected);
    counter c;
    const qk_backend backend = counted(&c, range);
    OK(qk_vulkan_begin(vk, &error));
    OK(qk_dispatch_gather(&backend, kernel, &weights.range, indices.range, dst.range, status.range, rows, cols, tokens,
                          &error));
    OK(qk_vulkan_submit(vk, &error));
    download(&dst);
    download(&status);
    memcpy(&missed, status.data, 4);
    assert_memory_equal(dst.data, expected, dst.bytes);
    assert_int_equal(missed, missing);
    assert_int_equal(c.launches, launches);
    array_free(&weights);
    array_free(&indices);
    array_free(&dst);
    array_free(&status);
    free(expected);
}

/* Tiles of four elements are taken in pairs, those of eight one by one. 100 rows of 68 bytes, and 200 of 36, are bound in two parts of
 * at most 4096 bytes, and 40 results of 256 in three. */
static void test_gather(void **state) {
    (void)state;
    assert_int_equal(qk_q8_0_gather_f32_vulkan.tile_elements, 4);
    assert_int_equal(qk_q4_0_gather_f32_vulkan.tile_elements, 8);
    for (uint64_t tokens = 1; tokens <= 9; tokens++) {
        run_gather(&qk_q8_0_gather_f32_vulkan, qk_q8_0_gather_f32_ref, 7, 96, tokens, UINT64_MAX, 1);
        run_gather(&qk_q4_0_gather_f32_vulkan, qk_q4_0_gather_f32_ref, 7, 96, tokens, UINT64_MAX, 1);
    }
    run_gather(&qk_q8_0_gather_f32_vulkan, qk_q8_0_gather_f32_ref, 300, 512, 1001, UINT64_MAX, 1);
    run_gather(&qk_q8_0_gather_f32_vulkan, qk_q8_0_gather_f32_ref, 100, 64, 40, 4096, 6);
    run_gather(&qk_q4_0_gather_f32_vulkan, qk_q4_0_gather_f32_ref, 200, 64, 40, 4096, 6);
}

static int open_device(void **state) {
    qk_vulkan_options options = {0};
    (void)state;
    options.cache_path = "";
    return qk_vulkan_create(&options, &vk, &error) == QK_OK ? 0 : -1;
}

static int close_device(void **state) {
    (void)state;
    qk_vulkan_destroy(vk);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_staged),
        cmocka_unit_test(test_constants_of_one_vector),
        cmocka_unit_test(test_too_much_shared_memory),
        cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_experts),
        cmocka_unit_test(test_staged_experts),
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_teams),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_epilogue),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
