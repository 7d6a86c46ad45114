// affine_b3_g64_f16_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
// Generated from the specification below by `qkgen emit --format affine_b3_g64_f16`; do not edit.
// 28 bytes for 64 elements, 3.5 bits each.
// For each weight 0.438 bytes read and 2 written, 6.56 operations: 0.156 loads, 2.19 bits, 0.156 integer, 2 float, 2.06 conversions.
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
// Here bits = 3, group = 64, T = f16.
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 2, std430) readonly buffer BiasesBuffer { uint16_t biases[]; };
layout(binding = 3, std430) writeonly buffer Dst { uvec2 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 32 elements, to decode
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// Rounds to the nearest bfloat16, ties to even.
uint f32_to_bf16(float x) {
    const uint bits = floatBitsToUint(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return ((bits >> 16) & 0x8000u) | 0x7FC0u;  // NaN
    return (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
}

// The 32 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[8]) {
    // elements 0 to 3, counted from the tile's first
    uint w0 = weight[block * 6u + tile * 3u];
    uvec4 q0 = (uvec4(w0) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    float s = f16_to_f32(uint(scales[block]));
    float b = f16_to_f32(uint(biases[block]));
    v[0] = vec4(q0) * s + b;

    // elements 4 to 7, counted from the tile's first
    uvec4 q1 = (uvec4(w0) >> uvec4(12, 15, 18, 21)) & 7u;  // w: 3 bits
    v[1] = vec4(q1) * s + b;

    // elements 8 to 11, counted from the tile's first
    uint w1 = weight[block * 6u + tile * 3u + 1u];
    uint w_run0 = (w0 >> 24u) | (w1 << 8u);
    uvec4 q2 = (uvec4(w_run0) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    v[2] = vec4(q2) * s + b;

    // elements 12 to 15, counted from the tile's first
    uvec4 q3 = (uvec4(w1) >> uvec4(4, 7, 10, 13)) & 7u;  // w: 3 bits
    v[3] = vec4(q3) * s + b;

    // elements 16 to 19, counted from the tile's first
    uvec4 q4 = (uvec4(w1) >> uvec4(16, 19, 22, 25)) & 7u;  // w: 3 bits
    v[4] = vec4(q4) * s + b;

    // elements 20 to 23, counted from the tile's first
    uint w2 = weight[block * 6u + tile * 3u + 2u];
    uint w_run1 = (w1 >> 28u) | (w2 << 4u);
    uvec4 q5 = (uvec4(w_run1) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    v[5] = vec4(q5) * s + b;

    // elements 24 to 27, counted from the tile's first
    uvec4 q6 = (uvec4(w2) >> uvec4(8, 11, 14, 17)) & 7u;  // w: 3 bits
    v[6] = vec4(q6) * s + b;

    // elements 28 to 31, counted from the tile's first
    uvec4 q7 = (uvec4(w2) >> uvec4(20, 23, 26, 29)) & 7u;  // w: 3 bits
    v[7] = vec4(q7) * s + b;
}

uvec2 pack(vec4 v) {
    return uvec2(f32_to_bf16(v.x) | (f32_to_bf16(v.y) << 16), f32_to_bf16(v.z) | (f32_to_bf16(v.w) << 16));
}

// Stores a tile's runs where they belong in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[8]) {
    const uint at = block * 16u + tile * 8u;
    dst[at] = pack(v[0]);
    dst[at + 1u] = pack(v[1]);
    dst[at + 2u] = pack(v[2]);
    dst[at + 3u] = pack(v[3]);
    dst[at + 4u] = pack(v[4]);
    dst[at + 5u] = pack(v[5]);
    dst[at + 6u] = pack(v[6]);
    dst[at + 7u] = pack(v[7]);
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) {
        vec4 v[8];
        decode(i / 2u, i % 2u, v);
        write_tile(i / 2u, i % 2u, v);
    }
}
