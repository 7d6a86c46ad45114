@include sums_head.glsl
layout(constant_id = @{id.batch}) const uint BATCH = 2;  // right-hand sides at once, at least as many as there are
layout(constant_id = @{id.rows}) const uint ROWS = 4;   // rows at a time, at most as many as a subgroup has lanes
layout(constant_id = @{id.shared_fours}) const uint SHARED_FOURS = 512;  // 16 bytes each: memory for x
@include sums_constants.glsl

@include gemv_bindings.glsl

@include products.glsl
@{near_tables}

@if loads_runs
@include load_runs.glsl

@end
@{load_x}

@{fetch}

@{accumulate}

@{shared_x}

@include sum_of_lanes.glsl
@include share_slice.glsl

// Several right-hand sides: the workgroup shares a slice of x, and its subgroups walk down the rows, some lanes for each ROWS
// of them. Sums of a later slice are added to those of earlier ones.
void main() {
    find_matrix();
    @{fill_tables}
    const uint tiles = @{tiles_of_row}, end = rows, width = 4u * ROWS > gl_SubgroupSize ? gl_SubgroupSize : gl_SubgroupSize / 4u;
    const uint lane = gl_SubgroupInvocationID % width, tall = gl_SubgroupSize / width * ROWS;
    for (uint begin = 0u; begin < tiles; begin += SLICE) {
        const uint count = min(SLICE, tiles - begin);
        share_slice(begin, count);
        const uint step = group_count() * gl_NumSubgroups * tall;
        for (uint first = (group_number() * gl_NumSubgroups + gl_SubgroupID) * tall; first < rows; first += step) {
            const uint row = first + gl_SubgroupInvocationID / width * ROWS;
            float sum[BATCH][ROWS];
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[m][r] = 0.0;
            for (uint t = lane; t < count; t += width) {
                const uint j = begin + t;
@if fetches
  @if overruns
                if (PADDED == 0u && row + ROWS >= end && j + @{block_tiles}u >= tiles) {  // the last block, beyond which no load goes
                    [[dont_unroll]] for (uint i = 0u; i < ROWS * BATCH; ++i) {
                        @{last_arrays}
                        float part = 0.0;
                        fetch_last(min(row + i % ROWS, end - 1u), j, @{last_names});
                        take_x(i / ROWS, t);
                        accumulate(min(row + i % ROWS, end - 1u), j, 0u, @{last_names}, part);
                        [[unroll]] for (uint s = 0u; s < ROWS * BATCH; ++s) sum[s / ROWS][s % ROWS] += s == i ? part : 0.0;
                    }
                    continue;
                }
  @end
                @{fetched}
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, end - 1u), j, @{fetched_at});
@end
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                    take_x(m, t);
@if fetches
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(row + r, end - 1u), j, 0u, @{fetched_at}, sum[m][r]);
@else
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(row + r, end - 1u), j, 0u, sum[m][r]);
@end
                }
            }
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                const float all = sum_of_lanes(sum[m], width);
                if (lane < ROWS && row + lane < rows && m < batch) finish(m, row + lane, all, begin == 0u, begin + SLICE >= tiles);
            }
        }
    }
}
