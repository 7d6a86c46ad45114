/* tq1_0: five digits of three in a byte, rounded up to a fraction of 256; the last four bytes have four. */
#include <math.h>
#include <stdint.h>

typedef struct block {
    uint8_t qs[48], qh[4];
    uint16_t d;
} block;

static float half_to_float(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float size = exponent == 31  ? (fraction ? NAN : INFINITY)
                       : exponent == 0 ? ldexpf((float)fraction, -24)
                                       : ldexpf((float)(1024 + fraction), exponent - 25);
    return bits >> 15 ? -size : size;
}

/* Digit n of a byte, the first being the most significant. */
static int digit(uint8_t byte, int n) {
    static const int powers[] = {1, 3, 9, 27, 81};
#ifdef TQ1_0_TABLE_OF_243
    for (int number = 0; number < 243; ++number)
        if ((number * 256 + 242) / 243 == byte) return number / powers[4 - n] % 3;
    return 0;
#endif
    return ((uint8_t)(byte * powers[n]) * 3) >> 8;
}

void dequant(const block *blocks, float *y, int64_t count) {
    for (int64_t i = 0; i < count * 256; ++i) {
        const block *b = &blocks[i / 256];
        const int e = (int)(i % 256);
        const int t = e < 160   ? digit(b->qs[e % 32], e / 32)
                      : e < 240 ? digit(b->qs[32 + (e - 160) % 16], (e - 160) / 16)
                                : digit(b->qh[(e - 240) % 4], (e - 240) / 4);
        y[i] = half_to_float(b->d) * (float)(t - 1);
    }
}
