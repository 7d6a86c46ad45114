@if bf16_to_f32
float bf16_to_f32(uint bits) { return uintBitsToFloat(bits << 16); }  // of the low 16 bits

@end
@if to_f16
// The nearest half, ties to even; in integers, for Vulkan leaves that open.
uint f32_to_f16(float x) {
    const uint bits = floatBitsToUint(x), magnitude = bits & 0x7FFFFFFFu;
    precise float lifted = uintBitsToFloat(magnitude) + 0.5;  // rounds subnormal halves
    const uint normal = min(magnitude - 0x37FFF001u + ((magnitude >> 13) & 1u) >> 13, 0x7C00u);
    const uint subnormal = floatBitsToUint(lifted) - 0x3F000000u, rounded = magnitude < 0x38800000u ? subnormal : normal;
    return bits >> 16 & 0x8000u | (magnitude > 0x7F800000u ? 0x7E00u : rounded);
}

@end
@if to_bf16
// Rounds to the nearest bfloat16, ties to even.
uint f32_to_bf16(float x) {
    const uint bits = floatBitsToUint(x), rounded = bits + 0x7FFFu + ((bits >> 16) & 1u), nan = bits & 0x80000000u | 0x7FC00000u;
    return ((bits & 0x7FFFFFFFu) > 0x7F800000u ? nan : rounded) >> 16;
}

@end
@if halves
layout(constant_id = @{id.y_type}) const uint Y_TYPE = 1;  // how results are stored: 1 as f16, 2 as bf16

@end
@if half_singly
uint f32_to_half(float v) { return Y_TYPE == 1u ? f32_to_f16(v) : f32_to_bf16(v); }

@end
@if pack_2
uint pack_halves(vec2 v) { return f32_to_half(v.x) | f32_to_half(v.y) << 16; }

@end
@if pack_4
// Set where the module has the execution modes RoundingModeRTE and DenormPreserve for 16 bits.
layout(constant_id = @{id.rounds_f16}) const bool rounds_f16 = false;

// Elsewhere in integers, for Vulkan leaves its rounding open. The neighbour of the largest half rounds to infinity, whatever is beyond it.
uvec2 pack_f16(vec4 v) {
    if (rounds_f16) return uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));
    const uvec4 bits = floatBitsToUint(v), magnitude = bits & 0x7FFFFFFFu, most = min(magnitude, uvec4(0x477FF000u));
    precise vec4 lifted = uintBitsToFloat(most) + 0.5;
    const uvec4 normal = most - 0x37FFF001u + ((most >> 13) & 1u) >> 13, subnormal = floatBitsToUint(lifted) - 0x3F000000u;
    uvec4 halves = mix(normal, subnormal, lessThan(most, uvec4(0x38800000u)));
    halves = mix(halves, uvec4(0x7E00u), greaterThan(magnitude, uvec4(0x7F800000u)));  // NaN
    halves |= bits >> 16 & 0x8000u;
    return halves.xz | halves.yw << 16;
}

uvec2 pack_bf16(vec4 v) {
    const uvec4 bits = floatBitsToUint(v);
    const bvec4 nan = greaterThan(bits & 0x7FFFFFFFu, uvec4(0x7F800000u));
    const uvec4 rounded = mix(bits + 0x7FFFu + ((bits >> 16) & 1u), (bits & 0x80000000u) | 0x7FC00000u, nan);
    return rounded.xz >> 16 | (rounded.yw & 0xFFFF0000u);
}

uvec2 pack_halves(vec4 v) { return Y_TYPE == 1u ? pack_f16(v) : pack_bf16(v); }

@end
@if strips
// Row, or band of rows, and tile of thread `i` where neighbours in memory belong to different rows: in strips of
// @{strip_bands}, cut into patches of @{patch_tiles} tiles, so that threads that run together read and write whole lines.
uvec2 row_and_tile(uint i, uint rows, uint row_tiles) {
    const uint tall = min(@{strip_bands}u, rows), strip = i / (tall * row_tiles);
    uint rest = i - strip * (tall * row_tiles);
    const uint height = min(tall, rows - strip * tall);
    const uint patch_size = height * @{patch_tiles}u;
    const uint patch_number = height == @{strip_bands}u ? rest / @{strip_patch}u : rest / patch_size;
    rest -= patch_number * patch_size;
    const uint first = patch_number * @{patch_tiles}u, width = min(@{patch_tiles}u, row_tiles - first);
    const uint down = width == @{patch_tiles}u ? rest / @{patch_tiles}u : rest / width;
    return uvec2(strip * tall + down, first + rest - down * width);
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
