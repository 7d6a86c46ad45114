// Sums over rows. BATCH right-hand sides are kept, at least as many as there are; ROWS rows at a time.
template <uint BATCH, uint ROWS, typename X>
inline void sum_rows(
@{buffers}
    device const X *x_in, results to, constant sum_shape &shape, threadgroup float *partial, standing at)
{
    constexpr uint BUSY = 2048;  // simdgroups that keep a device busy
    constexpr uint TILES = BATCH == 1 ? @{x_tiles} : 1;
@if halves
    // What a thread keeps of x: tiles of each right-hand side in steps that let halves hold them; the step; and sums over
    // runs that share a scale.
@else
    // What a thread keeps of x: tiles of each right-hand side, in the order of the weights, and the sums over runs that share
    // a scale.
@end
    @{x_kept}
    // A simdgroup holds a slice of x and walks down the rows. Where there are few rows, simdgroups share each of them.
    const uint slice = at.lanes * TILES, slices = (shape.row_tiles + slice - 1) / slice;
    uint split = 1;
    while (split < slices && at.simdgroups % (2 * split) == 0 && shape.rows * split < BUSY * ROWS) split *= 2;
    const uint teams = at.simdgroups / split, team = at.simdgroup / split;
@if ragged
    // Tiles of a row that are taken as wholes: those that it fills, where its runs of x begin as x is stored.
    const uint row_cols = @{row_cols}, whole = row_cols % @{whole_unit} + (at.views == 0 ? 0 : (at.x_begin | shape.x_stride) % @{lanes});
    const uint whole_tiles = whole == 0 ? row_cols / @{tile_elements} : 0, own_runs = row_cols / @{lanes};
    const uint x_stride = at.views == 0 ? row_cols : shape.x_stride;
@else
    const uint own_runs = shape.row_tiles * @{runs};
@end
    const uint row_runs = at.views == 0 ? own_runs : shape.x_stride / @{lanes};
    device const X *x_begin = x_in + at.x_begin / @{lanes};
    uint held = ~0u;
    for (uint first = at.group * teams * ROWS; first < shape.rows; first += at.groups * teams * ROWS) {
        float sum[ROWS][BATCH];
        for (uint r = 0; r < ROWS; ++r) {
            for (uint m = 0; m < BATCH; ++m) sum[r][m] = 0.0f;
        }
        for (uint c = at.simdgroup % split; c < slices; c += split) {
            for (uint k = 0; k < TILES; ++k) {
                const uint j = (c * TILES + k) * at.lanes + at.lane;
                if (j >= shape.row_tiles) continue;
@if ragged
                if (j >= whole_tiles) {
                    for (uint r = 0; r < ROWS; ++r) {
                        float part[BATCH];
                        sum_cut<BATCH>(@{weights}, @{cut_shape}elements_of(x_in) + at.x_begin, shape.batch, row_cols, x_stride,
                                       min(first + team * ROWS + r, shape.rows - 1), j, part);
                        for (uint m = 0; m < BATCH; ++m) sum[r][m] += part[m];
                    }
                    continue;
                }
                if (c != held) load_x<TILES, BATCH>(x_begin, shape.batch, row_runs, 0, j, k, @{x_passed});
@else
                if (c != held) load_x<TILES, BATCH>(x_begin, shape.batch, row_runs, 0, j, k, @{x_passed});
@end
                for (uint r = 0; r < ROWS; ++r)
                    accumulate<TILES, BATCH>(@{weights}, @{shape}shape.row_tiles,
                                             at.weights_begin + min(first + team * ROWS + r, shape.rows - 1), j, k, @{x_passed}, sum[r]);
            }
            held = c;
        }
@include rows_sums.metal
