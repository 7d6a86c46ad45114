/* q4_K: reference decoder, descriptors and dispatch stubs.
 * Generated from the specification below by `qkgen emit --format q4_K`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 144 bytes for 256 elements, 4.5 bits each.
 * dequant, gather in f32: for each weight 0.562 bytes read and 4 written, 12.8 operations: 0.75 loads, 5.12 bits, 2.62 integer, 2.5 float,
 * 1.75 conversions.
 * gemv, gemv_id in f32: for each weight 0.562 bytes read, 4.17 operations: 0.0781 loads, 1.02 bits, 0.328 integer, 2.16 float, 0.594
 * conversions.
 *     format q4_K "4-bit codes, 6-bit scales and minimums in groups of 32"
 *     from "ggml (llama.cpp), ggml-common.h"
 *     block 256 {
 *         d:      f16
 *         dmin:   f16
 *         scales: u8[12]
 *         qs:     u8[128]
 *     }
 *     # Groups 0 to 3 have their six bits in one byte; groups 4 to 7 borrow the two high bits of those bytes.
 *     code sc per 32 = scales { 4 @ 0 (4:8, 2:64)   2 @ 4 (4:8, 2:2) }
 *     code mn per 32 = scales { 4 @ 32 (4:8, 2:36)  2 @ 36 (4:8, 2:2) }
 *     # 32 low nibbles, 32 high nibbles, and so on in steps of 32 bytes.
 *     code q = qs { 4 @ 0 (32:8, 2:4, 4:256) }
 *     value = d * sc * q - dmin * mn
 *     # ggml's quantize_row_q4_K_ref. For each group 22 steps are tried: each gives codes, and the codes a scale and a minimum by weighted
 *     # least squares; those with the least error are kept. Scales and minimums are then rounded to 6 bits, and all codes made again.
 *     encode {
 *         mean per 32 = sqrt(sum(x * x) / 32.0)
 *         w per 1 = mean + abs(x)
 *         lo per 32 = min(min(x), 0.0)
 *         hi per 32 = max(x)
 *         sw per 32 = sum(w)
 *         sx per 32 = sum(w * x)
 *         best per 32 of t in 22 {
 *             base = t == 0 ? lo : kept(low)
 *             r = (t == 0 ? 15.0 : -1.0 + 0.1 * (t - 1) + 15.0) / (hi - base)
 *             l per 1 = even(r * (x - base), 0, 15)
 *             sl = sum(w * l)
 *             sll = sum(w * l * l)
 *             sxl = sum(w * l * x)
 *             det = sw * sll - sl * sl
 *             m = (sll * sx - sl * sxl) / det
 *             g = t == 0 ? 1.0 / r : m > 0.0 ? sxl / sll : (sw * sxl - sx * sl) / det
 *             low = t == 0 ? lo : m > 0.0 ? 0.0 : m
 *             off per 1 = g * l + low - x
 *             error = sum(w * (off * off))
 *         } where (det > 0.0 ? error : kept(error)) < kept(error)
 *         same per 32 = hi == lo ? 1 : 0
 *         gf per 32 = same ? 0.0 : g
 *         mf per 32 = same ? -lo : -low
 *         gs = max(0.0, max(gf))
 *         ms = max(0.0, max(mf))
 *         gr = gs > 0.0 ? 63.0 / gs : 0.0
 *         mr = ms > 0.0 ? 63.0 / ms : 0.0
 *         d = gs / 63.0
 *         dmin = ms / 63.0
 *         sc = min(even(gr * gf, -128, 63) & 255, 63)    # a scale below 0, which is rare, becomes 63
 *         mn = even(mr * mf, 0, 63)
 *         ds per 32 = d * sc
 *         dm per 32 = dmin * mn
 *         q = ds == 0.0 ? (same ? 0 : even(r * (x - base), 0, 15)) : even((x + dm) / ds, 0, 15)
 *     }
 */
#include "q4_K.h"

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
    const uint8_t *const blocks = (const uint8_t *)from[0] + index / 256u * 144u;
    const uint32_t i = (uint32_t)(index % 256u);
    const float d = qk_f16_to_f32((uint32_t)blocks[0u] | ((uint32_t)blocks[1u] << 8u));
    const uint32_t scales0 = (uint32_t)blocks[i / 32u / 4u * 8u + i / 32u % 4u + 4u], sc_lo = scales0 & 15u;  // scales: bits 0-3 of sc
    const uint32_t scales1 = (uint32_t)blocks[i / 32u % 4u + 4u];
    const uint32_t sc_hi = (scales1 >> (i / 32u / 4u * 2u + 4u)) & 3u;  // scales: bits 4-5 of sc
    const uint32_t sc = sc_lo | (sc_hi << 4u), qs = (uint32_t)blocks[i / 32u / 2u * 32u + i % 32u + 16u];
    const uint32_t q = (qs >> (i / 32u % 2u * 4u)) & 15u;  // qs: 4 bits
    const float dmin = qk_f16_to_f32((uint32_t)blocks[2u] | ((uint32_t)blocks[3u] << 8u));
    const uint32_t scales2 = (uint32_t)blocks[i / 32u + 8u], mn_lo = (scales2 >> (i / 32u / 4u * 4u)) & 15u;  // scales: bits 0-3 of mn
    const uint32_t scales3 = (uint32_t)blocks[i / 32u % 4u + 8u];
    const uint32_t mn_hi = (scales3 >> (i / 32u / 4u * 2u + 4u)) & 3u;  // scales: bits 4-5 of mn
    const uint32_t mn = mn_lo | (mn_hi << 4u);
    return d * (float)sc * (float)q - dmin * (float)mn;
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

static inline uint32_t qk_bits_of_f32(float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return v != v ? 0x7FC00000u : bits;
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

static inline float qk_root(float v) {
    uint32_t bits = qk_bits_of_f32(v);
    if ((bits & 0x7FFFFFFFu) == 0 || bits == 0x7F800000u) return v;
    if (bits > 0x7F800000u) return qk_bits_to_f32(0x7FC00000u);
    int32_t exponent = (int32_t)(bits >> 23) - 127;
    uint32_t rest = (bits & 0x7FFFFFu) | 0x800000u, root = 0, sum = 0;
    if (exponent == -127) {
        for (rest = bits, exponent = -126; rest < 0x800000u; rest <<= 1) --exponent;
    }
    if (exponent % 2) {
        rest <<= 1;
        --exponent;
    }
    rest <<= 1;
    for (uint32_t digit = 0x1000000u; digit; digit >>= 1) {
        if (sum + digit <= rest) {
            rest -= sum + digit;
            sum += 2u * digit;
            root += digit;
        }
        rest <<= 1;
    }
    if (rest) root += root & 1u;
    return qk_bits_to_f32((root >> 1) + (uint32_t)(0x3F000000 + exponent / 2 * 0x800000));
}

/* Makes a block of floats. */
static void qk_encode(const float *qk_x, uint8_t *blocks) {
    uint32_t qk_words_blocks[36] = {0};
    float qk_all_base[8];
    float qk_all_r[8];
    int32_t qk_all_same[8];
    float qk_all_gf[8];
    float qk_all_mf[8];
    for (int32_t qk_g = 0; qk_g < 8; ++qk_g) {
        float qk_0 = 0.0f;
        for (int32_t qk_i = 0; qk_i < 32; ++qk_i) {
            qk_0 = qk_0 + (qk_x[(qk_g * 32 + qk_i)] * qk_x[(qk_g * 32 + qk_i)]);
        }
        const float mean = qk_root(qk_0 / 32.0f);
        float qk_3 = qk_bits_to_f32(0x7F800000u);
        for (int32_t qk_i = 0; qk_i < 32; ++qk_i) {
            const float qk_4 = qk_x[(qk_g * 32 + qk_i)];
            if (qk_4 < qk_3) qk_3 = qk_4;
        }
        const float qk_1 = qk_3;
        const float qk_2 = 0.0f;
        const float lo = (qk_2 < qk_1 ? qk_2 : qk_1);
        float hi = qk_bits_to_f32(0xFF800000u);
        float sw = 0.0f;
        float sx = 0.0f;
        for (int32_t qk_i = 0; qk_i < 32; ++qk_i) {
            const float qk_5 = qk_x[(qk_g * 32 + qk_i)];
            if (qk_5 > hi) hi = qk_5;
            const float w = mean + fabsf(qk_x[(qk_g * 32 + qk_i)]);
            sw = sw + w;
            sx = sx + (w * qk_x[(qk_g * 32 + qk_i)]);
        }
        float base = 0;
        float r = 0;
        float g = 0;
        float low = 0;
        float error = 0;
        for (int32_t qk_6 = 0; qk_6 < 22; ++qk_6) {
            const float qk_try_base = (qk_6 == 0) ? lo : low;
            const float qk_try_r = ((qk_6 == 0) ? 15.0f : (((-1.0f) + (0.1f * (float)(qk_6 - 1))) + 15.0f)) / (hi - qk_try_base);
            float qk_try_sl = 0.0f;
            float qk_try_sll = 0.0f;
            float qk_try_sxl = 0.0f;
            for (int32_t qk_i = 0; qk_i < 32; ++qk_i) {
                const float w = mean + fabsf(qk_x[(qk_g * 32 + qk_i)]);
                const int32_t l = qk_clamped(qk_even(qk_try_r * (qk_x[(qk_g * 32 + qk_i)] - qk_try_base)), 0, 15);
                qk_try_sl = qk_try_sl + (w * (float)l);
                qk_try_sll = qk_try_sll + ((w * (float)l) * (float)l);
                qk_try_sxl = qk_try_sxl + ((w * (float)l) * qk_x[(qk_g * 32 + qk_i)]);
            }
            const float qk_try_det = (sw * qk_try_sll) - (qk_try_sl * qk_try_sl);
            const float qk_try_m = ((qk_try_sll * sx) - (qk_try_sl * qk_try_sxl)) / qk_try_det;
            const float qk_try_g = (qk_6 == 0) ? (1.0f / qk_try_r)
                : ((qk_try_m > 0.0f) ? (qk_try_sxl / qk_try_sll) : (((sw * qk_try_sxl) - (sx * qk_try_sl)) / qk_try_det));
            const float qk_try_low = (qk_6 == 0) ? lo : ((qk_try_m > 0.0f) ? 0.0f : qk_try_m);
            float qk_try_error = 0.0f;
            for (int32_t qk_i = 0; qk_i < 32; ++qk_i) {
                const float w = mean + fabsf(qk_x[(qk_g * 32 + qk_i)]);
                const int32_t l = qk_clamped(qk_even(qk_try_r * (qk_x[(qk_g * 32 + qk_i)] - qk_try_base)), 0, 15);
                const float off = ((qk_try_g * (float)l) + qk_try_low) - qk_x[(qk_g * 32 + qk_i)];
                qk_try_error = qk_try_error + (w * (off * off));
            }
            if (qk_6 == 0 || (((qk_try_det > 0.0f) ? qk_try_error : error) < error)) {
                base = qk_try_base;
                r = qk_try_r;
                g = qk_try_g;
                low = qk_try_low;
                error = qk_try_error;
            }
        }
        const int32_t same = (hi == lo) ? 1 : 0;
        const float gf = (same != 0) ? 0.0f : g;
        const float mf = (same != 0) ? (-lo) : (-low);
        qk_all_base[qk_g] = base;
        qk_all_r[qk_g] = r;
        qk_all_same[qk_g] = same;
        qk_all_gf[qk_g] = gf;
        qk_all_mf[qk_g] = mf;
    }
    const float qk_7 = 0.0f;
    float qk_9 = qk_bits_to_f32(0xFF800000u);
    for (int32_t qk_i = 0; qk_i < 8; ++qk_i) {
        const float qk_10 = qk_all_gf[qk_i];
        if (qk_10 > qk_9) qk_9 = qk_10;
    }
    const float qk_8 = qk_9;
    const float gs = (qk_7 < qk_8 ? qk_8 : qk_7);
    const float qk_11 = 0.0f;
    float qk_13 = qk_bits_to_f32(0xFF800000u);
    for (int32_t qk_i = 0; qk_i < 8; ++qk_i) {
        const float qk_14 = qk_all_mf[qk_i];
        if (qk_14 > qk_13) qk_13 = qk_14;
    }
    const float qk_12 = qk_13;
    const float ms = (qk_11 < qk_12 ? qk_12 : qk_11);
    const float gr = (gs > 0.0f) ? (63.0f / gs) : 0.0f;
    const float mr = (ms > 0.0f) ? (63.0f / ms) : 0.0f;
    uint32_t qk_bits_d = qk_bits_of_f16(gs / 63.0f);
    const float d = qk_f16_to_f32(qk_bits_d);
    {
        const int32_t qk_at = 0;
        qk_words_blocks[qk_at >> 5] |= (qk_bits_d & 0xFFFFu) << (qk_at & 31);
    }
    uint32_t qk_bits_dmin = qk_bits_of_f16(ms / 63.0f);
    const float dmin = qk_f16_to_f32(qk_bits_dmin);
    {
        const int32_t qk_at = 16;
        qk_words_blocks[qk_at >> 5] |= (qk_bits_dmin & 0xFFFFu) << (qk_at & 31);
    }
    float qk_all_ds[8];
    float qk_all_dm[8];
    for (int32_t qk_g = 0; qk_g < 8; ++qk_g) {
        const int32_t qk_15 = qk_clamped(qk_even(gr * qk_all_gf[qk_g]), -128, 63) & 255;
        const int32_t qk_16 = 63;
        const int32_t sc = (qk_16 < qk_15 ? qk_16 : qk_15);
        const uint32_t qk_bits_sc = (uint32_t)sc;
        {
            const int32_t qk_at = 32 + (qk_g) % 4 * 8 + qk_g / 4 * 64;
            qk_words_blocks[qk_at >> 5] |= (qk_bits_sc & 0xFu) << (qk_at & 31);
        }
        {
            const int32_t qk_at = 36 + (qk_g) % 4 * 8 + qk_g / 4 * 2;
            qk_words_blocks[qk_at >> 5] |= (qk_bits_sc >> 4 & 0x3u) << (qk_at & 31);
        }
        const int32_t mn = qk_clamped(qk_even(mr * qk_all_mf[qk_g]), 0, 63);
        const uint32_t qk_bits_mn = (uint32_t)mn;
        {
            const int32_t qk_at = 64 + (qk_g) % 4 * 8 + qk_g / 4 * 36;
            qk_words_blocks[qk_at >> 5] |= (qk_bits_mn & 0xFu) << (qk_at & 31);
        }
        {
            const int32_t qk_at = 68 + (qk_g) % 4 * 8 + qk_g / 4 * 2;
            qk_words_blocks[qk_at >> 5] |= (qk_bits_mn >> 4 & 0x3u) << (qk_at & 31);
        }
        const float ds = d * (float)sc;
        const float dm = dmin * (float)mn;
        qk_all_ds[qk_g] = ds;
        qk_all_dm[qk_g] = dm;
    }
    for (int32_t qk_i = 0; qk_i < 256; ++qk_i) {
        const int32_t q = (qk_all_ds[qk_i / 32] == 0.0f)
            ? ((qk_all_same[qk_i / 32] != 0) ? 0 : qk_clamped(qk_even(qk_all_r[qk_i / 32] * (qk_x[qk_i] - qk_all_base[qk_i / 32])), 0, 15))
            : qk_clamped(qk_even((qk_x[qk_i] + qk_all_dm[qk_i / 32]) / qk_all_ds[qk_i / 32]), 0, 15);
        const uint32_t qk_bits_q = (uint32_t)q;
        {
            const int32_t qk_at = 128 + (qk_i) % 32 * 8 + (qk_i / 32) % 2 * 4 + qk_i / 64 * 256;
            qk_words_blocks[qk_at >> 5] |= (qk_bits_q & 0xFu) << (qk_at & 31);
        }
    }
    for (int32_t qk_j = 0; qk_j < 144; ++qk_j) {
        blocks[qk_j] = (uint8_t)(qk_words_blocks[qk_j >> 2] >> (qk_j & 3) * 8);
    }
}

void qk_q4_K_dequant_f32_ref(const void *const weights[1],
    uint64_t elements, float *dst) {
    for (uint64_t i = 0; i < elements; ++i) dst[i] = value_at(weights, i);
}

void qk_q4_K_dequant_f16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst) {
    for (uint64_t i = 0; i < elements; ++i) dst[i] = f16_at(weights, i);
}

void qk_q4_K_dequant_bf16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst) {
    for (uint64_t i = 0; i < elements; ++i) dst[i] = bf16_at(weights, i);
}

/* Returns how many indices are out of range; their rows are zeros. */
uint64_t qk_q4_K_gather_f32_ref(const void *const weights[1],
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
uint64_t qk_q4_K_gather_f16_ref(const void *const weights[1],
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
uint64_t qk_q4_K_gather_bf16_ref(const void *const weights[1],
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
void qk_q4_K_gemv_f32_ref(const void *const weights[1],
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
void qk_q4_K_gemv_f16_ref(const void *const weights[1],
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
uint64_t qk_q4_K_gemv_id_f32_ref(const void *const weights[1],
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
uint64_t qk_q4_K_gemv_id_f16_ref(const void *const weights[1],
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

void qk_q4_K_encode_f32_ref(void *const weights[1],
    uint64_t elements, const float *src) {
    for (uint64_t i = 0; i < elements / 256u; ++i) {
        qk_encode(src + i * 256u, (uint8_t *)weights[0] + i * 144u);
    }
}

void qk_q4_K_encode_f16_ref(void *const weights[1],
    uint64_t elements, const uint16_t *src) {
    for (uint64_t i = 0; i < elements / 256u; ++i) {
        float x[256u];
        for (uint32_t e = 0; e < 256u; ++e) x[e] = qk_f16_to_f32(src[i * 256u + e]);
        qk_encode(x, (uint8_t *)weights[0] + i * 144u);
    }
}

void qk_q4_K_encode_bf16_ref(void *const weights[1],
    uint64_t elements, const uint16_t *src) {
    for (uint64_t i = 0; i < elements / 256u; ++i) {
        float x[256u];
        for (uint32_t e = 0; e < 256u; ++e) x[e] = qk_bf16_to_f32(src[i * 256u + e]);
        qk_encode(x, (uint8_t *)weights[0] + i * 144u);
    }
}

/* Returns how many indices are out of range; nothing is written for them. Of two that are the same, the last is what stays. */
uint64_t qk_q4_K_set_rows_f32_ref(void *const weights[1],
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
            qk_encode(src + b * 256u, (uint8_t *)weights[0] + i * 144u);
        }
    }
    return out_of_range;
}

/* Returns how many indices are out of range; nothing is written for them. Of two that are the same, the last is what stays. */
uint64_t qk_q4_K_set_rows_f16_ref(void *const weights[1],
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
            qk_encode(x, (uint8_t *)weights[0] + i * 144u);
        }
    }
    return out_of_range;
}

/* Returns how many indices are out of range; nothing is written for them. Of two that are the same, the last is what stays. */
uint64_t qk_q4_K_set_rows_bf16_ref(void *const weights[1],
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
            qk_encode(x, (uint8_t *)weights[0] + i * 144u);
        }
    }
    return out_of_range;
}

/* ---- descriptors ---- */

/* The code itself: q4_K_code.c. */
extern const qk_code qk_q4_K_dequant_f32_spirv;
extern const qk_code qk_q4_K_dequant_halves_spirv;
extern const qk_code qk_q4_K_gather_f32_spirv;
extern const qk_code qk_q4_K_gather_halves_spirv;
extern const qk_code qk_q4_K_gemv_rows_spirv;
extern const qk_code qk_q4_K_gemv_wide_spirv;
extern const qk_code qk_q4_K_gemv_ahead_spirv;
extern const qk_code qk_q4_K_gemv_shared_spirv;
extern const qk_code qk_q4_K_gemv_teams_spirv;
extern const qk_code qk_q4_K_gemv_int8_rows_spirv;
extern const qk_code qk_q4_K_gemv_int8_wide_spirv;
extern const qk_code qk_q4_K_gemv_int8_ahead_spirv;
extern const qk_code qk_q4_K_gemv_int8_shared_spirv;
extern const qk_code qk_q4_K_gemv_int8_teams_spirv;
extern const qk_code qk_q4_K_gemv_id_rows_spirv;
extern const qk_code qk_q4_K_gemv_id_wide_spirv;
extern const qk_code qk_q4_K_gemv_id_int8_rows_spirv;
extern const qk_code qk_q4_K_gemv_id_int8_wide_spirv;
extern const qk_code qk_q4_K_encode_spirv;
extern const qk_code qk_q4_K_set_rows_spirv;
extern const qk_code qk_q4_K_msl;

static const qk_binding q4_K_dequant_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 144, 0, 0, 0, 0},
    {1, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field q4_K_dequant_f32_push[] = {
    {"tiles", 0, 4},
};
static const uint32_t q4_K_dequant_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant q4_K_dequant_f32_vulkan_constants[] = {{0, "local_size_x", 256, 6, q4_K_dequant_f32_vulkan_local_size_x}};

const qk_kernel qk_q4_K_dequant_f32_vulkan = {
    .abi = 22,
    .name = "q4_K_dequant_f32",
    .format = "q4_K",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_dequant_f32_spirv,
    .binding_count = 2,
    .bindings = q4_K_dequant_f32_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = q4_K_dequant_f32_push,
    .spec_constant_count = 1,
    .spec_constants = q4_K_dequant_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 8,
};

const qk_kernel qk_q4_K_dequant_f32_metal = {
    .abi = 22,
    .name = "q4_K_dequant_f32",
    .format = "q4_K",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "q4_K_dequant_f32",
    .code = &qk_q4_K_msl,
    .binding_count = 2,
    .bindings = q4_K_dequant_f32_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = q4_K_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding q4_K_dequant_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 144, 0, 0, 0, 0},
    {1, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0, 0},
};
static const uint32_t q4_K_dequant_f16_vulkan_rounds_f16[] = {0, 1};
static const uint32_t q4_K_dequant_f16_vulkan_y_type[] = {1};
static const qk_spec_constant q4_K_dequant_f16_vulkan_constants[] = {{0, "local_size_x", 256, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, q4_K_dequant_f16_vulkan_rounds_f16},
    {31, "y_type", 1, 1, q4_K_dequant_f16_vulkan_y_type}};

const qk_kernel qk_q4_K_dequant_f16_vulkan = {
    .abi = 22,
    .name = "q4_K_dequant_f16",
    .format = "q4_K",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_dequant_halves_spirv,
    .binding_count = 2,
    .bindings = q4_K_dequant_f16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = q4_K_dequant_f32_push,
    .spec_constant_count = 3,
    .spec_constants = q4_K_dequant_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 16,
};

const qk_kernel qk_q4_K_dequant_f16_metal = {
    .abi = 22,
    .name = "q4_K_dequant_f16",
    .format = "q4_K",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "q4_K_dequant_f16",
    .code = &qk_q4_K_msl,
    .binding_count = 2,
    .bindings = q4_K_dequant_f16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = q4_K_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding q4_K_dequant_bf16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 144, 0, 0, 0, 0},
    {1, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0, 0},
};
static const uint32_t q4_K_dequant_bf16_vulkan_y_type[] = {2};
static const qk_spec_constant q4_K_dequant_bf16_vulkan_constants[] = {{0, "local_size_x", 256, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, q4_K_dequant_f16_vulkan_rounds_f16},
    {31, "y_type", 2, 1, q4_K_dequant_bf16_vulkan_y_type}};

const qk_kernel qk_q4_K_dequant_bf16_vulkan = {
    .abi = 22,
    .name = "q4_K_dequant_bf16",
    .format = "q4_K",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_dequant_halves_spirv,
    .binding_count = 2,
    .bindings = q4_K_dequant_bf16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = q4_K_dequant_f32_push,
    .spec_constant_count = 3,
    .spec_constants = q4_K_dequant_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 16,
};

const qk_kernel qk_q4_K_dequant_bf16_metal = {
    .abi = 22,
    .name = "q4_K_dequant_bf16",
    .format = "q4_K",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "q4_K_dequant_bf16",
    .code = &qk_q4_K_msl,
    .binding_count = 2,
    .bindings = q4_K_dequant_bf16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = q4_K_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding q4_K_gather_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 144, 0, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};
static const qk_field q4_K_gather_f32_push[] = {
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

const qk_kernel qk_q4_K_gather_f32_vulkan = {
    .abi = 22,
    .name = "q4_K_gather_f32",
    .format = "q4_K",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gather_f32_spirv,
    .binding_count = 4,
    .bindings = q4_K_gather_f32_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = q4_K_gather_f32_push,
    .spec_constant_count = 1,
    .spec_constants = q4_K_dequant_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 8,
};

const qk_kernel qk_q4_K_gather_f32_metal = {
    .abi = 22,
    .name = "q4_K_gather_f32",
    .format = "q4_K",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "q4_K_gather_f32",
    .code = &qk_q4_K_msl,
    .binding_count = 4,
    .bindings = q4_K_gather_f32_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = q4_K_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding q4_K_gather_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 144, 0, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_q4_K_gather_f16_vulkan = {
    .abi = 22,
    .name = "q4_K_gather_f16",
    .format = "q4_K",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gather_halves_spirv,
    .binding_count = 4,
    .bindings = q4_K_gather_f16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = q4_K_gather_f32_push,
    .spec_constant_count = 3,
    .spec_constants = q4_K_dequant_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 16,
};

const qk_kernel qk_q4_K_gather_f16_metal = {
    .abi = 22,
    .name = "q4_K_gather_f16",
    .format = "q4_K",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "q4_K_gather_f16",
    .code = &qk_q4_K_msl,
    .binding_count = 4,
    .bindings = q4_K_gather_f16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = q4_K_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding q4_K_gather_bf16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 144, 0, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_q4_K_gather_bf16_vulkan = {
    .abi = 22,
    .name = "q4_K_gather_bf16",
    .format = "q4_K",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gather_halves_spirv,
    .binding_count = 4,
    .bindings = q4_K_gather_bf16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = q4_K_gather_f32_push,
    .spec_constant_count = 3,
    .spec_constants = q4_K_dequant_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 16,
};

const qk_kernel qk_q4_K_gather_bf16_metal = {
    .abi = 22,
    .name = "q4_K_gather_bf16",
    .format = "q4_K",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "q4_K_gather_bf16",
    .code = &qk_q4_K_msl,
    .binding_count = 4,
    .bindings = q4_K_gather_bf16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = q4_K_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding q4_K_gemv_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 144, 0, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {3, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {4, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field q4_K_gemv_f32_push[] = {
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
static const uint32_t q4_K_gemv_f32_vulkan_batch[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const uint32_t q4_K_gemv_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t q4_K_gemv_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t q4_K_gemv_f32_vulkan_shared_fours[] = {512, 1024, 1280, 2048, 2560};
static const uint32_t q4_K_gemv_f32_vulkan_checked[] = {0, 1};
static const uint32_t q4_K_gemv_f32_vulkan_turns[] = {1, 4};
static const uint32_t q4_K_gemv_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t q4_K_gemv_f32_vulkan_schedule[] = {0, 1, 2, 3, 4, 5};
static const uint32_t q4_K_gemv_f32_vulkan_lanes[] = {8, 16, 32, 64};
static const uint32_t q4_K_gemv_f32_vulkan_x_type[] = {0};
static const uint32_t q4_K_gemv_f32_vulkan_views[] = {0, 1, 2};
static const uint32_t q4_K_gemv_f32_vulkan_y_type[] = {0, 1, 2};
static const qk_spec_constant q4_K_gemv_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, q4_K_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, q4_K_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, q4_K_gemv_f32_vulkan_split},
    {6, "shared_fours", 512, 5, q4_K_gemv_f32_vulkan_shared_fours},
    {12, "checked", 0, 2, q4_K_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, q4_K_gemv_f32_vulkan_turns},
    {7, "staged", 1, 4, q4_K_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 6, q4_K_gemv_f32_vulkan_schedule},
    {14, "lanes", 32, 4, q4_K_gemv_f32_vulkan_lanes},
    {21, "x_type", 0, 1, q4_K_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {46, "norm", 0, 0, 0},
    {30, "views", 0, 3, q4_K_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};
static const qk_code *const q4_K_gemv_f32_schedules[] = {0, &qk_q4_K_gemv_rows_spirv, &qk_q4_K_gemv_wide_spirv, &qk_q4_K_gemv_ahead_spirv,
    &qk_q4_K_gemv_shared_spirv, &qk_q4_K_gemv_teams_spirv};

const qk_kernel qk_q4_K_gemv_f32_vulkan = {
    .abi = 22,
    .name = "q4_K_gemv_f32",
    .format = "q4_K",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gemv_rows_spirv,
    .schedules = q4_K_gemv_f32_schedules,
    .binding_count = 7,
    .bindings = q4_K_gemv_f32_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = q4_K_gemv_f32_push,
    .spec_constant_count = 15,
    .spec_constants = q4_K_gemv_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 256,
    .shared_tile = 5,
    .shares_wide = 0,
    .teams_tile = 9,
    .teams_kept = 32,
    .teams_block = 256,
    .rows_ahead = 4,
    .ahead_kept = 64,
    .ahead_block = 256,
    .wide_loads = 5,
    .sum_roundings = 126,
};

static const uint32_t q4_K_gemv_f32_metal_batch[] = {1, 2, 4, 8};
static const uint32_t q4_K_gemv_f32_metal_views[] = {0, 1};
static const qk_spec_constant q4_K_gemv_f32_metal_constants[] = {{1, "batch", 1, 4, q4_K_gemv_f32_metal_batch},
    {30, "views", 0, 2, q4_K_gemv_f32_metal_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};

const qk_kernel qk_q4_K_gemv_f32_metal = {
    .abi = 22,
    .name = "q4_K_gemv_f32",
    .format = "q4_K",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "q4_K_gemv_f32",
    .code = &qk_q4_K_msl,
    .binding_count = 7,
    .bindings = q4_K_gemv_f32_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = q4_K_gemv_f32_push,
    .spec_constant_count = 3,
    .spec_constants = q4_K_gemv_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .sum_roundings = 126,
};

static const uint32_t q4_K_gemv_int8_f32_vulkan_digits[] = {1};
static const uint32_t q4_K_gemv_int8_f32_vulkan_x_packed[] = {0, 1, 2};
static const qk_spec_constant q4_K_gemv_int8_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, q4_K_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, q4_K_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, q4_K_gemv_f32_vulkan_split},
    {4, "digits", 1, 1, q4_K_gemv_int8_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, q4_K_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, q4_K_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 1, 2, q4_K_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, q4_K_gemv_f32_vulkan_turns},
    {7, "staged", 1, 4, q4_K_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 6, q4_K_gemv_f32_vulkan_schedule},
    {14, "lanes", 32, 4, q4_K_gemv_f32_vulkan_lanes},
    {21, "x_type", 0, 1, q4_K_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {46, "norm", 0, 0, 0},
    {30, "views", 0, 3, q4_K_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};
static const qk_code *const q4_K_gemv_int8_f32_schedules[] = {0, &qk_q4_K_gemv_int8_rows_spirv, &qk_q4_K_gemv_int8_wide_spirv,
    &qk_q4_K_gemv_int8_ahead_spirv, &qk_q4_K_gemv_int8_shared_spirv, &qk_q4_K_gemv_int8_teams_spirv};

const qk_kernel qk_q4_K_gemv_int8_f32_vulkan = {
    .abi = 22,
    .name = "q4_K_gemv_int8_f32",
    .format = "q4_K",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gemv_int8_rows_spirv,
    .schedules = q4_K_gemv_int8_f32_schedules,
    .binding_count = 7,
    .bindings = q4_K_gemv_f32_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = q4_K_gemv_f32_push,
    .spec_constant_count = 17,
    .spec_constants = q4_K_gemv_int8_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 256,
    .shared_tile = 5,
    .shares_wide = 1,
    .teams_tile = 5,
    .teams_kept = 64,
    .teams_block = 256,
    .rows_ahead = 4,
    .ahead_kept = 64,
    .ahead_block = 256,
    .wide_loads = 5,
    .sum_roundings = 126,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 40,
};

static const uint32_t q4_K_gemv_split_f32_vulkan_digits[] = {2};
static const qk_spec_constant q4_K_gemv_split_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, q4_K_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, q4_K_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, q4_K_gemv_f32_vulkan_split},
    {4, "digits", 2, 1, q4_K_gemv_split_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, q4_K_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, q4_K_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 1, 2, q4_K_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, q4_K_gemv_f32_vulkan_turns},
    {7, "staged", 1, 4, q4_K_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 6, q4_K_gemv_f32_vulkan_schedule},
    {14, "lanes", 32, 4, q4_K_gemv_f32_vulkan_lanes},
    {21, "x_type", 0, 1, q4_K_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {46, "norm", 0, 0, 0},
    {30, "views", 0, 3, q4_K_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};

const qk_kernel qk_q4_K_gemv_split_f32_vulkan = {
    .abi = 22,
    .name = "q4_K_gemv_split_f32",
    .format = "q4_K",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gemv_int8_rows_spirv,
    .schedules = q4_K_gemv_int8_f32_schedules,
    .binding_count = 7,
    .bindings = q4_K_gemv_f32_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = q4_K_gemv_f32_push,
    .spec_constant_count = 17,
    .spec_constants = q4_K_gemv_split_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 256,
    .shared_tile = 9,
    .shares_wide = 1,
    .teams_tile = 9,
    .teams_kept = 64,
    .teams_block = 256,
    .rows_ahead = 2,
    .ahead_kept = 64,
    .ahead_block = 256,
    .wide_loads = 5,
    .sum_roundings = 126,
    .x_levels = 32639,
    .x_group = 64,
    .x_reach = 64,
};

static const uint32_t q4_K_gemv_int24_f32_vulkan_digits[] = {3};
static const qk_spec_constant q4_K_gemv_int24_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, q4_K_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, q4_K_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, q4_K_gemv_f32_vulkan_split},
    {4, "digits", 3, 1, q4_K_gemv_int24_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, q4_K_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, q4_K_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 1, 2, q4_K_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, q4_K_gemv_f32_vulkan_turns},
    {7, "staged", 1, 4, q4_K_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 6, q4_K_gemv_f32_vulkan_schedule},
    {14, "lanes", 32, 4, q4_K_gemv_f32_vulkan_lanes},
    {21, "x_type", 0, 1, q4_K_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {46, "norm", 0, 0, 0},
    {30, "views", 0, 3, q4_K_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};

const qk_kernel qk_q4_K_gemv_int24_f32_vulkan = {
    .abi = 22,
    .name = "q4_K_gemv_int24_f32",
    .format = "q4_K",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gemv_int8_rows_spirv,
    .schedules = q4_K_gemv_int8_f32_schedules,
    .binding_count = 7,
    .bindings = q4_K_gemv_f32_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = q4_K_gemv_f32_push,
    .spec_constant_count = 17,
    .spec_constants = q4_K_gemv_int24_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 256,
    .shared_tile = 13,
    .shares_wide = 1,
    .teams_tile = 13,
    .teams_kept = 64,
    .teams_block = 256,
    .rows_ahead = 2,
    .ahead_kept = 64,
    .ahead_block = 256,
    .wide_loads = 5,
    .sum_roundings = 126,
    .x_levels = 8355708,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_binding q4_K_gemv_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 144, 0, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {3, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {4, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const uint32_t q4_K_gemv_f16_vulkan_x_type[] = {1};
static const qk_spec_constant q4_K_gemv_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, q4_K_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, q4_K_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, q4_K_gemv_f32_vulkan_split},
    {6, "shared_fours", 512, 5, q4_K_gemv_f32_vulkan_shared_fours},
    {12, "checked", 0, 2, q4_K_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, q4_K_gemv_f32_vulkan_turns},
    {7, "staged", 1, 4, q4_K_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 6, q4_K_gemv_f32_vulkan_schedule},
    {14, "lanes", 32, 4, q4_K_gemv_f32_vulkan_lanes},
    {21, "x_type", 1, 1, q4_K_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {46, "norm", 0, 0, 0},
    {30, "views", 0, 3, q4_K_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};

const qk_kernel qk_q4_K_gemv_f16_vulkan = {
    .abi = 22,
    .name = "q4_K_gemv_f16",
    .format = "q4_K",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gemv_rows_spirv,
    .schedules = q4_K_gemv_f32_schedules,
    .binding_count = 7,
    .bindings = q4_K_gemv_f16_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = q4_K_gemv_f32_push,
    .spec_constant_count = 15,
    .spec_constants = q4_K_gemv_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 256,
    .shared_tile = 5,
    .shares_wide = 0,
    .teams_tile = 9,
    .teams_kept = 32,
    .teams_block = 256,
    .rows_ahead = 4,
    .ahead_kept = 64,
    .ahead_block = 256,
    .wide_loads = 5,
    .sum_roundings = 126,
};

const qk_kernel qk_q4_K_gemv_f16_metal = {
    .abi = 22,
    .name = "q4_K_gemv_f16",
    .format = "q4_K",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "q4_K_gemv_f16",
    .code = &qk_q4_K_msl,
    .binding_count = 7,
    .bindings = q4_K_gemv_f16_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = q4_K_gemv_f32_push,
    .spec_constant_count = 3,
    .spec_constants = q4_K_gemv_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .sum_roundings = 126,
};

static const qk_spec_constant q4_K_gemv_int8_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, q4_K_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, q4_K_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, q4_K_gemv_f32_vulkan_split},
    {4, "digits", 1, 1, q4_K_gemv_int8_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, q4_K_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, q4_K_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 1, 2, q4_K_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, q4_K_gemv_f32_vulkan_turns},
    {7, "staged", 1, 4, q4_K_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 6, q4_K_gemv_f32_vulkan_schedule},
    {14, "lanes", 32, 4, q4_K_gemv_f32_vulkan_lanes},
    {21, "x_type", 1, 1, q4_K_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {46, "norm", 0, 0, 0},
    {30, "views", 0, 3, q4_K_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};

const qk_kernel qk_q4_K_gemv_int8_f16_vulkan = {
    .abi = 22,
    .name = "q4_K_gemv_int8_f16",
    .format = "q4_K",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gemv_int8_rows_spirv,
    .schedules = q4_K_gemv_int8_f32_schedules,
    .binding_count = 7,
    .bindings = q4_K_gemv_f16_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = q4_K_gemv_f32_push,
    .spec_constant_count = 17,
    .spec_constants = q4_K_gemv_int8_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 256,
    .shared_tile = 5,
    .shares_wide = 1,
    .teams_tile = 5,
    .teams_kept = 64,
    .teams_block = 256,
    .rows_ahead = 4,
    .ahead_kept = 64,
    .ahead_block = 256,
    .wide_loads = 5,
    .sum_roundings = 126,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 40,
};

static const qk_spec_constant q4_K_gemv_split_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, q4_K_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, q4_K_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, q4_K_gemv_f32_vulkan_split},
    {4, "digits", 2, 1, q4_K_gemv_split_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, q4_K_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, q4_K_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 1, 2, q4_K_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, q4_K_gemv_f32_vulkan_turns},
    {7, "staged", 1, 4, q4_K_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 6, q4_K_gemv_f32_vulkan_schedule},
    {14, "lanes", 32, 4, q4_K_gemv_f32_vulkan_lanes},
    {21, "x_type", 1, 1, q4_K_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {46, "norm", 0, 0, 0},
    {30, "views", 0, 3, q4_K_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};

const qk_kernel qk_q4_K_gemv_split_f16_vulkan = {
    .abi = 22,
    .name = "q4_K_gemv_split_f16",
    .format = "q4_K",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gemv_int8_rows_spirv,
    .schedules = q4_K_gemv_int8_f32_schedules,
    .binding_count = 7,
    .bindings = q4_K_gemv_f16_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = q4_K_gemv_f32_push,
    .spec_constant_count = 17,
    .spec_constants = q4_K_gemv_split_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 256,
    .shared_tile = 9,
    .shares_wide = 1,
    .teams_tile = 9,
    .teams_kept = 64,
    .teams_block = 256,
    .rows_ahead = 2,
    .ahead_kept = 64,
    .ahead_block = 256,
    .wide_loads = 5,
    .sum_roundings = 126,
    .x_levels = 32639,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_spec_constant q4_K_gemv_int24_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {1, "batch", 1, 8, q4_K_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, q4_K_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, q4_K_gemv_f32_vulkan_split},
    {4, "digits", 3, 1, q4_K_gemv_int24_f32_vulkan_digits},
    {6, "shared_fours", 512, 5, q4_K_gemv_f32_vulkan_shared_fours},
    {42, "x_packed", 0, 3, q4_K_gemv_int8_f32_vulkan_x_packed},
    {12, "checked", 1, 2, q4_K_gemv_f32_vulkan_checked},
    {43, "turns", 1, 2, q4_K_gemv_f32_vulkan_turns},
    {7, "staged", 1, 4, q4_K_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 6, q4_K_gemv_f32_vulkan_schedule},
    {14, "lanes", 32, 4, q4_K_gemv_f32_vulkan_lanes},
    {21, "x_type", 1, 1, q4_K_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {46, "norm", 0, 0, 0},
    {30, "views", 0, 3, q4_K_gemv_f32_vulkan_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};

const qk_kernel qk_q4_K_gemv_int24_f16_vulkan = {
    .abi = 22,
    .name = "q4_K_gemv_int24_f16",
    .format = "q4_K",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gemv_int8_rows_spirv,
    .schedules = q4_K_gemv_int8_f32_schedules,
    .binding_count = 7,
    .bindings = q4_K_gemv_f16_bindings,
    .push_bytes = 116,
    .push_count = 29,
    .push = q4_K_gemv_f32_push,
    .spec_constant_count = 17,
    .spec_constants = q4_K_gemv_int24_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 256,
    .shared_tile = 13,
    .shares_wide = 1,
    .teams_tile = 13,
    .teams_kept = 64,
    .teams_block = 256,
    .rows_ahead = 2,
    .ahead_kept = 64,
    .ahead_block = 256,
    .wide_loads = 5,
    .sum_roundings = 126,
    .x_levels = 8355708,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_binding q4_K_gemv_id_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 144, 0, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {4, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {7, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {8, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_field q4_K_gemv_id_f32_push[] = {
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
static const uint32_t q4_K_gemv_id_f32_vulkan_schedule[] = {0, 1, 2};
static const uint32_t q4_K_gemv_id_f32_vulkan_views[] = {0, 1, 2, 3};
static const qk_spec_constant q4_K_gemv_id_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, q4_K_gemv_f32_vulkan_rows},
    {12, "checked", 0, 2, q4_K_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, q4_K_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, q4_K_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 0, 1, q4_K_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 4, q4_K_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};
static const qk_code *const q4_K_gemv_id_f32_schedules[] = {0, &qk_q4_K_gemv_id_rows_spirv, &qk_q4_K_gemv_id_wide_spirv};

const qk_kernel qk_q4_K_gemv_id_f32_vulkan = {
    .abi = 22,
    .name = "q4_K_gemv_id_f32",
    .format = "q4_K",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gemv_id_rows_spirv,
    .schedules = q4_K_gemv_id_f32_schedules,
    .binding_count = 9,
    .bindings = q4_K_gemv_id_f32_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = q4_K_gemv_id_f32_push,
    .spec_constant_count = 9,
    .spec_constants = q4_K_gemv_id_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 256,
    .sum_roundings = 126,
};

static const qk_spec_constant q4_K_gemv_id_f32_metal_constants[] = {{30, "views", 0, 2, q4_K_gemv_f32_metal_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};

const qk_kernel qk_q4_K_gemv_id_f32_metal = {
    .abi = 22,
    .name = "q4_K_gemv_id_f32",
    .format = "q4_K",
    .family = "gemv_id",
    .api = QK_API_METAL,
    .entry = "q4_K_gemv_id_f32",
    .code = &qk_q4_K_msl,
    .binding_count = 9,
    .bindings = q4_K_gemv_id_f32_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = q4_K_gemv_id_f32_push,
    .spec_constant_count = 2,
    .spec_constants = q4_K_gemv_id_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .sum_roundings = 78,
};

static const qk_spec_constant q4_K_gemv_id_int8_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, q4_K_gemv_f32_vulkan_rows},
    {4, "digits", 1, 1, q4_K_gemv_int8_f32_vulkan_digits},
    {12, "checked", 0, 2, q4_K_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, q4_K_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, q4_K_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 0, 1, q4_K_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 4, q4_K_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};
static const qk_code *const q4_K_gemv_id_int8_f32_schedules[] = {0, &qk_q4_K_gemv_id_int8_rows_spirv, &qk_q4_K_gemv_id_int8_wide_spirv};

const qk_kernel qk_q4_K_gemv_id_int8_f32_vulkan = {
    .abi = 22,
    .name = "q4_K_gemv_id_int8_f32",
    .format = "q4_K",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gemv_id_int8_rows_spirv,
    .schedules = q4_K_gemv_id_int8_f32_schedules,
    .binding_count = 9,
    .bindings = q4_K_gemv_id_f32_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = q4_K_gemv_id_f32_push,
    .spec_constant_count = 10,
    .spec_constants = q4_K_gemv_id_int8_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 256,
    .sum_roundings = 126,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 40,
};

static const qk_spec_constant q4_K_gemv_id_split_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, q4_K_gemv_f32_vulkan_rows},
    {4, "digits", 2, 1, q4_K_gemv_split_f32_vulkan_digits},
    {12, "checked", 0, 2, q4_K_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, q4_K_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, q4_K_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 0, 1, q4_K_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 4, q4_K_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};

const qk_kernel qk_q4_K_gemv_id_split_f32_vulkan = {
    .abi = 22,
    .name = "q4_K_gemv_id_split_f32",
    .format = "q4_K",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gemv_id_int8_rows_spirv,
    .schedules = q4_K_gemv_id_int8_f32_schedules,
    .binding_count = 9,
    .bindings = q4_K_gemv_id_f32_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = q4_K_gemv_id_f32_push,
    .spec_constant_count = 10,
    .spec_constants = q4_K_gemv_id_split_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 256,
    .sum_roundings = 126,
    .x_levels = 32639,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_spec_constant q4_K_gemv_id_int24_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, q4_K_gemv_f32_vulkan_rows},
    {4, "digits", 3, 1, q4_K_gemv_int24_f32_vulkan_digits},
    {12, "checked", 0, 2, q4_K_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, q4_K_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, q4_K_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 0, 1, q4_K_gemv_f32_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 4, q4_K_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};

const qk_kernel qk_q4_K_gemv_id_int24_f32_vulkan = {
    .abi = 22,
    .name = "q4_K_gemv_id_int24_f32",
    .format = "q4_K",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gemv_id_int8_rows_spirv,
    .schedules = q4_K_gemv_id_int8_f32_schedules,
    .binding_count = 9,
    .bindings = q4_K_gemv_id_f32_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = q4_K_gemv_id_f32_push,
    .spec_constant_count = 10,
    .spec_constants = q4_K_gemv_id_int24_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 256,
    .sum_roundings = 126,
    .x_levels = 8355708,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_binding q4_K_gemv_id_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 144, 0, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {4, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {5, "result_scale", QK_ROLE_SCALE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {6, "row_bias", QK_ROLE_BIAS, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {7, "result_gate", QK_ROLE_GATE, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {8, "residual", QK_ROLE_RESIDUAL, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const qk_spec_constant q4_K_gemv_id_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, q4_K_gemv_f32_vulkan_rows},
    {12, "checked", 0, 2, q4_K_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, q4_K_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, q4_K_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 1, 1, q4_K_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 4, q4_K_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};

const qk_kernel qk_q4_K_gemv_id_f16_vulkan = {
    .abi = 22,
    .name = "q4_K_gemv_id_f16",
    .format = "q4_K",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gemv_id_rows_spirv,
    .schedules = q4_K_gemv_id_f32_schedules,
    .binding_count = 9,
    .bindings = q4_K_gemv_id_f16_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = q4_K_gemv_id_f32_push,
    .spec_constant_count = 9,
    .spec_constants = q4_K_gemv_id_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 256,
    .sum_roundings = 126,
};

const qk_kernel qk_q4_K_gemv_id_f16_metal = {
    .abi = 22,
    .name = "q4_K_gemv_id_f16",
    .format = "q4_K",
    .family = "gemv_id",
    .api = QK_API_METAL,
    .entry = "q4_K_gemv_id_f16",
    .code = &qk_q4_K_msl,
    .binding_count = 9,
    .bindings = q4_K_gemv_id_f16_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = q4_K_gemv_id_f32_push,
    .spec_constant_count = 2,
    .spec_constants = q4_K_gemv_id_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .sum_roundings = 78,
};

static const qk_spec_constant q4_K_gemv_id_int8_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, q4_K_gemv_f32_vulkan_rows},
    {4, "digits", 1, 1, q4_K_gemv_int8_f32_vulkan_digits},
    {12, "checked", 0, 2, q4_K_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, q4_K_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, q4_K_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 1, 1, q4_K_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 4, q4_K_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};

const qk_kernel qk_q4_K_gemv_id_int8_f16_vulkan = {
    .abi = 22,
    .name = "q4_K_gemv_id_int8_f16",
    .format = "q4_K",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gemv_id_int8_rows_spirv,
    .schedules = q4_K_gemv_id_int8_f32_schedules,
    .binding_count = 9,
    .bindings = q4_K_gemv_id_f16_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = q4_K_gemv_id_f32_push,
    .spec_constant_count = 10,
    .spec_constants = q4_K_gemv_id_int8_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 256,
    .sum_roundings = 126,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 40,
};

static const qk_spec_constant q4_K_gemv_id_split_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, q4_K_gemv_f32_vulkan_rows},
    {4, "digits", 2, 1, q4_K_gemv_split_f32_vulkan_digits},
    {12, "checked", 0, 2, q4_K_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, q4_K_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, q4_K_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 1, 1, q4_K_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 4, q4_K_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};

const qk_kernel qk_q4_K_gemv_id_split_f16_vulkan = {
    .abi = 22,
    .name = "q4_K_gemv_id_split_f16",
    .format = "q4_K",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gemv_id_int8_rows_spirv,
    .schedules = q4_K_gemv_id_int8_f32_schedules,
    .binding_count = 9,
    .bindings = q4_K_gemv_id_f16_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = q4_K_gemv_id_f32_push,
    .spec_constant_count = 10,
    .spec_constants = q4_K_gemv_id_split_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 256,
    .sum_roundings = 126,
    .x_levels = 32639,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_spec_constant q4_K_gemv_id_int24_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, q4_K_dequant_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, q4_K_gemv_f32_vulkan_rows},
    {4, "digits", 3, 1, q4_K_gemv_int24_f32_vulkan_digits},
    {12, "checked", 0, 2, q4_K_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, q4_K_gemv_f32_vulkan_staged},
    {20, "schedule", 0, 3, q4_K_gemv_id_f32_vulkan_schedule},
    {21, "x_type", 1, 1, q4_K_gemv_f16_vulkan_x_type},
    {28, "epilogue", 4294967295, 0, 0},
    {30, "views", 0, 4, q4_K_gemv_id_f32_vulkan_views},
    {31, "y_type", 0, 3, q4_K_gemv_f32_vulkan_y_type}};

const qk_kernel qk_q4_K_gemv_id_int24_f16_vulkan = {
    .abi = 22,
    .name = "q4_K_gemv_id_int24_f16",
    .format = "q4_K",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_gemv_id_int8_rows_spirv,
    .schedules = q4_K_gemv_id_int8_f32_schedules,
    .binding_count = 9,
    .bindings = q4_K_gemv_id_f16_bindings,
    .push_bytes = 92,
    .push_count = 23,
    .push = q4_K_gemv_id_f32_push,
    .spec_constant_count = 10,
    .spec_constants = q4_K_gemv_id_int24_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .wide_block = 256,
    .sum_roundings = 126,
    .x_levels = 8355708,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_binding q4_K_encode_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 144, 0, 0, 0, 0},
    {1, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
};
static const uint32_t q4_K_encode_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512};
static const qk_spec_constant q4_K_encode_f32_vulkan_constants[] = {{0, "local_size_x", 128, 5, q4_K_encode_f32_vulkan_local_size_x},
    {21, "x_type", 0, 1, q4_K_gemv_f32_vulkan_x_type}};

const qk_kernel qk_q4_K_encode_f32_vulkan = {
    .abi = 22,
    .name = "q4_K_encode_f32",
    .format = "q4_K",
    .family = "encode",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_encode_spirv,
    .binding_count = 2,
    .bindings = q4_K_encode_f32_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = q4_K_dequant_f32_push,
    .spec_constant_count = 2,
    .spec_constants = q4_K_encode_f32_vulkan_constants,
    .workgroup_size = 128,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 32,
};

const qk_kernel qk_q4_K_encode_f32_metal = {
    .abi = 22,
    .name = "q4_K_encode_f32",
    .format = "q4_K",
    .family = "encode",
    .api = QK_API_METAL,
    .entry = "q4_K_encode_f32",
    .code = &qk_q4_K_msl,
    .binding_count = 2,
    .bindings = q4_K_encode_f32_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = q4_K_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 256,
};

static const qk_binding q4_K_encode_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 144, 0, 0, 0, 0},
    {1, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
};
static const qk_spec_constant q4_K_encode_f16_vulkan_constants[] = {{0, "local_size_x", 128, 5, q4_K_encode_f32_vulkan_local_size_x},
    {21, "x_type", 1, 1, q4_K_gemv_f16_vulkan_x_type}};

const qk_kernel qk_q4_K_encode_f16_vulkan = {
    .abi = 22,
    .name = "q4_K_encode_f16",
    .format = "q4_K",
    .family = "encode",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_encode_spirv,
    .binding_count = 2,
    .bindings = q4_K_encode_f16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = q4_K_dequant_f32_push,
    .spec_constant_count = 2,
    .spec_constants = q4_K_encode_f16_vulkan_constants,
    .workgroup_size = 128,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 32,
};

const qk_kernel qk_q4_K_encode_f16_metal = {
    .abi = 22,
    .name = "q4_K_encode_f16",
    .format = "q4_K",
    .family = "encode",
    .api = QK_API_METAL,
    .entry = "q4_K_encode_f16",
    .code = &qk_q4_K_msl,
    .binding_count = 2,
    .bindings = q4_K_encode_f16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = q4_K_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 256,
};

static const qk_binding q4_K_encode_bf16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 144, 0, 0, 0, 0},
    {1, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_BF16, 0, 0, 0, 0, 0},
};
static const uint32_t q4_K_encode_bf16_vulkan_x_type[] = {2};
static const qk_spec_constant q4_K_encode_bf16_vulkan_constants[] = {{0, "local_size_x", 128, 5, q4_K_encode_f32_vulkan_local_size_x},
    {21, "x_type", 2, 1, q4_K_encode_bf16_vulkan_x_type}};

const qk_kernel qk_q4_K_encode_bf16_vulkan = {
    .abi = 22,
    .name = "q4_K_encode_bf16",
    .format = "q4_K",
    .family = "encode",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_encode_spirv,
    .binding_count = 2,
    .bindings = q4_K_encode_bf16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = q4_K_dequant_f32_push,
    .spec_constant_count = 2,
    .spec_constants = q4_K_encode_bf16_vulkan_constants,
    .workgroup_size = 128,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 32,
};

const qk_kernel qk_q4_K_encode_bf16_metal = {
    .abi = 22,
    .name = "q4_K_encode_bf16",
    .format = "q4_K",
    .family = "encode",
    .api = QK_API_METAL,
    .entry = "q4_K_encode_bf16",
    .code = &qk_q4_K_msl,
    .binding_count = 2,
    .bindings = q4_K_encode_bf16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = q4_K_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 256,
};

static const qk_binding q4_K_set_rows_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 144, 0, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {2, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_q4_K_set_rows_f32_vulkan = {
    .abi = 22,
    .name = "q4_K_set_rows_f32",
    .format = "q4_K",
    .family = "set_rows",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_set_rows_spirv,
    .binding_count = 4,
    .bindings = q4_K_set_rows_f32_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = q4_K_gather_f32_push,
    .spec_constant_count = 2,
    .spec_constants = q4_K_encode_f32_vulkan_constants,
    .workgroup_size = 128,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 32,
};

const qk_kernel qk_q4_K_set_rows_f32_metal = {
    .abi = 22,
    .name = "q4_K_set_rows_f32",
    .format = "q4_K",
    .family = "set_rows",
    .api = QK_API_METAL,
    .entry = "q4_K_set_rows_f32",
    .code = &qk_q4_K_msl,
    .binding_count = 4,
    .bindings = q4_K_set_rows_f32_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = q4_K_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 256,
};

static const qk_binding q4_K_set_rows_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 144, 0, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {2, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_q4_K_set_rows_f16_vulkan = {
    .abi = 22,
    .name = "q4_K_set_rows_f16",
    .format = "q4_K",
    .family = "set_rows",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_set_rows_spirv,
    .binding_count = 4,
    .bindings = q4_K_set_rows_f16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = q4_K_gather_f32_push,
    .spec_constant_count = 2,
    .spec_constants = q4_K_encode_f16_vulkan_constants,
    .workgroup_size = 128,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 32,
};

const qk_kernel qk_q4_K_set_rows_f16_metal = {
    .abi = 22,
    .name = "q4_K_set_rows_f16",
    .format = "q4_K",
    .family = "set_rows",
    .api = QK_API_METAL,
    .entry = "q4_K_set_rows_f16",
    .code = &qk_q4_K_msl,
    .binding_count = 4,
    .bindings = q4_K_set_rows_f16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = q4_K_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 256,
};

static const qk_binding q4_K_set_rows_bf16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_WRITE, QK_TYPE_U32, 144, 0, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {2, "src", QK_ROLE_INPUT, QK_READ, QK_TYPE_BF16, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

const qk_kernel qk_q4_K_set_rows_bf16_vulkan = {
    .abi = 22,
    .name = "q4_K_set_rows_bf16",
    .format = "q4_K",
    .family = "set_rows",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_q4_K_set_rows_spirv,
    .binding_count = 4,
    .bindings = q4_K_set_rows_bf16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = q4_K_gather_f32_push,
    .spec_constant_count = 2,
    .spec_constants = q4_K_encode_bf16_vulkan_constants,
    .workgroup_size = 128,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 32,
};

const qk_kernel qk_q4_K_set_rows_bf16_metal = {
    .abi = 22,
    .name = "q4_K_set_rows_bf16",
    .format = "q4_K",
    .family = "set_rows",
    .api = QK_API_METAL,
    .entry = "q4_K_set_rows_bf16",
    .code = &qk_q4_K_msl,
    .binding_count = 4,
    .bindings = q4_K_set_rows_bf16_bindings,
    .push_bytes = 88,
    .push_count = 22,
    .push = q4_K_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 256,
};

static const qk_kernel *const q4_K_all[] = {
    &qk_q4_K_dequant_f32_vulkan,
    &qk_q4_K_dequant_f32_metal,
    &qk_q4_K_dequant_f16_vulkan,
    &qk_q4_K_dequant_f16_metal,
    &qk_q4_K_dequant_bf16_vulkan,
    &qk_q4_K_dequant_bf16_metal,
    &qk_q4_K_gather_f32_vulkan,
    &qk_q4_K_gather_f32_metal,
    &qk_q4_K_gather_f16_vulkan,
    &qk_q4_K_gather_f16_metal,
    &qk_q4_K_gather_bf16_vulkan,
    &qk_q4_K_gather_bf16_metal,
    &qk_q4_K_gemv_f32_vulkan,
    &qk_q4_K_gemv_f32_metal,
    &qk_q4_K_gemv_int8_f32_vulkan,
    &qk_q4_K_gemv_split_f32_vulkan,
    &qk_q4_K_gemv_int24_f32_vulkan,
    &qk_q4_K_gemv_f16_vulkan,
    &qk_q4_K_gemv_f16_metal,
    &qk_q4_K_gemv_int8_f16_vulkan,
    &qk_q4_K_gemv_split_f16_vulkan,
    &qk_q4_K_gemv_int24_f16_vulkan,
    &qk_q4_K_gemv_id_f32_vulkan,
    &qk_q4_K_gemv_id_f32_metal,
    &qk_q4_K_gemv_id_int8_f32_vulkan,
    &qk_q4_K_gemv_id_split_f32_vulkan,
    &qk_q4_K_gemv_id_int24_f32_vulkan,
    &qk_q4_K_gemv_id_f16_vulkan,
    &qk_q4_K_gemv_id_f16_metal,
    &qk_q4_K_gemv_id_int8_f16_vulkan,
    &qk_q4_K_gemv_id_split_f16_vulkan,
    &qk_q4_K_gemv_id_int24_f16_vulkan,
    &qk_q4_K_encode_f32_vulkan,
    &qk_q4_K_encode_f32_metal,
    &qk_q4_K_encode_f16_vulkan,
    &qk_q4_K_encode_f16_metal,
    &qk_q4_K_encode_bf16_vulkan,
    &qk_q4_K_encode_bf16_metal,
    &qk_q4_K_set_rows_f32_vulkan,
    &qk_q4_K_set_rows_f32_metal,
    &qk_q4_K_set_rows_f16_vulkan,
    &qk_q4_K_set_rows_f16_metal,
    &qk_q4_K_set_rows_bf16_vulkan,
    &qk_q4_K_set_rows_bf16_metal,
};

const qk_kernel_set qk_q4_K_kernels = {"q4_K", 44, q4_K_all, 0};

/* ---- dispatch ---- */

qk_status qk_q4_K_dequant_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_q4_K_dequant_f32_metal : &qk_q4_K_dequant_f32_vulkan;
    return qk_dispatch_dequant(backend, kernel, weights, dst, elements, error);
}

qk_status qk_q4_K_dequant_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_q4_K_dequant_f16_metal : &qk_q4_K_dequant_f16_vulkan;
    return qk_dispatch_dequant(backend, kernel, weights, dst, elements, error);
}

qk_status qk_q4_K_dequant_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_q4_K_dequant_bf16_metal : &qk_q4_K_dequant_bf16_vulkan;
    return qk_dispatch_dequant(backend, kernel, weights, dst, elements, error);
}

qk_status qk_q4_K_gather_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_q4_K_gather_f32_metal : &qk_q4_K_gather_f32_vulkan;
    return qk_dispatch_gather(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_q4_K_gather_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_q4_K_gather_f16_metal : &qk_q4_K_gather_f16_vulkan;
    return qk_dispatch_gather(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_q4_K_gather_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_q4_K_gather_bf16_metal : &qk_q4_K_gather_bf16_vulkan;
    return qk_dispatch_gather(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_q4_K_gemv_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_q4_K_gemv_f32_metal : &qk_q4_K_gemv_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_q4_K_gemv_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_q4_K_gemv_int8_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_q4_K_gemv_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_q4_K_gemv_split_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_q4_K_gemv_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_q4_K_gemv_int24_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_q4_K_gemv_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_q4_K_gemv_f16_metal : &qk_q4_K_gemv_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_q4_K_gemv_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_q4_K_gemv_int8_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_q4_K_gemv_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_q4_K_gemv_split_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_q4_K_gemv_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_q4_K_gemv_int24_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_q4_K_gemv_id_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_q4_K_gemv_id_f32_metal : &qk_q4_K_gemv_id_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_q4_K_gemv_id_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_q4_K_gemv_id_int8_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_q4_K_gemv_id_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_q4_K_gemv_id_split_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_q4_K_gemv_id_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_q4_K_gemv_id_int24_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_q4_K_gemv_id_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_q4_K_gemv_id_f16_metal : &qk_q4_K_gemv_id_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_q4_K_gemv_id_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_q4_K_gemv_id_int8_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_q4_K_gemv_id_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_q4_K_gemv_id_split_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_q4_K_gemv_id_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_q4_K_gemv_id_int24_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, x_slots, error);
}

qk_status qk_q4_K_encode_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_q4_K_encode_f32_metal : &qk_q4_K_encode_f32_vulkan;
    return qk_dispatch_encode(backend, kernel, weights, src, elements, error);
}

qk_status qk_q4_K_encode_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_q4_K_encode_f16_metal : &qk_q4_K_encode_f16_vulkan;
    return qk_dispatch_encode(backend, kernel, weights, src, elements, error);
}

qk_status qk_q4_K_encode_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_q4_K_encode_bf16_metal : &qk_q4_K_encode_bf16_vulkan;
    return qk_dispatch_encode(backend, kernel, weights, src, elements, error);
}

qk_status qk_q4_K_set_rows_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_q4_K_set_rows_f32_metal : &qk_q4_K_set_rows_f32_vulkan;
    return qk_dispatch_set_rows(backend, kernel, weights, indices, src, status, rows, cols, tokens, error);
}

qk_status qk_q4_K_set_rows_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_q4_K_set_rows_f16_metal : &qk_q4_K_set_rows_f16_vulkan;
    return qk_dispatch_set_rows(backend, kernel, weights, indices, src, status, rows, cols, tokens, error);
}

qk_status qk_q4_K_set_rows_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_q4_K_set_rows_bf16_metal : &qk_q4_K_set_rows_bf16_vulkan;
    return qk_dispatch_set_rows(backend, kernel, weights, indices, src, status, rows, cols, tokens, error);
}
