// tq1_0_gemv_id_rows: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k].
// Generated from the specification below by `qkgen emit --format tq1_0`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 54 bytes for 256 elements, 1.688 bits each.
// For each weight 0.211 bytes read, 5.66 operations: 0.141 loads, 2.25 bits, 0.719 integer, 2.03 float, 0.516 conversions.
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
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
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

const uint TILES = 1u;

// Kept of x: tiles, in the order of the weights, and sums over runs that share a scale.
vec4 x[TILES][16];
float x_sum[TILES][1];
void load_x(uint vector, uint j, uint k) {  // what tile `j` of a row meets of right-hand side `vector`
    const uint tile = j % 4u, place = j / 4u * 64u + tile, from = x_from(min(vector, (batch * x_slots) - 1u), row_tiles * 16u) + place;
    vec4 run[16];
    [[unroll]] for (uint r = 0u; r < 16u; ++r) run[r] = x_run(from + r * 4u);
    [[unroll]] for (uint r = 0u; r < 16u; ++r) x[k][r] = run[r] * vec4(16777216.0, 65536.0, 16777216.0, 65536.0);
    x_sum[k][0] = dot(run[0] + run[1] + run[2] + run[3] + run[4] + run[5] + run[6] + run[7] + run[8] + run[9] + run[10] + run[11] + run[12]
        + run[13] + run[14] + run[15], vec4(1.0));
}

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

void accumulate(uint n, uint j, uint k, inout float sum) {  // `sum` += tile `j` of row `n` * x
    uint block = row_of_weights(n) * (row_tiles / 4u) + j / 4u, tile = j % 4u, base = block * 27u;
    uint power = (0x1B090301u >> (tile * 8u)) & 0xFFu;  // 3^n
    float d = unpackHalf2x16(uint(blocks[base + 26u])).x;
    uint qs0 = blocks_u32(base + tile * 2u), evens0 = (qs0 & 0xFF00FFu) * 3u, odds0 = ((qs0 >> 8u) & 0xFF00FFu) * 3u;
    uint bytes0 = ((evens0 >> 8u) & 0xFF00FFu) | (odds0 & 0xFF00FF00u), qs1 = blocks_u32(base + tile * 2u + 8u);
    uint evens1 = (qs1 & 0xFF00FFu) * 3u, odds1 = ((qs1 >> 8u) & 0xFF00FFu) * 3u;
    uint bytes1 = ((evens1 >> 8u) & 0xFF00FFu) | (odds1 & 0xFF00FF00u), evens2 = (evens0 & 0xFF00FFu) * 3u;
    uint odds2 = (odds0 & 0xFF00FFu) * 3u, bytes2 = ((evens2 >> 8u) & 0xFF00FFu) | (odds2 & 0xFF00FF00u);
    uint evens3 = (evens1 & 0xFF00FFu) * 3u, odds3 = (odds1 & 0xFF00FFu) * 3u;
    uint bytes3 = ((evens3 >> 8u) & 0xFF00FFu) | (odds3 & 0xFF00FF00u), evens4 = (evens2 & 0xFF00FFu) * 3u;
    uint odds4 = (odds2 & 0xFF00FFu) * 3u, bytes4 = ((evens4 >> 8u) & 0xFF00FFu) | (odds4 & 0xFF00FF00u);
    uint evens5 = (evens3 & 0xFF00FFu) * 3u, odds5 = (odds3 & 0xFF00FFu) * 3u;
    uint bytes5 = ((evens5 >> 8u) & 0xFF00FFu) | (odds5 & 0xFF00FF00u), evens6 = (evens4 & 0xFF00FFu) * 3u;
    uint odds6 = (odds4 & 0xFF00FFu) * 3u, bytes6 = ((evens6 >> 8u) & 0xFF00FFu) | (odds6 & 0xFF00FF00u);
    uint evens7 = (evens5 & 0xFF00FFu) * 3u, odds7 = (odds5 & 0xFF00FFu) * 3u;
    uint bytes7 = ((evens7 >> 8u) & 0xFF00FFu) | (odds7 & 0xFF00FF00u), evens8 = (evens6 & 0xFF00FFu) * 3u;
    uint odds8 = (odds6 & 0xFF00FFu) * 3u, bytes8 = ((evens8 >> 8u) & 0xFF00FFu) | (odds8 & 0xFF00FF00u);
    uint evens9 = (evens7 & 0xFF00FFu) * 3u, odds9 = (odds7 & 0xFF00FFu) * 3u;
    uint bytes9 = ((evens9 >> 8u) & 0xFF00FFu) | (odds9 & 0xFF00FF00u), qs2 = blocks_u32(base + tile * 2u + 16u);
    uint evens10 = (qs2 & 0xFF00FFu) * 3u, odds10 = ((qs2 >> 8u) & 0xFF00FFu) * 3u;
    uint bytes10 = ((evens10 >> 8u) & 0xFF00FFu) | (odds10 & 0xFF00FF00u), evens11 = (evens10 & 0xFF00FFu) * 3u;
    uint odds11 = (odds10 & 0xFF00FFu) * 3u, bytes11 = ((evens11 >> 8u) & 0xFF00FFu) | (odds11 & 0xFF00FF00u);
    uint evens12 = (evens11 & 0xFF00FFu) * 3u, odds12 = (odds11 & 0xFF00FFu) * 3u;
    uint bytes12 = ((evens12 >> 8u) & 0xFF00FFu) | (odds12 & 0xFF00FF00u), evens13 = (evens12 & 0xFF00FFu) * 3u;
    uint odds13 = (odds12 & 0xFF00FFu) * 3u, bytes13 = ((evens13 >> 8u) & 0xFF00FFu) | (odds13 & 0xFF00FF00u);
    uint evens14 = (evens13 & 0xFF00FFu) * 3u, odds14 = (odds13 & 0xFF00FFu) * 3u;
    uint bytes14 = ((evens14 >> 8u) & 0xFF00FFu) | (odds14 & 0xFF00FF00u), qh = blocks_u32(base + 24u);
    uint evens15 = (((qh & 0xFF00FFu) * power) & 0xFF00FFu) * 3u, odds15 = ((((qh >> 8u) & 0xFF00FFu) * power) & 0xFF00FFu) * 3u;
    uint bytes15 = ((evens15 >> 8u) & 0xFF00FFu) | (odds15 & 0xFF00FF00u);
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
    sum += d * (dot(x[k][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y)) + dot(x[k][1], vec4(pair2.x, pair3.x, pair2.y, pair3.y))
        + dot(x[k][2], vec4(pair4.x, pair5.x, pair4.y, pair5.y)) + dot(x[k][3], vec4(pair6.x, pair7.x, pair6.y, pair7.y))
        + dot(x[k][4], vec4(pair8.x, pair9.x, pair8.y, pair9.y)) + dot(x[k][5], vec4(pair10.x, pair11.x, pair10.y, pair11.y))
        + dot(x[k][6], vec4(pair12.x, pair13.x, pair12.y, pair13.y)) + dot(x[k][7], vec4(pair14.x, pair15.x, pair14.y, pair15.y))
        + (dot(x[k][8], vec4(pair16.x, pair17.x, pair16.y, pair17.y)) + dot(x[k][9], vec4(pair18.x, pair19.x, pair18.y, pair19.y))
        + dot(x[k][10], vec4(pair20.x, pair21.x, pair20.y, pair21.y)) + dot(x[k][11], vec4(pair22.x, pair23.x, pair22.y, pair23.y))
        + dot(x[k][12], vec4(pair24.x, pair25.x, pair24.y, pair25.y)) + dot(x[k][13], vec4(pair26.x, pair27.x, pair26.y, pair27.y))
        + dot(x[k][14], vec4(pair28.x, pair29.x, pair28.y, pair29.y)) + dot(x[k][15], vec4(pair30.x, pair31.x, pair30.y, pair31.y))
        - x_sum[k][0]));
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
