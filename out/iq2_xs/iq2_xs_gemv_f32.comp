// iq2_xs_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
// Generated from the specification below by `qkgen emit --format iq2_xs`; do not edit.
// 74 bytes for 256 elements, 2.312 bits each.
// For each weight 0.289 bytes read, 13.2 operations: 0.25 loads, 4.38 bits, 2.88 integer, 3.25 float, 2.12 conversions, 0.375 lookups.
//
//     format iq2_xs "eights from a codebook of 512, 7-bit sign masks, 4-bit scales in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         d:      f16
//         qs:     u16[32]
//         scales: u8[8]
//     }
//
//     code g  per 8  = qs { 9 @ 0 (32:16) }
//     code s  per 8  = qs { 7 @ 9 (32:16) }
//     code sc per 16 = scales { 4 @ 0 (16:4) }
//
//     table G: u8[512][8] = file "iq2xs_grid.bin"
//     table S: u8[128] = file "even_signs.bin"      # seven signs; the eighth makes the number of minus signs even
//
//     value = d * (0.5 + sc) * 0.25 * G[g][i % 8] * (S[s] >> i % 8 & 1 ? -1 : 1)
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides at once, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row, where there are few rows
layout(constant_id = 6) const uint SHARED_FOURS = 512;  // 16 bytes each: memory for x, of several right-hand sides

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 3, std430) readonly buffer GTable { uint G[]; };  // 512 rows of 8: u8, packed
layout(binding = 4, std430) readonly buffer STable { uint S[]; };
layout(binding = 1, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 2, std430) buffer Output { float y[]; };

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

const uint TILES = 4u;

// What a thread keeps of x: tiles, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][4];
float x_sum[TILES][1];

// Loads what tile `j` of a row meets of right-hand side `vector`.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 16u;
    const uint place = j / 16u * 64u + tile * 4u;
    const uint from = min(vector, batch - 1u) * row_tiles * 4u + place;
    const vec4 x0 = x_in[from];
    const vec4 x1 = x_in[from + 1u];
    const vec4 x2 = x_in[from + 2u];
    const vec4 x3 = x_in[from + 3u];
    x[k][0] = x0;
    x[k][1] = x1;
    x[k][2] = x2;
    x[k][3] = x3;
}

// Adds the products of tile `j` of row `n` with what is kept of x.
void accumulate(uint n, uint j, uint k, inout float sum) {
    const uint block = n * (row_tiles / 16u) + j / 16u;
    const uint tile = j % 16u;
    uint base = block * 37u;
    float d = f16_to_f32(uint(blocks[base]));
    uint scales = uint(blocks[base + tile / 4u + 33u]);
    uint sc = (scales >> (tile % 4u * 4u)) & 15u;  // scales: 4 bits
    precise float d_sc0 = d * (0.5 + float(sc));
    precise float d_sc1 = d_sc0 * 0.25;
    uint qs0 = uint(blocks[base + tile * 2u + 1u]);
    uint g0 = qs0 & 0x1FFu;  // qs: 9 bits
    uint G_row0 = G[g0 * 2u];
    uint s0 = qs0 >> 9u;  // qs: 7 bits
    uint G_row1 = G[g0 * 2u + 1u];
    uint qs1 = uint(blocks[base + tile * 2u + 2u]);
    uint g1 = qs1 & 0x1FFu;  // qs: 9 bits
    uint G_row2 = G[g1 * 2u];
    uint s1 = qs1 >> 9u;  // qs: 7 bits
    uint G_row3 = G[g1 * 2u + 1u];
    sum += d_sc1 * (dot(x[k][0], vec4((uvec4(G_row0) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(S[s0])) >> ivec4(0, 1, 2, 3)) & 1, ivec4(0))))) + dot(x[k][1], vec4((uvec4(G_row1) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(S[s0])) >> ivec4(4, 5, 6, 7)) & 1, ivec4(0))))) + dot(x[k][2], vec4((uvec4(G_row2) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(S[s1])) >> ivec4(0, 1, 2, 3)) & 1, ivec4(0))))) + dot(x[k][3], vec4((uvec4(G_row3) >> uvec4(0, 8, 16, 24)) & 0xFFu) * vec4(mix(ivec4(1), ivec4(-1), notEqual((ivec4(int(S[s1])) >> ivec4(4, 5, 6, 7)) & 1, ivec4(0))))));
}

const uint X_WORDS = 16u, X_FOURS = (X_WORDS + 3u) / 4u, FIT = SHARED_FOURS / (X_FOURS * BATCH);
const uint SLICE = BATCH == 1u ? 1u : FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles
shared uvec4 shared_x[BATCH * X_FOURS * SLICE];

// Puts what is kept of right-hand side `m` and tile `t` of the slice there.
void share_x(uint m, uint t) {
    uint words[4u * X_FOURS];
    [[unroll]] for (uint i = 0u; i < 16u; ++i) words[i] = floatBitsToUint(x[0][i / 4u][i % 4u]);
    [[unroll]] for (uint i = 0u; i < X_FOURS; ++i) shared_x[(m * X_FOURS + i) * SLICE + t] = uvec4(words[4u * i], words[4u * i + 1u], words[4u * i + 2u], words[4u * i + 3u]);
}

// Takes it from there.
void take_x(uint m, uint t) {
    uint words[4u * X_FOURS];
    [[unroll]] for (uint i = 0u; i < X_FOURS; ++i) {
        const uvec4 four = shared_x[(m * X_FOURS + i) * SLICE + t];
        [[unroll]] for (uint l = 0u; l < 4u; ++l) words[4u * i + l] = four[l];
    }
    [[unroll]] for (uint i = 0u; i < 16u; ++i) x[0][i / 4u][i % 4u] = uintBitsToFloat(words[i]);
}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS * 2u];

// Sums over `width` lanes, which begin at a multiple of that, of all rows at once: those of row r in the r-th of them.
float sum_of_lanes(float v[ROWS], uint width) {
    [[unroll]] for (uint left = ROWS / 2u, bit = 1u; left > 0u; left /= 2u, bit *= 2u) {
        const bool odd = (gl_SubgroupInvocationID & bit) != 0u;
        [[unroll]] for (uint i = 0u; i < left; ++i) {
            const float even_row = v[2u * i], odd_row = v[2u * i + 1u];
            v[i] = (odd ? odd_row : even_row) + subgroupShuffleXor(odd ? even_row : odd_row, bit);
        }
    }
    for (uint bit = ROWS; bit < width; bit *= 2u) v[0] += subgroupShuffleXor(v[0], bit);
    return v[0];
}

// Several right-hand sides: the workgroup shares a slice of x, and its subgroups walk down the rows, some lanes for each ROWS
// of them. Sums of a later slice are added to those of earlier ones.
void walk_shared() {
    const uint wide_tiles = row_tiles, end = rows, width = 4u * ROWS > gl_SubgroupSize ? gl_SubgroupSize : gl_SubgroupSize / 4u;
    const uint lane = gl_SubgroupInvocationID % width, tall = gl_SubgroupSize / width * ROWS;
    for (uint begin = 0u; begin < wide_tiles; begin += SLICE) {
        const uint count = min(SLICE, wide_tiles - begin);
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < count * BATCH; i += gl_WorkGroupSize.x) {
            load_x(i / count, begin + i % count, 0u);
            share_x(i / count, i % count);
        }
        barrier();
        for (uint first = (gl_WorkGroupID.x * gl_NumSubgroups + gl_SubgroupID) * tall; first < rows; first += gl_NumWorkGroups.x * gl_NumSubgroups * tall) {
            const uint row = first + gl_SubgroupInvocationID / width * ROWS;
            float sum[ROWS][BATCH];
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[r][m] = 0.0;
            }
            for (uint t = lane; t < count; t += width) {
                const uint j = begin + t;
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                    take_x(m, t);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(row + r, end - 1u), j, 0u, sum[r][m]);
                }
            }
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                float of_rows[ROWS];
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) of_rows[r] = sum[r][m];
                const float all = sum_of_lanes(of_rows, width);
                if (lane >= ROWS || row + lane >= rows || m >= batch) continue;
                const uint at = m * y_rows + y_first + row + lane;
                y[at] = begin == 0u ? all : y[at] + all;
            }
        }
    }
}

void main() {
    if (BATCH > 1u && gl_SubgroupSize >= ROWS) {
        walk_shared();
        return;
    }
    // A subgroup holds a slice of x and walks down the rows.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    const uint split = SPLIT == 1u ? 1u : min(SPLIT, gl_NumSubgroups);
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    for (uint vector = 0u; vector < batch; ++vector) {
        uint held = ~0u;
        for (uint first = gl_WorkGroupID.x * teams * ROWS; first < rows; first += gl_NumWorkGroups.x * teams * ROWS) {
            float sum[ROWS];
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
            for (uint c = gl_SubgroupID % split; c < slices; c += split) {
                [[unroll]] for (uint k = 0; k < TILES; ++k) {
                    const uint j = (c * TILES + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
                    if (j >= row_tiles) continue;
                    if (c != held) load_x(vector, j, k);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(first + team * ROWS + r, rows - 1u), j, k, sum[r]);
                }
                held = c;
            }
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
                const float all = subgroupAdd(sum[r]);
                const uint row = first + team * ROWS + r;
                if (!subgroupElect()) continue;
                if (split > 1u) partial[gl_SubgroupID * ROWS + r] = all;
                else if (row < rows) y[vector * y_rows + y_first + row] = all;
            }
            if (split == 1u) continue;
            barrier();
            for (uint i = gl_LocalInvocationID.x; i < teams * ROWS; i += gl_WorkGroupSize.x) {
                const uint at = i / ROWS * (split - 1u) * ROWS + i;
                float total = 0.0;
                for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS];
                if (first + i < rows) y[vector * y_rows + y_first + first + i] = total;
            }
            barrier();
        }
    }
}
