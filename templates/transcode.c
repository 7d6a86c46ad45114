void qk_@{name}_ref(const void *const weights[@{n_buffers}],
    uint64_t elements, void *const to[@{n_to}]) {
    for (uint64_t u = 0; u < elements / @{unit}; ++u) {
        float kept[@{unit}];
        for (uint64_t k = 0; k < @{unit}; ++k) kept[k] = value_at(weights, u * @{unit} + k);
        for (uint64_t j = 0; j < @{to_blocks}; ++j) {
            const uint64_t i = u * @{to_blocks} + j;
            qk_encode_@{to}(kept + j * @{to_elements}@{blocks_at});
        }
    }
}
