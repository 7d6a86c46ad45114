/* iq2_xxs: reference decoder, descriptors and dispatch stubs.
 * Generated from the specification below by `qkgen emit --format iq2_xxs`; do not edit.
 * 66 bytes for 256 elements, 2.062 bits each.
 * dequant, gather in f32: for each weight 0.258 bytes read and 4 written, 26.5 operations: 1.25 loads, 5.75 bits, 13 integer, 2.75 float, 2.5 conversions, 1.25 lookups.
 * gemv, gemv_id in f32: for each weight 0.258 bytes read, 7.25 operations: 0.109 loads, 2.64 bits, 1.38 integer, 2.19 float, 0.562 conversions, 0.375 lookups.
 *
 *     format iq2_xxs "eights from a codebook of 256, 7-bit sign masks, 4-bit scales in groups of 32"
 *     from "ggml (llama.cpp), ggml-common.h"
 *
 *     block 256 {
 *         d:  f16
 *         qs: u32[16]
 *     }
 *
 *     code g  per 8  = qs { 8 @ 0  (4:8, 8:64) }    # four indices in one word,
 *     code s  per 8  = qs { 7 @ 32 (4:7, 8:64) }    # four sign masks
 *     code sc per 32 = qs { 4 @ 60 (8:64) }         # and the scale in the next
 *
 *     table G: u8[256][8] = file "iq2xxs_grid.bin"
 *     table S: u8[128] = file "even_signs.bin"      # seven signs; the eighth makes the number of minus signs even
 *
 *     value = d * (0.5 + sc) * 0.25 * G[g][i % 8] * (S[s] >> i % 8 & 1 ? -1 : 1)
 */
#include "iq2_xxs.h"

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

static const uint32_t G[256][8] = {
    {8, 8, 8, 8, 8, 8, 8, 8},
    {43, 8, 8, 8, 8, 8, 8, 8},
    {25, 25, 8, 8, 8, 8, 8, 8},
    {8, 43, 8, 8, 8, 8, 8, 8},
    {43, 43, 8, 8, 8, 8, 8, 8},
    {25, 8, 25, 8, 8, 8, 8, 8},
    {8, 25, 25, 8, 8, 8, 8, 8},
    {8, 8, 43, 8, 8, 8, 8, 8},
    {43, 8, 43, 8, 8, 8, 8, 8},
    {8, 43, 43, 8, 8, 8, 8, 8},
    {43, 43, 43, 8, 8, 8, 8, 8},
    {25, 8, 8, 25, 8, 8, 8, 8},
    {8, 25, 8, 25, 8, 8, 8, 8},
    {8, 8, 25, 25, 8, 8, 8, 8},
    {8, 43, 25, 25, 8, 8, 8, 8},
    {25, 8, 43, 25, 8, 8, 8, 8},
    {8, 25, 43, 25, 8, 8, 8, 8},
    {8, 8, 8, 43, 8, 8, 8, 8},
    {43, 8, 8, 43, 8, 8, 8, 8},
    {43, 43, 8, 43, 8, 8, 8, 8},
    {43, 8, 43, 43, 8, 8, 8, 8},
    {25, 8, 8, 8, 25, 8, 8, 8},
    {8, 25, 8, 8, 25, 8, 8, 8},
    {8, 8, 25, 8, 25, 8, 8, 8},
    {25, 25, 25, 8, 25, 8, 8, 8},
    {8, 8, 8, 25, 25, 8, 8, 8},
    {8, 25, 8, 43, 25, 8, 8, 8},
    {8, 43, 25, 43, 25, 8, 8, 8},
    {8, 8, 8, 8, 43, 8, 8, 8},
    {43, 8, 8, 8, 43, 8, 8, 8},
    {43, 8, 43, 8, 43, 8, 8, 8},
    {43, 8, 8, 43, 43, 8, 8, 8},
    {25, 8, 8, 8, 8, 25, 8, 8},
    {8, 25, 8, 8, 8, 25, 8, 8},
    {8, 8, 25, 8, 8, 25, 8, 8},
    {25, 8, 43, 8, 8, 25, 8, 8},
    {8, 25, 43, 8, 8, 25, 8, 8},
    {8, 8, 8, 25, 8, 25, 8, 8},
    {43, 8, 8, 25, 8, 25, 8, 8},
    {8, 43, 8, 25, 8, 25, 8, 8},
    {8, 8, 43, 25, 8, 25, 8, 8},
    {25, 8, 8, 43, 8, 25, 8, 8},
    {8, 25, 8, 43, 8, 25, 8, 8},
    {8, 8, 25, 43, 8, 25, 8, 8},
    {8, 25, 43, 43, 8, 25, 8, 8},
    {8, 8, 8, 8, 25, 25, 8, 8},
    {43, 8, 8, 8, 25, 25, 8, 8},
    {8, 43, 8, 8, 25, 25, 8, 8},
    {8, 8, 43, 8, 25, 25, 8, 8},
    {43, 25, 8, 25, 25, 25, 8, 8},
    {25, 43, 43, 25, 25, 25, 8, 8},
    {8, 8, 8, 43, 25, 25, 8, 8},
    {25, 8, 25, 43, 25, 25, 8, 8},
    {25, 43, 8, 8, 43, 25, 8, 8},
    {8, 8, 25, 8, 43, 25, 8, 8},
    {8, 8, 8, 25, 43, 25, 8, 8},
    {8, 25, 8, 43, 43, 25, 8, 8},
    {8, 25, 43, 43, 43, 25, 8, 8},
    {8, 8, 8, 8, 8, 43, 8, 8},
    {25, 25, 8, 8, 8, 43, 8, 8},
    {8, 43, 8, 8, 8, 43, 8, 8},
    {8, 25, 25, 8, 8, 43, 8, 8},
    {8, 43, 43, 8, 8, 43, 8, 8},
    {25, 8, 8, 25, 8, 43, 8, 8},
    {8, 25, 8, 25, 8, 43, 8, 8},
    {8, 8, 25, 25, 8, 43, 8, 8},
    {43, 8, 25, 25, 8, 43, 8, 8},
    {8, 43, 8, 43, 8, 43, 8, 8},
    {8, 25, 8, 8, 25, 43, 8, 8},
    {8, 8, 8, 25, 25, 43, 8, 8},
    {43, 8, 8, 8, 43, 43, 8, 8},
    {8, 25, 25, 8, 43, 43, 8, 8},
    {25, 8, 8, 8, 8, 8, 25, 8},
    {8, 25, 8, 8, 8, 8, 25, 8},
    {8, 8, 25, 8, 8, 8, 25, 8},
    {25, 8, 43, 8, 8, 8, 25, 8},
    {8, 8, 8, 25, 8, 8, 25, 8},
    {8, 8, 43, 25, 8, 8, 25, 8},
    {8, 25, 8, 43, 8, 8, 25, 8},
    {8, 8, 25, 43, 8, 8, 25, 8},
    {25, 25, 25, 43, 8, 8, 25, 8},
    {8, 8, 8, 8, 25, 8, 25, 8},
    {8, 43, 8, 8, 25, 8, 25, 8},
    {8, 8, 43, 8, 25, 8, 25, 8},
    {8, 8, 25, 25, 25, 8, 25, 8},
    {43, 43, 25, 25, 25, 8, 25, 8},
    {8, 8, 8, 43, 25, 8, 25, 8},
    {8, 25, 43, 8, 43, 8, 25, 8},
    {25, 25, 8, 25, 43, 8, 25, 8},
    {8, 8, 8, 8, 8, 25, 25, 8},
    {8, 43, 8, 8, 8, 25, 25, 8},
    {8, 8, 43, 8, 8, 25, 25, 8},
    {25, 25, 43, 8, 8, 25, 25, 8},
    {25, 43, 8, 25, 8, 25, 25, 8},
    {8, 8, 8, 43, 8, 25, 25, 8},
    {8, 43, 25, 8, 25, 25, 25, 8},
    {43, 8, 43, 25, 25, 25, 25, 8},
    {8, 8, 8, 8, 43, 25, 25, 8},
    {43, 25, 25, 8, 43, 25, 25, 8},
    {25, 8, 8, 8, 8, 43, 25, 8},
    {8, 25, 8, 8, 8, 43, 25, 8},
    {8, 8, 25, 8, 8, 43, 25, 8},
    {8, 8, 8, 25, 8, 43, 25, 8},
    {25, 8, 8, 43, 8, 43, 25, 8},
    {8, 8, 8, 8, 25, 43, 25, 8},
    {25, 25, 8, 8, 25, 43, 25, 8},
    {8, 8, 43, 43, 25, 43, 25, 8},
    {25, 8, 25, 25, 43, 43, 25, 8},
    {8, 8, 8, 8, 8, 8, 43, 8},
    {43, 8, 8, 8, 8, 8, 43, 8},
    {43, 43, 8, 8, 8, 8, 43, 8},
    {8, 25, 8, 25, 8, 8, 43, 8},
    {25, 8, 43, 25, 8, 8, 43, 8},
    {8, 8, 8, 43, 8, 8, 43, 8},
    {43, 8, 8, 43, 8, 8, 43, 8},
    {25, 43, 43, 8, 25, 8, 43, 8},
    {8, 43, 8, 25, 25, 8, 43, 8},
    {8, 8, 8, 8, 43, 8, 43, 8},
    {43, 8, 8, 8, 43, 8, 43, 8},
    {25, 8, 8, 8, 8, 25, 43, 8},
    {8, 25, 8, 8, 8, 25, 43, 8},
    {8, 8, 25, 8, 8, 25, 43, 8},
    {8, 8, 8, 25, 8, 25, 43, 8},
    {43, 25, 25, 25, 8, 25, 43, 8},
    {8, 8, 8, 8, 25, 25, 43, 8},
    {25, 8, 8, 25, 25, 25, 43, 8},
    {8, 25, 43, 25, 25, 25, 43, 8},
    {8, 8, 25, 43, 43, 25, 43, 8},
    {8, 43, 8, 8, 8, 43, 43, 8},
    {8, 8, 43, 8, 8, 43, 43, 8},
    {8, 25, 25, 43, 8, 43, 43, 8},
    {8, 25, 8, 25, 43, 43, 43, 8},
    {25, 8, 8, 8, 8, 8, 8, 25},
    {8, 25, 8, 8, 8, 8, 8, 25},
    {8, 8, 25, 8, 8, 8, 8, 25},
    {8, 43, 25, 8, 8, 8, 8, 25},
    {25, 8, 43, 8, 8, 8, 8, 25},
    {8, 25, 43, 8, 8, 8, 8, 25},
    {8, 8, 8, 25, 8, 8, 8, 25},
    {8, 43, 8, 25, 8, 8, 8, 25},
    {43, 25, 25, 25, 8, 8, 8, 25},
    {8, 8, 43, 25, 8, 8, 8, 25},
    {25, 8, 8, 43, 8, 8, 8, 25},
    {8, 25, 8, 43, 8, 8, 8, 25},
    {8, 8, 25, 43, 8, 8, 8, 25},
    {8, 8, 8, 8, 25, 8, 8, 25},
    {8, 8, 43, 8, 25, 8, 8, 25},
    {25, 8, 43, 25, 25, 8, 8, 25},
    {8, 8, 8, 43, 25, 8, 8, 25},
    {25, 25, 8, 43, 25, 8, 8, 25},
    {25, 8, 8, 8, 43, 8, 8, 25},
    {8, 8, 25, 8, 43, 8, 8, 25},
    {8, 43, 8, 25, 43, 8, 8, 25},
    {43, 25, 25, 25, 43, 8, 8, 25},
    {8, 43, 43, 25, 43, 8, 8, 25},
    {8, 8, 8, 8, 8, 25, 8, 25},
    {8, 43, 8, 8, 8, 25, 8, 25},
    {8, 8, 43, 8, 8, 25, 8, 25},
    {8, 8, 8, 43, 8, 25, 8, 25},
    {25, 43, 25, 43, 8, 25, 8, 25},
    {43, 8, 25, 8, 25, 25, 8, 25},
    {8, 25, 43, 8, 25, 25, 8, 25},
    {8, 8, 8, 8, 43, 25, 8, 25},
    {25, 8, 8, 8, 8, 43, 8, 25},
    {8, 25, 8, 8, 8, 43, 8, 25},
    {8, 8, 25, 8, 8, 43, 8, 25},
    {8, 8, 8, 25, 8, 43, 8, 25},
    {25, 25, 8, 25, 8, 43, 8, 25},
    {8, 8, 8, 8, 25, 43, 8, 25},
    {8, 43, 25, 25, 25, 43, 8, 25},
    {25, 8, 43, 25, 25, 43, 8, 25},
    {43, 8, 8, 43, 25, 43, 8, 25},
    {25, 25, 8, 25, 43, 43, 8, 25},
    {8, 8, 25, 43, 43, 43, 8, 25},
    {8, 8, 8, 8, 8, 8, 25, 25},
    {8, 43, 8, 8, 8, 8, 25, 25},
    {25, 8, 25, 8, 8, 8, 25, 25},
    {25, 43, 25, 8, 8, 8, 25, 25},
    {8, 8, 43, 8, 8, 8, 25, 25},
    {8, 8, 8, 43, 8, 8, 25, 25},
    {8, 43, 8, 43, 8, 8, 25, 25},
    {8, 25, 8, 8, 25, 8, 25, 25},
    {43, 8, 8, 25, 25, 8, 25, 25},
    {8, 25, 43, 43, 25, 8, 25, 25},
    {25, 8, 25, 43, 43, 8, 25, 25},
    {8, 8, 25, 43, 8, 25, 25, 25},
    {43, 8, 25, 43, 8, 25, 25, 25},
    {43, 43, 8, 8, 25, 25, 25, 25},
    {25, 8, 8, 8, 43, 25, 25, 25},
    {8, 25, 25, 25, 43, 25, 25, 25},
    {8, 8, 8, 8, 8, 43, 25, 25},
    {25, 8, 25, 8, 8, 43, 25, 25},
    {25, 43, 25, 8, 8, 43, 25, 25},
    {8, 25, 43, 25, 8, 43, 25, 25},
    {8, 8, 8, 25, 25, 43, 25, 25},
    {8, 43, 8, 8, 43, 43, 25, 25},
    {8, 25, 8, 8, 8, 8, 43, 25},
    {8, 8, 25, 8, 8, 8, 43, 25},
    {8, 8, 8, 25, 8, 8, 43, 25},
    {8, 43, 43, 25, 8, 8, 43, 25},
    {8, 8, 8, 8, 25, 8, 43, 25},
    {25, 25, 25, 25, 25, 8, 43, 25},
    {8, 43, 25, 8, 43, 8, 43, 25},
    {8, 8, 43, 25, 43, 8, 43, 25},
    {8, 8, 8, 8, 8, 25, 43, 25},
    {25, 25, 8, 8, 8, 25, 43, 25},
    {8, 8, 25, 8, 25, 25, 43, 25},
    {43, 8, 25, 8, 25, 25, 43, 25},
    {8, 25, 8, 43, 25, 25, 43, 25},
    {43, 8, 8, 25, 8, 43, 43, 25},
    {8, 8, 8, 8, 8, 8, 8, 43},
    {43, 8, 8, 8, 8, 8, 8, 43},
    {43, 43, 8, 8, 8, 8, 8, 43},
    {25, 8, 8, 25, 8, 8, 8, 43},
    {43, 8, 8, 43, 8, 8, 8, 43},
    {8, 25, 8, 8, 25, 8, 8, 43},
    {8, 43, 25, 8, 25, 8, 8, 43},
    {8, 8, 8, 25, 25, 8, 8, 43},
    {25, 8, 25, 8, 43, 8, 8, 43},
    {25, 8, 8, 8, 8, 25, 8, 43},
    {8, 25, 8, 8, 8, 25, 8, 43},
    {8, 8, 25, 8, 8, 25, 8, 43},
    {25, 25, 25, 8, 8, 25, 8, 43},
    {8, 8, 8, 25, 8, 25, 8, 43},
    {8, 8, 43, 25, 8, 25, 8, 43},
    {8, 8, 8, 8, 25, 25, 8, 43},
    {43, 25, 8, 25, 25, 25, 8, 43},
    {8, 25, 25, 43, 25, 25, 8, 43},
    {25, 43, 8, 8, 43, 25, 8, 43},
    {8, 8, 8, 25, 43, 25, 8, 43},
    {8, 8, 43, 25, 43, 25, 8, 43},
    {43, 8, 8, 8, 8, 43, 8, 43},
    {8, 25, 8, 8, 25, 43, 8, 43},
    {25, 8, 25, 8, 43, 43, 8, 43},
    {8, 25, 8, 8, 8, 8, 25, 43},
    {8, 8, 25, 8, 8, 8, 25, 43},
    {8, 25, 43, 8, 8, 8, 25, 43},
    {8, 8, 8, 25, 8, 8, 25, 43},
    {25, 8, 43, 43, 8, 8, 25, 43},
    {43, 25, 25, 8, 25, 8, 25, 43},
    {8, 8, 8, 43, 25, 8, 25, 43},
    {25, 25, 8, 25, 43, 8, 25, 43},
    {8, 8, 8, 8, 8, 25, 25, 43},
    {43, 8, 43, 8, 8, 25, 25, 43},
    {8, 25, 8, 25, 8, 25, 25, 43},
    {25, 8, 25, 25, 25, 25, 25, 43},
    {25, 8, 8, 43, 8, 43, 25, 43},
    {8, 8, 43, 8, 25, 43, 25, 43},
    {43, 8, 8, 8, 8, 8, 43, 43},
    {8, 8, 25, 25, 8, 8, 43, 43},
    {25, 25, 8, 43, 8, 8, 43, 43},
    {25, 43, 8, 8, 25, 8, 43, 43},
    {8, 8, 8, 8, 43, 8, 43, 43},
    {8, 43, 25, 8, 8, 25, 43, 43},
    {8, 8, 25, 25, 8, 43, 43, 43},
    {8, 25, 8, 8, 25, 43, 43, 43}
};

static const uint32_t S[128] = {
    0, 129, 130, 3, 132, 5, 6, 135, 136, 9, 10, 139, 12, 141, 142, 15,
    144, 17, 18, 147, 20, 149, 150, 23, 24, 153, 154, 27, 156, 29, 30, 159,
    160, 33, 34, 163, 36, 165, 166, 39, 40, 169, 170, 43, 172, 45, 46, 175,
    48, 177, 178, 51, 180, 53, 54, 183, 184, 57, 58, 187, 60, 189, 190, 63,
    192, 65, 66, 195, 68, 197, 198, 71, 72, 201, 202, 75, 204, 77, 78, 207,
    80, 209, 210, 83, 212, 85, 86, 215, 216, 89, 90, 219, 92, 221, 222, 95,
    96, 225, 226, 99, 228, 101, 102, 231, 232, 105, 106, 235, 108, 237, 238, 111,
    240, 113, 114, 243, 116, 245, 246, 119, 120, 249, 250, 123, 252, 125, 126, 255
};

/* The value of element `index` of a tensor. */
static float value_at(const void *const *from, uint64_t index) {
    const uint8_t *const blocks = (const uint8_t *)from[0] + index / 256u * 66u;
    const uint32_t i = (uint32_t)(index % 256u);
    const float d = qk_f16_to_f32((uint32_t)blocks[0u] | ((uint32_t)blocks[1u] << 8u));
    const uint32_t qs0 = (uint32_t)blocks[i / 32u * 8u + 9u];
    const uint32_t sc = qs0 >> 4u;  // qs: 4 bits
    const uint32_t qs1 = (uint32_t)blocks[i / 8u / 4u * 8u + i / 8u % 4u + 2u];
    const uint32_t qs2 = (uint32_t)blocks[(i / 8u / 4u * 64u + i / 8u % 4u * 7u + 48u) / 8u] | ((uint32_t)blocks[(i / 8u / 4u * 64u + i / 8u % 4u * 7u + 48u) / 8u + 1u] << 8u);
    const uint32_t s = (qs2 >> ((i / 8u / 4u * 64u + i / 8u % 4u * 7u + 48u) % 8u)) & 0x7Fu;  // qs: 7 bits
    return d * (0.5f + (float)sc) * 0.25f * (float)G[qs1][i % 8u] * (float)((((int32_t)S[s] >> (int32_t)(i % 8u)) & 1) != 0 ? -1 : 1);
}

static uint16_t f16_at(const void *const *from, uint64_t index) {
    return qk_f32_to_f16(value_at(from, index));
}

static uint16_t bf16_at(const void *const *from, uint64_t index) {
    return qk_f32_to_bf16(value_at(from, index));
}

void qk_iq2_xxs_dequant_f32_ref(const void *const weights[1],
    uint64_t elements, float *dst) {
    for (uint64_t i = 0; i < elements; ++i) dst[i] = value_at(weights, i);
}

void qk_iq2_xxs_dequant_f16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst) {
    for (uint64_t i = 0; i < elements; ++i) dst[i] = f16_at(weights, i);
}

void qk_iq2_xxs_dequant_bf16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst) {
    for (uint64_t i = 0; i < elements; ++i) dst[i] = bf16_at(weights, i);
}

/* Returns how many indices are out of range; their rows are zeros. */
uint64_t qk_iq2_xxs_gather_f32_ref(const void *const weights[1],
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
uint64_t qk_iq2_xxs_gather_f16_ref(const void *const weights[1],
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
uint64_t qk_iq2_xxs_gather_bf16_ref(const void *const weights[1],
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
void qk_iq2_xxs_gemv_f32_ref(const void *const weights[1],
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
void qk_iq2_xxs_gemv_f16_ref(const void *const weights[1],
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

/* y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], summed in double precision. Returns how many ids are out of
 * range; their results are zeros. */
uint64_t qk_iq2_xxs_gemv_id_f32_ref(const void *const weights[1],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols, uint64_t tokens,
    uint64_t slots, float *y) {
    uint64_t out_of_range = 0;
    for (uint64_t p = 0; p < tokens * slots; ++p) {
        const uint64_t m = p / slots, expert = ids[p];
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

/* y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], summed in double precision. Returns how many ids are out of
 * range; their results are zeros. */
uint64_t qk_iq2_xxs_gemv_id_f16_ref(const void *const weights[1],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols, uint64_t tokens,
    uint64_t slots, float *y) {
    uint64_t out_of_range = 0;
    for (uint64_t p = 0; p < tokens * slots; ++p) {
        const uint64_t m = p / slots, expert = ids[p];
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

/* The code itself: iq2_xxs_code.c. */
extern const qk_code qk_iq2_xxs_dequant_f32_spirv;
extern const qk_code qk_iq2_xxs_dequant_f16_spirv;
extern const qk_code qk_iq2_xxs_dequant_bf16_spirv;
extern const qk_code qk_iq2_xxs_gather_f32_spirv;
extern const qk_code qk_iq2_xxs_gather_f16_spirv;
extern const qk_code qk_iq2_xxs_gather_bf16_spirv;
extern const qk_code qk_iq2_xxs_gemv_f32_spirv;
extern const qk_code qk_iq2_xxs_gemv_int8_f32_spirv;
extern const qk_code qk_iq2_xxs_gemv_f16_spirv;
extern const qk_code qk_iq2_xxs_gemv_int8_f16_spirv;
extern const qk_code qk_iq2_xxs_gemv_id_f32_spirv;
extern const qk_code qk_iq2_xxs_gemv_id_int8_f32_spirv;
extern const qk_code qk_iq2_xxs_gemv_id_f16_spirv;
extern const qk_code qk_iq2_xxs_gemv_id_int8_f16_spirv;
extern const qk_code qk_iq2_xxs_msl;

static const uint32_t iq2_xxs_G_table[] = {
    0x08080808, 0x08080808, 0x0808082B, 0x08080808, 0x08081919, 0x08080808, 0x08082B08, 0x08080808,
    0x08082B2B, 0x08080808, 0x08190819, 0x08080808, 0x08191908, 0x08080808, 0x082B0808, 0x08080808,
    0x082B082B, 0x08080808, 0x082B2B08, 0x08080808, 0x082B2B2B, 0x08080808, 0x19080819, 0x08080808,
    0x19081908, 0x08080808, 0x19190808, 0x08080808, 0x19192B08, 0x08080808, 0x192B0819, 0x08080808,
    0x192B1908, 0x08080808, 0x2B080808, 0x08080808, 0x2B08082B, 0x08080808, 0x2B082B2B, 0x08080808,
    0x2B2B082B, 0x08080808, 0x08080819, 0x08080819, 0x08081908, 0x08080819, 0x08190808, 0x08080819,
    0x08191919, 0x08080819, 0x19080808, 0x08080819, 0x2B081908, 0x08080819, 0x2B192B08, 0x08080819,
    0x08080808, 0x0808082B, 0x0808082B, 0x0808082B, 0x082B082B, 0x0808082B, 0x2B08082B, 0x0808082B,
    0x08080819, 0x08081908, 0x08081908, 0x08081908, 0x08190808, 0x08081908, 0x082B0819, 0x08081908,
    0x082B1908, 0x08081908, 0x19080808, 0x08081908, 0x1908082B, 0x08081908, 0x19082B08, 0x08081908,
    0x192B0808, 0x08081908, 0x2B080819, 0x08081908, 0x2B081908, 0x08081908, 0x2B190808, 0x08081908,
    0x2B2B1908, 0x08081908, 0x08080808, 0x08081919, 0x0808082B, 0x08081919, 0x08082B08, 0x08081919,
    0x082B0808, 0x08081919, 0x1908192B, 0x08081919, 0x192B2B19, 0x08081919, 0x2B080808, 0x08081919,
    0x2B190819, 0x08081919, 0x08082B19, 0x0808192B, 0x08190808, 0x0808192B, 0x19080808, 0x0808192B,
    0x2B081908, 0x0808192B, 0x2B2B1908, 0x0808192B, 0x08080808, 0x08082B08, 0x08081919, 0x08082B08,
    0x08082B08, 0x08082B08, 0x08191908, 0x08082B08, 0x082B2B08, 0x08082B08, 0x19080819, 0x08082B08,
    0x19081908, 0x08082B08, 0x19190808, 0x08082B08, 0x1919082B, 0x08082B08, 0x2B082B08, 0x08082B08,
    0x08081908, 0x08082B19, 0x19080808, 0x08082B19, 0x0808082B, 0x08082B2B, 0x08191908, 0x08082B2B,
    0x08080819, 0x08190808, 0x08081908, 0x08190808, 0x08190808, 0x08190808, 0x082B0819, 0x08190808,
    0x19080808, 0x08190808, 0x192B0808, 0x08190808, 0x2B081908, 0x08190808, 0x2B190808, 0x08190808,
    0x2B191919, 0x08190808, 0x08080808, 0x08190819, 0x08082B08, 0x08190819, 0x082B0808, 0x08190819,
    0x19190808, 0x08190819, 0x19192B2B, 0x08190819, 0x2B080808, 0x08190819, 0x082B1908, 0x0819082B,
    0x19081919, 0x0819082B, 0x08080808, 0x08191908, 0x08082B08, 0x08191908, 0x082B0808, 0x08191908,
    0x082B1919, 0x08191908, 0x19082B19, 0x08191908, 0x2B080808, 0x08191908, 0x08192B08, 0x08191919,
    0x192B082B, 0x08191919, 0x08080808, 0x0819192B, 0x0819192B, 0x0819192B, 0x08080819, 0x08192B08,
    0x08081908, 0x08192B08, 0x08190808, 0x08192B08, 0x19080808, 0x08192B08, 0x2B080819, 0x08192B08,
    0x08080808, 0x08192B19, 0x08081919, 0x08192B19, 0x2B2B0808, 0x08192B19, 0x19190819, 0x08192B2B,
    0x08080808, 0x082B0808, 0x0808082B, 0x082B0808, 0x08082B2B, 0x082B0808, 0x19081908, 0x082B0808,
    0x192B0819, 0x082B0808, 0x2B080808, 0x082B0808, 0x2B08082B, 0x082B0808, 0x082B2B19, 0x082B0819,
    0x19082B08, 0x082B0819, 0x08080808, 0x082B082B, 0x0808082B, 0x082B082B, 0x08080819, 0x082B1908,
    0x08081908, 0x082B1908, 0x08190808, 0x082B1908, 0x19080808, 0x082B1908, 0x1919192B, 0x082B1908,
    0x08080808, 0x082B1919, 0x19080819, 0x082B1919, 0x192B1908, 0x082B1919, 0x2B190808, 0x082B192B,
    0x08082B08, 0x082B2B08, 0x082B0808, 0x082B2B08, 0x2B191908, 0x082B2B08, 0x19081908, 0x082B2B2B,
    0x08080819, 0x19080808, 0x08081908, 0x19080808, 0x08190808, 0x19080808, 0x08192B08, 0x19080808,
    0x082B0819, 0x19080808, 0x082B1908, 0x19080808, 0x19080808, 0x19080808, 0x19082B08, 0x19080808,
    0x1919192B, 0x19080808, 0x192B0808, 0x19080808, 0x2B080819, 0x19080808, 0x2B081908, 0x19080808,
    0x2B190808, 0x19080808, 0x08080808, 0x19080819, 0x082B0808, 0x19080819, 0x192B0819, 0x19080819,
    0x2B080808, 0x19080819, 0x2B081919, 0x19080819, 0x08080819, 0x1908082B, 0x08190808, 0x1908082B,
    0x19082B08, 0x1908082B, 0x1919192B, 0x1908082B, 0x192B2B08, 0x1908082B, 0x08080808, 0x19081908,
    0x08082B08, 0x19081908, 0x082B0808, 0x19081908, 0x2B080808, 0x19081908, 0x2B192B19, 0x19081908,
    0x0819082B, 0x19081919, 0x082B1908, 0x19081919, 0x08080808, 0x1908192B, 0x08080819, 0x19082B08,
    0x08081908, 0x19082B08, 0x08190808, 0x19082B08, 0x19080808, 0x19082B08, 0x19081919, 0x19082B08,
    0x08080808, 0x19082B19, 0x19192B08, 0x19082B19, 0x192B0819, 0x19082B19, 0x2B08082B, 0x19082B19,
    0x19081919, 0x19082B2B, 0x2B190808, 0x19082B2B, 0x08080808, 0x19190808, 0x08082B08, 0x19190808,
    0x08190819, 0x19190808, 0x08192B19, 0x19190808, 0x082B0808, 0x19190808, 0x2B080808, 0x19190808,
    0x2B082B08, 0x19190808, 0x08081908, 0x19190819, 0x1908082B, 0x19190819, 0x2B2B1908, 0x19190819,
    0x2B190819, 0x1919082B, 0x2B190808, 0x19191908, 0x2B19082B, 0x19191908, 0x08082B2B, 0x19191919,
    0x08080819, 0x1919192B, 0x19191908, 0x1919192B, 0x08080808, 0x19192B08, 0x08190819, 0x19192B08,
    0x08192B19, 0x19192B08, 0x192B1908, 0x19192B08, 0x19080808, 0x19192B19, 0x08082B08, 0x19192B2B,
    0x08081908, 0x192B0808, 0x08190808, 0x192B0808, 0x19080808, 0x192B0808, 0x192B2B08, 0x192B0808,
    0x08080808, 0x192B0819, 0x19191919, 0x192B0819, 0x08192B08, 0x192B082B, 0x192B0808, 0x192B082B,
    0x08080808, 0x192B1908, 0x08081919, 0x192B1908, 0x08190808, 0x192B1919, 0x0819082B, 0x192B1919,
    0x2B081908, 0x192B1919, 0x1908082B, 0x192B2B08, 0x08080808, 0x2B080808, 0x0808082B, 0x2B080808,
    0x08082B2B, 0x2B080808, 0x19080819, 0x2B080808, 0x2B08082B, 0x2B080808, 0x08081908, 0x2B080819,
    0x08192B08, 0x2B080819, 0x19080808, 0x2B080819, 0x08190819, 0x2B08082B, 0x08080819, 0x2B081908,
    0x08081908, 0x2B081908, 0x08190808, 0x2B081908, 0x08191919, 0x2B081908, 0x19080808, 0x2B081908,
    0x192B0808, 0x2B081908, 0x08080808, 0x2B081919, 0x1908192B, 0x2B081919, 0x2B191908, 0x2B081919,
    0x08082B19, 0x2B08192B, 0x19080808, 0x2B08192B, 0x192B0808, 0x2B08192B, 0x0808082B, 0x2B082B08,
    0x08081908, 0x2B082B19, 0x08190819, 0x2B082B2B, 0x08081908, 0x2B190808, 0x08190808, 0x2B190808,
    0x082B1908, 0x2B190808, 0x19080808, 0x2B190808, 0x2B2B0819, 0x2B190808, 0x0819192B, 0x2B190819,
    0x2B080808, 0x2B190819, 0x19081919, 0x2B19082B, 0x08080808, 0x2B191908, 0x082B082B, 0x2B191908,
    0x19081908, 0x2B191908, 0x19190819, 0x2B191919, 0x2B080819, 0x2B192B08, 0x082B0808, 0x2B192B19,
    0x0808082B, 0x2B2B0808, 0x19190808, 0x2B2B0808, 0x2B081919, 0x2B2B0808, 0x08082B19, 0x2B2B0819,
    0x08080808, 0x2B2B082B, 0x08192B08, 0x2B2B1908, 0x19190808, 0x2B2B2B08, 0x08081908, 0x2B2B2B19
};

static const uint32_t iq2_xxs_S_table[] = {
    0x00000000, 0x00000081, 0x00000082, 0x00000003, 0x00000084, 0x00000005, 0x00000006, 0x00000087,
    0x00000088, 0x00000009, 0x0000000A, 0x0000008B, 0x0000000C, 0x0000008D, 0x0000008E, 0x0000000F,
    0x00000090, 0x00000011, 0x00000012, 0x00000093, 0x00000014, 0x00000095, 0x00000096, 0x00000017,
    0x00000018, 0x00000099, 0x0000009A, 0x0000001B, 0x0000009C, 0x0000001D, 0x0000001E, 0x0000009F,
    0x000000A0, 0x00000021, 0x00000022, 0x000000A3, 0x00000024, 0x000000A5, 0x000000A6, 0x00000027,
    0x00000028, 0x000000A9, 0x000000AA, 0x0000002B, 0x000000AC, 0x0000002D, 0x0000002E, 0x000000AF,
    0x00000030, 0x000000B1, 0x000000B2, 0x00000033, 0x000000B4, 0x00000035, 0x00000036, 0x000000B7,
    0x000000B8, 0x00000039, 0x0000003A, 0x000000BB, 0x0000003C, 0x000000BD, 0x000000BE, 0x0000003F,
    0x000000C0, 0x00000041, 0x00000042, 0x000000C3, 0x00000044, 0x000000C5, 0x000000C6, 0x00000047,
    0x00000048, 0x000000C9, 0x000000CA, 0x0000004B, 0x000000CC, 0x0000004D, 0x0000004E, 0x000000CF,
    0x00000050, 0x000000D1, 0x000000D2, 0x00000053, 0x000000D4, 0x00000055, 0x00000056, 0x000000D7,
    0x000000D8, 0x00000059, 0x0000005A, 0x000000DB, 0x0000005C, 0x000000DD, 0x000000DE, 0x0000005F,
    0x00000060, 0x000000E1, 0x000000E2, 0x00000063, 0x000000E4, 0x00000065, 0x00000066, 0x000000E7,
    0x000000E8, 0x00000069, 0x0000006A, 0x000000EB, 0x0000006C, 0x000000ED, 0x000000EE, 0x0000006F,
    0x000000F0, 0x00000071, 0x00000072, 0x000000F3, 0x00000074, 0x000000F5, 0x000000F6, 0x00000077,
    0x00000078, 0x000000F9, 0x000000FA, 0x0000007B, 0x000000FC, 0x0000007D, 0x0000007E, 0x000000FF
};

static const qk_binding iq2_xxs_dequant_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_dequant_f32_push[] = {
    {"tiles", 0, 4},
};
static const qk_table iq2_xxs_dequant_f32_tables[] = {
    {2, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {3, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_dequant_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant iq2_xxs_dequant_f32_vulkan_constants[] = {{0, "local_size_x", 256, 6, iq2_xxs_dequant_f32_vulkan_local_size_x}};

const qk_kernel qk_iq2_xxs_dequant_f32_vulkan = {
    .name = "iq2_xxs_dequant_f32",
    .format = "iq2_xxs",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_dequant_f32_spirv,
    .binding_count = 2,
    .bindings = iq2_xxs_dequant_f32_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = iq2_xxs_dequant_f32_push,
    .table_count = 2,
    .tables = iq2_xxs_dequant_f32_tables,
    .spec_constant_count = 1,
    .spec_constants = iq2_xxs_dequant_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 4,
};

const qk_kernel qk_iq2_xxs_dequant_f32_metal = {
    .name = "iq2_xxs_dequant_f32",
    .format = "iq2_xxs",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "iq2_xxs_dequant_f32",
    .code = &qk_iq2_xxs_msl,
    .binding_count = 2,
    .bindings = iq2_xxs_dequant_f32_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = iq2_xxs_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding iq2_xxs_dequant_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_dequant_f16_push[] = {
    {"tiles", 0, 4},
};
static const qk_table iq2_xxs_dequant_f16_tables[] = {
    {2, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {3, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_dequant_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_dequant_f16_vulkan_rounds_f16[] = {0, 1};
static const qk_spec_constant iq2_xxs_dequant_f16_vulkan_constants[] = {{0, "local_size_x", 256, 6, iq2_xxs_dequant_f16_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, iq2_xxs_dequant_f16_vulkan_rounds_f16}};

const qk_kernel qk_iq2_xxs_dequant_f16_vulkan = {
    .name = "iq2_xxs_dequant_f16",
    .format = "iq2_xxs",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_dequant_f16_spirv,
    .binding_count = 2,
    .bindings = iq2_xxs_dequant_f16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = iq2_xxs_dequant_f16_push,
    .table_count = 2,
    .tables = iq2_xxs_dequant_f16_tables,
    .spec_constant_count = 2,
    .spec_constants = iq2_xxs_dequant_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 8,
};

const qk_kernel qk_iq2_xxs_dequant_f16_metal = {
    .name = "iq2_xxs_dequant_f16",
    .format = "iq2_xxs",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "iq2_xxs_dequant_f16",
    .code = &qk_iq2_xxs_msl,
    .binding_count = 2,
    .bindings = iq2_xxs_dequant_f16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = iq2_xxs_dequant_f16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding iq2_xxs_dequant_bf16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_dequant_bf16_push[] = {
    {"tiles", 0, 4},
};
static const qk_table iq2_xxs_dequant_bf16_tables[] = {
    {2, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {3, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_dequant_bf16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant iq2_xxs_dequant_bf16_vulkan_constants[] = {{0, "local_size_x", 256, 6, iq2_xxs_dequant_bf16_vulkan_local_size_x}};

const qk_kernel qk_iq2_xxs_dequant_bf16_vulkan = {
    .name = "iq2_xxs_dequant_bf16",
    .format = "iq2_xxs",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_dequant_bf16_spirv,
    .binding_count = 2,
    .bindings = iq2_xxs_dequant_bf16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = iq2_xxs_dequant_bf16_push,
    .table_count = 2,
    .tables = iq2_xxs_dequant_bf16_tables,
    .spec_constant_count = 1,
    .spec_constants = iq2_xxs_dequant_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 8,
};

const qk_kernel qk_iq2_xxs_dequant_bf16_metal = {
    .name = "iq2_xxs_dequant_bf16",
    .format = "iq2_xxs",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "iq2_xxs_dequant_bf16",
    .code = &qk_iq2_xxs_msl,
    .binding_count = 2,
    .bindings = iq2_xxs_dequant_bf16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = iq2_xxs_dequant_bf16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding iq2_xxs_gather_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gather_f32_push[] = {
    {"rows", 0, 4},
    {"row_first", 4, 4},
    {"row_end", 8, 4},
    {"row_tiles", 12, 4},
    {"tokens", 16, 4},
};
static const qk_table iq2_xxs_gather_f32_tables[] = {
    {4, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {5, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gather_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant iq2_xxs_gather_f32_vulkan_constants[] = {{0, "local_size_x", 256, 6, iq2_xxs_gather_f32_vulkan_local_size_x}};

const qk_kernel qk_iq2_xxs_gather_f32_vulkan = {
    .name = "iq2_xxs_gather_f32",
    .format = "iq2_xxs",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gather_f32_spirv,
    .binding_count = 4,
    .bindings = iq2_xxs_gather_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq2_xxs_gather_f32_push,
    .table_count = 2,
    .tables = iq2_xxs_gather_f32_tables,
    .spec_constant_count = 1,
    .spec_constants = iq2_xxs_gather_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 4,
};

const qk_kernel qk_iq2_xxs_gather_f32_metal = {
    .name = "iq2_xxs_gather_f32",
    .format = "iq2_xxs",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "iq2_xxs_gather_f32",
    .code = &qk_iq2_xxs_msl,
    .binding_count = 4,
    .bindings = iq2_xxs_gather_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq2_xxs_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding iq2_xxs_gather_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gather_f16_push[] = {
    {"rows", 0, 4},
    {"row_first", 4, 4},
    {"row_end", 8, 4},
    {"row_tiles", 12, 4},
    {"tokens", 16, 4},
};
static const qk_table iq2_xxs_gather_f16_tables[] = {
    {4, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {5, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gather_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gather_f16_vulkan_rounds_f16[] = {0, 1};
static const qk_spec_constant iq2_xxs_gather_f16_vulkan_constants[] = {{0, "local_size_x", 256, 6, iq2_xxs_gather_f16_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, iq2_xxs_gather_f16_vulkan_rounds_f16}};

const qk_kernel qk_iq2_xxs_gather_f16_vulkan = {
    .name = "iq2_xxs_gather_f16",
    .format = "iq2_xxs",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gather_f16_spirv,
    .binding_count = 4,
    .bindings = iq2_xxs_gather_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq2_xxs_gather_f16_push,
    .table_count = 2,
    .tables = iq2_xxs_gather_f16_tables,
    .spec_constant_count = 2,
    .spec_constants = iq2_xxs_gather_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 8,
};

const qk_kernel qk_iq2_xxs_gather_f16_metal = {
    .name = "iq2_xxs_gather_f16",
    .format = "iq2_xxs",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "iq2_xxs_gather_f16",
    .code = &qk_iq2_xxs_msl,
    .binding_count = 4,
    .bindings = iq2_xxs_gather_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq2_xxs_gather_f16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding iq2_xxs_gather_bf16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gather_bf16_push[] = {
    {"rows", 0, 4},
    {"row_first", 4, 4},
    {"row_end", 8, 4},
    {"row_tiles", 12, 4},
    {"tokens", 16, 4},
};
static const qk_table iq2_xxs_gather_bf16_tables[] = {
    {4, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {5, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gather_bf16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant iq2_xxs_gather_bf16_vulkan_constants[] = {{0, "local_size_x", 256, 6, iq2_xxs_gather_bf16_vulkan_local_size_x}};

const qk_kernel qk_iq2_xxs_gather_bf16_vulkan = {
    .name = "iq2_xxs_gather_bf16",
    .format = "iq2_xxs",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gather_bf16_spirv,
    .binding_count = 4,
    .bindings = iq2_xxs_gather_bf16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq2_xxs_gather_bf16_push,
    .table_count = 2,
    .tables = iq2_xxs_gather_bf16_tables,
    .spec_constant_count = 1,
    .spec_constants = iq2_xxs_gather_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 8,
};

const qk_kernel qk_iq2_xxs_gather_bf16_metal = {
    .name = "iq2_xxs_gather_bf16",
    .format = "iq2_xxs",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "iq2_xxs_gather_bf16",
    .code = &qk_iq2_xxs_msl,
    .binding_count = 4,
    .bindings = iq2_xxs_gather_bf16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq2_xxs_gather_bf16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding iq2_xxs_gemv_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gemv_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
};
static const qk_table iq2_xxs_gemv_f32_tables[] = {
    {3, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {4, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gemv_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gemv_f32_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq2_xxs_gemv_f32_vulkan_load_words[] = {1, 4};
static const uint32_t iq2_xxs_gemv_f32_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t iq2_xxs_gemv_f32_vulkan_checked[] = {0, 1};
static const uint32_t iq2_xxs_gemv_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq2_xxs_gemv_f32_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq2_xxs_gemv_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq2_xxs_gemv_f32_vulkan_local_size_x},
    {1, "batch", 1, 4, iq2_xxs_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, iq2_xxs_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, iq2_xxs_gemv_f32_vulkan_split},
    {5, "load_words", 4, 2, iq2_xxs_gemv_f32_vulkan_load_words},
    {6, "shared_fours", 512, 4, iq2_xxs_gemv_f32_vulkan_shared_fours},
    {12, "checked", 0, 2, iq2_xxs_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, iq2_xxs_gemv_f32_vulkan_staged},
    {9, "table_copies", 1, 6, iq2_xxs_gemv_f32_vulkan_table_copies}};

const qk_kernel qk_iq2_xxs_gemv_f32_vulkan = {
    .name = "iq2_xxs_gemv_f32",
    .format = "iq2_xxs",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gemv_f32_spirv,
    .binding_count = 3,
    .bindings = iq2_xxs_gemv_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq2_xxs_gemv_f32_push,
    .table_count = 2,
    .tables = iq2_xxs_gemv_f32_tables,
    .spec_constant_count = 9,
    .spec_constants = iq2_xxs_gemv_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .sum_roundings = 130,
};

static const uint32_t iq2_xxs_gemv_f32_metal_batch[] = {1, 2, 4, 8};
static const qk_spec_constant iq2_xxs_gemv_f32_metal_constants[] = {{1, "batch", 1, 4, iq2_xxs_gemv_f32_metal_batch}};

const qk_kernel qk_iq2_xxs_gemv_f32_metal = {
    .name = "iq2_xxs_gemv_f32",
    .format = "iq2_xxs",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "iq2_xxs_gemv_f32",
    .code = &qk_iq2_xxs_msl,
    .binding_count = 3,
    .bindings = iq2_xxs_gemv_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq2_xxs_gemv_f32_push,
    .spec_constant_count = 1,
    .spec_constants = iq2_xxs_gemv_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .sum_roundings = 82,
};

static const qk_binding iq2_xxs_gemv_int8_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gemv_int8_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
};
static const qk_table iq2_xxs_gemv_int8_f32_tables[] = {
    {3, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {4, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gemv_int8_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gemv_int8_f32_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_int8_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_int8_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq2_xxs_gemv_int8_f32_vulkan_digits[] = {1};
static const uint32_t iq2_xxs_gemv_int8_f32_vulkan_load_words[] = {1, 4};
static const uint32_t iq2_xxs_gemv_int8_f32_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t iq2_xxs_gemv_int8_f32_vulkan_padded[] = {0, 1};
static const uint32_t iq2_xxs_gemv_int8_f32_vulkan_checked[] = {0, 1};
static const uint32_t iq2_xxs_gemv_int8_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq2_xxs_gemv_int8_f32_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq2_xxs_gemv_int8_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq2_xxs_gemv_int8_f32_vulkan_local_size_x},
    {1, "batch", 1, 4, iq2_xxs_gemv_int8_f32_vulkan_batch},
    {2, "rows", 4, 4, iq2_xxs_gemv_int8_f32_vulkan_rows},
    {3, "split", 1, 6, iq2_xxs_gemv_int8_f32_vulkan_split},
    {4, "digits", 1, 1, iq2_xxs_gemv_int8_f32_vulkan_digits},
    {5, "load_words", 4, 2, iq2_xxs_gemv_int8_f32_vulkan_load_words},
    {6, "shared_fours", 512, 4, iq2_xxs_gemv_int8_f32_vulkan_shared_fours},
    {11, "padded", 0, 2, iq2_xxs_gemv_int8_f32_vulkan_padded},
    {12, "checked", 1, 2, iq2_xxs_gemv_int8_f32_vulkan_checked},
    {7, "staged", 1, 4, iq2_xxs_gemv_int8_f32_vulkan_staged},
    {9, "table_copies", 1, 6, iq2_xxs_gemv_int8_f32_vulkan_table_copies}};

const qk_kernel qk_iq2_xxs_gemv_int8_f32_vulkan = {
    .name = "iq2_xxs_gemv_int8_f32",
    .format = "iq2_xxs",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gemv_int8_f32_spirv,
    .binding_count = 3,
    .bindings = iq2_xxs_gemv_int8_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq2_xxs_gemv_int8_f32_push,
    .table_count = 2,
    .tables = iq2_xxs_gemv_int8_f32_tables,
    .spec_constant_count = 11,
    .spec_constants = iq2_xxs_gemv_int8_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .sum_roundings = 130,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 32,
};

static const qk_binding iq2_xxs_gemv_split_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gemv_split_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
};
static const qk_table iq2_xxs_gemv_split_f32_tables[] = {
    {3, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {4, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gemv_split_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gemv_split_f32_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_split_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_split_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq2_xxs_gemv_split_f32_vulkan_digits[] = {2};
static const uint32_t iq2_xxs_gemv_split_f32_vulkan_load_words[] = {1, 4};
static const uint32_t iq2_xxs_gemv_split_f32_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t iq2_xxs_gemv_split_f32_vulkan_padded[] = {0, 1};
static const uint32_t iq2_xxs_gemv_split_f32_vulkan_checked[] = {0, 1};
static const uint32_t iq2_xxs_gemv_split_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq2_xxs_gemv_split_f32_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq2_xxs_gemv_split_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq2_xxs_gemv_split_f32_vulkan_local_size_x},
    {1, "batch", 1, 4, iq2_xxs_gemv_split_f32_vulkan_batch},
    {2, "rows", 4, 4, iq2_xxs_gemv_split_f32_vulkan_rows},
    {3, "split", 1, 6, iq2_xxs_gemv_split_f32_vulkan_split},
    {4, "digits", 2, 1, iq2_xxs_gemv_split_f32_vulkan_digits},
    {5, "load_words", 4, 2, iq2_xxs_gemv_split_f32_vulkan_load_words},
    {6, "shared_fours", 512, 4, iq2_xxs_gemv_split_f32_vulkan_shared_fours},
    {11, "padded", 0, 2, iq2_xxs_gemv_split_f32_vulkan_padded},
    {12, "checked", 0, 2, iq2_xxs_gemv_split_f32_vulkan_checked},
    {7, "staged", 1, 4, iq2_xxs_gemv_split_f32_vulkan_staged},
    {9, "table_copies", 1, 6, iq2_xxs_gemv_split_f32_vulkan_table_copies}};

const qk_kernel qk_iq2_xxs_gemv_split_f32_vulkan = {
    .name = "iq2_xxs_gemv_split_f32",
    .format = "iq2_xxs",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gemv_int8_f32_spirv,
    .binding_count = 3,
    .bindings = iq2_xxs_gemv_split_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq2_xxs_gemv_split_f32_push,
    .table_count = 2,
    .tables = iq2_xxs_gemv_split_f32_tables,
    .spec_constant_count = 11,
    .spec_constants = iq2_xxs_gemv_split_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .sum_roundings = 130,
    .x_levels = 32639,
    .x_group = 32,
    .x_reach = 32,
};

static const qk_binding iq2_xxs_gemv_int24_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gemv_int24_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
};
static const qk_table iq2_xxs_gemv_int24_f32_tables[] = {
    {3, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {4, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gemv_int24_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gemv_int24_f32_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_int24_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_int24_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq2_xxs_gemv_int24_f32_vulkan_digits[] = {3};
static const uint32_t iq2_xxs_gemv_int24_f32_vulkan_load_words[] = {1, 4};
static const uint32_t iq2_xxs_gemv_int24_f32_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t iq2_xxs_gemv_int24_f32_vulkan_padded[] = {0, 1};
static const uint32_t iq2_xxs_gemv_int24_f32_vulkan_checked[] = {0, 1};
static const uint32_t iq2_xxs_gemv_int24_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq2_xxs_gemv_int24_f32_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq2_xxs_gemv_int24_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq2_xxs_gemv_int24_f32_vulkan_local_size_x},
    {1, "batch", 1, 4, iq2_xxs_gemv_int24_f32_vulkan_batch},
    {2, "rows", 4, 4, iq2_xxs_gemv_int24_f32_vulkan_rows},
    {3, "split", 1, 6, iq2_xxs_gemv_int24_f32_vulkan_split},
    {4, "digits", 3, 1, iq2_xxs_gemv_int24_f32_vulkan_digits},
    {5, "load_words", 4, 2, iq2_xxs_gemv_int24_f32_vulkan_load_words},
    {6, "shared_fours", 512, 4, iq2_xxs_gemv_int24_f32_vulkan_shared_fours},
    {11, "padded", 0, 2, iq2_xxs_gemv_int24_f32_vulkan_padded},
    {12, "checked", 0, 2, iq2_xxs_gemv_int24_f32_vulkan_checked},
    {7, "staged", 1, 4, iq2_xxs_gemv_int24_f32_vulkan_staged},
    {9, "table_copies", 1, 6, iq2_xxs_gemv_int24_f32_vulkan_table_copies}};

const qk_kernel qk_iq2_xxs_gemv_int24_f32_vulkan = {
    .name = "iq2_xxs_gemv_int24_f32",
    .format = "iq2_xxs",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gemv_int8_f32_spirv,
    .binding_count = 3,
    .bindings = iq2_xxs_gemv_int24_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq2_xxs_gemv_int24_f32_push,
    .table_count = 2,
    .tables = iq2_xxs_gemv_int24_f32_tables,
    .spec_constant_count = 11,
    .spec_constants = iq2_xxs_gemv_int24_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .sum_roundings = 130,
    .x_levels = 8355708,
    .x_group = 32,
    .x_reach = 32,
};

static const qk_binding iq2_xxs_gemv_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gemv_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
};
static const qk_table iq2_xxs_gemv_f16_tables[] = {
    {3, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {4, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gemv_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gemv_f16_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_f16_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq2_xxs_gemv_f16_vulkan_load_words[] = {1, 4};
static const uint32_t iq2_xxs_gemv_f16_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t iq2_xxs_gemv_f16_vulkan_checked[] = {0, 1};
static const uint32_t iq2_xxs_gemv_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq2_xxs_gemv_f16_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq2_xxs_gemv_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq2_xxs_gemv_f16_vulkan_local_size_x},
    {1, "batch", 1, 4, iq2_xxs_gemv_f16_vulkan_batch},
    {2, "rows", 4, 4, iq2_xxs_gemv_f16_vulkan_rows},
    {3, "split", 1, 6, iq2_xxs_gemv_f16_vulkan_split},
    {5, "load_words", 4, 2, iq2_xxs_gemv_f16_vulkan_load_words},
    {6, "shared_fours", 512, 4, iq2_xxs_gemv_f16_vulkan_shared_fours},
    {12, "checked", 0, 2, iq2_xxs_gemv_f16_vulkan_checked},
    {7, "staged", 1, 4, iq2_xxs_gemv_f16_vulkan_staged},
    {9, "table_copies", 1, 6, iq2_xxs_gemv_f16_vulkan_table_copies}};

const qk_kernel qk_iq2_xxs_gemv_f16_vulkan = {
    .name = "iq2_xxs_gemv_f16",
    .format = "iq2_xxs",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gemv_f16_spirv,
    .binding_count = 3,
    .bindings = iq2_xxs_gemv_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq2_xxs_gemv_f16_push,
    .table_count = 2,
    .tables = iq2_xxs_gemv_f16_tables,
    .spec_constant_count = 9,
    .spec_constants = iq2_xxs_gemv_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .sum_roundings = 130,
};

static const uint32_t iq2_xxs_gemv_f16_metal_batch[] = {1, 2, 4, 8};
static const qk_spec_constant iq2_xxs_gemv_f16_metal_constants[] = {{1, "batch", 1, 4, iq2_xxs_gemv_f16_metal_batch}};

const qk_kernel qk_iq2_xxs_gemv_f16_metal = {
    .name = "iq2_xxs_gemv_f16",
    .format = "iq2_xxs",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "iq2_xxs_gemv_f16",
    .code = &qk_iq2_xxs_msl,
    .binding_count = 3,
    .bindings = iq2_xxs_gemv_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq2_xxs_gemv_f16_push,
    .spec_constant_count = 1,
    .spec_constants = iq2_xxs_gemv_f16_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .sum_roundings = 82,
};

static const qk_binding iq2_xxs_gemv_int8_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gemv_int8_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
};
static const qk_table iq2_xxs_gemv_int8_f16_tables[] = {
    {3, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {4, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gemv_int8_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gemv_int8_f16_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_int8_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_int8_f16_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq2_xxs_gemv_int8_f16_vulkan_digits[] = {1};
static const uint32_t iq2_xxs_gemv_int8_f16_vulkan_load_words[] = {1, 4};
static const uint32_t iq2_xxs_gemv_int8_f16_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t iq2_xxs_gemv_int8_f16_vulkan_padded[] = {0, 1};
static const uint32_t iq2_xxs_gemv_int8_f16_vulkan_checked[] = {0, 1};
static const uint32_t iq2_xxs_gemv_int8_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq2_xxs_gemv_int8_f16_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq2_xxs_gemv_int8_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq2_xxs_gemv_int8_f16_vulkan_local_size_x},
    {1, "batch", 1, 4, iq2_xxs_gemv_int8_f16_vulkan_batch},
    {2, "rows", 4, 4, iq2_xxs_gemv_int8_f16_vulkan_rows},
    {3, "split", 1, 6, iq2_xxs_gemv_int8_f16_vulkan_split},
    {4, "digits", 1, 1, iq2_xxs_gemv_int8_f16_vulkan_digits},
    {5, "load_words", 4, 2, iq2_xxs_gemv_int8_f16_vulkan_load_words},
    {6, "shared_fours", 512, 4, iq2_xxs_gemv_int8_f16_vulkan_shared_fours},
    {11, "padded", 0, 2, iq2_xxs_gemv_int8_f16_vulkan_padded},
    {12, "checked", 1, 2, iq2_xxs_gemv_int8_f16_vulkan_checked},
    {7, "staged", 1, 4, iq2_xxs_gemv_int8_f16_vulkan_staged},
    {9, "table_copies", 1, 6, iq2_xxs_gemv_int8_f16_vulkan_table_copies}};

const qk_kernel qk_iq2_xxs_gemv_int8_f16_vulkan = {
    .name = "iq2_xxs_gemv_int8_f16",
    .format = "iq2_xxs",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gemv_int8_f16_spirv,
    .binding_count = 3,
    .bindings = iq2_xxs_gemv_int8_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq2_xxs_gemv_int8_f16_push,
    .table_count = 2,
    .tables = iq2_xxs_gemv_int8_f16_tables,
    .spec_constant_count = 11,
    .spec_constants = iq2_xxs_gemv_int8_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .sum_roundings = 130,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 32,
};

static const qk_binding iq2_xxs_gemv_split_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gemv_split_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
};
static const qk_table iq2_xxs_gemv_split_f16_tables[] = {
    {3, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {4, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gemv_split_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gemv_split_f16_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_split_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_split_f16_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq2_xxs_gemv_split_f16_vulkan_digits[] = {2};
static const uint32_t iq2_xxs_gemv_split_f16_vulkan_load_words[] = {1, 4};
static const uint32_t iq2_xxs_gemv_split_f16_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t iq2_xxs_gemv_split_f16_vulkan_padded[] = {0, 1};
static const uint32_t iq2_xxs_gemv_split_f16_vulkan_checked[] = {0, 1};
static const uint32_t iq2_xxs_gemv_split_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq2_xxs_gemv_split_f16_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq2_xxs_gemv_split_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq2_xxs_gemv_split_f16_vulkan_local_size_x},
    {1, "batch", 1, 4, iq2_xxs_gemv_split_f16_vulkan_batch},
    {2, "rows", 4, 4, iq2_xxs_gemv_split_f16_vulkan_rows},
    {3, "split", 1, 6, iq2_xxs_gemv_split_f16_vulkan_split},
    {4, "digits", 2, 1, iq2_xxs_gemv_split_f16_vulkan_digits},
    {5, "load_words", 4, 2, iq2_xxs_gemv_split_f16_vulkan_load_words},
    {6, "shared_fours", 512, 4, iq2_xxs_gemv_split_f16_vulkan_shared_fours},
    {11, "padded", 0, 2, iq2_xxs_gemv_split_f16_vulkan_padded},
    {12, "checked", 0, 2, iq2_xxs_gemv_split_f16_vulkan_checked},
    {7, "staged", 1, 4, iq2_xxs_gemv_split_f16_vulkan_staged},
    {9, "table_copies", 1, 6, iq2_xxs_gemv_split_f16_vulkan_table_copies}};

const qk_kernel qk_iq2_xxs_gemv_split_f16_vulkan = {
    .name = "iq2_xxs_gemv_split_f16",
    .format = "iq2_xxs",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gemv_int8_f16_spirv,
    .binding_count = 3,
    .bindings = iq2_xxs_gemv_split_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq2_xxs_gemv_split_f16_push,
    .table_count = 2,
    .tables = iq2_xxs_gemv_split_f16_tables,
    .spec_constant_count = 11,
    .spec_constants = iq2_xxs_gemv_split_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .sum_roundings = 130,
    .x_levels = 32639,
    .x_group = 32,
    .x_reach = 32,
};

static const qk_binding iq2_xxs_gemv_int24_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gemv_int24_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
};
static const qk_table iq2_xxs_gemv_int24_f16_tables[] = {
    {3, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {4, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gemv_int24_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gemv_int24_f16_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_int24_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_int24_f16_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq2_xxs_gemv_int24_f16_vulkan_digits[] = {3};
static const uint32_t iq2_xxs_gemv_int24_f16_vulkan_load_words[] = {1, 4};
static const uint32_t iq2_xxs_gemv_int24_f16_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t iq2_xxs_gemv_int24_f16_vulkan_padded[] = {0, 1};
static const uint32_t iq2_xxs_gemv_int24_f16_vulkan_checked[] = {0, 1};
static const uint32_t iq2_xxs_gemv_int24_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq2_xxs_gemv_int24_f16_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq2_xxs_gemv_int24_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq2_xxs_gemv_int24_f16_vulkan_local_size_x},
    {1, "batch", 1, 4, iq2_xxs_gemv_int24_f16_vulkan_batch},
    {2, "rows", 4, 4, iq2_xxs_gemv_int24_f16_vulkan_rows},
    {3, "split", 1, 6, iq2_xxs_gemv_int24_f16_vulkan_split},
    {4, "digits", 3, 1, iq2_xxs_gemv_int24_f16_vulkan_digits},
    {5, "load_words", 4, 2, iq2_xxs_gemv_int24_f16_vulkan_load_words},
    {6, "shared_fours", 512, 4, iq2_xxs_gemv_int24_f16_vulkan_shared_fours},
    {11, "padded", 0, 2, iq2_xxs_gemv_int24_f16_vulkan_padded},
    {12, "checked", 0, 2, iq2_xxs_gemv_int24_f16_vulkan_checked},
    {7, "staged", 1, 4, iq2_xxs_gemv_int24_f16_vulkan_staged},
    {9, "table_copies", 1, 6, iq2_xxs_gemv_int24_f16_vulkan_table_copies}};

const qk_kernel qk_iq2_xxs_gemv_int24_f16_vulkan = {
    .name = "iq2_xxs_gemv_int24_f16",
    .format = "iq2_xxs",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gemv_int8_f16_spirv,
    .binding_count = 3,
    .bindings = iq2_xxs_gemv_int24_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq2_xxs_gemv_int24_f16_push,
    .table_count = 2,
    .tables = iq2_xxs_gemv_int24_f16_tables,
    .spec_constant_count = 11,
    .spec_constants = iq2_xxs_gemv_int24_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .sum_roundings = 130,
    .x_levels = 8355708,
    .x_group = 32,
    .x_reach = 32,
};

static const qk_binding iq2_xxs_gemv_id_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gemv_id_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"experts", 16, 4},
    {"expert_first", 20, 4},
    {"expert_end", 24, 4},
};
static const qk_table iq2_xxs_gemv_id_f32_tables[] = {
    {5, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {6, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gemv_id_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gemv_id_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_id_f32_vulkan_load_words[] = {1, 4};
static const uint32_t iq2_xxs_gemv_id_f32_vulkan_checked[] = {0, 1};
static const uint32_t iq2_xxs_gemv_id_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq2_xxs_gemv_id_f32_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq2_xxs_gemv_id_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq2_xxs_gemv_id_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, iq2_xxs_gemv_id_f32_vulkan_rows},
    {5, "load_words", 4, 2, iq2_xxs_gemv_id_f32_vulkan_load_words},
    {12, "checked", 0, 2, iq2_xxs_gemv_id_f32_vulkan_checked},
    {7, "staged", 1, 4, iq2_xxs_gemv_id_f32_vulkan_staged},
    {9, "table_copies", 1, 6, iq2_xxs_gemv_id_f32_vulkan_table_copies}};

const qk_kernel qk_iq2_xxs_gemv_id_f32_vulkan = {
    .name = "iq2_xxs_gemv_id_f32",
    .format = "iq2_xxs",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gemv_id_f32_spirv,
    .binding_count = 5,
    .bindings = iq2_xxs_gemv_id_f32_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq2_xxs_gemv_id_f32_push,
    .table_count = 2,
    .tables = iq2_xxs_gemv_id_f32_tables,
    .spec_constant_count = 6,
    .spec_constants = iq2_xxs_gemv_id_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .sum_roundings = 130,
};

const qk_kernel qk_iq2_xxs_gemv_id_f32_metal = {
    .name = "iq2_xxs_gemv_id_f32",
    .format = "iq2_xxs",
    .family = "gemv_id",
    .api = QK_API_METAL,
    .entry = "iq2_xxs_gemv_id_f32",
    .code = &qk_iq2_xxs_msl,
    .binding_count = 5,
    .bindings = iq2_xxs_gemv_id_f32_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq2_xxs_gemv_id_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .sum_roundings = 82,
};

static const qk_binding iq2_xxs_gemv_id_int8_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gemv_id_int8_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"experts", 16, 4},
    {"expert_first", 20, 4},
    {"expert_end", 24, 4},
};
static const qk_table iq2_xxs_gemv_id_int8_f32_tables[] = {
    {5, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {6, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gemv_id_int8_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gemv_id_int8_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_id_int8_f32_vulkan_digits[] = {1};
static const uint32_t iq2_xxs_gemv_id_int8_f32_vulkan_load_words[] = {1, 4};
static const uint32_t iq2_xxs_gemv_id_int8_f32_vulkan_padded[] = {0, 1};
static const uint32_t iq2_xxs_gemv_id_int8_f32_vulkan_checked[] = {0, 1};
static const uint32_t iq2_xxs_gemv_id_int8_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq2_xxs_gemv_id_int8_f32_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq2_xxs_gemv_id_int8_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq2_xxs_gemv_id_int8_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, iq2_xxs_gemv_id_int8_f32_vulkan_rows},
    {4, "digits", 1, 1, iq2_xxs_gemv_id_int8_f32_vulkan_digits},
    {5, "load_words", 4, 2, iq2_xxs_gemv_id_int8_f32_vulkan_load_words},
    {11, "padded", 0, 2, iq2_xxs_gemv_id_int8_f32_vulkan_padded},
    {12, "checked", 0, 2, iq2_xxs_gemv_id_int8_f32_vulkan_checked},
    {7, "staged", 1, 4, iq2_xxs_gemv_id_int8_f32_vulkan_staged},
    {9, "table_copies", 1, 6, iq2_xxs_gemv_id_int8_f32_vulkan_table_copies}};

const qk_kernel qk_iq2_xxs_gemv_id_int8_f32_vulkan = {
    .name = "iq2_xxs_gemv_id_int8_f32",
    .format = "iq2_xxs",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gemv_id_int8_f32_spirv,
    .binding_count = 5,
    .bindings = iq2_xxs_gemv_id_int8_f32_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq2_xxs_gemv_id_int8_f32_push,
    .table_count = 2,
    .tables = iq2_xxs_gemv_id_int8_f32_tables,
    .spec_constant_count = 8,
    .spec_constants = iq2_xxs_gemv_id_int8_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .sum_roundings = 130,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 32,
};

static const qk_binding iq2_xxs_gemv_id_split_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gemv_id_split_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"experts", 16, 4},
    {"expert_first", 20, 4},
    {"expert_end", 24, 4},
};
static const qk_table iq2_xxs_gemv_id_split_f32_tables[] = {
    {5, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {6, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gemv_id_split_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gemv_id_split_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_id_split_f32_vulkan_digits[] = {2};
static const uint32_t iq2_xxs_gemv_id_split_f32_vulkan_load_words[] = {1, 4};
static const uint32_t iq2_xxs_gemv_id_split_f32_vulkan_padded[] = {0, 1};
static const uint32_t iq2_xxs_gemv_id_split_f32_vulkan_checked[] = {0, 1};
static const uint32_t iq2_xxs_gemv_id_split_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq2_xxs_gemv_id_split_f32_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq2_xxs_gemv_id_split_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq2_xxs_gemv_id_split_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, iq2_xxs_gemv_id_split_f32_vulkan_rows},
    {4, "digits", 2, 1, iq2_xxs_gemv_id_split_f32_vulkan_digits},
    {5, "load_words", 4, 2, iq2_xxs_gemv_id_split_f32_vulkan_load_words},
    {11, "padded", 0, 2, iq2_xxs_gemv_id_split_f32_vulkan_padded},
    {12, "checked", 0, 2, iq2_xxs_gemv_id_split_f32_vulkan_checked},
    {7, "staged", 1, 4, iq2_xxs_gemv_id_split_f32_vulkan_staged},
    {9, "table_copies", 1, 6, iq2_xxs_gemv_id_split_f32_vulkan_table_copies}};

const qk_kernel qk_iq2_xxs_gemv_id_split_f32_vulkan = {
    .name = "iq2_xxs_gemv_id_split_f32",
    .format = "iq2_xxs",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gemv_id_int8_f32_spirv,
    .binding_count = 5,
    .bindings = iq2_xxs_gemv_id_split_f32_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq2_xxs_gemv_id_split_f32_push,
    .table_count = 2,
    .tables = iq2_xxs_gemv_id_split_f32_tables,
    .spec_constant_count = 8,
    .spec_constants = iq2_xxs_gemv_id_split_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .sum_roundings = 130,
    .x_levels = 32639,
    .x_group = 32,
    .x_reach = 32,
};

static const qk_binding iq2_xxs_gemv_id_int24_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gemv_id_int24_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"experts", 16, 4},
    {"expert_first", 20, 4},
    {"expert_end", 24, 4},
};
static const qk_table iq2_xxs_gemv_id_int24_f32_tables[] = {
    {5, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {6, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gemv_id_int24_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gemv_id_int24_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_id_int24_f32_vulkan_digits[] = {3};
static const uint32_t iq2_xxs_gemv_id_int24_f32_vulkan_load_words[] = {1, 4};
static const uint32_t iq2_xxs_gemv_id_int24_f32_vulkan_padded[] = {0, 1};
static const uint32_t iq2_xxs_gemv_id_int24_f32_vulkan_checked[] = {0, 1};
static const uint32_t iq2_xxs_gemv_id_int24_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq2_xxs_gemv_id_int24_f32_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq2_xxs_gemv_id_int24_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq2_xxs_gemv_id_int24_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, iq2_xxs_gemv_id_int24_f32_vulkan_rows},
    {4, "digits", 3, 1, iq2_xxs_gemv_id_int24_f32_vulkan_digits},
    {5, "load_words", 4, 2, iq2_xxs_gemv_id_int24_f32_vulkan_load_words},
    {11, "padded", 0, 2, iq2_xxs_gemv_id_int24_f32_vulkan_padded},
    {12, "checked", 0, 2, iq2_xxs_gemv_id_int24_f32_vulkan_checked},
    {7, "staged", 1, 4, iq2_xxs_gemv_id_int24_f32_vulkan_staged},
    {9, "table_copies", 1, 6, iq2_xxs_gemv_id_int24_f32_vulkan_table_copies}};

const qk_kernel qk_iq2_xxs_gemv_id_int24_f32_vulkan = {
    .name = "iq2_xxs_gemv_id_int24_f32",
    .format = "iq2_xxs",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gemv_id_int8_f32_spirv,
    .binding_count = 5,
    .bindings = iq2_xxs_gemv_id_int24_f32_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq2_xxs_gemv_id_int24_f32_push,
    .table_count = 2,
    .tables = iq2_xxs_gemv_id_int24_f32_tables,
    .spec_constant_count = 8,
    .spec_constants = iq2_xxs_gemv_id_int24_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .sum_roundings = 130,
    .x_levels = 8355708,
    .x_group = 32,
    .x_reach = 32,
};

static const qk_binding iq2_xxs_gemv_id_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gemv_id_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"experts", 16, 4},
    {"expert_first", 20, 4},
    {"expert_end", 24, 4},
};
static const qk_table iq2_xxs_gemv_id_f16_tables[] = {
    {5, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {6, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gemv_id_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gemv_id_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_id_f16_vulkan_load_words[] = {1, 4};
static const uint32_t iq2_xxs_gemv_id_f16_vulkan_checked[] = {0, 1};
static const uint32_t iq2_xxs_gemv_id_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq2_xxs_gemv_id_f16_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq2_xxs_gemv_id_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq2_xxs_gemv_id_f16_vulkan_local_size_x},
    {2, "rows", 4, 4, iq2_xxs_gemv_id_f16_vulkan_rows},
    {5, "load_words", 4, 2, iq2_xxs_gemv_id_f16_vulkan_load_words},
    {12, "checked", 0, 2, iq2_xxs_gemv_id_f16_vulkan_checked},
    {7, "staged", 1, 4, iq2_xxs_gemv_id_f16_vulkan_staged},
    {9, "table_copies", 1, 6, iq2_xxs_gemv_id_f16_vulkan_table_copies}};

const qk_kernel qk_iq2_xxs_gemv_id_f16_vulkan = {
    .name = "iq2_xxs_gemv_id_f16",
    .format = "iq2_xxs",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gemv_id_f16_spirv,
    .binding_count = 5,
    .bindings = iq2_xxs_gemv_id_f16_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq2_xxs_gemv_id_f16_push,
    .table_count = 2,
    .tables = iq2_xxs_gemv_id_f16_tables,
    .spec_constant_count = 6,
    .spec_constants = iq2_xxs_gemv_id_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .sum_roundings = 130,
};

const qk_kernel qk_iq2_xxs_gemv_id_f16_metal = {
    .name = "iq2_xxs_gemv_id_f16",
    .format = "iq2_xxs",
    .family = "gemv_id",
    .api = QK_API_METAL,
    .entry = "iq2_xxs_gemv_id_f16",
    .code = &qk_iq2_xxs_msl,
    .binding_count = 5,
    .bindings = iq2_xxs_gemv_id_f16_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq2_xxs_gemv_id_f16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .sum_roundings = 82,
};

static const qk_binding iq2_xxs_gemv_id_int8_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gemv_id_int8_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"experts", 16, 4},
    {"expert_first", 20, 4},
    {"expert_end", 24, 4},
};
static const qk_table iq2_xxs_gemv_id_int8_f16_tables[] = {
    {5, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {6, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gemv_id_int8_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gemv_id_int8_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_id_int8_f16_vulkan_digits[] = {1};
static const uint32_t iq2_xxs_gemv_id_int8_f16_vulkan_load_words[] = {1, 4};
static const uint32_t iq2_xxs_gemv_id_int8_f16_vulkan_padded[] = {0, 1};
static const uint32_t iq2_xxs_gemv_id_int8_f16_vulkan_checked[] = {0, 1};
static const uint32_t iq2_xxs_gemv_id_int8_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq2_xxs_gemv_id_int8_f16_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq2_xxs_gemv_id_int8_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq2_xxs_gemv_id_int8_f16_vulkan_local_size_x},
    {2, "rows", 4, 4, iq2_xxs_gemv_id_int8_f16_vulkan_rows},
    {4, "digits", 1, 1, iq2_xxs_gemv_id_int8_f16_vulkan_digits},
    {5, "load_words", 4, 2, iq2_xxs_gemv_id_int8_f16_vulkan_load_words},
    {11, "padded", 0, 2, iq2_xxs_gemv_id_int8_f16_vulkan_padded},
    {12, "checked", 0, 2, iq2_xxs_gemv_id_int8_f16_vulkan_checked},
    {7, "staged", 1, 4, iq2_xxs_gemv_id_int8_f16_vulkan_staged},
    {9, "table_copies", 1, 6, iq2_xxs_gemv_id_int8_f16_vulkan_table_copies}};

const qk_kernel qk_iq2_xxs_gemv_id_int8_f16_vulkan = {
    .name = "iq2_xxs_gemv_id_int8_f16",
    .format = "iq2_xxs",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gemv_id_int8_f16_spirv,
    .binding_count = 5,
    .bindings = iq2_xxs_gemv_id_int8_f16_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq2_xxs_gemv_id_int8_f16_push,
    .table_count = 2,
    .tables = iq2_xxs_gemv_id_int8_f16_tables,
    .spec_constant_count = 8,
    .spec_constants = iq2_xxs_gemv_id_int8_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .sum_roundings = 130,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 32,
};

static const qk_binding iq2_xxs_gemv_id_split_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gemv_id_split_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"experts", 16, 4},
    {"expert_first", 20, 4},
    {"expert_end", 24, 4},
};
static const qk_table iq2_xxs_gemv_id_split_f16_tables[] = {
    {5, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {6, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gemv_id_split_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gemv_id_split_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_id_split_f16_vulkan_digits[] = {2};
static const uint32_t iq2_xxs_gemv_id_split_f16_vulkan_load_words[] = {1, 4};
static const uint32_t iq2_xxs_gemv_id_split_f16_vulkan_padded[] = {0, 1};
static const uint32_t iq2_xxs_gemv_id_split_f16_vulkan_checked[] = {0, 1};
static const uint32_t iq2_xxs_gemv_id_split_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq2_xxs_gemv_id_split_f16_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq2_xxs_gemv_id_split_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq2_xxs_gemv_id_split_f16_vulkan_local_size_x},
    {2, "rows", 4, 4, iq2_xxs_gemv_id_split_f16_vulkan_rows},
    {4, "digits", 2, 1, iq2_xxs_gemv_id_split_f16_vulkan_digits},
    {5, "load_words", 4, 2, iq2_xxs_gemv_id_split_f16_vulkan_load_words},
    {11, "padded", 0, 2, iq2_xxs_gemv_id_split_f16_vulkan_padded},
    {12, "checked", 0, 2, iq2_xxs_gemv_id_split_f16_vulkan_checked},
    {7, "staged", 1, 4, iq2_xxs_gemv_id_split_f16_vulkan_staged},
    {9, "table_copies", 1, 6, iq2_xxs_gemv_id_split_f16_vulkan_table_copies}};

const qk_kernel qk_iq2_xxs_gemv_id_split_f16_vulkan = {
    .name = "iq2_xxs_gemv_id_split_f16",
    .format = "iq2_xxs",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gemv_id_int8_f16_spirv,
    .binding_count = 5,
    .bindings = iq2_xxs_gemv_id_split_f16_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq2_xxs_gemv_id_split_f16_push,
    .table_count = 2,
    .tables = iq2_xxs_gemv_id_split_f16_tables,
    .spec_constant_count = 8,
    .spec_constants = iq2_xxs_gemv_id_split_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .sum_roundings = 130,
    .x_levels = 32639,
    .x_group = 32,
    .x_reach = 32,
};

static const qk_binding iq2_xxs_gemv_id_int24_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 66, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq2_xxs_gemv_id_int24_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"experts", 16, 4},
    {"expert_first", 20, 4},
    {"expert_end", 24, 4},
};
static const qk_table iq2_xxs_gemv_id_int24_f16_tables[] = {
    {5, "G", iq2_xxs_G_table, sizeof iq2_xxs_G_table},
    {6, "S", iq2_xxs_S_table, sizeof iq2_xxs_S_table},
};

static const uint32_t iq2_xxs_gemv_id_int24_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq2_xxs_gemv_id_int24_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq2_xxs_gemv_id_int24_f16_vulkan_digits[] = {3};
static const uint32_t iq2_xxs_gemv_id_int24_f16_vulkan_load_words[] = {1, 4};
static const uint32_t iq2_xxs_gemv_id_int24_f16_vulkan_padded[] = {0, 1};
static const uint32_t iq2_xxs_gemv_id_int24_f16_vulkan_checked[] = {0, 1};
static const uint32_t iq2_xxs_gemv_id_int24_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq2_xxs_gemv_id_int24_f16_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq2_xxs_gemv_id_int24_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq2_xxs_gemv_id_int24_f16_vulkan_local_size_x},
    {2, "rows", 4, 4, iq2_xxs_gemv_id_int24_f16_vulkan_rows},
    {4, "digits", 3, 1, iq2_xxs_gemv_id_int24_f16_vulkan_digits},
    {5, "load_words", 4, 2, iq2_xxs_gemv_id_int24_f16_vulkan_load_words},
    {11, "padded", 0, 2, iq2_xxs_gemv_id_int24_f16_vulkan_padded},
    {12, "checked", 0, 2, iq2_xxs_gemv_id_int24_f16_vulkan_checked},
    {7, "staged", 1, 4, iq2_xxs_gemv_id_int24_f16_vulkan_staged},
    {9, "table_copies", 1, 6, iq2_xxs_gemv_id_int24_f16_vulkan_table_copies}};

const qk_kernel qk_iq2_xxs_gemv_id_int24_f16_vulkan = {
    .name = "iq2_xxs_gemv_id_int24_f16",
    .format = "iq2_xxs",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq2_xxs_gemv_id_int8_f16_spirv,
    .binding_count = 5,
    .bindings = iq2_xxs_gemv_id_int24_f16_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq2_xxs_gemv_id_int24_f16_push,
    .table_count = 2,
    .tables = iq2_xxs_gemv_id_int24_f16_tables,
    .spec_constant_count = 8,
    .spec_constants = iq2_xxs_gemv_id_int24_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 16,
    .kept_elements = 64,
    .sum_roundings = 130,
    .x_levels = 8355708,
    .x_group = 32,
    .x_reach = 32,
};

/* ---- dispatch ---- */

qk_status qk_iq2_xxs_dequant_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq2_xxs_dequant_f32_metal : &qk_iq2_xxs_dequant_f32_vulkan;
    return qk_dispatch_dequant(backend, kernel, weights, dst, elements, error);
}

qk_status qk_iq2_xxs_dequant_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq2_xxs_dequant_f16_metal : &qk_iq2_xxs_dequant_f16_vulkan;
    return qk_dispatch_dequant(backend, kernel, weights, dst, elements, error);
}

qk_status qk_iq2_xxs_dequant_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq2_xxs_dequant_bf16_metal : &qk_iq2_xxs_dequant_bf16_vulkan;
    return qk_dispatch_dequant(backend, kernel, weights, dst, elements, error);
}

qk_status qk_iq2_xxs_gather_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq2_xxs_gather_f32_metal : &qk_iq2_xxs_gather_f32_vulkan;
    return qk_dispatch_gather(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_iq2_xxs_gather_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq2_xxs_gather_f16_metal : &qk_iq2_xxs_gather_f16_vulkan;
    return qk_dispatch_gather(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_iq2_xxs_gather_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq2_xxs_gather_bf16_metal : &qk_iq2_xxs_gather_bf16_vulkan;
    return qk_dispatch_gather(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_iq2_xxs_gemv_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq2_xxs_gemv_f32_metal : &qk_iq2_xxs_gemv_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_iq2_xxs_gemv_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq2_xxs_gemv_int8_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_iq2_xxs_gemv_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq2_xxs_gemv_split_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_iq2_xxs_gemv_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq2_xxs_gemv_int24_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_iq2_xxs_gemv_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq2_xxs_gemv_f16_metal : &qk_iq2_xxs_gemv_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_iq2_xxs_gemv_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq2_xxs_gemv_int8_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_iq2_xxs_gemv_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq2_xxs_gemv_split_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_iq2_xxs_gemv_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq2_xxs_gemv_int24_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_iq2_xxs_gemv_id_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq2_xxs_gemv_id_f32_metal : &qk_iq2_xxs_gemv_id_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, error);
}

qk_status qk_iq2_xxs_gemv_id_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq2_xxs_gemv_id_int8_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, error);
}

qk_status qk_iq2_xxs_gemv_id_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq2_xxs_gemv_id_split_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, error);
}

qk_status qk_iq2_xxs_gemv_id_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq2_xxs_gemv_id_int24_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, error);
}

qk_status qk_iq2_xxs_gemv_id_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq2_xxs_gemv_id_f16_metal : &qk_iq2_xxs_gemv_id_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, error);
}

qk_status qk_iq2_xxs_gemv_id_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq2_xxs_gemv_id_int8_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, error);
}

qk_status qk_iq2_xxs_gemv_id_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq2_xxs_gemv_id_split_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, error);
}

qk_status qk_iq2_xxs_gemv_id_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq2_xxs_gemv_id_int24_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, error);
}
