// gptq_v1_b2_g128_act_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
// Generated from the specification below by `qkgen emit --format gptq_v1_b2_g128_act`; do not edit.
// 1608 bytes for 4096 elements, 2.141 bits each.
// For each weight 0.268 bytes read and 2 written, 22.1 operations: 3.06 loads, 5 bits, 10 integer, 1 float, 3 conversions.
//
//     format gptq_v1_b{bits}_g{group}_act "GPTQ with reordered groups: an index says the group of each input"
//     from "AutoGPTQ, GPTQModel: qlinear with desc_act, checkpoints of version 1"
//     for bits in 2 3 4 8, group in 32 64 128
//
//     block 32 x group ragged {
//         buffer qweight[cols][rows] { w: u32[32][group * bits / 32] }
//         buffer qzeros[g][rows]     { zs: u32[bits][1] }
//         buffer scales[g][rows]     { d: f16[32][1] }
//         buffer g_idx[cols]         { groups: u32[group] }
//     }
//
//     code q                = w      { bits @ 0 (32 * group:bits) }
//     code z per group      = zs     { bits @ 0 (32:bits) }
//     code s: f16 per group = d      { 16 @ 0 (32:16) }
//     code g                = groups { 32 @ 0 (group:32) }
//
//     value = (q - (z + 1 & (1 << bits) - 1)) * s
//
// Here bits = 2, group = 128.
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer QweightBuffer { uint qweight[]; };
layout(binding = 1, std430) readonly buffer QzerosBuffer { uint qzeros[]; };
layout(binding = 2, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 3, std430) readonly buffer G_idxBuffer { uint g_idx[]; };
layout(binding = 4, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 5, std430) writeonly buffer Dst { uint16_t dst[]; };
layout(binding = 6, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 16 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
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

// The 16 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[4]) {
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 8u;
    const uint t = tile % 8u;
    // elements 0 to 3, counted from the tile's first
    uint w = qweight[tile * rows + row];
    uvec4 q0 = (uvec4(w) >> uvec4(0, 2, 4, 6)) & 3u;  // w: 2 bits
    uint groups0 = g_idx[min(block_col * 128u + t * 16u, cols - 1u)];
    uint groups1 = g_idx[min(block_col * 128u + t * 16u + 1u, cols - 1u)];
    uint groups2 = g_idx[min(block_col * 128u + t * 16u + 2u, cols - 1u)];
    uint groups3 = g_idx[min(block_col * 128u + t * 16u + 3u, cols - 1u)];
    uvec4 g0 = uvec4(groups0, groups1, groups2, groups3);  // groups: 32 bits
    uint group0 = min(g0.x, grid_cols - 1u);
    uint zs0 = qzeros[group0 * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z0 = (zs0 >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uint group1 = min(g0.y, grid_cols - 1u);
    uint zs1 = qzeros[group1 * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z1 = (zs1 >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uint group2 = min(g0.z, grid_cols - 1u);
    uint zs2 = qzeros[group2 * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z2 = (zs2 >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uint group3 = min(g0.w, grid_cols - 1u);
    uint zs3 = qzeros[group3 * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z3 = (zs3 >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uvec4 z4 = uvec4(z0, z1, z2, z3);
    uint d0 = uint(scales[group0 * rows + row]);
    float s0 = f16_to_f32(d0);  // d: 16 bits
    uint d1 = uint(scales[group1 * rows + row]);
    float s1 = f16_to_f32(d1);  // d: 16 bits
    uint d2 = uint(scales[group2 * rows + row]);
    float s2 = f16_to_f32(d2);  // d: 16 bits
    uint d3 = uint(scales[group3 * rows + row]);
    float s3 = f16_to_f32(d3);  // d: 16 bits
    vec4 s4 = vec4(s0, s1, s2, s3);
    v[0] = vec4(ivec4(q0) - ((ivec4(z4) + 1) & 3)) * s4;

    // elements 4 to 7, counted from the tile's first
    uvec4 q1 = (uvec4(w) >> uvec4(8, 10, 12, 14)) & 3u;  // w: 2 bits
    uint groups4 = g_idx[min(block_col * 128u + t * 16u + 4u, cols - 1u)];
    uint groups5 = g_idx[min(block_col * 128u + t * 16u + 5u, cols - 1u)];
    uint groups6 = g_idx[min(block_col * 128u + t * 16u + 6u, cols - 1u)];
    uint groups7 = g_idx[min(block_col * 128u + t * 16u + 7u, cols - 1u)];
    uvec4 g1 = uvec4(groups4, groups5, groups6, groups7);  // groups: 32 bits
    uint group4 = min(g1.x, grid_cols - 1u);
    uint zs4 = qzeros[group4 * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z5 = (zs4 >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uint group5 = min(g1.y, grid_cols - 1u);
    uint zs5 = qzeros[group5 * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z6 = (zs5 >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uint group6 = min(g1.z, grid_cols - 1u);
    uint zs6 = qzeros[group6 * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z7 = (zs6 >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uint group7 = min(g1.w, grid_cols - 1u);
    uint zs7 = qzeros[group7 * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z8 = (zs7 >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uvec4 z9 = uvec4(z5, z6, z7, z8);
    uint d4 = uint(scales[group4 * rows + row]);
    float s5 = f16_to_f32(d4);  // d: 16 bits
    uint d5 = uint(scales[group5 * rows + row]);
    float s6 = f16_to_f32(d5);  // d: 16 bits
    uint d6 = uint(scales[group6 * rows + row]);
    float s7 = f16_to_f32(d6);  // d: 16 bits
    uint d7 = uint(scales[group7 * rows + row]);
    float s8 = f16_to_f32(d7);  // d: 16 bits
    vec4 s9 = vec4(s5, s6, s7, s8);
    v[1] = vec4(ivec4(q1) - ((ivec4(z9) + 1) & 3)) * s9;

    // elements 8 to 11, counted from the tile's first
    uvec4 q2 = (uvec4(w) >> uvec4(16, 18, 20, 22)) & 3u;  // w: 2 bits
    uint groups8 = g_idx[min(block_col * 128u + t * 16u + 8u, cols - 1u)];
    uint groups9 = g_idx[min(block_col * 128u + t * 16u + 9u, cols - 1u)];
    uint groups10 = g_idx[min(block_col * 128u + t * 16u + 10u, cols - 1u)];
    uint groups11 = g_idx[min(block_col * 128u + t * 16u + 11u, cols - 1u)];
    uvec4 g2 = uvec4(groups8, groups9, groups10, groups11);  // groups: 32 bits
    uint group8 = min(g2.x, grid_cols - 1u);
    uint zs8 = qzeros[group8 * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z10 = (zs8 >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uint group9 = min(g2.y, grid_cols - 1u);
    uint zs9 = qzeros[group9 * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z11 = (zs9 >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uint group10 = min(g2.z, grid_cols - 1u);
    uint zs10 = qzeros[group10 * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z12 = (zs10 >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uint group11 = min(g2.w, grid_cols - 1u);
    uint zs11 = qzeros[group11 * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z13 = (zs11 >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uvec4 z14 = uvec4(z10, z11, z12, z13);
    uint d8 = uint(scales[group8 * rows + row]);
    float s10 = f16_to_f32(d8);  // d: 16 bits
    uint d9 = uint(scales[group9 * rows + row]);
    float s11 = f16_to_f32(d9);  // d: 16 bits
    uint d10 = uint(scales[group10 * rows + row]);
    float s12 = f16_to_f32(d10);  // d: 16 bits
    uint d11 = uint(scales[group11 * rows + row]);
    float s13 = f16_to_f32(d11);  // d: 16 bits
    vec4 s14 = vec4(s10, s11, s12, s13);
    v[2] = vec4(ivec4(q2) - ((ivec4(z14) + 1) & 3)) * s14;

    // elements 12 to 15, counted from the tile's first
    uvec4 q3 = (uvec4(w) >> uvec4(24, 26, 28, 30)) & 3u;  // w: 2 bits
    uint groups12 = g_idx[min(block_col * 128u + t * 16u + 12u, cols - 1u)];
    uint groups13 = g_idx[min(block_col * 128u + t * 16u + 13u, cols - 1u)];
    uint groups14 = g_idx[min(block_col * 128u + t * 16u + 14u, cols - 1u)];
    uint groups15 = g_idx[min(block_col * 128u + t * 16u + 15u, cols - 1u)];
    uvec4 g3 = uvec4(groups12, groups13, groups14, groups15);  // groups: 32 bits
    uint group12 = min(g3.x, grid_cols - 1u);
    uint zs12 = qzeros[group12 * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z15 = (zs12 >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uint group13 = min(g3.y, grid_cols - 1u);
    uint zs13 = qzeros[group13 * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z16 = (zs13 >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uint group14 = min(g3.z, grid_cols - 1u);
    uint zs14 = qzeros[group14 * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z17 = (zs14 >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uint group15 = min(g3.w, grid_cols - 1u);
    uint zs15 = qzeros[group15 * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z18 = (zs15 >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uvec4 z19 = uvec4(z15, z16, z17, z18);
    uint d12 = uint(scales[group12 * rows + row]);
    float s15 = f16_to_f32(d12);  // d: 16 bits
    uint d13 = uint(scales[group13 * rows + row]);
    float s16 = f16_to_f32(d13);  // d: 16 bits
    uint d14 = uint(scales[group14 * rows + row]);
    float s17 = f16_to_f32(d14);  // d: 16 bits
    uint d15 = uint(scales[group15 * rows + row]);
    float s18 = f16_to_f32(d15);  // d: 16 bits
    vec4 s19 = vec4(s15, s16, s17, s18);
    v[3] = vec4(ivec4(q3) - ((ivec4(z19) + 1) & 3)) * s19;
}

// Stores elements [from, to) of a tile; its first belongs at `at`.
void write_tile(uint at, uint from, uint to, vec4 v[4]) {
    for (uint e = 0u; e < 16u; ++e) {
        if (e >= from && e < to) dst[at + e] = uint16_t(f32_to_f16(v[e / 4u][e % 4u]));
    }
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tokens * row_tiles; i += threads) {
        const uint token = i / row_tiles, j = i % row_tiles;
        uint index = indices[token];
        const bool found = index < table_rows;
        if (!found) {
            // No such row: zeros, and the token is counted once.
            if (j == 0u) atomicAdd(out_of_range, 1u);
            index = 0u;
        }
        const uint row = index, tile = j;
        vec4 v[4];
        if (found) {
            decode(row, tile, v);
        } else {
            for (uint r = 0u; r < 4u; ++r) v[r] = vec4(0.0);
        }
        write_tile(token * cols + tile * 16u, 0u, min(16u, cols - tile * 16u), v);
    }
}
