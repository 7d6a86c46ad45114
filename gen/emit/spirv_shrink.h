/* spirv_shrink.h: passes of SPIRV-Tools that make words fewer. */
#ifndef QKGEN_SPIRV_SHRINK_H
#define QKGEN_SPIRV_SHRINK_H

#include "emit/spirv.h"

/* Whether SPIRV-Tools has an interface in C for its passes; where it has none, glslang runs them, and puts every
 * function in the place of its calls. */
bool qg_spirv_shrinks(void);
/* Changes with the passes: files of modules that were compiled before are named by it. */
enum { QG_SPIRV_PASSES = 6 };

/* Runs the passes over `count` words, as glslang writes them without its optimiser. A function of some size that is
 * called from several places stays a function; others take the place of their calls. Returns words in `arena` and sets
 * `*shrunk`, or NULL and sets `*why`. */
const uint32_t *qg_spirv_shrink(qg_arena *arena, const uint32_t *words, size_t count, size_t *shrunk, const char **why);
/* The same module with one function, for those who look at what follows on what: `words` themselves where nothing is
 * called. */
const uint32_t *qg_spirv_flatten(qg_arena *arena, const uint32_t *words, size_t count, size_t *flat, const char **why);

#endif
