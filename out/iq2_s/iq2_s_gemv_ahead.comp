// iq2_s_gemv_ahead: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format iq2_s`; do not edit.
// 82 bytes for 256 elements, 2.562 bits each.
// For each weight 0.32 bytes read, 8.39 operations: 0.25 loads, 3.02 bits, 1.91 integer, 2.38 float, 0.594 conversions, 0.25 lookups.
//
//     format iq2_s "eights from a codebook of 1024, sign masks, 4-bit scales in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         d:      f16
//         qs:     u8[32]
//         signs:  u8[32]
//         qh:     u8[8]
//         scales: u8[8]
//     }
//
//     code g  per 8  = qs { 8 @ 0 (32:8) } qh { 2 @ 0 (32:2) }
//     code s  per 8  = signs { 8 @ 0 (32:8) }
//     code sc per 16 = scales { 4 @ 0 (16:4) }
//
//     table G: u8[1024][8] = file "iq2s_grid.bin"
//
//     value = d * (0.5 + sc) * 0.25 * G[g][i % 8] * (s >> i % 8 & 1 ? -1 : 1)
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row: all of its slices
layout(constant_id = 14) const uint LANES = 32;  // of a subgroup
layout(constant_id = 21) const uint X_TYPE = 0;  // how x is stored: 0 as f32, 1 as f16, 2 as bf16
layout(constant_id = 15) const uint COPIES = 1;  // of tables, for threads that are neighbours; 1: none

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 7, std430) readonly buffer GTable { uint G[]; };  // 1024 rows of 8: u8, packed
layout(binding = 0, std430) readonly buffer Blocks_wordBuffer { uint blocks_word[]; };
layout(binding = 0, std430) readonly buffer Blocks_fourBuffer { uvec4 blocks_four[]; };

layout(push_constant) uniform Push {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of 16 elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
    uint epilogue;   // what is done with results
};

layout(binding = 1, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 1, std430) readonly buffer InputHalves { uvec2 x_halves[]; };

// Run `at` of x: 4 consecutive elements.
vec4 x_run(uint at) {
    if (X_TYPE == 0u) return x_in[at];
    const uvec2 run = uvec2(x_halves[at]);
    return X_TYPE == 1u ? vec4(unpackHalf2x16(run.x), unpackHalf2x16(run.y))
        : uintBitsToFloat(uvec4(run.x << 16, run.x & 0xffff0000u, run.y << 16, run.y & 0xffff0000u));
}

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have; what others stand for is left out

layout(binding = 2, std430) buffer Output { float y[]; };
layout(binding = 3, std430) readonly buffer ResultScale { float result_scale[]; };
layout(binding = 4, std430) readonly buffer RowBias { float row_bias[]; };
layout(binding = 5, std430) readonly buffer ResultGate { float result_gate[]; };
layout(binding = 6, std430) readonly buffer Residual { float residual[]; };

// Bits of the epilogue: what is done with results, and what has a scale of its own; else all of a tensor have one.
const uint ADDS_TO_Y = 1u, ADDS_BIAS = 2u, SCALES = 4u, GATES = 8u, ADDS_RESIDUAL = 16u, SCALES_ROWS = 256u, SCALES_VECTORS = 512u;

bool does(uint part) {
    return (EPILOGUE & part & epilogue) != 0u;
}

float silu(float v) {
    return v / (1.0 + exp(-v));
}

// Row `n` of right-hand side `m` is done; or, where sums come in parts, one of them is, which may be the first or the last.
void finish(uint m, uint n, float sum, bool first, bool last) {
    const uint at = m * y_rows + y_first + n, row = y_first % y_rows + n;
    if (does(SCALES))
        sum *= result_scale[does(SCALES_ROWS) ? row : does(SCALES_VECTORS) ? m + y_first / y_rows : 0u];
    if (first && does(ADDS_BIAS)) sum += row_bias[row];
    if (!first || does(ADDS_TO_Y)) sum += y[at];
    if (last && does(GATES)) sum *= silu(result_gate[at]);
    if (last && does(ADDS_RESIDUAL)) sum += residual[at];
    y[at] = sum;
}

void finish(uint m, uint n, float sum) {
    finish(m, n, sum, true, true);
}

const uint TILES = 1u;

// What a thread keeps of x: tiles, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][16];
float x_sum[TILES][4];

// sum + dot(a, b), in as many operations as a has lanes.
float dot_add(float sum, vec4 a, vec4 b) {
    return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
}

shared uint G_copies[COPIES == 1u ? 1u : 2048u * COPIES];

// A word of G, from the thread's copy.
uint G_at(uint i) {
    const uint copy = gl_LocalInvocationID.x % COPIES;
    if (COPIES == 1u) return G[i];
    return G_copies[(i - i % 2u) * COPIES + copy * 2u + i % 2u];
}

// What one of four neighbours wants of x, four runs from `at` on, all four load, side by side; then they swap, so that each has what
// it wants. The whole subgroup calls it.
void swap_runs(uint at, out vec4 v[4]) {
    const uint own = gl_SubgroupInvocationID % 4u;
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        const uint from = subgroupShuffle(at, gl_SubgroupInvocationID / 4u * 4u + i) + own;
        v[i] = x_run(from);
    }
    [[unroll]] for (uint bit = 1u; bit < 4u; bit *= 2u) {
        const bool odd = (own & bit) != 0u;
        [[unroll]] for (uint pair = 0u; pair < 2u; ++pair) {
            const uint i = bit == 1u ? 2u * pair : pair;
            const vec4 other = subgroupShuffleXor(odd ? v[i] : v[i + bit], bit);
            v[i] = odd ? other : v[i];
            v[i + bit] = odd ? v[i + bit] : other;
        }
    }
}

// Runs `at` to `at` + 3 of x, for each thread its own.
void load_runs(uint at, out vec4 run0, out vec4 run1, out vec4 run2, out vec4 run3) {
    vec4 v[4];
    swap_runs(at, v);
    run0 = v[0];
    run1 = v[1];
    run2 = v[2];
    run3 = v[3];
}

// Loads what tile `j` of a row meets of right-hand side `vector`.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 8u;
    const uint place = j / 8u * 128u + tile * 8u;
    const uint from = min(vector, batch - 1u) * row_tiles * 4u + place;
    vec4 run[16];
    [[unroll]] for (uint r = 0u; r < 16u; r += 4u) load_runs(from + r % 8u + r / 8u * 64u, run[r], run[r + 1u], run[r + 2u], run[r + 3u]);
    [[unroll]] for (uint r = 0u; r < 16u; ++r) x[k][r] = run[r] * 16777216.0;
    x_sum[k][0] = dot(run[0] + run[1] + run[2] + run[3], vec4(1.0));
    x_sum[k][1] = dot(run[4] + run[5] + run[6] + run[7], vec4(1.0));
    x_sum[k][2] = dot(run[8] + run[9] + run[10] + run[11], vec4(1.0));
    x_sum[k][3] = dot(run[12] + run[13] + run[14] + run[15], vec4(1.0));
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

// Adds up what subgroups left of that many rounds of rows, `step` apart, the last of which begins at row `first`; teams' rows do so
// at `end` at the latest. Lookups take longer in one subgroup than in another: they wait for each other once in some rounds.
void add_rounds(uint place, uint rounds, uint first, uint step, uint end) {
    const uint teams = gl_NumSubgroups / SPLIT;
    for (uint i = gl_LocalInvocationID.x; i < rounds * teams * ROWS; i += gl_WorkGroupSize.x) {
        const uint round = i / ROWS / teams, team = i / ROWS % teams;
        const uint row = first - (rounds - 1u - round) * step + team * ROWS, to = min(row, end) + i % ROWS;
        if (to < row || to >= rows) continue;
        float total = 0.0;
        [[unroll]] for (uint s = 0u; s < SPLIT; ++s)
            total += partial[place + (round * gl_NumSubgroups + team * SPLIT + s) * ROWS + i % ROWS];
        finish(0u, to, total);
    }
}

// One right-hand side, of which a subgroup keeps a slice, a tile in each lane. Rows of that slice are loaded side by side, 16 bytes a
// thread, while those before them, which lie in memory that the subgroup has for itself, are multiplied.
const uint SLICE_WORDS = LANES / 8u * 41u;
const uint SLICE_FOURS = (SLICE_WORDS + 3u) / 4u + (SLICE_WORDS % 4u == 0u ? 0u : 1u);
const uint LOADS = (ROWS * SLICE_FOURS + LANES - 1u) / LANES;  // of a thread
shared uint held[gl_WorkGroupSize.x * LOADS * 4u];

// Takes tile `j` of a slice, which lies from word `at` on.
void take(uint at, uint j, out uint words[16]) {
    const uint block = j / 8u;
    const uint tile = j % 8u;
    uint base = block * 41u;
    words[0] = held[at + base];
    words[1] = held[at + base + (tile * 8u + 592u) / 32u];
    words[2] = held[at + base + tile];
    words[3] = held[at + base + (tile * 8u + 528u) / 32u];
    words[4] = held[at + base + tile + 8u];
    words[5] = held[at + base + (tile * 8u + 530u) / 32u];
    words[6] = held[at + base + (tile * 8u + 596u) / 32u];
    words[7] = held[at + base + tile + 1u];
    words[8] = held[at + base + (tile * 8u + 532u) / 32u];
    words[9] = held[at + base + tile + 9u];
    words[10] = held[at + base + (tile * 8u + 534u) / 32u];
    words[11] = held[at + base + 20u];
    words[12] = held[at + base + tile / 4u + 39u];
    words[13] = held[at + base + tile + 21u];
    words[14] = held[at + base + tile / 4u + 37u];
    words[15] = held[at + base + tile + 29u];
}

// Adds the products of tile `j` with what is kept of x.
void accumulate(uint j, uint k, uint words[16], inout float sum) {
    const uint block = j / 8u;
    const uint tile = j % 8u;
    float d0 = f16_to_f32(words[0]);
    uint scales0 = words[1];
    uint sc0 = (scales0 >> ((tile * 8u + 592u) % 32u)) & 15u;  // scales: 4 bits
    precise float d_sc0 = d0 * (0.5 + float(sc0));
    precise float d_sc1 = d_sc0 * 0.25;
    uint qs0 = words[2];
    uint g_lo0 = (qs0 >> 16u) & 0xFFu;  // qs: bits 0-7 of g
    uint qh0 = words[3];
    uint g_hi0 = (qh0 >> ((tile * 8u + 528u) % 32u)) & 3u;  // qh: bits 8-9 of g
    uint g0 = g_lo0 | (g_hi0 << 8u);
    uint G_row0 = G_at(g0 * 2u);
    uint signs0 = words[4];
    uint s0 = (signs0 >> 16u) & 0xFFu;  // signs: 8 bits
    uint negative0 = ((s0 & 15u) * 0x204081u) & 0x1010101u;
    uint bytes0 = (G_row0 ^ ((negative0 << 8u) - negative0)) + negative0;
    uint biased0 = (bytes0 ^ 0x80808080u) - 0x55555555u;  // from zero on
    vec2 pair0 = unpackHalf2x16(biased0 & 0x7F007Fu);
    vec2 pair1 = unpackHalf2x16((biased0 >> 8u) & 0x7F007Fu);
    uint G_row1 = G_at(g0 * 2u + 1u);
    uint negative1 = ((s0 >> 4u) * 0x204081u) & 0x1010101u;
    uint bytes1 = (G_row1 ^ ((negative1 << 8u) - negative1)) + negative1;
    uint biased1 = (bytes1 ^ 0x80808080u) - 0x55555555u;  // from zero on
    vec2 pair2 = unpackHalf2x16(biased1 & 0x7F007Fu);
    vec2 pair3 = unpackHalf2x16((biased1 >> 8u) & 0x7F007Fu);
    uint g_lo1 = qs0 >> 24u;  // qs: bits 0-7 of g
    uint qh1 = words[5];
    uint g_hi1 = (qh1 >> ((tile * 8u + 530u) % 32u)) & 3u;  // qh: bits 8-9 of g
    uint g1 = g_lo1 | (g_hi1 << 8u);
    uint G_row2 = G_at(g1 * 2u);
    uint s1 = signs0 >> 24u;  // signs: 8 bits
    uint negative2 = ((s1 & 15u) * 0x204081u) & 0x1010101u;
    uint bytes2 = (G_row2 ^ ((negative2 << 8u) - negative2)) + negative2;
    uint biased2 = (bytes2 ^ 0x80808080u) - 0x55555555u;  // from zero on
    vec2 pair4 = unpackHalf2x16(biased2 & 0x7F007Fu);
    vec2 pair5 = unpackHalf2x16((biased2 >> 8u) & 0x7F007Fu);
    uint G_row3 = G_at(g1 * 2u + 1u);
    uint negative3 = ((s1 >> 4u) * 0x204081u) & 0x1010101u;
    uint bytes3 = (G_row3 ^ ((negative3 << 8u) - negative3)) + negative3;
    uint biased3 = (bytes3 ^ 0x80808080u) - 0x55555555u;  // from zero on
    vec2 pair6 = unpackHalf2x16(biased3 & 0x7F007Fu);
    vec2 pair7 = unpackHalf2x16((biased3 >> 8u) & 0x7F007Fu);
    uint scales1 = words[6];
    uint sc1 = (scales1 >> ((tile * 8u + 596u) % 32u)) & 15u;  // scales: 4 bits
    precise float d_sc2 = d0 * (0.5 + float(sc1));
    precise float d_sc3 = d_sc2 * 0.25;
    uint qs1 = words[7];
    uint g_lo2 = qs1 & 0xFFu;  // qs: bits 0-7 of g
    uint qh2 = words[8];
    uint g_hi2 = (qh2 >> ((tile * 8u + 532u) % 32u)) & 3u;  // qh: bits 8-9 of g
    uint g2 = g_lo2 | (g_hi2 << 8u);
    uint G_row4 = G_at(g2 * 2u);
    uint signs1 = words[9];
    uint s2 = signs1 & 0xFFu;  // signs: 8 bits
    uint negative4 = ((s2 & 15u) * 0x204081u) & 0x1010101u;
    uint bytes4 = (G_row4 ^ ((negative4 << 8u) - negative4)) + negative4;
    uint biased4 = (bytes4 ^ 0x80808080u) - 0x55555555u;  // from zero on
    vec2 pair8 = unpackHalf2x16(biased4 & 0x7F007Fu);
    vec2 pair9 = unpackHalf2x16((biased4 >> 8u) & 0x7F007Fu);
    uint G_row5 = G_at(g2 * 2u + 1u);
    uint negative5 = ((s2 >> 4u) * 0x204081u) & 0x1010101u;
    uint bytes5 = (G_row5 ^ ((negative5 << 8u) - negative5)) + negative5;
    uint biased5 = (bytes5 ^ 0x80808080u) - 0x55555555u;  // from zero on
    vec2 pair10 = unpackHalf2x16(biased5 & 0x7F007Fu);
    vec2 pair11 = unpackHalf2x16((biased5 >> 8u) & 0x7F007Fu);
    uint g_lo3 = (qs1 >> 8u) & 0xFFu;  // qs: bits 0-7 of g
    uint qh3 = words[10];
    uint g_hi3 = (qh3 >> ((tile * 8u + 534u) % 32u)) & 3u;  // qh: bits 8-9 of g
    uint g3 = g_lo3 | (g_hi3 << 8u);
    uint G_row6 = G_at(g3 * 2u);
    uint s3 = (signs1 >> 8u) & 0xFFu;  // signs: 8 bits
    uint negative6 = ((s3 & 15u) * 0x204081u) & 0x1010101u;
    uint bytes6 = (G_row6 ^ ((negative6 << 8u) - negative6)) + negative6;
    uint biased6 = (bytes6 ^ 0x80808080u) - 0x55555555u;  // from zero on
    vec2 pair12 = unpackHalf2x16(biased6 & 0x7F007Fu);
    vec2 pair13 = unpackHalf2x16((biased6 >> 8u) & 0x7F007Fu);
    uint G_row7 = G_at(g3 * 2u + 1u);
    uint negative7 = ((s3 >> 4u) * 0x204081u) & 0x1010101u;
    uint bytes7 = (G_row7 ^ ((negative7 << 8u) - negative7)) + negative7;
    uint biased7 = (bytes7 ^ 0x80808080u) - 0x55555555u;  // from zero on
    vec2 pair14 = unpackHalf2x16(biased7 & 0x7F007Fu);
    vec2 pair15 = unpackHalf2x16((biased7 >> 8u) & 0x7F007Fu);
    float d1 = f16_to_f32(words[11] >> 16u);
    uint scales2 = words[12];
    uint sc2 = (scales2 >> (tile % 4u * 8u)) & 15u;  // scales: 4 bits
    precise float d_sc4 = d1 * (0.5 + float(sc2));
    precise float d_sc5 = d_sc4 * 0.25;
    uint qs2 = words[13];
    uint g_lo4 = qs2 & 0xFFu;  // qs: bits 0-7 of g
    uint qh4 = words[14];
    uint g_hi4 = (qh4 >> (tile % 4u * 8u)) & 3u;  // qh: bits 8-9 of g
    uint g4 = g_lo4 | (g_hi4 << 8u);
    uint G_row8 = G_at(g4 * 2u);
    uint signs2 = words[15];
    uint s4 = signs2 & 0xFFu;  // signs: 8 bits
    uint negative8 = ((s4 & 15u) * 0x204081u) & 0x1010101u;
    uint bytes8 = (G_row8 ^ ((negative8 << 8u) - negative8)) + negative8;
    uint biased8 = (bytes8 ^ 0x80808080u) - 0x55555555u;  // from zero on
    vec2 pair16 = unpackHalf2x16(biased8 & 0x7F007Fu);
    vec2 pair17 = unpackHalf2x16((biased8 >> 8u) & 0x7F007Fu);
    uint G_row9 = G_at(g4 * 2u + 1u);
    uint negative9 = ((s4 >> 4u) * 0x204081u) & 0x1010101u;
    uint bytes9 = (G_row9 ^ ((negative9 << 8u) - negative9)) + negative9;
    uint biased9 = (bytes9 ^ 0x80808080u) - 0x55555555u;  // from zero on
    vec2 pair18 = unpackHalf2x16(biased9 & 0x7F007Fu);
    vec2 pair19 = unpackHalf2x16((biased9 >> 8u) & 0x7F007Fu);
    uint g_lo5 = (qs2 >> 8u) & 0xFFu;  // qs: bits 0-7 of g
    uint g_hi5 = (qh4 >> (tile % 4u * 8u + 2u)) & 3u;  // qh: bits 8-9 of g
    uint g5 = g_lo5 | (g_hi5 << 8u);
    uint G_row10 = G_at(g5 * 2u);
    uint s5 = (signs2 >> 8u) & 0xFFu;  // signs: 8 bits
    uint negative10 = ((s5 & 15u) * 0x204081u) & 0x1010101u;
    uint bytes10 = (G_row10 ^ ((negative10 << 8u) - negative10)) + negative10;
    uint biased10 = (bytes10 ^ 0x80808080u) - 0x55555555u;  // from zero on
    vec2 pair20 = unpackHalf2x16(biased10 & 0x7F007Fu);
    vec2 pair21 = unpackHalf2x16((biased10 >> 8u) & 0x7F007Fu);
    uint G_row11 = G_at(g5 * 2u + 1u);
    uint negative11 = ((s5 >> 4u) * 0x204081u) & 0x1010101u;
    uint bytes11 = (G_row11 ^ ((negative11 << 8u) - negative11)) + negative11;
    uint biased11 = (bytes11 ^ 0x80808080u) - 0x55555555u;  // from zero on
    vec2 pair22 = unpackHalf2x16(biased11 & 0x7F007Fu);
    vec2 pair23 = unpackHalf2x16((biased11 >> 8u) & 0x7F007Fu);
    uint sc3 = (scales2 >> (tile % 4u * 8u + 4u)) & 15u;  // scales: 4 bits
    precise float d_sc6 = d1 * (0.5 + float(sc3));
    precise float d_sc7 = d_sc6 * 0.25;
    uint g_lo6 = (qs2 >> 16u) & 0xFFu;  // qs: bits 0-7 of g
    uint g_hi6 = (qh4 >> (tile % 4u * 8u + 4u)) & 3u;  // qh: bits 8-9 of g
    uint g6 = g_lo6 | (g_hi6 << 8u);
    uint G_row12 = G_at(g6 * 2u);
    uint s6 = (signs2 >> 16u) & 0xFFu;  // signs: 8 bits
    uint negative12 = ((s6 & 15u) * 0x204081u) & 0x1010101u;
    uint bytes12 = (G_row12 ^ ((negative12 << 8u) - negative12)) + negative12;
    uint biased12 = (bytes12 ^ 0x80808080u) - 0x55555555u;  // from zero on
    vec2 pair24 = unpackHalf2x16(biased12 & 0x7F007Fu);
    vec2 pair25 = unpackHalf2x16((biased12 >> 8u) & 0x7F007Fu);
    uint G_row13 = G_at(g6 * 2u + 1u);
    uint negative13 = ((s6 >> 4u) * 0x204081u) & 0x1010101u;
    uint bytes13 = (G_row13 ^ ((negative13 << 8u) - negative13)) + negative13;
    uint biased13 = (bytes13 ^ 0x80808080u) - 0x55555555u;  // from zero on
    vec2 pair26 = unpackHalf2x16(biased13 & 0x7F007Fu);
    vec2 pair27 = unpackHalf2x16((biased13 >> 8u) & 0x7F007Fu);
    uint g_lo7 = qs2 >> 24u;  // qs: bits 0-7 of g
    uint g_hi7 = (qh4 >> (tile % 4u * 8u + 6u)) & 3u;  // qh: bits 8-9 of g
    uint g7 = g_lo7 | (g_hi7 << 8u);
    uint G_row14 = G_at(g7 * 2u);
    uint s7 = signs2 >> 24u;  // signs: 8 bits
    uint negative14 = ((s7 & 15u) * 0x204081u) & 0x1010101u;
    uint bytes14 = (G_row14 ^ ((negative14 << 8u) - negative14)) + negative14;
    uint biased14 = (bytes14 ^ 0x80808080u) - 0x55555555u;  // from zero on
    vec2 pair28 = unpackHalf2x16(biased14 & 0x7F007Fu);
    vec2 pair29 = unpackHalf2x16((biased14 >> 8u) & 0x7F007Fu);
    uint G_row15 = G_at(g7 * 2u + 1u);
    uint negative15 = ((s7 >> 4u) * 0x204081u) & 0x1010101u;
    uint bytes15 = (G_row15 ^ ((negative15 << 8u) - negative15)) + negative15;
    uint biased15 = (bytes15 ^ 0x80808080u) - 0x55555555u;  // from zero on
    vec2 pair30 = unpackHalf2x16(biased15 & 0x7F007Fu);
    vec2 pair31 = unpackHalf2x16((biased15 >> 8u) & 0x7F007Fu);
    float dots0 = dot_add(dot(x[k][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y)), x[k][1], vec4(pair2.x, pair3.x, pair2.y, pair3.y));
    float dots1 = dot_add(dots0, x[k][2], vec4(pair4.x, pair5.x, pair4.y, pair5.y));
    float dots2 = dot_add(dots1, x[k][3], vec4(pair6.x, pair7.x, pair6.y, pair7.y));
    float dots3 = dot_add(dot(x[k][4], vec4(pair8.x, pair9.x, pair8.y, pair9.y)), x[k][5], vec4(pair10.x, pair11.x, pair10.y, pair11.y));
    float dots4 = dot_add(dots3, x[k][6], vec4(pair12.x, pair13.x, pair12.y, pair13.y));
    float dots5 = dot_add(dots4, x[k][7], vec4(pair14.x, pair15.x, pair14.y, pair15.y));
    float dots6 = dot_add(dot(x[k][8], vec4(pair16.x, pair17.x, pair16.y, pair17.y)), x[k][9],
        vec4(pair18.x, pair19.x, pair18.y, pair19.y));
    float dots7 = dot_add(dots6, x[k][10], vec4(pair20.x, pair21.x, pair20.y, pair21.y));
    float dots8 = dot_add(dots7, x[k][11], vec4(pair22.x, pair23.x, pair22.y, pair23.y));
    float dots9 = dot_add(dot(x[k][12], vec4(pair24.x, pair25.x, pair24.y, pair25.y)), x[k][13],
        vec4(pair26.x, pair27.x, pair26.y, pair27.y));
    float dots10 = dot_add(dots9, x[k][14], vec4(pair28.x, pair29.x, pair28.y, pair29.y));
    float dots11 = dot_add(dots10, x[k][15], vec4(pair30.x, pair31.x, pair30.y, pair31.y));
    sum += d_sc1 * (dots2 - 43.0 * x_sum[k][0]) + d_sc3 * (dots5 - 43.0 * x_sum[k][1]) + d_sc5 * (dots8 - 43.0 * x_sum[k][2])
        + d_sc7 * (dots11 - 43.0 * x_sum[k][3]);
}

void load_ahead(uint from, uint place[LOADS], out uvec4 ahead[LOADS]) {
    [[unroll]] for (uint i = 0u; i < LOADS; ++i) ahead[i] = blocks_four[from + place[i]];
}

void main() {
    if (COPIES > 1u) {
        for (uint i = gl_LocalInvocationID.x; i < 2048u; i += gl_WorkGroupSize.x) {
            const uint value = G[i];
            for (uint c = 0u; c < COPIES; ++c) {
                const uint copy = (i / 2u + c) % COPIES;  // neighbours in other banks
                G_copies[(i - i % 2u) * COPIES + copy * 2u + i % 2u] = value;
            }
        }
        barrier();
    }
    const uint lane = gl_SubgroupInvocationID, slice = gl_SubgroupID % SPLIT, j = slice * LANES + lane;
    const uint teams = gl_WorkGroupSize.x / LANES / SPLIT, team = gl_SubgroupID / SPLIT;
    const uint tiles = row_tiles / 4u, row_fours = tiles / 8u * 41u / 4u;
    const uint own = gl_SubgroupID * LOADS * LANES, phase = slice * SLICE_WORDS % 4u;
    const uint step = gl_NumWorkGroups.x * teams * ROWS, last = max(rows, ROWS) - ROWS;
    uint place[LOADS];  // of loads, from a row on
    [[unroll]] for (uint i = 0u; i < LOADS; ++i) {
        const uint load = i * LANES + lane, r = load / SLICE_FOURS, four = slice * SLICE_WORDS / 4u + load % SLICE_FOURS;
        place[i] = r < ROWS && four < row_fours ? min(r, rows - 1u) * row_fours + four : 0u;
    }
    uvec4 ahead[LOADS];
    uint first = gl_WorkGroupID.x * teams * ROWS, turn = 0u;
    load_ahead(min(first + team * ROWS, last) * row_fours, place, ahead);
    load_x(0u, min(j, tiles - 1u), 0u);
    [[dont_unroll]] for (; first < rows; first += step) {
        subgroupBarrier();
        [[unroll]] for (uint i = 0u; i < LOADS; ++i) {
            const uint at = (own + i * LANES + lane) * 4u;
            held[at] = ahead[i].x;
            held[at + 1u] = ahead[i].y;
            held[at + 2u] = ahead[i].z;
            held[at + 3u] = ahead[i].w;
        }
        subgroupBarrier();
        const uint next = first + step, row = first + team * ROWS;
        if (next < rows) load_ahead(min(next + team * ROWS, last) * row_fours, place, ahead);
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            uint words[16];
            take((own + r * SLICE_FOURS) * 4u + phase, lane, words);
            sum[r] = 0.0;
            accumulate(lane, 0u, words, sum[r]);
            if (j >= tiles) sum[r] = 0.0;
        }
        const float all = sum_of_lanes(sum, LANES);
        const uint to = min(row, last) + lane;
        if (SPLIT == 1u) {
            if (lane < ROWS && to >= row && to < rows) finish(0u, to, all);
            continue;
        }
        // Halves of the memory in turn: who is a row ahead does not write where others still read.
        const uint place_of_sums = turn / (LANES / 4u) % 2u * gl_WorkGroupSize.x / 4u * ROWS, round = turn++ % (LANES / 4u);
        if (lane < ROWS) partial[place_of_sums + (round * gl_NumSubgroups + gl_SubgroupID) * ROWS + lane] = all;
        if (round + 1u < LANES / 4u && next < rows) continue;
        barrier();
        add_rounds(place_of_sums, round + 1u, first, step, last);
    }
}
