/* text.h: templates, and the text of each target. */
#ifndef QKGEN_TEXT_H
#define QKGEN_TEXT_H

#include "build/program.h"

/* ---- print.c and the targets ------------------------------------------------------------------------------------- */

typedef enum qg_target_id {
#define T(ID, name, words) QG_##ID,
#include "spec/target.def"
#undef T
    QG_TARGET_COUNT
} qg_target_id;

struct qg_templates;

/* What differs between the languages; everything else about expressions is shared. */
typedef struct qg_target {
    /* An API whose kernels are one text for each format, and which has no descriptors: its name, the ending of the
     * file, and what prints all kernels that the request has for it; NULL and *why on a broken template, a fault of the
     * generator, or where there are none. Without a name, `emit` asks for the language itself. */
    const char *api, *ending;
    const char
        *prefix; /* of the file's name; NULL: none. A text with one needs no C: alone, it stands in the folder itself */
    bool (*takes)(const qg_layout *layout); /* NULL: every format */
    char *(*print)(qg_arena *arena, const struct qg_templates *templates, const qg_request *request, const char **why);
    qg_target_id column;                    /* of ops.def: its own, or that of its nearest relative */
    const char *own[QG_OP_COUNT];           /* patterns where it differs from that column */
    const char *vector;                     /* opens a vector of $T, of ... */
    const char *types[4][QG_MAX_LANES + 1]; /* by kind and lanes */
    const char *halves[QG_MAX_LANES + 1];   /* by lanes */
    const char *halves_of_word;             /* $1, as two halves */
    const char *absolute;                   /* the function */
    const char *unsigned_suffix;
    const char *float_suffix;
    const char *infinity;
    bool stored_in_text;        /* stored tables are constants of the text, and not bound */
    bool casts;                 /* a conversion is a cast, which binds like a prefix, and not a call */
    const char *result;         /* what comes before the value of run $r */
    const char *array;          /* opens the literal of an array of $T, of ... */
    const char *array_2;        /* ... an array of such arrays; */
    const char *array_end;      /* closes both */
    const char *precise;        /* qualifier of a float statement that must round as written */
    const char *local;          /* qualifier of every statement */
    const char *unroll;         /* before a loop that must be unrolled, so that arrays become registers */
    const char *comparisons[6]; /* EQ NE LT LE GT GE over several lanes; NULL: the operators serve */
    const char *choose;         /* over several lanes */
    const char *wide_load;      /* of a word of 32 bits: buffer and index */
    const char *narrow_load;    /* of a narrower one */
} qg_target;

/* From target.def, in its order; each stands with what prints it. */
#define T(ID, name, words) extern const qg_target qg_target_##name;
#include "spec/target.def"
#undef T
extern const qg_target *const qg_targets[QG_TARGET_COUNT];
/* The target of an API that has a name there, or QG_TARGET_COUNT; and these names, each behind a "|", for help. */
qg_target_id qg_target_of_api(const char *name);
const char *qg_api_words(qg_arena *arena);

/* The first indices of what is kept of x: tile, and right-hand side. */
const char *qg_kept_at(const qg_ir *ir);
/* The same as what functions take. */
const char *qg_kept_numbers(const qg_ir *ir);
/* Appends an expression as the target writes it. */
void qg_print_expression(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node);
/* Whether a remark, "  // NAME: ...", says of which of the values it is that are declared before it, `length`
 * characters of `values`. */
bool qg_says_of_what(const char *values, size_t length, const char *remark);
/* The same as a factor of a product: in brackets where it is none. */
void qg_print_factor(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node);
/* Appends a statement on a line of its own, with its comment. */
void qg_print_statement(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node,
                        const char *indent);

/* Appends an assignment on a line of its own that begins with `begin`; or, where it is not the first, behind the one
 * before, if the line has room. */
void qg_add_item(qg_text *text, const char *begin, const char *item, bool first);

/* Appends the shortest decimal that reads back as `value`. */
void qg_print_float(qg_text *text, const qg_target *target, float value);
/* Appends a pattern of a target with its hole filled in: $r or $T. */
void qg_print_filled(qg_text *text, const char *pattern, char hole, const char *value);

/* ---- wrap.c ------------------------------------------------------------------------------------------------------ */

/* The text with lines of at most 140 columns: longer ones are broken before operators and behind commas, and a comment
 * behind code goes before it. Directives of the preprocessor stay, and what has no such place. NULL for NULL. */
char *qg_wrap(qg_arena *arena, char *text);

/* ---- fragments.c: operands of matrix units ----------------------------------------------------------------------- */

/* How a target writes operands of x: first `scale`, in which $m is the largest magnitude in a tile;
 * then a statement for every `at_once` words, from `open`, in which $i is its number, to `close`,
 * with `word`, two elements, and `word_end` for each of them. */
typedef struct qg_x_operands {
    const char *scale;
    uint32_t at_once;
    const char *open, *word, *word_end, *close;
} qg_x_operands;

/* What returns the largest of what becomes a half; what sets v[] to the words of part number
 * `part`, times `scale`; and what does the same for x. */
void qg_operands_most(qg_text *text, const qg_operands *operands, const qg_ir *ir, const qg_target *target);
void qg_operands_body(qg_text *text, const qg_operands *operands, const qg_ir *ir, const qg_target *target);
void qg_operands_of_x(qg_text *text, const qg_x_operands *x, const qg_step *step, const qg_target *target);

/* ---- encode.c ---------------------------------------------------------------------------------------------------- */

/* The function that makes a block of a format which says how, with the tables that it looks up, as GLSL, MSL or C. */
char *qg_encoder(qg_arena *arena, const qg_layout *layout, qg_target_id target);
/* The same of floats that the thread has, under a name of its own, and with the tables within. With `streams`, blocks
 * of GLSL go into memory that the workgroup shares where qg_streams says so, and else where they belong. */
char *qg_encoder_of_thread(qg_arena *arena, const qg_layout *layout, qg_target_id target, const char *name,
                           bool streams);

/* ---- templates --------------------------------------------------------------------------------------------------- */

typedef struct qg_template {
    const char *name; /* dequant.comp */
    const char *path;
    const char *text;
} qg_template;

typedef struct qg_templates {
    uint32_t count;
    const qg_template *items;
} qg_templates;

/* Reads all templates of a folder; on failure returns false and sets *why. */
bool qg_templates_load(qg_arena *arena, const char *folder, qg_templates *templates, const char **why);
/* NULL where there is none of that name. */
const char *qg_template_text(const qg_templates *templates, const char *name);
/* The name of a kernel's template in the language that the ending says. */
const char *qg_template_of(qg_arena *arena, const qg_kernel *kernel, const char *ending);

/* ---- template.c -------------------------------------------------------------------------------------------------- */

typedef struct qg_binding {
    const char *name;
    const char *value; /* NULL: false for @if */
} qg_binding;

/* Expands the template of that name. In it stand
 *
 *     @{NAME}                      what the binding of that name has
 *     @if NAME, @if !NAME          lines up to @else or @end that are taken where the binding has a value, or has none
 *     @include TEMPLATE            the text of another template, with the same bindings
 *
 * All but the first are on lines of their own, and may be indented. @if nests up to 16 deep within a template, @include
 * up to 8. A hole alone on a line, and @include, take a text of several lines and pass the line's indentation on; when
 * that text is empty, the line vanishes. Of blank lines in a row one is left.
 *
 * Returns NULL after an error and sets *why, which names template and line: a hole, condition, template or word after @
 * that does not exist, an @else or @end without @if, a second @else, an @if without @end, or nesting that is too deep.
 * Holes are looked up in lines that are taken, everything else in all lines. */
char *qg_expand(qg_arena *arena, const qg_templates *templates, const char *name, const qg_binding *bindings,
                uint32_t count, const char **why);

/* ---- text of the targets ----------------------------------------------------------------------------------------- */

/* GLSL of a program for Vulkan; MSL of all kernels of a request, which has some for Metal. Each program is verified
 * before. NULL and *why on a broken template, or on a fault of the generator. */
char *qg_glsl(qg_arena *arena, const qg_templates *templates, const qg_request *request, const qg_program *program,
              const char **why);
char *qg_msl(qg_arena *arena, const qg_templates *templates, const qg_request *request, const char **why);

/* C header and source of a format: reference decoder, descriptors, dispatch stubs. `codes` holds
 * one entry for each Vulkan kernel in the order of qg_kernels; with `embed`, its words stand in the
 * source, and `kernel_h` and `dispatch_h` are the texts that take the place of the includes. */
typedef struct qg_c_options {
    bool embed;
    bool pack; /* with `embed`: the words are packed, and `unpack_h` is what unpacks them */
    const char *kernel_h;
    const char *dispatch_h;
    const char *unpack_h;
    const qk_code *spirv;      /* of families that take no format */
    const qg_modules *modules; /* of a format's kernels, by the number of their schedule */
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
/* pack.c: all modules of a format in one array, packed, and the function NAME_unpack; false where they are no
 * modules. */
typedef struct qg_packed_module {
    const char *name;
    const qk_code *code;
} qg_packed_module;
bool qg_c_add_packed(qg_text *text, const char *name, const qg_packed_module *modules, uint32_t count);
/* The descriptors of one kernel, for Vulkan and for Metal; one may be NULL. `modules` are the names of its words, for
 * each number of a schedule; NULL where it lacks that. */
typedef struct qg_module_names {
    const char *of[QK_SCHEDULE_COUNT];
} qg_module_names;
/* The lists that a file has so far: kernels have many in common, and one that is there is not written again. */
typedef struct qg_c_list {
    const char *what, *items, *name;
} qg_c_list;
typedef struct qg_c_lists {
    qg_c_list *all;
    uint32_t count, room;
} qg_c_lists;
void qg_c_add_kernel(qg_text *text, const char *owner, qg_c_lists *lists, const qg_module_names *modules,
                     const qk_kernel *vulkan, const qk_kernel *metal);
/* The expression in a stub that is the descriptor for the backend's API. */
const char *qg_c_chosen(qg_arena *arena, bool vulkan, bool metal, const char *name);

/* calls.c: what the stub of a family takes behind the weights, and its reference behind them and before results; in
 * that, $X is the type of x. And what the reference returns: with a status word, how many indices are out of range. */
const char *qg_stub_parameters(qg_arena *arena, const qg_family *family, const qg_layout *layout);
const char *qg_reference_parameters(qg_arena *arena, const qg_family *family, const qg_layout *layout);
const char *qg_reference_result(const qg_family *family);

/* called.c: the functions of `all` that `text` calls, and those that they call, which stand before them. */
const char *qg_called_functions(qg_arena *arena, const char *all, const char *text);

/* Shared by the printers of kernels (holes.c). */
enum { QG_MAX_HOLES = 112 };

typedef struct qg_holes {
    qg_binding items[QG_MAX_HOLES];
    uint32_t count;
} qg_holes;

/* kernel.c: the text of a kernel in GLSL or MSL, as `ending` says: of its template NAME.comp or NAME.metal; or, where
 * there is one, of NAME.kernel, which has what both share, within kernel.comp or kernel.metal. NULL and *why as of
 * qg_expand, or where a part of NAME.kernel is empty. */
char *qg_kernel_text(qg_arena *arena, const qg_templates *templates, const qg_kernel *kernel, const char *ending,
                     qg_holes *holes, const char **why);

/* Holes of templates that make rows: how many numbers are found of a row, with what they begin, and how one of
 * `qk_found`, which thread `t` has found, joins. Of other formats they are empty. */
void qg_row_holes(qg_arena *arena, qg_holes *holes, const qg_layout *layout, qg_target_id target);
/* encode_planes.c. The holes of a template that makes groups of planes: how many a block has, `planes`, and how many
 * elements a group has, `group`; `many_planes` says that there are several. */
void qg_plane_holes(qg_arena *arena, qg_holes *holes, const qg_layout *layout, qg_target_id target);

void qg_hole(qg_holes *holes, const char *name, const char *value);
/* Makes a condition true that is there already. */
void qg_hole_set(qg_holes *holes, const char *name);
/* The holes that depend on plan and target alone: runs, tiles, vec, block_of_i, ... */
void qg_plan_holes(qg_arena *arena, qg_holes *holes, const qg_plan *plan, const qg_target *target);
/* Where what the kernel's family binds stands, `binding_NAME`; and whether results are of experts. */
void qg_binding_holes(qg_arena *arena, qg_holes *holes, const qg_kernel *kernel);
/* The shape arguments of place.c that the IR uses, each written by the pattern, in which $ is the name. */
char *qg_shape_arguments(qg_arena *arena, const qg_ir *ir, const char *pattern);
/* How many units of so many bits a buffer of one matrix has, of so many blocks: an expression of C and MSL. */
char *qg_buffer_units(qg_arena *arena, const qg_layout *layout, uint32_t buffer, uint32_t unit, const char *grid_rows,
                      const char *grid_cols);
/* The first lines of a decode function in a matrix: where row `row` and tile `tile` lie in the grid of blocks. */
char *qg_grid_lines(qg_arena *arena, const qg_ir *ir, const qg_plan *plan, const qg_target *target);
/* stores.c, for GLSL: the holes of what writes a tile, and of the prelude's functions that it calls. */
void qg_store_holes(qg_arena *arena, qg_holes *holes, qg_holes *prelude, const qg_program *program);
void qg_no_store_holes(qg_holes *prelude);
void qg_prelude_holes(qg_holes *holes, const qg_ir *ir);
/* What another IR of the same text calls, too. */
void qg_prelude_add(qg_holes *holes, const qg_ir *ir);
/* There, rows that are loaded 16 bytes at a time, `owner` before the names of the shape: not those that are
 * no whole wide tiles, and not the last, where that would read beyond its end. "" where it is all of them. */
const char *qg_mma_end(qg_arena *arena, const qg_program *program, const char *owner);
/* sums.c. The bodies of the functions that load a tile of x, and that add a tile of weights, whose products with x are
 * the step's. `row_tiles`, tiles of the kernel's own plan in a row, `row_runs`, `batch` and `load` are how the target
 * writes these; $i in `load` is the index of a run. `operands` is how it writes those of x; NULL: it has none.
 * `load_four` is a function that loads four runs, one after the other, which all of a subgroup calls; NULL: each run is
 * loaded by itself. */
void qg_load_x_body(qg_text *text, const qg_step *step, const qg_x_operands *operands, const qg_target *target,
                    const char *row_runs, const char *batch, const char *load, const char *load_four);
/* The body of a function that makes operands of a tile of weights, or, with `most`, returns their largest factor. */
void qg_operands_of_row(qg_text *text, const qg_step *step, const qg_target *target, const char *row_tiles, bool most);
/* With `rows`, sums are of each row of the tile. */
void qg_accumulate_body(qg_text *text, const qg_step *step, const qg_target *target, const char *row_tiles, bool rows);
/* The same, each part where it is wanted, so that few values are kept at a time. */
void qg_accumulate_large_body(qg_text *text, const qg_step *step, const qg_target *target, const char *row_tiles);
/* The body of a function that loads the weights of a tile, into the arrays `fours` and `words`. Loads of 16 bytes
 * of the buffers `to_end`, a bit each, are calls of BUFFER_to_end, with their place and the number of the block. */
void qg_fetch_body(qg_text *text, const qg_step *step, const qg_target *target, const char *row_tiles, uint32_t to_end);
/* lookups.c, for GLSL: the tables that a workgroup makes, functions that read them, and the text that fills them. */
void qg_lookup_holes(qg_arena *arena, qg_holes *holes, const qg_program *program);
/* fours.c. The code as it is shown: four words of codes that become bytes in the same way are a vector, and the dot
 * products with four words of x are one, whose number is that of the four. */
qg_ir *qg_in_fours(const qg_ir *ir);
/* digits.c: x as integers, of the array `run`; and of how many runs each sum of digits is, where all are of so many,
 * one after the other; 0: they are not. */
void qg_digits_of_x(qg_text *text, const qg_ir *ir, const qg_plan *plan, const qg_target *target);
/* The sum of the runs of a set. */
void qg_add_lanes_of_runs(qg_text *text, const char *name, uint64_t runs);
uint32_t qg_digits_each(const qg_ir *ir, const qg_plan *plan);
/* Whether each sum of x is of the runs of a step. */
bool qg_sums_steps(const qg_ir *ir, const qg_plan *plan);
/* shared.c, for GLSL: a statement that keeps word `i` of what follows the digits; the word, or the four, of the digit
 * in hand. */
char *qg_keep(qg_arena *arena, const qg_ir *ir, const qg_plan *plan, const char *i, const char *value);
char *qg_word_of_x(qg_arena *arena, const qg_ir *ir, uint32_t quad);
char *qg_four_of_x(qg_arena *arena, const qg_ir *ir, uint32_t four);
/* What a thread keeps of x; `tiles` and `batch` are the outer lengths. `shares`: and a workgroup shares it. */
char *qg_x_kept(qg_arena *arena, const qg_step *step, const char *tiles, const char *batch, bool shares);
/* The same of a kernel, of how many tiles and right-hand sides; how much of x a workgroup shares, and the functions
 * share_x, of floats, and take_x. */
void qg_kept_holes(qg_arena *arena, qg_holes *holes, const qg_program *program);
/* cut.c. For rows that end or begin within tiles: the elements of a row, written with what `owner` puts
 * before the names of the shape; of how many elements a row must be a multiple to have whole tiles; and
 * the body of a function that sets part[m] to the sum over what tile `j` of row `n` has in the row. */
typedef struct qg_cut_names {
    const char *decode, *arguments; /* a function that decodes a tile, and what it takes before row, tile and v */
    const char *batch;
    const char *load; /* an element of x, whose index is $i */
} qg_cut_names;

const char *qg_row_cols(qg_arena *arena, const qg_plan *plan, const char *owner);
uint32_t qg_whole_unit(const qg_plan *plan);
/* Element `e` of a decoded tile `v`. */
const char *qg_element_text(qg_arena *arena, const qg_plan *plan, const char *suffix);
void qg_sum_cut_body(qg_text *text, const qg_plan *plan, const qg_target *target, const qg_cut_names *names);
/* The function of four codes of a word, where code calls it; else nothing. */
const char *qg_codes_of_words(qg_arena *arena, const qg_ir *ir, const qg_target *target, const char *qualifier);
/* A function that sums up products of halves: once as halves, then as floats. */
char *qg_dot_halves(qg_arena *arena, const qg_plan *plan, const qg_target *target, const char *qualifier);
/* Statements and `v[r] = value;` lines of a decode function's body. */
void qg_decode_body(qg_text *text, const qg_ir *ir, const qg_target *target);
/* What each emitted text says of its licence. */
#define QG_LICENCE_LINE "Licence: none of qkgen's applies; this text is under that of its specification, or yours."
/* The lines of the banner, each after `prefix`. They say what `program` costs, or, where it is NULL,
 * what each family does. */
char *qg_banner(qg_arena *arena, const qg_request *request, const qg_program *program, const char *sentence,
                const char *open, const char *prefix, const char *close);
/* The tables that stand in the text. */
char *qg_tables(qg_arena *arena, const qg_plan *plan, const qg_target *target, const char *qualifier);
/* Words as the items of an array, eight on a line. */
void qg_add_words(qg_text *text, const uint32_t *words, size_t count);

/* ---- transcode.c ------------------------------------------------------------------------------------------------ */

/* Tiles that a thread decodes before it encodes. */
uint32_t qg_transcode_tiles(const qg_program *program);
/* The function that puts the values of a tile into an array of those that are kept, as GLSL or MSL. */
char *qg_keep_tile(qg_arena *arena, const qg_step *values, const qg_target *target);
/* The holes that templates of such kernels have beside those of decoders. */
void qg_transcode_holes(qg_arena *arena, qg_holes *holes, const qg_program *program);

#endif
