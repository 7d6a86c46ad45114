@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;

@{buffers}
@include encode_source.glsl

layout(push_constant) uniform Push {
    uint rows;
    uint row_blocks;  // of @{block_elements} elements
};

@include encode_block.glsl

@include encode_row.glsl

void main() {
    for (uint row = gl_WorkGroupID.x; row < rows; row += gl_NumWorkGroups.x) qk_make_row(row, row * row_blocks);
}
