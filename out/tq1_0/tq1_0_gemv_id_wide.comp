// tq1_0_gemv_id_wide: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k].
// Generated from the specification below by `qkgen emit --format tq1_0`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 54 bytes for 256 elements, 1.688 bits each.
// For each weight 0.211 bytes read, 5.84 operations: 0.141 loads, 2.33 bits, 0.828 integer, 2.03 float, 0.516 conversions.
//     format tq1_0 "ternary codes, five in a byte, one scale for 256"
//     block 256 {
//         qs: u8[48]
//         qh: u8[4]
//         d:  f16
//     }
//     code t = qs { 8 base 3 @ 0   (32:8, 5:^) }    # elements 0 to 159
//         then qs { 8 base 3 @ 256 (16:8, 5:^) }    # 160 to 239
//         then qh { 8 base 3 @ 0   (4:8,  4:^) }    # 240 to 255
//     value = (t - 1) * d
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
    uint rows, row_tiles, batch, slots;  // of one expert; tiles of 64 elements in a row; tokens; experts of each
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
float x_sum[TILES][1];

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
    const uint tile = j % 4u, place = j / 4u * 64u + tile, from = x_from(min(vector, (batch * x_slots) - 1u), row_tiles * 16u) + place;
    vec4 run[16];
    [[unroll]] for (uint r = 0u; r < 16u; ++r) run[r] = staged_x(from + r * 4u);
    [[unroll]] for (uint r = 0u; r < 16u; ++r) x[k][r] = run[r] * vec4(16777216.0, 65536.0, 16777216.0, 65536.0);
    x_sum[k][0] = dot(run[0] + run[1] + run[2] + run[3] + run[4] + run[5] + run[6] + run[7] + run[8] + run[9] + run[10] + run[11] + run[12]
        + run[13] + run[14] + run[15], vec4(-1.0));
}

void fetch(uint n, uint j, out uint words[9]) {  // tile `j` of row `n`
    const uint block = row_of_weights(n) * (row_tiles / 4u) + j / 4u, tile = j % 4u;
    uint base = block * 27u, first = base / 2u, next = (base + 1u) / 2u;
    words[0] = blocks_word[first + tile], words[1] = blocks_word[next + tile], words[2] = uint(blocks[base + 26u]);
    words[3] = blocks_word[first + tile + 4u], words[4] = blocks_word[next + tile + 4u], words[5] = blocks_word[first + tile + 8u];
    words[6] = blocks_word[next + tile + 8u], words[7] = blocks_word[first + 12u], words[8] = blocks_word[next + 12u];
}

void accumulate(uint n, uint j, uint k, uint words[9], inout float sum) {  // `sum` += tile `j` of row `n` * x
    const uint block = row_of_weights(n) * (row_tiles / 4u) + j / 4u, tile = j % 4u;
    uint power = (0x1B090301u >> (tile * 8u)) & 0xFFu;  // 3^n
    float d = unpackHalf2x16(words[2]).x;
    bool midway = (block & 1u) != 0u;  // midway: the block begins in the middle of a word
    uint qs0 = midway ? (words[0] >> 16u) | (words[1] << 16u) : words[0], evens0 = (qs0 & 0xFF00FFu) * 3u;
    uint odds0 = ((qs0 >> 8u) & 0xFF00FFu) * 3u, bytes0 = ((evens0 >> 8u) & 0xFF00FFu) | (odds0 & 0xFF00FF00u);
    uint qs1 = midway ? (words[3] >> 16u) | (words[4] << 16u) : words[3], evens1 = (qs1 & 0xFF00FFu) * 3u;
    uint odds1 = ((qs1 >> 8u) & 0xFF00FFu) * 3u, bytes1 = ((evens1 >> 8u) & 0xFF00FFu) | (odds1 & 0xFF00FF00u);
    uint evens2 = (evens0 & 0xFF00FFu) * 3u, odds2 = (odds0 & 0xFF00FFu) * 3u;
    uint bytes2 = ((evens2 >> 8u) & 0xFF00FFu) | (odds2 & 0xFF00FF00u), evens3 = (evens1 & 0xFF00FFu) * 3u;
    uint odds3 = (odds1 & 0xFF00FFu) * 3u, bytes3 = ((evens3 >> 8u) & 0xFF00FFu) | (odds3 & 0xFF00FF00u);
    uint evens4 = (evens2 & 0xFF00FFu) * 3u, odds4 = (odds2 & 0xFF00FFu) * 3u;
    uint bytes4 = ((evens4 >> 8u) & 0xFF00FFu) | (odds4 & 0xFF00FF00u), evens5 = (evens3 & 0xFF00FFu) * 3u;
    uint odds5 = (odds3 & 0xFF00FFu) * 3u, bytes5 = ((evens5 >> 8u) & 0xFF00FFu) | (odds5 & 0xFF00FF00u);
    uint evens6 = (evens4 & 0xFF00FFu) * 3u, odds6 = (odds4 & 0xFF00FFu) * 3u;
    uint bytes6 = ((evens6 >> 8u) & 0xFF00FFu) | (odds6 & 0xFF00FF00u), evens7 = (evens5 & 0xFF00FFu) * 3u;
    uint odds7 = (odds5 & 0xFF00FFu) * 3u, bytes7 = ((evens7 >> 8u) & 0xFF00FFu) | (odds7 & 0xFF00FF00u);
    uint evens8 = (evens6 & 0xFF00FFu) * 3u, odds8 = (odds6 & 0xFF00FFu) * 3u;
    uint bytes8 = ((evens8 >> 8u) & 0xFF00FFu) | (odds8 & 0xFF00FF00u), evens9 = (evens7 & 0xFF00FFu) * 3u;
    uint odds9 = (odds7 & 0xFF00FFu) * 3u, bytes9 = ((evens9 >> 8u) & 0xFF00FFu) | (odds9 & 0xFF00FF00u);
    uint qs2 = midway ? (words[5] >> 16u) | (words[6] << 16u) : words[5], evens10 = (qs2 & 0xFF00FFu) * 3u;
    uint odds10 = ((qs2 >> 8u) & 0xFF00FFu) * 3u, bytes10 = ((evens10 >> 8u) & 0xFF00FFu) | (odds10 & 0xFF00FF00u);
    uint evens11 = (evens10 & 0xFF00FFu) * 3u, odds11 = (odds10 & 0xFF00FFu) * 3u;
    uint bytes11 = ((evens11 >> 8u) & 0xFF00FFu) | (odds11 & 0xFF00FF00u), evens12 = (evens11 & 0xFF00FFu) * 3u;
    uint odds12 = (odds11 & 0xFF00FFu) * 3u, bytes12 = ((evens12 >> 8u) & 0xFF00FFu) | (odds12 & 0xFF00FF00u);
    uint evens13 = (evens12 & 0xFF00FFu) * 3u, odds13 = (odds12 & 0xFF00FFu) * 3u;
    uint bytes13 = ((evens13 >> 8u) & 0xFF00FFu) | (odds13 & 0xFF00FF00u), evens14 = (evens13 & 0xFF00FFu) * 3u;
    uint odds14 = (odds13 & 0xFF00FFu) * 3u, bytes14 = ((evens14 >> 8u) & 0xFF00FFu) | (odds14 & 0xFF00FF00u);
    uint qh = midway ? (words[7] >> 16u) | (words[8] << 16u) : words[7], evens15 = (((qh & 0xFF00FFu) * power) & 0xFF00FFu) * 3u;
    uint odds15 = ((((qh >> 8u) & 0xFF00FFu) * power) & 0xFF00FFu) * 3u, bytes15 = ((evens15 >> 8u) & 0xFF00FFu) | (odds15 & 0xFF00FF00u);
    vec2 pair0 = unpackHalf2x16(bytes0 & 0x30003u), pair1 = unpackHalf2x16(bytes0 & 0x3000300u), pair2 = unpackHalf2x16(bytes1 & 0x30003u);
    vec2 pair3 = unpackHalf2x16(bytes1 & 0x3000300u), pair4 = unpackHalf2x16(bytes2 & 0x30003u);
    vec2 pair5 = unpackHalf2x16(bytes2 & 0x3000300u), pair6 = unpackHalf2x16(bytes3 & 0x30003u);
    vec2 pair7 = unpackHalf2x16(bytes3 & 0x3000300u), pair8 = unpackHalf2x16(bytes4 & 0x30003u);
    vec2 pair9 = unpackHalf2x16(bytes4 & 0x3000300u), pair10 = unpackHalf2x16(bytes5 & 0x30003u);
    vec2 pair11 = unpackHalf2x16(bytes5 & 0x3000300u), pair12 = unpackHalf2x16(bytes6 & 0x30003u);
    vec2 pair13 = unpackHalf2x16(bytes6 & 0x3000300u), pair14 = unpackHalf2x16(bytes7 & 0x30003u);
    vec2 pair15 = unpackHalf2x16(bytes7 & 0x3000300u), pair16 = unpackHalf2x16(bytes8 & 0x30003u);
    vec2 pair17 = unpackHalf2x16(bytes8 & 0x3000300u), pair18 = unpackHalf2x16(bytes9 & 0x30003u);
    vec2 pair19 = unpackHalf2x16(bytes9 & 0x3000300u), pair20 = unpackHalf2x16(bytes10 & 0x30003u);
    vec2 pair21 = unpackHalf2x16(bytes10 & 0x3000300u), pair22 = unpackHalf2x16(bytes11 & 0x30003u);
    vec2 pair23 = unpackHalf2x16(bytes11 & 0x3000300u), pair24 = unpackHalf2x16(bytes12 & 0x30003u);
    vec2 pair25 = unpackHalf2x16(bytes12 & 0x3000300u), pair26 = unpackHalf2x16(bytes13 & 0x30003u);
    vec2 pair27 = unpackHalf2x16(bytes13 & 0x3000300u), pair28 = unpackHalf2x16(bytes14 & 0x30003u);
    vec2 pair29 = unpackHalf2x16(bytes14 & 0x3000300u), pair30 = unpackHalf2x16(bytes15 & 0x30003u);
    vec2 pair31 = unpackHalf2x16(bytes15 & 0x3000300u);
    float dots0 = dot_add(x_sum[k][0], x[k][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y));
    float dots1 = dot_add(dots0, x[k][1], vec4(pair2.x, pair3.x, pair2.y, pair3.y));
    float dots2 = dot_add(dots1, x[k][2], vec4(pair4.x, pair5.x, pair4.y, pair5.y));
    float dots3 = dot_add(dots2, x[k][3], vec4(pair6.x, pair7.x, pair6.y, pair7.y));
    float dots4 = dot_add(dots3, x[k][4], vec4(pair8.x, pair9.x, pair8.y, pair9.y));
    float dots5 = dot_add(dots4, x[k][5], vec4(pair10.x, pair11.x, pair10.y, pair11.y));
    float dots6 = dot_add(dots5, x[k][6], vec4(pair12.x, pair13.x, pair12.y, pair13.y));
    float dots7 = dot_add(dots6, x[k][7], vec4(pair14.x, pair15.x, pair14.y, pair15.y));
    float dots8 = dot_add(dot(x[k][8], vec4(pair16.x, pair17.x, pair16.y, pair17.y)), x[k][9],
        vec4(pair18.x, pair19.x, pair18.y, pair19.y));
    float dots9 = dot_add(dots8, x[k][10], vec4(pair20.x, pair21.x, pair20.y, pair21.y));
    float dots10 = dot_add(dots9, x[k][11], vec4(pair22.x, pair23.x, pair22.y, pair23.y));
    float dots11 = dot_add(dots10, x[k][12], vec4(pair24.x, pair25.x, pair24.y, pair25.y));
    float dots12 = dot_add(dots11, x[k][13], vec4(pair26.x, pair27.x, pair26.y, pair27.y));
    float dots13 = dot_add(dots12, x[k][14], vec4(pair28.x, pair29.x, pair28.y, pair29.y));
    float dots14 = dot_add(dots13, x[k][15], vec4(pair30.x, pair31.x, pair30.y, pair31.y));
    sum += d * (dots7 + dots14);
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
    const uint row_runs = row_tiles * 16u, runs = x_from(vector + mine, row_runs);
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
                    uint words[ROWS][9];
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
