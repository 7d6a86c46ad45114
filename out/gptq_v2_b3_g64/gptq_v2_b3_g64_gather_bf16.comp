// gptq_v2_b3_g64_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
// Generated from the specification below by `qkgen emit --format gptq_v2_b3_g64`; do not edit.
// 844 bytes for 2048 elements, 3.297 bits each.
// For each weight 0.412 bytes read and 2 written, 18.8 operations: 0.875 loads, 3.62 bits, 11.1 integer, 1 float, 2.12 conversions.
//
//     format gptq_v2_b{bits}_g{group} "GPTQ: codes packed along the inputs, zeros along the outputs"
//     from "GPTQModel: checkpoints of version 2"
//     for bits in 2 3 4 8, group in 32 64 128
//
//     block 32 x group ragged {
//         buffer qweight[cols][rows] { w: u32[32][group * bits / 32] }
//         buffer qzeros[cols][rows]  { zs: u32[bits][1] }
//         buffer scales[cols][rows]  { d: f16[32][1] }
//     }
//
//     code q                = w  { bits @ 0 (32 * group:bits) }
//     code z per group      = zs { bits @ 0 (32:bits) }
//     code s: f16 per group = d  { 16 @ 0 (32:16) }
//
//     value = (q - z) * s
//
// Here bits = 3, group = 64.
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer QweightBuffer { uint qweight[]; };
layout(binding = 1, std430) readonly buffer QzerosBuffer { uint qzeros[]; };
layout(binding = 2, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 3, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 4, std430) writeonly buffer Dst { uint16_t dst[]; };
layout(binding = 4, std430) writeonly buffer DstWhole { uvec4 dst_whole[]; };
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
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 8u;
    const uint t = tile % 8u;
    // elements 0 to 3, counted from the tile's first
    uint w0 = qweight[min(block_col * 6u + (r * 192u + t * 24u) / 32u % 6u, cols / 64u * 6u + (cols % 64u * 6u + 0x3Fu) / 64u - 1u) * rows + min(block_row * 32u + (r * 192u + t * 24u) / 32u / 6u, rows - 1u)];
    uint w1 = qweight[min(block_col * 6u + min((r * 192u + t * 24u) / 32u + 1u, 191u) % 6u, cols / 64u * 6u + (cols % 64u * 6u + 0x3Fu) / 64u - 1u) * rows + min(block_row * 32u + min((r * 192u + t * 24u) / 32u + 1u, 191u) / 6u, rows - 1u)];
    uint w_run0 = (w0 >> ((r * 192u + t * 24u) % 32u)) | ((w1 << 1u) << (31u - (r * 192u + t * 24u) % 32u));
    uvec4 q0 = (uvec4(w_run0) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    uint zs0 = qzeros[block_col * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs1 = qzeros[block_col * (rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), rows / 32u * 3u + (rows % 32u * 3u + 31u) / 32u - 1u)];
    uint zs_run = (zs0 >> (r * 3u % 32u)) | ((zs1 << 1u) << (31u - r * 3u % 32u));
    uint z = zs_run & 7u;  // zs: 3 bits
    uint d = uint(scales[block_col * rows + row]);
    float s = f16_to_f32(d);  // d: 16 bits
    v[0] = vec4(ivec4(q0) - int(z)) * s;

    // elements 4 to 7, counted from the tile's first
    uint w2 = qweight[min(block_col * 6u + (r * 192u + t * 24u + 12u) / 32u % 6u, cols / 64u * 6u + (cols % 64u * 6u + 0x3Fu) / 64u - 1u) * rows + min(block_row * 32u + (r * 192u + t * 24u + 12u) / 32u / 6u, rows - 1u)];
    uint w3 = qweight[min(block_col * 6u + min((r * 192u + t * 24u + 12u) / 32u + 1u, 191u) % 6u, cols / 64u * 6u + (cols % 64u * 6u + 0x3Fu) / 64u - 1u) * rows + min(block_row * 32u + min((r * 192u + t * 24u + 12u) / 32u + 1u, 191u) / 6u, rows - 1u)];
    uint w_run1 = (w2 >> ((r * 192u + t * 24u + 12u) % 32u)) | ((w3 << 1u) << (31u - (r * 192u + t * 24u + 12u) % 32u));
    uvec4 q1 = (uvec4(w_run1) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    v[1] = vec4(ivec4(q1) - int(z)) * s;
}

// Stores elements [from, to) of a tile; its first belongs at `first`.
void write_tile(uint first, uint from, uint to, vec4 v[2]) {
    if (from == 0u && to == 8u && first % 8u == 0u) {
        const uint at = first / 8u;
        dst_whole[at] = uvec4(pack_bf16(v[0]), pack_bf16(v[1]));
        return;
    }
    for (uint e = 0u; e < 8u; ++e) {
        if (e >= from && e < to) dst[first + e] = uint16_t(f32_to_bf16(v[e / 4u][e % 4u]));
    }
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
        write_tile(token * cols + tile * 8u, 0u, min(8u, cols - tile * 8u), v);
    }
}
