// Adds up what subgroups left of that many rounds of rows, `step` apart, the last of which begins at row `first`; teams' rows do so
// at `end` at the latest. Lookups take longer in one subgroup than in another: they wait for each other once in some rounds.
void add_rounds(uint place, uint rounds, uint first, uint step, uint end) {
    const uint teams = gl_NumSubgroups / SPLIT;
    for (uint i = gl_LocalInvocationID.x; i < rounds * teams * SUMS; i += gl_WorkGroupSize.x) {
        const uint round = i / SUMS / teams, team = i / SUMS % teams, m = i % BATCH;
        const uint row = first - (rounds - 1u - round) * step + team * ROWS, to = min(row, end) + i % SUMS / BATCH;
        if (to < row || to >= rows || m >= batch) continue;
        float total = 0.0;
        const uint from = place + (round * gl_NumSubgroups + team * SPLIT) * SUMS + i % SUMS;
        [[unroll]] for (uint s = 0u; s < SPLIT; ++s) total += partial[from + s * SUMS];
        finish(m, to, total);
    }
}
