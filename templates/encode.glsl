// The mantissa of a positive f32, with its leading bit, and its exponent.
uint qk_mantissa(uint bits, out int exponent) {
    exponent = int(bits >> 23);
    if (exponent != 0) return (bits & 0x7FFFFFu) | 0x800000u;
    const int shift = 23 - findMSB(bits);
    exponent = 1 - shift;
    return bits << (shift & 31);
}

// a / b, rounded to nearest even, as IEEE 754 has it. Vulkan lets its own division be off: here it makes a guess, and integers
// count what the guess leaves.
float qk_quotient(float numerator, float divisor) {
    const uint infinity = 0x7F800000u, nan = 0x7FC00000u, a_bits = floatBitsToUint(numerator), b_bits = floatBitsToUint(divisor);
    const uint a = a_bits & 0x7FFFFFFFu, b = b_bits & 0x7FFFFFFFu, sign = (a_bits ^ b_bits) & 0x80000000u;
    if (a > infinity || b > infinity || (a == infinity && b == infinity) || (a == 0u && b == 0u)) return uintBitsToFloat(nan);
    if (a == 0u || b == infinity) return uintBitsToFloat(sign);
    if (a == infinity || b == 0u) return uintBitsToFloat(sign | infinity);
    int a_exponent, b_exponent;
    uint n = qk_mantissa(a, a_exponent);
    const uint d = qk_mantissa(b, b_exponent);
    int exponent = a_exponent - b_exponent + 127;
    if (n < d) {
        n <<= 1;
        exponent -= 1;
    }
    // The first 25 bits of the quotient, and the rest modulo 2^32: it is small, so that is all of it.
    precise float guess = float(n) / float(d) * 16777216.0;
    uint quotient = uint(guess);
    int rest = int((n << 24) - quotient * d);
    for (; rest < 0; rest += int(d)) quotient -= 1u;
    for (; rest >= int(d); rest -= int(d)) quotient += 1u;
    if (exponent > 254) return uintBitsToFloat(sign | infinity);
    if (exponent < -23) return uintBitsToFloat(sign);
    const uint drop = exponent > 0 ? 1u : uint(2 - exponent) & 31u;  // a subnormal has fewer bits
    const uint whole = quotient >> drop, cut = quotient & ((1u << drop) - 1u), half_unit = 1u << (drop - 1u & 31u);
    const bool up = cut > half_unit || (cut == half_unit && (rest != 0 || (whole & 1u) != 0u));
    return uintBitsToFloat(sign | ((uint(max(exponent, 1) - 1) << 23) + whole + (up ? 1u : 0u)));
}

// The square root, rounded to nearest, digit by digit.
float qk_root(float v) {
    const uint bits = floatBitsToUint(v);
    if ((bits & 0x7FFFFFFFu) == 0u || bits == 0x7F800000u) return v;
    if (bits > 0x7F800000u) return uintBitsToFloat(0x7FC00000u);
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
    return uintBitsToFloat((root >> 1) + 0x3F000000u + (uint(exponent) << 23));
}

// The nearest integer, and of two the one that is farther from 0.
float qk_round(float v) {
    precise float whole = trunc(v);
    precise float rest = abs(v - whole);
    precise float next = whole + (v < 0.0 ? -1.0 : 1.0);
    return rest >= 0.5 ? next : whole;
}

bool qk_is_nan(float v) {
    return (floatBitsToUint(v) & 0x7FFFFFFFu) > 0x7F800000u;
}

// Bits that are stored; a NaN is that without a sign, whatever it was.
uint qk_bits_of_f16(float v) {
    return qk_is_nan(v) ? 0x7E00u : f32_to_f16(v);
}

uint qk_bits_of_bf16(float v) {
    return qk_is_nan(v) ? 0x7FC0u : f32_to_bf16(v);
}

uint qk_bits_of_f32(float v) {
    return qk_is_nan(v) ? 0x7FC00000u : floatBitsToUint(v);
}

// Those of the magnitude, and 1 where there is a sign.
int qk_bits(float v) {
    return int(qk_bits_of_f32(v) & 0x7FFFFFFFu);
}

int qk_sign(float v) {
    return int(qk_bits_of_f32(v) >> 31);
}

// An integer within bounds; a NaN counts as 0.
int qk_clamped(float v, int low, int high) {
    const float number = qk_is_nan(v) ? 0.0 : v;
    return number <= float(low) ? low : number >= float(high) ? high : int(number);
}
