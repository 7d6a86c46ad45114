/* What a physical device is and can do. */
#include "vulkan_internal.h"

#include <qkgen/vulkan_limits.h>
#include <stdlib.h>
#include <string.h>

/* The names of all extensions; NULL when there are none. */
static VkExtensionProperties *extensions_of(VkPhysicalDevice handle, uint32_t *count) {
    *count = 0;
    if (vkEnumerateDeviceExtensionProperties(handle, NULL, count, NULL) != VK_SUCCESS || *count == 0)
        return NULL;
    VkExtensionProperties *all = calloc(*count, sizeof *all);
    if (all == NULL || vkEnumerateDeviceExtensionProperties(handle, NULL, count, all) < 0)
        *count = 0;
    return all;
}

static int among(const VkExtensionProperties *all, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(all[i].extensionName, name) == 0)
            return 1;
    return 0;
}

int qk_vk_has_extension(VkPhysicalDevice handle, const char *name) {
    uint32_t count;
    VkExtensionProperties *all = extensions_of(handle, &count);
    int found = among(all, count, name);
    free(all);
    return found;
}

uint32_t qk_vk_compute_family(VkPhysicalDevice handle, uint32_t *timestamp_bits) {
    uint32_t count = 0, family = UINT32_MAX;
    vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, NULL);
    VkQueueFamilyProperties *all = calloc(count + 1, sizeof *all);
    if (all == NULL)
        return family;
    vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, all);
    for (uint32_t i = 0; i < count && family == UINT32_MAX; i++) {
        if ((all[i].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0)
            continue;
        family = i;
        *timestamp_bits = all[i].timestampValidBits;
    }
    free(all);
    return family;
}

static qk_vulkan_type type_of(VkPhysicalDeviceType type) {
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return QK_VULKAN_INTEGRATED;
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return QK_VULKAN_DISCRETE;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return QK_VULKAN_VIRTUAL;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return QK_VULKAN_CPU;
    default:
        return QK_VULKAN_OTHER;
    }
}

static void describe_limits(const VkPhysicalDeviceLimits *limits, qk_vulkan_device *device) {
    uint32_t buffers = limits->maxPerStageDescriptorStorageBuffers;
    if (buffers > limits->maxDescriptorSetStorageBuffers)
        buffers = limits->maxDescriptorSetStorageBuffers;
    if (buffers > limits->maxPerStageResources)
        buffers = limits->maxPerStageResources;
    device->storage_buffers = buffers;
    QK_TAKE_VULKAN_LIMITS(*device, *limits);
}

static void describe_memory(VkPhysicalDevice handle, qk_vulkan_device *device) {
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(handle, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++) {
        const VkMemoryHeap *heap = &memory.memoryHeaps[i];
        if ((heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) && heap->size > device->memory)
            device->memory = heap->size;
    }
    device->allocation = device->memory;
}

/* Puts `next` at the head of a pNext chain. */
static void chain(void *next, void **head) {
    VkBaseOutStructure *structure = next;
    structure->pNext = *head;
    *head = next;
}

static void describe_features(VkPhysicalDevice handle, const VkExtensionProperties *all, uint32_t count,
                              qk_vulkan_device *device) {
    VkPhysicalDevice16BitStorageFeatures storage16 = {.sType =
                                                          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
    VkPhysicalDevice8BitStorageFeaturesKHR storage8 = {.sType =
                                                           VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES_KHR};
    VkPhysicalDeviceShaderFloat16Int8FeaturesKHR narrow = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES_KHR};
    VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR dot = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES_KHR};
    VkPhysicalDevicePipelineRobustnessFeaturesEXT robustness = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_FEATURES_EXT};
    void *head = NULL;
    chain(&storage16, &head);
    if (among(all, count, VK_KHR_8BIT_STORAGE_EXTENSION_NAME))
        chain(&storage8, &head);
    if (among(all, count, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME))
        chain(&narrow, &head);
    if (among(all, count, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME))
        chain(&dot, &head);
    if (among(all, count, VK_EXT_PIPELINE_ROBUSTNESS_EXTENSION_NAME))
        chain(&robustness, &head);
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = head};
    vkGetPhysicalDeviceFeatures2(handle, &features);
    device->storage_8bit = storage8.storageBuffer8BitAccess == VK_TRUE;
    device->storage_16bit = storage16.storageBuffer16BitAccess == VK_TRUE;
    device->float16 = narrow.shaderFloat16 == VK_TRUE;
    device->int8 = narrow.shaderInt8 == VK_TRUE;
    device->integer_dot_product = dot.shaderIntegerDotProduct == VK_TRUE;
    device->pipeline_robustness = robustness.pipelineRobustness == VK_TRUE;
    device->cooperative_matrix = among(all, count, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
}

static void describe_properties(VkPhysicalDevice handle, const VkExtensionProperties *all, uint32_t count,
                                qk_vulkan_device *device) {
    VkPhysicalDeviceSubgroupProperties subgroup = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceMaintenance3Properties maintenance = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceDriverPropertiesKHR driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES_KHR};
    VkPhysicalDeviceFloatControlsPropertiesKHR floats = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES_KHR};
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV processors = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV};
    void *head = NULL;
    chain(&subgroup, &head);
    chain(&maintenance, &head);
    chain(&id, &head);
    if (among(all, count, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME))
        chain(&driver, &head);
    if (among(all, count, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME))
        chain(&processors, &head);
    const int controls = among(all, count, VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME);
    if (controls)
        chain(&floats, &head);
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = head};
    vkGetPhysicalDeviceProperties2(handle, &properties);
    device->subgroup_size = subgroup.subgroupSize;
    device->multiprocessors = processors.shaderSMCount;
    const VkSubgroupFeatureFlags sums = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
    device->subgroup_arithmetic =
        (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 && (subgroup.supportedOperations & sums) == sums;
    device->subgroup_shuffle = (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                               (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) != 0;
    /* A kernel asks nothing of the other widths. */
    device->rounds_f16 = controls && floats.shaderRoundingModeRTEFloat16 && floats.shaderDenormPreserveFloat16 &&
                         floats.roundingModeIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE_KHR &&
                         floats.denormBehaviorIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE_KHR;
    device->keeps_nan_f32 = controls && floats.shaderSignedZeroInfNanPreserveFloat32;
    device->keeps_subnormal_f32 = controls && floats.shaderDenormPreserveFloat32 &&
                                  floats.denormBehaviorIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE_KHR;
    if (maintenance.maxMemoryAllocationSize < device->allocation)
        device->allocation = maintenance.maxMemoryAllocationSize;
    memcpy(device->driver_uuid, id.driverUUID, sizeof device->driver_uuid);
    if (driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE)
        device->loop_steps = QK_LLVMPIPE_LOOP_STEPS;
    snprintf(device->driver, sizeof device->driver, "%.120s%s%.120s", driver.driverName,
             driver.driverInfo[0] != 0 ? " " : "", driver.driverInfo);
}

void qk_vk_describe(VkPhysicalDevice handle, qk_vulkan_device *device) {
    VkPhysicalDeviceProperties properties;
    uint32_t count, timestamp_bits;
    memset(device, 0, sizeof *device);
    vkGetPhysicalDeviceProperties(handle, &properties);
    snprintf(device->name, sizeof device->name, "%s", properties.deviceName);
    device->type = type_of(properties.deviceType);
    device->api_version = properties.apiVersion;
    device->driver_version = properties.driverVersion;
    device->vendor_id = properties.vendorID;
    device->device_id = properties.deviceID;
    memcpy(device->cache_uuid, properties.pipelineCacheUUID, sizeof device->cache_uuid);
    device->compute = qk_vk_compute_family(handle, &timestamp_bits) != UINT32_MAX;
    describe_limits(&properties.limits, device);
    describe_memory(handle, device);
    if (properties.apiVersion < VK_API_VERSION_1_1)
        return; /* the rest needs Vulkan 1.1 */
    VkExtensionProperties *all = extensions_of(handle, &count);
    describe_features(handle, all, count, device);
    describe_properties(handle, all, count, device);
    free(all);
}
