/* modules.h: the modules of a kernel for Vulkan, compiled. */
#ifndef QKGEN_MODULES_H
#define QKGEN_MODULES_H

#include "text/text.h"

/* The schedules that launches of so many right-hand sides take, a bit each; of any number with 0. */
uint32_t qg_schedules_for(const qg_kernel *kernel, uint64_t batch);
/* Compiles a kernel that has no schedules, or those of its schedules, but what `modules` has already: of another class
 * that shares them. False, and *why, on what qg_glsl and qg_spirv_compile refuse. */
bool qg_compile_modules(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                        const qg_kernel *kernel, uint32_t schedules, qg_modules *modules, const char **why);
/* The descriptor with these modules, which must outlive it. */
const qk_kernel *qg_describe_modules(qg_arena *arena, const qg_kernel *kernel, const qg_modules *modules);
/* Both, for launches of so many right-hand sides; NULL and *why. */
const qk_kernel *qg_compile_kernel(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                                   const qg_kernel *kernel, uint64_t batch, const char **why);

#endif
