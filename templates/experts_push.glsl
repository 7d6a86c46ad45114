layout(push_constant) uniform Push {
    uint rows, row_tiles, batch, slots;  // of one expert; tiles of @{tile_elements} elements in a row; tokens; experts of each
    uint x_slots;  // right-hand sides of each token: one for all of its slots, or one for each
    uint experts, expert_first, expert_end, epilogue;  // all there are; those that are bound in this launch
@if pushes_matrix
    uint cols, grid_rows, grid_cols;  // of the matrix that an expert is, whose patches the blocks are; blocks
@end
    uint weights_inner;  // of VIEWS: rows from an expert to the next
    uint x_first, x_stride, x_inner;  // elements; to the next slot's x, and the next token's
    uint y_skip, y_stride, y_inner;  // in y alone; then as of x
    uint ids_skip, ids_inner;  // and to the next token's ids
    uint sets, set_first;  // of experts with the same ids and x: those of this launch
    uint weights_first, weights_outer, y_outer;  // rows before them, and to the next set
};
@include views.glsl
