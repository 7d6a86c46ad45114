/* qkgen/dispatch_views.h: how x, y and weights lie in memory where they are parts of larger tensors, or several matrices that are
 * multiplied in one call; and of which type y is. In kernels it is views.glsl and finish.glsl. Part of qkgen/dispatch.h. */
#ifndef QKGEN_DISPATCH_VIEWS_H
#define QKGEN_DISPATCH_VIEWS_H

#include "dispatch_check.h"

/* How results are stored. Those of 16 bits are rounded once from f32, to the nearest, ties to even. */
typedef enum qk_y_type { QK_Y_F32, QK_Y_F16, QK_Y_BF16 } qk_y_type;

/* A stride of x: all products of that dimension have the same vectors, as matrices do whose x is the same. */
#define QK_SAME_X UINT64_MAX

/* Some products of dimension 0, whose weights and results begin so many rows and elements behind the first. */
typedef struct qk_part {
    uint64_t products, weights, y;
} qk_part;

#define QK_MOST_PARTS 3u

/* All zeros: one matrix, and all vectors one after the other. Strides count elements of the argument, those of weights rows; a stride
 * that is 0 is that of things one after the other. Dimension 0 is the inner one.
 *
 * A matrix of weights may serve several products: product i of a dimension has matrix i / (batches / weights_batches). Vectors of x may
 * overlap, those of y may not.
 *
 * Gated products are two, of one vector and the same x, such as "gate" and "up" of a feed-forward network: y has one result of both. They
 * are for kernels whose constant VIEWS may be 2, without an epilogue.
 *
 * Where views are given, x.offset and y.offset need not be aligned as the device asks: x begins at a multiple of 16 bytes (8 of f16), y
 * at any element. x_stride and x_strides are multiples of 4, but of kernels that are ragged. */
typedef struct qk_views {
    uint64_t batches[2];         /* products; 0: 1 */
    uint64_t weights_batches[2]; /* matrices of weights, which divide them; 0: 1 */
    uint64_t x_stride;           /* from a vector to the next; 0: cols */
    uint64_t x_strides[2];       /* from the vectors of a product to those of the next; or QK_SAME_X */
    uint64_t y_stride;           /* 0: rows */
    uint64_t y_strides[2];
    uint64_t weights_strides[2]; /* rows, from a matrix to the next; 0: as many as it has, and all of dimension 0 */
    qk_y_type y_type;
    /* Where products lie in parts, such as a matrix and one with fewer rows; behind the last is one without products. Within a part strides
     * say where they lie. Parts lie in any order, results of none in those of another. There is one dimension, each product has a matrix
     * of its own, and no epilogue is for them but `adds`. */
    qk_part parts[QK_MOST_PARTS];
    uint32_t gated; /* 1: y is silu(the first) * the second; 2: the first * silu(the second); 0: products have a y each */
    /* Not 0: each vector of x is normed first, x[k] / sqrt(mean of x^2 + epsilon) * norm[k], where norm has cols f32. For kernels of gemv
     * with the constant NORM, whole blocks, and no scale in the epilogue; all else of it comes behind. */
    float epsilon;
    qk_range norm;
} qk_views;

/* What becomes of it. A count that is 1 has stride 0. */
typedef struct qk_planes_ {
    int on;     /* QK_CONSTANT_VIEWS */
    int views;  /* the call has them: offsets need not be aligned */
    int apart;  /* a launch takes one product: all together do not fit into bindings */
    int uneven; /* x begins within runs: plain rows */
    float epsilon;  /* of x that is normed; 0: it is not */
    uint32_t gated; /* `counts` are 1, weights_at[1] leads to the other matrix, and y_at[1] is the number of the gate */
    qk_y_type y_type;
    uint64_t batch; /* vectors of a product */
    uint64_t counts[2], sharing[2];
    uint64_t x, x_at[2], y, y_at[2], weights_at[2];
    uint64_t x_extent, y_extent, weights_extent; /* elements, and rows, of all of them */
    int in_parts;
    /* Of parts: where the first begins; from which products on the others are, and how much further these lie, modulo 2^64. */
    uint64_t weights_first, y_first, part_at[2], part_weights[2], part_y[2];
} qk_planes_;

static inline uint64_t qk_sum_(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t qk_extent_(uint64_t count, uint64_t stride, uint64_t each) {
    return qk_sum_(qk_product_(count - 1, stride), each);
}

/* Bytes of one result. */
static inline uint32_t qk_y_bytes_(qk_y_type type) {
    return type == QK_Y_F32 ? 4 : 2;
}

static inline qk_status qk_check_y_type_(const qk_kernel *kernel, qk_y_type type, qk_error *error) {
    if ((uint32_t)type <= QK_Y_BF16)
        return QK_OK;
    return qk_fail(error, QK_ERROR_ARGUMENT, "%s: views->y_type is %d, must be QK_Y_F32, QK_Y_F16 or QK_Y_BF16",
                   kernel->name, (int)type);
}

static inline uint64_t qk_product_count_(const qk_planes_ *p) {
    return qk_product_(p->counts[0], p->counts[1]);
}

/* Where things of product `number` begin, by the strides of its dimensions. */
static inline uint64_t qk_begin_of_(const qk_planes_ *p, const uint64_t *strides, uint64_t number) {
    return number % p->counts[0] * strides[0] + number / p->counts[0] * strides[1];
}

/* How much further they begin in the part that the product is of. */
static inline uint64_t qk_further_(const qk_planes_ *p, const uint64_t *parts, uint64_t number) {
    uint64_t sum = 0;
    for (int i = 0; i < 2; i++)
        sum += number % p->counts[0] >= p->part_at[i] ? parts[i] : 0;
    return sum;
}

static inline uint64_t qk_weights_of_(const qk_planes_ *p, uint64_t number) {
    return number % p->counts[0] / p->sharing[0] * p->weights_at[0] +
           number / p->counts[0] / p->sharing[1] * p->weights_at[1] + p->weights_first +
           qk_further_(p, p->part_weights, number);
}

static inline uint64_t qk_y_of_(const qk_planes_ *p, uint64_t number) {
    return qk_begin_of_(p, p->y_at, number) + p->y_first + qk_further_(p, p->part_y, number);
}

/* One dimension of results: how many there are of it, and how far apart. */
typedef struct qk_dimension_ {
    const char *name;
    uint64_t count, stride;
} qk_dimension_;

/* No two results are the same one: with their strides in order, each is as large as all that the smaller ones reach. */
static inline qk_status qk_check_y_(const qk_kernel *kernel, const qk_dimension_ *dimensions, int n, uint64_t rows,
                                    qk_error *error) {
    uint64_t reach = rows;
    uint32_t done = 0;
    for (int step = 0; step < n; step++) {
        int next = -1;
        for (int i = 0; i < n; i++)
            if ((done >> i & 1u) == 0 && (next < 0 || dimensions[i].stride < dimensions[next].stride))
                next = i;
        const qk_dimension_ *d = &dimensions[next];
        done |= 1u << next;
        if (d->count > 1 && d->stride < reach)
            return qk_fail(error, QK_ERROR_ARGUMENT,
                           "%s: views->%s is %" PRIu64 ", must be at least %" PRIu64 ", so that results do not overlap",
                           kernel->name, d->name, d->stride, reach);
        if (d->count > 1)
            reach = qk_extent_(d->count, d->stride, reach);
    }
    return QK_OK;
}

/* Whether kernels of that kind take x from any element on. */
static inline int qk_takes_any_x_(const qk_kernel *kernel) {
    return kernel->ragged && kernel->operand_tile == 0 && (kernel->features & QK_FEATURE_COOPERATIVE_MATRIX) == 0;
}

/* Runs of four are loaded from where vectors begin. Sets *uneven where they begin elsewhere, and kernels can do without. */
static inline qk_status qk_check_x_stride_(const qk_kernel *kernel, const char *name, uint64_t stride, int *uneven,
                                           qk_error *error) {
    if (stride % 4 == 0)
        return QK_OK;
    *uneven = 1;
    if (qk_takes_any_x_(kernel))
        return QK_OK;
    return qk_fail(error, QK_ERROR_ARGUMENT, "%s: views->%s is %" PRIu64 ", must be a multiple of 4, as x is loaded",
                   kernel->name, name, stride);
}

static inline qk_status qk_check_x_(const qk_kernel *kernel, qk_planes_ *p, qk_error *error) {
    qk_status status = QK_OK;
    if (p->batch > 1)
        status = qk_check_x_stride_(kernel, "x_stride", p->x, &p->uneven, error);
    if (status == QK_OK)
        status = qk_check_x_stride_(kernel, "x_strides[0]", p->x_at[0], &p->uneven, error);
    if (status == QK_OK)
        status = qk_check_x_stride_(kernel, "x_strides[1]", p->x_at[1], &p->uneven, error);
    return status;
}

/* Products that have the same weights, and whose vectors are a stride apart, are one of more vectors. */
static inline void qk_join_(qk_planes_ *p, int dimension) {
    uint64_t sharing = p->sharing[dimension];
    int fits = p->batch == 1 ||
               (p->x_at[dimension] == qk_product_(p->batch, p->x) && p->y_at[dimension] == qk_product_(p->batch, p->y));
    if (sharing == 1 || !fits)
        return;
    if (p->batch == 1) {
        p->x = p->x_at[dimension];
        p->y = p->y_at[dimension];
    }
    p->batch *= sharing;
    p->counts[dimension] /= sharing;
    p->sharing[dimension] = 1;
    p->x_at[dimension] = p->counts[dimension] > 1 ? p->x_at[dimension] * sharing : 0;
    p->y_at[dimension] = p->counts[dimension] > 1 ? p->y_at[dimension] * sharing : 0;
}

static inline qk_status qk_count_products_(const qk_kernel *kernel, const qk_views *views, qk_planes_ *p,
                                           qk_error *error) {
    for (int d = 0; d < 2; d++) {
        uint64_t weights = views->weights_batches[d] != 0 ? views->weights_batches[d] : 1;
        p->counts[d] = views->batches[d] != 0 ? views->batches[d] : 1;
        if (p->counts[d] % weights != 0)
            return qk_fail(error, QK_ERROR_ARGUMENT,
                           "%s: views->weights_batches[%d] is %" PRIu64 ", must divide views->batches[%d], %" PRIu64,
                           kernel->name, d, weights, d, p->counts[d]);
        if (weights > 1 && kernel->view != QK_VIEW_BLOCKS)
            return qk_fail(error, QK_ERROR_UNSUPPORTED,
                           "%s: views->weights_batches[%d] is %" PRIu64
                           ", must be 1 where blocks are patches of a matrix",
                           kernel->name, d, weights);
        p->sharing[d] = p->counts[d] / weights;
    }
    if (qk_product_count_(p) > 1 && qk_product_(qk_product_count_(p), p->batch) > UINT32_MAX)
        return qk_fail(error, QK_ERROR_LIMIT,
                       "%s: views->batches are %" PRIu64 " and %" PRIu64 " of %" PRIu64
                       " vectors, all vectors must be below 2^32",
                       kernel->name, p->counts[0], p->counts[1], p->batch);
    return QK_OK;
}

static inline qk_status qk_check_parts_(const qk_kernel *kernel, const qk_part *parts, const qk_planes_ *p,
                                        uint64_t rows, qk_error *error) {
    uint64_t products = 0;
    if (p->gated != 0 || kernel->view != QK_VIEW_BLOCKS)
        return qk_fail(error, QK_ERROR_UNSUPPORTED,
                       "%s: views->parts must be none where products are gated, or blocks are patches of a matrix",
                       kernel->name);
    for (uint32_t i = 0; i < QK_MOST_PARTS && parts[i].products != 0; i++) {
        const qk_part *a = &parts[i];
        products = qk_sum_(products, a->products);
        for (uint32_t j = 0; j < i; j++) {
            const qk_part *b = &parts[j];
            const qk_part *low = a->y < b->y ? a : b;
            const uint64_t apart = a->y < b->y ? b->y - a->y : a->y - b->y;
            const uint64_t reach = qk_extent_(low->products, p->y_at[0], qk_extent_(p->batch, p->y, rows));
            if (apart < reach)
                return qk_fail(error, QK_ERROR_ARGUMENT,
                               "%s: views->parts[%" PRIu32 "].y and views->parts[%" PRIu32 "].y are %" PRIu64
                               " apart, must be at least %" PRIu64 ", so that results do not overlap",
                               kernel->name, j, i, apart, reach);
        }
    }
    if (products == p->counts[0] && p->counts[1] == 1 && p->sharing[0] == 1)
        return QK_OK;
    return qk_fail(error, QK_ERROR_ARGUMENT,
                   "%s: views->parts have %" PRIu64 " products, must have all of one dimension, %" PRIu64
                   ", with a matrix each",
                   kernel->name, products, p->counts[0]);
}

/* Where products lie in parts. All else is planned but whether views are on. */
static inline qk_status qk_plan_parts_(const qk_kernel *kernel, const qk_part *parts, uint64_t rows, qk_planes_ *p,
                                       qk_error *error) {
    const uint64_t each = qk_extent_(p->batch, p->y, rows);
    const qk_status status = qk_check_parts_(kernel, parts, p, rows, error);
    uint64_t number = 0;
    p->weights_extent = p->y_extent = 0;
    for (uint32_t i = 0; i < QK_MOST_PARTS && parts[i].products != 0; i++) {
        const uint64_t weights = qk_extent_(parts[i].products, p->weights_at[0], rows);
        p->weights_extent = qk_max_(p->weights_extent, qk_sum_(parts[i].weights, weights));
        p->y_extent =
            qk_max_(p->y_extent, qk_sum_(parts[i].y, qk_extent_(parts[i].products, p->y_at[0], each)));
        if (i > 0) {
            p->part_at[i - 1] = number;
            p->part_weights[i - 1] = parts[i].weights - qk_weights_of_(p, number);
            p->part_y[i - 1] = parts[i].y - qk_y_of_(p, number);
        } else {
            p->weights_first = parts[0].weights;
            p->y_first = parts[0].y;
        }
        number += parts[i].products;
    }
    return status;
}

static inline uint64_t qk_stride_of_(uint64_t count, uint64_t given, uint64_t otherwise) {
    return count == 1 ? 0 : given != 0 ? given : otherwise;
}

/* What dimensions of x reach that have so many products, `x` what the inner ones do. */
static inline uint64_t qk_x_reach_(uint64_t count, uint64_t stride, uint64_t x) {
    return count > 1 && stride != 0 ? qk_product_(count, stride) : x;
}

static inline uint32_t qk_bits_of_(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline int qk_takes_norm_(const qk_kernel *kernel) {
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++)
        if (kernel->spec_constants[i].id == QK_CONSTANT_NORM)
            return 1;
    return 0;
}

/* Whether x can be normed for that kernel. */
static inline qk_status qk_check_norm_(const qk_kernel *kernel, float epsilon, qk_error *error) {
    if (qk_bits_of_(epsilon) >= 0x7F800000u) /* or below 0 */
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: views->epsilon is %g, must be finite and positive, or 0",
                       kernel->name, (double)epsilon);
    return qk_bits_of_(epsilon) == 0 || qk_takes_norm_(kernel)
               ? QK_OK
               : qk_fail(error, QK_ERROR_UNSUPPORTED,
                         "%s: views->epsilon is %g, must be 0: the kernel does not norm x", kernel->name,
                         (double)epsilon);
}

/* How many values the constant VIEWS of a kernel may have: 3, where products can be gated; 4, where slots can be added, too. */
static inline uint32_t qk_kinds_of_views_(const qk_kernel *kernel) {
    for (uint32_t i = 0; i < kernel->spec_constant_count && i < QK_MAX_CONSTANTS; i++)
        if (kernel->spec_constants[i].id == QK_CONSTANT_VIEWS)
            return kernel->spec_constants[i].legal_count;
    return 0;
}

/* Whether products of that kernel can be gated. */
static inline qk_status qk_check_gated_(const qk_kernel *kernel, uint32_t gated, qk_error *error) {
    if (gated > 2)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: views->gated is %" PRIu32 ", must be 0, 1 or 2", kernel->name,
                       gated);
    if (gated == 0 || qk_kinds_of_views_(kernel) > 2)
        return QK_OK;
    return qk_fail(error, QK_ERROR_UNSUPPORTED,
                   "%s: views->gated is %" PRIu32
                   ", must be 0: the kernel does not take rows of two matrices in turn",
                   kernel->name, gated);
}

/* Makes one product of two that are gated; what they reach is known. */
static inline qk_status qk_gate_(const qk_kernel *kernel, qk_planes_ *p, qk_error *error) {
    const uint32_t d = p->counts[1] > 1;
    qk_status status = qk_check_gated_(kernel, p->gated, error);
    if (status != QK_OK)
        return status;
    if (qk_product_count_(p) != 2 || p->sharing[d] != 1 || p->x_at[d] != 0 || p->batch != 1)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: views->gated is %" PRIu32
                       ", must be 0, or there must be two products, of two matrices, with one vector and QK_SAME_X",
                       kernel->name, p->gated);
    p->weights_at[1] = p->weights_at[d];
    p->weights_at[0] = 0;
    p->counts[0] = p->counts[1] = 1;
    p->y_at[0] = 0;
    p->y_at[1] = p->gated - 1;
    return QK_OK;
}

/* The plan of a call, without views that of one product. `rows`, `cols` and `batch` are not 0, and batch is below 2^32. */
static inline qk_status qk_plan_views_(const qk_kernel *kernel, const qk_views *views, uint64_t rows, uint64_t cols,
                                       uint64_t batch, qk_planes_ *p, qk_error *error) {
    static const qk_views none = {{0, 0}, {0, 0}, 0, {0, 0}, 0, {0, 0}, {0, 0}, QK_Y_F32, {{0, 0, 0}}, 0, 0, {NULL, 0, 0}};
    const qk_views *v = views != NULL ? views : &none;
    memset(p, 0, sizeof *p);
    p->views = views != NULL;
    p->batch = batch;
    p->y_type = v->y_type;
    p->gated = v->gated;
    p->epsilon = v->epsilon;
    qk_status status = qk_check_y_type_(kernel, v->y_type, error);
    if (status == QK_OK)
        status = qk_check_norm_(kernel, v->epsilon, error);
    if (status == QK_OK)
        status = qk_count_products_(kernel, v, p, error);
    if (status != QK_OK)
        return status;
    p->x = v->x_stride != 0 ? v->x_stride : cols;
    p->y = v->y_stride != 0 ? v->y_stride : rows;
    uint64_t x = qk_product_(batch, p->x), y = qk_product_(batch, p->y), weights = rows;
    for (int d = 0; d < 2; d++) {
        uint64_t matrices = p->counts[d] / p->sharing[d];
        p->x_at[d] = v->x_strides[d] == QK_SAME_X ? 0 : qk_stride_of_(p->counts[d], v->x_strides[d], x);
        p->y_at[d] = p->gated != 0 ? 0 : qk_stride_of_(p->counts[d], v->y_strides[d], y);
        p->weights_at[d] = qk_stride_of_(matrices, v->weights_strides[d], weights);
        x = qk_x_reach_(p->counts[d], p->x_at[d], x);
        y = p->counts[d] > 1 ? qk_product_(p->counts[d], p->y_at[d]) : y;
        weights = matrices > 1 ? qk_product_(matrices, p->weights_at[d]) : weights;
    }
    p->x_extent = qk_extent_(batch, p->x, cols);
    p->y_extent = qk_extent_(batch, p->y, rows);
    p->weights_extent = rows;
    for (int d = 0; d < 2; d++) {
        p->x_extent = qk_extent_(p->counts[d], p->x_at[d], p->x_extent);
        p->y_extent = qk_extent_(p->counts[d], p->y_at[d], p->y_extent);
        p->weights_extent = qk_extent_(p->counts[d] / p->sharing[d], p->weights_at[d], p->weights_extent);
    }
    const qk_dimension_ results[] = {{"y_stride", batch, p->y},
                                     {"y_strides[0]", p->counts[0], p->y_at[0]},
                                     {"y_strides[1]", p->counts[1], p->y_at[1]}};
    p->in_parts = v->parts[0].products != 0;
    status = p->gated != 0 ? qk_gate_(kernel, p, error) : qk_check_y_(kernel, results, 3, rows, error);
    if (status == QK_OK && p->in_parts)
        status = qk_plan_parts_(kernel, v->parts, rows, p, error);
    if (status != QK_OK)
        return status;
    qk_join_(p, 0);
    if (p->counts[0] == 1)
        qk_join_(p, 1);
    p->on = p->in_parts || p->gated != 0 || qk_product_count_(p) > 1 || (p->batch > 1 && (p->x != cols || p->y != rows));
    return p->on ? qk_check_x_(kernel, p, error) : QK_OK;
}

/* What a binding begins at a multiple of: words, at least. */
static inline uint32_t qk_window_alignment_(const qk_limits *limits) {
    return limits->offset_alignment > 4 ? limits->offset_alignment : 4;
}

/* Bytes of what stores a result: its own, or a word's where two of them share one. */
static inline uint32_t qk_y_unit_(const qk_kernel *kernel, qk_y_type type) {
    int words = kernel->api == QK_API_VULKAN && (kernel->features & QK_FEATURE_STORAGE_16BIT) == 0;
    return words ? 4 : qk_y_bytes_(type);
}

/* Offsets, which views leave to kernels where the device cannot bind them. */
static inline void qk_plan_offsets_(const qk_backend *backend, qk_planes_ *p, qk_range x, uint32_t x_bytes,
                                    qk_range y) {
    uint32_t alignment = qk_window_alignment_(&backend->limits);
    if (p->views && (x.offset % alignment != 0 || y.offset % alignment != 0))
        p->on = 1;
    if (p->views && x.offset % alignment % (4 * x_bytes) != 0)
        p->uneven = 1;
}

/* How x must be aligned, for kernels that take it in runs of four. */
static inline uint32_t qk_x_alignment_(const qk_kernel *kernel, const qk_limits *limits, int views, uint32_t x_bytes) {
    uint32_t own = qk_takes_any_x_(kernel) ? x_bytes : 4 * x_bytes, device = limits->offset_alignment;
    return views && own < device ? own : device < x_bytes ? x_bytes : device;
}

/* How other arguments must be, whose elements have so many bytes. */
static inline uint32_t qk_alignment_(const qk_limits *limits, int views, uint32_t bytes) {
    return views || limits->offset_alignment < bytes ? bytes : limits->offset_alignment;
}

/* Elements [from, from + count) of an argument, from where the device can bind it, and up to the end of what stores the last; `skip` of
 * them come first. */
static inline qk_range qk_window_(const qk_limits *limits, qk_range range, uint64_t from, uint64_t count,
                                  uint32_t bytes, uint32_t unit, uint64_t *skip) {
    uint64_t begin = range.offset + from * bytes, extra = begin % qk_window_alignment_(limits);
    range.offset = begin - extra;
    range.size = qk_ceil_(count * bytes + extra, unit) * unit;
    *skip = extra / bytes;
    return range;
}

/* Words of the push constants that views have; indices are of 32 bits and wrap, so that what begins later than its binding may begin
 * before 0. */
enum { QK_VIEWS_PUSH_ = 23, QK_EXPERT_VIEWS_PUSH_ = 14 };

typedef struct qk_first_ {
    uint64_t weights, x, y; /* what is added to rows of weights, and to elements of x and y alone */
} qk_first_;

static inline void qk_push_views_(const qk_planes_ *p, const qk_first_ *first, uint64_t groups, uint64_t product,
                                  uint32_t *push) {
    const uint64_t words[QK_VIEWS_PUSH_] = {groups,           product,       p->counts[0],   p->batch,
                                            p->sharing[0],    p->sharing[1], first->weights, p->weights_at[0],
                                            p->weights_at[1], first->x,      p->x,           p->x_at[0],
                                            p->x_at[1],       first->y,      p->y,           p->y_at[0],
                                            p->y_at[1],       p->part_at[0], p->part_at[1],  p->part_weights[0],
                                            p->part_weights[1], p->part_y[0], p->part_y[1]};
    for (uint32_t i = 0; i < QK_VIEWS_PUSH_; i++)
        push[i] = p->on ? (uint32_t)words[i] : 0;
}

static inline void qk_set_views_(const qk_kernel *kernel, int on, int gated, qk_y_type y_type, uint32_t *constants) {
    qk_set_constant_(kernel, QK_CONSTANT_VIEWS, gated ? 2 : on != 0, constants);
    qk_set_constant_(kernel, QK_CONSTANT_Y_TYPE, (uint32_t)y_type, constants);
}

/* Of a launch with so many products: the part of the device that each has. */
static inline qk_limits qk_limits_of_(const qk_limits *limits, uint64_t products) {
    qk_limits part = *limits;
    uint64_t busy = limits->busy_workgroups / (products != 0 ? products : 1);
    if (busy < 64) /* as many as a device has that is no processor */
        busy = qk_min_(64, limits->busy_workgroups);
    part.busy_workgroups = (uint32_t)busy;
    return part;
}

/* A call of gemv or gemm. */
typedef struct qk_gemv_ {
    uint64_t rows, cols, batch;
    uint64_t row_tiles;
    uint64_t row_chunk; /* rows of one launch */
    qk_matrix_ matrix;  /* not of QK_VIEW_BLOCKS */
    uint32_t epilogue;  /* QK_ADDS_TO_Y_, ... */
    qk_planes_ planes;  /* whose vectors are `batch` */
} qk_gemv_;

static inline qk_status qk_check_gemv_(const qk_kernel *kernel, const qk_gemv_ *g, qk_error *error) {
    if (g->batch > UINT32_MAX)
        return qk_fail(error, QK_ERROR_LIMIT, "%s: batch is %" PRIu64 ", must be below 2^32", kernel->name, g->batch);
    if (g->rows > UINT32_MAX || g->cols > UINT32_MAX)
        return qk_fail(error, QK_ERROR_LIMIT, "%s: %s is %" PRIu64 ", must be below 2^32", kernel->name,
                       g->rows > UINT32_MAX ? "rows" : "cols", g->rows > UINT32_MAX ? g->rows : g->cols);
    qk_status status = qk_check_constants_(kernel, error);
    if (status != QK_OK)
        return status;
    if (kernel->view == QK_VIEW_BLOCKS)
        return qk_check_multiple_(kernel, "cols", g->cols, error);
    status = qk_check_shape_(kernel, g->rows, g->cols, error);
    if (status != QK_OK)
        return status;
    if (kernel->view == QK_VIEW_GROUPS && g->cols % kernel->block_cols != 0)
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: cols is %" PRIu64 ", must be a multiple of %" PRIu32 ", so that a row has whole groups",
                       kernel->name, g->cols, kernel->block_cols);
    return QK_OK;
}

/* The `count` buffers of the weights, and x behind them. */
static inline qk_status qk_add_factors_(qk_call_ *call, const qk_range *weights, uint32_t count, qk_range x,
                                        qk_gemv_ *g, qk_error *error) {
    const qk_kernel *kernel = call->kernel;
    qk_status status;
    if (kernel->view == QK_VIEW_BLOCKS) {
        status =
            qk_add_weights_(call, weights, count, g->planes.weights_extent, g->cols / kernel->block_elements, error);
    } else {
        status = qk_plan_matrix_(kernel, g->rows, g->cols, &g->matrix, error);
        if (status == QK_OK)
            status = qk_add_matrices_(call, weights, count, 1, &g->matrix, error);
    }
    uint32_t bytes = qk_type_bytes(kernel->bindings[count].element);
    if (status == QK_OK)
        status = qk_add_aligned_(call, "x", x, g->planes.x_extent, bytes,
                                 qk_x_alignment_(kernel, &call->backend->limits, g->planes.views, bytes), error);
    call->arguments[count].unit = g->cols * bytes;
    return status;
}

#endif
