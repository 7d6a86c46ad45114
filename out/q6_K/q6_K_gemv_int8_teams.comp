// q6_K_gemv_int8_teams: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format q6_K`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 210 bytes for 256 elements, 6.562 bits each.
// For each weight 0.82 bytes read, 4.12 operations: 0.281 loads, 1.73 bits, 1.95 integer, 0.0938 float, 0.0625 conversions.
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
#extension GL_EXT_spirv_intrinsics : require
#extension GL_EXT_shader_16bit_storage : require
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
layout(constant_id = 11) const uint PADDED = 0;  // 1: behind the weights are 32 bytes or more, which may be read
layout(constant_id = 4) const uint DIGITS = 1;  // bytes of each x: class int8 has 1, split 2, int24 3
shared float partial[SPLIT > 4u ? gl_WorkGroupSize.x / 8u * ROWS * BATCH : 1u];
layout(binding = 1, std430) readonly buffer PackedInput { uvec4 packed_x[]; };  // of X_PACKED: as x is shared
layout(binding = 2, std430) writeonly buffer PackedOutput { uvec4 packed_y[]; };
layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 0, std430) readonly buffer Blocks_wordBuffer { uint blocks_word[]; };
layout(binding = 0, std430) readonly buffer Blocks_fourBuffer { uvec4 blocks_four[]; };
layout(binding = 1, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 1, std430) readonly buffer InputHalves { uvec2 x_halves[]; };
layout(binding = 2, std430) buffer Output { float y[]; };
layout(binding = 2, std430) buffer OutputHalves { uint16_t y_halves[]; };
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
const uint X_FOURS = DIGITS * 6u + 1u;
uvec4 x[1][X_FOURS];
uint kept_word(uint k, uint i) { return x[k][i / 4u][i % 4u]; }
void keep_word(uint k, uint i, uint word) { x[k][i / 4u][i % 4u] = word; }
float x_step(uint k, uint i) { return uintBitsToFloat(kept_word(k, DIGITS * 16u + i)); }  // that integers stand for
int x_digits(uint k, uint digit, uint i) { return int(kept_word(k, DIGITS * 16u + 2u + digit * 8u + i)); }  // of them, one digit
const float LARGEST = DIGITS == 1u ? 127.0 : DIGITS == 2u ? 32639.0 : 8355708.0;  // that digits hold, less what rounding may add
float scale_of(vec4 most, vec4 all) {  // `most`: the largest magnitudes. What is not finite makes the step NaN
    const float largest = max(max(most.x, most.y), max(most.z, most.w));
    return any(isnan(all)) || isinf(largest) ? uintBitsToFloat(0x7FC00000u) : min(LARGEST / max(largest, 1e-37), 0.5e38);
}
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int signed_dot(uint codes, uint x, spirv_literal int packed);
int dot4(uint codes, uint x) { return signed_dot(codes, x, 0); }  // OpSDot of four bytes in a word each

// The nearest integers plus BIAS; digits below the highest have the sign bit turned over. Floats round where their last bit stands for 1.
const int BIAS = DIGITS == 3u ? 0x8080 : DIGITS == 2u ? 0x4B400080 : 0x4B400000;
ivec4 integers(vec4 v) { return DIGITS == 3u ? ivec4(roundEven(v)) + BIAS : floatBitsToInt(v + intBitsToFloat(BIAS)); }
uint bytes_of(ivec4 v, uint digit) {  // two share a word, so that most is done once for two digits
    const uint place = DIGITS - 1u - digit;
    const ivec4 halves = v >> (place / 2u * 16u);
    const ivec2 pairs = (halves.xy & 0xFFFF) | (halves.zw << 16), bytes = (pairs >> (place % 2u * 8u)) & 0x00FF00FF;
    return uint(bytes.x | (bytes.y << 8)) ^ (digit == 0u ? 0u : 0x80808080u);
}

int sum_of_bytes(uint bytes) { return dot4(bytes, 0x01010101u); }

void load_x(uint vector, uint j, uint k) {  // what tile `j` of a row meets of right-hand side `vector`
    const uint tile = j % 8u, place = j / 8u * 128u + tile / 4u * 32u + tile % 4u * 2u,
        from = x_from(min(vector, batch - 1u), row_tiles * 4u) + place;
    vec4 run[16], most[2], all[2];
    [[unroll]] for (uint r = 0u; r < 16u; ++r) run[r] = x_run(from + r % 2u + r / 2u % 4u * 8u + r / 8u * 64u);
    [[unroll]] for (uint s = 0u; s < 2u; ++s) most[s] = all[s] = vec4(0.0);
    [[unroll]] for (uint r = 0u; r < 16u; ++r) most[r / 8u] = max(most[r / 8u], abs(run[r])), all[r / 8u] += run[r];
    ivec4 whole[16];
    [[unroll]] for (uint s = 0u; s < 2u; ++s) {
        const float scale = scale_of(most[s], all[s]), step = 1.0 / scale;
        [[unroll]] for (uint r = 0u; r < 8u; ++r) whole[8u * s + r] = integers(run[8u * s + r] * scale);
        keep_word(k, DIGITS * 16u + s, floatBitsToUint(step));
    }
    [[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit) {
        [[unroll]] for (uint r = 0u; r < 16u; ++r) x[k][digit * 4u + r / 4u][r % 4u] = bytes_of(whole[r], digit);
        [[unroll]] for (uint i = 0u; i < 8u; ++i)
            keep_word(k, DIGITS * 16u + digit * 8u + 2u + i,
            uint(sum_of_bytes(x[k][digit * 4u + i / 2u][i % 2u * 2u]) + sum_of_bytes(x[k][digit * 4u + i / 2u][i % 2u * 2u + 1u])));
    }
}

// Not that of the last block of all, from where loads of 16 bytes would go beyond the end.
void fetch(uint n, uint j, out uvec4 fours[8], out uint words[10]) {  // tile `j` of row `n`
    if (PADDED == 0u && n + 1u == rows && j + 8u >= row_tiles / 4u) {
        n = 0u;
        j = j % 8u;
    }
    const uint block = row_of_weights(n) * (row_tiles / 32u) + j / 8u, tile = j % 8u;
    uint base = block * 105u, part = tile / 4u;  // part: of 128 elements
    uint begin0 = base + part * 2u + 100u, window0 = begin0 / 4u, begin1 = base + part * 16u + tile % 4u * 2u + 52u, window1 = begin1 / 4u;
    uint begin2 = base + tile * 2u + 84u, window2 = begin2 / 4u, begin3 = base + part * 16u + tile % 4u * 2u + 60u, window3 = begin3 / 4u;
    fours[0] = blocks_four[window0], fours[1] = blocks_four[window1], fours[2] = blocks_four[window1 + 1u], fours[3] = blocks_four[window2];
    fours[4] = blocks_four[window2 + 1u], fours[5] = blocks_four[window0 + 1u], fours[6] = blocks_four[window3];
    fours[7] = blocks_four[window3 + 1u], words[0] = blocks_word[base + 52u], words[1] = blocks_word[base + part * 2u + 48u];
    words[2] = blocks_word[base + part * 16u + tile % 4u * 2u], words[3] = blocks_word[base + tile * 2u + 32u];
    words[4] = blocks_word[base + part * 16u + tile % 4u * 2u + 1u], words[5] = blocks_word[base + tile * 2u + 33u];
    words[6] = blocks_word[base + part * 16u + tile % 4u * 2u + 8u], words[7] = blocks_word[base + part * 16u + tile % 4u * 2u + 9u];
    words[8] = blocks_word[base + part * 2u + 49u], words[9] = blocks_word[base + 104u];
}

// 16 bytes, as far as block `block` goes.
uvec4 blocks_to_end(uint at, uint block) {
    const uint end = (block + 1u) * 210u;
    uvec4 four = uvec4(0u);
    [[unroll]] for (uint i = 0u; i < 8u; ++i) {
        const uint word = at * 8u + i;
        if (word < end) four[i / 2u] |= uint(blocks[word]) << (i % 2u * 16u);
    }
    return four;
}

// Loads tile `j` of row `n` of the last block of all.
void fetch_last(uint n, uint j, out uvec4 fours[8], out uint words[10]) {
    const uint block = row_of_weights(n) * (row_tiles / 32u) + j / 8u, tile = j % 8u;
    uint base = block * 105u, part = tile / 4u;  // part: of 128 elements
    uint begin0 = base + part * 2u + 100u, window0 = begin0 / 4u, begin1 = base + part * 16u + tile % 4u * 2u + 52u, window1 = begin1 / 4u;
    uint begin2 = base + tile * 2u + 84u, window2 = begin2 / 4u, begin3 = base + part * 16u + tile % 4u * 2u + 60u, window3 = begin3 / 4u;
    fours[0] = blocks_to_end(window0, block), fours[1] = blocks_to_end(window1, block), fours[2] = blocks_to_end(window1 + 1u, block);
    fours[3] = blocks_to_end(window2, block), fours[4] = blocks_to_end(window2 + 1u, block), fours[5] = blocks_to_end(window0 + 1u, block);
    fours[6] = blocks_to_end(window3, block), fours[7] = blocks_to_end(window3 + 1u, block), words[0] = blocks_word[base + 52u];
    words[1] = blocks_word[base + part * 2u + 48u], words[2] = blocks_word[base + part * 16u + tile % 4u * 2u];
    words[3] = blocks_word[base + tile * 2u + 32u], words[4] = blocks_word[base + part * 16u + tile % 4u * 2u + 1u];
    words[5] = blocks_word[base + tile * 2u + 33u], words[6] = blocks_word[base + part * 16u + tile % 4u * 2u + 8u];
    words[7] = blocks_word[base + part * 16u + tile % 4u * 2u + 9u], words[8] = blocks_word[base + part * 2u + 49u];
    words[9] = blocks_word[base + 104u];
}
// Whether it is that turn's: always, but no compiler knows, which would load for all first, into registers that others could have.
bool is_turn(uint turn) { return TURNS == 1u || (turn == 0u ? row_tiles : turn == 1u ? rows : turn == 2u ? batch : y_rows) != 0u; }

// 0, but no compiler knows: what is loaded so waits for that sum, or it would be in registers beside what is loaded before.
uint after(float sum) { return floatBitsToUint(sum) & rows >> 31u; }

void accumulate(uint n, uint j, uint k, uvec4 fours[8], uint words[10], bvec4 turns, inout float sum) {  // `sum` += tile `j` of row `n` * x
    const uint block = row_of_weights(n) * (row_tiles / 32u) + j / 8u, tile = j % 8u;
    uint base = block * 105u, part = tile / 4u;  // part: of 128 elements
    uint shift = tile % 4u / 2u * 8u, begin0 = base + part * 2u + 100u, begin1 = base + part * 16u + tile % 4u * 2u + 52u;
    uint begin2 = base + tile * 2u + 84u, begin3 = base + part * 16u + tile % 4u * 2u + 60u;
    float d0 = unpackHalf2x16(words[0]).x, d1 = unpackHalf2x16(words[9] >> 16u).x;
    uint scales0 = words[1], ql0 = words[2], qh0 = words[3], bytes0 = (ql0 & 0xF0F0F0Fu) | ((qh0 & 0x3030303u) << 4u), ql1 = words[4];
    uint qh1 = words[5], bytes1 = (ql1 & 0xF0F0F0Fu) | ((qh1 & 0x3030303u) << 4u), ql2 = words[6];
    uint bytes2 = (ql2 & 0xF0F0F0Fu) | ((qh0 << 2u) & 0x30303030u), ql3 = words[7];
    uint bytes3 = (ql3 & 0xF0F0F0Fu) | ((qh1 << 2u) & 0x30303030u), scales1 = words[8];
    uint bytes4 = ((ql0 >> 4u) & 0xF0F0F0Fu) | (qh0 & 0x30303030u), bytes5 = ((ql1 >> 4u) & 0xF0F0F0Fu) | (qh1 & 0x30303030u);
    uint bytes6 = ((ql2 >> 4u) & 0xF0F0F0Fu) | ((qh0 >> 2u) & 0x30303030u);
    uint bytes7 = ((ql3 >> 4u) & 0xF0F0F0Fu) | ((qh1 >> 2u) & 0x30303030u);
    int sc0 = bitfieldExtract(int(scales0 >> shift), 0, 8), sc1 = bitfieldExtract(int(scales0 >> (shift + 16u)), 0, 8);  // scales: 8 bits
    int sc2 = bitfieldExtract(int(scales1 >> shift), 0, 8), sc3 = bitfieldExtract(int(scales1 >> (shift + 16u)), 0, 8);  // scales: 8 bits
    bool odd0 = (begin0 & 1u) != 0u, upper0 = (begin0 & 2u) != 0u, odd1 = (begin1 & 1u) != 0u, upper1 = (begin1 & 2u) != 0u;
    bool odd2 = (begin2 & 1u) != 0u, upper2 = (begin2 & 2u) != 0u, odd3 = (begin3 & 1u) != 0u, upper3 = (begin3 & 2u) != 0u;
    uvec4 four0 = fours[0], four1 = fours[1], four2 = fours[2], four3 = fours[3], four4 = fours[4], four5 = fours[5], four6 = fours[6];
    uvec4 four7 = fours[7];
    uint pick0 = upper0 ? four0.w : four0.y, pick1 = upper0 ? four0.z : four0.x, scales2 = odd0 ? pick0 : pick1;
    uint pick2 = upper1 ? four1.w : four1.y, pick3 = upper1 ? four1.z : four1.x, ql4 = odd1 ? pick2 : pick3;
    uint pick4 = upper1 ? four2.x : four1.z, ql5 = odd1 ? pick4 : pick2, ql_run0 = (ql4 >> 16u) | (ql5 << 16u);
    uint pick5 = upper2 ? four3.w : four3.y, pick6 = upper2 ? four3.z : four3.x, qh2 = odd2 ? pick5 : pick6;
    uint pick7 = upper2 ? four4.x : four3.z, qh3 = odd2 ? pick7 : pick5, qh_run0 = (qh2 >> 16u) | (qh3 << 16u);
    uint bytes8 = (ql_run0 & 0xF0F0F0Fu) | ((qh_run0 & 0x3030303u) << 4u), pick8 = upper1 ? four2.y : four1.w, ql6 = odd1 ? pick8 : pick4;
    uint ql_run1 = (ql5 >> 16u) | (ql6 << 16u), pick9 = upper2 ? four4.y : four3.w, qh4 = odd2 ? pick9 : pick7;
    uint qh_run1 = (qh3 >> 16u) | (qh4 << 16u), bytes9 = (ql_run1 & 0xF0F0F0Fu) | ((qh_run1 & 0x3030303u) << 4u);
    uint pick10 = upper0 ? four5.x : four0.z, scales3 = odd0 ? pick10 : pick0, pick11 = upper3 ? four6.w : four6.y;
    uint pick12 = upper3 ? four6.z : four6.x, ql7 = odd3 ? pick11 : pick12, pick13 = upper3 ? four7.x : four6.z;
    uint ql8 = odd3 ? pick13 : pick11, ql_run2 = (ql7 >> 16u) | (ql8 << 16u);
    uint bytes10 = (ql_run2 & 0xF0F0F0Fu) | ((qh_run0 << 2u) & 0x30303030u), pick14 = upper3 ? four7.y : four6.w;
    uint ql9 = odd3 ? pick14 : pick13, ql_run3 = (ql8 >> 16u) | (ql9 << 16u);
    uint bytes11 = (ql_run3 & 0xF0F0F0Fu) | ((qh_run1 << 2u) & 0x30303030u);
    uint bytes12 = ((ql_run0 >> 4u) & 0xF0F0F0Fu) | (qh_run0 & 0x30303030u);
    uint bytes13 = ((ql_run1 >> 4u) & 0xF0F0F0Fu) | (qh_run1 & 0x30303030u), pick15 = upper0 ? four5.y : four0.w;
    uint scales4 = odd0 ? pick15 : pick10, bytes14 = ((ql_run2 >> 4u) & 0xF0F0F0Fu) | ((qh_run0 >> 2u) & 0x30303030u);
    uint bytes15 = ((ql_run3 >> 4u) & 0xF0F0F0Fu) | ((qh_run1 >> 2u) & 0x30303030u);
    int sc4 = bitfieldExtract(int(scales2 >> (shift + 16u)), 0, 8), sc5 = bitfieldExtract(int(scales3 >> shift), 0, 8);  // scales: 8 bits
    int sc6 = bitfieldExtract(int(scales3 >> (shift + 16u)), 0, 8), sc7 = bitfieldExtract(int(scales4 >> shift), 0, 8);  // scales: 8 bits
    float dots0 = 0.0, dots1 = 0.0;
    [[unroll]] for (uint digit = 0; digit < DIGITS; ++digit) {
        dots0 = 256.0 * dots0 + float(sc0 * (dot4(bytes0, x[k][digit * 4u].x) + dot4(bytes1, x[k][digit * 4u].y)
            - 32 * x_digits(k, digit, 0u)) + sc1 * (dot4(bytes2, x[k][digit * 4u].z) + dot4(bytes3, x[k][digit * 4u].w)
            - 32 * x_digits(k, digit, 1u)) + sc2 * (dot4(bytes4, x[k][digit * 4u + 1u].x) + dot4(bytes5, x[k][digit * 4u + 1u].y)
            - 32 * x_digits(k, digit, 2u)) + sc3 * (dot4(bytes6, x[k][digit * 4u + 1u].z) + dot4(bytes7, x[k][digit * 4u + 1u].w)
            - 32 * x_digits(k, digit, 3u)));
        dots1 = 256.0 * dots1 + float(sc4 * (dot4(bytes8, x[k][digit * 4u + 2u].x) + dot4(bytes9, x[k][digit * 4u + 2u].y)
            - 32 * x_digits(k, digit, 4u)) + sc5 * (dot4(bytes10, x[k][digit * 4u + 2u].z) + dot4(bytes11, x[k][digit * 4u + 2u].w)
            - 32 * x_digits(k, digit, 5u)) + sc6 * (dot4(bytes12, x[k][digit * 4u + 3u].x) + dot4(bytes13, x[k][digit * 4u + 3u].y)
            - 32 * x_digits(k, digit, 6u)) + sc7 * (dot4(bytes14, x[k][digit * 4u + 3u].z) + dot4(bytes15, x[k][digit * 4u + 3u].w)
            - 32 * x_digits(k, digit, 7u)));
    }
    if (TURNS == 1u) sum += d0 * (x_step(k, 0u) * dots0) + d1 * (x_step(k, 1u) * dots1);
    if (TURNS > 1u && turns.x) sum += d0 * (x_step(k, 0u) * dots0);
    if (TURNS > 1u && turns.y) sum += d1 * (x_step(k, 1u) * dots1);
}

const uint FIT = SHARED_FOURS / (X_FOURS * BATCH), SLICE = FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles
shared uvec4 shared_x[BATCH * X_FOURS * SLICE];
uint turn_of(uint i) {  // in which word `i` is made
    const uint behind = i - DIGITS * 16u;
    return i < DIGITS * 16u ? i % 16u / 8u : behind < 2u ? behind : (behind - 2u) % 8u / 4u;
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
    uint i = group * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    for (; X_PACKED != 1u && i < count * BATCH; i += groups_here * gl_WorkGroupSize.x) {
        const uint m = i / count, t = i % count;
        [[unroll]] for (uint turn = 0u; turn < (X_PACKED == 2u ? 1u : TURNS); ++turn) {
            if (!is_turn(turn)) continue;
            load_x(m, begin + t, 0u);  // the whole subgroup, also beyond the end
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
    const uint place = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID, lane = place % lanes, team = place / lanes;
    const uint slice = SLICE < lanes ? SLICE : SLICE / lanes * lanes;  // no lane without a tile while others have one
    for (uint first = group_number() * teams * ROWS; first < rows; first += group_count() * teams * ROWS) {
        const uint row = first + team * ROWS;
        float sum[BATCH][ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[m][r] = 0.0;
        for (uint from = 0u; from < tiles; from += slice) {
            const uint count = min(slice, tiles - from);
            uvec4 fours[ROWS][8]; uint words[ROWS][10];  // weights are on their way while the workgroup waits for x
            [[unroll]] for (uint r = 0u; r < ROWS; ++r)
                if (TURNS == 1u) fetch(min(row + r, last), from + min(lane, count - 1u), fours[r], words[r]);
            if (slice < tiles || first < group_count() * teams * ROWS) share_slice(from, count);  // else it is there still
            for (uint t = lane; t < count; t += lanes) {
                if (PADDED == 0u && row + ROWS >= rows && from + t + 8u >= tiles) {  // the last block: no load goes beyond
                    [[dont_unroll]] for (uint i = 0u; i < ROWS * BATCH; ++i) {
                        uvec4 last_fours[8]; uint last_words[10];
                        float part = 0.0;  // the sum goes on, so that results have the bits of the other path
                        [[unroll]] for (uint m = 0u; m < BATCH; ++m)
                            [[unroll]] for (uint r = 0u; r < ROWS; ++r) part = m * ROWS + r == i ? sum[m][r] : part;
                        fetch_last(min(row + i % ROWS, last), from + t, last_fours, last_words);
                        take_x(i / ROWS, t);
                        accumulate(min(row + i % ROWS, last), from + t, 0u, last_fours, last_words, bvec4(true), part);
                        [[unroll]] for (uint m = 0u; m < BATCH; ++m)
                            [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[m][r] = m * ROWS + r == i ? part : sum[m][r];
                    }
                    continue;
                }
                [[unroll]] for (uint turn = 0u; TURNS > 1u && turn < TURNS; ++turn) {
                    if (!is_turn(turn)) continue;
                    const bvec4 turns = bvec4(turn == 0u, turn == 1u, turn == 2u, turn == 3u);
                    [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                        if (m > 0u && m >= batch) continue;  // a branch here, too
                        take_x(m, t);
                        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
                            const uint n = min(row + r + (r == 0u ? 0u : after(sum[0][r - 1u])), last);
                            if (m == 0u) fetch(n, from + t, fours[r], words[r]);
                            accumulate(min(row + r, last), from + t, 0u, fours[r], words[r], turns, sum[m][r]);
                        }
                    }
                }
                if (TURNS > 1u) continue;
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                    take_x(m, t);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r)
                        accumulate(min(row + r, last), from + t, 0u, fours[r], words[r], bvec4(true), sum[m][r]);
                }
                if (t + lanes >= count) continue;
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, last), from + t + lanes, fours[r], words[r]);
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
