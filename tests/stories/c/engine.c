/* A C engine with its own Vulkan: what it writes to launch qkgen's kernels, without qkgen's runtime. The backend is `launch` and
 * what it calls; `main` multiplies a matrix of q4_K with a vector on the device, and compares with the C reference. */
#include "q4_K.h"
#include "qkgen_kernels.h"

#include <qkgen/dispatch.h>
#include <qkgen/vulkan_limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

/* A pointer to a struct of Vulkan. */
#define INFO(type, id, ...)                                                                                            \
    &(type) { .sType = VK_STRUCTURE_TYPE_##id, __VA_ARGS__ }
#define CHECK(call)                                                                                                    \
    if ((call) != VK_SUCCESS) fprintf(stderr, "engine.c:%d: %s\n", __LINE__, #call), exit(1)

/* ---- what the engine has anyway ---- */

typedef struct engine {
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool commands;
    VkDescriptorPool descriptors;
} engine;

typedef struct buffer {
    VkBuffer handle;
    void *data; /* mapped */
} buffer;

static buffer make_buffer(const engine *e, uint64_t bytes) {
    buffer b;
    VkMemoryRequirements need;
    VkPhysicalDeviceMemoryProperties types;
    VkDeviceMemory memory;
    CHECK(vkCreateBuffer(
        e->device,
        INFO(VkBufferCreateInfo, BUFFER_CREATE_INFO, .size = bytes, .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT), NULL,
        &b.handle));
    vkGetBufferMemoryRequirements(e->device, b.handle, &need);
    vkGetPhysicalDeviceMemoryProperties(e->physical, &types);
    const VkMemoryPropertyFlags host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (!(need.memoryTypeBits >> type & 1) || (types.memoryTypes[type].propertyFlags & host) != host) type++;
    CHECK(vkAllocateMemory(
        e->device,
        INFO(VkMemoryAllocateInfo, MEMORY_ALLOCATE_INFO, .allocationSize = need.size, .memoryTypeIndex = type), NULL,
        &memory));
    CHECK(vkBindBufferMemory(e->device, b.handle, memory, 0));
    CHECK(vkMapMemory(e->device, memory, 0, VK_WHOLE_SIZE, 0, &b.data));
    return b;
}

static void open_device(engine *e) {
    VkInstance instance;
    uint32_t count = 1;
    const float priority = 1;
    VkPhysicalDevice16BitStorageFeatures s16 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
                                                .storageBuffer16BitAccess = VK_TRUE};
    VkPhysicalDevice8BitStorageFeatures s8 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES,
                                              .pNext = &s16,
                                              .storageBuffer8BitAccess = VK_TRUE};
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    const VkDescriptorPoolSize pool = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 64};
    CHECK(vkCreateInstance(
        INFO(VkInstanceCreateInfo, INSTANCE_CREATE_INFO,
             .pApplicationInfo = INFO(VkApplicationInfo, APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2)),
        NULL, &instance));
    if (vkEnumeratePhysicalDevices(instance, &count, &e->physical) < 0 || count == 0) exit(77);
    CHECK(vkCreateDevice(e->physical,
                         INFO(VkDeviceCreateInfo, DEVICE_CREATE_INFO, .pNext = &s8, .queueCreateInfoCount = 1,
                              .pQueueCreateInfos = &queue),
                         NULL, &e->device));
    vkGetDeviceQueue(e->device, 0, 0, &e->queue);
    CHECK(vkCreateCommandPool(e->device, INFO(VkCommandPoolCreateInfo, COMMAND_POOL_CREATE_INFO, .flags = 0), NULL,
                              &e->commands));
    CHECK(vkCreateDescriptorPool(e->device,
                                 INFO(VkDescriptorPoolCreateInfo, DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 8,
                                      .poolSizeCount = 1, .pPoolSizes = &pool),
                                 NULL, &e->descriptors));
}

/* ---- the backend: from here to the next line of this kind ---- */

/* The pipeline of a launch. An engine keeps it, by module and constants. */
static VkPipeline make_pipeline(const engine *e, const qk_launch *l, VkDescriptorSetLayout *set,
                                VkPipelineLayout *layout) {
    const qk_kernel *k = l->kernel;
    const qk_code *code = qk_code_of(k, l->constants);
    VkDescriptorSetLayoutBinding bindings[16];
    VkSpecializationMapEntry entries[QK_MAX_CONSTANTS];
    uint32_t values[QK_MAX_CONSTANTS];
    for (uint32_t i = 0; i < k->binding_count + k->table_count; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){
            i < k->binding_count ? k->bindings[i].index : k->tables[i - k->binding_count].index,
            VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    for (uint32_t i = 0; i < k->spec_constant_count; i++) {
        entries[i] = (VkSpecializationMapEntry){k->spec_constants[i].id, 4 * i, 4};
        values[i] = l->constants != NULL ? l->constants[i] : k->spec_constants[i].value;
    }
    CHECK(vkCreateDescriptorSetLayout(e->device,
                                      INFO(VkDescriptorSetLayoutCreateInfo, DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = k->binding_count + k->table_count, .pBindings = bindings),
                                      NULL, set));
    CHECK(vkCreatePipelineLayout(
        e->device,
        INFO(VkPipelineLayoutCreateInfo, PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1, .pSetLayouts = set,
             .pushConstantRangeCount = 1,
             .pPushConstantRanges = &(VkPushConstantRange){VK_SHADER_STAGE_COMPUTE_BIT, 0, k->push_bytes}),
        NULL, layout));
    VkShaderModule module;
    CHECK(vkCreateShaderModule(
        e->device,
        INFO(VkShaderModuleCreateInfo, SHADER_MODULE_CREATE_INFO, .codeSize = code->bytes, .pCode = code->data), NULL,
        &module));
    const VkSpecializationInfo constants = {k->spec_constant_count, entries, sizeof values, values};
    VkPipeline pipeline;
    CHECK(vkCreateComputePipelines(e->device, VK_NULL_HANDLE, 1,
                                   INFO(VkComputePipelineCreateInfo, COMPUTE_PIPELINE_CREATE_INFO, .layout = *layout,
                                        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                  .module = module,
                                                  .pName = k->entry,
                                                  .pSpecializationInfo = &constants}),
                                   NULL, &pipeline));
    return pipeline;
}

/* Launches, and waits. An engine records into its own command buffer. */
static qk_status launch(void *context, const qk_launch *l, qk_error *error) {
    const engine *e = context;
    const qk_kernel *k = l->kernel;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkDescriptorSet set;
    VkCommandBuffer commands;
    (void)error;
    const VkPipeline pipeline = make_pipeline(e, l, &set_layout, &layout);
    CHECK(vkAllocateDescriptorSets(e->device,
                                   INFO(VkDescriptorSetAllocateInfo, DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = e->descriptors, .descriptorSetCount = 1,
                                        .pSetLayouts = &set_layout),
                                   &set));
    for (uint32_t i = 0; i < k->binding_count + k->table_count; i++) {
        VkDescriptorBufferInfo at;
        uint32_t binding;
        if (i < k->binding_count) {
            binding = k->bindings[i].index;
            at = (VkDescriptorBufferInfo){(VkBuffer)l->ranges[i].buffer, l->ranges[i].offset, l->ranges[i].size};
        } else { /* constant data; an engine uploads it once */
            const qk_table *table = &k->tables[i - k->binding_count];
            const buffer words = make_buffer(e, table->bytes);
            memcpy(words.data, table->words, table->bytes);
            binding = table->index;
            at = (VkDescriptorBufferInfo){words.handle, 0, table->bytes};
        }
        vkUpdateDescriptorSets(e->device, 1,
                               INFO(VkWriteDescriptorSet, WRITE_DESCRIPTOR_SET, .dstSet = set, .dstBinding = binding,
                                    .descriptorCount = 1, .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                    .pBufferInfo = &at),
                               0, NULL);
    }
    CHECK(vkAllocateCommandBuffers(e->device,
                                   INFO(VkCommandBufferAllocateInfo, COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = e->commands, .commandBufferCount = 1),
                                   &commands));
    CHECK(vkBeginCommandBuffer(commands, INFO(VkCommandBufferBeginInfo, COMMAND_BUFFER_BEGIN_INFO, .flags = 0)));
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, k->push_bytes, l->push);
    vkCmdDispatch(commands, l->workgroups, 1, 1);
    CHECK(vkEndCommandBuffer(commands));
    CHECK(vkQueueSubmit(e->queue, 1,
                        INFO(VkSubmitInfo, SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands),
                        VK_NULL_HANDLE));
    CHECK(vkQueueWaitIdle(e->queue));
    return QK_OK;
}

static qk_backend backend_of(engine *e) {
    VkPhysicalDeviceSubgroupProperties subgroups = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &subgroups};
    vkGetPhysicalDeviceProperties2(e->physical, &p);
    qk_backend b = {.context = e, .api = QK_API_VULKAN, .launch = launch};
    QK_TAKE_VULKAN_LIMITS(b.limits, p.properties.limits);
    b.limits.subgroup_size = subgroups.subgroupSize;
    if (p.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU)
        b.limits.loop_steps = QK_LLVMPIPE_LOOP_STEPS;
    b.limits.features = qk_vulkan_features(1, 1, 0, 0);
    return b;
}

/* ---- what it does with it ---- */

enum { ROWS = 100, COLS = 1024, BYTES = ROWS * COLS / 256 * 144 };

int main(void) {
    engine e = {0};
    open_device(&e);
    const qk_backend backend = backend_of(&e);
    const buffer weights = make_buffer(&e, BYTES), x = make_buffer(&e, COLS * 4), y = make_buffer(&e, ROWS * 4);
    unsigned char *bytes = weights.data;
    for (unsigned i = 0, seed = 1; i < BYTES; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = i % 144 == 1 || i % 144 == 3 ? 0x2c : (unsigned char)(seed >> 24);
    }
    for (int i = 0; i < COLS; i++) ((float *)x.data)[i] = (float)(i % 7 - 3);

    const qk_range blocks = {weights.handle, 0, BYTES};
    qk_error error;
    if (!qk_unpack_kernels(qkgen_kernels, QKGEN_KERNEL_SETS)) return 1;
    const qk_kernel *kernel =
        qk_find_kernel(qkgen_kernels, QKGEN_KERNEL_SETS, QK_API_VULKAN, "q4_K", "gemv", NULL, "f32");
    qk_status status = qk_dispatch_gemv(&backend, kernel, &blocks, (qk_range){x.handle, 0, COLS * 4},
                                        (qk_range){y.handle, 0, ROWS * 4}, ROWS, COLS, 1, &error);
    if (status != QK_OK) return printf("engine: %s\n", error.text), 1;

    static float wanted[ROWS];
    const void *from = bytes;
    double difference = 0, norm = 0;
    qk_q4_K_gemv_f32_ref(&from, x.data, ROWS, COLS, 1, wanted);
    for (int i = 0; i < ROWS; i++) {
        const double d = (double)((float *)y.data)[i] - (double)wanted[i];
        difference += d * d;
        norm += (double)wanted[i] * (double)wanted[i];
    }
    printf("engine: q4_K x vector with its own Vulkan: %s\n",
           difference <= 4e-12 * norm && norm > 0 ? "right" : "WRONG");
    return !(difference <= 4e-12 * norm && norm > 0);
}
