/* run_launch.h: the checked call of a family, for all commands that launch its kernels. */
#ifndef QKGEN_RUN_LAUNCH_H
#define QKGEN_RUN_LAUNCH_H

#include "build/family.h"

#include <qkgen/dispatch.h>

/* What a call is given; a family looks at what it has. */
typedef struct qg_launch {
    const qg_family *family;
    const qk_kernel *kernel;
    const qk_range *weights; /* buffers of the format */
    qk_range in;             /* x, or floats that become blocks */
    qk_range indices;        /* of rows, or of experts */
    qk_range out, scratch, status;
    uint64_t rows, cols; /* of the matrix, or of each expert's */
    uint64_t count;      /* right-hand sides, tokens or rows; elements, where a whole tensor is decoded or encoded */
    uint64_t experts, slots, x_slots;
    const qk_views *views;               /* NULL: none */
    const qk_expert_views *expert_views; /* with experts, in their place */
    const qk_epilogue *epilogue;
} qg_launch;

qk_status qg_launch_kernel(const qk_backend *backend, const qg_launch *launch, qk_error *error);

#endif
