// Operations on types, one result for each thread; types_test.cpp has a model of each.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

// ---- half and bfloat: conversions, and one rounding after each operation ----

kernel void half_to_float(device const half *a [[buffer(0)]], device float *r [[buffer(1)]], uint i [[thread_position_in_grid]]) { r[i] = a[i]; }
kernel void float_to_half(device const float *a [[buffer(0)]], device half *r [[buffer(1)]], uint i [[thread_position_in_grid]]) { r[i] = half(a[i]); }
kernel void bfloat_to_float(device const bfloat *a [[buffer(0)]], device float *r [[buffer(1)]], uint i [[thread_position_in_grid]]) { r[i] = a[i]; }
kernel void float_to_bfloat(device const float *a [[buffer(0)]], device bfloat *r [[buffer(1)]], uint i [[thread_position_in_grid]]) { r[i] = bfloat(a[i]); }

// r: a + b, a - b, a * b, a / b, sqrt(a), fma(a, b, c), a * b + c, rint(a), and a * b + c in a vector
template <typename T>
kernel void arithmetic(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device const T *c [[buffer(2)]], device T *r [[buffer(3)]],
                       uint i [[thread_position_in_grid]])
{
    device T *to = r + i * 9u;
    to[0] = a[i] + b[i];
    to[1] = a[i] - b[i];
    to[2] = a[i] * b[i];
    to[3] = a[i] / b[i];
    to[4] = sqrt(a[i]);
    to[5] = fma(a[i], b[i], c[i]);
    to[6] = a[i] * b[i] + c[i];
    to[7] = rint(a[i]);
    const vec<T, 4> v = vec<T, 4>(a[i]) * b[i] + vec<T, 4>(c[i]);
    to[8] = v.z;
}
template [[host_name("arithmetic_half")]] kernel void arithmetic<half>(device const half *, device const half *, device const half *, device half *, uint);
template [[host_name("arithmetic_bfloat")]] kernel void arithmetic<bfloat>(device const bfloat *, device const bfloat *, device const bfloat *, device bfloat *, uint);

// half with an integer is half; half with float is float. An unsuffixed literal is float.
kernel void mixed(device const half *a [[buffer(0)]], device const int *n [[buffer(1)]], device float *r [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    r[4 * i] = a[i] * n[i];
    r[4 * i + 1] = a[i] * float(n[i]);
    r[4 * i + 2] = a[i] * 0.1;
    r[4 * i + 3] = a[i] * 0.1h;
}
kernel void mixed_bfloat(device const bfloat *a [[buffer(0)]], device const int *n [[buffer(1)]], device float *r [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    r[4 * i] = a[i] * n[i];
    r[4 * i + 1] = a[i] * float(n[i]);
    r[4 * i + 2] = float(bfloat(n[i]));
    r[4 * i + 3] = n[i] > 0 ? a[i] : 0;
}
static_assert(sizeof(1.0) == 4 && sizeof(1e3) == 4 && sizeof(1.5h) == 2 && sizeof(0x1p3) == 4, "literals");
static_assert(sizeof(float3) == 16 && sizeof(packed_float3) == 12 && sizeof(half3) == 8 && sizeof(uchar3) == 4 && sizeof(bfloat4) == 8, "sizes");
static_assert(alignof(float4) == 16 && alignof(packed_float4) == 4 && alignof(half2) == 4 && sizeof(half4x4) == 32 && sizeof(float3x3) == 48, "sizes");
static_assert(is_same_v<decltype(half(1) * 2), half> && is_same_v<decltype(half(1) * 2.0), float> && is_same_v<decltype(half4(1) < half4(2)), bool4>, "types");

// ---- integers ----

// r: extract, insert, popcount, clz, ctz, reverse, rotate, mulhi, addsat, subsat, hadd, rhadd, abs, absdiff, clamp
template <typename T>
kernel void integers(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device const uint *at [[buffer(2)]], device T *r [[buffer(3)]],
                     uint i [[thread_position_in_grid]])
{
    device T *to = r + i * 15u;
    const uint offset = at[i] & 255u, count = at[i] >> 8u;
    to[0] = extract_bits(a[i], offset, count);
    to[1] = insert_bits(a[i], b[i], offset, count);
    to[2] = popcount(a[i]);
    to[3] = clz(a[i]);
    to[4] = ctz(a[i]);
    to[5] = reverse_bits(a[i]);
    to[6] = rotate(a[i], b[i]);
    to[7] = mulhi(a[i], b[i]);
    to[8] = addsat(a[i], b[i]);
    to[9] = subsat(a[i], b[i]);
    to[10] = hadd(a[i], b[i]);
    to[11] = rhadd(a[i], b[i]);
    to[12] = abs(a[i]);
    to[13] = T(absdiff(a[i], b[i]));
    to[14] = clamp(a[i], T(3), T(100));
}
template [[host_name("integers_u8")]] kernel void integers(device const uchar *, device const uchar *, device const uint *, device uchar *, uint);
template [[host_name("integers_i8")]] kernel void integers(device const char *, device const char *, device const uint *, device char *, uint);
template [[host_name("integers_u16")]] kernel void integers(device const ushort *, device const ushort *, device const uint *, device ushort *, uint);
template [[host_name("integers_i16")]] kernel void integers(device const short *, device const short *, device const uint *, device short *, uint);
template [[host_name("integers_u32")]] kernel void integers(device const uint *, device const uint *, device const uint *, device uint *, uint);
template [[host_name("integers_i32")]] kernel void integers(device const int *, device const int *, device const uint *, device int *, uint);
template [[host_name("integers_u64")]] kernel void integers(device const ulong *, device const ulong *, device const uint *, device ulong *, uint);
template [[host_name("integers_i64")]] kernel void integers(device const long *, device const long *, device const uint *, device long *, uint);

// ---- vectors ----

kernel void vectors(device const float4 *in [[buffer(0)]], device float4 *r [[buffer(1)]])
{
    const float4 a = in[0];  // 1 2 3 4
    float4 v = a;
    v.xy = a.zw;
    r[0] = v;                  // 3 4 3 4
    v = a;
    v.wzyx = v;
    r[1] = v;                  // 4 3 2 1
    v = a;
    v.xz *= 10;
    r[2] = v;                  // 10 2 30 4
    v = a;
    v.xy = v.yx;
    r[3] = v;                  // 2 1 3 4
    r[4] = float4(a.zw, a.xy) + 0.5;      // 3.5 4.5 1.5 2.5
    r[5] = float4(uint4(250, 251, 252, 253) + uint4(uchar4(uchar(10)) + uchar4(250, 251, 252, 253)));  // 254 256 258 260
    float3 three = a.yzw;
    packed_float3 packed = three;
    packed[1] = 9;
    r[6] = float4(packed, three.z);       // 2 9 4 4
    r[7] = select(a, -a, a > float4(2.5f));  // 1 2 -3 -4
    const float2x2 m = float2x2(float2(1, 2), float2(3, 4));
    r[8] = float4(m * float2(1, 10), float2(1, 10) * m);  // 31 42 21 43
    r[9] = float4(any(a > 3.5), all(a > 1.5), dot(a.xy, a.zw), length(float2(3, 4)));  // 1 0 11 5
    const uint4 shifted = uint4(0x80u) >> uint4(0, 3, 7, 8);
    r[10] = float4(shifted);              // 128 16 1 0
    r[11] = as_type<float4>(as_type<uint4>(a) ^ 0x80000000u);  // -1 -2 -3 -4
    r[12] = float4(as_type<uchar4>(0x04030201u));              // 1 2 3 4
    r[13] = float4(float2(as_type<half2>(0x40003C00u)), as_type<float2>(as_type<uint2>(a.xw)));  // 1 2 1 4
    half4x4 h = half4x4(float4x4(0.1));
    r[14] = float4(h[2]);                 // 0 0 0.1 (as half) 0
    r[15] = clamp(a, 1.5, 3.5) + mix(a, a + 1.0, 0.5) - a - 0.5;  // 1.5 2 3 3.5
    r[16] = float4(min(a, 2.0f).y, max(3, 7), fract(-0.25f), sign(-2.0f));  // 2 7 0.75 -1
    r[17] = float4(rint(2.5f), round(2.5f), trunc(-2.7f), precise::floor(-2.5f));  // 2 3 -2 -3
}

// ---- simdgroups ----

kernel void simd(device const float *in [[buffer(0)]], device float *r [[buffer(1)]], uint lane [[thread_index_in_simdgroup]],
                 uint group [[simdgroup_index_in_threadgroup]], uint width [[threads_per_simdgroup]], uint i [[thread_index_in_threadgroup]])
{
    device float *to = r + i * 16u;
    const float x = in[i];
    to[0] = simd_sum(x);
    to[1] = simd_max(x);
    to[2] = simd_shuffle_xor(x, 5);
    to[3] = simd_shuffle_down(x, 3);
    to[4] = simd_shuffle_up(x, 3);
    to[5] = simd_broadcast(x, 9);
    to[6] = simd_prefix_exclusive_sum(x);
    to[7] = simd_prefix_inclusive_sum(x);
    to[8] = quad_sum(x);
    to[9] = quad_shuffle(x, 2);
    to[10] = float(ulong(simd_ballot(x > 40.0f)) & 0xFFFFFFul);
    to[11] = simd_shuffle_rotate_down(x, 1);
    // Some lanes only; then all again.
    float partial = -1.0f;
    if (lane % 3 == 0) partial = simd_sum(1.0f);
    else if (lane % 3 == 1) partial = simd_sum(2.0f);
    to[12] = partial;
    to[13] = simd_sum(1.0f);
    to[14] = simd_all(x >= 0.0f) && !simd_any(x < 0.0f) && simd_is_first() == (lane == 0);
    to[15] = float(group * width + lane);
}

// Loops of different lengths: lanes that have ended do not count.
kernel void simd_loop(device uint *r [[buffer(0)]], uint i [[thread_index_in_threadgroup]])
{
    uint total = 0;
    for (uint k = 0; k <= i; ++k) total += simd_sum(1u);
    r[i] = total;
}

kernel void matrix_product(device const half *a [[buffer(0)]], device const half *b [[buffer(1)]], device float *c [[buffer(2)]],
                           constant uint &transposed [[buffer(3)]])
{
    simdgroup_half8x8 x, y;
    simdgroup_float8x8 z = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
    simdgroup_load(x, a, 16);
    simdgroup_load(y, b, 8, 0, transposed != 0);
    simdgroup_multiply_accumulate(z, x, y, z);
    simdgroup_store(z, c, 8);
}

// Where each thread's elements are: what it holds of a matrix that holds its own indices, in threadgroup memory; and 8x8 numbers that
// are stored from the threads.
kernel void matrix_places(device uint *places [[buffer(0)]], device half *stored [[buffer(1)]], uint i [[thread_index_in_threadgroup]])
{
    threadgroup float numbers[64];
    numbers[i] = float(i);
    numbers[i + 32u] = float(i + 32u);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_float8x8 m;
    simdgroup_load(m, numbers, 8);
    for (uint e = 0; e < 2; ++e) places[2u * i + e] = uint(m.thread_elements()[e]);
    simdgroup_half8x8 n;
    for (uint e = 0; e < 2; ++e) n.thread_elements()[e] = half(m.thread_elements()[e]) + 0.5h;
    simdgroup_store(n, stored, 8);
}

kernel void atomics(device atomic_uint *r [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    atomic_fetch_add_explicit(r, i, memory_order_relaxed);
    atomic_fetch_max_explicit(r + 1, i, memory_order_relaxed);
    atomic_fetch_or_explicit(&r[2], 1u << (i & 31u), memory_order_relaxed);
    threadgroup atomic_uint shared;
    if (i % 64u == 0u) atomic_store_explicit(&shared, 0u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&shared, 1u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i % 64u == 63u) atomic_fetch_add_explicit(r + 3, atomic_load_explicit(&shared, memory_order_relaxed), memory_order_relaxed);
}

// Positions and sizes, in a grid that the threadgroups do not divide.
kernel void positions(device uint *r [[buffer(0)]], uint3 at [[thread_position_in_grid]], ushort3 in [[thread_position_in_threadgroup]],
                      uint2 group [[threadgroup_position_in_grid]], uint3 all [[threads_per_grid]], uint3 here [[threads_per_threadgroup]],
                      ushort2 groups [[threadgroups_per_grid]], ushort index [[thread_index_in_threadgroup]])
{
    device uint *to = r + (at.y * all.x + at.x) * 8u;
    to[0] = at.x;
    to[1] = at.y;
    to[2] = in.x;
    to[3] = in.y;
    to[4] = group.y * groups.x + group.x;
    to[5] = here.x;
    to[6] = here.y;
    to[7] = index;
}

kernel void contraction(device const float *a [[buffer(0)]], device float *r [[buffer(1)]])
{
    r[0] = a[0] * a[1] + a[2];
}
kernel void no_contraction(device const float *a [[buffer(0)]], device float *r [[buffer(1)]])
{
#pragma clang fp contract(off)
    r[0] = a[0] * a[1] + a[2];
}
