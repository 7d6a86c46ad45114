constant uint @{name}_kept [[function_constant(@{id.kept})]];  // wide tiles of x that a thread keeps: 1, 2 or 4
constant uint @{name}_views [[function_constant(@{id.views})]];    // 1: x, y and weights lie as the push constants say
constant uint @{name}_y_type [[function_constant(@{id.y_type})]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

[[kernel, max_total_threads_per_threadgroup(@{threads})]] void @{name}(
@{bound_buffers}
    device const @{x_type} *x [[buffer(@{binding_x})]],
@{result_parameters}
    constant @{space}::sum_shape &push [[buffer(@{binding_push})]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]])
{
    threadgroup float partial[2 * @{simdgroups} * 128];  // twice the sums of each simdgroup, for 16 rows and 8 right-hand sides
    const @{space}::results to = {@{results_passed}, push.epilogue, @{name}_y_type};
    const @{space}::standing at =
        @{space}::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups, @{name}_views, 0, 0, 0, 0});
    switch (@{name}_kept) {
        case 1: @{space}::multiply_rows<1>(@{weights}, x, to, push, partial, at); break;
        case 2: @{space}::multiply_rows<2>(@{weights}, x, to, push, partial, at); break;
        case 4: @{space}::multiply_rows<4>(@{weights}, x, to, push, partial, at); break;
    }
}
