// q5_0_gemv_int8_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
// Generated from the specification below by `qkgen emit --format q5_0`; do not edit.
// 22 bytes for 32 elements, 5.5 bits each.
// For each weight 0.688 bytes read, 4.06 operations: 0.438 loads, 1.88 bits, 1.44 integer, 0.188 float, 0.125 conversions.
//
//     format q5_0 "5-bit codes around 16, one scale for 32"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 32 {
//         d:  f16
//         qh: u8[4]
//         qs: u8[16]
//     }
//
//     code q = qs { 4 @ 0 (16:8, 2:4) }    # low nibbles, then high nibbles
//              qh { 1 @ 0 (32:1) }         # the fifth bits
//
//     value = (q - 16) * d
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides that are kept, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row, where there are few rows
layout(constant_id = 4) const uint DIGITS = 1;  // bytes of each x: class int8 has 1, split 2, int24 3

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 1, std430) readonly buffer Input { uvec2 x_in[]; };
layout(binding = 2, std430) writeonly buffer Output { float y[]; };

layout(push_constant) uniform Push {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of 16 elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

const uint TILES = BATCH == 1u ? 4u : 1u;

// What a thread keeps of x: tiles of each right-hand side as integers of signed bytes, the highest first, four elements in a word;
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
            x_digits[k][m][digit][0] = sum_of(low0 + low1 + low2 + low3);
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
    uint base = block * 11u;
    float d = f16_to_f32(uint(blocks[base]));
    uint qs0 = blocks_u32(base + tile * 4u + 3u);
    uint qh0 = uint(blocks[base + 1u]);
    uint bytes0 = (qs0 & 0xF0F0F0Fu) | (((((qh0 >> (tile * 8u)) & 15u) * 0x204081u) & 0x1010101u) << 4u);
    uint qs1 = blocks_u32(base + tile * 4u + 5u);
    uint bytes1 = (qs1 & 0xF0F0F0Fu) | ((((((qh0 >> (tile * 8u)) >> 4u) & 15u) * 0x204081u) & 0x1010101u) << 4u);
    uint qh1 = uint(blocks[base + 2u]);
    uint bytes2 = ((qs0 >> 4u) & 0xF0F0F0Fu) | (((((qh1 >> (tile * 8u)) & 15u) * 0x204081u) & 0x1010101u) << 4u);
    uint bytes3 = ((qs1 >> 4u) & 0xF0F0F0Fu) | ((((((qh1 >> (tile * 8u)) >> 4u) & 15u) * 0x204081u) & 0x1010101u) << 4u);
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        float dots0 = 0.0;
        [[unroll]] for (uint digit = 0; digit < DIGITS; ++digit) {
            dots0 = 256.0 * dots0 + float(dot4(int(bytes0), x[k][m][digit][0]) + dot4(int(bytes1), x[k][m][digit][1]) + dot4(int(bytes2), x[k][m][digit][2]) + dot4(int(bytes3), x[k][m][digit][3]) - 16 * x_digits[k][m][digit][0]);
        }
        sum[m] += x_step[k][m] * (d * dots0);
    }
}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS * BATCH];

void main() {
    // A subgroup holds a slice of x and walks down the rows.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    const uint split = SPLIT == 1u ? 1u : min(SPLIT, gl_NumSubgroups);
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    uint held = ~0u;
    for (uint first = gl_WorkGroupID.x * teams * ROWS; first < rows; first += gl_NumWorkGroups.x * teams * ROWS) {
        float sum[ROWS][BATCH];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[r][m] = 0.0;
        }
        for (uint c = gl_SubgroupID % split; c < slices; c += split) {
            [[unroll]] for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
                if (j >= row_tiles) continue;
                if (c != held) load_x(0u, j, k);
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(first + team * ROWS + r, rows - 1u), j, k, sum[r]);
            }
            held = c;
        }
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                const float all = subgroupAdd(sum[r][m]);
                const uint row = first + team * ROWS + r;
                if (!subgroupElect()) continue;
                if (split > 1u) partial[(gl_SubgroupID * ROWS + r) * BATCH + m] = all;
                else if (row < rows && m < batch) y[m * y_rows + y_first + row] = all;
            }
        }
        if (split == 1u) continue;
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < teams * ROWS * BATCH; i += gl_WorkGroupSize.x) {
            const uint row = first + i / BATCH, m = i % BATCH, at = i / (ROWS * BATCH) * (split - 1u) * ROWS * BATCH + i;
            float total = 0.0;
            for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS * BATCH];
            if (row < rows && m < batch) y[m * y_rows + y_first + row] = total;
        }
        barrier();
    }
}
