// iq1_m_gemv_id_wide: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k].
// Generated from the specification below by `qkgen emit --format iq1_m`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 56 bytes for 256 elements, 1.75 bits each.
// For each weight 0.219 bytes read, 5.83 operations: 0.0938 loads, 1.84 bits, 0.5 integer, 2.69 float, 0.578 conversions, 0.125 lookups.
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
layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time, at most as many as a subgroup has lanes
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say
layout(constant_id = 7) const uint STAGED = 1;  // runs of x that a workgroup loads together, where there are few rows; 1: none
layout(constant_id = 15) const uint COPIES = 1;  // of tables, for threads that are neighbours; 1: none

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 9, std430) readonly buffer GTable { uint G[]; };  // 2048 rows of 8: i8 from -1 on, in 4 bits each
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

// Kept of x: tiles, in the order of the weights, and sums over runs that share a scale.
vec4 x[TILES][16];
float x_sum[TILES][12];

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

shared uint G_copies[COPIES == 1u ? 1u : 2048u * COPIES];

// A word of G, from the thread's copy.
uint G_at(uint i) {
    const uint copy = gl_LocalInvocationID.x % COPIES;
    if (COPIES == 1u) return G[i];
    return G_copies[i * COPIES + copy];
}

void load_x(uint vector, uint j, uint k) {  // what tile `j` of a row meets of right-hand side `vector`
    const uint tile = j % 4u, place = j / 4u * 64u + tile * 16u, from = x_from(min(vector, (batch * x_slots) - 1u), row_tiles * 4u) + place;
    vec4 run[16];
    [[unroll]] for (uint r = 0u; r < 16u; ++r) run[r] = staged_x(from + r);
    [[unroll]] for (uint r = 0u; r < 16u; ++r) x[k][r] = run[r] * vec4(16777216.0, 1048576.0, 16777216.0, 1048576.0);
    x_sum[k][0] = dot(run[0] + run[1] + run[2] + run[3], vec4(1.0));
    x_sum[k][1] = dot(run[0] + run[1], vec4(1.0));
    x_sum[k][2] = dot(run[2] + run[3], vec4(1.0));
    x_sum[k][3] = dot(run[4] + run[5] + run[6] + run[7], vec4(1.0));
    x_sum[k][4] = dot(run[4] + run[5], vec4(1.0));
    x_sum[k][5] = dot(run[6] + run[7], vec4(1.0));
    x_sum[k][6] = dot(run[8] + run[9] + run[10] + run[11], vec4(1.0));
    x_sum[k][7] = dot(run[8] + run[9], vec4(1.0));
    x_sum[k][8] = dot(run[10] + run[11], vec4(1.0));
    x_sum[k][9] = dot(run[12] + run[13] + run[14] + run[15], vec4(1.0));
    x_sum[k][10] = dot(run[12] + run[13], vec4(1.0));
    x_sum[k][11] = dot(run[14] + run[15], vec4(1.0));
}

void fetch(uint n, uint j, out uint words[6]) {  // tile `j` of row `n`
    uint block = row_of_weights(n) * (row_tiles / 16u) + j / 4u, tile = j % 4u, base = block * 14u;
    words[0] = blocks[base + 12u], words[1] = blocks[base + 13u], words[2] = blocks[base + tile / 2u + 12u];
    words[3] = blocks[base + tile * 2u], words[4] = blocks[base + tile + 8u], words[5] = blocks[base + tile * 2u + 1u];
}

void accumulate(uint n, uint j, uint k, uint words[6], inout float sum) {  // `sum` += tile `j` of row `n` * x
    const uint tile = j % 4u;
    uint shift = tile % 2u * 16u, scales0 = words[0], scales1 = words[1], scales2 = words[2], qs0 = words[3], qh = words[4], qs1 = words[5];
    uint d_0bit = (scales0 >> 12u) & 15u;  // scales: bits 0-3 of d
    uint d_4bit = scales0 >> 28u;  // scales: bits 4-7 of d
    uint d_8bit = (scales1 >> 12u) & 15u;  // scales: bits 8-11 of d
    uint d_12bit = scales1 >> 28u;  // scales: bits 12-15 of d
    float d = unpackHalf2x16(d_0bit | (d_4bit << 4u) | (d_8bit << 8u) | (d_12bit << 12u)).x;
    uint sc0 = (scales2 >> shift) & 7u, sc1 = (scales2 >> (shift + 3u)) & 7u, sc2 = (scales2 >> (shift + 6u)) & 7u;  // scales: 3 bits
    uint sc3 = (scales2 >> (shift + 9u)) & 7u;  // scales: 3 bits
    precise float d_sc0 = d * float(2 * int(sc0) + 1), d_sc1 = d * float(2 * int(sc1) + 1), d_sc2 = d * float(2 * int(sc2) + 1);
    precise float d_sc3 = d * float(2 * int(sc3) + 1);
    uint g_lo0 = qs0 & 0xFFu, g_lo1 = (qs0 >> 8u) & 0xFFu, g_lo2 = (qs0 >> 16u) & 0xFFu, g_lo3 = qs0 >> 24u;  // qs: bits 0-7 of g
    uint g_lo4 = qs1 & 0xFFu, g_lo5 = (qs1 >> 8u) & 0xFFu, g_lo6 = (qs1 >> 16u) & 0xFFu, g_lo7 = qs1 >> 24u;  // qs: bits 0-7 of g
    uint g_hi0 = qh & 7u, g_hi1 = (qh >> 4u) & 7u, g_hi2 = (qh >> 8u) & 7u, g_hi3 = (qh >> 12u) & 7u;  // qh: bits 8-10 of g
    uint g_hi4 = (qh >> 16u) & 7u, g_hi5 = (qh >> 20u) & 7u, g_hi6 = (qh >> 24u) & 7u, g_hi7 = (qh >> 28u) & 7u;  // qh: bits 8-10 of g
    uint g0 = g_lo0 | (g_hi0 << 8u), G_row0 = G_at(g0), g1 = g_lo1 | (g_hi1 << 8u), G_row1 = G_at(g1), g2 = g_lo2 | (g_hi2 << 8u);
    uint G_row2 = G_at(g2), g3 = g_lo3 | (g_hi3 << 8u), G_row3 = G_at(g3), g4 = g_lo4 | (g_hi4 << 8u), G_row4 = G_at(g4);
    uint g5 = g_lo5 | (g_hi5 << 8u), G_row5 = G_at(g5), g6 = g_lo6 | (g_hi6 << 8u), G_row6 = G_at(g6), g7 = g_lo7 | (g_hi7 << 8u);
    uint G_row7 = G_at(g7);
    vec2 pair0 = unpackHalf2x16(G_row0 & 0xF000Fu), pair1 = unpackHalf2x16(G_row0 & 0xF000F0u);
    vec2 pair2 = unpackHalf2x16((G_row0 >> 8u) & 0xF000Fu), pair3 = unpackHalf2x16((G_row0 >> 8u) & 0xF000F0u);
    vec2 pair4 = unpackHalf2x16(G_row1 & 0xF000Fu), pair5 = unpackHalf2x16(G_row1 & 0xF000F0u);
    vec2 pair6 = unpackHalf2x16((G_row1 >> 8u) & 0xF000Fu), pair7 = unpackHalf2x16((G_row1 >> 8u) & 0xF000F0u);
    vec2 pair8 = unpackHalf2x16(G_row2 & 0xF000Fu), pair9 = unpackHalf2x16(G_row2 & 0xF000F0u);
    vec2 pair10 = unpackHalf2x16((G_row2 >> 8u) & 0xF000Fu), pair11 = unpackHalf2x16((G_row2 >> 8u) & 0xF000F0u);
    vec2 pair12 = unpackHalf2x16(G_row3 & 0xF000Fu), pair13 = unpackHalf2x16(G_row3 & 0xF000F0u);
    vec2 pair14 = unpackHalf2x16((G_row3 >> 8u) & 0xF000Fu), pair15 = unpackHalf2x16((G_row3 >> 8u) & 0xF000F0u);
    vec2 pair16 = unpackHalf2x16(G_row4 & 0xF000Fu), pair17 = unpackHalf2x16(G_row4 & 0xF000F0u);
    vec2 pair18 = unpackHalf2x16((G_row4 >> 8u) & 0xF000Fu), pair19 = unpackHalf2x16((G_row4 >> 8u) & 0xF000F0u);
    vec2 pair20 = unpackHalf2x16(G_row5 & 0xF000Fu), pair21 = unpackHalf2x16(G_row5 & 0xF000F0u);
    vec2 pair22 = unpackHalf2x16((G_row5 >> 8u) & 0xF000Fu), pair23 = unpackHalf2x16((G_row5 >> 8u) & 0xF000F0u);
    vec2 pair24 = unpackHalf2x16(G_row6 & 0xF000Fu), pair25 = unpackHalf2x16(G_row6 & 0xF000F0u);
    vec2 pair26 = unpackHalf2x16((G_row6 >> 8u) & 0xF000Fu), pair27 = unpackHalf2x16((G_row6 >> 8u) & 0xF000F0u);
    vec2 pair28 = unpackHalf2x16(G_row7 & 0xF000Fu), pair29 = unpackHalf2x16(G_row7 & 0xF000F0u);
    vec2 pair30 = unpackHalf2x16((G_row7 >> 8u) & 0xF000Fu), pair31 = unpackHalf2x16((G_row7 >> 8u) & 0xF000F0u);
    uint sg0 = (qh >> 3u) & 1u, sg1 = (qh >> 7u) & 1u, sg2 = (qh >> 11u) & 1u, sg3 = (qh >> 15u) & 1u, sg4 = (qh >> 19u) & 1u;  // qh: 1 bit
    uint sg5 = (qh >> 23u) & 1u, sg6 = (qh >> 27u) & 1u, sg7 = qh >> 31u;  // qh: 1 bit
    float dots0 = dot_add(dot(x[k][0], vec4(pair0.x, pair1.x, pair2.x, pair3.x)), x[k][1], vec4(pair0.y, pair1.y, pair2.y, pair3.y));
    float dots1 = dot_add(dots0, x[k][2], vec4(pair4.x, pair5.x, pair6.x, pair7.x));
    float dots2 = dot_add(dots1, x[k][3], vec4(pair4.y, pair5.y, pair6.y, pair7.y));
    float dots3 = dot_add(dot(x[k][4], vec4(pair8.x, pair9.x, pair10.x, pair11.x)), x[k][5], vec4(pair8.y, pair9.y, pair10.y, pair11.y));
    float dots4 = dot_add(dots3, x[k][6], vec4(pair12.x, pair13.x, pair14.x, pair15.x));
    float dots5 = dot_add(dots4, x[k][7], vec4(pair12.y, pair13.y, pair14.y, pair15.y));
    float dots6 = dot_add(dot(x[k][8], vec4(pair16.x, pair17.x, pair18.x, pair19.x)), x[k][9],
        vec4(pair16.y, pair17.y, pair18.y, pair19.y));
    float dots7 = dot_add(dots6, x[k][10], vec4(pair20.x, pair21.x, pair22.x, pair23.x));
    float dots8 = dot_add(dots7, x[k][11], vec4(pair20.y, pair21.y, pair22.y, pair23.y));
    float dots9 = dot_add(dot(x[k][12], vec4(pair24.x, pair25.x, pair26.x, pair27.x)), x[k][13],
        vec4(pair24.y, pair25.y, pair26.y, pair27.y));
    float dots10 = dot_add(dots9, x[k][14], vec4(pair28.x, pair29.x, pair30.x, pair31.x));
    float dots11 = dot_add(dots10, x[k][15], vec4(pair28.y, pair29.y, pair30.y, pair31.y));
    sum += d_sc0 * (dots2 - x_sum[k][0]) + d_sc0 * (int(sg0) != 0 ? -0.125 : 0.125) * x_sum[k][1]
        + d_sc0 * (int(sg1) != 0 ? -0.125 : 0.125) * x_sum[k][2] + d_sc1 * (dots5 - x_sum[k][3])
        + d_sc1 * (int(sg2) != 0 ? -0.125 : 0.125) * x_sum[k][4] + d_sc1 * (int(sg3) != 0 ? -0.125 : 0.125) * x_sum[k][5]
        + d_sc2 * (dots8 - x_sum[k][6]) + d_sc2 * (int(sg4) != 0 ? -0.125 : 0.125) * x_sum[k][7]
        + d_sc2 * (int(sg5) != 0 ? -0.125 : 0.125) * x_sum[k][8] + d_sc3 * (dots11 - x_sum[k][9])
        + d_sc3 * (int(sg6) != 0 ? -0.125 : 0.125) * x_sum[k][10] + d_sc3 * (int(sg7) != 0 ? -0.125 : 0.125) * x_sum[k][11];
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
                    uint words[ROWS][6];
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
