// q2_K_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format q2_K`; do not edit.
// 84 bytes for 256 elements, 2.625 bits each.
// For each weight 0.328 bytes read and 4 written, 8.31 operations: 0.25 loads, 3.06 bits, 0.875 integer, 2.5 float, 1.62 conversions.
//
//     format q2_K "2-bit codes, 4-bit scales and minimums in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         scales: u8[16]
//         qs:     u8[64]
//         d:      f16
//         dmin:   f16
//     }
//
//     code sc per 16 = scales { 4 @ 0 (16:8) }
//     code mn per 16 = scales { 4 @ 4 (16:8) }
//
//     # Four planes of 32 bytes, twice.
//     code q = qs { 2 @ 0 (32:8, 4:2, 2:256) }
//
//     value = d * sc * q - dmin * mn
#version 450

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 1, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 2, std430) writeonly buffer Dst { vec4 dst[]; };
layout(binding = 3, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 16 elements in a row
    uint tokens;
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// The 16 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[4]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 21u;
    uint d_dmin = blocks[base + 20u];
    float d = f16_to_f32(d_dmin);
    uint part = tile / 8u;  // of 128 elements
    uint scales0 = blocks[base + part * 2u];
    uint sc0 = (scales0 >> (tile % 8u / 4u * 8u)) & 15u;  // scales: 4 bits
    precise float d_sc0 = d * float(sc0);
    uint qs = blocks[base + tile + 4u];
    uvec4 q0 = (uvec4(qs) >> uvec4(0, 8, 16, 24)) & 3u;  // qs: 2 bits
    float dmin = f16_to_f32(d_dmin >> 16u);
    uint mn0 = (scales0 >> (tile % 8u / 4u * 8u + 4u)) & 15u;  // scales: 4 bits
    precise float dmin_mn0 = dmin * float(mn0);
    v[0] = d_sc0 * vec4(q0) - dmin_mn0;

    // elements 32 to 35, counted from the tile's first
    uint sc1 = (scales0 >> (tile % 8u / 4u * 8u + 16u)) & 15u;  // scales: 4 bits
    precise float d_sc1 = d * float(sc1);
    uvec4 q1 = (uvec4(qs) >> uvec4(2, 10, 18, 26)) & 3u;  // qs: 2 bits
    uint mn1 = (scales0 >> (tile % 8u / 4u * 8u + 20u)) & 15u;  // scales: 4 bits
    precise float dmin_mn1 = dmin * float(mn1);
    v[1] = d_sc1 * vec4(q1) - dmin_mn1;

    // elements 64 to 67, counted from the tile's first
    uint scales1 = blocks[base + part * 2u + 1u];
    uint sc2 = (scales1 >> (tile % 8u / 4u * 8u)) & 15u;  // scales: 4 bits
    precise float d_sc2 = d * float(sc2);
    uvec4 q2 = (uvec4(qs) >> uvec4(4, 12, 20, 28)) & 3u;  // qs: 2 bits
    uint mn2 = (scales1 >> (tile % 8u / 4u * 8u + 4u)) & 15u;  // scales: 4 bits
    precise float dmin_mn2 = dmin * float(mn2);
    v[2] = d_sc2 * vec4(q2) - dmin_mn2;

    // elements 96 to 99, counted from the tile's first
    uint sc3 = (scales1 >> (tile % 8u / 4u * 8u + 16u)) & 15u;  // scales: 4 bits
    precise float d_sc3 = d * float(sc3);
    uvec4 q3 = (uvec4(qs) >> uvec4(6, 14, 22, 30)) & 3u;  // qs: 2 bits
    uint mn3 = (scales1 >> (tile % 8u / 4u * 8u + 20u)) & 15u;  // scales: 4 bits
    precise float dmin_mn3 = dmin * float(mn3);
    v[3] = d_sc3 * vec4(q3) - dmin_mn3;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[4]) {
    const uint at = block * 64u + tile / 8u * 32u + tile % 8u;
    dst[at] = v[0];
    dst[at + 8u] = v[1];
    dst[at + 16u] = v[2];
    dst[at + 24u] = v[3];
}

void main() {
    // A thread goes on by so many tokens and tiles at a time.
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, token_step = threads / row_tiles, tile_step = threads % row_tiles;
    uint token = gl_GlobalInvocationID.x / row_tiles, t = gl_GlobalInvocationID.x % row_tiles;
    while (token < tokens) {
        const uint row = indices[token], i = token * row_tiles + t;
        const bool bound = row >= row_first && row < row_end, missing = row >= rows && row_first == 0u;
        vec4 v[4];
        if (bound) {
            const uint from = (row - row_first) * row_tiles + t;
            decode(from / 16u, i % 16u, v);
        } else if (missing) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0u; r < 4u; ++r) v[r] = vec4(0.0);
            if (t == 0u) atomicAdd(out_of_range, 1u);
        }
        if (bound || missing) write_tile(i / 16u, i % 16u, v);  // else: a row of another launch
        token += token_step;
        t += tile_step;
        if (t >= row_tiles) {
            t -= row_tiles;
            token += 1u;
        }
    }
}
