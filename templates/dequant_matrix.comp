@{banner}
#version 450
@{extensions}

layout(local_size_x_id = 0) in;

@{buffers}
layout(binding = @{binding_dst}, std430) writeonly buffer Dst { @{dst_type} dst[]; };

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
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < rows * row_tiles; i += threads) {
        const uint row = i / row_tiles, tile = i % row_tiles;
        @{vec} v[@{runs}];
        decode(row, tile, v);
@if ragged
        write_tile(row * cols + tile * @{tile_elements}u, 0u, min(@{tile_elements}u, cols - tile * @{tile_elements}u), v);
@else
        write_tile(row * (cols / @{lanes}u) + tile * @{runs}u, v);
@end
    }
}
