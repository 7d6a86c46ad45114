// Matrix units without any, and subgroups of 32 threads without any: shared memory and barriers in their place. What threads hold
// of matrices is the same.
const bool SPLIT_TEAMS = false;

struct accumulators {
    vec4 values;
};

shared float team_values[gl_WorkGroupSize.x];
shared uint team_a[gl_WorkGroupSize.x * 4u];
shared uint team_b[gl_WorkGroupSize.x * 2u];

uint lane() {
    return gl_LocalInvocationID.x % 32u;
}

uint subgroup() {
    return gl_LocalInvocationID.x / 32u;
}

void share(float value) {
    barrier();
    team_values[gl_LocalInvocationID.x] = value;
    barrier();
}

float most_of_four(float value) {
    share(value);
    const uint at = gl_LocalInvocationID.x / 4u * 4u;
    return max(max(team_values[at], team_values[at + 1u]), max(team_values[at + 2u], team_values[at + 3u]));
}

float sum_of_lanes(float value) {
    share(value);
    float sum = 0.0;
    for (uint i = 0u; i < 32u; ++i) sum += team_values[subgroup() * 32u + i];
    return sum;
}

vec2 of_vectors(float value) {
    share(value);
    return vec2(team_values[subgroup() * 32u + 8u * t], team_values[subgroup() * 32u + 8u * t + 4u]);
}

accumulators no_products() {
    return accumulators(vec4(0.0));
}

void multiply(uint first, uint k, f16vec2 low[2u * PART], f16vec2 high[2u * PART], inout accumulators c[GROUPS]) {
    const uint a = subgroup() * 128u, b = subgroup() * 64u;
    for (uint i = 0u; i < PART * GROUPS; ++i) {
        const uint p = i / GROUPS, group = i % GROUPS;
        barrier();
        team_a[a + g * 8u + t] = packFloat2x16(low[2u * p]);
        team_a[a + g * 8u + t + 4u] = packFloat2x16(low[2u * p + 1u]);
        team_a[a + g * 8u + t + 64u] = packFloat2x16(high[2u * p]);
        team_a[a + g * 8u + t + 68u] = packFloat2x16(high[2u * p + 1u]);
        team_b[b + g * 8u + t] = wide_x[group * KEPT + k][first + p].x;
        team_b[b + g * 8u + t + 4u] = wide_x[group * KEPT + k][first + p].y;
        barrier();
        for (uint e = 0u; e < 8u; ++e) {
            const vec2 r = unpackHalf2x16(team_a[a + g * 8u + e]), s = unpackHalf2x16(team_a[a + g * 8u + e + 64u]);
            const vec2 u = unpackHalf2x16(team_b[b + t * 16u + e]), v = unpackHalf2x16(team_b[b + t * 16u + 8u + e]);
            c[group].values += vec4(dot(r, u), dot(r, v), dot(s, u), dot(s, v));
        }
    }
}

vec4 values_of(accumulators c) {
    return c.values;
}
