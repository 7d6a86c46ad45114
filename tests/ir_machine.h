/* IR that tests build by hand, and an interpreter of it: what a sum over a row comes to, in arithmetic that does not round.
 * Shared by the tests of the rules for sums; a failed assertion in here is one of the test that called. */
#ifndef QKGEN_TESTS_IR_MACHINE_H
#define QKGEN_TESTS_IR_MACHINE_H

#include "text/text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* ---- building ---------------------------------------------------------------------------------------------------- */

typedef struct bench {
    qg_arena *arena;
    qg_ir *ir;
} bench;

/* Tables of every bench, by number: LOAD reads one as ref 1 + its number. */
enum {
    TABLE_WORDS,
    TABLE_GRID,
    TABLE_SIGNED_GRID,
    TABLE_LEVELS,
    TABLE_WIDE,
    TABLE_REALS,
    TABLE_SIZES,
    TABLE_COLUMN,
    N_TABLES
};

bench bench_new(void);
const qg_node *apply(const bench *b, qg_op op, const qg_node *left, const qg_node *right);
/* 32 bits, by name. */
const qg_node *word(const bench *b, const char *name);
/* A scale: the same for all elements. */
const qg_node *half(const bench *b, const char *name);
/* Four floats that no rule takes apart. */
const qg_node *floats(const bench *b, const char *name);
/* Four integers below 2^bits that are no fields of one word. */
const qg_node *integers(const bench *b, const char *name, uint32_t bits);
/* A word shifted right by as many constants as there are lanes; the fields that a mask makes of it. */
const qg_node *spread(const bench *b, const qg_node *from, uint32_t lanes, const uint32_t *shifts);
const qg_node *fields(const bench *b, const qg_node *from, uint32_t lanes, const uint32_t *shifts, uint32_t width);
/* Four fields `step` bits apart. */
const qg_node *every_of(const bench *b, const qg_node *from, uint32_t first, uint32_t step, uint32_t width);
const qg_node *every(const bench *b, const char *name, uint32_t first, uint32_t step, uint32_t width);
/* The same from bit 0, with sign, as lowering writes them: without a mask. */
const qg_node *signed_every(const bench *b, const qg_node *from, uint32_t step, uint32_t width);
const qg_node *to_float(const bench *b, const qg_node *node);
const qg_node *to_int(const bench *b, const qg_node *node);
/* bit ? yes : no in four lanes, for bits that are integers. */
const qg_node *choose(const bench *b, const qg_node *bit, const qg_node *yes, const qg_node *no);

/* ---- evaluating -------------------------------------------------------------------------------------------------- */

enum { MAX_NODES = 2048 };

/* Values of what an IR reads. Where it asks for digits, x is integers times steps, and `digits` says how many bytes each has. */
typedef struct machine {
    const qg_ir *ir;
    bool magnitude;         /* every term of a sum counts as positive: what rounding errors are relative to */
    uint32_t digits, digit; /* how many, and the one in hand, from the highest */
    double x[QG_MAX_RUNS][QG_MAX_LANES];
    double step[QG_MAX_RUNS * QG_MAX_LANES / QG_STEP_ELEMENTS]; /* of such integers */
    uint32_t words[MAX_NODES];                                  /* by the number of the node, for arguments and loads */
} machine;

typedef struct value {
    uint32_t bits[QG_MAX_LANES];
    double real[QG_MAX_LANES];
} value;

uint32_t random_word(void);
/* Random words; where a half is taken of one, a finite half near one, of either sign. Random x between -1 and 1. */
machine machine_new(const qg_ir *ir);
/* The largest integer that `digits` signed bytes hold whatever its lower digits are. */
int32_t largest_of_digits(uint32_t digits);
/* Replaces x by random integers of that many digits, up to `largest`, in steps that are powers of two. */
void use_integers(machine *m, uint32_t digits, int32_t largest);
value evaluate(const machine *m, const qg_node *node);
/* The sum as it stands; x outside of the runs becomes 0. */
double plain_sum(machine *m, uint32_t lanes, uint32_t n_runs, const qg_node *const *values);
/* After qg_finish: statements, sums of integers, result, and what is asked of x: factors that are not 1, quads whose elements
 * are not those of a run, sums. */
char *text_of(const bench *b, uint32_t lanes, uint32_t n_runs);

#endif
