/* Pipelines, made from descriptors when first needed and kept by the kernel's address. */
#include "vulkan_internal.h"

#include <stdlib.h>
#include <string.h>

static qk_status check_constants(const qk_kernel *kernel, qk_error *error) {
    for (uint32_t i = 0; i < kernel->spec_constant_count; i++) {
        const qk_spec_constant *constant = &kernel->spec_constants[i];
        uint32_t legal = 0;
        while (legal < constant->legal_count && constant->legal[legal] != constant->value)
            legal++;
        if (constant->legal_count > 0 && legal == constant->legal_count)
            return qk_fail(error, QK_ERROR_ARGUMENT,
                           "%s: constant %s is %" PRIu32 ", must be one of its %" PRIu32 " legal values, %" PRIu32
                           " the first",
                           kernel->name, constant->name, constant->value, constant->legal_count, constant->legal[0]);
    }
    return QK_OK;
}

static qk_status check_kernel(const qk_vulkan *vk, const qk_kernel *kernel, const qk_code *code, qk_error *error) {
    if (kernel->api != QK_API_VULKAN)
        return qk_fail(error, QK_ERROR_UNSUPPORTED, "%s: kernel->api is %d, must be QK_API_VULKAN", kernel->name,
                       (int)kernel->api);
    if (code == NULL || code->data == NULL || code->bytes < 20 || code->bytes % 4 != 0)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: kernel->code is %zu bytes, must be SPIR-V words", kernel->name,
                       code == NULL || code->data == NULL ? (size_t)0 : code->bytes);
    const uint32_t buffers = kernel->binding_count + kernel->table_count;
    if (buffers > vk->info.storage_buffers || buffers > QK_MAX_BINDINGS)
        return qk_fail(error, QK_ERROR_LIMIT,
                       "%s: kernel->binding_count is %" PRIu32 ", must be at most %" PRIu64 " on this device",
                       kernel->name, buffers, qk_min_(vk->info.storage_buffers, QK_MAX_BINDINGS));
    if (kernel->push_bytes % 4 != 0 || kernel->push_bytes > vk->info.push_bytes)
        return qk_fail(error, QK_ERROR_LIMIT,
                       "%s: kernel->push_bytes is %" PRIu32 ", must be a multiple of 4 up to %" PRIu32, kernel->name,
                       kernel->push_bytes, vk->info.push_bytes);
    return check_constants(kernel, error);
}

static qk_status open_layouts(qk_vulkan *vk, const qk_kernel *kernel, qk_vk_pipeline *made, qk_error *error) {
    VkDescriptorSetLayoutBinding bindings[QK_MAX_BINDINGS];
    const uint32_t count = kernel->binding_count + kernel->table_count;
    for (uint32_t i = 0; i < count; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding =
                i < kernel->binding_count ? kernel->bindings[i].index : kernel->tables[i - kernel->binding_count].index,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = count,
        .pBindings = bindings,
    };
    VkResult result = vkCreateDescriptorSetLayout(vk->device, &set, NULL, &made->set_layout);
    if (result != VK_SUCCESS) {
        made->set_layout = VK_NULL_HANDLE;
        return qk_vk_fail(vk, error, result, "%s: vkCreateDescriptorSetLayout", kernel->name);
    }
    VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, kernel->push_bytes};
    VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &made->set_layout,
        .pushConstantRangeCount = kernel->push_bytes > 0 ? 1 : 0,
        .pPushConstantRanges = &push,
    };
    result = vkCreatePipelineLayout(vk->device, &layout, NULL, &made->layout);
    if (result == VK_SUCCESS)
        return QK_OK;
    made->layout = VK_NULL_HANDLE;
    return qk_vk_fail(vk, error, result, "%s: vkCreatePipelineLayout", kernel->name);
}

/* Keeps the values of the constants: they are the specialisation data, and tell later whether the kernel changed. */
static qk_status keep_constants(const qk_kernel *kernel, const uint32_t *constants, qk_vk_pipeline *made,
                                VkSpecializationMapEntry **entries, qk_error *error) {
    uint32_t count = kernel->spec_constant_count;
    made->constants = calloc(count + 1, sizeof *made->constants);
    *entries = calloc(count + 1, sizeof **entries);
    if (made->constants == NULL || *entries == NULL)
        return qk_vk_no_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        made->constants[i] = constants != NULL ? constants[i] : kernel->spec_constants[i].value;
        (*entries)[i] = (VkSpecializationMapEntry){kernel->spec_constants[i].id, i * 4, 4};
    }
    return QK_OK;
}

/* Which of the kernel's constants has that id, or how many there are. */
static uint32_t constant_place(const qk_kernel *kernel, uint32_t id) {
    uint32_t i = 0;
    while (i < kernel->spec_constant_count && kernel->spec_constants[i].id != id)
        i++;
    return i;
}

/* The module as it is or, where the kernel leaves rounding to a device that can, with the modes for that; `values` are
 * those of the constants. */
static qk_status open_module(qk_vulkan *vk, const qk_kernel *kernel, uint32_t *values, VkShaderModule *module,
                             qk_error *error) {
    const qk_code *own_code = qk_code_of(kernel, values);
    const uint32_t rounds = constant_place(kernel, QK_CONSTANT_ROUNDS_F16);
    VkShaderModuleCreateInfo code = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = own_code->bytes,
        .pCode = own_code->data,
    };
    uint32_t *own = NULL;
    if (rounds < kernel->spec_constant_count) {
        size_t grown = 0;
        if (vk->info.rounds_f16)
            own = qk_vk_with_rounding(code.pCode, code.codeSize, &grown);
        values[rounds] = own != NULL;
        if (own != NULL) {
            code.codeSize = grown;
            code.pCode = own;
        }
    }
    VkResult result = vkCreateShaderModule(vk->device, &code, NULL, module);
    free(own);
    return result == VK_SUCCESS ? QK_OK : qk_vk_fail(vk, error, result, "%s: vkCreateShaderModule", kernel->name);
}

/* What is more than the device has, drivers take, and lose the device. */
static qk_status check_shared(const qk_vulkan *vk, const qk_kernel *kernel, const uint32_t *values, qk_error *error) {
    uint64_t bytes;
    if (!qk_vk_shared_bytes(kernel, values, &bytes) || bytes <= vk->info.shared_bytes)
        return QK_OK;
    return qk_fail(error, QK_ERROR_LIMIT,
                   "%s: a workgroup takes %" PRIu64 " bytes of shared memory with these constants, must be at most "
                   "%" PRIu32 " on this device",
                   kernel->name, bytes, vk->info.shared_bytes);
}

static qk_status open_pipeline(qk_vulkan *vk, const qk_kernel *kernel, const VkSpecializationMapEntry *entries,
                               qk_vk_pipeline *made, qk_error *error) {
    uint32_t values[QK_MAX_CONSTANTS];
    VkShaderModule module;
    if (kernel->spec_constant_count > QK_MAX_CONSTANTS)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: kernel->spec_constant_count is %" PRIu32 ", must be at most %u",
                       kernel->name, kernel->spec_constant_count, QK_MAX_CONSTANTS);
    memcpy(values, made->constants, kernel->spec_constant_count * sizeof *values);
    qk_status status = check_shared(vk, kernel, values, error);
    if (status != QK_OK)
        return status;
    status = open_module(vk, kernel, values, &module, error);
    if (status != QK_OK)
        return status;
    VkSpecializationInfo constants = {
        .mapEntryCount = kernel->spec_constant_count,
        .pMapEntries = entries,
        .dataSize = kernel->spec_constant_count * sizeof *made->constants,
        .pData = values,
    };
    const uint32_t checked = constant_place(kernel, QK_CONSTANT_CHECKED);
    VkPipelineRobustnessCreateInfoEXT bounds = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO_EXT,
        .storageBuffers = checked < kernel->spec_constant_count && values[checked] != 0
                              ? VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_ROBUST_BUFFER_ACCESS_EXT
                              : VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DISABLED_EXT,
        .uniformBuffers = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DEVICE_DEFAULT_EXT,
        .vertexInputs = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DEVICE_DEFAULT_EXT,
        .images = VK_PIPELINE_ROBUSTNESS_IMAGE_BEHAVIOR_DEVICE_DEFAULT_EXT,
    };
    const uint32_t lanes = constant_place(kernel, QK_CONSTANT_LANES);
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfoEXT size = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO_EXT,
        .requiredSubgroupSize = lanes < kernel->spec_constant_count ? values[lanes] : 0,
    };
    const int sized = vk->sizes_subgroups && size.requiredSubgroupSize == vk->matrices.lanes;
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .pNext = vk->info.pipeline_robustness ? &bounds : NULL,
        .stage =
            {
                .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .pNext = sized ? &size : NULL,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = kernel->entry,
                .pSpecializationInfo = &constants,
            },
        .layout = made->layout,
    };
    VkResult result = vkCreateComputePipelines(vk->device, vk->cache, 1, &info, NULL, &made->pipeline);
    vkDestroyShaderModule(vk->device, module, NULL);
    if (result == VK_SUCCESS)
        return QK_OK;
    made->pipeline = VK_NULL_HANDLE;
    return qk_vk_fail(vk, error, result, "%s: vkCreateComputePipelines", kernel->name);
}

/* The buffers of constant data; the first launch fills them. */
static qk_status open_tables(qk_vulkan *vk, const qk_kernel *kernel, qk_vk_pipeline *made, qk_error *error) {
    made->tables = calloc(kernel->table_count + 1, sizeof *made->tables);
    if (made->tables == NULL)
        return qk_vk_no_memory(error);
    for (uint32_t i = 0; i < kernel->table_count; i++) {
        qk_status status = qk_vulkan_buffer_create(vk, kernel->tables[i].bytes, &made->tables[i], error);
        if (status != QK_OK)
            return status;
        made->table_count++;
    }
    return QK_OK;
}

void qk_vk_tables_settle(qk_vulkan *vk, int submitted) {
    for (uint32_t i = 0; i < vk->pipeline_count; i++)
        if (vk->pipelines[i].filled == QK_VK_TABLES_RECORDED)
            vk->pipelines[i].filled = submitted ? QK_VK_TABLES_FILLED : QK_VK_TABLES_EMPTY;
}

static void close_pipeline(qk_vulkan *vk, qk_vk_pipeline *pipeline) {
    for (uint32_t i = 0; i < pipeline->table_count; i++)
        qk_vulkan_buffer_destroy(vk, pipeline->tables[i]);
    free(pipeline->tables);
    vkDestroyPipeline(vk->device, pipeline->pipeline, NULL);
    vkDestroyPipelineLayout(vk->device, pipeline->layout, NULL);
    vkDestroyDescriptorSetLayout(vk->device, pipeline->set_layout, NULL);
    free(pipeline->constants);
}

static qk_status make_pipeline(qk_vulkan *vk, const qk_kernel *kernel, const uint32_t *constants, qk_vk_pipeline *made,
                               qk_error *error) {
    VkSpecializationMapEntry *entries = NULL;
    const qk_code *code = qk_code_of(kernel, constants);
    memset(made, 0, sizeof *made);
    qk_status status = check_kernel(vk, kernel, code, error);
    if (status != QK_OK)
        return status;
    made->kernel = kernel;
    made->given = constants != NULL;
    made->code = code->data;
    made->code_bytes = code->bytes;
    status = open_layouts(vk, kernel, made, error);
    if (status == QK_OK)
        status = keep_constants(kernel, constants, made, &entries, error);
    if (status == QK_OK)
        status = open_tables(vk, kernel, made, error);
    if (status == QK_OK)
        status = open_pipeline(vk, kernel, entries, made, error);
    if (status != QK_OK)
        close_pipeline(vk, made);
    free(entries);
    return status;
}

static int same_constants(const qk_vk_pipeline *pipeline, const qk_kernel *kernel, const uint32_t *constants) {
    for (uint32_t i = 0; i < kernel->spec_constant_count; i++)
        if (pipeline->constants[i] != (constants != NULL ? constants[i] : kernel->spec_constants[i].value))
            return 0;
    return 1;
}

static int same_code(const qk_vk_pipeline *pipeline, const qk_kernel *kernel, const uint32_t *constants) {
    const qk_code *code = qk_code_of(kernel, constants);
    return code != NULL && pipeline->code == code->data && pipeline->code_bytes == code->bytes;
}

qk_status qk_vk_pipeline_of(qk_vulkan *vk, const qk_kernel *kernel, const uint32_t *constants,
                            qk_vk_pipeline **pipeline, qk_error *error) {
    for (uint32_t i = 0; i < vk->pipeline_count; i++) {
        if (vk->pipelines[i].kernel != kernel || vk->pipelines[i].given != (constants != NULL))
            continue;
        int same = same_constants(&vk->pipelines[i], kernel, constants);
        if (constants != NULL && !same)
            continue; /* another launch of the same kernel */
        *pipeline = &vk->pipelines[i];
        if (same && same_code(*pipeline, kernel, constants))
            return QK_OK;
        return qk_fail(error, QK_ERROR_ARGUMENT,
                       "%s: the descriptor changed since its pipeline was made, must stay, or be "
                       "given to qk_vulkan_forget",
                       kernel->name);
    }
    qk_vk_pipeline *grown = realloc(vk->pipelines, (vk->pipeline_count + 1) * sizeof *grown);
    if (grown == NULL)
        return qk_vk_no_memory(error);
    vk->pipelines = grown;
    qk_status status = make_pipeline(vk, kernel, constants, &vk->pipelines[vk->pipeline_count], error);
    if (status == QK_OK)
        *pipeline = &vk->pipelines[vk->pipeline_count++];
    return status;
}

qk_status qk_vulkan_prepare(qk_vulkan *vk, const qk_kernel *kernel, qk_error *error) {
    qk_vk_pipeline *pipeline;
    qk_status status = qk_vk_lost(vk, error);
    return status == QK_OK ? qk_vk_pipeline_of(vk, kernel, NULL, &pipeline, error) : status;
}

void qk_vulkan_forget(qk_vulkan *vk, const qk_kernel *kernel) {
    for (uint32_t i = vk->pipeline_count; i-- > 0;) {
        if (vk->pipelines[i].kernel != kernel)
            continue;
        close_pipeline(vk, &vk->pipelines[i]);
        vk->pipelines[i] = vk->pipelines[--vk->pipeline_count];
    }
}

void qk_vk_pipelines_close(qk_vulkan *vk) {
    for (uint32_t i = 0; i < vk->pipeline_count; i++)
        close_pipeline(vk, &vk->pipelines[i]);
    free(vk->pipelines);
    vk->pipelines = NULL;
    vk->pipeline_count = 0;
}
