// The same with experts that ids name: `group.z` is a slot of a token.
[[host_name("kernel_mul_mv_id_@{format}_f32")]] kernel void @{name}(
@{bound_buffers}
    constant ggml_metal_kargs_mul_mv_id &args [[buffer(0)]],
    device const char *src1 [[buffer(2)]],
    device char *dst [[buffer(3)]],
    device const char *ids [[buffer(4)]],
    uint3 group [[threadgroup_position_in_grid]],
    ushort lane [[thread_index_in_simdgroup]],
    ushort simdgroup [[simdgroup_index_in_threadgroup]],
    ushort simdgroups [[simdgroups_per_threadgroup]])
{
    constexpr uint ROWS = QKGEN_ROWS, TILES = 1;
    constexpr bool SHARED = QKGEN_SHARED;
    threadgroup float partial[8 * ROWS];
    const uint token = group.z / uint(args.nei0), slot = group.z % uint(args.nei0), rows = args.ne01;
    const uint row_tiles = args.ne00 / @{tile_elements};
    const uint first = (SHARED ? group.x : group.x * simdgroups + simdgroup) * ROWS;
    const ulong matrix = uint(((device const int *)(ids + token * args.nbi1))[slot]) * args.nb02;
    device const packed_float4 *x = (device const packed_float4 *)(src1 + slot % uint(args.ne11) * args.nb11 + token * args.nb12);
    @{x_kept}
    float sum[ROWS][1] = {};
    for (uint j = (SHARED ? simdgroup * 32 : 0) + lane; j < row_tiles; j += SHARED ? simdgroups * 32 : 32) {
        @{space}::load_x<TILES, 1>(x, 1, row_tiles, 0, j, 0, @{x_passed});
        for (uint r = 0; r < ROWS; ++r) {
            const ulong row = matrix + min(first + r, rows - 1) * args.nb01;
            @{space}::accumulate<TILES, 1>(@{weights} + row / sizeof(*@{weights}), row_tiles, 0, j, 0, @{x_passed}, sum[r]);
        }
    }
    device float *y = (device float *)dst + (ulong(token) * uint(args.ne1) + slot) * uint(args.ne0);
    for (uint r = 0; r < ROWS; ++r) {
        const float all = simd_sum(sum[r][0]);
        if (SHARED && lane == 0) partial[simdgroup * ROWS + r] = all;
        if (!SHARED && lane == 0 && first + r < rows) y[first + r] = all;
    }
    if (!SHARED) return;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup == 0 && lane < ROWS && first + lane < rows) {
        float all = 0.0f;
        for (uint s = 0; s < simdgroups; ++s) all += partial[s * ROWS + lane];
        y[first + lane] = all;
    }
}
