void qk_@{name}_ref(const void *const weights[@{n_buffers}],
    uint64_t rows, uint64_t cols, @{c_type} *dst) {
    for (uint64_t r = 0; r < rows; ++r)
        for (uint64_t c = 0; c < cols; ++c) *dst++ = @{stored_at}(weights, rows, cols, r, c);
}
