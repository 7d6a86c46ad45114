// mlx_mxfp8: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format mlx_mxfp8`; do not edit.
// 33 bytes for 32 elements, 8.25 bits each; 13.2 operations for each element.
//
//     format mlx_mxfp8 "E4M3 codes without NaN, a power of two for 32"
//     from "MLX, mlx.core.quantize with mode='mxfp8'"
//
//     block 32 {
//         buffer weight { w: u32[8] }
//         buffer scales { e: u8 }
//     }
//
//     code q = w { 8 @ 0 (32:8) }
//
//     # Sign and digits as those of a half, 2^8 too small; so the code that OCP takes for NaN is 480.
//     value = f16((q & 128) << 8 | (q & 127) << 7) * 256.0 * f32(e == 0 ? 4194304 : e << 23)
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_mlx_mxfp8 {

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
inline void decode(device const uint *weight, device const uchar *scales, uint block, uint tile, thread float4 *v) {
    // elements 0 to 3, counted from the tile's first
    const uint w0 = weight[block * 8u + tile * 2u];
    const uint4 q0 = (uint4(w0) >> uint4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    const uint4 bits0 = uint4(((int4(q0) & 128) << int4(8)) | ((int4(q0) & 127) << int4(7)));
    const uint e = uint(scales[block]);
    const float e_e = as_type<float>(uint(int(e) == 0 ? 4194304 : int(e) << 23));
    v[0] = float4(f16_to_f32(bits0.x), f16_to_f32(bits0.y), f16_to_f32(bits0.z), f16_to_f32(bits0.w)) * 256.0f * e_e;

    // elements 4 to 7, counted from the tile's first
    const uint w1 = weight[block * 8u + tile * 2u + 1u];
    const uint4 q1 = (uint4(w1) >> uint4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    const uint4 bits1 = uint4(((int4(q1) & 128) << int4(8)) | ((int4(q1) & 127) << int4(7)));
    v[1] = float4(f16_to_f32(bits1.x), f16_to_f32(bits1.y), f16_to_f32(bits1.z), f16_to_f32(bits1.w)) * 256.0f * e_e;
}

// Stores a tile's runs where they belong in block `block` of the output.
template <typename T>
inline void write_tile(device T *dst, uint block, uint tile, thread const float4 *v) {
    const uint at = block * 8u + tile * 2u;
    store(dst, at, v[0]);
    store(dst, at + 1u, v[1]);
}

}  // namespace qk_mlx_mxfp8

// mlx_mxfp8_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct mlx_mxfp8_dequant_f32_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void mlx_mxfp8_dequant_f32(
    device const uint *weight [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device float4 *dst [[buffer(2)]],
    constant mlx_mxfp8_dequant_f32_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_mlx_mxfp8::decode(weight, scales, i / 4u, i % 4u, v);
        qk_mlx_mxfp8::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// mlx_mxfp8_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct mlx_mxfp8_dequant_f16_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void mlx_mxfp8_dequant_f16(
    device const uint *weight [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device half4 *dst [[buffer(2)]],
    constant mlx_mxfp8_dequant_f16_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_mlx_mxfp8::decode(weight, scales, i / 4u, i % 4u, v);
        qk_mlx_mxfp8::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// mlx_mxfp8_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct mlx_mxfp8_dequant_bf16_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void mlx_mxfp8_dequant_bf16(
    device const uint *weight [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device ushort4 *dst [[buffer(2)]],
    constant mlx_mxfp8_dequant_bf16_push &push [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_mlx_mxfp8::decode(weight, scales, i / 4u, i % 4u, v);
        qk_mlx_mxfp8::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// mlx_mxfp8_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct mlx_mxfp8_gather_f32_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void mlx_mxfp8_gather_f32(
    device const uint *weight [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device float4 *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant mlx_mxfp8_gather_f32_push &push [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_mlx_mxfp8::decode(weight, scales, from / 4u, i % 4u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_mlx_mxfp8::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// mlx_mxfp8_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct mlx_mxfp8_gather_f16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void mlx_mxfp8_gather_f16(
    device const uint *weight [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device half4 *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant mlx_mxfp8_gather_f16_push &push [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_mlx_mxfp8::decode(weight, scales, from / 4u, i % 4u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_mlx_mxfp8::write_tile(dst, i / 4u, i % 4u, v);
    }
}

// mlx_mxfp8_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct mlx_mxfp8_gather_bf16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void mlx_mxfp8_gather_bf16(
    device const uint *weight [[buffer(0)]],
    device const uchar *scales [[buffer(1)]],
    device const uint *indices [[buffer(2)]],
    device ushort4 *dst [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant mlx_mxfp8_gather_bf16_push &push [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_mlx_mxfp8::decode(weight, scales, from / 4u, i % 4u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_mlx_mxfp8::write_tile(dst, i / 4u, i % 4u, v);
    }
}
