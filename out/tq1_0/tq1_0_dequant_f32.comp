// tq1_0_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format tq1_0`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 54 bytes for 256 elements, 1.688 bits each.
// For each weight 0.211 bytes read and 4 written, 15 operations: 0.75 loads, 4.5 bits, 7.5 integer, 1 float, 1.25 conversions.
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
layout(binding = 1, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 4 elements, to decode
};

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

// The 4 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[1]) {
    uint base = block * 27u, word = tile < 40u ? tile % 8u * 2u : tile < 60u ? (tile - 40u) % 4u * 2u + 16u : 24u;  // of t, in qs, qs or qh
    uint qs_qh = blocks_u32(base + word);
    uint digit_ = tile < 40u ? tile / 8u : tile < 60u ? (tile - 40u) / 4u : tile - 60u;  // which digit of base 3, from the top
    uint power = digit_ < 4u ? (0x1B090301u >> ((digit_ & 3u) * 8u)) & 0xFFu : 81u;  // 3^n
    uint evens = (((qs_qh & 0xFF00FFu) * power) & 0xFF00FFu) * 3u, odds = ((((qs_qh >> 8u) & 0xFF00FFu) * power) & 0xFF00FFu) * 3u;
    uvec4 t_ = (uvec4(evens, odds, evens, odds) >> uvec4(8, 8, 24, 24)) & 0xFFu;  // a digit of base 3
    float d = unpackHalf2x16(uint(blocks[base + 26u])).x;
    v[0] = vec4(ivec4(t_) - 1) * d;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[1]) {
    const uint at = block * 64u + tile;
    dst[at] = v[0];
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) {
        vec4 v[1];
        decode(i / 64u, i % 64u, v);
        write_tile(i / 64u, i % 64u, v);
    }
}
