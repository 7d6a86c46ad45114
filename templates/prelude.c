@if load_u32
static inline uint32_t qk_load_u32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | ((uint32_t)bytes[1] << 8) | ((uint32_t)bytes[2] << 16) | ((uint32_t)bytes[3] << 24);
}

@end
@if f16_to_f32
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

@end
@if bits_to_f32
static inline float qk_bits_to_f32(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

@end
@if bf16_to_f32
/* The bfloat16 in the low 16 bits. */
static inline float qk_bf16_to_f32(uint32_t bits) {
    float value;
    bits <<= 16;
    memcpy(&value, &bits, sizeof value);
    return value;
}

@end
@if min
static inline uint32_t qk_min(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

@end
@if sign_extend
static inline int32_t qk_sign_extend(int32_t bits, uint32_t width) {
    const uint32_t top = UINT32_C(1) << (width - 1), low = (uint32_t)bits & (2u * top - 1u);
    return (int32_t)(low ^ top) - (int32_t)top;
}

@end
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
@if round_f16

/* The nearest half, ties to even, as a float. */
static inline float qk_round_f16(float x) {
    return qk_f16_to_f32(qk_f32_to_f16(x));
}
@end
@if round_bf16

/* The nearest bfloat16, ties to even, as a float. */
static inline float qk_round_bf16(float x) {
    const uint32_t bits = (uint32_t)qk_f32_to_bf16(x) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
@end
