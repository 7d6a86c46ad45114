// mxfp4_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format mxfp4`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 17 bytes for 32 elements, 4.25 bits each.
// For each weight 0.531 bytes read and 4 written, 8.12 operations: 0.625 loads, 3.25 bits, 1.25 integer, 1 float, 1 conversions, 1 lookups.
//     format mxfp4 "E2M1 codes, a power of two for 32"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 32 {
//         e:  u8
//         qs: u8[16]
//     }
//     code q = qs { 4 @ 0 (16:8, 2:4) }    # low nibbles, then high nibbles
//     table K: i8[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 }    # twice the E2M1 value
//     # 2^(e - 128), since the table is doubled: e - 1 is the exponent of an f32, but that the two smallest are subnormals.
//     value = K[q] * f32(e < 2 ? 2097152 << (e & 1) : (e + 255 & 255) << 23)
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint8_t blocks[]; };
layout(binding = 2, std430) readonly buffer KTable { int K[]; };
layout(binding = 1, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 8 elements, to decode
};

// 32 bits from words of 8.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 8) | (uint(blocks[at + 2u]) << 16) | (uint(blocks[at + 3u]) << 24);
}

// The 8 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[2]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 17u, qs = blocks_u32(base + tile * 4u + 1u);
    uvec4 q0 = (uvec4(qs) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    uint e = uint(blocks[base]);
    float e_e_e = uintBitsToFloat(uint(int(e) < 2 ? 2097152 << (int(e) & 1) : ((int(e) + 255) & 255) << 23));
    v[0] = vec4(K[q0.x], K[q0.y], K[q0.z], K[q0.w]) * e_e_e;

    // elements 16 to 19, counted from the tile's first
    uvec4 q1 = (uvec4(qs) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: 4 bits
    v[1] = vec4(K[q1.x], K[q1.y], K[q1.z], K[q1.w]) * e_e_e;
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
