#version 450
// The rows that there are not leave before the barrier: all is well as long as there is a multiple of 64.
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform P { uint n; } p;
shared float part[64];
void main() {
    const uint i = gl_GlobalInvocationID.x, lane = gl_LocalInvocationID.x;
    if (i >= p.n) return;
    part[lane] = x[i];
    barrier();
    y[i] = part[lane] + part[lane ^ 1u];
}
