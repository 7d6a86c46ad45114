@include sums_head.glsl
layout(constant_id = @{id.batch}) const uint BATCH = 1;  // right-hand sides, of each of which a thread keeps its part
layout(constant_id = @{id.rows}) const uint ROWS = 4;   // rows at a time
layout(constant_id = @{id.split}) const uint SPLIT = 1;  // subgroups that share a row, at most as many as there are
@include sums_constants.glsl
@if in_turns
layout(constant_id = @{id.turns}) const uint TURNS = 1;  // in which a tile is taken
@end
@if several
const uint TILES = @{kept_tiles}u;
@end
@include sums_shared.glsl

@include gemv_bindings.glsl

@include products.glsl
@if stages
@include staged_x.glsl
@end
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

@include sum_of_lanes.glsl
@if stages
@include stage_x.glsl

@end
@if looks_up
@include add_rounds.glsl

@end
// Subgroups share a row, each with the slice of x that it holds, and walk down the rows.
void walk() {
@if several
    const uint tiles = @{tiles_of_row}, lane = gl_SubgroupInvocationID, slice = gl_SubgroupSize * TILES;
    const uint slices = (tiles + slice - 1u) / slice;
@else
    const uint tiles = @{tiles_of_row}, lane = gl_SubgroupInvocationID, slice = gl_SubgroupSize, slices = (tiles + slice - 1u) / slice;
@end
    const uint split = SPLIT, teams = gl_NumSubgroups / split, team = gl_SubgroupID / split, end = rows;
    uint held = ~0u, turn = 0u;
@if norms
    if (NORM != 0u) add_squares();
@end
    for (uint first = group_number() * teams * ROWS; first < rows; first += group_count() * teams * ROWS) {
        const uint row = first + team * ROWS;
        float sum[SUMS];
        [[unroll]] for (uint i = 0u; i < SUMS; ++i) sum[i] = 0.0;
        for (uint c0 = 0u; c0 < slices; c0 += split) {
            const uint @{own} = (c0 + gl_SubgroupID % split) * slice + lane;
@if stages
            if (STAGED > 1u && c0 != held)
                [[unroll]] for (uint m = 0u; m < BATCH; ++m)
                    stage_x(min(m, batch - 1u), m, c0 * slice, min((c0 + split) * slice, tiles), @{own}@{step_of_subgroup});
@end
@if several
            [[unroll]] for (uint k = 0; k < TILES; ++k) {
                const uint j = @{own} + k * gl_SubgroupSize;
                @include gemv_wide_tile.glsl
            }
            held = c0;
@else
            @include gemv_wide_tile.glsl
@end
        }
        float total = sum_of_lanes(sum, gl_SubgroupSize);
        const uint n = row + lane / BATCH, m = lane % BATCH;
        // Halves of the memory in turn: who is a row ahead does not write where others still read.
@if looks_up
        const uint rounds = gl_SubgroupSize / 4u, round = turn % rounds, step = group_count() * teams * ROWS;
        const uint place = turn++ / rounds % 2u * gl_WorkGroupSize.x / 4u * SUMS;
        if (SPLIT > 1u) {
            if (lane < SUMS) partial[place + (round * gl_NumSubgroups + gl_SubgroupID) * SUMS + lane] = total;
            if (round + 1u < rounds && first + step < rows) continue;
            barrier();
            add_rounds(place, round + 1u, first, step, rows);
            continue;
        }
        if (lane >= SUMS || n >= rows || m >= batch) continue;
@else
        const uint place = turn++ % 2u * gl_NumSubgroups * SUMS + gl_SubgroupID * SUMS + lane;
        if (SPLIT > 1u && lane < SUMS) partial[place] = total;
        if (SPLIT > 1u) barrier();
        if (gl_SubgroupID % SPLIT > 0u || team >= teams || lane >= SUMS || n >= rows || m >= batch) continue;
        [[unroll]] for (uint s = 1u; s < SPLIT; ++s) total += partial[place + s * SUMS];
@end
        finish(m, n, total);
    }
}

void main() {
    find_matrix();
    @{fill_tables}
    // Dispatch launches nothing else; but a compiler may choose better for a walk that may not be taken.
    if (gl_SubgroupSize >= SUMS && gl_NumSubgroups >= SPLIT && row_tiles > 0u) walk();
}
