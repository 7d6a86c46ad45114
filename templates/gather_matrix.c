/* Returns how many indices are out of range; their rows are zeros. */
uint64_t qk_@{name}_ref(const void *const weights[@{n_buffers}],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, @{c_type} *dst) {
    uint64_t out_of_range = 0;
    for (uint64_t t = 0; t < tokens; ++t, dst += cols) {
        if (indices[t] >= rows) {
            memset(dst, 0, cols * sizeof *dst);
            out_of_range += 1;
            continue;
        }
        for (uint64_t c = 0; c < cols; ++c) dst[c] = @{stored_at}(weights, rows, cols, indices[t], c);
    }
    return out_of_range;
}
