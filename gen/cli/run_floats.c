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

void qg_floats_to(qg_scalar type, const float *from, uint64_t count, void *to) {
    const uint32_t bytes = qg_scalars[type].bits / 8;
    for (uint64_t i = 0; i < count; ++i) {
        const uint32_t bits = qg_bits_of(type, from[i]);
        memcpy((char *)to + i * bytes, &bits, bytes);
    }
}
