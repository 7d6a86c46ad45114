/* Buffers and copies. A device that shares its memory with the host is written to directly; any other through a staging
 * buffer, piece by piece. */
#include "vulkan_internal.h"

#include <stdlib.h>
#include <string.h>

/* The first memory type among `allowed` that has all of `wanted`, or UINT32_MAX. */
static uint32_t memory_type(const qk_vulkan *vk, uint32_t allowed, VkMemoryPropertyFlags wanted) {
    for (uint32_t i = 0; i < vk->memory.memoryTypeCount; i++)
        if ((allowed >> i & 1u) && (vk->memory.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    return UINT32_MAX;
}

/* The best memory type, in the order of preference. */
static uint32_t choose_memory(const qk_vulkan *vk, uint32_t allowed, int host) {
    const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    const VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const VkMemoryPropertyFlags cached = visible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    const VkMemoryPropertyFlags for_host[] = {cached, visible};
    const VkMemoryPropertyFlags shared[] = {local | cached, local | visible, local, 0};
    const VkMemoryPropertyFlags for_device[] = {local, 0};
    int unified = (vk->info.type == QK_VULKAN_CPU || vk->info.type == QK_VULKAN_INTEGRATED) && !vk->stage;
    const VkMemoryPropertyFlags *order = host ? for_host : unified ? shared : for_device;
    uint32_t count = host ? 2 : unified ? 4 : 2, type = UINT32_MAX;
    for (uint32_t i = 0; i < count && type == UINT32_MAX; i++)
        type = memory_type(vk, allowed, order[i]);
    return type;
}

static qk_status allocate(qk_vulkan *vk, qk_vulkan_buffer *buffer, int host, qk_error *error) {
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(vk->device, buffer->buffer, &needs);
    uint32_t type = choose_memory(vk, needs.memoryTypeBits, host);
    if (type == UINT32_MAX)
        return qk_fail(error, QK_ERROR_DEVICE, "%s has no memory for buffers", vk->info.name);
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = type,
    };
    VkResult result = vkAllocateMemory(vk->device, &info, NULL, &buffer->memory);
    if (result != VK_SUCCESS) {
        buffer->memory = VK_NULL_HANDLE;
        return qk_vk_fail(vk, error, result, "vkAllocateMemory of %" PRIu64 " bytes", (uint64_t)needs.size);
    }
    result = vkBindBufferMemory(vk->device, buffer->buffer, buffer->memory, 0);
    if (result != VK_SUCCESS)
        return qk_vk_fail(vk, error, result, "vkBindBufferMemory");
    int stage = !host && vk->stage;
    if (stage || (vk->memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) == 0)
        return QK_OK;
    void *map = NULL;
    result = vkMapMemory(vk->device, buffer->memory, 0, VK_WHOLE_SIZE, 0, &map);
    if (result == VK_SUCCESS)
        buffer->map = map;
    return result == VK_SUCCESS ? QK_OK : qk_vk_fail(vk, error, result, "vkMapMemory");
}

static qk_status open_buffer(qk_vulkan *vk, qk_vulkan_buffer *buffer, uint64_t bytes, int host, qk_error *error) {
    qk_status status = qk_vk_lost(vk, error);
    if (status != QK_OK)
        return status;
    if (bytes > vk->info.memory)
        return qk_fail(error, QK_ERROR_LIMIT, "bytes is %" PRIu64 ", must be at most %" PRIu64 ", the memory of %.80s",
                       bytes, vk->info.memory, vk->info.name);
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = bytes == 0 ? 4 : (bytes + 3) / 4 * 4, /* a fill counts in words */
        .usage =
            VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    buffer->bytes = bytes;
    VkResult result = vkCreateBuffer(vk->device, &info, NULL, &buffer->buffer);
    if (result == VK_SUCCESS)
        return allocate(vk, buffer, host, error);
    buffer->buffer = VK_NULL_HANDLE;
    return qk_vk_fail(vk, error, result, "vkCreateBuffer of %" PRIu64 " bytes", bytes);
}

void qk_vk_buffer_close(qk_vulkan *vk, qk_vulkan_buffer *buffer) {
    vkDestroyBuffer(vk->device, buffer->buffer, NULL);
    vkFreeMemory(vk->device, buffer->memory, NULL); /* which unmaps it */
    memset(buffer, 0, sizeof *buffer);
}

qk_status qk_vulkan_buffer_create(qk_vulkan *vk, uint64_t bytes, qk_vulkan_buffer **buffer, qk_error *error) {
    *buffer = NULL;
    qk_vulkan_buffer *made = calloc(1, sizeof *made);
    if (made == NULL)
        return qk_vk_no_memory(error);
    qk_status status = open_buffer(vk, made, bytes, 0, error);
    if (status == QK_OK)
        *buffer = made;
    else
        qk_vulkan_buffer_destroy(vk, made);
    return status;
}

void qk_vulkan_buffer_destroy(qk_vulkan *vk, qk_vulkan_buffer *buffer) {
    if (buffer == NULL)
        return;
    qk_vk_buffer_close(vk, buffer);
    free(buffer);
}

qk_range qk_vulkan_range(const qk_vulkan_buffer *buffer) {
    qk_range range = {(void *)(uintptr_t)buffer, 0, buffer->bytes};
    return range;
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

static qk_status check_copy(const qk_vulkan *vk, const qk_vulkan_buffer *buffer, uint64_t offset, const void *data,
                            uint64_t bytes, qk_error *error) {
    qk_status status = qk_vk_lost(vk, error);
    if (status != QK_OK)
        return status;
    if (buffer == NULL)
        return qk_fail(error, QK_ERROR_ARGUMENT, "buffer is NULL, must be a buffer");
    if (data == NULL && bytes > 0)
        return qk_fail(error, QK_ERROR_ARGUMENT, "data is NULL, must be %" PRIu64 " bytes", bytes);
    if (vk->recording)
        return qk_fail(error, QK_ERROR_ARGUMENT, "a copy was asked for between begin and submit, must be outside");
    if (offset > buffer->bytes || bytes > buffer->bytes - offset)
        return qk_fail(error, QK_ERROR_SIZE,
                       "bytes is %" PRIu64 " at offset %" PRIu64 ", must end within the %" PRIu64
                       " bytes of the buffer",
                       bytes, offset, buffer->bytes);
    return QK_OK;
}

static qk_status need_staging(qk_vulkan *vk, qk_error *error) {
    if (vk->staging.map != NULL)
        return QK_OK;
    qk_status status = open_buffer(vk, &vk->staging, vk->stage_bytes, 1, error);
    if (status != QK_OK)
        qk_vk_buffer_close(vk, &vk->staging);
    return status;
}

static qk_status copy(qk_vulkan *vk, VkBuffer from, uint64_t from_offset, VkBuffer to, uint64_t to_offset,
                      uint64_t bytes, qk_error *error) {
    VkBufferCopy region = {from_offset, to_offset, bytes};
    qk_status status = qk_vk_start(vk, error);
    if (status != QK_OK)
        return status;
    vkCmdCopyBuffer(vk->commands, from, to, 1, &region);
    return qk_vk_finish(vk, error);
}

qk_status qk_vulkan_upload(qk_vulkan *vk, qk_vulkan_buffer *to, uint64_t offset, const void *data, uint64_t bytes,
                           qk_error *error) {
    qk_status status = check_copy(vk, to, offset, data, bytes, error);
    if (status != QK_OK || bytes == 0)
        return status;
    if (to->map != NULL) {
        memcpy(to->map + offset, data, (size_t)bytes);
        return QK_OK;
    }
    status = need_staging(vk, error);
    uint64_t n;
    for (uint64_t done = 0; status == QK_OK && done < bytes; done += n) {
        n = qk_min_(bytes - done, vk->stage_bytes);
        memcpy(vk->staging.map, (const uint8_t *)data + done, (size_t)n);
        status = copy(vk, vk->staging.buffer, 0, to->buffer, offset + done, n, error);
    }
    return status;
}

qk_status qk_vulkan_download(qk_vulkan *vk, const qk_vulkan_buffer *from, uint64_t offset, void *data, uint64_t bytes,
                             qk_error *error) {
    qk_status status = check_copy(vk, from, offset, data, bytes, error);
    if (status != QK_OK || bytes == 0)
        return status;
    if (from->map != NULL) {
        memcpy(data, from->map + offset, (size_t)bytes);
        return QK_OK;
    }
    status = need_staging(vk, error);
    uint64_t n;
    for (uint64_t done = 0; status == QK_OK && done < bytes; done += n) {
        n = qk_min_(bytes - done, vk->stage_bytes);
        status = copy(vk, from->buffer, offset + done, vk->staging.buffer, 0, n, error);
        if (status == QK_OK)
            memcpy((uint8_t *)data + done, vk->staging.map, (size_t)n);
    }
    return status;
}

qk_status qk_vulkan_clear(qk_vulkan *vk, qk_vulkan_buffer *buffer, qk_error *error) {
    qk_status status = check_copy(vk, buffer, 0, NULL, 0, error);
    if (status != QK_OK || buffer->bytes == 0)
        return status;
    if (buffer->map != NULL) {
        memset(buffer->map, 0, (size_t)buffer->bytes);
        return QK_OK;
    }
    if ((status = qk_vk_start(vk, error)) != QK_OK)
        return status;
    vkCmdFillBuffer(vk->commands, buffer->buffer, 0, VK_WHOLE_SIZE, 0);
    return qk_vk_finish(vk, error);
}
