// nvfp4_ckpt_gemv_id_rows: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k].
// Generated from the specification below by `qkgen emit --format nvfp4_ckpt`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 13 bytes for 16 elements, 4.5 bits each.
// For each weight 0.562 bytes read, 6.75 operations: 0.25 loads, 2.69 bits, 1.06 integer, 2.19 float, 0.562 conversions.
//     format nvfp4_ckpt "NVFP4 checkpoints: E2M1 codes, E4M3 scales for 16, and a scale for the tensor"
//     from "NVIDIA ModelOpt: NVFP4"
//     block 1 x 16 {
//         buffer weight           { w: u8[8] }
//         buffer weight_scale     { s: e4m3 }
//         buffer weight_scale_2[] { t: f32 }
//     }
//     code q: e2m1 = w { 4 @ 0 (16:4) }
//     value = q * (s * t)
#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say

layout(binding = 0, std430) readonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) readonly buffer Weight_scaleBuffer { uint8_t weight_scale[]; };
layout(binding = 2, std430) readonly buffer Weight_scale_2Buffer { uint weight_scale_2[]; };
layout(binding = 4, std430) readonly buffer Ids { uint ids[]; };
layout(binding = 5, std430) buffer Status { uint out_of_range; };
layout(binding = 3, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 3, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 6, std430) buffer Output { float y[]; };
layout(binding = 6, std430) buffer OutputHalves { uint y_halves[]; };
layout(binding = 7, std430) readonly buffer ResultScale { float result_scale[]; };
layout(binding = 8, std430) readonly buffer RowBias { float row_bias[]; };
layout(binding = 9, std430) readonly buffer ResultGate { float result_gate[]; };
layout(binding = 10, std430) readonly buffer Residual { float residual[]; };
layout(push_constant) uniform Push {
    uint rows, row_tiles, batch, slots;  // of one expert; tiles of 16 elements in a row; tokens; experts of each
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
float x_sum[TILES][1];
void load_x(uint vector, uint j, uint k) {  // what tile `j` of a row meets of right-hand side `vector`
    const uint place = j * 4u, from = x_from(min(vector, (batch * x_slots) - 1u), row_tiles * 4u) + place;
    vec4 run[4];
    [[unroll]] for (uint r = 0u; r < 4u; ++r) run[r] = x_run(from + r);
    [[unroll]] for (uint r = 0u; r < 4u; ++r) x[k][r] = run[r] * 16384.0;
}

void accumulate(uint n, uint j, uint k, inout float sum) {  // `sum` += tile `j` of row `n` * x
    const uint expert = n / rows, row = n % rows, tile = j;
    const uint block_col = tile / 1u;
    uint s_bits = uint(weight_scale[expert * (rows * grid_cols) + (row * grid_cols + block_col)]);
    uint w0 = weight[expert * (rows * (grid_cols * 2u)) + (row * (grid_cols * 2u) + block_col * 2u)];
    uint w1 = weight[expert * (rows * (grid_cols * 2u)) + (row * (grid_cols * 2u) + (block_col * 2u + 1u))];
    precise float s = unpackHalf2x16(((s_bits & 0x7Fu) == 0x7Fu ? 32256u : (s_bits & 0x7Fu) << 7u) | ((s_bits & 128u) << 8u)).x * 256.0;
    float t_ = uintBitsToFloat(weight_scale_2[expert]);
    precise float s_t = s * t_;
    vec2 pair0 = unpackHalf2x16(((w0 << 9u) & 0xE000E00u) | ((w0 << 12u) & 0x80008000u));
    vec2 pair1 = unpackHalf2x16(((w0 << 5u) & 0xE000E00u) | ((w0 << 8u) & 0x80008000u));
    vec2 pair2 = unpackHalf2x16(((w0 << 1u) & 0xE000E00u) | ((w0 << 4u) & 0x80008000u));
    vec2 pair3 = unpackHalf2x16(((w0 >> 3u) & 0xE000E00u) | (w0 & 0x80008000u));
    vec2 pair4 = unpackHalf2x16(((w1 << 9u) & 0xE000E00u) | ((w1 << 12u) & 0x80008000u));
    vec2 pair5 = unpackHalf2x16(((w1 << 5u) & 0xE000E00u) | ((w1 << 8u) & 0x80008000u));
    vec2 pair6 = unpackHalf2x16(((w1 << 1u) & 0xE000E00u) | ((w1 << 4u) & 0x80008000u));
    vec2 pair7 = unpackHalf2x16(((w1 >> 3u) & 0xE000E00u) | (w1 & 0x80008000u));
    sum += s_t * (dot(x[k][0], vec4(pair0.x, pair1.x, pair2.x, pair3.x)) + dot(x[k][1], vec4(pair0.y, pair1.y, pair2.y, pair3.y))
        + dot(x[k][2], vec4(pair4.x, pair5.x, pair6.x, pair7.x)) + dot(x[k][3], vec4(pair4.y, pair5.y, pair6.y, pair7.y)));
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
