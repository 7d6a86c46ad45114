// iq1_m_gemv_int8_rows: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format iq1_m`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 56 bytes for 256 elements, 1.75 bits each.
// For each weight 0.219 bytes read, 5.94 operations: 0.312 loads, 2.25 bits, 2.25 integer, 0.812 float, 0.188 conversions, 0.125 lookups.
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
#extension GL_EXT_spirv_intrinsics : require
layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row
layout(constant_id = 21) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
layout(constant_id = 31) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = 28) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
layout(constant_id = 30) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say
layout(constant_id = 4) const uint DIGITS = 1;  // bytes of each x: class int8 has 1, split 2, int24 3

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

const uint TILES = 4u;

// Kept of x: of each digit, the highest first, signed bytes of four elements in a word; then steps of the integers, and sums of runs.
uvec4 x[TILES][(DIGITS * 5u + 6u) / 4u];
uint kept_word(uint k, uint i) { return x[k][i / 4u][i % 4u]; }
void keep_word(uint k, uint i, uint word) { x[k][i / 4u][i % 4u] = word; }
float x_step(uint k, uint i) { return uintBitsToFloat(kept_word(k, DIGITS * 4u + i)); }  // that integers stand for
float x_sum(uint k, uint i) { return uintBitsToFloat(kept_word(k, DIGITS * 4u + 1u + i)); }  // over runs that share a scale
int x_digits(uint k, uint digit, uint i) { return int(kept_word(k, DIGITS * 4u + 3u + digit + i)); }  // of them, one digit
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

void load_x(uint vector, uint j, uint k) {  // what tile `j` of a row meets of right-hand side `vector`
    const uint tile = j % 16u, place = j / 16u * 64u + tile * 4u, from = x_from(min(vector, batch - 1u), row_tiles * 4u) + place;
    vec4 run[4];
    [[unroll]] for (uint r = 0u; r < 4u; ++r) run[r] = x_run(from + r);
    vec4 most = vec4(0.0), all = vec4(0.0);
    [[unroll]] for (uint r = 0u; r < 4u; ++r) most = max(most, abs(run[r])), all += run[r];
    ivec4 whole[4];
    const float scale = scale_of(most, all), step = 1.0 / scale;
    [[unroll]] for (uint r = 0u; r < 4u; ++r) whole[r] = integers(run[r] * scale);
    keep_word(k, DIGITS * 4u + 0u, floatBitsToUint(step));
    [[unroll]] for (uint i = 0u; i < 2u; ++i) {
        const ivec4 sum = whole[2u * i] + whole[2u * i + 1u];
        keep_word(k, DIGITS * 4u + 1u + i, floatBitsToUint(x_step(k, i / 2u) * float(sum_of(sum) - 8 * BIAS)));
    }
    [[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit) {
        x[k][digit].x = bytes_of(ivec4(whole[0].x, whole[0].z, whole[1].x, whole[1].z), digit);
        x[k][digit].y = bytes_of(ivec4(whole[0].y, whole[0].w, whole[1].y, whole[1].w), digit);
        x[k][digit].z = bytes_of(ivec4(whole[2].x, whole[2].z, whole[3].x, whole[3].z), digit);
        x[k][digit].w = bytes_of(ivec4(whole[2].y, whole[2].w, whole[3].y, whole[3].w), digit);
        keep_word(k, DIGITS * 4u + digit + 3u, uint(sum_of_bytes(x[k][digit].x) + sum_of_bytes(x[k][digit].y) + sum_of_bytes(x[k][digit].z)
            + sum_of_bytes(x[k][digit].w)));
    }
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
    uint g_lo0 = (qs >> shift0) & 0xFFu, g_lo1 = (qs >> (shift0 + 8u)) & 0xFFu;  // qs: bits 0-7 of g
    uint g_hi0 = (qh >> shift1) & 7u, g_hi1 = (qh >> (shift1 + 4u)) & 7u;  // qh: bits 8-10 of g
    uint g0 = g_lo0 | (g_hi0 << 8u), G_row0 = G[g0], bytes0 = G_row0 & 0xF0F0F0Fu, bytes1 = (G_row0 >> 4u) & 0xF0F0F0Fu;
    uint g1 = g_lo1 | (g_hi1 << 8u), G_row1 = G[g1], bytes2 = G_row1 & 0xF0F0F0Fu, bytes3 = (G_row1 >> 4u) & 0xF0F0F0Fu;
    uint sg0 = (qh >> (shift1 + 3u)) & 1u, sg1 = (qh >> (shift1 + 7u)) & 1u;  // qh: 1 bit
    float dots0 = 0.0;
    [[unroll]] for (uint digit = 0; digit < DIGITS; ++digit) {
        dots0 = 256.0 * dots0 + float((2 * int(sc) + 1)
            * (dot16(0, uvec4(bytes0, bytes1, bytes2, bytes3), x[k][digit]) - x_digits(k, digit, 0u)));
    }
    sum += d * (x_step(k, 0u) * dots0) + d * (int(sg0) != 0 ? -0.125 : 0.125) * float(2 * int(sc) + 1) * x_sum(k, 0u)
        + d * (int(sg1) != 0 ? -0.125 : 0.125) * float(2 * int(sc) + 1) * x_sum(k, 1u);
}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS];

void main() {
    find_matrix();
    // A subgroup holds a slice of x and walks down the rows.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    const uint split = SPLIT == 1u ? 1u : min(SPLIT, gl_NumSubgroups);
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    for (uint vector = 0u; vector < batch; ++vector) {
        uint held = ~0u;
        for (uint first = group_number() * teams * ROWS; first < rows; first += group_count() * teams * ROWS) {
            float sum[ROWS];
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
            for (uint c = gl_SubgroupID % split; c < slices; c += split) {
                [[unroll]] for (uint k = 0; k < TILES; ++k) {
                    const uint j = (c * TILES + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
                    if (j >= row_tiles) continue;
                    if (c != held) load_x(vector, j, k);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(first + team * ROWS + r, rows - 1u), j, k, sum[r]);
                }
                held = c;
            }
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
                const float all = subgroupAdd(sum[r]);
                const uint row = first + team * ROWS + r;
                if (!subgroupElect()) continue;
                if (split > 1u) partial[gl_SubgroupID * ROWS + r] = all;
                else if (row < rows) finish(vector, row, all);
            }
            if (split == 1u) continue;
            barrier();
            for (uint i = gl_LocalInvocationID.x; i < teams * ROWS; i += gl_WorkGroupSize.x) {
                const uint at = i / ROWS * (split - 1u) * ROWS + i;
                float total = 0.0;
                for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS];
                if (first + i < rows) finish(vector, first + i, total);
            }
            barrier();
        }
    }
}
