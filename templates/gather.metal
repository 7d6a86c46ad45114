struct @{name}_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of @{tile_elements} elements in a row
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
        const uint row = indices[i / push.row_tiles];
        @{vec} v[@{runs}];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_@{format}::decode(@{weights}, @{block_of_from}, @{tile_of_i}, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < @{runs}; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_@{format}::write_tile(dst, @{block_of_i}, @{tile_of_i}, v);
    }
}
