/* Formats whose codes are small floats or look up a codebook. */
#include "pack.h"

/* ---- bitsandbytes ---- */

/* Source: the codebooks of bitsandbytes' CUDA kernels. Bit 3 of an fp4 code is the sign, so that code 8 is -0; the
 * quant_map tensor of a checkpoint has 0 there, and the same numbers otherwise. */
const float nf4_table[16] = {
    -1.0f,
    -0.6961928009986877f,
    -0.5250730514526367f,
    -0.39491748809814453f,
    -0.28444138169288635f,
    -0.18477343022823334f,
    -0.09105003625154495f,
    0.0f,
    0.07958029955625534f,
    0.16093020141124725f,
    0.24611230194568634f,
    0.33791524171829224f,
    0.44070982933044434f,
    0.5626170039176941f,
    0.7229568362236023f,
    1.0f,
};
const float fp4_table[16] = {
    0.0f,  0.005208333333f,  0.66666667f,  1.0f,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
    -0.0f, -0.005208333333f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f,
};

/* Source: quantize_4bit of bitsandbytes, absmax not nested. The tensor is flattened: two elements a byte, the first in
 * the high nibble, and blocks that cross rows, the last maybe short. absmax f32, one for a block. */
void pack_codebook4(checkpoint *c) {
    const size_t elements = c->rows * c->cols, block = c->format->group;
    const uint8_t *q = random_codes(c, &u4, elements, 128);
    uint8_t *weight = add_tensor(c, (elements + 1) / 2);
    const float *absmax = add_scales(c, &f32, (elements + block - 1) / block);
    for (size_t i = 0; i < elements; ++i) {
        put_bits(weight + i / 2, 1, i % 2 ? 0 : 4, 4, q[i]);
        c->values[i] = c->format->table[q[i]] * absmax[i / block];
    }
}

/* ---- microscaling ---- */

/* Source: the OCP Microscaling Formats (MX) specification 1.0 for the numbers. It leaves their places open: two E2M1 a
 * byte, low nibble first, are as gpt-oss stores them, and the dense stream of 6-bit codes is as AMD Quark exports fp6.
 * Blocks of 32 along K; blocks u8 [N][K*b/8], scales E8M0 [N][K/32]. */
void pack_mx(checkpoint *c) {
    const kind *code = c->format->code;
    const size_t per_row = c->cols / 32, bytes = c->cols * code->bits / 8;
    const uint8_t *q = random_codes(c, code, c->rows * c->cols, 128), *s = random_codes(c, &e8m0, c->rows * per_row, 1);
    uint8_t *blocks = add_tensor(c, c->rows * bytes), *scales = add_tensor(c, c->rows * per_row);
    for (size_t j = 0; j < c->rows * per_row; ++j) scales[j] = s[j];
    for (size_t row = 0; row < c->rows; ++row)
        for (size_t col = 0; col < c->cols; ++col) {
            const size_t i = row * c->cols + col;
            put_bits(blocks + row * bytes, 1, col * code->bits, code->bits, q[i]);
            c->values[i] = widen(code, q[i]) * widen(&e8m0, s[row * per_row + col / 32]);
        }
}

/* Source: NVFP4QTensor of NVIDIA TensorRT Model Optimizer. weight u8 [N][K/2], low nibble first; weight_scale E4M3
 * [N][K/16]; weight_scale_2 f32, by which the block's scale is multiplied first. */
void pack_nvfp4(checkpoint *c) {
    const size_t blocks = c->rows * c->cols / 16;
    const uint8_t *q = random_codes(c, &e2m1, c->rows * c->cols, 128), *s = random_codes(c, &e4m3, blocks, 1);
    uint8_t *weight = add_tensor(c, c->rows * c->cols / 2), *weight_scale = add_tensor(c, blocks);
    const float *scale_2 = add_scales(c, &f32, 1);
    for (size_t j = 0; j < blocks; ++j) weight_scale[j] = s[j];
    for (size_t i = 0; i < c->rows * c->cols; ++i) {
        const float scale = widen(&e4m3, s[i / 16]) * scale_2[0];
        put_bits(weight + i / 2, 1, i % 2 * 4, 4, q[i]);
        c->values[i] = widen(&e2m1, q[i]) * scale;
    }
}

/* ---- FP8 ---- */

/* Sources: the weights' documentation of DeepSeek-V3 for tiles of 128 x 128, weight_scale_inv f32
 * [ceil(N/128)][ceil(K/128)], by which the weights are multiplied; "float-quantized" of compressed-tensors for a scale
 * for each row, weight_scale [N][1], or for the tensor. weight E4M3 [N][K]. */
void pack_fp8(checkpoint *c) {
    const format *f = c->format;
    const size_t tile_rows = f->tile_rows ? f->tile_rows : c->rows, tile_cols = f->tile_cols ? f->tile_cols : c->cols;
    const size_t down = (c->rows + tile_rows - 1) / tile_rows, across = (c->cols + tile_cols - 1) / tile_cols;
    const uint8_t *q = random_codes(c, c->format->code, c->rows * c->cols, 128);
    uint8_t *weight = add_tensor(c, c->rows * c->cols);
    const float *s = add_scales(c, f->scale, down * across);
    for (size_t row = 0; row < c->rows; ++row)
        for (size_t col = 0; col < c->cols; ++col) {
            const size_t i = row * c->cols + col;
            weight[i] = q[i];
            c->values[i] = widen(c->format->code, q[i]) * s[row / tile_rows * across + col / tile_cols];
        }
}
