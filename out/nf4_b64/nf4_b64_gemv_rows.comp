// nf4_b64_gemv_rows: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format nf4_b64`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 36 bytes for 64 elements, 4.5 bits each.
// For each weight 0.562 bytes read, 7.38 operations: 0.562 loads, 2.5 bits, 1.25 integer, 2.06 float, 1 lookups.
//     format nf4_b{group} "bitsandbytes NF4: the even element in the high nibble, a scale for each block of the flat tensor"
//     from "bitsandbytes: Linear4bit with quant_type nf4"
//     for group in 64 128
//     block group ragged {
//         buffer weight { w: u8[group / 2] }
//         buffer absmax { s: f32 }
//     }
//     table N: f32[16] = {
//         -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
//         -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
//         0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
//         0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
//     }
//     code q = w { 4 @ 4 (2:-4, group / 2:8) }
//     value = N[q] * s
//
// Here group = 64.
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides at once, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say

layout(binding = 0, std430) readonly buffer WeightBuffer { uint8_t weight[]; };
layout(binding = 1, std430) readonly buffer AbsmaxBuffer { uint absmax[]; };
layout(binding = 8, std430) readonly buffer NTable { float N[]; };
layout(binding = 2, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 2, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 2, std430) readonly buffer InputElements { float x_at[]; };
layout(binding = 2, std430) readonly buffer InputElementHalves { uint16_t x_half_at[]; };
layout(binding = 3, std430) buffer Output { float y[]; };
layout(binding = 3, std430) buffer OutputHalves { uint16_t y_halves[]; };
layout(binding = 4, std430) readonly buffer ResultScale { float result_scale[]; };
layout(binding = 5, std430) readonly buffer RowBias { float row_bias[]; };
layout(binding = 6, std430) readonly buffer ResultGate { float result_gate[]; };
layout(binding = 7, std430) readonly buffer Residual { float residual[]; };
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
// Where a right-hand side begins in x, of so many elements, or runs.
uint x_element_from(uint vector, uint row_elements) {
    return VIEWS == 0u ? vector * row_elements : x_begin + vector * x_stride;
}
uint x_from(uint vector, uint row_runs) { return VIEWS == 0u ? vector * row_runs : (x_begin + vector * x_stride) / 4u; }
vec4 x_run(uint at) {  // 4 consecutive elements
    if (X_TYPE == 0u) return x_in[at];
    const uvec2 run = uvec2(x_halves[at]);
    return X_TYPE == 1u ? vec4(unpackHalf2x16(run.x), unpackHalf2x16(run.y))
        : uintBitsToFloat(uvec4(run.x << 16, run.x & 0xffff0000u, run.y << 16, run.y & 0xffff0000u));
}

// Element `at` of x.
float x_element(uint at) {
    if (X_TYPE == 0u) return x_at[at];
    const uint half_word = uint(x_half_at[at]);
    return X_TYPE == 1u ? unpackHalf2x16(half_word).x : uintBitsToFloat(half_word << 16);
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

const uint TILES = BATCH == 1u ? 4u : 1u;

// Kept of x: tiles, in the order of the weights, and sums over runs that share a scale.
vec4 x[TILES][BATCH][4];
float x_sum[TILES][BATCH][1];
void load_x(uint vector, uint j, uint k) {  // what tile `j` of a row meets of x, from right-hand side `vector` on
    const uint place = j * 4u;
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        const uint from = x_from(min(vector + m, batch - 1u), (cols / rows / 4u)) + place;
        vec4 run[4];
        [[unroll]] for (uint r = 0u; r < 4u; ++r) run[r] = x_run(from + r);
        [[unroll]] for (uint r = 0u; r < 4u; ++r) x[k][m][r] = run[r];
    }
}

void accumulate(uint n, uint j, uint k, inout float sum[BATCH]) {  // `sum` += tile `j` of row `n` * x, for each right-hand side
    const uint tile = n * row_tiles + j;
    const uint block_col = tile / 4u;
    const uint t = tile % 4u;
    float s = uintBitsToFloat(absmax[block_col]);
    uint w0 = uint(weight[min(block_col * 32u + t * 8u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 8u + 1u, (cols - 1u) / 2u)]) << 8u);
    uint w1 = uint(weight[min(block_col * 32u + t * 8u + 2u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 8u + 3u, (cols - 1u) / 2u)]) << 8u);
    uint w2 = uint(weight[min(block_col * 32u + t * 8u + 4u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 8u + 5u, (cols - 1u) / 2u)]) << 8u);
    uint w3 = uint(weight[min(block_col * 32u + t * 8u + 6u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 8u + 7u, (cols - 1u) / 2u)]) << 8u);
    uvec4 q0 = (uvec4(w0) >> uvec4(4, 0, 12, 8)) & 15u, q1 = (uvec4(w1) >> uvec4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    uvec4 q2 = (uvec4(w2) >> uvec4(4, 0, 12, 8)) & 15u, q3 = (uvec4(w3) >> uvec4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        sum[m] += s * (dot(x[k][m][0], vec4(N[q0.x], N[q0.y], N[q0.z], N[q0.w]))
            + dot(x[k][m][1], vec4(N[q1.x], N[q1.y], N[q1.z], N[q1.w])) + dot(x[k][m][2], vec4(N[q2.x], N[q2.y], N[q2.z], N[q2.w]))
            + dot(x[k][m][3], vec4(N[q3.x], N[q3.y], N[q3.z], N[q3.w])));
    }
}

// The 16 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[4]) {
    const uint block_col = tile / 4u;
    const uint t = tile % 4u;
    // elements 0 to 3, counted from the tile's first
    uint w0 = uint(weight[min(block_col * 32u + t * 8u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 8u + 1u, (cols - 1u) / 2u)]) << 8u);
    uvec4 q0 = (uvec4(w0) >> uvec4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    float s = uintBitsToFloat(absmax[block_col]);
    v[0] = vec4(N[q0.x], N[q0.y], N[q0.z], N[q0.w]) * s;

    // elements 4 to 7, counted from the tile's first
    uint w1 = uint(weight[min(block_col * 32u + t * 8u + 2u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 8u + 3u, (cols - 1u) / 2u)]) << 8u);
    uvec4 q1 = (uvec4(w1) >> uvec4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    v[1] = vec4(N[q1.x], N[q1.y], N[q1.z], N[q1.w]) * s;

    // elements 8 to 11, counted from the tile's first
    uint w2 = uint(weight[min(block_col * 32u + t * 8u + 4u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 8u + 5u, (cols - 1u) / 2u)]) << 8u);
    uvec4 q2 = (uvec4(w2) >> uvec4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    v[2] = vec4(N[q2.x], N[q2.y], N[q2.z], N[q2.w]) * s;

    // elements 12 to 15, counted from the tile's first
    uint w3 = uint(weight[min(block_col * 32u + t * 8u + 6u, (cols - 1u) / 2u)])
        | (uint(weight[min(block_col * 32u + t * 8u + 7u, (cols - 1u) / 2u)]) << 8u);
    uvec4 q3 = (uvec4(w3) >> uvec4(4, 0, 12, 8)) & 15u;  // w: 4 bits
    v[3] = vec4(N[q3.x], N[q3.y], N[q3.z], N[q3.w]) * s;
}

// The products of what tile `j` of row `n` has in that row, for each right-hand side.
void sum_cut(uint n, uint j, out float part[BATCH]) {
    const uint row_cols = cols / rows;
    for (uint m = 0; m < BATCH; ++m) part[m] = 0.0;
    const uint first = n * row_cols, tile = first / 16u + j, start = tile * 16u;
    if (start >= first + row_cols) return;
    const uint from = max(first, start) - start, to = min(first + row_cols - start, 16u);
    const uint row = 0u, place = start - first;
    vec4 v[4];
    decode(row, tile, v);
    for (uint e = from; e < to; ++e) {
        for (uint m = 0; m < BATCH; ++m) part[m] += v[e / 4u][e % 4u] * x_element(x_element_from(min(m, batch - 1u), row_cols) + place + e);
    }
}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS * BATCH];

void main() {
    find_matrix();
    // A subgroup holds a slice of x and walks down the rows.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    const uint split = SPLIT == 1u ? 1u : min(SPLIT, gl_NumSubgroups);
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    // Tiles of a row that are taken as wholes: those that it fills, where its runs of x begin as x is stored.
    const uint row_cols = cols / rows, whole = row_cols % 16u + (VIEWS == 0u ? 0u : (x_begin | x_stride) % 4u);
    const uint whole_tiles = whole == 0u ? row_cols / 16u : 0u;
    uint held = ~0u;
    for (uint first = group_number() * teams * ROWS; first < rows; first += group_count() * teams * ROWS) {
        float sum[ROWS][BATCH];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[r][m] = 0.0;
        for (uint c = gl_SubgroupID % split; c < slices; c += split) {
            [[unroll]] for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
                if (j >= row_tiles) continue;
                if (j >= whole_tiles) {
                    [[dont_unroll]] for (uint r = 0u; r < ROWS; ++r) {
                        float part[BATCH];
                        sum_cut(min(first + team * ROWS + r, rows - 1u), j, part);
                        [[unroll]] for (uint s = 0u; s < ROWS; ++s) {
                            [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[s][m] += s == r ? part[m] : 0.0;
                        }
                    }
                    continue;
                }
                if (c != held) load_x(0u, j, k);
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(first + team * ROWS + r, rows - 1u), j, k, sum[r]);
            }
            held = c;
        }
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                const float all = subgroupAdd(sum[r][m]);
                const uint row = first + team * ROWS + r;
                if (!subgroupElect()) continue;
                if (split > 1u) partial[(gl_SubgroupID * ROWS + r) * BATCH + m] = all;
                else if (row < rows && m < batch) finish(m, row, all);
            }
        }
        if (split == 1u) continue;
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < teams * ROWS * BATCH; i += gl_WorkGroupSize.x) {
            const uint row = first + i / BATCH, m = i % BATCH, at = i / (ROWS * BATCH) * (split - 1u) * ROWS * BATCH + i;
            float total = 0.0;
            for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS * BATCH];
            if (row < rows && m < batch) finish(m, row, total);
        }
        barrier();
    }
}
