// Scalars, traits, limits and constants. No libc header: its names would meet those of the kernels.
#pragma once

typedef _Float16 half;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef decltype(sizeof 0) size_t;
typedef decltype((char *)0 - (char *)0) ptrdiff_t;
typedef unsigned long uintptr_t;
typedef long intptr_t;

constexpr half operator""_h(long double x) { return half(x); } // the executor writes 1.0h as 1.0_h, 1.0 as 1.0f

#define METAL_FUNC inline __attribute__((__always_inline__))
#define METAL_CONST_ARG
#define MAXFLOAT 0x1.fffffep127f
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_huge_valf()
#define NAN __builtin_nanf("")
#define HUGE_VALH half(__builtin_huge_valf())
#define MAXHALF half(65504.0f)
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1.0p-126f
#define FLT_EPSILON 0x1.0p-23f
#define HALF_MAX half(65504.0f)
#define HALF_MIN half(0x1.0p-14f)
#define HALF_EPSILON half(0x1.0p-10f)
#define CHAR_BIT 8
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-9223372036854775807l - 1)
#define ULONG_MAX 18446744073709551615ul
#define M_E_F 2.71828182845904523536028747135f
#define M_LOG2E_F 1.44269504088896340735992468100f
#define M_LOG10E_F 0.434294481903251827651128918917f
#define M_LN2_F 0.693147180559945309417232121458f
#define M_LN10_F 2.30258509299404568401799145468f
#define M_PI_F 3.14159265358979323846264338328f
#define M_PI_2_F 1.57079632679489661923132169164f
#define M_PI_4_F 0.785398163397448309615660845820f
#define M_1_PI_F 0.318309886183790671537767526745f
#define M_2_PI_F 0.636619772367581343075535053490f
#define M_SQRT2_F 1.41421356237309504880168872421f
#define M_SQRT1_2_F 0.707106781186547524400844362105f
#define M_PI_H half(M_PI_F)
#define M_E_H half(M_E_F)

namespace metal {

using ::half;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::ptrdiff_t;
using ::size_t;
using ::uchar;
using ::uint;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::ulong;
using ::ushort;

// ---- traits ----

template <class T, T V> struct integral_constant {
    static constexpr T value = V;
    using value_type = T;
    using type = integral_constant;
    constexpr operator T() const { return V; }
    constexpr T operator()() const { return V; }
};
template <bool B> using bool_constant = integral_constant<bool, B>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <bool B, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <class T, class U> struct is_same : false_type {};
template <class T> struct is_same<T, T> : true_type {};
template <class T, class U> constexpr bool is_same_v = is_same<T, U>::value;
template <class T> struct remove_const { using type = T; };
template <class T> struct remove_const<const T> { using type = T; };
template <class T> struct remove_volatile { using type = T; };
template <class T> struct remove_volatile<volatile T> { using type = T; };
template <class T> struct remove_cv { using type = typename remove_const<typename remove_volatile<T>::type>::type; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> struct remove_reference { using type = T; };
template <class T> struct remove_reference<T &> { using type = T; };
template <class T> struct remove_reference<T &&> { using type = T; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_pointer { using type = T; };
template <class T> struct remove_pointer<T *> { using type = T; };
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> struct is_pointer : false_type {};
template <class T> struct is_pointer<T *> : true_type {};
template <class...> using void_t = void;
template <class T> remove_reference_t<T> &&declval();
template <class T> struct make_unsigned;
template <class T> struct make_signed;
#define QKM_SIGNS(S, U)                                                                                                \
    template <> struct make_unsigned<S> { using type = U; };                                                           \
    template <> struct make_unsigned<U> { using type = U; };                                                           \
    template <> struct make_signed<S> { using type = S; };                                                             \
    template <> struct make_signed<U> { using type = S; };
QKM_SIGNS(char, uchar)
QKM_SIGNS(short, ushort) QKM_SIGNS(int, uint) QKM_SIGNS(long, ulong)
#undef QKM_SIGNS
    template <>
    struct make_unsigned<signed char> {
    using type = uchar;
};
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;
template <class T> using make_signed_t = typename make_signed<T>::type;

struct bfloat;
template <class T> struct is_integral : bool_constant<__is_integral(T)> {};
template <class T> struct is_floating_point : bool_constant<__is_floating_point(T)> {};
template <> struct is_floating_point<half> : true_type {};
template <class T> struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};
template <class T> struct is_scalar : is_arithmetic<T> {};
template <class T>
struct is_signed : bool_constant<is_floating_point<T>::value || (is_integral<T>::value && T(-1) < T(0))> {};
template <class T> struct is_unsigned : bool_constant<is_integral<T>::value && !is_signed<T>::value> {};
template <class T> constexpr bool is_integral_v = is_integral<T>::value;
template <class T> constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T> constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T> constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <class T> constexpr bool is_signed_v = is_signed<T>::value;
template <class A, class B> struct is_convertible : bool_constant<__is_convertible_to(A, B)> {};

// ---- limits ----

template <class T> struct numeric_limits;
#define QKM_INT_LIMITS(T, LO, HI)                                                                                      \
    template <> struct numeric_limits<T> {                                                                             \
        static constexpr bool is_specialized = true, is_integer = true;                                                \
        static constexpr bool is_signed = T(-1) < T(0);                                                                \
        static constexpr int digits = int(sizeof(T)) * 8 - is_signed;                                                  \
        static constexpr T min() { return LO; }                                                                        \
        static constexpr T max() { return HI; }                                                                        \
        static constexpr T lowest() { return LO; }                                                                     \
    };
QKM_INT_LIMITS(char, CHAR_MIN, CHAR_MAX)
QKM_INT_LIMITS(int8_t, SCHAR_MIN, SCHAR_MAX) QKM_INT_LIMITS(uchar, 0, UCHAR_MAX)
    QKM_INT_LIMITS(short, SHRT_MIN, SHRT_MAX) QKM_INT_LIMITS(ushort, 0, USHRT_MAX) QKM_INT_LIMITS(int, INT_MIN, INT_MAX)
        QKM_INT_LIMITS(uint, 0, UINT_MAX) QKM_INT_LIMITS(long, LONG_MIN, LONG_MAX) QKM_INT_LIMITS(ulong, 0, ULONG_MAX)
            QKM_INT_LIMITS(bool, false, true)
#undef QKM_INT_LIMITS
#define QKM_FLOAT_LIMITS(T, DIGITS, MIN, MAX, EPSILON, DENORM)                                                         \
    template <> struct numeric_limits<T> {                                                                             \
        static constexpr bool is_specialized = true, is_integer = false, is_signed = true, has_infinity = true;        \
        static constexpr int digits = DIGITS;                                                                          \
        static constexpr T min() { return T(MIN); }                                                                    \
        static constexpr T max() { return T(MAX); }                                                                    \
        static constexpr T lowest() { return T(-MAX); }                                                                \
        static constexpr T epsilon() { return T(EPSILON); }                                                            \
        static constexpr T denorm_min() { return T(DENORM); }                                                          \
        static constexpr T infinity() { return T(__builtin_huge_valf()); }                                             \
        static constexpr T quiet_NaN() { return T(__builtin_nanf("")); }                                               \
    };
                QKM_FLOAT_LIMITS(float, 24, FLT_MIN, FLT_MAX, FLT_EPSILON, 0x1p-149f)
                    QKM_FLOAT_LIMITS(half, 11, 0x1p-14f, 65504.0f, 0x1p-10f, 0x1p-24f)

    // ---- arrays, pairs of helpers ----

    template <class T, size_t N>
    struct array {
    T qkm_elements[N];
    constexpr T &operator[](size_t i) { return qkm_elements[i]; }
    constexpr const T &operator[](size_t i) const { return qkm_elements[i]; }
    constexpr size_t size() const { return N; }
    T *data() { return qkm_elements; }
    const T *data() const { return qkm_elements; }
    T *begin() { return qkm_elements; }
    T *end() { return qkm_elements + N; }
    const T *begin() const { return qkm_elements; }
    const T *end() const { return qkm_elements + N; }
    void fill(const T &x) {
        for (size_t i = 0; i < N; ++i) qkm_elements[i] = x;
    }
};

// ---- function constants ----

namespace qkm {
template <class T> T function_constant(unsigned id);
}
template <class T> void swap(T &a, T &b) {
    T t = a;
    a = b;
    b = t;
}

} // namespace metal

extern "C" bool qkm_constant_defined(unsigned id);
extern "C" void qkm_constant_value(unsigned id, void *to, unsigned long size);
template <class T> inline T metal::qkm::function_constant(unsigned id) {
    T x;
    __builtin_memset(&x, 0, sizeof x);
    qkm_constant_value(id, &x, sizeof x);
    return x;
}
// The executor declares, beside each function constant, a constant of this name that holds its number.
#define is_function_constant_defined(NAME) qkm_constant_defined(qkm_number_of_##NAME)
