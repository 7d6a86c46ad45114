// Threads are teams of 32. Where a subgroup has fewer, several are one, and speak through shared memory.
const bool SPLIT_TEAMS = LANES < 32u;
shared float team_values[SPLIT_TEAMS ? gl_WorkGroupSize.x : 1u];
uint lane() { return SPLIT_TEAMS ? gl_LocalInvocationID.x % 32u : gl_SubgroupInvocationID; }
uint subgroup() { return SPLIT_TEAMS ? gl_LocalInvocationID.x / 32u : gl_SubgroupID; }
void team_barrier() { if (SPLIT_TEAMS) barrier(); else subgroupBarrier(); }
float most_of_four(float value) {  // threads that share a row
    value = max(value, subgroupShuffleXor(value, 1u));
    return max(value, subgroupShuffleXor(value, 2u));
}

@if restricted
float sum_of_lanes(float value) {
    for (uint bit = 1u; bit < min(LANES, 32u); bit *= 2u) value += subgroupShuffleXor(value, bit);
    if (!SPLIT_TEAMS) return value;
    barrier();
    team_values[gl_LocalInvocationID.x] = value;
    barrier();
    float sum = 0.0;
    for (uint i = 0u; i < 32u; i += LANES) sum += team_values[subgroup() * 32u + i];
    return sum;
}

@end
// What the threads of the two right-hand sides have whose results are this thread's.
vec2 of_vectors(float value) {
    if (!SPLIT_TEAMS) return vec2(subgroupShuffle(value, 8u * t), subgroupShuffle(value, 8u * t + 4u));
    barrier();
    team_values[gl_LocalInvocationID.x] = value;
    barrier();
    const uint at = subgroup() * 32u + 8u * t;
    return vec2(team_values[at], team_values[at + 4u]);
}

#define unit_sums coopmat<float, gl_ScopeSubgroup, UNIT_ROWS, UNIT_COLS, gl_MatrixUseAccumulator>
#define left_operand coopmat<float16_t, gl_ScopeSubgroup, UNIT_ROWS, UNIT_DEPTH, gl_MatrixUseA>
#define right_operand coopmat<float16_t, gl_ScopeSubgroup, UNIT_DEPTH, UNIT_COLS, gl_MatrixUseB>
// Of all 16 rows, or of the first and the last 8: then each is another subgroup's, where a team has several.
struct accumulators { unit_sums low, high; };
accumulators no_products() { return accumulators(unit_sums(0.0), unit_sums(0.0)); }
bool has_low() { return !SPLIT_TEAMS || gl_LocalInvocationID.x % 32u / LANES == 0u; }
bool has_high() { return UNIT_ROWS == 8u && (!SPLIT_TEAMS || gl_LocalInvocationID.x % 32u / LANES == 1u); }

// Operands of one product of each team, rows and columns of 16 halves; and its results. No result that is read has columns left alone.
shared uvec2 left_shared[DIRECT ? 1u : SUBGROUPS * 64u];
shared uvec2 right_shared[DIRECT ? 1u : SUBGROUPS * UNIT_COLS * 4u];
shared float sums_shared[DIRECT ? 1u : SUBGROUPS * UNIT_COLS * 16u];

void add_products(uint left_at, inout unit_sums c) {
    [[unroll]] for (uint k = 0u; k < 16u / UNIT_DEPTH; ++k) {
        left_operand a; right_operand b;
        coopMatLoad(a, left_shared, left_at + k * UNIT_DEPTH / 4u, 4u, gl_CooperativeMatrixLayoutRowMajor);
        coopMatLoad(b, right_shared, subgroup() * UNIT_COLS * 4u + k * UNIT_DEPTH / 4u, 4u, gl_CooperativeMatrixLayoutColumnMajor);
        c = coopMatMulAdd(a, b, c);
    }
}

void multiply_through_memory(uvec2 low, uvec2 high, uvec2 x, inout accumulators c) {
    const uint left_at = subgroup() * 64u, right_at = subgroup() * UNIT_COLS * 4u;
    team_barrier();
    left_shared[left_at + g * 4u + t] = low, left_shared[left_at + g * 4u + t + 32u] = high, right_shared[right_at + g * 4u + t] = x;
    team_barrier();
    if (has_low()) add_products(left_at, c.low);
    if (has_high()) add_products(left_at + 32u, c.high);
}

// Adds the products of a part of a tile of rows g and g + 8 with that of tile `k` of x, of each group, summed over the four threads.
void multiply(uint first, uint k, f16vec2 low[2u * PART], f16vec2 high[2u * PART], inout accumulators c[GROUPS]) {
    [[unroll]] for (uint p = 0u; p < PART; ++p) {
        if (!DIRECT) {
            const uvec2 low_words = uvec2(packFloat2x16(low[2u * p]), packFloat2x16(low[2u * p + 1u]));
            const uvec2 high_words = uvec2(packFloat2x16(high[2u * p]), packFloat2x16(high[2u * p + 1u]));
            [[unroll]] for (uint v = 0u; v < GROUPS; ++v)
                multiply_through_memory(low_words, high_words, wide_x[v * KEPT + k][first + p], c[v]);
            continue;
        }
        left_operand a;
        a[ORDER_A & 7u] = low[2u * p].x, a[ORDER_A >> 3 & 7u] = low[2u * p].y;
        a[ORDER_A >> 6 & 7u] = high[2u * p].x, a[ORDER_A >> 9 & 7u] = high[2u * p].y;
        a[ORDER_A >> 12 & 7u] = low[2u * p + 1u].x, a[ORDER_A >> 15 & 7u] = low[2u * p + 1u].y;
        a[ORDER_A >> 18 & 7u] = high[2u * p + 1u].x, a[ORDER_A >> 21 & 7u] = high[2u * p + 1u].y;
        [[unroll]] for (uint v = 0u; v < GROUPS; ++v) {
            const uvec2 words = wide_x[v * KEPT + k][first + p];
            const f16vec2 b0 = unpackFloat2x16(words.x), b1 = unpackFloat2x16(words.y);
            right_operand b;
            b[ORDER_BC & 3u] = b0.x, b[ORDER_BC >> 2 & 3u] = b0.y, b[ORDER_BC >> 4 & 3u] = b1.x, b[ORDER_BC >> 6 & 3u] = b1.y;
            c[v].low = coopMatMulAdd(a, b, c[v].low);
        }
    }
}

vec4 values_of(accumulators c) {
    if (DIRECT)
        return vec4(c.low[ORDER_BC >> 8 & 3u], c.low[ORDER_BC >> 10 & 3u], c.low[ORDER_BC >> 12 & 3u], c.low[ORDER_BC >> 14 & 3u]);
    const uint at = subgroup() * UNIT_COLS * 16u, own = at + g * UNIT_COLS + 2u * t;
    team_barrier();
    if (has_low()) coopMatStore(c.low, sums_shared, at, UNIT_COLS, gl_CooperativeMatrixLayoutRowMajor);
    if (has_high()) coopMatStore(c.high, sums_shared, at + 8u * UNIT_COLS, UNIT_COLS, gl_CooperativeMatrixLayoutRowMajor);
    team_barrier();
    return vec4(sums_shared[own], sums_shared[own + 1u], sums_shared[own + 8u * UNIT_COLS], sums_shared[own + 8u * UNIT_COLS + 1u]);
}
