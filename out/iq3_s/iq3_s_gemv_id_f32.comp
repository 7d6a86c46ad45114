// iq3_s_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], x in f32.
// Generated from the specification below by `qkgen emit --format iq3_s`; do not edit.
// 110 bytes for 256 elements, 3.438 bits each.
// For each weight 0.43 bytes read, 13.5 operations: 0.234 loads, 5.41 bits, 2.45 integer, 3.06 float, 2.05 conversions, 0.25 lookups.
//
//     format iq3_s "fours from a codebook of 512, sign masks, 4-bit scales in groups of 32"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         d:      f16
//         qs:     u8[64]
//         qh:     u8[8]
//         signs:  u8[32]
//         scales: u8[4]
//     }
//
//     code g  per 4  = qs { 8 @ 0 (64:8) } qh { 1 @ 0 (64:1) }
//     code s  per 8  = signs { 8 @ 0 (32:8) }
//     code sc per 32 = scales { 4 @ 0 (8:4) }
//
//     table G: u8[512][4] = file "iq3s_grid.bin"
//
//     value = d * (1 + 2 * sc) * G[g][i % 4] * (s >> i % 8 & 1 ? -1 : 1)
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 5, std430) readonly buffer GTable { uint G[]; };  // 512 rows of 4: u8, packed
layout(binding = 1, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 2, std430) readonly buffer Ids { uint ids[]; };
layout(binding = 3, std430) writeonly buffer Output { float y[]; };
layout(binding = 4, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 64 elements in a row
    uint batch;         // right-hand sides: tokens
    uint slots;         // experts of each token
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

const uint TILES = 1u;

// What a thread keeps of x: tiles, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][16];
float x_sum[TILES][1];

// Loads what tile `j` of a row meets of right-hand side `vector`.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 4u;
    const uint place = j / 4u * 64u + tile * 16u;
    const uint from = min(vector, batch - 1u) * row_tiles * 16u + place;
    const vec4 x0 = x_in[from];
    const vec4 x1 = x_in[from + 1u];
    const vec4 x2 = x_in[from + 2u];
    const vec4 x3 = x_in[from + 3u];
    const vec4 x4 = x_in[from + 4u];
    const vec4 x5 = x_in[from + 5u];
    const vec4 x6 = x_in[from + 6u];
    const vec4 x7 = x_in[from + 7u];
    const vec4 x8 = x_in[from + 8u];
    const vec4 x9 = x_in[from + 9u];
    const vec4 x10 = x_in[from + 10u];
    const vec4 x11 = x_in[from + 11u];
    const vec4 x12 = x_in[from + 12u];
    const vec4 x13 = x_in[from + 13u];
    const vec4 x14 = x_in[from + 14u];
    const vec4 x15 = x_in[from + 15u];
    x[k][0] = x0;
    x[k][1] = x1;
    x[k][2] = x2;
    x[k][3] = x3;
    x[k][4] = x4;
    x[k][5] = x5;
    x[k][6] = x6;
    x[k][7] = x7;
    x[k][8] = x8;
    x[k][9] = x9;
    x[k][10] = x10;
    x[k][11] = x11;
    x[k][12] = x12;
    x[k][13] = x13;
    x[k][14] = x14;
    x[k][15] = x15;
}

// Adds the products of tile `j` of row `n` with what is kept of x.
void accumulate(uint n, uint j, uint k, inout float sum) {
    const uint block = n * (row_tiles / 4u) + j / 4u;
    const uint tile = j % 4u;
    uint base = block * 55u;
    float d = f16_to_f32(uint(blocks[base]));
    uint scales = uint(blocks[base + tile / 2u + 53u]);
    uint sc0 = (scales >> (tile % 2u * 8u)) & 15u;  // scales: 4 bits
    precise float d_sc0 = d * float(1 + 2 * int(sc0));
    uint qs0 = uint(blocks[base + tile * 8u + 1u]);
    uint g_lo0 = qs0 & 0xFFu;  // qs: bits 0-7 of g
    uint qh = uint(blocks[base + tile + 33u]);
    uint g_hi0 = qh & 1u;  // qh: bit 8 of g
    uint g0 = g_lo0 | (g_hi0 << 8u);
    uint G_row0 = G[g0];
    uint signs0 = uint(blocks[base + tile * 4u + 37u]);
    uint s0 = signs0 & 0xFFu;  // signs: 8 bits
    uint g_lo1 = qs0 >> 8u;  // qs: bits 0-7 of g
    uint g_hi1 = (qh >> 1u) & 1u;  // qh: bit 8 of g
    uint g1 = g_lo1 | (g_hi1 << 8u);
    uint G_row1 = G[g1];
    uint qs1 = uint(blocks[base + tile * 8u + 2u]);
    uint g_lo2 = qs1 & 0xFFu;  // qs: bits 0-7 of g
    uint g_hi2 = (qh >> 2u) & 1u;  // qh: bit 8 of g
    uint g2 = g_lo2 | (g_hi2 << 8u);
    uint G_row2 = G[g2];
    uint s1 = signs0 >> 8u;  // signs: 8 bits
    uint g_lo3 = qs1 >> 8u;  // qs: bits 0-7 of g
    uint g_hi3 = (qh >> 3u) & 1u;  // qh: bit 8 of g
    uint g3 = g_lo3 | (g_hi3 << 8u);
    uint G_row3 = G[g3];
    uint qs2 = uint(blocks[base + tile * 8u + 3u]);
    uint g_lo4 = qs2 & 0xFFu;  // qs: bits 0-7 of g
    uint g_hi4 = (qh >> 4u) & 1u;  // qh: bit 8 of g
    uint g4 = g_lo4 | (g_hi4 << 8u);
    uint G_row4 = G[g4];
    uint signs1 = uint(blocks[base + tile * 4u + 38u]);
    uint s2 = signs1 & 0xFFu;  // signs: 8 bits
    uint g_lo5 = qs2 >> 8u;  // qs: bits 0-7 of g
    uint g_hi5 = (qh >> 5u) & 1u;  // qh: bit 8 of g
    uint g5 = g_lo5 | (g_hi5 << 8u);
    uint G_row5 = G[g5];
    uint qs3 = uint(blocks[base + tile * 8u + 4u]);
    uint g_lo6 = qs3 & 0xFFu;  // qs: bits 0-7 of g
    uint g_hi6 = (qh >> 6u) & 1u;  // qh: bit 8 of g
    uint g6 = g_lo6 | (g_hi6 << 8u);
    uint G_row6 = G[g6];
    uint s3 = signs1 >> 8u;  // signs: 8 bits
    uint g_lo7 = qs3 >> 8u;  // qs: bits 0-7 of g
    uint g_hi7 = (qh >> 7u) & 1u;  // qh: bit 8 of g
    uint g7 = g_lo7 | (g_hi7 << 8u);
    uint G_row7 = G[g7];
    uint sc1 = (scales >> (tile % 2u * 8u + 4u)) & 15u;  // scales: 4 bits
    precise float d_sc1 = d * float(1 + 2 * int(sc1));
    uint qs4 = uint(blocks[base + tile * 8u + 5u]);
    uint g_lo8 = qs4 & 0xFFu;  // qs: bits 0-7 of g
    uint g_hi8 = (qh >> 8u) & 1u;  // qh: bit 8 of g
    uint g8 = g_lo8 | (g_hi8 << 8u);
    uint G_row8 = G[g8];
    uint signs2 = uint(blocks[base + tile * 4u + 39u]);
    uint s4 = signs2 & 0xFFu;  // signs: 8 bits
    uint g_lo9 = qs4 >> 8u;  // qs: bits 0-7 of g
    uint g_hi9 = (qh >> 9u) & 1u;  // qh: bit 8 of g
    uint g9 = g_lo9 | (g_hi9 << 8u);
    uint G_row9 = G[g9];
    uint qs5 = uint(blocks[base + tile * 8u + 6u]);
    uint g_lo10 = qs5 & 0xFFu;  // qs: bits 0-7 of g
    uint g_hi10 = (qh >> 10u) & 1u;  // qh: bit 8 of g
    uint g10 = g_lo10 | (g_hi10 << 8u);
    uint G_row10 = G[g10];
    uint s5 = signs2 >> 8u;  // signs: 8 bits
    uint g_lo11 = qs5 >> 8u;  // qs: bits 0-7 of g
    uint g_hi11 = (qh >> 11u) & 1u;  // qh: bit 8 of g
    uint g11 = g_lo11 | (g_hi11 << 8u);
    uint G_row11 = G[g11];
    uint qs6 = uint(blocks[base + tile * 8u + 7u]);
    uint g_lo12 = qs6 & 0xFFu;  // qs: bits 0-7 of g
    uint g_hi12 = (qh >> 12u) & 1u;  // qh: bit 8 of g
    uint g12 = g_lo12 | (g_hi12 << 8u);
    uint G_row12 = G[g12];
    uint signs3 = uint(blocks[base + tile * 4u + 40u]);
    uint s6 = signs3 & 0xFFu;  // signs: 8 bits
    uint g_lo13 = qs6 >> 8u;  // qs: bits 0-7 of g
    uint g_hi13 = (qh >> 13u) & 1u;  // qh: bit 8 of g
    uint g13 = g_lo13 | (g_hi13 << 8u);
    uint G_row13 = G[g13];
    uint qs7 = uint(blocks[base + tile * 8u + 8u]);
    uint g_lo14 = qs7 & 0xFFu;  // qs: bits 0-7 of g
    uint g_hi14 = (qh >> 14u) & 1u;  // qh: bit 8 of g
    uint g14 = g_lo14 | (g_hi14 << 8u);
    uint G_row14 = G[g14];
    uint s7 = signs3 >> 8u;  // signs: 8 bits
    uint g_lo15 = qs7 >> 8u;  // qs: bits 0-7 of g
    uint g_hi15 = qh >> 15u;  // qh: bit 8 of g
    uint g15 = g_lo15 | (g_hi15 << 8u);
    uint G_row15 = G[g15];
    sum += d_sc0 * (dot(x[k][0], vec4((uvec4(G_row0) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s0)) >> ivec4(0, 1, 2, 3)) & 1, ivec4(0))))) + dot(x[k][1], vec4((uvec4(G_row1) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s0)) >> ivec4(4, 5, 6, 7)) & 1, ivec4(0))))) + dot(x[k][2], vec4((uvec4(G_row2) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s1)) >> ivec4(0, 1, 2, 3)) & 1, ivec4(0))))) + dot(x[k][3], vec4((uvec4(G_row3) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s1)) >> ivec4(4, 5, 6, 7)) & 1, ivec4(0))))) + dot(x[k][4], vec4((uvec4(G_row4) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s2)) >> ivec4(0, 1, 2, 3)) & 1, ivec4(0))))) + dot(x[k][5], vec4((uvec4(G_row5) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s2)) >> ivec4(4, 5, 6, 7)) & 1, ivec4(0))))) + dot(x[k][6], vec4((uvec4(G_row6) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s3)) >> ivec4(0, 1, 2, 3)) & 1, ivec4(0))))) + dot(x[k][7], vec4((uvec4(G_row7) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s3)) >> ivec4(4, 5, 6, 7)) & 1, ivec4(0)))))) + d_sc1 * (dot(x[k][8], vec4((uvec4(G_row8) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s4)) >> ivec4(0, 1, 2, 3)) & 1, ivec4(0))))) + dot(x[k][9], vec4((uvec4(G_row9) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s4)) >> ivec4(4, 5, 6, 7)) & 1, ivec4(0))))) + dot(x[k][10], vec4((uvec4(G_row10) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s5)) >> ivec4(0, 1, 2, 3)) & 1, ivec4(0))))) + dot(x[k][11], vec4((uvec4(G_row11) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s5)) >> ivec4(4, 5, 6, 7)) & 1, ivec4(0))))) + dot(x[k][12], vec4((uvec4(G_row12) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s6)) >> ivec4(0, 1, 2, 3)) & 1, ivec4(0))))) + dot(x[k][13], vec4((uvec4(G_row13) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s6)) >> ivec4(4, 5, 6, 7)) & 1, ivec4(0))))) + dot(x[k][14], vec4((uvec4(G_row14) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s7)) >> ivec4(0, 1, 2, 3)) & 1, ivec4(0))))) + dot(x[k][15], vec4((uvec4(G_row15) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s7)) >> ivec4(4, 5, 6, 7)) & 1, ivec4(0))))));
}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS * 2u];

void main() {
    // A subgroup holds a slice of x and walks down the rows. While there are slices for more, subgroups share a row.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    uint split = 1u;
    while (split < slices && gl_NumSubgroups % (2u * split) == 0u) split *= 2u;
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    const uint parts = (rows + teams * ROWS - 1u) / (teams * ROWS);
    uint held = ~0u, held_token = ~0u;
    for (uint work = gl_WorkGroupID.x; work < batch * slots * parts; work += gl_NumWorkGroups.x) {
        const uint pair = work / parts, token = pair / slots, first = work % parts * teams * ROWS, expert = ids[pair];
        const bool found = expert < experts;
        if (found ? expert < expert_first || expert >= expert_end : expert_first != 0u) continue;  // another launch's
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
        if (!found && first == 0u && gl_LocalInvocationID.x == 0u) atomicAdd(out_of_range, 1u);  // zeros
        for (uint c = gl_SubgroupID % split; found && c < slices; c += split) {
            [[unroll]] for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
                if (j >= row_tiles) continue;
                if (c != held || token != held_token) load_x(token, j, k);
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, rows - 1u);
                    accumulate((expert - expert_first) * rows + row, j, k, sum[r]);
                }
            }
            held = c;
            held_token = token;
        }
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            const float all = subgroupAdd(sum[r]);
            if (subgroupElect()) partial[gl_SubgroupID * ROWS + r] = all;
        }
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < teams * ROWS; i += gl_WorkGroupSize.x) {
            const uint at = i / ROWS * (split - 1u) * ROWS + i;
            float total = 0.0;
            for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS];
            if (first + i < rows) y[pair * rows + first + i] = total;
        }
        barrier();
    }
}
