/* Cooperative matrices: whether a device multiplies those that generated kernels ask for, and how its threads hold them.
 *
 * The extension leaves to the driver which element of a matrix is which value of a thread. Kernels that decode weights
 * straight into those values have to know; so a small kernel asks when the device is opened. The answer is one of the orders in
 * which every four threads share a row, as kernels expect it; where it is not, or matrices have another shape, kernels bring
 * operands through shared memory. Where products lose subnormal halves, the device counts as one without matrices. */
#include "vulkan_internal.h"

#include <math.h>
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

/* In f16, summed in f32. */
static int is_usable(const matrix_shape *s) {
    return s->a == COMPONENT_F16 && s->b == COMPONENT_F16 && s->c == COMPONENT_F32 && s->result == COMPONENT_F32 &&
           s->scope == SCOPE_SUBGROUP && !s->saturating;
}

/* The first of those that kernels can take, in the order of what they had best; or the one that is wanted. */
static int find_shape(VkInstance instance, VkPhysicalDevice device, qk_vk_matrix *matrix) {
    static const uint32_t known[][3] = {{16, 8, 16}, {16, 16, 16}, {8, 16, 16}, {8, 8, 16}, {8, 8, 8}};
    get_shapes get = (get_shapes)vkGetInstanceProcAddr(instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    const uint32_t wanted = matrix->rows, cols = matrix->cols, depth = matrix->depth;
    uint32_t count = 0;
    int found = 0;
    if (get == NULL || get(device, &count, NULL) != VK_SUCCESS || count == 0)
        return 0;
    matrix_shape *all = calloc(count, sizeof *all);
    for (uint32_t i = 0; all != NULL && i < count; i++)
        all[i].type = (VkStructureType)MATRIX_SHAPE;
    if (all != NULL && get(device, &count, all) >= 0)
        for (size_t k = 0; k < sizeof known / sizeof *known && !found; k++)
            for (uint32_t i = 0; i < count && !found; i++) {
                const uint32_t *s = known[k];
                if (!is_usable(&all[i]) || all[i].m != s[0] || all[i].n != s[1] || all[i].k != s[2] ||
                    (wanted != 0 && (wanted != s[0] || cols != s[1] || depth != s[2])))
                    continue;
                matrix->rows = s[0];
                matrix->cols = s[1];
                matrix->depth = s[2];
                found = 1;
            }
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
    return set.matrix.cooperative_matrix && set.model.vulkanMemoryModel && find_shape(instance, device, matrix);
}

/* ---- the order ---------------------------------------------------------------------------------------------------- */

enum { FROM_WORDS = 768, EACH = 16, PRODUCT = 32 * EACH, TO_FLOATS = PRODUCT + 256 };

/* matrix_probe.comp */
static const uint32_t probe_words[] = {
#include "matrix_probe.inc"
};

/* The half of a whole number up to 2048. */
static uint32_t half_of(uint32_t number) {
    uint32_t exponent = 0;
    if (number == 0)
        return 0;
    while (number >> exponent > 1)
        exponent++;
    return (exponent + 15) << 10 | ((number << 10 >> exponent) & 0x3FF);
}

static void number_elements(uint32_t *from) {
    for (uint32_t i = 0; i < 128; i++) {
        from[i] = from[128 + i] = half_of(2 * i) | half_of(2 * i + 1) << 16;
        from[512 + i] = 0x00010001;
        from[640 + i] = 0x3C003C00;
    }
    for (uint32_t i = 0; i < 256; i++) {
        float number = (float)i;
        memcpy(&from[256 + i], &number, sizeof number);
    }
}

/* Which of `count` values of every thread is the element that `wanted` numbers; 0 when there is none. `bits` for each. */
static int find_order(const float *to, uint32_t count, uint32_t bits, uint32_t (*wanted)(uint32_t thread, uint32_t i),
                      uint32_t *order) {
    *order = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = 0;
        while (at < count && to[at] != (float)wanted(0, i))
            at++;
        for (uint32_t thread = 0; thread < 32; thread++)
            if (at == count || to[thread * EACH + at] != (float)wanted(thread, i))
                return 0;
        *order |= at << (i * bits);
    }
    return 1;
}

/* Thread 4 g + t: rows g and g + 8 of A, with columns 2 t, 2 t + 1 and the same + 8; ... */
static uint32_t element_a(uint32_t thread, uint32_t i) {
    return (thread / 4 + i / 2 % 2 * 8) * 16 + thread % 4 * 2 + i % 2 + i / 4 * 8;
}

/* ... those rows of column g of B; */
static uint32_t element_b(uint32_t thread, uint32_t i) {
    return (thread % 4 * 2 + i % 2 + i / 2 * 8) * 8 + thread / 4;
}

/* ... rows g and g + 8 of C, with columns 2 t and 2 t + 1. */
static uint32_t element_c(uint32_t thread, uint32_t i) {
    return (thread / 4 + i / 2 * 8) * 8 + thread % 4 * 2 + i % 2;
}

static void read_order(qk_vulkan *vk, const float *to) {
    qk_vk_matrix *matrix = &vk->matrices;
    uint32_t a, b, c;
    vk->matrix = 0;
    for (uint32_t i = 0; i < matrix->rows * matrix->cols; i++)
        if (to[PRODUCT + i] != ldexpf((float)matrix->depth, -24))
            return; /* subnormal halves are lost */
    vk->matrix = 1;
    if (matrix->rows != 16 || matrix->cols != 8 || matrix->depth != 16 || matrix->lanes != 32 ||
        !find_order(to, 8, 3, element_a, &a) || !find_order(to + 8, 4, 2, element_b, &b) ||
        !find_order(to + 12, 4, 2, element_c, &c))
        return;
    matrix->order_a = a;
    matrix->order_bc = b | c << 8;
}

qk_status qk_vk_matrix_open(qk_vulkan *vk, qk_error *error) {
    static const qk_binding bindings[] = {{0, "from", QK_ROLE_INPUT, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
                                          {1, "to", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0}};
    static const qk_code code = {probe_words, sizeof probe_words};
    const qk_vk_matrix *matrix = &vk->matrices;
    const qk_spec_constant constants[] = {
        {QK_CONSTANT_LOCAL_SIZE_X, "local_size_x", matrix->lanes, 0, NULL},
        {QK_CONSTANT_UNIT_ROWS, "unit_rows", matrix->rows, 0, NULL},
        {QK_CONSTANT_UNIT_COLS, "unit_cols", matrix->cols, 0, NULL},
        {QK_CONSTANT_UNIT_DEPTH, "unit_depth", matrix->depth, 0, NULL},
        {QK_CONSTANT_LANES, "lanes", matrix->lanes, 0, NULL},
    };
    const qk_kernel kernel = {.name = "matrix_probe",
                              .format = "",
                              .family = "matrix_probe",
                              .api = QK_API_VULKAN,
                              .entry = "main",
                              .code = &code,
                              .binding_count = 2,
                              .bindings = bindings,
                              .spec_constant_count = sizeof constants / sizeof *constants,
                              .spec_constants = constants,
                              .workgroup_size = matrix->lanes};
    uint32_t from[FROM_WORDS] = {0};
    float to[TO_FLOATS] = {0};
    qk_vulkan_buffer *in = NULL, *out = NULL;
    number_elements(from);
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
    if (status == QK_OK)
        read_order(vk, to);
    qk_vulkan_forget(vk, &kernel);
    qk_vulkan_buffer_destroy(vk, in);
    qk_vulkan_buffer_destroy(vk, out);
    return status;
}
