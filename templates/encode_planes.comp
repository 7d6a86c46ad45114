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

@if team
void qk_place(uint part) {
    const uint block = (part + gl_LocalInvocationIndex) / @{team}u;
    qk_made[gl_LocalInvocationIndex / @{team}u] = block < blocks ? block : QK_NONE;
}

@end
void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
@if team
    for (uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x; first < blocks * @{team}u; first += threads) {
        qk_encode((first + gl_LocalInvocationIndex) / @{team}u, first);
        qk_write_made(blocks * @{team}u - first >= gl_WorkGroupSize.x);
    }
@else
    for (uint i = gl_GlobalInvocationID.x; i < blocks; i += threads) qk_encode(i);
@end
}
