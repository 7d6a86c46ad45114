layout(push_constant) uniform Push {
    uint rows, row_tiles, batch;  // of this launch; tiles of @{tile_elements} elements in a row; right-hand sides
    uint y_first, y_rows, epilogue;  // where it begins in y; rows of a right-hand side there
@if pushes_matrix
    uint cols, grid_rows, grid_cols;  // of the matrix that the blocks are patches of; blocks
@end
    uint groups, matrix_first, matrices, vectors;  // of VIEWS: workgroups of a matrix; first matrix; inner matrices; right-hand sides
    uint sharing, sharing_outer;  // neighbours with the same weights
    uint weights_first, weights_inner, weights_outer;  // rows; to the next inner and outer matrix
    uint x_first, x_stride, x_inner, x_outer;  // elements; to the next right-hand side, and matrix
    uint y_skip, y_stride, y_inner, y_outer;  // in y alone; then as of x
    uint second, third, weights_second, weights_third, y_second, y_third;  // from these matrices on both lie further
};

@include views.glsl
