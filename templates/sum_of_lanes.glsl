float sum_of_lanes(float v[@{sums}], uint width) {  // all at once, over lanes from a multiple of `width` on: number i is in the i-th
    [[unroll]] for (uint left = @{sums} / 2u, bit = 1u; left > 0u; left /= 2u, bit *= 2u) {
        const bool odd = (gl_SubgroupInvocationID & bit) != 0u;
        [[unroll]] for (uint i = 0u; i < left; ++i)
            v[i] = mix(v[2u * i], v[2u * i + 1u], odd) + subgroupShuffleXor(mix(v[2u * i + 1u], v[2u * i], odd), bit);
    }
    for (uint bit = @{sums}; bit < width; bit *= 2u) v[0] += subgroupShuffleXor(v[0], bit);
    return v[0];
}

