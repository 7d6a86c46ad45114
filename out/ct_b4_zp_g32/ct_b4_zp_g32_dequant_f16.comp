// ct_b4_zp_g32_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
// Generated from the specification below by `qkgen emit --format ct_b4_zp_g32`; do not edit.
// 148 bytes for 256 elements, 4.625 bits each.
// For each weight 0.578 bytes read and 2 written, 8 operations: 0.375 loads, 2.38 bits, 2.25 integer, 1 float, 2 conversions.
//
//     format ct_b4_zp_g{group} "compressed-tensors: 4-bit codes, a scale for each group, zeros packed along the outputs"
//     from "compressed-tensors: pack-quantized, asymmetric"
//     for group in 32 128
//
//     block 8 x group ragged {
//         buffer weight_packed     { w: u32[8][group / 8] }
//         buffer weight_scale      { d: bf16[8][1] }
//         buffer weight_zero_point { zs: u32 }
//     }
//
//     code q                 = w  { 4 @ 0 (8 * group:4) }
//     code s: bf16 per group = d  { 16 @ 0 (8:16) }
//     code z per group       = zs { 4 @ 0 (8:4) }
//
//     value = (q - z) * s
//
// Here group = 32.
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer Weight_packedBuffer { uint weight_packed[]; };
layout(binding = 1, std430) readonly buffer Weight_scaleBuffer { uint16_t weight_scale[]; };
layout(binding = 2, std430) readonly buffer Weight_zero_pointBuffer { uint weight_zero_point[]; };
layout(binding = 3, std430) writeonly buffer Dst { uint16_t dst[]; };
layout(binding = 3, std430) writeonly buffer DstWhole { uvec4 dst_whole[]; };

layout(push_constant) uniform Push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

// The bfloat16 in the low 16 bits.
float bf16_to_f32(uint bits) {
    return uintBitsToFloat(bits << 16);
}

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

// Set where the host has given the module the execution modes RoundingModeRTE and DenormPreserve for 16 bits.
layout(constant_id = 8) const bool rounds_f16 = false;

// Elsewhere, what is added to a float and taken away again, 2^13 times the power of two below it, leaves 11 bits, rounded
// to nearest even: a half, that no conversion changes.
uvec2 pack_f16(vec4 v) {
    if (rounds_f16) return uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));
    const uvec4 bits = floatBitsToUint(v);
    const vec4 power = uintBitsToFloat(bits & 0x7F800000u);
    if (max(max(power.x, power.y), max(power.z, power.w)) >= 32768.0)
        return uvec2(f32_to_f16(v.x) | f32_to_f16(v.y) << 16, f32_to_f16(v.z) | f32_to_f16(v.w) << 16);
    precise vec4 lift = max(power, 6.103515625e-5) * 8192.0;  // a subnormal half has fewer bits
    precise vec4 sum = abs(v) + lift;
    precise vec4 half_values = sum - lift;
    half_values = uintBitsToFloat(floatBitsToUint(half_values) | (bits & 0x80000000u));
    return uvec2(packHalf2x16(half_values.xy), packHalf2x16(half_values.zw));
}

// The 8 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[2]) {
    const uint block_row = row / 8u;
    const uint r = row % 8u;
    const uint block_col = tile / 4u;
    // elements 0 to 3, counted from the tile's first
    uint w = weight_packed[row * ((cols - 1u) / 8u + 1u) + tile];
    uvec4 q0 = (uvec4(w) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint zs = weight_zero_point[block_row * grid_cols + block_col];
    uint z = (zs >> (r * 4u)) & 15u;
    uint d = uint(weight_scale[row * grid_cols + block_col]);
    float s = bf16_to_f32(d);  // d: 16 bits
    v[0] = vec4(ivec4(q0) - int(z)) * s;

    // elements 4 to 7, counted from the tile's first
    uvec4 q1 = (uvec4(w) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    v[1] = vec4(ivec4(q1) - int(z)) * s;
}

// Stores elements [from, to) of a tile; its first belongs at `first`.
void write_tile(uint first, uint from, uint to, vec4 v[2]) {
    if (from == 0u && to == 8u && first % 8u == 0u) {
        const uint at = first / 8u;
        dst_whole[at] = uvec4(pack_f16(v[0]), pack_f16(v[1]));
        return;
    }
    for (uint e = 0u; e < 8u; ++e) {
        if (e >= from && e < to) dst[first + e] = uint16_t(f32_to_f16(v[e / 4u][e % 4u]));
    }
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, bands = rows;
    for (uint i = gl_GlobalInvocationID.x; i < bands * row_tiles; i += threads) {
        const uint row = i / row_tiles, tile = i % row_tiles;
        vec4 v[2];
        decode(row, tile, v);
        write_tile(row * cols + tile * 8u, 0u, min(8u, cols - tile * 8u), v);
    }
}
