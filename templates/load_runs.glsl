// Runs `at` to `at` + 3 of each thread: four neighbours load what one wants, side by side, and then swap. All call it.
void load_runs(uint at, out vec4 run0, out vec4 run1, out vec4 run2, out vec4 run3) {
    vec4 v[4];
    const uint own = gl_SubgroupInvocationID % 4u;
    [[unroll]] for (uint i = 0u; i < 4u; ++i) v[i] = x_run(subgroupShuffle(at, gl_SubgroupInvocationID / 4u * 4u + i) + own);
    [[unroll]] for (uint swap = 0u; swap < 4u; ++swap) {
        const uint bit = 1u + swap / 2u, i = swap < 2u ? 2u * swap : swap - 2u;
        const bool odd = (own & bit) != 0u;
        const vec4 other = subgroupShuffleXor(odd ? v[i] : v[i + bit], bit);
        v[i] = odd ? other : v[i], v[i + bit] = odd ? v[i + bit] : other;
    }
    run0 = v[0], run1 = v[1], run2 = v[2], run3 = v[3];
}
