/* Floats of 16 bits to f32, and back. */
#include "cli/run.h"
#include "spec/value.h"

#include <string.h>

static uint32_t bits_of_half(uint32_t half) {
    const uint32_t sign = (half & 0x8000) << 16, exponent = half >> 10 & 31, mantissa = half & 0x3FF;
    if (exponent == 31) return sign | 0x7F800000u | mantissa << 13;
    if (exponent) return sign | (exponent + 112) << 23 | mantissa << 13;
    uint32_t shift = 0;
    if (!mantissa) return sign;
    while (!(mantissa << shift & 0x400)) ++shift;
    return sign | (113 - shift) << 23 | (mantissa << shift & 0x3FF) << 13;
}

void qg_floats_of(qg_scalar type, const void *from, uint64_t count, float *to) {
    const uint8_t *at = from;
    if (type == QG_F32) {
        memcpy(to, from, (size_t)(4 * count));
        return;
    }
    for (uint64_t i = 0; i < count; ++i, at += 2) {
        const uint32_t half = (uint32_t)at[0] | (uint32_t)at[1] << 8;
        const uint32_t bits = type == QG_F16 ? bits_of_half(half) : half << 16;
        memcpy(&to[i], &bits, 4);
    }
}

/* Finite ones in few operations; others as everywhere. */
static uint16_t half_of(float x) {
    uint32_t bits, magnitude;
    memcpy(&bits, &x, 4);
    magnitude = bits & 0x7FFFFFFFu;
    const uint32_t sign = bits >> 16 & 0x8000u;
    if (magnitude >= 0x477FF000u) return (uint16_t)qg_bits_of(QG_F16, x); /* beyond the largest half, or no number */
    if (magnitude < 0x38800000u) { /* a subnormal half: adding 1/2 rounds at its last bit */
        float lifted;
        memcpy(&lifted, &magnitude, 4);
        lifted += 0.5f;
        memcpy(&bits, &lifted, 4);
        return (uint16_t)(sign | (bits - 0x3F000000u));
    }
    return (uint16_t)(sign | ((magnitude - 0x38000000u + 0xFFFu + (magnitude >> 13 & 1)) >> 13));
}

static uint16_t bfloat_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (uint16_t)qg_bits_of(QG_BF16, x);
    return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1)) >> 16);
}

void qg_floats_to(qg_scalar type, const float *from, uint64_t count, void *to) {
    if (type == QG_F32) memcpy(to, from, (size_t)(4 * count));
    for (uint64_t i = 0; i < count && type != QG_F32; ++i) {
        const uint16_t bits = type == QG_F16 ? half_of(from[i]) : bfloat_of(from[i]);
        memcpy((char *)to + 2 * i, &bits, 2);
    }
}
