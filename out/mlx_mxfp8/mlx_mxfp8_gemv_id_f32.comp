// mlx_mxfp8_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], x in f32.
// Generated from the specification below by `qkgen emit --format mlx_mxfp8`; do not edit.
// 33 bytes for 32 elements, 8.25 bits each.
// For each weight 1.03 bytes read, 11 operations: 0.312 loads, 7.06 bits, 0.5 integer, 2.12 float, 1 conversions.
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
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time

layout(binding = 0, std430) readonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint8_t scales[]; };
layout(binding = 2, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 3, std430) readonly buffer Ids { uint ids[]; };
layout(binding = 4, std430) writeonly buffer Output { float y[]; };
layout(binding = 5, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 16 elements in a row
    uint batch;         // right-hand sides: tokens
    uint slots;         // experts of each token
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

const uint BATCH = 1u;
const uint TILES = 4u;

// What a thread keeps of x: tiles of one token, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][BATCH][4];
float x_sum[TILES][BATCH][1];

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 2u;
    const uint place = j / 2u * 8u + tile * 4u;
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_tiles * 4u + place;
        const vec4 x0 = x_in[from];
        const vec4 x1 = x_in[from + 1u];
        const vec4 x2 = x_in[from + 2u];
        const vec4 x3 = x_in[from + 3u];
        x[k][m][0] = x0;
        x[k][m][1] = x1;
        x[k][m][2] = x2;
        x[k][m][3] = x3;
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
void accumulate(uint n, uint j, uint k, inout float sum[BATCH]) {
    const uint block = n * (row_tiles / 2u) + j / 2u;
    const uint tile = j % 2u;
    uint e = uint(scales[block]);
    float e_e = uintBitsToFloat(uint(int(e) == 0 ? 4194304 : int(e) << 23));
    uint w0 = weight[block * 8u + tile * 4u];
    uvec4 q0 = (uvec4(w0) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    uvec4 bits0 = uvec4(((ivec4(q0) & 128) << ivec4(8)) | ((ivec4(q0) & 127) << ivec4(7)));
    uint w1 = weight[block * 8u + tile * 4u + 1u];
    uvec4 q1 = (uvec4(w1) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    uvec4 bits1 = uvec4(((ivec4(q1) & 128) << ivec4(8)) | ((ivec4(q1) & 127) << ivec4(7)));
    uint w2 = weight[block * 8u + tile * 4u + 2u];
    uvec4 q2 = (uvec4(w2) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    uvec4 bits2 = uvec4(((ivec4(q2) & 128) << ivec4(8)) | ((ivec4(q2) & 127) << ivec4(7)));
    uint w3 = weight[block * 8u + tile * 4u + 3u];
    uvec4 q3 = (uvec4(w3) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    uvec4 bits3 = uvec4(((ivec4(q3) & 128) << ivec4(8)) | ((ivec4(q3) & 127) << ivec4(7)));
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        sum[m] += e_e * 256.0 * (dot(x[k][m][0], vec4(f16_to_f32(bits0.x), f16_to_f32(bits0.y), f16_to_f32(bits0.z), f16_to_f32(bits0.w))) + dot(x[k][m][1], vec4(f16_to_f32(bits1.x), f16_to_f32(bits1.y), f16_to_f32(bits1.z), f16_to_f32(bits1.w))) + dot(x[k][m][2], vec4(f16_to_f32(bits2.x), f16_to_f32(bits2.y), f16_to_f32(bits2.z), f16_to_f32(bits2.w))) + dot(x[k][m][3], vec4(f16_to_f32(bits3.x), f16_to_f32(bits3.y), f16_to_f32(bits3.z), f16_to_f32(bits3.w))));
    }
}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS];

void main() {
    // A subgroup holds a slice of x and walks down the rows. While there are slices for more, subgroups share a row.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    uint split = 1u;
    while (split < slices && gl_NumSubgroups % (2u * split) == 0u) split *= 2u;
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    const uint parts = (rows + teams * ROWS - 1u) / (teams * ROWS);
    uint held = ~0u, held_token = ~0u;
    for (uint work = gl_WorkGroupID.x; work < batch * slots * parts; work += gl_NumWorkGroups.x) {
        const uint pair = work / parts, token = pair / slots, first = work % parts * teams * ROWS, expert = ids[pair];
        const bool found = expert < experts;
        if (found ? expert < expert_first || expert >= expert_end : expert_first != 0u) continue;  // another launch's
        float sum[ROWS][BATCH];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r][0] = 0.0;
        if (!found && first == 0u && gl_LocalInvocationID.x == 0u) atomicAdd(out_of_range, 1u);  // zeros
        for (uint c = gl_SubgroupID % split; found && c < slices; c += split) {
            [[unroll]] for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
                if (j >= row_tiles) continue;
                if (c != held || token != held_token) load_x(token, j, k);
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, rows - 1u);
                    accumulate((expert - expert_first) * rows + row, j, k, sum[r]);
                }
            }
            held = c;
            held_token = token;
        }
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            const float all = subgroupAdd(sum[r][0]);
            if (subgroupElect()) partial[gl_SubgroupID * ROWS + r] = all;
        }
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < teams * ROWS; i += gl_WorkGroupSize.x) {
            const uint at = i / ROWS * (split - 1u) * ROWS + i;
            float total = 0.0;
            for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS];
            if (first + i < rows) y[pair * rows + first + i] = total;
        }
        barrier();
    }
}
