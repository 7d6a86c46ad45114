// iq1_m_gemv_id_rows: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k].
// Generated from the specification below by `qkgen emit --format iq1_m`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 56 bytes for 256 elements, 1.75 bits each.
// For each weight 0.219 bytes read, 7.94 operations: 0.312 loads, 2.5 bits, 1.69 integer, 2.69 float, 0.625 conversions, 0.125 lookups.
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
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say

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

const uint TILES = 4u;

// Kept of x: tiles, in the order of the weights, and sums over runs that share a scale.
vec4 x[TILES][4];
float x_sum[TILES][3];
void load_x(uint vector, uint j, uint k) {  // what tile `j` of a row meets of right-hand side `vector`
    const uint tile = j % 16u, place = j / 16u * 64u + tile * 4u,
        from = x_from(min(vector, (batch * x_slots) - 1u), row_tiles * 4u) + place;
    vec4 run[4];
    [[unroll]] for (uint r = 0u; r < 4u; ++r) run[r] = x_run(from + r);
    [[unroll]] for (uint r = 0u; r < 4u; ++r) x[k][r] = run[r] * vec4(16777216.0, 1048576.0, 16777216.0, 1048576.0);
    x_sum[k][0] = dot(run[0] + run[1] + run[2] + run[3], vec4(1.0));
    x_sum[k][1] = dot(run[0] + run[1], vec4(1.0));
    x_sum[k][2] = dot(run[2] + run[3], vec4(1.0));
}

void accumulate(uint n, uint j, uint k, inout float sum) {  // `sum` += tile `j` of row `n` * x
    const uint block = row_of_weights(n) * (row_tiles / 16u) + j / 16u, tile = j % 16u;
    uint base = block * 14u, shift0 = tile % 2u * 16u, shift1 = tile % 4u * 8u, scales0 = blocks[base + 12u], scales1 = blocks[base + 13u];
    uint scales2 = blocks[base + tile / 4u / 2u + 12u], qs = blocks[base + tile / 2u], qh = blocks[base + tile / 4u + 8u];
    uint d_0bit = (scales0 >> 12u) & 15u;  // scales: bits 0-3 of d
    uint d_4bit = scales0 >> 28u;  // scales: bits 4-7 of d
    uint d_8bit = (scales1 >> 12u) & 15u;  // scales: bits 8-11 of d
    uint d_12bit = scales1 >> 28u;  // scales: bits 12-15 of d
    float d = unpackHalf2x16(d_0bit | (d_4bit << 4u) | (d_8bit << 8u) | (d_12bit << 12u)).x;
    uint sc = (scales2 >> (tile / 4u % 2u * 16u + tile % 4u * 3u)) & 7u;  // scales: 3 bits
    precise float d_sc = d * float(2 * int(sc) + 1);
    uint g_lo0 = (qs >> shift0) & 0xFFu, g_lo1 = (qs >> (shift0 + 8u)) & 0xFFu;  // qs: bits 0-7 of g
    uint g_hi0 = (qh >> shift1) & 7u, g_hi1 = (qh >> (shift1 + 4u)) & 7u;  // qh: bits 8-10 of g
    uint g0 = g_lo0 | (g_hi0 << 8u), G_row0 = G[g0], g1 = g_lo1 | (g_hi1 << 8u), G_row1 = G[g1];
    vec2 pair0 = unpackHalf2x16(G_row0 & 0xF000Fu), pair1 = unpackHalf2x16(G_row0 & 0xF000F0u);
    vec2 pair2 = unpackHalf2x16((G_row0 >> 8u) & 0xF000Fu), pair3 = unpackHalf2x16((G_row0 >> 8u) & 0xF000F0u);
    vec2 pair4 = unpackHalf2x16(G_row1 & 0xF000Fu), pair5 = unpackHalf2x16(G_row1 & 0xF000F0u);
    vec2 pair6 = unpackHalf2x16((G_row1 >> 8u) & 0xF000Fu), pair7 = unpackHalf2x16((G_row1 >> 8u) & 0xF000F0u);
    uint sg0 = (qh >> (shift1 + 3u)) & 1u, sg1 = (qh >> (shift1 + 7u)) & 1u;  // qh: 1 bit
    sum += d_sc * (dot(x[k][0], vec4(pair0.x, pair1.x, pair2.x, pair3.x)) + dot(x[k][1], vec4(pair0.y, pair1.y, pair2.y, pair3.y))
        + dot(x[k][2], vec4(pair4.x, pair5.x, pair6.x, pair7.x)) + dot(x[k][3], vec4(pair4.y, pair5.y, pair6.y, pair7.y)) - x_sum[k][0])
        + d_sc * (int(sg0) != 0 ? -0.125 : 0.125) * x_sum[k][1] + d_sc * (int(sg1) != 0 ? -0.125 : 0.125) * x_sum[k][2];
}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS];

void main() {
    // A subgroup holds a slice of x and walks down the rows. While there are slices for more, subgroups share a row.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    uint split = 1u;
    while (split < slices && gl_NumSubgroups % (2u * split) == 0u) split *= 2u;
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    const uint parts = (rows + teams * ROWS - 1u) / (teams * ROWS);
    uint held = ~0u, held_vector = ~0u;
    for (uint work = gl_WorkGroupID.x; work < (VIEWS == 0u ? 1u : sets) * batch * slots * parts; work += gl_NumWorkGroups.x) {
        const uint pair = pair_of(work / parts), first = work % parts * teams * ROWS, expert = ids[id_of(pair)];
        const uint vector = x_slots == 1u ? pair / slots : pair;
        const bool found = expert < experts;
        if (found ? expert < expert_first || expert >= expert_end : expert_first != 0u) continue;  // another launch's
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
        if (!found && first == 0u && gl_LocalInvocationID.x == 0u) atomicAdd(out_of_range, 1u);  // zeros
        for (uint c = gl_SubgroupID % split; found && c < slices; c += split) {
            [[unroll]] for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
                if (j >= row_tiles) continue;
                if (c != held || vector != held_vector) load_x(vector, j, k);
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, rows - 1u);
                    accumulate(row_of_expert(expert - expert_first) + row, j, k, sum[r]);
                }
            }
            held = c;
            held_vector = vector;
        }
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            const float all = subgroupAdd(sum[r]);
            if (subgroupElect()) partial[gl_SubgroupID * ROWS + r] = all;
        }
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < teams * ROWS; i += gl_WorkGroupSize.x) {
            const uint at = i / ROWS * (split - 1u) * ROWS + i;
            float total = 0.0;
            for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS];
            if (first + i < rows) finish(pair, expert, first + i, total, scale_of_pair(pair, expert));
        }
        barrier();
    }
}
