// affine_b2_g64_f16_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
// Generated from the specification below by `qkgen emit --format affine_b2_g64_f16`; do not edit.
// 20 bytes for 64 elements, 2.5 bits each.
// For each weight 0.312 bytes read and 2 written, 6.44 operations: 0.188 loads, 2 bits, 0.125 integer, 2 float, 2.12 conversions.
//
//     format affine_b{bits}_g{group}_{T} "affine codes in one bit stream, a scale and a bias for each group"
//     from "MLX, mlx.core.quantize with mode='affine'"
//     for bits in 2 3 4 5 6 8, group in 32 64 128, T in f16 bf16 f32
//
//     block group {
//         buffer weight { w: u32[group * bits / 32] }
//         buffer scales { s: T }
//         buffer biases { b: T }
//     }
//
//     code q = w { bits @ 0 (group:bits) }
//
//     value = q * s + b
//
// Here bits = 2, group = 64, T = f16.
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 2, std430) readonly buffer BiasesBuffer { uint16_t biases[]; };
layout(binding = 3, std430) writeonly buffer Dst { uvec2 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 16 elements, to decode
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

// The 16 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[4]) {
    // elements 0 to 3, counted from the tile's first
    uint w = weight[block * 4u + tile];
    uvec4 q0 = (uvec4(w) >> uvec4(0, 2, 4, 6)) & 3u;  // w: 2 bits
    float s = f16_to_f32(uint(scales[block]));
    float b = f16_to_f32(uint(biases[block]));
    v[0] = vec4(q0) * s + b;

    // elements 4 to 7, counted from the tile's first
    uvec4 q1 = (uvec4(w) >> uvec4(8, 10, 12, 14)) & 3u;  // w: 2 bits
    v[1] = vec4(q1) * s + b;

    // elements 8 to 11, counted from the tile's first
    uvec4 q2 = (uvec4(w) >> uvec4(16, 18, 20, 22)) & 3u;  // w: 2 bits
    v[2] = vec4(q2) * s + b;

    // elements 12 to 15, counted from the tile's first
    uvec4 q3 = (uvec4(w) >> uvec4(24, 26, 28, 30)) & 3u;  // w: 2 bits
    v[3] = vec4(q3) * s + b;
}

uvec2 pack(vec4 v) {
    return uvec2(f32_to_f16(v.x) | (f32_to_f16(v.y) << 16), f32_to_f16(v.z) | (f32_to_f16(v.w) << 16));
}

// Stores a tile's runs where they belong in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[4]) {
    const uint at = block * 16u + tile * 4u;
    dst[at] = pack(v[0]);
    dst[at + 1u] = pack(v[1]);
    dst[at + 2u] = pack(v[2]);
    dst[at + 3u] = pack(v[3]);
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) {
        vec4 v[4];
        decode(i / 4u, i % 4u, v);
        write_tile(i / 4u, i % 4u, v);
    }
}
