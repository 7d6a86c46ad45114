constant uint @{name}_batch [[function_constant(@{id.batch})]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint @{name}_views [[function_constant(@{id.views})]];    // 1: x, y and weights lie as the push constants say
constant uint @{name}_y_type [[function_constant(@{id.y_type})]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void @{name}(
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
    threadgroup float partial[32 * 16];  // at most 32 simdgroups, and 16 sums of each
@if tables_of_two
@{tables_of_two}
@end
    const @{space}::results to = {@{results_passed}, push.epilogue, @{name}_y_type};
    const @{space}::standing at =
        @{space}::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups, @{name}_views, 0, 0, 0, 0});
@if large
    if (@{name}_batch < 8 && push.row_tiles % @{large} == 0) {  // rows that are whole larger tiles, and x that is not too much
@if make_two
        // What both codes of a byte stand for.
        for (uint codes = thread_index; codes < 256; codes += threads) {
            @{make_two}
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
@end
        switch (@{name}_batch) {
            case 1: @{space}::sum_large_rows<1>(@{weights}, @{two_passed}x, to, push, partial, at); break;
            case 2: @{space}::sum_large_rows<2>(@{weights}, @{two_passed}x, to, push, partial, at); break;
            case 4: @{space}::sum_large_rows<4>(@{weights}, @{two_passed}x, to, push, partial, at); break;
        }
        return;
    }
@end
    switch (@{name}_batch) {
        case 1: @{space}::sum_rows<1, 4>(@{weights}, x, to, push, partial, at); break;
        case 2: @{space}::sum_rows<2, 4>(@{weights}, x, to, push, partial, at); break;
        case 4: @{space}::sum_rows<4, 4>(@{weights}, x, to, push, partial, at); break;
        case 8: @{space}::sum_rows<8, 2>(@{weights}, x, to, push, partial, at); break;
    }
}
