/* SPIR-V on a Vulkan device. All that the device and its driver have is switched on, because the foreign module does
 * not say to us what its engine does. All rooms are one buffer, of which each binding sees its own. */
#include "judge/worker.h"

#include <vulkan/vulkan.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct vulkan_state {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkPhysicalDeviceMemoryProperties memories;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkShaderModule module;
    const char *entry;
    /* Made for a call, kept while the next is alike. */
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool sets;
    VkDescriptorSet set;
    qg_call like;
    VkBuffer buffer;
    VkDeviceMemory memory;
    unsigned char *mapped;
    uint64_t bytes;
} vulkan_state;

static qg_outcome failed(qg_message *message, const char *what, VkResult result) {
    return qg_answer(message, QG_UNABLE, "%s failed: VkResult %d", what, (int)result);
}

/* Whether `part` is in `whole`, in any case. */
static bool contains(const char *whole, const char *part) {
    const size_t n = strlen(part);
    for (; *whole; ++whole) {
        size_t i = 0;
        while (i < n && whole[i] && tolower((unsigned char)whole[i]) == tolower((unsigned char)part[i])) ++i;
        if (i == n) return true;
    }
    return n == 0;
}

static qg_outcome choose(vulkan_state *v, const char *wanted, qg_message *message) {
    VkPhysicalDevice devices[32];
    uint32_t count = 32, chosen = UINT32_MAX;
    const VkResult result = vkEnumeratePhysicalDevices(v->instance, &count, devices);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE) return failed(message, "vkEnumeratePhysicalDevices", result);
    for (uint32_t i = count; i-- > 0;) {
        VkPhysicalDeviceProperties p;
        vkGetPhysicalDeviceProperties(devices[i], &p);
        if (wanted ? contains(p.deviceName, wanted)
                   : chosen == UINT32_MAX || p.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU)
            chosen = i;
    }
    if (chosen == UINT32_MAX)
        return qg_answer(message, QG_UNABLE, "there is no Vulkan device%s%s: `qkgen devices` lists them",
                         wanted ? " whose name has " : "", wanted ? wanted : "");
    v->physical = devices[chosen];
    vkGetPhysicalDeviceMemoryProperties(v->physical, &v->memories);
    VkPhysicalDeviceSubgroupProperties subgroup = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &subgroup};
    vkGetPhysicalDeviceProperties2(v->physical, &all);
    message->lanes = subgroup.subgroupSize;
    snprintf(message->where, sizeof message->where, "%.180s, subgroups of %u", all.properties.deviceName,
             subgroup.subgroupSize);
    return QG_RAN;
}

static bool has_extension(const VkExtensionProperties *all, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; ++i)
        if (!strcmp(all[i].extensionName, name)) return true;
    return false;
}

/* Every feature that is there, but robustness: an access outside must have its effect. */
static qg_outcome open_device(vulkan_state *v, qg_message *message) {
    VkPhysicalDeviceVulkan13Features v13 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    VkPhysicalDeviceVulkan12Features v12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceVulkan11Features v11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
                                            .pNext = &v12};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &v11};
    VkPhysicalDeviceProperties properties;
    VkExtensionProperties *extensions = NULL;
    uint32_t count = 0, n = 0;
    vkGetPhysicalDeviceProperties(v->physical, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_2)
        return qg_answer(message, QG_UNABLE, "%s has Vulkan 1.1 or older; a judgement needs 1.2",
                         properties.deviceName);
    if (properties.apiVersion >= VK_API_VERSION_1_3) v12.pNext = &v13;
    vkGetPhysicalDeviceFeatures2(v->physical, &features);
    features.features.robustBufferAccess = v13.robustImageAccess = VK_FALSE;
    static const char *const wanted[] = {"VK_KHR_portability_subset", "VK_EXT_shader_atomic_float",
                                         "VK_KHR_shader_subgroup_uniform_control_flow"};
    const char *names[8];
    vkEnumerateDeviceExtensionProperties(v->physical, NULL, &count, NULL);
    extensions = calloc(count + 1, sizeof *extensions);
    if (extensions) vkEnumerateDeviceExtensionProperties(v->physical, NULL, &count, extensions);
    for (size_t i = 0; extensions && i < sizeof wanted / sizeof *wanted; ++i)
        if (has_extension(extensions, count, wanted[i])) names[n++] = wanted[i];
    free(extensions);
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = v->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &features,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = n,
                                     .ppEnabledExtensionNames = names};
    const VkResult result = vkCreateDevice(v->physical, &info, NULL, &v->device);
    if (result != VK_SUCCESS) return failed(message, "vkCreateDevice", result);
    vkGetDeviceQueue(v->device, v->family, 0, &v->queue);
    return QG_RAN;
}

static qg_outcome find_queue(vulkan_state *v, qg_message *message) {
    VkQueueFamilyProperties families[32];
    uint32_t count = 32;
    vkGetPhysicalDeviceQueueFamilyProperties(v->physical, &count, families);
    for (v->family = 0; v->family < count; ++v->family)
        if (families[v->family].queueFlags & VK_QUEUE_COMPUTE_BIT) return QG_RAN;
    return qg_answer(message, QG_UNABLE, "the device has no queue that computes");
}

static qg_outcome open_commands(vulkan_state *v, const qg_foreign_kernel *kernel, qg_message *message) {
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = v->family};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = kernel->length, .pCode = kernel->bytes};
    VkResult result = vkCreateCommandPool(v->device, &pool, NULL, &v->pool);
    if (result != VK_SUCCESS) return failed(message, "vkCreateCommandPool", result);
    const VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                  .commandPool = v->pool,
                                                  .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                  .commandBufferCount = 1};
    result = vkAllocateCommandBuffers(v->device, &commands, &v->commands);
    if (result != VK_SUCCESS) return failed(message, "vkAllocateCommandBuffers", result);
    result = vkCreateFence(v->device, &fence, NULL, &v->fence);
    if (result != VK_SUCCESS) return failed(message, "vkCreateFence", result);
    result = vkCreateShaderModule(v->device, &module, NULL, &v->module);
    if (result != VK_SUCCESS) return failed(message, "vkCreateShaderModule", result);
    v->entry = kernel->entry;
    return QG_RAN;
}

static qg_outcome open_vulkan(void **state, const qg_foreign_kernel *kernel, const qg_worker_options *options,
                              qg_message *message) {
    static vulkan_state only;
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "qkgen judge",
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    const VkResult result = vkCreateInstance(&info, NULL, &only.instance);
    *state = &only;
    if (result != VK_SUCCESS) return failed(message, "vkCreateInstance", result);
    if (choose(&only, options->device, message) != QG_RAN || find_queue(&only, message) != QG_RAN ||
        open_device(&only, message) != QG_RAN)
        return message->outcome;
    return open_commands(&only, kernel, message);
}

/* ---- what a call needs ------------------------------------------------------------------------------------------- */

static bool is_bound(const qg_passed *p) { return p->use != QG_USE_VALUE; }

static VkDescriptorType type_of(const qg_passed *p) {
    return p->uniform ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

static qg_outcome make_layouts(vulkan_state *v, const qg_call *call, qg_message *message) {
    VkDescriptorSetLayoutBinding bindings[QG_MAX_ARGUMENTS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < call->n_passed; ++i)
        if (is_bound(&call->passed[i]))
            bindings[count++] = (VkDescriptorSetLayoutBinding){.binding = call->passed[i].index,
                                                               .descriptorType = type_of(&call->passed[i]),
                                                               .descriptorCount = 1,
                                                               .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = count, .pBindings = bindings};
    VkResult result = vkCreateDescriptorSetLayout(v->device, &set, NULL, &v->set_layout);
    if (result != VK_SUCCESS) return failed(message, "vkCreateDescriptorSetLayout", result);
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, call->push_bytes};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &v->set_layout,
                                               .pushConstantRangeCount = call->push_bytes != 0,
                                               .pPushConstantRanges = &range};
    result = vkCreatePipelineLayout(v->device, &layout, NULL, &v->layout);
    if (result != VK_SUCCESS) return failed(message, "vkCreatePipelineLayout", result);
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count},
                                          {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, count}};
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 2, .pPoolSizes = sizes};
    result = vkCreateDescriptorPool(v->device, &pool, NULL, &v->sets);
    if (result != VK_SUCCESS) return failed(message, "vkCreateDescriptorPool", result);
    const VkDescriptorSetAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                                  .descriptorPool = v->sets,
                                                  .descriptorSetCount = 1,
                                                  .pSetLayouts = &v->set_layout};
    result = vkAllocateDescriptorSets(v->device, &allocate, &v->set);
    return result == VK_SUCCESS ? QG_RAN : failed(message, "vkAllocateDescriptorSets", result);
}

static qg_outcome make_pipeline(vulkan_state *v, const qg_call *call, qg_message *message) {
    VkSpecializationMapEntry entries[QG_MAX_ITEMS];
    unsigned char data[QG_MAX_ITEMS * 8];
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < call->n_constants; ++i) {
        const qg_constant_value *c = &call->constants[i];
        entries[i] = (VkSpecializationMapEntry){c->id, bytes, c->bytes};
        memcpy(data + bytes, c->value, c->bytes);
        bytes += c->bytes;
    }
    const VkSpecializationInfo constants = {call->n_constants, entries, bytes, data};
    const VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                              .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                        .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                        .module = v->module,
                                                        .pName = v->entry,
                                                        .pSpecializationInfo = &constants},
                                              .layout = v->layout};
    message->stage = QG_STAGE_COMPILE;
    const VkResult result = vkCreateComputePipelines(v->device, VK_NULL_HANDLE, 1, &info, NULL, &v->pipeline);
    return result == VK_SUCCESS ? QG_RAN : failed(message, "vkCreateComputePipelines", result);
}

static bool alike(const qg_call *a, const qg_call *b) {
    if (a->n_constants != b->n_constants || a->push_bytes != b->push_bytes || a->n_passed != b->n_passed) return false;
    return !memcmp(a->constants, b->constants, a->n_constants * sizeof *a->constants);
}

static qg_outcome make_ready(vulkan_state *v, const qg_call *call, qg_message *message) {
    if (v->pipeline && alike(&v->like, call)) return QG_RAN;
    vkDestroyPipeline(v->device, v->pipeline, NULL);
    vkDestroyPipelineLayout(v->device, v->layout, NULL);
    vkDestroyDescriptorPool(v->device, v->sets, NULL);
    vkDestroyDescriptorSetLayout(v->device, v->set_layout, NULL);
    v->pipeline = VK_NULL_HANDLE, v->layout = VK_NULL_HANDLE, v->sets = VK_NULL_HANDLE, v->set_layout = VK_NULL_HANDLE;
    v->like = *call;
    return make_layouts(v, call, message) == QG_RAN ? make_pipeline(v, call, message) : message->outcome;
}

static qg_outcome make_memory(vulkan_state *v, uint64_t bytes, qg_message *message) {
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    if (v->bytes >= bytes) return QG_RAN;
    vkDestroyBuffer(v->device, v->buffer, NULL);
    vkFreeMemory(v->device, v->memory, NULL);
    v->buffer = VK_NULL_HANDLE, v->memory = VK_NULL_HANDLE, v->bytes = 0;
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = bytes,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT};
    VkResult result = vkCreateBuffer(v->device, &info, NULL, &v->buffer);
    if (result != VK_SUCCESS) return failed(message, "vkCreateBuffer", result);
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(v->device, v->buffer, &needs);
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size};
    while (allocate.memoryTypeIndex < v->memories.memoryTypeCount &&
           (!(needs.memoryTypeBits >> allocate.memoryTypeIndex & 1) ||
            (v->memories.memoryTypes[allocate.memoryTypeIndex].propertyFlags & wanted) != wanted))
        allocate.memoryTypeIndex += 1;
    result = vkAllocateMemory(v->device, &allocate, NULL, &v->memory);
    if (result != VK_SUCCESS) return failed(message, "vkAllocateMemory", result);
    void *mapped;
    result = vkBindBufferMemory(v->device, v->buffer, v->memory, 0);
    if (result == VK_SUCCESS) result = vkMapMemory(v->device, v->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    if (result != VK_SUCCESS) return failed(message, "vkMapMemory", result);
    v->mapped = mapped;
    v->bytes = bytes;
    return QG_RAN;
}

static void bind(vulkan_state *v, const qg_message *message) {
    VkDescriptorBufferInfo infos[QG_MAX_ARGUMENTS];
    VkWriteDescriptorSet writes[QG_MAX_ARGUMENTS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < message->call.n_passed; ++i) {
        const qg_passed *p = &message->call.passed[i];
        if (!is_bound(p)) continue;
        const uint64_t whole = (p->bytes + QG_MARGIN - 1) / QG_MARGIN * QG_MARGIN + QG_MARGIN;
        const uint64_t exact = p->bytes < 4 ? 4 : (p->bytes + 3) / 4 * 4; /* a range is words */
        infos[count] = (VkDescriptorBufferInfo){v->buffer, message->offsets[i] - message->begin,
                                                message->mode.open ? whole : exact};
        writes[count] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                               .dstSet = v->set,
                                               .dstBinding = p->index,
                                               .descriptorCount = 1,
                                               .descriptorType = type_of(p),
                                               .pBufferInfo = &infos[count]};
        count += 1;
    }
    vkUpdateDescriptorSets(v->device, count, writes, 0, NULL);
}

static qg_outcome submit(vulkan_state *v, const qg_call *call, const uint32_t *grid, qg_message *message) {
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkMemoryBarrier after = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                   .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                   .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    VkCommandBuffer c = v->commands;
    vkBeginCommandBuffer(c, &begin);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, v->pipeline);
    vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, v->layout, 0, 1, &v->set, 0, NULL);
    if (call->push_bytes)
        vkCmdPushConstants(c, v->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, call->push_bytes, call->push);
    vkCmdDispatch(c, grid[0], grid[1], grid[2]);
    vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &after, 0, NULL, 0,
                         NULL);
    vkEndCommandBuffer(c);
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &c};
    VkResult result = vkQueueSubmit(v->queue, 1, &info, v->fence);
    if (result == VK_SUCCESS) result = vkWaitForFences(v->device, 1, &v->fence, VK_TRUE, UINT64_MAX);
    vkResetFences(v->device, 1, &v->fence);
    if (result == VK_ERROR_DEVICE_LOST) return qg_answer(message, QG_FAULT, "a launch lost the device");
    return result == VK_SUCCESS ? QG_RAN : failed(message, "vkQueueSubmit", result);
}

static qg_outcome launch_vulkan(void *state, qg_message *message, unsigned char *shared) {
    vulkan_state *v = state;
    const qg_call *call = &message->call;
    const uint64_t bytes = message->end - message->begin;
    if (make_ready(v, call, message) != QG_RAN || make_memory(v, bytes, message) != QG_RAN) return message->outcome;
    memcpy(v->mapped, shared + message->begin, bytes);
    bind(v, message);
    /* Some drivers compile at the first launch: that one is of no workgroups. */
    static const uint32_t nothing[3];
    if (message->stage == QG_STAGE_COMPILE && submit(v, call, nothing, message) != QG_RAN) return message->outcome;
    message->stage = QG_STAGE_LAUNCH;
    if (submit(v, call, call->grid, message) != QG_RAN) return message->outcome;
    memcpy(shared + message->begin, v->mapped, bytes);
    return QG_RAN;
}

const qg_engine qg_engine_vulkan = {open_vulkan, launch_vulkan};
