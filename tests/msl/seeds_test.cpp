// seeds_test: Metal files that others wrote, unchanged, against models written here and against what qkgen's own reference
// computes. Arguments: the folder of the .metal files; the folder of reference blocks (TYPE.blocks); the qkgen command; a
// folder to write to.
#include "check.h"

#include <cmath>

using std::string;
using std::vector;

static string seeds, vectors_folder, qkgen, work;
static uint64_t seed = 2024;
static const qk_msl_order orders[] = {QK_MSL_FORWARD, QK_MSL_REVERSE, QK_MSL_RANDOM};
static const char *const order_names[] = {"forward", "reverse", "random"};

// ---- f16 and bf16, rounded in integers ----

static float half_value(uint16_t h) {
    const int e = h >> 10 & 31, m = h & 1023;
    const float v = e == 0 ? ldexpf(float(m), -24) : e == 31 ? (m ? NAN : INFINITY) : ldexpf(float(m + 1024), e - 25);
    return h & 0x8000 ? -v : v;
}
static bool half_is_nan(uint16_t h) { return (h & 0x7FFF) > 0x7C00; }
static uint16_t to_half(double x) { // exact input
    const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    if (std::isnan(x)) return uint16_t(sign | 0x7E00);
    x = fabs(x);
    if (x >= 65520) return uint16_t(sign | 0x7C00);
    int e;
    frexp(x, &e);
    const int step = std::max(e - 11, -24);
    const double units = nearbyint(ldexp(x, -step)); // ties to even
    const double v = ldexp(units, step);
    if (v == 0) return sign;
    frexp(v, &e);
    if (e < -13) return uint16_t(sign | int(ldexp(v, 24)));
    return uint16_t(sign | ((e + 14) << 10) | (int(ldexp(v, 11 - e)) & 1023));
}
static float rounded_half(double x) { return half_value(to_half(x)); }
static uint16_t to_bfloat(float x) {
    uint32_t b;
    memcpy(&b, &x, 4);
    if ((b & 0x7FFFFFFF) > 0x7F800000) return uint16_t(b >> 16 | 64);
    return uint16_t((b + 0x7FFF + (b >> 16 & 1)) >> 16);
}
static float bfloat_value(uint16_t h) {
    const uint32_t b = uint32_t(h) << 16;
    float f;
    memcpy(&f, &b, 4);
    return f;
}
static uint16_t load16(const uint8_t *p) { return uint16_t(p[0] | p[1] << 8); }

// ---- dequant_to_f16: what its formulas give, written anew ----

typedef uint16_t element_model(const uint8_t *block, int i);

static uint16_t model_q4_0(const uint8_t *b, int i) {
    // The scale is divided by 16, and multiplied by -8, in f16.
    const float d = half_value(load16(b));
    const bool high = i >= 16;
    const float d1 = high ? rounded_half(double(d) / 16) : d, d2 = d1 / 256.0f;
    const float md = rounded_half(-8.0 * double(d));
    const int k = i % 16, masked = (b[2 + k] & (high ? 0xF0 : 0x0F)) << (k % 2 ? 8 : 0);
    return to_half((k % 2 ? d2 : d1) * float(masked) + md);
}
// q4_K and q5_K: the pair of scale and minimum is looked for 8 bytes too far, and the shift of the high nibbles is 8.
static void wrong_scales(const uint8_t *q, int j, int *sc, int *mn) {
    const int k = 8;
    *sc = j < 4 ? q[j + k] & 63 : (q[j + 4 + k] & 15) | (q[j - 4 + k] & 0xC0) >> 2;
    *mn = j < 4 ? q[j + 4 + k] & 63 : q[j + 4 + k] >> 4 | (q[j + k] & 0xC0) >> 2;
}
static uint16_t model_q4_K(const uint8_t *b, int i) {
    const int il = i / 16, k = i % 16;
    int sc, mn;
    wrong_scales(b + 4, il / 2, &sc, &mn);
    const float dl = half_value(load16(b)) * float(sc), ml = half_value(load16(b + 2)) * float(mn);
    const int q = b[16 + 32 * (il / 4) + 16 * (il & 1) + k];
    const float product = dl * float(q >> 4 * (il & 2) & 15);
    return to_half(product - ml);
}
static uint16_t model_q5_K(const uint8_t *b, int i) {
    const int il = i / 16, k = i % 16;
    int sc, mn;
    wrong_scales(b + 4, il / 2, &sc, &mn);
    const float dl = half_value(load16(b)) * float(sc), ml = half_value(load16(b + 2)) * float(mn);
    const int q = b[48 + 32 * (il / 4) + 16 * (il & 1) + k], high = b[16 + 16 * (il & 1) + k] >> il / 2 & 1;
    const float product = dl * float((q >> 4 * (il & 2) & 15) + 16 * high);
    return to_half(product - ml);
}

struct format {
    const char *name;
    size_t bytes, elements;
    vector<size_t> scales; // where the f16 fields are
    element_model *model;  // of what differs from ours; null: nothing may
    const char *reason;
};
static const format formats[] = {
    {"q4_0", 18, 32, {0}, model_q4_0, "f16 arithmetic on the scale"},
    {"q8_0", 34, 32, {0}, nullptr, ""},
    {"q5_1", 24, 32, {0, 2}, nullptr, ""},
    {"iq4_nl", 18, 32, {0}, nullptr, ""},
    {"q4_K", 144, 256, {0, 2}, model_q4_K, "wrong scale unpacking and nibble shift"},
    {"q5_K", 176, 256, {0, 2}, model_q5_K, "wrong scale unpacking and nibble shift"},
    {"q6_K", 210, 256, {208}, nullptr, ""},
};

static vector<uint8_t> read_bytes(const string &path, bool *found) {
    vector<uint8_t> r;
    FILE *f = fopen(path.c_str(), "rb");
    *found = f != nullptr;
    if (!f) return r;
    uint8_t buffer[65536];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, f)) > 0;) r.insert(r.end(), buffer, buffer + n);
    fclose(f);
    return r;
}

// What qkgen's reference makes of the blocks.
static vector<uint16_t> ours(const format &f, const vector<uint8_t> &blocks) {
    const string in = work + "/blocks", out = work + "/halves";
    FILE *file = fopen(in.c_str(), "wb");
    if (!file || fwrite(blocks.data(), 1, blocks.size(), file) != blocks.size())
        CHECK(false, "cannot write %s", in.c_str());
    if (file) fclose(file);
    const string command = qkgen + " run dequant --type f16 --target c --format " + f.name + " --in " + in + " --out " +
                           out + " > " + work + "/log 2>&1";
    const int status = system(command.c_str());
    CHECK(status == 0, "%s ends with %d", command.c_str(), status);
    bool found;
    const vector<uint8_t> bytes = read_bytes(out, &found);
    vector<uint16_t> r(bytes.size() / 2);
    if (!r.empty()) memcpy(r.data(), bytes.data(), r.size() * 2);
    return r;
}

static void dequant_one(qk_msl *file, const format &f, const char *source, const vector<uint8_t> &in) {
    vector<uint8_t> blocks = in;
    const size_t count = blocks.size() / f.bytes * f.elements;
    const string kernel = string("hf2q_dequant_") + f.name + "_to_f16";
    vector<uint16_t> theirs;
    for (const qk_msl_order order : orders) {
        vector<uint16_t> halves(count, 0xDEAD);
        uint32_t groups = uint32_t(count / 16);
        launch((groups + 255) / 256, 256)
            .order(order, 7)
            .value(0, groups)
            .add(1, blocks)
            .add(2, halves)
            .must(file, kernel.c_str());
        CHECK(theirs.empty() || theirs == halves, "%s depends on the order of threads", kernel.c_str());
        theirs = halves;
    }
    const vector<uint16_t> own = ours(f, blocks);
    CHECK(own.size() == count, "%s: %zu elements, not %zu", f.name, own.size(), count);
    if (own.size() != count) return;
    size_t differ = 0, explained = 0, nan_bits = 0, bad = 0;
    for (size_t i = 0; i < count; ++i) {
        if (own[i] == theirs[i]) continue;
        if (half_is_nan(own[i]) && half_is_nan(theirs[i])) {
            ++nan_bits;
            continue;
        }
        ++differ;
        const uint16_t model = f.model ? f.model(&blocks[i / f.elements * f.bytes], int(i % f.elements)) : own[i];
        if (model == theirs[i] || (half_is_nan(model) && half_is_nan(theirs[i])))
            ++explained;
        else if (++bad <= 5)
            printf("%s: element %zu: theirs %04x, ours %04x, model %04x\n", f.name, i, theirs[i], own[i], model);
    }
    printf("%-7s %-9s %7zu elements, %7zu differ, %7zu explained%s%s%s, %zu unexplained", f.name, source, count, differ,
           explained, explained ? " (" : "", explained ? f.reason : "", explained ? ")" : "", differ - explained);
    if (nan_bits) printf("; %zu NaN in both, with other bits", nan_bits);
    printf("\n");
    CHECK(differ == explained, "%s, %s blocks: %zu differences that nothing explains", f.name, source,
          differ - explained);
}

static void dequant() {
    qk_msl *file = open_file(seeds + "/dequant_to_f16.metal");
    CHECK(qk_msl_kernel_count(file) == 7, "seven kernels");
    for (const format &f : formats) {
        bool found;
        const vector<uint8_t> reference = read_bytes(vectors_folder + "/" + f.name + ".blocks", &found);
        if (found)
            dequant_one(file, f, "reference", reference);
        else
            printf("%-7s reference blocks: not in %s\n", f.name, vectors_folder.c_str());
        vector<uint8_t> random(131072 / f.elements * f.bytes);
        for (uint8_t &x : random) x = uint8_t(random64(&seed) >> 24);
        dequant_one(file, f, "random", random); // the scales, too: every exponent, infinities and NaNs
        for (size_t block = 0; block < random.size(); block += f.bytes)
            for (const size_t at : f.scales) { // small ones, subnormal and zero
                const uint16_t d = uint16_t((random64(&seed) & 0x8000) | (random64(&seed) % 0x1000));
                random[block + at] = uint8_t(d);
                random[block + at + 1] = uint8_t(d >> 8);
            }
        dequant_one(file, f, "small", random);
    }
    qk_msl_close(file);
}

// ---- gemv_q4_k: against double ----

static void gemv() {
    qk_msl *file = open_file(seeds + "/gemv_q4_k.metal");
    for (const int blocks_in_row : {1, 3}) {
        const int n = 9, k = 256 * blocks_in_row;
        vector<uint8_t> w(size_t(n) * size_t(blocks_in_row) * 144);
        for (uint8_t &x : w) x = uint8_t(random64(&seed) >> 24);
        for (size_t b = 0; b < w.size(); b += 144)
            for (const size_t at : {size_t(0), size_t(2)}) {
                const uint16_t d = to_half(double(random64(&seed) % 1000) / 100000);
                w[b + at] = uint8_t(d), w[b + at + 1] = uint8_t(d >> 8);
            }
        vector<float> a(static_cast<size_t>(k));
        for (float &x : a) x = float(double(random64(&seed) % 20001) / 10000 - 1);
        vector<double> want(n, 0);
        for (int row = 0; row < n; ++row)
            for (int i = 0; i < k; ++i) {
                const uint8_t *b = &w[size_t(row * blocks_in_row + i / 256) * 144], *s = b + 4;
                const int e = i % 256, j = e / 32;
                const int sc = j < 4 ? s[j] & 63 : (s[j + 4] & 15) | s[j - 4] >> 6 << 4,
                          mn = j < 4 ? s[j + 4] & 63 : s[j + 4] >> 4 | s[j] >> 6 << 4;
                const int q = b[16 + e / 64 * 32 + e % 32] >> (j % 2 * 4) & 15;
                want[size_t(row)] += double(a[size_t(i)]) *
                                     (double(half_value(load16(b))) * sc * q - double(half_value(load16(b + 2))) * mn);
            }
        double most = 0, error = 0;
        for (const qk_msl_order order : orders) {
            vector<float> c(static_cast<size_t>(n));
            int32_t p[2] = {n, k};
            launch(uint32_t(n) + 2, 32)
                .order(order, 3)
                .add(0, a)
                .add(1, w)
                .add(2, c)
                .value(3, p)
                .must(file, "gemv_f32a_q4kw");
            for (size_t i = 0; i < c.size(); ++i) {
                most = std::max(most, fabs(want[i]));
                error = std::max(error, fabs(double(c[i]) - want[i]));
            }
        }
        printf("gemv_f32a_q4kw %d x %d: %d sums, 3 orders, largest error %.2g of the largest\n", n, k, n, error / most);
        CHECK(error <= 1e-6 * most, "gemv_f32a_q4kw");
    }
    qk_msl_close(file);
}

// ---- qdq_affine: bit for bit, in the order of its own tree ----

static float tree(vector<float> v) {
    for (size_t stride = v.size() / 2; stride > 0; stride /= 2)
        for (size_t i = 0; i < stride; ++i) v[i] += v[i + stride];
    return v[0];
}

static void qdq() {
    qk_msl *file = open_file(seeds + "/qdq_affine.metal");
    for (const uint32_t size : {32u, 64u, 256u}) {
        const uint32_t groups = 6, bins = 16;
        const size_t n = size_t(groups) * size;
        vector<float> w(n), dy(n);
        for (size_t i = 0; i < n; ++i) {
            // Multiples of an eighth of a step: exact ties are there. One group is all the same.
            w[i] = float(int(random64(&seed) % 121)) / 8.0f;
            if (i / size == 2) w[i] = -3.25f;
            if (i / size == 4) w[i] = float(double(random64(&seed) % 100000) / 7777 - 5);
            dy[i] = float(double(random64(&seed) % 20001) / 9999 - 1);
        }
        for (uint32_t g : {0u, 1u, 3u, 5u}) w[g * size] = 0.0f, w[g * size + 1] = 15.0f;
        vector<float> s(groups), b(groups), y(n), ds(groups), db(groups);
        vector<uint8_t> q(n);
        size_t ties = 0;
        for (uint32_t g = 0; g < groups; ++g) {
            float lo = w[g * size], hi = lo;
            vector<float> products(size), sums(size);
            for (uint32_t i = 0; i < size; ++i) lo = std::min(lo, w[g * size + i]), hi = std::max(hi, w[g * size + i]);
            s[g] = (hi - lo) / float(bins - 1);
            if (!(s[g] > 0)) s[g] = 1;
            b[g] = lo;
            for (uint32_t i = 0; i < size; ++i) {
                const size_t at = g * size + i;
                const float z = (w[at] - b[g]) / s[g];
                ties += z - floorf(z) == 0.5f;
                int code = z >= 0 ? int(floorf(z + 0.5f)) : int(ceilf(z - 0.5f));
                q[at] = uint8_t(std::min(std::max(code, 0), int(bins) - 1));
                const float product = float(q[at]) * s[g];
                y[at] = product + b[g];
                products[i] = float(q[at]) * dy[at];
                sums[i] = dy[at];
            }
            ds[g] = tree(products);
            db[g] = tree(sums);
        }
        CHECK(ties >= 10, "the data holds ties: %zu", ties);
        for (const qk_msl_order order : orders) {
            vector<float> s2(groups), b2(groups), y2(n), ds2(groups), db2(groups);
            vector<uint8_t> q2(n);
            uint32_t meta[2] = {size, bins}, forward[2] = {uint32_t(n), size}, only[1] = {size};
            launch(groups, size)
                .order(order, 11)
                .add(0, w)
                .add(1, s2)
                .add(2, b2)
                .add(3, q2)
                .value(4, meta)
                .threadgroup(0, size * 8)
                .must(file, "qdq_affine_init_f32");
            launch(uint32_t(n + 255) / 256, 256)
                .order(order, 11)
                .add(0, q2)
                .add(1, s2)
                .add(2, b2)
                .add(3, y2)
                .value(4, forward)
                .must(file, "qdq_affine_forward_f32");
            launch(groups, size)
                .order(order, 11)
                .add(0, q2)
                .add(1, dy)
                .add(2, ds2)
                .value(3, only)
                .threadgroup(0, size * 4)
                .must(file, "qdq_affine_backward_scales_f32");
            launch(groups, size)
                .order(order, 11)
                .add(0, dy)
                .add(1, db2)
                .value(2, only)
                .threadgroup(0, size * 4)
                .must(file, "qdq_affine_backward_biases_f32");
            CHECK(s == s2 && b == b2 && q == q2, "qdq_affine_init_f32, groups of %u, %s", size, order_names[order]);
            CHECK(y == y2, "qdq_affine_forward_f32, groups of %u, %s", size, order_names[order]);
            CHECK(ds == ds2, "qdq_affine_backward_scales_f32, groups of %u, %s", size, order_names[order]);
            CHECK(db == db2, "qdq_affine_backward_biases_f32, groups of %u, %s", size, order_names[order]);
        }
        printf("qdq_affine, groups of %u: init, forward and both backward kernels equal the f32 model in all bits, %zu "
               "elements (%zu ties), 3 orders\n",
               size, n, ties);
    }
    qk_msl_close(file);

    // Its first barrier left out: found in every order; and without the checks, at least one order shows it.
    bool found;
    const vector<uint8_t> bytes = read_bytes(seeds + "/qdq_affine.metal", &found);
    string text(bytes.begin(), bytes.end());
    const size_t at = text.find("threadgroup_barrier(");
    CHECK(at != string::npos, "the file has a barrier");
    if (at == string::npos) return;
    const size_t end = text.find(';', at);
    for (size_t i = at; i < end; ++i) text[i] = ' ';
    string seen;
    for (const bool checked : {true, false}) {
        qk_msl_options options = {};
        if (!checked) options.skip = QK_MSL_NO_RACE_CHECK | QK_MSL_NO_UNINITIALISED_CHECK;
        qk_msl_error error;
        qk_msl *broken = qk_msl_open(text.data(), text.size(), "qdq_affine_without.metal", &options, &error);
        CHECK(broken, "%s", error.text);
        if (!broken) return;
        int wrong = 0;
        for (const qk_msl_order order : orders) {
            const uint32_t size = 64;
            vector<float> w(size), s(1), b(1);
            vector<uint8_t> q(size);
            for (uint32_t i = 0; i < size; ++i) w[i] = float(i);
            uint32_t meta[2] = {size, 16};
            launch l(1, size);
            const qk_msl_status status = l.order(order, 4)
                                             .add(0, w)
                                             .add(1, s)
                                             .add(2, b)
                                             .add(3, q)
                                             .value(4, meta)
                                             .threadgroup(0, size * 8)
                                             .run(broken, "qdq_affine_init_f32");
            if (checked) {
                CHECK(status == QK_MSL_ERROR_RACE || status == QK_MSL_ERROR_UNINITIALISED,
                      "without its first barrier, %s: %s", order_names[order], l.error.text);
            } else if (status != QK_MSL_OK || s[0] != 63.0f / 15.0f || b[0] != 0) {
                ++wrong;
                seen += string(" ") + order_names[order];
            }
        }
        if (!checked) {
            CHECK(wrong > 0, "without its first barrier some order must fail");
            printf("qdq_affine_init_f32 without its first barrier: reported in 3 of 3 orders; with the checks off, "
                   "wrong in:%s\n",
                   seen.c_str());
        }
        qk_msl_close(broken);
    }
}

// ---- qdq_affine against our kernels ----

struct qdq_data {
    vector<float> w, dy, s, b, y, ds, db;
    vector<uint8_t> q;
};

template <class T> static void write_file(const string &path, const vector<T> &data) {
    FILE *f = fopen(path.c_str(), "wb");
    CHECK(f && fwrite(data.data(), sizeof(T), data.size(), f) == data.size(), "cannot write %s", path.c_str());
    if (f) fclose(f);
}

template <class T> static void read_file(const string &path, vector<T> *data) {
    bool found;
    const vector<uint8_t> bytes = read_bytes(path, &found);
    CHECK(bytes.size() == data->size() * sizeof(T), "%s has %zu bytes", path.c_str(), bytes.size());
    if (bytes.size() == data->size() * sizeof(T)) memcpy(data->data(), bytes.data(), bytes.size());
}

// Groups of random weights, of quotients near k + 1/2, all equal, zeros of one sign, subnormals, and of tiny scales.
static void fill_group(float *w, uint32_t size, uint32_t bins, uint32_t kind) {
    const auto random = [] { return float(double(random64(&seed) % 2000001) / 1000000 - 1); };
    const float low = random(), high = low + ldexpf(1.5f + random() / 2, int(random64(&seed) % 20) - 10);
    for (uint32_t i = 0; i < size; ++i) {
        w[i] = low + (high - low) * (0.5f + random() / 2);
        if (kind % 3 == 1) {
            const uint32_t k = uint32_t(random64(&seed)) % (bins - 1), off = uint32_t(random64(&seed)) % 5;
            w[i] = low + (float(k) + 0.5f) * ((high - low) / float(bins - 1));
            uint32_t bits;
            memcpy(&bits, &w[i], 4);
            bits += off - 2;
            memcpy(&w[i], &bits, 4);
        }
        const float zeros[] = {0.0f, -0.0f};
        if (kind == 2) w[i] = high;
        if (kind == 5 || kind == 8) w[i] = zeros[kind == 8];
        if (kind == 11) w[i] = ldexpf(float(random64(&seed) % 8388608), -149) * (i % 2 ? 1.0f : -1.0f);
        if (kind == 14) w[i] = ldexpf(1 + float(random64(&seed) % 8388608) / 8388608, -120);
    }
    w[0] = kind % 3 == 1 ? low : w[0];
    w[size / 2] = kind % 3 == 1 ? high : w[size / 2];
}

static void seed_kernels(qk_msl *file, qdq_data *d, uint32_t size, uint32_t bins) {
    const uint32_t n = uint32_t(d->w.size()), groups = n / size;
    uint32_t meta[2] = {size, bins}, forward[2] = {n, size}, only[1] = {size};
    launch(groups, size)
        .add(0, d->w)
        .add(1, d->s)
        .add(2, d->b)
        .add(3, d->q)
        .value(4, meta)
        .threadgroup(0, size * 8)
        .must(file, "qdq_affine_init_f32");
    launch((n + 255) / 256, 256)
        .add(0, d->q)
        .add(1, d->s)
        .add(2, d->b)
        .add(3, d->y)
        .value(4, forward)
        .must(file, "qdq_affine_forward_f32");
    launch(groups, size)
        .add(0, d->q)
        .add(1, d->dy)
        .add(2, d->ds)
        .value(3, only)
        .threadgroup(0, size * 4)
        .must(file, "qdq_affine_backward_scales_f32");
    launch(groups, size)
        .add(0, d->dy)
        .add(1, d->db)
        .value(2, only)
        .threadgroup(0, size * 4)
        .must(file, "qdq_affine_backward_biases_f32");
}

static void run_ours(const string &family, const string &arguments, const char *target, uint32_t size) {
    const string command = qkgen + " run " + family + " --target " + target + " --group " + std::to_string(size) +
                           arguments + " > " + work + "/log 2>&1";
    const int status = system(command.c_str());
    CHECK(status == 0, "%s ends with %d", command.c_str(), status);
}

static void our_kernels(qdq_data *d, const char *target, uint32_t size, uint32_t bins) {
    const string f = work + "/qdq_";
    const string q = " --in q=" + f + "q", dy = " --in dy=" + f + "dy", pair = f + "s --in biases=" + f + "b";
    write_file(f + "w", d->w);
    write_file(f + "dy", d->dy);
    run_ours("qdq_init",
             " --bins " + std::to_string(bins) + " --in " + f + "w --out scales=" + f + "s --out biases=" + f +
                 "b --out q=" + f + "q",
             target, size);
    run_ours("qdq_forward", q + " --in scales=" + pair + " --out " + f + "y", target, size);
    run_ours("qdq_backward_scales", q + dy + " --out " + f + "ds", target, size);
    run_ours("qdq_backward_biases", dy + " --out " + f + "db", target, size);
    read_file(f + "s", &d->s), read_file(f + "b", &d->b), read_file(f + "q", &d->q), read_file(f + "y", &d->y);
    read_file(f + "ds", &d->ds), read_file(f + "db", &d->db);
}

static bool same_bits(const vector<float> &a, const vector<float> &b) {
    return a.size() == b.size() && memcmp(a.data(), b.data(), a.size() * 4) == 0;
}

struct sum_difference {
    double largest, error, norm;
    void add(const vector<float> &ours, const vector<float> &theirs) {
        for (size_t i = 0; i < ours.size(); ++i) {
            const double apart = fabs(double(ours[i]) - double(theirs[i]));
            if (apart > 0)
                largest = std::max(largest, apart / std::max(fabs(double(ours[i])), fabs(double(theirs[i]))));
            error += apart * apart;
            norm += double(theirs[i]) * double(theirs[i]);
        }
    }
    double relative() const { return sqrt(error / norm); }
};

static void qdq_ours() {
    qk_msl *file = open_file(seeds + "/qdq_affine.metal");
    for (const char *target : {"c", "vulkan", "msl"}) {
        sum_difference scales = {}, biases = {};
        size_t elements = 0, sums = 0;
        for (uint32_t size = 4; size <= 1024; size *= 2)
            for (const uint32_t bins : {2u, 3u, 16u, 256u}) {
                const uint32_t groups = 30, n = groups * size;
                qdq_data theirs;
                theirs.w.resize(n), theirs.dy.resize(n), theirs.y.resize(n), theirs.q.resize(n);
                theirs.s.resize(groups), theirs.b = theirs.ds = theirs.db = theirs.s;
                for (uint32_t g = 0; g < groups; ++g) fill_group(&theirs.w[g * size], size, bins, g % 15);
                for (float &x : theirs.dy) x = float(double(random64(&seed) % 2000001) / 1000000 - 1);
                qdq_data own = theirs;
                seed_kernels(file, &theirs, size, bins);
                our_kernels(&own, target, size, bins);
                CHECK(same_bits(own.s, theirs.s), "scales, groups of %u, %u bins, %s", size, bins, target);
                CHECK(same_bits(own.b, theirs.b), "biases, groups of %u, %u bins, %s", size, bins, target);
                CHECK(own.q == theirs.q, "codes, groups of %u, %u bins, %s", size, bins, target);
                CHECK(same_bits(own.y, theirs.y), "values, groups of %u, %u bins, %s", size, bins, target);
                scales.add(own.ds, theirs.ds);
                biases.add(own.db, theirs.db);
                elements += n;
                sums += groups;
            }
        CHECK(scales.relative() <= 4e-6 && biases.relative() <= 4e-6, "sums on %s", target);
        printf("qdq_affine and ours on %s: scales, biases, codes and values of %zu elements have the same bits; of %zu "
               "sums, "
               "d_scales differ by %.2g at most and %.2g in L2, d_biases by %.2g and %.2g\n",
               target, elements, sums, scales.largest, scales.relative(), biases.largest, biases.relative());
    }
    qk_msl_close(file);
}

// ---- quantized_matmul_id: bit for bit, in bf16 and f32 ----

static void matmul_id() {
    qk_msl *file = open_file(seeds + "/quantized_matmul_id.metal");
    for (const uint32_t bits : {4u, 6u, 8u}) {
        const uint32_t m = 3, k = 96, n = 5, group = 32, used = 2, experts = 4, row_bytes = k * bits / 8;
        vector<float> x(m * k);
        for (float &v : x) v = float(double(random64(&seed) % 20001) / 10000 - 1);
        vector<uint8_t> w(experts * n * row_bytes);
        for (uint8_t &v : w) v = uint8_t(random64(&seed) >> 24);
        vector<uint16_t> s(experts * n * (k / group)), b(s.size());
        for (size_t i = 0; i < s.size(); ++i) {
            s[i] = to_bfloat(float(double(random64(&seed) % 1000) / 50000));
            b[i] = to_bfloat(float(double(random64(&seed) % 1000) / 5000 - 0.1));
        }
        vector<uint32_t> ids = {0, 3, 2, experts, 1, 0}; // one of them is no expert
        struct {
            uint32_t v[10];
        } p = {{m, k, n, group, bits, used, experts, n * row_bytes, n * (k / group), n * (k / group)}};
        vector<float> want(m * used * n, -7.0f);
        for (uint32_t t = 0; t < m * used; ++t) {
            if (ids[t] >= experts) continue;
            for (uint32_t c = 0; c < n; ++c) {
                const uint8_t *row = &w[(ids[t] * n + c) * row_bytes];
                float acc = 0;
                for (uint32_t i = 0; i < k; ++i) {
                    uint32_t code = 0;
                    for (uint32_t z = 0; z < bits; ++z)
                        code |= uint32_t(row[(i * bits + z) / 8] >> ((i * bits + z) % 8) & 1) << z;
                    const size_t g = (ids[t] * n + c) * (k / group) + i / group;
                    const float product =
                        bfloat_value(to_bfloat(bfloat_value(to_bfloat(float(code))) * bfloat_value(s[g])));
                    const float value = bfloat_value(to_bfloat(product + bfloat_value(b[g])));
                    const float term = value * bfloat_value(to_bfloat(x[t / used * k + i]));
                    acc += term;
                }
                want[t * n + c] = acc;
            }
        }
        for (const qk_msl_order order : orders) {
            vector<float> out(want.size(), -7.0f);
            launch l;
            l.what.threads[0] = n;
            l.what.threads[1] = m * used;
            l.what.threads[2] = 1;
            l.what.group[0] = 4;
            l.what.group[1] = 4;
            l.order(order, 13).add(0, x).add(1, w).add(2, s).add(3, b).add(4, ids).add(5, out).value(6, p).must(
                file, "quantized_matmul_id");
            CHECK(memcmp(out.data(), want.data(), out.size() * 4) == 0, "quantized_matmul_id, %u bits, %s", bits,
                  order_names[order]);
        }
        printf("quantized_matmul_id, %u bits: %zu sums equal the bf16 and f32 model in all bits, 3 orders\n", bits,
               want.size());
    }
    qk_msl_close(file);
}

// ---- gemv_q4_k and quantized_matmul_id against our kernels, all of them run here ----

// One sum in double, and how far another may be from it that is made with f32 operations in any order.
struct sum {
    double value = 0, magnitude = 0, squares = 0;
    size_t terms = 0;
    void add(double w, double x) {
        value += w * x;
        magnitude += fabs(w * x);
        squares += w * x * (w * x);
        ++terms;
    }
    // Each term takes part in one product and in at most `terms` additions, whatever their order.
    double bound() const {
        const double e = double(terms + 1) * ldexp(1, -24);
        return e / (1 - e) * magnitude;
    }
};

// How far two sums are apart where the sum in double is known: at most, and in L2. What that is relative to is what sums of
// such products are with random signs, where these few are less: docs/error-bounds.md.
struct gap {
    double most = 0, square = 0, want_most = 0, want_square = 0, size = 0;
    void add(double a, double b, const sum &want) {
        most = std::max(most, fabs(a - b));
        square += (a - b) * (a - b);
        want_most = std::max(want_most, fabs(want.value));
        want_square += want.value * want.value;
        size += std::max(want.value * want.value, want.squares);
    }
    double largest() const { return most / want_most; }
    double l2() const { return sqrt(square / size); }
    double left() const { return sqrt(want_square / size); } // of what random signs give; 1: as much, or more
};

// Half of what the class `exact` has in L2 against double.
static const double class_exact = 1e-6;

static void print_head() {
    printf("%-38s %-29s %-19s %-19s %-19s %-40s %s\n", "largest of the largest sum, and L2", "data", "ours - double",
           "theirs - double", "ours - theirs", "theirs - double sums of its own weights", "left of sums");
}

static void print_gaps(const string &what, const char *data, const gap &ours, const gap &theirs, const gap &between,
                       const gap &own) {
    printf("%-38s %-29s %.2e, %.2e  %.2e, %.2e  %.2e, %.2e  %.2e, %-30.2e %.2f\n", what.c_str(), data, ours.largest(),
           ours.l2(), theirs.largest(), theirs.l2(), between.largest(), between.l2(), own.largest(), own.l2(),
           ours.left());
}

// Our kernel on the files sums_x, and what else the arguments name.
static bool run_sums(const string &arguments, vector<float> *y) {
    const string out = work + "/sums_y", command = qkgen + " run " + arguments + " --target msl --type f32 --x " +
                                                   work + "/sums_x --out " + out + " > " + work + "/log 2>&1";
    remove(out.c_str());
    const int status = system(command.c_str());
    CHECK(status == 0, "%s ends with %d", command.c_str(), status);
    if (status == 0) read_file(out, y);
    return status == 0;
}

// f32, each operation rounded: the value of both kernels. What ours adds up is as large as the magnitude.
static float value_q4_K(const uint8_t *block, int e, double *magnitude) {
    const uint8_t *s = block + 4;
    const int j = e / 32, q = block[16 + e / 64 * 32 + e % 32] >> (j % 2 * 4) & 15;
    const int sc = j < 4 ? s[j] & 63 : (s[j + 4] & 15) | s[j - 4] >> 6 << 4,
              mn = j < 4 ? s[j + 4] & 63 : s[j + 4] >> 4 | s[j] >> 6 << 4;
    const float scale = half_value(load16(block)) * float(sc), low = half_value(load16(block + 2)) * float(mn),
                product = scale * float(q);
    *magnitude = fabs(double(product)) + fabs(double(low));
    return product - low;
}

static vector<float> normal_ones(size_t count) {
    vector<float> r(count);
    for (float &x : r) {
        double all = 0;
        for (int i = 0; i < 12; ++i) all += double(random64(&seed) >> 11) * ldexp(1, -53);
        x = float(all - 6);
    }
    return r;
}

static void gemv_one(qk_msl *file, int rows, int cols, const vector<uint8_t> &blocks, const char *data) {
    vector<uint8_t> w(size_t(rows) * size_t(cols) / 256 * 144);
    for (size_t i = 0; i < w.size(); ++i) { // rows begin with different blocks
        const size_t block = i / 144, row = block / (size_t(cols) / 256);
        w[i] = blocks[(block + row) * 144 % blocks.size() + i % 144];
    }
    vector<float> x = normal_ones(size_t(cols)), theirs(static_cast<size_t>(rows)), ours(theirs.size());
    int32_t shape[2] = {rows, cols};
    launch(uint32_t(rows), 32).add(0, x).add(1, w).add(2, theirs).value(3, shape).must(file, "gemv_f32a_q4kw");
    write_file(work + "/sums_x", x);
    write_file(work + "/sums_w", w);
    const string sizes = " --rows " + std::to_string(rows) + " --cols " + std::to_string(cols);
    if (!run_sums("gemv --format q4_K --in " + work + "/sums_w" + sizes, &ours)) return;
    gap own, their, between;
    const double eps = (126 + 3 * double(cols) / (8 * 16)) * ldexp(1, -24); // docs/error-bounds.md, by its descriptor
    for (size_t n = 0; n < ours.size(); ++n) {
        sum want;
        double all = 0;
        for (size_t k = 0; k < size_t(cols); ++k) {
            double magnitude;
            want.add(value_q4_K(&w[(n * size_t(cols) + k) / 256 * 144], int(k % 256), &magnitude), x[k]);
            all += magnitude * fabs(x[k]);
        }
        CHECK(fabs(ours[n] - want.value) <= eps * all, "our gemv of q4_K, row %zu of %d x %d", n, rows, cols);
        own.add(ours[n], want.value, want);
        their.add(theirs[n], want.value, want);
        between.add(ours[n], theirs[n], want);
        CHECK(fabs(theirs[n] - want.value) <= want.bound(), "gemv_f32a_q4kw, row %zu of %d x %d", n, rows, cols);
    }
    CHECK(own.l2() <= class_exact, "our gemv of q4_K, %d x %d, %s: %.3g", rows, cols, data, own.l2());
    CHECK(between.l2() <= 2 * class_exact, "both gemv of q4_K, %d x %d, %s: %.3g", rows, cols, data, between.l2());
    print_gaps("gemv q4_K " + std::to_string(rows) + " x " + std::to_string(cols), data, own, their, between, their);
}

static void gemv_ours() {
    qk_msl *file = open_file(seeds + "/gemv_q4_k.metal");
    bool found;
    const vector<uint8_t> reference = read_bytes(vectors_folder + "/q4_K.blocks", &found);
    if (!found) printf("q4_K    reference blocks: not in %s\n", vectors_folder.c_str());
    vector<uint8_t> random(144 * 4096);
    for (uint8_t &b : random) b = uint8_t(random64(&seed) >> 24);
    for (size_t b = 0; b < random.size(); b += 144)
        for (const size_t at : {size_t(0), size_t(2)}) {
            const uint16_t d = to_half(double(random64(&seed) % 1000) / 100000);
            random[b + at] = uint8_t(d), random[b + at + 1] = uint8_t(d >> 8);
        }
    const int shapes[][2] = {{9, 256}, {1, 512}, {67, 768}, {300, 1024}, {16, 4096}, {3, 16384}};
    for (const auto &s : shapes) {
        gemv_one(file, s[0], s[1], random, "random blocks");
        if (found) gemv_one(file, s[0], s[1], reference, "reference blocks");
    }
    qk_msl_close(file);
}

// What the weights and right-hand sides of the experts are.
enum id_data {
    EXACT,    // scales are powers of two and biases multiples of them: no operation in bf16 rounds; x is in bf16
    BFLOAT_X, // x is in bf16, weights are not exact in bf16
    ANY
};
static const char *const id_data_names[] = {"bf16 holds weights and x", "bf16 holds x", "any"};

static float rounded_bfloat(float x) { return bfloat_value(to_bfloat(x)); }

static string format_of(uint32_t bits, uint32_t group) {
    return "affine_b" + std::to_string(bits) + "_g" + std::to_string(group) + "_bf16";
}

// The files of a run of our kernel; the arguments that name them.
static string write_experts(uint32_t bits, uint32_t group, const vector<float> &x, const vector<uint8_t> &w,
                            const vector<uint16_t> &s, const vector<uint16_t> &b, const vector<uint32_t> &ids) {
    const string f = work + "/sums_";
    write_file(f + "x", x), write_file(f + "w", w), write_file(f + "ids", ids);
    write_file(f + "s", s), write_file(f + "b", b);
    return "gemv_id --format " + format_of(bits, group) + " --in weight=" + f + "w --in scales=" + f +
           "s --in biases=" + f + "b --ids " + f + "ids";
}

static void id_one(qk_msl *file, uint32_t bits, uint32_t group, id_data data) {
    const uint32_t tokens = 3, slots = 2, experts = 4, rows = 37, cols = 8 * group, groups = cols / group;
    const uint32_t row_bytes = cols * bits / 8;
    vector<uint8_t> w(size_t(experts) * rows * row_bytes);
    for (uint8_t &b : w) b = uint8_t(random64(&seed) >> 24);
    vector<uint16_t> s(size_t(experts) * rows * groups), b(s.size());
    for (size_t i = 0; i < s.size(); ++i) {
        const float step = data == EXACT ? ldexpf(1, -int(random64(&seed) % 6) - 4)
                                         : float(double(random64(&seed) % 1000 + 1) / 50000);
        const float low = -step * float(1u << (bits - 1));
        s[i] = to_bfloat(step);
        b[i] = to_bfloat(data == EXACT ? low : low * (0.5f + float(random64(&seed) % 1000) / 1000));
    }
    vector<float> x = normal_ones(tokens * cols);
    if (data != ANY)
        for (float &v : x) v = rounded_bfloat(v);
    vector<uint32_t> ids = {0, 3, 2, experts, 1, 0}; // one of them is no expert
    uint32_t p[10] = {tokens, cols, rows, group, bits, slots, experts, rows * row_bytes, rows * groups, rows * groups};
    vector<float> theirs(tokens * slots * rows, -7.0f), ours(theirs.size());
    launch l;
    l.what.threads[0] = rows, l.what.threads[1] = tokens * slots, l.what.threads[2] = 1;
    l.what.group[0] = l.what.group[1] = 8;
    l.add(0, x).add(1, w).add(2, s).add(3, b).add(4, ids).add(5, theirs).value(6, p).must(file, "quantized_matmul_id");
    const string run = write_experts(bits, group, x, w, s, b, ids);
    const string shape = " --rows 37 --experts 4 --tokens 3 --slots 2 --cols " + std::to_string(cols);
    vector<float> narrow_ours(ours.size());
    if (!run_sums(run + shape, &ours) || !run_sums(run + shape + " --decode-math bf16", &narrow_ours)) return;
    const string format = format_of(bits, group);
    gap narrow_own, narrow_between;
    gap own, their, between, their_own;
    for (size_t i = 0; i < ours.size(); ++i) {
        const size_t pair = i / rows, row = ids[pair] * size_t(rows) + i % rows;
        if (ids[pair] >= experts) { // theirs leaves the results as they are
            CHECK(ours[i] == 0 && theirs[i] == -7.0f, "%s, id out of range: %g and %g", format.c_str(), ours[i],
                  theirs[i]);
            continue;
        }
        sum want, narrow;
        double rounding = 0; // of bf16 operations: q * s, + b, and x
        for (uint32_t k = 0; k < cols; ++k) {
            uint32_t code = 0;
            for (uint32_t z = 0; z < bits; ++z)
                code |= uint32_t(w[row * row_bytes + (k * bits + z) / 8] >> ((k * bits + z) % 8) & 1) << z;
            const float scale = bfloat_value(s[row * groups + k / group]),
                        bias = bfloat_value(b[row * groups + k / group]);
            const float product = float(code) * scale, value = product + bias, v = x[pair / slots * cols + k];
            const float their_product = rounded_bfloat(product), their_value = rounded_bfloat(their_product + bias);
            want.add(value, v);
            narrow.add(their_value, rounded_bfloat(v));
            const double u = ldexp(1, -8), off = u * fabs(double(product)),
                         in_w = off + u * (fabs(double(value)) + off);
            rounding += in_w * fabs(double(v)) * (1 + u) + fabs(double(value) * v) * u;
        }
        own.add(ours[i], want.value, want);
        their.add(theirs[i], want.value, want);
        between.add(ours[i], theirs[i], want);
        their_own.add(theirs[i], narrow.value, narrow);
        narrow_own.add(narrow_ours[i], narrow.value, narrow);
        narrow_between.add(narrow_ours[i], theirs[i], narrow);
        CHECK(fabs(theirs[i] - narrow.value) <= narrow.bound(), "quantized_matmul_id, %s, sum %zu", format.c_str(), i);
        CHECK(fabs(theirs[i] - want.value) <= rounding + narrow.bound() + want.bound(),
              "quantized_matmul_id, %s, sum %zu", format.c_str(), i);
        if (data == EXACT)
            CHECK(narrow.value == want.value, "%s, sum %zu: bf16 rounds what it must hold", format.c_str(), i);
    }
    CHECK(own.l2() <= class_exact, "our gemv_id of %s, %s: %.3g", format.c_str(), id_data_names[data], own.l2());
    // Theirs adds f32 products as ours does, so that only its operations in bf16 may tell them apart.
    CHECK(their_own.l2() <= class_exact, "quantized_matmul_id, %s: %.3g", format.c_str(), their_own.l2());
    if (data == EXACT) CHECK(between.l2() <= 2 * class_exact, "both gemv_id of %s: %.3g", format.c_str(), between.l2());
    if (data != ANY) { // ours does not round x
        CHECK(narrow_own.l2() <= class_exact, "our gemv_id of %s in bf16: %.3g", format.c_str(), narrow_own.l2());
        CHECK(narrow_between.l2() <= 2 * class_exact, "both gemv_id of %s in bf16: %.3g", format.c_str(),
              narrow_between.l2());
    }
    print_gaps("gemv_id " + format, id_data_names[data], own, their, between, their_own);
    if (data == BFLOAT_X)
        print_gaps("gemv_id " + format + " in bf16", id_data_names[data], narrow_own, their_own, narrow_between,
                   their_own);
}

// Right-hand sides that choose single weights: both kernels decode to the same bits when ours rounds to bf16.
static void id_weights(qk_msl *file, uint32_t bits, uint32_t group) {
    const uint32_t cols = 2 * group, tokens = cols, experts = 3, rows = 23, groups = cols / group;
    const uint32_t row_bytes = cols * bits / 8;
    vector<uint8_t> w(size_t(experts) * rows * row_bytes);
    for (uint8_t &b : w) b = uint8_t(random64(&seed) >> 24);
    vector<uint16_t> s(size_t(experts) * rows * groups), b(s.size());
    for (size_t i = 0; i < s.size(); ++i) { // any number between 2^-16 and 2^15, of either sign
        s[i] = uint16_t((random64(&seed) & 0x8000) | (111 + random64(&seed) % 31) << 7 | (random64(&seed) & 127));
        const uint64_t near = (s[i] >> 7 & 255) + random64(&seed) % 12;
        b[i] = uint16_t((random64(&seed) & 0x8000) | near << 7 | (random64(&seed) & 127));
    }
    vector<float> x(size_t(tokens) * cols);
    for (uint32_t t = 0; t < tokens; ++t) x[t * cols + t] = 1;
    vector<uint32_t> ids(tokens * experts);
    for (uint32_t i = 0; i < ids.size(); ++i) ids[i] = i % experts;
    vector<float> theirs(ids.size() * rows, -7.0f), ours(theirs.size()), wide(theirs.size());
    uint32_t p[10] = {tokens,           cols,          rows,         group, bits, experts, experts,
                      rows * row_bytes, rows * groups, rows * groups};
    launch l;
    l.what.threads[0] = rows, l.what.threads[1] = uint32_t(ids.size()), l.what.threads[2] = 1;
    l.what.group[0] = l.what.group[1] = 8;
    l.add(0, x).add(1, w).add(2, s).add(3, b).add(4, ids).add(5, theirs).value(6, p).must(file, "quantized_matmul_id");
    const string format = write_experts(bits, group, x, w, s, b, ids);
    const string shape = " --rows " + std::to_string(rows) + " --cols " + std::to_string(cols) +
                         " --experts 3 --slots 3 --tokens " + std::to_string(tokens);
    if (!run_sums(format + shape + " --decode-math bf16", &ours) || !run_sums(format + shape, &wide)) return;
    size_t differ = 0;
    for (size_t i = 0; i < ours.size(); ++i) differ += wide[i] != theirs[i];
    CHECK(same_bits(ours, theirs), "%u bits, groups of %u: weights in bf16", bits, group);
    CHECK(differ > ours.size() / 4, "%u bits, groups of %u: the data shows no rounding: %zu", bits, group, differ);
    printf("%u bits, groups of %u: %zu weights in bf16 have the same bits; %zu of them are others in f32\n", bits,
           group, ours.size(), differ);
}

static void id_ours() {
    qk_msl *file = open_file(seeds + "/quantized_matmul_id.metal");
    for (const uint32_t bits : {4u, 6u, 8u})
        for (const uint32_t group : {32u, 64u, 128u})
            for (const id_data data : {EXACT, BFLOAT_X, ANY}) id_one(file, bits, group, data);
    for (const uint32_t bits : {4u, 6u, 8u})
        for (const uint32_t group : {32u, 64u, 128u}) id_weights(file, bits, group);
    qk_msl_close(file);
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: seeds_test METAL_FOLDER BLOCKS_FOLDER QKGEN WORK_FOLDER\n");
        return 2;
    }
    seeds = argv[1];
    vectors_folder = argv[2];
    qkgen = argv[3];
    work = argv[4];
    dequant();
    gemv();
    qdq();
    qdq_ours();
    matmul_id();
    print_head();
    gemv_ours();
    id_ours();
    return finish("seeds");
}
