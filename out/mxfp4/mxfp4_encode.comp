// mxfp4_encode: makes blocks of floats, for formats that say how: blocks = encode(src).
// Generated from the specification below by `qkgen emit --format mxfp4`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 17 bytes for 32 elements, 4.25 bits each.
//
//     format mxfp4 "E2M1 codes, a power of two for 32"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 32 {
//         e:  u8
//         qs: u8[16]
//     }
//
//     code q = qs { 4 @ 0 (16:8, 2:4) }    # low nibbles, then high nibbles
//
//     table K: i8[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 }    # twice the E2M1 value
//
//     # 2^(e - 128), since the table is doubled: e - 1 is the exponent of an f32, but that the two smallest are subnormals.
//     value = K[q] * f32(e < 2 ? 2097152 << (e & 1) : (e + 255 & 255) << 23)
//
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
layout(binding = 1, std430) readonly buffer Src { float src[]; };
layout(binding = 1, std430) readonly buffer SrcFour { vec4 src_four[]; };
layout(binding = 1, std430) readonly buffer SrcWords { uint src_words[]; };
layout(binding = 1, std430) readonly buffer SrcPairs { uvec2 src_pairs[]; };
layout(binding = 1, std430) readonly buffer SrcEight { uvec4 src_eight[]; };

layout(push_constant) uniform Push {
    uint tiles;  // blocks of 32 elements, to make
};

float f16_to_f32(uint bits) { return unpackHalf2x16(bits).x; }  // of the low 16 bits

float bf16_to_f32(uint bits) { return uintBitsToFloat(bits << 16); }  // of the low 16 bits

// Rounds to the nearest half, ties to even. In integers, because Vulkan leaves the rounding of its own conversion open.
uint f32_to_f16(float x) {
    const uint bits = floatBitsToUint(x), magnitude = bits & 0x7FFFFFFFu;
    precise float lifted = uintBitsToFloat(magnitude) + 0.5;  // rounds at the last bit of a subnormal half
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

// The same, mostly by a power of two: where all is of usual size, the exponent alone changes.
float qk_quotient_by_power(float numerator, float divisor) {
    const uint infinity = 0x7F800000u, a_bits = floatBitsToUint(numerator), b_bits = floatBitsToUint(divisor);
    const uint a = a_bits & 0x7FFFFFFFu, b = b_bits & 0x7FFFFFFFu, exponent = (a >> 23) - (b >> 23) + 127u;
    if ((b & 0x7FFFFFu) == 0u && b < infinity && b != 0u && a >= 0x00800000u && a < infinity && exponent - 1u < 254u)
        return uintBitsToFloat((a_bits ^ b_bits) & 0x80000000u | exponent << 23 | a & 0x7FFFFFu);
    return qk_quotient(numerator, divisor);
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

// The nearest integer, and of two the one that is farther from 0.
float qk_round(float v) {
    precise float whole = trunc(v);
    precise float rest = abs(v - whole);
    precise float next = whole + (v < 0.0 ? -1.0 : 1.0);
    return rest >= 0.5 ? next : whole;
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

float qk_nearest_quotient(float a, float b) {
    const float guess = a * (1.0 / b), near = roundEven(guess);
    return qk_is_clear(guess, near, b) ? near : qk_round(qk_quotient(a, b));
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

bool qk_is_nan(float v) {
    return isnan(v);
}

// Bits that are stored; a NaN is that without a sign, whatever it was.
uint qk_bits_of_f16(float v) {
    return qk_is_nan(v) ? 0x7E00u : f32_to_f16(v);
}

uint qk_bits_of_bf16(float v) {
    return qk_is_nan(v) ? 0x7FC0u : f32_to_bf16(v);
}

uint qk_bits_of_f32(float v) {
    return qk_is_nan(v) ? 0x7FC00000u : floatBitsToUint(v);
}

// Those of the magnitude, and 1 where there is a sign.
int qk_bits(float v) {
    return int(qk_bits_of_f32(v) & 0x7FFFFFFFu);
}

int qk_sign(float v) {
    return int(qk_bits_of_f32(v) >> 31);
}

// An integer within bounds, which are less than 2^22 from 0; a NaN counts as 0. What is rounded afterwards is not beyond the bounds
// any more, so that the conversion is one that every device has.
float qk_within(float v, int low, int high) {
    if (low == 0) return v > 0.0 ? min(v, float(high)) : 0.0;  // a NaN is not above 0
    return clamp(qk_is_nan(v) ? 0.0 : v, float(low), float(high));
}

int qk_clamped_trunc(float v, int low, int high) {
    return int(qk_within(v, low, high));
}

int qk_clamped_floor(float v, int low, int high) {
    return int(floor(qk_within(v, low, high)));
}

int qk_clamped_even(float v, int low, int high) {
    precise float sum = qk_within(v, low, high) + 12582912.0;
    return floatBitsToInt(sum) - 0x4B400000;
}

// With the float before 1/2: what is half way between two is rounded up by the sum, and what is just below that is not.
int qk_clamped_round(float v, int low, int high) {
    const float within = qk_within(v, low, high);
    precise float sum = within + uintBitsToFloat(floatBitsToUint(within) & 0x80000000u | 0x3EFFFFFFu);
    return int(sum);
}

// The same of a whole number, within any bounds.
int qk_clamped(float v, int low, int high) {
    const float number = qk_is_nan(v) ? 0.0 : v;
    return number <= float(low) ? low : number >= float(high) ? high : int(number);
}

layout(constant_id = 21) const uint X_TYPE = 0;  // how x is stored: 0 as f32, 1 as f16, 2 as bf16

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
    if (!(abs(qk_0) <= 3.4e38)) {
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

uint qk_place(uint i) {
    qk_made[gl_LocalInvocationIndex] = i;
    return i;
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x; first < tiles; first += threads) {
        const uint i = first + gl_LocalInvocationIndex;
        if (i < tiles) qk_encode(i, i * 32u);
        else qk_made[gl_LocalInvocationIndex] = QK_NONE;
        qk_write_made(tiles - first >= gl_WorkGroupSize.x);
    }
}
