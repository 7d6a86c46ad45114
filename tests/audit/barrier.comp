#version 450
// Half of the threads leave before the barrier that all must come to.
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
shared float part[64];
void main() {
    const uint lane = gl_LocalInvocationID.x;
    part[lane] = x[gl_GlobalInvocationID.x];
    if (lane >= 32) return;
    barrier();
    y[gl_WorkGroupID.x * 32 + lane] = part[lane] + part[lane + 32];
}
