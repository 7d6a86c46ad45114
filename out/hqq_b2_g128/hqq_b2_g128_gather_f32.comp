// hqq_b2_g128_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format hqq_b2_g128`; do not edit.
// 144 bytes for 512 elements, 2.25 bits each.
// For each weight 0.281 bytes read and 4 written, 7.5 operations: 0.75 loads, 2.25 bits, 1 integer, 2 float, 1.5 conversions.
//
//     format hqq_b{bits}_g{group} "HQQ: the groups of the whole tensor in planes of equal size, a float zero"
//     from "HQQ: BitPack, axis 1"
//     for bits in 2 4 8, group in 64 128
//
//     block 8 / bits apart x group {
//         buffer W_q   { w: u8[1][group] }
//         buffer scale { d: f16[8 / bits][1] }
//         buffer zero  { m: f16[8 / bits][1] }
//     }
//
//     code q                = w { bits @ 8 - bits (group:8, 8 / bits:-bits) }
//     code s: f16 per group = d { 16 @ 0 (8 / bits:16) }
//     code z: f16 per group = m { 16 @ 0 (8 / bits:16) }
//
//     value = (q - z) * s
//
// Here bits = 2, group = 128.
#version 450
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

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// The 4 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[1]) {
    const uint block_row = row % grid_rows;
    const uint r = row / grid_rows;
    const uint t = tile % 32u;
    uint w = W_q[block_row * 32u + t];
    uvec4 q = (uvec4(w >> ((3u - r) * 2u)) >> uvec4(0, 8, 16, 24)) & 3u;  // w: 2 bits
    uint m_ = uint(zero[row]);
    float z = f16_to_f32(m_);  // m: 16 bits
    uint d = uint(scale[row]);
    float s = f16_to_f32(d);  // d: 16 bits
    v[0] = (vec4(q) - z) * s;
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
        const uint row = index * (table_cols / cols) + j / 32u, tile = j % 32u;
        vec4 v[1];
        if (found) {
            decode(row, tile, v);
        } else {
            for (uint r = 0u; r < 1u; ++r) v[r] = vec4(0.0);
        }
        write_tile(token * (table_cols / 4u) + j * 1u, v);
    }
}
