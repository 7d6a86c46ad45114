@if experts
namespace expert_tiles {
@else
namespace tiles {
@end

// Four threads share a row, each with a wide tile of its own, and go on to the next four. A word of a wide tile are two halves; the same
// one of all four is a row of eight in an operand of matrix units. x is made such words beforehand, and put into scratch memory: a power
// of two for each right-hand side; then, of four tiles and a word,
@if experts
// what each right-hand side has, one after the other, for it may meet any expert.
@else
// those of all right-hand sides, which are a multiple of 16.
@end
constant constexpr uint WORDS = @{words}, PART = @{part};
// A threadgroup makes tiles of 64 rows, each of its four simdgroups 32 of them and half of the columns.
constant constexpr uint THREADS = 128, ROWS = 64, DOWN = 4;
// Of the memory that it shares, in runs of 16 bytes: weights of two parts, in turn; what makes up for the power of two in each row.
constant constexpr uint WEIGHTS = 2 * PART * ROWS, UNITS = 2 * ROWS / 4;

// What all of a threadgroup shares, and where a thread stands in it.
struct shared_memory {
    threadgroup uint4 *all;
    uint index, lane, simdgroup;
};

// The power of two that brings `most` to between 2^exponent and twice that, and its inverse.
inline float scale_of(float most, uint exponent, thread float &inverse)
{
    const uint bits = clamp(as_type<uint>(most) >> 23, exponent + 1, 254u);
    inverse = as_type<float>((bits - exponent) << 23);
    return as_type<float>((254 + exponent - bits) << 23);
}

// Of the four threads that share a row.
inline float most_of_four(float value)
{
    value = max(value, simd_shuffle_xor(value, 1));
    return max(value, simd_shuffle_xor(value, 2));
}

// Metal does not say which lane holds what of a matrix. One of its own indices tells: the first of two neighbours in a row.
inline uint find_lane(shared_memory shared)
{
    threadgroup float *memory = (threadgroup float *)shared.all;
    if (shared.index < 64) memory[shared.index] = float(shared.index);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_float8x8 numbers;
    simdgroup_load(numbers, memory, 8);
    threadgroup_barrier(mem_flags::mem_threadgroup);  // the memory is free again
    return uint(numbers.thread_elements()[0]);
}

@{load_wide_x}

@{fetch_wide}

@{operands}

// Makes operands of a right-hand side, whose words are `stride` halves of a word apart.
template <typename X>
inline void pack_vector(device const X *x, uint row_tiles, device float *x_unit, device half2 *packed, uint stride, shared_memory shared)
{
    threadgroup float *largest = (threadgroup float *)shared.all;
    const uint runs = row_tiles * @{runs}, wide_tiles = row_tiles / @{wide_ratio}, fours = (wide_tiles + 3) / 4;
    float most = 0.0f;
    for (uint i = shared.index; i < runs; i += THREADS) {
        const @{vec} run = fabs(@{vec}(x[i]));
        most = max(most, @{largest_of_run});
    }
    most = simd_max(most);
    if (shared.lane == 0) largest[shared.simdgroup] = most;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint s = 0; s < THREADS / 32; ++s) most = max(most, largest[s]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float unit;
    const float scale = scale_of(most, 7, unit);
    if (shared.index == 0) *x_unit = unit;
    for (uint j = shared.index; j < 4 * fours; j += THREADS) {
        device half2 *to = packed + ulong(j / 4) * WORDS * stride + j % 4;
        load_wide_x(x, 1, 0, 0, min(j, wide_tiles - 1), scale, to, stride);
        if (j < wide_tiles) continue;
        for (uint w = 0; w < WORDS; ++w) to[w * stride] = half2(0.0h);
    }
}

// Where a tile of the result lies.
struct result_tile {
    uint row_begin, rows;               // its first row, of those of this launch or of an expert
    uint column_begin, columns;         // likewise
    uint k_part, first_four, end_four;  // of a row: the number of its part, and where that begins and ends
};

@if experts
// What the columns of a tile are: pairs of a token and a slot, and their right-hand sides.
inline threadgroup uint *pairs_of(shared_memory shared)
{
    return (threadgroup uint *)(shared.all + WEIGHTS + UNITS);
}

inline threadgroup uint *vectors_of(shared_memory shared)
{
    return pairs_of(shared) + 64;
}

// Puts a part of x into the memory that all share, behind that: of each word what columns have, one after the other.
inline void share_x(device const uint4 *packed, uint fours, uint four, uint part, uint cols, shared_memory shared)
{
    threadgroup uint4 *x_part = shared.all + WEIGHTS + UNITS + 32 + part % 2 * PART * cols;
    for (uint i = shared.index; i < PART * cols; i += THREADS) {
        const uint word = i % PART, column = i / PART;
        x_part[word * cols + column] = packed[(ulong(vectors_of(shared)[column]) * fours + four) * WORDS + part * PART + word];
    }
}

@end
// The sums of a tile of 16 ACROSS columns; `row_begin` of all weights is at `weights_begin`. `x_operands` are the operands of x.
template <uint ACROSS, typename S>
inline void make_sums(
@{buffers}
    constant S &shape, uint weights_begin, device const half *x_operands, result_tile tile, uint own, thread float2 (&sums)[DOWN][ACROSS],
    shared_memory shared)
{
    constexpr uint COLS = 16 * ACROSS;
    threadgroup half2 *weights = (threadgroup half2 *)shared.all;
    threadgroup float *units = (threadgroup float *)(shared.all + WEIGHTS);
    const uint wide_tiles = shape.row_tiles / @{wide_ratio}, g = shared.index / 4, t = shared.index % 4;
    const uint row = weights_begin + min(tile.row_begin + g, tile.rows - 1);
    const uint row_32 = weights_begin + min(tile.row_begin + g + 32, tile.rows - 1);
    const uint own_row = shared.simdgroup % 2 * 32, own_column = shared.simdgroup / 2 * 8 * ACROSS;
@if experts
    const uint fours_of_row = (wide_tiles + 3) / 4;
    threadgroup const half *x_parts = (threadgroup const half *)(shared.all + WEIGHTS + UNITS + 32);
@else
    const uint columns = (tile.columns + 15) / 16 * 16;
@end
    for (uint four = tile.first_four; four < tile.end_four; ++four) {
        const uint j = min(four * 4 + t, wide_tiles - 1);
        @{fetched}
        fetch_wide(@{weights}, @{shape_of_rows}shape.row_tiles, row, j, @{fetched_low});
        fetch_wide(@{weights}, @{shape_of_rows}shape.row_tiles, row_32, j, @{fetched_high});
        float unit, unit_32;
        const float most = largest_factor(@{shape_of_rows}shape.row_tiles, row, j, @{fetched_low});
        const float most_32 = largest_factor(@{shape_of_rows}shape.row_tiles, row_32, j, @{fetched_high});
        const float scale = scale_of(most_of_four(most), 13, unit), scale_32 = scale_of(most_of_four(most_32), 13, unit_32);
        threadgroup float *row_units = units + four % 2 * ROWS;
        if (t == 0) row_units[g] = unit;
        if (t == 0) row_units[g + 32] = unit_32;
        simdgroup_float8x8 products[DOWN][ACROSS];
        #pragma unroll
        for (uint i = 0; i < DOWN * ACROSS; ++i) products[i / ACROSS][i % ACROSS] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        #pragma unroll
        for (uint part = 0; part < WORDS / PART; ++part) {
            half2 v[PART], v_32[PART];
            operands(part, @{shape_of_rows}shape.row_tiles, row, j, @{fetched_low}, scale, v);
            operands(part, @{shape_of_rows}shape.row_tiles, row_32, j, @{fetched_high}, scale_32, v_32);
            threadgroup half2 *part_of_weights = weights + part % 2 * PART * ROWS * 4;
            #pragma unroll
            for (uint w = 0; w < PART; ++w) {
                part_of_weights[(w * ROWS + g) * 4 + t] = v[w];
                part_of_weights[(w * ROWS + g + 32) * 4 + t] = v_32[w];
            }
@if experts
            share_x((device const uint4 *)x_operands, fours_of_row, four, part, COLS, shared);
@end
            threadgroup_barrier(mem_flags::mem_threadgroup);
            #pragma unroll
            for (uint w = 0; w < PART; ++w) {
                simdgroup_half8x8 x[ACROSS], a;
                #pragma unroll
                for (uint k = 0; k < ACROSS; ++k) {
@if experts
                    threadgroup const half *from = x_parts + ((part % 2 * PART + w) * COLS + own_column + 8 * k) * 8;
@else
                    const uint column = min(tile.column_begin + own_column + 8 * k, columns - 8);
                    device const half *from = x_operands + ((ulong(four) * WORDS + part * PART + w) * columns + column) * 8;
@end
                    simdgroup_load(x[k], from, 8, ulong2(0), true);
                }
                #pragma unroll
                for (uint i = 0; i < DOWN; ++i) {
                    simdgroup_load(a, (threadgroup const half *)(part_of_weights + (w * ROWS + own_row + 8 * i) * 4), 8);
                    #pragma unroll
                    for (uint k = 0; k < ACROSS; ++k) simdgroup_multiply_accumulate(products[i][k], a, x[k], products[i][k]);
                }
            }
        }
        #pragma unroll
        for (uint i = 0; i < DOWN; ++i) {
            const float row_unit = row_units[own_row + 8 * i + own / 8];
            #pragma unroll
            for (uint k = 0; k < ACROSS; ++k)
                sums[i][k] += float2(products[i][k].thread_elements()[0], products[i][k].thread_elements()[1]) * row_unit;
        }
    }
}

// Of 16 columns, 8 of each half of the tile, all rows of sums in the memory that all share.
template <uint ACROSS>
inline threadgroup const float *share_sums(uint k, uint own, thread float2 (&sums)[DOWN][ACROSS], shared_memory shared)
{
    threadgroup float *memory = (threadgroup float *)shared.all;
    threadgroup float *to = memory + (shared.simdgroup / 2 * 8 + own % 8) * ROWS + shared.simdgroup % 2 * 32 + own / 8;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    #pragma unroll
    for (uint i = 0; i < DOWN; ++i) {
        to[8 * i] = sums[i][k].x;
        to[8 * i + ROWS] = sums[i][k].y;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return memory;
}

@if experts
@include gemm_experts.metal
@else
@include gemm_dense.metal
@end

@if experts
}  // namespace expert_tiles
@else
}  // namespace tiles
@end
