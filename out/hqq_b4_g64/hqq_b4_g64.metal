// hqq_b4_g64: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format hqq_b4_g64`; do not edit.
// 72 bytes for 128 elements, 4.5 bits each; 6.38 operations for each element.
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
// Here bits = 4, group = 64.
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_hqq_b4_g64 {

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
    const uint t = tile % 8u;
    // elements 0 to 3, counted from the tile's first
    const uint w0 = W_q[block_row * 16u + t * 2u];
    const uint4 q0 = (uint4(w0 >> ((1u - r) * 4u)) >> uint4(0, 8, 16, 24)) & 15u;  // w: 4 bits
    const uint m_ = uint(zero[row]);
    const float z = f16_to_f32(m_);  // m: 16 bits
    const uint d = uint(scale[row]);
    const float s = f16_to_f32(d);  // d: 16 bits
    v[0] = (float4(q0) - z) * s;

    // elements 4 to 7, counted from the tile's first
    const uint w1 = W_q[block_row * 16u + (t * 2u + 1u)];
    const uint4 q1 = (uint4(w1 >> ((1u - r) * 4u)) >> uint4(0, 8, 16, 24)) & 15u;  // w: 4 bits
    v[1] = (float4(q1) - z) * s;
}

// Stores a tile's runs from `at` on, counted in runs.
template <typename T>
inline void write_tile(device T *dst, uint at, thread const float4 *v) {
    store(dst, at, v[0]);
    store(dst, at + 1u, v[1]);
}

}  // namespace qk_hqq_b4_g64

// hqq_b4_g64_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct hqq_b4_g64_dequant_f32_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void hqq_b4_g64_dequant_f32(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device float4 *dst [[buffer(3)]],
    constant hqq_b4_g64_dequant_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_hqq_b4_g64::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        qk_hqq_b4_g64::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// hqq_b4_g64_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct hqq_b4_g64_dequant_f16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void hqq_b4_g64_dequant_f16(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device half4 *dst [[buffer(3)]],
    constant hqq_b4_g64_dequant_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_hqq_b4_g64::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        qk_hqq_b4_g64::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// hqq_b4_g64_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct hqq_b4_g64_dequant_bf16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void hqq_b4_g64_dequant_bf16(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device ushort4 *dst [[buffer(3)]],
    constant hqq_b4_g64_dequant_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_hqq_b4_g64::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        qk_hqq_b4_g64::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// hqq_b4_g64_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct hqq_b4_g64_gather_f32_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void hqq_b4_g64_gather_f32(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device float4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant hqq_b4_g64_gather_f32_push &push [[buffer(6)]],
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
        const uint row = index * (push.table_cols / push.cols) + j / 8u, tile = j % 8u;
        float4 v[2];
        if (found) {
            qk_hqq_b4_g64::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_hqq_b4_g64::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// hqq_b4_g64_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct hqq_b4_g64_gather_f16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void hqq_b4_g64_gather_f16(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device half4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant hqq_b4_g64_gather_f16_push &push [[buffer(6)]],
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
        const uint row = index * (push.table_cols / push.cols) + j / 8u, tile = j % 8u;
        float4 v[2];
        if (found) {
            qk_hqq_b4_g64::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_hqq_b4_g64::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// hqq_b4_g64_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct hqq_b4_g64_gather_bf16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void hqq_b4_g64_gather_bf16(
    device const uint *W_q [[buffer(0)]],
    device const ushort *scale [[buffer(1)]],
    device const ushort *zero [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device ushort4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant hqq_b4_g64_gather_bf16_push &push [[buffer(6)]],
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
        const uint row = index * (push.table_cols / push.cols) + j / 8u, tile = j % 8u;
        float4 v[2];
        if (found) {
            qk_hqq_b4_g64::decode(W_q, scale, zero, push.grid_rows, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_hqq_b4_g64::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}
