void qk_@{name}_ref(const void *const weights[@{n_buffers}],
    uint64_t elements, @{c_type} *dst) {
    for (uint64_t i = 0; i < elements; ++i) dst[i] = @{stored_at}(weights, i);
}
