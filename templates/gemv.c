/* y[m][n] = sum over k of value(n, k) * x[m][k], summed in double precision. */
void qk_@{name}_ref(const void *const weights[@{n_buffers}],
    const @{c_type} *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y) {
    for (uint64_t n = 0; n < rows; ++n) {
        for (uint64_t m = 0; m < batch; ++m) {
            double sum = 0;
            for (uint64_t k = 0; k < cols; ++k)
                sum += (double)@{value_of_row} * (double)@{x_value};
            y[m * rows + n] = (float)sum;
        }
    }
}
