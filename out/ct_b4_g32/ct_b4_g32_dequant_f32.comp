// ct_b4_g32_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format ct_b4_g32`; do not edit.
// 18 bytes for 32 elements, 4.5 bits each.
// For each weight 0.562 bytes read and 4 written, 7.25 operations: 0.5 loads, 2.5 bits, 2.25 integer, 1 float, 1 conversions.
//
//     format ct_b4_g{group} "compressed-tensors: 4-bit codes around 8, a scale for each group"
//     from "compressed-tensors: pack-quantized, symmetric"
//     for group in 32 128
//
//     block group {
//         buffer weight_packed { w: u32[group / 8] }
//         buffer weight_scale  { s: bf16 }
//     }
//
//     code q = w { 4 @ 0 (group:4) }
//
//     value = (q - 8) * s
//
// Here group = 32.
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
    uint w = weight_packed[block * 4u + tile / 2u];
    uvec4 q = (uvec4(w >> (tile % 2u * 16u)) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    float s = bf16_to_f32(uint(weight_scale[block]));
    v[0] = vec4(ivec4(q) - 8) * s;
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
