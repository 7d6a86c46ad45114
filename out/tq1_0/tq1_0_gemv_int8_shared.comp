// tq1_0_gemv_int8_shared: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format tq1_0`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 54 bytes for 256 elements, 1.688 bits each.
// For each weight 0.211 bytes read, 3.35 operations: 0.0469 loads, 1.84 bits, 1.35 integer, 0.0703 float, 0.0391 conversions.
//
//     format tq1_0 "ternary codes, five in a byte, one scale for 256"
//
//     block 256 {
//         qs: u8[48]
//         qh: u8[4]
//         d:  f16
//     }
//
//     code t = qs { 8 base 3 @ 0   (32:8, 5:^) }    # elements 0 to 159
//         then qs { 8 base 3 @ 256 (16:8, 5:^) }    # 160 to 239
//         then qh { 8 base 3 @ 0   (4:8,  4:^) }    # 240 to 255
//
//     value = (t - 1) * d
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 2;  // right-hand sides at once, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time, at most as many as a subgroup has lanes
layout(constant_id = 6) const uint SHARED_FOURS = 512;  // 16 bytes each: memory for x
layout(constant_id = 21) const uint X_TYPE = 0;  // how x is stored: 0 as f32, 1 as f16, 2 as bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // how y is stored: 0 as f32, 1 as f16, 2 as bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have; the rest is left out
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as the push constants say; 0: one after the other
layout(constant_id = 11) const uint PADDED = 0;  // 1: behind the weights are 32 bytes or more, which may be read
layout(constant_id = 4) const uint DIGITS = 1;  // bytes of each x: class int8 has 1, split 2, int24 3

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
    uint rows, row_tiles, batch;      // of this launch; tiles of 64 elements in a row; right-hand sides
    uint y_first, y_rows, epilogue;   // where it begins in y; rows of each right-hand side there; what is done with results
    // Of VIEWS: workgroups of each matrix; the first matrix of this launch; those in the inner dimension; right-hand sides of each in all.
    uint groups, matrix_first, matrices, vectors;
    uint sharing, sharing_outer;                       // neighbours that have the same weights, in each dimension
    uint weights_first, weights_inner, weights_outer;  // rows; from a matrix of weights to the next in each dimension
    uint x_first, x_stride, x_inner, x_outer;          // elements; from a right-hand side to the next, and from a matrix to the next
    uint y_skip, y_stride, y_inner, y_outer;           // elements in y alone, then as of x
};

// The matrix that a workgroup multiplies, of this launch; and where its weights, its x and its y begin.
uint matrix = 0u, weights_begin = 0u, x_begin = 0u, y_begin = 0u;

void find_matrix() {
    if (VIEWS == 0u) return;
    matrix = gl_WorkGroupID.x / groups;
    const uint inner = (matrix_first + matrix) % matrices, outer = (matrix_first + matrix) / matrices;
    weights_begin = weights_first + inner / sharing * weights_inner + outer / sharing_outer * weights_outer;
    x_begin = x_first + inner * x_inner + outer * x_outer;
    y_begin = inner * y_inner + outer * y_outer;
}

uint group_number() { return VIEWS == 0u ? gl_WorkGroupID.x : gl_WorkGroupID.x % groups; }
uint group_count() { return VIEWS == 0u ? gl_NumWorkGroups.x : groups; }
uint row_of_weights(uint n) { return weights_begin + n; }  // among all of them
// Where a right-hand side begins in x, of so many elements, or runs.
uint x_from(uint vector, uint row_runs) { return VIEWS == 0u ? vector * row_runs : (x_begin + vector * x_stride) / 4u; }

// Run `at` of x: 4 consecutive elements.
vec4 x_run(uint at) {
    if (X_TYPE == 0u) return x_in[at];
    const uvec2 run = uvec2(x_halves[at]);
    return X_TYPE == 1u ? vec4(unpackHalf2x16(run.x), unpackHalf2x16(run.y))
        : uintBitsToFloat(uvec4(run.x << 16, run.x & 0xffff0000u, run.y << 16, run.y & 0xffff0000u));
}

float f16_to_f32(uint bits) { return unpackHalf2x16(bits).x; }  // of the low 16 bits

// Rounds to the nearest half, ties to even. In integers, because Vulkan leaves the rounding of its own conversion open.
uint f32_to_f16(float x) {
    const uint bits = floatBitsToUint(x), magnitude = bits & 0x7FFFFFFFu;
    precise float lifted = uintBitsToFloat(magnitude) + 0.5;  // rounds at the last bit of a subnormal half
    const uint normal = min(magnitude - 0x37FFF001u + ((magnitude >> 13) & 1u) >> 13, 0x7C00u);
    const uint subnormal = floatBitsToUint(lifted) - 0x3F000000u, rounded = magnitude < 0x38800000u ? subnormal : normal;
    return bits >> 16 & 0x8000u | (magnitude > 0x7F800000u ? 0x7E00u : rounded);
}

// Rounds to the nearest bfloat16, ties to even.
uint f32_to_bf16(float x) {
    const uint bits = floatBitsToUint(x), rounded = bits + 0x7FFFu + ((bits >> 16) & 1u), nan = bits & 0x80000000u | 0x7FC00000u;
    return ((bits & 0x7FFFFFFFu) > 0x7F800000u ? nan : rounded) >> 16;
}

// Bits of the epilogue: what is done with results, and what has a scale of its own; else all of a tensor have one.
const uint ADDS_TO_Y = 1u, ADDS_BIAS = 2u, SCALES = 4u, GATES = 8u, ADDS_RESIDUAL = 16u, SCALES_ROWS = 256u, SCALES_VECTORS = 512u;
float silu(float v) { return v / (1.0 + exp(-v)); }

// What y holds.
float y_before(uint at) {
    if (Y_TYPE == 0u) return y[at];
    const uint bits = uint(y_halves[at]);
    return Y_TYPE == 1u ? unpackHalf2x16(bits).x : uintBitsToFloat(bits << 16);
}

// Rounds once, to the nearest, ties to even.
void store_y(uint at, float sum) {
    if (Y_TYPE == 0u) { y[at] = sum; return; }
    const uint bits = Y_TYPE == 1u ? f32_to_f16(sum) : f32_to_bf16(sum);
    y_halves[at] = uint16_t(bits);
}

// Row `n` of right-hand side `m` is done; or, where sums come in parts, one of them is, which may be the first or the last.
void finish(uint m, uint n, float sum, bool first, bool last) {
    const uint row = y_first % y_rows + n, vector = m + y_first / y_rows, does = EPILOGUE & epilogue;
    const uint at = y_begin + vector * (VIEWS == 0u ? y_rows : y_stride) + row, vector_number = (matrix_first + matrix) * vectors + vector;
    if ((does & SCALES) != 0u) sum *= result_scale[(does & SCALES_ROWS) != 0u ? row : (does & SCALES_VECTORS) != 0u ? vector_number : 0u];
    if (first && (does & ADDS_BIAS) != 0u) sum += row_bias[row];
    if (!first || (does & ADDS_TO_Y) != 0u) sum += y_before(at + y_skip);
    if (last && (does & GATES) != 0u) sum *= silu(result_gate[at]);
    if (last && (does & ADDS_RESIDUAL) != 0u) sum += residual[at];
    store_y(at + y_skip, sum);
}

void finish(uint m, uint n, float sum) { finish(m, n, sum, true, true); }

const uint TILES = 1u, SUMS = ROWS;

// What a thread keeps of x: tiles as integers of signed bytes, the highest first, four elements in a word; the steps that the
// integers stand for; sums over runs that share a scale, of each digit, and of x itself.
int x[TILES][DIGITS][32];
int x_digits[TILES][DIGITS][4];
float x_step[TILES][4];
float x_sum[TILES][1];

// Integers whose digits are bytes with a sign: the largest, less what rounding may add.
const float LARGEST = DIGITS == 1u ? 127.0 : DIGITS == 2u ? 32639.0 : 8355708.0;

// Integers for each unit of x, of which `most` are the largest magnitudes; what is not finite makes the step NaN.
float scale_of(vec4 most, vec4 all) {
    const float largest = max(max(most.x, most.y), max(most.z, most.w));
    if (any(isnan(all)) || isinf(largest)) return uintBitsToFloat(0x7FC00000u);
    return min(LARGEST / max(largest, 1e-37), 0.5e38);
}

// OpSDot of four bytes in a word each; not every GLSL compiler has a name for it.
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int signed_dot(int a, int b, spirv_literal int packed);
int dot4(int codes, int x) { return signed_dot(codes, x, 0); }

// The nearest integers to numbers up to LARGEST, plus BIAS, which makes their bytes digits: those below the highest with the sign bit
// turned over. Where a float has bits enough, it is added as one whose last bit stands for 1, and that is the rounding, too.
const int BIAS = DIGITS == 3u ? 0x8080 : DIGITS == 2u ? 0x4B400080 : 0x4B400000;
ivec4 integers(vec4 v) { return DIGITS == 3u ? ivec4(roundEven(v)) + BIAS : floatBitsToInt(v + intBitsToFloat(BIAS)); }
int sum_of(ivec4 v) { return v.x + v.y + v.z + v.w; }

// One digit of four integers. Two share a word, so that most is done once for two digits.
int bytes_of(ivec4 v, uint digit) {
    const uint place = DIGITS - 1u - digit;
    const ivec4 halves = v >> (place / 2u * 16u);
    const ivec2 pairs = (halves.xy & 0xFFFF) | (halves.zw << 16);
    const ivec2 bytes = (pairs >> (place % 2u * 8u)) & 0x00FF00FF;
    return (bytes.x | (bytes.y << 8)) ^ (digit == 0u ? 0 : 0x80808080);
}

int sum_of_bytes(int bytes) { return dot4(bytes, 0x01010101); }

// Loads what tile `j` of a row meets of right-hand side `vector`.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 4u, place = j / 4u * 128u + tile / 2u * 64u + tile % 2u * 2u;
    const uint from = x_from(min(vector, batch - 1u), row_tiles * 16u) + place;
    vec4 run[32];
    [[unroll]] for (uint r = 0u; r < 32u; ++r) run[r] = x_run(from + r % 2u + r / 2u * 4u);
    vec4 most[4], all[4];
    [[unroll]] for (uint s = 0u; s < 4u; ++s) {
        most[s] = all[s] = vec4(0.0);
        [[unroll]] for (uint r = 8u * s; r < 8u * s + 8u; ++r) most[s] = max(most[s], abs(run[r])), all[s] += run[r];
    }
    if (DIGITS > 1u) {
        [[unroll]] for (uint s = 1u; s < 4u; ++s) most[0] = max(most[0], most[s]), all[0] += all[s];
        [[unroll]] for (uint s = 1u; s < 4u; ++s) most[s] = most[0], all[s] = all[0];
    }
    ivec4 whole[32];
    [[unroll]] for (uint s = 0u; s < 4u; ++s) {
        const float scale = scale_of(most[s], all[s]);
        x_step[k][s] = 1.0 / scale;
        [[unroll]] for (uint r = 8u * s; r < 8u * s + 8u; ++r) whole[r] = integers(run[r] * scale);
    }
    [[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit) {
        [[unroll]] for (uint r = 0u; r < 32u; ++r) x[k][digit][r] = bytes_of(whole[r], digit);
        x_digits[k][digit][0] = sum_of_bytes(x[k][digit][0]) + sum_of_bytes(x[k][digit][1]) + sum_of_bytes(x[k][digit][2])
            + sum_of_bytes(x[k][digit][3]) + sum_of_bytes(x[k][digit][4]) + sum_of_bytes(x[k][digit][5]) + sum_of_bytes(x[k][digit][6])
            + sum_of_bytes(x[k][digit][7]);
        x_digits[k][digit][1] = sum_of_bytes(x[k][digit][8]) + sum_of_bytes(x[k][digit][9]) + sum_of_bytes(x[k][digit][10])
            + sum_of_bytes(x[k][digit][11]) + sum_of_bytes(x[k][digit][12]) + sum_of_bytes(x[k][digit][13]) + sum_of_bytes(x[k][digit][14])
            + sum_of_bytes(x[k][digit][15]);
        x_digits[k][digit][2] = sum_of_bytes(x[k][digit][16]) + sum_of_bytes(x[k][digit][17]) + sum_of_bytes(x[k][digit][18])
            + sum_of_bytes(x[k][digit][19]) + sum_of_bytes(x[k][digit][20]) + sum_of_bytes(x[k][digit][21]) + sum_of_bytes(x[k][digit][22])
            + sum_of_bytes(x[k][digit][23]);
        x_digits[k][digit][3] = sum_of_bytes(x[k][digit][24]) + sum_of_bytes(x[k][digit][25]) + sum_of_bytes(x[k][digit][26])
            + sum_of_bytes(x[k][digit][27]) + sum_of_bytes(x[k][digit][28]) + sum_of_bytes(x[k][digit][29]) + sum_of_bytes(x[k][digit][30])
            + sum_of_bytes(x[k][digit][31]);
    }
}

// Loads tile `j` of row `n`, but that of the last block of all, from where loads of 16 bytes would go beyond the end.
void fetch(uint n, uint j, out uvec4 fours[4], out uint words[2]) {
    if (PADDED == 0u && n + 1u == rows && j + 4u >= row_tiles / 2u) {
        n = 0u;
        j = j % 4u;
    }
    const uint block = row_of_weights(n) * (row_tiles / 8u) + j / 4u, tile = j % 4u;
    uint base = block * 27u, part = tile / 2u;  // part: of 256 elements
    uint digit0 = tile % 2u * 2u;  // which digit of base 3, from the top
    uint begin = base + part * 13u + digit0, window = begin / 4u;
    fours[0] = blocks_four[window];
    fours[1] = blocks_four[window + 1u];
    fours[2] = blocks_four[window + 2u];
    fours[3] = blocks_four[window + 3u];
    words[0] = blocks_word[base + part * 13u + 13u];
    words[1] = blocks_word[base + part * 13u + 12u];
}

// 16 bytes, as far as block `block` goes.
uvec4 blocks_to_end(uint at, uint block) {
    const uint end = (block + 1u) * 54u;
    uvec4 four = uvec4(0u);
    [[unroll]] for (uint i = 0u; i < 8u; ++i) {
        const uint word = at * 8u + i;
        if (word < end) four[i / 2u] |= uint(blocks[word]) << (i % 2u * 16u);
    }
    return four;
}

// Loads tile `j` of row `n` of the last block of all.
void fetch_last(uint n, uint j, out uvec4 fours[4], out uint words[2]) {
    const uint block = row_of_weights(n) * (row_tiles / 8u) + j / 4u, tile = j % 4u;
    uint base = block * 27u, part = tile / 2u;  // part: of 256 elements
    uint digit0 = tile % 2u * 2u;  // which digit of base 3, from the top
    uint begin = base + part * 13u + digit0, window = begin / 4u;
    fours[0] = blocks_to_end(window, block);
    fours[1] = blocks_to_end(window + 1u, block);
    fours[2] = blocks_to_end(window + 2u, block);
    fours[3] = blocks_to_end(window + 3u, block);
    words[0] = blocks_word[base + part * 13u + 13u];
    words[1] = blocks_word[base + part * 13u + 12u];
}

// Adds the products of tile `j` of row `n` with what is kept of x.
void accumulate(uint n, uint j, uint k, uvec4 fours[4], uint words[2], inout float sum) {
    const uint block = row_of_weights(n) * (row_tiles / 8u) + j / 4u, tile = j % 4u;
    uint base = block * 27u, part = tile / 2u;  // part: of 256 elements
    uint shift0 = part * 16u;
    uint digit0 = tile % 2u * 2u;  // which digit of base 3, from the top
    uint begin = base + part * 13u + digit0, shift1 = 31u - shift0;
    uint power0 = (0x90301u >> (digit0 * 8u)) & 0xFFu;  // 3^n
    uint digit1 = digit0 + 1u;  // which digit of base 3, from the top
    uint power1 = (0x1B090301u >> (digit1 * 8u)) & 0xFFu;  // 3^n
    uint d0 = words[0], qh = words[1], qh_run = (qh >> shift0) | ((d0 << 1u) << shift1);
    uint evens0 = (((qh_run & 0xFF00FFu) * power0) & 0xFF00FFu) * 3u, odds0 = ((((qh_run >> 8u) & 0xFF00FFu) * power0) & 0xFF00FFu) * 3u;
    uint bytes0 = ((evens0 >> 8u) & 0xFF00FFu) | (odds0 & 0xFF00FF00u), evens1 = (((qh_run & 0xFF00FFu) * power1) & 0xFF00FFu) * 3u;
    uint odds1 = ((((qh_run >> 8u) & 0xFF00FFu) * power1) & 0xFF00FFu) * 3u, bytes1 = ((evens1 >> 8u) & 0xFF00FFu) | (odds1 & 0xFF00FF00u);
    float d1 = f16_to_f32(d0 >> shift0);
    bool odd = (begin & 1u) != 0u, upper = (begin & 2u) != 0u;
    uvec4 four0 = fours[0], four1 = fours[1], four2 = fours[2], four3 = fours[3];
    uint pick0 = upper ? four0.w : four0.y, pick1 = upper ? four0.z : four0.x, qs0 = odd ? pick0 : pick1, pick2 = upper ? four1.x : four0.z;
    uint qs1 = odd ? pick2 : pick0, qs_run0 = (qs0 >> shift0) | ((qs1 << 1u) << shift1), evens2 = (qs_run0 & 0xFF00FFu) * 3u;
    uint odds2 = ((qs_run0 >> 8u) & 0xFF00FFu) * 3u, bytes2 = ((evens2 >> 8u) & 0xFF00FFu) | (odds2 & 0xFF00FF00u);
    uint pick3 = upper ? four1.y : four0.w, qs2 = odd ? pick3 : pick2, qs_run1 = (qs1 >> shift0) | ((qs2 << 1u) << shift1);
    uint evens3 = (qs_run1 & 0xFF00FFu) * 3u, odds3 = ((qs_run1 >> 8u) & 0xFF00FFu) * 3u;
    uint bytes3 = ((evens3 >> 8u) & 0xFF00FFu) | (odds3 & 0xFF00FF00u), pick4 = upper ? four1.w : four1.y;
    uint pick5 = upper ? four1.z : four1.x, qs3 = odd ? pick4 : pick5, pick6 = upper ? four2.x : four1.z, qs4 = odd ? pick6 : pick4;
    uint qs_run2 = (qs3 >> shift0) | ((qs4 << 1u) << shift1), evens4 = (qs_run2 & 0xFF00FFu) * 3u;
    uint odds4 = ((qs_run2 >> 8u) & 0xFF00FFu) * 3u, bytes4 = ((evens4 >> 8u) & 0xFF00FFu) | (odds4 & 0xFF00FF00u);
    uint pick7 = upper ? four2.y : four1.w, qs5 = odd ? pick7 : pick6, qs_run3 = (qs4 >> shift0) | ((qs5 << 1u) << shift1);
    uint evens5 = (qs_run3 & 0xFF00FFu) * 3u, odds5 = ((qs_run3 >> 8u) & 0xFF00FFu) * 3u;
    uint bytes5 = ((evens5 >> 8u) & 0xFF00FFu) | (odds5 & 0xFF00FF00u), evens6 = (evens2 & 0xFF00FFu) * 3u;
    uint odds6 = (odds2 & 0xFF00FFu) * 3u, bytes6 = ((evens6 >> 8u) & 0xFF00FFu) | (odds6 & 0xFF00FF00u);
    uint evens7 = (evens3 & 0xFF00FFu) * 3u, odds7 = (odds3 & 0xFF00FFu) * 3u;
    uint bytes7 = ((evens7 >> 8u) & 0xFF00FFu) | (odds7 & 0xFF00FF00u), evens8 = (evens4 & 0xFF00FFu) * 3u;
    uint odds8 = (odds4 & 0xFF00FFu) * 3u, bytes8 = ((evens8 >> 8u) & 0xFF00FFu) | (odds8 & 0xFF00FF00u);
    uint evens9 = (evens5 & 0xFF00FFu) * 3u, odds9 = (odds5 & 0xFF00FFu) * 3u;
    uint bytes9 = ((evens9 >> 8u) & 0xFF00FFu) | (odds9 & 0xFF00FF00u), evens10 = (evens6 & 0xFF00FFu) * 3u;
    uint odds10 = (odds6 & 0xFF00FFu) * 3u, bytes10 = ((evens10 >> 8u) & 0xFF00FFu) | (odds10 & 0xFF00FF00u);
    uint evens11 = (evens7 & 0xFF00FFu) * 3u, odds11 = (odds7 & 0xFF00FFu) * 3u;
    uint bytes11 = ((evens11 >> 8u) & 0xFF00FFu) | (odds11 & 0xFF00FF00u), evens12 = (evens8 & 0xFF00FFu) * 3u;
    uint odds12 = (odds8 & 0xFF00FFu) * 3u, bytes12 = ((evens12 >> 8u) & 0xFF00FFu) | (odds12 & 0xFF00FF00u);
    uint evens13 = (evens9 & 0xFF00FFu) * 3u, odds13 = (odds9 & 0xFF00FFu) * 3u;
    uint bytes13 = ((evens13 >> 8u) & 0xFF00FFu) | (odds13 & 0xFF00FF00u), evens14 = (evens10 & 0xFF00FFu) * 3u;
    uint odds14 = (odds10 & 0xFF00FFu) * 3u, bytes14 = ((evens14 >> 8u) & 0xFF00FFu) | (odds14 & 0xFF00FF00u);
    uint evens15 = (evens11 & 0xFF00FFu) * 3u, odds15 = (odds11 & 0xFF00FFu) * 3u;
    uint bytes15 = ((evens15 >> 8u) & 0xFF00FFu) | (odds15 & 0xFF00FF00u), evens16 = (evens12 & 0xFF00FFu) * 3u;
    uint odds16 = (odds12 & 0xFF00FFu) * 3u, bytes16 = ((evens16 >> 8u) & 0xFF00FFu) | (odds16 & 0xFF00FF00u);
    uint evens17 = (evens13 & 0xFF00FFu) * 3u, odds17 = (odds13 & 0xFF00FFu) * 3u;
    uint bytes17 = ((evens17 >> 8u) & 0xFF00FFu) | (odds17 & 0xFF00FF00u), evens18 = (evens14 & 0xFF00FFu) * 3u;
    uint odds18 = (odds14 & 0xFF00FFu) * 3u, bytes18 = ((evens18 >> 8u) & 0xFF00FFu) | (odds18 & 0xFF00FF00u);
    uint evens19 = (evens15 & 0xFF00FFu) * 3u, odds19 = (odds15 & 0xFF00FFu) * 3u;
    uint bytes19 = ((evens19 >> 8u) & 0xFF00FFu) | (odds19 & 0xFF00FF00u), evens20 = (evens16 & 0xFF00FFu) * 3u;
    uint odds20 = (odds16 & 0xFF00FFu) * 3u, bytes20 = ((evens20 >> 8u) & 0xFF00FFu) | (odds20 & 0xFF00FF00u);
    uint evens21 = (evens17 & 0xFF00FFu) * 3u, odds21 = (odds17 & 0xFF00FFu) * 3u;
    uint bytes21 = ((evens21 >> 8u) & 0xFF00FFu) | (odds21 & 0xFF00FF00u), pick8 = upper ? four2.w : four2.y;
    uint pick9 = upper ? four2.z : four2.x, qs6 = odd ? pick8 : pick9, pick10 = upper ? four3.x : four2.z, qs7 = odd ? pick10 : pick8;
    uint qs_run4 = (qs6 >> shift0) | ((qs7 << 1u) << shift1), evens22 = (qs_run4 & 0xFF00FFu) * 3u;
    uint odds22 = ((qs_run4 >> 8u) & 0xFF00FFu) * 3u, bytes22 = ((evens22 >> 8u) & 0xFF00FFu) | (odds22 & 0xFF00FF00u);
    uint pick11 = upper ? four3.y : four2.w, qs8 = odd ? pick11 : pick10, qs_run5 = (qs7 >> shift0) | ((qs8 << 1u) << shift1);
    uint evens23 = (qs_run5 & 0xFF00FFu) * 3u, odds23 = ((qs_run5 >> 8u) & 0xFF00FFu) * 3u;
    uint bytes23 = ((evens23 >> 8u) & 0xFF00FFu) | (odds23 & 0xFF00FF00u), evens24 = (evens22 & 0xFF00FFu) * 3u;
    uint odds24 = (odds22 & 0xFF00FFu) * 3u, bytes24 = ((evens24 >> 8u) & 0xFF00FFu) | (odds24 & 0xFF00FF00u);
    uint evens25 = (evens23 & 0xFF00FFu) * 3u, odds25 = (odds23 & 0xFF00FFu) * 3u;
    uint bytes25 = ((evens25 >> 8u) & 0xFF00FFu) | (odds25 & 0xFF00FF00u), evens26 = (evens24 & 0xFF00FFu) * 3u;
    uint odds26 = (odds24 & 0xFF00FFu) * 3u, bytes26 = ((evens26 >> 8u) & 0xFF00FFu) | (odds26 & 0xFF00FF00u);
    uint evens27 = (evens25 & 0xFF00FFu) * 3u, odds27 = (odds25 & 0xFF00FFu) * 3u;
    uint bytes27 = ((evens27 >> 8u) & 0xFF00FFu) | (odds27 & 0xFF00FF00u), evens28 = (evens26 & 0xFF00FFu) * 3u;
    uint odds28 = (odds26 & 0xFF00FFu) * 3u, bytes28 = ((evens28 >> 8u) & 0xFF00FFu) | (odds28 & 0xFF00FF00u);
    uint evens29 = (evens27 & 0xFF00FFu) * 3u, odds29 = (odds27 & 0xFF00FFu) * 3u;
    uint bytes29 = ((evens29 >> 8u) & 0xFF00FFu) | (odds29 & 0xFF00FF00u), evens30 = (evens28 & 0xFF00FFu) * 3u;
    uint odds30 = (odds28 & 0xFF00FFu) * 3u, bytes30 = ((evens30 >> 8u) & 0xFF00FFu) | (odds30 & 0xFF00FF00u);
    uint evens31 = (evens29 & 0xFF00FFu) * 3u, odds31 = (odds29 & 0xFF00FFu) * 3u;
    uint bytes31 = ((evens31 >> 8u) & 0xFF00FFu) | (odds31 & 0xFF00FF00u);
    float dots0 = 0.0, dots1 = 0.0, dots2 = 0.0, dots3 = 0.0;
    [[unroll]] for (uint digit = 0; digit < DIGITS; ++digit) {
        const int part0 = dot4(int(bytes2), x[k][digit][0]) + dot4(int(bytes3), x[k][digit][1]) + dot4(int(bytes4), x[k][digit][2])
            + dot4(int(bytes5), x[k][digit][3]) + dot4(int(bytes6), x[k][digit][4]) + dot4(int(bytes7), x[k][digit][5])
            + dot4(int(bytes8), x[k][digit][6]) + dot4(int(bytes9), x[k][digit][7]) - x_digits[k][digit][0];
        const int part1 = dot4(int(bytes10), x[k][digit][8]) + dot4(int(bytes11), x[k][digit][9]) + dot4(int(bytes12), x[k][digit][10])
            + dot4(int(bytes13), x[k][digit][11]) + dot4(int(bytes14), x[k][digit][12]) + dot4(int(bytes15), x[k][digit][13])
            + dot4(int(bytes16), x[k][digit][14]) + dot4(int(bytes17), x[k][digit][15]) - x_digits[k][digit][1];
        const int part2 = dot4(int(bytes18), x[k][digit][16]) + dot4(int(bytes19), x[k][digit][17]) + dot4(int(bytes20), x[k][digit][18])
            + dot4(int(bytes21), x[k][digit][19]) + dot4(int(bytes22), x[k][digit][20]) + dot4(int(bytes23), x[k][digit][21])
            + dot4(int(bytes24), x[k][digit][22]) + dot4(int(bytes25), x[k][digit][23]) - x_digits[k][digit][2];
        const int part3 = dot4(int(bytes26), x[k][digit][24]) + dot4(int(bytes27), x[k][digit][25]) + dot4(int(bytes28), x[k][digit][26])
            + dot4(int(bytes29), x[k][digit][27]) + dot4(int(bytes30), x[k][digit][28]) + dot4(int(bytes31), x[k][digit][29])
            + dot4(int(bytes0), x[k][digit][30]) + dot4(int(bytes1), x[k][digit][31]) - x_digits[k][digit][3];
        dots0 = 256.0 * dots0 + float(DIGITS > 1u ? part0 + part1 + part2 + part3 : part0);
        dots1 = float(part1);
        dots2 = float(part2);
        dots3 = float(part3);
    }
    sum += d1 * (DIGITS > 1u ? x_step[k][0] * dots0
        : x_step[k][0] * dots0 + x_step[k][1] * dots1 + x_step[k][2] * dots2 + x_step[k][3] * dots3);
}

const uint X_WORDS = DIGITS * 36u + 4u, X_FOURS = (X_WORDS + 3u) / 4u, FIT = SHARED_FOURS / (X_FOURS * BATCH);
const uint SLICE = FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles
shared uvec4 shared_x[BATCH * X_FOURS * SLICE];

// Puts what is kept of right-hand side `m` and tile `t` of the slice there.
void share_x(uint m, uint t) {
    uint words[4u * X_FOURS];
    [[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit) {
        [[unroll]] for (uint i = 0u; i < 32u; ++i) words[digit * 36u + i] = uint(x[0][digit][i]);
        [[unroll]] for (uint i = 0u; i < 4u; ++i) words[digit * 36u + 32u + i] = uint(x_digits[0][digit][i]);
    }
    [[unroll]] for (uint i = 0u; i < 4u; ++i) words[DIGITS * 36u + i] = floatBitsToUint(x_step[0][i]);
    [[unroll]] for (uint i = 0u; i < X_FOURS; ++i)
        shared_x[(m * X_FOURS + i) * SLICE + t] = uvec4(words[4u * i], words[4u * i + 1u], words[4u * i + 2u], words[4u * i + 3u]);
}

// Takes it from there.
void take_x(uint m, uint t) {
    uint words[4u * X_FOURS];
    [[unroll]] for (uint i = 0u; i < X_FOURS; ++i) {
        const uvec4 four = shared_x[(m * X_FOURS + i) * SLICE + t];
        [[unroll]] for (uint l = 0u; l < 4u; ++l) words[4u * i + l] = four[l];
    }
    [[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit) {
        [[unroll]] for (uint i = 0u; i < 32u; ++i) x[0][digit][i] = int(words[digit * 36u + i]);
        [[unroll]] for (uint i = 0u; i < 4u; ++i) x_digits[0][digit][i] = int(words[digit * 36u + 32u + i]);
    }
    [[unroll]] for (uint i = 0u; i < 4u; ++i) x_step[0][i] = uintBitsToFloat(words[DIGITS * 36u + i]);
}

// Sums over `width` lanes, which begin at a multiple of that, of all sums at once: number i is in the i-th of them.
float sum_of_lanes(float v[SUMS], uint width) {
    [[unroll]] for (uint left = SUMS / 2u, bit = 1u; left > 0u; left /= 2u, bit *= 2u) {
        const bool odd = (gl_SubgroupInvocationID & bit) != 0u;
        [[unroll]] for (uint i = 0u; i < left; ++i) {
            const float even_sum = v[2u * i], odd_sum = v[2u * i + 1u];
            v[i] = (odd ? odd_sum : even_sum) + subgroupShuffleXor(odd ? even_sum : odd_sum, bit);
        }
    }
    for (uint bit = SUMS; bit < width; bit *= 2u) v[0] += subgroupShuffleXor(v[0], bit);
    return v[0];
}

// Puts `count` tiles of x, from `begin` on, where all of the workgroup finds them, of each right-hand side.
void share_slice(uint begin, uint count) {
    barrier();
    for (uint i = gl_LocalInvocationID.x; i < count * BATCH; i += gl_WorkGroupSize.x) {
        load_x(i / count, begin + i % count, 0u);
        share_x(i / count, i % count);
    }
    barrier();
}

// Several right-hand sides: the workgroup shares a slice of x, and its subgroups walk down the rows, some lanes for each ROWS
// of them. Sums of a later slice are added to those of earlier ones.
void main() {
    find_matrix();
    const uint tiles = row_tiles / 2u, end = rows, width = 4u * ROWS > gl_SubgroupSize ? gl_SubgroupSize : gl_SubgroupSize / 4u;
    const uint lane = gl_SubgroupInvocationID % width, tall = gl_SubgroupSize / width * ROWS;
    for (uint begin = 0u; begin < tiles; begin += SLICE) {
        const uint count = min(SLICE, tiles - begin);
        share_slice(begin, count);
        const uint step = group_count() * gl_NumSubgroups * tall;
        for (uint first = (group_number() * gl_NumSubgroups + gl_SubgroupID) * tall; first < rows; first += step) {
            const uint row = first + gl_SubgroupInvocationID / width * ROWS;
            float sum[BATCH][ROWS];
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[m][r] = 0.0;
            for (uint t = lane; t < count; t += width) {
                const uint j = begin + t;
                if (PADDED == 0u && row + ROWS >= end && j + 4u >= tiles) {  // the last block, beyond which no load goes
                    [[dont_unroll]] for (uint i = 0u; i < ROWS * BATCH; ++i) {
                        uvec4 last_fours[4]; uint last_words[2];
                        float part = 0.0;
                        fetch_last(min(row + i % ROWS, end - 1u), j, last_fours, last_words);
                        take_x(i / ROWS, t);
                        accumulate(min(row + i % ROWS, end - 1u), j, 0u, last_fours, last_words, part);
                        [[unroll]] for (uint s = 0u; s < ROWS * BATCH; ++s) sum[s / ROWS][s % ROWS] += s == i ? part : 0.0;
                    }
                    continue;
                }
                uvec4 fours[ROWS][4];
                uint words[ROWS][2];
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, end - 1u), j, fours[r], words[r]);
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                    take_x(m, t);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(row + r, end - 1u), j, 0u, fours[r], words[r], sum[m][r]);
                }
            }
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                const float all = sum_of_lanes(sum[m], width);
                if (lane < ROWS && row + lane < rows && m < batch) finish(m, row + lane, all, begin == 0u, begin + SLICE >= tiles);
            }
        }
    }
}
