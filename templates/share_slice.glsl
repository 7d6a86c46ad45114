@if packs
// A launch for others: all tiles of all right-hand sides.
void pack_x() {
    const uint tiles = @{tiles_of_row};
    for (uint from = gl_WorkGroupID.x * gl_WorkGroupSize.x; from < tiles * BATCH; from += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
        const uint i = from + gl_LocalInvocationID.x;
        load_x(i / tiles, i % tiles, 0u);  // the whole subgroup, also beyond the end
        if (i < tiles * BATCH) share_x(i / tiles, i % tiles);
    }
}

@end
// Puts `count` tiles of x, from `begin` on, where all of the workgroup finds them, of each right-hand side.
void share_slice(uint begin, uint count) {
    barrier();
@if packs
    if (X_PACKED == 1u) {
        const uint all = count * BATCH * X_FOURS;
        for (uint i = gl_LocalInvocationID.x; i < all; i += gl_WorkGroupSize.x)
            shared_x[i / count * SLICE + i % count] = packed_x[i / count * (@{tiles_of_row}) + begin + i % count];
        barrier();
        return;
    }
@end
@if loads_runs
    for (uint from = 0u; from < count * BATCH; from += gl_WorkGroupSize.x) {
        const uint i = from + gl_LocalInvocationID.x;  // the whole subgroup loads, also beyond the end
        load_x(i / count, begin + i % count, 0u);
        if (i < count * BATCH) share_x(i / count, i % count);
    }
@else
    for (uint i = gl_LocalInvocationID.x; i < count * BATCH; i += gl_WorkGroupSize.x) {
        load_x(i / count, begin + i % count, 0u);
        share_x(i / count, i % count);
    }
@end
    barrier();
}
