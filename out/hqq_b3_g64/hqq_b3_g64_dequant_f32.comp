// hqq_b3_g64_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format hqq_b3_g64`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 296 bytes for 640 elements, 3.7 bits each.
// For each weight 0.463 bytes read and 4 written, 6.65 operations: 0.6 loads, 1.9 bits, 0.65 integer, 2 float, 1.5 conversions.
//     format hqq_b3_g{group} "HQQ: the groups of the whole tensor in ten planes of 3 bits, a float zero"
//     from "HQQ: BitPack, axis 1"
//     for group in 64 128
//     block 10 apart x group {
//         buffer W_q   { w: u32[1][group] }
//         buffer scale { d: f16[10][1] }
//         buffer zero  { m: f16[10][1] }
//     }
//     code q                = w { 3 @ 27 (group:32, 10:-3) }
//     spare                   w { 2 @ 30 (group:32) }
//     code s: f16 per group = d { 16 @ 0 (10:16) }
//     code z: f16 per group = m { 16 @ 0 (10:16) }
//     value = (q - z) * s
//
// Here group = 64.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
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

// The 40 values of a tile of 10 rows, in runs of 4 consecutive elements.
void decode(uint band, uint tile, out precise vec4 v[10]) {
    const uint block_row = band;
    const uint t = tile % 16u;
    // row 0, elements 0 to 3, counted from the tile's first
    uint w0 = W_q[block_row * 64u + t * 4u], w1 = W_q[block_row * 64u + (t * 4u + 1u)], w2 = W_q[block_row * 64u + (t * 4u + 2u)];
    uint w3 = W_q[block_row * 64u + (t * 4u + 3u)], m0 = uint(zero[block_row]);
    float z0 = unpackHalf2x16(m0).x;  // m: 16 bits
    uint d0 = uint(scale[block_row]);
    float s0 = unpackHalf2x16(d0).x;  // d: 16 bits
    v[0] = (vec4((w0 >> 27u) & 7u, (w1 >> 27u) & 7u, (w2 >> 27u) & 7u, (w3 >> 27u) & 7u) - z0) * s0;

    // row 1, elements 0 to 3, counted from the tile's first
    uint m1 = uint(zero[grid_rows + block_row]);
    float z1 = unpackHalf2x16(m1).x;  // m: 16 bits
    uint d1 = uint(scale[grid_rows + block_row]);
    float s1 = unpackHalf2x16(d1).x;  // d: 16 bits
    v[1] = (vec4((w0 >> 24u) & 7u, (w1 >> 24u) & 7u, (w2 >> 24u) & 7u, (w3 >> 24u) & 7u) - z1) * s1;

    // row 2, elements 0 to 3, counted from the tile's first
    uint m2 = uint(zero[2u * grid_rows + block_row]);
    float z2 = unpackHalf2x16(m2).x;  // m: 16 bits
    uint d2 = uint(scale[2u * grid_rows + block_row]);
    float s2 = unpackHalf2x16(d2).x;  // d: 16 bits
    v[2] = (vec4((w0 >> 21u) & 7u, (w1 >> 21u) & 7u, (w2 >> 21u) & 7u, (w3 >> 21u) & 7u) - z2) * s2;

    // row 3, elements 0 to 3, counted from the tile's first
    uint m3 = uint(zero[3u * grid_rows + block_row]);
    float z3 = unpackHalf2x16(m3).x;  // m: 16 bits
    uint d3 = uint(scale[3u * grid_rows + block_row]);
    float s3 = unpackHalf2x16(d3).x;  // d: 16 bits
    v[3] = (vec4((w0 >> 18u) & 7u, (w1 >> 18u) & 7u, (w2 >> 18u) & 7u, (w3 >> 18u) & 7u) - z3) * s3;

    // row 4, elements 0 to 3, counted from the tile's first
    uint m4 = uint(zero[4u * grid_rows + block_row]);
    float z4 = unpackHalf2x16(m4).x;  // m: 16 bits
    uint d4 = uint(scale[4u * grid_rows + block_row]);
    float s4 = unpackHalf2x16(d4).x;  // d: 16 bits
    v[4] = (vec4((w0 >> 15u) & 7u, (w1 >> 15u) & 7u, (w2 >> 15u) & 7u, (w3 >> 15u) & 7u) - z4) * s4;

    // row 5, elements 0 to 3, counted from the tile's first
    uint m5 = uint(zero[5u * grid_rows + block_row]);
    float z5 = unpackHalf2x16(m5).x;  // m: 16 bits
    uint d5 = uint(scale[5u * grid_rows + block_row]);
    float s5 = unpackHalf2x16(d5).x;  // d: 16 bits
    v[5] = (vec4((w0 >> 12u) & 7u, (w1 >> 12u) & 7u, (w2 >> 12u) & 7u, (w3 >> 12u) & 7u) - z5) * s5;

    // row 6, elements 0 to 3, counted from the tile's first
    uint m6 = uint(zero[6u * grid_rows + block_row]);
    float z6 = unpackHalf2x16(m6).x;  // m: 16 bits
    uint d6 = uint(scale[6u * grid_rows + block_row]);
    float s6 = unpackHalf2x16(d6).x;  // d: 16 bits
    v[6] = (vec4((w0 >> 9u) & 7u, (w1 >> 9u) & 7u, (w2 >> 9u) & 7u, (w3 >> 9u) & 7u) - z6) * s6;

    // row 7, elements 0 to 3, counted from the tile's first
    uint m7 = uint(zero[7u * grid_rows + block_row]);
    float z7 = unpackHalf2x16(m7).x;  // m: 16 bits
    uint d7 = uint(scale[7u * grid_rows + block_row]);
    float s7 = unpackHalf2x16(d7).x;  // d: 16 bits
    v[7] = (vec4((w0 >> 6u) & 7u, (w1 >> 6u) & 7u, (w2 >> 6u) & 7u, (w3 >> 6u) & 7u) - z7) * s7;

    // row 8, elements 0 to 3, counted from the tile's first
    uint m8 = uint(zero[8u * grid_rows + block_row]);
    float z8 = unpackHalf2x16(m8).x;  // m: 16 bits
    uint d8 = uint(scale[8u * grid_rows + block_row]);
    float s8 = unpackHalf2x16(d8).x;  // d: 16 bits
    v[8] = (vec4((w0 >> 3u) & 7u, (w1 >> 3u) & 7u, (w2 >> 3u) & 7u, (w3 >> 3u) & 7u) - z8) * s8;

    // row 9, elements 0 to 3, counted from the tile's first
    uint m9 = uint(zero[9u * grid_rows + block_row]);
    float z9 = unpackHalf2x16(m9).x;  // m: 16 bits
    uint d9 = uint(scale[9u * grid_rows + block_row]);
    float s9 = unpackHalf2x16(d9).x;  // d: 16 bits
    v[9] = (vec4(w0 & 7u, w1 & 7u, w2 & 7u, w3 & 7u) - z9) * s9;
}

// Stores a tile from `at` on, counted in stores of 4 elements; from row to row there are `step`.
void write_tile(uint at, uint step, vec4 v[10]) {
    dst[at] = v[0];
    at += step;
    dst[at] = v[1];
    at += step;
    dst[at] = v[2];
    at += step;
    dst[at] = v[3];
    at += step;
    dst[at] = v[4];
    at += step;
    dst[at] = v[5];
    at += step;
    dst[at] = v[6];
    at += step;
    dst[at] = v[7];
    at += step;
    dst[at] = v[8];
    at += step;
    dst[at] = v[9];
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, bands = grid_rows;
    for (uint i = gl_GlobalInvocationID.x; i < bands * row_tiles; i += threads) {
        const uint band = i / row_tiles, tile = i % row_tiles;
        vec4 v[10];
        decode(band, tile, v);
        const uint step = cols / 4u;
        write_tile(band * step + tile * 1u, grid_rows * step, v);
    }
}
