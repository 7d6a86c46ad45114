@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = @{id.local_size_x}) in;

layout(binding = @{binding_q}, std430) restrict readonly buffer Q { uint q[]; };  // four codes each
layout(binding = @{binding_scales}, std430) restrict readonly buffer Scales { float scales[]; };
layout(binding = @{binding_biases}, std430) restrict readonly buffer Biases { float biases[]; };
layout(binding = @{binding_y}, std430) restrict writeonly buffer Y { vec4 y[]; };

layout(push_constant) uniform Push {
    uint all_quads;  // of four elements
    uint quads;      // of a group
};

@{prelude}

void main() {
    const uint threads = gl_WorkGroupSize.x;
    for (uint first = gl_WorkGroupID.x * 4u * threads; first < all_quads; first += gl_NumWorkGroups.x * 4u * threads) {
        uint codes[4];
        vec2 pair[4];
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            const uint at = first + i * threads + gl_LocalInvocationID.x;
            codes[i] = 0u;
            pair[i] = vec2(0.0);
            if (at < all_quads) {
                codes[i] = q[at];
                pair[i] = vec2(scales[at / quads], biases[at / quads]);
            }
        }
        [[unroll]] for (uint i = 0u; i < 4u; ++i) {
            const uint at = first + i * threads + gl_LocalInvocationID.x;
            precise vec4 product = numbers(codes[i]) * pair[i].x;
            precise vec4 value = product + pair[i].y;
            if (at < all_quads) y[at] = value;
        }
    }
}
