/* run_bench.h: what `qkgen bench` and `qkgen tune` share: kernels on a device with data of their own, and figures. */
#ifndef QKGEN_RUN_BENCH_H
#define QKGEN_RUN_BENCH_H

#include "cli/run.h"
#include "text/plain.h"

#include <cjson/cJSON.h>
#include <qkgen/tuning.h>
#include <qkgen/vulkan.h>

/* One kernel and shape. The batch is tokens where there are experts. */
typedef struct qg_case {
    const qg_layout *layout;
    const qg_family *family;
    qg_scalar type;
    const qg_sum_class *sum;
    uint64_t rows, cols, batch, experts, slots, x_slots; /* x_slots: 0 is 1 */
    bool skewed;                                         /* routing: some experts have far more tokens than others */
} qg_case;

typedef struct qg_timing {
    double median, least, greatest; /* seconds */
} qg_timing;

/* ---- run_bench_fill.c: data ---- */

/* What the bytes of weights are before scales of moderate size are put in: random; the same one
 * throughout; or random, and no scales put in, so that some are infinite, subnormal or NaN. */
typedef enum qg_bytes_of { QG_BYTES_RANDOM, QG_BYTES_CONSTANT, QG_BYTES_ANY } qg_bytes_of;

/* The weights of a format on a device, and what they repeat. */
typedef struct qg_stock {
    const qg_layout *layout;
    uint64_t seed;
    uint32_t smaller; /* powers of two by which scales are below the moderate size */
    qg_bytes_of bytes;
    uint32_t count;
    unsigned char *patterns[QK_MAX_BINDINGS];
    uint64_t periods[QK_MAX_BINDINGS], sizes[QK_MAX_BINDINGS];
    qk_vulkan_buffer *buffers[QK_MAX_BINDINGS];
} qg_stock;

/* Fills in the patterns: random codes, and scales of moderate size, so that every block counts in a sum. `cols` is
 * that of
 * the tensor. False without memory; qg_stock_drop frees them in either case. */
bool qg_stock_fill(qg_stock *stock, const qg_layout *layout, uint64_t cols);
/* The same with the stock's own seed, kind of bytes, and periods, which are whole blocks where
 * blocks lie one after the other. */
bool qg_stock_fill_periods(qg_stock *stock, const qg_layout *layout, uint64_t cols);
void qg_stock_drop(qg_stock *stock);
/* Right-hand sides, near to normally distributed, as bits of F32 or F16. */
void qg_fill_input(void *data, qg_scalar type, uint64_t count);
/* The expert, or the row, that index `i` names; rows that are set are named once each. */
uint32_t qg_bench_index(const qg_case *c, uint64_t i);
/* How many experts all tokens name together; 0 where there are none. */
uint64_t qg_bench_experts(qg_arena *arena, const qg_case *c);
/* Right-hand sides. */
uint64_t qg_bench_vectors(const qg_case *c);

/* ---- run_bench.c: the device ---- */

/* A launch that copies f32, which stands for one that does something with each of them. */
typedef struct qg_values_copy {
    const qk_kernel *kernel;
    qk_vulkan_buffer *buffers[2];
} qg_values_copy;

typedef struct qg_bench {
    qg_session *session;
    const qg_templates *templates;
    qk_vulkan *vk;
    qk_error error;
    const qk_tuning *tuning;
    uint64_t workgroups; /* of a launch, at most; 0: as many as there are */
    bool cpu;
    double copy;          /* bytes a second, read and written */
    double busy;          /* when the last submission ended */
    qg_values_copy pulse; /* a short launch, by which it is seen whether clocks have fallen; opened by qg_bench_copy */
    double pulse_least;   /* seconds */
    uint32_t samples;
    bool quick;    /* short submissions, and shorter waits for the clocks to rise */
    uint64_t cold; /* bytes of weights that launches of a subject take turns over, at least; 0: each reads the same */
    uint64_t turn;
    bool quiet; /* a launch that fails is no error */
    qg_stock stock;
} qg_bench;

/* One kernel and its buffers; the weights are those of the stock, but for kernels that encode, which have their own. */
typedef struct qg_subject {
    qg_case of;
    const qk_kernel *kernel;
    uint32_t n_weights, count;
    qk_vulkan_buffer *buffers[QK_MAX_BINDINGS];
    uint64_t sizes[QK_MAX_BINDINGS];
    uint64_t weight_bytes, result_bytes; /* of kernels that encode: of blocks and of floats */
    uint64_t experts;                    /* that all tokens name together */
    uint64_t copies;                     /* of the weights, for launches to take turns */
    bool kernel_lent;                    /* by another subject */
} qg_subject;

enum { QG_BENCH_MOST_SAMPLES = 101 };

/* Functions print what failed, and return false. */
bool qg_bench_open(qg_bench *b, qg_session *session, const char *device);
void qg_bench_close(qg_bench *b);
bool qg_bench_failed(const qg_bench *b);
/* Sets b->copy. */
bool qg_bench_copy(qg_bench *b);
/* Puts the weights of a format on the device, as many as the largest of the cases needs. */
bool qg_stock_open(qg_bench *b, const qg_layout *layout, const qg_case *cases, uint32_t count);
void qg_stock_close(qg_bench *b);
/* The descriptor of the case's kernel, without code. */
const qk_kernel *qg_case_describe(qg_bench *b, const qg_case *c);
/* Whether there is a kernel, and a tensor of that shape. */
bool qg_case_fits(qg_bench *b, const qg_case *c);
bool qg_subject_open(qg_bench *b, const qg_case *c, qg_subject *s);
/* The same with the kernel of `like`, which has the same format, family, class and type and is
 * closed later; NULL: with one of its own. */
bool qg_subject_open_like(qg_bench *b, const qg_case *c, const qg_subject *like, qg_subject *s);
void qg_subject_close(qg_bench *b, qg_subject *s);
/* Launches it once and waits. */
bool qg_subject_run(qg_bench *b, qg_subject *s);
bool qg_subject_measure(qg_bench *b, qg_subject *s, qg_timing *t);
/* Records its launches, with an epilogue where the family sums; NULL: none. */
bool qg_subject_record(qg_bench *b, const qg_subject *s, const qk_epilogue *epilogue);
/* The median and the rest of what `record` does, which is repeated with barriers. */
typedef bool qg_record(qg_bench *b, void *what);
bool qg_bench_once(qg_bench *b, qg_record *record, void *what);
bool qg_bench_measure(qg_bench *b, qg_record *record, void *what, qg_timing *t);

bool qg_values_copy_open(qg_bench *b, qg_values_copy *c, uint64_t most);
bool qg_values_copy_record(qg_bench *b, const qg_values_copy *c, uint64_t count);
void qg_values_copy_close(qg_bench *b, qg_values_copy *c);

/* Measures a family that takes no format on so many elements, in groups, and prints a line; needs b->copy. */
bool qg_bench_plain(qg_bench *b, const qg_plain *family, uint64_t elements, uint32_t group, uint32_t bins);
/* Bytes that count: the weights of a sum; in and out of a decoder or an encoder. */
double qg_subject_moved(const qg_subject *s);

/* ---- run_bench_check.c ---- */

/* How far some rows of the result are from the values of the layout (value.h). */
typedef struct qg_checked {
    uint32_t rows;
    double error; /* relative, in the L2 norm */
    double ratio; /* the largest difference of a result, as a part of what the kernel's bound allows it */
    bool wrong;   /* beyond that */
} qg_checked;

/* The result must be there. */
bool qg_subject_check(qg_bench *b, const qg_subject *s, qg_checked *checked);

/* ---- run_bench_model.c: models as shapes ---- */

/* Matrices of one shape. `count` is how often a token multiplies one of them; with experts, it uses
 * `used` of them each time. */
typedef struct qg_matrix {
    const char *name; /* "q,o" */
    uint64_t rows, cols, count, experts, used;
} qg_matrix;

typedef struct qg_model {
    const char *name;
    uint32_t count, capacity;
    qg_matrix *items;
} qg_model;

typedef struct qg_models {
    uint32_t count, capacity;
    qg_model *items;
} qg_models;

/* Reads models by name, from bench/models in the folder `data`, or by path: a name with a slash, or
 * one that ends in .txt. False after a message. */
bool qg_models_read(qg_arena *arena, const char *data, const qg_texts *names, qg_models *models);
/* The distinct shapes of all models, those with the fewest columns first; names are "MODEL MATRIX". */
qg_matrix *qg_models_shapes(qg_arena *arena, const qg_models *models, uint32_t *count);

/* ---- run_bench_layer.c ---- */

/* Prints microseconds of a layer of the model, launched in several ways, below the heading. */
bool qg_bench_layer(qg_bench *b, const qg_layout *layout, const qg_model *model, const qg_sum_class *sum,
                    uint64_t batch);
void qg_bench_layer_heading(const qg_bench *b);
/* Prints, below its heading, microseconds of blocks of a format that become those of another, and of decoding and
 * encoding them over floats of each type, whose blocks are compared where these are f32; needs b->copy. */
bool qg_bench_transcode(qg_bench *b, const qg_layout *from, const qg_layout *to, const qg_scalar *types, uint32_t count,
                        uint64_t rows, uint64_t cols);
void qg_bench_transcode_heading(const qg_bench *b, uint64_t rows, uint64_t cols);

/* ---- run_bench_table.c: figures ---- */

typedef struct qg_figure {
    const char *format, *family, *type, *sum; /* class of a sum, or "" */
    uint64_t rows, cols, batch, experts, slots;
    uint64_t used; /* experts, by all tokens together */
    double bits;   /* of an element */
    double bytes;  /* that count */
    qg_timing time;
    qg_checked checked;
    bool chosen;    /* by the library, of the classes that were measured, whatever their error */
    uint32_t group; /* for sorting */
} qg_figure;

typedef struct qg_figures {
    const char *device, *driver;
    bool cpu;
    double copy;
    uint32_t count, capacity;
    qg_figure *items;
    uint64_t cold;     /* as in qg_bench */
    bool skewed;       /* as in qg_case */
    qg_models models;  /* whose shapes these are; none of other runs */
    qg_texts left_out; /* what of the models has no figure, and why */
} qg_figures;

/* Of a case that is not measured yet. */
qg_figure qg_figure_new(qg_arena *arena, const qg_case *c);
/* To what a file of figures holds, so that figures from a file are the same. */
void qg_figure_round(qg_figure *f);
double qg_round_as_json(double x);

double qg_figure_rate(const qg_figure *f); /* bytes a second */
/* "gemv, 8 vectors": what figures that belong together have in common; and "768 x 2048, 8 of 128 experts". */
const char *qg_figure_group(qg_arena *arena, const qg_figure *f);
const char *qg_figure_shape(qg_arena *arena, const qg_figure *f);
bool qg_figure_same_group(const qg_figure *a, const qg_figure *b);
/* Those that belong together in the order of the first of them, by shape, and then the largest share first. */
void qg_figures_sort(qg_figures *figures);
/* "; launches take turns over 512 MiB of weights", "; routing is skewed", both, or "". */
const char *qg_figures_cold(qg_arena *arena, const qg_figures *figures);
void qg_figures_print(qg_arena *arena, const qg_figures *figures);
/* A text of JSON, and figures from such a file; NULL, or false, after a message. */
const char *qg_figures_json(qg_arena *arena, const qg_figures *figures);
/* `paths` has commas between them: runs of one device, whose bandwidth is that of the first.
 * `figures` must be empty. */
bool qg_figures_read(qg_arena *arena, const char *paths, qg_figures *figures);
/* Notes once what has no figure, and why. */
void qg_figures_leave_out(qg_arena *arena, qg_figures *figures, const char *text);
/* Adds a model, or to the one of that name the matrices that it lacks. */
void qg_models_add(qg_arena *arena, qg_models *models, const qg_model *model);
void qg_json_string(qg_text *text, const char *string);
/* The member "models" of such a text; and of such a file, false when it is none. */
void qg_models_json(qg_text *text, const qg_models *models);
bool qg_models_from_json(qg_arena *arena, const cJSON *list, qg_models *models);
/* Whether the figure is one of such a matrix. */
bool qg_matrix_is(const qg_matrix *m, const qg_figure *f);

/* ---- run_bench_peers.c ---- */

/* What another library needs for the same. */
typedef struct qg_peer {
    const char *name, *family, *format;
    uint64_t rows, cols, batch;
    double seconds; /* 0 where only the rate is known */
    double rate;    /* bytes of weights a second; 0 where only the time is known */
} qg_peer;

typedef struct qg_peers {
    uint32_t count, capacity;
    qg_peer *items;
    uint32_t n_names;
    const char *names[4];
} qg_peers;

bool qg_peers_read(qg_arena *arena, const char *path, qg_peers *peers);
/* The words of a line, without a comment from # on: how many, `most` at most. */
uint32_t qg_line_words(qg_arena *arena, const char *line, size_t length, const char **words, uint32_t most);
/* Whether the word is a whole number from 1. */
bool qg_whole_number(const char *word, uint64_t *number);
/* Bytes a second of peer `name` for the same as a figure, counted as the figure's are; 0 where there is none. */
double qg_peers_rate(const qg_peers *peers, uint32_t name, const qg_figure *f);

/* ---- run_bench_picture.c, run_bench_sizes.c, run_bench_markdown.c: documents of figures ---- */

const char *qg_figures_svg(qg_arena *arena, const qg_figures *figures, const qg_peers *peers);
const char *qg_sizes_svg(qg_arena *arena, const qg_figures *figures, const qg_peers *peers);
const char *qg_figures_markdown(qg_arena *arena, const qg_figures *figures, const qg_peers *peers);

/* ---- run_bench_model_run.c, run_bench_report.c ---- */

/* What `qkgen bench --model` measures; the models, and what comes of it, are in `figures`. */
typedef struct qg_model_run {
    qg_bench *bench;
    qg_figures *figures;
    const qg_texts *types, *constants;
    uint32_t n_classes, n_batches;
    const qg_sum_class *const *classes;
    const uint64_t *batches;
    /* filled in: */
    const qk_tuning *tuning;
    /* Of the format and type at hand, kernels of each class: of gemv and gemm, without and with experts;
     * NULL: it has none. */
    const qk_kernel **described;
    qg_matrix *shapes;
    uint32_t n_shapes;
} qg_model_run;

bool qg_bench_models(qg_model_run *run, const qg_layouts *layouts);
/* The worst lines beside each peer, what a token takes, and all lines: as text, or in Markdown. */
const char *qg_models_report(qg_arena *arena, const qg_figures *figures, const qg_peers *peers, bool markdown);

/* ---- run_tuning.c ---- */

/* The tuning with NAME=VALUE of all `texts` for one kernel and shape on top. */
const qk_tuning *qg_tuning_with(qg_arena *arena, const qk_tuning *tuning, const qk_kernel *kernel, const qg_case *c,
                                const qg_texts *texts);
/* The shape of qk_tuning_find. */
void qg_tuning_place(const qg_case *c, uint64_t *rows, uint64_t *cols, uint32_t *batch);

#endif
