@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;
layout(constant_id = @{id.tile_cols}) const uint TILE_COLS = 128;  // pairs of a tile
layout(constant_id = @{id.large_cols}) const uint LARGE_COLS = 0;  // pairs of a larger one; 0: there are none

layout(binding = @{binding_status}, std430) buffer Status { uint out_of_range; };

@include gemm_operands.glsl

// Of each expert: how many pairs it has, then where they begin, and where its tiles do, and its larger ones.
shared uint pairs_of[MOST_EXPERTS + 2u];
shared uvec2 tiles_of[MOST_EXPERTS + 1u];
shared uvec3 sums[gl_WorkGroupSize.x];

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

// Tiles for so many pairs, and larger ones: of what these leave, one tile takes all, or there is a larger one more.
uvec2 tiles_for(uint pairs) {
    if (LARGE_COLS == 0u) return uvec2((pairs + TILE_COLS - 1u) / TILE_COLS, 0u);
    const uint full = pairs / LARGE_COLS, left = pairs % LARGE_COLS;
    return left > TILE_COLS ? uvec2(0u, full + 1u) : uvec2(left == 0u ? 0u : 1u, full);
}

// The expert of a tile: its tiles begin at `i` or before, and those of the next one behind.
uint expert_of_tile(uint i, bool large) {
    uint expert = 0u, beyond = experts + 1u;
    while (beyond - expert > 1u) {
        const uint middle = (expert + beyond) / 2u;
        if ((large ? tiles_of[middle].y : tiles_of[middle].x) <= i)
            expert = middle;
        else
            beyond = middle;
    }
    return expert;
}

// One workgroup does it.
void main() {
    const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x, all = experts + 1u;
    if (gl_WorkGroupID.x != 0u) return;
    for (uint e = thread; e < all; e += threads) pairs_of[e] = add_blocks(e);
    barrier();
    const uint each = (all + threads - 1u) / threads, first = min(thread * each, all), end = min(first + each, all);
    uvec3 own = uvec3(0u);
    for (uint e = first; e < end; ++e) own += uvec3(pairs_of[e], tiles_for(pairs_of[e]));
    sums[thread] = own;
    barrier();
    for (uint by = 1u; by < threads; by *= 2u) {
        const uvec3 before = thread < by ? uvec3(0u) : sums[thread - by];
        barrier();
        sums[thread] += before;
        barrier();
    }
    uvec3 place = sums[thread] - own;
    for (uint e = first; e < end; ++e) {
        const uint count = pairs_of[e];
        sorted[begins_at() + e] = pairs_of[e] = place.x;
        tiles_of[e] = place.yz;
        place += uvec3(count, tiles_for(count));
    }
    if (thread == 0u) pairs_of[all] = all_pairs();
    barrier();
    const uvec2 tiles = sums[threads - 1u].yz;
    const uint missed = all_pairs() - pairs_of[experts];
    if (thread == 0u) sorted[end_of_operands()] = tiles.x, sorted[end_of_operands() + 1u] = tiles.y;
    if (thread == 0u && missed > 0u) atomicAdd(out_of_range, missed);
    for (uint i = thread; i < tiles.x + tiles.y; i += threads) {
        const bool large = i >= tiles.x;
        const uint number = large ? i - tiles.x : i, expert = expert_of_tile(number, large), at = tiles_at() + 3u * i;
        const uvec2 before = tiles_of[expert];
        const uint beyond = pairs_of[expert + 1u], larger = tiles_for(beyond - pairs_of[expert]).y;
        const uint from = large ? (number - before.y) * LARGE_COLS : larger * LARGE_COLS + (number - before.x) * TILE_COLS;
        const uint begin = pairs_of[expert] + from;
        sorted[at] = expert;
        sorted[at + 1u] = begin;
        sorted[at + 2u] = min(begin + (large ? LARGE_COLS : TILE_COLS), beyond);
    }
}
