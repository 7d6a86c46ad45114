// ct_b4_g32: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format ct_b4_g32`; do not edit.
// 18 bytes for 32 elements, 4.5 bits each; 6.38 operations for each element.
//
//     format ct_b4_g{group} "compressed-tensors: 4-bit codes around 8, a scale for each group"
//     from "compressed-tensors: pack-quantized, symmetric"
//     for group in 32 128
//
//     block group {
//         buffer weight_packed { w: u32[group / 8] }
//         buffer weight_scale  { s: bf16 }
//     }
//
//     code q = w { 4 @ 0 (group:4) }
//
//     value = (q - 8) * s
//
// Here group = 32.
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_ct_b4_g32 {

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

// The 8 values of a tile of a block, in runs of 4 consecutive elements.
inline void decode(device const uint *weight_packed, device const ushort *weight_scale, uint block, uint tile, thread float4 *v) {
    // elements 0 to 3, counted from the tile's first
    const uint w = weight_packed[block * 4u + tile];
    const uint4 q0 = (uint4(w) >> uint4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    const float s = bf16_to_f32(uint(weight_scale[block]));
    v[0] = float4(int4(q0) - 8) * s;

    // elements 4 to 7, counted from the tile's first
    const uint4 q1 = (uint4(w) >> uint4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    v[1] = float4(int4(q1) - 8) * s;
}

// Stores a tile's runs where they belong in block `block` of the output.
template <typename T>
inline void write_tile(device T *dst, uint block, uint tile, thread const float4 *v) {
    const uint at = block * 8u + tile * 2u;
    store(dst, at, v[0]);
    store(dst, at + 1u, v[1]);
}

}  // namespace qk_ct_b4_g32

// ct_b4_g32_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct ct_b4_g32_dequant_f32_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void ct_b4_g32_dequant_f32(
    device const uint *weight_packed [[buffer(0)]],
    device const ushort *weight_scale [[buffer(1)]],
    device float4 *dst [[buffer(2)]],
    constant ct_b4_g32_dequant_f32_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_ct_b4_g32::decode(weight_packed, weight_scale, i / 4u, i % 4u, v);
        qk_ct_b4_g32::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// ct_b4_g32_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct ct_b4_g32_dequant_f16_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void ct_b4_g32_dequant_f16(
    device const uint *weight_packed [[buffer(0)]],
    device const ushort *weight_scale [[buffer(1)]],
    device half4 *dst [[buffer(2)]],
    constant ct_b4_g32_dequant_f16_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_ct_b4_g32::decode(weight_packed, weight_scale, i / 4u, i % 4u, v);
        qk_ct_b4_g32::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// ct_b4_g32_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct ct_b4_g32_dequant_bf16_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void ct_b4_g32_dequant_bf16(
    device const uint *weight_packed [[buffer(0)]],
    device const ushort *weight_scale [[buffer(1)]],
    device ushort4 *dst [[buffer(2)]],
    constant ct_b4_g32_dequant_bf16_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_ct_b4_g32::decode(weight_packed, weight_scale, i / 4u, i % 4u, v);
        qk_ct_b4_g32::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// ct_b4_g32_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct ct_b4_g32_gather_f32_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void ct_b4_g32_gather_f32(
    device const uint *weight_packed [[buffer(0)]],
    device const ushort *weight_scale [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device float4 *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant ct_b4_g32_gather_f32_push &push [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_ct_b4_g32::decode(weight_packed, weight_scale, from / 4u, i % 4u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_ct_b4_g32::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// ct_b4_g32_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct ct_b4_g32_gather_f16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void ct_b4_g32_gather_f16(
    device const uint *weight_packed [[buffer(0)]],
    device const ushort *weight_scale [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device half4 *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant ct_b4_g32_gather_f16_push &push [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_ct_b4_g32::decode(weight_packed, weight_scale, from / 4u, i % 4u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_ct_b4_g32::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// ct_b4_g32_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct ct_b4_g32_gather_bf16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void ct_b4_g32_gather_bf16(
    device const uint *weight_packed [[buffer(0)]],
    device const ushort *weight_scale [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device ushort4 *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant ct_b4_g32_gather_bf16_push &push [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_ct_b4_g32::decode(weight_packed, weight_scale, from / 4u, i % 4u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_ct_b4_g32::write_tile(dst, i / 4u, i % 4u, v);
    }
}
