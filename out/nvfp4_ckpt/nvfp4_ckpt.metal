// nvfp4_ckpt: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format nvfp4_ckpt`; do not edit.
// 13 bytes for 16 elements, 4.5 bits each; 12 operations for each element.
//
//     format nvfp4_ckpt "NVFP4 checkpoints: E2M1 codes, E4M3 scales for 16, and a scale for the tensor"
//     from "NVIDIA ModelOpt: NVFP4"
//
//     block 1 x 16 {
//         buffer weight           { w: u8[8] }
//         buffer weight_scale     { s: e4m3 }
//         buffer weight_scale_2[] { t: f32 }
//     }
//
//     code q: e2m1 = w { 4 @ 0 (16:4) }
//
//     value = q * (s * t)
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_nvfp4_ckpt {

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
inline void decode(device const uint *weight, device const uchar *weight_scale, device const uint *weight_scale_2, uint grid_cols, uint row, uint tile, thread float4 *v) {
    const uint block_col = tile / 2u;
    const uint t = tile % 2u;
    // elements 0 to 3, counted from the tile's first
    const uint w = weight[row * (grid_cols * 2u) + tile];
    const uint4 q_bits0 = (uint4(w) >> uint4(0, 4, 8, 12)) & 15u;
    const uint q_bits1 = q_bits0.x;
    const uint q_bits2 = q_bits0.y;
    const uint q_bits3 = q_bits0.z;
    const uint q_bits4 = q_bits0.w;
    const float4 q0 = float4(f16_to_f32(((q_bits1 & 7u) << 9u) | ((q_bits1 & 8u) << 12u)) * 16384.0f, f16_to_f32(((q_bits2 & 7u) << 9u) | ((q_bits2 & 8u) << 12u)) * 16384.0f, f16_to_f32(((q_bits3 & 7u) << 9u) | ((q_bits3 & 8u) << 12u)) * 16384.0f, f16_to_f32(((q_bits4 & 7u) << 9u) | ((q_bits4 & 8u) << 12u)) * 16384.0f);  // w: 4 bits
    const uint s_bits = uint(weight_scale[row * grid_cols + block_col]);
    const float s = f16_to_f32(((s_bits & 0x7Fu) == 0x7Fu ? 32256u : (s_bits & 0x7Fu) << 7u) | ((s_bits & 128u) << 8u)) * 256.0f;
    const float t_ = as_type<float>(weight_scale_2[0u]);
    const float s_t = s * t_;
    v[0] = q0 * s_t;

    // elements 4 to 7, counted from the tile's first
    const uint4 q_bits5 = (uint4(w) >> uint4(16, 20, 24, 28)) & 15u;
    const uint q_bits6 = q_bits5.x;
    const uint q_bits7 = q_bits5.y;
    const uint q_bits8 = q_bits5.z;
    const uint q_bits9 = q_bits5.w;
    const float4 q1 = float4(f16_to_f32(((q_bits6 & 7u) << 9u) | ((q_bits6 & 8u) << 12u)) * 16384.0f, f16_to_f32(((q_bits7 & 7u) << 9u) | ((q_bits7 & 8u) << 12u)) * 16384.0f, f16_to_f32(((q_bits8 & 7u) << 9u) | ((q_bits8 & 8u) << 12u)) * 16384.0f, f16_to_f32(((q_bits9 & 7u) << 9u) | ((q_bits9 & 8u) << 12u)) * 16384.0f);  // w: 4 bits
    v[1] = q1 * s_t;
}

// Stores a tile's runs from `at` on, counted in runs.
template <typename T>
inline void write_tile(device T *dst, uint at, thread const float4 *v) {
    store(dst, at, v[0]);
    store(dst, at + 1u, v[1]);
}

}  // namespace qk_nvfp4_ckpt

// nvfp4_ckpt_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct nvfp4_ckpt_dequant_f32_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void nvfp4_ckpt_dequant_f32(
    device const uint *weight [[buffer(0)]],
    device const uchar *weight_scale [[buffer(1)]],
    device const uint *weight_scale_2 [[buffer(2)]],
    device float4 *dst [[buffer(3)]],
    constant nvfp4_ckpt_dequant_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_nvfp4_ckpt::decode(weight, weight_scale, weight_scale_2, push.grid_cols, row, tile, v);
        qk_nvfp4_ckpt::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// nvfp4_ckpt_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct nvfp4_ckpt_dequant_f16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void nvfp4_ckpt_dequant_f16(
    device const uint *weight [[buffer(0)]],
    device const uchar *weight_scale [[buffer(1)]],
    device const uint *weight_scale_2 [[buffer(2)]],
    device half4 *dst [[buffer(3)]],
    constant nvfp4_ckpt_dequant_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_nvfp4_ckpt::decode(weight, weight_scale, weight_scale_2, push.grid_cols, row, tile, v);
        qk_nvfp4_ckpt::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// nvfp4_ckpt_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct nvfp4_ckpt_dequant_bf16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void nvfp4_ckpt_dequant_bf16(
    device const uint *weight [[buffer(0)]],
    device const uchar *weight_scale [[buffer(1)]],
    device const uint *weight_scale_2 [[buffer(2)]],
    device ushort4 *dst [[buffer(3)]],
    constant nvfp4_ckpt_dequant_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_nvfp4_ckpt::decode(weight, weight_scale, weight_scale_2, push.grid_cols, row, tile, v);
        qk_nvfp4_ckpt::write_tile(dst, row * (push.cols / 4u) + tile * 2u, v);
    }
}

// nvfp4_ckpt_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct nvfp4_ckpt_gather_f32_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void nvfp4_ckpt_gather_f32(
    device const uint *weight [[buffer(0)]],
    device const uchar *weight_scale [[buffer(1)]],
    device const uint *weight_scale_2 [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device float4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant nvfp4_ckpt_gather_f32_push &push [[buffer(6)]],
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
            qk_nvfp4_ckpt::decode(weight, weight_scale, weight_scale_2, push.grid_cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_nvfp4_ckpt::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// nvfp4_ckpt_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct nvfp4_ckpt_gather_f16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void nvfp4_ckpt_gather_f16(
    device const uint *weight [[buffer(0)]],
    device const uchar *weight_scale [[buffer(1)]],
    device const uint *weight_scale_2 [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device half4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant nvfp4_ckpt_gather_f16_push &push [[buffer(6)]],
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
            qk_nvfp4_ckpt::decode(weight, weight_scale, weight_scale_2, push.grid_cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_nvfp4_ckpt::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}

// nvfp4_ckpt_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct nvfp4_ckpt_gather_bf16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void nvfp4_ckpt_gather_bf16(
    device const uint *weight [[buffer(0)]],
    device const uchar *weight_scale [[buffer(1)]],
    device const uint *weight_scale_2 [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device ushort4 *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant nvfp4_ckpt_gather_bf16_push &push [[buffer(6)]],
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
            qk_nvfp4_ckpt::decode(weight, weight_scale, weight_scale_2, push.grid_cols, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_nvfp4_ckpt::write_tile(dst, token * (push.table_cols / 4u) + j * 2u, v);
    }
}
