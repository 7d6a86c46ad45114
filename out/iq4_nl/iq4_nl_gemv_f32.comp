// iq4_nl_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
// Generated from the specification below by `qkgen emit --format iq4_nl`; do not edit.
// 18 bytes for 32 elements, 4.5 bits each.
// For each weight 0.562 bytes read, 7.12 operations: 0.312 loads, 2.25 bits, 0.438 integer, 2.06 float, 1.06 conversions, 1 lookups.
//
//     format iq4_nl "4-bit indices into a table of unequal steps, one scale for 32"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 32 {
//         d:  f16
//         qs: u8[16]
//     }
//
//     table N: i8[16] = {
//         -127, -104, -83, -65, -49, -35, -22, -10,
//            1,   13,  25,  38,  53,  69,  89, 113,
//     }
//
//     code q = qs { 4 @ 0 (16:8, 2:4) }    # low nibbles, then high nibbles
//
//     value = d * N[q]
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides that are kept, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row, where there are few rows

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 3, std430) readonly buffer NTable { int N[]; };
layout(binding = 1, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 2, std430) writeonly buffer Output { float y[]; };

layout(push_constant) uniform Push {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of 16 elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

const uint TILES = BATCH == 1u ? 4u : 1u;

// What a thread keeps of x: tiles of each right-hand side, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][BATCH][4];
float x_sum[TILES][BATCH][1];

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 2u;
    const uint place = j / 2u * 8u + tile * 2u;
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_tiles * 4u + place;
        const vec4 x0 = x_in[from];
        const vec4 x1 = x_in[from + 1u];
        const vec4 x2 = x_in[from + 4u];
        const vec4 x3 = x_in[from + 5u];
        x[k][m][0] = x0;
        x[k][m][1] = x1;
        x[k][m][2] = x2;
        x[k][m][3] = x3;
    }
}

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
void accumulate(uint n, uint j, uint k, inout float sum[BATCH]) {
    const uint block = n * (row_tiles / 2u) + j / 2u;
    const uint tile = j % 2u;
    uint base = block * 9u;
    float d = f16_to_f32(uint(blocks[base]));
    uint qs0 = blocks_u32(base + tile * 4u + 1u);
    uvec4 q0 = (uvec4(qs0) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    uint qs1 = blocks_u32(base + tile * 4u + 3u);
    uvec4 q1 = (uvec4(qs1) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    uvec4 q2 = (uvec4(qs0) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: 4 bits
    uvec4 q3 = (uvec4(qs1) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: 4 bits
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        sum[m] += d * (dot(x[k][m][0], vec4(N[q0.x], N[q0.y], N[q0.z], N[q0.w])) + dot(x[k][m][1], vec4(N[q1.x], N[q1.y], N[q1.z], N[q1.w])) + dot(x[k][m][2], vec4(N[q2.x], N[q2.y], N[q2.z], N[q2.w])) + dot(x[k][m][3], vec4(N[q3.x], N[q3.y], N[q3.z], N[q3.w])));
    }
}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS * BATCH];

void main() {
    // A subgroup holds a slice of x and walks down the rows.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    const uint split = SPLIT == 1u ? 1u : min(SPLIT, gl_NumSubgroups);
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    uint held = ~0u;
    for (uint first = gl_WorkGroupID.x * teams * ROWS; first < rows; first += gl_NumWorkGroups.x * teams * ROWS) {
        float sum[ROWS][BATCH];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[r][m] = 0.0;
        }
        for (uint c = gl_SubgroupID % split; c < slices; c += split) {
            [[unroll]] for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
                if (j >= row_tiles) continue;
                if (c != held) load_x(0u, j, k);
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(first + team * ROWS + r, rows - 1u), j, k, sum[r]);
            }
            held = c;
        }
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                const float all = subgroupAdd(sum[r][m]);
                const uint row = first + team * ROWS + r;
                if (!subgroupElect()) continue;
                if (split > 1u) partial[(gl_SubgroupID * ROWS + r) * BATCH + m] = all;
                else if (row < rows && m < batch) y[m * y_rows + y_first + row] = all;
            }
        }
        if (split == 1u) continue;
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < teams * ROWS * BATCH; i += gl_WorkGroupSize.x) {
            const uint row = first + i / BATCH, m = i % BATCH, at = i / (ROWS * BATCH) * (split - 1u) * ROWS * BATCH + i;
            float total = 0.0;
            for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS * BATCH];
            if (row < rows && m < batch) y[m * y_rows + y_first + row] = total;
        }
        barrier();
    }
}
