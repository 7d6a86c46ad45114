// hqq_b3_g64_dequant_halves: decodes a whole tensor: dst[i] = value(i), in f16 or bf16.
// Generated from the specification below by `qkgen emit --format hqq_b3_g64`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 296 bytes for 640 elements, 3.7 bits each.
// For each weight 0.463 bytes read and 2 written, 6.92 operations: 0.35 loads, 1.9 bits, 0.425 integer, 2 float, 2.25 conversions.
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
layout(binding = 3, std430) writeonly buffer Dst { uvec4 dst[]; };

layout(push_constant) uniform Push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

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

// The 80 values of a tile of 10 rows, in runs of 4 consecutive elements.
void decode(uint band, uint tile, out precise vec4 v[20]) {
    const uint block_row = band;
    const uint t = tile % 8u;
    // row 0, elements 0 to 3, counted from the tile's first
    uint w0 = W_q[block_row * 64u + t * 8u], w1 = W_q[block_row * 64u + (t * 8u + 1u)], w2 = W_q[block_row * 64u + (t * 8u + 2u)];
    uint w3 = W_q[block_row * 64u + (t * 8u + 3u)], m0 = uint(zero[block_row]);
    float z0 = unpackHalf2x16(m0).x;  // m: 16 bits
    uint d0 = uint(scale[block_row]);
    float s0 = unpackHalf2x16(d0).x;  // d: 16 bits
    v[0] = (vec4((w0 >> 27u) & 7u, (w1 >> 27u) & 7u, (w2 >> 27u) & 7u, (w3 >> 27u) & 7u) - z0) * s0;

    // row 0, elements 4 to 7, counted from the tile's first
    uint w4 = W_q[block_row * 64u + (t * 8u + 4u)], w5 = W_q[block_row * 64u + (t * 8u + 5u)], w6 = W_q[block_row * 64u + (t * 8u + 6u)];
    uint w7 = W_q[block_row * 64u + (t * 8u + 7u)];
    v[1] = (vec4((w4 >> 27u) & 7u, (w5 >> 27u) & 7u, (w6 >> 27u) & 7u, (w7 >> 27u) & 7u) - z0) * s0;

    // row 1, elements 0 to 3, counted from the tile's first
    uint m1 = uint(zero[grid_rows + block_row]);
    float z1 = unpackHalf2x16(m1).x;  // m: 16 bits
    uint d1 = uint(scale[grid_rows + block_row]);
    float s1 = unpackHalf2x16(d1).x;  // d: 16 bits
    v[2] = (vec4((w0 >> 24u) & 7u, (w1 >> 24u) & 7u, (w2 >> 24u) & 7u, (w3 >> 24u) & 7u) - z1) * s1;

    // row 1, elements 4 to 7, counted from the tile's first
    v[3] = (vec4((w4 >> 24u) & 7u, (w5 >> 24u) & 7u, (w6 >> 24u) & 7u, (w7 >> 24u) & 7u) - z1) * s1;

    // row 2, elements 0 to 3, counted from the tile's first
    uint m2 = uint(zero[2u * grid_rows + block_row]);
    float z2 = unpackHalf2x16(m2).x;  // m: 16 bits
    uint d2 = uint(scale[2u * grid_rows + block_row]);
    float s2 = unpackHalf2x16(d2).x;  // d: 16 bits
    v[4] = (vec4((w0 >> 21u) & 7u, (w1 >> 21u) & 7u, (w2 >> 21u) & 7u, (w3 >> 21u) & 7u) - z2) * s2;

    // row 2, elements 4 to 7, counted from the tile's first
    v[5] = (vec4((w4 >> 21u) & 7u, (w5 >> 21u) & 7u, (w6 >> 21u) & 7u, (w7 >> 21u) & 7u) - z2) * s2;

    // row 3, elements 0 to 3, counted from the tile's first
    uint m3 = uint(zero[3u * grid_rows + block_row]);
    float z3 = unpackHalf2x16(m3).x;  // m: 16 bits
    uint d3 = uint(scale[3u * grid_rows + block_row]);
    float s3 = unpackHalf2x16(d3).x;  // d: 16 bits
    v[6] = (vec4((w0 >> 18u) & 7u, (w1 >> 18u) & 7u, (w2 >> 18u) & 7u, (w3 >> 18u) & 7u) - z3) * s3;

    // row 3, elements 4 to 7, counted from the tile's first
    v[7] = (vec4((w4 >> 18u) & 7u, (w5 >> 18u) & 7u, (w6 >> 18u) & 7u, (w7 >> 18u) & 7u) - z3) * s3;

    // row 4, elements 0 to 3, counted from the tile's first
    uint m4 = uint(zero[4u * grid_rows + block_row]);
    float z4 = unpackHalf2x16(m4).x;  // m: 16 bits
    uint d4 = uint(scale[4u * grid_rows + block_row]);
    float s4 = unpackHalf2x16(d4).x;  // d: 16 bits
    v[8] = (vec4((w0 >> 15u) & 7u, (w1 >> 15u) & 7u, (w2 >> 15u) & 7u, (w3 >> 15u) & 7u) - z4) * s4;

    // row 4, elements 4 to 7, counted from the tile's first
    v[9] = (vec4((w4 >> 15u) & 7u, (w5 >> 15u) & 7u, (w6 >> 15u) & 7u, (w7 >> 15u) & 7u) - z4) * s4;

    // row 5, elements 0 to 3, counted from the tile's first
    uint m5 = uint(zero[5u * grid_rows + block_row]);
    float z5 = unpackHalf2x16(m5).x;  // m: 16 bits
    uint d5 = uint(scale[5u * grid_rows + block_row]);
    float s5 = unpackHalf2x16(d5).x;  // d: 16 bits
    v[10] = (vec4((w0 >> 12u) & 7u, (w1 >> 12u) & 7u, (w2 >> 12u) & 7u, (w3 >> 12u) & 7u) - z5) * s5;

    // row 5, elements 4 to 7, counted from the tile's first
    v[11] = (vec4((w4 >> 12u) & 7u, (w5 >> 12u) & 7u, (w6 >> 12u) & 7u, (w7 >> 12u) & 7u) - z5) * s5;

    // row 6, elements 0 to 3, counted from the tile's first
    uint m6 = uint(zero[6u * grid_rows + block_row]);
    float z6 = unpackHalf2x16(m6).x;  // m: 16 bits
    uint d6 = uint(scale[6u * grid_rows + block_row]);
    float s6 = unpackHalf2x16(d6).x;  // d: 16 bits
    v[12] = (vec4((w0 >> 9u) & 7u, (w1 >> 9u) & 7u, (w2 >> 9u) & 7u, (w3 >> 9u) & 7u) - z6) * s6;

    // row 6, elements 4 to 7, counted from the tile's first
    v[13] = (vec4((w4 >> 9u) & 7u, (w5 >> 9u) & 7u, (w6 >> 9u) & 7u, (w7 >> 9u) & 7u) - z6) * s6;

    // row 7, elements 0 to 3, counted from the tile's first
    uint m7 = uint(zero[7u * grid_rows + block_row]);
    float z7 = unpackHalf2x16(m7).x;  // m: 16 bits
    uint d7 = uint(scale[7u * grid_rows + block_row]);
    float s7 = unpackHalf2x16(d7).x;  // d: 16 bits
    v[14] = (vec4((w0 >> 6u) & 7u, (w1 >> 6u) & 7u, (w2 >> 6u) & 7u, (w3 >> 6u) & 7u) - z7) * s7;

    // row 7, elements 4 to 7, counted from the tile's first
    v[15] = (vec4((w4 >> 6u) & 7u, (w5 >> 6u) & 7u, (w6 >> 6u) & 7u, (w7 >> 6u) & 7u) - z7) * s7;

    // row 8, elements 0 to 3, counted from the tile's first
    uint m8 = uint(zero[8u * grid_rows + block_row]);
    float z8 = unpackHalf2x16(m8).x;  // m: 16 bits
    uint d8 = uint(scale[8u * grid_rows + block_row]);
    float s8 = unpackHalf2x16(d8).x;  // d: 16 bits
    v[16] = (vec4((w0 >> 3u) & 7u, (w1 >> 3u) & 7u, (w2 >> 3u) & 7u, (w3 >> 3u) & 7u) - z8) * s8;

    // row 8, elements 4 to 7, counted from the tile's first
    v[17] = (vec4((w4 >> 3u) & 7u, (w5 >> 3u) & 7u, (w6 >> 3u) & 7u, (w7 >> 3u) & 7u) - z8) * s8;

    // row 9, elements 0 to 3, counted from the tile's first
    uint m9 = uint(zero[9u * grid_rows + block_row]);
    float z9 = unpackHalf2x16(m9).x;  // m: 16 bits
    uint d9 = uint(scale[9u * grid_rows + block_row]);
    float s9 = unpackHalf2x16(d9).x;  // d: 16 bits
    v[18] = (vec4(w0 & 7u, w1 & 7u, w2 & 7u, w3 & 7u) - z9) * s9;

    // row 9, elements 4 to 7, counted from the tile's first
    v[19] = (vec4(w4 & 7u, w5 & 7u, w6 & 7u, w7 & 7u) - z9) * s9;
}

// Stores a tile from `at` on, counted in stores of 8 elements; from row to row there are `step`.
void write_tile(uint at, uint step, vec4 v[20]) {
    dst[at] = uvec4(pack_halves(v[0]), pack_halves(v[1]));
    at += step;
    dst[at] = uvec4(pack_halves(v[2]), pack_halves(v[3]));
    at += step;
    dst[at] = uvec4(pack_halves(v[4]), pack_halves(v[5]));
    at += step;
    dst[at] = uvec4(pack_halves(v[6]), pack_halves(v[7]));
    at += step;
    dst[at] = uvec4(pack_halves(v[8]), pack_halves(v[9]));
    at += step;
    dst[at] = uvec4(pack_halves(v[10]), pack_halves(v[11]));
    at += step;
    dst[at] = uvec4(pack_halves(v[12]), pack_halves(v[13]));
    at += step;
    dst[at] = uvec4(pack_halves(v[14]), pack_halves(v[15]));
    at += step;
    dst[at] = uvec4(pack_halves(v[16]), pack_halves(v[17]));
    at += step;
    dst[at] = uvec4(pack_halves(v[18]), pack_halves(v[19]));
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, bands = grid_rows;
    for (uint i = gl_GlobalInvocationID.x; i < bands * row_tiles; i += threads) {
        const uint band = i / row_tiles, tile = i % row_tiles;
        vec4 v[20];
        decode(band, tile, v);
        const uint step = cols / 8u;
        write_tile(band * step + tile * 1u, grid_rows * step, v);
    }
}
