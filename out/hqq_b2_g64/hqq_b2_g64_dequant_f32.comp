// hqq_b2_g64_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format hqq_b2_g64`; do not edit.
// 80 bytes for 256 elements, 2.5 bits each.
// For each weight 0.312 bytes read and 4 written, 6.5 operations: 0.562 loads, 2 bits, 0.438 integer, 2 float, 1.5 conversions.
//
//     format hqq_b{bits}_g{group} "HQQ: the groups of the whole tensor in planes of equal size, a float zero"
//     from "HQQ: BitPack, axis 1"
//     for bits in 2 4 8, group in 64 128
//
//     block 8 / bits apart x group {
//         buffer W_q   { w: u8[1][group] }
//         buffer scale { d: f16[8 / bits][1] }
//         buffer zero  { m: f16[8 / bits][1] }
//     }
//
//     code q                = w { bits @ 8 - bits (group:8, 8 / bits:-bits) }
//     code s: f16 per group = d { 16 @ 0 (8 / bits:16) }
//     code z: f16 per group = m { 16 @ 0 (8 / bits:16) }
//
//     value = (q - z) * s
//
// Here bits = 2, group = 64.
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer W_qBuffer { uint W_q[]; };
layout(binding = 1, std430) readonly buffer ScaleBuffer { uint16_t scale[]; };
layout(binding = 2, std430) readonly buffer ZeroBuffer { uint16_t zero[]; };
layout(binding = 3, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 4 elements in a row
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// The 16 values of a tile of 4 rows, in runs of 4 consecutive elements.
void decode(uint band, uint tile, out precise vec4 v[4]) {
    const uint block_row = band / 1u;
    const uint t = tile % 16u;
    // row 0, elements 0 to 3, counted from the tile's first
    uint w = W_q[block_row * 16u + t];
    uvec4 q0 = (uvec4(w) >> uvec4(6, 14, 22, 30)) & 3u;  // w: 2 bits
    uint m0 = uint(zero[block_row]);
    float z0 = f16_to_f32(m0);  // m: 16 bits
    uint d0 = uint(scale[block_row]);
    float s0 = f16_to_f32(d0);  // d: 16 bits
    v[0] = (vec4(q0) - z0) * s0;

    // row 1, elements 0 to 3, counted from the tile's first
    uvec4 q1 = (uvec4(w) >> uvec4(4, 12, 20, 28)) & 3u;  // w: 2 bits
    uint m1 = uint(zero[grid_rows + block_row]);
    float z1 = f16_to_f32(m1);  // m: 16 bits
    uint d1 = uint(scale[grid_rows + block_row]);
    float s1 = f16_to_f32(d1);  // d: 16 bits
    v[1] = (vec4(q1) - z1) * s1;

    // row 2, elements 0 to 3, counted from the tile's first
    uvec4 q2 = (uvec4(w) >> uvec4(2, 10, 18, 26)) & 3u;  // w: 2 bits
    uint m2 = uint(zero[2u * grid_rows + block_row]);
    float z2 = f16_to_f32(m2);  // m: 16 bits
    uint d2 = uint(scale[2u * grid_rows + block_row]);
    float s2 = f16_to_f32(d2);  // d: 16 bits
    v[2] = (vec4(q2) - z2) * s2;

    // row 3, elements 0 to 3, counted from the tile's first
    uvec4 q3 = (uvec4(w) >> uvec4(0, 8, 16, 24)) & 3u;  // w: 2 bits
    uint m3 = uint(zero[3u * grid_rows + block_row]);
    float z3 = f16_to_f32(m3);  // m: 16 bits
    uint d3 = uint(scale[3u * grid_rows + block_row]);
    float s3 = f16_to_f32(d3);  // d: 16 bits
    v[3] = (vec4(q3) - z3) * s3;
}

// Stores a tile from `at` on, counted in stores of 4 elements; from row to row there are `step`.
void write_tile(uint at, uint step, vec4 v[4]) {
    dst[at] = v[0];
    at += step;
    dst[at] = v[1];
    at += step;
    dst[at] = v[2];
    at += step;
    dst[at] = v[3];
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, bands = grid_rows;
    for (uint i = gl_GlobalInvocationID.x; i < bands * row_tiles; i += threads) {
        const uint band = i / row_tiles, tile = i % row_tiles;
        vec4 v[4];
        decode(band, tile, v);
        const uint step = cols / 4u;
        write_tile(band * step + tile * 1u, grid_rows * step, v);
    }
}
