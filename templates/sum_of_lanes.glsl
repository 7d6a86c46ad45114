// Sums over `width` lanes, which begin at a multiple of that, of all rows at once: those of row r in the r-th of them.
float sum_of_lanes(float v[ROWS], uint width) {
    [[unroll]] for (uint left = ROWS / 2u, bit = 1u; left > 0u; left /= 2u, bit *= 2u) {
        const bool odd = (gl_SubgroupInvocationID & bit) != 0u;
        [[unroll]] for (uint i = 0u; i < left; ++i) {
            const float even_row = v[2u * i], odd_row = v[2u * i + 1u];
            v[i] = (odd ? odd_row : even_row) + subgroupShuffleXor(odd ? even_row : odd_row, bit);
        }
    }
    for (uint bit = ROWS; bit < width; bit *= 2u) v[0] += subgroupShuffleXor(v[0], bit);
    return v[0];
}

