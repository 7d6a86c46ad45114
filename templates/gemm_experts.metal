constant constexpr uint MOST_EXPERTS = 512;

// Words of scratch memory: factors of all right-hand sides, and their operands.
template <typename S>
inline ulong end_of_operands(constant S &shape)
{
    const uint columns = (shape.batch * shape.x_slots + 15) / 16 * 16, fours = (shape.row_tiles / @{wide_ratio} + 3) / 4;
    return ulong(columns) * (1 + fours * WORDS * 4);
}

// A pair is a token and one of its slots. Pairs are sorted by their experts, and of one expert by their numbers; those of no expert come
// last, as those of expert number `experts`. What is known of them lies behind the operands of x: how many tiles there are; where the
// pairs of each expert begin; for each block of pairs, how many of them each expert has, then how many in the blocks before; the pairs;
// and of each tile its expert, and where its pairs begin and end.
struct sorted_pairs {
    device uint *tile_count, *begins, *counts, *pairs, *tiles, *end;
    uint all, of_block, blocks;
};

template <typename S>
inline sorted_pairs find_pairs(device uint *scratch, constant S &shape)
{
    sorted_pairs s;
    s.all = shape.batch * shape.slots;
    s.of_block = max(256u, (s.all + 63) / 64);
    s.blocks = (s.all + s.of_block - 1) / s.of_block;
    s.tile_count = scratch + end_of_operands(shape);
    s.begins = s.tile_count + 1;
    s.counts = s.begins + shape.experts + 1;
    s.pairs = s.counts + s.blocks * (shape.experts + 1);
    s.tiles = s.pairs + s.all;
    s.end = s.tiles + 3 * (s.all / 16 + min(shape.experts + 1, s.all));
    return s;
}

// The expert of a pair, or their number where it has none.
template <typename S>
inline uint expert_of_pair(device const uint *ids, constant S &shape, bool views, uint pair)
{
    const uint at = views ? shape.ids_skip + pair / shape.slots * shape.ids_inner + pair % shape.slots : pair;
    return min(ids[at], shape.experts);
}

template <typename S, typename X>
inline void pack(device const X *x, device uint *scratch, constant S &shape, bool views, uint group, uint groups, shared_memory shared)
{
    const uint vectors = shape.batch * shape.x_slots, columns = (vectors + 15) / 16 * 16;
    const uint row_runs = shape.row_tiles * @{runs}, fours = (shape.row_tiles / @{wide_ratio} + 3) / 4;
    device half2 *packed = (device half2 *)(scratch + columns);
    for (uint m = group; m < columns; m += groups) {
        const uint vector = min(m, vectors - 1), place = shape.x_first + vector / shape.x_slots * shape.x_inner;
        const ulong from = views ? (place + vector % shape.x_slots * shape.x_stride) / @{lanes} : ulong(vector) * row_runs;
        pack_vector(x + from, shape.row_tiles, (device float *)scratch + m, packed + ulong(m) * fours * WORDS * 4, 4, shared);
    }
}

// Counts the pairs of each expert, in each block.
template <typename S>
inline void count_pairs(
    device const uint *ids, device uint *scratch, constant S &shape, bool views, uint group, uint groups, shared_memory shared)
{
    threadgroup atomic_uint *count_of = (threadgroup atomic_uint *)shared.all;
    const sorted_pairs s = find_pairs(scratch, shape);
    for (uint block = group; block < s.blocks; block += groups) {
        const uint end = min((block + 1) * s.of_block, s.all);
        for (uint e = shared.index; e <= shape.experts; e += THREADS) atomic_store_explicit(count_of + e, 0u, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = block * s.of_block + shared.index; i < end; i += THREADS)
            atomic_fetch_add_explicit(count_of + expert_of_pair(ids, shape, views, i), 1u, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint e = shared.index; e <= shape.experts; e += THREADS)
            s.counts[block * (shape.experts + 1) + e] = atomic_load_explicit(count_of + e, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// Of an expert, counts become the numbers of pairs in the blocks before.
inline uint add_blocks(sorted_pairs s, uint experts, uint expert)
{
    uint sum = 0;
    for (uint block = 0; block < s.blocks; ++block) {
        device uint *at = s.counts + block * (experts + 1) + expert;
        const uint count = *at;
        *at = sum;
        sum += count;
    }
    return sum;
}

// Number of an expert's first tile, or one that begins behind `tile`.
inline uint expert_of_tile(threadgroup const uint *tiles_of, uint all, uint tile)
{
    uint expert = 0, beyond = all;  // its tiles begin at `tile` or before, and those of this one behind
    while (beyond - expert > 1) {
        const uint middle = (expert + beyond) / 2;
        if (tiles_of[middle] <= tile) expert = middle;
        else beyond = middle;
    }
    return expert;
}

// Where the pairs of each expert begin, and what tiles there are. One threadgroup does it.
template <typename S>
inline void find_tiles(device uint *scratch, device atomic_uint *status, constant S &shape, uint cols, uint group, shared_memory shared)
{
    if (group != 0) return;
    const sorted_pairs s = find_pairs(scratch, shape);
    const uint all = shape.experts + 1, each = (all + THREADS - 1) / THREADS;
    const uint first = min(shared.index * each, all), end = min(first + each, all);
    threadgroup uint *pairs_of = (threadgroup uint *)shared.all, *tiles_of = pairs_of + MOST_EXPERTS + 1;
    threadgroup uint *sums = tiles_of + MOST_EXPERTS + 1;  // of pairs, then of tiles
    for (uint e = shared.index; e < all; e += THREADS) pairs_of[e] = add_blocks(s, shape.experts, e);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint own_pairs = 0, own_tiles = 0;
    for (uint e = first; e < end; ++e) {
        own_pairs += pairs_of[e];
        own_tiles += (pairs_of[e] + cols - 1) / cols;
    }
    sums[shared.index] = own_pairs;
    sums[THREADS + shared.index] = own_tiles;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint place = 0, tile = 0, all_tiles = 0;
    for (uint other = 0; other < THREADS; ++other) {
        place += other < shared.index ? sums[other] : 0;
        tile += other < shared.index ? sums[THREADS + other] : 0;
        all_tiles += sums[THREADS + other];
    }
    for (uint e = first; e < end; ++e) {
        const uint count = pairs_of[e];
        s.begins[e] = pairs_of[e] = place;
        tiles_of[e] = tile;
        place += count;
        tile += (count + cols - 1) / cols;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint missed = s.all - pairs_of[shape.experts];
    if (shared.index == 0) *s.tile_count = all_tiles;
    if (shared.index == 0 && missed > 0) atomic_fetch_add_explicit(status, missed, memory_order_relaxed);
    for (uint i = shared.index; i < all_tiles; i += THREADS) {
        const uint expert = expert_of_tile(tiles_of, all, i), begin = pairs_of[expert] + (i - tiles_of[expert]) * cols;
        s.tiles[3 * i] = expert;
        s.tiles[3 * i + 1] = begin;
        s.tiles[3 * i + 2] = min(begin + cols, expert < shape.experts ? pairs_of[expert + 1] : s.all);
    }
}

// Puts pairs into the order of their experts.
template <typename S>
inline void scatter_pairs(
    device const uint *ids, device uint *scratch, constant S &shape, bool views, uint group, uint groups, shared_memory shared)
{
    const sorted_pairs s = find_pairs(scratch, shape);
    threadgroup uint *next_of = (threadgroup uint *)shared.all;  // where the next pair of an expert goes
    threadgroup uint *expert_of = next_of + MOST_EXPERTS + 1;    // of each thread
    for (uint block = group; block < s.blocks; block += groups) {
        const uint end = min((block + 1) * s.of_block, s.all);
        for (uint e = shared.index; e <= shape.experts; e += THREADS)
            next_of[e] = s.begins[e] + s.counts[block * (shape.experts + 1) + e];
        for (uint some = block * s.of_block; some < end; some += THREADS) {
            const uint pair = some + shared.index, expert = pair < end ? expert_of_pair(ids, shape, views, pair) : ~0u;
            expert_of[shared.index] = expert;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            uint before = 0, behind = 0;  // threads with the same expert
            for (uint other = 0; other < THREADS; ++other) {
                const uint same = uint(expert_of[other] == expert);
                before += other < shared.index ? same : 0;
                behind += other > shared.index ? same : 0;
            }
            const uint place = pair < end ? next_of[expert] + before : 0;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            if (pair < end) s.pairs[place] = pair;
            if (pair < end && behind == 0) next_of[expert] = place + 1;
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// Row `n` of an expert, of one pair.
template <typename S>
inline void finish_pair(results to, constant S &shape, bool views, uint expert, uint pair, uint n, float sum)
{
    const uint token = pair / shape.slots, slot = pair % shape.slots;
    const uint at = (views ? token * shape.y_inner + slot * shape.y_stride : pair * shape.rows) + n;
    const place_of_result place = {at, expert * shape.rows + n, pair, expert, views ? shape.y_skip : 0};
    finish(to, place, sum);
}

// What is done with results of an expert that is not there: they are zeros.
inline results without_expert(results to)
{
    to.epilogue &= ADDS_TO_Y | ADDS_RESIDUAL;
    return to;
}

template <uint ACROSS, typename S>
inline void finish_tile(
    device const float *x_unit, results to, constant S &shape, bool views, result_tile tile, uint expert, device float *parts, uint own,
    thread float2 (&sums)[DOWN][ACROSS], shared_memory shared)
{
    #pragma unroll
    for (uint k = 0; k < ACROSS; ++k) {
        threadgroup const float *memory = share_sums(k, own, sums, shared);
        for (uint i = shared.index; i < 16 * ROWS; i += THREADS) {
            const uint n = tile.row_begin + i % ROWS, column = i / ROWS / 8 * 8 * ACROSS + 8 * k + i / ROWS % 8;
            if (n >= shape.rows || tile.column_begin + column >= tile.columns) continue;
            const float sum = memory[i] * x_unit[vectors_of(shared)[column]];
            const uint pair = pairs_of(shared)[column];
            if (parts != nullptr) parts[(ulong(tile.k_part) * shape.batch * shape.slots + pair) * shape.rows + n] = sum;
            else finish_pair(to, shape, views, expert, pair, n, sum);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
}

// Threadgroups that are neighbours have the same pairs, or rows of the same expert. There may be more of them than tiles.
template <uint ACROSS, typename S>
inline void make_tiles(
@{buffers}
    device uint *scratch, results to, constant S &push, bool views, uint k_parts, uint group, uint groups, shared_memory shared)
{
    const sorted_pairs s = find_pairs(scratch, push);
    device const float *x_unit = (device const float *)scratch;
    device float *parts = (device float *)s.end;
    const uint columns = (push.batch * push.x_slots + 15) / 16 * 16, fours = (push.row_tiles / @{wide_ratio} + 3) / 4;
    const uint down = (push.rows + ROWS - 1) / ROWS, all_tiles = *s.tile_count, own = find_lane(shared);
    for (uint work = group; work < down * all_tiles * k_parts; work += groups) {
        const uint number = work / k_parts, k_part = work % k_parts;
        device const uint *at = s.tiles + number / down * 3;
        const uint expert = at[0];
        const bool found = expert < push.experts;
        if (found ? expert < push.expert_first || expert >= push.expert_end : push.expert_first != 0) continue;  // another launch's
        const result_tile tile = {number % down * ROWS, push.rows, at[1], at[2], k_part, fours * k_part / k_parts,
                                  fours * (k_part + 1) / k_parts};
        if (!found) {
            const uint count = min(ROWS, push.rows - tile.row_begin), zeros = count * (tile.columns - tile.column_begin);
            for (uint i = shared.index; i < zeros && k_parts == 1; i += THREADS) {
                const uint pair = s.pairs[tile.column_begin + i / count];
                finish_pair(without_expert(to), push, views, expert, pair, tile.row_begin + i % count, 0.0f);
            }
            continue;
        }
        if (shared.index < 16 * ACROSS) {
            const uint pair = s.pairs[min(tile.column_begin + shared.index, tile.columns - 1)];
            pairs_of(shared)[shared.index] = pair;
            vectors_of(shared)[shared.index] = push.x_slots == 1 ? pair / push.slots : pair;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float2 sums[DOWN][ACROSS] = {};
        device const half *x_operands = (device const half *)(scratch + columns);
@if stacked
        const uint matrix = expert - push.expert_first;
        @{expert_begin}
        make_sums<ACROSS>(@{expert_weights}, push, 0, x_operands, tile, own, sums, shared);
@else
        const uint weights_begin = (expert - push.expert_first) * (views ? push.weights_inner : push.rows);
        make_sums<ACROSS>(@{expert_weights}, push, weights_begin, x_operands, tile, own, sums, shared);
@end
        finish_tile<ACROSS>(x_unit, to, push, views, tile, expert, k_parts > 1 ? parts : nullptr, own, sums, shared);
    }
}

// Adds what tiles made of parts of the rows.
template <typename S>
inline void add_parts(
    device const uint *ids, device uint *scratch, results to, constant S &push, bool views, uint k_parts, uint group, uint groups,
    shared_memory shared)
{
    device const float *parts = (device const float *)find_pairs(scratch, push).end;
    const uint all = push.rows * push.batch * push.slots;
    for (uint i = group * THREADS + shared.index; i < all; i += groups * THREADS) {
        const uint pair = i / push.rows, expert = expert_of_pair(ids, push, views, pair);
        const bool found = expert < push.experts;
        if (found ? expert < push.expert_first || expert >= push.expert_end : push.expert_first != 0) continue;  // another launch's
        float sum = 0.0f;
        for (uint part = 0; found && part < k_parts; ++part) sum += parts[ulong(part) * all + i];
        finish_pair(found ? to : without_expert(to), push, views, expert, pair, i % push.rows, sum);
    }
}
