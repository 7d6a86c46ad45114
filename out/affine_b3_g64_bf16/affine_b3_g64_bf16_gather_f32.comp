// affine_b3_g64_bf16_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format affine_b3_g64_bf16`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 28 bytes for 64 elements, 3.5 bits each.
// For each weight 0.438 bytes read and 4 written, 9.75 operations: 1 loads, 3.5 bits, 2.25 integer, 2 float, 1 conversions.
//     format affine_b{bits}_g{group}_{T} "affine codes in one bit stream, a scale and a bias for each group"
//     from "MLX, mlx.core.quantize with mode='affine'"
//     for bits in 2 3 4 5 6 8, group in 32 64 128, T in f16 bf16 f32
//     block group {
//         buffer weight { w: u32[group * bits / 32] }
//         buffer scales { s: T }
//         buffer biases { b: T }
//     }
//     code q = w { bits @ 0 (group:bits) }
//     value = q * s + b
//
// Here bits = 3, group = 64, T = bf16.
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 2, std430) readonly buffer BiasesBuffer { uint16_t biases[]; };
layout(binding = 3, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 4, std430) writeonly buffer Dst { vec4 dst[]; };
layout(binding = 5, std430) buffer Status { uint out_of_range; };

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

float bf16_to_f32(uint bits) { return uintBitsToFloat(bits << 16); }  // of the low 16 bits

// The 4 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[1]) {
    uint w0 = weight[block * 6u + tile * 12u / 32u], w1 = weight[block * 6u + min(tile * 12u / 32u + 1u, 5u)];
    uint w_run = (w0 >> (tile * 12u % 32u)) | ((w1 << 1u) << (31u - tile * 12u % 32u));
    uvec4 q = (uvec4(w_run) >> uvec4(0, 3, 6, 9)) & 7u;  // w: 3 bits
    float s = bf16_to_f32(uint(scales[block])), b = bf16_to_f32(uint(biases[block]));
    v[0] = vec4(q) * s + b;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[1]) {
    const uint at = block * 16u + tile;
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
            decode(from / 16u, i % 16u, v[n]);
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
            write_tile(i / 16u, i % 16u, v[n]);
        }
    }
}
