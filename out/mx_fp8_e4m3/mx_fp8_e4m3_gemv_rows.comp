// mx_fp8_e4m3_gemv_rows: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format mx_fp8_e4m3`; do not edit.
// 33 bytes for 32 elements, 8.25 bits each.
// For each weight 1.03 bytes read, 14.1 operations: 0.312 loads, 7.06 bits, 2.62 integer, 3.06 float, 1 conversions.
//
//     format mx_fp8_e4m3 "OCP MX: E4M3 codes, a power of two for 32"
//     from "OCP Microscaling Formats v1.0"
//
//     block 32 {
//         buffer codes  { w: u8[32] }
//         buffer scales { s: e8m0 }
//     }
//
//     code q: e4m3 = w { 8 @ 0 (32:8) }
//
//     value = q * s
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row
layout(constant_id = 21) const uint X_TYPE = 0;  // how x is stored: 0 as f32, 1 as f16, 2 as bf16

layout(binding = 0, std430) readonly buffer CodesBuffer { uint codes[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint8_t scales[]; };
layout(binding = 3, std430) buffer Output { float y[]; };

layout(push_constant) uniform Push {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of 16 elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
    uint y_add;      // 1: results are added to what y holds
};

layout(binding = 2, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 2, std430) readonly buffer InputHalves { uvec2 x_halves[]; };

// Run `at` of x: 4 consecutive elements.
vec4 x_run(uint at) {
    if (X_TYPE == 0u) return x_in[at];
    const uvec2 run = uvec2(x_halves[at]);
    return X_TYPE == 1u ? vec4(unpackHalf2x16(run.x), unpackHalf2x16(run.y))
        : uintBitsToFloat(uvec4(run.x << 16, run.x & 0xffff0000u, run.y << 16, run.y & 0xffff0000u));
}

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// Row `n` of right-hand side `m` is done; or, where sums come in parts, one of them is.
void finish(uint m, uint n, float sum, bool first) {
    const uint at = m * y_rows + y_first + n;
    y[at] = first && y_add == 0u ? sum : y[at] + sum;
}

void finish(uint m, uint n, float sum) {
    finish(m, n, sum, true);
}

const uint TILES = 4u;

// What a thread keeps of x: tiles, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][4];
float x_sum[TILES][1];

// Loads what tile `j` of a row meets of right-hand side `vector`.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 2u;
    const uint place = j / 2u * 8u + tile * 4u;
    const uint from = min(vector, batch - 1u) * row_tiles * 4u + place;
    const vec4 x0 = x_run(from);
    const vec4 x1 = x_run(from + 1u);
    const vec4 x2 = x_run(from + 2u);
    const vec4 x3 = x_run(from + 3u);
    x[k][0] = x0;
    x[k][1] = x1;
    x[k][2] = x2;
    x[k][3] = x3;
}

// Adds the products of tile `j` of row `n` with what is kept of x.
void accumulate(uint n, uint j, uint k, inout float sum) {
    const uint block = n * (row_tiles / 2u) + j / 2u;
    const uint tile = j % 2u;
    uint s_bits = uint(scales[block]);
    float s = uintBitsToFloat(s_bits == 0xFFu ? 0x7FC00000u : s_bits == 0u ? 0x400000u : s_bits << 23u);
    uint w0 = codes[block * 8u + tile * 4u];
    uvec4 q_bits0 = (uvec4(w0) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits1 = q_bits0.x;
    uint q_bits2 = q_bits0.y;
    uint q_bits3 = q_bits0.z;
    uint q_bits4 = q_bits0.w;
    // w: 8 bits
    precise vec4 q0 = vec4(f16_to_f32(((q_bits1 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits1 & 0x7Fu) << 7u) | ((q_bits1 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits2 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits2 & 0x7Fu) << 7u) | ((q_bits2 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits3 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits3 & 0x7Fu) << 7u) | ((q_bits3 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits4 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits4 & 0x7Fu) << 7u) | ((q_bits4 & 128u) << 8u)) * 256.0);
    uint w1 = codes[block * 8u + tile * 4u + 1u];
    uvec4 q_bits5 = (uvec4(w1) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits6 = q_bits5.x;
    uint q_bits7 = q_bits5.y;
    uint q_bits8 = q_bits5.z;
    uint q_bits9 = q_bits5.w;
    // w: 8 bits
    precise vec4 q1 = vec4(f16_to_f32(((q_bits6 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits6 & 0x7Fu) << 7u) | ((q_bits6 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits7 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits7 & 0x7Fu) << 7u) | ((q_bits7 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits8 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits8 & 0x7Fu) << 7u) | ((q_bits8 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits9 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits9 & 0x7Fu) << 7u) | ((q_bits9 & 128u) << 8u)) * 256.0);
    uint w2 = codes[block * 8u + tile * 4u + 2u];
    uvec4 q_bits10 = (uvec4(w2) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits11 = q_bits10.x;
    uint q_bits12 = q_bits10.y;
    uint q_bits13 = q_bits10.z;
    uint q_bits14 = q_bits10.w;
    // w: 8 bits
    precise vec4 q2 = vec4(f16_to_f32(((q_bits11 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits11 & 0x7Fu) << 7u) | ((q_bits11 & 128u) << 8u))
        * 256.0, f16_to_f32(((q_bits12 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits12 & 0x7Fu) << 7u) | ((q_bits12 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits13 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits13 & 0x7Fu) << 7u) | ((q_bits13 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits14 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits14 & 0x7Fu) << 7u) | ((q_bits14 & 128u) << 8u)) * 256.0);
    uint w3 = codes[block * 8u + tile * 4u + 3u];
    uvec4 q_bits15 = (uvec4(w3) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits16 = q_bits15.x;
    uint q_bits17 = q_bits15.y;
    uint q_bits18 = q_bits15.z;
    uint q_bits19 = q_bits15.w;
    // w: 8 bits
    precise vec4 q3 = vec4(f16_to_f32(((q_bits16 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits16 & 0x7Fu) << 7u) | ((q_bits16 & 128u) << 8u))
        * 256.0, f16_to_f32(((q_bits17 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits17 & 0x7Fu) << 7u) | ((q_bits17 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits18 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits18 & 0x7Fu) << 7u) | ((q_bits18 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits19 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits19 & 0x7Fu) << 7u) | ((q_bits19 & 128u) << 8u)) * 256.0);
    sum += s * (dot(x[k][0], q0) + dot(x[k][1], q1) + dot(x[k][2], q2) + dot(x[k][3], q3));
}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS];

void main() {
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
