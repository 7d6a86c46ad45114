/* Private to lowering: what is known while a tile is lowered, and the codes that its value is made of. */
#ifndef QKGEN_LOWER_H
#define QKGEN_LOWER_H

#include "build/plan.h"

typedef struct lowering {
    qg_ir *ir;
    const qg_plan *plan;
    const qg_layout *layout;
    const qg_node **bases;        /* first word of the block in each buffer */
    qg_index lanes[QG_MAX_LANES]; /* element index of each lane of the run in hand */
    struct qg_reads *reads;       /* in a wide plan: the words that the tile wants */
    bool decoding;                /* for values one by one, and not for a sum */
    bool reading;                 /* they are noted, and not yet loaded */
    qg_index joined;              /* which of several joined blocks a code with segments is of */
    const qg_node *by;            /* the column of blocks that a code says, while its lane is lowered */
} lowering;

static inline const qg_node *binary(qg_ir *ir, qg_op op, const qg_node *a, const qg_node *b) {
    return qg_apply(ir, op, a, b, NULL);
}

/* wide.c. Words of 32 bits that a tile wants of one place: noted first, when all of them are asked
 * for, and then loaded, those that are neighbours 16 bytes at a time. */
typedef struct qg_reads qg_reads;
qg_reads *qg_reads_new(qg_arena *arena);
void qg_reads_note(qg_ir *ir, qg_reads *reads, uint32_t buffer, const qg_node *index);
/* Whether it was noted. */
bool qg_reads_has(qg_ir *ir, const qg_reads *reads, uint32_t buffer, const qg_node *index);
const qg_node *qg_reads_load(qg_ir *ir, const qg_reads *reads, uint32_t buffer, const qg_node *index);

/* lower_words.c. How wide words are of a buffer, or, behind these, of a stored table. */
uint32_t qg_unit_of(const lowering *l, uint32_t buffer);
/* At least `bits` (at most 32) bits of a slice's buffer that start at bit `*phase` of the result. `words` is what they
 * are called; NULL: after the field. */
const qg_node *qg_window(lowering *l, const qg_slice *slice, const char *words, qg_index address, uint32_t bits,
                         qg_index *phase);

/* A code for the run in hand: one lane where all its elements share it. */
const qg_node *qg_lower_code(lowering *l, const qg_code *code);
/* The bits of a slice at an address, and at the addresses of several lanes; `words` is what its
 * words are called, or NULL. */
const qg_node *qg_one_lane(lowering *l, const qg_slice *slice, const char *words, qg_index address);
const qg_node *qg_several_lanes(lowering *l, const qg_slice *slice, const char *words, const qg_index *addresses,
                                uint32_t lanes);
/* Bits as a value of a type; `name` is what they are called when they need one. */
const qg_node *qg_bits_as(lowering *l, qg_scalar type, const char *name, const qg_node *bits);

#endif
