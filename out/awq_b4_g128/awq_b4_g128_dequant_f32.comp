// awq_b4_g128_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format awq_b4_g128`; do not edit.
// 532 bytes for 1024 elements, 4.156 bits each.
// For each weight 0.52 bytes read and 4 written, 11 operations: 1.25 loads, 2.25 bits, 5.38 integer, 1 float, 1.12 conversions.
//
//     format awq_b4_g{group} "AWQ: codes and zeros of eight outputs in a word, out of order"
//     from "AutoAWQ: WQLinear_GEMM"
//     for group in 32 64 128
//
//     block 8 x group {
//         buffer qweight[cols][rows] { w: u32[1][group] }
//         buffer qzeros[cols][rows]  { zs: u32 }
//         buffer scales[cols][rows]  { d: f16[8][1] }
//     }
//
//     # Output r of eight is nibble (0, 4, 1, 5, 2, 6, 3, 7)[r].
//     code q                = w  { 4 @ 0 (group:32, 2:16, 4:4) }
//     code z per group      = zs { 4 @ 0 (2:16, 4:4) }
//     code s: f16 per group = d  { 16 @ 0 (8:16) }
//
//     value = (q - z) * s
//
// Here group = 128.
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer QweightBuffer { uint qweight[]; };
layout(binding = 1, std430) readonly buffer QzerosBuffer { uint qzeros[]; };
layout(binding = 2, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 3, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// The 8 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[2]) {
    const uint block_row = row / 8u;
    const uint r = row % 8u;
    const uint block_col = tile / 16u;
    const uint t = tile % 16u;
    // elements 0 to 3, counted from the tile's first
    uint w0 = qweight[(block_col * 128u + t * 8u) * grid_rows + block_row];
    uint w1 = qweight[(block_col * 128u + t * 8u + 1u) * grid_rows + block_row];
    uint w2 = qweight[(block_col * 128u + t * 8u + 2u) * grid_rows + block_row];
    uint w3 = qweight[(block_col * 128u + t * 8u + 3u) * grid_rows + block_row];
    uvec4 q0 = uvec4((w0 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w1 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w2 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w3 >> (r % 2u * 16u + r / 2u * 4u)) & 15u);  // w: 4 bits
    uint zs = qzeros[block_col * grid_rows + block_row];
    uint z = (zs >> (r % 2u * 16u + r / 2u * 4u)) & 15u;
    uint d = uint(scales[block_col * rows + row]);
    float s = f16_to_f32(d);  // d: 16 bits
    v[0] = vec4(ivec4(q0) - int(z)) * s;

    // elements 4 to 7, counted from the tile's first
    uint w4 = qweight[(block_col * 128u + t * 8u + 4u) * grid_rows + block_row];
    uint w5 = qweight[(block_col * 128u + t * 8u + 5u) * grid_rows + block_row];
    uint w6 = qweight[(block_col * 128u + t * 8u + 6u) * grid_rows + block_row];
    uint w7 = qweight[(block_col * 128u + t * 8u + 7u) * grid_rows + block_row];
    uvec4 q1 = uvec4((w4 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w5 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w6 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w7 >> (r % 2u * 16u + r / 2u * 4u)) & 15u);  // w: 4 bits
    v[1] = vec4(ivec4(q1) - int(z)) * s;
}

// Stores a tile's runs from `at` on, counted in runs.
void write_tile(uint at, vec4 v[2]) {
    dst[at] = v[0];
    dst[at + 1u] = v[1];
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < rows * row_tiles; i += threads) {
        const uint row = i / row_tiles, tile = i % row_tiles;
        vec4 v[2];
        decode(row, tile, v);
        write_tile(row * (cols / 4u) + tile * 2u, v);
    }
}
