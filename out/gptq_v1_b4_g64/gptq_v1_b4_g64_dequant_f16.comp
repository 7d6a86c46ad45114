// gptq_v1_b4_g64_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
// Generated from the specification below by `qkgen emit --format gptq_v1_b4_g64`; do not edit.
// 1104 bytes for 2048 elements, 4.312 bits each.
// For each weight 0.539 bytes read and 2 written, 7.97 operations: 0.281 loads, 2.38 bits, 2.19 integer, 1 float, 2.12 conversions.
//
//     format gptq_v1_b{bits}_g{group} "GPTQ: codes packed along the inputs, zeros less one along the outputs"
//     from "AutoGPTQ, GPTQModel: qlinear, checkpoints of version 1"
//     for bits in 2 3 4 8, group in 32 64 128
//
//     block 32 x group ragged {
//         buffer qweight[cols][rows] { w: u32[32][group * bits / 32] }
//         buffer qzeros[cols][rows]  { zs: u32[bits][1] }
//         buffer scales[cols][rows]  { d: f16[32][1] }
//     }
//
//     code q                = w  { bits @ 0 (32 * group:bits) }
//     code z per group      = zs { bits @ 0 (32:bits) }
//     code s: f16 per group = d  { 16 @ 0 (32:16) }
//
//     value = (q - (z + 1 & (1 << bits) - 1)) * s
//
// Here bits = 4, group = 64.
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer QweightBuffer { uint qweight[]; };
layout(binding = 1, std430) readonly buffer QzerosBuffer { uint qzeros[]; };
layout(binding = 2, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 3, std430) writeonly buffer Dst { uint16_t dst[]; };
layout(binding = 3, std430) writeonly buffer DstWhole { uvec4 dst_whole[]; };

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

// Row, or band of rows, and tile of thread `i` where neighbours in memory belong to different rows: in strips of
// 64, cut into patches of 8 tiles, so that threads that run together read and write whole lines.
uvec2 row_and_tile(uint i, uint rows, uint row_tiles) {
    const uint tall = min(64u, rows), strip = i / (tall * row_tiles);
    uint rest = i - strip * (tall * row_tiles);
    const uint height = min(tall, rows - strip * tall);
    const uint patch_size = height * 8u;
    const uint patch_number = height == 64u ? rest / 512u : rest / patch_size;
    rest -= patch_number * patch_size;
    const uint first = patch_number * 8u, width = min(8u, row_tiles - first);
    const uint down = width == 8u ? rest / 8u : rest / width;
    return uvec2(strip * tall + down, first + rest - down * width);
}

// The 32 values of a tile of 4 rows, in runs of 4 consecutive elements.
void decode(uint band, uint tile, out precise vec4 v[8]) {
    const uint block_row = band / 8u;
    const uint r = band % 8u;
    const uint block_col = tile / 8u;
    // row 0, elements 0 to 3, counted from the tile's first
    uint w0 = qweight[tile * rows + min(block_row * 32u + r * 4u, rows - 1u)];
    uvec4 q0 = (uvec4(w0) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint zs = qzeros[block_col * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 2u, (rows - 1u) / 8u)];
    uint z0 = (zs >> (r % 2u * 16u)) & 15u;  // zs: 4 bits
    uint d0 = uint(scales[block_col * rows + min(block_row * 32u + r * 4u, rows - 1u)]);
    float s0 = f16_to_f32(d0);  // d: 16 bits
    v[0] = vec4(ivec4(q0) - ((int(z0) + 1) & 15)) * s0;

    // row 0, elements 4 to 7, counted from the tile's first
    uvec4 q1 = (uvec4(w0) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    v[1] = vec4(ivec4(q1) - ((int(z0) + 1) & 15)) * s0;

    // row 1, elements 0 to 3, counted from the tile's first
    uint w1 = qweight[tile * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)];
    uvec4 q2 = (uvec4(w1) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint z1 = (zs >> (r % 2u * 16u + 4u)) & 15u;  // zs: 4 bits
    uint d1 = uint(scales[block_col * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)]);
    float s1 = f16_to_f32(d1);  // d: 16 bits
    v[2] = vec4(ivec4(q2) - ((int(z1) + 1) & 15)) * s1;

    // row 1, elements 4 to 7, counted from the tile's first
    uvec4 q3 = (uvec4(w1) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    v[3] = vec4(ivec4(q3) - ((int(z1) + 1) & 15)) * s1;

    // row 2, elements 0 to 3, counted from the tile's first
    uint w2 = qweight[tile * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)];
    uvec4 q4 = (uvec4(w2) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint z2 = (zs >> (r % 2u * 16u + 8u)) & 15u;  // zs: 4 bits
    uint d2 = uint(scales[block_col * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)]);
    float s2 = f16_to_f32(d2);  // d: 16 bits
    v[4] = vec4(ivec4(q4) - ((int(z2) + 1) & 15)) * s2;

    // row 2, elements 4 to 7, counted from the tile's first
    uvec4 q5 = (uvec4(w2) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    v[5] = vec4(ivec4(q5) - ((int(z2) + 1) & 15)) * s2;

    // row 3, elements 0 to 3, counted from the tile's first
    uint w3 = qweight[tile * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)];
    uvec4 q6 = (uvec4(w3) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint z3 = (zs >> (r % 2u * 16u + 12u)) & 15u;  // zs: 4 bits
    uint d3 = uint(scales[block_col * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)]);
    float s3 = f16_to_f32(d3);  // d: 16 bits
    v[6] = vec4(ivec4(q6) - ((int(z3) + 1) & 15)) * s3;

    // row 3, elements 4 to 7, counted from the tile's first
    uvec4 q7 = (uvec4(w3) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    v[7] = vec4(ivec4(q7) - ((int(z3) + 1) & 15)) * s3;
}

// Stores elements [from, to) of a tile's row; its first belongs at `first`.
void write_row(uint first, uint from, uint to, vec4 v[2]) {
    if (from == 0u && to == 8u && first % 8u == 0u) {
        const uint at = first / 8u;
        dst_whole[at] = uvec4(pack_f16(v[0]), pack_f16(v[1]));
        return;
    }
    for (uint e = 0u; e < 8u; ++e) {
        if (e >= from && e < to) dst[first + e] = uint16_t(f32_to_f16(v[e / 4u][e % 4u]));
    }
}

// Stores the first `to` elements of `rows` rows of a tile.
void write_tile(uint first, uint rows, uint to, vec4 v[8]) {
    write_row(first, 0u, to, vec4[](v[0], v[1]));
    if (rows > 1u) write_row(first + 1u * cols, 0u, to, vec4[](v[2], v[3]));
    if (rows > 2u) write_row(first + 2u * cols, 0u, to, vec4[](v[4], v[5]));
    if (rows > 3u) write_row(first + 3u * cols, 0u, to, vec4[](v[6], v[7]));
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, bands = ((rows + 3u) / 4u);
    for (uint i = gl_GlobalInvocationID.x; i < bands * row_tiles; i += threads) {
        const uvec2 at = row_and_tile(i, bands, row_tiles);
        const uint band = at.x, tile = at.y;
        vec4 v[8];
        decode(band, tile, v);
        const uint row = band * 4u, column = tile * 8u;
        write_tile(row * cols + column, rows - row, min(8u, cols - column), v);
    }
}
