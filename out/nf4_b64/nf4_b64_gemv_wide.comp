// nf4_b64_gemv_wide: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format nf4_b64`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 36 bytes for 64 elements, 4.5 bits each.
// For each weight 0.562 bytes read, 5.09 operations: 0.0469 loads, 2 bits, 0.0312 integer, 2.02 float, 1 lookups.
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
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides, of each of which a thread keeps its part
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row, at most as many as there are
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say
layout(constant_id = 7) const uint STAGED = 1;  // runs of x that a workgroup loads together, where there are few rows; 1: none
const uint SUMS = ROWS * BATCH;  // at once: at most as many as a subgroup has lanes
shared float partial[gl_WorkGroupSize.x / 4u * SUMS * 2u];

layout(binding = 0, std430) readonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) readonly buffer AbsmaxBuffer { uint absmax[]; };
layout(binding = 8, std430) readonly buffer NTable { float N[]; };
layout(binding = 0, std430) readonly buffer Weight_fourBuffer { uvec4 weight_four[]; };
layout(binding = 2, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 2, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
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
vec4 x[BATCH][16];
float x_sum[BATCH][1];

// sum + dot(a, b), in as many operations as a has lanes.
float dot_add(float sum, vec4 a, vec4 b) { return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum)))); }

// Runs of x on their way to threads, from run `staged_from` on, with gaps: neighbours take the same run of tiles that are neighbours.
shared vec4 staged[STAGED == 1u ? 1u : STAGED + STAGED / 16u];
uint staged_from = 0u;
vec4 staged_x(uint at) {
    if (STAGED == 1u) return x_run(at);
    const uint place = at - staged_from;
    return staged[place + place / 16u];
}

void load_x(uint vector, uint j, uint k) {  // what tile `j` of a row meets of right-hand side `vector`
    const uint place = j * 16u, from = x_from(min(vector, batch - 1u), row_tiles * 4u) + place;
    vec4 run[16];
    [[unroll]] for (uint r = 0u; r < 16u; ++r) run[r] = staged_x(from + r);
    [[unroll]] for (uint r = 0u; r < 16u; ++r) x[k][r] = run[r];
}

void fetch(uint n, uint j, out uvec4 fours[2], out uint words[1]) {  // tile `j` of row `n`
    const uint block = row_of_weights(n) * (row_tiles / 4u) + j;
    fours[0] = weight_four[block * 2u], fours[1] = weight_four[block * 2u + 1u], words[0] = absmax[block];
}

void accumulate(uint n, uint j, uint k, uvec4 fours[2], uint words[1], inout float sum) {  // `sum` += tile `j` of row `n` * x
    float s = uintBitsToFloat(words[0]);
    uvec4 w0 = fours[0], w1 = fours[1];
    uvec4 q0 = (uvec4(w0.x) >> uvec4(4, 0, 12, 8)) & 15u, q1 = (uvec4(w0.x) >> uvec4(20, 16, 28, 24)) & 15u;  // w: 4 bits
    uvec4 q2 = (uvec4(w0.y) >> uvec4(4, 0, 12, 8)) & 15u, q3 = (uvec4(w0.y) >> uvec4(20, 16, 28, 24)) & 15u;  // w: 4 bits
    uvec4 q4 = (uvec4(w0.z) >> uvec4(4, 0, 12, 8)) & 15u, q5 = (uvec4(w0.z) >> uvec4(20, 16, 28, 24)) & 15u;  // w: 4 bits
    uvec4 q6 = (uvec4(w0.w) >> uvec4(4, 0, 12, 8)) & 15u, q7 = (uvec4(w0.w) >> uvec4(20, 16, 28, 24)) & 15u;  // w: 4 bits
    uvec4 q8 = (uvec4(w1.x) >> uvec4(4, 0, 12, 8)) & 15u, q9 = (uvec4(w1.x) >> uvec4(20, 16, 28, 24)) & 15u;  // w: 4 bits
    uvec4 q10 = (uvec4(w1.y) >> uvec4(4, 0, 12, 8)) & 15u, q11 = (uvec4(w1.y) >> uvec4(20, 16, 28, 24)) & 15u;  // w: 4 bits
    uvec4 q12 = (uvec4(w1.z) >> uvec4(4, 0, 12, 8)) & 15u, q13 = (uvec4(w1.z) >> uvec4(20, 16, 28, 24)) & 15u;  // w: 4 bits
    uvec4 q14 = (uvec4(w1.w) >> uvec4(4, 0, 12, 8)) & 15u, q15 = (uvec4(w1.w) >> uvec4(20, 16, 28, 24)) & 15u;  // w: 4 bits
    float dots0 = dot_add(dot(x[k][0], vec4(N[q0.x], N[q0.y], N[q0.z], N[q0.w])), x[k][1], vec4(N[q1.x], N[q1.y], N[q1.z], N[q1.w]));
    float dots1 = dot_add(dots0, x[k][2], vec4(N[q2.x], N[q2.y], N[q2.z], N[q2.w]));
    float dots2 = dot_add(dots1, x[k][3], vec4(N[q3.x], N[q3.y], N[q3.z], N[q3.w]));
    float dots3 = dot_add(dots2, x[k][4], vec4(N[q4.x], N[q4.y], N[q4.z], N[q4.w]));
    float dots4 = dot_add(dots3, x[k][5], vec4(N[q5.x], N[q5.y], N[q5.z], N[q5.w]));
    float dots5 = dot_add(dots4, x[k][6], vec4(N[q6.x], N[q6.y], N[q6.z], N[q6.w]));
    float dots6 = dot_add(dots5, x[k][7], vec4(N[q7.x], N[q7.y], N[q7.z], N[q7.w]));
    float dots7 = dot_add(dot(x[k][8], vec4(N[q8.x], N[q8.y], N[q8.z], N[q8.w])), x[k][9], vec4(N[q9.x], N[q9.y], N[q9.z], N[q9.w]));
    float dots8 = dot_add(dots7, x[k][10], vec4(N[q10.x], N[q10.y], N[q10.z], N[q10.w]));
    float dots9 = dot_add(dots8, x[k][11], vec4(N[q11.x], N[q11.y], N[q11.z], N[q11.w]));
    float dots10 = dot_add(dots9, x[k][12], vec4(N[q12.x], N[q12.y], N[q12.z], N[q12.w]));
    float dots11 = dot_add(dots10, x[k][13], vec4(N[q13.x], N[q13.y], N[q13.z], N[q13.w]));
    float dots12 = dot_add(dots11, x[k][14], vec4(N[q14.x], N[q14.y], N[q14.z], N[q14.w]));
    float dots13 = dot_add(dots12, x[k][15], vec4(N[q15.x], N[q15.y], N[q15.z], N[q15.w]));
    sum += s * (dots6 + dots13);
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

// What a workgroup keeps of right-hand side `vector`, number `m`, which is tiles `begin` to `end`; a thread has the one at `j`.
void stage_x(uint vector, uint m, uint begin, uint end, uint j) {
    const uint runs = x_from(vector, row_tiles * 4u), runs_end = runs + end * 16u;
    for (staged_from = runs + begin * 16u; staged_from < runs_end; staged_from += STAGED) {
        const uint count = min(STAGED, runs_end - staged_from);
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < count; i += gl_WorkGroupSize.x) staged[i + i / 16u] = x_run(staged_from + i);
        barrier();
        if (j < end && runs + j * 16u - staged_from < STAGED) load_x(vector, j, m);
    }
}

// Subgroups share a row, each with the slice of x that it holds, and walk down the rows.
void walk() {
    const uint tiles = row_tiles / 4u, lane = gl_SubgroupInvocationID, slice = gl_SubgroupSize, slices = (tiles + slice - 1u) / slice;
    const uint split = SPLIT, teams = gl_NumSubgroups / split, team = gl_SubgroupID / split, end = rows;
    uint held = ~0u, turn = 0u;
    for (uint first = group_number() * teams * ROWS; first < rows; first += group_count() * teams * ROWS) {
        const uint row = first + team * ROWS;
        float sum[SUMS];
        [[unroll]] for (uint i = 0u; i < SUMS; ++i) sum[i] = 0.0;
        for (uint c0 = 0u; c0 < slices; c0 += split) {
            const uint j = (c0 + gl_SubgroupID % split) * slice + lane;
            if (STAGED > 1u && c0 != held)
                [[unroll]] for (uint m = 0u; m < BATCH; ++m)
                    stage_x(min(m, batch - 1u), m, c0 * slice, min((c0 + split) * slice, tiles), j);
            if (STAGED == 1u && c0 != held)
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) load_x(m, min(j, tiles - 1u), m);
            held = c0;
            if (j >= tiles) continue;
            uvec4 fours[ROWS][2]; uint words[ROWS][1];
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, end - 1u), j, fours[r], words[r]);
            [[unroll]] for (uint r = 0u; r < ROWS; ++r)
                [[unroll]] for (uint m = 0u; m < BATCH; ++m)
                    accumulate(min(row + r, end - 1u), j, m, fours[r], words[r], sum[r * BATCH + m]);
        }
        float total = sum_of_lanes(sum, gl_SubgroupSize);
        const uint n = row + lane / BATCH, m = lane % BATCH;
        // Halves of the memory in turn: who is a row ahead does not write where others still read.
        const uint place = turn++ % 2u * gl_NumSubgroups * SUMS + gl_SubgroupID * SUMS + lane;
        if (SPLIT > 1u && lane < SUMS) partial[place] = total;
        if (SPLIT > 1u) barrier();
        if (gl_SubgroupID % SPLIT > 0u || team >= teams || lane >= SUMS || n >= rows || m >= batch) continue;
        [[unroll]] for (uint s = 1u; s < SPLIT; ++s) total += partial[place + s * SUMS];
        finish(m, n, total);
    }
}

void main() {
    find_matrix();
    // Dispatch launches nothing else; but a compiler may choose better for a walk that may not be taken.
    if (gl_SubgroupSize >= SUMS && gl_NumSubgroups >= SPLIT && row_tiles > 0u) walk();
}
