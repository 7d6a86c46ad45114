// iq4_nl_gemv_id_int8_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], x in f16.
// Generated from the specification below by `qkgen emit --format iq4_nl`; do not edit.
// 18 bytes for 32 elements, 4.5 bits each.
// For each weight 0.562 bytes read, 7 operations: 0.312 loads, 4.5 bits, 0.875 integer, 0.188 float, 0.125 conversions, 1 lookups.
//
//     format iq4_nl "4-bit indices into a table of unequal steps, one scale for 32"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 32 {
//         d:  f16
//         qs: u8[16]
//     }
//
//     table N: i8[16] = {
//         -127, -104, -83, -65, -49, -35, -22, -10,
//            1,   13,  25,  38,  53,  69,  89, 113,
//     }
//
//     code q = qs { 4 @ 0 (16:8, 2:4) }    # low nibbles, then high nibbles
//
//     value = d * N[q]
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
layout(binding = 5, std430) readonly buffer NTable { int N[]; };
layout(binding = 1, std430) readonly buffer Input { uvec2 x_in[]; };
layout(binding = 2, std430) readonly buffer Ids { uint ids[]; };
layout(binding = 3, std430) writeonly buffer Output { float y[]; };
layout(binding = 4, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of 16 elements in a row
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

const uint BATCH = 1u;
const uint TILES = 4u;

// What a thread keeps of x: tiles of one token as integers of signed bytes, the highest first, four elements in a word;
// the step that an integer stands for; and sums over runs that share a scale, of each digit and of the integers.
int x[TILES][BATCH][DIGITS][4];
int x_digits[TILES][BATCH][DIGITS][1];
float x_step[TILES][BATCH];
float x_sum[TILES][BATCH][1];

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

int bytes_of(ivec4 v) {
    return (v.x & 255) | ((v.y & 255) << 8) | ((v.z & 255) << 16) | (v.w << 24);
}

int sum_of(ivec4 v) {
    return v.x + v.y + v.z + v.w;
}

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 2u;
    const uint place = j / 2u * 8u + tile * 2u;
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_tiles * 4u + place;
        const vec4 x0 = vec4(unpackHalf2x16(x_in[from].x), unpackHalf2x16(x_in[from].y));
        const vec4 x1 = vec4(unpackHalf2x16(x_in[from + 1u].x), unpackHalf2x16(x_in[from + 1u].y));
        const vec4 x2 = vec4(unpackHalf2x16(x_in[from + 4u].x), unpackHalf2x16(x_in[from + 4u].y));
        const vec4 x3 = vec4(unpackHalf2x16(x_in[from + 5u].x), unpackHalf2x16(x_in[from + 5u].y));
        vec4 most = abs(x0);
        most = max(most, abs(x1));
        most = max(most, abs(x2));
        most = max(most, abs(x3));
        const float scale = scale_of(most, x0 + x1 + x2 + x3);
        x_step[k][m] = 1.0 / scale;
        ivec4 i0 = ivec4(roundEven(x0 * scale));
        ivec4 i1 = ivec4(roundEven(x1 * scale));
        ivec4 i2 = ivec4(roundEven(x2 * scale));
        ivec4 i3 = ivec4(roundEven(x3 * scale));
        [[unroll]] for (uint digit = DIGITS; digit-- > 0;) {
            const ivec4 low0 = bitfieldExtract(i0, 0, 8);
            const ivec4 low1 = bitfieldExtract(i1, 0, 8);
            const ivec4 low2 = bitfieldExtract(i2, 0, 8);
            const ivec4 low3 = bitfieldExtract(i3, 0, 8);
            x[k][m][digit][0] = bytes_of(low0);
            x[k][m][digit][1] = bytes_of(low1);
            x[k][m][digit][2] = bytes_of(low2);
            x[k][m][digit][3] = bytes_of(low3);
            i0 = (i0 - low0) >> 8;
            i1 = (i1 - low1) >> 8;
            i2 = (i2 - low2) >> 8;
            i3 = (i3 - low3) >> 8;
        }
    }
}

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
void accumulate(uint n, uint j, uint k, inout float sum[BATCH]) {
    const uint block = n * (row_tiles / 2u) + j / 2u;
    const uint tile = j % 2u;
    uint base = block * 9u;
    float d = f16_to_f32(uint(blocks[base]));
    uint qs0 = blocks_u32(base + tile * 4u + 1u);
    uvec4 q0 = (uvec4(qs0) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    uint bytes0 = (uint(N[q0.x]) & 0xFFu) | ((uint(N[q0.y]) & 0xFFu) << 8u) | ((uint(N[q0.z]) & 0xFFu) << 16u) | (uint(N[q0.w]) << 24u);
    uint qs1 = blocks_u32(base + tile * 4u + 3u);
    uvec4 q1 = (uvec4(qs1) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: 4 bits
    uint bytes1 = (uint(N[q1.x]) & 0xFFu) | ((uint(N[q1.y]) & 0xFFu) << 8u) | ((uint(N[q1.z]) & 0xFFu) << 16u) | (uint(N[q1.w]) << 24u);
    uvec4 q2 = (uvec4(qs0) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: 4 bits
    uint bytes2 = (uint(N[q2.x]) & 0xFFu) | ((uint(N[q2.y]) & 0xFFu) << 8u) | ((uint(N[q2.z]) & 0xFFu) << 16u) | (uint(N[q2.w]) << 24u);
    uvec4 q3 = (uvec4(qs1) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: 4 bits
    uint bytes3 = (uint(N[q3.x]) & 0xFFu) | ((uint(N[q3.y]) & 0xFFu) << 8u) | ((uint(N[q3.z]) & 0xFFu) << 16u) | (uint(N[q3.w]) << 24u);
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        float dots0 = 0.0;
        [[unroll]] for (uint digit = 0; digit < DIGITS; ++digit) {
            dots0 = 256.0 * dots0 + float(dot4(int(bytes0), x[k][m][digit][0]) + dot4(int(bytes1), x[k][m][digit][1]) + dot4(int(bytes2), x[k][m][digit][2]) + dot4(int(bytes3), x[k][m][digit][3]));
        }
        sum[m] += x_step[k][m] * (d * dots0);
    }
}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS];

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
        float sum[ROWS][BATCH];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r][0] = 0.0;
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
            const float all = subgroupAdd(sum[r][0]);
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
