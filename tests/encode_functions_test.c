/* What encoders call, in GLSL and MSL, against C, bit for bit: quotients, roots, nearest integers, bounds, and bits that are stored. A
 * device's division may be off, and those at hand are not: so its guess is spoilt, and the results must be the same. */
#include "cli/run.h"
#include "emit/spirv.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <qkgen/vulkan.h>

enum {
    QUOTIENT,
    ROOT,
    NEAREST,
    CLAMPED,
    BITS,
    EVEN_QUOTIENT,
    NEAREST_QUOTIENT,
    CLEAR_QUOTIENT,
    BY_POWER,
    CLAMPED_FLOOR,
    CLAMPED_TRUNC,
    CLAMPED_ROUND,
    CLAMPED_EVEN,
    BY_WHOLE,
    SMALL,
    CLEAR_SMALL,
    FUNCTIONS,
    EACH = 1 << 13,
    COUNT = FUNCTIONS * EACH
};

static uint32_t from[3 * COUNT], to[COUNT];

/* What run_msl.c takes of the command. */
double qg_seconds_now(void) { return 0; }

static float of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x7FFFFFFF) > 0x7F800000 ? 0x7FC00000 : bits;
}

static uint32_t draw(void) {
    static uint64_t state = 7;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 32);
}

/* Any, of usual size, near to halves, special ones, and with few bits, whose quotients are near to ties where they are
 * subnormal. */
static uint32_t number(uint32_t i) {
    static const uint32_t special[] = {0,          1,          0x007FFFFF, 0x00800000, 0x3F000000, 0x3EFFFFFF,
                                       0x3F800000, 0x3F7FFFFF, 0x40200000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000};
    const uint32_t sign = draw() & 0x80000000;
    switch (i % 5) {
    case 0: return draw();
    case 1: return sign | (0x3F000000 + (draw() & 0x1FFFFFF));
    case 2: return sign | bits_of((float)(draw() % 32) / 2) | draw() % 3;
    case 3: return sign | special[draw() % (sizeof special / sizeof *special)];
    default: return sign | (draw() % 255 << 23) | (draw() & 0x7E0000);
    }
}

/* The floats of at most 8 bits: number `i` is made one of these. */
static const qg_scalar small_types[] = {QG_E2M1, QG_E2M3, QG_E3M2, QG_E4M3, QG_E5M2};
enum { SMALL_TYPES = sizeof small_types / sizeof *small_types };

static double small_value(qg_scalar scalar, uint32_t code) {
    const qg_scalar_info *type = &qg_scalars[scalar];
    const int digits = (int)type->mantissa_bits, exponent = (int)(code >> digits);
    const double fraction = ldexp(code & ((1u << digits) - 1), -digits);
    return exponent ? ldexp(1 + fraction, exponent - type->bias) : ldexp(fraction, 1 - type->bias);
}

/* How many codes without a sign are finite numbers. */
static uint32_t small_codes(qg_scalar scalar) {
    static const uint32_t of[] = {[QG_E2M1] = 8, [QG_E2M3] = 32, [QG_E3M2] = 32, [QG_E4M3] = 127, [QG_E5M2] = 124};
    return of[scalar];
}

/* The nearest; of two, the even one. */
static uint32_t nearest_small(qg_scalar scalar, double v) {
    const uint32_t count = small_codes(scalar);
    uint32_t best = isnan(v) ? count - 1 : 0;
    for (uint32_t code = 1; !isnan(v) && code < count; ++code) {
        const double now = fabs(v) - small_value(scalar, best), next = small_value(scalar, code) - fabs(v);
        if (next < now || (next == now && code % 2 == 0)) best = code;
    }
    return best;
}

/* About the middle of two. */
static float between_small(qg_scalar scalar) {
    const uint32_t code = draw() % (small_codes(scalar) - 1);
    return (float)((small_value(scalar, code) + small_value(scalar, code + 1)) / 2);
}

static void fill(void) {
    for (uint32_t i = 0; i < COUNT; ++i) {
        from[3 * i] = i / EACH;
        from[3 * i + 1] = number(i);
        from[3 * i + 2] = number(i / 5);
        if (from[3 * i] == BY_WHOLE)
            from[3 * i + 2] = bits_of(i % 3 ? (float)(draw() % 2200) - 50 : (float)(draw() >> 8));
        if (from[3 * i] == BY_WHOLE && i % 5 == 1) /* near to half way between two floats */
            from[3 * i + 1] = bits_of(of_bits(from[3 * i + 2]) * (float)(0x800000 + (draw() & 0x7FFFFF)) +
                                      of_bits(from[3 * i + 2]) / 2);
        if (from[3 * i] == BY_POWER && i % 4) from[3 * i + 2] &= 0xFF800000;
        if (from[3 * i] >= EVEN_QUOTIENT && from[3 * i] <= CLEAR_QUOTIENT &&
            i % 2) /* quotients about as near to two integers */
            from[3 * i + 1] = bits_of(((float)(draw() % 64) + 0.5f) * of_bits(from[3 * i + 2])) + draw() % 3 - 1;
        const qg_scalar type = small_types[i % SMALL_TYPES];
        if (from[3 * i] == SMALL && i % 3) from[3 * i + 1] = bits_of(between_small(type)) + draw() % 3 - 1;
        if (from[3 * i] == CLEAR_SMALL && i % 3)
            from[3 * i + 1] = bits_of(between_small(type) * of_bits(from[3 * i + 2])) + draw() % 9 - 4;
    }
    memset(to, 0xA5, sizeof to);
}

static uint32_t bounded(float v, float low, float high) {
    return (uint32_t)(int)(v != v ? 0 : fminf(fmaxf(v, low), high));
}

static uint32_t expected(const uint32_t *one) {
    const qg_scalar type = small_types[(one - from) / 3 % SMALL_TYPES];
    const float a = of_bits(one[1]), b = of_bits(one[2]);
    switch (one[0]) {
    case BY_POWER:
    case BY_WHOLE:
    case QUOTIENT: return bits_of(a / b);
    case ROOT: return bits_of(sqrtf(a));
    case NEAREST: return bits_of(roundf(a));
    case CLAMPED: return bounded(a, -8, 7);
    case CLAMPED_FLOOR: return bounded(floorf(a), -8, 7);
    case CLAMPED_TRUNC: return bounded(truncf(a), -8, 7);
    case CLAMPED_ROUND: return bounded(roundf(a), -8, 7);
    case CLAMPED_EVEN: return bounded(rintf(a), -8, 7);
    case CLEAR_QUOTIENT:
    case EVEN_QUOTIENT: return bounded(rintf(a / b), -1000, 1000);
    case NEAREST_QUOTIENT: return bounded(roundf(a / b), -1000, 1000);
    case SMALL: return nearest_small(type, a);
    case CLEAR_SMALL: return nearest_small(type, a / b);
    default: return bits_of(a);
    }
}

/* Of roundf the sign of zero, and of no number anything, is nobody's. */
static bool agree(const uint32_t *one, uint32_t got) {
    const uint32_t must = expected(one);
    if (one[0] == NEAREST) return of_bits(got) == of_bits(must) || (of_bits(got) != of_bits(got) && must == 0x7FC00000);
    return got == must;
}

static void compare(const char *where) {
    static const char *const names[] = {"quotient",
                                        "root",
                                        "round",
                                        "clamped",
                                        "bits",
                                        "even quotient",
                                        "nearest quotient",
                                        "clear quotient",
                                        "by power",
                                        "floor within",
                                        "trunc within",
                                        "round within",
                                        "even within",
                                        "by a whole number",
                                        "bits of a small float",
                                        "clear bits of a small float"};
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < COUNT; ++i)
        if (!agree(&from[3 * i], to[i]) && wrong++ < 8)
            print_error("%s: %s of %08X and %08X is %08X, must be %08X\n", where, names[from[3 * i]], from[3 * i + 1],
                        from[3 * i + 2], to[i], expected(&from[3 * i]));
    assert_int_equal(wrong, 0);
}

static const char *template_of(qg_arena *arena, const char *name) {
    const char *why = NULL;
    size_t length;
    const char *text = qg_read_file(arena, qg_format(arena, "templates/%s", name), 1 << 20, &length, &why);
    if (!text) fail_msg("%s", why);
    return *text == '@' ? strchr(text, '\n') : text; /* what the second includes is the first */
}

/* Text in which `at` becomes `instead`, everywhere. */
static const char *spoilt(qg_arena *arena, const char *text, const char *at, const char *instead) {
    qg_text result = qg_text_new(arena);
    assert_non_null(strstr(text, at));
    for (const char *place; (place = strstr(text, at)) != NULL; text = place + strlen(at))
        qg_text_printf(&result, "%.*s%s", (int)(place - text), text, instead);
    qg_text_puts(&result, text);
    return result.data;
}

/* Two templates, one after the other, in the first of which `at` becomes `instead`. */
static const char *functions(qg_arena *arena, const char *first, const char *second, const char *at,
                             const char *instead) {
    return qg_format(arena, "%s\n%s", spoilt(arena, template_of(arena, first), at, instead),
                     template_of(arena, second));
}

static const qk_binding bindings[] = {{0, "from", QK_ROLE_INPUT, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
                                      {1, "to", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0}};
static const qk_field push[] = {{"count", 0, 4}};

static qk_kernel kernel_of(qk_api api, const qk_code *code) {
    return (qk_kernel){.abi = QK_ABI_VERSION,
                       .name = "functions",
                       .format = "",
                       .family = "functions",
                       .api = api,
                       .entry = api == QK_API_VULKAN ? "main" : "functions",
                       .code = code,
                       .binding_count = 2,
                       .bindings = bindings,
                       .push_bytes = 4,
                       .push_count = 1,
                       .push = push,
                       .workgroup_size = 64};
}

static const uint32_t count = COUNT;

/* What the small floats are, as tables of a text. */
static const char *small_tables(qg_arena *arena, bool metal) {
    static const char *const names[] = {"DIGITS", "LEAST", "MOST"};
    qg_text text = qg_text_new(arena);
    for (int n = 0; n < 3; ++n) {
        const char *type = n ? "int" : "uint";
        qg_text_printf(&text, metal ? "constant %s %s[5] = {" : "const %s %s[5] = ", type, names[n]);
        if (!metal) qg_text_printf(&text, "%s[5](", type);
        for (int i = 0; i < SMALL_TYPES; ++i) {
            const qg_small_float f = qg_small_float_of(small_types[i]);
            qg_text_printf(&text, "%s%s(%u)", i ? ", " : "", type, n == 0 ? f.digits : n == 1 ? f.least : f.most);
        }
        qg_text_puts(&text, metal ? "};\n" : ");\n");
    }
    return text.data;
}

/* ---- Vulkan ---- */

static const char glsl_head[] = "#version 450\n"
                                "layout(local_size_x = 64) in;\n"
                                "layout(binding = 0, std430) readonly buffer From { uint from[]; };\n"
                                "layout(binding = 1, std430) writeonly buffer To { uint to[]; };\n"
                                "layout(push_constant) uniform Push { uint count; };\n"
                                "uint f32_to_f16(float v) { return packHalf2x16(vec2(v, 0.0)); }\n"
                                "uint f32_to_bf16(float v) { return floatBitsToUint(v) >> 16; }\n";
static const char glsl_main[] =
    "void main() {\n"
    "    for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * 64u) {\n"
    "        const float a = uintBitsToFloat(from[3u * i + 1u]), b = uintBitsToFloat(from[3u * i + 2u]);\n"
    "        switch (from[3u * i]) {\n"
    "            case 0u: to[i] = qk_bits_of_f32(qk_quotient(a, b)); break;\n"
    "            case 1u: to[i] = qk_bits_of_f32(qk_root(a)); break;\n"
    "            case 2u: to[i] = qk_bits_of_f32(qk_round(a)); break;\n"
    "            case 3u: to[i] = uint(qk_clamped(a, -8, 7)); break;\n"
    "            case 5u: to[i] = uint(qk_clamped(qk_even_quotient(a, b), -1000, 1000)); break;\n"
    "            case 6u: to[i] = uint(qk_clamped(qk_nearest_quotient(a, b), -1000, 1000)); break;\n"
    "            case 7u: {\n"
    "                bool clear = true;\n"
    "                const int near = qk_clear_quotient(a, b, -1000, 1000, clear) - QK_ZERO;\n"
    "                to[i] = uint(clear ? near : qk_clamped(roundEven(qk_quotient(a, b)), -1000, 1000));\n"
    "                break;\n"
    "            }\n"
    "            case 8u: to[i] = qk_bits_of_f32(qk_quotient_by_power(a, b)); break;\n"
    "            case 9u: to[i] = uint(qk_clamped_floor(a, -8, 7)); break;\n"
    "            case 10u: to[i] = uint(qk_clamped_trunc(a, -8, 7)); break;\n"
    "            case 11u: to[i] = uint(qk_clamped_round(a, -8, 7)); break;\n"
    "            case 12u: to[i] = uint(qk_clamped_even(a, -8, 7)); break;\n"
    "            case 13u: to[i] = qk_bits_of_f32(qk_quotient_by_whole(a, b)); break;\n"
    "            case 14u: to[i] = uint(qk_small(a, DIGITS[i % 5u], LEAST[i % 5u], MOST[i % 5u])); break;\n"
    "            case 15u: {\n"
    "                bool clear = true;\n"
    "                const int near = qk_clear_small(a, b, DIGITS[i % 5u], LEAST[i % 5u], MOST[i % 5u], clear);\n"
    "                to[i] = uint(clear ? near : qk_small(qk_quotient(a, b), DIGITS[i % 5u], LEAST[i % 5u], MOST[i % "
    "5u]));\n"
    "                break;\n"
    "            }\n"
    "            default: to[i] = qk_bits_of_f32(a);\n"
    "        }\n"
    "    }\n"
    "}\n";

static void launch(qk_vulkan *vk, const qk_kernel *kernel) {
    qk_vulkan_buffer *buffers[2];
    qk_error error = {""};
    assert_int_equal(qk_vulkan_buffer_create(vk, sizeof from, &buffers[0], &error), QK_OK);
    assert_int_equal(qk_vulkan_buffer_create(vk, sizeof to, &buffers[1], &error), QK_OK);
    assert_int_equal(qk_vulkan_upload(vk, buffers[0], 0, from, sizeof from, &error), QK_OK);
    const qk_range ranges[] = {qk_vulkan_range(buffers[0]), qk_vulkan_range(buffers[1])};
    const qk_launch one = {.kernel = kernel, .ranges = ranges, .push = &count, .workgroups = 64};
    const qk_backend backend = qk_vulkan_backend(vk);
    assert_int_equal(qk_vulkan_begin(vk, &error), QK_OK);
    if (backend.launch(backend.context, &one, &error) != QK_OK) fail_msg("%s", error.text);
    assert_int_equal(qk_vulkan_submit(vk, &error), QK_OK);
    assert_int_equal(qk_vulkan_download(vk, buffers[1], 0, to, sizeof to, &error), QK_OK);
    for (int i = 0; i < 2; ++i) qk_vulkan_buffer_destroy(vk, buffers[i]);
    qk_vulkan_forget(vk, kernel);
}

static void test_vulkan(void **state) {
    static const char *const guesses[] = {"uint(guess);", "uint(guess) + 3u;", "uint(guess) - 3u;"};
    static const char *const inverses[] = {"inverse = 1.0 / b;",
                                           "inverse = uintBitsToFloat(floatBitsToUint(1.0 / b) + 3u);",
                                           "inverse = uintBitsToFloat(floatBitsToUint(1.0 / b) - 3u);"};
    static const char *const divisions[] = {"a * (1.0 / b),", "uintBitsToFloat(floatBitsToUint(a / b) + 5u),",
                                            "uintBitsToFloat(floatBitsToUint(a / b) - 5u),"};
    static const char *const sizes[] = {"a * (1.0 / size);", "uintBitsToFloat(floatBitsToUint(a / size) + 5u);",
                                        "uintBitsToFloat(max(floatBitsToUint(abs(a) / size), 5u) - 5u);"};
    const qk_vulkan_options options = {.device = getenv("QKGEN_DEVICE"), .cache_path = "", .validate = 0};
    qk_error error = {""};
    qk_vulkan *vk;
    (void)state;
    if (qk_vulkan_create(&options, &vk, &error) != QK_OK) fail_msg("%s", error.text);
    for (size_t i = 0; i < sizeof guesses / sizeof *guesses; ++i) {
        qg_arena *arena = qg_arena_new();
        const char *why = NULL;
        qk_code code = {NULL, 0};
        const char *both = spoilt(arena, functions(arena, "quotient.glsl", "encode.glsl", "uint(guess);", guesses[i]),
                                  inverses[0], inverses[i]);
        const char *text =
            qg_format(arena, "%s%s%s%s", glsl_head, small_tables(arena, false),
                      spoilt(arena, spoilt(arena, both, "a * (1.0 / b),", divisions[i]), "a * (1.0 / size);", sizes[i]),
                      glsl_main);
        code.data = qg_spirv_compile(arena, "functions", text, &code.bytes, &why);
        if (!code.data) fail_msg("%s", why);
        const qk_kernel kernel = kernel_of(QK_API_VULKAN, &code);
        fill();
        launch(vk, &kernel);
        compare(guesses[i]);
        qg_arena_free(arena);
    }
    qk_vulkan_destroy(vk);
}

/* ---- Metal ---- */

static const char msl_head[] = "#include <metal_stdlib>\n"
                               "using namespace metal;\n"
                               "inline ushort f32_to_bf16(float v) { return ushort(as_type<uint>(v) >> 16); }\n"
                               "inline float bf16_to_f32(uint bits) { return as_type<float>(bits << 16); }\n";
static const char msl_main[] =
    "struct functions_push { uint count; };\n"
    "kernel void functions(device const uint *from [[buffer(0)]], device uint *to [[buffer(1)]],\n"
    "    constant functions_push &push [[buffer(2)]], uint group [[threadgroup_position_in_grid]],\n"
    "    uint groups [[threadgroups_per_grid]], uint thread_index [[thread_index_in_threadgroup]])\n"
    "{\n"
    "    for (uint i = group * 64 + thread_index; i < push.count; i += groups * 64) {\n"
    "        const float a = as_type<float>(from[3 * i + 1]), b = as_type<float>(from[3 * i + 2]);\n"
    "        switch (from[3 * i]) {\n"
    "            case 0: to[i] = qk_bits_of_f32(qk_quotient(a, b)); break;\n"
    "            case 1: to[i] = qk_bits_of_f32(qk_root(a)); break;\n"
    "            case 2: to[i] = qk_bits_of_f32(qk_round(a)); break;\n"
    "            case 3: to[i] = uint(qk_clamped(a, -8, 7)); break;\n"
    "            case 5: to[i] = uint(qk_clamped(rint(qk_quotient(a, b)), -1000, 1000)); break;\n"
    "            case 6: to[i] = uint(qk_clamped(qk_round(qk_quotient(a, b)), -1000, 1000)); break;\n"
    "            case 7: to[i] = uint(qk_clamped(rint(qk_quotient(a, b)), -1000, 1000)); break;\n"
    "            case 13:\n"
    "            case 8: to[i] = qk_bits_of_f32(qk_quotient(a, b)); break;\n"
    "            case 14: to[i] = uint(qk_small(a, DIGITS[i % 5], LEAST[i % 5], MOST[i % 5])); break;\n"
    "            case 15: to[i] = uint(qk_small(qk_quotient(a, b), DIGITS[i % 5], LEAST[i % 5], MOST[i % 5])); break;\n"
    "            case 9: to[i] = uint(qk_clamped(floor(a), -8, 7)); break;\n"
    "            case 10: to[i] = uint(qk_clamped(trunc(a), -8, 7)); break;\n"
    "            case 11: to[i] = uint(qk_clamped(qk_round(a), -8, 7)); break;\n"
    "            case 12: to[i] = uint(qk_clamped(rint(a), -8, 7)); break;\n"
    "            default: to[i] = qk_bits_of_f32(a);\n"
    "        }\n"
    "    }\n"
    "}\n";

static void test_metal(void **state) {
    static const char *const guesses[] = {"16777216.0f);", "16777216.0f) + 3u;", "16777216.0f) - 3u;"};
    (void)state;
#ifndef QKGEN_MSL_LIBRARY
    skip();
#endif
    for (size_t i = 0; i < sizeof guesses / sizeof *guesses; ++i) {
        qg_arena *arena = qg_arena_new();
        qg_metal *metal;
        qk_error error = {""};
        const char *text = qg_format(
            arena, "%s%s%s%s", msl_head, small_tables(arena, true),
            functions(arena, "quotient.metal", "encode_functions.metal", "16777216.0f);", guesses[i]), msl_main);
        const qk_kernel kernel = kernel_of(QK_API_METAL, NULL);
        const char *why = qg_metal_open(arena, text, "functions", &kernel, &metal);
        if (why) fail_msg("%s", why);
        const qk_backend backend = qg_metal_backend(metal);
        const qk_range ranges[] = {{from, 0, sizeof from}, {to, 0, sizeof to}};
        const qk_launch one = {.kernel = &kernel, .ranges = ranges, .push = &count, .workgroups = 4};
        fill();
        if (backend.launch(backend.context, &one, &error) != QK_OK) fail_msg("%s", qg_metal_failure(metal, &error));
        compare(guesses[i]);
        qg_metal_close(metal);
        qg_arena_free(arena);
    }
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vulkan), cmocka_unit_test(test_metal)};
    return cmocka_run_group_tests(tests, open_compiler, close_compiler);
}
