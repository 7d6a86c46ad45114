// awq_b4_g128_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
// Generated from the specification below by `qkgen emit --format awq_b4_g128`; do not edit.
// 532 bytes for 1024 elements, 4.156 bits each.
// For each weight 0.52 bytes read, 9.44 operations: 1.12 loads, 3.62 bits, 4.12 integer, 0.375 float, 0.188 conversions.
//
//     format awq_b4_g{group} "AWQ: codes and zeros of eight outputs in a word, out of order"
//     from "AutoAWQ: WQLinear_GEMM"
//     for group in 32 64 128
//
//     block 8 x group {
//         buffer qweight[cols][rows] { w: u32[1][group] }
//         buffer qzeros[cols][rows]  { zs: u32 }
//         buffer scales[cols][rows]  { d: f16[8][1] }
//     }
//
//     # Output r of eight is nibble (0, 4, 1, 5, 2, 6, 3, 7)[r].
//     code q                = w  { 4 @ 0 (group:32, 2:16, 4:4) }
//     code z per group      = zs { 4 @ 0 (2:16, 4:4) }
//     code s: f16 per group = d  { 16 @ 0 (8:16) }
//
//     value = (q - z) * s
//
// Here group = 128.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides at once, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row
layout(constant_id = 6) const uint SHARED_FOURS = 512;  // 16 bytes each: memory for x, of several right-hand sides
layout(constant_id = 4) const uint DIGITS = 1;  // bytes of each x: class int8 has 1, split 2, int24 3

layout(binding = 0, std430) readonly buffer QweightBuffer { uint qweight[]; };
layout(binding = 1, std430) readonly buffer QzerosBuffer { uint qzeros[]; };
layout(binding = 2, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 3, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 4, std430) buffer Output { float y[]; };

layout(push_constant) uniform Push {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of 16 elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
    uint cols;       // of the matrix that the blocks are patches of
    uint grid_rows;  // blocks
    uint grid_cols;
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

const uint TILES = 4u;

// What a thread keeps of x: tiles as integers of signed bytes, the highest first, four elements in a word; the steps that the
// integers stand for; sums over runs that share a scale, of each digit, and of x itself.
int x[TILES][DIGITS][4];
int x_digits[TILES][DIGITS][1];
float x_step[TILES][1];
float x_sum[TILES][1];

// Integers whose digits are bytes with a sign: the largest, less what rounding may add.
const float LARGEST = DIGITS == 1u ? 127.0 : DIGITS == 2u ? 32639.0 : 8355708.0;

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
    const uint place = j * 4u;
    const uint from = min(vector, batch - 1u) * row_tiles * 4u + place;
    const vec4 x0 = x_in[from];
    const vec4 x1 = x_in[from + 1u];
    const vec4 x2 = x_in[from + 2u];
    const vec4 x3 = x_in[from + 3u];
    vec4 most = abs(x0);
    most = max(most, abs(x1));
    most = max(most, abs(x2));
    most = max(most, abs(x3));
    const float scale = scale_of(most, x0 + x1 + x2 + x3);
    x_step[k][0] = 1.0 / scale;
    const ivec4 i0 = integers(x0 * scale);
    const ivec4 i1 = integers(x1 * scale);
    const ivec4 i2 = integers(x2 * scale);
    const ivec4 i3 = integers(x3 * scale);
    x_sum[k][0] = x_step[k][0] * float(sum_of(i0 + i1 + i2 + i3) - 16 * BIAS);
    [[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit) {
        x[k][digit][0] = bytes_of(i0, digit);
        x[k][digit][1] = bytes_of(i1, digit);
        x[k][digit][2] = bytes_of(i2, digit);
        x[k][digit][3] = bytes_of(i3, digit);
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x.
void accumulate(uint n, uint j, uint k, inout float sum) {
    const uint row = n, tile = j;
    const uint block_row = row / 8u;
    const uint r = row % 8u;
    const uint block_col = tile / 8u;
    const uint t = tile % 8u;
    uint d = uint(scales[block_col * rows + row]);
    float s = f16_to_f32(d);  // d: 16 bits
    uint w0 = qweight[(block_col * 128u + t * 16u) * grid_rows + block_row];
    uint w1 = qweight[(block_col * 128u + t * 16u + 1u) * grid_rows + block_row];
    uint w2 = qweight[(block_col * 128u + t * 16u + 2u) * grid_rows + block_row];
    uint w3 = qweight[(block_col * 128u + t * 16u + 3u) * grid_rows + block_row];
    uvec4 q0 = uvec4((w0 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w1 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w2 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w3 >> (r % 2u * 16u + r / 2u * 4u)) & 15u);  // w: 4 bits
    uint bytes0 = q0.x | (q0.y << 8u) | (q0.z << 16u) | (q0.w << 24u);
    uint w4 = qweight[(block_col * 128u + t * 16u + 4u) * grid_rows + block_row];
    uint w5 = qweight[(block_col * 128u + t * 16u + 5u) * grid_rows + block_row];
    uint w6 = qweight[(block_col * 128u + t * 16u + 6u) * grid_rows + block_row];
    uint w7 = qweight[(block_col * 128u + t * 16u + 7u) * grid_rows + block_row];
    uvec4 q1 = uvec4((w4 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w5 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w6 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w7 >> (r % 2u * 16u + r / 2u * 4u)) & 15u);  // w: 4 bits
    uint bytes1 = q1.x | (q1.y << 8u) | (q1.z << 16u) | (q1.w << 24u);
    uint w8 = qweight[(block_col * 128u + t * 16u + 8u) * grid_rows + block_row];
    uint w9 = qweight[(block_col * 128u + t * 16u + 9u) * grid_rows + block_row];
    uint w10 = qweight[(block_col * 128u + t * 16u + 10u) * grid_rows + block_row];
    uint w11 = qweight[(block_col * 128u + t * 16u + 11u) * grid_rows + block_row];
    uvec4 q2 = uvec4((w8 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w9 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w10 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w11 >> (r % 2u * 16u + r / 2u * 4u)) & 15u);  // w: 4 bits
    uint bytes2 = q2.x | (q2.y << 8u) | (q2.z << 16u) | (q2.w << 24u);
    uint w12 = qweight[(block_col * 128u + t * 16u + 12u) * grid_rows + block_row];
    uint w13 = qweight[(block_col * 128u + t * 16u + 13u) * grid_rows + block_row];
    uint w14 = qweight[(block_col * 128u + t * 16u + 14u) * grid_rows + block_row];
    uint w15 = qweight[(block_col * 128u + t * 16u + 15u) * grid_rows + block_row];
    uvec4 q3 = uvec4((w12 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w13 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w14 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w15 >> (r % 2u * 16u + r / 2u * 4u)) & 15u);  // w: 4 bits
    uint bytes3 = q3.x | (q3.y << 8u) | (q3.z << 16u) | (q3.w << 24u);
    uint zs = qzeros[block_col * grid_rows + block_row];
    uint z = (zs >> (r % 2u * 16u + r / 2u * 4u)) & 15u;
    float dots0 = 0.0;
    [[unroll]] for (uint digit = 0; digit < DIGITS; ++digit) {
        dots0 = 256.0 * dots0 + float(dot4(int(bytes0), x[k][digit][0]) + dot4(int(bytes1), x[k][digit][1]) + dot4(int(bytes2), x[k][digit][2]) + dot4(int(bytes3), x[k][digit][3]));
    }
    sum += s * (x_step[k][0] * dots0) - s * float(z) * x_sum[k][0];
}

const uint X_WORDS = DIGITS * 4u + 2u, X_FOURS = (X_WORDS + 3u) / 4u, FIT = SHARED_FOURS / (X_FOURS * BATCH);
const uint SLICE = FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles; 0: there is no room for one
shared uvec4 shared_x[BATCH == 1u || SLICE == 0u ? 1u : BATCH * X_FOURS * SLICE];

// Puts what is kept of right-hand side `m` and tile `t` of the slice there.
void share_x(uint m, uint t) {
    uint words[4u * X_FOURS];
    [[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit) {
        [[unroll]] for (uint i = 0u; i < 4u; ++i) words[digit * 4u + i] = uint(x[0][digit][i]);
    }
    [[unroll]] for (uint i = 0u; i < 1u; ++i) words[DIGITS * 4u + i] = floatBitsToUint(x_step[0][i]);
    [[unroll]] for (uint i = 0u; i < 1u; ++i) words[DIGITS * 4u + 1u + i] = floatBitsToUint(x_sum[0][i]);
    [[unroll]] for (uint i = 0u; i < X_FOURS; ++i) shared_x[(m * X_FOURS + i) * SLICE + t] = uvec4(words[4u * i], words[4u * i + 1u], words[4u * i + 2u], words[4u * i + 3u]);
}

// Takes it from there.
void take_x(uint m, uint t) {
    uint words[4u * X_FOURS];
    [[unroll]] for (uint i = 0u; i < X_FOURS; ++i) {
        const uvec4 four = shared_x[(m * X_FOURS + i) * SLICE + t];
        [[unroll]] for (uint l = 0u; l < 4u; ++l) words[4u * i + l] = four[l];
    }
    [[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit) {
        [[unroll]] for (uint i = 0u; i < 4u; ++i) x[0][digit][i] = int(words[digit * 4u + i]);
    }
    [[unroll]] for (uint i = 0u; i < 1u; ++i) x_step[0][i] = uintBitsToFloat(words[DIGITS * 4u + i]);
    [[unroll]] for (uint i = 0u; i < 1u; ++i) x_sum[0][i] = uintBitsToFloat(words[DIGITS * 4u + 1u + i]);
}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS * 2u];

// Sums over `width` lanes, which begin at a multiple of that, of all rows at once: those of row r in the r-th of them.
float sum_of_lanes(float v[ROWS], uint width) {
    [[unroll]] for (uint left = ROWS / 2u, bit = 1u; left > 0u; left /= 2u, bit *= 2u) {
        const bool odd = (gl_SubgroupInvocationID & bit) != 0u;
        [[unroll]] for (uint i = 0u; i < left; ++i) {
            const float even_row = v[2u * i], odd_row = v[2u * i + 1u];
            v[i] = (odd ? odd_row : even_row) + subgroupShuffleXor(odd ? even_row : odd_row, bit);
        }
    }
    for (uint bit = ROWS; bit < width; bit *= 2u) v[0] += subgroupShuffleXor(v[0], bit);
    return v[0];
}

// Several right-hand sides: the workgroup shares a slice of x, and its subgroups walk down the rows, some lanes for each ROWS
// of them. Sums of a later slice are added to those of earlier ones.
void walk_shared() {
    const uint wide_tiles = row_tiles, end = rows, width = 4u * ROWS > gl_SubgroupSize ? gl_SubgroupSize : gl_SubgroupSize / 4u;
    const uint lane = gl_SubgroupInvocationID % width, tall = gl_SubgroupSize / width * ROWS;
    for (uint begin = 0u; begin < wide_tiles; begin += SLICE) {
        const uint count = min(SLICE, wide_tiles - begin);
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < count * BATCH; i += gl_WorkGroupSize.x) {
            load_x(i / count, begin + i % count, 0u);
            share_x(i / count, i % count);
        }
        barrier();
        for (uint first = (gl_WorkGroupID.x * gl_NumSubgroups + gl_SubgroupID) * tall; first < rows; first += gl_NumWorkGroups.x * gl_NumSubgroups * tall) {
            const uint row = first + gl_SubgroupInvocationID / width * ROWS;
            float sum[ROWS][BATCH];
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[r][m] = 0.0;
            }
            for (uint t = lane; t < count; t += width) {
                const uint j = begin + t;
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                    take_x(m, t);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(row + r, end - 1u), j, 0u, sum[r][m]);
                }
            }
            [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                float of_rows[ROWS];
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) of_rows[r] = sum[r][m];
                const float all = sum_of_lanes(of_rows, width);
                if (lane >= ROWS || row + lane >= rows || m >= batch) continue;
                const uint at = m * y_rows + y_first + row + lane;
                y[at] = begin == 0u ? all : y[at] + all;
            }
        }
    }
}

void main() {
    if (BATCH > 1u && SLICE > 0u && gl_SubgroupSize >= ROWS) {
        walk_shared();
        return;
    }
    // A subgroup holds a slice of x and walks down the rows.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    const uint split = SPLIT == 1u ? 1u : min(SPLIT, gl_NumSubgroups);
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    for (uint vector = 0u; vector < batch; ++vector) {
        uint held = ~0u;
        for (uint first = gl_WorkGroupID.x * teams * ROWS; first < rows; first += gl_NumWorkGroups.x * teams * ROWS) {
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
                else if (row < rows) y[vector * y_rows + y_first + row] = all;
            }
            if (split == 1u) continue;
            barrier();
            for (uint i = gl_LocalInvocationID.x; i < teams * ROWS; i += gl_WorkGroupSize.x) {
                const uint at = i / ROWS * (split - 1u) * ROWS + i;
                float total = 0.0;
                for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS];
                if (first + i < rows) y[vector * y_rows + y_first + first + i] = total;
            }
            barrier();
        }
    }
}
