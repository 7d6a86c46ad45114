// affine_b3_g64_bf16_gemv_id_int8_wide: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k].
// Generated from the specification below by `qkgen emit --format affine_b3_g64_bf16`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 28 bytes for 64 elements, 3.5 bits each.
// For each weight 0.438 bytes read, 3.33 operations: 0.0625 loads, 2.45 bits, 0.672 integer, 0.109 float, 0.0312 conversions.
//     format affine_b{bits}_g{group}_{T} "affine codes in one bit stream, a scale and a bias for each group"
//     from "MLX, mlx.core.quantize with mode='affine'"
//     for bits in 2 3 4 5 6 8, group in 32 64 128, T in f16 bf16 f32
//     block group {
//         buffer weight { w: u32[group * bits / 32] }
//         buffer scales { s: T }
//         buffer biases { b: T }
//     }
//     code q = w { bits @ 0 (group:bits) }
//     value = q * s + b
//
// Here bits = 3, group = 64, T = bf16.
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time, at most as many as a subgroup has lanes
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say
layout(constant_id = 11) const uint PADDED = 0;  // 1: behind the weights are 32 bytes or more, which may be read
layout(constant_id = 7) const uint STAGED = 1;  // runs of x that a workgroup loads together, where there are few rows; 1: none
layout(constant_id = 4) const uint DIGITS = 1;  // bytes of each x: class int8 has 1, split 2, int24 3

layout(binding = 0, std430) readonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 2, std430) readonly buffer BiasesBuffer { uint16_t biases[]; };
layout(binding = 0, std430) readonly buffer Weight_fourBuffer { uvec4 weight_four[]; };
layout(binding = 1, std430) readonly buffer Scales_wordBuffer { uint scales_word[]; };
layout(binding = 2, std430) readonly buffer Biases_wordBuffer { uint biases_word[]; };
layout(binding = 4, std430) readonly buffer Ids { uint ids[]; };
layout(binding = 5, std430) buffer Status { uint out_of_range; };
layout(binding = 3, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 3, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 6, std430) buffer Output { float y[]; };
layout(binding = 6, std430) buffer OutputHalves { uint16_t y_halves[]; };
layout(binding = 7, std430) readonly buffer ResultScale { float result_scale[]; };
layout(binding = 8, std430) readonly buffer RowBias { float row_bias[]; };
layout(binding = 9, std430) readonly buffer ResultGate { float result_gate[]; };
layout(binding = 10, std430) readonly buffer Residual { float residual[]; };
layout(push_constant) uniform Push {
    uint rows, row_tiles, batch, slots;  // of one expert; tiles of 32 elements in a row; tokens; experts of each
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

float bf16_to_f32(uint bits) { return uintBitsToFloat(bits << 16); }  // of the low 16 bits

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
float x_sum(uint k, uint i) { return uintBitsToFloat(x[k][DIGITS * 4u][2u + i]); }  // over runs that share a scale
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

// Runs of x on their way to threads, from run `staged_from` on, with gaps: neighbours take the same run of tiles that are neighbours.
shared vec4 staged[STAGED == 1u ? 1u : STAGED + STAGED / 16u];
uint staged_from = 0u;
vec4 staged_x(uint at) { return staged[at - staged_from + (at - staged_from) / 16u]; }

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
    const uint tile = j % 2u, place = j / 2u * 32u + tile * 16u, from = x_from(min(vector, (batch * x_slots) - 1u), row_tiles * 8u) + place;
    vec4 run[16], most[2], all[2];
    [[unroll]] for (uint r = 0u; r < 16u && STAGED > 1u; ++r) run[r] = staged_x(from + r);
    [[unroll]] for (uint r = 0u; r < 16u && STAGED == 1u; r += 4u) load_runs(from + r, run[r], run[r + 1u], run[r + 2u], run[r + 3u]);
    [[unroll]] for (uint s = 0u; s < 2u; ++s) most[s] = all[s] = vec4(0.0);
    [[unroll]] for (uint r = 0u; r < 16u; ++r) most[r / 8u] = max(most[r / 8u], abs(run[r])), all[r / 8u] += run[r];
    if (DIGITS > 1u) most[0] = most[1] = max(most[0], most[1]), all[0] = all[1] = all[0] + all[1];
    ivec4 whole[16];
    [[unroll]] for (uint s = 0u; s < 2u; ++s) {
        const float scale = scale_of(most[s], all[s]), step = 1.0 / scale;
        [[unroll]] for (uint r = 0u; r < 8u; ++r) whole[8u * s + r] = integers(run[8u * s + r] * scale);
        x[k][DIGITS * 4u][s] = floatBitsToUint(step);
    }
    x[k][DIGITS * 4u][2u] = floatBitsToUint(x_step(k, 0u)
        * float(sum_of(whole[0] + whole[1] + whole[2] + whole[3] + whole[4] + whole[5] + whole[6] + whole[7]) - 32 * BIAS)
        + x_step(k, 1u) * float(sum_of(whole[8] + whole[9] + whole[10] + whole[11] + whole[12] + whole[13] + whole[14] + whole[15])
        - 32 * BIAS));
    [[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit)
        [[unroll]] for (uint r = 0u; r < 16u; ++r) x[k][digit * 4u + r / 4u][r % 4u] = bytes_of(whole[r], digit);
}

// Not that of the last block of all, from where loads of 16 bytes would go beyond the end.
void fetch(uint n, uint j, out uvec4 fours[2], out uint words[2]) {  // tile `j` of row `n`
    if (PADDED == 0u && n + 1u == row_of_expert(expert_end - expert_first - 1u) + rows && j + 2u >= row_tiles / 2u) {
        n = 0u;
        j = j % 2u;
    }
    uint block = row_of_weights(n) * (row_tiles / 4u) + j / 2u, tile = j % 2u, begin = block * 12u + tile * 6u, window = begin / 4u;
    fours[0] = weight_four[window], fours[1] = weight_four[window + 1u], words[0] = scales_word[block], words[1] = biases_word[block];
}

// 16 bytes, as far as block `block` goes.
uvec4 weight_to_end(uint at, uint block) {
    const uint end = (block + 1u) * 12u;
    uvec4 four = uvec4(0u);
    [[unroll]] for (uint i = 0u; i < 4u; ++i) {
        const uint word = at * 4u + i;
        if (word < end) four[i] = weight[word];
    }
    return four;
}

// Loads tile `j` of row `n` of the last block of all.
void fetch_last(uint n, uint j, out uvec4 fours[2], out uint words[2]) {
    uint block = row_of_weights(n) * (row_tiles / 4u) + j / 2u, tile = j % 2u, begin = block * 12u + tile * 6u, window = begin / 4u;
    fours[0] = weight_to_end(window, block), fours[1] = weight_to_end(window + 1u, block), words[0] = scales_word[block];
    words[1] = biases_word[block];
}

void accumulate(uint n, uint j, uint k, uvec4 fours[2], uint words[2], inout float sum) {  // `sum` += tile `j` of row `n` * x
    uint block = row_of_weights(n) * (row_tiles / 4u) + j / 2u, tile = j % 2u, shift = tile * 16u, begin = block * 12u + tile * 6u;
    float s = bf16_to_f32(words[0] >> shift), b = bf16_to_f32(words[1] >> shift);
    bool upper = (begin & 2u) != 0u;
    uvec4 four0 = fours[0], four1 = fours[1];
    uint pick0 = upper ? four0.z : four0.x, run0 = pick0 >> 12u, pick1 = upper ? four0.w : four0.y;
    uint w_run0 = (pick0 >> 16u) | (pick1 << 16u), run1 = w_run0 >> 8u, run2 = pick1 >> 4u;
    uvec4 pairs0 = (uvec4(pick0, run0, run1, run2) & 0x3Fu) | ((uvec4(pick0, run0, run1, run2) & 4032u) << 10u);
    uvec4 bytes0 = (pairs0 & 0x70007u) | ((pairs0 & 0x380038u) << 5u);
    uint run3 = pick1 >> 16u, pick2 = upper ? four1.x : four0.z, w_run1 = run3 | (pick2 << 16u), run4 = w_run1 >> 12u, run5 = pick2 >> 8u;
    uint run6 = pick2 >> 20u;
    uvec4 pairs1 = (uvec4(run3, run4, run5, run6) & 0x3Fu) | ((uvec4(run3, run4, run5, run6) & 4032u) << 10u);
    uvec4 bytes1 = (pairs1 & 0x70007u) | ((pairs1 & 0x380038u) << 5u);
    uint pick3 = upper ? four1.y : four0.w, run7 = pick3 >> 12u, pick4 = upper ? four1.z : four1.x;
    uint w_run2 = (pick3 >> 16u) | (pick4 << 16u), run8 = w_run2 >> 8u, run9 = pick4 >> 4u;
    uvec4 pairs2 = (uvec4(pick3, run7, run8, run9) & 0x3Fu) | ((uvec4(pick3, run7, run8, run9) & 4032u) << 10u);
    uvec4 bytes2 = (pairs2 & 0x70007u) | ((pairs2 & 0x380038u) << 5u);
    uint run10 = pick4 >> 16u, pick5 = upper ? four1.w : four1.y, w_run3 = run10 | (pick5 << 16u), run11 = w_run3 >> 12u;
    uint run12 = pick5 >> 8u, run13 = pick5 >> 20u;
    uvec4 pairs3 = (uvec4(run10, run11, run12, run13) & 0x3Fu) | ((uvec4(run10, run11, run12, run13) & 4032u) << 10u);
    uvec4 bytes3 = (pairs3 & 0x70007u) | ((pairs3 & 0x380038u) << 5u);
    float dots0 = 0.0, dots1 = 0.0;
    [[unroll]] for (uint digit = 0; digit < DIGITS; ++digit) {
        const int part0 = dot16(dot16(0, bytes0, x[k][digit * 4u]), bytes1, x[k][digit * 4u + 1u]);
        const int part1 = dot16(dot16(0, bytes2, x[k][digit * 4u + 2u]), bytes3, x[k][digit * 4u + 3u]);
        dots0 = 256.0 * dots0 + float(DIGITS > 1u ? part0 + part1 : part0), dots1 = float(part1);
    }
    sum += s * (DIGITS > 1u ? x_step(k, 0u) * dots0 : x_step(k, 0u) * dots0 + x_step(k, 1u) * dots1) + b * x_sum(k, 0u);
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
    const uint row_runs = row_tiles * 8u, runs = x_from(vector + mine, row_runs);
    const uint skipped = begin / 2u * 32u, each = (end + 1u) / 2u * 32u - skipped, all = vectors * each;
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
            if (j < end && runs + j / 2u * 32u - staged_from < STAGED) load_x(vector + mine, j, k);
        }
    }
}

// Subgroups share a row, each with the slice of x that it holds. Parts of results that follow each other share x: a workgroup takes such.
// Of results that are sums over the slots of a token, subgroups share those, too, and add up what each has of its own.
void main() {
    const uint tiles = row_tiles / 2u;
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
                        uvec4 last_fours[2]; uint last_words[2];
                        fetch_last(end - 1u, j, last_fours, last_words);
                        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum_at_end += row + r + 1u == end ? sum[r] : 0.0;
                        accumulate(end - 1u, j, k, last_fours, last_words, sum_at_end);
                    }
                    uvec4 fours[ROWS][2]; uint words[ROWS][2];
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
