// ct_b4_channel_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16.
// Generated from the specification below by `qkgen emit --format ct_b4_channel`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 18 bytes for 32 elements, 4 bits each.
// For each weight 0.5 bytes read and 2 written, 6.75 operations: 0.25 loads, 2.12 bits, 1.38 integer, 1 float, 2 conversions.
//
//     format ct_b4_channel "compressed-tensors: 4-bit codes around 8, a scale for each row"
//     from "compressed-tensors: pack-quantized, symmetric, by channels"
//
//     block 1 x 32 {
//         buffer weight_packed      { w: u32[4] }
//         buffer weight_scale[rows] { s: bf16 }
//     }
//
//     code q = w { 4 @ 0 (32:4) }
//
//     value = (q - 8) * s
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer Weight_packedBuffer { uint weight_packed[]; };
layout(binding = 1, std430) readonly buffer Weight_scaleBuffer { uint16_t weight_scale[]; };
layout(binding = 2, std430) writeonly buffer Dst { uvec4 dst[]; };

layout(push_constant) uniform Push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 8 elements in a row
};

// The bfloat16 in the low 16 bits.
float bf16_to_f32(uint bits) { return uintBitsToFloat(bits << 16); }

uvec2 pack_bf16(vec4 v) {
    const uvec4 bits = floatBitsToUint(v);
    const bvec4 nan = greaterThan(bits & 0x7FFFFFFFu, uvec4(0x7F800000u));
    const uvec4 rounded = mix(bits + 0x7FFFu + ((bits >> 16) & 1u), (bits & 0x80000000u) | 0x7FC00000u, nan);
    return rounded.xz >> 16 | (rounded.yw & 0xFFFF0000u);
}

// The 8 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[2]) {
    // elements 0 to 3, counted from the tile's first
    uint w = weight_packed[row * (grid_cols * 4u) + tile];
    uvec4 q0 = (uvec4(w) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    float s = bf16_to_f32(uint(weight_scale[row]));
    v[0] = vec4(ivec4(q0) - 8) * s;

    // elements 4 to 7, counted from the tile's first
    uvec4 q1 = (uvec4(w) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    v[1] = vec4(ivec4(q1) - 8) * s;
}

// Stores a tile from `at` on, counted in stores of 8 elements.
void write_tile(uint at, vec4 v[2]) {
    dst[at] = uvec4(pack_bf16(v[0]), pack_bf16(v[1]));
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
