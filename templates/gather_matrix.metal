struct @{name}_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of @{tile_elements} elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void @{name}(
@{buffers}
    device const uint *indices [[buffer(@{binding_indices})]],
    device @{dst_type} *dst [[buffer(@{binding_dst})]],
    device atomic_uint *status [[buffer(@{binding_status})]],
    constant @{name}_push &push [[buffer(@{binding_push})]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint token = i / push.row_tiles, j = i % push.row_tiles;
        uint index = indices[token];
        const bool found = index < push.table_rows;
        if (!found) {
            // No such row: zeros, and the token is counted once.
            if (j == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
            index = 0;
        }
@if sequence
        // The row's elements begin and end within tiles.
        const uint first = index * push.table_cols, row = 0, tile = first / @{tile_elements}u + j;
        const uint start = tile * @{tile_elements}u;
        if (start >= first + push.table_cols) continue;
        const uint from = max(first, start) - start, to = min(first + push.table_cols - start, @{tile_elements}u);
@else
  @if groups
        const uint row = index * (push.table_cols / push.cols) + j / @{row_tiles}u, tile = j % @{row_tiles}u;
  @else
        const uint row = index, tile = j;
  @end
@end
        @{vec} v[@{runs}];
        if (found) {
            qk_@{format}::decode(@{weights}, @{shape}row, tile, v);
        } else {
            for (uint r = 0; r < @{runs}; ++r) v[r] = 0.0f;
        }
@if sequence
        qk_@{format}::write_tile(dst, token * push.table_cols + start - first, from, to, v);
@else
  @if ragged
        qk_@{format}::write_tile(dst, token * push.cols + tile * @{tile_elements}u, 0,
                                 min(@{tile_elements}u, push.cols - tile * @{tile_elements}u), v);
  @else
        qk_@{format}::write_tile(dst, token * (push.table_cols / @{lanes}u) + j * @{runs}u, v);
  @end
@end
    }
}
