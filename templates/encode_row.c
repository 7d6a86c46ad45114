@if src_value
        float x[@{block_elements}];
@end
@if row_values
        /* All of the row is looked at before a block is made. */
        float qk_of_row[@{row_values}];
        @{row_begin}
        for (uint64_t b = 0; b < row_blocks; ++b) {
@if src_value
            for (uint32_t e = 0; e < @{block_elements}; ++e) x[e] = @{src_value}(src[b * @{block_elements} + e]);
            qk_look(x, qk_of_row);
@else
            qk_look(src + b * @{block_elements}, qk_of_row);
@end
        }
@end
        for (uint64_t b = 0; b < row_blocks; ++b) {
@if src_value
            for (uint32_t e = 0; e < @{block_elements}; ++e) x[e] = @{src_value}(src[b * @{block_elements} + e]);
            qk_encode(row, b, row_blocks, x@{of_row}@{blocks_at});
@else
            qk_encode(row, b, row_blocks, src + b * @{block_elements}@{of_row}@{blocks_at});
@end
        }
