// q5_K_gemv_id_rows: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k].
// Generated from the specification below by `qkgen emit --format q5_K`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 176 bytes for 256 elements, 5.5 bits each.
// For each weight 0.688 bytes read, 8.59 operations: 0.281 loads, 3.69 bits, 0.312 integer, 3.25 float, 1.06 conversions.
//
//     format q5_K "5-bit codes, 6-bit scales and minimums in groups of 32"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         d:      f16
//         dmin:   f16
//         scales: u8[12]
//         qh:     u8[32]
//         qs:     u8[128]
//     }
//
//     # Groups 0 to 3 have their six bits in one byte; groups 4 to 7 borrow the two high bits of those bytes.
//     code sc per 32 = scales { 4 @ 0 (4:8, 2:64)   2 @ 4 (4:8, 2:2) }
//     code mn per 32 = scales { 4 @ 32 (4:8, 2:36)  2 @ 36 (4:8, 2:2) }
//
//     code q = qs { 4 @ 0 (32:8, 2:4, 4:256) }    # as 4-bit codes
//              qh { 1 @ 0 (32:8, 8:1) }           # bit g of byte j: the fifth bit of element 32 g + j
//
//     value = d * sc * q - dmin * mn
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_arithmetic : require

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time
layout(constant_id = 21) const uint X_TYPE = 0;  // how x is stored: 0 as f32, 1 as f16, 2 as bf16

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 2, std430) readonly buffer Ids { uint ids[]; };
layout(binding = 3, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 32 elements in a row
    uint batch;         // tokens
    uint slots;         // experts of each token
    uint x_slots;       // right-hand sides of each token: one for all of its slots, or one for each
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
    uint epilogue;      // what is done with results
    // Of VIEWS:
    uint weights_inner;  // rows from an expert to the next
    uint x_first;        // elements; from a slot's x to the next, and from a token's to the next
    uint x_stride;
    uint x_inner;
    uint y_skip;         // elements in y alone, then as of x
    uint y_stride;
    uint y_inner;
    uint ids_skip;       // and from a token's ids to the next
    uint ids_inner;
};

layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as the push constants say; 0: one after the other

uint group_number() {
    return gl_WorkGroupID.x;
}

uint group_count() {
    return gl_NumWorkGroups.x;
}

// Among all rows of weights: experts may be further apart than their rows.
uint row_of_weights(uint n) {
    return VIEWS == 0u ? n : n / rows * weights_inner + n % rows;
}

// Where the x of a token, or of one of its slots, begins, in runs.
uint x_from(uint vector, uint row_runs) {
    return VIEWS == 0u ? vector * row_runs : (x_first + vector / x_slots * x_inner + vector % x_slots * x_stride) / 4u;
}

// Number of a pair among the ids.
uint id_of(uint pair) {
    return VIEWS == 0u ? pair : ids_skip + pair / slots * ids_inner + pair % slots;
}

layout(binding = 1, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 1, std430) readonly buffer InputHalves { uvec2 x_halves[]; };

// Run `at` of x: 4 consecutive elements.
vec4 x_run(uint at) {
    if (X_TYPE == 0u) return x_in[at];
    const uvec2 run = uvec2(x_halves[at]);
    return X_TYPE == 1u ? vec4(unpackHalf2x16(run.x), unpackHalf2x16(run.y))
        : uintBitsToFloat(uvec4(run.x << 16, run.x & 0xffff0000u, run.y << 16, run.y & 0xffff0000u));
}

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// Rounds to the nearest half, ties to even. In integers, because Vulkan leaves the rounding of its own conversion open.
uint f32_to_f16(float x) {
    const uint bits = floatBitsToUint(x), magnitude = bits & 0x7FFFFFFFu, sign = (bits >> 16) & 0x8000u;
    if (magnitude > 0x7F800000u) return sign | 0x7E00u;    // NaN
    if (magnitude >= 0x477FF000u) return sign | 0x7C00u;   // beyond the largest half
    if (magnitude < 0x38800000u) {                         // a subnormal half: adding 1/2 rounds at its last bit
        precise float lifted = uintBitsToFloat(magnitude) + 0.5;
        return sign | (floatBitsToUint(lifted) - 0x3F000000u);
    }
    return sign | ((magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13);
}

// Rounds to the nearest bfloat16, ties to even.
uint f32_to_bf16(float x) {
    const uint bits = floatBitsToUint(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return ((bits >> 16) & 0x8000u) | 0x7FC0u;  // NaN
    return (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
}

layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have; the rest is left out

layout(constant_id = 31) const uint Y_TYPE = 0;  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

layout(binding = 4, std430) buffer Output { float y[]; };
layout(binding = 4, std430) buffer OutputHalves { uint y_halves[]; };
layout(binding = 5, std430) readonly buffer ResultScale { float result_scale[]; };
layout(binding = 6, std430) readonly buffer RowBias { float row_bias[]; };
layout(binding = 7, std430) readonly buffer ResultGate { float result_gate[]; };
layout(binding = 8, std430) readonly buffer Residual { float residual[]; };

// Bits of the epilogue: what is done with results, and what has a scale of its own; else all of a tensor have one.
const uint ADDS_TO_Y = 1u, ADDS_BIAS = 2u, SCALES = 4u, GATES = 8u, ADDS_RESIDUAL = 16u, SCALES_ROWS = 256u, SCALES_VECTORS = 512u;

bool does(uint part) {
    return (EPILOGUE & part & epilogue) != 0u;
}

float silu(float v) {
    return v / (1.0 + exp(-v));
}

uint y_place(uint at) {
    return VIEWS == 0u ? at : at + y_skip;
}

// Two results share a word, and may be those of different threads: neither takes the other's part.
float y_half(uint at) {
    const uint bits = atomicOr(y_halves[at / 2u], 0u) >> at % 2u * 16u & 0xffffu;
    return Y_TYPE == 1u ? unpackHalf2x16(bits).x : uintBitsToFloat(bits << 16);
}

void store_half(uint at, uint bits) {
    atomicAnd(y_halves[at / 2u], 0xffff0000u >> at % 2u * 16u);
    atomicOr(y_halves[at / 2u], bits << at % 2u * 16u);
}

// What y holds.
float y_before(uint at) {
    return Y_TYPE == 0u ? y[y_place(at)] : y_half(y_place(at));
}

// Rounds once, to the nearest, ties to even.
void store_y(uint at, float sum) {
    if (Y_TYPE == 0u)
        y[y_place(at)] = sum;
    else
        store_half(y_place(at), Y_TYPE == 1u ? f32_to_f16(sum) : f32_to_bf16(sum));
}

// Row `n` of a token's expert is done. An expert that is not there has zeros, to which no more is added than what stands there.
void finish(uint pair, uint n, float sum) {
    const uint at = VIEWS == 0u ? pair * rows + n : pair / slots * y_inner + pair % slots * y_stride + n;
    const uint expert = ids[id_of(pair)], row = expert * rows + n;
    const bool found = expert < experts;
    if (found && does(SCALES))
        sum *= result_scale[does(SCALES_ROWS) ? row : does(SCALES_VECTORS) ? pair : expert];
    if (found && does(ADDS_BIAS)) sum += row_bias[row];
    if (does(ADDS_TO_Y)) sum += y_before(at);
    if (found && does(GATES)) sum *= silu(result_gate[at]);
    if (does(ADDS_RESIDUAL)) sum += residual[at];
    store_y(at, sum);
}

const uint TILES = 2u;

// What a thread keeps of x: tiles, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][8];
float x_sum[TILES][8];

// Loads what tile `j` of a row meets of right-hand side `vector`.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 8u;
    const uint place = j / 8u * 64u + tile;
    const uint from = x_from(min(vector, (batch * x_slots) - 1u), row_tiles * 8u) + place;
    vec4 run[8];
    [[unroll]] for (uint r = 0u; r < 8u; ++r) run[r] = x_run(from + r * 8u);
    [[unroll]] for (uint r = 0u; r < 8u; ++r) x[k][r] = run[r] * 16777216.0;
    x_sum[k][0] = dot(run[0], vec4(1.0));
    x_sum[k][1] = dot(run[1], vec4(1.0));
    x_sum[k][2] = dot(run[2], vec4(1.0));
    x_sum[k][3] = dot(run[3], vec4(1.0));
    x_sum[k][4] = dot(run[4], vec4(1.0));
    x_sum[k][5] = dot(run[5], vec4(1.0));
    x_sum[k][6] = dot(run[6], vec4(1.0));
    x_sum[k][7] = dot(run[7], vec4(1.0));
}

// Adds the products of tile `j` of row `n` with what is kept of x.
void accumulate(uint n, uint j, uint k, inout float sum) {
    const uint block = row_of_weights(n) * (row_tiles / 8u) + j / 8u;
    const uint tile = j % 8u;
    uint base = block * 44u;
    uint d_dmin = blocks[base];
    float d = f16_to_f32(d_dmin);
    uint scales0 = blocks[base + 1u];
    uint sc0 = scales0 & 0x3Fu;
    precise float d_sc0 = d * float(sc0);
    uint qs0 = blocks[base + tile + 12u];
    uint qh = blocks[base + tile + 4u];
    uint codes0 = (qs0 & 0xF0F0F0Fu) | ((qh << 4u) & 0x10101010u);  // packed
    vec2 pair0 = unpackHalf2x16(codes0 & 0x1F001Fu);
    vec2 pair1 = unpackHalf2x16((codes0 >> 8u) & 0x1F001Fu);
    float dmin = f16_to_f32(d_dmin >> 16u);
    uint scales1 = blocks[base + 2u];
    uint mn0 = scales1 & 0x3Fu;
    precise float dmin_mn0 = dmin * float(mn0);
    uint sc1 = (scales0 >> 8u) & 0x3Fu;
    precise float d_sc1 = d * float(sc1);
    uint codes1 = ((qs0 >> 4u) & 0xF0F0F0Fu) | ((qh << 3u) & 0x10101010u);  // packed
    vec2 pair2 = unpackHalf2x16(codes1 & 0x1F001Fu);
    vec2 pair3 = unpackHalf2x16((codes1 >> 8u) & 0x1F001Fu);
    uint mn1 = (scales1 >> 8u) & 0x3Fu;
    precise float dmin_mn1 = dmin * float(mn1);
    uint sc2 = (scales0 >> 16u) & 0x3Fu;
    precise float d_sc2 = d * float(sc2);
    uint qs1 = blocks[base + tile + 20u];
    uint codes2 = (qs1 & 0xF0F0F0Fu) | ((qh << 2u) & 0x10101010u);  // packed
    vec2 pair4 = unpackHalf2x16(codes2 & 0x1F001Fu);
    vec2 pair5 = unpackHalf2x16((codes2 >> 8u) & 0x1F001Fu);
    uint mn2 = (scales1 >> 16u) & 0x3Fu;
    precise float dmin_mn2 = dmin * float(mn2);
    uint sc3 = (scales0 >> 24u) & 0x3Fu;
    precise float d_sc3 = d * float(sc3);
    uint codes3 = ((qs1 >> 4u) & 0xF0F0F0Fu) | ((qh << 1u) & 0x10101010u);  // packed
    vec2 pair6 = unpackHalf2x16(codes3 & 0x1F001Fu);
    vec2 pair7 = unpackHalf2x16((codes3 >> 8u) & 0x1F001Fu);
    uint mn3 = (scales1 >> 24u) & 0x3Fu;
    precise float dmin_mn3 = dmin * float(mn3);
    uint scales2 = blocks[base + 3u];
    uint sc_lo0 = scales2 & 15u;  // scales: bits 0-3 of sc
    uint sc_hi0 = (scales0 >> 6u) & 3u;  // scales: bits 4-5 of sc
    uint sc4 = sc_lo0 | (sc_hi0 << 4u);
    precise float d_sc4 = d * float(sc4);
    uint qs2 = blocks[base + tile + 28u];
    uint codes4 = (qs2 & 0xF0F0F0Fu) | (qh & 0x10101010u);  // packed
    vec2 pair8 = unpackHalf2x16(codes4 & 0x1F001Fu);
    vec2 pair9 = unpackHalf2x16((codes4 >> 8u) & 0x1F001Fu);
    uint mn_lo0 = (scales2 >> 4u) & 15u;  // scales: bits 0-3 of mn
    uint mn_hi0 = (scales1 >> 6u) & 3u;  // scales: bits 4-5 of mn
    uint mn4 = mn_lo0 | (mn_hi0 << 4u);
    precise float dmin_mn4 = dmin * float(mn4);
    uint sc_lo1 = (scales2 >> 8u) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi1 = (scales0 >> 14u) & 3u;  // scales: bits 4-5 of sc
    uint sc5 = sc_lo1 | (sc_hi1 << 4u);
    precise float d_sc5 = d * float(sc5);
    uint codes5 = ((qs2 >> 4u) & 0xF0F0F0Fu) | ((qh >> 1u) & 0x10101010u);  // packed
    vec2 pair10 = unpackHalf2x16(codes5 & 0x1F001Fu);
    vec2 pair11 = unpackHalf2x16((codes5 >> 8u) & 0x1F001Fu);
    uint mn_lo1 = (scales2 >> 12u) & 15u;  // scales: bits 0-3 of mn
    uint mn_hi1 = (scales1 >> 14u) & 3u;  // scales: bits 4-5 of mn
    uint mn5 = mn_lo1 | (mn_hi1 << 4u);
    precise float dmin_mn5 = dmin * float(mn5);
    uint sc_lo2 = (scales2 >> 16u) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi2 = (scales0 >> 22u) & 3u;  // scales: bits 4-5 of sc
    uint sc6 = sc_lo2 | (sc_hi2 << 4u);
    precise float d_sc6 = d * float(sc6);
    uint qs3 = blocks[base + tile + 36u];
    uint codes6 = (qs3 & 0xF0F0F0Fu) | ((qh >> 2u) & 0x10101010u);  // packed
    vec2 pair12 = unpackHalf2x16(codes6 & 0x1F001Fu);
    vec2 pair13 = unpackHalf2x16((codes6 >> 8u) & 0x1F001Fu);
    uint mn_lo2 = (scales2 >> 20u) & 15u;  // scales: bits 0-3 of mn
    uint mn_hi2 = (scales1 >> 22u) & 3u;  // scales: bits 4-5 of mn
    uint mn6 = mn_lo2 | (mn_hi2 << 4u);
    precise float dmin_mn6 = dmin * float(mn6);
    uint sc_lo3 = (scales2 >> 24u) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi3 = scales0 >> 30u;  // scales: bits 4-5 of sc
    uint sc7 = sc_lo3 | (sc_hi3 << 4u);
    precise float d_sc7 = d * float(sc7);
    uint codes7 = ((qs3 >> 4u) & 0xF0F0F0Fu) | ((qh >> 3u) & 0x10101010u);  // packed
    vec2 pair14 = unpackHalf2x16(codes7 & 0x1F001Fu);
    vec2 pair15 = unpackHalf2x16((codes7 >> 8u) & 0x1F001Fu);
    uint mn_lo3 = scales2 >> 28u;  // scales: bits 0-3 of mn
    uint mn_hi3 = scales1 >> 30u;  // scales: bits 4-5 of mn
    uint mn7 = mn_lo3 | (mn_hi3 << 4u);
    precise float dmin_mn7 = dmin * float(mn7);
    sum += d_sc0 * dot(x[k][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y)) - dmin_mn0 * x_sum[k][0]
        + d_sc1 * dot(x[k][1], vec4(pair2.x, pair3.x, pair2.y, pair3.y)) - dmin_mn1 * x_sum[k][1]
        + d_sc2 * dot(x[k][2], vec4(pair4.x, pair5.x, pair4.y, pair5.y)) - dmin_mn2 * x_sum[k][2]
        + d_sc3 * dot(x[k][3], vec4(pair6.x, pair7.x, pair6.y, pair7.y)) - dmin_mn3 * x_sum[k][3]
        + d_sc4 * dot(x[k][4], vec4(pair8.x, pair9.x, pair8.y, pair9.y)) - dmin_mn4 * x_sum[k][4]
        + d_sc5 * dot(x[k][5], vec4(pair10.x, pair11.x, pair10.y, pair11.y)) - dmin_mn5 * x_sum[k][5]
        + d_sc6 * dot(x[k][6], vec4(pair12.x, pair13.x, pair12.y, pair13.y)) - dmin_mn6 * x_sum[k][6]
        + d_sc7 * dot(x[k][7], vec4(pair14.x, pair15.x, pair14.y, pair15.y)) - dmin_mn7 * x_sum[k][7];
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
    for (uint work = gl_WorkGroupID.x; work < batch * slots * parts; work += gl_NumWorkGroups.x) {
        const uint pair = work / parts, first = work % parts * teams * ROWS, expert = ids[id_of(pair)];
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
                    accumulate((expert - expert_first) * rows + row, j, k, sum[r]);
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
            if (first + i < rows) finish(pair, first + i, total);
        }
        barrier();
    }
}
