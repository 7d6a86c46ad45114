/* hqq_b3_g64: reference decoder, descriptors and dispatch stubs.
 * Generated from the specification below by `qkgen emit --format hqq_b3_g64`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 296 bytes for 640 elements, 3.7 bits each.
 * dequant in f32: for each weight 0.463 bytes read and 4 written, 6.65 operations: 0.6 loads, 1.9 bits, 0.65 integer, 2 float, 1.5
 * conversions.
 * gather in f32: for each weight 0.463 bytes read and 4 written, 9.75 operations: 1.5 loads, 2 bits, 2.75 integer, 2 float, 1.5
 * conversions.
 * gemv in f32: for each weight 0.463 bytes read, 5.66 operations: 0.281 loads, 2 bits, 0.281 integer, 2.06 float, 1.03 conversions.
 *     format hqq_b3_g{group} "HQQ: the groups of the whole tensor in ten planes of 3 bits, a float zero"
 *     from "HQQ: BitPack, axis 1"
 *     for group in 64 128
 *     block 10 apart x group {
 *         buffer W_q   { w: u32[1][group] }
 *         buffer scale { d: f16[10][1] }
 *         buffer zero  { m: f16[10][1] }
 *     }
 *     code q                = w { 3 @ 27 (group:32, 10:-3) }
 *     spare                   w { 2 @ 30 (group:32) }
 *     code s: f16 per group = d { 16 @ 0 (10:16) }
 *     code z: f16 per group = m { 16 @ 0 (10:16) }
 *     value = (q - z) * s
 *     # Quantizer.quantize without optimisation, as for other numbers of bits.
 *     encode {
 *         low = min(x)
 *         high = max(x)
 *         room = high - low
 *         r = room <= 1e-4 ? 1.0 : min(7.0 / room, 2e4)
 *         zero_point = -low * r
 *         q = even(x * r + zero_point, 0, 7)
 *         s = 1.0 / r
 *         z = zero_point
 *     }
 *
 * Here group = 64.
 */
#include "hqq_b3_g64.h"

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

/* The bfloat16 in the low 16 bits. */
static inline float qk_bf16_to_f32(uint32_t bits) {
    float value;
    bits <<= 16;
    memcpy(&value, &bits, sizeof value);
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
    const uint8_t *const W_q = from[0];
    const uint8_t *const scale = from[1];
    const uint8_t *const zero = from[2];
    const uint64_t index = row * cols + col;
    rows = rows * cols / 64u;
    cols = 64u;
    row = index / 64u;
    col = index % 64u;
    const uint64_t grid_rows = (rows + 9u) / 10u;
    const uint64_t block_row = row % grid_rows;
    const uint64_t r = row / grid_rows;
    const uint64_t c = col % 64u;
    const uint32_t w = (uint32_t)W_q[block_row * 256u + (c * 32u + (9u - r) * 3u) / 8u]
        | ((uint32_t)W_q[block_row * 256u + qk_min((c * 32u + (9u - r) * 3u) / 8u + 1u, 0xFFu)] << 8u);
    const uint32_t q = (w >> ((c * 32u + (9u - r) * 3u) % 8u)) & 7u;  // w: 3 bits
    const uint32_t m_ = (uint32_t)zero[row * 2u] | ((uint32_t)zero[row * 2u + 1u] << 8u);
    const float z = qk_f16_to_f32(m_);  // m: 16 bits
    const uint32_t d = (uint32_t)scale[row * 2u] | ((uint32_t)scale[row * 2u + 1u] << 8u);
    const float s = qk_f16_to_f32(d);  // d: 16 bits
    return ((float)q - z) * s;
}

static uint16_t f16_at(const void *const *from, uint64_t rows, uint64_t cols, uint64_t row, uint64_t col) {
    return qk_f32_to_f16(value_at(from, rows, cols, row, col));
}

static uint16_t bf16_at(const void *const *from, uint64_t rows, uint64_t cols, uint64_t row, uint64_t col) {
    return qk_f32_to_bf16(value_at(from, rows, cols, row, col));
}

/* Bits that are stored; a NaN is that without a sign, whatever it was. */
static inline uint32_t qk_bits_of_f16(float v) {
    return v != v ? 0x7E00u : qk_f32_to_f16(v);
}

/* An integer within bounds; a NaN counts as 0. */
static inline int32_t qk_clamped(float v, int32_t low, int32_t high) {
    if (v != v) v = 0;
    return v <= (float)low ? low : v >= (float)high ? high : (int32_t)v;
}

static inline float qk_even(float v) {
    if (!(fabsf(v) < 8388608.0f)) return v;
    const float shift = v < 0 ? -8388608.0f : 8388608.0f, moved = v + shift, whole = moved - shift;
    return whole == 0 ? v * 0.0f : whole;
}

/* Makes the groups of a block, which are as far from each other as there are blocks. */
static void qk_encode(uint64_t qk_block, uint64_t qk_blocks, uint64_t qk_groups, const float *qk_all, uint8_t *W_q, uint8_t *scale,
    uint8_t *zero) {
    uint32_t qk_words_W_q[64] = {0};
    for (int32_t qk_plane = 0; qk_plane < 10; ++qk_plane) {
        const uint64_t qk_group = (uint64_t)qk_plane * qk_blocks + qk_block;
        if (qk_group >= qk_groups) break;
        const float *const qk_x = qk_all + qk_plane * 64;
        uint32_t qk_words_scale[1] = {0};
        uint32_t qk_words_zero[1] = {0};
        float low = qk_bits_to_f32(0x7F800000u);
        float high = qk_bits_to_f32(0xFF800000u);
        for (int32_t qk_i = 0; qk_i < 64; ++qk_i) {
            const float qk_0 = qk_x[qk_i];
            if (qk_0 < low) low = qk_0;
            const float qk_1 = qk_x[qk_i];
            if (qk_1 > high) high = qk_1;
        }
        const float room = high - low;
        const float qk_2 = 7.0f / room;
        const float qk_3 = 2e+04f;
        const float r = (room <= 0.0001f) ? 1.0f : (qk_3 < qk_2 ? qk_3 : qk_2);
        const float zero_point = (-low) * r;
        uint32_t qk_bits_s = qk_bits_of_f16(1.0f / r);
        {
            const int32_t qk_at = 0;
            qk_words_scale[qk_at >> 5] |= (qk_bits_s & 0xFFFFu) << (qk_at & 31);
        }
        uint32_t qk_bits_z = qk_bits_of_f16(zero_point);
        {
            const int32_t qk_at = 0;
            qk_words_zero[qk_at >> 5] |= (qk_bits_z & 0xFFFFu) << (qk_at & 31);
        }
        for (int32_t qk_i = 0; qk_i < 64; ++qk_i) {
            const int32_t q = qk_clamped(qk_even((qk_x[qk_i] * r) + zero_point), 0, 7);
            const uint32_t qk_bits_q = (uint32_t)q;
            {
                const int32_t qk_at = 0 + qk_i * 32;
                qk_words_W_q[qk_at >> 5] |= (qk_bits_q & 0x7u) << ((qk_at & 31) + 27 - qk_plane * 3);
            }
        }
        for (int32_t qk_j = 0; qk_j < 2; ++qk_j) {
            scale[qk_group * 2 + qk_j] = (uint8_t)(qk_words_scale[qk_j >> 2] >> (qk_j & 3) * 8);
        }
        for (int32_t qk_j = 0; qk_j < 2; ++qk_j) {
            zero[qk_group * 2 + qk_j] = (uint8_t)(qk_words_zero[qk_j >> 2] >> (qk_j & 3) * 8);
        }
    }
    for (int32_t qk_j = 0; qk_j < 256; ++qk_j) {
        W_q[qk_block * 256 + qk_j] = (uint8_t)(qk_words_W_q[qk_j >> 2] >> (qk_j & 3) * 8);
    }
}

void qk_hqq_b3_g64_dequant_f32_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, float *dst) {
    for (uint64_t r = 0; r < rows; ++r)
        for (uint64_t c = 0; c < cols; ++c) *dst++ = value_at(weights, rows, cols, r, c);
}

void qk_hqq_b3_g64_dequant_f16_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, uint16_t *dst) {
    for (uint64_t r = 0; r < rows; ++r)
        for (uint64_t c = 0; c < cols; ++c) *dst++ = f16_at(weights, rows, cols, r, c);
}

void qk_hqq_b3_g64_dequant_bf16_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, uint16_t *dst) {
    for (uint64_t r = 0; r < rows; ++r)
        for (uint64_t c = 0; c < cols; ++c) *dst++ = bf16_at(weights, rows, cols, r, c);
}

/* Returns how many indices are out of range; their rows are zeros. */
uint64_t qk_hqq_b3_g64_gather_f32_ref(const void *const weights[3],
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
uint64_t qk_hqq_b3_g64_gather_f16_ref(const void *const weights[3],
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
uint64_t qk_hqq_b3_g64_gather_bf16_ref(const void *const weights[3],
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
void qk_hqq_b3_g64_gemv_f32_ref(const void *const weights[3],
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
void qk_hqq_b3_g64_gemv_f16_ref(const void *const weights[3],
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

void qk_hqq_b3_g64_encode_f32_ref(void *const weights[3],
    uint64_t rows, uint64_t cols, const float *src) {
    const uint64_t groups = rows * cols / 64u, blocks = (groups + 10u - 1) / 10u;
    for (uint64_t b = 0; b < blocks; ++b) {
        float x[640u];
        for (uint32_t e = 0; e < 640u; ++e) {
            const uint64_t group = e / 64u * blocks + b, at = group * 64u + e % 64u;
            x[e] = group < groups ? src[at] : 0;
        }
        qk_encode(b, blocks, groups, x, (uint8_t *)weights[0], (uint8_t *)weights[1], (uint8_t *)weights[2]);
    }
}

void qk_hqq_b3_g64_encode_f16_ref(void *const weights[3],
    uint64_t rows, uint64_t cols, const uint16_t *src) {
    const uint64_t groups = rows * cols / 64u, blocks = (groups + 10u - 1) / 10u;
    for (uint64_t b = 0; b < blocks; ++b) {
        float x[640u];
        for (uint32_t e = 0; e < 640u; ++e) {
            const uint64_t group = e / 64u * blocks + b, at = group * 64u + e % 64u;
            x[e] = group < groups ? qk_f16_to_f32(src[at]) : 0;
        }
        qk_encode(b, blocks, groups, x, (uint8_t *)weights[0], (uint8_t *)weights[1], (uint8_t *)weights[2]);
    }
}

void qk_hqq_b3_g64_encode_bf16_ref(void *const weights[3],
    uint64_t rows, uint64_t cols, const uint16_t *src) {
    const uint64_t groups = rows * cols / 64u, blocks = (groups + 10u - 1) / 10u;
    for (uint64_t b = 0; b < blocks; ++b) {
        float x[640u];
        for (uint32_t e = 0; e < 640u; ++e) {
            const uint64_t group = e / 64u * blocks + b, at = group * 64u + e % 64u;
            x[e] = group < groups ? qk_bf16_to_f32(src[at]) : 0;
        }
        qk_encode(b, blocks, groups, x, (uint8_t *)weights[0], (uint8_t *)weights[1], (uint8_t *)weights[2]);
    }
}

/* ---- descriptors ---- */

/* The code itself: hqq_b3_g64_code.c. */
extern const qk_code qk_hqq_b3_g64_dequant_f32_spirv;
extern const qk_code qk_hqq_b3_g64_dequant_halves_spirv;
extern const qk_code qk_hqq_b3_g64_gather_f32_spirv;
extern const qk_code qk_hqq_b3_g64_gather_halves_spirv;
extern const qk_code qk_hqq_b3_g64_gemv_rows_spirv;
extern const qk_code qk_hqq_b3_g64_gemv_wide_spirv;
extern const qk_code qk_hqq_b3_g64_gemv_shared_spirv;
extern const qk_code qk_hqq_b3_g64_gemv_teams_spirv;
extern const qk_code qk_hqq_b3_g64_gemv_int8_rows_spirv;
extern const qk_code qk_hqq_b3_g64_gemv_int8_wide_spirv;
extern const qk_code qk_hqq_b3_g64_gemv_int8_shared_spirv;
extern const qk_code qk_hqq_b3_g64_gemv_int8_teams_spirv;
extern const qk_code qk_hqq_b3_g64_encode_spirv;
extern const qk_code qk_hqq_b3_g64_msl;

static const qk_binding hqq_b3_g64_dequant_f32_bindings[] = {
    {0, "W_q", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 256, 4, 1, 64, 0},
    {1, "scale", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {2, "zero", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {3, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field hqq_b3_g64_dequant_f32_push[] = {
    {"rows", 0, 4},
    {"cols", 4, 4},
    {"grid_rows", 8, 4},
    {"grid_cols", 12, 4},
    {"row_tiles", 16, 4},
};
static const uint32_t hqq_b3_g64_dequant_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant hqq_b3_g64_dequant_f32_vulkan_constants[] = {{0, "local_size_x", 256, 6,
    hqq_b3_g64_dequant_f32_vulkan_local_size_x}};

const qk_kernel qk_hqq_b3_g64_dequant_f32_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_dequant_f32",
    .format = "hqq_b3_g64",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_dequant_f32_spirv,
    .binding_count = 4,
    .bindings = hqq_b3_g64_dequant_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = hqq_b3_g64_dequant_f32_push,
    .spec_constant_count = 1,
    .spec_constants = hqq_b3_g64_dequant_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 640,
    .tile_elements = 4,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
    .tile_rows = 10,
};

const qk_kernel qk_hqq_b3_g64_dequant_f32_metal = {
    .abi = 22,
    .name = "hqq_b3_g64_dequant_f32",
    .format = "hqq_b3_g64",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "hqq_b3_g64_dequant_f32",
    .code = &qk_hqq_b3_g64_msl,
    .binding_count = 4,
    .bindings = hqq_b3_g64_dequant_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = hqq_b3_g64_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 640,
    .tile_elements = 8,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
};

static const qk_binding hqq_b3_g64_dequant_f16_bindings[] = {
    {0, "W_q", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 256, 4, 1, 64, 0},
    {1, "scale", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {2, "zero", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {3, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0, 0},
};
static const uint32_t hqq_b3_g64_dequant_f16_vulkan_rounds_f16[] = {0, 1};
static const uint32_t hqq_b3_g64_dequant_f16_vulkan_y_type[] = {1};
static const qk_spec_constant hqq_b3_g64_dequant_f16_vulkan_constants[] = {{0, "local_size_x", 256, 6,
    hqq_b3_g64_dequant_f32_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, hqq_b3_g64_dequant_f16_vulkan_rounds_f16},
    {31, "y_type", 1, 1, hqq_b3_g64_dequant_f16_vulkan_y_type}};

const qk_kernel qk_hqq_b3_g64_dequant_f16_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_dequant_f16",
    .format = "hqq_b3_g64",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_dequant_halves_spirv,
    .binding_count = 4,
    .bindings = hqq_b3_g64_dequant_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = hqq_b3_g64_dequant_f32_push,
    .spec_constant_count = 3,
    .spec_constants = hqq_b3_g64_dequant_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 640,
    .tile_elements = 8,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
    .tile_rows = 10,
};

const qk_kernel qk_hqq_b3_g64_dequant_f16_metal = {
    .abi = 22,
    .name = "hqq_b3_g64_dequant_f16",
    .format = "hqq_b3_g64",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "hqq_b3_g64_dequant_f16",
    .code = &qk_hqq_b3_g64_msl,
    .binding_count = 4,
    .bindings = hqq_b3_g64_dequant_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = hqq_b3_g64_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 640,
    .tile_elements = 8,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
};

static const qk_binding hqq_b3_g64_dequant_bf16_bindings[] = {
    {0, "W_q", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 256, 4, 1, 64, 0},
    {1, "scale", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {2, "zero", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {3, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0, 0},
};
static const uint32_t hqq_b3_g64_dequant_bf16_vulkan_y_type[] = {2};
static const qk_spec_constant hqq_b3_g64_dequant_bf16_vulkan_constants[] = {{0, "local_size_x", 256, 6,
    hqq_b3_g64_dequant_f32_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, hqq_b3_g64_dequant_f16_vulkan_rounds_f16},
    {31, "y_type", 2, 1, hqq_b3_g64_dequant_bf16_vulkan_y_type}};

const qk_kernel qk_hqq_b3_g64_dequant_bf16_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_dequant_bf16",
    .format = "hqq_b3_g64",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_dequant_halves_spirv,
    .binding_count = 4,
    .bindings = hqq_b3_g64_dequant_bf16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = hqq_b3_g64_dequant_f32_push,
    .spec_constant_count = 3,
    .spec_constants = hqq_b3_g64_dequant_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 640,
    .tile_elements = 8,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
    .tile_rows = 10,
};

const qk_kernel qk_hqq_b3_g64_dequant_bf16_metal = {
    .abi = 22,
    .name = "hqq_b3_g64_dequant_bf16",
    .format = "hqq_b3_g64",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "hqq_b3_g64_dequant_bf16",
    .code = &qk_hqq_b3_g64_msl,
    .binding_count = 4,
    .bindings = hqq_b3_g64_dequant_bf16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = hqq_b3_g64_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 640,
    .tile_elements = 8,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
};

static const qk_binding hqq_b3_g64_gather_f32_bindings[] = {
    {0, "W_q", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 256, 4, 1, 64, 0},
    {1, "scale", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {2, "zero", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {3, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {4, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};
static const qk_field hqq_b3_g64_gather_f32_push[] = {
    {"rows", 0, 4},
    {"cols", 4, 4},
    {"grid_rows", 8, 4},
    {"grid_cols", 12, 4},
    {"row_tiles", 16, 4},
    {"table_rows", 20, 4},
    {"table_cols", 24, 4},
    {"tokens", 28, 4},
};

const qk_kernel qk_hqq_b3_g64_gather_f32_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_gather_f32",
    .format = "hqq_b3_g64",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_gather_f32_spirv,
    .binding_count = 6,
    .bindings = hqq_b3_g64_gather_f32_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = hqq_b3_g64_gather_f32_push,
    .spec_constant_count = 1,
    .spec_constants = hqq_b3_g64_dequant_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 640,
    .tile_elements = 4,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
};

const qk_kernel qk_hqq_b3_g64_gather_f32_metal = {
    .abi = 22,
    .name = "hqq_b3_g64_gather_f32",
    .format = "hqq_b3_g64",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "hqq_b3_g64_gather_f32",
    .code = &qk_hqq_b3_g64_msl,
    .binding_count = 6,
    .bindings = hqq_b3_g64_gather_f32_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = hqq_b3_g64_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 640,
    .tile_elements = 8,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
};

static const qk_binding hqq_b3_g64_gather_f16_bindings[] = {
    {0, "W_q", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 256, 4, 1, 64, 0},
    {1, "scale", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {2, "zero", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {3, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {4, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {5, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_hqq_b3_g64_gather_f16_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_gather_f16",
    .format = "hqq_b3_g64",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_gather_halves_spirv,
    .binding_count = 6,
    .bindings = hqq_b3_g64_gather_f16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = hqq_b3_g64_gather_f32_push,
    .spec_constant_count = 3,
    .spec_constants = hqq_b3_g64_dequant_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 640,
    .tile_elements = 8,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
};

const qk_kernel qk_hqq_b3_g64_gather_f16_metal = {
    .abi = 22,
    .name = "hqq_b3_g64_gather_f16",
    .format = "hqq_b3_g64",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "hqq_b3_g64_gather_f16",
    .code = &qk_hqq_b3_g64_msl,
    .binding_count = 6,
    .bindings = hqq_b3_g64_gather_f16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = hqq_b3_g64_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 640,
    .tile_elements = 8,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
};

static const qk_binding hqq_b3_g64_gather_bf16_bindings[] = {
    {0, "W_q", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 256, 4, 1, 64, 0},
    {1, "scale", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {2, "zero", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {3, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {4, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0, 0},
    {5, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_hqq_b3_g64_gather_bf16_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_gather_bf16",
    .format = "hqq_b3_g64",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_gather_halves_spirv,
    .binding_count = 6,
    .bindings = hqq_b3_g64_gather_bf16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = hqq_b3_g64_gather_f32_push,
    .spec_constant_count = 3,
    .spec_constants = hqq_b3_g64_dequant_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 640,
    .tile_elements = 8,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
};

const qk_kernel qk_hqq_b3_g64_gather_bf16_metal = {
    .abi = 22,
    .name = "hqq_b3_g64_gather_bf16",
    .format = "hqq_b3_g64",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "hqq_b3_g64_gather_bf16",
    .code = &qk_hqq_b3_g64_msl,
    .binding_count = 6,
    .bindings = hqq_b3_g64_gather_bf16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = hqq_b3_g64_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 640,
    .tile_elements = 8,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
};

static const qk_binding hqq_b3_g64_gemv_f32_bindings[] = {
    {0, "W_q", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 256, 4, 1, 64, 0},
    {1, "scale", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {2, "zero", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {3, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {4, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {7, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {8, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field hqq_b3_g64_gemv_f32_push[] = {
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
static const uint32_t hqq_b3_g64_gemv_f32_vulkan_batch[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const uint32_t hqq_b3_g64_gemv_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t hqq_b3_g64_gemv_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t hqq_b3_g64_gemv_f32_vulkan_shared_fours[] = {512, 1024, 1280, 2048, 2560};
static const uint32_t hqq_b3_g64_gemv_f32_vulkan_checked[] = {0, 1};
static const uint32_t hqq_b3_g64_gemv_f32_vulkan_turns[] = {1, 4};
static const uint32_t hqq_b3_g64_gemv_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t hqq_b3_g64_gemv_f32_vulkan_schedule[] = {0, 1, 2, 4, 5};
static const uint32_t hqq_b3_g64_gemv_f32_vulkan_x_type[] = {0};
static const uint32_t hqq_b3_g64_gemv_f32_vulkan_views[] = {0, 1};
static const uint32_t hqq_b3_g64_gemv_f32_vulkan_y_type[] = {0, 1, 2};
static const qk_spec_constant hqq_b3_g64_gemv_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    hqq_b3_g64_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, hqq_b3_g64_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, hqq_b3_g64_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, hqq_b3_g64_gemv_f32_vulkan_split},
    {6, "shared_fours", 512, 5, hqq_b3_g64_gemv_f32_vulkan_shared_fours},
    {12, "checked", 0, 2, hqq_b3_g64_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, hqq_b3_g64_gemv_f32_vulkan_turns},
    {7, "staged", 1, 4, hqq_b3_g64_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 5, hqq_b3_g64_gemv_f32_vulkan_schedule},
    {21, "x_type", 0, 1, hqq_b3_g64_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, hqq_b3_g64_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, hqq_b3_g64_gemv_f32_vulkan_y_type}};
static const qk_code *const hqq_b3_g64_gemv_f32_schedules[] = {0, &qk_hqq_b3_g64_gemv_rows_spirv, &qk_hqq_b3_g64_gemv_wide_spirv, 0,
    &qk_hqq_b3_g64_gemv_shared_spirv, &qk_hqq_b3_g64_gemv_teams_spirv};

const qk_kernel qk_hqq_b3_g64_gemv_f32_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_gemv_f32",
    .format = "hqq_b3_g64",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_gemv_rows_spirv,
    .schedules = hqq_b3_g64_gemv_f32_schedules,
    .binding_count = 9,
    .bindings = hqq_b3_g64_gemv_f32_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = hqq_b3_g64_gemv_f32_push,
    .spec_constant_count = 13,
    .spec_constants = hqq_b3_g64_gemv_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 640,
    .tile_elements = 16,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
    .kept_elements = 64,
    .shared_tile = 5,
    .shares_wide = 0,
    .teams_tile = 9,
    .teams_kept = 32,
    .teams_block = 0,
    .sum_roundings = 124,
};

static const uint32_t hqq_b3_g64_gemv_f32_metal_batch[] = {1, 2, 4, 8};
static const qk_spec_constant hqq_b3_g64_gemv_f32_metal_constants[] = {{1, "batch", 1, 4, hqq_b3_g64_gemv_f32_metal_batch},
    {30, "views", 0, 2, hqq_b3_g64_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, hqq_b3_g64_gemv_f32_vulkan_y_type}};

const qk_kernel qk_hqq_b3_g64_gemv_f32_metal = {
    .abi = 22,
    .name = "hqq_b3_g64_gemv_f32",
    .format = "hqq_b3_g64",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "hqq_b3_g64_gemv_f32",
    .code = &qk_hqq_b3_g64_msl,
    .binding_count = 9,
    .bindings = hqq_b3_g64_gemv_f32_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = hqq_b3_g64_gemv_f32_push,
    .spec_constant_count = 3,
    .spec_constants = hqq_b3_g64_gemv_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 640,
    .tile_elements = 16,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
    .sum_roundings = 76,
};

static const uint32_t hqq_b3_g64_gemv_int8_f32_vulkan_digits[] = {1};
static const uint32_t hqq_b3_g64_gemv_int8_f32_vulkan_x_packed[] = {0, 1, 2};
static const qk_spec_constant hqq_b3_g64_gemv_int8_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    hqq_b3_g64_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, hqq_b3_g64_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, hqq_b3_g64_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, hqq_b3_g64_gemv_f32_vulkan_split},
    {4, "digits", 1, 1, hqq_b3_g64_gemv_int8_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, hqq_b3_g64_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, hqq_b3_g64_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 1, 2, hqq_b3_g64_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, hqq_b3_g64_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 5, hqq_b3_g64_gemv_f32_vulkan_schedule},
    {21, "x_type", 0, 1, hqq_b3_g64_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, hqq_b3_g64_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, hqq_b3_g64_gemv_f32_vulkan_y_type}};
static const qk_code *const hqq_b3_g64_gemv_int8_f32_schedules[] = {0, &qk_hqq_b3_g64_gemv_int8_rows_spirv,
    &qk_hqq_b3_g64_gemv_int8_wide_spirv, 0, &qk_hqq_b3_g64_gemv_int8_shared_spirv, &qk_hqq_b3_g64_gemv_int8_teams_spirv};

const qk_kernel qk_hqq_b3_g64_gemv_int8_f32_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_gemv_int8_f32",
    .format = "hqq_b3_g64",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_gemv_int8_rows_spirv,
    .schedules = hqq_b3_g64_gemv_int8_f32_schedules,
    .binding_count = 9,
    .bindings = hqq_b3_g64_gemv_f32_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = hqq_b3_g64_gemv_f32_push,
    .spec_constant_count = 14,
    .spec_constants = hqq_b3_g64_gemv_int8_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 640,
    .tile_elements = 16,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
    .kept_elements = 64,
    .shared_tile = 5,
    .shares_wide = 1,
    .teams_tile = 5,
    .teams_kept = 64,
    .teams_block = 0,
    .sum_roundings = 124,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 32,
};

static const uint32_t hqq_b3_g64_gemv_split_f32_vulkan_digits[] = {2};
static const qk_spec_constant hqq_b3_g64_gemv_split_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    hqq_b3_g64_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, hqq_b3_g64_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, hqq_b3_g64_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, hqq_b3_g64_gemv_f32_vulkan_split},
    {4, "digits", 2, 1, hqq_b3_g64_gemv_split_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, hqq_b3_g64_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, hqq_b3_g64_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 0, 2, hqq_b3_g64_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, hqq_b3_g64_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 5, hqq_b3_g64_gemv_f32_vulkan_schedule},
    {21, "x_type", 0, 1, hqq_b3_g64_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, hqq_b3_g64_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, hqq_b3_g64_gemv_f32_vulkan_y_type}};

const qk_kernel qk_hqq_b3_g64_gemv_split_f32_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_gemv_split_f32",
    .format = "hqq_b3_g64",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_gemv_int8_rows_spirv,
    .schedules = hqq_b3_g64_gemv_int8_f32_schedules,
    .binding_count = 9,
    .bindings = hqq_b3_g64_gemv_f32_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = hqq_b3_g64_gemv_f32_push,
    .spec_constant_count = 14,
    .spec_constants = hqq_b3_g64_gemv_split_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 640,
    .tile_elements = 16,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
    .kept_elements = 64,
    .shared_tile = 9,
    .shares_wide = 1,
    .teams_tile = 9,
    .teams_kept = 64,
    .teams_block = 0,
    .sum_roundings = 124,
    .x_levels = 32639,
    .x_group = 64,
    .x_reach = 64,
};

static const uint32_t hqq_b3_g64_gemv_int24_f32_vulkan_digits[] = {3};
static const qk_spec_constant hqq_b3_g64_gemv_int24_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    hqq_b3_g64_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, hqq_b3_g64_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, hqq_b3_g64_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, hqq_b3_g64_gemv_f32_vulkan_split},
    {4, "digits", 3, 1, hqq_b3_g64_gemv_int24_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, hqq_b3_g64_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, hqq_b3_g64_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 0, 2, hqq_b3_g64_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, hqq_b3_g64_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 5, hqq_b3_g64_gemv_f32_vulkan_schedule},
    {21, "x_type", 0, 1, hqq_b3_g64_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, hqq_b3_g64_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, hqq_b3_g64_gemv_f32_vulkan_y_type}};

const qk_kernel qk_hqq_b3_g64_gemv_int24_f32_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_gemv_int24_f32",
    .format = "hqq_b3_g64",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_gemv_int8_rows_spirv,
    .schedules = hqq_b3_g64_gemv_int8_f32_schedules,
    .binding_count = 9,
    .bindings = hqq_b3_g64_gemv_f32_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = hqq_b3_g64_gemv_f32_push,
    .spec_constant_count = 14,
    .spec_constants = hqq_b3_g64_gemv_int24_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 640,
    .tile_elements = 16,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
    .kept_elements = 64,
    .shared_tile = 13,
    .shares_wide = 1,
    .teams_tile = 13,
    .teams_kept = 64,
    .teams_block = 0,
    .sum_roundings = 124,
    .x_levels = 8355708,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_binding hqq_b3_g64_gemv_f16_bindings[] = {
    {0, "W_q", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 256, 4, 1, 64, 0},
    {1, "scale", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {2, "zero", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {3, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {4, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {7, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {8, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const uint32_t hqq_b3_g64_gemv_f16_vulkan_x_type[] = {1};
static const qk_spec_constant hqq_b3_g64_gemv_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    hqq_b3_g64_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, hqq_b3_g64_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, hqq_b3_g64_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, hqq_b3_g64_gemv_f32_vulkan_split},
    {6, "shared_fours", 512, 5, hqq_b3_g64_gemv_f32_vulkan_shared_fours},
    {12, "checked", 0, 2, hqq_b3_g64_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, hqq_b3_g64_gemv_f32_vulkan_turns},
    {7, "staged", 1, 4, hqq_b3_g64_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 5, hqq_b3_g64_gemv_f32_vulkan_schedule},
    {21, "x_type", 1, 1, hqq_b3_g64_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, hqq_b3_g64_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, hqq_b3_g64_gemv_f32_vulkan_y_type}};

const qk_kernel qk_hqq_b3_g64_gemv_f16_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_gemv_f16",
    .format = "hqq_b3_g64",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_gemv_rows_spirv,
    .schedules = hqq_b3_g64_gemv_f32_schedules,
    .binding_count = 9,
    .bindings = hqq_b3_g64_gemv_f16_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = hqq_b3_g64_gemv_f32_push,
    .spec_constant_count = 13,
    .spec_constants = hqq_b3_g64_gemv_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 640,
    .tile_elements = 16,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
    .kept_elements = 64,
    .shared_tile = 5,
    .shares_wide = 0,
    .teams_tile = 9,
    .teams_kept = 32,
    .teams_block = 0,
    .sum_roundings = 124,
};

const qk_kernel qk_hqq_b3_g64_gemv_f16_metal = {
    .abi = 22,
    .name = "hqq_b3_g64_gemv_f16",
    .format = "hqq_b3_g64",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "hqq_b3_g64_gemv_f16",
    .code = &qk_hqq_b3_g64_msl,
    .binding_count = 9,
    .bindings = hqq_b3_g64_gemv_f16_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = hqq_b3_g64_gemv_f32_push,
    .spec_constant_count = 3,
    .spec_constants = hqq_b3_g64_gemv_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 640,
    .tile_elements = 16,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
    .sum_roundings = 76,
};

static const qk_spec_constant hqq_b3_g64_gemv_int8_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    hqq_b3_g64_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, hqq_b3_g64_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, hqq_b3_g64_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, hqq_b3_g64_gemv_f32_vulkan_split},
    {4, "digits", 1, 1, hqq_b3_g64_gemv_int8_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, hqq_b3_g64_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, hqq_b3_g64_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 1, 2, hqq_b3_g64_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, hqq_b3_g64_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 5, hqq_b3_g64_gemv_f32_vulkan_schedule},
    {21, "x_type", 1, 1, hqq_b3_g64_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, hqq_b3_g64_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, hqq_b3_g64_gemv_f32_vulkan_y_type}};

const qk_kernel qk_hqq_b3_g64_gemv_int8_f16_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_gemv_int8_f16",
    .format = "hqq_b3_g64",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_gemv_int8_rows_spirv,
    .schedules = hqq_b3_g64_gemv_int8_f32_schedules,
    .binding_count = 9,
    .bindings = hqq_b3_g64_gemv_f16_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = hqq_b3_g64_gemv_f32_push,
    .spec_constant_count = 14,
    .spec_constants = hqq_b3_g64_gemv_int8_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 640,
    .tile_elements = 16,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
    .kept_elements = 64,
    .shared_tile = 5,
    .shares_wide = 1,
    .teams_tile = 5,
    .teams_kept = 64,
    .teams_block = 0,
    .sum_roundings = 124,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 32,
};

static const qk_spec_constant hqq_b3_g64_gemv_split_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    hqq_b3_g64_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, hqq_b3_g64_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, hqq_b3_g64_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, hqq_b3_g64_gemv_f32_vulkan_split},
    {4, "digits", 2, 1, hqq_b3_g64_gemv_split_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, hqq_b3_g64_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, hqq_b3_g64_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 0, 2, hqq_b3_g64_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, hqq_b3_g64_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 5, hqq_b3_g64_gemv_f32_vulkan_schedule},
    {21, "x_type", 1, 1, hqq_b3_g64_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, hqq_b3_g64_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, hqq_b3_g64_gemv_f32_vulkan_y_type}};

const qk_kernel qk_hqq_b3_g64_gemv_split_f16_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_gemv_split_f16",
    .format = "hqq_b3_g64",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_gemv_int8_rows_spirv,
    .schedules = hqq_b3_g64_gemv_int8_f32_schedules,
    .binding_count = 9,
    .bindings = hqq_b3_g64_gemv_f16_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = hqq_b3_g64_gemv_f32_push,
    .spec_constant_count = 14,
    .spec_constants = hqq_b3_g64_gemv_split_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 640,
    .tile_elements = 16,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
    .kept_elements = 64,
    .shared_tile = 9,
    .shares_wide = 1,
    .teams_tile = 9,
    .teams_kept = 64,
    .teams_block = 0,
    .sum_roundings = 124,
    .x_levels = 32639,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_spec_constant hqq_b3_g64_gemv_int24_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    hqq_b3_g64_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, hqq_b3_g64_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, hqq_b3_g64_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, hqq_b3_g64_gemv_f32_vulkan_split},
    {4, "digits", 3, 1, hqq_b3_g64_gemv_int24_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, hqq_b3_g64_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, hqq_b3_g64_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 0, 2, hqq_b3_g64_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, hqq_b3_g64_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 5, hqq_b3_g64_gemv_f32_vulkan_schedule},
    {21, "x_type", 1, 1, hqq_b3_g64_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, hqq_b3_g64_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, hqq_b3_g64_gemv_f32_vulkan_y_type}};

const qk_kernel qk_hqq_b3_g64_gemv_int24_f16_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_gemv_int24_f16",
    .format = "hqq_b3_g64",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_gemv_int8_rows_spirv,
    .schedules = hqq_b3_g64_gemv_int8_f32_schedules,
    .binding_count = 9,
    .bindings = hqq_b3_g64_gemv_f16_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = hqq_b3_g64_gemv_f32_push,
    .spec_constant_count = 14,
    .spec_constants = hqq_b3_g64_gemv_int24_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 640,
    .tile_elements = 16,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
    .kept_elements = 64,
    .shared_tile = 13,
    .shares_wide = 1,
    .teams_tile = 13,
    .teams_kept = 64,
    .teams_block = 0,
    .sum_roundings = 124,
    .x_levels = 8355708,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_binding hqq_b3_g64_encode_f32_bindings[] = {
    {0, "W_q", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 256, 4, 1, 64, 0},
    {1, "scale", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {2, "zero", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {3, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field hqq_b3_g64_encode_f32_push[] = {
    {"groups", 0, 4},
    {"blocks", 4, 4},
};
static const uint32_t hqq_b3_g64_encode_f32_vulkan_local_size_x[] = {32, 64, 128};
static const qk_spec_constant hqq_b3_g64_encode_f32_vulkan_constants[] = {{0, "local_size_x", 128, 3,
    hqq_b3_g64_encode_f32_vulkan_local_size_x},
    {21, "x_type", 0, 1, hqq_b3_g64_gemv_f32_vulkan_x_type}};

const qk_kernel qk_hqq_b3_g64_encode_f32_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_encode_f32",
    .format = "hqq_b3_g64",
    .family = "encode",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_encode_spirv,
    .binding_count = 4,
    .bindings = hqq_b3_g64_encode_f32_bindings,
    .push_bytes = 8,
    .push_count = 2,
    .push = hqq_b3_g64_encode_f32_push,
    .spec_constant_count = 2,
    .spec_constants = hqq_b3_g64_encode_f32_vulkan_constants,
    .workgroup_size = 128,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 640,
    .tile_elements = 16,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
};

const qk_kernel qk_hqq_b3_g64_encode_f32_metal = {
    .abi = 22,
    .name = "hqq_b3_g64_encode_f32",
    .format = "hqq_b3_g64",
    .family = "encode",
    .api = QK_API_METAL,
    .entry = "hqq_b3_g64_encode_f32",
    .code = &qk_hqq_b3_g64_msl,
    .binding_count = 4,
    .bindings = hqq_b3_g64_encode_f32_bindings,
    .push_bytes = 8,
    .push_count = 2,
    .push = hqq_b3_g64_encode_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 640,
    .tile_elements = 64,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
};

static const qk_binding hqq_b3_g64_encode_f16_bindings[] = {
    {0, "W_q", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 256, 4, 1, 64, 0},
    {1, "scale", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {2, "zero", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {3, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
};
static const qk_spec_constant hqq_b3_g64_encode_f16_vulkan_constants[] = {{0, "local_size_x", 128, 3,
    hqq_b3_g64_encode_f32_vulkan_local_size_x},
    {21, "x_type", 1, 1, hqq_b3_g64_gemv_f16_vulkan_x_type}};

const qk_kernel qk_hqq_b3_g64_encode_f16_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_encode_f16",
    .format = "hqq_b3_g64",
    .family = "encode",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_encode_spirv,
    .binding_count = 4,
    .bindings = hqq_b3_g64_encode_f16_bindings,
    .push_bytes = 8,
    .push_count = 2,
    .push = hqq_b3_g64_encode_f32_push,
    .spec_constant_count = 2,
    .spec_constants = hqq_b3_g64_encode_f16_vulkan_constants,
    .workgroup_size = 128,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 640,
    .tile_elements = 16,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
};

const qk_kernel qk_hqq_b3_g64_encode_f16_metal = {
    .abi = 22,
    .name = "hqq_b3_g64_encode_f16",
    .format = "hqq_b3_g64",
    .family = "encode",
    .api = QK_API_METAL,
    .entry = "hqq_b3_g64_encode_f16",
    .code = &qk_hqq_b3_g64_msl,
    .binding_count = 4,
    .bindings = hqq_b3_g64_encode_f16_bindings,
    .push_bytes = 8,
    .push_count = 2,
    .push = hqq_b3_g64_encode_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 640,
    .tile_elements = 64,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
};

static const qk_binding hqq_b3_g64_encode_bf16_bindings[] = {
    {0, "W_q", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 256, 4, 1, 64, 0},
    {1, "scale", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {2, "zero", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U16, 20, 2, 10, 1, 0},
    {3, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_BF16, 0, 0, 0, 0, 0},
};
static const uint32_t hqq_b3_g64_encode_bf16_vulkan_x_type[] = {2};
static const qk_spec_constant hqq_b3_g64_encode_bf16_vulkan_constants[] = {{0, "local_size_x", 128, 3,
    hqq_b3_g64_encode_f32_vulkan_local_size_x},
    {21, "x_type", 2, 1, hqq_b3_g64_encode_bf16_vulkan_x_type}};

const qk_kernel qk_hqq_b3_g64_encode_bf16_vulkan = {
    .abi = 22,
    .name = "hqq_b3_g64_encode_bf16",
    .format = "hqq_b3_g64",
    .family = "encode",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_hqq_b3_g64_encode_spirv,
    .binding_count = 4,
    .bindings = hqq_b3_g64_encode_bf16_bindings,
    .push_bytes = 8,
    .push_count = 2,
    .push = hqq_b3_g64_encode_f32_push,
    .spec_constant_count = 2,
    .spec_constants = hqq_b3_g64_encode_bf16_vulkan_constants,
    .workgroup_size = 128,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 640,
    .tile_elements = 16,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
};

const qk_kernel qk_hqq_b3_g64_encode_bf16_metal = {
    .abi = 22,
    .name = "hqq_b3_g64_encode_bf16",
    .format = "hqq_b3_g64",
    .family = "encode",
    .api = QK_API_METAL,
    .entry = "hqq_b3_g64_encode_bf16",
    .code = &qk_hqq_b3_g64_msl,
    .binding_count = 4,
    .bindings = hqq_b3_g64_encode_bf16_bindings,
    .push_bytes = 8,
    .push_count = 2,
    .push = hqq_b3_g64_encode_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 640,
    .tile_elements = 64,
    .view = QK_VIEW_GROUPS,
    .ragged = 0,
    .block_rows = 10,
    .block_cols = 64,
};

static const qk_kernel *const hqq_b3_g64_all[] = {
    &qk_hqq_b3_g64_dequant_f32_vulkan,
    &qk_hqq_b3_g64_dequant_f32_metal,
    &qk_hqq_b3_g64_dequant_f16_vulkan,
    &qk_hqq_b3_g64_dequant_f16_metal,
    &qk_hqq_b3_g64_dequant_bf16_vulkan,
    &qk_hqq_b3_g64_dequant_bf16_metal,
    &qk_hqq_b3_g64_gather_f32_vulkan,
    &qk_hqq_b3_g64_gather_f32_metal,
    &qk_hqq_b3_g64_gather_f16_vulkan,
    &qk_hqq_b3_g64_gather_f16_metal,
    &qk_hqq_b3_g64_gather_bf16_vulkan,
    &qk_hqq_b3_g64_gather_bf16_metal,
    &qk_hqq_b3_g64_gemv_f32_vulkan,
    &qk_hqq_b3_g64_gemv_f32_metal,
    &qk_hqq_b3_g64_gemv_int8_f32_vulkan,
    &qk_hqq_b3_g64_gemv_split_f32_vulkan,
    &qk_hqq_b3_g64_gemv_int24_f32_vulkan,
    &qk_hqq_b3_g64_gemv_f16_vulkan,
    &qk_hqq_b3_g64_gemv_f16_metal,
    &qk_hqq_b3_g64_gemv_int8_f16_vulkan,
    &qk_hqq_b3_g64_gemv_split_f16_vulkan,
    &qk_hqq_b3_g64_gemv_int24_f16_vulkan,
    &qk_hqq_b3_g64_encode_f32_vulkan,
    &qk_hqq_b3_g64_encode_f32_metal,
    &qk_hqq_b3_g64_encode_f16_vulkan,
    &qk_hqq_b3_g64_encode_f16_metal,
    &qk_hqq_b3_g64_encode_bf16_vulkan,
    &qk_hqq_b3_g64_encode_bf16_metal,
};

const qk_kernel_set qk_hqq_b3_g64_kernels = {"hqq_b3_g64", 28, hqq_b3_g64_all, 0};

/* ---- dispatch ---- */

qk_status qk_hqq_b3_g64_dequant_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_hqq_b3_g64_dequant_f32_metal
        : &qk_hqq_b3_g64_dequant_f32_vulkan;
    return qk_dispatch_dequant_matrix(backend, kernel, weights, dst, rows, cols, error);
}

qk_status qk_hqq_b3_g64_dequant_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_hqq_b3_g64_dequant_f16_metal
        : &qk_hqq_b3_g64_dequant_f16_vulkan;
    return qk_dispatch_dequant_matrix(backend, kernel, weights, dst, rows, cols, error);
}

qk_status qk_hqq_b3_g64_dequant_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_hqq_b3_g64_dequant_bf16_metal
        : &qk_hqq_b3_g64_dequant_bf16_vulkan;
    return qk_dispatch_dequant_matrix(backend, kernel, weights, dst, rows, cols, error);
}

qk_status qk_hqq_b3_g64_gather_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_hqq_b3_g64_gather_f32_metal
        : &qk_hqq_b3_g64_gather_f32_vulkan;
    return qk_dispatch_gather_matrix(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_hqq_b3_g64_gather_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_hqq_b3_g64_gather_f16_metal
        : &qk_hqq_b3_g64_gather_f16_vulkan;
    return qk_dispatch_gather_matrix(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_hqq_b3_g64_gather_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_hqq_b3_g64_gather_bf16_metal
        : &qk_hqq_b3_g64_gather_bf16_vulkan;
    return qk_dispatch_gather_matrix(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_hqq_b3_g64_gemv_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_hqq_b3_g64_gemv_f32_metal
        : &qk_hqq_b3_g64_gemv_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_hqq_b3_g64_gemv_int8_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_hqq_b3_g64_gemv_int8_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_hqq_b3_g64_gemv_split_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_hqq_b3_g64_gemv_split_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_hqq_b3_g64_gemv_int24_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_hqq_b3_g64_gemv_int24_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_hqq_b3_g64_gemv_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_hqq_b3_g64_gemv_f16_metal
        : &qk_hqq_b3_g64_gemv_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_hqq_b3_g64_gemv_int8_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_hqq_b3_g64_gemv_int8_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_hqq_b3_g64_gemv_split_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_hqq_b3_g64_gemv_split_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_hqq_b3_g64_gemv_int24_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_hqq_b3_g64_gemv_int24_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_hqq_b3_g64_encode_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range src, uint64_t rows, uint64_t cols, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_hqq_b3_g64_encode_f32_metal
        : &qk_hqq_b3_g64_encode_f32_vulkan;
    return qk_dispatch_encode_matrix(backend, kernel, weights, src, rows, cols, error);
}

qk_status qk_hqq_b3_g64_encode_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range src, uint64_t rows, uint64_t cols, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_hqq_b3_g64_encode_f16_metal
        : &qk_hqq_b3_g64_encode_f16_vulkan;
    return qk_dispatch_encode_matrix(backend, kernel, weights, src, rows, cols, error);
}

qk_status qk_hqq_b3_g64_encode_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range src, uint64_t rows, uint64_t cols, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_hqq_b3_g64_encode_bf16_metal
        : &qk_hqq_b3_g64_encode_bf16_vulkan;
    return qk_dispatch_encode_matrix(backend, kernel, weights, src, rows, cols, error);
}
