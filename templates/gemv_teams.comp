@include sums_head.glsl
layout(constant_id = @{id.batch}) const uint BATCH = 2;  // right-hand sides at once, at least as many as there are
layout(constant_id = @{id.rows}) const uint ROWS = 4;   // rows at a time, at most as many as a team has lanes
layout(constant_id = @{id.split}) const uint SPLIT = 4;  // quarters of a subgroup that are a team
@if in_turns
layout(constant_id = @{id.turns}) const uint TURNS = 1;  // in which a tile is multiplied
@end
@if packs
layout(constant_id = @{id.x_packed}) const uint X_PACKED = 0;  // 0: x is floats; 1: what a launch before made of them; 2: this is that launch
@end
layout(constant_id = @{id.shared_fours}) const uint SHARED_FOURS = 512;  // 16 bytes each: memory for x
@include sums_constants.glsl
shared float partial[SPLIT > 4u ? gl_WorkGroupSize.x / 8u * ROWS * BATCH : 1u];
@if packs
layout(binding = @{binding_x}, std430) readonly buffer PackedInput { uvec4 packed_x[]; };  // of X_PACKED: as x is shared
layout(binding = @{binding_y}, std430) writeonly buffer PackedOutput { uvec4 packed_y[]; };
@end
@include gemv_bindings.glsl

@include products.glsl
@{near_tables}
@if loads_runs
@include load_runs.glsl

@end
@{load_x}

@{fetch}
@if in_turns
@include is_turn.glsl
@end

@{accumulate}

@{shared_x}

@include sum_of_lanes.glsl
@include share_slice.glsl

// Teams of lanes, a part of a subgroup or, for few rows, several, take ROWS rows each; the workgroup shares a slice of x at a time.
void main() {
    find_matrix();
    const uint tiles = @{tiles_of_row}, last = rows - 1u, lanes = SPLIT * (gl_SubgroupSize / 4u), teams = gl_WorkGroupSize.x / lanes;
@if packs
    if (X_PACKED == 2u) { share_slice(0u, tiles); return; }
@end
    @{fill_tables}
    const uint place = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID, lane = place % lanes, team = place / lanes;
    const uint slice = SLICE < lanes ? SLICE : SLICE / lanes * lanes;  // no lane without a tile while others have one
    for (uint first = group_number() * teams * ROWS; first < rows; first += group_count() * teams * ROWS) {
        const uint row = first + team * ROWS;
        float sum[BATCH][ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[m][r] = 0.0;
        for (uint from = 0u; from < tiles; from += slice) {
            const uint count = min(slice, tiles - from);
            @{fetched}  // weights are on their way while the workgroup waits for x
@if in_turns
            [[unroll]] for (uint r = 0u; r < ROWS; ++r)
                if (TURNS == 1u) fetch(min(row + r, last), from + min(lane, count - 1u), @{fetched_at});
@else
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, last), from + min(lane, count - 1u), @{fetched_at});
@end
            if (slice < tiles || first < group_count() * teams * ROWS) share_slice(from, count);  // else it is there still
            for (uint t = lane; t < count; t += lanes) {
@if overruns
                if (PADDED == 0u && row + ROWS >= rows && from + t + @{block_tiles}u >= tiles) {  // the last block: no load goes beyond
                    [[dont_unroll]] for (uint i = 0u; i < ROWS * BATCH; ++i) {
                        @{last_arrays}
                        float part = 0.0;  // the sum goes on, so that results have the bits of the other path
                        [[unroll]] for (uint m = 0u; m < BATCH; ++m)
                            [[unroll]] for (uint r = 0u; r < ROWS; ++r) part = m * ROWS + r == i ? sum[m][r] : part;
                        fetch_last(min(row + i % ROWS, last), from + t, @{last_names});
@if in_turns
  @if digits
                        take_x(i / ROWS, t);
  @else
                        take_x(i / ROWS, t, bvec4(true));
  @end
                        accumulate(min(row + i % ROWS, last), from + t, 0u, @{last_names}, bvec4(true), part);
@else
                        take_x(i / ROWS, t);
                        accumulate(min(row + i % ROWS, last), from + t, 0u, @{last_names}, part);
@end
                        [[unroll]] for (uint m = 0u; m < BATCH; ++m)
                            [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[m][r] = m * ROWS + r == i ? part : sum[m][r];
                    }
                    continue;
                }
@end
@if in_turns
                [[unroll]] for (uint turn = 0u; TURNS > 1u && turn < TURNS; ++turn) {
                    if (!is_turn(turn)) continue;
                    const bvec4 turns = bvec4(turn == 0u, turn == 1u, turn == 2u, turn == 3u);
@if !apart
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, last), from + t, @{fetched_at});
@end
                    [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
  @if digits
                        if (m > 0u && m >= batch) continue;  // a branch here, too
                        take_x(m, t);
  @else
                        take_x(m, t, turns);
  @end
@if apart
                        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
                            const uint n = min(row + r + (r == 0u ? 0u : after(sum[0][r - 1u])), last);
                            if (m == 0u) fetch(n, from + t, @{fetched_at});
                            accumulate(min(row + r, last), from + t, 0u, @{fetched_at}, turns, sum[m][r]);
                        }
@else
                        [[unroll]] for (uint r = 0u; r < ROWS; ++r)
                            accumulate(min(row + r, last), from + t, 0u, @{fetched_at}, turns, sum[m][r]);
@end
                    }
                }
                if (TURNS > 1u) continue;
@end
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
@if in_turns
  @if digits
                    take_x(m, t);
  @else
                    take_x(m, t, bvec4(true));
  @end
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r)
                        accumulate(min(row + r, last), from + t, 0u, @{fetched_at}, bvec4(true), sum[m][r]);
@else
                    take_x(m, t);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(row + r, last), from + t, 0u, @{fetched_at}, sum[m][r]);
@end
                }
                if (t + lanes >= count) continue;
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, last), from + t + lanes, @{fetched_at});
            }
        }
        [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
            const float all = sum_of_lanes(sum[m], min(lanes, gl_SubgroupSize));
            if (SPLIT <= 4u && lane < ROWS && row + lane < rows && m < batch) finish(m, row + lane, all);
            if (SPLIT > 4u && gl_SubgroupInvocationID < ROWS) partial[(gl_SubgroupID * BATCH + m) * ROWS + gl_SubgroupInvocationID] = all;
        }
        if (SPLIT <= 4u) continue;
        const uint parts = SPLIT / 4u, each = BATCH * ROWS;
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < teams * each; i += gl_WorkGroupSize.x) {
            const uint m = i % each / ROWS, n = first + i / each * ROWS + i % ROWS;
            float total = 0.0;
            for (uint p = 0u; p < parts; ++p) total += partial[(i / each * parts + p) * each + i % each];
            if (n < rows && m < batch) finish(m, n, total);
        }
        barrier();
    }
}
