@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;

@{buffers}
layout(binding = @{binding_indices}, std430) readonly buffer Indices { uint indices[]; };
@include encode_source.glsl
layout(binding = @{binding_status}, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;
    uint row_blocks;  // of @{block_elements} elements
    uint tokens;
};

@include encode_block.glsl

@include encode_row.glsl

void main() {
    for (uint token = gl_WorkGroupID.x; token < tokens; token += gl_NumWorkGroups.x) {
        const uint row = indices[token];
        qk_make_row(row, token * row_blocks);
        if (row >= rows && gl_LocalInvocationIndex == 0u) atomicAdd(out_of_range, 1u);
    }
}
