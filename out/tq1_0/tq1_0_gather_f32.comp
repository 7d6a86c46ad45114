// tq1_0_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format tq1_0`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 54 bytes for 256 elements, 1.688 bits each.
// For each weight 0.211 bytes read and 4 written, 15 operations: 0.75 loads, 4.5 bits, 7.5 integer, 1 float, 1.25 conversions.
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
layout(binding = 2, std430) writeonly buffer Dst { vec4 dst[]; };
layout(binding = 3, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows, row_first, row_end;  // that an index may name; what is bound in this launch
    uint row_tiles, tokens;  // of a row, tiles of 4 elements; of all batches
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

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

// The 4 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[1]) {
    uint base = block * 27u, word = tile < 40u ? tile % 8u * 2u : tile < 60u ? (tile - 40u) % 4u * 2u + 16u : 24u;  // of t, in qs, qs or qh
    uint qs_qh = blocks_u32(base + word);
    uint digit_ = tile < 40u ? tile / 8u : tile < 60u ? (tile - 40u) / 4u : tile - 60u;  // which digit of base 3, from the top
    uint power = digit_ < 4u ? (0x1B090301u >> ((digit_ & 3u) * 8u)) & 0xFFu : 81u;  // 3^n
    uint evens = (((qs_qh & 0xFF00FFu) * power) & 0xFF00FFu) * 3u, odds = ((((qs_qh >> 8u) & 0xFF00FFu) * power) & 0xFF00FFu) * 3u;
    uvec4 t_ = (uvec4(evens, odds, evens, odds) >> uvec4(8, 8, 24, 24)) & 0xFFu;  // a digit of base 3
    float d = unpackHalf2x16(uint(blocks[base + 26u])).x;
    v[0] = vec4(ivec4(t_) - 1) * d;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[1]) {
    const uint at = block * 64u + tile;
    dst[at] = v[0];
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
        vec4 v[2][1];
        [[unroll]] for (uint n = 0u; n < 2u; ++n) {
            // Of a row that this launch does not have, the first in its place.
            const uint i = values_of(at[n]) + tile[n];
            const uint from = table_tile(row[n] >= row_first && row[n] < row_end ? row[n] : row_first, tile[n]);
            decode(from / 64u, i % 64u, v[n]);
        }
        [[unroll]] for (uint n = 0u; n < 2u; ++n) {
            const uint i = values_of(at[n]) + tile[n];
            const bool bound = row[n] >= row_first && row[n] < row_end, missing = row[n] == NO_ROW && row_first == 0u;
            if (at[n] >= tokens || !(bound || missing)) continue;  // no more, or a row of another launch
            if (missing) {
                // No such row: zeros, and the token is counted once.
                [[unroll]] for (uint r = 0u; r < 1u; ++r) v[n][r] = vec4(0.0);
                if (tile[n] == 0u) atomicAdd(out_of_range, 1u);
            }
            write_tile(i / 64u, i % 64u, v[n]);
        }
    }
}
