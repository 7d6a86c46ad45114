layout(binding = @{binding_y}, std430) buffer Output { float y[]; };

const uint ADDS_TO_Y = 1u;  // a bit of the epilogue

@if experts
// Row `n` of a token's expert is done.
void finish(uint pair, uint n, float sum) {
    const uint at = pair * rows + n;
    y[at] = (epilogue & ADDS_TO_Y) == 0u ? sum : y[at] + sum;
}
@else
// Row `n` of right-hand side `m` is done; or, where sums come in parts, one of them is.
void finish(uint m, uint n, float sum, bool first) {
    const uint at = m * y_rows + y_first + n;
    y[at] = first && (epilogue & ADDS_TO_Y) == 0u ? sum : y[at] + sum;
}

void finish(uint m, uint n, float sum) {
    finish(m, n, sum, true);
}
@end
