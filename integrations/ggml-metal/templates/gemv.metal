// Products of a matrix with vectors of f32, as ggml launches them: a threadgroup has rows of `group.x`, a simdgroup QKGEN_ROWS of them, but
// for a type whose simdgroups share them.
[[host_name("kernel_mul_mv_@{format}_f32")]] kernel void @{name}(
@{bound_buffers}
    constant ggml_metal_kargs_mul_mv &args [[buffer(0)]],
    device const char *src1 [[buffer(2)]],
    device char *dst [[buffer(3)]],
    uint3 group [[threadgroup_position_in_grid]],
    ushort lane [[thread_index_in_simdgroup]],
    ushort simdgroup [[simdgroup_index_in_threadgroup]],
    ushort simdgroups [[simdgroups_per_threadgroup]])
{
    constexpr uint ROWS = QKGEN_ROWS, TILES = 1;
    constexpr bool SHARED = QKGEN_SHARED;
    threadgroup float partial[8 * ROWS];
    const uint i12 = group.z % uint(args.ne12), i13 = group.z / uint(args.ne12), rows = args.ne01;
    const uint row_tiles = args.ne00 / @{tile_elements};
    const uint first = (SHARED ? group.x : group.x * simdgroups + simdgroup) * ROWS;
    const ulong matrix = i12 / uint(args.r2) * args.nb02 + i13 / uint(args.r3) * args.nb03;
    device const packed_float4 *x = (device const packed_float4 *)(src1 + group.y * args.nb11 + i12 * args.nb12 + i13 * args.nb13);
    @{x_kept}
    float sum[ROWS][1] = {};
    for (uint j = (SHARED ? simdgroup * 32 : 0) + lane; j < row_tiles; j += SHARED ? simdgroups * 32 : 32) {
        @{space}::load_x<TILES, 1>(x, 1, row_tiles, 0, j, 0, @{x_passed});
        for (uint r = 0; r < ROWS; ++r) {
            const ulong row = matrix + min(first + r, rows - 1) * args.nb01;
            @{space}::accumulate<TILES, 1>(@{weights} + row / sizeof(*@{weights}), row_tiles, 0, j, 0, @{x_passed}, sum[r]);
        }
    }
    device float *y = (device float *)dst + (ulong(group.z) * uint(args.ne1) + group.y) * uint(args.ne0);
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
