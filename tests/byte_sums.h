/* Values of rows and checks of their sums in integers, for the tests of the rules that make these. */
#ifndef QKGEN_TESTS_BYTE_SUMS_H
#define QKGEN_TESTS_BYTE_SUMS_H

#include "ir_machine.h"

const qg_node *times(const bench *b, const qg_node *left, const qg_node *right);
/* Codes less a constant. */
const qg_node *minus(const bench *b, const qg_node *codes, int64_t by);
/* low | high << up */
const qg_node *joined(const bench *b, const qg_node *low, const qg_node *high, uint32_t up);
/* An integer below `extent` that is the same for all elements, as a factor. */
const qg_node *whole(const bench *b, const char *name, uint64_t extent);
/* A word of a table. */
const qg_node *load_table(const bench *b, uint32_t table);
/* Four values of a table, each looked up for itself: in the first row, or in the first column. */
const qg_node *look_up(const bench *b, uint32_t table, bool column);
/* Levels of the codes of four bits in a word, a byte apart. */
const qg_node *nibble_levels(const bench *b, const char *name, uint32_t shift);
/* bit ? yes : no as integers, with a bit for each lane. */
const qg_node *signs(const bench *b, const qg_node *bit, int64_t yes, int64_t no);
/* Applies the rules to the sum over the runs, and compares its numbers, with x of one to three digits, and its text. Frees the
 * bench, as the next two do. */
void check_runs(bench b, uint32_t n_runs, const qg_node *const *values, const char *expected);
/* The same for one run. */
void check(bench b, const qg_node *value_of_run, const char *expected);
/* There is no sum of integers of that run. */
void refuse(bench b, const qg_node *value_of_run);

#endif
