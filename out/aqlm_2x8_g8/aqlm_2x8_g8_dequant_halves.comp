// aqlm_2x8_g8_dequant_halves: decodes a whole tensor: dst[i] = value(i), in f16 or bf16.
// Generated from the specification below by `qkgen emit --format aqlm_2x8_g8`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 36 bytes for 8 elements, 2 bits each.
// For each weight 0.25 bytes read and 2 written, 9.25 operations: 1.38 loads, 1 bits, 1.75 integer, 2 float, 3.12 conversions.
//     format aqlm_2x8_g8 "sums of two vectors of 8, each out of a table of 256, a scale for each row"
//     from "AQLM: inference_lib, two codebooks of 8 bits"
//     block 1 x 8 {
//         buffer codes                { n: u8[1][2] }
//         buffer codebook0[c0 of 256] { vectors0: f16[1][8] }    # codebooks[0]
//         buffer codebook1[c1 of 256] { vectors1: f16[1][8] }    # codebooks[1], which follows in the same tensor
//         buffer scales[rows]         { d: f16 }
//     }
//     code c0 per 8     = n        { 8 @ 0 }
//     code c1 per 8     = n        { 8 @ 8 }
//     code v0: f16      = vectors0 { 16 @ 0 (8:16) }
//     code v1: f16      = vectors1 { 16 @ 0 (8:16) }
//     code s: f16 per 8 = d        { 16 @ 0 }
//     value = (v0 + v1) * s
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer CodesBuffer { uint8_t codes[]; };
layout(binding = 1, std430) readonly buffer Codebook0Buffer { uint codebook0[]; };
layout(binding = 2, std430) readonly buffer Codebook1Buffer { uint codebook1[]; };
layout(binding = 3, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 4, std430) writeonly buffer Dst { uvec4 dst[]; };

layout(push_constant) uniform Push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
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

// The 8 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[2]) {
    const uint block_col = tile / 1u;
    // elements 0 to 3, counted from the tile's first
    uint n0 = uint(codes[row * (grid_cols * 2u) + block_col * 2u]), vectors00 = codebook0[n0 * 4u];
    float v00 = unpackHalf2x16(vectors00).x, v01 = unpackHalf2x16(vectors00 >> 16u).x;  // vectors0: 16 bits
    uint vectors01 = codebook0[n0 * 4u + 1u];
    float v02 = unpackHalf2x16(vectors01).x, v03 = unpackHalf2x16(vectors01 >> 16u).x;  // vectors0: 16 bits
    vec4 v04 = vec4(v00, v01, v02, v03);
    uint n1 = uint(codes[row * (grid_cols * 2u) + (block_col * 2u + 1u)]), vectors10 = codebook1[n1 * 4u];
    float v10 = unpackHalf2x16(vectors10).x, v11 = unpackHalf2x16(vectors10 >> 16u).x;  // vectors1: 16 bits
    uint vectors11 = codebook1[n1 * 4u + 1u];
    float v12 = unpackHalf2x16(vectors11).x, v13 = unpackHalf2x16(vectors11 >> 16u).x;  // vectors1: 16 bits
    vec4 v14 = vec4(v10, v11, v12, v13);
    float s = unpackHalf2x16(uint(scales[row])).x;
    v[0] = (v04 + v14) * s;

    // elements 4 to 7, counted from the tile's first
    uint vectors02 = codebook0[n0 * 4u + 2u];
    float v05 = unpackHalf2x16(vectors02).x, v06 = unpackHalf2x16(vectors02 >> 16u).x;  // vectors0: 16 bits
    uint vectors03 = codebook0[n0 * 4u + 3u];
    float v07 = unpackHalf2x16(vectors03).x, v08 = unpackHalf2x16(vectors03 >> 16u).x;  // vectors0: 16 bits
    vec4 v09 = vec4(v05, v06, v07, v08);
    uint vectors12 = codebook1[n1 * 4u + 2u];
    float v15 = unpackHalf2x16(vectors12).x, v16 = unpackHalf2x16(vectors12 >> 16u).x;  // vectors1: 16 bits
    uint vectors13 = codebook1[n1 * 4u + 3u];
    float v17 = unpackHalf2x16(vectors13).x, v18 = unpackHalf2x16(vectors13 >> 16u).x;  // vectors1: 16 bits
    vec4 v19 = vec4(v15, v16, v17, v18);
    v[1] = (v09 + v19) * s;
}

// Stores a tile from `at` on, counted in stores of 8 elements.
void write_tile(uint at, vec4 v[2]) {
    dst[at] = uvec4(pack_halves(v[0]), pack_halves(v[1]));
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, bands = rows;
    for (uint i = gl_GlobalInvocationID.x; i < bands * row_tiles; i += threads) {
        const uint row = i / row_tiles, tile = i % row_tiles;
        vec4 v[2];
        decode(row, tile, v);
        write_tile(row * (cols / 8u) + tile * 1u, v);
    }
}
