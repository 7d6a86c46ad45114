/* Floats for encoders.
 *
 *   floats usual COUNT SEED     sums of uniform numbers, whose size changes every 256
 *   floats hostile COUNT SEED   zeros of both signs, subnormals, infinities, NaNs, all alike, of wildly different size, and
 *                               these among usual ones, by stretches of 16 to 256
 *   floats ties COUNT SEED      numbers of six bits, whose size changes every 256
 *
 *   floats bytes COUNT SEED     so many bytes, and not floats: a half of hostile ones, and a half of any
 *
 * They go to standard output, as f32. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint32_t draw(void) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 32);
}

static float of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float usual(int power) {
    float sum = 0;
    for (int i = 0; i < 4; ++i) sum += (float)(draw() >> 8) / 16777216.0f - 0.5f;
    return ldexpf(sum, power);
}

/* One kind for a stretch. */
static float hostile(uint32_t kind, uint32_t alike) {
    switch (kind) {
    case 0: return 0.0f;
    case 1: return -0.0f;
    case 2: return draw() & 1 ? 0.0f : -0.0f;
    case 3: return of_bits((draw() & 0x80000000u) | (draw() & 0x7FFFFFu)); /* subnormal */
    case 4: return INFINITY;
    case 5: return -INFINITY;
    case 6: return draw() & 1 ? INFINITY : -INFINITY;
    case 7: return NAN;
    case 8: return of_bits(draw()); /* anything */
    case 9: return of_bits(alike);
    case 10: return draw() % 8 ? usual(0) : NAN;
    case 11: return draw() % 8 ? usual(0) : INFINITY;
    case 12: return draw() % 4 ? usual(-20) : usual(20);
    case 13: return usual(126);
    case 14: return usual(-140);
    case 15: return draw() % 16 ? 0.0f : usual(0);
    case 16: return -fabsf(usual(0));
    case 17: return (float)((int)(draw() % 33) - 16) / 2;        /* ties */
    case 18: return of_bits(0xFFC00000u | (draw() & 0x3FFFFFu)); /* NaN with a sign */
    default: return usual(0);
    }
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    const uint64_t count = strtoull(argv[2], NULL, 10);
    const int is_usual = strcmp(argv[1], "usual") == 0, is_tie = strcmp(argv[1], "ties") == 0;
    const uint64_t bytes = strcmp(argv[1], "bytes") == 0 ? count / 2 : count * 4; /* of floats */
    uint32_t kind = 0, left = 0, alike = 0, stretch = 0;
    state = strtoull(argv[3], NULL, 10) * 2 + 1;
    for (uint64_t i = 0; i * 4 < bytes; ++i) {
        if (!left--) {
            kind = stretch++ % 20;
            left = (16u << draw() % 5) - 1;
            alike = draw();
        }
        const float value = is_tie     ? ldexpf((float)(int)(draw() % 127) - 63, (int)(i / 256 % 33) - 16)
                            : is_usual ? usual((int)(i / 256 % 9) - 4)
                                       : hostile(kind, alike);
        const uint64_t rest = bytes - i * 4;
        if (fwrite(&value, rest < 4 ? (size_t)rest : 4, 1, stdout) != 1) return 1;
    }
    for (uint64_t i = bytes; i < count; ++i) {
        if (putchar((int)(draw() >> 24)) == EOF) return 1;
    }
    return 0;
}
