void qk_@{name}_ref(void *const weights[@{n_buffers}],
    uint64_t elements, const @{c_type} *src) {
    for (uint64_t i = 0; i < elements / @{block_elements}; ++i) qk_encode(src + i * @{block_elements}@{blocks_at});
}
