// q3_K_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
// Generated from the specification below by `qkgen emit --format q3_K`; do not edit.
// 110 bytes for 256 elements, 3.438 bits each.
// For each weight 0.43 bytes read, 8.12 operations: 0.266 loads, 3.41 bits, 0.672 integer, 3 float, 0.781 conversions.
//
//     format q3_K "3-bit codes around 4, 6-bit scales around 32 in groups of 16"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         hmask:  u8[32]
//         qs:     u8[64]
//         scales: u8[12]
//         d:      f16
//     }
//
//     code q = qs    { 2 @ 0 (32:8, 4:2, 2:256) }          # low two bits
//              hmask { 1 @ 0 (32:8, 8:1) }                 # the third
//
//     code sc per 16 = scales { 4 @ 0 (8:8, 2:4)   2 @ 64 (4:8, 4:2) }
//
//     value = d * (sc - 32) * (q - 4)
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
layout(constant_id = 5) const uint LOAD_WORDS = 4;  // 4: larger tiles, and weights 16 bytes at a time where that pays
layout(constant_id = 13) const uint AHEAD = 0;   // 1: rows, of whole fours of words, are loaded ahead
layout(constant_id = 14) const uint LANES = 32;  // of a subgroup that does so
layout(constant_id = 7) const uint STAGED_RUNS = 1;  // of x, that a workgroup loads together, where there are few rows; 1: none
const uint STAGED = BATCH == 1u ? STAGED_RUNS : 1u;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint16_t blocks[]; };
layout(binding = 0, std430) readonly buffer Blocks_wordBuffer { uint blocks_word[]; };
layout(binding = 0, std430) readonly buffer Blocks_fourBuffer { uvec4 blocks_four[]; };
layout(binding = 1, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 2, std430) buffer Output { float y[]; };

layout(push_constant) uniform Push {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of 32 elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
};

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

const uint TILES = 2u;

// What a thread keeps of x: tiles, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][8];
float x_sum[TILES][8];

// The same for wide tiles.
const uint WIDE_TILES = 1u;
vec4 wide_x[WIDE_TILES][16];
float wide_x_sum[WIDE_TILES][16];

// Loads what tile `j` of a row meets of right-hand side `vector`.
void load_x(uint vector, uint j, uint k) {
    const uint tile = j % 8u;
    const uint place = j / 8u * 64u + tile;
    const uint from = min(vector, batch - 1u) * row_tiles * 8u + place;
    const vec4 x0 = x_in[from];
    const vec4 x1 = x_in[from + 8u];
    const vec4 x2 = x_in[from + 16u];
    const vec4 x3 = x_in[from + 24u];
    const vec4 x4 = x_in[from + 32u];
    const vec4 x5 = x_in[from + 40u];
    const vec4 x6 = x_in[from + 48u];
    const vec4 x7 = x_in[from + 56u];
    x[k][0] = x0 * 16777216.0;
    x[k][1] = x1 * 4194304.0;
    x[k][2] = x2 * 1048576.0;
    x[k][3] = x3 * 16777216.0;
    x[k][4] = x4 * 16777216.0;
    x[k][5] = x5 * 4194304.0;
    x[k][6] = x6 * 1048576.0;
    x[k][7] = x7 * 16777216.0;
    x_sum[k][0] = dot(x0, vec4(1.0));
    x_sum[k][1] = dot(x1, vec4(1.0));
    x_sum[k][2] = dot(x2, vec4(1.0));
    x_sum[k][3] = dot(x3, vec4(1.0));
    x_sum[k][4] = dot(x4, vec4(1.0));
    x_sum[k][5] = dot(x5, vec4(1.0));
    x_sum[k][6] = dot(x6, vec4(1.0));
    x_sum[k][7] = dot(x7, vec4(1.0));
}

// 32 bits from words of 16.
uint blocks_u32(uint at) {
    return uint(blocks[at]) | (uint(blocks[at + 1u]) << 16);
}

// Adds the products of tile `j` of row `n` with what is kept of x.
void accumulate(uint n, uint j, uint k, inout float sum) {
    const uint block = n * (row_tiles / 8u) + j / 8u;
    const uint tile = j % 8u;
    uint base = block * 55u;
    float d = f16_to_f32(uint(blocks[base + 54u]));
    uint scales0 = uint(blocks[base + 48u]);
    uint sc_lo0 = (scales0 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint scales1 = uint(blocks[base + 52u]);
    uint sc_hi0 = (scales1 >> (tile / 4u * 8u)) & 3u;  // scales: bits 4-5 of sc
    uint sc0 = sc_lo0 | (sc_hi0 << 4u);
    precise float d_sc0 = d * float(int(sc0) - 32);
    uint qs0 = blocks_u32(base + tile * 2u + 16u);
    uint hmask = blocks_u32(base + tile * 2u);
    uint codes0 = (qs0 & 0x3030303u) | ((hmask << 2u) & 0x4040404u);  // packed
    vec2 pair0 = unpackHalf2x16(codes0 & 0x70007u);
    vec2 pair1 = unpackHalf2x16((codes0 >> 8u) & 0x70007u);
    uint scales2 = uint(blocks[base + 49u]);
    uint sc_lo1 = (scales2 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint scales3 = uint(blocks[base + 53u]);
    uint sc_hi1 = (scales3 >> (tile / 4u * 8u)) & 3u;  // scales: bits 4-5 of sc
    uint sc1 = sc_lo1 | (sc_hi1 << 4u);
    precise float d_sc1 = d * float(int(sc1) - 32);
    uint codes1 = (qs0 & 0xC0C0C0Cu) | ((hmask << 3u) & 0x10101010u);  // packed
    vec2 pair2 = unpackHalf2x16(codes1 & 0x1C001Cu);
    vec2 pair3 = unpackHalf2x16((codes1 >> 8u) & 0x1C001Cu);
    uint scales4 = uint(blocks[base + 50u]);
    uint sc_lo2 = (scales4 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi2 = (scales1 >> (tile / 4u * 8u + 2u)) & 3u;  // scales: bits 4-5 of sc
    uint sc2 = sc_lo2 | (sc_hi2 << 4u);
    precise float d_sc2 = d * float(int(sc2) - 32);
    uint codes2 = (qs0 & 0x30303030u) | ((hmask << 4u) & 0x40404040u);  // packed
    vec2 pair4 = unpackHalf2x16(codes2 & 0x700070u);
    vec2 pair5 = unpackHalf2x16((codes2 >> 8u) & 0x700070u);
    uint scales5 = uint(blocks[base + 51u]);
    uint sc_lo3 = (scales5 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi3 = (scales3 >> (tile / 4u * 8u + 2u)) & 3u;  // scales: bits 4-5 of sc
    uint sc3 = sc_lo3 | (sc_hi3 << 4u);
    precise float d_sc3 = d * float(int(sc3) - 32);
    uint codes3 = ((qs0 >> 6u) & 0x3030303u) | ((hmask >> 1u) & 0x4040404u);  // packed
    vec2 pair6 = unpackHalf2x16(codes3 & 0x70007u);
    vec2 pair7 = unpackHalf2x16((codes3 >> 8u) & 0x70007u);
    uint sc_lo4 = (scales0 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi4 = (scales1 >> (tile / 4u * 8u + 4u)) & 3u;  // scales: bits 4-5 of sc
    uint sc4 = sc_lo4 | (sc_hi4 << 4u);
    precise float d_sc4 = d * float(int(sc4) - 32);
    uint qs1 = blocks_u32(base + tile * 2u + 32u);
    uint codes4 = (qs1 & 0x3030303u) | ((hmask >> 2u) & 0x4040404u);  // packed
    vec2 pair8 = unpackHalf2x16(codes4 & 0x70007u);
    vec2 pair9 = unpackHalf2x16((codes4 >> 8u) & 0x70007u);
    uint sc_lo5 = (scales2 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi5 = (scales3 >> (tile / 4u * 8u + 4u)) & 3u;  // scales: bits 4-5 of sc
    uint sc5 = sc_lo5 | (sc_hi5 << 4u);
    precise float d_sc5 = d * float(int(sc5) - 32);
    uint codes5 = (qs1 & 0xC0C0C0Cu) | ((hmask >> 1u) & 0x10101010u);  // packed
    vec2 pair10 = unpackHalf2x16(codes5 & 0x1C001Cu);
    vec2 pair11 = unpackHalf2x16((codes5 >> 8u) & 0x1C001Cu);
    uint sc_lo6 = (scales4 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi6 = (scales1 >> (tile / 4u * 8u + 6u)) & 3u;  // scales: bits 4-5 of sc
    uint sc6 = sc_lo6 | (sc_hi6 << 4u);
    precise float d_sc6 = d * float(int(sc6) - 32);
    uint codes6 = (qs1 & 0x30303030u) | (hmask & 0x40404040u);  // packed
    vec2 pair12 = unpackHalf2x16(codes6 & 0x700070u);
    vec2 pair13 = unpackHalf2x16((codes6 >> 8u) & 0x700070u);
    uint sc_lo7 = (scales5 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi7 = (scales3 >> (tile / 4u * 8u + 6u)) & 3u;  // scales: bits 4-5 of sc
    uint sc7 = sc_lo7 | (sc_hi7 << 4u);
    precise float d_sc7 = d * float(int(sc7) - 32);
    uint codes7 = ((qs1 >> 6u) & 0x3030303u) | ((hmask >> 5u) & 0x4040404u);  // packed
    vec2 pair14 = unpackHalf2x16(codes7 & 0x70007u);
    vec2 pair15 = unpackHalf2x16((codes7 >> 8u) & 0x70007u);
    sum += d_sc0 * (dot(x[k][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y)) - 4.0 * x_sum[k][0]) + d_sc1 * (dot(x[k][1], vec4(pair2.x, pair3.x, pair2.y, pair3.y)) - 4.0 * x_sum[k][1]) + d_sc2 * (dot(x[k][2], vec4(pair4.x, pair5.x, pair4.y, pair5.y)) - 4.0 * x_sum[k][2]) + d_sc3 * (dot(x[k][3], vec4(pair6.x, pair7.x, pair6.y, pair7.y)) - 4.0 * x_sum[k][3]) + d_sc4 * (dot(x[k][4], vec4(pair8.x, pair9.x, pair8.y, pair9.y)) - 4.0 * x_sum[k][4]) + d_sc5 * (dot(x[k][5], vec4(pair10.x, pair11.x, pair10.y, pair11.y)) - 4.0 * x_sum[k][5]) + d_sc6 * (dot(x[k][6], vec4(pair12.x, pair13.x, pair12.y, pair13.y)) - 4.0 * x_sum[k][6]) + d_sc7 * (dot(x[k][7], vec4(pair14.x, pair15.x, pair14.y, pair15.y)) - 4.0 * x_sum[k][7]);
}

// sum + dot(a, b), in as many operations as a has lanes.
float dot_add(float sum, vec4 a, vec4 b) {
    return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
}

// Runs of x on their way to the threads that keep them, from run `staged_from` on. There is a gap after each tile, for threads
// take the same run of tiles that are neighbours.
shared vec4 staged[STAGED == 1u ? 1u : STAGED + STAGED / 16u];
uint staged_from = 0u;

vec4 staged_x(uint at) {
    if (STAGED == 1u) return x_in[at];
    const uint place = at - staged_from;
    return staged[place + place / 16u];
}

// Loads what wide tile `j` of a row meets of right-hand side `vector`.
void load_wide_x(uint vector, uint j, uint k) {
    const uint tile = j % 8u;
    const uint place = j / 8u * 128u + tile;
    const uint from = min(vector, batch - 1u) * row_tiles * 8u + place;
    const vec4 x0 = staged_x(from);
    const vec4 x1 = staged_x(from + 8u);
    const vec4 x2 = staged_x(from + 16u);
    const vec4 x3 = staged_x(from + 24u);
    const vec4 x4 = staged_x(from + 32u);
    const vec4 x5 = staged_x(from + 40u);
    const vec4 x6 = staged_x(from + 48u);
    const vec4 x7 = staged_x(from + 56u);
    const vec4 x8 = staged_x(from + 64u);
    const vec4 x9 = staged_x(from + 72u);
    const vec4 x10 = staged_x(from + 80u);
    const vec4 x11 = staged_x(from + 88u);
    const vec4 x12 = staged_x(from + 96u);
    const vec4 x13 = staged_x(from + 104u);
    const vec4 x14 = staged_x(from + 112u);
    const vec4 x15 = staged_x(from + 120u);
    wide_x[k][0] = x0 * 16777216.0;
    wide_x[k][1] = x1 * 4194304.0;
    wide_x[k][2] = x2 * 1048576.0;
    wide_x[k][3] = x3 * 16777216.0;
    wide_x[k][4] = x4 * 16777216.0;
    wide_x[k][5] = x5 * 4194304.0;
    wide_x[k][6] = x6 * 1048576.0;
    wide_x[k][7] = x7 * 16777216.0;
    wide_x[k][8] = x8 * 16777216.0;
    wide_x[k][9] = x9 * 4194304.0;
    wide_x[k][10] = x10 * 1048576.0;
    wide_x[k][11] = x11 * 16777216.0;
    wide_x[k][12] = x12 * 16777216.0;
    wide_x[k][13] = x13 * 4194304.0;
    wide_x[k][14] = x14 * 1048576.0;
    wide_x[k][15] = x15 * 16777216.0;
    wide_x_sum[k][0] = dot(x0, vec4(1.0));
    wide_x_sum[k][1] = dot(x1, vec4(1.0));
    wide_x_sum[k][2] = dot(x2, vec4(1.0));
    wide_x_sum[k][3] = dot(x3, vec4(1.0));
    wide_x_sum[k][4] = dot(x4, vec4(1.0));
    wide_x_sum[k][5] = dot(x5, vec4(1.0));
    wide_x_sum[k][6] = dot(x6, vec4(1.0));
    wide_x_sum[k][7] = dot(x7, vec4(1.0));
    wide_x_sum[k][8] = dot(x8, vec4(1.0));
    wide_x_sum[k][9] = dot(x9, vec4(1.0));
    wide_x_sum[k][10] = dot(x10, vec4(1.0));
    wide_x_sum[k][11] = dot(x11, vec4(1.0));
    wide_x_sum[k][12] = dot(x12, vec4(1.0));
    wide_x_sum[k][13] = dot(x13, vec4(1.0));
    wide_x_sum[k][14] = dot(x14, vec4(1.0));
    wide_x_sum[k][15] = dot(x15, vec4(1.0));
}

// Loads wide tile `j` of row `n`.
void fetch_wide(uint n, uint j, out uint words[17]) {
    const uint block = n * (row_tiles / 16u) + j / 8u;
    const uint tile = j % 8u;
    uint base = block * 55u;
    words[0] = blocks_word[base + 27u];
    words[1] = blocks_word[base + 24u];
    words[2] = blocks_word[base + 26u];
    words[3] = blocks_word[base + tile + 8u];
    words[4] = blocks_word[base + tile];
    words[5] = blocks_word[base + 25u];
    words[6] = blocks_word[base + tile + 16u];
    words[7] = blocks_word[base + 54u];
    words[8] = blocks_word[base + 51u];
    words[9] = blocks_word[base + 53u];
    words[10] = blocks_word[base + tile + 35u];
    words[11] = blocks_word[base + tile + 36u];
    words[12] = blocks_word[base + tile + 27u];
    words[13] = blocks_word[base + tile + 28u];
    words[14] = blocks_word[base + 52u];
    words[15] = blocks_word[base + tile + 43u];
    words[16] = blocks_word[base + tile + 44u];
}

// Adds the products of wide tile `j` of row `n`, which was loaded.
void accumulate_wide(uint n, uint j, uint k, uint words[17], inout float sum) {
    const uint block = n * (row_tiles / 16u) + j / 8u;
    const uint tile = j % 8u;
    float d0 = f16_to_f32(words[0]);
    uint scales0 = words[1];
    uint sc_lo0 = (scales0 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint scales1 = words[2];
    uint sc_hi0 = (scales1 >> (tile / 4u * 8u)) & 3u;  // scales: bits 4-5 of sc
    uint sc0 = sc_lo0 | (sc_hi0 << 4u);
    precise float d_sc0 = d0 * float(int(sc0) - 32);
    uint qs0 = words[3];
    uint hmask0 = words[4];
    uint codes0 = (qs0 & 0x3030303u) | ((hmask0 << 2u) & 0x4040404u);  // packed
    vec2 pair0 = unpackHalf2x16(codes0 & 0x70007u);
    vec2 pair1 = unpackHalf2x16((codes0 >> 8u) & 0x70007u);
    uint sc_lo1 = (scales0 >> (tile / 4u * 8u + 16u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi1 = (scales1 >> (tile / 4u * 8u + 16u)) & 3u;  // scales: bits 4-5 of sc
    uint sc1 = sc_lo1 | (sc_hi1 << 4u);
    precise float d_sc1 = d0 * float(int(sc1) - 32);
    uint codes1 = (qs0 & 0xC0C0C0Cu) | ((hmask0 << 3u) & 0x10101010u);  // packed
    vec2 pair2 = unpackHalf2x16(codes1 & 0x1C001Cu);
    vec2 pair3 = unpackHalf2x16((codes1 >> 8u) & 0x1C001Cu);
    uint scales2 = words[5];
    uint sc_lo2 = (scales2 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi2 = (scales1 >> (tile / 4u * 8u + 2u)) & 3u;  // scales: bits 4-5 of sc
    uint sc2 = sc_lo2 | (sc_hi2 << 4u);
    precise float d_sc2 = d0 * float(int(sc2) - 32);
    uint codes2 = (qs0 & 0x30303030u) | ((hmask0 << 4u) & 0x40404040u);  // packed
    vec2 pair4 = unpackHalf2x16(codes2 & 0x700070u);
    vec2 pair5 = unpackHalf2x16((codes2 >> 8u) & 0x700070u);
    uint sc_lo3 = (scales2 >> (tile / 4u * 8u + 16u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi3 = (scales1 >> (tile / 4u * 8u + 18u)) & 3u;  // scales: bits 4-5 of sc
    uint sc3 = sc_lo3 | (sc_hi3 << 4u);
    precise float d_sc3 = d0 * float(int(sc3) - 32);
    uint codes3 = ((qs0 >> 6u) & 0x3030303u) | ((hmask0 >> 1u) & 0x4040404u);  // packed
    vec2 pair6 = unpackHalf2x16(codes3 & 0x70007u);
    vec2 pair7 = unpackHalf2x16((codes3 >> 8u) & 0x70007u);
    uint sc_lo4 = (scales0 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi4 = (scales1 >> (tile / 4u * 8u + 4u)) & 3u;  // scales: bits 4-5 of sc
    uint sc4 = sc_lo4 | (sc_hi4 << 4u);
    precise float d_sc4 = d0 * float(int(sc4) - 32);
    uint qs1 = words[6];
    uint codes4 = (qs1 & 0x3030303u) | ((hmask0 >> 2u) & 0x4040404u);  // packed
    vec2 pair8 = unpackHalf2x16(codes4 & 0x70007u);
    vec2 pair9 = unpackHalf2x16((codes4 >> 8u) & 0x70007u);
    uint sc_lo5 = (scales0 >> (tile / 4u * 8u + 20u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi5 = (scales1 >> (tile / 4u * 8u + 20u)) & 3u;  // scales: bits 4-5 of sc
    uint sc5 = sc_lo5 | (sc_hi5 << 4u);
    precise float d_sc5 = d0 * float(int(sc5) - 32);
    uint codes5 = (qs1 & 0xC0C0C0Cu) | ((hmask0 >> 1u) & 0x10101010u);  // packed
    vec2 pair10 = unpackHalf2x16(codes5 & 0x1C001Cu);
    vec2 pair11 = unpackHalf2x16((codes5 >> 8u) & 0x1C001Cu);
    uint sc_lo6 = (scales2 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi6 = (scales1 >> (tile / 4u * 8u + 6u)) & 3u;  // scales: bits 4-5 of sc
    uint sc6 = sc_lo6 | (sc_hi6 << 4u);
    precise float d_sc6 = d0 * float(int(sc6) - 32);
    uint codes6 = (qs1 & 0x30303030u) | (hmask0 & 0x40404040u);  // packed
    vec2 pair12 = unpackHalf2x16(codes6 & 0x700070u);
    vec2 pair13 = unpackHalf2x16((codes6 >> 8u) & 0x700070u);
    uint sc_lo7 = (scales2 >> (tile / 4u * 8u + 20u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi7 = (scales1 >> (tile / 4u * 8u + 22u)) & 3u;  // scales: bits 4-5 of sc
    uint sc7 = sc_lo7 | (sc_hi7 << 4u);
    precise float d_sc7 = d0 * float(int(sc7) - 32);
    uint codes7 = ((qs1 >> 6u) & 0x3030303u) | ((hmask0 >> 5u) & 0x4040404u);  // packed
    vec2 pair14 = unpackHalf2x16(codes7 & 0x70007u);
    vec2 pair15 = unpackHalf2x16((codes7 >> 8u) & 0x70007u);
    uint scales3 = words[7];
    float d1 = f16_to_f32(scales3 >> 16u);
    uint scales4 = words[8];
    uint sc_lo8 = (scales4 >> (tile / 4u * 8u + 16u)) & 15u;  // scales: bits 0-3 of sc
    uint scales5 = words[9];
    uint sc_hi8 = (scales5 >> (tile / 4u * 8u + 16u)) & 3u;  // scales: bits 4-5 of sc
    uint sc8 = sc_lo8 | (sc_hi8 << 4u);
    precise float d_sc8 = d1 * float(int(sc8) - 32);
    uint qs2 = words[10];
    uint qs3 = words[11];
    uint qs_run0 = (qs2 >> 16u) | (qs3 << 16u);
    uint hmask1 = words[12];
    uint hmask2 = words[13];
    uint hmask_run = (hmask1 >> 16u) | (hmask2 << 16u);
    uint codes8 = (qs_run0 & 0x3030303u) | ((hmask_run << 2u) & 0x4040404u);  // packed
    vec2 pair16 = unpackHalf2x16(codes8 & 0x70007u);
    vec2 pair17 = unpackHalf2x16((codes8 >> 8u) & 0x70007u);
    uint scales6 = words[14];
    uint sc_lo9 = (scales6 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi9 = (scales3 >> (tile / 4u * 8u)) & 3u;  // scales: bits 4-5 of sc
    uint sc9 = sc_lo9 | (sc_hi9 << 4u);
    precise float d_sc9 = d1 * float(int(sc9) - 32);
    uint codes9 = (qs_run0 & 0xC0C0C0Cu) | ((hmask_run << 3u) & 0x10101010u);  // packed
    vec2 pair18 = unpackHalf2x16(codes9 & 0x1C001Cu);
    vec2 pair19 = unpackHalf2x16((codes9 >> 8u) & 0x1C001Cu);
    uint sc_lo10 = (scales6 >> (tile / 4u * 8u + 16u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi10 = (scales5 >> (tile / 4u * 8u + 18u)) & 3u;  // scales: bits 4-5 of sc
    uint sc10 = sc_lo10 | (sc_hi10 << 4u);
    precise float d_sc10 = d1 * float(int(sc10) - 32);
    uint codes10 = (qs_run0 & 0x30303030u) | ((hmask_run << 4u) & 0x40404040u);  // packed
    vec2 pair20 = unpackHalf2x16(codes10 & 0x700070u);
    vec2 pair21 = unpackHalf2x16((codes10 >> 8u) & 0x700070u);
    uint sc_lo11 = (scales5 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi11 = (scales3 >> (tile / 4u * 8u + 2u)) & 3u;  // scales: bits 4-5 of sc
    uint sc11 = sc_lo11 | (sc_hi11 << 4u);
    precise float d_sc11 = d1 * float(int(sc11) - 32);
    uint codes11 = ((qs_run0 >> 6u) & 0x3030303u) | ((hmask_run >> 1u) & 0x4040404u);  // packed
    vec2 pair22 = unpackHalf2x16(codes11 & 0x70007u);
    vec2 pair23 = unpackHalf2x16((codes11 >> 8u) & 0x70007u);
    uint sc_lo12 = (scales4 >> (tile / 4u * 8u + 20u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi12 = (scales5 >> (tile / 4u * 8u + 20u)) & 3u;  // scales: bits 4-5 of sc
    uint sc12 = sc_lo12 | (sc_hi12 << 4u);
    precise float d_sc12 = d1 * float(int(sc12) - 32);
    uint qs4 = words[15];
    uint qs5 = words[16];
    uint qs_run1 = (qs4 >> 16u) | (qs5 << 16u);
    uint codes12 = (qs_run1 & 0x3030303u) | ((hmask_run >> 2u) & 0x4040404u);  // packed
    vec2 pair24 = unpackHalf2x16(codes12 & 0x70007u);
    vec2 pair25 = unpackHalf2x16((codes12 >> 8u) & 0x70007u);
    uint sc_lo13 = (scales6 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi13 = (scales3 >> (tile / 4u * 8u + 4u)) & 3u;  // scales: bits 4-5 of sc
    uint sc13 = sc_lo13 | (sc_hi13 << 4u);
    precise float d_sc13 = d1 * float(int(sc13) - 32);
    uint codes13 = (qs_run1 & 0xC0C0C0Cu) | ((hmask_run >> 1u) & 0x10101010u);  // packed
    vec2 pair26 = unpackHalf2x16(codes13 & 0x1C001Cu);
    vec2 pair27 = unpackHalf2x16((codes13 >> 8u) & 0x1C001Cu);
    uint sc_lo14 = (scales6 >> (tile / 4u * 8u + 20u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi14 = (scales5 >> (tile / 4u * 8u + 22u)) & 3u;  // scales: bits 4-5 of sc
    uint sc14 = sc_lo14 | (sc_hi14 << 4u);
    precise float d_sc14 = d1 * float(int(sc14) - 32);
    uint codes14 = (qs_run1 & 0x30303030u) | (hmask_run & 0x40404040u);  // packed
    vec2 pair28 = unpackHalf2x16(codes14 & 0x700070u);
    vec2 pair29 = unpackHalf2x16((codes14 >> 8u) & 0x700070u);
    uint sc_lo15 = (scales5 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi15 = (scales3 >> (tile / 4u * 8u + 6u)) & 3u;  // scales: bits 4-5 of sc
    uint sc15 = sc_lo15 | (sc_hi15 << 4u);
    precise float d_sc15 = d1 * float(int(sc15) - 32);
    uint codes15 = ((qs_run1 >> 6u) & 0x3030303u) | ((hmask_run >> 5u) & 0x4040404u);  // packed
    vec2 pair30 = unpackHalf2x16(codes15 & 0x70007u);
    vec2 pair31 = unpackHalf2x16((codes15 >> 8u) & 0x70007u);
    sum += d_sc0 * (dot(wide_x[k][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y)) - 4.0 * wide_x_sum[k][0]) + d_sc1 * (dot(wide_x[k][1], vec4(pair2.x, pair3.x, pair2.y, pair3.y)) - 4.0 * wide_x_sum[k][1]) + d_sc2 * (dot(wide_x[k][2], vec4(pair4.x, pair5.x, pair4.y, pair5.y)) - 4.0 * wide_x_sum[k][2]) + d_sc3 * (dot(wide_x[k][3], vec4(pair6.x, pair7.x, pair6.y, pair7.y)) - 4.0 * wide_x_sum[k][3]) + d_sc4 * (dot(wide_x[k][4], vec4(pair8.x, pair9.x, pair8.y, pair9.y)) - 4.0 * wide_x_sum[k][4]) + d_sc5 * (dot(wide_x[k][5], vec4(pair10.x, pair11.x, pair10.y, pair11.y)) - 4.0 * wide_x_sum[k][5]) + d_sc6 * (dot(wide_x[k][6], vec4(pair12.x, pair13.x, pair12.y, pair13.y)) - 4.0 * wide_x_sum[k][6]) + d_sc7 * (dot(wide_x[k][7], vec4(pair14.x, pair15.x, pair14.y, pair15.y)) - 4.0 * wide_x_sum[k][7]) + d_sc8 * (dot(wide_x[k][8], vec4(pair16.x, pair17.x, pair16.y, pair17.y)) - 4.0 * wide_x_sum[k][8]) + d_sc9 * (dot(wide_x[k][9], vec4(pair18.x, pair19.x, pair18.y, pair19.y)) - 4.0 * wide_x_sum[k][9]) + d_sc10 * (dot(wide_x[k][10], vec4(pair20.x, pair21.x, pair20.y, pair21.y)) - 4.0 * wide_x_sum[k][10]) + d_sc11 * (dot(wide_x[k][11], vec4(pair22.x, pair23.x, pair22.y, pair23.y)) - 4.0 * wide_x_sum[k][11]) + d_sc12 * (dot(wide_x[k][12], vec4(pair24.x, pair25.x, pair24.y, pair25.y)) - 4.0 * wide_x_sum[k][12]) + d_sc13 * (dot(wide_x[k][13], vec4(pair26.x, pair27.x, pair26.y, pair27.y)) - 4.0 * wide_x_sum[k][13]) + d_sc14 * (dot(wide_x[k][14], vec4(pair28.x, pair29.x, pair28.y, pair29.y)) - 4.0 * wide_x_sum[k][14]) + d_sc15 * (dot(wide_x[k][15], vec4(pair30.x, pair31.x, pair30.y, pair31.y)) - 4.0 * wide_x_sum[k][15]);
}

const uint X_WORDS = 40u, X_FOURS = (X_WORDS + 3u) / 4u, FIT = SHARED_FOURS / (X_FOURS * BATCH);
const uint SLICE = FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles; 0: there is no room for one
shared uvec4 shared_x[BATCH == 1u || SLICE == 0u ? 1u : BATCH * X_FOURS * SLICE];

// Puts what is kept of right-hand side `m` and tile `t` of the slice there.
void share_x(uint m, uint t) {
    uint words[4u * X_FOURS];
    [[unroll]] for (uint i = 0u; i < 32u; ++i) words[i] = floatBitsToUint(x[0][i / 4u][i % 4u]);
    [[unroll]] for (uint i = 0u; i < 8u; ++i) words[32u + i] = floatBitsToUint(x_sum[0][i]);
    [[unroll]] for (uint i = 0u; i < X_FOURS; ++i) shared_x[(m * X_FOURS + i) * SLICE + t] = uvec4(words[4u * i], words[4u * i + 1u], words[4u * i + 2u], words[4u * i + 3u]);
}

// Takes it from there.
void take_x(uint m, uint t) {
    uint words[4u * X_FOURS];
    [[unroll]] for (uint i = 0u; i < X_FOURS; ++i) {
        const uvec4 four = shared_x[(m * X_FOURS + i) * SLICE + t];
        [[unroll]] for (uint l = 0u; l < 4u; ++l) words[4u * i + l] = four[l];
    }
    [[unroll]] for (uint i = 0u; i < 32u; ++i) x[0][i / 4u][i % 4u] = uintBitsToFloat(words[i]);
    [[unroll]] for (uint i = 0u; i < 8u; ++i) x_sum[0][i] = uintBitsToFloat(words[32u + i]);
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
void stage_wide_x(uint vector, uint begin, uint end, uint own) {
    const uint runs = vector * row_tiles * 8u, runs_end = runs + (end + 7u) / 8u * 128u;
    for (staged_from = runs + begin / 8u * 128u; staged_from < runs_end; staged_from += STAGED) {
        const uint count = min(STAGED, runs_end - staged_from);
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < count; i += gl_WorkGroupSize.x) staged[i + i / 16u] = x_in[staged_from + i];
        barrier();
        [[unroll]] for (uint k = 0; k < WIDE_TILES; ++k) {
            const uint j = own + k * gl_SubgroupSize;
            if (j < end && runs + j / 8u * 128u - staged_from < STAGED) load_wide_x(vector, j, k);
        }
    }
}

// One right-hand side: subgroups share a row, each with the slice of x that it holds, and walk down the rows.
void walk_wide() {
    const uint wide_tiles = row_tiles / 2u, lane = gl_SubgroupInvocationID;
    const uint slice = gl_SubgroupSize * WIDE_TILES, slices = (wide_tiles + slice - 1u) / slice;
    const uint split = SPLIT, teams = gl_NumSubgroups / split, team = gl_SubgroupID / split, end = rows;
    uint held = ~0u, turn = 0u;
    for (uint first = gl_WorkGroupID.x * teams * ROWS; first < rows; first += gl_NumWorkGroups.x * teams * ROWS) {
        const uint row = first + team * ROWS;
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
        for (uint c0 = 0u; c0 < slices; c0 += split) {
            const uint c = c0 + gl_SubgroupID % split;
            const bool kept = c0 == held;
            if (STAGED > 1u && !kept) stage_wide_x(0u, c0 * slice, min((c0 + split) * slice, wide_tiles), c * slice + lane);
            [[unroll]] for (uint k = 0; k < WIDE_TILES; ++k) {
                const uint j = c * slice + k * gl_SubgroupSize + lane;
                if (j >= wide_tiles) continue;
                if (STAGED == 1u && !kept) load_wide_x(0u, j, k);
                uint words[ROWS][17];
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch_wide(min(row + r, end - 1u), j, words[r]);
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate_wide(min(row + r, end - 1u), j, k, words[r], sum[r]);
            }
            held = c0;
        }
        const float all = sum_of_lanes(sum, gl_SubgroupSize);
        if (split == 1u) {
            if (lane < ROWS && row + lane < rows) y[y_first + row + lane] = all;
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
        y[y_first + first + i] = total;
    }
}

// One right-hand side, of which a subgroup keeps a slice, a tile in each lane. Rows of that slice are loaded side by side, 16 bytes a
// thread, while those before them, which lie in memory that the subgroup has for itself, are multiplied.
const uint SLICE_WORDS = LANES / 8u * 55u;
const uint SLICE_FOURS = (SLICE_WORDS + 3u) / 4u + (SLICE_WORDS % 4u == 0u ? 0u : 1u);
const uint LOADS = (ROWS * SLICE_FOURS + LANES - 1u) / LANES;  // of a thread
shared uint held[AHEAD == 1u ? gl_WorkGroupSize.x * LOADS * 4u : 1u];

// Takes tile `j` of a slice, which lies from word `at` on.
void take_held(uint at, uint j, out uint words[17]) {
    const uint block = j / 8u;
    const uint tile = j % 8u;
    uint base = block * 55u;
    words[0] = held[at + base + 27u];
    words[1] = held[at + base + 24u];
    words[2] = held[at + base + 26u];
    words[3] = held[at + base + tile + 8u];
    words[4] = held[at + base + tile];
    words[5] = held[at + base + 25u];
    words[6] = held[at + base + tile + 16u];
    words[7] = held[at + base + 54u];
    words[8] = held[at + base + 51u];
    words[9] = held[at + base + 53u];
    words[10] = held[at + base + tile + 35u];
    words[11] = held[at + base + tile + 36u];
    words[12] = held[at + base + tile + 27u];
    words[13] = held[at + base + tile + 28u];
    words[14] = held[at + base + 52u];
    words[15] = held[at + base + tile + 43u];
    words[16] = held[at + base + tile + 44u];
}

// Adds its products with what is kept of x.
void add_held(uint j, uint k, uint words[17], inout float sum) {
    const uint block = j / 8u;
    const uint tile = j % 8u;
    float d0 = f16_to_f32(words[0]);
    uint scales0 = words[1];
    uint sc_lo0 = (scales0 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint scales1 = words[2];
    uint sc_hi0 = (scales1 >> (tile / 4u * 8u)) & 3u;  // scales: bits 4-5 of sc
    uint sc0 = sc_lo0 | (sc_hi0 << 4u);
    precise float d_sc0 = d0 * float(int(sc0) - 32);
    uint qs0 = words[3];
    uint hmask0 = words[4];
    uint codes0 = (qs0 & 0x3030303u) | ((hmask0 << 2u) & 0x4040404u);  // packed
    vec2 pair0 = unpackHalf2x16(codes0 & 0x70007u);
    vec2 pair1 = unpackHalf2x16((codes0 >> 8u) & 0x70007u);
    uint sc_lo1 = (scales0 >> (tile / 4u * 8u + 16u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi1 = (scales1 >> (tile / 4u * 8u + 16u)) & 3u;  // scales: bits 4-5 of sc
    uint sc1 = sc_lo1 | (sc_hi1 << 4u);
    precise float d_sc1 = d0 * float(int(sc1) - 32);
    uint codes1 = (qs0 & 0xC0C0C0Cu) | ((hmask0 << 3u) & 0x10101010u);  // packed
    vec2 pair2 = unpackHalf2x16(codes1 & 0x1C001Cu);
    vec2 pair3 = unpackHalf2x16((codes1 >> 8u) & 0x1C001Cu);
    uint scales2 = words[5];
    uint sc_lo2 = (scales2 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi2 = (scales1 >> (tile / 4u * 8u + 2u)) & 3u;  // scales: bits 4-5 of sc
    uint sc2 = sc_lo2 | (sc_hi2 << 4u);
    precise float d_sc2 = d0 * float(int(sc2) - 32);
    uint codes2 = (qs0 & 0x30303030u) | ((hmask0 << 4u) & 0x40404040u);  // packed
    vec2 pair4 = unpackHalf2x16(codes2 & 0x700070u);
    vec2 pair5 = unpackHalf2x16((codes2 >> 8u) & 0x700070u);
    uint sc_lo3 = (scales2 >> (tile / 4u * 8u + 16u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi3 = (scales1 >> (tile / 4u * 8u + 18u)) & 3u;  // scales: bits 4-5 of sc
    uint sc3 = sc_lo3 | (sc_hi3 << 4u);
    precise float d_sc3 = d0 * float(int(sc3) - 32);
    uint codes3 = ((qs0 >> 6u) & 0x3030303u) | ((hmask0 >> 1u) & 0x4040404u);  // packed
    vec2 pair6 = unpackHalf2x16(codes3 & 0x70007u);
    vec2 pair7 = unpackHalf2x16((codes3 >> 8u) & 0x70007u);
    uint sc_lo4 = (scales0 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi4 = (scales1 >> (tile / 4u * 8u + 4u)) & 3u;  // scales: bits 4-5 of sc
    uint sc4 = sc_lo4 | (sc_hi4 << 4u);
    precise float d_sc4 = d0 * float(int(sc4) - 32);
    uint qs1 = words[6];
    uint codes4 = (qs1 & 0x3030303u) | ((hmask0 >> 2u) & 0x4040404u);  // packed
    vec2 pair8 = unpackHalf2x16(codes4 & 0x70007u);
    vec2 pair9 = unpackHalf2x16((codes4 >> 8u) & 0x70007u);
    uint sc_lo5 = (scales0 >> (tile / 4u * 8u + 20u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi5 = (scales1 >> (tile / 4u * 8u + 20u)) & 3u;  // scales: bits 4-5 of sc
    uint sc5 = sc_lo5 | (sc_hi5 << 4u);
    precise float d_sc5 = d0 * float(int(sc5) - 32);
    uint codes5 = (qs1 & 0xC0C0C0Cu) | ((hmask0 >> 1u) & 0x10101010u);  // packed
    vec2 pair10 = unpackHalf2x16(codes5 & 0x1C001Cu);
    vec2 pair11 = unpackHalf2x16((codes5 >> 8u) & 0x1C001Cu);
    uint sc_lo6 = (scales2 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi6 = (scales1 >> (tile / 4u * 8u + 6u)) & 3u;  // scales: bits 4-5 of sc
    uint sc6 = sc_lo6 | (sc_hi6 << 4u);
    precise float d_sc6 = d0 * float(int(sc6) - 32);
    uint codes6 = (qs1 & 0x30303030u) | (hmask0 & 0x40404040u);  // packed
    vec2 pair12 = unpackHalf2x16(codes6 & 0x700070u);
    vec2 pair13 = unpackHalf2x16((codes6 >> 8u) & 0x700070u);
    uint sc_lo7 = (scales2 >> (tile / 4u * 8u + 20u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi7 = (scales1 >> (tile / 4u * 8u + 22u)) & 3u;  // scales: bits 4-5 of sc
    uint sc7 = sc_lo7 | (sc_hi7 << 4u);
    precise float d_sc7 = d0 * float(int(sc7) - 32);
    uint codes7 = ((qs1 >> 6u) & 0x3030303u) | ((hmask0 >> 5u) & 0x4040404u);  // packed
    vec2 pair14 = unpackHalf2x16(codes7 & 0x70007u);
    vec2 pair15 = unpackHalf2x16((codes7 >> 8u) & 0x70007u);
    uint scales3 = words[7];
    float d1 = f16_to_f32(scales3 >> 16u);
    uint scales4 = words[8];
    uint sc_lo8 = (scales4 >> (tile / 4u * 8u + 16u)) & 15u;  // scales: bits 0-3 of sc
    uint scales5 = words[9];
    uint sc_hi8 = (scales5 >> (tile / 4u * 8u + 16u)) & 3u;  // scales: bits 4-5 of sc
    uint sc8 = sc_lo8 | (sc_hi8 << 4u);
    precise float d_sc8 = d1 * float(int(sc8) - 32);
    uint qs2 = words[10];
    uint qs3 = words[11];
    uint qs_run0 = (qs2 >> 16u) | (qs3 << 16u);
    uint hmask1 = words[12];
    uint hmask2 = words[13];
    uint hmask_run = (hmask1 >> 16u) | (hmask2 << 16u);
    uint codes8 = (qs_run0 & 0x3030303u) | ((hmask_run << 2u) & 0x4040404u);  // packed
    vec2 pair16 = unpackHalf2x16(codes8 & 0x70007u);
    vec2 pair17 = unpackHalf2x16((codes8 >> 8u) & 0x70007u);
    uint scales6 = words[14];
    uint sc_lo9 = (scales6 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi9 = (scales3 >> (tile / 4u * 8u)) & 3u;  // scales: bits 4-5 of sc
    uint sc9 = sc_lo9 | (sc_hi9 << 4u);
    precise float d_sc9 = d1 * float(int(sc9) - 32);
    uint codes9 = (qs_run0 & 0xC0C0C0Cu) | ((hmask_run << 3u) & 0x10101010u);  // packed
    vec2 pair18 = unpackHalf2x16(codes9 & 0x1C001Cu);
    vec2 pair19 = unpackHalf2x16((codes9 >> 8u) & 0x1C001Cu);
    uint sc_lo10 = (scales6 >> (tile / 4u * 8u + 16u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi10 = (scales5 >> (tile / 4u * 8u + 18u)) & 3u;  // scales: bits 4-5 of sc
    uint sc10 = sc_lo10 | (sc_hi10 << 4u);
    precise float d_sc10 = d1 * float(int(sc10) - 32);
    uint codes10 = (qs_run0 & 0x30303030u) | ((hmask_run << 4u) & 0x40404040u);  // packed
    vec2 pair20 = unpackHalf2x16(codes10 & 0x700070u);
    vec2 pair21 = unpackHalf2x16((codes10 >> 8u) & 0x700070u);
    uint sc_lo11 = (scales5 >> (tile / 4u * 8u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi11 = (scales3 >> (tile / 4u * 8u + 2u)) & 3u;  // scales: bits 4-5 of sc
    uint sc11 = sc_lo11 | (sc_hi11 << 4u);
    precise float d_sc11 = d1 * float(int(sc11) - 32);
    uint codes11 = ((qs_run0 >> 6u) & 0x3030303u) | ((hmask_run >> 1u) & 0x4040404u);  // packed
    vec2 pair22 = unpackHalf2x16(codes11 & 0x70007u);
    vec2 pair23 = unpackHalf2x16((codes11 >> 8u) & 0x70007u);
    uint sc_lo12 = (scales4 >> (tile / 4u * 8u + 20u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi12 = (scales5 >> (tile / 4u * 8u + 20u)) & 3u;  // scales: bits 4-5 of sc
    uint sc12 = sc_lo12 | (sc_hi12 << 4u);
    precise float d_sc12 = d1 * float(int(sc12) - 32);
    uint qs4 = words[15];
    uint qs5 = words[16];
    uint qs_run1 = (qs4 >> 16u) | (qs5 << 16u);
    uint codes12 = (qs_run1 & 0x3030303u) | ((hmask_run >> 2u) & 0x4040404u);  // packed
    vec2 pair24 = unpackHalf2x16(codes12 & 0x70007u);
    vec2 pair25 = unpackHalf2x16((codes12 >> 8u) & 0x70007u);
    uint sc_lo13 = (scales6 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi13 = (scales3 >> (tile / 4u * 8u + 4u)) & 3u;  // scales: bits 4-5 of sc
    uint sc13 = sc_lo13 | (sc_hi13 << 4u);
    precise float d_sc13 = d1 * float(int(sc13) - 32);
    uint codes13 = (qs_run1 & 0xC0C0C0Cu) | ((hmask_run >> 1u) & 0x10101010u);  // packed
    vec2 pair26 = unpackHalf2x16(codes13 & 0x1C001Cu);
    vec2 pair27 = unpackHalf2x16((codes13 >> 8u) & 0x1C001Cu);
    uint sc_lo14 = (scales6 >> (tile / 4u * 8u + 20u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi14 = (scales5 >> (tile / 4u * 8u + 22u)) & 3u;  // scales: bits 4-5 of sc
    uint sc14 = sc_lo14 | (sc_hi14 << 4u);
    precise float d_sc14 = d1 * float(int(sc14) - 32);
    uint codes14 = (qs_run1 & 0x30303030u) | (hmask_run & 0x40404040u);  // packed
    vec2 pair28 = unpackHalf2x16(codes14 & 0x700070u);
    vec2 pair29 = unpackHalf2x16((codes14 >> 8u) & 0x700070u);
    uint sc_lo15 = (scales5 >> (tile / 4u * 8u + 4u)) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi15 = (scales3 >> (tile / 4u * 8u + 6u)) & 3u;  // scales: bits 4-5 of sc
    uint sc15 = sc_lo15 | (sc_hi15 << 4u);
    precise float d_sc15 = d1 * float(int(sc15) - 32);
    uint codes15 = ((qs_run1 >> 6u) & 0x3030303u) | ((hmask_run >> 5u) & 0x4040404u);  // packed
    vec2 pair30 = unpackHalf2x16(codes15 & 0x70007u);
    vec2 pair31 = unpackHalf2x16((codes15 >> 8u) & 0x70007u);
    sum += d_sc0 * (dot(wide_x[k][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y)) - 4.0 * wide_x_sum[k][0]) + d_sc1 * (dot(wide_x[k][1], vec4(pair2.x, pair3.x, pair2.y, pair3.y)) - 4.0 * wide_x_sum[k][1]) + d_sc2 * (dot(wide_x[k][2], vec4(pair4.x, pair5.x, pair4.y, pair5.y)) - 4.0 * wide_x_sum[k][2]) + d_sc3 * (dot(wide_x[k][3], vec4(pair6.x, pair7.x, pair6.y, pair7.y)) - 4.0 * wide_x_sum[k][3]) + d_sc4 * (dot(wide_x[k][4], vec4(pair8.x, pair9.x, pair8.y, pair9.y)) - 4.0 * wide_x_sum[k][4]) + d_sc5 * (dot(wide_x[k][5], vec4(pair10.x, pair11.x, pair10.y, pair11.y)) - 4.0 * wide_x_sum[k][5]) + d_sc6 * (dot(wide_x[k][6], vec4(pair12.x, pair13.x, pair12.y, pair13.y)) - 4.0 * wide_x_sum[k][6]) + d_sc7 * (dot(wide_x[k][7], vec4(pair14.x, pair15.x, pair14.y, pair15.y)) - 4.0 * wide_x_sum[k][7]) + d_sc8 * (dot(wide_x[k][8], vec4(pair16.x, pair17.x, pair16.y, pair17.y)) - 4.0 * wide_x_sum[k][8]) + d_sc9 * (dot(wide_x[k][9], vec4(pair18.x, pair19.x, pair18.y, pair19.y)) - 4.0 * wide_x_sum[k][9]) + d_sc10 * (dot(wide_x[k][10], vec4(pair20.x, pair21.x, pair20.y, pair21.y)) - 4.0 * wide_x_sum[k][10]) + d_sc11 * (dot(wide_x[k][11], vec4(pair22.x, pair23.x, pair22.y, pair23.y)) - 4.0 * wide_x_sum[k][11]) + d_sc12 * (dot(wide_x[k][12], vec4(pair24.x, pair25.x, pair24.y, pair25.y)) - 4.0 * wide_x_sum[k][12]) + d_sc13 * (dot(wide_x[k][13], vec4(pair26.x, pair27.x, pair26.y, pair27.y)) - 4.0 * wide_x_sum[k][13]) + d_sc14 * (dot(wide_x[k][14], vec4(pair28.x, pair29.x, pair28.y, pair29.y)) - 4.0 * wide_x_sum[k][14]) + d_sc15 * (dot(wide_x[k][15], vec4(pair30.x, pair31.x, pair30.y, pair31.y)) - 4.0 * wide_x_sum[k][15]);
}

void load_ahead(uint from, uint place[LOADS], out uvec4 ahead[LOADS]) {
    [[unroll]] for (uint i = 0u; i < LOADS; ++i) ahead[i] = blocks_four[from + place[i]];
}

void walk_ahead() {
    const uint lane = gl_SubgroupInvocationID, slice = gl_SubgroupID % SPLIT, j = slice * LANES + lane;
    const uint teams = gl_WorkGroupSize.x / LANES / SPLIT, team = gl_SubgroupID / SPLIT;
    const uint tiles = row_tiles / 2u, row_fours = tiles / 8u * 55u / 4u;
    const uint own = gl_SubgroupID * LOADS * LANES, phase = slice * SLICE_WORDS % 4u;
    const uint step = gl_NumWorkGroups.x * teams * ROWS, last = max(rows, ROWS) - ROWS;
    uint place[LOADS];  // of loads, from a row on
    [[unroll]] for (uint i = 0u; i < LOADS; ++i) {
        const uint load = i * LANES + lane, r = load / SLICE_FOURS, four = slice * SLICE_WORDS / 4u + load % SLICE_FOURS;
        place[i] = r < ROWS && four < row_fours ? min(r, rows - 1u) * row_fours + four : 0u;
    }
    uvec4 ahead[LOADS];
    uint first = gl_WorkGroupID.x * teams * ROWS, turn = 0u;
    load_ahead(min(first + team * ROWS, last) * row_fours, place, ahead);
    load_wide_x(0u, min(j, tiles - 1u), 0u);
    [[dont_unroll]] for (; first < rows; first += step) {
        subgroupBarrier();
        [[unroll]] for (uint i = 0u; i < LOADS; ++i) {
            const uint at = (own + i * LANES + lane) * 4u;
            held[at] = ahead[i].x;
            held[at + 1u] = ahead[i].y;
            held[at + 2u] = ahead[i].z;
            held[at + 3u] = ahead[i].w;
        }
        subgroupBarrier();
        const uint next = first + step, row = first + team * ROWS;
        if (next < rows) load_ahead(min(next + team * ROWS, last) * row_fours, place, ahead);
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            uint words[17];
            take_held((own + r * SLICE_FOURS) * 4u + phase, lane, words);
            sum[r] = 0.0;
            add_held(lane, 0u, words, sum[r]);
            if (j >= tiles) sum[r] = 0.0;
        }
        const float all = sum_of_lanes(sum, LANES);
        const uint to = min(row, last) + lane;
        if (SPLIT == 1u) {
            if (lane < ROWS && to >= row && to < rows) y[y_first + to] = all;
            continue;
        }
        // Halves of the memory in turn: who is a row ahead does not write where others still read.
        const uint place_of_sums = turn++ % 2u * gl_NumSubgroups * ROWS;
        if (lane < ROWS) partial[place_of_sums + gl_SubgroupID * ROWS + lane] = all;
        barrier();
        if (slice == 0u && lane < ROWS && to >= row && to < rows) {
            float total = 0.0;
            [[unroll]] for (uint s = 0u; s < SPLIT; ++s) total += partial[place_of_sums + (gl_SubgroupID + s) * ROWS + lane];
            y[y_first + to] = total;
        }
    }
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
    if (AHEAD == 1u && BATCH == 1u && gl_SubgroupSize == LANES && gl_WorkGroupSize.x >= LANES * SPLIT) {
        walk_ahead();
        return;
    }
    if (LOAD_WORDS == 4u && BATCH == 1u && gl_SubgroupSize >= ROWS && gl_NumSubgroups >= SPLIT && row_tiles % 16u == 0u) {
        walk_wide();
        return;
    }
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
