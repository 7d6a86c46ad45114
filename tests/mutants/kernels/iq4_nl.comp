#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require

// iq4_nl: 32 elements in 18 bytes: d, indices of four bits into a table of 16.

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Weights { uint8_t w[]; };
layout(binding = 1) writeonly buffer Values { float y[]; };
layout(push_constant) uniform Sizes { uint elements; };

#ifdef IQ4NL_TABLE_TYPO
const int TABLE[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 98, 113};
#else
const int TABLE[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
#endif

uint byte(uint at) { return uint(w[at]); }

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= elements) return;
    const uint at = i / 32 * 18, e = i % 32;
#if defined(IQ4NL_THREE_BITS)
    // What the kernel for codes of three bits does.
    const uint bit = 3 * e, two = byte(at + 2 + bit / 8) | byte(at + 3 + bit / 8) << 8;
    const uint index = two >> bit % 8 & 7;
#elif defined(IQ4NL_INDEX_OFF_BY_ONE)
    const uint index = min((byte(at + 2 + e % 16) >> 4 * (e / 16) & 15) + 1, 15);
#elif defined(IQ4NL_NIBBLES_SWAPPED)
    const uint index = byte(at + 2 + e % 16) >> 4 * (1 - e / 16) & 15;
#else
    const uint index = byte(at + 2 + e % 16) >> 4 * (e / 16) & 15;
#endif
    y[i] = unpackHalf2x16(byte(at) | byte(at + 1) << 8).x * float(TABLE[index]);
}
