// ct_b4_channel_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], x in f32.
// Generated from the specification below by `qkgen emit --format ct_b4_channel`; do not edit.
// 18 bytes for 32 elements, 4 bits each.
// For each weight 0.5 bytes read, 3.38 operations: 0.0625 loads, 0.656 bits, 0.0625 integer, 2.09 float, 0.5 conversions.
//
//     format ct_b4_channel "compressed-tensors: 4-bit codes around 8, a scale for each row"
//     from "compressed-tensors: pack-quantized, symmetric, by channels"
//
//     block 1 x 32 {
//         buffer weight_packed      { w: u32[4] }
//         buffer weight_scale[rows] { s: bf16 }
//     }
//
//     code q = w { 4 @ 0 (32:4) }
//
//     value = (q - 8) * s
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
layout(constant_id = 7) const uint STAGED_RUNS = 1;  // of x, that a workgroup loads together, where there are few rows; 1: none
const uint STAGED = BATCH == 1u ? STAGED_RUNS : 1u;

layout(binding = 0, std430) readonly buffer Weight_packedBuffer { uint weight_packed[]; };
layout(binding = 1, std430) readonly buffer Weight_scaleBuffer { uint16_t weight_scale[]; };
layout(binding = 0, std430) readonly buffer Weight_packed_fourBuffer { uvec4 weight_packed_four[]; };
layout(binding = 2, std430) readonly buffer Input { vec4 x_in[]; };
layout(binding = 3, std430) buffer Output { float y[]; };

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

// The bfloat16 in the low 16 bits.
float bf16_to_f32(uint bits) {
    return uintBitsToFloat(bits << 16);
}

const uint TILES = 4u;

// What a thread keeps of x: tiles, in the order of the weights, and the sums over runs that share a scale.
vec4 x[TILES][4];
float x_sum[TILES][1];

// The same for wide tiles.
const uint WIDE_TILES = 2u;
vec4 wide_x[WIDE_TILES][8];
float wide_x_sum[WIDE_TILES][1];

// Loads what tile `j` of a row meets of right-hand side `vector`.
void load_x(uint vector, uint j, uint k) {
    const uint place = j * 4u;
    const uint from = min(vector, batch - 1u) * row_tiles * 4u + place;
    const vec4 x0 = x_in[from];
    const vec4 x1 = x_in[from + 1u];
    const vec4 x2 = x_in[from + 2u];
    const vec4 x3 = x_in[from + 3u];
    x[k][0] = x0 * vec4(16777216.0, 1048576.0, 16777216.0, 1048576.0);
    x[k][1] = x1 * vec4(16777216.0, 1048576.0, 16777216.0, 1048576.0);
    x[k][2] = x2 * vec4(16777216.0, 1048576.0, 16777216.0, 1048576.0);
    x[k][3] = x3 * vec4(16777216.0, 1048576.0, 16777216.0, 1048576.0);
    x_sum[k][0] = dot(x0 + x1 + x2 + x3, vec4(1.0));
}

// Adds the products of tile `j` of row `n` with what is kept of x.
void accumulate(uint n, uint j, uint k, inout float sum) {
    const uint row = n, tile = j;
    const uint block_col = tile / 2u;
    const uint t = tile % 2u;
    float s = bf16_to_f32(uint(weight_scale[row]));
    uint w0 = weight_packed[row * (grid_cols * 4u) + (block_col * 4u + t * 2u)];
    vec2 pair0 = unpackHalf2x16(w0 & 0xF000Fu);
    vec2 pair1 = unpackHalf2x16(w0 & 0xF000F0u);
    vec2 pair2 = unpackHalf2x16((w0 >> 8u) & 0xF000Fu);
    vec2 pair3 = unpackHalf2x16((w0 >> 8u) & 0xF000F0u);
    uint w1 = weight_packed[row * (grid_cols * 4u) + (block_col * 4u + t * 2u + 1u)];
    vec2 pair4 = unpackHalf2x16(w1 & 0xF000Fu);
    vec2 pair5 = unpackHalf2x16(w1 & 0xF000F0u);
    vec2 pair6 = unpackHalf2x16((w1 >> 8u) & 0xF000Fu);
    vec2 pair7 = unpackHalf2x16((w1 >> 8u) & 0xF000F0u);
    sum += s * (dot(x[k][0], vec4(pair0.x, pair1.x, pair2.x, pair3.x)) + dot(x[k][1], vec4(pair0.y, pair1.y, pair2.y, pair3.y))
        + dot(x[k][2], vec4(pair4.x, pair5.x, pair6.x, pair7.x)) + dot(x[k][3], vec4(pair4.y, pair5.y, pair6.y, pair7.y))
        - 8.0 * x_sum[k][0]);
}

// sum + dot(a, b), in as many operations as a has lanes.
float dot_add(float sum, vec4 a, vec4 b) {
    return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
}

// Runs of x on their way to the threads that keep them, from run `staged_from` on. There is a gap after each tile, for threads
// take the same run of tiles that are neighbours.
shared vec4 staged[STAGED == 1u ? 1u : STAGED + STAGED / 8u];
uint staged_from = 0u;

vec4 staged_x(uint at) {
    if (STAGED == 1u) return x_in[at];
    const uint place = at - staged_from;
    return staged[place + place / 8u];
}

// Loads what wide tile `j` of a row meets of right-hand side `vector`.
void load_wide_x(uint vector, uint j, uint k) {
    const uint place = j * 8u;
    const uint from = min(vector, batch - 1u) * row_tiles * 4u + place;
    const vec4 x0 = staged_x(from);
    const vec4 x1 = staged_x(from + 1u);
    const vec4 x2 = staged_x(from + 2u);
    const vec4 x3 = staged_x(from + 3u);
    const vec4 x4 = staged_x(from + 4u);
    const vec4 x5 = staged_x(from + 5u);
    const vec4 x6 = staged_x(from + 6u);
    const vec4 x7 = staged_x(from + 7u);
    wide_x[k][0] = x0 * vec4(16777216.0, 1048576.0, 16777216.0, 1048576.0);
    wide_x[k][1] = x1 * vec4(16777216.0, 1048576.0, 16777216.0, 1048576.0);
    wide_x[k][2] = x2 * vec4(16777216.0, 1048576.0, 16777216.0, 1048576.0);
    wide_x[k][3] = x3 * vec4(16777216.0, 1048576.0, 16777216.0, 1048576.0);
    wide_x[k][4] = x4 * vec4(16777216.0, 1048576.0, 16777216.0, 1048576.0);
    wide_x[k][5] = x5 * vec4(16777216.0, 1048576.0, 16777216.0, 1048576.0);
    wide_x[k][6] = x6 * vec4(16777216.0, 1048576.0, 16777216.0, 1048576.0);
    wide_x[k][7] = x7 * vec4(16777216.0, 1048576.0, 16777216.0, 1048576.0);
    wide_x_sum[k][0] = dot(x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7, vec4(1.0));
}

// Loads wide tile `j` of row `n`.
void fetch_wide(uint n, uint j, out uvec4 fours[1], out uint words[1]) {
    const uint row = n, tile = j;
    const uint block_col = tile / 1u;
    fours[0] = weight_packed_four[row * grid_cols + block_col];
    words[0] = uint(weight_scale[row]);
}

// Adds the products of wide tile `j` of row `n`, which was loaded.
void accumulate_wide(uint n, uint j, uint k, uvec4 fours[1], uint words[1], inout float sum) {
    const uint row = n, tile = j;
    const uint block_col = tile / 1u;
    float s = bf16_to_f32(words[0]);
    uvec4 four = fours[0];
    uint w0 = four.x;
    vec2 pair0 = unpackHalf2x16(w0 & 0xF000Fu);
    vec2 pair1 = unpackHalf2x16(w0 & 0xF000F0u);
    vec2 pair2 = unpackHalf2x16((w0 >> 8u) & 0xF000Fu);
    vec2 pair3 = unpackHalf2x16((w0 >> 8u) & 0xF000F0u);
    uint w1 = four.y;
    vec2 pair4 = unpackHalf2x16(w1 & 0xF000Fu);
    vec2 pair5 = unpackHalf2x16(w1 & 0xF000F0u);
    vec2 pair6 = unpackHalf2x16((w1 >> 8u) & 0xF000Fu);
    vec2 pair7 = unpackHalf2x16((w1 >> 8u) & 0xF000F0u);
    uint w2 = four.z;
    vec2 pair8 = unpackHalf2x16(w2 & 0xF000Fu);
    vec2 pair9 = unpackHalf2x16(w2 & 0xF000F0u);
    vec2 pair10 = unpackHalf2x16((w2 >> 8u) & 0xF000Fu);
    vec2 pair11 = unpackHalf2x16((w2 >> 8u) & 0xF000F0u);
    uint w3 = four.w;
    vec2 pair12 = unpackHalf2x16(w3 & 0xF000Fu);
    vec2 pair13 = unpackHalf2x16(w3 & 0xF000F0u);
    vec2 pair14 = unpackHalf2x16((w3 >> 8u) & 0xF000Fu);
    vec2 pair15 = unpackHalf2x16((w3 >> 8u) & 0xF000F0u);
    float dots0 = dot_add(dot(wide_x[k][0], vec4(pair0.x, pair1.x, pair2.x, pair3.x)), wide_x[k][1],
        vec4(pair0.y, pair1.y, pair2.y, pair3.y));
    float dots1 = dot_add(dots0, wide_x[k][2], vec4(pair4.x, pair5.x, pair6.x, pair7.x));
    float dots2 = dot_add(dots1, wide_x[k][3], vec4(pair4.y, pair5.y, pair6.y, pair7.y));
    float dots3 = dot_add(dots2, wide_x[k][4], vec4(pair8.x, pair9.x, pair10.x, pair11.x));
    float dots4 = dot_add(dots3, wide_x[k][5], vec4(pair8.y, pair9.y, pair10.y, pair11.y));
    float dots5 = dot_add(dots4, wide_x[k][6], vec4(pair12.x, pair13.x, pair14.x, pair15.x));
    float dots6 = dot_add(dots5, wide_x[k][7], vec4(pair12.y, pair13.y, pair14.y, pair15.y));
    sum += s * (dots6 - 8.0 * wide_x_sum[k][0]);
}

const uint X_WORDS = 17u, X_FOURS = (X_WORDS + 3u) / 4u, FIT = SHARED_FOURS / (X_FOURS * BATCH);
const uint SLICE = FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles; 0: there is no room for one
shared uvec4 shared_x[BATCH == 1u || SLICE == 0u ? 1u : BATCH * X_FOURS * SLICE];

// Puts what is kept of right-hand side `m` and tile `t` of the slice there.
void share_x(uint m, uint t) {
    uint words[4u * X_FOURS];
    [[unroll]] for (uint i = 0u; i < 16u; ++i) words[i] = floatBitsToUint(x[0][i / 4u][i % 4u]);
    [[unroll]] for (uint i = 0u; i < 1u; ++i) words[16u + i] = floatBitsToUint(x_sum[0][i]);
    [[unroll]] for (uint i = 0u; i < X_FOURS; ++i)
        shared_x[(m * X_FOURS + i) * SLICE + t] = uvec4(words[4u * i], words[4u * i + 1u], words[4u * i + 2u], words[4u * i + 3u]);
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

// What a workgroup keeps of right-hand side `vector`, which is tiles `begin` to `end`; a thread has the one at `own`, and those
// that are one or more subgroups further on.
void stage_wide_x(uint vector, uint begin, uint end, uint own) {
    const uint runs = vector * row_tiles * 4u, runs_end = runs + end * 8u;
    for (staged_from = runs + begin * 8u; staged_from < runs_end; staged_from += STAGED) {
        const uint count = min(STAGED, runs_end - staged_from);
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < count; i += gl_WorkGroupSize.x) staged[i + i / 8u] = x_in[staged_from + i];
        barrier();
        [[unroll]] for (uint k = 0; k < WIDE_TILES; ++k) {
            const uint j = own + k * gl_SubgroupSize;
            if (j < end && runs + j * 8u - staged_from < STAGED) load_wide_x(vector, j, k);
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
                uvec4 fours[ROWS][1];
                uint words[ROWS][1];
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch_wide(min(row + r, end - 1u), j, fours[r], words[r]);
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate_wide(min(row + r, end - 1u), j, k, fours[r], words[r], sum[r]);
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
        for (uint first = (gl_WorkGroupID.x * gl_NumSubgroups + gl_SubgroupID) * tall; first < rows;
            first += gl_NumWorkGroups.x * gl_NumSubgroups * tall) {
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
    if (LOAD_WORDS == 4u && BATCH == 1u && gl_SubgroupSize >= ROWS && gl_NumSubgroups >= SPLIT) {
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
