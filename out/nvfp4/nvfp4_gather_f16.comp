// nvfp4_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
// Generated from the specification below by `qkgen emit --format nvfp4`; do not edit.
// 36 bytes for 64 elements, 4.5 bits each.
// For each weight 0.562 bytes read and 2 written, 8.75 operations: 0.375 loads, 2.75 bits, 1.25 integer, 1.25 float, 2.12 conversions, 1 lookups.
//
//     format nvfp4 "E2M1 codes, unsigned E4M3 scales in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 64 {
//         d:  u8[4]
//         qs: u8[32]
//     }
//
//     code sc per 16 = d { 8 @ 0 (4:8) }
//     code q = qs { 4 @ 0 (8:8, 2:4, 4:64) }
//
//     table K: i8[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 }    # twice the E2M1 value
//
//     # The digits of the scale, 7 bits, as those of a half: 2^8 too small; the half of that goes with the doubled table.
//     value = K[q] * (sc == 127 ? 0.0 : 128.0 * f16((sc & 127) << 7))
#version 450
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 4, std430) readonly buffer KTable { int K[]; };
layout(binding = 1, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 2, std430) writeonly buffer Dst { uvec4 dst[]; };
layout(binding = 3, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 8 elements in a row
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

// The 8 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[2]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 9u;
    uint part = tile / 2u;  // of 16 elements
    uint qs0 = blocks[base + part * 2u + 1u];
    uvec4 q0 = (uvec4(qs0 >> (tile % 2u * 4u)) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    uint d = blocks[base];
    uint sc = (d >> (part * 8u)) & 0xFFu;  // d: 8 bits
    precise float sc_sc = int(sc) == 127 ? 0.0 : 128.0 * f16_to_f32(uint((int(sc) & 127) << 7));
    v[0] = vec4(K[q0.x], K[q0.y], K[q0.z], K[q0.w]) * sc_sc;

    // elements 4 to 7, counted from the tile's first
    uint qs1 = blocks[base + part * 2u + 2u];
    uvec4 q1 = (uvec4(qs1 >> (tile % 2u * 4u)) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    v[1] = vec4(K[q1.x], K[q1.y], K[q1.z], K[q1.w]) * sc_sc;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[2]) {
    const uint at = block * 8u + tile;
    dst[at] = uvec4(pack_f16(v[0]), pack_f16(v[1]));
}

void main() {
    // A thread goes on by so many tokens and tiles at a time.
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, token_step = threads / row_tiles, tile_step = threads % row_tiles;
    uint token = gl_GlobalInvocationID.x / row_tiles, t = gl_GlobalInvocationID.x % row_tiles;
    while (token < tokens) {
        // Two at once: what the second loads does not wait for the first.
        uint at[2], row[2], tile[2];
        [[unroll]] for (uint n = 0u; n < 2u; ++n) {
            at[n] = token;
            row[n] = indices[min(token, tokens - 1u)];
            tile[n] = t;
            token += token_step;
            t += tile_step;
            if (t >= row_tiles) {
                t -= row_tiles;
                token += 1u;
            }
        }
        vec4 v[2][2];
        [[unroll]] for (uint n = 0u; n < 2u; ++n) {
            // Of a row that this launch does not have, the first in its place.
            const uint i = at[n] * row_tiles + tile[n];
            const uint from = (row[n] >= row_first && row[n] < row_end ? row[n] - row_first : 0u) * row_tiles + tile[n];
            decode(from / 8u, i % 8u, v[n]);
        }
        [[unroll]] for (uint n = 0u; n < 2u; ++n) {
            const uint i = at[n] * row_tiles + tile[n];
            const bool bound = row[n] >= row_first && row[n] < row_end, missing = row[n] >= rows && row_first == 0u;
            if (at[n] >= tokens || !(bound || missing)) continue;  // no more, or a row of another launch
            if (missing) {
                // No such row: zeros, and the token is counted once.
                [[unroll]] for (uint r = 0u; r < 2u; ++r) v[n][r] = vec4(0.0);
                if (tile[n] == 0u) atomicAdd(out_of_range, 1u);
            }
            write_tile(i / 8u, i % 8u, v[n]);
        }
    }
}
