/* What HQQ makes of floats, without optimisation: Quantizer.quantize of hqq/core/quantize.py and BitPack of
 * hqq/core/bitpack.py (e0b1d00), axis 1, operation for operation in f32, and scale and zero cast to f16.
 *
 *   hqq BITS GROUP IN FOLDER    IN has f32, a multiple of GROUP; writes FOLDER/W_q, FOLDER/scale and FOLDER/zero
 *   hqq whole                   no HQQ: whole numbers of standard input, to standard output as f32
 *
 * For numbers alone: of infinities and NaNs nothing is said. Where BitPack would refuse a number of groups that is no multiple
 * of its planes, codes of 0 fill them up, as it does itself with those of 3 bits. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rounded to nearest, ties to even: the result is a sum of which f32 has no digits left. */
static float even(float v) { return fabsf(v) < 8388608.0f ? copysignf(fabsf(v) + 8388608.0f - 8388608.0f, v) : v; }

static uint16_t f16_of(float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    const double size = fabs((double)v);
    if (size == 0) return sign;
    if (size >= 65520.0) return sign | 0x7C00;
    int exponent;
    frexp(size, &exponent); /* size is below 2^exponent */
    if (exponent < -13) exponent = -13;
    const double digits = nearbyint(ldexp(size, 11 - exponent));          /* 11 digits; of subnormal ones fewer */
    return sign | (uint16_t)(((exponent + 13) << 10) + (uint16_t)digits); /* a digit more is an exponent more */
}

static void make_group(const float *x, uint32_t group, uint32_t bits, uint32_t *codes, uint16_t *scale,
                       uint16_t *zero) {
    const float max_v = (float)((1u << bits) - 1);
    float least = x[0], most = x[0];
    for (uint32_t i = 1; i < group; ++i) {
        if (x[i] < least) least = x[i];
        if (x[i] > most) most = x[i];
    }
    const float denom = most - least;
    float factor = max_v / denom;
    if (fabsf(denom) <= 1e-4f) factor = 1.0f;
    if (factor > 2e4f) factor = 2e4f;
    float offset = -least * factor;
    if (bits == 4) offset = even(offset);
    for (uint32_t i = 0; i < group; ++i) {
        const float q = even(x[i] * factor + offset);
        codes[i] = (uint32_t)(q < 0 ? 0 : q > max_v ? max_v : q);
    }
    *scale = f16_of(1.0f / factor);
    *zero = f16_of(offset);
}

static void write_file(const char *folder, const char *name, const void *data, size_t bytes) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file)) exit(1);
}

static int write_whole_numbers(void) {
    for (int number; scanf("%d", &number) == 1;) {
        const float v = (float)number;
        if (fwrite(&v, sizeof v, 1, stdout) != 1) return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "whole") == 0) return write_whole_numbers();
    if (argc != 5) return 2;
    const uint32_t bits = (uint32_t)atoi(argv[1]), group = (uint32_t)atoi(argv[2]);
    const uint32_t planes = bits == 3 ? 10 : 8 / bits, unit = bits == 3 ? 4 : 1, top = bits == 3 ? 27 : 8 - bits;
    FILE *in = fopen(argv[3], "rb");
    if (!in || fseek(in, 0, SEEK_END)) return 1;
    const size_t count = (size_t)ftell(in) / 4, groups = count / group, step = (groups + planes - 1) / planes;
    rewind(in);
    float *x = calloc(count + 1, 4);
    uint32_t *codes = calloc(step * planes * group + 1, 4);
    uint16_t *scale = calloc(groups + 1, 2), *zero = calloc(groups + 1, 2);
    unsigned char *packed = calloc(step * group * unit + 1, 1);
    if (!x || !codes || !scale || !zero || !packed || fread(x, 4, count, in) != count) return 1;
    for (size_t g = 0; g < groups; ++g) make_group(x + g * group, group, bits, codes + g * group, &scale[g], &zero[g]);
    for (size_t i = 0; i < step * group; ++i) {
        uint32_t word = 0;
        for (uint32_t p = 0; p < planes; ++p) word |= codes[p * step * group + i] << (top - p * bits);
        for (uint32_t b = 0; b < unit; ++b) packed[i * unit + b] = (unsigned char)(word >> 8 * b);
    }
    write_file(argv[4], "W_q", packed, step * group * unit);
    write_file(argv[4], "scale", scale, groups * 2);
    write_file(argv[4], "zero", zero, groups * 2);
    return 0;
}
