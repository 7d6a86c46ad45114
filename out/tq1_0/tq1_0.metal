// tq1_0: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format tq1_0`; do not edit.
// 54 bytes for 256 elements, 1.688 bits each; 17.2 operations for each element.
//
//     format tq1_0 "ternary codes, five in a byte, one scale for 256"
//
//     block 256 {
//         qs: u8[48]
//         qh: u8[4]
//         d:  f16
//     }
//
//     code t = qs { 8 base 3 @ 0   (32:8, 5:^) }    # elements 0 to 159
//         then qs { 8 base 3 @ 256 (16:8, 5:^) }    # 160 to 239
//         then qh { 8 base 3 @ 0   (4:8,  4:^) }    # 240 to 255
//
//     value = (t - 1) * d
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_tq1_0 {

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

// The 4 values of a tile of a block, in runs of 4 consecutive elements.
inline void decode(device const ushort *blocks, uint block, uint tile, thread float4 *v) {
    const uint base = block * 27u;
    const uint word = tile < 40u ? tile % 8u * 2u : tile < 60u ? (tile - 40u) % 4u * 2u + 16u : 24u;  // of t, in qs, qs or qh
    const uint qs_qh = load_u32(blocks, base + word);
    const uint4 t_digits = (uint4(qs_qh) >> uint4(0, 8, 16, 24)) & 0xFFu;  // 8 bits each, with up to 5 digits of base 3
    const uint n = tile < 40u ? tile / 8u : tile < 60u ? (tile - 40u) / 4u : tile - 60u;  // which digit of base 3, from the top
    const uint power = ((n & 1u) != 0u ? 3u : 1u) * ((n & 2u) != 0u ? 9u : 1u) * (n >= 4u ? 81u : 1u);  // 3^n
    const uint4 t_ = (((t_digits * power) & 0xFFu) * 3u) >> 8u;  // a digit of base 3
    const float d = f16_to_f32(uint(blocks[base + 26u]));
    v[0] = float4(int4(t_) - 1) * d;
}

// Stores a tile's runs where they belong in block `block` of the output.
template <typename T>
inline void write_tile(device T *dst, uint block, uint tile, thread const float4 *v) {
    const uint at = block * 64u + tile;
    store(dst, at, v[0]);
}

}  // namespace qk_tq1_0

// tq1_0_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct tq1_0_dequant_f32_push {
    uint tiles;  // of 4 elements, to decode
};

kernel void tq1_0_dequant_f32(
    device const ushort *blocks [[buffer(0)]],
    device float4 *dst [[buffer(1)]],
    constant tq1_0_dequant_f32_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[1];
        qk_tq1_0::decode(blocks, i / 64u, i % 64u, v);
        qk_tq1_0::write_tile(dst, i / 64u, i % 64u, v);
    }
}

// tq1_0_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct tq1_0_dequant_f16_push {
    uint tiles;  // of 4 elements, to decode
};

kernel void tq1_0_dequant_f16(
    device const ushort *blocks [[buffer(0)]],
    device half4 *dst [[buffer(1)]],
    constant tq1_0_dequant_f16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[1];
        qk_tq1_0::decode(blocks, i / 64u, i % 64u, v);
        qk_tq1_0::write_tile(dst, i / 64u, i % 64u, v);
    }
}

// tq1_0_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct tq1_0_dequant_bf16_push {
    uint tiles;  // of 4 elements, to decode
};

kernel void tq1_0_dequant_bf16(
    device const ushort *blocks [[buffer(0)]],
    device ushort4 *dst [[buffer(1)]],
    constant tq1_0_dequant_bf16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[1];
        qk_tq1_0::decode(blocks, i / 64u, i % 64u, v);
        qk_tq1_0::write_tile(dst, i / 64u, i % 64u, v);
    }
}

// tq1_0_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct tq1_0_gather_f32_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 4 elements in a row
    uint tokens;
};

kernel void tq1_0_gather_f32(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device float4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant tq1_0_gather_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[1];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_tq1_0::decode(blocks, from / 64u, i % 64u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 1; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_tq1_0::write_tile(dst, i / 64u, i % 64u, v);
    }
}

// tq1_0_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct tq1_0_gather_f16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 4 elements in a row
    uint tokens;
};

kernel void tq1_0_gather_f16(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device half4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant tq1_0_gather_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[1];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_tq1_0::decode(blocks, from / 64u, i % 64u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 1; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_tq1_0::write_tile(dst, i / 64u, i % 64u, v);
    }
}

// tq1_0_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct tq1_0_gather_bf16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 4 elements in a row
    uint tokens;
};

kernel void tq1_0_gather_bf16(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device ushort4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant tq1_0_gather_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[1];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_tq1_0::decode(blocks, from / 64u, i % 64u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 1; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_tq1_0::write_tile(dst, i / 64u, i % 64u, v);
    }
}
