// mxfp4_gemv_id_int8_wide: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k].
// Generated from the specification below by `qkgen emit --format mxfp4`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 17 bytes for 32 elements, 4.25 bits each.
// For each weight 0.531 bytes read, 5.12 operations: 0.234 loads, 2.09 bits, 2.17 integer, 0.0938 float, 0.0312 conversions, 0.5 lookups.
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
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time, at most as many as a subgroup has lanes
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say
layout(constant_id = 7) const uint STAGED = 1;  // runs of x that a workgroup loads together, where there are few rows; 1: none
layout(constant_id = 9) const uint COPIES = 1;  // of a table of pairs, for threads that are neighbours
layout(constant_id = 4) const uint DIGITS = 1;  // bytes of each x: class int8 has 1, split 2, int24 3

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint8_t blocks[]; };
layout(binding = 9, std430) readonly buffer KTable { int K[]; };
layout(binding = 0, std430) readonly buffer Blocks_halfBuffer { uint16_t blocks_half[]; };
layout(binding = 0, std430) readonly buffer Blocks_wordBuffer { uint blocks_word[]; };
layout(binding = 2, std430) readonly buffer Ids { uint ids[]; };
layout(binding = 3, std430) buffer Status { uint out_of_range; };
layout(binding = 1, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 1, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 4, std430) buffer Output { float y[]; };
layout(binding = 4, std430) buffer OutputHalves { uint16_t y_halves[]; };
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
uvec4 x[TILES][DIGITS * 4u + 1u];
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
vec4 staged_x(uint at) { return staged[at - staged_from + (at - staged_from) / 16u]; }

shared uint K_of_two[256u * COPIES];  // for each byte of two codes, in bytes 0 and 2

// K of the four codes in the bytes a and b: of the lower half of a, of b, of the upper half of a, of b.
uint K_pairs(uint codes) {
    const uint copy = gl_LocalInvocationID.x % COPIES;
    return K_of_two[(codes & 0xFFu) * COPIES + copy] | (K_of_two[((codes >> 8u) & 0xFFu) * COPIES + copy] << 8u);
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
    const uint place = j * 16u, from = x_from(min(vector, (batch * x_slots) - 1u), row_tiles * 4u) + place;
    vec4 run[16], most[2], all[2];
    [[unroll]] for (uint r = 0u; r < 16u && STAGED > 1u; ++r) run[r] = staged_x(from + r);
    [[unroll]] for (uint r = 0u; r < 16u && STAGED == 1u; r += 4u) load_runs(from + r, run[r], run[r + 1u], run[r + 2u], run[r + 3u]);
    [[unroll]] for (uint s = 0u; s < 2u; ++s) most[s] = all[s] = vec4(0.0);
    [[unroll]] for (uint r = 0u; r < 16u; ++r) most[r / 8u] = max(most[r / 8u], abs(run[r])), all[r / 8u] += run[r];
    ivec4 whole[16];
    [[unroll]] for (uint s = 0u; s < 2u; ++s) {
        const float scale = scale_of(most[s], all[s]), step = 1.0 / scale;
        [[unroll]] for (uint r = 0u; r < 8u; ++r) whole[8u * s + r] = integers(run[8u * s + r] * scale);
        x[k][DIGITS * 4u][s] = floatBitsToUint(step);
    }
    [[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit) {
        x[k][digit * 4u].x = bytes_of(ivec4(whole[0].x, whole[0].y, whole[4].x, whole[4].y), digit);
        x[k][digit * 4u].y = bytes_of(ivec4(whole[0].z, whole[0].w, whole[4].z, whole[4].w), digit);
        x[k][digit * 4u].z = bytes_of(ivec4(whole[1].x, whole[1].y, whole[5].x, whole[5].y), digit);
        x[k][digit * 4u].w = bytes_of(ivec4(whole[1].z, whole[1].w, whole[5].z, whole[5].w), digit);
        x[k][digit * 4u + 1u].x = bytes_of(ivec4(whole[2].x, whole[2].y, whole[6].x, whole[6].y), digit);
        x[k][digit * 4u + 1u].y = bytes_of(ivec4(whole[2].z, whole[2].w, whole[6].z, whole[6].w), digit);
        x[k][digit * 4u + 1u].z = bytes_of(ivec4(whole[3].x, whole[3].y, whole[7].x, whole[7].y), digit);
        x[k][digit * 4u + 1u].w = bytes_of(ivec4(whole[3].z, whole[3].w, whole[7].z, whole[7].w), digit);
        x[k][digit * 4u + 2u].x = bytes_of(ivec4(whole[8].x, whole[8].y, whole[12].x, whole[12].y), digit);
        x[k][digit * 4u + 2u].y = bytes_of(ivec4(whole[8].z, whole[8].w, whole[12].z, whole[12].w), digit);
        x[k][digit * 4u + 2u].z = bytes_of(ivec4(whole[9].x, whole[9].y, whole[13].x, whole[13].y), digit);
        x[k][digit * 4u + 2u].w = bytes_of(ivec4(whole[9].z, whole[9].w, whole[13].z, whole[13].w), digit);
        x[k][digit * 4u + 3u].x = bytes_of(ivec4(whole[10].x, whole[10].y, whole[14].x, whole[14].y), digit);
        x[k][digit * 4u + 3u].y = bytes_of(ivec4(whole[10].z, whole[10].w, whole[14].z, whole[14].w), digit);
        x[k][digit * 4u + 3u].z = bytes_of(ivec4(whole[11].x, whole[11].y, whole[15].x, whole[15].y), digit);
        x[k][digit * 4u + 3u].w = bytes_of(ivec4(whole[11].z, whole[11].w, whole[15].z, whole[15].w), digit);
    }
}

void fetch(uint n, uint j, out uint words[15]) {  // tile `j` of row `n`
    uint block = row_of_weights(n) * (row_tiles / 4u) + j, base = block * 17u, first = base / 2u;
    words[0] = blocks_word[first], words[1] = blocks_word[first + 1u], words[2] = uint(blocks_half[base + 2u]);
    words[3] = uint(blocks_half[base]), words[4] = blocks_word[first + 2u], words[5] = uint(blocks_half[base + 4u]);
    words[6] = blocks_word[first + 3u], words[7] = uint(blocks_half[base + 6u]), words[8] = blocks_word[first + 4u];
    words[9] = uint(blocks_half[base + 8u]), words[10] = blocks_word[first + 5u], words[11] = blocks_word[first + 6u];
    words[12] = blocks_word[first + 7u], words[13] = uint(blocks_half[base + 15u]), words[14] = uint(blocks_half[base + 16u]);
}

void accumulate(uint n, uint j, uint k, uint words[15], inout float sum) {  // `sum` += tile `j` of row `n` * x
    const uint block = row_of_weights(n) * (row_tiles / 4u) + j;
    uint e0 = words[3] & 0xFFu, qs0 = words[2], qs1 = words[5], qs2 = words[7], qs3 = words[9], e1 = qs3 >> 8u;
    uint qs4 = words[13] | (words[14] << 16u), bytes0 = K_pairs(qs4), bytes1 = K_pairs(qs4 >> 16u);
    float e_e_e0 = uintBitsToFloat(uint(int(e0) < 2 ? 2097152 << (int(e0) & 1) : ((int(e0) + 255) & 255) << 23));
    float e_e_e1 = uintBitsToFloat(uint(int(e1) < 2 ? 2097152 << (int(e1) & 1) : ((int(e1) + 255) & 255) << 23));
    bool midway = (block & 1u) != 0u;  // midway: the block begins in the middle of a word
    uint qs5 = midway ? (words[0] >> 16u) | (words[1] << 16u) : words[0], qs_run0 = (qs5 >> 8u) | (qs0 << 24u), bytes2 = K_pairs(qs_run0);
    uint bytes3 = K_pairs(qs_run0 >> 16u), qs6 = midway ? (words[1] >> 16u) | (words[4] << 16u) : words[1];
    uint qs_run1 = (qs6 >> 8u) | (qs1 << 24u), bytes4 = K_pairs(qs_run1), bytes5 = K_pairs(qs_run1 >> 16u);
    uint qs7 = midway ? (words[4] >> 16u) | (words[6] << 16u) : words[4], qs_run2 = (qs7 >> 8u) | (qs2 << 24u), bytes6 = K_pairs(qs_run2);
    uint bytes7 = K_pairs(qs_run2 >> 16u), qs8 = midway ? (words[6] >> 16u) | (words[8] << 16u) : words[6];
    uint qs_run3 = (qs8 >> 8u) | (qs3 << 24u), bytes8 = K_pairs(qs_run3), bytes9 = K_pairs(qs_run3 >> 16u);
    uint qs9 = midway ? words[10] : (words[8] >> 16u) | (words[10] << 16u), bytes10 = K_pairs(qs9), bytes11 = K_pairs(qs9 >> 16u);
    uint qs10 = midway ? words[11] : (words[10] >> 16u) | (words[11] << 16u), bytes12 = K_pairs(qs10), bytes13 = K_pairs(qs10 >> 16u);
    uint qs11 = midway ? words[12] : (words[11] >> 16u) | (words[12] << 16u), bytes14 = K_pairs(qs11), bytes15 = K_pairs(qs11 >> 16u);
    float dots0 = 0.0, dots1 = 0.0;
    [[unroll]] for (uint digit = 0; digit < DIGITS; ++digit) {
        dots0 = 256.0 * dots0 + float(dot16(dot16(0, uvec4(bytes2, bytes3, bytes4, bytes5), x[k][digit * 4u]),
            uvec4(bytes6, bytes7, bytes8, bytes9), x[k][digit * 4u + 1u]));
        dots1 = 256.0 * dots1 + float(dot16(dot16(0, uvec4(bytes10, bytes11, bytes12, bytes13), x[k][digit * 4u + 2u]),
            uvec4(bytes14, bytes15, bytes0, bytes1), x[k][digit * 4u + 3u]));
    }
    sum += e_e_e0 * (x_step(k, 0u) * dots0) + e_e_e1 * (x_step(k, 1u) * dots1);
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
    const uint skipped = begin * 16u, each = end * 16u - skipped, all = vectors * each;
    for (uint done = 0u; done < all; done += STAGED) {
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < min(STAGED, all - done); i += gl_WorkGroupSize.x) {
            const uint run = VIEWS == 3u ? x_from(vector + (done + i) / each, row_runs) + (done + i) % each : runs + done + i;
            staged[i + i / 16u] = x_run(run + skipped);
        }
        staged_from = runs + skipped + done - mine * each;  // where it would be, if all were of the thread's own
        barrier();
        [[unroll]] for (uint k = 0; k < TILES; ++k) {
            const uint j = own + k * step;
            if (j < end && runs + j * 16u - staged_from < STAGED) load_x(vector + mine, j, k);
        }
    }
}

// Subgroups share a row, each with the slice of x that it holds. Parts of results that follow each other share x: a workgroup takes such.
// Of results that are sums over the slots of a token, subgroups share those, too, and add up what each has of its own.
void main() {
    // Threads that are neighbours write to other banks.
    for (uint codes = gl_LocalInvocationID.x; codes < 256u; codes += gl_WorkGroupSize.x) {
        const uint two = (uint(K[codes & 15u]) & 0xFFu) | ((uint(K[codes >> 4u]) & 0xFFu) << 16u);
        for (uint i = 0u; i < COPIES; ++i) K_of_two[codes * COPIES + (codes + i) % COPIES] = two;
    }
    barrier();
    const uint tiles = row_tiles / 4u;
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
                    uint words[ROWS][15];
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, end - 1u), j, words[r]);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(row + r, end - 1u), j, k, words[r], sum[r]);
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
