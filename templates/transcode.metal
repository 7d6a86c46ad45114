struct @{name}_push {
    uint tiles;  // of @{unit} elements, to make
};

kernel void @{name}(
@{buffers}
@{written_buffers}
    constant @{name}_push &push [[buffer(@{binding_push})]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 fours[@{unit_fours}];  // the values of so many elements: a thread decodes and encodes them
        thread float *qk_kept = (thread float *)fours;
        for (uint j = 0; j < @{unit_tiles}; ++j) {
            @{vec} v[@{runs}];
            qk_@{format}::decode(@{weights}, @{block_of_j}, @{tile_of_j}, v);
            qk_@{format}::qk_keep_tile(qk_kept, @{first_of_j}, @{tile_of_j}, v);
        }
        for (uint j = 0; j < @{to_blocks}; ++j)
            qk_@{format}::to_@{to}::qk_encode_kept(i * @{to_blocks} + j, qk_kept + j * @{to_elements}, @{to_weights});
    }
}
