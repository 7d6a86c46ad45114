struct @{name}_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // blocks of @{block_elements} elements in a row
    uint tokens;
};

kernel void @{name}(
@{written_buffers}
    device const uint *indices [[buffer(@{binding_indices})]],
    device const float *src [[buffer(@{binding_src})]],
    device atomic_uint *status [[buffer(@{binding_status})]],
    constant @{name}_push &push [[buffer(@{binding_push})]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles], tile = i % push.row_tiles;
        // A row that there is not is counted once, and a row of another launch is left alone.
        if (row >= push.rows && push.row_first == 0 && tile == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        if (row < push.row_first || row >= push.row_end) continue;
        qk_@{format}::qk_encode((row - push.row_first) * push.row_tiles + tile, src + i * @{block_elements}u, @{weights});
    }
}
