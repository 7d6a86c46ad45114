// gptq_v1_b3_g32_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format gptq_v1_b3_g32`; do not edit.
// 460 bytes for 1024 elements, 3.594 bits each.
// For each weight 0.449 bytes read and 4 written, 19.2 operations: 1.19 loads, 4.31 bits, 11.5 integer, 1 float, 1.25 conversions.
//
//     format gptq_v1_b{bits}_g{group} "GPTQ: codes packed along the inputs, zeros less one along the outputs"
//     from "AutoGPTQ, GPTQModel: qlinear, checkpoints of version 1"
//     for bits in 2 3 4 8, group in 32 64 128
//
//     block 32 x group ragged {
//         buffer qweight[cols][rows] { w: u32[32][group * bits / 32] }
//         buffer qzeros[cols][rows]  { zs: u32[bits][1] }
//         buffer scales[cols][rows]  { d: f16[32][1] }
//     }
//
//     code q                = w  { bits @ 0 (32 * group:bits) }
//     code z per group      = zs { bits @ 0 (32:bits) }
//     code s: f16 per group = d  { 16 @ 0 (32:16) }
//
//     value = (q - (z + 1 & (1 << bits) - 1)) * s
//
// Here bits = 3, group = 32.
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer QweightBuffer { uint qweight[]; };
layout(binding = 1, std430) readonly buffer QzerosBuffer { uint qzeros[]; };
layout(binding = 2, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 3, std430) writeonly buffer Dst { float dst[]; };
layout(binding = 3, std430) writeonly buffer DstWhole { vec4 dst_whole[]; };

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
// 85, cut into patches of 8 tiles, so that threads that run together read and write whole lines.
uvec2 row_and_tile(uint i, uint rows, uint row_tiles) {
    const uint tall = min(85u, rows), strip = i / (tall * row_tiles);
    uint rest = i - strip * (tall * row_tiles);
    const uint height = min(tall, rows - strip * tall);
    const uint patch_size = height * 8u;
    const uint patch_number = height == 85u ? rest / 680u : rest / patch_size;
    rest -= patch_number * patch_size;
    const uint first = patch_number * 8u, width = min(8u, row_tiles - first);
    const uint down = width == 8u ? rest / 8u : rest / width;
    return uvec2(strip * tall + down, first + rest - down * width);
}

// The 16 values of a tile of 4 rows, in runs of 4 consecutive elements.
void decode(uint band, uint tile, out precise vec4 v[4]) {
    const uint block_row = band / 8u;
    const uint r = band % 8u;
    const uint block_col = tile / 8u;
    const uint t = tile % 8u;
    // row 0, elements 0 to 3, counted from the tile's first
    uint w0 = qweight[min(block_col * 3u + (r * 384u + t * 12u) / 32u % 3u, cols / 32u * 3u + (cols % 32u * 3u + 31u) / 32u - 1u) * rows + min(block_row * 32u + (r * 384u + t * 12u) / 32u / 3u, rows - 1u)];
    uint w1 = qweight[min(block_col * 3u + ((r * 384u + t * 12u) / 32u + 1u) % 3u, cols / 32u * 3u + (cols % 32u * 3u + 31u) / 32u - 1u) * rows + min(block_row * 32u + ((r * 384u + t * 12u) / 32u + 1u) / 3u, rows - 1u)];
    uint w_run0 = (w0 >> ((r * 384u + t * 12u) % 32u)) | ((w1 << 1u) << (31u - (r * 384u + t * 12u) % 32u));
    uvec4 q0 = (uvec4(w_run0) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    uint zs0 = qzeros[block_col * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 12u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint z0 = (zs0 >> (r * 12u % 32u)) & 7u;  // zs: 3 bits
    uint d0 = uint(scales[block_col * rows + min(block_row * 32u + r * 4u, rows - 1u)]);
    float s0 = f16_to_f32(d0);  // d: 16 bits
    v[0] = vec4(ivec4(q0) - ((int(z0) + 1) & 7)) * s0;

    // row 1, elements 0 to 3, counted from the tile's first
    uint w2 = qweight[min(block_col * 3u + (r * 384u + t * 12u + 96u) / 32u % 3u, cols / 32u * 3u + (cols % 32u * 3u + 31u) / 32u - 1u) * rows + min(block_row * 32u + (r * 384u + t * 12u + 96u) / 32u / 3u, rows - 1u)];
    uint w3 = qweight[min(block_col * 3u + ((r * 384u + t * 12u + 96u) / 32u + 1u) % 3u, cols / 32u * 3u + (cols % 32u * 3u + 31u) / 32u - 1u) * rows + min(block_row * 32u + ((r * 384u + t * 12u + 96u) / 32u + 1u) / 3u, rows - 1u)];
    uint w_run1 = (w2 >> ((r * 384u + t * 12u + 96u) % 32u)) | ((w3 << 1u) << (31u - (r * 384u + t * 12u + 96u) % 32u));
    uvec4 q1 = (uvec4(w_run1) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    uint zs1 = qzeros[block_col * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + (r * 12u + 3u) / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs2 = qzeros[block_col * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min((r * 12u + 3u) / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run0 = (zs1 >> ((r * 12u + 3u) % 32u)) | ((zs2 << 1u) << (31u - (r * 12u + 3u) % 32u));
    uint z1 = zs_run0 & 7u;  // zs: 3 bits
    uint d1 = uint(scales[block_col * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)]);
    float s1 = f16_to_f32(d1);  // d: 16 bits
    v[1] = vec4(ivec4(q1) - ((int(z1) + 1) & 7)) * s1;

    // row 2, elements 0 to 3, counted from the tile's first
    uint w4 = qweight[min(block_col * 3u + (r * 384u + t * 12u + 192u) / 32u % 3u, cols / 32u * 3u + (cols % 32u * 3u + 31u) / 32u - 1u) * rows + min(block_row * 32u + (r * 384u + t * 12u + 192u) / 32u / 3u, rows - 1u)];
    uint w5 = qweight[min(block_col * 3u + ((r * 384u + t * 12u + 192u) / 32u + 1u) % 3u, cols / 32u * 3u + (cols % 32u * 3u + 31u) / 32u - 1u) * rows + min(block_row * 32u + ((r * 384u + t * 12u + 192u) / 32u + 1u) / 3u, rows - 1u)];
    uint w_run2 = (w4 >> ((r * 384u + t * 12u + 192u) % 32u)) | ((w5 << 1u) << (31u - (r * 384u + t * 12u + 192u) % 32u));
    uvec4 q2 = (uvec4(w_run2) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    uint zs3 = qzeros[block_col * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + (r * 12u + 6u) / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs4 = qzeros[block_col * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min((r * 12u + 6u) / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run1 = (zs3 >> ((r * 12u + 6u) % 32u)) | ((zs4 << 1u) << (31u - (r * 12u + 6u) % 32u));
    uint z2 = zs_run1 & 7u;  // zs: 3 bits
    uint d2 = uint(scales[block_col * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)]);
    float s2 = f16_to_f32(d2);  // d: 16 bits
    v[2] = vec4(ivec4(q2) - ((int(z2) + 1) & 7)) * s2;

    // row 3, elements 0 to 3, counted from the tile's first
    uint w6 = qweight[min(block_col * 3u + (r * 384u + t * 12u + 288u) / 32u % 3u, cols / 32u * 3u + (cols % 32u * 3u + 31u) / 32u - 1u) * rows + min(block_row * 32u + (r * 384u + t * 12u + 288u) / 32u / 3u, rows - 1u)];
    uint w7 = qweight[min(block_col * 3u + min((r * 384u + t * 12u + 288u) / 32u + 1u, 95u) % 3u, cols / 32u * 3u + (cols % 32u * 3u + 31u) / 32u - 1u) * rows + min(block_row * 32u + min((r * 384u + t * 12u + 288u) / 32u + 1u, 95u) / 3u, rows - 1u)];
    uint w_run3 = (w6 >> ((r * 384u + t * 12u + 288u) % 32u)) | ((w7 << 1u) << (31u - (r * 384u + t * 12u + 288u) % 32u));
    uvec4 q3 = (uvec4(w_run3) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    uint zs5 = qzeros[block_col * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + (r * 12u + 9u) / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs6 = qzeros[block_col * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min((r * 12u + 9u) / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run2 = (zs5 >> ((r * 12u + 9u) % 32u)) | ((zs6 << 1u) << (31u - (r * 12u + 9u) % 32u));
    uint z3 = zs_run2 & 7u;  // zs: 3 bits
    uint d3 = uint(scales[block_col * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)]);
    float s3 = f16_to_f32(d3);  // d: 16 bits
    v[3] = vec4(ivec4(q3) - ((int(z3) + 1) & 7)) * s3;
}

// Stores elements [from, to) of a tile's row; its first belongs at `first`.
void write_row(uint first, uint from, uint to, vec4 v[1]) {
    if (from == 0u && to == 4u && first % 4u == 0u) {
        const uint at = first / 4u;
        dst_whole[at] = v[0];
        return;
    }
    for (uint e = 0u; e < 4u; ++e) {
        if (e >= from && e < to) dst[first + e] = v[e / 4u][e % 4u];
    }
}

// Stores the first `to` elements of `rows` rows of a tile.
void write_tile(uint first, uint rows, uint to, vec4 v[4]) {
    write_row(first, 0u, to, vec4[](v[0]));
    if (rows > 1u) write_row(first + 1u * cols, 0u, to, vec4[](v[1]));
    if (rows > 2u) write_row(first + 2u * cols, 0u, to, vec4[](v[2]));
    if (rows > 3u) write_row(first + 3u * cols, 0u, to, vec4[](v[3]));
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, bands = ((rows + 3u) / 4u);
    for (uint i = gl_GlobalInvocationID.x; i < bands * row_tiles; i += threads) {
        const uvec2 at = row_and_tile(i, bands, row_tiles);
        const uint band = at.x, tile = at.y;
        vec4 v[4];
        decode(band, tile, v);
        const uint row = band * 4u, column = tile * 4u;
        write_tile(row * cols + column, rows - row, min(4u, cols - column), v);
    }
}
