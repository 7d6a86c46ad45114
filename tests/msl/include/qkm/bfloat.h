// bfloat: the upper half of a float. Each operation is done in float and rounded to nearest even; with 8 bits of precision
// the two roundings of + - * / give what one would (24 >= 2 * 8 + 2). It becomes a float or takes an integer by itself;
// everything else is asked for with a cast. (Conversion to float is a template, so that no second conversion follows it:
// `c ? b : 0` has one meaning.)
#pragma once

namespace metal {

template <> struct is_floating_point<bfloat> : true_type {};
template <> struct is_arithmetic<bfloat> : true_type {};
template <> struct is_scalar<bfloat> : true_type {};
template <> struct is_signed<bfloat> : true_type {};

struct bfloat {
    ushort qkm_bits;

    bfloat() = default;
    template <class T, enable_if_t<is_integral<T>::value, int> = 0> constexpr bfloat(T x) : qkm_bits(round_odd(x)) {}
    template <class T, enable_if_t<is_floating_point<T>::value, int> = 0>
    explicit constexpr bfloat(T x) : qkm_bits(round(float(x))) {}

    template <class T, enable_if_t<is_same<T, float>::value, int> = 0> constexpr operator T() const {
        return __builtin_bit_cast(float, uint(qkm_bits) << 16);
    }
    template <class T,
              enable_if_t<is_integral<T>::value || is_same<T, half>::value || is_same<T, double>::value, int> = 0>
    explicit constexpr operator T() const {
        return T(__builtin_bit_cast(float, uint(qkm_bits) << 16));
    }

    static constexpr ushort round(float x) {
        const uint bits = __builtin_bit_cast(uint, x);
        if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return ushort((bits >> 16) | 0x40u);
        return ushort((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
    }

    // Of an integer of any width: 24 bits of it, the last one sticky, so that one rounding decides.
    template <class T> static constexpr ushort round_odd(T x) {
        const bool negative = x < T(0);
        ulong m = negative ? 0ul - ulong(long(x)) : ulong(x);
        if (m == 0) return 0;
        int shift = 0;
        while (m >> 24) {
            m = (m >> 1) | (m & 1);
            ++shift;
        }
        float f = float(m); // at most 24 bits: exact
        for (int i = 0; i < shift; ++i) f *= 2.0f;
        return round(negative ? -f : f);
    }
};

#define QKM_BFLOAT_OP(OP)                                                                                              \
    constexpr bfloat operator OP(bfloat a, bfloat b) { return bfloat(float(a) OP float(b)); }                          \
    constexpr float operator OP(bfloat a, float b) { return float(a) OP b; }                                           \
    constexpr float operator OP(float a, bfloat b) { return a OP float(b); }                                           \
    template <class T> constexpr enable_if_t<is_integral<T>::value, bfloat> operator OP(bfloat a, T b) {               \
        return a OP bfloat(b);                                                                                         \
    }                                                                                                                  \
    template <class T> constexpr enable_if_t<is_integral<T>::value, bfloat> operator OP(T a, bfloat b) {               \
        return bfloat(a) OP b;                                                                                         \
    }                                                                                                                  \
    constexpr bfloat &operator OP##=(bfloat &a, bfloat b) { return a = a OP b; }                                       \
    template <class T> constexpr enable_if_t<is_arithmetic<T>::value, bfloat &> operator OP##=(bfloat &a, T b) {       \
        return a = bfloat(a OP b);                                                                                     \
    }
QKM_BFLOAT_OP(+)
QKM_BFLOAT_OP(-) QKM_BFLOAT_OP(*) QKM_BFLOAT_OP(/)
#undef QKM_BFLOAT_OP
#define QKM_BFLOAT_COMPARE(OP)                                                                                         \
    constexpr bool operator OP(bfloat a, bfloat b) { return float(a) OP float(b); }                                    \
    constexpr bool operator OP(bfloat a, float b) { return float(a) OP b; }                                            \
    constexpr bool operator OP(float a, bfloat b) { return a OP float(b); }                                            \
    template <class T> constexpr enable_if_t<is_integral<T>::value, bool> operator OP(bfloat a, T b) {                 \
        return a OP bfloat(b);                                                                                         \
    }                                                                                                                  \
    template <class T> constexpr enable_if_t<is_integral<T>::value, bool> operator OP(T a, bfloat b) {                 \
        return bfloat(a) OP b;                                                                                         \
    }
    QKM_BFLOAT_COMPARE(<) QKM_BFLOAT_COMPARE(>) QKM_BFLOAT_COMPARE(<=) QKM_BFLOAT_COMPARE(>=) QKM_BFLOAT_COMPARE(==)
        QKM_BFLOAT_COMPARE(!=)
#undef QKM_BFLOAT_COMPARE
            constexpr bfloat
            operator+(bfloat a) {
    return a;
}
constexpr bfloat operator-(bfloat a) { return __builtin_bit_cast(bfloat, ushort(a.qkm_bits ^ 0x8000u)); }
constexpr bool operator!(bfloat a) { return float(a) == 0.0f; }
inline bfloat &operator++(bfloat &a) { return a = a + bfloat(1); }
inline bfloat &operator--(bfloat &a) { return a = a - bfloat(1); }

QKM_FLOAT_LIMITS(bfloat, 8, 0x1p-126f, 0x1.fep127f, 0x1p-7f, 0x1p-133f)
#undef QKM_FLOAT_LIMITS

} // namespace metal

using metal::bfloat;
constexpr bfloat operator""_bf(long double x) { return bfloat(float(x)); }
