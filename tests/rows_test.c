/* gather and set_rows where values, indices and the table are views of larger tensors, on a device and in the executor of
 * Metal text: against a walk over all of them with the C reference, row by row. What lies between rows stays as it was. */
#include "cli/run.h"
#include "emit/modules.h"
#include "emit/spirv.h"
#include "spec/library.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <qkgen/dispatch.h>
#include <qkgen/vulkan.h>

static qg_arena *arena;
static qg_library *library;
static qg_templates templates;
static qk_vulkan *vk;
static qk_error error;

/* What run_msl.c takes of the command. */
double qg_seconds_now(void) { return 0; }

#ifdef QKGEN_MSL_LIBRARY
static const bool has_metal = true;
#else
static const bool has_metal = false;
#endif

static uint32_t random_word(void) {
    static uint64_t state = 5;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33);
}

/* ---- kernels ---- */

typedef uint64_t gather_function(const void *const *, const uint32_t *, uint64_t, uint64_t, uint64_t, void *);
typedef void encode_function(void *const *, uint64_t, const void *);
typedef void encode_planes_function(void *const *, uint64_t, uint64_t, const void *);
typedef uint64_t set_rows_function(void *const *, const uint32_t *, uint64_t, uint64_t, uint64_t, const void *);

typedef struct subject {
    const qg_layout *layout;
    const qg_family *family;
    qg_scalar type;
    const qk_kernel *vulkan, *metal;
    qg_metal *executor;
    void *object, *reference;
    uint64_t value_bytes;
} subject;

static bool writes(const subject *s) { return s->family->encodes; }

static subject open_subject(const char *format, const char *family_name, qg_scalar type) {
    const char *why = NULL;
    qg_family *family = QG_NEW(arena, qg_family);
    *family = *qg_family_named(family_name);
    family->n_types = 1;
    family->types[0] = type;
    subject s = {.layout = qg_library_find(library, format), .family = family, .type = type};
    assert_non_null(s.layout);
    s.value_bytes = qg_scalars[type].bits / 8;
    const qg_family *only = family;
    qg_request request = {.layout = s.layout, .n_families = 1, .families = &only, .command = "t", .vulkan = true};
    const qg_kernel kernel = qg_kernel_new(arena, s.layout, family, type, NULL);
    s.vulkan = qg_compile_kernel(arena, &templates, &request, &kernel, 1, &why);
    if (!s.vulkan) fail_msg("%s", why);
    why = qg_reference_open(arena, &templates, s.layout, family, type, &s.object, &s.reference);
    if (why) fail_msg("%s", why);
    if (!has_metal) return s;
    qg_request metal = {.layout = s.layout, .n_families = 1, .families = &only, .command = "t", .metal = true};
    const char *text = qg_msl(arena, &templates, &metal, &why);
    if (!text) fail_msg("%s", why);
    s.metal = qg_describe(arena, &kernel, QK_API_METAL, NULL);
    why = qg_metal_open(arena, text, s.layout->name, s.metal, &s.executor);
    if (why) fail_msg("%s", why);
    return s;
}

static void close_subject(subject *s) {
    qk_vulkan_forget(vk, s->vulkan);
    if (s->executor) qg_metal_close(s->executor);
    dlclose(s->object);
}

/* ---- calls ---- */

enum { WEIGHTS, INDICES, VALUES, STATUS, ARRAYS };

typedef struct call {
    uint64_t rows, cols, tokens;
    qk_rows_view view;
    uint64_t table_rows, row_bytes;
    uint64_t before[ARRAYS], bytes[ARRAYS]; /* of all, of which those come first */
    uint8_t *data[ARRAYS], *expected[ARRAYS];
} call;

static uint64_t reach(const uint64_t *count, const uint64_t *step) {
    return (count[0] - 1) * step[0] + (count[1] - 1) * step[1] + (count[2] - 1) * step[2];
}

static uint64_t outer_of(const call *c) { return c->tokens / (c->view.tokens * c->view.batches); }

static void new_arrays(const subject *s, call *c) {
    const uint64_t batches[3] = {c->view.tokens, c->view.batches, outer_of(c)};
    const uint64_t rows[3] = {c->rows, c->view.batches, outer_of(c)};
    const uint64_t indices[3] = {c->view.tokens, c->view.index_batches[0], c->view.index_batches[1]};
    c->table_rows = reach(rows, c->view.row_step) + 1;
    c->row_bytes = c->cols / s->layout->elements * s->layout->buffers[0].bytes;
    c->bytes[WEIGHTS] = c->table_rows * c->row_bytes;
    c->bytes[INDICES] = c->view.index_bytes ? (reach(indices, c->view.index_step) + 1) * c->view.index_bytes : 8;
    c->bytes[VALUES] = (reach(batches, c->view.value_step) + c->cols) * s->value_bytes;
    c->bytes[STATUS] = 4;
    for (int a = 0; a < ARRAYS; ++a) {
        c->bytes[a] += c->before[a];
        c->data[a] = malloc(c->bytes[a]);
        c->expected[a] = malloc(c->bytes[a]);
        for (uint64_t i = 0; i < c->bytes[a]; ++i) c->data[a][i] = (uint8_t)random_word();
    }
    /* Scales of halves, and floats, that are finite; blocks of the formats here begin with one. */
    for (uint64_t i = c->before[WEIGHTS] + 1; i < c->bytes[WEIGHTS]; i += s->layout->buffers[0].bytes)
        c->data[WEIGHTS][i] &= 0xBF;
    for (uint64_t i = s->value_bytes - 1; i < c->bytes[VALUES]; i += s->value_bytes) c->data[VALUES][i] &= 0xBF;
    memset(c->data[STATUS], 0, 4);
}

static void free_arrays(call *c) {
    for (int a = 0; a < ARRAYS; ++a) {
        free(c->data[a]);
        free(c->expected[a]);
    }
}

/* Some indices are of no row, of those of 64 bits also in their high half; else different rows of a batch. */
static void draw_indices(const call *c) {
    const uint64_t first = random_word();
    for (uint64_t o = 0; o < c->view.index_batches[1]; ++o)
        for (uint64_t b = 0; b < c->view.index_batches[0]; ++b)
            for (uint64_t t = 0; t < c->view.tokens; ++t) {
                uint64_t index = (first + t + b) % c->rows;
                const uint64_t at = (t * c->view.index_step[0] + b * c->view.index_step[1] + o * c->view.index_step[2]);
                if (t % 5 == 3) index = t % 2 && c->view.index_bytes == 8 ? index | UINT64_C(1) << 32 : c->rows + t % 3;
                memcpy(c->data[INDICES] + c->before[INDICES] + at * c->view.index_bytes, &index, c->view.index_bytes);
            }
}

static void expect_token(const subject *s, const call *c, uint64_t t, uint64_t b, uint64_t o) {
    const qk_rows_view *v = &c->view;
    uint64_t index = t;
    if (v->index_bytes) {
        index = 0;
        memcpy(&index,
               c->data[INDICES] + c->before[INDICES] +
                   (t * v->index_step[0] + b % v->index_batches[0] * v->index_step[1] +
                    o % v->index_batches[1] * v->index_step[2]) *
                       v->index_bytes,
               v->index_bytes);
    }
    uint8_t *value = c->expected[VALUES] + c->before[VALUES] +
                     (t * v->value_step[0] + b * v->value_step[1] + o * v->value_step[2]) * s->value_bytes;
    const uint32_t narrow = index < c->rows ? 0 : 1, zero = 0;
    uint32_t missed;
    uint8_t *row = c->expected[WEIGHTS] + c->before[WEIGHTS];
    if (!narrow) row += (index * v->row_step[0] + b * v->row_step[1] + o * v->row_step[2]) * c->row_bytes;
    gather_function *gather;
    set_rows_function *set_rows;
    const void *const from[] = {row};
    void *const to[] = {row};
    memcpy(&gather, &s->reference, sizeof gather);
    memcpy(&set_rows, &s->reference, sizeof set_rows);
    if (narrow && !writes(s)) memset(value, 0, c->cols * s->value_bytes);
    if (!narrow && !writes(s)) gather(from, &zero, 1, c->cols, 1, value);
    if (!narrow && writes(s)) set_rows(to, &zero, 1, c->cols, 1, value);
    memcpy(&missed, c->expected[STATUS], 4);
    missed += narrow;
    memcpy(c->expected[STATUS], &missed, 4);
}

static void expect(const subject *s, call *c) {
    for (int a = 0; a < ARRAYS; ++a) memcpy(c->expected[a], c->data[a], c->bytes[a]);
    for (uint64_t o = 0; o < outer_of(c); ++o)
        for (uint64_t b = 0; b < c->view.batches; ++b)
            for (uint64_t t = 0; t < c->view.tokens; ++t) expect_token(s, c, t, b, o);
}

static qk_status dispatch(const subject *s, const call *c, const qk_backend *backend, const qk_kernel *kernel,
                          const qk_range *r) {
    return (writes(s) ? qk_dispatch_set_rows_view : qk_dispatch_gather_view)(
        backend, kernel, &r[WEIGHTS], r[INDICES], r[VALUES], r[STATUS], c->rows, c->cols, c->tokens, &c->view, &error);
}

static void compare(const subject *s, const call *c, uint8_t *const *got, const char *where) {
    for (int a = 0; a < ARRAYS; ++a)
        for (uint64_t i = 0; i < c->bytes[a]; ++i)
            if (got[a][i] != c->expected[a][i])
                fail_msg("%s %s on %s: byte %lu of array %d is %02x, must be %02x", s->family->name, s->layout->name,
                         where, (unsigned long)i, a, got[a][i], c->expected[a][i]);
}

/* Arguments behind what comes before; a device that binds no offsets between multiples of 256, or of 16, does not bind them there. */
static void set_before(const call *c, qk_range *ranges, uint64_t range, qk_backend *backend) {
    for (int a = 0; a < ARRAYS; ++a) {
        ranges[a].offset += c->before[a];
        ranges[a].size -= c->before[a];
    }
    if (range) backend->limits.storage_range = range;
    if (c->before[INDICES]) backend->limits.offset_alignment = range ? 16 : 256;
}

/* `range`: bytes that a binding may have; so that the table is bound in parts. */
static void run_vulkan(const subject *s, const call *c, uint64_t range) {
    qk_vulkan_buffer *buffers[ARRAYS];
    qk_range ranges[ARRAYS];
    uint8_t *got[ARRAYS];
    for (int a = 0; a < ARRAYS; ++a) {
        assert_int_equal(qk_vulkan_buffer_create(vk, c->bytes[a], &buffers[a], &error), QK_OK);
        assert_int_equal(qk_vulkan_upload(vk, buffers[a], 0, c->data[a], c->bytes[a], &error), QK_OK);
        ranges[a] = qk_vulkan_range(buffers[a]);
        got[a] = malloc(c->bytes[a]);
    }
    qk_backend backend = qk_vulkan_backend(vk);
    set_before(c, ranges, range, &backend);
    assert_int_equal(qk_vulkan_begin(vk, &error), QK_OK);
    if (dispatch(s, c, &backend, s->vulkan, ranges) != QK_OK) fail_msg("%s", error.text);
    assert_int_equal(qk_vulkan_submit(vk, &error), QK_OK);
    for (int a = 0; a < ARRAYS; ++a) {
        assert_int_equal(qk_vulkan_download(vk, buffers[a], 0, got[a], c->bytes[a], &error), QK_OK);
        qk_vulkan_buffer_destroy(vk, buffers[a]);
    }
    compare(s, c, got, "Vulkan");
    for (int a = 0; a < ARRAYS; ++a) free(got[a]);
}

static void run_metal(const subject *s, const call *c) {
    qk_range ranges[ARRAYS];
    uint8_t *got[ARRAYS];
    for (int a = 0; a < ARRAYS; ++a) {
        got[a] = malloc(c->bytes[a]);
        memcpy(got[a], c->data[a], c->bytes[a]);
        ranges[a] = (qk_range){got[a], 0, c->bytes[a]};
    }
    qk_backend backend = qg_metal_backend(s->executor);
    set_before(c, ranges, 0, &backend);
    if (dispatch(s, c, &backend, s->metal, ranges) != QK_OK) fail_msg("%s", qg_metal_failure(s->executor, &error));
    compare(s, c, got, "Metal");
    for (int a = 0; a < ARRAYS; ++a) free(got[a]);
}

static void try_once(const subject *s, call c, uint64_t range) {
    new_arrays(s, &c);
    if (c.view.index_bytes) draw_indices(&c);
    expect(s, &c);
    run_vulkan(s, &c, range);
    if (has_metal && !range) run_metal(s, &c);
    free_arrays(&c);
}

/* Also of arguments that begin where the device cannot bind them: the table a row and a block behind such a place, indices some words,
 * values a block. */
static void try(const subject *s, call c, uint64_t range) {
    const uint64_t block = s->layout->elements;
    try_once(s, c, range);
    c.before[WEIGHTS] = (c.cols / block + 1) * s->layout->buffers[0].bytes;
    c.before[INDICES] = 12;
    c.before[VALUES] = block * s->value_bytes;
    try_once(s, c, range ? range + c.cols * s->value_bytes : 0);
}

/* Steps that leave room between all rows, or none; in either order of the dimensions. */
static void try_views(const subject *s) {
    const uint64_t k = 2 * s->layout->elements, block = s->layout->elements;
    const uint64_t table = writes(s) ? 9 : 0; /* gather may read the same rows in each batch */
    try(s, (call){9, k, 4, {4, 1, {k, 0, 0}, 4, {1, 0, 0}, {1, 1}, {1, 0, 0}}, 0, 0, {0}, {0}, {0}, {0}}, 0);
    try(s,
        (call){9,
               k,
               30,
               {5, 3, {k + block, 5 * (k + block), 15 * (k + block) + block}, 8, {1, 7, 30}, {3, 2}, {1, 9, 27}},
               0,
               0,
               {0},
               {0},
               {0},
               {0}},
        0);
    try(s, (call){9, k, 24, {4, 3, {3 * k, k, 12 * k}, 4, {2, 8, 16}, {2, 2}, {3, 1, 27}}, 0, 0, {0}, {0}, {0}, {0}},
        0);
    try(s, (call){9, k, 24, {4, 3, {k, 4 * k, 12 * k}, 8, {2, 8, 0}, {3, 1}, {1, 9, 27}}, 0, 0, {0}, {0}, {0}, {0}}, 0);
    try(s, (call){4, k, 24, {4, 3, {k, 4 * k, 12 * k}, 0, {0}, {0, 0}, {1, 4, 12}}, 0, 0, {0}, {0}, {0}, {0}}, 0);
    try(s, (call){9, k, 10, {5, 2, {k, 5 * k, 0}, 4, {1, 5, 0}, {2, 1}, {1, table, 0}}, 0, 0, {0}, {0}, {0}, {0}}, 0);
    try(s, (call){40, k, 8, {4, 2, {k, 4 * k, 0}, 4, {1, 4, 0}, {2, 1}, {1, 40, 0}}, 0, 0, {0}, {0}, {0}, {0}},
        8 * k * s->value_bytes);
}

static void test_views(void **state) {
    (void)state;
    static const struct {
        const char *format, *family;
        qg_scalar type;
    } all[] = {{"q8_0", "gather", QG_F32},
               {"q4_0", "gather", QG_F16},
               {"q4_0", "set_rows", QG_F32},
               {"q8_0", "set_rows", QG_F16},
               {"q5_0", "set_rows", QG_BF16}};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        subject s = open_subject(all[i].format, all[i].family, all[i].type);
        try_views(&s);
        close_subject(&s);
    }
}

/* ---- where launches begin ---- */

enum { MOST_BINDINGS = 6, ALIGNMENT = 64 };

typedef struct noted {
    int launches;
    qk_range ranges[MOST_BINDINGS];
    uint32_t push[QK_GATHER_PUSH_BYTES / 4];
} noted;

static qk_status note_launch(void *context, const qk_launch *launch, qk_error *unused) {
    noted *n = context;
    (void)unused;
    n->launches++;
    memcpy(n->ranges, launch->ranges, launch->kernel->binding_count * sizeof *n->ranges);
    memcpy(n->push, launch->push, sizeof n->push);
    return QK_OK;
}

/* Of a table of 100 rows of 64 columns: whether it is launched with arguments that begin there, in bindings of at most `range` bytes. */
static bool begins(const char *format, const uint64_t *offsets, uint64_t range, noted *n) {
    static char memory[MOST_BINDINGS];
    const qg_kernel own =
        qg_kernel_new(arena, qg_library_find(library, format), qg_family_named("gather"), QG_F32, NULL);
    const qk_kernel *kernel = qg_describe(arena, &own, QK_API_VULKAN, NULL);
    const qk_rows_view view = {4, 1, {64, 0, 0}, 4, {1, 0, 0}, {1, 1}, {1, 0, 0}};
    const uint32_t weights = kernel->binding_count - 3;
    qk_range ranges[MOST_BINDINGS];
    for (uint32_t i = 0; i < kernel->binding_count; ++i) ranges[i] = (qk_range){memory + i, offsets[i], 4096};
    qk_backend backend = qk_vulkan_backend(vk);
    backend.limits.offset_alignment = ALIGNMENT;
    backend.limits.storage_range = range;
    backend.context = n;
    backend.launch = note_launch;
    memset(n, 0, sizeof *n);
    return qk_dispatch_gather_view(&backend, kernel, ranges, ranges[weights], ranges[weights + 1], ranges[weights + 2],
                                   100, 64, 4, &view, &error) == QK_OK;
}

/* Launches bind as little as they can of what lies before, all buffers of a table as many blocks. */
static void test_begin(void **state) {
    (void)state;
    noted n;
    assert_true(begins("q4_0", (const uint64_t[]){64 + 54, 140, 384, 64}, 4096, &n));
    assert_int_equal(n.launches, 1);
    assert_true(n.ranges[0].offset == 64 && n.ranges[0].size == 54 + 3600);
    assert_true(n.ranges[1].offset == 128 && n.ranges[1].size == 12 + 16);
    assert_true(n.ranges[2].offset == 384 && n.ranges[2].size == 1024 && n.ranges[3].offset == 64);
    const uint32_t tiles = n.push[3] / 2; /* of a block */
    assert_true(n.push[19] == 0 && n.push[20] == 3 && n.push[21] == 3 * tiles);
    assert_true(begins("q4_0", (const uint64_t[]){64, 64, 64, 64}, 4096, &n));
    assert_true(n.push[19] == 0 && n.push[20] == 0 && n.push[21] == 0 && n.ranges[0].offset == 64);
    assert_true(begins("q4_0", (const uint64_t[]){64, 64, 96, 64}, 4096, &n));
    assert_true(n.push[19] == n.push[3] / 8 && n.ranges[2].offset == 64 && n.ranges[2].size == 32 + 1024);
    assert_true(begins("q4_0", (const uint64_t[]){64 + 54, 64, 64, 64}, 32 * 36, &n)); /* less than 32 rows */
    assert_true(n.launches == 7 && n.ranges[0].offset == 64 + 96 * 36 && n.ranges[0].size == 54 + 4 * 36);
    /* Codes, scales and biases: a block of them is 32, 2 and 2 bytes. */
    assert_true(begins("affine_b4_g64_bf16", (const uint64_t[]){96 + 64, 64 + 6, 128 + 6, 0, 0, 0}, 4096, &n));
    assert_true(n.ranges[0].offset == 64 && n.ranges[1].offset == 64 && n.ranges[2].offset == 128);
    assert_true(n.ranges[0].size == 96 + 3200 && n.ranges[1].size == 6 + 200 && n.push[21] == 3 * n.push[3]);
    static const struct {
        uint64_t offsets[6];
        const char *format, *text;
    } refused[] = {
        {{8, 0, 0, 0},
         "q4_0",
         "weights[0].offset is 8, must be a multiple of 64, or any number of 18 bytes behind one"},
        {{0, 2, 0, 0}, "q4_0", "indices.offset is 2, must be a multiple of 4"},
        {{0, 0, 4, 0}, "q4_0", "out.offset is 4, must be a multiple of 64, or any number of"},
        {{0, 0, 0, 4}, "q4_0", "status.offset is 4, must be a multiple of 64"},
        {{128, 2, 4, 0, 0, 0}, "affine_b4_g64_bf16", "weights[1].offset is 2, must be a multiple of 64"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
        assert_false(begins(refused[i].format, refused[i].offsets, 4096, &n));
        if (!strstr(error.text, refused[i].text)) fail_msg("'%s', must have '%s'", error.text, refused[i].text);
        assert_int_equal(n.launches, 0);
    }
}

/* ---- what is refused ---- */

static qk_status count_launch(void *context, const qk_launch *launch, qk_error *unused) {
    (void)launch;
    (void)unused;
    ++*(int *)context;
    return QK_OK;
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *family;
        qk_rows_view view;
        const char *text;
    } all[] = {
        {"gather",
         {3, 1, {64, 0, 0}, 4, {1, 0, 0}, {1, 1}, {1, 0, 0}},
         "view->tokens is 3 and view->batches is 1, must be at least 1, and their product must divide tokens, 4"},
        {"gather", {0, 1, {64, 0, 0}, 4, {1, 0, 0}, {1, 1}, {1, 0, 0}}, "view->tokens is 0"},
        {"gather", {4, 1, {64, 0, 0}, 2, {1, 0, 0}, {1, 1}, {1, 0, 0}}, "view->index_bytes is 2, must be 0, 4 or 8"},
        {"gather",
         {4, 1, {80, 0, 0}, 4, {1, 0, 0}, {1, 1}, {1, 0, 0}},
         "view->value_step[0] is 80, must be a multiple of 32, the elements of a block"},
        {"gather",
         {2, 2, {64, 64, 0}, 4, {1, 2, 0}, {2, 1}, {1, 0, 0}},
         "view->value_step[1] is 64, must be at least 128, so that no values of out overlap"},
        {"gather",
         {2, 2, {32, 128, 0}, 4, {1, 2, 0}, {2, 1}, {1, 0, 0}},
         "view->value_step[0] is 32, must be at least 64"},
        {"set_rows",
         {4, 1, {64, 0, 0}, 4, {1, 0, 0}, {0, 1}, {1, 0, 0}},
         "view->index_batches[0] is 0, must be from 1"},
        {"set_rows",
         {4, 1, {64, 0, 0}, 4, {1, 0, 0}, {1, 1}, {1u << 31, 0, 0}},
         "rows of the table, must be below 2^32"},
        {"set_rows",
         {4, 1, {64, 0, 0}, 4, {1, 0, 0}, {1, 1}, {2, 0, 0}},
         "weights[0].size is 180 bytes, must be at least 324"},
        {"set_rows",
         {4, 1, {96, 0, 0}, 4, {1, 0, 0}, {1, 1}, {1, 0, 0}},
         "src.size is 1024 bytes, must be at least 1408"},
        {"set_rows",
         {4, 1, {64, 0, 0}, 8, {1, 0, 0}, {1, 1}, {1, 0, 0}},
         "indices.size is 16 bytes, must be at least 32"},
    };
    static char memory[4];
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        const qg_family *family = qg_family_named(all[i].family);
        const qg_kernel own = qg_kernel_new(arena, qg_library_find(library, "q4_0"), family, QG_F32, NULL);
        const qk_kernel *kernel = qg_describe(arena, &own, QK_API_VULKAN, NULL);
        int launches = 0;
        qk_backend backend = qk_vulkan_backend(vk);
        backend.context = &launches;
        backend.launch = count_launch;
        const subject s = {.family = family};
        const call c = {.rows = 5, .cols = 64, .tokens = 4, .view = all[i].view};
        const qk_range ranges[ARRAYS] = {
            {memory, 0, 180}, {memory + 1, 0, 16}, {memory + 2, 0, 1024}, {memory + 3, 0, 4}};
        assert_int_not_equal(dispatch(&s, &c, &backend, kernel, ranges), QK_OK);
        if (!strstr(error.text, all[i].text)) fail_msg("'%s', must have '%s'", error.text, all[i].text);
        assert_int_equal(launches, 0);
    }
}

/* ---- the end ---- */

/* A launch makes as many blocks as it is told to: dispatch binds no more, so that devices would hide a longer one. */
static void encode_some(const char *format, uint32_t blocks, uint32_t workgroups) {
    enum { BLOCKS = 256, BEYOND = 0xA5 };
    subject s = open_subject(format, "encode", QG_F32);
    const uint64_t block = s.layout->buffers[0].bytes, bytes = BLOCKS * block;
    const uint64_t elements = (uint64_t)BLOCKS * s.layout->elements;
    const uint32_t tiles = blocks * (s.vulkan->block_elements / s.vulkan->tile_elements);
    float *src = malloc(elements * sizeof *src);
    uint8_t *got = malloc(bytes), *expected = malloc(bytes);
    for (uint64_t i = 0; i < elements; ++i) src[i] = (float)(int32_t)random_word() / 1e6f - 1000;
    memset(got, BEYOND, bytes);
    memset(expected, BEYOND, bytes);
    void *made[] = {expected};
    encode_function *encode;
    memcpy(&encode, &s.reference, sizeof encode);
    encode(made, blocks * (uint64_t)s.layout->elements, src);
    qk_vulkan_buffer *buffers[2];
    assert_int_equal(qk_vulkan_buffer_create(vk, bytes, &buffers[0], &error), QK_OK);
    assert_int_equal(qk_vulkan_buffer_create(vk, elements * sizeof *src, &buffers[1], &error), QK_OK);
    assert_int_equal(qk_vulkan_upload(vk, buffers[0], 0, got, bytes, &error), QK_OK);
    assert_int_equal(qk_vulkan_upload(vk, buffers[1], 0, src, elements * sizeof *src, &error), QK_OK);
    const qk_range ranges[] = {qk_vulkan_range(buffers[0]), qk_vulkan_range(buffers[1])};
    const qk_launch one = {.kernel = s.vulkan, .ranges = ranges, .push = &tiles, .workgroups = workgroups};
    const qk_backend backend = qk_vulkan_backend(vk);
    assert_int_equal(qk_vulkan_begin(vk, &error), QK_OK);
    if (backend.launch(backend.context, &one, &error) != QK_OK) fail_msg("%s", error.text);
    assert_int_equal(qk_vulkan_submit(vk, &error), QK_OK);
    assert_int_equal(qk_vulkan_download(vk, buffers[0], 0, got, bytes, &error), QK_OK);
    assert_memory_equal(got, expected, bytes);
    for (int i = 0; i < 2; ++i) qk_vulkan_buffer_destroy(vk, buffers[i]);
    close_subject(&s);
    free(src);
    free(got);
    free(expected);
}

/* The same of groups in planes, whose buffers end with the last group or the last block. */
static void encode_planes(const char *format, uint32_t groups, uint32_t workgroups) {
    enum { BYTES = 1 << 16, BEYOND = 0xA5, MOST = 4 };
    subject s = open_subject(format, "encode", QG_F32);
    const uint32_t count = s.layout->n_buffers, each = s.layout->block_cols, planes = s.layout->block_rows;
    const uint32_t push[] = {groups, (groups + planes - 1) / planes};
    const uint64_t elements = (uint64_t)groups * each;
    float *src = malloc(elements * sizeof *src);
    uint8_t *got = malloc(BYTES);
    void *made[MOST];
    qk_vulkan_buffer *buffers[MOST + 1];
    qk_range ranges[MOST + 1];
    for (uint64_t i = 0; i < elements; ++i) src[i] = (float)(int32_t)random_word() / 1e6f - 1000;
    assert_true(count <= MOST);
    for (uint32_t i = 0; i <= count; ++i) {
        const void *from = i < count ? memset(got, BEYOND, BYTES) : (void *)src;
        const uint64_t bytes = i < count ? BYTES : elements * sizeof *src;
        if (i < count) made[i] = memset(malloc(BYTES), BEYOND, BYTES);
        assert_int_equal(qk_vulkan_buffer_create(vk, bytes, &buffers[i], &error), QK_OK);
        assert_int_equal(qk_vulkan_upload(vk, buffers[i], 0, from, bytes, &error), QK_OK);
        ranges[i] = qk_vulkan_range(buffers[i]);
    }
    encode_planes_function *encode;
    memcpy(&encode, &s.reference, sizeof encode);
    encode(made, groups, each, src);
    const qk_launch one = {.kernel = s.vulkan, .ranges = ranges, .push = push, .workgroups = workgroups};
    const qk_backend backend = qk_vulkan_backend(vk);
    assert_int_equal(qk_vulkan_begin(vk, &error), QK_OK);
    if (backend.launch(backend.context, &one, &error) != QK_OK) fail_msg("%s", error.text);
    assert_int_equal(qk_vulkan_submit(vk, &error), QK_OK);
    for (uint32_t i = 0; i < count; ++i) {
        assert_int_equal(qk_vulkan_download(vk, buffers[i], 0, got, BYTES, &error), QK_OK);
        assert_memory_equal(got, made[i], BYTES);
        free(made[i]);
    }
    for (uint32_t i = 0; i <= count; ++i) qk_vulkan_buffer_destroy(vk, buffers[i]);
    close_subject(&s);
    free(src);
    free(got);
}

static qk_status keep_workgroups(void *context, const qk_launch *launch, qk_error *why) {
    (void)why;
    *(uint32_t *)context = launch->workgroups;
    return QK_OK;
}

/* Each thread of a team is one of a launch. */
static void test_teams_of_planes(void **state) {
    (void)state;
    uint32_t workgroups = 0;
    subject s = open_subject("hqq_b4_g128", "encode", QG_F32);
    const uint32_t team = s.vulkan->block_cols / s.vulkan->tile_elements, blocks = 1000;
    qk_backend backend = qk_vulkan_backend(vk);
    backend.context = &workgroups;
    backend.launch = keep_workgroups;
    char memory[4];
    qk_range weights[3], src = {memory + 3, 0, UINT64_C(1) << 30};
    for (int i = 0; i < 3; ++i) weights[i] = (qk_range){memory + i, 0, UINT64_C(1) << 30};
    if (qk_dispatch_encode_matrix(&backend, s.vulkan, weights, src, blocks, 256, &error)) fail_msg("%s", error.text);
    assert_true(team > 1);
    assert_int_equal(workgroups, (blocks * team + s.vulkan->workgroup_size - 1) / s.vulkan->workgroup_size);
    close_subject(&s);
}

static void test_end(void **state) {
    (void)state;
    encode_planes("hqq_b4_g64", 73, 1);   /* made by teams, of which some are without a block, or without a group */
    encode_planes("hqq_b3_g128", 131, 2); /* ten planes */
    encode_planes("hqq_b8_g64", 37, 1);
    encode_some("q8_0", 37, 1);  /* made by a part of a workgroup */
    encode_some("q8_0", 130, 2); /* which goes on to more */
    encode_some("q4_1", 37, 3);
    encode_some("q1_0", 65, 1); /* made by teams, of 4 */
    encode_some("tq1_0", 7, 2); /* of 16 */
    encode_some("q6_K", 3, 1);  /* and where a search is part of it */
    encode_some("q4_K", 200, 20);
}

static int open_all(void **state) {
    const qk_vulkan_options options = {.device = getenv("QKGEN_DEVICE"), .cache_path = "", .validate = 0};
    const char *why = NULL;
    (void)state;
    arena = qg_arena_new();
    library = qg_library_new(arena, false);
    if (!qg_library_add_folder(library, "formats")) return -1;
    if (!qg_templates_load(arena, "templates", &templates, &why)) return -1;
    return qg_spirv_open() && qk_vulkan_create(&options, &vk, &error) == QK_OK ? 0 : -1;
}

static int close_all(void **state) {
    (void)state;
    qk_vulkan_destroy(vk);
    qg_spirv_close();
    qg_arena_free(arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_views), cmocka_unit_test(test_begin),
                                       cmocka_unit_test(test_refused), cmocka_unit_test(test_end),
                                       cmocka_unit_test(test_teams_of_planes)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
