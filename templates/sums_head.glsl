@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require
@{extensions}
layout(local_size_x_id = @{id.local_size_x}) in;
