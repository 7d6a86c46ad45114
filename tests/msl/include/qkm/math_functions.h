// The functions whose accuracy has a name: included into metal, metal::precise and metal::fast. No include guard.

#define QKM_FLOATS(M) M(float) M(half) M(bfloat)
#define QKM_ONE(T, NAME, EXPR)                                                                                         \
    inline T NAME(T x_) {                                                                                              \
        const float x = float(x_);                                                                                     \
        return T(EXPR);                                                                                                \
    }                                                                                                                  \
    QKM_VECTORS1(T, NAME)
#define QKM_TWO(T, NAME, EXPR)                                                                                         \
    inline T NAME(T x_, T y_) {                                                                                        \
        const float x = float(x_), y = float(y_);                                                                      \
        return T(EXPR);                                                                                                \
    }                                                                                                                  \
    QKM_VECTORS2(T, NAME)
#define QKM_THREE(T, NAME, EXPR)                                                                                       \
    inline T NAME(T x_, T y_, T z_) {                                                                                  \
        const float x = float(x_), y = float(y_), z = float(z_);                                                       \
        return T(EXPR);                                                                                                \
    }                                                                                                                  \
    QKM_VECTORS3(T, NAME)
#define QKM_MATH(T)                                                                                                    \
    QKM_ONE(T, sqrt, __builtin_sqrtf(x))                                                                               \
    QKM_ONE(T, rsqrt, float(1.0 / __builtin_sqrt(double(x)))) QKM_ONE(T, exp, __builtin_expf(x)) QKM_ONE(              \
        T, exp2, __builtin_exp2f(x)) QKM_ONE(T, exp10, __builtin_powf(10.0f, x)) QKM_ONE(T, log, __builtin_logf(x))    \
        QKM_ONE(T, log2, __builtin_log2f(x)) QKM_ONE(T, log10, __builtin_log10f(x)) QKM_ONE(T, sin, __builtin_sinf(x)) \
            QKM_ONE(T, cos, __builtin_cosf(x)) QKM_ONE(T, tan, __builtin_tanf(x))                                      \
                QKM_ONE(T, sinpi, float(__builtin_sin(3.14159265358979323846 * double(x))))                            \
                    QKM_ONE(T, cospi, float(__builtin_cos(3.14159265358979323846 * double(x)))) QKM_ONE(               \
                        T, tanpi,                                                                                      \
                        float(__builtin_tan(3.14159265358979323846 * double(x)))) QKM_ONE(T, asin, __builtin_asinf(x)) \
                        QKM_ONE(T, acos, __builtin_acosf(x)) QKM_ONE(T, atan, __builtin_atanf(x))                      \
                            QKM_ONE(T, sinh, __builtin_sinhf(x)) QKM_ONE(T, cosh, __builtin_coshf(x)) QKM_ONE(         \
                                T, tanh, __builtin_tanhf(x)) QKM_ONE(T, asinh, __builtin_asinhf(x))                    \
                                QKM_ONE(T, acosh, __builtin_acoshf(x)) QKM_ONE(T, atanh, __builtin_atanhf(x)) QKM_ONE( \
                                    T, floor, __builtin_floorf(x)) QKM_ONE(T, ceil, __builtin_ceilf(x))                \
                                    QKM_ONE(T, trunc, __builtin_truncf(x)) QKM_ONE(T, rint, __builtin_rintf(x))        \
                                        QKM_ONE(T, round, __builtin_roundf(x)) QKM_ONE(T, fract, qkm::fraction(x))     \
                                            QKM_ONE(T, fabs, __builtin_fabsf(x)) QKM_ONE(T, abs, __builtin_fabsf(x))   \
                                                QKM_ONE(T, saturate, qkm::fminf_(qkm::fmaxf_(x, 0.0f), 1.0f))          \
                                                    QKM_ONE(T, sign,                                                   \
                                                            x > 0.0f   ? 1.0f                                          \
                                                            : x < 0.0f ? -1.0f                                         \
                                                            : x == x   ? x                                             \
                                                                       : 0.0f) QKM_TWO(T, pow, __builtin_powf(x, y))     \
                                                        QKM_TWO(T, powr, __builtin_powf(x, y)) QKM_TWO(                \
                                                            T, atan2, __builtin_atan2f(x, y))                          \
                                                            QKM_TWO(T, fmod, __builtin_fmodf(x, y)) QKM_TWO(           \
                                                                T, fmin, qkm::fminf_(x, y)) QKM_TWO(T, fmax,           \
                                                                                                    qkm::fmaxf_(x, y)) \
                                                                QKM_TWO(T, min, qkm::fminf_(x, y))                     \
                                                                    QKM_TWO(T, max, qkm::fmaxf_(x, y))                 \
                                                                        QKM_TWO(T, fdim,                               \
                                                                                x > y    ? x - y                       \
                                                                                : x <= y ? 0.0f                        \
                                                                                         : x + y)                      \
                                                                            QKM_TWO(T, copysign,                       \
                                                                                    __builtin_copysignf(x, y))         \
                                                                                QKM_TWO(T, step, y < x ? 0.0f : 1.0f)  \
                                                                                    QKM_TWO(T, divide, x / y) inline T \
                                                                                    nextafter(T x, T y) {              \
        return qkm::next(x, y);                                                                                        \
    }                                                                                                                  \
    QKM_VECTORS2(T, nextafter)                                                                                         \
    QKM_THREE(T, clamp, qkm::fminf_(qkm::fmaxf_(x, y), z))                                                             \
    QKM_THREE(T, fmin3, qkm::fminf_(qkm::fminf_(x, y), z))                                                             \
    QKM_THREE(T, fmax3, qkm::fmaxf_(qkm::fmaxf_(x, y), z)) QKM_THREE(T, min3, qkm::fminf_(qkm::fminf_(x, y), z))       \
        QKM_THREE(T, max3, qkm::fmaxf_(qkm::fmaxf_(x, y), z))                                                          \
            QKM_THREE(T, median3, qkm::fmaxf_(qkm::fminf_(x, y), qkm::fminf_(qkm::fmaxf_(x, y), z))) inline T          \
            mix(T x, T y, T a) {                                                                                       \
        return T(x + T(T(y - x) * a));                                                                                 \
    }                                                                                                                  \
    QKM_VECTORS3(T, mix)                                                                                               \
    QKM_THREE(T, smoothstep, qkm::smooth(x, y, z))                                                                     \
    inline T fma(T a, T b, T c) { return qkm::fused(a, b, c); }                                                        \
    QKM_VECTORS3(T, fma)                                                                                               \
    inline T ldexp(T x, int k) { return T(__builtin_ldexpf(float(x), k)); }                                            \
    inline T frexp(T x, int &k) { return T(__builtin_frexpf(float(x), &k)); }                                          \
    inline T modf(T x, T &whole) {                                                                                     \
        whole = QKM_NS::trunc(x);                                                                                      \
        return QKM_NS::copysign(T(x - whole), x);                                                                      \
    }                                                                                                                  \
    inline T sincos(T x, T &c) {                                                                                       \
        c = QKM_NS::cos(x);                                                                                            \
        return QKM_NS::sin(x);                                                                                         \
    }                                                                                                                  \
    inline int ilogb(T x) { return __builtin_ilogbf(float(x)); }                                                       \
    inline bool isnan(T x) { return x != x; }                                                                          \
    inline bool isinf(T x) { return __builtin_fabsf(float(x)) == __builtin_huge_valf(); }                              \
    inline bool isfinite(T x) { return __builtin_fabsf(float(x)) < __builtin_huge_valf(); }                            \
    inline bool isnormal(T x) { return QKM_NS::isfinite(x) && QKM_NS::fabs(x) >= numeric_limits<T>::min(); }           \
    inline bool isunordered(T x, T y) { return QKM_NS::isnan(x) || QKM_NS::isnan(y); }                                 \
    inline bool isordered(T x, T y) { return !QKM_NS::isunordered(x, y); }                                             \
    inline bool signbit(T x) { return __builtin_signbitf(float(x)) != 0; }                                             \
    inline T select(T a, T b, bool c) { return c ? b : a; }                                                            \
    QKM_MATH_VECTOR(T, 2) QKM_MATH_VECTOR(T, 3) QKM_MATH_VECTOR(T, 4)
#define QKM_MATH_VECTOR(T, N)                                                                                          \
    QKM_VECTOR_OF(T, N, bool, isnan, (const vec<T, N> &x), (x.d[i]))                                                   \
    QKM_VECTOR_OF(T, N, bool, isinf, (const vec<T, N> &x), (x.d[i]))                                                   \
    QKM_VECTOR_OF(T, N, bool, isfinite, (const vec<T, N> &x), (x.d[i]))                                                \
    QKM_VECTOR_OF(T, N, bool, isnormal, (const vec<T, N> &x), (x.d[i]))                                                \
    QKM_VECTOR_OF(T, N, bool, signbit, (const vec<T, N> &x), (x.d[i]))                                                 \
    QKM_VECTOR_OF(T, N, T, ldexp, (const vec<T, N> &x, const vec<int, N> &k), (x.d[i], k.d[i]))                        \
    QKM_VECTOR_OF(T, N, T, select, (const vec<T, N> &a, const vec<T, N> &b, const vec<bool, N> &c),                    \
                  (a.d[i], b.d[i], c.d[i]))                                                                            \
    inline vec<T, N> select(const vec<T, N> &a, const vec<T, N> &b, bool c) { return c ? b : a; }                      \
    inline vec<T, N> mix(const vec<T, N> &x, const vec<T, N> &y, T a) { return QKM_NS::mix(x, y, vec<T, N>(a)); }      \
    inline vec<T, N> clamp(const vec<T, N> &x, T lo, T hi) { return QKM_NS::clamp(x, vec<T, N>(lo), vec<T, N>(hi)); }  \
    inline vec<T, N> min(const vec<T, N> &x, T y) { return QKM_NS::min(x, vec<T, N>(y)); }                             \
    inline vec<T, N> max(const vec<T, N> &x, T y) { return QKM_NS::max(x, vec<T, N>(y)); }                             \
    inline vec<T, N> step(T edge, const vec<T, N> &x) { return QKM_NS::step(vec<T, N>(edge), x); }                     \
    inline T dot(const vec<T, N> &a, const vec<T, N> &b) {                                                             \
        T r = T(a.d[0] * b.d[0]);                                                                                      \
        for (int i = 1; i < N; ++i) r = T(r + T(a.d[i] * b.d[i]));                                                     \
        return r;                                                                                                      \
    }                                                                                                                  \
    inline T length_squared(const vec<T, N> &a) { return QKM_NS::dot(a, a); }                                          \
    inline T length(const vec<T, N> &a) { return QKM_NS::sqrt(QKM_NS::dot(a, a)); }                                    \
    inline T distance_squared(const vec<T, N> &a, const vec<T, N> &b) { return QKM_NS::length_squared(a - b); }        \
    inline T distance(const vec<T, N> &a, const vec<T, N> &b) { return QKM_NS::length(a - b); }                        \
    inline vec<T, N> normalize(const vec<T, N> &a) { return a * vec<T, N>(QKM_NS::rsqrt(QKM_NS::dot(a, a))); }         \
    inline vec<T, N> reflect(const vec<T, N> &i, const vec<T, N> &n) {                                                 \
        return i - vec<T, N>(T(T(2) * QKM_NS::dot(n, i))) * n;                                                         \
    }
QKM_FLOATS(QKM_MATH)
#undef QKM_MATH
#undef QKM_MATH_VECTOR
#undef QKM_ONE
#undef QKM_TWO
#undef QKM_THREE
#undef QKM_FLOATS
