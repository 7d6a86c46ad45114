// nvfp4_ckpt_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format nvfp4_ckpt`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 13 bytes for 16 elements, 4.5 bits each.
// For each weight 0.562 bytes read and 4 written, 16 operations: 0.75 loads, 8.5 bits, 3 integer, 2.5 float, 1.25 conversions.
//     format nvfp4_ckpt "NVFP4 checkpoints: E2M1 codes, E4M3 scales for 16, and a scale for the tensor"
//     from "NVIDIA ModelOpt: NVFP4"
//     block 1 x 16 {
//         buffer weight           { w: u8[8] }
//         buffer weight_scale     { s: e4m3 }
//         buffer weight_scale_2[] { t: f32 }
//     }
//     code q: e2m1 = w { 4 @ 0 (16:4) }
//     value = q * (s * t)
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) readonly buffer Weight_scaleBuffer { uint8_t weight_scale[]; };
layout(binding = 2, std430) readonly buffer Weight_scale_2Buffer { uint weight_scale_2[]; };
layout(binding = 3, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 4 elements in a row
};

// The 4 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[1]) {
    const uint block_col = tile / 4u;
    const uint t = tile % 4u;
    uint w = weight[row * (grid_cols * 2u) + (block_col * 2u + t / 2u)];
    uvec4 q_bits0 = (uvec4(w >> (t % 2u * 16u)) >> uvec4(0, 4, 8, 12)) & 15u;
    uint q_bits1 = q_bits0.x, q_bits2 = q_bits0.y, q_bits3 = q_bits0.z, q_bits4 = q_bits0.w;
    // w: 4 bits
    precise vec4 q = vec4(unpackHalf2x16(((q_bits1 & 7u) << 9u) | ((q_bits1 & 8u) << 12u)).x * 16384.0,
        unpackHalf2x16(((q_bits2 & 7u) << 9u) | ((q_bits2 & 8u) << 12u)).x * 16384.0,
        unpackHalf2x16(((q_bits3 & 7u) << 9u) | ((q_bits3 & 8u) << 12u)).x * 16384.0,
        unpackHalf2x16(((q_bits4 & 7u) << 9u) | ((q_bits4 & 8u) << 12u)).x * 16384.0);
    uint s_bits = uint(weight_scale[row * grid_cols + block_col]);
    precise float s = unpackHalf2x16(((s_bits & 0x7Fu) == 0x7Fu ? 32256u : (s_bits & 0x7Fu) << 7u) | ((s_bits & 128u) << 8u)).x * 256.0;
    float t_ = uintBitsToFloat(weight_scale_2[0u]);
    precise float s_t = s * t_;
    v[0] = q * s_t;
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
