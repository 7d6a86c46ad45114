// q6_K_set_rows: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]).
// Generated from the specification below by `qkgen emit --format q6_K`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 210 bytes for 256 elements, 6.562 bits each.
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
//     # ggml's quantize_row_q6_K_ref. For each group 19 steps are tried, each with codes and with the scale that is best for them, weighted
//     # with x^2; the one with the least error is kept. Scales are then rounded to 8 bits, and all codes made again.
//     encode {
//         m per 16 = extreme(x)
//         best per 16 of t in 19 {
//             r = t == 0 ? -32.0 / m : -(32.0 + 0.1 * (t < 10 ? t - 10 : t - 9)) / m
//             l per 1 = even(r * x, -32, 31)
//             a = sum(x * x * x * l)
//             b = sum(x * x * l * l)
//             g = b == 0.0 ? 0.0 : a / b
//             score = g * a
//         } where (b > 0.0 ? a * a : -1.0) > kept(score) * b
//         small per 16 = abs(m) < 1e-15 ? 1 : 0
//         gf per 16 = small ? 0.0 : g
//         top = extreme(gf)
//         zero = abs(top) < 1e-15 ? 1 : 0
//         inv = -128.0 / top
//         d = zero ? 0.0 : 1.0 / inv
//         sc = zero ? 0 : even(inv * gf, -128, 127)
//         ds per 16 = d * sc
//         q = zero ? 0 : ds != 0.0 ? even(x / ds, -32, 31) + 32 : small ? 0 : even(r * x, -32, 31) + 32
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

// Bits that are stored; a NaN is that without a sign, whatever it was.
uint qk_bits_of_f16(float v) {
    return qk_is_nan(v) ? 0x7E00u : f32_to_f16(v);
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

// Blocks that the threads of a workgroup made, and which of all they are.
shared uint qk_staged_blocks[gl_WorkGroupSize.x / 16u * 53u];
shared uint qk_made[gl_WorkGroupSize.x / 16u];
// What threads of a team, which follow each other and make a block together, tell the others.
shared uint qk_left[gl_WorkGroupSize.x * 1u];

// Says which blocks a workgroup makes, whose first part is `part` of all: that is waited for together with floats.
void qk_place(uint part);

// Makes a block of the floats from `qk_from` on.
void qk_encode(uint qk_from, uint qk_part) {
    const int qk_t = int(gl_LocalInvocationIndex) % 16;
    float qk_held[16];
    [[unroll]] for (int qk_j = 0; qk_j < 2; ++qk_j) {
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
    qk_place(qk_part);
    const int qk_own_blocks = int(gl_LocalInvocationIndex) / 16 * 53;
    for (int qk_j = qk_t; qk_j < 53; qk_j += 16) qk_staged_blocks[qk_own_blocks + qk_j] = 0u;
    barrier();
    precise float qk_all_r[1];
    int qk_all_small[1];
    precise float qk_all_gf[1];
    [[unroll]] for (int qk_g = 0; qk_g < 1; ++qk_g) {
        precise float m = 0.0;
        [[unroll]] for (int qk_i = 0; qk_i < 16; ++qk_i) {
            precise float qk_0 = qk_held[(0 * 16 + qk_i)];
            if (abs(qk_0) > abs(m)) m = qk_0;
        }
        precise float r = 0;
        precise float g = 0;
        precise float score = 0;
        for (int qk_1 = 0; qk_1 < 19; ++qk_1) {
            precise float qk_2 = -(32.0 + (0.1 * float((qk_1 < 10) ? (qk_1 - 10) : (qk_1 - 9))));
            precise float qk_try_r = (qk_1 == 0) ? (qk_quotient(-32.0, m)) : (qk_quotient(qk_2, m));
            precise float qk_try_a = 0.0;
            precise float qk_try_b = 0.0;
            [[unroll]] for (int qk_i = 0; qk_i < 16; ++qk_i) {
                precise float qk_3 = qk_try_r * qk_held[(0 * 16 + qk_i)];
                int l = qk_clamped_even(qk_3, -32, 31);
                qk_try_a = qk_try_a + (((qk_held[(0 * 16 + qk_i)] * qk_held[(0 * 16 + qk_i)]) * qk_held[(0 * 16 + qk_i)]) * float(l));
                qk_try_b = qk_try_b + (((qk_held[(0 * 16 + qk_i)] * qk_held[(0 * 16 + qk_i)]) * float(l)) * float(l));
            }
            precise float qk_try_g = (qk_try_b == 0.0) ? 0.0 : (qk_quotient(qk_try_a, qk_try_b));
            precise float qk_try_score = qk_try_g * qk_try_a;
            precise float qk_4 = qk_try_a * qk_try_a;
            precise float qk_5 = score * qk_try_b;
            if (qk_1 == 0 || (((qk_try_b > 0.0) ? qk_4 : (-1.0)) > qk_5)) {
                r = qk_try_r;
                g = qk_try_g;
                score = qk_try_score;
            }
        }
        int small = (abs(m) < 1e-15) ? 1 : 0;
        precise float gf = (small != 0) ? 0.0 : g;
        qk_all_r[qk_g] = r;
        qk_all_small[qk_g] = small;
        qk_all_gf[qk_g] = gf;
    }
    precise float top = 0.0;
    [[unroll]] for (int qk_i = 0; qk_i < 1; ++qk_i) {
        precise float qk_6 = qk_all_gf[0];
        if (abs(qk_6) > abs(top)) top = qk_6;
    }
    qk_left[gl_LocalInvocationIndex] = floatBitsToUint(top);
    barrier();
    top = 0.0;
    [[unroll]] for (int qk_7 = 0; qk_7 < 16; ++qk_7) {
        precise float qk_8 = uintBitsToFloat(qk_left[gl_LocalInvocationIndex / 16u * 16u + uint(qk_7)]);
        if (abs(qk_8) > abs(top)) top = qk_8;
    }
    int zero = (abs(top) < 1e-15) ? 1 : 0;
    precise float inv = qk_quotient(-128.0, top);
    uint qk_bits_d = qk_bits_of_f16((zero != 0) ? 0.0 : (qk_quotient(1.0, inv)));
    precise float d = f16_to_f32(qk_bits_d);
    if (qk_t == 0) {
        {
            const int qk_at = 1664;
            qk_staged_blocks[qk_own_blocks + (qk_at >> 5)] = qk_bits_d << (qk_at & 31);
        }
    }
    precise float qk_all_ds[1];
    [[unroll]] for (int qk_g = 0; qk_g < 1; ++qk_g) {
        precise float qk_9 = inv * qk_all_gf[0];
        int sc = (zero != 0) ? 0 : qk_clamped_even(qk_9, -128, 127);
        const uint qk_bits_sc = uint(sc);
        {
            const int qk_at = 1536 + (qk_t * 1 + qk_g) * 8;
            atomicOr(qk_staged_blocks[qk_own_blocks + (qk_at >> 5)], (qk_bits_sc & 0xFFu) << (qk_at & 31));
        }
        precise float ds = d * float(sc);
        qk_all_ds[qk_g] = ds;
    }
    uint qk_part_q0[4];
    [[unroll]] for (int qk_j = 0; qk_j < 4; ++qk_j) qk_part_q0[qk_j] = 0u;
    uint qk_part_q1[4];
    [[unroll]] for (int qk_j = 0; qk_j < 4; ++qk_j) qk_part_q1[qk_j] = 0u;
    uint qk_open_q[1];
    qk_open_q[0] = 0u;
    [[unroll]] for (int qk_i = 0; qk_i < 16; ++qk_i) {
        bool qk_clear_q = true;
        precise float qk_10 = qk_all_r[0] * qk_held[qk_i];
        int q = (zero != 0) ? 0 : ((qk_all_ds[0] != 0.0)
            ? ((qk_clear_quotient(qk_held[qk_i], qk_all_ds[0], -32, 31, qk_clear_q) - QK_ZERO) + 32)
            : ((qk_all_small[0] != 0) ? 0 : (qk_clamped_even(qk_10, -32, 31) + 32)));
        if (!qk_clear_q) qk_open_q[qk_i / 32] |= 1u << (qk_i & 31);
        const uint qk_bits_q = uint(q);
        {
            const int qk_at = 0 + (qk_i) % 64 * 8 + (qk_i / 64) % 2 * 4 + qk_i / 128 * 512 - 0;
            qk_part_q0[qk_at >> 5] += (qk_bits_q & 0xFu) << (qk_at & 31);
        }
        {
            const int qk_at = 1024 + (qk_i) % 32 * 8 + (qk_i / 32) % 4 * 2 + qk_i / 128 * 256 - 1024;
            qk_part_q1[qk_at >> 5] += (qk_bits_q >> 4) << (qk_at & 31);
        }
    }
    {
        const int qk_far = 0 + (((qk_t - 0) * 16)) % 64 * 8 + (((qk_t - 0) * 16) / 64) % 2 * 4 + ((qk_t - 0) * 16) / 128 * 512 - 0;
        [[unroll]] for (int qk_j = 0; qk_j < 4; ++qk_j) {
            atomicOr(qk_staged_blocks[qk_own_blocks + (0 + qk_j + (qk_far >> 5))], qk_part_q0[qk_j] << (qk_far & 31));
        }
    }
    {
        const int qk_far = 1024 + (((qk_t - 0) * 16)) % 32 * 8 + (((qk_t - 0) * 16) / 32) % 4 * 2 + ((qk_t - 0) * 16) / 128 * 256 - 1024;
        [[unroll]] for (int qk_j = 0; qk_j < 4; ++qk_j) {
            atomicOr(qk_staged_blocks[qk_own_blocks + (32 + qk_j + (qk_far >> 5))], qk_part_q1[qk_j] << (qk_far & 31));
        }
    }
    for (int qk_w = 0; qk_w < 1; ++qk_w) {
        for (uint qk_open = qk_open_q[0]; qk_open != 0u; qk_open &= qk_open - 1u) {
            const int qk_i = 32 * qk_w + findLSB(qk_open);
            precise float qk_11 = qk_quotient(qk_x(qk_from + uint(qk_i)), qk_all_ds[0]);
            precise float qk_12 = qk_all_r[0] * qk_x(qk_from + uint(qk_i));
            int q = (zero != 0) ? 0 : ((qk_all_ds[0] != 0.0) ? (qk_clamped_even(qk_11, -32, 31) + 32)
                : ((qk_all_small[0] != 0) ? 0 : (qk_clamped_even(qk_12, -32, 31) + 32)));
            const uint qk_bits_q = uint(q);
            {
                const int qk_at = 0 + ((qk_t * 16 + qk_i)) % 64 * 8 + ((qk_t * 16 + qk_i) / 64) % 2 * 4 + (qk_t * 16 + qk_i) / 128 * 512;
                atomicAnd(qk_staged_blocks[qk_own_blocks + (qk_at >> 5)], ~(0xFu << (qk_at & 31)));
                atomicOr(qk_staged_blocks[qk_own_blocks + (qk_at >> 5)], (qk_bits_q & 0xFu) << (qk_at & 31));
            }
            {
                const int qk_at = 1024 + ((qk_t * 16 + qk_i)) % 32 * 8 + ((qk_t * 16 + qk_i) / 32) % 4 * 2 + (qk_t * 16 + qk_i) / 128 * 256;
                atomicAnd(qk_staged_blocks[qk_own_blocks + (qk_at >> 5)], ~(0x3u << (qk_at & 31)));
                atomicOr(qk_staged_blocks[qk_own_blocks + (qk_at >> 5)], (qk_bits_q >> 4) << (qk_at & 31));
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
    const bool whole_blocks = first % 2u == 0u && gl_WorkGroupSize.x / 16u % 2u == 0u;
    for (uint u = gl_LocalInvocationIndex; whole_blocks && u < gl_WorkGroupSize.x / 16u * 210u / 4u; u += gl_WorkGroupSize.x) {
        uint word = 0u;
        [[unroll]] for (uint i = 0u; i < 2u; ++i) {
            const uint slot = (u * 2u + i) / 105u, part = (u * 2u + i) % 105u;
            word |= (qk_staged_blocks[slot * 53u + part / 2u] >> part % 2u * 16u & 0xFFFFu) << i * 16u;
        }
        qk_whole_blocks[first / 2u * 105u + u] = word;
    }
    for (uint u = gl_LocalInvocationIndex; !whole_blocks && u < gl_WorkGroupSize.x / 16u * 105u; u += gl_WorkGroupSize.x) {
        const uint slot = u / 105u, part = u % 105u, block = qk_made[slot];
        if (block != QK_NONE) blocks[block * 105u + part] = uint16_t(qk_staged_blocks[slot * 53u + part / 2u] >> part % 2u * 16u);
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
    if (gl_LocalInvocationIndex >= gl_WorkGroupSize.x / 16u) return;
    part += gl_LocalInvocationIndex * 16u;
    const uint token = part / row_tiles, tile = part - token * row_tiles;
    const uint made = part < tokens * row_tiles ? tile_of(token, tile) : QK_NONE;
    qk_made[gl_LocalInvocationIndex] = made == QK_NONE ? QK_NONE : made / 16u;
    if (gl_LocalInvocationIndex == 0u) in_one_row = tile + gl_WorkGroupSize.x <= row_tiles;
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    const uint all = tokens * row_tiles;
    for (uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x; first < all; first += threads) {
        const uint i = first + gl_LocalInvocationIndex;
        // All threads have to wait for each other: those that have nothing to make do it with the last block, and leave it.
        qk_encode(values_at(i < all ? i : all - 16u + i % 16u) * 16u, first);
        qk_write_made(in_one_row);
    }
}
