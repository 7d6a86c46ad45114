// mlx_mxfp8_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format mlx_mxfp8`; do not edit.
// 33 bytes for 32 elements, 8.25 bits each.
// For each weight 1.03 bytes read and 4 written, 11.8 operations: 0.5 loads, 7.25 bits, 1 integer, 2 float, 1 conversions.
//
//     format mlx_mxfp8 "E4M3 codes without NaN, a power of two for 32"
//     from "MLX, mlx.core.quantize with mode='mxfp8'"
//
//     block 32 {
//         buffer weight { w: u32[8] }
//         buffer scales { e: u8 }
//     }
//
//     code q = w { 8 @ 0 (32:8) }
//
//     # Sign and digits as those of a half, 2^8 too small; so the code that OCP takes for NaN is 480.
//     value = f16((q & 128) << 8 | (q & 127) << 7) * 256.0 * f32(e == 0 ? 4194304 : e << 23)
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
    uint w = weight[block * 8u + tile];
    uvec4 q = (uvec4(w) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    uvec4 bits = uvec4(((ivec4(q) & 128) << ivec4(8)) | ((ivec4(q) & 127) << ivec4(7)));
    uint e = uint(scales[block]);
    float e_e = uintBitsToFloat(uint(int(e) == 0 ? 4194304 : int(e) << 23));
    v[0] = vec4(f16_to_f32(bits.x), f16_to_f32(bits.y), f16_to_f32(bits.z), f16_to_f32(bits.w)) * 256.0 * e_e;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[1]) {
    const uint at = block * 8u + tile;
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
            decode(from / 8u, i % 8u, v[n]);
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
            write_tile(i / 8u, i % 8u, v[n]);
        }
    }
}
