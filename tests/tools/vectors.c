/* Reference arithmetic on raw arrays for the scripts. It shares nothing with the generator: numbers are rounded in exact
 * double arithmetic, and decoders of invented formats are loops written from their description.
 *
 *   vectors round f32|f16|bf16 IN OUT           f32 numbers, rounded once to nearest even
 *   vectors widen f16|bf16 IN OUT               the same numbers as f32
 *   vectors same f32|f16|bf16 FILE FILE         equal bit for bit, but that any NaN equals any NaN
 *   vectors rows BYTES IN INDICES OUT           rows of BYTES by u32 index; zeros for one that is out of range
 *   vectors u32 NUMBER...                       to standard output
 *   vectors random SEED BYTES                   to standard output
 *   vectors halves                              every number of 16 bits, to standard output
 *   vectors ties                                f32 at, halfway between, and beside all f16 and all bf16 numbers
 *   vectors normal SEED COUNT                   f32, normally distributed, to standard output
 *   vectors product W X COLS OUT                f64: y[m][n] = sum over k of W[n][k] * X[m][k], both f32
 *   vectors experts W X IDS ROWS COLS OUT       f64: rows of the experts that the ids name, times the token's row of X
 *                                               (both: then the squares of the products, summed up likewise)
 *   vectors near BOUND GOT EXPECTED             f32 and f64: prints the relative L2 error, at most BOUND; what is expected not
 *                                               to be finite, or beyond f32, is not looked at
 *   vectors near_random BOUND GOT EXPECTED      the same, but relative at least to what sums of such products with random
 *                                               signs would be: a few sums may cancel by chance
 *   vectors absolute IN OUT                     f32 without signs
 *   vectors scaled BOUND GOT EXPECTED SIZES     f32, f64, f64: each error relative to the size, the sum of the magnitudes of
 *                                               its terms; prints the root of their mean square, at most BOUND
 *   vectors awkward | scattered | odd IN OUT    the decoders of the formats in new_format.sh, to f32
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    unsigned char *data;
    size_t length;
} bytes;

static void die(const char *what, const char *path) {
    fprintf(stderr, "vectors: %s %s\n", what, path);
    exit(2);
}

static bytes read_all(const char *path) {
    bytes b = {malloc(1), 0};
    FILE *file = fopen(path, "rb");
    if (!file || !b.data) die("cannot read", path);
    for (size_t got = 1, room = 1 << 16; got; b.length += got) {
        while (room < b.length + 65536) room *= 2;
        b.data = realloc(b.data, room);
        if (!b.data) die("no memory for", path);
        got = fread(b.data + b.length, 1, room - b.length, file);
    }
    if (ferror(file)) die("cannot read", path);
    fclose(file);
    return b;
}

static void write_all(const char *path, const void *data, size_t length) {
    FILE *file = path ? fopen(path, "wb") : stdout;
    if (!file || fwrite(data, 1, length, file) != length || fclose(file) != 0) die("cannot write", path ? path : "");
}

static uint32_t load(const unsigned char *at, size_t n) {
    uint32_t value = 0;
    for (size_t i = n; i-- > 0;) value = value << 8 | at[i];
    return value;
}

static void store(unsigned char *at, uint32_t value, size_t n) {
    for (size_t i = 0; i < n; ++i) at[i] = (unsigned char)(value >> 8 * i);
}

/* ---- small floats, in exact double arithmetic ---- */

typedef struct kind {
    const char *name;
    int mantissa, least; /* stored bits; exponent of the smallest normal number */
    size_t bytes;
} kind;

static const kind kinds[] = {{"f32", 23, -126, 4}, {"f16", 10, -14, 2}, {"bf16", 7, -126, 2}};

static const kind *kind_named(const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    die("no such type:", name);
    return NULL;
}

static uint32_t exponent_mask(const kind *k) { return (1u << (8 * k->bytes - 1 - (size_t)k->mantissa)) - 1; }

static double from_bits(const kind *k, uint32_t bits) {
    const uint32_t fraction = bits & ((1u << k->mantissa) - 1), all = exponent_mask(k);
    const uint32_t exponent = bits >> k->mantissa & all;
    const double sign = bits >> (8 * k->bytes - 1) ? -1.0 : 1.0;
    if (exponent == all) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, k->least - k->mantissa);
    return sign * ldexp(fraction + ldexp(1, k->mantissa), k->least - k->mantissa + (int)exponent - 1);
}

static uint32_t to_bits(const kind *k, double x) {
    const uint32_t sign = signbit(x) ? 1u << (8 * k->bytes - 1) : 0, all = exponent_mask(k);
    int exponent = 0;
    if (isnan(x)) return sign | all << k->mantissa | 1u << (k->mantissa - 1);
    if (isinf(x)) return sign | all << k->mantissa;
    if (x == 0) return sign;
    frexp(x, &exponent);
    exponent = exponent - 1 < k->least ? k->least : exponent - 1;
    double quanta = nearbyint(ldexp(fabs(x), k->mantissa - exponent)); /* ties to even by default */
    if (quanta == ldexp(2, k->mantissa)) quanta /= 2, exponent += 1;
    if (exponent - k->least + 1 >= (int)all) return sign | all << k->mantissa;
    if (quanta < ldexp(1, k->mantissa)) return sign | (uint32_t)quanta;
    return sign | (uint32_t)(exponent - k->least + 1) << k->mantissa | (uint32_t)(quanta - ldexp(1, k->mantissa));
}

static float f32_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float f16_at(const unsigned char *at) { return (float)from_bits(kind_named("f16"), load(at, 2)); }

static void round_all(const char *type, const char *in, const char *out) {
    const kind *k = kind_named(type);
    const bytes from = read_all(in);
    const size_t count = from.length / 4;
    unsigned char *to = malloc(count * k->bytes + 1);
    if (!to) die("no memory for", in);
    for (size_t i = 0; i < count; ++i)
        store(to + i * k->bytes, to_bits(k, from_bits(&kinds[0], load(from.data + 4 * i, 4))), k->bytes);
    write_all(out, to, count * k->bytes);
}

static void widen(const char *type, const char *in, const char *out) {
    const kind *k = kind_named(type);
    const bytes from = read_all(in);
    const size_t count = from.length / k->bytes;
    unsigned char *to = malloc(count * 4 + 1);
    if (!to) die("no memory for", in);
    for (size_t i = 0; i < count; ++i)
        store(to + 4 * i, to_bits(&kinds[0], from_bits(k, load(from.data + i * k->bytes, k->bytes))), 4);
    write_all(out, to, count * 4);
}

static int same(const char *type, const char *path_a, const char *path_b) {
    const kind *k = kind_named(type);
    const bytes a = read_all(path_a), b = read_all(path_b);
    if (a.length != b.length) {
        printf("%s has %zu bytes, and %s has %zu\n", path_a, a.length, path_b, b.length);
        return 1;
    }
    size_t wrong = 0;
    for (size_t i = 0; i < a.length / k->bytes; ++i) {
        const uint32_t bits_a = load(a.data + i * k->bytes, k->bytes), bits_b = load(b.data + i * k->bytes, k->bytes);
        const double x = from_bits(k, bits_a), y = from_bits(k, bits_b);
        if (bits_a == bits_b || (isnan(x) && isnan(y))) continue;
        if (wrong++ < 3)
            printf("element %zu is %.9g (%0*X), and should be %.9g (%0*X)\n", i, x, (int)(2 * k->bytes), bits_a, y,
                   (int)(2 * k->bytes), bits_b);
    }
    if (wrong) printf("%zu of %zu elements differ\n", wrong, a.length / k->bytes);
    return wrong != 0;
}

static void rows(size_t row, const char *in, const char *indices, const char *out) {
    const bytes table = read_all(in), list = read_all(indices);
    unsigned char *to = calloc(list.length / 4 * row + 1, 1);
    if (!to || !row) die("no memory for", out);
    for (size_t i = 0; i < list.length / 4; ++i) {
        const size_t index = load(list.data + 4 * i, 4);
        if (index < table.length / row) memcpy(to + i * row, table.data + index * row, row);
    }
    write_all(out, to, list.length / 4 * row);
}

static void print_u32(char **numbers) {
    for (; *numbers; ++numbers) {
        unsigned char word[4];
        store(word, (uint32_t)strtoull(*numbers, NULL, 0), 4);
        fwrite(word, 1, 4, stdout);
    }
}

static void print_random(uint64_t state, size_t count) {
    for (size_t i = 0; i < count; ++i) { /* splitmix64 */
        uint64_t z = (state += 0x9E3779B97F4A7C15u);
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
        z = (z ^ z >> 27) * 0x94D049BB133111EBu;
        putchar((int)((z ^ z >> 31) & 0xFF));
    }
}

static void print_word(uint32_t word) {
    unsigned char bytes[4];
    store(bytes, word, 4);
    fwrite(bytes, 1, 4, stdout);
}

static void print_ties(void) {
    for (uint32_t i = 0; i < 65536; ++i) {
        /* The neighbour of the largest is what it would be without an end; infinity and NaN have none. */
        const double half = from_bits(&kinds[1], i), last = i == 31743 ? 65536 : -65536;
        const double above = i % 32768 < 31743 ? from_bits(&kinds[1], i + 1) : i % 32768 == 31743 ? last : half;
        const uint32_t middle = to_bits(&kinds[0], (half + above) / 2);
        print_word(to_bits(&kinds[0], half));
        for (uint32_t d = 0; d < 3; ++d) print_word(middle + d - (middle % 0x80000000 > 0));
        for (uint32_t d = 0; d < 4; ++d) print_word(i << 16 | (d ? 0x7FFEu + d : 0));
    }
}

/* ---- decoders of invented formats, bit by bit ---- */

static uint32_t bits(const unsigned char *at, size_t first, size_t count) {
    uint32_t value = 0;
    for (size_t i = 0; i < count; ++i) value |= (at[(first + i) / 8] >> (first + i) % 8 & 1u) << i;
    return value;
}

/* 192 elements in 131 bytes. 0 to 8: twelve scales of 6 bits, one after another, each for 16 elements. 9 to 104: the low
 * four bits of elements 0 to 95 in the low nibbles, of 96 to 191 in the high ones. 105 to 128: the fifth bits, in order.
 * 129: an f16. */
static void awkward(const unsigned char *block, float *out) {
    const float d = f16_at(block + 129);
    for (size_t i = 0; i < 192; ++i) {
        const unsigned char pair = block[9 + i % 96];
        const int q = (i < 96 ? pair & 15 : pair >> 4) + 16 * (int)bits(block + 105, i, 1);
        const int scale = (int)bits(block, 6 * (i / 16), 6) - 32;
        const float ds = d * (float)scale;
        out[i] = ds * (float)(q - 16);
    }
}

/* 90 elements in 115 bytes. Element i is number (a, b, c) of 3 x 5 x 6, a first. 0 to 56, as a stream: three low bits of
 * all codes, ordered by b, then a, then c; then two high bits, in order of i. 57 to 71: signed bytes, one for
 * six elements, as 3 rows of 5 of which the file has the columns first. 72 to 111: a stream of 7-bit numbers, one for two
 * elements. 112 to 114: a bf16 with bits 4 to 11 and 16 to 23. */
static void scattered(const unsigned char *block, float *out) {
    static const float steps[8] = {0.0f, 0.3f, -1.75f, 1e-3f, 12.5f, -0.0625f, 3.0f, -7.1f};
    const float d = f32_of((bits(block + 112, 4, 8) | bits(block + 112, 16, 8) << 8) << 16);
    for (size_t i = 0; i < 90; ++i) {
        const size_t a = i % 3, b = i / 3 % 5, c = i / 15, row = i / 6 % 3, column = i / 18;
        const size_t place = b * 18 + a * 6 + c;
        const uint32_t q = bits(block, 3 * place, 3) | bits(block, 270 + 2 * i, 2) << 3;
        const int s = (signed char)block[57 + row * 5 + column];
        const int m = (int)bits(block + 72, 7 * (i / 2), 7);
        const float ds = d * (float)s, scaled = ds * steps[q >> 2];
        const float rest = m > 63 ? (float)((int)(q & 3) - (int)i) : (float)m * 0.5f;
        out[i] = scaled + rest;
    }
}

/* 45 elements in 162 bytes. 0 to 151: a stream of 27-bit numbers, of which the upper 24 count. 152 to 161: an f16 for nine
 * elements. */
static void odd(const unsigned char *block, float *out) {
    for (size_t i = 0; i < 45; ++i)
        out[i] = f16_at(block + 152 + i / 9 * 2) * (float)((int)(bits(block, 27 * i, 27) >> 3) - 8388608);
}

static void decode(void (*decoder)(const unsigned char *, float *), size_t size, size_t elements, const char *in,
                   const char *out) {
    const bytes from = read_all(in);
    const size_t count = from.length / size;
    float *to = malloc((count * elements + 1) * sizeof *to);
    if (!to) die("no memory for", in);
    for (size_t i = 0; i < count; ++i) decoder(from.data + i * size, to + i * elements);
    write_all(out, to, count * elements * sizeof *to); /* the machines that run this are little-endian */
}

/* ---- sums ---- */

/* Box and Muller, from a generator that is good enough for test data. */
static void print_normal(uint64_t state, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        double u[2];
        for (int k = 0; k < 2; ++k) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            u[k] = ((double)(state >> 11) + 0.5) * 0x1p-53;
        }
        const float x = (float)(sqrt(-2 * log(u[0])) * cos(6.283185307179586 * u[1]));
        fwrite(&x, sizeof x, 1, stdout);
    }
}

static void add_product(double *y, size_t count, size_t at, float a, float b) {
    const double product = (double)a * (double)b;
    y[at] += product;
    y[count + at] += product * product;
}

static void product(const char *weights, const char *vectors, size_t cols, const char *out) {
    const bytes w = read_all(weights), x = read_all(vectors);
    const size_t rows = w.length / 4 / cols, batch = x.length / 4 / cols;
    const float *a = (const float *)(const void *)w.data, *b = (const float *)(const void *)x.data;
    double *y = calloc(2 * rows * batch + 1, sizeof *y);
    if (!y) die("no memory for", out);
    for (size_t m = 0; m < batch; ++m)
        for (size_t n = 0; n < rows; ++n)
            for (size_t k = 0; k < cols; ++k)
                add_product(y, rows * batch, m * rows + n, a[n * cols + k], b[m * cols + k]);
    write_all(out, y, 2 * rows * batch * sizeof *y);
}

/* As many ids for each token; an id beyond the experts gives zeros. */
static void experts(const char *weights, const char *vectors, const char *numbers, size_t rows, size_t cols,
                    const char *out) {
    const bytes w = read_all(weights), x = read_all(vectors), ids = read_all(numbers);
    const size_t tokens = x.length / 4 / cols, pairs = ids.length / 4, slots = pairs / tokens;
    const size_t count = w.length / 4 / rows / cols;
    const float *a = (const float *)(const void *)w.data, *b = (const float *)(const void *)x.data;
    double *y = calloc(2 * pairs * rows + 1, sizeof *y);
    if (!y) die("no memory for", out);
    for (size_t p = 0; p < pairs; ++p) {
        const size_t expert = load(ids.data + 4 * p, 4);
        for (size_t n = 0; expert < count && n < rows; ++n)
            for (size_t k = 0; k < cols; ++k)
                add_product(y, pairs * rows, p * rows + n, a[(expert * rows + n) * cols + k], b[p / slots * cols + k]);
    }
    write_all(out, y, 2 * pairs * rows * sizeof *y);
}

static void absolute(const char *in, const char *out) {
    bytes a = read_all(in);
    for (size_t i = 3; i < a.length; i += 4) a.data[i] &= 0x7F;
    write_all(out, a.data, a.length);
}

/* Each sum relative to that of its terms' magnitudes, and of these errors the root of the mean square: a bound that holds
 * where sums cancel, too. Sums of terms that overflow, or nearly do, are left out. */
static int scaled(double bound, const char *got, const char *expected, const char *magnitudes) {
    const bytes a = read_all(got), b = read_all(expected), c = read_all(magnitudes);
    const float *x = (const float *)(const void *)a.data;
    const double *y = (const double *)(const void *)b.data, *scale = (const double *)(const void *)c.data;
    const size_t count = b.length / 16; /* squares follow */
    double squares = 0, taken = 0;
    if (a.length / 4 != count || c.length != b.length) die("another number of results in", got);
    for (size_t i = 0; i < count; ++i) {
        if (!(scale[i] < 1e20)) continue;
        const double error = fabs((double)x[i] - y[i]) / (scale[i] + 1e-30);
        squares += error * error;
        taken += 1;
    }
    const double root = taken > 0 ? sqrt(squares / taken) : 0;
    printf("%.3g of %.0f\n", root, taken);
    return !(root <= bound);
}

static int near(double bound, const char *got, const char *expected, int random) {
    const bytes a = read_all(got), b = read_all(expected);
    const float *x = (const float *)(const void *)a.data;
    const double *y = (const double *)(const void *)b.data;
    const size_t count = b.length / 16;
    double difference = 0, norm = 0, squares = 0;
    if (a.length / 4 != count) die("another number of results in", got);
    for (size_t i = 0; i < count; ++i) {
        if (!(fabs(y[i]) < 1e30)) continue;
        difference += ((double)x[i] - y[i]) * ((double)x[i] - y[i]);
        norm += y[i] * y[i];
        squares += y[count + i];
    }
    if (random && squares > norm) norm = squares;
    const double relative = norm > 0 ? sqrt(difference / norm) : sqrt(difference);
    printf("%.3g\n", relative);
    return !(relative <= bound);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (argc == 5 && strcmp(what, "round") == 0)
        round_all(argv[2], argv[3], argv[4]);
    else if (argc == 5 && strcmp(what, "widen") == 0)
        widen(argv[2], argv[3], argv[4]);
    else if (argc == 5 && strcmp(what, "same") == 0)
        return same(argv[2], argv[3], argv[4]);
    else if (argc == 6 && strcmp(what, "rows") == 0)
        rows(strtoull(argv[2], NULL, 10), argv[3], argv[4], argv[5]);
    else if (strcmp(what, "u32") == 0)
        print_u32(argv + 2);
    else if (argc == 2 && strcmp(what, "halves") == 0)
        for (uint32_t i = 0; i < 65536; ++i) putchar((int)(i & 255)), putchar((int)(i >> 8));
    else if (argc == 2 && strcmp(what, "ties") == 0)
        print_ties();
    else if (argc == 4 && strcmp(what, "random") == 0)
        print_random(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    else if (argc == 4 && strcmp(what, "normal") == 0)
        print_normal(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    else if (argc == 6 && strcmp(what, "product") == 0)
        product(argv[2], argv[3], strtoull(argv[4], NULL, 10), argv[5]);
    else if (argc == 8 && strcmp(what, "experts") == 0)
        experts(argv[2], argv[3], argv[4], strtoull(argv[5], NULL, 10), strtoull(argv[6], NULL, 10), argv[7]);
    else if (argc == 5 && (strcmp(what, "near") == 0 || strcmp(what, "near_random") == 0))
        return near(strtod(argv[2], NULL), argv[3], argv[4], strcmp(what, "near_random") == 0);
    else if (argc == 4 && strcmp(what, "absolute") == 0)
        absolute(argv[2], argv[3]);
    else if (argc == 6 && strcmp(what, "scaled") == 0)
        return scaled(strtod(argv[2], NULL), argv[3], argv[4], argv[5]);
    else if (argc == 4 && strcmp(what, "awkward") == 0)
        decode(awkward, 131, 192, argv[2], argv[3]);
    else if (argc == 4 && strcmp(what, "scattered") == 0)
        decode(scattered, 115, 90, argv[2], argv[3]);
    else if (argc == 4 && strcmp(what, "odd") == 0)
        decode(odd, 162, 45, argv[2], argv[3]);
    else
        die("unknown request", what);
    return 0;
}
