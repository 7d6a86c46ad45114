/* plan.h: how threads share a block, and the IR of a tile. */
#ifndef QKGEN_PLAN_H
#define QKGEN_PLAN_H

#include "ir/ir.h"

/* ---- place.c ----------------------------------------------------------------------------------------------------- */

/* The index in memory, counted in units of `unit` bits, of word `word` of a block's tile, in a tensor whose blocks are
 * patches of a matrix. `by` is the value of the code that stands in the place of an axis, or NULL. */
const qg_node *qg_place(qg_ir *ir, uint32_t buffer, uint32_t unit, qg_index word, const qg_node *by);

/* ---- wide.c ------------------------------------------------------------------------------------------------------ */

/* The loads of weights of a piece of code, which can be made before the rest of it: fours of words, and words. */
typedef struct qg_fetches {
    uint32_t n_fours, n_words, fours_capacity, words_capacity;
    const qg_node **fours, **words;
} qg_fetches;

qg_fetches *qg_fetches_of(qg_arena *arena, const qg_ir *ir);
/* The place of a load in `fetches`, or UINT32_MAX. */
uint32_t qg_fetched_at(const qg_fetches *fetches, const qg_node *load);
/* Whether `node` is `from` or a part of it. */
bool qg_is_part(const qg_node *from, const qg_node *node);
/* Whether a statement is needed where the loads are made (`loads`), or by the rest. */
bool qg_is_needed(const qg_ir *ir, const qg_fetches *fetches, const qg_node *statement, bool loads);

/* ---- plan.c: how threads share a block --------------------------------------------------------------------------- */

enum { QG_MAX_RUNS = 32, QG_MAX_DIGITS = 16 };
/* At most, of a qg_span: eight rows of each subgroup take memory that a workgroup shares. */
enum { QG_SPAN_WORDS = 80 };

/* A thread decodes a tile: `n_runs` runs of `lanes` consecutive elements, at fixed distances from
 * each other. The tile's number within the block, split into `digits` (least significant first),
 * gives the first element as sum(digit * stride) with strides in elements. */
typedef struct qg_lowered qg_lowered; /* lower.c */

typedef struct qg_plan {
    const qg_layout *layout;
    uint32_t lanes;
    uint32_t n_runs;
    uint32_t runs[QG_MAX_RUNS]; /* element offset of each run from the tile's first element */
    uint32_t n_digits;
    qg_digit digits[QG_MAX_DIGITS];
    uint32_t tile_elements; /* of a tile, in one row */
    uint32_t tile_rows;     /* a tile has the same columns of so many rows, which divide those of its block */
    uint32_t store_lanes; /* neighbours that are stored at once: all lanes, or 1 where a tile may be cut off; in a plan
                             for stores, up to 16 bytes of them */
    uint32_t tiles;       /* in a block */
    uint32_t row_tiles;   /* in a row of a block, where blocks are patches of a matrix */
    uint32_t *units;      /* bits of the words in which each buffer is loaded: 8, 16 or 32 */
    uint32_t workgroup;
    bool *stored;   /* tables that are kept as packed words in memory; the others are arrays in the text */
    bool reference; /* one element at a time, from a pointer to the block */
    bool wide;      /* loads of 16 bytes, where neighbouring words are wanted */
    bool by_words;  /* in a wide plan: none of 16 bytes all the same */
    bool held;      /* in a wide plan: words are in memory that a subgroup shares, where nothing is gained by windows */
    bool masked;    /* codes and scales become floats where they lie in their words */
    bool pairs;     /* codes of four bits are looked up two at a time, in a table that a workgroup makes */
    bool copied;    /* words of stored tables come from copies that a workgroup makes */
    bool *midway;   /* buffers of which blocks begin at either half of a word, and words are put together of two */
    const uint32_t *own_units; /* in a wide plan: units of the plan of smaller tiles, which buffers are named after */
    qg_lowered *lowered; /* what was lowered of it, so that nothing is lowered twice */
} qg_plan;

/* Words that four tiles of a row are, which threads may load as they lie: `runs` times 16 threads, and `left` of them
 * what is left; and how many words lie between rows of them in memory that a subgroup shares. All 0: each thread loads
 * the words of its own tile. */
typedef struct qg_span {
    uint32_t words, runs, left, stride;
} qg_span;

/* Not where words can be loaded by four; nor where a block has more than two tiles, whose words lie nearer to each
 * other: that it is faster was measured of one tile in a block, and of two. */
qg_span qg_span_of(const qg_plan *wide, const qg_fetches *all);

/* A copy that may be changed until something is lowered of it; NULL gives an empty plan. */
qg_plan *qg_plan_copy(qg_arena *arena, const qg_plan *plan);

/* Plans decoding on a GPU: whole aligned words, several elements a thread, and shifts that are constants. */
const qg_plan *qg_plan_tiles(qg_arena *arena, const qg_layout *layout);
/* The same for results of one type that leave in stores of 16 bytes, side by side with those of
 * neighbouring threads. With `rows`, a tile may have several rows of a matrix. */
const qg_plan *qg_plan_stores(qg_arena *arena, const qg_layout *layout, qg_scalar type, bool rows);
/* Whether neighbours in memory are codes of different rows of a matrix. */
bool qg_is_turned(const qg_layout *layout);
/* The same of patches of a matrix, so that threads have rows of their own. */
bool qg_walks_columns(const qg_layout *layout);
/* Plans sums over rows: the same, with more elements a thread, so that scales are decoded for fewer threads. */
const qg_plan *qg_plan_rows(qg_arena *arena, const qg_layout *layout);
/* Plans sums over rows with loads of 16 bytes: tiles of at least so many words that these pay, of as
 * many blocks joined as make whole words. With `small_x`, x takes few registers, so that tiles may be
 * larger. With `midway`, blocks of one buffer may begin in the middle of a word, so that no more are joined than make
 * a tile; loads are of 4 bytes then. NULL where there is no such plan, and where its tiles are not made of those of
 * `rows`. */
const qg_plan *qg_plan_wide(qg_arena *arena, const qg_layout *layout, const qg_plan *rows, bool small_x, bool midway);
/* Whether blocks begin in the middle of a word, of any buffer. */
bool qg_is_midway(const qg_plan *plan);
/* Of such plans, the one whose tiles have only those bit planes that all bits of a code have, and more
 * neighbours in the place of the others, which share scales. */
const qg_plan *qg_plan_neighbours(qg_arena *arena, const qg_layout *layout, const qg_plan *rows);
/* One with tiles of twice the size; NULL where there is none. */
const qg_plan *qg_plan_larger(qg_arena *arena, const qg_plan *rows, const qg_plan *wide, bool midway);
/* Smaller tiles than that, still with loads of whole words: for threads that keep much else. NULL: there are none. */
const qg_plan *qg_plan_small(qg_arena *arena, const qg_layout *layout, const qg_plan *rows, bool midway);
/* Plans sums in which each thread has rows of its own, with larger tiles: of as many rows as share words. NULL where
 * neighbours in memory are not of different rows, and where its tiles are not made of those of `rows`. */
const qg_plan *qg_plan_columns(qg_arena *arena, const qg_layout *layout, const qg_plan *rows);
/* Runs of x that a tile meets: those of one of its rows. */
uint32_t qg_x_runs(const qg_plan *plan);
/* Plans the reference: one element at a time, bytes. */
const qg_plan *qg_plan_elements(qg_arena *arena, const qg_layout *layout);
/* How many tiles of x a thread keeps. */
uint32_t qg_kept_tiles(const qg_plan *plan);
/* The same where matrix units multiply: x of eight right-hand sides as halves. */
uint32_t qg_mma_tiles(const qg_plan *plan);
char *qg_dump_plan(qg_arena *arena, const qg_plan *plan);

/* ---- lower.c: layout and plan to IR ------------------------------------------------------------------------------ */

/* Arguments of the emitted code: `block`, the number of the block, and `tile`, the number of the
 * tile within it. In the reference there is only `i`, the element's index in the block. Where blocks
 * are patches of a matrix: those of place.c, `r`, the row within the block, and `t`, the number of
 * the tile within that row, or in the reference `c`, the column. One output for each run. */
const qg_ir *qg_lower_decode(const qg_plan *plan);
/* What a sum over a row multiplies. */
typedef enum qg_products {
    QG_PRODUCTS_F32,  /* floats, as qg_dot_of_runs has it */
    QG_PRODUCTS_F16,  /* the same, with products of halves */
    QG_PRODUCTS_INT8, /* bytes, as qg_dot_of_bytes has it */
    QG_PRODUCTS_MMA   /* halves, on matrix units */
} qg_products;

/* The values of a tile of a wide plan as operands of a matrix unit; NULL where there are none. */
const qg_operands *qg_lower_operands(const qg_plan *plan);

/* The dot product of a tile with x: one output. Arguments as above. NULL where the format's values
 * have no such products. */
const qg_ir *qg_lower_dot(const qg_plan *plan, qg_products products);
/* Where the tile's first element lies in its block, counted in units of `lanes` elements. Not where
 * blocks are patches of a matrix. */
const qg_ir *qg_lower_place(qg_arena *arena, const qg_plan *plan, uint32_t lanes);

#endif
