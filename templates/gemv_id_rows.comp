@include sums_head.glsl
layout(constant_id = @{id.rows}) const uint ROWS = 4;  // rows at a time
@include sums_constants.glsl

@include gemv_id_bindings.glsl

const uint TILES = @{kept_tiles}u;

@include products.glsl
@{load_x}

@{accumulate}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS];

void main() {
    // A subgroup holds a slice of x and walks down the rows. While there are slices for more, subgroups share a row.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    uint split = 1u;
    while (split < slices && gl_NumSubgroups % (2u * split) == 0u) split *= 2u;
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    const uint parts = (rows + teams * ROWS - 1u) / (teams * ROWS);
    uint held = ~0u, held_vector = ~0u;
    for (uint work = gl_WorkGroupID.x; work < (VIEWS == 0u ? 1u : sets) * batch * slots * parts; work += gl_NumWorkGroups.x) {
        const uint pair = pair_of(work / parts), first = work % parts * teams * ROWS, expert = ids[id_of(pair)];
        const uint vector = x_slots == 1u ? pair / slots : pair;
        const bool found = expert < experts;
        if (found ? expert < expert_first || expert >= expert_end : expert_first != 0u) continue;  // another launch's
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
        if (!found && first == 0u && gl_LocalInvocationID.x == 0u) atomicAdd(out_of_range, 1u);  // zeros
        for (uint c = gl_SubgroupID % split; found && c < slices; c += split) {
            [[unroll]] for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
                if (j >= row_tiles) continue;
                if (c != held || vector != held_vector) load_x(vector, j, k);
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, rows - 1u);
                    accumulate(row_of_expert(expert - expert_first) + row, j, k, sum[r]);
                }
            }
            held = c;
            held_vector = vector;
        }
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            const float all = subgroupAdd(sum[r]);
            if (subgroupElect()) partial[gl_SubgroupID * ROWS + r] = all;
        }
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < teams * ROWS; i += gl_WorkGroupSize.x) {
            const uint at = i / ROWS * (split - 1u) * ROWS + i;
            float total = 0.0;
            for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS];
            if (first + i < rows) finish(pair, expert, first + i, total, scale_of_pair(pair, expert));
        }
        barrier();
    }
}
