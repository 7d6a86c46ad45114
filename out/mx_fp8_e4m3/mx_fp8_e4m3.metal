// mx_fp8_e4m3: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format mx_fp8_e4m3`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 33 bytes for 32 elements, 8.25 bits each.
// dequant, gather in f32: for each weight 1.03 bytes read and 4 written, 13.5 operations: 0.375 loads, 7.12 bits, 3 integer, 2 float, 1
// conversions.
// gemv in f32: for each weight 1.03 bytes read, 6.34 operations: 0.266 loads, 2.84 bits, 0.688 integer, 2.05 float, 0.5 conversions.
// gemv_id in f32: for each weight 1.03 bytes read, 6.75 operations: 0.312 loads, 2.81 bits, 1 integer, 2.12 float, 0.5 conversions.
//
//     format mx_fp8_e4m3 "OCP MX: E4M3 codes, a power of two for 32"
//     from "OCP Microscaling Formats v1.0"
//
//     block 32 {
//         buffer codes  { w: u8[32] }
//         buffer scales { s: e8m0 }
//     }
//
//     code q: e4m3 = w { 8 @ 0 (32:8) }
//
//     value = q * s
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_mx_fp8_e4m3 {

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
inline void decode(device const uint *codes, device const uchar *scales, uint block, uint tile, thread float4 *v) {
    // elements 0 to 3, counted from the tile's first
    const uint w0 = codes[block * 8u + tile * 2u];
    const uint4 q_bits0 = (uint4(w0) >> uint4(0, 8, 16, 24)) & 0xFFu;
    const uint q_bits1 = q_bits0.x, q_bits2 = q_bits0.y, q_bits3 = q_bits0.z, q_bits4 = q_bits0.w;
    // w: 8 bits
    const float4 q0 = float4(f16_to_f32(((q_bits1 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits1 & 0x7Fu) << 7u) | ((q_bits1 & 128u) << 8u))
        * 256.0f, f16_to_f32(((q_bits2 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits2 & 0x7Fu) << 7u) | ((q_bits2 & 128u) << 8u)) * 256.0f,
        f16_to_f32(((q_bits3 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits3 & 0x7Fu) << 7u) | ((q_bits3 & 128u) << 8u)) * 256.0f,
        f16_to_f32(((q_bits4 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits4 & 0x7Fu) << 7u) | ((q_bits4 & 128u) << 8u)) * 256.0f);
    const uint s_bits = uint(scales[block]);
    const float s = as_type<float>(s_bits == 0xFFu ? 0x7FC00000u : s_bits == 0u ? 0x400000u : s_bits << 23u);
    v[0] = q0 * s;

    // elements 4 to 7, counted from the tile's first
    const uint w1 = codes[block * 8u + tile * 2u + 1u];
    const uint4 q_bits5 = (uint4(w1) >> uint4(0, 8, 16, 24)) & 0xFFu;
    const uint q_bits6 = q_bits5.x, q_bits7 = q_bits5.y, q_bits8 = q_bits5.z, q_bits9 = q_bits5.w;
    // w: 8 bits
    const float4 q1 = float4(f16_to_f32(((q_bits6 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits6 & 0x7Fu) << 7u) | ((q_bits6 & 128u) << 8u))
        * 256.0f, f16_to_f32(((q_bits7 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits7 & 0x7Fu) << 7u) | ((q_bits7 & 128u) << 8u)) * 256.0f,
        f16_to_f32(((q_bits8 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits8 & 0x7Fu) << 7u) | ((q_bits8 & 128u) << 8u)) * 256.0f,
        f16_to_f32(((q_bits9 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits9 & 0x7Fu) << 7u) | ((q_bits9 & 128u) << 8u)) * 256.0f);
    v[1] = q1 * s;
}

// Stores a tile's runs where they belong in block `block` of the output.
template <typename T>
inline void write_tile(device T *dst, uint block, uint tile, thread const float4 *v) {
    const uint at = block * 8u + tile * 2u;
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
    const uint tile = j % 2u, place = j / 2u * 8u + tile * 4u;
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
    device const uint *codes,
    device const uchar *scales,
    uint row_tiles, uint n, uint j, uint k,
    thread const float4 (&x)[TILES][BATCH][4], thread const float (&x_sum)[TILES][BATCH][1],
    thread float (&sum)[BATCH])
{
    #pragma clang fp contract(fast)
    const uint block = n * (row_tiles / 2u) + j / 2u, tile = j % 2u;
    const uint w0 = codes[block * 8u + tile * 4u], w1 = codes[block * 8u + tile * 4u + 1u], w2 = codes[block * 8u + tile * 4u + 2u];
    const uint w3 = codes[block * 8u + tile * 4u + 3u], s_bits = uint(scales[block]);
    // NaN where a weight is
    const float nans = as_type<float>(((((w0 & 0x7F7F7F7Fu) + 0x1010101u) | ((w1 & 0x7F7F7F7Fu) + 0x1010101u)
        | ((w2 & 0x7F7F7F7Fu) + 0x1010101u) | ((w3 & 0x7F7F7F7Fu) + 0x1010101u)) & 0x80808080u) != 0u ? 0x7FC00000u : 0u);
    const float s = as_type<float>(s_bits == 0xFFu ? 0x7FC00000u : s_bits == 0u ? 0x400000u : s_bits << 23u);
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

// Sums over rows. BATCH right-hand sides are kept, at least as many as there are; ROWS rows at a time.
template <uint BATCH, uint ROWS, typename X>
inline void sum_rows(
    device const uint *codes,
    device const uchar *scales,
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
                    accumulate<TILES, BATCH>(codes, scales, shape.row_tiles,
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
    thread float4 (&x)[TILES][BATCH][16], thread float (&x_sum)[TILES][BATCH][1])
{
    const uint tile = j % 2u, place = j / 2u * 32u + tile * 16u;
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
        x[k][m][0] = x0 * 256.0f;
        x[k][m][1] = x1 * 256.0f;
        x[k][m][2] = x2 * 256.0f;
        x[k][m][3] = x3 * 256.0f;
        x[k][m][4] = x4 * 256.0f;
        x[k][m][5] = x5 * 256.0f;
        x[k][m][6] = x6 * 256.0f;
        x[k][m][7] = x7 * 256.0f;
        x[k][m][8] = x8 * 256.0f;
        x[k][m][9] = x9 * 256.0f;
        x[k][m][10] = x10 * 256.0f;
        x[k][m][11] = x11 * 256.0f;
        x[k][m][12] = x12 * 256.0f;
        x[k][m][13] = x13 * 256.0f;
        x[k][m][14] = x14 * 256.0f;
        x[k][m][15] = x15 * 256.0f;
    }
}

// Adds the products of larger tile `j` of row `n` with what is kept of x, for each right-hand side.
template <uint TILES, uint BATCH>
inline void accumulate_large(
    device const uint *codes,
    device const uchar *scales,
    uint row_tiles, uint n, uint j, uint k,
    thread const float4 (&x)[TILES][BATCH][16], thread const float (&x_sum)[TILES][BATCH][1],
    thread float (&sum)[BATCH])
{
    #pragma clang fp contract(fast)
    device const uint *scales_word = (device const uint *)scales;
    const uint block = n * (row_tiles / 8u) + j / 2u, tile = j % 2u;
    const uint w0 = codes[block * 32u + tile * 16u], w1 = codes[block * 32u + tile * 16u + 1u], w2 = codes[block * 32u + tile * 16u + 2u];
    const uint w3 = codes[block * 32u + tile * 16u + 3u], w4 = codes[block * 32u + tile * 16u + 4u];
    const uint w5 = codes[block * 32u + tile * 16u + 5u], w6 = codes[block * 32u + tile * 16u + 6u];
    const uint w7 = codes[block * 32u + tile * 16u + 7u], w8 = codes[block * 32u + tile * 16u + 8u];
    const uint w9 = codes[block * 32u + tile * 16u + 9u], w10 = codes[block * 32u + tile * 16u + 10u];
    const uint w11 = codes[block * 32u + tile * 16u + 11u], w12 = codes[block * 32u + tile * 16u + 12u];
    const uint w13 = codes[block * 32u + tile * 16u + 13u], w14 = codes[block * 32u + tile * 16u + 14u];
    const uint w15 = codes[block * 32u + tile * 16u + 15u];
    // NaN where a weight is
    const float nans = as_type<float>(((((w0 & 0x7F7F7F7Fu) + 0x1010101u) | ((w1 & 0x7F7F7F7Fu) + 0x1010101u)
        | ((w2 & 0x7F7F7F7Fu) + 0x1010101u) | ((w3 & 0x7F7F7F7Fu) + 0x1010101u) | ((w4 & 0x7F7F7F7Fu) + 0x1010101u)
        | ((w5 & 0x7F7F7F7Fu) + 0x1010101u) | ((w6 & 0x7F7F7F7Fu) + 0x1010101u) | ((w7 & 0x7F7F7F7Fu) + 0x1010101u)
        | ((w8 & 0x7F7F7F7Fu) + 0x1010101u) | ((w9 & 0x7F7F7F7Fu) + 0x1010101u) | ((w10 & 0x7F7F7F7Fu) + 0x1010101u)
        | ((w11 & 0x7F7F7F7Fu) + 0x1010101u) | ((w12 & 0x7F7F7F7Fu) + 0x1010101u) | ((w13 & 0x7F7F7F7Fu) + 0x1010101u)
        | ((w14 & 0x7F7F7F7Fu) + 0x1010101u) | ((w15 & 0x7F7F7F7Fu) + 0x1010101u)) & 0x80808080u) != 0u ? 0x7FC00000u : 0u);
    const uint shifted = scales_word[block] >> (tile * 16u), s_bits0 = shifted & 0xFFu;
    const float s0 = as_type<float>(s_bits0 == 0xFFu ? 0x7FC00000u : s_bits0 == 0u ? 0x400000u : s_bits0 << 23u);
    const float2 pair0 = float2(as_type<half2>(((w0 << 7u) & 0x3F803F80u) | ((w0 << 8u) & 0x80008000u)));
    const float2 pair1 = float2(as_type<half2>(((w0 >> 1u) & 0x3F803F80u) | (w0 & 0x80008000u)));
    const float2 pair2 = float2(as_type<half2>(((w1 << 7u) & 0x3F803F80u) | ((w1 << 8u) & 0x80008000u)));
    const float2 pair3 = float2(as_type<half2>(((w1 >> 1u) & 0x3F803F80u) | (w1 & 0x80008000u)));
    float dots0[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots0[m] = dot_add(dot(x[k][m][0], float4(pair0.x, pair1.x, pair0.y, pair1.y)), x[k][m][1],
        float4(pair2.x, pair3.x, pair2.y, pair3.y));
    const float2 pair4 = float2(as_type<half2>(((w2 << 7u) & 0x3F803F80u) | ((w2 << 8u) & 0x80008000u)));
    const float2 pair5 = float2(as_type<half2>(((w2 >> 1u) & 0x3F803F80u) | (w2 & 0x80008000u)));
    float dots1[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots1[m] = dot_add(dots0[m], x[k][m][2], float4(pair4.x, pair5.x, pair4.y, pair5.y));
    const float2 pair6 = float2(as_type<half2>(((w3 << 7u) & 0x3F803F80u) | ((w3 << 8u) & 0x80008000u)));
    const float2 pair7 = float2(as_type<half2>(((w3 >> 1u) & 0x3F803F80u) | (w3 & 0x80008000u)));
    float dots2[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots2[m] = dot_add(dots1[m], x[k][m][3], float4(pair6.x, pair7.x, pair6.y, pair7.y));
    const float2 pair8 = float2(as_type<half2>(((w4 << 7u) & 0x3F803F80u) | ((w4 << 8u) & 0x80008000u)));
    const float2 pair9 = float2(as_type<half2>(((w4 >> 1u) & 0x3F803F80u) | (w4 & 0x80008000u)));
    float dots3[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots3[m] = dot_add(dots2[m], x[k][m][4], float4(pair8.x, pair9.x, pair8.y, pair9.y));
    const float2 pair10 = float2(as_type<half2>(((w5 << 7u) & 0x3F803F80u) | ((w5 << 8u) & 0x80008000u)));
    const float2 pair11 = float2(as_type<half2>(((w5 >> 1u) & 0x3F803F80u) | (w5 & 0x80008000u)));
    float dots4[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots4[m] = dot_add(dots3[m], x[k][m][5], float4(pair10.x, pair11.x, pair10.y, pair11.y));
    const float2 pair12 = float2(as_type<half2>(((w6 << 7u) & 0x3F803F80u) | ((w6 << 8u) & 0x80008000u)));
    const float2 pair13 = float2(as_type<half2>(((w6 >> 1u) & 0x3F803F80u) | (w6 & 0x80008000u)));
    float dots5[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots5[m] = dot_add(dots4[m], x[k][m][6], float4(pair12.x, pair13.x, pair12.y, pair13.y));
    const float2 pair14 = float2(as_type<half2>(((w7 << 7u) & 0x3F803F80u) | ((w7 << 8u) & 0x80008000u)));
    const float2 pair15 = float2(as_type<half2>(((w7 >> 1u) & 0x3F803F80u) | (w7 & 0x80008000u)));
    float dots6[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots6[m] = dot_add(dots5[m], x[k][m][7], float4(pair14.x, pair15.x, pair14.y, pair15.y));
    const uint s_bits1 = (shifted >> 8u) & 0xFFu;
    const float s1 = as_type<float>(s_bits1 == 0xFFu ? 0x7FC00000u : s_bits1 == 0u ? 0x400000u : s_bits1 << 23u);
    const float2 pair16 = float2(as_type<half2>(((w8 << 7u) & 0x3F803F80u) | ((w8 << 8u) & 0x80008000u)));
    const float2 pair17 = float2(as_type<half2>(((w8 >> 1u) & 0x3F803F80u) | (w8 & 0x80008000u)));
    const float2 pair18 = float2(as_type<half2>(((w9 << 7u) & 0x3F803F80u) | ((w9 << 8u) & 0x80008000u)));
    const float2 pair19 = float2(as_type<half2>(((w9 >> 1u) & 0x3F803F80u) | (w9 & 0x80008000u)));
    float dots7[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots7[m] = dot_add(dot(x[k][m][8], float4(pair16.x, pair17.x, pair16.y, pair17.y)), x[k][m][9],
        float4(pair18.x, pair19.x, pair18.y, pair19.y));
    const float2 pair20 = float2(as_type<half2>(((w10 << 7u) & 0x3F803F80u) | ((w10 << 8u) & 0x80008000u)));
    const float2 pair21 = float2(as_type<half2>(((w10 >> 1u) & 0x3F803F80u) | (w10 & 0x80008000u)));
    float dots8[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots8[m] = dot_add(dots7[m], x[k][m][10], float4(pair20.x, pair21.x, pair20.y, pair21.y));
    const float2 pair22 = float2(as_type<half2>(((w11 << 7u) & 0x3F803F80u) | ((w11 << 8u) & 0x80008000u)));
    const float2 pair23 = float2(as_type<half2>(((w11 >> 1u) & 0x3F803F80u) | (w11 & 0x80008000u)));
    float dots9[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots9[m] = dot_add(dots8[m], x[k][m][11], float4(pair22.x, pair23.x, pair22.y, pair23.y));
    const float2 pair24 = float2(as_type<half2>(((w12 << 7u) & 0x3F803F80u) | ((w12 << 8u) & 0x80008000u)));
    const float2 pair25 = float2(as_type<half2>(((w12 >> 1u) & 0x3F803F80u) | (w12 & 0x80008000u)));
    float dots10[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots10[m] = dot_add(dots9[m], x[k][m][12], float4(pair24.x, pair25.x, pair24.y, pair25.y));
    const float2 pair26 = float2(as_type<half2>(((w13 << 7u) & 0x3F803F80u) | ((w13 << 8u) & 0x80008000u)));
    const float2 pair27 = float2(as_type<half2>(((w13 >> 1u) & 0x3F803F80u) | (w13 & 0x80008000u)));
    float dots11[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots11[m] = dot_add(dots10[m], x[k][m][13], float4(pair26.x, pair27.x, pair26.y, pair27.y));
    const float2 pair28 = float2(as_type<half2>(((w14 << 7u) & 0x3F803F80u) | ((w14 << 8u) & 0x80008000u)));
    const float2 pair29 = float2(as_type<half2>(((w14 >> 1u) & 0x3F803F80u) | (w14 & 0x80008000u)));
    float dots12[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots12[m] = dot_add(dots11[m], x[k][m][14], float4(pair28.x, pair29.x, pair28.y, pair29.y));
    const float2 pair30 = float2(as_type<half2>(((w15 << 7u) & 0x3F803F80u) | ((w15 << 8u) & 0x80008000u)));
    const float2 pair31 = float2(as_type<half2>(((w15 >> 1u) & 0x3F803F80u) | (w15 & 0x80008000u)));
    float dots13[BATCH];
    for (uint m = 0; m < BATCH; ++m) dots13[m] = dot_add(dots12[m], x[k][m][15], float4(pair30.x, pair31.x, pair30.y, pair31.y));
    for (uint m = 0; m < BATCH; ++m) sum[m] += nans + s0 * dots6[m] + s1 * dots13[m];
}

// A simdgroup meets its rows ROWS at a time, which share what a thread keeps of x; `split` of them share a row. ONE: each has one
// slice of a row, of which x is loaded once for all rows.
template <uint BATCH, uint ROWS, bool ONE, typename X>
inline void walk_large_rows(
    device const uint *codes,
    device const uchar *scales,
    device const X *x_in, results to, constant sum_shape &shape, threadgroup float *partial, standing at, uint split)
{
    constexpr uint TILES = 1;
    float4 x[TILES][BATCH][16];
    float x_sum[TILES][BATCH][1];
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
                accumulate_large<TILES, BATCH>(codes, scales, shape.row_tiles,
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
    device const uint *codes,
    device const uchar *scales,
    device const X *x_in, results to, constant sum_shape &shape, threadgroup float *partial, standing at)
{
    constexpr uint BUSY = 2048;  // simdgroups that keep a device busy
    constexpr uint ROWS = 4;
    const uint slices = (shape.row_tiles / 4 + at.lanes - 1) / at.lanes;
    uint split = 1;  // simdgroups that share a row
    while (split < slices && at.simdgroups % (2 * split) == 0 && shape.rows * split < BUSY * ROWS) split *= 2;
    if (split >= slices) walk_large_rows<BATCH, ROWS, true>(codes, scales, x_in, to, shape, partial, at, split);
    else walk_large_rows<BATCH, ROWS, false>(codes, scales, x_in, to, shape, partial, at, split);
}

}  // namespace qk_mx_fp8_e4m3

// mx_fp8_e4m3_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct mx_fp8_e4m3_dequant_f32_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void mx_fp8_e4m3_dequant_f32(
    device const uint *codes [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device float4 *dst [[buffer(2)]],
    constant mx_fp8_e4m3_dequant_f32_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_mx_fp8_e4m3::decode(codes, scales, i / 4u, i % 4u, v);
        qk_mx_fp8_e4m3::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// mx_fp8_e4m3_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct mx_fp8_e4m3_dequant_f16_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void mx_fp8_e4m3_dequant_f16(
    device const uint *codes [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device half4 *dst [[buffer(2)]],
    constant mx_fp8_e4m3_dequant_f16_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_mx_fp8_e4m3::decode(codes, scales, i / 4u, i % 4u, v);
        qk_mx_fp8_e4m3::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// mx_fp8_e4m3_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct mx_fp8_e4m3_dequant_bf16_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void mx_fp8_e4m3_dequant_bf16(
    device const uint *codes [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device ushort4 *dst [[buffer(2)]],
    constant mx_fp8_e4m3_dequant_bf16_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_mx_fp8_e4m3::decode(codes, scales, i / 4u, i % 4u, v);
        qk_mx_fp8_e4m3::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// mx_fp8_e4m3_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct mx_fp8_e4m3_gather_f32_push {
    uint rows, row_first, row_end;  // that an index may name; of those, what is bound in this launch
    uint row_tiles, tokens;  // of a row, tiles of 4 elements; of all batches
    uint batch_tokens;  // 0: all lie one after the other. Else tokens come in batches of so many,
    uint batches;  // so many of which are in the inner of two dimensions
    uint value_step, value_batch, value_outer;  // tiles to the next token, inner and outer batch
    uint index_words;  // 1; 2: of 64 bits; 0: there are none, tokens are rows in order
    uint index_step, index_batch, index_outer;  // words
    uint index_batches, index_outers;  // that have indices of their own; further ones have the same again
    uint row_step, row_batch, row_outer;  // rows of the table
    uint value_first, index_first, table_first;  // tiles, words, tiles that are bound before
};

kernel void mx_fp8_e4m3_gather_f32(
    device const uint *codes [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device float4 *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant mx_fp8_e4m3_gather_f32_push &push [[buffer(5)]],
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
            qk_mx_fp8_e4m3::decode(codes, scales, from / 4u, i % 4u, v);
        } else if (row == NO_ROW && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (t == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_mx_fp8_e4m3::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// mx_fp8_e4m3_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct mx_fp8_e4m3_gather_f16_push {
    uint rows, row_first, row_end;  // that an index may name; of those, what is bound in this launch
    uint row_tiles, tokens;  // of a row, tiles of 8 elements; of all batches
    uint batch_tokens;  // 0: all lie one after the other. Else tokens come in batches of so many,
    uint batches;  // so many of which are in the inner of two dimensions
    uint value_step, value_batch, value_outer;  // tiles to the next token, inner and outer batch
    uint index_words;  // 1; 2: of 64 bits; 0: there are none, tokens are rows in order
    uint index_step, index_batch, index_outer;  // words
    uint index_batches, index_outers;  // that have indices of their own; further ones have the same again
    uint row_step, row_batch, row_outer;  // rows of the table
    uint value_first, index_first, table_first;  // tiles, words, tiles that are bound before
};

kernel void mx_fp8_e4m3_gather_f16(
    device const uint *codes [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device half4 *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant mx_fp8_e4m3_gather_f16_push &push [[buffer(5)]],
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
            qk_mx_fp8_e4m3::decode(codes, scales, from / 4u, i % 4u, v);
        } else if (row == NO_ROW && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (t == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_mx_fp8_e4m3::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// mx_fp8_e4m3_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct mx_fp8_e4m3_gather_bf16_push {
    uint rows, row_first, row_end;  // that an index may name; of those, what is bound in this launch
    uint row_tiles, tokens;  // of a row, tiles of 8 elements; of all batches
    uint batch_tokens;  // 0: all lie one after the other. Else tokens come in batches of so many,
    uint batches;  // so many of which are in the inner of two dimensions
    uint value_step, value_batch, value_outer;  // tiles to the next token, inner and outer batch
    uint index_words;  // 1; 2: of 64 bits; 0: there are none, tokens are rows in order
    uint index_step, index_batch, index_outer;  // words
    uint index_batches, index_outers;  // that have indices of their own; further ones have the same again
    uint row_step, row_batch, row_outer;  // rows of the table
    uint value_first, index_first, table_first;  // tiles, words, tiles that are bound before
};

kernel void mx_fp8_e4m3_gather_bf16(
    device const uint *codes [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device ushort4 *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant mx_fp8_e4m3_gather_bf16_push &push [[buffer(5)]],
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
            qk_mx_fp8_e4m3::decode(codes, scales, from / 4u, i % 4u, v);
        } else if (row == NO_ROW && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (t == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_mx_fp8_e4m3::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// mx_fp8_e4m3_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
constant uint mx_fp8_e4m3_gemv_f32_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint mx_fp8_e4m3_gemv_f32_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint mx_fp8_e4m3_gemv_f32_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void mx_fp8_e4m3_gemv_f32(
    device const uint *codes [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device const float4 *x [[buffer(2)]],
    device float *y [[buffer(3)]],
    device const float *result_scale [[buffer(4)]],
    device const float *row_bias [[buffer(5)]],
    device const float *result_gate [[buffer(6)]],
    device const float *residual [[buffer(7)]],
    constant qk_mx_fp8_e4m3::sum_shape &push [[buffer(8)]],
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
    const qk_mx_fp8_e4m3::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, mx_fp8_e4m3_gemv_f32_y_type};
    const qk_mx_fp8_e4m3::standing at =
        qk_mx_fp8_e4m3::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups,
            mx_fp8_e4m3_gemv_f32_views, 0, 0, 0, 0});
    if (mx_fp8_e4m3_gemv_f32_batch < 8 && push.row_tiles % 8 == 0) {  // rows that are whole larger tiles, and x that is not too much
        switch (mx_fp8_e4m3_gemv_f32_batch) {
            case 1: qk_mx_fp8_e4m3::sum_large_rows<1>(codes, scales, x, to, push, partial, at); break;
            case 2: qk_mx_fp8_e4m3::sum_large_rows<2>(codes, scales, x, to, push, partial, at); break;
            case 4: qk_mx_fp8_e4m3::sum_large_rows<4>(codes, scales, x, to, push, partial, at); break;
        }
        return;
    }
    switch (mx_fp8_e4m3_gemv_f32_batch) {
        case 1: qk_mx_fp8_e4m3::sum_rows<1, 4>(codes, scales, x, to, push, partial, at); break;
        case 2: qk_mx_fp8_e4m3::sum_rows<2, 4>(codes, scales, x, to, push, partial, at); break;
        case 4: qk_mx_fp8_e4m3::sum_rows<4, 4>(codes, scales, x, to, push, partial, at); break;
        case 8: qk_mx_fp8_e4m3::sum_rows<8, 2>(codes, scales, x, to, push, partial, at); break;
    }
}

// mx_fp8_e4m3_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
constant uint mx_fp8_e4m3_gemv_f16_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint mx_fp8_e4m3_gemv_f16_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint mx_fp8_e4m3_gemv_f16_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void mx_fp8_e4m3_gemv_f16(
    device const uint *codes [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device const half4 *x [[buffer(2)]],
    device float *y [[buffer(3)]],
    device const float *result_scale [[buffer(4)]],
    device const float *row_bias [[buffer(5)]],
    device const float *result_gate [[buffer(6)]],
    device const float *residual [[buffer(7)]],
    constant qk_mx_fp8_e4m3::sum_shape &push [[buffer(8)]],
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
    const qk_mx_fp8_e4m3::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, mx_fp8_e4m3_gemv_f16_y_type};
    const qk_mx_fp8_e4m3::standing at =
        qk_mx_fp8_e4m3::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups,
            mx_fp8_e4m3_gemv_f16_views, 0, 0, 0, 0});
    if (mx_fp8_e4m3_gemv_f16_batch < 8 && push.row_tiles % 8 == 0) {  // rows that are whole larger tiles, and x that is not too much
        switch (mx_fp8_e4m3_gemv_f16_batch) {
            case 1: qk_mx_fp8_e4m3::sum_large_rows<1>(codes, scales, x, to, push, partial, at); break;
            case 2: qk_mx_fp8_e4m3::sum_large_rows<2>(codes, scales, x, to, push, partial, at); break;
            case 4: qk_mx_fp8_e4m3::sum_large_rows<4>(codes, scales, x, to, push, partial, at); break;
        }
        return;
    }
    switch (mx_fp8_e4m3_gemv_f16_batch) {
        case 1: qk_mx_fp8_e4m3::sum_rows<1, 4>(codes, scales, x, to, push, partial, at); break;
        case 2: qk_mx_fp8_e4m3::sum_rows<2, 4>(codes, scales, x, to, push, partial, at); break;
        case 4: qk_mx_fp8_e4m3::sum_rows<4, 4>(codes, scales, x, to, push, partial, at); break;
        case 8: qk_mx_fp8_e4m3::sum_rows<8, 2>(codes, scales, x, to, push, partial, at); break;
    }
}

// mx_fp8_e4m3_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], x in f32.
struct mx_fp8_e4m3_gemv_id_f32_push {
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
    uint weights_inner;  // rows from an expert to the next
    uint x_first;        // elements; from a slot's x to the next, and from a token's to the next
    uint x_stride;
    uint x_inner;
    uint y_skip;         // elements in y alone, then as of x
    uint y_stride;
    uint y_inner;
    uint ids_skip;       // and from a token's ids to the next
    uint ids_inner;
};

constant uint mx_fp8_e4m3_gemv_id_f32_views [[function_constant(30)]];
constant uint mx_fp8_e4m3_gemv_id_f32_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void mx_fp8_e4m3_gemv_id_f32(
    device const uint *codes [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device const float4 *x [[buffer(2)]],
    device const uint *ids [[buffer(3)]],
    device float *y [[buffer(5)]],
    device const float *result_scale [[buffer(6)]],
    device const float *row_bias [[buffer(7)]],
    device const float *result_gate [[buffer(8)]],
    device const float *residual [[buffer(9)]],
    device atomic_uint *status [[buffer(4)]],
    constant mx_fp8_e4m3_gemv_id_f32_push &push [[buffer(10)]],
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
    qk_mx_fp8_e4m3::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, mx_fp8_e4m3_gemv_id_f32_y_type};
    const bool views = mx_fp8_e4m3_gemv_id_f32_views != 0;
    const uint row_runs = push.row_tiles * 4, expert_rows = views ? push.weights_inner : push.rows;
    float4 kept[TILES][1][4];
    float kept_sum[TILES][1][1];
    // A simdgroup holds a slice of x and walks down the rows. While there are slices for more, simdgroups share a row.
    const uint slice = lanes * TILES, slices = (push.row_tiles + slice - 1) / slice;
    uint split = 1;
    while (split < slices && simdgroups % (2 * split) == 0) split *= 2;
    const uint teams = simdgroups / split, team = simdgroup / split;
    const uint parts = (push.rows + teams * ROWS - 1) / (teams * ROWS);
    uint held = ~0u, held_vector = ~0u;
    for (uint work = group; work < push.batch * push.slots * parts; work += groups) {
        const uint pair = work / parts, first = work % parts * teams * ROWS, token = pair / push.slots, slot = pair % push.slots;
        const uint expert = ids[views ? push.ids_skip + token * push.ids_inner + slot : pair];
        const uint vector = push.x_slots == 1 ? token : pair;
        const uint x_place = push.x_first + token * push.x_inner + (push.x_slots == 1 ? 0 : slot) * push.x_stride;
        const uint x_begin = views ? x_place / 4 : vector * row_runs;
        const bool found = expert < push.experts;
        if (found ? expert < push.expert_first || expert >= push.expert_end : push.expert_first != 0) continue;  // another launch's
        // An expert that is not there has zeros.
        to.epilogue = found ? push.epilogue : push.epilogue & (qk_mx_fp8_e4m3::ADDS_TO_Y | qk_mx_fp8_e4m3::ADDS_RESIDUAL);
        float sum[ROWS][1] = {};
        if (!found && first == 0 && thread_index == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);  // zeros
        for (uint c = simdgroup % split; found && c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * lanes + lane;
                if (j >= push.row_tiles) continue;
                if (c != held || vector != held_vector)
                    qk_mx_fp8_e4m3::load_x<TILES, 1>(x + x_begin, 1, row_runs, 0, j, k, kept, kept_sum);
                for (uint r = 0; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, push.rows - 1);
                    qk_mx_fp8_e4m3::accumulate<TILES, 1>(codes, scales, push.row_tiles,
                                                      (expert - push.expert_first) * expert_rows + row, j, k, kept, kept_sum, sum[r]);
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
            const uint y_at = (views ? token * push.y_inner + slot * push.y_stride : pair * push.rows) + first + i;
            const qk_mx_fp8_e4m3::place_of_result to_row = {y_at, expert * push.rows + first + i, pair, expert, views ? push.y_skip : 0};
            qk_mx_fp8_e4m3::finish(to, to_row, total);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// mx_fp8_e4m3_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], x in f16.
struct mx_fp8_e4m3_gemv_id_f16_push {
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
    uint weights_inner;  // rows from an expert to the next
    uint x_first;        // elements; from a slot's x to the next, and from a token's to the next
    uint x_stride;
    uint x_inner;
    uint y_skip;         // elements in y alone, then as of x
    uint y_stride;
    uint y_inner;
    uint ids_skip;       // and from a token's ids to the next
    uint ids_inner;
};

constant uint mx_fp8_e4m3_gemv_id_f16_views [[function_constant(30)]];
constant uint mx_fp8_e4m3_gemv_id_f16_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void mx_fp8_e4m3_gemv_id_f16(
    device const uint *codes [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device const half4 *x [[buffer(2)]],
    device const uint *ids [[buffer(3)]],
    device float *y [[buffer(5)]],
    device const float *result_scale [[buffer(6)]],
    device const float *row_bias [[buffer(7)]],
    device const float *result_gate [[buffer(8)]],
    device const float *residual [[buffer(9)]],
    device atomic_uint *status [[buffer(4)]],
    constant mx_fp8_e4m3_gemv_id_f16_push &push [[buffer(10)]],
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
    qk_mx_fp8_e4m3::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, mx_fp8_e4m3_gemv_id_f16_y_type};
    const bool views = mx_fp8_e4m3_gemv_id_f16_views != 0;
    const uint row_runs = push.row_tiles * 4, expert_rows = views ? push.weights_inner : push.rows;
    float4 kept[TILES][1][4];
    float kept_sum[TILES][1][1];
    // A simdgroup holds a slice of x and walks down the rows. While there are slices for more, simdgroups share a row.
    const uint slice = lanes * TILES, slices = (push.row_tiles + slice - 1) / slice;
    uint split = 1;
    while (split < slices && simdgroups % (2 * split) == 0) split *= 2;
    const uint teams = simdgroups / split, team = simdgroup / split;
    const uint parts = (push.rows + teams * ROWS - 1) / (teams * ROWS);
    uint held = ~0u, held_vector = ~0u;
    for (uint work = group; work < push.batch * push.slots * parts; work += groups) {
        const uint pair = work / parts, first = work % parts * teams * ROWS, token = pair / push.slots, slot = pair % push.slots;
        const uint expert = ids[views ? push.ids_skip + token * push.ids_inner + slot : pair];
        const uint vector = push.x_slots == 1 ? token : pair;
        const uint x_place = push.x_first + token * push.x_inner + (push.x_slots == 1 ? 0 : slot) * push.x_stride;
        const uint x_begin = views ? x_place / 4 : vector * row_runs;
        const bool found = expert < push.experts;
        if (found ? expert < push.expert_first || expert >= push.expert_end : push.expert_first != 0) continue;  // another launch's
        // An expert that is not there has zeros.
        to.epilogue = found ? push.epilogue : push.epilogue & (qk_mx_fp8_e4m3::ADDS_TO_Y | qk_mx_fp8_e4m3::ADDS_RESIDUAL);
        float sum[ROWS][1] = {};
        if (!found && first == 0 && thread_index == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);  // zeros
        for (uint c = simdgroup % split; found && c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * lanes + lane;
                if (j >= push.row_tiles) continue;
                if (c != held || vector != held_vector)
                    qk_mx_fp8_e4m3::load_x<TILES, 1>(x + x_begin, 1, row_runs, 0, j, k, kept, kept_sum);
                for (uint r = 0; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, push.rows - 1);
                    qk_mx_fp8_e4m3::accumulate<TILES, 1>(codes, scales, push.row_tiles,
                                                      (expert - push.expert_first) * expert_rows + row, j, k, kept, kept_sum, sum[r]);
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
            const uint y_at = (views ? token * push.y_inner + slot * push.y_stride : pair * push.rows) + first + i;
            const qk_mx_fp8_e4m3::place_of_result to_row = {y_at, expert * push.rows + first + i, pair, expert, views ? push.y_skip : 0};
            qk_mx_fp8_e4m3::finish(to, to_row, total);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}
