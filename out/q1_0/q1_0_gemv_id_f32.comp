// q1_0_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], x in f32.
// Generated from the specification below by `qkgen emit --format q1_0`; do not edit.
// 18 bytes for 128 elements, 1.125 bits each.
// For each weight 0.141 bytes read, 4.69 operations: 0.125 loads, 1.06 bits, 0.188 integer, 2.25 float, 1.06 conversions.
//
//     format q1_0 "signs, one scale for 128"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 128 {
//         d:  f16
//         qs: u8[16]
//     }
//
//     code q = qs { 1 @ 0 (128:1) }
//
//     value = q ? d : -d
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 1, std430) readonly buffer Input { vec4 x_in[]; };
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
    const uint tile = j % 8u;
    const uint place = j / 8u * 32u + tile * 4u;
    const uint from = min(vector, batch - 1u) * row_tiles * 4u + place;
    const vec4 x0 = x_in[from];
    const vec4 x1 = x_in[from + 1u];
    const vec4 x2 = x_in[from + 2u];
    const vec4 x3 = x_in[from + 3u];
    x[k][0] = x0 * vec4(16777216.0, 8388608.0, 4194304.0, 2097152.0);
    x[k][1] = x1 * vec4(1048576.0, 524288.0, 262144.0, 131072.0);
    x[k][2] = x2 * vec4(65536.0, 32768.0, 4194304.0, 2097152.0);
    x[k][3] = x3 * vec4(1048576.0, 524288.0, 262144.0, 131072.0);
    x_sum[k][0] = dot(x0 + x1 + x2 + x3, vec4(1.0));
}

// Adds the products of tile `j` of row `n` with what is kept of x.
void accumulate(uint n, uint j, uint k, inout float sum) {
    const uint block = n * (row_tiles / 8u) + j / 8u;
    const uint tile = j % 8u;
    uint base = block * 9u;
    float d = f16_to_f32(uint(blocks[base]));
    uint qs = uint(blocks[base + tile + 1u]);
    vec2 pair0 = unpackHalf2x16(qs & 0x10001u);
    vec2 pair1 = unpackHalf2x16(qs & 0x20002u);
    vec2 pair2 = unpackHalf2x16(qs & 0x40004u);
    vec2 pair3 = unpackHalf2x16(qs & 0x80008u);
    vec2 pair4 = unpackHalf2x16(qs & 0x100010u);
    vec2 pair5 = unpackHalf2x16(qs & 0x200020u);
    vec2 pair6 = unpackHalf2x16(qs & 0x400040u);
    vec2 pair7 = unpackHalf2x16(qs & 0x800080u);
    vec2 pair8 = unpackHalf2x16(qs & 0x1000100u);
    vec2 pair9 = unpackHalf2x16(qs & 0x2000200u);
    vec2 pair10 = unpackHalf2x16((qs >> 8u) & 0x40004u);
    vec2 pair11 = unpackHalf2x16((qs >> 8u) & 0x80008u);
    vec2 pair12 = unpackHalf2x16((qs >> 8u) & 0x100010u);
    vec2 pair13 = unpackHalf2x16((qs >> 8u) & 0x200020u);
    vec2 pair14 = unpackHalf2x16((qs >> 8u) & 0x400040u);
    vec2 pair15 = unpackHalf2x16((qs >> 8u) & 0x800080u);
    sum += -(d * x_sum[k][0]) + d * 2.0 * (dot(x[k][0], vec4(pair0.x, pair1.x, pair2.x, pair3.x)) + dot(x[k][1], vec4(pair4.x, pair5.x, pair6.x, pair7.x)) + dot(x[k][2], vec4(pair8.x, pair9.x, pair10.x, pair11.x)) + dot(x[k][3], vec4(pair12.x, pair13.x, pair14.x, pair15.x)));
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
