// gptq_v2_b4_g32: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format gptq_v2_b4_g32`; do not edit.
// 592 bytes for 1024 elements, 4.625 bits each.
// dequant, gather in f32: for each weight 0.578 bytes read and 4 written, 7.62 operations: 0.375 loads, 2.25 bits, 2.88 integer, 1 float, 1.12 conversions.
// gemv in f32: for each weight 0.578 bytes read, 5.44 operations: 0.25 loads, 0.75 bits, 1.56 integer, 2.25 float, 0.625 conversions.
//
//     format gptq_v2_b{bits}_g{group} "GPTQ: codes packed along the inputs, zeros along the outputs"
//     from "GPTQModel: checkpoints of version 2"
//     for bits in 2 3 4 8, group in 32 64 128
//
//     block 32 x group ragged {
//         buffer qweight[cols][rows] { w: u32[32][group * bits / 32] }
//         buffer qzeros[cols][rows]  { zs: u32[bits][1] }
//         buffer scales[cols][rows]  { d: f16[32][1] }
//     }
//
//     code q                = w  { bits @ 0 (32 * group:bits) }
//     code z per group      = zs { bits @ 0 (32:bits) }
//     code s: f16 per group = d  { 16 @ 0 (32:16) }
//
//     value = (q - z) * s
//
// Here bits = 4, group = 32.
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_gptq_v2_b4_g32 {

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
inline void store(device float *dst, uint at, float v) {
    dst[at] = v;
}

inline void store(device half *dst, uint at, float v) {
    dst[at] = half(v);
}

inline void store(device ushort *dst, uint at, float v) {
    dst[at] = f32_to_bf16(v);
}

// The 8 values of a tile of a row, in runs of 4 consecutive elements.
inline void decode(device const uint *qweight, device const uint *qzeros, device const ushort *scales, uint rows, uint row, uint tile, thread float4 *v) {
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 4u;
    // elements 0 to 3, counted from the tile's first
    const uint w = qweight[tile * rows + row];
    const uint4 q0 = (uint4(w) >> uint4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    const uint zs = qzeros[block_col * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z = (zs >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint d = uint(scales[block_col * rows + row]);
    const float s = f16_to_f32(d);  // d: 16 bits
    v[0] = float4(int4(q0) - int(z)) * s;

    // elements 4 to 7, counted from the tile's first
    const uint4 q1 = (uint4(w) >> uint4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    v[1] = float4(int4(q1) - int(z)) * s;
}

// Stores elements [from, to) of a tile; its first belongs at `at`.
template <typename T>
inline void write_tile(device T *dst, uint at, uint from, uint to, thread const float4 *v) {
    for (uint e = 0; e < 8; ++e) {
        if (e >= from && e < to) store(dst, at + e, v[e / 4][e % 4]);
    }
}

struct sum_shape {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of 16 elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
    uint cols;       // of the matrix that the blocks are patches of
    uint grid_rows;  // blocks
    uint grid_cols;
};

// Where a thread stands.
struct standing {
    uint group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups;
};

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
template <uint TILES, uint BATCH, typename X>
inline void load_x(device const X *x_in, uint batch, uint row_runs, uint vector, uint j, uint k,
    thread float4 (&x)[TILES][BATCH][4], thread float (&x_sum)[TILES][BATCH][1])
{
    const uint place = j * 4u;
    for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_runs + place;
        const float4 x0 = float4(x_in[from]);
        const float4 x1 = float4(x_in[from + 1u]);
        const float4 x2 = float4(x_in[from + 2u]);
        const float4 x3 = float4(x_in[from + 3u]);
        x[k][m][0] = x0 * float4(16777216.0f, 1048576.0f, 16777216.0f, 1048576.0f);
        x[k][m][1] = x1 * float4(16777216.0f, 1048576.0f, 16777216.0f, 1048576.0f);
        x[k][m][2] = x2 * float4(16777216.0f, 1048576.0f, 16777216.0f, 1048576.0f);
        x[k][m][3] = x3 * float4(16777216.0f, 1048576.0f, 16777216.0f, 1048576.0f);
        x_sum[k][m][0] = dot(x0 + x1 + x2 + x3, float4(1.0f));
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
template <uint TILES, uint BATCH>
inline void accumulate(
    device const uint *qweight,
    device const uint *qzeros,
    device const ushort *scales,
    uint rows, uint cols, uint row_tiles, uint n, uint j, uint k,
    thread const float4 (&x)[TILES][BATCH][4], thread const float (&x_sum)[TILES][BATCH][1],
    thread float (&sum)[BATCH])
{
    #pragma clang fp contract(fast)
    const uint row = n, tile = j;
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 2u;
    const uint t = tile % 2u;
    const uint d = uint(scales[block_col * rows + row]);
    const float s = f16_to_f32(d);  // d: 16 bits
    const uint w0 = qweight[min(block_col * 4u + t * 2u, (cols - 1u) / 8u) * rows + row];
    const float2 pair0 = float2(as_type<half2>(w0 & 0xF000Fu));
    const float2 pair1 = float2(as_type<half2>(w0 & 0xF000F0u));
    const float2 pair2 = float2(as_type<half2>((w0 >> 8u) & 0xF000Fu));
    const float2 pair3 = float2(as_type<half2>((w0 >> 8u) & 0xF000F0u));
    const uint w1 = qweight[min(block_col * 4u + t * 2u + 1u, (cols - 1u) / 8u) * rows + row];
    const float2 pair4 = float2(as_type<half2>(w1 & 0xF000Fu));
    const float2 pair5 = float2(as_type<half2>(w1 & 0xF000F0u));
    const float2 pair6 = float2(as_type<half2>((w1 >> 8u) & 0xF000Fu));
    const float2 pair7 = float2(as_type<half2>((w1 >> 8u) & 0xF000F0u));
    const uint zs = qzeros[block_col * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z = (zs >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    for (uint m = 0; m < BATCH; ++m) {
        sum[m] += s * (dot(x[k][m][0], float4(pair0.x, pair1.x, pair2.x, pair3.x)) + dot(x[k][m][1], float4(pair0.y, pair1.y, pair2.y, pair3.y)) + dot(x[k][m][2], float4(pair4.x, pair5.x, pair6.x, pair7.x)) + dot(x[k][m][3], float4(pair4.y, pair5.y, pair6.y, pair7.y))) - s * float(int(z)) * x_sum[k][m][0];
    }
}

// x again, element by element.
inline device const float *elements_of(device const float4 *x) {
    return (device const float *)x;
}

inline device const half *elements_of(device const half4 *x) {
    return (device const half *)x;
}

// The 16 values of a tile of a row, in runs of 4 consecutive elements.
inline void decode_tile(device const uint *qweight, device const uint *qzeros, device const ushort *scales, uint rows, uint cols, uint row, uint tile, thread float4 *v) {
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 2u;
    const uint t = tile % 2u;
    // elements 0 to 3, counted from the tile's first
    const uint w0 = qweight[min(block_col * 4u + t * 2u, (cols - 1u) / 8u) * rows + row];
    const uint4 q0 = (uint4(w0) >> uint4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    const uint zs = qzeros[block_col * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    const uint z = (zs >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    const uint d = uint(scales[block_col * rows + row]);
    const float s = f16_to_f32(d);  // d: 16 bits
    v[0] = float4(int4(q0) - int(z)) * s;

    // elements 4 to 7, counted from the tile's first
    const uint4 q1 = (uint4(w0) >> uint4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    v[1] = float4(int4(q1) - int(z)) * s;

    // elements 8 to 11, counted from the tile's first
    const uint w1 = qweight[min(block_col * 4u + t * 2u + 1u, (cols - 1u) / 8u) * rows + row];
    const uint4 q2 = (uint4(w1) >> uint4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    v[2] = float4(int4(q2) - int(z)) * s;

    // elements 12 to 15, counted from the tile's first
    const uint4 q3 = (uint4(w1) >> uint4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    v[3] = float4(int4(q3) - int(z)) * s;
}

// The products of what tile `j` of row `n` has in that row, for each right-hand side.
template <uint BATCH, typename T>
inline void sum_cut(
    device const uint *qweight,
    device const uint *qzeros,
    device const ushort *scales,
    uint rows, uint cols, device const T *x_at, uint batch, uint row_cols, uint n, uint j,
    thread float (&part)[BATCH])
{
    for (uint m = 0; m < BATCH; ++m) part[m] = 0.0f;
    const uint row = n, tile = j, place = j * 16u;
    const uint from = 0u, to = min(row_cols - place, 16u);
    float4 v[4];
    decode_tile(qweight, qzeros, scales, rows, cols, row, tile, v);
    for (uint e = from; e < to; ++e) {
        for (uint m = 0; m < BATCH; ++m) part[m] += v[e / 4u][e % 4u] * float(x_at[min(m, batch - 1u) * row_cols + place + e]);
    }
}

// Sums over rows. BATCH right-hand sides are kept, at least as many as there are; ROWS rows at a time.
template <uint BATCH, uint ROWS, typename X>
inline void sum_rows(
    device const uint *qweight,
    device const uint *qzeros,
    device const ushort *scales,
    device const X *x_in, device float *y, constant sum_shape &shape, threadgroup float *partial, standing at)
{
    constexpr uint BUSY = 2048;  // simdgroups that keep a device busy
    constexpr uint TILES = BATCH == 1 ? 4 : 1;
    // What a thread keeps of x: tiles of each right-hand side, in the order of the weights, and the sums over runs that share
    // a scale.
    float4 x[TILES][BATCH][4];
    float x_sum[TILES][BATCH][1];
    // A simdgroup holds a slice of x and walks down the rows. Where there are few rows, simdgroups share each of them.
    const uint slice = at.lanes * TILES, slices = (shape.row_tiles + slice - 1) / slice;
    uint split = 1;
    while (split < slices && at.simdgroups % (2 * split) == 0 && shape.rows * split < BUSY * ROWS) split *= 2;
    const uint teams = at.simdgroups / split, team = at.simdgroup / split;
    // Tiles of a row that are taken as wholes: those that it fills, where its runs of x begin as x is stored.
    const uint row_cols = shape.cols, whole_tiles = row_cols % 4 == 0 ? row_cols / 16 : 0;
    uint held = ~0u;
    for (uint first = at.group * teams * ROWS; first < shape.rows; first += at.groups * teams * ROWS) {
        float sum[ROWS][BATCH];
        for (uint r = 0; r < ROWS; ++r) {
            for (uint m = 0; m < BATCH; ++m) sum[r][m] = 0.0f;
        }
        for (uint c = at.simdgroup % split; c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * at.lanes + at.lane;
                if (j >= shape.row_tiles) continue;
                if (j >= whole_tiles) {
                    for (uint r = 0; r < ROWS; ++r) {
                        float part[BATCH];
                        sum_cut<BATCH>(qweight, qzeros, scales, shape.rows, shape.cols, elements_of(x_in), shape.batch, row_cols,
                                       min(first + team * ROWS + r, shape.rows - 1), j, part);
                        for (uint m = 0; m < BATCH; ++m) sum[r][m] += part[m];
                    }
                    continue;
                }
                if (c != held) load_x<TILES, BATCH>(x_in, shape.batch, row_cols / 4, 0, j, k, x, x_sum);
                for (uint r = 0; r < ROWS; ++r)
                    accumulate<TILES, BATCH>(qweight, qzeros, scales, shape.rows, shape.cols, shape.row_tiles, min(first + team * ROWS + r, shape.rows - 1), j, k, x, x_sum, sum[r]);
            }
            held = c;
        }
        for (uint r = 0; r < ROWS; ++r) {
            for (uint m = 0; m < BATCH; ++m) {
                const float all = simd_sum(sum[r][m]);
                const uint row = first + team * ROWS + r;
                if (at.lane != 0) continue;
                if (split > 1) partial[(at.simdgroup * ROWS + r) * BATCH + m] = all;
                else if (row < shape.rows && m < shape.batch) y[m * shape.y_rows + shape.y_first + row] = all;
            }
        }
        if (split == 1) continue;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = at.thread_index; i < teams * ROWS * BATCH; i += at.threads) {
            const uint row = first + i / BATCH, m = i % BATCH, from = i / (ROWS * BATCH) * (split - 1) * ROWS * BATCH + i;
            float total = 0.0f;
            for (uint s = 0; s < split; ++s) total += partial[from + s * ROWS * BATCH];
            if (row < shape.rows && m < shape.batch) y[m * shape.y_rows + shape.y_first + row] = total;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

}  // namespace qk_gptq_v2_b4_g32

// gptq_v2_b4_g32_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct gptq_v2_b4_g32_dequant_f32_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void gptq_v2_b4_g32_dequant_f32(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device float *dst [[buffer(3)]],
    constant gptq_v2_b4_g32_dequant_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_gptq_v2_b4_g32::decode(qweight, qzeros, scales, push.rows, row, tile, v);
        qk_gptq_v2_b4_g32::write_tile(dst, row * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// gptq_v2_b4_g32_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct gptq_v2_b4_g32_dequant_f16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void gptq_v2_b4_g32_dequant_f16(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device half *dst [[buffer(3)]],
    constant gptq_v2_b4_g32_dequant_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_gptq_v2_b4_g32::decode(qweight, qzeros, scales, push.rows, row, tile, v);
        qk_gptq_v2_b4_g32::write_tile(dst, row * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// gptq_v2_b4_g32_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct gptq_v2_b4_g32_dequant_bf16_push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

kernel void gptq_v2_b4_g32_dequant_bf16(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device ushort *dst [[buffer(3)]],
    constant gptq_v2_b4_g32_dequant_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.rows * push.row_tiles; i += threads) {
        const uint row = i / push.row_tiles, tile = i % push.row_tiles;
        float4 v[2];
        qk_gptq_v2_b4_g32::decode(qweight, qzeros, scales, push.rows, row, tile, v);
        qk_gptq_v2_b4_g32::write_tile(dst, row * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// gptq_v2_b4_g32_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct gptq_v2_b4_g32_gather_f32_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void gptq_v2_b4_g32_gather_f32(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device float *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant gptq_v2_b4_g32_gather_f32_push &push [[buffer(6)]],
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
            qk_gptq_v2_b4_g32::decode(qweight, qzeros, scales, push.rows, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_gptq_v2_b4_g32::write_tile(dst, token * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// gptq_v2_b4_g32_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct gptq_v2_b4_g32_gather_f16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void gptq_v2_b4_g32_gather_f16(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device half *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant gptq_v2_b4_g32_gather_f16_push &push [[buffer(6)]],
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
            qk_gptq_v2_b4_g32::decode(qweight, qzeros, scales, push.rows, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_gptq_v2_b4_g32::write_tile(dst, token * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// gptq_v2_b4_g32_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct gptq_v2_b4_g32_gather_bf16_push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

kernel void gptq_v2_b4_g32_gather_bf16(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device const uint *indices [[buffer(3)]],
    device ushort *dst [[buffer(4)]],
    device atomic_uint *status [[buffer(5)]],
    constant gptq_v2_b4_g32_gather_bf16_push &push [[buffer(6)]],
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
            qk_gptq_v2_b4_g32::decode(qweight, qzeros, scales, push.rows, row, tile, v);
        } else {
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
        }
        qk_gptq_v2_b4_g32::write_tile(dst, token * push.cols + tile * 8u, 0,
                                 min(8u, push.cols - tile * 8u), v);
    }
}

// gptq_v2_b4_g32_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
constant uint gptq_v2_b4_g32_gemv_f32_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides

kernel void gptq_v2_b4_g32_gemv_f32(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device const float4 *x [[buffer(3)]],
    device float *y [[buffer(4)]],
    constant qk_gptq_v2_b4_g32::sum_shape &push [[buffer(5)]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]])
{
    threadgroup float partial[32 * 16];  // at most 32 simdgroups, and 16 sums of each
    const qk_gptq_v2_b4_g32::standing at = {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups};
    switch (gptq_v2_b4_g32_gemv_f32_batch) {
        case 1: qk_gptq_v2_b4_g32::sum_rows<1, 4>(qweight, qzeros, scales, x, y, push, partial, at); break;
        case 2: qk_gptq_v2_b4_g32::sum_rows<2, 4>(qweight, qzeros, scales, x, y, push, partial, at); break;
        case 4: qk_gptq_v2_b4_g32::sum_rows<4, 4>(qweight, qzeros, scales, x, y, push, partial, at); break;
        case 8: qk_gptq_v2_b4_g32::sum_rows<8, 2>(qweight, qzeros, scales, x, y, push, partial, at); break;
    }
}

// gptq_v2_b4_g32_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
constant uint gptq_v2_b4_g32_gemv_f16_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides

kernel void gptq_v2_b4_g32_gemv_f16(
    device const uint *qweight [[buffer(0)]],
    device const uint *qzeros [[buffer(1)]],
    device const ushort *scales [[buffer(2)]],
    device const half4 *x [[buffer(3)]],
    device float *y [[buffer(4)]],
    constant qk_gptq_v2_b4_g32::sum_shape &push [[buffer(5)]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]])
{
    threadgroup float partial[32 * 16];  // at most 32 simdgroups, and 16 sums of each
    const qk_gptq_v2_b4_g32::standing at = {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups};
    switch (gptq_v2_b4_g32_gemv_f16_batch) {
        case 1: qk_gptq_v2_b4_g32::sum_rows<1, 4>(qweight, qzeros, scales, x, y, push, partial, at); break;
        case 2: qk_gptq_v2_b4_g32::sum_rows<2, 4>(qweight, qzeros, scales, x, y, push, partial, at); break;
        case 4: qk_gptq_v2_b4_g32::sum_rows<4, 4>(qweight, qzeros, scales, x, y, push, partial, at); break;
        case 8: qk_gptq_v2_b4_g32::sum_rows<8, 2>(qweight, qzeros, scales, x, y, push, partial, at); break;
    }
}
