@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;

@{buffers}
layout(binding = @{binding_indices}, std430) readonly buffer Indices { uint indices[]; };
@include encode_source.glsl
layout(binding = @{binding_status}, std430) buffer Status { uint out_of_range; };

@include rows_push.glsl

@include encode_block.glsl

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tokens * row_tiles; i += threads) {
        const uint token = i / row_tiles, tile = i % row_tiles, row = row_of(token);
        // A row that there is not is counted once, and a row of another launch is left alone.
        if (row == NO_ROW && row_first == 0u && tile == 0u) atomicAdd(out_of_range, 1u);
        if (row < row_first || row >= row_end) continue;
        qk_encode((row - row_first) * row_tiles + tile, (values_of(token) + tile) * @{block_elements}u);
    }
}
