@{banner}
#version 450
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;

@{buffers}
layout(binding = @{binding_dst}, std430) writeonly buffer Dst { @{dst_type} dst[]; };
@if two_widths
layout(binding = @{binding_dst}, std430) writeonly buffer DstWhole { @{dst_whole_type} dst_whole[]; };
@end

layout(push_constant) uniform Push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of @{tile_elements} elements in a row
};

@{tables}
@{prelude}
@{decode}

@{write_tile}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, bands = @{bands};
    for (uint i = gl_GlobalInvocationID.x; i < bands * row_tiles; i += threads) {
@if strips
        const uvec2 at = row_and_tile(i, bands, row_tiles);
        const uint @{band} = at.x, tile = at.y;
@else
        const uint @{band} = i / row_tiles, tile = i % row_tiles;
@end
        @{vec} v[@{runs}];
        decode(@{band}, tile, v);
@if in_bands
  @if ragged
        const uint row = band * @{tile_rows}u, column = tile * @{tile_elements}u;
        write_tile(row * cols + column, rows - row, min(@{tile_elements}u, cols - column), v);
  @else
        const uint step = cols / @{store_lanes}u;
    @if groups
        write_tile(band * step + tile * @{stores}u, grid_rows * step, v);
    @else
        write_tile(band * @{tile_rows}u * step + tile * @{stores}u, step, v);
    @end
  @end
@else
  @if ragged
        write_tile(row * cols + tile * @{tile_elements}u, 0u, min(@{tile_elements}u, cols - tile * @{tile_elements}u), v);
  @else
        write_tile(row * (cols / @{store_lanes}u) + tile * @{stores}u, v);
  @end
@end
    }
}
