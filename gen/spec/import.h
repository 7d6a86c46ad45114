/* import.h: C structs as headers declare them, read with libclang, and what a specification has to do with them. Where
 * qkgen was built without libclang, only qg_struct_read fails, with a sentence that says what to install. */
#ifndef QKGEN_IMPORT_H
#define QKGEN_IMPORT_H

#include "spec/spec.h"

/* A scalar or an array of scalars inside of a struct, however deep in nested structs and unions. */
typedef struct qg_member {
    const char *name;   /* its own name; where two members share it, the names from the outside in, joined with _ */
    const char *path;   /* as C reaches it: `part.d` */
    const char *c_type; /* as the header writes it */
    qg_loc loc;
    qg_scalar type;
    bool exact; /* `type` is what the header says; else it only has the right size */
    bool is_array;
    uint32_t count;
    uint32_t offset; /* bytes from the start of the struct */
    uint32_t bytes;
    bool alternative; /* of a union: a view of bytes that another member is taken for */
} qg_member;

typedef struct qg_struct {
    const char *name;
    const char *header; /* path */
    qg_loc loc;
    uint32_t bytes;
    uint32_t n_members;
    qg_member *members;
} qg_struct;

/* Reads struct `name` of a header; the arguments are the compiler's (-I, -D, -x). NULL after errors, which are reported
 * at their places in the header: what clang finds wrong, a missing struct, a bit-field, a type that no specification
 * has. */
const qg_struct *qg_struct_read(qg_arena *arena, qg_diag *diag, const char *header, const char *name,
                                const qg_texts *arguments);

/* The `block` of a specification of that struct, padding declared spare. The number of elements, which no struct says,
 * is the word ELEMENTS, where `qkgen check` reports an error until it is replaced. */
const char *qg_struct_block(qg_arena *arena, const qg_struct *c);

/* Proves that a block in one buffer and a struct have the same size, and that every field is the member of its name,
 * with the same offset, size and type. `renames` holds FIELD=MEMBER for those whose names differ. Reports each
 * difference at its place in the specification, with a note at the place in the header. */
bool qg_struct_agrees(qg_diag *diag, const qg_layout *layout, const qg_struct *c, const qg_texts *renames);

#endif
