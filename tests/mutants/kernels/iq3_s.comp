#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require

// iq3_s: 256 elements in 110 bytes: d, 64 bytes of indices, 8 of their ninth bits, 32 of signs, 4 of scales.

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Weights { uint8_t w[]; };
layout(binding = 1) writeonly buffer Values { float y[]; };
layout(push_constant) uniform Sizes { uint elements; };

// Four bytes of the codebook in a word. In a constant array, which some write, the CPU's driver compiles it for a minute.
layout(binding = 2) readonly buffer Grid { uint grid[]; };

uint byte(uint at) { return uint(w[at]); }

float half_at(uint at) { return unpackHalf2x16(byte(at) | byte(at + 1) << 8).x; }

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= elements) return;
    const uint at = i / 256 * 110, e = i % 256, g = e / 32;
    const uint ninth = byte(at + 66 + e / 32) >> (e / 4 % 8) & 1;
    const uint entry = grid[byte(at + 2 + e / 4) | ninth << 8] >> 8 * (e % 4) & 255;
#ifdef IQ3S_SCALE_INDEX
    const uint scale = byte(at + 106 + g % 4) >> 4 * (g % 2) & 15; // one byte for each group, where two share one
#else
    const uint scale = byte(at + 106 + g / 2) >> 4 * (g % 2) & 15;
#endif
    const float sign = (byte(at + 74 + e / 8) >> (e % 8) & 1) == 0 ? 1.0 : -1.0;
    y[i] = half_at(at) * float(1 + 2 * scale) * float(entry) * sign;
}
