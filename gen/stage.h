/* Sums over rows from copies in shared memory: what stage.c gives to the printer of GLSL. */
#ifndef QKGEN_GEN_STAGE_H
#define QKGEN_GEN_STAGE_H

#include "kernel.h"

/* Rows at a time with which enough bytes are on their way. */
uint32_t qg_stage_rows(const qg_plan *plan);
/* Right-hand sides for which there are registers. */
uint32_t qg_stage_batch(const qg_plan *plan);
/* The buffers of a kernel once more, in units of 16 bytes. */
void qg_stage_buffers(qg_text *text, const qg_kernel *kernel);
/* The part of a kernel that has a stage, around its functions that load a tile of x and that add a tile of the stage, which `ir`
 * says. NULL and *why on a broken template. */
char *qg_glsl_stage(qg_arena *arena, const qg_templates *templates, const qg_kernel *kernel, const qg_ir *ir,
                    const char *load_x, const char *accumulate, const char **why);

#endif
