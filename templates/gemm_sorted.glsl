// A pair is a token and one of its slots. Pairs are sorted by their experts, and of one expert by their numbers; those of no expert come
// last, as those of expert number `experts`. What is known of them lies behind the operands of x: how many tiles there are of each size,
// the largest first, each of which another launch makes; where the pairs of each expert begin; for each block of pairs, how many of them
// each expert has, then how many in the blocks before; the pairs; and of each tile, size by size, its expert, and where its pairs begin and
// end.
layout(binding = @{binding_ids}, std430) readonly buffer Ids { uint ids[]; };
layout(binding = @{binding_scratch}, std430) buffer Sorted { uint sorted[]; };

const uint MOST_EXPERTS = 512u, SIZES = 3u;

uint all_pairs() {
    return batch * slots;
}

uint pairs_of_block() {
    return max(256u, (all_pairs() + 63u) / 64u);
}

uint blocks_of_pairs() {
    return (all_pairs() + pairs_of_block() - 1u) / pairs_of_block();
}

uint begins_at() {
    return end_of_operands() + SIZES;
}

uint counts_at() {
    return begins_at() + experts + 1u;
}

uint pairs_at() {
    return counts_at() + blocks_of_pairs() * (experts + 1u);
}

uint tiles_at() {
    return pairs_at() + all_pairs();
}

// An expert has no more tiles than full ones, and one.
uint end_of_sorted() {
    return tiles_at() + 3u * (all_pairs() / 16u + min(experts + 1u, all_pairs()));
}
