/* mx_fp8_e4m3: reference decoder, descriptors and dispatch stubs.
 * Generated from the specification below by `qkgen emit --format mx_fp8_e4m3`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 33 bytes for 32 elements, 8.25 bits each.
 * dequant, gather in f32: for each weight 1.03 bytes read and 4 written, 14.2 operations: 0.5 loads, 7.25 bits, 3.5 integer, 2 float, 1
 * conversions.
 * gemv, gemv_id in f32: for each weight 1.03 bytes read, 6 operations: 0.0781 loads, 2.84 bits, 0.531 integer, 2.05 float, 0.5 conversions.
 *
 *     format mx_fp8_e4m3 "OCP MX: E4M3 codes, a power of two for 32"
 *     from "OCP Microscaling Formats v1.0"
 *
 *     block 32 {
 *         buffer codes  { w: u8[32] }
 *         buffer scales { s: e8m0 }
 *     }
 *
 *     code q: e4m3 = w { 8 @ 0 (32:8) }
 *
 *     value = q * s
 */
#include "mx_fp8_e4m3.h"

/* Not all of what it embeds is called; compiled as C++, designated initialisers are an extension before C++20. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunused-function"
#endif
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wc++20-extensions"
#endif

#include <math.h>
#include <string.h>

#include <qkgen/dispatch.h>

/* Decoding rounds each operation as written. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

/* ---- reference ---- */

/* The half in the low 16 bits. */
static inline float qk_f16_to_f32(uint32_t bits) {
    const uint32_t sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 31u, mantissa = bits & 0x3FFu;
    uint32_t word = sign | ((exponent + 112u) << 23) | (mantissa << 13);
    float value;
    if (exponent == 31u) word = sign | 0x7F800000u | (mantissa << 13);
    if (exponent == 0u) {
        value = (float)mantissa * 0x1p-24f;
        return sign ? -value : value;
    }
    memcpy(&value, &word, sizeof value);
    return value;
}

static inline float qk_bits_to_f32(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounds to the nearest half, ties to even. */
static inline uint16_t qk_f32_to_f16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t magnitude = bits & 0x7FFFFFFFu, sign = (bits >> 16) & 0x8000u;
    if (magnitude > 0x7F800000u) return (uint16_t)(sign | 0x7E00u);  /* NaN */
    if (magnitude >= 0x477FF000u) return (uint16_t)(sign | 0x7C00u); /* beyond the largest half */
    if (magnitude < 0x38800000u) {                                   /* a subnormal half: its unit is 2^-24 */
        const uint32_t exponent = magnitude >> 23, shift = 126u - exponent;
        if (shift > 24u) return (uint16_t)sign;
        const uint32_t mantissa = (magnitude & 0x7FFFFFu) | 0x800000u, half = UINT32_C(1) << (shift - 1);
        const uint32_t whole = mantissa >> shift, rest = mantissa & (2u * half - 1u);
        return (uint16_t)(sign | (whole + (rest > half || (rest == half && (whole & 1u)))));
    }
    return (uint16_t)(sign | ((magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13));
}

/* Rounds to the nearest bfloat16, ties to even. */
static inline uint16_t qk_f32_to_bf16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (uint16_t)(((bits >> 16) & 0x8000u) | 0x7FC0u); /* NaN */
    return (uint16_t)((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

/* The value of element `index` of a tensor. */
static float value_at(const void *const *from, uint64_t index) {
    const uint8_t *const codes = (const uint8_t *)from[0] + index / 32u * 32u;
    const uint8_t *const scales = (const uint8_t *)from[1] + index / 32u * 1u;
    const uint32_t i = (uint32_t)(index % 32u), w = (uint32_t)codes[i];
    const float q = qk_f16_to_f32(((w & 0x7Fu) == 0x7Fu ? 32256u : (w & 0x7Fu) << 7u) | ((w & 128u) << 8u)) * 256.0f;  // w: 8 bits
    const uint32_t s_bits = (uint32_t)scales[0u];
    const float s = qk_bits_to_f32(s_bits == 0xFFu ? 0x7FC00000u : s_bits == 0u ? 0x400000u : s_bits << 23u);
    return q * s;
}

static uint16_t f16_at(const void *const *from, uint64_t index) {
    return qk_f32_to_f16(value_at(from, index));
}

static uint16_t bf16_at(const void *const *from, uint64_t index) {
    return qk_f32_to_bf16(value_at(from, index));
}

void qk_mx_fp8_e4m3_dequant_f32_ref(const void *const weights[2],
    uint64_t elements, float *dst) {
    for (uint64_t i = 0; i < elements; ++i) dst[i] = value_at(weights, i);
}

void qk_mx_fp8_e4m3_dequant_f16_ref(const void *const weights[2],
    uint64_t elements, uint16_t *dst) {
    for (uint64_t i = 0; i < elements; ++i) dst[i] = f16_at(weights, i);
}

void qk_mx_fp8_e4m3_dequant_bf16_ref(const void *const weights[2],
    uint64_t elements, uint16_t *dst) {
    for (uint64_t i = 0; i < elements; ++i) dst[i] = bf16_at(weights, i);
}

/* Returns how many indices are out of range; their rows are zeros. */
uint64_t qk_mx_fp8_e4m3_gather_f32_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst) {
    uint64_t out_of_range = 0;
    for (uint64_t t = 0; t < tokens; ++t, dst += cols) {
        const uint64_t row = indices[t];
        if (row >= rows) {
            memset(dst, 0, cols * sizeof *dst);
            out_of_range += 1;
            continue;
        }
        for (uint64_t i = 0; i < cols; ++i) dst[i] = value_at(weights, row * cols + i);
    }
    return out_of_range;
}

/* Returns how many indices are out of range; their rows are zeros. */
uint64_t qk_mx_fp8_e4m3_gather_f16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst) {
    uint64_t out_of_range = 0;
    for (uint64_t t = 0; t < tokens; ++t, dst += cols) {
        const uint64_t row = indices[t];
        if (row >= rows) {
            memset(dst, 0, cols * sizeof *dst);
            out_of_range += 1;
            continue;
        }
        for (uint64_t i = 0; i < cols; ++i) dst[i] = f16_at(weights, row * cols + i);
    }
    return out_of_range;
}

/* Returns how many indices are out of range; their rows are zeros. */
uint64_t qk_mx_fp8_e4m3_gather_bf16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst) {
    uint64_t out_of_range = 0;
    for (uint64_t t = 0; t < tokens; ++t, dst += cols) {
        const uint64_t row = indices[t];
        if (row >= rows) {
            memset(dst, 0, cols * sizeof *dst);
            out_of_range += 1;
            continue;
        }
        for (uint64_t i = 0; i < cols; ++i) dst[i] = bf16_at(weights, row * cols + i);
    }
    return out_of_range;
}

/* y[m][n] = sum over k of value(n, k) * x[m][k], summed in double precision. */
void qk_mx_fp8_e4m3_gemv_f32_ref(const void *const weights[2],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y) {
    for (uint64_t n = 0; n < rows; ++n) {
        for (uint64_t m = 0; m < batch; ++m) {
            double sum = 0;
            for (uint64_t k = 0; k < cols; ++k)
                sum += (double)value_at(weights, n * cols + k) * (double)x[m * cols + k];
            y[m * rows + n] = (float)sum;
        }
    }
}

/* y[m][n] = sum over k of value(n, k) * x[m][k], summed in double precision. */
void qk_mx_fp8_e4m3_gemv_f16_ref(const void *const weights[2],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y) {
    for (uint64_t n = 0; n < rows; ++n) {
        for (uint64_t m = 0; m < batch; ++m) {
            double sum = 0;
            for (uint64_t k = 0; k < cols; ++k)
                sum += (double)value_at(weights, n * cols + k) * (double)qk_f16_to_f32(x[m * cols + k]);
            y[m * rows + n] = (float)sum;
        }
    }
}

/* y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], summed in double precision; where x_slots is 1, all slots of a
 * token have the same x. Returns how many ids are out of range; their results are zeros. */
uint64_t qk_mx_fp8_e4m3_gemv_id_f32_ref(const void *const weights[2],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols, uint64_t tokens,
    uint64_t slots, uint64_t x_slots, float *y) {
    uint64_t out_of_range = 0;
    for (uint64_t p = 0; p < tokens * slots; ++p) {
        const uint64_t m = x_slots == 1 ? p / slots : p, expert = ids[p];
        out_of_range += expert >= experts;
        for (uint64_t i = 0; i < rows; ++i) {
            const uint64_t n = expert * rows + i;
            double sum = 0;
            for (uint64_t k = 0; expert < experts && k < cols; ++k)
                sum += (double)value_at(weights, n * cols + k) * (double)x[m * cols + k];
            *y++ = (float)sum;
        }
    }
    return out_of_range;
}

/* y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], summed in double precision; where x_slots is 1, all slots of a
 * token have the same x. Returns how many ids are out of range; their results are zeros. */
uint64_t qk_mx_fp8_e4m3_gemv_id_f16_ref(const void *const weights[2],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols, uint64_t tokens,
    uint64_t slots, uint64_t x_slots, float *y) {
    uint64_t out_of_range = 0;
    for (uint64_t p = 0; p < tokens * slots; ++p) {
        const uint64_t m = x_slots == 1 ? p / slots : p, expert = ids[p];
        out_of_range += expert >= experts;
        for (uint64_t i = 0; i < rows; ++i) {
            const uint64_t n = expert * rows + i;
            double sum = 0;
            for (uint64_t k = 0; expert < experts && k < cols; ++k)
                sum += (double)value_at(weights, n * cols + k) * (double)qk_f16_to_f32(x[m * cols + k]);
            *y++ = (float)sum;
        }
    }
    return out_of_range;
}

/* ---- descriptors ---- */

/* The code itself: mx_fp8_e4m3_code.c. */
extern const qk_code qk_mx_fp8_e4m3_dequant_f32_spirv;
extern const qk_code qk_mx_fp8_e4m3_dequant_halves_spirv;
extern const qk_code qk_mx_fp8_e4m3_gather_f32_spirv;
extern const qk_code qk_mx_fp8_e4m3_gather_halves_spirv;
extern const qk_code qk_mx_fp8_e4m3_gemv_rows_spirv;
extern const qk_code qk_mx_fp8_e4m3_gemv_wide_spirv;
extern const qk_code qk_mx_fp8_e4m3_gemv_shared_spirv;
extern const qk_code qk_mx_fp8_e4m3_gemv_teams_spirv;
extern const qk_code qk_mx_fp8_e4m3_gemv_id_rows_spirv;
extern const qk_code qk_mx_fp8_e4m3_gemv_id_wide_spirv;
extern const qk_code qk_mx_fp8_e4m3_msl;

static const qk_binding mx_fp8_e4m3_dequant_f32_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 0, 0, 0, 0},
    {1, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 1, 0, 0, 0, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field mx_fp8_e4m3_dequant_f32_push[] = {
    {"tiles", 0, 4},
};

static const uint32_t mx_fp8_e4m3_dequant_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant mx_fp8_e4m3_dequant_f32_vulkan_constants[] = {{0, "local_size_x", 256, 6,
    mx_fp8_e4m3_dequant_f32_vulkan_local_size_x}};

const qk_kernel qk_mx_fp8_e4m3_dequant_f32_vulkan = {
    .abi = 16,
    .name = "mx_fp8_e4m3_dequant_f32",
    .format = "mx_fp8_e4m3",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_mx_fp8_e4m3_dequant_f32_spirv,
    .binding_count = 3,
    .bindings = mx_fp8_e4m3_dequant_f32_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = mx_fp8_e4m3_dequant_f32_push,
    .spec_constant_count = 1,
    .spec_constants = mx_fp8_e4m3_dequant_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 32,
    .tile_elements = 4,
};

const qk_kernel qk_mx_fp8_e4m3_dequant_f32_metal = {
    .abi = 16,
    .name = "mx_fp8_e4m3_dequant_f32",
    .format = "mx_fp8_e4m3",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "mx_fp8_e4m3_dequant_f32",
    .code = &qk_mx_fp8_e4m3_msl,
    .binding_count = 3,
    .bindings = mx_fp8_e4m3_dequant_f32_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = mx_fp8_e4m3_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 32,
    .tile_elements = 8,
};

static const qk_binding mx_fp8_e4m3_dequant_f16_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 0, 0, 0, 0},
    {1, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 1, 0, 0, 0, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0, 0},
};
static const qk_field mx_fp8_e4m3_dequant_f16_push[] = {
    {"tiles", 0, 4},
};

static const uint32_t mx_fp8_e4m3_dequant_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t mx_fp8_e4m3_dequant_f16_vulkan_rounds_f16[] = {0, 1};
static const uint32_t mx_fp8_e4m3_dequant_f16_vulkan_y_type[] = {1};
static const qk_spec_constant mx_fp8_e4m3_dequant_f16_vulkan_constants[] = {{0, "local_size_x", 256, 6,
    mx_fp8_e4m3_dequant_f16_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, mx_fp8_e4m3_dequant_f16_vulkan_rounds_f16},
    {31, "y_type", 1, 1, mx_fp8_e4m3_dequant_f16_vulkan_y_type}};

const qk_kernel qk_mx_fp8_e4m3_dequant_f16_vulkan = {
    .abi = 16,
    .name = "mx_fp8_e4m3_dequant_f16",
    .format = "mx_fp8_e4m3",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_mx_fp8_e4m3_dequant_halves_spirv,
    .binding_count = 3,
    .bindings = mx_fp8_e4m3_dequant_f16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = mx_fp8_e4m3_dequant_f16_push,
    .spec_constant_count = 3,
    .spec_constants = mx_fp8_e4m3_dequant_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 32,
    .tile_elements = 8,
};

const qk_kernel qk_mx_fp8_e4m3_dequant_f16_metal = {
    .abi = 16,
    .name = "mx_fp8_e4m3_dequant_f16",
    .format = "mx_fp8_e4m3",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "mx_fp8_e4m3_dequant_f16",
    .code = &qk_mx_fp8_e4m3_msl,
    .binding_count = 3,
    .bindings = mx_fp8_e4m3_dequant_f16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = mx_fp8_e4m3_dequant_f16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 32,
    .tile_elements = 8,
};

static const qk_binding mx_fp8_e4m3_dequant_bf16_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 0, 0, 0, 0},
    {1, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 1, 0, 0, 0, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0, 0},
};
static const qk_field mx_fp8_e4m3_dequant_bf16_push[] = {
    {"tiles", 0, 4},
};

static const uint32_t mx_fp8_e4m3_dequant_bf16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t mx_fp8_e4m3_dequant_bf16_vulkan_rounds_f16[] = {0, 1};
static const uint32_t mx_fp8_e4m3_dequant_bf16_vulkan_y_type[] = {2};
static const qk_spec_constant mx_fp8_e4m3_dequant_bf16_vulkan_constants[] = {{0, "local_size_x", 256, 6,
    mx_fp8_e4m3_dequant_bf16_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, mx_fp8_e4m3_dequant_bf16_vulkan_rounds_f16},
    {31, "y_type", 2, 1, mx_fp8_e4m3_dequant_bf16_vulkan_y_type}};

const qk_kernel qk_mx_fp8_e4m3_dequant_bf16_vulkan = {
    .abi = 16,
    .name = "mx_fp8_e4m3_dequant_bf16",
    .format = "mx_fp8_e4m3",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_mx_fp8_e4m3_dequant_halves_spirv,
    .binding_count = 3,
    .bindings = mx_fp8_e4m3_dequant_bf16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = mx_fp8_e4m3_dequant_bf16_push,
    .spec_constant_count = 3,
    .spec_constants = mx_fp8_e4m3_dequant_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 32,
    .tile_elements = 8,
};

const qk_kernel qk_mx_fp8_e4m3_dequant_bf16_metal = {
    .abi = 16,
    .name = "mx_fp8_e4m3_dequant_bf16",
    .format = "mx_fp8_e4m3",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "mx_fp8_e4m3_dequant_bf16",
    .code = &qk_mx_fp8_e4m3_msl,
    .binding_count = 3,
    .bindings = mx_fp8_e4m3_dequant_bf16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = mx_fp8_e4m3_dequant_bf16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 32,
    .tile_elements = 8,
};

static const qk_binding mx_fp8_e4m3_gather_f32_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 0, 0, 0, 0},
    {1, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 1, 0, 0, 0, 0},
    {2, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {3, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};
static const qk_field mx_fp8_e4m3_gather_f32_push[] = {
    {"rows", 0, 4},
    {"row_first", 4, 4},
    {"row_end", 8, 4},
    {"row_tiles", 12, 4},
    {"tokens", 16, 4},
    {"batch_tokens", 20, 4},
    {"batches", 24, 4},
    {"value_step", 28, 4},
    {"value_batch", 32, 4},
    {"value_outer", 36, 4},
    {"index_words", 40, 4},
    {"index_step", 44, 4},
    {"index_batch", 48, 4},
    {"index_outer", 52, 4},
    {"index_batches", 56, 4},
    {"index_outers", 60, 4},
    {"row_step", 64, 4},
    {"row_batch", 68, 4},
    {"row_outer", 72, 4},
    {"value_first", 76, 4},
    {"index_first", 80, 4},
    {"table_first", 84, 4},
};

static const uint32_t mx_fp8_e4m3_gather_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant mx_fp8_e4m3_gather_f32_vulkan_constants[] = {{0, "local_size_x", 256, 6,
    mx_fp8_e4m3_gather_f32_vulkan_local_size_x}};

const qk_kernel qk_mx_fp8_e4m3_gather_f32_vulkan = {
    .abi = 16,
    .name = "mx_fp8_e4m3_gather_f32",
    .format = "mx_fp8_e4m3",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_mx_fp8_e4m3_gather_f32_spirv,
    .binding_count = 5,
    .bindings = mx_fp8_e4m3_gather_f32_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = mx_fp8_e4m3_gather_f32_push,
    .spec_constant_count = 1,
    .spec_constants = mx_fp8_e4m3_gather_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 32,
    .tile_elements = 4,
};

const qk_kernel qk_mx_fp8_e4m3_gather_f32_metal = {
    .abi = 16,
    .name = "mx_fp8_e4m3_gather_f32",
    .format = "mx_fp8_e4m3",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "mx_fp8_e4m3_gather_f32",
    .code = &qk_mx_fp8_e4m3_msl,
    .binding_count = 5,
    .bindings = mx_fp8_e4m3_gather_f32_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = mx_fp8_e4m3_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 32,
    .tile_elements = 8,
};

static const qk_binding mx_fp8_e4m3_gather_f16_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 0, 0, 0, 0},
    {1, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 1, 0, 0, 0, 0},
    {2, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {3, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};
static const qk_field mx_fp8_e4m3_gather_f16_push[] = {
    {"rows", 0, 4},
    {"row_first", 4, 4},
    {"row_end", 8, 4},
    {"row_tiles", 12, 4},
    {"tokens", 16, 4},
    {"batch_tokens", 20, 4},
    {"batches", 24, 4},
    {"value_step", 28, 4},
    {"value_batch", 32, 4},
    {"value_outer", 36, 4},
    {"index_words", 40, 4},
    {"index_step", 44, 4},
    {"index_batch", 48, 4},
    {"index_outer", 52, 4},
    {"index_batches", 56, 4},
    {"index_outers", 60, 4},
    {"row_step", 64, 4},
    {"row_batch", 68, 4},
    {"row_outer", 72, 4},
    {"value_first", 76, 4},
    {"index_first", 80, 4},
    {"table_first", 84, 4},
};

static const uint32_t mx_fp8_e4m3_gather_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t mx_fp8_e4m3_gather_f16_vulkan_rounds_f16[] = {0, 1};
static const uint32_t mx_fp8_e4m3_gather_f16_vulkan_y_type[] = {1};
static const qk_spec_constant mx_fp8_e4m3_gather_f16_vulkan_constants[] = {{0, "local_size_x", 256, 6,
    mx_fp8_e4m3_gather_f16_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, mx_fp8_e4m3_gather_f16_vulkan_rounds_f16},
    {31, "y_type", 1, 1, mx_fp8_e4m3_gather_f16_vulkan_y_type}};

const qk_kernel qk_mx_fp8_e4m3_gather_f16_vulkan = {
    .abi = 16,
    .name = "mx_fp8_e4m3_gather_f16",
    .format = "mx_fp8_e4m3",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_mx_fp8_e4m3_gather_halves_spirv,
    .binding_count = 5,
    .bindings = mx_fp8_e4m3_gather_f16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = mx_fp8_e4m3_gather_f16_push,
    .spec_constant_count = 3,
    .spec_constants = mx_fp8_e4m3_gather_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 32,
    .tile_elements = 8,
};

const qk_kernel qk_mx_fp8_e4m3_gather_f16_metal = {
    .abi = 16,
    .name = "mx_fp8_e4m3_gather_f16",
    .format = "mx_fp8_e4m3",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "mx_fp8_e4m3_gather_f16",
    .code = &qk_mx_fp8_e4m3_msl,
    .binding_count = 5,
    .bindings = mx_fp8_e4m3_gather_f16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = mx_fp8_e4m3_gather_f16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 32,
    .tile_elements = 8,
};

static const qk_binding mx_fp8_e4m3_gather_bf16_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 0, 0, 0, 0},
    {1, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 1, 0, 0, 0, 0},
    {2, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {3, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};
static const qk_field mx_fp8_e4m3_gather_bf16_push[] = {
    {"rows", 0, 4},
    {"row_first", 4, 4},
    {"row_end", 8, 4},
    {"row_tiles", 12, 4},
    {"tokens", 16, 4},
    {"batch_tokens", 20, 4},
    {"batches", 24, 4},
    {"value_step", 28, 4},
    {"value_batch", 32, 4},
    {"value_outer", 36, 4},
    {"index_words", 40, 4},
    {"index_step", 44, 4},
    {"index_batch", 48, 4},
    {"index_outer", 52, 4},
    {"index_batches", 56, 4},
    {"index_outers", 60, 4},
    {"row_step", 64, 4},
    {"row_batch", 68, 4},
    {"row_outer", 72, 4},
    {"value_first", 76, 4},
    {"index_first", 80, 4},
    {"table_first", 84, 4},
};

static const uint32_t mx_fp8_e4m3_gather_bf16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t mx_fp8_e4m3_gather_bf16_vulkan_rounds_f16[] = {0, 1};
static const uint32_t mx_fp8_e4m3_gather_bf16_vulkan_y_type[] = {2};
static const qk_spec_constant mx_fp8_e4m3_gather_bf16_vulkan_constants[] = {{0, "local_size_x", 256, 6,
    mx_fp8_e4m3_gather_bf16_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, mx_fp8_e4m3_gather_bf16_vulkan_rounds_f16},
    {31, "y_type", 2, 1, mx_fp8_e4m3_gather_bf16_vulkan_y_type}};

const qk_kernel qk_mx_fp8_e4m3_gather_bf16_vulkan = {
    .abi = 16,
    .name = "mx_fp8_e4m3_gather_bf16",
    .format = "mx_fp8_e4m3",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_mx_fp8_e4m3_gather_halves_spirv,
    .binding_count = 5,
    .bindings = mx_fp8_e4m3_gather_bf16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = mx_fp8_e4m3_gather_bf16_push,
    .spec_constant_count = 3,
    .spec_constants = mx_fp8_e4m3_gather_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 32,
    .tile_elements = 8,
};

const qk_kernel qk_mx_fp8_e4m3_gather_bf16_metal = {
    .abi = 16,
    .name = "mx_fp8_e4m3_gather_bf16",
    .format = "mx_fp8_e4m3",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "mx_fp8_e4m3_gather_bf16",
    .code = &qk_mx_fp8_e4m3_msl,
    .binding_count = 5,
    .bindings = mx_fp8_e4m3_gather_bf16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = mx_fp8_e4m3_gather_bf16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 32,
    .tile_elements = 8,
};

static const qk_binding mx_fp8_e4m3_gemv_f32_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 0, 0, 0, 0},
    {1, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 1, 0, 0, 0, 0},
    {2, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {4, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {7, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field mx_fp8_e4m3_gemv_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
    {"epilogue", 20, 4},
    {"groups", 24, 4},
    {"matrix_first", 28, 4},
    {"matrices", 32, 4},
    {"vectors", 36, 4},
    {"sharing", 40, 4},
    {"sharing_outer", 44, 4},
    {"weights_first", 48, 4},
    {"weights_inner", 52, 4},
    {"weights_outer", 56, 4},
    {"x_first", 60, 4},
    {"x_stride", 64, 4},
    {"x_inner", 68, 4},
    {"x_outer", 72, 4},
    {"y_skip", 76, 4},
    {"y_stride", 80, 4},
    {"y_inner", 84, 4},
    {"y_outer", 88, 4},
};

static const uint32_t mx_fp8_e4m3_gemv_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t mx_fp8_e4m3_gemv_f32_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t mx_fp8_e4m3_gemv_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t mx_fp8_e4m3_gemv_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t mx_fp8_e4m3_gemv_f32_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t mx_fp8_e4m3_gemv_f32_vulkan_checked[] = {0, 1};
static const uint32_t mx_fp8_e4m3_gemv_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t mx_fp8_e4m3_gemv_f32_vulkan_schedule[] = {0, 1, 2, 4, 5};
static const uint32_t mx_fp8_e4m3_gemv_f32_vulkan_x_type[] = {0};
static const uint32_t mx_fp8_e4m3_gemv_f32_vulkan_views[] = {0, 1};
static const uint32_t mx_fp8_e4m3_gemv_f32_vulkan_y_type[] = {0, 1, 2};
static const qk_spec_constant mx_fp8_e4m3_gemv_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    mx_fp8_e4m3_gemv_f32_vulkan_local_size_x},
    {1, "batch", 1, 4, mx_fp8_e4m3_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, mx_fp8_e4m3_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, mx_fp8_e4m3_gemv_f32_vulkan_split},
    {6, "shared_fours", 512, 4, mx_fp8_e4m3_gemv_f32_vulkan_shared_fours},
    {12, "checked", 0, 2, mx_fp8_e4m3_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, mx_fp8_e4m3_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 5, mx_fp8_e4m3_gemv_f32_vulkan_schedule},
    {21, "x_type", 0, 1, mx_fp8_e4m3_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, mx_fp8_e4m3_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, mx_fp8_e4m3_gemv_f32_vulkan_y_type}};

static const qk_code *const mx_fp8_e4m3_gemv_f32_schedules[] = {0, &qk_mx_fp8_e4m3_gemv_rows_spirv, &qk_mx_fp8_e4m3_gemv_wide_spirv, 0,
    &qk_mx_fp8_e4m3_gemv_shared_spirv, &qk_mx_fp8_e4m3_gemv_teams_spirv};

const qk_kernel qk_mx_fp8_e4m3_gemv_f32_vulkan = {
    .abi = 16,
    .name = "mx_fp8_e4m3_gemv_f32",
    .format = "mx_fp8_e4m3",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_mx_fp8_e4m3_gemv_rows_spirv,
    .schedules = mx_fp8_e4m3_gemv_f32_schedules,
    .binding_count = 8,
    .bindings = mx_fp8_e4m3_gemv_f32_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = mx_fp8_e4m3_gemv_f32_push,
    .spec_constant_count = 12,
    .spec_constants = mx_fp8_e4m3_gemv_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 32,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 128,
    .shared_tile = 4,
    .shares_wide = 0,
    .teams_tile = 8,
    .teams_kept = 32,
    .sum_roundings = 122,
};

static const uint32_t mx_fp8_e4m3_gemv_f32_metal_batch[] = {1, 2, 4, 8};
static const uint32_t mx_fp8_e4m3_gemv_f32_metal_views[] = {0, 1};
static const uint32_t mx_fp8_e4m3_gemv_f32_metal_y_type[] = {0, 1, 2};
static const qk_spec_constant mx_fp8_e4m3_gemv_f32_metal_constants[] = {{1, "batch", 1, 4, mx_fp8_e4m3_gemv_f32_metal_batch},
    {30, "views", 0, 2, mx_fp8_e4m3_gemv_f32_metal_views},
    {31, "y_type", 0, 3, mx_fp8_e4m3_gemv_f32_metal_y_type}};

const qk_kernel qk_mx_fp8_e4m3_gemv_f32_metal = {
    .abi = 16,
    .name = "mx_fp8_e4m3_gemv_f32",
    .format = "mx_fp8_e4m3",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "mx_fp8_e4m3_gemv_f32",
    .code = &qk_mx_fp8_e4m3_msl,
    .binding_count = 8,
    .bindings = mx_fp8_e4m3_gemv_f32_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = mx_fp8_e4m3_gemv_f32_push,
    .spec_constant_count = 3,
    .spec_constants = mx_fp8_e4m3_gemv_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 32,
    .tile_elements = 16,
    .sum_roundings = 122,
};

static const qk_binding mx_fp8_e4m3_gemv_f16_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 0, 0, 0, 0},
    {1, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 1, 0, 0, 0, 0},
    {2, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {4, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {7, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field mx_fp8_e4m3_gemv_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
    {"epilogue", 20, 4},
    {"groups", 24, 4},
    {"matrix_first", 28, 4},
    {"matrices", 32, 4},
    {"vectors", 36, 4},
    {"sharing", 40, 4},
    {"sharing_outer", 44, 4},
    {"weights_first", 48, 4},
    {"weights_inner", 52, 4},
    {"weights_outer", 56, 4},
    {"x_first", 60, 4},
    {"x_stride", 64, 4},
    {"x_inner", 68, 4},
    {"x_outer", 72, 4},
    {"y_skip", 76, 4},
    {"y_stride", 80, 4},
    {"y_inner", 84, 4},
    {"y_outer", 88, 4},
};

static const uint32_t mx_fp8_e4m3_gemv_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t mx_fp8_e4m3_gemv_f16_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t mx_fp8_e4m3_gemv_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t mx_fp8_e4m3_gemv_f16_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t mx_fp8_e4m3_gemv_f16_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t mx_fp8_e4m3_gemv_f16_vulkan_checked[] = {0, 1};
static const uint32_t mx_fp8_e4m3_gemv_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t mx_fp8_e4m3_gemv_f16_vulkan_schedule[] = {0, 1, 2, 4, 5};
static const uint32_t mx_fp8_e4m3_gemv_f16_vulkan_x_type[] = {1};
static const uint32_t mx_fp8_e4m3_gemv_f16_vulkan_views[] = {0, 1};
static const uint32_t mx_fp8_e4m3_gemv_f16_vulkan_y_type[] = {0, 1, 2};
static const qk_spec_constant mx_fp8_e4m3_gemv_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    mx_fp8_e4m3_gemv_f16_vulkan_local_size_x},
    {1, "batch", 1, 4, mx_fp8_e4m3_gemv_f16_vulkan_batch},
    {2, "rows", 4, 4, mx_fp8_e4m3_gemv_f16_vulkan_rows},
    {3, "split", 1, 6, mx_fp8_e4m3_gemv_f16_vulkan_split},
    {6, "shared_fours", 512, 4, mx_fp8_e4m3_gemv_f16_vulkan_shared_fours},
    {12, "checked", 0, 2, mx_fp8_e4m3_gemv_f16_vulkan_checked},
    {7, "staged", 1, 4, mx_fp8_e4m3_gemv_f16_vulkan_staged},
    {20, "schedule", 0, 5, mx_fp8_e4m3_gemv_f16_vulkan_schedule},
    {21, "x_type", 1, 1, mx_fp8_e4m3_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, mx_fp8_e4m3_gemv_f16_vulkan_views},
    {31, "y_type", 0, 3, mx_fp8_e4m3_gemv_f16_vulkan_y_type}};

static const qk_code *const mx_fp8_e4m3_gemv_f16_schedules[] = {0, &qk_mx_fp8_e4m3_gemv_rows_spirv, &qk_mx_fp8_e4m3_gemv_wide_spirv, 0,
    &qk_mx_fp8_e4m3_gemv_shared_spirv, &qk_mx_fp8_e4m3_gemv_teams_spirv};

const qk_kernel qk_mx_fp8_e4m3_gemv_f16_vulkan = {
    .abi = 16,
    .name = "mx_fp8_e4m3_gemv_f16",
    .format = "mx_fp8_e4m3",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_mx_fp8_e4m3_gemv_rows_spirv,
    .schedules = mx_fp8_e4m3_gemv_f16_schedules,
    .binding_count = 8,
    .bindings = mx_fp8_e4m3_gemv_f16_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = mx_fp8_e4m3_gemv_f16_push,
    .spec_constant_count = 12,
    .spec_constants = mx_fp8_e4m3_gemv_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 32,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 128,
    .shared_tile = 4,
    .shares_wide = 0,
    .teams_tile = 8,
    .teams_kept = 32,
    .sum_roundings = 122,
};

static const uint32_t mx_fp8_e4m3_gemv_f16_metal_batch[] = {1, 2, 4, 8};
static const uint32_t mx_fp8_e4m3_gemv_f16_metal_views[] = {0, 1};
static const uint32_t mx_fp8_e4m3_gemv_f16_metal_y_type[] = {0, 1, 2};
static const qk_spec_constant mx_fp8_e4m3_gemv_f16_metal_constants[] = {{1, "batch", 1, 4, mx_fp8_e4m3_gemv_f16_metal_batch},
    {30, "views", 0, 2, mx_fp8_e4m3_gemv_f16_metal_views},
    {31, "y_type", 0, 3, mx_fp8_e4m3_gemv_f16_metal_y_type}};

const qk_kernel qk_mx_fp8_e4m3_gemv_f16_metal = {
    .abi = 16,
    .name = "mx_fp8_e4m3_gemv_f16",
    .format = "mx_fp8_e4m3",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "mx_fp8_e4m3_gemv_f16",
    .code = &qk_mx_fp8_e4m3_msl,
    .binding_count = 8,
    .bindings = mx_fp8_e4m3_gemv_f16_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = mx_fp8_e4m3_gemv_f16_push,
    .spec_constant_count = 3,
    .spec_constants = mx_fp8_e4m3_gemv_f16_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 32,
    .tile_elements = 16,
    .sum_roundings = 122,
};

static const qk_binding mx_fp8_e4m3_gemv_id_f32_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 0, 0, 0, 0},
    {1, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 1, 0, 0, 0, 0},
    {2, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {3, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {5, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {7, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {8, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {9, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field mx_fp8_e4m3_gemv_id_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"x_slots", 16, 4},
    {"experts", 20, 4},
    {"expert_first", 24, 4},
    {"expert_end", 28, 4},
    {"epilogue", 32, 4},
    {"weights_inner", 36, 4},
    {"x_first", 40, 4},
    {"x_stride", 44, 4},
    {"x_inner", 48, 4},
    {"y_skip", 52, 4},
    {"y_stride", 56, 4},
    {"y_inner", 60, 4},
    {"ids_skip", 64, 4},
    {"ids_inner", 68, 4},
};

static const uint32_t mx_fp8_e4m3_gemv_id_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t mx_fp8_e4m3_gemv_id_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t mx_fp8_e4m3_gemv_id_f32_vulkan_checked[] = {0, 1};
static const uint32_t mx_fp8_e4m3_gemv_id_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t mx_fp8_e4m3_gemv_id_f32_vulkan_schedule[] = {0, 1, 2};
static const uint32_t mx_fp8_e4m3_gemv_id_f32_vulkan_x_type[] = {0};
static const uint32_t mx_fp8_e4m3_gemv_id_f32_vulkan_views[] = {0, 1};
static const uint32_t mx_fp8_e4m3_gemv_id_f32_vulkan_y_type[] = {0, 1, 2};
static const qk_spec_constant mx_fp8_e4m3_gemv_id_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    mx_fp8_e4m3_gemv_id_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, mx_fp8_e4m3_gemv_id_f32_vulkan_rows},
    {12, "checked", 0, 2, mx_fp8_e4m3_gemv_id_f32_vulkan_checked},
    {7, "staged", 1, 4, mx_fp8_e4m3_gemv_id_f32_vulkan_staged},
    {20, "schedule", 0, 3, mx_fp8_e4m3_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 0, 1, mx_fp8_e4m3_gemv_id_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, mx_fp8_e4m3_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, mx_fp8_e4m3_gemv_id_f32_vulkan_y_type}};

static const qk_code *const mx_fp8_e4m3_gemv_id_f32_schedules[] = {0, &qk_mx_fp8_e4m3_gemv_id_rows_spirv,
    &qk_mx_fp8_e4m3_gemv_id_wide_spirv};

const qk_kernel qk_mx_fp8_e4m3_gemv_id_f32_vulkan = {
    .abi = 16,
    .name = "mx_fp8_e4m3_gemv_id_f32",
    .format = "mx_fp8_e4m3",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_mx_fp8_e4m3_gemv_id_rows_spirv,
    .schedules = mx_fp8_e4m3_gemv_id_f32_schedules,
    .binding_count = 10,
    .bindings = mx_fp8_e4m3_gemv_id_f32_bindings,
    .push_bytes = 72,
    .push_count = 18,
    .push = mx_fp8_e4m3_gemv_id_f32_push,
    .spec_constant_count = 9,
    .spec_constants = mx_fp8_e4m3_gemv_id_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 32,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 128,
    .sum_roundings = 122,
};

static const uint32_t mx_fp8_e4m3_gemv_id_f32_metal_views[] = {0, 1};
static const uint32_t mx_fp8_e4m3_gemv_id_f32_metal_y_type[] = {0, 1, 2};
static const qk_spec_constant mx_fp8_e4m3_gemv_id_f32_metal_constants[] = {{30, "views", 0, 2, mx_fp8_e4m3_gemv_id_f32_metal_views},
    {31, "y_type", 0, 3, mx_fp8_e4m3_gemv_id_f32_metal_y_type}};

const qk_kernel qk_mx_fp8_e4m3_gemv_id_f32_metal = {
    .abi = 16,
    .name = "mx_fp8_e4m3_gemv_id_f32",
    .format = "mx_fp8_e4m3",
    .family = "gemv_id",
    .api = QK_API_METAL,
    .entry = "mx_fp8_e4m3_gemv_id_f32",
    .code = &qk_mx_fp8_e4m3_msl,
    .binding_count = 10,
    .bindings = mx_fp8_e4m3_gemv_id_f32_bindings,
    .push_bytes = 72,
    .push_count = 18,
    .push = mx_fp8_e4m3_gemv_id_f32_push,
    .spec_constant_count = 2,
    .spec_constants = mx_fp8_e4m3_gemv_id_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 32,
    .tile_elements = 16,
    .sum_roundings = 74,
};

static const qk_binding mx_fp8_e4m3_gemv_id_f16_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 0, 0, 0, 0},
    {1, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 1, 0, 0, 0, 0},
    {2, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {3, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {5, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {7, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {8, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {9, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field mx_fp8_e4m3_gemv_id_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"x_slots", 16, 4},
    {"experts", 20, 4},
    {"expert_first", 24, 4},
    {"expert_end", 28, 4},
    {"epilogue", 32, 4},
    {"weights_inner", 36, 4},
    {"x_first", 40, 4},
    {"x_stride", 44, 4},
    {"x_inner", 48, 4},
    {"y_skip", 52, 4},
    {"y_stride", 56, 4},
    {"y_inner", 60, 4},
    {"ids_skip", 64, 4},
    {"ids_inner", 68, 4},
};

static const uint32_t mx_fp8_e4m3_gemv_id_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t mx_fp8_e4m3_gemv_id_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t mx_fp8_e4m3_gemv_id_f16_vulkan_checked[] = {0, 1};
static const uint32_t mx_fp8_e4m3_gemv_id_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t mx_fp8_e4m3_gemv_id_f16_vulkan_schedule[] = {0, 1, 2};
static const uint32_t mx_fp8_e4m3_gemv_id_f16_vulkan_x_type[] = {1};
static const uint32_t mx_fp8_e4m3_gemv_id_f16_vulkan_views[] = {0, 1};
static const uint32_t mx_fp8_e4m3_gemv_id_f16_vulkan_y_type[] = {0, 1, 2};
static const qk_spec_constant mx_fp8_e4m3_gemv_id_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    mx_fp8_e4m3_gemv_id_f16_vulkan_local_size_x},
    {2, "rows", 4, 4, mx_fp8_e4m3_gemv_id_f16_vulkan_rows},
    {12, "checked", 0, 2, mx_fp8_e4m3_gemv_id_f16_vulkan_checked},
    {7, "staged", 1, 4, mx_fp8_e4m3_gemv_id_f16_vulkan_staged},
    {20, "schedule", 0, 3, mx_fp8_e4m3_gemv_id_f16_vulkan_schedule},
    {21, "x_type", 1, 1, mx_fp8_e4m3_gemv_id_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, mx_fp8_e4m3_gemv_id_f16_vulkan_views},
    {31, "y_type", 0, 3, mx_fp8_e4m3_gemv_id_f16_vulkan_y_type}};

static const qk_code *const mx_fp8_e4m3_gemv_id_f16_schedules[] = {0, &qk_mx_fp8_e4m3_gemv_id_rows_spirv,
    &qk_mx_fp8_e4m3_gemv_id_wide_spirv};

const qk_kernel qk_mx_fp8_e4m3_gemv_id_f16_vulkan = {
    .abi = 16,
    .name = "mx_fp8_e4m3_gemv_id_f16",
    .format = "mx_fp8_e4m3",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_mx_fp8_e4m3_gemv_id_rows_spirv,
    .schedules = mx_fp8_e4m3_gemv_id_f16_schedules,
    .binding_count = 10,
    .bindings = mx_fp8_e4m3_gemv_id_f16_bindings,
    .push_bytes = 72,
    .push_count = 18,
    .push = mx_fp8_e4m3_gemv_id_f16_push,
    .spec_constant_count = 9,
    .spec_constants = mx_fp8_e4m3_gemv_id_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 32,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 128,
    .sum_roundings = 122,
};

static const uint32_t mx_fp8_e4m3_gemv_id_f16_metal_views[] = {0, 1};
static const uint32_t mx_fp8_e4m3_gemv_id_f16_metal_y_type[] = {0, 1, 2};
static const qk_spec_constant mx_fp8_e4m3_gemv_id_f16_metal_constants[] = {{30, "views", 0, 2, mx_fp8_e4m3_gemv_id_f16_metal_views},
    {31, "y_type", 0, 3, mx_fp8_e4m3_gemv_id_f16_metal_y_type}};

const qk_kernel qk_mx_fp8_e4m3_gemv_id_f16_metal = {
    .abi = 16,
    .name = "mx_fp8_e4m3_gemv_id_f16",
    .format = "mx_fp8_e4m3",
    .family = "gemv_id",
    .api = QK_API_METAL,
    .entry = "mx_fp8_e4m3_gemv_id_f16",
    .code = &qk_mx_fp8_e4m3_msl,
    .binding_count = 10,
    .bindings = mx_fp8_e4m3_gemv_id_f16_bindings,
    .push_bytes = 72,
    .push_count = 18,
    .push = mx_fp8_e4m3_gemv_id_f16_push,
    .spec_constant_count = 2,
    .spec_constants = mx_fp8_e4m3_gemv_id_f16_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 32,
    .tile_elements = 16,
    .sum_roundings = 74,
};

static const qk_kernel *const mx_fp8_e4m3_all[] = {
    &qk_mx_fp8_e4m3_dequant_f32_vulkan,
    &qk_mx_fp8_e4m3_dequant_f32_metal,
    &qk_mx_fp8_e4m3_dequant_f16_vulkan,
    &qk_mx_fp8_e4m3_dequant_f16_metal,
    &qk_mx_fp8_e4m3_dequant_bf16_vulkan,
    &qk_mx_fp8_e4m3_dequant_bf16_metal,
    &qk_mx_fp8_e4m3_gather_f32_vulkan,
    &qk_mx_fp8_e4m3_gather_f32_metal,
    &qk_mx_fp8_e4m3_gather_f16_vulkan,
    &qk_mx_fp8_e4m3_gather_f16_metal,
    &qk_mx_fp8_e4m3_gather_bf16_vulkan,
    &qk_mx_fp8_e4m3_gather_bf16_metal,
    &qk_mx_fp8_e4m3_gemv_f32_vulkan,
    &qk_mx_fp8_e4m3_gemv_f32_metal,
    &qk_mx_fp8_e4m3_gemv_f16_vulkan,
    &qk_mx_fp8_e4m3_gemv_f16_metal,
    &qk_mx_fp8_e4m3_gemv_id_f32_vulkan,
    &qk_mx_fp8_e4m3_gemv_id_f32_metal,
    &qk_mx_fp8_e4m3_gemv_id_f16_vulkan,
    &qk_mx_fp8_e4m3_gemv_id_f16_metal,
};

const qk_kernel_set qk_mx_fp8_e4m3_kernels = {"mx_fp8_e4m3", 20, mx_fp8_e4m3_all, 0};

/* ---- dispatch ---- */

qk_status qk_mx_fp8_e4m3_dequant_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_mx_fp8_e4m3_dequant_f32_metal
        : &qk_mx_fp8_e4m3_dequant_f32_vulkan;
    return qk_dispatch_dequant(backend, kernel, weights, dst, elements, error);
}

qk_status qk_mx_fp8_e4m3_dequant_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_mx_fp8_e4m3_dequant_f16_metal
        : &qk_mx_fp8_e4m3_dequant_f16_vulkan;
    return qk_dispatch_dequant(backend, kernel, weights, dst, elements, error);
}

qk_status qk_mx_fp8_e4m3_dequant_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_mx_fp8_e4m3_dequant_bf16_metal
        : &qk_mx_fp8_e4m3_dequant_bf16_vulkan;
    return qk_dispatch_dequant(backend, kernel, weights, dst, elements, error);
}

qk_status qk_mx_fp8_e4m3_gather_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_mx_fp8_e4m3_gather_f32_metal
        : &qk_mx_fp8_e4m3_gather_f32_vulkan;
    return qk_dispatch_gather(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_mx_fp8_e4m3_gather_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_mx_fp8_e4m3_gather_f16_metal
        : &qk_mx_fp8_e4m3_gather_f16_vulkan;
    return qk_dispatch_gather(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_mx_fp8_e4m3_gather_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_mx_fp8_e4m3_gather_bf16_metal
        : &qk_mx_fp8_e4m3_gather_bf16_vulkan;
    return qk_dispatch_gather(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_mx_fp8_e4m3_gemv_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_mx_fp8_e4m3_gemv_f32_metal
        : &qk_mx_fp8_e4m3_gemv_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_mx_fp8_e4m3_gemv_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_mx_fp8_e4m3_gemv_f16_metal
        : &qk_mx_fp8_e4m3_gemv_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_mx_fp8_e4m3_gemv_id_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_mx_fp8_e4m3_gemv_id_f32_metal
        : &qk_mx_fp8_e4m3_gemv_id_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_mx_fp8_e4m3_gemv_id_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_mx_fp8_e4m3_gemv_id_f16_metal
        : &qk_mx_fp8_e4m3_gemv_id_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}
