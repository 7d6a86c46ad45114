// aqlm_2x8_g8_gemv_teams: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format aqlm_2x8_g8`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 36 bytes for 8 elements, 2 bits each.
// For each weight 0.25 bytes read, 7.62 operations: 0.625 loads, 1 bits, 0.75 integer, 3.12 float, 2.12 conversions.
//     format aqlm_2x8_g8 "sums of two vectors of 8, each out of a table of 256, a scale for each row"
//     from "AQLM: inference_lib, two codebooks of 8 bits"
//     block 1 x 8 {
//         buffer codes                { n: u8[1][2] }
//         buffer codebook0[c0 of 256] { vectors0: f16[1][8] }    # codebooks[0]
//         buffer codebook1[c1 of 256] { vectors1: f16[1][8] }    # codebooks[1], which follows in the same tensor
//         buffer scales[rows]         { d: f16 }
//     }
//     code c0 per 8     = n        { 8 @ 0 }
//     code c1 per 8     = n        { 8 @ 8 }
//     code v0: f16      = vectors0 { 16 @ 0 (8:16) }
//     code v1: f16      = vectors1 { 16 @ 0 (8:16) }
//     code s: f16 per 8 = d        { 16 @ 0 }
//     value = (v0 + v1) * s
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
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
layout(binding = 0, std430) readonly buffer CodesBuffer { uint8_t codes[]; };
layout(binding = 1, std430) readonly buffer Codebook0Buffer { uint codebook0[]; };
layout(binding = 2, std430) readonly buffer Codebook1Buffer { uint codebook1[]; };
layout(binding = 3, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 1, std430) readonly buffer Codebook0_fourBuffer { uvec4 codebook0_four[]; };
layout(binding = 2, std430) readonly buffer Codebook1_fourBuffer { uvec4 codebook1_four[]; };
layout(binding = 4, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 4, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 5, std430) buffer Output { float y[]; };
layout(binding = 5, std430) buffer OutputHalves { uint16_t y_halves[]; };
layout(binding = 6, std430) readonly buffer ResultScale { float result_scale[]; };
layout(binding = 7, std430) readonly buffer RowBias { float row_bias[]; };
layout(binding = 8, std430) readonly buffer ResultGate { float result_gate[]; };
layout(binding = 9, std430) readonly buffer Residual { float residual[]; };
layout(push_constant) uniform Push {
    uint rows, row_tiles, batch;  // of this launch; tiles of 8 elements in a row; right-hand sides
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
vec4 x[1][2];
float x_sum[1][1];

// sum + dot(a, b), in as many operations as a has lanes.
float dot_add(float sum, vec4 a, vec4 b) { return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum)))); }

void load_x(uint vector, uint j, uint k) {  // what tile `j` of a row meets of right-hand side `vector`
    const uint place = j * 2u, from = x_from(min(vector, batch - 1u), row_tiles * 2u) + place;
    vec4 run[2];
    [[unroll]] for (uint r = 0u; r < 2u; ++r) run[r] = x_run(from + r);
    [[unroll]] for (uint r = 0u; r < 2u; ++r) x[k][r] = run[r];
}

void fetch(uint n, uint j, out uvec4 fours[2], out uint words[3]) {  // tile `j` of row `n`
    const uint row = n, tile = j;
    const uint block_col = tile / 1u;
    uint n0 = uint(codes[row * (grid_cols * 2u) + block_col * 2u]), n1 = uint(codes[row * (grid_cols * 2u) + (block_col * 2u + 1u)]);
    fours[0] = codebook0_four[n0], fours[1] = codebook1_four[n1], words[0] = uint(codes[row * (grid_cols * 2u) + block_col * 2u]);
    words[1] = uint(codes[row * (grid_cols * 2u) + (block_col * 2u + 1u)]), words[2] = uint(scales[row]);
}

void accumulate(uint n, uint j, uint k, uvec4 fours[2], uint words[3], inout float sum) {  // `sum` += tile `j` of row `n` * x
    const uint row = n, tile = j;
    const uint block_col = tile / 1u;
    float s = unpackHalf2x16(words[2]).x;
    uvec4 vectors0 = fours[0], vectors1 = fours[1];
    float v00 = unpackHalf2x16(vectors0.x).x, v01 = unpackHalf2x16(vectors0.x >> 16u).x;  // vectors0: 16 bits
    float v02 = unpackHalf2x16(vectors0.y).x, v03 = unpackHalf2x16(vectors0.y >> 16u).x;  // vectors0: 16 bits
    float v04 = unpackHalf2x16(vectors0.z).x, v05 = unpackHalf2x16(vectors0.z >> 16u).x;  // vectors0: 16 bits
    float v06 = unpackHalf2x16(vectors0.w).x, v07 = unpackHalf2x16(vectors0.w >> 16u).x;  // vectors0: 16 bits
    vec4 v08 = vec4(v00, v01, v02, v03), v09 = vec4(v04, v05, v06, v07);
    float v10 = unpackHalf2x16(vectors1.x).x, v11 = unpackHalf2x16(vectors1.x >> 16u).x;  // vectors1: 16 bits
    float v12 = unpackHalf2x16(vectors1.y).x, v13 = unpackHalf2x16(vectors1.y >> 16u).x;  // vectors1: 16 bits
    float v14 = unpackHalf2x16(vectors1.z).x, v15 = unpackHalf2x16(vectors1.z >> 16u).x;  // vectors1: 16 bits
    float v16 = unpackHalf2x16(vectors1.w).x, v17 = unpackHalf2x16(vectors1.w >> 16u).x;  // vectors1: 16 bits
    vec4 v18 = vec4(v10, v11, v12, v13), v19 = vec4(v14, v15, v16, v17);
    float dots = dot_add(dot(x[k][0], v08 + v18), x[k][1], v09 + v19);
    sum += s * dots;
}

const uint X_FOURS = 2u, FIT = SHARED_FOURS / (X_FOURS * BATCH), SLICE = FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles
shared vec4 shared_x[BATCH * X_FOURS * SLICE];

// Puts what is kept of right-hand side `m` and tile `t` of the slice there.
void share_x(uint m, uint t) {
    [[unroll]] for (uint i = 0u; i < 2u; ++i) shared_x[(m * X_FOURS + i) * SLICE + t] = x[0][i];
}

// Takes it from there.
void take_x(uint m, uint t) {
    [[unroll]] for (uint i = 0u; i < 2u; ++i) x[0][i] = shared_x[(m * X_FOURS + i) * SLICE + t];
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
    const uint tiles = row_tiles, last = rows - 1u, lanes = SPLIT * (gl_SubgroupSize / 4u), teams = gl_WorkGroupSize.x / lanes;
    const uint place = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID, lane = place % lanes, team = place / lanes;
    const uint slice = SLICE < lanes ? SLICE : SLICE / lanes * lanes;  // no lane without a tile while others have one
    for (uint first = group_number() * teams * ROWS; first < rows; first += group_count() * teams * ROWS) {
        const uint row = first + team * ROWS;
        float sum[BATCH][ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[m][r] = 0.0;
        for (uint from = 0u; from < tiles; from += slice) {
            const uint count = min(slice, tiles - from);
            uvec4 fours[ROWS][2]; uint words[ROWS][3];  // weights are on their way while the workgroup waits for x
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, last), from + min(lane, count - 1u), fours[r], words[r]);
            if (slice < tiles || first < group_count() * teams * ROWS) share_slice(from, count);  // else it is there still
            for (uint t = lane; t < count; t += lanes) {
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                    take_x(m, t);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(row + r, last), from + t, 0u, fours[r], words[r], sum[m][r]);
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
