// iq1_m_gemv_teams: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format iq1_m`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 56 bytes for 256 elements, 1.75 bits each.
// For each weight 0.219 bytes read, 6.62 operations: 0.156 loads, 2.06 bits, 1 integer, 2.69 float, 0.594 conversions, 0.125 lookups.
//     format iq1_m "eights from a ternary codebook of 2048, shifted by an eighth, 3-bit scales in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 256 {
//         qs:     u8[32]
//         qh:     u8[16]
//         scales: u16[4]
//     }
//     code g  per 8  = qs { 8 @ 0 (32:8) } qh { 3 @ 0 (32:4) }
//     code sg per 8  = qh { 1 @ 3 (32:4) }
//     code sc per 16 = scales { 3 @ 0 (4:3, 4:16) }
//     code d: f16 per 256 = scales { 4 @ 12   4 @ 28   4 @ 44   4 @ 60 }    # spread over the top of four words
//     table G: i8[2048][8] = file "iq1s_grid.bin"
//     value = d * (2 * sc + 1) * (G[g][i % 8] + (sg ? -0.125 : 0.125))
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 2;  // right-hand sides at once, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time, at most as many as a team has lanes
layout(constant_id = 3) const uint SPLIT = 4;  // quarters of a subgroup that are a team
layout(constant_id = 6) const uint SHARED_FOURS = 512;  // 16 bytes each: memory for x
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say
shared float partial[SPLIT > 4u ? gl_WorkGroupSize.x / 8u * ROWS * BATCH : 1u];
layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 7, std430) readonly buffer GTable { uint G[]; };  // 2048 rows of 8: i8 from -1 on, in 4 bits each
layout(binding = 1, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 1, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 2, std430) buffer Output { float y[]; };
layout(binding = 2, std430) buffer OutputHalves { uint y_halves[]; };
layout(binding = 3, std430) readonly buffer ResultScale { float result_scale[]; };
layout(binding = 4, std430) readonly buffer RowBias { float row_bias[]; };
layout(binding = 5, std430) readonly buffer ResultGate { float result_gate[]; };
layout(binding = 6, std430) readonly buffer Residual { float residual[]; };
layout(push_constant) uniform Push {
    uint rows, row_tiles, batch;  // of this launch; tiles of 16 elements in a row; right-hand sides
    uint y_first, y_rows, epilogue;  // where it begins in y; rows of a right-hand side there
    uint groups, matrix_first, matrices, vectors, sharing, sharing_outer;  // of VIEWS: workgroups of a matrix; neighbours share weights
    uint weights_first, weights_inner, weights_outer;  // rows; to the next inner and outer matrix
    uint x_first, x_stride, x_inner, x_outer, y_skip, y_stride, y_inner, y_outer;  // elements; to the next right-hand side, and matrix
    uint second, third, weights_second, weights_third, y_second, y_third;  // from these matrices on both lie further
};
// The matrix that a workgroup multiplies, of this launch; and where its weights, its x and its y begin.
uint matrix = 0u, weights_begin = 0u, x_begin = 0u, y_begin = 0u;
void find_matrix() {
    if (VIEWS == 0u) return;
    matrix = gl_WorkGroupID.x / groups;
    const uint inner = (matrix_first + matrix) % matrices, outer = (matrix_first + matrix) / matrices;
    weights_begin = weights_first + inner / sharing * weights_inner + outer / sharing_outer * weights_outer;
    x_begin = x_first + inner * x_inner + outer * x_outer, y_begin = inner * y_inner + outer * y_outer;
    if (inner >= second) weights_begin += weights_second, y_begin += y_second;
    if (inner >= third) weights_begin += weights_third, y_begin += y_third;
}
uint group_number() { return VIEWS == 0u ? gl_WorkGroupID.x : gl_WorkGroupID.x % groups; }
uint group_count() { return VIEWS == 0u ? gl_NumWorkGroups.x : groups; }
uint row_of_weights(uint n) { return weights_begin + n; }  // among all of them
uint x_from(uint vector, uint row_runs) { return VIEWS == 0u ? vector * row_runs : (x_begin + vector * x_stride) / 4u; }  // its runs
vec4 x_run(uint at) {  // 4 consecutive elements
    if (X_TYPE == 0u) return x_in[at];
    const uvec2 run = uvec2(x_halves[at]);
    return X_TYPE == 1u ? vec4(unpackHalf2x16(run.x), unpackHalf2x16(run.y))
        : uintBitsToFloat(uvec4(run.x << 16, run.x & 0xffff0000u, run.y << 16, run.y & 0xffff0000u));
}

// Bits of the epilogue. Scales are of tensors, rows or vectors.
const uint ADDS_TO_Y = 1u, ADDS_BIAS = 2u, SCALES = 4u, GATES = 8u, ADDS_RESIDUAL = 16u, SCALES_ROWS = 256u, SCALES_VECTORS = 512u;
float y_before(uint at) {  // what y holds
    if (Y_TYPE == 0u) return y[at];
    const uint bits = atomicOr(y_halves[at / 2u], 0u) >> at % 2u * 16u;  // a word has two results, maybe of two threads
    return Y_TYPE == 1u ? unpackHalf2x16(bits).x : uintBitsToFloat(bits << 16);
}
void store_y(uint at, float sum) {  // 16 bits are rounded once, ties to even; in integers, for Vulkan leaves that open
    if (Y_TYPE == 0u) { y[at] = sum; return; }
    const uint bits = floatBitsToUint(sum), magnitude = bits & 0x7FFFFFFFu, nan = Y_TYPE == 1u ? 0x7E00u : 0x7FC0u;
    precise float lifted = uintBitsToFloat(magnitude) + 0.5;  // rounds subnormal halves
    const uint bf16 = magnitude + 0x7FFFu + (magnitude >> 16 & 1u) >> 16, subnormal = floatBitsToUint(lifted) - 0x3F000000u;
    const uint normal = min(magnitude - 0x37FFF001u + (magnitude >> 13 & 1u) >> 13, 0x7C00u);
    const uint f16 = magnitude < 0x38800000u ? subnormal : normal, rounded = Y_TYPE == 1u ? f16 : bf16;
    const uint signed_bits = bits >> 16 & 0x8000u | (magnitude > 0x7F800000u ? nan : rounded);
    atomicAnd(y_halves[at / 2u], 0xffff0000u >> at % 2u * 16u);
    atomicOr(y_halves[at / 2u], signed_bits << at % 2u * 16u);
}

void finish(uint m, uint n, float sum) {  // row `n` of right-hand side `m` is done
    const uint row = y_first % y_rows + n, vector = m + y_first / y_rows, number = (matrix_first + matrix) * vectors + vector;
    const uint at = VIEWS == 0u ? m * y_rows + y_first + n : y_begin + vector * y_stride + row, does = EPILOGUE & epilogue;
    if (does != 0u) {
        if ((does & SCALES) != 0u) sum *= result_scale[(does & SCALES_ROWS) != 0u ? row : (does & SCALES_VECTORS) != 0u ? number : 0u];
        if ((does & ADDS_BIAS) != 0u) sum += row_bias[row];
        if ((does & ADDS_TO_Y) != 0u) sum += y_before(at + y_skip);
        if ((does & GATES) != 0u) sum *= result_gate[at] / (1.0 + exp(-result_gate[at]));  // silu
        if ((does & ADDS_RESIDUAL) != 0u) sum += residual[at];
    }
    store_y(at + y_skip, sum);
}

// Kept of x: tiles, in the order of the weights, and sums over runs that share a scale.
vec4 x[1][8];
float x_sum[1][6];

// sum + dot(a, b), in as many operations as a has lanes.
float dot_add(float sum, vec4 a, vec4 b) { return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum)))); }

// Runs `at` to `at` + 3 of each thread: four neighbours load what one wants, side by side, and then swap. All call it.
void load_runs(uint at, out vec4 run0, out vec4 run1, out vec4 run2, out vec4 run3) {
    vec4 v[4];
    const uint own = gl_SubgroupInvocationID % 4u;
    [[unroll]] for (uint i = 0u; i < 4u; ++i) v[i] = x_run(subgroupShuffle(at, gl_SubgroupInvocationID / 4u * 4u + i) + own);
    [[unroll]] for (uint swap = 0u; swap < 4u; ++swap) {
        const uint bit = 1u + swap / 2u, i = swap < 2u ? 2u * swap : swap - 2u;
        const bool odd = (own & bit) != 0u;
        const vec4 other = subgroupShuffleXor(odd ? v[i] : v[i + bit], bit);
        v[i] = odd ? other : v[i], v[i + bit] = odd ? v[i + bit] : other;
    }
    run0 = v[0], run1 = v[1], run2 = v[2], run3 = v[3];
}

void load_x(uint vector, uint j, uint k) {  // what tile `j` of a row meets of right-hand side `vector`
    const uint tile = j % 8u, place = j / 8u * 64u + tile * 8u, from = x_from(min(vector, batch - 1u), row_tiles * 4u) + place;
    vec4 run[8];
    [[unroll]] for (uint r = 0u; r < 8u; r += 4u) load_runs(from + r, run[r], run[r + 1u], run[r + 2u], run[r + 3u]);
    [[unroll]] for (uint r = 0u; r < 8u; ++r) x[k][r] = run[r] * vec4(16777216.0, 1048576.0, 16777216.0, 1048576.0);
    x_sum[k][0] = dot(run[0] + run[1] + run[2] + run[3], vec4(1.0));
    x_sum[k][1] = dot(run[0] + run[1], vec4(1.0));
    x_sum[k][2] = dot(run[2] + run[3], vec4(1.0));
    x_sum[k][3] = dot(run[4] + run[5] + run[6] + run[7], vec4(1.0));
    x_sum[k][4] = dot(run[4] + run[5], vec4(1.0));
    x_sum[k][5] = dot(run[6] + run[7], vec4(1.0));
}

void fetch(uint n, uint j, out uint words[5]) {  // tile `j` of row `n`
    uint block = row_of_weights(n) * (row_tiles / 16u) + j / 8u, tile = j % 8u, base = block * 14u;
    words[0] = blocks[base + 12u], words[1] = blocks[base + 13u], words[2] = blocks[base + tile / 2u / 2u + 12u];
    words[3] = blocks[base + tile], words[4] = blocks[base + tile / 2u + 8u];
}

void accumulate(uint n, uint j, uint k, uint words[5], inout float sum) {  // `sum` += tile `j` of row `n` * x
    uint tile = j % 8u, shift0 = tile / 2u % 2u * 16u + tile % 2u * 6u, shift1 = tile % 2u * 16u, scales0 = words[0], scales1 = words[1];
    uint scales2 = words[2], qs = words[3], qh = words[4];
    uint d_0bit = (scales0 >> 12u) & 15u;  // scales: bits 0-3 of d
    uint d_4bit = scales0 >> 28u;  // scales: bits 4-7 of d
    uint d_8bit = (scales1 >> 12u) & 15u;  // scales: bits 8-11 of d
    uint d_12bit = scales1 >> 28u;  // scales: bits 12-15 of d
    float d = unpackHalf2x16(d_0bit | (d_4bit << 4u) | (d_8bit << 8u) | (d_12bit << 12u)).x;
    uint sc0 = (scales2 >> shift0) & 7u, sc1 = (scales2 >> (shift0 + 3u)) & 7u;  // scales: 3 bits
    precise float d_sc0 = d * float(2 * int(sc0) + 1), d_sc1 = d * float(2 * int(sc1) + 1);
    uint g_lo0 = qs & 0xFFu, g_lo1 = (qs >> 8u) & 0xFFu, g_lo2 = (qs >> 16u) & 0xFFu, g_lo3 = qs >> 24u;  // qs: bits 0-7 of g
    uint g_hi0 = (qh >> shift1) & 7u, g_hi1 = (qh >> (shift1 + 4u)) & 7u, g_hi2 = (qh >> (shift1 + 8u)) & 7u;  // qh: bits 8-10 of g
    uint g_hi3 = (qh >> (shift1 + 12u)) & 7u;  // qh: bits 8-10 of g
    uint g0 = g_lo0 | (g_hi0 << 8u), G_row0 = G[g0], g1 = g_lo1 | (g_hi1 << 8u), G_row1 = G[g1], g2 = g_lo2 | (g_hi2 << 8u), G_row2 = G[g2];
    uint g3 = g_lo3 | (g_hi3 << 8u), G_row3 = G[g3];
    vec2 pair0 = unpackHalf2x16(G_row0 & 0xF000Fu), pair1 = unpackHalf2x16(G_row0 & 0xF000F0u);
    vec2 pair2 = unpackHalf2x16((G_row0 >> 8u) & 0xF000Fu), pair3 = unpackHalf2x16((G_row0 >> 8u) & 0xF000F0u);
    vec2 pair4 = unpackHalf2x16(G_row1 & 0xF000Fu), pair5 = unpackHalf2x16(G_row1 & 0xF000F0u);
    vec2 pair6 = unpackHalf2x16((G_row1 >> 8u) & 0xF000Fu), pair7 = unpackHalf2x16((G_row1 >> 8u) & 0xF000F0u);
    vec2 pair8 = unpackHalf2x16(G_row2 & 0xF000Fu), pair9 = unpackHalf2x16(G_row2 & 0xF000F0u);
    vec2 pair10 = unpackHalf2x16((G_row2 >> 8u) & 0xF000Fu), pair11 = unpackHalf2x16((G_row2 >> 8u) & 0xF000F0u);
    vec2 pair12 = unpackHalf2x16(G_row3 & 0xF000Fu), pair13 = unpackHalf2x16(G_row3 & 0xF000F0u);
    vec2 pair14 = unpackHalf2x16((G_row3 >> 8u) & 0xF000Fu), pair15 = unpackHalf2x16((G_row3 >> 8u) & 0xF000F0u);
    uint sg0 = (qh >> (shift1 + 3u)) & 1u, sg1 = (qh >> (shift1 + 7u)) & 1u, sg2 = (qh >> (shift1 + 11u)) & 1u;  // qh: 1 bit
    uint sg3 = (qh >> (shift1 + 15u)) & 1u;  // qh: 1 bit
    float dots0 = dot_add(dot(x[k][0], vec4(pair0.x, pair1.x, pair2.x, pair3.x)), x[k][1], vec4(pair0.y, pair1.y, pair2.y, pair3.y));
    float dots1 = dot_add(dots0, x[k][2], vec4(pair4.x, pair5.x, pair6.x, pair7.x));
    float dots2 = dot_add(dots1, x[k][3], vec4(pair4.y, pair5.y, pair6.y, pair7.y));
    float dots3 = dot_add(dot(x[k][4], vec4(pair8.x, pair9.x, pair10.x, pair11.x)), x[k][5], vec4(pair8.y, pair9.y, pair10.y, pair11.y));
    float dots4 = dot_add(dots3, x[k][6], vec4(pair12.x, pair13.x, pair14.x, pair15.x));
    float dots5 = dot_add(dots4, x[k][7], vec4(pair12.y, pair13.y, pair14.y, pair15.y));
    sum += d_sc0 * (dots2 - x_sum[k][0]) + d_sc0 * (int(sg0) != 0 ? -0.125 : 0.125) * x_sum[k][1]
        + d_sc0 * (int(sg1) != 0 ? -0.125 : 0.125) * x_sum[k][2] + d_sc1 * (dots5 - x_sum[k][3])
        + d_sc1 * (int(sg2) != 0 ? -0.125 : 0.125) * x_sum[k][4] + d_sc1 * (int(sg3) != 0 ? -0.125 : 0.125) * x_sum[k][5];
}

const uint X_FOURS = 10u, FIT = SHARED_FOURS / (X_FOURS * BATCH), SLICE = FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles
shared vec4 shared_x[BATCH * X_FOURS * SLICE];

// Puts what is kept of right-hand side `m` and tile `t` of the slice there.
void share_x(uint m, uint t) {
    [[unroll]] for (uint i = 0u; i < 8u; ++i) shared_x[(m * X_FOURS + i) * SLICE + t] = x[0][i];
    shared_x[(m * X_FOURS + 8u) * SLICE + t] = vec4(x_sum[0][0], x_sum[0][1], x_sum[0][2], x_sum[0][3]);
    shared_x[(m * X_FOURS + 9u) * SLICE + t] = vec4(x_sum[0][4], x_sum[0][5], 0.0, 0.0);
}

// Takes it from there.
void take_x(uint m, uint t) {
    [[unroll]] for (uint i = 0u; i < 8u; ++i) x[0][i] = shared_x[(m * X_FOURS + i) * SLICE + t];
    vec4 sums = shared_x[(m * X_FOURS + 8u) * SLICE + t];
    x_sum[0][0] = sums.x, x_sum[0][1] = sums.y, x_sum[0][2] = sums.z, x_sum[0][3] = sums.w;
    sums = shared_x[(m * X_FOURS + 9u) * SLICE + t];
    x_sum[0][4] = sums.x, x_sum[0][5] = sums.y;
}

float sum_of_lanes(float v[ROWS], uint width) {  // all at once, over lanes from a multiple of `width` on: number i is in the i-th
    [[unroll]] for (uint left = ROWS / 2u, bit = 1u; left > 0u; left /= 2u, bit *= 2u) {
        const bool odd = (gl_SubgroupInvocationID & bit) != 0u;
        [[unroll]] for (uint i = 0u; i < left; ++i)
            v[i] = mix(v[2u * i], v[2u * i + 1u], odd) + subgroupShuffleXor(mix(v[2u * i + 1u], v[2u * i], odd), bit);
    }
    for (uint bit = ROWS; bit < width; bit *= 2u) v[0] += subgroupShuffleXor(v[0], bit);
    return v[0];
}

// Puts `count` tiles of each right-hand side, from `begin` on, into shared_x.
void share_slice(uint begin, uint count) {
    barrier();
    for (uint from = 0u; from < count * BATCH; from += gl_WorkGroupSize.x) {
        const uint i = from + gl_LocalInvocationID.x, m = i / count, t = i % count;
        load_x(m, begin + t, 0u);  // the whole subgroup, also beyond the end
        if (i >= count * BATCH) continue;
        share_x(m, t);
    }
    barrier();
}

// Teams of lanes, a part of a subgroup or, for few rows, several, take ROWS rows each; the workgroup shares a slice of x at a time.
void main() {
    find_matrix();
    const uint tiles = row_tiles / 2u, last = rows - 1u, lanes = SPLIT * (gl_SubgroupSize / 4u), teams = gl_WorkGroupSize.x / lanes;
    const uint place = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID, lane = place % lanes, team = place / lanes;
    const uint slice = SLICE < lanes ? SLICE : SLICE / lanes * lanes;  // no lane without a tile while others have one
    for (uint first = group_number() * teams * ROWS; first < rows; first += group_count() * teams * ROWS) {
        const uint row = first + team * ROWS;
        float sum[BATCH][ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[m][r] = 0.0;
        for (uint from = 0u; from < tiles; from += slice) {
            const uint count = min(slice, tiles - from);
            uint words[ROWS][5];  // weights are on their way while the workgroup waits for x
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, last), from + min(lane, count - 1u), words[r]);
            if (slice < tiles || first < group_count() * teams * ROWS) share_slice(from, count);  // else it is there still
            for (uint t = lane; t < count; t += lanes) {
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                    take_x(m, t);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(row + r, last), from + t, 0u, words[r], sum[m][r]);
                }
                if (t + lanes >= count) continue;
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, last), from + t + lanes, words[r]);
            }
        }
        [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
            const float all = sum_of_lanes(sum[m], min(lanes, gl_SubgroupSize));
            if (SPLIT <= 4u && lane < ROWS && row + lane < rows && m < batch) finish(m, row + lane, all);
            if (SPLIT > 4u && gl_SubgroupInvocationID < ROWS) partial[(gl_SubgroupID * BATCH + m) * ROWS + gl_SubgroupInvocationID] = all;
        }
        if (SPLIT <= 4u) continue;
        const uint parts = SPLIT / 4u, each = BATCH * ROWS;
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < teams * each; i += gl_WorkGroupSize.x) {
            const uint m = i % each / ROWS, n = first + i / each * ROWS + i % ROWS;
            float total = 0.0;
            for (uint p = 0u; p < parts; ++p) total += partial[(i / each * parts + p) * each + i % each];
            if (n < rows && m < batch) finish(m, n, total);
        }
        barrier();
    }
}
