#version 450
// What the others get wrong, and right here: no finding.
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) writeonly buffer Y { uint y[]; };
layout(push_constant) uniform P { uint n; } p;
shared uint part[64];
void main() {
    const uint i = gl_GlobalInvocationID.x, lane = gl_LocalInvocationID.x;
    part[lane] = i < p.n ? x[i] : 0u;
    barrier();
    for (uint step = 32u; step > 0u; step /= 2u) {
        if (lane < step) part[lane] += part[lane + step];
        barrier();
    }
    if (lane == 0u) y[gl_WorkGroupID.x] = part[0] << (gl_WorkGroupID.x & 31u);
}
