// mx_fp8_e4m3_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format mx_fp8_e4m3`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 33 bytes for 32 elements, 8.25 bits each.
// For each weight 1.03 bytes read and 4 written, 14.2 operations: 0.5 loads, 7.25 bits, 3.5 integer, 2 float, 1 conversions.
//
//     format mx_fp8_e4m3 "OCP MX: E4M3 codes, a power of two for 32"
//     from "OCP Microscaling Formats v1.0"
//
//     block 32 {
//         buffer codes  { w: u8[32] }
//         buffer scales { s: e8m0 }
//     }
//
//     code q: e4m3 = w { 8 @ 0 (32:8) }
//
//     value = q * s
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer CodesBuffer { uint codes[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint8_t scales[]; };
layout(binding = 2, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 4 elements, to decode
};

float f16_to_f32(uint bits) { return unpackHalf2x16(bits).x; }  // of the low 16 bits

// The 4 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[1]) {
    uint w = codes[block * 8u + tile];
    uvec4 q_bits0 = (uvec4(w) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits1 = q_bits0.x, q_bits2 = q_bits0.y, q_bits3 = q_bits0.z, q_bits4 = q_bits0.w;
    // w: 8 bits
    precise vec4 q = vec4(f16_to_f32(((q_bits1 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits1 & 0x7Fu) << 7u) | ((q_bits1 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits2 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits2 & 0x7Fu) << 7u) | ((q_bits2 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits3 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits3 & 0x7Fu) << 7u) | ((q_bits3 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits4 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits4 & 0x7Fu) << 7u) | ((q_bits4 & 128u) << 8u)) * 256.0);
    uint s_bits = uint(scales[block]);
    float s = uintBitsToFloat(s_bits == 0xFFu ? 0x7FC00000u : s_bits == 0u ? 0x400000u : s_bits << 23u);
    v[0] = q * s;
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
