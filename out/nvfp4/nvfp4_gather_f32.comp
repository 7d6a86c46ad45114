// nvfp4_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format nvfp4`; do not edit.
// 36 bytes for 64 elements, 4.5 bits each.
// For each weight 0.562 bytes read and 4 written, 6.88 operations: 0.25 loads, 2.5 bits, 0.75 integer, 1.25 float, 1.12 conversions, 1 lookups.
//
//     format nvfp4 "E2M1 codes, unsigned E4M3 scales in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 64 {
//         d:  u8[4]
//         qs: u8[32]
//     }
//
//     code sc per 16 = d { 8 @ 0 (4:8) }
//     code q = qs { 4 @ 0 (8:8, 2:4, 4:64) }
//
//     table K: i8[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 }    # twice the E2M1 value
//
//     # The digits of the scale, 7 bits, as those of a half: 2^8 too small; the half of that goes with the doubled table.
//     value = K[q] * (sc == 127 ? 0.0 : 128.0 * f16((sc & 127) << 7))
#version 450

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 4, std430) readonly buffer KTable { int K[]; };
layout(binding = 1, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 2, std430) writeonly buffer Dst { vec4 dst[]; };
layout(binding = 3, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// The 8 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[2]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 9u;
    uint qs = blocks[base + tile + 1u];
    uvec4 q0 = (uvec4(qs) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    uint d = blocks[base];
    uint part = tile / 2u;  // of 16 elements
    uint sc = (d >> (part * 8u)) & 0xFFu;  // d: 8 bits
    precise float sc_sc = int(sc) == 127 ? 0.0 : 128.0 * f16_to_f32(uint((int(sc) & 127) << 7));
    v[0] = vec4(K[q0.x], K[q0.y], K[q0.z], K[q0.w]) * sc_sc;

    // elements 8 to 11, counted from the tile's first
    uvec4 q1 = (uvec4(qs) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: 4 bits
    v[1] = vec4(K[q1.x], K[q1.y], K[q1.z], K[q1.w]) * sc_sc;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[2]) {
    const uint at = block * 16u + tile / 2u * 4u + tile % 2u;
    dst[at] = v[0];
    dst[at + 2u] = v[1];
}

void main() {
    // A thread goes on by so many tokens and tiles at a time.
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, token_step = threads / row_tiles, tile_step = threads % row_tiles;
    uint token = gl_GlobalInvocationID.x / row_tiles, t = gl_GlobalInvocationID.x % row_tiles;
    while (token < tokens) {
        const uint row = indices[token], i = token * row_tiles + t;
        const bool bound = row >= row_first && row < row_end, missing = row >= rows && row_first == 0u;
        vec4 v[2];
        if (bound) {
            const uint from = (row - row_first) * row_tiles + t;
            decode(from / 8u, i % 8u, v);
        } else if (missing) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0u; r < 2u; ++r) v[r] = vec4(0.0);
            if (t == 0u) atomicAdd(out_of_range, 1u);
        }
        if (bound || missing) write_tile(i / 8u, i % 8u, v);  // else: a row of another launch
        token += token_step;
        t += tile_step;
        if (t >= row_tiles) {
            t -= row_tiles;
            token += 1u;
        }
    }
}
