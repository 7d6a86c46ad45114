@include quotient.glsl

float f16_to_f32(uint bits) { return unpackHalf2x16(bits).x; }  // of the low 16 bits

// a / b, rounded to nearest even, as IEEE 754 has it.
float qk_quotient(float numerator, float divisor) {
    const uint infinity = 0x7F800000u, a_bits = floatBitsToUint(numerator), b_bits = floatBitsToUint(divisor);
    const uint a = a_bits & 0x7FFFFFFFu, b = b_bits & 0x7FFFFFFFu, sign = (a_bits ^ b_bits) & 0x80000000u;
    const uint exponent = (a >> 23) - (b >> 23) + 126u;
    if (a - 0x00800000u < 0x7F000000u && b - 0x00800000u < 0x7F000000u && exponent - 1u < 253u) {
        // All of usual size: a quotient of 24 bits, and one that rounds them.
        const uint d = (b & 0x7FFFFFu) | 0x800000u, n = (a & 0x7FFFFFu) | 0x800000u, less = n < d ? 1u : 0u;
        int rest;
        const uint quotient = qk_quotient_digits(n << less, d, rest);
        const uint up = quotient & (rest != 0 ? 1u : quotient >> 1);
        return uintBitsToFloat(sign | (exponent - less << 23) + (quotient >> 1) + (up & 1u));
    }
    if (a > infinity || b > infinity || (a == 0u && b == 0u)) return uintBitsToFloat(0x7FC00000u);
    if (b == 0u) return uintBitsToFloat(sign | infinity);
    const uint quotient = qk_exact_quotient(a, b);
    return uintBitsToFloat(quotient > infinity ? quotient : quotient | sign);
}

// The same by a whole number, which has mostly few bits: then what a guess leaves is a sum of floats that are products of few bits, and so
// exact. It tells on which side of the half way between two floats, which no quotient is at, the quotient is.
float qk_quotient_by_whole(float a, float b) {
    const bool few = abs(b) >= 1.0 && abs(b) <= 2047.0;
    if (!few || (floatBitsToUint(a) & 0x7FFFFFFFu) - 0x12800000u >= 0x6C800000u) return qk_quotient(a, b);
    const float inverse = 1.0 / b;
    precise float guess = a * inverse;
    precise float high = uintBitsToFloat(floatBitsToUint(guess) & 0xFFFFF000u);
    precise float low = guess - high;
    precise float rest = (a - high * b) - low * b;
    precise float quotient = guess + rest * inverse;
    return quotient;
}

// The same, mostly by a power of two: where all is of usual size, the exponent alone changes.
float qk_quotient_by_power(float numerator, float divisor) {
    const uint infinity = 0x7F800000u, a_bits = floatBitsToUint(numerator), b_bits = floatBitsToUint(divisor);
    const uint a = a_bits & 0x7FFFFFFFu, b = b_bits & 0x7FFFFFFFu, exponent = (a >> 23) - (b >> 23) + 127u;
    if ((b & 0x7FFFFFu) == 0u && b < infinity && b != 0u && a >= 0x00800000u && a < infinity && exponent - 1u < 254u)
        return uintBitsToFloat((a_bits ^ b_bits) & 0x80000000u | exponent << 23 | a & 0x7FFFFFu);
    return qk_quotient(numerator, divisor);
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

// Whether it is certain which integer is nearest to a / b. The inverse of a divisor of usual size may be off by 2.5 units in its last
// place, and the guess by 6 in its own, which is less than its 2^20th; so it is far enough from where two integers are as near.
bool qk_is_clear(float guess, float near, float b) {
    const float size = abs(b);
    return abs(guess - near) + abs(guess) * 9.5367431640625e-7 < 0.5 && size > 1e-30 && size < 1e30;
}

// a / b as the nearest integer, of two the even one, or the one that is farther from 0. A zero has any sign.
float qk_even_quotient(float a, float b) {
    const float guess = a * (1.0 / b), near = roundEven(guess);
    return qk_is_clear(guess, near, b) ? near : roundEven(qk_quotient(a, b));
}

float qk_nearest_quotient(float a, float b) {
    const float guess = a * (1.0 / b), near = roundEven(guess);
    return qk_is_clear(guess, near, b) ? near : qk_round(qk_quotient(a, b));
}

const int QK_ZERO = 0x4B400000;  // the bits of 12582912, a float that has no room for digits behind the point

// Either within bounds, which are less than 2^18 from 0, and QK_ZERO more, where it is certain; else `clear` becomes false. What the guess
// is off by counts within the bounds alone: beyond them, it is on the side that it should be on.
int qk_clear_quotient(float a, float b, int low, int high, inout bool clear) {
    const float guess = a * (1.0 / b), size = abs(b), room = 0.5 - float(max(-low, high) + 1) * 9.5367431640625e-7;
    precise float sum = guess + 12582912.0;
    precise float near = sum - 12582912.0;
    clear = clear && abs(guess - near) < room && size > 1e-30 && size < 1e30;
    return clamp(floatBitsToInt(sum), QK_ZERO + low, QK_ZERO + high);
}

// A device may take it that no float is one.
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

// Of a NaN 0: as integers, those with a sign are above negative infinity.
int qk_sign(float v) {
    return floatBitsToInt(v) <= int(0xFF800000u) ? 1 : 0;
}

// The bits of the nearest float that has so many digits behind the first, ties to even, from 0 to `most`, which is also that of a NaN.
// From `least` on the digits begin with the first that is not 0. A sum with a float whose last bit is the last digit rounds to it.
int qk_small(float v, uint digits, int least, int most) {
    const int within = min(floatBitsToInt(v) & 0x7FFFFFFF, most), e = max(within & 0x7F800000, least);
    const int magic = e + (int(23u - digits) << 23);
    precise float sum = intBitsToFloat(within) + intBitsToFloat(magic);
    return floatBitsToInt(sum) - magic + (e - least >> 23u - digits);
}

// The same of a quotient that is a guess, and whether that says enough: it is off by less than 2^-21 of what it is, which is at most 16
// times the last digit, so that it does unless the quotient is next to the middle of two. A NaN is unclear, or `most`, as devices have it.
int qk_clear_small(float a, float b, uint digits, int least, int most, inout bool clear) {
    const float size = abs(b), guess = a * (1.0 / size);
    const float within = min(abs(guess), intBitsToFloat(most));
    const int e = max(floatBitsToInt(within) & 0x7F800000, least), magic = e + (int(23u - digits) << 23);
    precise float sum = within + intBitsToFloat(magic);
    precise float near = sum - intBitsToFloat(magic);
    precise float off = within - near;
    clear = clear && abs(off) < intBitsToFloat(magic) * 5.9602e-8 && size > 1e-30 && size < 1e30;
    return floatBitsToInt(sum) - magic + (e - least >> 23u - digits);
}

// An integer within bounds, which are less than 2^22 from 0; a NaN counts as 0. What is rounded afterwards is not beyond the bounds
// any more, so that the conversion is one that every device has.
float qk_within(float v, int low, int high) {
    if (low == 0) return v > 0.0 ? min(v, float(high)) : 0.0;  // a NaN is not above 0
    return clamp(qk_is_nan(v) ? 0.0 : v, float(low), float(high));
}

int qk_clamped_trunc(float v, int low, int high) {
    return int(qk_within(v, low, high));
}

int qk_clamped_floor(float v, int low, int high) {
    return int(floor(qk_within(v, low, high)));
}

int qk_clamped_even(float v, int low, int high) {
    precise float sum = qk_within(v, low, high) + 12582912.0;
    return floatBitsToInt(sum) - 0x4B400000;
}

// With the float before 1/2: what is half way between two is rounded up by the sum, and what is just below that is not.
int qk_clamped_round(float v, int low, int high) {
    const float within = qk_within(v, low, high);
    precise float sum = within + uintBitsToFloat(floatBitsToUint(within) & 0x80000000u | 0x3EFFFFFFu);
    return int(sum);
}

// The same of a whole number, within any bounds.
int qk_clamped(float v, int low, int high) {
    const float number = qk_is_nan(v) ? 0.0 : v;
    return number <= float(low) ? low : number >= float(high) ? high : int(number);
}
