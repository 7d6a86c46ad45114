// awq_b4_g128_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format awq_b4_g128`; do not edit.
// 532 bytes for 1024 elements, 4.156 bits each.
// For each weight 0.52 bytes read and 4 written, 6.88 operations: 0.406 loads, 2.19 bits, 2.03 integer, 1 float, 1.25 conversions.
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

// The 32 values of a tile of 8 rows, in runs of 4 consecutive elements.
void decode(uint band, uint tile, out precise vec4 v[8]) {
    const uint block_row = band / 1u;
    const uint block_col = tile / 32u;
    const uint t = tile % 32u;
    // row 0, elements 0 to 3, counted from the tile's first
    uint w0 = qweight[(block_col * 128u + t * 4u) * grid_rows + block_row];
    uint w1 = qweight[(block_col * 128u + t * 4u + 1u) * grid_rows + block_row];
    uint w2 = qweight[(block_col * 128u + t * 4u + 2u) * grid_rows + block_row];
    uint w3 = qweight[(block_col * 128u + t * 4u + 3u) * grid_rows + block_row];
    uvec4 q0 = uvec4(w0 & 15u, w1 & 15u, w2 & 15u, w3 & 15u);  // w: 4 bits
    uint zs = qzeros[block_col * grid_rows + block_row];
    uint z0 = zs & 15u;
    uint d0 = uint(scales[block_col * rows + block_row * 8u]);
    float s0 = f16_to_f32(d0);  // d: 16 bits
    v[0] = vec4(ivec4(q0) - int(z0)) * s0;

    // row 1, elements 0 to 3, counted from the tile's first
    uvec4 q1 = uvec4((w0 >> 16u) & 15u, (w1 >> 16u) & 15u, (w2 >> 16u) & 15u, (w3 >> 16u) & 15u);  // w: 4 bits
    uint z1 = (zs >> 16u) & 15u;
    uint d1 = uint(scales[block_col * rows + (block_row * 8u + 1u)]);
    float s1 = f16_to_f32(d1);  // d: 16 bits
    v[1] = vec4(ivec4(q1) - int(z1)) * s1;

    // row 2, elements 0 to 3, counted from the tile's first
    uvec4 q2 = uvec4((w0 >> 4u) & 15u, (w1 >> 4u) & 15u, (w2 >> 4u) & 15u, (w3 >> 4u) & 15u);  // w: 4 bits
    uint z2 = (zs >> 4u) & 15u;
    uint d2 = uint(scales[block_col * rows + (block_row * 8u + 2u)]);
    float s2 = f16_to_f32(d2);  // d: 16 bits
    v[2] = vec4(ivec4(q2) - int(z2)) * s2;

    // row 3, elements 0 to 3, counted from the tile's first
    uvec4 q3 = uvec4((w0 >> 20u) & 15u, (w1 >> 20u) & 15u, (w2 >> 20u) & 15u, (w3 >> 20u) & 15u);  // w: 4 bits
    uint z3 = (zs >> 20u) & 15u;
    uint d3 = uint(scales[block_col * rows + (block_row * 8u + 3u)]);
    float s3 = f16_to_f32(d3);  // d: 16 bits
    v[3] = vec4(ivec4(q3) - int(z3)) * s3;

    // row 4, elements 0 to 3, counted from the tile's first
    uvec4 q4 = uvec4((w0 >> 8u) & 15u, (w1 >> 8u) & 15u, (w2 >> 8u) & 15u, (w3 >> 8u) & 15u);  // w: 4 bits
    uint z4 = (zs >> 8u) & 15u;
    uint d4 = uint(scales[block_col * rows + (block_row * 8u + 4u)]);
    float s4 = f16_to_f32(d4);  // d: 16 bits
    v[4] = vec4(ivec4(q4) - int(z4)) * s4;

    // row 5, elements 0 to 3, counted from the tile's first
    uvec4 q5 = uvec4((w0 >> 24u) & 15u, (w1 >> 24u) & 15u, (w2 >> 24u) & 15u, (w3 >> 24u) & 15u);  // w: 4 bits
    uint z5 = (zs >> 24u) & 15u;
    uint d5 = uint(scales[block_col * rows + (block_row * 8u + 5u)]);
    float s5 = f16_to_f32(d5);  // d: 16 bits
    v[5] = vec4(ivec4(q5) - int(z5)) * s5;

    // row 6, elements 0 to 3, counted from the tile's first
    uvec4 q6 = uvec4((w0 >> 12u) & 15u, (w1 >> 12u) & 15u, (w2 >> 12u) & 15u, (w3 >> 12u) & 15u);  // w: 4 bits
    uint z6 = (zs >> 12u) & 15u;
    uint d6 = uint(scales[block_col * rows + (block_row * 8u + 6u)]);
    float s6 = f16_to_f32(d6);  // d: 16 bits
    v[6] = vec4(ivec4(q6) - int(z6)) * s6;

    // row 7, elements 0 to 3, counted from the tile's first
    uvec4 q7 = uvec4(w0 >> 28u, w1 >> 28u, w2 >> 28u, w3 >> 28u);  // w: 4 bits
    uint z7 = zs >> 28u;
    uint d7 = uint(scales[block_col * rows + (block_row * 8u + 7u)]);
    float s7 = f16_to_f32(d7);  // d: 16 bits
    v[7] = vec4(ivec4(q7) - int(z7)) * s7;
}

// Stores a tile from `at` on, counted in stores of 4 elements; from row to row there are `step`.
void write_tile(uint at, uint step, vec4 v[8]) {
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
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, bands = ((rows + 7u) / 8u);
    for (uint i = gl_GlobalInvocationID.x; i < bands * row_tiles; i += threads) {
        const uvec2 at = row_and_tile(i, bands, row_tiles);
        const uint band = at.x, tile = at.y;
        vec4 v[8];
        decode(band, tile, v);
        const uint step = cols / 4u;
        write_tile(band * 8u * step + tile * 1u, step, v);
    }
}
