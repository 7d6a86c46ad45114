// Row `n` of right-hand side `m` is done; or, where sums come in parts, one of them is.
void finish(uint m, uint n, float sum, bool first) {
    const uint at = m * y_rows + y_first + n;
    y[at] = first && y_add == 0u ? sum : y[at] + sum;
}

void finish(uint m, uint n, float sum) {
    finish(m, n, sum, true);
}
