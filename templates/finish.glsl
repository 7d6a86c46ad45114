layout(binding = @{binding_y}, std430) buffer Output { float y[]; };
layout(binding = @{binding_result_scale}, std430) readonly buffer ResultScale { float result_scale[]; };
layout(binding = @{binding_row_bias}, std430) readonly buffer RowBias { float row_bias[]; };

// Bits of the epilogue: what is done with results, and what has a scale of its own; else all of a tensor have one.
const uint ADDS_TO_Y = 1u, ADDS_BIAS = 2u, SCALES = 4u, SCALES_ROWS = 256u, SCALES_VECTORS = 512u;

@if experts
// Row `n` of a token's expert is done. An expert that is not there has zeros.
void finish(uint pair, uint n, float sum) {
    const uint at = pair * rows + n, expert = ids[pair], row = expert * rows + n;
    const bool found = expert < experts;
    if (found && (epilogue & SCALES) != 0u)
        sum *= result_scale[(epilogue & SCALES_ROWS) != 0u ? row : (epilogue & SCALES_VECTORS) != 0u ? pair : expert];
    if (found && (epilogue & ADDS_BIAS) != 0u) sum += row_bias[row];
    y[at] = (epilogue & ADDS_TO_Y) == 0u ? sum : y[at] + sum;
}
@else
// Row `n` of right-hand side `m` is done; or, where sums come in parts, one of them is.
void finish(uint m, uint n, float sum, bool first) {
    const uint at = m * y_rows + y_first + n, row = y_first % y_rows + n;
    if ((epilogue & SCALES) != 0u)
        sum *= result_scale[(epilogue & SCALES_ROWS) != 0u ? row : (epilogue & SCALES_VECTORS) != 0u ? m + y_first / y_rows : 0u];
    if (first && (epilogue & ADDS_BIAS) != 0u) sum += row_bias[row];
    y[at] = first && (epilogue & ADDS_TO_Y) == 0u ? sum : y[at] + sum;
}

void finish(uint m, uint n, float sum) {
    finish(m, n, sum, true);
}
@end
