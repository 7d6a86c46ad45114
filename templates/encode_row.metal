@if row_values
        // All of the row is looked at before a block is made.
        float qk_of_row[@{row_values}];
        @{row_begin}
        for (uint b = 0; b < push.row_blocks; ++b) qk_@{format}::qk_look(x + b * @{block_elements}u, qk_of_row);
@end
        for (uint b = 0; b < push.row_blocks; ++b)
            qk_@{format}::qk_encode(row, b, push.row_blocks, x + b * @{block_elements}u@{of_row}, @{weights});
