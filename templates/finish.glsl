// Bits of the epilogue. Scales are of tensors, rows or vectors.
const uint ADDS_TO_Y = 1u, ADDS_BIAS = 2u, SCALES = 4u, GATES = 8u, ADDS_RESIDUAL = 16u, SCALES_ROWS = 256u, SCALES_VECTORS = 512u;
float y_before(uint at) {  // what y holds
    if (Y_TYPE == 0u) return y[at];
@if stores_halves
    const uint bits = uint(y_halves[at]);
@else
    const uint bits = atomicOr(y_halves[at / 2u], 0u) >> at % 2u * 16u;  // a word has two results, maybe of two threads
@end
    return Y_TYPE == 1u ? unpackHalf2x16(bits).x : uintBitsToFloat(bits << 16);
}
void store_y(uint at, float sum) {  // 16 bits are rounded once, ties to even; in integers, for Vulkan leaves that open
@if !stores_halves
    if (Y_TYPE == 0u) { y[at] = sum; return; }
@end
    const uint bits = floatBitsToUint(sum), magnitude = bits & 0x7FFFFFFFu, nan = Y_TYPE == 1u ? 0x7E00u : 0x7FC0u;
    precise float lifted = uintBitsToFloat(magnitude) + 0.5;  // rounds subnormal halves
    const uint bf16 = magnitude + 0x7FFFu + (magnitude >> 16 & 1u) >> 16, subnormal = floatBitsToUint(lifted) - 0x3F000000u;
    const uint normal = min(magnitude - 0x37FFF001u + (magnitude >> 13 & 1u) >> 13, 0x7C00u);
    const uint f16 = magnitude < 0x38800000u ? subnormal : normal, rounded = Y_TYPE == 1u ? f16 : bf16;
    const uint signed_bits = bits >> 16 & 0x8000u | (magnitude > 0x7F800000u ? nan : rounded);
@if stores_halves
    if (Y_TYPE == 0u) y[at] = sum;
    else y_halves[at] = uint16_t(signed_bits);
@else
    atomicAnd(y_halves[at / 2u], 0xffff0000u >> at % 2u * 16u);
    atomicOr(y_halves[at / 2u], signed_bits << at % 2u * 16u);
@end
}

@if experts
// What all rows of a pair are multiplied with, unless each has a scale of its own.
float scale_of_pair(uint pair, uint expert) {
    const uint does = EPILOGUE & epilogue;
    if ((does & SCALES) == 0u || (does & SCALES_ROWS) != 0u || expert >= experts) return 1.0;
    return result_scale[(does & SCALES_VECTORS) != 0u ? set * batch * slots + pair : set * experts + expert];
}

// Row `n` of a token's expert is done. An expert that is not there has zeros, to which no more is added than what stands there.
void finish(uint pair, uint expert, uint n, float sum, float scale) {
@if gates_rows
@include gate_rows.glsl
@end
    const uint at = VIEWS == 0u ? pair * rows + n : set * y_outer + pair / slots * y_inner + pair % slots * y_stride + n;
    const uint row = (set * experts + expert) * rows + n, all = EPILOGUE & epilogue;
    if (all != 0u) {
        const uint does = expert < experts ? all : all & (ADDS_TO_Y | ADDS_RESIDUAL);
        if ((does & SCALES) != 0u) sum *= (does & SCALES_ROWS) != 0u ? result_scale[row] : scale;
        if ((does & ADDS_BIAS) != 0u) sum += row_bias[row];
        if ((does & ADDS_TO_Y) != 0u) sum += y_before(at + y_skip);
        if ((does & GATES) != 0u) sum *= result_gate[at] / (1.0 + exp(-result_gate[at]));  // silu
        if ((does & ADDS_RESIDUAL) != 0u) sum += residual[at];
    }
    store_y(at + y_skip, sum);
}
@else
@if in_parts
// Row `n` of right-hand side `m` is done; or, where sums come in parts, one of them is, which may be the first or the last.
void finish(uint m, uint n, float sum, bool first, bool last) {
@else
void finish(uint m, uint n, float sum) {  // row `n` of right-hand side `m` is done
@if norms
    if (NORM != 0u) {  // x has been multiplied with the weights of its norm alone
        float all = 0.0;
        for (uint i = m; i < gl_NumSubgroups * BATCH; i += BATCH) all += partial[SQUARES + i];
        sum *= inversesqrt(all / float(row_tiles * @{row_tile_elements}u) + uintBitsToFloat(NORM));
    }
@end
@if gates_rows
@include gate_rows.glsl
@end
@end
    const uint row = y_first % y_rows + n, vector = m + y_first / y_rows, number = (matrix_first + matrix) * vectors + vector;
    const uint at = VIEWS == 0u ? m * y_rows + y_first + n : y_begin + vector * y_stride + row, does = EPILOGUE & epilogue;
  @if in_parts
    if ((does & SCALES) != 0u) sum *= result_scale[(does & SCALES_ROWS) != 0u ? row : (does & SCALES_VECTORS) != 0u ? number : 0u];
    if (first && (does & ADDS_BIAS) != 0u) sum += row_bias[row];
    if (!first || (does & ADDS_TO_Y) != 0u) sum += y_before(at + y_skip);
    if (last && (does & GATES) != 0u) sum *= result_gate[at] / (1.0 + exp(-result_gate[at]));  // silu
    if (last && (does & ADDS_RESIDUAL) != 0u) sum += residual[at];
  @else
    if (does != 0u) {
        if ((does & SCALES) != 0u) sum *= result_scale[(does & SCALES_ROWS) != 0u ? row : (does & SCALES_VECTORS) != 0u ? number : 0u];
        if ((does & ADDS_BIAS) != 0u) sum += row_bias[row];
        if ((does & ADDS_TO_Y) != 0u) sum += y_before(at + y_skip);
        if ((does & GATES) != 0u) sum *= result_gate[at] / (1.0 + exp(-result_gate[at]));  // silu
        if ((does & ADDS_RESIDUAL) != 0u) sum += residual[at];
    }
  @end
    store_y(at + y_skip, sum);
}
@if in_parts

void finish(uint m, uint n, float sum) { finish(m, n, sum, true, true); }
@end
@end
