// q2_K_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
// Generated from the specification below by `qkgen emit --format q2_K`; do not edit.
// 84 bytes for 256 elements, 2.625 bits each.
// For each weight 0.328 bytes read, 7.12 operations: 0.25 loads, 1.62 bits, 0.875 integer, 3.25 float, 1.12 conversions.
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
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row, where there are few rows

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
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
float x_sum[TILES][BATCH][4];

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 16u;
    const uint place = j / 16u * 64u + tile / 8u * 32u + tile % 8u;
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_tiles * 4u + place;
        const vec4 x0 = x_in[from];
        const vec4 x1 = x_in[from + 8u];
        const vec4 x2 = x_in[from + 16u];
        const vec4 x3 = x_in[from + 24u];
        x[k][m][0] = x0 * vec4(16777216.0, 65536.0, 16777216.0, 65536.0);
        x[k][m][1] = x1 * 4194304.0;
        x[k][m][2] = x2 * 1048576.0;
        x[k][m][3] = x3 * 262144.0;
        x_sum[k][m][0] = dot(x0, vec4(1.0));
        x_sum[k][m][1] = dot(x1, vec4(1.0));
        x_sum[k][m][2] = dot(x2, vec4(1.0));
        x_sum[k][m][3] = dot(x3, vec4(1.0));
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
    vec2 pair0 = unpackHalf2x16(qs & 0x30003u);
    vec2 pair1 = unpackHalf2x16(qs & 0x3000300u);
    float dmin = f16_to_f32(d_dmin >> 16u);
    uint mn0 = (scales0 >> (tile % 8u / 4u * 8u + 4u)) & 15u;  // scales: 4 bits
    precise float dmin_mn0 = dmin * float(mn0);
    uint sc1 = (scales0 >> (tile % 8u / 4u * 8u + 16u)) & 15u;  // scales: 4 bits
    precise float d_sc1 = d * float(sc1);
    vec2 pair2 = unpackHalf2x16(qs & 0xC000Cu);
    vec2 pair3 = unpackHalf2x16((qs >> 8u) & 0xC000Cu);
    uint mn1 = (scales0 >> (tile % 8u / 4u * 8u + 20u)) & 15u;  // scales: 4 bits
    precise float dmin_mn1 = dmin * float(mn1);
    uint scales1 = blocks[base + part * 2u + 1u];
    uint sc2 = (scales1 >> (tile % 8u / 4u * 8u)) & 15u;  // scales: 4 bits
    precise float d_sc2 = d * float(sc2);
    vec2 pair4 = unpackHalf2x16(qs & 0x300030u);
    vec2 pair5 = unpackHalf2x16((qs >> 8u) & 0x300030u);
    uint mn2 = (scales1 >> (tile % 8u / 4u * 8u + 4u)) & 15u;  // scales: 4 bits
    precise float dmin_mn2 = dmin * float(mn2);
    uint sc3 = (scales1 >> (tile % 8u / 4u * 8u + 16u)) & 15u;  // scales: 4 bits
    precise float d_sc3 = d * float(sc3);
    vec2 pair6 = unpackHalf2x16(qs & 0xC000C0u);
    vec2 pair7 = unpackHalf2x16((qs >> 8u) & 0xC000C0u);
    uint mn3 = (scales1 >> (tile % 8u / 4u * 8u + 20u)) & 15u;  // scales: 4 bits
    precise float dmin_mn3 = dmin * float(mn3);
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        sum[m] += d_sc0 * dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y)) - dmin_mn0 * x_sum[k][m][0] + d_sc1 * dot(x[k][m][1], vec4(pair2.x, pair3.x, pair2.y, pair3.y)) - dmin_mn1 * x_sum[k][m][1] + d_sc2 * dot(x[k][m][2], vec4(pair4.x, pair5.x, pair4.y, pair5.y)) - dmin_mn2 * x_sum[k][m][2] + d_sc3 * dot(x[k][m][3], vec4(pair6.x, pair7.x, pair6.y, pair7.y)) - dmin_mn3 * x_sum[k][m][3];
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
