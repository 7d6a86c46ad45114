// q4_K_gemv_wide: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format q4_K`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 144 bytes for 256 elements, 4.5 bits each.
// For each weight 0.562 bytes read, 4.17 operations: 0.0781 loads, 1.02 bits, 0.328 integer, 2.16 float, 0.594 conversions.
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
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides, of each of which a thread keeps its part
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row, at most as many as there are
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say
layout(constant_id = 46) const uint NORM = 0;  // of x that is normed: bits of epsilon
layout(constant_id = 7) const uint STAGED = 1;  // runs of x that a workgroup loads together, where there are few rows; 1: none
const uint SUMS = ROWS * BATCH;  // at once: at most as many as a subgroup has lanes
const uint SQUARES = gl_WorkGroupSize.x / 4u * SUMS * 2u;  // where those of squares of x begin: a second array costs time, even without use
shared float partial[SQUARES + (NORM == 0u ? 0u : gl_WorkGroupSize.x / 4u * BATCH)];

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 0, std430) readonly buffer Blocks_fourBuffer { uvec4 blocks_four[]; };
layout(binding = 1, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 1, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 3, std430) readonly buffer NormWeights { vec4 norm_weights[]; };
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
uint row_within(uint n) { return VIEWS == 2u ? n / 2u + n % 2u * weights_outer : n; }
uint row_of_weights(uint n) { return weights_begin + row_within(n); }  // among all of them
uint x_row = 0u;  // the run where the right-hand side at hand begins
uint x_from(uint vector, uint row_runs) { return x_row = VIEWS == 0u ? vector * row_runs : (x_begin + vector * x_stride) / 4u; }
vec4 x_stored(uint at) {  // 4 consecutive elements
    if (X_TYPE == 0u) return x_in[at];
    const uvec2 run = uvec2(x_halves[at]);
    return X_TYPE == 1u ? vec4(unpackHalf2x16(run.x), unpackHalf2x16(run.y))
        : uintBitsToFloat(uvec4(run.x << 16, run.x & 0xffff0000u, run.y << 16, run.y & 0xffff0000u));
}
vec4 x_run(uint at) {  // normed, but for the factor of results
    precise vec4 run = x_stored(at);
    if (NORM != 0u) run *= norm_weights[at - x_row];
    return run;
}
void add_squares() {  // where subgroups share rows, the walk has the barrier
    const uint runs = row_tiles * 4u, step = gl_WorkGroupSize.x;
    [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
        const uint from = x_from(min(m, batch - 1u), runs);
        float sum = 0.0;
        for (uint at = gl_LocalInvocationID.x; at < runs; at += 8u * step) {
            vec4 v[8];
            [[unroll]] for (uint i = 0u; i < 8u; ++i) v[i] = x_stored(from + min(at + i * step, runs - 1u));
            [[unroll]] for (uint i = 0u; i < 8u; ++i) sum += at + i * step < runs ? dot(v[i], v[i]) : 0.0;
        }
        for (uint bit = 1u; bit < gl_SubgroupSize; bit *= 2u) sum += subgroupShuffleXor(sum, bit);
        if (gl_SubgroupInvocationID == 0u) partial[SQUARES + gl_SubgroupID * BATCH + m] = sum;
    }
    if (SPLIT == 1u) barrier();
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
    if (NORM != 0u) {  // x has been multiplied with the weights of its norm alone
        float all = 0.0;
        for (uint i = m; i < gl_NumSubgroups * BATCH; i += BATCH) all += partial[SQUARES + i];
        sum *= inversesqrt(all / float(row_tiles * 16u) + uintBitsToFloat(NORM));
    }
    if (VIEWS == 2u) {  // of rows in turn: that of the gate, number y_outer, has silu(gate) * the other
        const float other = subgroupShuffleXor(sum, 1u);
        if (n % 2u != y_outer) return;
        sum = sum / (1.0 + exp(-sum)) * other, n /= 2u;
    }
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
float x_sum[BATCH][2];

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
    const uint tile = j % 4u, place = j / 4u * 64u + tile * 16u, from = x_from(min(vector, batch - 1u), row_tiles * 4u) + place;
    vec4 run[16];
    [[unroll]] for (uint r = 0u; r < 16u; ++r) run[r] = staged_x(from + r);
    [[unroll]] for (uint r = 0u; r < 8u; ++r) x[k][r] = run[r] * 16777216.0;
    [[unroll]] for (uint r = 8u; r < 16u; ++r) x[k][r] = run[r] * 1048576.0;
    x_sum[k][0] = dot(run[0] + run[1] + run[2] + run[3] + run[4] + run[5] + run[6] + run[7], vec4(1.0));
    x_sum[k][1] = dot(run[8] + run[9] + run[10] + run[11] + run[12] + run[13] + run[14] + run[15], vec4(1.0));
}

void fetch(uint n, uint j, out uvec4 fours[3], out uint words[2]) {  // tile `j` of row `n`
    uint block = row_of_weights(n) * (row_tiles / 16u) + j / 4u, tile = j % 4u, base = block * 36u;
    fours[0] = blocks_four[block * 9u], fours[1] = blocks_four[block * 9u + tile * 2u + 1u];
    fours[2] = blocks_four[block * 9u + tile * 2u + 2u], words[0] = blocks[base + tile / 2u * 2u + 1u];
    words[1] = blocks[base + tile / 2u + 2u];
}

// What `mask` has of each byte of a word: the low bits of a half are a number of units of 2^-24.
vec4 four_codes(uint word, uint mask) {
    const vec2 even = unpackHalf2x16(word & mask), odd = unpackHalf2x16((word >> 8) & mask);
    return vec4(even.x, odd.x, even.y, odd.y);
}

void accumulate(uint n, uint j, uint k, uvec4 fours[3], uint words[2], inout float sum) {  // `sum` += tile `j` of row `n` * x
    uint tile = j % 4u, shift0 = tile % 2u * 16u, shift1 = shift0 + tile / 2u * 2u, shift2 = shift0 + tile / 2u * 4u;
    uvec4 four = fours[0], qs0 = fours[1], qs1 = fours[2];
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
    float dots0 = dot_add(dot(x[k][0], four_codes(qs0.x, 0xF000Fu)), x[k][1], four_codes(qs0.y, 0xF000Fu));
    float dots1 = dot_add(dots0, x[k][2], four_codes(qs0.z, 0xF000Fu)), dots2 = dot_add(dots1, x[k][3], four_codes(qs0.w, 0xF000Fu));
    float dots3 = dot_add(dots2, x[k][4], four_codes(qs1.x, 0xF000Fu)), dots4 = dot_add(dots3, x[k][5], four_codes(qs1.y, 0xF000Fu));
    float dots5 = dot_add(dots4, x[k][6], four_codes(qs1.z, 0xF000Fu)), dots6 = dot_add(dots5, x[k][7], four_codes(qs1.w, 0xF000Fu));
    float dots7 = dot_add(dot(x[k][8], four_codes(qs0.x, 0xF000F0u)), x[k][9], four_codes(qs0.y, 0xF000F0u));
    float dots8 = dot_add(dots7, x[k][10], four_codes(qs0.z, 0xF000F0u)), dots9 = dot_add(dots8, x[k][11], four_codes(qs0.w, 0xF000F0u));
    float dots10 = dot_add(dots9, x[k][12], four_codes(qs1.x, 0xF000F0u)), dots11 = dot_add(dots10, x[k][13], four_codes(qs1.y, 0xF000F0u));
    float dots12 = dot_add(dots11, x[k][14], four_codes(qs1.z, 0xF000F0u));
    float dots13 = dot_add(dots12, x[k][15], four_codes(qs1.w, 0xF000F0u));
    sum += d_sc0 * dots6 - dmin_mn0 * x_sum[k][0] + d_sc1 * dots13 - dmin_mn1 * x_sum[k][1];
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
    const uint runs = x_from(vector, row_tiles * 4u), runs_end = runs + (end + 3u) / 4u * 64u;
    for (staged_from = runs + begin / 4u * 64u; staged_from < runs_end; staged_from += STAGED) {
        const uint count = min(STAGED, runs_end - staged_from);
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < count; i += gl_WorkGroupSize.x) staged[i + i / 16u] = x_run(staged_from + i);
        barrier();
        if (j < end && runs + j / 4u * 64u - staged_from < STAGED) load_x(vector, j, m);
    }
}

// Subgroups share a row, each with the slice of x that it holds, and walk down the rows.
void walk() {
    const uint tiles = row_tiles / 4u, lane = gl_SubgroupInvocationID, slice = gl_SubgroupSize, slices = (tiles + slice - 1u) / slice;
    const uint split = SPLIT, teams = gl_NumSubgroups / split, team = gl_SubgroupID / split, end = rows;
    uint held = ~0u, turn = 0u;
    if (NORM != 0u) add_squares();
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
            uvec4 fours[ROWS][3]; uint words[ROWS][2];
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
