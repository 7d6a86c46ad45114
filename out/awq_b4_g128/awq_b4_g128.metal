// awq_b4_g128: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format awq_b4_g128`; do not edit.
// 532 bytes for 1024 elements, 4.156 bits each; 10.9 operations for each element.
//
//     format awq_b4_g{group} "AWQ: codes and zeros of eight outputs in a word, out of order"
//     from "AutoAWQ: WQLinear_GEMM"
//     for group in 32 64 128
//
//     block 8 x group {
//         buffer qweight[cols][rows] { w: u32[1][group] }
//         buffer qzeros[cols][rows]  { zs: u32 }
//         buffer scales[cols][rows]  { d: f16[8][1] }
//     }
//
//     # Output r of eight is nibble (0, 4, 1, 5, 2, 6, 3, 7)[r].
//     code q                = w  { 4 @ 0 (group:32, 2:16, 4:4) }
//     code z per group      = zs { 4 @ 0 (2:16, 4:4) }
//     code s: f16 per group = d  { 16 @ 0 (8:16) }
//
//     value = (q - z) * s
//
// Here group = 128.
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_awq_b4_g128 {

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
inline void decode(device const uint *qweight, device const uint *qzeros, device const ushort *scales, uint rows, uint grid_rows, uint row, uint tile, thread float4 *v) {
    const uint block_row = row / 8u;
    const uint r = row % 8u;
    const uint block_col = tile / 16u;
    const uint t = tile % 16u;
    // elements 0 to 3, counted from the tile's first
    const uint w0 = qweight[(block_col * 128u + t * 8u) * grid_rows + block_row];
    const uint w1 = qweight[(block_col * 128u + t * 8u + 1u) * grid_rows + block_row];
    const uint w2 = qweight[(block_col * 128u + t * 8u + 2u) * grid_rows + block_row];
    const uint w3 = qweight[(block_col * 128u + t * 8u + 3u) * grid_rows + block_row];
    const uint4 q0 = uint4((w0 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w1 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w2 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w3 >> (r % 2u * 16u + r / 2u * 4u)) & 15u);  // w: 4 bits
    const uint zs = qzeros[block_col * grid_rows + block_row];
    const uint z = (zs >> (r % 2u * 16u + r / 2u * 4u)) & 15u;
    const uint d = uint(scales[block_col * rows + row]);
    const float s = f16_to_f32(d);  // d: 16 bits
    v[0] = float4(int4(q0) - int(z)) * s;

    // elements 4 to 7, counted from the tile's first
    const uint w4 = qweight[(block_col * 128u + t * 8u + 4u) * grid_rows + block_row];
    const uint w5 = qweight[(block_col * 128u + t * 8u + 5u) * grid_rows + block_row];
    const uint w6 = qweight[(block_col * 128u + t * 8u + 6u) * grid_rows + block_row];
    const uint w7 = qweight[(block_col * 128u + t * 8u + 7u) * grid_rows + block_row];
    const uint4 q1 = uint4((w4 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w5 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w6 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w7 >> (r % 2u * 16u + r / 2u * 4u)) & 15u);  // w: 4 bits
    v[1] = float4(int4(q1) - int(z)) * s;
}

// Stores a tile's runs from `at` on, counted in runs.
template <typename T>
inline void write_tile(device T *dst, uint at, thread const float4 *v) {
    store(dst, at, v[0]);
    store(dst, at + 1u, v[1]);
}

}  // namespace qk_awq_b4_g128

// awq_b4_g128_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct awq_b4_g128_dequant_f32_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void awq_b4_g128_dequant_f32(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device float4 *dst [[buffer(3)]],
    constant awq_b4_g128_dequant_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_awq_b4_g128::decode(qweight, qzeros, scales, push.rows, push.grid_rows, row, tile, v);
        qk_awq_b4_g128::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// awq_b4_g128_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct awq_b4_g128_dequant_f16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void awq_b4_g128_dequant_f16(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device half4 *dst [[buffer(3)]],
    constant awq_b4_g128_dequant_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_awq_b4_g128::decode(qweight, qzeros, scales, push.rows, push.grid_rows, row, tile, v);
        qk_awq_b4_g128::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// awq_b4_g128_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct awq_b4_g128_dequant_bf16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void awq_b4_g128_dequant_bf16(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device ushort4 *dst [[buffer(3)]],
    constant awq_b4_g128_dequant_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_awq_b4_g128::decode(qweight, qzeros, scales, push.rows, push.grid_rows, row, tile, v);
        qk_awq_b4_g128::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// awq_b4_g128_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct awq_b4_g128_gather_f32_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void awq_b4_g128_gather_f32(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device float4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant awq_b4_g128_gather_f32_push &push [[buffer(6)]],
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
            qk_awq_b4_g128::decode(qweight, qzeros, scales, push.rows, push.grid_rows, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_awq_b4_g128::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// awq_b4_g128_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct awq_b4_g128_gather_f16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void awq_b4_g128_gather_f16(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device half4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant awq_b4_g128_gather_f16_push &push [[buffer(6)]],
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
            qk_awq_b4_g128::decode(qweight, qzeros, scales, push.rows, push.grid_rows, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_awq_b4_g128::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// awq_b4_g128_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct awq_b4_g128_gather_bf16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void awq_b4_g128_gather_bf16(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device ushort4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant awq_b4_g128_gather_bf16_push &push [[buffer(6)]],
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
            qk_awq_b4_g128::decode(qweight, qzeros, scales, push.rows, push.grid_rows, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_awq_b4_g128::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}
