// Runs `at` to `at` + 3 of x, for each thread its own. What one of four neighbours wants, all four load, side by side; then they swap,
// so that each has what it wants. The whole subgroup calls it.
void load_runs(uint at, out vec4 run0, out vec4 run1, out vec4 run2, out vec4 run3) {
    vec4 v[4];
@if stages
    if (STAGED > 1u) {
        [[unroll]] for (uint i = 0u; i < 4u; ++i) v[i] = staged_x(at + i);
    } else {
        @include swap_runs.glsl
    }
@else
    @include swap_runs.glsl
@end
    run0 = v[0], run1 = v[1], run2 = v[2], run3 = v[3];
}
