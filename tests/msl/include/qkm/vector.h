// vec<T, N>, packed_vec<T, N>, as_type. A vector is its elements, with the swizzles as further members of a union; each
// swizzle is a proxy whose assignment writes the named elements only. Operators work element by element, in T.
#pragma once

namespace metal {

template <class T, int N> struct vec;
template <class T, int N> struct packed_vec;

namespace qkm {

template <int... I> struct indices {};
template <class T> struct identity { using type = T; };

// How T is computed with: the narrow integers wrap, the others are themselves.
template <class T> constexpr T shift_left(T a, T b) {
    return T(make_unsigned_t<T>(a) << (uint(b) & (sizeof(T) * 8 - 1)));
}
template <class T> constexpr T shift_right(T a, T b) { return T(a >> (uint(b) & (sizeof(T) * 8 - 1))); }

template <int N, class U, class T> void convert(const U *from, T *to) {
    for (int i = 0; i < N; ++i) to[i] = T(from[i]);
}
// Halves at once, as processors convert them: each by itself costs two instructions more, of which a GPU knows nothing.
template <int N> void convert(const half *from, float *to) {
    typedef half halves __attribute__((ext_vector_type(4)));
    typedef float floats __attribute__((ext_vector_type(4)));
    ulong bits = 0;
    __builtin_memcpy(&bits, from, N * sizeof(half));
    const floats made = __builtin_convertvector(__builtin_bit_cast(halves, bits), floats);
    to[0] = made[0];
    to[1] = made[1];
    if constexpr (N > 2) to[2] = made[2];
    if constexpr (N > 3) to[3] = made[3];
}

template <class V, class T, int N, int... I> struct swizzle {
    T d[N];
    using vector = V;
    operator V() const { return V(d[I]...); }
    swizzle &operator=(const V &v) {
        const V copy = v; // v may be this very vector
        int k = 0;
        const int unused[] = {(d[I] = copy.d[k++], 0)...};
        (void)unused;
        return *this;
    }
    swizzle &operator=(const swizzle &v) { return *this = V(v); }
    T operator[](int k) const { return V(*this)[k]; }
#define QKM_ASSIGN(OP)                                                                                                 \
    swizzle &operator OP##=(const V &v) { return *this = V(*this) OP v; }
    QKM_ASSIGN(+)
    QKM_ASSIGN(-) QKM_ASSIGN(*) QKM_ASSIGN(/) QKM_ASSIGN(%) QKM_ASSIGN(&) QKM_ASSIGN(|) QKM_ASSIGN(^) QKM_ASSIGN(<<)
        QKM_ASSIGN(>>)
#undef QKM_ASSIGN
};

// Operators that every vector has; friends, so that scalars and swizzles convert.
#define QKM_BINARY(OP, EXPR)                                                                                           \
    friend vec operator OP(const vec &a, const vec &b) {                                                               \
        vec r;                                                                                                         \
        for (int i = 0; i < size; ++i) r.d[i] = T(EXPR);                                                               \
        return r;                                                                                                      \
    }                                                                                                                  \
    vec &operator OP##=(const vec &b) { return *this = *this OP b; }
#define QKM_COMPARE(OP)                                                                                                \
    friend vec<bool, size> operator OP(const vec &a, const vec &b) {                                                   \
        vec<bool, size> r;                                                                                             \
        for (int i = 0; i < size; ++i) r.d[i] = a.d[i] OP b.d[i];                                                      \
        return r;                                                                                                      \
    }
#define QKM_VECTOR_MEMBERS(N)                                                                                          \
    using element_type = T;                                                                                            \
    static constexpr int size = N;                                                                                     \
    vec() = default;                                                                                                   \
    vec(const vec &) = default;                                                                                        \
    vec &operator=(const vec &v) {                                                                                     \
        for (int i = 0; i < N; ++i) d[i] = v.d[i];                                                                     \
        return *this;                                                                                                  \
    }                                                                                                                  \
    vec(T s) {                                                                                                         \
        for (int i = 0; i < N; ++i) d[i] = s;                                                                          \
    }                                                                                                                  \
    template <class S, enable_if_t<is_integral<S>::value && is_same<T, bfloat>::value, int> = 0> vec(S s) {            \
        for (int i = 0; i < N; ++i) d[i] = T(s);                                                                       \
    }                                                                                                                  \
    template <class S, enable_if_t<is_arithmetic<S>::value && !__is_convertible_to(S, T), int> = 0>                    \
    explicit vec(S s) {                                                                                                \
        for (int i = 0; i < N; ++i) d[i] = T(s);                                                                       \
    }                                                                                                                  \
    template <class U> explicit vec(const vec<U, N> &v) { qkm::convert<N>(v.d, d); }                                   \
    template <class U, int M, int... I, enable_if_t<sizeof...(I) == N && !is_same<U, T>::value, int> = 0>              \
    explicit vec(const qkm::swizzle<vec<U, N>, U, M, I...> &v) : vec(vec<U, N>(v)) {}                                  \
    vec(const packed_vec<T, N> &v) {                                                                                   \
        for (int i = 0; i < N; ++i) d[i] = v.d[i];                                                                     \
    }                                                                                                                  \
    template <class U> explicit vec(const packed_vec<U, N> &v) {                                                       \
        for (int i = 0; i < N; ++i) d[i] = T(v.d[i]);                                                                  \
    }                                                                                                                  \
    T &operator[](int i) { return d[i]; }                                                                              \
    const T &operator[](int i) const { return d[i]; }                                                                  \
    QKM_BINARY(+, a.d[i] + b.d[i])                                                                                     \
    QKM_BINARY(-, a.d[i] - b.d[i]) QKM_BINARY(*, a.d[i] * b.d[i]) QKM_BINARY(/, a.d[i] / b.d[i])                       \
        QKM_BINARY(%, a.d[i] % b.d[i]) QKM_BINARY(&, a.d[i] & b.d[i]) QKM_BINARY(|, a.d[i] | b.d[i])                   \
            QKM_BINARY(^, a.d[i] ^ b.d[i]) QKM_BINARY(<<, (qkm::shift_left<T>(a.d[i], b.d[i])))                        \
                QKM_BINARY(>>, (qkm::shift_right<T>(a.d[i], b.d[i]))) QKM_COMPARE(<) QKM_COMPARE(>) QKM_COMPARE(<=)    \
                    QKM_COMPARE(>=) QKM_COMPARE(==) QKM_COMPARE(!=) QKM_COMPARE(&&) QKM_COMPARE(||) vec                \
                    operator+() const {                                                                                \
        return *this;                                                                                                  \
    }                                                                                                                  \
    vec operator-() const {                                                                                            \
        vec r;                                                                                                         \
        for (int i = 0; i < N; ++i) r.d[i] = T(-d[i]);                                                                 \
        return r;                                                                                                      \
    }                                                                                                                  \
    vec operator~() const {                                                                                            \
        vec r;                                                                                                         \
        for (int i = 0; i < N; ++i) r.d[i] = T(~d[i]);                                                                 \
        return r;                                                                                                      \
    }                                                                                                                  \
    vec<bool, N> operator!() const {                                                                                   \
        vec<bool, N> r;                                                                                                \
        for (int i = 0; i < N; ++i) r.d[i] = !d[i];                                                                    \
        return r;                                                                                                      \
    }                                                                                                                  \
    vec &operator++() { return *this += vec(T(1)); }                                                                   \
    vec &operator--() { return *this -= vec(T(1)); }                                                                   \
    vec operator++(int) {                                                                                              \
        vec old = *this;                                                                                               \
        ++*this;                                                                                                       \
        return old;                                                                                                    \
    }                                                                                                                  \
    vec operator--(int) {                                                                                              \
        vec old = *this;                                                                                               \
        --*this;                                                                                                       \
        return old;                                                                                                    \
    }

} // namespace qkm

#define QKM_S(K, NAME, ...) qkm::swizzle<vec<T, K>, T, size, __VA_ARGS__> NAME;

template <class T> struct alignas(2 * sizeof(T)) vec<T, 2> {
    QKM_VECTOR_MEMBERS(2)
    vec(T a, T b) : d{a, b} {}
    union {
        T d[2];
        struct {
            T x, y;
        };
        struct {
            T r, g;
        };
#include "swizzle2.h"
    };
};

template <class T> struct alignas(4 * sizeof(T)) vec<T, 3> {
    QKM_VECTOR_MEMBERS(3)
    vec(T a, T b, T c) : d{a, b, c} {}
    vec(const vec<T, 2> &a, T b) : d{a.d[0], a.d[1], b} {}
    vec(T a, const vec<T, 2> &b) : d{a, b.d[0], b.d[1]} {}
    union {
        T d[3];
        struct {
            T x, y, z;
        };
        struct {
            T r, g, b;
        };
#include "swizzle3.h"
    };
};

template <class T> struct alignas(4 * sizeof(T)) vec<T, 4> {
    QKM_VECTOR_MEMBERS(4)
    vec(T a, T b, T c, T e) : d{a, b, c, e} {}
    vec(const vec<T, 2> &a, const vec<T, 2> &b) : d{a.d[0], a.d[1], b.d[0], b.d[1]} {}
    vec(const vec<T, 2> &a, T b, T c) : d{a.d[0], a.d[1], b, c} {}
    vec(T a, const vec<T, 2> &b, T c) : d{a, b.d[0], b.d[1], c} {}
    vec(T a, T b, const vec<T, 2> &c) : d{a, b, c.d[0], c.d[1]} {}
    vec(const vec<T, 3> &a, T b) : d{a.d[0], a.d[1], a.d[2], b} {}
    vec(T a, const vec<T, 3> &b) : d{a, b.d[0], b.d[1], b.d[2]} {}
    union {
        T d[4];
        struct {
            T x, y, z, w;
        };
        struct {
            T r, g, b, a;
        };
#include "swizzle4.h"
    };
};

#undef QKM_S
#undef QKM_BINARY
#undef QKM_COMPARE
#undef QKM_VECTOR_MEMBERS

// Packed: aligned as one element, and a vector as soon as it is read.
template <class T, int N> struct packed_vec {
    T d[N];
    packed_vec() = default;
    packed_vec(const vec<T, N> &v) {
        for (int i = 0; i < N; ++i) d[i] = v.d[i];
    }
    packed_vec(T s) {
        for (int i = 0; i < N; ++i) d[i] = s;
    }
    template <class... S, enable_if_t<sizeof...(S) + 2 == N, int> = 0>
    packed_vec(T a, T b, S... rest) : d{a, b, T(rest)...} {}
    packed_vec &operator=(const vec<T, N> &v) {
        for (int i = 0; i < N; ++i) d[i] = v.d[i];
        return *this;
    }
    T &operator[](int i) { return d[i]; }
    const T &operator[](int i) const { return d[i]; }
    vec<T, N> unpacked() const {
        vec<T, N> v;
        for (int i = 0; i < N; ++i) v.d[i] = d[i];
        return v;
    }
#define QKM_PACKED(OP)                                                                                                 \
    friend auto operator OP(const packed_vec &a, const packed_vec &b) { return a.unpacked() OP b.unpacked(); }         \
    friend auto operator OP(const packed_vec &a, const vec<T, N> &b) { return a.unpacked() OP b; }                     \
    friend auto operator OP(const vec<T, N> &a, const packed_vec &b) { return a OP b.unpacked(); }                     \
    friend auto operator OP(const packed_vec &a, T b) { return a.unpacked() OP vec<T, N>(b); }                         \
    friend auto operator OP(T a, const packed_vec &b) { return vec<T, N>(a) OP b.unpacked(); }
    QKM_PACKED(+)
    QKM_PACKED(-) QKM_PACKED(*) QKM_PACKED(/) QKM_PACKED(==) QKM_PACKED(!=) QKM_PACKED(<) QKM_PACKED(>) QKM_PACKED(&)
        QKM_PACKED(|) QKM_PACKED(^) QKM_PACKED(>>) QKM_PACKED(<<)
#undef QKM_PACKED
};

template <class T> struct is_vector : false_type {};
template <class T, int N> struct is_vector<vec<T, N>> : true_type {};

// as_type: the bits of a value as another type of the same size; three elements take the room of four.
template <class To, class From> inline To as_type(const From &x) {
    static_assert(sizeof(To) == sizeof(From), "as_type needs two types of the same size");
    To to;
    __builtin_memcpy(&to, &x, sizeof to);
    return to;
}
template <class To, class V, class T, int N, int... I> inline To as_type(const qkm::swizzle<V, T, N, I...> &x) {
    return as_type<To>(V(x));
}
template <class To, class T, int N> inline To as_type(const packed_vec<T, N> &x) {
    static_assert(sizeof(To) == sizeof x, "as_type needs two types of the same size");
    To to;
    __builtin_memcpy(&to, &x, sizeof to);
    return to;
}

} // namespace metal

using metal::as_type;

#define QKM_TYPES(M)                                                                                                   \
    M(char) M(uchar) M(short) M(ushort) M(int) M(uint) M(long) M(ulong) M(half) M(bfloat) M(float) M(bool)
#define QKM_NAMES(T)                                                                                                   \
    using T##2 = metal::vec<T, 2>;                                                                                     \
    using T##3 = metal::vec<T, 3>;                                                                                     \
    using T##4 = metal::vec<T, 4>;                                                                                     \
    using packed_##T##2 = metal::packed_vec<T, 2>;                                                                     \
    using packed_##T##3 = metal::packed_vec<T, 3>;                                                                     \
    using packed_##T##4 = metal::packed_vec<T, 4>;                                                                     \
    namespace metal {                                                                                                  \
    using ::T##2;                                                                                                      \
    using ::T##3;                                                                                                      \
    using ::T##4;                                                                                                      \
    using ::packed_##T##2;                                                                                             \
    using ::packed_##T##3;                                                                                             \
    using ::packed_##T##4;                                                                                             \
    }                                                                                                                  \
    static_assert(sizeof(T##2) == 2 * sizeof(T) && sizeof(T##3) == 4 * sizeof(T) && sizeof(T##4) == 4 * sizeof(T), "");
#define QKM_NAMES_ONLY(T) QKM_NAMES(T)
QKM_TYPES(QKM_NAMES_ONLY)
#undef QKM_NAMES
#undef QKM_NAMES_ONLY
