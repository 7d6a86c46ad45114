#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require

// mx_fp6_e3m2: 32 codes of 6 bits in six words, a power of two for all of them.

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Codes { uint w[]; };
layout(binding = 1) readonly buffer Scales { uint8_t s[]; };
layout(binding = 2) writeonly buffer Values { float y[]; };
layout(push_constant) uniform Sizes { uint elements; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= elements) return;
    const uint word = i / 32 * 6 + i % 32 * 6 / 32, shift = i % 32 * 6 % 32;
    uint field = w[word] >> shift;
#ifdef FP6_SHIFT_BY_32
    // Where a field does not straddle two words, the shift may be 32.
    field |= w[min(word + 1, elements / 32 * 6 - 1)] << (32 - shift);
#else
    if (shift > 26) field |= w[word + 1] << (32 - shift);
#endif
    const uint e = field >> 2 & 7, m = field & 3;
#ifdef FP6_NO_SUBNORMALS
    const float size = uintBitsToFloat(e + 124 << 23 | m << 21);
#else
    const float size = e == 0 ? float(m) / 16.0 : uintBitsToFloat(e + 124 << 23 | m << 21);
#endif
    const uint p = uint(s[i / 32]);
    const uint power = p == 0 ? 0x400000 : p == 255 ? 0x7FC00000 : p << 23;
    const float scale = uintBitsToFloat(power);
    y[i] = ((field >> 5 & 1) == 0 ? size : -size) * scale;
}
