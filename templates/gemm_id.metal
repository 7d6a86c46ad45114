@include experts_push.metal

constant uint @{name}_schedule [[function_constant(@{id.schedule})]];    // what is done: see the switch below
constant uint @{name}_tile_cols [[function_constant(@{id.tile_cols})]];  // columns of a tile: 32, or 64
constant uint @{name}_k_parts [[function_constant(@{id.k_parts})]];      // parts of a row, each multiplied by another threadgroup
constant uint @{name}_views [[function_constant(@{id.views})]];
constant uint @{name}_y_type [[function_constant(@{id.y_type})]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void @{name}(
@{bound_buffers}
    device const @{x_type} *x [[buffer(@{binding_x})]],
    device const uint *ids [[buffer(@{binding_ids})]],
    device atomic_uint *status [[buffer(@{binding_status})]],
    device uint *scratch [[buffer(@{binding_scratch})]],
@{result_parameters}
    constant @{name}_push &push [[buffer(@{binding_push})]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]])
{
    // Behind weights, what columns are, and x of two parts.
    threadgroup uint4 memory[@{tiles}::WEIGHTS + @{tiles}::UNITS + 32 + 2 * @{tiles}::PART * 64];
    const @{tiles}::shared_memory shared = {memory, simdgroup * 32 + lane, lane, simdgroup};
    const @{space}::results to = {@{results_passed}, push.epilogue, @{name}_y_type};
    const bool views = @{name}_views != 0;
    switch (@{name}_schedule) {
        case @{schedule.pack}: @{tiles}::pack(x, scratch, push, views, group, groups, shared); break;
        case @{schedule.count}: @{tiles}::count_pairs(ids, scratch, push, views, group, groups, shared); break;
        case @{schedule.offsets}: @{tiles}::find_tiles(scratch, status, push, @{name}_tile_cols, group, shared); break;
        case @{schedule.scatter}: @{tiles}::scatter_pairs(ids, scratch, push, views, group, groups, shared); break;
        case @{schedule.add_parts}: @{tiles}::add_parts(ids, scratch, to, push, views, @{name}_k_parts, group, groups, shared); break;
        default:
            if (@{name}_tile_cols == 64)
                @{tiles}::make_tiles<4>(@{weights}, scratch, to, push, views, @{name}_k_parts, group, groups, shared);
            else
                @{tiles}::make_tiles<2>(@{weights}, scratch, to, push, views, @{name}_k_parts, group, groups, shared);
    }
}
