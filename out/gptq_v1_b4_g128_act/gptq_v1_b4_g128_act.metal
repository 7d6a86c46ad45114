// gptq_v1_b4_g128_act: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format gptq_v1_b4_g128_act`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 2640 bytes for 4096 elements, 4.156 bits each.
// dequant, gather in f32: for each weight 0.52 bytes read and 4 written, 22 operations: 3.12 loads, 5 bits, 10.9 integer, 1 float, 2
// conversions.
// gemv in f32: for each weight 0.52 bytes read, 23.6 operations: 3.12 loads, 5 bits, 10.5 integer, 3 float, 2 conversions.
//     format gptq_v1_b{bits}_g{group}_act "GPTQ with reordered groups: an index says the group of each input"
//     from "AutoGPTQ, GPTQModel: qlinear with desc_act, checkpoints of version 1"
//     for bits in 2 3 4 8, group in 32 64 128
//     block 32 x group ragged {
//         buffer qweight[cols][rows] { w: u32[32][group * bits / 32] }
//         buffer qzeros[g][rows]     { zs: u32[bits][1] }
//         buffer scales[g][rows]     { d: f16[32][1] }
//         buffer g_idx[cols]         { groups: u32[group] }
//     }
//     code q                = w      { bits @ 0 (32 * group:bits) }
//     code z per group      = zs     { bits @ 0 (32:bits) }
//     code s: f16 per group = d      { 16 @ 0 (32:16) }
//     code g                = groups { 32 @ 0 (group:32) }
//     value = (q - (z + 1 & (1 << bits) - 1)) * s
//
// Here bits = 4, group = 128.
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_gptq_v1_b4_g128_act {

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
inline void decode(device const uint *qweight, device const uint *qzeros, device const ushort *scales, device const uint *g_idx, uint rows,
    uint cols, uint grid_cols, uint row, uint tile, thread float4 *v) {
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 16u;
    const uint t = tile % 16u;
    // elements 0 to 3, counted from the tile's first
    const uint w = qweight[tile * rows + row];
    const uint4 q0 = (uint4(w) >> uint4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    const uint groups0 = g_idx[min(block_col * 128u + t * 8u, cols - 1u)], groups1 = g_idx[min(block_col * 128u + t * 8u + 1u, cols - 1u)];
    const uint groups2 = g_idx[min(block_col * 128u + t * 8u + 2u, cols - 1u)];
    const uint groups3 = g_idx[min(block_col * 128u + t * 8u + 3u, cols - 1u)];
    const uint4 g0 = uint4(groups0, groups1, groups2, groups3);  // groups: 32 bits
    const uint group0 = min(g0.x, grid_cols - 1u);
    const uint zs0 = qzeros[group0 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z0 = (zs0 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group1 = min(g0.y, grid_cols - 1u);
    const uint zs1 = qzeros[group1 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z1 = (zs1 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group2 = min(g0.z, grid_cols - 1u);
    const uint zs2 = qzeros[group2 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z2 = (zs2 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group3 = min(g0.w, grid_cols - 1u);
    const uint zs3 = qzeros[group3 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z3 = (zs3 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint4 z4 = uint4(z0, z1, z2, z3);
    const uint d0 = uint(scales[group0 * rows + row]);
    const float s0 = f16_to_f32(d0);  // d: 16 bits
    const uint d1 = uint(scales[group1 * rows + row]);
    const float s1 = f16_to_f32(d1);  // d: 16 bits
    const uint d2 = uint(scales[group2 * rows + row]);
    const float s2 = f16_to_f32(d2);  // d: 16 bits
    const uint d3 = uint(scales[group3 * rows + row]);
    const float s3 = f16_to_f32(d3);  // d: 16 bits
    const float4 s4 = float4(s0, s1, s2, s3);
    v[0] = float4(int4(q0) - ((int4(z4) + 1) & 15)) * s4;

    // elements 4 to 7, counted from the tile's first
    const uint4 q1 = (uint4(w) >> uint4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    const uint groups4 = g_idx[min(block_col * 128u + t * 8u + 4u, cols - 1u)];
    const uint groups5 = g_idx[min(block_col * 128u + t * 8u + 5u, cols - 1u)];
    const uint groups6 = g_idx[min(block_col * 128u + t * 8u + 6u, cols - 1u)];
    const uint groups7 = g_idx[min(block_col * 128u + t * 8u + 7u, cols - 1u)];
    const uint4 g1 = uint4(groups4, groups5, groups6, groups7);  // groups: 32 bits
    const uint group4 = min(g1.x, grid_cols - 1u);
    const uint zs4 = qzeros[group4 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z5 = (zs4 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group5 = min(g1.y, grid_cols - 1u);
    const uint zs5 = qzeros[group5 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z6 = (zs5 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group6 = min(g1.z, grid_cols - 1u);
    const uint zs6 = qzeros[group6 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z7 = (zs6 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group7 = min(g1.w, grid_cols - 1u);
    const uint zs7 = qzeros[group7 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z8 = (zs7 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint4 z9 = uint4(z5, z6, z7, z8);
    const uint d4 = uint(scales[group4 * rows + row]);
    const float s5 = f16_to_f32(d4);  // d: 16 bits
    const uint d5 = uint(scales[group5 * rows + row]);
    const float s6 = f16_to_f32(d5);  // d: 16 bits
    const uint d6 = uint(scales[group6 * rows + row]);
    const float s7 = f16_to_f32(d6);  // d: 16 bits
    const uint d7 = uint(scales[group7 * rows + row]);
    const float s8 = f16_to_f32(d7);  // d: 16 bits
    const float4 s9 = float4(s5, s6, s7, s8);
    v[1] = float4(int4(q1) - ((int4(z9) + 1) & 15)) * s9;
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
    device const uint *qweight,
    device const uint *qzeros,
    device const ushort *scales,
    device const uint *g_idx,
    uint rows, uint cols, uint grid_cols, uint row_tiles, uint n, uint j, uint k,
    thread const float4 (&x)[TILES][BATCH][4], thread const float (&x_sum)[TILES][BATCH][1],
    thread float (&sum)[BATCH])
{
    #pragma clang fp contract(fast)
    const uint row = n, tile = j;
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 8u;
    const uint t = tile % 8u;
    const uint shift = r % 8u * 4u, w0 = qweight[min(block_col * 16u + t * 2u, (cols - 1u) / 8u) * rows + row];
    const uint groups0 = g_idx[min(block_col * 128u + t * 16u, cols - 1u)];
    const uint groups1 = g_idx[min(block_col * 128u + t * 16u + 1u, cols - 1u)];
    const uint groups2 = g_idx[min(block_col * 128u + t * 16u + 2u, cols - 1u)];
    const uint groups3 = g_idx[min(block_col * 128u + t * 16u + 3u, cols - 1u)];
    const uint groups4 = g_idx[min(block_col * 128u + t * 16u + 4u, cols - 1u)];
    const uint groups5 = g_idx[min(block_col * 128u + t * 16u + 5u, cols - 1u)];
    const uint groups6 = g_idx[min(block_col * 128u + t * 16u + 6u, cols - 1u)];
    const uint groups7 = g_idx[min(block_col * 128u + t * 16u + 7u, cols - 1u)];
    const uint w1 = qweight[min(block_col * 16u + t * 2u + 1u, (cols - 1u) / 8u) * rows + row];
    const uint groups8 = g_idx[min(block_col * 128u + t * 16u + 8u, cols - 1u)];
    const uint groups9 = g_idx[min(block_col * 128u + t * 16u + 9u, cols - 1u)];
    const uint groups10 = g_idx[min(block_col * 128u + t * 16u + 10u, cols - 1u)];
    const uint groups11 = g_idx[min(block_col * 128u + t * 16u + 11u, cols - 1u)];
    const uint groups12 = g_idx[min(block_col * 128u + t * 16u + 12u, cols - 1u)];
    const uint groups13 = g_idx[min(block_col * 128u + t * 16u + 13u, cols - 1u)];
    const uint groups14 = g_idx[min(block_col * 128u + t * 16u + 14u, cols - 1u)];
    const uint groups15 = g_idx[min(block_col * 128u + t * 16u + 15u, cols - 1u)];
    const uint4 q0 = (uint4(w0) >> uint4(0, 4, 8, 12)) & 15u, q1 = (uint4(w0) >> uint4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    const uint4 q2 = (uint4(w1) >> uint4(0, 4, 8, 12)) & 15u, q3 = (uint4(w1) >> uint4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    const uint4 g0 = uint4(groups0, groups1, groups2, groups3), g1 = uint4(groups4, groups5, groups6, groups7);  // groups: 32 bits
    const uint4 g2 = uint4(groups8, groups9, groups10, groups11), g3 = uint4(groups12, groups13, groups14, groups15);  // groups: 32 bits
    const uint group0 = min(g0.x, grid_cols - 1u);
    const uint zs0 = qzeros[group0 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint group1 = min(g0.y, grid_cols - 1u);
    const uint zs1 = qzeros[group1 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint group2 = min(g0.z, grid_cols - 1u);
    const uint zs2 = qzeros[group2 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint group3 = min(g0.w, grid_cols - 1u);
    const uint zs3 = qzeros[group3 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint d0 = uint(scales[group0 * rows + row]), d1 = uint(scales[group1 * rows + row]), d2 = uint(scales[group2 * rows + row]);
    const uint d3 = uint(scales[group3 * rows + row]), group4 = min(g1.x, grid_cols - 1u);
    const uint zs4 = qzeros[group4 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint group5 = min(g1.y, grid_cols - 1u);
    const uint zs5 = qzeros[group5 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint group6 = min(g1.z, grid_cols - 1u);
    const uint zs6 = qzeros[group6 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint group7 = min(g1.w, grid_cols - 1u);
    const uint zs7 = qzeros[group7 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint d4 = uint(scales[group4 * rows + row]), d5 = uint(scales[group5 * rows + row]), d6 = uint(scales[group6 * rows + row]);
    const uint d7 = uint(scales[group7 * rows + row]), group8 = min(g2.x, grid_cols - 1u);
    const uint zs8 = qzeros[group8 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint group9 = min(g2.y, grid_cols - 1u);
    const uint zs9 = qzeros[group9 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint group10 = min(g2.z, grid_cols - 1u);
    const uint zs10 = qzeros[group10 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint group11 = min(g2.w, grid_cols - 1u);
    const uint zs11 = qzeros[group11 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint d8 = uint(scales[group8 * rows + row]), d9 = uint(scales[group9 * rows + row]), d10 = uint(scales[group10 * rows + row]);
    const uint d11 = uint(scales[group11 * rows + row]), group12 = min(g3.x, grid_cols - 1u);
    const uint zs12 = qzeros[group12 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint group13 = min(g3.y, grid_cols - 1u);
    const uint zs13 = qzeros[group13 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint group14 = min(g3.z, grid_cols - 1u);
    const uint zs14 = qzeros[group14 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint group15 = min(g3.w, grid_cols - 1u);
    const uint zs15 = qzeros[group15 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint d12 = uint(scales[group12 * rows + row]), d13 = uint(scales[group13 * rows + row]), d14 = uint(scales[group14 * rows + row]);
    const uint d15 = uint(scales[group15 * rows + row]);
    const uint z0 = (zs0 >> shift) & 15u, z1 = (zs1 >> shift) & 15u, z2 = (zs2 >> shift) & 15u, z3 = (zs3 >> shift) & 15u;  // zs: 4 bits
    const uint z4 = (zs4 >> shift) & 15u, z5 = (zs5 >> shift) & 15u, z6 = (zs6 >> shift) & 15u, z7 = (zs7 >> shift) & 15u;  // zs: 4 bits
    const uint z8 = (zs8 >> shift) & 15u, z9 = (zs9 >> shift) & 15u, z10 = (zs10 >> shift) & 15u;  // zs: 4 bits
    const uint z11 = (zs11 >> shift) & 15u, z12 = (zs12 >> shift) & 15u, z13 = (zs13 >> shift) & 15u;  // zs: 4 bits
    const uint z14 = (zs14 >> shift) & 15u, z15 = (zs15 >> shift) & 15u;  // zs: 4 bits
    const uint4 z16 = uint4(z0, z1, z2, z3), z17 = uint4(z4, z5, z6, z7), z18 = uint4(z8, z9, z10, z11), z19 = uint4(z12, z13, z14, z15);
    const float s0 = f16_to_f32(d0), s1 = f16_to_f32(d1), s2 = f16_to_f32(d2), s3 = f16_to_f32(d3), s4 = f16_to_f32(d4);  // d: 16 bits
    const float s5 = f16_to_f32(d5), s6 = f16_to_f32(d6), s7 = f16_to_f32(d7), s8 = f16_to_f32(d8), s9 = f16_to_f32(d9);  // d: 16 bits
    const float s10 = f16_to_f32(d10), s11 = f16_to_f32(d11), s12 = f16_to_f32(d12), s13 = f16_to_f32(d13);  // d: 16 bits
    const float s14 = f16_to_f32(d14), s15 = f16_to_f32(d15);  // d: 16 bits
    const float4 s16 = float4(s0, s1, s2, s3), s17 = float4(s4, s5, s6, s7), s18 = float4(s8, s9, s10, s11);
    const float4 s19 = float4(s12, s13, s14, s15);
    for (uint m = 0; m < BATCH; ++m) {
        sum[m] += dot(x[k][m][0], float4(int4(q0) - ((int4(z16) + 1) & 15)) * s16)
            + dot(x[k][m][1], float4(int4(q1) - ((int4(z17) + 1) & 15)) * s17)
            + dot(x[k][m][2], float4(int4(q2) - ((int4(z18) + 1) & 15)) * s18)
            + dot(x[k][m][3], float4(int4(q3) - ((int4(z19) + 1) & 15)) * s19);
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
inline void decode_tile(device const uint *qweight, device const uint *qzeros, device const ushort *scales, device const uint *g_idx,
    uint rows, uint cols, uint grid_cols, uint row, uint tile, thread float4 *v) {
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 8u;
    const uint t = tile % 8u;
    // elements 0 to 3, counted from the tile's first
    const uint w0 = qweight[min(block_col * 16u + t * 2u, (cols - 1u) / 8u) * rows + row];
    const uint4 q0 = (uint4(w0) >> uint4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    const uint groups0 = g_idx[min(block_col * 128u + t * 16u, cols - 1u)];
    const uint groups1 = g_idx[min(block_col * 128u + t * 16u + 1u, cols - 1u)];
    const uint groups2 = g_idx[min(block_col * 128u + t * 16u + 2u, cols - 1u)];
    const uint groups3 = g_idx[min(block_col * 128u + t * 16u + 3u, cols - 1u)];
    const uint4 g0 = uint4(groups0, groups1, groups2, groups3);  // groups: 32 bits
    const uint group0 = min(g0.x, grid_cols - 1u);
    const uint zs0 = qzeros[group0 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z0 = (zs0 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group1 = min(g0.y, grid_cols - 1u);
    const uint zs1 = qzeros[group1 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z1 = (zs1 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group2 = min(g0.z, grid_cols - 1u);
    const uint zs2 = qzeros[group2 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z2 = (zs2 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group3 = min(g0.w, grid_cols - 1u);
    const uint zs3 = qzeros[group3 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z3 = (zs3 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint4 z4 = uint4(z0, z1, z2, z3);
    const uint d0 = uint(scales[group0 * rows + row]);
    const float s0 = f16_to_f32(d0);  // d: 16 bits
    const uint d1 = uint(scales[group1 * rows + row]);
    const float s1 = f16_to_f32(d1);  // d: 16 bits
    const uint d2 = uint(scales[group2 * rows + row]);
    const float s2 = f16_to_f32(d2);  // d: 16 bits
    const uint d3 = uint(scales[group3 * rows + row]);
    const float s3 = f16_to_f32(d3);  // d: 16 bits
    const float4 s4 = float4(s0, s1, s2, s3);
    v[0] = float4(int4(q0) - ((int4(z4) + 1) & 15)) * s4;

    // elements 4 to 7, counted from the tile's first
    const uint4 q1 = (uint4(w0) >> uint4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    const uint groups4 = g_idx[min(block_col * 128u + t * 16u + 4u, cols - 1u)];
    const uint groups5 = g_idx[min(block_col * 128u + t * 16u + 5u, cols - 1u)];
    const uint groups6 = g_idx[min(block_col * 128u + t * 16u + 6u, cols - 1u)];
    const uint groups7 = g_idx[min(block_col * 128u + t * 16u + 7u, cols - 1u)];
    const uint4 g1 = uint4(groups4, groups5, groups6, groups7);  // groups: 32 bits
    const uint group4 = min(g1.x, grid_cols - 1u);
    const uint zs4 = qzeros[group4 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z5 = (zs4 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group5 = min(g1.y, grid_cols - 1u);
    const uint zs5 = qzeros[group5 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z6 = (zs5 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group6 = min(g1.z, grid_cols - 1u);
    const uint zs6 = qzeros[group6 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z7 = (zs6 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group7 = min(g1.w, grid_cols - 1u);
    const uint zs7 = qzeros[group7 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z8 = (zs7 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint4 z9 = uint4(z5, z6, z7, z8);
    const uint d4 = uint(scales[group4 * rows + row]);
    const float s5 = f16_to_f32(d4);  // d: 16 bits
    const uint d5 = uint(scales[group5 * rows + row]);
    const float s6 = f16_to_f32(d5);  // d: 16 bits
    const uint d6 = uint(scales[group6 * rows + row]);
    const float s7 = f16_to_f32(d6);  // d: 16 bits
    const uint d7 = uint(scales[group7 * rows + row]);
    const float s8 = f16_to_f32(d7);  // d: 16 bits
    const float4 s9 = float4(s5, s6, s7, s8);
    v[1] = float4(int4(q1) - ((int4(z9) + 1) & 15)) * s9;

    // elements 8 to 11, counted from the tile's first
    const uint w1 = qweight[min(block_col * 16u + t * 2u + 1u, (cols - 1u) / 8u) * rows + row];
    const uint4 q2 = (uint4(w1) >> uint4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    const uint groups8 = g_idx[min(block_col * 128u + t * 16u + 8u, cols - 1u)];
    const uint groups9 = g_idx[min(block_col * 128u + t * 16u + 9u, cols - 1u)];
    const uint groups10 = g_idx[min(block_col * 128u + t * 16u + 10u, cols - 1u)];
    const uint groups11 = g_idx[min(block_col * 128u + t * 16u + 11u, cols - 1u)];
    const uint4 g2 = uint4(groups8, groups9, groups10, groups11);  // groups: 32 bits
    const uint group8 = min(g2.x, grid_cols - 1u);
    const uint zs8 = qzeros[group8 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z10 = (zs8 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group9 = min(g2.y, grid_cols - 1u);
    const uint zs9 = qzeros[group9 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z11 = (zs9 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group10 = min(g2.z, grid_cols - 1u);
    const uint zs10 = qzeros[group10 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z12 = (zs10 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group11 = min(g2.w, grid_cols - 1u);
    const uint zs11 = qzeros[group11 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z13 = (zs11 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint4 z14 = uint4(z10, z11, z12, z13);
    const uint d8 = uint(scales[group8 * rows + row]);
    const float s10 = f16_to_f32(d8);  // d: 16 bits
    const uint d9 = uint(scales[group9 * rows + row]);
    const float s11 = f16_to_f32(d9);  // d: 16 bits
    const uint d10 = uint(scales[group10 * rows + row]);
    const float s12 = f16_to_f32(d10);  // d: 16 bits
    const uint d11 = uint(scales[group11 * rows + row]);
    const float s13 = f16_to_f32(d11);  // d: 16 bits
    const float4 s14 = float4(s10, s11, s12, s13);
    v[2] = float4(int4(q2) - ((int4(z14) + 1) & 15)) * s14;

    // elements 12 to 15, counted from the tile's first
    const uint4 q3 = (uint4(w1) >> uint4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    const uint groups12 = g_idx[min(block_col * 128u + t * 16u + 12u, cols - 1u)];
    const uint groups13 = g_idx[min(block_col * 128u + t * 16u + 13u, cols - 1u)];
    const uint groups14 = g_idx[min(block_col * 128u + t * 16u + 14u, cols - 1u)];
    const uint groups15 = g_idx[min(block_col * 128u + t * 16u + 15u, cols - 1u)];
    const uint4 g3 = uint4(groups12, groups13, groups14, groups15);  // groups: 32 bits
    const uint group12 = min(g3.x, grid_cols - 1u);
    const uint zs12 = qzeros[group12 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z15 = (zs12 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group13 = min(g3.y, grid_cols - 1u);
    const uint zs13 = qzeros[group13 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z16 = (zs13 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group14 = min(g3.z, grid_cols - 1u);
    const uint zs14 = qzeros[group14 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z17 = (zs14 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint group15 = min(g3.w, grid_cols - 1u);
    const uint zs15 = qzeros[group15 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z18 = (zs15 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint4 z19 = uint4(z15, z16, z17, z18);
    const uint d12 = uint(scales[group12 * rows + row]);
    const float s15 = f16_to_f32(d12);  // d: 16 bits
    const uint d13 = uint(scales[group13 * rows + row]);
    const float s16 = f16_to_f32(d13);  // d: 16 bits
    const uint d14 = uint(scales[group14 * rows + row]);
    const float s17 = f16_to_f32(d14);  // d: 16 bits
    const uint d15 = uint(scales[group15 * rows + row]);
    const float s18 = f16_to_f32(d15);  // d: 16 bits
    const float4 s19 = float4(s15, s16, s17, s18);
    v[3] = float4(int4(q3) - ((int4(z19) + 1) & 15)) * s19;
}

// The products of what tile `j` of row `n` has in that row, for each right-hand side.
template <uint BATCH, typename T>
inline void sum_cut(
    device const uint *qweight,
    device const uint *qzeros,
    device const ushort *scales,
    device const uint *g_idx,
    uint rows, uint cols, uint grid_cols, device const T *x_at, uint batch, uint row_cols, uint x_stride, uint n, uint j,
    thread float (&part)[BATCH])
{
    for (uint m = 0; m < BATCH; ++m) part[m] = 0.0f;
    const uint row = n, tile = j, place = j * 16u;
    const uint from = 0u, to = min(row_cols - place, 16u);
    float4 v[4];
    decode_tile(qweight, qzeros, scales, g_idx, rows, cols, grid_cols, row, tile, v);
    for (uint e = from; e < to; ++e) {
        for (uint m = 0; m < BATCH; ++m) part[m] += v[e / 4u][e % 4u] * float(x_at[min(m, batch - 1u) * x_stride + place + e]);
    }
}

// Sums over rows. BATCH right-hand sides are kept, at least as many as there are; ROWS rows at a time.
template <uint BATCH, uint ROWS, typename X>
inline void sum_rows(
    device const uint *qweight,
    device const uint *qzeros,
    device const ushort *scales,
    device const uint *g_idx,
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
                        sum_cut<BATCH>(qweight, qzeros, scales, g_idx, shape.rows, shape.cols, shape.grid_cols,
                            elements_of(x_in) + at.x_begin, shape.batch, row_cols, x_stride,
                                       min(first + team * ROWS + r, shape.rows - 1), j, part);
                        for (uint m = 0; m < BATCH; ++m) sum[r][m] += part[m];
                    }
                    continue;
                }
                if (c != held) load_x<TILES, BATCH>(x_begin, shape.batch, row_runs, 0, j, k, x, x_sum);
                for (uint r = 0; r < ROWS; ++r)
                    accumulate<TILES, BATCH>(qweight, qzeros, scales, g_idx, shape.rows, shape.cols, shape.grid_cols, shape.row_tiles,
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

}  // namespace qk_gptq_v1_b4_g128_act

// gptq_v1_b4_g128_act_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct gptq_v1_b4_g128_act_dequant_f32_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void gptq_v1_b4_g128_act_dequant_f32(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device const uint *g_idx [[buffer(3)]],
    device float *dst [[buffer(4)]],
    constant gptq_v1_b4_g128_act_dequant_f32_push &push [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_gptq_v1_b4_g128_act::decode(qweight, qzeros, scales, g_idx, push.rows, push.cols, push.grid_cols, row, tile, v);
        qk_gptq_v1_b4_g128_act::write_tile(dst, row * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// gptq_v1_b4_g128_act_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct gptq_v1_b4_g128_act_dequant_f16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void gptq_v1_b4_g128_act_dequant_f16(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device const uint *g_idx [[buffer(3)]],
    device half *dst [[buffer(4)]],
    constant gptq_v1_b4_g128_act_dequant_f16_push &push [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_gptq_v1_b4_g128_act::decode(qweight, qzeros, scales, g_idx, push.rows, push.cols, push.grid_cols, row, tile, v);
        qk_gptq_v1_b4_g128_act::write_tile(dst, row * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// gptq_v1_b4_g128_act_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct gptq_v1_b4_g128_act_dequant_bf16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void gptq_v1_b4_g128_act_dequant_bf16(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device const uint *g_idx [[buffer(3)]],
    device ushort *dst [[buffer(4)]],
    constant gptq_v1_b4_g128_act_dequant_bf16_push &push [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_gptq_v1_b4_g128_act::decode(qweight, qzeros, scales, g_idx, push.rows, push.cols, push.grid_cols, row, tile, v);
        qk_gptq_v1_b4_g128_act::write_tile(dst, row * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// gptq_v1_b4_g128_act_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct gptq_v1_b4_g128_act_gather_f32_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void gptq_v1_b4_g128_act_gather_f32(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device const uint *g_idx [[buffer(3)]],
    device const uint *indices [[buffer(4)]],
    device float *dst [[buffer(5)]],
    device atomic_uint *status [[buffer(6)]],
    constant gptq_v1_b4_g128_act_gather_f32_push &push [[buffer(7)]],
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
            qk_gptq_v1_b4_g128_act::decode(qweight, qzeros, scales, g_idx, push.rows, push.cols, push.grid_cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_gptq_v1_b4_g128_act::write_tile(dst, token * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// gptq_v1_b4_g128_act_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct gptq_v1_b4_g128_act_gather_f16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void gptq_v1_b4_g128_act_gather_f16(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device const uint *g_idx [[buffer(3)]],
    device const uint *indices [[buffer(4)]],
    device half *dst [[buffer(5)]],
    device atomic_uint *status [[buffer(6)]],
    constant gptq_v1_b4_g128_act_gather_f16_push &push [[buffer(7)]],
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
            qk_gptq_v1_b4_g128_act::decode(qweight, qzeros, scales, g_idx, push.rows, push.cols, push.grid_cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_gptq_v1_b4_g128_act::write_tile(dst, token * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// gptq_v1_b4_g128_act_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct gptq_v1_b4_g128_act_gather_bf16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void gptq_v1_b4_g128_act_gather_bf16(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device const uint *g_idx [[buffer(3)]],
    device const uint *indices [[buffer(4)]],
    device ushort *dst [[buffer(5)]],
    device atomic_uint *status [[buffer(6)]],
    constant gptq_v1_b4_g128_act_gather_bf16_push &push [[buffer(7)]],
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
            qk_gptq_v1_b4_g128_act::decode(qweight, qzeros, scales, g_idx, push.rows, push.cols, push.grid_cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_gptq_v1_b4_g128_act::write_tile(dst, token * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// gptq_v1_b4_g128_act_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
constant uint gptq_v1_b4_g128_act_gemv_f32_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint gptq_v1_b4_g128_act_gemv_f32_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint gptq_v1_b4_g128_act_gemv_f32_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void gptq_v1_b4_g128_act_gemv_f32(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device const uint *g_idx [[buffer(3)]],
    device const float4 *x [[buffer(4)]],
    device float *y [[buffer(5)]],
    device const float *result_scale [[buffer(6)]],
    device const float *row_bias [[buffer(7)]],
    device const float *result_gate [[buffer(8)]],
    device const float *residual [[buffer(9)]],
    constant qk_gptq_v1_b4_g128_act::sum_shape &push [[buffer(10)]],
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
    const qk_gptq_v1_b4_g128_act::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue,
        gptq_v1_b4_g128_act_gemv_f32_y_type};
    const qk_gptq_v1_b4_g128_act::standing at =
        qk_gptq_v1_b4_g128_act::find_matrix(push,
            {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups, gptq_v1_b4_g128_act_gemv_f32_views, 0, 0, 0, 0});
    switch (gptq_v1_b4_g128_act_gemv_f32_batch) {
        case 1: qk_gptq_v1_b4_g128_act::sum_rows<1, 4>(qweight, qzeros, scales, g_idx, x, to, push, partial, at); break;
        case 2: qk_gptq_v1_b4_g128_act::sum_rows<2, 4>(qweight, qzeros, scales, g_idx, x, to, push, partial, at); break;
        case 4: qk_gptq_v1_b4_g128_act::sum_rows<4, 4>(qweight, qzeros, scales, g_idx, x, to, push, partial, at); break;
        case 8: qk_gptq_v1_b4_g128_act::sum_rows<8, 2>(qweight, qzeros, scales, g_idx, x, to, push, partial, at); break;
    }
}

// gptq_v1_b4_g128_act_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
constant uint gptq_v1_b4_g128_act_gemv_f16_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint gptq_v1_b4_g128_act_gemv_f16_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint gptq_v1_b4_g128_act_gemv_f16_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void gptq_v1_b4_g128_act_gemv_f16(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device const uint *g_idx [[buffer(3)]],
    device const half4 *x [[buffer(4)]],
    device float *y [[buffer(5)]],
    device const float *result_scale [[buffer(6)]],
    device const float *row_bias [[buffer(7)]],
    device const float *result_gate [[buffer(8)]],
    device const float *residual [[buffer(9)]],
    constant qk_gptq_v1_b4_g128_act::sum_shape &push [[buffer(10)]],
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
    const qk_gptq_v1_b4_g128_act::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue,
        gptq_v1_b4_g128_act_gemv_f16_y_type};
    const qk_gptq_v1_b4_g128_act::standing at =
        qk_gptq_v1_b4_g128_act::find_matrix(push,
            {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups, gptq_v1_b4_g128_act_gemv_f16_views, 0, 0, 0, 0});
    switch (gptq_v1_b4_g128_act_gemv_f16_batch) {
        case 1: qk_gptq_v1_b4_g128_act::sum_rows<1, 4>(qweight, qzeros, scales, g_idx, x, to, push, partial, at); break;
        case 2: qk_gptq_v1_b4_g128_act::sum_rows<2, 4>(qweight, qzeros, scales, g_idx, x, to, push, partial, at); break;
        case 4: qk_gptq_v1_b4_g128_act::sum_rows<4, 4>(qweight, qzeros, scales, g_idx, x, to, push, partial, at); break;
        case 8: qk_gptq_v1_b4_g128_act::sum_rows<8, 2>(qweight, qzeros, scales, g_idx, x, to, push, partial, at); break;
    }
}
