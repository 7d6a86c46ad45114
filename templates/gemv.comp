@{banner}
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;
layout(constant_id = @{id.batch}) const uint BATCH = 1;  // right-hand sides at once, at least as many as there are
layout(constant_id = @{id.rows}) const uint ROWS = 4;   // rows at a time
layout(constant_id = @{id.split}) const uint SPLIT = 1;  // subgroups that share a row
@if shares
layout(constant_id = @{id.shared_fours}) const uint SHARED_FOURS = 512;  // 16 bytes each: memory for x, of several right-hand sides
@end
@include sums_constants.glsl

@{buffers}
@{wide_buffers}
layout(binding = @{binding_x}, std430) readonly buffer Input { @{x_type} x_in[]; };
@{x_elements}
@if shares
layout(binding = @{binding_y}, std430) buffer Output { float y[]; };
@else
layout(binding = @{binding_y}, std430) writeonly buffer Output { float y[]; };
@end

layout(push_constant) uniform Push {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of @{tile_elements} elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
@if of_matrix
    uint cols;       // of the matrix that the blocks are patches of
    uint grid_rows;  // blocks
    uint grid_cols;
@end
};

@{tables}
@{prelude}
@include sums.glsl

@if looks_up
// Adds up what subgroups left of that many rounds of rows, `step` apart, the last of which begins at row `first`; teams' rows do so
// at `end` at the latest. Lookups take longer in one subgroup than in another: they wait for each other once in some rounds.
void add_rounds(uint place, uint rounds, uint first, uint step, uint end) {
    const uint teams = gl_NumSubgroups / SPLIT;
    for (uint i = gl_LocalInvocationID.x; i < rounds * teams * ROWS; i += gl_WorkGroupSize.x) {
        const uint round = i / ROWS / teams, team = i / ROWS % teams;
        const uint row = first - (rounds - 1u - round) * step + team * ROWS, to = min(row, end) + i % ROWS;
        if (to < row || to >= rows) continue;
        float total = 0.0;
        [[unroll]] for (uint s = 0u; s < SPLIT; ++s) total += partial[place + (round * gl_NumSubgroups + team * SPLIT + s) * ROWS + i % ROWS];
        y[y_first + to] = total;
    }
}

@end
@if wide
// One right-hand side: subgroups share a row, each with the slice of x that it holds, and walk down the rows.
void walk_wide() {
    const uint wide_tiles = row_tiles / @{wide_ratio}u, lane = gl_SubgroupInvocationID;
    const uint slice = gl_SubgroupSize * WIDE_TILES, slices = (wide_tiles + slice - 1u) / slice;
    const uint split = SPLIT, teams = gl_NumSubgroups / split, team = gl_SubgroupID / split, end = rows;
    uint held = ~0u, turn = 0u;
    for (uint first = gl_WorkGroupID.x * teams * ROWS; first < rows; first += gl_NumWorkGroups.x * teams * ROWS) {
        const uint row = first + team * ROWS;
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
        for (uint c0 = 0u; c0 < slices; c0 += split) {
            const uint c = c0 + gl_SubgroupID % split;
            const bool kept = c0 == held;
            @{stage}
            [[unroll]] for (uint k = 0; k < WIDE_TILES; ++k) {
                const uint j = c * slice + k * gl_SubgroupSize + lane;
                if (j >= wide_tiles) continue;
                if (@{unstaged}!kept) load_wide_x(0u, j, k);
                @{wide_last}
                @{fetched}
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch_wide(min(row + r, end - 1u), j, @{fetched_at});
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate_wide(min(row + r, end - 1u), j, k, @{fetched_at}, sum[r]);
                @{wide_put}
            }
            held = c0;
        }
        const float all = sum_of_lanes(sum, gl_SubgroupSize);
        if (split == 1u) {
            if (lane < ROWS && row + lane < rows) y[y_first + row + lane] = all;
            continue;
        }
        // Halves of the memory in turn: who is a row ahead does not write where others still read.
  @if looks_up
        const uint rounds = gl_SubgroupSize / 4u, round = turn % rounds, step = gl_NumWorkGroups.x * teams * ROWS;
        const uint place = turn++ / rounds % 2u * gl_WorkGroupSize.x / 4u * ROWS;
        if (lane < ROWS) partial[place + (round * gl_NumSubgroups + gl_SubgroupID) * ROWS + lane] = all;
        if (round + 1u < rounds && first + step < rows) continue;
        barrier();
        add_rounds(place, round + 1u, first, step, rows);
  @else
        const uint place = turn++ % 2u * gl_NumSubgroups * ROWS;
        if (lane < ROWS) partial[place + gl_SubgroupID * ROWS + lane] = all;
        barrier();
        const uint i = gl_LocalInvocationID.x, at = place + i / ROWS * (split - 1u) * ROWS + i;
        if (i >= teams * ROWS || first + i >= rows) continue;
        float total = 0.0;
        [[unroll]] for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS];
        y[y_first + first + i] = total;
  @end
    }
}

@end
@if ahead
// One right-hand side, of which a subgroup keeps a slice, a tile in each lane. Rows of that slice are loaded side by side, 16 bytes a
// thread, while those before them, which lie in memory that the subgroup has for itself, are multiplied.
const uint SLICE_WORDS = LANES / @{held_tiles}u * @{held_words}u;
const uint SLICE_FOURS = (SLICE_WORDS + 3u) / 4u + (SLICE_WORDS % 4u == 0u ? 0u : 1u);
const uint LOADS = (ROWS * SLICE_FOURS + LANES - 1u) / LANES;  // of a thread
shared uint held[AHEAD == 1u ? gl_WorkGroupSize.x * LOADS * 4u : 1u];

  @if held_fours
uvec4 held_four(uint at) {
    return uvec4(held[at], held[at + 1u], held[at + 2u], held[at + 3u]);
}

  @end
@{held_x}

@{take_held}

@{add_held}

void load_ahead(uint from, uint place[LOADS], out uvec4 ahead[LOADS]) {
    [[unroll]] for (uint i = 0u; i < LOADS; ++i) ahead[i] = @{block_fours}[from + place[i]];
}

void walk_ahead() {
    const uint lane = gl_SubgroupInvocationID, slice = gl_SubgroupID % SPLIT, j = slice * LANES + lane;
    const uint teams = gl_WorkGroupSize.x / LANES / SPLIT, team = gl_SubgroupID / SPLIT;
    const uint tiles = row_tiles / @{held_ratio}u, row_fours = tiles / @{held_tiles}u * @{held_words}u / 4u;
    const uint own = gl_SubgroupID * LOADS * LANES, phase = slice * SLICE_WORDS % 4u;
    const uint step = gl_NumWorkGroups.x * teams * ROWS, last = max(rows, ROWS) - ROWS;
    uint place[LOADS];  // of loads, from a row on
    [[unroll]] for (uint i = 0u; i < LOADS; ++i) {
        const uint load = i * LANES + lane, r = load / SLICE_FOURS, four = slice * SLICE_WORDS / 4u + load % SLICE_FOURS;
        place[i] = r < ROWS && four < row_fours ? min(r, rows - 1u) * row_fours + four : 0u;
    }
    uvec4 ahead[LOADS];
    uint first = gl_WorkGroupID.x * teams * ROWS, turn = 0u;
    load_ahead(min(first + team * ROWS, last) * row_fours, place, ahead);
    @{load_held_x}(0u, min(j, tiles - 1u), 0u);
    [[dont_unroll]] for (; first < rows; first += step) {
        subgroupBarrier();
        [[unroll]] for (uint i = 0u; i < LOADS; ++i) {
            const uint at = (own + i * LANES + lane) * 4u;
            held[at] = ahead[i].x;
            held[at + 1u] = ahead[i].y;
            held[at + 2u] = ahead[i].z;
            held[at + 3u] = ahead[i].w;
        }
        subgroupBarrier();
        const uint next = first + step, row = first + team * ROWS;
        if (next < rows) load_ahead(min(next + team * ROWS, last) * row_fours, place, ahead);
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            @{held_arrays}
            take_held((own + r * SLICE_FOURS) * 4u + phase, lane, @{held_names});
            sum[r] = 0.0;
            add_held(lane, 0u, @{held_names}, sum[r]);
            if (j >= tiles) sum[r] = 0.0;
        }
        const float all = sum_of_lanes(sum, LANES);
        const uint to = min(row, last) + lane;
        if (SPLIT == 1u) {
            if (lane < ROWS && to >= row && to < rows) y[y_first + to] = all;
            continue;
        }
        // Halves of the memory in turn: who is a row ahead does not write where others still read.
  @if looks_up
        const uint place_of_sums = turn / (LANES / 4u) % 2u * gl_WorkGroupSize.x / 4u * ROWS, round = turn++ % (LANES / 4u);
        if (lane < ROWS) partial[place_of_sums + (round * gl_NumSubgroups + gl_SubgroupID) * ROWS + lane] = all;
        if (round + 1u < LANES / 4u && next < rows) continue;
        barrier();
        add_rounds(place_of_sums, round + 1u, first, step, last);
  @else
        const uint place_of_sums = turn++ % 2u * gl_NumSubgroups * ROWS;
        if (lane < ROWS) partial[place_of_sums + gl_SubgroupID * ROWS + lane] = all;
        barrier();
        if (slice == 0u && lane < ROWS && to >= row && to < rows) {
            float total = 0.0;
            [[unroll]] for (uint s = 0u; s < SPLIT; ++s) total += partial[place_of_sums + (gl_SubgroupID + s) * ROWS + lane];
            y[y_first + to] = total;
        }
  @end
    }
}

@end
@if shares
// Several right-hand sides: the workgroup shares a slice of x, and its subgroups walk down the rows, some lanes for each ROWS
// of them. Sums of a later slice are added to those of earlier ones.
void walk_shared() {
    const uint wide_tiles = @{shared_tiles}, end = rows, width = 4u * ROWS > gl_SubgroupSize ? gl_SubgroupSize : gl_SubgroupSize / 4u;
    const uint lane = gl_SubgroupInvocationID % width, tall = gl_SubgroupSize / width * ROWS;
    for (uint begin = 0u; begin < wide_tiles; begin += SLICE) {
        const uint count = min(SLICE, wide_tiles - begin);
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < count * BATCH; i += gl_WorkGroupSize.x) {
            @{shared_load}(i / count, begin + i % count, 0u);
            share_x(i / count, i % count);
        }
        barrier();
        for (uint first = (gl_WorkGroupID.x * gl_NumSubgroups + gl_SubgroupID) * tall; first < rows; first += gl_NumWorkGroups.x * gl_NumSubgroups * tall) {
            const uint row = first + gl_SubgroupInvocationID / width * ROWS;
            float sum[ROWS][BATCH];
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[r][m] = 0.0;
            }
            for (uint t = lane; t < count; t += width) {
                const uint j = begin + t;
                @{shared_last}
                @{shared_loads}
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                    take_x(m, t);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) @{shared_add}
                }
            }
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                float of_rows[ROWS];
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) of_rows[r] = sum[r][m];
                const float all = sum_of_lanes(of_rows, width);
                if (lane >= ROWS || row + lane >= rows || m >= batch) continue;
                const uint at = m * y_rows + y_first + row + lane;
                y[at] = begin == 0u ? all : y[at] + all;
            }
        }
    }
}

@end
void main() {
    @{fill_tables}
@if ahead
    if (AHEAD == 1u && BATCH == 1u && gl_SubgroupSize == LANES && gl_WorkGroupSize.x >= LANES * SPLIT) {
        walk_ahead();
        return;
    }
@end
@if wide
    if (LOAD_WORDS == 4u && BATCH == 1u && gl_SubgroupSize >= ROWS && gl_NumSubgroups >= SPLIT@{wide_if}) {
        walk_wide();
        return;
    }
@end
@if shares
    if (BATCH > 1u && SLICE > 0u && gl_SubgroupSize >= ROWS@{shared_if}) {
        walk_shared();
        return;
    }
@end
    // A subgroup holds a slice of x and walks down the rows.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    const uint split = SPLIT == 1u ? 1u : min(SPLIT, gl_NumSubgroups);
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
@if ragged
    // Tiles of a row that are taken as wholes: those that it fills, where its runs of x begin as x is stored.
    const uint row_cols = @{row_cols}, whole_tiles = row_cols % @{whole_unit}u == 0u ? row_cols / @{tile_elements}u : 0u;
@end
@if single
    for (uint vector = 0u; vector < batch; ++vector) {
        uint held = ~0u;
        for (uint first = gl_WorkGroupID.x * teams * ROWS; first < rows; first += gl_NumWorkGroups.x * teams * ROWS) {
            float sum[ROWS];
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
            for (uint c = gl_SubgroupID % split; c < slices; c += split) {
                [[unroll]] for (uint k = 0; k < TILES; ++k) {
                    const uint j = (c * TILES + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
                    if (j >= row_tiles) continue;
                    if (c != held) load_x(vector, j, k);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(first + team * ROWS + r, rows - 1u), j, k, sum[r]);
                }
                held = c;
            }
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
                const float all = subgroupAdd(sum[r]);
                const uint row = first + team * ROWS + r;
                if (!subgroupElect()) continue;
                if (split > 1u) partial[gl_SubgroupID * ROWS + r] = all;
                else if (row < rows) y[vector * y_rows + y_first + row] = all;
            }
            if (split == 1u) continue;
            barrier();
            for (uint i = gl_LocalInvocationID.x; i < teams * ROWS; i += gl_WorkGroupSize.x) {
                const uint at = i / ROWS * (split - 1u) * ROWS + i;
                float total = 0.0;
                for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS];
                if (first + i < rows) y[vector * y_rows + y_first + first + i] = total;
            }
            barrier();
        }
    }
}
@else
    uint held = ~0u;
    for (uint first = gl_WorkGroupID.x * teams * ROWS; first < rows; first += gl_NumWorkGroups.x * teams * ROWS) {
        float sum[ROWS][BATCH];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[r][m] = 0.0;
        }
        for (uint c = gl_SubgroupID % split; c < slices; c += split) {
            [[unroll]] for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
                if (j >= row_tiles) continue;
  @if ragged
                if (j >= whole_tiles) {
                    [[dont_unroll]] for (uint r = 0u; r < ROWS; ++r) {
                        float part[BATCH];
                        sum_cut(min(first + team * ROWS + r, rows - 1u), j, part);
                        [[unroll]] for (uint s = 0u; s < ROWS; ++s) {
                            [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[s][m] += s == r ? part[m] : 0.0;
                        }
                    }
                    continue;
                }
  @end
                if (c != held) load_x(0u, j, k);
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(first + team * ROWS + r, rows - 1u), j, k, sum[r]);
            }
            held = c;
        }
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                const float all = subgroupAdd(sum[r][m]);
                const uint row = first + team * ROWS + r;
                if (!subgroupElect()) continue;
                if (split > 1u) partial[(gl_SubgroupID * ROWS + r) * BATCH + m] = all;
                else if (row < rows && m < batch) y[m * y_rows + y_first + row] = all;
            }
        }
        if (split == 1u) continue;
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < teams * ROWS * BATCH; i += gl_WorkGroupSize.x) {
            const uint row = first + i / BATCH, m = i % BATCH, at = i / (ROWS * BATCH) * (split - 1u) * ROWS * BATCH + i;
            float total = 0.0;
            for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS * BATCH];
            if (row < rows && m < batch) y[m * y_rows + y_first + row] = total;
        }
        barrier();
    }
}
@end
