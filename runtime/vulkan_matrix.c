/* Cooperative matrices: whether a device multiplies those that generated kernels ask for, and how its threads hold them, which is asked
 * when it is opened (qkgen/matrix_order.h). */
#include "vulkan_internal.h"

#include <qkgen/matrix_order.h>
#include <stdlib.h>
#include <string.h>

/* Younger than the headers that we ask for. */
enum {
    MATRIX_FEATURES = 1000506000, /* VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR */
    MATRIX_SHAPE = 1000506001,    /* VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR */
    COMPONENT_F16 = 0,            /* VK_COMPONENT_TYPE_FLOAT16_KHR */
    COMPONENT_F32 = 1,            /* VK_COMPONENT_TYPE_FLOAT32_KHR */
    SCOPE_SUBGROUP = 3            /* VK_SCOPE_SUBGROUP_KHR */
};

/* VkCooperativeMatrixPropertiesKHR */
typedef struct matrix_shape {
    VkStructureType type;
    void *next;
    uint32_t m, n, k;
    uint32_t a, b, c, result;
    VkBool32 saturating;
    uint32_t scope;
} matrix_shape;

typedef VkResult(VKAPI_PTR *get_shapes)(VkPhysicalDevice, uint32_t *, matrix_shape *);

void qk_vk_matrix_features(qk_vk_matrix_feature_set *set) {
    memset(set, 0, sizeof *set);
    set->matrix.type = (VkStructureType)MATRIX_FEATURES;
    set->model.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES_KHR;
    set->matrix.next = &set->model;
}

/* 16 x 16 times 16 x 8 in f16, summed in f32. */
static int has_shape(VkInstance instance, VkPhysicalDevice device) {
    get_shapes get = (get_shapes)vkGetInstanceProcAddr(instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    uint32_t count = 0;
    int found = 0;
    if (get == NULL || get(device, &count, NULL) != VK_SUCCESS || count == 0)
        return 0;
    matrix_shape *all = calloc(count, sizeof *all);
    for (uint32_t i = 0; all != NULL && i < count; i++)
        all[i].type = (VkStructureType)MATRIX_SHAPE;
    if (all != NULL && get(device, &count, all) >= 0)
        for (uint32_t i = 0; i < count; i++)
            found |= all[i].m == 16 && all[i].n == 8 && all[i].k == 16 && all[i].a == COMPONENT_F16 &&
                     all[i].b == COMPONENT_F16 && all[i].c == COMPONENT_F32 && all[i].result == COMPONENT_F32 &&
                     all[i].scope == SCOPE_SUBGROUP && !all[i].saturating;
    free(all);
    return found;
}

int qk_vk_matrix_usable(VkInstance instance, VkPhysicalDevice device, const qk_vulkan_device *info) {
    if (!info->cooperative_matrix || !info->float16 || !info->subgroup_shuffle || info->subgroup_size != 32 ||
        !qk_vk_has_extension(device, VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME))
        return 0;
    qk_vk_matrix_feature_set set;
    qk_vk_matrix_features(&set);
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &set.matrix};
    vkGetPhysicalDeviceFeatures2(device, &features);
    return set.matrix.cooperative_matrix && set.model.vulkanMemoryModel && has_shape(instance, device);
}

/* ---- the order ---------------------------------------------------------------------------------------------------- */

qk_status qk_vk_matrix_open(qk_vulkan *vk, qk_error *error) {
    uint32_t from[QK_MATRIX_FROM_WORDS];
    float to[QK_MATRIX_TO_FLOATS] = {0};
    qk_vulkan_buffer *in = NULL, *out = NULL;
    qk_kernel kernel;
    qk_matrix_probe(&kernel);
    qk_matrix_number(from);
    qk_status status = qk_vulkan_buffer_create(vk, sizeof from, &in, error);
    if (status == QK_OK)
        status = qk_vulkan_buffer_create(vk, sizeof to, &out, error);
    if (status == QK_OK)
        status = qk_vulkan_upload(vk, in, 0, from, sizeof from, error);
    if (status == QK_OK)
        status = qk_vulkan_begin(vk, error);
    if (status == QK_OK) {
        qk_backend backend = qk_vulkan_backend(vk);
        const qk_range ranges[] = {qk_vulkan_range(in), qk_vulkan_range(out)};
        const qk_launch launch = {.kernel = &kernel, .ranges = ranges, .workgroups = 1};
        status = backend.launch(backend.context, &launch, error);
    }
    if (status == QK_OK)
        status = qk_vulkan_submit(vk, error);
    if (status == QK_OK)
        status = qk_vulkan_download(vk, out, 0, to, sizeof to, error);
    if (status == QK_OK) {
        qk_limits limits = {0};
        vk->matrix = qk_matrix_read_order(to, &limits);
        vk->matrix_order_a = limits.matrix_order_a;
        vk->matrix_order_bc = limits.matrix_order_bc;
    }
    qk_vulkan_forget(vk, &kernel);
    qk_vulkan_buffer_destroy(vk, in);
    qk_vulkan_buffer_destroy(vk, out);
    return status;
}
