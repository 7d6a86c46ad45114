// affine_b3_g64_bf16_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format affine_b3_g64_bf16`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 28 bytes for 64 elements, 3.5 bits each.
// For each weight 0.438 bytes read and 4 written, 9.75 operations: 1 loads, 3.5 bits, 2.25 integer, 2 float, 1 conversions.
//     format affine_b{bits}_g{group}_{T} "affine codes in one bit stream, a scale and a bias for each group"
//     from "MLX, mlx.core.quantize with mode='affine'"
//     for bits in 2 3 4 5 6 8, group in 32 64 128, T in f16 bf16 f32
//     block group {
//         buffer weight { w: u32[group * bits / 32] }
//         buffer scales { s: T }
//         buffer biases { b: T }
//     }
//     code q = w { bits @ 0 (group:bits) }
//     value = q * s + b
//
// Here bits = 3, group = 64, T = bf16.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 2, std430) readonly buffer BiasesBuffer { uint16_t biases[]; };
layout(binding = 3, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 4 elements, to decode
};

float bf16_to_f32(uint bits) { return uintBitsToFloat(bits << 16); }  // of the low 16 bits

// The 4 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[1]) {
    uint w0 = weight[block * 6u + tile * 12u / 32u], w1 = weight[block * 6u + min(tile * 12u / 32u + 1u, 5u)];
    uint w_run = (w0 >> (tile * 12u % 32u)) | ((w1 << 1u) << (31u - tile * 12u % 32u));
    uvec4 q = (uvec4(w_run) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    float s = bf16_to_f32(uint(scales[block])), b = bf16_to_f32(uint(biases[block]));
    v[0] = vec4(q) * s + b;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[1]) {
    const uint at = block * 16u + tile;
    dst[at] = v[0];
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) {
        vec4 v[1];
        decode(i / 16u, i % 16u, v);
        write_tile(i / 16u, i % 16u, v);
    }
}
