@include sums_head.glsl
layout(constant_id = @{id.rows}) const uint ROWS = 4;  // rows at a time, at most as many as a subgroup has lanes
@include sums_constants.glsl

@include gemv_id_bindings.glsl

const uint TILES = @{kept_tiles}u, BATCH = 1u, SUMS = ROWS;
shared float partial[gl_WorkGroupSize.x / 4u * ROWS * 2u];

@include products.glsl
@if stages
@include staged_x.glsl
@end
@{near_tables}

@if loads_runs
@include load_runs.glsl

@end
@{load_x}

@{fetch}

@{accumulate}

@include sum_of_lanes.glsl
@if stages
@include stage_x.glsl

@end
// Subgroups share a row, each with the slice of x that it holds. Parts of results that follow each other share x: a workgroup takes such.
// Of results that are sums over the slots of a token, subgroups share those, too, and add up what each has of its own.
void main() {
    @{fill_tables}
    const uint tiles = @{tiles_of_row};
    // Of a short row, fewer lanes have the tiles; the others of the subgroup take other rows.
    uint width = gl_SubgroupSize, split = 1u, at_once = 1u, held = ~0u, held_vector = ~0u, turn = 0u;
    while (width / 2u >= (VIEWS == 3u ? max(ROWS, 4u) : ROWS) && width / 2u * TILES >= tiles) width /= 2u;
    const uint slice = width * TILES, slices = (tiles + slice - 1u) / slice, lane = gl_SubgroupInvocationID % width;
    while (split < slices && gl_NumSubgroups % (2u * split) == 0u) split *= 2u;
    const uint added = VIEWS == 3u ? slots : 1u;  // slots of a result
    while (at_once < added && gl_NumSubgroups % (2u * split * at_once) == 0u) at_once *= 2u;
    const uint joint = split * at_once, rest = gl_SubgroupSize / width, teams = gl_NumSubgroups / joint * rest;
    const uint team = gl_SubgroupID / joint * rest + gl_SubgroupInvocationID / width;
    const uint own = rest * ROWS, place_of_team = gl_SubgroupInvocationID / width * ROWS + lane;
    const uint parts = (rows + teams * ROWS - 1u) / (teams * ROWS), works = (VIEWS == 0u ? 1u : sets) * batch * slots / added * parts;
    const uint each = works / gl_NumWorkGroups.x, more = works % gl_NumWorkGroups.x;
    const uint work_first = gl_WorkGroupID.x * each + min(gl_WorkGroupID.x, more);
    for (uint work = work_first; work < work_first + each + uint(gl_WorkGroupID.x < more); ++work) {
        const uint results = pair_of(work / parts * added), first = work % parts * teams * ROWS;
        const uint expert_of_all = ids[id_of(results)];  // where they are of one
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
        for (uint slots_before = 0u; slots_before < added; slots_before += at_once) {
            const uint slot = slots_before + (VIEWS == 3u ? gl_SubgroupID % joint / split : 0u), pair = results + min(slot, added - 1u);
            const uint vector = x_slots == 1u ? pair / slots : pair, expert = VIEWS == 3u ? ids[id_of(pair)] : expert_of_all;
            const uint first_pair = results + slots_before, first_vector = x_slots == 1u ? first_pair / slots : first_pair;
@if stages
            const uint vectors = VIEWS == 3u && x_slots > 1u ? min(at_once, added - slots_before) : 1u;  // that are staged together
            const uint mine = min(slot - slots_before, vectors - 1u);
@end
            const bool found = expert < experts, bound = found && expert >= expert_first && expert < expert_end && slot < added;
            const uint begin = row_of_expert(expert - expert_first), row = begin + first + team * ROWS, end = begin + rows;
            const float scale = VIEWS == 3u ? scale_of_pair(pair, expert) : 1.0;
            float before[ROWS];  // of slots before
            [[unroll]] for (uint r = 0u; r < ROWS; ++r) before[r] = sum[r], sum[r] = 0.0;
            for (uint c0 = 0u; c0 < slices; c0 += split) {
                const uint c = c0 + gl_SubgroupID % split;
                const bool kept = c0 == held && first_vector == held_vector;
                // What is loaded of x does not wait for the expert's number.
@if stages
                if (STAGED > 1u && !kept)
                    stage_x(first_vector, vectors, mine, c0 * slice, min((c0 + split) * slice, tiles), c * slice + lane@{step_of_width});
@end
                [[unroll]] for (uint k = 0; k < TILES; ++k) {
                    const uint j = c * slice + k * width + lane;
@if stages
                    if (STAGED == 1u && !kept) load_x(vector, min(j, tiles - 1u), k);
@else
                    if (!kept) load_x(vector, min(j, tiles - 1u), k);
@end
                    if (j >= tiles) continue;
                    if (!bound) continue;
@if overruns
                    // Of the last block of all, beyond which no load goes, the sum is made beforehand.
                    const bool at_end = PADDED == 0u && expert + 1u == expert_end && row + ROWS >= end && j + @{block_tiles}u >= tiles;
                    float sum_at_end = 0.0;
                    if (at_end) {
                        @{last_arrays}
                        fetch_last(end - 1u, j, @{last_names});
                        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum_at_end += row + r + 1u == end ? sum[r] : 0.0;
                        accumulate(end - 1u, j, k, @{last_names}, sum_at_end);
                    }
@end
                    @{fetched}
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch(min(row + r, end - 1u), j, @{fetched_at});
                    [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate(min(row + r, end - 1u), j, k, @{fetched_at}, sum[r]);
@if overruns
                    if (at_end) {
                        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = row + r + 1u == end ? sum_at_end : sum[r];
                    }
@end
                }
                held = c0;
                held_vector = first_vector;
            }
            if (!found && slot < added && first == 0u && expert_first == 0u && gl_SubgroupID == slot % at_once * split &&
                gl_SubgroupInvocationID == 0u)
                atomicAdd(out_of_range, 1u);  // it has zeros
            if (VIEWS == 3u) {
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = before[r] + sum[r] * scale;
            }
        }
        const bool here = expert_of_all < experts ? expert_of_all >= expert_first && expert_of_all < expert_end : expert_first == 0u;
        if (VIEWS != 3u && !here) continue;  // another launch's
        float total = sum_of_lanes(sum, width);
        // Halves of the memory in turn: who is a row ahead does not write where others still read.
        const uint n = first + team * ROWS + lane, place = (turn++ % 2u * gl_NumSubgroups + gl_SubgroupID) * own + place_of_team;
        if (joint > 1u) {
            if (lane < ROWS) partial[place] = total;
            barrier();
        }
        if (gl_SubgroupID % joint > 0u || lane >= ROWS || n >= rows) continue;
        for (uint s = 1u; s < joint; ++s) total += partial[place + s * own];
        finish(results, expert_of_all, n, total, VIEWS == 3u ? 1.0 : scale_of_pair(results, expert_of_all));
    }
}
