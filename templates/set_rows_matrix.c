/* Returns how many indices are out of range; nothing is written for them. Of two that are the same, the last is what stays. */
uint64_t qk_@{name}_ref(void *const weights[@{n_buffers}],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const @{c_type} *src) {
    uint64_t out_of_range = 0;
    const uint64_t row_blocks = cols / @{block_elements};
    for (uint64_t t = 0; t < tokens; ++t, src += cols) {
        const uint64_t row = indices[t];
        if (row >= rows) {
            out_of_range += 1;
            continue;
        }
@include encode_row.c
    }
    return out_of_range;
}
