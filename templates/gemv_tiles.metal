@include sums_head.metal

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
