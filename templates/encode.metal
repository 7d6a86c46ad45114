struct @{name}_push {
    uint tiles;  // blocks of @{block_elements} elements, to make
};

kernel void @{name}(
@{written_buffers}
    device const @{src_type} *src [[buffer(@{binding_src})]],
    constant @{name}_push &push [[buffer(@{binding_push})]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) qk_@{format}::qk_encode(i, src + i * @{block_elements}u, @{weights});
}
