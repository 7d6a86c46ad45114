const uint SUMS = ROWS * BATCH;  // at once: at most as many as a subgroup has lanes
@if norms
const uint SQUARES = gl_WorkGroupSize.x / 4u * SUMS * 2u;  // where those of squares of x begin: a second array costs time, even without use
shared float partial[SQUARES + (NORM == 0u ? 0u : gl_WorkGroupSize.x / 4u * BATCH)];
@else
shared float partial[gl_WorkGroupSize.x / 4u * SUMS * 2u];
@end
