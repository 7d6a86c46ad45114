#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require

// q5_K: 256 elements in 176 bytes: d, dmin, 12 bytes of scales and minima, 32 of fifth bits, 128 of low bits.

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Weights { uint8_t w[]; };
layout(binding = 1) writeonly buffer Values { float y[]; };
layout(push_constant) uniform Sizes { uint elements; };

uint byte(uint at) { return uint(w[at]); }

float half_at(uint at) { return unpackHalf2x16(byte(at) | byte(at + 1) << 8).x; }

uvec2 scale_and_min(uint s, uint g) {
    if (g < 4) return uvec2(byte(s + g), byte(s + 4 + g)) & 63;
    const uint low = byte(s + 4 + g);
    return uvec2(low & 15 | byte(s + g - 4) >> 6 << 4, low >> 4 | byte(s + g) >> 6 << 4);
}

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= elements) return;
    const uint at = i / 256 * 176, e = i % 256, g = e / 32;
#ifdef Q5K_FIFTH_BIT_STUCK
    const uint high = byte(at + 16 + e % 32) & 1;
#else
    const uint high = byte(at + 16 + e % 32) >> g & 1;
#endif
    const uint q = byte(at + 48 + g / 2 * 32 + e % 32) >> 4 * (g % 2) & 15 | high << 4;
    const vec2 group = vec2(scale_and_min(at + 4, g));
    y[i] = half_at(at) * group.x * float(q) - half_at(at + 2) * group.y;
}
