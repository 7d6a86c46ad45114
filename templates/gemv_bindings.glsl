@{buffers}
@{wide_buffers}
layout(binding = @{binding_y}, std430) buffer Output { float y[]; };

@include sums_push.glsl

@include x_run.glsl

@{tables}
@{prelude}
@include finish.glsl
