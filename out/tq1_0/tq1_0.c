/* tq1_0: reference decoder, descriptors and dispatch stubs.
 * Generated from the specification below by `qkgen emit --format tq1_0`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 54 bytes for 256 elements, 1.688 bits each.
 * dequant, gather in f32: for each weight 0.211 bytes read and 4 written, 15 operations: 0.75 loads, 4.5 bits, 7.5 integer, 1 float, 1.25
 * conversions.
 * gemv, gemv_id in f32: for each weight 0.211 bytes read, 5.84 operations: 0.141 loads, 2.33 bits, 0.828 integer, 2.03 float, 0.516
 * conversions.
 *     format tq1_0 "ternary codes, five in a byte, one scale for 256"
 *     block 256 {
 *         qs: u8[48]
 *         qh: u8[4]
 *         d:  f16
 *     }
 *     code t = qs { 8 base 3 @ 0   (32:8, 5:^) }    # elements 0 to 159
 *         then qs { 8 base 3 @ 256 (16:8, 5:^) }    # 160 to 239
 *         then qh { 8 base 3 @ 0   (4:8,  4:^) }    # 240 to 255
 *     value = (t - 1) * d
 *     # ggml's quantize_row_tq1_0_ref
 *     encode {
 *         s = max(abs(x))
 *         r = s == 0.0 ? 0.0 : 1.0 / s
 *         d = s
 *         t = round(x * r, -1, 1) + 1
 *     }
 */
#include "tq1_0.h"

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
    const uint8_t *const blocks = (const uint8_t *)from[0] + index / 256u * 54u;
    const uint32_t i = (uint32_t)(index % 256u);
    const uint32_t byte = i < 160u ? i % 32u : i < 240u ? (i - 160u) % 16u + 32u : (i - 240u) % 4u + 48u;  // of t, in qs, qs or qh
    const uint32_t qs_qh = (uint32_t)blocks[byte];
    const uint32_t digit_ = i < 160u ? i / 32u : i < 240u ? (i - 160u) / 16u : (i - 240u) / 4u;  // which digit of base 3, from the top
    const uint32_t power = digit_ < 4u ? (0x1B090301u >> ((digit_ & 3u) * 8u)) & 0xFFu : 81u;  // 3^n
    const uint32_t t_ = (((qs_qh * power) & 0xFFu) * 3u) >> 8u;  // a digit of base 3
    const float d = qk_f16_to_f32((uint32_t)blocks[52u] | ((uint32_t)blocks[53u] << 8u));
    return (float)((int32_t)t_ - 1) * d;
}

static uint16_t f16_at(const void *const *from, uint64_t index) {
    return qk_f32_to_f16(value_at(from, index));
}

static uint16_t bf16_at(const void *const *from, uint64_t index) {
    return qk_f32_to_bf16(value_at(from, index));
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

/* Roundings and the root are written out, so that nothing but libc is linked. Zeros keep their sign. */
static inline float qk_trunc(float v) {
    if (!(fabsf(v) < 8388608.0f)) return v;
    const float whole = (float)(int32_t)v;
    return whole == 0 ? v * 0.0f : whole;
}

static inline float qk_round(float v) {
    const float whole = qk_trunc(v);
    return fabsf(v - whole) >= 0.5f ? whole + (v < 0 ? -1.0f : 1.0f) : whole;
}

/* Makes a block of floats. */
static void qk_encode(const float *qk_x, uint8_t *blocks) {
    uint32_t qk_words_blocks[14] = {0};
    float s = qk_bits_to_f32(0xFF800000u);
    for (int32_t qk_i = 0; qk_i < 256; ++qk_i) {
        const float qk_0 = fabsf(qk_x[qk_i]);
        if (qk_0 > s) s = qk_0;
    }
    const float r = (s == 0.0f) ? 0.0f : (1.0f / s);
    uint32_t qk_bits_d = qk_bits_of_f16(s);
    {
        const int32_t qk_at = 416;
        qk_words_blocks[qk_at >> 5] |= (qk_bits_d & 0xFFFFu) << (qk_at & 31);
    }
    for (int32_t qk_i = 0; qk_i < 256; ++qk_i) {
        const int32_t t = qk_clamped(qk_round(qk_x[qk_i] * r), -1, 1) + 1;
        const uint32_t qk_bits_t = (uint32_t)t;
        if (qk_i >= 0 && qk_i < 160) {
            const int32_t qk_at = 0 + (qk_i) % 32 * 8;
            qk_words_blocks[qk_at >> 5] += (qk_bits_t & 0x3u)
                * (qk_i / 32 % 5 == 0 ? 81u : qk_i / 32 % 5 == 1 ? 27u : qk_i / 32 % 5 == 2 ? 9u : qk_i / 32 % 5 == 3 ? 3u : 1u)
                << (qk_at & 31);
        }
        if (qk_i >= 160 && qk_i < 240) {
            const int32_t qk_at = 256 + ((qk_i - 160)) % 16 * 8;
            qk_words_blocks[qk_at >> 5] += (qk_bits_t & 0x3u)
                * ((qk_i - 160) / 16 % 5 == 0 ? 81u : (qk_i - 160) / 16 % 5 == 1 ? 27u : (qk_i - 160) / 16 % 5 == 2 ? 9u
                : (qk_i - 160) / 16 % 5 == 3 ? 3u : 1u) << (qk_at & 31);
        }
        if (qk_i >= 240 && qk_i < 256) {
            const int32_t qk_at = 384 + ((qk_i - 240)) % 4 * 8;
            qk_words_blocks[qk_at >> 5] += (qk_bits_t & 0x3u)
                * ((qk_i - 240) / 4 % 4 == 0 ? 27u : (qk_i - 240) / 4 % 4 == 1 ? 9u : (qk_i - 240) / 4 % 4 == 2 ? 3u : 1u) << (qk_at & 31);
        }
    }
    for (int32_t qk_j = 0; qk_j < 32; qk_j += 1) {
        const int32_t qk_at = 0 + qk_j * 8;
        const uint32_t qk_v = qk_words_blocks[qk_at >> 5] >> (qk_at & 31) & 0xFFu;
        qk_words_blocks[qk_at >> 5] += (((qk_v << 8) + 242u) / 243u - qk_v) << (qk_at & 31);
    }
    for (int32_t qk_j = 0; qk_j < 16; qk_j += 1) {
        const int32_t qk_at = 256 + qk_j * 8;
        const uint32_t qk_v = qk_words_blocks[qk_at >> 5] >> (qk_at & 31) & 0xFFu;
        qk_words_blocks[qk_at >> 5] += (((qk_v << 8) + 242u) / 243u - qk_v) << (qk_at & 31);
    }
    for (int32_t qk_j = 0; qk_j < 4; qk_j += 1) {
        const int32_t qk_at = 384 + qk_j * 8;
        const uint32_t qk_v = qk_words_blocks[qk_at >> 5] >> (qk_at & 31) & 0xFFu;
        qk_words_blocks[qk_at >> 5] += (((qk_v << 8) + 80u) / 81u - qk_v) << (qk_at & 31);
    }
    for (int32_t qk_j = 0; qk_j < 54; ++qk_j) {
        blocks[qk_j] = (uint8_t)(qk_words_blocks[qk_j >> 2] >> (qk_j & 3) * 8);
    }
}

void qk_tq1_0_dequant_f32_ref(const void *const weights[1],
    uint64_t elements, float *dst) {
    for (uint64_t i = 0; i < elements; ++i) dst[i] = value_at(weights, i);
}

void qk_tq1_0_dequant_f16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst) {
    for (uint64_t i = 0; i < elements; ++i) dst[i] = f16_at(weights, i);
}

void qk_tq1_0_dequant_bf16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst) {
    for (uint64_t i = 0; i < elements; ++i) dst[i] = bf16_at(weights, i);
}

/* Returns how many indices are out of range; their rows are zeros. */
uint64_t qk_tq1_0_gather_f32_ref(const void *const weights[1],
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
uint64_t qk_tq1_0_gather_f16_ref(const void *const weights[1],
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
uint64_t qk_tq1_0_gather_bf16_ref(const void *const weights[1],
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
void qk_tq1_0_gemv_f32_ref(const void *const weights[1],
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
void qk_tq1_0_gemv_f16_ref(const void *const weights[1],
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
uint64_t qk_tq1_0_gemv_id_f32_ref(const void *const weights[1],
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
uint64_t qk_tq1_0_gemv_id_f16_ref(const void *const weights[1],
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

void qk_tq1_0_encode_f32_ref(void *const weights[1],
    uint64_t elements, const float *src) {
    for (uint64_t i = 0; i < elements / 256u; ++i) {
        qk_encode(src + i * 256u, (uint8_t *)weights[0] + i * 54u);
    }
}

void qk_tq1_0_encode_f16_ref(void *const weights[1],
    uint64_t elements, const uint16_t *src) {
    for (uint64_t i = 0; i < elements / 256u; ++i) {
        float x[256u];
        for (uint32_t e = 0; e < 256u; ++e) x[e] = qk_f16_to_f32(src[i * 256u + e]);
        qk_encode(x, (uint8_t *)weights[0] + i * 54u);
    }
}

void qk_tq1_0_encode_bf16_ref(void *const weights[1],
    uint64_t elements, const uint16_t *src) {
    for (uint64_t i = 0; i < elements / 256u; ++i) {
        float x[256u];
        for (uint32_t e = 0; e < 256u; ++e) x[e] = qk_bf16_to_f32(src[i * 256u + e]);
        qk_encode(x, (uint8_t *)weights[0] + i * 54u);
    }
}

/* Returns how many indices are out of range; nothing is written for them. Of two that are the same, the last is what stays. */
uint64_t qk_tq1_0_set_rows_f32_ref(void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const float *src) {
    uint64_t out_of_range = 0;
    const uint64_t row_blocks = cols / 256u;
    for (uint64_t t = 0; t < tokens; ++t, src += cols) {
        if (indices[t] >= rows) {
            out_of_range += 1;
            continue;
        }
        for (uint64_t b = 0; b < row_blocks; ++b) {
            const uint64_t i = indices[t] * row_blocks + b;
            qk_encode(src + b * 256u, (uint8_t *)weights[0] + i * 54u);
        }
    }
    return out_of_range;
}

/* Returns how many indices are out of range; nothing is written for them. Of two that are the same, the last is what stays. */
uint64_t qk_tq1_0_set_rows_f16_ref(void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const uint16_t *src) {
    uint64_t out_of_range = 0;
    const uint64_t row_blocks = cols / 256u;
    for (uint64_t t = 0; t < tokens; ++t, src += cols) {
        if (indices[t] >= rows) {
            out_of_range += 1;
            continue;
        }
        for (uint64_t b = 0; b < row_blocks; ++b) {
            const uint64_t i = indices[t] * row_blocks + b;
            float x[256u];
            for (uint32_t e = 0; e < 256u; ++e) x[e] = qk_f16_to_f32(src[b * 256u + e]);
            qk_encode(x, (uint8_t *)weights[0] + i * 54u);
        }
    }
    return out_of_range;
}

/* Returns how many indices are out of range; nothing is written for them. Of two that are the same, the last is what stays. */
uint64_t qk_tq1_0_set_rows_bf16_ref(void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const uint16_t *src) {
    uint64_t out_of_range = 0;
    const uint64_t row_blocks = cols / 256u;
    for (uint64_t t = 0; t < tokens; ++t, src += cols) {
        if (indices[t] >= rows) {
            out_of_range += 1;
            continue;
        }
        for (uint64_t b = 0; b < row_blocks; ++b) {
            const uint64_t i = indices[t] * row_blocks + b;
            float x[256u];
            for (uint32_t e = 0; e < 256u; ++e) x[e] = qk_bf16_to_f32(src[b * 256u + e]);
            qk_encode(x, (uint8_t *)weights[0] + i * 54u);
        }
    }
    return out_of_range;
}

/* ---- descriptors ---- */

/* The code itself: tq1_0_code.c. */
extern const qk_code qk_tq1_0_dequant_f32_spirv;
extern const qk_code qk_tq1_0_dequant_halves_spirv;
extern const qk_code qk_tq1_0_gather_f32_spirv;
extern const qk_code qk_tq1_0_gather_halves_spirv;
extern const qk_code qk_tq1_0_gemv_rows_spirv;
extern const qk_code qk_tq1_0_gemv_wide_spirv;
extern const qk_code qk_tq1_0_gemv_shared_spirv;
extern const qk_code qk_tq1_0_gemv_teams_spirv;
extern const qk_code qk_tq1_0_gemv_int8_rows_spirv;
extern const qk_code qk_tq1_0_gemv_int8_wide_spirv;
extern const qk_code qk_tq1_0_gemv_int8_ahead_spirv;
extern const qk_code qk_tq1_0_gemv_int8_shared_spirv;
extern const qk_code qk_tq1_0_gemv_int8_teams_spirv;
extern const qk_code qk_tq1_0_gemv_id_rows_spirv;
extern const qk_code qk_tq1_0_gemv_id_wide_spirv;
extern const qk_code qk_tq1_0_gemv_id_int8_rows_spirv;
extern const qk_code qk_tq1_0_gemv_id_int8_wide_spirv;
extern const qk_code qk_tq1_0_encode_spirv;
extern const qk_code qk_tq1_0_set_rows_spirv;
extern const qk_code qk_tq1_0_msl;

static const qk_binding tq1_0_dequant_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 54, 0, 0, 0, 0},
    {1, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field tq1_0_dequant_f32_push[] = {
    {"tiles", 0, 4},
};
static const uint32_t tq1_0_dequant_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant tq1_0_dequant_f32_vulkan_constants[] = {{0, "local_size_x", 256, 6, tq1_0_dequant_f32_vulkan_local_size_x}};

const qk_kernel qk_tq1_0_dequant_f32_vulkan = {
    .abi = 22,
    .name = "tq1_0_dequant_f32",
    .format = "tq1_0",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_dequant_f32_spirv,
    .binding_count = 2,
    .bindings = tq1_0_dequant_f32_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = tq1_0_dequant_f32_push,
    .spec_constant_count = 1,
    .spec_constants = tq1_0_dequant_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 4,
};

const qk_kernel qk_tq1_0_dequant_f32_metal = {
    .abi = 22,
    .name = "tq1_0_dequant_f32",
    .format = "tq1_0",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "tq1_0_dequant_f32",
    .code = &qk_tq1_0_msl,
    .binding_count = 2,
    .bindings = tq1_0_dequant_f32_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = tq1_0_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 4,
};

static const qk_binding tq1_0_dequant_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 54, 0, 0, 0, 0},
    {1, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0, 0},
};
static const uint32_t tq1_0_dequant_f16_vulkan_rounds_f16[] = {0, 1};
static const uint32_t tq1_0_dequant_f16_vulkan_y_type[] = {1};
static const qk_spec_constant tq1_0_dequant_f16_vulkan_constants[] = {{0, "local_size_x", 256, 6, tq1_0_dequant_f32_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, tq1_0_dequant_f16_vulkan_rounds_f16},
    {31, "y_type", 1, 1, tq1_0_dequant_f16_vulkan_y_type}};

const qk_kernel qk_tq1_0_dequant_f16_vulkan = {
    .abi = 22,
    .name = "tq1_0_dequant_f16",
    .format = "tq1_0",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_dequant_halves_spirv,
    .binding_count = 2,
    .bindings = tq1_0_dequant_f16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = tq1_0_dequant_f32_push,
    .spec_constant_count = 3,
    .spec_constants = tq1_0_dequant_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 8,
};

const qk_kernel qk_tq1_0_dequant_f16_metal = {
    .abi = 22,
    .name = "tq1_0_dequant_f16",
    .format = "tq1_0",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "tq1_0_dequant_f16",
    .code = &qk_tq1_0_msl,
    .binding_count = 2,
    .bindings = tq1_0_dequant_f16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = tq1_0_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 4,
};

static const qk_binding tq1_0_dequant_bf16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 54, 0, 0, 0, 0},
    {1, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0, 0},
};
static const uint32_t tq1_0_dequant_bf16_vulkan_y_type[] = {2};
static const qk_spec_constant tq1_0_dequant_bf16_vulkan_constants[] = {{0, "local_size_x", 256, 6, tq1_0_dequant_f32_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, tq1_0_dequant_f16_vulkan_rounds_f16},
    {31, "y_type", 2, 1, tq1_0_dequant_bf16_vulkan_y_type}};

const qk_kernel qk_tq1_0_dequant_bf16_vulkan = {
    .abi = 22,
    .name = "tq1_0_dequant_bf16",
    .format = "tq1_0",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_dequant_halves_spirv,
    .binding_count = 2,
    .bindings = tq1_0_dequant_bf16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = tq1_0_dequant_f32_push,
    .spec_constant_count = 3,
    .spec_constants = tq1_0_dequant_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 8,
};

const qk_kernel qk_tq1_0_dequant_bf16_metal = {
    .abi = 22,
    .name = "tq1_0_dequant_bf16",
    .format = "tq1_0",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "tq1_0_dequant_bf16",
    .code = &qk_tq1_0_msl,
    .binding_count = 2,
    .bindings = tq1_0_dequant_bf16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = tq1_0_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 4,
};

static const qk_binding tq1_0_gather_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 54, 0, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};
static const qk_field tq1_0_gather_f32_push[] = {
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

const qk_kernel qk_tq1_0_gather_f32_vulkan = {
    .abi = 22,
    .name = "tq1_0_gather_f32",
    .format = "tq1_0",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gather_f32_spirv,
    .binding_count = 4,
    .bindings = tq1_0_gather_f32_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = tq1_0_gather_f32_push,
    .spec_constant_count = 1,
    .spec_constants = tq1_0_dequant_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 4,
};

const qk_kernel qk_tq1_0_gather_f32_metal = {
    .abi = 22,
    .name = "tq1_0_gather_f32",
    .format = "tq1_0",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "tq1_0_gather_f32",
    .code = &qk_tq1_0_msl,
    .binding_count = 4,
    .bindings = tq1_0_gather_f32_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = tq1_0_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 4,
};

static const qk_binding tq1_0_gather_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 54, 0, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_tq1_0_gather_f16_vulkan = {
    .abi = 22,
    .name = "tq1_0_gather_f16",
    .format = "tq1_0",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gather_halves_spirv,
    .binding_count = 4,
    .bindings = tq1_0_gather_f16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = tq1_0_gather_f32_push,
    .spec_constant_count = 3,
    .spec_constants = tq1_0_dequant_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 8,
};

const qk_kernel qk_tq1_0_gather_f16_metal = {
    .abi = 22,
    .name = "tq1_0_gather_f16",
    .format = "tq1_0",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "tq1_0_gather_f16",
    .code = &qk_tq1_0_msl,
    .binding_count = 4,
    .bindings = tq1_0_gather_f16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = tq1_0_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 4,
};

static const qk_binding tq1_0_gather_bf16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 54, 0, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_tq1_0_gather_bf16_vulkan = {
    .abi = 22,
    .name = "tq1_0_gather_bf16",
    .format = "tq1_0",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gather_halves_spirv,
    .binding_count = 4,
    .bindings = tq1_0_gather_bf16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = tq1_0_gather_f32_push,
    .spec_constant_count = 3,
    .spec_constants = tq1_0_dequant_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 8,
};

const qk_kernel qk_tq1_0_gather_bf16_metal = {
    .abi = 22,
    .name = "tq1_0_gather_bf16",
    .format = "tq1_0",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "tq1_0_gather_bf16",
    .code = &qk_tq1_0_msl,
    .binding_count = 4,
    .bindings = tq1_0_gather_bf16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = tq1_0_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 4,
};

static const qk_binding tq1_0_gemv_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 54, 0, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {3, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {4, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field tq1_0_gemv_f32_push[] = {
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
    {"second", 92, 4},
    {"third", 96, 4},
    {"weights_second", 100, 4},
    {"weights_third", 104, 4},
    {"y_second", 108, 4},
    {"y_third", 112, 4},
};
static const uint32_t tq1_0_gemv_f32_vulkan_batch[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const uint32_t tq1_0_gemv_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t tq1_0_gemv_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t tq1_0_gemv_f32_vulkan_shared_fours[] = {512, 1024, 1280, 2048, 2560};
static const uint32_t tq1_0_gemv_f32_vulkan_checked[] = {0, 1};
static const uint32_t tq1_0_gemv_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t tq1_0_gemv_f32_vulkan_schedule[] = {0, 1, 2, 4, 5};
static const uint32_t tq1_0_gemv_f32_vulkan_x_type[] = {0};
static const uint32_t tq1_0_gemv_f32_vulkan_views[] = {0, 1, 2};
static const uint32_t tq1_0_gemv_f32_vulkan_y_type[] = {0, 1, 2};
static const qk_spec_constant tq1_0_gemv_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, tq1_0_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, tq1_0_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, tq1_0_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, tq1_0_gemv_f32_vulkan_split},
    {6, "shared_fours", 512, 5, tq1_0_gemv_f32_vulkan_shared_fours},
    {12, "checked", 0, 2, tq1_0_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, tq1_0_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 5, tq1_0_gemv_f32_vulkan_schedule},
    {21, "x_type", 0, 1, tq1_0_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {46, "norm", 0, 0, 0},
    {30, "views", 0, 3, tq1_0_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};
static const qk_code *const tq1_0_gemv_f32_schedules[] = {0, &qk_tq1_0_gemv_rows_spirv, &qk_tq1_0_gemv_wide_spirv, 0,
    &qk_tq1_0_gemv_shared_spirv, &qk_tq1_0_gemv_teams_spirv};

const qk_kernel qk_tq1_0_gemv_f32_vulkan = {
    .abi = 22,
    .name = "tq1_0_gemv_f32",
    .format = "tq1_0",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gemv_rows_spirv,
    .schedules = tq1_0_gemv_f32_schedules,
    .binding_count = 7,
    .bindings = tq1_0_gemv_f32_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = tq1_0_gemv_f32_push,
    .spec_constant_count = 13,
    .spec_constants = tq1_0_gemv_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .wide_block = 256,
    .shared_tile = 17,
    .shares_wide = 0,
    .teams_tile = 17,
    .teams_kept = 64,
    .teams_block = 256,
    .sum_roundings = 122,
};

static const uint32_t tq1_0_gemv_f32_metal_batch[] = {1, 2, 4, 8};
static const uint32_t tq1_0_gemv_f32_metal_views[] = {0, 1};
static const qk_spec_constant tq1_0_gemv_f32_metal_constants[] = {{1, "batch", 1, 4, tq1_0_gemv_f32_metal_batch},
    {30, "views", 0, 2, tq1_0_gemv_f32_metal_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};

const qk_kernel qk_tq1_0_gemv_f32_metal = {
    .abi = 22,
    .name = "tq1_0_gemv_f32",
    .format = "tq1_0",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "tq1_0_gemv_f32",
    .code = &qk_tq1_0_msl,
    .binding_count = 7,
    .bindings = tq1_0_gemv_f32_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = tq1_0_gemv_f32_push,
    .spec_constant_count = 3,
    .spec_constants = tq1_0_gemv_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .sum_roundings = 122,
};

static const uint32_t tq1_0_gemv_int8_f32_vulkan_digits[] = {1};
static const uint32_t tq1_0_gemv_int8_f32_vulkan_x_packed[] = {0, 1, 2};
static const uint32_t tq1_0_gemv_int8_f32_vulkan_turns[] = {1, 4};
static const uint32_t tq1_0_gemv_int8_f32_vulkan_schedule[] = {0, 1, 2, 3, 4, 5};
static const uint32_t tq1_0_gemv_int8_f32_vulkan_lanes[] = {8, 16, 32, 64};
static const qk_spec_constant tq1_0_gemv_int8_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, tq1_0_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, tq1_0_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, tq1_0_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, tq1_0_gemv_f32_vulkan_split},
    {4, "digits", 1, 1, tq1_0_gemv_int8_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, tq1_0_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, tq1_0_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 1, 2, tq1_0_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, tq1_0_gemv_int8_f32_vulkan_turns},
    {7, "staged", 1, 4, tq1_0_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 6, tq1_0_gemv_int8_f32_vulkan_schedule},
    {14, "lanes", 32, 4, tq1_0_gemv_int8_f32_vulkan_lanes},
    {21, "x_type", 0, 1, tq1_0_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {46, "norm", 0, 0, 0},
    {30, "views", 0, 3, tq1_0_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};
static const qk_code *const tq1_0_gemv_int8_f32_schedules[] = {0, &qk_tq1_0_gemv_int8_rows_spirv, &qk_tq1_0_gemv_int8_wide_spirv,
    &qk_tq1_0_gemv_int8_ahead_spirv, &qk_tq1_0_gemv_int8_shared_spirv, &qk_tq1_0_gemv_int8_teams_spirv};

const qk_kernel qk_tq1_0_gemv_int8_f32_vulkan = {
    .abi = 22,
    .name = "tq1_0_gemv_int8_f32",
    .format = "tq1_0",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gemv_int8_rows_spirv,
    .schedules = tq1_0_gemv_int8_f32_schedules,
    .binding_count = 7,
    .bindings = tq1_0_gemv_f32_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = tq1_0_gemv_f32_push,
    .spec_constant_count = 17,
    .spec_constants = tq1_0_gemv_int8_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 128,
    .wide_block = 256,
    .shared_tile = 10,
    .shares_wide = 1,
    .teams_tile = 5,
    .teams_kept = 64,
    .teams_block = 256,
    .rows_ahead = 4,
    .ahead_kept = 128,
    .ahead_block = 512,
    .wide_loads = 12,
    .sum_roundings = 186,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 116,
};

static const uint32_t tq1_0_gemv_split_f32_vulkan_digits[] = {2};
static const qk_spec_constant tq1_0_gemv_split_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, tq1_0_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, tq1_0_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, tq1_0_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, tq1_0_gemv_f32_vulkan_split},
    {4, "digits", 2, 1, tq1_0_gemv_split_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, tq1_0_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, tq1_0_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 1, 2, tq1_0_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, tq1_0_gemv_int8_f32_vulkan_turns},
    {7, "staged", 1, 4, tq1_0_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 6, tq1_0_gemv_int8_f32_vulkan_schedule},
    {14, "lanes", 32, 4, tq1_0_gemv_int8_f32_vulkan_lanes},
    {21, "x_type", 0, 1, tq1_0_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {46, "norm", 0, 0, 0},
    {30, "views", 0, 3, tq1_0_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};

const qk_kernel qk_tq1_0_gemv_split_f32_vulkan = {
    .abi = 22,
    .name = "tq1_0_gemv_split_f32",
    .format = "tq1_0",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gemv_int8_rows_spirv,
    .schedules = tq1_0_gemv_int8_f32_schedules,
    .binding_count = 7,
    .bindings = tq1_0_gemv_f32_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = tq1_0_gemv_f32_push,
    .spec_constant_count = 17,
    .spec_constants = tq1_0_gemv_split_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 128,
    .wide_block = 256,
    .shared_tile = 19,
    .shares_wide = 1,
    .teams_tile = 10,
    .teams_kept = 64,
    .teams_block = 256,
    .rows_ahead = 4,
    .ahead_kept = 128,
    .ahead_block = 512,
    .wide_loads = 12,
    .sum_roundings = 186,
    .x_levels = 32639,
    .x_group = 128,
    .x_reach = 248,
};

static const uint32_t tq1_0_gemv_int24_f32_vulkan_digits[] = {3};
static const qk_spec_constant tq1_0_gemv_int24_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, tq1_0_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, tq1_0_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, tq1_0_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, tq1_0_gemv_f32_vulkan_split},
    {4, "digits", 3, 1, tq1_0_gemv_int24_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, tq1_0_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, tq1_0_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 1, 2, tq1_0_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, tq1_0_gemv_int8_f32_vulkan_turns},
    {7, "staged", 1, 4, tq1_0_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 6, tq1_0_gemv_int8_f32_vulkan_schedule},
    {14, "lanes", 32, 4, tq1_0_gemv_int8_f32_vulkan_lanes},
    {21, "x_type", 0, 1, tq1_0_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {46, "norm", 0, 0, 0},
    {30, "views", 0, 3, tq1_0_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};

const qk_kernel qk_tq1_0_gemv_int24_f32_vulkan = {
    .abi = 22,
    .name = "tq1_0_gemv_int24_f32",
    .format = "tq1_0",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gemv_int8_rows_spirv,
    .schedules = tq1_0_gemv_int8_f32_schedules,
    .binding_count = 7,
    .bindings = tq1_0_gemv_f32_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = tq1_0_gemv_f32_push,
    .spec_constant_count = 17,
    .spec_constants = tq1_0_gemv_int24_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 128,
    .wide_block = 256,
    .shared_tile = 28,
    .shares_wide = 1,
    .teams_tile = 14,
    .teams_kept = 64,
    .teams_block = 256,
    .rows_at_once = 4,
    .rows_ahead = 4,
    .ahead_kept = 128,
    .ahead_block = 512,
    .wide_loads = 12,
    .sum_roundings = 186,
    .x_levels = 8355708,
    .x_group = 128,
    .x_reach = 248,
};

static const qk_binding tq1_0_gemv_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 54, 0, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {3, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {4, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const uint32_t tq1_0_gemv_f16_vulkan_x_type[] = {1};
static const qk_spec_constant tq1_0_gemv_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, tq1_0_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, tq1_0_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, tq1_0_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, tq1_0_gemv_f32_vulkan_split},
    {6, "shared_fours", 512, 5, tq1_0_gemv_f32_vulkan_shared_fours},
    {12, "checked", 0, 2, tq1_0_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, tq1_0_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 5, tq1_0_gemv_f32_vulkan_schedule},
    {21, "x_type", 1, 1, tq1_0_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {46, "norm", 0, 0, 0},
    {30, "views", 0, 3, tq1_0_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};

const qk_kernel qk_tq1_0_gemv_f16_vulkan = {
    .abi = 22,
    .name = "tq1_0_gemv_f16",
    .format = "tq1_0",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gemv_rows_spirv,
    .schedules = tq1_0_gemv_f32_schedules,
    .binding_count = 7,
    .bindings = tq1_0_gemv_f16_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = tq1_0_gemv_f32_push,
    .spec_constant_count = 13,
    .spec_constants = tq1_0_gemv_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .wide_block = 256,
    .shared_tile = 17,
    .shares_wide = 0,
    .teams_tile = 17,
    .teams_kept = 64,
    .teams_block = 256,
    .sum_roundings = 122,
};

const qk_kernel qk_tq1_0_gemv_f16_metal = {
    .abi = 22,
    .name = "tq1_0_gemv_f16",
    .format = "tq1_0",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "tq1_0_gemv_f16",
    .code = &qk_tq1_0_msl,
    .binding_count = 7,
    .bindings = tq1_0_gemv_f16_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = tq1_0_gemv_f32_push,
    .spec_constant_count = 3,
    .spec_constants = tq1_0_gemv_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .sum_roundings = 122,
};

static const qk_spec_constant tq1_0_gemv_int8_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, tq1_0_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, tq1_0_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, tq1_0_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, tq1_0_gemv_f32_vulkan_split},
    {4, "digits", 1, 1, tq1_0_gemv_int8_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, tq1_0_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, tq1_0_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 1, 2, tq1_0_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, tq1_0_gemv_int8_f32_vulkan_turns},
    {7, "staged", 1, 4, tq1_0_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 6, tq1_0_gemv_int8_f32_vulkan_schedule},
    {14, "lanes", 32, 4, tq1_0_gemv_int8_f32_vulkan_lanes},
    {21, "x_type", 1, 1, tq1_0_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {46, "norm", 0, 0, 0},
    {30, "views", 0, 3, tq1_0_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};

const qk_kernel qk_tq1_0_gemv_int8_f16_vulkan = {
    .abi = 22,
    .name = "tq1_0_gemv_int8_f16",
    .format = "tq1_0",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gemv_int8_rows_spirv,
    .schedules = tq1_0_gemv_int8_f32_schedules,
    .binding_count = 7,
    .bindings = tq1_0_gemv_f16_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = tq1_0_gemv_f32_push,
    .spec_constant_count = 17,
    .spec_constants = tq1_0_gemv_int8_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 128,
    .wide_block = 256,
    .shared_tile = 10,
    .shares_wide = 1,
    .teams_tile = 5,
    .teams_kept = 64,
    .teams_block = 256,
    .rows_ahead = 4,
    .ahead_kept = 128,
    .ahead_block = 512,
    .wide_loads = 12,
    .sum_roundings = 186,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 116,
};

static const qk_spec_constant tq1_0_gemv_split_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, tq1_0_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, tq1_0_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, tq1_0_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, tq1_0_gemv_f32_vulkan_split},
    {4, "digits", 2, 1, tq1_0_gemv_split_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, tq1_0_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, tq1_0_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 1, 2, tq1_0_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, tq1_0_gemv_int8_f32_vulkan_turns},
    {7, "staged", 1, 4, tq1_0_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 6, tq1_0_gemv_int8_f32_vulkan_schedule},
    {14, "lanes", 32, 4, tq1_0_gemv_int8_f32_vulkan_lanes},
    {21, "x_type", 1, 1, tq1_0_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {46, "norm", 0, 0, 0},
    {30, "views", 0, 3, tq1_0_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};

const qk_kernel qk_tq1_0_gemv_split_f16_vulkan = {
    .abi = 22,
    .name = "tq1_0_gemv_split_f16",
    .format = "tq1_0",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gemv_int8_rows_spirv,
    .schedules = tq1_0_gemv_int8_f32_schedules,
    .binding_count = 7,
    .bindings = tq1_0_gemv_f16_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = tq1_0_gemv_f32_push,
    .spec_constant_count = 17,
    .spec_constants = tq1_0_gemv_split_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 128,
    .wide_block = 256,
    .shared_tile = 19,
    .shares_wide = 1,
    .teams_tile = 10,
    .teams_kept = 64,
    .teams_block = 256,
    .rows_ahead = 4,
    .ahead_kept = 128,
    .ahead_block = 512,
    .wide_loads = 12,
    .sum_roundings = 186,
    .x_levels = 32639,
    .x_group = 128,
    .x_reach = 248,
};

static const qk_spec_constant tq1_0_gemv_int24_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, tq1_0_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, tq1_0_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, tq1_0_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, tq1_0_gemv_f32_vulkan_split},
    {4, "digits", 3, 1, tq1_0_gemv_int24_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, tq1_0_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, tq1_0_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 1, 2, tq1_0_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, tq1_0_gemv_int8_f32_vulkan_turns},
    {7, "staged", 1, 4, tq1_0_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 6, tq1_0_gemv_int8_f32_vulkan_schedule},
    {14, "lanes", 32, 4, tq1_0_gemv_int8_f32_vulkan_lanes},
    {21, "x_type", 1, 1, tq1_0_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {46, "norm", 0, 0, 0},
    {30, "views", 0, 3, tq1_0_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};

const qk_kernel qk_tq1_0_gemv_int24_f16_vulkan = {
    .abi = 22,
    .name = "tq1_0_gemv_int24_f16",
    .format = "tq1_0",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gemv_int8_rows_spirv,
    .schedules = tq1_0_gemv_int8_f32_schedules,
    .binding_count = 7,
    .bindings = tq1_0_gemv_f16_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = tq1_0_gemv_f32_push,
    .spec_constant_count = 17,
    .spec_constants = tq1_0_gemv_int24_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 128,
    .wide_block = 256,
    .shared_tile = 28,
    .shares_wide = 1,
    .teams_tile = 14,
    .teams_kept = 64,
    .teams_block = 256,
    .rows_at_once = 4,
    .rows_ahead = 4,
    .ahead_kept = 128,
    .ahead_block = 512,
    .wide_loads = 12,
    .sum_roundings = 186,
    .x_levels = 8355708,
    .x_group = 128,
    .x_reach = 248,
};

static const qk_binding tq1_0_gemv_id_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 54, 0, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {4, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {7, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {8, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field tq1_0_gemv_id_f32_push[] = {
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
    {"sets", 72, 4},
    {"set_first", 76, 4},
    {"weights_first", 80, 4},
    {"weights_outer", 84, 4},
    {"y_outer", 88, 4},
};
static const uint32_t tq1_0_gemv_id_f32_vulkan_schedule[] = {0, 1, 2};
static const uint32_t tq1_0_gemv_id_f32_vulkan_views[] = {0, 1, 2, 3};
static const qk_spec_constant tq1_0_gemv_id_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, tq1_0_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, tq1_0_gemv_f32_vulkan_rows},
    {12, "checked", 0, 2, tq1_0_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, tq1_0_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, tq1_0_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 0, 1, tq1_0_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 4, tq1_0_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};
static const qk_code *const tq1_0_gemv_id_f32_schedules[] = {0, &qk_tq1_0_gemv_id_rows_spirv, &qk_tq1_0_gemv_id_wide_spirv};

const qk_kernel qk_tq1_0_gemv_id_f32_vulkan = {
    .abi = 22,
    .name = "tq1_0_gemv_id_f32",
    .format = "tq1_0",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gemv_id_rows_spirv,
    .schedules = tq1_0_gemv_id_f32_schedules,
    .binding_count = 9,
    .bindings = tq1_0_gemv_id_f32_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = tq1_0_gemv_id_f32_push,
    .spec_constant_count = 9,
    .spec_constants = tq1_0_gemv_id_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .wide_block = 256,
    .sum_roundings = 122,
};

static const qk_spec_constant tq1_0_gemv_id_f32_metal_constants[] = {{30, "views", 0, 2, tq1_0_gemv_f32_metal_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};

const qk_kernel qk_tq1_0_gemv_id_f32_metal = {
    .abi = 22,
    .name = "tq1_0_gemv_id_f32",
    .format = "tq1_0",
    .family = "gemv_id",
    .api = QK_API_METAL,
    .entry = "tq1_0_gemv_id_f32",
    .code = &qk_tq1_0_msl,
    .binding_count = 9,
    .bindings = tq1_0_gemv_id_f32_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = tq1_0_gemv_id_f32_push,
    .spec_constant_count = 2,
    .spec_constants = tq1_0_gemv_id_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .sum_roundings = 122,
};

static const qk_spec_constant tq1_0_gemv_id_int8_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    tq1_0_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, tq1_0_gemv_f32_vulkan_rows},
    {4, "digits", 1, 1, tq1_0_gemv_int8_f32_vulkan_digits},
    {12, "checked", 0, 2, tq1_0_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, tq1_0_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, tq1_0_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 0, 1, tq1_0_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 4, tq1_0_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};
static const qk_code *const tq1_0_gemv_id_int8_f32_schedules[] = {0, &qk_tq1_0_gemv_id_int8_rows_spirv, &qk_tq1_0_gemv_id_int8_wide_spirv};

const qk_kernel qk_tq1_0_gemv_id_int8_f32_vulkan = {
    .abi = 22,
    .name = "tq1_0_gemv_id_int8_f32",
    .format = "tq1_0",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gemv_id_int8_rows_spirv,
    .schedules = tq1_0_gemv_id_int8_f32_schedules,
    .binding_count = 9,
    .bindings = tq1_0_gemv_id_f32_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = tq1_0_gemv_id_f32_push,
    .spec_constant_count = 10,
    .spec_constants = tq1_0_gemv_id_int8_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .wide_block = 256,
    .sum_roundings = 122,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 116,
};

static const qk_spec_constant tq1_0_gemv_id_split_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    tq1_0_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, tq1_0_gemv_f32_vulkan_rows},
    {4, "digits", 2, 1, tq1_0_gemv_split_f32_vulkan_digits},
    {12, "checked", 0, 2, tq1_0_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, tq1_0_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, tq1_0_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 0, 1, tq1_0_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 4, tq1_0_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};

const qk_kernel qk_tq1_0_gemv_id_split_f32_vulkan = {
    .abi = 22,
    .name = "tq1_0_gemv_id_split_f32",
    .format = "tq1_0",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gemv_id_int8_rows_spirv,
    .schedules = tq1_0_gemv_id_int8_f32_schedules,
    .binding_count = 9,
    .bindings = tq1_0_gemv_id_f32_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = tq1_0_gemv_id_f32_push,
    .spec_constant_count = 10,
    .spec_constants = tq1_0_gemv_id_split_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .wide_block = 256,
    .sum_roundings = 122,
    .x_levels = 32639,
    .x_group = 64,
    .x_reach = 244,
};

static const qk_spec_constant tq1_0_gemv_id_int24_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    tq1_0_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, tq1_0_gemv_f32_vulkan_rows},
    {4, "digits", 3, 1, tq1_0_gemv_int24_f32_vulkan_digits},
    {12, "checked", 0, 2, tq1_0_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, tq1_0_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, tq1_0_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 0, 1, tq1_0_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 4, tq1_0_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};

const qk_kernel qk_tq1_0_gemv_id_int24_f32_vulkan = {
    .abi = 22,
    .name = "tq1_0_gemv_id_int24_f32",
    .format = "tq1_0",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gemv_id_int8_rows_spirv,
    .schedules = tq1_0_gemv_id_int8_f32_schedules,
    .binding_count = 9,
    .bindings = tq1_0_gemv_id_f32_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = tq1_0_gemv_id_f32_push,
    .spec_constant_count = 10,
    .spec_constants = tq1_0_gemv_id_int24_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .wide_block = 256,
    .sum_roundings = 122,
    .x_levels = 8355708,
    .x_group = 64,
    .x_reach = 244,
};

static const qk_binding tq1_0_gemv_id_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 54, 0, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {4, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {7, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {8, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_spec_constant tq1_0_gemv_id_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, tq1_0_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, tq1_0_gemv_f32_vulkan_rows},
    {12, "checked", 0, 2, tq1_0_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, tq1_0_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, tq1_0_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 1, 1, tq1_0_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 4, tq1_0_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};

const qk_kernel qk_tq1_0_gemv_id_f16_vulkan = {
    .abi = 22,
    .name = "tq1_0_gemv_id_f16",
    .format = "tq1_0",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gemv_id_rows_spirv,
    .schedules = tq1_0_gemv_id_f32_schedules,
    .binding_count = 9,
    .bindings = tq1_0_gemv_id_f16_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = tq1_0_gemv_id_f32_push,
    .spec_constant_count = 9,
    .spec_constants = tq1_0_gemv_id_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .wide_block = 256,
    .sum_roundings = 122,
};

const qk_kernel qk_tq1_0_gemv_id_f16_metal = {
    .abi = 22,
    .name = "tq1_0_gemv_id_f16",
    .format = "tq1_0",
    .family = "gemv_id",
    .api = QK_API_METAL,
    .entry = "tq1_0_gemv_id_f16",
    .code = &qk_tq1_0_msl,
    .binding_count = 9,
    .bindings = tq1_0_gemv_id_f16_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = tq1_0_gemv_id_f32_push,
    .spec_constant_count = 2,
    .spec_constants = tq1_0_gemv_id_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .sum_roundings = 122,
};

static const qk_spec_constant tq1_0_gemv_id_int8_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    tq1_0_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, tq1_0_gemv_f32_vulkan_rows},
    {4, "digits", 1, 1, tq1_0_gemv_int8_f32_vulkan_digits},
    {12, "checked", 0, 2, tq1_0_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, tq1_0_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, tq1_0_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 1, 1, tq1_0_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 4, tq1_0_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};

const qk_kernel qk_tq1_0_gemv_id_int8_f16_vulkan = {
    .abi = 22,
    .name = "tq1_0_gemv_id_int8_f16",
    .format = "tq1_0",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gemv_id_int8_rows_spirv,
    .schedules = tq1_0_gemv_id_int8_f32_schedules,
    .binding_count = 9,
    .bindings = tq1_0_gemv_id_f16_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = tq1_0_gemv_id_f32_push,
    .spec_constant_count = 10,
    .spec_constants = tq1_0_gemv_id_int8_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .wide_block = 256,
    .sum_roundings = 122,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 116,
};

static const qk_spec_constant tq1_0_gemv_id_split_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    tq1_0_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, tq1_0_gemv_f32_vulkan_rows},
    {4, "digits", 2, 1, tq1_0_gemv_split_f32_vulkan_digits},
    {12, "checked", 0, 2, tq1_0_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, tq1_0_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, tq1_0_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 1, 1, tq1_0_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 4, tq1_0_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};

const qk_kernel qk_tq1_0_gemv_id_split_f16_vulkan = {
    .abi = 22,
    .name = "tq1_0_gemv_id_split_f16",
    .format = "tq1_0",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gemv_id_int8_rows_spirv,
    .schedules = tq1_0_gemv_id_int8_f32_schedules,
    .binding_count = 9,
    .bindings = tq1_0_gemv_id_f16_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = tq1_0_gemv_id_f32_push,
    .spec_constant_count = 10,
    .spec_constants = tq1_0_gemv_id_split_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .wide_block = 256,
    .sum_roundings = 122,
    .x_levels = 32639,
    .x_group = 64,
    .x_reach = 244,
};

static const qk_spec_constant tq1_0_gemv_id_int24_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6,
    tq1_0_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, tq1_0_gemv_f32_vulkan_rows},
    {4, "digits", 3, 1, tq1_0_gemv_int24_f32_vulkan_digits},
    {12, "checked", 0, 2, tq1_0_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, tq1_0_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, tq1_0_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 1, 1, tq1_0_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 4, tq1_0_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, tq1_0_gemv_f32_vulkan_y_type}};

const qk_kernel qk_tq1_0_gemv_id_int24_f16_vulkan = {
    .abi = 22,
    .name = "tq1_0_gemv_id_int24_f16",
    .format = "tq1_0",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_gemv_id_int8_rows_spirv,
    .schedules = tq1_0_gemv_id_int8_f32_schedules,
    .binding_count = 9,
    .bindings = tq1_0_gemv_id_f16_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = tq1_0_gemv_id_f32_push,
    .spec_constant_count = 10,
    .spec_constants = tq1_0_gemv_id_int24_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .wide_block = 256,
    .sum_roundings = 122,
    .x_levels = 8355708,
    .x_group = 64,
    .x_reach = 244,
};

static const qk_binding tq1_0_encode_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U16, 54, 0, 0, 0, 0},
    {1, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const uint32_t tq1_0_encode_f32_vulkan_local_size_x[] = {32, 64, 128, 256};
static const qk_spec_constant tq1_0_encode_f32_vulkan_constants[] = {{0, "local_size_x", 128, 4, tq1_0_encode_f32_vulkan_local_size_x},
    {21, "x_type", 0, 1, tq1_0_gemv_f32_vulkan_x_type}};

const qk_kernel qk_tq1_0_encode_f32_vulkan = {
    .abi = 22,
    .name = "tq1_0_encode_f32",
    .format = "tq1_0",
    .family = "encode",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_encode_spirv,
    .binding_count = 2,
    .bindings = tq1_0_encode_f32_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = tq1_0_dequant_f32_push,
    .spec_constant_count = 2,
    .spec_constants = tq1_0_encode_f32_vulkan_constants,
    .workgroup_size = 128,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 32,
};

const qk_kernel qk_tq1_0_encode_f32_metal = {
    .abi = 22,
    .name = "tq1_0_encode_f32",
    .format = "tq1_0",
    .family = "encode",
    .api = QK_API_METAL,
    .entry = "tq1_0_encode_f32",
    .code = &qk_tq1_0_msl,
    .binding_count = 2,
    .bindings = tq1_0_encode_f32_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = tq1_0_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 256,
};

static const qk_binding tq1_0_encode_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U16, 54, 0, 0, 0, 0},
    {1, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
};
static const qk_spec_constant tq1_0_encode_f16_vulkan_constants[] = {{0, "local_size_x", 128, 4, tq1_0_encode_f32_vulkan_local_size_x},
    {21, "x_type", 1, 1, tq1_0_gemv_f16_vulkan_x_type}};

const qk_kernel qk_tq1_0_encode_f16_vulkan = {
    .abi = 22,
    .name = "tq1_0_encode_f16",
    .format = "tq1_0",
    .family = "encode",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_encode_spirv,
    .binding_count = 2,
    .bindings = tq1_0_encode_f16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = tq1_0_dequant_f32_push,
    .spec_constant_count = 2,
    .spec_constants = tq1_0_encode_f16_vulkan_constants,
    .workgroup_size = 128,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 32,
};

const qk_kernel qk_tq1_0_encode_f16_metal = {
    .abi = 22,
    .name = "tq1_0_encode_f16",
    .format = "tq1_0",
    .family = "encode",
    .api = QK_API_METAL,
    .entry = "tq1_0_encode_f16",
    .code = &qk_tq1_0_msl,
    .binding_count = 2,
    .bindings = tq1_0_encode_f16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = tq1_0_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 256,
};

static const qk_binding tq1_0_encode_bf16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U16, 54, 0, 0, 0, 0},
    {1, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_BF16, 0, 0, 0, 0, 0},
};
static const uint32_t tq1_0_encode_bf16_vulkan_x_type[] = {2};
static const qk_spec_constant tq1_0_encode_bf16_vulkan_constants[] = {{0, "local_size_x", 128, 4, tq1_0_encode_f32_vulkan_local_size_x},
    {21, "x_type", 2, 1, tq1_0_encode_bf16_vulkan_x_type}};

const qk_kernel qk_tq1_0_encode_bf16_vulkan = {
    .abi = 22,
    .name = "tq1_0_encode_bf16",
    .format = "tq1_0",
    .family = "encode",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_encode_spirv,
    .binding_count = 2,
    .bindings = tq1_0_encode_bf16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = tq1_0_dequant_f32_push,
    .spec_constant_count = 2,
    .spec_constants = tq1_0_encode_bf16_vulkan_constants,
    .workgroup_size = 128,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 32,
};

const qk_kernel qk_tq1_0_encode_bf16_metal = {
    .abi = 22,
    .name = "tq1_0_encode_bf16",
    .format = "tq1_0",
    .family = "encode",
    .api = QK_API_METAL,
    .entry = "tq1_0_encode_bf16",
    .code = &qk_tq1_0_msl,
    .binding_count = 2,
    .bindings = tq1_0_encode_bf16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = tq1_0_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 256,
};

static const qk_binding tq1_0_set_rows_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U16, 54, 0, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {2, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_tq1_0_set_rows_f32_vulkan = {
    .abi = 22,
    .name = "tq1_0_set_rows_f32",
    .format = "tq1_0",
    .family = "set_rows",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_set_rows_spirv,
    .binding_count = 4,
    .bindings = tq1_0_set_rows_f32_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = tq1_0_gather_f32_push,
    .spec_constant_count = 2,
    .spec_constants = tq1_0_encode_f32_vulkan_constants,
    .workgroup_size = 128,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 32,
};

const qk_kernel qk_tq1_0_set_rows_f32_metal = {
    .abi = 22,
    .name = "tq1_0_set_rows_f32",
    .format = "tq1_0",
    .family = "set_rows",
    .api = QK_API_METAL,
    .entry = "tq1_0_set_rows_f32",
    .code = &qk_tq1_0_msl,
    .binding_count = 4,
    .bindings = tq1_0_set_rows_f32_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = tq1_0_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 256,
};

static const qk_binding tq1_0_set_rows_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U16, 54, 0, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {2, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_tq1_0_set_rows_f16_vulkan = {
    .abi = 22,
    .name = "tq1_0_set_rows_f16",
    .format = "tq1_0",
    .family = "set_rows",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_set_rows_spirv,
    .binding_count = 4,
    .bindings = tq1_0_set_rows_f16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = tq1_0_gather_f32_push,
    .spec_constant_count = 2,
    .spec_constants = tq1_0_encode_f16_vulkan_constants,
    .workgroup_size = 128,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 32,
};

const qk_kernel qk_tq1_0_set_rows_f16_metal = {
    .abi = 22,
    .name = "tq1_0_set_rows_f16",
    .format = "tq1_0",
    .family = "set_rows",
    .api = QK_API_METAL,
    .entry = "tq1_0_set_rows_f16",
    .code = &qk_tq1_0_msl,
    .binding_count = 4,
    .bindings = tq1_0_set_rows_f16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = tq1_0_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 256,
};

static const qk_binding tq1_0_set_rows_bf16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U16, 54, 0, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {2, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_BF16, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_tq1_0_set_rows_bf16_vulkan = {
    .abi = 22,
    .name = "tq1_0_set_rows_bf16",
    .format = "tq1_0",
    .family = "set_rows",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_tq1_0_set_rows_spirv,
    .binding_count = 4,
    .bindings = tq1_0_set_rows_bf16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = tq1_0_gather_f32_push,
    .spec_constant_count = 2,
    .spec_constants = tq1_0_encode_bf16_vulkan_constants,
    .workgroup_size = 128,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 32,
};

const qk_kernel qk_tq1_0_set_rows_bf16_metal = {
    .abi = 22,
    .name = "tq1_0_set_rows_bf16",
    .format = "tq1_0",
    .family = "set_rows",
    .api = QK_API_METAL,
    .entry = "tq1_0_set_rows_bf16",
    .code = &qk_tq1_0_msl,
    .binding_count = 4,
    .bindings = tq1_0_set_rows_bf16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = tq1_0_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 256,
};

static const qk_kernel *const tq1_0_all[] = {
    &qk_tq1_0_dequant_f32_vulkan,
    &qk_tq1_0_dequant_f32_metal,
    &qk_tq1_0_dequant_f16_vulkan,
    &qk_tq1_0_dequant_f16_metal,
    &qk_tq1_0_dequant_bf16_vulkan,
    &qk_tq1_0_dequant_bf16_metal,
    &qk_tq1_0_gather_f32_vulkan,
    &qk_tq1_0_gather_f32_metal,
    &qk_tq1_0_gather_f16_vulkan,
    &qk_tq1_0_gather_f16_metal,
    &qk_tq1_0_gather_bf16_vulkan,
    &qk_tq1_0_gather_bf16_metal,
    &qk_tq1_0_gemv_f32_vulkan,
    &qk_tq1_0_gemv_f32_metal,
    &qk_tq1_0_gemv_int8_f32_vulkan,
    &qk_tq1_0_gemv_split_f32_vulkan,
    &qk_tq1_0_gemv_int24_f32_vulkan,
    &qk_tq1_0_gemv_f16_vulkan,
    &qk_tq1_0_gemv_f16_metal,
    &qk_tq1_0_gemv_int8_f16_vulkan,
    &qk_tq1_0_gemv_split_f16_vulkan,
    &qk_tq1_0_gemv_int24_f16_vulkan,
    &qk_tq1_0_gemv_id_f32_vulkan,
    &qk_tq1_0_gemv_id_f32_metal,
    &qk_tq1_0_gemv_id_int8_f32_vulkan,
    &qk_tq1_0_gemv_id_split_f32_vulkan,
    &qk_tq1_0_gemv_id_int24_f32_vulkan,
    &qk_tq1_0_gemv_id_f16_vulkan,
    &qk_tq1_0_gemv_id_f16_metal,
    &qk_tq1_0_gemv_id_int8_f16_vulkan,
    &qk_tq1_0_gemv_id_split_f16_vulkan,
    &qk_tq1_0_gemv_id_int24_f16_vulkan,
    &qk_tq1_0_encode_f32_vulkan,
    &qk_tq1_0_encode_f32_metal,
    &qk_tq1_0_encode_f16_vulkan,
    &qk_tq1_0_encode_f16_metal,
    &qk_tq1_0_encode_bf16_vulkan,
    &qk_tq1_0_encode_bf16_metal,
    &qk_tq1_0_set_rows_f32_vulkan,
    &qk_tq1_0_set_rows_f32_metal,
    &qk_tq1_0_set_rows_f16_vulkan,
    &qk_tq1_0_set_rows_f16_metal,
    &qk_tq1_0_set_rows_bf16_vulkan,
    &qk_tq1_0_set_rows_bf16_metal,
};

const qk_kernel_set qk_tq1_0_kernels = {"tq1_0", 44, tq1_0_all, 0};

/* ---- dispatch ---- */

qk_status qk_tq1_0_dequant_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_tq1_0_dequant_f32_metal : &qk_tq1_0_dequant_f32_vulkan;
    return qk_dispatch_dequant(backend, kernel, weights, dst, elements, error);
}

qk_status qk_tq1_0_dequant_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_tq1_0_dequant_f16_metal : &qk_tq1_0_dequant_f16_vulkan;
    return qk_dispatch_dequant(backend, kernel, weights, dst, elements, error);
}

qk_status qk_tq1_0_dequant_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_tq1_0_dequant_bf16_metal : &qk_tq1_0_dequant_bf16_vulkan;
    return qk_dispatch_dequant(backend, kernel, weights, dst, elements, error);
}

qk_status qk_tq1_0_gather_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_tq1_0_gather_f32_metal : &qk_tq1_0_gather_f32_vulkan;
    return qk_dispatch_gather(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_tq1_0_gather_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_tq1_0_gather_f16_metal : &qk_tq1_0_gather_f16_vulkan;
    return qk_dispatch_gather(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_tq1_0_gather_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_tq1_0_gather_bf16_metal : &qk_tq1_0_gather_bf16_vulkan;
    return qk_dispatch_gather(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_tq1_0_gemv_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_tq1_0_gemv_f32_metal : &qk_tq1_0_gemv_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_tq1_0_gemv_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_tq1_0_gemv_int8_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_tq1_0_gemv_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_tq1_0_gemv_split_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_tq1_0_gemv_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_tq1_0_gemv_int24_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_tq1_0_gemv_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_tq1_0_gemv_f16_metal : &qk_tq1_0_gemv_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_tq1_0_gemv_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_tq1_0_gemv_int8_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_tq1_0_gemv_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_tq1_0_gemv_split_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_tq1_0_gemv_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_tq1_0_gemv_int24_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_tq1_0_gemv_id_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_tq1_0_gemv_id_f32_metal : &qk_tq1_0_gemv_id_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_tq1_0_gemv_id_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_tq1_0_gemv_id_int8_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_tq1_0_gemv_id_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_tq1_0_gemv_id_split_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_tq1_0_gemv_id_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_tq1_0_gemv_id_int24_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_tq1_0_gemv_id_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_tq1_0_gemv_id_f16_metal : &qk_tq1_0_gemv_id_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_tq1_0_gemv_id_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_tq1_0_gemv_id_int8_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_tq1_0_gemv_id_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_tq1_0_gemv_id_split_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_tq1_0_gemv_id_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_tq1_0_gemv_id_int24_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_tq1_0_encode_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_tq1_0_encode_f32_metal : &qk_tq1_0_encode_f32_vulkan;
    return qk_dispatch_encode(backend, kernel, weights, src, elements, error);
}

qk_status qk_tq1_0_encode_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_tq1_0_encode_f16_metal : &qk_tq1_0_encode_f16_vulkan;
    return qk_dispatch_encode(backend, kernel, weights, src, elements, error);
}

qk_status qk_tq1_0_encode_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_tq1_0_encode_bf16_metal : &qk_tq1_0_encode_bf16_vulkan;
    return qk_dispatch_encode(backend, kernel, weights, src, elements, error);
}

qk_status qk_tq1_0_set_rows_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_tq1_0_set_rows_f32_metal : &qk_tq1_0_set_rows_f32_vulkan;
    return qk_dispatch_set_rows(backend, kernel, weights, indices, src, status, rows, cols, tokens, error);
}

qk_status qk_tq1_0_set_rows_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_tq1_0_set_rows_f16_metal : &qk_tq1_0_set_rows_f16_vulkan;
    return qk_dispatch_set_rows(backend, kernel, weights, indices, src, status, rows, cols, tokens, error);
}

qk_status qk_tq1_0_set_rows_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_tq1_0_set_rows_bf16_metal
        : &qk_tq1_0_set_rows_bf16_vulkan;
    return qk_dispatch_set_rows(backend, kernel, weights, indices, src, status, rows, cols, tokens, error);
}
