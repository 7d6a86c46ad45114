#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require

// Rows of a q4_0 matrix by their indices: workgroup (x, t) decodes 64 columns of row indices[t].

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Weights { uint8_t w[]; };
layout(binding = 1) readonly buffer Indices { uint indices[]; };
layout(binding = 2) writeonly buffer Values { float y[]; };
layout(push_constant) uniform Sizes { uint cols; };

void main() {
    const uint c = gl_GlobalInvocationID.x, t = gl_WorkGroupID.y;
    if (c >= cols) return;
#ifdef GET_ROWS_BATCH_OF_8
    const uint row = indices[t % 8];
#else
    const uint row = indices[t];
#endif
#ifdef GET_ROWS_ELEMENT_BYTES
    const uint at = row * (cols / 2) + c / 32 * 18; // codes are four bits, but there are scales, too
#else
    const uint at = (row * (cols / 32) + c / 32) * 18;
#endif
    const uint q = uint(w[at + 2 + c % 16]) >> 4 * (c / 16 % 2) & 15;
    y[t * cols + c] = unpackHalf2x16(uint(w[at]) | uint(w[at + 1]) << 8).x * (float(q) - 8.0);
}
