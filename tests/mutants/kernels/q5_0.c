/* q5_0: 32 elements in 22 bytes: d, fifth bits, low bits. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef Q5_0_PADDED_STRUCT
typedef struct block {
    uint16_t d;
    uint32_t qh; /* which a compiler puts at 4 */
    uint8_t qs[16];
} block;
#else
typedef struct block {
    uint16_t d;
    uint8_t qh[4];
    uint8_t qs[16];
} block;
#endif

static float half_to_float(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float size = exponent == 31  ? (fraction ? NAN : INFINITY)
                       : exponent == 0 ? ldexpf((float)fraction, -24)
                                       : ldexpf((float)(1024 + fraction), exponent - 25);
    return bits >> 15 ? -size : size;
}

void dequant(const block *blocks, float *y, int64_t count) {
    for (int64_t i = 0; i < count; ++i, ++blocks, y += 32) {
        uint32_t high;
        uint8_t low[32];
        memcpy(&high, &blocks->qh, sizeof high);
#ifdef Q5_0_OVERREAD
        memcpy(low, blocks->qs, 32); /* a vector register is that wide */
#else
        memcpy(low, blocks->qs, 16);
#endif
        for (int e = 0; e < 32; ++e) {
#ifdef Q5_0_HIGH_BIT_NIBBLES
            const int fifth = high >> (e / 16 * 16 + e % 16 / 2 + e % 2 * 8) & 1;
#else
            const int fifth = high >> e & 1;
#endif
            const int q = low[e % 16] >> 4 * (e / 16) & 15;
#ifdef Q5_0_FIFTH_BIT_OVER
            y[e] = (float)((q | fifth << 5) - 16) * half_to_float(blocks->d);
#else
            y[e] = (float)((q | fifth << 4) - 16) * half_to_float(blocks->d);
#endif
        }
    }
}
