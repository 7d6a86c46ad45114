// affine_b2_g32_f16_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
// Generated from the specification below by `qkgen emit --format affine_b2_g32_f16`; do not edit.
// 12 bytes for 32 elements, 3 bits each.
// For each weight 0.375 bytes read, 3.69 operations: 0.188 loads, 0.562 bits, 0.125 integer, 2.19 float, 0.625 conversions.
//
//     format affine_b{bits}_g{group}_{T} "affine codes in one bit stream, a scale and a bias for each group"
//     from "MLX, mlx.core.quantize with mode='affine'"
//     for bits in 2 3 4 5 6 8, group in 32 64 128, T in f16 bf16 f32
//
//     block group {
//         buffer weight { w: u32[group * bits / 32] }
//         buffer scales { s: T }
//         buffer biases { b: T }
//     }
//
//     code q = w { bits @ 0 (group:bits) }
//
//     value = q * s + b
//
// Here bits = 2, group = 32, T = f16.
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides that are kept, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row, where there are few rows

layout(binding = 0, std430) readonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint16_t scales[]; };
layout(binding = 2, std430) readonly buffer BiasesBuffer { uint16_t biases[]; };
layout(binding = 3, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 4, std430) writeonly buffer Output { float y[]; };

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

// What a thread keeps of x: tiles of each right-hand side, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][BATCH][4];
float x_sum[TILES][BATCH][1];

// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 2u;
    const uint place = j / 2u * 8u + tile * 4u;
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        const uint from = min(vector + m, batch - 1u) * row_tiles * 4u + place;
        const vec4 x0 = x_in[from];
        const vec4 x1 = x_in[from + 1u];
        const vec4 x2 = x_in[from + 2u];
        const vec4 x3 = x_in[from + 3u];
        x[k][m][0] = x0 * vec4(16777216.0, 4194304.0, 1048576.0, 262144.0);
        x[k][m][1] = x1 * vec4(65536.0, 4194304.0, 1048576.0, 262144.0);
        x[k][m][2] = x2 * vec4(16777216.0, 4194304.0, 1048576.0, 262144.0);
        x[k][m][3] = x3 * vec4(65536.0, 4194304.0, 1048576.0, 262144.0);
        x_sum[k][m][0] = dot(x0 + x1 + x2 + x3, vec4(1.0));
    }
}

// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.
void accumulate(uint n, uint j, uint k, inout float sum[BATCH]) {
    const uint block = n * (row_tiles / 2u) + j / 2u;
    const uint tile = j % 2u;
    float s = f16_to_f32(uint(scales[block]));
    uint w = weight[block * 2u + tile];
    vec2 pair0 = unpackHalf2x16(w & 0x30003u);
    vec2 pair1 = unpackHalf2x16(w & 0xC000Cu);
    vec2 pair2 = unpackHalf2x16(w & 0x300030u);
    vec2 pair3 = unpackHalf2x16(w & 0xC000C0u);
    vec2 pair4 = unpackHalf2x16(w & 0x3000300u);
    vec2 pair5 = unpackHalf2x16((w >> 8u) & 0xC000Cu);
    vec2 pair6 = unpackHalf2x16((w >> 8u) & 0x300030u);
    vec2 pair7 = unpackHalf2x16((w >> 8u) & 0xC000C0u);
    float b = f16_to_f32(uint(biases[block]));
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        sum[m] += s * (dot(x[k][m][0], vec4(pair0.x, pair1.x, pair2.x, pair3.x)) + dot(x[k][m][1], vec4(pair4.x, pair5.x, pair6.x, pair7.x)) + dot(x[k][m][2], vec4(pair0.y, pair1.y, pair2.y, pair3.y)) + dot(x[k][m][3], vec4(pair4.y, pair5.y, pair6.y, pair7.y))) + b * x_sum[k][m][0];
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
