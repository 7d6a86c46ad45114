// gptq_v1_b4_g128_act_gemv_columns: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format gptq_v1_b4_g128_act`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 2640 bytes for 4096 elements, 4.156 bits each.
// For each weight 0.52 bytes read, 15.8 operations: 1.34 loads, 5 bits, 4.53 integer, 2.95 float, 2 conversions.
//     format gptq_v1_b{bits}_g{group}_act "GPTQ with reordered groups: an index says the group of each input"
//     from "AutoGPTQ, GPTQModel: qlinear with desc_act, checkpoints of version 1"
//     for bits in 2 3 4 8, group in 32 64 128
//     block 32 x group ragged {
//         buffer qweight[cols][rows] { w: u32[32][group * bits / 32] }
//         buffer qzeros[g][rows]     { zs: u32[bits][1] }
//         buffer scales[g][rows]     { d: f16[32][1] }
//         buffer g_idx[cols]         { groups: u32[group] }
//     }
//     code q                = w      { bits @ 0 (32 * group:bits) }
//     code z per group      = zs     { bits @ 0 (32:bits) }
//     code s: f16 per group = d      { 16 @ 0 (32:16) }
//     code g                = groups { 32 @ 0 (group:32) }
//     value = (q - (z + 1 & (1 << bits) - 1)) * s
//
// Here bits = 4, group = 128.
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides at once, at least as many as there are
layout(constant_id = 22) const uint WIDTH = 32;  // threads side by side, each with rows of its own
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say

layout(binding = 0, std430) readonly buffer QweightBuffer { uint qweight[]; };
layout(binding = 1, std430) readonly buffer QzerosBuffer { uint qzeros[]; };
layout(binding = 2, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 3, std430) readonly buffer G_idxBuffer { uint g_idx[]; };
layout(binding = 0, std430) readonly buffer Qweight_fourBuffer { uvec4 qweight_four[]; };
layout(binding = 3, std430) readonly buffer G_idx_fourBuffer { uvec4 g_idx_four[]; };
layout(binding = 4, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 4, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 5, std430) buffer Output { float y[]; };
layout(binding = 5, std430) buffer OutputHalves { uint16_t y_halves[]; };
layout(binding = 6, std430) readonly buffer ResultScale { float result_scale[]; };
layout(binding = 7, std430) readonly buffer RowBias { float row_bias[]; };
layout(binding = 8, std430) readonly buffer ResultGate { float result_gate[]; };
layout(binding = 9, std430) readonly buffer Residual { float residual[]; };
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

const uint TILES = 1u, TILE_ROWS = 4u;

// Kept of x: tiles, in the order of the weights, and sums over runs that share a scale.
vec4 x[TILES][BATCH][4];
float x_sum[TILES][BATCH][1];

// sum + dot(a, b), in as many operations as a has lanes.
float dot_add(float sum, vec4 a, vec4 b) { return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum)))); }

void load_x(uint vector, uint j, uint k) {  // what tile `j` of a row meets of x, from right-hand side `vector` on
    const uint place = j * 4u;
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        const uint from = x_from(min(vector + m, batch - 1u), row_tiles * 4u) + place;
        vec4 run[4];
        [[unroll]] for (uint r = 0u; r < 4u; ++r) run[r] = x_run(from + r);
        [[unroll]] for (uint r = 0u; r < 4u; ++r) x[k][m][r] = run[r];
    }
}

void accumulate(uint n, uint j, uint k, inout float sum[TILE_ROWS][BATCH]) {  // `sum` += tile `j` of band `n` * x, for each right-hand side
    const uint band = n, tile = j;
    const uint block_row = band / 8u;
    const uint r = band % 8u;
    const uint block_col = tile / 8u;
    const uint t = tile % 8u;
    uint shift = r % 2u * 16u;
    uvec4 w0 = qweight_four[(block_col * 16u + t * 2u) * (grid_rows * 8u) + (block_row * 8u + r)];
    uvec4 groups0 = g_idx_four[block_col * 32u + t * 4u], groups1 = g_idx_four[block_col * 32u + t * 4u + 1u];
    uvec4 w1 = qweight_four[(block_col * 16u + t * 2u + 1u) * (grid_rows * 8u) + (block_row * 8u + r)];
    uvec4 groups2 = g_idx_four[block_col * 32u + t * 4u + 2u], groups3 = g_idx_four[block_col * 32u + t * 4u + 3u];
    uvec4 q0 = (uvec4(w0.x) >> uvec4(0, 4, 8, 12)) & 15u, q1 = (uvec4(w0.x) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uvec4 q2 = (uvec4(w1.x) >> uvec4(0, 4, 8, 12)) & 15u, q3 = (uvec4(w1.x) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uvec4 q4 = (uvec4(w0.y) >> uvec4(0, 4, 8, 12)) & 15u, q5 = (uvec4(w0.y) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uvec4 q6 = (uvec4(w1.y) >> uvec4(0, 4, 8, 12)) & 15u, q7 = (uvec4(w1.y) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uvec4 q8 = (uvec4(w0.z) >> uvec4(0, 4, 8, 12)) & 15u, q9 = (uvec4(w0.z) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uvec4 q10 = (uvec4(w1.z) >> uvec4(0, 4, 8, 12)) & 15u, q11 = (uvec4(w1.z) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uvec4 q12 = (uvec4(w0.w) >> uvec4(0, 4, 8, 12)) & 15u, q13 = (uvec4(w0.w) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uvec4 q14 = (uvec4(w1.w) >> uvec4(0, 4, 8, 12)) & 15u, q15 = (uvec4(w1.w) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uvec4 g0 = uvec4(groups0.x, groups0.y, groups0.z, groups0.w);  // groups: 32 bits
    uvec4 g1 = uvec4(groups1.x, groups1.y, groups1.z, groups1.w);  // groups: 32 bits
    uvec4 g2 = uvec4(groups2.x, groups2.y, groups2.z, groups2.w);  // groups: 32 bits
    uvec4 g3 = uvec4(groups3.x, groups3.y, groups3.z, groups3.w);  // groups: 32 bits
    uint group0 = min(g0.x, grid_cols - 1u), zs0 = qzeros[group0 * (grid_rows * 4u) + (block_row * 4u + r / 2u)];
    uint group1 = min(g0.y, grid_cols - 1u), zs1 = qzeros[group1 * (grid_rows * 4u) + (block_row * 4u + r / 2u)];
    uint group2 = min(g0.z, grid_cols - 1u), zs2 = qzeros[group2 * (grid_rows * 4u) + (block_row * 4u + r / 2u)];
    uint group3 = min(g0.w, grid_cols - 1u), zs3 = qzeros[group3 * (grid_rows * 4u) + (block_row * 4u + r / 2u)];
    uint d0 = uint(scales[group0 * (grid_rows * 32u) + (block_row * 32u + r * 4u)]);
    uint d1 = uint(scales[group1 * (grid_rows * 32u) + (block_row * 32u + r * 4u)]);
    uint d2 = uint(scales[group2 * (grid_rows * 32u) + (block_row * 32u + r * 4u)]);
    uint d3 = uint(scales[group3 * (grid_rows * 32u) + (block_row * 32u + r * 4u)]), group4 = min(g1.x, grid_cols - 1u);
    uint zs4 = qzeros[group4 * (grid_rows * 4u) + (block_row * 4u + r / 2u)], group5 = min(g1.y, grid_cols - 1u);
    uint zs5 = qzeros[group5 * (grid_rows * 4u) + (block_row * 4u + r / 2u)], group6 = min(g1.z, grid_cols - 1u);
    uint zs6 = qzeros[group6 * (grid_rows * 4u) + (block_row * 4u + r / 2u)], group7 = min(g1.w, grid_cols - 1u);
    uint zs7 = qzeros[group7 * (grid_rows * 4u) + (block_row * 4u + r / 2u)];
    uint d4 = uint(scales[group4 * (grid_rows * 32u) + (block_row * 32u + r * 4u)]);
    uint d5 = uint(scales[group5 * (grid_rows * 32u) + (block_row * 32u + r * 4u)]);
    uint d6 = uint(scales[group6 * (grid_rows * 32u) + (block_row * 32u + r * 4u)]);
    uint d7 = uint(scales[group7 * (grid_rows * 32u) + (block_row * 32u + r * 4u)]), group8 = min(g2.x, grid_cols - 1u);
    uint zs8 = qzeros[group8 * (grid_rows * 4u) + (block_row * 4u + r / 2u)], group9 = min(g2.y, grid_cols - 1u);
    uint zs9 = qzeros[group9 * (grid_rows * 4u) + (block_row * 4u + r / 2u)], group10 = min(g2.z, grid_cols - 1u);
    uint zs10 = qzeros[group10 * (grid_rows * 4u) + (block_row * 4u + r / 2u)], group11 = min(g2.w, grid_cols - 1u);
    uint zs11 = qzeros[group11 * (grid_rows * 4u) + (block_row * 4u + r / 2u)];
    uint d8 = uint(scales[group8 * (grid_rows * 32u) + (block_row * 32u + r * 4u)]);
    uint d9 = uint(scales[group9 * (grid_rows * 32u) + (block_row * 32u + r * 4u)]);
    uint d10 = uint(scales[group10 * (grid_rows * 32u) + (block_row * 32u + r * 4u)]);
    uint d11 = uint(scales[group11 * (grid_rows * 32u) + (block_row * 32u + r * 4u)]), group12 = min(g3.x, grid_cols - 1u);
    uint zs12 = qzeros[group12 * (grid_rows * 4u) + (block_row * 4u + r / 2u)], group13 = min(g3.y, grid_cols - 1u);
    uint zs13 = qzeros[group13 * (grid_rows * 4u) + (block_row * 4u + r / 2u)], group14 = min(g3.z, grid_cols - 1u);
    uint zs14 = qzeros[group14 * (grid_rows * 4u) + (block_row * 4u + r / 2u)], group15 = min(g3.w, grid_cols - 1u);
    uint zs15 = qzeros[group15 * (grid_rows * 4u) + (block_row * 4u + r / 2u)];
    uint d12 = uint(scales[group12 * (grid_rows * 32u) + (block_row * 32u + r * 4u)]);
    uint d13 = uint(scales[group13 * (grid_rows * 32u) + (block_row * 32u + r * 4u)]);
    uint d14 = uint(scales[group14 * (grid_rows * 32u) + (block_row * 32u + r * 4u)]);
    uint d15 = uint(scales[group15 * (grid_rows * 32u) + (block_row * 32u + r * 4u)]);
    uint d16 = uint(scales[group0 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 1u)]);
    uint d17 = uint(scales[group1 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 1u)]);
    uint d18 = uint(scales[group2 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 1u)]);
    uint d19 = uint(scales[group3 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 1u)]);
    uint d20 = uint(scales[group4 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 1u)]);
    uint d21 = uint(scales[group5 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 1u)]);
    uint d22 = uint(scales[group6 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 1u)]);
    uint d23 = uint(scales[group7 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 1u)]);
    uint d24 = uint(scales[group8 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 1u)]);
    uint d25 = uint(scales[group9 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 1u)]);
    uint d26 = uint(scales[group10 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 1u)]);
    uint d27 = uint(scales[group11 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 1u)]);
    uint d28 = uint(scales[group12 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 1u)]);
    uint d29 = uint(scales[group13 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 1u)]);
    uint d30 = uint(scales[group14 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 1u)]);
    uint d31 = uint(scales[group15 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 1u)]);
    uint d32 = uint(scales[group0 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 2u)]);
    uint d33 = uint(scales[group1 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 2u)]);
    uint d34 = uint(scales[group2 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 2u)]);
    uint d35 = uint(scales[group3 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 2u)]);
    uint d36 = uint(scales[group4 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 2u)]);
    uint d37 = uint(scales[group5 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 2u)]);
    uint d38 = uint(scales[group6 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 2u)]);
    uint d39 = uint(scales[group7 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 2u)]);
    uint d40 = uint(scales[group8 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 2u)]);
    uint d41 = uint(scales[group9 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 2u)]);
    uint d42 = uint(scales[group10 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 2u)]);
    uint d43 = uint(scales[group11 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 2u)]);
    uint d44 = uint(scales[group12 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 2u)]);
    uint d45 = uint(scales[group13 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 2u)]);
    uint d46 = uint(scales[group14 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 2u)]);
    uint d47 = uint(scales[group15 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 2u)]);
    uint d48 = uint(scales[group0 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 3u)]);
    uint d49 = uint(scales[group1 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 3u)]);
    uint d50 = uint(scales[group2 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 3u)]);
    uint d51 = uint(scales[group3 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 3u)]);
    uint d52 = uint(scales[group4 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 3u)]);
    uint d53 = uint(scales[group5 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 3u)]);
    uint d54 = uint(scales[group6 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 3u)]);
    uint d55 = uint(scales[group7 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 3u)]);
    uint d56 = uint(scales[group8 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 3u)]);
    uint d57 = uint(scales[group9 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 3u)]);
    uint d58 = uint(scales[group10 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 3u)]);
    uint d59 = uint(scales[group11 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 3u)]);
    uint d60 = uint(scales[group12 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 3u)]);
    uint d61 = uint(scales[group13 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 3u)]);
    uint d62 = uint(scales[group14 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 3u)]);
    uint d63 = uint(scales[group15 * (grid_rows * 32u) + (block_row * 32u + r * 4u + 3u)]);
    uint z0 = (zs0 >> shift) & 15u, z1 = (zs1 >> shift) & 15u, z2 = (zs2 >> shift) & 15u, z3 = (zs3 >> shift) & 15u;  // zs: 4 bits
    uint z4 = (zs4 >> shift) & 15u, z5 = (zs5 >> shift) & 15u, z6 = (zs6 >> shift) & 15u, z7 = (zs7 >> shift) & 15u;  // zs: 4 bits
    uint z8 = (zs8 >> shift) & 15u, z9 = (zs9 >> shift) & 15u, z10 = (zs10 >> shift) & 15u, z11 = (zs11 >> shift) & 15u;  // zs: 4 bits
    uint z12 = (zs12 >> shift) & 15u, z13 = (zs13 >> shift) & 15u, z14 = (zs14 >> shift) & 15u, z15 = (zs15 >> shift) & 15u;  // zs: 4 bits
    uint z16 = (zs0 >> (shift + 4u)) & 15u, z17 = (zs1 >> (shift + 4u)) & 15u, z18 = (zs2 >> (shift + 4u)) & 15u;  // zs: 4 bits
    uint z19 = (zs3 >> (shift + 4u)) & 15u, z20 = (zs4 >> (shift + 4u)) & 15u, z21 = (zs5 >> (shift + 4u)) & 15u;  // zs: 4 bits
    uint z22 = (zs6 >> (shift + 4u)) & 15u, z23 = (zs7 >> (shift + 4u)) & 15u, z24 = (zs8 >> (shift + 4u)) & 15u;  // zs: 4 bits
    uint z25 = (zs9 >> (shift + 4u)) & 15u, z26 = (zs10 >> (shift + 4u)) & 15u, z27 = (zs11 >> (shift + 4u)) & 15u;  // zs: 4 bits
    uint z28 = (zs12 >> (shift + 4u)) & 15u, z29 = (zs13 >> (shift + 4u)) & 15u, z30 = (zs14 >> (shift + 4u)) & 15u;  // zs: 4 bits
    uint z31 = (zs15 >> (shift + 4u)) & 15u, z32 = (zs0 >> (shift + 8u)) & 15u, z33 = (zs1 >> (shift + 8u)) & 15u;  // zs: 4 bits
    uint z34 = (zs2 >> (shift + 8u)) & 15u, z35 = (zs3 >> (shift + 8u)) & 15u, z36 = (zs4 >> (shift + 8u)) & 15u;  // zs: 4 bits
    uint z37 = (zs5 >> (shift + 8u)) & 15u, z38 = (zs6 >> (shift + 8u)) & 15u, z39 = (zs7 >> (shift + 8u)) & 15u;  // zs: 4 bits
    uint z40 = (zs8 >> (shift + 8u)) & 15u, z41 = (zs9 >> (shift + 8u)) & 15u, z42 = (zs10 >> (shift + 8u)) & 15u;  // zs: 4 bits
    uint z43 = (zs11 >> (shift + 8u)) & 15u, z44 = (zs12 >> (shift + 8u)) & 15u, z45 = (zs13 >> (shift + 8u)) & 15u;  // zs: 4 bits
    uint z46 = (zs14 >> (shift + 8u)) & 15u, z47 = (zs15 >> (shift + 8u)) & 15u, z48 = (zs0 >> (shift + 12u)) & 15u;  // zs: 4 bits
    uint z49 = (zs1 >> (shift + 12u)) & 15u, z50 = (zs2 >> (shift + 12u)) & 15u, z51 = (zs3 >> (shift + 12u)) & 15u;  // zs: 4 bits
    uint z52 = (zs4 >> (shift + 12u)) & 15u, z53 = (zs5 >> (shift + 12u)) & 15u, z54 = (zs6 >> (shift + 12u)) & 15u;  // zs: 4 bits
    uint z55 = (zs7 >> (shift + 12u)) & 15u, z56 = (zs8 >> (shift + 12u)) & 15u, z57 = (zs9 >> (shift + 12u)) & 15u;  // zs: 4 bits
    uint z58 = (zs10 >> (shift + 12u)) & 15u, z59 = (zs11 >> (shift + 12u)) & 15u, z60 = (zs12 >> (shift + 12u)) & 15u;  // zs: 4 bits
    uint z61 = (zs13 >> (shift + 12u)) & 15u, z62 = (zs14 >> (shift + 12u)) & 15u, z63 = (zs15 >> (shift + 12u)) & 15u;  // zs: 4 bits
    uvec4 z64 = uvec4(z0, z1, z2, z3), z65 = uvec4(z4, z5, z6, z7), z66 = uvec4(z8, z9, z10, z11), z67 = uvec4(z12, z13, z14, z15);
    uvec4 z68 = uvec4(z16, z17, z18, z19), z69 = uvec4(z20, z21, z22, z23), z70 = uvec4(z24, z25, z26, z27);
    uvec4 z71 = uvec4(z28, z29, z30, z31), z72 = uvec4(z32, z33, z34, z35), z73 = uvec4(z36, z37, z38, z39);
    uvec4 z74 = uvec4(z40, z41, z42, z43), z75 = uvec4(z44, z45, z46, z47), z76 = uvec4(z48, z49, z50, z51);
    uvec4 z77 = uvec4(z52, z53, z54, z55), z78 = uvec4(z56, z57, z58, z59), z79 = uvec4(z60, z61, z62, z63);
    float s0 = unpackHalf2x16(d0).x, s1 = unpackHalf2x16(d1).x, s2 = unpackHalf2x16(d2).x, s3 = unpackHalf2x16(d3).x;  // d: 16 bits
    float s4 = unpackHalf2x16(d4).x, s5 = unpackHalf2x16(d5).x, s6 = unpackHalf2x16(d6).x, s7 = unpackHalf2x16(d7).x;  // d: 16 bits
    float s8 = unpackHalf2x16(d8).x, s9 = unpackHalf2x16(d9).x, s10 = unpackHalf2x16(d10).x, s11 = unpackHalf2x16(d11).x;  // d: 16 bits
    float s12 = unpackHalf2x16(d12).x, s13 = unpackHalf2x16(d13).x, s14 = unpackHalf2x16(d14).x, s15 = unpackHalf2x16(d15).x;  // d: 16 bits
    float s16 = unpackHalf2x16(d16).x, s17 = unpackHalf2x16(d17).x, s18 = unpackHalf2x16(d18).x, s19 = unpackHalf2x16(d19).x;  // d: 16 bits
    float s20 = unpackHalf2x16(d20).x, s21 = unpackHalf2x16(d21).x, s22 = unpackHalf2x16(d22).x, s23 = unpackHalf2x16(d23).x;  // d: 16 bits
    float s24 = unpackHalf2x16(d24).x, s25 = unpackHalf2x16(d25).x, s26 = unpackHalf2x16(d26).x, s27 = unpackHalf2x16(d27).x;  // d: 16 bits
    float s28 = unpackHalf2x16(d28).x, s29 = unpackHalf2x16(d29).x, s30 = unpackHalf2x16(d30).x, s31 = unpackHalf2x16(d31).x;  // d: 16 bits
    float s32 = unpackHalf2x16(d32).x, s33 = unpackHalf2x16(d33).x, s34 = unpackHalf2x16(d34).x, s35 = unpackHalf2x16(d35).x;  // d: 16 bits
    float s36 = unpackHalf2x16(d36).x, s37 = unpackHalf2x16(d37).x, s38 = unpackHalf2x16(d38).x, s39 = unpackHalf2x16(d39).x;  // d: 16 bits
    float s40 = unpackHalf2x16(d40).x, s41 = unpackHalf2x16(d41).x, s42 = unpackHalf2x16(d42).x, s43 = unpackHalf2x16(d43).x;  // d: 16 bits
    float s44 = unpackHalf2x16(d44).x, s45 = unpackHalf2x16(d45).x, s46 = unpackHalf2x16(d46).x, s47 = unpackHalf2x16(d47).x;  // d: 16 bits
    float s48 = unpackHalf2x16(d48).x, s49 = unpackHalf2x16(d49).x, s50 = unpackHalf2x16(d50).x, s51 = unpackHalf2x16(d51).x;  // d: 16 bits
    float s52 = unpackHalf2x16(d52).x, s53 = unpackHalf2x16(d53).x, s54 = unpackHalf2x16(d54).x, s55 = unpackHalf2x16(d55).x;  // d: 16 bits
    float s56 = unpackHalf2x16(d56).x, s57 = unpackHalf2x16(d57).x, s58 = unpackHalf2x16(d58).x, s59 = unpackHalf2x16(d59).x;  // d: 16 bits
    float s60 = unpackHalf2x16(d60).x, s61 = unpackHalf2x16(d61).x, s62 = unpackHalf2x16(d62).x, s63 = unpackHalf2x16(d63).x;  // d: 16 bits
    vec4 s64 = vec4(s0, s1, s2, s3), s65 = vec4(s4, s5, s6, s7), s66 = vec4(s8, s9, s10, s11), s67 = vec4(s12, s13, s14, s15);
    vec4 s68 = vec4(s16, s17, s18, s19), s69 = vec4(s20, s21, s22, s23), s70 = vec4(s24, s25, s26, s27), s71 = vec4(s28, s29, s30, s31);
    vec4 s72 = vec4(s32, s33, s34, s35), s73 = vec4(s36, s37, s38, s39), s74 = vec4(s40, s41, s42, s43), s75 = vec4(s44, s45, s46, s47);
    vec4 s76 = vec4(s48, s49, s50, s51), s77 = vec4(s52, s53, s54, s55), s78 = vec4(s56, s57, s58, s59), s79 = vec4(s60, s61, s62, s63);
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        float dots0 = dot_add(dot(x[k][m][0], vec4(ivec4(q0) - ((ivec4(z64) + 1) & 15)) * s64), x[k][m][1],
            vec4(ivec4(q1) - ((ivec4(z65) + 1) & 15)) * s65);
        float dots1 = dot_add(dots0, x[k][m][2], vec4(ivec4(q2) - ((ivec4(z66) + 1) & 15)) * s66);
        float dots2 = dot_add(dots1, x[k][m][3], vec4(ivec4(q3) - ((ivec4(z67) + 1) & 15)) * s67);
        sum[0][m] += dots2;
    }
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        float dots3 = dot_add(dot(x[k][m][0], vec4(ivec4(q4) - ((ivec4(z68) + 1) & 15)) * s68), x[k][m][1],
            vec4(ivec4(q5) - ((ivec4(z69) + 1) & 15)) * s69);
        float dots4 = dot_add(dots3, x[k][m][2], vec4(ivec4(q6) - ((ivec4(z70) + 1) & 15)) * s70);
        float dots5 = dot_add(dots4, x[k][m][3], vec4(ivec4(q7) - ((ivec4(z71) + 1) & 15)) * s71);
        sum[1][m] += dots5;
    }
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        float dots6 = dot_add(dot(x[k][m][0], vec4(ivec4(q8) - ((ivec4(z72) + 1) & 15)) * s72), x[k][m][1],
            vec4(ivec4(q9) - ((ivec4(z73) + 1) & 15)) * s73);
        float dots7 = dot_add(dots6, x[k][m][2], vec4(ivec4(q10) - ((ivec4(z74) + 1) & 15)) * s74);
        float dots8 = dot_add(dots7, x[k][m][3], vec4(ivec4(q11) - ((ivec4(z75) + 1) & 15)) * s75);
        sum[2][m] += dots8;
    }
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        float dots9 = dot_add(dot(x[k][m][0], vec4(ivec4(q12) - ((ivec4(z76) + 1) & 15)) * s76), x[k][m][1],
            vec4(ivec4(q13) - ((ivec4(z77) + 1) & 15)) * s77);
        float dots10 = dot_add(dots9, x[k][m][2], vec4(ivec4(q14) - ((ivec4(z78) + 1) & 15)) * s78);
        float dots11 = dot_add(dots10, x[k][m][3], vec4(ivec4(q15) - ((ivec4(z79) + 1) & 15)) * s79);
        sum[3][m] += dots11;
    }
}

shared float partial[gl_WorkGroupSize.x * TILE_ROWS];

void main() {
    find_matrix();
    // Neighbours in memory are of different rows. So WIDTH threads have as many rows, or bands of them, whose words they load side by
    // side, and meet the same x. Tiles of these rows are dealt out to all threads of a workgroup.
    const uint place = gl_LocalInvocationID.x % WIDTH, part = gl_LocalInvocationID.x / WIDTH, parts = gl_WorkGroupSize.x / WIDTH;
    const uint bands = rows / TILE_ROWS, tiles = row_tiles;
    for (uint first = group_number() * WIDTH; first < bands; first += group_count() * WIDTH) {
        float sum[TILE_ROWS][BATCH];
        [[unroll]] for (uint r = 0u; r < TILE_ROWS; ++r) [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[r][m] = 0.0;
        for (uint j = part; j < tiles; j += parts) {
            load_x(0u, j, 0u);
            accumulate(min(first + place, bands - 1u), j, 0u, sum);
        }
        [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
            [[unroll]] for (uint r = 0u; r < TILE_ROWS; ++r) partial[r * gl_WorkGroupSize.x + gl_LocalInvocationID.x] = sum[r][m];
            barrier();
            // By pairs: of 2 * apart parts, the second half is added to the first.
            for (uint apart = parts / 2u; apart > 0u; apart /= 2u) {
                for (uint i = gl_LocalInvocationID.x; i < apart * WIDTH * TILE_ROWS; i += gl_WorkGroupSize.x) {
                    const uint at = i / (apart * WIDTH) * gl_WorkGroupSize.x + i % (apart * WIDTH);
                    partial[at] += partial[at + apart * WIDTH];
                }
                barrier();
            }
            for (uint i = gl_LocalInvocationID.x; i < WIDTH * TILE_ROWS; i += gl_WorkGroupSize.x) {
                const uint band = first + i / TILE_ROWS, from = i % TILE_ROWS * gl_WorkGroupSize.x + i / TILE_ROWS;
                if (band < bands && m < batch) finish(m, band * TILE_ROWS + i % TILE_ROWS, partial[from]);
            }
            barrier();
        }
    }
}
