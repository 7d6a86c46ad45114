@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;

@{buffers}
@include encode_source.glsl

layout(push_constant) uniform Push {
    uint tiles;  // blocks of @{block_elements} elements, to make
};

@include encode_block.glsl

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
@if stages
    for (uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x; first < tiles; first += threads) {
        const uint i = first + gl_LocalInvocationIndex;
        qk_made[gl_LocalInvocationIndex] = i < tiles ? i : QK_NONE;
        if (i < tiles) qk_encode(i, i * @{block_elements}u);
        qk_write_made();
    }
@else
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) qk_encode(i, i * @{block_elements}u);
@end
}
