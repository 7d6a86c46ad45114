/* Recording and submitting. There is one command buffer, and a fence after each submission, so that nothing is in
 * flight while the host looks. */
#include "vulkan_internal.h"

#include <qkgen/vulkan_limits.h>
#include <stdlib.h>
#include <string.h>

#define SETS_IN_POOL 256u

static void barrier(qk_vulkan *vk, VkPipelineStageFlags from, VkPipelineStageFlags to, VkAccessFlags access) {
    VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = access,
    };
    vkCmdPipelineBarrier(vk->commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

qk_status qk_vk_start(qk_vulkan *vk, qk_error *error) {
    VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    VkResult result = vkBeginCommandBuffer(vk->commands, &info);
    if (result != VK_SUCCESS)
        return qk_vk_fail(vk, error, result, "vkBeginCommandBuffer");
    barrier(vk, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
            VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
    return QK_OK;
}

qk_status qk_vk_finish(qk_vulkan *vk, qk_error *error) {
    /* A fence orders, but only a barrier makes writes visible to the host. */
    barrier(vk, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    VkResult result = vkEndCommandBuffer(vk->commands);
    if (result != VK_SUCCESS)
        return qk_vk_fail(vk, error, result, "vkEndCommandBuffer");
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &vk->commands,
    };
    result = vkResetFences(vk->device, 1, &vk->fence);
    if (result != VK_SUCCESS)
        return qk_vk_fail(vk, error, result, "vkResetFences");
    result = vkQueueSubmit(vk->queue, 1, &info, vk->fence);
    if (result != VK_SUCCESS)
        return qk_vk_fail(vk, error, result, "vkQueueSubmit");
    result = vkWaitForFences(vk->device, 1, &vk->fence, VK_TRUE, UINT64_MAX);
    return result == VK_SUCCESS ? QK_OK : qk_vk_fail(vk, error, result, "vkWaitForFences");
}

/* ---- Descriptor sets --------------------------------------------------------------------------------------------- */

static qk_status add_pool(qk_vulkan *vk, qk_error *error) {
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, SETS_IN_POOL * QK_MAX_BINDINGS};
    VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = SETS_IN_POOL,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkDescriptorPool *grown = realloc(vk->sets, (vk->set_count + 1) * sizeof *grown);
    if (grown == NULL)
        return qk_vk_no_memory(error);
    vk->sets = grown;
    VkResult result = vkCreateDescriptorPool(vk->device, &info, NULL, &vk->sets[vk->set_count]);
    if (result != VK_SUCCESS)
        return qk_vk_fail(vk, error, result, "vkCreateDescriptorPool");
    vk->set_count++;
    return QK_OK;
}

static qk_status new_set(qk_vulkan *vk, VkDescriptorSetLayout layout, VkDescriptorSet *set, qk_error *error) {
    for (;;) {
        if (vk->set_current == vk->set_count) {
            qk_status status = add_pool(vk, error);
            if (status != QK_OK)
                return status;
        }
        VkDescriptorSetAllocateInfo info = {
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
            .descriptorPool = vk->sets[vk->set_current],
            .descriptorSetCount = 1,
            .pSetLayouts = &layout,
        };
        VkResult result = vkAllocateDescriptorSets(vk->device, &info, set);
        if (result == VK_SUCCESS)
            return QK_OK;
        if (result != VK_ERROR_OUT_OF_POOL_MEMORY && result != VK_ERROR_FRAGMENTED_POOL)
            return qk_vk_fail(vk, error, result, "vkAllocateDescriptorSets");
        vk->set_current++;
    }
}

static void write_set(qk_vulkan *vk, VkDescriptorSet set, const qk_launch *launch, const qk_vk_pipeline *pipeline) {
    VkDescriptorBufferInfo buffers[QK_MAX_BINDINGS];
    VkWriteDescriptorSet writes[QK_MAX_BINDINGS];
    const uint32_t bound = launch->kernel->binding_count, count = bound + launch->kernel->table_count;
    for (uint32_t i = 0; i < count; i++) {
        const qk_vulkan_buffer *buffer = i < bound ? launch->ranges[i].buffer : pipeline->tables[i - bound];
        const qk_range whole = {NULL, 0, buffer->bytes}, *range = i < bound ? &launch->ranges[i] : &whole;
        buffers[i] = (VkDescriptorBufferInfo){buffer->buffer, range->offset, range->size};
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set,
            .dstBinding = i < bound ? launch->kernel->bindings[i].index : launch->kernel->tables[i - bound].index,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .pBufferInfo = &buffers[i],
        };
    }
    vkUpdateDescriptorSets(vk->device, count, writes, 0, NULL);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

qk_status qk_vulkan_begin(qk_vulkan *vk, qk_error *error) {
    qk_status status = qk_vk_lost(vk, error);
    if (status != QK_OK)
        return status;
    vk->recording = 0;
    vk->time_ns = 0;
    qk_vk_tables_settle(vk, 0);
    for (uint32_t i = 0; i < vk->set_count; i++)
        vkResetDescriptorPool(vk->device, vk->sets[i], 0);
    vk->set_current = 0;
    if ((status = qk_vk_start(vk, error)) != QK_OK)
        return status;
    vk->recording = 1;
    if (vk->queries == VK_NULL_HANDLE)
        return QK_OK;
    vkCmdResetQueryPool(vk->commands, vk->queries, 0, 2);
    vkCmdWriteTimestamp(vk->commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, vk->queries, 0);
    return QK_OK;
}

static qk_status check_launch(const qk_vulkan *vk, const qk_launch *launch, qk_error *error) {
    const qk_kernel *kernel = launch->kernel;
    qk_status status = qk_vk_lost(vk, error);
    if (status != QK_OK)
        return status;
    if (!vk->recording)
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: launched outside of begin and submit, must be between",
                       kernel->name);
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        const qk_range *range = &launch->ranges[i];
        uint64_t bytes = ((const qk_vulkan_buffer *)range->buffer)->bytes;
        if (range->offset > bytes || range->size > bytes - range->offset)
            return qk_fail(error, QK_ERROR_SIZE,
                           "%s: the range of %s is bytes %" PRIu64 " to %" PRIu64 ", must be within "
                           "the %" PRIu64 " of its buffer",
                           kernel->name, kernel->bindings[i].name, range->offset, range->offset + range->size, bytes);
    }
    return QK_OK;
}

/* Constant data goes with the first launch that needs it. */
static void fill_tables(qk_vulkan *vk, qk_vk_pipeline *pipeline) {
    enum { MOST = 65536 }; /* bytes of one vkCmdUpdateBuffer */
    if (pipeline->filled != QK_VK_TABLES_EMPTY || pipeline->table_count == 0)
        return;
    for (uint32_t i = 0; i < pipeline->table_count; i++) {
        const qk_table *table = &pipeline->kernel->tables[i];
        for (uint32_t at = 0; at < table->bytes; at += MOST)
            vkCmdUpdateBuffer(vk->commands, pipeline->tables[i]->buffer, at,
                              table->bytes - at < MOST ? table->bytes - at : MOST, table->words + at / 4);
    }
    VkMemoryBarrier written = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT,
    };
    vkCmdPipelineBarrier(vk->commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1,
                         &written, 0, NULL, 0, NULL);
    pipeline->filled = QK_VK_TABLES_RECORDED;
}

static qk_status record(void *context, const qk_launch *launch, qk_error *error) {
    qk_vulkan *vk = context;
    qk_vk_pipeline *pipeline = NULL;
    VkDescriptorSet set = VK_NULL_HANDLE;
    qk_status status = check_launch(vk, launch, error);
    if (status == QK_OK)
        status = qk_vk_pipeline_of(vk, launch->kernel, launch->constants, &pipeline, error);
    if (status == QK_OK)
        status = new_set(vk, pipeline->set_layout, &set, error);
    if (status != QK_OK)
        return status;
    fill_tables(vk, pipeline);
    write_set(vk, set, launch, pipeline);
    vkCmdBindPipeline(vk->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->pipeline);
    vkCmdBindDescriptorSets(vk->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout, 0, 1, &set, 0, NULL);
    if (launch->kernel->push_bytes > 0)
        vkCmdPushConstants(vk->commands, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, launch->kernel->push_bytes,
                           launch->push);
    vkCmdDispatch(vk->commands, launch->workgroups, 1, 1);
    return QK_OK;
}

static qk_status order(void *context, qk_error *error) {
    (void)error;
    qk_vulkan_barrier((qk_vulkan *)context);
    return QK_OK;
}

qk_backend qk_vulkan_backend(qk_vulkan *vk) {
    qk_backend backend = {0};
    backend.barrier = order;
    backend.context = vk;
    backend.api = QK_API_VULKAN;
    backend.launch = record;
    backend.limits.storage_range = vk->info.storage_range;
    backend.limits.offset_alignment = vk->info.offset_alignment;
    backend.limits.workgroup_count = vk->info.workgroup_count;
    backend.limits.workgroup_size = vk->info.workgroup_size;
    backend.limits.push_bytes = vk->info.push_bytes;
    backend.limits.features = qk_vulkan_features(vk->info.subgroup_arithmetic, vk->info.subgroup_shuffle,
                                                 vk->info.float16, vk->info.integer_dot_product);
    backend.limits.busy_workgroups = qk_busy_workgroups(vk->info.type == QK_VULKAN_CPU, vk->info.multiprocessors);
    backend.limits.shared_bytes = vk->info.shared_bytes;
    backend.limits.subgroup_size = vk->info.subgroup_size;
    backend.limits.loop_steps = vk->info.loop_steps;
    if (vk->matrix)
        backend.limits.features |= QK_FEATURE_COOPERATIVE_MATRIX;
    backend.limits.matrix_order_a = vk->matrices.order_a;
    backend.limits.matrix_order_bc = vk->matrices.order_bc;
    backend.limits.matrix_rows = vk->matrices.rows;
    backend.limits.matrix_cols = vk->matrices.cols;
    backend.limits.matrix_depth = vk->matrices.depth;
    backend.limits.matrix_lanes = vk->matrices.lanes;
    return backend;
}

void qk_vulkan_barrier(qk_vulkan *vk) {
    if (vk->recording)
        barrier(vk, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

static void read_time(qk_vulkan *vk) {
    uint64_t ticks[2];
    VkResult result = vkGetQueryPoolResults(vk->device, vk->queries, 0, 2, sizeof ticks, ticks, sizeof ticks[0],
                                            VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (result == VK_SUCCESS)
        vk->time_ns = (uint64_t)((double)((ticks[1] - ticks[0]) & vk->timestamp_mask) * vk->timestamp_period);
}

qk_status qk_vulkan_copy(qk_vulkan *vk, const qk_vulkan_buffer *from, qk_vulkan_buffer *to, qk_error *error) {
    if (!vk->recording)
        return qk_fail(error, QK_ERROR_ARGUMENT, "copy was called outside of begin and submit, must be between");
    if (from->bytes != to->bytes || from->bytes == 0)
        return qk_fail(error, QK_ERROR_SIZE, "copy from %" PRIu64 " to %" PRIu64 " bytes, must be as many, and not 0",
                       from->bytes, to->bytes);
    VkBufferCopy all = {0, 0, from->bytes};
    vkCmdCopyBuffer(vk->commands, from->buffer, to->buffer, 1, &all);
    return QK_OK;
}

qk_status qk_vulkan_submit(qk_vulkan *vk, qk_error *error) {
    qk_status status = qk_vk_lost(vk, error);
    if (status != QK_OK)
        return status;
    if (!vk->recording)
        return qk_fail(error, QK_ERROR_ARGUMENT, "submit was called without begin, must follow it");
    vk->recording = 0;
    if (vk->queries != VK_NULL_HANDLE)
        vkCmdWriteTimestamp(vk->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, vk->queries, 1);
    status = qk_vk_finish(vk, error);
    qk_vk_tables_settle(vk, status == QK_OK);
    if (status == QK_OK && vk->queries != VK_NULL_HANDLE)
        read_time(vk);
    return status;
}

uint64_t qk_vulkan_time_ns(const qk_vulkan *vk) {
    return vk->time_ns;
}
