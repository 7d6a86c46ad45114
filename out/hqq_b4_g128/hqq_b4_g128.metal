// hqq_b4_g128: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format hqq_b4_g128`; do not edit.
// 136 bytes for 256 elements, 4.25 bits each.
// dequant, gather in f32: for each weight 0.531 bytes read and 4 written, 6.88 operations: 0.5 loads, 2.25 bits, 0.875 integer, 2 float, 1.25 conversions.
// gemv in f32: for each weight 0.531 bytes read, 4.94 operations: 0.375 loads, 1 bits, 0.688 integer, 2.25 float, 0.625 conversions.
//
//     format hqq_b{bits}_g{group} "HQQ: the groups of the whole tensor in planes of equal size, a float zero"
//     from "HQQ: BitPack, axis 1"
//     for bits in 2 4 8, group in 64 128
//
//     block 8 / bits apart x group {
//         buffer W_q   { w: u8[1][group] }
//         buffer scale { d: f16[8 / bits][1] }
//         buffer zero  { m: f16[8 / bits][1] }
//     }
//
//     code q                = w { bits @ 8 - bits (group:8, 8 / bits:-bits) }
//     code s: f16 per group = d { 16 @ 0 (8 / bits:16) }
//     code z: f16 per group = m { 16 @ 0 (8 / bits:16) }
//
//     value = (q - z) * s
//
// Here bits = 4, group = 128.
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_hqq_b4_g128 {

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
inline void decode(device const uint *W_q, device const ushort *scale, device const ushort *zero, uint grid_rows, uint row, uint tile, thread float4 *v) {
    const uint block_row = row % grid_rows;
    const uint r = row / grid_rows;
    const uint t = tile % 16u;
    // elements 0 to 3, counted from the tile's first
    const uint w0 = W_q[block_row * 32u + t * 2u];
    const uint4 q0 = (uint4(w0 >> ((1u - r) * 4u)) >> uint4(0, 8, 16, 24)) & 15u;  // w: 4 bits
    const uint m_ = uint(zero[row]);
    const float z = f16_to_f32(m_);  // m: 16 bits
    const uint d = uint(scale[row]);
    const float s = f16_to_f32(d);  // d: 16 bits
    v[0] = (float4(q0) - z) * s;

    // elements 4 to 7, counted from the tile's first
    const uint w1 = W_q[block_row * 32u + (t * 2u + 1u)];
    const uint4 q1 = (uint4(w1 >> ((1u - r) * 4u)) >> uint4(0, 8, 16, 24)) & 15u;  // w: 4 bits
    v[1] = (float4(q1) - z) * s;
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
    uint cols;       // of the matrix that the blocks are patches of
    uint grid_rows;  // blocks
    uint grid_cols;
};

// Where a thread stands.
struct standing {
    uint group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups;
};

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
template <uint TILES, uint BATCH, typename X>
inline void load_x(device const X *x_in, uint batch, uint row_tiles, uint vector, uint j, uint k,
    thread float4 (&x)[TILES][BATCH][4], thread float (&x_sum)[TILES][BATCH][1])
{
    const uint place = j * 4u;
    for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_tiles * 4u + place;
        const float4 x0 = float4(x_in[from]);
        const float4 x1 = float4(x_in[from + 1u]);
        const float4 x2 = float4(x_in[from + 2u]);
        const float4 x3 = float4(x_in[from + 3u]);
        x[k][m][0] = x0 * 16777216.0f;
        x[k][m][1] = x1 * 16777216.0f;
        x[k][m][2] = x2 * 16777216.0f;
        x[k][m][3] = x3 * 16777216.0f;
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
    const uint row = n * (row_tiles / 8u) + j / 8u, tile = j % 8u;
    const uint block_row = row % grid_rows;
    const uint r = row / grid_rows;
    const uint t = tile % 8u;
    const uint d = uint(scale[row]);
    const float s = f16_to_f32(d);  // d: 16 bits
    const uint w0 = W_q[block_row * 32u + t * 4u];
    const float2 pair0 = float2(as_type<half2>((w0 >> ((1u - r) * 4u)) & 0xF000Fu));
    const float2 pair1 = float2(as_type<half2>(((w0 >> ((1u - r) * 4u)) >> 8u) & 0xF000Fu));
    const uint w1 = W_q[block_row * 32u + (t * 4u + 1u)];
    const float2 pair2 = float2(as_type<half2>((w1 >> ((1u - r) * 4u)) & 0xF000Fu));
    const float2 pair3 = float2(as_type<half2>(((w1 >> ((1u - r) * 4u)) >> 8u) & 0xF000Fu));
    const uint w2 = W_q[block_row * 32u + (t * 4u + 2u)];
    const float2 pair4 = float2(as_type<half2>((w2 >> ((1u - r) * 4u)) & 0xF000Fu));
    const float2 pair5 = float2(as_type<half2>(((w2 >> ((1u - r) * 4u)) >> 8u) & 0xF000Fu));
    const uint w3 = W_q[block_row * 32u + (t * 4u + 3u)];
    const float2 pair6 = float2(as_type<half2>((w3 >> ((1u - r) * 4u)) & 0xF000Fu));
    const float2 pair7 = float2(as_type<half2>(((w3 >> ((1u - r) * 4u)) >> 8u) & 0xF000Fu));
    const uint m_ = uint(zero[row]);
    const float z = f16_to_f32(m_);  // m: 16 bits
    for (uint m = 0; m < BATCH; ++m) {
        sum[m] += s * (dot(x[k][m][0], float4(pair0.x, pair1.x, pair0.y, pair1.y)) + dot(x[k][m][1], float4(pair2.x, pair3.x, pair2.y, pair3.y)) + dot(x[k][m][2], float4(pair4.x, pair5.x, pair4.y, pair5.y)) + dot(x[k][m][3], float4(pair6.x, pair7.x, pair6.y, pair7.y))) - s * z * x_sum[k][m][0];
    }
}

// Sums over rows. BATCH right-hand sides are kept, at least as many as there are; ROWS rows at a time.
template <uint BATCH, uint ROWS, typename X>
inline void sum_rows(
    device const uint *W_q,
    device const ushort *scale,
    device const ushort *zero,
    device const X *x_in, device float *y, constant sum_shape &shape, threadgroup float *partial, standing at)
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
                if (c != held) load_x<TILES, BATCH>(x_in, shape.batch, shape.row_tiles, 0, j, k, x, x_sum);
                for (uint r = 0; r < ROWS; ++r)
                    accumulate<TILES, BATCH>(W_q, scale, zero, shape.grid_rows, shape.row_tiles, min(first + team * ROWS + r, shape.rows - 1), j, k, x, x_sum, sum[r]);
            }
            held = c;
        }
        for (uint r = 0; r < ROWS; ++r) {
            for (uint m = 0; m < BATCH; ++m) {
                const float all = simd_sum(sum[r][m]);
                const uint row = first + team * ROWS + r;
                if (at.lane != 0) continue;
                if (split > 1) partial[(at.simdgroup * ROWS + r) * BATCH + m] = all;
                else if (row < shape.rows && m < shape.batch) y[m * shape.y_rows + shape.y_first + row] = all;
            }
        }
        if (split == 1) continue;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = at.thread_index; i < teams * ROWS * BATCH; i += at.threads) {
            const uint row = first + i / BATCH, m = i % BATCH, from = i / (ROWS * BATCH) * (split - 1) * ROWS * BATCH + i;
            float total = 0.0f;
            for (uint s = 0; s < split; ++s) total += partial[from + s * ROWS * BATCH];
            if (row < shape.rows && m < shape.batch) y[m * shape.y_rows + shape.y_first + row] = total;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

}  // namespace qk_hqq_b4_g128

// hqq_b4_g128_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct hqq_b4_g128_dequant_f32_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void hqq_b4_g128_dequant_f32(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device float4 *dst [[buffer(3)]],
    constant hqq_b4_g128_dequant_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_hqq_b4_g128::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        qk_hqq_b4_g128::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// hqq_b4_g128_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct hqq_b4_g128_dequant_f16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void hqq_b4_g128_dequant_f16(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device half4 *dst [[buffer(3)]],
    constant hqq_b4_g128_dequant_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_hqq_b4_g128::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        qk_hqq_b4_g128::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// hqq_b4_g128_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct hqq_b4_g128_dequant_bf16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void hqq_b4_g128_dequant_bf16(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device ushort4 *dst [[buffer(3)]],
    constant hqq_b4_g128_dequant_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_hqq_b4_g128::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        qk_hqq_b4_g128::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// hqq_b4_g128_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct hqq_b4_g128_gather_f32_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void hqq_b4_g128_gather_f32(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device float4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant hqq_b4_g128_gather_f32_push &push [[buffer(6)]],
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
        const uint row = index * (push.table_cols / push.cols) + j / 16u, tile = j % 16u;
        float4 v[2];
        if (found) {
            qk_hqq_b4_g128::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_hqq_b4_g128::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// hqq_b4_g128_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct hqq_b4_g128_gather_f16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void hqq_b4_g128_gather_f16(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device half4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant hqq_b4_g128_gather_f16_push &push [[buffer(6)]],
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
        const uint row = index * (push.table_cols / push.cols) + j / 16u, tile = j % 16u;
        float4 v[2];
        if (found) {
            qk_hqq_b4_g128::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_hqq_b4_g128::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// hqq_b4_g128_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct hqq_b4_g128_gather_bf16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void hqq_b4_g128_gather_bf16(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device ushort4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant hqq_b4_g128_gather_bf16_push &push [[buffer(6)]],
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
        const uint row = index * (push.table_cols / push.cols) + j / 16u, tile = j % 16u;
        float4 v[2];
        if (found) {
            qk_hqq_b4_g128::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_hqq_b4_g128::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// hqq_b4_g128_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
constant uint hqq_b4_g128_gemv_f32_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides

kernel void hqq_b4_g128_gemv_f32(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device const float4 *x [[buffer(3)]],
    device float *y [[buffer(4)]],
    constant qk_hqq_b4_g128::sum_shape &push [[buffer(5)]],
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
    const qk_hqq_b4_g128::standing at = {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups};
    switch (hqq_b4_g128_gemv_f32_batch) {
        case 1: qk_hqq_b4_g128::sum_rows<1, 4>(W_q, scale, zero, x, y, push, partial, at); break;
        case 2: qk_hqq_b4_g128::sum_rows<2, 4>(W_q, scale, zero, x, y, push, partial, at); break;
        case 4: qk_hqq_b4_g128::sum_rows<4, 4>(W_q, scale, zero, x, y, push, partial, at); break;
        case 8: qk_hqq_b4_g128::sum_rows<8, 2>(W_q, scale, zero, x, y, push, partial, at); break;
    }
}

// hqq_b4_g128_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
constant uint hqq_b4_g128_gemv_f16_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides

kernel void hqq_b4_g128_gemv_f16(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device const half4 *x [[buffer(3)]],
    device float *y [[buffer(4)]],
    constant qk_hqq_b4_g128::sum_shape &push [[buffer(5)]],
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
    const qk_hqq_b4_g128::standing at = {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups};
    switch (hqq_b4_g128_gemv_f16_batch) {
        case 1: qk_hqq_b4_g128::sum_rows<1, 4>(W_q, scale, zero, x, y, push, partial, at); break;
        case 2: qk_hqq_b4_g128::sum_rows<2, 4>(W_q, scale, zero, x, y, push, partial, at); break;
        case 4: qk_hqq_b4_g128::sum_rows<4, 4>(W_q, scale, zero, x, y, push, partial, at); break;
        case 8: qk_hqq_b4_g128::sum_rows<8, 2>(W_q, scale, zero, x, y, push, partial, at); break;
    }
}
