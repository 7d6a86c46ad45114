// affine_b5_g32_bf16_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], x in f32.
// Generated from the specification below by `qkgen emit --format affine_b5_g32_bf16`; do not edit.
// 24 bytes for 32 elements, 6 bits each.
// For each weight 0.75 bytes read, 5.91 operations: 0.219 loads, 2.44 bits, 0.156 integer, 2.09 float, 1 conversions.
//
//     format affine_b{bits}_g{group}_{T} "affine codes in one bit stream, a scale and a bias for each group"
//     from "MLX, mlx.core.quantize with mode='affine'"
//     for bits in 2 3 4 5 6 8, group in 32 64 128, T in f16 bf16 f32
//
//     block group {
//         buffer weight { w: u32[group * bits / 32] }
//         buffer scales { s: T }
//         buffer biases { b: T }
//     }
//
//     code q = w { bits @ 0 (group:bits) }
//
//     value = q * s + b
//
// Here bits = 5, group = 32, T = bf16.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time

layout(binding = 0, std430) readonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 2, std430) readonly buffer BiasesBuffer { uint16_t biases[]; };
layout(binding = 3, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 4, std430) readonly buffer Ids { uint ids[]; };
layout(binding = 5, std430) writeonly buffer Output { float y[]; };
layout(binding = 6, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 32 elements in a row
    uint batch;         // right-hand sides: tokens
    uint slots;         // experts of each token
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
};

// The bfloat16 in the low 16 bits.
float bf16_to_f32(uint bits) {
    return uintBitsToFloat(bits << 16);
}

const uint BATCH = 1u;
const uint TILES = 2u;

// What a thread keeps of x: tiles of one token, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][BATCH][8];
float x_sum[TILES][BATCH][1];

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
void load_x(uint vector, uint j, uint k) {
    const uint place = j * 8u;
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_tiles * 8u + place;
        const vec4 x0 = x_in[from];
        const vec4 x1 = x_in[from + 1u];
        const vec4 x2 = x_in[from + 2u];
        const vec4 x3 = x_in[from + 3u];
        const vec4 x4 = x_in[from + 4u];
        const vec4 x5 = x_in[from + 5u];
        const vec4 x6 = x_in[from + 6u];
        const vec4 x7 = x_in[from + 7u];
        x[k][m][0] = x0;
        x[k][m][1] = x1;
        x[k][m][2] = x2;
        x[k][m][3] = x3;
        x[k][m][4] = x4;
        x[k][m][5] = x5;
        x[k][m][6] = x6;
        x[k][m][7] = x7;
        x_sum[k][m][0] = dot(x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7, vec4(1.0));
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
void accumulate(uint n, uint j, uint k, inout float sum[BATCH]) {
    const uint block = n * row_tiles + j;
    float s = bf16_to_f32(uint(scales[block]));
    uint w0 = weight[block * 5u];
    uvec4 q0 = (uvec4(w0) >> uvec4(0, 5, 10, 15)) & 31u;  // w: 5 bits
    uint w1 = weight[block * 5u + 1u];
    uint w_run0 = (w0 >> 20u) | (w1 << 12u);
    uvec4 q1 = (uvec4(w_run0) >> uvec4(0, 5, 10, 15)) & 31u;  // w: 5 bits
    uvec4 q2 = (uvec4(w1) >> uvec4(8, 13, 18, 23)) & 31u;  // w: 5 bits
    uint w2 = weight[block * 5u + 2u];
    uint w_run1 = (w1 >> 28u) | (w2 << 4u);
    uvec4 q3 = (uvec4(w_run1) >> uvec4(0, 5, 10, 15)) & 31u;  // w: 5 bits
    uint w3 = weight[block * 5u + 3u];
    uint w_run2 = (w2 >> 16u) | (w3 << 16u);
    uvec4 q4 = (uvec4(w_run2) >> uvec4(0, 5, 10, 15)) & 31u;  // w: 5 bits
    uvec4 q5 = (uvec4(w3) >> uvec4(4, 9, 14, 19)) & 31u;  // w: 5 bits
    uint w4 = weight[block * 5u + 4u];
    uint w_run3 = (w3 >> 24u) | (w4 << 8u);
    uvec4 q6 = (uvec4(w_run3) >> uvec4(0, 5, 10, 15)) & 31u;  // w: 5 bits
    uvec4 q7 = (uvec4(w4) >> uvec4(12, 17, 22, 27)) & 31u;  // w: 5 bits
    float b = bf16_to_f32(uint(biases[block]));
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        sum[m] += s * (dot(x[k][m][0], vec4(q0)) + dot(x[k][m][1], vec4(q1)) + dot(x[k][m][2], vec4(q2)) + dot(x[k][m][3], vec4(q3)) + dot(x[k][m][4], vec4(q4)) + dot(x[k][m][5], vec4(q5)) + dot(x[k][m][6], vec4(q6)) + dot(x[k][m][7], vec4(q7))) + b * x_sum[k][m][0];
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
