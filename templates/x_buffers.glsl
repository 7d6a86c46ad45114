layout(binding = @{binding_x}, std430) readonly buffer Input { @{vec} x_in[]; };
layout(binding = @{binding_x}, std430) readonly buffer InputHalves { @{halves_type} x_halves[]; };
@if norms
layout(binding = @{binding_result_scale}, std430) readonly buffer NormWeights { @{vec} norm_weights[]; };
@end
@if cuts
layout(binding = @{binding_x}, std430) readonly buffer InputElements { float x_at[]; };
layout(binding = @{binding_x}, std430) readonly buffer InputElementHalves { uint16_t x_half_at[]; };
@end
