// q4_0_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format q4_0`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 18 bytes for 32 elements, 4.5 bits each.
// For each weight 0.562 bytes read and 4 written, 6.38 operations: 0.375 loads, 2.25 bits, 1.62 integer, 1 float, 1.12 conversions.
//     format q4_0 "4-bit codes around 8, one scale for 32"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 32 {
//         d:  f16
//         qs: u8[16]
//     }
//     code q = qs { 4 @ 0 (16:8, 2:4) }    # low nibbles, then high nibbles
//     value = (q - 8) * d
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 1, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 8 elements, to decode
};

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

// The 8 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[2]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 9u, qs = blocks_u32(base + tile * 2u + 1u);
    uvec4 q0 = (uvec4(qs) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    float d = unpackHalf2x16(uint(blocks[base])).x;
    v[0] = vec4(ivec4(q0) - 8) * d;

    // elements 16 to 19, counted from the tile's first
    uvec4 q1 = (uvec4(qs) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: 4 bits
    v[1] = vec4(ivec4(q1) - 8) * d;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[2]) {
    const uint at = block * 8u + tile;
    dst[at] = v[0];
    dst[at + 4u] = v[1];
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) {
        vec4 v[2];
        decode(i / 4u, i % 4u, v);
        write_tile(i / 4u, i % 4u, v);
    }
}
