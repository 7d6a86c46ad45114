// q6_K: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format q6_K`; do not edit.
// 210 bytes for 256 elements, 6.562 bits each; 12.9 operations for each element.
//
//     format q6_K "6-bit codes around 32, signed 8-bit scales in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         ql:     u8[128]
//         qh:     u8[64]
//         scales: i8[16]
//         d:      f16
//     }
//
//     code sc: i8 per 16 = scales { 8 @ 0 (16:8) }
//
//     code q = ql { 4 @ 0 (64:8, 2:4, 2:512) }         # low four bits
//              qh { 2 @ 0 (32:8, 4:2, 2:256) }         # high two bits
//
//     value = d * sc * (q - 32)
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_q6_K {

// 32 bits from narrower words.
inline uint load_u32(device const ushort *words, uint at) {
    return uint(words[at]) | (uint(words[at + 1]) << 16);
}

inline uint load_u32(device const uchar *words, uint at) {
    return uint(words[at]) | (uint(words[at + 1]) << 8) | (uint(words[at + 2]) << 16) | (uint(words[at + 3]) << 24);
}

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
inline void decode(device const ushort *blocks, uint block, uint tile, thread float4 *v) {
    // elements 0 to 3, counted from the tile's first
    const uint base = block * 105u;
    const float d = f16_to_f32(uint(blocks[base + 104u]));
    const uint part = tile / 8u;  // of 128 elements
    const uint scales0 = uint(blocks[base + part * 4u + 96u]);
    const int sc0 = extract_bits(int(scales0 >> (tile % 8u / 4u * 8u)), 0, 8);  // scales: 8 bits
    const float d_sc0 = d * float(sc0);
    const uint ql0 = load_u32(blocks, base + part * 32u + tile % 8u * 2u);
    const uint4 q_lo0 = (uint4(ql0) >> uint4(0, 8, 16, 24)) & 15u;  // ql: bits 0-3 of q
    const uint qh = load_u32(blocks, base + tile * 2u + 64u);
    const uint4 q_hi0 = (uint4(qh) >> uint4(0, 8, 16, 24)) & 3u;  // qh: bits 4-5 of q
    const uint4 q0 = q_lo0 | (q_hi0 << 4u);
    v[0] = d_sc0 * float4(int4(q0) - 32);

    // elements 32 to 35, counted from the tile's first
    const uint scales1 = uint(blocks[base + part * 4u + 97u]);
    const int sc1 = extract_bits(int(scales1 >> (tile % 8u / 4u * 8u)), 0, 8);  // scales: 8 bits
    const float d_sc1 = d * float(sc1);
    const uint ql1 = load_u32(blocks, base + part * 32u + tile % 8u * 2u + 16u);
    const uint4 q_lo1 = (uint4(ql1) >> uint4(0, 8, 16, 24)) & 15u;  // ql: bits 0-3 of q
    const uint4 q_hi1 = (uint4(qh) >> uint4(2, 10, 18, 26)) & 3u;  // qh: bits 4-5 of q
    const uint4 q1 = q_lo1 | (q_hi1 << 4u);
    v[1] = d_sc1 * float4(int4(q1) - 32);

    // elements 64 to 67, counted from the tile's first
    const uint scales2 = uint(blocks[base + part * 4u + 98u]);
    const int sc2 = extract_bits(int(scales2 >> (tile % 8u / 4u * 8u)), 0, 8);  // scales: 8 bits
    const float d_sc2 = d * float(sc2);
    const uint4 q_lo2 = (uint4(ql0) >> uint4(4, 12, 20, 28)) & 15u;  // ql: bits 0-3 of q
    const uint4 q_hi2 = (uint4(qh) >> uint4(4, 12, 20, 28)) & 3u;  // qh: bits 4-5 of q
    const uint4 q2 = q_lo2 | (q_hi2 << 4u);
    v[2] = d_sc2 * float4(int4(q2) - 32);

    // elements 96 to 99, counted from the tile's first
    const uint scales3 = uint(blocks[base + part * 4u + 99u]);
    const int sc3 = extract_bits(int(scales3 >> (tile % 8u / 4u * 8u)), 0, 8);  // scales: 8 bits
    const float d_sc3 = d * float(sc3);
    const uint4 q_lo3 = (uint4(ql1) >> uint4(4, 12, 20, 28)) & 15u;  // ql: bits 0-3 of q
    const uint4 q_hi3 = (uint4(qh) >> uint4(6, 14, 22, 30)) & 3u;  // qh: bits 4-5 of q
    const uint4 q3 = q_lo3 | (q_hi3 << 4u);
    v[3] = d_sc3 * float4(int4(q3) - 32);
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

}  // namespace qk_q6_K

// q6_K_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct q6_K_dequant_f32_push {
    uint tiles;  // of 16 elements, to decode
};

kernel void q6_K_dequant_f32(
    device const ushort *blocks [[buffer(0)]],
    device float4 *dst [[buffer(1)]],
    constant q6_K_dequant_f32_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[4];
        qk_q6_K::decode(blocks, i / 16u, i % 16u, v);
        qk_q6_K::write_tile(dst, i / 16u, i % 16u, v);
    }
}

// q6_K_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct q6_K_dequant_f16_push {
    uint tiles;  // of 16 elements, to decode
};

kernel void q6_K_dequant_f16(
    device const ushort *blocks [[buffer(0)]],
    device half4 *dst [[buffer(1)]],
    constant q6_K_dequant_f16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[4];
        qk_q6_K::decode(blocks, i / 16u, i % 16u, v);
        qk_q6_K::write_tile(dst, i / 16u, i % 16u, v);
    }
}

// q6_K_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct q6_K_dequant_bf16_push {
    uint tiles;  // of 16 elements, to decode
};

kernel void q6_K_dequant_bf16(
    device const ushort *blocks [[buffer(0)]],
    device ushort4 *dst [[buffer(1)]],
    constant q6_K_dequant_bf16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[4];
        qk_q6_K::decode(blocks, i / 16u, i % 16u, v);
        qk_q6_K::write_tile(dst, i / 16u, i % 16u, v);
    }
}

// q6_K_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct q6_K_gather_f32_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 16 elements in a row
    uint tokens;
};

kernel void q6_K_gather_f32(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device float4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant q6_K_gather_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[4];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_q6_K::decode(blocks, from / 16u, i % 16u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 4; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_q6_K::write_tile(dst, i / 16u, i % 16u, v);
    }
}

// q6_K_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct q6_K_gather_f16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 16 elements in a row
    uint tokens;
};

kernel void q6_K_gather_f16(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device half4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant q6_K_gather_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[4];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_q6_K::decode(blocks, from / 16u, i % 16u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 4; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_q6_K::write_tile(dst, i / 16u, i % 16u, v);
    }
}

// q6_K_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct q6_K_gather_bf16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 16 elements in a row
    uint tokens;
};

kernel void q6_K_gather_bf16(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device ushort4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant q6_K_gather_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[4];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_q6_K::decode(blocks, from / 16u, i % 16u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 4; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_q6_K::write_tile(dst, i / 16u, i % 16u, v);
    }
}
