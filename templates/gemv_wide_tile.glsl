@if stages
if (STAGED == 1u && c0 != held)
@else
if (c0 != held)
@end
    [[unroll]] for (uint m = 0u; m < BATCH; ++m) load_x(m, min(j, tiles - 1u), @{kept});
@if several
@else
held = c0;
@end
if (j >= tiles) continue;
@if overruns
// Of the last block of all, beyond which no load goes, the sum is made beforehand.
const bool at_end = PADDED == 0u && row + ROWS >= end && j + @{block_tiles}u >= tiles;
float sum_at_end[BATCH];
if (at_end) {
    @{last_arrays}
    fetch_last(end - 1u, j, @{last_names});
    [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
        sum_at_end[m] = 0.0;
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum_at_end[m] += row + r + 1u == end ? sum[r * BATCH + m] : 0.0;
@if in_turns
        accumulate(end - 1u, j, @{kept}, @{last_names}, bvec4(true), sum_at_end[m]);
@else
        accumulate(end - 1u, j, @{kept}, @{last_names}, sum_at_end[m]);
@end
    }
}
@end
@if in_turns
[[unroll]] for (uint turn = 0u; turn < TURNS; ++turn) {
    if (!is_turn(turn)) continue;
    const bvec4 turns = bvec4(turn == 0u, turn == 1u || TURNS == 1u, turn == 2u || TURNS == 1u, turn == 3u || TURNS == 1u);
    @{fetched}
    [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, end - 1u), j, @{fetched_at});
    [[unroll]] for (uint i = 0u; i < SUMS; ++i) {
        const uint r = i / BATCH, m = i % BATCH;
        accumulate(min(row + r, end - 1u), j, @{kept}, @{fetched_at}, turns, sum[i]);
    }
}
@else
@{fetched}
[[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, end - 1u), j, @{fetched_at});
[[unroll]] for (uint r = 0u; r < ROWS; ++r)
    [[unroll]] for (uint m = 0u; m < BATCH; ++m) accumulate(min(row + r, end - 1u), j, @{kept}, @{fetched_at}, sum[r * BATCH + m]);
@end
@if overruns
if (at_end) {
    [[unroll]] for (uint i = 0u; i < SUMS; ++i) sum[i] = row + i / BATCH + 1u == end ? sum_at_end[i % BATCH] : sum[i];
}
@end
