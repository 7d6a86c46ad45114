// nvfp4_ckpt_gemv_shared: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format nvfp4_ckpt`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 13 bytes for 16 elements, 4.5 bits each.
// For each weight 0.562 bytes read, 5.94 operations: 0.25 loads, 2.69 bits, 0.25 integer, 2.19 float, 0.562 conversions.
//     format nvfp4_ckpt "NVFP4 checkpoints: E2M1 codes, E4M3 scales for 16, and a scale for the tensor"
//     from "NVIDIA ModelOpt: NVFP4"
//     block 1 x 16 {
//         buffer weight           { w: u8[8] }
//         buffer weight_scale     { s: e4m3 }
//         buffer weight_scale_2[] { t: f32 }
//     }
//     code q: e2m1 = w { 4 @ 0 (16:4) }
//     value = q * (s * t)
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 2;  // right-hand sides at once, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time, at most as many as a subgroup has lanes
layout(constant_id = 6) const uint SHARED_FOURS = 512;  // 16 bytes each: memory for x
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say

layout(binding = 0, std430) readonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) readonly buffer Weight_scaleBuffer { uint8_t weight_scale[]; };
layout(binding = 2, std430) readonly buffer Weight_scale_2Buffer { uint weight_scale_2[]; };
layout(binding = 3, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 3, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 4, std430) buffer Output { float y[]; };
layout(binding = 4, std430) buffer OutputHalves { uint y_halves[]; };
layout(binding = 5, std430) readonly buffer ResultScale { float result_scale[]; };
layout(binding = 6, std430) readonly buffer RowBias { float row_bias[]; };
layout(binding = 7, std430) readonly buffer ResultGate { float result_gate[]; };
layout(binding = 8, std430) readonly buffer Residual { float residual[]; };
layout(push_constant) uniform Push {
    uint rows, row_tiles, batch;  // of this launch; tiles of 16 elements in a row; right-hand sides
    uint y_first, y_rows, epilogue;  // where it begins in y; rows of a right-hand side there
    uint cols, grid_rows, grid_cols;  // of the matrix that the blocks are patches of; blocks
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

// Row `n` of right-hand side `m` is done; or, where sums come in parts, one of them is, which may be the first or the last.
void finish(uint m, uint n, float sum, bool first, bool last) {
    const uint row = y_first % y_rows + n, vector = m + y_first / y_rows, number = (matrix_first + matrix) * vectors + vector;
    const uint at = VIEWS == 0u ? m * y_rows + y_first + n : y_begin + vector * y_stride + row, does = EPILOGUE & epilogue;
    if ((does & SCALES) != 0u) sum *= result_scale[(does & SCALES_ROWS) != 0u ? row : (does & SCALES_VECTORS) != 0u ? number : 0u];
    if (first && (does & ADDS_BIAS) != 0u) sum += row_bias[row];
    if (!first || (does & ADDS_TO_Y) != 0u) sum += y_before(at + y_skip);
    if (last && (does & GATES) != 0u) sum *= result_gate[at] / (1.0 + exp(-result_gate[at]));  // silu
    if (last && (does & ADDS_RESIDUAL) != 0u) sum += residual[at];
    store_y(at + y_skip, sum);
}

void finish(uint m, uint n, float sum) { finish(m, n, sum, true, true); }

// Kept of x: tiles, in the order of the weights, and sums over runs that share a scale.
vec4 x[1][4];
float x_sum[1][1];

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
    const uint place = j * 4u, from = x_from(min(vector, batch - 1u), row_tiles * 4u) + place;
    vec4 run[4];
    [[unroll]] for (uint r = 0u; r < 4u; r += 4u) load_runs(from + r, run[r], run[r + 1u], run[r + 2u], run[r + 3u]);
    [[unroll]] for (uint r = 0u; r < 4u; ++r) x[k][r] = run[r] * 16384.0;
}

void accumulate(uint n, uint j, uint k, inout float sum) {  // `sum` += tile `j` of row `n` * x
    const uint block = row_of_weights(n) * row_tiles + j;
    uint s_bits = uint(weight_scale[block]), w0 = weight[block * 2u], w1 = weight[block * 2u + 1u];
    precise float s = unpackHalf2x16(((s_bits & 0x7Fu) == 0x7Fu ? 32256u : (s_bits & 0x7Fu) << 7u) | ((s_bits & 128u) << 8u)).x * 256.0;
    float t_ = uintBitsToFloat(weight_scale_2[0u]);
    precise float s_t = s * t_;
    vec2 pair0 = unpackHalf2x16(((w0 << 9u) & 0xE000E00u) | ((w0 << 12u) & 0x80008000u));
    vec2 pair1 = unpackHalf2x16(((w0 << 5u) & 0xE000E00u) | ((w0 << 8u) & 0x80008000u));
    vec2 pair2 = unpackHalf2x16(((w0 << 1u) & 0xE000E00u) | ((w0 << 4u) & 0x80008000u));
    vec2 pair3 = unpackHalf2x16(((w0 >> 3u) & 0xE000E00u) | (w0 & 0x80008000u));
    vec2 pair4 = unpackHalf2x16(((w1 << 9u) & 0xE000E00u) | ((w1 << 12u) & 0x80008000u));
    vec2 pair5 = unpackHalf2x16(((w1 << 5u) & 0xE000E00u) | ((w1 << 8u) & 0x80008000u));
    vec2 pair6 = unpackHalf2x16(((w1 << 1u) & 0xE000E00u) | ((w1 << 4u) & 0x80008000u));
    vec2 pair7 = unpackHalf2x16(((w1 >> 3u) & 0xE000E00u) | (w1 & 0x80008000u));
    sum += s_t * (dot(x[k][0], vec4(pair0.x, pair1.x, pair2.x, pair3.x)) + dot(x[k][1], vec4(pair0.y, pair1.y, pair2.y, pair3.y))
        + dot(x[k][2], vec4(pair4.x, pair5.x, pair6.x, pair7.x)) + dot(x[k][3], vec4(pair4.y, pair5.y, pair6.y, pair7.y)));
}

const uint X_FOURS = 4u, FIT = SHARED_FOURS / (X_FOURS * BATCH), SLICE = FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles
shared vec4 shared_x[BATCH * X_FOURS * SLICE];

// Puts what is kept of right-hand side `m` and tile `t` of the slice there.
void share_x(uint m, uint t) {
    [[unroll]] for (uint i = 0u; i < 4u; ++i) shared_x[(m * X_FOURS + i) * SLICE + t] = x[0][i];
}

// Takes it from there.
void take_x(uint m, uint t) {
    [[unroll]] for (uint i = 0u; i < 4u; ++i) x[0][i] = shared_x[(m * X_FOURS + i) * SLICE + t];
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

// Several right-hand sides: the workgroup shares a slice of x, and its subgroups walk down the rows, some lanes for each ROWS
// of them. Sums of a later slice are added to those of earlier ones.
void main() {
    find_matrix();
    const uint tiles = row_tiles, end = rows, width = 4u * ROWS > gl_SubgroupSize ? gl_SubgroupSize : gl_SubgroupSize / 4u;
    const uint lane = gl_SubgroupInvocationID % width, tall = gl_SubgroupSize / width * ROWS;
    for (uint begin = 0u; begin < tiles; begin += SLICE) {
        const uint count = min(SLICE, tiles - begin);
        share_slice(begin, count);
        const uint step = group_count() * gl_NumSubgroups * tall;
        for (uint first = (group_number() * gl_NumSubgroups + gl_SubgroupID) * tall; first < rows; first += step) {
            const uint row = first + gl_SubgroupInvocationID / width * ROWS;
            float sum[BATCH][ROWS];
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[m][r] = 0.0;
            for (uint t = lane; t < count; t += width) {
                const uint j = begin + t;
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                    take_x(m, t);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(row + r, end - 1u), j, 0u, sum[m][r]);
                }
            }
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                const float all = sum_of_lanes(sum[m], width);
                if (lane < ROWS && row + lane < rows && m < batch) finish(m, row + lane, all, begin == 0u, begin + SLICE >= tiles);
            }
        }
    }
}
