/* nf4_b64: reference decoder, descriptors and dispatch stubs.
 * Generated from the specification below by `qkgen emit --format nf4_b64`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 36 bytes for 64 elements, 4.5 bits each.
 * dequant, gather in f32: for each weight 0.562 bytes read and 4 written, 7.25 operations: 0.75 loads, 2.5 bits, 2 integer, 1 float, 1
 * lookups.
 * gemv in f32: for each weight 0.562 bytes read, 5.09 operations: 0.0469 loads, 2 bits, 0.0312 integer, 2.02 float, 1 lookups.
 *     format nf4_b{group} "bitsandbytes NF4: the even element in the high nibble, a scale for each block of the flat tensor"
 *     from "bitsandbytes: Linear4bit with quant_type nf4"
 *     for group in 64 128
 *     block group ragged {
 *         buffer weight { w: u8[group / 2] }
 *         buffer absmax { s: f32 }
 *     }
 *     table N: f32[16] = {
 *         -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
 *         -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
 *         0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
 *         0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
 *     }
 *     code q = w { 4 @ 4 (2:-4, group / 2:8) }
 *     value = N[q] * s
 *     # bitsandbytes' blockwise quantisation, whose comparisons are with what it has as the middles of neighbours. What is no number gets
 *     # code 0, and so does all of a block of zeros, whose scale has no inverse.
 *     encode {
 *         m = max(abs(x))
 *         s = max(m, 0.0)
 *         r = m > 0.0 ? 1.0 / m : 0.0
 *         v per 1 = m > 0.0 ? abs(x) <= 3.4028234663852886e38 ? x * r : -2.0 : -2.0
 *         n8 per 1 = v > 0.03979014977812767 ? 8 : 0
 *         n4 per 1 = v > (n8 ? 0.3893125355243683 : -0.33967943489551544) ? 4 : 0
 *         n2 per 1 = v > (n8 ? n4 ? 0.6427869200706482 : 0.2035212516784668 : n4 ? -0.13791173323988914 : -0.6106329262256622) ? 2 : 0
 *         high per 1 = n4 ? n2 ? 0.8614784181118011 : 0.5016634166240692 : n2 ? 0.2920137718319893 : 0.1202552504837513
 *         low per 1 = n4 ? n2 ? -0.045525018125772476 : -0.23460740596055984 : n2 ? -0.4599952697753906 : -0.8480964004993439
 *         q = n8 + n4 + n2 + (v > (n8 ? high : low) ? 1 : 0)
 *     }
 *
 * Here group = 64.
 */
#include "nf4_b64.h"

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

static inline uint32_t qk_load_u32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | ((uint32_t)bytes[1] << 8) | ((uint32_t)bytes[2] << 16) | ((uint32_t)bytes[3] << 24);
}

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

static const float N[16] = {
    -1.0f, -0.6961928f, -0.52507305f, -0.3949175f, -0.28444138f, -0.18477343f, -0.091050036f, 0.0f, 0.0795803f, 0.1609302f, 0.2461123f,
        0.33791524f, 0.44070983f, 0.562617f, 0.72295684f, 1.0f
};

/* The value of an element of a tensor of rows x cols. */
static float value_at(const void *const *from, uint64_t rows, uint64_t cols, uint64_t row, uint64_t col) {
    const uint8_t *const weight = from[0];
    const uint8_t *const absmax = from[1];
    col += row * cols;
    cols *= rows;
    rows = 1;
    row = 0;
    const uint64_t grid_cols = (cols + 63u) / 64u;
    const uint64_t block_col = col / 64u;
    const uint64_t c = col % 64u;
    const uint32_t w = (uint32_t)weight[qk_min(block_col * 32u + c / 2u, (cols - 1u) / 2u)];
    const uint32_t q = (w >> ((1u - c % 2u) * 4u)) & 15u;  // w: 4 bits
    const float s = qk_bits_to_f32(qk_load_u32(absmax + qk_min(block_col * 4u, grid_cols * 4u - 1u)));
    return N[q] * s;
}

static uint16_t f16_at(const void *const *from, uint64_t rows, uint64_t cols, uint64_t row, uint64_t col) {
    return qk_f32_to_f16(value_at(from, rows, cols, row, col));
}

static uint16_t bf16_at(const void *const *from, uint64_t rows, uint64_t cols, uint64_t row, uint64_t col) {
    return qk_f32_to_bf16(value_at(from, rows, cols, row, col));
}

static inline uint32_t qk_bits_of_f32(float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return v != v ? 0x7FC00000u : bits;
}

/* Makes a block of floats. */
static void qk_encode(const float *qk_x, uint8_t *weight, uint8_t *absmax) {
    uint32_t qk_words_weight[8] = {0};
    uint32_t qk_words_absmax[1] = {0};
    float m = qk_bits_to_f32(0xFF800000u);
    for (int32_t qk_i = 0; qk_i < 64; ++qk_i) {
        const float qk_0 = fabsf(qk_x[qk_i]);
        if (qk_0 > m) m = qk_0;
    }
    const float qk_1 = m;
    const float qk_2 = 0.0f;
    uint32_t qk_bits_s = qk_bits_of_f32((qk_1 < qk_2 ? qk_2 : qk_1));
    {
        const int32_t qk_at = 0;
        qk_words_absmax[qk_at >> 5] |= qk_bits_s << (qk_at & 31);
    }
    const float r = (m > 0.0f) ? (1.0f / m) : 0.0f;
    for (int32_t qk_i = 0; qk_i < 64; ++qk_i) {
        const float v = (m > 0.0f) ? ((fabsf(qk_x[qk_i]) <= 3.4028235e+38f) ? (qk_x[qk_i] * r) : (-2.0f)) : (-2.0f);
        const int32_t n8 = (v > 0.03979015f) ? 8 : 0;
        const int32_t n4 = (v > ((n8 != 0) ? 0.38931254f : (-0.33967942f))) ? 4 : 0;
        const int32_t n2 = (v > ((n8 != 0) ? ((n4 != 0) ? 0.6427869f : 0.20352125f) : ((n4 != 0) ? (-0.13791174f) : (-0.6106329f)))) ? 2
            : 0;
        const float high = (n4 != 0) ? ((n2 != 0) ? 0.8614784f : 0.5016634f) : ((n2 != 0) ? 0.29201376f : 0.120255254f);
        const float low = (n4 != 0) ? ((n2 != 0) ? (-0.045525018f) : (-0.2346074f)) : ((n2 != 0) ? (-0.45999527f) : (-0.84809643f));
        const int32_t q = ((n8 + n4) + n2) + ((v > ((n8 != 0) ? high : low)) ? 1 : 0);
        const uint32_t qk_bits_q = (uint32_t)q;
        {
            const int32_t qk_at = 4 - (qk_i) % 2 * 4 + qk_i / 2 * 8;
            qk_words_weight[qk_at >> 5] |= (qk_bits_q & 0xFu) << (qk_at & 31);
        }
    }
    for (int32_t qk_j = 0; qk_j < 32; ++qk_j) {
        weight[qk_j] = (uint8_t)(qk_words_weight[qk_j >> 2] >> (qk_j & 3) * 8);
    }
    for (int32_t qk_j = 0; qk_j < 4; ++qk_j) {
        absmax[qk_j] = (uint8_t)(qk_words_absmax[qk_j >> 2] >> (qk_j & 3) * 8);
    }
}

void qk_nf4_b64_dequant_f32_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, float *dst) {
    for (uint64_t r = 0; r < rows; ++r)
        for (uint64_t c = 0; c < cols; ++c) *dst++ = value_at(weights, rows, cols, r, c);
}

void qk_nf4_b64_dequant_f16_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, uint16_t *dst) {
    for (uint64_t r = 0; r < rows; ++r)
        for (uint64_t c = 0; c < cols; ++c) *dst++ = f16_at(weights, rows, cols, r, c);
}

void qk_nf4_b64_dequant_bf16_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, uint16_t *dst) {
    for (uint64_t r = 0; r < rows; ++r)
        for (uint64_t c = 0; c < cols; ++c) *dst++ = bf16_at(weights, rows, cols, r, c);
}

/* Returns how many indices are out of range; their rows are zeros. */
uint64_t qk_nf4_b64_gather_f32_ref(const void *const weights[2],
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
uint64_t qk_nf4_b64_gather_f16_ref(const void *const weights[2],
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
uint64_t qk_nf4_b64_gather_bf16_ref(const void *const weights[2],
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
void qk_nf4_b64_gemv_f32_ref(const void *const weights[2],
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
void qk_nf4_b64_gemv_f16_ref(const void *const weights[2],
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

void qk_nf4_b64_encode_f32_ref(void *const weights[2],
    uint64_t elements, const float *src) {
    for (uint64_t i = 0; i < elements / 64u; ++i) {
        qk_encode(src + i * 64u, (uint8_t *)weights[0] + i * 32u, (uint8_t *)weights[1] + i * 4u);
    }
}

void qk_nf4_b64_encode_f16_ref(void *const weights[2],
    uint64_t elements, const uint16_t *src) {
    for (uint64_t i = 0; i < elements / 64u; ++i) {
        float x[64u];
        for (uint32_t e = 0; e < 64u; ++e) x[e] = qk_f16_to_f32(src[i * 64u + e]);
        qk_encode(x, (uint8_t *)weights[0] + i * 32u, (uint8_t *)weights[1] + i * 4u);
    }
}

void qk_nf4_b64_encode_bf16_ref(void *const weights[2],
    uint64_t elements, const uint16_t *src) {
    for (uint64_t i = 0; i < elements / 64u; ++i) {
        float x[64u];
        for (uint32_t e = 0; e < 64u; ++e) x[e] = qk_bf16_to_f32(src[i * 64u + e]);
        qk_encode(x, (uint8_t *)weights[0] + i * 32u, (uint8_t *)weights[1] + i * 4u);
    }
}

/* Returns how many indices are out of range; nothing is written for them. Of two that are the same, the last is what stays. */
uint64_t qk_nf4_b64_set_rows_f32_ref(void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const float *src) {
    uint64_t out_of_range = 0;
    const uint64_t row_blocks = cols / 64u;
    for (uint64_t t = 0; t < tokens; ++t, src += cols) {
        if (indices[t] >= rows) {
            out_of_range += 1;
            continue;
        }
        for (uint64_t b = 0; b < row_blocks; ++b) {
            const uint64_t i = indices[t] * row_blocks + b;
            qk_encode(src + b * 64u, (uint8_t *)weights[0] + i * 32u, (uint8_t *)weights[1] + i * 4u);
        }
    }
    return out_of_range;
}

/* Returns how many indices are out of range; nothing is written for them. Of two that are the same, the last is what stays. */
uint64_t qk_nf4_b64_set_rows_f16_ref(void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const uint16_t *src) {
    uint64_t out_of_range = 0;
    const uint64_t row_blocks = cols / 64u;
    for (uint64_t t = 0; t < tokens; ++t, src += cols) {
        if (indices[t] >= rows) {
            out_of_range += 1;
            continue;
        }
        for (uint64_t b = 0; b < row_blocks; ++b) {
            const uint64_t i = indices[t] * row_blocks + b;
            float x[64u];
            for (uint32_t e = 0; e < 64u; ++e) x[e] = qk_f16_to_f32(src[b * 64u + e]);
            qk_encode(x, (uint8_t *)weights[0] + i * 32u, (uint8_t *)weights[1] + i * 4u);
        }
    }
    return out_of_range;
}

/* Returns how many indices are out of range; nothing is written for them. Of two that are the same, the last is what stays. */
uint64_t qk_nf4_b64_set_rows_bf16_ref(void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const uint16_t *src) {
    uint64_t out_of_range = 0;
    const uint64_t row_blocks = cols / 64u;
    for (uint64_t t = 0; t < tokens; ++t, src += cols) {
        if (indices[t] >= rows) {
            out_of_range += 1;
            continue;
        }
        for (uint64_t b = 0; b < row_blocks; ++b) {
            const uint64_t i = indices[t] * row_blocks + b;
            float x[64u];
            for (uint32_t e = 0; e < 64u; ++e) x[e] = qk_bf16_to_f32(src[b * 64u + e]);
            qk_encode(x, (uint8_t *)weights[0] + i * 32u, (uint8_t *)weights[1] + i * 4u);
        }
    }
    return out_of_range;
}

/* ---- descriptors ---- */

/* The code itself: nf4_b64_code.c. */
extern const qk_code qk_nf4_b64_dequant_f32_spirv;
extern const qk_code qk_nf4_b64_dequant_halves_spirv;
extern const qk_code qk_nf4_b64_gather_f32_spirv;
extern const qk_code qk_nf4_b64_gather_halves_spirv;
extern const qk_code qk_nf4_b64_gemv_rows_spirv;
extern const qk_code qk_nf4_b64_gemv_wide_spirv;
extern const qk_code qk_nf4_b64_gemv_shared_spirv;
extern const qk_code qk_nf4_b64_gemv_teams_spirv;
extern const qk_code qk_nf4_b64_encode_spirv;
extern const qk_code qk_nf4_b64_set_rows_spirv;
extern const qk_code qk_nf4_b64_msl;

static const uint32_t nf4_b64_N_table[] = {
    0xBF800000, 0xBF3239B1, 0xBF066B30, 0xBECA32A0, 0xBE91A24D, 0xBE3D353F, 0xBDBA7871, 0x00000000,
    0x3DA2FAFF, 0x3E24CAE3, 0x3E7C04DD, 0x3EAD033A, 0x3EE1A4B8, 0x3F1007AB, 0x3F3913B3, 0x3F800000
};

static const qk_binding nf4_b64_dequant_f32_bindings[] = {
    {0, "weight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 32, 1, 1, 32, 0},
    {1, "absmax", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4, 4, 1, 1, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field nf4_b64_dequant_f32_push[] = {
    {"rows", 0, 4},
    {"cols", 4, 4},
    {"grid_rows", 8, 4},
    {"grid_cols", 12, 4},
    {"row_tiles", 16, 4},
};
static const qk_table nf4_b64_dequant_f32_tables[] = {
    {3, "N", nf4_b64_N_table, sizeof nf4_b64_N_table},
};
static const uint32_t nf4_b64_dequant_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant nf4_b64_dequant_f32_vulkan_constants[] = {{0, "local_size_x", 256, 6,
    nf4_b64_dequant_f32_vulkan_local_size_x}};

const qk_kernel qk_nf4_b64_dequant_f32_vulkan = {
    .abi = 22,
    .name = "nf4_b64_dequant_f32",
    .format = "nf4_b64",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_nf4_b64_dequant_f32_spirv,
    .binding_count = 3,
    .bindings = nf4_b64_dequant_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = nf4_b64_dequant_f32_push,
    .table_count = 1,
    .tables = nf4_b64_dequant_f32_tables,
    .spec_constant_count = 1,
    .spec_constants = nf4_b64_dequant_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 64,
    .tile_elements = 4,
    .view = QK_VIEW_SEQUENCE,
    .ragged = 1,
    .block_rows = 1,
    .block_cols = 64,
};

const qk_kernel qk_nf4_b64_dequant_f32_metal = {
    .abi = 22,
    .name = "nf4_b64_dequant_f32",
    .format = "nf4_b64",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "nf4_b64_dequant_f32",
    .code = &qk_nf4_b64_msl,
    .binding_count = 3,
    .bindings = nf4_b64_dequant_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = nf4_b64_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 64,
    .tile_elements = 8,
    .view = QK_VIEW_SEQUENCE,
    .ragged = 1,
    .block_rows = 1,
    .block_cols = 64,
};

static const qk_binding nf4_b64_dequant_f16_bindings[] = {
    {0, "weight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 32, 1, 1, 32, 0},
    {1, "absmax", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4, 4, 1, 1, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0, 0},
};
static const uint32_t nf4_b64_dequant_f16_vulkan_rounds_f16[] = {0, 1};
static const uint32_t nf4_b64_dequant_f16_vulkan_y_type[] = {1};
static const qk_spec_constant nf4_b64_dequant_f16_vulkan_constants[] = {{0, "local_size_x", 256, 6,
    nf4_b64_dequant_f32_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, nf4_b64_dequant_f16_vulkan_rounds_f16},
    {31, "y_type", 1, 1, nf4_b64_dequant_f16_vulkan_y_type}};

const qk_kernel qk_nf4_b64_dequant_f16_vulkan = {
    .abi = 22,
    .name = "nf4_b64_dequant_f16",
    .format = "nf4_b64",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_nf4_b64_dequant_halves_spirv,
    .binding_count = 3,
    .bindings = nf4_b64_dequant_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = nf4_b64_dequant_f32_push,
    .table_count = 1,
    .tables = nf4_b64_dequant_f32_tables,
    .spec_constant_count = 3,
    .spec_constants = nf4_b64_dequant_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 64,
    .tile_elements = 8,
    .view = QK_VIEW_SEQUENCE,
    .ragged = 1,
    .block_rows = 1,
    .block_cols = 64,
};

const qk_kernel qk_nf4_b64_dequant_f16_metal = {
    .abi = 22,
    .name = "nf4_b64_dequant_f16",
    .format = "nf4_b64",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "nf4_b64_dequant_f16",
    .code = &qk_nf4_b64_msl,
    .binding_count = 3,
    .bindings = nf4_b64_dequant_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = nf4_b64_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 64,
    .tile_elements = 8,
    .view = QK_VIEW_SEQUENCE,
    .ragged = 1,
    .block_rows = 1,
    .block_cols = 64,
};

static const qk_binding nf4_b64_dequant_bf16_bindings[] = {
    {0, "weight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 32, 1, 1, 32, 0},
    {1, "absmax", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4, 4, 1, 1, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0, 0},
};
static const uint32_t nf4_b64_dequant_bf16_vulkan_y_type[] = {2};
static const qk_spec_constant nf4_b64_dequant_bf16_vulkan_constants[] = {{0, "local_size_x", 256, 6,
    nf4_b64_dequant_f32_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, nf4_b64_dequant_f16_vulkan_rounds_f16},
    {31, "y_type", 2, 1, nf4_b64_dequant_bf16_vulkan_y_type}};

const qk_kernel qk_nf4_b64_dequant_bf16_vulkan = {
    .abi = 22,
    .name = "nf4_b64_dequant_bf16",
    .format = "nf4_b64",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_nf4_b64_dequant_halves_spirv,
    .binding_count = 3,
    .bindings = nf4_b64_dequant_bf16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = nf4_b64_dequant_f32_push,
    .table_count = 1,
    .tables = nf4_b64_dequant_f32_tables,
    .spec_constant_count = 3,
    .spec_constants = nf4_b64_dequant_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 64,
    .tile_elements = 8,
    .view = QK_VIEW_SEQUENCE,
    .ragged = 1,
    .block_rows = 1,
    .block_cols = 64,
};

const qk_kernel qk_nf4_b64_dequant_bf16_metal = {
    .abi = 22,
    .name = "nf4_b64_dequant_bf16",
    .format = "nf4_b64",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "nf4_b64_dequant_bf16",
    .code = &qk_nf4_b64_msl,
    .binding_count = 3,
    .bindings = nf4_b64_dequant_bf16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = nf4_b64_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 64,
    .tile_elements = 8,
    .view = QK_VIEW_SEQUENCE,
    .ragged = 1,
    .block_rows = 1,
    .block_cols = 64,
};

static const qk_binding nf4_b64_gather_f32_bindings[] = {
    {0, "weight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 32, 1, 1, 32, 0},
    {1, "absmax", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4, 4, 1, 1, 0},
    {2, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {3, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};
static const qk_field nf4_b64_gather_f32_push[] = {
    {"rows", 0, 4},
    {"cols", 4, 4},
    {"grid_rows", 8, 4},
    {"grid_cols", 12, 4},
    {"row_tiles", 16, 4},
    {"table_rows", 20, 4},
    {"table_cols", 24, 4},
    {"tokens", 28, 4},
};
static const qk_table nf4_b64_gather_f32_tables[] = {
    {5, "N", nf4_b64_N_table, sizeof nf4_b64_N_table},
};

const qk_kernel qk_nf4_b64_gather_f32_vulkan = {
    .abi = 22,
    .name = "nf4_b64_gather_f32",
    .format = "nf4_b64",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_nf4_b64_gather_f32_spirv,
    .binding_count = 5,
    .bindings = nf4_b64_gather_f32_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = nf4_b64_gather_f32_push,
    .table_count = 1,
    .tables = nf4_b64_gather_f32_tables,
    .spec_constant_count = 1,
    .spec_constants = nf4_b64_dequant_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 64,
    .tile_elements = 4,
    .view = QK_VIEW_SEQUENCE,
    .ragged = 1,
    .block_rows = 1,
    .block_cols = 64,
};

const qk_kernel qk_nf4_b64_gather_f32_metal = {
    .abi = 22,
    .name = "nf4_b64_gather_f32",
    .format = "nf4_b64",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "nf4_b64_gather_f32",
    .code = &qk_nf4_b64_msl,
    .binding_count = 5,
    .bindings = nf4_b64_gather_f32_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = nf4_b64_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 64,
    .tile_elements = 8,
    .view = QK_VIEW_SEQUENCE,
    .ragged = 1,
    .block_rows = 1,
    .block_cols = 64,
};

static const qk_binding nf4_b64_gather_f16_bindings[] = {
    {0, "weight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 32, 1, 1, 32, 0},
    {1, "absmax", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4, 4, 1, 1, 0},
    {2, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {3, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_nf4_b64_gather_f16_vulkan = {
    .abi = 22,
    .name = "nf4_b64_gather_f16",
    .format = "nf4_b64",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_nf4_b64_gather_halves_spirv,
    .binding_count = 5,
    .bindings = nf4_b64_gather_f16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = nf4_b64_gather_f32_push,
    .table_count = 1,
    .tables = nf4_b64_gather_f32_tables,
    .spec_constant_count = 3,
    .spec_constants = nf4_b64_dequant_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 64,
    .tile_elements = 8,
    .view = QK_VIEW_SEQUENCE,
    .ragged = 1,
    .block_rows = 1,
    .block_cols = 64,
};

const qk_kernel qk_nf4_b64_gather_f16_metal = {
    .abi = 22,
    .name = "nf4_b64_gather_f16",
    .format = "nf4_b64",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "nf4_b64_gather_f16",
    .code = &qk_nf4_b64_msl,
    .binding_count = 5,
    .bindings = nf4_b64_gather_f16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = nf4_b64_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 64,
    .tile_elements = 8,
    .view = QK_VIEW_SEQUENCE,
    .ragged = 1,
    .block_rows = 1,
    .block_cols = 64,
};

static const qk_binding nf4_b64_gather_bf16_bindings[] = {
    {0, "weight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 32, 1, 1, 32, 0},
    {1, "absmax", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4, 4, 1, 1, 0},
    {2, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {3, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_nf4_b64_gather_bf16_vulkan = {
    .abi = 22,
    .name = "nf4_b64_gather_bf16",
    .format = "nf4_b64",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_nf4_b64_gather_halves_spirv,
    .binding_count = 5,
    .bindings = nf4_b64_gather_bf16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = nf4_b64_gather_f32_push,
    .table_count = 1,
    .tables = nf4_b64_gather_f32_tables,
    .spec_constant_count = 3,
    .spec_constants = nf4_b64_dequant_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 64,
    .tile_elements = 8,
    .view = QK_VIEW_SEQUENCE,
    .ragged = 1,
    .block_rows = 1,
    .block_cols = 64,
};

const qk_kernel qk_nf4_b64_gather_bf16_metal = {
    .abi = 22,
    .name = "nf4_b64_gather_bf16",
    .format = "nf4_b64",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "nf4_b64_gather_bf16",
    .code = &qk_nf4_b64_msl,
    .binding_count = 5,
    .bindings = nf4_b64_gather_bf16_bindings,
    .push_bytes = 32,
    .push_count = 8,
    .push = nf4_b64_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 64,
    .tile_elements = 8,
    .view = QK_VIEW_SEQUENCE,
    .ragged = 1,
    .block_rows = 1,
    .block_cols = 64,
};

static const qk_binding nf4_b64_gemv_f32_bindings[] = {
    {0, "weight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 32, 1, 1, 32, 0},
    {1, "absmax", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4, 4, 1, 1, 0},
    {2, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {4, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {7, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field nf4_b64_gemv_f32_push[] = {
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
static const qk_table nf4_b64_gemv_f32_tables[] = {
    {8, "N", nf4_b64_N_table, sizeof nf4_b64_N_table},
};
static const uint32_t nf4_b64_gemv_f32_vulkan_batch[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const uint32_t nf4_b64_gemv_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t nf4_b64_gemv_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t nf4_b64_gemv_f32_vulkan_shared_fours[] = {512, 1024, 1280, 2048, 2560};
static const uint32_t nf4_b64_gemv_f32_vulkan_checked[] = {0, 1};
static const uint32_t nf4_b64_gemv_f32_vulkan_turns[] = {1, 4};
static const uint32_t nf4_b64_gemv_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t nf4_b64_gemv_f32_vulkan_schedule[] = {0, 1, 2, 4, 5};
static const uint32_t nf4_b64_gemv_f32_vulkan_x_type[] = {0};
static const uint32_t nf4_b64_gemv_f32_vulkan_views[] = {0, 1};
static const uint32_t nf4_b64_gemv_f32_vulkan_y_type[] = {0, 1, 2};
static const qk_spec_constant nf4_b64_gemv_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, nf4_b64_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, nf4_b64_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, nf4_b64_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, nf4_b64_gemv_f32_vulkan_split},
    {6, "shared_fours", 512, 5, nf4_b64_gemv_f32_vulkan_shared_fours},
    {12, "checked", 0, 2, nf4_b64_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, nf4_b64_gemv_f32_vulkan_turns},
    {7, "staged", 1, 4, nf4_b64_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 5, nf4_b64_gemv_f32_vulkan_schedule},
    {21, "x_type", 0, 1, nf4_b64_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, nf4_b64_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, nf4_b64_gemv_f32_vulkan_y_type}};
static const qk_code *const nf4_b64_gemv_f32_schedules[] = {0, &qk_nf4_b64_gemv_rows_spirv, &qk_nf4_b64_gemv_wide_spirv, 0,
    &qk_nf4_b64_gemv_shared_spirv, &qk_nf4_b64_gemv_teams_spirv};

const qk_kernel qk_nf4_b64_gemv_f32_vulkan = {
    .abi = 22,
    .name = "nf4_b64_gemv_f32",
    .format = "nf4_b64",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_nf4_b64_gemv_rows_spirv,
    .schedules = nf4_b64_gemv_f32_schedules,
    .binding_count = 8,
    .bindings = nf4_b64_gemv_f32_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = nf4_b64_gemv_f32_push,
    .table_count = 1,
    .tables = nf4_b64_gemv_f32_tables,
    .spec_constant_count = 13,
    .spec_constants = nf4_b64_gemv_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 64,
    .tile_elements = 16,
    .view = QK_VIEW_SEQUENCE,
    .ragged = 1,
    .block_rows = 1,
    .block_cols = 64,
    .kept_elements = 64,
    .wide_block = 64,
    .shared_tile = 4,
    .shares_wide = 0,
    .teams_tile = 8,
    .teams_kept = 32,
    .teams_block = 64,
    .sum_roundings = 122,
};

static const uint32_t nf4_b64_gemv_f32_metal_batch[] = {1, 2, 4, 8};
static const qk_spec_constant nf4_b64_gemv_f32_metal_constants[] = {{1, "batch", 1, 4, nf4_b64_gemv_f32_metal_batch},
    {30, "views", 0, 2, nf4_b64_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, nf4_b64_gemv_f32_vulkan_y_type}};

const qk_kernel qk_nf4_b64_gemv_f32_metal = {
    .abi = 22,
    .name = "nf4_b64_gemv_f32",
    .format = "nf4_b64",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "nf4_b64_gemv_f32",
    .code = &qk_nf4_b64_msl,
    .binding_count = 8,
    .bindings = nf4_b64_gemv_f32_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = nf4_b64_gemv_f32_push,
    .spec_constant_count = 3,
    .spec_constants = nf4_b64_gemv_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 64,
    .tile_elements = 16,
    .view = QK_VIEW_SEQUENCE,
    .ragged = 1,
    .block_rows = 1,
    .block_cols = 64,
    .sum_roundings = 74,
};

static const qk_binding nf4_b64_gemv_f16_bindings[] = {
    {0, "weight", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 32, 1, 1, 32, 0},
    {1, "absmax", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 4, 4, 1, 1, 0},
    {2, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {4, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {7, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const uint32_t nf4_b64_gemv_f16_vulkan_x_type[] = {1};
static const qk_spec_constant nf4_b64_gemv_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, nf4_b64_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, nf4_b64_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, nf4_b64_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, nf4_b64_gemv_f32_vulkan_split},
    {6, "shared_fours", 512, 5, nf4_b64_gemv_f32_vulkan_shared_fours},
    {12, "checked", 0, 2, nf4_b64_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, nf4_b64_gemv_f32_vulkan_turns},
    {7, "staged", 1, 4, nf4_b64_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 5, nf4_b64_gemv_f32_vulkan_schedule},
    {21, "x_type", 1, 1, nf4_b64_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 2, nf4_b64_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, nf4_b64_gemv_f32_vulkan_y_type}};

const qk_kernel qk_nf4_b64_gemv_f16_vulkan = {
    .abi = 22,
    .name = "nf4_b64_gemv_f16",
    .format = "nf4_b64",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_nf4_b64_gemv_rows_spirv,
    .schedules = nf4_b64_gemv_f32_schedules,
    .binding_count = 8,
    .bindings = nf4_b64_gemv_f16_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = nf4_b64_gemv_f32_push,
    .table_count = 1,
    .tables = nf4_b64_gemv_f32_tables,
    .spec_constant_count = 13,
    .spec_constants = nf4_b64_gemv_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 64,
    .tile_elements = 16,
    .view = QK_VIEW_SEQUENCE,
    .ragged = 1,
    .block_rows = 1,
    .block_cols = 64,
    .kept_elements = 64,
    .wide_block = 64,
    .shared_tile = 4,
    .shares_wide = 0,
    .teams_tile = 8,
    .teams_kept = 32,
    .teams_block = 64,
    .sum_roundings = 122,
};

const qk_kernel qk_nf4_b64_gemv_f16_metal = {
    .abi = 22,
    .name = "nf4_b64_gemv_f16",
    .format = "nf4_b64",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "nf4_b64_gemv_f16",
    .code = &qk_nf4_b64_msl,
    .binding_count = 8,
    .bindings = nf4_b64_gemv_f16_bindings,
    .push_bytes = 128,
    .push_count = 32,
    .push = nf4_b64_gemv_f32_push,
    .spec_constant_count = 3,
    .spec_constants = nf4_b64_gemv_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 64,
    .tile_elements = 16,
    .view = QK_VIEW_SEQUENCE,
    .ragged = 1,
    .block_rows = 1,
    .block_cols = 64,
    .sum_roundings = 74,
};

static const qk_binding nf4_b64_encode_f32_bindings[] = {
    {0, "weight", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 32, 0, 0, 0, 0},
    {1, "absmax", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 4, 0, 0, 0, 0},
    {2, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field nf4_b64_encode_f32_push[] = {
    {"tiles", 0, 4},
};
static const uint32_t nf4_b64_encode_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512};
static const qk_spec_constant nf4_b64_encode_f32_vulkan_constants[] = {{0, "local_size_x", 128, 5, nf4_b64_encode_f32_vulkan_local_size_x},
    {21, "x_type", 0, 1, nf4_b64_gemv_f32_vulkan_x_type}};

const qk_kernel qk_nf4_b64_encode_f32_vulkan = {
    .abi = 22,
    .name = "nf4_b64_encode_f32",
    .format = "nf4_b64",
    .family = "encode",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_nf4_b64_encode_spirv,
    .binding_count = 3,
    .bindings = nf4_b64_encode_f32_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = nf4_b64_encode_f32_push,
    .spec_constant_count = 2,
    .spec_constants = nf4_b64_encode_f32_vulkan_constants,
    .workgroup_size = 128,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 64,
    .tile_elements = 32,
};

const qk_kernel qk_nf4_b64_encode_f32_metal = {
    .abi = 22,
    .name = "nf4_b64_encode_f32",
    .format = "nf4_b64",
    .family = "encode",
    .api = QK_API_METAL,
    .entry = "nf4_b64_encode_f32",
    .code = &qk_nf4_b64_msl,
    .binding_count = 3,
    .bindings = nf4_b64_encode_f32_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = nf4_b64_encode_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 64,
    .tile_elements = 64,
};

static const qk_binding nf4_b64_encode_f16_bindings[] = {
    {0, "weight", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 32, 0, 0, 0, 0},
    {1, "absmax", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 4, 0, 0, 0, 0},
    {2, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
};
static const qk_spec_constant nf4_b64_encode_f16_vulkan_constants[] = {{0, "local_size_x", 128, 5, nf4_b64_encode_f32_vulkan_local_size_x},
    {21, "x_type", 1, 1, nf4_b64_gemv_f16_vulkan_x_type}};

const qk_kernel qk_nf4_b64_encode_f16_vulkan = {
    .abi = 22,
    .name = "nf4_b64_encode_f16",
    .format = "nf4_b64",
    .family = "encode",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_nf4_b64_encode_spirv,
    .binding_count = 3,
    .bindings = nf4_b64_encode_f16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = nf4_b64_encode_f32_push,
    .spec_constant_count = 2,
    .spec_constants = nf4_b64_encode_f16_vulkan_constants,
    .workgroup_size = 128,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 64,
    .tile_elements = 32,
};

const qk_kernel qk_nf4_b64_encode_f16_metal = {
    .abi = 22,
    .name = "nf4_b64_encode_f16",
    .format = "nf4_b64",
    .family = "encode",
    .api = QK_API_METAL,
    .entry = "nf4_b64_encode_f16",
    .code = &qk_nf4_b64_msl,
    .binding_count = 3,
    .bindings = nf4_b64_encode_f16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = nf4_b64_encode_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 64,
    .tile_elements = 64,
};

static const qk_binding nf4_b64_encode_bf16_bindings[] = {
    {0, "weight", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 32, 0, 0, 0, 0},
    {1, "absmax", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 4, 0, 0, 0, 0},
    {2, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_BF16, 0, 0, 0, 0, 0},
};
static const uint32_t nf4_b64_encode_bf16_vulkan_x_type[] = {2};
static const qk_spec_constant nf4_b64_encode_bf16_vulkan_constants[] = {{0, "local_size_x", 128, 5, nf4_b64_encode_f32_vulkan_local_size_x},
    {21, "x_type", 2, 1, nf4_b64_encode_bf16_vulkan_x_type}};

const qk_kernel qk_nf4_b64_encode_bf16_vulkan = {
    .abi = 22,
    .name = "nf4_b64_encode_bf16",
    .format = "nf4_b64",
    .family = "encode",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_nf4_b64_encode_spirv,
    .binding_count = 3,
    .bindings = nf4_b64_encode_bf16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = nf4_b64_encode_f32_push,
    .spec_constant_count = 2,
    .spec_constants = nf4_b64_encode_bf16_vulkan_constants,
    .workgroup_size = 128,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 64,
    .tile_elements = 32,
};

const qk_kernel qk_nf4_b64_encode_bf16_metal = {
    .abi = 22,
    .name = "nf4_b64_encode_bf16",
    .format = "nf4_b64",
    .family = "encode",
    .api = QK_API_METAL,
    .entry = "nf4_b64_encode_bf16",
    .code = &qk_nf4_b64_msl,
    .binding_count = 3,
    .bindings = nf4_b64_encode_bf16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = nf4_b64_encode_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 64,
    .tile_elements = 64,
};

static const qk_binding nf4_b64_set_rows_f32_bindings[] = {
    {0, "weight", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 32, 0, 0, 0, 0},
    {1, "absmax", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 4, 0, 0, 0, 0},
    {2, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {3, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};
static const qk_field nf4_b64_set_rows_f32_push[] = {
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

const qk_kernel qk_nf4_b64_set_rows_f32_vulkan = {
    .abi = 22,
    .name = "nf4_b64_set_rows_f32",
    .format = "nf4_b64",
    .family = "set_rows",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_nf4_b64_set_rows_spirv,
    .binding_count = 5,
    .bindings = nf4_b64_set_rows_f32_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = nf4_b64_set_rows_f32_push,
    .spec_constant_count = 2,
    .spec_constants = nf4_b64_encode_f32_vulkan_constants,
    .workgroup_size = 128,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 64,
    .tile_elements = 32,
};

const qk_kernel qk_nf4_b64_set_rows_f32_metal = {
    .abi = 22,
    .name = "nf4_b64_set_rows_f32",
    .format = "nf4_b64",
    .family = "set_rows",
    .api = QK_API_METAL,
    .entry = "nf4_b64_set_rows_f32",
    .code = &qk_nf4_b64_msl,
    .binding_count = 5,
    .bindings = nf4_b64_set_rows_f32_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = nf4_b64_set_rows_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 64,
    .tile_elements = 64,
};

static const qk_binding nf4_b64_set_rows_f16_bindings[] = {
    {0, "weight", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 32, 0, 0, 0, 0},
    {1, "absmax", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 4, 0, 0, 0, 0},
    {2, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {3, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_nf4_b64_set_rows_f16_vulkan = {
    .abi = 22,
    .name = "nf4_b64_set_rows_f16",
    .format = "nf4_b64",
    .family = "set_rows",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_nf4_b64_set_rows_spirv,
    .binding_count = 5,
    .bindings = nf4_b64_set_rows_f16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = nf4_b64_set_rows_f32_push,
    .spec_constant_count = 2,
    .spec_constants = nf4_b64_encode_f16_vulkan_constants,
    .workgroup_size = 128,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 64,
    .tile_elements = 32,
};

const qk_kernel qk_nf4_b64_set_rows_f16_metal = {
    .abi = 22,
    .name = "nf4_b64_set_rows_f16",
    .format = "nf4_b64",
    .family = "set_rows",
    .api = QK_API_METAL,
    .entry = "nf4_b64_set_rows_f16",
    .code = &qk_nf4_b64_msl,
    .binding_count = 5,
    .bindings = nf4_b64_set_rows_f16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = nf4_b64_set_rows_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 64,
    .tile_elements = 64,
};

static const qk_binding nf4_b64_set_rows_bf16_bindings[] = {
    {0, "weight", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 32, 0, 0, 0, 0},
    {1, "absmax", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 4, 0, 0, 0, 0},
    {2, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {3, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_BF16, 0, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_nf4_b64_set_rows_bf16_vulkan = {
    .abi = 22,
    .name = "nf4_b64_set_rows_bf16",
    .format = "nf4_b64",
    .family = "set_rows",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_nf4_b64_set_rows_spirv,
    .binding_count = 5,
    .bindings = nf4_b64_set_rows_bf16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = nf4_b64_set_rows_f32_push,
    .spec_constant_count = 2,
    .spec_constants = nf4_b64_encode_bf16_vulkan_constants,
    .workgroup_size = 128,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 64,
    .tile_elements = 32,
};

const qk_kernel qk_nf4_b64_set_rows_bf16_metal = {
    .abi = 22,
    .name = "nf4_b64_set_rows_bf16",
    .format = "nf4_b64",
    .family = "set_rows",
    .api = QK_API_METAL,
    .entry = "nf4_b64_set_rows_bf16",
    .code = &qk_nf4_b64_msl,
    .binding_count = 5,
    .bindings = nf4_b64_set_rows_bf16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = nf4_b64_set_rows_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 64,
    .tile_elements = 64,
};

static const qk_kernel *const nf4_b64_all[] = {
    &qk_nf4_b64_dequant_f32_vulkan,
    &qk_nf4_b64_dequant_f32_metal,
    &qk_nf4_b64_dequant_f16_vulkan,
    &qk_nf4_b64_dequant_f16_metal,
    &qk_nf4_b64_dequant_bf16_vulkan,
    &qk_nf4_b64_dequant_bf16_metal,
    &qk_nf4_b64_gather_f32_vulkan,
    &qk_nf4_b64_gather_f32_metal,
    &qk_nf4_b64_gather_f16_vulkan,
    &qk_nf4_b64_gather_f16_metal,
    &qk_nf4_b64_gather_bf16_vulkan,
    &qk_nf4_b64_gather_bf16_metal,
    &qk_nf4_b64_gemv_f32_vulkan,
    &qk_nf4_b64_gemv_f32_metal,
    &qk_nf4_b64_gemv_f16_vulkan,
    &qk_nf4_b64_gemv_f16_metal,
    &qk_nf4_b64_encode_f32_vulkan,
    &qk_nf4_b64_encode_f32_metal,
    &qk_nf4_b64_encode_f16_vulkan,
    &qk_nf4_b64_encode_f16_metal,
    &qk_nf4_b64_encode_bf16_vulkan,
    &qk_nf4_b64_encode_bf16_metal,
    &qk_nf4_b64_set_rows_f32_vulkan,
    &qk_nf4_b64_set_rows_f32_metal,
    &qk_nf4_b64_set_rows_f16_vulkan,
    &qk_nf4_b64_set_rows_f16_metal,
    &qk_nf4_b64_set_rows_bf16_vulkan,
    &qk_nf4_b64_set_rows_bf16_metal,
};

const qk_kernel_set qk_nf4_b64_kernels = {"nf4_b64", 28, nf4_b64_all, 0};

/* ---- dispatch ---- */

qk_status qk_nf4_b64_dequant_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_nf4_b64_dequant_f32_metal
        : &qk_nf4_b64_dequant_f32_vulkan;
    return qk_dispatch_dequant_matrix(backend, kernel, weights, dst, rows, cols, error);
}

qk_status qk_nf4_b64_dequant_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_nf4_b64_dequant_f16_metal
        : &qk_nf4_b64_dequant_f16_vulkan;
    return qk_dispatch_dequant_matrix(backend, kernel, weights, dst, rows, cols, error);
}

qk_status qk_nf4_b64_dequant_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_nf4_b64_dequant_bf16_metal
        : &qk_nf4_b64_dequant_bf16_vulkan;
    return qk_dispatch_dequant_matrix(backend, kernel, weights, dst, rows, cols, error);
}

qk_status qk_nf4_b64_gather_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_nf4_b64_gather_f32_metal : &qk_nf4_b64_gather_f32_vulkan;
    return qk_dispatch_gather_matrix(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_nf4_b64_gather_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_nf4_b64_gather_f16_metal : &qk_nf4_b64_gather_f16_vulkan;
    return qk_dispatch_gather_matrix(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_nf4_b64_gather_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_nf4_b64_gather_bf16_metal
        : &qk_nf4_b64_gather_bf16_vulkan;
    return qk_dispatch_gather_matrix(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_nf4_b64_gemv_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_nf4_b64_gemv_f32_metal : &qk_nf4_b64_gemv_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_nf4_b64_gemv_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_nf4_b64_gemv_f16_metal : &qk_nf4_b64_gemv_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_nf4_b64_encode_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range src, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_nf4_b64_encode_f32_metal : &qk_nf4_b64_encode_f32_vulkan;
    return qk_dispatch_encode(backend, kernel, weights, src, elements, error);
}

qk_status qk_nf4_b64_encode_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range src, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_nf4_b64_encode_f16_metal : &qk_nf4_b64_encode_f16_vulkan;
    return qk_dispatch_encode(backend, kernel, weights, src, elements, error);
}

qk_status qk_nf4_b64_encode_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range src, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_nf4_b64_encode_bf16_metal
        : &qk_nf4_b64_encode_bf16_vulkan;
    return qk_dispatch_encode(backend, kernel, weights, src, elements, error);
}

qk_status qk_nf4_b64_set_rows_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_nf4_b64_set_rows_f32_metal
        : &qk_nf4_b64_set_rows_f32_vulkan;
    return qk_dispatch_set_rows(backend, kernel, weights, indices, src, status, rows, cols, tokens, error);
}

qk_status qk_nf4_b64_set_rows_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_nf4_b64_set_rows_f16_metal
        : &qk_nf4_b64_set_rows_f16_vulkan;
    return qk_dispatch_set_rows(backend, kernel, weights, indices, src, status, rows, cols, tokens, error);
}

qk_status qk_nf4_b64_set_rows_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_nf4_b64_set_rows_bf16_metal
        : &qk_nf4_b64_set_rows_bf16_vulkan;
    return qk_dispatch_set_rows(backend, kernel, weights, indices, src, status, rows, cols, tokens, error);
}
