// mx_fp8_e4m3_dequant_halves: decodes a whole tensor: dst[i] = value(i), in f16 or bf16.
// Generated from the specification below by `qkgen emit --format mx_fp8_e4m3`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 33 bytes for 32 elements, 8.25 bits each.
// For each weight 1.03 bytes read and 2 written, 14.5 operations: 0.375 loads, 7.12 bits, 3 integer, 2 float, 2 conversions.
//
//     format mx_fp8_e4m3 "OCP MX: E4M3 codes, a power of two for 32"
//     from "OCP Microscaling Formats v1.0"
//
//     block 32 {
//         buffer codes  { w: u8[32] }
//         buffer scales { s: e8m0 }
//     }
//
//     code q: e4m3 = w { 8 @ 0 (32:8) }
//
//     value = q * s
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer CodesBuffer { uint codes[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint8_t scales[]; };
layout(binding = 2, std430) writeonly buffer Dst { uvec4 dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of 8 elements, to decode
};

float f16_to_f32(uint bits) { return unpackHalf2x16(bits).x; }  // of the low 16 bits

layout(constant_id = 31) const uint Y_TYPE = 1;  // how results are stored: 1 as f16, 2 as bf16

// Set where the host has given the module the execution modes RoundingModeRTE and DenormPreserve for 16 bits.
layout(constant_id = 8) const bool rounds_f16 = false;

// Elsewhere in integers, because Vulkan leaves the rounding of its own conversion open. What is beyond the largest half is that number's
// neighbour, which rounds to infinity; to subnormal halves 1/2 is added, which rounds at their last bit.
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
    uint w0 = codes[block * 8u + tile * 2u];
    uvec4 q_bits0 = (uvec4(w0) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits1 = q_bits0.x, q_bits2 = q_bits0.y, q_bits3 = q_bits0.z, q_bits4 = q_bits0.w;
    // w: 8 bits
    precise vec4 q0 = vec4(f16_to_f32(((q_bits1 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits1 & 0x7Fu) << 7u) | ((q_bits1 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits2 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits2 & 0x7Fu) << 7u) | ((q_bits2 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits3 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits3 & 0x7Fu) << 7u) | ((q_bits3 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits4 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits4 & 0x7Fu) << 7u) | ((q_bits4 & 128u) << 8u)) * 256.0);
    uint s_bits = uint(scales[block]);
    float s = uintBitsToFloat(s_bits == 0xFFu ? 0x7FC00000u : s_bits == 0u ? 0x400000u : s_bits << 23u);
    v[0] = q0 * s;

    // elements 4 to 7, counted from the tile's first
    uint w1 = codes[block * 8u + tile * 2u + 1u];
    uvec4 q_bits5 = (uvec4(w1) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits6 = q_bits5.x, q_bits7 = q_bits5.y, q_bits8 = q_bits5.z, q_bits9 = q_bits5.w;
    // w: 8 bits
    precise vec4 q1 = vec4(f16_to_f32(((q_bits6 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits6 & 0x7Fu) << 7u) | ((q_bits6 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits7 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits7 & 0x7Fu) << 7u) | ((q_bits7 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits8 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits8 & 0x7Fu) << 7u) | ((q_bits8 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits9 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits9 & 0x7Fu) << 7u) | ((q_bits9 & 128u) << 8u)) * 256.0);
    v[1] = q1 * s;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[2]) {
    const uint at = block * 4u + tile;
    dst[at] = uvec4(pack_halves(v[0]), pack_halves(v[1]));
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) {
        vec4 v[2];
        decode(i / 4u, i % 4u, v);
        write_tile(i / 4u, i % 4u, v);
    }
}
