@{banner}
#version 450
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;

@{buffers}
layout(binding = @{binding_indices}, std430) readonly buffer Indices { uint indices[]; };
layout(binding = @{binding_dst}, std430) writeonly buffer Dst { @{dst_type} dst[]; };
@if two_widths
layout(binding = @{binding_dst}, std430) writeonly buffer DstWhole { @{dst_whole_type} dst_whole[]; };
@end
layout(binding = @{binding_status}, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of @{tile_elements} elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

@{tables}
@{prelude}
@{decode}

@{write_tile}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tokens * row_tiles; i += threads) {
@if strips
        const uvec2 at = row_and_tile(i, tokens, row_tiles);
        const uint token = at.x, j = at.y;
@else
        const uint token = i / row_tiles, j = i % row_tiles;
@end
        uint index = indices[token];
        const bool found = index < table_rows;
        if (!found) {
            // No such row: zeros, and the token is counted once.
            if (j == 0u) atomicAdd(out_of_range, 1u);
            index = 0u;
        }
@if sequence
        // The row's elements begin and end within tiles.
        const uint first = index * table_cols, row = 0u, tile = first / @{tile_elements}u + j;
        const uint start = tile * @{tile_elements}u;
        if (start >= first + table_cols) continue;
        const uint from = max(first, start) - start, to = min(first + table_cols - start, @{tile_elements}u);
@else
  @if groups
        const uint row = index * (table_cols / cols) + j / @{row_tiles}u, tile = j % @{row_tiles}u;
  @else
        const uint row = index, tile = j;
  @end
@end
        @{vec} v[@{runs}];
        if (found) {
            decode(row, tile, v);
        } else {
            for (uint r = 0u; r < @{runs}u; ++r) v[r] = @{vec}(0.0);
        }
@if sequence
        write_tile(token * table_cols + start - first, from, to, v);
@else
  @if ragged
        write_tile(token * cols + tile * @{tile_elements}u, 0u, min(@{tile_elements}u, cols - tile * @{tile_elements}u), v);
  @else
        write_tile(token * (table_cols / @{store_lanes}u) + j * @{stores}u, v);
  @end
@end
    }
}
