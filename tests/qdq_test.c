/* The kernels with trainable scales and biases: what their dispatch refuses, that its parts cover the whole, that division
 * is exact however bad the device's own is, all workgroup sizes, gradients, and training. */
#include "emit/spirv.h"
#include "qdq.h"
#include "quotients.h"
#include "text/plain.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <qkgen/dispatch_qdq.h>
#include <qkgen/vulkan.h>

/* ---- Wrong calls ------------------------------------------------------------------------------------------------- */

enum { INIT, FORWARD, SCALES, BIASES, FAMILIES };
enum { GROUP = 100, GROUPS = 7, ARRAYS = 4 };

static char memory[ARRAYS]; /* addresses that stand for buffers */

typedef struct call {
    qk_backend backend;
    qk_kernel kernel;
    qk_binding bindings[ARRAYS];
    qk_range r[ARRAYS];
    uint64_t groups;
    uint32_t group, bins;
    int no_backend, no_kernel;
} call;

static const qk_kernel *const kernels[FAMILIES] = {&qk_qdq_init_vulkan, &qk_qdq_forward_vulkan,
                                                   &qk_qdq_backward_scales_vulkan, &qk_qdq_backward_biases_vulkan};

/* Bytes of one group in an array. */
static uint64_t unit(const qk_kernel *kernel, uint32_t i, uint32_t group) {
    const char *name = kernel->bindings[i].name;
    const int per_group = strstr(name, "scales") || strstr(name, "biases");
    return (uint64_t)(per_group ? 1 : group) * qk_type_bytes(kernel->bindings[i].element);
}

static qk_status dispatch(int family, const qk_backend *backend, const qk_kernel *kernel, const qk_range *r,
                          uint64_t groups, uint32_t group, uint32_t bins, qk_error *error) {
    switch (family) {
    case INIT: return qk_dispatch_qdq_init(backend, kernel, r[0], r[1], r[2], r[3], groups, group, bins, error);
    case FORWARD: return qk_dispatch_qdq_forward(backend, kernel, r[0], r[1], r[2], r[3], groups, group, error);
    case SCALES: return qk_dispatch_qdq_backward_scales(backend, kernel, r[0], r[1], r[2], groups, group, error);
    default: return qk_dispatch_qdq_backward_biases(backend, kernel, r[0], r[1], groups, group, error);
    }
}

static qk_status count_launch(void *context, const qk_launch *launch, qk_error *error) {
    (void)launch;
    (void)error;
    ++*(uint32_t *)context;
    return QK_OK;
}

static call right_call(int family, uint32_t *launches) {
    call c = {0};
    c.backend =
        (qk_backend){.context = launches, .limits = {UINT32_MAX, 4, 65535, 256, 128, 0}, .launch = count_launch};
    c.kernel = *kernels[family];
    memcpy(c.bindings, c.kernel.bindings, c.kernel.binding_count * sizeof *c.bindings);
    c.groups = GROUPS;
    c.group = GROUP;
    c.bins = 16;
    for (uint32_t i = 0; i < c.kernel.binding_count; i++)
        c.r[i] = (qk_range){memory + i, 0, GROUPS * unit(&c.kernel, i, GROUP)};
    return c;
}

static qk_status make_call(call *c, int family, qk_error *error) {
    if (c->kernel.bindings != NULL) c->kernel.bindings = c->bindings;
    return dispatch(family, c->no_backend ? NULL : &c->backend, c->no_kernel ? NULL : &c->kernel, c->r, c->groups,
                    c->group, c->bins, error);
}

/* Each row: the family, what is wrong, the status, and the text after the family's name. */
/* clang-format off */
#define CASES(X)                                                                                                       \
    X(INIT, no_backend, c->no_backend = 1, ARGUMENT, "backend is NULL, must be a backend")                             \
    X(INIT, no_launch, c->backend.launch = NULL, ARGUMENT, "backend->launch is NULL, must be a function")              \
    X(INIT, family, (c->kernel = *kernels[FORWARD], c->kernel.name = kernels[INIT]->name), ARGUMENT,                                                           \
      "kernel->push_bytes is 8, must be 16, as this family has it")                                                   \
    X(SCALES, other_family, (c->kernel = *kernels[BIASES], c->kernel.name = kernels[SCALES]->name), ARGUMENT,           \
      "kernel->binding_count is 2, must be 3")           \
    X(INIT, bindings, c->kernel.binding_count = 3, ARGUMENT, "kernel->binding_count is 3, must be 4")                  \
    X(INIT, no_bindings, c->kernel.bindings = NULL, ARGUMENT, "kernel->binding_count is 0, must be 4")                 \
    X(INIT, role, c->bindings[3].role = QK_ROLE_INPUT, ARGUMENT,                                                       \
      "kernel->bindings[3].role is 2, must be 3, as this family has it")                                               \
    X(SCALES, push, c->kernel.push_bytes = 16, ARGUMENT, "kernel->push_bytes is 16, must be 12, as this family has it")\
    X(INIT, workgroup, c->kernel.workgroup_size = 96, ARGUMENT,                                                        \
      "kernel->workgroup_size is 96, must be a power of two from 32 to 1024")                                          \
    X(INIT, small_workgroup, c->kernel.workgroup_size = 16, ARGUMENT,                                                  \
      "kernel->workgroup_size is 16, must be a power of two from 32 to 1024")                                          \
    X(INIT, workgroup_limit, c->backend.limits.workgroup_size = 128, LIMIT,                                            \
      "kernel->workgroup_size is 256, must be from 1 to 128 on this device")                                           \
    X(INIT, api, c->backend.api = QK_API_METAL, ARGUMENT,                                                              \
      "kernel->api is QK_API_VULKAN, must be QK_API_METAL, as the backend's")                                          \
    X(INIT, push_limit, c->backend.limits.push_bytes = 12, LIMIT,                                                      \
      "kernel->push_bytes is 16, must be at most 12 on this device")                                                   \
    X(INIT, group, c->group = 98, ARGUMENT, "group is 98, must be a multiple of 4 from 4 to 4096")                     \
    X(FORWARD, no_group, c->group = 0, ARGUMENT, "group is 0, must be a multiple of 4 from 4 to 4096")                 \
    X(BIASES, large_group, c->group = 4100, ARGUMENT, "group is 4100, must be a multiple of 4 from 4 to 4096")         \
    X(INIT, one_bin, c->bins = 1, ARGUMENT, "bins is 1, must be from 2 to 256")                                        \
    X(INIT, bins, c->bins = 257, ARGUMENT, "bins is 257, must be from 2 to 256")                                       \
    X(INIT, w_buffer, c->r[0].buffer = NULL, ARGUMENT, "w.buffer is NULL, must be a buffer")                           \
    X(INIT, w_size, c->r[0].size -= 1, SIZE, "w.size is 2799 bytes, must be at least 2800")                            \
    X(INIT, scales_size, c->r[1].size = 0, SIZE, "scales.size is 0 bytes, must be at least 28")                        \
    X(INIT, biases_size, c->r[2].size = 27, SIZE, "biases.size is 27 bytes, must be at least 28")                      \
    X(INIT, q_size, c->r[3].size = 699, SIZE, "q.size is 699 bytes, must be at least 700")                             \
    X(FORWARD, y_size, c->r[3].size = 2796, SIZE, "y.size is 2796 bytes, must be at least 2800")                       \
    X(SCALES, dy_size, c->r[1].size = 2796, SIZE, "dy.size is 2796 bytes, must be at least 2800")                      \
    X(SCALES, sums_size, c->r[2].size = 24, SIZE, "d_scales.size is 24 bytes, must be at least 28")                    \
    X(BIASES, sums_size_2, c->r[1].size = 24, SIZE, "d_biases.size is 24 bytes, must be at least 28")                  \
    X(INIT, w_offset, c->r[0].offset = 4, ALIGNMENT, "w.offset is 4, must be a multiple of 16")                        \
    X(FORWARD, y_offset, c->r[3].offset = 8, ALIGNMENT, "y.offset is 8, must be a multiple of 16")                     \
    X(FORWARD, q_offset, c->r[0].offset = 2, ALIGNMENT, "q.offset is 2, must be a multiple of 4")                      \
    X(BIASES, dy_offset, (c->backend.limits.offset_alignment = 64, c->r[0].offset = 32), ALIGNMENT,                    \
      "dy.offset is 32, must be a multiple of 64")                                                                     \
    X(INIT, range_end, c->r[0].offset = UINT64_MAX - 15, SIZE,                                                         \
      "w.size is 2800 bytes from offset 18446744073709551600, must end below 2^64")                                    \
    X(INIT, many, c->groups = UINT64_MAX / 4, LIMIT,                                                                   \
      "w needs 4611686018427387903 times 400 bytes, must be below 2^64")                                               \
    X(INIT, overlap, (c->r[3].buffer = memory, c->r[3].offset = 2796), ARGUMENT,                                       \
      "q is bytes 2796 to 3496 of a buffer, must be apart from w, bytes 0 to 2800")                                    \
    X(INIT, overlap_outputs, c->r[2].buffer = memory + 1, ARGUMENT,                                                    \
      "scales is bytes 0 to 28 of a buffer, must be apart from biases, bytes 0 to 28")                                 \
    X(FORWARD, overlap_y, (c->r[3].buffer = memory + 1), ARGUMENT,                                                     \
      "y is bytes 0 to 2800 of a buffer, must be apart from scales, bytes 0 to 28")                                    \
    X(BIASES, overlap_sums, (c->r[1].buffer = memory, c->r[1].offset = 400), ARGUMENT,                                 \
      "d_biases is bytes 400 to 428 of a buffer, must be apart from dy, bytes 0 to 2800")                              \
    X(INIT, range, c->backend.limits.storage_range = 399, LIMIT,                                                       \
      "w takes 400 bytes for one group, must be at most 399, the device's storage range")                              \
    X(INIT, aligned_range, (c->backend.limits.offset_alignment = 16, c->backend.limits.storage_range = 1599), LIMIT,   \
      "w takes 400 bytes for one group, must be at most 300, so that 4 fit, which offset alignment asks")
/* clang-format on */

#define EDIT(family, name, edit, status, text)                                                                         \
    static void edit_##name(call *c) { edit; }
CASES(EDIT)

static const struct {
    const char *name;
    int family;
    void (*edit)(call *c);
    qk_status status;
    const char *text;
} cases[] = {
#define ROW(family, name, edit, status, text) {#name, family, edit_##name, QK_ERROR_##status, text},
    CASES(ROW)};

static void test_wrong_calls(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t launches = 0;
        qk_error error = {""};
        call c = right_call(cases[i].family, &launches);
        assert_int_equal(make_call(&c, cases[i].family, &error), QK_OK);
        assert_int_equal(launches, 1);
        const size_t prefix = strlen(c.kernel.name);
        cases[i].edit(&c);
        const qk_status status = make_call(&c, cases[i].family, &error);
        if (status != cases[i].status || strncmp(error.text, c.kernel.name, prefix) != 0 ||
            strncmp(error.text + prefix, ": ", 2) != 0 || strcmp(error.text + prefix + 2, cases[i].text) != 0)
            fail_msg("%s: status %d, \"%s\"", cases[i].name, (int)status, error.text);
        if (launches != 1) fail_msg("%s: launched", cases[i].name);
        assert_int_equal(make_call(&c, cases[i].family, NULL), cases[i].status);
    }
    uint32_t launches = 0;
    qk_error error;
    call c = right_call(INIT, &launches);
    c.no_kernel = 1;
    assert_int_equal(make_call(&c, INIT, &error), QK_ERROR_ARGUMENT);
    assert_string_equal(error.text, "kernel is NULL, must be a descriptor");
    c = right_call(INIT, &launches);
    c.groups = 0; /* looks at no range */
    memset(c.r, 0, sizeof c.r);
    assert_int_equal(make_call(&c, INIT, &error), QK_OK);
    assert_int_equal(launches, 0);
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

typedef struct parts {
    int family;
    uint32_t group, alignment;
    uint64_t done, launches, range;
} parts;

static qk_status check_part(void *context, const qk_launch *l, qk_error *error) {
    parts *p = context;
    const uint32_t *push = l->push, quads = p->group / 4, size = l->kernel->workgroup_size;
    const uint64_t groups = p->family == FORWARD ? push[0] / quads : push[0];
    (void)error;
    assert_int_equal(push[1], quads);
    if (p->family != FORWARD) {
        const uint32_t lanes = push[2], most = size < 256 ? 1024 / size : 4;
        assert_true(lanes > 0 && (lanes & (lanes - 1)) == 0 && lanes <= size && lanes * most >= quads);
    }
    for (uint32_t i = 0; i < l->kernel->binding_count; i++) {
        const uint64_t bytes = unit(l->kernel, i, p->group);
        assert_int_equal(l->ranges[i].offset, p->done * bytes);
        assert_int_equal(l->ranges[i].size, groups * bytes);
        assert_int_equal(l->ranges[i].offset % p->alignment, 0);
        assert_true(l->ranges[i].size <= p->range && l->ranges[i].size <= UINT32_MAX && groups > 0);
    }
    assert_true(l->workgroups > 0 && l->workgroups <= 65535);
    p->done += groups;
    p->launches++;
    return QK_OK;
}

static void check_parts(int family, uint64_t groups, uint32_t group, uint64_t range, uint32_t alignment,
                        uint64_t launches) {
    parts p = {family, group, alignment, 0, 0, range};
    qk_backend backend = {.context = &p, .limits = {range, alignment, 65535, 1024, 128, 0}, .launch = check_part};
    qk_range r[ARRAYS];
    qk_error error = {""};
    for (uint32_t i = 0; i < kernels[family]->binding_count; i++)
        r[i] = (qk_range){memory + i, 0, groups * unit(kernels[family], i, group)};
    if (dispatch(family, &backend, kernels[family], r, groups, group, 256, &error) != QK_OK) fail_msg("%s", error.text);
    assert_int_equal(p.done, groups);
    assert_int_equal(p.launches, launches);
}

static void test_parts(void **state) {
    (void)state;
    for (int family = 0; family < FAMILIES; family++) {
        check_parts(family, 1, 4, 16, 16, 1);
        check_parts(family, 1, 4096, 16384, 256, 1);
        check_parts(family, 1u << 18, 128, 134217728, 64, 1); /* to the byte */
        check_parts(family, (1u << 18) + 1, 128, 134217728, 64, 2);
        check_parts(family, UINT64_C(1) << 26, 64, UINT32_MAX, 256, 5); /* 2^32 elements */
        check_parts(family, UINT64_C(1) << 30, 4, UINT64_MAX, 256, 5);
        check_parts(family, (UINT64_C(1) << 24) + 3, 4092, UINT32_MAX, 64, 64); /* 2^36 */
        for (uint32_t group = 4; group <= QK_QDQ_MAX_GROUP; group += 4) check_parts(family, 3, group, 1u << 20, 4, 1);
    }
}

/* ---- A device ---------------------------------------------------------------------------------------------------- */

static qk_vulkan *vulkan;
static qk_error error;

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        if ((call) != QK_OK) fail_msg("%s", error.text);                                                               \
    } while (0)

static float uniform(void) { return (float)(random32() >> 8) / 8388608.0f - 1.0f; }

static void *zeros(size_t bytes) {
    void *data = calloc(bytes + 1, 1);
    assert_non_null(data);
    return data;
}

/* One call on the device: uploads what is read, and downloads what is written. `limits` may lower those of the device. */
static void on_device(int family, const qk_kernel *kernel, const qk_limits *limits, void *const *data, uint64_t groups,
                      uint32_t group, uint32_t bins) {
    qk_vulkan_buffer *buffers[ARRAYS] = {0};
    qk_range r[ARRAYS] = {{0}};
    qk_backend backend = qk_vulkan_backend(vulkan);
    if (limits != NULL) {
        backend.limits.storage_range = limits->storage_range;
        backend.limits.workgroup_count = limits->workgroup_count;
    }
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        const uint64_t bytes = groups * unit(kernel, i, group);
        MUST(qk_vulkan_buffer_create(vulkan, bytes, &buffers[i], &error));
        r[i] = qk_vulkan_range(buffers[i]);
        if (kernel->bindings[i].role == QK_ROLE_INPUT)
            MUST(qk_vulkan_upload(vulkan, buffers[i], 0, data[i], bytes, &error));
    }
    MUST(qk_vulkan_begin(vulkan, &error));
    MUST(dispatch(family, &backend, kernel, r, groups, group, bins, &error));
    MUST(qk_vulkan_submit(vulkan, &error));
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        if (kernel->bindings[i].role == QK_ROLE_OUTPUT)
            MUST(qk_vulkan_download(vulkan, buffers[i], 0, data[i], groups * unit(kernel, i, group), &error));
        qk_vulkan_buffer_destroy(vulkan, buffers[i]);
    }
}

/* ---- Exact division ---------------------------------------------------------------------------------------------- */

/* The GLSL of qdq_init, with `from` written as `to`. */
static char *changed_glsl(qg_arena *arena, const char *from, const char *to) {
    const qg_plain_set *set = NULL;
    const qg_plain *family = qg_plain_named("qdq_init", &set);
    const qg_plain_request request = {.set = set, .n_families = 1, .families = &family, .command = "a test"};
    const char *source = getenv("SOURCE"), *why = NULL;
    qg_templates templates;
    if (!qg_templates_load(arena, qg_format(arena, "%s/templates", source ? source : "."), &templates, &why))
        fail_msg("%s", why);
    char *glsl = qg_plain_glsl(arena, &templates, &request, family, &why);
    if (!glsl) fail_msg("%s", why);
    if (!from) return glsl;
    const char *at = strstr(glsl, from);
    if (!at) fail_msg("the GLSL of qdq_init has no '%s'", from);
    return qg_format(arena, "%.*s%s%s", (int)(at - glsl), glsl, to, at + strlen(from));
}

static const qk_kernel *compiled(qg_arena *arena, const char *glsl) {
    const char *why = NULL;
    qk_code *code = QG_NEW(arena, qk_code);
    code->data = qg_spirv_compile(arena, "qdq_test", glsl, &code->bytes, &why);
    if (!code->data) fail_msg("%s", why);
    return qg_plain_describe(arena, qg_plain_named("qdq_init", NULL), QK_API_VULKAN, code);
}

/* The quotients of `pairs` on the device. */
static void divide_on_device(const qk_kernel *kernel, const uint32_t *pairs, uint32_t *quotients) {
    const uint64_t sizes[] = {8 * (uint64_t)QUOTIENTS, 4 * (uint64_t)QUOTIENTS, 4, 4};
    const uint32_t push[] = {QUOTIENTS / 2, 0, 1, 2};
    qk_vulkan_buffer *buffers[4];
    qk_range ranges[4];
    const qk_backend backend = qk_vulkan_backend(vulkan);
    for (uint32_t i = 0; i < 4; i++) {
        MUST(qk_vulkan_buffer_create(vulkan, sizes[i], &buffers[i], &error));
        ranges[i] = qk_vulkan_range(buffers[i]);
    }
    const qk_launch launch = {kernel, ranges, push, 64, NULL};
    MUST(qk_vulkan_upload(vulkan, buffers[0], 0, pairs, sizes[0], &error));
    MUST(qk_vulkan_begin(vulkan, &error));
    MUST(backend.launch(backend.context, &launch, &error));
    MUST(qk_vulkan_submit(vulkan, &error));
    MUST(qk_vulkan_download(vulkan, buffers[1], 0, quotients, sizes[1], &error));
    for (uint32_t i = 0; i < 4; i++) qk_vulkan_buffer_destroy(vulkan, buffers[i]);
    qk_vulkan_forget(vulkan, kernel);
}

static const char main_of_division[] =
    "void main() {\n"
    "    for (uint i = gl_GlobalInvocationID.x; i < groups; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {\n"
    "        scales[2u * i] = exact_quotient(w[i].x, w[i].y);\n"
    "        scales[2u * i + 1u] = exact_quotient(w[i].z, w[i].w);\n"
    "    }\n"
    "    if (groups == 0u) biases[0] = q[0] = partial[0].x == 0 ? 1u : 0u;\n"
    "}\n";

/* The division of the kernel against that of this processor, also where the device's own is 4 units off. */
static void test_division(void **state) {
    (void)state;
    static const char *const guesses[] = {"float(n) / float(d)", "float(n) / float(d) * (1.0 + 4.0 / 8388608.0)",
                                          "float(n) / float(d) * (1.0 - 4.0 / 8388608.0)"};
    uint32_t *pairs = zeros(8 * (size_t)QUOTIENTS), *quotients = zeros(4 * (size_t)QUOTIENTS);
    make_pairs(pairs);
    const uint32_t halves = count_halves(pairs);
    print_message("%d quotients, %u of them within 1e-6 units of halfway, or there\n", QUOTIENTS, halves);
    assert_true(halves > QUOTIENTS / 10);
    for (size_t i = 0; i < sizeof guesses / sizeof *guesses; i++) {
        qg_arena *arena = qg_arena_new();
        char *glsl = changed_glsl(arena, guesses[0], guesses[i]);
        char *at = strstr(glsl, "void main() {");
        assert_non_null(at);
        *at = '\0';
        glsl = qg_format(arena, "%s%s", glsl, main_of_division);
        for (char *word = glsl; (word = strstr(word, "writeonly")) != NULL;) memset(word, ' ', 9);
        divide_on_device(compiled(arena, glsl), pairs, quotients);
        assert_int_equal(count_wrong(pairs, quotients), 0);
        qg_arena_free(arena);
    }
    /* The test sees a unit that is wrong. */
    quotients[5] ^= 1;
    assert_int_equal(count_wrong(pairs, quotients), 1);
    free(pairs);
    free(quotients);
}

/* Weights whose quotients are within two units of k + 1/2, or exactly there. */
static void make_halves(float *w, uint32_t groups, uint32_t group, uint32_t bins) {
    for (uint32_t g = 0; g < groups; g++, w += group) {
        const float low = uniform(), range = ldexpf(1.5f + uniform() / 2, (int)(random32() % 30) - 15);
        const float high = low + range, scale = (high - low) / (float)(bins - 1);
        for (uint32_t i = 0; i < group; i++) {
            const float half = low + ((float)(random32() % (bins - 1)) + 0.5f) * scale;
            w[i] = of_bits(bits_of(half) + random32() % 5 - 2);
            if (!(w[i] >= low && w[i] <= high)) w[i] = low;
        }
        w[random32() % (group / 2)] = low;
        w[group / 2] = high;
    }
}

/* How many results of qdq_init on the device differ from the reference. */
static uint32_t wrong_codes(const qk_kernel *kernel, const float *w, uint32_t groups, uint32_t group, uint32_t bins) {
    const size_t n = (size_t)groups * group;
    float *s = zeros(4 * groups), *b = zeros(4 * groups), *must_s = zeros(4 * groups), *must_b = zeros(4 * groups);
    uint8_t *q = zeros(n), *must_q = zeros(n);
    void *const data[] = {(void *)(uintptr_t)w, s, b, q};
    uint32_t wrong = 0;
    on_device(INIT, kernel, NULL, data, groups, group, bins);
    qk_qdq_init_ref(groups, group, bins, w, must_s, must_b, must_q);
    for (size_t i = 0; i < n; i++) wrong += q[i] != must_q[i];
    for (size_t i = 0; i < groups; i++) wrong += bits_of(s[i]) != bits_of(must_s[i]) || b[i] != must_b[i];
    free(s), free(b), free(must_s), free(must_b), free(q), free(must_q);
    return wrong;
}

/* Codes of more than a million weights near halves, also where 1 / scale is 3 units off; and such a device would be noticed
 * if the kernel did not ask whether a quotient is near a half. */
static void test_codes(void **state) {
    (void)state;
    enum { N = 1 << 20 };
    static const char reciprocal[] = "1.0 / uintBitsToFloat(usual ? scale : 0x3F800000u);";
    static const char *const changes[] = {reciprocal,
                                          "(1.0 + 3.0 / 8388608.0) / uintBitsToFloat(usual ? scale : 0x3F800000u);",
                                          "(1.0 - 3.0 / 8388608.0) / uintBitsToFloat(usual ? scale : 0x3F800000u);"};
    float *w = zeros(4 * (size_t)N);
    for (size_t i = 0; i < 3; i++) {
        qg_arena *arena = qg_arena_new();
        const qk_kernel *kernel = compiled(arena, changed_glsl(arena, reciprocal, changes[i]));
        for (uint32_t bins = 2; bins <= 256; bins = bins * 2 + (bins == 16)) {
            if (bins > 256) break;
            make_halves(w, N / 64, 64, bins);
            assert_int_equal(wrong_codes(kernel, w, N / 64, 64, bins), 0);
        }
        make_halves(w, N / 256, 256, 256);
        assert_int_equal(wrong_codes(kernel, w, N / 256, 256, 256), 0);
        qk_vulkan_forget(vulkan, kernel);
        qg_arena_free(arena);
    }
    qg_arena *arena = qg_arena_new();
    const qk_kernel *kernel = compiled(arena, changed_glsl(arena, "all(lessThan(off, vec4(sure)))", "usual"));
    const uint32_t wrong = wrong_codes(kernel, w, N / 256, 256, 256);
    print_message("without the question: %u of %d codes are wrong\n", wrong, N);
    assert_true(wrong > 1000);
    qk_vulkan_forget(vulkan, kernel);
    qg_arena_free(arena);
    free(w);
}

/* ---- Workgroups of all sizes, and launches in parts -------------------------------------------------------------- */

static double l2_error(const float *is, const float *must, size_t n) {
    double e = 0, norm = 0;
    for (size_t i = 0; i < n; i++) {
        e += ((double)is[i] - (double)must[i]) * ((double)is[i] - (double)must[i]);
        norm += (double)must[i] * (double)must[i];
    }
    return sqrt(e / norm);
}

static void check_all(const qk_kernel *const *k, const qk_limits *limits, uint32_t groups, uint32_t group) {
    const size_t n = (size_t)groups * group;
    float *w = zeros(4 * n), *y = zeros(4 * n), *must_y = zeros(4 * n), *dy = zeros(4 * n);
    float *s = zeros(4 * groups), *b = zeros(4 * groups), *must_s = zeros(4 * groups), *must_b = zeros(4 * groups);
    uint8_t *q = zeros(n), *must_q = zeros(n);
    for (size_t i = 0; i < n; i++) w[i] = uniform() * 3, dy[i] = uniform();
    void *const init[] = {w, s, b, q}, *const forward[] = {q, s, b, y}, *const scales[] = {q, dy, s},
                *const biases[] = {dy, b};
    on_device(INIT, k[INIT], limits, init, groups, group, 256);
    qk_qdq_init_ref(groups, group, 256, w, must_s, must_b, must_q);
    assert_memory_equal(s, must_s, 4 * groups);
    assert_memory_equal(b, must_b, 4 * groups);
    assert_memory_equal(q, must_q, n);
    on_device(FORWARD, k[FORWARD], limits, forward, groups, group, 256);
    qk_qdq_forward_ref(groups, group, q, s, b, must_y);
    assert_memory_equal(y, must_y, 4 * n);
    on_device(SCALES, k[SCALES], limits, scales, groups, group, 256);
    qk_qdq_backward_scales_ref(groups, group, q, dy, must_s);
    assert_true(l2_error(s, must_s, groups) <= 2e-6);
    on_device(BIASES, k[BIASES], limits, biases, groups, group, 256);
    qk_qdq_backward_biases_ref(groups, group, dy, must_b);
    assert_true(l2_error(b, must_b, groups) <= 2e-6);
    free(w), free(y), free(must_y), free(dy), free(s), free(b), free(must_s), free(must_b), free(q), free(must_q);
}

static void test_workgroups(void **state) {
    (void)state;
    const qk_spec_constant *constant = kernels[INIT]->spec_constants;
    for (uint32_t i = 0; i < constant->legal_count; i++) {
        if (constant->legal[i] > qk_vulkan_info(vulkan)->workgroup_size) continue;
        qk_spec_constant other = *constant;
        qk_kernel copies[FAMILIES];
        const qk_kernel *pointers[FAMILIES];
        other.value = constant->legal[i];
        for (int family = 0; family < FAMILIES; family++) {
            copies[family] = *kernels[family];
            copies[family].workgroup_size = other.value;
            copies[family].spec_constants = &other;
            pointers[family] = &copies[family];
        }
        check_all(pointers, NULL, 301, 4);
        check_all(pointers, NULL, 40, 60);
        check_all(pointers, NULL, 33, 1000);
        check_all(pointers, NULL, 9, 4096);
        for (int family = 0; family < FAMILIES; family++) qk_vulkan_forget(vulkan, &copies[family]);
    }
}

/* Few workgroups, so that threads loop; small bindings, so that there are many launches. */
static void test_small_limits(void **state) {
    (void)state;
    const qk_limits loops = {.storage_range = UINT32_MAX, .workgroup_count = 3};
    const qk_limits both = {.storage_range = 1 << 18, .workgroup_count = 2};
    check_all(kernels, &loops, 5003, 4);
    check_all(kernels, &loops, 1501, 100);
    check_all(kernels, &loops, 17, 4096);
    check_all(kernels, &both, 20011, 12);
    check_all(kernels, &both, 1501, 100);
    check_all(kernels, &both, 133, 1024);
}

/* More groups than 65535 workgroups of 256 threads reach in one round. */
static void test_many(void **state) {
    (void)state;
    const uint32_t groups = 65535u * 256u + 1000;
    const size_t n = 4 * (size_t)groups;
    float *dy = zeros(4 * n), *sums = zeros(4 * (size_t)groups);
    void *const data[] = {dy, sums};
    uint32_t wrong = 0;
    for (size_t i = 0; i < n; i++) dy[i] = (float)(i % 4099);
    on_device(BIASES, kernels[BIASES], NULL, data, groups, 4, 2);
    for (size_t g = 0; g < groups; g++)
        wrong += sums[g] != (dy[4 * g] + dy[4 * g + 1]) + (dy[4 * g + 2] + dy[4 * g + 3]);
    assert_int_equal(wrong, 0);
    free(dy);
    free(sums);
}

/* ---- Gradients and training -------------------------------------------------------------------------------------- */

/* A least-squares problem: the loss is half the mean of the squares of A (y - target), where A is a matrix of few entries in
 * each row. In float64, but for y. */
enum { PROBLEM_GROUPS = 24, PROBLEM_GROUP = 60, PROBLEM = PROBLEM_GROUPS * PROBLEM_GROUP, TAPS = 5 };

typedef struct problem {
    uint8_t q[PROBLEM];
    double target[PROBLEM], a[PROBLEM][TAPS];
    uint32_t column[PROBLEM][TAPS];
} problem;

/* The loss of y; its gradient goes to dy. */
static double loss(const problem *p, const double *y, double *dy) {
    double sum = 0;
    memset(dy, 0, PROBLEM * sizeof *dy);
    for (uint32_t r = 0; r < PROBLEM; r++) {
        double residual = 0;
        for (uint32_t t = 0; t < TAPS; t++) {
            const uint32_t c = p->column[r][t];
            residual += p->a[r][t] * (y[c] - p->target[c]);
        }
        sum += residual * residual / (2.0 * PROBLEM);
        for (uint32_t t = 0; t < TAPS; t++) dy[p->column[r][t]] += p->a[r][t] * residual / PROBLEM;
    }
    return sum;
}

static double loss_of(const problem *p, const double *s, const double *b, double *dy) {
    static double y[PROBLEM];
    for (uint32_t i = 0; i < PROBLEM; i++) y[i] = p->q[i] * s[i / PROBLEM_GROUP] + b[i / PROBLEM_GROUP];
    return loss(p, y, dy);
}

/* Codes and scales of random weights by qdq_init; the target is those weights. */
static void make_problem(problem *p, float *s, float *b) {
    float w[PROBLEM];
    for (uint32_t i = 0; i < PROBLEM; i++) {
        w[i] = uniform() * uniform() * uniform() * 2; /* with tails: the least and the largest serve the others badly */
        p->target[i] = (double)w[i];
        for (uint32_t t = 0; t < TAPS; t++) {
            p->a[i][t] = t == 0 ? 1 : 0.3 * (double)uniform();
            p->column[i][t] = t == 0 ? i : random32() % PROBLEM;
        }
    }
    void *const data[] = {w, s, b, p->q};
    on_device(INIT, kernels[INIT], NULL, data, PROBLEM_GROUPS, PROBLEM_GROUP, 4);
}

typedef void step_function(const problem *p, const float *s, const float *b, float *y, const float *dy, float *ds,
                           float *db);

/* With `dy`: the gradients of s and b; without: y. */
static void step_on_device(const problem *p, const float *s, const float *b, float *y, const float *dy, float *ds,
                           float *db) {
    void *const forward[] = {(void *)(uintptr_t)p->q, (void *)(uintptr_t)s, (void *)(uintptr_t)b, y};
    void *const scales[] = {(void *)(uintptr_t)p->q, (void *)(uintptr_t)dy, ds};
    void *const biases[] = {(void *)(uintptr_t)dy, db};
    if (dy == NULL) {
        on_device(FORWARD, kernels[FORWARD], NULL, forward, PROBLEM_GROUPS, PROBLEM_GROUP, 2);
        return;
    }
    on_device(SCALES, kernels[SCALES], NULL, scales, PROBLEM_GROUPS, PROBLEM_GROUP, 2);
    on_device(BIASES, kernels[BIASES], NULL, biases, PROBLEM_GROUPS, PROBLEM_GROUP, 2);
}

static void step_by_reference(const problem *p, const float *s, const float *b, float *y, const float *dy, float *ds,
                              float *db) {
    if (dy == NULL) {
        qk_qdq_forward_ref(PROBLEM_GROUPS, PROBLEM_GROUP, p->q, s, b, y);
        return;
    }
    qk_qdq_backward_scales_ref(PROBLEM_GROUPS, PROBLEM_GROUP, p->q, dy, ds);
    qk_qdq_backward_biases_ref(PROBLEM_GROUPS, PROBLEM_GROUP, dy, db);
}

/* y, the loss and the gradients by the kernels. */
static double gradients(step_function *step, const problem *p, const float *s, const float *b, float *ds, float *db) {
    static float y[PROBLEM], dy[PROBLEM];
    static double wide[PROBLEM], wide_dy[PROBLEM];
    step(p, s, b, y, NULL, NULL, NULL);
    for (uint32_t i = 0; i < PROBLEM; i++) wide[i] = (double)y[i];
    const double value = loss(p, wide, wide_dy);
    for (uint32_t i = 0; i < PROBLEM; i++) dy[i] = (float)wide_dy[i];
    step(p, s, b, y, dy, ds, db);
    return value;
}

static void test_gradients(void **state) {
    (void)state;
    static problem p;
    static double scratch[PROBLEM];
    float s[PROBLEM_GROUPS], b[PROBLEM_GROUPS], d[2][PROBLEM_GROUPS];
    double wide[2][PROBLEM_GROUPS], e = 0, norm = 0;
    make_problem(&p, s, b);
    (void)gradients(step_on_device, &p, s, b, d[0], d[1]);
    for (uint32_t g = 0; g < PROBLEM_GROUPS; g++) wide[0][g] = (double)s[g], wide[1][g] = (double)b[g];
    for (uint32_t which = 0; which < 2; which++)
        for (uint32_t g = 0; g < PROBLEM_GROUPS; g++) {
            const double at = wide[which][g], h = 1e-4;
            wide[which][g] = at + h;
            const double above = loss_of(&p, wide[0], wide[1], scratch);
            wide[which][g] = at - h;
            const double slope = (above - loss_of(&p, wide[0], wide[1], scratch)) / (2 * h);
            wide[which][g] = at;
            e += (slope - (double)d[which][g]) * (slope - (double)d[which][g]);
            norm += slope * slope;
        }
    print_message("gradients against differences in float64: %.2g\n", sqrt(e / norm));
    assert_true(norm > 0 && sqrt(e / norm) < 1e-5);
}

/* 200 steps of gradient descent, beside the same in float64. */
static void train(const char *name, step_function *step) {
    enum { STEPS = 200 };
    static problem p;
    static double dy[PROBLEM];
    const double rate = 2;
    float s[PROBLEM_GROUPS], b[PROBLEM_GROUPS], ds[PROBLEM_GROUPS], db[PROBLEM_GROUPS];
    double wide_s[PROBLEM_GROUPS], wide_b[PROBLEM_GROUPS], first = 0, last = 0, wide_last = 0, apart = 0;
    random_state = 7;
    make_problem(&p, s, b);
    for (uint32_t g = 0; g < PROBLEM_GROUPS; g++) wide_s[g] = (double)s[g], wide_b[g] = (double)b[g];
    for (uint32_t i = 0; i < STEPS; i++) {
        last = gradients(step, &p, s, b, ds, db);
        wide_last = loss_of(&p, wide_s, wide_b, dy);
        if (i == 0) first = last;
        apart = fmax(apart, fabs(last - wide_last) / wide_last);
        for (uint32_t g = 0; g < PROBLEM_GROUPS; g++) {
            s[g] -= (float)rate * ds[g];
            b[g] -= (float)rate * db[g];
            double d_s = 0, d_b = 0;
            for (uint32_t k = g * PROBLEM_GROUP; k < (g + 1) * PROBLEM_GROUP; k++) d_s += p.q[k] * dy[k], d_b += dy[k];
            wide_s[g] -= rate * d_s;
            wide_b[g] -= rate * d_b;
        }
    }
    print_message("%s: the loss goes from %.6g to %.6g in %d steps, in float64 to %.6g; at most %.2g apart\n", name,
                  first, last, STEPS, wide_last, apart);
    assert_true(last < 0.8 * first);
    assert_true(apart < 1e-5);
}

static void test_training(void **state) {
    (void)state;
    train("Vulkan", step_on_device);
    train("C", step_by_reference);
}

/* ---- */

static int open_device(void **state) {
    const char *validation = getenv("QKGEN_VALIDATION");
    const qk_vulkan_options options = {.validate = validation && *validation && strcmp(validation, "0") != 0};
    (void)state;
    if (!qg_spirv_open()) return -1;
    if (qk_vulkan_create(&options, &vulkan, &error) == QK_OK) return 0;
    print_error("%s\n", error.text);
    return -1;
}

static int close_device(void **state) {
    (void)state;
    const uint32_t messages = qk_vulkan_messages(vulkan);
    qk_vulkan_destroy(vulkan);
    qg_spirv_close();
    return messages ? -1 : 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_calls), cmocka_unit_test(test_parts),      cmocka_unit_test(test_division),
        cmocka_unit_test(test_codes),       cmocka_unit_test(test_workgroups), cmocka_unit_test(test_small_limits),
        cmocka_unit_test(test_many),        cmocka_unit_test(test_gradients),  cmocka_unit_test(test_training),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
