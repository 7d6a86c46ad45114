@{banner}
#version 450
@if two_at_once
#extension GL_EXT_control_flow_attributes : require
@end
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;

@{buffers}
layout(binding = @{binding_indices}, std430) readonly buffer Indices { uint indices[]; };
layout(binding = @{binding_dst}, std430) writeonly buffer Dst { @{dst_type} dst[]; };
layout(binding = @{binding_status}, std430) buffer Status { uint out_of_range; };

@include rows_push.glsl

@{tables}
@{prelude}
@{decode}

@{write_tile}

void main() {
    // A thread goes on by so many tokens and tiles at a time.
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x, token_step = threads / row_tiles, tile_step = threads % row_tiles;
    uint token = gl_GlobalInvocationID.x / row_tiles, t = gl_GlobalInvocationID.x % row_tiles;
@if two_at_once
    while (token < tokens) {
        // Two at once: what the second loads does not wait for the first.
        uint at[2], row[2], tile[2];
        [[unroll]] for (uint n = 0u; n < 2u; ++n) {
            at[n] = token;
            row[n] = row_of(min(token, tokens - 1u));
            tile[n] = t;
            token += token_step;
            t += tile_step;
            if (t >= row_tiles) {
                t -= row_tiles;
                token += 1u;
            }
        }
        @{vec} v[2][@{runs}];
        [[unroll]] for (uint n = 0u; n < 2u; ++n) {
            // Of a row that this launch does not have, the first in its place.
            const uint i = values_of(at[n]) + tile[n];
            const uint from = table_tile(row[n] >= row_first && row[n] < row_end ? row[n] : row_first, tile[n]);
            decode(@{block_of_from}, @{tile_of_i}, v[n]);
        }
        [[unroll]] for (uint n = 0u; n < 2u; ++n) {
            const uint i = values_of(at[n]) + tile[n];
            const bool bound = row[n] >= row_first && row[n] < row_end, missing = row[n] == NO_ROW && row_first == 0u;
            if (at[n] >= tokens || !(bound || missing)) continue;  // no more, or a row of another launch
            if (missing) {
                // No such row: zeros, and the token is counted once.
                [[unroll]] for (uint r = 0u; r < @{runs}u; ++r) v[n][r] = @{vec}(0.0);
                if (tile[n] == 0u) atomicAdd(out_of_range, 1u);
            }
            write_tile(@{block_of_i}, @{tile_of_i}, v[n]);
        }
    }
@else
    while (token < tokens) {
        const uint row = row_of(token), i = values_of(token) + t;
        const bool bound = row >= row_first && row < row_end, missing = row == NO_ROW && row_first == 0u;
        @{vec} v[@{runs}];
        if (bound) {
            const uint from = table_tile(row, t);
            decode(@{block_of_from}, @{tile_of_i}, v);
        } else if (missing) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0u; r < @{runs}u; ++r) v[r] = @{vec}(0.0);
            if (t == 0u) atomicAdd(out_of_range, 1u);
        }
        if (bound || missing) write_tile(@{block_of_i}, @{tile_of_i}, v);  // else: a row of another launch
        token += token_step;
        t += tile_step;
        if (t >= row_tiles) {
            t -= row_tiles;
            token += 1u;
        }
    }
@end
}
