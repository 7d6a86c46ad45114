@{buffers}
@{wide_buffers}
layout(binding = @{binding_ids}, std430) readonly buffer Ids { uint ids[]; };
layout(binding = @{binding_status}, std430) buffer Status { uint out_of_range; };
@include x_buffers.glsl
@{result_buffers}
@include experts_push.glsl
@include x_run.glsl

@{tables}
@{prelude}
@include finish.glsl
