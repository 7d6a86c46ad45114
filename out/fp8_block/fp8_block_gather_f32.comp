// fp8_block_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format fp8_block`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 16388 bytes for 16384 elements, 8.002 bits each.
// For each weight 1 bytes read and 4 written, 19.2 operations: 1.25 loads, 8.5 bits, 6.5 integer, 2 float, 1 conversions.
//     format fp8_block "E4M3 codes, a scale for each patch of 128 x 128"
//     from "DeepSeek-V3: block-wise FP8"
//     block 128 x 128 ragged {
//         buffer weight           { w: u8[128][128] }
//         buffer weight_scale_inv { s: f32 }
//     }
//     code q: e4m3 = w { 8 @ 0 (16384:8) }
//     value = q * s
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer WeightBuffer { uint8_t weight[]; };
layout(binding = 1, std430) readonly buffer Weight_scale_invBuffer { uint weight_scale_inv[]; };
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
    const uint block_row = row / 128u;
    const uint block_col = tile / 32u;
    const uint t = tile % 32u;
    uint w = uint(weight[row * cols + min(block_col * 128u + t * 4u, cols - 1u)])
        | (uint(weight[row * cols + min(block_col * 128u + t * 4u + 1u, cols - 1u)]) << 8u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 4u + 2u, cols - 1u)]) << 16u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 4u + 3u, cols - 1u)]) << 24u);
    uvec4 q_bits0 = (uvec4(w) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits1 = q_bits0.x, q_bits2 = q_bits0.y, q_bits3 = q_bits0.z, q_bits4 = q_bits0.w;
    // w: 8 bits
    precise vec4 q = vec4(unpackHalf2x16(((q_bits1 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits1 & 0x7Fu) << 7u) | ((q_bits1 & 128u) << 8u)).x
        * 256.0, unpackHalf2x16(((q_bits2 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits2 & 0x7Fu) << 7u) | ((q_bits2 & 128u) << 8u)).x * 256.0,
        unpackHalf2x16(((q_bits3 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits3 & 0x7Fu) << 7u) | ((q_bits3 & 128u) << 8u)).x * 256.0,
        unpackHalf2x16(((q_bits4 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits4 & 0x7Fu) << 7u) | ((q_bits4 & 128u) << 8u)).x * 256.0);
    float s = uintBitsToFloat(weight_scale_inv[block_row * grid_cols + block_col]);
    v[0] = q * s;
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
