/* run_convert.h: `qkgen convert`: the tensors of a GGUF file in other formats.
 *
 * The one idea: where every byte of the new file belongs is known before the first is made, so that pieces of tensors
 * are made and written by any number of threads, in any order, with memory for one piece each. */
#ifndef QKGEN_RUN_CONVERT_H
#define QKGEN_RUN_CONVERT_H

#include "cli/run.h"
#include "files/container.h"

/* How a tensor is stored: in blocks of a format, or as floats. */
typedef struct qg_storage {
    const char *name;
    const qg_layout *layout; /* NULL: floats of type `plain` */
    qg_scalar plain;
    uint64_t row; /* elements of a row, where rows begin with a header; 0: they are blocks one after the other */
} qg_storage;

/* Elements that cannot be taken apart: a block, or a row with its header. */
static inline uint64_t qg_storage_unit(const qg_storage *kind) {
    return kind->row ? kind->row : kind->layout ? kind->layout->elements : 1;
}

/* Bytes of so many elements, which are whole units. */
static inline uint64_t qg_storage_bytes(const qg_storage *kind, uint64_t elements) {
    if (!kind->layout) return elements * (qg_scalars[kind->plain].bits / 8);
    const uint64_t header = qg_header_bytes(&kind->layout->buffers[0]), rows = kind->row ? elements / kind->row : 0;
    return rows * header + elements / kind->layout->elements * (kind->layout->buffers[0].bytes - header);
}

/* What becomes of a tensor. */
typedef struct qg_conversion {
    const qg_weight *weight;
    qg_storage from, to; /* the same where it is kept; of formats that are not known, without layout */
    bool converts;
    const char *why;        /* it is kept */
    uint64_t piece;         /* elements that are made at once */
    uint64_t source, bytes; /* where its data are in the file that is read, and how many */
} qg_conversion;

typedef struct qg_plan_of_file {
    qg_container container;
    uint32_t count;
    qg_conversion *items; /* as many as there are tensors, in their order */
    qg_written *written;
    qg_text head;
    uint64_t bytes; /* of the file that is written */
} qg_plan_of_file;

/* ---- run_convert_plan.c ---- */

typedef struct qg_convert_request {
    const char *to;   /* a format, or NULL */
    qg_texts tensors; /* PATTERN, PATTERN=FORMAT or PATTERN=keep */
    const char *in;   /* the path, for messages */
    const qg_rules *rules;
} qg_convert_request;

/* Says what becomes of each tensor of a file that is mapped. False after a message. */
bool qg_convert_plan(qg_session *session, const qg_convert_request *request, const qg_input *file,
                     qg_plan_of_file *plan);

/* ---- how a piece is made ---- */

/* `piece` makes `elements` of kind c->to of those of kind c->from; `floats` is room for as many. It returns NULL, or a
 * sentence. Only with `threads` may it be called by several at once. */
typedef struct qg_converter {
    void *context;
    const char *where;
    bool threads;
    const char *(*piece)(void *context, const qg_conversion *c, const void *from, uint64_t elements, float *floats,
                         void *to);
    const char *(*close)(void *context);
} qg_converter;

const char *qg_convert_open_c(qg_arena *arena, const qg_templates *templates, const qg_plan_of_file *plan,
                              qg_converter *converter);
const char *qg_convert_open_vulkan(qg_arena *arena, const qg_templates *templates, const qg_plan_of_file *plan,
                                   const char *device, qg_converter *converter);

#endif
