/* qkgen/matrix_order.h: how the threads of a Vulkan device hold cooperative matrices, and whether their products are right.
 *
 * The extension leaves to the driver which element of a matrix is which value of a thread. Kernels that decode weights straight into
 * those values have to know; so an engine asks with a small kernel when it opens a device, and adds the answer to its
 * qk_limits, which have the shape (matrix_rows and others; all 0 is 16 x 16 times 16 x 8, by subgroups of 32):
 *
 *     static qk_matrix_question ask;
 *     qk_matrix_ask(&ask, &limits);
 *     ...                                 one workgroup of ask.kernel: binding 0 is ask.from, binding 1 is ask.to
 *     qk_matrix_read_order(ask.to, &limits);
 *
 * It is for devices that multiply such matrices of f16 in a subgroup, summed in f32 (qk_matrix_take_shape finds them), with
 * shaderFloat16, vulkanMemoryModel with its DeviceScope, and subgroup shuffles. The runtime of qkgen/vulkan.h does all that. Header
 * only; needs libc; C11 and C++11. */
#ifndef QKGEN_MATRIX_ORDER_H
#define QKGEN_MATRIX_ORDER_H

#include <string.h>

#include "kernel.h"

enum {
    QK_MATRIX_FROM_WORDS = 768,
    QK_MATRIX_EACH_ = 16, /* floats of a thread */
    QK_MATRIX_PRODUCT_ = 32 * QK_MATRIX_EACH_,
    QK_MATRIX_TO_FLOATS = QK_MATRIX_PRODUCT_ + 256,
    QK_MATRIX_CONSTANTS = 5
};

/* The shape of `limits`: rows, columns, depth and lanes. */
static inline void qk_matrix_shape_(const qk_limits *limits, uint32_t shape[4]) {
    const int usual = limits->matrix_rows == 0;
    shape[0] = usual ? 16 : limits->matrix_rows;
    shape[1] = usual ? 8 : limits->matrix_cols;
    shape[2] = usual ? 16 : limits->matrix_depth;
    shape[3] = usual ? 32 : limits->matrix_lanes;
}

/* What a device multiplies, with the bytes of VkCooperativeMatrixPropertiesKHR; `type` is QK_MATRIX_OFFER_TYPE. */
#define QK_MATRIX_OFFER_TYPE 1000506001 /* VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR */
typedef struct qk_matrix_offer {
    int32_t type;
    void *next;
    uint32_t m, n, k;
    uint32_t a, b, c, result; /* VkComponentTypeKHR */
    uint32_t saturating;
    uint32_t scope; /* VkScopeKHR */
} qk_matrix_offer;

/* Sets the shape of `limits` to the first of those that kernels can take, in the order of what they had best; where matrix_rows is not
 * 0, to no other one than that. `lanes` of a subgroup. 0: the device has none. */
static inline int qk_matrix_take_shape(const qk_matrix_offer *offers, uint32_t count, uint32_t lanes,
                                       qk_limits *limits) {
    static const uint32_t known[][3] = {{16, 8, 16}, {16, 16, 16}, {8, 16, 16}, {8, 8, 16}, {8, 8, 8}};
    enum { F16 = 0, F32 = 1, SUBGROUP = 3 }; /* of Vulkan's enums */
    if (lanes != 8 && lanes != 16 && lanes != 32)
        return 0;
    for (uint32_t s = 0; s < sizeof known / sizeof *known; s++)
        for (uint32_t i = 0; i < count; i++) {
            const qk_matrix_offer *o = &offers[i];
            if (o->m != known[s][0] || o->n != known[s][1] || o->k != known[s][2] || o->a != F16 || o->b != F16 ||
                o->c != F32 || o->result != F32 || o->scope != SUBGROUP || o->saturating != 0 ||
                (limits->matrix_rows != 0 &&
                 (limits->matrix_rows != o->m || limits->matrix_cols != o->n || limits->matrix_depth != o->k)))
                continue;
            limits->matrix_rows = o->m;
            limits->matrix_cols = o->n;
            limits->matrix_depth = o->k;
            limits->matrix_lanes = lanes;
            return 1;
        }
    return 0;
}

/* Fills in the descriptor of the kernel that asks, and its `constants`, which must live as long: it has two bindings and no push
 * constants. */
static inline void qk_matrix_probe(qk_kernel *kernel, qk_spec_constant constants[QK_MATRIX_CONSTANTS],
                                   const qk_limits *limits) {
    static const uint32_t words[] = {
#include "matrix_probe.inc"
    };
    static const qk_binding bindings[] = {{0, "from", QK_ROLE_INPUT, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
                                          {1, "to", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0}};
    static const qk_code code = {words, sizeof words};
    static const uint32_t ids[QK_MATRIX_CONSTANTS] = {QK_CONSTANT_UNIT_ROWS, QK_CONSTANT_UNIT_COLS,
                                                      QK_CONSTANT_UNIT_DEPTH, QK_CONSTANT_LANES,
                                                      QK_CONSTANT_LOCAL_SIZE_X};
    static const char *const names[QK_MATRIX_CONSTANTS] = {"unit_rows", "unit_cols", "unit_depth", "lanes",
                                                           "local_size_x"};
    uint32_t shape[4];
    qk_matrix_shape_(limits, shape);
    memset(constants, 0, QK_MATRIX_CONSTANTS * sizeof constants[0]);
    for (uint32_t i = 0; i < QK_MATRIX_CONSTANTS; i++) {
        constants[i].id = ids[i];
        constants[i].name = names[i];
        constants[i].value = shape[i < 4 ? i : 3];
    }
    memset(kernel, 0, sizeof *kernel);
    kernel->abi = QK_ABI_VERSION;
    kernel->name = kernel->family = "matrix_probe";
    kernel->format = "";
    kernel->api = QK_API_VULKAN;
    kernel->entry = "main";
    kernel->code = &code;
    kernel->binding_count = 2;
    kernel->bindings = bindings;
    kernel->spec_constant_count = QK_MATRIX_CONSTANTS;
    kernel->spec_constants = constants;
    kernel->workgroup_size = shape[3];
}

/* The half of a whole number up to 2048. */
static inline uint32_t qk_matrix_half_(uint32_t number) {
    uint32_t exponent = 0;
    if (number == 0)
        return 0;
    while (number >> exponent > 1)
        exponent++;
    return (exponent + 15) << 10 | ((number << 10 >> exponent) & 0x3FF);
}

/* What the kernel reads: matrices with numbered elements, and two whose product tells whether subnormal halves are kept. */
static inline void qk_matrix_number(uint32_t from[QK_MATRIX_FROM_WORDS]) {
    memset(from, 0, QK_MATRIX_FROM_WORDS * sizeof from[0]);
    for (uint32_t i = 0; i < 128; i++) {
        from[i] = from[128 + i] = qk_matrix_half_(2 * i) | qk_matrix_half_(2 * i + 1) << 16;
        from[512 + i] = 0x00010001;
        from[640 + i] = 0x3C003C00;
    }
    for (uint32_t i = 0; i < 256; i++) {
        float number = (float)i;
        memcpy(&from[256 + i], &number, sizeof number);
    }
}

/* Thread 4 g + t: rows g and g + 8 of A, with columns 2 t, 2 t + 1 and the same + 8; ... */
static inline uint32_t qk_matrix_a_(uint32_t thread, uint32_t i) {
    return (thread / 4 + i / 2 % 2 * 8) * 16 + thread % 4 * 2 + i % 2 + i / 4 * 8;
}

/* ... those rows of column g of B; */
static inline uint32_t qk_matrix_b_(uint32_t thread, uint32_t i) {
    return (thread % 4 * 2 + i % 2 + i / 2 * 8) * 8 + thread / 4;
}

/* ... rows g and g + 8 of C, with columns 2 t and 2 t + 1. */
static inline uint32_t qk_matrix_c_(uint32_t thread, uint32_t i) {
    return (thread / 4 + i / 2 * 8) * 8 + thread % 4 * 2 + i % 2;
}

/* Which of `count` values of every thread is the element that `wanted` numbers; 0 when there is none. `bits` for each. */
static inline int qk_matrix_find_(const float *to, uint32_t count, uint32_t bits,
                                  uint32_t (*wanted)(uint32_t thread, uint32_t i), uint32_t *order) {
    *order = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = 0;
        while (at < count && to[at] != (float)wanted(0, i))
            at++;
        for (uint32_t thread = 0; thread < 32; thread++)
            if (at == count || to[thread * QK_MATRIX_EACH_ + at] != (float)wanted(thread, i))
                return 0;
        *order |= at << (i * bits);
    }
    return 1;
}

/* A question to a device: the kernel, with what it reads and what it writes. Stays where it is as long as pipelines of it live. */
typedef struct qk_matrix_question {
    qk_kernel kernel;
    qk_spec_constant constants[QK_MATRIX_CONSTANTS];
    uint32_t from[QK_MATRIX_FROM_WORDS];
    float to[QK_MATRIX_TO_FLOATS];
} qk_matrix_question;

static inline void qk_matrix_ask(qk_matrix_question *ask, const qk_limits *limits) {
    memset(ask, 0, sizeof *ask);
    qk_matrix_probe(&ask->kernel, ask->constants, limits);
    qk_matrix_number(ask->from);
}

/* From what the kernel wrote: sets QK_FEATURE_COOPERATIVE_MATRIX of `limits`, and returns 1; matrix_order_a and matrix_order_bc too
 * where every four threads share a row as kernels expect it, else these are 0, and operands go through shared memory. Where
 * products lose subnormal halves, leaves `limits` as they are and returns 0: such a device counts as one without matrices. */
static inline int qk_matrix_read_order(const float to[QK_MATRIX_TO_FLOATS], qk_limits *limits) {
    uint32_t shape[4], a, b, c;
    qk_matrix_shape_(limits, shape);
    for (uint32_t i = 0; i < shape[0] * shape[1]; i++)
        if (to[QK_MATRIX_PRODUCT_ + i] != (float)shape[2] / 16777216.0f)
            return 0;
    limits->features |= QK_FEATURE_COOPERATIVE_MATRIX;
    limits->matrix_order_a = limits->matrix_order_bc = 0;
    if (shape[0] != 16 || shape[1] != 8 || shape[2] != 16 || shape[3] != 32)
        return 1;
    if (!qk_matrix_find_(to, 8, 3, qk_matrix_a_, &a) || !qk_matrix_find_(to + 8, 4, 2, qk_matrix_b_, &b) ||
        !qk_matrix_find_(to + 12, 4, 2, qk_matrix_c_, &c))
        return 1;
    limits->matrix_order_a = a;
    limits->matrix_order_bc = b | c << 8;
    return 1;
}

#endif
