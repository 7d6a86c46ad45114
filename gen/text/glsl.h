/* glsl.h: what the files that print GLSL share. */
#ifndef QKGEN_GLSL_H
#define QKGEN_GLSL_H

#include "text/text.h"

/* ---- glsl.c: the type of a unit in memory; a program's buffers; loads of 16 bytes; the decoder of a step ---- */

const char *qg_glsl_storage(uint32_t unit);
char *qg_glsl_buffers(qg_arena *arena, const qg_program *program);
void qg_glsl_wide_loads(qg_text *text, const qg_ir *ir, const qg_ir *other, const qg_plan *plan);
char *qg_glsl_decode(qg_arena *arena, const qg_step *values);

/* ---- stores.c: the buffers of results, and of what an epilogue reads ---- */

const char *qg_glsl_result_buffers(qg_arena *arena, const qg_kernel *kernel);

/* ---- glsl_encode.c: kernels that make blocks, of floats or of another format's blocks ---- */

char *qg_glsl_encode(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                     const qg_program *program, const char **why);
char *qg_glsl_transcode(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                        const qg_program *program, const char **why);

#endif
