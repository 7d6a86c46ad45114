@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;
layout(constant_id = @{id.tile_cols}) const uint TILE_COLS = 128;  // pairs of a tile

layout(binding = @{binding_status}, std430) buffer Status { uint out_of_range; };

@include gemm_operands.glsl

// Of each expert: how many pairs it has, then where they begin, and where its tiles do.
shared uint pairs_of[MOST_EXPERTS + 1u], tiles_of[MOST_EXPERTS + 1u];
shared uint sum_of_pairs[gl_WorkGroupSize.x], sum_of_tiles[gl_WorkGroupSize.x];

const uint AHEAD = 16u;  // counts that are on their way

// Of an expert, counts become the numbers of pairs in the blocks before.
uint add_blocks(uint expert) {
    uint sum = 0u;
    for (uint block = 0u; block < blocks_of_pairs(); block += AHEAD) {
        uint counts[AHEAD];
        [[unroll]] for (uint k = 0u; k < AHEAD; ++k)
            counts[k] = sorted[counts_at() + min(block + k, blocks_of_pairs() - 1u) * (experts + 1u) + expert];
        [[unroll]] for (uint k = 0u; k < AHEAD; ++k) {
            if (block + k >= blocks_of_pairs()) continue;
            sorted[counts_at() + (block + k) * (experts + 1u) + expert] = sum;
            sum += counts[k];
        }
    }
    return sum;
}

uint tiles_for(uint pairs) {
    return (pairs + TILE_COLS - 1u) / TILE_COLS;
}

// One workgroup does it.
void main() {
    const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x, all = experts + 1u;
    if (gl_WorkGroupID.x != 0u) return;
    for (uint e = thread; e < all; e += threads) pairs_of[e] = add_blocks(e);
    barrier();
    const uint each = (all + threads - 1u) / threads, first = min(thread * each, all), end = min(first + each, all);
    uint own_pairs = 0u, own_tiles = 0u;
    for (uint e = first; e < end; ++e) {
        own_pairs += pairs_of[e];
        own_tiles += tiles_for(pairs_of[e]);
    }
    sum_of_pairs[thread] = own_pairs;
    sum_of_tiles[thread] = own_tiles;
    barrier();
    for (uint by = 1u; by < threads; by *= 2u) {
        const uint pairs = thread < by ? 0u : sum_of_pairs[thread - by], tiles = thread < by ? 0u : sum_of_tiles[thread - by];
        barrier();
        sum_of_pairs[thread] += pairs;
        sum_of_tiles[thread] += tiles;
        barrier();
    }
    uint place = sum_of_pairs[thread] - own_pairs, tile = sum_of_tiles[thread] - own_tiles;
    for (uint e = first; e < end; ++e) {
        const uint count = pairs_of[e];
        sorted[begins_at() + e] = pairs_of[e] = place;
        tiles_of[e] = tile;
        place += count;
        tile += tiles_for(count);
    }
    barrier();
    const uint all_tiles = sum_of_tiles[threads - 1u], missed = all_pairs() - pairs_of[experts];
    if (thread == 0u) sorted[end_of_operands()] = all_tiles;
    if (thread == 0u && missed > 0u) atomicAdd(out_of_range, missed);
    for (uint i = thread; i < all_tiles; i += threads) {
        uint expert = 0u, beyond = all;  // its tiles begin at `i` or before, and those of this one behind
        while (beyond - expert > 1u) {
            const uint middle = (expert + beyond) / 2u;
            if (tiles_of[middle] <= i)
                expert = middle;
            else
                beyond = middle;
        }
        const uint begin = pairs_of[expert] + (i - tiles_of[expert]) * TILE_COLS, at = tiles_at() + 3u * i;
        sorted[at] = expert;
        sorted[at + 1u] = begin;
        sorted[at + 2u] = min(begin + TILE_COLS, expert < experts ? pairs_of[expert + 1u] : all_pairs());
    }
}
