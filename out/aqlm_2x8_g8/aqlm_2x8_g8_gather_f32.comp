// aqlm_2x8_g8_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format aqlm_2x8_g8`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 36 bytes for 8 elements, 2 bits each.
// For each weight 0.25 bytes read and 4 written, 10.2 operations: 1.75 loads, 1 bits, 3.25 integer, 2 float, 2.25 conversions.
//     format aqlm_2x8_g8 "sums of two vectors of 8, each out of a table of 256, a scale for each row"
//     from "AQLM: inference_lib, two codebooks of 8 bits"
//     block 1 x 8 {
//         buffer codes                { n: u8[1][2] }
//         buffer codebook0[c0 of 256] { vectors0: f16[1][8] }    # codebooks[0]
//         buffer codebook1[c1 of 256] { vectors1: f16[1][8] }    # codebooks[1], which follows in the same tensor
//         buffer scales[rows]         { d: f16 }
//     }
//     code c0 per 8     = n        { 8 @ 0 }
//     code c1 per 8     = n        { 8 @ 8 }
//     code v0: f16      = vectors0 { 16 @ 0 (8:16) }
//     code v1: f16      = vectors1 { 16 @ 0 (8:16) }
//     code s: f16 per 8 = d        { 16 @ 0 }
//     value = (v0 + v1) * s
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer CodesBuffer { uint8_t codes[]; };
layout(binding = 1, std430) readonly buffer Codebook0Buffer { uint codebook0[]; };
layout(binding = 2, std430) readonly buffer Codebook1Buffer { uint codebook1[]; };
layout(binding = 3, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 4, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 5, std430) writeonly buffer Dst { vec4 dst[]; };
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

// The 4 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[1]) {
    const uint block_col = tile / 2u;
    const uint t = tile % 2u;
    uint n0 = uint(codes[row * (grid_cols * 2u) + block_col * 2u]), vectors00 = codebook0[n0 * 4u + t * 2u];
    float v00 = unpackHalf2x16(vectors00).x, v01 = unpackHalf2x16(vectors00 >> 16u).x;  // vectors0: 16 bits
    uint vectors01 = codebook0[n0 * 4u + t * 2u + 1u];
    float v02 = unpackHalf2x16(vectors01).x, v03 = unpackHalf2x16(vectors01 >> 16u).x;  // vectors0: 16 bits
    vec4 v04 = vec4(v00, v01, v02, v03);
    uint n1 = uint(codes[row * (grid_cols * 2u) + (block_col * 2u + 1u)]), vectors10 = codebook1[n1 * 4u + t * 2u];
    float v10 = unpackHalf2x16(vectors10).x, v11 = unpackHalf2x16(vectors10 >> 16u).x;  // vectors1: 16 bits
    uint vectors11 = codebook1[n1 * 4u + t * 2u + 1u];
    float v12 = unpackHalf2x16(vectors11).x, v13 = unpackHalf2x16(vectors11 >> 16u).x;  // vectors1: 16 bits
    vec4 v14 = vec4(v10, v11, v12, v13);
    float s = unpackHalf2x16(uint(scales[row])).x;
    v[0] = (v04 + v14) * s;
}

// Stores a tile from `at` on, counted in stores of 4 elements.
void write_tile(uint at, vec4 v[1]) {
    dst[at] = v[0];
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
        write_tile(token * (table_cols / 4u) + j * 1u, v);
    }
}
