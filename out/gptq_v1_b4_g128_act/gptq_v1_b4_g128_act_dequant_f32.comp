// gptq_v1_b4_g128_act_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format gptq_v1_b4_g128_act`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 2640 bytes for 4096 elements, 4.156 bits each.
// For each weight 0.52 bytes read and 4 written, 16.9 operations: 1.75 loads, 5.25 bits, 6.88 integer, 1 float, 2 conversions.
//     format gptq_v1_b{bits}_g{group}_act "GPTQ with reordered groups: an index says the group of each input"
//     from "AutoGPTQ, GPTQModel: qlinear with desc_act, checkpoints of version 1"
//     for bits in 2 3 4 8, group in 32 64 128
//     block 32 x group ragged {
//         buffer qweight[cols][rows] { w: u32[32][group * bits / 32] }
//         buffer qzeros[g][rows]     { zs: u32[bits][1] }
//         buffer scales[g][rows]     { d: f16[32][1] }
//         buffer g_idx[cols]         { groups: u32[group] }
//     }
//     code q                = w      { bits @ 0 (32 * group:bits) }
//     code z per group      = zs     { bits @ 0 (32:bits) }
//     code s: f16 per group = d      { 16 @ 0 (32:16) }
//     code g                = groups { 32 @ 0 (group:32) }
//     value = (q - (z + 1 & (1 << bits) - 1)) * s
//
// Here bits = 4, group = 128.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer QweightBuffer { uint qweight[]; };
layout(binding = 1, std430) readonly buffer QzerosBuffer { uint qzeros[]; };
layout(binding = 2, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 3, std430) readonly buffer G_idxBuffer { uint g_idx[]; };
layout(binding = 4, std430) writeonly buffer Dst { float dst[]; };
layout(binding = 4, std430) writeonly buffer DstWhole { vec4 dst_whole[]; };

layout(push_constant) uniform Push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 4 elements in a row
};

// Row, or band of rows, and tile of thread `i` where neighbours in memory belong to different rows: in strips of
// 64, cut into patches of 8 tiles, so that threads that run together read and write whole lines.
uvec2 row_and_tile(uint i, uint rows, uint row_tiles) {
    const uint tall = min(64u, rows), strip = i / (tall * row_tiles);
    uint rest = i - strip * (tall * row_tiles);
    const uint height = min(tall, rows - strip * tall);
    const uint patch_size = height * 8u;
    const uint patch_number = height == 64u ? rest / 512u : rest / patch_size;
    rest -= patch_number * patch_size;
    const uint first = patch_number * 8u, width = min(8u, row_tiles - first);
    const uint down = width == 8u ? rest / 8u : rest / width;
    return uvec2(strip * tall + down, first + rest - down * width);
}

// The 16 values of a tile of 4 rows, in runs of 4 consecutive elements.
void decode(uint band, uint tile, out precise vec4 v[4]) {
    const uint block_row = band / 8u;
    const uint r = band % 8u;
    const uint block_col = tile / 32u;
    const uint t = tile % 32u;
    // row 0, elements 0 to 3, counted from the tile's first
    uint w0 = qweight[min(block_col * 16u + t / 2u, (cols - 1u) / 8u) * rows + min(block_row * 32u + r * 4u, rows - 1u)];
    uvec4 q0 = (uvec4(w0 >> (t % 2u * 16u)) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint groups0 = g_idx[min(block_col * 128u + t * 4u, cols - 1u)], groups1 = g_idx[min(block_col * 128u + t * 4u + 1u, cols - 1u)];
    uint groups2 = g_idx[min(block_col * 128u + t * 4u + 2u, cols - 1u)], groups3 = g_idx[min(block_col * 128u + t * 4u + 3u, cols - 1u)];
    uvec4 g = uvec4(groups0, groups1, groups2, groups3);  // groups: 32 bits
    uint group0 = min(g.x, grid_cols - 1u), zs0 = qzeros[group0 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 2u, (rows - 1u) / 8u)];
    uint z0 = (zs0 >> (r % 2u * 16u)) & 15u;  // zs: 4 bits
    uint group1 = min(g.y, grid_cols - 1u), zs1 = qzeros[group1 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 2u, (rows - 1u) / 8u)];
    uint z1 = (zs1 >> (r % 2u * 16u)) & 15u;  // zs: 4 bits
    uint group2 = min(g.z, grid_cols - 1u), zs2 = qzeros[group2 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 2u, (rows - 1u) / 8u)];
    uint z2 = (zs2 >> (r % 2u * 16u)) & 15u;  // zs: 4 bits
    uint group3 = min(g.w, grid_cols - 1u), zs3 = qzeros[group3 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 2u, (rows - 1u) / 8u)];
    uint z3 = (zs3 >> (r % 2u * 16u)) & 15u;  // zs: 4 bits
    uvec4 z4 = uvec4(z0, z1, z2, z3);
    uint d0 = uint(scales[group0 * rows + min(block_row * 32u + r * 4u, rows - 1u)]);
    float s0 = unpackHalf2x16(d0).x;  // d: 16 bits
    uint d1 = uint(scales[group1 * rows + min(block_row * 32u + r * 4u, rows - 1u)]);
    float s1 = unpackHalf2x16(d1).x;  // d: 16 bits
    uint d2 = uint(scales[group2 * rows + min(block_row * 32u + r * 4u, rows - 1u)]);
    float s2 = unpackHalf2x16(d2).x;  // d: 16 bits
    uint d3 = uint(scales[group3 * rows + min(block_row * 32u + r * 4u, rows - 1u)]);
    float s3 = unpackHalf2x16(d3).x;  // d: 16 bits
    vec4 s4 = vec4(s0, s1, s2, s3);
    v[0] = vec4(ivec4(q0) - ((ivec4(z4) + 1) & 15)) * s4;

    // row 1, elements 0 to 3, counted from the tile's first
    uint w1 = qweight[min(block_col * 16u + t / 2u, (cols - 1u) / 8u) * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)];
    uvec4 q1 = (uvec4(w1 >> (t % 2u * 16u)) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint z5 = (zs0 >> (r % 2u * 16u + 4u)) & 15u, z6 = (zs1 >> (r % 2u * 16u + 4u)) & 15u;  // zs: 4 bits
    uint z7 = (zs2 >> (r % 2u * 16u + 4u)) & 15u, z8 = (zs3 >> (r % 2u * 16u + 4u)) & 15u;  // zs: 4 bits
    uvec4 z9 = uvec4(z5, z6, z7, z8);
    uint d4 = uint(scales[group0 * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)]);
    float s5 = unpackHalf2x16(d4).x;  // d: 16 bits
    uint d5 = uint(scales[group1 * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)]);
    float s6 = unpackHalf2x16(d5).x;  // d: 16 bits
    uint d6 = uint(scales[group2 * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)]);
    float s7 = unpackHalf2x16(d6).x;  // d: 16 bits
    uint d7 = uint(scales[group3 * rows + min(block_row * 32u + r * 4u + 1u, rows - 1u)]);
    float s8 = unpackHalf2x16(d7).x;  // d: 16 bits
    vec4 s9 = vec4(s5, s6, s7, s8);
    v[1] = vec4(ivec4(q1) - ((ivec4(z9) + 1) & 15)) * s9;

    // row 2, elements 0 to 3, counted from the tile's first
    uint w2 = qweight[min(block_col * 16u + t / 2u, (cols - 1u) / 8u) * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)];
    uvec4 q2 = (uvec4(w2 >> (t % 2u * 16u)) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint z10 = (zs0 >> (r % 2u * 16u + 8u)) & 15u, z11 = (zs1 >> (r % 2u * 16u + 8u)) & 15u;  // zs: 4 bits
    uint z12 = (zs2 >> (r % 2u * 16u + 8u)) & 15u, z13 = (zs3 >> (r % 2u * 16u + 8u)) & 15u;  // zs: 4 bits
    uvec4 z14 = uvec4(z10, z11, z12, z13);
    uint d8 = uint(scales[group0 * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)]);
    float s10 = unpackHalf2x16(d8).x;  // d: 16 bits
    uint d9 = uint(scales[group1 * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)]);
    float s11 = unpackHalf2x16(d9).x;  // d: 16 bits
    uint d10 = uint(scales[group2 * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)]);
    float s12 = unpackHalf2x16(d10).x;  // d: 16 bits
    uint d11 = uint(scales[group3 * rows + min(block_row * 32u + r * 4u + 2u, rows - 1u)]);
    float s13 = unpackHalf2x16(d11).x;  // d: 16 bits
    vec4 s14 = vec4(s10, s11, s12, s13);
    v[2] = vec4(ivec4(q2) - ((ivec4(z14) + 1) & 15)) * s14;

    // row 3, elements 0 to 3, counted from the tile's first
    uint w3 = qweight[min(block_col * 16u + t / 2u, (cols - 1u) / 8u) * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)];
    uvec4 q3 = (uvec4(w3 >> (t % 2u * 16u)) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint z15 = (zs0 >> (r % 2u * 16u + 12u)) & 15u, z16 = (zs1 >> (r % 2u * 16u + 12u)) & 15u;  // zs: 4 bits
    uint z17 = (zs2 >> (r % 2u * 16u + 12u)) & 15u, z18 = (zs3 >> (r % 2u * 16u + 12u)) & 15u;  // zs: 4 bits
    uvec4 z19 = uvec4(z15, z16, z17, z18);
    uint d12 = uint(scales[group0 * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)]);
    float s15 = unpackHalf2x16(d12).x;  // d: 16 bits
    uint d13 = uint(scales[group1 * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)]);
    float s16 = unpackHalf2x16(d13).x;  // d: 16 bits
    uint d14 = uint(scales[group2 * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)]);
    float s17 = unpackHalf2x16(d14).x;  // d: 16 bits
    uint d15 = uint(scales[group3 * rows + min(block_row * 32u + r * 4u + 3u, rows - 1u)]);
    float s18 = unpackHalf2x16(d15).x;  // d: 16 bits
    vec4 s19 = vec4(s15, s16, s17, s18);
    v[3] = vec4(ivec4(q3) - ((ivec4(z19) + 1) & 15)) * s19;
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
