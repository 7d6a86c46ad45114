struct @{name}_push {
@include rows_push.fields
};

kernel void @{name}(
@{written_buffers}
    device const uint *indices [[buffer(@{binding_indices})]],
    device const @{src_type} *src [[buffer(@{binding_src})]],
    device atomic_uint *status [[buffer(@{binding_status})]],
    constant @{name}_push &push [[buffer(@{binding_push})]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint token = i / push.row_tiles, tile = i % push.row_tiles;
@include rows_view.metal
        // A row that there is not is counted once, and a row of another launch is left alone.
        if (row == NO_ROW && push.row_first == 0 && tile == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        if (row < push.row_first || row >= push.row_end) continue;
        const uint block = push.table_first + (row - push.row_first) * push.row_tiles + tile;
        qk_@{format}::qk_encode(block, src + (values + tile) * @{block_elements}u, @{weights});
    }
}
