layout(push_constant) uniform Push {
    uint rows, row_tiles, batch;  // of this launch; tiles of @{tile_elements} elements in a row; right-hand sides
    uint y_first, y_rows, epilogue;  // where it begins in y; rows of a right-hand side there
@if pushes_matrix
    uint cols, grid_rows, grid_cols;  // of the matrix that the blocks are patches of; blocks
@end
    uint groups, matrix_first, matrices, vectors, sharing, sharing_outer;  // of VIEWS: workgroups of a matrix; neighbours share weights
    uint weights_first, weights_inner, weights_outer;  // rows; to the next inner and outer matrix
    uint x_first, x_stride, x_inner, x_outer, y_skip, y_stride, y_inner, y_outer;  // elements; to the next right-hand side, and matrix
    uint second, third, weights_second, weights_third, y_second, y_third;  // from these matrices on both lie further
};
@include views.glsl
