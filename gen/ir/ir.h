/* ir.h: expressions and statements, what rewrites them, and what is asked of them. */
#ifndef QKGEN_IR_H
#define QKGEN_IR_H

#include "spec/spec.h"

/* ---- ir.c: typed expressions and named statements -------------------------------------------------------------- */

/* Elements of a tile that share a step of x where it is integers: class int8 is bytes in steps of so many. */
enum { QG_MAX_LANES = 4, QG_STEP_ELEMENTS = 32, QG_FEW_ROWS = 16 };

/* An expression. Nodes are immutable and unique: building the same expression twice gives the same node.
 * Binary operations broadcast a single lane over several. A node with a name is printed as a statement
 * of its own, in the order in which the names were given; all others are printed where they are used. */
typedef struct qg_node {
    qg_op op;
    qg_kind kind;
    uint32_t lanes;      /* 1, 2 or 4 */
    uint32_t ref;        /* LOAD, LOAD_WIDE: buffer, or n_buffers + table; TABLE: table */
    int64_t integer;     /* integer CONST; LOAD, LOAD_WIDE: bits of a word; SEXT: width; LANE: number; DOT: the run of
                            x; DOT4: the quad of x; X_SUM, X_DIGITS: its number in x_sums, x_digits; X_STEP, DIGITS:
                            its number */
    float real;          /* float CONST */
    uint64_t max;        /* an upper bound of an unsigned value, for dropping masks */
    const char *name;    /* ARG, or a statement's */
    const char *comment; /* of the statement */
    bool precise;        /* a float operation that must round as written */
    bool used;           /* by an output; qg_finish knows */
    uint32_t n_args;
    const struct qg_node *arg[QG_MAX_LANES];
} qg_node;

/* A straight-line piece of code: statements, and results in the order of `outputs`. */
typedef struct qg_ir {
    qg_arena *arena;
    const qg_layout *layout;
    const struct qg_fetches *fetched; /* loads that are made elsewhere; NULL: none */
    const uint32_t *own_units;        /* bits of the words that buffers' own names are of; NULL: of all */
    const char *x;                    /* what the arrays are called that hold what is kept of x */
    qg_node **nodes;                  /* all, in order of creation */
    uint32_t n_nodes, nodes_capacity;
    uint32_t *hash; /* open addressing; index + 1 in nodes */
    uint32_t hash_size;
    const qg_node **statements;
    uint32_t n_statements, statements_capacity;
    struct qg_output {
        const qg_node *node;
        const char *comment; /* before its statements */
        uint32_t after;      /* so many statements come before it */
    } * outputs;
    uint32_t n_outputs, outputs_capacity;
    float (*x_factors)[QG_MAX_LANES]; /* what each run of x is multiplied with when it is loaded; NULL: 1 */
    uint32_t n_x_factors, x_lanes;
    uint64_t *x_sums;     /* the sets of runs over which x is summed up */
    float *x_sum_factors; /* what each of these sums is multiplied with when it is made */
    uint32_t n_x_sums, x_sums_capacity, x_sum_factors_capacity;
    struct qg_quad *x_quads; /* where x is integers: the elements of the tile whose digits share a word */
    uint32_t n_x_quads, x_quads_capacity;
    uint32_t overruns; /* buffers, a bit each, of which loads may go beyond the block, by QK_PADDING bytes at most */
    bool masked;       /* codes become floats where they lie in their words, as halves; x makes up for that */
    bool in_place;     /* and not in words that were put together of two neighbours */
    bool half;         /* products with x are of halves */
    bool pairs;        /* codes of four bits may be looked up two at a time */
    bool copied;       /* words of stored tables are asked of functions TABLE_at */
    bool held;     /* those of weights are in the array `held`, from `at` on; fours are asked of a function held_four */
    bool each;     /* sums of dot products are arrays, with a value for each right-hand side */
    bool gathers;  /* statements of one type are neighbours, as gather.c has it */
    bool single;   /* code for one right-hand side at a time; else for BATCH of them */
    bool in_turns; /* terms of the result are added in turns, each by itself */
    uint32_t turn_runs; /* runs of x in each turn in which the tile is multiplied, as turns.c has it; 0: in one */
    bool one_step;  /* x of two digits and more has one step for all of a tile, whose sums of integers are one sum */
    uint64_t *x_digits; /* the sets of runs over which digits are summed up */
    uint32_t n_x_digits, x_digits_capacity;
} qg_ir;

/* Four elements of a tile, counted through its runs. */
typedef struct qg_quad {
    uint16_t element[4];
} qg_quad;

qg_ir *qg_ir_new(qg_arena *arena, const qg_layout *layout);
const qg_node *qg_uint(qg_ir *ir, uint32_t value);
const qg_node *qg_int(qg_ir *ir, int64_t value);
const qg_node *qg_real(qg_ir *ir, float value);
/* A named input of the code, below `extent`. */
const qg_node *qg_arg(qg_ir *ir, const char *name, uint64_t extent);
/* Applies an operation after constant folding and the identities that are exact (x + 0, x & mask
 * that changes nothing). */
const qg_node *qg_apply(qg_ir *ir, qg_op op, const qg_node *a, const qg_node *b, const qg_node *c);
/* The `unit`-bit word of a buffer at an index counted in such words, zero-extended. */
const qg_node *qg_load(qg_ir *ir, uint32_t buffer, uint32_t unit, const qg_node *index);
/* Four words of 32 bits of a buffer at an index counted in such fours. */
const qg_node *qg_load_four(qg_ir *ir, uint32_t buffer, const qg_node *index);
/* The four bytes of a word of 32 bits as integers with a sign or without, the lowest first. */
const qg_node *qg_load_bytes(qg_ir *ir, uint32_t buffer, const qg_node *index, bool with_sign);
/* 32 bits from several words that are narrower. */
const qg_node *qg_load_wide(qg_ir *ir, uint32_t buffer, uint32_t unit, const qg_node *index);
/* The kind of a table's values. */
qg_kind qg_table_kind(const qg_table *table);
const qg_node *qg_lookup(qg_ir *ir, uint32_t table, const qg_node *row, const qg_node *column);
/* What a table of 16 bytes has for the four codes in the low 16 bits of a word, as bytes: for the
 * lower half of the first byte, of the second, for the upper half of the first, of the second. */
const qg_node *qg_pairs(qg_ir *ir, uint32_t table, const qg_node *codes);
/* The two of one byte, that of the lower half first, as halves in a word. */
const qg_node *qg_pair(qg_ir *ir, uint32_t table, const qg_node *codes);
/* The same two as floats: two lanes. */
const qg_node *qg_two(qg_ir *ir, uint32_t table, const qg_node *codes);
const qg_node *qg_vector(qg_ir *ir, const qg_node *const *lanes, uint32_t count);
const qg_node *qg_lane(qg_ir *ir, const qg_node *vector, uint32_t lane);
const qg_node *qg_splat(qg_ir *ir, const qg_node *scalar, uint32_t lanes);
/* Whether a small table of integers is looked up for floats alone, in code that masks codes: it is TABLE_as_float
 * there. */
bool qg_looks_up_floats(const qg_ir *ir, uint32_t table);
/* The `width` low bits as two's complement. */
const qg_node *qg_sign_extend(qg_ir *ir, const qg_node *bits, uint32_t width);
/* The dot product of a run of x with as many values, and the sum of x over a set of runs, times a factor. */
const qg_node *qg_dot(qg_ir *ir, uint32_t run, const qg_node *vector);
/* Whether a dot product of four lanes is added to something, in code that has a function for that:
 * a chain of multiplications with additions. */
bool qg_is_added_dot(const qg_ir *ir, const qg_node *node);
/* Whether a float is made of dot products, so that each right-hand side has its own. */
bool qg_is_of_x(const qg_node *node);
const qg_node *qg_x_sum(qg_ir *ir, uint64_t runs, float factor);
/* In integers, for the digit in hand: four bytes of codes with quad number `quad` of x, and the sum
 * of digits over a set of runs; what such a sum stands for when all digits are taken together, in
 * steps of x; and step number `step` of the tile. */
const qg_node *qg_dot4(qg_ir *ir, uint32_t quad, const qg_node *bytes, bool with_sign);
/* Whether such codes have a sign, or bits for one. */
bool qg_meets_signed(const qg_node *dot4);
const qg_node *qg_x_digits(qg_ir *ir, uint64_t runs);
const qg_node *qg_digits(qg_ir *ir, const qg_node *sum);
const qg_node *qg_x_step(qg_ir *ir, uint32_t step);
/* Both halves of a word as floats: two lanes. */
const qg_node *qg_halves_of(qg_ir *ir, const qg_node *word);
/* An integer that is fields of words as a float, by way of halves; NULL where it is not. */
const qg_node *qg_scalar_as_half(qg_ir *ir, const qg_node *node);
/* Bits to float: F16 and BF16 take the low 16 bits, F32 all 32. */
const qg_node *qg_float_bits(qg_ir *ir, qg_scalar type, const qg_node *bits);
/* A float rounded to F16 or BF16; the node itself where that type holds it, or where the type is F32. */
const qg_node *qg_round(qg_ir *ir, qg_scalar type, const qg_node *node);
/* Makes a statement of a node that is neither a constant nor an argument, if it has no name yet.
 * Statements that share a name are told apart by qg_finish. */
const qg_node *qg_let(qg_ir *ir, const qg_node *node, const char *name, const char *comment);
void qg_output(qg_ir *ir, const qg_node *node, const char *comment);
/* The last step of building: puts the statements that the outputs need in an order in which each comes before its uses,
 * numbers those that share a name (q0, q1, ...), and keeps clear of `reserved` names. */
void qg_finish(qg_ir *ir, const char *const *reserved, uint32_t count);
char *qg_dump_ir(qg_arena *arena, const qg_ir *ir);

/* ---- index.c: index expressions that know their digits ----------------------------------------------------------- */

enum { QG_INDEX_TERMS = 12 };

/* constant + sum(coefficient * digit), each digit known to lie in [0, extent). Division and remainder by constants are
 * carried out on the form where they are exact, so that what is static about an address becomes a constant. */
typedef struct qg_index {
    int64_t constant;
    uint32_t n_terms;
    struct qg_index_term {
        const qg_node *digit;
        uint64_t extent;
        int64_t coefficient;
    } terms[QG_INDEX_TERMS];
} qg_index;

qg_index qg_index_constant(int64_t value);
qg_index qg_index_digit(const qg_node *digit, uint64_t extent);
qg_index qg_index_add(qg_ir *ir, qg_index a, qg_index b);
qg_index qg_index_scale(qg_index a, int64_t factor);
qg_index qg_index_div(qg_ir *ir, qg_index a, uint32_t divisor);
qg_index qg_index_mod(qg_ir *ir, qg_index a, uint32_t divisor);
int64_t qg_index_max(qg_index a);
/* True when a - b is the same for all digits; sets *difference. */
bool qg_index_difference(qg_index a, qg_index b, int64_t *difference);
/* start + a; `start` may be NULL. */
const qg_node *qg_index_node(qg_ir *ir, const qg_node *start, qg_index a);

/* ---- dot.c ------------------------------------------------------------------------------------------------------- */

/* sum(x * value) over a tile, of which `values` has one vector for each run; what is the same for a
 * run stands outside of the sums. */
const qg_node *qg_dot_of_runs(qg_ir *ir, uint32_t lanes, uint32_t n_runs, const qg_node *const *values);
/* The same for each of `rows` rows of a tile, which meet the same x: `values` has the runs of one row after the
 * other. */
void qg_dots_of_rows(qg_ir *ir, uint32_t lanes, uint32_t n_runs, uint32_t rows, const qg_node *const *values,
                     const qg_node **sums);
/* The same with every value as it was written: for values whose operations must round as they do. */
const qg_node *qg_dot_as_written(qg_ir *ir, uint32_t lanes, uint32_t n_runs, const qg_node *const *values);

/* The same in integers, as dot_bytes.c has it; NULL where a value is no integer of eight bits times what is the
 * same for a run, where all values are the same for their runs, or where 32 bits might not hold the sum. */
const qg_node *qg_dot_of_bytes(qg_ir *ir, uint32_t lanes, uint32_t n_runs, const qg_node *const *values);

/* ---- turns.c ----------------------------------------------------------------------------------------------------- */

enum { QG_TURNS = 4 };

/* What is added in one of the turns: a term of the result, or what a piece of its chain of dot products makes of it. */
typedef struct qg_turn_part {
    uint32_t turn;
    bool minus;
    const qg_node *term;
} qg_turn_part;

typedef struct qg_tile_turns {
    const qg_ir *ir;
    qg_turn_part *parts;
    uint32_t n_parts, capacity;
    uint32_t *of_sums; /* in which turns each sum of x is wanted, a bit each */
} qg_tile_turns;

/* NULL: a term of the result is nothing that can be cut. */
const qg_tile_turns *qg_turns_of(qg_arena *arena, const qg_ir *ir);
/* In integers, whose turns are steps of x: what of the result is made of that turn's x; NULL: nothing. */
const qg_node *qg_part_in_turn(qg_arena *arena, const qg_ir *ir, uint32_t turn);
/* In how many turns it can be taken apart so, where each has as many of the words, sums and digits that are kept of x,
 * the first ones first; 0: it cannot. */
uint32_t qg_turns_of_integers(const qg_ir *ir);
/* Whether a link of a chain is the first of a turn, and what comes before it is another's. */
bool qg_begins_turn(const qg_ir *ir, const qg_node *link);

/* ---- bytes.c ----------------------------------------------------------------------------------------------------- */

/* Four integers are the bytes of a word, each between `low` and `high`, plus `offset`. */
typedef struct qg_bytes {
    const qg_node *word;
    int32_t low, high;
    int32_t offset;
} qg_bytes;

/* Codes of 1, 2 or 4 bits that do not lie a byte apart, each at a multiple of its width. */
typedef struct qg_plane {
    const qg_node *word;
    uint32_t width;
    uint32_t shift[QG_MAX_LANES];
} qg_plane;

/* Four lanes of floats that are converted integers; false where these do not fit into bytes. */
bool qg_as_bytes(qg_ir *ir, const qg_node *node, qg_bytes *out);
/* The same where they come to their bytes at once, and not one by one or two by two. */
bool qg_as_bytes_at_once(qg_ir *ir, const qg_node *node, qg_bytes *out);
bool qg_as_plane(qg_ir *ir, const qg_node *node, qg_plane *out);
/* The codes of a plane's word at `shift`, `shift` + 8, + 16 and + 24. */
const qg_node *qg_plane_bytes(qg_ir *ir, const qg_plane *plane, uint32_t shift);
/* Four lanes that are looked up in a table of 16 bytes, with codes of four bits, a byte apart from `shift` on. */
typedef struct qg_nibbles {
    const qg_node *word;
    uint32_t table, shift;
    int64_t low, high; /* of the table */
} qg_nibbles;

bool qg_as_nibbles(qg_ir *ir, const qg_node *node, qg_nibbles *out);
/* The word of which four integers are the bytes; NULL where there is none. */
const qg_node *qg_word_of_bytes(qg_ir *ir, const qg_node *node);
/* Two fractions of eight bits, in the lower bytes of both halves of a word, times radix * `power`,
 * with 16 bits for each; where that is a power of the radix, by its digits one after the other,
 * which others want, too. `power` may be NULL: 1. */
const qg_node *qg_times_radix(qg_ir *ir, const qg_node *pairs, const qg_node *power, uint32_t radix, const char *name);
/* The bit that a condition asks for; NULL when it asks for anything else. */
const qg_node *qg_bit_of(const qg_node *condition);
/* Bounds of an integer, in all lanes; false where none are known. */
bool qg_integer_range(const qg_ir *ir, const qg_node *node, int64_t *low, int64_t *high);

/* ---- halves.c ---------------------------------------------------------------------------------------------------- */

/* A vector of integers as floats is `vector` * `factor` - `bias`, lane by lane. */
typedef struct qg_halves {
    const qg_node *vector;
    float factor[QG_MAX_LANES];
    float most; /* the largest magnitude of a lane, at most */
    float bias;
    const qg_node
        *nans; /* a word; where bits 7, 15, 23 or 31 are set, one of the lanes is NaN, and not what is said here;
                            NULL: none can be */
} qg_halves;

/* Takes a conversion of codes that lie in one word apart; false where its lanes do not fit into halves. */
bool qg_as_halves(qg_ir *ir, const qg_node *node, uint32_t lanes, qg_halves *out);
/* The same, and of lanes that may be NaN. */
bool qg_as_halves_or_nan(qg_ir *ir, const qg_node *node, uint32_t lanes, qg_halves *out);
/* The same of codes that lie alike in a word for each lane: rows of a tile find theirs in the same words. */
bool qg_words_as_halves(qg_ir *ir, const qg_node *node, uint32_t lanes, qg_halves *out);

/* ---- operands.c -------------------------------------------------------------------------------------------------- */

/* Of four threads, x for eight right-hand sides then has 8 KiB. */
enum { QG_NO_ELEMENT = UINT16_MAX, QG_MOST_WORDS = 64 };
#define QG_NO_OFFSET UINT32_MAX
#define QG_AS_VALUES UINT32_MAX

/* Two values of a tile, which make a word of an operand. */
typedef struct qg_operand {
    const qg_node *node; /* two halves; or floats, of which `lane` is the first; NULL: zeros */
    bool floats;
    uint32_t lane;
    uint32_t scale;      /* what they are multiplied with; QG_AS_VALUES: nothing, these are values already */
    uint32_t offset;     /* what is added then; QG_NO_OFFSET: nothing */
    uint16_t element[2]; /* counted through the tile's runs; QG_NO_ELEMENT: none */
} qg_operand;

typedef struct qg_operands {
    const qg_ir *ir;
    uint32_t n_words, n_scales, n_offsets, n_values; /* n_words is even */
    uint32_t part; /* products of which operands are made at a time: of four words, two of each operand */
    qg_operand *words;
    struct qg_operand_scale {
        const qg_node *node; /* NULL: 1 */
        float factor, most;  /* what it is at most multiplied with as a half */
    } * scales;
    const qg_node **offsets;
} qg_operands;

/* The values of a tile, of which `values` has one vector for each run, as operands; NULL where runs have one lane. */
const qg_operands *qg_operands_of(qg_ir *ir, uint32_t lanes, uint32_t n_runs, const qg_node *const *values);
/* Products of which operands are made at a time, where their number allows for it: more would fill the registers. */
enum { QG_PART = 4, QG_TILE_PART = 2 };

/* ---- gather.c: what readers of a sum see ------------------------------------------------------------------------- */

/* The word of which a vector has four codes, each in another byte where `mask` says; NULL where it is none. */
const qg_node *qg_four_codes(const qg_node *vector, const qg_node **mask);
/* Whether it is such a vector, and what it is made of has no names, so that it is printed as a call. */
bool qg_is_four_codes(const qg_node *vector);
/* Drops names of what is shorter without, and names fours after what they are. */
void qg_choose_names(qg_ir *ir);
/* Moves statements up to others of their type. */
void qg_gather(qg_ir *ir);
/* Whether a statement's own operations must round as they are written. */
bool qg_rounds_as_written(const qg_node *node);

/* ---- stored.c: tables as words of memory ------------------------------------------------------------------------- */

/* Bits of a value of a stored table: its type's, but that floats are f32, that a table of one
 * column has a word for each value, so that it is indexed as an array is, and that rows of eight
 * bytes with at most 16 values one after the other have half. */
uint32_t qg_table_bits(const qg_table *table);
/* What is to be added to these bits, as a number without a sign, where they are fewer than the type's; else 0. */
int32_t qg_table_offset(const qg_table *table);
/* "i8, packed": how a comment says so. */
const char *qg_table_packing(qg_arena *arena, const qg_table *table);
/* The words of a stored table: how many there are, and what they are. */
uint32_t qg_table_size(const qg_table *table);
const uint32_t *qg_table_words(qg_arena *arena, const qg_table *table, uint32_t *bytes);

/* ---- uses.c: what an IR uses ------------------------------------------------------------------------------------- */

/* The name of what LOAD reads. */
const char *qg_load_name(const qg_layout *layout, uint32_t ref);
/* Whether code looks up values of a table, or loads words of it. */
bool qg_reads_table(const qg_ir *ir, uint32_t table);
/* Bits of the words that a buffer's wide loads are made of; 0 when it has none. */
uint32_t qg_wide_unit(const qg_ir *ir, uint32_t buffer);
/* True when some node of the IR is this operation: which prelude functions a kernel calls. */
bool qg_uses(const qg_ir *ir, qg_op op);
/* True when some node that is used loads so from a buffer. */
bool qg_loads(const qg_ir *ir, qg_op op, uint32_t buffer);
/* Whether it loads single words of so many bits. */
bool qg_loads_units(const qg_ir *ir, uint32_t buffer, uint32_t unit);
/* What is added to the name of a buffer for words of so many bits: "" where these are its own. */
const char *qg_alias(const qg_ir *ir, uint32_t buffer, uint32_t unit);
/* True when the IR has an argument of that name. */
bool qg_uses_argument(const qg_ir *ir, const char *name);

#endif
