@{banner}
#version 450
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_control_flow_attributes : require
@include mma_units.ext
@{extensions}
layout(local_size_x_id = @{id.local_size_x}) in;
layout(constant_id = @{id.kept}) const uint KEPT = @{kept};     // wide tiles of x that a thread keeps
layout(constant_id = @{id.at_once}) const uint AT_ONCE = 2;  // times 16 rows, between sums over subgroups
layout(constant_id = @{id.vectors}) const uint VECTORS = 8;  // right-hand sides of a launch, at most: of one group of eight, or two
layout(constant_id = @{id.order_a}) const uint ORDER_A = 0;   // which element of an operand is which value of a thread
layout(constant_id = @{id.order_bc}) const uint ORDER_BC = 0;
@if pairs
layout(constant_id = @{id.copies}) const uint COPIES = 1;  // of a table of pairs, for threads that are neighbours
@end
@include unit_shape.glsl
@include x_type.glsl
@include y_constants.glsl
@include views_constant.glsl

@{buffers}
@{wide_buffers}
@include x_buffers.glsl
@{result_buffers}
@include sums_push.glsl
@include x_run.glsl

@{tables}
@{near_tables}

@{prelude}
@include finish.glsl

// A team of 32, a subgroup or several, multiplies 16 rows with each group of 8 right-hand sides. Four threads share a row, each with a
// wide tile: number t of them has rows g and g + 8, brings x of right-hand side g, and gets the results of 2 t and 2 t + 1.
const uint SUBGROUPS = gl_WorkGroupSize.x / 32u, ROWS = 16u, GROUPS = VECTORS / 8u;
uint g, t;

// What a thread keeps of x, as operands of so many products for each tile; and what makes up for the power of two in it.
const uint PRODUCTS = @{products}u, PART = @{part}u;  // of which operands are made at a time
uvec2 wide_x[GROUPS * KEPT][PRODUCTS];
vec2 wide_x_unit[GROUPS * KEPT];
// Sums that a subgroup has, of AT_ONCE times 16 rows; twice these, in turn.
const uint PARTIAL = AT_ONCE * GROUPS * 128u;
shared float partial[SUBGROUPS * PARTIAL * 2u];

@include mma_units.glsl

// The power of two that brings `most` to between 2^exponent and twice that, and its inverse.
float scale_of(float most, uint exponent, out float inverse) {
    const uint bits = clamp(floatBitsToUint(most) >> 23, exponent + 1u, 254u);
    inverse = uintBitsToFloat(bits - exponent << 23);
    return uintBitsToFloat(254u + exponent - bits << 23);
}

@if crowded
// Registers are too few for words of two rows, and for what follows from them, beside operands that go through memory: there words are
// loaded for each part again. This is `j`, but no compiler knows that it is the same for each row and part, and keeps what it had.
const bool AGAIN = !DIRECT && !SPLIT_TEAMS;
uint not_before(uint row, uint part, uint j) { return row + part != ~0u ? j : 0u; }

@end
@if loads_runs
@include load_runs.glsl

@end
@{load_wide_x}

@{fetch_wide}

@{operands}

@if restricted
@{narrow}

// Rows `from` to `end`, in floats, each by a whole workgroup: those that are not whole wide tiles, and the last, from where loads of
// 16 bytes would go beyond the end.
void walk_rows(uint from, uint end) {
    for (uint i = group_number(); i < (end - from) * batch; i += group_count()) {
        const uint n = from + i / batch, m = i % batch;
        float sum = 0.0;
        for (uint j = gl_LocalInvocationID.x; j < row_tiles; j += gl_WorkGroupSize.x) {
            load_x(m, j, 0u);
            accumulate(n, j, 0u, sum);
        }
        sum = sum_of_lanes(sum);
        if (lane() == 0u) partial[subgroup()] = sum;
        barrier();
        if (gl_LocalInvocationID.x == 0u) {
            for (uint s = 1u; s < SUBGROUPS; ++s) sum += partial[s];
            finish(m, n, sum);
        }
        barrier();
    }
}

@end
void main() {
    find_matrix();
    g = lane() / 4u, t = lane() % 4u;
    @{fill_tables}
@if restricted
    const uint end = @{mma_end};
    walk_rows(end, rows);
    if (end == 0u) return;
@else
    const uint end = rows;
@end
    // As many subgroups share rows as hold all of x between them, or as much of it as they can, and walk down the rows.
    const uint wide_tiles = row_tiles / @{wide_ratio}u, slice = 4u * KEPT, slices = (wide_tiles + slice - 1u) / slice;
    uint split = 1u, turn = 0u;
    while (split < slices && SUBGROUPS % (2u * split) == 0u) split *= 2u;
    const uint teams = SUBGROUPS / split, team = subgroup() / split, tall = teams * AT_ONCE * ROWS;
    // Results of 16 bits hold no sums in parts: all of x passes for some rows, then for the next.
    const bool whole = Y_TYPE != 0u && slices > split;
    uint pass = group_number() * tall;
    do {
        for (uint begin = 0u; begin < slices; begin += split) {
            const uint own = (begin + subgroup() % split) * slice;
            [[unroll]] for (uint k = 0u; k < GROUPS * KEPT; ++k) {
                const uint j = own + 4u * (k % KEPT) + t;
                load_wide_x(k / KEPT * 8u + g, min(j, wide_tiles - 1u), k);
                if (j < wide_tiles) continue;
                [[unroll]] for (uint p = 0u; p < PRODUCTS; ++p) wide_x[k][p] = uvec2(0u);
            }
            for (uint first = pass; first < (whole ? min(pass + 1u, end) : end); first += group_count() * tall) {
                // Halves of the memory in turn: who is ahead does not write where others still read.
                const uint place = (whole ? turn : turn++) % 2u * SUBGROUPS * PARTIAL;
                [[dont_unroll]] for (uint i = 0u; i < AT_ONCE; ++i) {
                    const uint from = first + (team * AT_ONCE + i) * ROWS + g, row = min(from, end - 1u), row_8 = min(from + 8u, end - 1u);
                    vec4 sums[GROUPS];
                    [[unroll]] for (uint v = 0u; v < GROUPS; ++v) sums[v] = vec4(0.0);
                    @{fetched}
@if crowded
                    [[unroll]] for (uint k = 0u; k < KEPT && !AGAIN; ++k) {
@else
                    [[unroll]] for (uint k = 0u; k < KEPT; ++k) {
@end
                        const uint j = min(own + 4u * k + t, wide_tiles - 1u);
                        fetch_wide(row, j, @{fetched_low});
                        fetch_wide(row_8, j, @{fetched_high});
                    }
                    [[unroll]] for (uint k = 0u; k < KEPT; ++k) {
                        const uint j = min(own + 4u * k + t, wide_tiles - 1u);
                        float low_unit, high_unit;
@if crowded
                        if (AGAIN) {
                            fetch_wide(row, not_before(row, 0u, j), @{fetched_low});
                            fetch_wide(row_8, not_before(row_8, 0u, j), @{fetched_high});
                        }
@end
                        const float low_scale = scale_of(most_of_four(largest_factor(row, j, @{fetched_low})), 13u, low_unit);
                        const float high_scale = scale_of(most_of_four(largest_factor(row_8, j, @{fetched_high})), 13u, high_unit);
                        accumulators c[GROUPS];
                        [[unroll]] for (uint v = 0u; v < GROUPS; ++v) c[v] = no_products();
                        f16vec2 low[2u * PART], high[2u * PART];
                        if (SPLIT_TEAMS) {
                            // Where a barrier is several subgroups', a longer text is not a faster one.
                            [[dont_unroll]] for (uint part = 0u; part < PRODUCTS / PART; ++part) {
                                operands(part, row, j, @{fetched_low}, low_scale, low);
                                operands(part, row_8, j, @{fetched_high}, high_scale, high);
                                multiply(part * PART, k, low, high, c);
                            }
                        } else {
                            [[unroll]] for (uint part = 0u; part < PRODUCTS / PART; ++part) {
@if crowded
                                if (AGAIN) {
                                    fetch_wide(row, not_before(row, part + 1u, j), @{fetched_low});
                                    fetch_wide(row_8, not_before(row_8, part + 1u, j), @{fetched_high});
                                }
@end
                                operands(part, row, j, @{fetched_low}, low_scale, low);
                                operands(part, row_8, j, @{fetched_high}, high_scale, high);
                                multiply(part * PART, k, low, high, c);
                            }
                        }
                        const vec4 units = vec4(low_unit, low_unit, high_unit, high_unit);
                        [[unroll]] for (uint v = 0u; v < GROUPS; ++v) sums[v] += values_of(c[v]) * units * wide_x_unit[v * KEPT + k].xyxy;
                    }
                    const uint at = place + (subgroup() * AT_ONCE + i) * GROUPS * 128u + lane();
                    [[unroll]] for (uint e = 0u; e < GROUPS * 4u; ++e) {
                        const float sum = sums[e / 4u][e % 4u];
                        partial[at + e * 32u] = whole && begin > 0u ? partial[at + e * 32u] + sum : sum;
                    }
                }
                if (whole && begin + split < slices) continue;
                barrier();
                for (uint i = gl_LocalInvocationID.x; i < teams * PARTIAL; i += gl_WorkGroupSize.x) {
                    const uint e = i / 32u % 4u, l = i % 32u, n = first + i / (GROUPS * 128u) * ROWS + l / 4u + e / 2u * 8u;
                    const uint m = i / 128u % GROUPS * 8u + l % 4u * 2u + e % 2u;
                    if (n >= end || m >= batch) continue;
                    const uint from = place + i / PARTIAL * split * PARTIAL + i % PARTIAL;
                    float total = 0.0;
                    for (uint s = 0u; s < split; ++s) total += partial[from + s * PARTIAL];
                    finish(m, n, total, whole || begin == 0u, begin + split >= slices);
                }
            }
        }
        pass += group_count() * tall;
        ++turn;
    } while (whole && pass < end);
}
