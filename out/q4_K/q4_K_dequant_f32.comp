// q4_K_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format q4_K`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 144 bytes for 256 elements, 4.5 bits each.
// For each weight 0.562 bytes read and 4 written, 12.8 operations: 0.75 loads, 5.12 bits, 2.62 integer, 2.5 float, 1.75 conversions.
//     format q4_K "4-bit codes, 6-bit scales and minimums in groups of 32"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 256 {
//         d:      f16
//         dmin:   f16
//         scales: u8[12]
//         qs:     u8[128]
//     }
//     # Groups 0 to 3 have their six bits in one byte; groups 4 to 7 borrow the two high bits of those bytes.
//     code sc per 32 = scales { 4 @ 0 (4:8, 2:64)   2 @ 4 (4:8, 2:2) }
//     code mn per 32 = scales { 4 @ 32 (4:8, 2:36)  2 @ 36 (4:8, 2:2) }
//     # 32 low nibbles, 32 high nibbles, and so on in steps of 32 bytes.
//     code q = qs { 4 @ 0 (32:8, 2:4, 4:256) }
//     value = d * sc * q - dmin * mn
#version 450
#extension GL_KHR_shader_subgroup_basic : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 1, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 8 elements, to decode
};

// The 8 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[2]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 36u, d_dmin = blocks[base];
    float d = unpackHalf2x16(d_dmin).x;
    uint part = tile / 8u;  // part: of 64 elements
    uint scales0 = blocks[base + part / 2u * 2u + 1u], sc_lo0 = (scales0 >> (part % 2u * 16u)) & 15u;  // scales: bits 0-3 of sc
    uint scales1 = blocks[base + 1u], sc_hi0 = (scales1 >> (part % 2u * 16u + part / 2u * 2u + 4u)) & 3u;  // scales: bits 4-5 of sc
    uint sc0 = sc_lo0 | (sc_hi0 << 4u);
    precise float d_sc0 = d * float(sc0);
    uint qs = blocks[base + tile + 4u];
    uvec4 q0 = (uvec4(qs) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    float dmin = unpackHalf2x16(d_dmin >> 16u).x;
    uint scales2 = blocks[base + part / 2u + 2u], mn_lo0 = (scales2 >> (part % 2u * 16u + part / 2u * 4u)) & 15u;  // scales: bits 0-3 of mn
    uint scales3 = blocks[base + 2u], mn_hi0 = (scales3 >> (part % 2u * 16u + part / 2u * 2u + 4u)) & 3u;  // scales: bits 4-5 of mn
    uint mn0 = mn_lo0 | (mn_hi0 << 4u);
    precise float dmin_mn0 = dmin * float(mn0);
    v[0] = d_sc0 * vec4(q0) - dmin_mn0;

    // elements 32 to 35, counted from the tile's first
    uint sc_lo1 = (scales0 >> (part % 2u * 16u + 8u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi1 = (scales1 >> (part % 2u * 16u + part / 2u * 2u + 12u)) & 3u;  // scales: bits 4-5 of sc
    uint sc1 = sc_lo1 | (sc_hi1 << 4u);
    precise float d_sc1 = d * float(sc1);
    uvec4 q1 = (uvec4(qs) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: 4 bits
    uint mn_lo1 = (scales2 >> (part % 2u * 16u + part / 2u * 4u + 8u)) & 15u;  // scales: bits 0-3 of mn
    uint mn_hi1 = (scales3 >> (part % 2u * 16u + part / 2u * 2u + 12u)) & 3u;  // scales: bits 4-5 of mn
    uint mn1 = mn_lo1 | (mn_hi1 << 4u);
    precise float dmin_mn1 = dmin * float(mn1);
    v[1] = d_sc1 * vec4(q1) - dmin_mn1;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[2]) {
    const uint at = block * 64u + tile / 8u * 16u + tile % 8u;
    dst[at] = v[0];
    dst[at + 8u] = v[1];
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) {
        vec4 v[2];
        decode(i / 32u, i % 32u, v);
        write_tile(i / 32u, i % 32u, v);
    }
}
