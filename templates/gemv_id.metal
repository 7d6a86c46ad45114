@include experts_push.metal

constant uint @{name}_views [[function_constant(@{id.views})]];
constant uint @{name}_y_type [[function_constant(@{id.y_type})]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void @{name}(
@{bound_buffers}
    device const @{x_type} *x [[buffer(@{binding_x})]],
    device const uint *ids [[buffer(@{binding_ids})]],
@{result_parameters}
    device atomic_uint *status [[buffer(@{binding_status})]],
    constant @{name}_push &push [[buffer(@{binding_push})]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]])
{
    constexpr uint ROWS = 4, TILES = @{x_tiles};  // rows at a time; tiles of x that a thread keeps
    threadgroup float partial[32 * ROWS];
    @{space}::results to = {@{results_passed}, push.epilogue, @{name}_y_type};
    const bool views = @{name}_views != 0;
    const uint row_runs = push.row_tiles * @{runs}, expert_rows = views ? push.weights_inner : push.rows;
    @{x_kept}
    // A simdgroup holds a slice of x and walks down the rows. While there are slices for more, simdgroups share a row.
    const uint slice = lanes * TILES, slices = (push.row_tiles + slice - 1) / slice;
    uint split = 1;
    while (split < slices && simdgroups % (2 * split) == 0) split *= 2;
    const uint teams = simdgroups / split, team = simdgroup / split;
    const uint parts = (push.rows + teams * ROWS - 1) / (teams * ROWS);
    const uint pairs = push.batch * push.slots, works = (views ? push.sets : 1) * pairs * parts;  // of all sets
    uint held = ~0u, held_vector = ~0u;
    for (uint work = group; work < works; work += groups) {
        const uint before = views ? work / parts / pairs : 0, set = views ? push.set_first + before : 0;
        const uint weights_begin = views ? push.weights_first + before * push.weights_outer : 0;
        const uint pair = work / parts - before * pairs, first = work % parts * teams * ROWS;
        const uint token = pair / push.slots, slot = pair % push.slots;
        const uint expert = ids[views ? push.ids_skip + token * push.ids_inner + slot : pair];
        const uint vector = push.x_slots == 1 ? token : pair;
        const uint x_place = push.x_first + token * push.x_inner + (push.x_slots == 1 ? 0 : slot) * push.x_stride;
        const uint x_begin = views ? x_place / @{lanes} : vector * row_runs;
        const bool found = expert < push.experts;
        if (found ? expert < push.expert_first || expert >= push.expert_end : push.expert_first != 0) continue;  // another launch's
        // An expert that is not there has zeros.
        to.epilogue = found ? push.epilogue : push.epilogue & (@{space}::ADDS_TO_Y | @{space}::ADDS_RESIDUAL);
        float sum[ROWS][1] = {};
@if stacked
        const uint matrix = found ? expert - push.expert_first + weights_begin / push.rows : 0;
        @{expert_begin}
@end
        if (!found && first == 0 && thread_index == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);  // zeros
        for (uint c = simdgroup % split; found && c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * lanes + lane;
                if (j >= push.row_tiles) continue;
                if (c != held || vector != held_vector)
                    @{space}::load_x<TILES, 1>(x + x_begin, 1, row_runs, 0, j, k, @{x_passed});
                for (uint r = 0; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, push.rows - 1);
@if stacked
                    @{space}::accumulate<TILES, 1>(@{expert_weights}, @{shape}push.row_tiles, row, j, k, @{x_passed}, sum[r]);
@else
                    const uint n = weights_begin + (expert - push.expert_first) * expert_rows + row;
                    @{space}::accumulate<TILES, 1>(@{expert_weights}, @{shape}push.row_tiles, n, j, k, @{x_passed}, sum[r]);
@end
                }
            }
            held = c;
            held_vector = vector;
        }
        for (uint r = 0; r < ROWS; ++r) {
            const float all = simd_sum(sum[r][0]);
            if (lane == 0) partial[simdgroup * ROWS + r] = all;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = thread_index; i < teams * ROWS; i += threads) {
            const uint at = i / ROWS * (split - 1) * ROWS + i;
            float total = 0.0f;
            for (uint s = 0; s < split; ++s) total += partial[at + s * ROWS];
            if (first + i >= push.rows) continue;
            const uint y_set = set * push.y_outer, e = set * push.experts + expert;
            const uint y_at = (views ? y_set + token * push.y_inner + slot * push.y_stride : pair * push.rows) + first + i;
            const @{space}::place_of_result to_row = {y_at, e * push.rows + first + i, set * pairs + pair, e, views ? push.y_skip : 0};
            @{space}::finish(to, to_row, total);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}
