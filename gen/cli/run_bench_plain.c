/* `qkgen bench` of a family that takes no format. What counts are the bytes in and out. */
#include "cli/run_bench_plain.h"
#include "emit/spirv.h"

static bool compile(qg_arena *arena, const qg_templates *templates, qg_plain_subject *s, const char **why) {
    const qg_plain_set *set = NULL;
    qg_plain_named(s->family->name, &set);
    const qg_plain_request request = {
        .set = set, .n_families = 1, .families = &s->family, .vulkan = true, .command = "qkgen bench"};
    const char *glsl = qg_plain_glsl(arena, templates, &request, s->family, why);
    if (!glsl) return false;
    qk_code *code = QG_NEW(arena, qk_code);
    code->data = qg_spirv_compile(arena, s->family->name, glsl, &code->bytes, why);
    s->kernel = qg_plain_describe(arena, s->family, QK_API_VULKAN, code);
    return code->data != NULL;
}

static qk_status fill(qk_vulkan *vk, qk_vulkan_buffer *buffer, uint64_t size, const void *data, uint64_t bytes,
                      qk_error *error) {
    qk_status status = QK_OK;
    for (uint64_t at = 0; at < size && status == QK_OK; at += bytes)
        status = qk_vulkan_upload(vk, buffer, at, data, size - at < bytes ? size - at : bytes, error);
    return status;
}

bool qg_plain_subject_open(qg_arena *arena, const qg_templates *templates, qk_vulkan *vk, const void *data,
                           uint64_t bytes, qg_plain_subject *s, const char **why) {
    qk_error error;
    if (!compile(arena, templates, s, why)) return false;
    for (; s->count < s->family->n_bindings; ++s->count) {
        const qg_plain_binding *binding = &s->family->bindings[s->count];
        const uint64_t size = s->groups * qg_plain_unit(binding, s->group);
        qk_status status = qk_vulkan_buffer_create(vk, size, &s->buffers[s->count], &error);
        s->moved += (double)size;
        if (status == QK_OK && binding->role == QK_ROLE_INPUT)
            status = fill(vk, s->buffers[s->count], size, data, bytes, &error);
        if (status == QK_OK) continue;
        s->count += s->buffers[s->count] != NULL;
        *why = qg_format(arena, "%s", error.text);
        return false;
    }
    return true;
}

qk_status qg_plain_subject_record(qk_vulkan *vk, const qg_plain_subject *s, qk_error *error) {
    const qk_backend backend = qk_vulkan_backend(vk);
    qk_range ranges[QG_MAX_PLAIN_BINDINGS];
    for (uint32_t i = 0; i < s->count; ++i) ranges[i] = qk_vulkan_range(s->buffers[i]);
    return qg_plain_dispatch(s->family, &backend, s->kernel, ranges, s->groups, s->group, s->bins, error);
}

void qg_plain_subject_close(qk_vulkan *vk, qg_plain_subject *s) {
    for (uint32_t i = 0; i < s->count; ++i) qk_vulkan_buffer_destroy(vk, s->buffers[i]);
    if (s->kernel) qk_vulkan_forget(vk, s->kernel);
}
