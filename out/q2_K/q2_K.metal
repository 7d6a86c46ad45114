// q2_K: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format q2_K`; do not edit.
// 84 bytes for 256 elements, 2.625 bits each; 8.19 operations for each element.
//
//     format q2_K "2-bit codes, 4-bit scales and minimums in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         scales: u8[16]
//         qs:     u8[64]
//         d:      f16
//         dmin:   f16
//     }
//
//     code sc per 16 = scales { 4 @ 0 (16:8) }
//     code mn per 16 = scales { 4 @ 4 (16:8) }
//
//     # Four planes of 32 bytes, twice.
//     code q = qs { 2 @ 0 (32:8, 4:2, 2:256) }
//
//     value = d * sc * q - dmin * mn
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_q2_K {

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

// The 16 values of a tile of a block, in runs of 4 consecutive elements.
inline void decode(device const uint *blocks, uint block, uint tile, thread float4 *v) {
    // elements 0 to 3, counted from the tile's first
    const uint base = block * 21u;
    const uint d_dmin = blocks[base + 20u];
    const float d = f16_to_f32(d_dmin);
    const uint part = tile / 8u;  // of 128 elements
    const uint scales0 = blocks[base + part * 2u];
    const uint sc0 = (scales0 >> (tile % 8u / 4u * 8u)) & 15u;  // scales: 4 bits
    const float d_sc0 = d * float(sc0);
    const uint qs = blocks[base + tile + 4u];
    const uint4 q0 = (uint4(qs) >> uint4(0, 8, 16, 24)) & 3u;  // qs: 2 bits
    const float dmin = f16_to_f32(d_dmin >> 16u);
    const uint mn0 = (scales0 >> (tile % 8u / 4u * 8u + 4u)) & 15u;  // scales: 4 bits
    const float dmin_mn0 = dmin * float(mn0);
    v[0] = d_sc0 * float4(q0) - dmin_mn0;

    // elements 32 to 35, counted from the tile's first
    const uint sc1 = (scales0 >> (tile % 8u / 4u * 8u + 16u)) & 15u;  // scales: 4 bits
    const float d_sc1 = d * float(sc1);
    const uint4 q1 = (uint4(qs) >> uint4(2, 10, 18, 26)) & 3u;  // qs: 2 bits
    const uint mn1 = (scales0 >> (tile % 8u / 4u * 8u + 20u)) & 15u;  // scales: 4 bits
    const float dmin_mn1 = dmin * float(mn1);
    v[1] = d_sc1 * float4(q1) - dmin_mn1;

    // elements 64 to 67, counted from the tile's first
    const uint scales1 = blocks[base + part * 2u + 1u];
    const uint sc2 = (scales1 >> (tile % 8u / 4u * 8u)) & 15u;  // scales: 4 bits
    const float d_sc2 = d * float(sc2);
    const uint4 q2 = (uint4(qs) >> uint4(4, 12, 20, 28)) & 3u;  // qs: 2 bits
    const uint mn2 = (scales1 >> (tile % 8u / 4u * 8u + 4u)) & 15u;  // scales: 4 bits
    const float dmin_mn2 = dmin * float(mn2);
    v[2] = d_sc2 * float4(q2) - dmin_mn2;

    // elements 96 to 99, counted from the tile's first
    const uint sc3 = (scales1 >> (tile % 8u / 4u * 8u + 16u)) & 15u;  // scales: 4 bits
    const float d_sc3 = d * float(sc3);
    const uint4 q3 = (uint4(qs) >> uint4(6, 14, 22, 30)) & 3u;  // qs: 2 bits
    const uint mn3 = (scales1 >> (tile % 8u / 4u * 8u + 20u)) & 15u;  // scales: 4 bits
    const float dmin_mn3 = dmin * float(mn3);
    v[3] = d_sc3 * float4(q3) - dmin_mn3;
}

// Stores a tile's runs where they belong in block `block` of the output.
template <typename T>
inline void write_tile(device T *dst, uint block, uint tile, thread const float4 *v) {
    const uint at = block * 64u + tile / 8u * 32u + tile % 8u;
    store(dst, at, v[0]);
    store(dst, at + 8u, v[1]);
    store(dst, at + 16u, v[2]);
    store(dst, at + 24u, v[3]);
}

}  // namespace qk_q2_K

// q2_K_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct q2_K_dequant_f32_push {
    uint tiles;  // of 16 elements, to decode
};

kernel void q2_K_dequant_f32(
    device const uint *blocks [[buffer(0)]],
    device float4 *dst [[buffer(1)]],
    constant q2_K_dequant_f32_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[4];
        qk_q2_K::decode(blocks, i / 16u, i % 16u, v);
        qk_q2_K::write_tile(dst, i / 16u, i % 16u, v);
    }
}

// q2_K_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct q2_K_dequant_f16_push {
    uint tiles;  // of 16 elements, to decode
};

kernel void q2_K_dequant_f16(
    device const uint *blocks [[buffer(0)]],
    device half4 *dst [[buffer(1)]],
    constant q2_K_dequant_f16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[4];
        qk_q2_K::decode(blocks, i / 16u, i % 16u, v);
        qk_q2_K::write_tile(dst, i / 16u, i % 16u, v);
    }
}

// q2_K_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct q2_K_dequant_bf16_push {
    uint tiles;  // of 16 elements, to decode
};

kernel void q2_K_dequant_bf16(
    device const uint *blocks [[buffer(0)]],
    device ushort4 *dst [[buffer(1)]],
    constant q2_K_dequant_bf16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[4];
        qk_q2_K::decode(blocks, i / 16u, i % 16u, v);
        qk_q2_K::write_tile(dst, i / 16u, i % 16u, v);
    }
}

// q2_K_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct q2_K_gather_f32_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 16 elements in a row
    uint tokens;
};

kernel void q2_K_gather_f32(
    device const uint *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device float4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant q2_K_gather_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[4];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_q2_K::decode(blocks, from / 16u, i % 16u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 4; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_q2_K::write_tile(dst, i / 16u, i % 16u, v);
    }
}

// q2_K_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct q2_K_gather_f16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 16 elements in a row
    uint tokens;
};

kernel void q2_K_gather_f16(
    device const uint *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device half4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant q2_K_gather_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[4];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_q2_K::decode(blocks, from / 16u, i % 16u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 4; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_q2_K::write_tile(dst, i / 16u, i % 16u, v);
    }
}

// q2_K_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct q2_K_gather_bf16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 16 elements in a row
    uint tokens;
};

kernel void q2_K_gather_bf16(
    device const uint *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device ushort4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant q2_K_gather_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[4];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_q2_K::decode(blocks, from / 16u, i % 16u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 4; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_q2_K::write_tile(dst, i / 16u, i % 16u, v);
    }
}
