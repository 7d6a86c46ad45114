// types_test: the types and functions of the stand-in header against models that are written otherwise: rounding by search in
// integers and long double, bits one by one. Argument: the folder of the .metal files.
#include "check.h"

#include <algorithm>
#include <cmath>

using std::string;
using std::vector;

// ---- a model of small floats: the value of each bit pattern, and rounding by search among them ----

struct small_float {
    int exponent_bits, mantissa_bits;
    vector<long double> values; // of the finite patterns without sign, ascending; then what infinity stands for
    uint16_t infinity;
    small_float(int e, int m) : exponent_bits(e), mantissa_bits(m) {
        const int bias = (1 << (e - 1)) - 1;
        infinity = uint16_t(((1 << e) - 1) << m);
        for (int bits = 0; bits <= infinity; ++bits) { // infinity as the next number, had the format one
            const int exponent = bits >> m, mantissa = bits & ((1 << m) - 1);
            values.push_back(exponent == 0 ? ldexpl(mantissa, 1 - bias - m)
                                           : ldexpl(mantissa + (1 << m), exponent - bias - m));
        }
    }
    bool is_nan(uint16_t bits) const { return (bits & 0x7FFF) > infinity; }
    long double value(uint16_t bits) const {
        const uint16_t size = bits & 0x7FFF;
        const long double v = size > infinity ? NAN : size == infinity ? INFINITY : values[size];
        return bits & 0x8000 ? -v : v;
    }
    // Nearest, ties to even; x is exact.
    uint16_t round(long double x) const {
        if (std::isnan(x)) return uint16_t(infinity | 1);
        const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
        const long double size = fabsl(x);
        if (std::isinf(size)) return uint16_t(sign | infinity);
        const size_t above = size_t(std::lower_bound(values.begin(), values.end(), size) - values.begin());
        if (above >= values.size()) return uint16_t(sign | infinity);
        if (values[above] == size) return uint16_t(sign | above);
        const long double low = size - values[above - 1], high = values[above] - size;
        const size_t nearest = low < high ? above - 1 : high < low ? above : (above & 1 ? above - 1 : above);
        return uint16_t(sign | nearest);
    }
};

static uint64_t seed = 1;

static const uint16_t special[] = {0,      0x8000, 1,      0x8001, 0x3FF,  0x400,  0x7BFF, 0xFBFF,
                                   0x7C00, 0xFC00, 0x7E00, 0x3C00, 0xBC00, 0x7F,   0x80,   0x7F7F,
                                   0x7F80, 0xFF80, 0x7FC0, 0x3F80, 0x0200, 0x3BFF, 0x3C01};

static void conversions(qk_msl *file, const small_float &f, const char *name) {
    vector<uint16_t> all(65536);
    for (uint32_t i = 0; i < 65536; ++i) all[i] = uint16_t(i);
    vector<float> as_float(65536);
    launch(256, 256).add(0, all).add(1, as_float).must(file, (string(name) + "_to_float").c_str());
    for (uint32_t i = 0; i < 65536; ++i) {
        const float want = float(f.value(uint16_t(i)));
        CHECK(f.is_nan(uint16_t(i)) ? std::isnan(as_float[i]) : memcmp(&want, &as_float[i], 4) == 0, "%s %04x is %g",
              name, i, double(as_float[i]));
    }
    // Each value, its neighbours in float, the point half-way to the next and its neighbours, both signs; and random floats.
    vector<float> in;
    for (uint32_t i = 0; i <= f.infinity; ++i) {
        const float v = float(f.values[i]), half_way = i < f.infinity ? float((f.values[i] + f.values[i + 1]) / 2) : v;
        for (const float x : {v, nextafterf(v, INFINITY), nextafterf(v, 0), half_way, nextafterf(half_way, INFINITY),
                              nextafterf(half_way, 0)}) {
            in.push_back(x);
            in.push_back(-x);
        }
    }
    for (int i = 0; i < 200000; ++i) {
        const uint32_t bits = uint32_t(random64(&seed));
        float x;
        memcpy(&x, &bits, 4);
        in.push_back(x);
    }
    in.resize(in.size() / 256 * 256);
    vector<uint16_t> out(in.size());
    launch(uint32_t(in.size() / 256), 256).add(0, in).add(1, out).must(file, (string("float_to_") + name).c_str());
    for (size_t i = 0; i < in.size(); ++i)
        CHECK(std::isnan(in[i]) ? f.is_nan(out[i]) : out[i] == f.round(in[i]), "%s(%a) is %04x, not %04x", name,
              double(in[i]), out[i], f.round(in[i]));
}

static void arithmetic(qk_msl *file, const small_float &f, const char *name) {
    const size_t n = 1 << 17;
    vector<uint16_t> a(n), b(n), c(n), r(n * 9);
    for (size_t i = 0; i < n; ++i) {
        const uint64_t x = random64(&seed);
        const size_t specials = sizeof special / sizeof *special;
        a[i] = i < specials * specials * 3 ? special[i % specials] : uint16_t(x);
        b[i] = i < specials * specials * 3 ? special[i / specials % specials] : uint16_t(x >> 16);
        c[i] = uint16_t(x >> 32);
        // Sums that nearly cancel, and sums with a small tail, are where two roundings would show.
        if (i % 4 == 1) c[i] = uint16_t(f.round(-f.value(a[i]) * f.value(b[i])));
        if (i % 4 == 2) c[i] = uint16_t((c[i] & 0x83FF) | 0x0400);
        if (i % 8 == 3) b[i] = uint16_t((a[i] & 0x7FFF) + (x >> 60)), a[i] = uint16_t(f.round(1) | (a[i] & 0x7F));
    }
    launch(uint32_t(n / 256), 256)
        .add(0, a)
        .add(1, b)
        .add(2, c)
        .add(3, r)
        .must(file, (string("arithmetic_") + name).c_str());
    static const char *const what[] = {"a + b",        "a - b",     "a * b",   "a / b",           "sqrt(a)",
                                       "fma(a, b, c)", "a * b + c", "rint(a)", "vector a * b + c"};
    for (size_t i = 0; i < n; ++i) {
        const long double x = f.value(a[i]), y = f.value(b[i]), z = f.value(c[i]);
        uint16_t want[9];
        want[0] = f.round(x + y);
        want[1] = f.round(x - y);
        want[2] = f.round(x * y);
        want[3] = f.round(x / y); // 64 bits of a quotient of 11-bit numbers: enough to decide
        want[4] = f.round(sqrtl(x));
        want[6] = f.round(f.value(want[2]) + z);
        want[7] = f.round(rintl(x));
        want[8] = want[6];
        // fma: the exact sum of p and z, rounded to odd where long double loses a tail.
        const long double p = x * y, s = p + z, back = s - p, tail = (p - (s - back)) + (z - back);
        want[5] = f.round(s);
        if (std::isfinite(s) && s != 0 && tail != 0) {
            uint64_t mantissa;
            memcpy(&mantissa, &s, 8);
            if (!(mantissa & 1)) want[5] = f.round(nextafterl(s, tail > 0 ? INFINITY : -INFINITY));
        }
        for (int k = 0; k < 9; ++k) {
            const uint16_t have = r[i * 9 + size_t(k)];
            CHECK(f.is_nan(want[k]) ? f.is_nan(have) : have == want[k], "%s: %s: a %04x b %04x c %04x: %04x, not %04x",
                  name, what[k], a[i], b[i], c[i], have, want[k]);
        }
    }
}

static void mixed(qk_msl *file, const small_float &h, const small_float &bf) {
    vector<uint16_t> a(4096), b(4096);
    vector<int32_t> n(4096);
    vector<float> r(4096 * 4), s(4096 * 4);
    for (size_t i = 0; i < 4096; ++i) {
        a[i] = uint16_t(random64(&seed)) & 0xBFFF;
        b[i] = uint16_t(0x3000 + (random64(&seed) & 0x9FFF));
        n[i] = int32_t(random64(&seed)) >> (random64(&seed) % 32);
    }
    launch(16, 256).add(0, a).add(1, n).add(2, r).must(file, "mixed");
    launch(16, 256).add(0, b).add(1, n).add(2, s).must(file, "mixed_bfloat");
    const float tenth_half = float(h.value(h.round(0.1L)));
    for (size_t i = 0; i < 4096; ++i) {
        const float x = float(h.value(a[i])), y = float(bf.value(b[i]));
        const float want[] = {float(h.value(h.round((long double)x * h.value(h.round(n[i]))))), x * float(n[i]),
                              x * 0.1f, float(h.value(h.round((long double)x * tenth_half)))};
        const float want_bf[] = {float(bf.value(bf.round((long double)y * bf.value(bf.round(n[i]))))), y * float(n[i]),
                                 float(bf.value(bf.round(n[i]))), n[i] > 0 ? y : 0.0f};
        for (size_t k = 0; k < 4; ++k) {
            CHECK(r[4 * i + k] == want[k] || (std::isnan(want[k]) && std::isnan(r[4 * i + k])),
                  "half %zu: %a, not %a (%04x, %d)", k, double(r[4 * i + k]), double(want[k]), a[i], n[i]);
            CHECK(s[4 * i + k] == want_bf[k] || (std::isnan(want_bf[k]) && std::isnan(s[4 * i + k])),
                  "bfloat %zu: %a, not %a (%04x, %d)", k, double(s[4 * i + k]), double(want_bf[k]), b[i], n[i]);
        }
    }
}

// ---- integers, bit by bit ----

template <class T> static void integers(qk_msl *file, const char *kernel) {
    const int width = int(sizeof(T)) * 8;
    const bool is_signed = T(-1) < T(0);
    const __int128 lowest = is_signed ? -(__int128(1) << (width - 1)) : 0,
                   highest = (__int128(1) << (width - is_signed)) - 1;
    const size_t n = 8192;
    vector<T> a(n), b(n), r(n * 15);
    vector<uint32_t> at(n);
    for (size_t i = 0; i < n; ++i) {
        a[i] = T(random64(&seed) >> (random64(&seed) % 64));
        b[i] = T(random64(&seed) >> (random64(&seed) % 64));
        if (i < 64) a[i] = T(i & 1 ? lowest : highest), b[i] = T(i & 2 ? lowest : i & 4 ? highest : i & 8 ? 0 : 1);
        if (i % 97 == 0) a[i] = 0;
        const uint32_t offset = uint32_t(random64(&seed) % uint64_t(width)),
                       count = uint32_t(random64(&seed) % uint64_t(width - int(offset) + 1));
        at[i] = offset | count << 8;
    }
    launch(uint32_t(n / 256), 256).add(0, a).add(1, b).add(2, at).add(3, r).must(file, kernel);
    auto bit = [](T x, int k) { return int((uint64_t(x) >> k) & 1); };
    auto clip = [&](__int128 x) { return T(x < lowest ? lowest : x > highest ? highest : x); };
    for (size_t i = 0; i < n; ++i) {
        const T x = a[i], y = b[i];
        const int offset = int(at[i] & 255), count = int(at[i] >> 8);
        __int128 field = 0;
        for (int k = 0; k < count; ++k) field += __int128(bit(x, offset + k)) << k;
        if (is_signed && count && bit(x, offset + count - 1)) field -= __int128(1) << count;
        uint64_t inserted = 0, reversed = 0, rotated = 0;
        int ones = 0, leading = width, trailing = width;
        for (int k = 0; k < width; ++k) {
            const bool inside = k >= offset && k < offset + count;
            inserted |= uint64_t(inside ? bit(y, k - offset) : bit(x, k)) << k;
            reversed |= uint64_t(bit(x, width - 1 - k)) << k;
            rotated |= uint64_t(bit(x, k)) << ((k + int(uint64_t(y) & uint64_t(width - 1))) % width);
            ones += bit(x, k);
            if (bit(x, k)) leading = width - 1 - k;
            if (bit(x, width - 1 - k)) trailing = width - 1 - k;
        }
        // The high half of the product, from quarters: 128 bits do not hold 64 by 64 unsigned with a sign.
        __int128 high;
        if (width < 64)
            high = (__int128(x) * __int128(y)) >> width;
        else if (is_signed)
            high = (__int128(x) * __int128(y)) >> 64;
        else
            high = __int128(uint64_t((unsigned __int128)(x) * (unsigned __int128)(y) >> 64));
        const __int128 sum = __int128(x) + y, difference = __int128(x) - y;
        auto floor_half = [](__int128 v) { return v >= 0 ? v / 2 : -((-v + 1) / 2); };
        const T want[15] = {T(field),
                            T(inserted),
                            T(ones),
                            T(leading),
                            T(trailing),
                            T(reversed),
                            T(rotated),
                            T(high),
                            clip(sum),
                            clip(difference),
                            T(floor_half(sum)),
                            T(floor_half(sum + 1)),
                            T(x < 0 ? -__int128(x) : __int128(x)),
                            T(difference < 0 ? -difference : difference),
                            T(std::min<__int128>(std::max<__int128>(x, 3), 100))};
        for (size_t k = 0; k < 15; ++k)
            CHECK(r[i * 15 + k] == want[k], "%s %zu: a %lld b %lld at %d %d: %lld, not %lld", kernel, k, (long long)x,
                  (long long)y, offset, count, (long long)r[i * 15 + k], (long long)want[k]);
    }
}

static void vectors(qk_msl *file) {
    vector<float> in = {1, 2, 3, 4}, r(18 * 4);
    launch().add(0, in).add(1, r).must(file, "vectors");
    small_float h(5, 10);
    const float tenth = float(h.value(h.round(0.1f)));
    const float want[18][4] = {
        {3, 4, 3, 4},         {4, 3, 2, 1},      {10, 2, 30, 4}, {2, 1, 3, 4},     {3.5f, 4.5f, 1.5f, 2.5f},
        {254, 256, 258, 260}, {2, 9, 4, 4},      {1, 2, -3, -4}, {31, 42, 21, 43}, {1, 0, 11, 5},
        {128, 16, 1, 0},      {-1, -2, -3, -4},  {1, 2, 3, 4},   {1, 2, 1, 4},     {0, 0, tenth, 0},
        {1.5f, 2, 3, 3.5f},   {2, 7, 0.75f, -1}, {2, 3, -2, -3}};
    for (int i = 0; i < 18; ++i)
        for (int k = 0; k < 4; ++k)
            CHECK(r[size_t(i * 4 + k)] == want[i][k], "vectors %d.%d: %g, not %g", i, k, double(r[size_t(i * 4 + k)]),
                  double(want[i][k]));
}

// Each element is some thread's, beside its neighbour in the row, and in the place that a load found for it. Those of Apple's GPUs are
// known; others are none of these.
static void matrix_places(qk_msl *file, bool other) {
    small_float h(5, 10);
    vector<uint32_t> places(64);
    vector<uint16_t> stored(64);
    launch(1, 32).add(0, places).add(1, stored).must(file, "matrix_places");
    vector<bool> seen(64);
    size_t known = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint32_t at = places[2 * lane], quad = lane / 4;
        CHECK(at % 2 == 0 && at < 64 && places[2 * lane + 1] == at + 1 && !seen[at & 63], "lane %u holds %u and %u",
              lane, at, places[2 * lane + 1]);
        seen[at & 63] = true;
        known += at == ((quad & 4) + lane / 2 % 4) * 8 + (quad & 2) * 2 + lane % 2 * 2;
    }
    CHECK(other ? known < 32 : known == 32, "%zu lanes hold what they hold on Apple's GPUs", known);
    for (size_t i = 0; i < 64; ++i)
        CHECK(h.value(stored[i]) == (long double)i + 0.5L, "element %zu is stored as %g", i,
              double(h.value(stored[i])));
}

static void matrix_products(qk_msl *file) {
    small_float h(5, 10);
    for (uint32_t transposed = 0; transposed < 2; ++transposed) {
        vector<uint16_t> a(7 * 16 + 8), b(64); // not a byte more than the matrices have
        vector<float> c(64);
        for (uint16_t &x : a) x = h.round(double(int(random64(&seed) % 64) - 32) / 8);
        for (uint16_t &x : b) x = h.round(double(int(random64(&seed) % 64) - 32) / 8);
        launch(1, 32).add(0, a).add(1, b).add(2, c).value(3, transposed).must(file, "matrix_product");
        for (size_t i = 0; i < 8; ++i)
            for (size_t j = 0; j < 8; ++j) {
                long double want = 1;
                for (size_t k = 0; k < 8; ++k)
                    want += h.value(a[i * 16 + k]) * h.value(transposed ? b[j * 8 + k] : b[k * 8 + j]);
                CHECK(c[i * 8 + j] == float(want), "matrix product %zu %zu: %g, not %g", i, j, double(c[i * 8 + j]),
                      double(want));
            }
        a.pop_back();
        launch short_one(1, 32);
        CHECK(short_one.add(0, a).add(1, b).add(2, c).value(3, transposed).run(file, "matrix_product") ==
                  QK_MSL_ERROR_ACCESS,
              "a matrix one element short: %s", short_one.error.text);
    }
}

static void simdgroups(qk_msl *file) {
    for (const qk_msl_order order : {QK_MSL_FORWARD, QK_MSL_REVERSE, QK_MSL_RANDOM}) {
        vector<float> in(64), r(64 * 16);
        for (size_t i = 0; i < 64; ++i) in[i] = float((i * 37) % 101);
        launch(1, 64).order(order, 5).add(0, in).add(1, r).must(file, "simd");
        for (size_t i = 0; i < 64; ++i) {
            const size_t base = i & 32, lane = i & 31, quad = i & ~size_t(3);
            float sum = 0, most = 0, before = 0;
            uint32_t ballot = 0;
            for (size_t k = 0; k < 32; ++k) {
                sum += in[base + k];
                most = std::max(most, in[base + k]);
                if (k < lane) before += in[base + k];
                if (in[base + k] > 40) ballot |= 1u << k;
            }
            const float want[16] = {sum,
                                    most,
                                    in[i ^ 5],
                                    lane + 3 < 32 ? in[i + 3] : in[i],
                                    lane >= 3 ? in[i - 3] : in[i],
                                    in[base + 9],
                                    before,
                                    before + in[i],
                                    in[quad] + in[quad + 1] + in[quad + 2] + in[quad + 3],
                                    in[quad + 2],
                                    float(ballot & 0xFFFFFF),
                                    in[base + (lane + 1) % 32],
                                    lane % 3 == 0   ? 11.0f
                                    : lane % 3 == 1 ? 22.0f
                                                    : -1.0f,
                                    32,
                                    1,
                                    float(i)};
            for (size_t k = 0; k < 16; ++k)
                CHECK(r[i * 16 + k] == want[k], "simd %zu of lane %zu, order %d: %g, not %g", k, i, order,
                      double(r[i * 16 + k]), double(want[k]));
        }
        vector<uint32_t> total(32);
        launch(1, 32).order(order, 6).add(0, total).must(file, "simd_loop");
        for (uint32_t i = 0; i < 32; ++i) {
            uint32_t want = 0;
            for (uint32_t k = 0; k <= i; ++k) want += 32 - k;
            CHECK(total[i] == want, "simd_loop %u: %u, not %u", i, total[i], want);
        }
    }
    matrix_products(file);
    matrix_places(file, false);
    vector<uint32_t> words(4);
    launch(4, 64).order(QK_MSL_RANDOM, 9).add(0, words).must(file, "atomics");
    CHECK(words[0] == 255 * 256 / 2 && words[1] == 255 && words[2] == 0xFFFFFFFFu && words[3] == 256,
          "atomics: %u %u %x %u", words[0], words[1], words[2], words[3]);
}

static void positions(qk_msl *file) {
    vector<uint32_t> r(10 * 7 * 8);
    launch l;
    l.what.threads[0] = 10;
    l.what.threads[1] = 7;
    l.what.threads[2] = 1;
    l.what.group[0] = 4;
    l.what.group[1] = 3;
    l.order(QK_MSL_RANDOM, 2).add(0, r).must(file, "positions");
    for (uint32_t y = 0; y < 7; ++y)
        for (uint32_t x = 0; x < 10; ++x) {
            const uint32_t wide = x / 4 == 2 ? 2 : 4, high = y / 3 == 2 ? 1 : 3;
            const uint32_t want[8] = {x, y, x % 4, y % 3, y / 3 * 3 + x / 4, wide, high, y % 3 * wide + x % 4};
            for (uint32_t k = 0; k < 8; ++k)
                CHECK(r[(y * 10 + x) * 8 + k] == want[k], "positions (%u, %u) %u: %u, not %u", x, y, k,
                      r[(y * 10 + x) * 8 + k], want[k]);
        }
}

// 1 + 2^-12 squared, less its rounding: what is left when the product has not been rounded.
static void contraction(const string &folder) {
    for (const qk_msl_math math : {QK_MSL_MATH_SAFE, QK_MSL_MATH_CONTRACT}) {
        qk_msl_options options = {};
        options.math = math;
        qk_msl *file = open_file(folder + "/types.metal", &options);
        vector<float> a = {1 + 0x1p-12f, 1 + 0x1p-12f, -(1 + 0x1p-11f)}, r(1);
        launch().add(0, a).add(1, r).must(file, "no_contraction");
        CHECK(r[0] == 0, "the pragma keeps the product rounded, math %d: %a", math, double(r[0]));
        launch().add(0, a).add(1, r).must(file, "contraction");
        if (math == QK_MSL_MATH_SAFE)
            CHECK(r[0] == 0, "no contraction: %a", double(r[0]));
        else
            printf("# a * b + c with contraction allowed: %s\n",
                   r[0] == 0x1p-24f ? "contracted" : "this machine has no fused instruction");
        qk_msl_close(file);
    }
}

static void other_lanes(const string &folder) {
    const char *const define = "QKM_OTHER_LANES";
    qk_msl_options options = {};
    options.define_count = 1;
    options.defines = &define;
    qk_msl *file = open_file(folder + "/types.metal", &options);
    matrix_places(file, true);
    matrix_products(file);
    qk_msl_close(file);
}

int main(int argc, char **argv) {
    const string folder = argc > 1 ? argv[1] : ".";
    qk_msl *file = open_file(folder + "/types.metal");
    const small_float h(5, 10), bf(8, 7);
    conversions(file, h, "half");
    conversions(file, bf, "bfloat");
    arithmetic(file, h, "half");
    arithmetic(file, bf, "bfloat");
    mixed(file, h, bf);
    integers<uint8_t>(file, "integers_u8");
    integers<int8_t>(file, "integers_i8");
    integers<uint16_t>(file, "integers_u16");
    integers<int16_t>(file, "integers_i16");
    integers<uint32_t>(file, "integers_u32");
    integers<int32_t>(file, "integers_i32");
    integers<uint64_t>(file, "integers_u64");
    integers<int64_t>(file, "integers_i64");
    vectors(file);
    simdgroups(file);
    positions(file);
    qk_msl_close(file);
    contraction(folder);
    other_lanes(folder);
    return finish("types");
}
