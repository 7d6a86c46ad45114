// nf4_b64: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format nf4_b64`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 36 bytes for 64 elements, 4.5 bits each.
// dequant, gather in f32: for each weight 0.562 bytes read and 4 written, 6.62 operations: 0.625 loads, 2.5 bits, 1.5 integer, 1 float, 1
// lookups.
// gemv in f32: for each weight 0.562 bytes read, 7.38 operations: 0.562 loads, 2.5 bits, 1.25 integer, 2.06 float, 1 lookups.
//     format nf4_b{group} "bitsandbytes NF4: the even element in the high nibble, a scale for each block of the flat tensor"
//     from "bitsandbytes: Linear4bit with quant_type nf4"
//     for group in 64 128
//     block group ragged {
//         buffer weight { w: u8[group / 2] }
//         buffer absmax { s: f32 }
//     }
//     table N: f32[16] = {
//         -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
//         -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
//         0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
//         0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
//     }
//     code q = w { 4 @ 4 (2:-4, group / 2:8) }
//     value = N[q] * s
//     # bitsandbytes' blockwise quantisation, whose comparisons are with what it has as the middles of neighbours. What is no number gets
//     # code 0, and so does all of a block of zeros, whose scale has no inverse.
//     encode {
//         m = max(abs(x))
//         s = max(m, 0.0)
//         r = m > 0.0 ? 1.0 / m : 0.0
//         v per 1 = m > 0.0 ? abs(x) <= 3.4028234663852886e38 ? x * r : -2.0 : -2.0
//         n8 per 1 = v > 0.03979014977812767 ? 8 : 0
//         n4 per 1 = v > (n8 ? 0.3893125355243683 : -0.33967943489551544) ? 4 : 0
//         n2 per 1 = v > (n8 ? n4 ? 0.6427869200706482 : 0.2035212516784668 : n4 ? -0.13791173323988914 : -0.6106329262256622) ? 2 : 0
//         high per 1 = n4 ? n2 ? 0.8614784181118011 : 0.5016634166240692 : n2 ? 0.2920137718319893 : 0.1202552504837513
//         low per 1 = n4 ? n2 ? -0.045525018125772476 : -0.23460740596055984 : n2 ? -0.4599952697753906 : -0.8480964004993439
//         q = n8 + n4 + n2 + (v > (n8 ? high : low) ? 1 : 0)
//     }
//
// Here group = 64.
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_nf4_b64 {

constant float N[16] = {
    -1.0f, -0.6961928f, -0.52507305f, -0.3949175f, -0.28444138f, -0.18477343f, -0.091050036f, 0.0f, 0.0795803f, 0.1609302f, 0.2461123f,
        0.33791524f, 0.44070983f, 0.562617f, 0.72295684f, 1.0f
};

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
inline void store(device float *dst, uint at, float v) {
    dst[at] = v;
}

inline void store(device half *dst, uint at, float v) {
    dst[at] = half(v);
}

inline void store(device ushort *dst, uint at, float v) {
    dst[at] = f32_to_bf16(v);
}

// The 8 values of a tile of a row, in runs of 4 consecutive elements.
inline void decode(device const uchar *weight, device const uint *absmax, uint cols, uint, uint tile, thread float4 *v) {
    const uint block_col = tile / 8u;
    const uint t = tile % 8u;
    // elements 0 to 3, counted from the tile's first
    const uint w0 = uint(weight[min(block_col * 32u + t * 4u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 4u + 1u, (cols - 1u) / 2u)]) << 8u);
    const uint4 q0 = (uint4(w0) >> uint4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    const float s = as_type<float>(absmax[block_col]);
    v[0] = float4(N[q0.x], N[q0.y], N[q0.z], N[q0.w]) * s;

    // elements 4 to 7, counted from the tile's first
    const uint w1 = uint(weight[min(block_col * 32u + t * 4u + 2u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 4u + 3u, (cols - 1u) / 2u)]) << 8u);
    const uint4 q1 = (uint4(w1) >> uint4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    v[1] = float4(N[q1.x], N[q1.y], N[q1.z], N[q1.w]) * s;
}

// Stores elements [from, to) of a tile; its first belongs at `at`.
template <typename T>
inline void write_tile(device T *dst, uint at, uint from, uint to, thread const float4 *v) {
    for (uint e = 0; e < 8; ++e) {
        if (e >= from && e < to) store(dst, at + e, v[e / 4][e % 4]);
    }
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
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
template <uint TILES, uint BATCH>
inline void accumulate(
    device const uchar *weight,
    device const uint *absmax,
    uint cols, uint row_tiles, uint n, uint j, uint k,
    thread const float4 (&x)[TILES][BATCH][4], thread const float (&x_sum)[TILES][BATCH][1],
    thread float (&sum)[BATCH])
{
    #pragma clang fp contract(fast)
    const uint tile = n * row_tiles + j;
    const uint block_col = tile / 4u;
    const uint t = tile % 4u;
    const float s = as_type<float>(absmax[block_col]);
    const uint w0 = uint(weight[min(block_col * 32u + t * 8u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 8u + 1u, (cols - 1u) / 2u)]) << 8u);
    const uint w1 = uint(weight[min(block_col * 32u + t * 8u + 2u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 8u + 3u, (cols - 1u) / 2u)]) << 8u);
    const uint w2 = uint(weight[min(block_col * 32u + t * 8u + 4u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 8u + 5u, (cols - 1u) / 2u)]) << 8u);
    const uint w3 = uint(weight[min(block_col * 32u + t * 8u + 6u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 8u + 7u, (cols - 1u) / 2u)]) << 8u);
    const uint4 q0 = (uint4(w0) >> uint4(4, 0, 12, 8)) & 15u, q1 = (uint4(w1) >> uint4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    const uint4 q2 = (uint4(w2) >> uint4(4, 0, 12, 8)) & 15u, q3 = (uint4(w3) >> uint4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    for (uint m = 0; m < BATCH; ++m) {
        sum[m] += s * (dot(x[k][m][0], float4(N[q0.x], N[q0.y], N[q0.z], N[q0.w]))
            + dot(x[k][m][1], float4(N[q1.x], N[q1.y], N[q1.z], N[q1.w])) + dot(x[k][m][2], float4(N[q2.x], N[q2.y], N[q2.z], N[q2.w]))
            + dot(x[k][m][3], float4(N[q3.x], N[q3.y], N[q3.z], N[q3.w])));
    }
}

// x again, element by element.
inline device const float *elements_of(device const float4 *x) {
    return (device const float *)x;
}

inline device const half *elements_of(device const half4 *x) {
    return (device const half *)x;
}

// The 16 values of a tile of a row, in runs of 4 consecutive elements.
inline void decode_tile(device const uchar *weight, device const uint *absmax, uint cols, uint, uint tile, thread float4 *v) {
    const uint block_col = tile / 4u;
    const uint t = tile % 4u;
    // elements 0 to 3, counted from the tile's first
    const uint w0 = uint(weight[min(block_col * 32u + t * 8u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 8u + 1u, (cols - 1u) / 2u)]) << 8u);
    const uint4 q0 = (uint4(w0) >> uint4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    const float s = as_type<float>(absmax[block_col]);
    v[0] = float4(N[q0.x], N[q0.y], N[q0.z], N[q0.w]) * s;

    // elements 4 to 7, counted from the tile's first
    const uint w1 = uint(weight[min(block_col * 32u + t * 8u + 2u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 8u + 3u, (cols - 1u) / 2u)]) << 8u);
    const uint4 q1 = (uint4(w1) >> uint4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    v[1] = float4(N[q1.x], N[q1.y], N[q1.z], N[q1.w]) * s;

    // elements 8 to 11, counted from the tile's first
    const uint w2 = uint(weight[min(block_col * 32u + t * 8u + 4u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 8u + 5u, (cols - 1u) / 2u)]) << 8u);
    const uint4 q2 = (uint4(w2) >> uint4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    v[2] = float4(N[q2.x], N[q2.y], N[q2.z], N[q2.w]) * s;

    // elements 12 to 15, counted from the tile's first
    const uint w3 = uint(weight[min(block_col * 32u + t * 8u + 6u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 8u + 7u, (cols - 1u) / 2u)]) << 8u);
    const uint4 q3 = (uint4(w3) >> uint4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    v[3] = float4(N[q3.x], N[q3.y], N[q3.z], N[q3.w]) * s;
}

// The products of what tile `j` of row `n` has in that row, for each right-hand side.
template <uint BATCH, typename T>
inline void sum_cut(
    device const uchar *weight,
    device const uint *absmax,
    uint cols, device const T *x_at, uint batch, uint row_cols, uint x_stride, uint n, uint j,
    thread float (&part)[BATCH])
{
    for (uint m = 0; m < BATCH; ++m) part[m] = 0.0f;
    const uint first = n * row_cols, tile = first / 16u + j, start = tile * 16u;
    if (start >= first + row_cols) return;
    const uint from = max(first, start) - start, to = min(first + row_cols - start, 16u);
    const uint row = 0u, place = start - first;
    float4 v[4];
    decode_tile(weight, absmax, cols, row, tile, v);
    for (uint e = from; e < to; ++e) {
        for (uint m = 0; m < BATCH; ++m) part[m] += v[e / 4u][e % 4u] * float(x_at[min(m, batch - 1u) * x_stride + place + e]);
    }
}

// Sums over rows. BATCH right-hand sides are kept, at least as many as there are; ROWS rows at a time.
template <uint BATCH, uint ROWS, typename X>
inline void sum_rows(
    device const uchar *weight,
    device const uint *absmax,
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
    // Tiles of a row that are taken as wholes: those that it fills, where its runs of x begin as x is stored.
    const uint row_cols = shape.cols / shape.rows, whole = row_cols % 16 + (at.views == 0 ? 0 : (at.x_begin | shape.x_stride) % 4);
    const uint whole_tiles = whole == 0 ? row_cols / 16 : 0, own_runs = row_cols / 4;
    const uint x_stride = at.views == 0 ? row_cols : shape.x_stride;
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
                if (j >= whole_tiles) {
                    for (uint r = 0; r < ROWS; ++r) {
                        float part[BATCH];
                        sum_cut<BATCH>(weight, absmax, shape.cols, elements_of(x_in) + at.x_begin, shape.batch, row_cols, x_stride,
                                       min(first + team * ROWS + r, shape.rows - 1), j, part);
                        for (uint m = 0; m < BATCH; ++m) sum[r][m] += part[m];
                    }
                    continue;
                }
                if (c != held) load_x<TILES, BATCH>(x_begin, shape.batch, row_runs, 0, j, k, x, x_sum);
                for (uint r = 0; r < ROWS; ++r)
                    accumulate<TILES, BATCH>(weight, absmax, shape.cols, shape.row_tiles,
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

inline uint qk_bits_of_f32(float v) {
    return qk_is_nan(v) ? 0x7FC00000u : as_type<uint>(v);
}

// Makes a block of floats.
template <typename T>
inline void qk_encode(uint qk_block, device const T *qk_x, device uint *weight, device uint *absmax) {
    uint qk_words_weight[8] = {0};
    uint qk_words_absmax[1] = {0};
    float qk_held[64];
    for (int qk_j = 0; qk_j < 16; ++qk_j) {
        const float4 qk_v = qk_four(qk_x, 0u + uint(qk_j));
        qk_held[4 * qk_j + 0] = qk_v[0];
        qk_held[4 * qk_j + 1] = qk_v[1];
        qk_held[4 * qk_j + 2] = qk_v[2];
        qk_held[4 * qk_j + 3] = qk_v[3];
    }
    float m = as_type<float>(0xFF800000u);
    for (int qk_i = 0; qk_i < 64; ++qk_i) {
        const float qk_0 = abs(qk_held[qk_i]);
        if (qk_0 > m) m = qk_0;
    }
    const float qk_1 = m;
    const float qk_2 = 0.0f;
    uint qk_bits_s = qk_bits_of_f32((qk_1 < qk_2 ? qk_2 : qk_1));
    {
        const int qk_at = 0;
        qk_words_absmax[qk_at >> 5] |= qk_bits_s << (qk_at & 31);
    }
    const float r = (m > 0.0f) ? (qk_quotient(1.0f, m)) : 0.0f;
    for (int qk_i = 0; qk_i < 64; ++qk_i) {
        const float v = (m > 0.0f) ? ((abs(qk_held[qk_i]) <= 3.4028235e+38f) ? (qk_held[qk_i] * r) : (-2.0f)) : (-2.0f);
        const int n8 = (v > 0.03979015f) ? 8 : 0;
        const int n4 = (v > ((n8 != 0) ? 0.38931254f : (-0.33967942f))) ? 4 : 0;
        const int n2 = (v > ((n8 != 0) ? ((n4 != 0) ? 0.6427869f : 0.20352125f) : ((n4 != 0) ? (-0.13791174f) : (-0.6106329f)))) ? 2 : 0;
        const float high = (n4 != 0) ? ((n2 != 0) ? 0.8614784f : 0.5016634f) : ((n2 != 0) ? 0.29201376f : 0.120255254f);
        const float low = (n4 != 0) ? ((n2 != 0) ? (-0.045525018f) : (-0.2346074f)) : ((n2 != 0) ? (-0.45999527f) : (-0.84809643f));
        const int q = ((n8 + n4) + n2) + ((v > ((n8 != 0) ? high : low)) ? 1 : 0);
        const uint qk_bits_q = uint(q);
        {
            const int qk_at = 4 - (qk_i) % 2 * 4 + qk_i / 2 * 8;
            qk_words_weight[qk_at >> 5] |= (qk_bits_q & 0xFu) << (qk_at & 31);
        }
    }
    for (int qk_j = 0; qk_j < 8; ++qk_j) {
        weight[qk_block * 8u + uint(qk_j)] = uint(qk_words_weight[qk_j]);
    }
    for (int qk_j = 0; qk_j < 1; ++qk_j) {
        absmax[qk_block * 1u + uint(qk_j)] = uint(qk_words_absmax[qk_j]);
    }
}

}  // namespace qk_nf4_b64

// nf4_b64_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct nf4_b64_dequant_f32_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void nf4_b64_dequant_f32(
    device const uchar *weight [[buffer(0)]],
    device const uint *absmax [[buffer(1)]],
    device float *dst [[buffer(2)]],
    constant nf4_b64_dequant_f32_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_nf4_b64::decode(weight, absmax, push.cols, row, tile, v);
        qk_nf4_b64::write_tile(dst, row * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// nf4_b64_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct nf4_b64_dequant_f16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void nf4_b64_dequant_f16(
    device const uchar *weight [[buffer(0)]],
    device const uint *absmax [[buffer(1)]],
    device half *dst [[buffer(2)]],
    constant nf4_b64_dequant_f16_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_nf4_b64::decode(weight, absmax, push.cols, row, tile, v);
        qk_nf4_b64::write_tile(dst, row * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// nf4_b64_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct nf4_b64_dequant_bf16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void nf4_b64_dequant_bf16(
    device const uchar *weight [[buffer(0)]],
    device const uint *absmax [[buffer(1)]],
    device ushort *dst [[buffer(2)]],
    constant nf4_b64_dequant_bf16_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_nf4_b64::decode(weight, absmax, push.cols, row, tile, v);
        qk_nf4_b64::write_tile(dst, row * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// nf4_b64_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct nf4_b64_gather_f32_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void nf4_b64_gather_f32(
    device const uchar *weight [[buffer(0)]],
    device const uint *absmax [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device float *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant nf4_b64_gather_f32_push &push [[buffer(5)]],
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
        // The row's elements begin and end within tiles.
        const uint first = index * push.table_cols, row = 0, tile = first / 8u + j;
        const uint start = tile * 8u;
        if (start >= first + push.table_cols) continue;
        const uint from = max(first, start) - start, to = min(first + push.table_cols - start, 8u);
        float4 v[2];
        if (found) {
            qk_nf4_b64::decode(weight, absmax, push.cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_nf4_b64::write_tile(dst, token * push.table_cols + start - first, from, to, v);
    }
}

// nf4_b64_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct nf4_b64_gather_f16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void nf4_b64_gather_f16(
    device const uchar *weight [[buffer(0)]],
    device const uint *absmax [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device half *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant nf4_b64_gather_f16_push &push [[buffer(5)]],
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
        // The row's elements begin and end within tiles.
        const uint first = index * push.table_cols, row = 0, tile = first / 8u + j;
        const uint start = tile * 8u;
        if (start >= first + push.table_cols) continue;
        const uint from = max(first, start) - start, to = min(first + push.table_cols - start, 8u);
        float4 v[2];
        if (found) {
            qk_nf4_b64::decode(weight, absmax, push.cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_nf4_b64::write_tile(dst, token * push.table_cols + start - first, from, to, v);
    }
}

// nf4_b64_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct nf4_b64_gather_bf16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void nf4_b64_gather_bf16(
    device const uchar *weight [[buffer(0)]],
    device const uint *absmax [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device ushort *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant nf4_b64_gather_bf16_push &push [[buffer(5)]],
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
        // The row's elements begin and end within tiles.
        const uint first = index * push.table_cols, row = 0, tile = first / 8u + j;
        const uint start = tile * 8u;
        if (start >= first + push.table_cols) continue;
        const uint from = max(first, start) - start, to = min(first + push.table_cols - start, 8u);
        float4 v[2];
        if (found) {
            qk_nf4_b64::decode(weight, absmax, push.cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_nf4_b64::write_tile(dst, token * push.table_cols + start - first, from, to, v);
    }
}

// nf4_b64_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
constant uint nf4_b64_gemv_f32_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint nf4_b64_gemv_f32_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint nf4_b64_gemv_f32_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void nf4_b64_gemv_f32(
    device const uchar *weight [[buffer(0)]],
    device const uint *absmax [[buffer(1)]],
    device const float4 *x [[buffer(2)]],
    device float *y [[buffer(3)]],
    device const float *result_scale [[buffer(4)]],
    device const float *row_bias [[buffer(5)]],
    device const float *result_gate [[buffer(6)]],
    device const float *residual [[buffer(7)]],
    constant qk_nf4_b64::sum_shape &push [[buffer(8)]],
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
    const qk_nf4_b64::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, nf4_b64_gemv_f32_y_type};
    const qk_nf4_b64::standing at =
        qk_nf4_b64::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups, nf4_b64_gemv_f32_views, 0,
            0, 0, 0});
    switch (nf4_b64_gemv_f32_batch) {
        case 1: qk_nf4_b64::sum_rows<1, 4>(weight, absmax, x, to, push, partial, at); break;
        case 2: qk_nf4_b64::sum_rows<2, 4>(weight, absmax, x, to, push, partial, at); break;
        case 4: qk_nf4_b64::sum_rows<4, 4>(weight, absmax, x, to, push, partial, at); break;
        case 8: qk_nf4_b64::sum_rows<8, 2>(weight, absmax, x, to, push, partial, at); break;
    }
}

// nf4_b64_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
constant uint nf4_b64_gemv_f16_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint nf4_b64_gemv_f16_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint nf4_b64_gemv_f16_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void nf4_b64_gemv_f16(
    device const uchar *weight [[buffer(0)]],
    device const uint *absmax [[buffer(1)]],
    device const half4 *x [[buffer(2)]],
    device float *y [[buffer(3)]],
    device const float *result_scale [[buffer(4)]],
    device const float *row_bias [[buffer(5)]],
    device const float *result_gate [[buffer(6)]],
    device const float *residual [[buffer(7)]],
    constant qk_nf4_b64::sum_shape &push [[buffer(8)]],
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
    const qk_nf4_b64::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, nf4_b64_gemv_f16_y_type};
    const qk_nf4_b64::standing at =
        qk_nf4_b64::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups, nf4_b64_gemv_f16_views, 0,
            0, 0, 0});
    switch (nf4_b64_gemv_f16_batch) {
        case 1: qk_nf4_b64::sum_rows<1, 4>(weight, absmax, x, to, push, partial, at); break;
        case 2: qk_nf4_b64::sum_rows<2, 4>(weight, absmax, x, to, push, partial, at); break;
        case 4: qk_nf4_b64::sum_rows<4, 4>(weight, absmax, x, to, push, partial, at); break;
        case 8: qk_nf4_b64::sum_rows<8, 2>(weight, absmax, x, to, push, partial, at); break;
    }
}

// nf4_b64_encode_f32: makes blocks of floats, for formats that say how: blocks = encode(src), src in f32.
struct nf4_b64_encode_f32_push {
    uint tiles;  // blocks of 64 elements, to make
};

kernel void nf4_b64_encode_f32(
    device uint *weight [[buffer(0)]],
    device uint *absmax [[buffer(1)]],
    device const float *src [[buffer(2)]],
    constant nf4_b64_encode_f32_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) qk_nf4_b64::qk_encode(i, src + i * 64u, weight, absmax);
}

// nf4_b64_encode_f16: makes blocks of floats, for formats that say how: blocks = encode(src), src in f16.
struct nf4_b64_encode_f16_push {
    uint tiles;  // blocks of 64 elements, to make
};

kernel void nf4_b64_encode_f16(
    device uint *weight [[buffer(0)]],
    device uint *absmax [[buffer(1)]],
    device const half *src [[buffer(2)]],
    constant nf4_b64_encode_f16_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) qk_nf4_b64::qk_encode(i, src + i * 64u, weight, absmax);
}

// nf4_b64_encode_bf16: makes blocks of floats, for formats that say how: blocks = encode(src), src in bf16.
struct nf4_b64_encode_bf16_push {
    uint tiles;  // blocks of 64 elements, to make
};

kernel void nf4_b64_encode_bf16(
    device uint *weight [[buffer(0)]],
    device uint *absmax [[buffer(1)]],
    device const ushort *src [[buffer(2)]],
    constant nf4_b64_encode_bf16_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) qk_nf4_b64::qk_encode(i, src + i * 64u, weight, absmax);
}

// nf4_b64_set_rows_f32: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), src in f32.
struct nf4_b64_set_rows_f32_push {
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

kernel void nf4_b64_set_rows_f32(
    device uint *weight [[buffer(0)]],
    device uint *absmax [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device const float *src [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant nf4_b64_set_rows_f32_push &push [[buffer(5)]],
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
        qk_nf4_b64::qk_encode(block, src + (values + tile) * 64u, weight, absmax);
    }
}

// nf4_b64_set_rows_f16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), src in f16.
struct nf4_b64_set_rows_f16_push {
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

kernel void nf4_b64_set_rows_f16(
    device uint *weight [[buffer(0)]],
    device uint *absmax [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device const half *src [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant nf4_b64_set_rows_f16_push &push [[buffer(5)]],
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
        qk_nf4_b64::qk_encode(block, src + (values + tile) * 64u, weight, absmax);
    }
}

// nf4_b64_set_rows_bf16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), src in bf16.
struct nf4_b64_set_rows_bf16_push {
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

kernel void nf4_b64_set_rows_bf16(
    device uint *weight [[buffer(0)]],
    device uint *absmax [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device const ushort *src [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant nf4_b64_set_rows_bf16_push &push [[buffer(5)]],
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
        qk_nf4_b64::qk_encode(block, src + (values + tile) * 64u, weight, absmax);
    }
}
