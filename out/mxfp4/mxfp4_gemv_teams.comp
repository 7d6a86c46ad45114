// mxfp4_gemv_teams: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format mxfp4`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 17 bytes for 32 elements, 4.25 bits each.
// For each weight 0.531 bytes read, 7.03 operations: 0.344 loads, 3.34 bits, 0.719 integer, 2.12 float, 0.5 conversions.
//     format mxfp4 "E2M1 codes, a power of two for 32"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 32 {
//         e:  u8
//         qs: u8[16]
//     }
//     code q = qs { 4 @ 0 (16:8, 2:4) }    # low nibbles, then high nibbles
//     table K: i8[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 }    # twice the E2M1 value
//     # 2^(e - 128), since the table is doubled: e - 1 is the exponent of an f32, but that the two smallest are subnormals.
//     value = K[q] * f32(e < 2 ? 2097152 << (e & 1) : (e + 255 & 255) << 23)
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_8bit_storage : require
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
layout(binding = 0, std430) readonly buffer BlocksBuffer { uint8_t blocks[]; };
layout(binding = 7, std430) readonly buffer KTable { int K[]; };
layout(binding = 0, std430) readonly buffer Blocks_wordBuffer { uint blocks_word[]; };
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
float x_sum[1][1];

// sum + dot(a, b), in as many operations as a has lanes.
float dot_add(float sum, vec4 a, vec4 b) { return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum)))); }

void load_x(uint vector, uint j, uint k) {  // what tile `j` of a row meets of right-hand side `vector`
    const uint tile = j % 4u, place = j / 4u * 32u + tile, from = x_from(min(vector, batch - 1u), row_tiles * 4u) + place;
    vec4 run[8];
    [[unroll]] for (uint r = 0u; r < 8u; ++r) run[r] = x_run(from + r * 4u);
    [[unroll]] for (uint r = 0u; r < 8u; ++r) x[k][r] = run[r] * 32768.0;
}

void fetch(uint n, uint j, out uint words[11]) {  // tile `j` of row `n`
    uint block = row_of_weights(n) * (row_tiles / 8u) + j / 4u, tile = j % 4u, base = block * 17u;
    words[0] = blocks_word[base + tile], words[1] = blocks_word[base + tile + 1u], words[2] = blocks_word[base];
    words[3] = blocks_word[base + tile + 4u], words[4] = blocks_word[base + tile + 5u], words[5] = blocks_word[base + 4u];
    words[6] = blocks_word[base + tile + 8u], words[7] = blocks_word[base + tile + 9u], words[8] = blocks_word[base + 8u];
    words[9] = blocks_word[base + tile + 13u], words[10] = blocks_word[base + 12u];
}
bool is_turn(uint turn) { return turn == 0u || (turn == 1u ? rows : turn == 2u ? batch : y_rows) != 0u; }  // true; but loads wait

void accumulate(uint n, uint j, uint k, uint words[11], bvec4 turns, inout float sum) {  // `sum` += tile `j` of row `n` * x
    uint e0 = words[2] & 0xFFu, qs0 = words[0], qs1 = words[1], qs_run0 = (qs0 >> 8u) | (qs1 << 24u), e1 = (words[5] >> 8u) & 0xFFu;
    uint qs2 = words[3], qs3 = words[4], qs_run1 = (qs2 >> 16u) | (qs3 << 16u), e2 = (words[8] >> 16u) & 0xFFu, qs4 = words[6];
    uint qs5 = words[7], qs_run2 = (qs4 >> 24u) | (qs5 << 8u), e3 = words[10] >> 24u, qs6 = words[9];
    float e_e_e0 = uintBitsToFloat(uint(int(e0) < 2 ? 2097152 << (int(e0) & 1) : ((int(e0) + 255) & 255) << 23));
    float e_e_e1 = uintBitsToFloat(uint(int(e1) < 2 ? 2097152 << (int(e1) & 1) : ((int(e1) + 255) & 255) << 23));
    float e_e_e2 = uintBitsToFloat(uint(int(e2) < 2 ? 2097152 << (int(e2) & 1) : ((int(e2) + 255) & 255) << 23));
    float e_e_e3 = uintBitsToFloat(uint(int(e3) < 2 ? 2097152 << (int(e3) & 1) : ((int(e3) + 255) & 255) << 23));
    vec2 pair0 = unpackHalf2x16(((qs_run0 << 9u) & 0xE000E00u) | ((qs_run0 << 12u) & 0x80008000u));
    vec2 pair1 = unpackHalf2x16(((qs_run0 << 1u) & 0xE000E00u) | ((qs_run0 << 4u) & 0x80008000u));
    vec2 pair2 = unpackHalf2x16(((qs_run0 << 5u) & 0xE000E00u) | ((qs_run0 << 8u) & 0x80008000u));
    vec2 pair3 = unpackHalf2x16(((qs_run0 >> 3u) & 0xE000E00u) | (qs_run0 & 0x80008000u));
    vec2 pair4 = unpackHalf2x16(((qs_run1 << 9u) & 0xE000E00u) | ((qs_run1 << 12u) & 0x80008000u));
    vec2 pair5 = unpackHalf2x16(((qs_run1 << 1u) & 0xE000E00u) | ((qs_run1 << 4u) & 0x80008000u));
    vec2 pair6 = unpackHalf2x16(((qs_run1 << 5u) & 0xE000E00u) | ((qs_run1 << 8u) & 0x80008000u));
    vec2 pair7 = unpackHalf2x16(((qs_run1 >> 3u) & 0xE000E00u) | (qs_run1 & 0x80008000u));
    vec2 pair8 = unpackHalf2x16(((qs_run2 << 9u) & 0xE000E00u) | ((qs_run2 << 12u) & 0x80008000u));
    vec2 pair9 = unpackHalf2x16(((qs_run2 << 1u) & 0xE000E00u) | ((qs_run2 << 4u) & 0x80008000u));
    vec2 pair10 = unpackHalf2x16(((qs_run2 << 5u) & 0xE000E00u) | ((qs_run2 << 8u) & 0x80008000u));
    vec2 pair11 = unpackHalf2x16(((qs_run2 >> 3u) & 0xE000E00u) | (qs_run2 & 0x80008000u));
    vec2 pair12 = unpackHalf2x16(((qs6 << 9u) & 0xE000E00u) | ((qs6 << 12u) & 0x80008000u));
    vec2 pair13 = unpackHalf2x16(((qs6 << 1u) & 0xE000E00u) | ((qs6 << 4u) & 0x80008000u));
    vec2 pair14 = unpackHalf2x16(((qs6 << 5u) & 0xE000E00u) | ((qs6 << 8u) & 0x80008000u));
    vec2 pair15 = unpackHalf2x16(((qs6 >> 3u) & 0xE000E00u) | (qs6 & 0x80008000u));
    float dots0 = dot_add(dot(x[k][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y)), x[k][1], vec4(pair2.x, pair3.x, pair2.y, pair3.y));
    float dots1 = dot_add(dot(x[k][2], vec4(pair4.x, pair5.x, pair4.y, pair5.y)), x[k][3], vec4(pair6.x, pair7.x, pair6.y, pair7.y));
    float dots2 = dot_add(dot(x[k][4], vec4(pair8.x, pair9.x, pair8.y, pair9.y)), x[k][5], vec4(pair10.x, pair11.x, pair10.y, pair11.y));
    float dots3 = dot_add(dot(x[k][6], vec4(pair12.x, pair13.x, pair12.y, pair13.y)), x[k][7],
        vec4(pair14.x, pair15.x, pair14.y, pair15.y));
    if (TURNS == 1u) {
        sum += e_e_e0 * dots0 + e_e_e1 * dots1 + e_e_e2 * dots2 + e_e_e3 * dots3;
        return;
    }
    if (turns.x) sum = sum + e_e_e0 * dots0;
    if (turns.y) sum = sum + e_e_e1 * dots1;
    if (turns.z) sum = sum + e_e_e2 * dots2;
    if (turns.w) sum = sum + e_e_e3 * dots3;
}

const uint X_FOURS = 8u, FIT = SHARED_FOURS / (X_FOURS * BATCH), SLICE = FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles
shared vec4 shared_x[BATCH * X_FOURS * SLICE];

// Puts what is kept of right-hand side `m` and tile `t` of the slice there.
void share_x(uint m, uint t) {
    [[unroll]] for (uint i = 0u; i < 8u; ++i) shared_x[(m * X_FOURS + i) * SLICE + t] = x[0][i];
}

// Takes it from there, for the turns that are true.
void take_x(uint m, uint t, bvec4 turns) {
    [[unroll]] for (uint i = 0u; i < 8u; ++i) if (turns[i / 2u]) x[0][i] = shared_x[(m * X_FOURS + i) * SLICE + t];
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
    for (uint i = gl_LocalInvocationID.x; i < count * BATCH; i += gl_WorkGroupSize.x) {
        const uint m = i / count, t = i % count;
        load_x(m, begin + t, 0u);
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
            uint words[ROWS][11];  // weights are on their way while the workgroup waits for x
            [[unroll]] for (uint r = 0u; r < ROWS; ++r)
                if (TURNS == 1u) fetch(min(row + r, last), from + min(lane, count - 1u), words[r]);
            if (slice < tiles || first < group_count() * teams * ROWS) share_slice(from, count);  // else it is there still
            for (uint t = lane; t < count; t += lanes) {
                [[unroll]] for (uint turn = 0u; TURNS > 1u && turn < TURNS; ++turn) {
                    if (!is_turn(turn)) continue;
                    const bvec4 turns = bvec4(turn == 0u, turn == 1u, turn == 2u, turn == 3u);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, last), from + t, words[r]);
                    [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                        take_x(m, t, turns);
                        [[unroll]] for (uint r = 0u; r < ROWS; ++r)
                            accumulate(min(row + r, last), from + t, 0u, words[r], turns, sum[m][r]);
                    }
                }
                if (TURNS > 1u) continue;
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                    take_x(m, t, bvec4(true));
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r)
                        accumulate(min(row + r, last), from + t, 0u, words[r], bvec4(true), sum[m][r]);
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
