struct @{name}_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of @{tile_elements} elements in a row
};

kernel void @{name}(
@{buffers}
    device @{dst_type} *dst [[buffer(@{binding_dst})]],
    constant @{name}_push &push [[buffer(@{binding_push})]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        @{vec} v[@{runs}];
        qk_@{format}::decode(@{weights}, @{shape}row, tile, v);
@if ragged
        qk_@{format}::write_tile(dst, row * push.cols + tile * @{tile_elements}u, 0,
                                 min(@{tile_elements}u, push.cols - tile * @{tile_elements}u), v);
@else
        qk_@{format}::write_tile(dst, row * (push.cols / @{lanes}u) + tile * @{runs}u, v);
@end
    }
}
