// hqq_b3_g64_gemv_wide: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format hqq_b3_g64`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 296 bytes for 640 elements, 3.7 bits each.
// For each weight 0.463 bytes read, 5.66 operations: 0.281 loads, 2 bits, 0.281 integer, 2.06 float, 1.03 conversions.
//     format hqq_b3_g{group} "HQQ: the groups of the whole tensor in ten planes of 3 bits, a float zero"
//     from "HQQ: BitPack, axis 1"
//     for group in 64 128
//     block 10 apart x group {
//         buffer W_q   { w: u32[1][group] }
//         buffer scale { d: f16[10][1] }
//         buffer zero  { m: f16[10][1] }
//     }
//     code q                = w { 3 @ 27 (group:32, 10:-3) }
//     spare                   w { 2 @ 30 (group:32) }
//     code s: f16 per group = d { 16 @ 0 (10:16) }
//     code z: f16 per group = m { 16 @ 0 (10:16) }
//     value = (q - z) * s
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
layout(constant_id = 43) const uint TURNS = 1;  // in which a tile is taken
const uint SUMS = ROWS * BATCH;  // at once: at most as many as a subgroup has lanes
shared float partial[gl_WorkGroupSize.x / 4u * SUMS * 2u];

layout(binding = 0, std430) readonly buffer W_qBuffer { uint W_q[]; };
layout(binding = 1, std430) readonly buffer ScaleBuffer { uint16_t scale[]; };
layout(binding = 2, std430) readonly buffer ZeroBuffer { uint16_t zero[]; };
layout(binding = 0, std430) readonly buffer W_q_fourBuffer { uvec4 W_q_four[]; };
layout(binding = 3, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 3, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 4, std430) buffer Output { float y[]; };
layout(binding = 4, std430) buffer OutputHalves { uint16_t y_halves[]; };
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
    x_sum[k][0] = dot(run[0] + run[1] + run[2] + run[3] + run[4] + run[5] + run[6] + run[7] + run[8] + run[9] + run[10] + run[11] + run[12]
        + run[13] + run[14] + run[15], vec4(1.0));
}

void fetch(uint n, uint j, out uvec4 fours[16], out uint words[2]) {  // tile `j` of row `n`
    const uint row = n * (row_tiles / 4u) + j, tile = 0u;
    const uint block_row = row % grid_rows;
    const uint r = row / grid_rows;
    fours[0] = W_q_four[block_row * 16u], fours[1] = W_q_four[block_row * 16u + 1u], fours[2] = W_q_four[block_row * 16u + 2u];
    fours[3] = W_q_four[block_row * 16u + 3u], fours[4] = W_q_four[block_row * 16u + 4u], fours[5] = W_q_four[block_row * 16u + 5u];
    fours[6] = W_q_four[block_row * 16u + 6u], fours[7] = W_q_four[block_row * 16u + 7u], fours[8] = W_q_four[block_row * 16u + 8u];
    fours[9] = W_q_four[block_row * 16u + 9u], fours[10] = W_q_four[block_row * 16u + 10u], fours[11] = W_q_four[block_row * 16u + 11u];
    fours[12] = W_q_four[block_row * 16u + 12u], fours[13] = W_q_four[block_row * 16u + 13u], fours[14] = W_q_four[block_row * 16u + 14u];
    fours[15] = W_q_four[block_row * 16u + 15u], words[0] = uint(zero[row]), words[1] = uint(scale[row]);
}

bool is_turn(uint turn) { return turn == 0u || (turn == 1u ? rows : turn == 2u ? batch : y_rows) != 0u; }  // true; but loads wait

void accumulate(uint n, uint j, uint k, uvec4 fours[16], uint words[2], bvec4 turns, inout float sum) {  // `sum` += tile `j` of row `n` * x
    const uint row = n * (row_tiles / 4u) + j, tile = 0u;
    const uint block_row = row % grid_rows;
    const uint r = row / grid_rows;
    uint shift = (9u - r) * 3u, d = words[1], m_ = words[0];
    float s = unpackHalf2x16(d).x;  // d: 16 bits
    uvec4 w0 = fours[0], w1 = fours[1], w2 = fours[2], w3 = fours[3], w4 = fours[4], w5 = fours[5], w6 = fours[6], w7 = fours[7];
    uvec4 w8 = fours[8], w9 = fours[9], w10 = fours[10], w11 = fours[11], w12 = fours[12], w13 = fours[13], w14 = fours[14];
    uvec4 w15 = fours[15];
    float z = unpackHalf2x16(m_).x;  // m: 16 bits
    float dots0 = dot_add(dot(x[k][0], vec4((w0.x >> shift) & 7u, (w0.y >> shift) & 7u, (w0.z >> shift) & 7u, (w0.w >> shift) & 7u)),
        x[k][1], vec4((w1.x >> shift) & 7u, (w1.y >> shift) & 7u, (w1.z >> shift) & 7u, (w1.w >> shift) & 7u));
    float dots1 = dot_add(dots0, x[k][2], vec4((w2.x >> shift) & 7u, (w2.y >> shift) & 7u, (w2.z >> shift) & 7u, (w2.w >> shift) & 7u));
    float dots2 = dot_add(dots1, x[k][3], vec4((w3.x >> shift) & 7u, (w3.y >> shift) & 7u, (w3.z >> shift) & 7u, (w3.w >> shift) & 7u));
    float dots3 = dot_add(dots2, x[k][4], vec4((w4.x >> shift) & 7u, (w4.y >> shift) & 7u, (w4.z >> shift) & 7u, (w4.w >> shift) & 7u));
    float dots4 = dot_add(dots3, x[k][5], vec4((w5.x >> shift) & 7u, (w5.y >> shift) & 7u, (w5.z >> shift) & 7u, (w5.w >> shift) & 7u));
    float dots5 = dot_add(dots4, x[k][6], vec4((w6.x >> shift) & 7u, (w6.y >> shift) & 7u, (w6.z >> shift) & 7u, (w6.w >> shift) & 7u));
    float dots6 = dot_add(dots5, x[k][7], vec4((w7.x >> shift) & 7u, (w7.y >> shift) & 7u, (w7.z >> shift) & 7u, (w7.w >> shift) & 7u));
    float dots7 = dot_add(dot(x[k][8], vec4((w8.x >> shift) & 7u, (w8.y >> shift) & 7u, (w8.z >> shift) & 7u, (w8.w >> shift) & 7u)),
        x[k][9], vec4((w9.x >> shift) & 7u, (w9.y >> shift) & 7u, (w9.z >> shift) & 7u, (w9.w >> shift) & 7u));
    float dots8 = dot_add(dots7, x[k][10], vec4((w10.x >> shift) & 7u, (w10.y >> shift) & 7u, (w10.z >> shift) & 7u,
        (w10.w >> shift) & 7u));
    float dots9 = dot_add(dots8, x[k][11], vec4((w11.x >> shift) & 7u, (w11.y >> shift) & 7u, (w11.z >> shift) & 7u,
        (w11.w >> shift) & 7u));
    float dots10 = dot_add(dots9, x[k][12],
        vec4((w12.x >> shift) & 7u, (w12.y >> shift) & 7u, (w12.z >> shift) & 7u, (w12.w >> shift) & 7u));
    float dots11 = dot_add(dots10, x[k][13],
        vec4((w13.x >> shift) & 7u, (w13.y >> shift) & 7u, (w13.z >> shift) & 7u, (w13.w >> shift) & 7u));
    float dots12 = dot_add(dots11, x[k][14],
        vec4((w14.x >> shift) & 7u, (w14.y >> shift) & 7u, (w14.z >> shift) & 7u, (w14.w >> shift) & 7u));
    float dots13 = dot_add(dots12, x[k][15],
        vec4((w15.x >> shift) & 7u, (w15.y >> shift) & 7u, (w15.z >> shift) & 7u, (w15.w >> shift) & 7u));
    float total = 0.0;
    if (turns.x) total = s * (dots6 + dots13);
    if (turns.y) total = total - s * z * x_sum[k][0];
    sum += total;
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
            [[unroll]] for (uint turn = 0u; turn < TURNS; ++turn) {
                if (!is_turn(turn)) continue;
                const bvec4 turns = bvec4(turn == 0u, turn == 1u || TURNS == 1u, turn == 2u || TURNS == 1u, turn == 3u || TURNS == 1u);
                uvec4 fours[ROWS][16]; uint words[ROWS][2];
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, end - 1u), j, fours[r], words[r]);
                [[unroll]] for (uint i = 0u; i < SUMS; ++i) {
                    const uint r = i / BATCH, m = i % BATCH;
                    accumulate(min(row + r, end - 1u), j, m, fours[r], words[r], turns, sum[i]);
                }
            }
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
