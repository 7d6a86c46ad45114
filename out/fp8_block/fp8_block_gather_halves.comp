// fp8_block_gather_halves: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16 or bf16.
// Generated from the specification below by `qkgen emit --format fp8_block`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 16388 bytes for 16384 elements, 8.002 bits each.
// For each weight 1 bytes read and 2 written, 19.4 operations: 1.12 loads, 8.5 bits, 5.75 integer, 2 float, 2 conversions.
//     format fp8_block "E4M3 codes, a scale for each patch of 128 x 128"
//     from "DeepSeek-V3: block-wise FP8"
//     block 128 x 128 ragged {
//         buffer weight           { w: u8[128][128] }
//         buffer weight_scale_inv { s: f32 }
//     }
//     code q: e4m3 = w { 8 @ 0 (16384:8) }
//     value = q * s
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer WeightBuffer { uint8_t weight[]; };
layout(binding = 1, std430) readonly buffer Weight_scale_invBuffer { uint weight_scale_inv[]; };
layout(binding = 2, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 3, std430) writeonly buffer Dst { uint16_t dst[]; };
layout(binding = 3, std430) writeonly buffer DstWhole { uvec4 dst_whole[]; };
layout(binding = 4, std430) buffer Status { uint out_of_range; };

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

// The nearest half, ties to even; in integers, for Vulkan leaves that open.
uint f32_to_f16(float x) {
    const uint bits = floatBitsToUint(x), magnitude = bits & 0x7FFFFFFFu;
    precise float lifted = uintBitsToFloat(magnitude) + 0.5;  // rounds subnormal halves
    const uint normal = min(magnitude - 0x37FFF001u + ((magnitude >> 13) & 1u) >> 13, 0x7C00u);
    const uint subnormal = floatBitsToUint(lifted) - 0x3F000000u, rounded = magnitude < 0x38800000u ? subnormal : normal;
    return bits >> 16 & 0x8000u | (magnitude > 0x7F800000u ? 0x7E00u : rounded);
}

// Rounds to the nearest bfloat16, ties to even.
uint f32_to_bf16(float x) {
    const uint bits = floatBitsToUint(x), rounded = bits + 0x7FFFu + ((bits >> 16) & 1u), nan = bits & 0x80000000u | 0x7FC00000u;
    return ((bits & 0x7FFFFFFFu) > 0x7F800000u ? nan : rounded) >> 16;
}

layout(constant_id = 31) const uint Y_TYPE = 1;  // how results are stored: 1 as f16, 2 as bf16

uint f32_to_half(float v) { return Y_TYPE == 1u ? f32_to_f16(v) : f32_to_bf16(v); }

// Set where the module has the execution modes RoundingModeRTE and DenormPreserve for 16 bits.
layout(constant_id = 8) const bool rounds_f16 = false;

// Elsewhere in integers, for Vulkan leaves its rounding open. The neighbour of the largest half rounds to infinity, whatever is beyond it.
uvec2 pack_f16(vec4 v) {
    if (rounds_f16) return uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));
    const uvec4 bits = floatBitsToUint(v), magnitude = bits & 0x7FFFFFFFu, most = min(magnitude, uvec4(0x477FF000u));
    precise vec4 lifted = uintBitsToFloat(most) + 0.5;
    const uvec4 normal = most - 0x37FFF001u + ((most >> 13) & 1u) >> 13, subnormal = floatBitsToUint(lifted) - 0x3F000000u;
    uvec4 halves = mix(normal, subnormal, lessThan(most, uvec4(0x38800000u)));
    halves = mix(halves, uvec4(0x7E00u), greaterThan(magnitude, uvec4(0x7F800000u)));  // NaN
    halves |= bits >> 16 & 0x8000u;
    return halves.xz | halves.yw << 16;
}

uvec2 pack_bf16(vec4 v) {
    const uvec4 bits = floatBitsToUint(v);
    const bvec4 nan = greaterThan(bits & 0x7FFFFFFFu, uvec4(0x7F800000u));
    const uvec4 rounded = mix(bits + 0x7FFFu + ((bits >> 16) & 1u), (bits & 0x80000000u) | 0x7FC00000u, nan);
    return rounded.xz >> 16 | (rounded.yw & 0xFFFF0000u);
}

uvec2 pack_halves(vec4 v) { return Y_TYPE == 1u ? pack_f16(v) : pack_bf16(v); }

// The 8 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[2]) {
    const uint block_row = row / 128u;
    const uint block_col = tile / 16u;
    const uint t = tile % 16u;
    // elements 0 to 3, counted from the tile's first
    uint w0 = uint(weight[row * cols + min(block_col * 128u + t * 8u, cols - 1u)])
        | (uint(weight[row * cols + min(block_col * 128u + t * 8u + 1u, cols - 1u)]) << 8u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 8u + 2u, cols - 1u)]) << 16u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 8u + 3u, cols - 1u)]) << 24u);
    uvec4 q_bits0 = (uvec4(w0) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits1 = q_bits0.x, q_bits2 = q_bits0.y, q_bits3 = q_bits0.z, q_bits4 = q_bits0.w;
    // w: 8 bits
    precise vec4 q0 = vec4(unpackHalf2x16(((q_bits1 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits1 & 0x7Fu) << 7u) | ((q_bits1 & 128u) << 8u)).x
        * 256.0, unpackHalf2x16(((q_bits2 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits2 & 0x7Fu) << 7u) | ((q_bits2 & 128u) << 8u)).x * 256.0,
        unpackHalf2x16(((q_bits3 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits3 & 0x7Fu) << 7u) | ((q_bits3 & 128u) << 8u)).x * 256.0,
        unpackHalf2x16(((q_bits4 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits4 & 0x7Fu) << 7u) | ((q_bits4 & 128u) << 8u)).x * 256.0);
    float s = uintBitsToFloat(weight_scale_inv[block_row * grid_cols + block_col]);
    v[0] = q0 * s;

    // elements 4 to 7, counted from the tile's first
    uint w1 = uint(weight[row * cols + min(block_col * 128u + t * 8u + 4u, cols - 1u)])
        | (uint(weight[row * cols + min(block_col * 128u + t * 8u + 5u, cols - 1u)]) << 8u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 8u + 6u, cols - 1u)]) << 16u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 8u + 7u, cols - 1u)]) << 24u);
    uvec4 q_bits5 = (uvec4(w1) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits6 = q_bits5.x, q_bits7 = q_bits5.y, q_bits8 = q_bits5.z, q_bits9 = q_bits5.w;
    // w: 8 bits
    precise vec4 q1 = vec4(unpackHalf2x16(((q_bits6 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits6 & 0x7Fu) << 7u) | ((q_bits6 & 128u) << 8u)).x
        * 256.0, unpackHalf2x16(((q_bits7 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits7 & 0x7Fu) << 7u) | ((q_bits7 & 128u) << 8u)).x * 256.0,
        unpackHalf2x16(((q_bits8 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits8 & 0x7Fu) << 7u) | ((q_bits8 & 128u) << 8u)).x * 256.0,
        unpackHalf2x16(((q_bits9 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits9 & 0x7Fu) << 7u) | ((q_bits9 & 128u) << 8u)).x * 256.0);
    v[1] = q1 * s;
}

// Stores elements [from, to) of a tile; its first belongs at `first`.
void write_tile(uint first, uint from, uint to, vec4 v[2]) {
    if (from == 0u && to == 8u && first % 8u == 0u) {
        const uint at = first / 8u;
        dst_whole[at] = uvec4(pack_halves(v[0]), pack_halves(v[1]));
        return;
    }
    for (uint e = 0u; e < 8u; ++e) {
        if (e >= from && e < to) dst[first + e] = uint16_t(f32_to_half(v[e / 4u][e % 4u]));
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
        vec4 v[2];
        if (found) {
            decode(row, tile, v);
        } else {
            for (uint r = 0u; r < 2u; ++r) v[r] = vec4(0.0);
        }
        write_tile(token * cols + tile * 8u, 0u, min(8u, cols - tile * 8u), v);
    }
}
