/* The modules of a kernel for Vulkan, compiled: one, or one for each of its schedules. */
#include "emit/modules.h"
#include "emit/spirv.h"

static const qk_code *compile(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                              const qg_kernel *kernel, qk_schedule schedule, const char **why) {
    const char *glsl = qg_glsl(arena, templates, request, qg_program_of(arena, kernel, QK_API_VULKAN, schedule), why);
    qk_code *code = QG_NEW(arena, qk_code);
    if (glsl) code->data = qg_spirv_compile(arena, qg_module_name(arena, kernel, schedule), glsl, &code->bytes, why);
    return code->data ? code : NULL;
}

uint32_t qg_schedules_for(const qg_kernel *kernel, uint64_t batch) {
    uint32_t all = qg_schedules_of(kernel);
    for (uint32_t s = 1; s < QK_SCHEDULE_COUNT; ++s)
        if (batch == 1 && qg_schedule_shares_x((qk_schedule)s)) all &= ~(1u << s);
    return all;
}

bool qg_compile_modules(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                        const qg_kernel *kernel, uint32_t schedules, qg_modules *modules, const char **why) {
    if (!qg_schedules_of(kernel)) {
        if (!modules->main) modules->main = compile(arena, templates, request, kernel, QK_SCHEDULE_NONE, why);
        return modules->main != NULL;
    }
    for (uint32_t s = 1; s < QK_SCHEDULE_COUNT; ++s) {
        if (!(schedules >> s & 1) || modules->of[s]) continue;
        modules->of[s] = compile(arena, templates, request, kernel, (qk_schedule)s, why);
        if (!modules->of[s]) return false;
    }
    for (uint32_t s = QK_SCHEDULE_COUNT; s-- > 1;)
        if (modules->of[s]) modules->main = modules->of[s];
    return true;
}

const qk_kernel *qg_describe_modules(qg_arena *arena, const qg_kernel *kernel, const qg_modules *modules) {
    qk_kernel *described = QG_NEW(arena, qk_kernel);
    *described = *qg_describe(arena, kernel, QK_API_VULKAN, modules->main);
    if (qg_schedules_of(kernel)) described->schedules = modules->of;
    return described;
}

const qk_kernel *qg_compile_kernel(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                                   const qg_kernel *kernel, uint64_t batch, const char **why) {
    qg_modules *modules = QG_NEW(arena, qg_modules);
    const uint32_t schedules = qg_schedules_for(kernel, batch);
    if (!qg_compile_modules(arena, templates, request, kernel, schedules, modules, why)) return NULL;
    return qg_describe_modules(arena, kernel, modules);
}
