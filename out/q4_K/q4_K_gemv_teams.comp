// q4_K_gemv_teams: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format q4_K`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 144 bytes for 256 elements, 4.5 bits each.
// For each weight 0.562 bytes read, 5.16 operations: 0.125 loads, 1.41 bits, 0.625 integer, 2.31 float, 0.688 conversions.
//     format q4_K "4-bit codes, 6-bit scales and minimums in groups of 32"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 256 {
//         d:      f16
//         dmin:   f16
//         scales: u8[12]
//         qs:     u8[128]
//     }
//     # Groups 0 to 3 have their six bits in one byte; groups 4 to 7 borrow the two high bits of those bytes.
//     code sc per 32 = scales { 4 @ 0 (4:8, 2:64)   2 @ 4 (4:8, 2:2) }
//     code mn per 32 = scales { 4 @ 32 (4:8, 2:36)  2 @ 36 (4:8, 2:2) }
//     # 32 low nibbles, 32 high nibbles, and so on in steps of 32 bytes.
//     code q = qs { 4 @ 0 (32:8, 2:4, 4:256) }
//     value = d * sc * q - dmin * mn
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 2;  // right-hand sides at once, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time, at most as many as a team has lanes
layout(constant_id = 3) const uint SPLIT = 4;  // quarters of a subgroup that are a team
layout(constant_id = 43) const uint TURNS = 1;  // in which a tile is multiplied
layout(constant_id = 6) const uint SHARED_FOURS = 512;  // 16 bytes each: memory for x
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say
shared float partial[SPLIT > 4u ? gl_WorkGroupSize.x / 8u * ROWS * BATCH : 1u];
layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 0, std430) readonly buffer Blocks_fourBuffer { uvec4 blocks_four[]; };
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
float x_sum[1][2];

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
    const uint tile = j % 8u, place = j / 8u * 64u + tile / 2u * 16u + tile % 2u * 4u,
        from = x_from(min(vector, batch - 1u), row_tiles * 4u) + place;
    vec4 run[8];
    [[unroll]] for (uint r = 0u; r < 8u; r += 4u) load_runs(from + r % 4u + r / 4u * 8u, run[r], run[r + 1u], run[r + 2u], run[r + 3u]);
    [[unroll]] for (uint r = 0u; r < 4u; ++r) x[k][r] = run[r] * 16777216.0;
    [[unroll]] for (uint r = 4u; r < 8u; ++r) x[k][r] = run[r] * 1048576.0;
    x_sum[k][0] = dot(run[0] + run[1] + run[2] + run[3], vec4(1.0));
    x_sum[k][1] = dot(run[4] + run[5] + run[6] + run[7], vec4(1.0));
}

void fetch(uint n, uint j, out uvec4 fours[2], out uint words[2]) {  // tile `j` of row `n`
    const uint block = row_of_weights(n) * (row_tiles / 16u) + j / 8u, tile = j % 8u;
    uint base = block * 36u, part = tile / 2u;  // part: of 64 elements
    fours[0] = blocks_four[block * 9u], fours[1] = blocks_four[block * 9u + tile + 1u], words[0] = blocks[base + part / 2u * 2u + 1u];
    words[1] = blocks[base + part / 2u + 2u];
}
bool is_turn(uint turn) { return turn == 0u || (turn == 1u ? rows : turn == 2u ? batch : y_rows) != 0u; }  // true; but loads wait

// What `mask` has of each byte of a word: the low bits of a half are a number of units of 2^-24.
vec4 four_codes(uint word, uint mask) {
    const vec2 even = unpackHalf2x16(word & mask), odd = unpackHalf2x16((word >> 8) & mask);
    return vec4(even.x, odd.x, even.y, odd.y);
}

void accumulate(uint n, uint j, uint k, uvec4 fours[2], uint words[2], bvec4 turns, inout float sum) {  // `sum` += tile `j` of row `n` * x
    uint tile = j % 8u, part = tile / 2u;  // part: of 64 elements
    uint shift0 = part % 2u * 16u, shift1 = shift0 + part / 2u * 2u, shift2 = shift0 + part / 2u * 4u;
    uvec4 four = fours[0], qs = fours[1];
    uint d_dmin = four.x, scales0 = words[0], scales1 = four.y, scales2 = words[1], scales3 = four.z;
    float d = unpackHalf2x16(d_dmin).x, dmin = unpackHalf2x16(d_dmin >> 16u).x;
    uint sc_lo0 = (scales0 >> shift0) & 15u, sc_lo1 = (scales0 >> (shift0 + 8u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi0 = (scales1 >> (shift1 + 4u)) & 3u, sc_hi1 = (scales1 >> (shift1 + 12u)) & 3u;  // scales: bits 4-5 of sc
    uint sc0 = sc_lo0 | (sc_hi0 << 4u), sc1 = sc_lo1 | (sc_hi1 << 4u);
    precise float d_sc0 = d * float(sc0), d_sc1 = d * float(sc1);
    uint mn_lo0 = (scales2 >> shift2) & 15u, mn_lo1 = (scales2 >> (shift2 + 8u)) & 15u;  // scales: bits 0-3 of mn
    uint mn_hi0 = (scales3 >> (shift1 + 4u)) & 3u, mn_hi1 = (scales3 >> (shift1 + 12u)) & 3u;  // scales: bits 4-5 of mn
    uint mn0 = mn_lo0 | (mn_hi0 << 4u), mn1 = mn_lo1 | (mn_hi1 << 4u);
    precise float dmin_mn0 = dmin * float(mn0), dmin_mn1 = dmin * float(mn1);
    float dots0 = dot_add(dot(x[k][0], four_codes(qs.x, 0xF000Fu)), x[k][1], four_codes(qs.y, 0xF000Fu));
    float dots1 = dot_add(TURNS > 1u ? 0.0 : dots0, x[k][2], four_codes(qs.z, 0xF000Fu));
    float dots2 = dot_add(dots1, x[k][3], four_codes(qs.w, 0xF000Fu));
    float dots3 = dot_add(dot(x[k][4], four_codes(qs.x, 0xF000F0u)), x[k][5], four_codes(qs.y, 0xF000F0u));
    float dots4 = dot_add(TURNS > 1u ? 0.0 : dots3, x[k][6], four_codes(qs.z, 0xF000F0u));
    float dots5 = dot_add(dots4, x[k][7], four_codes(qs.w, 0xF000F0u));
    if (TURNS == 1u) {
        sum += d_sc0 * dots2 - dmin_mn0 * x_sum[k][0] + d_sc1 * dots5 - dmin_mn1 * x_sum[k][1];
        return;
    }
    if (turns.x) sum = sum + d_sc0 * dots0;
    if (turns.y) sum = sum + d_sc0 * dots2 - dmin_mn0 * x_sum[k][0];
    if (turns.z) sum = sum + d_sc1 * dots3;
    if (turns.w) sum = sum + d_sc1 * dots5 - dmin_mn1 * x_sum[k][1];
}

const uint X_FOURS = 9u, FIT = SHARED_FOURS / (X_FOURS * BATCH), SLICE = FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles
shared vec4 shared_x[BATCH * X_FOURS * SLICE];

// Puts what is kept of right-hand side `m` and tile `t` of the slice there.
void share_x(uint m, uint t) {
    [[unroll]] for (uint i = 0u; i < 8u; ++i) shared_x[(m * X_FOURS + i) * SLICE + t] = x[0][i];
    shared_x[(m * X_FOURS + 8u) * SLICE + t] = vec4(x_sum[0][0], x_sum[0][1], 0.0, 0.0);
}

// Takes it from there, for the turns that are true.
void take_x(uint m, uint t, bvec4 turns) {
    [[unroll]] for (uint i = 0u; i < 8u; ++i) if (turns[i / 2u]) x[0][i] = shared_x[(m * X_FOURS + i) * SLICE + t];
    if (TURNS == 1u) {
        const vec4 sums = shared_x[(m * X_FOURS + 8u) * SLICE + t];
        x_sum[0][0] = sums.x, x_sum[0][1] = sums.y;
        return;
    }
    if (turns.y) x_sum[0][0] = shared_x[(m * X_FOURS + 8u) * SLICE + t].x;
    if (turns.w) x_sum[0][1] = shared_x[(m * X_FOURS + 8u) * SLICE + t].y;
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
            uvec4 fours[ROWS][2]; uint words[ROWS][2];  // weights are on their way while the workgroup waits for x
            [[unroll]] for (uint r = 0u; r < ROWS; ++r)
                if (TURNS == 1u) fetch(min(row + r, last), from + min(lane, count - 1u), fours[r], words[r]);
            if (slice < tiles || first < group_count() * teams * ROWS) share_slice(from, count);  // else it is there still
            for (uint t = lane; t < count; t += lanes) {
                [[unroll]] for (uint turn = 0u; TURNS > 1u && turn < TURNS; ++turn) {
                    if (!is_turn(turn)) continue;
                    const bvec4 turns = bvec4(turn == 0u, turn == 1u, turn == 2u, turn == 3u);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, last), from + t, fours[r], words[r]);
                    [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                        take_x(m, t, turns);
                        [[unroll]] for (uint r = 0u; r < ROWS; ++r)
                            accumulate(min(row + r, last), from + t, 0u, fours[r], words[r], turns, sum[m][r]);
                    }
                }
                if (TURNS > 1u) continue;
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                    take_x(m, t, bvec4(true));
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r)
                        accumulate(min(row + r, last), from + t, 0u, fours[r], words[r], bvec4(true), sum[m][r]);
                }
                if (t + lanes >= count) continue;
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, last), from + t + lanes, fours[r], words[r]);
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
