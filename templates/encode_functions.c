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

/* The bits of the nearest float that has so many digits behind the first, ties to even, from 0 to `most`, which is also
 * that of a NaN. From `least` on the digits begin with the first that is not 0. A sum with a float whose last bit is
 * the last digit rounds to it. */
static inline int32_t qk_small(float v, uint32_t digits, int32_t least, int32_t most) {
    const int32_t bits = qk_bits(v), within = bits < most ? bits : most, exponent = within & 0x7F800000;
    const int32_t e = exponent < least ? least : exponent, magic = e + ((int32_t)(23u - digits) << 23);
    const float sum = qk_bits_to_f32((uint32_t)within) + qk_bits_to_f32((uint32_t)magic);
    return (int32_t)qk_bits_of_f32(sum) - magic + ((e - least) >> (23u - digits));
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

static inline float qk_floor(float v) {
    const float whole = qk_trunc(v);
    return whole > v ? whole - 1.0f : whole;
}

static inline float qk_round(float v) {
    const float whole = qk_trunc(v);
    return fabsf(v - whole) >= 0.5f ? whole + (v < 0 ? -1.0f : 1.0f) : whole;
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
