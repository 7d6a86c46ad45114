// q2_K_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
// Generated from the specification below by `qkgen emit --format q2_K`; do not edit.
// 84 bytes for 256 elements, 2.625 bits each; 8.06 operations for each element.
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
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides that are kept, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 1, std430) readonly buffer Input { uvec2 x_in[]; };
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

// What a thread keeps of x: tiles of each right-hand side, in the order of the weights, and the sums over runs that share a
// scale.
vec4 x[TILES][BATCH][4];
float x_sum[TILES][BATCH][4];

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 16u;
    const uint place = j / 16u * 64u + tile / 8u * 32u + tile % 8u;
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_tiles * 4u + place;
        x[k][m][0] = vec4(unpackHalf2x16(x_in[from].x), unpackHalf2x16(x_in[from].y));
        x[k][m][1] = vec4(unpackHalf2x16(x_in[from + 8u].x), unpackHalf2x16(x_in[from + 8u].y));
        x[k][m][2] = vec4(unpackHalf2x16(x_in[from + 16u].x), unpackHalf2x16(x_in[from + 16u].y));
        x[k][m][3] = vec4(unpackHalf2x16(x_in[from + 24u].x), unpackHalf2x16(x_in[from + 24u].y));
        x_sum[k][m][0] = dot(x[k][m][0], vec4(1.0));
        x_sum[k][m][1] = dot(x[k][m][1], vec4(1.0));
        x_sum[k][m][2] = dot(x[k][m][2], vec4(1.0));
        x_sum[k][m][3] = dot(x[k][m][3], vec4(1.0));
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
void accumulate(uint n, uint j, uint k, inout float sum[BATCH]) {
    const uint block = n * (row_tiles / 16u) + j / 16u;
    const uint tile = j % 16u;
    uint base = block * 21u;
    uint d_dmin = blocks[base + 20u];
    float d = f16_to_f32(d_dmin);
    uint part = tile / 8u;  // of 128 elements
    uint scales0 = blocks[base + part * 2u];
    uint sc0 = (scales0 >> (tile % 8u / 4u * 8u)) & 15u;  // scales: 4 bits
    precise float d_sc0 = d * float(sc0);
    uint qs = blocks[base + tile + 4u];
    uvec4 q0 = (uvec4(qs) >> uvec4(0, 8, 16, 24)) & 3u;  // qs: 2 bits
    float dmin = f16_to_f32(d_dmin >> 16u);
    uint mn0 = (scales0 >> (tile % 8u / 4u * 8u + 4u)) & 15u;  // scales: 4 bits
    precise float dmin_mn0 = dmin * float(mn0);
    uint sc1 = (scales0 >> (tile % 8u / 4u * 8u + 16u)) & 15u;  // scales: 4 bits
    precise float d_sc1 = d * float(sc1);
    uvec4 q1 = (uvec4(qs) >> uvec4(2, 10, 18, 26)) & 3u;  // qs: 2 bits
    uint mn1 = (scales0 >> (tile % 8u / 4u * 8u + 20u)) & 15u;  // scales: 4 bits
    precise float dmin_mn1 = dmin * float(mn1);
    uint scales1 = blocks[base + part * 2u + 1u];
    uint sc2 = (scales1 >> (tile % 8u / 4u * 8u)) & 15u;  // scales: 4 bits
    precise float d_sc2 = d * float(sc2);
    uvec4 q2 = (uvec4(qs) >> uvec4(4, 12, 20, 28)) & 3u;  // qs: 2 bits
    uint mn2 = (scales1 >> (tile % 8u / 4u * 8u + 4u)) & 15u;  // scales: 4 bits
    precise float dmin_mn2 = dmin * float(mn2);
    uint sc3 = (scales1 >> (tile % 8u / 4u * 8u + 16u)) & 15u;  // scales: 4 bits
    precise float d_sc3 = d * float(sc3);
    uvec4 q3 = (uvec4(qs) >> uvec4(6, 14, 22, 30)) & 3u;  // qs: 2 bits
    uint mn3 = (scales1 >> (tile % 8u / 4u * 8u + 20u)) & 15u;  // scales: 4 bits
    precise float dmin_mn3 = dmin * float(mn3);
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        sum[m] += d_sc0 * dot(x[k][m][0], vec4(q0)) - dmin_mn0 * x_sum[k][m][0] + d_sc1 * dot(x[k][m][1], vec4(q1)) - dmin_mn1 * x_sum[k][m][1] + d_sc2 * dot(x[k][m][2], vec4(q2)) - dmin_mn2 * x_sum[k][m][2] + d_sc3 * dot(x[k][m][3], vec4(q3)) - dmin_mn3 * x_sum[k][m][3];
    }
}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS * BATCH];

void main() {
    // A subgroup holds a slice of x and walks down the rows. While there are slices for more, subgroups share a row.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    uint split = 1u;
    while (split < slices && gl_NumSubgroups % (2u * split) == 0u) split *= 2u;
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
                if (subgroupElect()) partial[(gl_SubgroupID * ROWS + r) * BATCH + m] = all;
            }
        }
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
