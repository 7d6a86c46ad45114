// hqq_b3_g64: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format hqq_b3_g64`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 296 bytes for 640 elements, 3.7 bits each.
// dequant, gather in f32: for each weight 0.463 bytes read and 4 written, 8.88 operations: 1.25 loads, 2 bits, 2.38 integer, 2 float, 1.25
// conversions.
// gemv in f32: for each weight 0.463 bytes read, 8.69 operations: 1.12 loads, 2 bits, 2.19 integer, 2.25 float, 1.12 conversions.
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
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_hqq_b3_g64 {

// The half in the low 16 bits.
inline float f16_to_f32(uint bits) {
    return float(as_type<half>(ushort(bits)));
}

// The bfloat16 in the low 16 bits.
inline float bf16_to_f32(uint bits) {
    return as_type<float>(bits << 16);
}

// Rounds to the nearest bfloat16, ties to even. In integers, so that no Metal version with bfloat is needed.
inline ushort f32_to_bf16(float x) {
    const uint bits = as_type<uint>(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return ushort(((bits >> 16) & 0x8000u) | 0x7FC0u);  // NaN
    return ushort((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

// A run as it is stored: f32, f16, or the bits of bf16. Conversion to half rounds to nearest even.
inline void store(device float4 *dst, uint at, float4 v) {
    dst[at] = v;
}

inline void store(device half4 *dst, uint at, float4 v) {
    dst[at] = half4(v);
}

inline void store(device ushort4 *dst, uint at, float4 v) {
    dst[at] = ushort4(f32_to_bf16(v.x), f32_to_bf16(v.y), f32_to_bf16(v.z), f32_to_bf16(v.w));
}

// The 8 values of a tile of a row, in runs of 4 consecutive elements.
inline void decode(device const uint *W_q, device const ushort *scale, device const ushort *zero, uint grid_rows, uint row, uint tile,
    thread float4 *v) {
    const uint block_row = row % grid_rows;
    const uint r = row / grid_rows;
    const uint t = tile % 8u;
    // elements 0 to 3, counted from the tile's first
    const uint w0 = W_q[block_row * 64u + t * 8u], w1 = W_q[block_row * 64u + (t * 8u + 1u)], w2 = W_q[block_row * 64u + (t * 8u + 2u)];
    const uint w3 = W_q[block_row * 64u + (t * 8u + 3u)], m_ = uint(zero[row]);
    const float z = f16_to_f32(m_);  // m: 16 bits
    const uint d = uint(scale[row]);
    const float s = f16_to_f32(d);  // d: 16 bits
    v[0] = (float4((w0 >> ((9u - r) * 3u)) & 7u, (w1 >> ((9u - r) * 3u)) & 7u, (w2 >> ((9u - r) * 3u)) & 7u, (w3 >> ((9u - r) * 3u)) & 7u)
        - z) * s;

    // elements 4 to 7, counted from the tile's first
    const uint w4 = W_q[block_row * 64u + (t * 8u + 4u)], w5 = W_q[block_row * 64u + (t * 8u + 5u)];
    const uint w6 = W_q[block_row * 64u + (t * 8u + 6u)], w7 = W_q[block_row * 64u + (t * 8u + 7u)];
    v[1] = (float4((w4 >> ((9u - r) * 3u)) & 7u, (w5 >> ((9u - r) * 3u)) & 7u, (w6 >> ((9u - r) * 3u)) & 7u, (w7 >> ((9u - r) * 3u)) & 7u)
        - z) * s;
}

// Stores a tile's runs from `at` on, counted in runs.
template <typename T>
inline void write_tile(device T *dst, uint at, thread const float4 *v) {
    store(dst, at, v[0]);
    store(dst, at + 1u, v[1]);
}

struct sum_shape {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of 16 elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
    uint epilogue;   // what is done with results
    uint cols;       // of the matrix that the blocks are patches of
    uint grid_rows;  // blocks
    uint grid_cols;
    // Of views, which are on where x, y and weights do not lie one after the other:
    uint groups;             // threadgroups of each matrix, where there are several, and the first matrix of this launch
    uint matrix_first;
    uint matrices;           // in the inner dimension
    uint vectors;            // of each matrix, in all launches
    uint sharing;            // neighbours that have the same weights, in the inner and the outer dimension
    uint sharing_outer;
    uint weights_first;      // rows; from a matrix of weights to the next in each dimension
    uint weights_inner;
    uint weights_outer;
    uint x_first;            // elements; from a right-hand side to the next, and from a matrix to the next
    uint x_stride;
    uint x_inner;
    uint x_outer;
    uint y_skip;             // elements in y alone, then as of x
    uint y_stride;
    uint y_inner;
    uint y_outer;
    uint second;             // matrices from which on weights and y lie further, and by how many rows and elements
    uint third;
    uint weights_second;
    uint weights_third;
    uint y_second;
    uint y_third;
};

// Where a thread stands; which matrix of all its threadgroup multiplies, and where its weights, its x and its y begin.
struct standing {
    uint group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups;
    uint views, matrix, weights_begin, x_begin, y_begin;
};

inline standing find_matrix(constant sum_shape &shape, standing at)
{
    if (at.views == 0) return at;
    at.matrix = shape.matrix_first + at.group / shape.groups;
    at.group %= shape.groups;
    at.groups = shape.groups;
    const uint inner = at.matrix % shape.matrices, outer = at.matrix / shape.matrices;
    at.weights_begin = shape.weights_first + inner / shape.sharing * shape.weights_inner;
    at.weights_begin += outer / shape.sharing_outer * shape.weights_outer;
    at.x_begin = shape.x_first + inner * shape.x_inner + outer * shape.x_outer;
    at.y_begin = inner * shape.y_inner + outer * shape.y_outer;
    if (inner >= shape.second) at.weights_begin += shape.weights_second, at.y_begin += shape.y_second;
    if (inner >= shape.third) at.weights_begin += shape.weights_third, at.y_begin += shape.y_third;
    return at;
}

// Where results go, and what they pass through on their way.
struct results {
    device float *y;
    device const float *scale, *bias, *gate, *residual;
    uint epilogue;
    uint y_type;  // how y is stored: 0 as f32, 1 as f16, 2 as bf16
};

// Bits of the epilogue: what is done with results, and what has a scale of its own; else all of a tensor have one.
constant constexpr uint ADDS_TO_Y = 1, ADDS_BIAS = 2, SCALES = 4, GATES = 8, ADDS_RESIDUAL = 16, SCALES_ROWS = 256, SCALES_VECTORS = 512;

// Where a result stands: in y, among the rows of all tensors, in its vector and its tensor.
struct place_of_result {
    uint at, row, vector, tensor, skip;  // in y alone
};

inline float y_before(results to, uint at)
{
    if (to.y_type == 0) return to.y[at];
    const ushort bits = ((device const ushort *)to.y)[at];
    return to.y_type == 1 ? float(as_type<half>(bits)) : as_type<float>(uint(bits) << 16);
}

// Rounds once, to the nearest, ties to even.
inline void store_y(results to, uint at, float sum)
{
    if (to.y_type == 0)
        to.y[at] = sum;
    else
        ((device ushort *)to.y)[at] = to.y_type == 1 ? as_type<ushort>(half(sum)) : f32_to_bf16(sum);
}

inline float silu(float v)
{
    return v / (1.0f + precise::exp(-v));
}

// A result is done; or, where sums come in parts, one of them is, which may be the first or the last.
inline void finish(results to, place_of_result r, float sum, bool first = true, bool last = true)
{
    if ((to.epilogue & SCALES) != 0)
        sum *= to.scale[(to.epilogue & SCALES_ROWS) != 0 ? r.row : (to.epilogue & SCALES_VECTORS) != 0 ? r.vector : r.tensor];
    if (first && (to.epilogue & ADDS_BIAS) != 0) sum += to.bias[r.row];
    if (!first || (to.epilogue & ADDS_TO_Y) != 0) sum += y_before(to, r.at + r.skip);
    if (last && (to.epilogue & GATES) != 0) sum *= silu(to.gate[r.at]);
    if (last && (to.epilogue & ADDS_RESIDUAL) != 0) sum += to.residual[r.at];
    store_y(to, r.at + r.skip, sum);
}

// The same of row `n` of right-hand side `m`.
inline void finish(results to, constant sum_shape &shape, standing where, uint m, uint n, float sum, bool first = true, bool last = true)
{
    const uint row = shape.y_first % shape.y_rows + n, vector = m + shape.y_first / shape.y_rows;
    place_of_result r = {m * shape.y_rows + shape.y_first + n, row, vector, 0, 0};
    if (where.views != 0)
        r = {where.y_begin + vector * shape.y_stride + row, row, where.matrix * shape.vectors + vector, 0, shape.y_skip};
    finish(to, r, sum, first, last);
}

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
template <uint TILES, uint BATCH, typename X>
inline void load_x(device const X *x_in, uint batch, uint row_runs, uint vector, uint j, uint k,
    thread float4 (&x)[TILES][BATCH][4], thread float (&x_sum)[TILES][BATCH][1])
{
    const uint place = j * 4u;
    for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_runs + place;
        const float4 x0 = float4(x_in[from]);
        const float4 x1 = float4(x_in[from + 1u]);
        const float4 x2 = float4(x_in[from + 2u]);
        const float4 x3 = float4(x_in[from + 3u]);
        x[k][m][0] = x0;
        x[k][m][1] = x1;
        x[k][m][2] = x2;
        x[k][m][3] = x3;
        x_sum[k][m][0] = dot(x0 + x1 + x2 + x3, float4(1.0f));
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
template <uint TILES, uint BATCH>
inline void accumulate(
    device const uint *W_q,
    device const ushort *scale,
    device const ushort *zero,
    uint grid_rows, uint row_tiles, uint n, uint j, uint k,
    thread const float4 (&x)[TILES][BATCH][4], thread const float (&x_sum)[TILES][BATCH][1],
    thread float (&sum)[BATCH])
{
    #pragma clang fp contract(fast)
    const uint row = n * (row_tiles / 4u) + j / 4u, tile = j % 4u;
    const uint block_row = row % grid_rows;
    const uint r = row / grid_rows;
    const uint t = tile % 4u;
    const uint shift = (9u - r) * 3u, d = uint(scale[row]), w0 = W_q[block_row * 64u + t * 16u], w1 = W_q[block_row * 64u + (t * 16u + 1u)];
    const uint w2 = W_q[block_row * 64u + (t * 16u + 2u)], w3 = W_q[block_row * 64u + (t * 16u + 3u)];
    const uint w4 = W_q[block_row * 64u + (t * 16u + 4u)], w5 = W_q[block_row * 64u + (t * 16u + 5u)];
    const uint w6 = W_q[block_row * 64u + (t * 16u + 6u)], w7 = W_q[block_row * 64u + (t * 16u + 7u)];
    const uint w8 = W_q[block_row * 64u + (t * 16u + 8u)], w9 = W_q[block_row * 64u + (t * 16u + 9u)];
    const uint w10 = W_q[block_row * 64u + (t * 16u + 10u)], w11 = W_q[block_row * 64u + (t * 16u + 11u)];
    const uint w12 = W_q[block_row * 64u + (t * 16u + 12u)], w13 = W_q[block_row * 64u + (t * 16u + 13u)];
    const uint w14 = W_q[block_row * 64u + (t * 16u + 14u)], w15 = W_q[block_row * 64u + (t * 16u + 15u)], m_ = uint(zero[row]);
    const float s = f16_to_f32(d);  // d: 16 bits
    const float z = f16_to_f32(m_);  // m: 16 bits
    for (uint m = 0; m < BATCH; ++m) {
        sum[m] += s * (dot(x[k][m][0], float4((w0 >> shift) & 7u, (w1 >> shift) & 7u, (w2 >> shift) & 7u, (w3 >> shift) & 7u))
            + dot(x[k][m][1], float4((w4 >> shift) & 7u, (w5 >> shift) & 7u, (w6 >> shift) & 7u, (w7 >> shift) & 7u))
            + dot(x[k][m][2], float4((w8 >> shift) & 7u, (w9 >> shift) & 7u, (w10 >> shift) & 7u, (w11 >> shift) & 7u))
            + dot(x[k][m][3], float4((w12 >> shift) & 7u, (w13 >> shift) & 7u, (w14 >> shift) & 7u, (w15 >> shift) & 7u)))
            - s * z * x_sum[k][m][0];
    }
}

// Sums over rows. BATCH right-hand sides are kept, at least as many as there are; ROWS rows at a time.
template <uint BATCH, uint ROWS, typename X>
inline void sum_rows(
    device const uint *W_q,
    device const ushort *scale,
    device const ushort *zero,
    device const X *x_in, results to, constant sum_shape &shape, threadgroup float *partial, standing at)
{
    constexpr uint BUSY = 2048;  // simdgroups that keep a device busy
    constexpr uint TILES = BATCH == 1 ? 4 : 1;
    // What a thread keeps of x: tiles of each right-hand side, in the order of the weights, and the sums over runs that share
    // a scale.
    float4 x[TILES][BATCH][4];
    float x_sum[TILES][BATCH][1];
    // A simdgroup holds a slice of x and walks down the rows. Where there are few rows, simdgroups share each of them.
    const uint slice = at.lanes * TILES, slices = (shape.row_tiles + slice - 1) / slice;
    uint split = 1;
    while (split < slices && at.simdgroups % (2 * split) == 0 && shape.rows * split < BUSY * ROWS) split *= 2;
    const uint teams = at.simdgroups / split, team = at.simdgroup / split;
    const uint own_runs = shape.row_tiles * 4;
    const uint row_runs = at.views == 0 ? own_runs : shape.x_stride / 4;
    device const X *x_begin = x_in + at.x_begin / 4;
    uint held = ~0u;
    for (uint first = at.group * teams * ROWS; first < shape.rows; first += at.groups * teams * ROWS) {
        float sum[ROWS][BATCH];
        for (uint r = 0; r < ROWS; ++r) {
            for (uint m = 0; m < BATCH; ++m) sum[r][m] = 0.0f;
        }
        for (uint c = at.simdgroup % split; c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * at.lanes + at.lane;
                if (j >= shape.row_tiles) continue;
                if (c != held) load_x<TILES, BATCH>(x_begin, shape.batch, row_runs, 0, j, k, x, x_sum);
                for (uint r = 0; r < ROWS; ++r)
                    accumulate<TILES, BATCH>(W_q, scale, zero, shape.grid_rows, shape.row_tiles,
                                             at.weights_begin + min(first + team * ROWS + r, shape.rows - 1), j, k, x, x_sum, sum[r]);
            }
            held = c;
        }
        for (uint r = 0; r < ROWS; ++r) {
            for (uint m = 0; m < BATCH; ++m) {
                const float all = simd_sum(sum[r][m]);
                const uint row = first + team * ROWS + r;
                if (at.lane != 0) continue;
                if (split > 1) partial[(at.simdgroup * ROWS + r) * BATCH + m] = all;
                else if (row < shape.rows && m < shape.batch) finish(to, shape, at, m, row, all);
            }
        }
        if (split == 1) continue;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = at.thread_index; i < teams * ROWS * BATCH; i += at.threads) {
            const uint row = first + i / BATCH, m = i % BATCH, from = i / (ROWS * BATCH) * (split - 1) * ROWS * BATCH + i;
            float total = 0.0f;
            for (uint s = 0; s < split; ++s) total += partial[from + s * ROWS * BATCH];
            if (row < shape.rows && m < shape.batch) finish(to, shape, at, m, row, total);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// The mantissa of a positive f32, with its leading bit, and its exponent.
inline uint qk_mantissa(uint bits, thread int &exponent) {
    exponent = int(bits >> 23);
    if (exponent != 0) return (bits & 0x7FFFFFu) | 0x800000u;
    const int shift = int(clz(bits)) - 8;
    exponent = 1 - shift;
    return bits << (shift & 31);
}

// The bits of a / b, rounded to nearest even, as IEEE 754 has it; a is at least 0 or NaN, b is above 0. A device's own
// division may be off: here it makes a guess, and integers count what the guess leaves.
inline uint qk_exact_quotient(uint a, uint b) {
    const uint infinity = 0x7F800000u;
    if ((a & 0x7FFFFFFFu) > infinity || (a == infinity && b == infinity)) return 0x7FC00000u;
    if (a == 0 || b == infinity) return 0;
    if (a == infinity) return infinity;
    int a_exponent, b_exponent;
    uint n = qk_mantissa(a, a_exponent);
    const uint d = qk_mantissa(b, b_exponent);
    int exponent = a_exponent - b_exponent + 127;
    if (n < d) {
        n <<= 1;
        exponent -= 1;
    }
    // The first 25 bits of the quotient, and the rest modulo 2^32: it is small, so that is all of it.
    uint quotient = uint(float(n) / float(d) * 16777216.0f);
    int rest = int((n << 24) - quotient * d);
    for (; rest < 0; rest += int(d)) quotient -= 1;
    for (; rest >= int(d); rest -= int(d)) quotient += 1;
    if (exponent > 254) return infinity;
    if (exponent < -23) return 0;
    const uint drop = exponent > 0 ? 1u : uint(2 - exponent) & 31u;  // a subnormal has fewer bits
    const uint whole = quotient >> drop, cut = quotient & ((1u << drop) - 1u), half_unit = 1u << (drop - 1u & 31u);
    const bool up = cut > half_unit || (cut == half_unit && (rest != 0 || (whole & 1u) != 0));
    return (uint(max(exponent, 1) - 1) << 23) + whole + (up ? 1u : 0u);
}

// a / b, rounded to nearest even, as IEEE 754 has it.
inline float qk_quotient(float numerator, float divisor) {
    const uint infinity = 0x7F800000u, a_bits = as_type<uint>(numerator), b_bits = as_type<uint>(divisor);
    const uint a = a_bits & 0x7FFFFFFFu, b = b_bits & 0x7FFFFFFFu, sign = (a_bits ^ b_bits) & 0x80000000u;
    if (a > infinity || b > infinity || (a == 0u && b == 0u)) return as_type<float>(0x7FC00000u);
    if (b == 0u) return as_type<float>(sign | infinity);
    const uint quotient = qk_exact_quotient(a, b);
    return as_type<float>(quotient > infinity ? quotient : quotient | sign);
}

// What is encoded, in f32: element `at`, and four from `4 * at` on. The bits of bf16 are ushort.
inline float qk_at(device const float *x, uint at) {
    return x[at];
}

inline float qk_at(device const half *x, uint at) {
    return float(x[at]);
}

inline float qk_at(device const ushort *x, uint at) {
    return bf16_to_f32(x[at]);
}

template <typename T>
inline float4 qk_four(device const T *x, uint at) {
    return float4(qk_at(x, 4 * at), qk_at(x, 4 * at + 1), qk_at(x, 4 * at + 2), qk_at(x, 4 * at + 3));
}

inline float4 qk_four(device const float *x, uint at) {
    return ((device const float4 *)x)[at];
}

inline bool qk_is_nan(float v) {
    return (as_type<uint>(v) & 0x7FFFFFFFu) > 0x7F800000u;
}

// Bits that are stored; a NaN is that without a sign, whatever it was.
inline uint qk_bits_of_f16(float v) {
    return qk_is_nan(v) ? 0x7E00u : uint(as_type<ushort>(half(v)));
}

// An integer within bounds; a NaN counts as 0.
inline int qk_clamped(float v, int low, int high) {
    const float number = qk_is_nan(v) ? 0.0f : v;
    return number <= float(low) ? low : number >= float(high) ? high : int(number);
}

// Makes the groups of a block, which are as far from each other as there are blocks.
template <typename T>
inline void qk_encode(uint qk_block, uint qk_blocks, uint qk_groups, device const T *qk_all, device uint *W_q, device ushort *scale,
    device ushort *zero) {
    uint qk_words_W_q[64] = {0};
    for (int qk_plane = 0; qk_plane < 10; ++qk_plane) {
        const uint qk_group = uint(qk_plane) * qk_blocks + qk_block;
        if (qk_group >= qk_groups) break;
        device const T *qk_x = qk_all + qk_group * 64u;
        uint qk_words_scale[1] = {0};
        uint qk_words_zero[1] = {0};
        float qk_held[64];
        for (int qk_j = 0; qk_j < 16; ++qk_j) {
            const float4 qk_v = qk_four(qk_x, 0u + uint(qk_j));
            qk_held[4 * qk_j + 0] = qk_v[0];
            qk_held[4 * qk_j + 1] = qk_v[1];
            qk_held[4 * qk_j + 2] = qk_v[2];
            qk_held[4 * qk_j + 3] = qk_v[3];
        }
        float low = as_type<float>(0x7F800000u);
        float high = as_type<float>(0xFF800000u);
        for (int qk_i = 0; qk_i < 64; ++qk_i) {
            const float qk_0 = qk_held[qk_i];
            if (qk_0 < low) low = qk_0;
            const float qk_1 = qk_held[qk_i];
            if (qk_1 > high) high = qk_1;
        }
        const float room = high - low;
        const float qk_2 = qk_quotient(7.0f, room);
        const float qk_3 = 2e+04f;
        const float r = (room <= 0.0001f) ? 1.0f : (qk_3 < qk_2 ? qk_3 : qk_2);
        const float zero_point = (-low) * r;
        uint qk_bits_s = qk_bits_of_f16(qk_quotient(1.0f, r));
        {
            const int qk_at = 0;
            qk_words_scale[qk_at >> 5] |= (qk_bits_s & 0xFFFFu) << (qk_at & 31);
        }
        uint qk_bits_z = qk_bits_of_f16(zero_point);
        {
            const int qk_at = 0;
            qk_words_zero[qk_at >> 5] |= (qk_bits_z & 0xFFFFu) << (qk_at & 31);
        }
        for (int qk_i = 0; qk_i < 64; ++qk_i) {
            const int q = qk_clamped(rint((qk_held[qk_i] * r) + zero_point), 0, 7);
            const uint qk_bits_q = uint(q);
            {
                const int qk_at = 0 + qk_i * 32;
                qk_words_W_q[qk_at >> 5] |= (qk_bits_q & 0x7u) << ((qk_at & 31) + 27 - qk_plane * 3);
            }
        }
        for (int qk_j = 0; qk_j < 1; ++qk_j) {
            scale[qk_group * 1u + uint(qk_j)] = ushort(qk_words_scale[qk_j >> 1] >> (qk_j & 1) * 16);
        }
        for (int qk_j = 0; qk_j < 1; ++qk_j) {
            zero[qk_group * 1u + uint(qk_j)] = ushort(qk_words_zero[qk_j >> 1] >> (qk_j & 1) * 16);
        }
    }
    for (int qk_j = 0; qk_j < 64; ++qk_j) {
        W_q[qk_block * 64u + uint(qk_j)] = uint(qk_words_W_q[qk_j]);
    }
}

}  // namespace qk_hqq_b3_g64

// hqq_b3_g64_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct hqq_b3_g64_dequant_f32_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void hqq_b3_g64_dequant_f32(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device float4 *dst [[buffer(3)]],
    constant hqq_b3_g64_dequant_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_hqq_b3_g64::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        qk_hqq_b3_g64::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// hqq_b3_g64_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct hqq_b3_g64_dequant_f16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void hqq_b3_g64_dequant_f16(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device half4 *dst [[buffer(3)]],
    constant hqq_b3_g64_dequant_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_hqq_b3_g64::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        qk_hqq_b3_g64::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// hqq_b3_g64_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct hqq_b3_g64_dequant_bf16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void hqq_b3_g64_dequant_bf16(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device ushort4 *dst [[buffer(3)]],
    constant hqq_b3_g64_dequant_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_hqq_b3_g64::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        qk_hqq_b3_g64::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// hqq_b3_g64_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct hqq_b3_g64_gather_f32_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void hqq_b3_g64_gather_f32(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device float4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant hqq_b3_g64_gather_f32_push &push [[buffer(6)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint token = i / push.row_tiles, j = i % push.row_tiles;
        uint index = indices[token];
        const bool found = index < push.table_rows;
        if (!found) {
            // No such row: zeros, and the token is counted once.
            if (j == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
            index = 0;
        }
        const uint row = index * (push.table_cols / push.cols) + j / 8u, tile = j % 8u;
        float4 v[2];
        if (found) {
            qk_hqq_b3_g64::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_hqq_b3_g64::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// hqq_b3_g64_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct hqq_b3_g64_gather_f16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void hqq_b3_g64_gather_f16(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device half4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant hqq_b3_g64_gather_f16_push &push [[buffer(6)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint token = i / push.row_tiles, j = i % push.row_tiles;
        uint index = indices[token];
        const bool found = index < push.table_rows;
        if (!found) {
            // No such row: zeros, and the token is counted once.
            if (j == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
            index = 0;
        }
        const uint row = index * (push.table_cols / push.cols) + j / 8u, tile = j % 8u;
        float4 v[2];
        if (found) {
            qk_hqq_b3_g64::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_hqq_b3_g64::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// hqq_b3_g64_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct hqq_b3_g64_gather_bf16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void hqq_b3_g64_gather_bf16(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device ushort4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant hqq_b3_g64_gather_bf16_push &push [[buffer(6)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint token = i / push.row_tiles, j = i % push.row_tiles;
        uint index = indices[token];
        const bool found = index < push.table_rows;
        if (!found) {
            // No such row: zeros, and the token is counted once.
            if (j == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
            index = 0;
        }
        const uint row = index * (push.table_cols / push.cols) + j / 8u, tile = j % 8u;
        float4 v[2];
        if (found) {
            qk_hqq_b3_g64::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_hqq_b3_g64::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// hqq_b3_g64_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
constant uint hqq_b3_g64_gemv_f32_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint hqq_b3_g64_gemv_f32_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint hqq_b3_g64_gemv_f32_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void hqq_b3_g64_gemv_f32(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device const float4 *x [[buffer(3)]],
    device float *y [[buffer(4)]],
    device const float *result_scale [[buffer(5)]],
    device const float *row_bias [[buffer(6)]],
    device const float *result_gate [[buffer(7)]],
    device const float *residual [[buffer(8)]],
    constant qk_hqq_b3_g64::sum_shape &push [[buffer(9)]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]])
{
    threadgroup float partial[32 * 16];  // at most 32 simdgroups, and 16 sums of each
    const qk_hqq_b3_g64::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, hqq_b3_g64_gemv_f32_y_type};
    const qk_hqq_b3_g64::standing at =
        qk_hqq_b3_g64::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups,
            hqq_b3_g64_gemv_f32_views, 0, 0, 0, 0});
    switch (hqq_b3_g64_gemv_f32_batch) {
        case 1: qk_hqq_b3_g64::sum_rows<1, 4>(W_q, scale, zero, x, to, push, partial, at); break;
        case 2: qk_hqq_b3_g64::sum_rows<2, 4>(W_q, scale, zero, x, to, push, partial, at); break;
        case 4: qk_hqq_b3_g64::sum_rows<4, 4>(W_q, scale, zero, x, to, push, partial, at); break;
        case 8: qk_hqq_b3_g64::sum_rows<8, 2>(W_q, scale, zero, x, to, push, partial, at); break;
    }
}

// hqq_b3_g64_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
constant uint hqq_b3_g64_gemv_f16_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint hqq_b3_g64_gemv_f16_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint hqq_b3_g64_gemv_f16_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void hqq_b3_g64_gemv_f16(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device const half4 *x [[buffer(3)]],
    device float *y [[buffer(4)]],
    device const float *result_scale [[buffer(5)]],
    device const float *row_bias [[buffer(6)]],
    device const float *result_gate [[buffer(7)]],
    device const float *residual [[buffer(8)]],
    constant qk_hqq_b3_g64::sum_shape &push [[buffer(9)]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]])
{
    threadgroup float partial[32 * 16];  // at most 32 simdgroups, and 16 sums of each
    const qk_hqq_b3_g64::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, hqq_b3_g64_gemv_f16_y_type};
    const qk_hqq_b3_g64::standing at =
        qk_hqq_b3_g64::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups,
            hqq_b3_g64_gemv_f16_views, 0, 0, 0, 0});
    switch (hqq_b3_g64_gemv_f16_batch) {
        case 1: qk_hqq_b3_g64::sum_rows<1, 4>(W_q, scale, zero, x, to, push, partial, at); break;
        case 2: qk_hqq_b3_g64::sum_rows<2, 4>(W_q, scale, zero, x, to, push, partial, at); break;
        case 4: qk_hqq_b3_g64::sum_rows<4, 4>(W_q, scale, zero, x, to, push, partial, at); break;
        case 8: qk_hqq_b3_g64::sum_rows<8, 2>(W_q, scale, zero, x, to, push, partial, at); break;
    }
}

// hqq_b3_g64_encode_f32: makes blocks of floats, for formats that say how: blocks = encode(src), src in f32.
struct hqq_b3_g64_encode_f32_push {
    uint groups;  // of 64 elements
    uint blocks;  // of 10 groups, to make
};

kernel void hqq_b3_g64_encode_f32(
    device uint *W_q [[buffer(0)]],
    device ushort *scale [[buffer(1)]],
    device ushort *zero [[buffer(2)]],
    device const float *src [[buffer(3)]],
    constant hqq_b3_g64_encode_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.blocks; i += threads)
        qk_hqq_b3_g64::qk_encode(i, push.blocks, push.groups, src, W_q, scale, zero);
}

// hqq_b3_g64_encode_f16: makes blocks of floats, for formats that say how: blocks = encode(src), src in f16.
struct hqq_b3_g64_encode_f16_push {
    uint groups;  // of 64 elements
    uint blocks;  // of 10 groups, to make
};

kernel void hqq_b3_g64_encode_f16(
    device uint *W_q [[buffer(0)]],
    device ushort *scale [[buffer(1)]],
    device ushort *zero [[buffer(2)]],
    device const half *src [[buffer(3)]],
    constant hqq_b3_g64_encode_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.blocks; i += threads)
        qk_hqq_b3_g64::qk_encode(i, push.blocks, push.groups, src, W_q, scale, zero);
}

// hqq_b3_g64_encode_bf16: makes blocks of floats, for formats that say how: blocks = encode(src), src in bf16.
struct hqq_b3_g64_encode_bf16_push {
    uint groups;  // of 64 elements
    uint blocks;  // of 10 groups, to make
};

kernel void hqq_b3_g64_encode_bf16(
    device uint *W_q [[buffer(0)]],
    device ushort *scale [[buffer(1)]],
    device ushort *zero [[buffer(2)]],
    device const ushort *src [[buffer(3)]],
    constant hqq_b3_g64_encode_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.blocks; i += threads)
        qk_hqq_b3_g64::qk_encode(i, push.blocks, push.groups, src, W_q, scale, zero);
}
