/* q8_0 in C, right and wrong, for `qkgen judge`. */
#include <stdint.h>

typedef struct block {
    _Float16 d;
    int8_t qs[32];
} block;

static float value(const block *b, int64_t i) { return (float)b[i / 32].d * (float)b[i / 32].qs[i % 32]; }

void right(const block *b, float *y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) y[i] = value(b, i);
}

void one_more(const block *b, float *y, int64_t n) {
    for (int64_t i = 0; i <= n; ++i) y[i] = value(b, i < n ? i : n - 1);
}

void not_all(const block *b, float *y, int64_t n) {
    for (int64_t i = 0; i < n - n % 64; ++i) y[i] = value(b, i);
}

void crash(const block *b, float *y, int64_t n) {
    (void)b, (void)n;
    *(volatile float *)(uintptr_t)8 = *y;
}

void hang(const block *b, float *y, int64_t n) {
    (void)b, (void)y, (void)n;
    for (volatile int i = 0;;) (void)i;
}

/* Sums of rows; `wrong_width` forgets what is behind 128 columns, in steps of 128. */
static void sums(const block *b, const float *x, float *y, int64_t rows, int64_t cols, int64_t batch, int64_t whole) {
    for (int64_t t = 0; t < batch; ++t)
        for (int64_t r = 0; r < rows; ++r) {
            float sum = 0;
            for (int64_t c = 0; c < cols / whole * whole; ++c) sum += value(b, r * cols + c) * x[t * cols + c];
            y[t * rows + r] = sum;
        }
}

void right_sums(const block *b, const float *x, float *y, int64_t rows, int64_t cols, int64_t batch) {
    sums(b, x, y, rows, cols, batch, 32);
}

void wrong_width(const block *b, const float *x, float *y, int64_t rows, int64_t cols, int64_t batch) {
    sums(b, x, y, rows, cols, batch, cols > 32 ? 64 : 32);
}

/* Products of halves. */
void in_halves(const block *b, const float *x, float *y, int64_t rows, int64_t cols, int64_t batch) {
    for (int64_t t = 0; t < batch; ++t)
        for (int64_t r = 0; r < rows; ++r) {
            float sum = 0;
            for (int64_t c = 0; c < cols; ++c)
                sum += (float)(_Float16)value(b, r * cols + c) * (float)(_Float16)x[t * cols + c];
            y[t * rows + r] = sum;
        }
}
