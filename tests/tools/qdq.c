/* qdq: data for the kernels with trainable scales and biases, and what must come out of it. Written from the formulas, and
 * shares nothing with what qkgen generates.
 *
 *   qdq weights GROUP BINS GROUPS SEED W     f32: groups of every kind that is hard, one after the other
 *   qdq numbers COUNT SEED DY                f32 in (-1, 1)
 *   qdq init GROUP BINS W SCALES BIASES Q    compares bit for bit; NaN equals NaN
 *   qdq forward GROUP Q SCALES BIASES Y      likewise
 *   qdq scales GROUP Q DY SUMS               compares with float64: a relative L2 error of at most 2e-6
 *   qdq biases GROUP DY SUMS                 likewise */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t next(void) {
    uint64_t x = (state += 0x9E3779B97F4A7C15u);
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static float uniform(void) { return (float)((double)(next() >> 11) / 4503599627370496.0 - 1.0); }

static float of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void *read_all(const char *path, size_t item, size_t *count) {
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
    void *data = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (!data || fseek(file, 0, SEEK_SET) != 0 || fread(data, 1, (size_t)size, file) != (size_t)size ||
        (size_t)size % item) {
        fprintf(stderr, "qdq: cannot read %s\n", path);
        exit(2);
    }
    fclose(file);
    *count = (size_t)size / item;
    return data;
}

static void write_all(const char *path, const void *data, size_t bytes) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) {
        fprintf(stderr, "qdq: cannot write %s\n", path);
        exit(2);
    }
}

/* ---- weights ---- */

/* Quotients within a few units of k + 1/2, for a range of any size. */
static void near_halves(float *w, uint32_t group, uint32_t bins) {
    const float low = uniform() * 8, range = ldexpf(1 + fabsf(uniform()), (int)(next() % 40) - 20);
    const float scale = ((low + range) - low) / (float)(bins - 1);
    for (uint32_t i = 0; i < group; ++i) {
        const float half = low + ((float)(next() % (bins - 1)) + 0.5f) * scale;
        w[i] = of_bits(bits_of(half) + (uint32_t)(next() % 5) - 2);
        if (!(w[i] >= low && w[i] <= low + range)) w[i] = low;
    }
    w[next() % (group / 2)] = low;
    w[group / 2 + next() % (group / 2)] = low + range;
}

/* All from `low` to `high`, which both occur. */
static void between(float *w, uint32_t group, float low, float high) {
    for (uint32_t i = 0; i < group; ++i) w[i] = low + (high - low) * 0.5f * (1 + uniform());
    w[0] = high;
    w[group - 1] = low;
}

static void fill_bits(float *w, uint32_t group, uint32_t mask, uint32_t base) {
    for (uint32_t i = 0; i < group; ++i) w[i] = of_bits(base + ((uint32_t)(next() >> 20) & mask));
}

static void sprinkle(float *w, uint32_t group, float x, uint32_t most) {
    for (uint32_t i = 0; i < most; ++i) w[next() % group] = x;
}

enum { KINDS = 22 };

static void fill_group(float *w, uint32_t group, uint32_t bins, uint32_t kind) {
    const float zeros[2] = {0.0f, -0.0f};
    between(w, group, -1 - fabsf(uniform()), 1);
    switch (kind) {
    case 0: break;
    case 1: /* ties, all exact */
        for (uint32_t i = 0; i < group; ++i) w[i] = (float)(next() % (2 * bins - 1)) * 0.5f;
        w[1] = 0;
        w[2] = (float)(bins - 1);
        break;
    case 2:
    case 3:
    case 4: near_halves(w, group, bins); break;
    case 5: between(w, group, 2.5f, 2.5f); break;
    case 6: memset(w, 0, group * sizeof *w); break;
    case 7:
    case 8:
        for (uint32_t i = 0; i < group; ++i) w[i] = zeros[kind == 7 || (i > 0 && next() % 2)];
        if (kind == 8) w[group / 2] = -0.0f;
        break;
    case 9: /* subnormals of both signs */
        for (uint32_t i = 0; i < group; ++i) w[i] = of_bits((uint32_t)(next() >> 20) & 0x807FFFFFu);
        break;
    case 10: fill_bits(w, group, 0x1FF, 0x007FFF00u); break; /* across the least normal number */
    case 11:                                                 /* scales of no unit or of one: codes are cut off */
        for (uint32_t i = 0; i < group; ++i) w[i] = of_bits((uint32_t)(next() >> 20) % (bins + bins / 3));
        break;
    case 12: fill_bits(w, group, 0x7FFF, 0x80000000u); break;
    case 13: between(w, group, ldexpf(1.1f, -122), ldexpf(1.9f, -121)); break;
    case 14: between(w, group, -3.3e38f, 3.3e38f); break; /* the range overflows */
    case 15: between(w, group, -1.6e38f, 1.7e38f); break; /* and here it does not */
    case 16: sprinkle(w, group, INFINITY, 2); break;
    case 17: sprinkle(w, group, -INFINITY, 2); break;
    case 18:
        w[0] = INFINITY;
        w[1] = -INFINITY;
        break;
    case 19: sprinkle(w, group, of_bits(next() % 2 ? 0x7FC12345u : 0xFFC12345u), group / 2); break;
    case 20: between(w, group, NAN, NAN); break;
    case 21: fill_bits(w, group, 0xFFFFFFFFu, 0); break; /* anything */
    default: break;
    }
}

static int weights(char **a) {
    const uint32_t group = (uint32_t)atoi(a[0]), bins = (uint32_t)atoi(a[1]), groups = (uint32_t)atoi(a[2]);
    float *w = malloc(((size_t)groups * group + 1) * sizeof *w);
    state = strtoull(a[3], NULL, 0);
    if (!w) return 2;
    for (uint32_t g = 0; g < groups; ++g) fill_group(w + (size_t)g * group, group, bins, g % KINDS);
    write_all(a[4], w, (size_t)groups * group * sizeof *w);
    free(w);
    return 0;
}

static int numbers(char **a) {
    const size_t count = (size_t)atoll(a[0]);
    float *x = malloc((count + 1) * sizeof *x);
    state = strtoull(a[1], NULL, 0);
    if (!x) return 2;
    for (size_t i = 0; i < count; ++i) x[i] = uniform();
    write_all(a[2], x, count * sizeof *x);
    free(x);
    return 0;
}

/* ---- what must come out ---- */

static int same(float a, float b) { return bits_of(a) == bits_of(b) || (isnan(a) && isnan(b)); }

static uint64_t differing, compared;

static void compare(const char *what, size_t at, float is, float must) {
    compared += 1;
    if (same(is, must)) return;
    if (++differing <= 8)
        printf("%s[%zu] is %a (%08" PRIX32 "), must be %a (%08" PRIX32 ")\n", what, at, (double)is, bits_of(is),
               (double)must, bits_of(must));
}

static int count_differing(void) {
    printf("%" PRIu64 " of %" PRIu64 " differ\n", differing, compared);
    return differing != 0;
}

/* -0 is below +0; NaNs are no numbers. */
static int below(float a, float b) { return a < b || (a == b && signbit(a) && !signbit(b)); }

static int init(char **a) {
    const size_t group = (size_t)atoi(a[0]);
    const int bins = atoi(a[1]);
    size_t n, n_s, n_b, n_q;
    const float *w = read_all(a[2], 4, &n), *s = read_all(a[3], 4, &n_s), *b = read_all(a[4], 4, &n_b);
    const uint8_t *q = read_all(a[5], 1, &n_q);
    if (n % group || n_s != n / group || n_b != n_s || n_q != n) return printf("wrong sizes\n"), 1;
    for (size_t g = 0; g < n_s; ++g, w += group, q += group) {
        float least = NAN, most = NAN;
        for (size_t i = 0; i < group; ++i) {
            if (!isnan(w[i]) && (isnan(least) || below(w[i], least))) least = w[i];
            if (!isnan(w[i]) && (isnan(most) || below(most, w[i]))) most = w[i];
        }
        volatile float range = most - least, scale = range / (float)(bins - 1);
        if (!(scale > 0)) scale = 1;
        compare("scales", g, s[g], scale);
        compare("biases", g, b[g], least);
        for (size_t i = 0; i < group; ++i) {
            volatile float above = w[i] - least, z = above / scale;
            volatile float rounded = z >= 0 ? floorf(z + 0.5f) : ceilf(z - 0.5f);
            const float code = isnan(z) ? 0 : fminf(fmaxf(rounded, 0), (float)(bins - 1));
            compare("q", g * group + i, (float)q[i], code);
        }
    }
    return count_differing();
}

static int forward(char **a) {
    const size_t group = (size_t)atoi(a[0]);
    size_t n, n_s, n_b, n_y;
    const uint8_t *q = read_all(a[1], 1, &n);
    const float *s = read_all(a[2], 4, &n_s), *b = read_all(a[3], 4, &n_b), *y = read_all(a[4], 4, &n_y);
    if (n % group || n_s != n / group || n_b != n_s || n_y != n) return printf("wrong sizes\n"), 1;
    for (size_t i = 0; i < n; ++i) {
        volatile float product = (float)q[i] * s[i / group], value = product + b[i / group];
        compare("y", i, y[i], value);
    }
    return count_differing();
}

static int sums(size_t group, const uint8_t *q, size_t n_q, const char *dy_path, const char *sums_path) {
    size_t n, n_sums;
    const float *dy = read_all(dy_path, 4, &n), *is = read_all(sums_path, 4, &n_sums);
    double error = 0, norm = 0;
    if (n % group || n_sums != n / group || (q && n_q != n)) return printf("wrong sizes\n"), 1;
    for (size_t g = 0; g < n_sums; ++g) {
        double sum = 0;
        for (size_t i = g * group; i < (g + 1) * group; ++i) sum += (q ? (double)q[i] : 1) * (double)dy[i];
        error += ((double)is[g] - sum) * ((double)is[g] - sum);
        norm += sum * sum;
    }
    const double relative = norm > 0 ? sqrt(error / norm) : sqrt(error);
    printf("%zu sums of %zu: relative L2 error %.3g\n", n_sums, group, relative);
    return !(relative <= 2e-6);
}

int main(int argc, char **argv) {
    const char *command = argc > 1 ? argv[1] : "";
    char **a = argv + 2;
    if (argc == 7 && strcmp(command, "weights") == 0) return weights(a);
    if (argc == 5 && strcmp(command, "numbers") == 0) return numbers(a);
    if (argc == 8 && strcmp(command, "init") == 0) return init(a);
    if (argc == 7 && strcmp(command, "forward") == 0) return forward(a);
    if (argc == 6 && strcmp(command, "scales") == 0) {
        size_t n;
        const uint8_t *q = read_all(a[1], 1, &n);
        return sums((size_t)atoi(a[0]), q, n, a[2], a[3]);
    }
    if (argc == 5 && strcmp(command, "biases") == 0) return sums((size_t)atoi(a[0]), NULL, 0, a[1], a[2]);
    fprintf(stderr, "qdq: see the top of its source\n");
    return 2;
}
