// What libclang must read, in the ways in which people write it.
#include <metal_stdlib>
using namespace metal;

struct gather_push {
    uint rows;
    uint row_first;
    uint row_end;
    uint row_tiles;
    uint tokens;
};

kernel void gather(device const uint *blocks [[buffer(0)]], device const uint *indices [[buffer(1)]], device half4 *dst [[buffer(2)]],
                   device atomic_uint *status [[buffer(3)]], constant gather_push &push [[buffer(4)]],
                   uint thread_index [[thread_position_in_grid]], uint threads [[threads_per_grid]])
{
    if (thread_index == 0) dst[0] = half4(half(blocks[0] + indices[0] + push.rows + threads));
    atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
}

// blocks and indices have changed places.
kernel void gather_swapped(device const uint *blocks [[buffer(1)]], device const uint *indices [[buffer(0)]], device half4 *dst [[buffer(2)]],
                           device atomic_uint *status [[buffer(3)]], constant gather_push &push [[buffer(4)]],
                           uint thread_index [[thread_position_in_grid]], uint threads [[threads_per_grid]])
{
    dst[0] = half4(half(blocks[0] + indices[0] + push.rows + thread_index + threads));
    atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
}

struct moved_push {
    uint rows;
    uint row_end;
    uint row_first;
    uint row_tiles;
    uint tokens;
};
kernel void gather_moved(device const uint *blocks [[buffer(0)]], device const uint *indices [[buffer(1)]], device half4 *dst [[buffer(2)]],
                         device atomic_uint *status [[buffer(3)]], constant moved_push &push [[buffer(4)]])
{
    dst[0] = half4(half(blocks[0] + indices[0] + push.rows));
    atomic_fetch_add_explicit(status, 1u, memory_order_relaxed);
}

struct padded_push {
    uint rows;
    ulong row_first;
    uint row_end;
    uint row_tiles;
    uint tokens;
};
kernel void gather_types(device uint *blocks [[buffer(0)]], constant uint *indices [[buffer(1)]], device float4 *dst [[buffer(2)]],
                         device uint *status [[buffer(3)]], constant padded_push &push [[buffer(4)]], device float *more [[buffer(5)]])
{
    blocks[0] = indices[0] + uint(push.rows);
    dst[0] = float4(more[0]);
    status[0] = 1;
}

// ---- templates ----

template <typename T, int N>
kernel void scale(device const T *from [[buffer(0)]], device T *to [[buffer(1)]], constant T &by [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    to[i] = from[i] * by + T(N);
}
template [[host_name("scale_f32")]] kernel void scale<float, 1>(device const float *, device float *, constant float &, uint);
template [[host_name("scale_"
                     "f16")]]
kernel void scale<half, 2>(device const half *, device half *, constant half &, uint);
template [[host_name("scale_bf16")]] [[kernel]] decltype(scale<bfloat, 3>) scale<bfloat, 3>;
typedef decltype(scale<uint, 4>) scale_u32_t;
template [[host_name("scale_u32")]] kernel scale_u32_t scale<uint, 4>;

template <typename T> kernel void deduced(device T *to [[buffer(0)]], uint i [[thread_position_in_grid]]) { to[i] = T(i); }
template [[host_name("deduced_short")]] kernel void deduced(device short *to, uint i);

// ---- function constants, address spaces, one definition for two of them ----

constant bool add_one [[function_constant(0)]];
constant int factor [[function_constant(7)]];
constant int twice = is_function_constant_defined(factor) ? factor * 2 : -1;

static inline int first_of(device const int *p) { return p[0]; }
static inline int first_of(threadgroup const int *p) { return p[0]; }
static inline int first_of(thread const int *p) { return p[0]; }
static inline int first_of(constant int *p) { return p[0]; }

[[max_total_threads_per_threadgroup(96)]]
kernel void constants(device const int *from [[buffer(0)]], device int *to [[buffer(1)]], ushort3 tid [[thread_position_in_threadgroup]])
{
    threadgroup int shared[4];
    threadgroup int *pointer = shared;
    if (tid.x == 0) {
        *pointer = first_of(from);
        int local[1] = {first_of(shared)};
        to[0] = first_of(local) * twice + (add_one ? 1 : 0);
    }
}

namespace inner {
struct pair_of { half a; float b[3]; packed_half3 c; uchar4 d; };
kernel void in_namespace(device pair_of *p) { p->a = 1.5h; p->b[1] = 0.1; p->c = half3(1, 2, 3); p->d = uchar4(7); }
}
