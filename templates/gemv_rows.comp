@include sums_head.glsl
@if !single
layout(constant_id = @{id.batch}) const uint BATCH = 1;  // right-hand sides at once, at least as many as there are
@end
layout(constant_id = @{id.rows}) const uint ROWS = 4;   // rows at a time
layout(constant_id = @{id.split}) const uint SPLIT = 1;  // subgroups that share a row
@include sums_constants.glsl

@include gemv_bindings.glsl

@if single
const uint TILES = @{kept_tiles}u;
@else
const uint TILES = BATCH == 1u ? @{kept_tiles}u : 1u;
@end

@include products.glsl
@{load_x}

@{accumulate}

@{sum_cut}

@if single
shared float partial[gl_WorkGroupSize.x / 4u * ROWS];
@else
shared float partial[gl_WorkGroupSize.x / 4u * ROWS * BATCH];
@end

void main() {
    find_matrix();
    // A subgroup holds a slice of x and walks down the rows.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    const uint split = SPLIT == 1u ? 1u : min(SPLIT, gl_NumSubgroups);
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
@if ragged
    // Tiles of a row that are taken as wholes: those that it fills, where its runs of x begin as x is stored.
    const uint row_cols = @{row_cols}, whole = row_cols % @{whole_unit}u + (VIEWS == 0u ? 0u : (x_begin | x_stride) % @{lanes}u);
    const uint whole_tiles = whole == 0u ? row_cols / @{tile_elements}u : 0u;
@end
@if single
    for (uint vector = 0u; vector < batch; ++vector) {
        uint held = ~0u;
        for (uint first = group_number() * teams * ROWS; first < rows; first += group_count() * teams * ROWS) {
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
                else if (row < rows) finish(vector, row, all);
            }
            if (split == 1u) continue;
            barrier();
            for (uint i = gl_LocalInvocationID.x; i < teams * ROWS; i += gl_WorkGroupSize.x) {
                const uint at = i / ROWS * (split - 1u) * ROWS + i;
                float total = 0.0;
                for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS];
                if (first + i < rows) finish(vector, first + i, total);
            }
            barrier();
        }
    }
}
@else
    uint held = ~0u;
    for (uint first = group_number() * teams * ROWS; first < rows; first += group_count() * teams * ROWS) {
        float sum[ROWS][BATCH];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[r][m] = 0.0;
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
                else if (row < rows && m < batch) finish(m, row, all);
            }
        }
        if (split == 1u) continue;
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < teams * ROWS * BATCH; i += gl_WorkGroupSize.x) {
            const uint row = first + i / BATCH, m = i % BATCH, at = i / (ROWS * BATCH) * (split - 1u) * ROWS * BATCH + i;
            float total = 0.0;
            for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS * BATCH];
            if (row < rows && m < batch) finish(m, row, total);
        }
        barrier();
    }
}
@end
