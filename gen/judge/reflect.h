/* reflect.h: what a SPIR-V module says of itself, through SPIRV-Cross. */
#ifndef QKGEN_REFLECT_H
#define QKGEN_REFLECT_H

#include "judge/harness.h"

typedef struct qg_reflection {
    const char *entry;
    uint32_t threads; /* of a workgroup, with the constants' own values */
    uint32_t n_bindings;
    uint32_t bindings[QG_MAX_ARGUMENTS]; /* of buffers of set 0 that are used */
    bool uniforms[QG_MAX_ARGUMENTS];     /* which of them are uniform buffers */
    uint32_t push_bytes;                 /* that are used */
} qg_reflection;

/* Reads a module in a process of its own first, because one that is broken may crash its reader. The entry point is
 * `entry`, or the only one. NULL, or why the module cannot be judged. */
const char *qg_reflect(qg_arena *arena, const void *words, size_t bytes, const char *entry, qg_reflection *reflection);
/* NULL, or where a harness does not fit: a buffer that the module uses and the harness does not name, too few push
 * constants. */
const char *qg_reflection_fits(qg_arena *arena, const qg_reflection *reflection, const qg_harness *harness);
/* A copy of a module without the wish that loops be unrolled, which changes nothing but what a driver makes of it: some
 * take minutes to compile, and make mistakes in, a loop of 256 steps. */
void *qg_without_unrolling(qg_arena *arena, const void *words, size_t bytes);
/* Whether a harness names the very buffers and push constants that a module uses: one that could be guessed. */
bool qg_reflection_matches(qg_arena *arena, const qg_reflection *reflection, const qg_harness *harness);

#endif
