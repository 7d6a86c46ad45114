// affine_b3_g64_bf16_gemv_teams: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format affine_b3_g64_bf16`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 28 bytes for 64 elements, 3.5 bits each.
// For each weight 0.438 bytes read, 5.38 operations: 0.156 loads, 1.91 bits, 0.219 integer, 2.09 float, 1 conversions.
//     format affine_b{bits}_g{group}_{T} "affine codes in one bit stream, a scale and a bias for each group"
//     from "MLX, mlx.core.quantize with mode='affine'"
//     for bits in 2 3 4 5 6 8, group in 32 64 128, T in f16 bf16 f32
//     block group {
//         buffer weight { w: u32[group * bits / 32] }
//         buffer scales { s: T }
//         buffer biases { b: T }
//     }
//     code q = w { bits @ 0 (group:bits) }
//     value = q * s + b
//
// Here bits = 3, group = 64, T = bf16.
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_16bit_storage : require
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
layout(binding = 0, std430) readonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 2, std430) readonly buffer BiasesBuffer { uint16_t biases[]; };
layout(binding = 1, std430) readonly buffer Scales_wordBuffer { uint scales_word[]; };
layout(binding = 2, std430) readonly buffer Biases_wordBuffer { uint biases_word[]; };
layout(binding = 3, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 3, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 4, std430) buffer Output { float y[]; };
layout(binding = 4, std430) buffer OutputHalves { uint16_t y_halves[]; };
layout(binding = 5, std430) readonly buffer ResultScale { float result_scale[]; };
layout(binding = 6, std430) readonly buffer RowBias { float row_bias[]; };
layout(binding = 7, std430) readonly buffer ResultGate { float result_gate[]; };
layout(binding = 8, std430) readonly buffer Residual { float residual[]; };
layout(push_constant) uniform Push {
    uint rows, row_tiles, batch;  // of this launch; tiles of 32 elements in a row; right-hand sides
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

float bf16_to_f32(uint bits) { return uintBitsToFloat(bits << 16); }  // of the low 16 bits

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
    const uint tile = j % 4u, place = j / 4u * 32u + tile * 8u, from = x_from(min(vector, batch - 1u), row_tiles * 8u) + place;
    vec4 run[8];
    [[unroll]] for (uint r = 0u; r < 8u; r += 4u) load_runs(from + r, run[r], run[r + 1u], run[r + 2u], run[r + 3u]);
    x[k][0] = run[0] * vec4(16777216.0, 2097152.0, 262144.0, 8388608.0);
    [[unroll]] for (uint r = 1u; r < 3u; ++r) x[k][r] = run[r];
    x[k][3] = run[3] * vec4(1048576.0, 131072.0, 4194304.0, 524288.0);
    x[k][4] = run[4] * vec4(16777216.0, 2097152.0, 262144.0, 8388608.0);
    [[unroll]] for (uint r = 5u; r < 7u; ++r) x[k][r] = run[r];
    x[k][7] = run[7] * vec4(1048576.0, 131072.0, 4194304.0, 524288.0);
    x_sum[k][0] = dot(run[0] + run[1] + run[2] + run[3] + run[4] + run[5] + run[6] + run[7], vec4(1.0));
}

void fetch(uint n, uint j, out uint words[5]) {  // tile `j` of row `n`
    const uint block = row_of_weights(n) * (row_tiles / 4u) + j / 4u, tile = j % 4u;
    words[0] = weight[block * 12u + tile * 3u], words[1] = scales_word[block], words[2] = biases_word[block];
    words[3] = weight[block * 12u + tile * 3u + 1u], words[4] = weight[block * 12u + tile * 3u + 2u];
}
bool is_turn(uint turn) { return turn == 0u || (turn == 1u ? rows : turn == 2u ? batch : y_rows) != 0u; }  // true; but loads wait

void accumulate(uint n, uint j, uint k, uint words[5], bvec4 turns, inout float sum) {  // `sum` += tile `j` of row `n` * x
    uint tile = j % 4u, shift = tile / 2u * 16u;
    float s = bf16_to_f32(words[1] >> shift), b = bf16_to_f32(words[2] >> shift);
    uint w0 = words[0], w1 = words[3], w_run0 = (w0 >> 16u) | (w1 << 16u), w2 = words[4], w_run1 = (w1 >> 16u) | (w2 << 16u);
    vec2 pair0 = unpackHalf2x16(w0 & 0x70007u), pair1 = unpackHalf2x16(w0 & 0x380038u), pair2 = unpackHalf2x16(w0 & 0x1C001C0u);
    vec2 pair3 = unpackHalf2x16((w0 >> 8u) & 0xE000Eu), pair4 = unpackHalf2x16(w1 & 0x700070u), pair5 = unpackHalf2x16(w1 & 0x3800380u);
    vec2 pair6 = unpackHalf2x16((w1 >> 8u) & 0x1C001Cu), pair7 = unpackHalf2x16((w1 >> 8u) & 0xE000E0u);
    vec2 pair8 = unpackHalf2x16(w1 & 0x70007u), pair9 = unpackHalf2x16(w1 & 0x380038u), pair10 = unpackHalf2x16(w1 & 0x1C001C0u);
    vec2 pair11 = unpackHalf2x16((w1 >> 8u) & 0xE000Eu), pair12 = unpackHalf2x16(w2 & 0x700070u), pair13 = unpackHalf2x16(w2 & 0x3800380u);
    vec2 pair14 = unpackHalf2x16((w2 >> 8u) & 0x1C001Cu), pair15 = unpackHalf2x16((w2 >> 8u) & 0xE000E0u);
    uvec4 q0 = (uvec4(w0) >> uvec4(12, 15, 18, 21)) & 7u, q1 = (uvec4(w_run0) >> uvec4(8, 11, 14, 17)) & 7u;  // w: 3 bits
    uvec4 q2 = (uvec4(w_run1) >> uvec4(12, 15, 18, 21)) & 7u, q3 = (uvec4(w2) >> uvec4(8, 11, 14, 17)) & 7u;  // w: 3 bits
    float dots0 = dot_add(dot(x[k][0], vec4(pair0.x, pair1.x, pair2.x, pair3.x)), x[k][1], vec4(q0));
    float dots1 = dot_add(TURNS > 1u ? 0.0 : dots0, x[k][2], vec4(q1));
    float dots2 = dot_add(dots1, x[k][3], vec4(pair4.x, pair5.x, pair6.x, pair7.x));
    float dots3 = dot_add(TURNS > 1u ? 0.0 : dots2, x[k][4], vec4(pair8.y, pair9.y, pair10.y, pair11.y));
    float dots4 = dot_add(dots3, x[k][5], vec4(q2)), dots5 = dot_add(TURNS > 1u ? 0.0 : dots4, x[k][6], vec4(q3));
    float dots6 = dot_add(dots5, x[k][7], vec4(pair12.y, pair13.y, pair14.y, pair15.y));
    if (TURNS == 1u) {
        sum += s * dots6 + b * x_sum[k][0];
        return;
    }
    if (turns.x) sum = sum + s * dots0;
    if (turns.y) sum = sum + s * dots2;
    if (turns.z) sum = sum + s * dots4;
    if (turns.w) sum = sum + s * dots6 + b * x_sum[k][0];
}

const uint X_FOURS = 9u, FIT = SHARED_FOURS / (X_FOURS * BATCH), SLICE = FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles
shared vec4 shared_x[BATCH * X_FOURS * SLICE];

// Puts what is kept of right-hand side `m` and tile `t` of the slice there.
void share_x(uint m, uint t) {
    [[unroll]] for (uint i = 0u; i < 8u; ++i) shared_x[(m * X_FOURS + i) * SLICE + t] = x[0][i];
    shared_x[(m * X_FOURS + 8u) * SLICE + t] = vec4(x_sum[0][0], 0.0, 0.0, 0.0);
}

// Takes it from there, for the turns that are true.
void take_x(uint m, uint t, bvec4 turns) {
    [[unroll]] for (uint i = 0u; i < 8u; ++i) if (turns[i / 2u]) x[0][i] = shared_x[(m * X_FOURS + i) * SLICE + t];
    if (TURNS == 1u) {
        const vec4 sums = shared_x[(m * X_FOURS + 8u) * SLICE + t];
        x_sum[0][0] = sums.x;
        return;
    }
    if (turns.w) x_sum[0][0] = shared_x[(m * X_FOURS + 8u) * SLICE + t].x;
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
    const uint tiles = row_tiles, last = rows - 1u, lanes = SPLIT * (gl_SubgroupSize / 4u), teams = gl_WorkGroupSize.x / lanes;
    const uint place = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID, lane = place % lanes, team = place / lanes;
    const uint slice = SLICE < lanes ? SLICE : SLICE / lanes * lanes;  // no lane without a tile while others have one
    for (uint first = group_number() * teams * ROWS; first < rows; first += group_count() * teams * ROWS) {
        const uint row = first + team * ROWS;
        float sum[BATCH][ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[m][r] = 0.0;
        for (uint from = 0u; from < tiles; from += slice) {
            const uint count = min(slice, tiles - from);
            uint words[ROWS][5];  // weights are on their way while the workgroup waits for x
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
