@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;
layout(constant_id = @{id.tile_cols}) const uint TILE_COLS = 128;      // pairs of a tile, the smallest
layout(constant_id = @{id.large_cols}) const uint LARGE_COLS = 0;      // of a larger one; 0: there are none
layout(constant_id = @{id.largest_cols}) const uint LARGEST_COLS = 0;  // and of a still larger one

layout(binding = @{binding_status}, std430) buffer Status { uint out_of_range; };

@include gemm_operands.glsl

const uvec3 COLS = uvec3(LARGEST_COLS, LARGE_COLS, TILE_COLS);             // of each size
const uint FULL = LARGEST_COLS != 0u ? 0u : LARGE_COLS != 0u ? 1u : 2u;  // the largest that there is
const uint FULL_COLS = LARGEST_COLS != 0u ? LARGEST_COLS : LARGE_COLS != 0u ? LARGE_COLS : TILE_COLS;

// Of each expert: how many pairs it has, then where they begin, and where its tiles of each size do.
shared uint pairs_of[MOST_EXPERTS + 2u];
shared uvec3 tiles_of[MOST_EXPERTS + 1u];
shared uvec4 sums[gl_WorkGroupSize.x];

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

// Tiles for so many pairs, of each size: full ones of the largest, and for what these leave one of the smallest that takes all of it.
uvec3 tiles_for(uint pairs) {
    const uint left = pairs % FULL_COLS;
    uvec3 tiles = uvec3(0u);
    tiles[FULL] = pairs / FULL_COLS;
    uint size = SIZES - 1u;
    while (COLS[size] < left) --size;
    tiles[size] += min(left, 1u);
    return tiles;
}

// The expert of a tile: its tiles of that size begin at `i` or before, and those of the next one behind.
uint expert_of_tile(uint i, uint size) {
    uint expert = 0u, beyond = experts + 1u;
    while (beyond - expert > 1u) {
        const uint middle = (expert + beyond) / 2u;
        if (tiles_of[middle][size] <= i)
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
    uvec4 own = uvec4(0u);
    for (uint e = first; e < end; ++e) own += uvec4(pairs_of[e], tiles_for(pairs_of[e]));
    sums[thread] = own;
    barrier();
    for (uint by = 1u; by < threads; by *= 2u) {
        const uvec4 before = thread < by ? uvec4(0u) : sums[thread - by];
        barrier();
        sums[thread] += before;
        barrier();
    }
    uvec4 place = sums[thread] - own;
    for (uint e = first; e < end; ++e) {
        const uint count = pairs_of[e];
        sorted[begins_at() + e] = pairs_of[e] = place.x;
        tiles_of[e] = place.yzw;
        place += uvec4(count, tiles_for(count));
    }
    if (thread == 0u) pairs_of[all] = all_pairs();
    barrier();
    const uvec3 tiles = sums[threads - 1u].yzw;
    const uint missed = all_pairs() - pairs_of[experts];
    if (thread < SIZES) sorted[end_of_operands() + thread] = tiles[thread];
    if (thread == 0u && missed > 0u) atomicAdd(out_of_range, missed);
    for (uint i = thread; i < tiles.x + tiles.y + tiles.z; i += threads) {
        uint size = 0u, number = i;
        while (number >= tiles[size]) number -= tiles[size++];
        const uint expert = expert_of_tile(number, size), at = tiles_at() + 3u * i, beyond = pairs_of[expert + 1u];
        // One that is smaller has what full ones leave.
        const uint full = size == FULL ? number - tiles_of[expert][size] : (beyond - pairs_of[expert]) / FULL_COLS;
        const uint begin = pairs_of[expert] + full * FULL_COLS;
        sorted[at] = expert;
        sorted[at + 1u] = begin;
        sorted[at + 2u] = min(begin + COLS[size], beyond);
    }
}
