@if packs
// Puts `count` tiles of each right-hand side, from `begin` on, into shared_x; or, in the launch that packs, into packed_y, all workgroups.
void share_slice(uint begin, uint count) {
    const uint group = X_PACKED == 2u ? gl_WorkGroupID.x : 0u, groups_here = X_PACKED == 2u ? gl_NumWorkGroups.x : 1u;
    barrier();
    for (uint i = gl_LocalInvocationID.x; X_PACKED == 1u && i < count * BATCH * X_FOURS; i += gl_WorkGroupSize.x)
        shared_x[i / count * SLICE + i % count] = packed_x[i / count * (@{tiles_of_row}) + begin + i % count];
@if loads_runs
    for (uint from = group * gl_WorkGroupSize.x; X_PACKED != 1u && from < count * BATCH; from += groups_here * gl_WorkGroupSize.x) {
        const uint i = from + gl_LocalInvocationID.x, m = i / count, t = i % count;
@else
    uint i = group * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    for (; X_PACKED != 1u && i < count * BATCH; i += groups_here * gl_WorkGroupSize.x) {
        const uint m = i / count, t = i % count;
@end
@if in_turns
        [[unroll]] for (uint turn = 0u; turn < (X_PACKED == 2u ? 1u : TURNS); ++turn) {
            if (!is_turn(turn)) continue;
            load_x(m, begin + t, 0u);  // the whole subgroup, also beyond the end
  @if loads_runs
            if (i >= count * BATCH) continue;
  @end
            [[unroll]] for (uint f = 0u; f < X_FOURS; ++f)
                if (X_PACKED == 2u) packed_y[(m * X_FOURS + f) * count + t] = x[0][f];
                else if (TURNS == 1u) shared_x[(m * X_FOURS + f) * SLICE + t] = x[0][f];
                else [[unroll]] for (uint w = 0u; w < 4u; ++w)
                    if (turn_of(4u * f + w) == turn) shared_x[(m * X_FOURS + f) * SLICE + t][w] = x[0][f][w];
        }
@else
        load_x(m, begin + t, 0u);  // the whole subgroup, also beyond the end
  @if loads_runs
        if (i >= count * BATCH) continue;
  @end
        [[unroll]] for (uint f = 0u; f < X_FOURS; ++f)
            if (X_PACKED == 2u) packed_y[(m * X_FOURS + f) * count + t] = x[0][f];
            else shared_x[(m * X_FOURS + f) * SLICE + t] = x[0][f];
@end
    }
    barrier();
}
@else
// Puts `count` tiles of each right-hand side, from `begin` on, into shared_x.
void share_slice(uint begin, uint count) {
    barrier();
@if loads_runs
    for (uint from = 0u; from < count * BATCH; from += gl_WorkGroupSize.x) {
        const uint i = from + gl_LocalInvocationID.x, m = i / count, t = i % count;
        load_x(m, begin + t, 0u);  // the whole subgroup, also beyond the end
        if (i >= count * BATCH) continue;
@else
    for (uint i = gl_LocalInvocationID.x; i < count * BATCH; i += gl_WorkGroupSize.x) {
        const uint m = i / count, t = i % count;
        load_x(m, begin + t, 0u);
@end
  @if digits
        [[unroll]] for (uint f = 0u; f < X_FOURS; ++f) shared_x[(m * X_FOURS + f) * SLICE + t] = x[0][f];
  @else
        share_x(m, t);
  @end
    }
    barrier();
}
@end
