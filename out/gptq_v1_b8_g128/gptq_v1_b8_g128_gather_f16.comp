// gptq_v1_b8_g128_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
// Generated from the specification below by `qkgen emit --format gptq_v1_b8_g128`; do not edit.
// 4192 bytes for 4096 elements, 8.188 bits each.
// For each weight 1.02 bytes read and 2 written, 10.2 operations: 0.5 loads, 2.38 bits, 4.25 integer, 1 float, 2.12 conversions.
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
// Here bits = 8, group = 128.
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

// Set where the host has given the module the execution modes RoundingModeRTE and DenormPreserve for 16 bits.
layout(constant_id = 8) const bool rounds_f16 = false;

// Elsewhere, what is added to a float and taken away again, 2^13 times the power of two below it, leaves 11 bits, rounded
// to nearest even: a half, that no conversion changes.
uvec2 pack_f16(vec4 v) {
    if (rounds_f16) return uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));
    const uvec4 bits = floatBitsToUint(v);
    const vec4 power = uintBitsToFloat(bits & 0x7F800000u);
    if (max(max(power.x, power.y), max(power.z, power.w)) >= 32768.0)
        return uvec2(f32_to_f16(v.x) | f32_to_f16(v.y) << 16, f32_to_f16(v.z) | f32_to_f16(v.w) << 16);
    precise vec4 lift = max(power, 6.103515625e-5) * 8192.0;  // a subnormal half has fewer bits
    precise vec4 sum = abs(v) + lift;
    precise vec4 half_values = sum - lift;
    half_values = uintBitsToFloat(floatBitsToUint(half_values) | (bits & 0x80000000u));
    return uvec2(packHalf2x16(half_values.xy), packHalf2x16(half_values.zw));
}

// Row, or band of rows, and tile of thread `i` where neighbours in memory belong to different rows: in strips of
// 128, cut into patches of 8 tiles, so that threads that run together read and write whole lines.
uvec2 row_and_tile(uint i, uint rows, uint row_tiles) {
    const uint tall = min(128u, rows), strip = i / (tall * row_tiles);
    uint rest = i - strip * (tall * row_tiles);
    const uint height = min(tall, rows - strip * tall);
    const uint patch_size = height * 8u;
    const uint patch_number = height == 128u ? rest / 1024u : rest / patch_size;
    rest -= patch_number * patch_size;
    const uint first = patch_number * 8u, width = min(8u, row_tiles - first);
    const uint down = width == 8u ? rest / 8u : rest / width;
    return uvec2(strip * tall + down, first + rest - down * width);
}

// The 8 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[2]) {
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 16u;
    const uint t = tile % 16u;
    // elements 0 to 3, counted from the tile's first
    uint w0 = qweight[min(block_col * 32u + t * 2u, (cols - 1u) / 4u) * rows + row];
    uvec4 q0 = (uvec4(w0) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    uint zs = qzeros[block_col * ((rows - 1u) / 4u + 1u) + min(block_row * 8u + r / 4u, (rows - 1u) / 4u)];
    uint z = (zs >> (r % 4u * 8u)) & 0xFFu;  // zs: 8 bits
    uint d = uint(scales[block_col * rows + row]);
    float s = f16_to_f32(d);  // d: 16 bits
    v[0] = vec4(ivec4(q0) - ((int(z) + 1) & 255)) * s;

    // elements 4 to 7, counted from the tile's first
    uint w1 = qweight[min(block_col * 32u + t * 2u + 1u, (cols - 1u) / 4u) * rows + row];
    uvec4 q1 = (uvec4(w1) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    v[1] = vec4(ivec4(q1) - ((int(z) + 1) & 255)) * s;
}

// Stores elements [from, to) of a tile; its first belongs at `first`.
void write_tile(uint first, uint from, uint to, vec4 v[2]) {
    if (from == 0u && to == 8u && first % 8u == 0u) {
        const uint at = first / 8u;
        dst_whole[at] = uvec4(pack_f16(v[0]), pack_f16(v[1]));
        return;
    }
    for (uint e = 0u; e < 8u; ++e) {
        if (e >= from && e < to) dst[first + e] = uint16_t(f32_to_f16(v[e / 4u][e % 4u]));
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
