struct @{name}_push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of @{tile_elements} elements in a row
    uint batch;         // tokens
    uint slots;         // experts of each token
    uint x_slots;       // right-hand sides of each token: one for all of its slots, or one for each
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
    uint epilogue;      // what is done with results
@if pushes_matrix
    uint cols;          // of the matrix that an expert is, whose patches the blocks are
    uint grid_rows;     // blocks
    uint grid_cols;
@end
    // Of views, which are on where x, ids, y and experts do not lie one after the other:
    uint weights_inner;  // rows from an expert to the next
    uint x_first;        // elements; from a slot's x to the next, and from a token's to the next
    uint x_stride;
    uint x_inner;
    uint y_skip;         // elements in y alone, then as of x
    uint y_stride;
    uint y_inner;
    uint ids_skip;       // and from a token's ids to the next
    uint ids_inner;
    uint sets;           // of experts that this launch takes, and the first of them
    uint set_first;
    uint weights_first;  // rows before those, and from a set to the next
    uint weights_outer;
    uint y_outer;        // elements of y
};
