/* run_soak.h: `qkgen soak`: kernels with shapes, constants and data drawn at random, on a device,
 * held against double precision. */
#ifndef QKGEN_RUN_SOAK_H
#define QKGEN_RUN_SOAK_H

#include "cli/run_bench.h"
#include "cli/run_epilogue.h"
#include "cli/run_views.h"
#include "text/plain.h"

/* ---- run_soak_case.c: what is tried ---- */

typedef enum qg_soak_x {
    QG_SOAK_GAUSSIAN,
    QG_SOAK_OUTLIERS, /* one element in 64 is 10^4 times larger */
    QG_SOAK_MIXED,    /* magnitudes over twelve powers of ten, or eight in f16 */
    QG_SOAK_SPARSE,   /* one element in 64 is not zero */
    QG_SOAK_ONE,      /* one element of each vector is not zero */
    QG_SOAK_ZEROS,
    QG_SOAK_SUBNORMAL,
    QG_SOAK_INFINITE, /* some elements are infinite or NaN */
    QG_SOAK_BITS,     /* any bits, of families that encode */
    QG_SOAK_X_COUNT
} qg_soak_x;

/* One call of a dispatch function. Families without a format have `rows` groups of `cols` elements,
 * and `batch` bins. */
typedef struct qg_soak_case {
    const qg_layout *layout; /* NULL: the family takes no format */
    const qg_family *family;
    const qg_plain *plain;
    qg_scalar type;
    const qg_sum_class *sum;
    uint64_t rows, cols, batch, experts, slots, x_slots; /* x_slots: 0 is 1 */
    uint64_t seed;                                       /* of the data */
    qg_soak_x x;
    qg_bytes_of weights;
    uint64_t offset;       /* of each range, in units of the device's alignment */
    uint64_t padding;      /* bytes behind the weights that belong to their range */
    uint64_t parts;        /* launches that the weights are cut into, about; 1: the device's own limit */
    uint64_t workgroups;   /* of a launch, at most; 0: as many as there are */
    uint64_t range;        /* bytes of a binding, at most; 0: the device's. Never drawn */
    uint64_t epilogue;     /* of sums: bits, as kernels take them */
    const char *constants; /* NAME:VALUE, with commas between them; or "" */
    const char *views;     /* of sums, as qg_views_read has them; or "" */
} qg_soak_case;

/* What is drawn from. Empty lists stand for all. */
typedef struct qg_soak_choice {
    const qg_session *session;
    qg_texts formats, families, classes;
    bool cpu, matrix_units;
    uint64_t memory; /* bytes of the device */
    uint64_t seed;
    /* A sweep: all of these shapes, in place of random ones, with kernels that qg_soak_sweep lists. */
    uint32_t n_shapes, n_kernels;
    const qg_matrix *shapes;
    struct qg_soak_case *kernels;
    bool one_of_each;
} qg_soak_choice;

/* Vectors of x that each token has, where there are experts. */
uint64_t qg_soak_x_slots(const qg_soak_case *c);
/* Where vectors and matrices of a sum lie. Returns NULL, or a sentence saying what is wrong. */
const char *qg_soak_places(qg_arena *arena, const qg_soak_case *c, qg_views *views, qg_places *places);

enum { QG_SOAK_GROUP = 8 }; /* cases one after the other with the same kernel */

/* Case number `number`; false where it has none: no kernel of that class, or no tensor of that
 * shape. The same choice and number give the same case. */
bool qg_soak_draw(qg_arena *arena, const qg_soak_choice *choice, uint64_t number, qg_soak_case *c);
/* Lists the kernels of a sweep, and returns how many cases it has. */
uint64_t qg_soak_sweep(qg_arena *arena, qg_soak_choice *choice);
/* "format=F family=gemv ...", which qg_soak_read reads; NULL, or a sentence saying what is wrong with it. */
const char *qg_soak_text(qg_arena *arena, const qg_soak_case *c);
const char *qg_soak_read(qg_arena *arena, const qg_session *session, const char *text, qg_soak_case *c);
/* The kernel as the C side sees it, without its code. */
const qk_kernel *qg_soak_describe(qg_arena *arena, const qg_soak_case *c);

/* ---- run_soak_try.c: one case on a device ---- */

/* The weights of the latest case, for others that differ in the vectors alone. */
typedef struct qg_soak_weights {
    qg_soak_case of;
    uint32_t count;
    qk_vulkan_buffer *buffers[QK_MAX_BINDINGS];
} qg_soak_weights;

typedef struct qg_soak_device {
    qk_vulkan *vk;
    const qg_templates *templates;
    uint64_t most; /* elements whose values are computed for a case */
    bool flushes;  /* qg_soak_flushes */
    qg_soak_weights *kept;
} qg_soak_device;

/* A kernel that is compiled, for cases that differ in shape and data alone. */
typedef struct qg_soak_kernel {
    qg_arena *arena;
    const qk_kernel *kernel;
} qg_soak_kernel;

typedef enum qg_soak_outcome { QG_SOAK_RIGHT, QG_SOAK_REFUSED, QG_SOAK_WRONG } qg_soak_outcome;

typedef struct qg_soak_result {
    qg_soak_outcome outcome;
    double ratio;   /* of sums: the largest error, as a part of its bound */
    char text[512]; /* why it was refused, or what is wrong */
    bool lost;      /* the device is gone */
} qg_soak_result;

/* False with *why where the kernel does not compile. */
bool qg_soak_compile(const qg_soak_device *device, const qg_soak_case *c, qg_soak_kernel *kernel, const char **why);
void qg_soak_forget(const qg_soak_device *device, qg_soak_kernel *kernel);
void qg_soak_try(const qg_soak_device *device, const qg_soak_kernel *kernel, const qg_soak_case *c,
                 qg_soak_result *result);
/* Whether subnormal numbers may count as zero: on a GPU, whose compiler decides for each kernel; and on a CPU device
 * that neither says that it can keep them, nor does so when it is tried. */
bool qg_soak_flushes(const qg_soak_device *device);

/* ---- run_soak_expect.c: what must come of it ---- */

/* Data of a case in the memory of the host, and what the results must be. */
typedef struct qg_soak_data {
    const qg_soak_case *of;
    const qk_kernel *kernel;
    qg_stock weights; /* patterns, and the periods after which they repeat */
    void *x;          /* right-hand sides, or floats that are encoded */
    void *inputs[QG_MAX_PLAIN_BINDINGS];
    uint32_t *ids;
    float *norm;          /* weights of a norm of x; NULL: none */
    qg_epilogue epilogue; /* its floats are the data's */
    qg_views views;
    qg_places places;
    qg_scalar y_type;
    void *before; /* what y holds, as it is stored */
    uint64_t x_count, ids_count, results;
    uint32_t out_of_range;
    uint64_t most;
    uint32_t lanes;
    bool flushes; /* the device may take subnormal numbers for zero */
} qg_soak_data;

/* False without memory; qg_soak_data_drop in either case. */
bool qg_soak_data_make(qg_arena *arena, const qg_soak_case *c, const qk_kernel *kernel, qg_soak_data *data);
void qg_soak_data_drop(qg_soak_data *data);
/* Of families that encode: makes of the bytes of each weight buffer, as they were before the launch, what must be there
 * afterwards. NULL, or a sentence saying why there is no reference. */
const char *qg_soak_encode(qg_arena *arena, const qg_templates *templates, const qg_soak_data *data,
                           void *const *weights);
/* Holds the results against what they must be: those of outputs number 0 and on, in the order of
 * the bindings. Where they are not that, returns false and sets result->text. */
bool qg_soak_judge(qg_arena *arena, const qg_soak_data *data, void *const *outputs, qg_soak_result *result);

/* The next number of a sequence that `state` is the state of. */
uint64_t qg_soak_random(uint64_t *state);

#endif
