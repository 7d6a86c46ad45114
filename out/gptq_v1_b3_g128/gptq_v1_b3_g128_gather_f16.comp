// gptq_v1_b3_g128_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
// Generated from the specification below by `qkgen emit --format gptq_v1_b3_g128`; do not edit.
// 1612 bytes for 4096 elements, 3.148 bits each.
// For each weight 0.394 bytes read and 2 written, 7.81 operations: 0.188 loads, 2.38 bits, 2.22 integer, 1 float, 2.03 conversions.
//
//     format gptq_v1_b{bits}_g{group} "GPTQ: codes packed along the inputs, zeros less one along the outputs"
//     from "AutoGPTQ, GPTQModel: qlinear, checkpoints of version 1"
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
//     value = (q - (z + 1 & (1 << bits) - 1)) * s
//
// Here bits = 3, group = 128.
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
    uint row_tiles;   // tiles of 32 elements that a row of the table can touch
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

// The 32 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[8]) {
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 4u;
    const uint t = tile % 4u;
    // elements 0 to 3, counted from the tile's first
    uint w0 = qweight[min(block_col * 12u + t * 3u, (cols * 12u + 0x7Fu) / 128u - 1u) * rows + row];
    uvec4 q0 = (uvec4(w0) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    uint zs0 = qzeros[block_col * ((rows * 3u + 31u) / 32u) + min(block_row * 3u + r * 3u / 32u, (rows * 3u + 31u) / 32u - 1u)];
    uint zs1 = qzeros[block_col * ((rows * 3u + 31u) / 32u) + min(block_row * 3u + min(r * 3u / 32u + 1u, 2u), (rows * 3u + 31u) / 32u - 1u)];
    uint zs_run = (zs0 >> (r * 3u % 32u)) | ((zs1 << 1u) << (31u - r * 3u % 32u));
    uint z = zs_run & 7u;  // zs: 3 bits
    uint d = uint(scales[block_col * rows + row]);
    float s = f16_to_f32(d);  // d: 16 bits
    v[0] = vec4(ivec4(q0) - ((int(z) + 1) & 7)) * s;

    // elements 4 to 7, counted from the tile's first
    uvec4 q1 = (uvec4(w0) >> uvec4(12, 15, 18, 21)) & 7u;  // w: 3 bits
    v[1] = vec4(ivec4(q1) - ((int(z) + 1) & 7)) * s;

    // elements 8 to 11, counted from the tile's first
    uint w1 = qweight[min(block_col * 12u + t * 3u + 1u, (cols * 12u + 0x7Fu) / 128u - 1u) * rows + row];
    uint w_run0 = (w0 >> 24u) | (w1 << 8u);
    uvec4 q2 = (uvec4(w_run0) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    v[2] = vec4(ivec4(q2) - ((int(z) + 1) & 7)) * s;

    // elements 12 to 15, counted from the tile's first
    uvec4 q3 = (uvec4(w1) >> uvec4(4, 7, 10, 13)) & 7u;  // w: 3 bits
    v[3] = vec4(ivec4(q3) - ((int(z) + 1) & 7)) * s;

    // elements 16 to 19, counted from the tile's first
    uvec4 q4 = (uvec4(w1) >> uvec4(16, 19, 22, 25)) & 7u;  // w: 3 bits
    v[4] = vec4(ivec4(q4) - ((int(z) + 1) & 7)) * s;

    // elements 20 to 23, counted from the tile's first
    uint w2 = qweight[min(block_col * 12u + t * 3u + 2u, (cols * 12u + 0x7Fu) / 128u - 1u) * rows + row];
    uint w_run1 = (w1 >> 28u) | (w2 << 4u);
    uvec4 q5 = (uvec4(w_run1) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    v[5] = vec4(ivec4(q5) - ((int(z) + 1) & 7)) * s;

    // elements 24 to 27, counted from the tile's first
    uvec4 q6 = (uvec4(w2) >> uvec4(8, 11, 14, 17)) & 7u;  // w: 3 bits
    v[6] = vec4(ivec4(q6) - ((int(z) + 1) & 7)) * s;

    // elements 28 to 31, counted from the tile's first
    uvec4 q7 = (uvec4(w2) >> uvec4(20, 23, 26, 29)) & 7u;  // w: 3 bits
    v[7] = vec4(ivec4(q7) - ((int(z) + 1) & 7)) * s;
}

// Stores elements [from, to) of a tile; its first belongs at `at`.
void write_tile(uint at, uint from, uint to, vec4 v[8]) {
    for (uint e = 0u; e < 32u; ++e) {
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
        vec4 v[8];
        if (found) {
            decode(row, tile, v);
        } else {
            for (uint r = 0u; r < 8u; ++r) v[r] = vec4(0.0);
        }
        write_tile(token * cols + tile * 32u, 0u, min(32u, cols - tile * 32u), v);
    }
}
