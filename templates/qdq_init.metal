struct @{name}_push {
    uint groups;
    uint quads;  // of four elements, in a group: at most 1024
    uint lanes;  // threads that share a group: a power of two that divides the threadgroup
    uint bins;
};

[[max_total_threads_per_threadgroup(@{workgroup})]]
kernel void @{name}(
    device const float4 *w [[buffer(@{binding_w})]],
    device float *scales [[buffer(@{binding_scales})]],
    device float *biases [[buffer(@{binding_biases})]],
    device uchar4 *q [[buffer(@{binding_q})]],
    constant @{name}_push &push [[buffer(@{binding_push})]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint workgroup [[threadgroup_position_in_grid]],
    uint workgroups [[threadgroups_per_grid]])
{
    using namespace qk_@{set};
    threadgroup int2 partial[@{workgroup}];
    const uint lanes = push.lanes, lane = thread_index % lanes, at_once = threads / lanes;
    for (uint first = workgroup * at_once; first < push.groups; first += workgroups * at_once) {
        const uint group = first + thread_index / lanes, base = group * push.quads;
        const uint end = group < push.groups ? push.quads : 0;
        uint4 v[@{held}];
        int2 range = no_range;
        for (uint i = 0; i < @{held}; ++i) {
            v[i] = uint4(0);
            if (lane + i * lanes < end) v[i] = as_type<uint4>(w[base + lane + i * lanes]);
        }
        for (uint i = 0; i < @{held}; ++i)
            if (lane + i * lanes < end) range = join(range, range_of(keys(v[i])));
        const bool all_numbers = range.x >= key_of_minus_infinity && range.y <= key_of_infinity;
        if (!all_numbers) {
            range = no_range;
            for (uint at = lane; at < end; at += lanes)
                range = join(range, range_of_numbers(keys(as_type<uint4>(w[base + at]))));
        }
        range = range_of_group(range, partial, thread_index, lane, lanes);

        const bool empty = range.x > range.y;  // no number at all
        const uint bias = empty ? 0x7FC00000u : as_type<uint4>(keys(as_type<uint4>(int4(range.x)))).x;
        const float least = as_type<float>(bias);
        const float largest = as_type<float>(as_type<uint4>(keys(as_type<uint4>(int4(range.y)))).x);
        const uint bits = as_type<uint>(largest - least), steps = as_type<uint>(float(push.bins - 1));
        uint scale = empty || int(bits) <= 0 ? 0 : qk_exact_quotient(bits, steps);
        if (scale == 0 || scale > 0x7F800000u) scale = 0x3F800000u;  // 1
        if (lane == 0 && end != 0) {
            scales[group] = as_type<float>(scale);
            biases[group] = as_type<float>(bias);
        }

        // A quotient that is 2^-21 off, or less, tells its code, unless it is nearly halfway between two.
        const bool usual = scale > 0x0D800000u && scale < 0x71800000u && all_numbers;  // 2^-100 and 2^100
        const float inverse = 1.0f / as_type<float>(usual ? scale : 0x3F800000u);
        const float sure = usual ? 0.5f - float(push.bins) * (1.0f / 1048576.0f) : -1.0f;
        uint unsure = 0;
        for (uint i = 0; i < @{held}; ++i) {
            const uint at = lane + i * lanes;
            if (at < end) {
                const float4 quotient = (as_type<float4>(v[i]) - least) * inverse;
                const float4 shifted = quotient + 8388608.0f;  // rounds to an integer, in the low bits
                const float4 off = abs(quotient - (shifted - 8388608.0f));
                if (all(off < sure))
                    q[base + at] = uchar4(as_type<uint4>(shifted) & 0xFFu);
                else
                    unsure |= 1u << i;
            }
        }
        for (; unsure != 0; unsure &= unsure - 1) {
            const uint at = base + lane + ctz(unsure) * lanes;
            const float4 n = w[at] - least;
            uchar4 codes;
            for (uint i = 0; i < 4; ++i) codes[i] = uchar(exact_code(n[i], scale, push.bins));
            q[at] = codes;
        }
    }
}
