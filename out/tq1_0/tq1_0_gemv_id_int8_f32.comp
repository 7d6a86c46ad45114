// tq1_0_gemv_id_int8_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], x in f32.
// Generated from the specification below by `qkgen emit --format tq1_0`; do not edit.
// 54 bytes for 256 elements, 1.688 bits each.
// For each weight 0.211 bytes read, 17.8 operations: 0.75 loads, 6.5 bits, 9.25 integer, 0.75 float, 0.5 conversions.
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
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time
layout(constant_id = 4) const uint DIGITS = 1;  // bytes of each x: class int8 has 1, split 2, int24 3

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 1, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 2, std430) readonly buffer Ids { uint ids[]; };
layout(binding = 3, std430) writeonly buffer Output { float y[]; };
layout(binding = 4, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 4 elements in a row
    uint batch;         // right-hand sides: tokens
    uint slots;         // experts of each token
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

const uint TILES = 16u;

// What a thread keeps of x: tiles as integers of signed bytes, the highest first, four elements in a word; the steps that the
// integers stand for; sums over runs that share a scale, of each digit, and of x itself.
int x[TILES][DIGITS][1];
int x_digits[TILES][DIGITS][1];
float x_step[TILES][1];
float x_sum[TILES][1];

// Integers whose digits are bytes with a sign: the largest, less what rounding may add.
const float LARGEST = DIGITS == 1u ? 127.0 : DIGITS == 2u ? 32639.0 : 8355709.0;

// Integers for each unit of x, of which `most` are the largest magnitudes; what is not finite makes the step NaN.
float scale_of(vec4 most, vec4 all) {
    const float largest = max(max(most.x, most.y), max(most.z, most.w));
    if (any(isnan(all)) || isinf(largest)) return uintBitsToFloat(0x7FC00000u);
    return min(LARGEST / max(largest, 1e-37), 0.5e38);
}

// OpSDot and OpSUDot of four bytes in a word each; not every GLSL compiler has a name for them.
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int signed_dot(int a, int b, spirv_literal int packed);
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4452)
int mixed_dot(int a, uint b, spirv_literal int packed);

int dot4(int codes, int x) {
    return signed_dot(codes, x, 0);
}

int dot4(uint codes, int x) {
    return mixed_dot(x, codes, 0);
}

// The nearest integers to numbers up to LARGEST, plus BIAS, which makes their bytes digits: those below the highest with the sign bit
// turned over. Where a float has bits enough, it is added as one whose last bit stands for 1, and that is the rounding, too.
const int BIAS = DIGITS == 3u ? 0x8080 : DIGITS == 2u ? 0x4B400080 : 0x4B400000;

ivec4 integers(vec4 v) {
    return DIGITS == 3u ? ivec4(roundEven(v)) + BIAS : floatBitsToInt(v + intBitsToFloat(BIAS));
}

int sum_of(ivec4 v) {
    return v.x + v.y + v.z + v.w;
}

// One digit of four integers. Two share a word, so that most is done once for two digits.
int bytes_of(ivec4 v, uint digit) {
    const uint place = DIGITS - 1u - digit;
    const ivec4 halves = v >> (place / 2u * 16u);
    const ivec2 pairs = (halves.xy & 0xFFFF) | (halves.zw << 16);
    const ivec2 bytes = (pairs >> (place % 2u * 8u)) & 0x00FF00FF;
    return (bytes.x | (bytes.y << 8)) ^ (digit == 0u ? 0 : 0x80808080);
}

int sum_of_bytes(int bytes) {
    return dot4(bytes, 0x01010101);
}

// Loads what tile `j` of a row meets of right-hand side `vector`.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 64u;
    const uint place = j / 64u * 64u + tile;
    const uint from = min(vector, batch - 1u) * row_tiles * 1u + place;
    const vec4 x0 = x_in[from];
    vec4 most = abs(x0);
    const float scale = scale_of(most, x0);
    x_step[k][0] = 1.0 / scale;
    const ivec4 i0 = integers(x0 * scale);
    [[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit) {
        x[k][digit][0] = bytes_of(i0, digit);
        x_digits[k][digit][0] = sum_of_bytes(x[k][digit][0]);
    }
}

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

// Adds the products of tile `j` of row `n` with what is kept of x.
void accumulate(uint n, uint j, uint k, inout float sum) {
    const uint block = n * (row_tiles / 64u) + j / 64u;
    const uint tile = j % 64u;
    uint base = block * 27u;
    float d = f16_to_f32(uint(blocks[base + 26u]));
    uint word = tile < 40u ? tile % 8u * 2u : tile < 60u ? (tile - 40u) % 4u * 2u + 16u : 24u;  // of t, in qs, qs or qh
    uint qs_qh = blocks_u32(base + word);
    uvec4 t_digits = (uvec4(qs_qh) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // 8 bits each, with up to 5 digits of base 3
    uint digit_ = tile < 40u ? tile / 8u : tile < 60u ? (tile - 40u) / 4u : tile - 60u;  // which digit of base 3, from the top
    uint power = ((digit_ & 1u) != 0u ? 3u : 1u) * ((digit_ & 2u) != 0u ? 9u : 1u) * (digit_ >= 4u ? 81u : 1u);  // 3^n
    uvec4 t_ = (((t_digits * power) & 0xFFu) * 3u) >> 8u;  // a digit of base 3
    uint bytes = t_.x | (t_.y << 8u) | (t_.z << 16u) | (t_.w << 24u);
    float dots0 = 0.0;
    [[unroll]] for (uint digit = 0; digit < DIGITS; ++digit) {
        dots0 = 256.0 * dots0 + float(dot4(int(bytes), x[k][digit][0]) - x_digits[k][digit][0]);
    }
    sum += d * (x_step[k][0] * dots0);
}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS * 2u];

void main() {
    // A subgroup holds a slice of x and walks down the rows. While there are slices for more, subgroups share a row.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    uint split = 1u;
    while (split < slices && gl_NumSubgroups % (2u * split) == 0u) split *= 2u;
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    const uint parts = (rows + teams * ROWS - 1u) / (teams * ROWS);
    uint held = ~0u, held_token = ~0u;
    for (uint work = gl_WorkGroupID.x; work < batch * slots * parts; work += gl_NumWorkGroups.x) {
        const uint pair = work / parts, token = pair / slots, first = work % parts * teams * ROWS, expert = ids[pair];
        const bool found = expert < experts;
        if (found ? expert < expert_first || expert >= expert_end : expert_first != 0u) continue;  // another launch's
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
        if (!found && first == 0u && gl_LocalInvocationID.x == 0u) atomicAdd(out_of_range, 1u);  // zeros
        for (uint c = gl_SubgroupID % split; found && c < slices; c += split) {
            [[unroll]] for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
                if (j >= row_tiles) continue;
                if (c != held || token != held_token) load_x(token, j, k);
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, rows - 1u);
                    accumulate((expert - expert_first) * rows + row, j, k, sum[r]);
                }
            }
            held = c;
            held_token = token;
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
            if (first + i < rows) y[pair * rows + first + i] = total;
        }
        barrier();
    }
}
