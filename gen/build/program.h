/* program.h: a kernel, finished. From here on nothing is lowered, and no code is changed: what prints, counts, dumps or
 * checks a kernel takes its program. */
#ifndef QKGEN_PROGRAM_H
#define QKGEN_PROGRAM_H

#include "build/family.h"

/* What a thread does with one tile: the code of a function of the text, or of two where
 * loads have one of their own. */
typedef struct qg_step {
    const char *name;           /* what the dump calls it */
    const char *meaning;        /* of a line of the dump */
    const qg_plan *plan;        /* of its tile */
    const qg_ir *code;          /* the tile's values, one output for each run; or its products with x, one output */
    const qg_operands *of_unit; /* where matrix units multiply: what `code` gives them; else NULL */
    const qg_ir *place;         /* where the tile's first run lies in its block, in runs; NULL: a matrix has no such */
    uint32_t size;              /* in tiles of the kernel's own plan */
} qg_step;

enum { QG_MOST_STEPS = 4 };

/* A kernel for one API, with one schedule. Which of its steps there are follows from these and from family, format and
 * class. */
typedef struct qg_program {
    const qg_kernel *kernel;
    qk_api api;
    qk_schedule schedule;  /* QK_SCHEDULE_NONE where the kernel has none: its template is that of its family */
    const qg_plan *plan;   /* the kernel's own, for that API */
    const qg_step *values; /* a tile's values: of decoders, and of rows that may end within a tile; or NULL */
    const qg_step *sum;    /* a tile's products with x: of kernels that sum; or NULL */
    const qg_step *wide;   /* the same of a larger tile, whose loads are made first (code->fetched); or NULL */
    const qg_step *ahead;  /* the same out of memory into which rows were loaded ahead; or NULL */
    const qg_step *main;   /* of these, the one that the schedule walks with */
    const qg_ir *stores;   /* where a tile's results begin, in stores; NULL where a matrix has them, or for sums */
    uint32_t n_steps;      /* all of these steps, in this order */
    qg_step steps[QG_MOST_STEPS];
} qg_program;

/* Finishes a kernel for an API that it is for. For Vulkan, `schedule` is one that the kernel has, or QK_SCHEDULE_NONE
 * where it has none. Lives as long as `arena` and the kernel's plans. */
const qg_program *qg_program_of(qg_arena *arena, const qg_kernel *kernel, qk_api api, qk_schedule schedule);
/* That of the reference in C: a format's values, element by element. */
const qg_program *qg_program_of_reference(qg_arena *arena, const qg_layout *layout);

/* Words of what a workgroup shares of x, of each right-hand side and tile. */
uint32_t qg_shared_words(const qg_step *step, uint32_t digits);
/* Steps of x in a tile of integers. */
uint32_t qg_x_steps(const qg_plan *plan);

/* The words of a kernel for Vulkan: of one without schedules, or of each of them; NULL where it was not compiled. */
typedef struct qg_modules {
    const qk_code *main; /* or that of QK_SCHEDULE_ROWS */
    const qk_code *of[QK_SCHEDULE_COUNT];
} qg_modules;

/* ---- verify.c ---------------------------------------------------------------------------------------------------- */

/* Loads of a buffer in a step: of how many it is proven that they stay within their block (or in the QK_PADDING bytes
 * behind it, where the code says so), and of how many dispatch sees to it, which checks the size of a tensor whose
 * blocks are patches against its shape. */
typedef struct qg_load_proof {
    uint32_t proven, guarded;
} qg_load_proof;

typedef struct qg_proofs {
    qg_load_proof *loads; /* for each buffer of each step, one step after the other */
    uint32_t unproven;    /* shifts, lookups and loads that might go too far, by all that is known of their ranges */
    const char *first;    /* of these; NULL: there are none */
} qg_proofs;

/* Checks a program: types, what is kept of x, results, names. NULL, or what is wrong: a fault of the generator. Shifts
 * below the width, indices of tables and of blocks are proven by ranges; `proofs`, unless NULL, says of which that did
 * not succeed. */
const char *qg_verify(qg_arena *arena, const qg_program *program, qg_proofs *proofs);

/* ---- dump_program.c ---------------------------------------------------------------------------------------------- */

/* The program as text: what it is made of, and the code of each step. */
char *qg_dump_program(qg_arena *arena, const qg_program *program);

#endif
