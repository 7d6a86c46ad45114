@if init
// The order of f32 as that of integers: -0 is below 0, NaNs are outside of the infinities. Its own inverse.
ivec4 keys(uvec4 bits) {
    const ivec4 signed_bits = ivec4(bits);
    return signed_bits ^ ((signed_bits >> 31) & 0x7FFFFFFF);
}

const int key_of_infinity = 0x7F800000, key_of_minus_infinity = ~0x7F800000;
const ivec2 no_range = ivec2(0x7FFFFFFF, ~0x7FFFFFFF);  // the least and the largest key of nothing

ivec2 join(ivec2 a, ivec2 b) {
    return ivec2(min(a.x, b.x), max(a.y, b.y));
}

ivec2 range_of(ivec4 k) {
    return ivec2(min(min(k.x, k.y), min(k.z, k.w)), max(max(k.x, k.y), max(k.z, k.w)));
}

// The same, without NaNs.
ivec2 range_of_numbers(ivec4 k) {
    ivec2 range = no_range;
    for (uint i = 0u; i < 4u; ++i)
        if (k[i] >= key_of_minus_infinity && k[i] <= key_of_infinity) range = join(range, ivec2(k[i]));
    return range;
}

shared ivec2 partial[gl_WorkGroupSize.x];

// The range of the `lanes` threads that share a group. All threads of the workgroup call it.
ivec2 range_of_group(ivec2 mine, uint thread, uint lane) {
    partial[thread] = mine;
    barrier();
    for (uint left = lanes; left > 1u;) {
        const uint step = left > 8u ? left / 8u : 1u;
        if (lane < step) {
            for (uint other = lane + step; other < left; other += step)
                mine = join(mine, partial[thread - lane + other]);
            partial[thread] = mine;
        }
        barrier();
        left = step;
    }
    mine = partial[thread - lane];
    barrier();
    return mine;
}

// The mantissa of a positive f32, with its leading bit, and its exponent.
uint mantissa(uint bits, out int exponent) {
    exponent = int(bits >> 23);
    if (exponent != 0) return (bits & 0x7FFFFFu) | 0x800000u;
    const int shift = 23 - findMSB(bits);
    exponent = 1 - shift;
    return bits << shift;
}

// The bits of a / b, rounded to nearest even, as IEEE 754 has it; a is at least 0 or NaN, b is above 0. Vulkan lets its
// own division be off: here it makes a guess, and integers count what the guess leaves.
uint exact_quotient(uint a, uint b) {
    const uint infinity = 0x7F800000u;
    if ((a & 0x7FFFFFFFu) > infinity || (a == infinity && b == infinity)) return 0x7FC00000u;
    if (a == 0u || b == infinity) return 0u;
    if (a == infinity) return infinity;
    int a_exponent, b_exponent;
    uint n = mantissa(a, a_exponent);
    const uint d = mantissa(b, b_exponent);
    int exponent = a_exponent - b_exponent + 127;
    if (n < d) {
        n <<= 1;
        exponent -= 1;
    }
    // The first 25 bits of the quotient, and the rest modulo 2^32: it is small, so that is all of it.
    uint quotient = uint(float(n) / float(d) * 16777216.0);
    int rest = int((n << 24) - quotient * d);
    for (; rest < 0; rest += int(d)) quotient -= 1u;
    for (; rest >= int(d); rest -= int(d)) quotient += 1u;
    if (exponent > 254) return infinity;
    if (exponent < -23) return 0u;
    const uint drop = exponent > 0 ? 1u : uint(2 - exponent);  // a subnormal has fewer bits
    const uint whole = quotient >> drop, cut = quotient & ((1u << drop) - 1u), half_unit = 1u << (drop - 1u);
    const bool up = cut > half_unit || (cut == half_unit && (rest != 0 || (whole & 1u) != 0u));
    return (uint(max(exponent, 1) - 1) << 23) + whole + (up ? 1u : 0u);
}

// The code of an element that is `n` above the least of its group.
uint exact_code(float n, uint scale) {
    const uint bits = exact_quotient(floatBitsToUint(n), scale);
    if (bits > 0x7F800000u) return 0u;
    precise float up = uintBitsToFloat(bits) + 0.5;
    return uint(min(floor(up), float(bins - 1u)));
}

@end
@if sums
shared float partial[gl_WorkGroupSize.x];

// The sum over the `lanes` threads that share a group, in the first of them. All threads of the workgroup call it.
float sum_of_group(float mine, uint thread, uint lane) {
    precise float sum = mine;
    barrier();
    partial[thread] = sum;
    barrier();
    for (uint left = lanes; left > 1u;) {
        const uint step = left > 8u ? left / 8u : 1u;
        if (lane < step) {
            for (uint other = lane + step; other < left; other += step) sum += partial[thread - lane + other];
            partial[thread] = sum;
        }
        barrier();
        left = step;
    }
    return sum;
}

@end
@if codes
// Four codes, the first in the lowest byte.
vec4 numbers(uint codes) {
    return vec4((uvec4(codes) >> uvec4(0u, 8u, 16u, 24u)) & 0xFFu);
}

@end
