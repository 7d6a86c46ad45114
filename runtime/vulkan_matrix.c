/* Cooperative matrices: whether a device multiplies those that generated kernels ask for, and how its threads hold them.
 *
 * The extension leaves to the driver which element of a matrix is which value of a thread. Kernels that decode weights
 * straight into those values have to know; so a small kernel asks when the device is opened. The answer is one of the orders in
 * which every four threads share a row, as kernels expect it; where it is not, the device counts as one without matrices. */
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

enum { FROM_WORDS = 512, TO_FLOATS = 32 * 20 };

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
    for (uint32_t i = 0; i < 128; i++)
        from[i] = half_of(2 * i) | half_of(2 * i + 1) << 16;
    for (uint32_t i = 0; i < 64; i++)
        from[128 + i] = from[i];
    for (uint32_t i = 0; i < 128; i++) {
        float number = (float)i;
        memcpy(&from[192 + i], &number, sizeof number);
        from[320 + i] = 0x00010001;
    }
    for (uint32_t i = 0; i < 64; i++)
        from[448 + i] = 0x3C003C00;
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
            if (at == count || to[thread * 20 + at] != (float)wanted(thread, i))
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
    uint32_t a, b, c;
    vk->matrix = 0;
    for (uint32_t thread = 0; thread < 32; thread++)
        for (uint32_t i = 0; i < 4; i++)
            if (to[thread * 20 + 16 + i] != ldexpf(1, -20))
                return; /* subnormal halves are lost */
    if (!find_order(to, 8, 3, element_a, &a) || !find_order(to + 8, 4, 2, element_b, &b) ||
        !find_order(to + 12, 4, 2, element_c, &c))
        return;
    vk->matrix = 1;
    vk->matrix_order_a = a;
    vk->matrix_order_bc = b | c << 8;
}

qk_status qk_vk_matrix_open(qk_vulkan *vk, qk_error *error) {
    static const qk_binding bindings[] = {{0, "from", QK_ROLE_INPUT, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
                                          {1, "to", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F32, 0, 0, 0, 0}};
    static const qk_code code = {probe_words, sizeof probe_words};
    static const qk_kernel kernel = {.name = "matrix_probe",
                                     .format = "",
                                     .family = "matrix_probe",
                                     .api = QK_API_VULKAN,
                                     .entry = "main",
                                     .code = &code,
                                     .binding_count = 2,
                                     .bindings = bindings,
                                     .workgroup_size = 32};
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
