@if f16_to_f32
// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

@end
@if bf16_to_f32
// The bfloat16 in the low 16 bits.
float bf16_to_f32(uint bits) {
    return uintBitsToFloat(bits << 16);
}

@end
@if to_f16
// Rounds to the nearest half, ties to even. In integers, because Vulkan leaves the rounding of its own conversion open.
uint f32_to_f16(float x) {
    const uint bits = floatBitsToUint(x), magnitude = bits & 0x7FFFFFFFu, sign = (bits >> 16) & 0x8000u;
    if (magnitude > 0x7F800000u) return sign | 0x7E00u;    // NaN
    if (magnitude >= 0x477FF000u) return sign | 0x7C00u;   // beyond the largest half
    if (magnitude < 0x38800000u) {                         // a subnormal half: adding 1/2 rounds at its last bit
        precise float lifted = uintBitsToFloat(magnitude) + 0.5;
        return sign | (floatBitsToUint(lifted) - 0x3F000000u);
    }
    return sign | ((magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13);
}

@end
@if to_bf16
// Rounds to the nearest bfloat16, ties to even.
uint f32_to_bf16(float x) {
    const uint bits = floatBitsToUint(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return ((bits >> 16) & 0x8000u) | 0x7FC0u;  // NaN
    return (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
}

@end
@if round_f16
// The nearest half, ties to even, as a float.
float round_f16(float x) {
    return unpackHalf2x16(f32_to_f16(x)).x;
}

vec2 round_f16(vec2 v) {
    return vec2(round_f16(v.x), round_f16(v.y));
}

vec4 round_f16(vec4 v) {
    return vec4(round_f16(v.x), round_f16(v.y), round_f16(v.z), round_f16(v.w));
}

@end
@if round_bf16
// The nearest bfloat16, ties to even, as a float.
float round_bf16(float x) {
    const uint bits = floatBitsToUint(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return uintBitsToFloat((bits & 0x80000000u) | 0x7FC00000u);  // NaN
    return uintBitsToFloat((bits + 0x7FFFu + ((bits >> 16) & 1u)) & 0xFFFF0000u);
}

vec2 round_bf16(vec2 v) {
    return vec2(round_bf16(v.x), round_bf16(v.y));
}

vec4 round_bf16(vec4 v) {
    return vec4(round_bf16(v.x), round_bf16(v.y), round_bf16(v.z), round_bf16(v.w));
}

@end
