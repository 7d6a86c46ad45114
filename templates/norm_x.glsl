@{vec} x_run(uint at) {  // normed, but for the factor of results
    precise @{vec} run = x_stored(at);
    if (NORM != 0u) run *= norm_weights[at - x_row];
    return run;
}
void add_squares() {  // where subgroups share rows, the walk has the barrier
    const uint runs = row_tiles * @{row_tile_runs}u, step = gl_WorkGroupSize.x;
    [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
        const uint from = x_from(min(m, batch - 1u), runs);
        float sum = 0.0;
        for (uint at = gl_LocalInvocationID.x; at < runs; at += 8u * step) {
            @{vec} v[8];
            [[unroll]] for (uint i = 0u; i < 8u; ++i) v[i] = x_stored(from + min(at + i * step, runs - 1u));
            [[unroll]] for (uint i = 0u; i < 8u; ++i) sum += at + i * step < runs ? dot(v[i], v[i]) : 0.0;
        }
        for (uint bit = 1u; bit < gl_SubgroupSize; bit *= 2u) sum += subgroupShuffleXor(sum, bit);
        if (gl_SubgroupInvocationID == 0u) partial[SQUARES + gl_SubgroupID * BATCH + m] = sum;
    }
    if (SPLIT == 1u) barrier();
}
