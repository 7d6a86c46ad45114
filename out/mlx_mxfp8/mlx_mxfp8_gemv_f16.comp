// mlx_mxfp8_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f16.
// Generated from the specification below by `qkgen emit --format mlx_mxfp8`; do not edit.
// 33 bytes for 32 elements, 8.25 bits each.
// For each weight 1.03 bytes read, 11 operations: 0.312 loads, 7.06 bits, 0.5 integer, 2.12 float, 1 conversions.
//
//     format mlx_mxfp8 "E4M3 codes without NaN, a power of two for 32"
//     from "MLX, mlx.core.quantize with mode='mxfp8'"
//
//     block 32 {
//         buffer weight { w: u32[8] }
//         buffer scales { e: u8 }
//     }
//
//     code q = w { 8 @ 0 (32:8) }
//
//     # Sign and digits as those of a half, 2^8 too small; so the code that OCP takes for NaN is 480.
//     value = f16((q & 128) << 8 | (q & 127) << 7) * 256.0 * f32(e == 0 ? 4194304 : e << 23)
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides that are kept, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row, where there are few rows

layout(binding = 0, std430) readonly buffer WeightBuffer { uint weight[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint8_t scales[]; };
layout(binding = 2, std430) readonly buffer Input { uvec2 x_in[]; };
layout(binding = 3, std430) writeonly buffer Output { float y[]; };

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
    const uint block = n * (row_tiles / 2u) + j / 2u;
    const uint tile = j % 2u;
    uint e = uint(scales[block]);
    float e_e = uintBitsToFloat(uint(int(e) == 0 ? 4194304 : int(e) << 23));
    uint w0 = weight[block * 8u + tile * 4u];
    uvec4 q0 = (uvec4(w0) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    uvec4 bits0 = uvec4(((ivec4(q0) & 128) << ivec4(8)) | ((ivec4(q0) & 127) << ivec4(7)));
    uint w1 = weight[block * 8u + tile * 4u + 1u];
    uvec4 q1 = (uvec4(w1) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    uvec4 bits1 = uvec4(((ivec4(q1) & 128) << ivec4(8)) | ((ivec4(q1) & 127) << ivec4(7)));
    uint w2 = weight[block * 8u + tile * 4u + 2u];
    uvec4 q2 = (uvec4(w2) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    uvec4 bits2 = uvec4(((ivec4(q2) & 128) << ivec4(8)) | ((ivec4(q2) & 127) << ivec4(7)));
    uint w3 = weight[block * 8u + tile * 4u + 3u];
    uvec4 q3 = (uvec4(w3) >> uvec4(0, 8, 16, 24)) & 0xFFu;  // w: 8 bits
    uvec4 bits3 = uvec4(((ivec4(q3) & 128) << ivec4(8)) | ((ivec4(q3) & 127) << ivec4(7)));
    [[unroll]] for (uint m = 0; m < BATCH; ++m) {
        sum[m] += e_e * 256.0 * (dot(x[k][m][0], vec4(f16_to_f32(bits0.x), f16_to_f32(bits0.y), f16_to_f32(bits0.z), f16_to_f32(bits0.w))) + dot(x[k][m][1], vec4(f16_to_f32(bits1.x), f16_to_f32(bits1.y), f16_to_f32(bits1.z), f16_to_f32(bits1.w))) + dot(x[k][m][2], vec4(f16_to_f32(bits2.x), f16_to_f32(bits2.y), f16_to_f32(bits2.z), f16_to_f32(bits2.w))) + dot(x[k][m][3], vec4(f16_to_f32(bits3.x), f16_to_f32(bits3.y), f16_to_f32(bits3.z), f16_to_f32(bits3.w))));
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
