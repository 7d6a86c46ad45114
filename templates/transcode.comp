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

@include encode.glsl

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

@{encoder}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tiles; i += threads) {
        for (uint j = 0u; j < @{unit_tiles}u; ++j) {
            @{vec} v[@{runs}];
            decode(@{block_of_j}, @{tile_of_j}, v);
            qk_keep_tile(@{first_of_j}, @{tile_of_j}, v);
        }
        for (uint j = 0u; j < @{to_blocks}u; ++j) qk_encode_kept(i * @{to_blocks}u + j, j * @{to_elements}u);
    }
}
