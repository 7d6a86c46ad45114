// aqlm_2x8_g8: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format aqlm_2x8_g8`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 36 bytes for 8 elements, 2 bits each.
// dequant, gather in f32: for each weight 0.25 bytes read and 4 written, 8.25 operations: 1.38 loads, 1 bits, 1.75 integer, 2 float, 2.12
// conversions.
// gemv, gemv_id in f32: for each weight 0.25 bytes read, 9.38 operations: 1.38 loads, 1 bits, 1.75 integer, 3.12 float, 2.12 conversions.
//     format aqlm_2x8_g8 "sums of two vectors of 8, each out of a table of 256, a scale for each row"
//     from "AQLM: inference_lib, two codebooks of 8 bits"
//     block 1 x 8 {
//         buffer codes                { n: u8[1][2] }
//         buffer codebook0[c0 of 256] { vectors0: f16[1][8] }    # codebooks[0]
//         buffer codebook1[c1 of 256] { vectors1: f16[1][8] }    # codebooks[1], which follows in the same tensor
//         buffer scales[rows]         { d: f16 }
//     }
//     code c0 per 8     = n        { 8 @ 0 }
//     code c1 per 8     = n        { 8 @ 8 }
//     code v0: f16      = vectors0 { 16 @ 0 (8:16) }
//     code v1: f16      = vectors1 { 16 @ 0 (8:16) }
//     code s: f16 per 8 = d        { 16 @ 0 }
//     value = (v0 + v1) * s
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_aqlm_2x8_g8 {

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

// The 8 values of a tile of a row, in runs of 4 consecutive elements.
inline void decode(device const uchar *codes, device const uint *codebook0, device const uint *codebook1, device const ushort *scales,
    uint grid_cols, uint row, uint tile, thread float4 *v) {
    const uint block_col = tile / 1u;
    // elements 0 to 3, counted from the tile's first
    const uint n0 = uint(codes[row * (grid_cols * 2u) + block_col * 2u]), vectors00 = codebook0[n0 * 4u];
    const float v00 = f16_to_f32(vectors00), v01 = f16_to_f32(vectors00 >> 16u);  // vectors0: 16 bits
    const uint vectors01 = codebook0[n0 * 4u + 1u];
    const float v02 = f16_to_f32(vectors01), v03 = f16_to_f32(vectors01 >> 16u);  // vectors0: 16 bits
    const float4 v04 = float4(v00, v01, v02, v03);
    const uint n1 = uint(codes[row * (grid_cols * 2u) + (block_col * 2u + 1u)]), vectors10 = codebook1[n1 * 4u];
    const float v10 = f16_to_f32(vectors10), v11 = f16_to_f32(vectors10 >> 16u);  // vectors1: 16 bits
    const uint vectors11 = codebook1[n1 * 4u + 1u];
    const float v12 = f16_to_f32(vectors11), v13 = f16_to_f32(vectors11 >> 16u);  // vectors1: 16 bits
    const float4 v14 = float4(v10, v11, v12, v13);
    const float s = f16_to_f32(uint(scales[row]));
    v[0] = (v04 + v14) * s;

    // elements 4 to 7, counted from the tile's first
    const uint vectors02 = codebook0[n0 * 4u + 2u];
    const float v05 = f16_to_f32(vectors02), v06 = f16_to_f32(vectors02 >> 16u);  // vectors0: 16 bits
    const uint vectors03 = codebook0[n0 * 4u + 3u];
    const float v07 = f16_to_f32(vectors03), v08 = f16_to_f32(vectors03 >> 16u);  // vectors0: 16 bits
    const float4 v09 = float4(v05, v06, v07, v08);
    const uint vectors12 = codebook1[n1 * 4u + 2u];
    const float v15 = f16_to_f32(vectors12), v16 = f16_to_f32(vectors12 >> 16u);  // vectors1: 16 bits
    const uint vectors13 = codebook1[n1 * 4u + 3u];
    const float v17 = f16_to_f32(vectors13), v18 = f16_to_f32(vectors13 >> 16u);  // vectors1: 16 bits
    const float4 v19 = float4(v15, v16, v17, v18);
    v[1] = (v09 + v19) * s;
}

// Stores a tile's runs from `at` on, counted in runs.
template <typename T>
inline void write_tile(device T *dst, uint at, thread const float4 *v) {
    store(dst, at, v[0]);
    store(dst, at + 1u, v[1]);
}

struct sum_shape {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of 8 elements in a row
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
    thread float4 (&x)[TILES][BATCH][2], thread float (&x_sum)[TILES][BATCH][1])
{
    const uint place = j * 2u;
    for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_runs + place;
        const float4 x0 = float4(x_in[from]);
        const float4 x1 = float4(x_in[from + 1u]);
        x[k][m][0] = x0;
        x[k][m][1] = x1;
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
template <uint TILES, uint BATCH>
inline void accumulate(
    device const uchar *codes,
    device const uint *codebook0,
    device const uint *codebook1,
    device const ushort *scales,
    uint grid_cols, uint row_tiles, uint n, uint j, uint k,
    thread const float4 (&x)[TILES][BATCH][2], thread const float (&x_sum)[TILES][BATCH][1],
    thread float (&sum)[BATCH])
{
    #pragma clang fp contract(fast)
    const uint row = n, tile = j;
    const uint block_col = tile / 1u;
    const float s = f16_to_f32(uint(scales[row]));
    const uint n0 = uint(codes[row * (grid_cols * 2u) + block_col * 2u]), vectors00 = codebook0[n0 * 4u];
    const uint vectors01 = codebook0[n0 * 4u + 1u], n1 = uint(codes[row * (grid_cols * 2u) + (block_col * 2u + 1u)]);
    const uint vectors10 = codebook1[n1 * 4u], vectors11 = codebook1[n1 * 4u + 1u], vectors02 = codebook0[n0 * 4u + 2u];
    const uint vectors03 = codebook0[n0 * 4u + 3u], vectors12 = codebook1[n1 * 4u + 2u], vectors13 = codebook1[n1 * 4u + 3u];
    const float v00 = f16_to_f32(vectors00), v01 = f16_to_f32(vectors00 >> 16u), v02 = f16_to_f32(vectors01);  // vectors0: 16 bits
    const float v03 = f16_to_f32(vectors01 >> 16u), v04 = f16_to_f32(vectors02), v05 = f16_to_f32(vectors02 >> 16u);  // vectors0: 16 bits
    const float v06 = f16_to_f32(vectors03), v07 = f16_to_f32(vectors03 >> 16u);  // vectors0: 16 bits
    const float4 v08 = float4(v00, v01, v02, v03), v09 = float4(v04, v05, v06, v07);
    const float v10 = f16_to_f32(vectors10), v11 = f16_to_f32(vectors10 >> 16u), v12 = f16_to_f32(vectors11);  // vectors1: 16 bits
    const float v13 = f16_to_f32(vectors11 >> 16u), v14 = f16_to_f32(vectors12), v15 = f16_to_f32(vectors12 >> 16u);  // vectors1: 16 bits
    const float v16 = f16_to_f32(vectors13), v17 = f16_to_f32(vectors13 >> 16u);  // vectors1: 16 bits
    const float4 v18 = float4(v10, v11, v12, v13), v19 = float4(v14, v15, v16, v17);
    for (uint m = 0; m < BATCH; ++m) {
        sum[m] += s * (dot(x[k][m][0], v08 + v18) + dot(x[k][m][1], v09 + v19));
    }
}

// Sums over rows. BATCH right-hand sides are kept, at least as many as there are; ROWS rows at a time.
template <uint BATCH, uint ROWS, typename X>
inline void sum_rows(
    device const uchar *codes,
    device const uint *codebook0,
    device const uint *codebook1,
    device const ushort *scales,
    device const X *x_in, results to, constant sum_shape &shape, threadgroup float *partial, standing at)
{
    constexpr uint BUSY = 2048;  // simdgroups that keep a device busy
    constexpr uint TILES = BATCH == 1 ? 8 : 1;
    // What a thread keeps of x: tiles of each right-hand side, in the order of the weights, and the sums over runs that share
    // a scale.
    float4 x[TILES][BATCH][2];
    float x_sum[TILES][BATCH][1];
    // A simdgroup holds a slice of x and walks down the rows. Where there are few rows, simdgroups share each of them.
    const uint slice = at.lanes * TILES, slices = (shape.row_tiles + slice - 1) / slice;
    uint split = 1;
    while (split < slices && at.simdgroups % (2 * split) == 0 && shape.rows * split < BUSY * ROWS) split *= 2;
    const uint teams = at.simdgroups / split, team = at.simdgroup / split;
    const uint own_runs = shape.row_tiles * 2;
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
                    accumulate<TILES, BATCH>(codes, codebook0, codebook1, scales, shape.grid_cols, shape.row_tiles,
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

}  // namespace qk_aqlm_2x8_g8

// aqlm_2x8_g8_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct aqlm_2x8_g8_dequant_f32_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void aqlm_2x8_g8_dequant_f32(
    device const uchar *codes [[buffer(0)]],
    device const uint *codebook0 [[buffer(1)]],
    device const uint *codebook1 [[buffer(2)]],
    device const ushort *scales [[buffer(3)]],
    device float4 *dst [[buffer(4)]],
    constant aqlm_2x8_g8_dequant_f32_push &push [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_aqlm_2x8_g8::decode(codes, codebook0, codebook1, scales, push.grid_cols, row, tile, v);
        qk_aqlm_2x8_g8::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// aqlm_2x8_g8_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct aqlm_2x8_g8_dequant_f16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void aqlm_2x8_g8_dequant_f16(
    device const uchar *codes [[buffer(0)]],
    device const uint *codebook0 [[buffer(1)]],
    device const uint *codebook1 [[buffer(2)]],
    device const ushort *scales [[buffer(3)]],
    device half4 *dst [[buffer(4)]],
    constant aqlm_2x8_g8_dequant_f16_push &push [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_aqlm_2x8_g8::decode(codes, codebook0, codebook1, scales, push.grid_cols, row, tile, v);
        qk_aqlm_2x8_g8::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// aqlm_2x8_g8_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct aqlm_2x8_g8_dequant_bf16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void aqlm_2x8_g8_dequant_bf16(
    device const uchar *codes [[buffer(0)]],
    device const uint *codebook0 [[buffer(1)]],
    device const uint *codebook1 [[buffer(2)]],
    device const ushort *scales [[buffer(3)]],
    device ushort4 *dst [[buffer(4)]],
    constant aqlm_2x8_g8_dequant_bf16_push &push [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_aqlm_2x8_g8::decode(codes, codebook0, codebook1, scales, push.grid_cols, row, tile, v);
        qk_aqlm_2x8_g8::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// aqlm_2x8_g8_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct aqlm_2x8_g8_gather_f32_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void aqlm_2x8_g8_gather_f32(
    device const uchar *codes [[buffer(0)]],
    device const uint *codebook0 [[buffer(1)]],
    device const uint *codebook1 [[buffer(2)]],
    device const ushort *scales [[buffer(3)]],
    device const uint *indices [[buffer(4)]],
    device float4 *dst [[buffer(5)]],
    device atomic_uint *status [[buffer(6)]],
    constant aqlm_2x8_g8_gather_f32_push &push [[buffer(7)]],
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
            qk_aqlm_2x8_g8::decode(codes, codebook0, codebook1, scales, push.grid_cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_aqlm_2x8_g8::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// aqlm_2x8_g8_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct aqlm_2x8_g8_gather_f16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void aqlm_2x8_g8_gather_f16(
    device const uchar *codes [[buffer(0)]],
    device const uint *codebook0 [[buffer(1)]],
    device const uint *codebook1 [[buffer(2)]],
    device const ushort *scales [[buffer(3)]],
    device const uint *indices [[buffer(4)]],
    device half4 *dst [[buffer(5)]],
    device atomic_uint *status [[buffer(6)]],
    constant aqlm_2x8_g8_gather_f16_push &push [[buffer(7)]],
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
            qk_aqlm_2x8_g8::decode(codes, codebook0, codebook1, scales, push.grid_cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_aqlm_2x8_g8::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// aqlm_2x8_g8_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct aqlm_2x8_g8_gather_bf16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void aqlm_2x8_g8_gather_bf16(
    device const uchar *codes [[buffer(0)]],
    device const uint *codebook0 [[buffer(1)]],
    device const uint *codebook1 [[buffer(2)]],
    device const ushort *scales [[buffer(3)]],
    device const uint *indices [[buffer(4)]],
    device ushort4 *dst [[buffer(5)]],
    device atomic_uint *status [[buffer(6)]],
    constant aqlm_2x8_g8_gather_bf16_push &push [[buffer(7)]],
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
            qk_aqlm_2x8_g8::decode(codes, codebook0, codebook1, scales, push.grid_cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_aqlm_2x8_g8::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// aqlm_2x8_g8_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
constant uint aqlm_2x8_g8_gemv_f32_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint aqlm_2x8_g8_gemv_f32_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint aqlm_2x8_g8_gemv_f32_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void aqlm_2x8_g8_gemv_f32(
    device const uchar *codes [[buffer(0)]],
    device const uint *codebook0 [[buffer(1)]],
    device const uint *codebook1 [[buffer(2)]],
    device const ushort *scales [[buffer(3)]],
    device const float4 *x [[buffer(4)]],
    device float *y [[buffer(5)]],
    device const float *result_scale [[buffer(6)]],
    device const float *row_bias [[buffer(7)]],
    device const float *result_gate [[buffer(8)]],
    device const float *residual [[buffer(9)]],
    constant qk_aqlm_2x8_g8::sum_shape &push [[buffer(10)]],
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
    const qk_aqlm_2x8_g8::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, aqlm_2x8_g8_gemv_f32_y_type};
    const qk_aqlm_2x8_g8::standing at =
        qk_aqlm_2x8_g8::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups,
            aqlm_2x8_g8_gemv_f32_views, 0, 0, 0, 0});
    switch (aqlm_2x8_g8_gemv_f32_batch) {
        case 1: qk_aqlm_2x8_g8::sum_rows<1, 4>(codes, codebook0, codebook1, scales, x, to, push, partial, at); break;
        case 2: qk_aqlm_2x8_g8::sum_rows<2, 4>(codes, codebook0, codebook1, scales, x, to, push, partial, at); break;
        case 4: qk_aqlm_2x8_g8::sum_rows<4, 4>(codes, codebook0, codebook1, scales, x, to, push, partial, at); break;
        case 8: qk_aqlm_2x8_g8::sum_rows<8, 2>(codes, codebook0, codebook1, scales, x, to, push, partial, at); break;
    }
}

// aqlm_2x8_g8_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
constant uint aqlm_2x8_g8_gemv_f16_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint aqlm_2x8_g8_gemv_f16_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint aqlm_2x8_g8_gemv_f16_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void aqlm_2x8_g8_gemv_f16(
    device const uchar *codes [[buffer(0)]],
    device const uint *codebook0 [[buffer(1)]],
    device const uint *codebook1 [[buffer(2)]],
    device const ushort *scales [[buffer(3)]],
    device const half4 *x [[buffer(4)]],
    device float *y [[buffer(5)]],
    device const float *result_scale [[buffer(6)]],
    device const float *row_bias [[buffer(7)]],
    device const float *result_gate [[buffer(8)]],
    device const float *residual [[buffer(9)]],
    constant qk_aqlm_2x8_g8::sum_shape &push [[buffer(10)]],
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
    const qk_aqlm_2x8_g8::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, aqlm_2x8_g8_gemv_f16_y_type};
    const qk_aqlm_2x8_g8::standing at =
        qk_aqlm_2x8_g8::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups,
            aqlm_2x8_g8_gemv_f16_views, 0, 0, 0, 0});
    switch (aqlm_2x8_g8_gemv_f16_batch) {
        case 1: qk_aqlm_2x8_g8::sum_rows<1, 4>(codes, codebook0, codebook1, scales, x, to, push, partial, at); break;
        case 2: qk_aqlm_2x8_g8::sum_rows<2, 4>(codes, codebook0, codebook1, scales, x, to, push, partial, at); break;
        case 4: qk_aqlm_2x8_g8::sum_rows<4, 4>(codes, codebook0, codebook1, scales, x, to, push, partial, at); break;
        case 8: qk_aqlm_2x8_g8::sum_rows<8, 2>(codes, codebook0, codebook1, scales, x, to, push, partial, at); break;
    }
}

// aqlm_2x8_g8_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], x in f32.
struct aqlm_2x8_g8_gemv_id_f32_push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 8 elements in a row
    uint batch;         // tokens
    uint slots;         // experts of each token
    uint x_slots;       // right-hand sides of each token: one for all of its slots, or one for each
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
    uint epilogue;      // what is done with results
    uint cols;          // of the matrix that an expert is, whose patches the blocks are
    uint grid_rows;     // blocks
    uint grid_cols;
    // Of views, which are on where x, ids, y and experts do not lie one after the other:
    uint weights_inner;               // rows from an expert to the next
    uint x_first, x_stride, x_inner;  // elements; from a slot's x to the next, and from a token's to the next
    uint y_skip, y_stride, y_inner;   // elements in y alone, then as of x
    uint ids_skip, ids_inner;         // and from a token's ids to the next
    uint sets, set_first;             // of experts with the same ids and x: those of this launch
    uint weights_first, weights_outer, y_outer;  // rows before them, and from a set to the next
};

constant uint aqlm_2x8_g8_gemv_id_f32_views [[function_constant(30)]];
constant uint aqlm_2x8_g8_gemv_id_f32_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void aqlm_2x8_g8_gemv_id_f32(
    device const uchar *codes [[buffer(0)]],
    device const uint *codebook0 [[buffer(1)]],
    device const uint *codebook1 [[buffer(2)]],
    device const ushort *scales [[buffer(3)]],
    device const float4 *x [[buffer(4)]],
    device const uint *ids [[buffer(5)]],
    device float *y [[buffer(7)]],
    device const float *result_scale [[buffer(8)]],
    device const float *row_bias [[buffer(9)]],
    device const float *result_gate [[buffer(10)]],
    device const float *residual [[buffer(11)]],
    device atomic_uint *status [[buffer(6)]],
    constant aqlm_2x8_g8_gemv_id_f32_push &push [[buffer(12)]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]])
{
    constexpr uint ROWS = 4, TILES = 8;  // rows at a time; tiles of x that a thread keeps
    threadgroup float partial[32 * ROWS];
    qk_aqlm_2x8_g8::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, aqlm_2x8_g8_gemv_id_f32_y_type};
    const bool views = aqlm_2x8_g8_gemv_id_f32_views != 0;
    const uint row_runs = push.row_tiles * 2, expert_rows = views ? push.weights_inner : push.rows;
    float4 kept[TILES][1][2];
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
        to.epilogue = found ? push.epilogue : push.epilogue & (qk_aqlm_2x8_g8::ADDS_TO_Y | qk_aqlm_2x8_g8::ADDS_RESIDUAL);
        float sum[ROWS][1] = {};
        const uint matrix = found ? expert - push.expert_first + weights_begin / push.rows : 0;
        device const uchar *qk_own_codes = codes + ulong(matrix) * (push.grid_rows * push.grid_cols * 2u);
        device const uint *qk_own_codebook0 = codebook0 + ulong(matrix) * (1024u);
        device const uint *qk_own_codebook1 = codebook1 + ulong(matrix) * (1024u);
        device const ushort *qk_own_scales = scales + ulong(matrix) * (push.grid_rows * 1u);
        if (!found && first == 0 && thread_index == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);  // zeros
        for (uint c = simdgroup % split; found && c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * lanes + lane;
                if (j >= push.row_tiles) continue;
                if (c != held || vector != held_vector)
                    qk_aqlm_2x8_g8::load_x<TILES, 1>(x + x_begin, 1, row_runs, 0, j, k, kept, kept_sum);
                for (uint r = 0; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, push.rows - 1);
                    qk_aqlm_2x8_g8::accumulate<TILES, 1>(qk_own_codes, qk_own_codebook0, qk_own_codebook1, qk_own_scales, push.grid_cols,
                        push.row_tiles, row, j, k, kept, kept_sum, sum[r]);
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
            const qk_aqlm_2x8_g8::place_of_result to_row = {y_at, e * push.rows + first + i, set * pairs + pair, e,
                views ? push.y_skip : 0};
            qk_aqlm_2x8_g8::finish(to, to_row, total);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// aqlm_2x8_g8_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], x in f16.
struct aqlm_2x8_g8_gemv_id_f16_push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 8 elements in a row
    uint batch;         // tokens
    uint slots;         // experts of each token
    uint x_slots;       // right-hand sides of each token: one for all of its slots, or one for each
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
    uint epilogue;      // what is done with results
    uint cols;          // of the matrix that an expert is, whose patches the blocks are
    uint grid_rows;     // blocks
    uint grid_cols;
    // Of views, which are on where x, ids, y and experts do not lie one after the other:
    uint weights_inner;               // rows from an expert to the next
    uint x_first, x_stride, x_inner;  // elements; from a slot's x to the next, and from a token's to the next
    uint y_skip, y_stride, y_inner;   // elements in y alone, then as of x
    uint ids_skip, ids_inner;         // and from a token's ids to the next
    uint sets, set_first;             // of experts with the same ids and x: those of this launch
    uint weights_first, weights_outer, y_outer;  // rows before them, and from a set to the next
};

constant uint aqlm_2x8_g8_gemv_id_f16_views [[function_constant(30)]];
constant uint aqlm_2x8_g8_gemv_id_f16_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void aqlm_2x8_g8_gemv_id_f16(
    device const uchar *codes [[buffer(0)]],
    device const uint *codebook0 [[buffer(1)]],
    device const uint *codebook1 [[buffer(2)]],
    device const ushort *scales [[buffer(3)]],
    device const half4 *x [[buffer(4)]],
    device const uint *ids [[buffer(5)]],
    device float *y [[buffer(7)]],
    device const float *result_scale [[buffer(8)]],
    device const float *row_bias [[buffer(9)]],
    device const float *result_gate [[buffer(10)]],
    device const float *residual [[buffer(11)]],
    device atomic_uint *status [[buffer(6)]],
    constant aqlm_2x8_g8_gemv_id_f16_push &push [[buffer(12)]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]])
{
    constexpr uint ROWS = 4, TILES = 8;  // rows at a time; tiles of x that a thread keeps
    threadgroup float partial[32 * ROWS];
    qk_aqlm_2x8_g8::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, aqlm_2x8_g8_gemv_id_f16_y_type};
    const bool views = aqlm_2x8_g8_gemv_id_f16_views != 0;
    const uint row_runs = push.row_tiles * 2, expert_rows = views ? push.weights_inner : push.rows;
    float4 kept[TILES][1][2];
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
        to.epilogue = found ? push.epilogue : push.epilogue & (qk_aqlm_2x8_g8::ADDS_TO_Y | qk_aqlm_2x8_g8::ADDS_RESIDUAL);
        float sum[ROWS][1] = {};
        const uint matrix = found ? expert - push.expert_first + weights_begin / push.rows : 0;
        device const uchar *qk_own_codes = codes + ulong(matrix) * (push.grid_rows * push.grid_cols * 2u);
        device const uint *qk_own_codebook0 = codebook0 + ulong(matrix) * (1024u);
        device const uint *qk_own_codebook1 = codebook1 + ulong(matrix) * (1024u);
        device const ushort *qk_own_scales = scales + ulong(matrix) * (push.grid_rows * 1u);
        if (!found && first == 0 && thread_index == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);  // zeros
        for (uint c = simdgroup % split; found && c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * lanes + lane;
                if (j >= push.row_tiles) continue;
                if (c != held || vector != held_vector)
                    qk_aqlm_2x8_g8::load_x<TILES, 1>(x + x_begin, 1, row_runs, 0, j, k, kept, kept_sum);
                for (uint r = 0; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, push.rows - 1);
                    qk_aqlm_2x8_g8::accumulate<TILES, 1>(qk_own_codes, qk_own_codebook0, qk_own_codebook1, qk_own_scales, push.grid_cols,
                        push.row_tiles, row, j, k, kept, kept_sum, sum[r]);
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
            const qk_aqlm_2x8_g8::place_of_result to_row = {y_at, e * push.rows + first + i, set * pairs + pair, e,
                views ? push.y_skip : 0};
            qk_aqlm_2x8_g8::finish(to, to_row, total);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}
