/* Returns how many indices are out of range; nothing is written for them. Of two that are the same, the last is what stays. */
uint64_t qk_@{name}_ref(void *const weights[@{n_buffers}],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const @{c_type} *src) {
    uint64_t out_of_range = 0;
    const uint64_t row_blocks = cols / @{block_elements};
    for (uint64_t t = 0; t < tokens; ++t, src += cols) {
        if (indices[t] >= rows) {
            out_of_range += 1;
            continue;
        }
        for (uint64_t b = 0; b < row_blocks; ++b) {
            const uint64_t i = indices[t] * row_blocks + b;
@if src_value
            float x[@{block_elements}];
            for (uint32_t e = 0; e < @{block_elements}; ++e) x[e] = @{src_value}(src[b * @{block_elements} + e]);
            qk_encode(x@{blocks_at});
@else
            qk_encode(src + b * @{block_elements}@{blocks_at});
@end
        }
    }
    return out_of_range;
}
