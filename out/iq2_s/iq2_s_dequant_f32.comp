// iq2_s_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format iq2_s`; do not edit.
// 82 bytes for 256 elements, 2.562 bits each.
// For each weight 0.32 bytes read and 4 written, 26.2 operations: 1.25 loads, 6.5 bits, 12.2 integer, 2.75 float, 2.5 conversions, 1
// lookups.
//
//     format iq2_s "eights from a codebook of 1024, sign masks, 4-bit scales in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         d:      f16
//         qs:     u8[32]
//         signs:  u8[32]
//         qh:     u8[8]
//         scales: u8[8]
//     }
//
//     code g  per 8  = qs { 8 @ 0 (32:8) } qh { 2 @ 0 (32:2) }
//     code s  per 8  = signs { 8 @ 0 (32:8) }
//     code sc per 16 = scales { 4 @ 0 (16:4) }
//
//     table G: u8[1024][8] = file "iq2s_grid.bin"
//
//     value = d * (0.5 + sc) * 0.25 * G[g][i % 8] * (s >> i % 8 & 1 ? -1 : 1)
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 2, std430) readonly buffer GTable { uint G[]; };  // 1024 rows of 8: u8, packed
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
    uint base = block * 41u;
    float d = f16_to_f32(uint(blocks[base]));
    uint scales = uint(blocks[base + tile / 4u / 4u + 37u]);
    uint sc = (scales >> (tile / 4u % 4u * 4u)) & 15u;  // scales: 4 bits
    precise float d_sc0 = d * (0.5 + float(sc));
    precise float d_sc1 = d_sc0 * 0.25;
    uint qs = uint(blocks[base + tile / 2u / 2u + 1u]);
    uint g_lo = (qs >> (tile / 2u % 2u * 8u)) & 0xFFu;  // qs: bits 0-7 of g
    uint qh = uint(blocks[base + tile / 2u / 8u + 33u]);
    uint g_hi = (qh >> (tile / 2u % 8u * 2u)) & 3u;  // qh: bits 8-9 of g
    uint g = g_lo | (g_hi << 8u);
    uint G_row0 = G[g * 2u + tile % 2u * 4u / 4u];
    uint G_row1 = G[g * 2u + (tile % 2u * 4u + 1u) / 4u];
    uint G_row2 = G[g * 2u + (tile % 2u * 4u + 2u) / 4u];
    uint G_row3 = G[g * 2u + (tile % 2u * 4u + 3u) / 4u];
    uint signs = uint(blocks[base + tile / 2u / 2u + 17u]);
    uint s = (signs >> (tile / 2u % 2u * 8u)) & 0xFFu;  // signs: 8 bits
    v[0] = d_sc1 * vec4((G_row0 >> (tile % 2u * 4u % 4u * 8u)) & 0xFFu, (G_row1 >> ((tile % 2u * 4u + 1u) % 4u * 8u)) & 0xFFu,
        (G_row2 >> ((tile % 2u * 4u + 2u) % 4u * 8u)) & 0xFFu, (G_row3 >> ((tile % 2u * 4u + 3u) % 4u * 8u)) & 0xFFu)
        * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(s)) >> ivec4(int(tile % 2u * 4u), int(tile % 2u * 4u + 1u),
        int(tile % 2u * 4u + 2u), int(tile % 2u * 4u + 3u))) & 1, ivec4(0))));
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
