@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = @{id.local_size_x}) in;

layout(binding = @{binding_dy}, std430) restrict readonly buffer Dy { vec4 dy[]; };
layout(binding = @{binding_d_biases}, std430) restrict writeonly buffer Sums { float d_biases[]; };

layout(push_constant) uniform Push {
    uint groups;
    uint quads;  // of four elements, in a group: at most 1024
    uint lanes;  // threads that share a group: a power of two that divides the workgroup
};

@{prelude}

// Quads that a thread adds up at most.
const uint held = gl_WorkGroupSize.x < 256u ? 1024u / gl_WorkGroupSize.x : 4u;

void main() {
    const uint thread = gl_LocalInvocationID.x, lane = thread % lanes, at_once = gl_WorkGroupSize.x / lanes;
    for (uint first = gl_WorkGroupID.x * at_once; first < groups; first += gl_NumWorkGroups.x * at_once) {
        const uint group = first + thread / lanes, base = group * quads, end = group < groups ? quads : 0u;
        precise vec4 term[held];
        [[unroll]] for (uint i = 0u; i < held; ++i) {
            const uint at = lane + i * lanes;
            term[i] = vec4(0.0);
            if (at < end) term[i] = dy[base + at];
        }
        precise vec4 sums = term[0];
        [[unroll]] for (uint i = 1u; i < held; ++i) sums += term[i];
        precise float sum = (sums.x + sums.y) + (sums.z + sums.w);
        sum = sum_of_group(sum, thread, lane);
        if (lane == 0u && end != 0u) d_biases[group] = sum;
    }
}
