// Puts `count` tiles of x, from `begin` on, where all of the workgroup finds them, of each right-hand side.
void share_slice(uint begin, uint count) {
    barrier();
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
