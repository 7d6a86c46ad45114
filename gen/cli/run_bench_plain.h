/* run_bench_plain.h: `qkgen bench` of a family that takes no format. */
#ifndef QKGEN_RUN_BENCH_PLAIN_H
#define QKGEN_RUN_BENCH_PLAIN_H

#include "cli/run.h"

#include <qkgen/vulkan.h>

/* A family with its buffers on a device: arrays of `groups` times `group` numbers. */
typedef struct qg_plain_subject {
    const qg_plain *family;
    uint64_t groups;
    uint32_t group, bins;
    const qk_kernel *kernel;
    qk_vulkan_buffer *buffers[QG_MAX_PLAIN_BINDINGS];
    uint32_t count;
    double moved; /* bytes read and written by a launch */
} qg_plain_subject;

/* Compiles the kernel and makes the buffers; inputs repeat `data`. False with *why on failure;
 * qg_plain_subject_close in either case. */
bool qg_plain_subject_open(qg_arena *arena, const qg_templates *templates, qk_vulkan *vk, const void *data,
                           uint64_t bytes, qg_plain_subject *s, const char **why);
/* Records one launch. */
qk_status qg_plain_subject_record(qk_vulkan *vk, const qg_plain_subject *s, qk_error *error);
void qg_plain_subject_close(qk_vulkan *vk, qg_plain_subject *s);

#endif
