/* spirv_cache.h: compiled modules kept as files, where the environment asks for it. */
#ifndef QKGEN_SPIRV_CACHE_H
#define QKGEN_SPIRV_CACHE_H

#include "spec/spec.h"

/* Where the module of a text is kept; NULL where none are. `compiler` is the version of what compiles it. */
const char *qg_spirv_cache_path(qg_arena *arena, const char *glsl, uint32_t compiler);
/* The module at a path, which may be NULL, as it was kept, or NULL where there is none. */
const uint32_t *qg_spirv_cache_read(qg_arena *arena, const char *path, size_t *bytes);
/* Keeps a module that is valid; neither `path` nor `words` need be there. */
void qg_spirv_cache_write(qg_arena *arena, const char *path, const uint32_t *words, size_t bytes);

#endif
