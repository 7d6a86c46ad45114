@{banner}
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 4;  // rows at a time
@if wide
layout(constant_id = 5) const uint LOAD_WORDS = 4;  // 4: weights are loaded 16 bytes at a time, where that can be
@end
@if digits
layout(constant_id = 4) const uint DIGITS = 1;  // bytes of each x: class int8 has 1, split 2, int24 3
@end

@{buffers}
@{wide_buffers}
layout(binding = @{binding_x}, std430) readonly buffer Input { @{x_type} x_in[]; };
layout(binding = @{binding_ids}, std430) readonly buffer Ids { uint ids[]; };
layout(binding = @{binding_y}, std430) writeonly buffer Output { float y[]; };
layout(binding = @{binding_status}, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of @{tile_elements} elements in a row
    uint batch;         // right-hand sides: tokens
    uint slots;         // experts of each token
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
};

@{tables}
@{prelude}
const uint TILES = @{x_tiles}u;

@if digits
// What a thread keeps of x: tiles of one token as integers of signed bytes, the highest first, four elements in a word; the
// steps that the integers stand for; sums over runs that share a scale, of each digit, and of x itself.
@end
@if halves
// What a thread keeps of x: tiles of one token in steps that let halves hold them; the step; and sums over runs that
// share a scale.
@end
@if floats
// What a thread keeps of x: tiles of one token, in the order of the weights, and the sums over runs that share a scale.
@end
@{x_kept}

@if wide
// The same for wide tiles.
const uint WIDE_TILES = @{wide_tiles}u;
@end
@{wide_x_kept}

@if halves
// The unit of x that halves are steps of: weights are up to 2^16, or codes of ten bits that stand for 2^-24 each.
float scale_of(@{vec} most, @{vec} all) {
    const float largest = @{largest_of_most};
    if (@{any}(isnan(all)) || isinf(largest)) return uintBitsToFloat(0x7FC00000u);
    return min(0.001953125 / max(largest, 1e-37), 0.5e38);
}

@{dot_halves}

@end
@if digits
// Integers whose digits are bytes with a sign: the largest, less what rounding may add.
const float LARGEST = DIGITS == 1u ? 127.0 : DIGITS == 2u ? 32639.0 : 8355709.0;

// Integers for each unit of x, of which `most` are the largest magnitudes; what is not finite makes the step NaN.
float scale_of(vec4 most, vec4 all) {
    const float largest = max(max(most.x, most.y), max(most.z, most.w));
    if (any(isnan(all)) || isinf(largest)) return uintBitsToFloat(0x7FC00000u);
    return min(LARGEST / max(largest, 1e-37), 0.5e38);
}

// OpSDot and OpSUDot of four bytes in a word each; not every GLSL compiler has a name for them.
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int signed_dot(int a, int b, spirv_literal int packed);
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4452)
int mixed_dot(int a, uint b, spirv_literal int packed);

int dot4(int codes, int x) {
    return signed_dot(codes, x, 0);
}

int dot4(uint codes, int x) {
    return mixed_dot(x, codes, 0);
}

int bytes_of(ivec4 v) {
    return (v.x & 255) | ((v.y & 255) << 8) | ((v.z & 255) << 16) | (v.w << 24);
}

int sum_of(ivec4 v) {
    return v.x + v.y + v.z + v.w;
}

@end
@{load_x}

@{accumulate}

@if wide_floats
// sum + dot(a, b), in as many operations as a has lanes.
float dot_add(float sum, vec4 a, vec4 b) {
    return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
}

@end
@{load_wide_x}

@{fetch_wide}

@{accumulate_wide}

shared float partial[gl_WorkGroupSize.x / 4u * ROWS * 2u];

@if wide
// Sums over the lanes of a subgroup, of all rows at once: those of row r in lane r.
float sum_of_lanes(float v[ROWS]) {
    [[unroll]] for (uint left = ROWS / 2u, bit = 1u; left > 0u; left /= 2u, bit *= 2u) {
        const bool odd = (gl_SubgroupInvocationID & bit) != 0u;
        [[unroll]] for (uint i = 0u; i < left; ++i) {
            const float even_row = v[2u * i], odd_row = v[2u * i + 1u];
            v[i] = (odd ? odd_row : even_row) + subgroupShuffleXor(odd ? even_row : odd_row, bit);
        }
    }
    for (uint bit = ROWS; bit < gl_SubgroupSize; bit *= 2u) v[0] += subgroupShuffleXor(v[0], bit);
    return v[0];
}

// As main does, with wide tiles.
void walk_wide() {
    const uint wide_tiles = row_tiles / @{wide_ratio}u, lane = gl_SubgroupInvocationID;
    const uint slice = gl_SubgroupSize * WIDE_TILES, slices = (wide_tiles + slice - 1u) / slice;
    uint split = 1u, held = ~0u, held_token = ~0u, turn = 0u;
    while (split < slices && gl_NumSubgroups % (2u * split) == 0u) split *= 2u;
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    const uint parts = (rows + teams * ROWS - 1u) / (teams * ROWS);
    for (uint work = gl_WorkGroupID.x; work < batch * slots * parts; work += gl_NumWorkGroups.x) {
        const uint pair = work / parts, token = pair / slots, first = work % parts * teams * ROWS, expert = ids[pair];
        const bool found = expert < experts;
        if (found ? expert < expert_first || expert >= expert_end : expert_first != 0u) continue;  // another launch's
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
        if (!found && first == 0u && gl_LocalInvocationID.x == 0u) atomicAdd(out_of_range, 1u);  // zeros
        const uint begin = (expert - expert_first) * rows, row = begin + first + team * ROWS, end = begin + rows;
        for (uint c = gl_SubgroupID % split; found && c < slices; c += split) {
            [[unroll]] for (uint k = 0; k < WIDE_TILES; ++k) {
                const uint j = (c * WIDE_TILES + k) * gl_SubgroupSize + lane;
                if (j >= wide_tiles) continue;
                if (c != held || token != held_token) load_wide_x(token, j, k);
                @{wide_last}
                @{fetched}
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) fetch_wide(min(row + r, end - 1u), j, @{fetched_at});
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) accumulate_wide(min(row + r, end - 1u), j, k, @{fetched_at}, sum[r]);
                @{wide_put}
            }
            held = c;
            held_token = token;
        }
        const float all = sum_of_lanes(sum);
        // Halves of the memory in turn: who is a row ahead does not write where others still read.
        const uint place = turn++ % 2u * gl_NumSubgroups * ROWS;
        if (lane < ROWS) partial[place + gl_SubgroupID * ROWS + lane] = all;
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < teams * ROWS; i += gl_WorkGroupSize.x) {
            const uint at = place + i / ROWS * (split - 1u) * ROWS + i;
            float total = 0.0;
            for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS];
            if (first + i < rows) y[pair * rows + first + i] = total;
        }
    }
}

@end
void main() {
@if wide
    if (LOAD_WORDS == 4u && gl_SubgroupSize >= ROWS@{wide_if}) {
        walk_wide();
        return;
    }
@end
    // A subgroup holds a slice of x and walks down the rows. While there are slices for more, subgroups share a row.
    const uint slice = gl_SubgroupSize * TILES, slices = (row_tiles + slice - 1u) / slice;
    uint split = 1u;
    while (split < slices && gl_NumSubgroups % (2u * split) == 0u) split *= 2u;
    const uint teams = gl_NumSubgroups / split, team = gl_SubgroupID / split;
    const uint parts = (rows + teams * ROWS - 1u) / (teams * ROWS);
    uint held = ~0u, held_token = ~0u;
    for (uint work = gl_WorkGroupID.x; work < batch * slots * parts; work += gl_NumWorkGroups.x) {
        const uint pair = work / parts, token = pair / slots, first = work % parts * teams * ROWS, expert = ids[pair];
        const bool found = expert < experts;
        if (found ? expert < expert_first || expert >= expert_end : expert_first != 0u) continue;  // another launch's
        float sum[ROWS];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] = 0.0;
        if (!found && first == 0u && gl_LocalInvocationID.x == 0u) atomicAdd(out_of_range, 1u);  // zeros
        for (uint c = gl_SubgroupID % split; found && c < slices; c += split) {
            [[unroll]] for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
                if (j >= row_tiles) continue;
                if (c != held || token != held_token) load_x(token, j, k);
                [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
                    const uint row = min(first + team * ROWS + r, rows - 1u);
                    accumulate((expert - expert_first) * rows + row, j, k, sum[r]);
                }
            }
            held = c;
            held_token = token;
        }
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            const float all = subgroupAdd(sum[r]);
            if (subgroupElect()) partial[gl_SubgroupID * ROWS + r] = all;
        }
        barrier();
        for (uint i = gl_LocalInvocationID.x; i < teams * ROWS; i += gl_WorkGroupSize.x) {
            const uint at = i / ROWS * (split - 1u) * ROWS + i;
            float total = 0.0;
            for (uint s = 0u; s < split; ++s) total += partial[at + s * ROWS];
            if (first + i < rows) y[pair * rows + first + i] = total;
        }
        barrier();
    }
}
