// q2_K_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
// Generated from the specification below by `qkgen emit --format q2_K`; do not edit.
// 84 bytes for 256 elements, 2.625 bits each.
// For each weight 0.328 bytes read and 2 written, 7.75 operations: 0.156 loads, 2.53 bits, 0.5 integer, 2.25 float, 2.31 conversions.
//
//     format q2_K "2-bit codes, 4-bit scales and minimums in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         scales: u8[16]
//         qs:     u8[64]
//         d:      f16
//         dmin:   f16
//     }
//
//     code sc per 16 = scales { 4 @ 0 (16:8) }
//     code mn per 16 = scales { 4 @ 4 (16:8) }
//
//     # Four planes of 32 bytes, twice.
//     code q = qs { 2 @ 0 (32:8, 4:2, 2:256) }
//
//     value = d * sc * q - dmin * mn
#version 450

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 1, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 2, std430) writeonly buffer Dst { uvec4 dst[]; };
layout(binding = 3, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 32 elements in a row
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

// Set where the host has given the module the execution modes RoundingModeRTE and DenormPreserve for 16 bits.
layout(constant_id = 8) const bool rounds_f16 = false;

// Elsewhere, what is added to a float and taken away again, 2^13 times the power of two below it, leaves 11 bits, rounded
// to nearest even: a half, that no conversion changes.
uvec2 pack_f16(vec4 v) {
    if (rounds_f16) return uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));
    const uvec4 bits = floatBitsToUint(v);
    const vec4 power = uintBitsToFloat(bits & 0x7F800000u);
    if (max(max(power.x, power.y), max(power.z, power.w)) >= 32768.0)
        return uvec2(f32_to_f16(v.x) | f32_to_f16(v.y) << 16, f32_to_f16(v.z) | f32_to_f16(v.w) << 16);
    precise vec4 lift = max(power, 6.103515625e-5) * 8192.0;  // a subnormal half has fewer bits
    precise vec4 sum = abs(v) + lift;
    precise vec4 half_values = sum - lift;
    half_values = uintBitsToFloat(floatBitsToUint(half_values) | (bits & 0x80000000u));
    return uvec2(packHalf2x16(half_values.xy), packHalf2x16(half_values.zw));
}

// The 32 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[8]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 21u;
    uint d_dmin = blocks[base + 20u];
    float d = f16_to_f32(d_dmin);
    uint part = tile / 4u;  // of 128 elements
    uint scales0 = blocks[base + part * 2u];
    uint sc0 = (scales0 >> (tile % 4u / 2u * 8u)) & 15u;  // scales: 4 bits
    precise float d_sc0 = d * float(sc0);
    uint qs0 = blocks[base + tile * 2u + 4u];
    uvec4 q0 = (uvec4(qs0) >> uvec4(0, 8, 16, 24)) & 3u;  // qs: 2 bits
    float dmin = f16_to_f32(d_dmin >> 16u);
    uint mn0 = (scales0 >> (tile % 4u / 2u * 8u + 4u)) & 15u;  // scales: 4 bits
    precise float dmin_mn0 = dmin * float(mn0);
    v[0] = d_sc0 * vec4(q0) - dmin_mn0;

    // elements 4 to 7, counted from the tile's first
    uint qs1 = blocks[base + tile * 2u + 5u];
    uvec4 q1 = (uvec4(qs1) >> uvec4(0, 8, 16, 24)) & 3u;  // qs: 2 bits
    v[1] = d_sc0 * vec4(q1) - dmin_mn0;

    // elements 32 to 35, counted from the tile's first
    uint sc1 = (scales0 >> (tile % 4u / 2u * 8u + 16u)) & 15u;  // scales: 4 bits
    precise float d_sc1 = d * float(sc1);
    uvec4 q2 = (uvec4(qs0) >> uvec4(2, 10, 18, 26)) & 3u;  // qs: 2 bits
    uint mn1 = (scales0 >> (tile % 4u / 2u * 8u + 20u)) & 15u;  // scales: 4 bits
    precise float dmin_mn1 = dmin * float(mn1);
    v[2] = d_sc1 * vec4(q2) - dmin_mn1;

    // elements 36 to 39, counted from the tile's first
    uvec4 q3 = (uvec4(qs1) >> uvec4(2, 10, 18, 26)) & 3u;  // qs: 2 bits
    v[3] = d_sc1 * vec4(q3) - dmin_mn1;

    // elements 64 to 67, counted from the tile's first
    uint scales1 = blocks[base + part * 2u + 1u];
    uint sc2 = (scales1 >> (tile % 4u / 2u * 8u)) & 15u;  // scales: 4 bits
    precise float d_sc2 = d * float(sc2);
    uvec4 q4 = (uvec4(qs0) >> uvec4(4, 12, 20, 28)) & 3u;  // qs: 2 bits
    uint mn2 = (scales1 >> (tile % 4u / 2u * 8u + 4u)) & 15u;  // scales: 4 bits
    precise float dmin_mn2 = dmin * float(mn2);
    v[4] = d_sc2 * vec4(q4) - dmin_mn2;

    // elements 68 to 71, counted from the tile's first
    uvec4 q5 = (uvec4(qs1) >> uvec4(4, 12, 20, 28)) & 3u;  // qs: 2 bits
    v[5] = d_sc2 * vec4(q5) - dmin_mn2;

    // elements 96 to 99, counted from the tile's first
    uint sc3 = (scales1 >> (tile % 4u / 2u * 8u + 16u)) & 15u;  // scales: 4 bits
    precise float d_sc3 = d * float(sc3);
    uvec4 q6 = (uvec4(qs0) >> uvec4(6, 14, 22, 30)) & 3u;  // qs: 2 bits
    uint mn3 = (scales1 >> (tile % 4u / 2u * 8u + 20u)) & 15u;  // scales: 4 bits
    precise float dmin_mn3 = dmin * float(mn3);
    v[6] = d_sc3 * vec4(q6) - dmin_mn3;

    // elements 100 to 103, counted from the tile's first
    uvec4 q7 = (uvec4(qs1) >> uvec4(6, 14, 22, 30)) & 3u;  // qs: 2 bits
    v[7] = d_sc3 * vec4(q7) - dmin_mn3;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[8]) {
    const uint at = block * 32u + tile / 4u * 16u + tile % 4u;
    dst[at] = uvec4(pack_f16(v[0]), pack_f16(v[1]));
    dst[at + 4u] = uvec4(pack_f16(v[2]), pack_f16(v[3]));
    dst[at + 8u] = uvec4(pack_f16(v[4]), pack_f16(v[5]));
    dst[at + 12u] = uvec4(pack_f16(v[6]), pack_f16(v[7]));
}

void main() {
    // A thread goes on by so many tokens and tiles at a time.
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, token_step = threads / row_tiles, tile_step = threads % row_tiles;
    uint token = gl_GlobalInvocationID.x / row_tiles, t = gl_GlobalInvocationID.x % row_tiles;
    while (token < tokens) {
        const uint row = indices[token], i = token * row_tiles + t;
        const bool bound = row >= row_first && row < row_end, missing = row >= rows && row_first == 0u;
        vec4 v[8];
        if (bound) {
            const uint from = (row - row_first) * row_tiles + t;
            decode(from / 8u, i % 8u, v);
        } else if (missing) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0u; r < 8u; ++r) v[r] = vec4(0.0);
            if (t == 0u) atomicAdd(out_of_range, 1u);
        }
        if (bound || missing) write_tile(i / 8u, i % 8u, v);  // else: a row of another launch
        token += token_step;
        t += tile_step;
        if (t >= row_tiles) {
            t -= row_tiles;
            token += 1u;
        }
    }
}
