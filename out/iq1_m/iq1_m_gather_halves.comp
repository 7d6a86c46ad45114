// iq1_m_gather_halves: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16 or bf16.
// Generated from the specification below by `qkgen emit --format iq1_m`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 56 bytes for 256 elements, 1.75 bits each.
// For each weight 0.219 bytes read and 2 written, 14.2 operations: 0.625 loads, 4.75 bits, 4.25 integer, 2.25 float, 2.25 conversions,
// 0.125 lookups.
//     format iq1_m "eights from a ternary codebook of 2048, shifted by an eighth, 3-bit scales in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 256 {
//         qs:     u8[32]
//         qh:     u8[16]
//         scales: u16[4]
//     }
//     code g  per 8  = qs { 8 @ 0 (32:8) } qh { 3 @ 0 (32:4) }
//     code sg per 8  = qh { 1 @ 3 (32:4) }
//     code sc per 16 = scales { 3 @ 0 (4:3, 4:16) }
//     code d: f16 per 256 = scales { 4 @ 12   4 @ 28   4 @ 44   4 @ 60 }    # spread over the top of four words
//     table G: i8[2048][8] = file "iq1s_grid.bin"
//     value = d * (2 * sc + 1) * (G[g][i % 8] + (sg ? -0.125 : 0.125))
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 4, std430) readonly buffer GTable { uint G[]; };  // 2048 rows of 8: i8 from -1 on, in 4 bits each
layout(binding = 1, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 2, std430) writeonly buffer Dst { uvec4 dst[]; };
layout(binding = 3, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows, row_first, row_end;  // that an index may name; what is bound in this launch
    uint row_tiles, tokens;  // of a row, tiles of 8 elements; of all batches
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

// The 8 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[2]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 14u, scales0 = blocks[base + 12u], d_0bit = (scales0 >> 12u) & 15u;  // scales: bits 0-3 of d
    uint d_4bit = scales0 >> 28u;  // scales: bits 4-7 of d
    uint scales1 = blocks[base + 13u], d_8bit = (scales1 >> 12u) & 15u;  // scales: bits 8-11 of d
    uint d_12bit = scales1 >> 28u;  // scales: bits 12-15 of d
    float d = unpackHalf2x16(d_0bit | (d_4bit << 4u) | (d_8bit << 8u) | (d_12bit << 12u)).x;
    uint scales2 = blocks[base + tile / 2u / 4u / 2u + 12u];
    uint sc = (scales2 >> (tile / 2u / 4u % 2u * 16u + tile / 2u % 4u * 3u)) & 7u;  // scales: 3 bits
    precise float d_sc = d * float(2 * int(sc) + 1);
    uint qs = blocks[base + tile / 4u], g_lo = (qs >> (tile % 4u * 8u)) & 0xFFu;  // qs: bits 0-7 of g
    uint qh = blocks[base + tile / 8u + 8u], g_hi = (qh >> (tile % 8u * 4u)) & 7u;  // qh: bits 8-10 of g
    uint g = g_lo | (g_hi << 8u), G_row = G[g], sg = (qh >> (tile % 8u * 4u + 3u)) & 1u;  // qh: 1 bit
    v[0] = d_sc * (vec4(ivec4((uvec4(G_row) >> uvec4(0, 4, 8, 12)) & 15u) - 1) + (int(sg) != 0 ? -0.125 : 0.125));

    // elements 4 to 7, counted from the tile's first
    v[1] = d_sc * (vec4(ivec4((uvec4(G_row) >> uvec4(16, 20, 24, 28)) & 15u) - 1) + (int(sg) != 0 ? -0.125 : 0.125));
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[2]) {
    const uint at = block * 32u + tile;
    dst[at] = uvec4(pack_halves(v[0]), pack_halves(v[1]));
}

void main() {
    // A thread goes on by so many tokens and tiles at a time.
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, token_step = threads / row_tiles, tile_step = threads % row_tiles;
    uint token = gl_GlobalInvocationID.x / row_tiles, t = gl_GlobalInvocationID.x % row_tiles;
    while (token < tokens) {
        // Two at once: what the second loads does not wait for the first.
        uint at[2], row[2], tile[2];
        [[unroll]] for (uint n = 0u; n < 2u; ++n) {
            at[n] = token;
            row[n] = row_of(min(token, tokens - 1u));
            tile[n] = t;
            token += token_step;
            t += tile_step;
            if (t >= row_tiles) {
                t -= row_tiles;
                token += 1u;
            }
        }
        vec4 v[2][2];
        [[unroll]] for (uint n = 0u; n < 2u; ++n) {
            // Of a row that this launch does not have, the first in its place.
            const uint i = values_of(at[n]) + tile[n];
            const uint from = table_tile(row[n] >= row_first && row[n] < row_end ? row[n] : row_first, tile[n]);
            decode(from / 32u, i % 32u, v[n]);
        }
        [[unroll]] for (uint n = 0u; n < 2u; ++n) {
            const uint i = values_of(at[n]) + tile[n];
            const bool bound = row[n] >= row_first && row[n] < row_end, missing = row[n] == NO_ROW && row_first == 0u;
            if (at[n] >= tokens || !(bound || missing)) continue;  // no more, or a row of another launch
            if (missing) {
                // No such row: zeros, and the token is counted once.
                [[unroll]] for (uint r = 0u; r < 2u; ++r) v[n][r] = vec4(0.0);
                if (tile[n] == 0u) atomicAdd(out_of_range, 1u);
            }
            write_tile(i / 32u, i % 32u, v[n]);
        }
    }
}
