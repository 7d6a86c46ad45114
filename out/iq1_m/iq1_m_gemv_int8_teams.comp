// iq1_m_gemv_int8_teams: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format iq1_m`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 56 bytes for 256 elements, 1.75 bits each.
// For each weight 0.219 bytes read, 3.72 operations: 0.0938 loads, 1.59 bits, 1.09 integer, 0.703 float, 0.109 conversions, 0.125 lookups.
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
#extension GL_EXT_spirv_intrinsics : require
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 2;  // right-hand sides at once, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time, at most as many as a team has lanes
layout(constant_id = 3) const uint SPLIT = 4;  // quarters of a subgroup that are a team
layout(constant_id = 43) const uint TURNS = 1;  // in which a tile is multiplied
layout(constant_id = 42) const uint X_PACKED = 0;  // 0: x is floats; 1: what a launch before made of them; 2: this is that launch
layout(constant_id = 6) const uint SHARED_FOURS = 512;  // 16 bytes each: memory for x
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say
layout(constant_id = 15) const uint COPIES = 1;  // of tables, for threads that are neighbours; 1: none
layout(constant_id = 4) const uint DIGITS = 1;  // bytes of each x: class int8 has 1, split 2, int24 3
shared float partial[SPLIT > 4u ? gl_WorkGroupSize.x / 8u * ROWS * BATCH : 1u];
layout(binding = 1, std430) readonly buffer PackedInput { uvec4 packed_x[]; };  // of X_PACKED: as x is shared
layout(binding = 2, std430) writeonly buffer PackedOutput { uvec4 packed_y[]; };
layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 7, std430) readonly buffer GTable { uint G[]; };  // 2048 rows of 8: i8 from -1 on, in 4 bits each
layout(binding = 1, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 1, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 2, std430) buffer Output { float y[]; };
layout(binding = 2, std430) buffer OutputHalves { uint y_halves[]; };
layout(binding = 3, std430) readonly buffer ResultScale { float result_scale[]; };
layout(binding = 4, std430) readonly buffer RowBias { float row_bias[]; };
layout(binding = 5, std430) readonly buffer ResultGate { float result_gate[]; };
layout(binding = 6, std430) readonly buffer Residual { float residual[]; };
layout(push_constant) uniform Push {
    uint rows, row_tiles, batch;  // of this launch; tiles of 16 elements in a row; right-hand sides
    uint y_first, y_rows, epilogue;  // where it begins in y; rows of a right-hand side there
    uint groups, matrix_first, matrices, vectors, sharing, sharing_outer;  // of VIEWS: workgroups of a matrix; neighbours share weights
    uint weights_first, weights_inner, weights_outer;  // rows; to the next inner and outer matrix
    uint x_first, x_stride, x_inner, x_outer, y_skip, y_stride, y_inner, y_outer;  // elements; to the next right-hand side, and matrix
    uint second, third, weights_second, weights_third, y_second, y_third;  // from these matrices on both lie further
};
// The matrix that a workgroup multiplies, of this launch; and where its weights, its x and its y begin.
uint matrix = 0u, weights_begin = 0u, x_begin = 0u, y_begin = 0u;
void find_matrix() {
    if (VIEWS == 0u) return;
    matrix = gl_WorkGroupID.x / groups;
    const uint inner = (matrix_first + matrix) % matrices, outer = (matrix_first + matrix) / matrices;
    weights_begin = weights_first + inner / sharing * weights_inner + outer / sharing_outer * weights_outer;
    x_begin = x_first + inner * x_inner + outer * x_outer, y_begin = inner * y_inner + outer * y_outer;
    if (inner >= second) weights_begin += weights_second, y_begin += y_second;
    if (inner >= third) weights_begin += weights_third, y_begin += y_third;
}
uint group_number() { return VIEWS == 0u ? gl_WorkGroupID.x : gl_WorkGroupID.x % groups; }
uint group_count() { return VIEWS == 0u ? gl_NumWorkGroups.x : groups; }
uint row_of_weights(uint n) { return weights_begin + n; }  // among all of them
uint x_from(uint vector, uint row_runs) { return VIEWS == 0u ? vector * row_runs : (x_begin + vector * x_stride) / 4u; }  // its runs
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

void finish(uint m, uint n, float sum) {  // row `n` of right-hand side `m` is done
    const uint row = y_first % y_rows + n, vector = m + y_first / y_rows, number = (matrix_first + matrix) * vectors + vector;
    const uint at = VIEWS == 0u ? m * y_rows + y_first + n : y_begin + vector * y_stride + row, does = EPILOGUE & epilogue;
    if (does != 0u) {
        if ((does & SCALES) != 0u) sum *= result_scale[(does & SCALES_ROWS) != 0u ? row : (does & SCALES_VECTORS) != 0u ? number : 0u];
        if ((does & ADDS_BIAS) != 0u) sum += row_bias[row];
        if ((does & ADDS_TO_Y) != 0u) sum += y_before(at + y_skip);
        if ((does & GATES) != 0u) sum *= result_gate[at] / (1.0 + exp(-result_gate[at]));  // silu
        if ((does & ADDS_RESIDUAL) != 0u) sum += residual[at];
    }
    store_y(at + y_skip, sum);
}

// Kept of x: of each digit, the highest first, signed bytes of four elements in a word; then steps of the integers, and sums of runs.
const uint X_FOURS = DIGITS * 5u + 3u;
uvec4 x[1][X_FOURS];
uint kept_word(uint k, uint i) { return x[k][i / 4u][i % 4u]; }
void keep_word(uint k, uint i, uint word) { x[k][i / 4u][i % 4u] = word; }
float x_step(uint k, uint i) { return uintBitsToFloat(kept_word(k, DIGITS * 16u + i)); }  // that integers stand for
float x_sum(uint k, uint i) { return uintBitsToFloat(kept_word(k, DIGITS * 16u + 2u + i)); }  // over runs that share a scale
int x_digits(uint k, uint digit, uint i) { return int(kept_word(k, DIGITS * 16u + 10u + digit * 4u + i)); }  // of them, one digit
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

int sum_of_bytes(uint bytes) { return dot4(bytes, 0x01010101u); }

shared uint G_copies[COPIES == 1u ? 1u : 2048u * COPIES];

// A word of G, from the thread's copy.
uint G_at(uint i) {
    const uint copy = gl_LocalInvocationID.x % COPIES;
    if (COPIES == 1u) return G[i];
    return G_copies[i * COPIES + copy];
}
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
    const uint tile = j % 4u, place = j / 4u * 64u + tile * 16u, from = x_from(min(vector, batch - 1u), row_tiles * 4u) + place;
    vec4 run[16], most[2], all[2];
    [[unroll]] for (uint r = 0u; r < 16u; r += 4u) load_runs(from + r, run[r], run[r + 1u], run[r + 2u], run[r + 3u]);
    [[unroll]] for (uint s = 0u; s < 2u; ++s) most[s] = all[s] = vec4(0.0);
    [[unroll]] for (uint r = 0u; r < 16u; ++r) most[r / 8u] = max(most[r / 8u], abs(run[r])), all[r / 8u] += run[r];
    if (DIGITS > 1u && TURNS == 1u) most[0] = most[1] = max(most[0], most[1]), all[0] = all[1] = all[0] + all[1];
    ivec4 whole[16];
    [[unroll]] for (uint s = 0u; s < 2u; ++s) {
        const float scale = scale_of(most[s], all[s]), step = 1.0 / scale;
        [[unroll]] for (uint r = 0u; r < 8u; ++r) whole[8u * s + r] = integers(run[8u * s + r] * scale);
        keep_word(k, DIGITS * 16u + s, floatBitsToUint(step));
    }
    [[unroll]] for (uint i = 0u; i < 8u; ++i) {
        const ivec4 sum = whole[2u * i] + whole[2u * i + 1u];
        keep_word(k, DIGITS * 16u + 2u + i, floatBitsToUint(x_step(k, i / 4u) * float(sum_of(sum) - 8 * BIAS)));
    }
    [[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit) {
        x[k][digit * 4u].x = bytes_of(ivec4(whole[0].x, whole[0].z, whole[1].x, whole[1].z), digit);
        x[k][digit * 4u].y = bytes_of(ivec4(whole[0].y, whole[0].w, whole[1].y, whole[1].w), digit);
        x[k][digit * 4u].z = bytes_of(ivec4(whole[2].x, whole[2].z, whole[3].x, whole[3].z), digit);
        x[k][digit * 4u].w = bytes_of(ivec4(whole[2].y, whole[2].w, whole[3].y, whole[3].w), digit);
        x[k][digit * 4u + 1u].x = bytes_of(ivec4(whole[4].x, whole[4].z, whole[5].x, whole[5].z), digit);
        x[k][digit * 4u + 1u].y = bytes_of(ivec4(whole[4].y, whole[4].w, whole[5].y, whole[5].w), digit);
        x[k][digit * 4u + 1u].z = bytes_of(ivec4(whole[6].x, whole[6].z, whole[7].x, whole[7].z), digit);
        x[k][digit * 4u + 1u].w = bytes_of(ivec4(whole[6].y, whole[6].w, whole[7].y, whole[7].w), digit);
        x[k][digit * 4u + 2u].x = bytes_of(ivec4(whole[8].x, whole[8].z, whole[9].x, whole[9].z), digit);
        x[k][digit * 4u + 2u].y = bytes_of(ivec4(whole[8].y, whole[8].w, whole[9].y, whole[9].w), digit);
        x[k][digit * 4u + 2u].z = bytes_of(ivec4(whole[10].x, whole[10].z, whole[11].x, whole[11].z), digit);
        x[k][digit * 4u + 2u].w = bytes_of(ivec4(whole[10].y, whole[10].w, whole[11].y, whole[11].w), digit);
        x[k][digit * 4u + 3u].x = bytes_of(ivec4(whole[12].x, whole[12].z, whole[13].x, whole[13].z), digit);
        x[k][digit * 4u + 3u].y = bytes_of(ivec4(whole[12].y, whole[12].w, whole[13].y, whole[13].w), digit);
        x[k][digit * 4u + 3u].z = bytes_of(ivec4(whole[14].x, whole[14].z, whole[15].x, whole[15].z), digit);
        x[k][digit * 4u + 3u].w = bytes_of(ivec4(whole[14].y, whole[14].w, whole[15].y, whole[15].w), digit);
        keep_word(k, DIGITS * 16u + digit * 4u + 10u,
            uint(sum_of_bytes(x[k][digit * 4u].x) + sum_of_bytes(x[k][digit * 4u].y) + sum_of_bytes(x[k][digit * 4u].z)
            + sum_of_bytes(x[k][digit * 4u].w)));
        keep_word(k, DIGITS * 16u + digit * 4u + 11u,
            uint(sum_of_bytes(x[k][digit * 4u + 1u].x) + sum_of_bytes(x[k][digit * 4u + 1u].y) + sum_of_bytes(x[k][digit * 4u + 1u].z)
            + sum_of_bytes(x[k][digit * 4u + 1u].w)));
        keep_word(k, DIGITS * 16u + digit * 4u + 12u,
            uint(sum_of_bytes(x[k][digit * 4u + 2u].x) + sum_of_bytes(x[k][digit * 4u + 2u].y) + sum_of_bytes(x[k][digit * 4u + 2u].z)
            + sum_of_bytes(x[k][digit * 4u + 2u].w)));
        keep_word(k, DIGITS * 16u + digit * 4u + 13u,
            uint(sum_of_bytes(x[k][digit * 4u + 3u].x) + sum_of_bytes(x[k][digit * 4u + 3u].y) + sum_of_bytes(x[k][digit * 4u + 3u].z)
            + sum_of_bytes(x[k][digit * 4u + 3u].w)));
    }
}

void fetch(uint n, uint j, out uint words[6]) {  // tile `j` of row `n`
    uint block = row_of_weights(n) * (row_tiles / 16u) + j / 4u, tile = j % 4u, base = block * 14u;
    words[0] = blocks[base + 12u], words[1] = blocks[base + 13u], words[2] = blocks[base + tile / 2u + 12u];
    words[3] = blocks[base + tile * 2u], words[4] = blocks[base + tile + 8u], words[5] = blocks[base + tile * 2u + 1u];
}
// Whether it is that turn's: always, but no compiler knows, which would load for all first, into registers that others could have.
bool is_turn(uint turn) { return TURNS == 1u || (turn == 0u ? row_tiles : turn == 1u ? rows : turn == 2u ? batch : y_rows) != 0u; }

// 0, but no compiler knows: what is loaded so waits for that sum, or it would be in registers beside what is loaded before.
uint after(float sum) { return floatBitsToUint(sum) & rows >> 31u; }

void accumulate(uint n, uint j, uint k, uint words[6], bvec4 turns, inout float sum) {  // `sum` += tile `j` of row `n` * x
    const uint tile = j % 4u;
    uint shift = tile % 2u * 16u, scales0 = words[0], scales1 = words[1], scales2 = words[2], qs0 = words[3], qh = words[4], qs1 = words[5];
    uint d_0bit = (scales0 >> 12u) & 15u;  // scales: bits 0-3 of d
    uint d_4bit = scales0 >> 28u;  // scales: bits 4-7 of d
    uint d_8bit = (scales1 >> 12u) & 15u;  // scales: bits 8-11 of d
    uint d_12bit = scales1 >> 28u;  // scales: bits 12-15 of d
    float d = unpackHalf2x16(d_0bit | (d_4bit << 4u) | (d_8bit << 8u) | (d_12bit << 12u)).x;
    uint sc0 = (scales2 >> shift) & 7u, sc1 = (scales2 >> (shift + 3u)) & 7u, sc2 = (scales2 >> (shift + 6u)) & 7u;  // scales: 3 bits
    uint sc3 = (scales2 >> (shift + 9u)) & 7u;  // scales: 3 bits
    uint g_lo0 = qs0 & 0xFFu, g_lo1 = (qs0 >> 8u) & 0xFFu, g_lo2 = (qs0 >> 16u) & 0xFFu, g_lo3 = qs0 >> 24u;  // qs: bits 0-7 of g
    uint g_lo4 = qs1 & 0xFFu, g_lo5 = (qs1 >> 8u) & 0xFFu, g_lo6 = (qs1 >> 16u) & 0xFFu, g_lo7 = qs1 >> 24u;  // qs: bits 0-7 of g
    uint g_hi0 = qh & 7u, g_hi1 = (qh >> 4u) & 7u, g_hi2 = (qh >> 8u) & 7u, g_hi3 = (qh >> 12u) & 7u;  // qh: bits 8-10 of g
    uint g_hi4 = (qh >> 16u) & 7u, g_hi5 = (qh >> 20u) & 7u, g_hi6 = (qh >> 24u) & 7u, g_hi7 = (qh >> 28u) & 7u;  // qh: bits 8-10 of g
    uint g0 = g_lo0 | (g_hi0 << 8u), G_row0 = G_at(g0), bytes0 = G_row0 & 0xF0F0F0Fu, bytes1 = (G_row0 >> 4u) & 0xF0F0F0Fu;
    uint g1 = g_lo1 | (g_hi1 << 8u), G_row1 = G_at(g1), bytes2 = G_row1 & 0xF0F0F0Fu, bytes3 = (G_row1 >> 4u) & 0xF0F0F0Fu;
    uint g2 = g_lo2 | (g_hi2 << 8u), G_row2 = G_at(g2), bytes4 = G_row2 & 0xF0F0F0Fu, bytes5 = (G_row2 >> 4u) & 0xF0F0F0Fu;
    uint g3 = g_lo3 | (g_hi3 << 8u), G_row3 = G_at(g3), bytes6 = G_row3 & 0xF0F0F0Fu, bytes7 = (G_row3 >> 4u) & 0xF0F0F0Fu;
    uint g4 = g_lo4 | (g_hi4 << 8u), G_row4 = G_at(g4), bytes8 = G_row4 & 0xF0F0F0Fu, bytes9 = (G_row4 >> 4u) & 0xF0F0F0Fu;
    uint g5 = g_lo5 | (g_hi5 << 8u), G_row5 = G_at(g5), bytes10 = G_row5 & 0xF0F0F0Fu, bytes11 = (G_row5 >> 4u) & 0xF0F0F0Fu;
    uint g6 = g_lo6 | (g_hi6 << 8u), G_row6 = G_at(g6), bytes12 = G_row6 & 0xF0F0F0Fu, bytes13 = (G_row6 >> 4u) & 0xF0F0F0Fu;
    uint g7 = g_lo7 | (g_hi7 << 8u), G_row7 = G_at(g7), bytes14 = G_row7 & 0xF0F0F0Fu, bytes15 = (G_row7 >> 4u) & 0xF0F0F0Fu;
    uint sg0 = (qh >> 3u) & 1u, sg1 = (qh >> 7u) & 1u, sg2 = (qh >> 11u) & 1u, sg3 = (qh >> 15u) & 1u, sg4 = (qh >> 19u) & 1u;  // qh: 1 bit
    uint sg5 = (qh >> 23u) & 1u, sg6 = (qh >> 27u) & 1u, sg7 = qh >> 31u;  // qh: 1 bit
    float dots0 = 0.0, dots1 = 0.0;
    [[unroll]] for (uint digit = 0; digit < DIGITS; ++digit) {
        const int part0 = (2 * int(sc0) + 1) * (dot16(0, uvec4(bytes0, bytes1, bytes2, bytes3), x[k][digit * 4u]) - x_digits(k, digit, 0u))
            + (2 * int(sc1) + 1) * (dot16(0, uvec4(bytes4, bytes5, bytes6, bytes7), x[k][digit * 4u + 1u]) - x_digits(k, digit, 1u));
        const int part1 = (2 * int(sc2) + 1) * (dot16(0, uvec4(bytes8, bytes9, bytes10, bytes11), x[k][digit * 4u + 2u])
            - x_digits(k, digit, 2u)) + (2 * int(sc3) + 1)
            * (dot16(0, uvec4(bytes12, bytes13, bytes14, bytes15), x[k][digit * 4u + 3u]) - x_digits(k, digit, 3u));
        dots0 = 256.0 * dots0 + float(DIGITS > 1u && TURNS == 1u ? part0 + part1 : part0), dots1 = 256.0 * dots1 + float(part1);
    }
    if (TURNS == 1u) sum += d * (DIGITS > 1u ? x_step(k, 0u) * dots0 : x_step(k, 0u) * dots0 + x_step(k, 1u) * dots1)
        + d * (int(sg0) != 0 ? -0.125 : 0.125) * float(2 * int(sc0) + 1) * x_sum(k, 0u)
        + d * (int(sg1) != 0 ? -0.125 : 0.125) * float(2 * int(sc0) + 1) * x_sum(k, 1u)
        + d * (int(sg2) != 0 ? -0.125 : 0.125) * float(2 * int(sc1) + 1) * x_sum(k, 2u)
        + d * (int(sg3) != 0 ? -0.125 : 0.125) * float(2 * int(sc1) + 1) * x_sum(k, 3u)
        + d * (int(sg4) != 0 ? -0.125 : 0.125) * float(2 * int(sc2) + 1) * x_sum(k, 4u)
        + d * (int(sg5) != 0 ? -0.125 : 0.125) * float(2 * int(sc2) + 1) * x_sum(k, 5u)
        + d * (int(sg6) != 0 ? -0.125 : 0.125) * float(2 * int(sc3) + 1) * x_sum(k, 6u)
        + d * (int(sg7) != 0 ? -0.125 : 0.125) * float(2 * int(sc3) + 1) * x_sum(k, 7u);
    if (TURNS > 1u && turns.x) sum += d * (x_step(k, 0u) * dots0)
        + d * (int(sg0) != 0 ? -0.125 : 0.125) * float(2 * int(sc0) + 1) * x_sum(k, 0u)
        + d * (int(sg1) != 0 ? -0.125 : 0.125) * float(2 * int(sc0) + 1) * x_sum(k, 1u)
        + d * (int(sg2) != 0 ? -0.125 : 0.125) * float(2 * int(sc1) + 1) * x_sum(k, 2u)
        + d * (int(sg3) != 0 ? -0.125 : 0.125) * float(2 * int(sc1) + 1) * x_sum(k, 3u);
    if (TURNS > 1u && turns.y) sum += d * (x_step(k, 1u) * dots1)
        + d * (int(sg4) != 0 ? -0.125 : 0.125) * float(2 * int(sc2) + 1) * x_sum(k, 4u)
        + d * (int(sg5) != 0 ? -0.125 : 0.125) * float(2 * int(sc2) + 1) * x_sum(k, 5u)
        + d * (int(sg6) != 0 ? -0.125 : 0.125) * float(2 * int(sc3) + 1) * x_sum(k, 6u)
        + d * (int(sg7) != 0 ? -0.125 : 0.125) * float(2 * int(sc3) + 1) * x_sum(k, 7u);
}

const uint FIT = SHARED_FOURS / (X_FOURS * BATCH), SLICE = FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles
shared uvec4 shared_x[BATCH * X_FOURS * SLICE];
uint turn_of(uint i) {  // in which word `i` is made
    const uint behind = i - DIGITS * 16u;
    return i < DIGITS * 16u ? i % 16u / 8u : behind < 2u ? behind : behind < 10u ? (behind - 2u) / 4u : (behind - 10u) % 4u / 2u;
}
void take_x(uint m, uint t) { [[unroll]] for (uint i = 0u; i < X_FOURS; ++i) x[0][i] = shared_x[(m * X_FOURS + i) * SLICE + t]; }

float sum_of_lanes(float v[ROWS], uint width) {  // all at once, over lanes from a multiple of `width` on: number i is in the i-th
    [[unroll]] for (uint left = ROWS / 2u, bit = 1u; left > 0u; left /= 2u, bit *= 2u) {
        const bool odd = (gl_SubgroupInvocationID & bit) != 0u;
        [[unroll]] for (uint i = 0u; i < left; ++i)
            v[i] = mix(v[2u * i], v[2u * i + 1u], odd) + subgroupShuffleXor(mix(v[2u * i + 1u], v[2u * i], odd), bit);
    }
    for (uint bit = ROWS; bit < width; bit *= 2u) v[0] += subgroupShuffleXor(v[0], bit);
    return v[0];
}

// Puts `count` tiles of each right-hand side, from `begin` on, into shared_x; or, in the launch that packs, into packed_y, all workgroups.
void share_slice(uint begin, uint count) {
    const uint group = X_PACKED == 2u ? gl_WorkGroupID.x : 0u, groups_here = X_PACKED == 2u ? gl_NumWorkGroups.x : 1u;
    barrier();
    for (uint i = gl_LocalInvocationID.x; X_PACKED == 1u && i < count * BATCH * X_FOURS; i += gl_WorkGroupSize.x)
        shared_x[i / count * SLICE + i % count] = packed_x[i / count * (row_tiles / 4u) + begin + i % count];
    for (uint from = group * gl_WorkGroupSize.x; X_PACKED != 1u && from < count * BATCH; from += groups_here * gl_WorkGroupSize.x) {
        const uint i = from + gl_LocalInvocationID.x, m = i / count, t = i % count;
        [[unroll]] for (uint turn = 0u; turn < (X_PACKED == 2u ? 1u : TURNS); ++turn) {
            if (!is_turn(turn)) continue;
            load_x(m, begin + t, 0u);  // the whole subgroup, also beyond the end
            if (i >= count * BATCH) continue;
            [[unroll]] for (uint f = 0u; f < X_FOURS; ++f)
                if (X_PACKED == 2u) packed_y[(m * X_FOURS + f) * count + t] = x[0][f];
                else if (TURNS == 1u) shared_x[(m * X_FOURS + f) * SLICE + t] = x[0][f];
                else [[unroll]] for (uint w = 0u; w < 4u; ++w)
                    if (turn_of(4u * f + w) == turn) shared_x[(m * X_FOURS + f) * SLICE + t][w] = x[0][f][w];
        }
    }
    barrier();
}

// Teams of lanes, a part of a subgroup or, for few rows, several, take ROWS rows each; the workgroup shares a slice of x at a time.
void main() {
    find_matrix();
    const uint tiles = row_tiles / 4u, last = rows - 1u, lanes = SPLIT * (gl_SubgroupSize / 4u), teams = gl_WorkGroupSize.x / lanes;
    if (X_PACKED == 2u) { share_slice(0u, tiles); return; }
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
    const uint place = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID, lane = place % lanes, team = place / lanes;
    const uint slice = SLICE < lanes ? SLICE : SLICE / lanes * lanes;  // no lane without a tile while others have one
    for (uint first = group_number() * teams * ROWS; first < rows; first += group_count() * teams * ROWS) {
        const uint row = first + team * ROWS;
        float sum[BATCH][ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[m][r] = 0.0;
        for (uint from = 0u; from < tiles; from += slice) {
            const uint count = min(slice, tiles - from);
            uint words[ROWS][6];  // weights are on their way while the workgroup waits for x
            [[unroll]] for (uint r = 0u; r < ROWS; ++r)
                if (TURNS == 1u) fetch(min(row + r, last), from + min(lane, count - 1u), words[r]);
            if (slice < tiles || first < group_count() * teams * ROWS) share_slice(from, count);  // else it is there still
            for (uint t = lane; t < count; t += lanes) {
                [[unroll]] for (uint turn = 0u; TURNS > 1u && turn < TURNS; ++turn) {
                    if (!is_turn(turn)) continue;
                    const bvec4 turns = bvec4(turn == 0u, turn == 1u, turn == 2u, turn == 3u);
                    [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                        if (m > 0u && m >= batch) continue;  // a branch here, too
                        take_x(m, t);
                        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
                            const uint n = min(row + r + (r == 0u ? 0u : after(sum[0][r - 1u])), last);
                            if (m == 0u) fetch(n, from + t, words[r]);
                            accumulate(min(row + r, last), from + t, 0u, words[r], turns, sum[m][r]);
                        }
                    }
                }
                if (TURNS > 1u) continue;
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                    take_x(m, t);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r)
                        accumulate(min(row + r, last), from + t, 0u, words[r], bvec4(true), sum[m][r]);
                }
                if (t + lanes >= count) continue;
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, last), from + t + lanes, words[r]);
            }
        }
        [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
            const float all = sum_of_lanes(sum[m], min(lanes, gl_SubgroupSize));
            if (SPLIT <= 4u && lane < ROWS && row + lane < rows && m < batch) finish(m, row + lane, all);
            if (SPLIT > 4u && gl_SubgroupInvocationID < ROWS) partial[(gl_SubgroupID * BATCH + m) * ROWS + gl_SubgroupInvocationID] = all;
        }
        if (SPLIT <= 4u) continue;
        const uint parts = SPLIT / 4u, each = BATCH * ROWS;
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < teams * each; i += gl_WorkGroupSize.x) {
            const uint m = i % each / ROWS, n = first + i / each * ROWS + i % ROWS;
            float total = 0.0;
            for (uint p = 0u; p < parts; ++p) total += partial[(i / each * parts + p) * each + i % each];
            if (n < rows && m < batch) finish(m, n, total);
        }
        barrier();
    }
}
