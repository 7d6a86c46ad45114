// iq4_xs_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16.
// Generated from the specification below by `qkgen emit --format iq4_xs`; do not edit.
// 136 bytes for 256 elements, 4.25 bits each.
// For each weight 0.531 bytes read and 2 written, 7.5 operations: 0.25 loads, 2.38 bits, 0.688 integer, 1.06 float, 2.12 conversions, 1 lookups.
//
//     format iq4_xs "4-bit indices into a table of unequal steps, 6-bit scales around 32 in groups of 32"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         d:        f16
//         scales_h: u16
//         scales_l: u8[4]
//         qs:       u8[128]
//     }
//
//     code sc per 32 = scales_l { 4 @ 0 (8:4) }
//                      scales_h { 2 @ 0 (8:2) }
//     code q = qs { 4 @ 0 (16:8, 2:4, 8:128) }
//
//     table N: i8[16] = {
//         -127, -104, -83, -65, -49, -35, -22, -10,
//            1,   13,  25,  38,  53,  69,  89, 113,
//     }
//
//     value = d * (sc - 32) * N[q]
#version 450

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 4, std430) readonly buffer NTable { int N[]; };
layout(binding = 1, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 2, std430) writeonly buffer Dst { uvec4 dst[]; };
layout(binding = 3, std430) buffer Status { uint out_of_range; };

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

// Rounds to the nearest bfloat16, ties to even.
uint f32_to_bf16(float x) {
    const uint bits = floatBitsToUint(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return ((bits >> 16) & 0x8000u) | 0x7FC0u;  // NaN
    return (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
}

uvec2 pack_bf16(vec4 v) {
    const uvec4 bits = floatBitsToUint(v);
    const vec4 power = uintBitsToFloat(bits & 0x7F800000u);
    if (floatBitsToUint(max(max(power.x, power.y), max(power.z, power.w))) == 0x7F800000u)  // infinite, or NaN
        return uvec2(f32_to_bf16(v.x) | f32_to_bf16(v.y) << 16, f32_to_bf16(v.z) | f32_to_bf16(v.w) << 16);
    const uvec4 rounded = bits + 0x7FFFu + ((bits >> 16) & 1u);
    return uvec2(rounded.x >> 16 | (rounded.y & 0xFFFF0000u), rounded.z >> 16 | (rounded.w & 0xFFFF0000u));
}

// The 16 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[4]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 34u;
    uint d_scales_h = blocks[base];
    float d = f16_to_f32(d_scales_h);
    uint scales_l = blocks[base + 1u];
    uint part = tile / 2u;  // of 32 elements
    uint sc_lo = (scales_l >> (part * 4u)) & 15u;  // scales_l: bits 0-3 of sc
    uint sc_hi = (d_scales_h >> (part * 2u + 16u)) & 3u;  // scales_h: bits 4-5 of sc
    uint sc = sc_lo | (sc_hi << 4u);
    precise float d_sc = d * float(int(sc) - 32);
    uint qs0 = blocks[base + tile * 2u + 2u];
    uvec4 q0 = (uvec4(qs0) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    v[0] = d_sc * vec4(N[q0.x], N[q0.y], N[q0.z], N[q0.w]);

    // elements 4 to 7, counted from the tile's first
    uint qs1 = blocks[base + tile * 2u + 3u];
    uvec4 q1 = (uvec4(qs1) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    v[1] = d_sc * vec4(N[q1.x], N[q1.y], N[q1.z], N[q1.w]);

    // elements 16 to 19, counted from the tile's first
    uvec4 q2 = (uvec4(qs0) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: 4 bits
    v[2] = d_sc * vec4(N[q2.x], N[q2.y], N[q2.z], N[q2.w]);

    // elements 20 to 23, counted from the tile's first
    uvec4 q3 = (uvec4(qs1) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: 4 bits
    v[3] = d_sc * vec4(N[q3.x], N[q3.y], N[q3.z], N[q3.w]);
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[4]) {
    const uint at = block * 32u + tile / 2u * 4u + tile % 2u;
    dst[at] = uvec4(pack_bf16(v[0]), pack_bf16(v[1]));
    dst[at + 2u] = uvec4(pack_bf16(v[2]), pack_bf16(v[3]));
}

void main() {
    // A thread goes on by so many tokens and tiles at a time.
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, token_step = threads / row_tiles, tile_step = threads % row_tiles;
    uint token = gl_GlobalInvocationID.x / row_tiles, t = gl_GlobalInvocationID.x % row_tiles;
    while (token < tokens) {
        const uint row = indices[token], i = token * row_tiles + t;
        const bool bound = row >= row_first && row < row_end, missing = row >= rows && row_first == 0u;
        vec4 v[4];
        if (bound) {
            const uint from = (row - row_first) * row_tiles + t;
            decode(from / 16u, i % 16u, v);
        } else if (missing) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0u; r < 4u; ++r) v[r] = vec4(0.0);
            if (t == 0u) atomicAdd(out_of_range, 1u);
        }
        if (bound || missing) write_tile(i / 16u, i % 16u, v);  // else: a row of another launch
        token += token_step;
        t += tile_step;
        if (t >= row_tiles) {
            t -= row_tiles;
            token += 1u;
        }
    }
}
