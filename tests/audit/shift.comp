#version 450
// A field of six bits that lies in one byte is put together as if it lay in two words.
layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer X { uint x[]; };
layout(binding = 1) writeonly buffer Y { uint y[]; };
void main() {
    const uint i = gl_GlobalInvocationID.x, by = gl_LocalInvocationID.x;
    y[i] = x[2u * i] >> by | x[2u * i + 1u] << (32u - by);
}
