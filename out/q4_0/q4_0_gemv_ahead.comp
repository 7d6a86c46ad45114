// q4_0_gemv_ahead: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format q4_0`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 18 bytes for 32 elements, 4.5 bits each.
// For each weight 0.562 bytes read, 3.7 operations: 0.141 loads, 0.828 bits, 0.141 integer, 2.06 float, 0.531 conversions.
//     format q4_0 "4-bit codes around 8, one scale for 32"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 32 {
//         d:  f16
//         qs: u8[16]
//     }
//     code q = qs { 4 @ 0 (16:8, 2:4) }    # low nibbles, then high nibbles
//     value = (q - 8) * d
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides, of each of which a thread keeps its part
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row: all of its slices
layout(constant_id = 14) const uint LANES = 32;  // of a subgroup
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say
layout(constant_id = 46) const uint NORM = 0;  // of x that is normed: bits of epsilon
const uint SUMS = ROWS * BATCH;  // at once: at most as many as a subgroup has lanes
const uint SQUARES = gl_WorkGroupSize.x / 4u * SUMS * 2u;  // where those of squares of x begin: a second array costs time, even without use
shared float partial[SQUARES + (NORM == 0u ? 0u : gl_WorkGroupSize.x / 4u * BATCH)];

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 0, std430) readonly buffer Blocks_wordBuffer { uint blocks_word[]; };
layout(binding = 0, std430) readonly buffer Blocks_fourBuffer { uvec4 blocks_four[]; };
layout(binding = 1, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 1, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 3, std430) readonly buffer NormWeights { vec4 norm_weights[]; };
layout(binding = 2, std430) buffer Output { float y[]; };
layout(binding = 2, std430) buffer OutputHalves { uint16_t y_halves[]; };
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
uint row_within(uint n) { return VIEWS == 2u ? n / 2u + n % 2u * weights_outer : n; }
uint row_of_weights(uint n) { return weights_begin + row_within(n); }  // among all of them
uint x_row = 0u;  // the run where the right-hand side at hand begins
uint x_from(uint vector, uint row_runs) { return x_row = VIEWS == 0u ? vector * row_runs : (x_begin + vector * x_stride) / 4u; }
vec4 x_stored(uint at) {  // 4 consecutive elements
    if (X_TYPE == 0u) return x_in[at];
    const uvec2 run = uvec2(x_halves[at]);
    return X_TYPE == 1u ? vec4(unpackHalf2x16(run.x), unpackHalf2x16(run.y))
        : uintBitsToFloat(uvec4(run.x << 16, run.x & 0xffff0000u, run.y << 16, run.y & 0xffff0000u));
}
vec4 x_run(uint at) {  // normed, but for the factor of results
    precise vec4 run = x_stored(at);
    if (NORM != 0u) run *= norm_weights[at - x_row];
    return run;
}
void add_squares() {  // where subgroups share rows, the walk has the barrier
    const uint runs = row_tiles * 4u, step = gl_WorkGroupSize.x;
    [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
        const uint from = x_from(min(m, batch - 1u), runs);
        float sum = 0.0;
        for (uint at = gl_LocalInvocationID.x; at < runs; at += 8u * step) {
            vec4 v[8];
            [[unroll]] for (uint i = 0u; i < 8u; ++i) v[i] = x_stored(from + min(at + i * step, runs - 1u));
            [[unroll]] for (uint i = 0u; i < 8u; ++i) sum += at + i * step < runs ? dot(v[i], v[i]) : 0.0;
        }
        for (uint bit = 1u; bit < gl_SubgroupSize; bit *= 2u) sum += subgroupShuffleXor(sum, bit);
        if (gl_SubgroupInvocationID == 0u) partial[SQUARES + gl_SubgroupID * BATCH + m] = sum;
    }
    if (SPLIT == 1u) barrier();
}

// Bits of the epilogue. Scales are of tensors, rows or vectors.
const uint ADDS_TO_Y = 1u, ADDS_BIAS = 2u, SCALES = 4u, GATES = 8u, ADDS_RESIDUAL = 16u, SCALES_ROWS = 256u, SCALES_VECTORS = 512u;
float y_before(uint at) {  // what y holds
    if (Y_TYPE == 0u) return y[at];
    const uint bits = uint(y_halves[at]);
    return Y_TYPE == 1u ? unpackHalf2x16(bits).x : uintBitsToFloat(bits << 16);
}
void store_y(uint at, float sum) {  // 16 bits are rounded once, ties to even; in integers, for Vulkan leaves that open
    const uint bits = floatBitsToUint(sum), magnitude = bits & 0x7FFFFFFFu, nan = Y_TYPE == 1u ? 0x7E00u : 0x7FC0u;
    precise float lifted = uintBitsToFloat(magnitude) + 0.5;  // rounds subnormal halves
    const uint bf16 = magnitude + 0x7FFFu + (magnitude >> 16 & 1u) >> 16, subnormal = floatBitsToUint(lifted) - 0x3F000000u;
    const uint normal = min(magnitude - 0x37FFF001u + (magnitude >> 13 & 1u) >> 13, 0x7C00u);
    const uint f16 = magnitude < 0x38800000u ? subnormal : normal, rounded = Y_TYPE == 1u ? f16 : bf16;
    const uint signed_bits = bits >> 16 & 0x8000u | (magnitude > 0x7F800000u ? nan : rounded);
    if (Y_TYPE == 0u) y[at] = sum;
    else y_halves[at] = uint16_t(signed_bits);
}

void finish(uint m, uint n, float sum) {  // row `n` of right-hand side `m` is done
    if (NORM != 0u) {  // x has been multiplied with the weights of its norm alone
        float all = 0.0;
        for (uint i = m; i < gl_NumSubgroups * BATCH; i += BATCH) all += partial[SQUARES + i];
        sum *= inversesqrt(all / float(row_tiles * 16u) + uintBitsToFloat(NORM));
    }
    if (VIEWS == 2u) {  // of rows in turn: that of the gate, number y_outer, has silu(gate) * the other
        const float other = subgroupShuffleXor(sum, 1u);
        if (n % 2u != y_outer) return;
        sum = sum / (1.0 + exp(-sum)) * other, n /= 2u;
    }
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
vec4 x[BATCH][16];
float x_sum[BATCH][2];

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
    const uint place = j * 16u, from = x_from(min(vector, batch - 1u), row_tiles * 4u) + place;
    vec4 run[16];
    [[unroll]] for (uint r = 0u; r < 16u; r += 4u) load_runs(from + r, run[r], run[r + 1u], run[r + 2u], run[r + 3u]);
    [[unroll]] for (uint r = 0u; r < 4u; ++r) x[k][r] = run[r] * 16777216.0;
    [[unroll]] for (uint r = 4u; r < 8u; ++r) x[k][r] = run[r] * 1048576.0;
    [[unroll]] for (uint r = 8u; r < 12u; ++r) x[k][r] = run[r] * 16777216.0;
    [[unroll]] for (uint r = 12u; r < 16u; ++r) x[k][r] = run[r] * 1048576.0;
    x_sum[k][0] = dot(run[0] + run[1] + run[2] + run[3] + run[4] + run[5] + run[6] + run[7], vec4(-8.0));
    x_sum[k][1] = dot(run[8] + run[9] + run[10] + run[11] + run[12] + run[13] + run[14] + run[15], vec4(-8.0));
}

float sum_of_lanes(float v[SUMS], uint width) {  // all at once, over lanes from a multiple of `width` on: number i is in the i-th
    [[unroll]] for (uint left = SUMS / 2u, bit = 1u; left > 0u; left /= 2u, bit *= 2u) {
        const bool odd = (gl_SubgroupInvocationID & bit) != 0u;
        [[unroll]] for (uint i = 0u; i < left; ++i)
            v[i] = mix(v[2u * i], v[2u * i + 1u], odd) + subgroupShuffleXor(mix(v[2u * i + 1u], v[2u * i], odd), bit);
    }
    for (uint bit = SUMS; bit < width; bit *= 2u) v[0] += subgroupShuffleXor(v[0], bit);
    return v[0];
}

// A subgroup keeps a slice of x, a tile of each right-hand side in each lane. Rows of that slice are loaded side by side, 16 bytes a
// thread, while those before them, which lie in memory that the subgroup has for itself, are multiplied.
const uint SLICE_WORDS = LANES / 1u * 9u, SLICE_FOURS = (SLICE_WORDS + 3u) / 4u + uint(SLICE_WORDS % 4u != 0u);
const uint LOADS = (ROWS * SLICE_FOURS + LANES - 1u) / LANES;  // of a thread
shared uint held[gl_WorkGroupSize.x * LOADS * 4u];
void hold_four(uint at, uvec4 four) { held[at] = four.x, held[at + 1u] = four.y, held[at + 2u] = four.z, held[at + 3u] = four.w; }

void take(uint at, uint j, out uint words[9]) {  // tile `j` of a slice, which lies from word `at` on
    uint block = j, base = block * 9u;
    words[0] = held[at + base], words[1] = held[at + base + 1u], words[2] = held[at + base + 2u], words[3] = held[at + base + 3u];
    words[4] = held[at + base + 4u], words[5] = held[at + base + 5u], words[6] = held[at + base + 6u], words[7] = held[at + base + 7u];
    words[8] = held[at + base + 8u];
}

// What `mask` has of each byte of a word: the low bits of a half are a number of units of 2^-24.
vec4 four_codes(uint word, uint mask) {
    const vec2 even = unpackHalf2x16(word & mask), odd = unpackHalf2x16((word >> 8) & mask);
    return vec4(even.x, odd.x, even.y, odd.y);
}

void accumulate(uint j, uint k, uint words[9], inout float sum) {  // `sum` += tile `j` * x
    uint qs0 = words[0], qs1 = words[1], qs_run0 = (qs0 >> 16u) | (qs1 << 16u), qs2 = words[2], qs_run1 = (qs1 >> 16u) | (qs2 << 16u);
    uint qs3 = words[3], qs_run2 = (qs2 >> 16u) | (qs3 << 16u), qs4 = words[4], qs_run3 = (qs3 >> 16u) | (qs4 << 16u), qs5 = words[5];
    uint qs6 = words[6], qs7 = words[7], qs8 = words[8];
    float d0 = unpackHalf2x16(qs0).x, d1 = unpackHalf2x16(qs4 >> 16u).x;
    float dots0 = dot_add(x_sum[k][0], x[k][0], four_codes(qs_run0, 0xF000Fu));
    float dots1 = dot_add(dots0, x[k][1], four_codes(qs_run1, 0xF000Fu)), dots2 = dot_add(dots1, x[k][2], four_codes(qs_run2, 0xF000Fu));
    float dots3 = dot_add(dots2, x[k][3], four_codes(qs_run3, 0xF000Fu)), dots4 = dot_add(dots3, x[k][4], four_codes(qs_run0, 0xF000F0u));
    float dots5 = dot_add(dots4, x[k][5], four_codes(qs_run1, 0xF000F0u)), dots6 = dot_add(dots5, x[k][6], four_codes(qs_run2, 0xF000F0u));
    float dots7 = dot_add(dots6, x[k][7], four_codes(qs_run3, 0xF000F0u)), dots8 = dot_add(x_sum[k][1], x[k][8], four_codes(qs5, 0xF000Fu));
    float dots9 = dot_add(dots8, x[k][9], four_codes(qs6, 0xF000Fu)), dots10 = dot_add(dots9, x[k][10], four_codes(qs7, 0xF000Fu));
    float dots11 = dot_add(dots10, x[k][11], four_codes(qs8, 0xF000Fu)), dots12 = dot_add(dots11, x[k][12], four_codes(qs5, 0xF000F0u));
    float dots13 = dot_add(dots12, x[k][13], four_codes(qs6, 0xF000F0u)), dots14 = dot_add(dots13, x[k][14], four_codes(qs7, 0xF000F0u));
    float dots15 = dot_add(dots14, x[k][15], four_codes(qs8, 0xF000F0u));
    sum += d0 * dots7 + d1 * dots15;
}

void load_ahead(uint from, uint place[LOADS], out uvec4 ahead[LOADS]) {
    [[unroll]] for (uint i = 0u; i < LOADS; ++i) ahead[i] = blocks_four[from + place[i]];
}

void main() {
    find_matrix();
    const uint teams = gl_WorkGroupSize.x / LANES / SPLIT, team = gl_SubgroupID / SPLIT, step = group_count() * teams * ROWS;
    const uint lane = gl_SubgroupInvocationID, slice = gl_SubgroupID % SPLIT, j = slice * LANES + lane, last = max(rows, ROWS) - ROWS;
    const uint tiles = row_tiles / 4u, row_fours = tiles / 1u * 9u / 4u;
    const uint own = gl_SubgroupID * LOADS * LANES, phase = slice * SLICE_WORDS % 4u;
    uint place[LOADS];  // of loads, from a row on
    [[unroll]] for (uint i = 0u; i < LOADS; ++i) {
        const uint load = i * LANES + lane, r = load / SLICE_FOURS, four = slice * SLICE_WORDS / 4u + load % SLICE_FOURS;
        place[i] = r < ROWS && four < row_fours ? row_within(min(r, rows - 1u)) * row_fours + four : 0u;
    }
    uvec4 ahead[LOADS];
    uint first = group_number() * teams * ROWS, turn = 0u;
    load_ahead(row_of_weights(min(first + team * ROWS, last)) * row_fours, place, ahead);
    if (NORM != 0u) add_squares();
    [[unroll]] for (uint m = 0u; m < BATCH; ++m) load_x(m, min(j, tiles - 1u), m);
    [[dont_unroll]] for (; first < rows; first += step) {
        subgroupBarrier();
        [[unroll]] for (uint i = 0u; i < LOADS; ++i) hold_four((own + i * LANES + lane) * 4u, ahead[i]);
        subgroupBarrier();
        const uint next = first + step, row = first + team * ROWS;
        if (next < rows) load_ahead(row_of_weights(min(next + team * ROWS, last)) * row_fours, place, ahead);
        float sum[SUMS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            uint words[9];
            take((own + r * SLICE_FOURS) * 4u + phase, lane, words);
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                sum[r * BATCH + m] = 0.0;
                accumulate(lane, m, words, sum[r * BATCH + m]);
                if (j >= tiles) sum[r * BATCH + m] = 0.0;
            }
        }
        const float all = sum_of_lanes(sum, LANES);
        const uint to = min(row, last) + lane / BATCH, m = lane % BATCH;
        if (SPLIT == 1u) {
            if (lane < SUMS && to >= row && to < rows && m < batch) finish(m, to, all);
            continue;
        }
        // Halves of the memory in turn: who is a row ahead does not write where others still read.
        const uint place_of_sums = turn++ % 2u * gl_NumSubgroups * SUMS;
        if (lane < SUMS) partial[place_of_sums + gl_SubgroupID * SUMS + lane] = all;
        barrier();
        if (slice == 0u && lane < SUMS && to >= row && to < rows && m < batch) {
            float total = 0.0;
            [[unroll]] for (uint s = 0u; s < SPLIT; ++s) total += partial[place_of_sums + (gl_SubgroupID + s) * SUMS + lane];
            finish(m, to, total);
        }
    }
}
