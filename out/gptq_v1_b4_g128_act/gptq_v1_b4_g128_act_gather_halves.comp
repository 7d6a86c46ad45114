// gptq_v1_b4_g128_act_gather_halves: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16 or bf16.
// Generated from the specification below by `qkgen emit --format gptq_v1_b4_g128_act`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 2640 bytes for 4096 elements, 4.156 bits each.
// For each weight 0.52 bytes read and 2 written, 23 operations: 3.12 loads, 5 bits, 10.9 integer, 1 float, 3 conversions.
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
layout(binding = 4, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 5, std430) writeonly buffer Dst { uint16_t dst[]; };
layout(binding = 5, std430) writeonly buffer DstWhole { uvec4 dst_whole[]; };
layout(binding = 6, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
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
// 256, cut into patches of 8 tiles, so that threads that run together read and write whole lines.
uvec2 row_and_tile(uint i, uint rows, uint row_tiles) {
    const uint tall = min(256u, rows), strip = i / (tall * row_tiles);
    uint rest = i - strip * (tall * row_tiles);
    const uint height = min(tall, rows - strip * tall);
    const uint patch_size = height * 8u;
    const uint patch_number = height == 256u ? rest / 2048u : rest / patch_size;
    rest -= patch_number * patch_size;
    const uint first = patch_number * 8u, width = min(8u, row_tiles - first);
    const uint down = width == 8u ? rest / 8u : rest / width;
    return uvec2(strip * tall + down, first + rest - down * width);
}

// The 8 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[2]) {
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 16u;
    const uint t = tile % 16u;
    // elements 0 to 3, counted from the tile's first
    uint w = qweight[tile * rows + row];
    uvec4 q0 = (uvec4(w) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint groups0 = g_idx[min(block_col * 128u + t * 8u, cols - 1u)], groups1 = g_idx[min(block_col * 128u + t * 8u + 1u, cols - 1u)];
    uint groups2 = g_idx[min(block_col * 128u + t * 8u + 2u, cols - 1u)], groups3 = g_idx[min(block_col * 128u + t * 8u + 3u, cols - 1u)];
    uvec4 g0 = uvec4(groups0, groups1, groups2, groups3);  // groups: 32 bits
    uint group0 = min(g0.x, grid_cols - 1u);
    uint zs0 = qzeros[group0 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z0 = (zs0 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group1 = min(g0.y, grid_cols - 1u);
    uint zs1 = qzeros[group1 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z1 = (zs1 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group2 = min(g0.z, grid_cols - 1u);
    uint zs2 = qzeros[group2 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z2 = (zs2 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group3 = min(g0.w, grid_cols - 1u);
    uint zs3 = qzeros[group3 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z3 = (zs3 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uvec4 z4 = uvec4(z0, z1, z2, z3);
    uint d0 = uint(scales[group0 * rows + row]);
    float s0 = unpackHalf2x16(d0).x;  // d: 16 bits
    uint d1 = uint(scales[group1 * rows + row]);
    float s1 = unpackHalf2x16(d1).x;  // d: 16 bits
    uint d2 = uint(scales[group2 * rows + row]);
    float s2 = unpackHalf2x16(d2).x;  // d: 16 bits
    uint d3 = uint(scales[group3 * rows + row]);
    float s3 = unpackHalf2x16(d3).x;  // d: 16 bits
    vec4 s4 = vec4(s0, s1, s2, s3);
    v[0] = vec4(ivec4(q0) - ((ivec4(z4) + 1) & 15)) * s4;

    // elements 4 to 7, counted from the tile's first
    uvec4 q1 = (uvec4(w) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uint groups4 = g_idx[min(block_col * 128u + t * 8u + 4u, cols - 1u)], groups5 = g_idx[min(block_col * 128u + t * 8u + 5u, cols - 1u)];
    uint groups6 = g_idx[min(block_col * 128u + t * 8u + 6u, cols - 1u)], groups7 = g_idx[min(block_col * 128u + t * 8u + 7u, cols - 1u)];
    uvec4 g1 = uvec4(groups4, groups5, groups6, groups7);  // groups: 32 bits
    uint group4 = min(g1.x, grid_cols - 1u);
    uint zs4 = qzeros[group4 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z5 = (zs4 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group5 = min(g1.y, grid_cols - 1u);
    uint zs5 = qzeros[group5 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z6 = (zs5 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group6 = min(g1.z, grid_cols - 1u);
    uint zs6 = qzeros[group6 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z7 = (zs6 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group7 = min(g1.w, grid_cols - 1u);
    uint zs7 = qzeros[group7 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z8 = (zs7 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uvec4 z9 = uvec4(z5, z6, z7, z8);
    uint d4 = uint(scales[group4 * rows + row]);
    float s5 = unpackHalf2x16(d4).x;  // d: 16 bits
    uint d5 = uint(scales[group5 * rows + row]);
    float s6 = unpackHalf2x16(d5).x;  // d: 16 bits
    uint d6 = uint(scales[group6 * rows + row]);
    float s7 = unpackHalf2x16(d6).x;  // d: 16 bits
    uint d7 = uint(scales[group7 * rows + row]);
    float s8 = unpackHalf2x16(d7).x;  // d: 16 bits
    vec4 s9 = vec4(s5, s6, s7, s8);
    v[1] = vec4(ivec4(q1) - ((ivec4(z9) + 1) & 15)) * s9;
}

// Stores elements [from, to) of a tile; its first belongs at `first`.
void write_tile(uint first, uint from, uint to, vec4 v[2]) {
    if (from == 0u && to == 8u && first % 8u == 0u) {
        const uint at = first / 8u;
        dst_whole[at] = uvec4(pack_halves(v[0]), pack_halves(v[1]));
        return;
    }
    for (uint e = 0u; e < 8u; ++e) {
        if (e >= from && e < to) dst[first + e] = uint16_t(f32_to_half(v[e / 4u][e % 4u]));
    }
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tokens * row_tiles; i += threads) {
        const uvec2 at = row_and_tile(i, tokens, row_tiles);
        const uint token = at.x, j = at.y;
        uint index = indices[token];
        const bool found = index < table_rows;
        if (!found) {
            // No such row: zeros, and the token is counted once.
            if (j == 0u) atomicAdd(out_of_range, 1u);
            index = 0u;
        }
        const uint row = index, tile = j;
        vec4 v[2];
        if (found) {
            decode(row, tile, v);
        } else {
            for (uint r = 0u; r < 2u; ++r) v[r] = vec4(0.0);
        }
        write_tile(token * cols + tile * 8u, 0u, min(8u, cols - tile * 8u), v);
    }
}
