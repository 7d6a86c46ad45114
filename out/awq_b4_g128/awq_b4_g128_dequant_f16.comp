// awq_b4_g128_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
// Generated from the specification below by `qkgen emit --format awq_b4_g128`; do not edit.
// 532 bytes for 1024 elements, 4.156 bits each.
// For each weight 0.52 bytes read and 2 written, 7.06 operations: 0.266 loads, 1.97 bits, 1.7 integer, 1 float, 2.12 conversions.
//
//     format awq_b4_g{group} "AWQ: codes and zeros of eight outputs in a word, out of order"
//     from "AutoAWQ: WQLinear_GEMM"
//     for group in 32 64 128
//
//     block 8 x group {
//         buffer qweight[cols][rows] { w: u32[1][group] }
//         buffer qzeros[cols][rows]  { zs: u32 }
//         buffer scales[cols][rows]  { d: f16[8][1] }
//     }
//
//     # Output r of eight is nibble (0, 4, 1, 5, 2, 6, 3, 7)[r].
//     code q                = w  { 4 @ 0 (group:32, 2:16, 4:4) }
//     code z per group      = zs { 4 @ 0 (2:16, 4:4) }
//     code s: f16 per group = d  { 16 @ 0 (8:16) }
//
//     value = (q - z) * s
//
// Here group = 128.
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer QweightBuffer { uint qweight[]; };
layout(binding = 1, std430) readonly buffer QzerosBuffer { uint qzeros[]; };
layout(binding = 2, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 3, std430) writeonly buffer Dst { uvec4 dst[]; };

layout(push_constant) uniform Push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
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

// Set where the host has given the module the execution modes RoundingModeRTE and DenormPreserve for 16 bits.
layout(constant_id = 8) const bool rounds_f16 = false;

// Elsewhere, what is added to a float and taken away again, 2^13 times the power of two below it, leaves 11 bits, rounded
// to nearest even: a half, that no conversion changes.
uvec2 pack_f16(vec4 v) {
    if (rounds_f16) return uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));
    const uvec4 bits = floatBitsToUint(v);
    const vec4 power = uintBitsToFloat(bits & 0x7F800000u);
    if (max(max(power.x, power.y), max(power.z, power.w)) >= 32768.0)
        return uvec2(f32_to_f16(v.x) | f32_to_f16(v.y) << 16, f32_to_f16(v.z) | f32_to_f16(v.w) << 16);
    precise vec4 lift = max(power, 6.103515625e-5) * 8192.0;  // a subnormal half has fewer bits
    precise vec4 sum = abs(v) + lift;
    precise vec4 half_values = sum - lift;
    half_values = uintBitsToFloat(floatBitsToUint(half_values) | (bits & 0x80000000u));
    return uvec2(packHalf2x16(half_values.xy), packHalf2x16(half_values.zw));
}

// Row, or band of rows, and tile of thread `i` where neighbours in memory belong to different rows: in strips of
// 32, cut into patches of 8 tiles, so that threads that run together read and write whole lines.
uvec2 row_and_tile(uint i, uint rows, uint row_tiles) {
    const uint tall = min(32u, rows), strip = i / (tall * row_tiles);
    uint rest = i - strip * (tall * row_tiles);
    const uint height = min(tall, rows - strip * tall);
    const uint patch_size = height * 8u;
    const uint patch_number = height == 32u ? rest / 256u : rest / patch_size;
    rest -= patch_number * patch_size;
    const uint first = patch_number * 8u, width = min(8u, row_tiles - first);
    const uint down = width == 8u ? rest / 8u : rest / width;
    return uvec2(strip * tall + down, first + rest - down * width);
}

// The 64 values of a tile of 8 rows, in runs of 4 consecutive elements.
void decode(uint band, uint tile, out precise vec4 v[16]) {
    const uint block_row = band / 1u;
    const uint block_col = tile / 16u;
    const uint t = tile % 16u;
    // row 0, elements 0 to 3, counted from the tile's first
    uint w0 = qweight[(block_col * 128u + t * 8u) * grid_rows + block_row];
    uint w1 = qweight[(block_col * 128u + t * 8u + 1u) * grid_rows + block_row];
    uint w2 = qweight[(block_col * 128u + t * 8u + 2u) * grid_rows + block_row];
    uint w3 = qweight[(block_col * 128u + t * 8u + 3u) * grid_rows + block_row];
    uvec4 q0 = uvec4(w0 & 15u, w1 & 15u, w2 & 15u, w3 & 15u);  // w: 4 bits
    uint zs = qzeros[block_col * grid_rows + block_row];
    uint z0 = zs & 15u;
    uint d0 = uint(scales[block_col * rows + block_row * 8u]);
    float s0 = f16_to_f32(d0);  // d: 16 bits
    v[0] = vec4(ivec4(q0) - int(z0)) * s0;

    // row 0, elements 4 to 7, counted from the tile's first
    uint w4 = qweight[(block_col * 128u + t * 8u + 4u) * grid_rows + block_row];
    uint w5 = qweight[(block_col * 128u + t * 8u + 5u) * grid_rows + block_row];
    uint w6 = qweight[(block_col * 128u + t * 8u + 6u) * grid_rows + block_row];
    uint w7 = qweight[(block_col * 128u + t * 8u + 7u) * grid_rows + block_row];
    uvec4 q1 = uvec4(w4 & 15u, w5 & 15u, w6 & 15u, w7 & 15u);  // w: 4 bits
    v[1] = vec4(ivec4(q1) - int(z0)) * s0;

    // row 1, elements 0 to 3, counted from the tile's first
    uvec4 q2 = uvec4((w0 >> 16u) & 15u, (w1 >> 16u) & 15u, (w2 >> 16u) & 15u, (w3 >> 16u) & 15u);  // w: 4 bits
    uint z1 = (zs >> 16u) & 15u;
    uint d1 = uint(scales[block_col * rows + (block_row * 8u + 1u)]);
    float s1 = f16_to_f32(d1);  // d: 16 bits
    v[2] = vec4(ivec4(q2) - int(z1)) * s1;

    // row 1, elements 4 to 7, counted from the tile's first
    uvec4 q3 = uvec4((w4 >> 16u) & 15u, (w5 >> 16u) & 15u, (w6 >> 16u) & 15u, (w7 >> 16u) & 15u);  // w: 4 bits
    v[3] = vec4(ivec4(q3) - int(z1)) * s1;

    // row 2, elements 0 to 3, counted from the tile's first
    uvec4 q4 = uvec4((w0 >> 4u) & 15u, (w1 >> 4u) & 15u, (w2 >> 4u) & 15u, (w3 >> 4u) & 15u);  // w: 4 bits
    uint z2 = (zs >> 4u) & 15u;
    uint d2 = uint(scales[block_col * rows + (block_row * 8u + 2u)]);
    float s2 = f16_to_f32(d2);  // d: 16 bits
    v[4] = vec4(ivec4(q4) - int(z2)) * s2;

    // row 2, elements 4 to 7, counted from the tile's first
    uvec4 q5 = uvec4((w4 >> 4u) & 15u, (w5 >> 4u) & 15u, (w6 >> 4u) & 15u, (w7 >> 4u) & 15u);  // w: 4 bits
    v[5] = vec4(ivec4(q5) - int(z2)) * s2;

    // row 3, elements 0 to 3, counted from the tile's first
    uvec4 q6 = uvec4((w0 >> 20u) & 15u, (w1 >> 20u) & 15u, (w2 >> 20u) & 15u, (w3 >> 20u) & 15u);  // w: 4 bits
    uint z3 = (zs >> 20u) & 15u;
    uint d3 = uint(scales[block_col * rows + (block_row * 8u + 3u)]);
    float s3 = f16_to_f32(d3);  // d: 16 bits
    v[6] = vec4(ivec4(q6) - int(z3)) * s3;

    // row 3, elements 4 to 7, counted from the tile's first
    uvec4 q7 = uvec4((w4 >> 20u) & 15u, (w5 >> 20u) & 15u, (w6 >> 20u) & 15u, (w7 >> 20u) & 15u);  // w: 4 bits
    v[7] = vec4(ivec4(q7) - int(z3)) * s3;

    // row 4, elements 0 to 3, counted from the tile's first
    uvec4 q8 = uvec4((w0 >> 8u) & 15u, (w1 >> 8u) & 15u, (w2 >> 8u) & 15u, (w3 >> 8u) & 15u);  // w: 4 bits
    uint z4 = (zs >> 8u) & 15u;
    uint d4 = uint(scales[block_col * rows + (block_row * 8u + 4u)]);
    float s4 = f16_to_f32(d4);  // d: 16 bits
    v[8] = vec4(ivec4(q8) - int(z4)) * s4;

    // row 4, elements 4 to 7, counted from the tile's first
    uvec4 q9 = uvec4((w4 >> 8u) & 15u, (w5 >> 8u) & 15u, (w6 >> 8u) & 15u, (w7 >> 8u) & 15u);  // w: 4 bits
    v[9] = vec4(ivec4(q9) - int(z4)) * s4;

    // row 5, elements 0 to 3, counted from the tile's first
    uvec4 q10 = uvec4((w0 >> 24u) & 15u, (w1 >> 24u) & 15u, (w2 >> 24u) & 15u, (w3 >> 24u) & 15u);  // w: 4 bits
    uint z5 = (zs >> 24u) & 15u;
    uint d5 = uint(scales[block_col * rows + (block_row * 8u + 5u)]);
    float s5 = f16_to_f32(d5);  // d: 16 bits
    v[10] = vec4(ivec4(q10) - int(z5)) * s5;

    // row 5, elements 4 to 7, counted from the tile's first
    uvec4 q11 = uvec4((w4 >> 24u) & 15u, (w5 >> 24u) & 15u, (w6 >> 24u) & 15u, (w7 >> 24u) & 15u);  // w: 4 bits
    v[11] = vec4(ivec4(q11) - int(z5)) * s5;

    // row 6, elements 0 to 3, counted from the tile's first
    uvec4 q12 = uvec4((w0 >> 12u) & 15u, (w1 >> 12u) & 15u, (w2 >> 12u) & 15u, (w3 >> 12u) & 15u);  // w: 4 bits
    uint z6 = (zs >> 12u) & 15u;
    uint d6 = uint(scales[block_col * rows + (block_row * 8u + 6u)]);
    float s6 = f16_to_f32(d6);  // d: 16 bits
    v[12] = vec4(ivec4(q12) - int(z6)) * s6;

    // row 6, elements 4 to 7, counted from the tile's first
    uvec4 q13 = uvec4((w4 >> 12u) & 15u, (w5 >> 12u) & 15u, (w6 >> 12u) & 15u, (w7 >> 12u) & 15u);  // w: 4 bits
    v[13] = vec4(ivec4(q13) - int(z6)) * s6;

    // row 7, elements 0 to 3, counted from the tile's first
    uvec4 q14 = uvec4(w0 >> 28u, w1 >> 28u, w2 >> 28u, w3 >> 28u);  // w: 4 bits
    uint z7 = zs >> 28u;
    uint d7 = uint(scales[block_col * rows + (block_row * 8u + 7u)]);
    float s7 = f16_to_f32(d7);  // d: 16 bits
    v[14] = vec4(ivec4(q14) - int(z7)) * s7;

    // row 7, elements 4 to 7, counted from the tile's first
    uvec4 q15 = uvec4(w4 >> 28u, w5 >> 28u, w6 >> 28u, w7 >> 28u);  // w: 4 bits
    v[15] = vec4(ivec4(q15) - int(z7)) * s7;
}

// Stores a tile from `at` on, counted in stores of 8 elements; from row to row there are `step`.
void write_tile(uint at, uint step, vec4 v[16]) {
    dst[at] = uvec4(pack_f16(v[0]), pack_f16(v[1]));
    at += step;
    dst[at] = uvec4(pack_f16(v[2]), pack_f16(v[3]));
    at += step;
    dst[at] = uvec4(pack_f16(v[4]), pack_f16(v[5]));
    at += step;
    dst[at] = uvec4(pack_f16(v[6]), pack_f16(v[7]));
    at += step;
    dst[at] = uvec4(pack_f16(v[8]), pack_f16(v[9]));
    at += step;
    dst[at] = uvec4(pack_f16(v[10]), pack_f16(v[11]));
    at += step;
    dst[at] = uvec4(pack_f16(v[12]), pack_f16(v[13]));
    at += step;
    dst[at] = uvec4(pack_f16(v[14]), pack_f16(v[15]));
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, bands = ((rows + 7u) / 8u);
    for (uint i = gl_GlobalInvocationID.x; i < bands * row_tiles; i += threads) {
        const uvec2 at = row_and_tile(i, bands, row_tiles);
        const uint band = at.x, tile = at.y;
        vec4 v[16];
        decode(band, tile, v);
        const uint step = cols / 8u;
        write_tile(band * 8u * step + tile * 1u, step, v);
    }
}
