/* Opening and closing a device. */
#include "vulkan_internal.h"

#include <stdlib.h>
#include <string.h>

#define PORTABILITY_SUBSET "VK_KHR_portability_subset" /* which a driver that lists it wants enabled */

/* Finds the device that the options ask for. */
static qk_status choose(qk_vulkan *vk, const char *wanted, qk_error *error) {
    VkPhysicalDevice *handles;
    qk_vulkan_device *devices;
    uint32_t count, chosen = 0;
    qk_status status = qk_vk_devices(vk->instance.instance, &handles, &devices, &count, error);
    if (status == QK_OK)
        status = qk_vulkan_choose(devices, count, wanted, &chosen, error);
    if (status == QK_OK)
        status = qk_vulkan_check(&devices[chosen], error);
    if (status == QK_OK) {
        vk->physical = handles[chosen];
        vk->info = devices[chosen];
        vkGetPhysicalDeviceMemoryProperties(vk->physical, &vk->memory);
    }
    free(handles);
    free(devices);
    return status;
}

static qk_status open_device(qk_vulkan *vk, uint32_t family, qk_error *error) {
    const char *extensions[10] = {VK_KHR_8BIT_STORAGE_EXTENSION_NAME};
    uint32_t count = 1;
    qk_vk_matrix_feature_set matrix;
    const int with_matrix = qk_vk_matrix_usable(vk->instance.instance, vk->physical, &vk->info, &vk->matrices);
    qk_vk_matrix_features(&matrix);
    if (with_matrix) {
        extensions[count++] = VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME;
        extensions[count++] = VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME;
        matrix.matrix.cooperative_matrix = matrix.model.vulkanMemoryModel = VK_TRUE;
        matrix.model.vulkanMemoryModelDeviceScope = VK_TRUE; /* with the model, atomic operations need it */
    }
    float priority = 1;
    if (qk_vk_has_extension(vk->physical, PORTABILITY_SUBSET))
        extensions[count++] = PORTABILITY_SUBSET;
    if (vk->info.rounds_f16 || vk->info.keeps_nan_f32 || vk->info.keeps_subnormal_f32)
        extensions[count++] = VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME;
    VkPhysicalDevice8BitStorageFeaturesKHR storage8 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES_KHR,
        .pNext = with_matrix ? &matrix.matrix : NULL,
        .storageBuffer8BitAccess = VK_TRUE,
    };
    VkPhysicalDevice16BitStorageFeatures storage16 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
        .pNext = &storage8,
        .storageBuffer16BitAccess = VK_TRUE,
    };
    VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR dot = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES_KHR,
        .pNext = storage8.pNext,
        .shaderIntegerDotProduct = VK_TRUE,
    };
    if (vk->info.integer_dot_product) {
        extensions[count++] = VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME;
        storage8.pNext = &dot;
    }
    VkPhysicalDeviceShaderFloat16Int8FeaturesKHR narrow = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES_KHR,
        .pNext = storage8.pNext,
        .shaderFloat16 = VK_TRUE,
    };
    if (vk->info.float16) {
        extensions[count++] = VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME;
        storage8.pNext = &narrow;
    }
    VkPhysicalDevicePipelineRobustnessFeaturesEXT robustness = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_FEATURES_EXT,
        .pNext = storage8.pNext,
        .pipelineRobustness = VK_TRUE,
    };
    if (vk->info.pipeline_robustness) {
        extensions[count++] = VK_EXT_PIPELINE_ROBUSTNESS_EXTENSION_NAME;
        storage8.pNext = &robustness;
    }
    VkPhysicalDeviceSubgroupSizeControlFeaturesEXT sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT,
        .pNext = storage8.pNext,
        .subgroupSizeControl = VK_TRUE,
    };
    vk->sizes_subgroups = with_matrix && vk->matrices.lanes != vk->info.subgroup_size;
    if (vk->sizes_subgroups) {
        extensions[count++] = VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME;
        storage8.pNext = &sizes;
    }
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &storage16,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = count,
        .ppEnabledExtensionNames = extensions,
    };
    VkResult result = vkCreateDevice(vk->physical, &info, NULL, &vk->device);
    if (result != VK_SUCCESS) {
        vk->device = VK_NULL_HANDLE;
        return qk_vk_fail(vk, error, result, "vkCreateDevice on %s", vk->info.name);
    }
    vkGetDeviceQueue(vk->device, family, 0, &vk->queue);
    vk->matrix = with_matrix;
    return QK_OK;
}

static qk_status open_commands(qk_vulkan *vk, uint32_t family, qk_error *error) {
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = family,
    };
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkResult result = vkCreateCommandPool(vk->device, &pool, NULL, &vk->pool);
    if (result != VK_SUCCESS) {
        vk->pool = VK_NULL_HANDLE;
        return qk_vk_fail(vk, error, result, "vkCreateCommandPool");
    }
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = vk->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    result = vkAllocateCommandBuffers(vk->device, &commands, &vk->commands);
    if (result != VK_SUCCESS)
        return qk_vk_fail(vk, error, result, "vkAllocateCommandBuffers");
    result = vkCreateFence(vk->device, &fence, NULL, &vk->fence);
    if (result == VK_SUCCESS)
        return QK_OK;
    vk->fence = VK_NULL_HANDLE;
    return qk_vk_fail(vk, error, result, "vkCreateFence");
}

static qk_status open_queries(qk_vulkan *vk, uint32_t bits, qk_error *error) {
    VkPhysicalDeviceProperties properties;
    VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = 2,
    };
    if (bits == 0)
        return QK_OK;
    vkGetPhysicalDeviceProperties(vk->physical, &properties);
    vk->timestamp_period = properties.limits.timestampPeriod;
    vk->timestamp_mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    VkResult result = vkCreateQueryPool(vk->device, &info, NULL, &vk->queries);
    if (result == VK_SUCCESS)
        return QK_OK;
    vk->queries = VK_NULL_HANDLE;
    return qk_vk_fail(vk, error, result, "vkCreateQueryPool");
}

static qk_status open_all(qk_vulkan *vk, const qk_vulkan_options *options, qk_error *error) {
    uint32_t bits = 0;
    qk_status status = qk_vk_instance_open(&vk->instance, options->validate, error);
    if (status == QK_OK)
        status = choose(vk, options->device, error);
    if (status != QK_OK)
        return status;
    uint32_t family = qk_vk_compute_family(vk->physical, &bits);
    status = open_device(vk, family, error);
    if (status == QK_OK)
        status = open_commands(vk, family, error);
    if (status == QK_OK)
        status = open_queries(vk, bits, error);
    if (status == QK_OK)
        status = qk_vk_cache_open(vk, options->cache_path, error);
    if (status == QK_OK && vk->matrix)
        status = qk_vk_matrix_open(vk, error);
    return status;
}

qk_status qk_vulkan_create(const qk_vulkan_options *options, qk_vulkan **vk, qk_error *error) {
    static const qk_vulkan_options none;
    *vk = NULL;
    qk_vulkan *made = calloc(1, sizeof *made);
    if (made == NULL)
        return qk_vk_no_memory(error);
    if (options == NULL)
        options = &none;
    made->instance.message = options->message;
    made->instance.user = options->user;
    made->matrices.rows = options->matrix_rows;
    made->matrices.cols = options->matrix_cols;
    made->matrices.depth = options->matrix_depth;
    made->stage = options->stage;
    made->stage_bytes = options->stage_bytes != 0 ? options->stage_bytes : UINT64_C(64) << 20;
    qk_status status = open_all(made, options, error);
    if (status == QK_OK)
        *vk = made;
    else
        qk_vulkan_destroy(made);
    return status;
}

void qk_vulkan_destroy(qk_vulkan *vk) {
    if (vk == NULL)
        return;
    if (vk->device != VK_NULL_HANDLE) {
        vkDeviceWaitIdle(vk->device);
        qk_vk_buffer_close(vk, &vk->staging);
        qk_vk_pipelines_close(vk);
        qk_vk_cache_close(vk);
        for (uint32_t i = 0; i < vk->set_count; i++)
            vkDestroyDescriptorPool(vk->device, vk->sets[i], NULL);
        vkDestroyQueryPool(vk->device, vk->queries, NULL);
        vkDestroyFence(vk->device, vk->fence, NULL);
        vkDestroyCommandPool(vk->device, vk->pool, NULL);
        vkDestroyDevice(vk->device, NULL);
    }
    qk_vk_instance_close(&vk->instance);
    free(vk->sets);
    free(vk->cache_path);
    free(vk->cache_data);
    free(vk);
}

const qk_vulkan_device *qk_vulkan_info(const qk_vulkan *vk) {
    return &vk->info;
}

uint32_t qk_vulkan_messages(const qk_vulkan *vk) {
    return vk->instance.messages;
}

int qk_vulkan_cache_loaded(const qk_vulkan *vk) {
    return vk->cache_loaded;
}
