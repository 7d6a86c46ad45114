#version 450
#extension GL_EXT_shader_8bit_storage : require

// NF4: the even element in the high nibble, a scale for 64 elements of the flat tensor, whose end may cut a block off. The
// sixteen values are a buffer of their own.

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Codes { uint8_t codes[]; };
layout(binding = 1) readonly buffer Scales { float scales[]; };
layout(binding = 2) writeonly buffer Values { float y[]; };
layout(binding = 3) readonly buffer Table { float table[]; };
layout(push_constant) uniform Sizes { uint rows, cols; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= rows * cols) return;
#ifdef NF4_LOW_NIBBLE_FIRST
    const uint q = uint(codes[i / 2u]) >> 4u * (i % 2u) & 15u;
#else
    const uint q = uint(codes[i / 2u]) >> 4u * (1u - i % 2u) & 15u;
#endif
#ifdef NF4_BLOCKS_OF_ROWS
    const float s = scales[i / cols * ((cols + 63u) / 64u) + i % cols / 64u];
#else
    const float s = scales[i / 64u];
#endif
    y[i] = table[q] * s;
}
