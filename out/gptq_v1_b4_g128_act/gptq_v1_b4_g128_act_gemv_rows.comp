// gptq_v1_b4_g128_act_gemv_rows: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format gptq_v1_b4_g128_act`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 2640 bytes for 4096 elements, 4.156 bits each.
// For each weight 0.52 bytes read, 23.6 operations: 3.12 loads, 5 bits, 10.5 integer, 3 float, 2 conversions.
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
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides at once, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say

layout(binding = 0, std430) readonly buffer QweightBuffer { uint qweight[]; };
layout(binding = 1, std430) readonly buffer QzerosBuffer { uint qzeros[]; };
layout(binding = 2, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 3, std430) readonly buffer G_idxBuffer { uint g_idx[]; };
layout(binding = 4, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 4, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 4, std430) readonly buffer InputElements { float x_at[]; };
layout(binding = 4, std430) readonly buffer InputElementHalves { uint16_t x_half_at[]; };
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
        const uint from = x_from(min(vector + m, batch - 1u), (cols / 4u)) + place;
        vec4 run[4];
        [[unroll]] for (uint r = 0u; r < 4u; ++r) run[r] = x_run(from + r);
        [[unroll]] for (uint r = 0u; r < 4u; ++r) x[k][m][r] = run[r];
    }
}

void accumulate(uint n, uint j, uint k, inout float sum[BATCH]) {  // `sum` += tile `j` of row `n` * x, for each right-hand side
    const uint row = n, tile = j;
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 8u;
    const uint t = tile % 8u;
    uint shift = r % 8u * 4u, w0 = qweight[min(block_col * 16u + t * 2u, (cols - 1u) / 8u) * rows + row];
    uint groups0 = g_idx[min(block_col * 128u + t * 16u, cols - 1u)], groups1 = g_idx[min(block_col * 128u + t * 16u + 1u, cols - 1u)];
    uint groups2 = g_idx[min(block_col * 128u + t * 16u + 2u, cols - 1u)], groups3 = g_idx[min(block_col * 128u + t * 16u + 3u, cols - 1u)];
    uint groups4 = g_idx[min(block_col * 128u + t * 16u + 4u, cols - 1u)], groups5 = g_idx[min(block_col * 128u + t * 16u + 5u, cols - 1u)];
    uint groups6 = g_idx[min(block_col * 128u + t * 16u + 6u, cols - 1u)], groups7 = g_idx[min(block_col * 128u + t * 16u + 7u, cols - 1u)];
    uint w1 = qweight[min(block_col * 16u + t * 2u + 1u, (cols - 1u) / 8u) * rows + row];
    uint groups8 = g_idx[min(block_col * 128u + t * 16u + 8u, cols - 1u)], groups9 = g_idx[min(block_col * 128u + t * 16u + 9u, cols - 1u)];
    uint groups10 = g_idx[min(block_col * 128u + t * 16u + 10u, cols - 1u)];
    uint groups11 = g_idx[min(block_col * 128u + t * 16u + 11u, cols - 1u)];
    uint groups12 = g_idx[min(block_col * 128u + t * 16u + 12u, cols - 1u)];
    uint groups13 = g_idx[min(block_col * 128u + t * 16u + 13u, cols - 1u)];
    uint groups14 = g_idx[min(block_col * 128u + t * 16u + 14u, cols - 1u)];
    uint groups15 = g_idx[min(block_col * 128u + t * 16u + 15u, cols - 1u)];
    uvec4 q0 = (uvec4(w0) >> uvec4(0, 4, 8, 12)) & 15u, q1 = (uvec4(w0) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uvec4 q2 = (uvec4(w1) >> uvec4(0, 4, 8, 12)) & 15u, q3 = (uvec4(w1) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uvec4 g0 = uvec4(groups0, groups1, groups2, groups3), g1 = uvec4(groups4, groups5, groups6, groups7);  // groups: 32 bits
    uvec4 g2 = uvec4(groups8, groups9, groups10, groups11), g3 = uvec4(groups12, groups13, groups14, groups15);  // groups: 32 bits
    uint group0 = min(g0.x, grid_cols - 1u);
    uint zs0 = qzeros[group0 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint group1 = min(g0.y, grid_cols - 1u);
    uint zs1 = qzeros[group1 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint group2 = min(g0.z, grid_cols - 1u);
    uint zs2 = qzeros[group2 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint group3 = min(g0.w, grid_cols - 1u);
    uint zs3 = qzeros[group3 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint d0 = uint(scales[group0 * rows + row]), d1 = uint(scales[group1 * rows + row]), d2 = uint(scales[group2 * rows + row]);
    uint d3 = uint(scales[group3 * rows + row]), group4 = min(g1.x, grid_cols - 1u);
    uint zs4 = qzeros[group4 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint group5 = min(g1.y, grid_cols - 1u);
    uint zs5 = qzeros[group5 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint group6 = min(g1.z, grid_cols - 1u);
    uint zs6 = qzeros[group6 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint group7 = min(g1.w, grid_cols - 1u);
    uint zs7 = qzeros[group7 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint d4 = uint(scales[group4 * rows + row]), d5 = uint(scales[group5 * rows + row]), d6 = uint(scales[group6 * rows + row]);
    uint d7 = uint(scales[group7 * rows + row]), group8 = min(g2.x, grid_cols - 1u);
    uint zs8 = qzeros[group8 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint group9 = min(g2.y, grid_cols - 1u);
    uint zs9 = qzeros[group9 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint group10 = min(g2.z, grid_cols - 1u);
    uint zs10 = qzeros[group10 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint group11 = min(g2.w, grid_cols - 1u);
    uint zs11 = qzeros[group11 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint d8 = uint(scales[group8 * rows + row]), d9 = uint(scales[group9 * rows + row]), d10 = uint(scales[group10 * rows + row]);
    uint d11 = uint(scales[group11 * rows + row]), group12 = min(g3.x, grid_cols - 1u);
    uint zs12 = qzeros[group12 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint group13 = min(g3.y, grid_cols - 1u);
    uint zs13 = qzeros[group13 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint group14 = min(g3.z, grid_cols - 1u);
    uint zs14 = qzeros[group14 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint group15 = min(g3.w, grid_cols - 1u);
    uint zs15 = qzeros[group15 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint d12 = uint(scales[group12 * rows + row]), d13 = uint(scales[group13 * rows + row]), d14 = uint(scales[group14 * rows + row]);
    uint d15 = uint(scales[group15 * rows + row]);
    uint z0 = (zs0 >> shift) & 15u, z1 = (zs1 >> shift) & 15u, z2 = (zs2 >> shift) & 15u, z3 = (zs3 >> shift) & 15u;  // zs: 4 bits
    uint z4 = (zs4 >> shift) & 15u, z5 = (zs5 >> shift) & 15u, z6 = (zs6 >> shift) & 15u, z7 = (zs7 >> shift) & 15u;  // zs: 4 bits
    uint z8 = (zs8 >> shift) & 15u, z9 = (zs9 >> shift) & 15u, z10 = (zs10 >> shift) & 15u, z11 = (zs11 >> shift) & 15u;  // zs: 4 bits
    uint z12 = (zs12 >> shift) & 15u, z13 = (zs13 >> shift) & 15u, z14 = (zs14 >> shift) & 15u, z15 = (zs15 >> shift) & 15u;  // zs: 4 bits
    uvec4 z16 = uvec4(z0, z1, z2, z3), z17 = uvec4(z4, z5, z6, z7), z18 = uvec4(z8, z9, z10, z11), z19 = uvec4(z12, z13, z14, z15);
    float s0 = unpackHalf2x16(d0).x, s1 = unpackHalf2x16(d1).x, s2 = unpackHalf2x16(d2).x, s3 = unpackHalf2x16(d3).x;  // d: 16 bits
    float s4 = unpackHalf2x16(d4).x, s5 = unpackHalf2x16(d5).x, s6 = unpackHalf2x16(d6).x, s7 = unpackHalf2x16(d7).x;  // d: 16 bits
    float s8 = unpackHalf2x16(d8).x, s9 = unpackHalf2x16(d9).x, s10 = unpackHalf2x16(d10).x, s11 = unpackHalf2x16(d11).x;  // d: 16 bits
    float s12 = unpackHalf2x16(d12).x, s13 = unpackHalf2x16(d13).x, s14 = unpackHalf2x16(d14).x, s15 = unpackHalf2x16(d15).x;  // d: 16 bits
    vec4 s16 = vec4(s0, s1, s2, s3), s17 = vec4(s4, s5, s6, s7), s18 = vec4(s8, s9, s10, s11), s19 = vec4(s12, s13, s14, s15);
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        sum[m] += dot(x[k][m][0], vec4(ivec4(q0) - ((ivec4(z16) + 1) & 15)) * s16)
            + dot(x[k][m][1], vec4(ivec4(q1) - ((ivec4(z17) + 1) & 15)) * s17)
            + dot(x[k][m][2], vec4(ivec4(q2) - ((ivec4(z18) + 1) & 15)) * s18)
            + dot(x[k][m][3], vec4(ivec4(q3) - ((ivec4(z19) + 1) & 15)) * s19);
    }
}

// The 16 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[4]) {
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 8u;
    const uint t = tile % 8u;
    // elements 0 to 3, counted from the tile's first
    uint w0 = qweight[min(block_col * 16u + t * 2u, (cols - 1u) / 8u) * rows + row];
    uvec4 q0 = (uvec4(w0) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint groups0 = g_idx[min(block_col * 128u + t * 16u, cols - 1u)], groups1 = g_idx[min(block_col * 128u + t * 16u + 1u, cols - 1u)];
    uint groups2 = g_idx[min(block_col * 128u + t * 16u + 2u, cols - 1u)], groups3 = g_idx[min(block_col * 128u + t * 16u + 3u, cols - 1u)];
    uvec4 g0 = uvec4(groups0, groups1, groups2, groups3);  // groups: 32 bits
    uint group0 = min(g0.x, grid_cols - 1u);
    uint zs0 = qzeros[group0 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z0 = (zs0 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group1 = min(g0.y, grid_cols - 1u);
    uint zs1 = qzeros[group1 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z1 = (zs1 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group2 = min(g0.z, grid_cols - 1u);
    uint zs2 = qzeros[group2 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z2 = (zs2 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group3 = min(g0.w, grid_cols - 1u);
    uint zs3 = qzeros[group3 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z3 = (zs3 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uvec4 z4 = uvec4(z0, z1, z2, z3);
    uint d0 = uint(scales[group0 * rows + row]);
    float s0 = unpackHalf2x16(d0).x;  // d: 16 bits
    uint d1 = uint(scales[group1 * rows + row]);
    float s1 = unpackHalf2x16(d1).x;  // d: 16 bits
    uint d2 = uint(scales[group2 * rows + row]);
    float s2 = unpackHalf2x16(d2).x;  // d: 16 bits
    uint d3 = uint(scales[group3 * rows + row]);
    float s3 = unpackHalf2x16(d3).x;  // d: 16 bits
    vec4 s4 = vec4(s0, s1, s2, s3);
    v[0] = vec4(ivec4(q0) - ((ivec4(z4) + 1) & 15)) * s4;

    // elements 4 to 7, counted from the tile's first
    uvec4 q1 = (uvec4(w0) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uint groups4 = g_idx[min(block_col * 128u + t * 16u + 4u, cols - 1u)], groups5 = g_idx[min(block_col * 128u + t * 16u + 5u, cols - 1u)];
    uint groups6 = g_idx[min(block_col * 128u + t * 16u + 6u, cols - 1u)], groups7 = g_idx[min(block_col * 128u + t * 16u + 7u, cols - 1u)];
    uvec4 g1 = uvec4(groups4, groups5, groups6, groups7);  // groups: 32 bits
    uint group4 = min(g1.x, grid_cols - 1u);
    uint zs4 = qzeros[group4 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z5 = (zs4 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group5 = min(g1.y, grid_cols - 1u);
    uint zs5 = qzeros[group5 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z6 = (zs5 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group6 = min(g1.z, grid_cols - 1u);
    uint zs6 = qzeros[group6 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z7 = (zs6 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group7 = min(g1.w, grid_cols - 1u);
    uint zs7 = qzeros[group7 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z8 = (zs7 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uvec4 z9 = uvec4(z5, z6, z7, z8);
    uint d4 = uint(scales[group4 * rows + row]);
    float s5 = unpackHalf2x16(d4).x;  // d: 16 bits
    uint d5 = uint(scales[group5 * rows + row]);
    float s6 = unpackHalf2x16(d5).x;  // d: 16 bits
    uint d6 = uint(scales[group6 * rows + row]);
    float s7 = unpackHalf2x16(d6).x;  // d: 16 bits
    uint d7 = uint(scales[group7 * rows + row]);
    float s8 = unpackHalf2x16(d7).x;  // d: 16 bits
    vec4 s9 = vec4(s5, s6, s7, s8);
    v[1] = vec4(ivec4(q1) - ((ivec4(z9) + 1) & 15)) * s9;

    // elements 8 to 11, counted from the tile's first
    uint w1 = qweight[min(block_col * 16u + t * 2u + 1u, (cols - 1u) / 8u) * rows + row];
    uvec4 q2 = (uvec4(w1) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    uint groups8 = g_idx[min(block_col * 128u + t * 16u + 8u, cols - 1u)], groups9 = g_idx[min(block_col * 128u + t * 16u + 9u, cols - 1u)];
    uint groups10 = g_idx[min(block_col * 128u + t * 16u + 10u, cols - 1u)];
    uint groups11 = g_idx[min(block_col * 128u + t * 16u + 11u, cols - 1u)];
    uvec4 g2 = uvec4(groups8, groups9, groups10, groups11);  // groups: 32 bits
    uint group8 = min(g2.x, grid_cols - 1u);
    uint zs8 = qzeros[group8 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z10 = (zs8 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group9 = min(g2.y, grid_cols - 1u);
    uint zs9 = qzeros[group9 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z11 = (zs9 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group10 = min(g2.z, grid_cols - 1u);
    uint zs10 = qzeros[group10 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z12 = (zs10 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group11 = min(g2.w, grid_cols - 1u);
    uint zs11 = qzeros[group11 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z13 = (zs11 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uvec4 z14 = uvec4(z10, z11, z12, z13);
    uint d8 = uint(scales[group8 * rows + row]);
    float s10 = unpackHalf2x16(d8).x;  // d: 16 bits
    uint d9 = uint(scales[group9 * rows + row]);
    float s11 = unpackHalf2x16(d9).x;  // d: 16 bits
    uint d10 = uint(scales[group10 * rows + row]);
    float s12 = unpackHalf2x16(d10).x;  // d: 16 bits
    uint d11 = uint(scales[group11 * rows + row]);
    float s13 = unpackHalf2x16(d11).x;  // d: 16 bits
    vec4 s14 = vec4(s10, s11, s12, s13);
    v[2] = vec4(ivec4(q2) - ((ivec4(z14) + 1) & 15)) * s14;

    // elements 12 to 15, counted from the tile's first
    uvec4 q3 = (uvec4(w1) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    uint groups12 = g_idx[min(block_col * 128u + t * 16u + 12u, cols - 1u)];
    uint groups13 = g_idx[min(block_col * 128u + t * 16u + 13u, cols - 1u)];
    uint groups14 = g_idx[min(block_col * 128u + t * 16u + 14u, cols - 1u)];
    uint groups15 = g_idx[min(block_col * 128u + t * 16u + 15u, cols - 1u)];
    uvec4 g3 = uvec4(groups12, groups13, groups14, groups15);  // groups: 32 bits
    uint group12 = min(g3.x, grid_cols - 1u);
    uint zs12 = qzeros[group12 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z15 = (zs12 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group13 = min(g3.y, grid_cols - 1u);
    uint zs13 = qzeros[group13 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z16 = (zs13 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group14 = min(g3.z, grid_cols - 1u);
    uint zs14 = qzeros[group14 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z17 = (zs14 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uint group15 = min(g3.w, grid_cols - 1u);
    uint zs15 = qzeros[group15 * ((rows - 1u) / 8u + 1u) + min(block_row * 4u + r / 8u, (rows - 1u) / 8u)];
    uint z18 = (zs15 >> (r % 8u * 4u)) & 15u;  // zs: 4 bits
    uvec4 z19 = uvec4(z15, z16, z17, z18);
    uint d12 = uint(scales[group12 * rows + row]);
    float s15 = unpackHalf2x16(d12).x;  // d: 16 bits
    uint d13 = uint(scales[group13 * rows + row]);
    float s16 = unpackHalf2x16(d13).x;  // d: 16 bits
    uint d14 = uint(scales[group14 * rows + row]);
    float s17 = unpackHalf2x16(d14).x;  // d: 16 bits
    uint d15 = uint(scales[group15 * rows + row]);
    float s18 = unpackHalf2x16(d15).x;  // d: 16 bits
    vec4 s19 = vec4(s15, s16, s17, s18);
    v[3] = vec4(ivec4(q3) - ((ivec4(z19) + 1) & 15)) * s19;
}

// The products of what tile `j` of row `n` has in that row, for each right-hand side.
void sum_cut(uint n, uint j, out float part[BATCH]) {
    const uint row_cols = cols;
    for (uint m = 0; m < BATCH; ++m) part[m] = 0.0;
    const uint row = n, tile = j, place = j * 16u;
    const uint from = 0u, to = min(row_cols - place, 16u);
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
    const uint row_cols = cols, whole = row_cols % 4u + (VIEWS == 0u ? 0u : (x_begin | x_stride) % 4u);
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
