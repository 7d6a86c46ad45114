@{banner}
#version 450
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;

@{buffers}
layout(binding = @{binding_dst}, std430) writeonly buffer Dst { @{result} dst[]; };

layout(push_constant) uniform Push {
    @{fields}
};

@{tables}
@{prelude}
@{decode}

@if writes_tiles
@{write_tile}
@end

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    @{body}
}
