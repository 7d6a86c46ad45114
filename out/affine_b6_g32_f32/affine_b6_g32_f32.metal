// affine_b6_g32_f32: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format affine_b6_g32_f32`; do not edit.
// 32 bytes for 32 elements, 8 bits each; 5.81 operations for each element.
//
//     format affine_b{bits}_g{group}_{T} "affine codes in one bit stream, a scale and a bias for each group"
//     from "MLX, mlx.core.quantize with mode='affine'"
//     for bits in 2 3 4 5 6 8, group in 32 64 128, T in f16 bf16 f32
//
//     block group {
//         buffer weight { w: u32[group * bits / 32] }
//         buffer scales { s: T }
//         buffer biases { b: T }
//     }
//
//     code q = w { bits @ 0 (group:bits) }
//
//     value = q * s + b
//
// Here bits = 6, group = 32, T = f32.
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_affine_b6_g32_f32 {

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

// The 16 values of a tile of a block, in runs of 4 consecutive elements.
inline void decode(device const uint *weight, device const uint *scales, device const uint *biases, uint block, uint tile, thread float4 *v) {
    // elements 0 to 3, counted from the tile's first
    const uint w0 = weight[block * 6u + tile * 3u];
    const uint4 q0 = (uint4(w0) >> uint4(0, 6, 12, 18)) & 0x3Fu;  // w: 6 bits
    const float s = as_type<float>(scales[block]);
    const float b = as_type<float>(biases[block]);
    v[0] = float4(q0) * s + b;

    // elements 4 to 7, counted from the tile's first
    const uint w1 = weight[block * 6u + tile * 3u + 1u];
    const uint w_run0 = (w0 >> 24u) | (w1 << 8u);
    const uint4 q1 = (uint4(w_run0) >> uint4(0, 6, 12, 18)) & 0x3Fu;  // w: 6 bits
    v[1] = float4(q1) * s + b;

    // elements 8 to 11, counted from the tile's first
    const uint w2 = weight[block * 6u + tile * 3u + 2u];
    const uint w_run1 = (w1 >> 16u) | (w2 << 16u);
    const uint4 q2 = (uint4(w_run1) >> uint4(0, 6, 12, 18)) & 0x3Fu;  // w: 6 bits
    v[2] = float4(q2) * s + b;

    // elements 12 to 15, counted from the tile's first
    const uint4 q3 = (uint4(w2) >> uint4(8, 14, 20, 26)) & 0x3Fu;  // w: 6 bits
    v[3] = float4(q3) * s + b;
}

// Stores a tile's runs where they belong in block `block` of the output.
template <typename T>
inline void write_tile(device T *dst, uint block, uint tile, thread const float4 *v) {
    const uint at = block * 8u + tile * 4u;
    store(dst, at, v[0]);
    store(dst, at + 1u, v[1]);
    store(dst, at + 2u, v[2]);
    store(dst, at + 3u, v[3]);
}

}  // namespace qk_affine_b6_g32_f32

// affine_b6_g32_f32_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct affine_b6_g32_f32_dequant_f32_push {
    uint tiles;  // of 16 elements, to decode
};

kernel void affine_b6_g32_f32_dequant_f32(
    device const uint *weight [[buffer(0)]],
    device const uint *scales [[buffer(1)]],
    device const uint *biases [[buffer(2)]],
    device float4 *dst [[buffer(3)]],
    constant affine_b6_g32_f32_dequant_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[4];
        qk_affine_b6_g32_f32::decode(weight, scales, biases, i / 2u, i % 2u, v);
        qk_affine_b6_g32_f32::write_tile(dst, i / 2u, i % 2u, v);
    }
}

// affine_b6_g32_f32_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct affine_b6_g32_f32_dequant_f16_push {
    uint tiles;  // of 16 elements, to decode
};

kernel void affine_b6_g32_f32_dequant_f16(
    device const uint *weight [[buffer(0)]],
    device const uint *scales [[buffer(1)]],
    device const uint *biases [[buffer(2)]],
    device half4 *dst [[buffer(3)]],
    constant affine_b6_g32_f32_dequant_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[4];
        qk_affine_b6_g32_f32::decode(weight, scales, biases, i / 2u, i % 2u, v);
        qk_affine_b6_g32_f32::write_tile(dst, i / 2u, i % 2u, v);
    }
}

// affine_b6_g32_f32_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct affine_b6_g32_f32_dequant_bf16_push {
    uint tiles;  // of 16 elements, to decode
};

kernel void affine_b6_g32_f32_dequant_bf16(
    device const uint *weight [[buffer(0)]],
    device const uint *scales [[buffer(1)]],
    device const uint *biases [[buffer(2)]],
    device ushort4 *dst [[buffer(3)]],
    constant affine_b6_g32_f32_dequant_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[4];
        qk_affine_b6_g32_f32::decode(weight, scales, biases, i / 2u, i % 2u, v);
        qk_affine_b6_g32_f32::write_tile(dst, i / 2u, i % 2u, v);
    }
}

// affine_b6_g32_f32_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct affine_b6_g32_f32_gather_f32_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 16 elements in a row
    uint tokens;
};

kernel void affine_b6_g32_f32_gather_f32(
    device const uint *weight [[buffer(0)]],
    device const uint *scales [[buffer(1)]],
    device const uint *biases [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device float4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant affine_b6_g32_f32_gather_f32_push &push [[buffer(6)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[4];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_affine_b6_g32_f32::decode(weight, scales, biases, from / 2u, i % 2u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 4; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_affine_b6_g32_f32::write_tile(dst, i / 2u, i % 2u, v);
    }
}

// affine_b6_g32_f32_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct affine_b6_g32_f32_gather_f16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 16 elements in a row
    uint tokens;
};

kernel void affine_b6_g32_f32_gather_f16(
    device const uint *weight [[buffer(0)]],
    device const uint *scales [[buffer(1)]],
    device const uint *biases [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device half4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant affine_b6_g32_f32_gather_f16_push &push [[buffer(6)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[4];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_affine_b6_g32_f32::decode(weight, scales, biases, from / 2u, i % 2u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 4; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_affine_b6_g32_f32::write_tile(dst, i / 2u, i % 2u, v);
    }
}

// affine_b6_g32_f32_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct affine_b6_g32_f32_gather_bf16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 16 elements in a row
    uint tokens;
};

kernel void affine_b6_g32_f32_gather_bf16(
    device const uint *weight [[buffer(0)]],
    device const uint *scales [[buffer(1)]],
    device const uint *biases [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device ushort4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant affine_b6_g32_f32_gather_bf16_push &push [[buffer(6)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[4];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_affine_b6_g32_f32::decode(weight, scales, biases, from / 2u, i % 2u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 4; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_affine_b6_g32_f32::write_tile(dst, i / 2u, i % 2u, v);
    }
}
