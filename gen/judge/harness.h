/* harness.h: how the arguments of a foreign kernel are laid out. docs/judge.md describes the text. */
#ifndef QKGEN_HARNESS_H
#define QKGEN_HARNESS_H

#include "spec/spec.h"

/* What a foreign kernel runs on. */
typedef enum qg_foreign { QG_FOREIGN_VULKAN, QG_FOREIGN_METAL, QG_FOREIGN_C, QG_FOREIGN_COUNT } qg_foreign;

/* What it computes. */
typedef enum qg_computes {
    QG_COMPUTES_VALUES, /* dequant: y[i] is element i */
    QG_COMPUTES_ROWS,   /* gather: y[t][c] is element c of row indices[t] */
    QG_COMPUTES_SUMS,   /* gemv, gemm: y[b][r] is the sum over c of row r's element c times x[b][c] */
    QG_COMPUTES_COUNT
} qg_computes;

extern const char *const qg_foreign_names[QG_FOREIGN_COUNT];
extern const char *const qg_computes_names[QG_COMPUTES_COUNT];

/* What an argument is for. */
typedef enum qg_use {
    QG_USE_WEIGHTS,
    QG_USE_X,
    QG_USE_Y,
    QG_USE_INDICES,
    QG_USE_IDS,    /* which expert a slot of a token has */
    QG_USE_ZEROS,  /* room that the kernel may write */
    QG_USE_STRUCT, /* sizes, in memory */
    QG_USE_TABLE,  /* of the specification */
    QG_USE_VALUE,  /* an integer, of C functions */
    QG_USE_COUNT
} qg_use;

/* The sizes of a call. */
typedef struct qg_call_shape {
    uint64_t rows, cols; /* of the weights; cols is a multiple of the block's columns */
    uint64_t batch;      /* right-hand sides of a sum; tokens of a gather; else 1 */
    uint64_t experts;    /* tensors of `rows` rows, one behind the other; 0 is 1 */
    uint64_t slots;      /* experts of a token; 0 is 1 */
} qg_call_shape;

/* Of one expert. */
qg_call_shape qg_shape(uint64_t rows, uint64_t cols, uint64_t batch);
/* Of so many rows, rounded up to whole blocks where the format cuts none off, and columns of so many blocks. */
qg_call_shape qg_shape_of(const qg_layout *layout, uint64_t rows, uint64_t blocks, uint64_t batch);
uint64_t qg_experts(qg_call_shape shape);
uint64_t qg_slots(qg_call_shape shape);

/* What a kernel promises of an index that is no row, or an id that is no expert. */
typedef enum qg_outside { QG_OUTSIDE_UNSAID, QG_OUTSIDE_ZEROS, QG_OUTSIDE_NOTHING } qg_outside;

/* A number of a struct, of the push constants, or a constant. */
typedef enum qg_number {
    QG_NUMBER_U8,
    QG_NUMBER_U16,
    QG_NUMBER_U32,
    QG_NUMBER_I32,
    QG_NUMBER_U64,
    QG_NUMBER_I64,
    QG_NUMBER_F32,
    QG_NUMBER_COUNT
} qg_number;

typedef struct qg_struct_member {
    qg_number type;
    const qg_expr *value;
} qg_struct_member;

typedef struct qg_argument {
    uint32_t index; /* binding, buffer, place */
    qg_loc loc;
    qg_use use;
    uint32_t buffer; /* of the layout, of weights */
    qg_scalar type;  /* of the elements of x, y; QG_U32 of indices, ids */
    bool uniform;    /* STRUCT: a uniform buffer, laid out by std140 */
    uint32_t table;  /* TABLE: of the layout */
    bool converted;  /* its values are numbers of type `number`, not of the table's own */
    qg_number number;
    bool per_slot;           /* of x: each slot of a token has its own */
    qg_struct_member *items; /* STRUCT */
    uint32_t n_items;
    const qg_expr *value;             /* ZEROS: bytes; VALUE */
    const char *called, *called_type; /* in a body; NULL: not said */
} qg_argument;

enum { QG_MAX_ARGUMENTS = 32, QG_MAX_ITEMS = 64, QG_MAX_LETS = 32, QG_MAX_STRUCT = 1024 };

typedef struct qg_foreign_constant {
    uint32_t id;
    qg_struct_member member;
} qg_foreign_constant;

typedef struct qg_need {
    const qg_expr *value;
    const char *why;
} qg_need;

typedef struct qg_harness_let {
    const char *name;
    const qg_expr *value;
    bool set; /* from outside: */
    int64_t number;
} qg_harness_let;

typedef struct qg_harness {
    const qg_source *source;
    const qg_layout *layout;
    const char *name;
    const char *entry; /* NULL: not said */
    qg_foreign target;
    qg_computes computes;
    qg_outside outside;
    uint32_t lanes; /* of the device's subgroups, once it is open */
    uint32_t n_arguments, n_push, n_constants, n_needs, n_lets, n_threadgroup;
    qg_argument arguments[QG_MAX_ARGUMENTS];
    qg_struct_member push[QG_MAX_ITEMS];
    qg_foreign_constant constants[QG_MAX_ITEMS];
    qg_need needs[QG_MAX_ITEMS];
    qg_harness_let lets[QG_MAX_LETS];
    qg_argument threadgroup[QG_MAX_ITEMS]; /* `value` is bytes */
    const qg_expr *group[3], *grid[3];     /* NULL: not said; 1 */
} qg_harness;

/* Parses a harness for kernels of a format. NULL after errors. */
qg_harness *qg_harness_parse(qg_arena *arena, qg_diag *diag, const qg_source *source, const qg_layout *layout);
/* Whether the file is the body of a Metal kernel; then the kernel with it, whose signature the harness gives. */
bool qg_harness_has_body(const qg_harness *harness);
const char *qg_harness_wrap(qg_arena *arena, const qg_harness *harness, const char *path, const char *body,
                            const qg_texts *defines);
/* Gives a `let` another value; false when there is none of that name. */
bool qg_harness_set(qg_harness *harness, const char *name, int64_t value);

/* The argument of that use, the first of them, or NULL. */
const qg_argument *qg_harness_argument(const qg_harness *harness, qg_use use);

/* ---- a harness at one shape -------------------------------------------------------------------------------------- */

/* What a launch passes, as numbers. */
typedef struct qg_passed {
    qg_use use;
    uint32_t index, buffer;
    qg_scalar type;
    bool uniform;
    uint64_t bytes;      /* of the tensor; ZEROS, STRUCT, TABLE */
    const void *content; /* STRUCT, TABLE */
    int64_t value;       /* VALUE */
} qg_passed;

typedef struct qg_constant_value {
    uint32_t id, bytes;
    unsigned char value[8];
} qg_constant_value;

typedef struct qg_call {
    qg_call_shape shape;
    uint32_t n_passed;
    qg_passed passed[QG_MAX_ARGUMENTS];
    uint32_t push_bytes;
    unsigned char push[QG_MAX_STRUCT];
    uint32_t n_constants;
    qg_constant_value constants[QG_MAX_ITEMS];
    uint32_t n_threadgroup;
    uint32_t threadgroup_index[QG_MAX_ITEMS];
    uint64_t threadgroup_bytes[QG_MAX_ITEMS];
    uint32_t group[3], grid[3]; /* group[0] 0: the kernel says */
} qg_call;

/* Why a shape is not for kernels of this harness, or NULL. `*why_not` tells a shape that it does not need (false)
 * from an expression that has no value there (true), which is an error in the harness. */
const char *qg_harness_call(qg_arena *arena, const qg_harness *harness, qg_call_shape shape, qg_call *call,
                            bool *broken);

#endif
