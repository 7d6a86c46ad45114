// mlx_nvfp4_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format mlx_nvfp4`; do not edit.
// 9 bytes for 16 elements, 4.5 bits each.
// For each weight 0.562 bytes read and 4 written, 13.8 operations: 0.5 loads, 8.5 bits, 1.25 integer, 2.25 float, 1.25 conversions.
//
//     format mlx_nvfp4 "E2M1 codes in one bit stream, E4M3 scales without NaN for 16"
//     from "MLX, mlx.core.quantize with mode='nvfp4'"
//
//     block 16 {
//         buffer weight { w: u32[2] }
//         buffer scales { s: u8 }
//     }
//
//     code q: e2m1 = w { 4 @ 0 (16:4) }
//
//     # Sign and digits of the scale as those of a half, 2^8 too small.
//     value = q * (f16((s & 128) << 8 | (s & 127) << 7) * 256.0)
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint8_t scales[]; };
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

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// The 4 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[1]) {
    uint w = weight[block * 2u + tile / 2u];
    uvec4 q_bits0 = (uvec4(w >> (tile % 2u * 16u)) >> uvec4(0, 4, 8, 12)) & 15u;
    uint q_bits1 = q_bits0.x;
    uint q_bits2 = q_bits0.y;
    uint q_bits3 = q_bits0.z;
    uint q_bits4 = q_bits0.w;
    precise vec4 q = vec4(f16_to_f32(((q_bits1 & 7u) << 9u) | ((q_bits1 & 8u) << 12u)) * 16384.0, f16_to_f32(((q_bits2 & 7u) << 9u) | ((q_bits2 & 8u) << 12u)) * 16384.0, f16_to_f32(((q_bits3 & 7u) << 9u) | ((q_bits3 & 8u) << 12u)) * 16384.0, f16_to_f32(((q_bits4 & 7u) << 9u) | ((q_bits4 & 8u) << 12u)) * 16384.0);  // w: 4 bits
    uint s = uint(scales[block]);
    float s_s0 = f16_to_f32(uint(((int(s) & 128) << 8) | ((int(s) & 127) << 7)));
    precise float s_s1 = s_s0 * 256.0;
    v[0] = q * s_s1;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[1]) {
    const uint at = block * 4u + tile;
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
            decode(from / 4u, i % 4u, v[n]);
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
            write_tile(i / 4u, i % 4u, v[n]);
        }
    }
}
