/* qkgen/kernel.h: what an engine needs to know of a generated kernel, and nothing else. Plain C11, usable from C++; no
 * Vulkan or Metal header, no library. An engine with its own device layer reads the descriptor; one that wants the
 * checked dispatch of qkgen/dispatch.h fills in a qk_backend. */
#ifndef QKGEN_KERNEL_H
#define QKGEN_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "constant.def"
#include "epilogue.def"
#include "schedule.def"

/* The version of the structures here, above all of qk_kernel: it grows when one of them changes. Generated files have the
 * version that they were made for, and do not compile with headers of another; qk_kernel.abi tells at a call. */
#define QK_ABI_VERSION 22

#ifdef __cplusplus
extern "C" {
#endif

typedef enum qk_status {
    QK_OK = 0,
    QK_ERROR_ARGUMENT,    /* an argument contradicts another or the format */
    QK_ERROR_SIZE,        /* a buffer is too small, or not a multiple of what it holds */
    QK_ERROR_ALIGNMENT,   /* an offset is not aligned as the device asks */
    QK_ERROR_LIMIT,       /* the device cannot do a shape of this size */
    QK_ERROR_UNSUPPORTED, /* the device lacks a feature that the kernel requires */
    QK_ERROR_DEVICE       /* the device or its driver failed */
} qk_status;

/* The text that goes with a status: names the argument, what it was and what it must be. */
typedef struct qk_error {
    char text[256];
} qk_error;

typedef enum qk_api { QK_API_VULKAN, QK_API_METAL } qk_api;

/* Device features that a kernel may require, as bits: the bit's number, and what the device API calls it. SUBGROUP_ARITHMETIC
 * has the operations BASIC, too. Of COOPERATIVE_MATRIX (VK_KHR_cooperative_matrix), subgroups multiply matrices of f16, summed in f32,
 * of a shape that qk_limits.matrix_rows and others tell; vulkanMemoryModel and its DeviceScope. Metal: simdgroup_matrix,
 * which GPUs have from family Apple7 on. */
#define QK_FEATURES(F)                                                                                                 \
    F(0, STORAGE_8BIT, "storageBuffer8BitAccess")                                                                      \
    F(1, STORAGE_16BIT, "storageBuffer16BitAccess")                                                                    \
    F(2, SUBGROUP_ARITHMETIC, "subgroup arithmetic in compute shaders")                                                \
    F(3, INTEGER_DOT_PRODUCT, "shaderIntegerDotProduct")                                                               \
    F(4, FLOAT16, "shaderFloat16")                                                                                     \
    F(5, SUBGROUP_SHUFFLE, "subgroup shuffles in compute shaders")                                                     \
    F(6, COOPERATIVE_MATRIX, "cooperative matrices of halves, or simdgroup matrices")

enum {
#define QK_FEATURE_BIT(bit, NAME, text) QK_FEATURE_##NAME = 1u << (bit),
    QK_FEATURES(QK_FEATURE_BIT)
#undef QK_FEATURE_BIT
        QK_FEATURE_NONE = 0
};

/* What a binding holds. */
#define QK_ROLES(R)                                                                                                    \
    R(WEIGHTS, "one of the format's buffers, in the format's order")                                                   \
    R(INDICES, "u32 row numbers")                                                                                      \
    R(INPUT, "what the weights are multiplied with; an array that a family without format reads")                      \
    R(OUTPUT, "results")                                                                                               \
    R(STATUS, "one u32; counts what was out of range. The caller clears it")                                           \
    R(SCRATCH, "what one launch of a call leaves for the next")

typedef enum qk_role {
#define QK_ROLE_ROW(NAME, meaning) QK_ROLE_##NAME,
    QK_ROLES(QK_ROLE_ROW)
#undef QK_ROLE_ROW
/* f32, of an epilogue. */
#define QK_ROLE_ROW(bit, NAME, field, binding, many, meaning) QK_ROLE_##NAME,
        QK_EPILOGUES(QK_ROLE_ROW)
#undef QK_ROLE_ROW
            QK_ROLE_COUNT
} qk_role;

typedef enum qk_access { QK_READ, QK_WRITE, QK_READ_WRITE } qk_access;

typedef enum qk_type { QK_TYPE_U8, QK_TYPE_U16, QK_TYPE_U32, QK_TYPE_F16, QK_TYPE_BF16, QK_TYPE_F32 } qk_type;

typedef struct qk_binding {
    uint32_t index; /* Vulkan: binding in set 0; Metal: [[buffer(index)]] */
    const char *name;
    qk_role role;
    qk_access access;
    qk_type element;      /* of the data */
    uint32_t block_bytes; /* WEIGHTS: bytes of one block in this buffer; else 0 */
    uint32_t item_bytes;  /* WEIGHTS of a view that is not QK_VIEW_BLOCKS: items that a block has along the rows and */
    uint32_t tile_rows;   /* along the columns of the tensor; 0 where all rows, or all columns, share them */
    uint32_t tile_cols;
    uint32_t row_bytes; /* WEIGHTS: that stand before the blocks of each row: a header, which block_bytes is without */
} qk_binding;

/* How the blocks of a format lie in a tensor of `rows` x `cols` elements. */
typedef enum qk_view {
    QK_VIEW_BLOCKS,   /* one after the other; a row is whole blocks */
    QK_VIEW_SEQUENCE, /* the same, but rows may begin within a block, and the last block may be cut off */
    QK_VIEW_MATRIX,   /* patches of block_rows x block_cols elements */
    QK_VIEW_GROUPS /* the elements in order are cut into groups of block_cols; the block_rows groups of a block lie as
                         far apart as there are blocks */
} qk_view;

/* Constant data of a kernel: a read-only storage buffer that the engine fills once with `words`, and binds at every launch. */
typedef struct qk_table {
    uint32_t index; /* Vulkan: binding in set 0 */
    const char *name;
    const uint32_t *words;
    uint32_t bytes;
} qk_table;

typedef struct qk_field {
    const char *name;
    uint32_t offset;
    uint32_t bytes;
} qk_field;

typedef struct qk_spec_constant {
    uint32_t id; /* qk_constant_id */
    const char *name;
    uint32_t value; /* when the host sets none */
    uint32_t legal_count;
    const uint32_t *legal; /* the values it may take */
} qk_spec_constant;

/* The ids of the constants, from constant.def: QK_CONSTANT_ROWS, ... */
typedef enum qk_constant_id {
#define QK_CONSTANT_ROW(id, NAME, name, setter, otherwise, legal, meaning) QK_CONSTANT_##NAME = (id),
    QK_CONSTANT_NONE = 0x7FFFFFFF, /* the id of no constant */
    QK_CONSTANTS(QK_CONSTANT_ROW)
#undef QK_CONSTANT_ROW
} qk_constant_id;

/* QK_CONSTANT_ROUNDS_F16 is 1 when the host has added to the module, behind its entry point, the execution modes RoundingModeRTE
 * and DenormPreserve for 16 bits, with their capabilities and SPV_KHR_float_controls, on a device that has both.
 * Conversions to f16 are the device's own then; with 0 the kernel rounds by itself. The runtime of qkgen/vulkan.h does so
 * where it can, whatever the value. */

/* Kernels that encode (qk_encodes) have the bits of the reference for all floats where the host has likewise added the modes
 * SignedZeroInfNanPreserve and DenormPreserve for 32 bits. Without the first, blocks with NaNs or zeros of both signs may
 * differ; without the second, blocks with numbers below 2^-126, or whose scale's reciprocal is one. */

/* QK_CONSTANT_PADDED is 1 where ranges of weights are QK_PADDING bytes longer than the weights, and 0 else: loads of 16
 * bytes may then go beyond the last block. qkgen/dispatch.h sets it. */
#define QK_PADDING 32u

/* QK_CONSTANT_CHECKED says whether a pipeline is to check the bounds of buffers at each load (VK_EXT_pipeline_robustness). Results
 * are the same, for dispatch has checked them; drivers compile one faster than the other. Not a constant of the module. */

/* QK_CONSTANT_SCHEDULE is not a constant of a module: it says which of the kernel's modules a launch takes (qk_code_of). Every schedule
 * but QK_SCHEDULE_ROWS is for some shapes and devices alone; qkgen/dispatch.h looks which of them fit. In a tuning, it is the
 * one to take wherever it fits; without, dispatch chooses. */
typedef enum qk_schedule {
#define QK_SCHEDULE_ROW(number, NAME, ...) QK_SCHEDULE_##NAME = (number),
    QK_SCHEDULE_NONE = 0, /* a kernel of one module */
    QK_SCHEDULES(QK_SCHEDULE_ROW)
#undef QK_SCHEDULE_ROW
} qk_schedule;

enum {
#define QK_SCHEDULE_ONE(...) +1
    QK_SCHEDULE_COUNT = QK_SCHEDULES(QK_SCHEDULE_ONE) + 1 /* with QK_SCHEDULE_NONE */
#undef QK_SCHEDULE_ONE
};

/* SPIR-V words (Vulkan, `bytes` a multiple of 4) or NUL-terminated MSL text (Metal, `bytes` without the NUL). */
typedef struct qk_code {
    const void *data;
    size_t bytes;
} qk_code;

/* How the result may differ from the C reference. Of sums, the descriptor's sum_roundings, x_levels and x_reach bound each result, for any
 * x; in brackets, the error in the L2 norm that is seen with x near to normally distributed: docs/error-bounds.md says of what. */
typedef enum qk_numeric_class {
    QK_NUMERIC_EXACT_DECODE, /* not in one bit */
    QK_NUMERIC_EXACT_SUM,    /* f32 products and sums, or x in 24 bits and sums of integers (2e-6) */
    QK_NUMERIC_SPLIT_SUM,    /* x in 16 bits, and sums of integers (1e-4) */
    QK_NUMERIC_HALF_SUM,     /* f16 products (2e-3) */
    QK_NUMERIC_INT8_SUM      /* x in 8 bits (1e-2) */
} qk_numeric_class;

/* What each float of a value, and the result of each operation on floats, is rounded to. */
typedef enum qk_math { QK_MATH_F32, QK_MATH_F16, QK_MATH_BF16 } qk_math;

typedef struct qk_kernel {
    uint32_t abi;       /* QK_ABI_VERSION of the generator */
    const char *name;   /* FORMAT_FAMILY_TYPE, or FAMILY; FORMAT_decode_MATH_FAMILY_TYPE where decode_math is not f32 */
    const char *format; /* "" for a family that takes no format; such a kernel has no blocks and tiles */
    const char *family; /* dequant, gather, gemv, qdq_init, ... */
    qk_api api;
    const char *entry;
    const qk_code *code;             /* the only one, or that of QK_SCHEDULE_ROWS */
    const qk_code *const *schedules; /* by number, up to the last that there is; or NULL, also in between */
    uint32_t binding_count;
    const qk_binding *bindings;
    uint32_t table_count; /* 0 on Metal, where constant data stands in the text */
    const qk_table *tables;
    uint32_t push_bytes; /* Vulkan: push constants; Metal: the struct at [[buffer(binding_count)]] */
    uint32_t push_count;
    const qk_field *push;
    uint32_t spec_constant_count;
    const qk_spec_constant *spec_constants;
    uint32_t workgroup_size; /* threads, one-dimensional; Vulkan: the default of its specialisation constant */
    uint32_t features;       /* QK_FEATURE_ bits: of subgroups, those of all schedules (schedule.def) */
    qk_numeric_class numeric;
    qk_type output;
    uint32_t block_elements;
    uint32_t tile_elements; /* decoded by one thread at a time; divides block_elements, or else block_cols */
    qk_view view;
    uint32_t ragged;     /* patches may be cut off at the ends of rows and columns */
    uint32_t block_rows; /* 0 in QK_VIEW_BLOCKS */
    uint32_t block_cols;
    qk_math decode_math;
    uint32_t tile_rows;     /* of a tile: it has tile_elements in each of so many rows, which divide block_rows; 0: 1 */
    uint32_t kept_elements; /* whose x a thread keeps, of one right-hand side; 0: 64 */
    uint32_t wide_block;    /* elements of which rows have a multiple in the schedules of larger tiles; 0: any number */
    uint32_t shared_tile;   /* of QK_SCHEDULE_SHARED, runs of 16 bytes of x, for each right-hand side and tile */
    uint32_t shares_wide;   /* 1: its tiles are the larger ones */
    uint32_t teams_tile;    /* of QK_SCHEDULE_TEAMS, as shared_tile */
    uint32_t teams_kept;    /* elements of a tile there */
    uint32_t teams_block;   /* elements of which rows have a multiple there; 0: any number */
    uint32_t
        columns_kept; /* of QK_SCHEDULE_COLUMNS, elements of a tile in each of its rows; 0: the kernel does not have it */
    uint32_t columns_rows; /* rows of a tile there */
    uint32_t rows_at_once; /* of one right-hand side, that fit into a thread's registers; 0: 8 */
    uint32_t rows_ahead;   /* of QK_SCHEDULE_AHEAD, as many at once; 0: the kernel does not have it */
    uint32_t ahead_kept;   /* elements there whose x a lane keeps */
    uint32_t ahead_block;  /* elements of which rows have a multiple there, as they have of 16 bytes */
    uint32_t wide_loads;   /* of a thread in QK_SCHEDULE_WIDE, for each row; known where rows can be loaded ahead. Of tiles words: 0, few */
    uint32_t operand_tile; /* of QK_SCHEDULE_TILES, elements of weights that a thread decodes at a time; 0: not there */
    uint32_t operand_words; /* of 32 bits that x takes as operands, for each of these and each right-hand side */
    uint32_t
        span_words; /* of 32 bits between rows in memory that threads share, which load them for each other; 0: never */
    /* Of sums, the numbers of the bound (docs/error-bounds.md): */
    uint32_t sum_roundings; /* of a product up to a tile's sum, in units of 2^-24 (qk_sum_eps); 0: no sums */
    uint32_t x_levels; /* x is rounded to steps, of which the largest in a group has so many; 0: it is not rounded */
    uint32_t x_group;  /* elements whose x has one step, at most */
    uint32_t x_reach;  /* these lie within so many neighbours in a row */
    uint32_t row_roundings; /* of the sum of a row of 16 elements, beside the tile's, and as many for each 16 more */
} qk_kernel;

/* Whether a kernel makes blocks: it writes weights. */
static inline int qk_encodes(const qk_kernel *kernel) {
    for (uint32_t i = 0; i < kernel->binding_count; i++)
        if (kernel->bindings[i].role == QK_ROLE_WEIGHTS && kernel->bindings[i].access != QK_READ)
            return 1;
    return 0;
}

/* The module of a launch with these constants, which are in the order of the descriptor's; NULL: its own. */
static inline const qk_code *qk_code_of(const qk_kernel *kernel, const uint32_t *constants) {
    for (uint32_t i = 0; kernel->schedules != NULL && i < kernel->spec_constant_count; i++) {
        const qk_spec_constant *c = &kernel->spec_constants[i];
        uint32_t schedule = constants != NULL ? constants[i] : c->value;
        for (uint32_t l = 0; c->id == QK_CONSTANT_SCHEDULE && l < c->legal_count; l++)
            if (c->legal[l] == schedule && kernel->schedules[schedule] != NULL)
                return kernel->schedules[schedule];
    }
    return kernel->code;
}

/* The relative part of the bound of a kernel that sums over rows of `cols` elements, on a device of `lanes` lanes in a subgroup; 0 where
 * that is not known. Each result y[m][n] of finite x differs from the sum over k of w[n][k] * x[m][k] by at most
 *
 *     eps * sum over k of W[n][k] * |x[m][k]|  +  sum over k of |w[n][k]| * largest[m][k] / (2 * x_levels)
 *
 * where `largest` is the largest |x| less than x_reach columns away, and the second part is 0 where x_levels is. W is the weight with
 * each difference in its value taken as a sum; it takes the place of |w| where products are of halves. docs/error-bounds.md says it
 * exactly, and what numbers below 2^-126 add. */
static inline double qk_sum_eps(const qk_kernel *kernel, uint32_t lanes, uint64_t cols) {
    const uint64_t sharing = lanes >= 32 ? 8 : lanes > 8 ? lanes / 4 : 2; /* lanes that share a row, at least */
    const uint64_t tiles = kernel->tile_elements != 0 ? cols / (sharing * kernel->tile_elements) : 0;
    return (double)(kernel->sum_roundings + 3 * tiles + kernel->row_roundings * ((cols + 15) / 16)) / 16777216.0;
}

/* All descriptors of a format, qk_FORMAT_kernels, or of a set of families without one. qkgen/registry.h finds one in it. */
typedef struct qk_kernel_set {
    const char *name; /* of the format or set */
    uint32_t count;
    const qk_kernel *const *items;
    int (*unpack)(
        void); /* of a pair whose words are packed: fills them in, before anything uses them; 0: it could not. Else NULL */
} qk_kernel_set;

/* Part of a buffer. `buffer` is the backend's own handle (VkBuffer, id<MTLBuffer>, ...). */
typedef struct qk_range {
    void *buffer;
    uint64_t offset;
    uint64_t size;
} qk_range;

typedef struct qk_limits {
    uint64_t storage_range;    /* bytes that one binding can address */
    uint32_t offset_alignment; /* bytes; a power of two */
    uint32_t workgroup_count;  /* in one dimension */
    uint32_t workgroup_size;   /* threads */
    uint32_t push_bytes;
    uint32_t features;        /* QK_FEATURE_ bits */
    uint32_t busy_workgroups; /* of 128 threads, that keep the device busy; 0: not known */
    uint32_t shared_bytes;    /* memory of a workgroup; 0: not known */
    uint32_t
        matrix_order_a; /* Vulkan with QK_FEATURE_COOPERATIVE_MATRIX: which element of a matrix is which value of a thread, as */
    uint32_t matrix_order_bc; /* qkgen/vulkan.h finds out and runtime/vulkan_matrix.c describes */
    uint32_t subgroup_size;   /* lanes; 0: not known: sums take plain rows alone, shared out as if it were 32 */
    uint32_t loop_steps;      /* steps of all loops of a thread, after which the driver ends them; 0: any number */
    /* Of these matrices, matrix_rows x matrix_depth times matrix_depth x matrix_cols, each 8 or 16, by subgroups of
     * matrix_lanes: 8, 16, 32. All 0: 16 x 16 times 16 x 8, by 32. Where matrix_order_a is 0 threads do not know what they
     * hold, as with all other shapes, and operands go through shared memory. */
    uint32_t matrix_rows, matrix_cols, matrix_depth, matrix_lanes;
} qk_limits;

/* One launch: `ranges` in the order of the kernel's bindings, `workgroups` in one dimension. */
typedef struct qk_launch {
    const qk_kernel *kernel;
    const qk_range *ranges;
    const void *push;
    uint32_t workgroups;
    const uint32_t
        *constants; /* values of the kernel's spec_constants, in their order; NULL: those of the descriptor */
} qk_launch;

/* A constant of a launch that was measured to be best: one of the kernel's spec_constants, or QK_CONSTANT_WORKGROUPS,
 * which bounds the number of workgroups in a launch. */
typedef struct qk_tuned_value {
    uint32_t id; /* qk_constant_id */
    uint32_t value;
} qk_tuned_value;

#define QK_MAX_TUNED 12u

/* What was found for one kernel and shape. */
typedef struct qk_tuning_entry {
    char kernel[96];     /* qk_kernel.name */
    uint64_t rows, cols; /* as qk_tuning_find has them */
    uint32_t batch;
    uint32_t line; /* of the file, for messages */
    uint32_t count;
    qk_tuned_value values[QK_MAX_TUNED];
} qk_tuning_entry;

/* A device's tuning, as `qkgen tune` writes it and qkgen/tuning.h reads it. */
typedef struct qk_tuning {
    char device[256];
    uint32_t count;
    const qk_tuning_entry *entries;
} qk_tuning;

/* The device as the stubs see it. `launch` records or submits; launches of one stub call are independent of each other.
 * Returns QK_OK, or a status with `error` filled in. What is not set must be zero. */
typedef struct qk_backend {
    void *context;
    qk_api api;
    qk_limits limits;
    qk_status (*launch)(void *context, const qk_launch *launch, qk_error *error);
    /* What launches before it wrote is seen by those after it. For qk_dispatch_gemm and qk_dispatch_gemm_id; else NULL. */
    qk_status (*barrier)(void *context, qk_error *error);
    const qk_tuning *tuning; /* NULL: launches have the constants of the descriptors */
    /* Four bytes that nobody reads: what kernels count where a call names no status word. No buffer: each call names one. */
    qk_range spare;
} qk_backend;

#ifdef __cplusplus
}
#endif
#endif
