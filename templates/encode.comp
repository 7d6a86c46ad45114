@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;

@{buffers}
@include encode_source.glsl

layout(push_constant) uniform Push {
@if team
    uint tiles;  // parts of @{share} elements, each of a block of @{block_elements} that @{team} threads make
@else
    uint tiles;  // blocks of @{block_elements} elements, to make
@end
};

@include encode_block.glsl

@if team
void qk_place(uint part) {
    const uint i = part + gl_LocalInvocationIndex;
    if (i % @{team}u == 0u) qk_made[gl_LocalInvocationIndex / @{team}u] = i < tiles ? i / @{team}u : QK_NONE;
}

@else
uint qk_place(uint i) {
@if stages
    qk_made[gl_LocalInvocationIndex] = i;
@end
    return i;
}

@end
void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
@if team
    for (uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x; first < tiles; first += threads) {
        const uint i = first + gl_LocalInvocationIndex;
        // All threads have to wait for each other: those that have nothing to make do it with the last block, and leave it.
        qk_encode((i < tiles ? i : tiles - @{team}u + i % @{team}u) * @{share}u, first);
        qk_write_made(tiles - first >= gl_WorkGroupSize.x);
    }
@else
@if stages
    for (uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x; first < tiles; first += threads) {
        const uint i = first + gl_LocalInvocationIndex;
        if (i < tiles) qk_encode(i, i * @{block_elements}u);
        else qk_made[gl_LocalInvocationIndex] = QK_NONE;
        qk_write_made(tiles - first >= gl_WorkGroupSize.x);
    }
@else
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) qk_encode(i, i * @{block_elements}u);
@end
@end
}
