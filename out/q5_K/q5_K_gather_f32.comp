// q5_K_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32.
// Generated from the specification below by `qkgen emit --format q5_K`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 176 bytes for 256 elements, 5.5 bits each.
// For each weight 0.688 bytes read and 4 written, 12.5 operations: 0.281 loads, 7.84 bits, 0.312 integer, 2.5 float, 1.56 conversions.
//
//     format q5_K "5-bit codes, 6-bit scales and minimums in groups of 32"
//     from "ggml (llama.cpp), ggml-common.h"
//
//     block 256 {
//         d:      f16
//         dmin:   f16
//         scales: u8[12]
//         qh:     u8[32]
//         qs:     u8[128]
//     }
//
//     # Groups 0 to 3 have their six bits in one byte; groups 4 to 7 borrow the two high bits of those bytes.
//     code sc per 32 = scales { 4 @ 0 (4:8, 2:64)   2 @ 4 (4:8, 2:2) }
//     code mn per 32 = scales { 4 @ 32 (4:8, 2:36)  2 @ 36 (4:8, 2:2) }
//
//     code q = qs { 4 @ 0 (32:8, 2:4, 4:256) }    # as 4-bit codes
//              qh { 1 @ 0 (32:8, 8:1) }           # bit g of byte j: the fifth bit of element 32 g + j
//
//     value = d * sc * q - dmin * mn
#version 450

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer BlocksBuffer { uint blocks[]; };
layout(binding = 1, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 2, std430) writeonly buffer Dst { vec4 dst[]; };
layout(binding = 3, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;       // that an index may name
    uint row_first;  // rows of the table that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of 32 elements in a row
    uint tokens;
    // 0 where values, indices and rows each lie one after the other. Else tokens come in batches of so many, which count in two dimensions.
    uint batch_tokens;
    uint batches;                                // of the inner dimension
    uint value_step, value_batch, value_outer;   // tiles from the values of a token, an inner and an outer batch to the next
    uint index_words;                            // of an index: 1; 2, of 64 bits; 0: there are none, tokens are rows in order
    uint index_step, index_batch, index_outer;   // words
    uint index_batches, index_outers;            // batches that have indices of their own; further ones have the same again
    uint row_step, row_batch, row_outer;         // rows of the table
};

const uint NO_ROW = ~0u;

// Where the values of a token begin, in tiles.
uint values_of(uint token) {
    if (batch_tokens == 0u) return token * row_tiles;
    const uint batch = token / batch_tokens;
    return token % batch_tokens * value_step + batch % batches * value_batch + batch / batches * value_outer;
}

// The row of the table that a token is of, or NO_ROW.
uint row_of(uint token) {
    if (batch_tokens == 0u) {
        const uint row = indices[token];
        return row < rows ? row : NO_ROW;
    }
    const uint batch = token / batch_tokens, inner = batch % batches, outer = batch / batches;
    uint index = token % batch_tokens;
    if (index_words != 0u) {
        const uint at = index * index_step + inner % index_batches * index_batch + outer % index_outers * index_outer;
        if (index_words == 2u && indices[at + 1u] != 0u) return NO_ROW;
        index = indices[at];
    }
    return index < rows ? index * row_step + inner * row_batch + outer * row_outer : NO_ROW;
}

// The half in the low 16 bits.
float f16_to_f32(uint bits) {
    return unpackHalf2x16(bits).x;
}

// The 32 values of a tile of a block, in runs of 4 consecutive elements.
void decode(uint block, uint tile, out precise vec4 v[8]) {
    // elements 0 to 3, counted from the tile's first
    uint base = block * 44u;
    uint d_dmin = blocks[base];
    float d = f16_to_f32(d_dmin);
    uint scales0 = blocks[base + 1u];
    uint sc0 = scales0 & 0x3Fu;
    precise float d_sc0 = d * float(sc0);
    uint qs0 = blocks[base + tile + 12u];
    uvec4 q_lo0 = (uvec4(qs0) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: bits 0-3 of q
    uint qh = blocks[base + tile + 4u];
    uvec4 q_hi0 = (uvec4(qh) >> uvec4(0, 8, 16, 24)) & 1u;  // qh: bit 4 of q
    uvec4 q0 = q_lo0 | (q_hi0 << 4u);
    float dmin = f16_to_f32(d_dmin >> 16u);
    uint scales1 = blocks[base + 2u];
    uint mn0 = scales1 & 0x3Fu;
    precise float dmin_mn0 = dmin * float(mn0);
    v[0] = d_sc0 * vec4(q0) - dmin_mn0;

    // elements 32 to 35, counted from the tile's first
    uint sc1 = (scales0 >> 8u) & 0x3Fu;
    precise float d_sc1 = d * float(sc1);
    uvec4 q_lo1 = (uvec4(qs0) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: bits 0-3 of q
    uvec4 q_hi1 = (uvec4(qh) >> uvec4(1, 9, 17, 25)) & 1u;  // qh: bit 4 of q
    uvec4 q1 = q_lo1 | (q_hi1 << 4u);
    uint mn1 = (scales1 >> 8u) & 0x3Fu;
    precise float dmin_mn1 = dmin * float(mn1);
    v[1] = d_sc1 * vec4(q1) - dmin_mn1;

    // elements 64 to 67, counted from the tile's first
    uint sc2 = (scales0 >> 16u) & 0x3Fu;
    precise float d_sc2 = d * float(sc2);
    uint qs1 = blocks[base + tile + 20u];
    uvec4 q_lo2 = (uvec4(qs1) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: bits 0-3 of q
    uvec4 q_hi2 = (uvec4(qh) >> uvec4(2, 10, 18, 26)) & 1u;  // qh: bit 4 of q
    uvec4 q2 = q_lo2 | (q_hi2 << 4u);
    uint mn2 = (scales1 >> 16u) & 0x3Fu;
    precise float dmin_mn2 = dmin * float(mn2);
    v[2] = d_sc2 * vec4(q2) - dmin_mn2;

    // elements 96 to 99, counted from the tile's first
    uint sc3 = (scales0 >> 24u) & 0x3Fu;
    precise float d_sc3 = d * float(sc3);
    uvec4 q_lo3 = (uvec4(qs1) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: bits 0-3 of q
    uvec4 q_hi3 = (uvec4(qh) >> uvec4(3, 11, 19, 27)) & 1u;  // qh: bit 4 of q
    uvec4 q3 = q_lo3 | (q_hi3 << 4u);
    uint mn3 = (scales1 >> 24u) & 0x3Fu;
    precise float dmin_mn3 = dmin * float(mn3);
    v[3] = d_sc3 * vec4(q3) - dmin_mn3;

    // elements 128 to 131, counted from the tile's first
    uint scales2 = blocks[base + 3u];
    uint sc_lo0 = scales2 & 15u;  // scales: bits 0-3 of sc
    uint sc_hi0 = (scales0 >> 6u) & 3u;  // scales: bits 4-5 of sc
    uint sc4 = sc_lo0 | (sc_hi0 << 4u);
    precise float d_sc4 = d * float(sc4);
    uint qs2 = blocks[base + tile + 28u];
    uvec4 q_lo4 = (uvec4(qs2) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: bits 0-3 of q
    uvec4 q_hi4 = (uvec4(qh) >> uvec4(4, 12, 20, 28)) & 1u;  // qh: bit 4 of q
    uvec4 q4 = q_lo4 | (q_hi4 << 4u);
    uint mn_lo0 = (scales2 >> 4u) & 15u;  // scales: bits 0-3 of mn
    uint mn_hi0 = (scales1 >> 6u) & 3u;  // scales: bits 4-5 of mn
    uint mn4 = mn_lo0 | (mn_hi0 << 4u);
    precise float dmin_mn4 = dmin * float(mn4);
    v[4] = d_sc4 * vec4(q4) - dmin_mn4;

    // elements 160 to 163, counted from the tile's first
    uint sc_lo1 = (scales2 >> 8u) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi1 = (scales0 >> 14u) & 3u;  // scales: bits 4-5 of sc
    uint sc5 = sc_lo1 | (sc_hi1 << 4u);
    precise float d_sc5 = d * float(sc5);
    uvec4 q_lo5 = (uvec4(qs2) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: bits 0-3 of q
    uvec4 q_hi5 = (uvec4(qh) >> uvec4(5, 13, 21, 29)) & 1u;  // qh: bit 4 of q
    uvec4 q5 = q_lo5 | (q_hi5 << 4u);
    uint mn_lo1 = (scales2 >> 12u) & 15u;  // scales: bits 0-3 of mn
    uint mn_hi1 = (scales1 >> 14u) & 3u;  // scales: bits 4-5 of mn
    uint mn5 = mn_lo1 | (mn_hi1 << 4u);
    precise float dmin_mn5 = dmin * float(mn5);
    v[5] = d_sc5 * vec4(q5) - dmin_mn5;

    // elements 192 to 195, counted from the tile's first
    uint sc_lo2 = (scales2 >> 16u) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi2 = (scales0 >> 22u) & 3u;  // scales: bits 4-5 of sc
    uint sc6 = sc_lo2 | (sc_hi2 << 4u);
    precise float d_sc6 = d * float(sc6);
    uint qs3 = blocks[base + tile + 36u];
    uvec4 q_lo6 = (uvec4(qs3) >> uvec4(0, 8, 16, 24)) & 15u;  // qs: bits 0-3 of q
    uvec4 q_hi6 = (uvec4(qh) >> uvec4(6, 14, 22, 30)) & 1u;  // qh: bit 4 of q
    uvec4 q6 = q_lo6 | (q_hi6 << 4u);
    uint mn_lo2 = (scales2 >> 20u) & 15u;  // scales: bits 0-3 of mn
    uint mn_hi2 = (scales1 >> 22u) & 3u;  // scales: bits 4-5 of mn
    uint mn6 = mn_lo2 | (mn_hi2 << 4u);
    precise float dmin_mn6 = dmin * float(mn6);
    v[6] = d_sc6 * vec4(q6) - dmin_mn6;

    // elements 224 to 227, counted from the tile's first
    uint sc_lo3 = (scales2 >> 24u) & 15u;  // scales: bits 0-3 of sc
    uint sc_hi3 = scales0 >> 30u;  // scales: bits 4-5 of sc
    uint sc7 = sc_lo3 | (sc_hi3 << 4u);
    precise float d_sc7 = d * float(sc7);
    uvec4 q_lo7 = (uvec4(qs3) >> uvec4(4, 12, 20, 28)) & 15u;  // qs: bits 0-3 of q
    uvec4 q_hi7 = (uvec4(qh) >> uvec4(7, 15, 23, 31)) & 1u;  // qh: bit 4 of q
    uvec4 q7 = q_lo7 | (q_hi7 << 4u);
    uint mn_lo3 = scales2 >> 28u;  // scales: bits 0-3 of mn
    uint mn_hi3 = scales1 >> 30u;  // scales: bits 4-5 of mn
    uint mn7 = mn_lo3 | (mn_hi3 << 4u);
    precise float dmin_mn7 = dmin * float(mn7);
    v[7] = d_sc7 * vec4(q7) - dmin_mn7;
}

// Stores a tile where it belongs in block `block` of the output.
void write_tile(uint block, uint tile, vec4 v[8]) {
    const uint at = block * 64u + tile;
    dst[at] = v[0];
    dst[at + 8u] = v[1];
    dst[at + 16u] = v[2];
    dst[at + 24u] = v[3];
    dst[at + 32u] = v[4];
    dst[at + 40u] = v[5];
    dst[at + 48u] = v[6];
    dst[at + 56u] = v[7];
}

void main() {
    // A thread goes on by so many tokens and tiles at a time.
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, token_step = threads / row_tiles, tile_step = threads % row_tiles;
    uint token = gl_GlobalInvocationID.x / row_tiles, t = gl_GlobalInvocationID.x % row_tiles;
    while (token < tokens) {
        const uint row = row_of(token), i = values_of(token) + t;
        const bool bound = row >= row_first && row < row_end, missing = row == NO_ROW && row_first == 0u;
        vec4 v[8];
        if (bound) {
            const uint from = (row - row_first) * row_tiles + t;
            decode(from / 8u, i % 8u, v);
        } else if (missing) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0u; r < 8u; ++r) v[r] = vec4(0.0);
            if (t == 0u) atomicAdd(out_of_range, 1u);
        }
        if (bound || missing) write_tile(i / 8u, i % 8u, v);  // else: a row of another launch
        token += token_step;
        t += tile_step;
        if (t >= row_tiles) {
            t -= row_tiles;
            token += 1u;
        }
    }
}
