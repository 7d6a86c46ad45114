struct @{name}_push {
    uint groups;
    uint quads;  // of four elements, in a group: at most 1024
    uint lanes;  // threads that share a group: a power of two that divides the threadgroup
};

[[max_total_threads_per_threadgroup(@{workgroup})]]
kernel void @{name}(
    device const uchar4 *q [[buffer(@{binding_q})]],
    device const float4 *dy [[buffer(@{binding_dy})]],
    device float *d_scales [[buffer(@{binding_d_scales})]],
    constant @{name}_push &push [[buffer(@{binding_push})]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint workgroup [[threadgroup_position_in_grid]],
    uint workgroups [[threadgroups_per_grid]])
{
    threadgroup float partial[@{workgroup}];
    const uint lanes = push.lanes, lane = thread_index % lanes, at_once = threads / lanes;
    for (uint first = workgroup * at_once; first < push.groups; first += workgroups * at_once) {
        const uint group = first + thread_index / lanes, base = group * push.quads;
        const uint end = group < push.groups ? push.quads : 0;
        float4 term[@{held}];
        for (uint i = 0; i < @{held}; ++i) {
            const uint at = lane + i * lanes;
            term[i] = float4(0.0f);
            if (at < end) term[i] = float4(q[base + at]) * dy[base + at];
        }
        float4 sums = term[0];
        for (uint i = 1; i < @{held}; ++i) sums += term[i];
        const float mine = (sums.x + sums.y) + (sums.z + sums.w);
        const float sum = qk_@{set}::sum_of_group(mine, partial, thread_index, lane, lanes);
        if (lane == 0 && end != 0) d_scales[group] = sum;
    }
}
