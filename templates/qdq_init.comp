@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = @{id.local_size_x}) in;

layout(binding = @{binding_w}, std430) restrict readonly buffer W { uvec4 w[]; };  // bits of f32
layout(binding = @{binding_scales}, std430) restrict writeonly buffer Scales { uint scales[]; };  // likewise
layout(binding = @{binding_biases}, std430) restrict writeonly buffer Biases { uint biases[]; };
layout(binding = @{binding_q}, std430) restrict writeonly buffer Q { uint q[]; };  // four codes each

layout(push_constant) uniform Push {
    uint groups;
    uint quads;  // of four elements, in a group: at most 1024
    uint lanes;  // threads that share a group: a power of two that divides the workgroup
    uint bins;
};

@{prelude}

// Quads that a thread holds at most.
const uint held = gl_WorkGroupSize.x < 256u ? 1024u / gl_WorkGroupSize.x : 4u;

// The codes of all groups in hand: they leave side by side, for to write a part of a sector of memory takes as long as all of it.
shared uint codes[gl_WorkGroupSize.x * held];

void main() {
    const uint thread = gl_LocalInvocationID.x, lane = thread % lanes, at_once = gl_WorkGroupSize.x / lanes;
    for (uint first = gl_WorkGroupID.x * at_once; first < groups; first += gl_NumWorkGroups.x * at_once) {
        const uint group = first + thread / lanes, base = group * quads, end = group < groups ? quads : 0u;
        uvec4 v[held];
        ivec2 range = no_range;
        [[unroll]] for (uint i = 0u; i < held; ++i) {
            v[i] = uvec4(0u);
            if (lane + i * lanes < end) v[i] = w[base + lane + i * lanes];
        }
        [[unroll]] for (uint i = 0u; i < held; ++i)
            if (lane + i * lanes < end) range = join(range, range_of(keys(v[i])));
        const bool all_numbers = range.x >= key_of_minus_infinity && range.y <= key_of_infinity;
        if (!all_numbers) {
            range = no_range;
            for (uint at = lane; at < end; at += lanes) range = join(range, range_of_numbers(keys(w[base + at])));
        }
        range = range_of_group(range, thread, lane);

        const bool empty = range.x > range.y;  // no number at all
        const uint bias = empty ? 0x7FC00000u : uint(keys(uvec4(range.x)).x);
        const float least = uintBitsToFloat(bias), largest = uintBitsToFloat(uint(keys(uvec4(range.y)).x));
        precise float extent = largest - least;
        const uint bits = floatBitsToUint(extent), steps = floatBitsToUint(float(bins - 1u));
        uint scale = empty || int(bits) <= 0 ? 0u : qk_exact_quotient(bits, steps);
        if (scale == 0u || scale > 0x7F800000u) scale = 0x3F800000u;  // 1
        if (lane == 0u && end != 0u) {
            scales[group] = scale;
            biases[group] = bias;
        }

        // A quotient that is 2^-21 off, or less, tells its code, unless it is nearly halfway between two.
        const bool usual = scale > 0x0D800000u && scale < 0x71800000u && all_numbers;  // 2^-100 and 2^100
        const float inverse = 1.0 / uintBitsToFloat(usual ? scale : 0x3F800000u);
        const float sure = usual ? 0.5 - float(bins) * (1.0 / 1048576.0) : -1.0;
        const uint place = thread / lanes * quads + lane;
        uint unsure = 0u;
        [[unroll]] for (uint i = 0u; i < held; ++i) {
            const uint at = lane + i * lanes;
            if (at < end) {
                precise vec4 quotient = (uintBitsToFloat(v[i]) - least) * inverse;
                precise vec4 shifted = quotient + 8388608.0;  // rounds to an integer, in the low bits
                precise vec4 off = abs(quotient - (shifted - 8388608.0));
                const uvec4 code = floatBitsToUint(shifted) & 0xFFu;
                if (all(lessThan(off, vec4(sure))))
                    codes[place + i * lanes] = code.x | code.y << 8 | code.z << 16 | code.w << 24;
                else
                    unsure |= 1u << i;
            }
        }
        for (; unsure != 0u; unsure &= unsure - 1u) {
            const uint next = uint(findLSB(unsure)) * lanes;
            const uvec4 four = w[base + lane + next];
            uint code = 0u;
            for (uint i = 0u; i < 4u; ++i) {
                precise float n = uintBitsToFloat(four[i]) - least;
                code |= exact_code(n, scale) << (8u * i);
            }
            codes[place + next] = code;
        }
        barrier();
        const uint all = min(groups - first, at_once) * quads;
        for (uint i = thread; i < all; i += gl_WorkGroupSize.x) q[first * quads + i] = codes[i];
    }
}
