// iq1_s_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
// Generated from the specification below by `qkgen emit --format iq1_s`; do not edit.
// 50 bytes for 256 elements, 1.562 bits each.
// For each weight 0.195 bytes read, 6.31 operations: 0.188 loads, 1.56 bits, 1.25 integer, 2.44 float, 0.625 conversions, 0.25 lookups.
//
//     format iq1_s "eights from a ternary codebook of 2048, shifted by an eighth, 3-bit scales in groups of 32"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         d:  f16
//         qs: u8[32]
//         qh: u16[8]
//     }
//
//     code g  per 8  = qs { 8 @ 0 (32:8) } qh { 3 @ 0 (4:3, 8:16) }
//     code sc per 32 = qh { 3 @ 12 (8:16) }
//     code sg per 32 = qh { 1 @ 15 (8:16) }
//
//     table G: i8[2048][8] = file "iq1s_grid.bin"
//
//     value = d * (2 * sc + 1) * (G[g][i % 8] + (sg ? -0.125 : 0.125))
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides at once, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row
layout(constant_id = 6) const uint SHARED_FOURS = 512;  // 16 bytes each: memory for x, of several right-hand sides

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 3, std430) readonly buffer GTable { uint G[]; };  // 2048 rows of 8: i8, packed
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
    x[k][0] = x0 * vec4(16777216.0, 65536.0, 16777216.0, 65536.0);
    x[k][1] = x1 * vec4(16777216.0, 65536.0, 16777216.0, 65536.0);
    x[k][2] = x2 * vec4(16777216.0, 65536.0, 16777216.0, 65536.0);
    x[k][3] = x3 * vec4(16777216.0, 65536.0, 16777216.0, 65536.0);
    x_sum[k][0] = dot(x0 + x1 + x2 + x3, vec4(1.0));
}

// Adds the products of tile `j` of row `n` with what is kept of x.
void accumulate(uint n, uint j, uint k, inout float sum) {
    const uint block = n * (row_tiles / 16u) + j / 16u;
    const uint tile = j % 16u;
    uint base = block * 25u;
    float d = f16_to_f32(uint(blocks[base]));
    uint part = tile / 2u;  // of 32 elements
    uint qh = uint(blocks[base + part + 17u]);
    uint sc = (qh >> 12u) & 7u;  // qh: 3 bits
    precise float d_sc = d * float(2 * int(sc) + 1);
    uint qs = uint(blocks[base + tile + 1u]);
    uint g_lo0 = qs & 0xFFu;  // qs: bits 0-7 of g
    uint g_hi0 = (qh >> (tile % 2u * 6u)) & 7u;  // qh: bits 8-10 of g
    uint g0 = g_lo0 | (g_hi0 << 8u);
    uint G_row0 = G[g0 * 2u];
    uint biased0 = (G_row0 ^ 0x80808080u) - 0x7F7F7F7Fu;  // from zero on
    vec2 pair0 = unpackHalf2x16(biased0 & 0x30003u);
    vec2 pair1 = unpackHalf2x16(biased0 & 0x3000300u);
    uint G_row1 = G[g0 * 2u + 1u];
    uint biased1 = (G_row1 ^ 0x80808080u) - 0x7F7F7F7Fu;  // from zero on
    vec2 pair2 = unpackHalf2x16(biased1 & 0x30003u);
    vec2 pair3 = unpackHalf2x16(biased1 & 0x3000300u);
    uint g_lo1 = qs >> 8u;  // qs: bits 0-7 of g
    uint g_hi1 = (qh >> (tile % 2u * 6u + 3u)) & 7u;  // qh: bits 8-10 of g
    uint g1 = g_lo1 | (g_hi1 << 8u);
    uint G_row2 = G[g1 * 2u];
    uint biased2 = (G_row2 ^ 0x80808080u) - 0x7F7F7F7Fu;  // from zero on
    vec2 pair4 = unpackHalf2x16(biased2 & 0x30003u);
    vec2 pair5 = unpackHalf2x16(biased2 & 0x3000300u);
    uint G_row3 = G[g1 * 2u + 1u];
    uint biased3 = (G_row3 ^ 0x80808080u) - 0x7F7F7F7Fu;  // from zero on
    vec2 pair6 = unpackHalf2x16(biased3 & 0x30003u);
    vec2 pair7 = unpackHalf2x16(biased3 & 0x3000300u);
    uint sg = qh >> 15u;  // qh: 1 bit
    sum += d_sc * (dot(x[k][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y)) + dot(x[k][1], vec4(pair2.x, pair3.x, pair2.y, pair3.y)) + dot(x[k][2], vec4(pair4.x, pair5.x, pair4.y, pair5.y)) + dot(x[k][3], vec4(pair6.x, pair7.x, pair6.y, pair7.y)) - x_sum[k][0]) + d_sc * (int(sg) != 0 ? -0.125 : 0.125) * x_sum[k][0];
}

const uint X_WORDS = 17u, X_FOURS = (X_WORDS + 3u) / 4u, FIT = SHARED_FOURS / (X_FOURS * BATCH);
const uint SLICE = BATCH == 1u ? 1u : FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles
shared uvec4 shared_x[BATCH * X_FOURS * SLICE];

// Puts what is kept of right-hand side `m` and tile `t` of the slice there.
void share_x(uint m, uint t) {
    uint words[4u * X_FOURS];
    [[unroll]] for (uint i = 0u; i < 16u; ++i) words[i] = floatBitsToUint(x[0][i / 4u][i % 4u]);
    [[unroll]] for (uint i = 0u; i < 1u; ++i) words[16u + i] = floatBitsToUint(x_sum[0][i]);
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
    [[unroll]] for (uint i = 0u; i < 1u; ++i) x_sum[0][i] = uintBitsToFloat(words[16u + i]);
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
