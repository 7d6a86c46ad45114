// Where results go, and what they pass through on their way.
struct results {
    device float *y;
    device const float *scale, *bias, *gate, *residual;
    uint epilogue;
    uint y_type;  // how y is stored: 0 as f32, 1 as f16, 2 as bf16
};

// Bits of the epilogue: what is done with results, and what has a scale of its own; else all of a tensor have one.
constant constexpr uint ADDS_TO_Y = 1, ADDS_BIAS = 2, SCALES = 4, GATES = 8, ADDS_RESIDUAL = 16, SCALES_ROWS = 256, SCALES_VECTORS = 512;

// Where a result stands: in y, among the rows of all tensors, in its vector and its tensor.
struct place_of_result {
    uint at, row, vector, tensor, skip;  // in y alone
};

inline float y_before(results to, uint at)
{
    if (to.y_type == 0) return to.y[at];
    const ushort bits = ((device const ushort *)to.y)[at];
    return to.y_type == 1 ? float(as_type<half>(bits)) : as_type<float>(uint(bits) << 16);
}

// Rounds once, to the nearest, ties to even.
inline void store_y(results to, uint at, float sum)
{
    if (to.y_type == 0)
        to.y[at] = sum;
    else
        ((device ushort *)to.y)[at] = to.y_type == 1 ? as_type<ushort>(half(sum)) : f32_to_bf16(sum);
}

inline float silu(float v)
{
    return v / (1.0f + precise::exp(-v));
}

// A result is done; or, where sums come in parts, one of them is, which may be the first or the last.
inline void finish(results to, place_of_result r, float sum, bool first = true, bool last = true)
{
    if ((to.epilogue & SCALES) != 0)
        sum *= to.scale[(to.epilogue & SCALES_ROWS) != 0 ? r.row : (to.epilogue & SCALES_VECTORS) != 0 ? r.vector : r.tensor];
    if (first && (to.epilogue & ADDS_BIAS) != 0) sum += to.bias[r.row];
    if (!first || (to.epilogue & ADDS_TO_Y) != 0) sum += y_before(to, r.at + r.skip);
    if (last && (to.epilogue & GATES) != 0) sum *= silu(to.gate[r.at]);
    if (last && (to.epilogue & ADDS_RESIDUAL) != 0) sum += to.residual[r.at];
    store_y(to, r.at + r.skip, sum);
}

// The same of row `n` of right-hand side `m`.
inline void finish(results to, constant sum_shape &shape, standing where, uint m, uint n, float sum, bool first = true, bool last = true)
{
    const uint row = shape.y_first % shape.y_rows + n, vector = m + shape.y_first / shape.y_rows;
    place_of_result r = {m * shape.y_rows + shape.y_first + n, row, vector, 0, 0};
    if (where.views != 0)
        r = {where.y_begin + vector * shape.y_stride + row, row, where.matrix * shape.vectors + vector, 0, shape.y_skip};
    finish(to, r, sum, first, last);
}
