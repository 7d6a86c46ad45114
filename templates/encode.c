void qk_@{name}_ref(void *const weights[@{n_buffers}],
    uint64_t elements, const @{c_type} *src) {
    for (uint64_t i = 0; i < elements / @{block_elements}; ++i) {
@if src_value
        float x[@{block_elements}];
        for (uint32_t e = 0; e < @{block_elements}; ++e) x[e] = @{src_value}(src[i * @{block_elements} + e]);
        qk_encode(x@{blocks_at});
@else
        qk_encode(src + i * @{block_elements}@{blocks_at});
@end
    }
}
