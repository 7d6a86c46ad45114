/* What OCP's Microscaling Formats specification, version 1.0, section 6.3, makes of floats: a scale that is the largest
 * power of two not above the largest magnitude, divided by that of the element type, and the nearest elements, ties to
 * even, none beyond the largest.
 *
 *   mx TYPE IN FOLDER    TYPE is e2m1, e2m3, e3m2, e4m3 or e5m2; IN has f32, a multiple of 32; writes FOLDER/codes and
 *                        FOLDER/scales
 *
 * For numbers alone: of infinities and NaNs the specification leaves it open. Every element is compared with every
 * value of the type. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 32 };

/* As tables 4 to 6 of the specification have them; `codes` are those of finite numbers, without a sign. */
static const struct {
    const char *name;
    int bits, digits, bias, emax;
    uint32_t codes;
} types[] = {{"e2m1", 4, 1, 1, 2, 8},
             {"e2m3", 6, 3, 1, 2, 32},
             {"e3m2", 6, 2, 3, 4, 32},
             {"e4m3", 8, 3, 7, 8, 127},
             {"e5m2", 8, 2, 15, 15, 124}};
enum { TYPES = sizeof types / sizeof *types };

static double value_of(int t, uint32_t code) {
    const int exponent = (int)(code >> types[t].digits);
    const double fraction = ldexp(code & ((1u << types[t].digits) - 1), -types[t].digits);
    return exponent ? ldexp(1 + fraction, exponent - types[t].bias) : ldexp(fraction, 1 - types[t].bias);
}

static uint32_t nearest(int t, double v) {
    uint32_t best = 0;
    for (uint32_t code = 1; code < types[t].codes; ++code) {
        const double now = fabs(fabs(v) - value_of(t, best)), next = fabs(fabs(v) - value_of(t, code));
        if (next < now || (next == now && code % 2 == 0)) best = code;
    }
    return best | (signbit(v) ? 1u << (types[t].bits - 1) : 0);
}

static void make_group(int t, const float *x, uint8_t *codes, uint8_t *scale) {
    double most = 0;
    int exponent = -1000;
    for (int i = 0; i < GROUP; ++i) most = fmax(most, fabs((double)x[i]));
    if (most > 0) exponent = ilogb(most) - types[t].emax;
    if (exponent < -127) exponent = -127;
    *scale = (uint8_t)(exponent + 127);
    for (int i = 0; i < GROUP; ++i) {
        const uint32_t code = nearest(t, ldexp(x[i], -exponent));
        const int at = i * types[t].bits;
        codes[at / 8] |= (uint8_t)(code << at % 8);
        if (at % 8 + types[t].bits > 8) codes[at / 8 + 1] |= (uint8_t)(code >> (8 - at % 8));
    }
}

static void stop(const char *what) {
    fprintf(stderr, "mx: error: %s\n", what);
    exit(1);
}

static FILE *open_file(const char *folder, const char *name, const char *mode) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s%s%s", folder, *name ? "/" : "", name) >= (int)sizeof path)
        stop("a path is too long");
    FILE *file = fopen(path, mode);
    if (!file) stop(path);
    return file;
}

int main(int argc, char **argv) {
    int t = 0;
    float x[GROUP];
    if (argc != 4) stop("usage: mx TYPE IN FOLDER");
    while (t < TYPES && strcmp(types[t].name, argv[1]) != 0) ++t;
    if (t == TYPES) stop("there is no such type");
    FILE *in = open_file(argv[2], "", "rb"), *all = open_file(argv[3], "codes", "wb"),
         *scales = open_file(argv[3], "scales", "wb");
    while (fread(x, sizeof *x, GROUP, in) == GROUP) {
        uint8_t codes[GROUP] = {0}, scale;
        make_group(t, x, codes, &scale);
        fwrite(codes, 1, (size_t)(GROUP * types[t].bits / 8), all);
        fwrite(&scale, 1, 1, scales);
    }
    if (fclose(in) != 0 || fclose(all) != 0 || fclose(scales) != 0) stop("cannot write");
    return 0;
}
