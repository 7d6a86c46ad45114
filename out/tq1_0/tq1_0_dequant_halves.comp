// tq1_0_dequant_halves: decodes a whole tensor: dst[i] = value(i), in f16 or bf16.
// Generated from the specification below by `qkgen emit --format tq1_0`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 54 bytes for 256 elements, 1.688 bits each.
// For each weight 0.211 bytes read and 2 written, 14.6 operations: 0.625 loads, 4.5 bits, 6.38 integer, 1 float, 2.12 conversions.
//     format tq1_0 "ternary codes, five in a byte, one scale for 256"
//     block 256 {
//         qs: u8[48]
//         qh: u8[4]
//         d:  f16
//     }
//     code t = qs { 8 base 3 @ 0   (32:8, 5:^) }    # elements 0 to 159
//         then qs { 8 base 3 @ 256 (16:8, 5:^) }    # 160 to 239
//         then qh { 8 base 3 @ 0   (4:8,  4:^) }    # 240 to 255
//     value = (t - 1) * d
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
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

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

// The 8 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[2]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 27u;
    uint word0 = tile < 20u ? tile % 4u * 4u : tile < 30u ? (tile - 20u) % 2u * 4u + 16u : 24u;  // of t, in qs, qs or qh
    uint qs_qh0 = blocks_u32(base + word0);
    uint digit0 = tile < 20u ? tile / 4u : tile < 30u ? (tile - 20u) / 2u : (tile - 30u) * 2u;  // which digit of base 3, from the top
    uint power0 = digit0 < 4u ? (0x1B090301u >> ((digit0 & 3u) * 8u)) & 0xFFu : 81u;  // 3^n
    uint evens0 = (((qs_qh0 & 0xFF00FFu) * power0) & 0xFF00FFu) * 3u, odds0 = ((((qs_qh0 >> 8u) & 0xFF00FFu) * power0) & 0xFF00FFu) * 3u;
    uvec4 t0 = (uvec4(evens0, odds0, evens0, odds0) >> uvec4(8, 8, 24, 24)) & 0xFFu;  // a digit of base 3
    float d = unpackHalf2x16(uint(blocks[base + 26u])).x;
    v[0] = vec4(ivec4(t0) - 1) * d;

    // elements 4 to 7, counted from the tile's first
    uint word1 = tile < 20u ? tile % 4u * 4u + 2u : tile < 30u ? (tile - 20u) % 2u * 4u + 18u : 24u;  // of t, in qs, qs or qh
    uint qs_qh1 = blocks_u32(base + word1);
    uint digit1 = tile < 20u ? tile / 4u : tile < 30u ? (tile - 20u) / 2u : (tile - 30u) * 2u + 1u;  // which digit of base 3, from the top
    uint power1 = digit1 < 4u ? (0x1B090301u >> ((digit1 & 3u) * 8u)) & 0xFFu : 81u;  // 3^n
    uint evens1 = (((qs_qh1 & 0xFF00FFu) * power1) & 0xFF00FFu) * 3u, odds1 = ((((qs_qh1 >> 8u) & 0xFF00FFu) * power1) & 0xFF00FFu) * 3u;
    uvec4 t1 = (uvec4(evens1, odds1, evens1, odds1) >> uvec4(8, 8, 24, 24)) & 0xFFu;  // a digit of base 3
    v[1] = vec4(ivec4(t1) - 1) * d;
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
