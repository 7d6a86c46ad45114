// gptq_v2_b3_g128_act_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
// Generated from the specification below by `qkgen emit --format gptq_v2_b3_g128_act`; do not edit.
// 2124 bytes for 4096 elements, 3.148 bits each.
// For each weight 0.394 bytes read, 26.7 operations: 4.09 loads, 7.19 bits, 10.4 integer, 3 float, 2 conversions.
//
//     format gptq_v2_b{bits}_g{group}_act "GPTQ with reordered groups: an index says the group of each input"
//     from "AutoGPTQ, GPTQModel: qlinear with desc_act, checkpoints of version 2"
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
//     value = (q - z) * s
//
// Here bits = 3, group = 128.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides at once, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row

layout(binding = 0, std430) readonly buffer QweightBuffer { uint qweight[]; };
layout(binding = 1, std430) readonly buffer QzerosBuffer { uint qzeros[]; };
layout(binding = 2, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 3, std430) readonly buffer G_idxBuffer { uint g_idx[]; };
layout(binding = 4, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 4, std430) readonly buffer InputElements { float x_at[]; };
layout(binding = 5, std430) writeonly buffer Output { float y[]; };

layout(push_constant) uniform Push {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of 32 elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
    uint cols;       // of the matrix that the blocks are patches of
    uint grid_rows;  // blocks
    uint grid_cols;
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

const uint TILES = BATCH == 1u ? 2u : 1u;

// What a thread keeps of x: tiles, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][BATCH][8];
float x_sum[TILES][BATCH][1];

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
void load_x(uint vector, uint j, uint k) {
    const uint place = j * 8u;
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * (cols / 4u) + place;
        const vec4 x0 = x_in[from];
        const vec4 x1 = x_in[from + 1u];
        const vec4 x2 = x_in[from + 2u];
        const vec4 x3 = x_in[from + 3u];
        const vec4 x4 = x_in[from + 4u];
        const vec4 x5 = x_in[from + 5u];
        const vec4 x6 = x_in[from + 6u];
        const vec4 x7 = x_in[from + 7u];
        x[k][m][0] = x0;
        x[k][m][1] = x1;
        x[k][m][2] = x2;
        x[k][m][3] = x3;
        x[k][m][4] = x4;
        x[k][m][5] = x5;
        x[k][m][6] = x6;
        x[k][m][7] = x7;
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
void accumulate(uint n, uint j, uint k, inout float sum[BATCH]) {
    const uint row = n, tile = j;
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 4u;
    const uint t = tile % 4u;
    uint w0 = qweight[min(block_col * 12u + t * 3u, cols / 128u * 12u + (cols % 128u * 12u + 0x7Fu) / 128u - 1u) * rows + row];
    uvec4 q0 = (uvec4(w0) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    uint groups0 = g_idx[min(block_col * 128u + t * 32u, cols - 1u)];
    uint groups1 = g_idx[min(block_col * 128u + t * 32u + 1u, cols - 1u)];
    uint groups2 = g_idx[min(block_col * 128u + t * 32u + 2u, cols - 1u)];
    uint groups3 = g_idx[min(block_col * 128u + t * 32u + 3u, cols - 1u)];
    uvec4 g0 = uvec4(groups0, groups1, groups2, groups3);  // groups: 32 bits
    uint group0 = min(g0.x, grid_cols - 1u);
    uint zs0 = qzeros[group0 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs1 = qzeros[group0 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run0 = (zs0 >> (r * 3u % 32u)) | ((zs1 << 1u) << (31u - r * 3u % 32u));
    uint z0 = zs_run0 & 7u;  // zs: 3 bits
    uint group1 = min(g0.y, grid_cols - 1u);
    uint zs2 = qzeros[group1 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs3 = qzeros[group1 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run1 = (zs2 >> (r * 3u % 32u)) | ((zs3 << 1u) << (31u - r * 3u % 32u));
    uint z1 = zs_run1 & 7u;  // zs: 3 bits
    uint group2 = min(g0.z, grid_cols - 1u);
    uint zs4 = qzeros[group2 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs5 = qzeros[group2 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run2 = (zs4 >> (r * 3u % 32u)) | ((zs5 << 1u) << (31u - r * 3u % 32u));
    uint z2 = zs_run2 & 7u;  // zs: 3 bits
    uint group3 = min(g0.w, grid_cols - 1u);
    uint zs6 = qzeros[group3 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs7 = qzeros[group3 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run3 = (zs6 >> (r * 3u % 32u)) | ((zs7 << 1u) << (31u - r * 3u % 32u));
    uint z3 = zs_run3 & 7u;  // zs: 3 bits
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
    uvec4 q1 = (uvec4(w0) >> uvec4(12, 15, 18, 21)) & 7u;  // w: 3 bits
    uint groups4 = g_idx[min(block_col * 128u + t * 32u + 4u, cols - 1u)];
    uint groups5 = g_idx[min(block_col * 128u + t * 32u + 5u, cols - 1u)];
    uint groups6 = g_idx[min(block_col * 128u + t * 32u + 6u, cols - 1u)];
    uint groups7 = g_idx[min(block_col * 128u + t * 32u + 7u, cols - 1u)];
    uvec4 g1 = uvec4(groups4, groups5, groups6, groups7);  // groups: 32 bits
    uint group4 = min(g1.x, grid_cols - 1u);
    uint zs8 = qzeros[group4 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs9 = qzeros[group4 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run4 = (zs8 >> (r * 3u % 32u)) | ((zs9 << 1u) << (31u - r * 3u % 32u));
    uint z5 = zs_run4 & 7u;  // zs: 3 bits
    uint group5 = min(g1.y, grid_cols - 1u);
    uint zs10 = qzeros[group5 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs11 = qzeros[group5 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run5 = (zs10 >> (r * 3u % 32u)) | ((zs11 << 1u) << (31u - r * 3u % 32u));
    uint z6 = zs_run5 & 7u;  // zs: 3 bits
    uint group6 = min(g1.z, grid_cols - 1u);
    uint zs12 = qzeros[group6 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs13 = qzeros[group6 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run6 = (zs12 >> (r * 3u % 32u)) | ((zs13 << 1u) << (31u - r * 3u % 32u));
    uint z7 = zs_run6 & 7u;  // zs: 3 bits
    uint group7 = min(g1.w, grid_cols - 1u);
    uint zs14 = qzeros[group7 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs15 = qzeros[group7 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run7 = (zs14 >> (r * 3u % 32u)) | ((zs15 << 1u) << (31u - r * 3u % 32u));
    uint z8 = zs_run7 & 7u;  // zs: 3 bits
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
    uint w1 = qweight[min(block_col * 12u + t * 3u + 1u, cols / 128u * 12u + (cols % 128u * 12u + 0x7Fu) / 128u - 1u) * rows + row];
    uint w_run0 = (w0 >> 16u) | (w1 << 16u);
    uvec4 q2 = (uvec4(w_run0) >> uvec4(8, 11, 14, 17)) & 7u;  // w: 3 bits
    uint groups8 = g_idx[min(block_col * 128u + t * 32u + 8u, cols - 1u)];
    uint groups9 = g_idx[min(block_col * 128u + t * 32u + 9u, cols - 1u)];
    uint groups10 = g_idx[min(block_col * 128u + t * 32u + 10u, cols - 1u)];
    uint groups11 = g_idx[min(block_col * 128u + t * 32u + 11u, cols - 1u)];
    uvec4 g2 = uvec4(groups8, groups9, groups10, groups11);  // groups: 32 bits
    uint group8 = min(g2.x, grid_cols - 1u);
    uint zs16 = qzeros[group8 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs17 = qzeros[group8 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run8 = (zs16 >> (r * 3u % 32u)) | ((zs17 << 1u) << (31u - r * 3u % 32u));
    uint z10 = zs_run8 & 7u;  // zs: 3 bits
    uint group9 = min(g2.y, grid_cols - 1u);
    uint zs18 = qzeros[group9 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs19 = qzeros[group9 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run9 = (zs18 >> (r * 3u % 32u)) | ((zs19 << 1u) << (31u - r * 3u % 32u));
    uint z11 = zs_run9 & 7u;  // zs: 3 bits
    uint group10 = min(g2.z, grid_cols - 1u);
    uint zs20 = qzeros[group10 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs21 = qzeros[group10 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run10 = (zs20 >> (r * 3u % 32u)) | ((zs21 << 1u) << (31u - r * 3u % 32u));
    uint z12 = zs_run10 & 7u;  // zs: 3 bits
    uint group11 = min(g2.w, grid_cols - 1u);
    uint zs22 = qzeros[group11 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs23 = qzeros[group11 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run11 = (zs22 >> (r * 3u % 32u)) | ((zs23 << 1u) << (31u - r * 3u % 32u));
    uint z13 = zs_run11 & 7u;  // zs: 3 bits
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
    uvec4 q3 = (uvec4(w1) >> uvec4(4, 7, 10, 13)) & 7u;  // w: 3 bits
    uint groups12 = g_idx[min(block_col * 128u + t * 32u + 12u, cols - 1u)];
    uint groups13 = g_idx[min(block_col * 128u + t * 32u + 13u, cols - 1u)];
    uint groups14 = g_idx[min(block_col * 128u + t * 32u + 14u, cols - 1u)];
    uint groups15 = g_idx[min(block_col * 128u + t * 32u + 15u, cols - 1u)];
    uvec4 g3 = uvec4(groups12, groups13, groups14, groups15);  // groups: 32 bits
    uint group12 = min(g3.x, grid_cols - 1u);
    uint zs24 = qzeros[group12 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs25 = qzeros[group12 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run12 = (zs24 >> (r * 3u % 32u)) | ((zs25 << 1u) << (31u - r * 3u % 32u));
    uint z15 = zs_run12 & 7u;  // zs: 3 bits
    uint group13 = min(g3.y, grid_cols - 1u);
    uint zs26 = qzeros[group13 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs27 = qzeros[group13 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run13 = (zs26 >> (r * 3u % 32u)) | ((zs27 << 1u) << (31u - r * 3u % 32u));
    uint z16 = zs_run13 & 7u;  // zs: 3 bits
    uint group14 = min(g3.z, grid_cols - 1u);
    uint zs28 = qzeros[group14 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs29 = qzeros[group14 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run14 = (zs28 >> (r * 3u % 32u)) | ((zs29 << 1u) << (31u - r * 3u % 32u));
    uint z17 = zs_run14 & 7u;  // zs: 3 bits
    uint group15 = min(g3.w, grid_cols - 1u);
    uint zs30 = qzeros[group15 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs31 = qzeros[group15 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run15 = (zs30 >> (r * 3u % 32u)) | ((zs31 << 1u) << (31u - r * 3u % 32u));
    uint z18 = zs_run15 & 7u;  // zs: 3 bits
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
    uvec4 q4 = (uvec4(w1) >> uvec4(16, 19, 22, 25)) & 7u;  // w: 3 bits
    uint groups16 = g_idx[min(block_col * 128u + t * 32u + 16u, cols - 1u)];
    uint groups17 = g_idx[min(block_col * 128u + t * 32u + 17u, cols - 1u)];
    uint groups18 = g_idx[min(block_col * 128u + t * 32u + 18u, cols - 1u)];
    uint groups19 = g_idx[min(block_col * 128u + t * 32u + 19u, cols - 1u)];
    uvec4 g4 = uvec4(groups16, groups17, groups18, groups19);  // groups: 32 bits
    uint group16 = min(g4.x, grid_cols - 1u);
    uint zs32 = qzeros[group16 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs33 = qzeros[group16 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run16 = (zs32 >> (r * 3u % 32u)) | ((zs33 << 1u) << (31u - r * 3u % 32u));
    uint z20 = zs_run16 & 7u;  // zs: 3 bits
    uint group17 = min(g4.y, grid_cols - 1u);
    uint zs34 = qzeros[group17 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs35 = qzeros[group17 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run17 = (zs34 >> (r * 3u % 32u)) | ((zs35 << 1u) << (31u - r * 3u % 32u));
    uint z21 = zs_run17 & 7u;  // zs: 3 bits
    uint group18 = min(g4.z, grid_cols - 1u);
    uint zs36 = qzeros[group18 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs37 = qzeros[group18 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run18 = (zs36 >> (r * 3u % 32u)) | ((zs37 << 1u) << (31u - r * 3u % 32u));
    uint z22 = zs_run18 & 7u;  // zs: 3 bits
    uint group19 = min(g4.w, grid_cols - 1u);
    uint zs38 = qzeros[group19 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs39 = qzeros[group19 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run19 = (zs38 >> (r * 3u % 32u)) | ((zs39 << 1u) << (31u - r * 3u % 32u));
    uint z23 = zs_run19 & 7u;  // zs: 3 bits
    uvec4 z24 = uvec4(z20, z21, z22, z23);
    uint d16 = uint(scales[group16 * rows + row]);
    float s20 = f16_to_f32(d16);  // d: 16 bits
    uint d17 = uint(scales[group17 * rows + row]);
    float s21 = f16_to_f32(d17);  // d: 16 bits
    uint d18 = uint(scales[group18 * rows + row]);
    float s22 = f16_to_f32(d18);  // d: 16 bits
    uint d19 = uint(scales[group19 * rows + row]);
    float s23 = f16_to_f32(d19);  // d: 16 bits
    vec4 s24 = vec4(s20, s21, s22, s23);
    uint w2 = qweight[min(block_col * 12u + t * 3u + 2u, cols / 128u * 12u + (cols % 128u * 12u + 0x7Fu) / 128u - 1u) * rows + row];
    uint w_run1 = (w1 >> 16u) | (w2 << 16u);
    uvec4 q5 = (uvec4(w_run1) >> uvec4(12, 15, 18, 21)) & 7u;  // w: 3 bits
    uint groups20 = g_idx[min(block_col * 128u + t * 32u + 20u, cols - 1u)];
    uint groups21 = g_idx[min(block_col * 128u + t * 32u + 21u, cols - 1u)];
    uint groups22 = g_idx[min(block_col * 128u + t * 32u + 22u, cols - 1u)];
    uint groups23 = g_idx[min(block_col * 128u + t * 32u + 23u, cols - 1u)];
    uvec4 g5 = uvec4(groups20, groups21, groups22, groups23);  // groups: 32 bits
    uint group20 = min(g5.x, grid_cols - 1u);
    uint zs40 = qzeros[group20 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs41 = qzeros[group20 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run20 = (zs40 >> (r * 3u % 32u)) | ((zs41 << 1u) << (31u - r * 3u % 32u));
    uint z25 = zs_run20 & 7u;  // zs: 3 bits
    uint group21 = min(g5.y, grid_cols - 1u);
    uint zs42 = qzeros[group21 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs43 = qzeros[group21 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run21 = (zs42 >> (r * 3u % 32u)) | ((zs43 << 1u) << (31u - r * 3u % 32u));
    uint z26 = zs_run21 & 7u;  // zs: 3 bits
    uint group22 = min(g5.z, grid_cols - 1u);
    uint zs44 = qzeros[group22 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs45 = qzeros[group22 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run22 = (zs44 >> (r * 3u % 32u)) | ((zs45 << 1u) << (31u - r * 3u % 32u));
    uint z27 = zs_run22 & 7u;  // zs: 3 bits
    uint group23 = min(g5.w, grid_cols - 1u);
    uint zs46 = qzeros[group23 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs47 = qzeros[group23 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run23 = (zs46 >> (r * 3u % 32u)) | ((zs47 << 1u) << (31u - r * 3u % 32u));
    uint z28 = zs_run23 & 7u;  // zs: 3 bits
    uvec4 z29 = uvec4(z25, z26, z27, z28);
    uint d20 = uint(scales[group20 * rows + row]);
    float s25 = f16_to_f32(d20);  // d: 16 bits
    uint d21 = uint(scales[group21 * rows + row]);
    float s26 = f16_to_f32(d21);  // d: 16 bits
    uint d22 = uint(scales[group22 * rows + row]);
    float s27 = f16_to_f32(d22);  // d: 16 bits
    uint d23 = uint(scales[group23 * rows + row]);
    float s28 = f16_to_f32(d23);  // d: 16 bits
    vec4 s29 = vec4(s25, s26, s27, s28);
    uvec4 q6 = (uvec4(w2) >> uvec4(8, 11, 14, 17)) & 7u;  // w: 3 bits
    uint groups24 = g_idx[min(block_col * 128u + t * 32u + 24u, cols - 1u)];
    uint groups25 = g_idx[min(block_col * 128u + t * 32u + 25u, cols - 1u)];
    uint groups26 = g_idx[min(block_col * 128u + t * 32u + 26u, cols - 1u)];
    uint groups27 = g_idx[min(block_col * 128u + t * 32u + 27u, cols - 1u)];
    uvec4 g6 = uvec4(groups24, groups25, groups26, groups27);  // groups: 32 bits
    uint group24 = min(g6.x, grid_cols - 1u);
    uint zs48 = qzeros[group24 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs49 = qzeros[group24 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run24 = (zs48 >> (r * 3u % 32u)) | ((zs49 << 1u) << (31u - r * 3u % 32u));
    uint z30 = zs_run24 & 7u;  // zs: 3 bits
    uint group25 = min(g6.y, grid_cols - 1u);
    uint zs50 = qzeros[group25 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs51 = qzeros[group25 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run25 = (zs50 >> (r * 3u % 32u)) | ((zs51 << 1u) << (31u - r * 3u % 32u));
    uint z31 = zs_run25 & 7u;  // zs: 3 bits
    uint group26 = min(g6.z, grid_cols - 1u);
    uint zs52 = qzeros[group26 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs53 = qzeros[group26 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run26 = (zs52 >> (r * 3u % 32u)) | ((zs53 << 1u) << (31u - r * 3u % 32u));
    uint z32 = zs_run26 & 7u;  // zs: 3 bits
    uint group27 = min(g6.w, grid_cols - 1u);
    uint zs54 = qzeros[group27 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs55 = qzeros[group27 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run27 = (zs54 >> (r * 3u % 32u)) | ((zs55 << 1u) << (31u - r * 3u % 32u));
    uint z33 = zs_run27 & 7u;  // zs: 3 bits
    uvec4 z34 = uvec4(z30, z31, z32, z33);
    uint d24 = uint(scales[group24 * rows + row]);
    float s30 = f16_to_f32(d24);  // d: 16 bits
    uint d25 = uint(scales[group25 * rows + row]);
    float s31 = f16_to_f32(d25);  // d: 16 bits
    uint d26 = uint(scales[group26 * rows + row]);
    float s32 = f16_to_f32(d26);  // d: 16 bits
    uint d27 = uint(scales[group27 * rows + row]);
    float s33 = f16_to_f32(d27);  // d: 16 bits
    vec4 s34 = vec4(s30, s31, s32, s33);
    uvec4 q7 = (uvec4(w2) >> uvec4(20, 23, 26, 29)) & 7u;  // w: 3 bits
    uint groups28 = g_idx[min(block_col * 128u + t * 32u + 28u, cols - 1u)];
    uint groups29 = g_idx[min(block_col * 128u + t * 32u + 29u, cols - 1u)];
    uint groups30 = g_idx[min(block_col * 128u + t * 32u + 30u, cols - 1u)];
    uint groups31 = g_idx[min(block_col * 128u + t * 32u + 31u, cols - 1u)];
    uvec4 g7 = uvec4(groups28, groups29, groups30, groups31);  // groups: 32 bits
    uint group28 = min(g7.x, grid_cols - 1u);
    uint zs56 = qzeros[group28 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs57 = qzeros[group28 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run28 = (zs56 >> (r * 3u % 32u)) | ((zs57 << 1u) << (31u - r * 3u % 32u));
    uint z35 = zs_run28 & 7u;  // zs: 3 bits
    uint group29 = min(g7.y, grid_cols - 1u);
    uint zs58 = qzeros[group29 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs59 = qzeros[group29 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run29 = (zs58 >> (r * 3u % 32u)) | ((zs59 << 1u) << (31u - r * 3u % 32u));
    uint z36 = zs_run29 & 7u;  // zs: 3 bits
    uint group30 = min(g7.z, grid_cols - 1u);
    uint zs60 = qzeros[group30 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs61 = qzeros[group30 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run30 = (zs60 >> (r * 3u % 32u)) | ((zs61 << 1u) << (31u - r * 3u % 32u));
    uint z37 = zs_run30 & 7u;  // zs: 3 bits
    uint group31 = min(g7.w, grid_cols - 1u);
    uint zs62 = qzeros[group31 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs63 = qzeros[group31 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run31 = (zs62 >> (r * 3u % 32u)) | ((zs63 << 1u) << (31u - r * 3u % 32u));
    uint z38 = zs_run31 & 7u;  // zs: 3 bits
    uvec4 z39 = uvec4(z35, z36, z37, z38);
    uint d28 = uint(scales[group28 * rows + row]);
    float s35 = f16_to_f32(d28);  // d: 16 bits
    uint d29 = uint(scales[group29 * rows + row]);
    float s36 = f16_to_f32(d29);  // d: 16 bits
    uint d30 = uint(scales[group30 * rows + row]);
    float s37 = f16_to_f32(d30);  // d: 16 bits
    uint d31 = uint(scales[group31 * rows + row]);
    float s38 = f16_to_f32(d31);  // d: 16 bits
    vec4 s39 = vec4(s35, s36, s37, s38);
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        sum[m] += dot(x[k][m][0], vec4(ivec4(q0) - ivec4(z4)) * s4) + dot(x[k][m][1], vec4(ivec4(q1) - ivec4(z9)) * s9) + dot(x[k][m][2], vec4(ivec4(q2) - ivec4(z14)) * s14) + dot(x[k][m][3], vec4(ivec4(q3) - ivec4(z19)) * s19) + dot(x[k][m][4], vec4(ivec4(q4) - ivec4(z24)) * s24) + dot(x[k][m][5], vec4(ivec4(q5) - ivec4(z29)) * s29) + dot(x[k][m][6], vec4(ivec4(q6) - ivec4(z34)) * s34) + dot(x[k][m][7], vec4(ivec4(q7) - ivec4(z39)) * s39);
    }
}

// The 32 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[8]) {
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 4u;
    const uint t = tile % 4u;
    // elements 0 to 3, counted from the tile's first
    uint w0 = qweight[min(block_col * 12u + t * 3u, cols / 128u * 12u + (cols % 128u * 12u + 0x7Fu) / 128u - 1u) * rows + row];
    uvec4 q0 = (uvec4(w0) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    uint groups0 = g_idx[min(block_col * 128u + t * 32u, cols - 1u)];
    uint groups1 = g_idx[min(block_col * 128u + t * 32u + 1u, cols - 1u)];
    uint groups2 = g_idx[min(block_col * 128u + t * 32u + 2u, cols - 1u)];
    uint groups3 = g_idx[min(block_col * 128u + t * 32u + 3u, cols - 1u)];
    uvec4 g0 = uvec4(groups0, groups1, groups2, groups3);  // groups: 32 bits
    uint group0 = min(g0.x, grid_cols - 1u);
    uint zs0 = qzeros[group0 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs1 = qzeros[group0 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run0 = (zs0 >> (r * 3u % 32u)) | ((zs1 << 1u) << (31u - r * 3u % 32u));
    uint z0 = zs_run0 & 7u;  // zs: 3 bits
    uint group1 = min(g0.y, grid_cols - 1u);
    uint zs2 = qzeros[group1 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs3 = qzeros[group1 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run1 = (zs2 >> (r * 3u % 32u)) | ((zs3 << 1u) << (31u - r * 3u % 32u));
    uint z1 = zs_run1 & 7u;  // zs: 3 bits
    uint group2 = min(g0.z, grid_cols - 1u);
    uint zs4 = qzeros[group2 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs5 = qzeros[group2 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run2 = (zs4 >> (r * 3u % 32u)) | ((zs5 << 1u) << (31u - r * 3u % 32u));
    uint z2 = zs_run2 & 7u;  // zs: 3 bits
    uint group3 = min(g0.w, grid_cols - 1u);
    uint zs6 = qzeros[group3 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs7 = qzeros[group3 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run3 = (zs6 >> (r * 3u % 32u)) | ((zs7 << 1u) << (31u - r * 3u % 32u));
    uint z3 = zs_run3 & 7u;  // zs: 3 bits
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
    v[0] = vec4(ivec4(q0) - ivec4(z4)) * s4;

    // elements 4 to 7, counted from the tile's first
    uvec4 q1 = (uvec4(w0) >> uvec4(12, 15, 18, 21)) & 7u;  // w: 3 bits
    uint groups4 = g_idx[min(block_col * 128u + t * 32u + 4u, cols - 1u)];
    uint groups5 = g_idx[min(block_col * 128u + t * 32u + 5u, cols - 1u)];
    uint groups6 = g_idx[min(block_col * 128u + t * 32u + 6u, cols - 1u)];
    uint groups7 = g_idx[min(block_col * 128u + t * 32u + 7u, cols - 1u)];
    uvec4 g1 = uvec4(groups4, groups5, groups6, groups7);  // groups: 32 bits
    uint group4 = min(g1.x, grid_cols - 1u);
    uint zs8 = qzeros[group4 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs9 = qzeros[group4 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run4 = (zs8 >> (r * 3u % 32u)) | ((zs9 << 1u) << (31u - r * 3u % 32u));
    uint z5 = zs_run4 & 7u;  // zs: 3 bits
    uint group5 = min(g1.y, grid_cols - 1u);
    uint zs10 = qzeros[group5 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs11 = qzeros[group5 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run5 = (zs10 >> (r * 3u % 32u)) | ((zs11 << 1u) << (31u - r * 3u % 32u));
    uint z6 = zs_run5 & 7u;  // zs: 3 bits
    uint group6 = min(g1.z, grid_cols - 1u);
    uint zs12 = qzeros[group6 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs13 = qzeros[group6 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run6 = (zs12 >> (r * 3u % 32u)) | ((zs13 << 1u) << (31u - r * 3u % 32u));
    uint z7 = zs_run6 & 7u;  // zs: 3 bits
    uint group7 = min(g1.w, grid_cols - 1u);
    uint zs14 = qzeros[group7 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs15 = qzeros[group7 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run7 = (zs14 >> (r * 3u % 32u)) | ((zs15 << 1u) << (31u - r * 3u % 32u));
    uint z8 = zs_run7 & 7u;  // zs: 3 bits
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
    v[1] = vec4(ivec4(q1) - ivec4(z9)) * s9;

    // elements 8 to 11, counted from the tile's first
    uint w1 = qweight[min(block_col * 12u + t * 3u + 1u, cols / 128u * 12u + (cols % 128u * 12u + 0x7Fu) / 128u - 1u) * rows + row];
    uint w_run0 = (w0 >> 16u) | (w1 << 16u);
    uvec4 q2 = (uvec4(w_run0) >> uvec4(8, 11, 14, 17)) & 7u;  // w: 3 bits
    uint groups8 = g_idx[min(block_col * 128u + t * 32u + 8u, cols - 1u)];
    uint groups9 = g_idx[min(block_col * 128u + t * 32u + 9u, cols - 1u)];
    uint groups10 = g_idx[min(block_col * 128u + t * 32u + 10u, cols - 1u)];
    uint groups11 = g_idx[min(block_col * 128u + t * 32u + 11u, cols - 1u)];
    uvec4 g2 = uvec4(groups8, groups9, groups10, groups11);  // groups: 32 bits
    uint group8 = min(g2.x, grid_cols - 1u);
    uint zs16 = qzeros[group8 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs17 = qzeros[group8 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run8 = (zs16 >> (r * 3u % 32u)) | ((zs17 << 1u) << (31u - r * 3u % 32u));
    uint z10 = zs_run8 & 7u;  // zs: 3 bits
    uint group9 = min(g2.y, grid_cols - 1u);
    uint zs18 = qzeros[group9 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs19 = qzeros[group9 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run9 = (zs18 >> (r * 3u % 32u)) | ((zs19 << 1u) << (31u - r * 3u % 32u));
    uint z11 = zs_run9 & 7u;  // zs: 3 bits
    uint group10 = min(g2.z, grid_cols - 1u);
    uint zs20 = qzeros[group10 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs21 = qzeros[group10 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run10 = (zs20 >> (r * 3u % 32u)) | ((zs21 << 1u) << (31u - r * 3u % 32u));
    uint z12 = zs_run10 & 7u;  // zs: 3 bits
    uint group11 = min(g2.w, grid_cols - 1u);
    uint zs22 = qzeros[group11 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs23 = qzeros[group11 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run11 = (zs22 >> (r * 3u % 32u)) | ((zs23 << 1u) << (31u - r * 3u % 32u));
    uint z13 = zs_run11 & 7u;  // zs: 3 bits
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
    v[2] = vec4(ivec4(q2) - ivec4(z14)) * s14;

    // elements 12 to 15, counted from the tile's first
    uvec4 q3 = (uvec4(w1) >> uvec4(4, 7, 10, 13)) & 7u;  // w: 3 bits
    uint groups12 = g_idx[min(block_col * 128u + t * 32u + 12u, cols - 1u)];
    uint groups13 = g_idx[min(block_col * 128u + t * 32u + 13u, cols - 1u)];
    uint groups14 = g_idx[min(block_col * 128u + t * 32u + 14u, cols - 1u)];
    uint groups15 = g_idx[min(block_col * 128u + t * 32u + 15u, cols - 1u)];
    uvec4 g3 = uvec4(groups12, groups13, groups14, groups15);  // groups: 32 bits
    uint group12 = min(g3.x, grid_cols - 1u);
    uint zs24 = qzeros[group12 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs25 = qzeros[group12 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run12 = (zs24 >> (r * 3u % 32u)) | ((zs25 << 1u) << (31u - r * 3u % 32u));
    uint z15 = zs_run12 & 7u;  // zs: 3 bits
    uint group13 = min(g3.y, grid_cols - 1u);
    uint zs26 = qzeros[group13 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs27 = qzeros[group13 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run13 = (zs26 >> (r * 3u % 32u)) | ((zs27 << 1u) << (31u - r * 3u % 32u));
    uint z16 = zs_run13 & 7u;  // zs: 3 bits
    uint group14 = min(g3.z, grid_cols - 1u);
    uint zs28 = qzeros[group14 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs29 = qzeros[group14 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run14 = (zs28 >> (r * 3u % 32u)) | ((zs29 << 1u) << (31u - r * 3u % 32u));
    uint z17 = zs_run14 & 7u;  // zs: 3 bits
    uint group15 = min(g3.w, grid_cols - 1u);
    uint zs30 = qzeros[group15 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs31 = qzeros[group15 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run15 = (zs30 >> (r * 3u % 32u)) | ((zs31 << 1u) << (31u - r * 3u % 32u));
    uint z18 = zs_run15 & 7u;  // zs: 3 bits
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
    v[3] = vec4(ivec4(q3) - ivec4(z19)) * s19;

    // elements 16 to 19, counted from the tile's first
    uvec4 q4 = (uvec4(w1) >> uvec4(16, 19, 22, 25)) & 7u;  // w: 3 bits
    uint groups16 = g_idx[min(block_col * 128u + t * 32u + 16u, cols - 1u)];
    uint groups17 = g_idx[min(block_col * 128u + t * 32u + 17u, cols - 1u)];
    uint groups18 = g_idx[min(block_col * 128u + t * 32u + 18u, cols - 1u)];
    uint groups19 = g_idx[min(block_col * 128u + t * 32u + 19u, cols - 1u)];
    uvec4 g4 = uvec4(groups16, groups17, groups18, groups19);  // groups: 32 bits
    uint group16 = min(g4.x, grid_cols - 1u);
    uint zs32 = qzeros[group16 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs33 = qzeros[group16 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run16 = (zs32 >> (r * 3u % 32u)) | ((zs33 << 1u) << (31u - r * 3u % 32u));
    uint z20 = zs_run16 & 7u;  // zs: 3 bits
    uint group17 = min(g4.y, grid_cols - 1u);
    uint zs34 = qzeros[group17 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs35 = qzeros[group17 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run17 = (zs34 >> (r * 3u % 32u)) | ((zs35 << 1u) << (31u - r * 3u % 32u));
    uint z21 = zs_run17 & 7u;  // zs: 3 bits
    uint group18 = min(g4.z, grid_cols - 1u);
    uint zs36 = qzeros[group18 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs37 = qzeros[group18 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run18 = (zs36 >> (r * 3u % 32u)) | ((zs37 << 1u) << (31u - r * 3u % 32u));
    uint z22 = zs_run18 & 7u;  // zs: 3 bits
    uint group19 = min(g4.w, grid_cols - 1u);
    uint zs38 = qzeros[group19 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs39 = qzeros[group19 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run19 = (zs38 >> (r * 3u % 32u)) | ((zs39 << 1u) << (31u - r * 3u % 32u));
    uint z23 = zs_run19 & 7u;  // zs: 3 bits
    uvec4 z24 = uvec4(z20, z21, z22, z23);
    uint d16 = uint(scales[group16 * rows + row]);
    float s20 = f16_to_f32(d16);  // d: 16 bits
    uint d17 = uint(scales[group17 * rows + row]);
    float s21 = f16_to_f32(d17);  // d: 16 bits
    uint d18 = uint(scales[group18 * rows + row]);
    float s22 = f16_to_f32(d18);  // d: 16 bits
    uint d19 = uint(scales[group19 * rows + row]);
    float s23 = f16_to_f32(d19);  // d: 16 bits
    vec4 s24 = vec4(s20, s21, s22, s23);
    v[4] = vec4(ivec4(q4) - ivec4(z24)) * s24;

    // elements 20 to 23, counted from the tile's first
    uint w2 = qweight[min(block_col * 12u + t * 3u + 2u, cols / 128u * 12u + (cols % 128u * 12u + 0x7Fu) / 128u - 1u) * rows + row];
    uint w_run1 = (w1 >> 16u) | (w2 << 16u);
    uvec4 q5 = (uvec4(w_run1) >> uvec4(12, 15, 18, 21)) & 7u;  // w: 3 bits
    uint groups20 = g_idx[min(block_col * 128u + t * 32u + 20u, cols - 1u)];
    uint groups21 = g_idx[min(block_col * 128u + t * 32u + 21u, cols - 1u)];
    uint groups22 = g_idx[min(block_col * 128u + t * 32u + 22u, cols - 1u)];
    uint groups23 = g_idx[min(block_col * 128u + t * 32u + 23u, cols - 1u)];
    uvec4 g5 = uvec4(groups20, groups21, groups22, groups23);  // groups: 32 bits
    uint group20 = min(g5.x, grid_cols - 1u);
    uint zs40 = qzeros[group20 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs41 = qzeros[group20 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run20 = (zs40 >> (r * 3u % 32u)) | ((zs41 << 1u) << (31u - r * 3u % 32u));
    uint z25 = zs_run20 & 7u;  // zs: 3 bits
    uint group21 = min(g5.y, grid_cols - 1u);
    uint zs42 = qzeros[group21 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs43 = qzeros[group21 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run21 = (zs42 >> (r * 3u % 32u)) | ((zs43 << 1u) << (31u - r * 3u % 32u));
    uint z26 = zs_run21 & 7u;  // zs: 3 bits
    uint group22 = min(g5.z, grid_cols - 1u);
    uint zs44 = qzeros[group22 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs45 = qzeros[group22 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run22 = (zs44 >> (r * 3u % 32u)) | ((zs45 << 1u) << (31u - r * 3u % 32u));
    uint z27 = zs_run22 & 7u;  // zs: 3 bits
    uint group23 = min(g5.w, grid_cols - 1u);
    uint zs46 = qzeros[group23 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs47 = qzeros[group23 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run23 = (zs46 >> (r * 3u % 32u)) | ((zs47 << 1u) << (31u - r * 3u % 32u));
    uint z28 = zs_run23 & 7u;  // zs: 3 bits
    uvec4 z29 = uvec4(z25, z26, z27, z28);
    uint d20 = uint(scales[group20 * rows + row]);
    float s25 = f16_to_f32(d20);  // d: 16 bits
    uint d21 = uint(scales[group21 * rows + row]);
    float s26 = f16_to_f32(d21);  // d: 16 bits
    uint d22 = uint(scales[group22 * rows + row]);
    float s27 = f16_to_f32(d22);  // d: 16 bits
    uint d23 = uint(scales[group23 * rows + row]);
    float s28 = f16_to_f32(d23);  // d: 16 bits
    vec4 s29 = vec4(s25, s26, s27, s28);
    v[5] = vec4(ivec4(q5) - ivec4(z29)) * s29;

    // elements 24 to 27, counted from the tile's first
    uvec4 q6 = (uvec4(w2) >> uvec4(8, 11, 14, 17)) & 7u;  // w: 3 bits
    uint groups24 = g_idx[min(block_col * 128u + t * 32u + 24u, cols - 1u)];
    uint groups25 = g_idx[min(block_col * 128u + t * 32u + 25u, cols - 1u)];
    uint groups26 = g_idx[min(block_col * 128u + t * 32u + 26u, cols - 1u)];
    uint groups27 = g_idx[min(block_col * 128u + t * 32u + 27u, cols - 1u)];
    uvec4 g6 = uvec4(groups24, groups25, groups26, groups27);  // groups: 32 bits
    uint group24 = min(g6.x, grid_cols - 1u);
    uint zs48 = qzeros[group24 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs49 = qzeros[group24 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run24 = (zs48 >> (r * 3u % 32u)) | ((zs49 << 1u) << (31u - r * 3u % 32u));
    uint z30 = zs_run24 & 7u;  // zs: 3 bits
    uint group25 = min(g6.y, grid_cols - 1u);
    uint zs50 = qzeros[group25 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs51 = qzeros[group25 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run25 = (zs50 >> (r * 3u % 32u)) | ((zs51 << 1u) << (31u - r * 3u % 32u));
    uint z31 = zs_run25 & 7u;  // zs: 3 bits
    uint group26 = min(g6.z, grid_cols - 1u);
    uint zs52 = qzeros[group26 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs53 = qzeros[group26 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run26 = (zs52 >> (r * 3u % 32u)) | ((zs53 << 1u) << (31u - r * 3u % 32u));
    uint z32 = zs_run26 & 7u;  // zs: 3 bits
    uint group27 = min(g6.w, grid_cols - 1u);
    uint zs54 = qzeros[group27 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs55 = qzeros[group27 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run27 = (zs54 >> (r * 3u % 32u)) | ((zs55 << 1u) << (31u - r * 3u % 32u));
    uint z33 = zs_run27 & 7u;  // zs: 3 bits
    uvec4 z34 = uvec4(z30, z31, z32, z33);
    uint d24 = uint(scales[group24 * rows + row]);
    float s30 = f16_to_f32(d24);  // d: 16 bits
    uint d25 = uint(scales[group25 * rows + row]);
    float s31 = f16_to_f32(d25);  // d: 16 bits
    uint d26 = uint(scales[group26 * rows + row]);
    float s32 = f16_to_f32(d26);  // d: 16 bits
    uint d27 = uint(scales[group27 * rows + row]);
    float s33 = f16_to_f32(d27);  // d: 16 bits
    vec4 s34 = vec4(s30, s31, s32, s33);
    v[6] = vec4(ivec4(q6) - ivec4(z34)) * s34;

    // elements 28 to 31, counted from the tile's first
    uvec4 q7 = (uvec4(w2) >> uvec4(20, 23, 26, 29)) & 7u;  // w: 3 bits
    uint groups28 = g_idx[min(block_col * 128u + t * 32u + 28u, cols - 1u)];
    uint groups29 = g_idx[min(block_col * 128u + t * 32u + 29u, cols - 1u)];
    uint groups30 = g_idx[min(block_col * 128u + t * 32u + 30u, cols - 1u)];
    uint groups31 = g_idx[min(block_col * 128u + t * 32u + 31u, cols - 1u)];
    uvec4 g7 = uvec4(groups28, groups29, groups30, groups31);  // groups: 32 bits
    uint group28 = min(g7.x, grid_cols - 1u);
    uint zs56 = qzeros[group28 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs57 = qzeros[group28 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run28 = (zs56 >> (r * 3u % 32u)) | ((zs57 << 1u) << (31u - r * 3u % 32u));
    uint z35 = zs_run28 & 7u;  // zs: 3 bits
    uint group29 = min(g7.y, grid_cols - 1u);
    uint zs58 = qzeros[group29 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs59 = qzeros[group29 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run29 = (zs58 >> (r * 3u % 32u)) | ((zs59 << 1u) << (31u - r * 3u % 32u));
    uint z36 = zs_run29 & 7u;  // zs: 3 bits
    uint group30 = min(g7.z, grid_cols - 1u);
    uint zs60 = qzeros[group30 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs61 = qzeros[group30 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run30 = (zs60 >> (r * 3u % 32u)) | ((zs61 << 1u) << (31u - r * 3u % 32u));
    uint z37 = zs_run30 & 7u;  // zs: 3 bits
    uint group31 = min(g7.w, grid_cols - 1u);
    uint zs62 = qzeros[group31 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs63 = qzeros[group31 * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run31 = (zs62 >> (r * 3u % 32u)) | ((zs63 << 1u) << (31u - r * 3u % 32u));
    uint z38 = zs_run31 & 7u;  // zs: 3 bits
    uvec4 z39 = uvec4(z35, z36, z37, z38);
    uint d28 = uint(scales[group28 * rows + row]);
    float s35 = f16_to_f32(d28);  // d: 16 bits
    uint d29 = uint(scales[group29 * rows + row]);
    float s36 = f16_to_f32(d29);  // d: 16 bits
    uint d30 = uint(scales[group30 * rows + row]);
    float s37 = f16_to_f32(d30);  // d: 16 bits
    uint d31 = uint(scales[group31 * rows + row]);
    float s38 = f16_to_f32(d31);  // d: 16 bits
    vec4 s39 = vec4(s35, s36, s37, s38);
    v[7] = vec4(ivec4(q7) - ivec4(z39)) * s39;
}

// The products of what tile `j` of row `n` has in that row, for each right-hand side.
void sum_cut(uint n, uint j, out float part[BATCH]) {
    const uint row_cols = cols;
    for (uint m = 0; m < BATCH; ++m) part[m] = 0.0;
    const uint row = n, tile = j, place = j * 32u;
    const uint from = 0u, to = min(row_cols - place, 32u);
    vec4 v[8];
    decode(row, tile, v);
    for (uint e = from; e < to; ++e) {
        for (uint m = 0; m < BATCH; ++m) part[m] += v[e / 4u][e % 4u] * x_at[min(m, batch - 1u) * row_cols + place + e];
    }
}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS * BATCH];

void main() {
    // A subgroup holds a slice of x and walks down the rows.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    const uint split = SPLIT == 1u ? 1u : min(SPLIT, gl_NumSubgroups);
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    // Tiles of a row that are taken as wholes: those that it fills, where its runs of x begin as x is stored.
    const uint row_cols = cols, whole_tiles = row_cols % 4u == 0u ? row_cols / 32u : 0u;
    uint held = ~0u;
    for (uint first = gl_WorkGroupID.x * teams * ROWS; first < rows; first += gl_NumWorkGroups.x * teams * ROWS) {
        float sum[ROWS][BATCH];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[r][m] = 0.0;
        }
        for (uint c = gl_SubgroupID % split; c < slices; c += split) {
            [[unroll]] for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
                if (j >= row_tiles) continue;
                if (j >= whole_tiles) {
                    [[dont_unroll]] for (uint r = 0u; r < ROWS; ++r) {
                        float part[BATCH];
                        sum_cut(min(first + team * ROWS + r, rows - 1u), j, part);
                        [[unroll]] for (uint s = 0u; s < ROWS; ++s) {
                            [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[s][m] += s == r ? part[m] : 0.0;
                        }
                    }
                    continue;
                }
                if (c != held) load_x(0u, j, k);
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(first + team * ROWS + r, rows - 1u), j, k, sum[r]);
            }
            held = c;
        }
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                const float all = subgroupAdd(sum[r][m]);
                const uint row = first + team * ROWS + r;
                if (!subgroupElect()) continue;
                if (split > 1u) partial[(gl_SubgroupID * ROWS + r) * BATCH + m] = all;
                else if (row < rows && m < batch) y[m * y_rows + y_first + row] = all;
            }
        }
        if (split == 1u) continue;
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < teams * ROWS * BATCH; i += gl_WorkGroupSize.x) {
            const uint row = first + i / BATCH, m = i % BATCH, at = i / (ROWS * BATCH) * (split - 1u) * ROWS * BATCH + i;
            float total = 0.0;
            for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS * BATCH];
            if (row < rows && m < batch) y[m * y_rows + y_first + row] = total;
        }
        barrier();
    }
}
