// hqq_b3_g64_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format hqq_b3_g64`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 296 bytes for 640 elements, 3.7 bits each.
// For each weight 0.463 bytes read and 4 written, 9.75 operations: 1.5 loads, 2 bits, 2.75 integer, 2 float, 1.5 conversions.
//     format hqq_b3_g{group} "HQQ: the groups of the whole tensor in ten planes of 3 bits, a float zero"
//     from "HQQ: BitPack, axis 1"
//     for group in 64 128
//     block 10 apart x group {
//         buffer W_q   { w: u32[1][group] }
//         buffer scale { d: f16[10][1] }
//         buffer zero  { m: f16[10][1] }
//     }
//     code q                = w { 3 @ 27 (group:32, 10:-3) }
//     spare                   w { 2 @ 30 (group:32) }
//     code s: f16 per group = d { 16 @ 0 (10:16) }
//     code z: f16 per group = m { 16 @ 0 (10:16) }
//     value = (q - z) * s
//
// Here group = 64.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer W_qBuffer { uint W_q[]; };
layout(binding = 1, std430) readonly buffer ScaleBuffer { uint16_t scale[]; };
layout(binding = 2, std430) readonly buffer ZeroBuffer { uint16_t zero[]; };
layout(binding = 3, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 4, std430) writeonly buffer Dst { vec4 dst[]; };
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

// The 4 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[1]) {
    const uint block_row = row % grid_rows;
    const uint r = row / grid_rows;
    const uint t = tile % 16u;
    uint w0 = W_q[block_row * 64u + t * 4u], w1 = W_q[block_row * 64u + (t * 4u + 1u)], w2 = W_q[block_row * 64u + (t * 4u + 2u)];
    uint w3 = W_q[block_row * 64u + (t * 4u + 3u)], m_ = uint(zero[row]);
    float z = unpackHalf2x16(m_).x;  // m: 16 bits
    uint d = uint(scale[row]);
    float s = unpackHalf2x16(d).x;  // d: 16 bits
    v[0] = (vec4((w0 >> ((9u - r) * 3u)) & 7u, (w1 >> ((9u - r) * 3u)) & 7u, (w2 >> ((9u - r) * 3u)) & 7u, (w3 >> ((9u - r) * 3u)) & 7u)
        - z) * s;
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
        const uint row = index * (table_cols / cols) + j / 16u, tile = j % 16u;
        vec4 v[1];
        if (found) {
            decode(row, tile, v);
        } else {
            for (uint r = 0u; r < 1u; ++r) v[r] = vec4(0.0);
        }
        write_tile(token * (table_cols / 4u) + j * 1u, v);
    }
}
