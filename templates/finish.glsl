layout(constant_id = @{id.epilogue}) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have; what others stand for is left out

layout(binding = @{binding_y}, std430) buffer Output { float y[]; };
layout(binding = @{binding_result_scale}, std430) readonly buffer ResultScale { float result_scale[]; };
layout(binding = @{binding_row_bias}, std430) readonly buffer RowBias { float row_bias[]; };
layout(binding = @{binding_result_gate}, std430) readonly buffer ResultGate { float result_gate[]; };
layout(binding = @{binding_residual}, std430) readonly buffer Residual { float residual[]; };

// Bits of the epilogue: what is done with results, and what has a scale of its own; else all of a tensor have one.
const uint ADDS_TO_Y = 1u, ADDS_BIAS = 2u, SCALES = 4u, GATES = 8u, ADDS_RESIDUAL = 16u, SCALES_ROWS = 256u, SCALES_VECTORS = 512u;

bool does(uint part) {
    return (EPILOGUE & part & epilogue) != 0u;
}

float silu(float v) {
    return v / (1.0 + exp(-v));
}

@if experts
// Row `n` of a token's expert is done. An expert that is not there has zeros, to which no more is added than what stands there.
void finish(uint pair, uint n, float sum) {
    const uint at = pair * rows + n, expert = ids[pair], row = expert * rows + n;
    const bool found = expert < experts;
    if (found && does(SCALES))
        sum *= result_scale[does(SCALES_ROWS) ? row : does(SCALES_VECTORS) ? pair : expert];
    if (found && does(ADDS_BIAS)) sum += row_bias[row];
    if (does(ADDS_TO_Y)) sum += y[at];
    if (found && does(GATES)) sum *= silu(result_gate[at]);
    if (does(ADDS_RESIDUAL)) sum += residual[at];
    y[at] = sum;
}
@else
// Row `n` of right-hand side `m` is done; or, where sums come in parts, one of them is, which may be the first or the last.
void finish(uint m, uint n, float sum, bool first, bool last) {
    const uint at = m * y_rows + y_first + n, row = y_first % y_rows + n;
    if (does(SCALES))
        sum *= result_scale[does(SCALES_ROWS) ? row : does(SCALES_VECTORS) ? m + y_first / y_rows : 0u];
    if (first && does(ADDS_BIAS)) sum += row_bias[row];
    if (!first || does(ADDS_TO_Y)) sum += y[at];
    if (last && does(GATES)) sum *= silu(result_gate[at]);
    if (last && does(ADDS_RESIDUAL)) sum += residual[at];
    y[at] = sum;
}

void finish(uint m, uint n, float sum) {
    finish(m, n, sum, true, true);
}
@end
