// q4_K_gemv_id_rows: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k].
// Generated from the specification below by `qkgen emit --format q4_K`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 144 bytes for 256 elements, 4.5 bits each.
// For each weight 0.562 bytes read, 7.56 operations: 0.438 loads, 2.19 bits, 1.44 integer, 2.62 float, 0.875 conversions.
//     format q4_K "4-bit codes, 6-bit scales and minimums in groups of 32"
//     from "ggml (llama.cpp), ggml-common.h"
//     block 256 {
//         d:      f16
//         dmin:   f16
//         scales: u8[12]
//         qs:     u8[128]
//     }
//     # Groups 0 to 3 have their six bits in one byte; groups 4 to 7 borrow the two high bits of those bytes.
//     code sc per 32 = scales { 4 @ 0 (4:8, 2:64)   2 @ 4 (4:8, 2:2) }
//     code mn per 32 = scales { 4 @ 32 (4:8, 2:36)  2 @ 36 (4:8, 2:2) }
//     # 32 low nibbles, 32 high nibbles, and so on in steps of 32 bytes.
//     code q = qs { 4 @ 0 (32:8, 2:4, 4:256) }
//     value = d * sc * q - dmin * mn
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
float x_sum[TILES][2];
void load_x(uint vector, uint j, uint k) {  // what tile `j` of a row meets of right-hand side `vector`
    const uint tile = j % 16u, place = j / 16u * 64u + tile / 4u * 16u + tile % 4u * 2u,
        from = x_from(min(vector, (batch * x_slots) - 1u), row_tiles * 4u) + place;
    vec4 run[4];
    [[unroll]] for (uint r = 0u; r < 4u; ++r) run[r] = x_run(from + r % 2u + r / 2u * 8u);
    [[unroll]] for (uint r = 0u; r < 2u; ++r) x[k][r] = run[r] * 16777216.0;
    [[unroll]] for (uint r = 2u; r < 4u; ++r) x[k][r] = run[r] * 1048576.0;
    x_sum[k][0] = dot(run[0] + run[1], vec4(1.0));
    x_sum[k][1] = dot(run[2] + run[3], vec4(1.0));
}

// What `mask` has of each byte of a word: the low bits of a half are a number of units of 2^-24.
vec4 four_codes(uint word, uint mask) {
    const vec2 even = unpackHalf2x16(word & mask), odd = unpackHalf2x16((word >> 8) & mask);
    return vec4(even.x, odd.x, even.y, odd.y);
}

void accumulate(uint n, uint j, uint k, inout float sum) {  // `sum` += tile `j` of row `n` * x
    const uint block = row_of_weights(n) * (row_tiles / 16u) + j / 16u, tile = j % 16u;
    uint base = block * 36u, part = tile / 4u;  // part: of 64 elements
    uint shift0 = part % 2u * 16u, shift1 = shift0 + part / 2u * 2u, shift2 = shift0 + part / 2u * 4u, d_dmin = blocks[base];
    uint scales0 = blocks[base + part / 2u * 2u + 1u], scales1 = blocks[base + 1u], qs0 = blocks[base + tile * 2u + 4u];
    uint qs1 = blocks[base + tile * 2u + 5u], scales2 = blocks[base + part / 2u + 2u], scales3 = blocks[base + 2u];
    float d = unpackHalf2x16(d_dmin).x, dmin = unpackHalf2x16(d_dmin >> 16u).x;
    uint sc_lo0 = (scales0 >> shift0) & 15u, sc_lo1 = (scales0 >> (shift0 + 8u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi0 = (scales1 >> (shift1 + 4u)) & 3u, sc_hi1 = (scales1 >> (shift1 + 12u)) & 3u;  // scales: bits 4-5 of sc
    uint sc0 = sc_lo0 | (sc_hi0 << 4u), sc1 = sc_lo1 | (sc_hi1 << 4u);
    precise float d_sc0 = d * float(sc0), d_sc1 = d * float(sc1);
    vec4 values0 = four_codes(qs0, 0xF000Fu), values1 = four_codes(qs1, 0xF000Fu), values2 = four_codes(qs0, 0xF000F0u);
    vec4 values3 = four_codes(qs1, 0xF000F0u);
    uint mn_lo0 = (scales2 >> shift2) & 15u, mn_lo1 = (scales2 >> (shift2 + 8u)) & 15u;  // scales: bits 0-3 of mn
    uint mn_hi0 = (scales3 >> (shift1 + 4u)) & 3u, mn_hi1 = (scales3 >> (shift1 + 12u)) & 3u;  // scales: bits 4-5 of mn
    uint mn0 = mn_lo0 | (mn_hi0 << 4u), mn1 = mn_lo1 | (mn_hi1 << 4u);
    precise float dmin_mn0 = dmin * float(mn0), dmin_mn1 = dmin * float(mn1);
    sum += d_sc0 * (dot(x[k][0], values0) + dot(x[k][1], values1)) - dmin_mn0 * x_sum[k][0]
        + d_sc1 * (dot(x[k][2], values2) + dot(x[k][3], values3)) - dmin_mn1 * x_sum[k][1];
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
