// fp4_b128_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format fp4_b128`; do not edit.
// 68 bytes for 128 elements, 4.25 bits each.
// For each weight 0.531 bytes read and 4 written, 7.25 operations: 0.75 loads, 2.5 bits, 2 integer, 1 float, 1 lookups.
//
//     format fp4_b{group} "bitsandbytes FP4: the even element in the high nibble, a scale for each block of the flat tensor"
//     from "bitsandbytes: Linear4bit with quant_type fp4"
//     for group in 64 128
//
//     block group ragged {
//         buffer weight { w: u8[group / 2] }
//         buffer absmax { s: f32 }
//     }
//
//     table F: f32[16] = {
//          0.0,  0.0052083334885537624,  0.6666666865348816,  1.0,
//          0.3333333432674408,  0.5,  0.1666666716337204,  0.25,
//         -0.0, -0.0052083334885537624, -0.6666666865348816, -1.0,
//         -0.3333333432674408, -0.5, -0.1666666716337204, -0.25,
//     }
//
//     code q = w { 4 @ 4 (2:-4, group / 2:8) }
//
//     value = F[q] * s
//
// Here group = 128.
#version 450
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer WeightBuffer { uint8_t weight[]; };
layout(binding = 1, std430) readonly buffer AbsmaxBuffer { uint absmax[]; };
layout(binding = 5, std430) readonly buffer FTable { float F[]; };
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
    const uint block_col = tile / 32u;
    const uint t = tile % 32u;
    uint w = uint(weight[min(block_col * 64u + t * 2u, (cols - 1u) / 2u)]) | (uint(weight[min(block_col * 64u + t * 2u + 1u, (cols - 1u) / 2u)]) << 8u);
    uvec4 q = (uvec4(w) >> uvec4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    float s = uintBitsToFloat(absmax[block_col]);
    v[0] = vec4(F[q.x], F[q.y], F[q.z], F[q.w]) * s;
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
