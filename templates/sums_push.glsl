layout(push_constant) uniform Push {
    uint rows, row_tiles, batch;      // of this launch; tiles of @{tile_elements} elements in a row; right-hand sides
    uint y_first, y_rows, epilogue;   // where it begins in y; rows of each right-hand side there; what is done with results
@if pushes_matrix
    uint cols, grid_rows, grid_cols;  // of the matrix that the blocks are patches of; blocks
@end
    uint groups, matrix_first, matrices, vectors;  // of VIEWS: each matrix's workgroups; first matrix; inner matrices; right-hand sides
    uint sharing, sharing_outer;  // neighbours with the same weights, in each dimension
    uint weights_first, weights_inner, weights_outer;  // rows; from a matrix of weights to the next in each dimension
    uint x_first, x_stride, x_inner, x_outer;  // elements; from a right-hand side to the next, and from a matrix to the next
    uint y_skip, y_stride, y_inner, y_outer;  // elements in y alone, then as of x
    uint second, third;  // matrices from which on weights and y lie further, by
    uint weights_second, weights_third, y_second, y_third;
};

@include views.glsl
