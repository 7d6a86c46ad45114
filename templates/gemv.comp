@{banner}
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
@if staged
#extension GL_KHR_memory_scope_semantics : require
@end
@{extensions}

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides that are kept, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row, where there are few rows

@{buffers}
layout(binding = @{binding_x}, std430) readonly buffer Input { @{x_type} x_in[]; };
layout(binding = @{binding_y}, std430) writeonly buffer Output { float y[]; };

layout(push_constant) uniform Push {
    uint rows;       // of this launch
@if staged
    uint row_blocks; // blocks of @{block_elements} elements in a row
@else
    uint row_tiles;  // tiles of @{tile_elements} elements in a row
@end
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
@if staged
// For few right-hand sides, weights are copied to shared memory first; for more, there are not registers enough.
const bool STAGED = BATCH <= @{stage_batch}u;
const uint TILES = 1u;
@else
const uint TILES = BATCH == 1u ? @{x_tiles}u : 1u;
@end

// What a thread keeps of x: tiles of each right-hand side, in the order of the weights, and the sums over runs that share a
// scale.
@{vec} x[TILES][BATCH][@{kept_runs}];
float x_sum[TILES][BATCH][@{x_sums}];

@if staged
@{stage}
uint row_tiles;  // of @{tile_elements} elements

@end
@{load_x}

@{accumulate}

@if staged
const uint PARTIALS = STAGED ? 1u : gl_WorkGroupSize.x / 4u * ROWS * BATCH;
@else
const uint PARTIALS = gl_WorkGroupSize.x / 4u * ROWS * BATCH;
@end
shared float partial[PARTIALS];

void main() {
@if staged
    if (STAGED) {
        walk_stage();
        return;
    }
    row_tiles = row_blocks * @{tiles_of_block}u;
@end
    // A subgroup holds a slice of x and walks down the rows.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    const uint split = SPLIT == 1u ? 1u : min(SPLIT, gl_NumSubgroups);
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
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
