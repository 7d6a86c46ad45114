// ct_b4_zp_g128_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format ct_b4_zp_g128`; do not edit.
// 532 bytes for 1024 elements, 4.156 bits each.
// For each weight 0.52 bytes read and 4 written, 10.8 operations: 0.75 loads, 3 bits, 5 integer, 1 float, 1 conversions.
//
//     format ct_b4_zp_g{group} "compressed-tensors: 4-bit codes, a scale for each group, zeros packed along the outputs"
//     from "compressed-tensors: pack-quantized, asymmetric"
//     for group in 32 128
//
//     block 8 x group ragged {
//         buffer weight_packed     { w: u32[8][group / 8] }
//         buffer weight_scale      { d: bf16[8][1] }
//         buffer weight_zero_point { zs: u32 }
//     }
//
//     code q                 = w  { 4 @ 0 (8 * group:4) }
//     code s: bf16 per group = d  { 16 @ 0 (8:16) }
//     code z per group       = zs { 4 @ 0 (8:4) }
//
//     value = (q - z) * s
//
// Here group = 128.
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer Weight_packedBuffer { uint weight_packed[]; };
layout(binding = 1, std430) readonly buffer Weight_scaleBuffer { uint16_t weight_scale[]; };
layout(binding = 2, std430) readonly buffer Weight_zero_pointBuffer { uint weight_zero_point[]; };
layout(binding = 3, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 4, std430) writeonly buffer Dst { float dst[]; };
layout(binding = 4, std430) writeonly buffer DstWhole { vec4 dst_whole[]; };
layout(binding = 5, std430) buffer Status { uint out_of_range; };

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

// The bfloat16 in the low 16 bits.
float bf16_to_f32(uint bits) {
    return uintBitsToFloat(bits << 16);
}

// The 4 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[1]) {
    const uint block_row = row / 8u;
    const uint r = row % 8u;
    const uint block_col = tile / 32u;
    const uint t = tile % 32u;
    uint w = weight_packed[row * ((cols - 1u) / 8u + 1u) + min(block_col * 16u + t / 2u, (cols - 1u) / 8u)];
    uvec4 q = (uvec4(w >> (t % 2u * 16u)) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint zs = weight_zero_point[block_row * grid_cols + block_col];
    uint z = (zs >> (r * 4u)) & 15u;
    uint d = uint(weight_scale[row * grid_cols + block_col]);
    float s = bf16_to_f32(d);  // d: 16 bits
    v[0] = vec4(ivec4(q) - int(z)) * s;
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
