// tq1_0: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format tq1_0`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 54 bytes for 256 elements, 1.688 bits each.
// dequant, gather in f32: for each weight 0.211 bytes read and 4 written, 15 operations: 0.75 loads, 4.5 bits, 7.5 integer, 1 float, 1.25
// conversions.
// gemv, gemv_id in f32: for each weight 0.211 bytes read, 5.66 operations: 0.141 loads, 2.25 bits, 0.719 integer, 2.03 float, 0.516
// conversions.
//     format tq1_0 "ternary codes, five in a byte, one scale for 256"
//     block 256 {
//         qs: u8[48]
//         qh: u8[4]
//         d:  f16
//     }
//     code t = qs { 8 base 3 @ 0   (32:8, 5:^) }    # elements 0 to 159
//         then qs { 8 base 3 @ 256 (16:8, 5:^) }    # 160 to 239
//         then qh { 8 base 3 @ 0   (4:8,  4:^) }    # 240 to 255
//     value = (t - 1) * d
//     # ggml's quantize_row_tq1_0_ref
//     encode {
//         s = max(abs(x))
//         r = s == 0.0 ? 0.0 : 1.0 / s
//         d = s
//         t = round(x * r, -1, 1) + 1
//     }
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_tq1_0 {

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

// The 4 values of a tile of a block, in runs of 4 consecutive elements.
inline void decode(device const ushort *blocks, uint block, uint tile, thread float4 *v) {
    const uint base = block * 27u;
    const uint word = tile < 40u ? tile % 8u * 2u : tile < 60u ? (tile - 40u) % 4u * 2u + 16u : 24u;  // of t, in qs, qs or qh
    const uint qs_qh = load_u32(blocks, base + word);
    const uint digit_ = tile < 40u ? tile / 8u : tile < 60u ? (tile - 40u) / 4u : tile - 60u;  // which digit of base 3, from the top
    const uint power = digit_ < 4u ? (0x1B090301u >> ((digit_ & 3u) * 8u)) & 0xFFu : 81u;  // 3^n
    const uint evens = (((qs_qh & 0xFF00FFu) * power) & 0xFF00FFu) * 3u, odds = ((((qs_qh >> 8u) & 0xFF00FFu) * power) & 0xFF00FFu) * 3u;
    const uint4 t_ = (uint4(evens, odds, evens, odds) >> uint4(8, 8, 24, 24)) & 0xFFu;  // a digit of base 3
    const float d = f16_to_f32(uint(blocks[base + 26u]));
    v[0] = float4(int4(t_) - 1) * d;
}

// Stores a tile's runs where they belong in block `block` of the output.
template <typename T>
inline void write_tile(device T *dst, uint block, uint tile, thread const float4 *v) {
    const uint at = block * 64u + tile;
    store(dst, at, v[0]);
}

struct sum_shape {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of 64 elements in a row
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
    thread float4 (&x)[TILES][BATCH][16], thread float (&x_sum)[TILES][BATCH][1])
{
    const uint tile = j % 4u, place = j / 4u * 64u + tile;
    for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_runs + place;
        const float4 x0 = float4(x_in[from]);
        const float4 x1 = float4(x_in[from + 4u]);
        const float4 x2 = float4(x_in[from + 8u]);
        const float4 x3 = float4(x_in[from + 12u]);
        const float4 x4 = float4(x_in[from + 16u]);
        const float4 x5 = float4(x_in[from + 20u]);
        const float4 x6 = float4(x_in[from + 24u]);
        const float4 x7 = float4(x_in[from + 28u]);
        const float4 x8 = float4(x_in[from + 32u]);
        const float4 x9 = float4(x_in[from + 36u]);
        const float4 x10 = float4(x_in[from + 40u]);
        const float4 x11 = float4(x_in[from + 44u]);
        const float4 x12 = float4(x_in[from + 48u]);
        const float4 x13 = float4(x_in[from + 52u]);
        const float4 x14 = float4(x_in[from + 56u]);
        const float4 x15 = float4(x_in[from + 60u]);
        x[k][m][0] = x0 * float4(16777216.0f, 65536.0f, 16777216.0f, 65536.0f);
        x[k][m][1] = x1 * float4(16777216.0f, 65536.0f, 16777216.0f, 65536.0f);
        x[k][m][2] = x2 * float4(16777216.0f, 65536.0f, 16777216.0f, 65536.0f);
        x[k][m][3] = x3 * float4(16777216.0f, 65536.0f, 16777216.0f, 65536.0f);
        x[k][m][4] = x4 * float4(16777216.0f, 65536.0f, 16777216.0f, 65536.0f);
        x[k][m][5] = x5 * float4(16777216.0f, 65536.0f, 16777216.0f, 65536.0f);
        x[k][m][6] = x6 * float4(16777216.0f, 65536.0f, 16777216.0f, 65536.0f);
        x[k][m][7] = x7 * float4(16777216.0f, 65536.0f, 16777216.0f, 65536.0f);
        x[k][m][8] = x8 * float4(16777216.0f, 65536.0f, 16777216.0f, 65536.0f);
        x[k][m][9] = x9 * float4(16777216.0f, 65536.0f, 16777216.0f, 65536.0f);
        x[k][m][10] = x10 * float4(16777216.0f, 65536.0f, 16777216.0f, 65536.0f);
        x[k][m][11] = x11 * float4(16777216.0f, 65536.0f, 16777216.0f, 65536.0f);
        x[k][m][12] = x12 * float4(16777216.0f, 65536.0f, 16777216.0f, 65536.0f);
        x[k][m][13] = x13 * float4(16777216.0f, 65536.0f, 16777216.0f, 65536.0f);
        x[k][m][14] = x14 * float4(16777216.0f, 65536.0f, 16777216.0f, 65536.0f);
        x[k][m][15] = x15 * float4(16777216.0f, 65536.0f, 16777216.0f, 65536.0f);
        x_sum[k][m][0] = dot(x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + x11 + x12 + x13 + x14 + x15, float4(1.0f));
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
template <uint TILES, uint BATCH>
inline void accumulate(
    device const ushort *blocks,
    uint row_tiles, uint n, uint j, uint k,
    thread const float4 (&x)[TILES][BATCH][16], thread const float (&x_sum)[TILES][BATCH][1],
    thread float (&sum)[BATCH])
{
    #pragma clang fp contract(fast)
    const uint block = n * (row_tiles / 4u) + j / 4u, tile = j % 4u, base = block * 27u;
    const uint power = (0x1B090301u >> (tile * 8u)) & 0xFFu;  // 3^n
    const float d = f16_to_f32(uint(blocks[base + 26u]));
    const uint qs0 = load_u32(blocks, base + tile * 2u), evens0 = (qs0 & 0xFF00FFu) * 3u, odds0 = ((qs0 >> 8u) & 0xFF00FFu) * 3u;
    const uint bytes0 = ((evens0 >> 8u) & 0xFF00FFu) | (odds0 & 0xFF00FF00u), qs1 = load_u32(blocks, base + tile * 2u + 8u);
    const uint evens1 = (qs1 & 0xFF00FFu) * 3u, odds1 = ((qs1 >> 8u) & 0xFF00FFu) * 3u;
    const uint bytes1 = ((evens1 >> 8u) & 0xFF00FFu) | (odds1 & 0xFF00FF00u), evens2 = (evens0 & 0xFF00FFu) * 3u;
    const uint odds2 = (odds0 & 0xFF00FFu) * 3u, bytes2 = ((evens2 >> 8u) & 0xFF00FFu) | (odds2 & 0xFF00FF00u);
    const uint evens3 = (evens1 & 0xFF00FFu) * 3u, odds3 = (odds1 & 0xFF00FFu) * 3u;
    const uint bytes3 = ((evens3 >> 8u) & 0xFF00FFu) | (odds3 & 0xFF00FF00u), evens4 = (evens2 & 0xFF00FFu) * 3u;
    const uint odds4 = (odds2 & 0xFF00FFu) * 3u, bytes4 = ((evens4 >> 8u) & 0xFF00FFu) | (odds4 & 0xFF00FF00u);
    const uint evens5 = (evens3 & 0xFF00FFu) * 3u, odds5 = (odds3 & 0xFF00FFu) * 3u;
    const uint bytes5 = ((evens5 >> 8u) & 0xFF00FFu) | (odds5 & 0xFF00FF00u), evens6 = (evens4 & 0xFF00FFu) * 3u;
    const uint odds6 = (odds4 & 0xFF00FFu) * 3u, bytes6 = ((evens6 >> 8u) & 0xFF00FFu) | (odds6 & 0xFF00FF00u);
    const uint evens7 = (evens5 & 0xFF00FFu) * 3u, odds7 = (odds5 & 0xFF00FFu) * 3u;
    const uint bytes7 = ((evens7 >> 8u) & 0xFF00FFu) | (odds7 & 0xFF00FF00u), evens8 = (evens6 & 0xFF00FFu) * 3u;
    const uint odds8 = (odds6 & 0xFF00FFu) * 3u, bytes8 = ((evens8 >> 8u) & 0xFF00FFu) | (odds8 & 0xFF00FF00u);
    const uint evens9 = (evens7 & 0xFF00FFu) * 3u, odds9 = (odds7 & 0xFF00FFu) * 3u;
    const uint bytes9 = ((evens9 >> 8u) & 0xFF00FFu) | (odds9 & 0xFF00FF00u), qs2 = load_u32(blocks, base + tile * 2u + 16u);
    const uint evens10 = (qs2 & 0xFF00FFu) * 3u, odds10 = ((qs2 >> 8u) & 0xFF00FFu) * 3u;
    const uint bytes10 = ((evens10 >> 8u) & 0xFF00FFu) | (odds10 & 0xFF00FF00u), evens11 = (evens10 & 0xFF00FFu) * 3u;
    const uint odds11 = (odds10 & 0xFF00FFu) * 3u, bytes11 = ((evens11 >> 8u) & 0xFF00FFu) | (odds11 & 0xFF00FF00u);
    const uint evens12 = (evens11 & 0xFF00FFu) * 3u, odds12 = (odds11 & 0xFF00FFu) * 3u;
    const uint bytes12 = ((evens12 >> 8u) & 0xFF00FFu) | (odds12 & 0xFF00FF00u), evens13 = (evens12 & 0xFF00FFu) * 3u;
    const uint odds13 = (odds12 & 0xFF00FFu) * 3u, bytes13 = ((evens13 >> 8u) & 0xFF00FFu) | (odds13 & 0xFF00FF00u);
    const uint evens14 = (evens13 & 0xFF00FFu) * 3u, odds14 = (odds13 & 0xFF00FFu) * 3u;
    const uint bytes14 = ((evens14 >> 8u) & 0xFF00FFu) | (odds14 & 0xFF00FF00u), qh = load_u32(blocks, base + 24u);
    const uint evens15 = (((qh & 0xFF00FFu) * power) & 0xFF00FFu) * 3u, odds15 = ((((qh >> 8u) & 0xFF00FFu) * power) & 0xFF00FFu) * 3u;
    const uint bytes15 = ((evens15 >> 8u) & 0xFF00FFu) | (odds15 & 0xFF00FF00u);
    const float2 pair0 = float2(as_type<half2>(bytes0 & 0x30003u)), pair1 = float2(as_type<half2>(bytes0 & 0x3000300u));
    const float2 pair2 = float2(as_type<half2>(bytes1 & 0x30003u)), pair3 = float2(as_type<half2>(bytes1 & 0x3000300u));
    const float2 pair4 = float2(as_type<half2>(bytes2 & 0x30003u)), pair5 = float2(as_type<half2>(bytes2 & 0x3000300u));
    const float2 pair6 = float2(as_type<half2>(bytes3 & 0x30003u)), pair7 = float2(as_type<half2>(bytes3 & 0x3000300u));
    const float2 pair8 = float2(as_type<half2>(bytes4 & 0x30003u)), pair9 = float2(as_type<half2>(bytes4 & 0x3000300u));
    const float2 pair10 = float2(as_type<half2>(bytes5 & 0x30003u)), pair11 = float2(as_type<half2>(bytes5 & 0x3000300u));
    const float2 pair12 = float2(as_type<half2>(bytes6 & 0x30003u)), pair13 = float2(as_type<half2>(bytes6 & 0x3000300u));
    const float2 pair14 = float2(as_type<half2>(bytes7 & 0x30003u)), pair15 = float2(as_type<half2>(bytes7 & 0x3000300u));
    const float2 pair16 = float2(as_type<half2>(bytes8 & 0x30003u)), pair17 = float2(as_type<half2>(bytes8 & 0x3000300u));
    const float2 pair18 = float2(as_type<half2>(bytes9 & 0x30003u)), pair19 = float2(as_type<half2>(bytes9 & 0x3000300u));
    const float2 pair20 = float2(as_type<half2>(bytes10 & 0x30003u)), pair21 = float2(as_type<half2>(bytes10 & 0x3000300u));
    const float2 pair22 = float2(as_type<half2>(bytes11 & 0x30003u)), pair23 = float2(as_type<half2>(bytes11 & 0x3000300u));
    const float2 pair24 = float2(as_type<half2>(bytes12 & 0x30003u)), pair25 = float2(as_type<half2>(bytes12 & 0x3000300u));
    const float2 pair26 = float2(as_type<half2>(bytes13 & 0x30003u)), pair27 = float2(as_type<half2>(bytes13 & 0x3000300u));
    const float2 pair28 = float2(as_type<half2>(bytes14 & 0x30003u)), pair29 = float2(as_type<half2>(bytes14 & 0x3000300u));
    const float2 pair30 = float2(as_type<half2>(bytes15 & 0x30003u)), pair31 = float2(as_type<half2>(bytes15 & 0x3000300u));
    for (uint m = 0; m < BATCH; ++m) {
        sum[m] += d * (dot(x[k][m][0], float4(pair0.x, pair1.x, pair0.y, pair1.y))
            + dot(x[k][m][1], float4(pair2.x, pair3.x, pair2.y, pair3.y)) + dot(x[k][m][2], float4(pair4.x, pair5.x, pair4.y, pair5.y))
            + dot(x[k][m][3], float4(pair6.x, pair7.x, pair6.y, pair7.y)) + dot(x[k][m][4], float4(pair8.x, pair9.x, pair8.y, pair9.y))
            + dot(x[k][m][5], float4(pair10.x, pair11.x, pair10.y, pair11.y))
            + dot(x[k][m][6], float4(pair12.x, pair13.x, pair12.y, pair13.y))
            + dot(x[k][m][7], float4(pair14.x, pair15.x, pair14.y, pair15.y))
            + (dot(x[k][m][8], float4(pair16.x, pair17.x, pair16.y, pair17.y))
            + dot(x[k][m][9], float4(pair18.x, pair19.x, pair18.y, pair19.y))
            + dot(x[k][m][10], float4(pair20.x, pair21.x, pair20.y, pair21.y))
            + dot(x[k][m][11], float4(pair22.x, pair23.x, pair22.y, pair23.y))
            + dot(x[k][m][12], float4(pair24.x, pair25.x, pair24.y, pair25.y))
            + dot(x[k][m][13], float4(pair26.x, pair27.x, pair26.y, pair27.y))
            + dot(x[k][m][14], float4(pair28.x, pair29.x, pair28.y, pair29.y))
            + dot(x[k][m][15], float4(pair30.x, pair31.x, pair30.y, pair31.y)) - x_sum[k][m][0]));
    }
}

// Sums over rows. BATCH right-hand sides are kept, at least as many as there are; ROWS rows at a time.
template <uint BATCH, uint ROWS, typename X>
inline void sum_rows(
    device const ushort *blocks,
    device const X *x_in, results to, constant sum_shape &shape, threadgroup float *partial, standing at)
{
    constexpr uint BUSY = 2048;  // simdgroups that keep a device busy
    constexpr uint TILES = BATCH == 1 ? 1 : 1;
    // What a thread keeps of x: tiles of each right-hand side, in the order of the weights, and the sums over runs that share
    // a scale.
    float4 x[TILES][BATCH][16];
    float x_sum[TILES][BATCH][1];
    // A simdgroup holds a slice of x and walks down the rows. Where there are few rows, simdgroups share each of them.
    const uint slice = at.lanes * TILES, slices = (shape.row_tiles + slice - 1) / slice;
    uint split = 1;
    while (split < slices && at.simdgroups % (2 * split) == 0 && shape.rows * split < BUSY * ROWS) split *= 2;
    const uint teams = at.simdgroups / split, team = at.simdgroup / split;
    const uint own_runs = shape.row_tiles * 16;
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

// The nearest integer, and of two the one that is farther from 0.
inline float qk_round(float v) {
    const float whole = trunc(v);
    const float rest = abs(v - whole);
    const float next = whole + (v < 0.0f ? -1.0f : 1.0f);
    return rest >= 0.5f ? next : whole;
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
    uint qk_words_blocks[14] = {0};
    float s = as_type<float>(0xFF800000u);
    for (int qk_f = 0; qk_f < 64; ++qk_f) {
        const float4 qk_fours = qk_four(qk_x, uint(qk_f));
        for (int qk_l = 0; qk_l < 4; ++qk_l) {
            const int qk_i = 4 * qk_f + qk_l;
            const float qk_0 = abs(qk_fours[qk_l]);
            if (qk_0 > s) s = qk_0;
        }
    }
    const float r = (s == 0.0f) ? 0.0f : (qk_quotient(1.0f, s));
    uint qk_bits_d = qk_bits_of_f16(s);
    {
        const int qk_at = 416;
        qk_words_blocks[qk_at >> 5] |= (qk_bits_d & 0xFFFFu) << (qk_at & 31);
    }
    for (int qk_f = 0; qk_f < 64; ++qk_f) {
        const float4 qk_fours = qk_four(qk_x, uint(qk_f));
        for (int qk_l = 0; qk_l < 4; ++qk_l) {
            const int qk_i = 4 * qk_f + qk_l;
            const int t = qk_clamped(qk_round(qk_fours[qk_l] * r), -1, 1) + 1;
            const uint qk_bits_t = uint(t);
            if (qk_i >= 0 && qk_i < 160) {
                const int qk_at = 0 + (qk_i) % 32 * 8;
                qk_words_blocks[qk_at >> 5] += (qk_bits_t & 0x3u)
                    * (qk_i / 32 % 5 == 0 ? 81u : qk_i / 32 % 5 == 1 ? 27u : qk_i / 32 % 5 == 2 ? 9u : qk_i / 32 % 5 == 3 ? 3u : 1u)
                    << (qk_at & 31);
            }
            if (qk_i >= 160 && qk_i < 240) {
                const int qk_at = 256 + ((qk_i - 160)) % 16 * 8;
                qk_words_blocks[qk_at >> 5] += (qk_bits_t & 0x3u)
                    * ((qk_i - 160) / 16 % 5 == 0 ? 81u : (qk_i - 160) / 16 % 5 == 1 ? 27u : (qk_i - 160) / 16 % 5 == 2 ? 9u
                    : (qk_i - 160) / 16 % 5 == 3 ? 3u : 1u) << (qk_at & 31);
            }
            if (qk_i >= 240 && qk_i < 256) {
                const int qk_at = 384 + ((qk_i - 240)) % 4 * 8;
                qk_words_blocks[qk_at >> 5] += (qk_bits_t & 0x3u)
                    * ((qk_i - 240) / 4 % 4 == 0 ? 27u : (qk_i - 240) / 4 % 4 == 1 ? 9u : (qk_i - 240) / 4 % 4 == 2 ? 3u : 1u)
                    << (qk_at & 31);
            }
        }
    }
    for (int qk_j = 0; qk_j < 32; qk_j += 1) {
        const int qk_at = 0 + qk_j * 8;
        const uint qk_v = qk_words_blocks[qk_at >> 5] >> (qk_at & 31) & 0xFFu;
        qk_words_blocks[qk_at >> 5] += (((qk_v << 8) + 242u) / 243u - qk_v) << (qk_at & 31);
    }
    for (int qk_j = 0; qk_j < 16; qk_j += 1) {
        const int qk_at = 256 + qk_j * 8;
        const uint qk_v = qk_words_blocks[qk_at >> 5] >> (qk_at & 31) & 0xFFu;
        qk_words_blocks[qk_at >> 5] += (((qk_v << 8) + 242u) / 243u - qk_v) << (qk_at & 31);
    }
    for (int qk_j = 0; qk_j < 4; qk_j += 1) {
        const int qk_at = 384 + qk_j * 8;
        const uint qk_v = qk_words_blocks[qk_at >> 5] >> (qk_at & 31) & 0xFFu;
        qk_words_blocks[qk_at >> 5] += (((qk_v << 8) + 80u) / 81u - qk_v) << (qk_at & 31);
    }
    for (int qk_j = 0; qk_j < 27; ++qk_j) {
        blocks[qk_block * 27u + uint(qk_j)] = ushort(qk_words_blocks[qk_j >> 1] >> (qk_j & 1) * 16);
    }
}

}  // namespace qk_tq1_0

// tq1_0_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct tq1_0_dequant_f32_push {
    uint tiles;  // of 4 elements, to decode
};

kernel void tq1_0_dequant_f32(
    device const ushort *blocks [[buffer(0)]],
    device float4 *dst [[buffer(1)]],
    constant tq1_0_dequant_f32_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[1];
        qk_tq1_0::decode(blocks, i / 64u, i % 64u, v);
        qk_tq1_0::write_tile(dst, i / 64u, i % 64u, v);
    }
}

// tq1_0_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct tq1_0_dequant_f16_push {
    uint tiles;  // of 4 elements, to decode
};

kernel void tq1_0_dequant_f16(
    device const ushort *blocks [[buffer(0)]],
    device half4 *dst [[buffer(1)]],
    constant tq1_0_dequant_f16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[1];
        qk_tq1_0::decode(blocks, i / 64u, i % 64u, v);
        qk_tq1_0::write_tile(dst, i / 64u, i % 64u, v);
    }
}

// tq1_0_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct tq1_0_dequant_bf16_push {
    uint tiles;  // of 4 elements, to decode
};

kernel void tq1_0_dequant_bf16(
    device const ushort *blocks [[buffer(0)]],
    device ushort4 *dst [[buffer(1)]],
    constant tq1_0_dequant_bf16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[1];
        qk_tq1_0::decode(blocks, i / 64u, i % 64u, v);
        qk_tq1_0::write_tile(dst, i / 64u, i % 64u, v);
    }
}

// tq1_0_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct tq1_0_gather_f32_push {
    uint rows, row_first, row_end;  // that an index may name; what is bound in this launch
    uint row_tiles, tokens;  // of a row, tiles of 4 elements; of all batches
    uint batch_tokens, batches;  // of a batch, 0: all lie one after the other; batches in the inner of two dimensions
    uint value_step, value_batch, value_outer;  // tiles to the next token, inner and outer batch
    uint index_words;  // 0: tokens are rows in order; 1; 2: of 64 bits
    uint index_step, index_batch, index_outer;  // words
    uint index_batches, index_outers;  // with indices of their own; others have the same again
    uint row_step, row_batch, row_outer;  // rows of the table
    uint value_first, index_first, table_first;  // tiles, words, tiles that are bound before
};

kernel void tq1_0_gather_f32(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device float4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant tq1_0_gather_f32_push &push [[buffer(4)]],
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
        float4 v[1];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = push.table_first + (row - push.row_first) * push.row_tiles + t;
            qk_tq1_0::decode(blocks, from / 64u, i % 64u, v);
        } else if (row == NO_ROW && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 1; ++r) v[r] = 0.0f;
            if (t == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_tq1_0::write_tile(dst, i / 64u, i % 64u, v);
    }
}

// tq1_0_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct tq1_0_gather_f16_push {
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

kernel void tq1_0_gather_f16(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device half4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant tq1_0_gather_f16_push &push [[buffer(4)]],
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
        float4 v[1];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = push.table_first + (row - push.row_first) * push.row_tiles + t;
            qk_tq1_0::decode(blocks, from / 64u, i % 64u, v);
        } else if (row == NO_ROW && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 1; ++r) v[r] = 0.0f;
            if (t == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_tq1_0::write_tile(dst, i / 64u, i % 64u, v);
    }
}

// tq1_0_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct tq1_0_gather_bf16_push {
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

kernel void tq1_0_gather_bf16(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device ushort4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant tq1_0_gather_bf16_push &push [[buffer(4)]],
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
        float4 v[1];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = push.table_first + (row - push.row_first) * push.row_tiles + t;
            qk_tq1_0::decode(blocks, from / 64u, i % 64u, v);
        } else if (row == NO_ROW && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 1; ++r) v[r] = 0.0f;
            if (t == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_tq1_0::write_tile(dst, i / 64u, i % 64u, v);
    }
}

// tq1_0_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
constant uint tq1_0_gemv_f32_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint tq1_0_gemv_f32_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint tq1_0_gemv_f32_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void tq1_0_gemv_f32(
    device const ushort *blocks [[buffer(0)]],
    device const float4 *x [[buffer(1)]],
    device float *y [[buffer(2)]],
    device const float *result_scale [[buffer(3)]],
    device const float *row_bias [[buffer(4)]],
    device const float *result_gate [[buffer(5)]],
    device const float *residual [[buffer(6)]],
    constant qk_tq1_0::sum_shape &push [[buffer(7)]],
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
    const qk_tq1_0::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, tq1_0_gemv_f32_y_type};
    const qk_tq1_0::standing at =
        qk_tq1_0::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups, tq1_0_gemv_f32_views, 0, 0,
            0, 0});
    switch (tq1_0_gemv_f32_batch) {
        case 1: qk_tq1_0::sum_rows<1, 4>(blocks, x, to, push, partial, at); break;
        case 2: qk_tq1_0::sum_rows<2, 4>(blocks, x, to, push, partial, at); break;
        case 4: qk_tq1_0::sum_rows<4, 4>(blocks, x, to, push, partial, at); break;
        case 8: qk_tq1_0::sum_rows<8, 2>(blocks, x, to, push, partial, at); break;
    }
}

// tq1_0_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
constant uint tq1_0_gemv_f16_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint tq1_0_gemv_f16_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint tq1_0_gemv_f16_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void tq1_0_gemv_f16(
    device const ushort *blocks [[buffer(0)]],
    device const half4 *x [[buffer(1)]],
    device float *y [[buffer(2)]],
    device const float *result_scale [[buffer(3)]],
    device const float *row_bias [[buffer(4)]],
    device const float *result_gate [[buffer(5)]],
    device const float *residual [[buffer(6)]],
    constant qk_tq1_0::sum_shape &push [[buffer(7)]],
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
    const qk_tq1_0::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, tq1_0_gemv_f16_y_type};
    const qk_tq1_0::standing at =
        qk_tq1_0::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups, tq1_0_gemv_f16_views, 0, 0,
            0, 0});
    switch (tq1_0_gemv_f16_batch) {
        case 1: qk_tq1_0::sum_rows<1, 4>(blocks, x, to, push, partial, at); break;
        case 2: qk_tq1_0::sum_rows<2, 4>(blocks, x, to, push, partial, at); break;
        case 4: qk_tq1_0::sum_rows<4, 4>(blocks, x, to, push, partial, at); break;
        case 8: qk_tq1_0::sum_rows<8, 2>(blocks, x, to, push, partial, at); break;
    }
}

// tq1_0_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], x in f32.
struct tq1_0_gemv_id_f32_push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 64 elements in a row
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

constant uint tq1_0_gemv_id_f32_views [[function_constant(30)]];
constant uint tq1_0_gemv_id_f32_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void tq1_0_gemv_id_f32(
    device const ushort *blocks [[buffer(0)]],
    device const float4 *x [[buffer(1)]],
    device const uint *ids [[buffer(2)]],
    device float *y [[buffer(4)]],
    device const float *result_scale [[buffer(5)]],
    device const float *row_bias [[buffer(6)]],
    device const float *result_gate [[buffer(7)]],
    device const float *residual [[buffer(8)]],
    device atomic_uint *status [[buffer(3)]],
    constant tq1_0_gemv_id_f32_push &push [[buffer(9)]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]])
{
    constexpr uint ROWS = 4, TILES = 1;  // rows at a time; tiles of x that a thread keeps
    threadgroup float partial[32 * ROWS];
    qk_tq1_0::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, tq1_0_gemv_id_f32_y_type};
    const bool views = tq1_0_gemv_id_f32_views != 0;
    const uint row_runs = push.row_tiles * 16, expert_rows = views ? push.weights_inner : push.rows;
    float4 kept[TILES][1][16];
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
        to.epilogue = found ? push.epilogue : push.epilogue & (qk_tq1_0::ADDS_TO_Y | qk_tq1_0::ADDS_RESIDUAL);
        float sum[ROWS][1] = {};
        if (!found && first == 0 && thread_index == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);  // zeros
        for (uint c = simdgroup % split; found && c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * lanes + lane;
                if (j >= push.row_tiles) continue;
                if (c != held || vector != held_vector)
                    qk_tq1_0::load_x<TILES, 1>(x + x_begin, 1, row_runs, 0, j, k, kept, kept_sum);
                for (uint r = 0; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, push.rows - 1);
                    const uint n = weights_begin + (expert - push.expert_first) * expert_rows + row;
                    qk_tq1_0::accumulate<TILES, 1>(blocks, push.row_tiles, n, j, k, kept, kept_sum, sum[r]);
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
            const qk_tq1_0::place_of_result to_row = {y_at, e * push.rows + first + i, set * pairs + pair, e, views ? push.y_skip : 0};
            qk_tq1_0::finish(to, to_row, total);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// tq1_0_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], x in f16.
struct tq1_0_gemv_id_f16_push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 64 elements in a row
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

constant uint tq1_0_gemv_id_f16_views [[function_constant(30)]];
constant uint tq1_0_gemv_id_f16_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void tq1_0_gemv_id_f16(
    device const ushort *blocks [[buffer(0)]],
    device const half4 *x [[buffer(1)]],
    device const uint *ids [[buffer(2)]],
    device float *y [[buffer(4)]],
    device const float *result_scale [[buffer(5)]],
    device const float *row_bias [[buffer(6)]],
    device const float *result_gate [[buffer(7)]],
    device const float *residual [[buffer(8)]],
    device atomic_uint *status [[buffer(3)]],
    constant tq1_0_gemv_id_f16_push &push [[buffer(9)]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]])
{
    constexpr uint ROWS = 4, TILES = 1;  // rows at a time; tiles of x that a thread keeps
    threadgroup float partial[32 * ROWS];
    qk_tq1_0::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, tq1_0_gemv_id_f16_y_type};
    const bool views = tq1_0_gemv_id_f16_views != 0;
    const uint row_runs = push.row_tiles * 16, expert_rows = views ? push.weights_inner : push.rows;
    float4 kept[TILES][1][16];
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
        to.epilogue = found ? push.epilogue : push.epilogue & (qk_tq1_0::ADDS_TO_Y | qk_tq1_0::ADDS_RESIDUAL);
        float sum[ROWS][1] = {};
        if (!found && first == 0 && thread_index == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);  // zeros
        for (uint c = simdgroup % split; found && c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * lanes + lane;
                if (j >= push.row_tiles) continue;
                if (c != held || vector != held_vector)
                    qk_tq1_0::load_x<TILES, 1>(x + x_begin, 1, row_runs, 0, j, k, kept, kept_sum);
                for (uint r = 0; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, push.rows - 1);
                    const uint n = weights_begin + (expert - push.expert_first) * expert_rows + row;
                    qk_tq1_0::accumulate<TILES, 1>(blocks, push.row_tiles, n, j, k, kept, kept_sum, sum[r]);
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
            const qk_tq1_0::place_of_result to_row = {y_at, e * push.rows + first + i, set * pairs + pair, e, views ? push.y_skip : 0};
            qk_tq1_0::finish(to, to_row, total);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// tq1_0_encode_f32: makes blocks of floats, for formats that say how: blocks = encode(src), src in f32.
struct tq1_0_encode_f32_push {
    uint tiles;  // blocks of 256 elements, to make
};

kernel void tq1_0_encode_f32(
    device ushort *blocks [[buffer(0)]],
    device const float *src [[buffer(1)]],
    constant tq1_0_encode_f32_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) qk_tq1_0::qk_encode(i, src + i * 256u, blocks);
}

// tq1_0_encode_f16: makes blocks of floats, for formats that say how: blocks = encode(src), src in f16.
struct tq1_0_encode_f16_push {
    uint tiles;  // blocks of 256 elements, to make
};

kernel void tq1_0_encode_f16(
    device ushort *blocks [[buffer(0)]],
    device const half *src [[buffer(1)]],
    constant tq1_0_encode_f16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) qk_tq1_0::qk_encode(i, src + i * 256u, blocks);
}

// tq1_0_encode_bf16: makes blocks of floats, for formats that say how: blocks = encode(src), src in bf16.
struct tq1_0_encode_bf16_push {
    uint tiles;  // blocks of 256 elements, to make
};

kernel void tq1_0_encode_bf16(
    device ushort *blocks [[buffer(0)]],
    device const ushort *src [[buffer(1)]],
    constant tq1_0_encode_bf16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) qk_tq1_0::qk_encode(i, src + i * 256u, blocks);
}

// tq1_0_set_rows_f32: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), src in f32.
struct tq1_0_set_rows_f32_push {
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

kernel void tq1_0_set_rows_f32(
    device ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device const float *src [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant tq1_0_set_rows_f32_push &push [[buffer(4)]],
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
        qk_tq1_0::qk_encode(block, src + (values + tile) * 256u, blocks);
    }
}

// tq1_0_set_rows_f16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), src in f16.
struct tq1_0_set_rows_f16_push {
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

kernel void tq1_0_set_rows_f16(
    device ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device const half *src [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant tq1_0_set_rows_f16_push &push [[buffer(4)]],
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
        qk_tq1_0::qk_encode(block, src + (values + tile) * 256u, blocks);
    }
}

// tq1_0_set_rows_bf16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), src in bf16.
struct tq1_0_set_rows_bf16_push {
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

kernel void tq1_0_set_rows_bf16(
    device ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device const ushort *src [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant tq1_0_set_rows_bf16_push &push [[buffer(4)]],
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
        qk_tq1_0::qk_encode(block, src + (values + tile) * 256u, blocks);
    }
}
