@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;

@{buffers}
@{written_buffers}

layout(push_constant) uniform Push {
    uint tiles;  // of @{unit} elements, to make
};

@{tables}
@{prelude}

@{functions}

// The values of @{unit} elements: a thread decodes and encodes so many at a time.
float qk_kept[@{unit}];

float qk_x(uint at) {
    return qk_kept[at];
}

vec4 qk_four(uint at) {
    return vec4(qk_kept[4u * at], qk_kept[4u * at + 1u], qk_kept[4u * at + 2u], qk_kept[4u * at + 3u]);
}

@{decode}

@{keep_tile}

@if streams
// Blocks that the threads of a workgroup made, and which of all they are.
@{staged}
shared uint qk_made[@{slots}];

const uint QK_NONE = 0xFFFFFFFFu;

@include follow.glsl

@end
@{encoder}

@if streams
@include write_made.glsl

@end
void qk_make(uint i) {
    @{unroll}for (uint j = 0u; j < @{unit_tiles}u; ++j) {
        @{vec} v[@{runs}];
        decode(@{block_of_j}, @{tile_of_j}, v);
        qk_keep_tile(@{first_of_j}, @{tile_of_j}, v);
    }
@if one
    qk_encode_kept(i, 0u);  // in a loop, compilers would look its values up in memory
@else
    for (uint j = 0u; j < @{to_blocks}u; ++j) qk_encode_kept(i * @{to_blocks}u + j, j * @{to_elements}u);
@end
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
@if streams
    for (uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x; first < tiles; first += threads) {
        const uint i = first + gl_LocalInvocationIndex;
        qk_made[gl_LocalInvocationIndex] = i < tiles ? i : QK_NONE;
        if (i < tiles) qk_make(i);
        qk_write_made(tiles - first >= gl_WorkGroupSize.x);
    }
@else
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) qk_make(i);
@end
}
