// q1_0_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format q1_0`; do not edit.
// 18 bytes for 128 elements, 1.125 bits each.
// For each weight 0.141 bytes read and 4 written, 4.38 operations: 0.125 loads, 2 bits, 1.19 integer, 1 float, 0.0625 conversions.
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
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
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
    uint base = block * 9u;
    uint qs = uint(blocks[base + tile + 1u]);
    uvec4 q0 = (uvec4(qs) >> uvec4(0, 1, 2, 3)) & 1u;  // qs: 1 bit
    float d = f16_to_f32(uint(blocks[base]));
    v[0] = mix(vec4(-d), vec4(d), notEqual(ivec4(q0), ivec4(0)));

    // elements 4 to 7, counted from the tile's first
    uvec4 q1 = (uvec4(qs) >> uvec4(4, 5, 6, 7)) & 1u;  // qs: 1 bit
    v[1] = mix(vec4(-d), vec4(d), notEqual(ivec4(q1), ivec4(0)));

    // elements 8 to 11, counted from the tile's first
    uvec4 q2 = (uvec4(qs) >> uvec4(8, 9, 10, 11)) & 1u;  // qs: 1 bit
    v[2] = mix(vec4(-d), vec4(d), notEqual(ivec4(q2), ivec4(0)));

    // elements 12 to 15, counted from the tile's first
    uvec4 q3 = (uvec4(qs) >> uvec4(12, 13, 14, 15)) & 1u;  // qs: 1 bit
    v[3] = mix(vec4(-d), vec4(d), notEqual(ivec4(q3), ivec4(0)));
}

// Stores a tile's runs where they belong in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[4]) {
    const uint at = block * 32u + tile * 4u;
    dst[at] = v[0];
    dst[at + 1u] = v[1];
    dst[at + 2u] = v[2];
    dst[at + 3u] = v[3];
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tokens * row_tiles; i += threads) {
        const uint row = indices[i / row_tiles];
        vec4 v[4];
        if (row >= row_first && row < row_end) {
            const uint from = (row - row_first) * row_tiles + i % row_tiles;
            decode(from / 8u, i % 8u, v);
        } else if (row >= rows && row_first == 0u) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0u; r < 4u; ++r) v[r] = vec4(0.0);
            if (i % row_tiles == 0u) atomicAdd(out_of_range, 1u);
        } else {
            continue;  // a row of another launch
        }
        write_tile(i / 8u, i % 8u, v);
    }
}
