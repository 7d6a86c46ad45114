void qk_@{name}_ref(void *const weights[@{n_buffers}],
    uint64_t rows, uint64_t cols, const @{c_type} *src) {
    const uint64_t groups = rows * cols / @{group}, blocks = (groups + @{planes} - 1) / @{planes};
    for (uint64_t b = 0; b < blocks; ++b) {
        float x[@{block_elements}];
        for (uint32_t e = 0; e < @{block_elements}; ++e) {
            const uint64_t group = e / @{group} * blocks + b, at = group * @{group} + e % @{group};
@if src_value
            x[e] = group < groups ? @{src_value}(src[at]) : 0;
@else
            x[e] = group < groups ? src[at] : 0;
@end
        }
@if many_planes
        qk_encode(b, blocks, groups, x@{blocks_at});
@else
        qk_encode(b, x@{blocks_at});
@end
    }
}
