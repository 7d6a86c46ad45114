/* iq3_s: reference decoder, descriptors and dispatch stubs.
 * Generated from the specification below by `qkgen emit --format iq3_s`; do not edit.
 * 110 bytes for 256 elements, 3.438 bits each.
 * dequant, gather in f32: for each weight 0.43 bytes read and 4 written, 21.5 operations: 1.25 loads, 6.5 bits, 8.75 integer, 2.25 float, 2.5 conversions, 0.25 lookups.
 * gemv, gemv_id in f32: for each weight 0.43 bytes read, 9.11 operations: 0.312 loads, 3.67 bits, 2.19 integer, 2.12 float, 0.562 conversions, 0.25 lookups.
 *
 *     format iq3_s "fours from a codebook of 512, sign masks, 4-bit scales in groups of 32"
 *     from "ggml (llama.cpp), ggml-common.h"
 *
 *     block 256 {
 *         d:      f16
 *         qs:     u8[64]
 *         qh:     u8[8]
 *         signs:  u8[32]
 *         scales: u8[4]
 *     }
 *
 *     code g  per 4  = qs { 8 @ 0 (64:8) } qh { 1 @ 0 (64:1) }
 *     code s  per 8  = signs { 8 @ 0 (32:8) }
 *     code sc per 32 = scales { 4 @ 0 (8:4) }
 *
 *     table G: u8[512][4] = file "iq3s_grid.bin"
 *
 *     value = d * (1 + 2 * sc) * G[g][i % 4] * (s >> i % 8 & 1 ? -1 : 1)
 */
#include "iq3_s.h"

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

static const uint32_t G[512][4] = {
    {1, 1, 1, 1},
    {3, 1, 1, 1},
    {5, 1, 1, 1},
    {11, 1, 1, 1},
    {15, 1, 1, 1},
    {1, 3, 1, 1},
    {3, 3, 1, 1},
    {5, 3, 1, 1},
    {9, 3, 1, 1},
    {13, 3, 1, 1},
    {1, 5, 1, 1},
    {3, 5, 1, 1},
    {11, 5, 1, 1},
    {7, 7, 1, 1},
    {1, 9, 1, 1},
    {5, 9, 1, 1},
    {11, 9, 1, 1},
    {15, 9, 1, 1},
    {3, 11, 1, 1},
    {7, 11, 1, 1},
    {1, 13, 1, 1},
    {5, 13, 1, 1},
    {3, 15, 1, 1},
    {9, 15, 1, 1},
    {15, 15, 1, 1},
    {1, 1, 3, 1},
    {3, 1, 3, 1},
    {5, 1, 3, 1},
    {9, 1, 3, 1},
    {1, 3, 3, 1},
    {3, 3, 3, 1},
    {11, 3, 3, 1},
    {1, 5, 3, 1},
    {7, 5, 3, 1},
    {15, 5, 3, 1},
    {3, 7, 3, 1},
    {11, 7, 3, 1},
    {9, 9, 3, 1},
    {3, 13, 3, 1},
    {11, 13, 3, 1},
    {5, 15, 3, 1},
    {1, 1, 5, 1},
    {3, 1, 5, 1},
    {11, 1, 5, 1},
    {15, 1, 5, 1},
    {1, 3, 5, 1},
    {7, 3, 5, 1},
    {13, 3, 5, 1},
    {3, 5, 5, 1},
    {11, 5, 5, 1},
    {1, 7, 5, 1},
    {9, 7, 5, 1},
    {5, 9, 5, 1},
    {11, 9, 5, 1},
    {15, 9, 5, 1},
    {3, 11, 5, 1},
    {7, 11, 5, 1},
    {1, 15, 5, 1},
    {7, 15, 5, 1},
    {7, 1, 7, 1},
    {3, 3, 7, 1},
    {11, 3, 7, 1},
    {1, 5, 7, 1},
    {5, 5, 7, 1},
    {3, 7, 7, 1},
    {7, 7, 7, 1},
    {13, 7, 7, 1},
    {9, 9, 7, 1},
    {1, 11, 7, 1},
    {5, 11, 7, 1},
    {15, 13, 7, 1},
    {3, 15, 7, 1},
    {11, 15, 7, 1},
    {1, 1, 9, 1},
    {7, 3, 9, 1},
    {15, 3, 9, 1},
    {3, 5, 9, 1},
    {9, 5, 9, 1},
    {5, 7, 9, 1},
    {1, 9, 9, 1},
    {7, 9, 9, 1},
    {3, 11, 9, 1},
    {1, 15, 9, 1},
    {5, 1, 11, 1},
    {9, 1, 11, 1},
    {1, 5, 11, 1},
    {5, 5, 11, 1},
    {13, 5, 11, 1},
    {7, 7, 11, 1},
    {3, 9, 11, 1},
    {11, 9, 11, 1},
    {15, 9, 11, 1},
    {13, 13, 11, 1},
    {7, 15, 11, 1},
    {13, 1, 13, 1},
    {3, 3, 13, 1},
    {7, 3, 13, 1},
    {3, 7, 13, 1},
    {5, 11, 13, 1},
    {3, 15, 13, 1},
    {1, 1, 15, 1},
    {5, 1, 15, 1},
    {9, 1, 15, 1},
    {1, 5, 15, 1},
    {5, 5, 15, 1},
    {13, 5, 15, 1},
    {7, 7, 15, 1},
    {1, 11, 15, 1},
    {9, 11, 15, 1},
    {1, 1, 1, 3},
    {3, 1, 1, 3},
    {5, 1, 1, 3},
    {9, 1, 1, 3},
    {1, 3, 1, 3},
    {3, 3, 1, 3},
    {7, 3, 1, 3},
    {11, 3, 1, 3},
    {15, 3, 1, 3},
    {1, 5, 1, 3},
    {5, 5, 1, 3},
    {3, 7, 1, 3},
    {9, 7, 1, 3},
    {13, 7, 1, 3},
    {9, 11, 1, 3},
    {13, 11, 1, 3},
    {3, 13, 1, 3},
    {5, 15, 1, 3},
    {1, 1, 3, 3},
    {3, 1, 3, 3},
    {7, 1, 3, 3},
    {13, 1, 3, 3},
    {1, 3, 3, 3},
    {9, 3, 3, 3},
    {3, 5, 3, 3},
    {1, 7, 3, 3},
    {7, 7, 3, 3},
    {3, 9, 3, 3},
    {1, 11, 3, 3},
    {5, 11, 3, 3},
    {1, 15, 3, 3},
    {13, 15, 3, 3},
    {1, 1, 5, 3},
    {5, 3, 5, 3},
    {11, 3, 5, 3},
    {15, 3, 5, 3},
    {1, 5, 5, 3},
    {9, 5, 5, 3},
    {5, 7, 5, 3},
    {1, 9, 5, 3},
    {7, 9, 5, 3},
    {11, 11, 5, 3},
    {1, 13, 5, 3},
    {5, 15, 5, 3},
    {3, 1, 7, 3},
    {9, 1, 7, 3},
    {15, 1, 7, 3},
    {1, 3, 7, 3},
    {7, 3, 7, 3},
    {3, 5, 7, 3},
    {15, 5, 7, 3},
    {1, 7, 7, 3},
    {9, 7, 7, 3},
    {3, 9, 7, 3},
    {5, 13, 7, 3},
    {1, 15, 7, 3},
    {7, 1, 9, 3},
    {11, 1, 9, 3},
    {5, 3, 9, 3},
    {9, 3, 9, 3},
    {3, 7, 9, 3},
    {7, 7, 9, 3},
    {5, 9, 9, 3},
    {13, 9, 9, 3},
    {1, 11, 9, 3},
    {9, 11, 9, 3},
    {3, 1, 11, 3},
    {1, 3, 11, 3},
    {7, 3, 11, 3},
    {3, 5, 11, 3},
    {1, 7, 11, 3},
    {5, 7, 11, 3},
    {3, 11, 11, 3},
    {1, 5, 13, 3},
    {9, 5, 13, 3},
    {15, 5, 13, 3},
    {9, 9, 13, 3},
    {13, 9, 13, 3},
    {3, 1, 15, 3},
    {7, 1, 15, 3},
    {1, 3, 15, 3},
    {5, 3, 15, 3},
    {3, 5, 15, 3},
    {11, 7, 15, 3},
    {3, 9, 15, 3},
    {5, 13, 15, 3},
    {1, 15, 15, 3},
    {1, 1, 1, 5},
    {3, 1, 1, 5},
    {7, 1, 1, 5},
    {11, 1, 1, 5},
    {15, 1, 1, 5},
    {1, 3, 1, 5},
    {5, 3, 1, 5},
    {9, 3, 1, 5},
    {13, 3, 1, 5},
    {3, 5, 1, 5},
    {7, 5, 1, 5},
    {15, 5, 1, 5},
    {1, 7, 1, 5},
    {5, 7, 1, 5},
    {3, 9, 1, 5},
    {7, 9, 1, 5},
    {11, 9, 1, 5},
    {1, 11, 1, 5},
    {5, 11, 1, 5},
    {15, 13, 1, 5},
    {1, 15, 1, 5},
    {7, 15, 1, 5},
    {11, 15, 1, 5},
    {1, 1, 3, 5},
    {5, 1, 3, 5},
    {1, 3, 3, 5},
    {7, 3, 3, 5},
    {15, 3, 3, 5},
    {5, 5, 3, 5},
    {11, 5, 3, 5},
    {3, 7, 3, 5},
    {9, 7, 3, 5},
    {5, 9, 3, 5},
    {3, 11, 3, 5},
    {3, 1, 5, 5},
    {9, 1, 5, 5},
    {15, 1, 5, 5},
    {3, 5, 5, 5},
    {7, 5, 5, 5},
    {1, 7, 5, 5},
    {15, 7, 5, 5},
    {3, 9, 5, 5},
    {7, 11, 5, 5},
    {15, 11, 5, 5},
    {3, 15, 5, 5},
    {9, 15, 5, 5},
    {1, 1, 7, 5},
    {5, 1, 7, 5},
    {11, 1, 7, 5},
    {3, 3, 7, 5},
    {5, 5, 7, 5},
    {9, 5, 7, 5},
    {3, 7, 7, 5},
    {7, 7, 7, 5},
    {5, 9, 7, 5},
    {1, 11, 7, 5},
    {13, 13, 7, 5},
    {3, 1, 9, 5},
    {15, 1, 9, 5},
    {1, 5, 9, 5},
    {7, 5, 9, 5},
    {5, 7, 9, 5},
    {11, 7, 9, 5},
    {3, 9, 9, 5},
    {5, 15, 9, 5},
    {11, 15, 9, 5},
    {9, 1, 11, 5},
    {3, 3, 11, 5},
    {5, 5, 11, 5},
    {15, 7, 11, 5},
    {1, 9, 11, 5},
    {7, 11, 11, 5},
    {1, 15, 11, 5},
    {1, 1, 13, 5},
    {5, 1, 13, 5},
    {15, 1, 13, 5},
    {3, 5, 13, 5},
    {11, 11, 13, 5},
    {3, 13, 13, 5},
    {11, 1, 15, 5},
    {3, 3, 15, 5},
    {13, 5, 15, 5},
    {1, 7, 15, 5},
    {7, 9, 15, 5},
    {1, 11, 15, 5},
    {5, 1, 1, 7},
    {3, 3, 1, 7},
    {7, 3, 1, 7},
    {11, 3, 1, 7},
    {15, 3, 1, 7},
    {5, 5, 1, 7},
    {3, 7, 1, 7},
    {7, 7, 1, 7},
    {11, 7, 1, 7},
    {5, 9, 1, 7},
    {9, 9, 1, 7},
    {15, 9, 1, 7},
    {3, 11, 1, 7},
    {7, 13, 1, 7},
    {3, 15, 1, 7},
    {3, 1, 3, 7},
    {7, 1, 3, 7},
    {11, 1, 3, 7},
    {9, 3, 3, 7},
    {3, 5, 3, 7},
    {7, 5, 3, 7},
    {1, 9, 3, 7},
    {1, 13, 3, 7},
    {5, 15, 3, 7},
    {13, 15, 3, 7},
    {1, 1, 5, 7},
    {5, 3, 5, 7},
    {1, 5, 5, 7},
    {5, 7, 5, 7},
    {9, 7, 5, 7},
    {1, 11, 5, 7},
    {3, 1, 7, 7},
    {1, 3, 7, 7},
    {9, 3, 7, 7},
    {3, 5, 7, 7},
    {7, 5, 7, 7},
    {15, 5, 7, 7},
    {1, 7, 7, 7},
    {3, 9, 7, 7},
    {7, 9, 7, 7},
    {15, 9, 7, 7},
    {11, 11, 7, 7},
    {7, 15, 7, 7},
    {7, 1, 9, 7},
    {3, 3, 9, 7},
    {13, 3, 9, 7},
    {5, 5, 9, 7},
    {3, 7, 9, 7},
    {5, 11, 9, 7},
    {1, 13, 9, 7},
    {9, 13, 9, 7},
    {3, 1, 11, 7},
    {1, 3, 11, 7},
    {5, 3, 11, 7},
    {11, 5, 11, 7},
    {5, 7, 11, 7},
    {9, 9, 11, 7},
    {13, 11, 11, 7},
    {7, 15, 11, 7},
    {13, 3, 13, 7},
    {3, 9, 13, 7},
    {3, 1, 15, 7},
    {7, 1, 15, 7},
    {1, 5, 15, 7},
    {5, 5, 15, 7},
    {11, 7, 15, 7},
    {1, 1, 1, 9},
    {9, 1, 1, 9},
    {5, 3, 1, 9},
    {1, 5, 1, 9},
    {9, 5, 1, 9},
    {15, 5, 1, 9},
    {5, 7, 1, 9},
    {3, 9, 1, 9},
    {1, 11, 1, 9},
    {1, 15, 1, 9},
    {5, 1, 3, 9},
    {15, 1, 3, 9},
    {3, 3, 3, 9},
    {7, 3, 3, 9},
    {5, 5, 3, 9},
    {1, 7, 3, 9},
    {11, 7, 3, 9},
    {7, 9, 3, 9},
    {3, 11, 3, 9},
    {11, 11, 3, 9},
    {3, 1, 5, 9},
    {7, 1, 5, 9},
    {1, 3, 5, 9},
    {11, 3, 5, 9},
    {3, 5, 5, 9},
    {7, 7, 5, 9},
    {1, 9, 5, 9},
    {15, 11, 5, 9},
    {5, 13, 5, 9},
    {1, 15, 5, 9},
    {9, 1, 7, 9},
    {3, 3, 7, 9},
    {7, 3, 7, 9},
    {1, 5, 7, 9},
    {5, 5, 7, 9},
    {3, 7, 7, 9},
    {11, 7, 7, 9},
    {1, 1, 9, 9},
    {5, 1, 9, 9},
    {9, 5, 9, 9},
    {15, 7, 9, 9},
    {1, 9, 9, 9},
    {3, 15, 9, 9},
    {11, 1, 11, 9},
    {15, 1, 11, 9},
    {3, 5, 11, 9},
    {5, 13, 11, 9},
    {7, 3, 13, 9},
    {9, 7, 13, 9},
    {1, 13, 13, 9},
    {1, 3, 15, 9},
    {11, 3, 15, 9},
    {1, 7, 15, 9},
    {7, 9, 15, 9},
    {3, 11, 15, 9},
    {5, 1, 1, 11},
    {1, 3, 1, 11},
    {9, 3, 1, 11},
    {5, 5, 1, 11},
    {1, 9, 1, 11},
    {9, 9, 1, 11},
    {15, 9, 1, 11},
    {5, 11, 1, 11},
    {13, 13, 1, 11},
    {9, 15, 1, 11},
    {3, 1, 3, 11},
    {7, 1, 3, 11},
    {11, 1, 3, 11},
    {5, 3, 3, 11},
    {3, 5, 3, 11},
    {5, 7, 3, 11},
    {5, 15, 3, 11},
    {1, 1, 5, 11},
    {3, 3, 5, 11},
    {7, 5, 5, 11},
    {1, 7, 5, 11},
    {13, 7, 5, 11},
    {7, 11, 5, 11},
    {5, 1, 7, 11},
    {15, 1, 7, 11},
    {1, 3, 7, 11},
    {15, 5, 7, 11},
    {9, 9, 7, 11},
    {3, 11, 7, 11},
    {11, 13, 7, 11},
    {7, 15, 7, 11},
    {3, 1, 9, 11},
    {9, 1, 9, 11},
    {1, 5, 9, 11},
    {5, 7, 9, 11},
    {13, 9, 9, 11},
    {5, 3, 11, 11},
    {13, 5, 11, 11},
    {3, 11, 11, 11},
    {7, 11, 11, 11},
    {5, 9, 13, 11},
    {5, 1, 15, 11},
    {9, 1, 15, 11},
    {5, 5, 15, 11},
    {3, 3, 1, 13},
    {7, 3, 1, 13},
    {11, 3, 1, 13},
    {3, 7, 1, 13},
    {7, 7, 1, 13},
    {1, 13, 1, 13},
    {1, 1, 3, 13},
    {1, 5, 3, 13},
    {15, 5, 3, 13},
    {9, 13, 3, 13},
    {5, 3, 5, 13},
    {9, 7, 5, 13},
    {5, 9, 5, 13},
    {11, 11, 5, 13},
    {5, 13, 5, 13},
    {1, 15, 5, 13},
    {1, 1, 7, 13},
    {9, 3, 7, 13},
    {3, 5, 7, 13},
    {1, 9, 7, 13},
    {11, 5, 9, 13},
    {7, 9, 9, 13},
    {5, 13, 9, 13},
    {1, 1, 11, 13},
    {7, 1, 11, 13},
    {9, 7, 11, 13},
    {1, 13, 11, 13},
    {11, 1, 13, 13},
    {1, 9, 13, 13},
    {3, 3, 15, 13},
    {7, 3, 15, 13},
    {1, 1, 1, 15},
    {9, 1, 1, 15},
    {15, 1, 1, 15},
    {1, 5, 1, 15},
    {5, 5, 1, 15},
    {13, 7, 1, 15},
    {1, 9, 1, 15},
    {9, 11, 1, 15},
    {5, 13, 1, 15},
    {5, 1, 3, 15},
    {3, 3, 3, 15},
    {9, 5, 3, 15},
    {7, 9, 3, 15},
    {11, 9, 3, 15},
    {3, 1, 5, 15},
    {9, 1, 5, 15},
    {1, 3, 5, 15},
    {13, 3, 5, 15},
    {3, 5, 5, 15},
    {1, 7, 5, 15},
    {3, 11, 5, 15},
    {5, 1, 7, 15},
    {5, 7, 7, 15},
    {11, 7, 7, 15},
    {7, 11, 7, 15},
    {3, 1, 9, 15},
    {11, 1, 9, 15},
    {7, 3, 9, 15},
    {1, 5, 9, 15},
    {1, 11, 9, 15},
    {5, 5, 11, 15},
    {5, 9, 11, 15},
    {5, 1, 13, 15},
    {3, 7, 13, 15},
    {1, 1, 15, 15}
};

/* The value of element `index` of a tensor. */
static float value_at(const void *const *from, uint64_t index) {
    const uint8_t *const blocks = (const uint8_t *)from[0] + index / 256u * 110u;
    const uint32_t i = (uint32_t)(index % 256u);
    const float d = qk_f16_to_f32((uint32_t)blocks[0u] | ((uint32_t)blocks[1u] << 8u));
    const uint32_t scales = (uint32_t)blocks[i / 32u / 2u + 106u];
    const uint32_t sc = (scales >> (i / 32u % 2u * 4u)) & 15u;  // scales: 4 bits
    const uint32_t qs = (uint32_t)blocks[i / 4u + 2u];
    const uint32_t qh = (uint32_t)blocks[i / 4u / 8u + 66u];
    const uint32_t g_hi = (qh >> (i / 4u % 8u)) & 1u;  // qh: bit 8 of g
    const uint32_t g = qs | (g_hi << 8u);
    const uint32_t signs = (uint32_t)blocks[i / 8u + 74u];
    return d * (float)(1 + 2 * (int32_t)sc) * (float)G[g][i % 4u] * (float)((((int32_t)signs >> (int32_t)(i % 8u)) & 1) != 0 ? -1 : 1);
}

static uint16_t f16_at(const void *const *from, uint64_t index) {
    return qk_f32_to_f16(value_at(from, index));
}

static uint16_t bf16_at(const void *const *from, uint64_t index) {
    return qk_f32_to_bf16(value_at(from, index));
}

void qk_iq3_s_dequant_f32_ref(const void *const weights[1],
    uint64_t elements, float *dst) {
    for (uint64_t i = 0; i < elements; ++i) dst[i] = value_at(weights, i);
}

void qk_iq3_s_dequant_f16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst) {
    for (uint64_t i = 0; i < elements; ++i) dst[i] = f16_at(weights, i);
}

void qk_iq3_s_dequant_bf16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst) {
    for (uint64_t i = 0; i < elements; ++i) dst[i] = bf16_at(weights, i);
}

/* Returns how many indices are out of range; their rows are zeros. */
uint64_t qk_iq3_s_gather_f32_ref(const void *const weights[1],
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
uint64_t qk_iq3_s_gather_f16_ref(const void *const weights[1],
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
uint64_t qk_iq3_s_gather_bf16_ref(const void *const weights[1],
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
void qk_iq3_s_gemv_f32_ref(const void *const weights[1],
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
void qk_iq3_s_gemv_f16_ref(const void *const weights[1],
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
uint64_t qk_iq3_s_gemv_id_f32_ref(const void *const weights[1],
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
uint64_t qk_iq3_s_gemv_id_f16_ref(const void *const weights[1],
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

/* The code itself: iq3_s_code.c. */
extern const qk_code qk_iq3_s_dequant_f32_spirv;
extern const qk_code qk_iq3_s_dequant_f16_spirv;
extern const qk_code qk_iq3_s_dequant_bf16_spirv;
extern const qk_code qk_iq3_s_gather_f32_spirv;
extern const qk_code qk_iq3_s_gather_f16_spirv;
extern const qk_code qk_iq3_s_gather_bf16_spirv;
extern const qk_code qk_iq3_s_gemv_f32_spirv;
extern const qk_code qk_iq3_s_gemv_int8_f32_spirv;
extern const qk_code qk_iq3_s_gemv_f16_spirv;
extern const qk_code qk_iq3_s_gemv_int8_f16_spirv;
extern const qk_code qk_iq3_s_gemv_id_f32_spirv;
extern const qk_code qk_iq3_s_gemv_id_int8_f32_spirv;
extern const qk_code qk_iq3_s_gemv_id_f16_spirv;
extern const qk_code qk_iq3_s_gemv_id_int8_f16_spirv;
extern const qk_code qk_iq3_s_msl;

static const uint32_t iq3_s_G_table[] = {
    0x01010101, 0x01010103, 0x01010105, 0x0101010B, 0x0101010F, 0x01010301, 0x01010303, 0x01010305,
    0x01010309, 0x0101030D, 0x01010501, 0x01010503, 0x0101050B, 0x01010707, 0x01010901, 0x01010905,
    0x0101090B, 0x0101090F, 0x01010B03, 0x01010B07, 0x01010D01, 0x01010D05, 0x01010F03, 0x01010F09,
    0x01010F0F, 0x01030101, 0x01030103, 0x01030105, 0x01030109, 0x01030301, 0x01030303, 0x0103030B,
    0x01030501, 0x01030507, 0x0103050F, 0x01030703, 0x0103070B, 0x01030909, 0x01030D03, 0x01030D0B,
    0x01030F05, 0x01050101, 0x01050103, 0x0105010B, 0x0105010F, 0x01050301, 0x01050307, 0x0105030D,
    0x01050503, 0x0105050B, 0x01050701, 0x01050709, 0x01050905, 0x0105090B, 0x0105090F, 0x01050B03,
    0x01050B07, 0x01050F01, 0x01050F07, 0x01070107, 0x01070303, 0x0107030B, 0x01070501, 0x01070505,
    0x01070703, 0x01070707, 0x0107070D, 0x01070909, 0x01070B01, 0x01070B05, 0x01070D0F, 0x01070F03,
    0x01070F0B, 0x01090101, 0x01090307, 0x0109030F, 0x01090503, 0x01090509, 0x01090705, 0x01090901,
    0x01090907, 0x01090B03, 0x01090F01, 0x010B0105, 0x010B0109, 0x010B0501, 0x010B0505, 0x010B050D,
    0x010B0707, 0x010B0903, 0x010B090B, 0x010B090F, 0x010B0D0D, 0x010B0F07, 0x010D010D, 0x010D0303,
    0x010D0307, 0x010D0703, 0x010D0B05, 0x010D0F03, 0x010F0101, 0x010F0105, 0x010F0109, 0x010F0501,
    0x010F0505, 0x010F050D, 0x010F0707, 0x010F0B01, 0x010F0B09, 0x03010101, 0x03010103, 0x03010105,
    0x03010109, 0x03010301, 0x03010303, 0x03010307, 0x0301030B, 0x0301030F, 0x03010501, 0x03010505,
    0x03010703, 0x03010709, 0x0301070D, 0x03010B09, 0x03010B0D, 0x03010D03, 0x03010F05, 0x03030101,
    0x03030103, 0x03030107, 0x0303010D, 0x03030301, 0x03030309, 0x03030503, 0x03030701, 0x03030707,
    0x03030903, 0x03030B01, 0x03030B05, 0x03030F01, 0x03030F0D, 0x03050101, 0x03050305, 0x0305030B,
    0x0305030F, 0x03050501, 0x03050509, 0x03050705, 0x03050901, 0x03050907, 0x03050B0B, 0x03050D01,
    0x03050F05, 0x03070103, 0x03070109, 0x0307010F, 0x03070301, 0x03070307, 0x03070503, 0x0307050F,
    0x03070701, 0x03070709, 0x03070903, 0x03070D05, 0x03070F01, 0x03090107, 0x0309010B, 0x03090305,
    0x03090309, 0x03090703, 0x03090707, 0x03090905, 0x0309090D, 0x03090B01, 0x03090B09, 0x030B0103,
    0x030B0301, 0x030B0307, 0x030B0503, 0x030B0701, 0x030B0705, 0x030B0B03, 0x030D0501, 0x030D0509,
    0x030D050F, 0x030D0909, 0x030D090D, 0x030F0103, 0x030F0107, 0x030F0301, 0x030F0305, 0x030F0503,
    0x030F070B, 0x030F0903, 0x030F0D05, 0x030F0F01, 0x05010101, 0x05010103, 0x05010107, 0x0501010B,
    0x0501010F, 0x05010301, 0x05010305, 0x05010309, 0x0501030D, 0x05010503, 0x05010507, 0x0501050F,
    0x05010701, 0x05010705, 0x05010903, 0x05010907, 0x0501090B, 0x05010B01, 0x05010B05, 0x05010D0F,
    0x05010F01, 0x05010F07, 0x05010F0B, 0x05030101, 0x05030105, 0x05030301, 0x05030307, 0x0503030F,
    0x05030505, 0x0503050B, 0x05030703, 0x05030709, 0x05030905, 0x05030B03, 0x05050103, 0x05050109,
    0x0505010F, 0x05050503, 0x05050507, 0x05050701, 0x0505070F, 0x05050903, 0x05050B07, 0x05050B0F,
    0x05050F03, 0x05050F09, 0x05070101, 0x05070105, 0x0507010B, 0x05070303, 0x05070505, 0x05070509,
    0x05070703, 0x05070707, 0x05070905, 0x05070B01, 0x05070D0D, 0x05090103, 0x0509010F, 0x05090501,
    0x05090507, 0x05090705, 0x0509070B, 0x05090903, 0x05090F05, 0x05090F0B, 0x050B0109, 0x050B0303,
    0x050B0505, 0x050B070F, 0x050B0901, 0x050B0B07, 0x050B0F01, 0x050D0101, 0x050D0105, 0x050D010F,
    0x050D0503, 0x050D0B0B, 0x050D0D03, 0x050F010B, 0x050F0303, 0x050F050D, 0x050F0701, 0x050F0907,
    0x050F0B01, 0x07010105, 0x07010303, 0x07010307, 0x0701030B, 0x0701030F, 0x07010505, 0x07010703,
    0x07010707, 0x0701070B, 0x07010905, 0x07010909, 0x0701090F, 0x07010B03, 0x07010D07, 0x07010F03,
    0x07030103, 0x07030107, 0x0703010B, 0x07030309, 0x07030503, 0x07030507, 0x07030901, 0x07030D01,
    0x07030F05, 0x07030F0D, 0x07050101, 0x07050305, 0x07050501, 0x07050705, 0x07050709, 0x07050B01,
    0x07070103, 0x07070301, 0x07070309, 0x07070503, 0x07070507, 0x0707050F, 0x07070701, 0x07070903,
    0x07070907, 0x0707090F, 0x07070B0B, 0x07070F07, 0x07090107, 0x07090303, 0x0709030D, 0x07090505,
    0x07090703, 0x07090B05, 0x07090D01, 0x07090D09, 0x070B0103, 0x070B0301, 0x070B0305, 0x070B050B,
    0x070B0705, 0x070B0909, 0x070B0B0D, 0x070B0F07, 0x070D030D, 0x070D0903, 0x070F0103, 0x070F0107,
    0x070F0501, 0x070F0505, 0x070F070B, 0x09010101, 0x09010109, 0x09010305, 0x09010501, 0x09010509,
    0x0901050F, 0x09010705, 0x09010903, 0x09010B01, 0x09010F01, 0x09030105, 0x0903010F, 0x09030303,
    0x09030307, 0x09030505, 0x09030701, 0x0903070B, 0x09030907, 0x09030B03, 0x09030B0B, 0x09050103,
    0x09050107, 0x09050301, 0x0905030B, 0x09050503, 0x09050707, 0x09050901, 0x09050B0F, 0x09050D05,
    0x09050F01, 0x09070109, 0x09070303, 0x09070307, 0x09070501, 0x09070505, 0x09070703, 0x0907070B,
    0x09090101, 0x09090105, 0x09090509, 0x0909070F, 0x09090901, 0x09090F03, 0x090B010B, 0x090B010F,
    0x090B0503, 0x090B0D05, 0x090D0307, 0x090D0709, 0x090D0D01, 0x090F0301, 0x090F030B, 0x090F0701,
    0x090F0907, 0x090F0B03, 0x0B010105, 0x0B010301, 0x0B010309, 0x0B010505, 0x0B010901, 0x0B010909,
    0x0B01090F, 0x0B010B05, 0x0B010D0D, 0x0B010F09, 0x0B030103, 0x0B030107, 0x0B03010B, 0x0B030305,
    0x0B030503, 0x0B030705, 0x0B030F05, 0x0B050101, 0x0B050303, 0x0B050507, 0x0B050701, 0x0B05070D,
    0x0B050B07, 0x0B070105, 0x0B07010F, 0x0B070301, 0x0B07050F, 0x0B070909, 0x0B070B03, 0x0B070D0B,
    0x0B070F07, 0x0B090103, 0x0B090109, 0x0B090501, 0x0B090705, 0x0B09090D, 0x0B0B0305, 0x0B0B050D,
    0x0B0B0B03, 0x0B0B0B07, 0x0B0D0905, 0x0B0F0105, 0x0B0F0109, 0x0B0F0505, 0x0D010303, 0x0D010307,
    0x0D01030B, 0x0D010703, 0x0D010707, 0x0D010D01, 0x0D030101, 0x0D030501, 0x0D03050F, 0x0D030D09,
    0x0D050305, 0x0D050709, 0x0D050905, 0x0D050B0B, 0x0D050D05, 0x0D050F01, 0x0D070101, 0x0D070309,
    0x0D070503, 0x0D070901, 0x0D09050B, 0x0D090907, 0x0D090D05, 0x0D0B0101, 0x0D0B0107, 0x0D0B0709,
    0x0D0B0D01, 0x0D0D010B, 0x0D0D0901, 0x0D0F0303, 0x0D0F0307, 0x0F010101, 0x0F010109, 0x0F01010F,
    0x0F010501, 0x0F010505, 0x0F01070D, 0x0F010901, 0x0F010B09, 0x0F010D05, 0x0F030105, 0x0F030303,
    0x0F030509, 0x0F030907, 0x0F03090B, 0x0F050103, 0x0F050109, 0x0F050301, 0x0F05030D, 0x0F050503,
    0x0F050701, 0x0F050B03, 0x0F070105, 0x0F070705, 0x0F07070B, 0x0F070B07, 0x0F090103, 0x0F09010B,
    0x0F090307, 0x0F090501, 0x0F090B01, 0x0F0B0505, 0x0F0B0905, 0x0F0D0105, 0x0F0D0703, 0x0F0F0101
};

static const qk_binding iq3_s_dequant_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq3_s_dequant_f32_push[] = {
    {"tiles", 0, 4},
};
static const qk_table iq3_s_dequant_f32_tables[] = {
    {2, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_dequant_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant iq3_s_dequant_f32_vulkan_constants[] = {{0, "local_size_x", 256, 6, iq3_s_dequant_f32_vulkan_local_size_x}};

const qk_kernel qk_iq3_s_dequant_f32_vulkan = {
    .name = "iq3_s_dequant_f32",
    .format = "iq3_s",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_dequant_f32_spirv,
    .binding_count = 2,
    .bindings = iq3_s_dequant_f32_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = iq3_s_dequant_f32_push,
    .table_count = 1,
    .tables = iq3_s_dequant_f32_tables,
    .spec_constant_count = 1,
    .spec_constants = iq3_s_dequant_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 4,
};

const qk_kernel qk_iq3_s_dequant_f32_metal = {
    .name = "iq3_s_dequant_f32",
    .format = "iq3_s",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "iq3_s_dequant_f32",
    .code = &qk_iq3_s_msl,
    .binding_count = 2,
    .bindings = iq3_s_dequant_f32_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = iq3_s_dequant_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding iq3_s_dequant_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0},
};
static const qk_field iq3_s_dequant_f16_push[] = {
    {"tiles", 0, 4},
};
static const qk_table iq3_s_dequant_f16_tables[] = {
    {2, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_dequant_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_dequant_f16_vulkan_rounds_f16[] = {0, 1};
static const qk_spec_constant iq3_s_dequant_f16_vulkan_constants[] = {{0, "local_size_x", 256, 6, iq3_s_dequant_f16_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, iq3_s_dequant_f16_vulkan_rounds_f16}};

const qk_kernel qk_iq3_s_dequant_f16_vulkan = {
    .name = "iq3_s_dequant_f16",
    .format = "iq3_s",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_dequant_f16_spirv,
    .binding_count = 2,
    .bindings = iq3_s_dequant_f16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = iq3_s_dequant_f16_push,
    .table_count = 1,
    .tables = iq3_s_dequant_f16_tables,
    .spec_constant_count = 2,
    .spec_constants = iq3_s_dequant_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 8,
};

const qk_kernel qk_iq3_s_dequant_f16_metal = {
    .name = "iq3_s_dequant_f16",
    .format = "iq3_s",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "iq3_s_dequant_f16",
    .code = &qk_iq3_s_msl,
    .binding_count = 2,
    .bindings = iq3_s_dequant_f16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = iq3_s_dequant_f16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding iq3_s_dequant_bf16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0},
};
static const qk_field iq3_s_dequant_bf16_push[] = {
    {"tiles", 0, 4},
};
static const qk_table iq3_s_dequant_bf16_tables[] = {
    {2, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_dequant_bf16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant iq3_s_dequant_bf16_vulkan_constants[] = {{0, "local_size_x", 256, 6, iq3_s_dequant_bf16_vulkan_local_size_x}};

const qk_kernel qk_iq3_s_dequant_bf16_vulkan = {
    .name = "iq3_s_dequant_bf16",
    .format = "iq3_s",
    .family = "dequant",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_dequant_bf16_spirv,
    .binding_count = 2,
    .bindings = iq3_s_dequant_bf16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = iq3_s_dequant_bf16_push,
    .table_count = 1,
    .tables = iq3_s_dequant_bf16_tables,
    .spec_constant_count = 1,
    .spec_constants = iq3_s_dequant_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 8,
};

const qk_kernel qk_iq3_s_dequant_bf16_metal = {
    .name = "iq3_s_dequant_bf16",
    .format = "iq3_s",
    .family = "dequant",
    .api = QK_API_METAL,
    .entry = "iq3_s_dequant_bf16",
    .code = &qk_iq3_s_msl,
    .binding_count = 2,
    .bindings = iq3_s_dequant_bf16_bindings,
    .push_bytes = 4,
    .push_count = 1,
    .push = iq3_s_dequant_bf16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding iq3_s_gather_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gather_f32_push[] = {
    {"rows", 0, 4},
    {"row_first", 4, 4},
    {"row_end", 8, 4},
    {"row_tiles", 12, 4},
    {"tokens", 16, 4},
};
static const qk_table iq3_s_gather_f32_tables[] = {
    {4, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gather_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant iq3_s_gather_f32_vulkan_constants[] = {{0, "local_size_x", 256, 6, iq3_s_gather_f32_vulkan_local_size_x}};

const qk_kernel qk_iq3_s_gather_f32_vulkan = {
    .name = "iq3_s_gather_f32",
    .format = "iq3_s",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gather_f32_spirv,
    .binding_count = 4,
    .bindings = iq3_s_gather_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq3_s_gather_f32_push,
    .table_count = 1,
    .tables = iq3_s_gather_f32_tables,
    .spec_constant_count = 1,
    .spec_constants = iq3_s_gather_f32_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 4,
};

const qk_kernel qk_iq3_s_gather_f32_metal = {
    .name = "iq3_s_gather_f32",
    .format = "iq3_s",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "iq3_s_gather_f32",
    .code = &qk_iq3_s_msl,
    .binding_count = 4,
    .bindings = iq3_s_gather_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq3_s_gather_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding iq3_s_gather_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gather_f16_push[] = {
    {"rows", 0, 4},
    {"row_first", 4, 4},
    {"row_end", 8, 4},
    {"row_tiles", 12, 4},
    {"tokens", 16, 4},
};
static const qk_table iq3_s_gather_f16_tables[] = {
    {4, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gather_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gather_f16_vulkan_rounds_f16[] = {0, 1};
static const qk_spec_constant iq3_s_gather_f16_vulkan_constants[] = {{0, "local_size_x", 256, 6, iq3_s_gather_f16_vulkan_local_size_x},
    {8, "rounds_f16", 0, 2, iq3_s_gather_f16_vulkan_rounds_f16}};

const qk_kernel qk_iq3_s_gather_f16_vulkan = {
    .name = "iq3_s_gather_f16",
    .format = "iq3_s",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gather_f16_spirv,
    .binding_count = 4,
    .bindings = iq3_s_gather_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq3_s_gather_f16_push,
    .table_count = 1,
    .tables = iq3_s_gather_f16_tables,
    .spec_constant_count = 2,
    .spec_constants = iq3_s_gather_f16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 8,
};

const qk_kernel qk_iq3_s_gather_f16_metal = {
    .name = "iq3_s_gather_f16",
    .format = "iq3_s",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "iq3_s_gather_f16",
    .code = &qk_iq3_s_msl,
    .binding_count = 4,
    .bindings = iq3_s_gather_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq3_s_gather_f16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_F16,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding iq3_s_gather_bf16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_BF16, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gather_bf16_push[] = {
    {"rows", 0, 4},
    {"row_first", 4, 4},
    {"row_end", 8, 4},
    {"row_tiles", 12, 4},
    {"tokens", 16, 4},
};
static const qk_table iq3_s_gather_bf16_tables[] = {
    {4, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gather_bf16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const qk_spec_constant iq3_s_gather_bf16_vulkan_constants[] = {{0, "local_size_x", 256, 6, iq3_s_gather_bf16_vulkan_local_size_x}};

const qk_kernel qk_iq3_s_gather_bf16_vulkan = {
    .name = "iq3_s_gather_bf16",
    .format = "iq3_s",
    .family = "gather",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gather_bf16_spirv,
    .binding_count = 4,
    .bindings = iq3_s_gather_bf16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq3_s_gather_bf16_push,
    .table_count = 1,
    .tables = iq3_s_gather_bf16_tables,
    .spec_constant_count = 1,
    .spec_constants = iq3_s_gather_bf16_vulkan_constants,
    .workgroup_size = 256,
    .features = QK_FEATURE_STORAGE_16BIT,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 8,
};

const qk_kernel qk_iq3_s_gather_bf16_metal = {
    .name = "iq3_s_gather_bf16",
    .format = "iq3_s",
    .family = "gather",
    .api = QK_API_METAL,
    .entry = "iq3_s_gather_bf16",
    .code = &qk_iq3_s_msl,
    .binding_count = 4,
    .bindings = iq3_s_gather_bf16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq3_s_gather_bf16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_DECODE,
    .output = QK_TYPE_BF16,
    .block_elements = 256,
    .tile_elements = 8,
};

static const qk_binding iq3_s_gemv_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gemv_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
};
static const qk_table iq3_s_gemv_f32_tables[] = {
    {3, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gemv_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gemv_f32_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq3_s_gemv_f32_vulkan_load_words[] = {1, 4};
static const uint32_t iq3_s_gemv_f32_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t iq3_s_gemv_f32_vulkan_padded[] = {0, 1};
static const uint32_t iq3_s_gemv_f32_vulkan_checked[] = {0, 1};
static const uint32_t iq3_s_gemv_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq3_s_gemv_f32_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq3_s_gemv_f32_vulkan_ahead[] = {0, 1, 2};
static const uint32_t iq3_s_gemv_f32_vulkan_lanes[] = {8, 16, 32, 64};
static const qk_spec_constant iq3_s_gemv_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq3_s_gemv_f32_vulkan_local_size_x},
    {1, "batch", 1, 4, iq3_s_gemv_f32_vulkan_batch},
    {2, "rows", 4, 4, iq3_s_gemv_f32_vulkan_rows},
    {3, "split", 1, 6, iq3_s_gemv_f32_vulkan_split},
    {5, "load_words", 4, 2, iq3_s_gemv_f32_vulkan_load_words},
    {6, "shared_fours", 512, 4, iq3_s_gemv_f32_vulkan_shared_fours},
    {11, "padded", 0, 2, iq3_s_gemv_f32_vulkan_padded},
    {12, "checked", 0, 2, iq3_s_gemv_f32_vulkan_checked},
    {7, "staged", 1, 4, iq3_s_gemv_f32_vulkan_staged},
    {9, "table_copies", 1, 6, iq3_s_gemv_f32_vulkan_table_copies},
    {13, "ahead", 0, 3, iq3_s_gemv_f32_vulkan_ahead},
    {14, "lanes", 32, 4, iq3_s_gemv_f32_vulkan_lanes}};

const qk_kernel qk_iq3_s_gemv_f32_vulkan = {
    .name = "iq3_s_gemv_f32",
    .format = "iq3_s",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gemv_f32_spirv,
    .binding_count = 3,
    .bindings = iq3_s_gemv_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq3_s_gemv_f32_push,
    .table_count = 1,
    .tables = iq3_s_gemv_f32_tables,
    .spec_constant_count = 12,
    .spec_constants = iq3_s_gemv_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .rows_ahead = 2,
    .ahead_kept = 64,
    .ahead_block = 512,
    .sum_roundings = 126,
};

static const uint32_t iq3_s_gemv_f32_metal_batch[] = {1, 2, 4, 8};
static const qk_spec_constant iq3_s_gemv_f32_metal_constants[] = {{1, "batch", 1, 4, iq3_s_gemv_f32_metal_batch}};

const qk_kernel qk_iq3_s_gemv_f32_metal = {
    .name = "iq3_s_gemv_f32",
    .format = "iq3_s",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "iq3_s_gemv_f32",
    .code = &qk_iq3_s_msl,
    .binding_count = 3,
    .bindings = iq3_s_gemv_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq3_s_gemv_f32_push,
    .spec_constant_count = 1,
    .spec_constants = iq3_s_gemv_f32_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .sum_roundings = 126,
};

static const qk_binding iq3_s_gemv_int8_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gemv_int8_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
};
static const qk_table iq3_s_gemv_int8_f32_tables[] = {
    {3, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gemv_int8_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gemv_int8_f32_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_int8_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_int8_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq3_s_gemv_int8_f32_vulkan_digits[] = {1};
static const uint32_t iq3_s_gemv_int8_f32_vulkan_load_words[] = {1, 4};
static const uint32_t iq3_s_gemv_int8_f32_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t iq3_s_gemv_int8_f32_vulkan_padded[] = {0, 1};
static const uint32_t iq3_s_gemv_int8_f32_vulkan_checked[] = {0, 1};
static const uint32_t iq3_s_gemv_int8_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq3_s_gemv_int8_f32_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq3_s_gemv_int8_f32_vulkan_ahead[] = {0, 1, 2};
static const uint32_t iq3_s_gemv_int8_f32_vulkan_lanes[] = {8, 16, 32, 64};
static const qk_spec_constant iq3_s_gemv_int8_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq3_s_gemv_int8_f32_vulkan_local_size_x},
    {1, "batch", 1, 4, iq3_s_gemv_int8_f32_vulkan_batch},
    {2, "rows", 4, 4, iq3_s_gemv_int8_f32_vulkan_rows},
    {3, "split", 1, 6, iq3_s_gemv_int8_f32_vulkan_split},
    {4, "digits", 1, 1, iq3_s_gemv_int8_f32_vulkan_digits},
    {5, "load_words", 4, 2, iq3_s_gemv_int8_f32_vulkan_load_words},
    {6, "shared_fours", 512, 4, iq3_s_gemv_int8_f32_vulkan_shared_fours},
    {11, "padded", 0, 2, iq3_s_gemv_int8_f32_vulkan_padded},
    {12, "checked", 1, 2, iq3_s_gemv_int8_f32_vulkan_checked},
    {7, "staged", 1, 4, iq3_s_gemv_int8_f32_vulkan_staged},
    {9, "table_copies", 1, 6, iq3_s_gemv_int8_f32_vulkan_table_copies},
    {13, "ahead", 0, 3, iq3_s_gemv_int8_f32_vulkan_ahead},
    {14, "lanes", 32, 4, iq3_s_gemv_int8_f32_vulkan_lanes}};

const qk_kernel qk_iq3_s_gemv_int8_f32_vulkan = {
    .name = "iq3_s_gemv_int8_f32",
    .format = "iq3_s",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gemv_int8_f32_spirv,
    .binding_count = 3,
    .bindings = iq3_s_gemv_int8_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq3_s_gemv_int8_f32_push,
    .table_count = 1,
    .tables = iq3_s_gemv_int8_f32_tables,
    .spec_constant_count = 13,
    .spec_constants = iq3_s_gemv_int8_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .rows_ahead = 2,
    .ahead_kept = 64,
    .ahead_block = 512,
    .sum_roundings = 126,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 32,
};

static const qk_binding iq3_s_gemv_split_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gemv_split_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
};
static const qk_table iq3_s_gemv_split_f32_tables[] = {
    {3, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gemv_split_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gemv_split_f32_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_split_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_split_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq3_s_gemv_split_f32_vulkan_digits[] = {2};
static const uint32_t iq3_s_gemv_split_f32_vulkan_load_words[] = {1, 4};
static const uint32_t iq3_s_gemv_split_f32_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t iq3_s_gemv_split_f32_vulkan_padded[] = {0, 1};
static const uint32_t iq3_s_gemv_split_f32_vulkan_checked[] = {0, 1};
static const uint32_t iq3_s_gemv_split_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq3_s_gemv_split_f32_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq3_s_gemv_split_f32_vulkan_ahead[] = {0, 1, 2};
static const uint32_t iq3_s_gemv_split_f32_vulkan_lanes[] = {8, 16, 32, 64};
static const qk_spec_constant iq3_s_gemv_split_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq3_s_gemv_split_f32_vulkan_local_size_x},
    {1, "batch", 1, 4, iq3_s_gemv_split_f32_vulkan_batch},
    {2, "rows", 4, 4, iq3_s_gemv_split_f32_vulkan_rows},
    {3, "split", 1, 6, iq3_s_gemv_split_f32_vulkan_split},
    {4, "digits", 2, 1, iq3_s_gemv_split_f32_vulkan_digits},
    {5, "load_words", 4, 2, iq3_s_gemv_split_f32_vulkan_load_words},
    {6, "shared_fours", 512, 4, iq3_s_gemv_split_f32_vulkan_shared_fours},
    {11, "padded", 0, 2, iq3_s_gemv_split_f32_vulkan_padded},
    {12, "checked", 0, 2, iq3_s_gemv_split_f32_vulkan_checked},
    {7, "staged", 1, 4, iq3_s_gemv_split_f32_vulkan_staged},
    {9, "table_copies", 1, 6, iq3_s_gemv_split_f32_vulkan_table_copies},
    {13, "ahead", 0, 3, iq3_s_gemv_split_f32_vulkan_ahead},
    {14, "lanes", 32, 4, iq3_s_gemv_split_f32_vulkan_lanes}};

const qk_kernel qk_iq3_s_gemv_split_f32_vulkan = {
    .name = "iq3_s_gemv_split_f32",
    .format = "iq3_s",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gemv_int8_f32_spirv,
    .binding_count = 3,
    .bindings = iq3_s_gemv_split_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq3_s_gemv_split_f32_push,
    .table_count = 1,
    .tables = iq3_s_gemv_split_f32_tables,
    .spec_constant_count = 13,
    .spec_constants = iq3_s_gemv_split_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .rows_ahead = 2,
    .ahead_kept = 64,
    .ahead_block = 512,
    .sum_roundings = 126,
    .x_levels = 32639,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_binding iq3_s_gemv_int24_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gemv_int24_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
};
static const qk_table iq3_s_gemv_int24_f32_tables[] = {
    {3, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gemv_int24_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gemv_int24_f32_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_int24_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_int24_f32_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq3_s_gemv_int24_f32_vulkan_digits[] = {3};
static const uint32_t iq3_s_gemv_int24_f32_vulkan_load_words[] = {1, 4};
static const uint32_t iq3_s_gemv_int24_f32_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t iq3_s_gemv_int24_f32_vulkan_padded[] = {0, 1};
static const uint32_t iq3_s_gemv_int24_f32_vulkan_checked[] = {0, 1};
static const uint32_t iq3_s_gemv_int24_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq3_s_gemv_int24_f32_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq3_s_gemv_int24_f32_vulkan_ahead[] = {0, 1, 2};
static const uint32_t iq3_s_gemv_int24_f32_vulkan_lanes[] = {8, 16, 32, 64};
static const qk_spec_constant iq3_s_gemv_int24_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq3_s_gemv_int24_f32_vulkan_local_size_x},
    {1, "batch", 1, 4, iq3_s_gemv_int24_f32_vulkan_batch},
    {2, "rows", 4, 4, iq3_s_gemv_int24_f32_vulkan_rows},
    {3, "split", 1, 6, iq3_s_gemv_int24_f32_vulkan_split},
    {4, "digits", 3, 1, iq3_s_gemv_int24_f32_vulkan_digits},
    {5, "load_words", 4, 2, iq3_s_gemv_int24_f32_vulkan_load_words},
    {6, "shared_fours", 512, 4, iq3_s_gemv_int24_f32_vulkan_shared_fours},
    {11, "padded", 0, 2, iq3_s_gemv_int24_f32_vulkan_padded},
    {12, "checked", 0, 2, iq3_s_gemv_int24_f32_vulkan_checked},
    {7, "staged", 1, 4, iq3_s_gemv_int24_f32_vulkan_staged},
    {9, "table_copies", 1, 6, iq3_s_gemv_int24_f32_vulkan_table_copies},
    {13, "ahead", 0, 3, iq3_s_gemv_int24_f32_vulkan_ahead},
    {14, "lanes", 32, 4, iq3_s_gemv_int24_f32_vulkan_lanes}};

const qk_kernel qk_iq3_s_gemv_int24_f32_vulkan = {
    .name = "iq3_s_gemv_int24_f32",
    .format = "iq3_s",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gemv_int8_f32_spirv,
    .binding_count = 3,
    .bindings = iq3_s_gemv_int24_f32_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq3_s_gemv_int24_f32_push,
    .table_count = 1,
    .tables = iq3_s_gemv_int24_f32_tables,
    .spec_constant_count = 13,
    .spec_constants = iq3_s_gemv_int24_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .rows_ahead = 2,
    .ahead_kept = 64,
    .ahead_block = 512,
    .sum_roundings = 126,
    .x_levels = 8355708,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_binding iq3_s_gemv_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gemv_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
};
static const qk_table iq3_s_gemv_f16_tables[] = {
    {3, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gemv_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gemv_f16_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_f16_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq3_s_gemv_f16_vulkan_load_words[] = {1, 4};
static const uint32_t iq3_s_gemv_f16_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t iq3_s_gemv_f16_vulkan_padded[] = {0, 1};
static const uint32_t iq3_s_gemv_f16_vulkan_checked[] = {0, 1};
static const uint32_t iq3_s_gemv_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq3_s_gemv_f16_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq3_s_gemv_f16_vulkan_ahead[] = {0, 1, 2};
static const uint32_t iq3_s_gemv_f16_vulkan_lanes[] = {8, 16, 32, 64};
static const qk_spec_constant iq3_s_gemv_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq3_s_gemv_f16_vulkan_local_size_x},
    {1, "batch", 1, 4, iq3_s_gemv_f16_vulkan_batch},
    {2, "rows", 4, 4, iq3_s_gemv_f16_vulkan_rows},
    {3, "split", 1, 6, iq3_s_gemv_f16_vulkan_split},
    {5, "load_words", 4, 2, iq3_s_gemv_f16_vulkan_load_words},
    {6, "shared_fours", 512, 4, iq3_s_gemv_f16_vulkan_shared_fours},
    {11, "padded", 0, 2, iq3_s_gemv_f16_vulkan_padded},
    {12, "checked", 0, 2, iq3_s_gemv_f16_vulkan_checked},
    {7, "staged", 1, 4, iq3_s_gemv_f16_vulkan_staged},
    {9, "table_copies", 1, 6, iq3_s_gemv_f16_vulkan_table_copies},
    {13, "ahead", 0, 3, iq3_s_gemv_f16_vulkan_ahead},
    {14, "lanes", 32, 4, iq3_s_gemv_f16_vulkan_lanes}};

const qk_kernel qk_iq3_s_gemv_f16_vulkan = {
    .name = "iq3_s_gemv_f16",
    .format = "iq3_s",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gemv_f16_spirv,
    .binding_count = 3,
    .bindings = iq3_s_gemv_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq3_s_gemv_f16_push,
    .table_count = 1,
    .tables = iq3_s_gemv_f16_tables,
    .spec_constant_count = 12,
    .spec_constants = iq3_s_gemv_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .rows_ahead = 2,
    .ahead_kept = 64,
    .ahead_block = 512,
    .sum_roundings = 126,
};

static const uint32_t iq3_s_gemv_f16_metal_batch[] = {1, 2, 4, 8};
static const qk_spec_constant iq3_s_gemv_f16_metal_constants[] = {{1, "batch", 1, 4, iq3_s_gemv_f16_metal_batch}};

const qk_kernel qk_iq3_s_gemv_f16_metal = {
    .name = "iq3_s_gemv_f16",
    .format = "iq3_s",
    .family = "gemv",
    .api = QK_API_METAL,
    .entry = "iq3_s_gemv_f16",
    .code = &qk_iq3_s_msl,
    .binding_count = 3,
    .bindings = iq3_s_gemv_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq3_s_gemv_f16_push,
    .spec_constant_count = 1,
    .spec_constants = iq3_s_gemv_f16_metal_constants,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .sum_roundings = 126,
};

static const qk_binding iq3_s_gemv_int8_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gemv_int8_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
};
static const qk_table iq3_s_gemv_int8_f16_tables[] = {
    {3, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gemv_int8_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gemv_int8_f16_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_int8_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_int8_f16_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq3_s_gemv_int8_f16_vulkan_digits[] = {1};
static const uint32_t iq3_s_gemv_int8_f16_vulkan_load_words[] = {1, 4};
static const uint32_t iq3_s_gemv_int8_f16_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t iq3_s_gemv_int8_f16_vulkan_padded[] = {0, 1};
static const uint32_t iq3_s_gemv_int8_f16_vulkan_checked[] = {0, 1};
static const uint32_t iq3_s_gemv_int8_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq3_s_gemv_int8_f16_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq3_s_gemv_int8_f16_vulkan_ahead[] = {0, 1, 2};
static const uint32_t iq3_s_gemv_int8_f16_vulkan_lanes[] = {8, 16, 32, 64};
static const qk_spec_constant iq3_s_gemv_int8_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq3_s_gemv_int8_f16_vulkan_local_size_x},
    {1, "batch", 1, 4, iq3_s_gemv_int8_f16_vulkan_batch},
    {2, "rows", 4, 4, iq3_s_gemv_int8_f16_vulkan_rows},
    {3, "split", 1, 6, iq3_s_gemv_int8_f16_vulkan_split},
    {4, "digits", 1, 1, iq3_s_gemv_int8_f16_vulkan_digits},
    {5, "load_words", 4, 2, iq3_s_gemv_int8_f16_vulkan_load_words},
    {6, "shared_fours", 512, 4, iq3_s_gemv_int8_f16_vulkan_shared_fours},
    {11, "padded", 0, 2, iq3_s_gemv_int8_f16_vulkan_padded},
    {12, "checked", 1, 2, iq3_s_gemv_int8_f16_vulkan_checked},
    {7, "staged", 1, 4, iq3_s_gemv_int8_f16_vulkan_staged},
    {9, "table_copies", 1, 6, iq3_s_gemv_int8_f16_vulkan_table_copies},
    {13, "ahead", 0, 3, iq3_s_gemv_int8_f16_vulkan_ahead},
    {14, "lanes", 32, 4, iq3_s_gemv_int8_f16_vulkan_lanes}};

const qk_kernel qk_iq3_s_gemv_int8_f16_vulkan = {
    .name = "iq3_s_gemv_int8_f16",
    .format = "iq3_s",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gemv_int8_f16_spirv,
    .binding_count = 3,
    .bindings = iq3_s_gemv_int8_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq3_s_gemv_int8_f16_push,
    .table_count = 1,
    .tables = iq3_s_gemv_int8_f16_tables,
    .spec_constant_count = 13,
    .spec_constants = iq3_s_gemv_int8_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .rows_ahead = 2,
    .ahead_kept = 64,
    .ahead_block = 512,
    .sum_roundings = 126,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 32,
};

static const qk_binding iq3_s_gemv_split_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gemv_split_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
};
static const qk_table iq3_s_gemv_split_f16_tables[] = {
    {3, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gemv_split_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gemv_split_f16_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_split_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_split_f16_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq3_s_gemv_split_f16_vulkan_digits[] = {2};
static const uint32_t iq3_s_gemv_split_f16_vulkan_load_words[] = {1, 4};
static const uint32_t iq3_s_gemv_split_f16_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t iq3_s_gemv_split_f16_vulkan_padded[] = {0, 1};
static const uint32_t iq3_s_gemv_split_f16_vulkan_checked[] = {0, 1};
static const uint32_t iq3_s_gemv_split_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq3_s_gemv_split_f16_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq3_s_gemv_split_f16_vulkan_ahead[] = {0, 1, 2};
static const uint32_t iq3_s_gemv_split_f16_vulkan_lanes[] = {8, 16, 32, 64};
static const qk_spec_constant iq3_s_gemv_split_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq3_s_gemv_split_f16_vulkan_local_size_x},
    {1, "batch", 1, 4, iq3_s_gemv_split_f16_vulkan_batch},
    {2, "rows", 4, 4, iq3_s_gemv_split_f16_vulkan_rows},
    {3, "split", 1, 6, iq3_s_gemv_split_f16_vulkan_split},
    {4, "digits", 2, 1, iq3_s_gemv_split_f16_vulkan_digits},
    {5, "load_words", 4, 2, iq3_s_gemv_split_f16_vulkan_load_words},
    {6, "shared_fours", 512, 4, iq3_s_gemv_split_f16_vulkan_shared_fours},
    {11, "padded", 0, 2, iq3_s_gemv_split_f16_vulkan_padded},
    {12, "checked", 0, 2, iq3_s_gemv_split_f16_vulkan_checked},
    {7, "staged", 1, 4, iq3_s_gemv_split_f16_vulkan_staged},
    {9, "table_copies", 1, 6, iq3_s_gemv_split_f16_vulkan_table_copies},
    {13, "ahead", 0, 3, iq3_s_gemv_split_f16_vulkan_ahead},
    {14, "lanes", 32, 4, iq3_s_gemv_split_f16_vulkan_lanes}};

const qk_kernel qk_iq3_s_gemv_split_f16_vulkan = {
    .name = "iq3_s_gemv_split_f16",
    .format = "iq3_s",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gemv_int8_f16_spirv,
    .binding_count = 3,
    .bindings = iq3_s_gemv_split_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq3_s_gemv_split_f16_push,
    .table_count = 1,
    .tables = iq3_s_gemv_split_f16_tables,
    .spec_constant_count = 13,
    .spec_constants = iq3_s_gemv_split_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .rows_ahead = 2,
    .ahead_kept = 64,
    .ahead_block = 512,
    .sum_roundings = 126,
    .x_levels = 32639,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_binding iq3_s_gemv_int24_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gemv_int24_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"y_first", 12, 4},
    {"y_rows", 16, 4},
};
static const qk_table iq3_s_gemv_int24_f16_tables[] = {
    {3, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gemv_int24_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gemv_int24_f16_vulkan_batch[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_int24_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_int24_f16_vulkan_split[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq3_s_gemv_int24_f16_vulkan_digits[] = {3};
static const uint32_t iq3_s_gemv_int24_f16_vulkan_load_words[] = {1, 4};
static const uint32_t iq3_s_gemv_int24_f16_vulkan_shared_fours[] = {512, 1024, 2048, 2560};
static const uint32_t iq3_s_gemv_int24_f16_vulkan_padded[] = {0, 1};
static const uint32_t iq3_s_gemv_int24_f16_vulkan_checked[] = {0, 1};
static const uint32_t iq3_s_gemv_int24_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq3_s_gemv_int24_f16_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const uint32_t iq3_s_gemv_int24_f16_vulkan_ahead[] = {0, 1, 2};
static const uint32_t iq3_s_gemv_int24_f16_vulkan_lanes[] = {8, 16, 32, 64};
static const qk_spec_constant iq3_s_gemv_int24_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq3_s_gemv_int24_f16_vulkan_local_size_x},
    {1, "batch", 1, 4, iq3_s_gemv_int24_f16_vulkan_batch},
    {2, "rows", 4, 4, iq3_s_gemv_int24_f16_vulkan_rows},
    {3, "split", 1, 6, iq3_s_gemv_int24_f16_vulkan_split},
    {4, "digits", 3, 1, iq3_s_gemv_int24_f16_vulkan_digits},
    {5, "load_words", 4, 2, iq3_s_gemv_int24_f16_vulkan_load_words},
    {6, "shared_fours", 512, 4, iq3_s_gemv_int24_f16_vulkan_shared_fours},
    {11, "padded", 0, 2, iq3_s_gemv_int24_f16_vulkan_padded},
    {12, "checked", 0, 2, iq3_s_gemv_int24_f16_vulkan_checked},
    {7, "staged", 1, 4, iq3_s_gemv_int24_f16_vulkan_staged},
    {9, "table_copies", 1, 6, iq3_s_gemv_int24_f16_vulkan_table_copies},
    {13, "ahead", 0, 3, iq3_s_gemv_int24_f16_vulkan_ahead},
    {14, "lanes", 32, 4, iq3_s_gemv_int24_f16_vulkan_lanes}};

const qk_kernel qk_iq3_s_gemv_int24_f16_vulkan = {
    .name = "iq3_s_gemv_int24_f16",
    .format = "iq3_s",
    .family = "gemv",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gemv_int8_f16_spirv,
    .binding_count = 3,
    .bindings = iq3_s_gemv_int24_f16_bindings,
    .push_bytes = 20,
    .push_count = 5,
    .push = iq3_s_gemv_int24_f16_push,
    .table_count = 1,
    .tables = iq3_s_gemv_int24_f16_tables,
    .spec_constant_count = 13,
    .spec_constants = iq3_s_gemv_int24_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .rows_ahead = 2,
    .ahead_kept = 64,
    .ahead_block = 512,
    .sum_roundings = 126,
    .x_levels = 8355708,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_binding iq3_s_gemv_id_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gemv_id_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"experts", 16, 4},
    {"expert_first", 20, 4},
    {"expert_end", 24, 4},
};
static const qk_table iq3_s_gemv_id_f32_tables[] = {
    {5, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gemv_id_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gemv_id_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_id_f32_vulkan_load_words[] = {1, 4};
static const uint32_t iq3_s_gemv_id_f32_vulkan_padded[] = {0, 1};
static const uint32_t iq3_s_gemv_id_f32_vulkan_checked[] = {0, 1};
static const uint32_t iq3_s_gemv_id_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq3_s_gemv_id_f32_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq3_s_gemv_id_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq3_s_gemv_id_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, iq3_s_gemv_id_f32_vulkan_rows},
    {5, "load_words", 4, 2, iq3_s_gemv_id_f32_vulkan_load_words},
    {11, "padded", 0, 2, iq3_s_gemv_id_f32_vulkan_padded},
    {12, "checked", 0, 2, iq3_s_gemv_id_f32_vulkan_checked},
    {7, "staged", 1, 4, iq3_s_gemv_id_f32_vulkan_staged},
    {9, "table_copies", 1, 6, iq3_s_gemv_id_f32_vulkan_table_copies}};

const qk_kernel qk_iq3_s_gemv_id_f32_vulkan = {
    .name = "iq3_s_gemv_id_f32",
    .format = "iq3_s",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gemv_id_f32_spirv,
    .binding_count = 5,
    .bindings = iq3_s_gemv_id_f32_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq3_s_gemv_id_f32_push,
    .table_count = 1,
    .tables = iq3_s_gemv_id_f32_tables,
    .spec_constant_count = 7,
    .spec_constants = iq3_s_gemv_id_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .sum_roundings = 126,
};

const qk_kernel qk_iq3_s_gemv_id_f32_metal = {
    .name = "iq3_s_gemv_id_f32",
    .format = "iq3_s",
    .family = "gemv_id",
    .api = QK_API_METAL,
    .entry = "iq3_s_gemv_id_f32",
    .code = &qk_iq3_s_msl,
    .binding_count = 5,
    .bindings = iq3_s_gemv_id_f32_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq3_s_gemv_id_f32_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .sum_roundings = 126,
};

static const qk_binding iq3_s_gemv_id_int8_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gemv_id_int8_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"experts", 16, 4},
    {"expert_first", 20, 4},
    {"expert_end", 24, 4},
};
static const qk_table iq3_s_gemv_id_int8_f32_tables[] = {
    {5, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gemv_id_int8_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gemv_id_int8_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_id_int8_f32_vulkan_digits[] = {1};
static const uint32_t iq3_s_gemv_id_int8_f32_vulkan_load_words[] = {1, 4};
static const uint32_t iq3_s_gemv_id_int8_f32_vulkan_padded[] = {0, 1};
static const uint32_t iq3_s_gemv_id_int8_f32_vulkan_checked[] = {0, 1};
static const uint32_t iq3_s_gemv_id_int8_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq3_s_gemv_id_int8_f32_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq3_s_gemv_id_int8_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq3_s_gemv_id_int8_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, iq3_s_gemv_id_int8_f32_vulkan_rows},
    {4, "digits", 1, 1, iq3_s_gemv_id_int8_f32_vulkan_digits},
    {5, "load_words", 4, 2, iq3_s_gemv_id_int8_f32_vulkan_load_words},
    {11, "padded", 0, 2, iq3_s_gemv_id_int8_f32_vulkan_padded},
    {12, "checked", 0, 2, iq3_s_gemv_id_int8_f32_vulkan_checked},
    {7, "staged", 1, 4, iq3_s_gemv_id_int8_f32_vulkan_staged},
    {9, "table_copies", 1, 6, iq3_s_gemv_id_int8_f32_vulkan_table_copies}};

const qk_kernel qk_iq3_s_gemv_id_int8_f32_vulkan = {
    .name = "iq3_s_gemv_id_int8_f32",
    .format = "iq3_s",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gemv_id_int8_f32_spirv,
    .binding_count = 5,
    .bindings = iq3_s_gemv_id_int8_f32_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq3_s_gemv_id_int8_f32_push,
    .table_count = 1,
    .tables = iq3_s_gemv_id_int8_f32_tables,
    .spec_constant_count = 8,
    .spec_constants = iq3_s_gemv_id_int8_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .sum_roundings = 126,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 32,
};

static const qk_binding iq3_s_gemv_id_split_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gemv_id_split_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"experts", 16, 4},
    {"expert_first", 20, 4},
    {"expert_end", 24, 4},
};
static const qk_table iq3_s_gemv_id_split_f32_tables[] = {
    {5, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gemv_id_split_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gemv_id_split_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_id_split_f32_vulkan_digits[] = {2};
static const uint32_t iq3_s_gemv_id_split_f32_vulkan_load_words[] = {1, 4};
static const uint32_t iq3_s_gemv_id_split_f32_vulkan_padded[] = {0, 1};
static const uint32_t iq3_s_gemv_id_split_f32_vulkan_checked[] = {0, 1};
static const uint32_t iq3_s_gemv_id_split_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq3_s_gemv_id_split_f32_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq3_s_gemv_id_split_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq3_s_gemv_id_split_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, iq3_s_gemv_id_split_f32_vulkan_rows},
    {4, "digits", 2, 1, iq3_s_gemv_id_split_f32_vulkan_digits},
    {5, "load_words", 4, 2, iq3_s_gemv_id_split_f32_vulkan_load_words},
    {11, "padded", 0, 2, iq3_s_gemv_id_split_f32_vulkan_padded},
    {12, "checked", 0, 2, iq3_s_gemv_id_split_f32_vulkan_checked},
    {7, "staged", 1, 4, iq3_s_gemv_id_split_f32_vulkan_staged},
    {9, "table_copies", 1, 6, iq3_s_gemv_id_split_f32_vulkan_table_copies}};

const qk_kernel qk_iq3_s_gemv_id_split_f32_vulkan = {
    .name = "iq3_s_gemv_id_split_f32",
    .format = "iq3_s",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gemv_id_int8_f32_spirv,
    .binding_count = 5,
    .bindings = iq3_s_gemv_id_split_f32_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq3_s_gemv_id_split_f32_push,
    .table_count = 1,
    .tables = iq3_s_gemv_id_split_f32_tables,
    .spec_constant_count = 8,
    .spec_constants = iq3_s_gemv_id_split_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .sum_roundings = 126,
    .x_levels = 32639,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_binding iq3_s_gemv_id_int24_f32_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gemv_id_int24_f32_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"experts", 16, 4},
    {"expert_first", 20, 4},
    {"expert_end", 24, 4},
};
static const qk_table iq3_s_gemv_id_int24_f32_tables[] = {
    {5, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gemv_id_int24_f32_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gemv_id_int24_f32_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_id_int24_f32_vulkan_digits[] = {3};
static const uint32_t iq3_s_gemv_id_int24_f32_vulkan_load_words[] = {1, 4};
static const uint32_t iq3_s_gemv_id_int24_f32_vulkan_padded[] = {0, 1};
static const uint32_t iq3_s_gemv_id_int24_f32_vulkan_checked[] = {0, 1};
static const uint32_t iq3_s_gemv_id_int24_f32_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq3_s_gemv_id_int24_f32_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq3_s_gemv_id_int24_f32_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq3_s_gemv_id_int24_f32_vulkan_local_size_x},
    {2, "rows", 4, 4, iq3_s_gemv_id_int24_f32_vulkan_rows},
    {4, "digits", 3, 1, iq3_s_gemv_id_int24_f32_vulkan_digits},
    {5, "load_words", 4, 2, iq3_s_gemv_id_int24_f32_vulkan_load_words},
    {11, "padded", 0, 2, iq3_s_gemv_id_int24_f32_vulkan_padded},
    {12, "checked", 0, 2, iq3_s_gemv_id_int24_f32_vulkan_checked},
    {7, "staged", 1, 4, iq3_s_gemv_id_int24_f32_vulkan_staged},
    {9, "table_copies", 1, 6, iq3_s_gemv_id_int24_f32_vulkan_table_copies}};

const qk_kernel qk_iq3_s_gemv_id_int24_f32_vulkan = {
    .name = "iq3_s_gemv_id_int24_f32",
    .format = "iq3_s",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gemv_id_int8_f32_spirv,
    .binding_count = 5,
    .bindings = iq3_s_gemv_id_int24_f32_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq3_s_gemv_id_int24_f32_push,
    .table_count = 1,
    .tables = iq3_s_gemv_id_int24_f32_tables,
    .spec_constant_count = 8,
    .spec_constants = iq3_s_gemv_id_int24_f32_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .sum_roundings = 126,
    .x_levels = 8355708,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_binding iq3_s_gemv_id_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gemv_id_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"experts", 16, 4},
    {"expert_first", 20, 4},
    {"expert_end", 24, 4},
};
static const qk_table iq3_s_gemv_id_f16_tables[] = {
    {5, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gemv_id_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gemv_id_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_id_f16_vulkan_load_words[] = {1, 4};
static const uint32_t iq3_s_gemv_id_f16_vulkan_padded[] = {0, 1};
static const uint32_t iq3_s_gemv_id_f16_vulkan_checked[] = {0, 1};
static const uint32_t iq3_s_gemv_id_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq3_s_gemv_id_f16_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq3_s_gemv_id_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq3_s_gemv_id_f16_vulkan_local_size_x},
    {2, "rows", 4, 4, iq3_s_gemv_id_f16_vulkan_rows},
    {5, "load_words", 4, 2, iq3_s_gemv_id_f16_vulkan_load_words},
    {11, "padded", 0, 2, iq3_s_gemv_id_f16_vulkan_padded},
    {12, "checked", 0, 2, iq3_s_gemv_id_f16_vulkan_checked},
    {7, "staged", 1, 4, iq3_s_gemv_id_f16_vulkan_staged},
    {9, "table_copies", 1, 6, iq3_s_gemv_id_f16_vulkan_table_copies}};

const qk_kernel qk_iq3_s_gemv_id_f16_vulkan = {
    .name = "iq3_s_gemv_id_f16",
    .format = "iq3_s",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gemv_id_f16_spirv,
    .binding_count = 5,
    .bindings = iq3_s_gemv_id_f16_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq3_s_gemv_id_f16_push,
    .table_count = 1,
    .tables = iq3_s_gemv_id_f16_tables,
    .spec_constant_count = 7,
    .spec_constants = iq3_s_gemv_id_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .sum_roundings = 126,
};

const qk_kernel qk_iq3_s_gemv_id_f16_metal = {
    .name = "iq3_s_gemv_id_f16",
    .format = "iq3_s",
    .family = "gemv_id",
    .api = QK_API_METAL,
    .entry = "iq3_s_gemv_id_f16",
    .code = &qk_iq3_s_msl,
    .binding_count = 5,
    .bindings = iq3_s_gemv_id_f16_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq3_s_gemv_id_f16_push,
    .workgroup_size = 64,
    .features = 0,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .sum_roundings = 126,
};

static const qk_binding iq3_s_gemv_id_int8_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gemv_id_int8_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"experts", 16, 4},
    {"expert_first", 20, 4},
    {"expert_end", 24, 4},
};
static const qk_table iq3_s_gemv_id_int8_f16_tables[] = {
    {5, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gemv_id_int8_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gemv_id_int8_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_id_int8_f16_vulkan_digits[] = {1};
static const uint32_t iq3_s_gemv_id_int8_f16_vulkan_load_words[] = {1, 4};
static const uint32_t iq3_s_gemv_id_int8_f16_vulkan_padded[] = {0, 1};
static const uint32_t iq3_s_gemv_id_int8_f16_vulkan_checked[] = {0, 1};
static const uint32_t iq3_s_gemv_id_int8_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq3_s_gemv_id_int8_f16_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq3_s_gemv_id_int8_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq3_s_gemv_id_int8_f16_vulkan_local_size_x},
    {2, "rows", 4, 4, iq3_s_gemv_id_int8_f16_vulkan_rows},
    {4, "digits", 1, 1, iq3_s_gemv_id_int8_f16_vulkan_digits},
    {5, "load_words", 4, 2, iq3_s_gemv_id_int8_f16_vulkan_load_words},
    {11, "padded", 0, 2, iq3_s_gemv_id_int8_f16_vulkan_padded},
    {12, "checked", 0, 2, iq3_s_gemv_id_int8_f16_vulkan_checked},
    {7, "staged", 1, 4, iq3_s_gemv_id_int8_f16_vulkan_staged},
    {9, "table_copies", 1, 6, iq3_s_gemv_id_int8_f16_vulkan_table_copies}};

const qk_kernel qk_iq3_s_gemv_id_int8_f16_vulkan = {
    .name = "iq3_s_gemv_id_int8_f16",
    .format = "iq3_s",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gemv_id_int8_f16_spirv,
    .binding_count = 5,
    .bindings = iq3_s_gemv_id_int8_f16_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq3_s_gemv_id_int8_f16_push,
    .table_count = 1,
    .tables = iq3_s_gemv_id_int8_f16_tables,
    .spec_constant_count = 8,
    .spec_constants = iq3_s_gemv_id_int8_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_INT8_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .sum_roundings = 126,
    .x_levels = 127,
    .x_group = 32,
    .x_reach = 32,
};

static const qk_binding iq3_s_gemv_id_split_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gemv_id_split_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"experts", 16, 4},
    {"expert_first", 20, 4},
    {"expert_end", 24, 4},
};
static const qk_table iq3_s_gemv_id_split_f16_tables[] = {
    {5, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gemv_id_split_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gemv_id_split_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_id_split_f16_vulkan_digits[] = {2};
static const uint32_t iq3_s_gemv_id_split_f16_vulkan_load_words[] = {1, 4};
static const uint32_t iq3_s_gemv_id_split_f16_vulkan_padded[] = {0, 1};
static const uint32_t iq3_s_gemv_id_split_f16_vulkan_checked[] = {0, 1};
static const uint32_t iq3_s_gemv_id_split_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq3_s_gemv_id_split_f16_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq3_s_gemv_id_split_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq3_s_gemv_id_split_f16_vulkan_local_size_x},
    {2, "rows", 4, 4, iq3_s_gemv_id_split_f16_vulkan_rows},
    {4, "digits", 2, 1, iq3_s_gemv_id_split_f16_vulkan_digits},
    {5, "load_words", 4, 2, iq3_s_gemv_id_split_f16_vulkan_load_words},
    {11, "padded", 0, 2, iq3_s_gemv_id_split_f16_vulkan_padded},
    {12, "checked", 0, 2, iq3_s_gemv_id_split_f16_vulkan_checked},
    {7, "staged", 1, 4, iq3_s_gemv_id_split_f16_vulkan_staged},
    {9, "table_copies", 1, 6, iq3_s_gemv_id_split_f16_vulkan_table_copies}};

const qk_kernel qk_iq3_s_gemv_id_split_f16_vulkan = {
    .name = "iq3_s_gemv_id_split_f16",
    .format = "iq3_s",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gemv_id_int8_f16_spirv,
    .binding_count = 5,
    .bindings = iq3_s_gemv_id_split_f16_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq3_s_gemv_id_split_f16_push,
    .table_count = 1,
    .tables = iq3_s_gemv_id_split_f16_tables,
    .spec_constant_count = 8,
    .spec_constants = iq3_s_gemv_id_split_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_SPLIT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .sum_roundings = 126,
    .x_levels = 32639,
    .x_group = 64,
    .x_reach = 64,
};

static const qk_binding iq3_s_gemv_id_int24_f16_bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U16, 110, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F16, 0, 0, 0, 0},
    {2, "ids", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
    {3, "y", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0},
    {4, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0},
};
static const qk_field iq3_s_gemv_id_int24_f16_push[] = {
    {"rows", 0, 4},
    {"row_tiles", 4, 4},
    {"batch", 8, 4},
    {"slots", 12, 4},
    {"experts", 16, 4},
    {"expert_first", 20, 4},
    {"expert_end", 24, 4},
};
static const qk_table iq3_s_gemv_id_int24_f16_tables[] = {
    {5, "G", iq3_s_G_table, sizeof iq3_s_G_table},
};

static const uint32_t iq3_s_gemv_id_int24_f16_vulkan_local_size_x[] = {32, 64, 128, 256, 512, 1024};
static const uint32_t iq3_s_gemv_id_int24_f16_vulkan_rows[] = {1, 2, 4, 8};
static const uint32_t iq3_s_gemv_id_int24_f16_vulkan_digits[] = {3};
static const uint32_t iq3_s_gemv_id_int24_f16_vulkan_load_words[] = {1, 4};
static const uint32_t iq3_s_gemv_id_int24_f16_vulkan_padded[] = {0, 1};
static const uint32_t iq3_s_gemv_id_int24_f16_vulkan_checked[] = {0, 1};
static const uint32_t iq3_s_gemv_id_int24_f16_vulkan_staged[] = {1, 512, 1024, 2048};
static const uint32_t iq3_s_gemv_id_int24_f16_vulkan_table_copies[] = {1, 2, 4, 8, 16, 32};
static const qk_spec_constant iq3_s_gemv_id_int24_f16_vulkan_constants[] = {{0, "local_size_x", 64, 6, iq3_s_gemv_id_int24_f16_vulkan_local_size_x},
    {2, "rows", 4, 4, iq3_s_gemv_id_int24_f16_vulkan_rows},
    {4, "digits", 3, 1, iq3_s_gemv_id_int24_f16_vulkan_digits},
    {5, "load_words", 4, 2, iq3_s_gemv_id_int24_f16_vulkan_load_words},
    {11, "padded", 0, 2, iq3_s_gemv_id_int24_f16_vulkan_padded},
    {12, "checked", 0, 2, iq3_s_gemv_id_int24_f16_vulkan_checked},
    {7, "staged", 1, 4, iq3_s_gemv_id_int24_f16_vulkan_staged},
    {9, "table_copies", 1, 6, iq3_s_gemv_id_int24_f16_vulkan_table_copies}};

const qk_kernel qk_iq3_s_gemv_id_int24_f16_vulkan = {
    .name = "iq3_s_gemv_id_int24_f16",
    .format = "iq3_s",
    .family = "gemv_id",
    .api = QK_API_VULKAN,
    .entry = "main",
    .code = &qk_iq3_s_gemv_id_int8_f16_spirv,
    .binding_count = 5,
    .bindings = iq3_s_gemv_id_int24_f16_bindings,
    .push_bytes = 28,
    .push_count = 7,
    .push = iq3_s_gemv_id_int24_f16_push,
    .table_count = 1,
    .tables = iq3_s_gemv_id_int24_f16_tables,
    .spec_constant_count = 8,
    .spec_constants = iq3_s_gemv_id_int24_f16_vulkan_constants,
    .workgroup_size = 64,
    .features = QK_FEATURE_STORAGE_16BIT | QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_INTEGER_DOT_PRODUCT | QK_FEATURE_SUBGROUP_SHUFFLE,
    .numeric = QK_NUMERIC_EXACT_SUM,
    .output = QK_TYPE_F32,
    .block_elements = 256,
    .tile_elements = 64,
    .kept_elements = 64,
    .sum_roundings = 126,
    .x_levels = 8355708,
    .x_group = 64,
    .x_reach = 64,
};

/* ---- dispatch ---- */

qk_status qk_iq3_s_dequant_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq3_s_dequant_f32_metal : &qk_iq3_s_dequant_f32_vulkan;
    return qk_dispatch_dequant(backend, kernel, weights, dst, elements, error);
}

qk_status qk_iq3_s_dequant_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq3_s_dequant_f16_metal : &qk_iq3_s_dequant_f16_vulkan;
    return qk_dispatch_dequant(backend, kernel, weights, dst, elements, error);
}

qk_status qk_iq3_s_dequant_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq3_s_dequant_bf16_metal : &qk_iq3_s_dequant_bf16_vulkan;
    return qk_dispatch_dequant(backend, kernel, weights, dst, elements, error);
}

qk_status qk_iq3_s_gather_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq3_s_gather_f32_metal : &qk_iq3_s_gather_f32_vulkan;
    return qk_dispatch_gather(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_iq3_s_gather_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq3_s_gather_f16_metal : &qk_iq3_s_gather_f16_vulkan;
    return qk_dispatch_gather(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_iq3_s_gather_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq3_s_gather_bf16_metal : &qk_iq3_s_gather_bf16_vulkan;
    return qk_dispatch_gather(backend, kernel, weights, indices, dst, status, rows, cols, tokens, error);
}

qk_status qk_iq3_s_gemv_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq3_s_gemv_f32_metal : &qk_iq3_s_gemv_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_iq3_s_gemv_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq3_s_gemv_int8_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_iq3_s_gemv_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq3_s_gemv_split_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_iq3_s_gemv_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq3_s_gemv_int24_f32_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_iq3_s_gemv_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq3_s_gemv_f16_metal : &qk_iq3_s_gemv_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_iq3_s_gemv_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq3_s_gemv_int8_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_iq3_s_gemv_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq3_s_gemv_split_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_iq3_s_gemv_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq3_s_gemv_int24_f16_vulkan;
    return qk_dispatch_gemv(backend, kernel, weights, x, y, rows, cols, batch, error);
}

qk_status qk_iq3_s_gemv_id_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq3_s_gemv_id_f32_metal : &qk_iq3_s_gemv_id_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, error);
}

qk_status qk_iq3_s_gemv_id_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq3_s_gemv_id_int8_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, error);
}

qk_status qk_iq3_s_gemv_id_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq3_s_gemv_id_split_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, error);
}

qk_status qk_iq3_s_gemv_id_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq3_s_gemv_id_int24_f32_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, error);
}

qk_status qk_iq3_s_gemv_id_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error) {
    const qk_kernel *const kernel = backend && backend->api == QK_API_METAL ? &qk_iq3_s_gemv_id_f16_metal : &qk_iq3_s_gemv_id_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, error);
}

qk_status qk_iq3_s_gemv_id_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq3_s_gemv_id_int8_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, error);
}

qk_status qk_iq3_s_gemv_id_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq3_s_gemv_id_split_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, error);
}

qk_status qk_iq3_s_gemv_id_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error) {
    const qk_kernel *const kernel = &qk_iq3_s_gemv_id_int24_f16_vulkan;
    return qk_dispatch_gemv_id(backend, kernel, weights, x, ids, y, status, experts, rows, cols, tokens, slots, error);
}
