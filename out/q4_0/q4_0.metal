// q4_0: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format q4_0`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 18 bytes for 32 elements, 4.5 bits each.
// dequant, gather in f32: for each weight 0.562 bytes read and 4 written, 6.38 operations: 0.375 loads, 2.25 bits, 1.62 integer, 1 float,
// 1.12 conversions.
// gemv in f32: for each weight 0.562 bytes read, 3.66 operations: 0.141 loads, 0.719 bits, 0.141 integer, 2.06 float, 0.594 conversions.
// gemv_id in f32: for each weight 0.562 bytes read, 4.38 operations: 0.312 loads, 0.875 bits, 0.438 integer, 2.19 float, 0.562 conversions.
//     format q4_0 "4-bit codes around 8, one scale for 32"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 32 {
//         d:  f16
//         qs: u8[16]
//     }
//     code q = qs { 4 @ 0 (16:8, 2:4) }    # low nibbles, then high nibbles
//     value = (q - 8) * d
//     # ggml's quantize_row_q4_0_ref: codes are made with the scale before it is rounded to f16.
//     encode {
//         s = extreme(x) / -8.0
//         r = s == 0.0 ? 0.0 : 1.0 / s
//         d = s
//         q = trunc(x * r + 8.5, 0, 15)
//     }
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_q4_0 {

// 32 bits from narrower words.
inline uint load_u32(device const ushort *words, uint at) {
    return uint(words[at]) | (uint(words[at + 1]) << 16);
}

inline uint load_u32(device const uchar *words, uint at) {
    return uint(words[at]) | (uint(words[at + 1]) << 8) | (uint(words[at + 2]) << 16) | (uint(words[at + 3]) << 24);
}

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

// The 8 values of a tile of a block, in runs of 4 consecutive elements.
inline void decode(device const ushort *blocks, uint block, uint tile, thread float4 *v) {
    // elements 0 to 3, counted from the tile's first
    const uint base = block * 9u, qs = load_u32(blocks, base + tile * 2u + 1u);
    const uint4 q0 = (uint4(qs) >> uint4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    const float d = f16_to_f32(uint(blocks[base]));
    v[0] = float4(int4(q0) - 8) * d;

    // elements 16 to 19, counted from the tile's first
    const uint4 q1 = (uint4(qs) >> uint4(4, 12, 20, 28)) & 15u;  // qs: 4 bits
    v[1] = float4(int4(q1) - 8) * d;
}

// Stores a tile's runs where they belong in block `block` of the output.
template <typename T>
inline void write_tile(device T *dst, uint block, uint tile, thread const float4 *v) {
    const uint at = block * 8u + tile;
    store(dst, at, v[0]);
    store(dst, at + 4u, v[1]);
}

struct sum_shape {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of 16 elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
    uint epilogue;   // what is done with results
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
    const uint tile = j % 2u, place = j / 2u * 8u + tile * 2u;
    for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_runs + place;
        const float4 x0 = float4(x_in[from]);
        const float4 x1 = float4(x_in[from + 1u]);
        const float4 x2 = float4(x_in[from + 4u]);
        const float4 x3 = float4(x_in[from + 5u]);
        x[k][m][0] = x0 * 16777216.0f;
        x[k][m][1] = x1 * 16777216.0f;
        x[k][m][2] = x2 * 1048576.0f;
        x[k][m][3] = x3 * 1048576.0f;
        x_sum[k][m][0] = dot(x0 + x1 + x2 + x3, float4(1.0f));
    }
}

// What `mask` has of each byte of a word: the low bits of a half are a number of units of 2^-24.
inline float4 four_codes(uint word, uint mask) {
    const float2 even = float2(as_type<half2>(word & mask)), odd = float2(as_type<half2>((word >> 8) & mask));
    return float4(even.x, odd.x, even.y, odd.y);
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
template <uint TILES, uint BATCH>
inline void accumulate(
    device const ushort *blocks,
    uint row_tiles, uint n, uint j, uint k,
    thread const float4 (&x)[TILES][BATCH][4], thread const float (&x_sum)[TILES][BATCH][1],
    thread float (&sum)[BATCH])
{
    #pragma clang fp contract(fast)
    const uint block = n * (row_tiles / 2u) + j / 2u, tile = j % 2u, base = block * 9u;
    const float d = f16_to_f32(uint(blocks[base]));
    const uint qs0 = load_u32(blocks, base + tile * 4u + 1u), qs1 = load_u32(blocks, base + tile * 4u + 3u);
    const float4 values0 = four_codes(qs0, 0xF000Fu), values1 = four_codes(qs1, 0xF000Fu), values2 = four_codes(qs0, 0xF000F0u);
    const float4 values3 = four_codes(qs1, 0xF000F0u);
    for (uint m = 0; m < BATCH; ++m) {
        sum[m] += d * (dot(x[k][m][0], values0) + dot(x[k][m][1], values1) + dot(x[k][m][2], values2) + dot(x[k][m][3], values3)
            - 8.0f * x_sum[k][m][0]);
    }
}

// Sums over rows. BATCH right-hand sides are kept, at least as many as there are; ROWS rows at a time.
template <uint BATCH, uint ROWS, typename X>
inline void sum_rows(
    device const ushort *blocks,
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
                    accumulate<TILES, BATCH>(blocks, shape.row_tiles,
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

// A sum, and the products of two runs, one after the other.
inline float dot_add(float sum, float4 a, float4 b)
{
    return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
}

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
template <uint TILES, uint BATCH, typename X>
inline void load_large_x(device const X *x_in, uint batch, uint row_runs, uint vector, uint j, uint k,
    thread float4 (&x)[TILES][BATCH][16], thread float (&x_sum)[TILES][BATCH][2])
{
    const uint place = j * 16u;
    for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_runs + place;
        const float4 x0 = float4(x_in[from]);
        const float4 x1 = float4(x_in[from + 1u]);
        const float4 x2 = float4(x_in[from + 2u]);
        const float4 x3 = float4(x_in[from + 3u]);
        const float4 x4 = float4(x_in[from + 4u]);
        const float4 x5 = float4(x_in[from + 5u]);
        const float4 x6 = float4(x_in[from + 6u]);
        const float4 x7 = float4(x_in[from + 7u]);
        const float4 x8 = float4(x_in[from + 8u]);
        const float4 x9 = float4(x_in[from + 9u]);
        const float4 x10 = float4(x_in[from + 10u]);
        const float4 x11 = float4(x_in[from + 11u]);
        const float4 x12 = float4(x_in[from + 12u]);
        const float4 x13 = float4(x_in[from + 13u]);
        const float4 x14 = float4(x_in[from + 14u]);
        const float4 x15 = float4(x_in[from + 15u]);
        x[k][m][0] = x0 * 16777216.0f;
        x[k][m][1] = x1 * 16777216.0f;
        x[k][m][2] = x2 * 16777216.0f;
        x[k][m][3] = x3 * 16777216.0f;
        x[k][m][4] = x4 * 1048576.0f;
        x[k][m][5] = x5 * 1048576.0f;
        x[k][m][6] = x6 * 1048576.0f;
        x[k][m][7] = x7 * 1048576.0f;
        x[k][m][8] = x8 * 16777216.0f;
        x[k][m][9] = x9 * 16777216.0f;
        x[k][m][10] = x10 * 16777216.0f;
        x[k][m][11] = x11 * 16777216.0f;
        x[k][m][12] = x12 * 1048576.0f;
        x[k][m][13] = x13 * 1048576.0f;
        x[k][m][14] = x14 * 1048576.0f;
        x[k][m][15] = x15 * 1048576.0f;
        x_sum[k][m][0] = dot(x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7, float4(-8.0f));
        x_sum[k][m][1] = dot(x8 + x9 + x10 + x11 + x12 + x13 + x14 + x15, float4(-8.0f));
    }
}

// Adds the products of larger tile `j` of row `n` with what is kept of x, for each right-hand side.
template <uint TILES, uint BATCH>
inline void accumulate_large(
    device const ushort *blocks,
    uint row_tiles, uint n, uint j, uint k,
    thread const float4 (&x)[TILES][BATCH][16], thread const float (&x_sum)[TILES][BATCH][2],
    thread float (&sum)[BATCH])
{
    #pragma clang fp contract(fast)
    device const uint *blocks_word = (device const uint *)blocks;
    const uint block = n * (row_tiles / 4u) + j;
    const ulong base = ulong(block) * 9u;
    const uint qs0 = blocks_word[base];
    const float d0 = f16_to_f32(qs0);
    const float2 pair0 = float2(as_type<half2>(qs0 & 0xF000Fu));
    const uint lower0 = qs0 >> 8u;
    const float2 pair1 = float2(as_type<half2>(lower0 & 0xF000Fu));
    const uint qs1 = blocks_word[base + 1u];
    const float2 pair2 = float2(as_type<half2>(qs1 & 0xF000Fu));
    const uint lower1 = qs1 >> 8u;
    const float2 pair3 = float2(as_type<half2>(lower1 & 0xF000Fu));
    float dots0[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots0[m] = dot_add(x_sum[k][m][0], x[k][m][0], float4(pair0.y, pair1.y, pair2.x, pair3.x));
    const uint qs2 = blocks_word[base + 2u];
    const float2 pair4 = float2(as_type<half2>(qs2 & 0xF000Fu));
    const uint lower2 = qs2 >> 8u;
    const float2 pair5 = float2(as_type<half2>(lower2 & 0xF000Fu));
    float dots1[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots1[m] = dot_add(dots0[m], x[k][m][1], float4(pair2.y, pair3.y, pair4.x, pair5.x));
    const uint qs3 = blocks_word[base + 3u];
    const float2 pair6 = float2(as_type<half2>(qs3 & 0xF000Fu));
    const uint lower3 = qs3 >> 8u;
    const float2 pair7 = float2(as_type<half2>(lower3 & 0xF000Fu));
    float dots2[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots2[m] = dot_add(dots1[m], x[k][m][2], float4(pair4.y, pair5.y, pair6.x, pair7.x));
    const uint qs4 = blocks_word[base + 4u];
    const float2 pair8 = float2(as_type<half2>(qs4 & 0xF000Fu));
    const uint lower4 = qs4 >> 8u;
    const float2 pair9 = float2(as_type<half2>(lower4 & 0xF000Fu));
    float dots3[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots3[m] = dot_add(dots2[m], x[k][m][3], float4(pair6.y, pair7.y, pair8.x, pair9.x));
    const float2 pair10 = float2(as_type<half2>(qs0 & 0xF000F0u)), pair11 = float2(as_type<half2>(lower0 & 0xF000F0u));
    const float2 pair12 = float2(as_type<half2>(qs1 & 0xF000F0u)), pair13 = float2(as_type<half2>(lower1 & 0xF000F0u));
    float dots4[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots4[m] = dot_add(dots3[m], x[k][m][4], float4(pair10.y, pair11.y, pair12.x, pair13.x));
    const float2 pair14 = float2(as_type<half2>(qs2 & 0xF000F0u)), pair15 = float2(as_type<half2>(lower2 & 0xF000F0u));
    float dots5[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots5[m] = dot_add(dots4[m], x[k][m][5], float4(pair12.y, pair13.y, pair14.x, pair15.x));
    const float2 pair16 = float2(as_type<half2>(qs3 & 0xF000F0u)), pair17 = float2(as_type<half2>(lower3 & 0xF000F0u));
    float dots6[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots6[m] = dot_add(dots5[m], x[k][m][6], float4(pair14.y, pair15.y, pair16.x, pair17.x));
    const float2 pair18 = float2(as_type<half2>(qs4 & 0xF000F0u)), pair19 = float2(as_type<half2>(lower4 & 0xF000F0u));
    float dots7[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots7[m] = dot_add(dots6[m], x[k][m][7], float4(pair16.y, pair17.y, pair18.x, pair19.x));
    const float d1 = f16_to_f32(qs4 >> 16u);
    const uint qs5 = blocks_word[base + 5u];
    const float2 pair20 = float2(as_type<half2>(qs5 & 0xF000Fu));
    const uint lower5 = qs5 >> 8u;
    const float2 pair21 = float2(as_type<half2>(lower5 & 0xF000Fu));
    float dots8[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots8[m] = dot_add(x_sum[k][m][1], x[k][m][8], float4(pair20.x, pair21.x, pair20.y, pair21.y));
    const uint qs6 = blocks_word[base + 6u];
    const float2 pair22 = float2(as_type<half2>(qs6 & 0xF000Fu));
    const uint lower6 = qs6 >> 8u;
    const float2 pair23 = float2(as_type<half2>(lower6 & 0xF000Fu));
    float dots9[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots9[m] = dot_add(dots8[m], x[k][m][9], float4(pair22.x, pair23.x, pair22.y, pair23.y));
    const uint qs7 = blocks_word[base + 7u];
    const float2 pair24 = float2(as_type<half2>(qs7 & 0xF000Fu));
    const uint lower7 = qs7 >> 8u;
    const float2 pair25 = float2(as_type<half2>(lower7 & 0xF000Fu));
    float dots10[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots10[m] = dot_add(dots9[m], x[k][m][10], float4(pair24.x, pair25.x, pair24.y, pair25.y));
    const uint qs8 = blocks_word[base + 8u];
    const float2 pair26 = float2(as_type<half2>(qs8 & 0xF000Fu));
    const uint lower8 = qs8 >> 8u;
    const float2 pair27 = float2(as_type<half2>(lower8 & 0xF000Fu));
    float dots11[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots11[m] = dot_add(dots10[m], x[k][m][11], float4(pair26.x, pair27.x, pair26.y, pair27.y));
    const float2 pair28 = float2(as_type<half2>(qs5 & 0xF000F0u)), pair29 = float2(as_type<half2>(lower5 & 0xF000F0u));
    float dots12[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots12[m] = dot_add(dots11[m], x[k][m][12], float4(pair28.x, pair29.x, pair28.y, pair29.y));
    const float2 pair30 = float2(as_type<half2>(qs6 & 0xF000F0u)), pair31 = float2(as_type<half2>(lower6 & 0xF000F0u));
    float dots13[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots13[m] = dot_add(dots12[m], x[k][m][13], float4(pair30.x, pair31.x, pair30.y, pair31.y));
    const float2 pair32 = float2(as_type<half2>(qs7 & 0xF000F0u)), pair33 = float2(as_type<half2>(lower7 & 0xF000F0u));
    float dots14[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots14[m] = dot_add(dots13[m], x[k][m][14], float4(pair32.x, pair33.x, pair32.y, pair33.y));
    const float2 pair34 = float2(as_type<half2>(qs8 & 0xF000F0u)), pair35 = float2(as_type<half2>(lower8 & 0xF000F0u));
    float dots15[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots15[m] = dot_add(dots14[m], x[k][m][15], float4(pair34.x, pair35.x, pair34.y, pair35.y));
    for (uint m = 0; m < BATCH; ++m) sum[m] += d0 * dots7[m] + d1 * dots15[m];
}

// A simdgroup meets its rows ROWS at a time, which share what a thread keeps of x; `split` of them share a row. ONE: each has one
// slice of a row, of which x is loaded once for all rows.
template <uint BATCH, uint ROWS, bool ONE, typename X>
inline void walk_large_rows(
    device const ushort *blocks,
    device const X *x_in, results to, constant sum_shape &shape, threadgroup float *partial, standing at, uint split)
{
    constexpr uint TILES = 1;
    float4 x[TILES][BATCH][16];
    float x_sum[TILES][BATCH][2];
    const uint tiles = shape.row_tiles / 4, slices = (tiles + at.lanes - 1) / at.lanes;
    const uint teams = at.simdgroups / split, team = at.simdgroup / split;
    const uint row_runs = (at.views == 0 ? tiles * 64 : shape.x_stride) / 4;
    device const X *x_begin = x_in + at.x_begin / 4;
    const uint own = at.simdgroup % split;
    if (ONE && own * at.lanes + at.lane < tiles)
        load_large_x<TILES, BATCH>(x_begin, shape.batch, row_runs, 0, own * at.lanes + at.lane, 0, x, x_sum);
    for (uint first = at.group * teams * ROWS; first < shape.rows; first += at.groups * teams * ROWS) {
        float sum[ROWS][BATCH];
        for (uint r = 0; r < ROWS; ++r) {
            for (uint m = 0; m < BATCH; ++m) sum[r][m] = 0.0f;
        }
        for (uint c = own; c < slices; c += split) {
            const uint j = c * at.lanes + at.lane;
            if (j >= tiles) continue;
            if (!ONE) load_large_x<TILES, BATCH>(x_begin, shape.batch, row_runs, 0, j, 0, x, x_sum);
            for (uint r = 0; r < ROWS; ++r)
                accumulate_large<TILES, BATCH>(blocks, shape.row_tiles,
                                               at.weights_begin + min(first + team * ROWS + r, shape.rows - 1), j, 0, x, x_sum,
                                               sum[r]);
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

// Sums over rows that are whole larger tiles.
template <uint BATCH, typename X>
inline void sum_large_rows(
    device const ushort *blocks,
    device const X *x_in, results to, constant sum_shape &shape, threadgroup float *partial, standing at)
{
    constexpr uint BUSY = 2048;  // simdgroups that keep a device busy
    constexpr uint ROWS = 4;
    const uint slices = (shape.row_tiles / 4 + at.lanes - 1) / at.lanes;
    uint split = 1;  // simdgroups that share a row
    while (split < slices && at.simdgroups % (2 * split) == 0 && shape.rows * split < BUSY * ROWS) split *= 2;
    if (split >= slices) walk_large_rows<BATCH, ROWS, true>(blocks, x_in, to, shape, partial, at, split);
    else walk_large_rows<BATCH, ROWS, false>(blocks, x_in, to, shape, partial, at, split);
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

// Makes a block of floats.
template <typename T>
inline void qk_encode(uint qk_block, device const T *qk_x, device ushort *blocks) {
    uint qk_words_blocks[5] = {0};
    float qk_held[32];
    for (int qk_j = 0; qk_j < 8; ++qk_j) {
        const float4 qk_v = qk_four(qk_x, 0u + uint(qk_j));
        qk_held[4 * qk_j + 0] = qk_v[0];
        qk_held[4 * qk_j + 1] = qk_v[1];
        qk_held[4 * qk_j + 2] = qk_v[2];
        qk_held[4 * qk_j + 3] = qk_v[3];
    }
    float qk_0 = 0.0f;
    for (int qk_i = 0; qk_i < 32; ++qk_i) {
        const float qk_1 = qk_held[qk_i];
        if (abs(qk_1) > abs(qk_0)) qk_0 = qk_1;
    }
    const float s = qk_quotient(qk_0, -8.0f);
    const float r = (s == 0.0f) ? 0.0f : (qk_quotient(1.0f, s));
    uint qk_bits_d = qk_bits_of_f16(s);
    {
        const int qk_at = 0;
        qk_words_blocks[qk_at >> 5] |= (qk_bits_d & 0xFFFFu) << (qk_at & 31);
    }
    for (int qk_i = 0; qk_i < 32; ++qk_i) {
        const int q = qk_clamped(trunc((qk_held[qk_i] * r) + 8.5f), 0, 15);
        const uint qk_bits_q = uint(q);
        {
            const int qk_at = 16 + (qk_i) % 16 * 8 + qk_i / 16 * 4;
            qk_words_blocks[qk_at >> 5] |= (qk_bits_q & 0xFu) << (qk_at & 31);
        }
    }
    for (int qk_j = 0; qk_j < 9; ++qk_j) {
        blocks[qk_block * 9u + uint(qk_j)] = ushort(qk_words_blocks[qk_j >> 1] >> (qk_j & 1) * 16);
    }
}

}  // namespace qk_q4_0

// q4_0_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct q4_0_dequant_f32_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void q4_0_dequant_f32(
    device const ushort *blocks [[buffer(0)]],
    device float4 *dst [[buffer(1)]],
    constant q4_0_dequant_f32_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_q4_0::decode(blocks, i / 4u, i % 4u, v);
        qk_q4_0::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// q4_0_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct q4_0_dequant_f16_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void q4_0_dequant_f16(
    device const ushort *blocks [[buffer(0)]],
    device half4 *dst [[buffer(1)]],
    constant q4_0_dequant_f16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_q4_0::decode(blocks, i / 4u, i % 4u, v);
        qk_q4_0::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// q4_0_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct q4_0_dequant_bf16_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void q4_0_dequant_bf16(
    device const ushort *blocks [[buffer(0)]],
    device ushort4 *dst [[buffer(1)]],
    constant q4_0_dequant_bf16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_q4_0::decode(blocks, i / 4u, i % 4u, v);
        qk_q4_0::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// q4_0_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct q4_0_gather_f32_push {
    uint rows, row_first, row_end;  // that an index may name; what is bound in this launch
    uint row_tiles, tokens;  // of a row, tiles of 8 elements; of all batches
    uint batch_tokens, batches;  // of a batch, 0: all lie one after the other; batches in the inner of two dimensions
    uint value_step, value_batch, value_outer;  // tiles to the next token, inner and outer batch
    uint index_words;  // 0: tokens are rows in order; 1; 2: of 64 bits
    uint index_step, index_batch, index_outer;  // words
    uint index_batches, index_outers;  // with indices of their own; others have the same again
    uint row_step, row_batch, row_outer;  // rows of the table
    uint value_first, index_first, table_first;  // tiles, words, tiles that are bound before
};

kernel void q4_0_gather_f32(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device float4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant q4_0_gather_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint n = thread_index; n < push.tokens * push.row_tiles; n += threads) {
        const uint token = n / push.row_tiles, t = n % push.row_tiles;
        // Where the values of the token begin, in tiles, and the row of the table that it is of, or NO_ROW.
        const uint NO_ROW = ~0u, batch_tokens = push.batch_tokens, batch = batch_tokens == 0 ? 0 : token / batch_tokens;
        const uint inner = batch_tokens == 0 ? 0 : batch % push.batches, outer = batch_tokens == 0 ? 0 : batch / push.batches;
        uint values = token * push.row_tiles, row = batch_tokens == 0 ? indices[token] : token % batch_tokens;
        if (batch_tokens != 0) {
            values = push.value_first + row * push.value_step + inner * push.value_batch + outer * push.value_outer;
            if (push.index_words != 0) {
                const uint at = push.index_first + row * push.index_step + inner % push.index_batches * push.index_batch +
                                outer % push.index_outers * push.index_outer;
                row = push.index_words == 2 && indices[at + 1] != 0 ? NO_ROW : indices[at];
            }
            if (row < push.rows) row = row * push.row_step + inner * push.row_batch + outer * push.row_outer;
            else row = NO_ROW;
        } else if (row >= push.rows) {
            row = NO_ROW;
        }
        const uint i = values + t;
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = push.table_first + (row - push.row_first) * push.row_tiles + t;
            qk_q4_0::decode(blocks, from / 4u, i % 4u, v);
        } else if (row == NO_ROW && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (t == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_q4_0::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// q4_0_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct q4_0_gather_f16_push {
    uint rows, row_first, row_end;  // that an index may name; what is bound in this launch
    uint row_tiles, tokens;  // of a row, tiles of 16 elements; of all batches
    uint batch_tokens, batches;  // of a batch, 0: all lie one after the other; batches in the inner of two dimensions
    uint value_step, value_batch, value_outer;  // tiles to the next token, inner and outer batch
    uint index_words;  // 0: tokens are rows in order; 1; 2: of 64 bits
    uint index_step, index_batch, index_outer;  // words
    uint index_batches, index_outers;  // with indices of their own; others have the same again
    uint row_step, row_batch, row_outer;  // rows of the table
    uint value_first, index_first, table_first;  // tiles, words, tiles that are bound before
};

kernel void q4_0_gather_f16(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device half4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant q4_0_gather_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint n = thread_index; n < push.tokens * push.row_tiles; n += threads) {
        const uint token = n / push.row_tiles, t = n % push.row_tiles;
        // Where the values of the token begin, in tiles, and the row of the table that it is of, or NO_ROW.
        const uint NO_ROW = ~0u, batch_tokens = push.batch_tokens, batch = batch_tokens == 0 ? 0 : token / batch_tokens;
        const uint inner = batch_tokens == 0 ? 0 : batch % push.batches, outer = batch_tokens == 0 ? 0 : batch / push.batches;
        uint values = token * push.row_tiles, row = batch_tokens == 0 ? indices[token] : token % batch_tokens;
        if (batch_tokens != 0) {
            values = push.value_first + row * push.value_step + inner * push.value_batch + outer * push.value_outer;
            if (push.index_words != 0) {
                const uint at = push.index_first + row * push.index_step + inner % push.index_batches * push.index_batch +
                                outer % push.index_outers * push.index_outer;
                row = push.index_words == 2 && indices[at + 1] != 0 ? NO_ROW : indices[at];
            }
            if (row < push.rows) row = row * push.row_step + inner * push.row_batch + outer * push.row_outer;
            else row = NO_ROW;
        } else if (row >= push.rows) {
            row = NO_ROW;
        }
        const uint i = values + t;
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = push.table_first + (row - push.row_first) * push.row_tiles + t;
            qk_q4_0::decode(blocks, from / 4u, i % 4u, v);
        } else if (row == NO_ROW && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (t == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_q4_0::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// q4_0_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct q4_0_gather_bf16_push {
    uint rows, row_first, row_end;  // that an index may name; what is bound in this launch
    uint row_tiles, tokens;  // of a row, tiles of 16 elements; of all batches
    uint batch_tokens, batches;  // of a batch, 0: all lie one after the other; batches in the inner of two dimensions
    uint value_step, value_batch, value_outer;  // tiles to the next token, inner and outer batch
    uint index_words;  // 0: tokens are rows in order; 1; 2: of 64 bits
    uint index_step, index_batch, index_outer;  // words
    uint index_batches, index_outers;  // with indices of their own; others have the same again
    uint row_step, row_batch, row_outer;  // rows of the table
    uint value_first, index_first, table_first;  // tiles, words, tiles that are bound before
};

kernel void q4_0_gather_bf16(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device ushort4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant q4_0_gather_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint n = thread_index; n < push.tokens * push.row_tiles; n += threads) {
        const uint token = n / push.row_tiles, t = n % push.row_tiles;
        // Where the values of the token begin, in tiles, and the row of the table that it is of, or NO_ROW.
        const uint NO_ROW = ~0u, batch_tokens = push.batch_tokens, batch = batch_tokens == 0 ? 0 : token / batch_tokens;
        const uint inner = batch_tokens == 0 ? 0 : batch % push.batches, outer = batch_tokens == 0 ? 0 : batch / push.batches;
        uint values = token * push.row_tiles, row = batch_tokens == 0 ? indices[token] : token % batch_tokens;
        if (batch_tokens != 0) {
            values = push.value_first + row * push.value_step + inner * push.value_batch + outer * push.value_outer;
            if (push.index_words != 0) {
                const uint at = push.index_first + row * push.index_step + inner % push.index_batches * push.index_batch +
                                outer % push.index_outers * push.index_outer;
                row = push.index_words == 2 && indices[at + 1] != 0 ? NO_ROW : indices[at];
            }
            if (row < push.rows) row = row * push.row_step + inner * push.row_batch + outer * push.row_outer;
            else row = NO_ROW;
        } else if (row >= push.rows) {
            row = NO_ROW;
        }
        const uint i = values + t;
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = push.table_first + (row - push.row_first) * push.row_tiles + t;
            qk_q4_0::decode(blocks, from / 4u, i % 4u, v);
        } else if (row == NO_ROW && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (t == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_q4_0::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// q4_0_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
constant uint q4_0_gemv_f32_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint q4_0_gemv_f32_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint q4_0_gemv_f32_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void q4_0_gemv_f32(
    device const ushort *blocks [[buffer(0)]],
    device const float4 *x [[buffer(1)]],
    device float *y [[buffer(2)]],
    device const float *result_scale [[buffer(3)]],
    device const float *row_bias [[buffer(4)]],
    device const float *result_gate [[buffer(5)]],
    device const float *residual [[buffer(6)]],
    constant qk_q4_0::sum_shape &push [[buffer(7)]],
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
    const qk_q4_0::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, q4_0_gemv_f32_y_type};
    const qk_q4_0::standing at =
        qk_q4_0::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups, q4_0_gemv_f32_views, 0, 0, 0,
            0});
    if (q4_0_gemv_f32_batch < 8 && push.row_tiles % 4 == 0) {  // rows that are whole larger tiles, and x that is not too much
        switch (q4_0_gemv_f32_batch) {
            case 1: qk_q4_0::sum_large_rows<1>(blocks, x, to, push, partial, at); break;
            case 2: qk_q4_0::sum_large_rows<2>(blocks, x, to, push, partial, at); break;
            case 4: qk_q4_0::sum_large_rows<4>(blocks, x, to, push, partial, at); break;
        }
        return;
    }
    switch (q4_0_gemv_f32_batch) {
        case 1: qk_q4_0::sum_rows<1, 4>(blocks, x, to, push, partial, at); break;
        case 2: qk_q4_0::sum_rows<2, 4>(blocks, x, to, push, partial, at); break;
        case 4: qk_q4_0::sum_rows<4, 4>(blocks, x, to, push, partial, at); break;
        case 8: qk_q4_0::sum_rows<8, 2>(blocks, x, to, push, partial, at); break;
    }
}

// q4_0_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
constant uint q4_0_gemv_f16_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint q4_0_gemv_f16_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint q4_0_gemv_f16_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void q4_0_gemv_f16(
    device const ushort *blocks [[buffer(0)]],
    device const half4 *x [[buffer(1)]],
    device float *y [[buffer(2)]],
    device const float *result_scale [[buffer(3)]],
    device const float *row_bias [[buffer(4)]],
    device const float *result_gate [[buffer(5)]],
    device const float *residual [[buffer(6)]],
    constant qk_q4_0::sum_shape &push [[buffer(7)]],
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
    const qk_q4_0::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, q4_0_gemv_f16_y_type};
    const qk_q4_0::standing at =
        qk_q4_0::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups, q4_0_gemv_f16_views, 0, 0, 0,
            0});
    if (q4_0_gemv_f16_batch < 8 && push.row_tiles % 4 == 0) {  // rows that are whole larger tiles, and x that is not too much
        switch (q4_0_gemv_f16_batch) {
            case 1: qk_q4_0::sum_large_rows<1>(blocks, x, to, push, partial, at); break;
            case 2: qk_q4_0::sum_large_rows<2>(blocks, x, to, push, partial, at); break;
            case 4: qk_q4_0::sum_large_rows<4>(blocks, x, to, push, partial, at); break;
        }
        return;
    }
    switch (q4_0_gemv_f16_batch) {
        case 1: qk_q4_0::sum_rows<1, 4>(blocks, x, to, push, partial, at); break;
        case 2: qk_q4_0::sum_rows<2, 4>(blocks, x, to, push, partial, at); break;
        case 4: qk_q4_0::sum_rows<4, 4>(blocks, x, to, push, partial, at); break;
        case 8: qk_q4_0::sum_rows<8, 2>(blocks, x, to, push, partial, at); break;
    }
}

// q4_0_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], x in f32.
struct q4_0_gemv_id_f32_push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 16 elements in a row
    uint batch;         // tokens
    uint slots;         // experts of each token
    uint x_slots;       // right-hand sides of each token: one for all of its slots, or one for each
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
    uint epilogue;      // what is done with results
    // Of views, which are on where x, ids, y and experts do not lie one after the other:
    uint weights_inner;               // rows from an expert to the next
    uint x_first, x_stride, x_inner;  // elements; from a slot's x to the next, and from a token's to the next
    uint y_skip, y_stride, y_inner;   // elements in y alone, then as of x
    uint ids_skip, ids_inner;         // and from a token's ids to the next
    uint sets, set_first;             // of experts with the same ids and x: those of this launch
    uint weights_first, weights_outer, y_outer;  // rows before them, and from a set to the next
};

constant uint q4_0_gemv_id_f32_views [[function_constant(30)]];
constant uint q4_0_gemv_id_f32_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void q4_0_gemv_id_f32(
    device const ushort *blocks [[buffer(0)]],
    device const float4 *x [[buffer(1)]],
    device const uint *ids [[buffer(2)]],
    device float *y [[buffer(4)]],
    device const float *result_scale [[buffer(5)]],
    device const float *row_bias [[buffer(6)]],
    device const float *result_gate [[buffer(7)]],
    device const float *residual [[buffer(8)]],
    device atomic_uint *status [[buffer(3)]],
    constant q4_0_gemv_id_f32_push &push [[buffer(9)]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]])
{
    constexpr uint ROWS = 4, TILES = 4;  // rows at a time; tiles of x that a thread keeps
    threadgroup float partial[32 * ROWS];
    qk_q4_0::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, q4_0_gemv_id_f32_y_type};
    const bool views = q4_0_gemv_id_f32_views != 0;
    const uint row_runs = push.row_tiles * 4, expert_rows = views ? push.weights_inner : push.rows;
    float4 kept[TILES][1][4];
    float kept_sum[TILES][1][1];
    // A simdgroup holds a slice of x and walks down the rows. While there are slices for more, simdgroups share a row.
    const uint slice = lanes * TILES, slices = (push.row_tiles + slice - 1) / slice;
    uint split = 1;
    while (split < slices && simdgroups % (2 * split) == 0) split *= 2;
    const uint teams = simdgroups / split, team = simdgroup / split;
    const uint parts = (push.rows + teams * ROWS - 1) / (teams * ROWS);
    const uint pairs = push.batch * push.slots, works = (views ? push.sets : 1) * pairs * parts;  // of all sets
    uint held = ~0u, held_vector = ~0u;
    for (uint work = group; work < works; work += groups) {
        const uint before = views ? work / parts / pairs : 0, set = views ? push.set_first + before : 0;
        const uint weights_begin = views ? push.weights_first + before * push.weights_outer : 0;
        const uint pair = work / parts - before * pairs, first = work % parts * teams * ROWS;
        const uint token = pair / push.slots, slot = pair % push.slots;
        const uint expert = ids[views ? push.ids_skip + token * push.ids_inner + slot : pair];
        const uint vector = push.x_slots == 1 ? token : pair;
        const uint x_place = push.x_first + token * push.x_inner + (push.x_slots == 1 ? 0 : slot) * push.x_stride;
        const uint x_begin = views ? x_place / 4 : vector * row_runs;
        const bool found = expert < push.experts;
        if (found ? expert < push.expert_first || expert >= push.expert_end : push.expert_first != 0) continue;  // another launch's
        // An expert that is not there has zeros.
        to.epilogue = found ? push.epilogue : push.epilogue & (qk_q4_0::ADDS_TO_Y | qk_q4_0::ADDS_RESIDUAL);
        float sum[ROWS][1] = {};
        if (!found && first == 0 && thread_index == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);  // zeros
        for (uint c = simdgroup % split; found && c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * lanes + lane;
                if (j >= push.row_tiles) continue;
                if (c != held || vector != held_vector)
                    qk_q4_0::load_x<TILES, 1>(x + x_begin, 1, row_runs, 0, j, k, kept, kept_sum);
                for (uint r = 0; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, push.rows - 1);
                    const uint n = weights_begin + (expert - push.expert_first) * expert_rows + row;
                    qk_q4_0::accumulate<TILES, 1>(blocks, push.row_tiles, n, j, k, kept, kept_sum, sum[r]);
                }
            }
            held = c;
            held_vector = vector;
        }
        for (uint r = 0; r < ROWS; ++r) {
            const float all = simd_sum(sum[r][0]);
            if (lane == 0) partial[simdgroup * ROWS + r] = all;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = thread_index; i < teams * ROWS; i += threads) {
            const uint at = i / ROWS * (split - 1) * ROWS + i;
            float total = 0.0f;
            for (uint s = 0; s < split; ++s) total += partial[at + s * ROWS];
            if (first + i >= push.rows) continue;
            const uint y_set = set * push.y_outer, e = set * push.experts + expert;
            const uint y_at = (views ? y_set + token * push.y_inner + slot * push.y_stride : pair * push.rows) + first + i;
            const qk_q4_0::place_of_result to_row = {y_at, e * push.rows + first + i, set * pairs + pair, e, views ? push.y_skip : 0};
            qk_q4_0::finish(to, to_row, total);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// q4_0_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], x in f16.
struct q4_0_gemv_id_f16_push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 16 elements in a row
    uint batch;         // tokens
    uint slots;         // experts of each token
    uint x_slots;       // right-hand sides of each token: one for all of its slots, or one for each
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
    uint epilogue;      // what is done with results
    // Of views, which are on where x, ids, y and experts do not lie one after the other:
    uint weights_inner;               // rows from an expert to the next
    uint x_first, x_stride, x_inner;  // elements; from a slot's x to the next, and from a token's to the next
    uint y_skip, y_stride, y_inner;   // elements in y alone, then as of x
    uint ids_skip, ids_inner;         // and from a token's ids to the next
    uint sets, set_first;             // of experts with the same ids and x: those of this launch
    uint weights_first, weights_outer, y_outer;  // rows before them, and from a set to the next
};

constant uint q4_0_gemv_id_f16_views [[function_constant(30)]];
constant uint q4_0_gemv_id_f16_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void q4_0_gemv_id_f16(
    device const ushort *blocks [[buffer(0)]],
    device const half4 *x [[buffer(1)]],
    device const uint *ids [[buffer(2)]],
    device float *y [[buffer(4)]],
    device const float *result_scale [[buffer(5)]],
    device const float *row_bias [[buffer(6)]],
    device const float *result_gate [[buffer(7)]],
    device const float *residual [[buffer(8)]],
    device atomic_uint *status [[buffer(3)]],
    constant q4_0_gemv_id_f16_push &push [[buffer(9)]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]])
{
    constexpr uint ROWS = 4, TILES = 4;  // rows at a time; tiles of x that a thread keeps
    threadgroup float partial[32 * ROWS];
    qk_q4_0::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, q4_0_gemv_id_f16_y_type};
    const bool views = q4_0_gemv_id_f16_views != 0;
    const uint row_runs = push.row_tiles * 4, expert_rows = views ? push.weights_inner : push.rows;
    float4 kept[TILES][1][4];
    float kept_sum[TILES][1][1];
    // A simdgroup holds a slice of x and walks down the rows. While there are slices for more, simdgroups share a row.
    const uint slice = lanes * TILES, slices = (push.row_tiles + slice - 1) / slice;
    uint split = 1;
    while (split < slices && simdgroups % (2 * split) == 0) split *= 2;
    const uint teams = simdgroups / split, team = simdgroup / split;
    const uint parts = (push.rows + teams * ROWS - 1) / (teams * ROWS);
    const uint pairs = push.batch * push.slots, works = (views ? push.sets : 1) * pairs * parts;  // of all sets
    uint held = ~0u, held_vector = ~0u;
    for (uint work = group; work < works; work += groups) {
        const uint before = views ? work / parts / pairs : 0, set = views ? push.set_first + before : 0;
        const uint weights_begin = views ? push.weights_first + before * push.weights_outer : 0;
        const uint pair = work / parts - before * pairs, first = work % parts * teams * ROWS;
        const uint token = pair / push.slots, slot = pair % push.slots;
        const uint expert = ids[views ? push.ids_skip + token * push.ids_inner + slot : pair];
        const uint vector = push.x_slots == 1 ? token : pair;
        const uint x_place = push.x_first + token * push.x_inner + (push.x_slots == 1 ? 0 : slot) * push.x_stride;
        const uint x_begin = views ? x_place / 4 : vector * row_runs;
        const bool found = expert < push.experts;
        if (found ? expert < push.expert_first || expert >= push.expert_end : push.expert_first != 0) continue;  // another launch's
        // An expert that is not there has zeros.
        to.epilogue = found ? push.epilogue : push.epilogue & (qk_q4_0::ADDS_TO_Y | qk_q4_0::ADDS_RESIDUAL);
        float sum[ROWS][1] = {};
        if (!found && first == 0 && thread_index == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);  // zeros
        for (uint c = simdgroup % split; found && c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * lanes + lane;
                if (j >= push.row_tiles) continue;
                if (c != held || vector != held_vector)
                    qk_q4_0::load_x<TILES, 1>(x + x_begin, 1, row_runs, 0, j, k, kept, kept_sum);
                for (uint r = 0; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, push.rows - 1);
                    const uint n = weights_begin + (expert - push.expert_first) * expert_rows + row;
                    qk_q4_0::accumulate<TILES, 1>(blocks, push.row_tiles, n, j, k, kept, kept_sum, sum[r]);
                }
            }
            held = c;
            held_vector = vector;
        }
        for (uint r = 0; r < ROWS; ++r) {
            const float all = simd_sum(sum[r][0]);
            if (lane == 0) partial[simdgroup * ROWS + r] = all;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = thread_index; i < teams * ROWS; i += threads) {
            const uint at = i / ROWS * (split - 1) * ROWS + i;
            float total = 0.0f;
            for (uint s = 0; s < split; ++s) total += partial[at + s * ROWS];
            if (first + i >= push.rows) continue;
            const uint y_set = set * push.y_outer, e = set * push.experts + expert;
            const uint y_at = (views ? y_set + token * push.y_inner + slot * push.y_stride : pair * push.rows) + first + i;
            const qk_q4_0::place_of_result to_row = {y_at, e * push.rows + first + i, set * pairs + pair, e, views ? push.y_skip : 0};
            qk_q4_0::finish(to, to_row, total);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// q4_0_encode_f32: makes blocks of floats, for formats that say how: blocks = encode(src), src in f32.
struct q4_0_encode_f32_push {
    uint tiles;  // blocks of 32 elements, to make
};

kernel void q4_0_encode_f32(
    device ushort *blocks [[buffer(0)]],
    device const float *src [[buffer(1)]],
    constant q4_0_encode_f32_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) qk_q4_0::qk_encode(i, src + i * 32u, blocks);
}

// q4_0_encode_f16: makes blocks of floats, for formats that say how: blocks = encode(src), src in f16.
struct q4_0_encode_f16_push {
    uint tiles;  // blocks of 32 elements, to make
};

kernel void q4_0_encode_f16(
    device ushort *blocks [[buffer(0)]],
    device const half *src [[buffer(1)]],
    constant q4_0_encode_f16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) qk_q4_0::qk_encode(i, src + i * 32u, blocks);
}

// q4_0_encode_bf16: makes blocks of floats, for formats that say how: blocks = encode(src), src in bf16.
struct q4_0_encode_bf16_push {
    uint tiles;  // blocks of 32 elements, to make
};

kernel void q4_0_encode_bf16(
    device ushort *blocks [[buffer(0)]],
    device const ushort *src [[buffer(1)]],
    constant q4_0_encode_bf16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) qk_q4_0::qk_encode(i, src + i * 32u, blocks);
}

// q4_0_set_rows_f32: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), src in f32.
struct q4_0_set_rows_f32_push {
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

kernel void q4_0_set_rows_f32(
    device ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device const float *src [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant q4_0_set_rows_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint token = i / push.row_tiles, tile = i % push.row_tiles;
        // Where the values of the token begin, in tiles, and the row of the table that it is of, or NO_ROW.
        const uint NO_ROW = ~0u, batch_tokens = push.batch_tokens, batch = batch_tokens == 0 ? 0 : token / batch_tokens;
        const uint inner = batch_tokens == 0 ? 0 : batch % push.batches, outer = batch_tokens == 0 ? 0 : batch / push.batches;
        uint values = token * push.row_tiles, row = batch_tokens == 0 ? indices[token] : token % batch_tokens;
        if (batch_tokens != 0) {
            values = push.value_first + row * push.value_step + inner * push.value_batch + outer * push.value_outer;
            if (push.index_words != 0) {
                const uint at = push.index_first + row * push.index_step + inner % push.index_batches * push.index_batch +
                                outer % push.index_outers * push.index_outer;
                row = push.index_words == 2 && indices[at + 1] != 0 ? NO_ROW : indices[at];
            }
            if (row < push.rows) row = row * push.row_step + inner * push.row_batch + outer * push.row_outer;
            else row = NO_ROW;
        } else if (row >= push.rows) {
            row = NO_ROW;
        }
        // A row that there is not is counted once, and a row of another launch is left alone.
        if (row == NO_ROW && push.row_first == 0 && tile == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        if (row < push.row_first || row >= push.row_end) continue;
        const uint block = push.table_first + (row - push.row_first) * push.row_tiles + tile;
        qk_q4_0::qk_encode(block, src + (values + tile) * 32u, blocks);
    }
}

// q4_0_set_rows_f16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), src in f16.
struct q4_0_set_rows_f16_push {
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

kernel void q4_0_set_rows_f16(
    device ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device const half *src [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant q4_0_set_rows_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint token = i / push.row_tiles, tile = i % push.row_tiles;
        // Where the values of the token begin, in tiles, and the row of the table that it is of, or NO_ROW.
        const uint NO_ROW = ~0u, batch_tokens = push.batch_tokens, batch = batch_tokens == 0 ? 0 : token / batch_tokens;
        const uint inner = batch_tokens == 0 ? 0 : batch % push.batches, outer = batch_tokens == 0 ? 0 : batch / push.batches;
        uint values = token * push.row_tiles, row = batch_tokens == 0 ? indices[token] : token % batch_tokens;
        if (batch_tokens != 0) {
            values = push.value_first + row * push.value_step + inner * push.value_batch + outer * push.value_outer;
            if (push.index_words != 0) {
                const uint at = push.index_first + row * push.index_step + inner % push.index_batches * push.index_batch +
                                outer % push.index_outers * push.index_outer;
                row = push.index_words == 2 && indices[at + 1] != 0 ? NO_ROW : indices[at];
            }
            if (row < push.rows) row = row * push.row_step + inner * push.row_batch + outer * push.row_outer;
            else row = NO_ROW;
        } else if (row >= push.rows) {
            row = NO_ROW;
        }
        // A row that there is not is counted once, and a row of another launch is left alone.
        if (row == NO_ROW && push.row_first == 0 && tile == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        if (row < push.row_first || row >= push.row_end) continue;
        const uint block = push.table_first + (row - push.row_first) * push.row_tiles + tile;
        qk_q4_0::qk_encode(block, src + (values + tile) * 32u, blocks);
    }
}

// q4_0_set_rows_bf16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), src in bf16.
struct q4_0_set_rows_bf16_push {
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

kernel void q4_0_set_rows_bf16(
    device ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device const ushort *src [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant q4_0_set_rows_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint token = i / push.row_tiles, tile = i % push.row_tiles;
        // Where the values of the token begin, in tiles, and the row of the table that it is of, or NO_ROW.
        const uint NO_ROW = ~0u, batch_tokens = push.batch_tokens, batch = batch_tokens == 0 ? 0 : token / batch_tokens;
        const uint inner = batch_tokens == 0 ? 0 : batch % push.batches, outer = batch_tokens == 0 ? 0 : batch / push.batches;
        uint values = token * push.row_tiles, row = batch_tokens == 0 ? indices[token] : token % batch_tokens;
        if (batch_tokens != 0) {
            values = push.value_first + row * push.value_step + inner * push.value_batch + outer * push.value_outer;
            if (push.index_words != 0) {
                const uint at = push.index_first + row * push.index_step + inner % push.index_batches * push.index_batch +
                                outer % push.index_outers * push.index_outer;
                row = push.index_words == 2 && indices[at + 1] != 0 ? NO_ROW : indices[at];
            }
            if (row < push.rows) row = row * push.row_step + inner * push.row_batch + outer * push.row_outer;
            else row = NO_ROW;
        } else if (row >= push.rows) {
            row = NO_ROW;
        }
        // A row that there is not is counted once, and a row of another launch is left alone.
        if (row == NO_ROW && push.row_first == 0 && tile == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        if (row < push.row_first || row >= push.row_end) continue;
        const uint block = push.table_first + (row - push.row_first) * push.row_tiles + tile;
        qk_q4_0::qk_encode(block, src + (values + tile) * 32u, blocks);
    }
}
