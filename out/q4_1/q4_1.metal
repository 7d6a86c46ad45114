// q4_1: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format q4_1`; do not edit.
// 20 bytes for 32 elements, 5 bits each; 5.88 operations for each element.
//
//     format q4_1 "4-bit codes, one scale and one minimum for 32"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 32 {
//         d:  f16
//         m:  f16
//         qs: u8[16]
//     }
//
//     code q = qs { 4 @ 0 (16:8, 2:4) }    # low nibbles, then high nibbles
//
//     value = q * d + m
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_q4_1 {

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

// The 8 values of a tile of a block, in runs of 4 consecutive elements.
inline void decode(device const uint *blocks, uint block, uint tile, thread float4 *v) {
    // elements 0 to 3, counted from the tile's first
    const uint base = block * 5u;
    const uint qs = blocks[base + tile + 1u];
    const uint4 q0 = (uint4(qs) >> uint4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    const uint d_m = blocks[base];
    const float d = f16_to_f32(d_m);
    const float m_ = f16_to_f32(d_m >> 16u);
    v[0] = float4(q0) * d + m_;

    // elements 16 to 19, counted from the tile's first
    const uint4 q1 = (uint4(qs) >> uint4(4, 12, 20, 28)) & 15u;  // qs: 4 bits
    v[1] = float4(q1) * d + m_;
}

// Stores a tile's runs where they belong in block `block` of the output.
template <typename T>
inline void write_tile(device T *dst, uint block, uint tile, thread const float4 *v) {
    const uint at = block * 8u + tile;
    store(dst, at, v[0]);
    store(dst, at + 4u, v[1]);
}

}  // namespace qk_q4_1

// q4_1_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct q4_1_dequant_f32_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void q4_1_dequant_f32(
    device const uint *blocks [[buffer(0)]],
    device float4 *dst [[buffer(1)]],
    constant q4_1_dequant_f32_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_q4_1::decode(blocks, i / 4u, i % 4u, v);
        qk_q4_1::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// q4_1_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct q4_1_dequant_f16_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void q4_1_dequant_f16(
    device const uint *blocks [[buffer(0)]],
    device half4 *dst [[buffer(1)]],
    constant q4_1_dequant_f16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_q4_1::decode(blocks, i / 4u, i % 4u, v);
        qk_q4_1::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// q4_1_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct q4_1_dequant_bf16_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void q4_1_dequant_bf16(
    device const uint *blocks [[buffer(0)]],
    device ushort4 *dst [[buffer(1)]],
    constant q4_1_dequant_bf16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_q4_1::decode(blocks, i / 4u, i % 4u, v);
        qk_q4_1::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// q4_1_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct q4_1_gather_f32_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void q4_1_gather_f32(
    device const uint *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device float4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant q4_1_gather_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_q4_1::decode(blocks, from / 4u, i % 4u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_q4_1::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// q4_1_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct q4_1_gather_f16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void q4_1_gather_f16(
    device const uint *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device half4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant q4_1_gather_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_q4_1::decode(blocks, from / 4u, i % 4u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_q4_1::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// q4_1_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct q4_1_gather_bf16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void q4_1_gather_bf16(
    device const uint *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device ushort4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant q4_1_gather_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_q4_1::decode(blocks, from / 4u, i % 4u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_q4_1::write_tile(dst, i / 4u, i % 4u, v);
    }
}
