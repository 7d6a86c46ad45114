/* What the parts of the Vulkan runtime share. Functions named qk_vk_ are not for users. */
#ifndef QKGEN_VULKAN_INTERNAL_H
#define QKGEN_VULKAN_INTERNAL_H

#include <vulkan/vulkan.h>

#include "qkgen/dispatch.h"
#include "qkgen/vulkan.h"

#ifndef VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME
#define VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME "VK_KHR_cooperative_matrix"
#endif

struct qk_vulkan_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint64_t bytes; /* as asked for; the allocation is rounded up to 4 */
    uint8_t *map;   /* where the host can write to it; else NULL */
};

/* A pipeline, with what is needed to see that its kernel is still the same. */
typedef struct qk_vk_pipeline {
    const qk_kernel *kernel;
    const void *code;
    size_t code_bytes;
    uint32_t *constants;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    int given; /* the constants were given at the launch, and are not the descriptor's */
    VkPipeline pipeline;
    uint32_t table_count;
    qk_vulkan_buffer **tables;
    enum { QK_VK_TABLES_EMPTY, QK_VK_TABLES_RECORDED, QK_VK_TABLES_FILLED } filled;
} qk_vk_pipeline;

typedef struct qk_vk_instance {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    void (*message)(void *user, const char *text);
    void *user;
    uint32_t messages;
} qk_vk_instance;

/* As in qk_limits. */
typedef struct qk_vk_matrix {
    uint32_t rows, cols, depth, lanes;
    uint32_t order_a, order_bc;
} qk_vk_matrix;

struct qk_vulkan {
    qk_vk_instance instance;
    VkPhysicalDevice physical;
    qk_vulkan_device info;
    VkPhysicalDeviceMemoryProperties memory;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    int recording;
    int lost;

    VkQueryPool queries; /* two timestamps; VK_NULL_HANDLE when the queue has none */
    uint64_t timestamp_mask;
    double timestamp_period;
    uint64_t time_ns;

    int matrix;                /* was opened with cooperative matrices, and they do what kernels need */
    qk_vk_matrix matrices;     /* which then */
    int sizes_subgroups;       /* was opened with VK_EXT_subgroup_size_control */

    int stage;
    uint64_t stage_bytes;
    qk_vulkan_buffer staging;

    VkDescriptorPool *sets; /* filled one after the other, and reset together by qk_vulkan_begin */
    uint32_t set_count;
    uint32_t set_current;

    qk_vk_pipeline *pipelines;
    uint32_t pipeline_count;

    VkPipelineCache cache;
    char *cache_path; /* NULL: not kept */
    void *cache_data; /* as read */
    size_t cache_bytes;
    int cache_loaded;
};

/* ---- vulkan_instance.c ---- */
/* Fills in `error` with the text and the name of `result`. `vk` may be NULL. */
qk_status qk_vk_fail(qk_vulkan *vk, qk_error *error, VkResult result, const char *format, ...) QK_PRINTF(4, 5);
qk_status qk_vk_lost(const qk_vulkan *vk, qk_error *error);
qk_status qk_vk_no_memory(qk_error *error);
qk_status qk_vk_instance_open(qk_vk_instance *instance, int validate, qk_error *error);
void qk_vk_instance_close(qk_vk_instance *instance);
/* All devices, in `*handles` and `*devices`, which the caller frees. At least one. */
qk_status qk_vk_devices(VkInstance instance, VkPhysicalDevice **handles, qk_vulkan_device **devices, uint32_t *count,
                        qk_error *error);

/* ---- vulkan_describe.c ---- */
void qk_vk_describe(VkPhysicalDevice handle, qk_vulkan_device *device);
int qk_vk_has_extension(VkPhysicalDevice handle, const char *name);
/* The first queue family that computes, or UINT32_MAX. */
uint32_t qk_vk_compute_family(VkPhysicalDevice handle, uint32_t *timestamp_bits);

/* ---- vulkan_buffer.c ---- */
void qk_vk_buffer_close(qk_vulkan *vk, qk_vulkan_buffer *buffer);

/* ---- vulkan_submit.c ---- */
qk_status qk_vk_start(qk_vulkan *vk, qk_error *error);
/* Ends the command buffer, submits it and waits. */
qk_status qk_vk_finish(qk_vulkan *vk, qk_error *error);

/* ---- vulkan_rounding.c ---- */
/* The words of a module with the execution modes that QK_CONSTANT_ROUNDS_F16 is about, in memory that the caller frees, and
 * their size. NULL where there is no memory, or where the words are no module with one entry point. */
uint32_t *qk_vk_with_rounding(const uint32_t *words, size_t bytes, size_t *grown);

/* ---- vulkan_shared.c ---- */
/* Sets `*bytes` to the shared memory of a workgroup with these values of the kernel's constants, in their order. 0 where the words are
 * no module, or where a size depends on what this does not compute. */
int qk_vk_shared_bytes(const qk_kernel *kernel, const uint32_t *values, uint64_t *bytes);

/* ---- vulkan_pipeline.c ---- */
/* `constants` as in qk_launch. */
qk_status qk_vk_pipeline_of(qk_vulkan *vk, const qk_kernel *kernel, const uint32_t *constants,
                            qk_vk_pipeline **pipeline, qk_error *error);
/* What became of the tables that were being filled by a submission. */
void qk_vk_tables_settle(qk_vulkan *vk, int submitted);
void qk_vk_pipelines_close(qk_vulkan *vk);

/* ---- vulkan_matrix.c ---- */
/* What a device is asked for, and opened with: a chain that begins with `matrix`. */
typedef struct qk_vk_matrix_feature_set {
    struct { /* VkPhysicalDeviceCooperativeMatrixFeaturesKHR */
        VkStructureType type;
        void *next;
        VkBool32 cooperative_matrix;
        VkBool32 robust_buffer_access;
    } matrix;
    VkPhysicalDeviceVulkanMemoryModelFeaturesKHR model;
} qk_vk_matrix_feature_set;

/* All false, and chained: must stay where it is. */
void qk_vk_matrix_features(qk_vk_matrix_feature_set *set);
/* Whether a device multiplies matrices that kernels can take; sets all but the orders. Where `matrix->rows` is not 0, of that shape
 * alone. */
int qk_vk_matrix_usable(VkInstance instance, VkPhysicalDevice device, const qk_vulkan_device *info,
                        qk_vk_matrix *matrix);
/* Finds out how the open device orders matrices, and whether their products are right. */
qk_status qk_vk_matrix_open(qk_vulkan *vk, qk_error *error);

/* ---- vulkan_cache.c ---- */
qk_status qk_vk_cache_open(qk_vulkan *vk, const char *path, qk_error *error);
/* Writes the cache if it changed; whether that works is of no consequence. */
void qk_vk_cache_close(qk_vulkan *vk);

#endif
