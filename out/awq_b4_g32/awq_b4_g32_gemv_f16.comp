// awq_b4_g32_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
// Generated from the specification below by `qkgen emit --format awq_b4_g32`; do not edit.
// 148 bytes for 256 elements, 4.625 bits each.
// For each weight 0.578 bytes read, 10.3 operations: 1.12 loads, 2.12 bits, 3.69 integer, 2.25 float, 1.12 conversions.
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
// Here group = 32.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides at once, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row
layout(constant_id = 6) const uint SHARED_FOURS = 512;  // 16 bytes each: memory for x, of several right-hand sides

layout(binding = 0, std430) readonly buffer QweightBuffer { uint qweight[]; };
layout(binding = 1, std430) readonly buffer QzerosBuffer { uint qzeros[]; };
layout(binding = 2, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 3, std430) readonly buffer Input { uvec2 x_in[]; };
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

// What a thread keeps of x: tiles, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][4];
float x_sum[TILES][1];

// Loads what tile `j` of a row meets of right-hand side `vector`.
void load_x(uint vector, uint j, uint k) {
    const uint place = j * 4u;
    const uint from = min(vector, batch - 1u) * row_tiles * 4u + place;
    const vec4 x0 = vec4(unpackHalf2x16(x_in[from].x), unpackHalf2x16(x_in[from].y));
    const vec4 x1 = vec4(unpackHalf2x16(x_in[from + 1u].x), unpackHalf2x16(x_in[from + 1u].y));
    const vec4 x2 = vec4(unpackHalf2x16(x_in[from + 2u].x), unpackHalf2x16(x_in[from + 2u].y));
    const vec4 x3 = vec4(unpackHalf2x16(x_in[from + 3u].x), unpackHalf2x16(x_in[from + 3u].y));
    x[k][0] = x0;
    x[k][1] = x1;
    x[k][2] = x2;
    x[k][3] = x3;
    x_sum[k][0] = dot(x0 + x1 + x2 + x3, vec4(1.0));
}

// Adds the products of tile `j` of row `n` with what is kept of x.
void accumulate(uint n, uint j, uint k, inout float sum) {
    const uint row = n, tile = j;
    const uint block_row = row / 8u;
    const uint r = row % 8u;
    const uint block_col = tile / 2u;
    const uint t = tile % 2u;
    uint d = uint(scales[block_col * rows + row]);
    float s = f16_to_f32(d);  // d: 16 bits
    uint w0 = qweight[(block_col * 32u + t * 16u) * grid_rows + block_row];
    uint w1 = qweight[(block_col * 32u + t * 16u + 1u) * grid_rows + block_row];
    uint w2 = qweight[(block_col * 32u + t * 16u + 2u) * grid_rows + block_row];
    uint w3 = qweight[(block_col * 32u + t * 16u + 3u) * grid_rows + block_row];
    uvec4 q0 = uvec4((w0 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w1 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w2 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w3 >> (r % 2u * 16u + r / 2u * 4u)) & 15u);  // w: 4 bits
    uint w4 = qweight[(block_col * 32u + t * 16u + 4u) * grid_rows + block_row];
    uint w5 = qweight[(block_col * 32u + t * 16u + 5u) * grid_rows + block_row];
    uint w6 = qweight[(block_col * 32u + t * 16u + 6u) * grid_rows + block_row];
    uint w7 = qweight[(block_col * 32u + t * 16u + 7u) * grid_rows + block_row];
    uvec4 q1 = uvec4((w4 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w5 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w6 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w7 >> (r % 2u * 16u + r / 2u * 4u)) & 15u);  // w: 4 bits
    uint w8 = qweight[(block_col * 32u + t * 16u + 8u) * grid_rows + block_row];
    uint w9 = qweight[(block_col * 32u + t * 16u + 9u) * grid_rows + block_row];
    uint w10 = qweight[(block_col * 32u + t * 16u + 10u) * grid_rows + block_row];
    uint w11 = qweight[(block_col * 32u + t * 16u + 11u) * grid_rows + block_row];
    uvec4 q2 = uvec4((w8 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w9 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w10 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w11 >> (r % 2u * 16u + r / 2u * 4u)) & 15u);  // w: 4 bits
    uint w12 = qweight[(block_col * 32u + t * 16u + 12u) * grid_rows + block_row];
    uint w13 = qweight[(block_col * 32u + t * 16u + 13u) * grid_rows + block_row];
    uint w14 = qweight[(block_col * 32u + t * 16u + 14u) * grid_rows + block_row];
    uint w15 = qweight[(block_col * 32u + t * 16u + 15u) * grid_rows + block_row];
    uvec4 q3 = uvec4((w12 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w13 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w14 >> (r % 2u * 16u + r / 2u * 4u)) & 15u, (w15 >> (r % 2u * 16u + r / 2u * 4u)) & 15u);  // w: 4 bits
    uint zs = qzeros[block_col * grid_rows + block_row];
    uint z = (zs >> (r % 2u * 16u + r / 2u * 4u)) & 15u;
    sum += s * (dot(x[k][0], vec4(ivec4(q0))) + dot(x[k][1], vec4(ivec4(q1))) + dot(x[k][2], vec4(ivec4(q2))) + dot(x[k][3], vec4(ivec4(q3)))) - s * float(int(z)) * x_sum[k][0];
}

const uint X_WORDS = 17u, X_FOURS = (X_WORDS + 3u) / 4u, FIT = SHARED_FOURS / (X_FOURS * BATCH);
const uint SLICE = FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles; 0: there is no room for one
shared uvec4 shared_x[BATCH == 1u || SLICE == 0u ? 1u : BATCH * X_FOURS * SLICE];

// Puts what is kept of right-hand side `m` and tile `t` of the slice there.
void share_x(uint m, uint t) {
    uint words[4u * X_FOURS];
    [[unroll]] for (uint i = 0u; i < 16u; ++i) words[i] = floatBitsToUint(x[0][i / 4u][i % 4u]);
    [[unroll]] for (uint i = 0u; i < 1u; ++i) words[16u + i] = floatBitsToUint(x_sum[0][i]);
    [[unroll]] for (uint i = 0u; i < X_FOURS; ++i) shared_x[(m * X_FOURS + i) * SLICE + t] = uvec4(words[4u * i], words[4u * i + 1u], words[4u * i + 2u], words[4u * i + 3u]);
}

// Takes it from there.
void take_x(uint m, uint t) {
    uint words[4u * X_FOURS];
    [[unroll]] for (uint i = 0u; i < X_FOURS; ++i) {
        const uvec4 four = shared_x[(m * X_FOURS + i) * SLICE + t];
        [[unroll]] for (uint l = 0u; l < 4u; ++l) words[4u * i + l] = four[l];
    }
    [[unroll]] for (uint i = 0u; i < 16u; ++i) x[0][i / 4u][i % 4u] = uintBitsToFloat(words[i]);
    [[unroll]] for (uint i = 0u; i < 1u; ++i) x_sum[0][i] = uintBitsToFloat(words[16u + i]);
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
