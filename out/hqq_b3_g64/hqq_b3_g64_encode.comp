// hqq_b3_g64_encode: makes blocks of floats, for formats that say how: blocks = encode(src).
// Generated from the specification below by `qkgen emit --format hqq_b3_g64`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 296 bytes for 640 elements, 3.7 bits each.
//     format hqq_b3_g{group} "HQQ: the groups of the whole tensor in ten planes of 3 bits, a float zero"
//     from "HQQ: BitPack, axis 1"
//     for group in 64 128
//     block 10 apart x group {
//         buffer W_q   { w: u32[1][group] }
//         buffer scale { d: f16[10][1] }
//         buffer zero  { m: f16[10][1] }
//     }
//     code q                = w { 3 @ 27 (group:32, 10:-3) }
//     spare                   w { 2 @ 30 (group:32) }
//     code s: f16 per group = d { 16 @ 0 (10:16) }
//     code z: f16 per group = m { 16 @ 0 (10:16) }
//     value = (q - z) * s
//     # Quantizer.quantize without optimisation, as for other numbers of bits.
//     encode {
//         low = min(x)
//         high = max(x)
//         room = high - low
//         r = room <= 1e-4 ? 1.0 : min(7.0 / room, 2e4)
//         zero_point = -low * r
//         q = even(x * r + zero_point, 0, 7)
//         s = 1.0 / r
//         z = zero_point
//     }
//
// Here group = 64.
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) restrict writeonly buffer W_qBuffer { uint W_q[]; };
layout(binding = 1, std430) restrict writeonly buffer ScaleBuffer { uint16_t scale[]; };
layout(binding = 2, std430) restrict writeonly buffer ZeroBuffer { uint16_t zero[]; };
layout(binding = 3, std430) readonly buffer Src { float src[]; };
layout(binding = 3, std430) readonly buffer SrcFour { vec4 src_four[]; };
layout(binding = 3, std430) readonly buffer SrcWords { uint src_words[]; };
layout(binding = 3, std430) readonly buffer SrcPairs { uvec2 src_pairs[]; };
layout(binding = 3, std430) readonly buffer SrcEight { uvec4 src_eight[]; };

layout(push_constant) uniform Push {
    uint groups;  // of 64 elements
    uint blocks;  // of 10 groups, to make
};

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
shared uint qk_staged_W_q[gl_WorkGroupSize.x / 4u * 65u];
shared uint qk_made[gl_WorkGroupSize.x / 4u];
// What threads of a team, which follow each other and make a block together, tell the others.
shared uint qk_left[gl_WorkGroupSize.x * 4u];

// Says which blocks a workgroup makes, whose first part is `part` of all: that is waited for together with floats.
void qk_place(uint part);

// Where a thread begins in a group; where there is no such one, in the first.
uint qk_begin(uint qk_block, uint qk_group, int qk_t) {
    return (qk_block < blocks && qk_group < groups ? qk_group : 0u) * 64u + uint(qk_t) * 4u;
}

// Loads what a thread has of a group.
void qk_hold(uint qk_first, out float qk_held[16]) {
    [[unroll]] for (int qk_j = 0; qk_j < 4; ++qk_j) {
        const vec4 qk_v = qk_four(qk_first / 4u + uint(qk_j) * 4u);
        qk_held[4 * qk_j + 0] = qk_v[0];
        qk_held[4 * qk_j + 1] = qk_v[1];
        qk_held[4 * qk_j + 2] = qk_v[2];
        qk_held[4 * qk_j + 3] = qk_v[3];
    }
}

// Makes the groups of a block, which are as far from each other as there are blocks.
void qk_encode(uint qk_block, uint qk_part) {
    const int qk_t = int(gl_LocalInvocationIndex) % 4;
    qk_place(qk_part);
    const int qk_own_W_q = int(gl_LocalInvocationIndex) / 4 * 65;
    uint qk_sum_q0[16];
    [[unroll]] for (int qk_j = 0; qk_j < 16; ++qk_j) qk_sum_q0[qk_j] = 0u;
    // Of each group, one thread sets what it has one of, when all have a group.
    uint qk_late = QK_NONE;
    precise float qk_late_r = 0.0;
    precise float qk_late_zero_point = 0.0;
    float qk_next[16];
    qk_hold(qk_begin(qk_block, qk_block, qk_t), qk_next);
    for (int qk_plane = 0; qk_plane < 10; ++qk_plane) {
        const uint qk_group = uint(qk_plane) * blocks + qk_block;
        // Without a group, it takes the floats of the first one, and leaves what it makes.
        const bool qk_there = qk_block < blocks && qk_group < groups;
        const uint qk_from = (qk_there ? qk_group : 0u) * 64u + uint(qk_t) * 16u;
        const uint qk_first = qk_from - uint(qk_t) * 12u;
        float qk_held[16] = qk_next;
        if (qk_plane < 9) qk_hold(qk_begin(qk_block, qk_group + blocks, qk_t), qk_next);
        precise float low = uintBitsToFloat(0x7F800000u);
        precise float high = uintBitsToFloat(0xFF800000u);
        precise float qk_0 = 0.0;
        [[unroll]] for (int qk_i = 0; qk_i < 16; ++qk_i) {
            low = min(low, qk_held[qk_i]);
            qk_0 = qk_0 + qk_held[qk_i];
            high = max(high, qk_held[qk_i]);
        }
        if ((floatBitsToUint(qk_0) & 0x7F800000u) == 0x7F800000u) {
            low = uintBitsToFloat(0x7F800000u);
            high = uintBitsToFloat(0xFF800000u);
            for (int qk_i = 0; qk_i < 16; ++qk_i) {
                precise float qk_1 = qk_x(qk_first + uint(qk_i / 4 * 16 + qk_i % 4));
                if (qk_1 < low) low = qk_1;
                precise float qk_2 = qk_x(qk_first + uint(qk_i / 4 * 16 + qk_i % 4));
                if (qk_2 > high) high = qk_2;
            }
        }
        qk_left[(uint(qk_plane) % 2u * 2u + 0u) * gl_WorkGroupSize.x + gl_LocalInvocationIndex] = floatBitsToUint(low);
        qk_left[(uint(qk_plane) % 2u * 2u + 1u) * gl_WorkGroupSize.x + gl_LocalInvocationIndex] = floatBitsToUint(high);
        barrier();
        low = uintBitsToFloat(0x7F800000u);
        [[unroll]] for (int qk_3 = 0; qk_3 < 4; ++qk_3) {
            precise float qk_4 = uintBitsToFloat(qk_left[(uint(qk_plane) % 2u * 2u + 0u) * gl_WorkGroupSize.x
                + gl_LocalInvocationIndex / 4u * 4u + uint(qk_3)]);
            low = min(low, qk_4);
        }
        if (low == 0.0) {
            low = uintBitsToFloat(0x7F800000u);
            for (int qk_i = 0; qk_i < 64; ++qk_i) {
                precise float qk_5 = qk_x(qk_first - uint(qk_t) * 4u + uint(qk_i));
                if (qk_5 < low) low = qk_5;
            }
        }
        high = uintBitsToFloat(0xFF800000u);
        [[unroll]] for (int qk_6 = 0; qk_6 < 4; ++qk_6) {
            precise float qk_7 = uintBitsToFloat(qk_left[(uint(qk_plane) % 2u * 2u + 1u) * gl_WorkGroupSize.x
                + gl_LocalInvocationIndex / 4u * 4u + uint(qk_6)]);
            high = max(high, qk_7);
        }
        if (high == 0.0) {
            high = uintBitsToFloat(0xFF800000u);
            for (int qk_i = 0; qk_i < 64; ++qk_i) {
                precise float qk_8 = qk_x(qk_first - uint(qk_t) * 4u + uint(qk_i));
                if (qk_8 > high) high = qk_8;
            }
        }
        precise float room = high - low;
        precise float qk_9 = qk_quotient(7.0, room);
        precise float qk_10 = 2e+04;
        precise float r = (room <= 0.0001) ? 1.0 : (qk_10 < qk_9 ? qk_10 : qk_9);
        precise float zero_point = (-low) * r;
        uint qk_part_q0[16];
        [[unroll]] for (int qk_j = 0; qk_j < 16; ++qk_j) qk_part_q0[qk_j] = 0u;
        [[unroll]] for (int qk_i = 0; qk_i < 16; ++qk_i) {
            precise float qk_11 = (qk_held[qk_i] * r) + zero_point;
            int q = qk_clamped_even(qk_11, 0, 7);
            const uint qk_bits_q = uint(q);
            {
                const int qk_at = 0 + qk_i * 32 - 0;
                qk_part_q0[qk_at >> 5] += qk_bits_q << (qk_at & 31);
            }
        }
        if (qk_there) {
            const int qk_up = 27 - qk_plane * 3;
            qk_sum_q0[0] += qk_part_q0[0] << qk_up;
            qk_sum_q0[1] += qk_part_q0[1] << qk_up;
            qk_sum_q0[2] += qk_part_q0[2] << qk_up;
            qk_sum_q0[3] += qk_part_q0[3] << qk_up;
            qk_sum_q0[4] += qk_part_q0[4] << qk_up;
            qk_sum_q0[5] += qk_part_q0[5] << qk_up;
            qk_sum_q0[6] += qk_part_q0[6] << qk_up;
            qk_sum_q0[7] += qk_part_q0[7] << qk_up;
            qk_sum_q0[8] += qk_part_q0[8] << qk_up;
            qk_sum_q0[9] += qk_part_q0[9] << qk_up;
            qk_sum_q0[10] += qk_part_q0[10] << qk_up;
            qk_sum_q0[11] += qk_part_q0[11] << qk_up;
            qk_sum_q0[12] += qk_part_q0[12] << qk_up;
            qk_sum_q0[13] += qk_part_q0[13] << qk_up;
            qk_sum_q0[14] += qk_part_q0[14] << qk_up;
            qk_sum_q0[15] += qk_part_q0[15] << qk_up;
        }
        if (qk_plane % 4 == qk_t) {
            qk_late = qk_there ? qk_group : QK_NONE;
            qk_late_r = r;
            qk_late_zero_point = zero_point;
        }
        if (qk_plane % 4 == 3 || qk_plane == 9) {
            const uint qk_group = qk_late;
            precise float r = qk_late_r;
            precise float zero_point = qk_late_zero_point;
            uint qk_words_scale[1];
            [[unroll]] for (int qk_j = 0; qk_j < 1; ++qk_j) qk_words_scale[qk_j] = 0u;
            uint qk_words_zero[1];
            [[unroll]] for (int qk_j = 0; qk_j < 1; ++qk_j) qk_words_zero[qk_j] = 0u;
            uint qk_bits_s = qk_bits_of_f16(qk_quotient(1.0, r));
            {
                const int qk_at = 0;
                qk_words_scale[qk_at >> 5] += qk_bits_s << (qk_at & 31);
            }
            uint qk_bits_z = qk_bits_of_f16(zero_point);
            {
                const int qk_at = 0;
                qk_words_zero[qk_at >> 5] += qk_bits_z << (qk_at & 31);
            }
            if (qk_group != QK_NONE) {
                [[unroll]] for (int qk_j = 0; qk_j < 1; ++qk_j) {
                    scale[qk_group * 1u + uint(qk_j)] = uint16_t(qk_words_scale[qk_j >> 1] >> (qk_j & 1) * 16);
                }
                [[unroll]] for (int qk_j = 0; qk_j < 1; ++qk_j) {
                    zero[qk_group * 1u + uint(qk_j)] = uint16_t(qk_words_zero[qk_j >> 1] >> (qk_j & 1) * 16);
                }
            }
            qk_late = QK_NONE;
        }
    }
    {
        const int qk_far = 0 + ((qk_t - 0) * 4) * 32 - 0;
        qk_staged_W_q[qk_own_W_q + (0 + 0 + (qk_far >> 5))] = qk_sum_q0[0] << (qk_far & 31);
        qk_staged_W_q[qk_own_W_q + (0 + 1 + (qk_far >> 5))] = qk_sum_q0[1] << (qk_far & 31);
        qk_staged_W_q[qk_own_W_q + (0 + 2 + (qk_far >> 5))] = qk_sum_q0[2] << (qk_far & 31);
        qk_staged_W_q[qk_own_W_q + (0 + 3 + (qk_far >> 5))] = qk_sum_q0[3] << (qk_far & 31);
        qk_staged_W_q[qk_own_W_q + (0 + 16 + (qk_far >> 5))] = qk_sum_q0[4] << (qk_far & 31);
        qk_staged_W_q[qk_own_W_q + (0 + 17 + (qk_far >> 5))] = qk_sum_q0[5] << (qk_far & 31);
        qk_staged_W_q[qk_own_W_q + (0 + 18 + (qk_far >> 5))] = qk_sum_q0[6] << (qk_far & 31);
        qk_staged_W_q[qk_own_W_q + (0 + 19 + (qk_far >> 5))] = qk_sum_q0[7] << (qk_far & 31);
        qk_staged_W_q[qk_own_W_q + (0 + 32 + (qk_far >> 5))] = qk_sum_q0[8] << (qk_far & 31);
        qk_staged_W_q[qk_own_W_q + (0 + 33 + (qk_far >> 5))] = qk_sum_q0[9] << (qk_far & 31);
        qk_staged_W_q[qk_own_W_q + (0 + 34 + (qk_far >> 5))] = qk_sum_q0[10] << (qk_far & 31);
        qk_staged_W_q[qk_own_W_q + (0 + 35 + (qk_far >> 5))] = qk_sum_q0[11] << (qk_far & 31);
        qk_staged_W_q[qk_own_W_q + (0 + 48 + (qk_far >> 5))] = qk_sum_q0[12] << (qk_far & 31);
        qk_staged_W_q[qk_own_W_q + (0 + 49 + (qk_far >> 5))] = qk_sum_q0[13] << (qk_far & 31);
        qk_staged_W_q[qk_own_W_q + (0 + 50 + (qk_far >> 5))] = qk_sum_q0[14] << (qk_far & 31);
        qk_staged_W_q[qk_own_W_q + (0 + 51 + (qk_far >> 5))] = qk_sum_q0[15] << (qk_far & 31);
    }
}

// A thread that wrote its own block would write to lines that its neighbours write to as well, a few bytes each time. So all threads
// write all blocks, and neighbours write to neighbours. All of them have to come here.
// follow: whether the blocks of all threads are there, and follow each other.
void qk_write_made(bool follow) {
    barrier();
    const uint first = follow ? qk_made[0] : QK_NONE;  // which is odd, and so no block that begins where a word does
    for (uint u = gl_LocalInvocationIndex; u < gl_WorkGroupSize.x / 4u * 64u; u += gl_WorkGroupSize.x) {
        if (first != QK_NONE) {
            W_q[first * 64u + u] = qk_staged_W_q[u + u / 64u];
            continue;
        }
        const uint slot = u / 64u, part = u % 64u, block = qk_made[slot];
        if (block != QK_NONE) W_q[block * 64u + part] = uint(qk_staged_W_q[slot * 65u + part]);
    }
    barrier();
}

void qk_place(uint part) {
    const uint block = (part + gl_LocalInvocationIndex) / 4u;
    qk_made[gl_LocalInvocationIndex / 4u] = block < blocks ? block : QK_NONE;
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x; first < blocks * 4u; first += threads) {
        qk_encode((first + gl_LocalInvocationIndex) / 4u, first);
        qk_write_made(blocks * 4u - first >= gl_WorkGroupSize.x);
    }
}
