@{buffers}
@{wide_buffers}
@include x_buffers.glsl
@{result_buffers}
@include sums_push.glsl
@include x_run.glsl

@{tables}
@{prelude}
@include finish.glsl
