/* In the place of spirv.c, where qkgen is built without glslang: text for Vulkan is not compiled then. */
#include "emit/spirv_shrink.h"

const char *const qg_spirv_absent =
    "this qkgen was built without glslang (QKGEN_GLSLANG=OFF), so that it has nothing for "
    "Vulkan: name other APIs, --api metal, say";

bool qg_spirv_open(void) { return false; }

bool qg_spirv_has_matrices(void) { return false; }

void qg_spirv_close(void) {}

const uint32_t *qg_spirv_compile(qg_arena *arena, const char *name, const char *glsl, size_t *bytes, const char **why) {
    (void)arena, (void)name, (void)glsl;
    *bytes = 0;
    *why = qg_spirv_absent;
    return NULL;
}

const qg_spirv_instruction *qg_spirv_read(qg_arena *arena, const uint32_t *words, size_t bytes, uint32_t *count,
                                          uint32_t *bound, const char **why) {
    (void)arena, (void)words, (void)bytes;
    *count = *bound = 0;
    *why = qg_spirv_absent;
    return NULL;
}

const char *qg_spirv_validate_any(qg_arena *arena, const uint32_t *words, size_t count) {
    (void)arena, (void)words, (void)count;
    return qg_spirv_absent;
}

const char *qg_spirv_validate(qg_arena *arena, const char *name, const uint32_t *words, size_t count) {
    (void)arena, (void)name, (void)words, (void)count;
    return qg_spirv_absent;
}

const uint32_t *qg_spirv_flatten(qg_arena *arena, const uint32_t *words, size_t count, size_t *flat, const char **why) {
    (void)arena, (void)words;
    *flat = count;
    *why = qg_spirv_absent;
    return NULL;
}
