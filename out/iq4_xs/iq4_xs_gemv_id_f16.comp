// iq4_xs_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], x in f16.
// Generated from the specification below by `qkgen emit --format iq4_xs`; do not edit.
// 136 bytes for 256 elements, 4.25 bits each.
// For each weight 0.531 bytes read, 7.56 operations: 0.25 loads, 2.38 bits, 0.688 integer, 2.12 float, 1.12 conversions, 1 lookups.
//
//     format iq4_xs "4-bit indices into a table of unequal steps, 6-bit scales around 32 in groups of 32"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         d:        f16
//         scales_h: u16
//         scales_l: u8[4]
//         qs:       u8[128]
//     }
//
//     code sc per 32 = scales_l { 4 @ 0 (8:4) }
//                      scales_h { 2 @ 0 (8:2) }
//     code q = qs { 4 @ 0 (16:8, 2:4, 8:128) }
//
//     table N: i8[16] = {
//         -127, -104, -83, -65, -49, -35, -22, -10,
//            1,   13,  25,  38,  53,  69,  89, 113,
//     }
//
//     value = d * (sc - 32) * N[q]
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 5, std430) readonly buffer NTable { int N[]; };
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
    const uint tile = j % 16u;
    const uint place = j / 16u * 64u + tile / 2u * 8u + tile % 2u * 2u;
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
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
void accumulate(uint n, uint j, uint k, inout float sum[BATCH]) {
    const uint block = n * (row_tiles / 16u) + j / 16u;
    const uint tile = j % 16u;
    uint base = block * 34u;
    uint d_scales_h = blocks[base];
    float d = f16_to_f32(d_scales_h);
    uint scales_l = blocks[base + 1u];
    uint part = tile / 2u;  // of 32 elements
    uint sc_lo = (scales_l >> (part * 4u)) & 15u;  // scales_l: bits 0-3 of sc
    uint sc_hi = (d_scales_h >> (part * 2u + 16u)) & 3u;  // scales_h: bits 4-5 of sc
    uint sc = sc_lo | (sc_hi << 4u);
    precise float d_sc = d * float(int(sc) - 32);
    uint qs0 = blocks[base + tile * 2u + 2u];
    uvec4 q0 = (uvec4(qs0) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    uint qs1 = blocks[base + tile * 2u + 3u];
    uvec4 q1 = (uvec4(qs1) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    uvec4 q2 = (uvec4(qs0) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: 4 bits
    uvec4 q3 = (uvec4(qs1) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: 4 bits
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        sum[m] += d_sc * (dot(x[k][m][0], vec4(N[q0.x], N[q0.y], N[q0.z], N[q0.w])) + dot(x[k][m][1], vec4(N[q1.x], N[q1.y], N[q1.z], N[q1.w])) + dot(x[k][m][2], vec4(N[q2.x], N[q2.y], N[q2.z], N[q2.w])) + dot(x[k][m][3], vec4(N[q3.x], N[q3.y], N[q3.z], N[q3.w])));
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
