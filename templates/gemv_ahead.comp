@include sums_head.glsl
layout(constant_id = @{id.batch}) const uint BATCH = 1;  // right-hand sides, of each of which a thread keeps its part
layout(constant_id = @{id.rows}) const uint ROWS = 4;   // rows at a time
layout(constant_id = @{id.split}) const uint SPLIT = 1;  // subgroups that share a row: all of its slices
layout(constant_id = @{id.lanes}) const uint LANES = 32;  // of a subgroup
@include sums_constants.glsl
@include sums_shared.glsl

@include gemv_bindings.glsl

@include products.glsl
@{near_tables}

@if loads_runs
@include load_runs.glsl

@end
@{load_x}

@include sum_of_lanes.glsl
@if looks_up
@include add_rounds.glsl

@end
// A subgroup keeps a slice of x, a tile of each right-hand side in each lane. Rows of that slice are loaded side by side, 16 bytes a
// thread, while those before them, which lie in memory that the subgroup has for itself, are multiplied.
const uint SLICE_WORDS = LANES / @{held_tiles}u * @{held_words}u, SLICE_FOURS = (SLICE_WORDS + 3u) / 4u + uint(SLICE_WORDS % 4u != 0u);
const uint LOADS = (ROWS * SLICE_FOURS + LANES - 1u) / LANES;  // of a thread
shared uint held[gl_WorkGroupSize.x * LOADS * 4u];
@if held_fours
uvec4 held_four(uint at) { return uvec4(held[at], held[at + 1u], held[at + 2u], held[at + 3u]); }
@end
void hold_four(uint at, uvec4 four) { held[at] = four.x, held[at + 1u] = four.y, held[at + 2u] = four.z, held[at + 3u] = four.w; }

@{take}

@{accumulate}

void load_ahead(uint from, uint place[LOADS], out uvec4 ahead[LOADS]) {
    [[unroll]] for (uint i = 0u; i < LOADS; ++i) ahead[i] = @{block_fours}[from + place[i]];
}

void main() {
    find_matrix();
    @{fill_tables}
    const uint teams = gl_WorkGroupSize.x / LANES / SPLIT, team = gl_SubgroupID / SPLIT, step = group_count() * teams * ROWS;
    const uint lane = gl_SubgroupInvocationID, slice = gl_SubgroupID % SPLIT, j = slice * LANES + lane, last = max(rows, ROWS) - ROWS;
    const uint tiles = @{tiles_of_row}, row_fours = tiles / @{held_tiles}u * @{held_words}u / 4u;
    const uint own = gl_SubgroupID * LOADS * LANES, phase = slice * SLICE_WORDS % 4u;
    uint place[LOADS];  // of loads, from a row on
    [[unroll]] for (uint i = 0u; i < LOADS; ++i) {
        const uint load = i * LANES + lane, r = load / SLICE_FOURS, four = slice * SLICE_WORDS / 4u + load % SLICE_FOURS;
@if gates_rows
        place[i] = r < ROWS && four < row_fours ? row_within(min(r, rows - 1u)) * row_fours + four : 0u;
@else
        place[i] = r < ROWS && four < row_fours ? min(r, rows - 1u) * row_fours + four : 0u;
@end
    }
    uvec4 ahead[LOADS];
    uint first = group_number() * teams * ROWS, turn = 0u;
    load_ahead(row_of_weights(min(first + team * ROWS, last)) * row_fours, place, ahead);
@if norms
    if (NORM != 0u) add_squares();
@end
    [[unroll]] for (uint m = 0u; m < BATCH; ++m) load_x(m, min(j, tiles - 1u), m);
    [[dont_unroll]] for (; first < rows; first += step) {
        subgroupBarrier();
        [[unroll]] for (uint i = 0u; i < LOADS; ++i) hold_four((own + i * LANES + lane) * 4u, ahead[i]);
        subgroupBarrier();
        const uint next = first + step, row = first + team * ROWS;
        if (next < rows) load_ahead(row_of_weights(min(next + team * ROWS, last)) * row_fours, place, ahead);
        float sum[SUMS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            @{fetched}
            take((own + r * SLICE_FOURS) * 4u + phase, lane, @{fetched_at});
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                sum[r * BATCH + m] = 0.0;
                accumulate(lane, m, @{fetched_at}, sum[r * BATCH + m]);
                if (j >= tiles) sum[r * BATCH + m] = 0.0;
            }
        }
        const float all = sum_of_lanes(sum, LANES);
        const uint to = min(row, last) + lane / BATCH, m = lane % BATCH;
        if (SPLIT == 1u) {
            if (lane < SUMS && to >= row && to < rows && m < batch) finish(m, to, all);
            continue;
        }
        // Halves of the memory in turn: who is a row ahead does not write where others still read.
  @if looks_up
        const uint place_of_sums = turn / (LANES / 4u) % 2u * gl_WorkGroupSize.x / 4u * SUMS, round = turn++ % (LANES / 4u);
        if (lane < SUMS) partial[place_of_sums + (round * gl_NumSubgroups + gl_SubgroupID) * SUMS + lane] = all;
        if (round + 1u < LANES / 4u && next < rows) continue;
        barrier();
        add_rounds(place_of_sums, round + 1u, first, step, last);
  @else
        const uint place_of_sums = turn++ % 2u * gl_NumSubgroups * SUMS;
        if (lane < SUMS) partial[place_of_sums + gl_SubgroupID * SUMS + lane] = all;
        barrier();
        if (slice == 0u && lane < SUMS && to >= row && to < rows && m < batch) {
            float total = 0.0;
            [[unroll]] for (uint s = 0u; s < SPLIT; ++s) total += partial[place_of_sums + (gl_SubgroupID + s) * SUMS + lane];
            finish(m, to, total);
        }
  @end
    }
}
