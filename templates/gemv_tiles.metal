struct sum_shape {
    uint rows;       // of this launch
    uint row_tiles;  // tiles of @{tile_elements} elements in a row
    uint batch;      // right-hand sides
    uint y_first;    // where the launch begins in y, and
    uint y_rows;     // how many rows each right-hand side has there
    uint epilogue;   // what is done with results
@if of_matrix
    uint cols;       // of the matrix that the blocks are patches of
    uint grid_rows;  // blocks
    uint grid_cols;
@end
};

@include finish.metal

// Where a thread stands.
struct standing {
    uint group, groups, thread_index, threads, lane, lanes, simdgroup, simdgroups;
};

@if halves
// The unit of x that halves are steps of: weights are up to 2^16, or codes of ten bits that stand for 2^-24 each.
inline float scale_of(@{vec} most, @{vec} all)
{
    const float largest = @{largest_of_most};
    if (@{any}(isnan(all)) || isinf(largest)) return NAN;
    return min(0.001953125f / max(largest, 1e-37f), 0.5e38f);
}

@{dot_halves}

@end
@{load_x}

@{accumulate}

@{sum_cut}
