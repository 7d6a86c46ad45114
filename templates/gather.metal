struct @{name}_push {
@include rows_push.fields
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
    for (uint n = thread_index; n < push.tokens * push.row_tiles; n += threads) {
        const uint token = n / push.row_tiles, t = n % push.row_tiles;
@include rows_view.metal
        const uint i = values + t;
        @{vec} v[@{runs}];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = push.table_first + (row - push.row_first) * push.row_tiles + t;
            qk_@{format}::decode(@{weights}, @{block_of_from}, @{tile_of_i}, v);
        } else if (row == NO_ROW && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < @{runs}; ++r) v[r] = 0.0f;
            if (t == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_@{format}::write_tile(dst, @{block_of_i}, @{tile_of_i}, v);
    }
}
