// fp8_block: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format fp8_block`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 16388 bytes for 16384 elements, 8.002 bits each.
// dequant, gather in f32: for each weight 1 bytes read and 4 written, 18.4 operations: 1.12 loads, 8.5 bits, 5.75 integer, 2 float, 1
// conversions.
// gemv in f32: for each weight 1 bytes read, 11.7 operations: 1.06 loads, 4.25 bits, 3.75 integer, 2.12 float, 0.5 conversions.
//     format fp8_block "E4M3 codes, a scale for each patch of 128 x 128"
//     from "DeepSeek-V3: block-wise FP8"
//     block 128 x 128 ragged {
//         buffer weight           { w: u8[128][128] }
//         buffer weight_scale_inv { s: f32 }
//     }
//     code q: e4m3 = w { 8 @ 0 (16384:8) }
//     value = q * s
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_fp8_block {

// The half in the low 16 bits.
inline float f16_to_f32(uint bits) {
    return float(as_type<half>(ushort(bits)));
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
inline void decode(device const uchar *weight, device const uint *weight_scale_inv, uint cols, uint grid_cols, uint row, uint tile,
    thread float4 *v) {
    const uint block_row = row / 128u;
    const uint block_col = tile / 16u;
    const uint t = tile % 16u;
    // elements 0 to 3, counted from the tile's first
    const uint w0 = uint(weight[row * cols + min(block_col * 128u + t * 8u, cols - 1u)])
        | (uint(weight[row * cols + min(block_col * 128u + t * 8u + 1u, cols - 1u)]) << 8u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 8u + 2u, cols - 1u)]) << 16u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 8u + 3u, cols - 1u)]) << 24u);
    const uint4 q_bits0 = (uint4(w0) >> uint4(0, 8, 16, 24)) & 0xFFu;
    const uint q_bits1 = q_bits0.x, q_bits2 = q_bits0.y, q_bits3 = q_bits0.z, q_bits4 = q_bits0.w;
    // w: 8 bits
    const float4 q0 = float4(f16_to_f32(((q_bits1 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits1 & 0x7Fu) << 7u) | ((q_bits1 & 128u) << 8u))
        * 256.0f, f16_to_f32(((q_bits2 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits2 & 0x7Fu) << 7u) | ((q_bits2 & 128u) << 8u)) * 256.0f,
        f16_to_f32(((q_bits3 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits3 & 0x7Fu) << 7u) | ((q_bits3 & 128u) << 8u)) * 256.0f,
        f16_to_f32(((q_bits4 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits4 & 0x7Fu) << 7u) | ((q_bits4 & 128u) << 8u)) * 256.0f);
    const float s = as_type<float>(weight_scale_inv[block_row * grid_cols + block_col]);
    v[0] = q0 * s;

    // elements 4 to 7, counted from the tile's first
    const uint w1 = uint(weight[row * cols + min(block_col * 128u + t * 8u + 4u, cols - 1u)])
        | (uint(weight[row * cols + min(block_col * 128u + t * 8u + 5u, cols - 1u)]) << 8u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 8u + 6u, cols - 1u)]) << 16u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 8u + 7u, cols - 1u)]) << 24u);
    const uint4 q_bits5 = (uint4(w1) >> uint4(0, 8, 16, 24)) & 0xFFu;
    const uint q_bits6 = q_bits5.x, q_bits7 = q_bits5.y, q_bits8 = q_bits5.z, q_bits9 = q_bits5.w;
    // w: 8 bits
    const float4 q1 = float4(f16_to_f32(((q_bits6 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits6 & 0x7Fu) << 7u) | ((q_bits6 & 128u) << 8u))
        * 256.0f, f16_to_f32(((q_bits7 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits7 & 0x7Fu) << 7u) | ((q_bits7 & 128u) << 8u)) * 256.0f,
        f16_to_f32(((q_bits8 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits8 & 0x7Fu) << 7u) | ((q_bits8 & 128u) << 8u)) * 256.0f,
        f16_to_f32(((q_bits9 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits9 & 0x7Fu) << 7u) | ((q_bits9 & 128u) << 8u)) * 256.0f);
    v[1] = q1 * s;
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
        x[k][m][0] = x0 * 256.0f;
        x[k][m][1] = x1 * 256.0f;
        x[k][m][2] = x2 * 256.0f;
        x[k][m][3] = x3 * 256.0f;
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
template <uint TILES, uint BATCH>
inline void accumulate(
    device const uchar *weight,
    device const uint *weight_scale_inv,
    uint cols, uint grid_cols, uint row_tiles, uint n, uint j, uint k,
    thread const float4 (&x)[TILES][BATCH][4], thread const float (&x_sum)[TILES][BATCH][1],
    thread float (&sum)[BATCH])
{
    #pragma clang fp contract(fast)
    const uint row = n, tile = j;
    const uint block_row = row / 128u;
    const uint block_col = tile / 8u;
    const uint t = tile % 8u;
    const uint w0 = uint(weight[row * cols + min(block_col * 128u + t * 16u, cols - 1u)])
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 1u, cols - 1u)]) << 8u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 2u, cols - 1u)]) << 16u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 3u, cols - 1u)]) << 24u);
    const uint w1 = uint(weight[row * cols + min(block_col * 128u + t * 16u + 4u, cols - 1u)])
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 5u, cols - 1u)]) << 8u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 6u, cols - 1u)]) << 16u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 7u, cols - 1u)]) << 24u);
    const uint w2 = uint(weight[row * cols + min(block_col * 128u + t * 16u + 8u, cols - 1u)])
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 9u, cols - 1u)]) << 8u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 10u, cols - 1u)]) << 16u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 11u, cols - 1u)]) << 24u);
    const uint w3 = uint(weight[row * cols + min(block_col * 128u + t * 16u + 12u, cols - 1u)])
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 13u, cols - 1u)]) << 8u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 14u, cols - 1u)]) << 16u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 15u, cols - 1u)]) << 24u);
    // NaN where a weight is
    const float nans = as_type<float>(((((w0 & 0x7F7F7F7Fu) + 0x1010101u) | ((w1 & 0x7F7F7F7Fu) + 0x1010101u)
        | ((w2 & 0x7F7F7F7Fu) + 0x1010101u) | ((w3 & 0x7F7F7F7Fu) + 0x1010101u)) & 0x80808080u) != 0u ? 0x7FC00000u : 0u);
    const float s = as_type<float>(weight_scale_inv[block_row * grid_cols + block_col]);
    const float2 pair0 = float2(as_type<half2>(((w0 << 7u) & 0x3F803F80u) | ((w0 << 8u) & 0x80008000u)));
    const float2 pair1 = float2(as_type<half2>(((w0 >> 1u) & 0x3F803F80u) | (w0 & 0x80008000u)));
    const float2 pair2 = float2(as_type<half2>(((w1 << 7u) & 0x3F803F80u) | ((w1 << 8u) & 0x80008000u)));
    const float2 pair3 = float2(as_type<half2>(((w1 >> 1u) & 0x3F803F80u) | (w1 & 0x80008000u)));
    const float2 pair4 = float2(as_type<half2>(((w2 << 7u) & 0x3F803F80u) | ((w2 << 8u) & 0x80008000u)));
    const float2 pair5 = float2(as_type<half2>(((w2 >> 1u) & 0x3F803F80u) | (w2 & 0x80008000u)));
    const float2 pair6 = float2(as_type<half2>(((w3 << 7u) & 0x3F803F80u) | ((w3 << 8u) & 0x80008000u)));
    const float2 pair7 = float2(as_type<half2>(((w3 >> 1u) & 0x3F803F80u) | (w3 & 0x80008000u)));
    for (uint m = 0; m < BATCH; ++m) {
        sum[m] += nans + s * (dot(x[k][m][0], float4(pair0.x, pair1.x, pair0.y, pair1.y))
            + dot(x[k][m][1], float4(pair2.x, pair3.x, pair2.y, pair3.y)) + dot(x[k][m][2], float4(pair4.x, pair5.x, pair4.y, pair5.y))
            + dot(x[k][m][3], float4(pair6.x, pair7.x, pair6.y, pair7.y)));
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
inline void decode_tile(device const uchar *weight, device const uint *weight_scale_inv, uint cols, uint grid_cols, uint row, uint tile,
    thread float4 *v) {
    const uint block_row = row / 128u;
    const uint block_col = tile / 8u;
    const uint t = tile % 8u;
    // elements 0 to 3, counted from the tile's first
    const uint w0 = uint(weight[row * cols + min(block_col * 128u + t * 16u, cols - 1u)])
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 1u, cols - 1u)]) << 8u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 2u, cols - 1u)]) << 16u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 3u, cols - 1u)]) << 24u);
    const uint4 q_bits0 = (uint4(w0) >> uint4(0, 8, 16, 24)) & 0xFFu;
    const uint q_bits1 = q_bits0.x, q_bits2 = q_bits0.y, q_bits3 = q_bits0.z, q_bits4 = q_bits0.w;
    // w: 8 bits
    const float4 q0 = float4(f16_to_f32(((q_bits1 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits1 & 0x7Fu) << 7u) | ((q_bits1 & 128u) << 8u))
        * 256.0f, f16_to_f32(((q_bits2 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits2 & 0x7Fu) << 7u) | ((q_bits2 & 128u) << 8u)) * 256.0f,
        f16_to_f32(((q_bits3 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits3 & 0x7Fu) << 7u) | ((q_bits3 & 128u) << 8u)) * 256.0f,
        f16_to_f32(((q_bits4 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits4 & 0x7Fu) << 7u) | ((q_bits4 & 128u) << 8u)) * 256.0f);
    const float s = as_type<float>(weight_scale_inv[block_row * grid_cols + block_col]);
    v[0] = q0 * s;

    // elements 4 to 7, counted from the tile's first
    const uint w1 = uint(weight[row * cols + min(block_col * 128u + t * 16u + 4u, cols - 1u)])
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 5u, cols - 1u)]) << 8u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 6u, cols - 1u)]) << 16u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 7u, cols - 1u)]) << 24u);
    const uint4 q_bits5 = (uint4(w1) >> uint4(0, 8, 16, 24)) & 0xFFu;
    const uint q_bits6 = q_bits5.x, q_bits7 = q_bits5.y, q_bits8 = q_bits5.z, q_bits9 = q_bits5.w;
    // w: 8 bits
    const float4 q1 = float4(f16_to_f32(((q_bits6 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits6 & 0x7Fu) << 7u) | ((q_bits6 & 128u) << 8u))
        * 256.0f, f16_to_f32(((q_bits7 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits7 & 0x7Fu) << 7u) | ((q_bits7 & 128u) << 8u)) * 256.0f,
        f16_to_f32(((q_bits8 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits8 & 0x7Fu) << 7u) | ((q_bits8 & 128u) << 8u)) * 256.0f,
        f16_to_f32(((q_bits9 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits9 & 0x7Fu) << 7u) | ((q_bits9 & 128u) << 8u)) * 256.0f);
    v[1] = q1 * s;

    // elements 8 to 11, counted from the tile's first
    const uint w2 = uint(weight[row * cols + min(block_col * 128u + t * 16u + 8u, cols - 1u)])
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 9u, cols - 1u)]) << 8u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 10u, cols - 1u)]) << 16u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 11u, cols - 1u)]) << 24u);
    const uint4 q_bits10 = (uint4(w2) >> uint4(0, 8, 16, 24)) & 0xFFu;
    const uint q_bits11 = q_bits10.x, q_bits12 = q_bits10.y, q_bits13 = q_bits10.z, q_bits14 = q_bits10.w;
    // w: 8 bits
    const float4 q2 = float4(f16_to_f32(((q_bits11 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits11 & 0x7Fu) << 7u) | ((q_bits11 & 128u) << 8u))
        * 256.0f, f16_to_f32(((q_bits12 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits12 & 0x7Fu) << 7u) | ((q_bits12 & 128u) << 8u)) * 256.0f,
        f16_to_f32(((q_bits13 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits13 & 0x7Fu) << 7u) | ((q_bits13 & 128u) << 8u)) * 256.0f,
        f16_to_f32(((q_bits14 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits14 & 0x7Fu) << 7u) | ((q_bits14 & 128u) << 8u)) * 256.0f);
    v[2] = q2 * s;

    // elements 12 to 15, counted from the tile's first
    const uint w3 = uint(weight[row * cols + min(block_col * 128u + t * 16u + 12u, cols - 1u)])
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 13u, cols - 1u)]) << 8u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 14u, cols - 1u)]) << 16u)
        | (uint(weight[row * cols + min(block_col * 128u + t * 16u + 15u, cols - 1u)]) << 24u);
    const uint4 q_bits15 = (uint4(w3) >> uint4(0, 8, 16, 24)) & 0xFFu;
    const uint q_bits16 = q_bits15.x, q_bits17 = q_bits15.y, q_bits18 = q_bits15.z, q_bits19 = q_bits15.w;
    // w: 8 bits
    const float4 q3 = float4(f16_to_f32(((q_bits16 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits16 & 0x7Fu) << 7u) | ((q_bits16 & 128u) << 8u))
        * 256.0f, f16_to_f32(((q_bits17 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits17 & 0x7Fu) << 7u) | ((q_bits17 & 128u) << 8u)) * 256.0f,
        f16_to_f32(((q_bits18 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits18 & 0x7Fu) << 7u) | ((q_bits18 & 128u) << 8u)) * 256.0f,
        f16_to_f32(((q_bits19 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits19 & 0x7Fu) << 7u) | ((q_bits19 & 128u) << 8u)) * 256.0f);
    v[3] = q3 * s;
}

// The products of what tile `j` of row `n` has in that row, for each right-hand side.
template <uint BATCH, typename T>
inline void sum_cut(
    device const uchar *weight,
    device const uint *weight_scale_inv,
    uint cols, uint grid_cols, device const T *x_at, uint batch, uint row_cols, uint x_stride, uint n, uint j,
    thread float (&part)[BATCH])
{
    for (uint m = 0; m < BATCH; ++m) part[m] = 0.0f;
    const uint row = n, tile = j, place = j * 16u;
    const uint from = 0u, to = min(row_cols - place, 16u);
    float4 v[4];
    decode_tile(weight, weight_scale_inv, cols, grid_cols, row, tile, v);
    for (uint e = from; e < to; ++e) {
        for (uint m = 0; m < BATCH; ++m) part[m] += v[e / 4u][e % 4u] * float(x_at[min(m, batch - 1u) * x_stride + place + e]);
    }
}

// Sums over rows. BATCH right-hand sides are kept, at least as many as there are; ROWS rows at a time.
template <uint BATCH, uint ROWS, typename X>
inline void sum_rows(
    device const uchar *weight,
    device const uint *weight_scale_inv,
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
    const uint row_cols = shape.cols, whole = row_cols % 4 + (at.views == 0 ? 0 : (at.x_begin | shape.x_stride) % 4);
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
                        sum_cut<BATCH>(weight, weight_scale_inv, shape.cols, shape.grid_cols, elements_of(x_in) + at.x_begin, shape.batch,
                            row_cols, x_stride,
                                       min(first + team * ROWS + r, shape.rows - 1), j, part);
                        for (uint m = 0; m < BATCH; ++m) sum[r][m] += part[m];
                    }
                    continue;
                }
                if (c != held) load_x<TILES, BATCH>(x_begin, shape.batch, row_runs, 0, j, k, x, x_sum);
                for (uint r = 0; r < ROWS; ++r)
                    accumulate<TILES, BATCH>(weight, weight_scale_inv, shape.cols, shape.grid_cols, shape.row_tiles,
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

}  // namespace qk_fp8_block

// fp8_block_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct fp8_block_dequant_f32_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void fp8_block_dequant_f32(
    device const uchar *weight [[buffer(0)]],
    device const uint *weight_scale_inv [[buffer(1)]],
    device float *dst [[buffer(2)]],
    constant fp8_block_dequant_f32_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_fp8_block::decode(weight, weight_scale_inv, push.cols, push.grid_cols, row, tile, v);
        qk_fp8_block::write_tile(dst, row * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// fp8_block_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct fp8_block_dequant_f16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void fp8_block_dequant_f16(
    device const uchar *weight [[buffer(0)]],
    device const uint *weight_scale_inv [[buffer(1)]],
    device half *dst [[buffer(2)]],
    constant fp8_block_dequant_f16_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_fp8_block::decode(weight, weight_scale_inv, push.cols, push.grid_cols, row, tile, v);
        qk_fp8_block::write_tile(dst, row * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// fp8_block_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct fp8_block_dequant_bf16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void fp8_block_dequant_bf16(
    device const uchar *weight [[buffer(0)]],
    device const uint *weight_scale_inv [[buffer(1)]],
    device ushort *dst [[buffer(2)]],
    constant fp8_block_dequant_bf16_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_fp8_block::decode(weight, weight_scale_inv, push.cols, push.grid_cols, row, tile, v);
        qk_fp8_block::write_tile(dst, row * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// fp8_block_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct fp8_block_gather_f32_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void fp8_block_gather_f32(
    device const uchar *weight [[buffer(0)]],
    device const uint *weight_scale_inv [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device float *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant fp8_block_gather_f32_push &push [[buffer(5)]],
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
        const uint row = index, tile = j;
        float4 v[2];
        if (found) {
            qk_fp8_block::decode(weight, weight_scale_inv, push.cols, push.grid_cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_fp8_block::write_tile(dst, token * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// fp8_block_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct fp8_block_gather_f16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void fp8_block_gather_f16(
    device const uchar *weight [[buffer(0)]],
    device const uint *weight_scale_inv [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device half *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant fp8_block_gather_f16_push &push [[buffer(5)]],
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
        const uint row = index, tile = j;
        float4 v[2];
        if (found) {
            qk_fp8_block::decode(weight, weight_scale_inv, push.cols, push.grid_cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_fp8_block::write_tile(dst, token * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// fp8_block_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct fp8_block_gather_bf16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void fp8_block_gather_bf16(
    device const uchar *weight [[buffer(0)]],
    device const uint *weight_scale_inv [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device ushort *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant fp8_block_gather_bf16_push &push [[buffer(5)]],
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
        const uint row = index, tile = j;
        float4 v[2];
        if (found) {
            qk_fp8_block::decode(weight, weight_scale_inv, push.cols, push.grid_cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_fp8_block::write_tile(dst, token * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// fp8_block_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
constant uint fp8_block_gemv_f32_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint fp8_block_gemv_f32_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint fp8_block_gemv_f32_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void fp8_block_gemv_f32(
    device const uchar *weight [[buffer(0)]],
    device const uint *weight_scale_inv [[buffer(1)]],
    device const float4 *x [[buffer(2)]],
    device float *y [[buffer(3)]],
    device const float *result_scale [[buffer(4)]],
    device const float *row_bias [[buffer(5)]],
    device const float *result_gate [[buffer(6)]],
    device const float *residual [[buffer(7)]],
    constant qk_fp8_block::sum_shape &push [[buffer(8)]],
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
    const qk_fp8_block::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, fp8_block_gemv_f32_y_type};
    const qk_fp8_block::standing at =
        qk_fp8_block::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups,
            fp8_block_gemv_f32_views, 0, 0, 0, 0});
    switch (fp8_block_gemv_f32_batch) {
        case 1: qk_fp8_block::sum_rows<1, 4>(weight, weight_scale_inv, x, to, push, partial, at); break;
        case 2: qk_fp8_block::sum_rows<2, 4>(weight, weight_scale_inv, x, to, push, partial, at); break;
        case 4: qk_fp8_block::sum_rows<4, 4>(weight, weight_scale_inv, x, to, push, partial, at); break;
        case 8: qk_fp8_block::sum_rows<8, 2>(weight, weight_scale_inv, x, to, push, partial, at); break;
    }
}

// fp8_block_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
constant uint fp8_block_gemv_f16_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint fp8_block_gemv_f16_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint fp8_block_gemv_f16_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void fp8_block_gemv_f16(
    device const uchar *weight [[buffer(0)]],
    device const uint *weight_scale_inv [[buffer(1)]],
    device const half4 *x [[buffer(2)]],
    device float *y [[buffer(3)]],
    device const float *result_scale [[buffer(4)]],
    device const float *row_bias [[buffer(5)]],
    device const float *result_gate [[buffer(6)]],
    device const float *residual [[buffer(7)]],
    constant qk_fp8_block::sum_shape &push [[buffer(8)]],
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
    const qk_fp8_block::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, fp8_block_gemv_f16_y_type};
    const qk_fp8_block::standing at =
        qk_fp8_block::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups,
            fp8_block_gemv_f16_views, 0, 0, 0, 0});
    switch (fp8_block_gemv_f16_batch) {
        case 1: qk_fp8_block::sum_rows<1, 4>(weight, weight_scale_inv, x, to, push, partial, at); break;
        case 2: qk_fp8_block::sum_rows<2, 4>(weight, weight_scale_inv, x, to, push, partial, at); break;
        case 4: qk_fp8_block::sum_rows<4, 4>(weight, weight_scale_inv, x, to, push, partial, at); break;
        case 8: qk_fp8_block::sum_rows<8, 2>(weight, weight_scale_inv, x, to, push, partial, at); break;
    }
}
