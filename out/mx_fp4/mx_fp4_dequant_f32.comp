// mx_fp4_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format mx_fp4`; do not edit.
// 17 bytes for 32 elements, 4.25 bits each.
// For each weight 0.531 bytes read and 4 written, 13.2 operations: 0.5 loads, 7.5 bits, 2.25 integer, 2 float, 1 conversions.
//
//     format mx_fp4 "OCP MX: E2M1 codes, the even one in the low nibble, a power of two for 32"
//     from "OCP Microscaling Formats v1.0; packed as AMD Quark and gpt-oss do"
//
//     block 32 {
//         buffer codes  { w: u8[16] }
//         buffer scales { s: e8m0 }
//     }
//
//     code q: e2m1 = w { 4 @ 0 (32:4) }
//
//     value = q * s
#version 450
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer CodesBuffer { uint codes[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint8_t scales[]; };
layout(binding = 2, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 4 elements, to decode
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// The 4 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[1]) {
    uint w = codes[block * 4u + tile / 2u];
    uvec4 q_bits0 = (uvec4(w >> (tile % 2u * 16u)) >> uvec4(0, 4, 8, 12)) & 15u;
    uint q_bits1 = q_bits0.x;
    uint q_bits2 = q_bits0.y;
    uint q_bits3 = q_bits0.z;
    uint q_bits4 = q_bits0.w;
    precise vec4 q = vec4(f16_to_f32(((q_bits1 & 7u) << 9u) | ((q_bits1 & 8u) << 12u)) * 16384.0, f16_to_f32(((q_bits2 & 7u) << 9u) | ((q_bits2 & 8u) << 12u)) * 16384.0, f16_to_f32(((q_bits3 & 7u) << 9u) | ((q_bits3 & 8u) << 12u)) * 16384.0, f16_to_f32(((q_bits4 & 7u) << 9u) | ((q_bits4 & 8u) << 12u)) * 16384.0);  // w: 4 bits
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
