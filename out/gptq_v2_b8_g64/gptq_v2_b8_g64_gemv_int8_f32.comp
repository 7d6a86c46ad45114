// gptq_v2_b8_g64_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
// Generated from the specification below by `qkgen emit --format gptq_v2_b8_g64`; do not edit.
// 2144 bytes for 2048 elements, 8.375 bits each.
// For each weight 1.05 bytes read, 3.56 operations: 0.375 loads, 0.125 bits, 2.5 integer, 0.375 float, 0.188 conversions.
//
//     format gptq_v2_b{bits}_g{group} "GPTQ: codes packed along the inputs, zeros along the outputs"
//     from "GPTQModel: checkpoints of version 2"
//     for bits in 2 3 4 8, group in 32 64 128
//
//     block 32 x group ragged {
//         buffer qweight[cols][rows] { w: u32[32][group * bits / 32] }
//         buffer qzeros[cols][rows]  { zs: u32[bits][1] }
//         buffer scales[cols][rows]  { d: f16[32][1] }
//     }
//
//     code q                = w  { bits @ 0 (32 * group:bits) }
//     code z per group      = zs { bits @ 0 (32:bits) }
//     code s: f16 per group = d  { 16 @ 0 (32:16) }
//
//     value = (q - z) * s
//
// Here bits = 8, group = 64.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides at once, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row
layout(constant_id = 4) const uint DIGITS = 1;  // bytes of each x: class int8 has 1, split 2, int24 3

layout(binding = 0, std430) readonly buffer QweightBuffer { uint qweight[]; };
layout(binding = 1, std430) readonly buffer QzerosBuffer { uint qzeros[]; };
layout(binding = 2, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 3, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 3, std430) readonly buffer InputElements { float x_at[]; };
layout(binding = 4, std430) writeonly buffer Output { float y[]; };

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

const uint TILES = BATCH == 1u ? 4u : 1u;

// What a thread keeps of x: tiles as integers of signed bytes, the highest first, four elements in a word; the steps that the
// integers stand for; sums over runs that share a scale, of each digit, and of x itself.
int x[TILES][BATCH][DIGITS][4];
int x_digits[TILES][BATCH][DIGITS][1];
float x_step[TILES][BATCH][1];
float x_sum[TILES][BATCH][1];

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

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
void load_x(uint vector, uint j, uint k) {
    const uint place = j * 4u;
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * (cols / 4u) + place;
        const vec4 x0 = x_in[from];
        const vec4 x1 = x_in[from + 1u];
        const vec4 x2 = x_in[from + 2u];
        const vec4 x3 = x_in[from + 3u];
        vec4 most = abs(x0);
        most = max(most, abs(x1));
        most = max(most, abs(x2));
        most = max(most, abs(x3));
        const float scale = scale_of(most, x0 + x1 + x2 + x3);
        x_step[k][m][0] = 1.0 / scale;
        const ivec4 i0 = integers(x0 * scale);
        const ivec4 i1 = integers(x1 * scale);
        const ivec4 i2 = integers(x2 * scale);
        const ivec4 i3 = integers(x3 * scale);
        x_sum[k][m][0] = x_step[k][m][0] * float(sum_of(i0 + i1 + i2 + i3) - 16 * BIAS);
        [[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit) {
            x[k][m][digit][0] = bytes_of(i0, digit);
            x[k][m][digit][1] = bytes_of(i1, digit);
            x[k][m][digit][2] = bytes_of(i2, digit);
            x[k][m][digit][3] = bytes_of(i3, digit);
        }
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
void accumulate(uint n, uint j, uint k, inout float sum[BATCH]) {
    const uint row = n, tile = j;
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 4u;
    const uint t = tile % 4u;
    uint d = uint(scales[block_col * rows + row]);
    float s = f16_to_f32(d);  // d: 16 bits
    uint w0 = qweight[min(block_col * 16u + t * 4u, (cols - 1u) / 4u) * rows + row];
    uint w1 = qweight[min(block_col * 16u + t * 4u + 1u, (cols - 1u) / 4u) * rows + row];
    uint w2 = qweight[min(block_col * 16u + t * 4u + 2u, (cols - 1u) / 4u) * rows + row];
    uint w3 = qweight[min(block_col * 16u + t * 4u + 3u, (cols - 1u) / 4u) * rows + row];
    uint zs = qzeros[block_col * ((rows - 1u) / 4u + 1u) + min(block_row * 8u + r / 4u, (rows - 1u) / 4u)];
    uint z = (zs >> (r % 4u * 8u)) & 0xFFu;  // zs: 8 bits
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        float dots0 = 0.0;
        [[unroll]] for (uint digit = 0; digit < DIGITS; ++digit) {
            dots0 = 256.0 * dots0 + float(dot4(w0, x[k][m][digit][0]) + dot4(w1, x[k][m][digit][1]) + dot4(w2, x[k][m][digit][2]) + dot4(w3, x[k][m][digit][3]));
        }
        sum[m] += s * (x_step[k][m][0] * dots0) - s * float(z) * x_sum[k][m][0];
    }
}

// The 16 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[4]) {
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 4u;
    const uint t = tile % 4u;
    // elements 0 to 3, counted from the tile's first
    uint w0 = qweight[min(block_col * 16u + t * 4u, (cols - 1u) / 4u) * rows + row];
    uvec4 q0 = (uvec4(w0) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    uint zs = qzeros[block_col * ((rows - 1u) / 4u + 1u) + min(block_row * 8u + r / 4u, (rows - 1u) / 4u)];
    uint z = (zs >> (r % 4u * 8u)) & 0xFFu;  // zs: 8 bits
    uint d = uint(scales[block_col * rows + row]);
    float s = f16_to_f32(d);  // d: 16 bits
    v[0] = vec4(ivec4(q0) - int(z)) * s;

    // elements 4 to 7, counted from the tile's first
    uint w1 = qweight[min(block_col * 16u + t * 4u + 1u, (cols - 1u) / 4u) * rows + row];
    uvec4 q1 = (uvec4(w1) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    v[1] = vec4(ivec4(q1) - int(z)) * s;

    // elements 8 to 11, counted from the tile's first
    uint w2 = qweight[min(block_col * 16u + t * 4u + 2u, (cols - 1u) / 4u) * rows + row];
    uvec4 q2 = (uvec4(w2) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    v[2] = vec4(ivec4(q2) - int(z)) * s;

    // elements 12 to 15, counted from the tile's first
    uint w3 = qweight[min(block_col * 16u + t * 4u + 3u, (cols - 1u) / 4u) * rows + row];
    uvec4 q3 = (uvec4(w3) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    v[3] = vec4(ivec4(q3) - int(z)) * s;
}

// The products of what tile `j` of row `n` has in that row, for each right-hand side.
void sum_cut(uint n, uint j, out float part[BATCH]) {
    const uint row_cols = cols;
    for (uint m = 0; m < BATCH; ++m) part[m] = 0.0;
    const uint row = n, tile = j, place = j * 16u;
    const uint from = 0u, to = min(row_cols - place, 16u);
    vec4 v[4];
    decode(row, tile, v);
    for (uint e = from; e < to; ++e) {
        for (uint m = 0; m < BATCH; ++m) part[m] += v[e / 4u][e % 4u] * x_at[min(m, batch - 1u) * row_cols + place + e];
    }
}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS * BATCH];

void main() {
    // A subgroup holds a slice of x and walks down the rows.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    const uint split = SPLIT == 1u ? 1u : min(SPLIT, gl_NumSubgroups);
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    // Tiles of a row that are taken as wholes: those that it fills, where its runs of x begin as x is stored.
    const uint row_cols = cols, whole_tiles = row_cols % 4u == 0u ? row_cols / 16u : 0u;
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
                if (j >= whole_tiles) {
                    [[dont_unroll]] for (uint r = 0u; r < ROWS; ++r) {
                        float part[BATCH];
                        sum_cut(min(first + team * ROWS + r, rows - 1u), j, part);
                        [[unroll]] for (uint s = 0u; s < ROWS; ++s) {
                            [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[s][m] += s == r ? part[m] : 0.0;
                        }
                    }
                    continue;
                }
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
