// q5_1_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], x in f16.
// Generated from the specification below by `qkgen emit --format q5_1`; do not edit.
// 24 bytes for 32 elements, 6 bits each.
// For each weight 0.75 bytes read, 10.1 operations: 0.25 loads, 6.12 bits, 0.438 integer, 2.19 float, 1.12 conversions.
//
//     format q5_1 "5-bit codes, one scale and one minimum for 32"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 32 {
//         d:  f16
//         m:  f16
//         qh: u32
//         qs: u8[16]
//     }
//
//     code q = qs { 4 @ 0 (16:8, 2:4) }    # low nibbles, then high nibbles
//              qh { 1 @ 0 (32:1) }         # the fifth bits
//
//     value = q * d + m
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
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

const uint BATCH = 1u;
const uint TILES = 4u;

// What a thread keeps of x: tiles of one token, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][BATCH][4];
float x_sum[TILES][BATCH][1];

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 2u;
    const uint place = j / 2u * 8u + tile * 2u;
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_tiles * 4u + place;
        const vec4 x0 = vec4(unpackHalf2x16(x_in[from].x), unpackHalf2x16(x_in[from].y));
        const vec4 x1 = vec4(unpackHalf2x16(x_in[from + 1u].x), unpackHalf2x16(x_in[from + 1u].y));
        const vec4 x2 = vec4(unpackHalf2x16(x_in[from + 4u].x), unpackHalf2x16(x_in[from + 4u].y));
        const vec4 x3 = vec4(unpackHalf2x16(x_in[from + 5u].x), unpackHalf2x16(x_in[from + 5u].y));
        x[k][m][0] = x0;
        x[k][m][1] = x1;
        x[k][m][2] = x2;
        x[k][m][3] = x3;
        x_sum[k][m][0] = dot(x0 + x1 + x2 + x3, vec4(1.0));
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
void accumulate(uint n, uint j, uint k, inout float sum[BATCH]) {
    const uint block = n * (row_tiles / 2u) + j / 2u;
    const uint tile = j % 2u;
    uint base = block * 6u;
    uint d_m = blocks[base];
    float d = f16_to_f32(d_m);
    uint qs0 = blocks[base + tile * 2u + 2u];
    uvec4 q_lo0 = (uvec4(qs0) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: bits 0-3 of q
    uint qh = blocks[base + 1u];
    uvec4 q_hi0 = (uvec4(qh >> (tile * 8u)) >> uvec4(0, 1, 2, 3)) & 1u;  // qh: bit 4 of q
    uvec4 q0 = q_lo0 | (q_hi0 << 4u);
    uint qs1 = blocks[base + tile * 2u + 3u];
    uvec4 q_lo1 = (uvec4(qs1) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: bits 0-3 of q
    uvec4 q_hi1 = (uvec4(qh >> (tile * 8u)) >> uvec4(4, 5, 6, 7)) & 1u;  // qh: bit 4 of q
    uvec4 q1 = q_lo1 | (q_hi1 << 4u);
    uvec4 q_lo2 = (uvec4(qs0) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: bits 0-3 of q
    uvec4 q_hi2 = (uvec4(qh >> (tile * 8u)) >> uvec4(16, 17, 18, 19)) & 1u;  // qh: bit 4 of q
    uvec4 q2 = q_lo2 | (q_hi2 << 4u);
    uvec4 q_lo3 = (uvec4(qs1) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: bits 0-3 of q
    uvec4 q_hi3 = (uvec4(qh >> (tile * 8u)) >> uvec4(20, 21, 22, 23)) & 1u;  // qh: bit 4 of q
    uvec4 q3 = q_lo3 | (q_hi3 << 4u);
    float m_ = f16_to_f32(d_m >> 16u);
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        sum[m] += d * (dot(x[k][m][0], vec4(q0)) + dot(x[k][m][1], vec4(q1)) + dot(x[k][m][2], vec4(q2)) + dot(x[k][m][3], vec4(q3))) + m_ * x_sum[k][m][0];
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
