/* Cooperative matrices: whether a device multiplies those that generated kernels ask for, and how its threads hold them, which is asked
 * when it is opened (qkgen/matrix_order.h). */
#include "vulkan_internal.h"

#include <qkgen/matrix_order.h>
#include <stdlib.h>
#include <string.h>

/* Younger than the headers that we ask for. */
enum {
    MATRIX_FEATURES = 1000506000, /* VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR */
    MATRIX_SHAPE = 1000506001     /* VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR */
};

typedef VkResult(VKAPI_PTR *get_shapes)(VkPhysicalDevice, uint32_t *, qk_matrix_offer *);

void qk_vk_matrix_features(qk_vk_matrix_feature_set *set) {
    memset(set, 0, sizeof *set);
    set->matrix.type = (VkStructureType)MATRIX_FEATURES;
    set->model.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES_KHR;
    set->matrix.next = &set->model;
}

static qk_limits limits_of(const qk_vk_matrix *matrix) {
    qk_limits limits = {0};
    limits.matrix_rows = matrix->rows;
    limits.matrix_cols = matrix->cols;
    limits.matrix_depth = matrix->depth;
    limits.matrix_lanes = matrix->lanes;
    return limits;
}

/* The shape that kernels take, or that which is wanted. */
static int find_shape(VkInstance instance, VkPhysicalDevice device, qk_vk_matrix *matrix) {
    get_shapes get = (get_shapes)vkGetInstanceProcAddr(instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    qk_limits limits = limits_of(matrix);
    uint32_t count = 0;
    if (get == NULL || get(device, &count, NULL) != VK_SUCCESS || count == 0)
        return 0;
    qk_matrix_offer *all = calloc(count, sizeof *all);
    for (uint32_t i = 0; all != NULL && i < count; i++)
        all[i].type = MATRIX_SHAPE;
    int found =
        all != NULL && get(device, &count, all) >= 0 && qk_matrix_take_shape(all, count, matrix->lanes, &limits);
    matrix->rows = limits.matrix_rows;
    matrix->cols = limits.matrix_cols;
    matrix->depth = limits.matrix_depth;
    free(all);
    return found;
}

/* Where subgroups have 64 lanes, kernels ask for 32: 0 where they cannot. */
static uint32_t lanes_of(VkPhysicalDevice device, const qk_vulkan_device *info) {
    if (info->subgroup_size != 64)
        return info->subgroup_size == 8 || info->subgroup_size == 16 || info->subgroup_size == 32 ? info->subgroup_size
                                                                                                  : 0;
    VkPhysicalDeviceSubgroupSizeControlPropertiesEXT sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &sizes};
    VkPhysicalDeviceSubgroupSizeControlFeaturesEXT control = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &control};
    if (!qk_vk_has_extension(device, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME))
        return 0;
    vkGetPhysicalDeviceProperties2(device, &properties);
    vkGetPhysicalDeviceFeatures2(device, &features);
    return control.subgroupSizeControl && sizes.minSubgroupSize <= 32 && sizes.maxSubgroupSize >= 32 &&
                   (sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0
               ? 32
               : 0;
}

int qk_vk_matrix_usable(VkInstance instance, VkPhysicalDevice device, const qk_vulkan_device *info,
                        qk_vk_matrix *matrix) {
    matrix->lanes = lanes_of(device, info);
    if (!info->cooperative_matrix || !info->float16 || !info->subgroup_shuffle || matrix->lanes == 0 ||
        !qk_vk_has_extension(device, VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME))
        return 0;
    qk_vk_matrix_feature_set set;
    qk_vk_matrix_features(&set);
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &set.matrix};
    vkGetPhysicalDeviceFeatures2(device, &features);
    return set.matrix.cooperative_matrix && set.model.vulkanMemoryModel && set.model.vulkanMemoryModelDeviceScope &&
           find_shape(instance, device, matrix);
}

/* ---- the order ---------------------------------------------------------------------------------------------------- */

qk_status qk_vk_matrix_open(qk_vulkan *vk, qk_error *error) {
    qk_matrix_question ask;
    qk_vulkan_buffer *in = NULL, *out = NULL;
    qk_limits limits = limits_of(&vk->matrices);
    qk_matrix_ask(&ask, &limits);
    qk_status status = qk_vulkan_buffer_create(vk, sizeof ask.from, &in, error);
    if (status == QK_OK)
        status = qk_vulkan_buffer_create(vk, sizeof ask.to, &out, error);
    if (status == QK_OK)
        status = qk_vulkan_upload(vk, in, 0, ask.from, sizeof ask.from, error);
    if (status == QK_OK)
        status = qk_vulkan_begin(vk, error);
    if (status == QK_OK) {
        qk_backend backend = qk_vulkan_backend(vk);
        const qk_range ranges[] = {qk_vulkan_range(in), qk_vulkan_range(out)};
        const qk_launch launch = {.kernel = &ask.kernel, .ranges = ranges, .workgroups = 1};
        status = backend.launch(backend.context, &launch, error);
    }
    if (status == QK_OK)
        status = qk_vulkan_submit(vk, error);
    if (status == QK_OK)
        status = qk_vulkan_download(vk, out, 0, ask.to, sizeof ask.to, error);
    if (status == QK_OK) {
        vk->matrix = qk_matrix_read_order(ask.to, &limits);
        vk->matrices.order_a = limits.matrix_order_a;
        vk->matrices.order_bc = limits.matrix_order_bc;
    }
    qk_vulkan_forget(vk, &ask.kernel);
    qk_vulkan_buffer_destroy(vk, in);
    qk_vulkan_buffer_destroy(vk, out);
    return status;
}
