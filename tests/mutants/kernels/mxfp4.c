/* mxfp4: 32 elements in 17 bytes: a power of two, codes of four bits, the low nibbles first. */
#include <stdint.h>
#include <string.h>

static const int8_t twice[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/* Half of the power of two: 2^(e - 128). */
static float half_of_power(uint8_t e) {
#if defined(MXFP4_EXPONENT_WRAPS)
    const uint32_t bits = (uint32_t)(uint8_t)(e - 1) << 23; /* 0 becomes 255 */
#elif defined(MXFP4_NO_SMALL_EXPONENT)
    const uint32_t bits = e == 0 ? 0 : (uint32_t)(e - 1) << 23;
#else
    const uint32_t bits = e < 2 ? 0x200000u << e : (uint32_t)(e - 1) << 23;
#endif
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void dequant(const uint8_t *blocks, float *y, int64_t count) {
    for (int64_t i = 0; i < count; ++i, blocks += 17, y += 32)
        for (int e = 0; e < 32; ++e) {
            const int q = blocks[1 + e % 16] >> 4 * (e / 16) & 15;
#ifdef MXFP4_SIGN_AS_TWOS
            const int code = q >= 8 ? -twice[(16 - q) & 7] : twice[q]; /* two's complement, where it is a sign bit */
#else
            const int code = twice[q];
#endif
            y[e] = (float)code * half_of_power(blocks[0]);
        }
}
