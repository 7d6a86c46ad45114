// awq_b4_g128_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
// Generated from the specification below by `qkgen emit --format awq_b4_g128`; do not edit.
// 532 bytes for 1024 elements, 4.156 bits each.
// For each weight 0.52 bytes read and 2 written, 12 operations: 1.25 loads, 2.25 bits, 5.38 integer, 1 float, 2.12 conversions.
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
layout(binding = 4, std430) writeonly buffer Dst { uvec4 dst[]; };
layout(binding = 5, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// Rounds to the nearest bfloat16, ties to even.
uint f32_to_bf16(float x) {
    const uint bits = floatBitsToUint(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return ((bits >> 16) & 0x8000u) | 0x7FC0u;  // NaN
    return (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
}

uvec2 pack_bf16(vec4 v) {
    const uvec4 bits = floatBitsToUint(v);
    const vec4 power = uintBitsToFloat(bits & 0x7F800000u);
    if (floatBitsToUint(max(max(power.x, power.y), max(power.z, power.w))) == 0x7F800000u)  // infinite, or NaN
        return uvec2(f32_to_bf16(v.x) | f32_to_bf16(v.y) << 16, f32_to_bf16(v.z) | f32_to_bf16(v.w) << 16);
    const uvec4 rounded = bits + 0x7FFFu + ((bits >> 16) & 1u);
    return uvec2(rounded.x >> 16 | (rounded.y & 0xFFFF0000u), rounded.z >> 16 | (rounded.w & 0xFFFF0000u));
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

// Stores a tile from `at` on, counted in stores of 8 elements.
void write_tile(uint at, vec4 v[2]) {
    dst[at] = uvec4(pack_bf16(v[0]), pack_bf16(v[1]));
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
        vec4 v[2];
        if (found) {
            decode(row, tile, v);
        } else {
            for (uint r = 0u; r < 2u; ++r) v[r] = vec4(0.0);
        }
        write_tile(token * (table_cols / 8u) + j * 1u, v);
    }
}
