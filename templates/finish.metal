// Where results go, and what they pass through on their way.
struct results {
    device float *y;
    device const float *bias;
    uint epilogue;
};

constant constexpr uint ADDS_TO_Y = 1, ADDS_BIAS = 2;  // bits of the epilogue

// Number `at` in y is done, whose bias is number `row`; or, where sums come in parts, one of them is.
inline void finish(results to, uint at, uint row, float sum, bool first = true)
{
    if (first && (to.epilogue & ADDS_BIAS) != 0) sum += to.bias[row];
    to.y[at] = first && (to.epilogue & ADDS_TO_Y) == 0 ? sum : to.y[at] + sum;
}

// The same of row `n` of right-hand side `m`.
inline void finish(results to, constant sum_shape &shape, uint m, uint n, float sum, bool first = true)
{
    finish(to, m * shape.y_rows + shape.y_first + n, shape.y_first % shape.y_rows + n, sum, first);
}
