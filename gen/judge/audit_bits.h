/* audit_bits.h: which bits of a block a program reads. */
#ifndef QKGEN_AUDIT_BITS_H
#define QKGEN_AUDIT_BITS_H

#include "build/program.h"

typedef struct qg_bits_read {
    uint32_t owned, read, once; /* bits of codes; of these, that reach a result; of these, in one tile alone */
    const char *first;          /* that is not read: "bit 12 of blocks"; NULL: all are */
} qg_bits_read;

/* Follows each load of the program's main step, tile by tile, from the results back to the bits that reach them. False
 * where a place depends on more than block and tile, as where blocks are patches of a matrix. */
bool qg_count_bits(qg_arena *arena, const qg_program *program, qg_bits_read *read);

#endif
