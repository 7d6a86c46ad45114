// ct_b4_channel_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format ct_b4_channel`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 18 bytes for 32 elements, 4 bits each.
// For each weight 0.5 bytes read and 4 written, 8 operations: 0.5 loads, 2.5 bits, 3 integer, 1 float, 1 conversions.
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
layout(binding = 2, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 4 elements in a row
};

// The bfloat16 in the low 16 bits.
float bf16_to_f32(uint bits) { return uintBitsToFloat(bits << 16); }

// The 4 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[1]) {
    const uint block_col = tile / 8u;
    const uint t = tile % 8u;
    uint w = weight_packed[row * (grid_cols * 4u) + (block_col * 4u + t / 2u)];
    uvec4 q = (uvec4(w >> (t % 2u * 16u)) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    float s = bf16_to_f32(uint(weight_scale[row]));
    v[0] = vec4(ivec4(q) - 8) * s;
}

// Stores a tile from `at` on, counted in stores of 4 elements.
void write_tile(uint at, vec4 v[1]) {
    dst[at] = v[0];
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, bands = rows;
    for (uint i = gl_GlobalInvocationID.x; i < bands * row_tiles; i += threads) {
        const uint row = i / row_tiles, tile = i % row_tiles;
        vec4 v[1];
        decode(row, tile, v);
        write_tile(row * (cols / 4u) + tile * 1u, v);
    }
}
