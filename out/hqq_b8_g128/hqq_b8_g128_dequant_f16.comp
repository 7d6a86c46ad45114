// hqq_b8_g128_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
// Generated from the specification below by `qkgen emit --format hqq_b8_g128`; do not edit.
// 132 bytes for 128 elements, 8.25 bits each.
// For each weight 1.03 bytes read and 2 written, 7.38 operations: 0.5 loads, 2 bits, 0.625 integer, 2 float, 2.25 conversions.
//
//     format hqq_b{bits}_g{group} "HQQ: the groups of the whole tensor in planes of equal size, a float zero"
//     from "HQQ: BitPack, axis 1"
//     for bits in 2 4 8, group in 64 128
//
//     block 8 / bits apart x group {
//         buffer W_q   { w: u8[1][group] }
//         buffer scale { d: f16[8 / bits][1] }
//         buffer zero  { m: f16[8 / bits][1] }
//     }
//
//     code q                = w { bits @ 8 - bits (group:8, 8 / bits:-bits) }
//     code s: f16 per group = d { 16 @ 0 (8 / bits:16) }
//     code z: f16 per group = m { 16 @ 0 (8 / bits:16) }
//
//     value = (q - z) * s
//
// Here bits = 8, group = 128.
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer W_qBuffer { uint W_q[]; };
layout(binding = 1, std430) readonly buffer ScaleBuffer { uint16_t scale[]; };
layout(binding = 2, std430) readonly buffer ZeroBuffer { uint16_t zero[]; };
layout(binding = 3, std430) writeonly buffer Dst { uvec4 dst[]; };

layout(push_constant) uniform Push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
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
    const uint t = tile % 16u;
    // elements 0 to 3, counted from the tile's first
    uint w0 = W_q[row * 32u + t * 2u];
    uvec4 q0 = (uvec4(w0) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    uint m_ = uint(zero[row]);
    float z = f16_to_f32(m_);  // m: 16 bits
    uint d = uint(scale[row]);
    float s = f16_to_f32(d);  // d: 16 bits
    v[0] = (vec4(q0) - z) * s;

    // elements 4 to 7, counted from the tile's first
    uint w1 = W_q[row * 32u + (t * 2u + 1u)];
    uvec4 q1 = (uvec4(w1) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    v[1] = (vec4(q1) - z) * s;
}

// Stores a tile from `at` on, counted in stores of 8 elements.
void write_tile(uint at, vec4 v[2]) {
    dst[at] = uvec4(pack_f16(v[0]), pack_f16(v[1]));
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, bands = rows;
    for (uint i = gl_GlobalInvocationID.x; i < bands * row_tiles; i += threads) {
        const uint row = i / row_tiles, tile = i % row_tiles;
        vec4 v[2];
        decode(row, tile, v);
        write_tile(row * (cols / 8u) + tile * 1u, v);
    }
}
