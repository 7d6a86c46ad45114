// gptq_v1_b4_g128_act_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format gptq_v1_b4_g128_act`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 2640 bytes for 4096 elements, 4.156 bits each.
// For each weight 0.52 bytes read and 4 written, 26 operations: 3.25 loads, 5.25 bits, 14.5 integer, 1 float, 2 conversions.
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
layout(binding = 4, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 5, std430) writeonly buffer Dst { float dst[]; };
layout(binding = 5, std430) writeonly buffer DstWhole { vec4 dst_whole[]; };
layout(binding = 6, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 4 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

// Row, or band of rows, and tile of thread `i` where neighbours in memory belong to different rows: in strips of
// 256, cut into patches of 8 tiles, so that threads that run together read and write whole lines.
uvec2 row_and_tile(uint i, uint rows, uint row_tiles) {
    const uint tall = min(256u, rows), strip = i / (tall * row_tiles);
    uint rest = i - strip * (tall * row_tiles);
    const uint height = min(tall, rows - strip * tall);
    const uint patch_size = height * 8u;
    const uint patch_number = height == 256u ? rest / 2048u : rest / patch_size;
    rest -= patch_number * patch_size;
    const uint first = patch_number * 8u, width = min(8u, row_tiles - first);
    const uint down = width == 8u ? rest / 8u : rest / width;
    return uvec2(strip * tall + down, first + rest - down * width);
}

// The 4 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[1]) {
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 32u;
    const uint t = tile % 32u;
    uint w = qweight[min(block_col * 16u + t / 2u, (cols - 1u) / 8u) * rows + row];
    uvec4 q = (uvec4(w >> (t % 2u * 16u)) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint groups0 = g_idx[min(block_col * 128u + t * 4u, cols - 1u)], groups1 = g_idx[min(block_col * 128u + t * 4u + 1u, cols - 1u)];
    uint groups2 = g_idx[min(block_col * 128u + t * 4u + 2u, cols - 1u)], groups3 = g_idx[min(block_col * 128u + t * 4u + 3u, cols - 1u)];
    uvec4 g = uvec4(groups0, groups1, groups2, groups3);  // groups: 32 bits
    uint group0 = min(g.x, grid_cols - 1u), zs0 = qzeros[group0 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z0 = (zs0 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group1 = min(g.y, grid_cols - 1u), zs1 = qzeros[group1 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z1 = (zs1 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group2 = min(g.z, grid_cols - 1u), zs2 = qzeros[group2 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z2 = (zs2 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group3 = min(g.w, grid_cols - 1u), zs3 = qzeros[group3 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z3 = (zs3 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uvec4 z4 = uvec4(z0, z1, z2, z3);
    uint d0 = uint(scales[group0 * rows + row]);
    float s0 = unpackHalf2x16(d0).x;  // d: 16 bits
    uint d1 = uint(scales[group1 * rows + row]);
    float s1 = unpackHalf2x16(d1).x;  // d: 16 bits
    uint d2 = uint(scales[group2 * rows + row]);
    float s2 = unpackHalf2x16(d2).x;  // d: 16 bits
    uint d3 = uint(scales[group3 * rows + row]);
    float s3 = unpackHalf2x16(d3).x;  // d: 16 bits
    vec4 s4 = vec4(s0, s1, s2, s3);
    v[0] = vec4(ivec4(q) - ((ivec4(z4) + 1) & 15)) * s4;
}

// Stores elements [from, to) of a tile; its first belongs at `first`.
void write_tile(uint first, uint from, uint to, vec4 v[1]) {
    if (from == 0u && to == 4u && first % 4u == 0u) {
        const uint at = first / 4u;
        dst_whole[at] = v[0];
        return;
    }
    for (uint e = 0u; e < 4u; ++e) {
        if (e >= from && e < to) dst[first + e] = v[e / 4u][e % 4u];
    }
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tokens * row_tiles; i += threads) {
        const uvec2 at = row_and_tile(i, tokens, row_tiles);
        const uint token = at.x, j = at.y;
        uint index = indices[token];
        const bool found = index < table_rows;
        if (!found) {
            // No such row: zeros, and the token is counted once.
            if (j == 0u) atomicAdd(out_of_range, 1u);
            index = 0u;
        }
        const uint row = index, tile = j;
        vec4 v[1];
        if (found) {
            decode(row, tile, v);
        } else {
            for (uint r = 0u; r < 1u; ++r) v[r] = vec4(0.0);
        }
        write_tile(token * cols + tile * 4u, 0u, min(4u, cols - tile * 4u), v);
    }
}
