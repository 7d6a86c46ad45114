// ct_b8_g128_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format ct_b8_g128`; do not edit.
// 130 bytes for 128 elements, 8.125 bits each.
// For each weight 1.02 bytes read and 4 written, 6.25 operations: 0.5 loads, 2.25 bits, 1.5 integer, 1 float, 1 conversions.
//
//     format ct_b8_g{group} "compressed-tensors: 8-bit codes around 128, a scale for each group"
//     from "compressed-tensors: pack-quantized, symmetric, 8 bits"
//     for group in 32 128
//
//     block group {
//         buffer weight_packed { w: u32[group / 4] }
//         buffer weight_scale  { s: bf16 }
//     }
//
//     code q = w { 8 @ 0 (group:8) }
//
//     value = (q - 128) * s
//
// Here group = 128.
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer Weight_packedBuffer { uint weight_packed[]; };
layout(binding = 1, std430) readonly buffer Weight_scaleBuffer { uint16_t weight_scale[]; };
layout(binding = 2, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 3, std430) writeonly buffer Dst { vec4 dst[]; };
layout(binding = 4, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 4 elements in a row
    uint tokens;
};

// The bfloat16 in the low 16 bits.
float bf16_to_f32(uint bits) {
    return uintBitsToFloat(bits << 16);
}

// The 4 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[1]) {
    uint w = weight_packed[block * 32u + tile];
    uvec4 q = (uvec4(w) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    float s = bf16_to_f32(uint(weight_scale[block]));
    v[0] = vec4(ivec4(q) - 128) * s;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[1]) {
    const uint at = block * 32u + tile;
    dst[at] = v[0];
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
        vec4 v[2][1];
        [[unroll]] for (uint n = 0u; n < 2u; ++n) {
            // Of a row that this launch does not have, the first in its place.
            const uint i = at[n] * row_tiles + tile[n];
            const uint from = (row[n] >= row_first && row[n] < row_end ? row[n] - row_first : 0u) * row_tiles + tile[n];
            decode(from / 32u, i % 32u, v[n]);
        }
        [[unroll]] for (uint n = 0u; n < 2u; ++n) {
            const uint i = at[n] * row_tiles + tile[n];
            const bool bound = row[n] >= row_first && row[n] < row_end, missing = row[n] >= rows && row_first == 0u;
            if (at[n] >= tokens || !(bound || missing)) continue;  // no more, or a row of another launch
            if (missing) {
                // No such row: zeros, and the token is counted once.
                [[unroll]] for (uint r = 0u; r < 1u; ++r) v[n][r] = vec4(0.0);
                if (tile[n] == 0u) atomicAdd(out_of_range, 1u);
            }
            write_tile(i / 32u, i % 32u, v[n]);
        }
    }
}
