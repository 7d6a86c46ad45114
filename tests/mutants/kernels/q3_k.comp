#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require

// q3_K: 256 elements in 110 bytes: 32 bytes of third bits, 64 of low bits, 12 of scales, d.

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Weights { uint8_t w[]; };
layout(binding = 1) writeonly buffer Values { float y[]; };
layout(push_constant) uniform Sizes { uint elements; };

uint byte(uint at) { return uint(w[at]); }

float half_at(uint at) { return unpackHalf2x16(byte(at) | byte(at + 1) << 8).x; }

// Sixteen scales: four low bits in the first 8 bytes, two high bits in the last 4.
int scale(uint s, uint g) {
    const uint low = byte(s + g % 8) >> 4 * (g / 8) & 15;
#ifdef Q3K_4_BIT_SCALES
    return int(low) - 8;
#endif
    return int(low | (byte(s + 8 + g % 4) >> 2 * (g / 4) & 3) << 4) - 32;
}

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= elements) return;
    const uint at = i / 256 * 110, e = i % 256;
    const uint low = byte(at + 32 + e / 128 * 32 + e % 32) >> 2 * (e / 32 % 4) & 3;
    const uint high = byte(at + e % 32) >> (e / 32) & 1;
#ifdef Q3K_MASK_INVERTED
    const int q = int(low) - (high == 0 ? 0 : 4); // a bit that is set says that 4 is NOT subtracted
#else
    const int q = int(low) - (high == 0 ? 4 : 0);
#endif
    y[i] = half_at(at + 108) * float(scale(at + 96, e / 16) * q);
}
