// q4_0: 32 elements in 18 bytes: d, codes of four bits around 8.
#include <metal_stdlib>
using namespace metal;

struct block_q4_0 {
    half d;
    uchar qs[16];
};

struct sizes {
    uint rows, cols;
};

inline float value(device const block_q4_0 &block, uint e) {
    return (float(block.qs[e % 16] >> (4 * (e / 16)) & 15) - 8) * float(block.d);
}

// x is divided by its largest magnitude, and the sum multiplied by it: what kernels do before they round x to 8 bits.
// Two simdgroups for a row; `slot` holds first their maxima, then their sums.
kernel void gemv(device const block_q4_0 *w [[buffer(0)]], device const float *x [[buffer(1)]],
    device float *y [[buffer(2)]], constant sizes &n [[buffer(3)]], uint row [[threadgroup_position_in_grid]],
    uint t [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]])
{
    threadgroup float slot[2];
    float largest = 0, sum = 0;
    for (uint c = t; c < n.cols; c += 64) largest = max(largest, abs(x[c]));
    largest = simd_max(largest);
    if (lane == 0) slot[simdgroup] = largest;
#ifdef METAL_BARRIER_OF_NO_MEMORY
    threadgroup_barrier(mem_flags::mem_none);
#else
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    largest = max(slot[0], slot[1]);
#ifndef METAL_SLOT_REUSED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    const float by = largest > 0 ? largest : 1;
    for (uint c = t; c < n.cols; c += 64) sum += value(w[row * (n.cols / 32) + c / 32], c % 32) * (x[c] / by);
    sum = simd_sum(sum);
    if (lane == 0) slot[simdgroup] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t == 0) y[row] = (slot[0] + slot[1]) * by;
}

// Two rows for a threadgroup of two simdgroups, which stage x in threadgroup memory, 64 columns at a time.
kernel void gemv_staged(device const block_q4_0 *w [[buffer(0)]], device const float *x [[buffer(1)]],
    device float *y [[buffer(2)]], constant sizes &n [[buffer(3)]], uint pair [[threadgroup_position_in_grid]],
    uint t [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]])
{
    threadgroup float stage[64];
    const uint row = pair * 2 + simdgroup;
    float sum = 0;
#ifdef METAL_RETURN_BEFORE_BARRIER
    if (row >= n.rows) return;
#endif
    for (uint from = 0; from < n.cols; from += 64) {
        stage[t] = from + t < n.cols ? x[from + t] : 0;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint c = lane; c < 64 && from + c < n.cols && row < n.rows; c += 32)
            sum += value(w[row * (n.cols / 32) + (from + c) / 32], c % 32) * stage[c];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    sum = simd_sum(sum);
    if (lane == 0 && row < n.rows) y[row] = sum;
}
