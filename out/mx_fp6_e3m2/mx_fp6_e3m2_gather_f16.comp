// mx_fp6_e3m2_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
// Generated from the specification below by `qkgen emit --format mx_fp6_e3m2`; do not edit.
// 25 bytes for 32 elements, 6.25 bits each.
// For each weight 0.781 bytes read and 2 written, 12.2 operations: 0.25 loads, 7.44 bits, 0.562 integer, 2 float, 2 conversions.
//
//     format mx_fp6_e3m2 "OCP MX: E3M2 codes in one bit stream, a power of two for 32"
//     from "OCP Microscaling Formats v1.0; packed as AMD Quark does"
//
//     block 32 {
//         buffer codes  { w: u8[24] }
//         buffer scales { s: e8m0 }
//     }
//
//     code q: e3m2 = w { 6 @ 0 (32:6) }
//
//     value = q * s
#version 450
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer CodesBuffer { uint codes[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint8_t scales[]; };
layout(binding = 2, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 3, std430) writeonly buffer Dst { uvec2 dst[]; };
layout(binding = 4, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 16 elements in a row
    uint tokens;
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// Rounds to the nearest half, ties to even. In integers, because Vulkan leaves the rounding of its own conversion open.
uint f32_to_f16(float x) {
    const uint bits = floatBitsToUint(x), magnitude = bits & 0x7FFFFFFFu, sign = (bits >> 16) & 0x8000u;
    if (magnitude > 0x7F800000u) return sign | 0x7E00u;    // NaN
    if (magnitude >= 0x477FF000u) return sign | 0x7C00u;   // beyond the largest half
    if (magnitude < 0x38800000u) {                         // a subnormal half: adding 1/2 rounds at its last bit
        precise float lifted = uintBitsToFloat(magnitude) + 0.5;
        return sign | (floatBitsToUint(lifted) - 0x3F000000u);
    }
    return sign | ((magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13);
}

// The 16 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[4]) {
    // elements 0 to 3, counted from the tile's first
    uint w0 = codes[block * 6u + tile * 3u];
    uvec4 q_bits0 = (uvec4(w0) >> uvec4(0, 6, 12, 18)) & 0x3Fu;
    uint q_bits1 = q_bits0.x;
    uint q_bits2 = q_bits0.y;
    uint q_bits3 = q_bits0.z;
    uint q_bits4 = q_bits0.w;
    precise vec4 q0 = vec4(f16_to_f32(((q_bits1 & 31u) << 8u) | ((q_bits1 & 32u) << 10u)) * 4096.0, f16_to_f32(((q_bits2 & 31u) << 8u) | ((q_bits2 & 32u) << 10u)) * 4096.0, f16_to_f32(((q_bits3 & 31u) << 8u) | ((q_bits3 & 32u) << 10u)) * 4096.0, f16_to_f32(((q_bits4 & 31u) << 8u) | ((q_bits4 & 32u) << 10u)) * 4096.0);  // w: 6 bits
    uint s_bits = uint(scales[block]);
    float s = uintBitsToFloat(s_bits == 0xFFu ? 0x7FC00000u : s_bits == 0u ? 0x400000u : s_bits << 23u);
    v[0] = q0 * s;

    // elements 4 to 7, counted from the tile's first
    uint w1 = codes[block * 6u + tile * 3u + 1u];
    uint w_run0 = (w0 >> 24u) | (w1 << 8u);
    uvec4 q_bits5 = (uvec4(w_run0) >> uvec4(0, 6, 12, 18)) & 0x3Fu;
    uint q_bits6 = q_bits5.x;
    uint q_bits7 = q_bits5.y;
    uint q_bits8 = q_bits5.z;
    uint q_bits9 = q_bits5.w;
    precise vec4 q1 = vec4(f16_to_f32(((q_bits6 & 31u) << 8u) | ((q_bits6 & 32u) << 10u)) * 4096.0, f16_to_f32(((q_bits7 & 31u) << 8u) | ((q_bits7 & 32u) << 10u)) * 4096.0, f16_to_f32(((q_bits8 & 31u) << 8u) | ((q_bits8 & 32u) << 10u)) * 4096.0, f16_to_f32(((q_bits9 & 31u) << 8u) | ((q_bits9 & 32u) << 10u)) * 4096.0);  // w: 6 bits
    v[1] = q1 * s;

    // elements 8 to 11, counted from the tile's first
    uint w2 = codes[block * 6u + tile * 3u + 2u];
    uint w_run1 = (w1 >> 16u) | (w2 << 16u);
    uvec4 q_bits10 = (uvec4(w_run1) >> uvec4(0, 6, 12, 18)) & 0x3Fu;
    uint q_bits11 = q_bits10.x;
    uint q_bits12 = q_bits10.y;
    uint q_bits13 = q_bits10.z;
    uint q_bits14 = q_bits10.w;
    precise vec4 q2 = vec4(f16_to_f32(((q_bits11 & 31u) << 8u) | ((q_bits11 & 32u) << 10u)) * 4096.0, f16_to_f32(((q_bits12 & 31u) << 8u) | ((q_bits12 & 32u) << 10u)) * 4096.0, f16_to_f32(((q_bits13 & 31u) << 8u) | ((q_bits13 & 32u) << 10u)) * 4096.0, f16_to_f32(((q_bits14 & 31u) << 8u) | ((q_bits14 & 32u) << 10u)) * 4096.0);  // w: 6 bits
    v[2] = q2 * s;

    // elements 12 to 15, counted from the tile's first
    uvec4 q_bits15 = (uvec4(w2) >> uvec4(8, 14, 20, 26)) & 0x3Fu;
    uint q_bits16 = q_bits15.x;
    uint q_bits17 = q_bits15.y;
    uint q_bits18 = q_bits15.z;
    uint q_bits19 = q_bits15.w;
    precise vec4 q3 = vec4(f16_to_f32(((q_bits16 & 31u) << 8u) | ((q_bits16 & 32u) << 10u)) * 4096.0, f16_to_f32(((q_bits17 & 31u) << 8u) | ((q_bits17 & 32u) << 10u)) * 4096.0, f16_to_f32(((q_bits18 & 31u) << 8u) | ((q_bits18 & 32u) << 10u)) * 4096.0, f16_to_f32(((q_bits19 & 31u) << 8u) | ((q_bits19 & 32u) << 10u)) * 4096.0);  // w: 6 bits
    v[3] = q3 * s;
}

uvec2 pack(vec4 v) {
    return uvec2(f32_to_f16(v.x) | (f32_to_f16(v.y) << 16), f32_to_f16(v.z) | (f32_to_f16(v.w) << 16));
}

// Stores a tile's runs where they belong in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[4]) {
    const uint at = block * 8u + tile * 4u;
    dst[at] = pack(v[0]);
    dst[at + 1u] = pack(v[1]);
    dst[at + 2u] = pack(v[2]);
    dst[at + 3u] = pack(v[3]);
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tokens * row_tiles; i += threads) {
        const uint row = indices[i / row_tiles];
        vec4 v[4];
        if (row >= row_first && row < row_end) {
            const uint from = (row - row_first) * row_tiles + i % row_tiles;
            decode(from / 2u, i % 2u, v);
        } else if (row >= rows && row_first == 0u) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0u; r < 4u; ++r) v[r] = vec4(0.0);
            if (i % row_tiles == 0u) atomicAdd(out_of_range, 1u);
        } else {
            continue;  // a row of another launch
        }
        write_tile(i / 2u, i % 2u, v);
    }
}
