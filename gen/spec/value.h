/* value.h: the value of an element straight from the proven layout, one code at a time, with the value's tree
 * evaluated as it
 * stands. It shares no line with planning, lowering or printing, so that it can tell whether those are right. */
#ifndef QKGEN_VALUE_H
#define QKGEN_VALUE_H

#include "spec/spec.h"

/* An element of a block. `blocks` are the bytes of the block in each buffer of the layout, in order. */
typedef struct qg_element {
    const qg_layout *layout;
    const unsigned char *const *blocks;
    uint32_t index;           /* in the block */
    struct qg_memory *memory; /* NULL: none */
} qg_element;

/* What is the same for neighbours, such as a scale: computed once for a run of them. It is of one block at a time. */
typedef struct qg_memory qg_memory;

qg_memory *qg_memory_new(qg_arena *arena, const qg_layout *layout);
/* Before the elements of another block, or of one in which codes of more than one element have changed. */
void qg_memory_clear(qg_memory *memory);

/* The value, each operation rounded to f32 and then to `layout->math`. */
float qg_value_of(const qg_element *element);

/* Its magnitude, see below; codes and values of tables count for `least` at least. */
float qg_magnitude_of(const qg_element *element, double least);

/* The bits of `value`, rounded to F32, F16 or BF16, ties to even. */
uint32_t qg_bits_of(qg_scalar type, float value);

/* The number that bits of that type stand for. */
float qg_float_of(qg_scalar type, uint32_t bits);

/* Blocks of several rows, kept from one row of a tensor to the next. */
typedef struct qg_patches qg_patches;

/* A tensor of rows x cols elements. Buffer b is the bytes data[b], repeated every periods[b] bytes. With `experts` that
 * is not 0, the rows are those of so many matrices, which lie one after the other in each buffer. `patches`, which may
 * be NULL, are those of this tensor alone. */
typedef struct qg_tensor {
    const qg_layout *layout;
    uint64_t rows, cols;
    const unsigned char *const *data;
    const uint64_t *periods;
    uint64_t experts;
    qg_patches *patches;
} qg_tensor;

/* Room for the blocks of a row of blocks, with which rows that follow each other are read faster. NULL where each row
 * has blocks of its own, where it takes more than 64 MiB, or where which block it is depends on a code. */
qg_patches *qg_patches_new(qg_arena *arena, const qg_tensor *tensor);

/* Values of the `count` elements of row `row` from column `col` on. */
void qg_values_of_row(qg_arena *arena, const qg_tensor *tensor, uint64_t row, uint64_t col, uint64_t count,
                      float *values);

/* The magnitudes of the same elements, which docs/error-bounds.md defines: the value with each sum
 * and difference taken as the sum of magnitudes. What a kernel may take out of a sum of products is
 * one: a bias of integers that may be negative, or one of two values that a bit chooses between.
 * Codes and values of tables count for `least` at least, which is not negative. */
void qg_magnitudes_of_row(qg_arena *arena, const qg_tensor *tensor, uint64_t row, uint64_t col, uint64_t count,
                          double least, float *magnitudes);

/* How many blocks a tensor has, those that are cut off too. */
uint64_t qg_blocks_in(const qg_layout *layout, uint64_t rows, uint64_t cols);
/* The bytes of a buffer of a tensor of rows x cols. */
uint64_t qg_buffer_bytes(const qg_layout *layout, uint32_t buffer, uint64_t rows, uint64_t cols);
/* Which block has an element of a tensor, and where: block * elements + its place in the block. */
uint64_t qg_place_in_blocks(const qg_layout *layout, uint64_t rows, uint64_t cols, uint64_t row, uint64_t col);
/* Copies blocks, one after the other, to where they lie in a buffer of a tensor, but for what is cut off. Not for
 * buffers that a code looks up. */
void qg_lay_blocks(const qg_layout *layout, uint32_t buffer, uint64_t rows, uint64_t cols, const unsigned char *blocks,
                   unsigned char *to);

#endif
