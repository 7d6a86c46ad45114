/* How GLSL kernels round to f16 and bf16: every kind of number through the functions of the prelude, and the module that
 * a device gets which rounds by itself. */
#include "emit/spirv.h"
#include "text/text.h"

#include "../runtime/vulkan_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { QUADS = 1 << 18, VALUES = 4 * QUADS };

static const char shader[] = "layout(local_size_x_id = 0) in;\n"
                             "layout(binding = 0, std430) readonly buffer In { uvec4 from[]; };\n"
                             "layout(binding = 1, std430) writeonly buffer Out { uvec4 to[]; };\n"
                             "layout(push_constant) uniform Push { uint quads; };\n"
                             "void main() {\n"
                             "    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;\n"
                             "    for (uint i = gl_GlobalInvocationID.x; i < quads; i += threads) {\n"
                             "        const vec4 v = uintBitsToFloat(from[i]);\n"
                             "        to[i] = uvec4(pack_f16(v), pack_bf16(v));\n"
                             "    }\n"
                             "}\n";

/* The words of the kernel, or NULL after a message. */
static const uint32_t *compile(qg_arena *arena, size_t *bytes) {
    const char *source = getenv("SOURCE"), *why = NULL;
    const qg_binding holes[] = {{"f16_to_f32", NULL}, {"bf16_to_f32", NULL}, {"to_f16", ""},      {"to_bf16", ""},
                                {"halves", ""},       {"half_singly", NULL}, {"pack_2", NULL},    {"pack_4", ""},
                                {"strips", NULL},     {"round_f16", NULL},   {"round_bf16", NULL}};
    size_t length;
    const char *path = qg_format(arena, "%s/templates/prelude.glsl", source ? source : ".");
    const char *text = qg_read_file(arena, path, 1 << 20, &length, &why);
    const qg_templates templates = {1, &(const qg_template){"prelude.glsl", path, text}};
    const char *prelude =
        text ? qg_expand(arena, &templates, "prelude.glsl", holes, sizeof holes / sizeof *holes, &why) : NULL;
    const char *glsl = prelude ? qg_format(arena, "#version 450\n%s\n%s", prelude, shader) : NULL;
    const uint32_t *words = glsl ? qg_spirv_compile(arena, "rounding.comp", glsl, bytes, &why) : NULL;
    if (!words) print_error("%s\n", why);
    return words;
}

/* How many instructions of that opcode have that word at that place. */
static unsigned count(const uint32_t *words, size_t bytes, uint32_t opcode, size_t place, uint32_t word) {
    unsigned found = 0;
    for (size_t at = 5; at < bytes / 4; at += words[at] >> 16)
        found += (words[at] & 0xFFFF) == opcode && words[at] >> 16 > place && words[at + place] == word;
    return found;
}

static void test_module(void **state) {
    (void)state;
    qg_arena *arena = qg_arena_new();
    size_t bytes, grown = 0;
    const uint32_t *words = compile(arena, &bytes);
    assert_non_null(words);
    static const qk_binding written = {0, "blocks", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 4, 0, 0, 0, 0};
    static const qk_spec_constant rounds = {QK_CONSTANT_ROUNDS_F16, "rounds_f16", 0, 0, NULL};
    const qk_kernel encoder = {.binding_count = 1, .bindings = &written},
                    decoder = {.spec_constant_count = 1, .spec_constants = &rounds}, other = {.binding_count = 0};
    qk_vulkan_device device = {.rounds_f16 = 1, .keeps_nan_f32 = 1, .keeps_subnormal_f32 = 1};
    qk_vk_mode modes[2];
    assert_int_equal(qk_vk_modes_of(&device, &other, modes), 0);
    assert_int_equal(qk_vk_modes_of(&device, &encoder, modes), 2);
    uint32_t *kept = qk_vk_with_modes(words, bytes, modes, 2, &grown);
    assert_non_null(kept);
    assert_null(qg_spirv_validate(arena, "kept", kept, grown / 4));
    assert_int_equal(count(kept, grown, 16, 2, 4459) + count(kept, grown, 16, 2, 4461), 2);
    free(kept);
    device.keeps_nan_f32 = 0;
    assert_int_equal(qk_vk_modes_of(&device, &encoder, modes), 1);
    assert_int_equal(qk_vk_modes_of(&device, &decoder, modes), 2);
    uint32_t *own = qk_vk_with_modes(words, bytes, modes, 2, &grown);
    assert_non_null(own);
    assert_null(qg_spirv_validate(arena, "grown", own, grown / 4));
    assert_int_equal(grown, bytes + 19 * sizeof *words);
    assert_int_equal(count(own, grown, 17, 1, 4464) + count(own, grown, 17, 1, 4467), 2);
    assert_int_equal(count(own, grown, 16, 2, 4459) + count(own, grown, 16, 2, 4462), 2);
    assert_int_equal(count(words, bytes, 16, 2, 4462), 0);
    free(own);
    for (size_t part = 0; part < 64 && part < bytes; part += 4) { /* cut off before, or within, the entry point */
        own = qk_vk_with_modes(words, part, modes, 2, &grown);
        if (own) assert_true(count(words, part, 15, 0, words[5]) <= 1);
        free(own);
    }
    assert_null(qk_vk_with_modes(words, 20, modes, 2, &grown));
    qg_arena_free(arena);
}

/* ---- all kinds of numbers ---- */

static uint64_t state_of_random = 88172645463325252u;

static uint32_t next(void) {
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return (uint32_t)(state_of_random >> 16);
}

/* Any bits; and every exponent that a half knows with mantissas that are a tie, or next to one. */
static uint32_t number(uint32_t i) {
    if (i % 2) return next();
    const uint32_t exponent = 127 - 30 + i / 2 % 50, near = next() % 3, keep = next() % 2 ? 13 : 16;
    const uint32_t tie = (next() & 0x7FFFFFu & (UINT32_MAX << keep)) | 1u << (keep - 1);
    return (next() & 0x80000000u) | exponent << 23 | ((tie + near - 1) & 0x7FFFFFu);
}

/* A float rounded to `digits` bits behind the point and exponents from `least` on, ties to even; its exponent field has
 * `width` bits. */
static uint32_t expected(uint32_t bits, int digits, int least, int width) {
    float x;
    memcpy(&x, &bits, sizeof x);
    const uint32_t sign = (bits >> 31) << (digits + width), infinity = ((1u << width) - 1) << digits;
    if (isnan(x)) return UINT32_MAX;
    if (isinf(x)) return sign | infinity;
    if (x == 0) return sign;
    const int own = ilogb(x), exponent = own < least ? least : own;
    const double units = nearbyint(ldexp(fabs((double)x), digits - exponent));
    const uint32_t whole = (uint32_t)units; /* of which the leading bit of a normal number counts as one exponent */
    const uint32_t code = ((uint32_t)(exponent - least) << digits) + whole;
    return sign | (code > infinity ? infinity : code);
}

static bool agree(uint32_t got, uint32_t must, int digits, int width) {
    const uint32_t magnitude = got & ((1u << (digits + width)) - 1), infinity = ((1u << width) - 1) << digits;
    return must == UINT32_MAX ? magnitude > infinity : got == must;
}

static void compare(const uint32_t *from, const uint32_t *to) {
    unsigned wrong = 0;
    for (uint32_t i = 0; i < VALUES; ++i) {
        const uint32_t *quad = to + i / 4 * 4, shift = i % 2 * 16;
        const uint32_t f16 = quad[i % 4 / 2] >> shift & 0xFFFF, bf16 = quad[2 + i % 4 / 2] >> shift & 0xFFFF;
        const uint32_t must16 = expected(from[i], 10, -14, 5), must_b = expected(from[i], 7, -126, 8);
        if (agree(f16, must16, 10, 5) && agree(bf16, must_b, 7, 8)) continue;
        if (wrong++ < 8)
            print_error("%08X gives f16 %04X and bf16 %04X, must be %04X and %04X\n", from[i], f16, bf16, must16,
                        must_b);
    }
    assert_int_equal(wrong, 0);
}

static void launch(qk_vulkan *vk, const qk_kernel *kernel, const uint32_t *from, uint32_t *to) {
    const uint32_t quads = QUADS;
    const size_t bytes = VALUES * sizeof *from;
    qk_vulkan_buffer *buffers[2];
    qk_error error = {""};
    for (int i = 0; i < 2; ++i) assert_int_equal(qk_vulkan_buffer_create(vk, bytes, &buffers[i], &error), QK_OK);
    assert_int_equal(qk_vulkan_upload(vk, buffers[0], 0, from, bytes, &error), QK_OK);
    const qk_range ranges[] = {qk_vulkan_range(buffers[0]), qk_vulkan_range(buffers[1])};
    const qk_launch one = {.kernel = kernel, .ranges = ranges, .push = &quads, .workgroups = 256};
    const qk_backend backend = qk_vulkan_backend(vk);
    assert_int_equal(qk_vulkan_begin(vk, &error), QK_OK);
    if (backend.launch(backend.context, &one, &error) != QK_OK) fail_msg("%s", error.text);
    assert_int_equal(qk_vulkan_submit(vk, &error), QK_OK);
    assert_int_equal(qk_vulkan_download(vk, buffers[1], 0, to, bytes, &error), QK_OK);
    for (int i = 0; i < 2; ++i) qk_vulkan_buffer_destroy(vk, buffers[i]);
}

static void test_numbers(void **state) {
    (void)state;
    static const qk_binding bindings[] = {{0, "from", QK_ROLE_INPUT, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
                                          {1, "to", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0}};
    static const qk_spec_constant constants[] = {{QK_CONSTANT_ROUNDS_F16, "rounds_f16", 0, 0, NULL},
                                                 {QK_CONSTANT_LOCAL_SIZE_X, "local_size_x", 64, 0, NULL}};
    qg_arena *arena = qg_arena_new();
    qk_code code = {NULL, 0};
    code.data = compile(arena, &code.bytes);
    assert_non_null(code.data);
    const qk_kernel kernel = {.name = "rounding",
                              .format = "",
                              .family = "rounding",
                              .api = QK_API_VULKAN,
                              .entry = "main",
                              .code = &code,
                              .binding_count = 2,
                              .bindings = bindings,
                              .push_bytes = 4,
                              .spec_constant_count = 2,
                              .spec_constants = constants,
                              .workgroup_size = 64};
    uint32_t *from = malloc(VALUES * sizeof *from), *to = malloc(VALUES * sizeof *to);
    assert_true(from && to);
    for (uint32_t i = 0; i < VALUES; ++i) from[i] = number(i);
    const qk_vulkan_options options = {.device = getenv("QKGEN_DEVICE"), .cache_path = "", .validate = 0};
    qk_error error = {""};
    qk_vulkan *vk;
    if (qk_vulkan_create(&options, &vk, &error) != QK_OK) fail_msg("%s", error.text);
    for (int by_itself = 0; by_itself < 2;
         ++by_itself) { /* with the device's own rounding, where it has that, and without */
        vk->info.rounds_f16 = vk->info.rounds_f16 && !by_itself;
        launch(vk, &kernel, from, to);
        compare(from, to);
        qk_vulkan_forget(vk, &kernel);
    }
    qk_vulkan_destroy(vk);
    free(from);
    free(to);
    qg_arena_free(arena);
}

static int open_compiler(void **state) {
    (void)state;
    return qg_spirv_open() ? 0 : -1;
}

static int close_compiler(void **state) {
    (void)state;
    qg_spirv_close();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_module), cmocka_unit_test(test_numbers)};
    return cmocka_run_group_tests(tests, open_compiler, close_compiler);
}
