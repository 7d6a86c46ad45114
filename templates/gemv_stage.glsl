// ---- The stage: a copy of slices of several rows for each subgroup, in shared memory.
const uint THREADS = gl_WorkGroupSize.x < 128u ? 128u : gl_WorkGroupSize.x;

// Units of 16 bytes that one row takes in the stage, over all subgroups, and how many rows there is room for.
@{alls}
const uint ROW_UNITS = @{row_units};
const uint ROOM = @{limit}u / ROW_UNITS;
const uint ROOM_2 = ROOM < 2u ? 1u : 2u;
const uint ROOM_4 = ROOM < 4u ? ROOM_2 : 4u;
const uint MOST = ROOM_4 < @{most_rows}u ? ROOM_4 : @{most_rows}u;
const uint AT_ONCE = ROWS < MOST ? ROWS : MOST;
const uint STAGE_WORDS = STAGED ? AT_ONCE * ROW_UNITS * 4u : 1u;
shared uint stage[STAGE_WORDS];
@{tables}

// Sums of subgroups, of as many steps as come to 32 for each: they are added up together.
const uint SUMS = 32u;
const uint STEPS = SUMS / (AT_ONCE * BATCH);
shared float subgroup_sums[SUMS * THREADS / 8u];

// What the lanes of a subgroup do to shared memory, they see in order.
void sync() {
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

uint staged(uint at) {
    return stage[at];
}

void put(uint unit, uvec4 words) {
    stage[unit * 4u] = words.x;
    stage[unit * 4u + 1u] = words.y;
    stage[unit * 4u + 2u] = words.z;
    stage[unit * 4u + 3u] = words.w;
}

// Unit `s` of a lane, for row `r`, of which each has `count`.
void put_unit(uint region, uint count, uint r, uint s, uvec4 words) {
    const uint i = s * gl_SubgroupSize + gl_SubgroupInvocationID;
    if (r < AT_ONCE && i < count) put(region + r * count + i, words);
}

float dot_add(float sum, vec4 a, vec4 b) {
    return sum + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// A lane has one tile of a slice. The blocks in which these lie, and the first of them; @{joined} of the format are one here.
uint held_blocks() {
    return max(gl_SubgroupSize / @{block_tiles}u, 1u);
}

uint first_block(uint c) {
    return c * gl_SubgroupSize / @{block_tiles}u;
}

@{buffers}
void begin() {
    @{copy}
}

void fetch(uint row, uint c) {
    @{fetch}
}

// What was fetched comes to the stage.
void arrive(uint row, uint c) {
    sync();
    @{put}
    sync();
    if (@{awkward}) {
        @{mend}
    }
}

@{load_x}

@{accumulate}

// Adds up the sums of `steps` steps, of which the first began at row `first` and each other `step` rows further on.
void add_up(uint first, uint step, uint steps, uint teams, uint split) {
    const uint count = steps * AT_ONCE * BATCH;
    barrier();
    for (uint i = gl_LocalInvocationID.x; i < teams * count; i += gl_WorkGroupSize.x) {
        const uint team = i / count, j = i % count, r = j / BATCH % AT_ONCE, m = j % BATCH;
        const uint row = first + j / (AT_ONCE * BATCH) * step + team * AT_ONCE + r;
        float total = 0.0;
        for (uint s = 0u; s < split; ++s) total += subgroup_sums[(team * split + s) * SUMS + j];
        if (row < rows && m < batch) y[m * y_rows + y_first + row] = total;
    }
    barrier();
}

// A subgroup holds a slice of x and walks down the rows. Where a row has more slices than subgroups share it, it walks down a
// group of rows with one slice after the other.
void walk_stage() {
    const uint tiles = (row_blocks + @{joined}u - 1u) / @{joined}u * @{block_tiles}u;
    const uint slices = (tiles + gl_SubgroupSize - 1u) / gl_SubgroupSize;
    const uint subgroups = min(gl_NumSubgroups, THREADS / 8u);  // for which there is room
    const uint split = min(min(SPLIT, subgroups), slices), passes = (slices + split - 1u) / split;
    const uint teams = subgroups / split, team = gl_SubgroupID / split, part = gl_SubgroupID % split;
    const uint step = gl_NumWorkGroups.x * teams * AT_ONCE;
    uint held = ~0u, first = gl_WorkGroupID.x * teams * AT_ONCE;
    begin();
    fetch(first + team * AT_ONCE, part);
    while (first < rows) {
        const uint steps = min((rows - first - 1u) / step + 1u, STEPS);
        const bool more = rows - first > steps * step;
        const uint next_first = more ? first + steps * step : first;
        for (uint pass = 0u; pass < passes; ++pass) {
            const uint c = pass * split + part, j = c * gl_SubgroupSize + gl_SubgroupInvocationID;
            for (uint s = 0u; s < steps; ++s) {
                const uint own = first + s * step + team * AT_ONCE;
                const bool busy = team < teams && own < rows && c < slices, same = s + 1u < steps;
                if (busy) arrive(own, c);
                const uint next = same ? own + step : (pass + 1u < passes ? first : next_first) + team * AT_ONCE;
                fetch(next, same ? min(c, slices - 1u) : pass + 1u < passes ? min(c + split, slices - 1u) : part);
                float sum[AT_ONCE][BATCH];
                [[unroll]] for (uint r = 0u; r < AT_ONCE; ++r) {
                    [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[r][m] = 0.0;
                }
                if (busy && j < tiles) {
                    if (c != held) stage_load_x(0u, j, 0u);
                    held = c;
                    [[unroll]] for (uint r = 0u; r < AT_ONCE; ++r)
                        stage_accumulate(r, j - first_block(c) * @{block_tiles}u, 0u, sum[r]);
                }
                // Here, where the whole workgroup is, an addition over the subgroup costs the least.
                [[unroll]] for (uint r = 0u; r < AT_ONCE; ++r) {
                    [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
                        const float all = subgroupAdd(sum[r][m]);
                        const uint at = gl_SubgroupID * SUMS + (s * AT_ONCE + r) * BATCH + m;
                        if (gl_SubgroupInvocationID == 0u && team < teams)
                            subgroup_sums[at] = pass == 0u ? all : subgroup_sums[at] + all;
                    }
                }
            }
        }
        add_up(first, step, steps, teams, split);
        if (!more) break;
        first = next_first;
    }
}
