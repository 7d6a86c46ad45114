struct @{name}_push {
    uint all_quads;  // of four elements
    uint quads;      // of a group
};

kernel void @{name}(
    device const uchar4 *q [[buffer(@{binding_q})]],
    device const float *scales [[buffer(@{binding_scales})]],
    device const float *biases [[buffer(@{binding_biases})]],
    device float4 *y [[buffer(@{binding_y})]],
    constant @{name}_push &push [[buffer(@{binding_push})]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint workgroup [[threadgroup_position_in_grid]],
    uint workgroups [[threadgroups_per_grid]])
{
    for (uint first = workgroup * 4 * threads; first < push.all_quads; first += workgroups * 4 * threads) {
        uchar4 codes[4];
        float2 pair[4];
        for (uint i = 0; i < 4; ++i) {
            const uint at = first + i * threads + thread_index;
            codes[i] = uchar4(0);
            pair[i] = float2(0.0f);
            if (at < push.all_quads) {
                codes[i] = q[at];
                pair[i] = float2(scales[at / push.quads], biases[at / push.quads]);
            }
        }
        for (uint i = 0; i < 4; ++i) {
            const uint at = first + i * threads + thread_index;
            const float4 product = float4(codes[i]) * pair[i].x;
            if (at < push.all_quads) y[at] = product + pair[i].y;
        }
    }
}
