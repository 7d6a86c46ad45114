@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;

@{buffers}
layout(binding = @{binding_indices}, std430) readonly buffer Indices { uint indices[]; };
layout(binding = @{binding_src}, std430) readonly buffer Src { float src[]; };
layout(binding = @{binding_src}, std430) readonly buffer SrcFour { vec4 src_four[]; };
layout(binding = @{binding_status}, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;       // of the whole table
    uint row_first;  // the rows that are bound in this launch
    uint row_end;
    uint row_tiles;  // blocks of @{block_elements} elements in a row
    uint tokens;
};

@include encode_block.glsl

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tokens * row_tiles; i += threads) {
        const uint row = indices[i / row_tiles], tile = i % row_tiles;
        // A row that there is not is counted once, and a row of another launch is left alone.
        if (row >= rows && row_first == 0u && tile == 0u) atomicAdd(out_of_range, 1u);
        if (row >= row_first && row < row_end) qk_encode((row - row_first) * row_tiles + tile, i * @{block_elements}u);
    }
}
