@{write_tile}

// @{name}: @{summary}, in @{type}.
__kernel void @{name}(
@{buffers}
    __global @{dst_type} *restrict dst,
@if of_matrix
    uint rows,       // of the matrix that the blocks are patches of
    uint cols,
    uint grid_rows,  // blocks
    uint grid_cols,
    uint row_tiles)  // tiles of @{tile_elements} elements in a row
{
    for (uint i = get_global_id(0); i < rows * row_tiles; i += get_global_size(0)) {
        const uint row = i / row_tiles, tile = i % row_tiles;
        @{vec} v[@{runs}];
        decode(@{weights}@{shape}row, tile, v);
@if ragged
        write_tile_@{type}(v, row * cols + tile * @{tile_elements}u, cols - tile * @{tile_elements}u, dst);
@else
        write_tile_@{type}(v, row * (cols / @{lanes}u) + tile * @{runs}u, dst);
@end
    }
}
@else
    uint tiles)  // of @{tile_elements} elements, to decode
{
    for (uint i = get_global_id(0); i < tiles; i += get_global_size(0)) {
        @{vec} v[@{runs}];
        decode(@{weights}@{block_of_i}, @{tile_of_i}, v);
        write_tile_@{type}(v, @{block_of_i}, @{tile_of_i}, dst);
    }
}
@end
