struct @{name}_push {
    uint rows;
    uint row_blocks;  // of @{block_elements} elements
    uint tokens;
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
    for (uint token = thread_index; token < push.tokens; token += threads) {
        const uint row = indices[token];
        if (row >= push.rows) {
            atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
            continue;
        }
        device const @{src_type} *x = src + ulong(token) * push.row_blocks * @{block_elements}u;
@include encode_row.metal
    }
}
