@if experts
// What a workgroup keeps of `vectors` right-hand sides from number `vector` on, of each tiles `begin` to `end`; a thread has of number `mine`
// of these the tile at `own`, and each `step` further on.
void stage_x(uint vector, uint vectors, uint mine, uint begin, uint end, uint @{own}@{step_parameter}) {
    const uint row_runs = row_tiles * @{row_tile_runs}u, runs = x_from(vector + mine, row_runs);
    const uint skipped = @{staged_begin}, each = @{staged_end} - skipped, all = vectors * each;
    for (uint done = 0u; done < all; done += STAGED) {
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < min(STAGED, all - done); i += gl_WorkGroupSize.x) {
            const uint run = VIEWS == 3u ? x_from(vector + (done + i) / each, row_runs) + (done + i) % each : runs + done + i;
            staged[i + i / @{staged_runs}u] = x_run(run + skipped);
        }
        staged_from = runs + skipped + done - mine * each;  // where it would be, if all were of the thread's own
        barrier();
@if several
        [[unroll]] for (uint k = 0; k < TILES; ++k) {
            const uint j = own + k * step;
            if (j < end && runs + @{staged_block} - staged_from < STAGED) load_x(vector + mine, j, k);
        }
@else
        if (j < end && runs + @{staged_block} - staged_from < STAGED) load_x(vector + mine, j, 0u);
@end
    }
}
@else
@if several
// What a workgroup keeps of right-hand side `vector`, which is tiles `begin` to `end`; a thread has the one at `own`, and each
// `step` further on: of those that it keeps, number `m`.
@else
// What a workgroup keeps of right-hand side `vector`, number `m`, which is tiles `begin` to `end`; a thread has the one at `j`.
@end
void stage_x(uint vector, uint m, uint begin, uint end, uint @{own}@{step_parameter}) {
    const uint runs = x_from(vector, row_tiles * @{row_tile_runs}u), runs_end = runs + @{staged_end};
    for (staged_from = runs + @{staged_begin}; staged_from < runs_end; staged_from += STAGED) {
        const uint count = min(STAGED, runs_end - staged_from);
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < count; i += gl_WorkGroupSize.x) staged[i + i / @{staged_runs}u] = x_run(staged_from + i);
        barrier();
@if several
        [[unroll]] for (uint k = 0; k < TILES; ++k) {
            const uint j = own + k * step;
            if (j < end && runs + @{staged_block} - staged_from < STAGED) load_x(vector, j, k * BATCH + m);
        }
@else
        if (j < end && runs + @{staged_block} - staged_from < STAGED) load_x(vector, j, m);
@end
    }
}
@end
