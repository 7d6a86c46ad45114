// q4_0_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format q4_0`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 18 bytes for 32 elements, 4.5 bits each.
// For each weight 0.562 bytes read and 4 written, 6.38 operations: 0.375 loads, 2.25 bits, 1.62 integer, 1 float, 1.12 conversions.
//     format q4_0 "4-bit codes around 8, one scale for 32"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 32 {
//         d:  f16
//         qs: u8[16]
//     }
//     code q = qs { 4 @ 0 (16:8, 2:4) }    # low nibbles, then high nibbles
//     value = (q - 8) * d
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 1, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 2, std430) writeonly buffer Dst { vec4 dst[]; };
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

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

// The 8 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[2]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 9u, qs = blocks_u32(base + tile * 2u + 1u);
    uvec4 q0 = (uvec4(qs) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    float d = unpackHalf2x16(uint(blocks[base])).x;
    v[0] = vec4(ivec4(q0) - 8) * d;

    // elements 16 to 19, counted from the tile's first
    uvec4 q1 = (uvec4(qs) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: 4 bits
    v[1] = vec4(ivec4(q1) - 8) * d;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[2]) {
    const uint at = block * 8u + tile;
    dst[at] = v[0];
    dst[at + 4u] = v[1];
}

void main() {
    // A thread goes on by so many tokens and tiles at a time.
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, token_step = threads / row_tiles, tile_step = threads % row_tiles;
    uint token = gl_GlobalInvocationID.x / row_tiles, t = gl_GlobalInvocationID.x % row_tiles;
    while (token < tokens) {
        const uint row = row_of(token), i = values_of(token) + t;
        const bool bound = row >= row_first && row < row_end, missing = row == NO_ROW && row_first == 0u;
        vec4 v[2];
        if (bound) {
            const uint from = table_tile(row, t);
            decode(from / 4u, i % 4u, v);
        } else if (missing) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0u; r < 2u; ++r) v[r] = vec4(0.0);
            if (t == 0u) atomicAdd(out_of_range, 1u);
        }
        if (bound || missing) write_tile(i / 4u, i % 4u, v);  // else: a row of another launch
        token += token_step;
        t += tile_step;
        if (t >= row_tiles) {
            t -= row_tiles;
            token += 1u;
        }
    }
}
