/* From plans to whole kernels: families, descriptors, and the text of each target. */
#ifndef QKGEN_GEN_KERNEL_H
#define QKGEN_GEN_KERNEL_H

#include "ir.h"

#include <qkgen/kernel.h>

/* ---- family.c ------------------------------------------------------------------------------------------------------ */

enum { QG_MAX_FAMILY_BINDINGS = 5, QG_MAX_PUSH = 8, QG_MAX_FAMILY_TYPES = 3 };

typedef enum qg_family_id {
#define F(ID, ...) QG_FAMILY_##ID,
#include "family.def"
#undef F
    QG_FAMILY_COUNT
} qg_family_id;

/* A kernel family: one schedule, in templates/NAME.*, for every format. Its bindings follow the format's buffers. */
typedef struct qg_family {
    qg_family_id id;
    const char *name;
    const char *summary; /* completes "Q: " in a banner */
    bool in_blocks;      /* only for formats whose blocks lie one after the other */
    bool sums;           /* over rows: the results are f32, and the kernel's type is that of x */
    uint32_t n_types;
    qg_scalar types[QG_MAX_FAMILY_TYPES]; /* of results, or of x */
    uint32_t n_bindings;
    struct qg_family_binding {
        const char *name;
        qk_role role;
        qk_access access;
    } bindings[QG_MAX_FAMILY_BINDINGS];
    const char *reference_result;
    struct qg_family_form {
        const char *suffix; /* of the template's name */
        uint32_t n_push;
        const char *push[QG_MAX_PUSH]; /* u32 each */
        /* C: what the dispatch stub takes after the weights, declared and passed on; what the reference takes between the
         * weights and dst. */
        const char *dispatch_parameters, *dispatch_arguments, *reference_parameters;
    } blocks, matrix; /* for formats whose blocks lie one after the other, and for those whose blocks are patches */
} qg_family;

typedef struct qg_family_form qg_family_form;

const qg_family_form *qg_form(const qg_family *family, const qg_layout *layout);

/* From family.def, in its order. */
extern const qg_family qg_families[QG_FAMILY_COUNT];
extern const uint32_t qg_n_families;
const qg_family *qg_family_named(const char *name);

typedef enum qg_class_id {
#define C(ID, ...) QG_CLASS_##ID,
#include "class.def"
#undef C
    QG_CLASS_COUNT
} qg_class_id;

/* How a family that sums over rows multiplies, and what that costs in exactness. */
typedef struct qg_sum_class {
    const char *name;
    const char *infix;  /* of a kernel's name */
    const char *module; /* of the name of its code, which several classes may share */
    qg_products products;
    uint32_t digits; /* bytes of each x, where products are of bytes */
    qk_numeric_class numeric;
    bool metal;
    bool on_request; /* emitted only where it is named */
} qg_sum_class;

/* From class.def, in its order. */
extern const qg_sum_class qg_sum_classes[QG_CLASS_COUNT];
extern const uint32_t qg_n_sum_classes;
/* The names of all classes, "|" between them, for help. */
const char *qg_class_words(void);
/* The class of that name, or NULL. */
const qg_sum_class *qg_sum_class_named(const char *name);

/* Whether there are kernels of the family for a format. */
bool qg_takes(const qg_family *family, const qg_layout *layout);

/* One kernel: a family for a format, with results of one type. */
typedef struct qg_kernel {
    const char *name; /* q4_K_dequant_f16, say */
    const qg_family *family;
    const qg_layout *layout;
    const qg_plan *plan; /* on Vulkan */
    const qg_plan
        *wide; /* on Vulkan, for one vector and rows that it fits: larger tiles, loads of 16 bytes; NULL: none */
    const qg_plan
        *ahead; /* on Vulkan, tiles out of memory into which rows are loaded ahead; NULL: none, or it does not pay */
    const qg_plan *metal_plan; /* the same for all types */
    qg_scalar type;
    const qg_sum_class *sum; /* NULL where the family does not sum */
    const char *module;      /* name of its GLSL and its words */
    uint32_t rows_at_once;   /* at most, of one right-hand side; 0: as many as usual */
    uint32_t overruns;       /* buffers whose wide loads go beyond the last block, a bit each */
    bool reference;          /* in C: of the first class; what the others are held against is the same */
    bool shared;             /* a kernel before it in the list has the same */
} qg_kernel;

/* Metal has no integer dot products: kernels that need them are for Vulkan alone. */
bool qg_on_metal(const qg_kernel *kernel);
/* Simdgroups in a threadgroup of Metal, where matrix units multiply. */
enum { QG_MMA_SIMDGROUPS = 8 };
/* Whether, with several right-hand sides, a workgroup of Vulkan shares x. */
bool qg_shares_x(const qg_kernel *kernel);
/* Of one right-hand side, it can load the x of wide tiles together, whole blocks at a time, QG_LEAST_STAGED runs or a multiple. */
bool qg_stages_x(const qg_kernel *kernel);
enum { QG_LEAST_STAGED = 512 };
/* Whether its products are those of matrix units. */
bool qg_is_mma(const qg_kernel *kernel);
/* Whether code looks up values of a table, or loads words of it. */
bool qg_reads_table(const qg_ir *ir, uint32_t table);
/* Whether a format has sums of that class. */
bool qg_has_class(qg_arena *arena, const qg_layout *layout, const qg_family *family, const qg_sum_class *sum);

/* constants.c: the specialisation constant of that id, with this value in a descriptor. */
qk_spec_constant qg_constant(qk_constant_id id, uint32_t value);
/* The constants of a kernel, into its description, which has its API and workgroup size. */
void qg_describe_constants(qg_arena *arena, const qg_kernel *kernel, qk_kernel *described);
/* Plans the kernel as its family wants it. */
qg_kernel qg_kernel_new(qg_arena *arena, const qg_layout *layout, const qg_family *family, qg_scalar type,
                        const qg_sum_class *sum);
/* Elements that the least access to x or to the results takes: ragged rows end anywhere. */
uint32_t qg_least_lanes(const qg_kernel *kernel);
/* The kernel as the C side sees it. Its text or words are `code`, which may be NULL. */
const qk_kernel *qg_describe(qg_arena *arena, const qg_kernel *kernel, qk_api api, const qk_code *code);

/* error.c: the numbers of the bound of a kernel that sums, into its description. */
void qg_describe_error(const qg_kernel *kernel, qk_kernel *described);

/* ---- templates ------------------------------------------------------------------------------------------------------ */

typedef struct qg_template {
    const char *name; /* dequant.comp */
    const char *path;
    const char *text;
} qg_template;

typedef struct qg_templates {
    uint32_t count;
    const qg_template *items;
} qg_templates;

/* Reads the templates that the printers need from a folder; on failure returns false and sets *why. */
bool qg_templates_load(qg_arena *arena, const char *folder, qg_templates *templates, const char **why);
const char *qg_template_text(const qg_templates *templates, const char *name);
/* The template of a kernel in the language that the ending says. */
const char *qg_template_of(qg_arena *arena, const qg_templates *templates, const qg_kernel *kernel, const char *ending);

/* ---- text of the targets --------------------------------------------------------------------------------------------- */

/* The kernels of a request, once they are planned. */
typedef struct qg_kernel_list {
    bool made;
    uint32_t count;
    const qg_kernel *items;
} qg_kernel_list;

/* Which families a format is emitted for, and how. */
typedef struct qg_request {
    const qg_layout *layout;
    uint32_t n_families;
    const qg_family *const *families;
    uint32_t classes; /* of sums, as bits; 0: the first, exact */
    bool vulkan, metal;
    bool without_mma;     /* the compiler of GLSL does not know matrix units */
    const char *command;  /* that regenerates, for the banner */
    qg_kernel_list *list; /* where qg_kernels keeps them; NULL: they are planned each time */
} qg_request;

/* Whether a request has the kernel for Vulkan. */
bool qg_on_vulkan(const qg_request *request, const qg_kernel *kernel);

/* GLSL of one kernel; MSL of all kernels of a request. NULL and *why on a broken template. */
char *qg_glsl(qg_arena *arena, const qg_templates *templates, const qg_request *request, const qg_kernel *kernel,
              const char **why);
char *qg_msl(qg_arena *arena, const qg_templates *templates, const qg_request *request, const qg_plan *plan,
             const char **why);

/* C header and source of a format: reference decoder, descriptors, dispatch stubs. `codes` holds one entry for each Vulkan
 * kernel in the order of qg_kernels; with `embed`, its words stand in the source, and `kernel_h` and `dispatch_h` are the
 * texts that take the place of the includes. */
typedef struct qg_c_options {
    bool embed;
    const char *kernel_h;
    const char *dispatch_h;
    const qk_code *spirv;
    const char *msl;
} qg_c_options;

char *qg_c_header(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                  const qg_c_options *options, const char **why);
char *qg_c_source(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                  const qg_c_options *options, const char **why);
/* The code of all kernels as a C file of its own, for the tree in which the source does not embed it. */
char *qg_c_code(qg_arena *arena, const qg_request *request, const qg_c_options *options);

/* Parts of these files (c.c). `owner` is what shares MSL text and tables: the format. */
void qg_c_add_words(qg_text *text, const char *name, const qk_code *code, const char *linkage);
void qg_c_add_msl(qg_text *text, const char *owner, const char *msl, const char *linkage);
/* The descriptors of one kernel, for Vulkan and for Metal; one may be NULL. `module` is the name of its words. */
void qg_c_add_kernel(qg_text *text, const char *owner, const char *module, const qk_kernel *vulkan,
                     const qk_kernel *metal);
/* The expression in a stub that is the descriptor for the backend's API. */
const char *qg_c_chosen(qg_arena *arena, bool vulkan, bool metal, const char *name);

/* All kernels of a request: families in order, and each of their types. Plans that are the same are shared. */
uint32_t qg_kernels(qg_arena *arena, const qg_request *request, const qg_kernel **kernels);

/* Shared by the printers of kernels (holes.c). */
enum { QG_MAX_HOLES = 104 };

typedef struct qg_holes {
    qg_binding items[QG_MAX_HOLES];
    uint32_t count;
} qg_holes;

void qg_hole(qg_holes *holes, const char *name, const char *value);
/* Makes a condition true that is there already. */
void qg_hole_set(qg_holes *holes, const char *name);
/* The holes that depend on plan and target alone: runs, tiles, vec, block_of_i, ... */
void qg_plan_holes(qg_arena *arena, qg_holes *holes, const qg_plan *plan, const qg_target *target);
/* True when some node of the IR is this operation: which prelude functions a kernel calls. */
/* Bits of the words that a buffer's wide loads are made of; 0 when it has none. */
uint32_t qg_wide_unit(const qg_ir *ir, uint32_t buffer);
bool qg_uses(const qg_ir *ir, qg_op op);
/* True when some node that is used loads so from a buffer. */
bool qg_loads(const qg_ir *ir, qg_op op, uint32_t buffer);
/* True when the IR has an argument of that name. */
bool qg_uses_argument(const qg_ir *ir, const char *name);
/* The shape arguments of place.c that the IR uses, each written by the pattern, in which $ is the name. */
char *qg_shape_arguments(qg_arena *arena, const qg_ir *ir, const char *pattern);
/* The first lines of a decode function in a matrix: where row `row` and tile `tile` lie in the grid of blocks. */
char *qg_grid_lines(qg_arena *arena, const qg_ir *ir, const qg_plan *plan, const qg_target *target);
/* stores.c, for GLSL: the holes of what writes a tile, and of the prelude's functions that it calls; whether it stores single
 * values. */
void qg_store_holes(qg_arena *arena, qg_holes *holes, qg_holes *prelude, const qg_kernel *kernel);
void qg_no_store_holes(qg_holes *prelude);
bool qg_stores_singly(const qg_kernel *kernel);
/* Whether it has the constant QK_CONSTANT_ROUNDS_F16. */
bool qg_rounds_f16(const qg_kernel *kernel);
void qg_prelude_holes(qg_holes *holes, const qg_ir *ir);
/* What another IR of the same text calls, too. */
void qg_prelude_add(qg_holes *holes, const qg_ir *ir);
/* sums.c. How many tiles of x a thread keeps; the bodies of the functions that load such a tile, and that add a tile of
 * weights. `row_tiles`, which are `size` times smaller, `row_runs`, `batch` and `load` are how the target writes these; $i in `load` is the index of a run. */
uint32_t qg_kept_tiles(const qg_plan *plan);
/* The same where matrix units multiply: x of eight right-hand sides as halves. */
uint32_t qg_mma_tiles(const qg_plan *plan);
/* There, rows that are loaded 16 bytes at a time, `owner` before the names of the shape: not those that are no whole wide tiles, and
 * not the last, where that would read beyond its end. "" where it is all of them. */
const char *qg_mma_end(qg_arena *arena, const qg_ir *ir, const qg_kernel *kernel, const char *owner);
/* Steps of x in a tile of integers. */
uint32_t qg_x_steps(const qg_plan *plan);
void qg_load_x_body(qg_text *text, const qg_ir *ir, const qg_x_operands *operands, const qg_plan *plan,
                    const qg_target *target, const char *row_runs, const char *batch, const char *load);
/* The body of a function that makes operands of a tile of weights, or, with `most`, returns their largest factor. qg_load_x_body
 * makes those of x, where its `operands` are not NULL. */
void qg_operands_of_row(qg_text *text, const qg_operands *operands, const qg_ir *ir, const qg_plan *plan,
                        const qg_target *target, const char *row_tiles, uint32_t size, bool most);
void qg_accumulate_body(qg_text *text, const qg_ir *ir, const qg_plan *plan, const qg_target *target,
                        const char *row_tiles, uint32_t size);
/* The body of a function that loads the weights of a tile, into the arrays `fours` and `words`. Loads of 16 bytes of the buffers
 * `to_end`, a bit each, are calls of BUFFER_to_end, with their place and the number of the block. */
void qg_fetch_body(qg_text *text, const qg_ir *ir, const qg_plan *plan, const qg_target *target, const char *row_tiles,
                   uint32_t size, uint32_t to_end);
/* lookups.c, for GLSL: the tables that a workgroup makes, functions that read them, and the text that fills them. `ir` may be NULL where
 * `kernel` has no wide tiles. */
void qg_lookup_holes(qg_arena *arena, qg_holes *holes, const qg_ir *ir, const qg_kernel *kernel);
/* shared.c, for GLSL: how much of x a workgroup shares, and the functions share_x and take_x. */
char *qg_shared_x(qg_arena *arena, const qg_ir *ir, const qg_plan *plan);
/* cut.c. For rows that end or begin within tiles: the elements of a row, written with what `owner` puts before the names of the
 * shape; of how many elements a row must be a multiple to have whole tiles; and the body of a function that sets part[m] to the
 * sum over what tile `j` of row `n` has in the row. */
typedef struct qg_cut_names {
    const char *decode, *arguments; /* a function that decodes a tile, and what it takes before row, tile and v */
    const char *batch;
    const char *load; /* an element of x, whose index is $i */
} qg_cut_names;

const char *qg_row_cols(qg_arena *arena, const qg_plan *plan, const char *owner);
uint32_t qg_whole_unit(const qg_plan *plan);
void qg_sum_cut_body(qg_text *text, const qg_plan *plan, const qg_target *target, const qg_cut_names *names);
/* A function that sums up products of halves: once as halves, then as floats. */
char *qg_dot_halves(qg_arena *arena, const qg_plan *plan, const qg_target *target, const char *qualifier);
/* Statements and `v[r] = value;` lines of a decode function's body. */
void qg_decode_body(qg_text *text, const qg_ir *ir, const qg_target *target);
/* The lines of the banner, each after `prefix`. They say what `kernel` costs, or, where it is NULL, what each family does. */
char *qg_banner(qg_arena *arena, const qg_request *request, const qg_kernel *kernel, const char *sentence,
                const char *open, const char *prefix, const char *close);
/* The tables that stand in the text. */
char *qg_tables(qg_arena *arena, const qg_plan *plan, const qg_target *target, const char *qualifier);
/* Words as the items of an array, eight on a line. */
void qg_add_words(qg_text *text, const uint32_t *words, size_t count);

#endif
