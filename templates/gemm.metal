constant uint @{name}_schedule [[function_constant(@{id.schedule})]];    // what is done: see the switch below
constant uint @{name}_tile_cols [[function_constant(@{id.tile_cols})]];  // columns of a tile: 32, or 64
constant uint @{name}_k_parts [[function_constant(@{id.k_parts})]];      // parts of a row, each multiplied by another threadgroup
constant uint @{name}_views [[function_constant(@{id.views})]];    // 1: x, y and weights lie as the push constants say
constant uint @{name}_y_type [[function_constant(@{id.y_type})]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void @{name}(
@{bound_buffers}
    device const @{x_type} *x [[buffer(@{binding_x})]],
    device uint *scratch [[buffer(@{binding_scratch})]],
@{result_parameters}
    constant @{space}::sum_shape &push [[buffer(@{binding_push})]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]])
{
    threadgroup uint4 memory[@{tiles}::WEIGHTS + @{tiles}::UNITS];
    const @{tiles}::shared_memory shared = {memory, simdgroup * 32 + lane, lane, simdgroup};
    const @{space}::results to = {@{results_passed}, push.epilogue, @{name}_y_type};
    const @{space}::standing at =
        @{space}::find_matrix(push, {group, groups, shared.index, @{tiles}::THREADS, lane, 32, simdgroup, 4, @{name}_views, 0, 0, 0, 0});
    // Of the matrices of this launch, the number of this one, and how many there are.
    const uint matrix = at.views == 0 ? 0 : group / push.groups, matrices = at.views == 0 ? 1 : groups / push.groups;
    switch (@{name}_schedule) {
        case @{schedule.pack}: @{tiles}::pack(x, scratch, push, at, matrix, shared); break;
        case @{schedule.add_parts}: @{tiles}::add_parts(scratch, to, push, at, matrix, matrices, @{name}_k_parts, shared); break;
        default:
            if (@{name}_tile_cols == 64)
                @{tiles}::make_tiles<4>(@{weights}, scratch, to, push, at, matrix, matrices, @{name}_k_parts, shared);
            else
                @{tiles}::make_tiles<2>(@{weights}, scratch, to, push, at, matrix, matrices, @{name}_k_parts, shared);
    }
}
