// mx_fp8_e4m3_gemv_wide: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k].
// Generated from the specification below by `qkgen emit --format mx_fp8_e4m3`; do not edit.
// 33 bytes for 32 elements, 8.25 bits each.
// For each weight 1.03 bytes read, 13.5 operations: 0.0781 loads, 7.09 bits, 2.25 integer, 3.03 float, 1 conversions.
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
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time, at most as many as a subgroup has lanes
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row, at most as many as there are
layout(constant_id = 21) const uint X_TYPE = 0;  // how x is stored: 0 as f32, 1 as f16, 2 as bf16
layout(constant_id = 7) const uint STAGED = 1;  // runs of x that a workgroup loads together, where there are few rows; 1: none

layout(binding = 0, std430) readonly buffer CodesBuffer { uint codes[]; };
layout(binding = 1, std430) readonly buffer ScalesBuffer { uint8_t scales[]; };
layout(binding = 0, std430) readonly buffer Codes_fourBuffer { uvec4 codes_four[]; };
layout(binding = 1, std430) readonly buffer Scales_wordBuffer { uint scales_word[]; };
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

const uint TILES = 1u;

// What a thread keeps of x: tiles, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][16];
float x_sum[TILES][1];

// sum + dot(a, b), in as many operations as a has lanes.
float dot_add(float sum, vec4 a, vec4 b) {
    return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
}

// Runs of x on their way to the threads that keep them, from run `staged_from` on. There is a gap after each tile, for threads
// take the same run of tiles that are neighbours.
shared vec4 staged[STAGED == 1u ? 1u : STAGED + STAGED / 16u];
uint staged_from = 0u;

vec4 staged_x(uint at) {
    if (STAGED == 1u) return x_run(at);
    const uint place = at - staged_from;
    return staged[place + place / 16u];
}

// Loads what tile `j` of a row meets of right-hand side `vector`.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 2u;
    const uint place = j / 2u * 32u + tile * 16u;
    const uint from = min(vector, batch - 1u) * row_tiles * 4u + place;
    const vec4 x0 = staged_x(from);
    const vec4 x1 = staged_x(from + 1u);
    const vec4 x2 = staged_x(from + 2u);
    const vec4 x3 = staged_x(from + 3u);
    const vec4 x4 = staged_x(from + 4u);
    const vec4 x5 = staged_x(from + 5u);
    const vec4 x6 = staged_x(from + 6u);
    const vec4 x7 = staged_x(from + 7u);
    const vec4 x8 = staged_x(from + 8u);
    const vec4 x9 = staged_x(from + 9u);
    const vec4 x10 = staged_x(from + 10u);
    const vec4 x11 = staged_x(from + 11u);
    const vec4 x12 = staged_x(from + 12u);
    const vec4 x13 = staged_x(from + 13u);
    const vec4 x14 = staged_x(from + 14u);
    const vec4 x15 = staged_x(from + 15u);
    x[k][0] = x0;
    x[k][1] = x1;
    x[k][2] = x2;
    x[k][3] = x3;
    x[k][4] = x4;
    x[k][5] = x5;
    x[k][6] = x6;
    x[k][7] = x7;
    x[k][8] = x8;
    x[k][9] = x9;
    x[k][10] = x10;
    x[k][11] = x11;
    x[k][12] = x12;
    x[k][13] = x13;
    x[k][14] = x14;
    x[k][15] = x15;
}

// Loads tile `j` of row `n`.
void fetch(uint n, uint j, out uvec4 fours[4], out uint words[1]) {
    const uint block = n * (row_tiles / 8u) + j / 2u;
    const uint tile = j % 2u;
    fours[0] = codes_four[block * 8u + tile * 4u];
    fours[1] = codes_four[block * 8u + tile * 4u + 1u];
    fours[2] = codes_four[block * 8u + tile * 4u + 2u];
    fours[3] = codes_four[block * 8u + tile * 4u + 3u];
    words[0] = scales_word[block];
}

// Adds the products of tile `j` of row `n` with what is kept of x.
void accumulate(uint n, uint j, uint k, uvec4 fours[4], uint words[1], inout float sum) {
    const uint block = n * (row_tiles / 8u) + j / 2u;
    const uint tile = j % 2u;
    uint s_bits0 = (words[0] >> (tile * 16u)) & 0xFFu;
    float s0 = uintBitsToFloat(s_bits0 == 0xFFu ? 0x7FC00000u : s_bits0 == 0u ? 0x400000u : s_bits0 << 23u);
    uvec4 four0 = fours[0];
    uint w0 = four0.x;
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
    uint w1 = four0.y;
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
    uint w2 = four0.z;
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
    uint w3 = four0.w;
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
    uvec4 four1 = fours[1];
    uint w4 = four1.x;
    uvec4 q_bits20 = (uvec4(w4) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits21 = q_bits20.x;
    uint q_bits22 = q_bits20.y;
    uint q_bits23 = q_bits20.z;
    uint q_bits24 = q_bits20.w;
    // w: 8 bits
    precise vec4 q4 = vec4(f16_to_f32(((q_bits21 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits21 & 0x7Fu) << 7u) | ((q_bits21 & 128u) << 8u))
        * 256.0, f16_to_f32(((q_bits22 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits22 & 0x7Fu) << 7u) | ((q_bits22 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits23 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits23 & 0x7Fu) << 7u) | ((q_bits23 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits24 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits24 & 0x7Fu) << 7u) | ((q_bits24 & 128u) << 8u)) * 256.0);
    uint w5 = four1.y;
    uvec4 q_bits25 = (uvec4(w5) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits26 = q_bits25.x;
    uint q_bits27 = q_bits25.y;
    uint q_bits28 = q_bits25.z;
    uint q_bits29 = q_bits25.w;
    // w: 8 bits
    precise vec4 q5 = vec4(f16_to_f32(((q_bits26 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits26 & 0x7Fu) << 7u) | ((q_bits26 & 128u) << 8u))
        * 256.0, f16_to_f32(((q_bits27 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits27 & 0x7Fu) << 7u) | ((q_bits27 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits28 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits28 & 0x7Fu) << 7u) | ((q_bits28 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits29 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits29 & 0x7Fu) << 7u) | ((q_bits29 & 128u) << 8u)) * 256.0);
    uint w6 = four1.z;
    uvec4 q_bits30 = (uvec4(w6) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits31 = q_bits30.x;
    uint q_bits32 = q_bits30.y;
    uint q_bits33 = q_bits30.z;
    uint q_bits34 = q_bits30.w;
    // w: 8 bits
    precise vec4 q6 = vec4(f16_to_f32(((q_bits31 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits31 & 0x7Fu) << 7u) | ((q_bits31 & 128u) << 8u))
        * 256.0, f16_to_f32(((q_bits32 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits32 & 0x7Fu) << 7u) | ((q_bits32 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits33 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits33 & 0x7Fu) << 7u) | ((q_bits33 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits34 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits34 & 0x7Fu) << 7u) | ((q_bits34 & 128u) << 8u)) * 256.0);
    uint w7 = four1.w;
    uvec4 q_bits35 = (uvec4(w7) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits36 = q_bits35.x;
    uint q_bits37 = q_bits35.y;
    uint q_bits38 = q_bits35.z;
    uint q_bits39 = q_bits35.w;
    // w: 8 bits
    precise vec4 q7 = vec4(f16_to_f32(((q_bits36 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits36 & 0x7Fu) << 7u) | ((q_bits36 & 128u) << 8u))
        * 256.0, f16_to_f32(((q_bits37 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits37 & 0x7Fu) << 7u) | ((q_bits37 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits38 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits38 & 0x7Fu) << 7u) | ((q_bits38 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits39 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits39 & 0x7Fu) << 7u) | ((q_bits39 & 128u) << 8u)) * 256.0);
    uint s_bits1 = (words[0] >> (tile * 16u + 8u)) & 0xFFu;
    float s1 = uintBitsToFloat(s_bits1 == 0xFFu ? 0x7FC00000u : s_bits1 == 0u ? 0x400000u : s_bits1 << 23u);
    uvec4 four2 = fours[2];
    uint w8 = four2.x;
    uvec4 q_bits40 = (uvec4(w8) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits41 = q_bits40.x;
    uint q_bits42 = q_bits40.y;
    uint q_bits43 = q_bits40.z;
    uint q_bits44 = q_bits40.w;
    // w: 8 bits
    precise vec4 q8 = vec4(f16_to_f32(((q_bits41 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits41 & 0x7Fu) << 7u) | ((q_bits41 & 128u) << 8u))
        * 256.0, f16_to_f32(((q_bits42 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits42 & 0x7Fu) << 7u) | ((q_bits42 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits43 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits43 & 0x7Fu) << 7u) | ((q_bits43 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits44 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits44 & 0x7Fu) << 7u) | ((q_bits44 & 128u) << 8u)) * 256.0);
    uint w9 = four2.y;
    uvec4 q_bits45 = (uvec4(w9) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits46 = q_bits45.x;
    uint q_bits47 = q_bits45.y;
    uint q_bits48 = q_bits45.z;
    uint q_bits49 = q_bits45.w;
    // w: 8 bits
    precise vec4 q9 = vec4(f16_to_f32(((q_bits46 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits46 & 0x7Fu) << 7u) | ((q_bits46 & 128u) << 8u))
        * 256.0, f16_to_f32(((q_bits47 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits47 & 0x7Fu) << 7u) | ((q_bits47 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits48 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits48 & 0x7Fu) << 7u) | ((q_bits48 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits49 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits49 & 0x7Fu) << 7u) | ((q_bits49 & 128u) << 8u)) * 256.0);
    uint w10 = four2.z;
    uvec4 q_bits50 = (uvec4(w10) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits51 = q_bits50.x;
    uint q_bits52 = q_bits50.y;
    uint q_bits53 = q_bits50.z;
    uint q_bits54 = q_bits50.w;
    // w: 8 bits
    precise vec4 q10 = vec4(f16_to_f32(((q_bits51 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits51 & 0x7Fu) << 7u) | ((q_bits51 & 128u) << 8u))
        * 256.0, f16_to_f32(((q_bits52 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits52 & 0x7Fu) << 7u) | ((q_bits52 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits53 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits53 & 0x7Fu) << 7u) | ((q_bits53 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits54 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits54 & 0x7Fu) << 7u) | ((q_bits54 & 128u) << 8u)) * 256.0);
    uint w11 = four2.w;
    uvec4 q_bits55 = (uvec4(w11) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits56 = q_bits55.x;
    uint q_bits57 = q_bits55.y;
    uint q_bits58 = q_bits55.z;
    uint q_bits59 = q_bits55.w;
    // w: 8 bits
    precise vec4 q11 = vec4(f16_to_f32(((q_bits56 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits56 & 0x7Fu) << 7u) | ((q_bits56 & 128u) << 8u))
        * 256.0, f16_to_f32(((q_bits57 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits57 & 0x7Fu) << 7u) | ((q_bits57 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits58 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits58 & 0x7Fu) << 7u) | ((q_bits58 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits59 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits59 & 0x7Fu) << 7u) | ((q_bits59 & 128u) << 8u)) * 256.0);
    uvec4 four3 = fours[3];
    uint w12 = four3.x;
    uvec4 q_bits60 = (uvec4(w12) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits61 = q_bits60.x;
    uint q_bits62 = q_bits60.y;
    uint q_bits63 = q_bits60.z;
    uint q_bits64 = q_bits60.w;
    // w: 8 bits
    precise vec4 q12 = vec4(f16_to_f32(((q_bits61 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits61 & 0x7Fu) << 7u) | ((q_bits61 & 128u) << 8u))
        * 256.0, f16_to_f32(((q_bits62 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits62 & 0x7Fu) << 7u) | ((q_bits62 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits63 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits63 & 0x7Fu) << 7u) | ((q_bits63 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits64 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits64 & 0x7Fu) << 7u) | ((q_bits64 & 128u) << 8u)) * 256.0);
    uint w13 = four3.y;
    uvec4 q_bits65 = (uvec4(w13) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits66 = q_bits65.x;
    uint q_bits67 = q_bits65.y;
    uint q_bits68 = q_bits65.z;
    uint q_bits69 = q_bits65.w;
    // w: 8 bits
    precise vec4 q13 = vec4(f16_to_f32(((q_bits66 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits66 & 0x7Fu) << 7u) | ((q_bits66 & 128u) << 8u))
        * 256.0, f16_to_f32(((q_bits67 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits67 & 0x7Fu) << 7u) | ((q_bits67 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits68 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits68 & 0x7Fu) << 7u) | ((q_bits68 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits69 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits69 & 0x7Fu) << 7u) | ((q_bits69 & 128u) << 8u)) * 256.0);
    uint w14 = four3.z;
    uvec4 q_bits70 = (uvec4(w14) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits71 = q_bits70.x;
    uint q_bits72 = q_bits70.y;
    uint q_bits73 = q_bits70.z;
    uint q_bits74 = q_bits70.w;
    // w: 8 bits
    precise vec4 q14 = vec4(f16_to_f32(((q_bits71 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits71 & 0x7Fu) << 7u) | ((q_bits71 & 128u) << 8u))
        * 256.0, f16_to_f32(((q_bits72 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits72 & 0x7Fu) << 7u) | ((q_bits72 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits73 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits73 & 0x7Fu) << 7u) | ((q_bits73 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits74 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits74 & 0x7Fu) << 7u) | ((q_bits74 & 128u) << 8u)) * 256.0);
    uint w15 = four3.w;
    uvec4 q_bits75 = (uvec4(w15) >> uvec4(0, 8, 16, 24)) & 0xFFu;
    uint q_bits76 = q_bits75.x;
    uint q_bits77 = q_bits75.y;
    uint q_bits78 = q_bits75.z;
    uint q_bits79 = q_bits75.w;
    // w: 8 bits
    precise vec4 q15 = vec4(f16_to_f32(((q_bits76 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits76 & 0x7Fu) << 7u) | ((q_bits76 & 128u) << 8u))
        * 256.0, f16_to_f32(((q_bits77 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits77 & 0x7Fu) << 7u) | ((q_bits77 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits78 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits78 & 0x7Fu) << 7u) | ((q_bits78 & 128u) << 8u)) * 256.0,
        f16_to_f32(((q_bits79 & 0x7Fu) == 0x7Fu ? 32256u : (q_bits79 & 0x7Fu) << 7u) | ((q_bits79 & 128u) << 8u)) * 256.0);
    float dots0 = dot_add(dot(x[k][0], q0), x[k][1], q1);
    float dots1 = dot_add(dots0, x[k][2], q2);
    float dots2 = dot_add(dots1, x[k][3], q3);
    float dots3 = dot_add(dots2, x[k][4], q4);
    float dots4 = dot_add(dots3, x[k][5], q5);
    float dots5 = dot_add(dots4, x[k][6], q6);
    float dots6 = dot_add(dots5, x[k][7], q7);
    float dots7 = dot_add(dot(x[k][8], q8), x[k][9], q9);
    float dots8 = dot_add(dots7, x[k][10], q10);
    float dots9 = dot_add(dots8, x[k][11], q11);
    float dots10 = dot_add(dots9, x[k][12], q12);
    float dots11 = dot_add(dots10, x[k][13], q13);
    float dots12 = dot_add(dots11, x[k][14], q14);
    float dots13 = dot_add(dots12, x[k][15], q15);
    sum += s0 * dots6 + s1 * dots13;
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

// What a workgroup keeps of right-hand side `vector`, which is tiles `begin` to `end`; a thread has the one at `own`, and those
// that are one or more subgroups further on.
void stage_x(uint vector, uint begin, uint end, uint own) {
    const uint runs = vector * row_tiles * 4u, runs_end = runs + (end + 1u) / 2u * 32u;
    for (staged_from = runs + begin / 2u * 32u; staged_from < runs_end; staged_from += STAGED) {
        const uint count = min(STAGED, runs_end - staged_from);
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < count; i += gl_WorkGroupSize.x) staged[i + i / 16u] = x_run(staged_from + i);
        barrier();
        [[unroll]] for (uint k = 0; k < TILES; ++k) {
            const uint j = own + k * gl_SubgroupSize;
            if (j < end && runs + j / 2u * 32u - staged_from < STAGED) load_x(vector, j, k);
        }
    }
}

// One right-hand side: subgroups share a row, each with the slice of x that it holds, and walk down the rows.
void walk() {
    const uint tiles = row_tiles / 4u, lane = gl_SubgroupInvocationID;
    const uint slice = gl_SubgroupSize * TILES, slices = (tiles + slice - 1u) / slice;
    const uint split = SPLIT, teams = gl_NumSubgroups / split, team = gl_SubgroupID / split, end = rows;
    uint held = ~0u, turn = 0u;
    for (uint first = gl_WorkGroupID.x * teams * ROWS; first < rows; first += gl_NumWorkGroups.x * teams * ROWS) {
        const uint row = first + team * ROWS;
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
        for (uint c0 = 0u; c0 < slices; c0 += split) {
            const uint c = c0 + gl_SubgroupID % split;
            const bool kept = c0 == held;
            if (STAGED > 1u && !kept) stage_x(0u, c0 * slice, min((c0 + split) * slice, tiles), c * slice + lane);
            [[unroll]] for (uint k = 0; k < TILES; ++k) {
                const uint j = c * slice + k * gl_SubgroupSize + lane;
                if (STAGED == 1u && !kept) load_x(0u, min(j, tiles - 1u), k);
                if (j >= tiles) continue;
                uvec4 fours[ROWS][4];
                uint words[ROWS][1];
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, end - 1u), j, fours[r], words[r]);
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(row + r, end - 1u), j, k, fours[r], words[r], sum[r]);
            }
            held = c0;
        }
        const float all = sum_of_lanes(sum, gl_SubgroupSize);
        if (split == 1u) {
            if (lane < ROWS && row + lane < rows) finish(0u, row + lane, all);
            continue;
        }
        // Halves of the memory in turn: who is a row ahead does not write where others still read.
        const uint place = turn++ % 2u * gl_NumSubgroups * ROWS;
        if (lane < ROWS) partial[place + gl_SubgroupID * ROWS + lane] = all;
        barrier();
        const uint i = gl_LocalInvocationID.x, at = place + i / ROWS * (split - 1u) * ROWS + i;
        if (i >= teams * ROWS || first + i >= rows) continue;
        float total = 0.0;
        [[unroll]] for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS];
        finish(0u, first + i, total);
    }
}

void main() {
    // Dispatch launches nothing else; but a compiler may choose better for a walk that may not be taken.
    if (gl_SubgroupSize >= ROWS && gl_NumSubgroups >= SPLIT && row_tiles > 0u) walk();
}
