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

@include quotient.glsl

// The code of an element that is `n` above the least of its group.
uint exact_code(float n, uint scale) {
    const uint bits = qk_exact_quotient(floatBitsToUint(n), scale);
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
