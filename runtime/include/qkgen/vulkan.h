/* qkgen/vulkan.h: a small Vulkan 1.1 runtime that runs generated kernels. Link with libvulkan; its headers are not
 * needed here. An object is used by one thread at a time; there is no global state.
 *
 *     qk_vulkan *vk;
 *     qk_vulkan_create(NULL, &vk, &error);
 *     qk_vulkan_buffer_create(vk, bytes, &buffer, &error);           // twice: weights, out
 *     qk_vulkan_upload(vk, weights, 0, data, bytes, &error);
 *     qk_backend backend = qk_vulkan_backend(vk);
 *     qk_vulkan_begin(vk, &error);
 *     qk_dispatch_dequant(&backend, kernel, &weights_range, qk_vulkan_range(out), elements, &error);
 *     qk_vulkan_submit(vk, &error);                                  // and waits
 *     qk_vulkan_download(vk, out, 0, data, bytes, &error);
 *
 * Every function that can fail returns a qk_status and fills in `error`, which may be NULL. Nothing here ends the
 * process. QK_ERROR_DEVICE is a Vulkan call that failed; its text ends in the VkResult. Once that was
 * VK_ERROR_DEVICE_LOST, every further call fails in the same way, and only destroying is left to do. */
#ifndef QKGEN_VULKAN_H
#define QKGEN_VULKAN_H

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qk_vulkan qk_vulkan;
typedef struct qk_vulkan_buffer qk_vulkan_buffer;

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

typedef enum qk_vulkan_type {
    QK_VULKAN_OTHER,
    QK_VULKAN_INTEGRATED,
    QK_VULKAN_DISCRETE,
    QK_VULKAN_VIRTUAL,
    QK_VULKAN_CPU
} qk_vulkan_type;

/* What matters of a device, as a plain value. */
typedef struct qk_vulkan_device {
    char name[256];
    char driver[256]; /* name and version in the driver's words; empty when it does not say */
    qk_vulkan_type type;
    uint32_t api_version;    /* major << 22 | minor << 12 | patch */
    uint32_t driver_version; /* the vendor's own packing */
    uint32_t vendor_id;
    uint32_t device_id;
    uint8_t cache_uuid[16]; /* pipelineCacheUUID */
    uint8_t driver_uuid[16];
    int compute;             /* has a queue that computes */
    int storage_8bit;        /* storageBuffer8BitAccess; generated kernels need it */
    int subgroup_arithmetic; /* BASIC and ARITHMETIC in compute shaders: kernels that sum */
    int subgroup_shuffle;    /* SHUFFLE in compute shaders: those of them that load 16 bytes at once */
    int storage_16bit;       /* storageBuffer16BitAccess; likewise */
    int float16;             /* shaderFloat16 */
    int int8;                /* shaderInt8 */
    int integer_dot_product; /* shaderIntegerDotProduct */
    int cooperative_matrix;  /* the extension is there */
    int pipeline_robustness; /* pipelineRobustness: kernels that are launched within their bounds are not checked again */
    int rounds_f16;          /* shaderRoundingModeRTEFloat16 and shaderDenormPreserveFloat16, which go together */
    uint32_t subgroup_size;
    uint32_t multiprocessors;  /* where the driver tells (VK_NV_shader_sm_builtins); else 0 */
    uint32_t storage_range;    /* maxStorageBufferRange, bytes */
    uint32_t offset_alignment; /* minStorageBufferOffsetAlignment, bytes */
    uint32_t storage_buffers;  /* that one kernel can bind */
    uint32_t workgroup_count;  /* in the first dimension */
    uint32_t workgroup_size;   /* threads, in one dimension */
    uint32_t push_bytes;
    uint32_t shared_bytes; /* shared memory of a workgroup */
    uint32_t loop_steps;   /* steps of all loops of a thread, after which the driver ends them; 0: any number */
    uint64_t memory;       /* bytes of the largest device-local heap */
    uint64_t allocation;   /* bytes that one buffer can have, as the driver says */
} qk_vulkan_device;

/* "cpu", "discrete", ... */
const char *qk_vulkan_type_name(qk_vulkan_type type);

/* Lists the devices in the order of the loader. `*count` is the room in `devices` on entry, and the number of devices
 * on return, which may be larger. No device at all is an error, QK_ERROR_UNSUPPORTED. */
qk_status qk_vulkan_list(qk_vulkan_device *devices, uint32_t *count, qk_error *error);

/* Chooses one of `devices`. `wanted` is an index, or a part of a name in any case; NULL or "" takes the first CPU
 * device, so that results are reproducible, else the first of all. Pure. */
qk_status qk_vulkan_choose(const qk_vulkan_device *devices, uint32_t count, const char *wanted, uint32_t *chosen,
                           qk_error *error);

/* Whether generated kernels can run: Vulkan 1.1, a compute queue, 8-bit and 16-bit storage. The text of
 * QK_ERROR_UNSUPPORTED names what is missing. Pure. */
qk_status qk_vulkan_check(const qk_vulkan_device *device, qk_error *error);

/* ---- The runtime ------------------------------------------------------------------------------------------------- */

/* All zero is the default. */
typedef struct qk_vulkan_options {
    const char *device;     /* as `wanted` of qk_vulkan_choose */
    const char *cache_path; /* of the pipeline cache. NULL: $XDG_CACHE_HOME/qkgen or ~/.cache/qkgen, one file for each
                               device and driver; "": none */
    int validate;           /* run under VK_LAYER_KHRONOS_validation */
    void (*message)(void *user, const char *text); /* takes its messages; NULL prints them to stderr */
    void *user;
    int stage;            /* copy through a staging buffer even where the host could write to the device's memory */
    uint64_t stage_bytes; /* of that buffer; 0: 64 MiB */
    uint32_t matrix_rows, matrix_cols, matrix_depth; /* takes cooperative matrices of that shape alone; 0: the best there are */
} qk_vulkan_options;

/* Opens a device with the features that qk_vulkan_check asks for, and no others. `options` may be NULL; it and its
 * texts are not kept, but `message` and `user` are. On failure `*vk` is NULL. */
qk_status qk_vulkan_create(const qk_vulkan_options *options, qk_vulkan **vk, qk_error *error);

/* Writes the pipeline cache if it changed, and frees everything but buffers, which must be destroyed before. NULL is
 * fine. */
void qk_vulkan_destroy(qk_vulkan *vk);

/* The device that is open. */
const qk_vulkan_device *qk_vulkan_info(const qk_vulkan *vk);

/* Validation messages so far; 0 without `validate`. */
uint32_t qk_vulkan_messages(const qk_vulkan *vk);

/* Whether pipelines came from a cache file that was valid. */
int qk_vulkan_cache_loaded(const qk_vulkan *vk);

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

/* A storage buffer of `bytes`, 0 included, with undefined content. QK_ERROR_LIMIT when that is more than the device
 * has. */
qk_status qk_vulkan_buffer_create(qk_vulkan *vk, uint64_t bytes, qk_vulkan_buffer **buffer, qk_error *error);

/* NULL is fine. Not while launches that use it are recorded and not submitted. */
void qk_vulkan_buffer_destroy(qk_vulkan *vk, qk_vulkan_buffer *buffer);

/* All of a buffer, for the dispatch functions. `range.buffer` is the qk_vulkan_buffer. */
qk_range qk_vulkan_range(const qk_vulkan_buffer *buffer);

/* Copies `bytes` to or from a buffer, any size and offset, and returns when it is done. Not between begin and
 * submit. */
qk_status qk_vulkan_upload(qk_vulkan *vk, qk_vulkan_buffer *to, uint64_t offset, const void *data, uint64_t bytes,
                           qk_error *error);
qk_status qk_vulkan_download(qk_vulkan *vk, const qk_vulkan_buffer *from, uint64_t offset, void *data, uint64_t bytes,
                             qk_error *error);

/* Sets all of a buffer to zero bits: a status word, say. Not between begin and submit. */
qk_status qk_vulkan_clear(qk_vulkan *vk, qk_vulkan_buffer *buffer, qk_error *error);

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

/* Begins to record. What was recorded and not submitted is dropped. */
qk_status qk_vulkan_begin(qk_vulkan *vk, qk_error *error);

/* The backend for qkgen/dispatch.h. Its `launch` records, between begin and submit, and makes the pipeline when it
 * first sees a kernel. `ranges` hold handles of qk_vulkan_buffer_create. The limits may be lowered, never raised.
 *
 * Pipelines are kept by the kernel's address: a descriptor and its code must stay as they are until qk_vulkan_destroy
 * or qk_vulkan_forget. To set specialisation constants, copy the descriptor, and change `value` in a copy of its
 * constants (and `workgroup_size` with the constant that holds it). */
qk_backend qk_vulkan_backend(qk_vulkan *vk);

/* Records a copy of all of a buffer to another of the same size: what the device's memory can do. */
qk_status qk_vulkan_copy(qk_vulkan *vk, const qk_vulkan_buffer *from, qk_vulkan_buffer *to, qk_error *error);

/* Makes what was recorded before visible to what follows, for dispatch calls that read each other's results. */
void qk_vulkan_barrier(qk_vulkan *vk);

/* Submits what was recorded and waits. Afterwards the results are visible to the host and to later submissions. */
qk_status qk_vulkan_submit(qk_vulkan *vk, qk_error *error);

/* Device time from the first launch to the last of the latest submission, in nanoseconds; 0 when the device has no
 * timestamps. */
uint64_t qk_vulkan_time_ns(const qk_vulkan *vk);

/* Makes the pipeline of a kernel now, and not at its first launch: to warm up, or to see if the driver takes it. */
qk_status qk_vulkan_prepare(qk_vulkan *vk, const qk_kernel *kernel, qk_error *error);

/* Drops the pipeline of a kernel whose descriptor is going away. Not while launches of it are recorded. */
void qk_vulkan_forget(qk_vulkan *vk, const qk_kernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
