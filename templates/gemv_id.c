/* y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], summed in double precision; where x_slots is 1, all slots of a
 * token have the same x. Returns how many ids are out of range; their results are zeros. */
uint64_t qk_@{name}_ref(const void *const weights[@{n_buffers}],
    const @{c_type} *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols, uint64_t tokens,
    uint64_t slots, uint64_t x_slots, float *y) {
    uint64_t out_of_range = 0;
    for (uint64_t p = 0; p < tokens * slots; ++p) {
        const uint64_t m = x_slots == 1 ? p / slots : p, expert = ids[p];
        out_of_range += expert >= experts;
@if expert_weights
        const uint64_t of = expert < experts ? expert : 0;
        const void *const matrix[@{n_buffers}] = {
            @{expert_weights}
        };
        for (uint64_t i = 0; i < rows; ++i) {
            double sum = 0;
            for (uint64_t k = 0; expert < experts && k < cols; ++k)
                sum += (double)value_at(matrix, rows, cols, i, k) * (double)@{x_value};
@else
        for (uint64_t i = 0; i < rows; ++i) {
            const uint64_t n = expert * rows + i;
            double sum = 0;
            for (uint64_t k = 0; expert < experts && k < cols; ++k)
                sum += (double)@{value_of_row} * (double)@{x_value};
@end
            *y++ = (float)sum;
        }
    }
    return out_of_range;
}
