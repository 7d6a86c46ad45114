/* qkgen/pipelines.h: which pipelines calls ask for, before they are made, so that an engine can make these ahead; and keys of pipelines
 * that stay, for caches. Header only, over qkgen/tensors.h; allocates nothing, needs no device and no Vulkan; C11 and C++11.
 *
 * There is no list for all shapes, which would be thousands. A model has ten shapes or so, which an engine knows when it reads the file,
 * and each needs a few for one to eight vectors, and a few for more. */
#ifndef QKGEN_PIPELINES_H
#define QKGEN_PIPELINES_H

#include "tensors.h"

/* `constants` are in the order of the kernel's; QK_CONSTANT_ROUNDS_F16 and others that the host sets have the descriptor's values. */
typedef struct qk_pipeline {
    const qk_kernel *kernel;
    const qk_code *code;
    uint32_t constants[QK_MAX_CONSTANTS];
} qk_pipeline;

/* Pipelines, each once. */
typedef struct qk_pipeline_list {
    qk_pipeline *items;
    uint32_t room; /* of `items` */
    uint32_t count;
} qk_pipeline_list;

static inline int qk_same_pipeline_(const qk_pipeline *a, const qk_pipeline *b) {
    return a->kernel == b->kernel && a->code == b->code &&
           memcmp(a->constants, b->constants, a->kernel->spec_constant_count * sizeof a->constants[0]) == 0;
}

static inline qk_status qk_list_launch_(void *context, const qk_launch *launch, qk_error *error) {
    qk_pipeline_list *list = (qk_pipeline_list *)context;
    const qk_kernel *kernel = launch->kernel;
    qk_pipeline one;
    if (list == NULL)
        return QK_OK;
    memset(&one, 0, sizeof one);
    one.kernel = kernel;
    one.code = qk_code_of(kernel, launch->constants);
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++)
        one.constants[i] = launch->constants != NULL ? launch->constants[i] : kernel->spec_constants[i].value;
    for (uint32_t i = 0; i < list->count; i++)
        if (qk_same_pipeline_(&list->items[i], &one))
            return QK_OK;
    if (list->count == list->room)
        return qk_fail(error, QK_ERROR_LIMIT, "%s: there are more than %" PRIu32 " pipelines", kernel->name,
                       list->room);
    list->items[list->count++] = one;
    return QK_OK;
}

static inline qk_status qk_list_barrier_(void *context, qk_error *error) {
    (void)context;
    (void)error;
    return QK_OK;
}

/* Buffers that are bound nowhere: other numbers are other buffers. */
static inline void *qk_no_buffer_(uint32_t number) {
    static char places[16];
    return &places[number];
}

/* A backend that adds to `list` what calls ask for, and launches nothing. NULL: it only says whether a call is one. */
static inline qk_backend qk_listing_backend(qk_api api, const qk_limits *limits, qk_pipeline_list *list) {
    qk_backend backend;
    memset(&backend, 0, sizeof backend);
    backend.context = list;
    backend.api = api;
    backend.limits = *limits;
    backend.launch = qk_list_launch_;
    backend.barrier = qk_list_barrier_;
    backend.spare.buffer = qk_no_buffer_(0);
    backend.spare.size = 4;
    return backend;
}

/* A range that has room for anything; of weights, what they say where they say it. */
static inline void qk_somewhere_(qk_range *range, uint32_t number, int keep_size) {
    range->buffer = qk_no_buffer_(number);
    if (!keep_size || range->size == 0)
        range->size = UINT64_C(1) << 62;
}

/* Lets a tensor have `n` in a dimension; those above follow where they did before. */
static inline void qk_resize_(qk_tensor *t, uint32_t dimension, uint64_t n) {
    const qk_tensor before = *t;
    t->counts[dimension] = n;
    for (uint32_t d = dimension + 1; d < 4; d++)
        if (before.steps[d] == before.steps[d - 1] * before.counts[d - 1])
            t->steps[d] = t->steps[d - 1] * t->counts[d - 1];
}

/* Lists what is asked for of a product such as `like`, of `n` vectors or tokens. */
static inline qk_status qk_list_product_(const qk_backend *backend, const qk_kernel *const *kernels, uint32_t count,
                                         double allowed, const qk_product *like, uint64_t n, int shares,
                                         qk_error *error) {
    const uint32_t dimension = like->ids.bytes != 0 ? 2 : 1;
    const qk_range memory = {qk_no_buffer_(1), 0, UINT64_C(1) << 62};
    qk_epilogue epilogue;
    qk_range parts[16];
    uint32_t number = 6;
    qk_product p = *like;
    p.shares = shares;
    qk_somewhere_(&p.weights.range, 2, 1);
    qk_somewhere_(&p.x.range, 3, 0);
    qk_somewhere_(&p.y.range, 4, 0);
    qk_somewhere_(&p.ids.range, 5, 0);
    qk_resize_(&p.x, dimension, n);
    qk_resize_(&p.y, dimension, n);
    if (dimension == 2)
        qk_resize_(&p.ids, 1, n);
    if (p.epsilon > 0)
        qk_somewhere_(&p.norm, 7 + QK_RESULT_BINDINGS_, 0);
    if (like->epilogue != NULL) {
        epilogue = *like->epilogue;
#define QK_EPILOGUE_SOMEWHERE_(bit, NAME, field, binding, many, meaning)                                               \
    if (epilogue.field != NULL) {                                                                                      \
        parts[number] = *epilogue.field;                                                                               \
        qk_somewhere_(&parts[number], number, 0);                                                                      \
        epilogue.field = &parts[number++];                                                                             \
    }
        QK_EPILOGUES(QK_EPILOGUE_SOMEWHERE_)
#undef QK_EPILOGUE_SOMEWHERE_
        p.epilogue = &epilogue;
    }
    qk_status status = qk_plan_product(backend, kernels, count, allowed, &p, error);
    if (status == QK_OK)
        qk_product_place(&p, memory);
    if (status == QK_OK)
        status = qk_dispatch_product(backend, &p, error);
    return status;
}

/* Lists what qk_plan_product, with these `kernels` and `allowed`, and qk_dispatch_product ask for of products such as `like`, of 1 to
 * `most` vectors for each matrix, whether `shares` is set or not, or with ids of 1 to `most` tokens. Buffers are not looked at, nor sizes
 * but that of the weights: whether loads may pass their end (0: they may). Where x and y begin counts, and which parts the epilogue has.
 * `backend` lists, or makes pipelines in its own way. */
static inline qk_status qk_list_products(const qk_backend *backend, const qk_kernel *const *kernels, uint32_t count,
                                         double allowed, const qk_product *like, uint64_t most, qk_error *error) {
    qk_status status = QK_OK;
    for (uint64_t n = 1; status == QK_OK && n <= most; n++)
        for (int shares = 0; status == QK_OK && shares < (like->ids.bytes != 0 ? 1 : 2); shares++)
            status = qk_list_product_(backend, kernels, count, allowed, like, n, shares, error);
    return status;
}

static inline uint64_t qk_hash_(uint64_t hash, const void *bytes, size_t count) {
    const unsigned char *b = (const unsigned char *)bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ b[i]) * UINT64_C(0x100000001B3); /* FNV-1a */
    return hash;
}

static inline uint64_t qk_hash_number_(uint64_t hash, uint32_t number) {
    const unsigned char bytes[] = {(unsigned char)number, (unsigned char)(number >> 8), (unsigned char)(number >> 16),
                                   (unsigned char)(number >> 24)};
    return qk_hash_(hash, bytes, sizeof bytes);
}

/* A key of a pipeline that is the same in each process and build: of its module's bytes, entry point and constants, by their ids.
 * What else an engine's pipelines depend on, such as the driver, is the engine's to add. */
static inline uint64_t qk_pipeline_key(const qk_pipeline *pipeline) {
    const qk_kernel *kernel = pipeline->kernel;
    uint64_t hash = qk_hash_(UINT64_C(0xCBF29CE484222325), pipeline->code->data, pipeline->code->bytes);
    hash = qk_hash_(hash, kernel->entry, strlen(kernel->entry) + 1);
    for (uint32_t i = 0; i < kernel->spec_constant_count; i++) {
        hash = qk_hash_number_(hash, kernel->spec_constants[i].id);
        hash = qk_hash_number_(hash, pipeline->constants[i]);
    }
    return hash;
}

#endif
