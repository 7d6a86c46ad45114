@{tables_as_floats}

// A sum, and the products of two runs, one after the other.
inline float dot_add(float sum, float4 a, float4 b)
{
    return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
}

@{load_large_x}

@{accumulate_large}

// A simdgroup meets its rows ROWS at a time, which share what a thread keeps of x; `split` of them share a row. ONE: each has one
// slice of a row, of which x is loaded once for all rows.
template <uint BATCH, uint ROWS, bool ONE, typename X>
inline void walk_large_rows(
@{kernel_buffers}
@{two_parameters}
    device const X *x_in, results to, constant sum_shape &shape, threadgroup float *partial, standing at, uint split)
{
    constexpr uint TILES = 1;
    @{x_kept}
    const uint tiles = shape.row_tiles / @{size}, slices = (tiles + at.lanes - 1) / at.lanes;
    const uint teams = at.simdgroups / split, team = at.simdgroup / split;
    const uint row_runs = (at.views == 0 ? tiles * @{tile_elements} : shape.x_stride) / @{lanes};
    device const X *x_begin = x_in + at.x_begin / @{lanes};
    const uint own = at.simdgroup % split;
    if (ONE && own * at.lanes + at.lane < tiles)
        load_large_x<TILES, BATCH>(x_begin, shape.batch, row_runs, 0, own * at.lanes + at.lane, 0, @{x_passed});
    for (uint first = at.group * teams * ROWS; first < shape.rows; first += at.groups * teams * ROWS) {
        float sum[ROWS][BATCH];
        for (uint r = 0; r < ROWS; ++r) {
            for (uint m = 0; m < BATCH; ++m) sum[r][m] = 0.0f;
        }
        for (uint c = own; c < slices; c += split) {
            const uint j = c * at.lanes + at.lane;
            if (j >= tiles) continue;
            if (!ONE) load_large_x<TILES, BATCH>(x_begin, shape.batch, row_runs, 0, j, 0, @{x_passed});
            for (uint r = 0; r < ROWS; ++r)
                accumulate_large<TILES, BATCH>(@{weights}, @{two_passed}shape.row_tiles,
                                               at.weights_begin + min(first + team * ROWS + r, shape.rows - 1), j, 0, @{x_passed},
                                               sum[r]);
        }
@include rows_sums.metal

// Sums over rows that are whole larger tiles.
template <uint BATCH, typename X>
inline void sum_large_rows(
@{kernel_buffers}
@{two_parameters}
    device const X *x_in, results to, constant sum_shape &shape, threadgroup float *partial, standing at)
{
    constexpr uint BUSY = 2048;  // simdgroups that keep a device busy
    constexpr uint ROWS = 4;
    const uint slices = (shape.row_tiles / @{size} + at.lanes - 1) / at.lanes;
    uint split = 1;  // simdgroups that share a row
    while (split < slices && at.simdgroups % (2 * split) == 0 && shape.rows * split < BUSY * ROWS) split *= 2;
    if (split >= slices) walk_large_rows<BATCH, ROWS, true>(@{weights}, @{two_passed}x_in, to, shape, partial, at, split);
    else walk_large_rows<BATCH, ROWS, false>(@{weights}, @{two_passed}x_in, to, shape, partial, at, split);
}
