layout(push_constant) uniform Push {
    uint rows;  // of one expert
    uint row_tiles;  // tiles of @{tile_elements} elements in a row
    uint batch;  // tokens
    uint slots;  // experts of each token
    uint x_slots;  // right-hand sides of each token: one for all of its slots, or one for each
    uint experts;  // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
    uint epilogue;  // what is done with results
@if pushes_matrix
    uint cols;  // of the matrix that an expert is, whose patches the blocks are
    uint grid_rows;  // blocks
    uint grid_cols;
@end
    // Of VIEWS:
    uint weights_inner;  // rows from an expert to the next
    uint x_first, x_stride, x_inner;  // elements; from a slot's x to the next, and from a token's to the next
    uint y_skip, y_stride, y_inner;  // elements in y alone, then as of x
    uint ids_skip, ids_inner;  // and from a token's ids to the next
    uint sets, set_first;  // of experts with the same ids and x: those of this launch
    uint weights_first, weights_outer, y_outer;  // rows before them, and from a set to the next
};

@include views.glsl
