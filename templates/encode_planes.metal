struct @{name}_push {
    uint groups;  // of @{group} elements
    uint blocks;  // of @{planes} groups, to make
};

kernel void @{name}(
@{written_buffers}
    device const @{src_type} *src [[buffer(@{binding_src})]],
    constant @{name}_push &push [[buffer(@{binding_push})]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.blocks; i += threads)
@if many_planes
        qk_@{format}::qk_encode(i, push.blocks, push.groups, src, @{weights});
@else
        qk_@{format}::qk_encode(i, src, @{weights});
@end
}
