// q3_K_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], x in f16.
// Generated from the specification below by `qkgen emit --format q3_K`; do not edit.
// 110 bytes for 256 elements, 3.438 bits each.
// For each weight 0.43 bytes read, 8.5 operations: 0.406 loads, 3.44 bits, 0.875 integer, 3 float, 0.781 conversions.
//
//     format q3_K "3-bit codes around 4, 6-bit scales around 32 in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         hmask:  u8[32]
//         qs:     u8[64]
//         scales: u8[12]
//         d:      f16
//     }
//
//     code q = qs    { 2 @ 0 (32:8, 4:2, 2:256) }          # low two bits
//              hmask { 1 @ 0 (32:8, 8:1) }                 # the third
//
//     code sc per 16 = scales { 4 @ 0 (8:8, 2:4)   2 @ 64 (4:8, 4:2) }
//
//     value = d * (sc - 32) * (q - 4)
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 1, std430) readonly buffer Input { uvec2 x_in[]; };
layout(binding = 2, std430) readonly buffer Ids { uint ids[]; };
layout(binding = 3, std430) writeonly buffer Output { float y[]; };
layout(binding = 4, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 32 elements in a row
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

const uint BATCH = 1u;
const uint TILES = 2u;

// What a thread keeps of x: tiles of one token, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][BATCH][8];
float x_sum[TILES][BATCH][8];

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 8u;
    const uint place = j / 8u * 64u + tile;
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_tiles * 8u + place;
        const vec4 x0 = vec4(unpackHalf2x16(x_in[from].x), unpackHalf2x16(x_in[from].y));
        const vec4 x1 = vec4(unpackHalf2x16(x_in[from + 8u].x), unpackHalf2x16(x_in[from + 8u].y));
        const vec4 x2 = vec4(unpackHalf2x16(x_in[from + 16u].x), unpackHalf2x16(x_in[from + 16u].y));
        const vec4 x3 = vec4(unpackHalf2x16(x_in[from + 24u].x), unpackHalf2x16(x_in[from + 24u].y));
        const vec4 x4 = vec4(unpackHalf2x16(x_in[from + 32u].x), unpackHalf2x16(x_in[from + 32u].y));
        const vec4 x5 = vec4(unpackHalf2x16(x_in[from + 40u].x), unpackHalf2x16(x_in[from + 40u].y));
        const vec4 x6 = vec4(unpackHalf2x16(x_in[from + 48u].x), unpackHalf2x16(x_in[from + 48u].y));
        const vec4 x7 = vec4(unpackHalf2x16(x_in[from + 56u].x), unpackHalf2x16(x_in[from + 56u].y));
        x[k][m][0] = x0 * 16777216.0;
        x[k][m][1] = x1 * 4194304.0;
        x[k][m][2] = x2 * 1048576.0;
        x[k][m][3] = x3 * 16777216.0;
        x[k][m][4] = x4 * 16777216.0;
        x[k][m][5] = x5 * 4194304.0;
        x[k][m][6] = x6 * 1048576.0;
        x[k][m][7] = x7 * 16777216.0;
        x_sum[k][m][0] = dot(x0, vec4(1.0));
        x_sum[k][m][1] = dot(x1, vec4(1.0));
        x_sum[k][m][2] = dot(x2, vec4(1.0));
        x_sum[k][m][3] = dot(x3, vec4(1.0));
        x_sum[k][m][4] = dot(x4, vec4(1.0));
        x_sum[k][m][5] = dot(x5, vec4(1.0));
        x_sum[k][m][6] = dot(x6, vec4(1.0));
        x_sum[k][m][7] = dot(x7, vec4(1.0));
    }
}

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
void accumulate(uint n, uint j, uint k, inout float sum[BATCH]) {
    const uint block = n * (row_tiles / 8u) + j / 8u;
    const uint tile = j % 8u;
    uint base = block * 55u;
    float d = f16_to_f32(uint(blocks[base + 54u]));
    uint scales0 = uint(blocks[base + 48u]);
    uint sc_lo0 = (scales0 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint scales1 = uint(blocks[base + 52u]);
    uint sc_hi0 = (scales1 >> (tile / 4u * 8u)) & 3u;  // scales: bits 4-5 of sc
    uint sc0 = sc_lo0 | (sc_hi0 << 4u);
    precise float d_sc0 = d * float(int(sc0) - 32);
    uint qs0 = blocks_u32(base + tile * 2u + 16u);
    uint hmask = blocks_u32(base + tile * 2u);
    uint codes0 = (qs0 & 0x3030303u) | ((hmask << 2u) & 0x4040404u);  // packed
    vec2 pair0 = unpackHalf2x16(codes0 & 0x70007u);
    vec2 pair1 = unpackHalf2x16((codes0 >> 8u) & 0x70007u);
    uint scales2 = uint(blocks[base + 49u]);
    uint sc_lo1 = (scales2 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint scales3 = uint(blocks[base + 53u]);
    uint sc_hi1 = (scales3 >> (tile / 4u * 8u)) & 3u;  // scales: bits 4-5 of sc
    uint sc1 = sc_lo1 | (sc_hi1 << 4u);
    precise float d_sc1 = d * float(int(sc1) - 32);
    uint codes1 = (qs0 & 0xC0C0C0Cu) | ((hmask << 3u) & 0x10101010u);  // packed
    vec2 pair2 = unpackHalf2x16(codes1 & 0x1C001Cu);
    vec2 pair3 = unpackHalf2x16((codes1 >> 8u) & 0x1C001Cu);
    uint scales4 = uint(blocks[base + 50u]);
    uint sc_lo2 = (scales4 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi2 = (scales1 >> (tile / 4u * 8u + 2u)) & 3u;  // scales: bits 4-5 of sc
    uint sc2 = sc_lo2 | (sc_hi2 << 4u);
    precise float d_sc2 = d * float(int(sc2) - 32);
    uint codes2 = (qs0 & 0x30303030u) | ((hmask << 4u) & 0x40404040u);  // packed
    vec2 pair4 = unpackHalf2x16(codes2 & 0x700070u);
    vec2 pair5 = unpackHalf2x16((codes2 >> 8u) & 0x700070u);
    uint scales5 = uint(blocks[base + 51u]);
    uint sc_lo3 = (scales5 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi3 = (scales3 >> (tile / 4u * 8u + 2u)) & 3u;  // scales: bits 4-5 of sc
    uint sc3 = sc_lo3 | (sc_hi3 << 4u);
    precise float d_sc3 = d * float(int(sc3) - 32);
    uint codes3 = ((qs0 >> 6u) & 0x3030303u) | ((hmask >> 1u) & 0x4040404u);  // packed
    vec2 pair6 = unpackHalf2x16(codes3 & 0x70007u);
    vec2 pair7 = unpackHalf2x16((codes3 >> 8u) & 0x70007u);
    uint sc_lo4 = (scales0 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi4 = (scales1 >> (tile / 4u * 8u + 4u)) & 3u;  // scales: bits 4-5 of sc
    uint sc4 = sc_lo4 | (sc_hi4 << 4u);
    precise float d_sc4 = d * float(int(sc4) - 32);
    uint qs1 = blocks_u32(base + tile * 2u + 32u);
    uint codes4 = (qs1 & 0x3030303u) | ((hmask >> 2u) & 0x4040404u);  // packed
    vec2 pair8 = unpackHalf2x16(codes4 & 0x70007u);
    vec2 pair9 = unpackHalf2x16((codes4 >> 8u) & 0x70007u);
    uint sc_lo5 = (scales2 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi5 = (scales3 >> (tile / 4u * 8u + 4u)) & 3u;  // scales: bits 4-5 of sc
    uint sc5 = sc_lo5 | (sc_hi5 << 4u);
    precise float d_sc5 = d * float(int(sc5) - 32);
    uint codes5 = (qs1 & 0xC0C0C0Cu) | ((hmask >> 1u) & 0x10101010u);  // packed
    vec2 pair10 = unpackHalf2x16(codes5 & 0x1C001Cu);
    vec2 pair11 = unpackHalf2x16((codes5 >> 8u) & 0x1C001Cu);
    uint sc_lo6 = (scales4 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi6 = (scales1 >> (tile / 4u * 8u + 6u)) & 3u;  // scales: bits 4-5 of sc
    uint sc6 = sc_lo6 | (sc_hi6 << 4u);
    precise float d_sc6 = d * float(int(sc6) - 32);
    uint codes6 = (qs1 & 0x30303030u) | (hmask & 0x40404040u);  // packed
    vec2 pair12 = unpackHalf2x16(codes6 & 0x700070u);
    vec2 pair13 = unpackHalf2x16((codes6 >> 8u) & 0x700070u);
    uint sc_lo7 = (scales5 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi7 = (scales3 >> (tile / 4u * 8u + 6u)) & 3u;  // scales: bits 4-5 of sc
    uint sc7 = sc_lo7 | (sc_hi7 << 4u);
    precise float d_sc7 = d * float(int(sc7) - 32);
    uint codes7 = ((qs1 >> 6u) & 0x3030303u) | ((hmask >> 5u) & 0x4040404u);  // packed
    vec2 pair14 = unpackHalf2x16(codes7 & 0x70007u);
    vec2 pair15 = unpackHalf2x16((codes7 >> 8u) & 0x70007u);
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        sum[m] += d_sc0 * (dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y)) - 4.0 * x_sum[k][m][0]) + d_sc1 * (dot(x[k][m][1], vec4(pair2.x, pair3.x, pair2.y, pair3.y)) - 4.0 * x_sum[k][m][1]) + d_sc2 * (dot(x[k][m][2], vec4(pair4.x, pair5.x, pair4.y, pair5.y)) - 4.0 * x_sum[k][m][2]) + d_sc3 * (dot(x[k][m][3], vec4(pair6.x, pair7.x, pair6.y, pair7.y)) - 4.0 * x_sum[k][m][3]) + d_sc4 * (dot(x[k][m][4], vec4(pair8.x, pair9.x, pair8.y, pair9.y)) - 4.0 * x_sum[k][m][4]) + d_sc5 * (dot(x[k][m][5], vec4(pair10.x, pair11.x, pair10.y, pair11.y)) - 4.0 * x_sum[k][m][5]) + d_sc6 * (dot(x[k][m][6], vec4(pair12.x, pair13.x, pair12.y, pair13.y)) - 4.0 * x_sum[k][m][6]) + d_sc7 * (dot(x[k][m][7], vec4(pair14.x, pair15.x, pair14.y, pair15.y)) - 4.0 * x_sum[k][m][7]);
    }
}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS];

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
        float sum[ROWS][BATCH];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r][0] = 0.0;
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
            const float all = subgroupAdd(sum[r][0]);
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
