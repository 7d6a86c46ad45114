// nf4_b128: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format nf4_b128`; do not edit.
// 68 bytes for 128 elements, 4.25 bits each; 6.38 operations for each element.
//
//     format nf4_b{group} "bitsandbytes NF4: the even element in the high nibble, a scale for each block of the flat tensor"
//     from "bitsandbytes: Linear4bit with quant_type nf4"
//     for group in 64 128
//
//     block group ragged {
//         buffer weight { w: u8[group / 2] }
//         buffer absmax { s: f32 }
//     }
//
//     table N: f32[16] = {
//         -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
//         -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
//         0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
//         0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
//     }
//
//     code q = w { 4 @ 4 (2:-4, group / 2:8) }
//
//     value = N[q] * s
//
// Here group = 128.
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_nf4_b128 {

constant float N[16] = {
    -1.0f, -0.6961928f, -0.52507305f, -0.3949175f, -0.28444138f, -0.18477343f, -0.091050036f, 0.0f, 0.0795803f, 0.1609302f, 0.2461123f, 0.33791524f, 0.44070983f, 0.562617f, 0.72295684f, 1.0f
};

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
    const uint block_col = tile / 16u;
    const uint t = tile % 16u;
    // elements 0 to 3, counted from the tile's first
    const uint w0 = uint(weight[min(block_col * 64u + t * 4u, (cols * 64u + 0x7Fu) / 128u - 1u)]) | (uint(weight[min(block_col * 64u + t * 4u + 1u, (cols * 64u + 0x7Fu) / 128u - 1u)]) << 8u);
    const uint4 q0 = (uint4(w0) >> uint4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    const float s = as_type<float>(absmax[block_col]);
    v[0] = float4(N[q0.x], N[q0.y], N[q0.z], N[q0.w]) * s;

    // elements 4 to 7, counted from the tile's first
    const uint w1 = uint(weight[min(block_col * 64u + t * 4u + 2u, (cols * 64u + 0x7Fu) / 128u - 1u)]) | (uint(weight[min(block_col * 64u + t * 4u + 3u, (cols * 64u + 0x7Fu) / 128u - 1u)]) << 8u);
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

}  // namespace qk_nf4_b128

// nf4_b128_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct nf4_b128_dequant_f32_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void nf4_b128_dequant_f32(
    device const uchar *weight [[buffer(0)]],
    device const uint *absmax [[buffer(1)]],
    device float *dst [[buffer(2)]],
    constant nf4_b128_dequant_f32_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_nf4_b128::decode(weight, absmax, push.cols, row, tile, v);
        qk_nf4_b128::write_tile(dst, row * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// nf4_b128_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct nf4_b128_dequant_f16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void nf4_b128_dequant_f16(
    device const uchar *weight [[buffer(0)]],
    device const uint *absmax [[buffer(1)]],
    device half *dst [[buffer(2)]],
    constant nf4_b128_dequant_f16_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_nf4_b128::decode(weight, absmax, push.cols, row, tile, v);
        qk_nf4_b128::write_tile(dst, row * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// nf4_b128_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct nf4_b128_dequant_bf16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void nf4_b128_dequant_bf16(
    device const uchar *weight [[buffer(0)]],
    device const uint *absmax [[buffer(1)]],
    device ushort *dst [[buffer(2)]],
    constant nf4_b128_dequant_bf16_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_nf4_b128::decode(weight, absmax, push.cols, row, tile, v);
        qk_nf4_b128::write_tile(dst, row * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// nf4_b128_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct nf4_b128_gather_f32_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void nf4_b128_gather_f32(
    device const uchar *weight [[buffer(0)]],
    device const uint *absmax [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device float *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant nf4_b128_gather_f32_push &push [[buffer(5)]],
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
            qk_nf4_b128::decode(weight, absmax, push.cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_nf4_b128::write_tile(dst, token * push.table_cols + start - first, from, to, v);
    }
}

// nf4_b128_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct nf4_b128_gather_f16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void nf4_b128_gather_f16(
    device const uchar *weight [[buffer(0)]],
    device const uint *absmax [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device half *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant nf4_b128_gather_f16_push &push [[buffer(5)]],
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
            qk_nf4_b128::decode(weight, absmax, push.cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_nf4_b128::write_tile(dst, token * push.table_cols + start - first, from, to, v);
    }
}

// nf4_b128_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct nf4_b128_gather_bf16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void nf4_b128_gather_bf16(
    device const uchar *weight [[buffer(0)]],
    device const uint *absmax [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device ushort *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant nf4_b128_gather_bf16_push &push [[buffer(5)]],
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
            qk_nf4_b128::decode(weight, absmax, push.cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_nf4_b128::write_tile(dst, token * push.table_cols + start - first, from, to, v);
    }
}
