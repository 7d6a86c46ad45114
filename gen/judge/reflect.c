/* What a SPIR-V module says of itself, through SPIRV-Cross. */
#include "judge/reflect.h"

#include <spirv_cross/spirv_cross_c.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *find_entry(qg_arena *arena, spvc_compiler compiler, const char *wanted, qg_reflection *r) {
    const spvc_entry_point *points = NULL;
    size_t count = 0, kernels = 0;
    qg_text names = qg_text_new(arena);
    spvc_compiler_get_entry_points(compiler, &points, &count);
    for (size_t i = 0; i < count; ++i) {
        if (points[i].execution_model != SpvExecutionModelGLCompute) continue;
        qg_text_printf(&names, "%s%s", kernels++ ? ", " : "", points[i].name);
        if (!wanted || !strcmp(points[i].name, wanted)) r->entry = qg_format(arena, "%s", points[i].name);
    }
    if (!kernels) return "the module has no compute shader";
    if (!r->entry) return qg_format(arena, "the module has no entry point %s; it has %s", wanted, names.data);
    if (!wanted && kernels > 1)
        return qg_format(arena, "the module has several entry points: choose with --kernel: %s", names.data);
    spvc_compiler_set_entry_point(compiler, r->entry, SpvExecutionModelGLCompute);
    return NULL;
}

/* A size of the workgroup may be a constant's. */
static uint32_t workgroup_size(spvc_compiler compiler) {
    spvc_specialization_constant sizes[3] = {{0, 0}};
    uint32_t threads = 1;
    spvc_compiler_get_work_group_size_specialization_constants(compiler, &sizes[0], &sizes[1], &sizes[2]);
    for (unsigned i = 0; i < 3; ++i) {
        const unsigned said =
            spvc_compiler_get_execution_mode_argument_by_index(compiler, SpvExecutionModeLocalSize, i);
        threads *= sizes[i].id
                       ? spvc_constant_get_scalar_u32(spvc_compiler_get_constant_handle(compiler, sizes[i].id), 0, 0)
                       : said;
    }
    return threads;
}

static const char *list_kind(qg_arena *arena, spvc_compiler compiler, spvc_resources resources, bool uniform,
                             qg_reflection *r) {
    const spvc_reflected_resource *list = NULL;
    size_t count = 0;
    spvc_resources_get_resource_list_for_type(
        resources, uniform ? SPVC_RESOURCE_TYPE_UNIFORM_BUFFER : SPVC_RESOURCE_TYPE_STORAGE_BUFFER, &list, &count);
    for (size_t i = 0; i < count && r->n_bindings < QG_MAX_ARGUMENTS; ++i) {
        const uint32_t set = spvc_compiler_get_decoration(compiler, list[i].id, SpvDecorationDescriptorSet);
        const uint32_t binding = spvc_compiler_get_decoration(compiler, list[i].id, SpvDecorationBinding);
        if (set) return qg_format(arena, "%s is in descriptor set %u; judge binds set 0 alone", list[i].name, set);
        bool known = false; /* a buffer may be seen as several types */
        for (uint32_t k = 0; k < r->n_bindings; ++k) known |= r->bindings[k] == binding;
        r->uniforms[r->n_bindings] = uniform;
        if (!known) r->bindings[r->n_bindings++] = binding;
    }
    return NULL;
}

static const char *list_buffers(qg_arena *arena, spvc_compiler compiler, spvc_resources resources, qg_reflection *r) {
    const spvc_reflected_resource *list = NULL;
    size_t count = 0;
    const char *why = list_kind(arena, compiler, resources, false, r);
    if (!why) why = list_kind(arena, compiler, resources, true, r);
    if (why) return why;
    spvc_resources_get_resource_list_for_type(resources, SPVC_RESOURCE_TYPE_PUSH_CONSTANT, &list, &count);
    if (count) {
        const spvc_buffer_range *ranges = NULL;
        size_t n = 0;
        spvc_compiler_get_active_buffer_ranges(compiler, list[0].id, &ranges, &n);
        for (size_t i = 0; i < n; ++i)
            if (ranges[i].offset + ranges[i].range > r->push_bytes)
                r->push_bytes = (uint32_t)(ranges[i].offset + ranges[i].range);
    }
    static const struct {
        spvc_resource_type type;
        const char *name;
    } others[] = {{SPVC_RESOURCE_TYPE_STORAGE_IMAGE, "a storage image"},
                  {SPVC_RESOURCE_TYPE_SAMPLED_IMAGE, "a texture"},
                  {SPVC_RESOURCE_TYPE_SEPARATE_IMAGE, "a texture"}};
    for (size_t k = 0; k < sizeof others / sizeof *others; ++k) {
        spvc_resources_get_resource_list_for_type(resources, others[k].type, &list, &count);
        if (count)
            return qg_format(arena, "the module uses %s, %s; judge passes buffers and push constants alone",
                             others[k].name, list[0].name);
    }
    return NULL;
}

static const char *reflect(qg_arena *arena, spvc_context context, const void *words, size_t bytes, const char *entry,
                           qg_reflection *r) {
    spvc_parsed_ir ir;
    spvc_compiler compiler;
    spvc_resources resources;
    spvc_set used;
    if (spvc_context_parse_spirv(context, words, bytes / 4, &ir) != SPVC_SUCCESS ||
        spvc_context_create_compiler(context, SPVC_BACKEND_NONE, ir, SPVC_CAPTURE_MODE_TAKE_OWNERSHIP, &compiler) !=
            SPVC_SUCCESS)
        return qg_format(arena, "it is no SPIR-V module: %s", spvc_context_get_last_error_string(context));
    const char *why = find_entry(arena, compiler, entry, r);
    if (why) return why;
    r->threads = workgroup_size(compiler);
    if (spvc_compiler_get_active_interface_variables(compiler, &used) != SPVC_SUCCESS ||
        spvc_compiler_create_shader_resources_for_active_variables(compiler, &resources, used) != SPVC_SUCCESS)
        return qg_format(arena, "its buffers cannot be read: %s", spvc_context_get_last_error_string(context));
    return list_buffers(arena, compiler, resources, r);
}

static const char *open_and_reflect(qg_arena *arena, const void *words, size_t bytes, const char *entry,
                                    qg_reflection *r) {
    spvc_context context;
    if (spvc_context_create(&context) != SPVC_SUCCESS) return "SPIRV-Cross cannot be initialised";
    const char *why = reflect(arena, context, words, bytes, entry, r);
    spvc_context_destroy(context);
    return why;
}

/* Whether a process that reads the module lives to tell. */
static bool survives(qg_arena *arena, const void *words, size_t bytes, const char *entry) {
    int status = 0;
    fflush(NULL);
    const pid_t reader = fork();
    if (reader == 0) {
        qg_reflection r = {0};
        alarm(20);
        open_and_reflect(arena, words, bytes, entry, &r);
        _exit(0);
    }
    return reader < 0 || (waitpid(reader, &status, 0) == reader && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

const char *qg_reflect(qg_arena *arena, const void *words, size_t bytes, const char *entry, qg_reflection *reflection) {
    *reflection = (qg_reflection){0};
    if (bytes < 20 || bytes % 4 || memcmp(words, "\x03\x02\x23\x07", 4))
        return "it is no SPIR-V module: it does not begin with SPIR-V's number 0x07230203, or is cut off";
    if (!survives(arena, words, bytes, entry)) return "it is no SPIR-V module: whoever reads it crashes";
    return open_and_reflect(arena, words, bytes, entry, reflection);
}

void *qg_without_unrolling(qg_arena *arena, const void *words, size_t bytes) {
    enum { HEADER = 5, CONTROL = 3 };
    const size_t count = bytes / 4;
    uint32_t *copy = QG_NEW_ARRAY(arena, uint32_t, count);
    memcpy(copy, words, count * 4);
    for (size_t at = HEADER; at < count;) {
        const size_t length = copy[at] >> 16;
        if (length == 0 || at + length > count) break;
        if ((copy[at] & 0xffff) == SpvOpLoopMerge && length > CONTROL)
            copy[at + CONTROL] &= ~(uint32_t)SpvLoopControlUnrollMask;
        at += length;
    }
    return copy;
}

/* A call at the first shape that a harness takes; false when it takes none. */
static bool any_call(qg_arena *arena, const qg_harness *h, qg_call *call) {
    bool broken;
    for (uint64_t n = 1; n <= 64; ++n)
        if (!qg_harness_call(arena, h, qg_shape_of(h->layout, 64, n, 1), call, &broken)) return true;
    return false;
}

bool qg_reflection_matches(qg_arena *arena, const qg_reflection *r, const qg_harness *h) {
    qg_call *call = QG_NEW(arena, qg_call);
    if (h->target != QG_FOREIGN_VULKAN || r->n_bindings != h->n_arguments || !any_call(arena, h, call)) return false;
    for (uint32_t i = 0; i < h->n_arguments; ++i) {
        bool used = false;
        for (uint32_t k = 0; k < r->n_bindings; ++k)
            used |= r->bindings[k] == h->arguments[i].index && r->uniforms[k] == h->arguments[i].uniform;
        if (!used) return false;
    }
    return call->push_bytes == r->push_bytes;
}

const char *qg_reflection_fits(qg_arena *arena, const qg_reflection *r, const qg_harness *h) {
    for (uint32_t i = 0; i < r->n_bindings; ++i) {
        bool named = false, uniform = false;
        for (uint32_t k = 0; k < h->n_arguments; ++k)
            if (h->arguments[k].index == r->bindings[i]) named = true, uniform = h->arguments[k].uniform;
        if (named && uniform != r->uniforms[i])
            return qg_format(arena, "binding %u is a %s buffer of the module: write `%s %u` in %s", r->bindings[i],
                             r->uniforms[i] ? "uniform" : "storage", r->uniforms[i] ? "uniform" : "buffer",
                             r->bindings[i], h->name);
        if (!named)
            return qg_format(arena, "the module uses the %sbuffer at binding %u, and %s has no `%s %u`",
                             r->uniforms[i] ? "uniform " : "", r->bindings[i], h->name,
                             r->uniforms[i] ? "uniform" : "buffer", r->bindings[i]);
    }
    qg_call *call = QG_NEW(arena, qg_call);
    if (any_call(arena, h, call) && r->push_bytes > call->push_bytes)
        return qg_format(arena, "the module reads %u bytes of push constants, and %s passes %u", r->push_bytes, h->name,
                         call->push_bytes);
    return NULL;
}
