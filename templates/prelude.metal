@if load_u32
// 32 bits from narrower words.
inline uint load_u32(device const ushort *words, uint at) {
    return uint(words[at]) | (uint(words[at + 1]) << 16);
}

inline uint load_u32(device const uchar *words, uint at) {
    return uint(words[at]) | (uint(words[at + 1]) << 8) | (uint(words[at + 2]) << 16) | (uint(words[at + 3]) << 24);
}

@end
@if f16_to_f32
// The half in the low 16 bits.
inline float f16_to_f32(uint bits) {
    return float(as_type<half>(ushort(bits)));
}

@end
@if bf16_to_f32
// The bfloat16 in the low 16 bits.
inline float bf16_to_f32(uint bits) {
    return as_type<float>(bits << 16);
}

@end
@if round_f16
// The nearest half, ties to even, as a float.
inline float round_f16(float x) {
    return float(half(x));
}

inline float2 round_f16(float2 v) {
    return float2(half2(v));
}

inline float4 round_f16(float4 v) {
    return float4(half4(v));
}

@end
@if round_bf16
// The nearest bfloat16, ties to even, as a float.
inline float round_bf16(float x) {
    const uint bits = as_type<uint>(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return as_type<float>((bits & 0x80000000u) | 0x7FC00000u);  // NaN
    return as_type<float>((bits + 0x7FFFu + ((bits >> 16) & 1u)) & 0xFFFF0000u);
}

inline float2 round_bf16(float2 v) {
    return float2(round_bf16(v.x), round_bf16(v.y));
}

inline float4 round_bf16(float4 v) {
    return float4(round_bf16(v.x), round_bf16(v.y), round_bf16(v.z), round_bf16(v.w));
}

@end
// Rounds to the nearest bfloat16, ties to even. In integers, so that no Metal version with bfloat is needed.
inline ushort f32_to_bf16(float x) {
    const uint bits = as_type<uint>(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return ushort(((bits >> 16) & 0x8000u) | 0x7FC0u);  // NaN
    return ushort((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

// A run as it is stored: f32, f16, or the bits of bf16. Conversion to half rounds to nearest even.
inline void store(device @{vec} *dst, uint at, @{vec} v) {
    dst[at] = v;
}

inline void store(device @{half_vec} *dst, uint at, @{vec} v) {
    dst[at] = @{half_vec}(v);
}

inline void store(device @{ushort_vec} *dst, uint at, @{vec} v) {
    dst[at] = @{bf16_of_v};
}
