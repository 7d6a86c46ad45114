/* Test data in the layouts of checkpoints: random numbers, packed as the file has them, and their values.
 *
 * Each packer is a loop written from the public description of its format, and each value is computed from the numbers
 * before they are packed. Nothing here knows a specification or a line of the generator. */
#ifndef PACK_H
#define PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- numbers of few bits ---- */

typedef enum number_class {
    UNSIGNED,
    SIGNED, /* two's complement */
    FLOAT,  /* sign, exponent, mantissa from the top; the bias is 2^(exponent bits - 1) - 1 */
    POWER,  /* 2^(code - 127), and NaN for 255 */
} number_class;

typedef enum specials { NONE, NAN_ON_TOP, IEEE } specials; /* what the largest exponent holds beside numbers */

typedef struct kind {
    number_class class;
    unsigned bits, mantissa_bits;
    specials specials;
} kind;

extern const kind u2, u3, u4, u8, i8, f32, f16, bf16, e5m2, e4m3, e3m2, e2m3, e2m1, e8m0;

/* The number that a code stands for. */
float widen(const kind *kind, uint32_t code);

void seed_random(uint64_t seed);

/* A random number less than n. */
uint32_t random_below(uint32_t n);

/* Writes `width` bits of `value` at bit `bit` of a little-endian stream of 32-bit words, of which each lies `stride`
 * words after the one before it. The bits must be 0. With a stride of 1 it is a stream of bytes, too. */
void put_bits(uint8_t *words, size_t stride, size_t bit, unsigned width, uint32_t value);

/* ---- checkpoints ---- */

typedef struct format format;

typedef struct tensor {
    char name[32];
    uint8_t *data;
    size_t size;
} tensor;

typedef struct checkpoint {
    const format *format;
    size_t rows, cols; /* output and input features */
    bool plain;        /* without edges: finite codes, scales from 2^-6 to 2 */
    tensor tensors[4];
    size_t n_tensors;
    float *values; /* [rows][cols] */
    void *owned[16];
    size_t n_owned;
} checkpoint;

struct format {
    char name[32];
    void (*pack)(checkpoint *c);
    const char *tensors;                  /* names in order, separated by spaces */
    const char *shapes;                   /* ROWSxCOLS for tests, separated by spaces */
    size_t rows_of, cols_of, elements_of; /* what ROWS, COLS and their product must be a multiple of */
    unsigned group;                       /* elements with one scale */
    const kind *code;                     /* of an element */
    bool minus_one;                       /* zeros are stored less 1 */
    bool act_order;                       /* g_idx names the group of each input feature */
    bool zeros;                           /* stored zero points */
    const float *table;                   /* codebook */
    const kind *scale;
    size_t tile_rows, tile_cols; /* elements with one scale, in two dimensions; 0 for all */
};

/* Zeroed memory that lives as long as the checkpoint. */
void *reserve(checkpoint *c, size_t count, size_t size);

/* The next tensor in the order of the format's names: zeroed bytes to pack into. */
uint8_t *add_tensor(checkpoint *c, size_t size);

/* Codes: runs of `run` zeros, of all ones, of the least and of the greatest number, then each code once, from the top,
 * then random ones. Infinities and NaN come once, where each code does. */
const uint8_t *random_codes(checkpoint *c, const kind *kind, size_t count, size_t run);

/* The next tensor, of `count` random scales, and their values: 0, -0, negative, the least and the greatest among them.
 * The least of f16 is a subnormal. Those of f32 and bf16 stay clear of f32's subnormals, which devices may flush. */
const float *add_scales(checkpoint *c, const kind *kind, size_t count);

void pack_gptq(checkpoint *c);
void pack_awq(checkpoint *c);
void pack_hqq(checkpoint *c);
void pack_compressed_int(checkpoint *c);
void pack_int8_channel(checkpoint *c);
void pack_codebook4(checkpoint *c);
void pack_mx(checkpoint *c);
void pack_nvfp4(checkpoint *c);
void pack_fp8(checkpoint *c);

extern const float nf4_table[16], fp4_table[16];

#endif
