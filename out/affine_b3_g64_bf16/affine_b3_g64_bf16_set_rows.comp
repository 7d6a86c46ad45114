// affine_b3_g64_bf16_set_rows: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]).
// Generated from the specification below by `qkgen emit --format affine_b3_g64_bf16`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 28 bytes for 64 elements, 3.5 bits each.
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
//     # MLX's affine quantize. The edge that is farther from 0 is met exactly; codes are made with scale and bias before they are rounded.
//     encode {
//         lo = min(x)
//         hi = max(x)
//         left = abs(lo) > abs(hi) ? 1 : 0
//         width = max((hi - lo) / ((1 << bits) - 1), 1e-7)
//         near = left ? width : -width
//         edge = left ? lo : hi
//         n = even(edge / near)
//         scale = n == 0.0 ? near : edge / n
//         bias = n == 0.0 ? 0.0 : edge
//         s = scale
//         b = bias
//         q = even((x - bias) / scale, 0, (1 << bits) - 1)
//     }
//
// Here bits = 3, group = 64, T = bf16.
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) restrict writeonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) restrict writeonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 2, std430) restrict writeonly buffer BiasesBuffer { uint16_t biases[]; };
layout(binding = 3, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 4, std430) readonly buffer Src { float src[]; };
layout(binding = 4, std430) readonly buffer SrcFour { vec4 src_four[]; };
layout(binding = 4, std430) readonly buffer SrcWords { uint src_words[]; };
layout(binding = 4, std430) readonly buffer SrcPairs { uvec2 src_pairs[]; };
layout(binding = 4, std430) readonly buffer SrcEight { uvec4 src_eight[]; };
layout(binding = 5, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows, row_first, row_end;  // that an index may name; what is bound in this launch
    uint row_tiles, tokens;  // of a row, blocks of 64 elements; of all batches
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

// The same by a whole number, which has mostly few bits: then what a guess leaves is a sum of floats that are products of few bits, and so
// exact. It tells on which side of the half way between two floats, which no quotient is at, the quotient is.
float qk_quotient_by_whole(float a, float b) {
    const bool few = abs(b) >= 1.0 && abs(b) <= 2047.0;
    if (!few || (floatBitsToUint(a) & 0x7FFFFFFFu) - 0x12800000u >= 0x6C800000u) return qk_quotient(a, b);
    const float inverse = 1.0 / b;
    precise float guess = a * inverse;
    precise float high = uintBitsToFloat(floatBitsToUint(guess) & 0xFFFFF000u);
    precise float low = guess - high;
    precise float rest = (a - high * b) - low * b;
    precise float quotient = guess + rest * inverse;
    return quotient;
}

// Whether it is certain which integer is nearest to a / b. The inverse of a divisor of usual size may be off by 2.5 units in its last
// place, and the guess by 6 in its own, which is less than its 2^20th; so it is far enough from where two integers are as near.
bool qk_is_clear(float guess, float near, float b) {
    const float size = abs(b);
    return abs(guess - near) + abs(guess) * 9.5367431640625e-7 < 0.5 && size > 1e-30 && size < 1e30;
}

// a / b as the nearest integer, of two the even one, or the one that is farther from 0. A zero has any sign.
float qk_even_quotient(float a, float b) {
    const float guess = a * (1.0 / b), near = roundEven(guess);
    return qk_is_clear(guess, near, b) ? near : roundEven(qk_quotient(a, b));
}

const int QK_ZERO = 0x4B400000;  // the bits of 12582912, a float that has no room for digits behind the point

// Either within bounds, which are less than 2^18 from 0, and QK_ZERO more, where it is certain; else `clear` becomes false. What the guess
// is off by counts within the bounds alone: beyond them, it is on the side that it should be on.
int qk_clear_quotient(float a, float b, int low, int high, inout bool clear) {
    const float guess = a * (1.0 / b), size = abs(b), room = 0.5 - float(max(-low, high) + 1) * 9.5367431640625e-7;
    precise float sum = guess + 12582912.0;
    precise float near = sum - 12582912.0;
    clear = clear && abs(guess - near) < room && size > 1e-30 && size < 1e30;
    return clamp(floatBitsToInt(sum), QK_ZERO + low, QK_ZERO + high);
}

// A device may take it that no float is one.
bool qk_is_nan(float v) {
    return (floatBitsToUint(v) & 0x7FFFFFFFu) > 0x7F800000u;
}

uint qk_bits_of_bf16(float v) {
    return qk_is_nan(v) ? 0x7FC0u : f32_to_bf16(v);
}

// An integer within bounds, which are less than 2^22 from 0; a NaN counts as 0. What is rounded afterwards is not beyond the bounds
// any more, so that the conversion is one that every device has.
float qk_within(float v, int low, int high) {
    if (low == 0) return v > 0.0 ? min(v, float(high)) : 0.0;  // a NaN is not above 0
    return clamp(qk_is_nan(v) ? 0.0 : v, float(low), float(high));
}

int qk_clamped_even(float v, int low, int high) {
    precise float sum = qk_within(v, low, high) + 12582912.0;
    return floatBitsToInt(sum) - 0x4B400000;
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
shared uint qk_staged_weight[gl_WorkGroupSize.x * 7u];
shared uint qk_made[gl_WorkGroupSize.x];

// Makes a block of the floats from `qk_from` on.
void qk_encode(uint qk_part, uint qk_from) {
    float qk_held[64];
    [[unroll]] for (int qk_j = 0; qk_j < 8; ++qk_j) {
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
    uint qk_words_weight[6];
    [[unroll]] for (int qk_j = 0; qk_j < 6; ++qk_j) qk_words_weight[qk_j] = 0u;
    uint qk_words_scales[1];
    [[unroll]] for (int qk_j = 0; qk_j < 1; ++qk_j) qk_words_scales[qk_j] = 0u;
    uint qk_words_biases[1];
    [[unroll]] for (int qk_j = 0; qk_j < 1; ++qk_j) qk_words_biases[qk_j] = 0u;
    precise float lo = uintBitsToFloat(0x7F800000u);
    precise float hi = uintBitsToFloat(0xFF800000u);
    precise float qk_0 = 0.0;
    [[unroll]] for (int qk_i = 0; qk_i < 64; ++qk_i) {
        lo = min(lo, qk_held[qk_i]);
        qk_0 = qk_0 + qk_held[qk_i];
        hi = max(hi, qk_held[qk_i]);
    }
    if ((floatBitsToUint(qk_0) & 0x7F800000u) == 0x7F800000u || lo == 0.0 || hi == 0.0) {
        lo = uintBitsToFloat(0x7F800000u);
        hi = uintBitsToFloat(0xFF800000u);
        for (int qk_i = 0; qk_i < 64; ++qk_i) {
            precise float qk_1 = qk_x(qk_from + uint(qk_i));
            if (qk_1 < lo) lo = qk_1;
            precise float qk_2 = qk_x(qk_from + uint(qk_i));
            if (qk_2 > hi) hi = qk_2;
        }
    }
    int left = (abs(lo) > abs(hi)) ? 1 : 0;
    precise float qk_5 = hi - lo;
    precise float qk_3 = qk_quotient_by_whole(qk_5, 7.0);
    precise float qk_4 = 1e-07;
    precise float width = (qk_3 < qk_4 ? qk_4 : qk_3);
    precise float near = (left != 0) ? width : (-width);
    precise float edge = (left != 0) ? lo : hi;
    precise float n = qk_even_quotient(edge, near);
    precise float scale = (n == 0.0) ? near : (qk_quotient_by_whole(edge, n));
    precise float bias = (n == 0.0) ? 0.0 : edge;
    uint qk_bits_s = qk_bits_of_bf16(scale);
    {
        const int qk_at = 0;
        qk_words_scales[qk_at >> 5] += qk_bits_s << (qk_at & 31);
    }
    uint qk_bits_b = qk_bits_of_bf16(bias);
    {
        const int qk_at = 0;
        qk_words_biases[qk_at >> 5] += qk_bits_b << (qk_at & 31);
    }
    uint qk_open_q[2];
    qk_open_q[0] = 0u;
    qk_open_q[1] = 0u;
    [[unroll]] for (int qk_i = 0; qk_i < 64; ++qk_i) {
        bool qk_clear_q = true;
        precise float qk_6 = qk_held[qk_i] - bias;
        int q = qk_clear_quotient(qk_6, scale, 0, 7, qk_clear_q);
        if (!qk_clear_q) qk_open_q[qk_i / 32] |= 1u << (qk_i & 31);
        const uint qk_bits_q = uint(q);
        {
            const int qk_at = 0 + qk_i * 3;
            qk_words_weight[qk_at >> 5] += qk_bits_q << (qk_at & 31);
            if ((qk_at & 31) > 29) {
                qk_words_weight[(qk_at >> 5) + 1] += qk_bits_q >> (32 - (qk_at & 31));
            }
        }
    }
    qk_words_weight[0] = qk_words_weight[0] + 0xAC00000u;
    qk_words_weight[1] = qk_words_weight[1] + 0x2B00000u;
    qk_words_weight[2] = qk_words_weight[2] + 0x5600000u;
    qk_words_weight[3] = qk_words_weight[3] + 0xAC00000u;
    qk_words_weight[4] = qk_words_weight[4] + 0x2B00000u;
    qk_words_weight[5] = qk_words_weight[5] + 0x5600000u;
    [[unroll]] for (int qk_j = 0; qk_j < 6; ++qk_j) {
        qk_staged_weight[gl_LocalInvocationIndex * 7u + uint(qk_j)] = qk_words_weight[qk_j];
    }
    [[unroll]] for (int qk_j = 0; qk_j < 1; ++qk_j) {
        scales[qk_block * 1u + uint(qk_j)] = uint16_t(qk_words_scales[qk_j >> 1] >> (qk_j & 1) * 16);
    }
    [[unroll]] for (int qk_j = 0; qk_j < 1; ++qk_j) {
        biases[qk_block * 1u + uint(qk_j)] = uint16_t(qk_words_biases[qk_j >> 1] >> (qk_j & 1) * 16);
    }
    for (int qk_w = 0; qk_w < 2; ++qk_w) {
        for (uint qk_open = qk_w == 1 ? qk_open_q[1] : qk_open_q[0]; qk_open != 0u; qk_open &= qk_open - 1u) {
            const int qk_i = 32 * qk_w + findLSB(qk_open);
            precise float qk_7 = qk_x(qk_from + uint(qk_i)) - bias;
            precise float qk_8 = qk_quotient(qk_7, scale);
            int q = qk_clamped_even(qk_8, 0, 7);
            const uint qk_bits_q = uint(q);
            {
                const int qk_at = 0 + qk_i * 3;
                qk_staged_weight[int(gl_LocalInvocationIndex) * 7 + (qk_at >> 5)] &= ~(0x7u << (qk_at & 31));
                qk_staged_weight[int(gl_LocalInvocationIndex) * 7 + (qk_at >> 5)] += qk_bits_q << (qk_at & 31);
                if ((qk_at & 31) > 29) {
                    qk_staged_weight[int(gl_LocalInvocationIndex) * 7 + ((qk_at >> 5) + 1)] &= ~(0x7u >> (32 - (qk_at & 31)));
                    qk_staged_weight[int(gl_LocalInvocationIndex) * 7 + ((qk_at >> 5) + 1)] += qk_bits_q >> (32 - (qk_at & 31));
                }
            }
        }
    }
}

// A thread that wrote its own block would write to lines that its neighbours write to as well, a few bytes each time. So all threads
// write all blocks, and neighbours write to neighbours. All of them have to come here.
// follow: whether the blocks of all threads are there, and follow each other.
void qk_write_made(bool follow) {
    barrier();
    const uint first = follow ? qk_made[0] : QK_NONE;  // which is odd, and so no block that begins where a word does
    for (uint u = gl_LocalInvocationIndex; u < gl_WorkGroupSize.x * 6u; u += gl_WorkGroupSize.x) {
        if (first != QK_NONE) {
            weight[first * 6u + u] = qk_staged_weight[u + u / 6u];
            continue;
        }
        const uint slot = u / 6u, part = u % 6u, block = qk_made[slot];
        if (block != QK_NONE) weight[block * 6u + part] = uint(qk_staged_weight[slot * 7u + part]);
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
        if (i < tokens * row_tiles) qk_encode(i, values_at(i) * 64u);
        else qk_made[gl_LocalInvocationIndex] = QK_NONE;
        // Whether all are of one row, in which the workgroup's first tile is so many before this one.
        qk_write_made(gl_LocalInvocationIndex <= tile && tile - gl_LocalInvocationIndex + gl_WorkGroupSize.x <= row_tiles);
    }
}
