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
