// Kernels with one fault each, and their faultless twins. executor_test.cpp says what must be found.
#include <metal_stdlib>
using namespace metal;

// ---- bounds ----

kernel void copy_bytes(device const uchar *from [[buffer(0)]], device uchar *to [[buffer(1)]], constant uint &n [[buffer(2)]],
                       uint i [[thread_position_in_grid]])
{
    if (i < n) to[i] = from[i];
}

kernel void reads_before(device const uchar *from [[buffer(0)]], device uchar *to [[buffer(1)]])
{
    to[0] = *(from - 1);  // LINE reads_before
}

kernel void writes_before(device const uchar *from [[buffer(0)]], device uchar *to [[buffer(1)]])
{
    to[-1] = from[0];  // LINE writes_before
}

// The index wraps at 32 bits: 16 GiB further.
kernel void index_wraps(device const uint *from [[buffer(0)]], device uint *to [[buffer(1)]], constant uint &n [[buffer(2)]])
{
    to[0] = from[n - 1u];  // LINE index_wraps
}

// A vector load that starts inside and ends outside.
kernel void vector_tail(device const packed_float3 *from [[buffer(0)]], device float4 *to [[buffer(1)]])
{
    to[0] = *(device const float4 *)(from + 0);  // LINE vector_tail
}

kernel void writes_constant(device const uint *from [[buffer(0)]])
{
    *(device uint *)from = 1u;  // LINE writes_constant
}

kernel void threadgroup_bound(device uint *to [[buffer(0)]], threadgroup uint *shared [[threadgroup(0)]], uint i [[thread_index_in_threadgroup]])
{
    shared[i] = i;  // LINE threadgroup_bound
    to[i] = shared[i];
}

struct narrow { uint a; };
struct wide { uint a, b; };
kernel void past_the_struct(constant narrow &n [[buffer(0)]], device uint *to [[buffer(1)]])
{
    to[0] = ((constant wide *)&n)->b;  // LINE past_the_struct
}

// ---- barriers ----

// Each thread reads what its neighbour wrote.
kernel void neighbour(device uint *to [[buffer(0)]], uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]])
{
    threadgroup uint shared[64];
    shared[i] = i * 3u;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    to[i] = shared[(i + 1u) % n];
}

kernel void neighbour_without(device uint *to [[buffer(0)]], uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]])
{
    threadgroup uint shared[64];
    shared[i] = i * 3u;
    to[i] = shared[(i + 1u) % n];  // LINE neighbour_without
}

// The second round writes what some threads still have to read.
kernel void rounds_without(device uint *to [[buffer(0)]], uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]])
{
    threadgroup uint shared[64];
    uint sum = 0;
    for (uint round = 0; round < 2u; ++round) {
        shared[i] = i + round;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum += shared[n - 1u - i];  // LINE rounds_without
    }
    to[i] = sum;
}

// Rounds within each simdgroup, that its own barrier orders: all lanes read what one of them has written.
kernel void simdgroup_rounds(device uint *to [[buffer(0)]], uint i [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                             uint group [[simdgroup_index_in_threadgroup]])
{
    threadgroup uint shared[2];
    uint sum = 0;
    for (uint round = 0; round < 5u; ++round) {
        if (lane == round) shared[group] = group * 10u + round;
        simdgroup_barrier(mem_flags::mem_threadgroup);
        sum += shared[group];
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
    to[i] = sum;
}

kernel void simdgroup_rounds_without(device uint *to [[buffer(0)]], uint i [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                                     uint group [[simdgroup_index_in_threadgroup]])
{
    threadgroup uint shared[2];
    uint sum = 0;
    for (uint round = 0; round < 5u; ++round) {
        if (lane == round) shared[group] = group * 10u + round;
        simdgroup_barrier(mem_flags::mem_threadgroup);
        sum += shared[group];
    }
    to[i] = sum;
}

// A simdgroup's barrier does not order another simdgroup.
kernel void simdgroup_barrier_only(device uint *to [[buffer(0)]], uint i [[thread_index_in_threadgroup]])
{
    threadgroup uint shared[64];
    shared[i] = i;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    to[i] = shared[63u - i];
}

kernel void divergent(device uint *to [[buffer(0)]], uint i [[thread_index_in_threadgroup]])
{
    to[i] = i;
    if (i != 5u) threadgroup_barrier(mem_flags::mem_device);  // LINE divergent
}

kernel void early_return(device uint *to [[buffer(0)]], constant uint &n [[buffer(1)]], uint i [[thread_index_in_threadgroup]])
{
    if (i >= n) return;
    to[i] = i;
    threadgroup_barrier(mem_flags::mem_device);  // LINE early_return
}

kernel void two_barriers(device uint *to [[buffer(0)]], uint i [[thread_index_in_threadgroup]])
{
    if (i < 32u) {
        threadgroup_barrier(mem_flags::mem_device);  // LINE two_barriers
    } else {
        threadgroup_barrier(mem_flags::mem_device);
    }
    to[i] = i;
}

kernel void divergent_simdgroup(device uint *to [[buffer(0)]], uint i [[thread_index_in_threadgroup]])
{
    to[i] = i;
    if (i % 32u < 7u) simdgroup_barrier(mem_flags::mem_device);  // LINE divergent_simdgroup
}

kernel void divergent_matrix(device float *to [[buffer(0)]], constant uint &lanes [[buffer(1)]], uint i [[thread_index_in_threadgroup]])
{
    simdgroup_float8x8 a = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
    if (i % 32u < lanes) simdgroup_multiply_accumulate(a, a, a, a);  // LINE divergent_matrix
    to[i] = a.thread_elements()[0];
}

kernel void divergent_matrix_store(device float *to [[buffer(0)]], constant uint &lanes [[buffer(1)]], uint i [[thread_index_in_threadgroup]])
{
    simdgroup_float8x8 a = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
    if (i % 32u < lanes) simdgroup_store(a, to + i / 32u * 64u, 8);  // LINE divergent_matrix_store
}

// ---- poison and undefined behaviour ----

kernel void uninitialised(device uint *to [[buffer(0)]], uint i [[thread_index_in_threadgroup]])
{
    threadgroup uint shared[64];
    if (i == 0u) shared[0] = 1u;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    to[i] = shared[i];  // LINE uninitialised
}

kernel void poisoned_local(device uint *to [[buffer(0)]], constant uint &k [[buffer(1)]])
{
    uint local[8];
    for (uint j = 0; j < k; ++j) local[j] = j;
    to[0] = local[7 - int(k)];
}

kernel void wide_shift(device uint *to [[buffer(0)]], constant uint &by [[buffer(1)]])
{
    to[0] = 1u << by;  // LINE wide_shift
}

kernel void zero_division(device uint *to [[buffer(0)]], constant uint &by [[buffer(1)]])
{
    to[0] = 7u / by;  // LINE zero_division
}

kernel void outside_array(device uint *to [[buffer(0)]], constant uint &at [[buffer(1)]])
{
    uint local[4] = {1, 2, 3, 4};
    to[0] = local[at];  // LINE outside_array
}

kernel void misaligned(device const uchar *from [[buffer(0)]], device uint *to [[buffer(1)]])
{
    to[0] = *(device const uint *)(from + 2);  // LINE misaligned
}
