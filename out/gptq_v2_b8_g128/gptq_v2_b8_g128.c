/* gptq_v2_b8_g128: reference decoder, descriptors and dispatch stubs.
 * Generated from the specification below by `qkgen emit --format gptq_v2_b8_g128`; do not edit.
 * 4192 bytes for 4096 elements, 8.188 bits each.
 * dequant in f32: for each weight 1.02 bytes read and 4 written, 7.94 operations: 0.562 loads, 2.38 bits, 2.75 integer, 1 float, 1.25 conversions.
 * gather in f32: for each weight 1.02 bytes read and 4 written, 10.2 operations: 0.75 loads, 2.5 bits, 4.75 integer, 1 float, 1.25 conversions.
 * gemv in f32: for each weight 1.02 bytes read, 6.19 operations: 0.375 loads, 0.875 bits, 2.06 integer, 2.25 float, 0.625 conversions.
 *
 *     format gptq_v2_b{bits}_g{group} "GPTQ: codes packed along the inputs, zeros along the outputs"
 *     from "GPTQModel: checkpoints of version 2"
 *     for bits in 2 3 4 8, group in 32 64 128
 *
 *     block 32 x group ragged {
 *         buffer qweight[cols][rows] { w: u32[32][group * bits / 32] }
 *         buffer qzeros[cols][rows]  { zs: u32[bits][1] }
 *         buffer scales[cols][rows]  { d: f16[32][1] }
 *     }
 *
 *     code q                = w  { bits @ 0 (32 * group:bits) }
 *     code z per group      = zs { bits @ 0 (32:bits) }
 *     code s: f16 per group = d  { 16 @ 0 (32:16) }
 *
 *     value = (q - z) * s
 *
 * Here bits = 8, group = 128.
 */
#include "gptq_v2_b8_g128.h"

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

static inline uint32_t qk_min(uint32_t a, uint32_t b) {
    return a < b ? a : b;
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

/* The value of an element of a tensor of rows x cols. */
static float value_at(const void *const *from, uint64_t rows, uint64_t cols, uint64_t row, uint64_t col) {
    const uint8_t *const qweight = from[0];
    const uint8_t *const qzeros = from[1];
    const uint8_t *const scales = from[2];
    const uint64_t block_row = row / 32u;
    const uint64_t r = row % 32u;
    const uint64_t block_col = col / 128u;
    const uint64_t c = col % 128u;
    const uint32_t w = (uint32_t)qweight[(qk_min(block_col * 32u + c / 4u, (cols - 1u) / 4u) * rows + row) * 4u + c % 4u];
    const uint32_t zs = (uint32_t)qzeros[(block_col * ((rows - 1u) / 4u + 1u) + qk_min(block_row * 8u + r / 4u, (rows - 1u) / 4u)) * 4u + r % 4u];
    const uint32_t d = (uint32_t)scales[(block_col * rows + row) * 2u] | ((uint32_t)scales[(block_col * rows + row) * 2u + 1u] << 8u);
    const float s = qk_f16_to_f32(d);  // d: 16 bits
    return (float)((int32_t)w - (int32_t)zs) * s;
}

static uint16_t f16_at(const void *const *from, uint64_t rows, uint64_t cols, uint64_t row, uint64_t col) {
    return qk_f32_to_f16(value_at(from, rows, cols, row, col));
}

static uint16_t bf16_at(const void *const *from, uint64_t rows, uint64_t cols, uint64_t row, uint64_t col) {
    return qk_f32_to_bf16(value_at(from, rows, cols, row, col));
}

void qk_gptq_v2_b8_g128_dequant_f32_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, float *dst) {
    for (uint64_t r = 0; r < rows; ++r)
        for (uint64_t c = 0; c < cols; ++c) *dst++ = value_at(weights, rows, cols, r, c);
}

void qk_gptq_v2_b8_g128_dequant_f16_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, uint16_t *dst) {
    for (uint64_t r = 0; r < rows; ++r)
        for (uint64_t c = 0; c < cols; ++c) *dst++ = f16_at(weights, rows, cols, r, c);
}

void qk_gptq_v2_b8_g128_dequant_bf16_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, uint16_t *dst) {
    for (uint64_t r = 0; r < rows; ++r)
        for (uint64_t c = 0; c < cols; ++c) *dst++ = bf16_at(weights, rows, cols, r, c);
}

/* Returns how many indices are out of range; their rows are zeros. */
uint64_t qk_gptq_v2_b8_g128_gather_f32_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst) {
    uint64_t out_of_range = 0;
    for (uint64_t t = 0; t < tokens; ++t, dst += cols) {
        if (indices[t] >= rows) {
            memset(dst, 0, cols * sizeof *dst);
            out_of_range += 1;
            continue;
        }
        for (uint64_t c = 0; c < cols; ++c) dst[c] = value_at(weights, rows, cols, indices[t], c);
    }
    return out_of_range;
}

/* Returns how many indices are out of range; their rows are zeros. */
uint64_t qk_gptq_v2_b8_g128_gather_f16_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst) {
    uint64_t out_of_range = 0;
    for (uint64_t t = 0; t < tokens; ++t, dst += cols) {
        if (indices[t] >= rows) {
            memset(dst, 0, cols * sizeof *dst);
            out_of_range += 1;
            continue;
        }
        for (uint64_t c = 0; c < cols; ++c) dst[c] = f16_at(weights, rows, cols, indices[t], c);
    }
    return out_of_range;
}

/* Returns how many indices are out of range; their rows are zeros. */
uint64_t qk_gptq_v2_b8_g128_gather_bf16_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst) {
    uint64_t out_of_range = 0;
    for (uint64_t t = 0; t < tokens; ++t, dst += cols) {
        if (indices[t] >= rows) {
            memset(dst, 0, cols * sizeof *dst);
            out_of_range += 1;
            continue;
        }
        for (uint64_t c = 0; c < cols; ++c) dst[c] = bf16_at(weights, rows, cols, indices[t], c);
    }
    return out_of_range;
}

/* y[m][n] = sum over k of value(n, k) * x[m][k], summed in double precision. */
void qk_gptq_v2_b8_g128_gemv_f32_ref(const void *const weights[3],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y) {
    for (uint64_t n = 0; n < rows; ++n) {
        for (uint64_t m = 0; m < batch; ++m) {
            double sum = 0;
            for (uint64_t k = 0; k < cols; ++k)
                sum += (double)value_at(weights, rows, cols, n, k) * (double)x[m * cols + k];
            y[m * rows + n] = (float)sum;
        }
    }
}

/* y[m][n] = sum over k of value(n, k) * x[m][k], summed in double precision. */
void qk_gptq_v2_b8_g128_gemv_f16_ref(const void *const weights[3],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y) {
    for (uint64_t n = 0; n < rows; ++n) {
        for (uint64_t m = 0; m < batch; ++m) {
            double sum = 0;
            for (uint64_t k = 0; k < cols; ++k)
                sum += (double)value_at(weights, rows, cols, n, k) * (double)qk_f16_to_f32(x[m * cols + k]);
            y[m * rows + n] = (float)sum;
        }
    }
}

/* ---- descriptors ---- */

/* The code itself: gptq_v2_b8_g128_code.c. */
extern const qk_code qk_gptq_v2_b8_g128_dequant_f32_spirv;
extern const qk_code qk_gptq_v2_b8_g128_dequant_f16_spirv;
extern const qk_code qk_gptq_v2_b8_g128_dequant_bf16_spirv;
extern const qk_code qk_gptq_v2_b8_g128_gather_f32_spirv;
extern const qk_code qk_gptq_v2_b8_g128_gather_f16_spirv;
extern const qk_code qk_gptq_v2_b8_g128_gather_bf16_spirv;
extern const qk_code qk_gptq_v2_b8_g128_gemv_f32_spirv;
extern const qk_code qk_gptq_v2_b8_g128_gemv_int8_f32_spirv;
extern const qk_code qk_gptq_v2_b8_g128_gemv_f16_spirv;
extern const qk_code qk_gptq_v2_b8_g128_gemv_int8_f16_spirv;
extern const qk_code qk_gptq_v2_b8_g128_msl;

static const qk_binding gptq_v2_b8_g128_dequant_f32_bindings[] = {
    {0, "qweight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4096, 4, 32, 32},
    {1, "qzeros", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 4, 8, 1},
    {2, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 64, 2, 32, 1},
    {3, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field gptq_v2_b8_g128_dequant_f32_push[] = {
    {"rows", 0, 4},
    {"cols", 4, 4},
    {"grid_rows", 8, 4},
    {"grid_cols", 12, 4},
    {"row_tiles", 16, 4},
};

static const uint32_t gptq_v2_b8_g128_dequant_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant gptq_v2_b8_g128_dequant_f32_vulkan_constants[] = {{0, "local_size_x", 256, 6, gptq_v2_b8_g128_dequant_f32_vulkan_local_size_x}};

const qk_kernel qk_gptq_v2_b8_g128_dequant_f32_vulkan = {
    .name = "gptq_v2_b8_g128_dequant_f32",
    .format = "gptq_v2_b8_g128",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_gptq_v2_b8_g128_dequant_f32_spirv,
    .binding_count = 4,
    .bindings = gptq_v2_b8_g128_dequant_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = gptq_v2_b8_g128_dequant_f32_push,
    .spec_constant_count = 1,
    .spec_constants = gptq_v2_b8_g128_dequant_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 4096,
    .tile_elements = 4,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
    .tile_rows = 4,
};

const qk_kernel qk_gptq_v2_b8_g128_dequant_f32_metal = {
    .name = "gptq_v2_b8_g128_dequant_f32",
    .format = "gptq_v2_b8_g128",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "gptq_v2_b8_g128_dequant_f32",
    .code = &qk_gptq_v2_b8_g128_msl,
    .binding_count = 4,
    .bindings = gptq_v2_b8_g128_dequant_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = gptq_v2_b8_g128_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 4096,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
};

static const qk_binding gptq_v2_b8_g128_dequant_f16_bindings[] = {
    {0, "qweight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4096, 4, 32, 32},
    {1, "qzeros", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 4, 8, 1},
    {2, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 64, 2, 32, 1},
    {3, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0},
};
static const qk_field gptq_v2_b8_g128_dequant_f16_push[] = {
    {"rows", 0, 4},
    {"cols", 4, 4},
    {"grid_rows", 8, 4},
    {"grid_cols", 12, 4},
    {"row_tiles", 16, 4},
};

static const uint32_t gptq_v2_b8_g128_dequant_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t gptq_v2_b8_g128_dequant_f16_vulkan_rounds_f16[] = {0, 1};
static const qk_spec_constant gptq_v2_b8_g128_dequant_f16_vulkan_constants[] = {{0, "local_size_x", 256, 6, gptq_v2_b8_g128_dequant_f16_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, gptq_v2_b8_g128_dequant_f16_vulkan_rounds_f16}};

const qk_kernel qk_gptq_v2_b8_g128_dequant_f16_vulkan = {
    .name = "gptq_v2_b8_g128_dequant_f16",
    .format = "gptq_v2_b8_g128",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_gptq_v2_b8_g128_dequant_f16_spirv,
    .binding_count = 4,
    .bindings = gptq_v2_b8_g128_dequant_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = gptq_v2_b8_g128_dequant_f16_push,
    .spec_constant_count = 2,
    .spec_constants = gptq_v2_b8_g128_dequant_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 4096,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
    .tile_rows = 4,
};

const qk_kernel qk_gptq_v2_b8_g128_dequant_f16_metal = {
    .name = "gptq_v2_b8_g128_dequant_f16",
    .format = "gptq_v2_b8_g128",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "gptq_v2_b8_g128_dequant_f16",
    .code = &qk_gptq_v2_b8_g128_msl,
    .binding_count = 4,
    .bindings = gptq_v2_b8_g128_dequant_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = gptq_v2_b8_g128_dequant_f16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 4096,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
};

static const qk_binding gptq_v2_b8_g128_dequant_bf16_bindings[] = {
    {0, "qweight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4096, 4, 32, 32},
    {1, "qzeros", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 4, 8, 1},
    {2, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 64, 2, 32, 1},
    {3, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0},
};
static const qk_field gptq_v2_b8_g128_dequant_bf16_push[] = {
    {"rows", 0, 4},
    {"cols", 4, 4},
    {"grid_rows", 8, 4},
    {"grid_cols", 12, 4},
    {"row_tiles", 16, 4},
};

static const uint32_t gptq_v2_b8_g128_dequant_bf16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant gptq_v2_b8_g128_dequant_bf16_vulkan_constants[] = {{0, "local_size_x", 256, 6, gptq_v2_b8_g128_dequant_bf16_vulkan_local_size_x}};

const qk_kernel qk_gptq_v2_b8_g128_dequant_bf16_vulkan = {
    .name = "gptq_v2_b8_g128_dequant_bf16",
    .format = "gptq_v2_b8_g128",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_gptq_v2_b8_g128_dequant_bf16_spirv,
    .binding_count = 4,
    .bindings = gptq_v2_b8_g128_dequant_bf16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = gptq_v2_b8_g128_dequant_bf16_push,
    .spec_constant_count = 1,
    .spec_constants = gptq_v2_b8_g128_dequant_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 4096,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
    .tile_rows = 4,
};

const qk_kernel qk_gptq_v2_b8_g128_dequant_bf16_metal = {
    .name = "gptq_v2_b8_g128_dequant_bf16",
    .format = "gptq_v2_b8_g128",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "gptq_v2_b8_g128_dequant_bf16",
    .code = &qk_gptq_v2_b8_g128_msl,
    .binding_count = 4,
    .bindings = gptq_v2_b8_g128_dequant_bf16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = gptq_v2_b8_g128_dequant_bf16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 4096,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
};

static const qk_binding gptq_v2_b8_g128_gather_f32_bindings[] = {
    {0, "qweight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4096, 4, 32, 32},
    {1, "qzeros", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 4, 8, 1},
    {2, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 64, 2, 32, 1},
    {3, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {4, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {5, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field gptq_v2_b8_g128_gather_f32_push[] = {
    {"rows", 0, 4},
    {"cols", 4, 4},
    {"grid_rows", 8, 4},
    {"grid_cols", 12, 4},
    {"row_tiles", 16, 4},
    {"table_rows", 20, 4},
    {"table_cols", 24, 4},
    {"tokens", 28, 4},
};

static const uint32_t gptq_v2_b8_g128_gather_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant gptq_v2_b8_g128_gather_f32_vulkan_constants[] = {{0, "local_size_x", 256, 6, gptq_v2_b8_g128_gather_f32_vulkan_local_size_x}};

const qk_kernel qk_gptq_v2_b8_g128_gather_f32_vulkan = {
    .name = "gptq_v2_b8_g128_gather_f32",
    .format = "gptq_v2_b8_g128",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_gptq_v2_b8_g128_gather_f32_spirv,
    .binding_count = 6,
    .bindings = gptq_v2_b8_g128_gather_f32_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = gptq_v2_b8_g128_gather_f32_push,
    .spec_constant_count = 1,
    .spec_constants = gptq_v2_b8_g128_gather_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 4096,
    .tile_elements = 4,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
};

const qk_kernel qk_gptq_v2_b8_g128_gather_f32_metal = {
    .name = "gptq_v2_b8_g128_gather_f32",
    .format = "gptq_v2_b8_g128",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "gptq_v2_b8_g128_gather_f32",
    .code = &qk_gptq_v2_b8_g128_msl,
    .binding_count = 6,
    .bindings = gptq_v2_b8_g128_gather_f32_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = gptq_v2_b8_g128_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 4096,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
};

static const qk_binding gptq_v2_b8_g128_gather_f16_bindings[] = {
    {0, "qweight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4096, 4, 32, 32},
    {1, "qzeros", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 4, 8, 1},
    {2, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 64, 2, 32, 1},
    {3, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {4, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0},
    {5, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field gptq_v2_b8_g128_gather_f16_push[] = {
    {"rows", 0, 4},
    {"cols", 4, 4},
    {"grid_rows", 8, 4},
    {"grid_cols", 12, 4},
    {"row_tiles", 16, 4},
    {"table_rows", 20, 4},
    {"table_cols", 24, 4},
    {"tokens", 28, 4},
};

static const uint32_t gptq_v2_b8_g128_gather_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t gptq_v2_b8_g128_gather_f16_vulkan_rounds_f16[] = {0, 1};
static const qk_spec_constant gptq_v2_b8_g128_gather_f16_vulkan_constants[] = {{0, "local_size_x", 256, 6, gptq_v2_b8_g128_gather_f16_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, gptq_v2_b8_g128_gather_f16_vulkan_rounds_f16}};

const qk_kernel qk_gptq_v2_b8_g128_gather_f16_vulkan = {
    .name = "gptq_v2_b8_g128_gather_f16",
    .format = "gptq_v2_b8_g128",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_gptq_v2_b8_g128_gather_f16_spirv,
    .binding_count = 6,
    .bindings = gptq_v2_b8_g128_gather_f16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = gptq_v2_b8_g128_gather_f16_push,
    .spec_constant_count = 2,
    .spec_constants = gptq_v2_b8_g128_gather_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 4096,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
};

const qk_kernel qk_gptq_v2_b8_g128_gather_f16_metal = {
    .name = "gptq_v2_b8_g128_gather_f16",
    .format = "gptq_v2_b8_g128",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "gptq_v2_b8_g128_gather_f16",
    .code = &qk_gptq_v2_b8_g128_msl,
    .binding_count = 6,
    .bindings = gptq_v2_b8_g128_gather_f16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = gptq_v2_b8_g128_gather_f16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 4096,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
};

static const qk_binding gptq_v2_b8_g128_gather_bf16_bindings[] = {
    {0, "qweight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4096, 4, 32, 32},
    {1, "qzeros", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 4, 8, 1},
    {2, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 64, 2, 32, 1},
    {3, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {4, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0},
    {5, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field gptq_v2_b8_g128_gather_bf16_push[] = {
    {"rows", 0, 4},
    {"cols", 4, 4},
    {"grid_rows", 8, 4},
    {"grid_cols", 12, 4},
    {"row_tiles", 16, 4},
    {"table_rows", 20, 4},
    {"table_cols", 24, 4},
    {"tokens", 28, 4},
};

static const uint32_t gptq_v2_b8_g128_gather_bf16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant gptq_v2_b8_g128_gather_bf16_vulkan_constants[] = {{0, "local_size_x", 256, 6, gptq_v2_b8_g128_gather_bf16_vulkan_local_size_x}};

const qk_kernel qk_gptq_v2_b8_g128_gather_bf16_vulkan = {
    .name = "gptq_v2_b8_g128_gather_bf16",
    .format = "gptq_v2_b8_g128",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_gptq_v2_b8_g128_gather_bf16_spirv,
    .binding_count = 6,
    .bindings = gptq_v2_b8_g128_gather_bf16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = gptq_v2_b8_g128_gather_bf16_push,
    .spec_constant_count = 1,
    .spec_constants = gptq_v2_b8_g128_gather_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 4096,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
};

const qk_kernel qk_gptq_v2_b8_g128_gather_bf16_metal = {
    .name = "gptq_v2_b8_g128_gather_bf16",
    .format = "gptq_v2_b8_g128",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "gptq_v2_b8_g128_gather_bf16",
    .code = &qk_gptq_v2_b8_g128_msl,
    .binding_count = 6,
    .bindings = gptq_v2_b8_g128_gather_bf16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = gptq_v2_b8_g128_gather_bf16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 4096,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
};

static const qk_binding gptq_v2_b8_g128_gemv_f32_bindings[] = {
    {0, "qweight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4096, 4, 32, 32},
    {1, "qzeros", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 4, 8, 1},
    {2, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 64, 2, 32, 1},
    {3, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field gptq_v2_b8_g128_gemv_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
    {"cols", 20, 4},
    {"grid_rows", 24, 4},
    {"grid_cols", 28, 4},
};

static const uint32_t gptq_v2_b8_g128_gemv_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t gptq_v2_b8_g128_gemv_f32_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t gptq_v2_b8_g128_gemv_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t gptq_v2_b8_g128_gemv_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant gptq_v2_b8_g128_gemv_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, gptq_v2_b8_g128_gemv_f32_vulkan_local_size_x},
    {1, "batch", 1, 4, gptq_v2_b8_g128_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, gptq_v2_b8_g128_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, gptq_v2_b8_g128_gemv_f32_vulkan_split}};

const qk_kernel qk_gptq_v2_b8_g128_gemv_f32_vulkan = {
    .name = "gptq_v2_b8_g128_gemv_f32",
    .format = "gptq_v2_b8_g128",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_gptq_v2_b8_g128_gemv_f32_spirv,
    .binding_count = 5,
    .bindings = gptq_v2_b8_g128_gemv_f32_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = gptq_v2_b8_g128_gemv_f32_push,
    .spec_constant_count = 4,
    .spec_constants = gptq_v2_b8_g128_gemv_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 4096,
    .tile_elements = 16,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
    .sum_roundings = 74,
};

static const uint32_t gptq_v2_b8_g128_gemv_f32_metal_batch[] = {1, 2, 4, 8};
static const qk_spec_constant gptq_v2_b8_g128_gemv_f32_metal_constants[] = {{1, "batch", 1, 4, gptq_v2_b8_g128_gemv_f32_metal_batch}};

const qk_kernel qk_gptq_v2_b8_g128_gemv_f32_metal = {
    .name = "gptq_v2_b8_g128_gemv_f32",
    .format = "gptq_v2_b8_g128",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "gptq_v2_b8_g128_gemv_f32",
    .code = &qk_gptq_v2_b8_g128_msl,
    .binding_count = 5,
    .bindings = gptq_v2_b8_g128_gemv_f32_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = gptq_v2_b8_g128_gemv_f32_push,
    .spec_constant_count = 1,
    .spec_constants = gptq_v2_b8_g128_gemv_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 4096,
    .tile_elements = 16,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
    .sum_roundings = 74,
};

static const qk_binding gptq_v2_b8_g128_gemv_int8_f32_bindings[] = {
    {0, "qweight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4096, 4, 32, 32},
    {1, "qzeros", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 4, 8, 1},
    {2, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 64, 2, 32, 1},
    {3, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field gptq_v2_b8_g128_gemv_int8_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
    {"cols", 20, 4},
    {"grid_rows", 24, 4},
    {"grid_cols", 28, 4},
};

static const uint32_t gptq_v2_b8_g128_gemv_int8_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t gptq_v2_b8_g128_gemv_int8_f32_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t gptq_v2_b8_g128_gemv_int8_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t gptq_v2_b8_g128_gemv_int8_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t gptq_v2_b8_g128_gemv_int8_f32_vulkan_digits[] = {1};
static const qk_spec_constant gptq_v2_b8_g128_gemv_int8_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, gptq_v2_b8_g128_gemv_int8_f32_vulkan_local_size_x},
    {1, "batch", 1, 4, gptq_v2_b8_g128_gemv_int8_f32_vulkan_batch},
    {2, "rows", 4, 4, gptq_v2_b8_g128_gemv_int8_f32_vulkan_rows},
    {3, "split", 1, 6, gptq_v2_b8_g128_gemv_int8_f32_vulkan_split},
    {4, "digits", 1, 1, gptq_v2_b8_g128_gemv_int8_f32_vulkan_digits}};

const qk_kernel qk_gptq_v2_b8_g128_gemv_int8_f32_vulkan = {
    .name = "gptq_v2_b8_g128_gemv_int8_f32",
    .format = "gptq_v2_b8_g128",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_gptq_v2_b8_g128_gemv_int8_f32_spirv,
    .binding_count = 5,
    .bindings = gptq_v2_b8_g128_gemv_int8_f32_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = gptq_v2_b8_g128_gemv_int8_f32_push,
    .spec_constant_count = 5,
    .spec_constants = gptq_v2_b8_g128_gemv_int8_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 4096,
    .tile_elements = 16,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
    .sum_roundings = 74,
    .x_levels = 127,
    .x_group = 16,
    .x_reach = 16,
};

static const qk_binding gptq_v2_b8_g128_gemv_split_f32_bindings[] = {
    {0, "qweight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4096, 4, 32, 32},
    {1, "qzeros", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 4, 8, 1},
    {2, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 64, 2, 32, 1},
    {3, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field gptq_v2_b8_g128_gemv_split_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
    {"cols", 20, 4},
    {"grid_rows", 24, 4},
    {"grid_cols", 28, 4},
};

static const uint32_t gptq_v2_b8_g128_gemv_split_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t gptq_v2_b8_g128_gemv_split_f32_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t gptq_v2_b8_g128_gemv_split_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t gptq_v2_b8_g128_gemv_split_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t gptq_v2_b8_g128_gemv_split_f32_vulkan_digits[] = {2};
static const qk_spec_constant gptq_v2_b8_g128_gemv_split_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, gptq_v2_b8_g128_gemv_split_f32_vulkan_local_size_x},
    {1, "batch", 1, 4, gptq_v2_b8_g128_gemv_split_f32_vulkan_batch},
    {2, "rows", 4, 4, gptq_v2_b8_g128_gemv_split_f32_vulkan_rows},
    {3, "split", 1, 6, gptq_v2_b8_g128_gemv_split_f32_vulkan_split},
    {4, "digits", 2, 1, gptq_v2_b8_g128_gemv_split_f32_vulkan_digits}};

const qk_kernel qk_gptq_v2_b8_g128_gemv_split_f32_vulkan = {
    .name = "gptq_v2_b8_g128_gemv_split_f32",
    .format = "gptq_v2_b8_g128",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_gptq_v2_b8_g128_gemv_int8_f32_spirv,
    .binding_count = 5,
    .bindings = gptq_v2_b8_g128_gemv_split_f32_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = gptq_v2_b8_g128_gemv_split_f32_push,
    .spec_constant_count = 5,
    .spec_constants = gptq_v2_b8_g128_gemv_split_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 4096,
    .tile_elements = 16,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
    .sum_roundings = 74,
    .x_levels = 32639,
    .x_group = 16,
    .x_reach = 16,
};

static const qk_binding gptq_v2_b8_g128_gemv_int24_f32_bindings[] = {
    {0, "qweight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4096, 4, 32, 32},
    {1, "qzeros", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 4, 8, 1},
    {2, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 64, 2, 32, 1},
    {3, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field gptq_v2_b8_g128_gemv_int24_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
    {"cols", 20, 4},
    {"grid_rows", 24, 4},
    {"grid_cols", 28, 4},
};

static const uint32_t gptq_v2_b8_g128_gemv_int24_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t gptq_v2_b8_g128_gemv_int24_f32_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t gptq_v2_b8_g128_gemv_int24_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t gptq_v2_b8_g128_gemv_int24_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t gptq_v2_b8_g128_gemv_int24_f32_vulkan_digits[] = {3};
static const qk_spec_constant gptq_v2_b8_g128_gemv_int24_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, gptq_v2_b8_g128_gemv_int24_f32_vulkan_local_size_x},
    {1, "batch", 1, 4, gptq_v2_b8_g128_gemv_int24_f32_vulkan_batch},
    {2, "rows", 4, 4, gptq_v2_b8_g128_gemv_int24_f32_vulkan_rows},
    {3, "split", 1, 6, gptq_v2_b8_g128_gemv_int24_f32_vulkan_split},
    {4, "digits", 3, 1, gptq_v2_b8_g128_gemv_int24_f32_vulkan_digits}};

const qk_kernel qk_gptq_v2_b8_g128_gemv_int24_f32_vulkan = {
    .name = "gptq_v2_b8_g128_gemv_int24_f32",
    .format = "gptq_v2_b8_g128",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_gptq_v2_b8_g128_gemv_int8_f32_spirv,
    .binding_count = 5,
    .bindings = gptq_v2_b8_g128_gemv_int24_f32_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = gptq_v2_b8_g128_gemv_int24_f32_push,
    .spec_constant_count = 5,
    .spec_constants = gptq_v2_b8_g128_gemv_int24_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 4096,
    .tile_elements = 16,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
    .sum_roundings = 74,
    .x_levels = 8355708,
    .x_group = 16,
    .x_reach = 16,
};

static const qk_binding gptq_v2_b8_g128_gemv_f16_bindings[] = {
    {0, "qweight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4096, 4, 32, 32},
    {1, "qzeros", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 4, 8, 1},
    {2, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 64, 2, 32, 1},
    {3, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {4, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field gptq_v2_b8_g128_gemv_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
    {"cols", 20, 4},
    {"grid_rows", 24, 4},
    {"grid_cols", 28, 4},
};

static const uint32_t gptq_v2_b8_g128_gemv_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t gptq_v2_b8_g128_gemv_f16_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t gptq_v2_b8_g128_gemv_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t gptq_v2_b8_g128_gemv_f16_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant gptq_v2_b8_g128_gemv_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, gptq_v2_b8_g128_gemv_f16_vulkan_local_size_x},
    {1, "batch", 1, 4, gptq_v2_b8_g128_gemv_f16_vulkan_batch},
    {2, "rows", 4, 4, gptq_v2_b8_g128_gemv_f16_vulkan_rows},
    {3, "split", 1, 6, gptq_v2_b8_g128_gemv_f16_vulkan_split}};

const qk_kernel qk_gptq_v2_b8_g128_gemv_f16_vulkan = {
    .name = "gptq_v2_b8_g128_gemv_f16",
    .format = "gptq_v2_b8_g128",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_gptq_v2_b8_g128_gemv_f16_spirv,
    .binding_count = 5,
    .bindings = gptq_v2_b8_g128_gemv_f16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = gptq_v2_b8_g128_gemv_f16_push,
    .spec_constant_count = 4,
    .spec_constants = gptq_v2_b8_g128_gemv_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 4096,
    .tile_elements = 16,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
    .sum_roundings = 74,
};

static const uint32_t gptq_v2_b8_g128_gemv_f16_metal_batch[] = {1, 2, 4, 8};
static const qk_spec_constant gptq_v2_b8_g128_gemv_f16_metal_constants[] = {{1, "batch", 1, 4, gptq_v2_b8_g128_gemv_f16_metal_batch}};

const qk_kernel qk_gptq_v2_b8_g128_gemv_f16_metal = {
    .name = "gptq_v2_b8_g128_gemv_f16",
    .format = "gptq_v2_b8_g128",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "gptq_v2_b8_g128_gemv_f16",
    .code = &qk_gptq_v2_b8_g128_msl,
    .binding_count = 5,
    .bindings = gptq_v2_b8_g128_gemv_f16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = gptq_v2_b8_g128_gemv_f16_push,
    .spec_constant_count = 1,
    .spec_constants = gptq_v2_b8_g128_gemv_f16_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 4096,
    .tile_elements = 16,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
    .sum_roundings = 74,
};

static const qk_binding gptq_v2_b8_g128_gemv_int8_f16_bindings[] = {
    {0, "qweight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4096, 4, 32, 32},
    {1, "qzeros", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 4, 8, 1},
    {2, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 64, 2, 32, 1},
    {3, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {4, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field gptq_v2_b8_g128_gemv_int8_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
    {"cols", 20, 4},
    {"grid_rows", 24, 4},
    {"grid_cols", 28, 4},
};

static const uint32_t gptq_v2_b8_g128_gemv_int8_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t gptq_v2_b8_g128_gemv_int8_f16_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t gptq_v2_b8_g128_gemv_int8_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t gptq_v2_b8_g128_gemv_int8_f16_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t gptq_v2_b8_g128_gemv_int8_f16_vulkan_digits[] = {1};
static const qk_spec_constant gptq_v2_b8_g128_gemv_int8_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, gptq_v2_b8_g128_gemv_int8_f16_vulkan_local_size_x},
    {1, "batch", 1, 4, gptq_v2_b8_g128_gemv_int8_f16_vulkan_batch},
    {2, "rows", 4, 4, gptq_v2_b8_g128_gemv_int8_f16_vulkan_rows},
    {3, "split", 1, 6, gptq_v2_b8_g128_gemv_int8_f16_vulkan_split},
    {4, "digits", 1, 1, gptq_v2_b8_g128_gemv_int8_f16_vulkan_digits}};

const qk_kernel qk_gptq_v2_b8_g128_gemv_int8_f16_vulkan = {
    .name = "gptq_v2_b8_g128_gemv_int8_f16",
    .format = "gptq_v2_b8_g128",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_gptq_v2_b8_g128_gemv_int8_f16_spirv,
    .binding_count = 5,
    .bindings = gptq_v2_b8_g128_gemv_int8_f16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = gptq_v2_b8_g128_gemv_int8_f16_push,
    .spec_constant_count = 5,
    .spec_constants = gptq_v2_b8_g128_gemv_int8_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 4096,
    .tile_elements = 16,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
    .sum_roundings = 74,
    .x_levels = 127,
    .x_group = 16,
    .x_reach = 16,
};

static const qk_binding gptq_v2_b8_g128_gemv_split_f16_bindings[] = {
    {0, "qweight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4096, 4, 32, 32},
    {1, "qzeros", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 4, 8, 1},
    {2, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 64, 2, 32, 1},
    {3, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {4, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field gptq_v2_b8_g128_gemv_split_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
    {"cols", 20, 4},
    {"grid_rows", 24, 4},
    {"grid_cols", 28, 4},
};

static const uint32_t gptq_v2_b8_g128_gemv_split_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t gptq_v2_b8_g128_gemv_split_f16_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t gptq_v2_b8_g128_gemv_split_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t gptq_v2_b8_g128_gemv_split_f16_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t gptq_v2_b8_g128_gemv_split_f16_vulkan_digits[] = {2};
static const qk_spec_constant gptq_v2_b8_g128_gemv_split_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, gptq_v2_b8_g128_gemv_split_f16_vulkan_local_size_x},
    {1, "batch", 1, 4, gptq_v2_b8_g128_gemv_split_f16_vulkan_batch},
    {2, "rows", 4, 4, gptq_v2_b8_g128_gemv_split_f16_vulkan_rows},
    {3, "split", 1, 6, gptq_v2_b8_g128_gemv_split_f16_vulkan_split},
    {4, "digits", 2, 1, gptq_v2_b8_g128_gemv_split_f16_vulkan_digits}};

const qk_kernel qk_gptq_v2_b8_g128_gemv_split_f16_vulkan = {
    .name = "gptq_v2_b8_g128_gemv_split_f16",
    .format = "gptq_v2_b8_g128",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_gptq_v2_b8_g128_gemv_int8_f16_spirv,
    .binding_count = 5,
    .bindings = gptq_v2_b8_g128_gemv_split_f16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = gptq_v2_b8_g128_gemv_split_f16_push,
    .spec_constant_count = 5,
    .spec_constants = gptq_v2_b8_g128_gemv_split_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 4096,
    .tile_elements = 16,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
    .sum_roundings = 74,
    .x_levels = 32639,
    .x_group = 16,
    .x_reach = 16,
};

static const qk_binding gptq_v2_b8_g128_gemv_int24_f16_bindings[] = {
    {0, "qweight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4096, 4, 32, 32},
    {1, "qzeros", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 32, 4, 8, 1},
    {2, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 64, 2, 32, 1},
    {3, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {4, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field gptq_v2_b8_g128_gemv_int24_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
    {"cols", 20, 4},
    {"grid_rows", 24, 4},
    {"grid_cols", 28, 4},
};

static const uint32_t gptq_v2_b8_g128_gemv_int24_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t gptq_v2_b8_g128_gemv_int24_f16_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t gptq_v2_b8_g128_gemv_int24_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t gptq_v2_b8_g128_gemv_int24_f16_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t gptq_v2_b8_g128_gemv_int24_f16_vulkan_digits[] = {3};
static const qk_spec_constant gptq_v2_b8_g128_gemv_int24_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, gptq_v2_b8_g128_gemv_int24_f16_vulkan_local_size_x},
    {1, "batch", 1, 4, gptq_v2_b8_g128_gemv_int24_f16_vulkan_batch},
    {2, "rows", 4, 4, gptq_v2_b8_g128_gemv_int24_f16_vulkan_rows},
    {3, "split", 1, 6, gptq_v2_b8_g128_gemv_int24_f16_vulkan_split},
    {4, "digits", 3, 1, gptq_v2_b8_g128_gemv_int24_f16_vulkan_digits}};

const qk_kernel qk_gptq_v2_b8_g128_gemv_int24_f16_vulkan = {
    .name = "gptq_v2_b8_g128_gemv_int24_f16",
    .format = "gptq_v2_b8_g128",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_gptq_v2_b8_g128_gemv_int8_f16_spirv,
    .binding_count = 5,
    .bindings = gptq_v2_b8_g128_gemv_int24_f16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = gptq_v2_b8_g128_gemv_int24_f16_push,
    .spec_constant_count = 5,
    .spec_constants = gptq_v2_b8_g128_gemv_int24_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 4096,
    .tile_elements = 16,
    .view = QK_VIEW_MATRIX,
    .ragged = 1,
    .block_rows = 32,
    .block_cols = 128,
    .sum_roundings = 74,
    .x_levels = 8355708,
    .x_group = 16,
    .x_reach = 16,
};

/* ---- dispatch ---- */

qk_status qk_gptq_v2_b8_g128_dequant_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_gptq_v2_b8_g128_dequant_f32_metal : &qk_gptq_v2_b8_g128_dequant_f32_vulkan;
    return qk_dispatch_dequant_matrix(backend, kernel, weights, dst, rows, cols, error);
}

qk_status qk_gptq_v2_b8_g128_dequant_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_gptq_v2_b8_g128_dequant_f16_metal : &qk_gptq_v2_b8_g128_dequant_f16_vulkan;
    return qk_dispatch_dequant_matrix(backend, kernel, weights, dst, rows, cols, error);
}

qk_status qk_gptq_v2_b8_g128_dequant_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_gptq_v2_b8_g128_dequant_bf16_metal : &qk_gptq_v2_b8_g128_dequant_bf16_vulkan;
    return qk_dispatch_dequant_matrix(backend, kernel, weights, dst, rows, cols, error);
}

qk_status qk_gptq_v2_b8_g128_gather_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_gptq_v2_b8_g128_gather_f32_metal : &qk_gptq_v2_b8_g128_gather_f32_vulkan;
    return qk_dispatch_gather_matrix(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_gptq_v2_b8_g128_gather_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_gptq_v2_b8_g128_gather_f16_metal : &qk_gptq_v2_b8_g128_gather_f16_vulkan;
    return qk_dispatch_gather_matrix(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_gptq_v2_b8_g128_gather_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_gptq_v2_b8_g128_gather_bf16_metal : &qk_gptq_v2_b8_g128_gather_bf16_vulkan;
    return qk_dispatch_gather_matrix(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_gptq_v2_b8_g128_gemv_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_gptq_v2_b8_g128_gemv_f32_metal : &qk_gptq_v2_b8_g128_gemv_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_gptq_v2_b8_g128_gemv_int8_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_gptq_v2_b8_g128_gemv_int8_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_gptq_v2_b8_g128_gemv_split_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_gptq_v2_b8_g128_gemv_split_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_gptq_v2_b8_g128_gemv_int24_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_gptq_v2_b8_g128_gemv_int24_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_gptq_v2_b8_g128_gemv_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_gptq_v2_b8_g128_gemv_f16_metal : &qk_gptq_v2_b8_g128_gemv_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_gptq_v2_b8_g128_gemv_int8_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_gptq_v2_b8_g128_gemv_int8_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_gptq_v2_b8_g128_gemv_split_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_gptq_v2_b8_g128_gemv_split_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_gptq_v2_b8_g128_gemv_int24_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_gptq_v2_b8_g128_gemv_int24_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}
