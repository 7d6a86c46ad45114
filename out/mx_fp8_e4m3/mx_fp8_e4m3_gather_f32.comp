// mx_fp8_e4m3_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format mx_fp8_e4m3`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 33 bytes for 32 elements, 8.25 bits each.
// For each weight 1.03 bytes read and 4 written, 14.2 operations: 0.5 loads, 7.25 bits, 3.5 integer, 2 float, 1 conversions.
//
//     format mx_fp8_e4m3 "OCP MX: E4M3 codes, a power of two for 32"
//     from "OCP Microscaling Formats v1.0"
//
//     block 32 {
//         buffer codes  { w: u8[32] }
//         buffer scales { s: e8m0 }
//     }
//
//     code q: e4m3 = w { 8 @ 0 (32:8) }
//
//     value = q * s
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer CodesBuffer { uint codes[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint8_t scales[]; };
layout(binding = 2, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 3, std430) writeonly buffer Dst { vec4 dst[]; };
layout(binding = 4, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows, row_first, row_end;  // that an index may name; of those, what is bound in this launch
    uint row_tiles, tokens;  // of a row, tiles of 4 elements; of all batches
    uint batch_tokens;  // 0: all lie one after the other. Else tokens come in batches of so many,
    uint batches;  // so many of which are in the inner of two dimensions
    uint value_step, value_batch, value_outer;  // tiles to the next token, inner and outer batch
    uint index_words;  // 1; 2: of 64 bits; 0: there are none, tokens are rows in order
    uint index_step, index_batch, index_outer;  // words
    uint index_batches, index_outers;  // that have indices of their own; further ones have the same again
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

float f16_to_f32(uint bits) { return unpackHalf2x16(bits).x; }  // of the low 16 bits

// The 4 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[1]) {
    uint w = codes[block * 8u + tile];
    uvec4 q_bits0 = (uvec4(w) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits1 = q_bits0.x, q_bits2 = q_bits0.y, q_bits3 = q_bits0.z, q_bits4 = q_bits0.w;
    // w: 8 bits
    precise vec4 q = vec4(f16_to_f32(((q_bits1 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits1 & 0x7Fu) << 7u) | ((q_bits1 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits2 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits2 & 0x7Fu) << 7u) | ((q_bits2 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits3 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits3 & 0x7Fu) << 7u) | ((q_bits3 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits4 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits4 & 0x7Fu) << 7u) | ((q_bits4 & 128u) << 8u)) * 256.0);
    uint s_bits = uint(scales[block]);
    float s = uintBitsToFloat(s_bits == 0xFFu ? 0x7FC00000u : s_bits == 0u ? 0x400000u : s_bits << 23u);
    v[0] = q * s;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[1]) {
    const uint at = block * 8u + tile;
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
            decode(from / 8u, i % 8u, v[n]);
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
            write_tile(i / 8u, i % 8u, v[n]);
        }
    }
}
