/* run.h: running a generated kernel on a user's data. */
#ifndef QKGEN_RUN_H
#define QKGEN_RUN_H

#include "cli/command.h"
#include "cli/run_epilogue.h"
#include "cli/run_views.h"

#include <qkgen/vulkan.h>

/* One call of `qkgen run`, checked. `weights` hold one pointer for each buffer of the format. */
typedef struct qg_job {
    qg_arena *arena;
    const qg_layout *layout;
    const qg_family *family;
    qg_scalar type;
    const qg_sum_class *sum; /* families that sum */
    const qg_templates *templates;
    const char *device; /* Vulkan: NULL takes the default */
    const char *tuning; /* Vulkan: a file that `qkgen tune` wrote, or NULL */
    const void *const *weights;
    const uint64_t *sizes;   /* bytes of each buffer, where the call takes a matrix as a whole */
    uint64_t elements;       /* of the weights */
    uint64_t rows, cols;     /* where the call takes them */
    const uint32_t *indices; /* of rows, such as those of gather */
    uint64_t tokens;         /* of these */
    const void *x;           /* families that sum: right-hand sides of `cols`; with experts, x_slots of each token */
    uint64_t batch;
    qg_epilogue epilogue; /* families that sum, and how their arrays lie in memory */
    qg_views views;
    qg_places places;
    const float *norm;   /* weights of a norm of x, where views have an epsilon */
    const void *before;  /* what y holds, as it is stored; NULL: nothing */
    const uint32_t *ids; /* with experts: `slots` of them for each token, of which there are `batch` */
    uint64_t experts, slots, x_slots;
} qg_job;

/* Bytes of a result. */
static inline uint32_t qg_job_result_bytes(const qg_job *job) {
    const qg_scalar type = job->family->sums ? qg_views_type(&job->views, job->family->experts) : job->type;
    return qg_scalars[type].bits / 8;
}

/* Results of one element, token or row of a part. */
static inline uint64_t qg_job_unit(const qg_job *job) {
    return job->indices ? qg_result_count(job->family, job->elements, job->rows, job->cols, 1) : 1;
}

/* A target that is ready to run a job. A part is a run of whole blocks (dequant, from element
 * `first`) or of tokens (gather, from token `first`), and everything where the family sums or takes a matrix; `dst`
 * takes its results. Functions return NULL, or a sentence saying what failed. */
typedef struct qg_runner {
    void *context;
    const char *where; /* "the C reference", or the device's name */
    const char *(*part)(void *context, const qg_job *job, uint64_t first, uint64_t count, void *dst);
    double (*seconds)(void *context);        /* spent in kernels so far */
    uint64_t (*out_of_range)(void *context); /* indices or ids */
    const char *(*close)(void *context);
} qg_runner;

/* `most` is the largest part that will be asked for. */
const char *qg_run_open_c(const qg_job *job, uint64_t most, qg_runner *runner);
const char *qg_run_open_msl(const qg_job *job, uint64_t most, qg_runner *runner);
const char *qg_run_open_vulkan(const qg_job *job, uint64_t most, qg_runner *runner);

typedef struct qg_run_target {
    const char *name;
    const char *(*open)(const qg_job *job, uint64_t most, qg_runner *runner);
} qg_run_target;

/* The target of that name, or NULL. */
const qg_run_target *qg_target_named(const char *name);
/* The type of that name that the family has kernels for, or QG_SCALAR_COUNT. */
qg_scalar qg_family_type(const qg_family *family, const char *name);
/* Bytes of each weight buffer of a tensor of rows x cols, where blocks are patches of a matrix;
 * NULL where that is no shape of the format. */
uint64_t *qg_matrix_sizes(qg_arena *arena, const qg_layout *layout, uint64_t rows, uint64_t cols);
/* How large the parts of a job should be; a multiple of the block. Patches of a matrix are not cut: all is one part. */
uint64_t qg_part_size(const qg_job *job);

double qg_seconds_now(void);

/* Reads a file of tuning, for a device of that name. Returns NULL, or a sentence saying what failed. */
const char *qg_tuning_read(qg_arena *arena, const char *path, const char *device, const qk_tuning **tuning);

/* run_device.c: the Vulkan device of that name, or the default; and the end of a run on it, whose kernel it forgets:
 * NULL, or what the validation layer had. Both take NULL. */
qk_status qg_device_open(const char *name, qk_vulkan **vulkan, qk_error *error);
const char *qg_device_close(qg_arena *arena, qk_vulkan *vulkan, const qk_kernel *kernel);
/* Whether the next runs share a device; one that is open is closed first. */
void qg_device_share(bool shared);

/* run_cases.c: the value of --cases; NULL where it is not there, where it has none, and where help is asked for. And
 * the runs of that list, each with the other arguments before its own. */
const char *qg_cases_list(int argc, char **argv);
int qg_run_cases(qg_session *session, const char *list, int argc, char **argv);

/* `qkgen run` of a family that makes blocks (run_encode.c). */
int qg_run_encode(qg_session *session, const qg_family *family, int argc, char **argv);

/* `qkgen run` from one format to another (run_transcode.c). */
int qg_run_transcode(qg_session *session, int argc, char **argv);

/* `qkgen run` of a family that takes no format (run_plain.c). */
int qg_run_plain(qg_session *session, const qg_plain *family, int argc, char **argv);
/* Calls the dispatch function of the family; `ranges` in the order of its bindings. */
qk_status qg_plain_dispatch(const qg_plain *family, const qk_backend *backend, const qk_kernel *kernel,
                            const qk_range *ranges, uint64_t groups, uint32_t group, uint32_t bins, qk_error *error);

/* ---- what runs of families with and without a format share ----------------------------------------------------- */

/* run_c.c: header and source of `--embed` as one text; and that text compiled and loaded. `name` is that of the file.
 * Returns NULL, or a sentence saying what failed. */
char *qg_reference_text(qg_arena *arena, const char *header, const char *source);
const char *qg_reference_load(qg_arena *arena, const char *text, const char *name, void **object);

/* The reference of a family for a format, compiled and loaded: `object` for dlclose, `function` of its C type. */
const char *qg_reference_open(qg_arena *arena, const qg_templates *templates, const qg_layout *layout,
                              const qg_family *family, qg_scalar type, void **object, void **function);
/* The same of a kernel by name, of those that are requested. */
const char *qg_reference_open_kernel(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                                     const char *kernel, void **object, void **function);

/* run_encode.c: those of encoders, by that function. set_rows returns how many indices are out of range. */
void qg_reference_encode(void *function, void *const *weights, uint64_t elements, const void *src);
/* The same of a format whose rows have something of their own. */
void qg_reference_encode_rows(void *function, void *const *weights, uint64_t rows, uint64_t cols, const void *src);
uint64_t qg_reference_set_rows(void *function, void *const *weights, const uint32_t *indices, uint64_t rows,
                               uint64_t cols, uint64_t tokens, const void *src);

/* run_floats.c: `count` floats of type F32, F16 or BF16 to f32; and back, rounded to nearest even. */
void qg_floats_of(qg_scalar type, const void *from, uint64_t count, float *to);
void qg_floats_to(qg_scalar type, const float *from, uint64_t count, void *to);

/* run_msl.c: one kernel of an MSL text in the executor. Its backend takes pointers as buffers. */
typedef struct qg_metal qg_metal;
const char *qg_metal_open(qg_arena *arena, const char *text, const char *name, const qk_kernel *kernel,
                          qg_metal **metal);
qk_backend qg_metal_backend(qg_metal *metal);
/* What a launch that failed had to say, else `error`. */
const char *qg_metal_failure(const qg_metal *metal, const qk_error *error);
void qg_metal_close(qg_metal *metal);

/* ---- files and progress ---------------------------------------------------------------------------------------- */

/* A regular file, mapped until qg_inputs_close. */
typedef struct qg_input {
    const char *path;
    const void *data;
    uint64_t bytes;
} qg_input;

/* Functions on files print what failed, and return false. */
bool qg_input_open(const char *path, qg_input *in);
/* Unmaps all of them. */
void qg_inputs_close(void);

/* A file that gets its name only when all of it is there. */
typedef struct qg_run_output {
    const char *path;
    const char *temporary;
    int file;
} qg_run_output;

bool qg_run_output_open(qg_arena *arena, const char *path, qg_run_output *out);
bool qg_run_output_write(qg_run_output *out, const void *data, size_t bytes);
/* Gives the file its final name, or removes it when not `good`. */
bool qg_run_output_close(qg_run_output *out, bool good);

/* A bar on stderr, when that is a terminal and the work is long. `start` is the time now. */
typedef struct qg_progress {
    bool shown;
    double start, last;
} qg_progress;

void qg_progress_show(qg_progress *p, uint64_t done, uint64_t all, double bytes);
void qg_progress_end(const qg_progress *p);

#endif
