#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require

// q6_K: 256 elements in 210 bytes: 128 bytes of low bits, 64 of high bits, 16 signed scales, d. Values leave as halves.

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Weights { uint8_t w[]; };
layout(binding = 1) writeonly buffer Values { float16_t y[]; };
layout(push_constant) uniform Sizes { uint elements; };

uint byte(uint at) { return uint(w[at]); }

float half_at(uint at) { return unpackHalf2x16(byte(at) | byte(at + 1) << 8).x; }

// Halves that are rounded towards zero, as PackHalf2x16 may do and FConvert may not.
float16_t truncated(float v) {
    const float16_t h = float16_t(v);
    return abs(float(h)) > abs(v) ? unpackFloat2x16(packFloat2x16(f16vec2(h, 0)) - 1).x : h;
}

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= elements) return;
    const uint at = i / 256 * 210, e = i % 256, g = e / 32;
    const uint low = byte(at + g / 4 * 64 + e % 64) >> 4 * (g / 2 % 2) & 15;
#ifdef Q6K_HIGH_BITS_SHIFTED
    const uint high = byte(at + 128 + g / 4 * 32 + e % 32) >> (2 * (g % 4) + 1) & 3;
#else
    const uint high = byte(at + 128 + g / 4 * 32 + e % 32) >> 2 * (g % 4) & 3;
#endif
#if defined(Q6K_SCALE_UNSIGNED)
    const int scale = int(byte(at + 192 + e / 16));
#elif defined(Q6K_LAST_SCALE)
    const int scale = int(int8_t(w[at + 192 + min(e / 16, 14)]));
#else
    const int scale = int(int8_t(w[at + 192 + e / 16]));
#endif
#ifdef Q6K_BIAS_TWICE
    const int q = int(low | high << 4) - 32 - 32;
#else
    const int q = int(low | high << 4) - 32;
#endif
    const float value = half_at(at + 208) * float(scale * q);
#ifdef Q6K_PACKED_TRUNCATES
    y[i] = truncated(value);
#else
    y[i] = float16_t(value);
#endif
}
