// Runs of x on their way to threads, from run `staged_from` on, with gaps: neighbours take the same run of tiles that are neighbours.
shared @{vec} staged[STAGED == 1u ? 1u : STAGED + STAGED / @{staged_runs}u];
uint staged_from = 0u;
@if loads_runs
@{vec} staged_x(uint at) { return staged[at - staged_from + (at - staged_from) / @{staged_runs}u]; }
@else
@{vec} staged_x(uint at) {
    if (STAGED == 1u) return x_run(at);
    const uint place = at - staged_from;
    return staged[place + place / @{staged_runs}u];
}
@end

