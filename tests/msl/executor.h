/* executor.h: runs Metal kernels on the CPU. A file is compiled once (and kept by content); its kernels are then launched in
 * this process, each thread a fiber, each access checked. Plain C, usable from C++; README.md says what is checked.
 *
 *     qk_msl_error error;
 *     qk_msl *file = qk_msl_open_file("q4_K.metal", NULL, &error);
 *     const qk_msl_kernel *kernel = qk_msl_find(file, "q4_K_dequant_f16");
 *     qk_msl_buffer buffers[] = {{0, blocks, 144}, {1, halves, 512}, {2, &tiles, 4}};
 *     qk_msl_launch launch = {.buffers = buffers, .buffer_count = 3, .group = {256}, .groups = {1}};
 *     if (qk_msl_run(file, kernel, &launch, &error) != QK_MSL_OK) puts(error.text);
 *     qk_msl_close(file);
 *
 * One qk_msl is used by one thread at a time; several files may be open, and run, at once. */
#ifndef QK_MSL_EXECUTOR_H
#define QK_MSL_EXECUTOR_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define QK_MSL_API __attribute__((visibility("default")))
#else
#define QK_MSL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum qk_msl_status {
    QK_MSL_OK = 0,
    QK_MSL_ERROR_COMPILER,      /* clang is not there, or cannot be started */
    QK_MSL_ERROR_SOURCE,        /* the text does not compile */
    QK_MSL_ERROR_ARGUMENT,      /* the launch does not fit the kernel */
    QK_MSL_ERROR_ACCESS,        /* a byte outside every buffer, or a write to a constant one */
    QK_MSL_ERROR_BARRIER,       /* a barrier that some threads do not reach */
    QK_MSL_ERROR_RACE,          /* threadgroup memory: two threads, one writes, no barrier between them */
    QK_MSL_ERROR_UNINITIALISED, /* threadgroup memory: read before anything was written */
    QK_MSL_ERROR_UNDEFINED      /* an over-wide shift, a division by zero, an index outside its array, ... */
} qk_msl_status;

typedef struct qk_msl_error {
    qk_msl_status status;
    int line;        /* of the MSL text; 0 when there is none */
    char text[4096]; /* names the kernel, and the line as NAME:LINE */
} qk_msl_error;

typedef enum qk_msl_scalar {
    QK_MSL_STRUCT = 0, /* anything that is not one of the following */
    QK_MSL_BOOL,
    QK_MSL_I8,
    QK_MSL_U8,
    QK_MSL_I16,
    QK_MSL_U16,
    QK_MSL_I32,
    QK_MSL_U32,
    QK_MSL_I64,
    QK_MSL_U64,
    QK_MSL_F16,
    QK_MSL_BF16,
    QK_MSL_F32
} qk_msl_scalar;

/* A type as the compiler sees it. */
typedef struct qk_msl_type {
    const char *name; /* canonical */
    qk_msl_scalar scalar;
    uint32_t components; /* of a vector or matrix: all its elements; 1 of a scalar */
    uint32_t atomic;
    uint32_t count; /* of an array, all dimensions; else 1 */
    uint64_t bytes; /* of the whole type */
    uint64_t alignment;
} qk_msl_type;

typedef struct qk_msl_field {
    const char *name;
    uint32_t offset;
    qk_msl_type type;
} qk_msl_field;

typedef enum qk_msl_kind {
    QK_MSL_BUFFER,      /* device or constant pointer or reference at [[buffer(index)]] */
    QK_MSL_THREADGROUP, /* threadgroup pointer or reference at [[threadgroup(index)]] */
    QK_MSL_ATTRIBUTE,   /* a position, size or index of the thread */
    QK_MSL_UNSUPPORTED  /* a texture, a sampler, [[stage_in]], ...: the kernel cannot be launched */
} qk_msl_kind;

typedef struct qk_msl_argument {
    qk_msl_kind kind;
    uint32_t index; /* buffer or threadgroup */
    const char *name;
    const char *space;     /* device, constant, threadgroup, or "" */
    const char *attribute; /* thread_position_in_grid, ... */
    uint32_t is_reference;
    uint32_t is_const; /* what it points to may not be written */
    uint32_t optional; /* has [[function_constant(...)]]: may be left unbound */
    qk_msl_type type;  /* buffers and threadgroup memory: of one element; attributes: of the argument */
    uint32_t field_count;
    const qk_msl_field *fields; /* of an element that is a struct */
    int line;
} qk_msl_argument;

typedef struct qk_msl_kernel {
    const char *name; /* the host name */
    int line;
    uint32_t max_threads; /* [[max_total_threads_per_threadgroup]], or 0 */
    uint32_t argument_count;
    const qk_msl_argument *arguments;
} qk_msl_kernel;

typedef struct qk_msl_constant {
    uint32_t id;
    const char *name;
    qk_msl_type type;
} qk_msl_constant;

typedef enum qk_msl_math {
    QK_MSL_MATH_SAFE,     /* each operation rounds; nothing is reordered or contracted */
    QK_MSL_MATH_CONTRACT, /* a * b + c becomes fma wherever the text does not forbid it */
    QK_MSL_MATH_FAST      /* the compiler may reorder, too, and assume that there are no NaNs and infinities */
} qk_msl_math;

enum {
    QK_MSL_NO_RACE_CHECK = 1u << 0,
    QK_MSL_NO_UNINITIALISED_CHECK = 1u << 1,
    QK_MSL_NO_UNDEFINED_CHECK = 1u << 2, /* of compilation: gives another object */
    QK_MSL_NO_ACCESS_CHECK = 1u << 3     /* of compilation; about 3 times as fast, and guards nothing */
};

/* A function constant: `bytes` of its value (bool 1, int 4, ...). */
typedef struct qk_msl_value {
    uint32_t id;
    uint32_t bytes;
    const void *value;
} qk_msl_value;

/* All members may be zero. Texts that are NULL are taken from the environment, then from how the executor was built. */
typedef struct qk_msl_options {
    qk_msl_math math;
    uint32_t skip;        /* QK_MSL_NO_ bits */
    const char *compiler; /* QKGEN_MSL_CLANG: clang++, 16 or later */
    const char *include;  /* QKGEN_MSL_INCLUDE: the folder of metal_stdlib and, beside it, runtime.cpp */
    const char *cache;    /* QKGEN_MSL_CACHE; else XDG_CACHE_HOME/qkgen/msl or ~/.cache/qkgen/msl */
    uint32_t value_count; /* function constants */
    const qk_msl_value *values;
    uint32_t define_count; /* NAME or NAME=VALUE, as on a compiler's command line */
    const char *const *defines;
} qk_msl_options;

typedef struct qk_msl qk_msl;

/* `name` is what messages call the text. NULL and an error when it cannot be compiled. */
QK_MSL_API qk_msl *qk_msl_open(const char *text, size_t bytes, const char *name, const qk_msl_options *options,
                               qk_msl_error *error);
QK_MSL_API qk_msl *qk_msl_open_file(const char *path, const qk_msl_options *options, qk_msl_error *error);
QK_MSL_API void qk_msl_close(qk_msl *file);

QK_MSL_API uint32_t qk_msl_kernel_count(const qk_msl *file);
QK_MSL_API const qk_msl_kernel *qk_msl_kernel_at(const qk_msl *file, uint32_t i);
QK_MSL_API const qk_msl_kernel *qk_msl_find(const qk_msl *file, const char *name); /* NULL: no such kernel */
QK_MSL_API uint32_t qk_msl_constant_count(const qk_msl *file);
QK_MSL_API const qk_msl_constant *qk_msl_constant_at(const qk_msl *file, uint32_t i);
/* Seconds that opening took, and whether the compiled object was there already. */
QK_MSL_API double qk_msl_open_seconds(const qk_msl *file, int *cached);

/* `data` is copied in before the launch and, unless the kernel may only read it, copied back after it; also after an error.
 * The kernel sees exactly `bytes` bytes. */
typedef struct qk_msl_buffer {
    uint32_t index;
    void *data;
    uint64_t bytes;
} qk_msl_buffer;

typedef enum qk_msl_order { QK_MSL_FORWARD, QK_MSL_REVERSE, QK_MSL_RANDOM } qk_msl_order;

typedef struct qk_msl_launch {
    const qk_msl_buffer *buffers; /* constant structs, too */
    uint32_t buffer_count;
    const qk_msl_buffer *threadgroup; /* lengths of [[threadgroup(index)]] memory; data is not used */
    uint32_t threadgroup_count;
    uint32_t group[3];   /* threads of a threadgroup; 0 counts as 1 */
    uint32_t groups[3];  /* threadgroups of the grid; 0 counts as 1 */
    uint32_t threads[3]; /* instead, when not all 0: threads of the grid; the last threadgroups may be smaller */
    qk_msl_order order;  /* of threadgroups, and of threads between barriers */
    uint64_t seed;
} qk_msl_launch;

QK_MSL_API qk_msl_status qk_msl_run(qk_msl *file, const qk_msl_kernel *kernel, const qk_msl_launch *launch,
                                    qk_msl_error *error);

/* ---- the signature against the descriptor ---- */

struct qk_kernel; /* qkgen/kernel.h */

/* Compares what the generator says of its kernel with what the text says: entry point, binding indices, names, element
 * types, access, the push struct's fields. Each difference is a call of `report` with one sentence; returns how many. */
QK_MSL_API int qk_msl_compare(const struct qk_kernel *descriptor, const qk_msl_kernel *kernel,
                              void (*report)(void *context, const char *sentence), void *context);

#ifdef __cplusplus
}
#endif
#endif
