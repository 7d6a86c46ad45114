// iq2_xxs_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], x in f16.
// Generated from the specification below by `qkgen emit --format iq2_xxs`; do not edit.
// 66 bytes for 256 elements, 2.062 bits each.
// For each weight 0.258 bytes read, 14.4 operations: 0.438 loads, 4.69 bits, 3.5 integer, 3.25 float, 2.12 conversions, 0.375 lookups.
//
//     format iq2_xxs "eights from a codebook of 256, 7-bit sign masks, 4-bit scales in groups of 32"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         d:  f16
//         qs: u32[16]
//     }
//
//     code g  per 8  = qs { 8 @ 0  (4:8, 8:64) }    # four indices in one word,
//     code s  per 8  = qs { 7 @ 32 (4:7, 8:64) }    # four sign masks
//     code sc per 32 = qs { 4 @ 60 (8:64) }         # and the scale in the next
//
//     table G: u8[256][8] = file "iq2xxs_grid.bin"
//     table S: u8[128] = file "even_signs.bin"      # seven signs; the eighth makes the number of minus signs even
//
//     value = d * (0.5 + sc) * 0.25 * G[g][i % 8] * (S[s] >> i % 8 & 1 ? -1 : 1)
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 5, std430) readonly buffer GTable { uint G[]; };  // 256 rows of 8: u8, packed
layout(binding = 6, std430) readonly buffer STable { uint S[]; };
layout(binding = 1, std430) readonly buffer Input { uvec2 x_in[]; };
layout(binding = 2, std430) readonly buffer Ids { uint ids[]; };
layout(binding = 3, std430) writeonly buffer Output { float y[]; };
layout(binding = 4, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 16 elements in a row
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

const uint TILES = 4u;

// What a thread keeps of x: tiles, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][4];
float x_sum[TILES][1];

// Loads what tile `j` of a row meets of right-hand side `vector`.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 16u;
    const uint place = j / 16u * 64u + tile * 4u;
    const uint from = min(vector, batch - 1u) * row_tiles * 4u + place;
    const vec4 x0 = vec4(unpackHalf2x16(x_in[from].x), unpackHalf2x16(x_in[from].y));
    const vec4 x1 = vec4(unpackHalf2x16(x_in[from + 1u].x), unpackHalf2x16(x_in[from + 1u].y));
    const vec4 x2 = vec4(unpackHalf2x16(x_in[from + 2u].x), unpackHalf2x16(x_in[from + 2u].y));
    const vec4 x3 = vec4(unpackHalf2x16(x_in[from + 3u].x), unpackHalf2x16(x_in[from + 3u].y));
    x[k][0] = x0;
    x[k][1] = x1;
    x[k][2] = x2;
    x[k][3] = x3;
}

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

// Adds the products of tile `j` of row `n` with what is kept of x.
void accumulate(uint n, uint j, uint k, inout float sum) {
    const uint block = n * (row_tiles / 16u) + j / 16u;
    const uint tile = j % 16u;
    uint base = block * 33u;
    float d = f16_to_f32(uint(blocks[base]));
    uint part = tile / 2u;  // of 32 elements
    uint qs0 = uint(blocks[base + part * 4u + 4u]);
    uint sc = qs0 >> 12u;  // qs: 4 bits
    precise float d_sc0 = d * (0.5 + float(sc));
    precise float d_sc1 = d_sc0 * 0.25;
    uint qs1 = uint(blocks[base + part * 4u + tile % 2u + 1u]);
    uint g0 = qs1 & 0xFFu;  // qs: 8 bits
    uint G_row0 = G[g0 * 2u];
    uint qs2 = blocks_u32(base + part * 4u + 3u);
    uint s0 = (qs2 >> (tile % 2u * 14u)) & 0x7Fu;  // qs: 7 bits
    uint G_row1 = G[g0 * 2u + 1u];
    uint g1 = qs1 >> 8u;  // qs: 8 bits
    uint G_row2 = G[g1 * 2u];
    uint qs3 = uint(blocks[base + (part * 64u + tile % 2u * 14u + 55u) / 16u]) | (uint(blocks[base + min((part * 64u + tile % 2u * 14u + 55u) / 16u + 1u, 32u)]) << 16u);
    uint s1 = (qs3 >> ((part * 64u + tile % 2u * 14u + 55u) % 16u)) & 0x7Fu;  // qs: 7 bits
    uint G_row3 = G[g1 * 2u + 1u];
    sum += d_sc1 * (dot(x[k][0], vec4((uvec4(G_row0) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(S[s0])) >> ivec4(0, 1, 2, 3)) & 1, ivec4(0))))) + dot(x[k][1], vec4((uvec4(G_row1) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(S[s0])) >> ivec4(4, 5, 6, 7)) & 1, ivec4(0))))) + dot(x[k][2], vec4((uvec4(G_row2) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(S[s1])) >> ivec4(0, 1, 2, 3)) & 1, ivec4(0))))) + dot(x[k][3], vec4((uvec4(G_row3) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(S[s1])) >> ivec4(4, 5, 6, 7)) & 1, ivec4(0))))));
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
