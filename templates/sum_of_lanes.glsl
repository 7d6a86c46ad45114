// Sums over `width` lanes, which begin at a multiple of that, of all sums at once: number i is in the i-th of them.
float sum_of_lanes(float v[SUMS], uint width) {
    [[unroll]] for (uint left = SUMS / 2u, bit = 1u; left > 0u; left /= 2u, bit *= 2u) {
        const bool odd = (gl_SubgroupInvocationID & bit) != 0u;
        [[unroll]] for (uint i = 0u; i < left; ++i) {
            const float even_sum = v[2u * i], odd_sum = v[2u * i + 1u];
            v[i] = (odd ? odd_sum : even_sum) + subgroupShuffleXor(odd ? even_sum : odd_sum, bit);
        }
    }
    for (uint bit = SUMS; bit < width; bit *= 2u) v[0] += subgroupShuffleXor(v[0], bit);
    return v[0];
}

