// aqlm_2x8_g8_gemv_id_wide: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k].
// Generated from the specification below by `qkgen emit --format aqlm_2x8_g8`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 36 bytes for 8 elements, 2 bits each.
// For each weight 0.25 bytes read, 8.75 operations: 0.625 loads, 1 bits, 1.88 integer, 3.12 float, 2.12 conversions.
//     format aqlm_2x8_g8 "sums of two vectors of 8, each out of a table of 256, a scale for each row"
//     from "AQLM: inference_lib, two codebooks of 8 bits"
//     block 1 x 8 {
//         buffer codes                { n: u8[1][2] }
//         buffer codebook0[c0 of 256] { vectors0: f16[1][8] }    # codebooks[0]
//         buffer codebook1[c1 of 256] { vectors1: f16[1][8] }    # codebooks[1], which follows in the same tensor
//         buffer scales[rows]         { d: f16 }
//     }
//     code c0 per 8     = n        { 8 @ 0 }
//     code c1 per 8     = n        { 8 @ 8 }
//     code v0: f16      = vectors0 { 16 @ 0 (8:16) }
//     code v1: f16      = vectors1 { 16 @ 0 (8:16) }
//     code s: f16 per 8 = d        { 16 @ 0 }
//     value = (v0 + v1) * s
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time, at most as many as a subgroup has lanes
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say
layout(constant_id = 7) const uint STAGED = 1;  // runs of x that a workgroup loads together, where there are few rows; 1: none

layout(binding = 0, std430) readonly buffer CodesBuffer { uint8_t codes[]; };
layout(binding = 1, std430) readonly buffer Codebook0Buffer { uint codebook0[]; };
layout(binding = 2, std430) readonly buffer Codebook1Buffer { uint codebook1[]; };
layout(binding = 3, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 1, std430) readonly buffer Codebook0_fourBuffer { uvec4 codebook0_four[]; };
layout(binding = 2, std430) readonly buffer Codebook1_fourBuffer { uvec4 codebook1_four[]; };
layout(binding = 5, std430) readonly buffer Ids { uint ids[]; };
layout(binding = 6, std430) buffer Status { uint out_of_range; };
layout(binding = 4, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 4, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 7, std430) buffer Output { float y[]; };
layout(binding = 7, std430) buffer OutputHalves { uint16_t y_halves[]; };
layout(binding = 8, std430) readonly buffer ResultScale { float result_scale[]; };
layout(binding = 9, std430) readonly buffer RowBias { float row_bias[]; };
layout(binding = 10, std430) readonly buffer ResultGate { float result_gate[]; };
layout(binding = 11, std430) readonly buffer Residual { float residual[]; };
layout(push_constant) uniform Push {
    uint rows, row_tiles, batch, slots;  // of one expert; tiles of 8 elements in a row; tokens; experts of each
    uint x_slots;  // right-hand sides of each token: one for all of its slots, or one for each
    uint experts, expert_first, expert_end, epilogue;  // all there are; those that are bound in this launch
    uint cols, grid_rows, grid_cols;  // of the matrix that an expert is, whose patches the blocks are; blocks
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
uint row_of_weights(uint n) { return n; }
uint row_of_expert(uint n) { return VIEWS == 0u ? n * rows : weights_begin + n * weights_inner; }

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

const uint TILES = 8u, BATCH = 1u, SUMS = ROWS;
shared float partial[gl_WorkGroupSize.x / 4u * ROWS * 2u];

// Kept of x: tiles, in the order of the weights, and sums over runs that share a scale.
vec4 x[TILES][2];
float x_sum[TILES][1];

// sum + dot(a, b), in as many operations as a has lanes.
float dot_add(float sum, vec4 a, vec4 b) { return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum)))); }

// Runs of x on their way to threads, from run `staged_from` on, with gaps: neighbours take the same run of tiles that are neighbours.
shared vec4 staged[STAGED == 1u ? 1u : STAGED + STAGED / 8u];
uint staged_from = 0u;
vec4 staged_x(uint at) {
    if (STAGED == 1u) return x_run(at);
    const uint place = at - staged_from;
    return staged[place + place / 8u];
}

void load_x(uint vector, uint j, uint k) {  // what tile `j` of a row meets of right-hand side `vector`
    const uint place = j * 2u, from = x_from(min(vector, (batch * x_slots) - 1u), row_tiles * 2u) + place;
    vec4 run[2];
    [[unroll]] for (uint r = 0u; r < 2u; ++r) run[r] = staged_x(from + r);
    [[unroll]] for (uint r = 0u; r < 2u; ++r) x[k][r] = run[r];
}

void fetch(uint n, uint j, out uvec4 fours[2], out uint words[3]) {  // tile `j` of row `n`
    const uint expert = n / rows, row = n % rows, tile = j;
    const uint block_col = tile / 1u;
    uint n0 = uint(codes[expert * (rows * (grid_cols * 2u)) + (row * (grid_cols * 2u) + block_col * 2u)]);
    uint n1 = uint(codes[expert * (rows * (grid_cols * 2u)) + (row * (grid_cols * 2u) + (block_col * 2u + 1u))]);
    fours[0] = codebook0_four[expert * 256u + n0], fours[1] = codebook1_four[expert * 256u + n1];
    words[0] = uint(codes[expert * (rows * (grid_cols * 2u)) + (row * (grid_cols * 2u) + block_col * 2u)]);
    words[1] = uint(codes[expert * (rows * (grid_cols * 2u)) + (row * (grid_cols * 2u) + (block_col * 2u + 1u))]);
    words[2] = uint(scales[expert * rows + row]);
}

void accumulate(uint n, uint j, uint k, uvec4 fours[2], uint words[3], inout float sum) {  // `sum` += tile `j` of row `n` * x
    const uint expert = n / rows, row = n % rows, tile = j;
    const uint block_col = tile / 1u;
    float s = unpackHalf2x16(words[2]).x;
    uvec4 vectors0 = fours[0], vectors1 = fours[1];
    float v00 = unpackHalf2x16(vectors0.x).x, v01 = unpackHalf2x16(vectors0.x >> 16u).x;  // vectors0: 16 bits
    float v02 = unpackHalf2x16(vectors0.y).x, v03 = unpackHalf2x16(vectors0.y >> 16u).x;  // vectors0: 16 bits
    float v04 = unpackHalf2x16(vectors0.z).x, v05 = unpackHalf2x16(vectors0.z >> 16u).x;  // vectors0: 16 bits
    float v06 = unpackHalf2x16(vectors0.w).x, v07 = unpackHalf2x16(vectors0.w >> 16u).x;  // vectors0: 16 bits
    vec4 v08 = vec4(v00, v01, v02, v03), v09 = vec4(v04, v05, v06, v07);
    float v10 = unpackHalf2x16(vectors1.x).x, v11 = unpackHalf2x16(vectors1.x >> 16u).x;  // vectors1: 16 bits
    float v12 = unpackHalf2x16(vectors1.y).x, v13 = unpackHalf2x16(vectors1.y >> 16u).x;  // vectors1: 16 bits
    float v14 = unpackHalf2x16(vectors1.z).x, v15 = unpackHalf2x16(vectors1.z >> 16u).x;  // vectors1: 16 bits
    float v16 = unpackHalf2x16(vectors1.w).x, v17 = unpackHalf2x16(vectors1.w >> 16u).x;  // vectors1: 16 bits
    vec4 v18 = vec4(v10, v11, v12, v13), v19 = vec4(v14, v15, v16, v17);
    float dots = dot_add(dot(x[k][0], v08 + v18), x[k][1], v09 + v19);
    sum += s * dots;
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
    const uint row_runs = row_tiles * 2u, runs = x_from(vector + mine, row_runs);
    const uint skipped = begin * 2u, each = end * 2u - skipped, all = vectors * each;
    for (uint done = 0u; done < all; done += STAGED) {
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < min(STAGED, all - done); i += gl_WorkGroupSize.x) {
            const uint run = VIEWS == 3u ? x_from(vector + (done + i) / each, row_runs) + (done + i) % each : runs + done + i;
            staged[i + i / 8u] = x_run(run + skipped);
        }
        staged_from = runs + skipped + done - mine * each;  // where it would be, if all were of the thread's own
        barrier();
        [[unroll]] for (uint k = 0; k < TILES; ++k) {
            const uint j = own + k * step;
            if (j < end && runs + j * 2u - staged_from < STAGED) load_x(vector + mine, j, k);
        }
    }
}

// Subgroups share a row, each with the slice of x that it holds. Parts of results that follow each other share x: a workgroup takes such.
// Of results that are sums over the slots of a token, subgroups share those, too, and add up what each has of its own.
void main() {
    const uint tiles = row_tiles;
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
                    uvec4 fours[ROWS][2]; uint words[ROWS][3];
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, end - 1u), j, fours[r], words[r]);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(row + r, end - 1u), j, k, fours[r], words[r], sum[r]);
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
