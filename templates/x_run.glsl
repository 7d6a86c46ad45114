@if norms
@{vec} x_stored(uint at) {  // @{lanes} consecutive elements
@else
@{vec} x_run(uint at) {  // @{lanes} consecutive elements
@end
    if (X_TYPE == 0u) return x_in[at];
    const @{run_type} run = @{run_type}(x_halves[at]);
    return X_TYPE == 1u ? @{x_of_f16} : @{x_of_bf16};
}
@if norms
@include norm_x.glsl
@end
@if cuts

// Element `at` of x.
float x_element(uint at) {
    if (X_TYPE == 0u) return x_at[at];
    const uint half_word = uint(x_half_at[at]);
    return X_TYPE == 1u ? unpackHalf2x16(half_word).x : uintBitsToFloat(half_word << 16);
}
@end
