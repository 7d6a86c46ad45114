/* Converting on a Vulkan device: blocks go there, become floats in its memory, and these become blocks. */
#include "cli/run_convert.h"
#include "cli/run_launch.h"
#include "emit/modules.h"
#include "emit/spirv.h"

#include <qkgen/dispatch.h>
#include <qkgen/vulkan.h>

#include <stdlib.h>
#include <string.h>

typedef struct kernel {
    const qg_layout *layout;
    const qg_family *family;
    const qk_kernel *described;
} kernel;

typedef struct device {
    qg_arena *arena;
    const qg_templates *templates;
    qk_vulkan *vulkan;
    qk_vulkan_buffer *from, *floats, *to;
    uint32_t count;
    kernel *kernels;
    qk_error error;
} device;

static const char *failure(const device *d) { return qg_format(d->arena, "%s", d->error.text); }

static const qk_kernel *find(const device *d, const qg_layout *layout, const qg_family *family) {
    for (uint32_t i = 0; i < d->count; ++i)
        if (d->kernels[i].layout == layout && d->kernels[i].family == family) return d->kernels[i].described;
    return NULL;
}

static const char *compile(device *d, const qg_layout *layout, qg_family_id id) {
    const qg_family *family = &qg_families[id];
    const char *why = NULL;
    if (!layout || find(d, layout, family)) return NULL;
    const qg_request request = {
        .layout = layout, .n_families = 1, .families = &family, .vulkan = true, .command = "qkgen convert"};
    qg_kernel *of = QG_NEW(d->arena, qg_kernel);
    *of = qg_kernel_new(d->arena, layout, family, QG_F32, NULL);
    const qk_kernel *described = qg_compile_kernel(d->arena, d->templates, &request, of, 1, &why);
    if (!described) return why;
    d->kernels[d->count++] = (kernel){layout, family, described};
    return NULL;
}

static qk_status decode(device *d, const qg_storage *kind, uint64_t elements) {
    const qk_backend backend = qk_vulkan_backend(d->vulkan);
    const qk_range blocks = qk_vulkan_range(d->from), floats = qk_vulkan_range(d->floats);
    qg_launch launch = {
        .family = &qg_families[QG_FAMILY_DEQUANT], .weights = &blocks, .out = floats, .count = elements};
    launch.kernel = find(d, kind->layout, launch.family);
    if (kind->row) launch.rows = elements / kind->row, launch.cols = kind->row;
    return qg_launch_kernel(&backend, &launch, &d->error);
}

static qk_status encode(device *d, const qg_storage *kind, uint64_t elements) {
    const qk_backend backend = qk_vulkan_backend(d->vulkan);
    const qk_range blocks = qk_vulkan_range(d->to);
    qg_launch launch = {.family = &qg_families[QG_FAMILY_ENCODE], .weights = &blocks, .count = elements};
    launch.kernel = find(d, kind->layout, launch.family);
    if (kind->row) launch.rows = elements / kind->row, launch.cols = kind->row;
    launch.in = qk_vulkan_range(d->floats);
    return qg_launch_kernel(&backend, &launch, &d->error);
}

/* Floats that are not in blocks are taken apart on the host. */
static const char *piece(void *context, const qg_conversion *c, const void *from, uint64_t elements, float *floats,
                         void *to) {
    device *d = context;
    qk_status status;
    if (!c->from.layout) qg_floats_of(c->from.plain, from, elements, floats);
    if (!c->from.layout && !c->to.layout) {
        qg_floats_to(c->to.plain, floats, elements, to);
        return NULL;
    }
    status = c->from.layout
                 ? qk_vulkan_upload(d->vulkan, d->from, 0, from, qg_storage_bytes(&c->from, elements), &d->error)
                 : qk_vulkan_upload(d->vulkan, d->floats, 0, floats, 4 * elements, &d->error);
    if (status == QK_OK) status = qk_vulkan_begin(d->vulkan, &d->error);
    if (status == QK_OK && c->from.layout) status = decode(d, &c->from, elements);
    if (status == QK_OK && c->from.layout && c->to.layout) qk_vulkan_barrier(d->vulkan);
    if (status == QK_OK && c->to.layout) status = encode(d, &c->to, elements);
    if (status == QK_OK) status = qk_vulkan_submit(d->vulkan, &d->error);
    if (status == QK_OK)
        status = c->to.layout
                     ? qk_vulkan_download(d->vulkan, d->to, 0, to, qg_storage_bytes(&c->to, elements), &d->error)
                     : qk_vulkan_download(d->vulkan, d->floats, 0, floats, 4 * elements, &d->error);
    if (status != QK_OK) return failure(d);
    if (!c->to.layout) qg_floats_to(c->to.plain, floats, elements, to);
    return NULL;
}

static const char *close_device(void *context) {
    device *d = context;
    qk_vulkan_buffer *const buffers[] = {d->from, d->floats, d->to};
    for (uint32_t i = 0; i < QG_LENGTH(buffers); ++i) qk_vulkan_buffer_destroy(d->vulkan, buffers[i]);
    const uint32_t messages = d->vulkan ? qk_vulkan_messages(d->vulkan) : 0;
    qk_vulkan_destroy(d->vulkan);
    return messages ? qg_format(d->arena, "the validation layer had %u messages", messages) : NULL;
}

static const char *compile_all(device *d, const qg_plan_of_file *plan) {
    const char *why = NULL;
    d->kernels = QG_NEW_ARRAY(d->arena, kernel, 2 * (size_t)plan->count + 1);
    if (!qg_spirv_open()) return "the GLSL compiler cannot be initialised";
    for (uint32_t i = 0; i < plan->count && !why; ++i) {
        const qg_conversion *c = &plan->items[i];
        if (!c->converts) continue;
        why = compile(d, c->from.layout, QG_FAMILY_DEQUANT);
        if (!why) why = compile(d, c->to.layout, QG_FAMILY_ENCODE);
    }
    qg_spirv_close();
    return why;
}

static qk_status make_buffers(device *d, const qg_plan_of_file *plan) {
    uint64_t from = 4, floats = 4, to = 4;
    for (uint32_t i = 0; i < plan->count; ++i) {
        const qg_conversion *c = &plan->items[i];
        if (!c->converts) continue;
        const uint64_t most = c->piece < c->weight->elements ? c->piece : c->weight->elements;
        if (c->from.layout && qg_storage_bytes(&c->from, most) > from) from = qg_storage_bytes(&c->from, most);
        if (c->to.layout && qg_storage_bytes(&c->to, most) > to) to = qg_storage_bytes(&c->to, most);
        if (4 * most > floats) floats = 4 * most;
    }
    qk_status status = qk_vulkan_buffer_create(d->vulkan, from, &d->from, &d->error);
    if (status == QK_OK) status = qk_vulkan_buffer_create(d->vulkan, floats, &d->floats, &d->error);
    return status == QK_OK ? qk_vulkan_buffer_create(d->vulkan, to, &d->to, &d->error) : status;
}

const char *qg_convert_open_vulkan(qg_arena *arena, const qg_templates *templates, const qg_plan_of_file *plan,
                                   const char *name, qg_converter *converter) {
    const char *validation = getenv("QKGEN_VALIDATION");
    const qk_vulkan_options options = {.device = name,
                                       .validate = validation && *validation && strcmp(validation, "0") != 0};
    device *d = QG_NEW(arena, device);
    *d = (device){.arena = arena, .templates = templates};
    const char *why = compile_all(d, plan);
    if (why) return why;
    qk_status status = qk_vulkan_create(&options, &d->vulkan, &d->error);
    if (status == QK_OK) status = make_buffers(d, plan);
    if (status != QK_OK) {
        why = failure(d);
        close_device(d);
        return why;
    }
    *converter = (qg_converter){d, qg_format(arena, "%s", qk_vulkan_info(d->vulkan)->name), false, piece, close_device};
    return NULL;
}
