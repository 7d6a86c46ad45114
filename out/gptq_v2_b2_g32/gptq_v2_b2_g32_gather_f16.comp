// gptq_v2_b2_g32_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
// Generated from the specification below by `qkgen emit --format gptq_v2_b2_g32`; do not edit.
// 328 bytes for 1024 elements, 2.562 bits each.
// For each weight 0.32 bytes read and 2 written, 7.38 operations: 0.188 loads, 2.12 bits, 2 integer, 1 float, 2.06 conversions.
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
// Here bits = 2, group = 32.
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer QweightBuffer { uint qweight[]; };
layout(binding = 1, std430) readonly buffer QzerosBuffer { uint qzeros[]; };
layout(binding = 2, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 3, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 4, std430) writeonly buffer Dst { uint16_t dst[]; };
layout(binding = 5, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 16 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// Rounds to the nearest half, ties to even. In integers, because Vulkan leaves the rounding of its own conversion open.
uint f32_to_f16(float x) {
    const uint bits = floatBitsToUint(x), magnitude = bits & 0x7FFFFFFFu, sign = (bits >> 16) & 0x8000u;
    if (magnitude > 0x7F800000u) return sign | 0x7E00u;    // NaN
    if (magnitude >= 0x477FF000u) return sign | 0x7C00u;   // beyond the largest half
    if (magnitude < 0x38800000u) {                         // a subnormal half: adding 1/2 rounds at its last bit
        precise float lifted = uintBitsToFloat(magnitude) + 0.5;
        return sign | (floatBitsToUint(lifted) - 0x3F000000u);
    }
    return sign | ((magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13);
}

// The 16 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[4]) {
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 2u;
    // elements 0 to 3, counted from the tile's first
    uint w = qweight[tile * rows + row];
    uvec4 q0 = (uvec4(w) >> uvec4(0, 2, 4, 6)) & 3u;  // w: 2 bits
    uint zs = qzeros[block_col * ((rows * 2u + 31u) / 32u) + min(block_row * 2u + r / 16u, (rows * 2u + 31u) / 32u - 1u)];
    uint z = (zs >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uint d = uint(scales[block_col * rows + row]);
    float s = f16_to_f32(d);  // d: 16 bits
    v[0] = vec4(ivec4(q0) - int(z)) * s;

    // elements 4 to 7, counted from the tile's first
    uvec4 q1 = (uvec4(w) >> uvec4(8, 10, 12, 14)) & 3u;  // w: 2 bits
    v[1] = vec4(ivec4(q1) - int(z)) * s;

    // elements 8 to 11, counted from the tile's first
    uvec4 q2 = (uvec4(w) >> uvec4(16, 18, 20, 22)) & 3u;  // w: 2 bits
    v[2] = vec4(ivec4(q2) - int(z)) * s;

    // elements 12 to 15, counted from the tile's first
    uvec4 q3 = (uvec4(w) >> uvec4(24, 26, 28, 30)) & 3u;  // w: 2 bits
    v[3] = vec4(ivec4(q3) - int(z)) * s;
}

// Stores elements [from, to) of a tile; its first belongs at `at`.
void write_tile(uint at, uint from, uint to, vec4 v[4]) {
    for (uint e = 0u; e < 16u; ++e) {
        if (e >= from && e < to) dst[at + e] = uint16_t(f32_to_f16(v[e / 4u][e % 4u]));
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
        vec4 v[4];
        if (found) {
            decode(row, tile, v);
        } else {
            for (uint r = 0u; r < 4u; ++r) v[r] = vec4(0.0);
        }
        write_tile(token * cols + tile * 16u, 0u, min(16u, cols - tile * 16u), v);
    }
}
