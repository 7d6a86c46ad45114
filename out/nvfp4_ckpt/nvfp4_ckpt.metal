// nvfp4_ckpt: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format nvfp4_ckpt`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 13 bytes for 16 elements, 4.5 bits each.
// dequant, gather in f32: for each weight 0.562 bytes read and 4 written, 12.2 operations: 0.375 loads, 7.62 bits, 0.875 integer, 2.25
// float, 1.12 conversions.
// gemv, gemv_id in f32: for each weight 0.562 bytes read, 6.31 operations: 0.25 loads, 2.69 bits, 0.625 integer, 2.19 float, 0.562
// conversions.
//     format nvfp4_ckpt "NVFP4 checkpoints: E2M1 codes, E4M3 scales for 16, and a scale for the tensor"
//     from "NVIDIA ModelOpt: NVFP4"
//     block 1 x 16 {
//         buffer weight           { w: u8[8] }
//         buffer weight_scale     { s: e4m3 }
//         buffer weight_scale_2[] { t: f32 }
//     }
//     code q: e2m1 = w { 4 @ 0 (16:4) }
//     value = q * (s * t)
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_nvfp4_ckpt {

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
inline void decode(device const uint *weight, device const uchar *weight_scale, device const uint *weight_scale_2, uint grid_cols,
    uint row, uint tile, thread float4 *v) {
    const uint block_col = tile / 2u;
    // elements 0 to 3, counted from the tile's first
    const uint w = weight[row * (grid_cols * 2u) + tile];
    const uint4 q_bits0 = (uint4(w) >> uint4(0, 4, 8, 12)) & 15u;
    const uint q_bits1 = q_bits0.x, q_bits2 = q_bits0.y, q_bits3 = q_bits0.z, q_bits4 = q_bits0.w;
    // w: 4 bits
    const float4 q0 = float4(f16_to_f32(((q_bits1 & 7u) << 9u) | ((q_bits1 & 8u) << 12u)) * 16384.0f,
        f16_to_f32(((q_bits2 & 7u) << 9u) | ((q_bits2 & 8u) << 12u)) * 16384.0f,
        f16_to_f32(((q_bits3 & 7u) << 9u) | ((q_bits3 & 8u) << 12u)) * 16384.0f,
        f16_to_f32(((q_bits4 & 7u) << 9u) | ((q_bits4 & 8u) << 12u)) * 16384.0f);
    const uint s_bits = uint(weight_scale[row * grid_cols + block_col]);
    const float s = f16_to_f32(((s_bits & 0x7Fu) == 0x7Fu ? 32256u : (s_bits & 0x7Fu) << 7u) | ((s_bits & 128u) << 8u)) * 256.0f;
    const float t_ = as_type<float>(weight_scale_2[0u]), s_t = s * t_;
    v[0] = q0 * s_t;

    // elements 4 to 7, counted from the tile's first
    const uint4 q_bits5 = (uint4(w) >> uint4(16, 20, 24, 28)) & 15u;
    const uint q_bits6 = q_bits5.x, q_bits7 = q_bits5.y, q_bits8 = q_bits5.z, q_bits9 = q_bits5.w;
    // w: 4 bits
    const float4 q1 = float4(f16_to_f32(((q_bits6 & 7u) << 9u) | ((q_bits6 & 8u) << 12u)) * 16384.0f,
        f16_to_f32(((q_bits7 & 7u) << 9u) | ((q_bits7 & 8u) << 12u)) * 16384.0f,
        f16_to_f32(((q_bits8 & 7u) << 9u) | ((q_bits8 & 8u) << 12u)) * 16384.0f,
        f16_to_f32(((q_bits9 & 7u) << 9u) | ((q_bits9 & 8u) << 12u)) * 16384.0f);
    v[1] = q1 * s_t;
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
        x[k][m][0] = x0 * 16384.0f;
        x[k][m][1] = x1 * 16384.0f;
        x[k][m][2] = x2 * 16384.0f;
        x[k][m][3] = x3 * 16384.0f;
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
template <uint TILES, uint BATCH>
inline void accumulate(
    device const uint *weight,
    device const uchar *weight_scale,
    device const uint *weight_scale_2,
    uint grid_cols, uint row_tiles, uint n, uint j, uint k,
    thread const float4 (&x)[TILES][BATCH][4], thread const float (&x_sum)[TILES][BATCH][1],
    thread float (&sum)[BATCH])
{
    #pragma clang fp contract(fast)
    const uint row = n, tile = j;
    const uint block_col = tile / 1u;
    const uint s_bits = uint(weight_scale[row * grid_cols + block_col]), w0 = weight[row * (grid_cols * 2u) + block_col * 2u];
    const uint w1 = weight[row * (grid_cols * 2u) + (block_col * 2u + 1u)];
    const float s = f16_to_f32(((s_bits & 0x7Fu) == 0x7Fu ? 32256u : (s_bits & 0x7Fu) << 7u) | ((s_bits & 128u) << 8u)) * 256.0f;
    const float t_ = as_type<float>(weight_scale_2[0u]), s_t = s * t_;
    const float2 pair0 = float2(as_type<half2>(((w0 << 9u) & 0xE000E00u) | ((w0 << 12u) & 0x80008000u)));
    const float2 pair1 = float2(as_type<half2>(((w0 << 5u) & 0xE000E00u) | ((w0 << 8u) & 0x80008000u)));
    const float2 pair2 = float2(as_type<half2>(((w0 << 1u) & 0xE000E00u) | ((w0 << 4u) & 0x80008000u)));
    const float2 pair3 = float2(as_type<half2>(((w0 >> 3u) & 0xE000E00u) | (w0 & 0x80008000u)));
    const float2 pair4 = float2(as_type<half2>(((w1 << 9u) & 0xE000E00u) | ((w1 << 12u) & 0x80008000u)));
    const float2 pair5 = float2(as_type<half2>(((w1 << 5u) & 0xE000E00u) | ((w1 << 8u) & 0x80008000u)));
    const float2 pair6 = float2(as_type<half2>(((w1 << 1u) & 0xE000E00u) | ((w1 << 4u) & 0x80008000u)));
    const float2 pair7 = float2(as_type<half2>(((w1 >> 3u) & 0xE000E00u) | (w1 & 0x80008000u)));
    for (uint m = 0; m < BATCH; ++m) {
        sum[m] += s_t * (dot(x[k][m][0], float4(pair0.x, pair1.x, pair2.x, pair3.x))
            + dot(x[k][m][1], float4(pair0.y, pair1.y, pair2.y, pair3.y)) + dot(x[k][m][2], float4(pair4.x, pair5.x, pair6.x, pair7.x))
            + dot(x[k][m][3], float4(pair4.y, pair5.y, pair6.y, pair7.y)));
    }
}

// Sums over rows. BATCH right-hand sides are kept, at least as many as there are; ROWS rows at a time.
template <uint BATCH, uint ROWS, typename X>
inline void sum_rows(
    device const uint *weight,
    device const uchar *weight_scale,
    device const uint *weight_scale_2,
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
                    accumulate<TILES, BATCH>(weight, weight_scale, weight_scale_2, shape.grid_cols, shape.row_tiles,
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

}  // namespace qk_nvfp4_ckpt

// nvfp4_ckpt_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct nvfp4_ckpt_dequant_f32_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void nvfp4_ckpt_dequant_f32(
    device const uint *weight [[buffer(0)]],
    device const uchar *weight_scale [[buffer(1)]],
    device const uint *weight_scale_2 [[buffer(2)]],
    device float4 *dst [[buffer(3)]],
    constant nvfp4_ckpt_dequant_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_nvfp4_ckpt::decode(weight, weight_scale, weight_scale_2, push.grid_cols, row, tile, v);
        qk_nvfp4_ckpt::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// nvfp4_ckpt_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct nvfp4_ckpt_dequant_f16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void nvfp4_ckpt_dequant_f16(
    device const uint *weight [[buffer(0)]],
    device const uchar *weight_scale [[buffer(1)]],
    device const uint *weight_scale_2 [[buffer(2)]],
    device half4 *dst [[buffer(3)]],
    constant nvfp4_ckpt_dequant_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_nvfp4_ckpt::decode(weight, weight_scale, weight_scale_2, push.grid_cols, row, tile, v);
        qk_nvfp4_ckpt::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// nvfp4_ckpt_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct nvfp4_ckpt_dequant_bf16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void nvfp4_ckpt_dequant_bf16(
    device const uint *weight [[buffer(0)]],
    device const uchar *weight_scale [[buffer(1)]],
    device const uint *weight_scale_2 [[buffer(2)]],
    device ushort4 *dst [[buffer(3)]],
    constant nvfp4_ckpt_dequant_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_nvfp4_ckpt::decode(weight, weight_scale, weight_scale_2, push.grid_cols, row, tile, v);
        qk_nvfp4_ckpt::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// nvfp4_ckpt_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct nvfp4_ckpt_gather_f32_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void nvfp4_ckpt_gather_f32(
    device const uint *weight [[buffer(0)]],
    device const uchar *weight_scale [[buffer(1)]],
    device const uint *weight_scale_2 [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device float4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant nvfp4_ckpt_gather_f32_push &push [[buffer(6)]],
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
            qk_nvfp4_ckpt::decode(weight, weight_scale, weight_scale_2, push.grid_cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_nvfp4_ckpt::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// nvfp4_ckpt_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct nvfp4_ckpt_gather_f16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void nvfp4_ckpt_gather_f16(
    device const uint *weight [[buffer(0)]],
    device const uchar *weight_scale [[buffer(1)]],
    device const uint *weight_scale_2 [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device half4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant nvfp4_ckpt_gather_f16_push &push [[buffer(6)]],
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
            qk_nvfp4_ckpt::decode(weight, weight_scale, weight_scale_2, push.grid_cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_nvfp4_ckpt::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// nvfp4_ckpt_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct nvfp4_ckpt_gather_bf16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void nvfp4_ckpt_gather_bf16(
    device const uint *weight [[buffer(0)]],
    device const uchar *weight_scale [[buffer(1)]],
    device const uint *weight_scale_2 [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device ushort4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant nvfp4_ckpt_gather_bf16_push &push [[buffer(6)]],
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
            qk_nvfp4_ckpt::decode(weight, weight_scale, weight_scale_2, push.grid_cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_nvfp4_ckpt::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// nvfp4_ckpt_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
constant uint nvfp4_ckpt_gemv_f32_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint nvfp4_ckpt_gemv_f32_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint nvfp4_ckpt_gemv_f32_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void nvfp4_ckpt_gemv_f32(
    device const uint *weight [[buffer(0)]],
    device const uchar *weight_scale [[buffer(1)]],
    device const uint *weight_scale_2 [[buffer(2)]],
    device const float4 *x [[buffer(3)]],
    device float *y [[buffer(4)]],
    device const float *result_scale [[buffer(5)]],
    device const float *row_bias [[buffer(6)]],
    device const float *result_gate [[buffer(7)]],
    device const float *residual [[buffer(8)]],
    constant qk_nvfp4_ckpt::sum_shape &push [[buffer(9)]],
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
    const qk_nvfp4_ckpt::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, nvfp4_ckpt_gemv_f32_y_type};
    const qk_nvfp4_ckpt::standing at =
        qk_nvfp4_ckpt::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups,
            nvfp4_ckpt_gemv_f32_views, 0, 0, 0, 0});
    switch (nvfp4_ckpt_gemv_f32_batch) {
        case 1: qk_nvfp4_ckpt::sum_rows<1, 4>(weight, weight_scale, weight_scale_2, x, to, push, partial, at); break;
        case 2: qk_nvfp4_ckpt::sum_rows<2, 4>(weight, weight_scale, weight_scale_2, x, to, push, partial, at); break;
        case 4: qk_nvfp4_ckpt::sum_rows<4, 4>(weight, weight_scale, weight_scale_2, x, to, push, partial, at); break;
        case 8: qk_nvfp4_ckpt::sum_rows<8, 2>(weight, weight_scale, weight_scale_2, x, to, push, partial, at); break;
    }
}

// nvfp4_ckpt_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
constant uint nvfp4_ckpt_gemv_f16_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides
constant uint nvfp4_ckpt_gemv_f16_views [[function_constant(30)]];    // 1: x, y and weights lie as the push constants say
constant uint nvfp4_ckpt_gemv_f16_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void nvfp4_ckpt_gemv_f16(
    device const uint *weight [[buffer(0)]],
    device const uchar *weight_scale [[buffer(1)]],
    device const uint *weight_scale_2 [[buffer(2)]],
    device const half4 *x [[buffer(3)]],
    device float *y [[buffer(4)]],
    device const float *result_scale [[buffer(5)]],
    device const float *row_bias [[buffer(6)]],
    device const float *result_gate [[buffer(7)]],
    device const float *residual [[buffer(8)]],
    constant qk_nvfp4_ckpt::sum_shape &push [[buffer(9)]],
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
    const qk_nvfp4_ckpt::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, nvfp4_ckpt_gemv_f16_y_type};
    const qk_nvfp4_ckpt::standing at =
        qk_nvfp4_ckpt::find_matrix(push, {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups,
            nvfp4_ckpt_gemv_f16_views, 0, 0, 0, 0});
    switch (nvfp4_ckpt_gemv_f16_batch) {
        case 1: qk_nvfp4_ckpt::sum_rows<1, 4>(weight, weight_scale, weight_scale_2, x, to, push, partial, at); break;
        case 2: qk_nvfp4_ckpt::sum_rows<2, 4>(weight, weight_scale, weight_scale_2, x, to, push, partial, at); break;
        case 4: qk_nvfp4_ckpt::sum_rows<4, 4>(weight, weight_scale, weight_scale_2, x, to, push, partial, at); break;
        case 8: qk_nvfp4_ckpt::sum_rows<8, 2>(weight, weight_scale, weight_scale_2, x, to, push, partial, at); break;
    }
}

// nvfp4_ckpt_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], x in f32.
struct nvfp4_ckpt_gemv_id_f32_push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 16 elements in a row
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

constant uint nvfp4_ckpt_gemv_id_f32_views [[function_constant(30)]];
constant uint nvfp4_ckpt_gemv_id_f32_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void nvfp4_ckpt_gemv_id_f32(
    device const uint *weight [[buffer(0)]],
    device const uchar *weight_scale [[buffer(1)]],
    device const uint *weight_scale_2 [[buffer(2)]],
    device const float4 *x [[buffer(3)]],
    device const uint *ids [[buffer(4)]],
    device float *y [[buffer(6)]],
    device const float *result_scale [[buffer(7)]],
    device const float *row_bias [[buffer(8)]],
    device const float *result_gate [[buffer(9)]],
    device const float *residual [[buffer(10)]],
    device atomic_uint *status [[buffer(5)]],
    constant nvfp4_ckpt_gemv_id_f32_push &push [[buffer(11)]],
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
    qk_nvfp4_ckpt::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, nvfp4_ckpt_gemv_id_f32_y_type};
    const bool views = nvfp4_ckpt_gemv_id_f32_views != 0;
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
        to.epilogue = found ? push.epilogue : push.epilogue & (qk_nvfp4_ckpt::ADDS_TO_Y | qk_nvfp4_ckpt::ADDS_RESIDUAL);
        float sum[ROWS][1] = {};
        const uint matrix = found ? expert - push.expert_first + weights_begin / push.rows : 0;
        device const uint *qk_own_weight = weight + ulong(matrix) * (push.grid_rows * push.grid_cols * 2u);
        device const uchar *qk_own_weight_scale = weight_scale + ulong(matrix) * (push.grid_rows * push.grid_cols * 1u);
        device const uint *qk_own_weight_scale_2 = weight_scale_2 + ulong(matrix) * (1u);
        if (!found && first == 0 && thread_index == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);  // zeros
        for (uint c = simdgroup % split; found && c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * lanes + lane;
                if (j >= push.row_tiles) continue;
                if (c != held || vector != held_vector)
                    qk_nvfp4_ckpt::load_x<TILES, 1>(x + x_begin, 1, row_runs, 0, j, k, kept, kept_sum);
                for (uint r = 0; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, push.rows - 1);
                    qk_nvfp4_ckpt::accumulate<TILES, 1>(qk_own_weight, qk_own_weight_scale, qk_own_weight_scale_2, push.grid_cols,
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
            const qk_nvfp4_ckpt::place_of_result to_row = {y_at, e * push.rows + first + i, set * pairs + pair, e, views ? push.y_skip : 0};
            qk_nvfp4_ckpt::finish(to, to_row, total);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// nvfp4_ckpt_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], x in f16.
struct nvfp4_ckpt_gemv_id_f16_push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 16 elements in a row
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

constant uint nvfp4_ckpt_gemv_id_f16_views [[function_constant(30)]];
constant uint nvfp4_ckpt_gemv_id_f16_y_type [[function_constant(31)]];  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

kernel void nvfp4_ckpt_gemv_id_f16(
    device const uint *weight [[buffer(0)]],
    device const uchar *weight_scale [[buffer(1)]],
    device const uint *weight_scale_2 [[buffer(2)]],
    device const half4 *x [[buffer(3)]],
    device const uint *ids [[buffer(4)]],
    device float *y [[buffer(6)]],
    device const float *result_scale [[buffer(7)]],
    device const float *row_bias [[buffer(8)]],
    device const float *result_gate [[buffer(9)]],
    device const float *residual [[buffer(10)]],
    device atomic_uint *status [[buffer(5)]],
    constant nvfp4_ckpt_gemv_id_f16_push &push [[buffer(11)]],
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
    qk_nvfp4_ckpt::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue, nvfp4_ckpt_gemv_id_f16_y_type};
    const bool views = nvfp4_ckpt_gemv_id_f16_views != 0;
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
        to.epilogue = found ? push.epilogue : push.epilogue & (qk_nvfp4_ckpt::ADDS_TO_Y | qk_nvfp4_ckpt::ADDS_RESIDUAL);
        float sum[ROWS][1] = {};
        const uint matrix = found ? expert - push.expert_first + weights_begin / push.rows : 0;
        device const uint *qk_own_weight = weight + ulong(matrix) * (push.grid_rows * push.grid_cols * 2u);
        device const uchar *qk_own_weight_scale = weight_scale + ulong(matrix) * (push.grid_rows * push.grid_cols * 1u);
        device const uint *qk_own_weight_scale_2 = weight_scale_2 + ulong(matrix) * (1u);
        if (!found && first == 0 && thread_index == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);  // zeros
        for (uint c = simdgroup % split; found && c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * lanes + lane;
                if (j >= push.row_tiles) continue;
                if (c != held || vector != held_vector)
                    qk_nvfp4_ckpt::load_x<TILES, 1>(x + x_begin, 1, row_runs, 0, j, k, kept, kept_sum);
                for (uint r = 0; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, push.rows - 1);
                    qk_nvfp4_ckpt::accumulate<TILES, 1>(qk_own_weight, qk_own_weight_scale, qk_own_weight_scale_2, push.grid_cols,
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
            const qk_nvfp4_ckpt::place_of_result to_row = {y_at, e * push.rows + first + i, set * pairs + pair, e, views ? push.y_skip : 0};
            qk_nvfp4_ckpt::finish(to, to_row, total);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}
