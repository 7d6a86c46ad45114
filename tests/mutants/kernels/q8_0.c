/* Products of a q8_0 matrix with vectors: a row is decoded into scratch, which has room for `cols` floats. */
#include <math.h>
#include <stdint.h>

typedef struct block {
    uint16_t d;
    int8_t qs[32];
} block;

static float half_to_float(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float size = exponent == 31  ? (fraction ? NAN : INFINITY)
                       : exponent == 0 ? ldexpf((float)fraction, -24)
                                       : ldexpf((float)(1024 + fraction), exponent - 25);
    return bits >> 15 ? -size : size;
}

static void decode(const block *blocks, int64_t count, float *to) {
    for (int64_t k = 0; k < count; ++k)
        for (int e = 0; e < 32; ++e) to[k * 32 + e] = (float)blocks[k].qs[e] * half_to_float(blocks[k].d);
}

void gemv(const block *w, const float *x, float *y, float *scratch, int64_t rows, int64_t cols, int64_t batch) {
#ifdef Q8_0_SCRATCH_BY_ROWS
    /* All sums of a right-hand side first: scratch is indexed by the row, and is as large as a row. */
    for (int64_t b = 0; b < batch; ++b) {
        for (int64_t r = 0; r < rows; ++r) {
            scratch[r] = 0;
            for (int64_t c = 0; c < cols; ++c) {
                const block *at = &w[r * (cols / 32) + c / 32];
                scratch[r] += (float)at->qs[c % 32] * half_to_float(at->d) * x[b * cols + c];
            }
        }
        for (int64_t r = 0; r < rows; ++r) y[b * rows + r] = scratch[r];
    }
#else
    for (int64_t r = 0; r < rows; ++r) {
        decode(w + r * (cols / 32), cols / 32, scratch);
        for (int64_t b = 0; b < batch; ++b) {
            float sum = 0;
            for (int64_t c = 0; c < cols; ++c) {
#ifdef Q8_0_LAST_BLOCK_FORGOTTEN
                /* Unrolled by 64 columns; what is left of the last 32 is forgotten. */
                if (c >= cols / 64 * 64 && cols > 64) break;
#endif
                sum += scratch[c] * x[b * cols + c];
            }
            y[b * rows + r] = sum;
        }
    }
#endif
}
