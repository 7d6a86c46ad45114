// gptq_v1_b4_g128_act_dequant_halves: decodes a whole tensor: dst[i] = value(i), in f16 or bf16.
// Generated from the specification below by `qkgen emit --format gptq_v1_b4_g128_act`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 2640 bytes for 4096 elements, 4.156 bits each.
// For each weight 0.52 bytes read and 2 written, 16.1 operations: 1.62 loads, 5 bits, 5.47 integer, 1 float, 3 conversions.
//     format gptq_v1_b{bits}_g{group}_act "GPTQ with reordered groups: an index says the group of each input"
//     from "AutoGPTQ, GPTQModel: qlinear with desc_act, checkpoints of version 1"
//     for bits in 2 3 4 8, group in 32 64 128
//     block 32 x group ragged {
//         buffer qweight[cols][rows] { w: u32[32][group * bits / 32] }
//         buffer qzeros[g][rows]     { zs: u32[bits][1] }
//         buffer scales[g][rows]     { d: f16[32][1] }
//         buffer g_idx[cols]         { groups: u32[group] }
//     }
//     code q                = w      { bits @ 0 (32 * group:bits) }
//     code z per group      = zs     { bits @ 0 (32:bits) }
//     code s: f16 per group = d      { 16 @ 0 (32:16) }
//     code g                = groups { 32 @ 0 (group:32) }
//     value = (q - (z + 1 & (1 << bits) - 1)) * s
//
// Here bits = 4, group = 128.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer QweightBuffer { uint qweight[]; };
layout(binding = 1, std430) readonly buffer QzerosBuffer { uint qzeros[]; };
layout(binding = 2, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 3, std430) readonly buffer G_idxBuffer { uint g_idx[]; };
layout(binding = 4, std430) writeonly buffer Dst { uint16_t dst[]; };
layout(binding = 4, std430) writeonly buffer DstWhole { uvec4 dst_whole[]; };

layout(push_constant) uniform Push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

// The nearest half, ties to even; in integers, for Vulkan leaves that open.
uint f32_to_f16(float x) {
    const uint bits = floatBitsToUint(x), magnitude = bits & 0x7FFFFFFFu;
    precise float lifted = uintBitsToFloat(magnitude) + 0.5;  // rounds subnormal halves
    const uint normal = min(magnitude - 0x37FFF001u + ((magnitude >> 13) & 1u) >> 13, 0x7C00u);
    const uint subnormal = floatBitsToUint(lifted) - 0x3F000000u, rounded = magnitude < 0x38800000u ? subnormal : normal;
    return bits >> 16 & 0x8000u | (magnitude > 0x7F800000u ? 0x7E00u : rounded);
}

// Rounds to the nearest bfloat16, ties to even.
uint f32_to_bf16(float x) {
    const uint bits = floatBitsToUint(x), rounded = bits + 0x7FFFu + ((bits >> 16) & 1u), nan = bits & 0x80000000u | 0x7FC00000u;
    return ((bits & 0x7FFFFFFFu) > 0x7F800000u ? nan : rounded) >> 16;
}

layout(constant_id = 31) const uint Y_TYPE = 1;  // how results are stored: 1 as f16, 2 as bf16

uint f32_to_half(float v) { return Y_TYPE == 1u ? f32_to_f16(v) : f32_to_bf16(v); }

// Set where the module has the execution modes RoundingModeRTE and DenormPreserve for 16 bits.
layout(constant_id = 8) const bool rounds_f16 = false;

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
    const uint block_col = tile / 16u;
    const uint t = tile % 16u;
    // row 0, elements 0 to 3, counted from the tile's first
    uint w0 = qweight[tile * rows + min(block_row * 32u + r * 4u, rows - 1u)];
    uvec4 q0 = (uvec4(w0) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint groups0 = g_idx[min(block_col * 128u + t * 8u, cols - 1u)], groups1 = g_idx[min(block_col * 128u + t * 8u + 1u, cols - 1u)];
    uint groups2 = g_idx[min(block_col * 128u + t * 8u + 2u, cols - 1u)], groups3 = g_idx[min(block_col * 128u + t * 8u + 3u, cols - 1u)];
    uvec4 g0 = uvec4(groups0, groups1, groups2, groups3);  // groups: 32 bits
    uint group0 = min(g0.x, grid_cols - 1u);
    uint zs0 = qzeros[group0 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 2u, (rows - 1u) / 8u)];
    uint z0 = (zs0 >> (r % 2u * 16u)) & 15u;  // zs: 4 bits
    uint group1 = min(g0.y, grid_cols - 1u);
    uint zs1 = qzeros[group1 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 2u, (rows - 1u) / 8u)];
    uint z1 = (zs1 >> (r % 2u * 16u)) & 15u;  // zs: 4 bits
    uint group2 = min(g0.z, grid_cols - 1u);
    uint zs2 = qzeros[group2 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 2u, (rows - 1u) / 8u)];
    uint z2 = (zs2 >> (r % 2u * 16u)) & 15u;  // zs: 4 bits
    uint group3 = min(g0.w, grid_cols - 1u);
    uint zs3 = qzeros[group3 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 2u, (rows - 1u) / 8u)];
    uint z3 = (zs3 >> (r % 2u * 16u)) & 15u;  // zs: 4 bits
    uvec4 z4 = uvec4(z0, z1, z2, z3);
    uint d0 = uint(scales[group0 * rows + min(block_row * 32u + r * 4u, rows - 1u)]);
    float s0 = unpackHalf2x16(d0).x;  // d: 16 bits
    uint d1 = uint(scales[group1 * rows + min(block_row * 32u + r * 4u, rows - 1u)]);
    float s1 = unpackHalf2x16(d1).x;  // d: 16 bits
    uint d2 = uint(scales[group2 * rows + min(block_row * 32u + r * 4u, rows - 1u)]);
    float s2 = unpackHalf2x16(d2).x;  // d: 16 bits
    uint d3 = uint(scales[group3 * rows + min(block_row * 32u + r * 4u, rows - 1u)]);
    float s3 = unpackHalf2x16(d3).x;  // d: 16 bits
    vec4 s4 = vec4(s0, s1, s2, s3);
    v[0] = vec4(ivec4(q0) - ((ivec4(z4) + 1) & 15)) * s4;

    // row 0, elements 4 to 7, counted from the tile's first
    uvec4 q1 = (uvec4(w0) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uint groups4 = g_idx[min(block_col * 128u + t * 8u + 4u, cols - 1u)], groups5 = g_idx[min(block_col * 128u + t * 8u + 5u, cols - 1u)];
    uint groups6 = g_idx[min(block_col * 128u + t * 8u + 6u, cols - 1u)], groups7 = g_idx[min(block_col * 128u + t * 8u + 7u, cols - 1u)];
    uvec4 g1 = uvec4(groups4, groups5, groups6, groups7);  // groups: 32 bits
    uint group4 = min(g1.x, grid_cols - 1u);
    uint zs4 = qzeros[group4 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 2u, (rows - 1u) / 8u)];
    uint z5 = (zs4 >> (r % 2u * 16u)) & 15u;  // zs: 4 bits
    uint group5 = min(g1.y, grid_cols - 1u);
    uint zs5 = qzeros[group5 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 2u, (rows - 1u) / 8u)];
    uint z6 = (zs5 >> (r % 2u * 16u)) & 15u;  // zs: 4 bits
    uint group6 = min(g1.z, grid_cols - 1u);
    uint zs6 = qzeros[group6 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 2u, (rows - 1u) / 8u)];
    uint z7 = (zs6 >> (r % 2u * 16u)) & 15u;  // zs: 4 bits
    uint group7 = min(g1.w, grid_cols - 1u);
    uint zs7 = qzeros[group7 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 2u, (rows - 1u) / 8u)];
    uint z8 = (zs7 >> (r % 2u * 16u)) & 15u;  // zs: 4 bits
    uvec4 z9 = uvec4(z5, z6, z7, z8);
    uint d4 = uint(scales[group4 * rows + min(block_row * 32u + r * 4u, rows - 1u)]);
    float s5 = unpackHalf2x16(d4).x;  // d: 16 bits
    uint d5 = uint(scales[group5 * rows + min(block_row * 32u + r * 4u, rows - 1u)]);
    float s6 = unpackHalf2x16(d5).x;  // d: 16 bits
    uint d6 = uint(scales[group6 * rows + min(block_row * 32u + r * 4u, rows - 1u)]);
    float s7 = unpackHalf2x16(d6).x;  // d: 16 bits
    uint d7 = uint(scales[group7 * rows + min(block_row * 32u + r * 4u, rows - 1u)]);
    float s8 = unpackHalf2x16(d7).x;  // d: 16 bits
    vec4 s9 = vec4(s5, s6, s7, s8);
    v[1] = vec4(ivec4(q1) - ((ivec4(z9) + 1) & 15)) * s9;

    // row 1, elements 0 to 3, counted from the tile's first
    uint w1 = qweight[tile * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)];
    uvec4 q2 = (uvec4(w1) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint z10 = (zs0 >> (r % 2u * 16u + 4u)) & 15u, z11 = (zs1 >> (r % 2u * 16u + 4u)) & 15u;  // zs: 4 bits
    uint z12 = (zs2 >> (r % 2u * 16u + 4u)) & 15u, z13 = (zs3 >> (r % 2u * 16u + 4u)) & 15u;  // zs: 4 bits
    uvec4 z14 = uvec4(z10, z11, z12, z13);
    uint d8 = uint(scales[group0 * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)]);
    float s10 = unpackHalf2x16(d8).x;  // d: 16 bits
    uint d9 = uint(scales[group1 * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)]);
    float s11 = unpackHalf2x16(d9).x;  // d: 16 bits
    uint d10 = uint(scales[group2 * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)]);
    float s12 = unpackHalf2x16(d10).x;  // d: 16 bits
    uint d11 = uint(scales[group3 * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)]);
    float s13 = unpackHalf2x16(d11).x;  // d: 16 bits
    vec4 s14 = vec4(s10, s11, s12, s13);
    v[2] = vec4(ivec4(q2) - ((ivec4(z14) + 1) & 15)) * s14;

    // row 1, elements 4 to 7, counted from the tile's first
    uvec4 q3 = (uvec4(w1) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uint z15 = (zs4 >> (r % 2u * 16u + 4u)) & 15u, z16 = (zs5 >> (r % 2u * 16u + 4u)) & 15u;  // zs: 4 bits
    uint z17 = (zs6 >> (r % 2u * 16u + 4u)) & 15u, z18 = (zs7 >> (r % 2u * 16u + 4u)) & 15u;  // zs: 4 bits
    uvec4 z19 = uvec4(z15, z16, z17, z18);
    uint d12 = uint(scales[group4 * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)]);
    float s15 = unpackHalf2x16(d12).x;  // d: 16 bits
    uint d13 = uint(scales[group5 * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)]);
    float s16 = unpackHalf2x16(d13).x;  // d: 16 bits
    uint d14 = uint(scales[group6 * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)]);
    float s17 = unpackHalf2x16(d14).x;  // d: 16 bits
    uint d15 = uint(scales[group7 * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)]);
    float s18 = unpackHalf2x16(d15).x;  // d: 16 bits
    vec4 s19 = vec4(s15, s16, s17, s18);
    v[3] = vec4(ivec4(q3) - ((ivec4(z19) + 1) & 15)) * s19;

    // row 2, elements 0 to 3, counted from the tile's first
    uint w2 = qweight[tile * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)];
    uvec4 q4 = (uvec4(w2) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint z20 = (zs0 >> (r % 2u * 16u + 8u)) & 15u, z21 = (zs1 >> (r % 2u * 16u + 8u)) & 15u;  // zs: 4 bits
    uint z22 = (zs2 >> (r % 2u * 16u + 8u)) & 15u, z23 = (zs3 >> (r % 2u * 16u + 8u)) & 15u;  // zs: 4 bits
    uvec4 z24 = uvec4(z20, z21, z22, z23);
    uint d16 = uint(scales[group0 * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)]);
    float s20 = unpackHalf2x16(d16).x;  // d: 16 bits
    uint d17 = uint(scales[group1 * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)]);
    float s21 = unpackHalf2x16(d17).x;  // d: 16 bits
    uint d18 = uint(scales[group2 * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)]);
    float s22 = unpackHalf2x16(d18).x;  // d: 16 bits
    uint d19 = uint(scales[group3 * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)]);
    float s23 = unpackHalf2x16(d19).x;  // d: 16 bits
    vec4 s24 = vec4(s20, s21, s22, s23);
    v[4] = vec4(ivec4(q4) - ((ivec4(z24) + 1) & 15)) * s24;

    // row 2, elements 4 to 7, counted from the tile's first
    uvec4 q5 = (uvec4(w2) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uint z25 = (zs4 >> (r % 2u * 16u + 8u)) & 15u, z26 = (zs5 >> (r % 2u * 16u + 8u)) & 15u;  // zs: 4 bits
    uint z27 = (zs6 >> (r % 2u * 16u + 8u)) & 15u, z28 = (zs7 >> (r % 2u * 16u + 8u)) & 15u;  // zs: 4 bits
    uvec4 z29 = uvec4(z25, z26, z27, z28);
    uint d20 = uint(scales[group4 * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)]);
    float s25 = unpackHalf2x16(d20).x;  // d: 16 bits
    uint d21 = uint(scales[group5 * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)]);
    float s26 = unpackHalf2x16(d21).x;  // d: 16 bits
    uint d22 = uint(scales[group6 * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)]);
    float s27 = unpackHalf2x16(d22).x;  // d: 16 bits
    uint d23 = uint(scales[group7 * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)]);
    float s28 = unpackHalf2x16(d23).x;  // d: 16 bits
    vec4 s29 = vec4(s25, s26, s27, s28);
    v[5] = vec4(ivec4(q5) - ((ivec4(z29) + 1) & 15)) * s29;

    // row 3, elements 0 to 3, counted from the tile's first
    uint w3 = qweight[tile * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)];
    uvec4 q6 = (uvec4(w3) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint z30 = (zs0 >> (r % 2u * 16u + 12u)) & 15u, z31 = (zs1 >> (r % 2u * 16u + 12u)) & 15u;  // zs: 4 bits
    uint z32 = (zs2 >> (r % 2u * 16u + 12u)) & 15u, z33 = (zs3 >> (r % 2u * 16u + 12u)) & 15u;  // zs: 4 bits
    uvec4 z34 = uvec4(z30, z31, z32, z33);
    uint d24 = uint(scales[group0 * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)]);
    float s30 = unpackHalf2x16(d24).x;  // d: 16 bits
    uint d25 = uint(scales[group1 * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)]);
    float s31 = unpackHalf2x16(d25).x;  // d: 16 bits
    uint d26 = uint(scales[group2 * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)]);
    float s32 = unpackHalf2x16(d26).x;  // d: 16 bits
    uint d27 = uint(scales[group3 * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)]);
    float s33 = unpackHalf2x16(d27).x;  // d: 16 bits
    vec4 s34 = vec4(s30, s31, s32, s33);
    v[6] = vec4(ivec4(q6) - ((ivec4(z34) + 1) & 15)) * s34;

    // row 3, elements 4 to 7, counted from the tile's first
    uvec4 q7 = (uvec4(w3) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uint z35 = (zs4 >> (r % 2u * 16u + 12u)) & 15u, z36 = (zs5 >> (r % 2u * 16u + 12u)) & 15u;  // zs: 4 bits
    uint z37 = (zs6 >> (r % 2u * 16u + 12u)) & 15u, z38 = (zs7 >> (r % 2u * 16u + 12u)) & 15u;  // zs: 4 bits
    uvec4 z39 = uvec4(z35, z36, z37, z38);
    uint d28 = uint(scales[group4 * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)]);
    float s35 = unpackHalf2x16(d28).x;  // d: 16 bits
    uint d29 = uint(scales[group5 * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)]);
    float s36 = unpackHalf2x16(d29).x;  // d: 16 bits
    uint d30 = uint(scales[group6 * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)]);
    float s37 = unpackHalf2x16(d30).x;  // d: 16 bits
    uint d31 = uint(scales[group7 * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)]);
    float s38 = unpackHalf2x16(d31).x;  // d: 16 bits
    vec4 s39 = vec4(s35, s36, s37, s38);
    v[7] = vec4(ivec4(q7) - ((ivec4(z39) + 1) & 15)) * s39;
}

// Stores elements [from, to) of a tile's row; its first belongs at `first`.
void write_row(uint first, uint from, uint to, vec4 v[2]) {
    if (from == 0u && to == 8u && first % 8u == 0u) {
        const uint at = first / 8u;
        dst_whole[at] = uvec4(pack_halves(v[0]), pack_halves(v[1]));
        return;
    }
    for (uint e = 0u; e < 8u; ++e) {
        if (e >= from && e < to) dst[first + e] = uint16_t(f32_to_half(v[e / 4u][e % 4u]));
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
