layout(binding = @{binding_y}, std430) buffer Output { float y[]; };
layout(binding = @{binding_row_bias}, std430) readonly buffer RowBias { float row_bias[]; };

const uint ADDS_TO_Y = 1u, ADDS_BIAS = 2u;  // bits of the epilogue

@if experts
// Row `n` of a token's expert is done. An expert that is not there has no bias.
void finish(uint pair, uint n, float sum) {
    const uint at = pair * rows + n, expert = ids[pair];
    if ((epilogue & ADDS_BIAS) != 0u && expert < experts) sum += row_bias[expert * rows + n];
    y[at] = (epilogue & ADDS_TO_Y) == 0u ? sum : y[at] + sum;
}
@else
// Row `n` of right-hand side `m` is done; or, where sums come in parts, one of them is.
void finish(uint m, uint n, float sum, bool first) {
    const uint at = m * y_rows + y_first + n;
    if (first && (epilogue & ADDS_BIAS) != 0u) sum += row_bias[y_first % y_rows + n];
    y[at] = first && (epilogue & ADDS_TO_Y) == 0u ? sum : y[at] + sum;
}

void finish(uint m, uint n, float sum) {
    finish(m, n, sum, true);
}
@end
