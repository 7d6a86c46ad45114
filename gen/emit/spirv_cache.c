/* Modules that were compiled before, as files in the folder that QKGEN_SPIRV_CACHE names: whoever compiles the same
 * kernels again and again, as tests do, waits for each once. Without that variable nothing is kept. A file's name is a
 * hash of the text without its first comment, which says how it was made, and the numbers of the compiler and of our
 * passes. Who keeps words has validated them; a hash behind them tells whether they are still the same. */
#include "emit/spirv_cache.h"
#include "emit/spirv_shrink.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash(const char *text, uint64_t state) {
    for (; *text; ++text) state = (state ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
    return state ^ state >> 29;
}

/* The text from `#version` on. */
static const char *without_banner(const char *glsl) {
    const char *start = strstr(glsl, "#version");
    return start ? start : glsl;
}

const char *qg_spirv_cache_path(qg_arena *arena, const char *glsl, uint32_t compiler) {
    const char *folder = getenv("QKGEN_SPIRV_CACHE"), *text = without_banner(glsl);
    if (!folder || !*folder) return NULL;
    return qg_format(arena, "%s/%016llx%016llx-%u-%u.spv", folder,
                     (unsigned long long)hash(text, UINT64_C(0xCBF29CE484222325)),
                     (unsigned long long)hash(text, UINT64_C(0x9AE16A3B2F90404F) + strlen(text)), compiler,
                     (unsigned)QG_SPIRV_PASSES);
}

/* Of words, as two. */
static void seal(const uint32_t *words, size_t count, uint32_t sealed[2]) {
    uint64_t state = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < count; ++i) state = ((state ^ words[i]) * UINT64_C(0x100000001B3)) ^ state >> 29;
    sealed[0] = (uint32_t)state;
    sealed[1] = (uint32_t)(state >> 32);
}

enum { SEAL_BYTES = 8 };

const uint32_t *qg_spirv_cache_read(qg_arena *arena, const char *path, size_t *bytes) {
    enum { MAGIC = 0x07230203, MOST = 1 << 24 };
    const char *why = NULL;
    size_t length = 0;
    const char *data = path ? qg_read_file(arena, path, MOST, &length, &why) : NULL;
    if (!data || length < 20 + SEAL_BYTES || length % 4) return NULL;
    uint32_t *words = QG_NEW_ARRAY(arena, uint32_t, length / 4), sealed[2];
    memcpy(words, data, length);
    *bytes = length - SEAL_BYTES;
    seal(words, *bytes / 4, sealed);
    return words[0] == MAGIC && !memcmp(words + *bytes / 4, sealed, SEAL_BYTES) ? words : NULL;
}

void qg_spirv_cache_write(qg_arena *arena, const char *path, const uint32_t *words, size_t bytes) {
    if (!path || !words) return;
    uint32_t *all = QG_NEW_ARRAY(arena, uint32_t, (bytes + SEAL_BYTES) / 4);
    memcpy(all, words, bytes);
    seal(words, bytes / 4, all + bytes / 4);
    qg_write_file(arena, path, all, bytes + SEAL_BYTES); /* that it could not be kept is of no consequence */
}
