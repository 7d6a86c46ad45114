/* The Vulkan instance, its messages, and the choice of a device. */
#include "vulkan_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"
#define NO_DEVICE "no Vulkan device was found; package mesa-vulkan-drivers provides one that runs on the CPU"

static const char *result_name(VkResult result) {
#define R(name)                                                                                                        \
    case name:                                                                                                         \
        return #name
    switch (result) {
        R(VK_SUCCESS);
        R(VK_NOT_READY);
        R(VK_TIMEOUT);
        R(VK_INCOMPLETE);
        R(VK_ERROR_OUT_OF_HOST_MEMORY);
        R(VK_ERROR_OUT_OF_DEVICE_MEMORY);
        R(VK_ERROR_INITIALIZATION_FAILED);
        R(VK_ERROR_DEVICE_LOST);
        R(VK_ERROR_MEMORY_MAP_FAILED);
        R(VK_ERROR_LAYER_NOT_PRESENT);
        R(VK_ERROR_EXTENSION_NOT_PRESENT);
        R(VK_ERROR_FEATURE_NOT_PRESENT);
        R(VK_ERROR_INCOMPATIBLE_DRIVER);
        R(VK_ERROR_TOO_MANY_OBJECTS);
        R(VK_ERROR_FRAGMENTED_POOL);
        R(VK_ERROR_OUT_OF_POOL_MEMORY);
        R(VK_ERROR_INVALID_SHADER_NV);
    default:
        return "an unknown VkResult";
    }
#undef R
}

qk_status qk_vk_fail(qk_vulkan *vk, qk_error *error, VkResult result, const char *format, ...) {
    char text[160];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (vk != NULL && result == VK_ERROR_DEVICE_LOST)
        vk->lost = 1;
    return qk_fail(error, QK_ERROR_DEVICE, "%s: %s (%d)", text, result_name(result), (int)result);
}

qk_status qk_vk_lost(const qk_vulkan *vk, qk_error *error) {
    if (!vk->lost)
        return QK_OK;
    return qk_fail(error, QK_ERROR_DEVICE, "%s was lost earlier: VK_ERROR_DEVICE_LOST", vk->info.name);
}

qk_status qk_vk_no_memory(qk_error *error) {
    return qk_fail(error, QK_ERROR_DEVICE, "the host is out of memory");
}

/* ---- Instance ---------------------------------------------------------------------------------------------------- */

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data, void *user) {
    qk_vk_instance *instance = user;
    (void)severity;
    (void)types;
    instance->messages++;
    if (instance->message != NULL)
        instance->message(instance->user, data->pMessage);
    else
        fprintf(stderr, "vulkan: %s\n", data->pMessage);
    return VK_FALSE;
}

static int has_instance_extension(const char *name) {
    uint32_t count = 0;
    int found = 0;
    if (vkEnumerateInstanceExtensionProperties(NULL, &count, NULL) != VK_SUCCESS || count == 0)
        return 0;
    VkExtensionProperties *all = calloc(count, sizeof *all);
    if (all != NULL && vkEnumerateInstanceExtensionProperties(NULL, &count, all) >= 0)
        for (uint32_t i = 0; i < count; i++)
            found |= strcmp(all[i].extensionName, name) == 0;
    free(all);
    return found;
}

static qk_status open_messenger(qk_vk_instance *instance, const VkDebugUtilsMessengerCreateInfoEXT *info,
                                qk_error *error) {
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(instance->instance, "vkCreateDebugUtilsMessengerEXT");
    VkResult result =
        create == NULL ? VK_ERROR_EXTENSION_NOT_PRESENT : create(instance->instance, info, NULL, &instance->messenger);
    if (result == VK_SUCCESS)
        return QK_OK;
    instance->messenger = VK_NULL_HANDLE;
    return qk_vk_fail(NULL, error, result, "vkCreateDebugUtilsMessengerEXT");
}

qk_status qk_vk_instance_open(qk_vk_instance *instance, int validate, qk_error *error) {
    static const char *const layers[] = {VALIDATION_LAYER};
    const char *extensions[2];
    uint32_t count = 0;
    VkInstanceCreateFlags flags = 0;
    if (validate)
        extensions[count++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    if (has_instance_extension(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) {
        extensions[count++] = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
        flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    }
    VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity =
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = instance,
    };
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "qkgen",
        .apiVersion = VK_API_VERSION_1_1,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = validate ? &messenger : NULL,
        .flags = flags,
        .pApplicationInfo = &application,
        .enabledLayerCount = validate ? 1 : 0,
        .ppEnabledLayerNames = layers,
        .enabledExtensionCount = count,
        .ppEnabledExtensionNames = extensions,
    };
    VkResult result = vkCreateInstance(&info, NULL, &instance->instance);
    if (result != VK_SUCCESS)
        instance->instance = VK_NULL_HANDLE;
    if (result == VK_ERROR_LAYER_NOT_PRESENT)
        return qk_fail(error, QK_ERROR_UNSUPPORTED,
                       "the layer " VALIDATION_LAYER " is not installed; package "
                       "vulkan-validationlayers provides it");
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
        return qk_fail(error, QK_ERROR_UNSUPPORTED, NO_DEVICE);
    if (result != VK_SUCCESS)
        return qk_vk_fail(NULL, error, result, "vkCreateInstance");
    return validate ? open_messenger(instance, &messenger, error) : QK_OK;
}

void qk_vk_instance_close(qk_vk_instance *instance) {
    if (instance->instance == VK_NULL_HANDLE)
        return;
    if (instance->messenger != VK_NULL_HANDLE) {
        PFN_vkDestroyDebugUtilsMessengerEXT destroy = (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
            instance->instance, "vkDestroyDebugUtilsMessengerEXT");
        if (destroy != NULL)
            destroy(instance->instance, instance->messenger, NULL);
    }
    vkDestroyInstance(instance->instance, NULL);
    instance->instance = VK_NULL_HANDLE;
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

qk_status qk_vk_devices(VkInstance instance, VkPhysicalDevice **handles, qk_vulkan_device **devices, uint32_t *count,
                        qk_error *error) {
    *handles = NULL;
    *devices = NULL;
    *count = 0;
    VkResult result = vkEnumeratePhysicalDevices(instance, count, NULL);
    if (result == VK_SUCCESS && *count > 0) {
        *handles = calloc(*count, sizeof **handles);
        *devices = calloc(*count, sizeof **devices);
        if (*handles == NULL || *devices == NULL)
            return qk_vk_no_memory(error);
        result = vkEnumeratePhysicalDevices(instance, count, *handles);
    }
    if (result < 0 && result != VK_ERROR_INITIALIZATION_FAILED)
        return qk_vk_fail(NULL, error, result, "vkEnumeratePhysicalDevices");
    if (result < 0 || *count == 0 || *handles == NULL)
        return qk_fail(error, QK_ERROR_UNSUPPORTED, NO_DEVICE);
    for (uint32_t i = 0; i < *count; i++)
        qk_vk_describe((*handles)[i], &(*devices)[i]);
    return QK_OK;
}

qk_status qk_vulkan_list(qk_vulkan_device *devices, uint32_t *count, qk_error *error) {
    qk_vk_instance instance = {0};
    VkPhysicalDevice *handles = NULL;
    qk_vulkan_device *all = NULL;
    uint32_t found = 0;
    qk_status status = qk_vk_instance_open(&instance, 0, error);
    if (status == QK_OK)
        status = qk_vk_devices(instance.instance, &handles, &all, &found, error);
    if (status == QK_OK)
        for (uint32_t i = 0; i < found && i < *count; i++)
            devices[i] = all[i];
    *count = status == QK_OK ? found : 0;
    free(handles);
    free(all);
    qk_vk_instance_close(&instance);
    return status;
}

const char *qk_vulkan_type_name(qk_vulkan_type type) {
    switch (type) {
    case QK_VULKAN_OTHER:
        return "other";
    case QK_VULKAN_INTEGRATED:
        return "integrated";
    case QK_VULKAN_DISCRETE:
        return "discrete";
    case QK_VULKAN_VIRTUAL:
        return "virtual";
    case QK_VULKAN_CPU:
        return "cpu";
    }
    return "other";
}

static int contains(const char *name, const char *part) {
    size_t n = strlen(part);
    for (; strlen(name) >= n; name++) {
        size_t i = 0;
        while (i < n && tolower((unsigned char)name[i]) == tolower((unsigned char)part[i]))
            i++;
        if (i == n)
            return 1;
    }
    return 0;
}

/* The number that `text` is, or UINT32_MAX. */
static uint32_t index_of(const char *text) {
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 4 || text[digits] != 0)
        return UINT32_MAX;
    return (uint32_t)strtoul(text, NULL, 10);
}

qk_status qk_vulkan_choose(const qk_vulkan_device *devices, uint32_t count, const char *wanted, uint32_t *chosen,
                           qk_error *error) {
    int any = wanted == NULL || wanted[0] == 0;
    *chosen = 0;
    if (count == 0)
        return qk_fail(error, QK_ERROR_UNSUPPORTED, NO_DEVICE);
    if (!any && index_of(wanted) < count) {
        *chosen = index_of(wanted);
        return QK_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (any ? devices[i].type != QK_VULKAN_CPU : !contains(devices[i].name, wanted))
            continue;
        *chosen = i;
        return QK_OK;
    }
    if (any)
        return QK_OK;
    return qk_fail(error, QK_ERROR_ARGUMENT,
                   "device is \"%.80s\", must be an index below %" PRIu32 " or part of a name: "
                   "device 0 is %.80s",
                   wanted, count, devices[0].name);
}

qk_status qk_vulkan_check(const qk_vulkan_device *device, qk_error *error) {
    char missing[128] = "";
    if (device->api_version < VK_API_VERSION_1_1)
        return qk_fail(error, QK_ERROR_UNSUPPORTED, "%.128s has Vulkan %u.%u, must have at least 1.1", device->name,
                       VK_API_VERSION_MAJOR(device->api_version), VK_API_VERSION_MINOR(device->api_version));
    if (!device->storage_8bit)
        strcat(missing, qk_feature_name(QK_FEATURE_STORAGE_8BIT));
    if (!device->storage_16bit) {
        if (missing[0] != 0)
            strcat(missing, " and ");
        strcat(missing, qk_feature_name(QK_FEATURE_STORAGE_16BIT));
    }
    if (missing[0] != 0)
        return qk_fail(error, QK_ERROR_UNSUPPORTED, "%.128s lacks %s, which generated kernels require", device->name,
                       missing);
    if (!device->compute)
        return qk_fail(error, QK_ERROR_UNSUPPORTED, "%.128s lacks a compute queue, which generated kernels require",
                       device->name);
    return QK_OK;
}
