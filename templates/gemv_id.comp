@{banner}
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;
layout(constant_id = @{id.rows}) const uint ROWS = 4;  // rows at a time
@include sums_constants.glsl

@{buffers}
@{wide_buffers}
layout(binding = @{binding_x}, std430) readonly buffer Input { @{x_type} x_in[]; };
layout(binding = @{binding_ids}, std430) readonly buffer Ids { uint ids[]; };
layout(binding = @{binding_y}, std430) writeonly buffer Output { float y[]; };
layout(binding = @{binding_status}, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of @{tile_elements} elements in a row
    uint batch;         // right-hand sides: tokens
    uint slots;         // experts of each token
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
};

@{tables}
@{prelude}
@include sums.glsl

@if wide
// As main does, with wide tiles, and with parts of the results that lie one after the other, for they share x.
void walk_wide() {
    const uint wide_tiles = row_tiles / @{wide_ratio}u, lane = gl_SubgroupInvocationID;
    const uint slice = gl_SubgroupSize * WIDE_TILES, slices = (wide_tiles + slice - 1u) / slice;
    uint split = 1u, held = ~0u, held_token = ~0u, turn = 0u;
    while (split < slices && gl_NumSubgroups % (2u * split) == 0u) split *= 2u;
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    const uint parts = (rows + teams * ROWS - 1u) / (teams * ROWS), works = batch * slots * parts;
    const uint each = works / gl_NumWorkGroups.x, more = works % gl_NumWorkGroups.x;
    const uint work_first = gl_WorkGroupID.x * each + min(gl_WorkGroupID.x, more);
    for (uint work = work_first; work < work_first + each + uint(gl_WorkGroupID.x < more); ++work) {
        const uint pair = work / parts, token = pair / slots, first = work % parts * teams * ROWS, expert = ids[pair];
        const bool found = expert < experts, bound = found && expert >= expert_first && expert < expert_end;
        const uint begin = (expert - expert_first) * rows, row = begin + first + team * ROWS, end = begin + rows;
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
        for (uint c0 = 0u; c0 < slices; c0 += split) {
            const uint c = c0 + gl_SubgroupID % split;
            const bool kept = c0 == held && token == held_token;
            // What is loaded of x does not wait for the expert's number.
            @{stage}
            [[unroll]] for (uint k = 0; k < WIDE_TILES; ++k) {
                const uint j = c * slice + k * gl_SubgroupSize + lane;
                if (j >= wide_tiles) continue;
                if (@{unstaged}!kept) load_wide_x(token, j, k);
                if (!bound) continue;
                @{wide_last}
                @{fetched}
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch_wide(min(row + r, end - 1u), j, @{fetched_at});
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate_wide(min(row + r, end - 1u), j, k, @{fetched_at}, sum[r]);
                @{wide_put}
            }
            held = c0;
            held_token = token;
        }
        if (found ? !bound : expert_first != 0u) continue;  // another launch's
        if (!found && first == 0u && gl_LocalInvocationID.x == 0u) atomicAdd(out_of_range, 1u);  // zeros
        const float all = sum_of_lanes(sum, gl_SubgroupSize);
        if (split == 1u) {
            if (lane < ROWS && first + team * ROWS + lane < rows) y[pair * rows + first + team * ROWS + lane] = all;
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
            if (first + i < rows) y[pair * rows + first + i] = total;
        }
    }
}

@end
void main() {
    @{fill_tables}
@if wide
    if (LOAD_WORDS == 4u && gl_SubgroupSize >= ROWS@{wide_if}) {
        walk_wide();
        return;
    }
@end
    // A subgroup holds a slice of x and walks down the rows. While there are slices for more, subgroups share a row.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    uint split = 1u;
    while (split < slices && gl_NumSubgroups % (2u * split) == 0u) split *= 2u;
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    const uint parts = (rows + teams * ROWS - 1u) / (teams * ROWS);
    uint held = ~0u, held_token = ~0u;
    for (uint work = gl_WorkGroupID.x; work < batch * slots * parts; work += gl_NumWorkGroups.x) {
        const uint pair = work / parts, token = pair / slots, first = work % parts * teams * ROWS, expert = ids[pair];
        const bool found = expert < experts;
        if (found ? expert < expert_first || expert >= expert_end : expert_first != 0u) continue;  // another launch's
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
        if (!found && first == 0u && gl_LocalInvocationID.x == 0u) atomicAdd(out_of_range, 1u);  // zeros
        for (uint c = gl_SubgroupID % split; found && c < slices; c += split) {
            [[unroll]] for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
                if (j >= row_tiles) continue;
                if (c != held || token != held_token) load_x(token, j, k);
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, rows - 1u);
                    accumulate((expert - expert_first) * rows + row, j, k, sum[r]);
                }
            }
            held = c;
            held_token = token;
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
            if (first + i < rows) y[pair * rows + first + i] = total;
        }
        barrier();
    }
}
