@{banner}
#version 450
@{extensions}

layout(local_size_x_id = 0) in;

@{buffers}
layout(binding = @{binding_indices}, std430) readonly buffer Indices { uint indices[]; };
layout(binding = @{binding_dst}, std430) writeonly buffer Dst { @{dst_type} dst[]; };
layout(binding = @{binding_status}, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // tiles of @{tile_elements} elements in a row
    uint tokens;
};

@{tables}
@{prelude}
@{decode}

@{write_tile}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tokens * row_tiles; i += threads) {
        const uint row = indices[i / row_tiles];
        @{vec} v[@{runs}];
        if (row >= row_first && row < row_end) {
            const uint from = (row - row_first) * row_tiles + i % row_tiles;
            decode(@{block_of_from}, @{tile_of_i}, v);
        } else if (row >= rows && row_first == 0u) {
            // No such row: zeros, and the token is counted once.
            for (uint r = 0u; r < @{runs}u; ++r) v[r] = @{vec}(0.0);
            if (i % row_tiles == 0u) atomicAdd(out_of_range, 1u);
        } else {
            continue;  // a row of another launch
        }
        write_tile(@{block_of_i}, @{tile_of_i}, v);
    }
}
