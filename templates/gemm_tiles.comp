@{banner}
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_control_flow_attributes : require
@if units
@include mma_units.ext
@end
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;
layout(constant_id = @{id.tile_rows}) const uint TILE_ROWS = 128;  // of the result, a workgroup's
layout(constant_id = @{id.tile_cols}) const uint TILE_COLS = 128;
@if experts
layout(constant_id = @{id.large_cols}) const uint LARGE_COLS = 0;  // of larger tiles, which this launch makes if they are as many
layout(constant_id = @{id.largest_cols}) const uint LARGEST_COLS = 0;  // of still larger ones
@end
layout(constant_id = @{id.own_rows}) const uint OWN_ROWS = 64;  // of these, a subgroup's
layout(constant_id = @{id.own_cols}) const uint OWN_COLS = 32;
layout(constant_id = @{id.k_parts}) const uint K_PARTS = 1;  // of a row, each another workgroup's
@if pairs
layout(constant_id = @{id.copies}) const uint COPIES = 1;  // of a table of pairs, for threads that are neighbours
@end
@if units
layout(constant_id = @{id.k_slices}) const uint K_SLICES = 1;  // of such a part, each other subgroups' of the workgroup
@if span
layout(constant_id = @{id.together}) const uint TOGETHER = 0;  // 1: threads load words of each other
@end
layout(constant_id = @{id.order_a}) const uint ORDER_A = 0;  // which element of an operand is which value of a thread
layout(constant_id = @{id.order_bc}) const uint ORDER_BC = 0;
@include unit_shape.glsl
@include y_constants.glsl
@else
@include y_constants.glsl
const uint UNIT_ROWS = 16u, UNIT_COLS = 8u, LANES = 32u, K_SLICES = 1u;
@end

@{buffers}
@{wide_buffers}
@if experts
layout(binding = @{binding_scratch}, std430) readonly buffer Packed { uvec2 packed_x[]; };
@else
layout(binding = @{binding_scratch}, std430) readonly buffer Packed { uvec4 packed_x[]; };
@end
layout(binding = @{binding_scratch}, std430) readonly buffer Units { float x_unit[]; };
layout(binding = @{binding_scratch}, std430) buffer Parts { float sum_of_part[]; };
@{result_buffers}

@include gemm_operands.glsl

@{tables}
@{near_tables}

@{prelude}
@include finish.glsl

const uint ROW_FRAGMENTS = OWN_ROWS / UNIT_ROWS, COL_FRAGMENTS = OWN_COLS / UNIT_COLS;
// Of a slice: all of the workgroup where it has one.
const uint DOWN = TILE_ROWS / OWN_ROWS, THREADS = DOWN * (TILE_COLS / OWN_COLS) * LANES;
const uint TEAMS = THREADS / 32u;                             // of threads that decode together
const uint DECODED = (TILE_ROWS / 16u + TEAMS - 1u) / TEAMS;  // fragments of 16 rows, a team's
const uint LOADED = (TILE_COLS * 4u + THREADS - 1u) / THREADS;        // words of x, four at a time, a thread's
const uint PARTS = PRODUCTS / PART;

// A row's weights are multiplied with a power of two, so that they fit into halves. When they grow too large, it gets smaller:
shared float row_factor[K_SLICES * TILE_ROWS];  // by this factor
shared uint grown[K_SLICES];                    // before so many times four tiles
shared float x_unit_of[TILE_COLS];              // what its x stands for, of each column
@if experts
shared uint pair_of[TILE_COLS], vector_of[TILE_COLS];  // of each column
@end

uint slice, thread, subgroup, team, lane, g, t;  // thread, subgroup and team are numbers in the slice

@if units
@include gemm_units.glsl
@else
@include gemm_plain_units.glsl
@end

// Of the four threads that share a row.
float most_of_four(float value) {
    value = max(value, subgroupShuffleXor(value, 1u));
    return max(value, subgroupShuffleXor(value, 2u));
}

@{fetch_wide}

@if span
// Words that neighbours decode lie in many lines of the cache. So a team loads rows as they lie, four tiles of eight rows at a time, and
// its threads take the words of their tiles out of memory that they share. The words that are loaded take registers: where there
// are few workgroups, or sums leave room, that is faster.
const uint SPAN = @{span}u, STRIDE = @{span_stride}u;  // words of four tiles; of a row in that memory, so that neighbours use other banks
const uint RUNS = @{span_runs}u, LEFT = @{span_left_count}u;  // so many times 16 threads load a row, and so many threads what is left
shared uint held[TOGETHER == 1u ? K_SLICES * TEAMS * 8u * STRIDE : 1u];
uint ahead[DECODED][2][4u * RUNS + LEFT / 4u];
// 1: with few sums, and one slice, there are registers for words of the next four tiles as soon as those of these were taken. (With `&&` in
// it, SPIRV-Tools' optimiser crashed.)
const uint SOON = OWN_ROWS * OWN_COLS <= 1024u ? TOGETHER / K_SLICES : 0u;

@{take}
@end

@{operands}

@{fetched}
float row_scale[DECODED][2];
uvec4 x_ahead[LOADED];
uint row_begin, row_end, column_begin, columns, wide_tiles;
uint k_part, first_four, end_four;  // of a row: the number of this part, and where the slice of it begins and ends
@if experts
uint first_row, column_end;  // of this expert's rows the first, of those that are bound
uint tile_expert;
@end

uint row_of(uint i, uint half_of_fragment) {
    return min(row_begin + (team + i * TEAMS) * 16u + half_of_fragment * 8u + g, row_end - 1u);
}

// Of a row that the thread decodes.
uint factor_at(uint i, uint half_of_fragment) {
    return slice * TILE_ROWS + (team + i * TEAMS) * 16u + half_of_fragment * 8u + g;
}

bool decodes(uint i) {
    return TILE_ROWS / 16u % TEAMS == 0u || team + i * TEAMS < TILE_ROWS / 16u;
}

uint tile_of(uint four) {
    return min(four * 4u + t, wide_tiles - 1u);
}

@if span
uint row_words() {
    return @{span_row_words};
}

// Of half a fragment. What would lie behind the end of a row is its last word.
void load_rows(uint i, uint half_of_fragment, uint four) {
    const uint first = row_begin + (team + i * TEAMS) * 16u + half_of_fragment * 8u, last = row_end - 1u;
    const uint from = four * SPAN, last_word = row_words() - 1u - from;
    [[unroll]] for (uint p = 0u; p < 4u; ++p) {
        const uint row = row_of_weights(min(first + p * 2u + lane / 16u, last)) * row_words() + from;
        [[unroll]] for (uint r = 0u; r < RUNS; ++r)
            ahead[i][half_of_fragment][p * RUNS + r] = @{span_buffer}[row + min(r * 16u + lane % 16u, last_word)];
    }
@if span_left
    [[unroll]] for (uint p = 0u; p < LEFT / 4u; ++p) {
        const uint row = row_of_weights(min(first + p * (32u / LEFT) + lane / LEFT, last)) * row_words() + from;
        ahead[i][half_of_fragment][4u * RUNS + p] = @{span_buffer}[row + min(RUNS * 16u + lane % LEFT, last_word)];
    }
@end
}

void hold_rows(uint i, uint half_of_fragment) {
    const uint first = (slice * TEAMS + team) * 8u;
    [[unroll]] for (uint p = 0u; p < 4u; ++p) {
        const uint at = (first + p * 2u + lane / 16u) * STRIDE + lane % 16u;
        [[unroll]] for (uint r = 0u; r < RUNS; ++r) held[at + r * 16u] = ahead[i][half_of_fragment][p * RUNS + r];
    }
@if span_left
    [[unroll]] for (uint p = 0u; p < LEFT / 4u; ++p) {
        const uint at = (first + p * (32u / LEFT) + lane / LEFT) * STRIDE + RUNS * 16u + lane % LEFT;
        held[at] = ahead[i][half_of_fragment][4u * RUNS + p];
    }
@end
}

// A team is a subgroup, where threads know what they hold of operands.
void wait_for_team() {
    if (DIRECT)
        controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    else
        barrier();
}

// Takes the words of its tiles out of what the team loaded.
void take_four(uint four) {
    const uint at = ((slice * TEAMS + team) * 8u + g) * STRIDE;
    [[unroll]] for (uint i = 0u; i < DECODED; ++i) {
        [[unroll]] for (uint high = 0u; high < 2u; ++high) {
            wait_for_team();
            if (decodes(i)) hold_rows(i, high);
            wait_for_team();
            if (decodes(i)) take(at, tile_of(four) - four * 4u, @{taken});
        }
    }
}

@end
// Loads its tile of the next four, of each row that it decodes; or with its team all of theirs.
void fetch_four(uint four) {
    [[unroll]] for (uint i = 0u; i < DECODED; ++i) {
        if (!decodes(i)) continue;
@if span
        if (TOGETHER == 1u) {
            load_rows(i, 0u, four);
            load_rows(i, 1u, four);
            continue;
        }
@end
        fetch_wide(row_of(i, 0u), tile_of(four), @{fetched_low});
        fetch_wide(row_of(i, 1u), tile_of(four), @{fetched_high});
    }
}

// Sees whether weights of these four tiles fit into halves; there is room for four times as much as at first.
void fit_row(uint four, uint i, uint half_of_fragment, float most) {
    const float before = row_scale[i][half_of_fragment];
    if (four > first_four && !(most * before >= 16384.0)) {
        if (t == 0u) row_factor[factor_at(i, half_of_fragment)] = 1.0;
        return;
    }
    float unit;
    row_scale[i][half_of_fragment] = scale_of(most, 11u, unit);
    const float factor = four > first_four ? row_scale[i][half_of_fragment] * (1.0 / before) : 1.0;
    if (t == 0u) row_factor[factor_at(i, half_of_fragment)] = factor;
    if (four > first_four) grown[slice] = four - first_four;
}

void fit_rows(uint four) {
@if span
    if (TOGETHER == 1u) take_four(four);
@end
    [[unroll]] for (uint i = 0u; i < DECODED; ++i) {
        if (!decodes(i)) continue;
        fit_row(four, i, 0u, most_of_four(largest_factor(row_of(i, 0u), tile_of(four), @{fetched_low})));
        fit_row(four, i, 1u, most_of_four(largest_factor(row_of(i, 1u), tile_of(four), @{fetched_high})));
    }
}

// Where there is room for two parts, they take turns.
void make_weights(uint four, uint part) {
    [[unroll]] for (uint i = 0u; i < DECODED; ++i) {
        if (!decodes(i)) continue;
        f16vec2 low[2u * PART], high[2u * PART];
        operands(part, row_of(i, 0u), tile_of(four), @{fetched_low}, row_scale[i][0], low);
        operands(part, row_of(i, 1u), tile_of(four), @{fetched_high}, row_scale[i][1], high);
        [[unroll]] for (uint p = 0u; p < PART; ++p) {
            const uvec2 first = uvec2(packFloat2x16(low[2u * p]), packFloat2x16(high[2u * p]));
            const uvec2 second = uvec2(packFloat2x16(low[2u * p + 1u]), packFloat2x16(high[2u * p + 1u]));
            share_weights(part, p, (team + i * TEAMS) * 32u + lane, uvec4(first, second));
        }
    }
}

// A thread's words of a product's operands: those of 16 columns of the tile, from `column` on.
@if experts
uvec4 x_operands(uint product, uint column) {
    const uint of_vector = (wide_tiles + 3u) / 4u * PRODUCTS * 4u, word = columns / 2u + product * 4u + t;
    return uvec4(packed_x[word + vector_of[column + g] * of_vector], packed_x[word + vector_of[column + g + 8u] * of_vector]);
}
@else
uvec4 x_operands(uint product, uint column) {
    const uint word = min((column_begin + column) * 2u + lane, columns * 2u - 1u);
    return packed_x[operands_at() / 4u + columns / 4u + product * columns * 2u + word];
}
@end

@if units
void take_x(uint product, uint own_column) {
    [[unroll]] for (uint j = 0u; j < COL_FRAGMENTS / 2u; ++j) right_words[product % PART][j] = x_operands(product, own_column + j * 16u);
}

@end
// Of a part, what a thread puts into the memory that all share.
void load_part_of_x(uint number) {
    [[unroll]] for (uint i = 0u; i < LOADED; ++i) {
        const uint at = thread + i * THREADS, product = at / (TILE_COLS * 2u);
        x_ahead[i] = x_operands(number * PART + min(product, PART - 1u), at % (TILE_COLS * 2u) / 32u * 16u);
    }
}

void share_part_of_x() {
    [[unroll]] for (uint i = 0u; i < LOADED; ++i) {
        const uint at = thread + i * THREADS;
        if (TILE_COLS * 4u % THREADS == 0u || at < TILE_COLS * 4u) share_x(at, x_ahead[i]);
    }
}

uint last_four() {
    return max(end_four, first_four + 1u) - 1u;
}

// Makes weights of the part that follows number `part` of these four tiles. The last of all is made once more, and not used.
void make_next(uint four, uint part) {
    const uint next = (part + 1u) % PARTS, next_four = min(part + 1u == PARTS ? four + 1u : four, last_four());
    if (next == 0u && (K_SLICES > 1u || four + 1u < end_four)) {
        fit_rows(next_four);
@if units
        if (ALONE) subgroupBarrier();
@end
    }
    make_weights(next_four, next);
}

// Loads what is made after that.
void fetch_after(uint four, uint part) {
@if span
    if (part + 2u == PARTS + SOON) fetch_four(min(four + 1u + SOON, last_four()));
@else
    if (part + 2u == PARTS) fetch_four(min(four + 1u, last_four()));
@end
}

// Of a part of the rows, sums are kept until all others are there.
@if experts
void finish_part(uint column, uint n, float sum) {
    if (column_begin + column >= column_end || n >= row_end) return;
    const uint pair = pair_of[column];
    if (K_PARTS == 1u)
        finish(pair, tile_expert, n - first_row, sum, uintBitsToFloat(vector_of[column]));
    else
        sum_of_part[parts_at() + (k_part * all_pairs() + pair) * rows + n - first_row] = sum;
}
@else
void finish_part(uint m, uint n, float sum) {
    if (m >= batch || n >= row_end) return;
    if (K_PARTS == 1u)
        finish(m, n, sum);
    else
        sum_of_part[parts_at() + ((matrix * K_PARTS + k_part) * batch + m) * rows + n] = sum;
}
@end

// The sum of a row and a column of the tile.
void finish_own(uint row, uint column, float sum) {
@if experts
    finish_part(column, row_begin + row, sum * x_unit_of[column]);
@else
    finish_part(column_begin + column, row_begin + row, sum * x_unit_of[column]);
@end
}

@if units
// Through memory, so that the text of an epilogue is there a few times, and neighbours have rows that are neighbours. Subgroups that have
// the same part of a tile, each of another slice, add what all of them stored. A thread has some sums at once on their way.
const uint FINISHED = 4u;

void finish_sums(uint own_row, uint own_column) {
    [[unroll]] for (uint j = 0u; j < COL_FRAGMENTS; ++j) {
        [[unroll]] for (uint i = 0u; i < ROW_FRAGMENTS; i += STORED_FRAGMENTS) {
            store_sums(i, j);
            if (K_SLICES > 1u) barrier();
            for (uint first = slice * LANES + thread % LANES; first < STORED_ROWS * UNIT_COLS; first += FINISHED * K_SLICES * LANES) {
                [[unroll]] for (uint f = 0u; f < FINISHED; ++f) {
                    const uint e = first + f * K_SLICES * LANES, row = own_row + i * UNIT_ROWS + e % STORED_ROWS, column = e / STORED_ROWS;
                    if (column >= UNIT_COLS) continue;
                    float sum = 0.0;
                    [[unroll]] for (uint s = 0u; s < K_SLICES; ++s)
                        sum += stored_sum(s, e % STORED_ROWS, column) * row_factor[s * TILE_ROWS + row];
                    finish_own(row, own_column + j * UNIT_COLS + column, sum);
                }
            }
            if (K_SLICES > 1u) barrier();
            subgroupBarrier();
        }
    }
}
@else
void finish_sums(uint own_row, uint own_column) {
    [[unroll]] for (uint j = 0u; j < COL_FRAGMENTS; ++j) {
        [[unroll]] for (uint i = 0u; i < ROW_FRAGMENTS; ++i) {
            const uint row = own_row + i * 16u + g, column = own_column + j * 8u + 2u * t;
            finish_own(row, column, sums[i][j].x * row_factor[row]);
            finish_own(row, column + 1u, sums[i][j].y * row_factor[row]);
            finish_own(row + 8u, column, sums[i][j].z * row_factor[row + 8u]);
            finish_own(row + 8u, column + 1u, sums[i][j].w * row_factor[row + 8u]);
        }
    }
}
@end

void finish_tile(uint own_row, uint own_column) {
    barrier();
    [[unroll]] for (uint i = 0u; i < DECODED; ++i) {
        if (!decodes(i) || t > 1u) continue;
        row_factor[factor_at(i, t)] = 1.0 / row_scale[i][t];
    }
@if experts
    // A column's scale takes the place of the number of its x, which nobody needs any more.
    for (uint c = gl_LocalInvocationID.x; (EPILOGUE & SCALES) != 0u && c < TILE_COLS; c += gl_WorkGroupSize.x)
        vector_of[c] = floatBitsToUint(scale_of_pair(pair_of[c], tile_expert));
@end
    barrier();
    finish_sums(own_row, own_column);
    barrier();
}

// One slice may have four tiles less than others, for which it waits.
bool has(uint four) {
    return K_SLICES == 1u || four < end_four;
}

void wait_for_slice() {
@if units
    if (ALONE) return;
    if (DIRECT && THREADS == LANES) {
        subgroupBarrier();
        return;
    }
@end
    barrier();
}

// Multiplies out of memory, where all operands are; then makes those of the next part.
void multiply_part(uint four, uint part, uint own_row, uint own_column) {
    if (has(four)) {
        [[unroll]] for (uint p = 0u; p < PART; ++p)
            multiply_shared((p * TILE_ROWS + own_row) * 2u, (p * TILE_COLS + own_column) * 2u);
    }
    wait_for_slice();
    make_next(four, part);
    share_part_of_x();
    wait_for_slice();
    fetch_after(four, part);
    load_part_of_x(min(four * PARTS + part + 2u, last_four() * PARTS + PARTS - 1u));
}

@if units
// Multiplies what threads hold. While a product is made, they take the next one's operands: weights out of memory, where the part after
// this one is made meanwhile, and x from where it was packed, one part ahead.
void multiply_directly(uint four, uint part, uint own_row, uint own_column) {
    const uint next = min(four * PARTS + part + 1u, last_four() * PARTS + PARTS - 1u);
    take_weights(part, 1u, own_row);
    if (has(four)) multiply(0u);
    take_x(next * PART, own_column);
    make_next(four, part);
    fetch_after(four, part);
    wait_for_slice();
    take_weights(part + 1u, 0u, own_row);
    if (has(four)) multiply(1u);
    take_x(next * PART + 1u, own_column);
}

void multiply_four_directly(uint four, uint own_row, uint own_column) {
    [[unroll]] for (uint part = 0u; part < PARTS; ++part) multiply_directly(four, part, own_row, own_column);
}
@end

void multiply_four(uint four, uint own_row, uint own_column) {
@if units
    if (DIRECT) {
        multiply_four_directly(four, own_row, own_column);
        return;
    }
    if (LANES < 32u) {
        [[dont_unroll]] for (uint part = 0u; part < PARTS; ++part) multiply_part(four, part, own_row, own_column);
        return;
    }
@end
    [[unroll]] for (uint part = 0u; part < PARTS; ++part) multiply_part(four, part, own_row, own_column);
}

// Makes the first part.
void begin_tile(uint own_row, uint own_column) {
    fetch_four(first_four);
@if units
    if (DIRECT) {
        [[unroll]] for (uint p = 0u; p < PART; ++p) take_x(first_four * PRODUCTS + p, own_column);
        fit_rows(first_four);
        make_weights(first_four, 0u);
@if span
        if (SOON == 1u) fetch_four(min(first_four + 1u, last_four()));
@end
        barrier();
        take_weights(0u, 0u, own_row);
        return;
    }
@end
    load_part_of_x(first_four * PARTS);
    fit_rows(first_four);
    make_weights(first_four, 0u);
@if span
    if (SOON == 1u) fetch_four(min(first_four + 1u, last_four()));
@end
    share_part_of_x();
    load_part_of_x(first_four * PARTS + 1u);
    barrier();
}

// Whether sums are scaled now. Slices whose subgroups scale together through memory all do, as soon as one must; factors of the others are
// 1. Else each looks at its own: others may be ahead of it.
bool grew(uint fours) {
@if units
    if (!DIRECT) {
        bool any = false;
        [[unroll]] for (uint s = 0u; s < K_SLICES; ++s) any = any || grown[s] == fours;
        return any;
    }
@end
    return grown[slice] == fours;
}

// Where its part of a row begins and ends.
void find_slice() {
    const uint all_fours = (wide_tiles + 3u) / 4u, number = k_part * K_SLICES + slice;
    first_four = all_fours * number / (K_PARTS * K_SLICES);
    end_four = all_fours * (number + 1u) / (K_PARTS * K_SLICES);
}

void make_tile() {
    const uint own_row = subgroup % DOWN * OWN_ROWS, own_column = subgroup / DOWN * OWN_COLS;
    [[unroll]] for (uint i = 0u; i < ROW_FRAGMENTS; ++i) {
        [[unroll]] for (uint j = 0u; j < COL_FRAGMENTS; ++j) sums[i][j] = no_products();
    }
    if (thread == 0u) grown[slice] = 0u;
    for (uint c = gl_LocalInvocationID.x; c < TILE_COLS; c += gl_WorkGroupSize.x) {
@if experts
        const uint pair = sorted[pairs_at() + min(column_begin + c, column_end - 1u)];
        pair_of[c] = pair;
        vector_of[c] = x_slots == 1u ? pair / slots : pair;
        x_unit_of[c] = x_unit[vector_of[c]];
@else
        x_unit_of[c] = x_unit[operands_at() + min(column_begin + c, columns - 1u)];
@end
    }
@if experts
    barrier();
@end
    begin_tile(own_row, own_column);
    const uint end = K_SLICES == 1u ? end_four : first_four + ((wide_tiles + 3u) / 4u + K_PARTS * K_SLICES - 1u) / (K_PARTS * K_SLICES);
    [[dont_unroll]] for (uint four = first_four; four < end; ++four) {
        if (four > first_four && grew(four - first_four)) {
            [[unroll]] for (uint i = 0u; i < ROW_FRAGMENTS; ++i) {
                [[unroll]] for (uint j = 0u; j < COL_FRAGMENTS; ++j) scale_rows(i, j, own_row);
            }
        }
        multiply_four(four, own_row, own_column);
    }
    finish_tile(own_row, own_column);
}

@if experts
// Of pairs whose expert is not there, results are zeros.
void finish_none() {
    const uint count = min(TILE_ROWS, row_end - row_begin), all = count * (column_end - column_begin);
    for (uint i = gl_LocalInvocationID.x; i < all && K_PARTS == 1u; i += gl_WorkGroupSize.x)
        finish(sorted[pairs_at() + column_begin + i / count], experts, row_begin + i % count, 0.0, 1.0);
}

// Which list of tiles is this launch's.
const uint SIZE = TILE_COLS == LARGEST_COLS ? 0u : TILE_COLS == LARGE_COLS ? 1u : 2u;

// Workgroups that are neighbours have the same pairs, or rows of the same expert. There may be more of them than tiles.
void make_tiles() {
    const uint down = (rows + TILE_ROWS - 1u) / TILE_ROWS, all = sorted[end_of_operands() + SIZE];
    uint begin = 0u;
    [[unroll]] for (uint size = 0u; size < SIZE; ++size) begin += sorted[end_of_operands() + size];
    for (uint work = gl_WorkGroupID.x; work < down * all * K_PARTS; work += gl_NumWorkGroups.x) {
        const uint tile = work / K_PARTS, at = tiles_at() + (begin + tile / down) * 3u, expert = sorted[at];
        const bool found = expert < experts;
        if (found ? expert < expert_first || expert >= expert_end : expert_first != 0u) continue;  // another launch's
        k_part = work % K_PARTS;
        find_slice();
        tile_expert = expert;
        first_row = found ? (expert - expert_first) * rows : 0u;
        row_begin = first_row + tile % down * TILE_ROWS;
        row_end = first_row + rows;
        column_begin = sorted[at + 1u];
        column_end = sorted[at + 2u];
        if (found)
            make_tile();
        else
            finish_none();
    }
}
@else
// Workgroups that are neighbours have few rows and few columns between them, so that what they load is near.
const uint NEAR = 16u;

void make_tiles() {
    row_end = rows;
    const uint down = (rows + TILE_ROWS - 1u) / TILE_ROWS, across = (batch + TILE_COLS - 1u) / TILE_COLS;
    for (uint work = group_number(); work < down * across * K_PARTS; work += group_count()) {
        const uint tile = work / K_PARTS;
        k_part = work % K_PARTS;
        find_slice();
        const uint band = tile / (NEAR * across), in_band = tile % (NEAR * across), tall = min(NEAR, down - band * NEAR);
        row_begin = (band * NEAR + in_band % tall) * TILE_ROWS;
        column_begin = in_band / tall * TILE_COLS;
        make_tile();
    }
}
@end

void main() {
@if !experts
    find_matrix();
@end
    @{fill_tables}
    slice = gl_LocalInvocationID.x / THREADS;
    thread = gl_LocalInvocationID.x % THREADS;
    subgroup = thread / LANES;
    team = thread / 32u;
    lane = thread % 32u;
    g = lane / 4u;
    t = lane % 4u;
    columns = (x_vectors() + 15u) / 16u * 16u;
    wide_tiles = row_tiles / @{wide_ratio}u;
    make_tiles();
}
