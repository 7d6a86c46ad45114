// iq3_s: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format iq3_s`; do not edit.
// 110 bytes for 256 elements, 3.438 bits each.
// dequant, gather in f32: for each weight 0.43 bytes read and 4 written, 15.8 operations: 0.625 loads, 5.75 bits, 4.75 integer, 2.12 float, 2.25 conversions, 0.25 lookups.
// gemv, gemv_id in f32: for each weight 0.43 bytes read, 8.02 operations: 0.234 loads, 3.41 bits, 1.45 integer, 2.12 float, 0.547 conversions, 0.25 lookups.
//
//     format iq3_s "fours from a codebook of 512, sign masks, 4-bit scales in groups of 32"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         d:      f16
//         qs:     u8[64]
//         qh:     u8[8]
//         signs:  u8[32]
//         scales: u8[4]
//     }
//
//     code g  per 4  = qs { 8 @ 0 (64:8) } qh { 1 @ 0 (64:1) }
//     code s  per 8  = signs { 8 @ 0 (32:8) }
//     code sc per 32 = scales { 4 @ 0 (8:4) }
//
//     table G: u8[512][4] = file "iq3s_grid.bin"
//
//     value = d * (1 + 2 * sc) * G[g][i % 4] * (s >> i % 8 & 1 ? -1 : 1)
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_iq3_s {

// 512 rows of 4: u8, packed.
constant uint G[512] = {
    0x01010101, 0x01010103, 0x01010105, 0x0101010B, 0x0101010F, 0x01010301, 0x01010303, 0x01010305,
    0x01010309, 0x0101030D, 0x01010501, 0x01010503, 0x0101050B, 0x01010707, 0x01010901, 0x01010905,
    0x0101090B, 0x0101090F, 0x01010B03, 0x01010B07, 0x01010D01, 0x01010D05, 0x01010F03, 0x01010F09,
    0x01010F0F, 0x01030101, 0x01030103, 0x01030105, 0x01030109, 0x01030301, 0x01030303, 0x0103030B,
    0x01030501, 0x01030507, 0x0103050F, 0x01030703, 0x0103070B, 0x01030909, 0x01030D03, 0x01030D0B,
    0x01030F05, 0x01050101, 0x01050103, 0x0105010B, 0x0105010F, 0x01050301, 0x01050307, 0x0105030D,
    0x01050503, 0x0105050B, 0x01050701, 0x01050709, 0x01050905, 0x0105090B, 0x0105090F, 0x01050B03,
    0x01050B07, 0x01050F01, 0x01050F07, 0x01070107, 0x01070303, 0x0107030B, 0x01070501, 0x01070505,
    0x01070703, 0x01070707, 0x0107070D, 0x01070909, 0x01070B01, 0x01070B05, 0x01070D0F, 0x01070F03,
    0x01070F0B, 0x01090101, 0x01090307, 0x0109030F, 0x01090503, 0x01090509, 0x01090705, 0x01090901,
    0x01090907, 0x01090B03, 0x01090F01, 0x010B0105, 0x010B0109, 0x010B0501, 0x010B0505, 0x010B050D,
    0x010B0707, 0x010B0903, 0x010B090B, 0x010B090F, 0x010B0D0D, 0x010B0F07, 0x010D010D, 0x010D0303,
    0x010D0307, 0x010D0703, 0x010D0B05, 0x010D0F03, 0x010F0101, 0x010F0105, 0x010F0109, 0x010F0501,
    0x010F0505, 0x010F050D, 0x010F0707, 0x010F0B01, 0x010F0B09, 0x03010101, 0x03010103, 0x03010105,
    0x03010109, 0x03010301, 0x03010303, 0x03010307, 0x0301030B, 0x0301030F, 0x03010501, 0x03010505,
    0x03010703, 0x03010709, 0x0301070D, 0x03010B09, 0x03010B0D, 0x03010D03, 0x03010F05, 0x03030101,
    0x03030103, 0x03030107, 0x0303010D, 0x03030301, 0x03030309, 0x03030503, 0x03030701, 0x03030707,
    0x03030903, 0x03030B01, 0x03030B05, 0x03030F01, 0x03030F0D, 0x03050101, 0x03050305, 0x0305030B,
    0x0305030F, 0x03050501, 0x03050509, 0x03050705, 0x03050901, 0x03050907, 0x03050B0B, 0x03050D01,
    0x03050F05, 0x03070103, 0x03070109, 0x0307010F, 0x03070301, 0x03070307, 0x03070503, 0x0307050F,
    0x03070701, 0x03070709, 0x03070903, 0x03070D05, 0x03070F01, 0x03090107, 0x0309010B, 0x03090305,
    0x03090309, 0x03090703, 0x03090707, 0x03090905, 0x0309090D, 0x03090B01, 0x03090B09, 0x030B0103,
    0x030B0301, 0x030B0307, 0x030B0503, 0x030B0701, 0x030B0705, 0x030B0B03, 0x030D0501, 0x030D0509,
    0x030D050F, 0x030D0909, 0x030D090D, 0x030F0103, 0x030F0107, 0x030F0301, 0x030F0305, 0x030F0503,
    0x030F070B, 0x030F0903, 0x030F0D05, 0x030F0F01, 0x05010101, 0x05010103, 0x05010107, 0x0501010B,
    0x0501010F, 0x05010301, 0x05010305, 0x05010309, 0x0501030D, 0x05010503, 0x05010507, 0x0501050F,
    0x05010701, 0x05010705, 0x05010903, 0x05010907, 0x0501090B, 0x05010B01, 0x05010B05, 0x05010D0F,
    0x05010F01, 0x05010F07, 0x05010F0B, 0x05030101, 0x05030105, 0x05030301, 0x05030307, 0x0503030F,
    0x05030505, 0x0503050B, 0x05030703, 0x05030709, 0x05030905, 0x05030B03, 0x05050103, 0x05050109,
    0x0505010F, 0x05050503, 0x05050507, 0x05050701, 0x0505070F, 0x05050903, 0x05050B07, 0x05050B0F,
    0x05050F03, 0x05050F09, 0x05070101, 0x05070105, 0x0507010B, 0x05070303, 0x05070505, 0x05070509,
    0x05070703, 0x05070707, 0x05070905, 0x05070B01, 0x05070D0D, 0x05090103, 0x0509010F, 0x05090501,
    0x05090507, 0x05090705, 0x0509070B, 0x05090903, 0x05090F05, 0x05090F0B, 0x050B0109, 0x050B0303,
    0x050B0505, 0x050B070F, 0x050B0901, 0x050B0B07, 0x050B0F01, 0x050D0101, 0x050D0105, 0x050D010F,
    0x050D0503, 0x050D0B0B, 0x050D0D03, 0x050F010B, 0x050F0303, 0x050F050D, 0x050F0701, 0x050F0907,
    0x050F0B01, 0x07010105, 0x07010303, 0x07010307, 0x0701030B, 0x0701030F, 0x07010505, 0x07010703,
    0x07010707, 0x0701070B, 0x07010905, 0x07010909, 0x0701090F, 0x07010B03, 0x07010D07, 0x07010F03,
    0x07030103, 0x07030107, 0x0703010B, 0x07030309, 0x07030503, 0x07030507, 0x07030901, 0x07030D01,
    0x07030F05, 0x07030F0D, 0x07050101, 0x07050305, 0x07050501, 0x07050705, 0x07050709, 0x07050B01,
    0x07070103, 0x07070301, 0x07070309, 0x07070503, 0x07070507, 0x0707050F, 0x07070701, 0x07070903,
    0x07070907, 0x0707090F, 0x07070B0B, 0x07070F07, 0x07090107, 0x07090303, 0x0709030D, 0x07090505,
    0x07090703, 0x07090B05, 0x07090D01, 0x07090D09, 0x070B0103, 0x070B0301, 0x070B0305, 0x070B050B,
    0x070B0705, 0x070B0909, 0x070B0B0D, 0x070B0F07, 0x070D030D, 0x070D0903, 0x070F0103, 0x070F0107,
    0x070F0501, 0x070F0505, 0x070F070B, 0x09010101, 0x09010109, 0x09010305, 0x09010501, 0x09010509,
    0x0901050F, 0x09010705, 0x09010903, 0x09010B01, 0x09010F01, 0x09030105, 0x0903010F, 0x09030303,
    0x09030307, 0x09030505, 0x09030701, 0x0903070B, 0x09030907, 0x09030B03, 0x09030B0B, 0x09050103,
    0x09050107, 0x09050301, 0x0905030B, 0x09050503, 0x09050707, 0x09050901, 0x09050B0F, 0x09050D05,
    0x09050F01, 0x09070109, 0x09070303, 0x09070307, 0x09070501, 0x09070505, 0x09070703, 0x0907070B,
    0x09090101, 0x09090105, 0x09090509, 0x0909070F, 0x09090901, 0x09090F03, 0x090B010B, 0x090B010F,
    0x090B0503, 0x090B0D05, 0x090D0307, 0x090D0709, 0x090D0D01, 0x090F0301, 0x090F030B, 0x090F0701,
    0x090F0907, 0x090F0B03, 0x0B010105, 0x0B010301, 0x0B010309, 0x0B010505, 0x0B010901, 0x0B010909,
    0x0B01090F, 0x0B010B05, 0x0B010D0D, 0x0B010F09, 0x0B030103, 0x0B030107, 0x0B03010B, 0x0B030305,
    0x0B030503, 0x0B030705, 0x0B030F05, 0x0B050101, 0x0B050303, 0x0B050507, 0x0B050701, 0x0B05070D,
    0x0B050B07, 0x0B070105, 0x0B07010F, 0x0B070301, 0x0B07050F, 0x0B070909, 0x0B070B03, 0x0B070D0B,
    0x0B070F07, 0x0B090103, 0x0B090109, 0x0B090501, 0x0B090705, 0x0B09090D, 0x0B0B0305, 0x0B0B050D,
    0x0B0B0B03, 0x0B0B0B07, 0x0B0D0905, 0x0B0F0105, 0x0B0F0109, 0x0B0F0505, 0x0D010303, 0x0D010307,
    0x0D01030B, 0x0D010703, 0x0D010707, 0x0D010D01, 0x0D030101, 0x0D030501, 0x0D03050F, 0x0D030D09,
    0x0D050305, 0x0D050709, 0x0D050905, 0x0D050B0B, 0x0D050D05, 0x0D050F01, 0x0D070101, 0x0D070309,
    0x0D070503, 0x0D070901, 0x0D09050B, 0x0D090907, 0x0D090D05, 0x0D0B0101, 0x0D0B0107, 0x0D0B0709,
    0x0D0B0D01, 0x0D0D010B, 0x0D0D0901, 0x0D0F0303, 0x0D0F0307, 0x0F010101, 0x0F010109, 0x0F01010F,
    0x0F010501, 0x0F010505, 0x0F01070D, 0x0F010901, 0x0F010B09, 0x0F010D05, 0x0F030105, 0x0F030303,
    0x0F030509, 0x0F030907, 0x0F03090B, 0x0F050103, 0x0F050109, 0x0F050301, 0x0F05030D, 0x0F050503,
    0x0F050701, 0x0F050B03, 0x0F070105, 0x0F070705, 0x0F07070B, 0x0F070B07, 0x0F090103, 0x0F09010B,
    0x0F090307, 0x0F090501, 0x0F090B01, 0x0F0B0505, 0x0F0B0905, 0x0F0D0105, 0x0F0D0703, 0x0F0F0101
};

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
inline void decode(device const ushort *blocks, uint block, uint tile, thread float4 *v) {
    // elements 0 to 3, counted from the tile's first
    const uint base = block * 55u;
    const float d = f16_to_f32(uint(blocks[base]));
    const uint scales = uint(blocks[base + tile / 4u / 4u + 53u]);
    const uint sc = (scales >> (tile / 4u % 4u * 4u)) & 15u;  // scales: 4 bits
    const float d_sc = d * float(1 + 2 * int(sc));
    const uint qs = uint(blocks[base + tile + 1u]);
    const uint g_lo0 = qs & 0xFFu;  // qs: bits 0-7 of g
    const uint qh = uint(blocks[base + tile / 8u + 33u]);
    const uint g_hi0 = (qh >> (tile % 8u * 2u)) & 1u;  // qh: bit 8 of g
    const uint g0 = g_lo0 | (g_hi0 << 8u);
    const uint G_row0 = G[g0];
    const uint signs = uint(blocks[base + tile / 2u + 37u]);
    const uint s = (signs >> (tile % 2u * 8u)) & 0xFFu;  // signs: 8 bits
    v[0] = d_sc * float4((uint4(G_row0) >> uint4(0, 8, 16, 24)) & 0xFFu) * float4(select(int4(1), int4(-1), ((int4(int(s)) >> int4(0, 1, 2, 3)) & 1) != int4(0)));

    // elements 4 to 7, counted from the tile's first
    const uint g_lo1 = qs >> 8u;  // qs: bits 0-7 of g
    const uint g_hi1 = (qh >> (tile % 8u * 2u + 1u)) & 1u;  // qh: bit 8 of g
    const uint g1 = g_lo1 | (g_hi1 << 8u);
    const uint G_row1 = G[g1];
    v[1] = d_sc * float4((uint4(G_row1) >> uint4(0, 8, 16, 24)) & 0xFFu) * float4(select(int4(1), int4(-1), ((int4(int(s)) >> int4(4, 5, 6, 7)) & 1) != int4(0)));
}

// Stores a tile's runs where they belong in block `block` of the output.
template <typename T>
inline void write_tile(device T *dst, uint block, uint tile, thread const float4 *v) {
    const uint at = block * 64u + tile * 2u;
    store(dst, at, v[0]);
    store(dst, at + 1u, v[1]);
}

struct sum_shape {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of 64 elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
};

// Where a thread stands.
struct standing {
    uint group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups;
};

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
template <uint TILES, uint BATCH, typename X>
inline void load_x(device const X *x_in, uint batch, uint row_tiles, uint vector, uint j, uint k,
    thread float4 (&x)[TILES][BATCH][16], thread float (&x_sum)[TILES][BATCH][2])
{
    const uint tile = j % 4u;
    const uint place = j / 4u * 64u + tile * 16u;
    for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_tiles * 16u + place;
        const float4 x0 = float4(x_in[from]);
        const float4 x1 = float4(x_in[from + 1u]);
        const float4 x2 = float4(x_in[from + 2u]);
        const float4 x3 = float4(x_in[from + 3u]);
        const float4 x4 = float4(x_in[from + 4u]);
        const float4 x5 = float4(x_in[from + 5u]);
        const float4 x6 = float4(x_in[from + 6u]);
        const float4 x7 = float4(x_in[from + 7u]);
        const float4 x8 = float4(x_in[from + 8u]);
        const float4 x9 = float4(x_in[from + 9u]);
        const float4 x10 = float4(x_in[from + 10u]);
        const float4 x11 = float4(x_in[from + 11u]);
        const float4 x12 = float4(x_in[from + 12u]);
        const float4 x13 = float4(x_in[from + 13u]);
        const float4 x14 = float4(x_in[from + 14u]);
        const float4 x15 = float4(x_in[from + 15u]);
        x[k][m][0] = x0 * 16777216.0f;
        x[k][m][1] = x1 * 16777216.0f;
        x[k][m][2] = x2 * 16777216.0f;
        x[k][m][3] = x3 * 16777216.0f;
        x[k][m][4] = x4 * 16777216.0f;
        x[k][m][5] = x5 * 16777216.0f;
        x[k][m][6] = x6 * 16777216.0f;
        x[k][m][7] = x7 * 16777216.0f;
        x[k][m][8] = x8 * 16777216.0f;
        x[k][m][9] = x9 * 16777216.0f;
        x[k][m][10] = x10 * 16777216.0f;
        x[k][m][11] = x11 * 16777216.0f;
        x[k][m][12] = x12 * 16777216.0f;
        x[k][m][13] = x13 * 16777216.0f;
        x[k][m][14] = x14 * 16777216.0f;
        x[k][m][15] = x15 * 16777216.0f;
        x_sum[k][m][0] = dot(x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7, float4(1.0f));
        x_sum[k][m][1] = dot(x8 + x9 + x10 + x11 + x12 + x13 + x14 + x15, float4(1.0f));
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
template <uint TILES, uint BATCH>
inline void accumulate(
    device const ushort *blocks,
    uint row_tiles, uint n, uint j, uint k,
    thread const float4 (&x)[TILES][BATCH][16], thread const float (&x_sum)[TILES][BATCH][2],
    thread float (&sum)[BATCH])
{
    #pragma clang fp contract(fast)
    const uint block = n * (row_tiles / 4u) + j / 4u;
    const uint tile = j % 4u;
    const uint base = block * 55u;
    const float d = f16_to_f32(uint(blocks[base]));
    const uint scales = uint(blocks[base + tile / 2u + 53u]);
    const uint sc0 = (scales >> (tile % 2u * 8u)) & 15u;  // scales: 4 bits
    const float d_sc0 = d * float(1 + 2 * int(sc0));
    const uint qs0 = uint(blocks[base + tile * 8u + 1u]);
    const uint g_lo0 = qs0 & 0xFFu;  // qs: bits 0-7 of g
    const uint qh = uint(blocks[base + tile + 33u]);
    const uint g_hi0 = qh & 1u;  // qh: bit 8 of g
    const uint g0 = g_lo0 | (g_hi0 << 8u);
    const uint G_row0 = G[g0];
    const uint signs0 = uint(blocks[base + tile * 4u + 37u]);
    const uint s0 = signs0 & 0xFFu;  // signs: 8 bits
    const uint negative0 = ((s0 & 15u) * 0x204081u) & 0x1010101u;
    const uint bytes0 = (G_row0 ^ ((negative0 << 8u) - negative0)) + negative0;
    const uint biased0 = (bytes0 ^ 0x80808080u) - 0x71717171u;  // from zero on
    const float2 pair0 = float2(as_type<half2>(biased0 & 0x1F001Fu));
    const float2 pair1 = float2(as_type<half2>((biased0 >> 8u) & 0x1F001Fu));
    const uint g_lo1 = qs0 >> 8u;  // qs: bits 0-7 of g
    const uint g_hi1 = (qh >> 1u) & 1u;  // qh: bit 8 of g
    const uint g1 = g_lo1 | (g_hi1 << 8u);
    const uint G_row1 = G[g1];
    const uint negative1 = ((s0 >> 4u) * 0x204081u) & 0x1010101u;
    const uint bytes1 = (G_row1 ^ ((negative1 << 8u) - negative1)) + negative1;
    const uint biased1 = (bytes1 ^ 0x80808080u) - 0x71717171u;  // from zero on
    const float2 pair2 = float2(as_type<half2>(biased1 & 0x1F001Fu));
    const float2 pair3 = float2(as_type<half2>((biased1 >> 8u) & 0x1F001Fu));
    const uint qs1 = uint(blocks[base + tile * 8u + 2u]);
    const uint g_lo2 = qs1 & 0xFFu;  // qs: bits 0-7 of g
    const uint g_hi2 = (qh >> 2u) & 1u;  // qh: bit 8 of g
    const uint g2 = g_lo2 | (g_hi2 << 8u);
    const uint G_row2 = G[g2];
    const uint s1 = signs0 >> 8u;  // signs: 8 bits
    const uint negative2 = ((s1 & 15u) * 0x204081u) & 0x1010101u;
    const uint bytes2 = (G_row2 ^ ((negative2 << 8u) - negative2)) + negative2;
    const uint biased2 = (bytes2 ^ 0x80808080u) - 0x71717171u;  // from zero on
    const float2 pair4 = float2(as_type<half2>(biased2 & 0x1F001Fu));
    const float2 pair5 = float2(as_type<half2>((biased2 >> 8u) & 0x1F001Fu));
    const uint g_lo3 = qs1 >> 8u;  // qs: bits 0-7 of g
    const uint g_hi3 = (qh >> 3u) & 1u;  // qh: bit 8 of g
    const uint g3 = g_lo3 | (g_hi3 << 8u);
    const uint G_row3 = G[g3];
    const uint negative3 = ((s1 >> 4u) * 0x204081u) & 0x1010101u;
    const uint bytes3 = (G_row3 ^ ((negative3 << 8u) - negative3)) + negative3;
    const uint biased3 = (bytes3 ^ 0x80808080u) - 0x71717171u;  // from zero on
    const float2 pair6 = float2(as_type<half2>(biased3 & 0x1F001Fu));
    const float2 pair7 = float2(as_type<half2>((biased3 >> 8u) & 0x1F001Fu));
    const uint qs2 = uint(blocks[base + tile * 8u + 3u]);
    const uint g_lo4 = qs2 & 0xFFu;  // qs: bits 0-7 of g
    const uint g_hi4 = (qh >> 4u) & 1u;  // qh: bit 8 of g
    const uint g4 = g_lo4 | (g_hi4 << 8u);
    const uint G_row4 = G[g4];
    const uint signs1 = uint(blocks[base + tile * 4u + 38u]);
    const uint s2 = signs1 & 0xFFu;  // signs: 8 bits
    const uint negative4 = ((s2 & 15u) * 0x204081u) & 0x1010101u;
    const uint bytes4 = (G_row4 ^ ((negative4 << 8u) - negative4)) + negative4;
    const uint biased4 = (bytes4 ^ 0x80808080u) - 0x71717171u;  // from zero on
    const float2 pair8 = float2(as_type<half2>(biased4 & 0x1F001Fu));
    const float2 pair9 = float2(as_type<half2>((biased4 >> 8u) & 0x1F001Fu));
    const uint g_lo5 = qs2 >> 8u;  // qs: bits 0-7 of g
    const uint g_hi5 = (qh >> 5u) & 1u;  // qh: bit 8 of g
    const uint g5 = g_lo5 | (g_hi5 << 8u);
    const uint G_row5 = G[g5];
    const uint negative5 = ((s2 >> 4u) * 0x204081u) & 0x1010101u;
    const uint bytes5 = (G_row5 ^ ((negative5 << 8u) - negative5)) + negative5;
    const uint biased5 = (bytes5 ^ 0x80808080u) - 0x71717171u;  // from zero on
    const float2 pair10 = float2(as_type<half2>(biased5 & 0x1F001Fu));
    const float2 pair11 = float2(as_type<half2>((biased5 >> 8u) & 0x1F001Fu));
    const uint qs3 = uint(blocks[base + tile * 8u + 4u]);
    const uint g_lo6 = qs3 & 0xFFu;  // qs: bits 0-7 of g
    const uint g_hi6 = (qh >> 6u) & 1u;  // qh: bit 8 of g
    const uint g6 = g_lo6 | (g_hi6 << 8u);
    const uint G_row6 = G[g6];
    const uint s3 = signs1 >> 8u;  // signs: 8 bits
    const uint negative6 = ((s3 & 15u) * 0x204081u) & 0x1010101u;
    const uint bytes6 = (G_row6 ^ ((negative6 << 8u) - negative6)) + negative6;
    const uint biased6 = (bytes6 ^ 0x80808080u) - 0x71717171u;  // from zero on
    const float2 pair12 = float2(as_type<half2>(biased6 & 0x1F001Fu));
    const float2 pair13 = float2(as_type<half2>((biased6 >> 8u) & 0x1F001Fu));
    const uint g_lo7 = qs3 >> 8u;  // qs: bits 0-7 of g
    const uint g_hi7 = (qh >> 7u) & 1u;  // qh: bit 8 of g
    const uint g7 = g_lo7 | (g_hi7 << 8u);
    const uint G_row7 = G[g7];
    const uint negative7 = ((s3 >> 4u) * 0x204081u) & 0x1010101u;
    const uint bytes7 = (G_row7 ^ ((negative7 << 8u) - negative7)) + negative7;
    const uint biased7 = (bytes7 ^ 0x80808080u) - 0x71717171u;  // from zero on
    const float2 pair14 = float2(as_type<half2>(biased7 & 0x1F001Fu));
    const float2 pair15 = float2(as_type<half2>((biased7 >> 8u) & 0x1F001Fu));
    const uint sc1 = (scales >> (tile % 2u * 8u + 4u)) & 15u;  // scales: 4 bits
    const float d_sc1 = d * float(1 + 2 * int(sc1));
    const uint qs4 = uint(blocks[base + tile * 8u + 5u]);
    const uint g_lo8 = qs4 & 0xFFu;  // qs: bits 0-7 of g
    const uint g_hi8 = (qh >> 8u) & 1u;  // qh: bit 8 of g
    const uint g8 = g_lo8 | (g_hi8 << 8u);
    const uint G_row8 = G[g8];
    const uint signs2 = uint(blocks[base + tile * 4u + 39u]);
    const uint s4 = signs2 & 0xFFu;  // signs: 8 bits
    const uint negative8 = ((s4 & 15u) * 0x204081u) & 0x1010101u;
    const uint bytes8 = (G_row8 ^ ((negative8 << 8u) - negative8)) + negative8;
    const uint biased8 = (bytes8 ^ 0x80808080u) - 0x71717171u;  // from zero on
    const float2 pair16 = float2(as_type<half2>(biased8 & 0x1F001Fu));
    const float2 pair17 = float2(as_type<half2>((biased8 >> 8u) & 0x1F001Fu));
    const uint g_lo9 = qs4 >> 8u;  // qs: bits 0-7 of g
    const uint g_hi9 = (qh >> 9u) & 1u;  // qh: bit 8 of g
    const uint g9 = g_lo9 | (g_hi9 << 8u);
    const uint G_row9 = G[g9];
    const uint negative9 = ((s4 >> 4u) * 0x204081u) & 0x1010101u;
    const uint bytes9 = (G_row9 ^ ((negative9 << 8u) - negative9)) + negative9;
    const uint biased9 = (bytes9 ^ 0x80808080u) - 0x71717171u;  // from zero on
    const float2 pair18 = float2(as_type<half2>(biased9 & 0x1F001Fu));
    const float2 pair19 = float2(as_type<half2>((biased9 >> 8u) & 0x1F001Fu));
    const uint qs5 = uint(blocks[base + tile * 8u + 6u]);
    const uint g_lo10 = qs5 & 0xFFu;  // qs: bits 0-7 of g
    const uint g_hi10 = (qh >> 10u) & 1u;  // qh: bit 8 of g
    const uint g10 = g_lo10 | (g_hi10 << 8u);
    const uint G_row10 = G[g10];
    const uint s5 = signs2 >> 8u;  // signs: 8 bits
    const uint negative10 = ((s5 & 15u) * 0x204081u) & 0x1010101u;
    const uint bytes10 = (G_row10 ^ ((negative10 << 8u) - negative10)) + negative10;
    const uint biased10 = (bytes10 ^ 0x80808080u) - 0x71717171u;  // from zero on
    const float2 pair20 = float2(as_type<half2>(biased10 & 0x1F001Fu));
    const float2 pair21 = float2(as_type<half2>((biased10 >> 8u) & 0x1F001Fu));
    const uint g_lo11 = qs5 >> 8u;  // qs: bits 0-7 of g
    const uint g_hi11 = (qh >> 11u) & 1u;  // qh: bit 8 of g
    const uint g11 = g_lo11 | (g_hi11 << 8u);
    const uint G_row11 = G[g11];
    const uint negative11 = ((s5 >> 4u) * 0x204081u) & 0x1010101u;
    const uint bytes11 = (G_row11 ^ ((negative11 << 8u) - negative11)) + negative11;
    const uint biased11 = (bytes11 ^ 0x80808080u) - 0x71717171u;  // from zero on
    const float2 pair22 = float2(as_type<half2>(biased11 & 0x1F001Fu));
    const float2 pair23 = float2(as_type<half2>((biased11 >> 8u) & 0x1F001Fu));
    const uint qs6 = uint(blocks[base + tile * 8u + 7u]);
    const uint g_lo12 = qs6 & 0xFFu;  // qs: bits 0-7 of g
    const uint g_hi12 = (qh >> 12u) & 1u;  // qh: bit 8 of g
    const uint g12 = g_lo12 | (g_hi12 << 8u);
    const uint G_row12 = G[g12];
    const uint signs3 = uint(blocks[base + tile * 4u + 40u]);
    const uint s6 = signs3 & 0xFFu;  // signs: 8 bits
    const uint negative12 = ((s6 & 15u) * 0x204081u) & 0x1010101u;
    const uint bytes12 = (G_row12 ^ ((negative12 << 8u) - negative12)) + negative12;
    const uint biased12 = (bytes12 ^ 0x80808080u) - 0x71717171u;  // from zero on
    const float2 pair24 = float2(as_type<half2>(biased12 & 0x1F001Fu));
    const float2 pair25 = float2(as_type<half2>((biased12 >> 8u) & 0x1F001Fu));
    const uint g_lo13 = qs6 >> 8u;  // qs: bits 0-7 of g
    const uint g_hi13 = (qh >> 13u) & 1u;  // qh: bit 8 of g
    const uint g13 = g_lo13 | (g_hi13 << 8u);
    const uint G_row13 = G[g13];
    const uint negative13 = ((s6 >> 4u) * 0x204081u) & 0x1010101u;
    const uint bytes13 = (G_row13 ^ ((negative13 << 8u) - negative13)) + negative13;
    const uint biased13 = (bytes13 ^ 0x80808080u) - 0x71717171u;  // from zero on
    const float2 pair26 = float2(as_type<half2>(biased13 & 0x1F001Fu));
    const float2 pair27 = float2(as_type<half2>((biased13 >> 8u) & 0x1F001Fu));
    const uint qs7 = uint(blocks[base + tile * 8u + 8u]);
    const uint g_lo14 = qs7 & 0xFFu;  // qs: bits 0-7 of g
    const uint g_hi14 = (qh >> 14u) & 1u;  // qh: bit 8 of g
    const uint g14 = g_lo14 | (g_hi14 << 8u);
    const uint G_row14 = G[g14];
    const uint s7 = signs3 >> 8u;  // signs: 8 bits
    const uint negative14 = ((s7 & 15u) * 0x204081u) & 0x1010101u;
    const uint bytes14 = (G_row14 ^ ((negative14 << 8u) - negative14)) + negative14;
    const uint biased14 = (bytes14 ^ 0x80808080u) - 0x71717171u;  // from zero on
    const float2 pair28 = float2(as_type<half2>(biased14 & 0x1F001Fu));
    const float2 pair29 = float2(as_type<half2>((biased14 >> 8u) & 0x1F001Fu));
    const uint g_lo15 = qs7 >> 8u;  // qs: bits 0-7 of g
    const uint g_hi15 = qh >> 15u;  // qh: bit 8 of g
    const uint g15 = g_lo15 | (g_hi15 << 8u);
    const uint G_row15 = G[g15];
    const uint negative15 = ((s7 >> 4u) * 0x204081u) & 0x1010101u;
    const uint bytes15 = (G_row15 ^ ((negative15 << 8u) - negative15)) + negative15;
    const uint biased15 = (bytes15 ^ 0x80808080u) - 0x71717171u;  // from zero on
    const float2 pair30 = float2(as_type<half2>(biased15 & 0x1F001Fu));
    const float2 pair31 = float2(as_type<half2>((biased15 >> 8u) & 0x1F001Fu));
    for (uint m = 0; m < BATCH; ++m) {
        sum[m] += d_sc0 * (dot(x[k][m][0], float4(pair0.x, pair1.x, pair0.y, pair1.y)) + dot(x[k][m][1], float4(pair2.x, pair3.x, pair2.y, pair3.y)) + dot(x[k][m][2], float4(pair4.x, pair5.x, pair4.y, pair5.y)) + dot(x[k][m][3], float4(pair6.x, pair7.x, pair6.y, pair7.y)) + dot(x[k][m][4], float4(pair8.x, pair9.x, pair8.y, pair9.y)) + dot(x[k][m][5], float4(pair10.x, pair11.x, pair10.y, pair11.y)) + dot(x[k][m][6], float4(pair12.x, pair13.x, pair12.y, pair13.y)) + dot(x[k][m][7], float4(pair14.x, pair15.x, pair14.y, pair15.y)) - 15.0f * x_sum[k][m][0]) + d_sc1 * (dot(x[k][m][8], float4(pair16.x, pair17.x, pair16.y, pair17.y)) + dot(x[k][m][9], float4(pair18.x, pair19.x, pair18.y, pair19.y)) + dot(x[k][m][10], float4(pair20.x, pair21.x, pair20.y, pair21.y)) + dot(x[k][m][11], float4(pair22.x, pair23.x, pair22.y, pair23.y)) + dot(x[k][m][12], float4(pair24.x, pair25.x, pair24.y, pair25.y)) + dot(x[k][m][13], float4(pair26.x, pair27.x, pair26.y, pair27.y)) + dot(x[k][m][14], float4(pair28.x, pair29.x, pair28.y, pair29.y)) + dot(x[k][m][15], float4(pair30.x, pair31.x, pair30.y, pair31.y)) - 15.0f * x_sum[k][m][1]);
    }
}

// Sums over rows. BATCH right-hand sides are kept, at least as many as there are; ROWS rows at a time.
template <uint BATCH, uint ROWS, typename X>
inline void sum_rows(
    device const ushort *blocks,
    device const X *x_in, device float *y, constant sum_shape &shape, threadgroup float *partial, standing at)
{
    constexpr uint BUSY = 2048;  // simdgroups that keep a device busy
    constexpr uint TILES = BATCH == 1 ? 1 : 1;
    // What a thread keeps of x: tiles of each right-hand side, in the order of the weights, and the sums over runs that share
    // a scale.
    float4 x[TILES][BATCH][16];
    float x_sum[TILES][BATCH][2];
    // A simdgroup holds a slice of x and walks down the rows. Where there are few rows, simdgroups share each of them.
    const uint slice = at.lanes * TILES, slices = (shape.row_tiles + slice - 1) / slice;
    uint split = 1;
    while (split < slices && at.simdgroups % (2 * split) == 0 && shape.rows * split < BUSY * ROWS) split *= 2;
    const uint teams = at.simdgroups / split, team = at.simdgroup / split;
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
                if (c != held) load_x<TILES, BATCH>(x_in, shape.batch, shape.row_tiles, 0, j, k, x, x_sum);
                for (uint r = 0; r < ROWS; ++r)
                    accumulate<TILES, BATCH>(blocks, shape.row_tiles, min(first + team * ROWS + r, shape.rows - 1), j, k, x, x_sum, sum[r]);
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

}  // namespace qk_iq3_s

// iq3_s_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct iq3_s_dequant_f32_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void iq3_s_dequant_f32(
    device const ushort *blocks [[buffer(0)]],
    device float4 *dst [[buffer(1)]],
    constant iq3_s_dequant_f32_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_iq3_s::decode(blocks, i / 32u, i % 32u, v);
        qk_iq3_s::write_tile(dst, i / 32u, i % 32u, v);
    }
}

// iq3_s_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct iq3_s_dequant_f16_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void iq3_s_dequant_f16(
    device const ushort *blocks [[buffer(0)]],
    device half4 *dst [[buffer(1)]],
    constant iq3_s_dequant_f16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_iq3_s::decode(blocks, i / 32u, i % 32u, v);
        qk_iq3_s::write_tile(dst, i / 32u, i % 32u, v);
    }
}

// iq3_s_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct iq3_s_dequant_bf16_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void iq3_s_dequant_bf16(
    device const ushort *blocks [[buffer(0)]],
    device ushort4 *dst [[buffer(1)]],
    constant iq3_s_dequant_bf16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_iq3_s::decode(blocks, i / 32u, i % 32u, v);
        qk_iq3_s::write_tile(dst, i / 32u, i % 32u, v);
    }
}

// iq3_s_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct iq3_s_gather_f32_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void iq3_s_gather_f32(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device float4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant iq3_s_gather_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_iq3_s::decode(blocks, from / 32u, i % 32u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_iq3_s::write_tile(dst, i / 32u, i % 32u, v);
    }
}

// iq3_s_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct iq3_s_gather_f16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void iq3_s_gather_f16(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device half4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant iq3_s_gather_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_iq3_s::decode(blocks, from / 32u, i % 32u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_iq3_s::write_tile(dst, i / 32u, i % 32u, v);
    }
}

// iq3_s_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct iq3_s_gather_bf16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void iq3_s_gather_bf16(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device ushort4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant iq3_s_gather_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_iq3_s::decode(blocks, from / 32u, i % 32u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_iq3_s::write_tile(dst, i / 32u, i % 32u, v);
    }
}

// iq3_s_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
constant uint iq3_s_gemv_f32_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides

kernel void iq3_s_gemv_f32(
    device const ushort *blocks [[buffer(0)]],
    device const float4 *x [[buffer(1)]],
    device float *y [[buffer(2)]],
    constant qk_iq3_s::sum_shape &push [[buffer(3)]],
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
    const qk_iq3_s::standing at = {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups};
    switch (iq3_s_gemv_f32_batch) {
        case 1: qk_iq3_s::sum_rows<1, 4>(blocks, x, y, push, partial, at); break;
        case 2: qk_iq3_s::sum_rows<2, 4>(blocks, x, y, push, partial, at); break;
        case 4: qk_iq3_s::sum_rows<4, 4>(blocks, x, y, push, partial, at); break;
        case 8: qk_iq3_s::sum_rows<8, 2>(blocks, x, y, push, partial, at); break;
    }
}

// iq3_s_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
constant uint iq3_s_gemv_f16_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides

kernel void iq3_s_gemv_f16(
    device const ushort *blocks [[buffer(0)]],
    device const half4 *x [[buffer(1)]],
    device float *y [[buffer(2)]],
    constant qk_iq3_s::sum_shape &push [[buffer(3)]],
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
    const qk_iq3_s::standing at = {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups};
    switch (iq3_s_gemv_f16_batch) {
        case 1: qk_iq3_s::sum_rows<1, 4>(blocks, x, y, push, partial, at); break;
        case 2: qk_iq3_s::sum_rows<2, 4>(blocks, x, y, push, partial, at); break;
        case 4: qk_iq3_s::sum_rows<4, 4>(blocks, x, y, push, partial, at); break;
        case 8: qk_iq3_s::sum_rows<8, 2>(blocks, x, y, push, partial, at); break;
    }
}

// iq3_s_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], x in f32.
struct iq3_s_gemv_id_f32_push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 64 elements in a row
    uint batch;         // right-hand sides: tokens
    uint slots;         // experts of each token
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
};

kernel void iq3_s_gemv_id_f32(
    device const ushort *blocks [[buffer(0)]],
    device const float4 *x [[buffer(1)]],
    device const uint *ids [[buffer(2)]],
    device float *y [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant iq3_s_gemv_id_f32_push &push [[buffer(5)]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]])
{
    constexpr uint ROWS = 4, TILES = 1;  // rows at a time; tiles of x that a thread keeps
    threadgroup float partial[32 * ROWS];
    float4 kept[TILES][1][16];
    float kept_sum[TILES][1][2];
    // A simdgroup holds a slice of x and walks down the rows. While there are slices for more, simdgroups share a row.
    const uint slice = lanes * TILES, slices = (push.row_tiles + slice - 1) / slice;
    uint split = 1;
    while (split < slices && simdgroups % (2 * split) == 0) split *= 2;
    const uint teams = simdgroups / split, team = simdgroup / split;
    const uint parts = (push.rows + teams * ROWS - 1) / (teams * ROWS);
    uint held = ~0u, held_token = ~0u;
    for (uint work = group; work < push.batch * push.slots * parts; work += groups) {
        const uint pair = work / parts, token = pair / push.slots, first = work % parts * teams * ROWS, expert = ids[pair];
        const bool found = expert < push.experts;
        if (found ? expert < push.expert_first || expert >= push.expert_end : push.expert_first != 0) continue;  // another launch's
        float sum[ROWS][1] = {};
        if (!found && first == 0 && thread_index == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);  // zeros
        for (uint c = simdgroup % split; found && c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * lanes + lane;
                if (j >= push.row_tiles) continue;
                if (c != held || token != held_token)
                    qk_iq3_s::load_x<TILES, 1>(x, push.batch, push.row_tiles, token, j, k, kept, kept_sum);
                for (uint r = 0; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, push.rows - 1);
                    qk_iq3_s::accumulate<TILES, 1>(blocks, push.row_tiles, (expert - push.expert_first) * push.rows + row, j, k,
                                                      kept, kept_sum, sum[r]);
                }
            }
            held = c;
            held_token = token;
        }
        for (uint r = 0; r < ROWS; ++r) {
            const float all = simd_sum(sum[r][0]);
            if (lane == 0) partial[simdgroup * ROWS + r] = all;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = thread_index; i < teams * ROWS; i += threads) {
            const uint at = i / ROWS * (split - 1) * ROWS + i;
            float total = 0.0f;
            for (uint s = 0; s < split; ++s) total += partial[at + s * ROWS];
            if (first + i < push.rows) y[pair * push.rows + first + i] = total;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// iq3_s_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], x in f16.
struct iq3_s_gemv_id_f16_push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 64 elements in a row
    uint batch;         // right-hand sides: tokens
    uint slots;         // experts of each token
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
};

kernel void iq3_s_gemv_id_f16(
    device const ushort *blocks [[buffer(0)]],
    device const half4 *x [[buffer(1)]],
    device const uint *ids [[buffer(2)]],
    device float *y [[buffer(3)]],
    device atomic_uint *status [[buffer(4)]],
    constant iq3_s_gemv_id_f16_push &push [[buffer(5)]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]])
{
    constexpr uint ROWS = 4, TILES = 1;  // rows at a time; tiles of x that a thread keeps
    threadgroup float partial[32 * ROWS];
    float4 kept[TILES][1][16];
    float kept_sum[TILES][1][2];
    // A simdgroup holds a slice of x and walks down the rows. While there are slices for more, simdgroups share a row.
    const uint slice = lanes * TILES, slices = (push.row_tiles + slice - 1) / slice;
    uint split = 1;
    while (split < slices && simdgroups % (2 * split) == 0) split *= 2;
    const uint teams = simdgroups / split, team = simdgroup / split;
    const uint parts = (push.rows + teams * ROWS - 1) / (teams * ROWS);
    uint held = ~0u, held_token = ~0u;
    for (uint work = group; work < push.batch * push.slots * parts; work += groups) {
        const uint pair = work / parts, token = pair / push.slots, first = work % parts * teams * ROWS, expert = ids[pair];
        const bool found = expert < push.experts;
        if (found ? expert < push.expert_first || expert >= push.expert_end : push.expert_first != 0) continue;  // another launch's
        float sum[ROWS][1] = {};
        if (!found && first == 0 && thread_index == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);  // zeros
        for (uint c = simdgroup % split; found && c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * lanes + lane;
                if (j >= push.row_tiles) continue;
                if (c != held || token != held_token)
                    qk_iq3_s::load_x<TILES, 1>(x, push.batch, push.row_tiles, token, j, k, kept, kept_sum);
                for (uint r = 0; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, push.rows - 1);
                    qk_iq3_s::accumulate<TILES, 1>(blocks, push.row_tiles, (expert - push.expert_first) * push.rows + row, j, k,
                                                      kept, kept_sum, sum[r]);
                }
            }
            held = c;
            held_token = token;
        }
        for (uint r = 0; r < ROWS; ++r) {
            const float all = simd_sum(sum[r][0]);
            if (lane == 0) partial[simdgroup * ROWS + r] = all;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = thread_index; i < teams * ROWS; i += threads) {
            const uint at = i / ROWS * (split - 1) * ROWS + i;
            float total = 0.0f;
            for (uint s = 0; s < split; ++s) total += partial[at + s * ROWS];
            if (first + i < push.rows) y[pair * push.rows + first + i] = total;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}
