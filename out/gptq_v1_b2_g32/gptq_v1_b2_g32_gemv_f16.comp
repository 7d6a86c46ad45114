// gptq_v1_b2_g32_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
// Generated from the specification below by `qkgen emit --format gptq_v1_b2_g32`; do not edit.
// 328 bytes for 1024 elements, 2.562 bits each.
// For each weight 0.32 bytes read, 7.5 operations: 0.188 loads, 2.19 bits, 2 integer, 2.06 float, 1.06 conversions.
//
//     format gptq_v1_b{bits}_g{group} "GPTQ: codes packed along the inputs, zeros less one along the outputs"
//     from "AutoGPTQ, GPTQModel: qlinear, checkpoints of version 1"
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
//     value = (q - (z + 1 & (1 << bits) - 1)) * s
//
// Here bits = 2, group = 32.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides at once, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row

layout(binding = 0, std430) readonly buffer QweightBuffer { uint qweight[]; };
layout(binding = 1, std430) readonly buffer QzerosBuffer { uint qzeros[]; };
layout(binding = 2, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 3, std430) readonly buffer Input { uvec2 x_in[]; };
layout(binding = 3, std430) readonly buffer InputElements { uint16_t x_at[]; };
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

// What a thread keeps of x: tiles, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][BATCH][4];
float x_sum[TILES][BATCH][1];

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
void load_x(uint vector, uint j, uint k) {
    const uint place = j * 4u;
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * (cols / 4u) + place;
        const vec4 x0 = vec4(unpackHalf2x16(x_in[from].x), unpackHalf2x16(x_in[from].y));
        const vec4 x1 = vec4(unpackHalf2x16(x_in[from + 1u].x), unpackHalf2x16(x_in[from + 1u].y));
        const vec4 x2 = vec4(unpackHalf2x16(x_in[from + 2u].x), unpackHalf2x16(x_in[from + 2u].y));
        const vec4 x3 = vec4(unpackHalf2x16(x_in[from + 3u].x), unpackHalf2x16(x_in[from + 3u].y));
        x[k][m][0] = x0;
        x[k][m][1] = x1;
        x[k][m][2] = x2;
        x[k][m][3] = x3;
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
void accumulate(uint n, uint j, uint k, inout float sum[BATCH]) {
    const uint row = n, tile = j;
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 2u;
    uint d = uint(scales[block_col * rows + row]);
    float s = f16_to_f32(d);  // d: 16 bits
    uint w = qweight[tile * rows + row];
    uvec4 q0 = (uvec4(w) >> uvec4(0, 2, 4, 6)) & 3u;  // w: 2 bits
    uint zs = qzeros[block_col * ((rows - 1u) / 16u + 1u) + min(block_row * 2u + r / 16u, (rows - 1u) / 16u)];
    uint z = (zs >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uvec4 q1 = (uvec4(w) >> uvec4(8, 10, 12, 14)) & 3u;  // w: 2 bits
    uvec4 q2 = (uvec4(w) >> uvec4(16, 18, 20, 22)) & 3u;  // w: 2 bits
    uvec4 q3 = (uvec4(w) >> uvec4(24, 26, 28, 30)) & 3u;  // w: 2 bits
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        sum[m] += s * (dot(x[k][m][0], vec4(ivec4(q0) - ((int(z) + 1) & 3))) + dot(x[k][m][1], vec4(ivec4(q1) - ((int(z) + 1) & 3))) + dot(x[k][m][2], vec4(ivec4(q2) - ((int(z) + 1) & 3))) + dot(x[k][m][3], vec4(ivec4(q3) - ((int(z) + 1) & 3))));
    }
}

// The 16 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[4]) {
    const uint block_row = row / 32u;
    const uint r = row % 32u;
    const uint block_col = tile / 2u;
    // elements 0 to 3, counted from the tile's first
    uint w = qweight[tile * rows + row];
    uvec4 q0 = (uvec4(w) >> uvec4(0, 2, 4, 6)) & 3u;  // w: 2 bits
    uint zs = qzeros[block_col * ((rows - 1u) / 16u + 1u) + min(block_row * 2u + r / 16u, (rows - 1u) / 16u)];
    uint z = (zs >> (r % 16u * 2u)) & 3u;  // zs: 2 bits
    uint d = uint(scales[block_col * rows + row]);
    float s = f16_to_f32(d);  // d: 16 bits
    v[0] = vec4(ivec4(q0) - ((int(z) + 1) & 3)) * s;

    // elements 4 to 7, counted from the tile's first
    uvec4 q1 = (uvec4(w) >> uvec4(8, 10, 12, 14)) & 3u;  // w: 2 bits
    v[1] = vec4(ivec4(q1) - ((int(z) + 1) & 3)) * s;

    // elements 8 to 11, counted from the tile's first
    uvec4 q2 = (uvec4(w) >> uvec4(16, 18, 20, 22)) & 3u;  // w: 2 bits
    v[2] = vec4(ivec4(q2) - ((int(z) + 1) & 3)) * s;

    // elements 12 to 15, counted from the tile's first
    uvec4 q3 = (uvec4(w) >> uvec4(24, 26, 28, 30)) & 3u;  // w: 2 bits
    v[3] = vec4(ivec4(q3) - ((int(z) + 1) & 3)) * s;
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
        for (uint m = 0; m < BATCH; ++m) part[m] += v[e / 4u][e % 4u] * unpackHalf2x16(uint(x_at[min(m, batch - 1u) * row_cols + place + e])).x;
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
