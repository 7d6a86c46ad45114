/* qkgen/tensors.h: products and rows of tensors as engines describe them, by counts and steps in bytes. It finds out which views they
 * are (qk_views, qk_expert_views, qk_rows_view) and which kernel takes them, and refuses what no kernel can read, with the reason.
 * Header only, over qkgen/dispatch.h; allocates nothing, keeps no state; C11 and C++11. For formats of one buffer whose blocks lie one
 * after the other. */
#ifndef QKGEN_TENSORS_H
#define QKGEN_TENSORS_H

#include "dispatch.h"

/* Dimension 0 is the inner one, along rows. `range` begins with the first element; of weights it may be longer, see QK_PADDING. */
typedef struct qk_tensor {
    qk_range range;
    uint64_t counts[4]; /* elements, also of weights; 1 where there is no such dimension */
    uint64_t steps[4];  /* bytes from one to the next, of weights from one block; not looked at where a count is 1 */
    uint32_t bytes;     /* of an element, or of a block */
} qk_tensor;

/* Steps of the outer dimensions in `units` of bytes, 0 where a count is 1. `inner` is what lies one after the other. */
static inline qk_status qk_tensor_steps_(const qk_kernel *kernel, const char *name, const qk_tensor *t, uint64_t inner,
                                         uint64_t unit, uint64_t steps[3], qk_error *error) {
    if (t->bytes != inner || t->steps[0] != inner)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: %s has elements or blocks of %" PRIu32 " bytes, %" PRIu64 " apart, must be %" PRIu64
                       " in both",
                       kernel->name, name, t->bytes, t->steps[0], inner);
    for (uint32_t i = 1; i < 4; i++) {
        steps[i - 1] = t->counts[i] > 1 ? t->steps[i] / unit : 0;
        if (t->counts[i] > 1 && (t->steps[i] == 0 || t->steps[i] % unit != 0))
            return qk_fail(error, QK_ERROR_ARGUMENT,
                           "%s: %s has a step of %" PRIu64 " bytes in dimension %" PRIu32
                           ", must be a multiple of %" PRIu64,
                           kernel->name, name, t->steps[i], i, unit);
    }
    return QK_OK;
}

/* The same of a table of blocks, in rows. */
static inline qk_status qk_table_steps_(const qk_kernel *kernel, const char *name, const qk_tensor *t,
                                        uint64_t steps[3], qk_error *error) {
    if (kernel->view != QK_VIEW_BLOCKS || kernel->bindings[1].role == QK_ROLE_WEIGHTS)
        return qk_fail(error, QK_ERROR_UNSUPPORTED,
                       "%s: %s is of several buffers or of patches, must be of blocks one after the other",
                       kernel->name, name);
    uint64_t row = qk_weight_bytes(kernel, 0, 1, t->counts[0]);
    return qk_tensor_steps_(kernel, name, t, kernel->bindings[0].block_bytes, row != 0 ? row : 1, steps, error);
}

/* Whether kernels load x from where it lies. */
static inline int qk_tensor_is_loaded(const qk_tensor *x) {
    uint64_t bits = x->range.offset;
    for (uint32_t i = 1; i < 4; i++)
        bits |= x->counts[i] > 1 ? x->steps[i] : 0;
    return x->steps[0] == x->bytes && bits % (4 * (uint64_t)x->bytes) == 0;
}

/* Lets elements of a tensor lie one after the other, in `range`. */
static inline void qk_tensor_pack(qk_tensor *t, qk_range range) {
    t->range = range;
    t->steps[0] = t->bytes;
    for (uint32_t i = 1; i < 4; i++)
        t->steps[i] = t->steps[i - 1] * t->counts[i - 1];
}

/* ---- Products --------------------------------------------------------------------------------------------------- */

/* Without ids: y[3][2][n][m] = sum over k of weights[3'][2'][m][k] * x[3][2][n][k], where each matrix of weights may serve several of x, and
 * a dimension 2 or 3 of x whose step is 0 has the same vectors for all.
 * With ids: y[i][t][s][m] = sum over k of weights[i][ids[t][s]][m][k] * x[t][s][k], where x may have one s for all, and i is a set of experts. */
typedef struct qk_product {
    qk_tensor weights, x, y;
    qk_tensor ids;               /* of experts, 32 bits; `bytes` 0: there are none */
    uint64_t types;              /* the engine's: a number for those of weights and x, to qkgen/launcher.hpp */
    qk_range scratch;            /* qk_product_place sets it */
    qk_range status;             /* with ids, as of qk_dispatch_gemv_id_views; without a buffer, backend->spare */
    const qk_epilogue *epilogue; /* NULL: none */
    int shares; /* 1: other matrices are multiplied with this x: it pays sooner to make integers of it once */
    qk_part parts[QK_MOST_PARTS]; /* of matrices with the same x that are one product; qk_product_joins sets them */
    int packed; /* 1: scratch holds what was made of x, by a call before with this kernel and x, and as many vectors; with ids, of the same
                   ids and weights of the same shape, and what is out of range was counted then */
    uint32_t gated; /* as of qk_views: weights have two matrices, or sets, and y has the results of one; qk_product_gates sets it */
    uint32_t adds_slots; /* as of qk_expert_views: y has one result for each token; qk_product_adds_slots sets it */
    float epsilon;  /* as of qk_views: not 0: x is normed with `norm`; qk_product_norms sets both */
    qk_range norm;
    /* What qk_plan_product finds: */
    const qk_kernel *kernel;
    uint64_t scratch_bytes;
    uint64_t
        copy_bytes; /* not 0: no kernel loads x from where it lies, and the engine copies it first, vector after vector; `x` is the copy */
    qk_views views;
    qk_expert_views expert_views;
} qk_product;

static inline qk_status qk_product_shape_(const qk_kernel *kernel, const qk_product *p, qk_error *error) {
    const uint64_t *w = p->weights.counts, *x = p->x.counts, *y = p->y.counts, *ids = p->ids.counts;
    const int by_id = p->ids.bytes != 0;
    const uint64_t each = p->gated != 0 ? 2 : 1; /* matrices of a result */
    int fits = x[0] == w[0] && y[0] == w[1] && y[2] == x[2] && (by_id || y[3] == x[3]);
    if (by_id)
        fits = fits && y[1] == (p->adds_slots != 0 ? 1 : ids[0]) && y[2] == ids[1] &&
               (x[1] == 1 || x[1] == ids[0]) && each * y[3] == w[3] && x[3] == 1;
    else
        fits = fits && y[1] == x[1] && w[2] != 0 && each * y[2] % w[2] == 0 && w[3] != 0 && y[3] % w[3] == 0;
    return fits ? QK_OK
                : qk_fail(error, QK_ERROR_ARGUMENT, "%s: weights, x, %sy have shapes that do not fit together",
                          kernel->name, by_id ? "ids and " : "and ");
}

/* Sets the views of a product, for kernels such as this one. */
static inline qk_status qk_product_views_(const qk_kernel *kernel, qk_product *p, qk_error *error) {
    const int by_id = p->ids.bytes != 0;
    uint64_t w[3] = {0, 0, 0}, x[3] = {0, 0, 0}, y[3] = {0, 0, 0}, ids[3] = {0, 0, 0};
    qk_tensor vectors = p->x; /* without dimensions in which all have the same */
    for (uint32_t d = 2; d < 4 && !by_id; d++)
        if (vectors.steps[d] == 0)
            vectors.counts[d] = 1;
    qk_status status = qk_product_shape_(kernel, p, error);
    if (status == QK_OK)
        status = qk_table_steps_(kernel, "weights", &p->weights, w, error);
    const uint32_t element = qk_type_bytes(kernel->bindings[1].element);
    if (status == QK_OK)
        status = qk_tensor_steps_(kernel, "x", &vectors, element, element, x, error);
    if (status == QK_OK)
        status = qk_tensor_steps_(kernel, "y", &p->y, 4, 4, y, error);
    if (status == QK_OK && by_id)
        status = qk_tensor_steps_(kernel, "ids", &p->ids, 4, 4, ids, error);
    if (status == QK_OK && p->weights.counts[1] > 1 && w[0] != 1)
        status = qk_fail(error, QK_ERROR_ARGUMENT, "%s: rows of weights are %" PRIu64 " rows apart, must be 1",
                         kernel->name, w[0]);
    memset(&p->views, 0, sizeof p->views);
    memset(&p->expert_views, 0, sizeof p->expert_views);
    for (uint32_t d = 0; d < 2; d++) {
        p->views.batches[d] = p->y.counts[2 + d];
        p->views.weights_batches[d] = p->weights.counts[2 + d];
        p->views.weights_strides[d] = w[1 + d];
        p->views.x_strides[d] = vectors.counts[2 + d] < p->x.counts[2 + d] ? QK_SAME_X : x[1 + d];
        p->views.y_strides[d] = y[1 + d];
    }
    memcpy(p->views.parts, p->parts, sizeof p->parts);
    if (p->gated != 0) {
        p->views.batches[0] = 2;
        p->views.x_strides[0] = QK_SAME_X;
    }
    p->views.gated = p->expert_views.gated = p->gated;
    p->expert_views.adds_slots = p->adds_slots;
    p->views.epsilon = p->epsilon;
    p->views.norm = p->norm;
    p->views.x_stride = x[0];
    p->views.y_stride = y[0];
    p->expert_views.x_slot_stride = x[0];
    p->expert_views.x_stride = x[1];
    p->expert_views.y_slot_stride = y[0];
    p->expert_views.y_stride = y[1];
    p->expert_views.ids_stride = ids[0];
    p->expert_views.weights_stride = w[1];
    p->expert_views.sets = p->weights.counts[3];
    p->expert_views.weights_set_stride = w[2];
    p->expert_views.y_set_stride = y[2];
    return status;
}

/* Whether a kernel that makes tiles takes so many vectors, of each matrix, and the columns. */
static inline int qk_product_fits_tiles_(const qk_kernel *kernel, const qk_product *p, uint64_t most,
                                         uint64_t vectors) {
    return vectors > most && (kernel->wide_block == 0 || p->x.counts[0] % kernel->wide_block == 0) &&
           (p->ids.bytes == 0 || p->weights.counts[2] <= QK_GEMM_ID_EXPERTS);
}

/* Tokens of which experts are faster one by one than sorted, for few have several of them; fewer where weights are looked up. Plain
 * rows gain nothing so. */
static inline uint64_t qk_product_max_tokens_(const qk_kernel *const *kernels, uint32_t count, const qk_product *p) {
    const uint64_t *w = p->weights.counts, slots = qk_max_(1, p->ids.counts[0]);
    uint64_t each = QK_EXPERT_PAIRS;
    for (uint32_t i = 0; i < count; i++) {
        if (kernels[i]->operand_tile != 0)
            continue;
        if (!qk_fits_wide_(kernels[i], qk_product_(w[2], w[1]), w[0]))
            return QK_GEMV_MAX_BATCH;
        if (qk_lookups_of_(kernels[i]) != 0)
            each = QK_EXPERT_PAIRS_LOOKED_UP;
    }
    return qk_max_(QK_GEMV_MAX_BATCH, qk_product_(each, w[2]) / slots);
}

/* Vectors that kernels of gemv or gemv_id take where there are tiles, too: those with matrix units may take more than others. */
static inline uint64_t qk_product_max_batch_(const qk_backend *backend, const qk_kernel *const *kernels, uint32_t count,
                                             const qk_product *p, double allowed) {
    const qk_limits *limits = &backend->limits;
    const uint64_t *w = p->weights.counts;
    uint64_t most = QK_GEMV_MAX_BATCH;
    if (p->ids.bytes != 0)
        return qk_product_max_tokens_(kernels, count, p);
    for (uint32_t i = 0; i < count; i++)
        if (kernels[i]->operand_tile == 0 && qk_missing_features_(kernels[i], limits) == 0 &&
            qk_can_multiply_(kernels[i], limits, w[1], w[0], 0) &&
            qk_sum_error(kernels[i], qk_lanes_(limits), w[0]) <= allowed)
            most = qk_max_(most, qk_gemv_max_batch_(kernels[i], limits, w[1], w[0]));
    return most;
}

#define QK_PRODUCT_MOST_KERNELS 32u

/* Whether it pays to make integers of x, for a kernel, in a launch of its own. */
static inline int qk_pack_pays_(const qk_product *p, const qk_kernel *kernel, uint64_t vectors) {
    const uint64_t values = qk_batch_class_(vectors) * p->weights.counts[0];
    const int bytes = qk_constant_(kernel, NULL, QK_CONSTANT_DIGITS, 0) == 1,
              small = kernel->teams_tile <= QK_PACK_X_TILE;
    return (values >= QK_PACK_X_VALUES && (small || !bytes)) || (p->shares && values >= QK_PACK_X_SHARED && small);
}

/* Of few rows and more than four vectors, the kernel of bytes that takes those which other matrices share, too, if there is one: a
 * launch makes them once, and then it is ahead of matrix units. NULL: none. */
static inline const qk_kernel *qk_product_shared_(const qk_backend *backend, const qk_kernel *const *kernels,
                                                  uint32_t count, const qk_product *p, uint64_t vectors,
                                                  double allowed) {
    const uint64_t *w = p->weights.counts;
    const int few = qk_rows_class_of_(&backend->limits, w[1]) == QK_FEW_;
    if (!p->shares || p->epsilon > 0 || p->ids.bytes != 0 || vectors <= 4 || vectors > QK_GEMV_MAX_BATCH || !few)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        const qk_kernel *one = kernels[i];
        const int faster = qk_lookups_of_(one) == 0 || vectors <= QK_PACK_X_LOOKUPS;
        if (qk_products_of_(one) == QK_ONE_ && faster && qk_pack_pays_(p, one, vectors) &&
            qk_choose(&one, 1, &backend->limits, w[1], w[0], vectors, allowed) != NULL &&
            qk_gemv_scratch(backend, one, w[1], w[0], p->y.counts[1], &p->views) != 0)
            return one;
    }
    return NULL;
}

/* Whether a kernel can norm x, on that device, of so many vectors. */
static inline int qk_norms_product_(const qk_backend *backend, const qk_kernel *kernel, const qk_product *p,
                                    uint64_t rows, uint64_t vectors) {
    uint32_t constants[QK_MAX_CONSTANTS];
    return qk_takes_norm_(kernel) && qk_missing_features_(kernel, &backend->limits) == 0 &&
           qk_own_constants_(kernel, &backend->limits, vectors, p->gated != 0 ? 2 * rows : rows, p->weights.counts[0],
                             p->gated != 0, qk_bits_of_(p->epsilon), constants);
}

/* The kernel of a product of which the counts are known, for so many vectors of each matrix; NULL where none is for that device. */
static inline const qk_kernel *qk_product_kernel_(const qk_backend *backend, const qk_kernel *const *kernels,
                                                  uint32_t count, const qk_product *p, uint64_t vectors,
                                                  double allowed) {
    const uint64_t *w = p->weights.counts, most = qk_product_max_batch_(backend, kernels, count, p, allowed);
    const uint64_t rows = p->parts[0].products != 0 ? w[1] * w[2] : w[1]; /* joined ones are as one matrix */
    const uint64_t few = qk_min_(vectors, QK_GEMV_MAX_BATCH);
    const qk_kernel *kernel = qk_product_shared_(backend, kernels, count, p, vectors, allowed);
    for (int tiles = 1; kernel == NULL && tiles >= 0; tiles--) {
        const qk_kernel *some[QK_PRODUCT_MOST_KERNELS] = {NULL};
        for (uint32_t i = 0; i < count; i++)
            some[i] = (kernels[i]->operand_tile != 0) == tiles &&
                              (!tiles || qk_product_fits_tiles_(kernels[i], p, most, vectors)) &&
                              (p->adds_slots == 0 || qk_kinds_of_views_(kernels[i]) > 3) &&
                              (!(p->epsilon > 0) || qk_norms_product_(backend, kernels[i], p, rows, few))
                          ? kernels[i]
                          : NULL;
        kernel = qk_choose(some, count, &backend->limits, rows, w[0], tiles ? vectors : few, allowed);
    }
    return kernel;
}

/* Of `count` kernels (at most 32) of gemv and gemm, or of gemv_id and gemm_id, of one format and type of x
 * (qk_find_classes): the one that should be the fastest among those whose error is at most `allowed`, as qk_choose
 * says. Of more than 8 vectors, or 16, that is one of gemm, where there is one that the device can launch and that
 * takes the shape; of experts, where several tokens have the same ones. Behind it, there must be memory
 * (qk_product_place). QK_ERROR_UNSUPPORTED: no kernel is for that device. */
static inline qk_status qk_plan_product(const qk_backend *backend, const qk_kernel *const *kernels, uint32_t count,
                                        double allowed, qk_product *p, qk_error *error) {
    const uint64_t *w = p->weights.counts;
    uint64_t vectors = p->y.counts[2];
    p->kernel = NULL;
    p->scratch_bytes = p->copy_bytes = 0;
    if (count == 0 || count > QK_PRODUCT_MOST_KERNELS)
        return qk_fail(error, QK_ERROR_UNSUPPORTED, "there are %" PRIu32 " kernels for these types, must be 1 to %u",
                       count, QK_PRODUCT_MOST_KERNELS);
    if (!qk_tensor_is_loaded(&p->x)) {
        const qk_range nowhere = {NULL, 0, 0};
        qk_tensor_pack(&p->x, nowhere);
        p->copy_bytes = qk_ceil_(qk_product_(p->x.steps[3], p->x.counts[3]), 256) * 256;
    }
    qk_status status = qk_product_views_(kernels[0], p, error);
    if (status == QK_OK && p->gated == 0 && p->ids.bytes == 0 && w[0] * w[1] * p->y.counts[1] != 0) {
        qk_planes_ planes; /* products that share weights are one of more vectors */
        status = qk_plan_views_(kernels[0], &p->views, w[1], w[0], p->y.counts[1], &planes, error);
        vectors = planes.batch;
    }
    if (status != QK_OK)
        return status;
    p->kernel = qk_product_kernel_(backend, kernels, count, p, vectors, allowed);
    if (p->kernel == NULL)
        return qk_fail(error, QK_ERROR_UNSUPPORTED, "no kernel of %s is for this device%s", kernels[0]->format,
                       p->epsilon > 0 ? ", and norms x of this shape" : p->adds_slots != 0 ? ", and adds slots" : "");
    if (p->gated != 0)
        return qk_check_gated_(p->kernel, p->gated, error);
    if (p->kernel->operand_tile != 0)
        p->scratch_bytes =
            p->ids.bytes != 0
                ? qk_gemm_id_scratch(backend, p->kernel, w[2], w[1], w[0], vectors, p->ids.counts[0], p->x.counts[1])
                : qk_gemm_views_scratch(backend, p->kernel, w[1], w[0], p->y.counts[1], &p->views);
    else if (p->ids.bytes == 0 && qk_pack_pays_(p, p->kernel, vectors))
        p->scratch_bytes = qk_gemv_scratch(backend, p->kernel, w[1], w[0], p->y.counts[1], &p->views);
    return QK_OK;
}

static inline int qk_same_tensor_(const qk_tensor *a, const qk_tensor *b) {
    int same = a->bytes == b->bytes && a->range.buffer == b->range.buffer && a->range.offset == b->range.offset;
    for (uint32_t d = 0; d < 4; d++)
        same = same && a->counts[d] == b->counts[d] && (a->counts[d] == 1 || a->steps[d] == b->steps[d]);
    return same;
}

/* Where the bias or the residual is what lies where y goes, sums are added to it. */
static inline void qk_product_adds(const qk_product *p, qk_epilogue *epilogue) {
    const qk_range **const added[] = {&epilogue->bias, &epilogue->residual};
    epilogue->adds = 0;
    for (int i = 0; i < 2 && !epilogue->adds; i++) {
        epilogue->adds =
            *added[i] != NULL && (*added[i])->buffer == p->y.range.buffer && (*added[i])->offset == p->y.range.offset;
        if (epilogue->adds)
            *added[i] = NULL;
    }
}

/* Lets a product write `y`, of the shape of its results, to which tensor `t` of f32 is added: one as large, a vector for all of them, or
 * with ids a vector of each expert. Or which are multiplied with it, for `factors` of each vector. Whether an epilogue has a place
 * for it; then it refers to `t`. */
static inline int qk_product_fuses(qk_product *p, qk_epilogue *epilogue, const qk_tensor *t, int factors, const qk_tensor *y) {
    const uint64_t *n = t->counts, *m = y->counts;
    const int by_id = p->ids.bytes != 0, same = memcmp(n, m, sizeof t->counts) == 0;
    const int one = n[1] * n[2] * n[3] == 1, each = n[1] * n[2] * n[3] == m[1] * m[2] * m[3];
    const int rows = n[0] == m[0] && (by_id || one);
    qk_tensor packed = *t;
    qk_tensor_pack(&packed, t->range);
    if (!qk_same_tensor_(t, &packed) || !(factors ? n[0] == 1 && each : rows || (same && !by_id)))
        return 0;
    memset(epilogue, 0, sizeof *epilogue);
    epilogue->scale_per = QK_PER_VECTOR;
    *(factors ? &epilogue->scale : rows ? &epilogue->bias : &epilogue->residual) = &t->range;
    p->y = *y;
    p->epilogue = epilogue;
    qk_product_adds(p, epilogue);
    return 1;
}

/* Lets a product with ids, and with the factors of its vectors if it fuses such, write `y`[t][m], the sums over the slots of each token, to
 * which `residual` is added, of the same shape, unless it is NULL; then `epilogue` refers to it. Of at most eight tokens. Whether it can; a
 * kernel or a device may still refuse it (qk_plan_product, qk_dispatch_product). */
static inline int qk_product_adds_slots(qk_product *p, qk_epilogue *epilogue, const qk_tensor *residual,
                                        const qk_tensor *y) {
    const uint64_t *from = p->y.counts, *to = y->counts;
    const qk_epilogue *e = p->epilogue;
    const int plain = e == NULL || (e->bias == NULL && e->gate == NULL && e->residual == NULL && e->adds == 0 &&
                                    e->scale_per == QK_PER_VECTOR);
    qk_tensor same = residual != NULL ? *residual : *y;
    same.range = y->range;
    if (p->ids.bytes == 0 || p->gated != 0 || p->adds_slots != 0 || p->weights.counts[3] != 1 || !plain ||
        from[2] > QK_GEMV_MAX_BATCH || to[0] != from[0] || to[1] != from[2] || to[2] * to[3] != 1 || y->bytes != 4 ||
        !qk_same_tensor_(y, &same))
        return 0;
    p->adds_slots = 1;
    p->y = *y;
    p->y.counts[1] = 1;
    p->y.counts[2] = to[1];
    p->y.steps[2] = y->steps[1];
    if (residual == NULL)
        return 1;
    if (e == NULL)
        memset(epilogue, 0, sizeof *epilogue);
    epilogue->residual = &residual->range;
    p->epilogue = epilogue;
    qk_product_adds(p, epilogue);
    return 1;
}

/* Bytes from the first element of a tensor to behind the last, of which `inner` are those of dimension 0. */
static inline uint64_t qk_tensor_reach_(const qk_tensor *t, uint64_t inner) {
    for (uint32_t d = 1; d < 4; d++)
        inner += (t->counts[d] - 1) * (t->counts[d] > 1 ? t->steps[d] : 0);
    return inner;
}

/* Whether `next` has the shape of `t`, and lies behind it in the same buffer, a multiple of `unit` bytes away. */
static inline int qk_lies_behind_(const qk_tensor *t, const qk_tensor *next, uint64_t inner, uint64_t unit) {
    qk_tensor there = *next;
    there.range.offset = t->range.offset;
    return qk_same_tensor_(t, &there) && next->range.offset > t->range.offset && unit != 0 &&
           (next->range.offset - t->range.offset) % unit == 0 &&
           next->range.offset - t->range.offset >= qk_tensor_reach_(t, inner);
}

/* Lets a tensor have the next one, too, in a dimension that it does not use. */
static inline void qk_tensor_join_(qk_tensor *t, const qk_tensor *next, uint32_t dimension) {
    t->counts[dimension] = 2;
    t->steps[dimension] = next->range.offset - t->range.offset;
    t->range.size = qk_max_(t->range.size, t->steps[dimension] + next->range.size);
}

/* Whether both are in one buffer, a multiple of `unit` bytes apart. */
static inline int qk_lie_apart_by_(const qk_range *a, const qk_range *b, uint64_t unit) {
    const uint64_t low = qk_min_(a->offset, b->offset), high = qk_max_(a->offset, b->offset);
    return a->buffer == b->buffer && unit != 0 && (high - low) % unit == 0;
}

/* From the first byte of both to the last. */
static inline qk_range qk_range_of_both_(const qk_range *a, const qk_range *b) {
    const uint64_t end = qk_max_(a->offset + a->size, b->offset + b->size);
    qk_range both = *a;
    both.offset = qk_min_(a->offset, b->offset);
    both.size = end - both.offset;
    return both;
}

/* Rows of which both numbers are multiples, as many as can be. */
static inline uint64_t qk_common_rows_(uint64_t a, uint64_t b) {
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Products of joined matrices, at most: each has workgroups of its own. */
#define QK_MOST_JOINED 16u

/* Joins a matrix to those that a product has: all become products of `each` rows. Where results would overlap, 0. */
static inline int qk_join_matrix_(qk_product *p, const qk_product *next) {
    const uint64_t rows = p->weights.counts[1], each = qk_common_rows_(rows, next->weights.counts[1]);
    const uint64_t unit = p->weights.steps[1], matrices = p->weights.counts[2];
    const uint64_t all = (matrices * rows + next->weights.counts[1]) / qk_max_(each, 1);
    const qk_range weights = qk_range_of_both_(&p->weights.range, &next->weights.range);
    const qk_range y = qk_range_of_both_(&p->y.range, &next->y.range);
    qk_part parts[QK_MOST_PARTS];
    uint32_t n = 0;
    memcpy(parts, p->parts, sizeof parts);
    if (parts[0].products == 0)
        parts[0].products = matrices;
    for (; n < QK_MOST_PARTS && parts[n].products != 0; n++) {
        parts[n].products *= rows / qk_max_(each, 1);
        parts[n].weights += (p->weights.range.offset - weights.offset) / unit;
        parts[n].y += (p->y.range.offset - y.offset) / p->y.bytes;
        const uint64_t other = (next->y.range.offset - y.offset) / p->y.bytes;
        const uint64_t reach = parts[n].y < other ? parts[n].products * each : next->weights.counts[1];
        if (qk_max_(parts[n].y, other) - qk_min_(parts[n].y, other) < reach)
            return 0;
    }
    if (n == QK_MOST_PARTS || each == 0 || all > QK_MOST_JOINED)
        return 0;
    parts[n].products = next->weights.counts[1] / each;
    parts[n].weights = (next->weights.range.offset - weights.offset) / unit;
    parts[n].y = (next->y.range.offset - y.offset) / p->y.bytes;
    memcpy(p->parts, parts, sizeof parts);
    p->weights.range = weights;
    p->y.range = y;
    p->weights.counts[1] = p->y.counts[0] = each;
    p->weights.counts[2] = p->y.counts[2] = p->x.counts[2] = all;
    p->weights.steps[2] = each * unit;
    p->y.steps[2] = each * p->y.bytes;
    p->x.steps[2] = 0;
    return 1;
}

/* Whether both have the same x and ids, types and columns, and nothing else is done with x or their results. */
static inline int qk_multiply_same_(const qk_product *p, const qk_product *next) {
    qk_tensor same = p->x; /* which joined matrices have in dimension 2, too */
    if (p->parts[0].products != 0)
        same.counts[2] = 1;
    return p->types == next->types && qk_tensor_is_loaded(&same) && qk_same_tensor_(&same, &next->x) &&
           qk_same_tensor_(&p->ids, &next->ids) && p->weights.counts[0] == next->weights.counts[0] &&
           qk_epilogue_bits_(p->epilogue) + qk_epilogue_bits_(next->epilogue) == 0 && !(p->epsilon + next->epsilon > 0);
}

/* Whether there is one matrix and one vector, or, with ids, one set of experts and at most eight tokens. */
static inline int qk_is_single_(const qk_product *p) {
    const uint64_t *w = p->weights.counts, *x = p->x.counts;
    return p->ids.bytes != 0 ? p->y.counts[2] <= QK_GEMV_MAX_BATCH && w[3] == 1
                             : x[1] * x[2] * x[3] * w[2] * w[3] == 1;
}

/* Lets a product have the matrix, or the set of experts, of `next`, if that lies behind its own and has as many rows, and results do. */
static inline int qk_product_stacks_(qk_product *p, const qk_product *next) {
    const uint64_t row = p->weights.steps[1];
    const uint32_t dimension = p->ids.bytes != 0 ? 3 : 2;
    if (!qk_is_single_(p) || !qk_multiply_same_(p, next) || !qk_lies_behind_(&p->weights, &next->weights, row, row) ||
        !qk_lies_behind_(&p->y, &next->y, p->y.counts[0] * p->y.bytes, p->y.bytes))
        return 0;
    qk_tensor_join_(&p->weights, &next->weights, dimension);
    qk_tensor_join_(&p->y, &next->y, dimension);
    return 1;
}

/* Lets a product have the matrix of `next`, too, which has the same x and type, as gate and up, or q, k and v; at most three are joined, in
 * any order, of any rows. Or the set of experts of `next`, which has the same x, ids and shape, and lies behind it. A launch for each would
 * leave processors without work each time. Whether it can: there is one vector, or at most eight tokens; weights lie in one buffer, whole
 * rows apart, and so do results; and neither has an epilogue. */
static inline int qk_product_joins(qk_product *p, const qk_product *next) {
    const uint64_t row = p->weights.steps[1];
    if (p->ids.bytes != 0)
        return qk_product_stacks_(p, next);
    return (qk_is_single_(p) || p->parts[0].products != 0) && qk_is_single_(next) && qk_multiply_same_(p, next) &&
           p->weights.bytes == next->weights.bytes &&
           qk_lie_apart_by_(&p->weights.range, &next->weights.range, row) &&
           qk_lie_apart_by_(&p->y.range, &next->y.range, p->y.bytes) && qk_join_matrix_(p, next);
}

/* Lets a product be that of two matrices, or sets of experts, whose results are one: `y` = silu(its own) * that of `up`. For whom
 * qk_product_joins is, but for where results lay; weights of `up` may also lie before its own. Whether it can; a kernel or a device may
 * still refuse it (qk_plan_product, qk_dispatch_product). */
static inline int qk_product_gates(qk_product *p, const qk_product *up, const qk_tensor *y) {
    const uint64_t row = p->weights.steps[1];
    const int behind = up->weights.range.offset > p->weights.range.offset;
    const qk_tensor *second = behind ? &up->weights : &p->weights;
    qk_tensor both = behind ? p->weights : up->weights, there = *y;
    there.range = p->y.range;
    if (!qk_same_tensor_(&p->y, &there) || !qk_is_single_(p) || !qk_multiply_same_(p, up) ||
        !qk_lies_behind_(&both, second, row, row))
        return 0;
    qk_tensor_join_(&both, second, p->ids.bytes != 0 ? 3 : 2);
    p->weights = both;
    p->y = *y;
    p->gated = behind ? 1 : 2;
    return 1;
}

/* Lets a product norm its x, which is f32: x[k] / sqrt(mean of x^2 + epsilon) * weights[k], one weight for each column. Behind what joins
 * or gates it. Whether it can; a kernel or a device may still refuse it (qk_plan_product, qk_dispatch_product). */
static inline int qk_product_norms(qk_product *p, const qk_tensor *weights, float epsilon) {
    const uint64_t *w = weights->counts;
    if (p->ids.bytes != 0 || p->epsilon > 0 || !(epsilon > 0) || qk_bits_of_(epsilon) >= 0x7F800000u ||
        p->x.bytes != 4 || p->x.steps[0] != 4 || weights->bytes != 4 || weights->steps[0] != 4 ||
        w[0] != p->weights.counts[0] || w[1] * w[2] * w[3] != 1 || (p->epilogue != NULL && p->epilogue->scale != NULL))
        return 0;
    p->norm = weights->range;
    p->epsilon = epsilon;
    return 1;
}

/* Gives a product its memory: at least copy_bytes for x, and behind it scratch_bytes. */
static inline void qk_product_place(qk_product *p, qk_range memory) {
    p->scratch = memory;
    if (p->copy_bytes == 0)
        return;
    p->x.range = memory;
    p->x.range.size = p->copy_bytes;
    p->scratch.offset += p->copy_bytes;
    p->scratch.size -= p->copy_bytes;
}

/* A backend without the launches that make operands of x and sort pairs by expert, and without the barriers behind them, unless sums over
 * parts of rows take the place of those before. */
typedef struct qk_packed_ {
    const qk_backend *outer;
    int waits; /* for a barrier */
} qk_packed_;

static inline qk_status qk_barrier_packed_(void *context, qk_error *error) {
    (void)error;
    ((qk_packed_ *)context)->waits = 1;
    return QK_OK;
}

static inline qk_status qk_launch_packed_(void *context, const qk_launch *launch, qk_error *error) {
    qk_packed_ *packed = (qk_packed_ *)context;
    const qk_backend *outer = packed->outer;
    const uint32_t schedule = qk_constant_(launch->kernel, launch->constants, QK_CONSTANT_SCHEDULE, 0);
    qk_status status = QK_OK;
    if (schedule == QK_SCHEDULE_PACK || schedule == QK_SCHEDULE_COUNT_PAIRS || schedule == QK_SCHEDULE_OFFSETS ||
        schedule == QK_SCHEDULE_SCATTER)
        return QK_OK;
    if (packed->waits && qk_constant_(launch->kernel, launch->constants, QK_CONSTANT_K_PARTS, 1) > 1)
        status = outer->barrier(outer->context, error);
    packed->waits = 0;
    return status == QK_OK ? outer->launch(outer->context, launch, error) : status;
}

/* Launches what was planned; all ranges are set. */
static inline qk_status qk_dispatch_product(const qk_backend *backend, const qk_product *p, qk_error *error) {
    const uint64_t *w = p->weights.counts, tokens = p->y.counts[2], each = p->x.counts[1];
    const uint64_t slots = p->adds_slots != 0 ? p->ids.counts[0] : p->y.counts[1];
    const int tiles = p->kernel->operand_tile != 0;
    const qk_backend outer = *backend;
    qk_packed_ context = {&outer, 0};
    qk_backend packed = outer;
    if (tiles && p->packed && backend->barrier != NULL) {
        packed.context = &context;
        packed.launch = qk_launch_packed_;
        packed.barrier = qk_barrier_packed_;
        backend = &packed;
    }
    if (p->ids.bytes == 0 && !tiles && p->scratch_bytes != 0)
        return qk_dispatch_gemv_packed(backend, p->kernel, &p->weights.range, p->x.range, p->scratch, p->packed,
                                       p->y.range, w[1], w[0], slots, &p->views, p->epilogue, error);
    if (p->ids.bytes == 0)
        return tiles ? qk_dispatch_gemm_views(backend, p->kernel, &p->weights.range, p->x.range, p->scratch, p->y.range,
                                              w[1], w[0], slots, &p->views, p->epilogue, error)
                     : qk_dispatch_gemv_views(backend, p->kernel, &p->weights.range, p->x.range, p->y.range, w[1], w[0],
                                              slots, &p->views, p->epilogue, error);
    return tiles ? qk_dispatch_gemm_id_views(backend, p->kernel, &p->weights.range, p->x.range, p->ids.range,
                                             p->scratch, p->y.range, p->status, w[2], w[1], w[0], tokens, slots, each,
                                             &p->expert_views, p->epilogue, error)
                 : qk_dispatch_gemv_id_views(backend, p->kernel, &p->weights.range, p->x.range, p->ids.range,
                                             p->y.range, p->status, w[2], w[1], w[0], tokens, slots, each,
                                             &p->expert_views, p->epilogue, error);
}

/* ---- Rows ------------------------------------------------------------------------------------------------------- */

/* The view of a call of gather or set_rows: values[3][2][t] is the row of table[3][2] that ids[3'][2'][t] says, where the same ids may
 * serve several batches. `ids` have 32 or 64 bits, and their dimension 0 is dimension 1 of values; `bytes` 0: all rows are copied. */
static inline qk_status qk_tensor_rows(const qk_kernel *kernel, const qk_tensor *table, const qk_tensor *values,
                                       const qk_tensor *ids, qk_rows_view *view, qk_error *error) {
    const uint32_t element = qk_type_bytes(kernel->bindings[2].element);
    const uint64_t *t = table->counts, *v = values->counts;
    uint64_t steps[3] = {0, 0, 0};
    memset(view, 0, sizeof *view);
    view->tokens = v[1];
    view->batches = v[2];
    view->index_batches[0] = view->index_batches[1] = 1;
    qk_status status = qk_table_steps_(kernel, "table", table, view->row_step, error);
    if (status == QK_OK)
        status = qk_tensor_steps_(kernel, "values", values, element, element, view->value_step, error);
    if (status == QK_OK && ids->bytes != 0)
        status = qk_tensor_steps_(kernel, "ids", ids, ids->bytes == 8 ? 8 : 4, ids->bytes == 8 ? 8 : 4, steps, error);
    if (status == QK_OK &&
        (v[0] != t[0] || v[2] != t[2] || v[3] != t[3] || v[1] != (ids->bytes != 0 ? ids->counts[0] : t[1])))
        status = qk_fail(error, QK_ERROR_ARGUMENT, "%s: table, values and ids have shapes that do not fit together",
                         kernel->name);
    if (t[1] == 1)
        view->row_step[0] = 1;
    if (status != QK_OK || ids->bytes == 0)
        return status;
    view->index_bytes = ids->bytes;
    view->index_step[0] = 1;
    view->index_step[1] = steps[0];
    view->index_step[2] = steps[1];
    view->index_batches[0] = ids->counts[1];
    view->index_batches[1] = ids->counts[2];
    return QK_OK;
}

/* Launches a kernel of gather, which writes values, or of set_rows, which reads them. */
static inline qk_status qk_dispatch_rows(const qk_backend *backend, const qk_kernel *kernel, const qk_tensor *table,
                                         const qk_tensor *values, const qk_tensor *ids, qk_range status_word,
                                         qk_error *error) {
    qk_rows_view view;
    qk_status status = qk_tensor_rows(kernel, table, values, ids, &view, error);
    if (status != QK_OK)
        return status;
    const uint64_t tokens = qk_product_(qk_product_(values->counts[1], values->counts[2]), values->counts[3]);
    return (kernel->bindings[2].access != QK_READ ? qk_dispatch_gather_view : qk_dispatch_set_rows_view)(
        backend, kernel, &table->range, ids->bytes != 0 ? ids->range : status_word, values->range, status_word,
        table->counts[1], table->counts[0], tokens, &view, error);
}

#endif
