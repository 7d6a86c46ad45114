// q6_K_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format q6_K`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 210 bytes for 256 elements, 6.562 bits each.
// For each weight 0.82 bytes read and 4 written, 12.6 operations: 0.688 loads, 6.88 bits, 2.44 integer, 1.25 float, 1.31 conversions.
//     format q6_K "6-bit codes around 32, signed 8-bit scales in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 256 {
//         ql:     u8[128]
//         qh:     u8[64]
//         scales: i8[16]
//         d:      f16
//     }
//     code sc: i8 per 16 = scales { 8 @ 0 (16:8) }
//     code q = ql { 4 @ 0 (64:8, 2:4, 2:512) }         # low four bits
//              qh { 2 @ 0 (32:8, 4:2, 2:256) }         # high two bits
//     value = d * sc * (q - 32)
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 1, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 16 elements, to decode
};

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

// The 16 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[4]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 105u;
    float d = unpackHalf2x16(uint(blocks[base + 104u])).x;
    uint part = tile / 8u;  // part: of 128 elements
    uint scales0 = uint(blocks[base + part * 4u + 96u]);
    int sc0 = bitfieldExtract(int(scales0 >> (tile % 8u / 4u * 8u)), 0, 8);  // scales: 8 bits
    precise float d_sc0 = d * float(sc0);
    uint ql0 = blocks_u32(base + part * 32u + tile % 8u * 2u);
    uvec4 q_lo0 = (uvec4(ql0) >> uvec4(0, 8, 16, 24)) & 15u;  // ql: bits 0-3 of q
    uint qh = blocks_u32(base + tile * 2u + 64u);
    uvec4 q_hi0 = (uvec4(qh) >> uvec4(0, 8, 16, 24)) & 3u;  // qh: bits 4-5 of q
    uvec4 q0 = q_lo0 | (q_hi0 << 4u);
    v[0] = d_sc0 * vec4(ivec4(q0) - 32);

    // elements 32 to 35, counted from the tile's first
    uint scales1 = uint(blocks[base + part * 4u + 97u]);
    int sc1 = bitfieldExtract(int(scales1 >> (tile % 8u / 4u * 8u)), 0, 8);  // scales: 8 bits
    precise float d_sc1 = d * float(sc1);
    uint ql1 = blocks_u32(base + part * 32u + tile % 8u * 2u + 16u);
    uvec4 q_lo1 = (uvec4(ql1) >> uvec4(0, 8, 16, 24)) & 15u;  // ql: bits 0-3 of q
    uvec4 q_hi1 = (uvec4(qh) >> uvec4(2, 10, 18, 26)) & 3u;  // qh: bits 4-5 of q
    uvec4 q1 = q_lo1 | (q_hi1 << 4u);
    v[1] = d_sc1 * vec4(ivec4(q1) - 32);

    // elements 64 to 67, counted from the tile's first
    uint scales2 = uint(blocks[base + part * 4u + 98u]);
    int sc2 = bitfieldExtract(int(scales2 >> (tile % 8u / 4u * 8u)), 0, 8);  // scales: 8 bits
    precise float d_sc2 = d * float(sc2);
    uvec4 q_lo2 = (uvec4(ql0) >> uvec4(4, 12, 20, 28)) & 15u;  // ql: bits 0-3 of q
    uvec4 q_hi2 = (uvec4(qh) >> uvec4(4, 12, 20, 28)) & 3u;  // qh: bits 4-5 of q
    uvec4 q2 = q_lo2 | (q_hi2 << 4u);
    v[2] = d_sc2 * vec4(ivec4(q2) - 32);

    // elements 96 to 99, counted from the tile's first
    uint scales3 = uint(blocks[base + part * 4u + 99u]);
    int sc3 = bitfieldExtract(int(scales3 >> (tile % 8u / 4u * 8u)), 0, 8);  // scales: 8 bits
    precise float d_sc3 = d * float(sc3);
    uvec4 q_lo3 = (uvec4(ql1) >> uvec4(4, 12, 20, 28)) & 15u;  // ql: bits 0-3 of q
    uvec4 q_hi3 = (uvec4(qh) >> uvec4(6, 14, 22, 30)) & 3u;  // qh: bits 4-5 of q
    uvec4 q3 = q_lo3 | (q_hi3 << 4u);
    v[3] = d_sc3 * vec4(ivec4(q3) - 32);
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
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) {
        vec4 v[4];
        decode(i / 16u, i % 16u, v);
        write_tile(i / 16u, i % 16u, v);
    }
}
