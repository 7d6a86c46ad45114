// hqq_b3_g64_gather_halves: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16 or bf16.
// Generated from the specification below by `qkgen emit --format hqq_b3_g64`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 296 bytes for 640 elements, 3.7 bits each.
// For each weight 0.463 bytes read and 2 written, 9.88 operations: 1.25 loads, 2 bits, 2.38 integer, 2 float, 2.25 conversions.
//     format hqq_b3_g{group} "HQQ: the groups of the whole tensor in ten planes of 3 bits, a float zero"
//     from "HQQ: BitPack, axis 1"
//     for group in 64 128
//     block 10 apart x group {
//         buffer W_q   { w: u32[1][group] }
//         buffer scale { d: f16[10][1] }
//         buffer zero  { m: f16[10][1] }
//     }
//     code q                = w { 3 @ 27 (group:32, 10:-3) }
//     spare                   w { 2 @ 30 (group:32) }
//     code s: f16 per group = d { 16 @ 0 (10:16) }
//     code z: f16 per group = m { 16 @ 0 (10:16) }
//     value = (q - z) * s
//
// Here group = 64.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer W_qBuffer { uint W_q[]; };
layout(binding = 1, std430) readonly buffer ScaleBuffer { uint16_t scale[]; };
layout(binding = 2, std430) readonly buffer ZeroBuffer { uint16_t zero[]; };
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

layout(constant_id = 31) const uint Y_TYPE = 1;  // how results are stored: 1 as f16, 2 as bf16

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
    const uint block_row = row % grid_rows;
    const uint r = row / grid_rows;
    const uint t = tile % 8u;
    // elements 0 to 3, counted from the tile's first
    uint w0 = W_q[block_row * 64u + t * 8u], w1 = W_q[block_row * 64u + (t * 8u + 1u)], w2 = W_q[block_row * 64u + (t * 8u + 2u)];
    uint w3 = W_q[block_row * 64u + (t * 8u + 3u)], m_ = uint(zero[row]);
    float z = unpackHalf2x16(m_).x;  // m: 16 bits
    uint d = uint(scale[row]);
    float s = unpackHalf2x16(d).x;  // d: 16 bits
    v[0] = (vec4((w0 >> ((9u - r) * 3u)) & 7u, (w1 >> ((9u - r) * 3u)) & 7u, (w2 >> ((9u - r) * 3u)) & 7u, (w3 >> ((9u - r) * 3u)) & 7u)
        - z) * s;

    // elements 4 to 7, counted from the tile's first
    uint w4 = W_q[block_row * 64u + (t * 8u + 4u)], w5 = W_q[block_row * 64u + (t * 8u + 5u)], w6 = W_q[block_row * 64u + (t * 8u + 6u)];
    uint w7 = W_q[block_row * 64u + (t * 8u + 7u)];
    v[1] = (vec4((w4 >> ((9u - r) * 3u)) & 7u, (w5 >> ((9u - r) * 3u)) & 7u, (w6 >> ((9u - r) * 3u)) & 7u, (w7 >> ((9u - r) * 3u)) & 7u)
        - z) * s;
}

// Stores a tile from `at` on, counted in stores of 8 elements.
void write_tile(uint at, vec4 v[2]) {
    dst[at] = uvec4(pack_halves(v[0]), pack_halves(v[1]));
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
        const uint row = index * (table_cols / cols) + j / 8u, tile = j % 8u;
        vec4 v[2];
        if (found) {
            decode(row, tile, v);
        } else {
            for (uint r = 0u; r < 2u; ++r) v[r] = vec4(0.0);
        }
        write_tile(token * (table_cols / 8u) + j * 1u, v);
    }
}
