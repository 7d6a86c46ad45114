// awq_b4_g128_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format awq_b4_g128`; do not edit.
// 532 bytes for 1024 elements, 4.156 bits each.
// For each weight 0.52 bytes read and 4 written, 13 operations: 1.5 loads, 2.5 bits, 6.75 integer, 1 float, 1.25 conversions.
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
    const uint block_row = row / 8u;
    const uint r = row % 8u;
    const uint block_col = tile / 32u;
    const uint t = tile % 32u;
    uint w0 = qweight[(block_col * 128u + t * 4u) * grid_rows + block_row];
    uint w1 = qweight[(block_col * 128u + t * 4u + 1u) * grid_rows + block_row];
    uint w2 = qweight[(block_col * 128u + t * 4u + 2u) * grid_rows + block_row];
    uint w3 = qweight[(block_col * 128u + t * 4u + 3u) * grid_rows + block_row];
    uvec4 q = uvec4((w0 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w1 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w2 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w3 >> (r % 2u * 16u + r / 2u * 4u)) & 15u);  // w: 4 bits
    uint zs = qzeros[block_col * grid_rows + block_row];
    uint z = (zs >> (r % 2u * 16u + r / 2u * 4u)) & 15u;
    uint d = uint(scales[block_col * rows + row]);
    float s = f16_to_f32(d);  // d: 16 bits
    v[0] = vec4(ivec4(q) - int(z)) * s;
}

// Stores a tile from `at` on, counted in stores of 4 elements.
void write_tile(uint at, vec4 v[1]) {
    dst[at] = v[0];
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
        write_tile(token * (table_cols / 4u) + j * 1u, v);
    }
}
