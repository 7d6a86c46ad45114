struct @{name}_push {
    uint rows;
    uint row_blocks;  // of @{block_elements} elements
};

kernel void @{name}(
@{written_buffers}
    device const @{src_type} *src [[buffer(@{binding_src})]],
    constant @{name}_push &push [[buffer(@{binding_push})]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint row = thread_index; row < push.rows; row += threads) {
        device const @{src_type} *x = src + ulong(row) * push.row_blocks * @{block_elements}u;
@include encode_row.metal
    }
}
