// hqq_b8_g64_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32.
// Generated from the specification below by `qkgen emit --format hqq_b8_g64`; do not edit.
// 68 bytes for 64 elements, 8.5 bits each.
// For each weight 1.06 bytes read and 4 written, 6.75 operations: 0.75 loads, 2 bits, 0.5 integer, 2 float, 1.5 conversions.
//
//     format hqq_b{bits}_g{group} "HQQ: the groups of the whole tensor in planes of equal size, a float zero"
//     from "HQQ: BitPack, axis 1"
//     for bits in 2 4 8, group in 64 128
//
//     block 8 / bits apart x group {
//         buffer W_q   { w: u8[1][group] }
//         buffer scale { d: f16[8 / bits][1] }
//         buffer zero  { m: f16[8 / bits][1] }
//     }
//
//     code q                = w { bits @ 8 - bits (group:8, 8 / bits:-bits) }
//     code s: f16 per group = d { 16 @ 0 (8 / bits:16) }
//     code z: f16 per group = m { 16 @ 0 (8 / bits:16) }
//
//     value = (q - z) * s
//
// Here bits = 8, group = 64.
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer W_qBuffer { uint W_q[]; };
layout(binding = 1, std430) readonly buffer ScaleBuffer { uint16_t scale[]; };
layout(binding = 2, std430) readonly buffer ZeroBuffer { uint16_t zero[]; };
layout(binding = 3, std430) writeonly buffer Dst { vec4 dst[]; };

layout(push_constant) uniform Push {
    uint rows;       // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;  // blocks
    uint grid_cols;
    uint row_tiles;  // tiles of 4 elements in a row
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// The 4 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[1]) {
    const uint t = tile % 16u;
    uint w = W_q[row * 16u + t];
    uvec4 q = (uvec4(w) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    uint m_ = uint(zero[row]);
    float z = f16_to_f32(m_);  // m: 16 bits
    uint d = uint(scale[row]);
    float s = f16_to_f32(d);  // d: 16 bits
    v[0] = (vec4(q) - z) * s;
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
