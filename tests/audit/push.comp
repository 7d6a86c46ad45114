#version 450
// Reads the fourth word of its push constants. A host that declares 12 bytes gives it nothing there.
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform P { uint n; uint from; uint to; float scale; } p;
void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < p.n) y[p.to + i] = p.scale * x[p.from + i];
}
