/* spirv.h: GLSL compute shaders to SPIR-V words, in process. The only header behind which glslang and SPIRV-Tools are
 * known. */
#ifndef QKGEN_SPIRV_H
#define QKGEN_SPIRV_H

#include "gen.h"

/* Prepares the compiler. Called once before the first qg_spirv_compile, on any thread; false when the compiler refuses.
 * Pairs nest: the process state goes with the last qg_spirv_close. */
bool qg_spirv_open(void);
/* Whether the compiler knows cooperative matrices. */
bool qg_spirv_has_matrices(void);

/* Gives the compiler's memory back. No qg_spirv_compile may be under way on another thread. */
void qg_spirv_close(void);

/* Compiles one GLSL compute shader for Vulkan 1.1 to optimised and validated SPIR-V 1.3, without debug information. The
 * words are a function of `glsl` and of the installed compiler's version only, not of the thread, the order of calls or
 * `name`, which stands in messages in the place of a path.
 *
 * Returns words in `arena` and sets `*bytes`, a multiple of 4; or NULL, and sets `*why` to a text in `arena`: a line
 * for each complaint, `NAME:LINE: error: ...` with the line of the GLSL below it. Several threads may compile at once,
 * each with an arena of its own. */
const uint32_t *qg_spirv_compile(qg_arena *arena, const char *name, const char *glsl, size_t *bytes, const char **why);

#endif
