// ct_b8_g128_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format ct_b8_g128`; do not edit.
// 130 bytes for 128 elements, 8.125 bits each.
// For each weight 1.02 bytes read and 4 written, 6.25 operations: 0.5 loads, 2.25 bits, 1.5 integer, 1 float, 1 conversions.
//
//     format ct_b8_g{group} "compressed-tensors: 8-bit codes around 128, a scale for each group"
//     from "compressed-tensors: pack-quantized, symmetric, 8 bits"
//     for group in 32 128
//
//     block group {
//         buffer weight_packed { w: u32[group / 4] }
//         buffer weight_scale  { s: bf16 }
//     }
//
//     code q = w { 8 @ 0 (group:8) }
//
//     value = (q - 128) * s
//
// Here group = 128.
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer Weight_packedBuffer { uint weight_packed[]; };
layout(binding = 1, std430) readonly buffer Weight_scaleBuffer { uint16_t weight_scale[]; };
layout(binding = 2, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 4 elements, to decode
};

// The bfloat16 in the low 16 bits.
float bf16_to_f32(uint bits) {
    return uintBitsToFloat(bits << 16);
}

// The 4 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[1]) {
    uint w = weight_packed[block * 32u + tile];
    uvec4 q = (uvec4(w) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    float s = bf16_to_f32(uint(weight_scale[block]));
    v[0] = vec4(ivec4(q) - 128) * s;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[1]) {
    const uint at = block * 32u + tile;
    dst[at] = v[0];
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) {
        vec4 v[1];
        decode(i / 32u, i % 32u, v);
        write_tile(i / 32u, i % 32u, v);
    }
}
