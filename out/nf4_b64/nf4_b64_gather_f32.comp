// nf4_b64_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format nf4_b64`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 36 bytes for 64 elements, 4.5 bits each.
// For each weight 0.562 bytes read and 4 written, 7.25 operations: 0.75 loads, 2.5 bits, 2 integer, 1 float, 1 lookups.
//     format nf4_b{group} "bitsandbytes NF4: the even element in the high nibble, a scale for each block of the flat tensor"
//     from "bitsandbytes: Linear4bit with quant_type nf4"
//     for group in 64 128
//     block group ragged {
//         buffer weight { w: u8[group / 2] }
//         buffer absmax { s: f32 }
//     }
//     table N: f32[16] = {
//         -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
//         -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
//         0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
//         0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
//     }
//     code q = w { 4 @ 4 (2:-4, group / 2:8) }
//     value = N[q] * s
//
// Here group = 64.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer WeightBuffer { uint8_t weight[]; };
layout(binding = 1, std430) readonly buffer AbsmaxBuffer { uint absmax[]; };
layout(binding = 5, std430) readonly buffer NTable { float N[]; };
layout(binding = 2, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 3, std430) writeonly buffer Dst { float dst[]; };
layout(binding = 3, std430) writeonly buffer DstWhole { vec4 dst_whole[]; };
layout(binding = 4, std430) buffer Status { uint out_of_range; };

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

// The 4 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[1]) {
    const uint block_col = tile / 16u;
    const uint t = tile % 16u;
    uint w = uint(weight[min(block_col * 32u + t * 2u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 2u + 1u, (cols - 1u) / 2u)]) << 8u);
    uvec4 q = (uvec4(w) >> uvec4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    float s = uintBitsToFloat(absmax[block_col]);
    v[0] = vec4(N[q.x], N[q.y], N[q.z], N[q.w]) * s;
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
        const uint token = i / row_tiles, j = i % row_tiles;
        uint index = indices[token];
        const bool found = index < table_rows;
        if (!found) {
            // No such row: zeros, and the token is counted once.
            if (j == 0u) atomicAdd(out_of_range, 1u);
            index = 0u;
        }
        // The row's elements begin and end within tiles.
        const uint first = index * table_cols, row = 0u, tile = first / 4u + j;
        const uint start = tile * 4u;
        if (start >= first + table_cols) continue;
        const uint from = max(first, start) - start, to = min(first + table_cols - start, 4u);
        vec4 v[1];
        if (found) {
            decode(row, tile, v);
        } else {
            for (uint r = 0u; r < 1u; ++r) v[r] = vec4(0.0);
        }
        write_tile(token * table_cols + start - first, from, to, v);
    }
}
