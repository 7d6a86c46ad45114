/* Formats whose codes are integers. */
#include "pack.h"

/* ---- GPTQ ---- */

/* The group of each input feature: in order, or shuffled as act-order leaves them. */
static const uint32_t *groups_of(checkpoint *c) {
    uint32_t *group = reserve(c, c->cols, sizeof *group);
    for (size_t col = 0; col < c->cols; ++col) group[col] = (uint32_t)(col / c->format->group);
    for (size_t left = c->format->act_order ? c->cols : 0; left > 1; --left) {
        const size_t other = random_below((uint32_t)left);
        const uint32_t taken = group[other];
        group[other] = group[left - 1];
        group[left - 1] = taken;
    }
    return group;
}

/* Source: QuantLinear of AutoGPTQ and of GPTQModel, "gptq" (v1) and "gptq_v2" checkpoints. The codes of an output
 * feature are a stream of bits down its column of qweight i32 [K*b/32][N]; the zeros of a group one along its row of
 * qzeros i32 [groups][N*b/32]. The scales are f16 [groups][N]. The last group may be short. v1 stores each zero less 1,
 * modulo 2^b. With act-order g_idx i32 [K] gives the group. */
void pack_gptq(checkpoint *c) {
    const format *f = c->format;
    const size_t bits = f->code->bits, groups = (c->cols + f->group - 1) / f->group, zero_row = c->rows * bits / 8;
    const uint8_t *q = random_codes(c, f->code, c->rows * c->cols, 128);
    const uint8_t *z = random_codes(c, f->code, groups * c->rows, 4);
    const uint32_t *group = groups_of(c);
    uint8_t *qweight = add_tensor(c, c->cols * bits / 32 * c->rows * 4), *qzeros = add_tensor(c, groups * zero_row);
    const float *s = add_scales(c, &f16, groups * c->rows);
    uint8_t *g_idx = f->act_order ? add_tensor(c, 4 * c->cols) : NULL;

    for (size_t g = 0; g < groups; ++g)
        for (size_t row = 0; row < c->rows; ++row)
            put_bits(qzeros + g * zero_row, 1, row * bits, f->code->bits,
                     (uint32_t)z[g * c->rows + row] - f->minus_one);
    for (size_t col = 0; g_idx && col < c->cols; ++col) put_bits(g_idx + 4 * col, 1, 0, 32, group[col]);
    for (size_t row = 0; row < c->rows; ++row)
        for (size_t col = 0; col < c->cols; ++col) {
            const size_t i = row * c->cols + col, j = group[col] * c->rows + row;
            put_bits(qweight + 4 * row, c->rows, col * bits, f->code->bits, q[i]);
            c->values[i] = (float)(q[i] - z[j]) * s[j];
        }
}

/* ---- AWQ ---- */

/* Eight numbers along the output features are a word, in an order of their own. */
static void put_awq(uint8_t *words, size_t line, size_t rows, size_t row, uint32_t code) {
    static const unsigned feature_of_nibble[8] = {0, 2, 4, 6, 1, 3, 5, 7};
    for (unsigned nibble = 0; nibble < 8; ++nibble)
        if (feature_of_nibble[nibble] == row % 8)
            put_bits(words + line * rows / 2 + row / 8 * 4, 1, 4 * nibble, 4, code);
}

/* Source: WQLinear_GEMM of AutoAWQ. qweight i32 [K][N/8] and qzeros i32 [K/g][N/8], packed along N; scales f16
 * [K/g][N]. Zeros are stored as they are. */
void pack_awq(checkpoint *c) {
    const size_t groups = c->cols / c->format->group;
    const uint8_t *q = random_codes(c, &u4, c->rows * c->cols, 128), *z = random_codes(c, &u4, groups * c->rows, 4);
    uint8_t *qweight = add_tensor(c, c->cols * c->rows / 2), *qzeros = add_tensor(c, groups * c->rows / 2);
    const float *s = add_scales(c, &f16, groups * c->rows);

    for (size_t g = 0; g < groups; ++g)
        for (size_t row = 0; row < c->rows; ++row) put_awq(qzeros, g, c->rows, row, z[g * c->rows + row]);
    for (size_t row = 0; row < c->rows; ++row)
        for (size_t col = 0; col < c->cols; ++col) {
            const size_t i = row * c->cols + col, j = col / c->format->group * c->rows + row;
            put_awq(qweight, col, c->rows, row, q[i]);
            c->values[i] = (float)(q[i] - z[j]) * s[j];
        }
}

/* ---- HQQ ---- */

/* Source: Quantizer and BitPack of HQQ, axis 1. The tensor is flattened and cut into R lines of g elements, which may
 * cross rows. The lines are cut into planes, of which the first lies in the highest bits: for 8, 4 and 2 bits
 * W_q u8 [R*b/8][g]; for 3 bits i32 [R/10][g], with R padded to tens by lines of zeros and the top two bits left 0.
 * scale and zero f16 [R]. */
void pack_hqq(checkpoint *c) {
    const format *f = c->format;
    const size_t elements = c->rows * c->cols, lines = elements / f->group;
    const size_t bits = f->code->bits, planes = bits == 3 ? 10 : 8 / bits, unit = bits == 3 ? 4 : 1;
    const size_t packed = (lines + planes - 1) / planes;
    const uint8_t *q = random_codes(c, f->code, elements, 128);
    uint8_t *to = add_tensor(c, packed * f->group * unit);
    const float *scale = add_scales(c, &f16, lines), *zero = add_scales(c, &f16, lines);

    for (size_t i = 0; i < elements; ++i) {
        const size_t line = i / f->group, plane = line / packed;
        const size_t at = line % packed * f->group + i % f->group;
        put_bits(to + at * unit, 1, (planes - 1 - plane) * bits, f->code->bits, q[i]);
        const float centred = (float)q[i] - zero[line];
        c->values[i] = centred * scale[line];
    }
}

/* ---- compressed-tensors ---- */

/* Source: PackedQuantizationCompressor of compressed-tensors, "pack-quantized", 4 and 8 bits. Signed codes are stored plus
 * 2^(b-1), the low ones first: weight_packed i32 [N][K*b/32]. weight_scale is bf16 [N][K/g], or [N][1] by channels. Zero points
 * of 4 bits, plus 8, are packed along N: weight_zero_point i32 [ceil(N/8)][K/g], the missing rows 0. */
void pack_compressed_int(checkpoint *c) {
    const format *f = c->format;
    const size_t groups = (c->cols + f->group - 1) / f->group, bits = f->code->bits;
    const int middle = 1 << (bits - 1);
    const uint8_t *q = random_codes(c, f->code, c->rows * c->cols, 128), *z = random_codes(c, &u4, groups * c->rows, 4);
    uint8_t *weight = add_tensor(c, c->rows * c->cols * bits / 8);
    const float *s = add_scales(c, &bf16, c->rows * groups);
    uint8_t *zero_point = f->zeros ? add_tensor(c, (c->rows + 7) / 8 * groups * 4) : NULL;

    for (size_t row = 0; zero_point && row < c->rows; ++row)
        for (size_t g = 0; g < groups; ++g)
            put_bits(zero_point + (row / 8 * groups + g) * 4, 1, row % 8 * 4, 4, z[row * groups + g]);
    for (size_t row = 0; row < c->rows; ++row)
        for (size_t col = 0; col < c->cols; ++col) {
            const size_t i = row * c->cols + col, j = row * groups + col / f->group;
            put_bits(weight + row * c->cols * bits / 8, 1, col * bits, f->code->bits, q[i]);
            c->values[i] = (float)(q[i] - (f->zeros ? z[j] : middle)) * s[j];
        }
}

/* Source: IntQuantizationCompressor of compressed-tensors, "int-quantized", symmetric, by channels: weight i8 [N][K],
 * weight_scale bf16 [N][1]. */
void pack_int8_channel(checkpoint *c) {
    const uint8_t *q = random_codes(c, &i8, c->rows * c->cols, 128);
    uint8_t *weight = add_tensor(c, c->rows * c->cols);
    const float *s = add_scales(c, &bf16, c->rows);
    for (size_t i = 0; i < c->rows * c->cols; ++i) {
        weight[i] = q[i];
        c->values[i] = widen(&i8, q[i]) * s[i / c->cols];
    }
}
