// matrix<T, C, R>: C columns of R elements.
#pragma once

namespace metal {

template <class T, int C, int R> struct matrix {
    vec<T, R> qkm_columns[C];

    matrix() = default;
    explicit matrix(T s) {
        for (int c = 0; c < C; ++c)
            for (int r = 0; r < R; ++r) qkm_columns[c].d[r] = c == r ? s : T(0);
    }
    template <class... V, enable_if_t<sizeof...(V) + 2 == C, int> = 0>
    matrix(const vec<T, R> &a, const vec<T, R> &b, const V &...rest) : qkm_columns{a, b, vec<T, R>(rest)...} {}
    template <class... S, enable_if_t<sizeof...(S) + 4 == C * R, int> = 0> matrix(T a, T b, T c, T d, S... rest) {
        const T all[] = {a, b, c, d, T(rest)...};
        for (int i = 0; i < C * R; ++i) qkm_columns[i / R].d[i % R] = all[i];
    }
    template <class U> explicit matrix(const matrix<U, C, R> &m) {
        for (int c = 0; c < C; ++c) qkm_columns[c] = vec<T, R>(m.qkm_columns[c]);
    }
    vec<T, R> &operator[](int c) { return qkm_columns[c]; }
    const vec<T, R> &operator[](int c) const { return qkm_columns[c]; }

    friend matrix operator+(const matrix &a, const matrix &b) {
        matrix m;
        for (int c = 0; c < C; ++c) m[c] = a[c] + b[c];
        return m;
    }
    friend matrix operator-(const matrix &a, const matrix &b) {
        matrix m;
        for (int c = 0; c < C; ++c) m[c] = a[c] - b[c];
        return m;
    }
    friend matrix operator*(const matrix &a, T s) {
        matrix m;
        for (int c = 0; c < C; ++c) m[c] = a[c] * vec<T, R>(s);
        return m;
    }
    friend matrix operator*(T s, const matrix &a) { return a * s; }
    friend vec<T, R> operator*(const matrix &a, const vec<T, C> &v) {
        vec<T, R> r = a[0] * vec<T, R>(v.d[0]);
        for (int c = 1; c < C; ++c) r += a[c] * vec<T, R>(v.d[c]);
        return r;
    }
    friend vec<T, C> operator*(const vec<T, R> &v, const matrix &a) {
        vec<T, C> r;
        for (int c = 0; c < C; ++c) {
            T sum = T(v.d[0] * a[c].d[0]);
            for (int i = 1; i < R; ++i) sum = T(sum + v.d[i] * a[c].d[i]);
            r.d[c] = sum;
        }
        return r;
    }
    template <int K> friend matrix<T, K, R> operator*(const matrix &a, const matrix<T, K, C> &b) {
        matrix<T, K, R> m;
        for (int k = 0; k < K; ++k) m[k] = a * b[k];
        return m;
    }
    matrix operator-() const { return *this * T(-1); }
    matrix &operator+=(const matrix &b) { return *this = *this + b; }
    matrix &operator-=(const matrix &b) { return *this = *this - b; }
    matrix &operator*=(T s) { return *this = *this * s; }
    friend bool operator==(const matrix &a, const matrix &b) {
        for (int i = 0; i < C * R; ++i)
            if (!(a[i / R].d[i % R] == b[i / R].d[i % R])) return false;
        return true;
    }
};

template <class T, int C, int R> inline matrix<T, R, C> transpose(const matrix<T, C, R> &a) {
    matrix<T, R, C> m;
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r) m[r].d[c] = a[c].d[r];
    return m;
}

} // namespace metal

#define QKM_MATRIX(T, C, R)                                                                                            \
    using T##C##x##R = metal::matrix<T, C, R>;                                                                         \
    namespace metal {                                                                                                  \
    using ::T##C##x##R;                                                                                                \
    }
#define QKM_MATRICES(T)                                                                                                \
    QKM_MATRIX(T, 2, 2)                                                                                                \
    QKM_MATRIX(T, 2, 3) QKM_MATRIX(T, 2, 4) QKM_MATRIX(T, 3, 2) QKM_MATRIX(T, 3, 3) QKM_MATRIX(T, 3, 4)                \
        QKM_MATRIX(T, 4, 2) QKM_MATRIX(T, 4, 3) QKM_MATRIX(T, 4, 4)
QKM_MATRICES(float) QKM_MATRICES(half) QKM_MATRICES(bfloat)
#undef QKM_MATRICES
#undef QKM_MATRIX
