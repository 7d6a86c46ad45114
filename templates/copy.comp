#version 450
// copy: what the device's memory can do: every word read once, and written once.
layout(local_size_x = 256) in;

layout(binding = 0, std430) readonly buffer From { uvec4 words_in[]; };
layout(binding = 1, std430) writeonly buffer To { uvec4 words_out[]; };

layout(push_constant) uniform Push {
    uint count;  // of 16 bytes
};

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += threads) words_out[i] = words_in[i];
}
