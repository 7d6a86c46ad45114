// q4_K_set_rows: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]).
// Generated from the specification below by `qkgen emit --format q4_K`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 144 bytes for 256 elements, 4.5 bits each.
//     format q4_K "4-bit codes, 6-bit scales and minimums in groups of 32"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 256 {
//         d:      f16
//         dmin:   f16
//         scales: u8[12]
//         qs:     u8[128]
//     }
//     # Groups 0 to 3 have their six bits in one byte; groups 4 to 7 borrow the two high bits of those bytes.
//     code sc per 32 = scales { 4 @ 0 (4:8, 2:64)   2 @ 4 (4:8, 2:2) }
//     code mn per 32 = scales { 4 @ 32 (4:8, 2:36)  2 @ 36 (4:8, 2:2) }
//     # 32 low nibbles, 32 high nibbles, and so on in steps of 32 bytes.
//     code q = qs { 4 @ 0 (32:8, 2:4, 4:256) }
//     value = d * sc * q - dmin * mn
//     # ggml's quantize_row_q4_K_ref. For each group 22 steps are tried: each gives codes, and the codes a scale and a minimum by weighted
//     # least squares; those with the least error are kept. Scales and minimums are then rounded to 6 bits, and all codes made again.
//     encode {
//         mean per 32 = sqrt(sum(x * x) / 32.0)
//         w per 1 = mean + abs(x)
//         lo per 32 = min(min(x), 0.0)
//         hi per 32 = max(x)
//         sw per 32 = sum(w)
//         sx per 32 = sum(w * x)
//         best per 32 of t in 22 {
//             base = t == 0 ? lo : kept(low)
//             r = (t == 0 ? 15.0 : -1.0 + 0.1 * (t - 1) + 15.0) / (hi - base)
//             l per 1 = even(r * (x - base), 0, 15)
//             sl = sum(w * l)
//             sll = sum(w * l * l)
//             sxl = sum(w * l * x)
//             det = sw * sll - sl * sl
//             m = (sll * sx - sl * sxl) / det
//             g = t == 0 ? 1.0 / r : m > 0.0 ? sxl / sll : (sw * sxl - sx * sl) / det
//             low = t == 0 ? lo : m > 0.0 ? 0.0 : m
//             off per 1 = g * l + low - x
//             error = sum(w * (off * off))
//         } where (det > 0.0 ? error : kept(error)) < kept(error)
//         same per 32 = hi == lo ? 1 : 0
//         gf per 32 = same ? 0.0 : g
//         mf per 32 = same ? -lo : -low
//         gs = max(0.0, max(gf))
//         ms = max(0.0, max(mf))
//         gr = gs > 0.0 ? 63.0 / gs : 0.0
//         mr = ms > 0.0 ? 63.0 / ms : 0.0
//         d = gs / 63.0
//         dmin = ms / 63.0
//         sc = min(even(gr * gf, -128, 63) & 255, 63)    # a scale below 0, which is rare, becomes 63
//         mn = even(mr * mf, 0, 63)
//         ds per 32 = d * sc
//         dm per 32 = dmin * mn
//         q = ds == 0.0 ? (same ? 0 : even(r * (x - base), 0, 15)) : even((x + dm) / ds, 0, 15)
//     }
#version 450
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) restrict writeonly buffer BlocksBuffer { uint blocks[]; };
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

// The square root, rounded to nearest, digit by digit.
float qk_root(float v) {
    const uint bits = floatBitsToUint(v);
    if ((bits & 0x7FFFFFFFu) == 0u || bits == 0x7F800000u) return v;
    if (bits > 0x7F800000u) return uintBitsToFloat(0x7FC00000u);
    int exponent;
    uint rest = qk_mantissa(bits, exponent), root = 0u, sum = 0u;
    exponent -= 127;
    if ((exponent & 1) != 0) rest <<= 1;
    exponent >>= 1;
    rest <<= 1;
    for (uint digit = 0x1000000u; digit != 0u; digit >>= 1) {
        if (sum + digit <= rest) {
            rest -= sum + digit;
            sum += 2u * digit;
            root += digit;
        }
        rest <<= 1;
    }
    if (rest != 0u) root += root & 1u;
    return uintBitsToFloat((root >> 1) + 0x3F000000u + (uint(exponent) << 23));
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
shared uint qk_staged_blocks[gl_WorkGroupSize.x / 8u * 37u];
shared uint qk_made[gl_WorkGroupSize.x / 8u];
// What threads of a team, which follow each other and make a block together, tell the others.
shared uint qk_left[gl_WorkGroupSize.x * 1u];

// Says which blocks a workgroup makes, whose first part is `part` of all: that is waited for together with floats.
void qk_place(uint part);

// Makes a block of the floats from `qk_from` on.
void qk_encode(uint qk_from, uint qk_part) {
    const int qk_t = int(gl_LocalInvocationIndex) % 8;
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
    qk_place(qk_part);
    const int qk_own_blocks = int(gl_LocalInvocationIndex) / 8 * 37;
    for (int qk_j = qk_t; qk_j < 36; qk_j += 8) qk_staged_blocks[qk_own_blocks + qk_j] = 0u;
    barrier();
    precise float qk_all_base[1];
    precise float qk_all_r[1];
    int qk_all_same[1];
    precise float qk_all_gf[1];
    precise float qk_all_mf[1];
    [[unroll]] for (int qk_g = 0; qk_g < 1; ++qk_g) {
        precise float qk_0 = 0.0;
        [[unroll]] for (int qk_i = 0; qk_i < 32; ++qk_i) {
            qk_0 = qk_0 + (qk_held[(0 * 32 + qk_i)] * qk_held[(0 * 32 + qk_i)]);
        }
        precise float mean = qk_root(qk_0 * 0.03125);
        precise float qk_3 = uintBitsToFloat(0x7F800000u);
        precise float qk_4 = 0.0;
        [[unroll]] for (int qk_i = 0; qk_i < 32; ++qk_i) {
            qk_3 = min(qk_3, qk_held[(0 * 32 + qk_i)]);
            qk_4 = qk_4 + qk_held[(0 * 32 + qk_i)];
        }
        if ((floatBitsToUint(qk_4) & 0x7F800000u) == 0x7F800000u || qk_3 == 0.0) {
            qk_3 = uintBitsToFloat(0x7F800000u);
            for (int qk_i = 0; qk_i < 32; ++qk_i) {
                precise float qk_5 = qk_x(qk_from + uint((0 * 32 + qk_i)));
                if (qk_5 < qk_3) qk_3 = qk_5;
            }
        }
        precise float qk_1 = qk_3;
        precise float qk_2 = 0.0;
        precise float lo = (qk_2 < qk_1 ? qk_2 : qk_1);
        precise float hi = uintBitsToFloat(0xFF800000u);
        precise float sw = 0.0;
        precise float sx = 0.0;
        [[unroll]] for (int qk_i = 0; qk_i < 32; ++qk_i) {
            precise float qk_6 = qk_held[(0 * 32 + qk_i)];
            if (qk_6 > hi) hi = qk_6;
            precise float w = mean + abs(qk_held[(0 * 32 + qk_i)]);
            sw = sw + w;
            sx = sx + (w * qk_held[(0 * 32 + qk_i)]);
        }
        precise float base = 0;
        precise float r = 0;
        precise float g = 0;
        precise float low = 0;
        precise float error = 0;
        for (int qk_7 = 0; qk_7 < 22; ++qk_7) {
            precise float qk_try_base = (qk_7 == 0) ? lo : low;
            precise float qk_8 = ((-1.0) + (0.1 * float(qk_7 - 1))) + 15.0;
            precise float qk_9 = hi - qk_try_base;
            precise float qk_try_r = qk_quotient((qk_7 == 0) ? 15.0 : qk_8, qk_9);
            precise float qk_try_sl = 0.0;
            precise float qk_try_sll = 0.0;
            precise float qk_try_sxl = 0.0;
            [[unroll]] for (int qk_i = 0; qk_i < 32; ++qk_i) {
                precise float w = mean + abs(qk_held[(0 * 32 + qk_i)]);
                precise float qk_10 = qk_try_r * (qk_held[(0 * 32 + qk_i)] - qk_try_base);
                int l = qk_clamped_even(qk_10, 0, 15);
                qk_try_sl = qk_try_sl + (w * float(l));
                qk_try_sll = qk_try_sll + ((w * float(l)) * float(l));
                qk_try_sxl = qk_try_sxl + ((w * float(l)) * qk_held[(0 * 32 + qk_i)]);
            }
            precise float qk_try_det = (sw * qk_try_sll) - (qk_try_sl * qk_try_sl);
            precise float qk_11 = (qk_try_sll * sx) - (qk_try_sl * qk_try_sxl);
            precise float qk_try_m = qk_quotient(qk_11, qk_try_det);
            precise float qk_12 = (sw * qk_try_sxl) - (sx * qk_try_sl);
            precise float qk_try_g = (qk_7 == 0) ? (qk_quotient(1.0, qk_try_r))
                : ((qk_try_m > 0.0) ? (qk_quotient(qk_try_sxl, qk_try_sll)) : (qk_quotient(qk_12, qk_try_det)));
            precise float qk_try_low = (qk_7 == 0) ? lo : ((qk_try_m > 0.0) ? 0.0 : qk_try_m);
            precise float qk_try_error = 0.0;
            [[unroll]] for (int qk_i = 0; qk_i < 32; ++qk_i) {
                precise float w = mean + abs(qk_held[(0 * 32 + qk_i)]);
                precise float qk_13 = qk_try_r * (qk_held[(0 * 32 + qk_i)] - qk_try_base);
                int l = qk_clamped_even(qk_13, 0, 15);
                precise float off = ((qk_try_g * float(l)) + qk_try_low) - qk_held[(0 * 32 + qk_i)];
                qk_try_error = qk_try_error + (w * (off * off));
            }
            if (qk_7 == 0 || (((qk_try_det > 0.0) ? qk_try_error : error) < error)) {
                base = qk_try_base;
                r = qk_try_r;
                g = qk_try_g;
                low = qk_try_low;
                error = qk_try_error;
            }
        }
        int same = (hi == lo) ? 1 : 0;
        precise float gf = (same != 0) ? 0.0 : g;
        precise float mf = (same != 0) ? (-lo) : (-low);
        qk_all_base[qk_g] = base;
        qk_all_r[qk_g] = r;
        qk_all_same[qk_g] = same;
        qk_all_gf[qk_g] = gf;
        qk_all_mf[qk_g] = mf;
    }
    precise float qk_14 = 0.0;
    precise float qk_16 = uintBitsToFloat(0xFF800000u);
    [[unroll]] for (int qk_i = 0; qk_i < 1; ++qk_i) {
        precise float qk_17 = qk_all_gf[0];
        if (qk_17 > qk_16) qk_16 = qk_17;
    }
    qk_left[gl_LocalInvocationIndex] = floatBitsToUint(qk_16);
    barrier();
    qk_16 = uintBitsToFloat(0xFF800000u);
    [[unroll]] for (int qk_18 = 0; qk_18 < 8; ++qk_18) {
        precise float qk_19 = uintBitsToFloat(qk_left[gl_LocalInvocationIndex / 8u * 8u + uint(qk_18)]);
        if (qk_19 > qk_16) qk_16 = qk_19;
    }
    precise float qk_15 = qk_16;
    precise float gs = (qk_14 < qk_15 ? qk_15 : qk_14);
    precise float qk_20 = 0.0;
    precise float qk_22 = uintBitsToFloat(0xFF800000u);
    [[unroll]] for (int qk_i = 0; qk_i < 1; ++qk_i) {
        precise float qk_23 = qk_all_mf[0];
        if (qk_23 > qk_22) qk_22 = qk_23;
    }
    barrier();
    qk_left[gl_LocalInvocationIndex] = floatBitsToUint(qk_22);
    barrier();
    qk_22 = uintBitsToFloat(0xFF800000u);
    [[unroll]] for (int qk_24 = 0; qk_24 < 8; ++qk_24) {
        precise float qk_25 = uintBitsToFloat(qk_left[gl_LocalInvocationIndex / 8u * 8u + uint(qk_24)]);
        if (qk_25 > qk_22) qk_22 = qk_25;
    }
    precise float qk_21 = qk_22;
    precise float ms = (qk_20 < qk_21 ? qk_21 : qk_20);
    precise float gr = (gs > 0.0) ? (qk_quotient(63.0, gs)) : 0.0;
    precise float mr = (ms > 0.0) ? (qk_quotient(63.0, ms)) : 0.0;
    uint qk_bits_d = qk_bits_of_f16(qk_quotient_by_whole(gs, 63.0));
    precise float d = f16_to_f32(qk_bits_d);
    if (qk_t == 0) {
        {
            const int qk_at = 0;
            atomicOr(qk_staged_blocks[qk_own_blocks + (qk_at >> 5)], qk_bits_d << (qk_at & 31));
        }
    }
    uint qk_bits_dmin = qk_bits_of_f16(qk_quotient_by_whole(ms, 63.0));
    precise float dmin = f16_to_f32(qk_bits_dmin);
    if (qk_t == 0) {
        {
            const int qk_at = 16;
            atomicOr(qk_staged_blocks[qk_own_blocks + (qk_at >> 5)], qk_bits_dmin << (qk_at & 31));
        }
    }
    precise float qk_all_ds[1];
    precise float qk_all_dm[1];
    [[unroll]] for (int qk_g = 0; qk_g < 1; ++qk_g) {
        precise float qk_28 = gr * qk_all_gf[0];
        int qk_26 = qk_clamped_even(qk_28, -128, 63) & 255;
        int qk_27 = 63;
        int sc = (qk_27 < qk_26 ? qk_27 : qk_26);
        const uint qk_bits_sc = uint(sc);
        {
            const int qk_at = 32 + ((qk_t * 1 + qk_g)) % 4 * 8 + (qk_t * 1 + qk_g) / 4 * 64;
            atomicOr(qk_staged_blocks[qk_own_blocks + (qk_at >> 5)], (qk_bits_sc & 0xFu) << (qk_at & 31));
        }
        {
            const int qk_at = 36 + ((qk_t * 1 + qk_g)) % 4 * 8 + (qk_t * 1 + qk_g) / 4 * 2;
            atomicOr(qk_staged_blocks[qk_own_blocks + (qk_at >> 5)], (qk_bits_sc >> 4) << (qk_at & 31));
        }
        precise float qk_29 = mr * qk_all_mf[0];
        int mn = qk_clamped_even(qk_29, 0, 63);
        const uint qk_bits_mn = uint(mn);
        {
            const int qk_at = 64 + ((qk_t * 1 + qk_g)) % 4 * 8 + (qk_t * 1 + qk_g) / 4 * 36;
            atomicOr(qk_staged_blocks[qk_own_blocks + (qk_at >> 5)], (qk_bits_mn & 0xFu) << (qk_at & 31));
        }
        {
            const int qk_at = 68 + ((qk_t * 1 + qk_g)) % 4 * 8 + (qk_t * 1 + qk_g) / 4 * 2;
            atomicOr(qk_staged_blocks[qk_own_blocks + (qk_at >> 5)], (qk_bits_mn >> 4) << (qk_at & 31));
        }
        precise float ds = d * float(sc);
        precise float dm = dmin * float(mn);
        qk_all_ds[qk_g] = ds;
        qk_all_dm[qk_g] = dm;
    }
    uint qk_part_q0[8];
    [[unroll]] for (int qk_j = 0; qk_j < 8; ++qk_j) qk_part_q0[qk_j] = 0u;
    uint qk_open_q[1];
    qk_open_q[0] = 0u;
    [[unroll]] for (int qk_i = 0; qk_i < 32; ++qk_i) {
        bool qk_clear_q = true;
        precise float qk_30 = qk_all_r[0] * (qk_held[qk_i] - qk_all_base[0]);
        precise float qk_31 = qk_held[qk_i] + qk_all_dm[0];
        int q = (qk_all_ds[0] == 0.0) ? ((qk_all_same[0] != 0) ? 0 : qk_clamped_even(qk_30, 0, 15))
            : (qk_clear_quotient(qk_31, qk_all_ds[0], 0, 15, qk_clear_q) - QK_ZERO);
        if (!qk_clear_q) qk_open_q[qk_i / 32] |= 1u << (qk_i & 31);
        const uint qk_bits_q = uint(q);
        {
            const int qk_at = 128 + (qk_i) % 32 * 8 + (qk_i / 32) % 2 * 4 + qk_i / 64 * 256 - 128;
            qk_part_q0[qk_at >> 5] += qk_bits_q << (qk_at & 31);
        }
    }
    {
        const int qk_far = 128 + (((qk_t - 0) * 32)) % 32 * 8 + (((qk_t - 0) * 32) / 32) % 2 * 4 + ((qk_t - 0) * 32) / 64 * 256 - 128;
        [[unroll]] for (int qk_j = 0; qk_j < 8; ++qk_j) {
            atomicOr(qk_staged_blocks[qk_own_blocks + (4 + qk_j + (qk_far >> 5))], qk_part_q0[qk_j] << (qk_far & 31));
        }
    }
    for (int qk_w = 0; qk_w < 1; ++qk_w) {
        for (uint qk_open = qk_open_q[0]; qk_open != 0u; qk_open &= qk_open - 1u) {
            const int qk_i = 32 * qk_w + findLSB(qk_open);
            precise float qk_32 = qk_all_r[0] * (qk_x(qk_from + uint(qk_i)) - qk_all_base[0]);
            precise float qk_33 = qk_x(qk_from + uint(qk_i)) + qk_all_dm[0];
            precise float qk_34 = qk_quotient(qk_33, qk_all_ds[0]);
            int q = (qk_all_ds[0] == 0.0) ? ((qk_all_same[0] != 0) ? 0 : qk_clamped_even(qk_32, 0, 15)) : qk_clamped_even(qk_34, 0, 15);
            const uint qk_bits_q = uint(q);
            {
                const int qk_at = 128 + ((qk_t * 32 + qk_i)) % 32 * 8 + ((qk_t * 32 + qk_i) / 32) % 2 * 4 + (qk_t * 32 + qk_i) / 64 * 256;
                atomicAnd(qk_staged_blocks[qk_own_blocks + (qk_at >> 5)], ~(0xFu << (qk_at & 31)));
                atomicOr(qk_staged_blocks[qk_own_blocks + (qk_at >> 5)], qk_bits_q << (qk_at & 31));
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
    for (uint u = gl_LocalInvocationIndex; u < gl_WorkGroupSize.x / 8u * 36u; u += gl_WorkGroupSize.x) {
        if (first != QK_NONE) {
            blocks[first * 36u + u] = qk_staged_blocks[u + u / 36u];
            continue;
        }
        const uint slot = u / 36u, part = u % 36u, block = qk_made[slot];
        if (block != QK_NONE) blocks[block * 36u + part] = uint(qk_staged_blocks[slot * 37u + part]);
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
