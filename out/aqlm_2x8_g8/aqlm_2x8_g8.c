/* aqlm_2x8_g8: reference decoder, descriptors and dispatch stubs.
 * Generated from the specification below by `qkgen emit --format aqlm_2x8_g8`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 36 bytes for 8 elements, 2 bits each.
 * dequant, gather in f32: for each weight 0.25 bytes read and 4 written, 10.2 operations: 1.75 loads, 1 bits, 3.25 integer, 2 float, 2.25
 * conversions.
 * gemv in f32: for each weight 0.25 bytes read, 7.62 operations: 0.625 loads, 1 bits, 0.75 integer, 3.12 float, 2.12 conversions.
 * gemv_id in f32: for each weight 0.25 bytes read, 8.75 operations: 0.625 loads, 1 bits, 1.88 integer, 3.12 float, 2.12 conversions.
 *     format aqlm_2x8_g8 "sums of two vectors of 8, each out of a table of 256, a scale for each row"
 *     from "AQLM: inference_lib, two codebooks of 8 bits"
 *     block 1 x 8 {
 *         buffer codes                { n: u8[1][2] }
 *         buffer codebook0[c0 of 256] { vectors0: f16[1][8] }    # codebooks[0]
 *         buffer codebook1[c1 of 256] { vectors1: f16[1][8] }    # codebooks[1], which follows in the same tensor
 *         buffer scales[rows]         { d: f16 }
 *     }
 *     code c0 per 8     = n        { 8 @ 0 }
 *     code c1 per 8     = n        { 8 @ 8 }
 *     code v0: f16      = vectors0 { 16 @ 0 (8:16) }
 *     code v1: f16      = vectors1 { 16 @ 0 (8:16) }
 *     code s: f16 per 8 = d        { 16 @ 0 }
 *     value = (v0 + v1) * s
 */
#include "aqlm_2x8_g8.h"

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
    const uint8_t *const codes = from[0];
    const uint8_t *const codebook0 = from[1];
    const uint8_t *const codebook1 = from[2];
    const uint8_t *const scales = from[3];
    (void)rows;
    const uint64_t grid_cols = (cols + 7u) / 8u;
    const uint64_t block_col = col / 8u;
    const uint64_t c = col % 8u;
    const uint32_t n0 = (uint32_t)codes[row * (grid_cols * 2u) + block_col * 2u];
    const uint32_t vectors0 = (uint32_t)codebook0[n0 * 16u + c * 2u] | ((uint32_t)codebook0[n0 * 16u + c * 2u + 1u] << 8u);
    const float v0 = qk_f16_to_f32(vectors0);  // vectors0: 16 bits
    const uint32_t n1 = (uint32_t)codes[row * (grid_cols * 2u) + (block_col * 2u + 1u)];
    const uint32_t vectors1 = (uint32_t)codebook1[n1 * 16u + c * 2u] | ((uint32_t)codebook1[n1 * 16u + c * 2u + 1u] << 8u);
    const float v1 = qk_f16_to_f32(vectors1);  // vectors1: 16 bits
    const float s = qk_f16_to_f32((uint32_t)scales[row * 2u] | ((uint32_t)scales[row * 2u + 1u] << 8u));
    return (v0 + v1) * s;
}

static uint16_t f16_at(const void *const *from, uint64_t rows, uint64_t cols, uint64_t row, uint64_t col) {
    return qk_f32_to_f16(value_at(from, rows, cols, row, col));
}

static uint16_t bf16_at(const void *const *from, uint64_t rows, uint64_t cols, uint64_t row, uint64_t col) {
    return qk_f32_to_bf16(value_at(from, rows, cols, row, col));
}

void qk_aqlm_2x8_g8_dequant_f32_ref(const void *const weights[4],
    uint64_t rows, uint64_t cols, float *dst) {
    for (uint64_t r = 0; r < rows; ++r)
        for (uint64_t c = 0; c < cols; ++c) *dst++ = value_at(weights, rows, cols, r, c);
}

void qk_aqlm_2x8_g8_dequant_f16_ref(const void *const weights[4],
    uint64_t rows, uint64_t cols, uint16_t *dst) {
    for (uint64_t r = 0; r < rows; ++r)
        for (uint64_t c = 0; c < cols; ++c) *dst++ = f16_at(weights, rows, cols, r, c);
}

void qk_aqlm_2x8_g8_dequant_bf16_ref(const void *const weights[4],
    uint64_t rows, uint64_t cols, uint16_t *dst) {
    for (uint64_t r = 0; r < rows; ++r)
        for (uint64_t c = 0; c < cols; ++c) *dst++ = bf16_at(weights, rows, cols, r, c);
}

/* Returns how many indices are out of range; their rows are zeros. */
uint64_t qk_aqlm_2x8_g8_gather_f32_ref(const void *const weights[4],
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
uint64_t qk_aqlm_2x8_g8_gather_f16_ref(const void *const weights[4],
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
uint64_t qk_aqlm_2x8_g8_gather_bf16_ref(const void *const weights[4],
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
void qk_aqlm_2x8_g8_gemv_f32_ref(const void *const weights[4],
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
void qk_aqlm_2x8_g8_gemv_f16_ref(const void *const weights[4],
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

/* y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], summed in double precision; where x_slots is 1, all slots of a
 * token have the same x. Returns how many ids are out of range; their results are zeros. */
uint64_t qk_aqlm_2x8_g8_gemv_id_f32_ref(const void *const weights[4],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols, uint64_t tokens,
    uint64_t slots, uint64_t x_slots, float *y) {
    uint64_t out_of_range = 0;
    for (uint64_t p = 0; p < tokens * slots; ++p) {
        const uint64_t m = x_slots == 1 ? p / slots : p, expert = ids[p];
        out_of_range += expert >= experts;
        const uint64_t of = expert < experts ? expert : 0;
        const void *const matrix[4] = {
            (const uint8_t *)weights[0] + of * (rows * (cols / 8u) * 2u),
            (const uint8_t *)weights[1] + of * (4096u),
            (const uint8_t *)weights[2] + of * (4096u),
            (const uint8_t *)weights[3] + of * (rows * 2u),
        };
        for (uint64_t i = 0; i < rows; ++i) {
            double sum = 0;
            for (uint64_t k = 0; expert < experts && k < cols; ++k)
                sum += (double)value_at(matrix, rows, cols, i, k) * (double)x[m * cols + k];
            *y++ = (float)sum;
        }
    }
    return out_of_range;
}

/* y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], summed in double precision; where x_slots is 1, all slots of a
 * token have the same x. Returns how many ids are out of range; their results are zeros. */
uint64_t qk_aqlm_2x8_g8_gemv_id_f16_ref(const void *const weights[4],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols, uint64_t tokens,
    uint64_t slots, uint64_t x_slots, float *y) {
    uint64_t out_of_range = 0;
    for (uint64_t p = 0; p < tokens * slots; ++p) {
        const uint64_t m = x_slots == 1 ? p / slots : p, expert = ids[p];
        out_of_range += expert >= experts;
        const uint64_t of = expert < experts ? expert : 0;
        const void *const matrix[4] = {
            (const uint8_t *)weights[0] + of * (rows * (cols / 8u) * 2u),
            (const uint8_t *)weights[1] + of * (4096u),
            (const uint8_t *)weights[2] + of * (4096u),
            (const uint8_t *)weights[3] + of * (rows * 2u),
        };
        for (uint64_t i = 0; i < rows; ++i) {
            double sum = 0;
            for (uint64_t k = 0; expert < experts && k < cols; ++k)
                sum += (double)value_at(matrix, rows, cols, i, k) * (double)qk_f16_to_f32(x[m * cols + k]);
            *y++ = (float)sum;
        }
    }
    return out_of_range;
}

/* ---- descriptors ---- */

/* The code itself: aqlm_2x8_g8_code.c. */
extern const qk_code qk_aqlm_2x8_g8_dequant_f32_spirv;
extern const qk_code qk_aqlm_2x8_g8_dequant_halves_spirv;
extern const qk_code qk_aqlm_2x8_g8_gather_f32_spirv;
extern const qk_code qk_aqlm_2x8_g8_gather_halves_spirv;
extern const qk_code qk_aqlm_2x8_g8_gemv_rows_spirv;
extern const qk_code qk_aqlm_2x8_g8_gemv_wide_spirv;
extern const qk_code qk_aqlm_2x8_g8_gemv_shared_spirv;
extern const qk_code qk_aqlm_2x8_g8_gemv_teams_spirv;
extern const qk_code qk_aqlm_2x8_g8_gemv_id_rows_spirv;
extern const qk_code qk_aqlm_2x8_g8_gemv_id_wide_spirv;
extern const qk_code qk_aqlm_2x8_g8_msl;

static const qk_binding aqlm_2x8_g8_dequant_f32_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 2, 1, 1, 2, 0},
    {1, "codebook0", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {2, "codebook1", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {3, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 2, 2, 1, 0, 0},
    {4, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field aqlm_2x8_g8_dequant_f32_push[] = {
    {"rows", 0, 4},
    {"cols", 4, 4},
    {"grid_rows", 8, 4},
    {"grid_cols", 12, 4},
    {"row_tiles", 16, 4},
};
static const uint32_t aqlm_2x8_g8_dequant_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant aqlm_2x8_g8_dequant_f32_vulkan_constants[] = {{0, "local_size_x", 256, 6,
    aqlm_2x8_g8_dequant_f32_vulkan_local_size_x}};

const qk_kernel qk_aqlm_2x8_g8_dequant_f32_vulkan = {
    .abi = 22,
    .name = "aqlm_2x8_g8_dequant_f32",
    .format = "aqlm_2x8_g8",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_aqlm_2x8_g8_dequant_f32_spirv,
    .binding_count = 5,
    .bindings = aqlm_2x8_g8_dequant_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = aqlm_2x8_g8_dequant_f32_push,
    .spec_constant_count = 1,
    .spec_constants = aqlm_2x8_g8_dequant_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 8,
    .tile_elements = 4,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
};

const qk_kernel qk_aqlm_2x8_g8_dequant_f32_metal = {
    .abi = 22,
    .name = "aqlm_2x8_g8_dequant_f32",
    .format = "aqlm_2x8_g8",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "aqlm_2x8_g8_dequant_f32",
    .code = &qk_aqlm_2x8_g8_msl,
    .binding_count = 5,
    .bindings = aqlm_2x8_g8_dequant_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = aqlm_2x8_g8_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
};

static const qk_binding aqlm_2x8_g8_dequant_f16_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 2, 1, 1, 2, 0},
    {1, "codebook0", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {2, "codebook1", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {3, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 2, 2, 1, 0, 0},
    {4, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0, 0},
};
static const uint32_t aqlm_2x8_g8_dequant_f16_vulkan_rounds_f16[] = {0, 1};
static const uint32_t aqlm_2x8_g8_dequant_f16_vulkan_y_type[] = {1};
static const qk_spec_constant aqlm_2x8_g8_dequant_f16_vulkan_constants[] = {{0, "local_size_x", 256, 6,
    aqlm_2x8_g8_dequant_f32_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, aqlm_2x8_g8_dequant_f16_vulkan_rounds_f16},
    {31, "y_type", 1, 1, aqlm_2x8_g8_dequant_f16_vulkan_y_type}};

const qk_kernel qk_aqlm_2x8_g8_dequant_f16_vulkan = {
    .abi = 22,
    .name = "aqlm_2x8_g8_dequant_f16",
    .format = "aqlm_2x8_g8",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_aqlm_2x8_g8_dequant_halves_spirv,
    .binding_count = 5,
    .bindings = aqlm_2x8_g8_dequant_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = aqlm_2x8_g8_dequant_f32_push,
    .spec_constant_count = 3,
    .spec_constants = aqlm_2x8_g8_dequant_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
};

const qk_kernel qk_aqlm_2x8_g8_dequant_f16_metal = {
    .abi = 22,
    .name = "aqlm_2x8_g8_dequant_f16",
    .format = "aqlm_2x8_g8",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "aqlm_2x8_g8_dequant_f16",
    .code = &qk_aqlm_2x8_g8_msl,
    .binding_count = 5,
    .bindings = aqlm_2x8_g8_dequant_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = aqlm_2x8_g8_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
};

static const qk_binding aqlm_2x8_g8_dequant_bf16_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 2, 1, 1, 2, 0},
    {1, "codebook0", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {2, "codebook1", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {3, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 2, 2, 1, 0, 0},
    {4, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0, 0},
};
static const uint32_t aqlm_2x8_g8_dequant_bf16_vulkan_y_type[] = {2};
static const qk_spec_constant aqlm_2x8_g8_dequant_bf16_vulkan_constants[] = {{0, "local_size_x", 256, 6,
    aqlm_2x8_g8_dequant_f32_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, aqlm_2x8_g8_dequant_f16_vulkan_rounds_f16},
    {31, "y_type", 2, 1, aqlm_2x8_g8_dequant_bf16_vulkan_y_type}};

const qk_kernel qk_aqlm_2x8_g8_dequant_bf16_vulkan = {
    .abi = 22,
    .name = "aqlm_2x8_g8_dequant_bf16",
    .format = "aqlm_2x8_g8",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_aqlm_2x8_g8_dequant_halves_spirv,
    .binding_count = 5,
    .bindings = aqlm_2x8_g8_dequant_bf16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = aqlm_2x8_g8_dequant_f32_push,
    .spec_constant_count = 3,
    .spec_constants = aqlm_2x8_g8_dequant_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
};

const qk_kernel qk_aqlm_2x8_g8_dequant_bf16_metal = {
    .abi = 22,
    .name = "aqlm_2x8_g8_dequant_bf16",
    .format = "aqlm_2x8_g8",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "aqlm_2x8_g8_dequant_bf16",
    .code = &qk_aqlm_2x8_g8_msl,
    .binding_count = 5,
    .bindings = aqlm_2x8_g8_dequant_bf16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = aqlm_2x8_g8_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
};

static const qk_binding aqlm_2x8_g8_gather_f32_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 2, 1, 1, 2, 0},
    {1, "codebook0", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {2, "codebook1", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {3, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 2, 2, 1, 0, 0},
    {4, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {5, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};
static const qk_field aqlm_2x8_g8_gather_f32_push[] = {
    {"rows", 0, 4},
    {"cols", 4, 4},
    {"grid_rows", 8, 4},
    {"grid_cols", 12, 4},
    {"row_tiles", 16, 4},
    {"table_rows", 20, 4},
    {"table_cols", 24, 4},
    {"tokens", 28, 4},
};

const qk_kernel qk_aqlm_2x8_g8_gather_f32_vulkan = {
    .abi = 22,
    .name = "aqlm_2x8_g8_gather_f32",
    .format = "aqlm_2x8_g8",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_aqlm_2x8_g8_gather_f32_spirv,
    .binding_count = 7,
    .bindings = aqlm_2x8_g8_gather_f32_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = aqlm_2x8_g8_gather_f32_push,
    .spec_constant_count = 1,
    .spec_constants = aqlm_2x8_g8_dequant_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 8,
    .tile_elements = 4,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
};

const qk_kernel qk_aqlm_2x8_g8_gather_f32_metal = {
    .abi = 22,
    .name = "aqlm_2x8_g8_gather_f32",
    .format = "aqlm_2x8_g8",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "aqlm_2x8_g8_gather_f32",
    .code = &qk_aqlm_2x8_g8_msl,
    .binding_count = 7,
    .bindings = aqlm_2x8_g8_gather_f32_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = aqlm_2x8_g8_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
};

static const qk_binding aqlm_2x8_g8_gather_f16_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 2, 1, 1, 2, 0},
    {1, "codebook0", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {2, "codebook1", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {3, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 2, 2, 1, 0, 0},
    {4, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {5, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {6, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_aqlm_2x8_g8_gather_f16_vulkan = {
    .abi = 22,
    .name = "aqlm_2x8_g8_gather_f16",
    .format = "aqlm_2x8_g8",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_aqlm_2x8_g8_gather_halves_spirv,
    .binding_count = 7,
    .bindings = aqlm_2x8_g8_gather_f16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = aqlm_2x8_g8_gather_f32_push,
    .spec_constant_count = 3,
    .spec_constants = aqlm_2x8_g8_dequant_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
};

const qk_kernel qk_aqlm_2x8_g8_gather_f16_metal = {
    .abi = 22,
    .name = "aqlm_2x8_g8_gather_f16",
    .format = "aqlm_2x8_g8",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "aqlm_2x8_g8_gather_f16",
    .code = &qk_aqlm_2x8_g8_msl,
    .binding_count = 7,
    .bindings = aqlm_2x8_g8_gather_f16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = aqlm_2x8_g8_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
};

static const qk_binding aqlm_2x8_g8_gather_bf16_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 2, 1, 1, 2, 0},
    {1, "codebook0", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {2, "codebook1", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {3, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 2, 2, 1, 0, 0},
    {4, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {5, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0, 0},
    {6, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_aqlm_2x8_g8_gather_bf16_vulkan = {
    .abi = 22,
    .name = "aqlm_2x8_g8_gather_bf16",
    .format = "aqlm_2x8_g8",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_aqlm_2x8_g8_gather_halves_spirv,
    .binding_count = 7,
    .bindings = aqlm_2x8_g8_gather_bf16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = aqlm_2x8_g8_gather_f32_push,
    .spec_constant_count = 3,
    .spec_constants = aqlm_2x8_g8_dequant_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
};

const qk_kernel qk_aqlm_2x8_g8_gather_bf16_metal = {
    .abi = 22,
    .name = "aqlm_2x8_g8_gather_bf16",
    .format = "aqlm_2x8_g8",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "aqlm_2x8_g8_gather_bf16",
    .code = &qk_aqlm_2x8_g8_msl,
    .binding_count = 7,
    .bindings = aqlm_2x8_g8_gather_bf16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = aqlm_2x8_g8_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
};

static const qk_binding aqlm_2x8_g8_gemv_f32_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 2, 1, 1, 2, 0},
    {1, "codebook0", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {2, "codebook1", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {3, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 2, 2, 1, 0, 0},
    {4, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {7, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {8, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {9, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field aqlm_2x8_g8_gemv_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
    {"epilogue", 20, 4},
    {"cols", 24, 4},
    {"grid_rows", 28, 4},
    {"grid_cols", 32, 4},
    {"groups", 36, 4},
    {"matrix_first", 40, 4},
    {"matrices", 44, 4},
    {"vectors", 48, 4},
    {"sharing", 52, 4},
    {"sharing_outer", 56, 4},
    {"weights_first", 60, 4},
    {"weights_inner", 64, 4},
    {"weights_outer", 68, 4},
    {"x_first", 72, 4},
    {"x_stride", 76, 4},
    {"x_inner", 80, 4},
    {"x_outer", 84, 4},
    {"y_skip", 88, 4},
    {"y_stride", 92, 4},
    {"y_inner", 96, 4},
    {"y_outer", 100, 4},
    {"second", 104, 4},
    {"third", 108, 4},
    {"weights_second", 112, 4},
    {"weights_third", 116, 4},
    {"y_second", 120, 4},
    {"y_third", 124, 4},
};
static const uint32_t aqlm_2x8_g8_gemv_f32_vulkan_batch[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const uint32_t aqlm_2x8_g8_gemv_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t aqlm_2x8_g8_gemv_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t aqlm_2x8_g8_gemv_f32_vulkan_shared_fours[] = {512, 1024, 1280, 2048, 2560};
static const uint32_t aqlm_2x8_g8_gemv_f32_vulkan_checked[] = {0, 1};
static const uint32_t aqlm_2x8_g8_gemv_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t aqlm_2x8_g8_gemv_f32_vulkan_schedule[] = {0, 1, 2, 4, 5};
static const uint32_t aqlm_2x8_g8_gemv_f32_vulkan_x_type[] = {0};
static const uint32_t aqlm_2x8_g8_gemv_f32_vulkan_views[] = {0, 1};
static const uint32_t aqlm_2x8_g8_gemv_f32_vulkan_y_type[] = {0, 1, 2};
static const qk_spec_constant aqlm_2x8_g8_gemv_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    aqlm_2x8_g8_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, aqlm_2x8_g8_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, aqlm_2x8_g8_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, aqlm_2x8_g8_gemv_f32_vulkan_split},
    {6, "shared_fours", 512, 5, aqlm_2x8_g8_gemv_f32_vulkan_shared_fours},
    {12, "checked", 0, 2, aqlm_2x8_g8_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, aqlm_2x8_g8_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 5, aqlm_2x8_g8_gemv_f32_vulkan_schedule},
    {21, "x_type", 0, 1, aqlm_2x8_g8_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, aqlm_2x8_g8_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, aqlm_2x8_g8_gemv_f32_vulkan_y_type}};
static const qk_code *const aqlm_2x8_g8_gemv_f32_schedules[] = {0, &qk_aqlm_2x8_g8_gemv_rows_spirv, &qk_aqlm_2x8_g8_gemv_wide_spirv, 0,
    &qk_aqlm_2x8_g8_gemv_shared_spirv, &qk_aqlm_2x8_g8_gemv_teams_spirv};

const qk_kernel qk_aqlm_2x8_g8_gemv_f32_vulkan = {
    .abi = 22,
    .name = "aqlm_2x8_g8_gemv_f32",
    .format = "aqlm_2x8_g8",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_aqlm_2x8_g8_gemv_rows_spirv,
    .schedules = aqlm_2x8_g8_gemv_f32_schedules,
    .binding_count = 10,
    .bindings = aqlm_2x8_g8_gemv_f32_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = aqlm_2x8_g8_gemv_f32_push,
    .spec_constant_count = 12,
    .spec_constants = aqlm_2x8_g8_gemv_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
    .kept_elements = 64,
    .shared_tile = 2,
    .shares_wide = 0,
    .teams_tile = 2,
    .teams_kept = 8,
    .teams_block = 0,
    .sum_roundings = 68,
};

static const uint32_t aqlm_2x8_g8_gemv_f32_metal_batch[] = {1, 2, 4, 8};
static const qk_spec_constant aqlm_2x8_g8_gemv_f32_metal_constants[] = {{1, "batch", 1, 4, aqlm_2x8_g8_gemv_f32_metal_batch},
    {30, "views", 0, 2, aqlm_2x8_g8_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, aqlm_2x8_g8_gemv_f32_vulkan_y_type}};

const qk_kernel qk_aqlm_2x8_g8_gemv_f32_metal = {
    .abi = 22,
    .name = "aqlm_2x8_g8_gemv_f32",
    .format = "aqlm_2x8_g8",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "aqlm_2x8_g8_gemv_f32",
    .code = &qk_aqlm_2x8_g8_msl,
    .binding_count = 10,
    .bindings = aqlm_2x8_g8_gemv_f32_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = aqlm_2x8_g8_gemv_f32_push,
    .spec_constant_count = 3,
    .spec_constants = aqlm_2x8_g8_gemv_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
    .sum_roundings = 68,
};

static const qk_binding aqlm_2x8_g8_gemv_f16_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 2, 1, 1, 2, 0},
    {1, "codebook0", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {2, "codebook1", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {3, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 2, 2, 1, 0, 0},
    {4, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {5, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {7, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {8, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {9, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const uint32_t aqlm_2x8_g8_gemv_f16_vulkan_x_type[] = {1};
static const qk_spec_constant aqlm_2x8_g8_gemv_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    aqlm_2x8_g8_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, aqlm_2x8_g8_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, aqlm_2x8_g8_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, aqlm_2x8_g8_gemv_f32_vulkan_split},
    {6, "shared_fours", 512, 5, aqlm_2x8_g8_gemv_f32_vulkan_shared_fours},
    {12, "checked", 0, 2, aqlm_2x8_g8_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, aqlm_2x8_g8_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 5, aqlm_2x8_g8_gemv_f32_vulkan_schedule},
    {21, "x_type", 1, 1, aqlm_2x8_g8_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, aqlm_2x8_g8_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, aqlm_2x8_g8_gemv_f32_vulkan_y_type}};

const qk_kernel qk_aqlm_2x8_g8_gemv_f16_vulkan = {
    .abi = 22,
    .name = "aqlm_2x8_g8_gemv_f16",
    .format = "aqlm_2x8_g8",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_aqlm_2x8_g8_gemv_rows_spirv,
    .schedules = aqlm_2x8_g8_gemv_f32_schedules,
    .binding_count = 10,
    .bindings = aqlm_2x8_g8_gemv_f16_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = aqlm_2x8_g8_gemv_f32_push,
    .spec_constant_count = 12,
    .spec_constants = aqlm_2x8_g8_gemv_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
    .kept_elements = 64,
    .shared_tile = 2,
    .shares_wide = 0,
    .teams_tile = 2,
    .teams_kept = 8,
    .teams_block = 0,
    .sum_roundings = 68,
};

const qk_kernel qk_aqlm_2x8_g8_gemv_f16_metal = {
    .abi = 22,
    .name = "aqlm_2x8_g8_gemv_f16",
    .format = "aqlm_2x8_g8",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "aqlm_2x8_g8_gemv_f16",
    .code = &qk_aqlm_2x8_g8_msl,
    .binding_count = 10,
    .bindings = aqlm_2x8_g8_gemv_f16_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = aqlm_2x8_g8_gemv_f32_push,
    .spec_constant_count = 3,
    .spec_constants = aqlm_2x8_g8_gemv_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
    .sum_roundings = 68,
};

static const qk_binding aqlm_2x8_g8_gemv_id_f32_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 2, 1, 1, 2, 0},
    {1, "codebook0", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {2, "codebook1", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {3, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 2, 2, 1, 0, 0},
    {4, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {6, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {7, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {8, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {9, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {10, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {11, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field aqlm_2x8_g8_gemv_id_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"x_slots", 16, 4},
    {"experts", 20, 4},
    {"expert_first", 24, 4},
    {"expert_end", 28, 4},
    {"epilogue", 32, 4},
    {"cols", 36, 4},
    {"grid_rows", 40, 4},
    {"grid_cols", 44, 4},
    {"weights_inner", 48, 4},
    {"x_first", 52, 4},
    {"x_stride", 56, 4},
    {"x_inner", 60, 4},
    {"y_skip", 64, 4},
    {"y_stride", 68, 4},
    {"y_inner", 72, 4},
    {"ids_skip", 76, 4},
    {"ids_inner", 80, 4},
    {"sets", 84, 4},
    {"set_first", 88, 4},
    {"weights_first", 92, 4},
    {"weights_outer", 96, 4},
    {"y_outer", 100, 4},
};
static const uint32_t aqlm_2x8_g8_gemv_id_f32_vulkan_schedule[] = {0, 1, 2};
static const qk_spec_constant aqlm_2x8_g8_gemv_id_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    aqlm_2x8_g8_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, aqlm_2x8_g8_gemv_f32_vulkan_rows},
    {12, "checked", 0, 2, aqlm_2x8_g8_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, aqlm_2x8_g8_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, aqlm_2x8_g8_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 0, 1, aqlm_2x8_g8_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, aqlm_2x8_g8_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, aqlm_2x8_g8_gemv_f32_vulkan_y_type}};
static const qk_code *const aqlm_2x8_g8_gemv_id_f32_schedules[] = {0, &qk_aqlm_2x8_g8_gemv_id_rows_spirv,
    &qk_aqlm_2x8_g8_gemv_id_wide_spirv};

const qk_kernel qk_aqlm_2x8_g8_gemv_id_f32_vulkan = {
    .abi = 22,
    .name = "aqlm_2x8_g8_gemv_id_f32",
    .format = "aqlm_2x8_g8",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_aqlm_2x8_g8_gemv_id_rows_spirv,
    .schedules = aqlm_2x8_g8_gemv_id_f32_schedules,
    .binding_count = 12,
    .bindings = aqlm_2x8_g8_gemv_id_f32_bindings,
    .push_bytes = 104,
    .push_count = 26,
    .push = aqlm_2x8_g8_gemv_id_f32_push,
    .spec_constant_count = 9,
    .spec_constants = aqlm_2x8_g8_gemv_id_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
    .kept_elements = 64,
    .sum_roundings = 68,
};

static const qk_spec_constant aqlm_2x8_g8_gemv_id_f32_metal_constants[] = {{30, "views", 0, 2, aqlm_2x8_g8_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, aqlm_2x8_g8_gemv_f32_vulkan_y_type}};

const qk_kernel qk_aqlm_2x8_g8_gemv_id_f32_metal = {
    .abi = 22,
    .name = "aqlm_2x8_g8_gemv_id_f32",
    .format = "aqlm_2x8_g8",
    .family = "gemv_id",
    .api = QK_API_METAL,
    .entry = "aqlm_2x8_g8_gemv_id_f32",
    .code = &qk_aqlm_2x8_g8_msl,
    .binding_count = 12,
    .bindings = aqlm_2x8_g8_gemv_id_f32_bindings,
    .push_bytes = 104,
    .push_count = 26,
    .push = aqlm_2x8_g8_gemv_id_f32_push,
    .spec_constant_count = 2,
    .spec_constants = aqlm_2x8_g8_gemv_id_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
    .sum_roundings = 68,
};

static const qk_binding aqlm_2x8_g8_gemv_id_f16_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 2, 1, 1, 2, 0},
    {1, "codebook0", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {2, "codebook1", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 16, 4096, 0, 0, 0},
    {3, "scales", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 2, 2, 1, 0, 0},
    {4, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {5, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {6, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {7, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {8, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {9, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {10, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {11, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_spec_constant aqlm_2x8_g8_gemv_id_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    aqlm_2x8_g8_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, aqlm_2x8_g8_gemv_f32_vulkan_rows},
    {12, "checked", 0, 2, aqlm_2x8_g8_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, aqlm_2x8_g8_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, aqlm_2x8_g8_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 1, 1, aqlm_2x8_g8_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, aqlm_2x8_g8_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, aqlm_2x8_g8_gemv_f32_vulkan_y_type}};

const qk_kernel qk_aqlm_2x8_g8_gemv_id_f16_vulkan = {
    .abi = 22,
    .name = "aqlm_2x8_g8_gemv_id_f16",
    .format = "aqlm_2x8_g8",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_aqlm_2x8_g8_gemv_id_rows_spirv,
    .schedules = aqlm_2x8_g8_gemv_id_f32_schedules,
    .binding_count = 12,
    .bindings = aqlm_2x8_g8_gemv_id_f16_bindings,
    .push_bytes = 104,
    .push_count = 26,
    .push = aqlm_2x8_g8_gemv_id_f32_push,
    .spec_constant_count = 9,
    .spec_constants = aqlm_2x8_g8_gemv_id_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
    .kept_elements = 64,
    .sum_roundings = 68,
};

const qk_kernel qk_aqlm_2x8_g8_gemv_id_f16_metal = {
    .abi = 22,
    .name = "aqlm_2x8_g8_gemv_id_f16",
    .format = "aqlm_2x8_g8",
    .family = "gemv_id",
    .api = QK_API_METAL,
    .entry = "aqlm_2x8_g8_gemv_id_f16",
    .code = &qk_aqlm_2x8_g8_msl,
    .binding_count = 12,
    .bindings = aqlm_2x8_g8_gemv_id_f16_bindings,
    .push_bytes = 104,
    .push_count = 26,
    .push = aqlm_2x8_g8_gemv_id_f32_push,
    .spec_constant_count = 2,
    .spec_constants = aqlm_2x8_g8_gemv_id_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 8,
    .tile_elements = 8,
    .view = QK_VIEW_MATRIX,
    .ragged = 0,
    .block_rows = 1,
    .block_cols = 8,
    .sum_roundings = 68,
};

static const qk_kernel *const aqlm_2x8_g8_all[] = {
    &qk_aqlm_2x8_g8_dequant_f32_vulkan,
    &qk_aqlm_2x8_g8_dequant_f32_metal,
    &qk_aqlm_2x8_g8_dequant_f16_vulkan,
    &qk_aqlm_2x8_g8_dequant_f16_metal,
    &qk_aqlm_2x8_g8_dequant_bf16_vulkan,
    &qk_aqlm_2x8_g8_dequant_bf16_metal,
    &qk_aqlm_2x8_g8_gather_f32_vulkan,
    &qk_aqlm_2x8_g8_gather_f32_metal,
    &qk_aqlm_2x8_g8_gather_f16_vulkan,
    &qk_aqlm_2x8_g8_gather_f16_metal,
    &qk_aqlm_2x8_g8_gather_bf16_vulkan,
    &qk_aqlm_2x8_g8_gather_bf16_metal,
    &qk_aqlm_2x8_g8_gemv_f32_vulkan,
    &qk_aqlm_2x8_g8_gemv_f32_metal,
    &qk_aqlm_2x8_g8_gemv_f16_vulkan,
    &qk_aqlm_2x8_g8_gemv_f16_metal,
    &qk_aqlm_2x8_g8_gemv_id_f32_vulkan,
    &qk_aqlm_2x8_g8_gemv_id_f32_metal,
    &qk_aqlm_2x8_g8_gemv_id_f16_vulkan,
    &qk_aqlm_2x8_g8_gemv_id_f16_metal,
};

const qk_kernel_set qk_aqlm_2x8_g8_kernels = {"aqlm_2x8_g8", 20, aqlm_2x8_g8_all, 0};

/* ---- dispatch ---- */

qk_status qk_aqlm_2x8_g8_dequant_f32(const qk_backend *backend, const qk_range weights[4],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_aqlm_2x8_g8_dequant_f32_metal
        : &qk_aqlm_2x8_g8_dequant_f32_vulkan;
    return qk_dispatch_dequant_matrix(backend, kernel, weights, dst, rows, cols, error);
}

qk_status qk_aqlm_2x8_g8_dequant_f16(const qk_backend *backend, const qk_range weights[4],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_aqlm_2x8_g8_dequant_f16_metal
        : &qk_aqlm_2x8_g8_dequant_f16_vulkan;
    return qk_dispatch_dequant_matrix(backend, kernel, weights, dst, rows, cols, error);
}

qk_status qk_aqlm_2x8_g8_dequant_bf16(const qk_backend *backend, const qk_range weights[4],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_aqlm_2x8_g8_dequant_bf16_metal
        : &qk_aqlm_2x8_g8_dequant_bf16_vulkan;
    return qk_dispatch_dequant_matrix(backend, kernel, weights, dst, rows, cols, error);
}

qk_status qk_aqlm_2x8_g8_gather_f32(const qk_backend *backend, const qk_range weights[4],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_aqlm_2x8_g8_gather_f32_metal
        : &qk_aqlm_2x8_g8_gather_f32_vulkan;
    return qk_dispatch_gather_matrix(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_aqlm_2x8_g8_gather_f16(const qk_backend *backend, const qk_range weights[4],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_aqlm_2x8_g8_gather_f16_metal
        : &qk_aqlm_2x8_g8_gather_f16_vulkan;
    return qk_dispatch_gather_matrix(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_aqlm_2x8_g8_gather_bf16(const qk_backend *backend, const qk_range weights[4],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_aqlm_2x8_g8_gather_bf16_metal
        : &qk_aqlm_2x8_g8_gather_bf16_vulkan;
    return qk_dispatch_gather_matrix(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_aqlm_2x8_g8_gemv_f32(const qk_backend *backend, const qk_range weights[4],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_aqlm_2x8_g8_gemv_f32_metal
        : &qk_aqlm_2x8_g8_gemv_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_aqlm_2x8_g8_gemv_f16(const qk_backend *backend, const qk_range weights[4],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_aqlm_2x8_g8_gemv_f16_metal
        : &qk_aqlm_2x8_g8_gemv_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_aqlm_2x8_g8_gemv_id_f32(const qk_backend *backend, const qk_range weights[4],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_aqlm_2x8_g8_gemv_id_f32_metal
        : &qk_aqlm_2x8_g8_gemv_id_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_aqlm_2x8_g8_gemv_id_f16(const qk_backend *backend, const qk_range weights[4],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_aqlm_2x8_g8_gemv_id_f16_metal
        : &qk_aqlm_2x8_g8_gemv_id_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}
