/* run_bench.h: what `qkgen bench` and `qkgen tune` share: kernels on a device with data of their own, and figures. */
#ifndef QKGEN_RUN_BENCH_H
#define QKGEN_RUN_BENCH_H

#include "plain.h"
#include "run.h"

#include <qkgen/tuning.h>
#include <qkgen/vulkan.h>

/* One kernel and shape. The batch is tokens where there are experts. */
typedef struct qg_case {
    const qg_layout *layout;
    const qg_family *family;
    qg_scalar type;
    const qg_sum_class *sum;
    uint64_t rows, cols, batch, experts, slots;
} qg_case;

typedef struct qg_timing {
    double median, least, greatest; /* seconds */
} qg_timing;

/* ---- run_bench_fill.c: data ---- */

/* What the bytes of weights are before scales of moderate size are put in: random; the same one throughout; or random, and no scales
 * put in, so that some are infinite, subnormal or NaN. */
typedef enum qg_bytes_of { QG_BYTES_RANDOM, QG_BYTES_CONSTANT, QG_BYTES_ANY } qg_bytes_of;

/* The weights of a format on a device, and what they repeat. */
typedef struct qg_stock {
    const qg_layout *layout;
    uint64_t seed;
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
/* The same with the stock's own seed, kind of bytes, and periods, which are whole blocks where blocks lie one after the other. */
bool qg_stock_fill_periods(qg_stock *stock, const qg_layout *layout, uint64_t cols);
void qg_stock_drop(qg_stock *stock);
/* Right-hand sides, near to normally distributed, as bits of F32 or F16. */
void qg_fill_input(void *data, qg_scalar type, uint64_t count);
/* The expert, or the row, that index `i` names. */
uint32_t qg_bench_index(const qg_case *c, uint64_t i);
/* How many experts all tokens name together; 0 where there are none. */
uint64_t qg_bench_experts(qg_arena *arena, const qg_case *c);

/* ---- run_bench.c: the device ---- */

typedef struct qg_bench {
    qg_session *session;
    const qg_templates *templates;
    qk_vulkan *vk;
    qk_error error;
    const qk_tuning *tuning;
    uint64_t workgroups; /* of a launch, at most; 0: as many as there are */
    bool cpu;
    double copy; /* bytes a second, read and written */
    double busy; /* when the last submission ended */
    uint32_t samples;
    bool quiet; /* a launch that fails is no error */
    qg_stock stock;
} qg_bench;

/* One kernel and its buffers; the weights are those of the stock. */
typedef struct qg_subject {
    qg_case of;
    const qk_kernel *kernel;
    uint32_t n_weights, count;
    qk_vulkan_buffer *buffers[QK_MAX_BINDINGS];
    uint64_t sizes[QK_MAX_BINDINGS];
    uint64_t weight_bytes, result_bytes;
} qg_subject;

/* Functions print what failed, and return false. */
bool qg_bench_open(qg_bench *b, qg_session *session, const char *device);
void qg_bench_close(qg_bench *b);
bool qg_bench_failed(const qg_bench *b);
/* Sets b->copy. */
bool qg_bench_copy(qg_bench *b);
/* Puts the weights of a format on the device, as many as the largest of the cases needs. */
bool qg_stock_open(qg_bench *b, const qg_layout *layout, const qg_case *cases, uint32_t count);
void qg_stock_close(qg_bench *b);
/* Whether there is a kernel, and a tensor of that shape. */
bool qg_case_fits(qg_bench *b, const qg_case *c);
bool qg_subject_open(qg_bench *b, const qg_case *c, qg_subject *s);
void qg_subject_close(qg_bench *b, qg_subject *s);
/* Launches it once and waits. */
bool qg_subject_run(qg_bench *b, qg_subject *s);
bool qg_subject_measure(qg_bench *b, qg_subject *s, qg_timing *t);
/* Measures a family that takes no format on so many elements, in groups, and prints a line; needs b->copy. */
bool qg_bench_plain(qg_bench *b, const qg_plain *family, uint64_t elements, uint32_t group, uint32_t bins);
/* Bytes that count: the weights of a sum; in and out of a decoder. */
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

/* ---- run_bench_table.c: figures ---- */

typedef struct qg_figure {
    const char *format, *family, *type, *sum; /* class of a sum, or "" */
    uint64_t rows, cols, batch, experts, slots;
    uint64_t used; /* experts, by all tokens together */
    double bits;   /* of an element */
    double bytes;  /* that count */
    qg_timing time;
    qg_checked checked;
    uint32_t group; /* for sorting */
} qg_figure;

typedef struct qg_figures {
    const char *device, *driver;
    bool cpu;
    double copy;
    uint32_t count, capacity;
    qg_figure *items;
} qg_figures;

double qg_figure_rate(const qg_figure *f); /* bytes a second */
/* "gemv, 8 vectors": what figures that belong together have in common; and "768 x 2048, 8 of 128 experts". */
const char *qg_figure_group(qg_arena *arena, const qg_figure *f);
const char *qg_figure_shape(qg_arena *arena, const qg_figure *f);
bool qg_figure_same_group(const qg_figure *a, const qg_figure *b);
/* Those that belong together in the order of the first of them, by shape, and then the largest share first. */
void qg_figures_sort(qg_figures *figures);
void qg_figures_print(qg_arena *arena, const qg_figures *figures);
/* A text of JSON, and figures from such a file; NULL, or false, after a message. */
const char *qg_figures_json(qg_arena *arena, const qg_figures *figures);
bool qg_figures_read(qg_arena *arena, const char *path, qg_figures *figures);

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
/* Bytes a second of peer `name` for the same as a figure, counted as the figure's are; 0 where there is none. */
double qg_peers_rate(const qg_peers *peers, uint32_t name, const qg_figure *f);

/* ---- run_bench_picture.c, run_bench_sizes.c, run_bench_markdown.c: documents of figures ---- */

const char *qg_figures_svg(qg_arena *arena, const qg_figures *figures, const qg_peers *peers);
const char *qg_sizes_svg(qg_arena *arena, const qg_figures *figures, const qg_peers *peers);
const char *qg_figures_markdown(qg_arena *arena, const qg_figures *figures, const qg_peers *peers);

/* ---- run_tuning.c ---- */

/* The tuning with NAME=VALUE of all `texts` for one kernel and shape on top. */
const qk_tuning *qg_tuning_with(qg_arena *arena, const qk_tuning *tuning, const qk_kernel *kernel, const qg_case *c,
                                const qg_texts *texts);
/* The shape of qk_tuning_find. */
void qg_tuning_place(const qg_case *c, uint64_t *rows, uint64_t *cols, uint32_t *batch);

#endif
