@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;

@{buffers}
@include encode_source.glsl

layout(push_constant) uniform Push {
    uint groups;  // of @{group} elements
    uint blocks;  // of @{planes} groups, to make
};

@include encode_block.glsl

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < blocks; i += threads) qk_encode(i);
}
