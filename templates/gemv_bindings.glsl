@{buffers}
@{wide_buffers}
layout(binding = @{binding_x}, std430) readonly buffer Input { @{x_type} x_in[]; };
@{x_elements}
@if shares
layout(binding = @{binding_y}, std430) buffer Output { float y[]; };
@else
layout(binding = @{binding_y}, std430) writeonly buffer Output { float y[]; };
@end

layout(push_constant) uniform Push {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of @{tile_elements} elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
@if of_matrix
    uint cols;       // of the matrix that the blocks are patches of
    uint grid_rows;  // blocks
    uint grid_cols;
@end
};

@{tables}
@{prelude}
// Row `n` of right-hand side `m` is done.
@if shares
void finish(uint m, uint n, float sum, bool first) {
    const uint at = m * y_rows + y_first + n;
    y[at] = first ? sum : y[at] + sum;
}
@else
void finish(uint m, uint n, float sum) {
    y[m * y_rows + y_first + n] = sum;
}
@end
