/* spec.h: a format, from the text of its specification to the layout that is proven.
 *
 *   text --parse--> qg_spec --check--> qg_layout
 *
 * A stage takes const input and returns a new value. All memory comes from the arena of the run; nothing is global. */
#ifndef QKGEN_SPEC_H
#define QKGEN_SPEC_H

#include "base/base.h"

/* ---- scalars.def: storage types ------------------------------------------------------------------------------- */

typedef enum qg_scalar {
#define S(id, name, bits, kind, exponent, mantissa, bias, specials) QG_##id,
#include "spec/scalars.def"
#undef S
    QG_SCALAR_COUNT
} qg_scalar;

typedef enum qg_scalar_kind { QG_UNSIGNED, QG_SIGNED, QG_FLOATING } qg_scalar_kind;

/* What the codes of the largest exponent are: numbers; infinities and NaN; or numbers, but that
 * with all bits set is NaN. */
typedef enum qg_specials { QG_FINITE, QG_IEEE, QG_NAN_ON_TOP } qg_specials;

typedef struct qg_scalar_info {
    const char *name;
    uint32_t bits;
    qg_scalar_kind kind;
    uint32_t exponent_bits; /* floating types */
    uint32_t mantissa_bits;
    int32_t bias;
    qg_specials specials;
} qg_scalar_info;

extern const qg_scalar_info qg_scalars[QG_SCALAR_COUNT];
/* The type of that name, or QG_SCALAR_COUNT. */
qg_scalar qg_scalar_named(const char *name, size_t length);

/* small.c. A float of at most 8 bits: digits behind the first; as f32's bits, the least number that has all of them and
 * the largest finite one. */
typedef struct qg_small_float {
    uint32_t digits, least, most;
} qg_small_float;
qg_small_float qg_small_float_of(qg_scalar type);

/* ---- ops.def: operations, shared by value terms and IR -------------------------------------------------------- */

typedef enum qg_op {
#define O(id, name, arity, rule, strength, glsl, msl, c) QG_##id,
#include "spec/ops.def"
#undef O
    QG_OP_COUNT
} qg_op;

/* ---- parse.c: the specification as written -------------------------------------------------------------------- */

/* Expressions as written: constants of the layout, and the value. */
typedef enum qg_expr_kind {
    QG_E_INT,
    QG_E_FLOAT,
    QG_E_NAME,
    QG_E_UNARY,
    QG_E_BINARY,
    QG_E_SELECT,
    QG_E_INDEX,
    QG_E_BITS,
    QG_E_CALL /* of encode alone */
} qg_expr_kind;

typedef struct qg_expr {
    qg_expr_kind kind;
    qg_loc loc;                   /* of the token that decides: the operator, the name, the number */
    qg_op op;                     /* UNARY, BINARY */
    int64_t integer;              /* INT */
    double real;                  /* FLOAT */
    const char *name;             /* NAME; INDEX: the table; BITS: the type; CALL: the function */
    uint32_t depth;               /* of the tree, at most 200 */
    const struct qg_expr *arg[3]; /* operands; INDEX: row, column or NULL; CALL with an index: how many, and of what */
    const char *index;            /* CALL: the name that counts; NULL: none */
} qg_expr;

/* Of `encode`: `NAME [per N] = EXPRESSION [then EXPRESSION]`, or `best [per N] of INDEX in COUNT { equations } where
 * CONDITION`, or the same with `sweep`. */
typedef struct qg_spec_equation {
    const char *name; /* of best: the index */
    qg_loc loc;
    const qg_expr *per;   /* NULL: the block; of a code its own; within best that of best */
    bool of_row;          /* `per row`: once for all blocks of a row */
    const qg_expr *value; /* of best: the condition, or NULL */
    const qg_expr *next;  /* within sweep: what it becomes; NULL: it is no state */
    const qg_expr *count; /* of candidates, or of times; NULL: an equation */
    bool sweeps;
    uint32_t n_body;
    const struct qg_spec_equation *body;
} qg_spec_equation;

typedef struct qg_spec_param {
    const char *name;
    qg_loc loc;
    bool is_type;
    uint32_t n_values;
    const int64_t *values; /* integers, or qg_scalar when is_type */
} qg_spec_param;

/* A type as written: a scalar's name, or that of a type parameter. */
typedef struct qg_spec_type {
    const char *name;
    qg_loc loc;
} qg_spec_type;

typedef struct qg_spec_field {
    const char *name;
    qg_loc loc;
    qg_spec_type type;
    const qg_expr *count;   /* NULL: a single scalar */
    const qg_expr *columns; /* of an array of two dimensions; `count` are its rows then */
    bool spare;             /* bytes that the format leaves unused */
} qg_spec_field;

/* `[rows]`, `[cols]`, `[CODE]` or `[CODE of ENTRIES]` behind a buffer's name. */
typedef struct qg_spec_axis {
    const char *name;
    qg_loc loc;
    const qg_expr *entries; /* NULL: none are said */
} qg_spec_axis;

enum { QG_MAX_AXES = 2 };

typedef struct qg_spec_buffer {
    const char *name;
    qg_loc loc;
    bool has_axes; /* written, and be it `[]` */
    uint32_t n_axes;
    qg_spec_axis axes[QG_MAX_AXES]; /* the slowest first */
    uint32_t n_fields;
    const qg_spec_field *fields;
} qg_spec_buffer;

typedef struct qg_spec_digit {
    const qg_expr *extent;
    const qg_expr *stride; /* NULL: '^', which digit of the base, or '=' */
    bool same;             /* '=' */
    qg_loc power_loc;      /* of the '^' or '=' */
} qg_spec_digit;

typedef struct qg_spec_slice {
    qg_loc loc;
    const char *field; /* the array or scalar that the bits are taken from */
    qg_loc field_loc;
    const qg_expr *width;
    const qg_expr *radix; /* `base RADIX`; NULL: plain bits */
    const qg_expr *base;  /* bit, counted from the start of the field */
    uint32_t n_digits;
    const qg_spec_digit *digits;
    uint32_t segment; /* how many `then` stand before it */
} qg_spec_slice;

/* `code NAME [: TYPE] [per N] = FIELD { slices } ... [then FIELD { slices } ...] ...`, or `spare
 * FIELD { slices }` with an empty name. */
typedef struct qg_spec_code {
    const char *name;
    qg_loc loc;
    bool spare;
    qg_spec_type type;  /* name NULL: unsigned */
    const qg_expr *per; /* NULL: 1 */
    uint32_t n_segments;
    uint32_t n_slices;
    const qg_spec_slice *slices;
} qg_spec_code;

typedef struct qg_spec_table {
    const char *name;
    qg_loc loc;
    qg_spec_type type;
    const qg_expr *rows;
    const qg_expr *columns; /* NULL: one column */
    uint32_t n_values;      /* inline values */
    const double *values;
    const qg_loc *value_locs;
    const char *file; /* or a binary file beside the specification */
    qg_loc file_loc;
} qg_spec_table;

typedef struct qg_spec {
    const qg_source *source;
    const char *name; /* as written: `name_b{bits}_{T}` */
    qg_loc name_loc;
    const char *summary;
    const char *origin; /* where the format comes from; NULL: not said */
    qg_loc origin_loc;
    uint32_t n_params;
    const qg_spec_param *params;
    const qg_expr *rows;     /* of a block; NULL in a block of one row, which is written without */
    const qg_expr *elements; /* of a block; its columns where it has rows */
    bool apart;              /* the rows of a block lie far from each other */
    bool ragged;             /* the last blocks may be cut off */
    uint32_t n_header;       /* fields that stand before the blocks of each row: the first of the only buffer */
    qg_loc header_loc;
    qg_loc block_loc;
    uint32_t n_buffers; /* interleaved formats: one, named "blocks" */
    const qg_spec_buffer *buffers;
    uint32_t n_codes;
    const qg_spec_code *codes;
    uint32_t n_tables;
    const qg_spec_table *tables;
    const qg_expr *value;
    qg_loc encode_loc;
    size_t encode_begin, encode_end; /* bytes of the source that are encode, with its keyword */
    uint32_t n_equations;            /* of encode; 0: there is none */
    const qg_spec_equation *equations;
    uint32_t n_exprs; /* nodes of all expressions: what one instance costs to check */
} qg_spec;

/* Parses one specification; NULL after errors. No semantics beyond the grammar of docs/format-language.md. */
const qg_spec *qg_parse(qg_arena *arena, qg_diag *diag, const qg_source *source);

/* ---- check.c, layout.c: one proven format --------------------------------------------------------------------- */

/* How blocks lie in a tensor. */
typedef enum qg_view {
    QG_VIEW_BLOCKS,   /* one after the other, in the order of the elements */
    QG_VIEW_SEQUENCE, /* the same, and the last may be cut off */
    QG_VIEW_MATRIX,   /* patches of a matrix, `block_rows` high and `block_cols` wide */
    QG_VIEW_GROUPS /* the elements in order are cut into groups of `block_cols`; the `block_rows` groups of a block lie
                         as far from each other as there are blocks */
} qg_view;

typedef struct qg_field {
    const char *name;
    qg_loc loc;
    qg_scalar type;
    bool is_array;
    bool spare;
    uint32_t count;
    uint32_t rows, columns; /* count = rows * columns; in VIEW_BLOCKS all are columns */
    uint32_t buffer;
    uint32_t offset; /* bytes from the start of the block's part of that buffer */
} qg_field;

/* What a buffer grows along. */
typedef enum qg_axis { QG_AXIS_ROWS, QG_AXIS_COLS, QG_AXIS_CODE } qg_axis;

/* Not in VIEW_BLOCKS, a buffer is a matrix of items, and a block has a tile of it, row by row in the
 * block's own bytes. The axes say what the matrix grows along, the slowest in memory first: [rows][cols] as
 * the tile is written, [cols][rows] turned, [rows] or [cols] shared by all columns or rows of blocks, none
 * shared by the whole tensor. Along AXIS_CODE the number of the column of blocks is the value of a code; or, with
 * `entries`, the buffer has a table of so many tiles, of each row of blocks or of the tensor, and the code says which.
 */
typedef struct qg_buffer {
    const char *name;
    uint32_t bytes; /* of one block in this buffer, with the row's header */
    uint32_t item_bits;
    uint32_t tile_rows, tile_cols; /* items */
    uint32_t header; /* items that stand before the blocks of each row; in a block's own bytes they come first */
    uint32_t n_axes;
    qg_axis axes[QG_MAX_AXES];
    uint32_t index;   /* AXIS_CODE: the code */
    uint32_t entries; /* of a table that it chooses from; 0: it chooses a column of blocks */
    bool shared;      /* of a layout whose blocks lie one after the other: they all have the same here */
} qg_buffer;

typedef struct qg_digit {
    uint32_t extent;
    int32_t stride; /* bits */
} qg_digit;

/* Bits [shift, shift+bits) of instances [first, first+count) of a code. The index of an instance,
 * counted from `first` and split into digits, lies at bit + sum(digit * stride).
 *
 * With a radix, `width` bits hold several digits of that base as a binary fraction rounded up, and
 * digit `power` of the index says which one, the most significant being 0: for n it is ((word *
 * radix^n) mod 2^width) * radix >> width. It moves no address (stride 0); radix^extent is at most
 * 2^width, and width at most 16, so that all products fit 32 bits. */
typedef struct qg_slice {
    qg_loc loc;
    uint32_t width; /* in memory */
    uint32_t shift;
    uint32_t bits; /* that it gives the code: the width, or what radix - 1 needs */
    uint32_t field;
    uint32_t buffer;
    uint32_t bit; /* from the start of the block's part of the buffer, little-endian bit order */
    uint32_t first, count;
    uint32_t radix; /* 0: the bits as they are */
    uint32_t power; /* index in digits */
    uint32_t same; /* a bit for each digit: instances that differ in it alone have the same bits, and its stride is 0 */
    uint32_t n_digits;
    const qg_digit *digits;
} qg_slice;

/* A code has `count` = elements / per instances in a block; instance j serves elements [j*per,
 * (j+1)*per). Its slices stand segment by segment, low bits first: those of a segment have the same
 * `first`, and together give all bits of the code. A scalar field that the value names directly is
 * a code too, of one slice without digits, with per = elements. */
typedef struct qg_code {
    const char *name;
    qg_loc loc;
    bool typed; /* the bits are a `type`; else an unsigned integer */
    qg_scalar type;
    uint32_t width; /* bits, at most 32 */
    uint32_t most;  /* the largest value of the bits */
    uint32_t per;
    uint32_t count;
    bool of_column; /* counted along the columns of the block alone: all its rows share the bits */
    uint32_t n_slices;
    const qg_slice *slices;
} qg_code;

typedef struct qg_table {
    const char *name;
    qg_loc loc;
    qg_scalar type;
    uint32_t rows;
    uint32_t columns;
    const double *values; /* rows * columns, row-major */
} qg_table;

typedef enum qg_kind { QG_K_BOOL, QG_K_UINT, QG_K_INT, QG_K_FLOAT } qg_kind;

/* ---- calls.def: functions of encode ---- */

typedef enum qg_function {
#define F(id, name, arguments, glsl, msl, c) QG_CALL_##id,
#include "spec/calls.def"
#undef F
    QG_CALL_COUNT
} qg_function;

/* The value of an element as a typed tree. Leaves: QG_CONST, QG_CODE (ref: code), QG_ELEMENT (index in the block).
 * QG_BITS_AS takes the bits of an unsigned integer as a value of scalar type `ref`.
 * QG_TABLE looks up arg[0] (row) and arg[1] (column or NULL) in table `ref`. Integers carry a proven range; integer
 * operands of float operations are wrapped in QG_TO_FLOAT, and are proven to be exact there (|x| <= 2^24).
 *
 * In encode a term may be QG_CALL, too, of what `call` says. QG_CODE is then the code as it was stored. */
typedef struct qg_term {
    qg_op op;
    qg_function call; /* of QG_CALL */
    uint32_t count;   /* of a call that counts: how often; of a reduction: 0 */
    qg_kind kind;
    qg_loc loc;
    uint32_t ref;
    int64_t integer;   /* QG_CONST of integer kind */
    float real;        /* QG_CONST of float kind */
    int64_t low, high; /* range of an integer term */
    uint32_t per;      /* the term is the same for all elements of an aligned run of `per` */
    uint32_t number;   /* of the term, below n_terms of its layout */
    const struct qg_term *arg[3];
} qg_term;

/* An equation of encode, or the search for the best of some candidates, or a sweep that goes over the elements of a
 * group some times. Names of `per` 1 are not stored, but written out where they are used; states of a sweep are. */
typedef struct qg_equation {
    const char *name; /* of best and sweep: the index */
    qg_loc loc;
    uint32_t per;
    bool is_code;
    uint32_t code;               /* that it sets, where is_code */
    const struct qg_term *value; /* of best and sweep: the condition; a code of a small float: its bits */
    const struct qg_term *next;  /* of a state: what it becomes where the condition holds; else NULL */
    uint32_t candidates;         /* of best and sweep, how many, or how often; 0: an equation */
    bool sweeps;
    uint32_t first, end; /* of best and sweep: their equations in qg_encode */
    uint32_t best;       /* of an equation of these: 1 + the number of that; else 0 */
    bool of_row; /* the same for all blocks of a row: what it looks at are all elements of that. `per` is the block */
} qg_equation;

/* How blocks are made of floats: equations in their order. Those of best and sweep follow these. */
typedef struct qg_encode {
    uint32_t count;
    const qg_equation *items;
    bool rows; /* of a matrix whose blocks are pieces of rows: what all of a row share stands before them, or apart */
} qg_encode;

/* Whether a code lies in what the blocks of a row share. */
bool qg_is_of_row(const qg_buffer *buffers, const qg_code *code);

/* One format with its parameters bound, and every layout rule proven. */
typedef struct qg_layout {
    const qg_spec *spec;
    const char *name;
    const char *format; /* the same, but of qg_layout_in: the name of the format */
    qg_scalar math;     /* that each operation of the value is rounded to: F32, F16 or BF16 */
    const char *summary;
    const char *parameters; /* "bits = 4, group = 64, T = bf16", or "" */
    uint32_t elements;      /* of a block: block_rows * block_cols */
    uint32_t joined;        /* blocks of the format that are one here; 0: it is the format's own */
    qg_view view;
    bool ragged;
    const struct qg_layout *each; /* of a tensor that is several stacked matrices: the layout of one; else NULL */
    uint32_t block_rows, block_cols;
    uint32_t n_buffers;
    const qg_buffer *buffers;
    uint32_t n_fields;
    const qg_field *fields;
    uint32_t n_codes; /* in the order in which the value first needs them is not promised */
    const qg_code *codes;
    uint32_t n_spares; /* slices declared spare */
    const qg_slice *spares;
    uint32_t n_tables;
    const qg_table *tables;
    uint32_t n_terms;        /* of value and encode */
    const qg_term *value;    /* kind float */
    const qg_encode *encode; /* NULL: the specification does not say how to encode */
    uint32_t block_bytes;    /* over all buffers */
} qg_layout;

typedef struct qg_layouts {
    uint32_t count;
    const qg_layout **items;
} qg_layouts;

/* The buffer of a code's bits that is found by the value of another code, or NULL. */
const qg_buffer *qg_index_of(const qg_buffer *buffers, const qg_code *code);

/* The format with its value computed in `math`: each float, and the result of each operation on
 * floats, is rounded to that type. Unless that is f32, the name says so: FORMAT_decode_MATH. */
const qg_layout *qg_layout_in(qg_arena *arena, const qg_layout *layout, qg_scalar math);

/* What stands before the blocks of each row of a buffer. */
uint32_t qg_header_bytes(const qg_buffer *buffer);
/* Bits that a tensor has for each element; what all rows or columns of blocks share does not count. */
double qg_bits_per_element(const qg_layout *layout);

/* Instantiates a specification for every combination of its parameters and proves each. Errors that all instances share
 * are reported once. Returns an empty list after errors. */
qg_layouts qg_check(qg_arena *arena, qg_diag *diag, const qg_spec *spec);

/* The instance of a code that serves an element of the block. */
uint32_t qg_instance_of(const qg_layout *layout, const qg_code *code, uint32_t element);

/* The bit address of instance `j` of a code in a slice that serves it, from the start of the
 * block's part of the slice's buffer. */
uint32_t qg_slice_address(const qg_slice *slice, uint32_t j);
/* Which digit of the slice's radix instance `j` is, the most significant being 0; 0 without a
 * radix. The first digit stands for all in proofs and pictures. */
uint32_t qg_slice_power(const qg_slice *slice, uint32_t j);
/* Whether instance `j` has bits that an instance before it has, too. */
bool qg_slice_repeats(const qg_slice *slice, uint32_t j);
/* Whether some instances of a code have the same bits. */
bool qg_has_same(const qg_code *code);

/* Who owns a bit of the block: layout.c's map behind proofs and pictures. */
typedef enum qg_owner_kind { QG_OWNER_NONE, QG_OWNER_CODE, QG_OWNER_SPARE } qg_owner_kind;
typedef struct qg_owner {
    qg_owner_kind kind;
    uint32_t code;     /* index in layout->codes, when CODE */
    uint32_t slice;    /* index in the code's slices, or in layout->spares */
    uint32_t instance; /* j; of several that share the bits, the one with the most significant digit */
    uint32_t bit;      /* of the code; of a slice with a radix: shift, and the number of the bit in the slice */
} qg_owner;

/* One owner for each bit of buffer `buffer`'s part of a block. */
const qg_owner *qg_bit_map(qg_arena *arena, const qg_layout *layout, uint32_t buffer);

/* ---- join.c ------------------------------------------------------------------------------------------------------ */

/* Whether a code lies elsewhere from some instance on. */
bool qg_has_segments(const qg_code *code);
/* A layout of which a block is `count` blocks of `layout`, one after the other; NULL where they
 * cannot be described so. The slices of codes with segments are those of the first block. */
const qg_layout *qg_layout_joined(qg_arena *arena, const qg_layout *layout, uint32_t count);
/* The layout of a tensor whose rows and columns are whole blocks, of a format whose last ones may be cut off; and with
 * blocks one after the other where they are short parts of a row. As it is where it is neither. */
const qg_layout *qg_layout_whole(qg_arena *arena, const qg_layout *layout);
/* The layout of a tensor that is encoded: of a sequence whose last block may be cut off, one of whole blocks. */
const qg_layout *qg_layout_to_encode(qg_arena *arena, const qg_layout *layout);
/* Whether several matrices of the format, which lie one after the other in each buffer, can be told apart by number. */
bool qg_has_experts(const qg_layout *layout);
/* The layout of such a tensor. Where each row of blocks has a part of its own of every buffer, it is the format's: a
 * matrix more is rows more. Else it is stacked: a place is counted from where the matrix begins. */
const qg_layout *qg_layout_of_experts(qg_arena *arena, const qg_layout *layout);

/* ---- dump.c: stages as text that people read and tests compare -------------------------------------------------- */

/* The specification as parsed, in canonical form: it parses back to the same specification. */
char *qg_dump_spec(qg_arena *arena, const qg_spec *spec);
/* Fields with offsets, codes with absolute bits, and the value as a typed tree. */
char *qg_dump_layout(qg_arena *arena, const qg_layout *layout);

#endif
