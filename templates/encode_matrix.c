void qk_@{name}_ref(void *const weights[@{n_buffers}],
    uint64_t rows, uint64_t cols, const @{c_type} *src) {
    const uint64_t row_blocks = cols / @{block_elements};
    for (uint64_t row = 0; row < rows; ++row, src += cols) {
@include encode_row.c
    }
}
