// mx_fp4: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format mx_fp4`; do not edit.
// 17 bytes for 32 elements, 4.25 bits each; 11 operations for each element.
//
//     format mx_fp4 "OCP MX: E2M1 codes, the even one in the low nibble, a power of two for 32"
//     from "OCP Microscaling Formats v1.0; packed as AMD Quark and gpt-oss do"
//
//     block 32 {
//         buffer codes  { w: u8[16] }
//         buffer scales { s: e8m0 }
//     }
//
//     code q: e2m1 = w { 4 @ 0 (32:4) }
//
//     value = q * s
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_mx_fp4 {

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
inline void decode(device const uint *codes, device const uchar *scales, uint block, uint tile, thread float4 *v) {
    // elements 0 to 3, counted from the tile's first
    const uint w = codes[block * 4u + tile];
    const uint4 q_bits0 = (uint4(w) >> uint4(0, 4, 8, 12)) & 15u;
    const uint q_bits1 = q_bits0.x;
    const uint q_bits2 = q_bits0.y;
    const uint q_bits3 = q_bits0.z;
    const uint q_bits4 = q_bits0.w;
    const float4 q0 = float4(f16_to_f32(((q_bits1 & 7u) << 9u) | ((q_bits1 & 8u) << 12u)) * 16384.0f, f16_to_f32(((q_bits2 & 7u) << 9u) | ((q_bits2 & 8u) << 12u)) * 16384.0f, f16_to_f32(((q_bits3 & 7u) << 9u) | ((q_bits3 & 8u) << 12u)) * 16384.0f, f16_to_f32(((q_bits4 & 7u) << 9u) | ((q_bits4 & 8u) << 12u)) * 16384.0f);  // w: 4 bits
    const uint s_bits = uint(scales[block]);
    const float s = as_type<float>(s_bits == 0xFFu ? 2143289344u : s_bits == 0u ? 4194304u : s_bits << 23u);
    v[0] = q0 * s;

    // elements 4 to 7, counted from the tile's first
    const uint4 q_bits5 = (uint4(w) >> uint4(16, 20, 24, 28)) & 15u;
    const uint q_bits6 = q_bits5.x;
    const uint q_bits7 = q_bits5.y;
    const uint q_bits8 = q_bits5.z;
    const uint q_bits9 = q_bits5.w;
    const float4 q1 = float4(f16_to_f32(((q_bits6 & 7u) << 9u) | ((q_bits6 & 8u) << 12u)) * 16384.0f, f16_to_f32(((q_bits7 & 7u) << 9u) | ((q_bits7 & 8u) << 12u)) * 16384.0f, f16_to_f32(((q_bits8 & 7u) << 9u) | ((q_bits8 & 8u) << 12u)) * 16384.0f, f16_to_f32(((q_bits9 & 7u) << 9u) | ((q_bits9 & 8u) << 12u)) * 16384.0f);  // w: 4 bits
    v[1] = q1 * s;
}

// Stores a tile's runs where they belong in block `block` of the output.
template <typename T>
inline void write_tile(device T *dst, uint block, uint tile, thread const float4 *v) {
    const uint at = block * 8u + tile * 2u;
    store(dst, at, v[0]);
    store(dst, at + 1u, v[1]);
}

}  // namespace qk_mx_fp4

// mx_fp4_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct mx_fp4_dequant_f32_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void mx_fp4_dequant_f32(
    device const uint *codes [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device float4 *dst [[buffer(2)]],
    constant mx_fp4_dequant_f32_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_mx_fp4::decode(codes, scales, i / 4u, i % 4u, v);
        qk_mx_fp4::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// mx_fp4_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct mx_fp4_dequant_f16_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void mx_fp4_dequant_f16(
    device const uint *codes [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device half4 *dst [[buffer(2)]],
    constant mx_fp4_dequant_f16_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_mx_fp4::decode(codes, scales, i / 4u, i % 4u, v);
        qk_mx_fp4::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// mx_fp4_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct mx_fp4_dequant_bf16_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void mx_fp4_dequant_bf16(
    device const uint *codes [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device ushort4 *dst [[buffer(2)]],
    constant mx_fp4_dequant_bf16_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_mx_fp4::decode(codes, scales, i / 4u, i % 4u, v);
        qk_mx_fp4::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// mx_fp4_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct mx_fp4_gather_f32_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void mx_fp4_gather_f32(
    device const uint *codes [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device float4 *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant mx_fp4_gather_f32_push &push [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_mx_fp4::decode(codes, scales, from / 4u, i % 4u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_mx_fp4::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// mx_fp4_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct mx_fp4_gather_f16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void mx_fp4_gather_f16(
    device const uint *codes [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device half4 *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant mx_fp4_gather_f16_push &push [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_mx_fp4::decode(codes, scales, from / 4u, i % 4u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_mx_fp4::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// mx_fp4_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct mx_fp4_gather_bf16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void mx_fp4_gather_bf16(
    device const uint *codes [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device ushort4 *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant mx_fp4_gather_bf16_push &push [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_mx_fp4::decode(codes, scales, from / 4u, i % 4u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_mx_fp4::write_tile(dst, i / 4u, i % 4u, v);
    }
}
