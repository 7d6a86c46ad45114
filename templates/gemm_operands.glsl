@include views_constant.glsl

@if experts
@include experts_push.glsl

uint x_vectors() {
    return batch * x_slots;
}
@else
@include sums_push.glsl

uint x_vectors() {
    return batch;
}
@end

// Four threads share a row, each with a wide tile of its own, and go on to the next four. Of a tile, so many products of matrix
// units are made; of x, in that order, a word of two halves of each, for columns that are a multiple of 16.
const uint PRODUCTS = @{products}u, PART = @{part}u;

uint end_of_operands() {
    const uint columns = (x_vectors() + 15u) / 16u * 16u, all_fours = (row_tiles / @{wide_ratio}u + 3u) / 4u;
    return columns * (1u + all_fours * PRODUCTS * 8u);
}

// Those of this workgroup's x, which is one of several matrices.
uint operands_at() {
@if experts
    return 0u;
@else
    return matrix * end_of_operands();
@end
}
@if experts

@include gemm_sorted.glsl
@end

// Behind the operands of x come sums over parts of the rows, if there are such.
uint parts_at() {
@if experts
    return end_of_sorted();
@else
    return (VIEWS == 0u ? 1u : gl_NumWorkGroups.x / groups) * end_of_operands();
@end
}

// The power of two that brings `most` to between 2^exponent and twice that, and its inverse.
float scale_of(float most, uint exponent, out float inverse) {
    const uint bits = clamp(floatBitsToUint(most) >> 23, exponent + 1u, 254u);
    inverse = uintBitsToFloat(bits - exponent << 23);
    return uintBitsToFloat(254u + exponent - bits << 23);
}
