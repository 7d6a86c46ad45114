/* The pipeline cache on disk. Drivers are not required to survive a damaged cache, and some do not; so a file is only
 * handed to the driver when its length, checksum and device are what they were when it was written. Anything else is
 * ignored and replaced. The checksum finds accidents, not malice: the file belongs to the user, as the program does. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "vulkan_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_LIMIT (UINT64_C(1) << 30) /* bytes; no honest file is larger */

/* All before `checksum` is covered by it, and the data behind the header. */
typedef struct header {
    char magic[8];
    uint32_t vendor_id;
    uint32_t device_id;
    uint32_t driver_version;
    uint32_t header_bytes;
    uint8_t cache_uuid[16];
    uint8_t driver_uuid[16];
    uint64_t data_bytes;
    uint64_t checksum;
} header;

/* FNV-1a, 64 bits. */
static uint64_t checksum(uint64_t hash, const void *data, size_t bytes) {
    const uint8_t *p = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * UINT64_C(1099511628211);
    return hash;
}

static header header_for(const qk_vulkan_device *device, const void *data, size_t bytes) {
    header made;
    memset(&made, 0, sizeof made);
    memcpy(made.magic, "qkgenpc1", sizeof made.magic);
    made.vendor_id = device->vendor_id;
    made.device_id = device->device_id;
    made.driver_version = device->driver_version;
    made.header_bytes = sizeof made;
    memcpy(made.cache_uuid, device->cache_uuid, sizeof made.cache_uuid);
    memcpy(made.driver_uuid, device->driver_uuid, sizeof made.driver_uuid);
    made.data_bytes = bytes;
    made.checksum = checksum(UINT64_C(14695981039346656037), &made, offsetof(header, checksum));
    made.checksum = checksum(made.checksum, data, bytes);
    return made;
}

/* ---- Path -------------------------------------------------------------------------------------------------------- */

static char *text_copy(const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy;
}

static void append(char *path, size_t room, const char *text) {
    size_t length = strlen(path);
    snprintf(path + length, room - length, "%s", text);
}

static void append_hex(char *path, size_t room, const uint8_t *bytes, size_t count) {
    char hex[3];
    for (size_t i = 0; i < count; i++) {
        snprintf(hex, sizeof hex, "%02x", bytes[i]);
        append(path, room, hex);
    }
}

/* Makes the folder and its file name; NULL when there is no home. */
static char *default_path(const qk_vulkan_device *device) {
    char path[1024] = "", ids[32];
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int own = cache != NULL && cache[0] == '/';
    const char *base = own ? cache : home;
    if (base == NULL || base[0] != '/' || strlen(base) > sizeof path - 160)
        return NULL;
    append(path, sizeof path, base);
    if (!own)
        append(path, sizeof path, "/.cache");
    mkdir(path, 0700);
    append(path, sizeof path, "/qkgen");
    mkdir(path, 0700);
    snprintf(ids, sizeof ids, "-%08" PRIx32 "-%08" PRIx32 "-", device->vendor_id, device->device_id);
    append(path, sizeof path, "/pipelines");
    append(path, sizeof path, ids);
    append_hex(path, sizeof path, device->cache_uuid, sizeof device->cache_uuid);
    append(path, sizeof path, "-");
    append_hex(path, sizeof path, device->driver_uuid, sizeof device->driver_uuid);
    return text_copy(path);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* The data of a file that is whole and ours, or NULL. */
static void *read_data(FILE *file, const qk_vulkan_device *device, size_t *bytes) {
    header found;
    if (fread(&found, sizeof found, 1, file) != 1 || found.data_bytes == 0 || found.data_bytes > CACHE_LIMIT)
        return NULL;
    struct stat stat;
    if (fstat(fileno(file), &stat) != 0 || (uint64_t)stat.st_size != sizeof found + found.data_bytes)
        return NULL;
    *bytes = (size_t)found.data_bytes;
    void *data = malloc(*bytes);
    if (data == NULL)
        return NULL;
    if (fread(data, 1, *bytes, file) == *bytes) {
        header wanted = header_for(device, data, *bytes);
        if (memcmp(&wanted, &found, sizeof wanted) == 0)
            return data;
    }
    free(data);
    return NULL;
}

static qk_status make_cache(qk_vulkan *vk, qk_error *error) {
    VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
        .initialDataSize = vk->cache_bytes,
        .pInitialData = vk->cache_data,
    };
    VkResult result = vkCreatePipelineCache(vk->device, &info, NULL, &vk->cache);
    if (result == VK_SUCCESS)
        return QK_OK;
    vk->cache = VK_NULL_HANDLE;
    return qk_vk_fail(vk, error, result, "vkCreatePipelineCache");
}

qk_status qk_vk_cache_open(qk_vulkan *vk, const char *path, qk_error *error) {
    if (path == NULL)
        vk->cache_path = default_path(&vk->info);
    else if (path[0] != 0 && (vk->cache_path = text_copy(path)) == NULL)
        return qk_vk_no_memory(error);
    FILE *file = vk->cache_path == NULL ? NULL : fopen(vk->cache_path, "rb");
    if (file != NULL) {
        vk->cache_data = read_data(file, &vk->info, &vk->cache_bytes);
        fclose(file);
    }
    vk->cache_loaded = vk->cache_data != NULL;
    if (!vk->cache_loaded)
        vk->cache_bytes = 0;
    return make_cache(vk, error);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Writes aside and renames, so that a reader sees the old file or the new one. */
static void write_file(const char *path, const header *head, const void *data, size_t bytes) {
    char aside[1100];
    int n = snprintf(aside, sizeof aside, "%s.XXXXXX", path);
    int fd = n > 0 && (size_t)n < sizeof aside ? mkstemp(aside) : -1;
    if (fd < 0)
        return;
    FILE *file = fdopen(fd, "wb");
    if (file == NULL)
        close(fd);
    int good = file != NULL && fwrite(head, sizeof *head, 1, file) == 1 && fwrite(data, 1, bytes, file) == bytes;
    if (file != NULL && fclose(file) != 0)
        good = 0;
    if (!good || rename(aside, path) != 0)
        unlink(aside);
}

static void save(qk_vulkan *vk) {
    size_t bytes = 0;
    if (vkGetPipelineCacheData(vk->device, vk->cache, &bytes, NULL) != VK_SUCCESS || bytes == 0)
        return;
    void *data = malloc(bytes);
    if (data == NULL)
        return;
    if (vkGetPipelineCacheData(vk->device, vk->cache, &bytes, data) == VK_SUCCESS && bytes > 0 &&
        bytes <= CACHE_LIMIT) {
        header head = header_for(&vk->info, data, bytes);
        if (bytes != vk->cache_bytes || memcmp(data, vk->cache_data, bytes) != 0)
            write_file(vk->cache_path, &head, data, bytes);
    }
    free(data);
}

void qk_vk_cache_close(qk_vulkan *vk) {
    if (vk->cache == VK_NULL_HANDLE)
        return;
    if (vk->cache_path != NULL && !vk->lost)
        save(vk);
    vkDestroyPipelineCache(vk->device, vk->cache, NULL);
    vk->cache = VK_NULL_HANDLE;
}
