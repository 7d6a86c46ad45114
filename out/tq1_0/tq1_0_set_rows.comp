// tq1_0_set_rows: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]).
// Generated from the specification below by `qkgen emit --format tq1_0`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 54 bytes for 256 elements, 1.688 bits each.
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
//     # ggml's quantize_row_tq1_0_ref
//     encode {
//         s = max(abs(x))
//         r = s == 0.0 ? 0.0 : 1.0 / s
//         d = s
//         t = round(x * r, -1, 1) + 1
//     }
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) writeonly buffer BlocksBuffer { uint16_t blocks[]; };
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
    uint row_tiles, tokens;  // of a row, blocks of 256 elements; of all batches
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

// The mantissa of a positive f32, with its leading bit, and its exponent.
uint qk_mantissa(uint bits, out int exponent) {
    exponent = int(bits >> 23);
    if (exponent != 0) return (bits & 0x7FFFFFu) | 0x800000u;
    const int shift = 23 - findMSB(bits);
    exponent = 1 - shift;
    return bits << (shift & 31);
}

// The first 25 bits of n / d, from 1 to 2, and the rest. Vulkan lets its own division be off: here it makes a guess, and integers count
// what the guess leaves, modulo 2^32: it is small, so that is all of it.
uint qk_quotient_digits(uint n, uint d, out int rest) {
    precise float guess = float(n) / float(d) * 16777216.0;
    uint quotient = uint(guess);
    rest = int((n << 24) - quotient * d);
    for (; rest < 0; rest += int(d)) quotient -= 1u;
    for (; rest >= int(d); rest -= int(d)) quotient += 1u;
    return quotient;
}

// The bits of a / b, rounded to nearest even, as IEEE 754 has it; a is at least 0 or NaN, b is above 0.
uint qk_exact_quotient(uint a, uint b) {
    const uint infinity = 0x7F800000u;
    if ((a & 0x7FFFFFFFu) > infinity || (a == infinity && b == infinity)) return 0x7FC00000u;
    if (a == 0u || b == infinity) return 0u;
    if (a == infinity) return infinity;
    int a_exponent, b_exponent;
    uint n = qk_mantissa(a, a_exponent);
    const uint d = qk_mantissa(b, b_exponent);
    int exponent = a_exponent - b_exponent + 127;
    if (n < d) {
        n <<= 1;
        exponent -= 1;
    }
    int rest;
    const uint quotient = qk_quotient_digits(n, d, rest);
    if (exponent > 254) return infinity;
    if (exponent < -23) return 0u;
    const uint drop = exponent > 0 ? 1u : uint(2 - exponent) & 31u;  // a subnormal has fewer bits
    const uint whole = quotient >> drop, cut = quotient & ((1u << drop) - 1u), half_unit = 1u << (drop - 1u & 31u);
    const bool up = cut > half_unit || (cut == half_unit && (rest != 0 || (whole & 1u) != 0u));
    return (uint(max(exponent, 1) - 1) << 23) + whole + (up ? 1u : 0u);
}

float f16_to_f32(uint bits) { return unpackHalf2x16(bits).x; }  // of the low 16 bits

// a / b, rounded to nearest even, as IEEE 754 has it.
float qk_quotient(float numerator, float divisor) {
    const uint infinity = 0x7F800000u, a_bits = floatBitsToUint(numerator), b_bits = floatBitsToUint(divisor);
    const uint a = a_bits & 0x7FFFFFFFu, b = b_bits & 0x7FFFFFFFu, sign = (a_bits ^ b_bits) & 0x80000000u;
    const uint exponent = (a >> 23) - (b >> 23) + 126u;
    if (a - 0x00800000u < 0x7F000000u && b - 0x00800000u < 0x7F000000u && exponent - 1u < 253u) {
        // All of usual size: a quotient of 24 bits, and one that rounds them.
        const uint d = (b & 0x7FFFFFu) | 0x800000u, n = (a & 0x7FFFFFu) | 0x800000u, less = n < d ? 1u : 0u;
        int rest;
        const uint quotient = qk_quotient_digits(n << less, d, rest);
        const uint up = quotient & (rest != 0 ? 1u : quotient >> 1);
        return uintBitsToFloat(sign | (exponent - less << 23) + (quotient >> 1) + (up & 1u));
    }
    if (a > infinity || b > infinity || (a == 0u && b == 0u)) return uintBitsToFloat(0x7FC00000u);
    if (b == 0u) return uintBitsToFloat(sign | infinity);
    const uint quotient = qk_exact_quotient(a, b);
    return uintBitsToFloat(quotient > infinity ? quotient : quotient | sign);
}

// A device may take it that no float is one.
bool qk_is_nan(float v) {
    return (floatBitsToUint(v) & 0x7FFFFFFFu) > 0x7F800000u;
}

// Bits that are stored; a NaN is that without a sign, whatever it was.
uint qk_bits_of_f16(float v) {
    return qk_is_nan(v) ? 0x7E00u : f32_to_f16(v);
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

// Blocks that the threads of a workgroup made, and which of all they are.
shared uint qk_staged_blocks[gl_WorkGroupSize.x / 8u * 15u];
shared uint qk_digits_t[gl_WorkGroupSize.x / 8u * 72u];
shared uint qk_made[gl_WorkGroupSize.x / 8u];
// What threads of a team, which follow each other and make a block together, tell the others.
shared uint qk_left[gl_WorkGroupSize.x * 1u];

// Says which blocks a workgroup makes, whose first part is `part` of all: that is waited for together with floats.
void qk_place(uint part);

// Makes a block of the floats from `qk_from` on.
void qk_encode(uint qk_from, uint qk_part) {
    const int qk_t = int(gl_LocalInvocationIndex) % 8;
    const uint qk_first = qk_from - uint(qk_t) * 28u;
    float qk_held[32];
    [[unroll]] for (int qk_j = 0; qk_j < 8; ++qk_j) {
        const vec4 qk_v = qk_four(qk_first / 4u + uint(qk_j) * 8u);
        qk_held[4 * qk_j + 0] = qk_v[0];
        qk_held[4 * qk_j + 1] = qk_v[1];
        qk_held[4 * qk_j + 2] = qk_v[2];
        qk_held[4 * qk_j + 3] = qk_v[3];
    }
    qk_place(qk_part);
    const int qk_own_blocks = int(gl_LocalInvocationIndex) / 8 * 15;
    precise float s = uintBitsToFloat(0xFF800000u);
    precise float qk_0 = 0.0;
    [[unroll]] for (int qk_i = 0; qk_i < 32; ++qk_i) {
        s = max(s, abs(qk_held[qk_i]));
        qk_0 = qk_0 + qk_held[qk_i];
    }
    if ((floatBitsToUint(qk_0) & 0x7F800000u) == 0x7F800000u) {
        s = uintBitsToFloat(0xFF800000u);
        for (int qk_i = 0; qk_i < 32; ++qk_i) {
            precise float qk_1 = abs(qk_x(qk_first + uint(qk_i / 4 * 32 + qk_i % 4)));
            if (qk_1 > s) s = qk_1;
        }
    }
    qk_left[gl_LocalInvocationIndex] = floatBitsToUint(s);
    barrier();
    s = uintBitsToFloat(0xFF800000u);
    [[unroll]] for (int qk_2 = 0; qk_2 < 8; ++qk_2) {
        precise float qk_3 = uintBitsToFloat(qk_left[gl_LocalInvocationIndex / 8u * 8u + uint(qk_2)]);
        s = max(s, qk_3);
    }
    precise float r = (s == 0.0) ? 0.0 : (qk_quotient(1.0, s));
    uint qk_bits_d = qk_bits_of_f16(s);
    if (qk_t == 0) {
        {
            const int qk_at = 416;
            qk_staged_blocks[qk_own_blocks + (qk_at >> 5)] = qk_bits_d << (qk_at & 31);
        }
    }
    const int qk_own_t = int(gl_LocalInvocationIndex) / 8 * 72;
    uint qk_bytes_t[8];
    [[unroll]] for (int qk_j = 0; qk_j < 8; ++qk_j) qk_bytes_t[qk_j] = 0u;
    [[unroll]] for (int qk_i = 0; qk_i < 32; ++qk_i) {
        precise float qk_4 = qk_held[qk_i] * r;
        int t = ((qk_4 >= 0.5 ? 1 : 0) - (qk_4 <= -0.5 ? 1 : 0)) + 1;
        const uint qk_bits_t = uint(t);
        qk_bytes_t[qk_i >> 2] += qk_bits_t << 8 * (qk_i & 3);
    }
    [[unroll]] for (int qk_j = 0; qk_j < 8; ++qk_j) qk_digits_t[qk_own_t + qk_t + qk_j * 8] = qk_bytes_t[qk_j];
    barrier();
    for (int qk_j = qk_t; qk_j < 13; qk_j += 8) {
        const int qk_at = qk_j < 8 ? 0 + qk_j - 0 : qk_j < 12 ? 40 + qk_j - 8 : 60 + qk_j - 12;
        const int qk_step = qk_j < 8 ? 8 : qk_j < 12 ? 4 : 1;
        const int qk_count = qk_j < 8 ? 5 : qk_j < 12 ? 5 : 4;
        uint qk_v = 0u, qk_w = 0u;
        [[unroll]] for (int qk_k = 0; qk_k < 5; ++qk_k) {
            const int qk_from = qk_at + qk_k * qk_step;
            qk_v = qk_v * 3u + (qk_k < qk_count ? qk_digits_t[qk_own_t + qk_from] : 0u);
        }
        [[unroll]] for (int qk_k = 0; qk_k < 32; qk_k += 8) qk_w += (((qk_v >> qk_k & 0xFFu) << 8) + 242u) / 243u << qk_k;
        qk_staged_blocks[qk_own_blocks + (qk_j < 8 ? 0 + qk_j - 0 : qk_j < 12 ? 8 + qk_j - 8 : 12 + qk_j - 12)] = qk_w;
    }
}

// A thread that wrote its own block would write to lines that its neighbours write to as well, a few bytes each time. So all threads
// write all blocks, and neighbours write to neighbours. All of them have to come here.
// follow: whether the blocks of all threads are there, and follow each other.
void qk_write_made(bool follow) {
    barrier();
    const uint first = follow ? qk_made[0] : QK_NONE;  // which is odd, and so no block that begins where a word does
    const bool whole_blocks = first % 2u == 0u && gl_WorkGroupSize.x / 8u % 2u == 0u;
    for (uint u = gl_LocalInvocationIndex; whole_blocks && u < gl_WorkGroupSize.x / 8u * 54u / 4u; u += gl_WorkGroupSize.x) {
        uint word = 0u;
        [[unroll]] for (uint i = 0u; i < 2u; ++i) {
            const uint slot = (u * 2u + i) / 27u, part = (u * 2u + i) % 27u;
            word |= (qk_staged_blocks[slot * 15u + part / 2u] >> part % 2u * 16u & 0xFFFFu) << i * 16u;
        }
        qk_whole_blocks[first / 2u * 27u + u] = word;
    }
    for (uint u = gl_LocalInvocationIndex; !whole_blocks && u < gl_WorkGroupSize.x / 8u * 27u; u += gl_WorkGroupSize.x) {
        const uint slot = u / 27u, part = u % 27u, block = qk_made[slot];
        if (block != QK_NONE) blocks[block * 27u + part] = uint16_t(qk_staged_blocks[slot * 15u + part / 2u] >> part % 2u * 16u);
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

shared bool in_one_row;  // what a workgroup makes

// One thread for each team says which block it makes: an index, and a division.
void qk_place(uint part) {
    if (gl_LocalInvocationIndex >= gl_WorkGroupSize.x / 8u) return;
    part += gl_LocalInvocationIndex * 8u;
    const uint token = part / row_tiles, tile = part - token * row_tiles;
    const uint made = part < tokens * row_tiles ? tile_of(token, tile) : QK_NONE;
    qk_made[gl_LocalInvocationIndex] = made == QK_NONE ? QK_NONE : made / 8u;
    if (gl_LocalInvocationIndex == 0u) in_one_row = tile + gl_WorkGroupSize.x <= row_tiles;
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    const uint all = tokens * row_tiles;
    for (uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x; first < all; first += threads) {
        const uint i = first + gl_LocalInvocationIndex;
        // All threads have to wait for each other: those that have nothing to make do it with the last block, and leave it.
        qk_encode(values_at(i < all ? i : all - 8u + i % 8u) * 32u, first);
        qk_write_made(in_one_row);
    }
}
