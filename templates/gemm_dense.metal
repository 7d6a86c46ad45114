// Halves of 32 bits in scratch memory: of each matrix of this launch, factors of its right-hand sides, and their operands.
inline ulong end_of_operands(constant sum_shape &shape)
{
    const uint columns = (shape.batch + 15) / 16 * 16, fours = (shape.row_tiles / @{wide_ratio} + 3) / 4;
    return ulong(columns) * (1 + fours * WORDS * 4);
}

template <typename X>
inline void pack(device const X *x, device uint *scratch, constant sum_shape &shape, standing at, uint matrix, shared_memory shared)
{
    const uint columns = (shape.batch + 15) / 16 * 16;
    const uint row_runs = at.views == 0 ? shape.row_tiles * @{runs} : shape.x_stride / @{lanes};
    device uint *operands = scratch + matrix * end_of_operands(shape);
    for (uint m = at.group; m < columns; m += at.groups)
        pack_vector(x + at.x_begin / @{lanes} + ulong(min(m, shape.batch - 1)) * row_runs, shape.row_tiles, (device float *)operands + m,
                    (device half2 *)(operands + columns) + 4 * m, 4 * columns, shared);
}

// A tile's sums become results, or, of parts of rows, are kept until all others are there.
template <uint ACROSS>
inline void finish_tile(
    device const float *x_unit, results to, constant sum_shape &shape, standing at, result_tile tile, device float *parts, uint own,
    thread float2 (&sums)[DOWN][ACROSS], shared_memory shared)
{
    #pragma unroll
    for (uint k = 0; k < ACROSS; ++k) {
        threadgroup const float *memory = share_sums(k, own, sums, shared);
        for (uint i = shared.index; i < 16 * ROWS; i += THREADS) {
            const uint n = tile.row_begin + i % ROWS, m = tile.column_begin + i / ROWS / 8 * 8 * ACROSS + 8 * k + i / ROWS % 8;
            if (n >= shape.rows || m >= shape.batch) continue;
            const float sum = memory[i] * x_unit[m];
            if (parts != nullptr) parts[(ulong(tile.k_part) * shape.batch + m) * shape.rows + n] = sum;
            else finish(to, shape, at, m, n, sum);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
}

// Threadgroups that are neighbours have few rows and few columns between them, so that what they load is near.
template <uint ACROSS>
inline void make_tiles(
@{buffers}
    device uint *scratch, results to, constant sum_shape &shape, standing at, uint matrix, uint matrices, uint k_parts,
    shared_memory shared)
{
    constexpr uint NEAR = 16, COLS = 16 * ACROSS;
    device const float *x_unit = (device const float *)(scratch + matrix * end_of_operands(shape));
    device float *parts = (device float *)(scratch + matrices * end_of_operands(shape));
    parts += ulong(matrix) * k_parts * shape.batch * shape.rows;
    const uint columns = (shape.batch + 15) / 16 * 16, fours = (shape.row_tiles / @{wide_ratio} + 3) / 4;
    const uint down = (shape.rows + ROWS - 1) / ROWS, across = (shape.batch + COLS - 1) / COLS, own = find_lane(shared);
    for (uint work = at.group; work < down * across * k_parts; work += at.groups) {
        const uint number = work / k_parts, k_part = work % k_parts;
        const uint band = number / (NEAR * across), in_band = number % (NEAR * across), tall = min(NEAR, down - band * NEAR);
        const result_tile tile = {(band * NEAR + in_band % tall) * ROWS, shape.rows, in_band / tall * COLS, shape.batch,
                                  k_part, fours * k_part / k_parts, fours * (k_part + 1) / k_parts};
        float2 sums[DOWN][ACROSS] = {};
        make_sums<ACROSS>(@{weights}, shape, at.weights_begin, (device const half *)(x_unit + columns), tile, own, sums, shared);
        finish_tile<ACROSS>(x_unit, to, shape, at, tile, k_parts > 1 ? parts : nullptr, own, sums, shared);
    }
}

// Adds what tiles made of parts of the rows.
inline void add_parts(
    device const uint *scratch, results to, constant sum_shape &shape, standing at, uint matrix, uint matrices, uint k_parts,
    shared_memory shared)
{
    const uint all = shape.rows * shape.batch;
    device const float *parts = (device const float *)(scratch + matrices * end_of_operands(shape)) + ulong(matrix) * k_parts * all;
    for (uint i = at.group * THREADS + shared.index; i < all; i += at.groups * THREADS) {
        float sum = 0.0f;
        for (uint part = 0; part < k_parts; ++part) sum += parts[ulong(part) * all + i];
        finish(to, shape, at, i / shape.rows, i % shape.rows, sum);
    }
}
