// q6_K_gather_halves: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16 or bf16.
// Generated from the specification below by `qkgen emit --format q6_K`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 210 bytes for 256 elements, 6.562 bits each.
// For each weight 0.82 bytes read and 2 written, 12.3 operations: 0.531 loads, 6.62 bits, 1.91 integer, 1.12 float, 2.16 conversions.
//     format q6_K "6-bit codes around 32, signed 8-bit scales in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 256 {
//         ql:     u8[128]
//         qh:     u8[64]
//         scales: i8[16]
//         d:      f16
//     }
//     code sc: i8 per 16 = scales { 8 @ 0 (16:8) }
//     code q = ql { 4 @ 0 (64:8, 2:4, 2:512) }         # low four bits
//              qh { 2 @ 0 (32:8, 4:2, 2:256) }         # high two bits
//     value = d * sc * (q - 32)
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 1, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 2, std430) writeonly buffer Dst { uvec4 dst[]; };
layout(binding = 3, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows, row_first, row_end;  // that an index may name; what is bound in this launch
    uint row_tiles, tokens;  // of a row, tiles of 32 elements; of all batches
    uint batch_tokens, batches;  // of a batch, 0: all lie one after the other; batches in the inner of two dimensions
    uint value_step, value_batch, value_outer;  // tiles to the next token, inner and outer batch
    uint index_words;  // 0: tokens are rows in order; 1; 2: of 64 bits
    uint index_step, index_batch, index_outer;  // words
    uint index_batches, index_outers;  // with indices of their own; others have the same again
    uint row_step, row_batch, row_outer;  // rows of the table
    uint value_first, index_first, table_first;  // tiles, words, tiles that are bound before
};

const uint NO_ROW = ~0u;

// Where the values of a token begin, in tiles.
uint values_of(uint token) {
    if (batch_tokens == 0u) return token * row_tiles;
    const uint batch = token / batch_tokens;
    return value_first + token % batch_tokens * value_step + batch % batches * value_batch + batch / batches * value_outer;
}

// The row of the table that a token is of, or NO_ROW.
uint row_of(uint token) {
    if (batch_tokens == 0u) {
        const uint row = indices[token];
        return row < rows ? row : NO_ROW;
    }
    const uint batch = token / batch_tokens, inner = batch % batches, outer = batch / batches;
    uint index = token % batch_tokens;
    if (index_words != 0u) {
        const uint at = index_first + index * index_step + inner % index_batches * index_batch + outer % index_outers * index_outer;
        if (index_words == 2u && indices[at + 1u] != 0u) return NO_ROW;
        index = indices[at];
    }
    return index < rows ? index * row_step + inner * row_batch + outer * row_outer : NO_ROW;
}

// A tile of a row that this launch has, of all tiles that are bound.
uint table_tile(uint row, uint tile) {
    return table_first + (row - row_first) * row_tiles + tile;
}

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

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

// The 32 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[8]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 105u;
    float d = unpackHalf2x16(uint(blocks[base + 104u])).x;
    uint part = tile / 4u;  // part: of 128 elements
    uint scales0 = uint(blocks[base + part * 4u + 96u]);
    int sc0 = bitfieldExtract(int(scales0 >> (tile % 4u / 2u * 8u)), 0, 8);  // scales: 8 bits
    precise float d_sc0 = d * float(sc0);
    uint ql0 = blocks_u32(base + part * 32u + tile % 4u * 4u);
    uvec4 q_lo0 = (uvec4(ql0) >> uvec4(0, 8, 16, 24)) & 15u;  // ql: bits 0-3 of q
    uint qh0 = blocks_u32(base + tile * 4u + 64u);
    uvec4 q_hi0 = (uvec4(qh0) >> uvec4(0, 8, 16, 24)) & 3u;  // qh: bits 4-5 of q
    uvec4 q0 = q_lo0 | (q_hi0 << 4u);
    v[0] = d_sc0 * vec4(ivec4(q0) - 32);

    // elements 4 to 7, counted from the tile's first
    uint ql1 = blocks_u32(base + part * 32u + tile % 4u * 4u + 2u);
    uvec4 q_lo1 = (uvec4(ql1) >> uvec4(0, 8, 16, 24)) & 15u;  // ql: bits 0-3 of q
    uint qh1 = blocks_u32(base + tile * 4u + 66u);
    uvec4 q_hi1 = (uvec4(qh1) >> uvec4(0, 8, 16, 24)) & 3u;  // qh: bits 4-5 of q
    uvec4 q1 = q_lo1 | (q_hi1 << 4u);
    v[1] = d_sc0 * vec4(ivec4(q1) - 32);

    // elements 32 to 35, counted from the tile's first
    uint scales1 = uint(blocks[base + part * 4u + 97u]);
    int sc1 = bitfieldExtract(int(scales1 >> (tile % 4u / 2u * 8u)), 0, 8);  // scales: 8 bits
    precise float d_sc1 = d * float(sc1);
    uint ql2 = blocks_u32(base + part * 32u + tile % 4u * 4u + 16u);
    uvec4 q_lo2 = (uvec4(ql2) >> uvec4(0, 8, 16, 24)) & 15u;  // ql: bits 0-3 of q
    uvec4 q_hi2 = (uvec4(qh0) >> uvec4(2, 10, 18, 26)) & 3u;  // qh: bits 4-5 of q
    uvec4 q2 = q_lo2 | (q_hi2 << 4u);
    v[2] = d_sc1 * vec4(ivec4(q2) - 32);

    // elements 36 to 39, counted from the tile's first
    uint ql3 = blocks_u32(base + part * 32u + tile % 4u * 4u + 18u);
    uvec4 q_lo3 = (uvec4(ql3) >> uvec4(0, 8, 16, 24)) & 15u;  // ql: bits 0-3 of q
    uvec4 q_hi3 = (uvec4(qh1) >> uvec4(2, 10, 18, 26)) & 3u;  // qh: bits 4-5 of q
    uvec4 q3 = q_lo3 | (q_hi3 << 4u);
    v[3] = d_sc1 * vec4(ivec4(q3) - 32);

    // elements 64 to 67, counted from the tile's first
    uint scales2 = uint(blocks[base + part * 4u + 98u]);
    int sc2 = bitfieldExtract(int(scales2 >> (tile % 4u / 2u * 8u)), 0, 8);  // scales: 8 bits
    precise float d_sc2 = d * float(sc2);
    uvec4 q_lo4 = (uvec4(ql0) >> uvec4(4, 12, 20, 28)) & 15u;  // ql: bits 0-3 of q
    uvec4 q_hi4 = (uvec4(qh0) >> uvec4(4, 12, 20, 28)) & 3u;  // qh: bits 4-5 of q
    uvec4 q4 = q_lo4 | (q_hi4 << 4u);
    v[4] = d_sc2 * vec4(ivec4(q4) - 32);

    // elements 68 to 71, counted from the tile's first
    uvec4 q_lo5 = (uvec4(ql1) >> uvec4(4, 12, 20, 28)) & 15u;  // ql: bits 0-3 of q
    uvec4 q_hi5 = (uvec4(qh1) >> uvec4(4, 12, 20, 28)) & 3u;  // qh: bits 4-5 of q
    uvec4 q5 = q_lo5 | (q_hi5 << 4u);
    v[5] = d_sc2 * vec4(ivec4(q5) - 32);

    // elements 96 to 99, counted from the tile's first
    uint scales3 = uint(blocks[base + part * 4u + 99u]);
    int sc3 = bitfieldExtract(int(scales3 >> (tile % 4u / 2u * 8u)), 0, 8);  // scales: 8 bits
    precise float d_sc3 = d * float(sc3);
    uvec4 q_lo6 = (uvec4(ql2) >> uvec4(4, 12, 20, 28)) & 15u;  // ql: bits 0-3 of q
    uvec4 q_hi6 = (uvec4(qh0) >> uvec4(6, 14, 22, 30)) & 3u;  // qh: bits 4-5 of q
    uvec4 q6 = q_lo6 | (q_hi6 << 4u);
    v[6] = d_sc3 * vec4(ivec4(q6) - 32);

    // elements 100 to 103, counted from the tile's first
    uvec4 q_lo7 = (uvec4(ql3) >> uvec4(4, 12, 20, 28)) & 15u;  // ql: bits 0-3 of q
    uvec4 q_hi7 = (uvec4(qh1) >> uvec4(6, 14, 22, 30)) & 3u;  // qh: bits 4-5 of q
    uvec4 q7 = q_lo7 | (q_hi7 << 4u);
    v[7] = d_sc3 * vec4(ivec4(q7) - 32);
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[8]) {
    const uint at = block * 32u + tile / 4u * 16u + tile % 4u;
    dst[at] = uvec4(pack_halves(v[0]), pack_halves(v[1]));
    dst[at + 4u] = uvec4(pack_halves(v[2]), pack_halves(v[3]));
    dst[at + 8u] = uvec4(pack_halves(v[4]), pack_halves(v[5]));
    dst[at + 12u] = uvec4(pack_halves(v[6]), pack_halves(v[7]));
}

void main() {
    // A thread goes on by so many tokens and tiles at a time.
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, token_step = threads / row_tiles, tile_step = threads % row_tiles;
    uint token = gl_GlobalInvocationID.x / row_tiles, t = gl_GlobalInvocationID.x % row_tiles;
    while (token < tokens) {
        const uint row = row_of(token), i = values_of(token) + t;
        const bool bound = row >= row_first && row < row_end, missing = row == NO_ROW && row_first == 0u;
        vec4 v[8];
        if (bound) {
            const uint from = table_tile(row, t);
            decode(from / 8u, i % 8u, v);
        } else if (missing) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0u; r < 8u; ++r) v[r] = vec4(0.0);
            if (t == 0u) atomicAdd(out_of_range, 1u);
        }
        if (bound || missing) write_tile(i / 8u, i % 8u, v);  // else: a row of another launch
        token += token_step;
        t += tile_step;
        if (t >= row_tiles) {
            t -= row_tiles;
            token += 1u;
        }
    }
}
