@include quotient.metal

// a / b, rounded to nearest even, as IEEE 754 has it.
inline float qk_quotient(float numerator, float divisor) {
    const uint infinity = 0x7F800000u, a_bits = as_type<uint>(numerator), b_bits = as_type<uint>(divisor);
    const uint a = a_bits & 0x7FFFFFFFu, b = b_bits & 0x7FFFFFFFu, sign = (a_bits ^ b_bits) & 0x80000000u;
    if (a > infinity || b > infinity || (a == 0u && b == 0u)) return as_type<float>(0x7FC00000u);
    if (b == 0u) return as_type<float>(sign | infinity);
    const uint quotient = qk_exact_quotient(a, b);
    return as_type<float>(quotient > infinity ? quotient : quotient | sign);
}

// The square root, rounded to nearest, digit by digit.
inline float qk_root(float v) {
    const uint bits = as_type<uint>(v);
    if ((bits & 0x7FFFFFFFu) == 0u || bits == 0x7F800000u) return v;
    if (bits > 0x7F800000u) return as_type<float>(0x7FC00000u);
    int exponent;
    uint rest = qk_mantissa(bits, exponent), root = 0u, sum = 0u;
    exponent -= 127;
    if ((exponent & 1) != 0) rest <<= 1;
    exponent >>= 1;
    rest <<= 1;
    for (uint digit = 0x1000000u; digit != 0u; digit >>= 1) {
        if (sum + digit <= rest) {
            rest -= sum + digit;
            sum += 2u * digit;
            root += digit;
        }
        rest <<= 1;
    }
    if (rest != 0u) root += root & 1u;
    return as_type<float>((root >> 1) + 0x3F000000u + (uint(exponent) << 23));
}

// The nearest integer, and of two the one that is farther from 0.
inline float qk_round(float v) {
    const float whole = trunc(v);
    const float rest = abs(v - whole);
    const float next = whole + (v < 0.0f ? -1.0f : 1.0f);
    return rest >= 0.5f ? next : whole;
}

// What is encoded, in f32: element `at`, and four from `4 * at` on. The bits of bf16 are ushort.
inline float qk_at(device const float *x, uint at) {
    return x[at];
}

inline float qk_at(device const half *x, uint at) {
    return float(x[at]);
}

inline float qk_at(device const ushort *x, uint at) {
    return bf16_to_f32(x[at]);
}

template <typename T>
inline float4 qk_four(device const T *x, uint at) {
    return float4(qk_at(x, 4 * at), qk_at(x, 4 * at + 1), qk_at(x, 4 * at + 2), qk_at(x, 4 * at + 3));
}

inline float4 qk_four(device const float *x, uint at) {
    return ((device const float4 *)x)[at];
}

inline bool qk_is_nan(float v) {
    return (as_type<uint>(v) & 0x7FFFFFFFu) > 0x7F800000u;
}

// Bits that are stored; a NaN is that without a sign, whatever it was.
inline uint qk_bits_of_f16(float v) {
    return qk_is_nan(v) ? 0x7E00u : uint(as_type<ushort>(half(v)));
}

inline uint qk_bits_of_bf16(float v) {
    return qk_is_nan(v) ? 0x7FC0u : uint(f32_to_bf16(v));
}

inline uint qk_bits_of_f32(float v) {
    return qk_is_nan(v) ? 0x7FC00000u : as_type<uint>(v);
}

// Those of the magnitude, and 1 where there is a sign.
inline int qk_bits(float v) {
    return int(qk_bits_of_f32(v) & 0x7FFFFFFFu);
}

// The bits of the nearest float that has so many digits behind the first, ties to even, from 0 to `most`, which is also that of a NaN.
// From `least` on the digits begin with the first that is not 0. A sum with a float whose last bit is the last digit rounds to it.
inline int qk_small(float v, uint digits, int least, int most) {
    const int within = min(qk_bits(v), most), e = max(within & 0x7F800000, least), magic = e + (int(23u - digits) << 23);
    const float sum = as_type<float>(within) + as_type<float>(magic);
    return as_type<int>(sum) - magic + ((e - least) >> (23u - digits));
}

inline int qk_sign(float v) {
    return int(qk_bits_of_f32(v) >> 31);
}

// An integer within bounds; a NaN counts as 0.
inline int qk_clamped(float v, int low, int high) {
    const float number = qk_is_nan(v) ? 0.0f : v;
    return number <= float(low) ? low : number >= float(high) ? high : int(number);
}
