// The mantissa of a positive f32, with its leading bit, and its exponent.
inline uint qk_mantissa(uint bits, thread int &exponent) {
    exponent = int(bits >> 23);
    if (exponent != 0) return (bits & 0x7FFFFFu) | 0x800000u;
    const int shift = int(clz(bits)) - 8;
    exponent = 1 - shift;
    return bits << (shift & 31);
}

// a / b, rounded to nearest even, as IEEE 754 has it. A device's own division may be off: here it makes a guess, and integers
// count what the guess leaves.
inline float qk_quotient(float numerator, float divisor) {
    const uint infinity = 0x7F800000u, nan = 0x7FC00000u, a_bits = as_type<uint>(numerator), b_bits = as_type<uint>(divisor);
    const uint a = a_bits & 0x7FFFFFFFu, b = b_bits & 0x7FFFFFFFu, sign = (a_bits ^ b_bits) & 0x80000000u;
    if (a > infinity || b > infinity || (a == infinity && b == infinity) || (a == 0u && b == 0u)) return as_type<float>(nan);
    if (a == 0u || b == infinity) return as_type<float>(sign);
    if (a == infinity || b == 0u) return as_type<float>(sign | infinity);
    int a_exponent, b_exponent;
    uint n = qk_mantissa(a, a_exponent);
    const uint d = qk_mantissa(b, b_exponent);
    int exponent = a_exponent - b_exponent + 127;
    if (n < d) {
        n <<= 1;
        exponent -= 1;
    }
    // The first 25 bits of the quotient, and the rest modulo 2^32: it is small, so that is all of it.
    uint quotient = uint(float(n) / float(d) * 16777216.0f);
    int rest = int((n << 24) - quotient * d);
    for (; rest < 0; rest += int(d)) quotient -= 1u;
    for (; rest >= int(d); rest -= int(d)) quotient += 1u;
    if (exponent > 254) return as_type<float>(sign | infinity);
    if (exponent < -23) return as_type<float>(sign);
    const uint drop = exponent > 0 ? 1u : uint(2 - exponent) & 31u;  // a subnormal has fewer bits
    const uint whole = quotient >> drop, cut = quotient & ((1u << drop) - 1u), half_unit = 1u << (drop - 1u & 31u);
    const bool up = cut > half_unit || (cut == half_unit && (rest != 0 || (whole & 1u) != 0u));
    return as_type<float>(sign | ((uint(max(exponent, 1) - 1) << 23) + whole + (up ? 1u : 0u)));
}

// The square root, rounded to nearest, digit by digit.
inline float qk_root(float v) {
    const uint bits = as_type<uint>(v);
    if ((bits & 0x7FFFFFFFu) == 0u || bits == 0x7F800000u) return v;
    if (bits > 0x7F800000u) return as_type<float>(0x7FC00000u);
    int exponent;
    uint rest = qk_mantissa(bits, exponent), root = 0u, sum = 0u;
    exponent -= 127;
    if ((exponent & 1) != 0) rest <<= 1;
    exponent >>= 1;
    rest <<= 1;
    for (uint digit = 0x1000000u; digit != 0u; digit >>= 1) {
        if (sum + digit <= rest) {
            rest -= sum + digit;
            sum += 2u * digit;
            root += digit;
        }
        rest <<= 1;
    }
    if (rest != 0u) root += root & 1u;
    return as_type<float>((root >> 1) + 0x3F000000u + (uint(exponent) << 23));
}

// The nearest integer, and of two the one that is farther from 0.
inline float qk_round(float v) {
    const float whole = trunc(v);
    const float rest = abs(v - whole);
    const float next = whole + (v < 0.0f ? -1.0f : 1.0f);
    return rest >= 0.5f ? next : whole;
}

inline bool qk_is_nan(float v) {
    return (as_type<uint>(v) & 0x7FFFFFFFu) > 0x7F800000u;
}

// Bits that are stored; a NaN is that without a sign, whatever it was.
inline uint qk_bits_of_f16(float v) {
    return qk_is_nan(v) ? 0x7E00u : uint(as_type<ushort>(half(v)));
}

inline uint qk_bits_of_bf16(float v) {
    return qk_is_nan(v) ? 0x7FC0u : uint(f32_to_bf16(v));
}

inline uint qk_bits_of_f32(float v) {
    return qk_is_nan(v) ? 0x7FC00000u : as_type<uint>(v);
}

// Those of the magnitude, and 1 where there is a sign.
inline int qk_bits(float v) {
    return int(qk_bits_of_f32(v) & 0x7FFFFFFFu);
}

inline int qk_sign(float v) {
    return int(qk_bits_of_f32(v) >> 31);
}

// An integer within bounds; a NaN counts as 0.
inline int qk_clamped(float v, int low, int high) {
    const float number = qk_is_nan(v) ? 0.0f : v;
    return number <= float(low) ? low : number >= float(high) ? high : int(number);
}
