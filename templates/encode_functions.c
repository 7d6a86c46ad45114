/* Bits that are stored; a NaN is that without a sign, whatever it was. */
static inline uint32_t qk_bits_of_f16(float v) {
    return v != v ? 0x7E00u : qk_f32_to_f16(v);
}

static inline uint32_t qk_bits_of_bf16(float v) {
    return v != v ? 0x7FC0u : qk_f32_to_bf16(v);
}

static inline uint32_t qk_bits_of_f32(float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return v != v ? 0x7FC00000u : bits;
}

/* Those of the magnitude, and 1 where there is a sign. */
static inline int32_t qk_bits(float v) {
    return (int32_t)(qk_bits_of_f32(v) & 0x7FFFFFFFu);
}

static inline int32_t qk_sign(float v) {
    return (int32_t)(qk_bits_of_f32(v) >> 31);
}

/* An integer within bounds; a NaN counts as 0. */
static inline int32_t qk_clamped(float v, int32_t low, int32_t high) {
    if (v != v) v = 0;
    return v <= (float)low ? low : v >= (float)high ? high : (int32_t)v;
}

@{encoder}
