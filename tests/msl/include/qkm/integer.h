// Integer functions: a function for each type, so that a call that Metal finds ambiguous is ambiguous here too.
#pragma once

#define QKM_NS metal

namespace metal {

#define QKM_VECTOR_OF(T, N, R, NAME, PARAMETERS, CALL)                                                                 \
    inline vec<R, N> NAME PARAMETERS {                                                                                 \
        vec<R, N> r;                                                                                                   \
        for (int i = 0; i < N; ++i) r.d[i] = QKM_NS::NAME CALL;                                                        \
        return r;                                                                                                      \
    }
#define QKM_VECTORS1(T, NAME)                                                                                          \
    QKM_VECTOR_OF(T, 2, T, NAME, (const vec<T, 2> &a), (a.d[i]))                                                       \
    QKM_VECTOR_OF(T, 3, T, NAME, (const vec<T, 3> &a), (a.d[i]))                                                       \
        QKM_VECTOR_OF(T, 4, T, NAME, (const vec<T, 4> &a), (a.d[i]))
#define QKM_VECTORS2N(T, N, NAME)                                                                                      \
    QKM_VECTOR_OF(T, N, T, NAME, (const vec<T, N> &a, const vec<T, N> &b), (a.d[i], b.d[i]))
#define QKM_VECTORS2(T, NAME) QKM_VECTORS2N(T, 2, NAME) QKM_VECTORS2N(T, 3, NAME) QKM_VECTORS2N(T, 4, NAME)
#define QKM_VECTORS3N(T, N, NAME)                                                                                      \
    QKM_VECTOR_OF(T, N, T, NAME, (const vec<T, N> &a, const vec<T, N> &b, const vec<T, N> &c), (a.d[i], b.d[i], c.d[i]))
#define QKM_VECTORS3(T, NAME) QKM_VECTORS3N(T, 2, NAME) QKM_VECTORS3N(T, 3, NAME) QKM_VECTORS3N(T, 4, NAME)
#define QKM_INTEGERS(M) M(char) M(uchar) M(short) M(ushort) M(int) M(uint) M(long) M(ulong)

namespace qkm {
template <class T> constexpr int bits = int(sizeof(T)) * 8;
template <class T> inline T field(T x, uint offset, uint count) {
    using U = make_unsigned_t<T>;
    const uint width = bits<T>;
    if (count == 0 || offset >= width) return T(0);
    if (count > width - offset) count = width - offset;
    const U up = U(U(x) << (width - offset - count));
    return T(T(up) >> (width - count)); // arithmetic for the signed types: the field's sign is extended
}
template <class T> inline T deposit(T base, T insert, uint offset, uint count) {
    using U = make_unsigned_t<T>;
    const uint width = bits<T>;
    if (count == 0 || offset >= width) return base;
    if (count > width - offset) count = width - offset;
    const U mask = U((count == width ? ~U(0) : U((U(1) << count) - U(1))) << offset);
    return T(U(U(base) & U(~mask)) | U(U(U(insert) << offset) & mask));
}
template <class T> inline T multiply_high(T a, T b) { return T((__int128(a) * __int128(b)) >> bits<T>); }
inline ulong multiply_high(ulong a, ulong b) { return ulong((unsigned __int128)(a)*b >> 64); }
template <class T> inline T saturate(__int128 x) {
    const __int128 lo = numeric_limits<T>::min(), hi = numeric_limits<T>::max();
    return T(x < lo ? lo : x > hi ? hi : x);
}
} // namespace qkm

#define QKM_INTEGER(T)                                                                                                 \
    inline T min(T a, T b) { return b < a ? b : a; }                                                                   \
    inline T max(T a, T b) { return a < b ? b : a; }                                                                   \
    inline T clamp(T x, T lo, T hi) { return min(max(x, lo), hi); }                                                    \
    inline T min3(T a, T b, T c) { return min(min(a, b), c); }                                                         \
    inline T max3(T a, T b, T c) { return max(max(a, b), c); }                                                         \
    inline T median3(T a, T b, T c) { return max(min(a, b), min(max(a, b), c)); }                                      \
    inline T abs(T x) { return T(x < T(0) ? T(0) - x : x); }                                                           \
    inline make_unsigned_t<T> absdiff(T a, T b) {                                                                      \
        using U = make_unsigned_t<T>;                                                                                  \
        return a < b ? U(U(b) - U(a)) : U(U(a) - U(b));                                                                \
    }                                                                                                                  \
    inline T addsat(T a, T b) { return qkm::saturate<T>(__int128(a) + b); }                                            \
    inline T subsat(T a, T b) { return qkm::saturate<T>(__int128(a) - b); }                                            \
    inline T hadd(T a, T b) { return T((__int128(a) + b) >> 1); }                                                      \
    inline T rhadd(T a, T b) { return T((__int128(a) + b + 1) >> 1); }                                                 \
    inline T mulhi(T a, T b) { return qkm::multiply_high(a, b); }                                                      \
    inline T madhi(T a, T b, T c) { return T(make_unsigned_t<T>(mulhi(a, b)) + make_unsigned_t<T>(c)); }               \
    inline T madsat(T a, T b, T c) { return qkm::saturate<T>(__int128(a) * b + c); }                                   \
    inline T clz(T x) {                                                                                                \
        return T(x == 0 ? qkm::bits<T> : __builtin_clzl(ulong(make_unsigned_t<T>(x))) - (64 - qkm::bits<T>));          \
    }                                                                                                                  \
    inline T ctz(T x) { return T(x == 0 ? qkm::bits<T> : __builtin_ctzl(ulong(make_unsigned_t<T>(x)))); }              \
    inline T popcount(T x) { return T(__builtin_popcountl(ulong(make_unsigned_t<T>(x)))); }                            \
    inline T rotate(T x, T by) {                                                                                       \
        using U = make_unsigned_t<T>;                                                                                  \
        const uint n = uint(by) & (qkm::bits<T> - 1);                                                                  \
        return n == 0 ? x : T(U(U(U(x) << n) | U(U(x) >> (qkm::bits<T> - n))));                                        \
    }                                                                                                                  \
    inline T reverse_bits(T x) {                                                                                       \
        ulong r = 0;                                                                                                   \
        for (int i = 0; i < qkm::bits<T>; ++i)                                                                         \
            r |= ((ulong(make_unsigned_t<T>(x)) >> i) & 1ul) << (qkm::bits<T> - 1 - i);                                \
        return T(r);                                                                                                   \
    }                                                                                                                  \
    inline T extract_bits(T x, uint offset, uint count) { return qkm::field<T>(x, offset, count); }                    \
    inline T insert_bits(T base, T insert, uint offset, uint count) {                                                  \
        return qkm::deposit<T>(base, insert, offset, count);                                                           \
    }                                                                                                                  \
    inline T select(T a, T b, bool c) { return c ? b : a; }                                                            \
    QKM_VECTORS2(T, min)                                                                                               \
    QKM_VECTORS2(T, max) QKM_VECTORS3(T, clamp) QKM_VECTORS3(T, min3) QKM_VECTORS3(T, max3) QKM_VECTORS3(T, median3)   \
        QKM_VECTORS1(T, abs) QKM_VECTORS2(T, addsat) QKM_VECTORS2(T, subsat) QKM_VECTORS2(T, hadd)                     \
            QKM_VECTORS2(T, rhadd) QKM_VECTORS2(T, mulhi) QKM_VECTORS3(T, madhi) QKM_VECTORS3(T, madsat)               \
                QKM_VECTORS1(T, clz) QKM_VECTORS1(T, ctz) QKM_VECTORS1(T, popcount) QKM_VECTORS2(T, rotate)            \
                    QKM_VECTORS1(T, reverse_bits) QKM_BITS(T, 2) QKM_BITS(T, 3) QKM_BITS(T, 4)
#define QKM_BITS(T, N)                                                                                                 \
    QKM_VECTOR_OF(T, N, T, extract_bits, (const vec<T, N> &x, uint offset, uint count), (x.d[i], offset, count))       \
    QKM_VECTOR_OF(T, N, T, insert_bits, (const vec<T, N> &a, const vec<T, N> &b, uint offset, uint count),             \
                  (a.d[i], b.d[i], offset, count))                                                                     \
    QKM_VECTOR_OF(T, N, T, select, (const vec<T, N> &a, const vec<T, N> &b, const vec<bool, N> &c),                    \
                  (a.d[i], b.d[i], c.d[i]))                                                                            \
    inline vec<T, N> select(const vec<T, N> &a, const vec<T, N> &b, bool c) { return c ? b : a; }                      \
    inline vec<make_unsigned_t<T>, N> absdiff(const vec<T, N> &a, const vec<T, N> &b) {                                \
        vec<make_unsigned_t<T>, N> r;                                                                                  \
        for (int i = 0; i < N; ++i) r.d[i] = absdiff(a.d[i], b.d[i]);                                                  \
        return r;                                                                                                      \
    }
QKM_INTEGERS(QKM_INTEGER)
#undef QKM_INTEGER
#undef QKM_BITS

inline int mul24(int a, int b) { return int(uint(a << 8 >> 8) * uint(b << 8 >> 8)); }
inline uint mul24(uint a, uint b) { return (a & 0xFFFFFFu) * (b & 0xFFFFFFu); }
inline int mad24(int a, int b, int c) { return int(uint(mul24(a, b)) + uint(c)); }
inline uint mad24(uint a, uint b, uint c) { return mul24(a, b) + c; }

template <int N> inline bool any(const vec<bool, N> &v) {
    bool r = false;
    for (int i = 0; i < N; ++i) r |= v.d[i];
    return r;
}
template <int N> inline bool all(const vec<bool, N> &v) {
    bool r = true;
    for (int i = 0; i < N; ++i) r &= v.d[i];
    return r;
}
inline bool any(bool v) { return v; }
inline bool all(bool v) { return v; }

} // namespace metal
