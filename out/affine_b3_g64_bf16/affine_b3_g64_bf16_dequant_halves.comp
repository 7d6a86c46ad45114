// affine_b3_g64_bf16_dequant_halves: decodes a whole tensor: dst[i] = value(i), in f16 or bf16.
// Generated from the specification below by `qkgen emit --format affine_b3_g64_bf16`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 28 bytes for 64 elements, 3.5 bits each.
// For each weight 0.438 bytes read and 2 written, 10.1 operations: 0.75 loads, 3.25 bits, 2.12 integer, 2 float, 2 conversions.
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
layout(binding = 3, std430) writeonly buffer Dst { uvec4 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 8 elements, to decode
};

float bf16_to_f32(uint bits) { return uintBitsToFloat(bits << 16); }  // of the low 16 bits

layout(constant_id = 31) const uint Y_TYPE = 1;  // how results are stored: 1 as f16, 2 as bf16

// Set where the module has the execution modes RoundingModeRTE and DenormPreserve for 16 bits.
layout(constant_id = 8) const bool rounds_f16 = false;

// Elsewhere in integers, for Vulkan leaves its rounding open. The neighbour of the largest half rounds to infinity, whatever is beyond it.
uvec2 pack_f16(vec4 v) {
    if (rounds_f16) return uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));
    const uvec4 bits = floatBitsToUint(v), magnitude = bits & 0x7FFFFFFFu, most = min(magnitude, uvec4(0x477FF000u));
    precise vec4 lifted = uintBitsToFloat(most) + 0.5;
    const uvec4 normal = most - 0x37FFF001u + ((most >> 13) & 1u) >> 13, subnormal = floatBitsToUint(lifted) - 0x3F000000u;
    uvec4 halves = mix(normal, subnormal, lessThan(most, uvec4(0x38800000u)));
    halves = mix(halves, uvec4(0x7E00u), greaterThan(magnitude, uvec4(0x7F800000u)));  // NaN
    halves |= bits >> 16 & 0x8000u;
    return halves.xz | halves.yw << 16;
}

uvec2 pack_bf16(vec4 v) {
    const uvec4 bits = floatBitsToUint(v);
    const bvec4 nan = greaterThan(bits & 0x7FFFFFFFu, uvec4(0x7F800000u));
    const uvec4 rounded = mix(bits + 0x7FFFu + ((bits >> 16) & 1u), (bits & 0x80000000u) | 0x7FC00000u, nan);
    return rounded.xz >> 16 | (rounded.yw & 0xFFFF0000u);
}

uvec2 pack_halves(vec4 v) { return Y_TYPE == 1u ? pack_f16(v) : pack_bf16(v); }

// The 8 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[2]) {
    // elements 0 to 3, counted from the tile's first
    uint w0 = weight[block * 6u + tile * 24u / 32u], w1 = weight[block * 6u + min(tile * 24u / 32u + 1u, 5u)];
    uint w_run0 = (w0 >> (tile * 24u % 32u)) | ((w1 << 1u) << (31u - tile * 24u % 32u));
    uvec4 q0 = (uvec4(w_run0) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    float s = bf16_to_f32(uint(scales[block])), b = bf16_to_f32(uint(biases[block]));
    v[0] = vec4(q0) * s + b;

    // elements 4 to 7, counted from the tile's first
    uint w2 = weight[block * 6u + (tile * 24u + 12u) / 32u], w3 = weight[block * 6u + min((tile * 24u + 12u) / 32u + 1u, 5u)];
    uint w_run1 = (w2 >> ((tile * 24u + 12u) % 32u)) | ((w3 << 1u) << (31u - (tile * 24u + 12u) % 32u));
    uvec4 q1 = (uvec4(w_run1) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    v[1] = vec4(q1) * s + b;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[2]) {
    const uint at = block * 8u + tile;
    dst[at] = uvec4(pack_halves(v[0]), pack_halves(v[1]));
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) {
        vec4 v[2];
        decode(i / 8u, i % 8u, v);
        write_tile(i / 8u, i % 8u, v);
    }
}
