// nf4_b64_gather_halves: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16 or bf16.
// Generated from the specification below by `qkgen emit --format nf4_b64`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 36 bytes for 64 elements, 4.5 bits each.
// For each weight 0.562 bytes read and 2 written, 7.62 operations: 0.625 loads, 2.5 bits, 1.5 integer, 1 float, 1 conversions, 1 lookups.
//     format nf4_b{group} "bitsandbytes NF4: the even element in the high nibble, a scale for each block of the flat tensor"
//     from "bitsandbytes: Linear4bit with quant_type nf4"
//     for group in 64 128
//     block group ragged {
//         buffer weight { w: u8[group / 2] }
//         buffer absmax { s: f32 }
//     }
//     table N: f32[16] = {
//         -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
//         -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
//         0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
//         0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
//     }
//     code q = w { 4 @ 4 (2:-4, group / 2:8) }
//     value = N[q] * s
//
// Here group = 64.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer WeightBuffer { uint8_t weight[]; };
layout(binding = 1, std430) readonly buffer AbsmaxBuffer { uint absmax[]; };
layout(binding = 5, std430) readonly buffer NTable { float N[]; };
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
    const uint block_col = tile / 8u;
    const uint t = tile % 8u;
    // elements 0 to 3, counted from the tile's first
    uint w0 = uint(weight[min(block_col * 32u + t * 4u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 4u + 1u, (cols - 1u) / 2u)]) << 8u);
    uvec4 q0 = (uvec4(w0) >> uvec4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    float s = uintBitsToFloat(absmax[block_col]);
    v[0] = vec4(N[q0.x], N[q0.y], N[q0.z], N[q0.w]) * s;

    // elements 4 to 7, counted from the tile's first
    uint w1 = uint(weight[min(block_col * 32u + t * 4u + 2u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 4u + 3u, (cols - 1u) / 2u)]) << 8u);
    uvec4 q1 = (uvec4(w1) >> uvec4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    v[1] = vec4(N[q1.x], N[q1.y], N[q1.z], N[q1.w]) * s;
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
        // The row's elements begin and end within tiles.
        const uint first = index * table_cols, row = 0u, tile = first / 8u + j;
        const uint start = tile * 8u;
        if (start >= first + table_cols) continue;
        const uint from = max(first, start) - start, to = min(first + table_cols - start, 8u);
        vec4 v[2];
        if (found) {
            decode(row, tile, v);
        } else {
            for (uint r = 0u; r < 2u; ++r) v[r] = vec4(0.0);
        }
        write_tile(token * table_cols + start - first, from, to, v);
    }
}
