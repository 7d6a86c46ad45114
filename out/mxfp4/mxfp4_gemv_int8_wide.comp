// mxfp4_gemv_int8_wide: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format mxfp4`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 17 bytes for 32 elements, 4.25 bits each.
// For each weight 0.531 bytes read, 5.36 operations: 0.156 loads, 2.03 bits, 2.42 integer, 0.188 float, 0.0625 conversions, 0.5 lookups.
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
#extension GL_EXT_spirv_intrinsics : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides, of each of which a thread keeps its part
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row, at most as many as there are
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say
layout(constant_id = 46) const uint NORM = 0;  // of x that is normed: bits of epsilon
layout(constant_id = 11) const uint PADDED = 0;  // 1: behind the weights are 32 bytes or more, which may be read
layout(constant_id = 7) const uint STAGED = 1;  // runs of x that a workgroup loads together, where there are few rows; 1: none
layout(constant_id = 9) const uint COPIES = 1;  // of a table of pairs, for threads that are neighbours
layout(constant_id = 4) const uint DIGITS = 1;  // bytes of each x: class int8 has 1, split 2, int24 3
const uint SUMS = ROWS * BATCH;  // at once: at most as many as a subgroup has lanes
const uint SQUARES = gl_WorkGroupSize.x / 4u * SUMS * 2u;  // where those of squares of x begin: a second array costs time, even without use
shared float partial[SQUARES + (NORM == 0u ? 0u : gl_WorkGroupSize.x / 4u * BATCH)];

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint8_t blocks[]; };
layout(binding = 7, std430) readonly buffer KTable { int K[]; };
layout(binding = 0, std430) readonly buffer Blocks_wordBuffer { uint blocks_word[]; };
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

// Kept of x: of each digit, the highest first, signed bytes of four elements in a word; then steps of the integers, and sums of runs.
uvec4 x[BATCH][DIGITS * 4u + 1u];
float x_step(uint k, uint i) { return uintBitsToFloat(x[k][DIGITS * 4u][i]); }  // that integers stand for
const float LARGEST = DIGITS == 1u ? 127.0 : DIGITS == 2u ? 32639.0 : 8355708.0;  // that digits hold, less what rounding may add
float scale_of(vec4 most, vec4 all) {  // `most`: the largest magnitudes. What is not finite makes the step NaN
    const float largest = max(max(most.x, most.y), max(most.z, most.w));
    return any(isnan(all)) || isinf(largest) ? uintBitsToFloat(0x7FC00000u) : min(LARGEST / max(largest, 1e-37), 0.5e38);
}
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int signed_dot(uint codes, uint x, spirv_literal int packed);
int dot4(uint codes, uint x) { return signed_dot(codes, x, 0); }  // OpSDot of four bytes in a word each
int dot16(int sum, uvec4 codes, uvec4 x) { return sum + dot4(codes.x, x.x) + dot4(codes.y, x.y) + dot4(codes.z, x.z) + dot4(codes.w, x.w); }

// The nearest integers plus BIAS; digits below the highest have the sign bit turned over. Floats round where their last bit stands for 1.
const int BIAS = DIGITS == 3u ? 0x8080 : DIGITS == 2u ? 0x4B400080 : 0x4B400000;
ivec4 integers(vec4 v) { return DIGITS == 3u ? ivec4(roundEven(v)) + BIAS : floatBitsToInt(v + intBitsToFloat(BIAS)); }
uint bytes_of(ivec4 v, uint digit) {  // two share a word, so that most is done once for two digits
    const uint place = DIGITS - 1u - digit;
    const ivec4 halves = v >> (place / 2u * 16u);
    const ivec2 pairs = (halves.xy & 0xFFFF) | (halves.zw << 16), bytes = (pairs >> (place % 2u * 8u)) & 0x00FF00FF;
    return uint(bytes.x | (bytes.y << 8)) ^ (digit == 0u ? 0u : 0x80808080u);
}

// Runs of x on their way to threads, from run `staged_from` on, with gaps: neighbours take the same run of tiles that are neighbours.
shared vec4 staged[STAGED == 1u ? 1u : STAGED + STAGED / 16u];
uint staged_from = 0u;
vec4 staged_x(uint at) {
    if (STAGED == 1u) return x_run(at);
    const uint place = at - staged_from;
    return staged[place + place / 16u];
}

shared uint K_of_two[256u * COPIES];  // for each byte of two codes, in bytes 0 and 2

// K of the four codes in the bytes a and b: of the lower half of a, of b, of the upper half of a, of b.
uint K_pairs(uint codes) {
    const uint copy = gl_LocalInvocationID.x % COPIES;
    return K_of_two[(codes & 0xFFu) * COPIES + copy] | (K_of_two[((codes >> 8u) & 0xFFu) * COPIES + copy] << 8u);
}

void load_x(uint vector, uint j, uint k) {  // what tile `j` of a row meets of right-hand side `vector`
    const uint tile = j % 2u, place = j / 2u * 32u + tile * 2u, from = x_from(min(vector, batch - 1u), row_tiles * 4u) + place;
    vec4 run[16], most[2], all[2];
    [[unroll]] for (uint r = 0u; r < 16u; ++r) run[r] = staged_x(from + r % 2u + r / 2u * 4u);
    [[unroll]] for (uint s = 0u; s < 2u; ++s) most[s] = all[s] = vec4(0.0);
    [[unroll]] for (uint r = 0u; r < 16u; ++r) most[r / 8u] = max(most[r / 8u], abs(run[r])), all[r / 8u] += run[r];
    ivec4 whole[16];
    [[unroll]] for (uint s = 0u; s < 2u; ++s) {
        const float scale = scale_of(most[s], all[s]), step = 1.0 / scale;
        [[unroll]] for (uint r = 0u; r < 8u; ++r) whole[8u * s + r] = integers(run[8u * s + r] * scale);
        x[k][DIGITS * 4u][s] = floatBitsToUint(step);
    }
    [[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit) {
        x[k][digit * 4u].x = bytes_of(ivec4(whole[0].x, whole[0].y, whole[2].x, whole[2].y), digit);
        x[k][digit * 4u].y = bytes_of(ivec4(whole[0].z, whole[0].w, whole[2].z, whole[2].w), digit);
        x[k][digit * 4u].z = bytes_of(ivec4(whole[1].x, whole[1].y, whole[3].x, whole[3].y), digit);
        x[k][digit * 4u].w = bytes_of(ivec4(whole[1].z, whole[1].w, whole[3].z, whole[3].w), digit);
        x[k][digit * 4u + 1u].x = bytes_of(ivec4(whole[4].x, whole[4].y, whole[6].x, whole[6].y), digit);
        x[k][digit * 4u + 1u].y = bytes_of(ivec4(whole[4].z, whole[4].w, whole[6].z, whole[6].w), digit);
        x[k][digit * 4u + 1u].z = bytes_of(ivec4(whole[5].x, whole[5].y, whole[7].x, whole[7].y), digit);
        x[k][digit * 4u + 1u].w = bytes_of(ivec4(whole[5].z, whole[5].w, whole[7].z, whole[7].w), digit);
        x[k][digit * 4u + 2u].x = bytes_of(ivec4(whole[8].x, whole[8].y, whole[10].x, whole[10].y), digit);
        x[k][digit * 4u + 2u].y = bytes_of(ivec4(whole[8].z, whole[8].w, whole[10].z, whole[10].w), digit);
        x[k][digit * 4u + 2u].z = bytes_of(ivec4(whole[9].x, whole[9].y, whole[11].x, whole[11].y), digit);
        x[k][digit * 4u + 2u].w = bytes_of(ivec4(whole[9].z, whole[9].w, whole[11].z, whole[11].w), digit);
        x[k][digit * 4u + 3u].x = bytes_of(ivec4(whole[12].x, whole[12].y, whole[14].x, whole[14].y), digit);
        x[k][digit * 4u + 3u].y = bytes_of(ivec4(whole[12].z, whole[12].w, whole[14].z, whole[14].w), digit);
        x[k][digit * 4u + 3u].z = bytes_of(ivec4(whole[13].x, whole[13].y, whole[15].x, whole[15].y), digit);
        x[k][digit * 4u + 3u].w = bytes_of(ivec4(whole[13].z, whole[13].w, whole[15].z, whole[15].w), digit);
    }
}

// Not that of the last block of all, from where loads of 16 bytes would go beyond the end.
void fetch(uint n, uint j, out uvec4 fours[4], out uint words[6]) {  // tile `j` of row `n`
    if (PADDED == 0u && n + 1u == rows && j + 2u >= row_tiles / 4u) {
        n = 0u;
        j = j % 2u;
    }
    const uint block = row_of_weights(n) * (row_tiles / 8u) + j / 2u, tile = j % 2u;
    uint base = block * 17u, begin = base + tile * 2u, window = begin / 4u;
    fours[0] = blocks_four[window], fours[1] = blocks_four[window + 1u], fours[2] = blocks_four[window + 2u];
    fours[3] = blocks_four[window + 3u], words[0] = blocks_word[base], words[1] = blocks_word[base + 4u], words[2] = blocks_word[base + 8u];
    words[3] = blocks_word[begin + 13u], words[4] = blocks_word[base + 12u], words[5] = blocks_word[begin + 14u];
}

// 16 bytes, as far as block `block` goes.
uvec4 blocks_to_end(uint at, uint block) {
    const uint end = (block + 1u) * 68u;
    uvec4 four = uvec4(0u);
    [[unroll]] for (uint i = 0u; i < 16u; ++i) {
        const uint word = at * 16u + i;
        if (word < end) four[i / 4u] |= uint(blocks[word]) << (i % 4u * 8u);
    }
    return four;
}

// Loads tile `j` of row `n` of the last block of all.
void fetch_last(uint n, uint j, out uvec4 fours[4], out uint words[6]) {
    const uint block = row_of_weights(n) * (row_tiles / 8u) + j / 2u, tile = j % 2u;
    uint base = block * 17u, begin = base + tile * 2u, window = begin / 4u;
    fours[0] = blocks_to_end(window, block), fours[1] = blocks_to_end(window + 1u, block), fours[2] = blocks_to_end(window + 2u, block);
    fours[3] = blocks_to_end(window + 3u, block), words[0] = blocks_word[base], words[1] = blocks_word[base + 4u];
    words[2] = blocks_word[base + 8u], words[3] = blocks_word[begin + 13u], words[4] = blocks_word[base + 12u];
    words[5] = blocks_word[begin + 14u];
}

void accumulate(uint n, uint j, uint k, uvec4 fours[4], uint words[6], inout float sum) {  // `sum` += tile `j` of row `n` * x
    const uint block = row_of_weights(n) * (row_tiles / 8u) + j / 2u, tile = j % 2u;
    uint base = block * 17u, begin = base + tile * 2u, e0 = words[0] & 0xFFu, e1 = (words[1] >> 8u) & 0xFFu, e2 = (words[2] >> 16u) & 0xFFu;
    uint e3 = words[4] >> 24u, qs0 = words[3], bytes0 = K_pairs(qs0), bytes1 = K_pairs(qs0 >> 16u), qs1 = words[5], bytes2 = K_pairs(qs1);
    uint bytes3 = K_pairs(qs1 >> 16u);
    float e_e_e0 = uintBitsToFloat(uint(int(e0) < 2 ? 2097152 << (int(e0) & 1) : ((int(e0) + 255) & 255) << 23));
    float e_e_e1 = uintBitsToFloat(uint(int(e1) < 2 ? 2097152 << (int(e1) & 1) : ((int(e1) + 255) & 255) << 23));
    float e_e_e2 = uintBitsToFloat(uint(int(e2) < 2 ? 2097152 << (int(e2) & 1) : ((int(e2) + 255) & 255) << 23));
    float e_e_e3 = uintBitsToFloat(uint(int(e3) < 2 ? 2097152 << (int(e3) & 1) : ((int(e3) + 255) & 255) << 23));
    bool odd = (begin & 1u) != 0u, upper = (begin & 2u) != 0u;
    uvec4 four0 = fours[0], four1 = fours[1], four2 = fours[2], four3 = fours[3];
    uint pick0 = upper ? four0.w : four0.y, pick1 = upper ? four0.z : four0.x, qs2 = odd ? pick0 : pick1, pick2 = upper ? four1.x : four0.z;
    uint qs3 = odd ? pick2 : pick0, qs_run0 = (qs2 >> 8u) | (qs3 << 24u), bytes4 = K_pairs(qs_run0), bytes5 = K_pairs(qs_run0 >> 16u);
    uint pick3 = upper ? four1.y : four0.w, qs4 = odd ? pick3 : pick2, qs_run1 = (qs3 >> 8u) | (qs4 << 24u), bytes6 = K_pairs(qs_run1);
    uint bytes7 = K_pairs(qs_run1 >> 16u), pick4 = upper ? four1.w : four1.y, pick5 = upper ? four1.z : four1.x, qs5 = odd ? pick4 : pick5;
    uint pick6 = upper ? four2.x : four1.z, qs6 = odd ? pick6 : pick4, qs_run2 = (qs5 >> 16u) | (qs6 << 16u), bytes8 = K_pairs(qs_run2);
    uint bytes9 = K_pairs(qs_run2 >> 16u), pick7 = upper ? four2.y : four1.w, qs7 = odd ? pick7 : pick6;
    uint qs_run3 = (qs6 >> 16u) | (qs7 << 16u), bytes10 = K_pairs(qs_run3), bytes11 = K_pairs(qs_run3 >> 16u);
    uint pick8 = upper ? four2.w : four2.y, pick9 = upper ? four2.z : four2.x, qs8 = odd ? pick8 : pick9;
    uint pick10 = upper ? four3.x : four2.z, qs9 = odd ? pick10 : pick8, qs_run4 = (qs8 >> 24u) | (qs9 << 8u), bytes12 = K_pairs(qs_run4);
    uint bytes13 = K_pairs(qs_run4 >> 16u), pick11 = upper ? four3.y : four2.w, qs10 = odd ? pick11 : pick10;
    uint qs_run5 = (qs9 >> 24u) | (qs10 << 8u), bytes14 = K_pairs(qs_run5), bytes15 = K_pairs(qs_run5 >> 16u);
    float dots0 = 0.0, dots1 = 0.0, dots2 = 0.0, dots3 = 0.0;
    [[unroll]] for (uint digit = 0; digit < DIGITS; ++digit) {
        dots0 = 256.0 * dots0 + float(dot16(0, uvec4(bytes4, bytes5, bytes6, bytes7), x[k][digit * 4u]));
        dots1 = 256.0 * dots1 + float(dot16(0, uvec4(bytes8, bytes9, bytes10, bytes11), x[k][digit * 4u + 1u]));
        dots2 = 256.0 * dots2 + float(dot16(0, uvec4(bytes12, bytes13, bytes14, bytes15), x[k][digit * 4u + 2u]));
        dots3 = 256.0 * dots3 + float(dot16(0, uvec4(bytes0, bytes1, bytes2, bytes3), x[k][digit * 4u + 3u]));
    }
    sum += e_e_e0 * (x_step(k, 0u) * dots0) + e_e_e1 * (x_step(k, 0u) * dots1) + e_e_e2 * (x_step(k, 1u) * dots2)
        + e_e_e3 * (x_step(k, 1u) * dots3);
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
    const uint runs = x_from(vector, row_tiles * 4u), runs_end = runs + (end + 1u) / 2u * 32u;
    for (staged_from = runs + begin / 2u * 32u; staged_from < runs_end; staged_from += STAGED) {
        const uint count = min(STAGED, runs_end - staged_from);
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < count; i += gl_WorkGroupSize.x) staged[i + i / 16u] = x_run(staged_from + i);
        barrier();
        if (j < end && runs + j / 2u * 32u - staged_from < STAGED) load_x(vector, j, m);
    }
}

// Adds up what subgroups left of that many rounds of rows, `step` apart, the last of which begins at row `first`; teams' rows do so
// at `end` at the latest. Lookups take longer in one subgroup than in another: they wait for each other once in some rounds.
void add_rounds(uint place, uint rounds, uint first, uint step, uint end) {
    const uint teams = gl_NumSubgroups / SPLIT;
    for (uint i = gl_LocalInvocationID.x; i < rounds * teams * SUMS; i += gl_WorkGroupSize.x) {
        const uint round = i / SUMS / teams, team = i / SUMS % teams, m = i % BATCH;
        const uint row = first - (rounds - 1u - round) * step + team * ROWS, to = min(row, end) + i % SUMS / BATCH;
        if (to < row || to >= rows || m >= batch) continue;
        float total = 0.0;
        const uint from = place + (round * gl_NumSubgroups + team * SPLIT) * SUMS + i % SUMS;
        [[unroll]] for (uint s = 0u; s < SPLIT; ++s) total += partial[from + s * SUMS];
        finish(m, to, total);
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
            // Of the last block of all, beyond which no load goes, the sum is made beforehand.
            const bool at_end = PADDED == 0u && row + ROWS >= end && j + 2u >= tiles;
            float sum_at_end[BATCH];
            if (at_end) {
                uvec4 last_fours[4]; uint last_words[6];
                fetch_last(end - 1u, j, last_fours, last_words);
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                    sum_at_end[m] = 0.0;
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum_at_end[m] += row + r + 1u == end ? sum[r * BATCH + m] : 0.0;
                    accumulate(end - 1u, j, m, last_fours, last_words, sum_at_end[m]);
                }
            }
            uvec4 fours[ROWS][4]; uint words[ROWS][6];
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, end - 1u), j, fours[r], words[r]);
            [[unroll]] for (uint r = 0u; r < ROWS; ++r)
                [[unroll]] for (uint m = 0u; m < BATCH; ++m)
                    accumulate(min(row + r, end - 1u), j, m, fours[r], words[r], sum[r * BATCH + m]);
            if (at_end) {
                [[unroll]] for (uint i = 0u; i < SUMS; ++i) sum[i] = row + i / BATCH + 1u == end ? sum_at_end[i % BATCH] : sum[i];
            }
        }
        float total = sum_of_lanes(sum, gl_SubgroupSize);
        const uint n = row + lane / BATCH, m = lane % BATCH;
        // Halves of the memory in turn: who is a row ahead does not write where others still read.
        const uint rounds = gl_SubgroupSize / 4u, round = turn % rounds, step = group_count() * teams * ROWS;
        const uint place = turn++ / rounds % 2u * gl_WorkGroupSize.x / 4u * SUMS;
        if (SPLIT > 1u) {
            if (lane < SUMS) partial[place + (round * gl_NumSubgroups + gl_SubgroupID) * SUMS + lane] = total;
            if (round + 1u < rounds && first + step < rows) continue;
            barrier();
            add_rounds(place, round + 1u, first, step, rows);
            continue;
        }
        if (lane >= SUMS || n >= rows || m >= batch) continue;
        finish(m, n, total);
    }
}

void main() {
    find_matrix();
    // Threads that are neighbours write to other banks.
    for (uint codes = gl_LocalInvocationID.x; codes < 256u; codes += gl_WorkGroupSize.x) {
        const uint two = (uint(K[codes & 15u]) & 0xFFu) | ((uint(K[codes >> 4u]) & 0xFFu) << 16u);
        for (uint i = 0u; i < COPIES; ++i) K_of_two[codes * COPIES + (codes + i) % COPIES] = two;
    }
    barrier();
    // Dispatch launches nothing else; but a compiler may choose better for a walk that may not be taken.
    if (gl_SubgroupSize >= SUMS && gl_NumSubgroups >= SPLIT && row_tiles > 0u) walk();
}
