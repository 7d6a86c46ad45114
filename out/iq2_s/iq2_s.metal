// iq2_s: Metal kernels of the format.
// Generated from the specification below by `qkgen emit --format iq2_s`; do not edit.
// 82 bytes for 256 elements, 2.562 bits each.
// dequant, gather in f32: for each weight 0.32 bytes read and 4 written, 15.1 operations: 0.625 loads, 5.25 bits, 4.38 integer, 2.38 float,
// 2.25 conversions, 0.25 lookups.
// gemv, gemv_id in f32: for each weight 0.32 bytes read, 8.38 operations: 0.312 loads, 2.88 bits, 1.94 integer, 2.38 float, 0.625
// conversions, 0.25 lookups.
//
//     format iq2_s "eights from a codebook of 1024, sign masks, 4-bit scales in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         d:      f16
//         qs:     u8[32]
//         signs:  u8[32]
//         qh:     u8[8]
//         scales: u8[8]
//     }
//
//     code g  per 8  = qs { 8 @ 0 (32:8) } qh { 2 @ 0 (32:2) }
//     code s  per 8  = signs { 8 @ 0 (32:8) }
//     code sc per 16 = scales { 4 @ 0 (16:4) }
//
//     table G: u8[1024][8] = file "iq2s_grid.bin"
//
//     value = d * (0.5 + sc) * 0.25 * G[g][i % 8] * (s >> i % 8 & 1 ? -1 : 1)
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_iq2_s {

// 1024 rows of 8: u8, packed.
constant uint G[2048] = {
    0x08080808, 0x08080808, 0x0808082B, 0x08080808, 0x08081919, 0x08080808, 0x08082B08, 0x08080808,
    0x08082B2B, 0x08080808, 0x08190819, 0x08080808, 0x08191908, 0x08080808, 0x0819192B, 0x08080808,
    0x08192B19, 0x08080808, 0x082B0808, 0x08080808, 0x082B082B, 0x08080808, 0x082B1919, 0x08080808,
    0x082B2B08, 0x08080808, 0x19080819, 0x08080808, 0x19081908, 0x08080808, 0x1908192B, 0x08080808,
    0x19082B19, 0x08080808, 0x19190808, 0x08080808, 0x1919082B, 0x08080808, 0x19191919, 0x08080808,
    0x19192B08, 0x08080808, 0x192B0819, 0x08080808, 0x192B1908, 0x08080808, 0x192B192B, 0x08080808,
    0x192B2B19, 0x08080808, 0x2B080808, 0x08080808, 0x2B08082B, 0x08080808, 0x2B081919, 0x08080808,
    0x2B082B08, 0x08080808, 0x2B190819, 0x08080808, 0x2B191908, 0x08080808, 0x2B2B0808, 0x08080808,
    0x2B2B1919, 0x08080808, 0x2B2B2B2B, 0x08080808, 0x08080819, 0x08080819, 0x08081908, 0x08080819,
    0x0808192B, 0x08080819, 0x08082B19, 0x08080819, 0x08190808, 0x08080819, 0x0819082B, 0x08080819,
    0x08191919, 0x08080819, 0x08192B08, 0x08080819, 0x082B0819, 0x08080819, 0x082B1908, 0x08080819,
    0x19080808, 0x08080819, 0x1908082B, 0x08080819, 0x19081919, 0x08080819, 0x19082B08, 0x08080819,
    0x19190819, 0x08080819, 0x19191908, 0x08080819, 0x1919192B, 0x08080819, 0x19192B19, 0x08080819,
    0x192B0808, 0x08080819, 0x192B1919, 0x08080819, 0x192B2B08, 0x08080819, 0x2B080819, 0x08080819,
    0x2B081908, 0x08080819, 0x2B190808, 0x08080819, 0x2B19082B, 0x08080819, 0x2B191919, 0x08080819,
    0x2B2B0819, 0x08080819, 0x2B2B1908, 0x08080819, 0x08080808, 0x0808082B, 0x0808082B, 0x0808082B,
    0x08081919, 0x0808082B, 0x08082B08, 0x0808082B, 0x08190819, 0x0808082B, 0x08191908, 0x0808082B,
    0x082B0808, 0x0808082B, 0x082B2B2B, 0x0808082B, 0x19080819, 0x0808082B, 0x19081908, 0x0808082B,
    0x1908192B, 0x0808082B, 0x19082B19, 0x0808082B, 0x19190808, 0x0808082B, 0x19191919, 0x0808082B,
    0x2B080808, 0x0808082B, 0x2B081919, 0x0808082B, 0x2B082B2B, 0x0808082B, 0x2B191908, 0x0808082B,
    0x2B2B082B, 0x0808082B, 0x08080819, 0x08081908, 0x08081908, 0x08081908, 0x0808192B, 0x08081908,
    0x08082B19, 0x08081908, 0x08190808, 0x08081908, 0x0819082B, 0x08081908, 0x08191919, 0x08081908,
    0x08192B08, 0x08081908, 0x082B0819, 0x08081908, 0x082B1908, 0x08081908, 0x082B192B, 0x08081908,
    0x082B2B19, 0x08081908, 0x19080808, 0x08081908, 0x1908082B, 0x08081908, 0x19081919, 0x08081908,
    0x19082B08, 0x08081908, 0x19082B2B, 0x08081908, 0x19190819, 0x08081908, 0x19191908, 0x08081908,
    0x1919192B, 0x08081908, 0x19192B19, 0x08081908, 0x192B0808, 0x08081908, 0x192B082B, 0x08081908,
    0x192B1919, 0x08081908, 0x2B080819, 0x08081908, 0x2B081908, 0x08081908, 0x2B08192B, 0x08081908,
    0x2B082B19, 0x08081908, 0x2B190808, 0x08081908, 0x2B191919, 0x08081908, 0x2B192B08, 0x08081908,
    0x2B2B0819, 0x08081908, 0x2B2B1908, 0x08081908, 0x08080808, 0x08081919, 0x0808082B, 0x08081919,
    0x08081919, 0x08081919, 0x08082B08, 0x08081919, 0x08082B2B, 0x08081919, 0x08190819, 0x08081919,
    0x08191908, 0x08081919, 0x0819192B, 0x08081919, 0x08192B19, 0x08081919, 0x082B0808, 0x08081919,
    0x082B1919, 0x08081919, 0x082B2B08, 0x08081919, 0x19080819, 0x08081919, 0x19081908, 0x08081919,
    0x1908192B, 0x08081919, 0x19082B19, 0x08081919, 0x19190808, 0x08081919, 0x1919082B, 0x08081919,
    0x19191919, 0x08081919, 0x19192B08, 0x08081919, 0x192B0819, 0x08081919, 0x192B1908, 0x08081919,
    0x2B080808, 0x08081919, 0x2B08082B, 0x08081919, 0x2B081919, 0x08081919, 0x2B082B08, 0x08081919,
    0x2B190819, 0x08081919, 0x2B191908, 0x08081919, 0x2B2B0808, 0x08081919, 0x08080819, 0x0808192B,
    0x08081908, 0x0808192B, 0x0808192B, 0x0808192B, 0x08082B19, 0x0808192B, 0x08190808, 0x0808192B,
    0x08191919, 0x0808192B, 0x19080808, 0x0808192B, 0x19081919, 0x0808192B, 0x19082B08, 0x0808192B,
    0x19190819, 0x0808192B, 0x19191908, 0x0808192B, 0x192B0808, 0x0808192B, 0x2B080819, 0x0808192B,
    0x2B081908, 0x0808192B, 0x2B190808, 0x0808192B, 0x08080808, 0x08082B08, 0x0808082B, 0x08082B08,
    0x08081919, 0x08082B08, 0x08082B08, 0x08082B08, 0x08190819, 0x08082B08, 0x08191908, 0x08082B08,
    0x0819192B, 0x08082B08, 0x08192B19, 0x08082B08, 0x082B0808, 0x08082B08, 0x082B1919, 0x08082B08,
    0x082B2B2B, 0x08082B08, 0x19080819, 0x08082B08, 0x19081908, 0x08082B08, 0x1908192B, 0x08082B08,
    0x19082B19, 0x08082B08, 0x19190808, 0x08082B08, 0x1919082B, 0x08082B08, 0x19191919, 0x08082B08,
    0x19192B08, 0x08082B08, 0x192B0819, 0x08082B08, 0x192B1908, 0x08082B08, 0x2B080808, 0x08082B08,
    0x2B081919, 0x08082B08, 0x2B191908, 0x08082B08, 0x2B2B2B2B, 0x08082B08, 0x08080819, 0x08082B19,
    0x08081908, 0x08082B19, 0x08190808, 0x08082B19, 0x0819082B, 0x08082B19, 0x08191919, 0x08082B19,
    0x08192B08, 0x08082B19, 0x082B0819, 0x08082B19, 0x19080808, 0x08082B19, 0x19081919, 0x08082B19,
    0x19082B08, 0x08082B19, 0x19190819, 0x08082B19, 0x19191908, 0x08082B19, 0x192B0808, 0x08082B19,
    0x2B080819, 0x08082B19, 0x2B190808, 0x08082B19, 0x08080808, 0x08082B2B, 0x08190819, 0x08082B2B,
    0x08191908, 0x08082B2B, 0x082B082B, 0x08082B2B, 0x082B2B08, 0x08082B2B, 0x082B2B2B, 0x08082B2B,
    0x19190808, 0x08082B2B, 0x2B192B19, 0x08082B2B, 0x08080819, 0x08190808, 0x08081908, 0x08190808,
    0x0808192B, 0x08190808, 0x08082B19, 0x08190808, 0x08190808, 0x08190808, 0x0819082B, 0x08190808,
    0x08191919, 0x08190808, 0x08192B08, 0x08190808, 0x082B0819, 0x08190808, 0x082B1908, 0x08190808,
    0x082B192B, 0x08190808, 0x19080808, 0x08190808, 0x1908082B, 0x08190808, 0x19081919, 0x08190808,
    0x19082B08, 0x08190808, 0x19190819, 0x08190808, 0x19191908, 0x08190808, 0x1919192B, 0x08190808,
    0x19192B19, 0x08190808, 0x192B0808, 0x08190808, 0x192B082B, 0x08190808, 0x192B1919, 0x08190808,
    0x192B2B08, 0x08190808, 0x2B080819, 0x08190808, 0x2B081908, 0x08190808, 0x2B08192B, 0x08190808,
    0x2B190808, 0x08190808, 0x2B191919, 0x08190808, 0x2B192B08, 0x08190808, 0x2B2B0819, 0x08190808,
    0x2B2B1908, 0x08190808, 0x08080808, 0x08190819, 0x0808082B, 0x08190819, 0x08081919, 0x08190819,
    0x08082B08, 0x08190819, 0x08082B2B, 0x08190819, 0x08190819, 0x08190819, 0x08191908, 0x08190819,
    0x0819192B, 0x08190819, 0x08192B19, 0x08190819, 0x082B0808, 0x08190819, 0x082B082B, 0x08190819,
    0x082B1919, 0x08190819, 0x082B2B08, 0x08190819, 0x19080819, 0x08190819, 0x19081908, 0x08190819,
    0x1908192B, 0x08190819, 0x19082B19, 0x08190819, 0x19190808, 0x08190819, 0x1919082B, 0x08190819,
    0x19191919, 0x08190819, 0x19192B08, 0x08190819, 0x192B0819, 0x08190819, 0x192B1908, 0x08190819,
    0x2B080808, 0x08190819, 0x2B08082B, 0x08190819, 0x2B081919, 0x08190819, 0x2B082B08, 0x08190819,
    0x2B190819, 0x08190819, 0x2B191908, 0x08190819, 0x08080819, 0x0819082B, 0x08081908, 0x0819082B,
    0x08082B19, 0x0819082B, 0x08190808, 0x0819082B, 0x08191919, 0x0819082B, 0x082B0819, 0x0819082B,
    0x082B1908, 0x0819082B, 0x19080808, 0x0819082B, 0x19081919, 0x0819082B, 0x19190819, 0x0819082B,
    0x19191908, 0x0819082B, 0x2B080819, 0x0819082B, 0x2B081908, 0x0819082B, 0x2B190808, 0x0819082B,
    0x08080808, 0x08191908, 0x0808082B, 0x08191908, 0x08081919, 0x08191908, 0x08082B08, 0x08191908,
    0x08190819, 0x08191908, 0x08191908, 0x08191908, 0x0819192B, 0x08191908, 0x08192B19, 0x08191908,
    0x082B0808, 0x08191908, 0x082B1919, 0x08191908, 0x082B2B08, 0x08191908, 0x19080819, 0x08191908,
    0x19081908, 0x08191908, 0x1908192B, 0x08191908, 0x19082B19, 0x08191908, 0x19190808, 0x08191908,
    0x1919082B, 0x08191908, 0x19191919, 0x08191908, 0x19192B08, 0x08191908, 0x192B0819, 0x08191908,
    0x192B1908, 0x08191908, 0x2B080808, 0x08191908, 0x2B08082B, 0x08191908, 0x2B081919, 0x08191908,
    0x2B082B08, 0x08191908, 0x2B190819, 0x08191908, 0x2B191908, 0x08191908, 0x2B2B0808, 0x08191908,
    0x08080819, 0x08191919, 0x08081908, 0x08191919, 0x0808192B, 0x08191919, 0x08082B19, 0x08191919,
    0x08190808, 0x08191919, 0x0819082B, 0x08191919, 0x08191919, 0x08191919, 0x08192B08, 0x08191919,
    0x082B0819, 0x08191919, 0x082B1908, 0x08191919, 0x19080808, 0x08191919, 0x1908082B, 0x08191919,
    0x19081919, 0x08191919, 0x19082B08, 0x08191919, 0x19190819, 0x08191919, 0x19191908, 0x08191919,
    0x192B0808, 0x08191919, 0x2B080819, 0x08191919, 0x2B081908, 0x08191919, 0x2B190808, 0x08191919,
    0x08080808, 0x0819192B, 0x08081919, 0x0819192B, 0x08082B08, 0x0819192B, 0x08190819, 0x0819192B,
    0x08191908, 0x0819192B, 0x082B0808, 0x0819192B, 0x19080819, 0x0819192B, 0x19081908, 0x0819192B,
    0x19190808, 0x0819192B, 0x2B080808, 0x0819192B, 0x2B2B2B2B, 0x0819192B, 0x08080819, 0x08192B08,
    0x08081908, 0x08192B08, 0x0808192B, 0x08192B08, 0x08082B19, 0x08192B08, 0x08190808, 0x08192B08,
    0x08191919, 0x08192B08, 0x08192B08, 0x08192B08, 0x082B0819, 0x08192B08, 0x19080808, 0x08192B08,
    0x1908082B, 0x08192B08, 0x19081919, 0x08192B08, 0x19082B08, 0x08192B08, 0x19190819, 0x08192B08,
    0x19191908, 0x08192B08, 0x192B0808, 0x08192B08, 0x2B080819, 0x08192B08, 0x2B081908, 0x08192B08,
    0x08080808, 0x08192B19, 0x0808082B, 0x08192B19, 0x08081919, 0x08192B19, 0x08082B08, 0x08192B19,
    0x08190819, 0x08192B19, 0x08191908, 0x08192B19, 0x082B0808, 0x08192B19, 0x19080819, 0x08192B19,
    0x19081908, 0x08192B19, 0x19190808, 0x08192B19, 0x192B2B19, 0x08192B19, 0x2B2B082B, 0x08192B19,
    0x08081908, 0x08192B2B, 0x08190808, 0x08192B2B, 0x19080808, 0x08192B2B, 0x1919192B, 0x08192B2B,
    0x08080808, 0x082B0808, 0x0808082B, 0x082B0808, 0x08081919, 0x082B0808, 0x08082B08, 0x082B0808,
    0x08190819, 0x082B0808, 0x08191908, 0x082B0808, 0x0819192B, 0x082B0808, 0x08192B19, 0x082B0808,
    0x082B0808, 0x082B0808, 0x082B1919, 0x082B0808, 0x082B2B2B, 0x082B0808, 0x19080819, 0x082B0808,
    0x19081908, 0x082B0808, 0x19190808, 0x082B0808, 0x1919082B, 0x082B0808, 0x19191919, 0x082B0808,
    0x192B1908, 0x082B0808, 0x2B080808, 0x082B0808, 0x2B082B2B, 0x082B0808, 0x2B191908, 0x082B0808,
    0x2B2B2B2B, 0x082B0808, 0x08080819, 0x082B0819, 0x08081908, 0x082B0819, 0x08190808, 0x082B0819,
    0x0819082B, 0x082B0819, 0x08191919, 0x082B0819, 0x082B0819, 0x082B0819, 0x19080808, 0x082B0819,
    0x1908082B, 0x082B0819, 0x19081919, 0x082B0819, 0x19190819, 0x082B0819, 0x19191908, 0x082B0819,
    0x192B0808, 0x082B0819, 0x2B080819, 0x082B0819, 0x2B081908, 0x082B0819, 0x2B190808, 0x082B0819,
    0x08080808, 0x082B082B, 0x08082B2B, 0x082B082B, 0x082B082B, 0x082B082B, 0x082B2B08, 0x082B082B,
    0x082B2B2B, 0x082B082B, 0x19081908, 0x082B082B, 0x19190808, 0x082B082B, 0x2B082B08, 0x082B082B,
    0x2B082B2B, 0x082B082B, 0x2B2B2B08, 0x082B082B, 0x08080819, 0x082B1908, 0x08081908, 0x082B1908,
    0x0808192B, 0x082B1908, 0x08082B19, 0x082B1908, 0x08190808, 0x082B1908, 0x08191919, 0x082B1908,
    0x08192B08, 0x082B1908, 0x082B0819, 0x082B1908, 0x082B1908, 0x082B1908, 0x19080808, 0x082B1908,
    0x1908082B, 0x082B1908, 0x19081919, 0x082B1908, 0x19082B08, 0x082B1908, 0x19190819, 0x082B1908,
    0x19191908, 0x082B1908, 0x192B0808, 0x082B1908, 0x2B080819, 0x082B1908, 0x2B081908, 0x082B1908,
    0x2B190808, 0x082B1908, 0x08080808, 0x082B1919, 0x08081919, 0x082B1919, 0x08082B08, 0x082B1919,
    0x08190819, 0x082B1919, 0x08191908, 0x082B1919, 0x082B0808, 0x082B1919, 0x19080819, 0x082B1919,
    0x19081908, 0x082B1919, 0x19190808, 0x082B1919, 0x192B192B, 0x082B1919, 0x2B080808, 0x082B1919,
    0x08080819, 0x082B192B, 0x08081908, 0x082B192B, 0x08190808, 0x082B192B, 0x19080808, 0x082B192B,
    0x19192B19, 0x082B192B, 0x08080808, 0x082B2B08, 0x08081919, 0x082B2B08, 0x08190819, 0x082B2B08,
    0x08191908, 0x082B2B08, 0x19080819, 0x082B2B08, 0x19081908, 0x082B2B08, 0x19190808, 0x082B2B08,
    0x2B082B2B, 0x082B2B08, 0x2B2B2B2B, 0x082B2B08, 0x08080819, 0x082B2B19, 0x08081908, 0x082B2B19,
    0x08190808, 0x082B2B19, 0x2B191919, 0x082B2B19, 0x08082B2B, 0x082B2B2B, 0x082B082B, 0x082B2B2B,
    0x192B1908, 0x082B2B2B, 0x2B082B08, 0x082B2B2B, 0x2B082B2B, 0x082B2B2B, 0x08080819, 0x19080808,
    0x08081908, 0x19080808, 0x0808192B, 0x19080808, 0x08082B19, 0x19080808, 0x08190808, 0x19080808,
    0x0819082B, 0x19080808, 0x08191919, 0x19080808, 0x08192B08, 0x19080808, 0x08192B2B, 0x19080808,
    0x082B0819, 0x19080808, 0x082B1908, 0x19080808, 0x082B192B, 0x19080808, 0x19080808, 0x19080808,
    0x1908082B, 0x19080808, 0x19081919, 0x19080808, 0x19082B08, 0x19080808, 0x19082B2B, 0x19080808,
    0x19190819, 0x19080808, 0x19191908, 0x19080808, 0x1919192B, 0x19080808, 0x19192B19, 0x19080808,
    0x192B0808, 0x19080808, 0x192B082B, 0x19080808, 0x192B1919, 0x19080808, 0x2B080819, 0x19080808,
    0x2B081908, 0x19080808, 0x2B190808, 0x19080808, 0x2B191919, 0x19080808, 0x2B192B08, 0x19080808,
    0x2B2B0819, 0x19080808, 0x2B2B1908, 0x19080808, 0x08080808, 0x19080819, 0x0808082B, 0x19080819,
    0x08081919, 0x19080819, 0x08082B08, 0x19080819, 0x08190819, 0x19080819, 0x08191908, 0x19080819,
    0x0819192B, 0x19080819, 0x08192B19, 0x19080819, 0x082B0808, 0x19080819, 0x082B082B, 0x19080819,
    0x082B1919, 0x19080819, 0x19080819, 0x19080819, 0x19081908, 0x19080819, 0x1908192B, 0x19080819,
    0x19082B19, 0x19080819, 0x19190808, 0x19080819, 0x1919082B, 0x19080819, 0x19191919, 0x19080819,
    0x19192B08, 0x19080819, 0x192B0819, 0x19080819, 0x192B1908, 0x19080819, 0x2B080808, 0x19080819,
    0x2B08082B, 0x19080819, 0x2B081919, 0x19080819, 0x2B082B08, 0x19080819, 0x2B190819, 0x19080819,
    0x2B191908, 0x19080819, 0x2B2B0808, 0x19080819, 0x08080819, 0x1908082B, 0x08081908, 0x1908082B,
    0x08190808, 0x1908082B, 0x0819082B, 0x1908082B, 0x08191919, 0x1908082B, 0x08192B08, 0x1908082B,
    0x082B1908, 0x1908082B, 0x19080808, 0x1908082B, 0x19081919, 0x1908082B, 0x19082B08, 0x1908082B,
    0x19190819, 0x1908082B, 0x19191908, 0x1908082B, 0x192B0808, 0x1908082B, 0x2B080819, 0x1908082B,
    0x2B081908, 0x1908082B, 0x08080808, 0x19081908, 0x0808082B, 0x19081908, 0x08081919, 0x19081908,
    0x08082B08, 0x19081908, 0x08082B2B, 0x19081908, 0x08190819, 0x19081908, 0x08191908, 0x19081908,
    0x0819192B, 0x19081908, 0x08192B19, 0x19081908, 0x082B0808, 0x19081908, 0x082B082B, 0x19081908,
    0x082B1919, 0x19081908, 0x082B2B08, 0x19081908, 0x19080819, 0x19081908, 0x19081908, 0x19081908,
    0x1908192B, 0x19081908, 0x19082B19, 0x19081908, 0x19190808, 0x19081908, 0x1919082B, 0x19081908,
    0x19191919, 0x19081908, 0x19192B08, 0x19081908, 0x192B0819, 0x19081908, 0x192B1908, 0x19081908,
    0x2B080808, 0x19081908, 0x2B08082B, 0x19081908, 0x2B081919, 0x19081908, 0x2B082B08, 0x19081908,
    0x2B190819, 0x19081908, 0x2B191908, 0x19081908, 0x2B2B0808, 0x19081908, 0x08080819, 0x19081919,
    0x08081908, 0x19081919, 0x0808192B, 0x19081919, 0x08082B19, 0x19081919, 0x08190808, 0x19081919,
    0x0819082B, 0x19081919, 0x08191919, 0x19081919, 0x08192B08, 0x19081919, 0x082B0819, 0x19081919,
    0x082B1908, 0x19081919, 0x19080808, 0x19081919, 0x1908082B, 0x19081919, 0x19081919, 0x19081919,
    0x19082B08, 0x19081919, 0x19190819, 0x19081919, 0x19191908, 0x19081919, 0x192B0808, 0x19081919,
    0x192B2B2B, 0x19081919, 0x2B080819, 0x19081919, 0x2B081908, 0x19081919, 0x2B190808, 0x19081919,
    0x08080808, 0x1908192B, 0x0808082B, 0x1908192B, 0x08081919, 0x1908192B, 0x08082B08, 0x1908192B,
    0x08190819, 0x1908192B, 0x08191908, 0x1908192B, 0x082B0808, 0x1908192B, 0x19080819, 0x1908192B,
    0x19081908, 0x1908192B, 0x19190808, 0x1908192B, 0x2B080808, 0x1908192B, 0x2B2B1919, 0x1908192B,
    0x08080819, 0x19082B08, 0x08081908, 0x19082B08, 0x08082B19, 0x19082B08, 0x08190808, 0x19082B08,
    0x0819082B, 0x19082B08, 0x08191919, 0x19082B08, 0x08192B08, 0x19082B08, 0x082B0819, 0x19082B08,
    0x082B1908, 0x19082B08, 0x19080808, 0x19082B08, 0x1908082B, 0x19082B08, 0x19081919, 0x19082B08,
    0x19082B08, 0x19082B08, 0x19190819, 0x19082B08, 0x19191908, 0x19082B08, 0x192B0808, 0x19082B08,
    0x2B081908, 0x19082B08, 0x2B190808, 0x19082B08, 0x08080808, 0x19082B19, 0x0808082B, 0x19082B19,
    0x08081919, 0x19082B19, 0x08082B08, 0x19082B19, 0x08190819, 0x19082B19, 0x08191908, 0x19082B19,
    0x082B0808, 0x19082B19, 0x19080819, 0x19082B19, 0x19081908, 0x19082B19, 0x19190808, 0x19082B19,
    0x2B080808, 0x19082B19, 0x2B19192B, 0x19082B19, 0x08080819, 0x19082B2B, 0x08081908, 0x19082B2B,
    0x08190808, 0x19082B2B, 0x19080808, 0x19082B2B, 0x08080808, 0x19190808, 0x0808082B, 0x19190808,
    0x08081919, 0x19190808, 0x08082B08, 0x19190808, 0x08190819, 0x19190808, 0x08191908, 0x19190808,
    0x0819192B, 0x19190808, 0x08192B19, 0x19190808, 0x082B0808, 0x19190808, 0x082B082B, 0x19190808,
    0x082B1919, 0x19190808, 0x082B2B08, 0x19190808, 0x19080819, 0x19190808, 0x19081908, 0x19190808,
    0x1908192B, 0x19190808, 0x19082B19, 0x19190808, 0x19190808, 0x19190808, 0x1919082B, 0x19190808,
    0x19191919, 0x19190808, 0x19192B08, 0x19190808, 0x192B0819, 0x19190808, 0x192B1908, 0x19190808,
    0x2B080808, 0x19190808, 0x2B08082B, 0x19190808, 0x2B081919, 0x19190808, 0x2B082B08, 0x19190808,
    0x2B190819, 0x19190808, 0x2B191908, 0x19190808, 0x08080819, 0x19190819, 0x08081908, 0x19190819,
    0x0808192B, 0x19190819, 0x08082B19, 0x19190819, 0x08190808, 0x19190819, 0x0819082B, 0x19190819,
    0x08191919, 0x19190819, 0x08192B08, 0x19190819, 0x082B0819, 0x19190819, 0x082B1908, 0x19190819,
    0x19080808, 0x19190819, 0x1908082B, 0x19190819, 0x19081919, 0x19190819, 0x19082B08, 0x19190819,
    0x19190819, 0x19190819, 0x19191908, 0x19190819, 0x192B0808, 0x19190819, 0x2B080819, 0x19190819,
    0x2B081908, 0x19190819, 0x2B190808, 0x19190819, 0x08080808, 0x1919082B, 0x08081919, 0x1919082B,
    0x08082B08, 0x1919082B, 0x08190819, 0x1919082B, 0x08191908, 0x1919082B, 0x082B0808, 0x1919082B,
    0x19080819, 0x1919082B, 0x19081908, 0x1919082B, 0x19190808, 0x1919082B, 0x192B2B19, 0x1919082B,
    0x2B080808, 0x1919082B, 0x08080819, 0x19191908, 0x08081908, 0x19191908, 0x0808192B, 0x19191908,
    0x08082B19, 0x19191908, 0x08190808, 0x19191908, 0x0819082B, 0x19191908, 0x08191919, 0x19191908,
    0x08192B08, 0x19191908, 0x082B0819, 0x19191908, 0x082B1908, 0x19191908, 0x19080808, 0x19191908,
    0x1908082B, 0x19191908, 0x19081919, 0x19191908, 0x19082B08, 0x19191908, 0x19190819, 0x19191908,
    0x19191908, 0x19191908, 0x192B0808, 0x19191908, 0x2B080819, 0x19191908, 0x2B081908, 0x19191908,
    0x2B190808, 0x19191908, 0x08080808, 0x19191919, 0x0808082B, 0x19191919, 0x08081919, 0x19191919,
    0x08082B08, 0x19191919, 0x08190819, 0x19191919, 0x08191908, 0x19191919, 0x082B0808, 0x19191919,
    0x19080819, 0x19191919, 0x19081908, 0x19191919, 0x19190808, 0x19191919, 0x2B080808, 0x19191919,
    0x08080819, 0x1919192B, 0x08081908, 0x1919192B, 0x08190808, 0x1919192B, 0x082B192B, 0x1919192B,
    0x19080808, 0x1919192B, 0x08080808, 0x19192B08, 0x0808082B, 0x19192B08, 0x08081919, 0x19192B08,
    0x08082B08, 0x19192B08, 0x08190819, 0x19192B08, 0x08191908, 0x19192B08, 0x082B0808, 0x19192B08,
    0x19080819, 0x19192B08, 0x19081908, 0x19192B08, 0x19190808, 0x19192B08, 0x19192B2B, 0x19192B08,
    0x2B080808, 0x19192B08, 0x08080819, 0x19192B19, 0x08081908, 0x19192B19, 0x08190808, 0x19192B19,
    0x19080808, 0x19192B19, 0x08080808, 0x19192B2B, 0x08192B19, 0x19192B2B, 0x2B081919, 0x19192B2B,
    0x2B2B2B08, 0x19192B2B, 0x08080819, 0x192B0808, 0x08081908, 0x192B0808, 0x0808192B, 0x192B0808,
    0x08190808, 0x192B0808, 0x0819082B, 0x192B0808, 0x08191919, 0x192B0808, 0x08192B08, 0x192B0808,
    0x082B0819, 0x192B0808, 0x082B1908, 0x192B0808, 0x19080808, 0x192B0808, 0x19081919, 0x192B0808,
    0x19082B08, 0x192B0808, 0x19190819, 0x192B0808, 0x19191908, 0x192B0808, 0x192B0808, 0x192B0808,
    0x2B081908, 0x192B0808, 0x2B190808, 0x192B0808, 0x08080808, 0x192B0819, 0x0808082B, 0x192B0819,
    0x08081919, 0x192B0819, 0x08082B08, 0x192B0819, 0x08190819, 0x192B0819, 0x08191908, 0x192B0819,
    0x082B0808, 0x192B0819, 0x19080819, 0x192B0819, 0x19081908, 0x192B0819, 0x19190808, 0x192B0819,
    0x2B080808, 0x192B0819, 0x2B192B19, 0x192B0819, 0x08081908, 0x192B082B, 0x08190808, 0x192B082B,
    0x19080808, 0x192B082B, 0x1919192B, 0x192B082B, 0x2B2B0819, 0x192B082B, 0x08080808, 0x192B1908,
    0x08081919, 0x192B1908, 0x08082B08, 0x192B1908, 0x08190819, 0x192B1908, 0x08191908, 0x192B1908,
    0x082B0808, 0x192B1908, 0x19080819, 0x192B1908, 0x19081908, 0x192B1908, 0x19190808, 0x192B1908,
    0x2B080808, 0x192B1908, 0x08080819, 0x192B1919, 0x08081908, 0x192B1919, 0x08190808, 0x192B1919,
    0x19080808, 0x192B1919, 0x19082B2B, 0x192B1919, 0x192B2B08, 0x192B1919, 0x2B19082B, 0x192B1919,
    0x08080808, 0x192B192B, 0x2B191908, 0x192B192B, 0x08080819, 0x192B2B08, 0x08081908, 0x192B2B08,
    0x08190808, 0x192B2B08, 0x192B1919, 0x192B2B08, 0x2B192B08, 0x192B2B08, 0x08080808, 0x192B2B19,
    0x082B2B2B, 0x192B2B19, 0x1908082B, 0x192B2B2B, 0x2B2B0819, 0x192B2B2B, 0x08080808, 0x2B080808,
    0x0808082B, 0x2B080808, 0x08081919, 0x2B080808, 0x08082B08, 0x2B080808, 0x08190819, 0x2B080808,
    0x08191908, 0x2B080808, 0x08192B19, 0x2B080808, 0x082B0808, 0x2B080808, 0x082B1919, 0x2B080808,
    0x19080819, 0x2B080808, 0x19081908, 0x2B080808, 0x19190808, 0x2B080808, 0x1919082B, 0x2B080808,
    0x19191919, 0x2B080808, 0x19192B08, 0x2B080808, 0x192B0819, 0x2B080808, 0x2B080808, 0x2B080808,
    0x2B081919, 0x2B080808, 0x2B190819, 0x2B080808, 0x2B191908, 0x2B080808, 0x08080819, 0x2B080819,
    0x08081908, 0x2B080819, 0x08082B19, 0x2B080819, 0x08190808, 0x2B080819, 0x0819082B, 0x2B080819,
    0x08191919, 0x2B080819, 0x08192B08, 0x2B080819, 0x082B0819, 0x2B080819, 0x082B1908, 0x2B080819,
    0x19080808, 0x2B080819, 0x1908082B, 0x2B080819, 0x19081919, 0x2B080819, 0x19082B08, 0x2B080819,
    0x19190819, 0x2B080819, 0x19191908, 0x2B080819, 0x2B080819, 0x2B080819, 0x2B081908, 0x2B080819,
    0x2B190808, 0x2B080819, 0x2B2B2B19, 0x2B080819, 0x08080808, 0x2B08082B, 0x08081919, 0x2B08082B,
    0x08082B2B, 0x2B08082B, 0x08190819, 0x2B08082B, 0x08191908, 0x2B08082B, 0x19080819, 0x2B08082B,
    0x19081908, 0x2B08082B, 0x19190808, 0x2B08082B, 0x08080819, 0x2B081908, 0x08081908, 0x2B081908,
    0x0808192B, 0x2B081908, 0x08082B19, 0x2B081908, 0x08190808, 0x2B081908, 0x0819082B, 0x2B081908,
    0x08191919, 0x2B081908, 0x08192B08, 0x2B081908, 0x082B0819, 0x2B081908, 0x19080808, 0x2B081908,
    0x1908082B, 0x2B081908, 0x19081919, 0x2B081908, 0x19082B08, 0x2B081908, 0x19190819, 0x2B081908,
    0x19191908, 0x2B081908, 0x192B0808, 0x2B081908, 0x2B080819, 0x2B081908, 0x2B081908, 0x2B081908,
    0x2B190808, 0x2B081908, 0x08080808, 0x2B081919, 0x0808082B, 0x2B081919, 0x08081919, 0x2B081919,
    0x08082B08, 0x2B081919, 0x08190819, 0x2B081919, 0x08191908, 0x2B081919, 0x082B0808, 0x2B081919,
    0x19080819, 0x2B081919, 0x19081908, 0x2B081919, 0x19190808, 0x2B081919, 0x2B080808, 0x2B081919,
    0x2B082B2B, 0x2B081919, 0x08080819, 0x2B08192B, 0x08081908, 0x2B08192B, 0x08190808, 0x2B08192B,
    0x082B2B19, 0x2B08192B, 0x19080808, 0x2B08192B, 0x08080808, 0x2B082B08, 0x08081919, 0x2B082B08,
    0x08190819, 0x2B082B08, 0x08191908, 0x2B082B08, 0x19080819, 0x2B082B08, 0x19081908, 0x2B082B08,
    0x19190808, 0x2B082B08, 0x2B2B082B, 0x2B082B08, 0x08080819, 0x2B082B19, 0x08081908, 0x2B082B19,
    0x19080808, 0x2B082B19, 0x192B1919, 0x2B082B19, 0x082B082B, 0x2B082B2B, 0x19192B08, 0x2B082B2B,
    0x19192B2B, 0x2B082B2B, 0x2B08082B, 0x2B082B2B, 0x2B2B082B, 0x2B082B2B, 0x08080819, 0x2B190808,
    0x08081908, 0x2B190808, 0x08082B19, 0x2B190808, 0x08190808, 0x2B190808, 0x0819082B, 0x2B190808,
    0x08191919, 0x2B190808, 0x08192B08, 0x2B190808, 0x082B1908, 0x2B190808, 0x19080808, 0x2B190808,
    0x1908082B, 0x2B190808, 0x19081919, 0x2B190808, 0x19082B08, 0x2B190808, 0x19190819, 0x2B190808,
    0x19191908, 0x2B190808, 0x192B0808, 0x2B190808, 0x2B080819, 0x2B190808, 0x2B081908, 0x2B190808,
    0x2B190808, 0x2B190808, 0x08080808, 0x2B190819, 0x08081919, 0x2B190819, 0x08190819, 0x2B190819,
    0x08191908, 0x2B190819, 0x19080819, 0x2B190819, 0x19081908, 0x2B190819, 0x19190808, 0x2B190819,
    0x19192B2B, 0x2B190819, 0x08080819, 0x2B19082B, 0x08081908, 0x2B19082B, 0x08190808, 0x2B19082B,
    0x19080808, 0x2B19082B, 0x2B2B192B, 0x2B19082B, 0x08080808, 0x2B191908, 0x0808082B, 0x2B191908,
    0x08081919, 0x2B191908, 0x08082B08, 0x2B191908, 0x08190819, 0x2B191908, 0x08191908, 0x2B191908,
    0x082B0808, 0x2B191908, 0x19080819, 0x2B191908, 0x19081908, 0x2B191908, 0x19190808, 0x2B191908,
    0x2B080808, 0x2B191908, 0x2B19192B, 0x2B191908, 0x08080819, 0x2B191919, 0x08081908, 0x2B191919,
    0x08190808, 0x2B191919, 0x19080808, 0x2B191919, 0x2B192B08, 0x2B191919, 0x2B2B0819, 0x2B191919,
    0x08080808, 0x2B19192B, 0x1908192B, 0x2B19192B, 0x192B1908, 0x2B19192B, 0x08080819, 0x2B192B08,
    0x08081908, 0x2B192B08, 0x08190808, 0x2B192B08, 0x082B192B, 0x2B192B08, 0x19080808, 0x2B192B08,
    0x2B2B2B19, 0x2B192B08, 0x08080808, 0x2B192B19, 0x19082B19, 0x2B192B19, 0x1919082B, 0x2B192B19,
    0x2B190808, 0x2B192B2B, 0x08080808, 0x2B2B0808, 0x08081919, 0x2B2B0808, 0x08082B2B, 0x2B2B0808,
    0x08191908, 0x2B2B0808, 0x082B082B, 0x2B2B0808, 0x082B2B2B, 0x2B2B0808, 0x19080819, 0x2B2B0808,
    0x19081908, 0x2B2B0808, 0x19190808, 0x2B2B0808, 0x2B2B082B, 0x2B2B0808, 0x2B2B2B2B, 0x2B2B0808,
    0x19080808, 0x2B2B0819, 0x192B1919, 0x2B2B0819, 0x0808082B, 0x2B2B082B, 0x08082B2B, 0x2B2B082B,
    0x082B082B, 0x2B2B082B, 0x082B2B08, 0x2B2B082B, 0x082B2B2B, 0x2B2B082B, 0x2B08082B, 0x2B2B082B,
    0x2B082B08, 0x2B2B082B, 0x2B082B2B, 0x2B2B082B, 0x2B2B2B08, 0x2B2B082B, 0x08080819, 0x2B2B1908,
    0x08081908, 0x2B2B1908, 0x08190808, 0x2B2B1908, 0x19080808, 0x2B2B1908, 0x2B082B19, 0x2B2B1908,
    0x2B2B1908, 0x2B2B1908, 0x08080808, 0x2B2B1919, 0x08192B19, 0x2B2B1919, 0x19190819, 0x2B2B192B,
    0x08082B2B, 0x2B2B2B08, 0x082B2B08, 0x2B2B2B08, 0x2B2B082B, 0x2B2B2B08, 0x19191908, 0x2B2B2B19,
    0x2B08192B, 0x2B2B2B19, 0x08082B08, 0x2B2B2B2B, 0x08082B2B, 0x2B2B2B2B, 0x082B0808, 0x2B2B2B2B,
    0x082B082B, 0x2B2B2B2B, 0x082B2B08, 0x2B2B2B2B, 0x2B082B08, 0x2B2B2B2B, 0x2B2B2B2B, 0x2B2B2B2B
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
    const uint base = block * 41u;
    const float d = f16_to_f32(uint(blocks[base]));
    const uint scales = uint(blocks[base + tile / 2u / 4u + 37u]);
    const uint sc = (scales >> (tile / 2u % 4u * 4u)) & 15u;  // scales: 4 bits
    const float d_sc0 = d * (0.5f + float(sc));
    const float d_sc1 = d_sc0 * 0.25f;
    const uint qs = uint(blocks[base + tile / 2u + 1u]);
    const uint g_lo = (qs >> (tile % 2u * 8u)) & 0xFFu;  // qs: bits 0-7 of g
    const uint qh = uint(blocks[base + tile / 8u + 33u]);
    const uint g_hi = (qh >> (tile % 8u * 2u)) & 3u;  // qh: bits 8-9 of g
    const uint g = g_lo | (g_hi << 8u);
    const uint G_row0 = G[g * 2u];
    const uint signs = uint(blocks[base + tile / 2u + 17u]);
    const uint s = (signs >> (tile % 2u * 8u)) & 0xFFu;  // signs: 8 bits
    v[0] = d_sc1 * float4((uint4(G_row0) >> uint4(0, 8, 16, 24)) & 0xFFu)
        * float4(select(int4(1), int4(-1), ((int4(int(s)) >> int4(0, 1, 2, 3)) & 1) != int4(0)));

    // elements 4 to 7, counted from the tile's first
    const uint G_row1 = G[g * 2u + 1u];
    v[1] = d_sc1 * float4((uint4(G_row1) >> uint4(0, 8, 16, 24)) & 0xFFu)
        * float4(select(int4(1), int4(-1), ((int4(int(s)) >> int4(4, 5, 6, 7)) & 1) != int4(0)));
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
    uint row_tiles;  // tiles of 16 elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
    uint epilogue;   // what is done with results
};

// Where results go, and what they pass through on their way.
struct results {
    device float *y;
    device const float *scale, *bias, *gate, *residual;
    uint epilogue;
};

// Bits of the epilogue: what is done with results, and what has a scale of its own; else all of a tensor have one.
constant constexpr uint ADDS_TO_Y = 1, ADDS_BIAS = 2, SCALES = 4, GATES = 8, ADDS_RESIDUAL = 16, SCALES_ROWS = 256, SCALES_VECTORS = 512;

// Where a result stands: in y, among the rows of all tensors, in its vector and its tensor.
struct place_of_result {
    uint at, row, vector, tensor;
};

inline float silu(float v)
{
    return v / (1.0f + precise::exp(-v));
}

// A result is done; or, where sums come in parts, one of them is, which may be the first or the last.
inline void finish(results to, place_of_result r, float sum, bool first = true, bool last = true)
{
    if ((to.epilogue & SCALES) != 0)
        sum *= to.scale[(to.epilogue & SCALES_ROWS) != 0 ? r.row : (to.epilogue & SCALES_VECTORS) != 0 ? r.vector : r.tensor];
    if (first && (to.epilogue & ADDS_BIAS) != 0) sum += to.bias[r.row];
    if (!first || (to.epilogue & ADDS_TO_Y) != 0) sum += to.y[r.at];
    if (last && (to.epilogue & GATES) != 0) sum *= silu(to.gate[r.at]);
    if (last && (to.epilogue & ADDS_RESIDUAL) != 0) sum += to.residual[r.at];
    to.y[r.at] = sum;
}

// The same of row `n` of right-hand side `m`.
inline void finish(results to, constant sum_shape &shape, uint m, uint n, float sum, bool first = true, bool last = true)
{
    const place_of_result r = {m * shape.y_rows + shape.y_first + n, shape.y_first % shape.y_rows + n, m + shape.y_first / shape.y_rows, 0};
    finish(to, r, sum, first, last);
}

// Where a thread stands.
struct standing {
    uint group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups;
};

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
template <uint TILES, uint BATCH, typename X>
inline void load_x(device const X *x_in, uint batch, uint row_tiles, uint vector, uint j, uint k,
    thread float4 (&x)[TILES][BATCH][4], thread float (&x_sum)[TILES][BATCH][1])
{
    const uint tile = j % 16u;
    const uint place = j / 16u * 64u + tile * 4u;
    for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_tiles * 4u + place;
        const float4 x0 = float4(x_in[from]);
        const float4 x1 = float4(x_in[from + 1u]);
        const float4 x2 = float4(x_in[from + 2u]);
        const float4 x3 = float4(x_in[from + 3u]);
        x[k][m][0] = x0 * 16777216.0f;
        x[k][m][1] = x1 * 16777216.0f;
        x[k][m][2] = x2 * 16777216.0f;
        x[k][m][3] = x3 * 16777216.0f;
        x_sum[k][m][0] = dot(x0 + x1 + x2 + x3, float4(1.0f));
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
template <uint TILES, uint BATCH>
inline void accumulate(
    device const ushort *blocks,
    uint row_tiles, uint n, uint j, uint k,
    thread const float4 (&x)[TILES][BATCH][4], thread const float (&x_sum)[TILES][BATCH][1],
    thread float (&sum)[BATCH])
{
    #pragma clang fp contract(fast)
    const uint block = n * (row_tiles / 16u) + j / 16u;
    const uint tile = j % 16u;
    const uint base = block * 41u;
    const float d = f16_to_f32(uint(blocks[base]));
    const uint scales = uint(blocks[base + tile / 4u + 37u]);
    const uint sc = (scales >> (tile % 4u * 4u)) & 15u;  // scales: 4 bits
    const float d_sc0 = d * (0.5f + float(sc));
    const float d_sc1 = d_sc0 * 0.25f;
    const uint qs = uint(blocks[base + tile + 1u]);
    const uint g_lo0 = qs & 0xFFu;  // qs: bits 0-7 of g
    const uint qh = uint(blocks[base + tile / 4u + 33u]);
    const uint g_hi0 = (qh >> (tile % 4u * 4u)) & 3u;  // qh: bits 8-9 of g
    const uint g0 = g_lo0 | (g_hi0 << 8u);
    const uint G_row0 = G[g0 * 2u];
    const uint signs = uint(blocks[base + tile + 17u]);
    const uint s0 = signs & 0xFFu;  // signs: 8 bits
    const uint negative0 = ((s0 & 15u) * 0x204081u) & 0x1010101u;
    const uint bytes0 = (G_row0 ^ ((negative0 << 8u) - negative0)) + negative0;
    const uint biased0 = (bytes0 ^ 0x80808080u) - 0x55555555u;  // from zero on
    const float2 pair0 = float2(as_type<half2>(biased0 & 0x7F007Fu));
    const float2 pair1 = float2(as_type<half2>((biased0 >> 8u) & 0x7F007Fu));
    const uint G_row1 = G[g0 * 2u + 1u];
    const uint negative1 = ((s0 >> 4u) * 0x204081u) & 0x1010101u;
    const uint bytes1 = (G_row1 ^ ((negative1 << 8u) - negative1)) + negative1;
    const uint biased1 = (bytes1 ^ 0x80808080u) - 0x55555555u;  // from zero on
    const float2 pair2 = float2(as_type<half2>(biased1 & 0x7F007Fu));
    const float2 pair3 = float2(as_type<half2>((biased1 >> 8u) & 0x7F007Fu));
    const uint g_lo1 = qs >> 8u;  // qs: bits 0-7 of g
    const uint g_hi1 = (qh >> (tile % 4u * 4u + 2u)) & 3u;  // qh: bits 8-9 of g
    const uint g1 = g_lo1 | (g_hi1 << 8u);
    const uint G_row2 = G[g1 * 2u];
    const uint s1 = signs >> 8u;  // signs: 8 bits
    const uint negative2 = ((s1 & 15u) * 0x204081u) & 0x1010101u;
    const uint bytes2 = (G_row2 ^ ((negative2 << 8u) - negative2)) + negative2;
    const uint biased2 = (bytes2 ^ 0x80808080u) - 0x55555555u;  // from zero on
    const float2 pair4 = float2(as_type<half2>(biased2 & 0x7F007Fu));
    const float2 pair5 = float2(as_type<half2>((biased2 >> 8u) & 0x7F007Fu));
    const uint G_row3 = G[g1 * 2u + 1u];
    const uint negative3 = ((s1 >> 4u) * 0x204081u) & 0x1010101u;
    const uint bytes3 = (G_row3 ^ ((negative3 << 8u) - negative3)) + negative3;
    const uint biased3 = (bytes3 ^ 0x80808080u) - 0x55555555u;  // from zero on
    const float2 pair6 = float2(as_type<half2>(biased3 & 0x7F007Fu));
    const float2 pair7 = float2(as_type<half2>((biased3 >> 8u) & 0x7F007Fu));
    for (uint m = 0; m < BATCH; ++m) {
        sum[m] += d_sc1 * (dot(x[k][m][0], float4(pair0.x, pair1.x, pair0.y, pair1.y))
            + dot(x[k][m][1], float4(pair2.x, pair3.x, pair2.y, pair3.y)) + dot(x[k][m][2], float4(pair4.x, pair5.x, pair4.y, pair5.y))
            + dot(x[k][m][3], float4(pair6.x, pair7.x, pair6.y, pair7.y)) - 43.0f * x_sum[k][m][0]);
    }
}

// Sums over rows. BATCH right-hand sides are kept, at least as many as there are; ROWS rows at a time.
template <uint BATCH, uint ROWS, typename X>
inline void sum_rows(
    device const ushort *blocks,
    device const X *x_in, results to, constant sum_shape &shape, threadgroup float *partial, standing at)
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
                else if (row < shape.rows && m < shape.batch) finish(to, shape, m, row, all);
            }
        }
        if (split == 1) continue;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = at.thread_index; i < teams * ROWS * BATCH; i += at.threads) {
            const uint row = first + i / BATCH, m = i % BATCH, from = i / (ROWS * BATCH) * (split - 1) * ROWS * BATCH + i;
            float total = 0.0f;
            for (uint s = 0; s < split; ++s) total += partial[from + s * ROWS * BATCH];
            if (row < shape.rows && m < shape.batch) finish(to, shape, m, row, total);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

}  // namespace qk_iq2_s

// iq2_s_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
struct iq2_s_dequant_f32_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void iq2_s_dequant_f32(
    device const ushort *blocks [[buffer(0)]],
    device float4 *dst [[buffer(1)]],
    constant iq2_s_dequant_f32_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_iq2_s::decode(blocks, i / 32u, i % 32u, v);
        qk_iq2_s::write_tile(dst, i / 32u, i % 32u, v);
    }
}

// iq2_s_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16.
struct iq2_s_dequant_f16_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void iq2_s_dequant_f16(
    device const ushort *blocks [[buffer(0)]],
    device half4 *dst [[buffer(1)]],
    constant iq2_s_dequant_f16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_iq2_s::decode(blocks, i / 32u, i % 32u, v);
        qk_iq2_s::write_tile(dst, i / 32u, i % 32u, v);
    }
}

// iq2_s_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
struct iq2_s_dequant_bf16_push {
    uint tiles;  // of 8 elements, to decode
};

kernel void iq2_s_dequant_bf16(
    device const ushort *blocks [[buffer(0)]],
    device ushort4 *dst [[buffer(1)]],
    constant iq2_s_dequant_bf16_push &push [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tiles; i += threads) {
        float4 v[2];
        qk_iq2_s::decode(blocks, i / 32u, i % 32u, v);
        qk_iq2_s::write_tile(dst, i / 32u, i % 32u, v);
    }
}

// iq2_s_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
struct iq2_s_gather_f32_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void iq2_s_gather_f32(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device float4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant iq2_s_gather_f32_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_iq2_s::decode(blocks, from / 32u, i % 32u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_iq2_s::write_tile(dst, i / 32u, i % 32u, v);
    }
}

// iq2_s_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
struct iq2_s_gather_f16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void iq2_s_gather_f16(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device half4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant iq2_s_gather_f16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_iq2_s::decode(blocks, from / 32u, i % 32u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_iq2_s::write_tile(dst, i / 32u, i % 32u, v);
    }
}

// iq2_s_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
struct iq2_s_gather_bf16_push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
    uint tokens;
};

kernel void iq2_s_gather_bf16(
    device const ushort *blocks [[buffer(0)]],
    device const uint *indices [[buffer(1)]],
    device ushort4 *dst [[buffer(2)]],
    device atomic_uint *status [[buffer(3)]],
    constant iq2_s_gather_bf16_push &push [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    for (uint i = thread_index; i < push.tokens * push.row_tiles; i += threads) {
        const uint row = indices[i / push.row_tiles];
        float4 v[2];
        if (row >= push.row_first && row < push.row_end) {
            const uint from = (row - push.row_first) * push.row_tiles + i % push.row_tiles;
            qk_iq2_s::decode(blocks, from / 32u, i % 32u, v);
        } else if (row >= push.rows && push.row_first == 0) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0; r < 2; ++r) v[r] = 0.0f;
            if (i % push.row_tiles == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
        } else {
            continue;  // a row of another launch
        }
        qk_iq2_s::write_tile(dst, i / 32u, i % 32u, v);
    }
}

// iq2_s_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
constant uint iq2_s_gemv_f32_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides

kernel void iq2_s_gemv_f32(
    device const ushort *blocks [[buffer(0)]],
    device const float4 *x [[buffer(1)]],
    device float *y [[buffer(2)]],
    device const float *result_scale [[buffer(3)]],
    device const float *row_bias [[buffer(4)]],
    device const float *result_gate [[buffer(5)]],
    device const float *residual [[buffer(6)]],
    constant qk_iq2_s::sum_shape &push [[buffer(7)]],
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
    const qk_iq2_s::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue};
    const qk_iq2_s::standing at = {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups};
    switch (iq2_s_gemv_f32_batch) {
        case 1: qk_iq2_s::sum_rows<1, 4>(blocks, x, to, push, partial, at); break;
        case 2: qk_iq2_s::sum_rows<2, 4>(blocks, x, to, push, partial, at); break;
        case 4: qk_iq2_s::sum_rows<4, 4>(blocks, x, to, push, partial, at); break;
        case 8: qk_iq2_s::sum_rows<8, 2>(blocks, x, to, push, partial, at); break;
    }
}

// iq2_s_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
constant uint iq2_s_gemv_f16_batch [[function_constant(1)]];  // 1, 2, 4 or 8, at least as many as there are right-hand sides

kernel void iq2_s_gemv_f16(
    device const ushort *blocks [[buffer(0)]],
    device const half4 *x [[buffer(1)]],
    device float *y [[buffer(2)]],
    device const float *result_scale [[buffer(3)]],
    device const float *row_bias [[buffer(4)]],
    device const float *result_gate [[buffer(5)]],
    device const float *residual [[buffer(6)]],
    constant qk_iq2_s::sum_shape &push [[buffer(7)]],
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
    const qk_iq2_s::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue};
    const qk_iq2_s::standing at = {group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups};
    switch (iq2_s_gemv_f16_batch) {
        case 1: qk_iq2_s::sum_rows<1, 4>(blocks, x, to, push, partial, at); break;
        case 2: qk_iq2_s::sum_rows<2, 4>(blocks, x, to, push, partial, at); break;
        case 4: qk_iq2_s::sum_rows<4, 4>(blocks, x, to, push, partial, at); break;
        case 8: qk_iq2_s::sum_rows<8, 2>(blocks, x, to, push, partial, at); break;
    }
}

// iq2_s_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], x in f32.
struct iq2_s_gemv_id_f32_push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 16 elements in a row
    uint batch;         // right-hand sides: tokens
    uint slots;         // experts of each token
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
    uint epilogue;      // what is done with results
};

kernel void iq2_s_gemv_id_f32(
    device const ushort *blocks [[buffer(0)]],
    device const float4 *x [[buffer(1)]],
    device const uint *ids [[buffer(2)]],
    device float *y [[buffer(4)]],
    device const float *result_scale [[buffer(5)]],
    device const float *row_bias [[buffer(6)]],
    device const float *result_gate [[buffer(7)]],
    device const float *residual [[buffer(8)]],
    device atomic_uint *status [[buffer(3)]],
    constant iq2_s_gemv_id_f32_push &push [[buffer(9)]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]])
{
    constexpr uint ROWS = 4, TILES = 4;  // rows at a time; tiles of x that a thread keeps
    threadgroup float partial[32 * ROWS];
    qk_iq2_s::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue};
    float4 kept[TILES][1][4];
    float kept_sum[TILES][1][1];
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
        // an expert that is not there has zeros
        to.epilogue = found ? push.epilogue : push.epilogue & (qk_iq2_s::ADDS_TO_Y | qk_iq2_s::ADDS_RESIDUAL);
        float sum[ROWS][1] = {};
        if (!found && first == 0 && thread_index == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);  // zeros
        for (uint c = simdgroup % split; found && c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * lanes + lane;
                if (j >= push.row_tiles) continue;
                if (c != held || token != held_token)
                    qk_iq2_s::load_x<TILES, 1>(x, push.batch, push.row_tiles, token, j, k, kept, kept_sum);
                for (uint r = 0; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, push.rows - 1);
                    qk_iq2_s::accumulate<TILES, 1>(blocks, push.row_tiles, (expert - push.expert_first) * push.rows + row, j, k,
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
            if (first + i >= push.rows) continue;
            const qk_iq2_s::place_of_result to_row = {pair * push.rows + first + i, expert * push.rows + first + i, pair, expert};
            qk_iq2_s::finish(to, to_row, total);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// iq2_s_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], x in f16.
struct iq2_s_gemv_id_f16_push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 16 elements in a row
    uint batch;         // right-hand sides: tokens
    uint slots;         // experts of each token
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
    uint epilogue;      // what is done with results
};

kernel void iq2_s_gemv_id_f16(
    device const ushort *blocks [[buffer(0)]],
    device const half4 *x [[buffer(1)]],
    device const uint *ids [[buffer(2)]],
    device float *y [[buffer(4)]],
    device const float *result_scale [[buffer(5)]],
    device const float *row_bias [[buffer(6)]],
    device const float *result_gate [[buffer(7)]],
    device const float *residual [[buffer(8)]],
    device atomic_uint *status [[buffer(3)]],
    constant iq2_s_gemv_id_f16_push &push [[buffer(9)]],
    uint group [[threadgroup_position_in_grid]],
    uint groups [[threadgroups_per_grid]],
    uint thread_index [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint lanes [[threads_per_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]])
{
    constexpr uint ROWS = 4, TILES = 4;  // rows at a time; tiles of x that a thread keeps
    threadgroup float partial[32 * ROWS];
    qk_iq2_s::results to = {y, result_scale, row_bias, result_gate, residual, push.epilogue};
    float4 kept[TILES][1][4];
    float kept_sum[TILES][1][1];
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
        // an expert that is not there has zeros
        to.epilogue = found ? push.epilogue : push.epilogue & (qk_iq2_s::ADDS_TO_Y | qk_iq2_s::ADDS_RESIDUAL);
        float sum[ROWS][1] = {};
        if (!found && first == 0 && thread_index == 0) atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);  // zeros
        for (uint c = simdgroup % split; found && c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * lanes + lane;
                if (j >= push.row_tiles) continue;
                if (c != held || token != held_token)
                    qk_iq2_s::load_x<TILES, 1>(x, push.batch, push.row_tiles, token, j, k, kept, kept_sum);
                for (uint r = 0; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, push.rows - 1);
                    qk_iq2_s::accumulate<TILES, 1>(blocks, push.row_tiles, (expert - push.expert_first) * push.rows + row, j, k,
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
            if (first + i >= push.rows) continue;
            const qk_iq2_s::place_of_result to_row = {pair * push.rows + first + i, expert * push.rows + first + i, pair, expert};
            qk_iq2_s::finish(to, to_row, total);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}
