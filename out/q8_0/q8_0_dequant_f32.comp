// q8_0_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format q8_0`; do not edit.
// 34 bytes for 32 elements, 8.5 bits each.
// For each weight 1.06 bytes read and 4 written, 6.75 operations: 0.75 loads, 2.5 bits, 1.25 integer, 1 float, 1.25 conversions.
//
//     format q8_0 "signed 8-bit codes, one scale for 32"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 32 {
//         d:  f16
//         qs: i8[32]
//     }
//
//     code q: i8 = qs { 8 @ 0 (32:8) }
//
//     value = q * d
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 1, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 4 elements, to decode
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

// The 4 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[1]) {
    uint base = block * 17u;
    uint qs = blocks_u32(base + tile * 2u + 1u);
    ivec4 q = bitfieldExtract(ivec4(uvec4(qs) >> uvec4(0, 8, 16, 24)), 0, 8);  // qs: 8 bits
    float d = f16_to_f32(uint(blocks[base]));
    v[0] = vec4(q) * d;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[1]) {
    const uint at = block * 8u + tile;
    dst[at] = v[0];
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) {
        vec4 v[1];
        decode(i / 8u, i % 8u, v);
        write_tile(i / 8u, i % 8u, v);
    }
}
