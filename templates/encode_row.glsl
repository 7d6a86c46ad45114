@if row_values
// What each thread of a workgroup has found in its part of the row.
shared float qk_found[gl_WorkGroupSize.x * @{row_values}u];

@end
// Makes a row, if there is such a one, of the floats from block `from` on: all of it is looked at before a block is made.
void qk_make_row(uint row, uint from) {
@if holds
    float x[@{row_share}];  // of the last block
@end
@if spread
    // So many parts of @{row_share} elements at a time: threads take words of all of them in turn.
    const uint t = gl_LocalInvocationIndex, most = gl_WorkGroupSize.x, parts = @{row_parts};
@end
@if row_values
    const uint own = gl_LocalInvocationIndex * @{row_values}u;
    float qk_of_row[@{row_values}];
    @{row_begin}
@if spread
    for (uint b = 0u; b < parts; b += most) {
        const uint n = min(most, parts - b);
        if (t >= n) break;
        qk_hold(from * @{block_elements}u + b * @{row_share}u, t, n, x);
        qk_look(x, qk_of_row);
    }
@else
    const uint share = (row_blocks + gl_WorkGroupSize.x - 1u) / gl_WorkGroupSize.x, first = gl_LocalInvocationIndex * share;
@if holds
    for (uint b = first; b < min(first + share, row_blocks); ++b) {
        qk_hold((from + b) * @{block_elements}u, x);
        qk_look(x, qk_of_row);
    }
@else
    for (uint b = first; b < min(first + share, row_blocks); ++b) qk_look((from + b) * @{block_elements}u, qk_of_row);
@end
@end
    for (uint k = 0u; k < @{row_values}u; ++k) qk_found[own + k] = qk_of_row[k];
    barrier();
    // Neighbours first, and then neighbours of those, so that of equals it is the first.
    for (uint step = 1u; step < gl_WorkGroupSize.x; step *= 2u) {
        const uint next = gl_LocalInvocationIndex + step;
        if (gl_LocalInvocationIndex % (2u * step) == 0u && next < gl_WorkGroupSize.x) {
            @{row_join}
            for (uint k = 0u; k < @{row_values}u; ++k) qk_found[own + k] = qk_of_row[k];
        }
        barrier();
    }
    for (uint k = 0u; k < @{row_values}u; ++k) qk_of_row[k] = qk_found[k];
    barrier();
@end
    if (row >= rows) return;  // asked late: the floats do not wait for what says which row it is
@if spread
    for (uint b = 0u; b < parts; b += most) {
        const uint n = min(most, parts - b);
        if (t >= n) break;
@if row_values
        if (parts > most) qk_hold(from * @{block_elements}u + b * @{row_share}u, t, n, x);  // else it is what was looked at
@else
        qk_hold(from * @{block_elements}u + b * @{row_share}u, t, n, x);
@end
        qk_encode(row, b, from * @{block_elements}u + b * @{row_share}u, t, n, x@{of_row});
    }
@else
@if holds
    for (uint b = gl_LocalInvocationIndex; b < row_blocks; b += gl_WorkGroupSize.x) {
@if row_values
        if (share > 1u) qk_hold((from + b) * @{block_elements}u, x);  // else it is the block that was looked at
@else
        qk_hold((from + b) * @{block_elements}u, x);
@end
        qk_encode(row, b, (from + b) * @{block_elements}u, x@{of_row});
    }
@else
    for (uint b = gl_LocalInvocationIndex; b < row_blocks; b += gl_WorkGroupSize.x)
        qk_encode(row, b, (from + b) * @{block_elements}u@{of_row});
@end
@end
}
