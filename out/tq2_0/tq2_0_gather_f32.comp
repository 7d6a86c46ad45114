// tq2_0_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format tq2_0`; do not edit.
// 66 bytes for 256 elements, 2.062 bits each.
// For each weight 0.258 bytes read and 4 written, 5.69 operations: 0.188 loads, 2.12 bits, 1.31 integer, 1 float, 1.06 conversions.
//
//     format tq2_0 "ternary codes in 2 bits, one scale for 256"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         qs: u8[64]
//         d:  f16
//     }
//
//     code q = qs { 2 @ 0 (32:8, 4:2, 2:256) }
//
//     value = (q - 1) * d
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

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

// The 16 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[4]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 33u;
    uint qs = blocks_u32(base + tile * 2u);
    uvec4 q0 = (uvec4(qs) >> uvec4(0, 8, 16, 24)) & 3u;  // qs: 2 bits
    float d = f16_to_f32(uint(blocks[base + 32u]));
    v[0] = vec4(ivec4(q0) - 1) * d;

    // elements 32 to 35, counted from the tile's first
    uvec4 q1 = (uvec4(qs) >> uvec4(2, 10, 18, 26)) & 3u;  // qs: 2 bits
    v[1] = vec4(ivec4(q1) - 1) * d;

    // elements 64 to 67, counted from the tile's first
    uvec4 q2 = (uvec4(qs) >> uvec4(4, 12, 20, 28)) & 3u;  // qs: 2 bits
    v[2] = vec4(ivec4(q2) - 1) * d;

    // elements 96 to 99, counted from the tile's first
    uvec4 q3 = (uvec4(qs) >> uvec4(6, 14, 22, 30)) & 3u;  // qs: 2 bits
    v[3] = vec4(ivec4(q3) - 1) * d;
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
