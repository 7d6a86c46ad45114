// iq1_m_dequant_halves: decodes a whole tensor: dst[i] = value(i), in f16 or bf16.
// Generated from the specification below by `qkgen emit --format iq1_m`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 56 bytes for 256 elements, 1.75 bits each.
// For each weight 0.219 bytes read and 2 written, 14.2 operations: 0.625 loads, 4.75 bits, 4.25 integer, 2.25 float, 2.25 conversions,
// 0.125 lookups.
//     format iq1_m "eights from a ternary codebook of 2048, shifted by an eighth, 3-bit scales in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 256 {
//         qs:     u8[32]
//         qh:     u8[16]
//         scales: u16[4]
//     }
//     code g  per 8  = qs { 8 @ 0 (32:8) } qh { 3 @ 0 (32:4) }
//     code sg per 8  = qh { 1 @ 3 (32:4) }
//     code sc per 16 = scales { 3 @ 0 (4:3, 4:16) }
//     code d: f16 per 256 = scales { 4 @ 12   4 @ 28   4 @ 44   4 @ 60 }    # spread over the top of four words
//     table G: i8[2048][8] = file "iq1s_grid.bin"
//     value = d * (2 * sc + 1) * (G[g][i % 8] + (sg ? -0.125 : 0.125))
#version 450
#extension GL_KHR_shader_subgroup_basic : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 2, std430) readonly buffer GTable { uint G[]; };  // 2048 rows of 8: i8 from -1 on, in 4 bits each
layout(binding = 1, std430) writeonly buffer Dst { uvec4 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 8 elements, to decode
};

layout(constant_id = 31) const uint Y_TYPE = 1;  // how results are stored: 1 as f16, 2 as bf16

// Set where the module has the execution modes RoundingModeRTE and DenormPreserve for 16 bits.
layout(constant_id = 8) const bool rounds_f16 = false;

// Elsewhere in integers, for Vulkan leaves its rounding open. The neighbour of the largest half rounds to infinity, whatever is beyond it.
uvec2 pack_f16(vec4 v) {
    if (rounds_f16) return uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));
    const uvec4 bits = floatBitsToUint(v), magnitude = bits & 0x7FFFFFFFu, most = min(magnitude, uvec4(0x477FF000u));
    precise vec4 lifted = uintBitsToFloat(most) + 0.5;
    const uvec4 normal = most - 0x37FFF001u + ((most >> 13) & 1u) >> 13, subnormal = floatBitsToUint(lifted) - 0x3F000000u;
    uvec4 halves = mix(normal, subnormal, lessThan(most, uvec4(0x38800000u)));
    halves = mix(halves, uvec4(0x7E00u), greaterThan(magnitude, uvec4(0x7F800000u)));  // NaN
    halves |= bits >> 16 & 0x8000u;
    return halves.xz | halves.yw << 16;
}

uvec2 pack_bf16(vec4 v) {
    const uvec4 bits = floatBitsToUint(v);
    const bvec4 nan = greaterThan(bits & 0x7FFFFFFFu, uvec4(0x7F800000u));
    const uvec4 rounded = mix(bits + 0x7FFFu + ((bits >> 16) & 1u), (bits & 0x80000000u) | 0x7FC00000u, nan);
    return rounded.xz >> 16 | (rounded.yw & 0xFFFF0000u);
}

uvec2 pack_halves(vec4 v) { return Y_TYPE == 1u ? pack_f16(v) : pack_bf16(v); }

// The 8 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[2]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 14u, scales0 = blocks[base + 12u], d_0bit = (scales0 >> 12u) & 15u;  // scales: bits 0-3 of d
    uint d_4bit = scales0 >> 28u;  // scales: bits 4-7 of d
    uint scales1 = blocks[base + 13u], d_8bit = (scales1 >> 12u) & 15u;  // scales: bits 8-11 of d
    uint d_12bit = scales1 >> 28u;  // scales: bits 12-15 of d
    float d = unpackHalf2x16(d_0bit | (d_4bit << 4u) | (d_8bit << 8u) | (d_12bit << 12u)).x;
    uint scales2 = blocks[base + tile / 2u / 4u / 2u + 12u];
    uint sc = (scales2 >> (tile / 2u / 4u % 2u * 16u + tile / 2u % 4u * 3u)) & 7u;  // scales: 3 bits
    precise float d_sc = d * float(2 * int(sc) + 1);
    uint qs = blocks[base + tile / 4u], g_lo = (qs >> (tile % 4u * 8u)) & 0xFFu;  // qs: bits 0-7 of g
    uint qh = blocks[base + tile / 8u + 8u], g_hi = (qh >> (tile % 8u * 4u)) & 7u;  // qh: bits 8-10 of g
    uint g = g_lo | (g_hi << 8u), G_row = G[g], sg = (qh >> (tile % 8u * 4u + 3u)) & 1u;  // qh: 1 bit
    v[0] = d_sc * (vec4(ivec4((uvec4(G_row) >> uvec4(0, 4, 8, 12)) & 15u) - 1) + (int(sg) != 0 ? -0.125 : 0.125));

    // elements 4 to 7, counted from the tile's first
    v[1] = d_sc * (vec4(ivec4((uvec4(G_row) >> uvec4(16, 20, 24, 28)) & 15u) - 1) + (int(sg) != 0 ? -0.125 : 0.125));
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[2]) {
    const uint at = block * 32u + tile;
    dst[at] = uvec4(pack_halves(v[0]), pack_halves(v[1]));
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) {
        vec4 v[2];
        decode(i / 32u, i % 32u, v);
        write_tile(i / 32u, i % 32u, v);
    }
}
