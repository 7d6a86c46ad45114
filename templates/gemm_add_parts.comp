@{banner}
#version 450
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;
layout(constant_id = @{id.k_parts}) const uint K_PARTS = 1;  // of a row
@include y_constants.glsl

layout(binding = @{binding_scratch}, std430) readonly buffer Parts { float sum_of_part[]; };
@{result_buffers}

@include gemm_operands.glsl

@{prelude}
@include finish.glsl

void main() {
@if experts
    const uint from = parts_at(), results = rows * all_pairs();
@else
    find_matrix();
    const uint results = rows * batch, from = parts_at() + matrix * K_PARTS * results;
@end
    for (uint i = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationID.x; i < results; i += group_count() * gl_WorkGroupSize.x) {
        float sum = 0.0;
@if experts
        const uint expert = ids[id_of(i / rows)];
        const bool found = expert < experts;
        if (found ? expert < expert_first || expert >= expert_end : expert_first != 0u) continue;  // another launch's
@else
        const bool found = true;
@end
        for (uint part = 0u; found && part < K_PARTS; ++part) sum += sum_of_part[from + part * results + i];
@if experts
        finish(i / rows, expert, i % rows, sum, scale_of_pair(i / rows, expert));
@else
        finish(i / rows, i % rows, sum);
@end
    }
}
