// iq1_m_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format iq1_m`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 56 bytes for 256 elements, 1.75 bits each.
// For each weight 0.219 bytes read and 4 written, 23 operations: 1.25 loads, 7.5 bits, 10 integer, 2.5 float, 1.5 conversions, 0.25
// lookups.
//     format iq1_m "eights from a ternary codebook of 2048, shifted by an eighth, 3-bit scales in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 256 {
//         qs:     u8[32]
//         qh:     u8[16]
//         scales: u16[4]
//     }
//     code g  per 8  = qs { 8 @ 0 (32:8) } qh { 3 @ 0 (32:4) }
//     code sg per 8  = qh { 1 @ 3 (32:4) }
//     code sc per 16 = scales { 3 @ 0 (4:3, 4:16) }
//     code d: f16 per 256 = scales { 4 @ 12   4 @ 28   4 @ 44   4 @ 60 }    # spread over the top of four words
//     table G: i8[2048][8] = file "iq1s_grid.bin"
//     value = d * (2 * sc + 1) * (G[g][i % 8] + (sg ? -0.125 : 0.125))
#version 450
#extension GL_KHR_shader_subgroup_basic : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 2, std430) readonly buffer GTable { uint G[]; };  // 2048 rows of 8: i8 from -1 on, in 4 bits each
layout(binding = 1, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 4 elements, to decode
};

// The 4 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[1]) {
    uint base = block * 14u, scales0 = blocks[base + 12u], d_0bit = (scales0 >> 12u) & 15u;  // scales: bits 0-3 of d
    uint d_4bit = scales0 >> 28u;  // scales: bits 4-7 of d
    uint scales1 = blocks[base + 13u], d_8bit = (scales1 >> 12u) & 15u;  // scales: bits 8-11 of d
    uint d_12bit = scales1 >> 28u;  // scales: bits 12-15 of d
    float d = unpackHalf2x16(d_0bit | (d_4bit << 4u) | (d_8bit << 8u) | (d_12bit << 12u)).x;
    uint scales2 = blocks[base + tile / 4u / 4u / 2u + 12u];
    uint sc = (scales2 >> (tile / 4u / 4u % 2u * 16u + tile / 4u % 4u * 3u)) & 7u;  // scales: 3 bits
    precise float d_sc = d * float(2 * int(sc) + 1);
    uint qs = blocks[base + tile / 2u / 4u], g_lo = (qs >> (tile / 2u % 4u * 8u)) & 0xFFu;  // qs: bits 0-7 of g
    uint qh = blocks[base + tile / 2u / 8u + 8u], g_hi = (qh >> (tile / 2u % 8u * 4u)) & 7u;  // qh: bits 8-10 of g
    uint g = g_lo | (g_hi << 8u), G_row = G[g], sg = (qh >> (tile / 2u % 8u * 4u + 3u)) & 1u;  // qh: 1 bit
    v[0] = d_sc * (vec4(ivec4(int((G_row >> (tile % 2u * 4u * 4u)) & 15u), int((G_row >> ((tile % 2u * 4u + 1u) * 4u)) & 15u),
        int((G_row >> ((tile % 2u * 4u + 2u) * 4u)) & 15u), int((G_row >> ((tile % 2u * 4u + 3u) * 4u)) & 15u)) - 1)
        + (int(sg) != 0 ? -0.125 : 0.125));
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[1]) {
    const uint at = block * 64u + tile;
    dst[at] = v[0];
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) {
        vec4 v[1];
        decode(i / 64u, i % 64u, v);
        write_tile(i / 64u, i % 64u, v);
    }
}
