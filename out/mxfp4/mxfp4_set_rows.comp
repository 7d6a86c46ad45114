// mxfp4_set_rows: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]).
// Generated from the specification below by `qkgen emit --format mxfp4`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 17 bytes for 32 elements, 4.25 bits each.
//     format mxfp4 "E2M1 codes, a power of two for 32"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 32 {
//         e:  u8
//         qs: u8[16]
//     }
//     code q = qs { 4 @ 0 (16:8, 2:4) }    # low nibbles, then high nibbles
//     table K: i8[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 }    # twice the E2M1 value
//     # 2^(e - 128), since the table is doubled: e - 1 is the exponent of an f32, but that the two smallest are subnormals.
//     value = K[q] * f32(e < 2 ? 2097152 << (e & 1) : (e + 255 & 255) << 23)
//     # ggml's quantize_row_mxfp4_ref: e is floor(log2(m)) + 125, where the logarithm is rounded to f32 first. So the floats just below
//     # the power of two 2^p count as that where the logarithm's last bit is large enough: n of them, by the size of p.
//     encode {
//         m = max(abs(x))
//         b = bits(m)
//         u = b >> 23
//         p = u < 127 ? 126 - u : u - 127
//         n = p < 2 ? 0 : p < 4 ? 1 : p < 8 ? 2 : p < 16 ? 5 : p < 32 ? 11 : p < 64 ? 22 : 44
//         e = m > 0.0 ? max((b + n >> 23) - 2, 0) : 0
//         s = f32(e < 2 ? 2097152 << (e & 1) : (e + 255 & 255) << 23)
//         # The nearest of K by three comparisons; of two that are as near, the smaller. From an infinity all are as far, and the first
//         # is taken; a product that is not finite is never near.
//         seven = 8.0 * s - s
//         ten = 12.0 * s - 2.0 * s
//         y per 1 = abs(x) <= 3.4028234663852886e38 ? x : 0.0
//         a per 1 = abs(y)
//         n4 per 1 = a > 3.5 * s ? 4 : 0
//         n2 per 1 = a > (n4 ? seven : 1.5 * s) ? 2 : 0
//         n1 per 1 = a > (n4 ? n2 ? ten : 5.0 * s : n2 ? 2.5 * s : 0.5 * s) ? 1 : 0
//         q = n4 + n2 + n1 + (y < -0.5 * s ? 8 : 0)
//     }
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) writeonly buffer BlocksBuffer { uint8_t blocks[]; };
layout(binding = 0, std430) writeonly buffer BlocksWords { uint qk_whole_blocks[]; };
layout(binding = 1, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 2, std430) readonly buffer Src { float src[]; };
layout(binding = 2, std430) readonly buffer SrcFour { vec4 src_four[]; };
layout(binding = 2, std430) readonly buffer SrcWords { uint src_words[]; };
layout(binding = 2, std430) readonly buffer SrcPairs { uvec2 src_pairs[]; };
layout(binding = 2, std430) readonly buffer SrcEight { uvec4 src_eight[]; };
layout(binding = 3, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows, row_first, row_end;  // that an index may name; what is bound in this launch
    uint row_tiles, tokens;  // of a row, blocks of 32 elements; of all batches
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

float f16_to_f32(uint bits) { return unpackHalf2x16(bits).x; }  // of the low 16 bits

// A device may take it that no float is one.
bool qk_is_nan(float v) {
    return (floatBitsToUint(v) & 0x7FFFFFFFu) > 0x7F800000u;
}

uint qk_bits_of_f32(float v) {
    return qk_is_nan(v) ? 0x7FC00000u : floatBitsToUint(v);
}

// Those of the magnitude, and 1 where there is a sign.
int qk_bits(float v) {
    return int(qk_bits_of_f32(v) & 0x7FFFFFFFu);
}

layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16

float qk_of_half(uint bits) {
    return X_TYPE == 1u ? f16_to_f32(bits) : bf16_to_f32(bits);
}

float qk_x(uint at) {
    if (X_TYPE == 0u) return src[at];
    return qk_of_half(src_words[at / 2u] >> at % 2u * 16u & 0xFFFFu);
}

// The lower one first. Whole words are converted: what masks them, and shifts, is an instruction for each.
vec4 qk_of_pairs(uvec2 pairs) {
    if (X_TYPE == 1u) return vec4(unpackHalf2x16(pairs.x), unpackHalf2x16(pairs.y));
    return uintBitsToFloat(uvec4(pairs.x << 16, pairs.x & 0xFFFF0000u, pairs.y << 16, pairs.y & 0xFFFF0000u));
}

// Four from `4 * at` on.
vec4 qk_four(uint at) {
    return X_TYPE == 0u ? src_four[at] : qk_of_pairs(src_pairs[at]);
}

// Eight from `8 * at` on: of halves, one load.
void qk_eight(uint at, out vec4 low, out vec4 high) {
    if (X_TYPE == 0u) {
        low = src_four[2u * at];
        high = src_four[2u * at + 1u];
    } else {
        const uvec4 pairs = src_eight[at];
        low = qk_of_pairs(pairs.xy);
        high = qk_of_pairs(pairs.zw);
    }
}

const uint QK_NONE = 0xFFFFFFFFu;

// Says which block a thread makes, number `i` of all: what has to be looked up for that is waited for together with floats.
uint qk_place(uint i);

// Blocks that the threads of a workgroup made, and which of all they are.
// The last word takes what is shifted beyond the end, which is 0.
shared uint qk_staged_blocks[gl_WorkGroupSize.x * 17u / 4u + 1u];
// Of a thread that makes no block, nothing is joined to the block before.
uint qk_first_blocks = 0u;
shared uint qk_made[gl_WorkGroupSize.x];

// Whether so many blocks from one on follow each other, and begin where a word does.
bool qk_follow(uint slot, uint count) {
    bool follow = qk_made[slot] != QK_NONE && qk_made[slot] % count == 0u;
    for (uint i = 1u; i < count; ++i) follow = follow && qk_made[slot + i] == qk_made[slot] + i;
    return follow;
}

// Makes a block of the floats from `qk_from` on.
void qk_encode(uint qk_part, uint qk_from) {
    float qk_held[32];
    [[unroll]] for (int qk_j = 0; qk_j < 4; ++qk_j) {
        vec4 qk_v, qk_w;
        qk_eight((qk_from / 4u) / 2u + uint(qk_j), qk_v, qk_w);
        qk_held[8 * qk_j + 0] = qk_v[0];
        qk_held[8 * qk_j + 1] = qk_v[1];
        qk_held[8 * qk_j + 2] = qk_v[2];
        qk_held[8 * qk_j + 3] = qk_v[3];
        qk_held[8 * qk_j + 4] = qk_w[0];
        qk_held[8 * qk_j + 5] = qk_w[1];
        qk_held[8 * qk_j + 6] = qk_w[2];
        qk_held[8 * qk_j + 7] = qk_w[3];
    }
    const uint qk_block = qk_place(qk_part);
    if (qk_block == QK_NONE) return;
    uint qk_words_blocks[5];
    [[unroll]] for (int qk_j = 0; qk_j < 5; ++qk_j) qk_words_blocks[qk_j] = 0u;
    precise float m = uintBitsToFloat(0xFF800000u);
    precise float qk_0 = 0.0;
    [[unroll]] for (int qk_i = 0; qk_i < 32; ++qk_i) {
        m = max(m, abs(qk_held[qk_i]));
        qk_0 = qk_0 + qk_held[qk_i];
    }
    if ((floatBitsToUint(qk_0) & 0x7F800000u) == 0x7F800000u) {
        m = uintBitsToFloat(0xFF800000u);
        for (int qk_i = 0; qk_i < 32; ++qk_i) {
            precise float qk_1 = abs(qk_x(qk_from + uint(qk_i)));
            if (qk_1 > m) m = qk_1;
        }
    }
    int b = qk_bits(m);
    int u = b >> 23;
    int p = (u < 127) ? (126 - u) : (u - 127);
    int n = (p < 2) ? 0 : ((p < 4) ? 1 : ((p < 8) ? 2 : ((p < 16) ? 5 : ((p < 32) ? 11 : ((p < 64) ? 22 : 44)))));
    int qk_2 = ((b + n) >> 23) - 2;
    int qk_3 = 0;
    int e = (m > 0.0) ? (qk_2 < qk_3 ? qk_3 : qk_2) : 0;
    const uint qk_bits_e = uint(e);
    {
        const int qk_at = 0;
        qk_words_blocks[qk_at >> 5] += qk_bits_e << (qk_at & 31);
    }
    precise float s = uintBitsToFloat(uint(((e < 2) ? (2097152 << (e & 1)) : (((e + 255) & 255) << 23))));
    precise float seven = (8.0 * s) - s;
    precise float ten = (12.0 * s) - (2.0 * s);
    [[unroll]] for (int qk_i = 0; qk_i < 32; ++qk_i) {
        precise float y = (abs(qk_held[qk_i]) <= 3.4028235e+38) ? qk_held[qk_i] : 0.0;
        precise float a = abs(y);
        precise float qk_4 = 3.5 * s;
        int n4 = (a > qk_4) ? 4 : 0;
        precise float qk_5 = 1.5 * s;
        int n2 = (a > ((n4 != 0) ? seven : qk_5)) ? 2 : 0;
        precise float qk_6 = 5.0 * s;
        precise float qk_7 = 2.5 * s;
        precise float qk_8 = 0.5 * s;
        int n1 = (a > ((n4 != 0) ? ((n2 != 0) ? ten : qk_6) : ((n2 != 0) ? qk_7 : qk_8))) ? 1 : 0;
        precise float qk_9 = (-0.5) * s;
        int q = ((n4 + n2) + n1) + ((y < qk_9) ? 8 : 0);
        const uint qk_bits_q = uint(q);
        {
            const int qk_at = 8 + (qk_i) % 16 * 8 + qk_i / 16 * 4;
            qk_words_blocks[qk_at >> 5] += qk_bits_q << (qk_at & 31);
        }
    }
    {
        const uint qk_byte = gl_LocalInvocationIndex * 17u;
        const uint qk_shift = qk_byte % 4u * 8u;
        uint qk_before = 0u;
        [[unroll]] for (int qk_j = 0; qk_j < 5; ++qk_j) {
            const uint qk_word = qk_words_blocks[qk_j];
            const uint qk_bits = qk_word << qk_shift | qk_before >> 1 >> 31u - qk_shift;
            if (qk_j == 0) qk_first_blocks = qk_bits;
            else qk_staged_blocks[qk_byte / 4u + uint(qk_j)] = qk_bits;
            qk_before = qk_word;
        }
    }
}

// A thread that wrote its own block would write to lines that its neighbours write to as well, a few bytes each time. So all threads
// write all blocks, and neighbours write to neighbours. All of them have to come here.
// follow: whether the blocks of all threads are there, and follow each other.
void qk_write_made(bool follow) {
    barrier();
    {
        const uint byte = gl_LocalInvocationIndex * 17u, others = (1u << byte % 4u * 8u) - 1u;
        qk_staged_blocks[byte / 4u] = qk_staged_blocks[byte / 4u] & others | qk_first_blocks;
    }
    barrier();
    const uint first = follow ? qk_made[0] : QK_NONE;  // which is odd, and so no block that begins where a word does
    for (uint u = gl_LocalInvocationIndex; u < gl_WorkGroupSize.x * 17u / 4u; u += gl_WorkGroupSize.x) {
        const uint word = qk_staged_blocks[u], slot = u / 17u * 4u;
        if (first % 4u == 0u) qk_whole_blocks[first / 4u * 17u + u] = word;
        else if (qk_follow(slot, 4u)) qk_whole_blocks[qk_made[slot] / 4u * 17u + u % 17u] = word;
        else
            for (uint i = 0u; i < 4u; ++i) {
                const uint n = u * 4u + i, block = qk_made[n / 17u];
                if (block != QK_NONE) blocks[block * 17u + n % 17u] = uint8_t(word >> i * 8u);
            }
    }
    barrier();
}

// Where the values of part `i` of all begin, in parts: without a view, they follow each other.
uint values_at(uint i) {
    return batch_tokens == 0u ? i : values_of(i / row_tiles) + i % row_tiles;
}

// The tile of the table that a tile of a row is.
uint tile_of(uint token, uint tile) {
    const uint row = row_of(token);
    // A row that there is not is counted once, and a row of another launch is left alone.
    if (row == NO_ROW && row_first == 0u && tile == 0u) atomicAdd(out_of_range, 1u);
    return row < row_first || row >= row_end ? QK_NONE : table_tile(row, tile);
}

uint qk_place(uint i) {
    const uint token = i / row_tiles, block = tile_of(token, i - token * row_tiles);
    qk_made[gl_LocalInvocationIndex] = block;
    return block;
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x; first < tokens * row_tiles; first += threads) {
        const uint i = first + gl_LocalInvocationIndex, token = i / row_tiles, tile = i - token * row_tiles;
        if (i < tokens * row_tiles) qk_encode(i, values_at(i) * 32u);
        else qk_made[gl_LocalInvocationIndex] = QK_NONE;
        // Whether all are of one row, in which the workgroup's first tile is so many before this one.
        qk_write_made(gl_LocalInvocationIndex <= tile && tile - gl_LocalInvocationIndex + gl_WorkGroupSize.x <= row_tiles);
    }
}
