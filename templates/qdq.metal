// The order of f32 as that of integers: -0 is below 0, NaNs are outside of the infinities. Its own inverse.
inline int4 keys(uint4 bits) {
    const int4 signed_bits = as_type<int4>(bits);
    return signed_bits ^ ((signed_bits >> 31) & 0x7FFFFFFF);
}

constant int key_of_infinity = 0x7F800000, key_of_minus_infinity = ~0x7F800000;
constant int2 no_range = int2(0x7FFFFFFF, ~0x7FFFFFFF);  // the least and the largest key of nothing

inline int2 join(int2 a, int2 b) {
    return int2(min(a.x, b.x), max(a.y, b.y));
}

inline int2 range_of(int4 k) {
    return int2(min(min(k.x, k.y), min(k.z, k.w)), max(max(k.x, k.y), max(k.z, k.w)));
}

// The same, without NaNs.
inline int2 range_of_numbers(int4 k) {
    int2 range = no_range;
    for (uint i = 0; i < 4; ++i)
        if (k[i] >= key_of_minus_infinity && k[i] <= key_of_infinity) range = join(range, int2(k[i]));
    return range;
}

// The range of the `lanes` threads that share a group. All threads of the threadgroup call it.
inline int2 range_of_group(int2 mine, threadgroup int2 *partial, uint thread_index, uint lane, uint lanes) {
    partial[thread_index] = mine;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint left = lanes; left > 1;) {
        const uint step = left > 8 ? left / 8 : 1;
        if (lane < step) {
            for (uint other = lane + step; other < left; other += step)
                mine = join(mine, partial[thread_index - lane + other]);
            partial[thread_index] = mine;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        left = step;
    }
    mine = partial[thread_index - lane];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return mine;
}

@include quotient.metal

// The code of an element that is `n` above the least of its group.
inline uint exact_code(float n, uint scale, uint bins) {
    const uint bits = qk_exact_quotient(as_type<uint>(n), scale);
    if (bits > 0x7F800000u) return 0;
    return uint(min(floor(as_type<float>(bits) + 0.5f), float(bins - 1)));
}

// The sum over the `lanes` threads that share a group, in the first of them. All threads of the threadgroup call it.
inline float sum_of_group(float sum, threadgroup float *partial, uint thread_index, uint lane, uint lanes) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    partial[thread_index] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint left = lanes; left > 1;) {
        const uint step = left > 8 ? left / 8 : 1;
        if (lane < step) {
            for (uint other = lane + step; other < left; other += step) sum += partial[thread_index - lane + other];
            partial[thread_index] = sum;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        left = step;
    }
    return sum;
}
