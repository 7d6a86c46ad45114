// iq1_s_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format iq1_s`; do not edit.
// 50 bytes for 256 elements, 1.562 bits each.
// For each weight 0.195 bytes read and 4 written, 16.8 operations: 0.75 loads, 4.25 bits, 7.5 integer, 2.5 float, 1.5 conversions, 0.25 lookups.
//
//     format iq1_s "eights from a ternary codebook of 2048, shifted by an eighth, 3-bit scales in groups of 32"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         d:  f16
//         qs: u8[32]
//         qh: u16[8]
//     }
//
//     code g  per 8  = qs { 8 @ 0 (32:8) } qh { 3 @ 0 (4:3, 8:16) }
//     code sc per 32 = qh { 3 @ 12 (8:16) }
//     code sg per 32 = qh { 1 @ 15 (8:16) }
//
//     table G: i8[2048][8] = file "iq1s_grid.bin"
//
//     value = d * (2 * sc + 1) * (G[g][i % 8] + (sg ? -0.125 : 0.125))
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 2, std430) readonly buffer GTable { uint G[]; };  // 2048 rows of 8: i8 from -1 on, in 4 bits each
layout(binding = 1, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 4 elements, to decode
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// The 4 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[1]) {
    uint base = block * 25u;
    float d = f16_to_f32(uint(blocks[base]));
    uint part = tile / 8u;  // of 32 elements
    uint qh = uint(blocks[base + part + 17u]);
    uint sc = (qh >> 12u) & 7u;  // qh: 3 bits
    precise float d_sc = d * float(2 * int(sc) + 1);
    uint qs = uint(blocks[base + part * 2u + tile % 8u / 2u / 2u + 1u]);
    uint g_lo = (qs >> (tile % 8u / 2u % 2u * 8u)) & 0xFFu;  // qs: bits 0-7 of g
    uint g_hi = (qh >> (tile % 8u / 2u * 3u)) & 7u;  // qh: bits 8-10 of g
    uint g = g_lo | (g_hi << 8u);
    uint G_row = G[g];
    uint sg = qh >> 15u;  // qh: 1 bit
    v[0] = d_sc * (vec4(ivec4(int((G_row >> (tile % 8u % 2u * 4u * 4u)) & 15u), int((G_row >> ((tile % 8u % 2u * 4u + 1u) * 4u)) & 15u), int((G_row >> ((tile % 8u % 2u * 4u + 2u) * 4u)) & 15u), int((G_row >> ((tile % 8u % 2u * 4u + 3u) * 4u)) & 15u)) - 1) + (int(sg) != 0 ? -0.125 : 0.125));
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
