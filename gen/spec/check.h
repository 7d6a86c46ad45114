/* Private to the checker: one instance of a specification under construction. */
#ifndef QKGEN_CHECK_H
#define QKGEN_CHECK_H

#include "spec/spec.h"

enum {
    QG_MAX_INSTANCES = 4096,
    QG_MAX_ELEMENTS = 65536,
    QG_MAX_BLOCK_BYTES = 1 << 20,
    QG_MAX_WORK = 1 << 24 /* over all instances: bits of blocks, table values, 64 for each node of an expression */
};

/* The proven range of an integer. */
typedef struct qg_range {
    int64_t low, high;
} qg_range;

/* What is known of encode while it is typed. */
enum { QG_MAX_COUNTERS = 4, QG_MAX_KEPT = 32 };
typedef struct qg_scope {
    qg_equation *equations;
    uint32_t n_equations;
    bool *set;       /* for each code */
    uint32_t per;    /* of the equation in hand */
    uint32_t best;   /* 1 + the number of the best in hand; 0: none */
    bool reducing;   /* within a function that looks at all of a group */
    uint32_t n_kept; /* terms of `kept` whose equation is to be found when best has all of its */
    struct qg_kept_term {
        qg_term *term;
        const char *name;
    } kept[QG_MAX_KEPT];
    uint32_t n_counters;
    const char *counters[QG_MAX_COUNTERS];
    uint32_t extents[QG_MAX_COUNTERS];
} qg_scope;

/* A specification whose parameters are being bound, and what is known of its layout so far. */
typedef struct qg_work {
    qg_arena *arena;
    qg_diag *diag;
    const qg_spec *spec;
    const int64_t *bound; /* the value of each parameter */
    uint64_t cost;        /* against QG_MAX_WORK */
    uint32_t elements;
    qg_view view;
    uint32_t block_rows, block_cols;
    uint32_t block_bytes;
    qg_buffer *buffers;
    uint32_t n_fields;
    qg_field *fields;
    qg_table *tables;       /* a table that could not be filled has 0 rows */
    qg_range *table_ranges; /* of integer tables */
    bool *table_used;
    uint32_t n_codes; /* a code that could not be laid out has width 0 */
    qg_code *codes;   /* room for all codes and fields of the specification */
    bool *used;       /* by the value, for each code */
    uint32_t n_terms; /* that were made */
    uint32_t n_spares;
    qg_slice *spares;
    bool word;       /* while what stands in u32(...) is typed: it may have all 32 bits */
    qg_scope *scope; /* while encode is typed; else NULL */
} qg_work;

/* layout.c. Each function reports what is wrong and returns false. */
bool qg_eval(qg_work *work, const qg_expr *expr, int64_t *value);
/* Evaluates, and requires low <= value <= high; `what` names the value in a message: "the width of a slice". */
bool qg_eval_within(qg_work *work, const qg_expr *expr, const char *what, int64_t low, int64_t high, uint32_t *value);
bool qg_resolve_type(qg_work *work, const qg_spec_type *type, qg_scalar *scalar);
bool qg_layout_fields(qg_work *work);
void qg_layout_codes(qg_work *work);
/* The code of a scalar field that the value names; made at the first use. */
uint32_t qg_code_of_field(qg_work *work, uint32_t field);

/* axes.c. Tiles and axes of the buffers, when the fields are known; and the codes that stand in the
 * place of axes, when the codes are. */
bool qg_layout_tiles(qg_work *work);
bool qg_layout_indices(qg_work *work);

/* encode_rows.c. What encode is for; and, when all is typed, that what is of a row needs nothing of a block. */
bool qg_is_encodable(qg_work *work);
bool qg_check_rows(qg_work *work);

/* encode_planes.c. The elements that an equation looks at when nothing else is said: of a block, or, in planes, of a
 * group; and whether groups can be made one by one. */
uint32_t qg_made_together(const qg_work *work);
bool qg_check_planes(qg_work *work);

/* cover.c. Every bit of the block is claimed once. Scalar fields are claimed by being named in the value; when that
 * failed, `value_known` is false, and unclaimed ones are not reported. */
void qg_prove_cover(qg_work *work, bool value_known);

/* tables.c */
bool qg_fill_tables(qg_work *work);

/* typing.c. The value as a typed tree of kind float; NULL after errors. */
const qg_term *qg_type_value(qg_work *work);
/* For encode: an expression as a term; the term as a float; whether it is a number, and not a truth value; two numbers
 * of one kind; a number or a truth value as a condition. NULL, or false, after an error. */
const qg_term *qg_type_expr(qg_work *work, const qg_expr *expr);
const qg_term *qg_to_float(qg_work *work, const qg_term *term);
bool qg_is_number(qg_work *work, const qg_term *term, const char *where);
bool qg_unify(qg_work *work, const qg_term **a, const qg_term **b);
const qg_term *qg_type_condition(qg_work *work, const qg_expr *expr);
qg_term *qg_new_term(qg_work *work, qg_term term);
uint32_t qg_common_divisor(uint32_t a, uint32_t b);

/* encode.c. Names and functions that encode alone has. */
bool qg_is_of_encode(const qg_work *work, const char *name);
const qg_term *qg_type_name_of_encode(qg_work *work, const qg_expr *expr);
/* small.c: bits(number, type). */
const qg_term *qg_type_small(qg_work *work, const qg_expr *expr);
const qg_term *qg_type_call(qg_work *work, const qg_expr *expr);
/* The equations, proven: every code is set once, within its range, from what was computed before. NULL after errors,
 * and where there are none. */
const qg_encode *qg_type_encode(qg_work *work);

/* ranges.c */
/* NULL, or a sentence why the operation is not safe for all operands in the ranges. */
const char *qg_word_range_of(qg_arena *arena, qg_op op, qg_range a, qg_range b, qg_range *result);
const char *qg_range_of(qg_arena *arena, qg_op op, qg_range a, qg_range b, qg_range *result);

#endif
