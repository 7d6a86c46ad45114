// A simdgroup of 32 multiplies 16 rows with 8 right-hand sides, in matrices of 8 x 8. Four lanes share a row, each with a wide tile
// of its own: number t of them has rows g and g + 8, brings x of right-hand side g, and gets the results of 2 t and 2 t + 1. Element
// 2 t + h of a row of weights is half h of lane t's word, so that lanes have what the unit reads as soon as they have decoded it.
constant constexpr uint WORDS = @{words}, PART = @{part};  // pairs of halves in a wide tile, and of which operands are made at a time

// A lane's place in a matrix: elements 2 t and 2 t + 1 of row g. And lanes in other places.
struct matrix_lane {
    uint g, t;
    ushort beside, across;  // (g, t ^ 1) and (g, t ^ 2)
    ushort first, second;   // (2 t, g / 2) and (2 t + 1, g / 2)
};

// Metal does not say which lane holds what. A matrix of its own indices tells; all that is relied on is that a lane's two elements
// are neighbours in a row, and the same ones in matrices of halves and of floats.
inline matrix_lane find_lane(threadgroup float *memory, standing at)
{
    threadgroup float *lanes = memory + 64;
    for (uint i = at.thread_index; i < 64; i += at.threads) memory[i] = float(i);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_float8x8 numbers;
    simdgroup_load(numbers, memory, 8);
    const uint number = uint(numbers.thread_elements()[0]), g = number / 8, t = number % 8 / 2;
    if (at.simdgroup == 0) lanes[4 * g + t] = float(at.lane);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const matrix_lane own = {g, t, ushort(lanes[4 * g + (t ^ 1)]), ushort(lanes[4 * g + (t ^ 2)]),
                             ushort(lanes[8 * t + g / 2]), ushort(lanes[8 * t + 4 + g / 2])};
    threadgroup_barrier(mem_flags::mem_threadgroup);  // the memory is free again
    return own;
}

// Of the four lanes that share a row.
inline float most_of_four(float value, matrix_lane lane)
{
    value = max(value, simd_shuffle(value, lane.beside));
    return max(value, simd_shuffle(value, lane.across));
}

// What the lanes of the two right-hand sides have whose results are this lane's.
inline float2 of_vectors(float value, matrix_lane lane)
{
    return float2(simd_shuffle(value, lane.first), simd_shuffle(value, lane.second));
}

// Of their words the element that is in row g of the matrix of x.
inline half2 of_vectors(half2 word, matrix_lane lane)
{
    const half2 first = simd_shuffle(word, lane.first), second = simd_shuffle(word, lane.second);
    return lane.g % 2 == 0 ? half2(first.x, second.x) : half2(first.y, second.y);
}

inline simdgroup_half8x8 matrix_of(half2 own)
{
    simdgroup_half8x8 m;
    m.thread_elements()[0] = own.x;
    m.thread_elements()[1] = own.y;
    return m;
}

inline float2 own_of(simdgroup_float8x8 m)
{
    return float2(m.thread_elements()[0], m.thread_elements()[1]);
}

// The power of two that brings `most` to between 2^exponent and twice that, and its inverse.
inline float scale_of(float most, uint exponent, thread float &inverse)
{
    const uint bits = clamp(as_type<uint>(most) >> 23, exponent + 1, 254u);
    inverse = as_type<float>((bits - exponent) << 23);
    return as_type<float>((254 + exponent - bits) << 23);
}

@{load_wide_x}

@{fetch_wide}

@{operands}

// Rows `from` to `end`, in floats, each by a whole threadgroup: those that are not whole wide tiles, and the last, from where loads of
// 16 bytes would go beyond the end.
template <typename X>
inline void walk_rows(
@{buffers}
    device const X *x_in, results to, constant sum_shape &shape, threadgroup float *partial, standing at, uint from, uint end)
{
    @{x_kept}
    const uint row_runs = at.views == 0 ? shape.row_tiles * @{runs} : shape.x_stride / @{lanes};
    for (uint i = at.group; i < (end - from) * shape.batch; i += at.groups) {
        const uint n = from + i / shape.batch, m = i % shape.batch;
        float sum[1] = {};
        for (uint j = at.thread_index; j < shape.row_tiles; j += at.threads) {
            load_x<1, 1>(x_in + at.x_begin / @{lanes}, shape.batch, row_runs, m, j, 0, x, x_sum);
            accumulate<1, 1>(@{weights}, @{narrow_shape}shape.row_tiles, at.weights_begin + n, j, 0, x, x_sum, sum);
        }
        const float all = simd_sum(sum[0]);
        if (at.lane == 0) partial[at.simdgroup] = all;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (at.thread_index == 0) {
            float total = 0.0f;
            for (uint s = 0; s < at.simdgroups; ++s) total += partial[s];
            finish(to, shape, at, m, n, total);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// Sums over rows. A lane keeps KEPT wide tiles of x.
template <uint KEPT, typename X>
inline void multiply_rows(
@{buffers}
    device const X *x_in, results to, constant sum_shape &shape, threadgroup float *partial, standing at)
{
    const matrix_lane lane = find_lane(partial, at);
@if restricted
    const uint end = @{mma_end};
    walk_rows(@{weights}, x_in, to, shape, partial, at, end, shape.rows);
    if (end == 0) return;
@else
    const uint end = shape.rows;
@end
    const uint row_runs = at.views == 0 ? shape.row_tiles * @{runs} : shape.x_stride / @{lanes};
    half2 wide_x[KEPT][WORDS];
    float2 wide_x_unit[KEPT];  // what makes up for the power of two in it
    // As many simdgroups share rows as hold all of x between them, or as much of it as they can, and walk down the rows. Loops that
    // index what a lane keeps are unrolled, so that it is in registers.
    const uint wide_tiles = shape.row_tiles / @{wide_ratio}, slice = 4 * KEPT, slices = (wide_tiles + slice - 1) / slice;
    uint split = 1, turn = 0;
    while (split < slices && at.simdgroups % (2 * split) == 0) split *= 2;
    const uint teams = at.simdgroups / split, team = at.simdgroup / split, tall = teams * 16;
    // Results of 16 bits hold no sums in parts: all of x passes for some rows, then for the next.
    const bool whole = to.y_type != 0 && slices > split;
    uint pass = at.group * tall;
    do {
        for (uint begin = 0; begin < slices; begin += split) {
            const uint own = (begin + at.simdgroup % split) * slice;
            #pragma unroll
            for (uint k = 0; k < KEPT; ++k) {
                const uint j = min(own + 4 * k + lane.t, wide_tiles - 1);
                load_wide_x(x_in + at.x_begin / @{lanes}, shape.batch, row_runs, lane.g, j, lane, wide_x[k], wide_x_unit[k]);
                if (own + 4 * k + lane.g / 2 < wide_tiles) continue;
                #pragma unroll
                for (uint w = 0; w < WORDS; ++w) wide_x[k][w] = half2(0.0h);  // of a tile beyond the row
            }
            for (uint first = pass; first < (whole ? min(pass + 1, end) : end); first += at.groups * tall) {
                // Halves of the memory in turn: who is ahead does not write where others still read.
                threadgroup float *sums = partial + (whole ? turn : turn++) % 2 * at.simdgroups * 128;
                const uint from = first + team * 16 + lane.g, row = at.weights_begin + min(from, end - 1);
                const uint row_8 = at.weights_begin + min(from + 8, end - 1);
                float2 sum = 0.0f, sum_8 = 0.0f;
                @{fetched}
                #pragma unroll
                for (uint k = 0; k < KEPT; ++k) {
                    const uint j = min(own + 4 * k + lane.t, wide_tiles - 1);
                    fetch_wide(@{weights}, @{shape}shape.row_tiles, row, j, @{fetched_at});
                    fetch_wide(@{weights}, @{shape}shape.row_tiles, row_8, j, @{fetched_8});
                }
                #pragma unroll
                for (uint k = 0; k < KEPT; ++k) {
                    const uint j = min(own + 4 * k + lane.t, wide_tiles - 1);
                    const float most = largest_factor(@{shape}shape.row_tiles, row, j, @{fetched_at});
                    const float most_8 = largest_factor(@{shape}shape.row_tiles, row_8, j, @{fetched_8});
                    float unit, unit_8;
                    const float scale = scale_of(most_of_four(most, lane), 13, unit);
                    const float scale_8 = scale_of(most_of_four(most_8, lane), 13, unit_8);
                    simdgroup_float8x8 products = make_filled_simdgroup_matrix<float, 8, 8>(0.0f), products_8 = products;
                    #pragma unroll
                    for (uint part = 0; part < WORDS / PART; ++part) {
                        half2 v[PART], v_8[PART];
                        operands(part, @{shape}shape.row_tiles, row, j, @{fetched_at}, scale, v);
                        operands(part, @{shape}shape.row_tiles, row_8, j, @{fetched_8}, scale_8, v_8);
                        #pragma unroll
                        for (uint w = 0; w < PART; ++w) {
                            simdgroup_half8x8 x = matrix_of(wide_x[k][part * PART + w]);
                            simdgroup_multiply_accumulate(products, matrix_of(v[w]), x, products);
                            simdgroup_multiply_accumulate(products_8, matrix_of(v_8[w]), x, products_8);
                        }
                    }
                    sum += own_of(products) * unit * wide_x_unit[k];
                    sum_8 += own_of(products_8) * unit_8 * wide_x_unit[k];
                }
                threadgroup float *own_sums = sums + at.simdgroup * 128 + 2 * lane.t * 16 + lane.g;  // 16 rows of each right-hand side
                const bool adds = whole && begin > 0;
                own_sums[0] = adds ? own_sums[0] + sum.x : sum.x;
                own_sums[8] = adds ? own_sums[8] + sum_8.x : sum_8.x;
                own_sums[16] = adds ? own_sums[16] + sum.y : sum.y;
                own_sums[24] = adds ? own_sums[24] + sum_8.y : sum_8.y;
                if (whole && begin + split < slices) continue;
                threadgroup_barrier(mem_flags::mem_threadgroup);
                for (uint i = at.thread_index; i < teams * 128; i += at.threads) {
                    const uint n = first + i / 128 * 16 + i % 16, m = i / 16 % 8;
                    if (n >= end || m >= shape.batch) continue;
                    float total = 0.0f;
                    for (uint s = 0; s < split; ++s) total += sums[(i / 128 * split + s) * 128 + i % 128];
                    finish(to, shape, at, m, n, total, whole || begin == 0, begin + split >= slices);
                }
            }
        }
        pass += at.groups * tall;
        ++turn;
    } while (whole && pass < end);
}
