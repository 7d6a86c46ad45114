/* The Vulkan runtime on a real device, by default the one on the CPU, under the validation layer where there is one. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "qkgen/dispatch.h"
#include "qkgen/vulkan.h"
#include "runtime_test_kernels.h"

/* ---- The kernels ------------------------------------------------------------------------------------------------- */

enum { BLOCK = 8, TILE = 4 };

static const qk_code dequant_code = {test_dequant_words, sizeof test_dequant_words};
static const qk_code gather_code = {test_gather_words, sizeof test_gather_words};
static const uint32_t sizes[] = {1, 32, 64, 128};
static const qk_spec_constant constants[] = {{0, "workgroup_size", 64, 4, sizes}};

static const qk_binding dequant_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, BLOCK, 0, 0, 0, 0},
    {1, "out", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
};

static const qk_binding gather_bindings[] = {
    {0, "codes", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, BLOCK, 0, 0, 0, 0},
    {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
    {2, "out", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0},
};

static qk_kernel kernel_of(int gather) {
    qk_kernel kernel = {.abi = QK_ABI_VERSION};
    kernel.name = gather ? "bytes_gather_f32" : "bytes_dequant_f32";
    kernel.api = QK_API_VULKAN;
    kernel.entry = "main";
    kernel.code = gather ? &gather_code : &dequant_code;
    kernel.bindings = gather ? gather_bindings : dequant_bindings;
    kernel.binding_count = gather ? 4 : 2;
    kernel.push_bytes = gather ? QK_GATHER_PUSH_BYTES : 4;
    kernel.spec_constants = constants;
    kernel.spec_constant_count = 1;
    kernel.workgroup_size = 64;
    kernel.features = QK_FEATURE_STORAGE_8BIT;
    kernel.output = QK_TYPE_F32;
    kernel.block_elements = BLOCK;
    kernel.tile_elements = TILE;
    return kernel;
}

/* ---- A device for all tests -------------------------------------------------------------------------------------- */

typedef struct fixture {
    char folder[64];
    char path[96]; /* of a pipeline cache */
    int validate;
    uint32_t messages; /* of all devices of this run */
    qk_vulkan *kept;
    qk_error error;
} fixture;

static fixture fix;

static void on_message(void *user, const char *text) {
    ++*(uint32_t *)user;
    fprintf(stderr, "validation: %s\n", text);
}

static qk_vulkan_options options_with(const char *cache_path) {
    qk_vulkan_options options = {0};
    options.cache_path = cache_path;
    options.validate = fix.validate;
    options.message = on_message;
    options.user = &fix.messages;
    return options;
}

static qk_vulkan *open_with(qk_vulkan_options options) {
    qk_vulkan *vk;
    if (qk_vulkan_create(&options, &vk, &fix.error) != QK_OK) fail_msg("%s", fix.error.text);
    return vk;
}

static qk_vulkan *open_device(const char *cache_path) { return open_with(options_with(cache_path)); }

static void remove_folder(const char *folder) {
    DIR *dir = opendir(folder);
    char path[512];
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (unlink(path) != 0) remove_folder(path);
    }
    if (dir != NULL) closedir(dir);
    rmdir(folder);
}

static int open_fixture(void **state) {
    (void)state;
    strcpy(fix.folder, "/tmp/qkgen_runtime_test.XXXXXX");
    if (mkdtemp(fix.folder) == NULL) return -1;
    snprintf(fix.path, sizeof fix.path, "%s/cache", fix.folder);
    /* One device stays open to the end, so that the driver stays loaded: a leak checker can then tell its leaks by the
     * name of its library. */
    qk_vulkan_options options = {0};
    options.cache_path = "";
    if (qk_vulkan_create(&options, &fix.kept, &fix.error) != QK_OK) {
        fprintf(stderr, "%s\n", fix.error.text);
        return -1;
    }
    qk_vulkan *vk = NULL;
    options.validate = 1;
    fix.validate = qk_vulkan_create(&options, &vk, &fix.error) == QK_OK;
    if (!fix.validate) fprintf(stderr, "without validation: %s\n", fix.error.text);
    qk_vulkan_destroy(vk);
    return 0;
}

static int close_fixture(void **state) {
    (void)state;
    remove_folder(fix.folder);
    return 0;
}

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        if ((call) != QK_OK) fail_msg("%s: %s", #call, fix.error.text);                                                \
    } while (0)

#define FAILS(call, status, part)                                                                                      \
    do {                                                                                                               \
        assert_int_equal(call, status);                                                                                \
        if (strstr(fix.error.text, part) == NULL) fail_msg("\"%s\" lacks \"%s\"", fix.error.text, part);               \
    } while (0)

static uint8_t code_at(uint64_t i) { return (uint8_t)((i * 2654435761u) >> 13); }

static qk_vulkan_buffer *buffer_of(qk_vulkan *vk, uint64_t bytes) {
    qk_vulkan_buffer *buffer;
    OK(qk_vulkan_buffer_create(vk, bytes, &buffer, &fix.error));
    return buffer;
}

static qk_vulkan_buffer *codes_of(qk_vulkan *vk, uint64_t count) {
    qk_vulkan_buffer *buffer = buffer_of(vk, count);
    uint8_t *codes = malloc(count);
    for (uint64_t i = 0; i < count; i++) codes[i] = code_at(i);
    OK(qk_vulkan_upload(vk, buffer, 0, codes, count, &fix.error));
    free(codes);
    return buffer;
}

/* Runs the kernel over `blocks` blocks and checks every value. */
static void run_dequant(qk_vulkan *vk, const qk_backend *backend, const qk_kernel *kernel, uint64_t blocks) {
    uint64_t n = blocks * BLOCK;
    qk_vulkan_buffer *codes = codes_of(vk, n), *out = buffer_of(vk, n * 4);
    qk_range weights = qk_vulkan_range(codes);
    float *values = malloc(n * 4);
    OK(qk_vulkan_clear(vk, out, &fix.error));
    OK(qk_vulkan_begin(vk, &fix.error));
    OK(qk_dispatch_dequant(backend, kernel, &weights, qk_vulkan_range(out), n, &fix.error));
    OK(qk_vulkan_submit(vk, &fix.error));
    OK(qk_vulkan_download(vk, out, 0, values, n * 4, &fix.error));
    for (uint64_t i = 0; i < n; i++)
        if (values[i] != (float)code_at(i))
            fail_msg("element %lu of %lu is %g", (unsigned long)i, (unsigned long)n, (double)values[i]);
    free(values);
    qk_vulkan_buffer_destroy(vk, codes);
    qk_vulkan_buffer_destroy(vk, out);
}

/* ---- Choosing a device ------------------------------------------------------------------------------------------- */

static void test_choose(void **state) {
    (void)state;
    static const qk_vulkan_device devices[] = {
        {.name = "Fast 4090", .type = QK_VULKAN_DISCRETE},
        {.name = "llvmpipe (LLVM)", .type = QK_VULKAN_CPU},
        {.name = "Second CPU", .type = QK_VULKAN_CPU},
    };
    static const struct {
        const char *wanted;
        uint32_t count, chosen;
    } right[] = {{NULL, 3, 1},   {"", 3, 1},     {NULL, 1, 0},         {"0", 3, 0},   {"2", 3, 2},
                 {"LLVM", 3, 1}, {"4090", 3, 0}, {"second cpu", 3, 2}, {"cpu", 3, 2}, {"9", 3, 0}};
    uint32_t chosen;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        OK(qk_vulkan_choose(devices, right[i].count, right[i].wanted, &chosen, &fix.error));
        assert_int_equal(chosen, right[i].chosen);
    }
    assert_int_equal(qk_vulkan_choose(devices, 3, "7", &chosen, &fix.error), QK_ERROR_ARGUMENT);
    assert_string_equal(fix.error.text,
                        "device is \"7\", must be an index below 3 or part of a name: device 0 is Fast 4090");
    assert_int_equal(qk_vulkan_choose(devices, 0, NULL, &chosen, &fix.error), QK_ERROR_UNSUPPORTED);
    assert_string_equal(fix.error.text,
                        "no Vulkan device was found; package mesa-vulkan-drivers provides one that runs on the CPU");
}

static void test_check(void **state) {
    (void)state;
    static const struct {
        int storage8, storage16, compute;
        uint32_t minor;
        const char *text;
    } wrong[] = {
        {0, 1, 1, 1, "Old lacks storageBuffer8BitAccess, which generated kernels require"},
        {1, 0, 1, 2, "Old lacks storageBuffer16BitAccess, which generated kernels require"},
        {0, 0, 0, 3, "Old lacks storageBuffer8BitAccess and storageBuffer16BitAccess, which generated kernels require"},
        {1, 1, 0, 1, "Old lacks a compute queue, which generated kernels require"},
        {1, 1, 1, 0, "Old has Vulkan 1.0, must have at least 1.1"},
    };
    qk_vulkan_device device = {.name = "Old", .api_version = 1u << 22 | 1u << 12, .compute = 1};
    device.storage_8bit = device.storage_16bit = 1;
    OK(qk_vulkan_check(&device, &fix.error));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        device.storage_8bit = wrong[i].storage8;
        device.storage_16bit = wrong[i].storage16;
        device.compute = wrong[i].compute;
        device.api_version = 1u << 22 | wrong[i].minor << 12;
        assert_int_equal(qk_vulkan_check(&device, &fix.error), QK_ERROR_UNSUPPORTED);
        assert_string_equal(fix.error.text, wrong[i].text);
    }
}

static void test_list(void **state) {
    (void)state;
    qk_vulkan_device devices[8];
    uint32_t count = 8, one = 1;
    OK(qk_vulkan_list(devices, &count, &fix.error));
    OK(qk_vulkan_list(devices, &one, &fix.error));
    assert_int_equal(one, count);
    assert_true(count >= 1 && devices[0].name[0] != 0 && devices[0].storage_range >= 1u << 27);
    for (uint32_t i = 0; i < count && i < 8; i++)
        printf("device %u: %s (%s), %s, subgroup %u, %u MiB in a binding\n", i, devices[i].name,
               qk_vulkan_type_name(devices[i].type), devices[i].driver, devices[i].subgroup_size,
               devices[i].storage_range >> 20);
    qk_vulkan *vk = (qk_vulkan *)&count;
    qk_vulkan_options options = options_with("");
    options.device = "no such device";
    FAILS(qk_vulkan_create(&options, &vk, &fix.error), QK_ERROR_ARGUMENT, "device is \"no such device\", must be");
    assert_null(vk);
    qk_vulkan_destroy(NULL);
}

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

static void round_trips(qk_vulkan *vk) {
    static const uint64_t byte_counts[] = {0, 1, 3, 4, 255, 999, 1000, 1001, 4097, 123457};
    for (size_t i = 0; i < sizeof byte_counts / sizeof *byte_counts; i++) {
        uint64_t n = byte_counts[i];
        qk_vulkan_buffer *buffer = buffer_of(vk, n);
        uint8_t *data = malloc(n + 1), *back = malloc(n + 1);
        for (uint64_t k = 0; k < n; k++) data[k] = code_at(k + i);
        assert_int_equal(qk_vulkan_range(buffer).size, n);
        OK(qk_vulkan_upload(vk, buffer, 0, data, n, &fix.error));
        OK(qk_vulkan_download(vk, buffer, 0, back, n, &fix.error));
        assert_memory_equal(data, back, n);
        if (n > 8) { /* the middle alone */
            memset(data + 3, 7, n - 8);
            OK(qk_vulkan_upload(vk, buffer, 3, data + 3, n - 8, &fix.error));
            OK(qk_vulkan_download(vk, buffer, 1, back + 1, n - 1, &fix.error));
            assert_memory_equal(data, back, n);
        }
        OK(qk_vulkan_clear(vk, buffer, &fix.error));
        memset(data, 0, n);
        OK(qk_vulkan_download(vk, buffer, 0, back, n, &fix.error));
        assert_memory_equal(data, back, n);
        FAILS(qk_vulkan_upload(vk, buffer, 1, data, n, &fix.error), QK_ERROR_SIZE, "must end within");
        FAILS(qk_vulkan_download(vk, buffer, UINT64_MAX, back, 1, &fix.error), QK_ERROR_SIZE, "must end within");
        free(data);
        free(back);
        qk_vulkan_buffer_destroy(vk, buffer);
    }
}

static void test_buffers(void **state) {
    (void)state;
    qk_vulkan_buffer *buffer;
    qk_vulkan *vk = open_device("");
    round_trips(vk);
    FAILS(qk_vulkan_buffer_create(vk, UINT64_C(1) << 60, &buffer, &fix.error), QK_ERROR_LIMIT, "must be at most");
    FAILS(qk_vulkan_buffer_create(vk, UINT64_MAX, &buffer, &fix.error), QK_ERROR_LIMIT, "must be at most");
    assert_null(buffer);
    qk_vulkan_buffer_destroy(vk, NULL);
    qk_vulkan_destroy(vk);
    qk_vulkan_options options = options_with("");
    options.stage = 1;
    options.stage_bytes = 1000;
    vk = open_with(options);
    round_trips(vk);
    qk_kernel kernel = kernel_of(0);
    qk_backend backend = qk_vulkan_backend(vk);
    run_dequant(vk, &backend, &kernel, 1001);
    qk_vulkan_destroy(vk);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static void test_dequant(void **state) {
    (void)state;
    static const uint64_t counts[] = {1, 2, 15, 16, 17, 1000, 4099};
    qk_vulkan *vk = open_device("");
    qk_kernel kernel = kernel_of(0);
    qk_backend backend = qk_vulkan_backend(vk);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) run_dequant(vk, &backend, &kernel, counts[i]);
    assert_true(qk_vulkan_time_ns(vk) > 0 && qk_vulkan_time_ns(vk) < UINT64_C(60000000000));
    backend.limits.storage_range = 1024; /* 512 launches and more: several descriptor pools */
    backend.limits.workgroup_count = 2;
    run_dequant(vk, &backend, &kernel, 20001);
    qk_vulkan_destroy(vk);
}

/* Parts because the device asks for them, not the test. */
static void test_beyond_range(void **state) {
    (void)state;
    qk_vulkan *vk = open_device("");
    qk_kernel kernel = kernel_of(0);
    qk_backend backend = qk_vulkan_backend(vk);
    uint64_t blocks = qk_vulkan_info(vk)->storage_range / (BLOCK * 4) + 3;
    if (blocks * BLOCK * 4 < UINT64_C(200) << 20) run_dequant(vk, &backend, &kernel, blocks);
    qk_vulkan_destroy(vk);
}

static void test_specialise(void **state) {
    (void)state;
    qk_vulkan *vk = open_device("");
    qk_backend backend = qk_vulkan_backend(vk);
    for (uint32_t i = 0; i < 4; i++) {
        qk_spec_constant constant = constants[0];
        qk_kernel kernel = kernel_of(0);
        kernel.spec_constants = &constant;
        kernel.workgroup_size = constant.value = sizes[i];
        run_dequant(vk, &backend, &kernel, 100);
        constant.value = 3;
        FAILS(qk_vulkan_prepare(vk, &kernel, &fix.error), QK_ERROR_ARGUMENT, "the descriptor changed");
        qk_vulkan_forget(vk, &kernel);
        FAILS(qk_vulkan_prepare(vk, &kernel, &fix.error), QK_ERROR_ARGUMENT,
              "constant workgroup_size is 3, must be one of its 4 legal values, 1 the first");
    }
    qk_vulkan_destroy(vk);
}

static void test_wrong_kernels(void **state) {
    (void)state;
    qk_vulkan *vk = open_device("");
    static const qk_code odd = {test_dequant_words, 21};
    qk_kernel kernel = kernel_of(0);
    kernel.api = QK_API_METAL;
    FAILS(qk_vulkan_prepare(vk, &kernel, &fix.error), QK_ERROR_UNSUPPORTED, "must be QK_API_VULKAN");
    kernel = kernel_of(0);
    kernel.code = &odd;
    FAILS(qk_vulkan_prepare(vk, &kernel, &fix.error), QK_ERROR_ARGUMENT,
          "kernel->code is 21 bytes, must be SPIR-V words");
    kernel = kernel_of(0);
    kernel.binding_count = 1000;
    FAILS(qk_vulkan_prepare(vk, &kernel, &fix.error), QK_ERROR_LIMIT, "kernel->binding_count is 1000, must be at most");
    kernel = kernel_of(0);
    kernel.push_bytes = 1 << 20;
    FAILS(qk_vulkan_prepare(vk, &kernel, &fix.error), QK_ERROR_LIMIT, "kernel->push_bytes is 1048576, must be");
    qk_vulkan_destroy(vk);
}

/* Calls in the wrong order are refused, and do not break what follows. */
static void test_order(void **state) {
    (void)state;
    qk_vulkan *vk = open_device("");
    qk_kernel kernel = kernel_of(0);
    qk_backend backend = qk_vulkan_backend(vk);
    qk_vulkan_buffer *codes = codes_of(vk, 80), *out = buffer_of(vk, 320);
    qk_range weights = qk_vulkan_range(codes), result = qk_vulkan_range(out);
    uint8_t byte = 0;
    FAILS(qk_dispatch_dequant(&backend, &kernel, &weights, result, 80, &fix.error), QK_ERROR_ARGUMENT,
          "bytes_dequant_f32: launched outside of begin and submit");
    FAILS(qk_vulkan_submit(vk, &fix.error), QK_ERROR_ARGUMENT, "submit was called without begin");
    OK(qk_vulkan_begin(vk, &fix.error));
    FAILS(qk_vulkan_upload(vk, codes, 0, &byte, 1, &fix.error), QK_ERROR_ARGUMENT, "between begin and submit");
    FAILS(qk_vulkan_clear(vk, out, &fix.error), QK_ERROR_ARGUMENT, "between begin and submit");
    OK(qk_dispatch_dequant(&backend, &kernel, &weights, result, 80, &fix.error));
    qk_vulkan_barrier(vk);
    OK(qk_vulkan_begin(vk, &fix.error)); /* drops what was recorded */
    result.size = 1000;                  /* which the buffer does not have; and the call needs */
    FAILS(qk_dispatch_dequant(&backend, &kernel, &weights, result, 88, &fix.error), QK_ERROR_SIZE,
          "weights[0].size is 80");
    weights.size = 88;
    FAILS(qk_dispatch_dequant(&backend, &kernel, &weights, result, 88, &fix.error), QK_ERROR_SIZE,
          "the range of codes is bytes 0 to 88, must be within the 80 of its buffer");
    OK(qk_vulkan_submit(vk, &fix.error)); /* nothing */
    run_dequant(vk, &backend, &kernel, 5);
    qk_vulkan_buffer_destroy(vk, codes);
    qk_vulkan_buffer_destroy(vk, out);
    qk_vulkan_destroy(vk);
}

static void run_gather(qk_vulkan *vk, const qk_backend *backend, uint32_t rows, uint32_t cols, uint32_t tokens) {
    static const qk_kernel *kept; /* one address for all calls */
    static qk_kernel kernel;
    if (kept == NULL) kernel = kernel_of(1);
    kept = &kernel;
    qk_vulkan_buffer *codes = codes_of(vk, (uint64_t)rows * cols), *index = buffer_of(vk, tokens * 4u);
    qk_vulkan_buffer *out = buffer_of(vk, (uint64_t)tokens * cols * 4), *status = buffer_of(vk, 4);
    uint32_t *indices = malloc(tokens * 4u), outside = 0, counted = 77;
    float *values = malloc((size_t)tokens * cols * 4);
    for (uint32_t t = 0; t < tokens; t++) {
        indices[t] = t % 7 == 3 ? UINT32_MAX - t : t % 7 == 5 ? rows : (t * 40503u >> 3) % rows;
        outside += indices[t] >= rows;
    }
    memset(values, 0xff, (size_t)tokens * cols * 4);
    OK(qk_vulkan_upload(vk, index, 0, indices, tokens * 4u, &fix.error));
    OK(qk_vulkan_upload(vk, out, 0, values, (uint64_t)tokens * cols * 4, &fix.error));
    OK(qk_vulkan_clear(vk, status, &fix.error));
    qk_range weights = qk_vulkan_range(codes);
    OK(qk_vulkan_begin(vk, &fix.error));
    OK(qk_dispatch_gather(backend, kept, &weights, qk_vulkan_range(index), qk_vulkan_range(out),
                          qk_vulkan_range(status), rows, cols, tokens, &fix.error));
    OK(qk_vulkan_submit(vk, &fix.error));
    OK(qk_vulkan_download(vk, out, 0, values, (uint64_t)tokens * cols * 4, &fix.error));
    OK(qk_vulkan_download(vk, status, 0, &counted, 4, &fix.error));
    assert_int_equal(counted, outside);
    for (uint32_t t = 0; t < tokens; t++)
        for (uint32_t c = 0; c < cols; c++) {
            float value = indices[t] < rows ? (float)code_at((uint64_t)indices[t] * cols + c) : 0;
            if (values[t * cols + c] != value) fail_msg("token %u, column %u", t, c);
        }
    free(indices);
    free(values);
    qk_vulkan_buffer *all[] = {codes, index, out, status};
    for (int i = 0; i < 4; i++) qk_vulkan_buffer_destroy(vk, all[i]);
}

static void test_gather(void **state) {
    (void)state;
    qk_vulkan *vk = open_device("");
    qk_backend backend = qk_vulkan_backend(vk);
    run_gather(vk, &backend, 1, 8, 1);
    run_gather(vk, &backend, 100, 64, 333);
    backend.limits.storage_range = 4096; /* 64 rows of 64 bytes, 16 tokens */
    run_gather(vk, &backend, 100, 64, 333);
    run_gather(vk, &backend, 64, 64, 16);
    run_gather(vk, &backend, 129, 64, 17);
    qk_vulkan_destroy(vk);
}

/* ---- Pipeline cache ---------------------------------------------------------------------------------------------- */

static size_t read_file(const char *path, uint8_t *data, size_t room) {
    FILE *file = fopen(path, "rb");
    size_t bytes = file == NULL ? 0 : fread(data, 1, room, file);
    if (file != NULL) fclose(file);
    return bytes;
}

static void write_file(const char *path, const uint8_t *data, size_t bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* Opens a device with the cache file, makes a pipeline, and sees whether the file was taken. */
static void use_cache(const char *path, int loaded, int run) {
    qk_vulkan_options options = options_with(path);
    options.validate = 0; /* which takes long to start */
    qk_vulkan *vk = open_with(options);
    qk_kernel kernel = kernel_of(0);
    qk_backend backend = qk_vulkan_backend(vk);
    assert_int_equal(qk_vulkan_cache_loaded(vk), loaded);
    if (run) run_dequant(vk, &backend, &kernel, 20);
    OK(qk_vulkan_prepare(vk, &kernel, &fix.error));
    qk_vulkan_destroy(vk);
}

static uint8_t good[1 << 20], damaged[1 << 20];

static void test_cache(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 1, 7, 8, 39, 71, 72, 73, 80};
    unlink(fix.path);
    use_cache(fix.path, 0, 1);
    size_t bytes = read_file(fix.path, good, sizeof good - 1);
    assert_true(bytes > 72);
    use_cache(fix.path, 1, 1);
    for (size_t i = 0; i <= sizeof lengths / sizeof *lengths; i++) {
        size_t length = i < sizeof lengths / sizeof *lengths ? lengths[i] : bytes - 1;
        write_file(fix.path, good, length < bytes ? length : bytes - 1);
        use_cache(fix.path, 0, i % 4 == 0);
        use_cache(fix.path, 1, 0); /* it was replaced */
    }
    good[bytes] = 0;
    write_file(fix.path, good, bytes + 1);
    use_cache(fix.path, 0, 0);
    for (size_t at = 0; at < bytes; at += at < 80 ? 5 : bytes / 8) {
        memcpy(damaged, good, bytes);
        damaged[at] ^= (uint8_t)(1u << at % 8);
        write_file(fix.path, damaged, bytes);
        use_cache(fix.path, 0, 0);
    }
    use_cache(fix.path, 1, 0);
    DIR *dir = opendir(fix.folder); /* and no file was left aside */
    int files = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) files += entry->d_name[0] != '.';
    closedir(dir);
    assert_int_equal(files, 1);
}

/* There is one file, named after vendor, device, and the two identities of the driver. */
static void check_name(const char *folder) {
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.') assert_int_equal(strlen(entry->d_name), strlen("pipelines-") + 9 + 9 + 33 + 32);
    closedir(dir);
}

static void test_cache_places(void **state) {
    (void)state;
    char path[128];
    use_cache("/no/such/folder/cache", 0, 1);
    use_cache(fix.folder, 0, 1); /* a folder is not a file */
    snprintf(path, sizeof path, "%s/cache", fix.folder);
    assert_int_equal(setenv("XDG_CACHE_HOME", path, 1), 0);
    unlink(path);
    use_cache(NULL, 0, 0);
    use_cache(NULL, 1, 0);
    check_name(strcat(path, "/qkgen"));
    path[strlen(path) - 6] = 0;
    write_file(strcat(path, "/file"), good, 1);
    assert_int_equal(setenv("XDG_CACHE_HOME", path, 1), 0); /* below a file nothing can be made */
    use_cache(NULL, 0, 0);
    assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
}

static void test_silent(void **state) {
    (void)state;
    assert_int_equal(fix.messages, 0);
    if (!fix.validate) skip();
    /* And a message would have been counted: an unaligned descriptor range. */
    qk_vulkan_options options = options_with("");
    uint32_t counted = 0;
    options.user = &counted;
    qk_vulkan *vk = open_with(options);
    qk_backend backend = qk_vulkan_backend(vk);
    qk_kernel kernel = kernel_of(0);
    qk_vulkan_buffer *buffer = codes_of(vk, 4096);
    qk_range ranges[] = {qk_vulkan_range(buffer), qk_vulkan_range(buffer)};
    uint32_t tiles = 0;
    qk_launch launch = {&kernel, ranges, &tiles, 1, NULL};
    ranges[0].offset = 1;
    ranges[0].size = 16;
    if (backend.limits.offset_alignment > 1) {
        OK(qk_vulkan_begin(vk, &fix.error));
        OK(backend.launch(backend.context, &launch, &fix.error));
        assert_true(counted > 0 && counted == qk_vulkan_messages(vk));
    }
    qk_vulkan_buffer_destroy(vk, buffer);
    qk_vulkan_destroy(vk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choose),     cmocka_unit_test(test_check),         cmocka_unit_test(test_list),
        cmocka_unit_test(test_buffers),    cmocka_unit_test(test_dequant),       cmocka_unit_test(test_beyond_range),
        cmocka_unit_test(test_specialise), cmocka_unit_test(test_wrong_kernels), cmocka_unit_test(test_order),
        cmocka_unit_test(test_gather),     cmocka_unit_test(test_cache),         cmocka_unit_test(test_cache_places),
        cmocka_unit_test(test_silent),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
