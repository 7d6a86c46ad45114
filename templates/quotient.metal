// The mantissa of a positive f32, with its leading bit, and its exponent.
inline uint qk_mantissa(uint bits, thread int &exponent) {
    exponent = int(bits >> 23);
    if (exponent != 0) return (bits & 0x7FFFFFu) | 0x800000u;
    const int shift = int(clz(bits)) - 8;
    exponent = 1 - shift;
    return bits << (shift & 31);
}

// The bits of a / b, rounded to nearest even, as IEEE 754 has it; a is at least 0 or NaN, b is above 0. A device's own
// division may be off: here it makes a guess, and integers count what the guess leaves.
inline uint qk_exact_quotient(uint a, uint b) {
    const uint infinity = 0x7F800000u;
    if ((a & 0x7FFFFFFFu) > infinity || (a == infinity && b == infinity)) return 0x7FC00000u;
    if (a == 0 || b == infinity) return 0;
    if (a == infinity) return infinity;
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
    for (; rest < 0; rest += int(d)) quotient -= 1;
    for (; rest >= int(d); rest -= int(d)) quotient += 1;
    if (exponent > 254) return infinity;
    if (exponent < -23) return 0;
    const uint drop = exponent > 0 ? 1u : uint(2 - exponent) & 31u;  // a subnormal has fewer bits
    const uint whole = quotient >> drop, cut = quotient & ((1u << drop) - 1u), half_unit = 1u << (drop - 1u & 31u);
    const bool up = cut > half_unit || (cut == half_unit && (rest != 0 || (whole & 1u) != 0));
    return (uint(max(exponent, 1) - 1) << 23) + whole + (up ? 1u : 0u);
}
