// iq1_m_gemv_id_int8_wide: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k].
// Generated from the specification below by `qkgen emit --format iq1_m`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 56 bytes for 256 elements, 1.75 bits each.
// For each weight 0.219 bytes read, 3.46 operations: 0.0547 loads, 1.5 bits, 0.984 integer, 0.695 float, 0.102 conversions, 0.125 lookups.
//     format iq1_m "eights from a ternary codebook of 2048, shifted by an eighth, 3-bit scales in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 256 {
//         qs:     u8[32]
//         qh:     u8[16]
//         scales: u16[4]
//     }
//     code g  per 8  = qs { 8 @ 0 (32:8) } qh { 3 @ 0 (32:4) }
//     code sg per 8  = qh { 1 @ 3 (32:4) }
//     code sc per 16 = scales { 3 @ 0 (4:3, 4:16) }
//     code d: f16 per 256 = scales { 4 @ 12   4 @ 28   4 @ 44   4 @ 60 }    # spread over the top of four words
//     table G: i8[2048][8] = file "iq1s_grid.bin"
//     value = d * (2 * sc + 1) * (G[g][i % 8] + (sg ? -0.125 : 0.125))
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_spirv_intrinsics : require
layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time, at most as many as a subgroup has lanes
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say
layout(constant_id = 11) const uint PADDED = 0;  // 1: behind the weights are 32 bytes or more, which may be read
layout(constant_id = 7) const uint STAGED = 1;  // runs of x that a workgroup loads together, where there are few rows; 1: none
layout(constant_id = 15) const uint COPIES = 1;  // of tables, for threads that are neighbours; 1: none
layout(constant_id = 4) const uint DIGITS = 1;  // bytes of each x: class int8 has 1, split 2, int24 3

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 9, std430) readonly buffer GTable { uint G[]; };  // 2048 rows of 8: i8 from -1 on, in 4 bits each
layout(binding = 0, std430) readonly buffer Blocks_fourBuffer { uvec4 blocks_four[]; };
layout(binding = 2, std430) readonly buffer Ids { uint ids[]; };
layout(binding = 3, std430) buffer Status { uint out_of_range; };
layout(binding = 1, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 1, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 4, std430) buffer Output { float y[]; };
layout(binding = 4, std430) buffer OutputHalves { uint y_halves[]; };
layout(binding = 5, std430) readonly buffer ResultScale { float result_scale[]; };
layout(binding = 6, std430) readonly buffer RowBias { float row_bias[]; };
layout(binding = 7, std430) readonly buffer ResultGate { float result_gate[]; };
layout(binding = 8, std430) readonly buffer Residual { float residual[]; };
layout(push_constant) uniform Push {
    uint rows, row_tiles, batch, slots;  // of one expert; tiles of 16 elements in a row; tokens; experts of each
    uint x_slots;  // right-hand sides of each token: one for all of its slots, or one for each
    uint experts, expert_first, expert_end, epilogue;  // all there are; those that are bound in this launch
    uint weights_inner;  // of VIEWS: rows from an expert to the next
    uint x_first, x_stride, x_inner;  // elements; to the next slot's x, and the next token's
    uint y_skip, y_stride, y_inner;  // in y alone; then as of x
    uint ids_skip, ids_inner;  // and to the next token's ids
    uint sets, set_first;  // of experts with the same ids and x: those of this launch
    uint weights_first, weights_outer, y_outer;  // rows before them, and to the next set
};
// Pairs are counted through all sets; of this one is that at hand.
uint set = 0u, weights_begin = 0u;
uint pair_of(uint n) {
    if (VIEWS == 0u) return n;
    const uint pairs = batch * slots, before = n / pairs;
    set = set_first + before, weights_begin = weights_first + before * weights_outer;
    return n % pairs;
}

// Where a row lies, counted from the first of an expert that is bound.
uint row_of_weights(uint n) { return VIEWS == 2u ? n / 2u + n % 2u * weights_outer : n; }
uint row_of_expert(uint n) { return VIEWS == 0u ? n * rows : (weights_begin + n * weights_inner) * (VIEWS == 2u ? 2u : 1u); }

// Where the x of a token, or of one of its slots, begins, in runs.
uint x_from(uint vector, uint row_runs) {
    return VIEWS == 0u ? vector * row_runs : (x_first + vector / x_slots * x_inner + vector % x_slots * x_stride) / 4u;
}
uint id_of(uint pair) { return VIEWS == 0u ? pair : ids_skip + pair / slots * ids_inner + pair % slots; }  // among the ids
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

// What all rows of a pair are multiplied with, unless each has a scale of its own.
float scale_of_pair(uint pair, uint expert) {
    const uint does = EPILOGUE & epilogue;
    if ((does & SCALES) == 0u || (does & SCALES_ROWS) != 0u || expert >= experts) return 1.0;
    return result_scale[(does & SCALES_VECTORS) != 0u ? set * batch * slots + pair : set * experts + expert];
}

// Row `n` of a token's expert is done. An expert that is not there has zeros, to which no more is added than what stands there.
void finish(uint pair, uint expert, uint n, float sum, float scale) {
    if (VIEWS == 2u) {  // of rows in turn: that of the gate, number y_outer, has silu(gate) * the other
        const float other = subgroupShuffleXor(sum, 1u);
        if (n % 2u != y_outer) return;
        sum = sum / (1.0 + exp(-sum)) * other, n /= 2u;
    }
    const uint at = VIEWS == 0u ? pair * rows + n : set * y_outer + pair / slots * y_inner + pair % slots * y_stride + n;
    const uint row = (set * experts + expert) * rows + n, all = EPILOGUE & epilogue;
    if (all != 0u) {
        const uint does = expert < experts ? all : all & (ADDS_TO_Y | ADDS_RESIDUAL);
        if ((does & SCALES) != 0u) sum *= (does & SCALES_ROWS) != 0u ? result_scale[row] : scale;
        if ((does & ADDS_BIAS) != 0u) sum += row_bias[row];
        if ((does & ADDS_TO_Y) != 0u) sum += y_before(at + y_skip);
        if ((does & GATES) != 0u) sum *= result_gate[at] / (1.0 + exp(-result_gate[at]));  // silu
        if ((does & ADDS_RESIDUAL) != 0u) sum += residual[at];
    }
    store_y(at + y_skip, sum);
}

const uint TILES = 1u, BATCH = 1u, SUMS = ROWS;
shared float partial[gl_WorkGroupSize.x / 4u * ROWS * 2u];

// Kept of x: of each digit, the highest first, signed bytes of four elements in a word; then steps of the integers, and sums of runs.
uvec4 x[TILES][DIGITS * 10u + 5u];
uint kept_word(uint k, uint i) { return x[k][i / 4u][i % 4u]; }
void keep_word(uint k, uint i, uint word) { x[k][i / 4u][i % 4u] = word; }
float x_step(uint k, uint i) { return uintBitsToFloat(kept_word(k, DIGITS * 32u + i)); }  // that integers stand for
float x_sum(uint k, uint i) { return uintBitsToFloat(kept_word(k, DIGITS * 32u + 4u + i)); }  // over runs that share a scale
int x_digits(uint k, uint digit, uint i) { return int(kept_word(k, DIGITS * 32u + 20u + digit * 8u + i)); }  // of them, one digit
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
int sum_of(ivec4 v) { return v.x + v.y + v.z + v.w; }
uint bytes_of(ivec4 v, uint digit) {  // two share a word, so that most is done once for two digits
    const uint place = DIGITS - 1u - digit;
    const ivec4 halves = v >> (place / 2u * 16u);
    const ivec2 pairs = (halves.xy & 0xFFFF) | (halves.zw << 16), bytes = (pairs >> (place % 2u * 8u)) & 0x00FF00FF;
    return uint(bytes.x | (bytes.y << 8)) ^ (digit == 0u ? 0u : 0x80808080u);
}

int sum_of_bytes(uint bytes) { return dot4(bytes, 0x01010101u); }

// Runs of x on their way to threads, from run `staged_from` on, with gaps: neighbours take the same run of tiles that are neighbours.
shared vec4 staged[STAGED == 1u ? 1u : STAGED + STAGED / 32u];
uint staged_from = 0u;
vec4 staged_x(uint at) { return staged[at - staged_from + (at - staged_from) / 32u]; }

shared uint G_copies[COPIES == 1u ? 1u : 2048u * COPIES];

// A word of G, from the thread's copy.
uint G_at(uint i) {
    const uint copy = gl_LocalInvocationID.x % COPIES;
    if (COPIES == 1u) return G[i];
    return G_copies[i * COPIES + copy];
}

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
    const uint tile = j % 2u, place = j / 2u * 64u + tile * 32u, from = x_from(min(vector, (batch * x_slots) - 1u), row_tiles * 4u) + place;
    vec4 run[32], most[4], all[4];
    [[unroll]] for (uint r = 0u; r < 32u && STAGED > 1u; ++r) run[r] = staged_x(from + r);
    [[unroll]] for (uint r = 0u; r < 32u && STAGED == 1u; r += 4u) load_runs(from + r, run[r], run[r + 1u], run[r + 2u], run[r + 3u]);
    [[unroll]] for (uint s = 0u; s < 4u; ++s) most[s] = all[s] = vec4(0.0);
    [[unroll]] for (uint r = 0u; r < 32u; ++r) most[r / 8u] = max(most[r / 8u], abs(run[r])), all[r / 8u] += run[r];
    if (DIGITS > 1u) {
        [[unroll]] for (uint s = 1u; s < 4u; ++s) most[0] = max(most[0], most[s]), all[0] += all[s];
        [[unroll]] for (uint s = 1u; s < 4u; ++s) most[s] = most[0], all[s] = all[0];
    }
    ivec4 whole[32];
    [[unroll]] for (uint s = 0u; s < 4u; ++s) {
        const float scale = scale_of(most[s], all[s]), step = 1.0 / scale;
        [[unroll]] for (uint r = 0u; r < 8u; ++r) whole[8u * s + r] = integers(run[8u * s + r] * scale);
        keep_word(k, DIGITS * 32u + s, floatBitsToUint(step));
    }
    [[unroll]] for (uint i = 0u; i < 16u; ++i) {
        const ivec4 sum = whole[2u * i] + whole[2u * i + 1u];
        keep_word(k, DIGITS * 32u + 4u + i, floatBitsToUint(x_step(k, i / 4u) * float(sum_of(sum) - 8 * BIAS)));
    }
    [[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit) {
        x[k][digit * 8u].x = bytes_of(ivec4(whole[0].x, whole[0].z, whole[1].x, whole[1].z), digit);
        x[k][digit * 8u].y = bytes_of(ivec4(whole[0].y, whole[0].w, whole[1].y, whole[1].w), digit);
        x[k][digit * 8u].z = bytes_of(ivec4(whole[2].x, whole[2].z, whole[3].x, whole[3].z), digit);
        x[k][digit * 8u].w = bytes_of(ivec4(whole[2].y, whole[2].w, whole[3].y, whole[3].w), digit);
        x[k][digit * 8u + 1u].x = bytes_of(ivec4(whole[4].x, whole[4].z, whole[5].x, whole[5].z), digit);
        x[k][digit * 8u + 1u].y = bytes_of(ivec4(whole[4].y, whole[4].w, whole[5].y, whole[5].w), digit);
        x[k][digit * 8u + 1u].z = bytes_of(ivec4(whole[6].x, whole[6].z, whole[7].x, whole[7].z), digit);
        x[k][digit * 8u + 1u].w = bytes_of(ivec4(whole[6].y, whole[6].w, whole[7].y, whole[7].w), digit);
        x[k][digit * 8u + 2u].x = bytes_of(ivec4(whole[8].x, whole[8].z, whole[9].x, whole[9].z), digit);
        x[k][digit * 8u + 2u].y = bytes_of(ivec4(whole[8].y, whole[8].w, whole[9].y, whole[9].w), digit);
        x[k][digit * 8u + 2u].z = bytes_of(ivec4(whole[10].x, whole[10].z, whole[11].x, whole[11].z), digit);
        x[k][digit * 8u + 2u].w = bytes_of(ivec4(whole[10].y, whole[10].w, whole[11].y, whole[11].w), digit);
        x[k][digit * 8u + 3u].x = bytes_of(ivec4(whole[12].x, whole[12].z, whole[13].x, whole[13].z), digit);
        x[k][digit * 8u + 3u].y = bytes_of(ivec4(whole[12].y, whole[12].w, whole[13].y, whole[13].w), digit);
        x[k][digit * 8u + 3u].z = bytes_of(ivec4(whole[14].x, whole[14].z, whole[15].x, whole[15].z), digit);
        x[k][digit * 8u + 3u].w = bytes_of(ivec4(whole[14].y, whole[14].w, whole[15].y, whole[15].w), digit);
        x[k][digit * 8u + 4u].x = bytes_of(ivec4(whole[16].x, whole[16].z, whole[17].x, whole[17].z), digit);
        x[k][digit * 8u + 4u].y = bytes_of(ivec4(whole[16].y, whole[16].w, whole[17].y, whole[17].w), digit);
        x[k][digit * 8u + 4u].z = bytes_of(ivec4(whole[18].x, whole[18].z, whole[19].x, whole[19].z), digit);
        x[k][digit * 8u + 4u].w = bytes_of(ivec4(whole[18].y, whole[18].w, whole[19].y, whole[19].w), digit);
        x[k][digit * 8u + 5u].x = bytes_of(ivec4(whole[20].x, whole[20].z, whole[21].x, whole[21].z), digit);
        x[k][digit * 8u + 5u].y = bytes_of(ivec4(whole[20].y, whole[20].w, whole[21].y, whole[21].w), digit);
        x[k][digit * 8u + 5u].z = bytes_of(ivec4(whole[22].x, whole[22].z, whole[23].x, whole[23].z), digit);
        x[k][digit * 8u + 5u].w = bytes_of(ivec4(whole[22].y, whole[22].w, whole[23].y, whole[23].w), digit);
        x[k][digit * 8u + 6u].x = bytes_of(ivec4(whole[24].x, whole[24].z, whole[25].x, whole[25].z), digit);
        x[k][digit * 8u + 6u].y = bytes_of(ivec4(whole[24].y, whole[24].w, whole[25].y, whole[25].w), digit);
        x[k][digit * 8u + 6u].z = bytes_of(ivec4(whole[26].x, whole[26].z, whole[27].x, whole[27].z), digit);
        x[k][digit * 8u + 6u].w = bytes_of(ivec4(whole[26].y, whole[26].w, whole[27].y, whole[27].w), digit);
        x[k][digit * 8u + 7u].x = bytes_of(ivec4(whole[28].x, whole[28].z, whole[29].x, whole[29].z), digit);
        x[k][digit * 8u + 7u].y = bytes_of(ivec4(whole[28].y, whole[28].w, whole[29].y, whole[29].w), digit);
        x[k][digit * 8u + 7u].z = bytes_of(ivec4(whole[30].x, whole[30].z, whole[31].x, whole[31].z), digit);
        x[k][digit * 8u + 7u].w = bytes_of(ivec4(whole[30].y, whole[30].w, whole[31].y, whole[31].w), digit);
        keep_word(k, DIGITS * 32u + digit * 8u + 20u,
            uint(sum_of_bytes(x[k][digit * 8u].x) + sum_of_bytes(x[k][digit * 8u].y) + sum_of_bytes(x[k][digit * 8u].z)
            + sum_of_bytes(x[k][digit * 8u].w)));
        keep_word(k, DIGITS * 32u + digit * 8u + 21u,
            uint(sum_of_bytes(x[k][digit * 8u + 1u].x) + sum_of_bytes(x[k][digit * 8u + 1u].y) + sum_of_bytes(x[k][digit * 8u + 1u].z)
            + sum_of_bytes(x[k][digit * 8u + 1u].w)));
        keep_word(k, DIGITS * 32u + digit * 8u + 22u,
            uint(sum_of_bytes(x[k][digit * 8u + 2u].x) + sum_of_bytes(x[k][digit * 8u + 2u].y) + sum_of_bytes(x[k][digit * 8u + 2u].z)
            + sum_of_bytes(x[k][digit * 8u + 2u].w)));
        keep_word(k, DIGITS * 32u + digit * 8u + 23u,
            uint(sum_of_bytes(x[k][digit * 8u + 3u].x) + sum_of_bytes(x[k][digit * 8u + 3u].y) + sum_of_bytes(x[k][digit * 8u + 3u].z)
            + sum_of_bytes(x[k][digit * 8u + 3u].w)));
        keep_word(k, DIGITS * 32u + digit * 8u + 24u,
            uint(sum_of_bytes(x[k][digit * 8u + 4u].x) + sum_of_bytes(x[k][digit * 8u + 4u].y) + sum_of_bytes(x[k][digit * 8u + 4u].z)
            + sum_of_bytes(x[k][digit * 8u + 4u].w)));
        keep_word(k, DIGITS * 32u + digit * 8u + 25u,
            uint(sum_of_bytes(x[k][digit * 8u + 5u].x) + sum_of_bytes(x[k][digit * 8u + 5u].y) + sum_of_bytes(x[k][digit * 8u + 5u].z)
            + sum_of_bytes(x[k][digit * 8u + 5u].w)));
        keep_word(k, DIGITS * 32u + digit * 8u + 26u,
            uint(sum_of_bytes(x[k][digit * 8u + 6u].x) + sum_of_bytes(x[k][digit * 8u + 6u].y) + sum_of_bytes(x[k][digit * 8u + 6u].z)
            + sum_of_bytes(x[k][digit * 8u + 6u].w)));
        keep_word(k, DIGITS * 32u + digit * 8u + 27u,
            uint(sum_of_bytes(x[k][digit * 8u + 7u].x) + sum_of_bytes(x[k][digit * 8u + 7u].y) + sum_of_bytes(x[k][digit * 8u + 7u].z)
            + sum_of_bytes(x[k][digit * 8u + 7u].w)));
    }
}

// Not that of the last block of all, from where loads of 16 bytes would go beyond the end.
void fetch(uint n, uint j, out uvec4 fours[2], out uint words[5]) {  // tile `j` of row `n`
    if (PADDED == 0u && n + 1u == row_of_expert(expert_end - expert_first - 1u) + rows && j + 2u >= row_tiles / 8u) {
        n = 0u;
        j = j % 2u;
    }
    const uint block = row_of_weights(n) * (row_tiles / 16u) + j / 2u, tile = j % 2u;
    uint base = block * 14u, begin = base + tile * 4u, window = begin / 4u;
    fours[0] = blocks_four[window], fours[1] = blocks_four[window + 1u], words[0] = blocks[base + 12u], words[1] = blocks[base + 13u];
    words[2] = blocks[base + tile + 12u], words[3] = blocks[base + tile * 2u + 8u], words[4] = blocks[base + tile * 2u + 9u];
}

// 16 bytes, as far as block `block` goes.
uvec4 blocks_to_end(uint at, uint block) {
    const uint end = (block + 1u) * 14u;
    uvec4 four = uvec4(0u);
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        const uint word = at * 4u + i;
        if (word < end) four[i] = blocks[word];
    }
    return four;
}

// Loads tile `j` of row `n` of the last block of all.
void fetch_last(uint n, uint j, out uvec4 fours[2], out uint words[5]) {
    const uint block = row_of_weights(n) * (row_tiles / 16u) + j / 2u, tile = j % 2u;
    uint base = block * 14u, begin = base + tile * 4u, window = begin / 4u;
    fours[0] = blocks_to_end(window, block), fours[1] = blocks_to_end(window + 1u, block), words[0] = blocks[base + 12u];
    words[1] = blocks[base + 13u], words[2] = blocks[base + tile + 12u], words[3] = blocks[base + tile * 2u + 8u];
    words[4] = blocks[base + tile * 2u + 9u];
}

void accumulate(uint n, uint j, uint k, uvec4 fours[2], uint words[5], inout float sum) {  // `sum` += tile `j` of row `n` * x
    const uint block = row_of_weights(n) * (row_tiles / 16u) + j / 2u, tile = j % 2u;
    uint base = block * 14u, begin = base + tile * 4u, scales0 = words[0], scales1 = words[1], scales2 = words[2], qh0 = words[3];
    uint qh1 = words[4];
    uint d_0bit = (scales0 >> 12u) & 15u;  // scales: bits 0-3 of d
    uint d_4bit = scales0 >> 28u;  // scales: bits 4-7 of d
    uint d_8bit = (scales1 >> 12u) & 15u;  // scales: bits 8-11 of d
    uint d_12bit = scales1 >> 28u;  // scales: bits 12-15 of d
    float d = unpackHalf2x16(d_0bit | (d_4bit << 4u) | (d_8bit << 8u) | (d_12bit << 12u)).x;
    uint sc0 = scales2 & 7u, sc1 = (scales2 >> 3u) & 7u, sc2 = (scales2 >> 6u) & 7u, sc3 = (scales2 >> 9u) & 7u;  // scales: 3 bits
    uint sc4 = (scales2 >> 16u) & 7u, sc5 = (scales2 >> 19u) & 7u, sc6 = (scales2 >> 22u) & 7u;  // scales: 3 bits
    uint sc7 = (scales2 >> 25u) & 7u;  // scales: 3 bits
    bool upper = (begin & 2u) != 0u;
    uvec4 four0 = fours[0], four1 = fours[1];
    uint pick0 = upper ? four0.z : four0.x, pick1 = upper ? four0.w : four0.y, pick2 = upper ? four1.x : four0.z;
    uint pick3 = upper ? four1.y : four0.w;
    uint g_lo0 = pick0 & 0xFFu, g_lo1 = (pick0 >> 8u) & 0xFFu, g_lo2 = (pick0 >> 16u) & 0xFFu, g_lo3 = pick0 >> 24u;  // qs: bits 0-7 of g
    uint g_lo4 = pick1 & 0xFFu, g_lo5 = (pick1 >> 8u) & 0xFFu, g_lo6 = (pick1 >> 16u) & 0xFFu, g_lo7 = pick1 >> 24u;  // qs: bits 0-7 of g
    uint g_lo8 = pick2 & 0xFFu, g_lo9 = (pick2 >> 8u) & 0xFFu, g_lo10 = (pick2 >> 16u) & 0xFFu, g_lo11 = pick2 >> 24u;  // qs: bits 0-7 of g
    uint g_lo12 = pick3 & 0xFFu, g_lo13 = (pick3 >> 8u) & 0xFFu, g_lo14 = (pick3 >> 16u) & 0xFFu;  // qs: bits 0-7 of g
    uint g_lo15 = pick3 >> 24u;  // qs: bits 0-7 of g
    uint g_hi0 = qh0 & 7u, g_hi1 = (qh0 >> 4u) & 7u, g_hi2 = (qh0 >> 8u) & 7u, g_hi3 = (qh0 >> 12u) & 7u;  // qh: bits 8-10 of g
    uint g_hi4 = (qh0 >> 16u) & 7u, g_hi5 = (qh0 >> 20u) & 7u, g_hi6 = (qh0 >> 24u) & 7u, g_hi7 = (qh0 >> 28u) & 7u;  // qh: bits 8-10 of g
    uint g_hi8 = qh1 & 7u, g_hi9 = (qh1 >> 4u) & 7u, g_hi10 = (qh1 >> 8u) & 7u, g_hi11 = (qh1 >> 12u) & 7u;  // qh: bits 8-10 of g
    uint g_hi12 = (qh1 >> 16u) & 7u, g_hi13 = (qh1 >> 20u) & 7u, g_hi14 = (qh1 >> 24u) & 7u;  // qh: bits 8-10 of g
    uint g_hi15 = (qh1 >> 28u) & 7u;  // qh: bits 8-10 of g
    uint g0 = g_lo0 | (g_hi0 << 8u), G_row0 = G_at(g0), bytes0 = G_row0 & 0xF0F0F0Fu, bytes1 = (G_row0 >> 4u) & 0xF0F0F0Fu;
    uint g1 = g_lo1 | (g_hi1 << 8u), G_row1 = G_at(g1), bytes2 = G_row1 & 0xF0F0F0Fu, bytes3 = (G_row1 >> 4u) & 0xF0F0F0Fu;
    uint g2 = g_lo2 | (g_hi2 << 8u), G_row2 = G_at(g2), bytes4 = G_row2 & 0xF0F0F0Fu, bytes5 = (G_row2 >> 4u) & 0xF0F0F0Fu;
    uint g3 = g_lo3 | (g_hi3 << 8u), G_row3 = G_at(g3), bytes6 = G_row3 & 0xF0F0F0Fu, bytes7 = (G_row3 >> 4u) & 0xF0F0F0Fu;
    uint g4 = g_lo4 | (g_hi4 << 8u), G_row4 = G_at(g4), bytes8 = G_row4 & 0xF0F0F0Fu, bytes9 = (G_row4 >> 4u) & 0xF0F0F0Fu;
    uint g5 = g_lo5 | (g_hi5 << 8u), G_row5 = G_at(g5), bytes10 = G_row5 & 0xF0F0F0Fu, bytes11 = (G_row5 >> 4u) & 0xF0F0F0Fu;
    uint g6 = g_lo6 | (g_hi6 << 8u), G_row6 = G_at(g6), bytes12 = G_row6 & 0xF0F0F0Fu, bytes13 = (G_row6 >> 4u) & 0xF0F0F0Fu;
    uint g7 = g_lo7 | (g_hi7 << 8u), G_row7 = G_at(g7), bytes14 = G_row7 & 0xF0F0F0Fu, bytes15 = (G_row7 >> 4u) & 0xF0F0F0Fu;
    uint g8 = g_lo8 | (g_hi8 << 8u), G_row8 = G_at(g8), bytes16 = G_row8 & 0xF0F0F0Fu, bytes17 = (G_row8 >> 4u) & 0xF0F0F0Fu;
    uint g9 = g_lo9 | (g_hi9 << 8u), G_row9 = G_at(g9), bytes18 = G_row9 & 0xF0F0F0Fu, bytes19 = (G_row9 >> 4u) & 0xF0F0F0Fu;
    uint g10 = g_lo10 | (g_hi10 << 8u), G_row10 = G_at(g10), bytes20 = G_row10 & 0xF0F0F0Fu, bytes21 = (G_row10 >> 4u) & 0xF0F0F0Fu;
    uint g11 = g_lo11 | (g_hi11 << 8u), G_row11 = G_at(g11), bytes22 = G_row11 & 0xF0F0F0Fu, bytes23 = (G_row11 >> 4u) & 0xF0F0F0Fu;
    uint g12 = g_lo12 | (g_hi12 << 8u), G_row12 = G_at(g12), bytes24 = G_row12 & 0xF0F0F0Fu, bytes25 = (G_row12 >> 4u) & 0xF0F0F0Fu;
    uint g13 = g_lo13 | (g_hi13 << 8u), G_row13 = G_at(g13), bytes26 = G_row13 & 0xF0F0F0Fu, bytes27 = (G_row13 >> 4u) & 0xF0F0F0Fu;
    uint g14 = g_lo14 | (g_hi14 << 8u), G_row14 = G_at(g14), bytes28 = G_row14 & 0xF0F0F0Fu, bytes29 = (G_row14 >> 4u) & 0xF0F0F0Fu;
    uint g15 = g_lo15 | (g_hi15 << 8u), G_row15 = G_at(g15), bytes30 = G_row15 & 0xF0F0F0Fu, bytes31 = (G_row15 >> 4u) & 0xF0F0F0Fu;
    uint sg0 = (qh0 >> 3u) & 1u, sg1 = (qh0 >> 7u) & 1u, sg2 = (qh0 >> 11u) & 1u, sg3 = (qh0 >> 15u) & 1u;  // qh: 1 bit
    uint sg4 = (qh0 >> 19u) & 1u, sg5 = (qh0 >> 23u) & 1u, sg6 = (qh0 >> 27u) & 1u, sg7 = qh0 >> 31u, sg8 = (qh1 >> 3u) & 1u;  // qh: 1 bit
    uint sg9 = (qh1 >> 7u) & 1u, sg10 = (qh1 >> 11u) & 1u, sg11 = (qh1 >> 15u) & 1u, sg12 = (qh1 >> 19u) & 1u;  // qh: 1 bit
    uint sg13 = (qh1 >> 23u) & 1u, sg14 = (qh1 >> 27u) & 1u, sg15 = qh1 >> 31u;  // qh: 1 bit
    float dots0 = 0.0, dots1 = 0.0, dots2 = 0.0, dots3 = 0.0;
    [[unroll]] for (uint digit = 0; digit < DIGITS; ++digit) {
        const int part0 = (2 * int(sc0) + 1) * (dot16(0, uvec4(bytes0, bytes1, bytes2, bytes3), x[k][digit * 8u]) - x_digits(k, digit, 0u))
            + (2 * int(sc1) + 1) * (dot16(0, uvec4(bytes4, bytes5, bytes6, bytes7), x[k][digit * 8u + 1u]) - x_digits(k, digit, 1u));
        const int part1 = (2 * int(sc2) + 1) * (dot16(0, uvec4(bytes8, bytes9, bytes10, bytes11), x[k][digit * 8u + 2u])
            - x_digits(k, digit, 2u)) + (2 * int(sc3) + 1)
            * (dot16(0, uvec4(bytes12, bytes13, bytes14, bytes15), x[k][digit * 8u + 3u]) - x_digits(k, digit, 3u));
        const int part2 = (2 * int(sc4) + 1) * (dot16(0, uvec4(bytes16, bytes17, bytes18, bytes19), x[k][digit * 8u + 4u])
            - x_digits(k, digit, 4u)) + (2 * int(sc5) + 1)
            * (dot16(0, uvec4(bytes20, bytes21, bytes22, bytes23), x[k][digit * 8u + 5u]) - x_digits(k, digit, 5u));
        const int part3 = (2 * int(sc6) + 1) * (dot16(0, uvec4(bytes24, bytes25, bytes26, bytes27), x[k][digit * 8u + 6u])
            - x_digits(k, digit, 6u)) + (2 * int(sc7) + 1)
            * (dot16(0, uvec4(bytes28, bytes29, bytes30, bytes31), x[k][digit * 8u + 7u]) - x_digits(k, digit, 7u));
        dots0 = 256.0 * dots0 + float(DIGITS > 1u ? part0 + part1 + part2 + part3 : part0), dots1 = float(part1), dots2 = float(part2),
            dots3 = float(part3);
    }
    sum += d * (DIGITS > 1u ? x_step(k, 0u) * dots0
        : x_step(k, 0u) * dots0 + x_step(k, 1u) * dots1 + x_step(k, 2u) * dots2 + x_step(k, 3u) * dots3)
        + d * (int(sg0) != 0 ? -0.125 : 0.125) * float(2 * int(sc0) + 1) * x_sum(k, 0u)
        + d * (int(sg1) != 0 ? -0.125 : 0.125) * float(2 * int(sc0) + 1) * x_sum(k, 1u)
        + d * (int(sg2) != 0 ? -0.125 : 0.125) * float(2 * int(sc1) + 1) * x_sum(k, 2u)
        + d * (int(sg3) != 0 ? -0.125 : 0.125) * float(2 * int(sc1) + 1) * x_sum(k, 3u)
        + d * (int(sg4) != 0 ? -0.125 : 0.125) * float(2 * int(sc2) + 1) * x_sum(k, 4u)
        + d * (int(sg5) != 0 ? -0.125 : 0.125) * float(2 * int(sc2) + 1) * x_sum(k, 5u)
        + d * (int(sg6) != 0 ? -0.125 : 0.125) * float(2 * int(sc3) + 1) * x_sum(k, 6u)
        + d * (int(sg7) != 0 ? -0.125 : 0.125) * float(2 * int(sc3) + 1) * x_sum(k, 7u)
        + d * (int(sg8) != 0 ? -0.125 : 0.125) * float(2 * int(sc4) + 1) * x_sum(k, 8u)
        + d * (int(sg9) != 0 ? -0.125 : 0.125) * float(2 * int(sc4) + 1) * x_sum(k, 9u)
        + d * (int(sg10) != 0 ? -0.125 : 0.125) * float(2 * int(sc5) + 1) * x_sum(k, 10u)
        + d * (int(sg11) != 0 ? -0.125 : 0.125) * float(2 * int(sc5) + 1) * x_sum(k, 11u)
        + d * (int(sg12) != 0 ? -0.125 : 0.125) * float(2 * int(sc6) + 1) * x_sum(k, 12u)
        + d * (int(sg13) != 0 ? -0.125 : 0.125) * float(2 * int(sc6) + 1) * x_sum(k, 13u)
        + d * (int(sg14) != 0 ? -0.125 : 0.125) * float(2 * int(sc7) + 1) * x_sum(k, 14u)
        + d * (int(sg15) != 0 ? -0.125 : 0.125) * float(2 * int(sc7) + 1) * x_sum(k, 15u);
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

// What a workgroup keeps of `vectors` right-hand sides from number `vector` on, of each tiles `begin` to `end`; a thread has of number
// `mine`
// of these the tile at `own`, and each `step` further on.
void stage_x(uint vector, uint vectors, uint mine, uint begin, uint end, uint own, uint step) {
    const uint row_runs = row_tiles * 4u, runs = x_from(vector + mine, row_runs);
    const uint skipped = begin / 2u * 64u, each = (end + 1u) / 2u * 64u - skipped, all = vectors * each;
    for (uint done = 0u; done < all; done += STAGED) {
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < min(STAGED, all - done); i += gl_WorkGroupSize.x) {
            const uint run = VIEWS == 3u ? x_from(vector + (done + i) / each, row_runs) + (done + i) % each : runs + done + i;
            staged[i + i / 32u] = x_run(run + skipped);
        }
        staged_from = runs + skipped + done - mine * each;  // where it would be, if all were of the thread's own
        barrier();
        [[unroll]] for (uint k = 0; k < TILES; ++k) {
            const uint j = own + k * step;
            if (j < end && runs + j / 2u * 64u - staged_from < STAGED) load_x(vector + mine, j, k);
        }
    }
}

// Subgroups share a row, each with the slice of x that it holds. Parts of results that follow each other share x: a workgroup takes such.
// Of results that are sums over the slots of a token, subgroups share those, too, and add up what each has of its own.
void main() {
    if (COPIES > 1u) {
        for (uint i = gl_LocalInvocationID.x; i < 2048u; i += gl_WorkGroupSize.x) {
            const uint value = G[i];
            for (uint c = 0u; c < COPIES; ++c) {
                const uint copy = (i + c) % COPIES;  // neighbours in other banks
                G_copies[i * COPIES + copy] = value;
            }
        }
        barrier();
    }
    const uint tiles = row_tiles / 8u;
    // Of a short row, fewer lanes have the tiles; the others of the subgroup take other rows.
    uint width = gl_SubgroupSize, split = 1u, at_once = 1u, held = ~0u, held_vector = ~0u, turn = 0u;
    while (width / 2u >= (VIEWS == 3u ? max(ROWS, 4u) : ROWS) && width / 2u * TILES >= tiles) width /= 2u;
    const uint slice = width * TILES, slices = (tiles + slice - 1u) / slice, lane = gl_SubgroupInvocationID % width;
    while (split < slices && gl_NumSubgroups % (2u * split) == 0u) split *= 2u;
    const uint added = VIEWS == 3u ? slots : 1u;  // slots of a result
    while (at_once < added && gl_NumSubgroups % (2u * split * at_once) == 0u) at_once *= 2u;
    const uint joint = split * at_once, rest = gl_SubgroupSize / width, teams = gl_NumSubgroups / joint * rest;
    const uint team = gl_SubgroupID / joint * rest + gl_SubgroupInvocationID / width;
    const uint own = rest * ROWS, place_of_team = gl_SubgroupInvocationID / width * ROWS + lane;
    const uint parts = (rows + teams * ROWS - 1u) / (teams * ROWS), works = (VIEWS == 0u ? 1u : sets) * batch * slots / added * parts;
    const uint each = works / gl_NumWorkGroups.x, more = works % gl_NumWorkGroups.x;
    const uint work_first = gl_WorkGroupID.x * each + min(gl_WorkGroupID.x, more);
    for (uint work = work_first; work < work_first + each + uint(gl_WorkGroupID.x < more); ++work) {
        const uint results = pair_of(work / parts * added), first = work % parts * teams * ROWS;
        const uint expert_of_all = ids[id_of(results)];  // where they are of one
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
        for (uint slots_before = 0u; slots_before < added; slots_before += at_once) {
            const uint slot = slots_before + (VIEWS == 3u ? gl_SubgroupID % joint / split : 0u), pair = results + min(slot, added - 1u);
            const uint vector = x_slots == 1u ? pair / slots : pair, expert = VIEWS == 3u ? ids[id_of(pair)] : expert_of_all;
            const uint first_pair = results + slots_before, first_vector = x_slots == 1u ? first_pair / slots : first_pair;
            const uint vectors = VIEWS == 3u && x_slots > 1u ? min(at_once, added - slots_before) : 1u;  // that are staged together
            const uint mine = min(slot - slots_before, vectors - 1u);
            const bool found = expert < experts, bound = found && expert >= expert_first && expert < expert_end && slot < added;
            const uint begin = row_of_expert(expert - expert_first), row = begin + first + team * ROWS, end = begin + rows;
            const float scale = VIEWS == 3u ? scale_of_pair(pair, expert) : 1.0;
            float before[ROWS];  // of slots before
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) before[r] = sum[r], sum[r] = 0.0;
            for (uint c0 = 0u; c0 < slices; c0 += split) {
                const uint c = c0 + gl_SubgroupID % split;
                const bool kept = c0 == held && first_vector == held_vector;
                // What is loaded of x does not wait for the expert's number.
                if (STAGED > 1u && !kept)
                    stage_x(first_vector, vectors, mine, c0 * slice, min((c0 + split) * slice, tiles), c * slice + lane, width);
                [[unroll]] for (uint k = 0; k < TILES; ++k) {
                    const uint j = c * slice + k * width + lane;
                    if (STAGED == 1u && !kept) load_x(vector, min(j, tiles - 1u), k);
                    if (j >= tiles) continue;
                    if (!bound) continue;
                    // Of the last block of all, beyond which no load goes, the sum is made beforehand.
                    const bool at_end = PADDED == 0u && expert + 1u == expert_end && row + ROWS >= end && j + 2u >= tiles;
                    float sum_at_end = 0.0;
                    if (at_end) {
                        uvec4 last_fours[2]; uint last_words[5];
                        fetch_last(end - 1u, j, last_fours, last_words);
                        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum_at_end += row + r + 1u == end ? sum[r] : 0.0;
                        accumulate(end - 1u, j, k, last_fours, last_words, sum_at_end);
                    }
                    uvec4 fours[ROWS][2]; uint words[ROWS][5];
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, end - 1u), j, fours[r], words[r]);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(row + r, end - 1u), j, k, fours[r], words[r], sum[r]);
                    if (at_end) {
                        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = row + r + 1u == end ? sum_at_end : sum[r];
                    }
                }
                held = c0;
                held_vector = first_vector;
            }
            if (!found && slot < added && first == 0u && expert_first == 0u && gl_SubgroupID == slot % at_once * split &&
                gl_SubgroupInvocationID == 0u)
                atomicAdd(out_of_range, 1u);  // it has zeros
            if (VIEWS == 3u) {
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = before[r] + sum[r] * scale;
            }
        }
        const bool here = expert_of_all < experts ? expert_of_all >= expert_first && expert_of_all < expert_end : expert_first == 0u;
        if (VIEWS != 3u && !here) continue;  // another launch's
        float total = sum_of_lanes(sum, width);
        // Halves of the memory in turn: who is a row ahead does not write where others still read.
        const uint n = first + team * ROWS + lane, place = (turn++ % 2u * gl_NumSubgroups + gl_SubgroupID) * own + place_of_team;
        if (joint > 1u) {
            if (lane < ROWS) partial[place] = total;
            barrier();
        }
        if (gl_SubgroupID % joint > 0u || lane >= ROWS || n >= rows) continue;
        for (uint s = 1u; s < joint; ++s) total += partial[place + s * own];
        finish(results, expert_of_all, n, total, VIEWS == 3u ? 1.0 : scale_of_pair(results, expert_of_all));
    }
}
