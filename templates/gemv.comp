@{banner}
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint BATCH = 1;  // right-hand sides at once, at least as many as there are
layout(constant_id = 2) const uint ROWS = 4;   // rows at a time
layout(constant_id = 3) const uint SPLIT = 1;  // subgroups that share a row, where there are few rows
@if wide
layout(constant_id = 5) const uint LOAD_WORDS = 4;  // 4: weights are loaded 16 bytes at a time, where that can be
@end
@if stages
layout(constant_id = 7) const uint STAGED = 1;  // runs of x that a workgroup loads together, where there are few rows; 1: none
@end
@if pairs
layout(constant_id = 9) const uint COPIES = 1;  // of a table of pairs, for threads that are neighbours
@end
@if copied
layout(constant_id = 9) const uint COPIES = 1;  // of tables, for threads that are neighbours; 1: none
@end
@if shares
layout(constant_id = 6) const uint SHARED_FOURS = 512;  // 16 bytes each: memory for x, of several right-hand sides
@end
@if digits
layout(constant_id = 4) const uint DIGITS = 1;  // bytes of each x: class int8 has 1, split 2, int24 3
@end

@{buffers}
@{wide_buffers}
layout(binding = @{binding_x}, std430) readonly buffer Input { @{x_type} x_in[]; };
@{x_elements}
@if shares
layout(binding = @{binding_y}, std430) buffer Output { float y[]; };
@else
layout(binding = @{binding_y}, std430) writeonly buffer Output { float y[]; };
@end

layout(push_constant) uniform Push {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of @{tile_elements} elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
@if of_matrix
    uint cols;       // of the matrix that the blocks are patches of
    uint grid_rows;  // blocks
    uint grid_cols;
@end
};

@{tables}
@{prelude}
@if single
const uint TILES = @{x_tiles}u;
@else
const uint TILES = BATCH == 1u ? @{x_tiles}u : 1u;
@end

@if digits
// What a thread keeps of x: tiles as integers of signed bytes, the highest first, four elements in a word; the steps that the
// integers stand for; sums over runs that share a scale, of each digit, and of x itself.
@end
@if halves
// What a thread keeps of x: tiles of each right-hand side in steps that let halves hold them; the step; and sums over runs that
// share a scale.
@end
@if floats
// What a thread keeps of x: tiles, in the order of the weights, and the sums over runs that share a scale.
@end
@{x_kept}

@if wide
// The same for wide tiles.
const uint WIDE_TILES = @{wide_tiles}u;
@end
@{wide_x_kept}

@if halves
// The unit of x that halves are steps of: weights are up to 2^16, or codes of ten bits that stand for 2^-24 each.
float scale_of(@{vec} most, @{vec} all) {
    const float largest = @{largest_of_most};
    if (@{any}(isnan(all)) || isinf(largest)) return uintBitsToFloat(0x7FC00000u);
    return min(0.001953125 / max(largest, 1e-37), 0.5e38);
}

@{dot_halves}

@end
@if digits
// Integers whose digits are bytes with a sign: the largest, less what rounding may add.
const float LARGEST = DIGITS == 1u ? 127.0 : DIGITS == 2u ? 32639.0 : 8355709.0;

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

int bytes_of(ivec4 v) {
    return (v.x & 255) | ((v.y & 255) << 8) | ((v.z & 255) << 16) | (v.w << 24);
}

int sum_of(ivec4 v) {
    return v.x + v.y + v.z + v.w;
}

@end
@{load_x}

@{accumulate}

@if wide_floats
// sum + dot(a, b), in as many operations as a has lanes.
float dot_add(float sum, vec4 a, vec4 b) {
    return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
}

@end
@if stages
// Runs of x on their way to the threads that keep them, from run `staged_from` on. There is a gap after each tile, for threads
// take the same run of tiles that are neighbours.
shared @{x_type} staged[STAGED == 1u ? 1u : STAGED + STAGED / @{staged_runs}u];
uint staged_from = 0u;

@{vec} staged_x(uint at) {
    if (STAGED == 1u) return @{x_at};
    const uint place = at - staged_from;
    return @{x_staged};
}

@end
@{near_tables}

@{load_wide_x}

@{fetch_wide}

@{accumulate_wide}

@{sum_cut}

@{shared_x}

@if single
shared float partial[gl_WorkGroupSize.x / 4u * ROWS * 2u];
@else
shared float partial[gl_WorkGroupSize.x / 4u * ROWS * BATCH];
@end

@if shuffles
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

@end
@if stages
// What a workgroup keeps of x, which is tiles `begin` to `end`; a thread has the one at `own`, and those that are one or more
// subgroups further on.
void stage_wide_x(uint begin, uint end, uint own) {
    const uint runs_end = @{staged_end};
    for (staged_from = @{staged_begin}; staged_from < runs_end; staged_from += STAGED) {
        const uint count = min(STAGED, runs_end - staged_from);
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < count; i += gl_WorkGroupSize.x) staged[i + i / @{staged_runs}u] = x_in[staged_from + i];
        barrier();
        [[unroll]] for (uint k = 0; k < WIDE_TILES; ++k) {
            const uint j = own + k * gl_SubgroupSize;
            if (j < end && @{staged_block} - staged_from < STAGED) load_wide_x(0u, j, k);
        }
    }
}

@end
@if wide
// One right-hand side: as many subgroups share a row as hold all of x between them, and walk down the rows.
void walk_wide() {
    const uint wide_tiles = row_tiles / @{wide_ratio}u, lane = gl_SubgroupInvocationID;
    const uint slice = gl_SubgroupSize * WIDE_TILES, slices = (wide_tiles + slice - 1u) / slice;
    uint split = 1u, held = ~0u, turn = 0u;
    while (split < max(slices, SPLIT) && gl_NumSubgroups % (2u * split) == 0u) split *= 2u;
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split, end = rows;
    for (uint first = gl_WorkGroupID.x * teams * ROWS; first < rows; first += gl_NumWorkGroups.x * teams * ROWS) {
        const uint row = first + team * ROWS;
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
        for (uint c0 = 0u; c0 < slices; c0 += split) {
            const uint c = c0 + gl_SubgroupID % split;
            @{stage}
            [[unroll]] for (uint k = 0; k < WIDE_TILES; ++k) {
                const uint j = c * slice + k * gl_SubgroupSize + lane;
                if (j >= wide_tiles) continue;
                if (@{unstaged}c0 != held) load_wide_x(0u, j, k);
                @{wide_last}
                @{fetched}
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch_wide(min(row + r, end - 1u), j, @{fetched_at});
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate_wide(min(row + r, end - 1u), j, k, @{fetched_at}, sum[r]);
                @{wide_put}
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
        for (uint i = gl_LocalInvocationID.x; i < teams * ROWS; i += gl_WorkGroupSize.x) {
            const uint at = place + i / ROWS * (split - 1u) * ROWS + i;
            float total = 0.0;
            for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS];
            if (first + i < rows) y[y_first + first + i] = total;
        }
    }
}

@end
@if shares
// Several right-hand sides: the workgroup shares a slice of x, and its subgroups walk down the rows, some lanes for each ROWS
// of them. Sums of a later slice are added to those of earlier ones.
void walk_shared() {
    const uint wide_tiles = @{shared_tiles}, end = rows, width = 4u * ROWS > gl_SubgroupSize ? gl_SubgroupSize : gl_SubgroupSize / 4u;
    const uint lane = gl_SubgroupInvocationID % width, tall = gl_SubgroupSize / width * ROWS;
    for (uint begin = 0u; begin < wide_tiles; begin += SLICE) {
        const uint count = min(SLICE, wide_tiles - begin);
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < count * BATCH; i += gl_WorkGroupSize.x) {
            @{shared_load}(i / count, begin + i % count, 0u);
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
                @{shared_last}
                @{shared_loads}
                [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                    take_x(m, t);
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) @{shared_add}
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

@end
void main() {
    @{fill_tables}
@if wide
    if (LOAD_WORDS == 4u && BATCH == 1u && gl_SubgroupSize >= ROWS@{wide_if}) {
        walk_wide();
        return;
    }
@end
@if shares
    if (BATCH > 1u && gl_SubgroupSize >= ROWS@{shared_if}) {
        walk_shared();
        return;
    }
@end
    // A subgroup holds a slice of x and walks down the rows.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    const uint split = SPLIT == 1u ? 1u : min(SPLIT, gl_NumSubgroups);
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
@if ragged
    // Tiles of a row that are taken as wholes: those that it fills, where its runs of x begin as x is stored.
    const uint row_cols = @{row_cols}, whole_tiles = row_cols % @{whole_unit}u == 0u ? row_cols / @{tile_elements}u : 0u;
@end
@if single
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
@end
@if together
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
@end
@if ragged
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
@end
@if together
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
@end
