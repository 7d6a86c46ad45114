@{banner}
#version 450
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;

@{buffers}
layout(binding = @{binding_dst}, std430) writeonly buffer Dst { @{dst_type} dst[]; };

layout(push_constant) uniform Push {
    uint tiles;  // of @{tile_elements} elements, to decode
};

@{tables}
@{prelude}
@{decode}

@{write_tile}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) {
        @{vec} v[@{runs}];
        decode(@{block_of_i}, @{tile_of_i}, v);
        write_tile(@{block_of_i}, @{tile_of_i}, v);
    }
}
