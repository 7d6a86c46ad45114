// Bits of the epilogue: what is done with results, and what has a scale of its own; else all of a tensor have one.
const uint ADDS_TO_Y = 1u, ADDS_BIAS = 2u, SCALES = 4u, GATES = 8u, ADDS_RESIDUAL = 16u, SCALES_ROWS = 256u, SCALES_VECTORS = 512u;
float silu(float v) { return v / (1.0 + exp(-v)); }

// What y holds.
float y_before(uint at) {
    if (Y_TYPE == 0u) return y[at];
@if stores_halves
    const uint bits = uint(y_halves[at]);
@else
    const uint bits = atomicOr(y_halves[at / 2u], 0u) >> at % 2u * 16u & 0xffffu;
@end
    return Y_TYPE == 1u ? unpackHalf2x16(bits).x : uintBitsToFloat(bits << 16);
}

// Rounds once, to the nearest, ties to even.
void store_y(uint at, float sum) {
    if (Y_TYPE == 0u) { y[at] = sum; return; }
    const uint bits = Y_TYPE == 1u ? f32_to_f16(sum) : f32_to_bf16(sum);
@if stores_halves
    y_halves[at] = uint16_t(bits);
@else
    // Two results share a word, and may be those of different threads: neither takes the other's part.
    atomicAnd(y_halves[at / 2u], 0xffff0000u >> at % 2u * 16u);
    atomicOr(y_halves[at / 2u], bits << at % 2u * 16u);
@end
}

@if experts
// Row `n` of a token's expert is done. An expert that is not there has zeros, to which no more is added than what stands there.
void finish(uint pair, uint n, float sum) {
    const uint at = VIEWS == 0u ? pair * rows + n : pair / slots * y_inner + pair % slots * y_stride + n;
    const uint expert = ids[id_of(pair)], row = expert * rows + n, all = EPILOGUE & epilogue;
    const uint does = expert < experts ? all : all & (ADDS_TO_Y | ADDS_RESIDUAL);
    if ((does & SCALES) != 0u) sum *= result_scale[(does & SCALES_ROWS) != 0u ? row : (does & SCALES_VECTORS) != 0u ? pair : expert];
    if ((does & ADDS_BIAS) != 0u) sum += row_bias[row];
    if ((does & ADDS_TO_Y) != 0u) sum += y_before(at + y_skip);
    if ((does & GATES) != 0u) sum *= silu(result_gate[at]);
    if ((does & ADDS_RESIDUAL) != 0u) sum += residual[at];
    store_y(at + y_skip, sum);
}
@else
@if in_parts
// Row `n` of right-hand side `m` is done; or, where sums come in parts, one of them is, which may be the first or the last.
void finish(uint m, uint n, float sum, bool first, bool last) {
@else
// Row `n` of right-hand side `m` is done.
void finish(uint m, uint n, float sum) {
@end
    const uint row = y_first % y_rows + n, vector = m + y_first / y_rows, does = EPILOGUE & epilogue;
    const uint at = y_begin + vector * (VIEWS == 0u ? y_rows : y_stride) + row, vector_number = (matrix_first + matrix) * vectors + vector;
    if ((does & SCALES) != 0u) sum *= result_scale[(does & SCALES_ROWS) != 0u ? row : (does & SCALES_VECTORS) != 0u ? vector_number : 0u];
  @if in_parts
    if (first && (does & ADDS_BIAS) != 0u) sum += row_bias[row];
    if (!first || (does & ADDS_TO_Y) != 0u) sum += y_before(at + y_skip);
    if (last && (does & GATES) != 0u) sum *= silu(result_gate[at]);
    if (last && (does & ADDS_RESIDUAL) != 0u) sum += residual[at];
  @else
    if ((does & ADDS_BIAS) != 0u) sum += row_bias[row];
    if ((does & ADDS_TO_Y) != 0u) sum += y_before(at + y_skip);
    if ((does & GATES) != 0u) sum *= silu(result_gate[at]);
    if ((does & ADDS_RESIDUAL) != 0u) sum += residual[at];
  @end
    store_y(at + y_skip, sum);
}
@if in_parts

void finish(uint m, uint n, float sum) { finish(m, n, sum, true, true); }
@end
@end
