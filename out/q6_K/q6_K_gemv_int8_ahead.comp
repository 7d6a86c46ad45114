// q6_K_gemv_int8_ahead: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format q6_K`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 210 bytes for 256 elements, 6.562 bits each.
// For each weight 0.82 bytes read, 3.5 operations: 0.344 loads, 1.61 bits, 1.39 integer, 0.0938 float, 0.0625 conversions.
//     format q6_K "6-bit codes around 32, signed 8-bit scales in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 256 {
//         ql:     u8[128]
//         qh:     u8[64]
//         scales: i8[16]
//         d:      f16
//     }
//     code sc: i8 per 16 = scales { 8 @ 0 (16:8) }
//     code q = ql { 4 @ 0 (64:8, 2:4, 2:512) }         # low four bits
//              qh { 2 @ 0 (32:8, 4:2, 2:256) }         # high two bits
//     value = d * sc * (q - 32)
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides, of each of which a thread keeps its part
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row: all of its slices
layout(constant_id = 14) const uint LANES = 32;  // of a subgroup
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say
layout(constant_id = 46) const uint NORM = 0;  // of x that is normed: bits of epsilon
layout(constant_id = 4) const uint DIGITS = 1;  // bytes of each x: class int8 has 1, split 2, int24 3
const uint SUMS = ROWS * BATCH;  // at once: at most as many as a subgroup has lanes
const uint SQUARES = gl_WorkGroupSize.x / 4u * SUMS * 2u;  // where those of squares of x begin: a second array costs time, even without use
shared float partial[SQUARES + (NORM == 0u ? 0u : gl_WorkGroupSize.x / 4u * BATCH)];

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 0, std430) readonly buffer Blocks_wordBuffer { uint blocks_word[]; };
layout(binding = 0, std430) readonly buffer Blocks_fourBuffer { uvec4 blocks_four[]; };
layout(binding = 1, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 1, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 3, std430) readonly buffer NormWeights { vec4 norm_weights[]; };
layout(binding = 2, std430) buffer Output { float y[]; };
layout(binding = 2, std430) buffer OutputHalves { uint16_t y_halves[]; };
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
uvec4 x[BATCH][DIGITS * 6u + 1u];
uint kept_word(uint k, uint i) { return x[k][i / 4u][i % 4u]; }
void keep_word(uint k, uint i, uint word) { x[k][i / 4u][i % 4u] = word; }
float x_step(uint k, uint i) { return uintBitsToFloat(kept_word(k, DIGITS * 16u + i)); }  // that integers stand for
int x_digits(uint k, uint digit, uint i) { return int(kept_word(k, DIGITS * 16u + 2u + digit * 8u + i)); }  // of them, one digit
const float LARGEST = DIGITS == 1u ? 127.0 : DIGITS == 2u ? 32639.0 : 8355708.0;  // that digits hold, less what rounding may add
float scale_of(vec4 most, vec4 all) {  // `most`: the largest magnitudes. What is not finite makes the step NaN
    const float largest = max(max(most.x, most.y), max(most.z, most.w));
    return any(isnan(all)) || isinf(largest) ? uintBitsToFloat(0x7FC00000u) : min(LARGEST / max(largest, 1e-37), 0.5e38);
}
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int signed_dot(uint codes, uint x, spirv_literal int packed);
int dot4(uint codes, uint x) { return signed_dot(codes, x, 0); }  // OpSDot of four bytes in a word each

// The nearest integers plus BIAS; digits below the highest have the sign bit turned over. Floats round where their last bit stands for 1.
const int BIAS = DIGITS == 3u ? 0x8080 : DIGITS == 2u ? 0x4B400080 : 0x4B400000;
ivec4 integers(vec4 v) { return DIGITS == 3u ? ivec4(roundEven(v)) + BIAS : floatBitsToInt(v + intBitsToFloat(BIAS)); }
uint bytes_of(ivec4 v, uint digit) {  // two share a word, so that most is done once for two digits
    const uint place = DIGITS - 1u - digit;
    const ivec4 halves = v >> (place / 2u * 16u);
    const ivec2 pairs = (halves.xy & 0xFFFF) | (halves.zw << 16), bytes = (pairs >> (place % 2u * 8u)) & 0x00FF00FF;
    return uint(bytes.x | (bytes.y << 8)) ^ (digit == 0u ? 0u : 0x80808080u);
}

int sum_of_bytes(uint bytes) { return dot4(bytes, 0x01010101u); }

void load_x(uint vector, uint j, uint k) {  // what tile `j` of a row meets of right-hand side `vector`
    const uint tile = j % 8u, place = j / 8u * 128u + tile / 4u * 32u + tile % 4u * 2u,
        from = x_from(min(vector, batch - 1u), row_tiles * 4u) + place;
    vec4 run[16], most[2], all[2];
    [[unroll]] for (uint r = 0u; r < 16u; ++r) run[r] = x_run(from + r % 2u + r / 2u % 4u * 8u + r / 8u * 64u);
    [[unroll]] for (uint s = 0u; s < 2u; ++s) most[s] = all[s] = vec4(0.0);
    [[unroll]] for (uint r = 0u; r < 16u; ++r) most[r / 8u] = max(most[r / 8u], abs(run[r])), all[r / 8u] += run[r];
    ivec4 whole[16];
    [[unroll]] for (uint s = 0u; s < 2u; ++s) {
        const float scale = scale_of(most[s], all[s]), step = 1.0 / scale;
        [[unroll]] for (uint r = 0u; r < 8u; ++r) whole[8u * s + r] = integers(run[8u * s + r] * scale);
        keep_word(k, DIGITS * 16u + s, floatBitsToUint(step));
    }
    [[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit) {
        [[unroll]] for (uint r = 0u; r < 16u; ++r) x[k][digit * 4u + r / 4u][r % 4u] = bytes_of(whole[r], digit);
        [[unroll]] for (uint i = 0u; i < 8u; ++i)
            keep_word(k, DIGITS * 16u + digit * 8u + 2u + i,
            uint(sum_of_bytes(x[k][digit * 4u + i / 2u][i % 2u * 2u]) + sum_of_bytes(x[k][digit * 4u + i / 2u][i % 2u * 2u + 1u])));
    }
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

// A subgroup keeps a slice of x, a tile of each right-hand side in each lane. Rows of that slice are loaded side by side, 16 bytes a
// thread, while those before them, which lie in memory that the subgroup has for itself, are multiplied.
const uint SLICE_WORDS = LANES / 8u * 105u, SLICE_FOURS = (SLICE_WORDS + 3u) / 4u + uint(SLICE_WORDS % 4u != 0u);
const uint LOADS = (ROWS * SLICE_FOURS + LANES - 1u) / LANES;  // of a thread
shared uint held[gl_WorkGroupSize.x * LOADS * 4u];
void hold_four(uint at, uvec4 four) { held[at] = four.x, held[at + 1u] = four.y, held[at + 2u] = four.z, held[at + 3u] = four.w; }

void take(uint at, uint j, out uint words[22]) {  // tile `j` of a slice, which lies from word `at` on
    uint block = j / 8u, tile = j % 8u, base = block * 105u, part = tile / 4u;  // part: of 128 elements
    words[0] = held[at + base + 52u], words[1] = held[at + base + part * 2u + 48u];
    words[2] = held[at + base + part * 16u + tile % 4u * 2u], words[3] = held[at + base + tile * 2u + 32u];
    words[4] = held[at + base + part * 16u + tile % 4u * 2u + 1u], words[5] = held[at + base + tile * 2u + 33u];
    words[6] = held[at + base + part * 16u + tile % 4u * 2u + 8u], words[7] = held[at + base + part * 16u + tile % 4u * 2u + 9u];
    words[8] = held[at + base + part * 2u + 49u], words[9] = held[at + base + 104u], words[10] = held[at + base + part * 2u + 100u];
    words[11] = held[at + base + part * 16u + tile % 4u * 2u + 52u], words[12] = held[at + base + part * 16u + tile % 4u * 2u + 53u];
    words[13] = held[at + base + tile * 2u + 84u], words[14] = held[at + base + tile * 2u + 85u];
    words[15] = held[at + base + part * 16u + tile % 4u * 2u + 54u], words[16] = held[at + base + tile * 2u + 86u];
    words[17] = held[at + base + part * 2u + 101u], words[18] = held[at + base + part * 16u + tile % 4u * 2u + 60u];
    words[19] = held[at + base + part * 16u + tile % 4u * 2u + 61u], words[20] = held[at + base + part * 16u + tile % 4u * 2u + 62u];
    words[21] = held[at + base + part * 2u + 102u];
}

void accumulate(uint j, uint k, uint words[22], inout float sum) {  // `sum` += tile `j` * x
    uint tile = j % 8u, shift = tile % 4u / 2u * 8u;
    float d0 = unpackHalf2x16(words[0]).x, d1 = unpackHalf2x16(words[9] >> 16u).x;
    uint scales0 = words[1], ql0 = words[2], qh0 = words[3], bytes0 = (ql0 & 0xF0F0F0Fu) | ((qh0 & 0x3030303u) << 4u), ql1 = words[4];
    uint qh1 = words[5], bytes1 = (ql1 & 0xF0F0F0Fu) | ((qh1 & 0x3030303u) << 4u), ql2 = words[6];
    uint bytes2 = (ql2 & 0xF0F0F0Fu) | ((qh0 << 2u) & 0x30303030u), ql3 = words[7];
    uint bytes3 = (ql3 & 0xF0F0F0Fu) | ((qh1 << 2u) & 0x30303030u), scales1 = words[8];
    uint bytes4 = ((ql0 >> 4u) & 0xF0F0F0Fu) | (qh0 & 0x30303030u), bytes5 = ((ql1 >> 4u) & 0xF0F0F0Fu) | (qh1 & 0x30303030u);
    uint bytes6 = ((ql2 >> 4u) & 0xF0F0F0Fu) | ((qh0 >> 2u) & 0x30303030u);
    uint bytes7 = ((ql3 >> 4u) & 0xF0F0F0Fu) | ((qh1 >> 2u) & 0x30303030u), scales2 = words[10], ql4 = words[11], ql5 = words[12];
    uint ql_run0 = (ql4 >> 16u) | (ql5 << 16u), qh2 = words[13], qh3 = words[14], qh_run0 = (qh2 >> 16u) | (qh3 << 16u);
    uint bytes8 = (ql_run0 & 0xF0F0F0Fu) | ((qh_run0 & 0x3030303u) << 4u), ql6 = words[15], ql_run1 = (ql5 >> 16u) | (ql6 << 16u);
    uint qh4 = words[16], qh_run1 = (qh3 >> 16u) | (qh4 << 16u), bytes9 = (ql_run1 & 0xF0F0F0Fu) | ((qh_run1 & 0x3030303u) << 4u);
    uint scales3 = words[17], ql7 = words[18], ql8 = words[19], ql_run2 = (ql7 >> 16u) | (ql8 << 16u);
    uint bytes10 = (ql_run2 & 0xF0F0F0Fu) | ((qh_run0 << 2u) & 0x30303030u), ql9 = words[20], ql_run3 = (ql8 >> 16u) | (ql9 << 16u);
    uint bytes11 = (ql_run3 & 0xF0F0F0Fu) | ((qh_run1 << 2u) & 0x30303030u);
    uint bytes12 = ((ql_run0 >> 4u) & 0xF0F0F0Fu) | (qh_run0 & 0x30303030u);
    uint bytes13 = ((ql_run1 >> 4u) & 0xF0F0F0Fu) | (qh_run1 & 0x30303030u), scales4 = words[21];
    uint bytes14 = ((ql_run2 >> 4u) & 0xF0F0F0Fu) | ((qh_run0 >> 2u) & 0x30303030u);
    uint bytes15 = ((ql_run3 >> 4u) & 0xF0F0F0Fu) | ((qh_run1 >> 2u) & 0x30303030u);
    int sc0 = bitfieldExtract(int(scales0 >> shift), 0, 8), sc1 = bitfieldExtract(int(scales0 >> (shift + 16u)), 0, 8);  // scales: 8 bits
    int sc2 = bitfieldExtract(int(scales1 >> shift), 0, 8), sc3 = bitfieldExtract(int(scales1 >> (shift + 16u)), 0, 8);  // scales: 8 bits
    int sc4 = bitfieldExtract(int(scales2 >> (shift + 16u)), 0, 8), sc5 = bitfieldExtract(int(scales3 >> shift), 0, 8);  // scales: 8 bits
    int sc6 = bitfieldExtract(int(scales3 >> (shift + 16u)), 0, 8), sc7 = bitfieldExtract(int(scales4 >> shift), 0, 8);  // scales: 8 bits
    float dots0 = 0.0, dots1 = 0.0;
    [[unroll]] for (uint digit = 0; digit < DIGITS; ++digit) {
        dots0 = 256.0 * dots0 + float(sc0 * (dot4(bytes0, x[k][digit * 4u].x) + dot4(bytes1, x[k][digit * 4u].y)
            - 32 * x_digits(k, digit, 0u)) + sc1 * (dot4(bytes2, x[k][digit * 4u].z) + dot4(bytes3, x[k][digit * 4u].w)
            - 32 * x_digits(k, digit, 1u)) + sc2 * (dot4(bytes4, x[k][digit * 4u + 1u].x) + dot4(bytes5, x[k][digit * 4u + 1u].y)
            - 32 * x_digits(k, digit, 2u)) + sc3 * (dot4(bytes6, x[k][digit * 4u + 1u].z) + dot4(bytes7, x[k][digit * 4u + 1u].w)
            - 32 * x_digits(k, digit, 3u)));
        dots1 = 256.0 * dots1 + float(sc4 * (dot4(bytes8, x[k][digit * 4u + 2u].x) + dot4(bytes9, x[k][digit * 4u + 2u].y)
            - 32 * x_digits(k, digit, 4u)) + sc5 * (dot4(bytes10, x[k][digit * 4u + 2u].z) + dot4(bytes11, x[k][digit * 4u + 2u].w)
            - 32 * x_digits(k, digit, 5u)) + sc6 * (dot4(bytes12, x[k][digit * 4u + 3u].x) + dot4(bytes13, x[k][digit * 4u + 3u].y)
            - 32 * x_digits(k, digit, 6u)) + sc7 * (dot4(bytes14, x[k][digit * 4u + 3u].z) + dot4(bytes15, x[k][digit * 4u + 3u].w)
            - 32 * x_digits(k, digit, 7u)));
    }
    sum += d0 * (x_step(k, 0u) * dots0) + d1 * (x_step(k, 1u) * dots1);
}

void load_ahead(uint from, uint place[LOADS], out uvec4 ahead[LOADS]) {
    [[unroll]] for (uint i = 0u; i < LOADS; ++i) ahead[i] = blocks_four[from + place[i]];
}

void main() {
    find_matrix();
    const uint teams = gl_WorkGroupSize.x / LANES / SPLIT, team = gl_SubgroupID / SPLIT, step = group_count() * teams * ROWS;
    const uint lane = gl_SubgroupInvocationID, slice = gl_SubgroupID % SPLIT, j = slice * LANES + lane, last = max(rows, ROWS) - ROWS;
    const uint tiles = row_tiles / 4u, row_fours = tiles / 8u * 105u / 4u;
    const uint own = gl_SubgroupID * LOADS * LANES, phase = slice * SLICE_WORDS % 4u;
    uint place[LOADS];  // of loads, from a row on
    [[unroll]] for (uint i = 0u; i < LOADS; ++i) {
        const uint load = i * LANES + lane, r = load / SLICE_FOURS, four = slice * SLICE_WORDS / 4u + load % SLICE_FOURS;
        place[i] = r < ROWS && four < row_fours ? row_within(min(r, rows - 1u)) * row_fours + four : 0u;
    }
    uvec4 ahead[LOADS];
    uint first = group_number() * teams * ROWS, turn = 0u;
    load_ahead(row_of_weights(min(first + team * ROWS, last)) * row_fours, place, ahead);
    if (NORM != 0u) add_squares();
    [[unroll]] for (uint m = 0u; m < BATCH; ++m) load_x(m, min(j, tiles - 1u), m);
    [[dont_unroll]] for (; first < rows; first += step) {
        subgroupBarrier();
        [[unroll]] for (uint i = 0u; i < LOADS; ++i) hold_four((own + i * LANES + lane) * 4u, ahead[i]);
        subgroupBarrier();
        const uint next = first + step, row = first + team * ROWS;
        if (next < rows) load_ahead(row_of_weights(min(next + team * ROWS, last)) * row_fours, place, ahead);
        float sum[SUMS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            uint words[22];
            take((own + r * SLICE_FOURS) * 4u + phase, lane, words);
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                sum[r * BATCH + m] = 0.0;
                accumulate(lane, m, words, sum[r * BATCH + m]);
                if (j >= tiles) sum[r * BATCH + m] = 0.0;
            }
        }
        const float all = sum_of_lanes(sum, LANES);
        const uint to = min(row, last) + lane / BATCH, m = lane % BATCH;
        if (SPLIT == 1u) {
            if (lane < SUMS && to >= row && to < rows && m < batch) finish(m, to, all);
            continue;
        }
        // Halves of the memory in turn: who is a row ahead does not write where others still read.
        const uint place_of_sums = turn++ % 2u * gl_NumSubgroups * SUMS;
        if (lane < SUMS) partial[place_of_sums + gl_SubgroupID * SUMS + lane] = all;
        barrier();
        if (slice == 0u && lane < SUMS && to >= row && to < rows && m < batch) {
            float total = 0.0;
            [[unroll]] for (uint s = 0u; s < SPLIT; ++s) total += partial[place_of_sums + (gl_SubgroupID + s) * SUMS + lane];
            finish(m, to, total);
        }
    }
}
