// q6_K_gemv_id_wide: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k].
// Generated from the specification below by `qkgen emit --format q6_K`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 210 bytes for 256 elements, 6.562 bits each.
// For each weight 0.82 bytes read, 6.38 operations: 0.312 loads, 2.52 bits, 0.781 integer, 2.19 float, 0.578 conversions.
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
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time, at most as many as a subgroup has lanes
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say
layout(constant_id = 7) const uint STAGED = 1;  // runs of x that a workgroup loads together, where there are few rows; 1: none

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
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

// Kept of x: tiles, in the order of the weights, and sums over runs that share a scale.
vec4 x[TILES][16];
float x_sum[TILES][4];

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
    const uint tile = j % 4u, place = j / 4u * 64u + tile / 2u * 32u + tile % 2u * 4u,
        from = x_from(min(vector, (batch * x_slots) - 1u), row_tiles * 4u) + place;
    vec4 run[16];
    [[unroll]] for (uint r = 0u; r < 16u; ++r) run[r] = staged_x(from + r % 4u + r / 4u * 8u);
    [[unroll]] for (uint r = 0u; r < 16u; ++r) x[k][r] = run[r] * 16777216.0;
    x_sum[k][0] = dot(run[0] + run[1] + run[2] + run[3], vec4(-32.0));
    x_sum[k][1] = dot(run[4] + run[5] + run[6] + run[7], vec4(-32.0));
    x_sum[k][2] = dot(run[8] + run[9] + run[10] + run[11], vec4(-32.0));
    x_sum[k][3] = dot(run[12] + run[13] + run[14] + run[15], vec4(-32.0));
}

void fetch(uint n, uint j, out uint words[20]) {  // tile `j` of row `n`
    const uint block = row_of_weights(n) * (row_tiles / 16u) + j / 4u, tile = j % 4u;
    uint base = block * 105u, part = tile / 2u;  // part: of 128 elements
    uint first = base / 2u, next = (base + 1u) / 2u;
    words[0] = uint(blocks[base + 104u]), words[1] = uint(blocks[base + part * 4u + 96u]);
    words[2] = blocks_word[first + part * 16u + tile % 2u * 4u], words[3] = blocks_word[first + part * 16u + tile % 2u * 4u + 1u];
    words[4] = blocks_word[first + tile * 4u + 32u], words[5] = blocks_word[first + tile * 4u + 33u];
    words[6] = blocks_word[first + part * 16u + tile % 2u * 4u + 2u], words[7] = blocks_word[first + tile * 4u + 34u];
    words[8] = blocks_word[first + part * 16u + tile % 2u * 4u + 3u], words[9] = blocks_word[first + tile * 4u + 35u];
    words[10] = blocks_word[next + part * 16u + tile % 2u * 4u + 3u], words[11] = blocks_word[next + tile * 4u + 35u];
    words[12] = uint(blocks[base + part * 4u + 97u]), words[13] = blocks_word[first + part * 16u + tile % 2u * 4u + 8u];
    words[14] = blocks_word[first + part * 16u + tile % 2u * 4u + 9u], words[15] = blocks_word[first + part * 16u + tile % 2u * 4u + 10u];
    words[16] = blocks_word[first + part * 16u + tile % 2u * 4u + 11u], words[17] = blocks_word[next + part * 16u + tile % 2u * 4u + 11u];
    words[18] = uint(blocks[base + part * 4u + 98u]), words[19] = uint(blocks[base + part * 4u + 99u]);
}

// What `mask` has of each byte of a word: the low bits of a half are a number of units of 2^-24.
vec4 four_codes(uint word, uint mask) {
    const vec2 even = unpackHalf2x16(word & mask), odd = unpackHalf2x16((word >> 8) & mask);
    return vec4(even.x, odd.x, even.y, odd.y);
}

void accumulate(uint n, uint j, uint k, uint words[20], inout float sum) {  // `sum` += tile `j` of row `n` * x
    uint block = row_of_weights(n) * (row_tiles / 16u) + j / 4u, tile = j % 4u, shift = tile % 2u * 8u;
    float d = unpackHalf2x16(words[0]).x;
    uint scales0 = words[1], scales1 = words[12], scales2 = words[18], scales3 = words[19];
    int sc0 = bitfieldExtract(int(scales0 >> shift), 0, 8), sc1 = bitfieldExtract(int(scales1 >> shift), 0, 8);  // scales: 8 bits
    int sc2 = bitfieldExtract(int(scales2 >> shift), 0, 8), sc3 = bitfieldExtract(int(scales3 >> shift), 0, 8);  // scales: 8 bits
    precise float d_sc0 = d * float(sc0), d_sc1 = d * float(sc1), d_sc2 = d * float(sc2), d_sc3 = d * float(sc3);
    bool midway = (block & 1u) != 0u;  // midway: the block begins in the middle of a word
    uint ql0 = midway ? (words[2] >> 16u) | (words[3] << 16u) : words[2], qh0 = midway ? (words[4] >> 16u) | (words[5] << 16u) : words[4];
    uint ql1 = midway ? (words[3] >> 16u) | (words[6] << 16u) : words[3], qh1 = midway ? (words[5] >> 16u) | (words[7] << 16u) : words[5];
    uint ql2 = midway ? (words[6] >> 16u) | (words[8] << 16u) : words[6], qh2 = midway ? (words[7] >> 16u) | (words[9] << 16u) : words[7];
    uint ql3 = midway ? (words[8] >> 16u) | (words[10] << 16u) : words[8], qh3 = midway ? (words[9] >> 16u) | (words[11] << 16u) : words[9];
    uint ql4 = midway ? (words[13] >> 16u) | (words[14] << 16u) : words[13];
    uint ql5 = midway ? (words[14] >> 16u) | (words[15] << 16u) : words[14];
    uint ql6 = midway ? (words[15] >> 16u) | (words[16] << 16u) : words[15];
    uint ql7 = midway ? (words[16] >> 16u) | (words[17] << 16u) : words[16];
    uint codes0 = (ql0 & 0xF0F0F0Fu) | ((qh0 << 4u) & 0x30303030u), codes1 = (ql1 & 0xF0F0F0Fu) | ((qh1 << 4u) & 0x30303030u);  // packed
    uint codes2 = (ql2 & 0xF0F0F0Fu) | ((qh2 << 4u) & 0x30303030u), codes3 = (ql3 & 0xF0F0F0Fu) | ((qh3 << 4u) & 0x30303030u);  // packed
    uint codes4 = (ql4 & 0xF0F0F0Fu) | ((qh0 << 2u) & 0x30303030u), codes5 = (ql5 & 0xF0F0F0Fu) | ((qh1 << 2u) & 0x30303030u);  // packed
    uint codes6 = (ql6 & 0xF0F0F0Fu) | ((qh2 << 2u) & 0x30303030u), codes7 = (ql7 & 0xF0F0F0Fu) | ((qh3 << 2u) & 0x30303030u);  // packed
    uint codes8 = ((ql0 >> 4u) & 0xF0F0F0Fu) | (qh0 & 0x30303030u), codes9 = ((ql1 >> 4u) & 0xF0F0F0Fu) | (qh1 & 0x30303030u);  // packed
    uint codes10 = ((ql2 >> 4u) & 0xF0F0F0Fu) | (qh2 & 0x30303030u), codes11 = ((ql3 >> 4u) & 0xF0F0F0Fu) | (qh3 & 0x30303030u);  // packed
    uint codes12 = ((ql4 >> 4u) & 0xF0F0F0Fu) | ((qh0 >> 2u) & 0x30303030u);  // packed
    uint codes13 = ((ql5 >> 4u) & 0xF0F0F0Fu) | ((qh1 >> 2u) & 0x30303030u);  // packed
    uint codes14 = ((ql6 >> 4u) & 0xF0F0F0Fu) | ((qh2 >> 2u) & 0x30303030u);  // packed
    uint codes15 = ((ql7 >> 4u) & 0xF0F0F0Fu) | ((qh3 >> 2u) & 0x30303030u);  // packed
    float dots0 = dot_add(x_sum[k][0], x[k][0], four_codes(codes0, 0x3F003Fu));
    float dots1 = dot_add(dots0, x[k][1], four_codes(codes1, 0x3F003Fu)), dots2 = dot_add(dots1, x[k][2], four_codes(codes2, 0x3F003Fu));
    float dots3 = dot_add(dots2, x[k][3], four_codes(codes3, 0x3F003Fu));
    float dots4 = dot_add(x_sum[k][1], x[k][4], four_codes(codes4, 0x3F003Fu));
    float dots5 = dot_add(dots4, x[k][5], four_codes(codes5, 0x3F003Fu)), dots6 = dot_add(dots5, x[k][6], four_codes(codes6, 0x3F003Fu));
    float dots7 = dot_add(dots6, x[k][7], four_codes(codes7, 0x3F003Fu));
    float dots8 = dot_add(x_sum[k][2], x[k][8], four_codes(codes8, 0x3F003Fu));
    float dots9 = dot_add(dots8, x[k][9], four_codes(codes9, 0x3F003Fu)), dots10 = dot_add(dots9, x[k][10], four_codes(codes10, 0x3F003Fu));
    float dots11 = dot_add(dots10, x[k][11], four_codes(codes11, 0x3F003Fu));
    float dots12 = dot_add(x_sum[k][3], x[k][12], four_codes(codes12, 0x3F003Fu));
    float dots13 = dot_add(dots12, x[k][13], four_codes(codes13, 0x3F003Fu));
    float dots14 = dot_add(dots13, x[k][14], four_codes(codes14, 0x3F003Fu));
    float dots15 = dot_add(dots14, x[k][15], four_codes(codes15, 0x3F003Fu));
    sum += d_sc0 * dots3 + d_sc1 * dots7 + d_sc2 * dots11 + d_sc3 * dots15;
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
    const uint skipped = begin / 4u * 64u, each = (end + 3u) / 4u * 64u - skipped, all = vectors * each;
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
            if (j < end && runs + j / 4u * 64u - staged_from < STAGED) load_x(vector + mine, j, k);
        }
    }
}

// Subgroups share a row, each with the slice of x that it holds. Parts of results that follow each other share x: a workgroup takes such.
// Of results that are sums over the slots of a token, subgroups share those, too, and add up what each has of its own.
void main() {
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
                    uint words[ROWS][20];
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
