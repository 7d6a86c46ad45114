/* run.h: running a generated kernel on a user's data. */
#ifndef QKGEN_RUN_H
#define QKGEN_RUN_H

#include "command.h"

/* One call of `qkgen run`, checked. `weights` hold one pointer for each buffer of the format. */
typedef struct qg_job {
    qg_arena *arena;
    const qg_layout *layout;
    const qg_family *family;
    qg_scalar type;
    const qg_templates *templates;
    const char *device; /* Vulkan: NULL takes the default */
    const void *const *weights;
    uint64_t elements;       /* of the weights */
    uint64_t rows, cols;     /* gather */
    const uint32_t *indices; /* gather */
    uint64_t tokens;         /* gather */
} qg_job;

/* A target that is ready to run a job. A part is a run of whole blocks (dequant, from element `first`) or of tokens
 * (gather, from token `first`); `dst` takes its results. Functions return NULL, or a sentence saying what failed. */
typedef struct qg_runner {
    void *context;
    const char *where; /* "the C reference", or the device's name */
    const char *(*part)(void *context, const qg_job *job, uint64_t first, uint64_t count, void *dst);
    double (*seconds)(void *context);        /* spent in kernels so far */
    uint64_t (*out_of_range)(void *context); /* gather */
    const char *(*close)(void *context);
} qg_runner;

/* `most` is the largest part that will be asked for. */
const char *qg_run_open_c(const qg_job *job, uint64_t most, qg_runner *runner);
const char *qg_run_open_msl(const qg_job *job, uint64_t most, qg_runner *runner);
const char *qg_run_open_vulkan(const qg_job *job, uint64_t most, qg_runner *runner);

double qg_seconds_now(void);

#endif
