// nvfp4_ckpt_dequant_halves: decodes a whole tensor: dst[i] = value(i), in f16 or bf16.
// Generated from the specification below by `qkgen emit --format nvfp4_ckpt`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 13 bytes for 16 elements, 4.5 bits each.
// For each weight 0.562 bytes read and 2 written, 13.2 operations: 0.375 loads, 7.62 bits, 0.875 integer, 2.25 float, 2.12 conversions.
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
layout(binding = 3, std430) writeonly buffer Dst { uvec4 dst[]; };

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
    const uint block_col = tile / 2u;
    // elements 0 to 3, counted from the tile's first
    uint w = weight[row * (grid_cols * 2u) + tile];
    uvec4 q_bits0 = (uvec4(w) >> uvec4(0, 4, 8, 12)) & 15u;
    uint q_bits1 = q_bits0.x, q_bits2 = q_bits0.y, q_bits3 = q_bits0.z, q_bits4 = q_bits0.w;
    // w: 4 bits
    precise vec4 q0 = vec4(unpackHalf2x16(((q_bits1 & 7u) << 9u) | ((q_bits1 & 8u) << 12u)).x * 16384.0,
        unpackHalf2x16(((q_bits2 & 7u) << 9u) | ((q_bits2 & 8u) << 12u)).x * 16384.0,
        unpackHalf2x16(((q_bits3 & 7u) << 9u) | ((q_bits3 & 8u) << 12u)).x * 16384.0,
        unpackHalf2x16(((q_bits4 & 7u) << 9u) | ((q_bits4 & 8u) << 12u)).x * 16384.0);
    uint s_bits = uint(weight_scale[row * grid_cols + block_col]);
    precise float s = unpackHalf2x16(((s_bits & 0x7Fu) == 0x7Fu ? 32256u : (s_bits & 0x7Fu) << 7u) | ((s_bits & 128u) << 8u)).x * 256.0;
    float t_ = uintBitsToFloat(weight_scale_2[0u]);
    precise float s_t = s * t_;
    v[0] = q0 * s_t;

    // elements 4 to 7, counted from the tile's first
    uvec4 q_bits5 = (uvec4(w) >> uvec4(16, 20, 24, 28)) & 15u;
    uint q_bits6 = q_bits5.x, q_bits7 = q_bits5.y, q_bits8 = q_bits5.z, q_bits9 = q_bits5.w;
    // w: 4 bits
    precise vec4 q1 = vec4(unpackHalf2x16(((q_bits6 & 7u) << 9u) | ((q_bits6 & 8u) << 12u)).x * 16384.0,
        unpackHalf2x16(((q_bits7 & 7u) << 9u) | ((q_bits7 & 8u) << 12u)).x * 16384.0,
        unpackHalf2x16(((q_bits8 & 7u) << 9u) | ((q_bits8 & 8u) << 12u)).x * 16384.0,
        unpackHalf2x16(((q_bits9 & 7u) << 9u) | ((q_bits9 & 8u) << 12u)).x * 16384.0);
    v[1] = q1 * s_t;
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
