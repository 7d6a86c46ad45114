// tq1_0_gather_halves: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16 or bf16.
// Generated from the specification below by `qkgen emit --format tq1_0`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 54 bytes for 256 elements, 1.688 bits each.
// For each weight 0.211 bytes read and 2 written, 14.6 operations: 0.625 loads, 4.5 bits, 6.38 integer, 1 float, 2.12 conversions.
//     format tq1_0 "ternary codes, five in a byte, one scale for 256"
//     block 256 {
//         qs: u8[48]
//         qh: u8[4]
//         d:  f16
//     }
//     code t = qs { 8 base 3 @ 0   (32:8, 5:^) }    # elements 0 to 159
//         then qs { 8 base 3 @ 256 (16:8, 5:^) }    # 160 to 239
//         then qh { 8 base 3 @ 0   (4:8,  4:^) }    # 240 to 255
//     value = (t - 1) * d
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
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

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

// The 8 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[2]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 27u;
    uint word0 = tile < 20u ? tile % 4u * 4u : tile < 30u ? (tile - 20u) % 2u * 4u + 16u : 24u;  // of t, in qs, qs or qh
    uint qs_qh0 = blocks_u32(base + word0);
    uint digit0 = tile < 20u ? tile / 4u : tile < 30u ? (tile - 20u) / 2u : (tile - 30u) * 2u;  // which digit of base 3, from the top
    uint power0 = digit0 < 4u ? (0x1B090301u >> ((digit0 & 3u) * 8u)) & 0xFFu : 81u;  // 3^n
    uint evens0 = (((qs_qh0 & 0xFF00FFu) * power0) & 0xFF00FFu) * 3u, odds0 = ((((qs_qh0 >> 8u) & 0xFF00FFu) * power0) & 0xFF00FFu) * 3u;
    uvec4 t0 = (uvec4(evens0, odds0, evens0, odds0) >> uvec4(8, 8, 24, 24)) & 0xFFu;  // a digit of base 3
    float d = unpackHalf2x16(uint(blocks[base + 26u])).x;
    v[0] = vec4(ivec4(t0) - 1) * d;

    // elements 4 to 7, counted from the tile's first
    uint word1 = tile < 20u ? tile % 4u * 4u + 2u : tile < 30u ? (tile - 20u) % 2u * 4u + 18u : 24u;  // of t, in qs, qs or qh
    uint qs_qh1 = blocks_u32(base + word1);
    uint digit1 = tile < 20u ? tile / 4u : tile < 30u ? (tile - 20u) / 2u : (tile - 30u) * 2u + 1u;  // which digit of base 3, from the top
    uint power1 = digit1 < 4u ? (0x1B090301u >> ((digit1 & 3u) * 8u)) & 0xFFu : 81u;  // 3^n
    uint evens1 = (((qs_qh1 & 0xFF00FFu) * power1) & 0xFF00FFu) * 3u, odds1 = ((((qs_qh1 >> 8u) & 0xFF00FFu) * power1) & 0xFF00FFu) * 3u;
    uvec4 t1 = (uvec4(evens1, odds1, evens1, odds1) >> uvec4(8, 8, 24, 24)) & 0xFFu;  // a digit of base 3
    v[1] = vec4(ivec4(t1) - 1) * d;
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
