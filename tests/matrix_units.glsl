// Matrix units without any: one team of 32 threads in a workgroup, and barriers in the place of subgroups. What threads hold of
// matrices is the same.
shared float team_values[32];
shared uint team_a[128];
shared uint team_b[64];

uint lane() {
    return gl_LocalInvocationID.x;
}

uint subgroup() {
    return 0u;
}

void subgroup_barrier() {
    barrier();
}

float max_of_four(float value) {
    barrier();
    team_values[lane()] = value;
    barrier();
    const uint at = lane() / 4u * 4u;
    return max(max(team_values[at], team_values[at + 1u]), max(team_values[at + 2u], team_values[at + 3u]));
}

float sum_of_four(float value) {
    barrier();
    team_values[lane()] = value;
    barrier();
    const uint at = lane() / 4u * 4u;
    return team_values[at] + team_values[at + 1u] + team_values[at + 2u] + team_values[at + 3u];
}

vec4 multiply(uvec2 low, uvec2 high, uvec2 x, vec4 c) {
    barrier();
    team_a[g * 8u + t] = low.x;
    team_a[g * 8u + t + 4u] = low.y;
    team_a[g * 8u + t + 64u] = high.x;
    team_a[g * 8u + t + 68u] = high.y;
    team_b[g * 8u + t] = x.x;
    team_b[g * 8u + t + 4u] = x.y;
    barrier();
    for (uint i = 0u; i < 8u; ++i) {
        const vec2 p = unpackHalf2x16(team_a[g * 8u + i]), q = unpackHalf2x16(team_a[g * 8u + i + 64u]);
        const vec2 u = unpackHalf2x16(team_b[t * 16u + i]), v = unpackHalf2x16(team_b[t * 16u + 8u + i]);
        c += vec4(dot(p, u), dot(p, v), dot(q, u), dot(q, v));
    }
    return c;
}
