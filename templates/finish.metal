// Where results go, and what they pass through on their way.
struct results {
    device float *y;
    uint epilogue;
};

constant constexpr uint ADDS_TO_Y = 1;  // a bit of the epilogue

// Number `at` in y is done; or, where sums come in parts, one of them is.
inline void finish(results to, uint at, float sum, bool first = true)
{
    to.y[at] = first && (to.epilogue & ADDS_TO_Y) == 0 ? sum : to.y[at] + sum;
}

// The same of row `n` of right-hand side `m`.
inline void finish(results to, constant sum_shape &shape, uint m, uint n, float sum, bool first = true)
{
    finish(to, m * shape.y_rows + shape.y_first + n, sum, first);
}
