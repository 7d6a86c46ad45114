/* run_views.h: how x, y, ids and weights of a sum lie in the host's memory, for `qkgen run` and `qkgen soak`. */
#ifndef QKGEN_RUN_VIEWS_H
#define QKGEN_RUN_VIEWS_H

#include "build/family.h"

#include <qkgen/dispatch.h>

/* What a call asks for. `given`: the call has views, and not NULL. */
typedef struct qg_views {
    bool given;
    qk_views dense;
    qk_expert_views experts;
    uint64_t x_offset, y_offset; /* bytes, of where they begin in what is bound */
} qg_views;

/* Reads "NAME=N", or "NAME=N:M" of what two dimensions have, with commas between them: members of qk_views, or with
 * experts of qk_expert_views; x_offset and y_offset; epsilon=1e-6; and y_type=f16. Returns NULL, or a sentence saying
 * what is wrong. */
const char *qg_views_read(qg_arena *arena, const char *text, bool experts, qg_views *views);

/* The type in which a call stores results. */
static inline qg_scalar qg_views_type(const qg_views *views, bool experts) {
    const qk_y_type type = experts ? views->experts.y_type : views->dense.y_type;
    return type == QK_Y_F16 ? QG_F16 : type == QK_Y_BF16 ? QG_BF16 : QG_F32;
}

typedef struct qg_sum_shape {
    uint64_t rows, cols, batch;       /* vectors of a product, or tokens */
    uint64_t experts, slots, x_slots; /* experts: 0 where there are none */
} qg_sum_shape;

/* Where each thing begins. Vectors of results are in the order of products, or of sets, tokens and slots; experts are
 * in that of sets. */
typedef struct qg_places {
    uint64_t x_vectors, vectors, matrices, experts; /* of a set */
    uint64_t *x_of, *y_of;                          /* of each vector, elements */
    uint64_t *ids_of;                               /* of each vector of results, with experts */
    uint64_t *vector_of;                            /* of each vector of results, that of x */
    uint64_t *matrix_of;  /* of each vector of results, the matrix of weights; with experts, the first of its set */
    uint64_t *weights_of; /* of each matrix, its first row */
    uint32_t gated;       /* as views have it; not 0: results of the first half are of that and the other half */
    bool adds_slots;      /* results are sums of so many vectors that follow each other: */
    uint64_t added;
    uint64_t x_elements, y_elements, ids, weight_rows; /* of all of them, from the first to the last */
} qg_places;

/* Returns NULL, or a sentence: there are too many vectors. */
const char *qg_places_of(qg_arena *arena, const qg_views *views, const qg_sum_shape *shape, qg_places *places);

/* How many experts lie from the first to the last of all sets, which are whole ones apart. */
uint64_t qg_experts_of_sets(const qg_views *views, uint64_t experts, uint64_t rows);

/* The matrix that result vector `v` is of, by the ids of a call with experts; UINT64_MAX: there is none. */
static inline uint64_t qg_matrix_of(const qg_places *p, const uint32_t *ids, uint64_t v) {
    if (!ids) return p->matrix_of[v];
    const uint64_t id = ids[p->ids_of[v]];
    return id < p->experts ? p->matrix_of[v] + id : UINT64_MAX;
}

/* The same for all of them, with experts; UINT32_MAX: there is none. */
void qg_matrices_of(const qg_places *p, const uint32_t *ids, uint32_t *matrices);

/* A result as it is stored, and back. */
float qg_result_at(const void *y, qg_scalar type, uint64_t at);
void qg_result_store(void *y, qg_scalar type, uint64_t at, float value);

#endif
