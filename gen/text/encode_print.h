/* encode_print.h: what the files that print encoders share. */
#ifndef QKGEN_ENCODE_PRINT_H
#define QKGEN_ENCODE_PRINT_H

#include "text/text.h"

/* QG_UNROLLED: steps of a loop that compilers are asked to write out. */
enum { QG_MOST_OF_ROW = 8, QG_MOST_WRITTEN = 128, QG_MOST_NESTING = 16, QG_UNROLLED = 64 };

/* The words in which languages differ. */
typedef struct qg_encoder_dialect {
    qg_target_id id;
    const char *integer, *word, *floating; /* types */
    const char *constant;                  /* before a name that is set once */
    const char *precise;                   /* before one that is a float */
    const char *bits_of_f32;               /* what takes the bits of a word as f32 */
    const char *unroll;
} qg_encoder_dialect;

typedef struct qg_encoder_printer {
    qg_arena *arena;
    qg_text text;
    const qg_layout *layout;
    const qg_encode *encode;
    const qg_encoder_dialect *d;
    const qg_target *target;
    uint32_t indent, made; /* made: names of the printer's own */
    const char *at;        /* the variable that counts in the innermost loop, of so many elements; NULL: none */
    uint32_t unit;
    bool held,
        whole; /* x of the group in hand, or of the whole block, is in an array that compilers keep in registers */
    uint32_t first, end;           /* equations whose names are variables here: those of the loop over groups in hand */
    uint32_t best;                 /* 1 + the number of the best whose candidates are computed; 0: none */
    bool written[QG_MOST_WRITTEN]; /* names of `per` 1 that have a variable in the loop in hand */
    const char *counters[QG_MOST_NESTING];
    bool fours;                         /* the loop in hand has loaded four elements of x */
    bool kept;                          /* a thread has the floats; else they are in memory, of any type */
    bool streams;                       /* in GLSL, what is a stream in memory is shared as one */
    const char *clear;                  /* what says whether the code in hand is certain; NULL: it is made to be */
    const qg_term *chosen;              /* a choice that is made around the loop in hand; NULL: none */
    const qg_term *row[QG_MOST_OF_ROW]; /* what looks at a row: it is found before the row's blocks are made */
    uint32_t n_row;
    bool raised;             /* a guess stays QK_ZERO more than it is */
    bool mends;              /* codes that were not certain are made again, one by one */
    uint32_t team, share;    /* threads that make a block, and the elements that each of them has; loops count these */
    uint32_t run;            /* of those, how many follow each other in the block */
    bool entire;             /* the loop in hand looks at the whole block */
    bool left;               /* others of the team may still look at what a thread left for them */
    const qg_slice *spread;  /* of rows whose words threads take in turn; else NULL */
    uint32_t parts;          /* of a block, which threads take then; `layout` is that of a part */
    bool late;               /* numbers of a group are set by the thread that has kept what they are made of */
    const qg_layout *planes; /* the format, where its blocks are groups of planes, which are made one by one, and
                                `layout` is that of a group; else NULL */
} qg_encoder_printer;

/* The loop over what a function looks at. The variables that it was in come back behind it. */
typedef struct qg_encoder_loop {
    const char *at;
    uint32_t unit;
    bool fours;
    bool written[QG_MOST_WRITTEN];
} qg_encoder_loop;

static inline const qg_equation *qg_encoder_items(const qg_encoder_printer *p) { return p->encode->items; }

/* Whether a name is one number for the block, in a block that a team makes: all of the team have it. */
static inline bool qg_encoder_is_shared(const qg_encoder_printer *p, uint32_t per) {
    return p->team > 1 && per == p->layout->elements;
}

static inline bool qg_encoder_is_float(const qg_term *term) { return term->kind == QG_K_FLOAT; }

/* ---- encode_terms.c: lines, names, expressions ---- */

/* A line, one that opens a scope, and the end of that. */
void qg_encoder_line(qg_encoder_printer *p, const char *text);
void qg_encoder_begin(qg_encoder_printer *p, const char *text);
void qg_encoder_finish(qg_encoder_printer *p);
/* A name that nobody has. */
const char *qg_encoder_fresh(qg_encoder_printer *p);
const char *qg_encoder_floating(const qg_encoder_printer *p, float value);
/* "precise float", or "const int" */
const char *qg_encoder_declared(const qg_encoder_printer *p, bool real, bool constant);

/* Whether a term names an equation. */
bool qg_encoder_names(const qg_encoder_printer *p, const qg_term *term, uint32_t equation);
/* Whether a condition compares with what is kept. */
bool qg_encoder_compares(const qg_term *term, uint32_t equation);
/* Which equation a name is of; the count of all: of none. */
uint32_t qg_encoder_equation(const qg_encoder_printer *p, const qg_term *term);
/* Whether the value of one of these equations is needed, itself or by what is written out. */
bool qg_encoder_depends(const qg_encoder_printer *p, const qg_term *term, uint32_t first, uint32_t end);
/* Whether any equation names it. */
bool qg_encoder_is_used(const qg_encoder_printer *p, uint32_t equation);
/* Whether a name is used where it is no variable: outside of these equations, or by what is written out there. */
bool qg_encoder_is_kept(const qg_encoder_printer *p, uint32_t equation, uint32_t first, uint32_t end);

/* Whether a term needs x, itself or by what is written out. */
bool qg_encoder_sees_x(const qg_encoder_printer *p, const qg_term *term);

/* The number of the group of `per` elements that the loop in hand is in. */
const char *qg_encoder_group_at(const qg_encoder_printer *p, uint32_t per);
/* The name of an equation; of what is kept of it. */
const char *qg_encoder_name(qg_encoder_printer *p, uint32_t number, bool kept);
/* A term as an expression; in brackets where it is an operation; and, in GLSL, in a variable of its own where it is
 * arithmetic. Writes the lines that come before it. */
const char *qg_encoder_text(qg_encoder_printer *p, const qg_term *term);
const char *qg_encoder_operand(qg_encoder_printer *p, const qg_term *term);
const char *qg_encoder_apart(qg_encoder_printer *p, const qg_term *term);

/* Whether a term rounds a quotient of which a guess mostly says enough. */
bool qg_encoder_can_guess(const qg_encoder_printer *p, const qg_term *term);
/* Whether it is that, and nothing is done with it. */
bool qg_encoder_is_guess(const qg_term *term);
/* Whether that is so of single elements. */
bool qg_encoder_guesses_quotient(const qg_encoder_printer *p, const qg_term *term);

/* ---- encode_looks.c: functions that look at several ---- */

/* Into a loop whose counter is `at`, of so many elements, and out of it again. */
qg_encoder_loop qg_encoder_enter(qg_encoder_printer *p, const char *at, uint32_t unit);
/* The same with the loop itself, which counts `qk_i`: over n elements, or every `step`th, of group `group`; NULL: of
 * the block. Where it looks at x in memory, four are loaded at once. Up to `most` steps are written out. */
qg_encoder_loop qg_encoder_begin_elements(qg_encoder_printer *p, const char *group, uint32_t n, uint32_t step,
                                          uint32_t most, bool looks);
void qg_encoder_leave(qg_encoder_printer *p, const qg_encoder_loop *before);
/* Elements between two that a function looks at, in a group of `per`. */
uint32_t qg_encoder_step(const qg_term *term, uint32_t per);
/* A loop over the elements of the group in hand, or of the thread's part of the block. */
qg_encoder_loop qg_encoder_begin_group(qg_encoder_printer *p, uint32_t per);
/* Number `at` of what the thread has `count` of, counted in the block. */
const char *qg_encoder_in_block(const qg_encoder_printer *p, const char *at, uint32_t count);
/* Whether a term is a function that looks at a group; and several that look at the same, in one loop. */
bool qg_encoder_is_group(const qg_term *term);
void qg_encoder_print_group(qg_encoder_printer *p, const qg_term *const *terms, const char *const *into,
                            uint32_t count);
/* Looks at the floats of a row that a thread holds, by a device's own functions; false: these do not find it. */
bool qg_encoder_look_freely(qg_encoder_printer *p, const qg_term *const *terms, const char *const *into,
                            uint32_t count);
/* Of such a function: what it begins with, what is done with a value that it looks at, and with what others found. */
const char *qg_encoder_begin_of(qg_encoder_printer *p, const qg_term *term);
void qg_encoder_add_value(qg_encoder_printer *p, const qg_term *term, const char *into);
void qg_encoder_compare(qg_encoder_printer *p, const qg_term *term, const char *v, const char *into);
/* The result of one with a name that counts. */
const char *qg_encoder_print_counting(qg_encoder_printer *p, const qg_term *term);

/* ---- encode_rows.c: what the blocks of a row share ---- */

/* Finds what looks at rows. */
void qg_encoder_find_rows(qg_encoder_printer *p);
/* What was found of the row by such a function; NULL: it looks at less. */
const char *qg_encoder_of_row(const qg_encoder_printer *p, const qg_term *term);
/* The function that looks at a block of the row; nothing where there is none to find. */
void qg_encoder_print_look(qg_encoder_printer *p);
/* The parameters of a function that makes a block of a row, and how the words of a buffer are stored there. */
const char *qg_encoder_row_parameters(const qg_encoder_printer *p);
/* In GLSL: where an element is of what a thread takes of a row in turn. */
void qg_encoder_print_spread(qg_encoder_printer *p);
void qg_encoder_store_in_row(qg_encoder_printer *p, uint32_t number);
/* Stores a buffer's part of a block 16 bytes at a time: what is stored in four parts is four times as much for the
 * memory. */
void qg_encoder_store_fours(qg_encoder_printer *p, const qg_buffer *buffer, const char *block);

/* ---- encode_planes.c: groups of planes ---- */

/* The layout of what a group has of a block: its elements and codes, and rows of its own of buffers that have one for
 * each group. Bits in other buffers are where the first group has them. */
const qg_layout *qg_encoder_group_layout(qg_arena *arena, const qg_layout *layout);
/* The same for a team on Vulkan, for which words of all groups are alike: codes in buffers that groups share are
 * counted from the first bit that they have in a word of some plane. */
const qg_layout *qg_encoder_team_layout(qg_arena *arena, const qg_layout *layout);
/* Such a slice, and its planes: where in the word each has its codes. */
void qg_encoder_split(const qg_slice *slice, uint32_t count, qg_slice *low, qg_slice *high);
/* Whether each of a team adds the words of all planes up, and does so with those of the group in hand. */
bool qg_encoder_joins_planes(const qg_encoder_printer *p);
void qg_encoder_add_plane(qg_encoder_printer *p, const qg_code *code, const qg_slice *slice);
/* Whether a code is set when each of a team has a group of which it sets it. */
bool qg_encoder_is_late(const qg_encoder_printer *p, uint32_t number);
/* The functions that make a block, but for what they call. */
void qg_encoder_print_planes(qg_encoder_printer *p);
/* Whether a buffer has rows that are a group's own. */
bool qg_encoder_is_of_group(const qg_encoder_printer *p, uint32_t buffer);
/* Number `at` of `count` that the group in hand has, counted in the block. */
const char *qg_encoder_in_planes(const qg_encoder_printer *p, const char *at, uint32_t count);
/* Whether the group in hand says in which bits of a word a code is, and its number in the group in which word. */
bool qg_encoder_splits(const qg_encoder_printer *p, const qg_slice *slice, uint32_t count);

/* ---- encode.c ---- */

/* The words of a buffer, all 0; the floats of the block, where they are loaded at once; and all equations. */
void qg_encoder_begin_words(qg_encoder_printer *p, uint32_t buffer);
void qg_encoder_begin_values(qg_encoder_printer *p);
/* In GLSL, a function of these parameters that loads the floats of a thread, which are a part of something. */
void qg_encoder_print_hold(qg_encoder_printer *p, const char *parameters, const char *of);
void qg_encoder_print_all(qg_encoder_printer *p);

/* ---- encode_store.c: bits ---- */

/* Sets a code of the group in hand; the name becomes what was stored, where somebody asks. */
void qg_encoder_store_code(qg_encoder_printer *p, uint32_t number);
/* Whether a buffer's part of the block is made where the workgroup can write it from. */
bool qg_encoder_in_place(const qg_encoder_printer *p, uint32_t buffer);
/* Bits that a thread of a team has for one word at a time: before the loop that sets codes of each element, and behind
 * it. */
void qg_encoder_begin_parts(qg_encoder_printer *p, const qg_code *code);
void qg_encoder_finish_parts(qg_encoder_printer *p, const qg_code *code);
/* The name of the words that a thread has of a slice; clears them, of many those that it has; and puts such words into
 * those of the block. */
const char *qg_encoder_parts_name(const qg_encoder_printer *p, const qg_code *code, const qg_slice *slice);
void qg_encoder_clear_words(qg_encoder_printer *p, const qg_slice *slice, const char *name);
void qg_encoder_store_parts(qg_encoder_printer *p, const qg_code *code, const qg_slice *slice, const char *name);
/* The bit of the block at which instance `j` of the slice, counted from its first, begins. */
const char *qg_encoder_address(const qg_encoder_printer *p, const qg_slice *slice, const char *j);
/* Whether the team leaves a code as bytes; and words of digits of a base, from bytes that the team has left. */
bool qg_encoder_gathers(const qg_encoder_printer *p, const qg_code *code);
void qg_encoder_gather_digits(qg_encoder_printer *p, const qg_code *code);
/* Whether the threads of a workgroup that makes a row keep the floats of their blocks, as `qk_held`. */
bool qg_encoder_holds_rows(const qg_encoder_printer *p);

/* Whether a code of each element is first made from guesses, and made again where they do not say enough. That
 * keeps exact division, which is long, out of loops that are written out. */
bool qg_encoder_guesses(const qg_encoder_printer *p, uint32_t number);
/* Whether all codes of a thread are certain, or none is; and what is done behind the loop where none is. */
bool qg_encoder_guesses_alike(const qg_encoder_printer *p, uint32_t number);
void qg_encoder_drop_guesses(qg_encoder_printer *p, uint32_t number);
/* Behind the loop: makes words good that were added up from numbers of more bits than their codes have. */
void qg_encoder_finish_sums(qg_encoder_printer *p, uint32_t number);
/* What chooses, for a whole row or block of it, that all of its codes are 0, where there are codes of one equation
 * alone; NULL: nothing does. And whether a term is the integer 0. */
const qg_term *qg_encoder_choice_of_block(const qg_encoder_printer *p);
bool qg_encoder_is_zero(const qg_term *term);
/* Makes codes again that were not certain. */
void qg_encoder_mend(qg_encoder_printer *p, uint32_t number);
/* Digits of a base were added up: as a fraction, rounded up. */
void qg_encoder_finish_digits(qg_encoder_printer *p, const qg_slice *slice);
/* Bits of the words in which a buffer's part of a block is stored: in memory that the workgroup shares, or where they
 * belong. */
void qg_encoder_store_buffer(qg_encoder_printer *p, uint32_t number);

#endif
