// q2_0_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
// Generated from the specification below by `qkgen emit --format q2_0`; do not edit.
// 18 bytes for 64 elements, 2.25 bits each.
// For each weight 0.281 bytes read and 2 written, 6.75 operations: 0.25 loads, 2 bits, 1.38 integer, 1 float, 2.12 conversions.
//
//     format q2_0 "2-bit codes around 1, one scale for 64"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 64 {
//         d:  f16
//         qs: u8[16]
//     }
//
//     code q = qs { 2 @ 0 (64:2) }
//
//     value = (q - 1) * d
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 1, std430) writeonly buffer Dst { uvec2 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 8 elements, to decode
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// Rounds to the nearest half, ties to even. In integers, because Vulkan leaves the rounding of its own conversion open.
uint f32_to_f16(float x) {
    const uint bits = floatBitsToUint(x), magnitude = bits & 0x7FFFFFFFu, sign = (bits >> 16) & 0x8000u;
    if (magnitude > 0x7F800000u) return sign | 0x7E00u;    // NaN
    if (magnitude >= 0x477FF000u) return sign | 0x7C00u;   // beyond the largest half
    if (magnitude < 0x38800000u) {                         // a subnormal half: adding 1/2 rounds at its last bit
        precise float lifted = uintBitsToFloat(magnitude) + 0.5;
        return sign | (floatBitsToUint(lifted) - 0x3F000000u);
    }
    return sign | ((magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13);
}

// The 8 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[2]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 9u;
    uint qs = uint(blocks[base + tile + 1u]);
    uvec4 q0 = (uvec4(qs) >> uvec4(0, 2, 4, 6)) & 3u;  // qs: 2 bits
    float d = f16_to_f32(uint(blocks[base]));
    v[0] = vec4(ivec4(q0) - 1) * d;

    // elements 4 to 7, counted from the tile's first
    uvec4 q1 = (uvec4(qs) >> uvec4(8, 10, 12, 14)) & 3u;  // qs: 2 bits
    v[1] = vec4(ivec4(q1) - 1) * d;
}

uvec2 pack(vec4 v) {
    return uvec2(f32_to_f16(v.x) | (f32_to_f16(v.y) << 16), f32_to_f16(v.z) | (f32_to_f16(v.w) << 16));
}

// Stores a tile's runs where they belong in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[2]) {
    const uint at = block * 16u + tile * 2u;
    dst[at] = pack(v[0]);
    dst[at + 1u] = pack(v[1]);
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) {
        vec4 v[2];
        decode(i / 8u, i % 8u, v);
        write_tile(i / 8u, i % 8u, v);
    }
}
