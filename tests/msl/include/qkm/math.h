// Floating-point functions, for float, half and bfloat and their vectors: a function for each type. The narrow types
// compute in float and round once; fma rounds once from the exact value.
#pragma once

namespace metal {
namespace qkm {

inline float fminf_(float x, float y) { return x != x ? y : y != y ? x : y < x ? y : x; }
inline float fmaxf_(float x, float y) { return x != x ? y : y != y ? x : x < y ? y : x; }
inline float fraction(float x) {
    if (x != x) return x;
    const float r = x - __builtin_floorf(x);
    return r < 1.0f ? r : 0x1.fffffep-1f;
}
inline float smooth(float lo, float hi, float x) {
    const float t = fminf_(fmaxf_((x - lo) / (hi - lo), 0.0f), 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

// The product of two narrow numbers is exact in double; the sum is rounded to odd there, so that the rounding to the
// narrow type sees on which side of every half-way point it lies.
inline double sum_to_odd(double a, double b) {
#pragma clang fp contract(off) reassociate(off)
    const double s = a + b, t = s - a, e = (a - (s - t)) + (b - t);
    if (e == 0.0 || e != e || s == 0.0) return s;
    const ulong bits = __builtin_bit_cast(ulong, s);
    if (bits & 1ul) return s;
    return __builtin_bit_cast(double, (e > 0.0) == (s > 0.0) ? bits + 1ul : bits - 1ul);
}
inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline half fused(half a, half b, half c) {
    return half(sum_to_odd(double(float(a)) * double(float(b)), double(float(c))));
}
inline bfloat fused(bfloat a, bfloat b, bfloat c) {
    // To float by way of odd: one more rounding to odd keeps what the last one needs.
    const double s = sum_to_odd(double(float(a)) * double(float(b)), double(float(c)));
    float f = float(s);
    const uint bits = __builtin_bit_cast(uint, f);
    if (double(f) != s && s == s && !(bits & 1u)) {
        const bool away = (double(f) > s) == (s > 0.0);
        f = __builtin_bit_cast(float, away ? bits - 1u : bits + 1u);
    }
    return bfloat(f);
}

inline float next(float x, float y) { return __builtin_nextafterf(x, y); }
template <class T> inline T next(T x, T y) {
    if (x != x || y != y) return x != x ? x : y;
    if (x == y) return y;
    ushort bits = __builtin_bit_cast(ushort, x);
    if (!(bits & 0x7FFFu)) return __builtin_bit_cast(T, ushort(x < y ? 1u : 0x8001u));
    bits = ushort((x < y) == !(bits & 0x8000u) ? bits + 1 : bits - 1);
    return __builtin_bit_cast(T, bits);
}

} // namespace qkm

#include "math_functions.h"
namespace precise {
#undef QKM_NS
#define QKM_NS metal::precise
#include "math_functions.h"
} // namespace precise
namespace fast {
#undef QKM_NS
#define QKM_NS metal::fast
#include "math_functions.h"
} // namespace fast
#undef QKM_NS

template <class T> inline vec<T, 3> cross(const vec<T, 3> &a, const vec<T, 3> &b) {
    return vec<T, 3>(T(a.y * b.z - a.z * b.y), T(a.z * b.x - a.x * b.z), T(a.x * b.y - a.y * b.x));
}
inline bool select(bool a, bool b, bool c) { return c ? b : a; }

inline float4 unpack_unorm4x8_to_float(uint x) {
    return float4(float(x & 255u), float((x >> 8) & 255u), float((x >> 16) & 255u), float(x >> 24)) / 255.0f;
}
inline float2 unpack_unorm2x16_to_float(uint x) { return float2(float(x & 65535u), float(x >> 16)) / 65535.0f; }

} // namespace metal
