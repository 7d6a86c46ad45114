/* spirv.h: GLSL compute shaders to SPIR-V words, in process. The only header behind which glslang and SPIRV-Tools are
 * known. */
#ifndef QKGEN_SPIRV_H
#define QKGEN_SPIRV_H

#include "spec/spec.h"

/* NULL; or, where this was built without a compiler (spirv_none.c), that it was. */
extern const char *const qg_spirv_absent;

/* Prepares the compiler. Called once before the first qg_spirv_compile, on any thread; false when the compiler refuses.
 * Pairs nest: the process state goes with the last qg_spirv_close. */
bool qg_spirv_open(void);
/* Whether the compiler knows cooperative matrices; what is said where it does not. */
bool qg_spirv_has_matrices(void);
#define QG_SPIRV_LACKS_MATRICES                                                                                        \
    "class mma needs glslang 13 or newer, and this was built with an older one: cmake/glslang.sh builds one"

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

/* An instruction of a module. `type` and `result` are 0 where it has none; `words` are all of its
 * own, the first with its length and opcode. */
typedef struct qg_spirv_instruction {
    uint32_t opcode, type, result, n_words;
    const uint32_t *words;
} qg_spirv_instruction;

/* Takes a module apart, with the parser of SPIRV-Tools; all ids are below `*bound`. Returns its
 * instructions in `arena`, or NULL and sets `*why` when the words are no module. */
const qg_spirv_instruction *qg_spirv_read(qg_arena *arena, const uint32_t *words, size_t bytes, uint32_t *count,
                                          uint32_t *bound, const char **why);
/* NULL when `count` words are a valid module of any environment, up to SPIR-V 1.6, else why they are not. */
const char *qg_spirv_validate_any(qg_arena *arena, const uint32_t *words, size_t count);
/* NULL when `count` words are a valid module for Vulkan 1.1, else why they are not. */
const char *qg_spirv_validate(qg_arena *arena, const char *name, const uint32_t *words, size_t count);

#endif
