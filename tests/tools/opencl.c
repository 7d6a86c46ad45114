/* OpenCL kernels of formats, executed and held against the C reference: random blocks, each bit but those of NaNs.
 *
 *   opencl FOLDER [FORMAT...]     FORMAT/FORMAT.cl of the folder; all formats of formats.inc, unless some are named
 *
 * Compiled together with the pairs of these formats. formats.inc has a line for each: BLOCKS(FORMAT) or MATRIX(FORMAT).
 * The stubs are those of Metal, whose kernels have the same bindings, constants and tiles: this program is also the
 * example of an engine that launches the OpenCL text with them. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <qkgen/dispatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct test {
    const char *format;
    const qk_kernel *kernel;
    qk_status (*run)(const qk_backend *, const qk_range *, qk_range, uint64_t rows, uint64_t cols, qk_error *);
    void (*expect)(const void *const *, uint64_t rows, uint64_t cols, void *dst);
} test;

#define TYPES(X, F) X(F, f32, float) X(F, f16, uint16_t) X(F, bf16, uint16_t)
#define BLOCKS_TYPE(F, T, C)                                                                                           \
    static qk_status run_##F##_##T(const qk_backend *b, const qk_range *w, qk_range d, uint64_t rows, uint64_t cols,   \
                                   qk_error *e) {                                                                      \
        return qk_##F##_dequant_##T(b, w, d, rows * cols, e);                                                          \
    }                                                                                                                  \
    static void expect_##F##_##T(const void *const *w, uint64_t rows, uint64_t cols, void *dst) {                      \
        qk_##F##_dequant_##T##_ref(w, rows *cols, (C *)dst);                                                           \
    }
#define MATRIX_TYPE(F, T, C)                                                                                           \
    static qk_status run_##F##_##T(const qk_backend *b, const qk_range *w, qk_range d, uint64_t rows, uint64_t cols,   \
                                   qk_error *e) {                                                                      \
        return qk_##F##_dequant_##T(b, w, d, rows, cols, e);                                                           \
    }                                                                                                                  \
    static void expect_##F##_##T(const void *const *w, uint64_t rows, uint64_t cols, void *dst) {                      \
        qk_##F##_dequant_##T##_ref(w, rows, cols, (C *)dst);                                                           \
    }
#define BLOCKS(F) TYPES(BLOCKS_TYPE, F)
#define MATRIX(F) TYPES(MATRIX_TYPE, F)
#include "formats.inc"
#undef BLOCKS
#undef MATRIX

static const test tests[] = {
#define TEST(F, T, C) {#F, &qk_##F##_dequant_##T##_metal, run_##F##_##T, expect_##F##_##T},
#define BLOCKS(F) TYPES(TEST, F)
#define MATRIX(F) TYPES(TEST, F)
#include "formats.inc"
};

static void die(const char *what, const char *of) {
    fprintf(stderr, "opencl: %s%s%s\n", what, *of ? ": " : "", of);
    exit(2);
}

static void *allocate(size_t bytes) {
    void *data = calloc(bytes + 1, 1);
    if (!data) die("no memory", "");
    return data;
}

/* ---- a device ---- */

typedef struct device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_program program; /* of one format */
} device;

static device open_device(void) {
    device d = {0};
    cl_platform_id platform;
    cl_uint count = 0;
    cl_int status = clGetPlatformIDs(1, &platform, &count);
    if (status == CL_SUCCESS && count) status = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &d.id, NULL);
    if (status != CL_SUCCESS || !count) {
        fprintf(stderr, "opencl: there is no device\n");
        exit(77);
    }
    d.context = clCreateContext(NULL, 1, &d.id, NULL, NULL, &status);
    if (status == CL_SUCCESS) d.queue = clCreateCommandQueue(d.context, d.id, 0, &status);
    if (status != CL_SUCCESS) die("the device cannot be opened", "");
    char name[256] = "", version[256] = "";
    clGetDeviceInfo(d.id, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    clGetDeviceInfo(d.id, CL_DEVICE_VERSION, sizeof version - 1, version, NULL);
    printf("on %s, %s\n", name, version);
    return d;
}

static void build(device *d, const char *folder, const char *format) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/%s.cl", folder, format, format);
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) die("cannot read", path);
    const size_t length = (size_t)ftell(file);
    char *text = allocate(length);
    rewind(file);
    if (fread(text, 1, length, file) != length) die("cannot read", path);
    fclose(file);
    cl_int status;
    d->program = clCreateProgramWithSource(d->context, 1, (const char **)&text, &length, &status);
    if (status == CL_SUCCESS) status = clBuildProgram(d->program, 1, &d->id, "-cl-std=CL1.2 -Werror", NULL, NULL);
    if (status != CL_SUCCESS) {
        static char log[65536];
        clGetProgramBuildInfo(d->program, d->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        die(path, log);
    }
    free(text);
}

/* Arguments: the buffers in the order of the bindings, then each constant. */
static qk_status launch(void *context, const qk_launch *launch, qk_error *error) {
    const device *d = context;
    const qk_kernel *k = launch->kernel;
    cl_int status;
    cl_kernel kernel = clCreateKernel(d->program, k->name, &status);
    if (status != CL_SUCCESS) return qk_fail(error, QK_ERROR_DEVICE, "%s: no such kernel", k->name);
    for (cl_uint i = 0; i < k->binding_count && status == CL_SUCCESS; ++i) {
        if (launch->ranges[i].offset) return qk_fail(error, QK_ERROR_LIMIT, "an offset needs clCreateSubBuffer");
        const cl_mem buffer = launch->ranges[i].buffer;
        status = clSetKernelArg(kernel, i, sizeof buffer, &buffer);
    }
    for (cl_uint i = 0; i < k->push_count && status == CL_SUCCESS; ++i)
        status = clSetKernelArg(kernel, k->binding_count + i, k->push[i].bytes,
                                (const char *)launch->push + k->push[i].offset);
    const size_t local = k->workgroup_size, global = local * launch->workgroups;
    if (status == CL_SUCCESS)
        status = clEnqueueNDRangeKernel(d->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    clReleaseKernel(kernel);
    return status == CL_SUCCESS ? QK_OK : qk_fail(error, QK_ERROR_DEVICE, "%s: OpenCL says %d", k->name, (int)status);
}

/* ---- a test ---- */

static uint64_t state = 1;

static uint64_t next(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 32;
}

static bool is_nan(qk_type type, uint32_t bits) {
    return type == QK_TYPE_F32   ? (bits & 0x7FFFFFFFu) > 0x7F800000u
           : type == QK_TYPE_F16 ? (bits & 0x7FFFu) > 0x7C00u
                                 : (bits & 0x7FFFu) > 0x7F80u;
}

/* The number of results that differ; any NaN equals any other. */
static uint64_t compare(const test *t, const unsigned char *got, const unsigned char *expected, uint64_t count) {
    const uint32_t bytes = qk_type_bytes(t->kernel->output);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t a = 0, b = 0;
        memcpy(&a, got + i * bytes, bytes);
        memcpy(&b, expected + i * bytes, bytes);
        if (a == b || (is_nan(t->kernel->output, a) && is_nan(t->kernel->output, b))) continue;
        if (!wrong++) fprintf(stderr, "%s: element %d is 0x%X, and not 0x%X\n", t->kernel->name, (int)i, a, b);
    }
    return wrong;
}

static bool run(device *d, const test *t) {
    const qk_kernel *k = t->kernel;
    const bool matrix = k->view != QK_VIEW_BLOCKS, cut = matrix && k->ragged;
    const uint64_t rows = matrix ? 3 * k->block_rows - (cut && k->block_rows > 1) : 7;
    const uint64_t cols =
        matrix ? (5 + 120 / k->block_cols) * k->block_cols - (cut && k->block_cols > 1) : 5 * k->block_elements;
    const size_t size = rows * cols * qk_type_bytes(k->output);
    const uint32_t n_weights = k->binding_count - 1;
    const void *weights[QK_MAX_BINDINGS];
    qk_range ranges[QK_MAX_BINDINGS];
    cl_int status = CL_SUCCESS;
    for (uint32_t i = 0; i < n_weights; ++i) {
        const uint64_t bytes = qk_weight_bytes(k, i, rows, cols);
        unsigned char *data = allocate(bytes);
        for (uint64_t b = 0; b < bytes; ++b) data[b] = (unsigned char)next();
        weights[i] = data;
        ranges[i] = (qk_range){NULL, 0, bytes};
        if (status == CL_SUCCESS)
            ranges[i].buffer =
                clCreateBuffer(d->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, data, &status);
    }
    unsigned char *got = allocate(size), *expected = allocate(size);
    memset(got, 0xA5, size);
    qk_range dst = {NULL, 0, size};
    if (status == CL_SUCCESS)
        dst.buffer = clCreateBuffer(d->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, got, &status);
    if (status != CL_SUCCESS) die("no buffer", k->name);
    const qk_backend backend = {.context = d,
                                .api = QK_API_METAL,
                                .limits = {.storage_range = UINT32_MAX,
                                           .offset_alignment = 4,
                                           .workgroup_count = 1, /* several tiles for each work-item */
                                           .workgroup_size = 256,
                                           .push_bytes = 256,
                                           .features = UINT32_MAX},
                                .launch = launch};
    qk_error error = {""};
    if (t->run(&backend, ranges, dst, rows, cols, &error) != QK_OK) die(k->name, error.text);
    if (clEnqueueReadBuffer(d->queue, dst.buffer, CL_TRUE, 0, size, got, 0, NULL, NULL) != CL_SUCCESS)
        die("no results", k->name);
    t->expect(weights, rows, cols, expected);
    const uint64_t wrong = compare(t, got, expected, rows * cols);
    if (wrong) fprintf(stderr, "%s: %d of %d results differ\n", k->name, (int)wrong, (int)(rows * cols));
    for (uint32_t i = 0; i < n_weights; ++i) {
        clReleaseMemObject(ranges[i].buffer);
        free((void *)weights[i]);
    }
    clReleaseMemObject(dst.buffer);
    free(got);
    free(expected);
    return wrong == 0;
}

int main(int argc, char **argv) {
    if (argc < 2) die("usage", "opencl FOLDER [FORMAT...]");
    device d = open_device();
    const char *built = "";
    uint32_t good = 0, bad = 0;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; ++i) {
        bool chosen = argc == 2;
        for (int a = 2; a < argc; ++a) chosen |= strcmp(argv[a], tests[i].format) == 0;
        if (!chosen) continue;
        if (strcmp(built, tests[i].format) != 0) {
            if (*built) clReleaseProgram(d.program);
            build(&d, argv[1], built = tests[i].format);
        }
        if (run(&d, &tests[i]))
            ++good;
        else
            ++bad;
    }
    printf("%u kernels as the reference, %u not\n", good, bad);
    return bad || !good;
}
