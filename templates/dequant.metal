struct @{name}_push {
    uint tiles;  // of @{tile_elements} elements, to decode
};

kernel void @{name}(
@{buffers}
    device @{dst_type} *dst [[buffer(@{binding_dst})]],
    constant @{name}_push &push [[buffer(@{binding_push})]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        @{vec} v[@{runs}];
        qk_@{format}::decode(@{weights}, @{block_of_i}, @{tile_of_i}, v);
        qk_@{format}::write_tile(dst, @{block_of_i}, @{tile_of_i}, v);
    }
}
