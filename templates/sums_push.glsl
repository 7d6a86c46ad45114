layout(push_constant) uniform Push {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of @{tile_elements} elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
    uint epilogue;   // what is done with results
@if pushes_matrix
    uint cols;       // of the matrix that the blocks are patches of
    uint grid_rows;  // blocks
    uint grid_cols;
@end
    // Of VIEWS:
    uint groups;             // workgroups of each matrix, where there are several, and the first matrix of this launch
    uint matrix_first;
    uint matrices;           // in the inner dimension
    uint vectors;            // of each matrix, in all launches
    uint sharing;            // neighbours that have the same weights, in the inner and the outer dimension
    uint sharing_outer;
    uint weights_first;      // rows; from a matrix of weights to the next in each dimension
    uint weights_inner;
    uint weights_outer;
    uint x_first;            // elements; from a right-hand side to the next, and from a matrix to the next
    uint x_stride;
    uint x_inner;
    uint x_outer;
    uint y_skip;             // elements in y alone, then as of x
    uint y_stride;
    uint y_inner;
    uint y_outer;
};

@include views.glsl
