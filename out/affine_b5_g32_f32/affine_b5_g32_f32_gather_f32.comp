// affine_b5_g32_f32_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format affine_b5_g32_f32`; do not edit.
// 28 bytes for 32 elements, 7 bits each.
// For each weight 0.875 bytes read and 4 written, 5.75 operations: 0.219 loads, 2.38 bits, 0.156 integer, 2 float, 1 conversions.
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
// Here bits = 5, group = 32, T = f32.
#version 450

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint scales[]; };
layout(binding = 2, std430) readonly buffer BiasesBuffer { uint biases[]; };
layout(binding = 3, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 4, std430) writeonly buffer Dst { vec4 dst[]; };
layout(binding = 5, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 32 elements in a row
    uint tokens;
};

// The 32 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[8]) {
    // elements 0 to 3, counted from the tile's first
    uint w0 = weight[block * 5u];
    uvec4 q0 = (uvec4(w0) >> uvec4(0, 5, 10, 15)) & 31u;  // w: 5 bits
    float s = uintBitsToFloat(scales[block]);
    float b = uintBitsToFloat(biases[block]);
    v[0] = vec4(q0) * s + b;

    // elements 4 to 7, counted from the tile's first
    uint w1 = weight[block * 5u + 1u];
    uint w_run0 = (w0 >> 20u) | (w1 << 12u);
    uvec4 q1 = (uvec4(w_run0) >> uvec4(0, 5, 10, 15)) & 31u;  // w: 5 bits
    v[1] = vec4(q1) * s + b;

    // elements 8 to 11, counted from the tile's first
    uvec4 q2 = (uvec4(w1) >> uvec4(8, 13, 18, 23)) & 31u;  // w: 5 bits
    v[2] = vec4(q2) * s + b;

    // elements 12 to 15, counted from the tile's first
    uint w2 = weight[block * 5u + 2u];
    uint w_run1 = (w1 >> 28u) | (w2 << 4u);
    uvec4 q3 = (uvec4(w_run1) >> uvec4(0, 5, 10, 15)) & 31u;  // w: 5 bits
    v[3] = vec4(q3) * s + b;

    // elements 16 to 19, counted from the tile's first
    uint w3 = weight[block * 5u + 3u];
    uint w_run2 = (w2 >> 16u) | (w3 << 16u);
    uvec4 q4 = (uvec4(w_run2) >> uvec4(0, 5, 10, 15)) & 31u;  // w: 5 bits
    v[4] = vec4(q4) * s + b;

    // elements 20 to 23, counted from the tile's first
    uvec4 q5 = (uvec4(w3) >> uvec4(4, 9, 14, 19)) & 31u;  // w: 5 bits
    v[5] = vec4(q5) * s + b;

    // elements 24 to 27, counted from the tile's first
    uint w4 = weight[block * 5u + 4u];
    uint w_run3 = (w3 >> 24u) | (w4 << 8u);
    uvec4 q6 = (uvec4(w_run3) >> uvec4(0, 5, 10, 15)) & 31u;  // w: 5 bits
    v[6] = vec4(q6) * s + b;

    // elements 28 to 31, counted from the tile's first
    uvec4 q7 = (uvec4(w4) >> uvec4(12, 17, 22, 27)) & 31u;  // w: 5 bits
    v[7] = vec4(q7) * s + b;
}

// Stores a tile's runs where they belong in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[8]) {
    const uint at = block * 8u;
    dst[at] = v[0];
    dst[at + 1u] = v[1];
    dst[at + 2u] = v[2];
    dst[at + 3u] = v[3];
    dst[at + 4u] = v[4];
    dst[at + 5u] = v[5];
    dst[at + 6u] = v[6];
    dst[at + 7u] = v[7];
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tokens * row_tiles; i += threads) {
        const uint row = indices[i / row_tiles];
        vec4 v[8];
        if (row >= row_first && row < row_end) {
            const uint from = (row - row_first) * row_tiles + i % row_tiles;
            decode(from, 0u, v);
        } else if (row >= rows && row_first == 0u) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0u; r < 8u; ++r) v[r] = vec4(0.0);
            if (i % row_tiles == 0u) atomicAdd(out_of_range, 1u);
        } else {
            continue;  // a row of another launch
        }
        write_tile(i, 0u, v);
    }
}
