#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require

// q8_0: 32 elements in 34 bytes: d, signed codes. The half is decoded by hand.

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Weights { uint8_t w[]; };
layout(binding = 1) writeonly buffer Values { float y[]; };
layout(push_constant) uniform Sizes { uint elements; };

float half_at(uint at) {
    const uint bits = uint(w[at]) | uint(w[at + 1]) << 8;
#ifdef Q8_0_HALF_AS_BFLOAT
    return uintBitsToFloat(bits << 16);
#endif
    const uint sign = bits >> 15 << 31, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31) return uintBitsToFloat(sign | 0x7F800000 | fraction << 13);
#ifdef Q8_0_SUBNORMAL_FLUSHED
    if (exponent == 0) return uintBitsToFloat(sign);
#else
    if (exponent == 0) return (sign == 0 ? 1.0 : -1.0) * float(fraction) / 16777216.0;
#endif
    return uintBitsToFloat(sign | exponent + 112 << 23 | fraction << 13);
}

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= elements) return;
    const uint at = i / 32 * 34;
#ifdef Q8_0_CODE_UNSIGNED
    y[i] = float(w[at + 2 + i % 32]) * half_at(at);
#else
    y[i] = float(int8_t(w[at + 2 + i % 32])) * half_at(at);
#endif
}
