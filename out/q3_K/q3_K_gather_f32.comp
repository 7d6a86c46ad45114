// q3_K_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format q3_K`; do not edit.
// 110 bytes for 256 elements, 3.438 bits each.
// For each weight 0.43 bytes read and 4 written, 12.5 operations: 0.406 loads, 7.69 bits, 1.88 integer, 1.25 float, 1.28 conversions.
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
    uint row_tiles;  // tiles of 32 elements in a row
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

// The 32 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[8]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 55u;
    float d = f16_to_f32(uint(blocks[base + 54u]));
    uint scales0 = uint(blocks[base + 48u]);
    uint sc_lo0 = (scales0 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint scales1 = uint(blocks[base + 52u]);
    uint sc_hi0 = (scales1 >> (tile / 4u * 8u)) & 3u;  // scales: bits 4-5 of sc
    uint sc0 = sc_lo0 | (sc_hi0 << 4u);
    precise float d_sc0 = d * float(int(sc0) - 32);
    uint qs0 = blocks_u32(base + tile * 2u + 16u);
    uvec4 q_lo0 = (uvec4(qs0) >> uvec4(0, 8, 16, 24)) & 3u;  // qs: bits 0-1 of q
    uint hmask = blocks_u32(base + tile * 2u);
    uvec4 q_hi0 = (uvec4(hmask) >> uvec4(0, 8, 16, 24)) & 1u;  // hmask: bit 2 of q
    uvec4 q0 = q_lo0 | (q_hi0 << 2u);
    v[0] = d_sc0 * vec4(ivec4(q0) - 4);

    // elements 32 to 35, counted from the tile's first
    uint scales2 = uint(blocks[base + 49u]);
    uint sc_lo1 = (scales2 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint scales3 = uint(blocks[base + 53u]);
    uint sc_hi1 = (scales3 >> (tile / 4u * 8u)) & 3u;  // scales: bits 4-5 of sc
    uint sc1 = sc_lo1 | (sc_hi1 << 4u);
    precise float d_sc1 = d * float(int(sc1) - 32);
    uvec4 q_lo1 = (uvec4(qs0) >> uvec4(2, 10, 18, 26)) & 3u;  // qs: bits 0-1 of q
    uvec4 q_hi1 = (uvec4(hmask) >> uvec4(1, 9, 17, 25)) & 1u;  // hmask: bit 2 of q
    uvec4 q1 = q_lo1 | (q_hi1 << 2u);
    v[1] = d_sc1 * vec4(ivec4(q1) - 4);

    // elements 64 to 67, counted from the tile's first
    uint scales4 = uint(blocks[base + 50u]);
    uint sc_lo2 = (scales4 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi2 = (scales1 >> (tile / 4u * 8u + 2u)) & 3u;  // scales: bits 4-5 of sc
    uint sc2 = sc_lo2 | (sc_hi2 << 4u);
    precise float d_sc2 = d * float(int(sc2) - 32);
    uvec4 q_lo2 = (uvec4(qs0) >> uvec4(4, 12, 20, 28)) & 3u;  // qs: bits 0-1 of q
    uvec4 q_hi2 = (uvec4(hmask) >> uvec4(2, 10, 18, 26)) & 1u;  // hmask: bit 2 of q
    uvec4 q2 = q_lo2 | (q_hi2 << 2u);
    v[2] = d_sc2 * vec4(ivec4(q2) - 4);

    // elements 96 to 99, counted from the tile's first
    uint scales5 = uint(blocks[base + 51u]);
    uint sc_lo3 = (scales5 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi3 = (scales3 >> (tile / 4u * 8u + 2u)) & 3u;  // scales: bits 4-5 of sc
    uint sc3 = sc_lo3 | (sc_hi3 << 4u);
    precise float d_sc3 = d * float(int(sc3) - 32);
    uvec4 q_lo3 = (uvec4(qs0) >> uvec4(6, 14, 22, 30)) & 3u;  // qs: bits 0-1 of q
    uvec4 q_hi3 = (uvec4(hmask) >> uvec4(3, 11, 19, 27)) & 1u;  // hmask: bit 2 of q
    uvec4 q3 = q_lo3 | (q_hi3 << 2u);
    v[3] = d_sc3 * vec4(ivec4(q3) - 4);

    // elements 128 to 131, counted from the tile's first
    uint sc_lo4 = (scales0 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi4 = (scales1 >> (tile / 4u * 8u + 4u)) & 3u;  // scales: bits 4-5 of sc
    uint sc4 = sc_lo4 | (sc_hi4 << 4u);
    precise float d_sc4 = d * float(int(sc4) - 32);
    uint qs1 = blocks_u32(base + tile * 2u + 32u);
    uvec4 q_lo4 = (uvec4(qs1) >> uvec4(0, 8, 16, 24)) & 3u;  // qs: bits 0-1 of q
    uvec4 q_hi4 = (uvec4(hmask) >> uvec4(4, 12, 20, 28)) & 1u;  // hmask: bit 2 of q
    uvec4 q4 = q_lo4 | (q_hi4 << 2u);
    v[4] = d_sc4 * vec4(ivec4(q4) - 4);

    // elements 160 to 163, counted from the tile's first
    uint sc_lo5 = (scales2 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi5 = (scales3 >> (tile / 4u * 8u + 4u)) & 3u;  // scales: bits 4-5 of sc
    uint sc5 = sc_lo5 | (sc_hi5 << 4u);
    precise float d_sc5 = d * float(int(sc5) - 32);
    uvec4 q_lo5 = (uvec4(qs1) >> uvec4(2, 10, 18, 26)) & 3u;  // qs: bits 0-1 of q
    uvec4 q_hi5 = (uvec4(hmask) >> uvec4(5, 13, 21, 29)) & 1u;  // hmask: bit 2 of q
    uvec4 q5 = q_lo5 | (q_hi5 << 2u);
    v[5] = d_sc5 * vec4(ivec4(q5) - 4);

    // elements 192 to 195, counted from the tile's first
    uint sc_lo6 = (scales4 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi6 = (scales1 >> (tile / 4u * 8u + 6u)) & 3u;  // scales: bits 4-5 of sc
    uint sc6 = sc_lo6 | (sc_hi6 << 4u);
    precise float d_sc6 = d * float(int(sc6) - 32);
    uvec4 q_lo6 = (uvec4(qs1) >> uvec4(4, 12, 20, 28)) & 3u;  // qs: bits 0-1 of q
    uvec4 q_hi6 = (uvec4(hmask) >> uvec4(6, 14, 22, 30)) & 1u;  // hmask: bit 2 of q
    uvec4 q6 = q_lo6 | (q_hi6 << 2u);
    v[6] = d_sc6 * vec4(ivec4(q6) - 4);

    // elements 224 to 227, counted from the tile's first
    uint sc_lo7 = (scales5 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi7 = (scales3 >> (tile / 4u * 8u + 6u)) & 3u;  // scales: bits 4-5 of sc
    uint sc7 = sc_lo7 | (sc_hi7 << 4u);
    precise float d_sc7 = d * float(int(sc7) - 32);
    uvec4 q_lo7 = (uvec4(qs1) >> uvec4(6, 14, 22, 30)) & 3u;  // qs: bits 0-1 of q
    uvec4 q_hi7 = (uvec4(hmask) >> uvec4(7, 15, 23, 31)) & 1u;  // hmask: bit 2 of q
    uvec4 q7 = q_lo7 | (q_hi7 << 2u);
    v[7] = d_sc7 * vec4(ivec4(q7) - 4);
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[8]) {
    const uint at = block * 64u + tile;
    dst[at] = v[0];
    dst[at + 8u] = v[1];
    dst[at + 16u] = v[2];
    dst[at + 24u] = v[3];
    dst[at + 32u] = v[4];
    dst[at + 40u] = v[5];
    dst[at + 48u] = v[6];
    dst[at + 56u] = v[7];
}

void main() {
    // A thread goes on by so many tokens and tiles at a time.
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, token_step = threads / row_tiles, tile_step = threads % row_tiles;
    uint token = gl_GlobalInvocationID.x / row_tiles, t = gl_GlobalInvocationID.x % row_tiles;
    while (token < tokens) {
        const uint row = indices[token], i = token * row_tiles + t;
        const bool bound = row >= row_first && row < row_end, missing = row >= rows && row_first == 0u;
        vec4 v[8];
        if (bound) {
            const uint from = (row - row_first) * row_tiles + t;
            decode(from / 8u, i % 8u, v);
        } else if (missing) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0u; r < 8u; ++r) v[r] = vec4(0.0);
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
