// Rows of a table, as ggml launches them: threadgroups of up to a row, several for a long one.
[[host_name("kernel_get_rows_@{format}")]] kernel void @{name}(
@{bound_buffers}
    constant ggml_metal_kargs_get_rows &args [[buffer(0)]],
    device const char *src1 [[buffer(2)]],
    device char *dst [[buffer(3)]],
    uint3 group [[threadgroup_position_in_grid]],
    ushort thread_index [[thread_index_in_threadgroup]],
    ushort3 threads [[threads_per_threadgroup]])
{
    const uint tokens = args.ne10, i10 = group.x % tokens, part = group.x / tokens, row_tiles = args.ne00 / @{tile_elements};
    const uint parts = (uint(args.ne00t) + threads.x - 1) / threads.x;
    const int row = *(device const int *)(src1 + group.z * args.nb12 + group.y * args.nb11 + i10 * args.nb10);
    const ulong from = group.z * args.nb03 + group.y * args.nb02 + row * args.nb01;
    device @{dst_type} *to = (device @{dst_type} *)(dst + group.z * args.nb3 + group.y * args.nb2 + i10 * args.nb1);
    for (uint i = part * threads.x + thread_index; i < row_tiles; i += parts * threads.x) {
        @{vec} v[@{runs}];
        qk_@{format}::decode(@{weights} + from / sizeof(*@{weights}), @{block_of_i}, @{tile_of_i}, v);
        qk_@{format}::write_tile(to, @{block_of_i}, @{tile_of_i}, v);
    }
}
